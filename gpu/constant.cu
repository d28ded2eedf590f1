/* Method `constant`: the definition with the filter bank in constant memory, as in Hwu, Kirk and El
 * Hajj, "Programming Massively Parallel Processors", 7.3: all threads of a warp need the same tap
 * at the same time, and the constant cache hands it to them in one access, so that taps cost no
 * memory traffic. The bank comes as a kernel's parameter, in one of three sizes, since all of a
 * parameter is copied at each launch, used or not.
 *
 * Costs: a sample's load from global memory for each multiply-add, 0.5 operations for a byte of f32
 * where `direct` has 0.25. Sums are made in the order of `direct`, and have its bits. */
#include "gpu/device.cuh"

namespace
{

constexpr size_t SMALL = 1024, MEDIUM = 8 * 1024, LARGE = GF_CONSTANT_BYTES;

/* Sample (x, c) of a row that the picture has. */
template <typename In, typename Sum>
__device__ inline const In *sample_inside(const GfProblem<Sum> &p, size_t n, int c, long long x,
                                          long long y)
{
    const In *row = reinterpret_cast<const In *>(
        reinterpret_cast<const unsigned char *>(gf_row<In>(p.in, static_cast<size_t>(y))) +
        n * p.in.batch);
    return row + x * p.in.pixel + c * p.in.plane;
}

/* A kernel row on neighbouring samples of one channel. */
template <typename In, typename Sum>
__device__ inline Sum sum_row(const GfProblem<Sum> &p, const Sum *taps, const In *sample)
{
    Sum sum = 0;
    for (int kx = 0; kx < p.width; kx++, sample += p.dilation_x * p.in.pixel)
        sum = fma(taps[kx], gf_number<Sum>(*sample), sum);
    return sum;
}

/* One channel's sum, the first tap being at (x, y) of the input, where all taps are on the picture.
 * SIDE is that of a square kernel of taps side by side, or 0: any. */
template <int SIDE, typename In, typename Sum>
__device__ inline Sum sum_inside(const GfProblem<Sum> &p, const Sum *taps, size_t n, int c,
                                 long long x, long long y)
{
    Sum sum = 0;
    if constexpr (SIDE == 0) {
        for (int ky = 0; ky < p.height; ky++, taps += p.width)
            sum += sum_row(p, taps, sample_inside<In>(p, n, c, x, y + ky * p.dilation_y));
    } else {
#pragma unroll
        for (int ky = 0; ky < SIDE; ky++) {
            const In *sample = sample_inside<In>(p, n, c, x, y + ky);
            Sum line = 0;
#pragma unroll
            for (int kx = 0; kx < SIDE; kx++)
                line = fma(taps[ky * SIDE + kx], gf_number<Sum>(sample[kx * p.in.pixel]), line);
            sum += line;
        }
    }
    return sum;
}

/* The same, wherever the taps are. */
template <typename In, typename Sum>
__device__ inline Sum sum_anywhere(const GfProblem<Sum> &p, const Sum *taps, size_t n, int c,
                                   long long x, long long y)
{
    bool inside = x >= 0 && x + (p.width - 1) * p.dilation_x < p.in_width;
    Sum sum = 0;
    for (int ky = 0; ky < p.height; ky++, taps += p.width, y += p.dilation_y) {
        const In *row = gf_input_row<In>(p, n, y);
        if (inside && row) {
            sum += sum_row(p, taps, row + x * p.in.pixel + c * p.in.plane);
            continue;
        }
        Sum line = 0;
        for (int kx = 0; kx < p.width; kx++)
            line = fma(taps[kx], gf_input(p, row, x + kx * p.dilation_x, c), line);
        sum += line;
    }
    return sum;
}

/* The combined responses of one output sample, channel(taps, c) being a channel's sum. */
template <typename Sum, typename Channel>
__device__ inline Sum combine(const GfProblem<Sum> &p, const Sum *taps, int o, Channel channel)
{
    int area = p.height * p.width, c = gf_first_channel(p, o);
    GfCombiner<Sum> combined;
    for (int j = 0; j < p.responses; j++) {
        int first = gf_kernel(p, o, j) * p.depth;
        GfDepthSum<Sum> sum = {};
        for (int d = 0; d < p.depth; d++)
            gf_add_channel(p, &sum, d, channel(taps + (first + d) * area, c + d));
        Sum r = gf_respond(p.finish, sum);
        if (j == 0)
            gf_combine_begin(p.finish, &combined, r);
        else
            gf_combine_add(p.finish, &combined, r);
    }
    return gf_combine_end(p.finish, combined);
}

template <int SIDE, typename In, typename Sum, typename Taps>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y, 3)
    constant(const __grid_constant__ GfProblem<Sum> p, const __grid_constant__ GfTiles tiles,
             const __grid_constant__ Taps taps)
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
    long long at_x = x * p.stride_x + p.origin_x;
    long long at_y = static_cast<long long>(y) * p.stride_y + p.origin_y;
    Sum v;
    if (at_x >= 0 && at_x + (p.width - 1) * p.dilation_x < p.in_width && at_y >= 0 &&
        at_y + (p.height - 1) * p.dilation_y < p.in_height)
        v = combine(p, taps.tap, o, [&](const Sum *channel_taps, int c) {
            return sum_inside<SIDE, In>(p, channel_taps, n, c, at_x, at_y);
        });
    else
        v = combine(p, taps.tap, o, [&](const Sum *channel_taps, int c) {
            return sum_anywhere<In>(p, channel_taps, n, c, at_x, at_y);
        });
    gf_finish_sample(p, n, o, x, y, v);
}

/* A layer has other taps for each output channel: the threads of a warp stay on one, wherever its
 * samples go. */
GfTiles cut_tiles(const GfLaunch *launch)
{
    GfTiles tiles = gf_tiles(launch);
    if (gf_step_is_layer(launch->step)) {
        tiles.samples = launch->step->out_width;
        tiles.across = (tiles.samples + GF_TILE_X - 1) / GF_TILE_X;
        tiles.channels = 1;
    }
    return tiles;
}

template <int SIDE, typename Sum, typename Taps>
cudaError_t run(const GfLaunch *launch, const Taps &taps, cudaStream_t stream)
{
    GfProblem<Sum> p = gf_problem<Sum>(launch);
    GfTiles tiles = cut_tiles(launch);
    dim3 grid = gf_tiles_grid(tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return gf_launch(constant<SIDE, decltype(sample), Sum, Taps>, {grid, block}, stream, p,
                         tiles, taps);
    });
}

/* Kernels with their sides compiled in, for small banks in f32. */
cudaError_t run_small(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    size_t side = step->linear.width;
    auto taps = gf_constant_taps<float, SMALL>(launch);
    if (step->linear.height == side && step->dilation_x == 1 && step->dilation_y == 1) {
        if (side == 3)
            return run<3, float>(launch, taps, stream);
        if (side == 5)
            return run<5, float>(launch, taps, stream);
        if (side == 7)
            return run<7, float>(launch, taps, stream);
    }
    return run<0, float>(launch, taps, stream);
}

template <typename Sum> cudaError_t launch_constant(const GfLaunch *launch, cudaStream_t stream)
{
    size_t bytes = gf_taps_bytes(launch->step, launch->wide);
    if (bytes <= SMALL && !launch->wide)
        return run_small(launch, stream);
    if (bytes <= MEDIUM)
        return run<0, Sum>(launch, gf_constant_taps<Sum, MEDIUM>(launch), stream);
    if (bytes <= LARGE)
        return run<0, Sum>(launch, gf_constant_taps<Sum, LARGE>(launch), stream);
    return cudaErrorNotSupported;
}

} // namespace

extern "C" cudaError_t gf_launch_constant(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_constant<double>(launch, stream)
                        : launch_constant<float>(launch, stream);
}
