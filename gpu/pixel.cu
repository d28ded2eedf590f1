/* The two steps for opacity, a thread a sample: colour is multiplied by its pixel's opacity before
 * the first filter, and divided by the filtered opacity after the last one. Each reads and writes
 * every sample once (and the opacity again, from a cache) for two or three operations: bound by
 * memory. */
#include "gpu/device.cuh"

namespace
{

template <typename Sum> struct Opacity {
    GfTiles tiles;
    GfRows in;
    void *out;
    size_t out_stride;
    size_t channels, post_channels;
    bool divide;
    Sum white, alpha_gain;
    GfFinish<Sum> finish;
};

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    apply_opacity(const __grid_constant__ Opacity<Sum> o)
{
    size_t s, y;
    if (!gf_my_sample(o.tiles, &s, &y))
        return;
    const In *row = gf_row<In>(o.in, y);
    size_t c = s % o.channels, last = o.channels - 1;
    Sum v = static_cast<Sum>(row[s]);
    Sum alpha = static_cast<Sum>(row[s - c + last]) * o.alpha_gain;
    if (c == last)
        v = alpha;
    else if (o.divide)
        v = alpha > 0 ? v * o.white / alpha : Sum(0);
    else
        v = v * alpha / o.white;
    gf_store(static_cast<unsigned char *>(o.out) + (y - o.tiles.y0) * o.out_stride, s,
             gf_post(o.finish, v, c < o.post_channels), o.finish.out);
}

template <typename Sum> cudaError_t launch_opacity(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Opacity<Sum> o = {};
    o.tiles = gf_tiles(launch);
    o.in = launch->in;
    o.out = launch->out;
    o.out_stride = launch->out_stride;
    o.channels = step->channels;
    o.post_channels = step->post_channels;
    o.divide = step->kind == GF_STEP_UNPREMULTIPLY;
    o.white = static_cast<Sum>(step->white);
    o.alpha_gain = static_cast<Sum>(step->alpha_gain);
    o.finish = gf_finish<Sum>(step);
    dim3 grid = gf_tiles_grid(o.tiles), block(GF_TILE_X, GF_TILE_Y);
    switch (step->in) {
    case GF_U8:
        apply_opacity<uint8_t><<<grid, block, 0, stream>>>(o);
        break;
    case GF_U16:
        apply_opacity<uint16_t><<<grid, block, 0, stream>>>(o);
        break;
    case GF_F32:
        apply_opacity<float><<<grid, block, 0, stream>>>(o);
        break;
    case GF_F64:
        apply_opacity<double><<<grid, block, 0, stream>>>(o);
        break;
    }
    return cudaGetLastError();
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
