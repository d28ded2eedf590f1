/* The steps that look at one pixel, a thread a sample. Opacity: colour is multiplied by its pixel's opacity before
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

/* images/light.h, in the type of the sums. */
template <typename T> __device__ inline T decode(T stored, T gamma)
{
    T x = fabs(stored), light;
    if (gamma > 0)
        light = pow(x, gamma);
    else
        light = x <= T(0.04045) ? x / T(12.92) : pow((x + T(0.055)) / T(1.055), T(2.4));
    return copysign(light, stored);
}

template <typename T> __device__ inline T encode(T light, T gamma)
{
    T x = fabs(light), stored;
    if (gamma > 0)
        stored = pow(x, T(1) / gamma);
    else
        stored = x <= T(0.0031308) ? T(12.92) * x : T(1.055) * pow(x, T(1 / 2.4)) - T(0.055);
    return copysign(stored, light);
}

/* The functions of a step of light: those that are for it alone, and all others. */
template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    apply_light(const __grid_constant__ GfProblem<Sum> p, const __grid_constant__ GfTiles tiles)
{
    int c;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(tiles, &c, &x, &y))
        return;
    const In *row = gf_input_row<In>(p, n, static_cast<long long>(y));
    const GfFinish<Sum> &finish = p.finish;
    Sum v = gf_input(p, row, x, c);
    bool colour = c < p.post_channels;
    for (int i = 0; colour && i < finish.posts; i++) {
        Sum a = finish.a[i], b = finish.b[i];
        if (finish.op[i] == GF_POINTWISE_DECODE)
            v = a * decode(v / a, b);
        else if (finish.op[i] == GF_POINTWISE_ENCODE)
            v = a * encode(v / a, b);
        else
            v = gf_apply(finish.op[i], a, b, v);
    }
    gf_put(p, n, c, x, y, fma(v, finish.gain, colour ? finish.mid : Sum(0)));
}

template <typename Sum> cudaError_t launch_light(const GfLaunch *launch, cudaStream_t stream)
{
    GfProblem<Sum> p = gf_problem<Sum>(launch);
    GfTiles tiles = gf_tiles(launch);
    dim3 grid = gf_tiles_grid(tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        apply_light<decltype(sample)><<<grid, block, 0, stream>>>(p, tiles);
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

extern "C" cudaError_t gf_launch_light(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_light<double>(launch, stream)
                        : launch_light<float>(launch, stream);
}

extern "C" cudaError_t gf_launch_unpremultiply(const GfLaunch *launch, cudaStream_t stream)
{
    return launch_of_width(launch, stream);
}
