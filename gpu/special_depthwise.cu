/* Method `special` for depthwise layers: each map is made of one channel, so that planes are
 * pictures of their own, each with its filter.
 *
 * A thread has a column of outputs of one map. It reads the rows that they need one after the
 * other, K samples of each, and adds what those are worth to all sums that they are part of: from
 * global memory a sample is read about once, since neighbours in a warp, and rows of neighbouring
 * threads, find it in the cache. What is left to pay for R outputs are K (R + K - 1) reads of the
 * cache and R K K multiply-adds.
 *
 * Where the border is a constant, as in networks, samples outside are those that are not read.
 * Where it has another rule, the rows and columns of a thread's window stand in shared memory, so
 * that the code for the rule is there once. */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int THREADS = 128;
constexpr int MANY_ROWS = 8; /* outputs of a thread, or fewer, */
template <int K> constexpr int FEW_ROWS = K == 3 ? 2 : 4;
constexpr size_t FEW_THREADS = 1024; /* where there would be fewer of them on a multiprocessor */

/* Divides numbers below 2^31 by one that is known when a kernel is launched: by a product, which is
 * exact there (Granlund and Montgomery, "Division by Invariant Integers using Multiplication",
 * 1994). */
struct Divisor {
    unsigned by, shift;
    uint64_t factor;
};

Divisor divisor_of(size_t by)
{
    unsigned bits = 0;
    while (size_t{1} << bits < by)
        bits++;
    return {static_cast<unsigned>(by), 31 + bits, ((uint64_t{1} << (31 + bits)) + by - 1) / by};
}

__device__ unsigned quotient(unsigned i, const Divisor &divisor)
{
    return static_cast<unsigned>(i * divisor.factor >> divisor.shift);
}

struct Depthwise {
    GfProblem<float> p;
    GfSample sample;
    size_t size;           /* bytes of a sample */
    Divisor runs, columns; /* of a column: threads; of a row */
    unsigned threads;      /* that have work */
};

template <int K, int STRIDE, int ROWS> constexpr int IN_ROWS = (ROWS - 1) * STRIDE + K;

/* What each thread of a block knows of its window. */
template <int K, int STRIDE, int ROWS> struct Windows {
    const char *rows[IN_ROWS<K, STRIDE, ROWS>][THREADS]; /* NULL: the border's constant */
    long long columns[K][THREADS]; /* bytes from a row's begin; negative: likewise */
};

/* Of output rows from y on, of one map; rows that only outputs beyond the last one meet may not be
 * here. */
template <int K, int STRIDE, int ROWS>
__device__ void find_window(const Depthwise &q, size_t n, int o, long long x, size_t y,
                            Windows<K, STRIDE, ROWS> *windows)
{
    const GfProblem<float> &p = q.p;
    const size_t plane = static_cast<size_t>(gf_first_channel(p, o)) * p.in.plane * q.size;
    const long long first_row = static_cast<long long>(y) * STRIDE + p.origin_y;
    const int live = static_cast<int>(min(p.y1 - y, static_cast<size_t>(ROWS)));
#pragma unroll 1
    for (int row = 0; row < IN_ROWS<K, STRIDE, ROWS>; row++)
        windows->rows[row][threadIdx.x] =
            row < (live - 1) * STRIDE + K ? gf_input_row<char>(p, n, first_row + row) : nullptr;
#pragma unroll 1
    for (int kx = 0; kx < K; kx++) {
        const long long column =
            gf_border_index(x * STRIDE + p.origin_x + kx, p.in_width, p.border);
        windows->columns[kx][threadIdx.x] =
            column < 0 ? -1 : static_cast<long long>(column * p.in.pixel * q.size + plane);
    }
}

/* Gives each row of a window to use(row, samples), its K samples; by the border's rule. */
template <int K, int STRIDE, int ROWS, typename In, typename Use>
__device__ void read_by_rule(const Depthwise &q, size_t n, int o, long long x, size_t y, Use use)
{
    __shared__ Windows<K, STRIDE, ROWS> windows;
    find_window(q, n, o, x, y, &windows);
#pragma unroll
    for (int row = 0; row < IN_ROWS<K, STRIDE, ROWS>; row++) {
        const char *line = windows.rows[row][threadIdx.x];
        float samples[K];
#pragma unroll
        for (int kx = 0; kx < K; kx++) {
            const long long column = windows.columns[kx][threadIdx.x];
            samples[kx] = line && column >= 0 ? gf_number_at<float, In>(line + column, q.sample)
                                              : q.p.border_value;
        }
        use(row, samples);
    }
}

/* The same of planes of f32, where the border is a constant. */
template <int K, int STRIDE, int ROWS, typename Use>
__device__ void read_inside(const Depthwise &q, size_t n, int o, long long x, size_t y, Use use)
{
    constexpr long long ALL = IN_ROWS<K, STRIDE, ROWS>;
    const GfRows &in = q.p.in;
    const long long first_x = x * STRIDE + q.p.origin_x;
    const long long first_y = static_cast<long long>(y) * STRIDE + q.p.origin_y;
    const long long needed =
        (static_cast<long long>(min(q.p.y1 - y, size_t{ROWS})) - 1) * STRIDE + K;
    const int begin = static_cast<int>(min(max(-first_y, 0LL), ALL)),
              end = static_cast<int>(max(min(needed, q.p.in_height - first_y), 0LL));
    const long long capacity = static_cast<long long>(in.capacity);
    long long slot = first_y - static_cast<long long>(in.first);
    slot -= slot >= capacity ? capacity : 0;
    /* Rows of a ring that are behind its last one are at its begin. */
    const int wrap = static_cast<int>(min(capacity - slot, ALL + 1));
    const float *line =
        reinterpret_cast<const float *>(static_cast<const char *>(in.samples) + n * in.batch +
                                        slot * static_cast<long long>(in.stride)) +
        gf_first_channel(q.p, o) * in.plane + first_x;
    const size_t stride = in.stride / sizeof(float), ring = in.capacity * stride;
    bool inside[K];
#pragma unroll
    for (int kx = 0; kx < K; kx++)
        inside[kx] = first_x + kx >= 0 && first_x + kx < q.p.in_width;
#pragma unroll
    for (int row = 0; row < ALL; row++) {
        const bool live = row >= begin && row < end;
        float samples[K];
#pragma unroll
        for (int kx = 0; kx < K; kx++)
            samples[kx] = live && inside[kx] ? line[kx] : q.p.border_value;
        use(row, samples);
        line += row + 1 == wrap ? stride - ring : stride;
    }
}

/* Of a multiprocessor, where the compiler by itself would ask for fewer registers than do without
 * spills; else 0. */
template <int K, int STRIDE, bool INSIDE>
constexpr int BLOCKS = K == 5 && STRIDE == 2 && !INSIDE ? 7 : 0;

template <int K, int STRIDE, int ROWS, typename In, bool INSIDE>
__global__ void __launch_bounds__(THREADS, (BLOCKS<K, STRIDE, INSIDE>))
    depthwise(const __grid_constant__ Depthwise q)
{
    __shared__ float kept[ROWS][THREADS];
    const GfProblem<float> &p = q.p;
    const unsigned thread = threadIdx.x, i = blockIdx.x * THREADS + thread;
    if (i >= q.threads)
        return;
    gf_wait_for_stream();
    const unsigned column = quotient(i, q.columns), plane = quotient(column, q.runs);
    const unsigned x = i - column * q.columns.by;
    const int o = static_cast<int>(plane);
    const size_t y = p.y0 + static_cast<size_t>(column - plane * q.runs.by) * ROWS, n = blockIdx.y;
    float taps[K * K], sums[ROWS] = {};
#pragma unroll
    for (int k = 0; k < K * K; k++)
        taps[k] = __ldg(p.weights + static_cast<size_t>(o) * (K * K) + k);
    const auto use = [&](int row, const float(&samples)[K]) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int ky = row - r * STRIDE;
#pragma unroll
            for (int kx = 0; kx < K; kx++)
                if (ky >= 0 && ky < K)
                    sums[r] = fma(taps[ky * K + kx], samples[kx], sums[r]);
        }
    };
    if constexpr (INSIDE)
        read_inside<K, STRIDE, ROWS>(q, n, o, x, y, use);
    else
        read_by_rule<K, STRIDE, ROWS, In>(q, n, o, x, y, use);
    const float bias = p.bias ? p.bias[o] : 0.0F;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sums[r] = fma(sums[r], p.finish.scale, p.finish.offset) + bias;
    gf_post_each(p.finish, sums, [&](int) { return o < p.post_channels; });
    if (p.finish.out == GF_F32) {
        char *to = static_cast<char *>(p.out.samples) + n * p.out.batch +
                   (y - p.y0) * p.out.stride + (o * p.out.plane + x * p.out.pixel) * sizeof(float);
#pragma unroll
        for (int r = 0; r < ROWS; r++, to += p.out.stride)
            if (y + r < p.y1)
                *reinterpret_cast<float *>(to) = sums[r];
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        kept[r][thread] = sums[r];
#pragma unroll 1
    for (int r = 0; r < ROWS && y + r < p.y1; r++)
        gf_put(p, n, o, x, y + r, kept[r][thread]);
}

/* A kernel, and the outputs of a thread of it. */
struct Choice {
    void (*kernel)(const Depthwise);
    size_t rows;
};

template <int K, int STRIDE, int ROWS> Choice choice_of(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const bool inside = step->border == GF_BORDER_CONSTANT && launch->in.pixel == 1 &&
                        launch->in.stride % sizeof(float) == 0;
    if (step->in != GF_F32)
        return {depthwise<K, STRIDE, ROWS, void, false>, ROWS};
    return {inside ? depthwise<K, STRIDE, ROWS, float, true>
                   : depthwise<K, STRIDE, ROWS, float, false>,
            ROWS};
}

template <int K, int STRIDE> Choice choose_rows(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const size_t threads = gf_divide_up(launch->y1 - launch->y0, size_t{MANY_ROWS}) *
                           step->out_width * step->linear.filters * launch->count;
    return threads < FEW_THREADS * gf_multiprocessors() ? choice_of<K, STRIDE, FEW_ROWS<K>>(launch)
                                                        : choice_of<K, STRIDE, MANY_ROWS>(launch);
}

Choice choose(const GfLaunch *launch)
{
    switch (launch->step->linear.width * 10 + launch->step->stride_x) {
    case 31:
        return choose_rows<3, 1>(launch);
    case 32:
        return choose_rows<3, 2>(launch);
    case 51:
        return choose_rows<5, 1>(launch);
    case 52:
        return choose_rows<5, 2>(launch);
    case 71:
        return choose_rows<7, 1>(launch);
    case 72:
        return choose_rows<7, 2>(launch);
    default:
        return {};
    }
}

} // namespace

extern "C" cudaError_t gf_launch_special_depthwise(const GfLaunch *launch, cudaStream_t stream)
{
    const Choice choice = choose(launch);
    if (!choice.kernel || launch->tiling > 0)
        return cudaErrorNotSupported;
    Depthwise q = {};
    q.p = gf_problem<float>(launch);
    q.sample = launch->step->in;
    q.size = gf_sample_size(q.sample);
    const size_t runs = gf_divide_up(launch->y1 - launch->y0, choice.rows);
    const size_t threads = runs * launch->step->out_width * launch->step->linear.filters;
    if (threads > INT_MAX)
        return cudaErrorNotSupported;
    q.runs = divisor_of(runs);
    q.columns = divisor_of(launch->step->out_width);
    q.threads = static_cast<unsigned>(threads);
    const dim3 blocks(gf_divide_up(q.threads, static_cast<unsigned>(THREADS)),
                      static_cast<unsigned>(launch->count));
    return gf_launch_early(choice.kernel, gf_spread(choice.kernel, {blocks, THREADS, 0}), stream,
                           q);
}
