/* What method `tensor` multiplies layers by: each tap as two numbers of f16, as the lanes of a warp hold
 * them (gf_multiply_halves(), gpu/device.cuh), for one step after the other. */
#include "gpu/device.cuh"

namespace
{

constexpr int WARP = 32;

struct Taps {
    const float *taps, *lifts, *units;
    GfTensorShape shape;
    int depth, width, height, maps;
    size_t steps; /* of a group */
    size_t words; /* of the weights, in vectors, half of which are upper numbers */
    uint4 *weights;
};

/* Tap k of 16 of a step of a map, divided by lift and unit. */
__device__ float tap_at(const Taps &q, size_t group, size_t step, int map, int k)
{
    const int taps = static_cast<int>(q.shape.octet_taps),
              row_steps = static_cast<int>(q.shape.row_steps);
    const int i = static_cast<int>(step % row_steps);
    step /= row_steps;
    const int ky = static_cast<int>(step % q.height), stage = static_cast<int>(step / q.height);
    const int channels = 8 / taps;
    int c = stage * static_cast<int>(q.shape.stage_channels) + i / q.width * 16 + k;
    int kx = i % q.width;
    if (taps > 1) {
        c = k % channels;
        kx = i * 2 * taps + k / channels;
    }
    if (c >= q.depth || kx >= q.width || map >= q.maps)
        return 0.0F;
    const size_t o = group * q.maps + map;
    const double tap = q.taps[((o * q.depth + c) * q.height + ky) * q.width + kx];
    return static_cast<float>(tap / q.lifts[group * q.depth + c] / q.units[o]);
}

__global__ void split_taps(const __grid_constant__ Taps q)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int lane = static_cast<int>(i % WARP);
    const size_t run = i / WARP % q.shape.map_runs, step = i / WARP / q.shape.map_runs;
    __half2 upper[4], lower[4];
    if (2 * i >= q.words)
        return;
    for (int r = 0; r < 4; r++) {
        const int map = static_cast<int>(run) * 16 + lane / 4 + r % 2 * 8,
                  k = lane % 4 * 2 + r / 2 * 8;
        float v[2];
        for (int j = 0; j < 2; j++)
            v[j] = tap_at(q, step / q.steps, step % q.steps, map, k + j);
        gf_split(v[0], v[1], &upper[r], &lower[r]);
    }
    uint4 *to = q.weights + (step * q.shape.map_runs + run) * 2 * WARP + lane;
    to[0] = *reinterpret_cast<const uint4 *>(upper);
    to[WARP] = *reinterpret_cast<const uint4 *>(lower);
}

} // namespace

extern "C" cudaError_t gf_split_taps(const GfStep *step, const float *taps,
                                     const GfTensorLayer *layer)
{
    constexpr unsigned threads = 256;
    const GfLinear *linear = &step->linear;
    Taps q = {};
    q.taps = taps;
    q.lifts = layer->lifts;
    q.units = layer->units;
    q.shape = gf_tensor_shape(step);
    q.depth = static_cast<int>(linear->depth);
    q.width = static_cast<int>(linear->width);
    q.height = static_cast<int>(linear->height);
    q.maps = static_cast<int>(linear->filters / linear->groups);
    q.steps = gf_tensor_steps(step);
    q.words = linear->groups * q.steps * q.shape.map_runs * 2 * WARP;
    q.weights = static_cast<uint4 *>(layer->weights);
    const size_t blocks = gf_divide_up(q.words / 2, static_cast<size_t>(threads));
    split_taps<<<static_cast<unsigned>(blocks), threads>>>(q);
    return cudaGetLastError();
}
