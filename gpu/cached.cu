/* Method `cached`: only the inner part of the input tile in shared memory, as in Hwu, Kirk and El
 * Hajj, "Programming Massively Parallel Processors", 7.5: a block has a thread for each sample of
 * its OUTPUT tile and holds the same tile of the input, what lies under the windows' middles. The
 * halo is other blocks' inner part, so that it is read through the caches, where they have just put
 * it. Tiles of input and output are alike, no thread stands idle, a kernel may be of any size; what
 * is paid for it is a test at each tap: inner part, ghost cell, or halo.
 *
 * Costs: as `tiled`, but the halo comes from L2. Taps are a parameter in constant memory where they
 * fit. */
#include "gpu/device.cuh"

namespace
{

constexpr int MOST_THREADS = 1024;
constexpr size_t TAPS = 4096; /* bytes in constant memory */

/* With a stride the inner part is as many samples as the windows step over. */
template <typename Sum> struct Cached {
    GfProblem<Sum> p;
    GfCut cut;
    int columns, rows;            /* of the inner part */
    long long middle_x, middle_y; /* from a window's first tap to the one in its middle */
};

/* Where this block's inner part lies on the input. */
struct Inner {
    long long x, y;
    int rows; /* those that its windows reach; what is below need not be there */
};

template <typename Sum> __device__ inline Inner my_inner(const Cached<Sum> &t, const GfPlace &place)
{
    const GfProblem<Sum> &p = t.p;
    long long down =
        min(static_cast<long long>(t.cut.rows), static_cast<long long>(p.y1 - place.y));
    long long reach = (down - 1) * p.stride_y + (p.height - 1) * p.dilation_y + 1 - t.middle_y;
    return {static_cast<long long>(place.s) * p.stride_x + p.origin_x + t.middle_x,
            static_cast<long long>(place.y) * p.stride_y + p.origin_y + t.middle_y,
            static_cast<int>(min(static_cast<long long>(t.rows), reach))};
}

template <typename In, typename Sum>
__device__ inline void load_inner(const Cached<Sum> &t, const Inner &inner, int c, Sum *tile)
{
    int rows = static_cast<int>(blockDim.y), columns = static_cast<int>(blockDim.x);
    for (int r = static_cast<int>(threadIdx.y); r < inner.rows; r += rows) {
        const In *row = gf_input_row<In>(t.p, blockIdx.z, inner.y + r);
        for (int i = static_cast<int>(threadIdx.x); i < t.columns; i += columns)
            tile[r * t.columns + i] = gf_input(t.p, row, inner.x + i, c);
    }
}

/* One channel's sum, the first tap being at (x, y) of the inner part. */
template <typename In, typename Sum>
__device__ inline Sum sum_channel(const Cached<Sum> &t, const Inner &inner, const Sum *taps,
                                  const Sum *tile, int c, long long x, long long y)
{
    const GfProblem<Sum> &p = t.p;
    Sum sum = 0;
    for (int ky = 0; ky < p.height; ky++, taps += p.width, y += p.dilation_y) {
        unsigned within = y >= 0 && y < inner.rows ? static_cast<unsigned>(t.columns) : 0;
        const Sum *held = tile + (within ? y * t.columns : 0);
        const In *row = nullptr;
        if (x < 0 || x + (p.width - 1) * p.dilation_x >= within)
            row = gf_input_row<In>(p, blockIdx.z, inner.y + y);
        Sum line = 0;
        for (int kx = 0; kx < p.width; kx++) {
            long long at = x + kx * p.dilation_x;
            Sum v = static_cast<unsigned long long>(at) < within
                        ? held[at]
                        : gf_input(p, row, inner.x + at, c);
            line = fma(taps[kx], v, line);
        }
        sum += line;
    }
    return sum;
}

template <typename In, typename Sum, typename Taps>
__global__ void __launch_bounds__(MOST_THREADS)
    cached(const __grid_constant__ Cached<Sum> t, const __grid_constant__ Taps taps)
{
    GF_BLOCK_MEMORY(double, memory);
    Sum *tile = reinterpret_cast<Sum *>(memory);
    const GfProblem<Sum> &p = t.p;
    GfPlace place = gf_my_tile(t.cut, p.y0);
    Inner inner = my_inner(t, place);
    int o = place.set, c = gf_first_channel(p, o);
    long long x = static_cast<long long>(place.s + threadIdx.x);
    size_t y = place.y + threadIdx.y;
    bool computes = x < p.out_width && y < p.y1;
    size_t area = static_cast<size_t>(p.height) * p.width;
    GfCombiner<Sum> combined = {};
    for (int j = 0; j < p.responses; j++) {
        GfDepthSum<Sum> sum = {};
        for (int d = 0; d < p.depth; d++) {
            if (j == 0) { /* the kernels of a bank share the one channel */
                __syncthreads();
                load_inner<In>(t, inner, c + d, tile);
                __syncthreads();
            }
            size_t first = (static_cast<size_t>(gf_kernel(p, o, j)) * p.depth + d) * area;
            if (computes)
                gf_add_channel(p, &sum, d,
                               sum_channel<In>(t, inner, taps.tap + first, tile, c + d,
                                               threadIdx.x * p.stride_x - t.middle_x,
                                               threadIdx.y * p.stride_y - t.middle_y));
        }
        Sum r = gf_respond(p.finish, sum);
        if (j == 0)
            gf_combine_begin(p.finish, &combined, r);
        else
            gf_combine_add(p.finish, &combined, r);
    }
    if (computes && gf_is_kept(p, o))
        gf_keep_alpha<In>(p, blockIdx.z, o, x, y);
    else if (computes)
        gf_finish_sample(p, blockIdx.z, o, x, y, gf_combine_end(p.finish, combined));
}

/* Samples that all blocks read, of each channel and picture. */
double count_samples(const GfLaunch *launch, GfTileSize tile)
{
    const GfStep *step = launch->step;
    GfTileSize window = gf_window(step);
    if (gf_cached_bytes(step, launch->wide, tile) > GF_SHARED_BYTES)
        return -1;
    size_t across = (step->out_width + tile.columns - 1) / tile.columns;
    size_t down = (launch->y1 - launch->y0 + tile.rows - 1) / tile.rows;
    return static_cast<double>(across * ((tile.columns - 1) * step->stride_x + window.columns)) *
           static_cast<double>(down * ((tile.rows - 1) * step->stride_y + window.rows));
}

template <typename Sum, typename Taps>
cudaError_t run(const GfLaunch *launch, GfTileSize tile, const Taps &taps, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    size_t bytes = gf_cached_bytes(step, launch->wide, tile);
    Cached<Sum> t = {};
    t.p = gf_problem<Sum>(launch);
    t.cut = gf_cut(step->out_width, tile, step->out_channels);
    t.columns = static_cast<int>(tile.columns * step->stride_x);
    t.rows = static_cast<int>(tile.rows * step->stride_y);
    t.middle_x = t.p.width / 2 * t.p.dilation_x;
    t.middle_y = t.p.height / 2 * t.p.dilation_y;
    dim3 grid = gf_cut_grid(t.cut, launch);
    dim3 block(static_cast<unsigned>(tile.columns), static_cast<unsigned>(tile.rows));
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        return gf_launch(cached<decltype(sample), Sum, Taps>, {grid, block, bytes}, stream, t,
                         taps);
    });
}

template <typename Sum> cudaError_t launch_cached(const GfLaunch *launch, cudaStream_t stream)
{
    GfTileSize tile =
        gf_choose_tile(launch, [&](GfTileSize size) { return count_samples(launch, size); });
    if (tile.columns == 0)
        return cudaErrorNotSupported;
    if (gf_taps_bytes(launch->step, launch->wide) <= TAPS)
        return run<Sum>(launch, tile, gf_constant_taps<Sum, TAPS>(launch), stream);
    GfGlobalTaps<Sum> taps = {static_cast<const Sum *>(launch->weights)};
    return run<Sum>(launch, tile, taps, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_cached(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_cached<double>(launch, stream)
                        : launch_cached<float>(launch, stream);
}
