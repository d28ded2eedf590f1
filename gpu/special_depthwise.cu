/* Method `special` for depthwise layers: each map is made of one channel, so that planes are pictures of
 * their own, each with its filter.
 *
 * A thread has a column of ROWS outputs of one map. It reads the rows that they need one after the other,
 * K samples of each, and adds what those are worth to all sums that they are part of: from global memory
 * a sample is read about once, since neighbours in a warp, and rows of neighbouring threads, find it in the
 * cache. What is left to pay are K (ROWS + K - 1) / ROWS reads of the cache for an output, and K * K
 * multiply-adds. */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int THREADS = 128;
constexpr int ROWS = 4; /* outputs of a thread */

struct Depthwise {
    GfProblem<float> p;
    GfSample sample;
    size_t size;            /* bytes of a sample */
    unsigned runs, columns; /* of ROWS rows; of a row */
    unsigned threads;       /* that have work */
};

/* ROWS outputs; `read(row, kx)` is the sample that column kx of the kernel meets. */
template <int K, int STRIDE, typename Read>
__device__ void convolve(const float (&taps)[K * K], Read read, float (&sums)[ROWS])
{
#pragma unroll
    for (int row = 0; row < (ROWS - 1) * STRIDE + K; row++) {
        float samples[K];
#pragma unroll
        for (int kx = 0; kx < K; kx++)
            samples[kx] = read(row, kx);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
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
    constexpr int IN_ROWS = (ROWS - 1) * STRIDE + K;
    const GfProblem<float> &p = q.p;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= q.threads)
        return;
    const unsigned x = i % q.columns, run = i / q.columns % q.runs;
    const int o = static_cast<int>(i / q.columns / q.runs);
    const size_t y = p.y0 + static_cast<size_t>(run) * ROWS, n = blockIdx.y;
    const long long in_x = static_cast<long long>(x) * STRIDE + p.origin_x;
    const long long in_y = static_cast<long long>(y) * STRIDE + p.origin_y;
    const size_t plane = static_cast<size_t>(gf_first_channel(p, o)) * p.in.plane;
    float taps[K * K], sums[ROWS] = {};
#pragma unroll
    for (int k = 0; k < K * K; k++)
        taps[k] = __ldg(p.weights + static_cast<size_t>(o) * (K * K) + k);
    const bool inside = in_x >= 0 && in_x + K <= p.in_width && in_y >= 0 &&
                        in_y + IN_ROWS <= p.in_height && y + ROWS <= p.y1;
    const char *first = inside ? gf_input_row<char>(p, n, in_y) : nullptr;
    const size_t stride = p.in.stride;
    if (inside && gf_input_row<char>(p, n, in_y + IN_ROWS - 1) == first + (IN_ROWS - 1) * stride) {
        first += (in_x * p.in.pixel + plane) * q.size;
        convolve<K, STRIDE>(
            taps,
            [&](int row, int kx) {
                return gf_number_at<float, In>(first + row * stride + kx * p.in.pixel * q.size,
                                               q.sample);
            },
            sums);
    } else {
        convolve<K, STRIDE>(
            taps,
            [&](int row, int kx) {
                const int first_output = (max(row - K + 1, 0) + STRIDE - 1) / STRIDE;
                const bool wanted = y + static_cast<size_t>(first_output) < p.y1;
                const char *at = wanted ? gf_input_row<char>(p, n, in_y + row) : nullptr;
                const long long column = gf_border_index(in_x + kx, p.in_width, p.border);
                return at && column >= 0
                           ? gf_number_at<float, In>(at + (column * p.in.pixel + plane) * q.size,
                                                     q.sample)
                           : p.border_value;
            },
            sums);
    }
    const float bias = p.bias ? p.bias[o] : 0.0F;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        sums[r] = fma(sums[r], p.finish.scale, p.finish.offset) + bias;
    gf_post_each(p.finish, sums, [&](int) { return o < p.post_channels; });
#pragma unroll
    for (int r = 0; r < ROWS; r++)
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
    const size_t runs = gf_divide_up(launch->y1 - launch->y0, static_cast<size_t>(ROWS));
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
