/* Method `direct`: the definition, a thread an output sample, as in Hwu, Kirk and El Hajj,
 * "Programming Massively Parallel Processors", 16.3: threads are laid over tiles of the output,
 * tiles are numbered in one grid dimension, loops over the taps stay inside the thread. It runs
 * every step: any kernel size, border, channel count and sample type.
 *
 * Costs: every tap is a load from global memory (caches serve the overlap of neighbours) for one
 * multiply-add: 2 operations for a sample and a weight, far below what the card balances. It is
 * here because it is obviously right, and for kernels that no faster method takes.
 *
 * Each kernel row is summed by itself and then added to the total, so that rounding errors grow
 * with width + height terms and not with their product; the plan's error bound counts on it. */
#include "gpu/device.cuh"

namespace
{

template <typename Sum> struct Direct {
    GfTiles tiles;
    GfRows in;
    void *out;
    size_t out_stride;
    long long in_width, in_height, origin_x, origin_y, anchor_x, anchor_y;
    size_t channels, post_channels;
    const Sum *weights;
    int filters, width, height;
    bool keep_alpha;
    GfBorder border;
    Sum border_value;
    GfFinish<Sum> finish;
};

/* Where a thread reads: channel c of the taps from pixel (x, y) on. */
struct Place {
    long long x, y;
    size_t c;
    bool inside; /* all taps are within the picture */
};

template <typename In, typename Sum>
__device__ Sum sample_at(const Direct<Sum> &d, const In *row, long long x)
{
    x = gf_border_index(x, d.in_width, d.border);
    return x < 0 ? d.border_value : static_cast<Sum>(row[x * d.channels]);
}

template <typename In, typename Sum>
__device__ Sum sum_row(const Direct<Sum> &d, const Place &at, const In *row, const Sum *weights)
{
    Sum sum = 0;
    if (at.inside) {
        const In *sample = row + at.x * d.channels;
        for (int kx = 0; kx < d.width; kx++, sample += d.channels)
            sum = fma(weights[kx], static_cast<Sum>(*sample), sum);
    } else {
        for (int kx = 0; kx < d.width; kx++)
            sum = fma(weights[kx], sample_at(d, row, at.x + kx), sum);
    }
    return sum;
}

/* The response of the filter whose taps are `weights`. */
template <typename In, typename Sum>
__device__ Sum respond(const Direct<Sum> &d, const Place &at, const Sum *weights)
{
    Sum total = 0;
    for (int ky = 0; ky < d.height; ky++, weights += d.width) {
        long long y = gf_border_index(at.y + ky, d.in_height, d.border);
        if (y >= 0) {
            total += sum_row(d, at, gf_row<In>(d.in, y) + at.c, weights);
        } else {
            Sum sum = 0;
            for (int kx = 0; kx < d.width; kx++)
                sum = fma(weights[kx], d.border_value, sum);
            total += sum;
        }
    }
    return fma(total, d.finish.scale, d.finish.offset);
}

/* The responses of the bank as they come, combined. Squares are summed in f64: a square of an f32
 * neither overflows nor vanishes there. */
template <typename In, typename Sum> __device__ Sum combine(const Direct<Sum> &d, const Place &at)
{
    size_t taps = static_cast<size_t>(d.width) * d.height;
    Sum first = respond<In>(d, at, d.weights), v = first;
    double squares = static_cast<double>(first) * first;
    if (d.finish.combine == GF_COMBINE_L1)
        v = fabs(v);
    for (int f = 1; f < d.filters; f++) {
        Sum r = respond<In>(d, at, d.weights + f * taps);
        switch (d.finish.combine) {
        case GF_COMBINE_L2:
            squares = fma(static_cast<double>(r), static_cast<double>(r), squares);
            break;
        case GF_COMBINE_L1:
            v += fabs(r);
            break;
        case GF_COMBINE_MAX:
            v = fmax(v, r);
            break;
        case GF_COMBINE_MIN:
            v = fmin(v, r);
            break;
        case GF_COMBINE_SUM:
            v += r;
            break;
        case GF_COMBINE_NONE:
            break;
        case GF_COMBINE_UNSHARP:
            v = gf_unsharp(d.finish, first, r);
            break;
        }
    }
    return d.finish.combine == GF_COMBINE_L2 ? static_cast<Sum>(sqrt(squares)) : v;
}

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    direct(const __grid_constant__ Direct<Sum> d)
{
    size_t s, y;
    if (!gf_my_sample(d.tiles, &s, &y))
        return;
    size_t pixel = s / d.channels;
    Place at;
    at.c = s - pixel * d.channels;
    at.x = static_cast<long long>(pixel) + d.origin_x;
    at.y = static_cast<long long>(y) + d.origin_y;
    at.inside = at.x >= 0 && at.x + d.width <= d.in_width;
    Sum v;
    if (d.keep_alpha && at.c == d.channels - 1) {
        long long row = gf_border_index(at.y + d.anchor_y, d.in_height, d.border);
        v = row < 0 ? d.border_value
                    : sample_at(d, gf_row<In>(d.in, row) + at.c, at.x + d.anchor_x);
        v *= d.finish.gain;
    } else {
        v = gf_post(d.finish, combine<In>(d, at), at.c < d.post_channels);
    }
    gf_store(static_cast<unsigned char *>(d.out) + (y - d.tiles.y0) * d.out_stride, s, v,
             d.finish.out);
}

template <typename Sum> Direct<Sum> describe(const GfLaunch *launch, const Sum *weights)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    Direct<Sum> d = {};
    d.tiles = gf_tiles(launch);
    d.in = launch->in;
    d.out = launch->out;
    d.out_stride = launch->out_stride;
    d.in_width = static_cast<long long>(step->in_width);
    d.in_height = static_cast<long long>(step->in_height);
    d.origin_x = step->origin_x;
    d.origin_y = step->origin_y;
    d.anchor_x = static_cast<long long>(linear->anchor_x);
    d.anchor_y = static_cast<long long>(linear->anchor_y);
    d.channels = step->channels;
    d.post_channels = step->post_channels;
    d.weights = weights;
    d.filters = static_cast<int>(linear->filters);
    d.width = static_cast<int>(linear->width);
    d.height = static_cast<int>(linear->height);
    d.keep_alpha = step->keep_alpha;
    d.border = step->border;
    d.border_value = static_cast<Sum>(step->border_value);
    d.finish = gf_finish<Sum>(step);
    return d;
}

template <typename Sum>
cudaError_t launch_direct(const GfLaunch *launch, const Sum *weights, cudaStream_t stream)
{
    Direct<Sum> d = describe(launch, weights);
    dim3 grid = gf_tiles_grid(d.tiles), block(GF_TILE_X, GF_TILE_Y);
    switch (launch->step->in) {
    case GF_U8:
        direct<uint8_t><<<grid, block, 0, stream>>>(d);
        break;
    case GF_U16:
        direct<uint16_t><<<grid, block, 0, stream>>>(d);
        break;
    case GF_F32:
        direct<float><<<grid, block, 0, stream>>>(d);
        break;
    case GF_F64:
        direct<double><<<grid, block, 0, stream>>>(d);
        break;
    }
    return cudaGetLastError();
}

} // namespace

extern "C" cudaError_t gf_probe_kernels(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, direct<uint8_t, float>);
}

extern "C" cudaError_t gf_launch_direct(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_direct(launch, launch->weights_wide, stream)
                        : launch_direct(launch, launch->weights, stream);
}
