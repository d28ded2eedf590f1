/* Pooling: each channel's window becomes its maximum, mean or length, as after the layers of Hwu,
 * Kirk and El Hajj, "Programming Massively Parallel Processors", 16. A thread makes an output
 * sample; where a window has more than a thread should go through alone (as of a whole picture), a
 * block does, each of its threads every BLOCK-th sample of a row.
 *
 * Costs: each sample of a window is read once, for one operation: bound by memory. Means and
 * squares are summed in f64, where neither large nor many samples overflow, vanish or round away;
 * the card has time for it while it waits for memory. Small windows behind a layer of one channel
 * need no launch at all: special_layer.cu pools its own samples. */
#include "gpu/device.cuh"

namespace
{

constexpr int BLOCK = 256;     /* threads for a large window */
constexpr size_t LARGE = 1024; /* taps */

template <typename Sum> struct Pool {
    GfProblem<Sum> p; /* width and height: of the window */
    GfTiles tiles;
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

/* What is known of a window's samples so far. */
template <typename Sum> struct Digest {
    Sum most;
    double sum; /* of samples, or of their squares */
};

/* Takes in the taps of the window that are thread `i`'s of `count`. */
template <typename In, typename Sum>
__device__ inline Digest<Sum> digest(const Pool<Sum> &pool, const Window &w, size_t n, int c, int i,
                                     int count)
{
    const GfProblem<Sum> &p = pool.p;
    Digest<Sum> d = {static_cast<Sum>(-INFINITY), 0};
    for (int ky = w.down.first; ky < w.down.last; ky++) {
        const In *row = gf_row<In>(p.in, static_cast<size_t>(w.y + ky * p.dilation_y));
        const In *first = reinterpret_cast<const In *>(
                              reinterpret_cast<const unsigned char *>(row) + n * p.in.batch) +
                          w.x * static_cast<long long>(p.in.pixel) + c * p.in.plane;
        for (int kx = w.across.first + i; kx < w.across.last; kx += count) {
            Sum v = gf_number<Sum>(first[kx * p.dilation_x * p.in.pixel]);
            if (pool.op == GF_POOL_MAX)
                d.most = gf_more(d.most, v);
            else if (pool.op == GF_POOL_AVERAGE)
                d.sum += static_cast<double>(v);
            else
                d.sum = fma(static_cast<double>(v), static_cast<double>(v), d.sum);
        }
    }
    return d;
}

/* From all of a window to its sample. */
template <typename Sum>
__device__ inline void finish(const Pool<Sum> &pool, const Window &w, const Digest<Sum> &d,
                              size_t n, int c, long long x, size_t y)
{
    Sum v = 0;
    if (w.across.first < w.across.last && w.down.first < w.down.last) {
        if (pool.op == GF_POOL_MAX)
            v = d.most;
        else if (pool.op == GF_POOL_AVERAGE)
            v = static_cast<Sum>(d.sum / count_taps(pool, w));
        else
            v = static_cast<Sum>(sqrt(d.sum));
    }
    gf_finish_sample(pool.p, n, c, x, y, v);
}

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y, 1)
    pool_small(const __grid_constant__ Pool<Sum> pool)
{
    int c;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(pool.tiles, &c, &x, &y))
        return;
    Window w = find_window(pool, x, y);
    finish(pool, w, digest<In>(pool, w, n, c, 0, 1), n, c, x, y);
}

/* A block a sample: its threads' shares are brought together two by two, in a fixed order. */
template <typename In, typename Sum>
__global__ void __launch_bounds__(BLOCK, 1)
    pool_large(const __grid_constant__ Pool<Sum> pool, const __grid_constant__ GfCut cut)
{
    __shared__ Sum most[BLOCK];
    __shared__ double sum[BLOCK];
    int i = static_cast<int>(threadIdx.x);
    size_t n = blockIdx.z;
    GfPlace place = gf_my_tile(cut, pool.p.y0);
    long long x = static_cast<long long>(place.s);
    Window w = find_window(pool, x, place.y);
    Digest<Sum> d = digest<In>(pool, w, n, place.set, i, BLOCK);
    most[i] = d.most;
    sum[i] = d.sum;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) {
            most[i] = gf_more(most[i], most[i + half]);
            sum[i] += sum[i + half];
        }
    }
    if (i == 0)
        finish(pool, w, {most[0], sum[0]}, n, place.set, x, place.y);
}

template <typename Sum> cudaError_t launch_pool(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Pool<Sum> pool = {};
    pool.p = gf_problem<Sum>(launch);
    pool.p.width = static_cast<int>(step->pool.width);
    pool.p.height = static_cast<int>(step->pool.height);
    pool.tiles = gf_tiles(launch);
    pool.op = step->pool.op;
    pool.count_x0 = step->count_x0;
    pool.count_x1 = step->count_x1;
    pool.count_y0 = step->count_y0;
    pool.count_y1 = step->count_y1;
    bool large = step->pool.width * step->pool.height > LARGE;
    GfCut cut = gf_cut(step->out_width, {1, 1}, step->out_channels);
    dim3 grid = gf_tiles_grid(pool.tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        if (large)
            return gf_launch(pool_large<decltype(sample), Sum>, {gf_cut_grid(cut, launch), BLOCK},
                             stream, pool, cut);
        return gf_launch(pool_small<decltype(sample), Sum>, {grid, block}, stream, pool);
    });
}

} // namespace

extern "C" cudaError_t gf_launch_pool(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_pool<double>(launch, stream) : launch_pool<float>(launch, stream);
}
