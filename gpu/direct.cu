/* Method `direct`: the definition, a thread an output sample, as in Hwu, Kirk and El Hajj,
 * "Programming Massively Parallel Processors", 16.3: the grid is output maps x linearised tiles x
 * pictures of the minibatch, the loops over channels and taps stay inside the thread. It runs every
 * step: any kernel size, stride, dilation, grouping, border, layout and sample type.
 *
 * Costs: every tap is a load from global memory (caches serve the overlap of neighbours) for one
 * multiply-add: 2 operations for a sample and a weight, 0.25 for a byte of f32, far below what the
 * card balances. It is here because it is obviously right, and for steps that no faster method
 * takes.
 *
 * Each kernel row is summed by itself and added to its channel's sum, and those are added up in
 * runs, so that rounding errors do not grow with the number of taps; the plan's error bound counts
 * on it. */
#include "gpu/device.cuh"

namespace
{

/* A kernel row on one row of samples; `at` is the input column of its first tap. */
template <typename In, typename Sum>
__device__ Sum sum_row(const GfProblem<Sum> &p, const In *row, long long at, int c,
                       const Sum *weights)
{
    Sum sum = 0;
    if (row && at >= 0 && at + (p.width - 1) * p.dilation_x < p.in_width) {
        const In *sample = row + at * p.in.pixel + c * p.in.plane;
        for (int kx = 0; kx < p.width; kx++, sample += p.dilation_x * p.in.pixel)
            sum = fma(weights[kx], gf_number<Sum>(*sample), sum);
    } else {
        for (int kx = 0; kx < p.width; kx++)
            sum = fma(weights[kx], gf_input(p, row, at + kx * p.dilation_x, c), sum);
    }
    return sum;
}

/* The response of kernel f on the channels from c on. */
template <typename In, typename Sum>
__device__ Sum respond(const GfProblem<Sum> &p, size_t n, int f, int c, long long x, size_t y)
{
    const Sum *weights = p.weights + static_cast<size_t>(f) * p.depth * p.height * p.width;
    long long at_x = x * p.stride_x + p.origin_x;
    long long at_y = static_cast<long long>(y) * p.stride_y + p.origin_y;
    GfDepthSum<Sum> depth = {};
    for (int d = 0; d < p.depth; d++) {
        Sum sum = 0;
        for (int ky = 0; ky < p.height; ky++, weights += p.width)
            sum +=
                sum_row(p, gf_input_row<In>(p, n, at_y + ky * p.dilation_y), at_x, c + d, weights);
        gf_add_channel(p, &depth, d, sum);
    }
    return gf_respond(p.finish, depth);
}

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y, sizeof(Sum) == sizeof(float) ? 3 : 2)
    direct(const __grid_constant__ GfProblem<Sum> p, const __grid_constant__ GfTiles tiles)
{
    int o;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(tiles, &o, &x, &y))
        return;
    if (gf_is_kept(p, o)) {
        gf_keep_alpha<In>(p, n, o, x, y);
        return;
    }
    int c = gf_first_channel(p, o);
    GfCombiner<Sum> combined;
    gf_combine_begin(p.finish, &combined, respond<In>(p, n, gf_kernel(p, o, 0), c, x, y));
    for (int j = 1; j < p.responses; j++)
        gf_combine_add(p.finish, &combined, respond<In>(p, n, j, c, x, y));
    gf_finish_sample(p, n, o, x, y, gf_combine_end(p.finish, combined));
}

template <typename Sum> cudaError_t launch_direct(const GfLaunch *launch, cudaStream_t stream)
{
    GfProblem<Sum> p = gf_problem<Sum>(launch);
    GfTiles tiles = gf_tiles(launch);
    dim3 grid = gf_tiles_grid(tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return gf_launch(direct<decltype(sample), Sum>, {grid, block}, stream, p, tiles);
    });
}

} // namespace

extern "C" cudaError_t gf_probe_kernels(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, direct<uint8_t, float>);
}

extern "C" cudaError_t gf_launch_direct(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_direct<double>(launch, stream)
                        : launch_direct<float>(launch, stream);
}
