/* What method `tensor` multiplies layers by: each tap as two numbers of f16, as the lanes of a warp
 * hold them (gf_multiply_halves(), gpu/instructions.cuh), for one product after the other. */
#include "gpu/device.cuh"

namespace
{

constexpr int WARP = 32;

struct Taps {
    const float *taps, *lifts, *units;
    GfTensorShape shape;
    GfTensorFirst first;
    GfTensorFlat flat;
    int depth, width, height, maps, stride;
    size_t steps;   /* of a group */
    size_t vectors; /* that threads make: of both halves, or of one */
    uint4 *weights;
};

/* A tap divided by lift and unit; 0 where there is none. */
__device__ float tap_at(const Taps &q, size_t group, int map, int c, int ky, int kx)
{
    if (map >= q.maps || c >= q.depth || kx < 0 || kx >= q.width || ky < 0 || ky >= q.height)
        return 0.0F;
    const size_t o = group * q.maps + map;
    const double tap = q.taps[((o * q.depth + c) * q.height + ky) * q.width + kx];
    return static_cast<float>(tap / q.lifts[group * q.depth + c] / q.units[o]);
}

/* Tap k of 16 of a step of a map. */
__device__ float step_tap(const Taps &q, size_t group, size_t step, int map, int k)
{
    const int row_steps = static_cast<int>(q.shape.row_steps);
    const int i = static_cast<int>(step % row_steps);
    step /= row_steps;
    const int ky = static_cast<int>(step % q.height), stage = static_cast<int>(step / q.height);
    const int channels = static_cast<int>(q.shape.octets) * 8;
    return tap_at(q, group, map, stage * channels + i / q.width * 16 + k, ky, i % q.width);
}

__global__ void split_taps(const __grid_constant__ Taps q)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int lane = static_cast<int>(i % WARP);
    const size_t run = i / WARP % q.shape.map_runs, step = i / WARP / q.shape.map_runs;
    __half2 upper[4], lower[4];
    if (i >= q.vectors)
        return;
    for (int r = 0; r < 4; r++) {
        const int map = static_cast<int>(run) * 16 + lane / 4 + r % 2 * 8,
                  k = lane % 4 * 2 + r / 2 * 8;
        float v[2];
        for (int j = 0; j < 2; j++)
            v[j] = step_tap(q, step / q.steps, step % q.steps, map, k + j);
        gf_split(v[0], v[1], &upper[r], &lower[r]);
    }
    uint4 *to = q.weights + (step * q.shape.map_runs + run) * 2 * WARP + lane;
    to[0] = *reinterpret_cast<const uint4 *>(upper);
    to[WARP] = *reinterpret_cast<const uint4 *>(lower);
}

/* Of flat layers: of each run of maps, row and column of the kernel and pair of octets the upper
 * halves of all maps' first octets and of their second ones, then the lower halves; where maps are
 * few both halves of the first, then of the second. A thread makes both halves of an octet. */
__global__ void split_flat_taps(const __grid_constant__ Taps q)
{
    constexpr int OCTET = 8;
    const int maps = static_cast<int>(q.flat.run_maps);
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int octets = static_cast<int>(q.flat.octets), stages = static_cast<int>(q.flat.stages);
    const int map = static_cast<int>(i % maps), k = static_cast<int>(i / maps % 2);
    size_t rest = i / maps / 2;
    const int pair = static_cast<int>(rest % (octets / 2));
    rest /= octets / 2;
    const int kx = static_cast<int>(rest % q.width);
    rest /= q.width;
    const int ky = static_cast<int>(rest % q.height);
    rest /= q.height;
    const int stage = static_cast<int>(rest % stages);
    rest /= stages;
    const int run = static_cast<int>(rest % q.flat.map_runs);
    const size_t group = rest / q.flat.map_runs;
    const int c = (stage * octets + pair * 2 + k) * OCTET;
    __half2 upper[OCTET / 2], lower[OCTET / 2];
    if (i >= q.vectors)
        return;
    for (int j = 0; j < OCTET; j += 2)
        gf_split(tap_at(q, group, run * maps + map, c + j, ky, kx),
                 tap_at(q, group, run * maps + map, c + j + 1, ky, kx), &upper[j / 2],
                 &lower[j / 2]);
    const size_t halves = q.flat.few ? maps : 2 * maps; /* from an upper one to its lower one */
    uint4 *to = q.weights + i / halves * 2 * halves + i % halves;
    to[0] = *reinterpret_cast<const uint4 *>(upper);
    to[halves] = *reinterpret_cast<const uint4 *>(lower);
}

/* Of layers of few channels: for each run of maps, channel and row, or pair of rows, one vector a
 * lane, of the upper words of an octet and its lower ones; or two, of the upper words of two
 * octets, and of their lower ones; or, of few maps, one of an upper, a lower and the upper word
 * twice more. */
__global__ void split_first_taps(const __grid_constant__ Taps q)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int lane = static_cast<int>(i % WARP), octets = static_cast<int>(q.first.octets);
    const size_t row = i / WARP / octets, steps = q.first.steps;
    const int maps = static_cast<int>(q.first.maps), step = static_cast<int>(row % steps);
    const int c = static_cast<int>(row / steps % q.depth);
    const int run = static_cast<int>(row / steps / q.depth);
    const int word = q.first.pairs ? lane % 2 : lane % 4; /* of a kernel's row */
    const int ky = q.first.pairs ? step * 2 + lane % 4 / 2 : step;
    __half2 words[4];
    if (i >= q.vectors)
        return;
    for (int w = 0; w < 4; w++) {
        const int line = lane / 4 + w % 2 * 8; /* of 16 */
        const int map = run * maps + (q.first.few ? line % 8 / 2 : line % maps);
        const int octet = octets == 2 ? w / 2 : 0;
        const bool lower = q.first.few ? w == 1 : octets == 2 ? i / WARP % 2 == 1 : w >= 2;
        const int copy = q.first.few ? lane / 4 % 2 : q.first.shifts == 2 ? w % 2 : 0;
        const int kx = octet * 8 + word * 2 - copy * q.stride;
        __half2 upper, rest;
        gf_split(tap_at(q, 0, map, c, ky, kx), tap_at(q, 0, map, c, ky, kx + 1), &upper, &rest);
        words[w] = lower ? rest : upper;
    }
    q.weights[i] = *reinterpret_cast<const uint4 *>(words);
}

/* Of layers of many maps of one channel: of each run of maps and pair of rows of input one vector a
 * thread of a group of warps, of upper halves, then of lower ones. A thread makes both. */
__global__ void split_gray_taps(const __grid_constant__ Taps q)
{
    constexpr int WARPS = 4, GROUP = WARPS * WARP, WARP_MAPS = GF_GRAY_MAPS / WARPS;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int thread = static_cast<int>(i % GROUP), lane = thread % WARP;
    const int step = static_cast<int>(i / GROUP % GF_GRAY_STEPS);
    const int run = static_cast<int>(i / GROUP / GF_GRAY_STEPS), row = lane / 4 / WARP_MAPS;
    const int map = run * GF_GRAY_MAPS + thread / WARP * WARP_MAPS + lane / 4 % WARP_MAPS;
    __half2 upper[4], lower[4];
    if (i >= q.vectors)
        return;
    for (int w = 0; w < 4; w++) {
        const int ky = step * 2 + w / 2 - row, kx = lane % 4 * 2 - w % 2;
        gf_split(tap_at(q, 0, map, 0, ky, kx), tap_at(q, 0, map, 0, ky, kx + 1), &upper[w],
                 &lower[w]);
    }
    uint4 *to = q.weights + i / GROUP * 2 * GROUP + thread;
    to[0] = *reinterpret_cast<const uint4 *>(upper);
    to[GROUP] = *reinterpret_cast<const uint4 *>(lower);
}

Taps taps_of(const GfStep *step, const float *taps, const GfTensorLayer *layer)
{
    const GfLinear *linear = &step->linear;
    Taps q = {};
    q.taps = taps;
    q.lifts = layer->lifts;
    q.units = layer->units;
    q.shape = gf_tensor_shape(step);
    q.first = gf_tensor_first(step);
    q.flat = gf_tensor_flat(step);
    q.depth = static_cast<int>(linear->depth);
    q.width = static_cast<int>(linear->width);
    q.height = static_cast<int>(linear->height);
    q.maps = static_cast<int>(linear->filters / linear->groups);
    q.stride = static_cast<int>(step->stride_x);
    q.steps = gf_tensor_steps(step);
    q.weights = static_cast<uint4 *>(layer->weights);
    return q;
}

} // namespace

extern "C" cudaError_t gf_split_taps(const GfStep *step, const float *taps,
                                     const GfTensorLayer *layer, size_t vectors)
{
    constexpr unsigned threads = 256;
    const bool first = gf_tensor_is_first(step);
    Taps q = taps_of(step, taps, layer);
    q.vectors = vectors / (first && !layer->gray ? 1 : 2);
    const unsigned blocks =
        static_cast<unsigned>(gf_divide_up(q.vectors, static_cast<size_t>(threads)));
    return gf_launch(layer->gray   ? split_gray_taps
                     : first       ? split_first_taps
                     : layer->flat ? split_flat_taps
                                   : split_taps,
                     {blocks, threads}, nullptr, q);
}
