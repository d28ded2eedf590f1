/* Method `special` for depthwise layers: each map is made of one channel, so that planes are pictures of
 * their own, each with its filter.
 *
 * A thread has a column of outputs of one map. It reads the rows that they need one after the other, K
 * samples of each, and adds what those are worth to all sums that they are part of: from global memory a
 * sample is read about once, since neighbours in a warp, and rows of neighbouring threads, find it in the
 * cache. What is left to pay for R outputs are K (R + K - 1) reads of the cache and R K K multiply-adds.
 *
 * Where rows and columns of the window are, inside the picture or by the border's rule, stands in shared
 * memory, so that the code for it is there once; all that is unrolled are multiply-adds. */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int THREADS = 128;
template <int K> constexpr int ROWS = K == 3 ? 4 : 8; /* outputs of a thread */

struct Depthwise {
    GfProblem<float> p;
    GfSample sample;
    size_t size;            /* bytes of a sample */
    unsigned runs, columns; /* of a column: threads; of a row */
    unsigned threads;       /* that have work */
};

template <int K, int STRIDE> constexpr int IN_ROWS = (ROWS<K> - 1) * STRIDE + K;

/* What each thread of a block knows of its window, and then its outputs. */
template <int K, int STRIDE> struct Windows {
    const char *rows[IN_ROWS<K, STRIDE>][THREADS]; /* NULL: the border's constant */
    long long columns[K][THREADS]; /* bytes from a row's begin; negative: likewise */
    float sums[ROWS<K>][THREADS];
};

/* Of output rows from y on, of one map; rows that only outputs beyond the last one meet may not be here. */
template <int K, int STRIDE>
__device__ void find_window(const Depthwise &q, size_t n, int o, long long x, size_t y,
                            Windows<K, STRIDE> *windows)
{
    const GfProblem<float> &p = q.p;
    const size_t plane = static_cast<size_t>(gf_first_channel(p, o)) * p.in.plane * q.size;
    const long long first_row = static_cast<long long>(y) * STRIDE + p.origin_y;
    const int live = static_cast<int>(min(p.y1 - y, static_cast<size_t>(ROWS<K>)));
#pragma unroll 1
    for (int row = 0; row < IN_ROWS<K, STRIDE>; row++)
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

template <int K, int STRIDE, typename In>
__global__ void __launch_bounds__(THREADS) depthwise(const __grid_constant__ Depthwise q)
{
    __shared__ Windows<K, STRIDE> windows;
    const GfProblem<float> &p = q.p;
    const unsigned thread = threadIdx.x, i = blockIdx.x * THREADS + thread;
    if (i >= q.threads)
        return;
    const unsigned x = i % q.columns, run = i / q.columns % q.runs;
    const int o = static_cast<int>(i / q.columns / q.runs);
    const size_t y = p.y0 + static_cast<size_t>(run) * ROWS<K>, n = blockIdx.y;
    float taps[K * K], sums[ROWS<K>] = {};
    find_window(q, n, o, x, y, &windows);
#pragma unroll
    for (int k = 0; k < K * K; k++)
        taps[k] = __ldg(p.weights + static_cast<size_t>(o) * (K * K) + k);
#pragma unroll
    for (int row = 0; row < IN_ROWS<K, STRIDE>; row++) {
        const char *line = windows.rows[row][thread];
        float samples[K];
#pragma unroll
        for (int kx = 0; kx < K; kx++) {
            const long long column = windows.columns[kx][thread];
            samples[kx] = line && column >= 0 ? gf_number_at<float, In>(line + column, q.sample)
                                              : p.border_value;
        }
#pragma unroll
        for (int r = 0; r < ROWS<K>; r++) {
            const int ky = row - r * STRIDE;
#pragma unroll
            for (int kx = 0; kx < K; kx++)
                if (ky >= 0 && ky < K)
                    sums[r] = fma(taps[ky * K + kx], samples[kx], sums[r]);
        }
    }
    const float bias = p.bias ? p.bias[o] : 0.0F;
#pragma unroll
    for (int r = 0; r < ROWS<K>; r++)
        sums[r] = fma(sums[r], p.finish.scale, p.finish.offset) + bias;
    gf_post_each(p.finish, sums, [&](int) { return o < p.post_channels; });
#pragma unroll
    for (int r = 0; r < ROWS<K>; r++)
        windows.sums[r][thread] = sums[r];
#pragma unroll 1
    for (int r = 0; r < ROWS<K> && y + r < p.y1; r++)
        gf_put(p, n, o, x, y + r, windows.sums[r][thread]);
}

template <int K, int STRIDE> void (*kernel_of(const GfStep *step))(const Depthwise)
{
    return step->in == GF_F32 ? depthwise<K, STRIDE, float> : depthwise<K, STRIDE, void>;
}

void (*find_kernel(const GfStep *step))(const Depthwise)
{
    switch (step->linear.width * 10 + step->stride_x) {
    case 31:
        return kernel_of<3, 1>(step);
    case 32:
        return kernel_of<3, 2>(step);
    case 51:
        return kernel_of<5, 1>(step);
    case 52:
        return kernel_of<5, 2>(step);
    case 71:
        return kernel_of<7, 1>(step);
    case 72:
        return kernel_of<7, 2>(step);
    default:
        return nullptr;
    }
}

} // namespace

extern "C" cudaError_t gf_launch_special_depthwise(const GfLaunch *launch, cudaStream_t stream)
{
    void (*const kernel)(const Depthwise) = find_kernel(launch->step);
    Depthwise q = {};
    q.p = gf_problem<float>(launch);
    q.sample = launch->step->in;
    q.size = gf_sample_size(q.sample);
    const size_t rows = launch->step->linear.width == 3 ? ROWS<3> : ROWS<5>;
    const size_t runs = gf_divide_up(launch->y1 - launch->y0, rows);
    const size_t threads = runs * launch->step->out_width * launch->step->linear.filters;
    if (!kernel || launch->tiling > 0 || threads > INT_MAX)
        return cudaErrorNotSupported;
    q.runs = static_cast<unsigned>(runs);
    q.columns = static_cast<unsigned>(launch->step->out_width);
    q.threads = static_cast<unsigned>(threads);
    const dim3 blocks(gf_divide_up(q.threads, static_cast<unsigned>(THREADS)),
                      static_cast<unsigned>(launch->count));
    kernel<<<blocks, THREADS, 0, stream>>>(q);
    return cudaGetLastError();
}
