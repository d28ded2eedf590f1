/* The two steps for opacity, a thread a sample: colour is multiplied by its pixel's opacity before
 * the first filter, and divided by the filtered opacity after the last one. Each reads and writes
 * every sample once (and the opacity again, from a cache) for two or three operations: bound by
 * memory. */
#include "gpu/device.cuh"

namespace
{

template <typename Sum> struct Opacity {
    GfProblem<Sum> p;
    GfTiles tiles;
    bool divide;
    Sum white, alpha_gain;
};

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    apply_opacity(const __grid_constant__ Opacity<Sum> opacity)
{
    const GfProblem<Sum> &p = opacity.p;
    int c;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(opacity.tiles, &c, &x, &y))
        return;
    const In *row = gf_input_row<In>(p, n, static_cast<long long>(y));
    Sum v = gf_input(p, row, x, c);
    Sum alpha = gf_input(p, row, x, p.channels - 1) * opacity.alpha_gain;
    if (c == p.channels - 1)
        v = alpha;
    else if (opacity.divide)
        v = alpha > 0 ? v * opacity.white / alpha : Sum(0);
    else
        v = v * alpha / opacity.white;
    gf_finish_sample(p, n, c, x, y, v);
}

template <typename Sum> cudaError_t launch_opacity(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Opacity<Sum> opacity = {};
    opacity.p = gf_problem<Sum>(launch);
    opacity.tiles = gf_tiles(launch);
    opacity.divide = step->kind == GF_STEP_UNPREMULTIPLY;
    opacity.white = static_cast<Sum>(step->white);
    opacity.alpha_gain = static_cast<Sum>(step->alpha_gain);
    dim3 grid = gf_tiles_grid(opacity.tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        apply_opacity<decltype(sample)><<<grid, block, 0, stream>>>(opacity);
        return cudaGetLastError();
    });
}

cudaError_t launch_of_width(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_opacity<double>(launch, stream)
                        : launch_opacity<float>(launch, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_premultiply(const GfLaunch *launch, cudaStream_t stream)
{
    return launch_of_width(launch, stream);
}

extern "C" cudaError_t gf_launch_unpremultiply(const GfLaunch *launch, cudaStream_t stream)
{
    return launch_of_width(launch, stream);
}
