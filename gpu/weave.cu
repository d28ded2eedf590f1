/* The steps of a network that are no sums of windows, a thread a sample: what an earlier step read
 * is added (or, of a picture, its opacity put back), and pixels become blocks, each pixel repeated
 * (nearest) or its channels dealt out (shuffle). No sample is read twice but by a nearest
 * enlargement, whose neighbours find it in a cache: bound by memory. */
#include "gpu/device.cuh"

namespace
{

/* An addition. */
template <typename Sum> struct Meeting {
    GfProblem<Sum> p;
    GfTiles tiles;
    GfRows skipped;
    GfSample sample; /* of what is skipped */
    size_t bytes;    /* of such a sample */
    int channels;    /* of what is skipped */
    Sum gain;
};

template <typename Sum>
__device__ inline Sum skipped_sample(const Meeting<Sum> &meeting, size_t n, long long x, size_t y,
                                     int c)
{
    const GfRows &rows = meeting.skipped;
    const unsigned char *row = gf_row<unsigned char>(rows, y) + n * rows.batch;
    size_t sample = static_cast<size_t>(x) * rows.pixel + static_cast<size_t>(c) * rows.plane;
    return gf_number_at<Sum, void>(row + sample * meeting.bytes, meeting.sample);
}

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    add_skipped(const __grid_constant__ Meeting<Sum> meeting)
{
    const GfProblem<Sum> &p = meeting.p;
    int c, colours = meeting.channels - (p.keep_alpha ? 1 : 0);
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(meeting.tiles, &c, &x, &y))
        return;
    Sum v;
    if (p.keep_alpha && c == p.out_channels - 1) {
        v = skipped_sample(meeting, n, x, y, colours);
    } else {
        const In *row = gf_input_row<In>(p, n, static_cast<long long>(y));
        v = gf_input(p, row, x, p.channels == 1 ? 0 : c);
        if (meeting.gain != 0)
            v = fma(meeting.gain, skipped_sample(meeting, n, x, y, colours == 1 ? 0 : c), v);
    }
    gf_finish_sample(p, n, c, x, y, v);
}

/* An enlargement. */
template <typename Sum> struct Spread {
    GfProblem<Sum> p;
    GfTiles tiles;
    bool shuffle;
    unsigned factor_x, factor_y;
};

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    enlarge(const __grid_constant__ Spread<Sum> spread)
{
    const GfProblem<Sum> &p = spread.p;
    int c, from;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(spread.tiles, &c, &x, &y))
        return;
    unsigned i = static_cast<unsigned>(y % spread.factor_y);
    unsigned j = static_cast<unsigned>(x % spread.factor_x);
    from = c;
    if (spread.shuffle)
        from = static_cast<int>((static_cast<unsigned>(c) * spread.factor_y + i) * spread.factor_x +
                                j);
    const In *row = gf_input_row<In>(p, n, static_cast<long long>(y / spread.factor_y));
    gf_finish_sample(p, n, c, x, y, gf_input(p, row, x / spread.factor_x, from));
}

template <typename Sum> cudaError_t launch_add(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Meeting<Sum> meeting = {};
    meeting.p = gf_problem<Sum>(launch);
    meeting.tiles = gf_tiles(launch);
    meeting.skipped = launch->skipped;
    meeting.sample = step->skip_in;
    meeting.bytes = gf_sample_size(step->skip_in);
    meeting.channels = static_cast<int>(step->skip_channels);
    meeting.gain = static_cast<Sum>(step->skip_gain);
    dim3 grid = gf_tiles_grid(meeting.tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        return gf_launch(add_skipped<decltype(sample), Sum>, {grid, block}, stream, meeting);
    });
}

template <typename Sum> cudaError_t launch_upsample(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Spread<Sum> spread = {};
    spread.p = gf_problem<Sum>(launch);
    spread.tiles = gf_tiles(launch);
    spread.shuffle = step->shuffle;
    spread.factor_x = static_cast<unsigned>(step->factor_x);
    spread.factor_y = static_cast<unsigned>(step->factor_y);
    dim3 grid = gf_tiles_grid(spread.tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        return gf_launch(enlarge<decltype(sample), Sum>, {grid, block}, stream, spread);
    });
}

} // namespace

extern "C" cudaError_t gf_launch_add(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_add<double>(launch, stream) : launch_add<float>(launch, stream);
}

extern "C" cudaError_t gf_launch_upsample(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_upsample<double>(launch, stream)
                        : launch_upsample<float>(launch, stream);
}
