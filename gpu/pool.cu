/* Pooling: each channel's window becomes its maximum, mean or length, as after the layers of Hwu,
 * Kirk and El Hajj, "Programming Massively Parallel Processors", 16. A thread makes a pixel of a
 * set of channels, so that it waits for all their samples at a time; where a window has more than a
 * thread should go through alone (as of a whole picture), a block does, each of its threads every
 * BLOCK-th sample of a row.
 *
 * Costs: each sample of a window is read once, for one operation: bound by memory. Means and
 * squares are summed in f64, where neither large nor many samples overflow, vanish or round away;
 * the card has time for it while it waits for memory. Small windows behind a layer of one channel
 * need no launch at all: special_layer.cu pools its own samples. */
#include "gpu/device.cuh"

namespace
{

constexpr int BLOCK = 256;     /* threads */
constexpr int SET = 8;         /* channels */
constexpr size_t LARGE = 1024; /* taps */

template <typename Sum> struct Pool {
    GfProblem<Sum> p;   /* width and height: of the window */
    size_t samples;     /* of a row of a set of channels */
    size_t interleaved; /* channels whose samples lie side by side, or 1 */
    GfPoolOp op;
    long long count_x0, count_x1, count_y0, count_y1;
};

/* Taps [first, last) of a window lie within what is asked for. */
struct Span {
    int first, last;
};

/* Taps within [begin, end), the first of `taps` being at `at`. */
__device__ inline Span taps_within(long long at, int taps, long long dilation, long long begin,
                                   long long end)
{
    Span span = {0, taps};
    if (at < begin)
        span.first = static_cast<int>(
            min((begin - at + dilation - 1) / dilation, static_cast<long long>(taps)));
    if (at + (taps - 1) * dilation >= end)
        span.last = end > at ? static_cast<int>((end - at + dilation - 1) / dilation) : 0;
    span.last = max(span.first, span.last);
    return span;
}

/* One window on the picture. */
struct Window {
    long long x, y; /* of its first tap */
    Span across, down;
};

template <typename Sum>
__device__ inline Window find_window(const Pool<Sum> &pool, long long x, size_t y)
{
    const GfProblem<Sum> &p = pool.p;
    Window w;
    w.x = x * p.stride_x + p.origin_x;
    w.y = static_cast<long long>(y) * p.stride_y + p.origin_y;
    w.across = taps_within(w.x, p.width, p.dilation_x, 0, p.in_width);
    w.down = taps_within(w.y, p.height, p.dilation_y, 0, p.in_height);
    return w;
}

/* Taps by which a mean is divided. */
template <typename Sum> __device__ inline double count_taps(const Pool<Sum> &pool, const Window &w)
{
    const GfProblem<Sum> &p = pool.p;
    Span x = taps_within(w.x, p.width, p.dilation_x, pool.count_x0, pool.count_x1);
    Span y = taps_within(w.y, p.height, p.dilation_y, pool.count_y0, pool.count_y1);
    return static_cast<double>(x.last - x.first) * static_cast<double>(y.last - y.first);
}

/* What is known of a window's samples so far: the largest, or a sum of them or of their squares. */
template <typename Sum, bool MOST> using Digest = std::conditional_t<MOST, Sum, double>;

template <typename Sum, bool MOST> __device__ inline Digest<Sum, MOST> nothing()
{
    return MOST ? static_cast<Digest<Sum, MOST>>(-INFINITY) : 0;
}

template <typename Sum, bool MOST>
__device__ inline Digest<Sum, MOST> join(Digest<Sum, MOST> a, Digest<Sum, MOST> b)
{
    if constexpr (MOST)
        return gf_more(a, b);
    else
        return a + b;
}

/* Takes in the taps of a window that are thread `i`'s of `count`, in each of the first `channels`
 * channels from c on. */
template <typename In, typename Sum, bool MOST, int CHANNELS>
__device__ inline void digest(const Pool<Sum> &pool, const Window &w, size_t n, int c, int channels,
                              int i, int count, Digest<Sum, MOST> (&d)[CHANNELS])
{
    const GfProblem<Sum> &p = pool.p;
    for (int ky = w.down.first; ky < w.down.last; ky++) {
        const In *row = gf_row<In>(p.in, static_cast<size_t>(w.y + ky * p.dilation_y));
        const In *first = reinterpret_cast<const In *>(
                              reinterpret_cast<const unsigned char *>(row) + n * p.in.batch) +
                          w.x * static_cast<long long>(p.in.pixel) + c * p.in.plane;
        for (int kx = w.across.first + i; kx < w.across.last; kx += count) {
            const In *tap = first + kx * p.dilation_x * p.in.pixel;
#pragma unroll
            for (int j = 0; j < CHANNELS; j++) {
                if (j >= channels)
                    break;
                const Sum v = gf_number<Sum>(tap[j * p.in.plane]);
                if constexpr (MOST)
                    d[j] = gf_more(d[j], v);
                else if (pool.op == GF_POOL_AVERAGE)
                    d[j] += static_cast<double>(v);
                else
                    d[j] = fma(static_cast<double>(v), static_cast<double>(v), d[j]);
            }
        }
    }
}

/* From all of a window to its samples. */
template <typename Sum, bool MOST, int CHANNELS>
__device__ inline void finish(const Pool<Sum> &pool, const Window &w,
                              const Digest<Sum, MOST> (&d)[CHANNELS], size_t n, int c, int channels,
                              long long x, size_t y)
{
    const GfProblem<Sum> &p = pool.p;
    const bool any = w.across.first < w.across.last && w.down.first < w.down.last;
    const double taps = pool.op == GF_POOL_AVERAGE ? count_taps(pool, w) : 0;
    Sum v[CHANNELS];
#pragma unroll
    for (int j = 0; j < CHANNELS; j++) {
        v[j] = 0;
        if constexpr (MOST)
            v[j] = any ? d[j] : v[j];
        else if (any)
            v[j] = static_cast<Sum>(pool.op == GF_POOL_AVERAGE ? d[j] / taps : sqrt(d[j]));
        if (p.bias && j < channels)
            v[j] += p.bias[c + j];
    }
    gf_post_each(p.finish, v, [&](int j) { return c + j < p.post_channels; });
#pragma unroll
    for (int j = 0; j < CHANNELS; j++)
        if (j < channels)
            gf_put(p, n, c + j, x, y, v[j]);
}

/* A thread a window, of a set of channels. */
template <typename In, typename Sum, bool MOST>
__global__ void __launch_bounds__(BLOCK) pool_small(const __grid_constant__ Pool<Sum> pool)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x, n = blockIdx.z;
    const size_t row = i / pool.samples, s = i % pool.samples, y = pool.p.y0 + row;
    if (y >= pool.p.y1)
        return;
    const long long x = static_cast<long long>(s / pool.interleaved);
    const int c = static_cast<int>(blockIdx.y * SET + s % pool.interleaved);
    const int channels = pool.interleaved > 1 ? 1 : min(SET, pool.p.out_channels - c);
    const Window w = find_window(pool, x, y);
    Digest<Sum, MOST> d[SET];
#pragma unroll
    for (int j = 0; j < SET; j++)
        d[j] = nothing<Sum, MOST>();
    digest<In, Sum, MOST>(pool, w, n, c, channels, 0, 1, d);
    finish<Sum, MOST>(pool, w, d, n, c, channels, x, y);
}

/* A block a sample: its threads' shares are brought together two by two, in a fixed order. */
template <typename In, typename Sum, bool MOST>
__global__ void __launch_bounds__(BLOCK, 1)
    pool_large(const __grid_constant__ Pool<Sum> pool, const __grid_constant__ GfCut cut)
{
    __shared__ Digest<Sum, MOST> shares[BLOCK];
    int i = static_cast<int>(threadIdx.x);
    size_t n = blockIdx.z;
    GfPlace place = gf_my_tile(cut, pool.p.y0);
    long long x = static_cast<long long>(place.s);
    Window w = find_window(pool, x, place.y);
    Digest<Sum, MOST> d[1] = {nothing<Sum, MOST>()};
    digest<In, Sum, MOST>(pool, w, n, place.set, 1, i, BLOCK, d);
    shares[i] = d[0];
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half)
            shares[i] = join<Sum, MOST>(shares[i], shares[i + half]);
    }
    d[0] = shares[0];
    if (i == 0)
        finish<Sum, MOST>(pool, w, d, n, place.set, 1, x, place.y);
}

template <typename Sum, bool MOST>
cudaError_t launch_most(const GfLaunch *launch, const Pool<Sum> &pool, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const GfCut cut = gf_cut(step->out_width, {1, 1}, step->out_channels);
    const size_t samples = pool.samples * (launch->y1 - launch->y0);
    const size_t sets = gf_divide_up(step->out_channels / pool.interleaved, size_t{SET});
    const dim3 grid(static_cast<unsigned>(gf_divide_up(samples, size_t{BLOCK})),
                    static_cast<unsigned>(sets), static_cast<unsigned>(launch->count));
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        if (step->pool.width * step->pool.height > LARGE)
            return gf_launch(pool_large<decltype(sample), Sum, MOST>,
                             {gf_cut_grid(cut, launch), BLOCK}, stream, pool, cut);
        return gf_launch(pool_small<decltype(sample), Sum, MOST>, {grid, BLOCK}, stream, pool);
    });
}

template <typename Sum> cudaError_t launch_pool(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Pool<Sum> pool = {};
    pool.p = gf_problem<Sum>(launch);
    pool.p.width = static_cast<int>(step->pool.width);
    pool.p.height = static_cast<int>(step->pool.height);
    pool.interleaved = launch->out.plane == 1 ? step->out_channels : 1;
    pool.samples = step->out_width * pool.interleaved;
    pool.op = step->pool.op;
    pool.count_x0 = step->count_x0;
    pool.count_x1 = step->count_x1;
    pool.count_y0 = step->count_y0;
    pool.count_y1 = step->count_y1;
    return pool.op == GF_POOL_MAX ? launch_most<Sum, true>(launch, pool, stream)
                                  : launch_most<Sum, false>(launch, pool, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_pool(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_pool<double>(launch, stream) : launch_pool<float>(launch, stream);
}
