/* Method `tiled`: the input tile in shared memory, halo and all, as in Hwu, Kirk and El Hajj,
 * "Programming Massively Parallel Processors", 7.4: a block has a thread for each sample of its
 * INPUT tile; each loads one, and then those that stand for an output sample compute while the
 * rest, as many as the halo is wide, stand idle. Ghost cells are filled by the border's rule.
 * Loading is simple; what is paid for it are the idle threads, and a tile must hold a window.
 *
 * Costs, for K x K taps side by side: an output tile of OUT x OUT, with IN = OUT + K - 1, takes 2
 * OUT^2 K^2 operations and 4 IN^2 bytes of f32: 3.13, 7.03 and 9.57 operations for a byte where K =
 * 5 and IN = 8, 16 and 32. Taps are a parameter in constant memory where they fit. */
#include "gpu/device.cuh"

namespace
{

constexpr int MOST_THREADS = 1024;
constexpr size_t TAPS = 4096; /* bytes in constant memory */

template <typename Sum> struct Tiled {
    GfProblem<Sum> p;
    GfCut cut;
    int window_rows; /* from the first to the last row of taps */
};

/* The sample of channel 0 that this thread loads, or NULL for the border's constant, and for rows
 * that no window of this block reaches: they need not be there. */
template <typename In, typename Sum>
__device__ inline const In *my_cell(const Tiled<Sum> &t, const GfPlace &place)
{
    const GfProblem<Sum> &p = t.p;
    long long down =
        min(static_cast<long long>(t.cut.rows), static_cast<long long>(p.y1 - place.y));
    if (threadIdx.y >= (down - 1) * p.stride_y + t.window_rows)
        return nullptr;
    long long x = static_cast<long long>(place.s) * p.stride_x + p.origin_x + threadIdx.x;
    long long y = static_cast<long long>(place.y) * p.stride_y + p.origin_y + threadIdx.y;
    const In *row = gf_input_row<In>(p, blockIdx.z, y);
    x = row ? gf_border_index(x, p.in_width, p.border) : -1;
    return x < 0 ? nullptr : row + x * p.in.pixel;
}

/* One channel's sum; `at` is the tile's sample of the first tap, `across` samples are in a row. */
template <typename Sum>
__device__ inline Sum sum_channel(const GfProblem<Sum> &p, const Sum *taps, const Sum *at,
                                  int across)
{
    int right = static_cast<int>(p.dilation_x);
    long long down = p.dilation_y * across;
    Sum sum = 0;
    for (int ky = 0; ky < p.height; ky++, taps += p.width, at += down) {
        Sum line = 0;
        for (int kx = 0; kx < p.width; kx++)
            line = fma(taps[kx], at[kx * right], line);
        sum += line;
    }
    return sum;
}

template <typename In, typename Sum, typename Taps>
__global__ void __launch_bounds__(MOST_THREADS,
                                  sizeof(Taps) == TAPS && sizeof(Sum) == sizeof(float) ? 2 : 1)
    tiled(const __grid_constant__ Tiled<Sum> t, const __grid_constant__ Taps taps)
{
    __shared__ Sum tile[MOST_THREADS];
    const GfProblem<Sum> &p = t.p;
    GfPlace place = gf_my_tile(t.cut, p.y0);
    int o = place.set, c = gf_first_channel(p, o), across = static_cast<int>(blockDim.x);
    long long x = static_cast<long long>(place.s + threadIdx.x);
    size_t y = place.y + threadIdx.y;
    const In *cell = my_cell<In>(t, place);
    Sum *mine = tile + threadIdx.y * across + threadIdx.x;
    bool computes =
        threadIdx.x < t.cut.columns && x < p.out_width && threadIdx.y < t.cut.rows && y < p.y1;
    const Sum *at =
        tile + (computes ? threadIdx.y * p.stride_y * across + threadIdx.x * p.stride_x : 0);
    size_t area = static_cast<size_t>(p.height) * p.width;
    GfCombiner<Sum> combined = {};
    for (int j = 0; j < p.responses; j++) {
        GfDepthSum<Sum> sum = {};
        for (int d = 0; d < p.depth; d++) {
            if (j == 0) { /* the kernels of a bank share the one channel */
                __syncthreads();
                *mine = cell ? gf_number<Sum>(cell[(c + d) * p.in.plane]) : p.border_value;
                __syncthreads();
            }
            size_t first = (static_cast<size_t>(gf_kernel(p, o, j)) * p.depth + d) * area;
            if (computes)
                gf_add_channel(p, &sum, d, sum_channel(p, taps.tap + first, at, across));
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

/* Output samples of an input tile; 0 x 0 where it does not hold a window. */
GfTileSize output_of(const GfStep *step, GfTileSize tile)
{
    GfTileSize window = gf_window(step);
    if (window.columns > tile.columns || window.rows > tile.rows)
        return {0, 0};
    return {(tile.columns - window.columns) / step->stride_x + 1,
            (tile.rows - window.rows) / step->stride_y + 1};
}

/* Threads of all blocks, for each channel and picture. */
double count_threads(const GfLaunch *launch, GfTileSize tile)
{
    GfTileSize out = output_of(launch->step, tile);
    if (out.columns == 0)
        return -1;
    size_t across = (launch->step->out_width + out.columns - 1) / out.columns;
    size_t down = (launch->y1 - launch->y0 + out.rows - 1) / out.rows;
    return static_cast<double>(across) * static_cast<double>(down) *
           static_cast<double>(tile.columns * tile.rows);
}

template <typename Sum, typename Taps>
cudaError_t run(const GfLaunch *launch, GfTileSize tile, const Taps &taps, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Tiled<Sum> t = {};
    t.p = gf_problem<Sum>(launch);
    t.cut = gf_cut(step->out_width, output_of(step, tile), step->out_channels);
    t.window_rows = static_cast<int>(gf_window(step).rows);
    dim3 grid = gf_cut_grid(t.cut, launch);
    dim3 block(static_cast<unsigned>(tile.columns), static_cast<unsigned>(tile.rows));
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        return gf_launch(tiled<decltype(sample), Sum, Taps>, {grid, block}, stream, t, taps);
    });
}

template <typename Sum> cudaError_t launch_tiled(const GfLaunch *launch, cudaStream_t stream)
{
    GfTileSize tile =
        gf_choose_tile(launch, [&](GfTileSize size) { return count_threads(launch, size); });
    if (tile.columns == 0)
        return cudaErrorNotSupported;
    if (gf_taps_bytes(launch->step, launch->wide) <= TAPS)
        return run<Sum>(launch, tile, gf_constant_taps<Sum, TAPS>(launch), stream);
    GfGlobalTaps<Sum> taps = {static_cast<const Sum *>(launch->weights)};
    return run<Sum>(launch, tile, taps, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_tiled(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_tiled<double>(launch, stream)
                        : launch_tiled<float>(launch, stream);
}
