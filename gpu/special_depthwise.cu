/* Method `special` for depthwise layers: each map is made of one channel, so that planes are pictures of
 * their own, each with its filter.
 *
 * A thread has a column of outputs of one map. It reads the rows that they need one after the other, K
 * samples of each, and adds what those are worth to all sums that they are part of: from global memory a
 * sample is read about once, since neighbours in a warp, and rows of neighbouring threads, find it in the
 * cache. What is left to pay for R outputs are K (R + K - 1) reads of the cache and R K K multiply-adds.
 *
 * Warps whose windows all lie inside the picture know where their samples are; others ask the border. */
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

/* Adds all rows to the sums; `read(row, samples)` brings what the columns of the kernel meet. */
template <int K, int STRIDE, typename Read>
__device__ void convolve(const float (&taps)[K * K], Read read, float (&sums)[ROWS<K>])
{
#pragma unroll
    for (int row = 0; row < (ROWS<K> - 1) * STRIDE + K; row++) {
        float samples[K];
        read(row, samples);
#pragma unroll
        for (int r = 0; r < ROWS<K>; r++) {
            const int ky = row - r * STRIDE;
#pragma unroll
            for (int kx = 0; kx < K; kx++)
                if (ky >= 0 && ky < K)
                    sums[r] = fma(taps[ky * K + kx], samples[kx], sums[r]);
        }
    }
}

template <int K, int STRIDE, typename In>
__global__ void __launch_bounds__(THREADS) depthwise(const __grid_constant__ Depthwise q)
{
    constexpr int IN_ROWS = (ROWS<K> - 1) * STRIDE + K;
    const GfProblem<float> &p = q.p;
    const unsigned thread = blockIdx.x * THREADS + threadIdx.x;
    const unsigned i = min(thread, q.threads - 1);
    const unsigned x = i % q.columns, run = i / q.columns % q.runs;
    const int o = static_cast<int>(i / q.columns / q.runs);
    const size_t y = p.y0 + static_cast<size_t>(run) * ROWS<K>, n = blockIdx.y;
    const long long in_x = static_cast<long long>(x) * STRIDE + p.origin_x;
    const long long in_y = static_cast<long long>(y) * STRIDE + p.origin_y;
    const size_t pixel = p.in.pixel * q.size;
    const size_t plane = static_cast<size_t>(gf_first_channel(p, o)) * p.in.plane * q.size;
    float taps[K * K], sums[ROWS<K>] = {};
#pragma unroll
    for (int k = 0; k < K * K; k++)
        taps[k] = __ldg(p.weights + static_cast<size_t>(o) * (K * K) + k);
    bool inside = in_x >= 0 && in_x + K <= p.in_width && in_y >= 0 &&
                  in_y + IN_ROWS <= p.in_height && y + ROWS<K> <= p.y1;
    const char *first = inside ? gf_input_row<char>(p, n, in_y) : nullptr;
    inside = inside &&
             gf_input_row<char>(p, n, in_y + IN_ROWS - 1) == first + (IN_ROWS - 1) * p.in.stride;
    if (__all_sync(~0U, inside)) {
        first += in_x * pixel + plane;
        convolve<K, STRIDE>(
            taps,
            [&](int row, float(&samples)[K]) {
#pragma unroll
                for (int kx = 0; kx < K; kx++)
                    samples[kx] =
                        gf_number_at<float, In>(first + row * p.in.stride + kx * pixel, q.sample);
            },
            sums);
    } else {
        long long columns[K];
#pragma unroll
        for (int kx = 0; kx < K; kx++)
            columns[kx] = gf_border_index(in_x + kx, p.in_width, p.border);
        convolve<K, STRIDE>(
            taps,
            [&](int row, float(&samples)[K]) {
                const int output = (max(row - K + 1, 0) + STRIDE - 1) / STRIDE; /* the first */
                const char *line =
                    y + output < p.y1 ? gf_input_row<char>(p, n, in_y + row) : nullptr;
#pragma unroll
                for (int kx = 0; kx < K; kx++)
                    samples[kx] =
                        line && columns[kx] >= 0
                            ? gf_number_at<float, In>(line + columns[kx] * pixel + plane, q.sample)
                            : p.border_value;
            },
            sums);
    }
    if (thread >= q.threads)
        return;
    const float bias = p.bias ? p.bias[o] : 0.0F;
#pragma unroll
    for (int r = 0; r < ROWS<K>; r++)
        sums[r] = fma(sums[r], p.finish.scale, p.finish.offset) + bias;
    gf_post_each(p.finish, sums, [&](int) { return o < p.post_channels; });
#pragma unroll
    for (int r = 0; r < ROWS<K>; r++)
        if (y + r < p.y1)
            gf_put(p, n, o, x, y + r, sums[r]);
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
