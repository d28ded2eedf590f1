/* Method `separable` on small pictures, which have too few strips to keep a card busy: what takes
 * time there is not arithmetic but waiting for the launch, for memory and from pass to pass.
 *
 * A block makes a tile of 16 x 16 outputs of one channel, a thread each. It copies the tile's
 * samples, halo and all, to shared memory as the numbers that are summed; a row pass and a column
 * pass follow, and that is all: three waits for what other warps have done, instead of three for
 * each step down a strip. All loads of a thread are under way at once, and where samples lie is
 * found while the kernel before this one ends (gf_launch_early(), gpu/blocks.cuh).
 *
 * Costs for an output: width + height * (15 + width) / 16 multiply-adds at most and as many reads of
 * shared memory, and (15 + width) * (15 + height) / 256 reads of L1: with large kernels more than
 * strips take, whose halo is that of a block. */
#include "gpu/device.cuh"

namespace
{

constexpr int TILE = 16, THREADS = TILE * TILE, WARPS = THREADS / 32;
constexpr int MOST = 31; /* rows of a kernel, and columns */
#ifndef LIM
#define LIM 1 << 22
#endif
constexpr size_t SAMPLES = LIM;
constexpr int ROWS = TILE + MOST - 1; /* of a tile's samples, at most; and columns */
/* Samples of a copied row: the two rows of which a warp reads 16 lie in different banks. */
constexpr int PITCH = 48;
constexpr int OWN_ROWS = (ROWS + WARPS - 1) / WARPS; /* that a warp copies */
constexpr int OWN_COLUMNS = (ROWS + 31) / 32;        /* that a lane does */
static_assert(ROWS <= PITCH && PITCH % 32 == TILE);

template <typename Sum, int FILTERS> struct Small {
    GfProblem<Sum> p;
    GfEdge across, down; /* of the input */
    bool finished;       /* sums are samples: scale and offset have all that follows in them */
    unsigned tiles;      /* side by side */
    Sum columns[FILTERS][MOST], rows[FILTERS][MOST];
};

/* A block's outputs: from column `left` and row `top` on. */
struct Tile {
    int channel, left, top;
};

template <typename S> __device__ Tile my_tile(const S &s)
{
    const unsigned i = blockIdx.x / s.p.channels;
    return {static_cast<int>(blockIdx.x % s.p.channels), static_cast<int>(i % s.tiles) * TILE,
            static_cast<int>(s.p.y0) + static_cast<int>(i / s.tiles) * TILE};
}

/* Copies the samples that the tile's outputs are made of. What does not lie on the picture is read
 * as well, from somewhere else, so that no read waits for a choice. */
template <typename In, typename S, typename Sum>
__device__ void copy_samples(const S &s, const Tile &tile, Sum (&copies)[ROWS][PITCH])
{
    const GfProblem<Sum> &p = s.p;
    const int rows = TILE + p.height - 1, columns = TILE + p.width - 1;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = gf_warp();
    const int left = tile.left + static_cast<int>(p.origin_x) + lane;
    const int top = tile.top + static_cast<int>(p.origin_y) + warp;
    const unsigned char *base = static_cast<const unsigned char *>(p.in.samples) +
                                blockIdx.z * p.in.batch + tile.channel * p.in.plane * sizeof(In);
    int row[OWN_ROWS], column[OWN_COLUMNS]; /* bytes, samples; -1: the border's constant */
#pragma unroll
    for (int i = 0; i < OWN_COLUMNS; i++)
        column[i] = gf_find_sample(s.across, left + 32 * i);
#pragma unroll
    for (int i = 0; i < OWN_ROWS; i++) {
        const int y = gf_find_sample(s.down, top + WARPS * i);
        const int slot = y - static_cast<int>(p.in.first),
                  capacity = static_cast<int>(p.in.capacity);
        row[i] =
            y < 0 ? -1 : (slot < capacity ? slot : slot - capacity) * static_cast<int>(p.in.stride);
        gf_find_now(base + row[i]);
    }
    gf_wait_for_stream(GF_NEXT_IN_TURN);
    In samples[OWN_ROWS][OWN_COLUMNS];
#pragma unroll
    for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
        for (int j = 0; j < OWN_COLUMNS; j++)
            if (warp + WARPS * i < rows && lane + 32 * j < columns)
                samples[i][j] = reinterpret_cast<const In *>(
                    base + max(row[i], 0))[max(column[j], 0) * static_cast<int>(p.in.pixel)];
#pragma unroll
    for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
        for (int j = 0; j < OWN_COLUMNS; j++)
            if (warp + WARPS * i < rows && lane + 32 * j < columns)
                copies[warp + WARPS * i][lane + 32 * j] =
                    row[i] >= 0 && column[j] >= 0 ? gf_number<Sum>(samples[i][j]) : p.border_value;
}

/* The sum of `count` products of taps and numbers that lie `apart`. */
template <int APART, typename Sum>
__device__ Sum add_products(const Sum *taps, const Sum *numbers, int count)
{
    Sum sum = 0;
#pragma unroll 4
    for (int k = 0; k < count; k++)
        sum = fma(taps[k], numbers[k * APART], sum);
    return sum;
}

template <typename In, typename Sum, int FILTERS>
__global__ void __launch_bounds__(THREADS)
    separable_small(const __grid_constant__ Small<Sum, FILTERS> s)
{
    __shared__ Sum copies[ROWS][PITCH], filtered[FILTERS][ROWS][TILE];
    const GfProblem<Sum> &p = s.p;
    const Tile tile = my_tile(s);
    const int column = static_cast<int>(threadIdx.x) % TILE;
    const int row = static_cast<int>(threadIdx.x) / TILE;
    const int x = tile.left + column;
    const size_t y = static_cast<size_t>(tile.top + row);
    const bool exists = x < p.out_width && y < p.y1;
    if (gf_is_kept(p, tile.channel)) {
        gf_wait_for_stream(GF_NEXT_IN_TURN);
        if (exists)
            gf_keep_alpha<In>(p, blockIdx.z, tile.channel, x, y);
        return;
    }
    copy_samples<In>(s, tile, copies);
    __syncthreads();
    for (int r = row; r < TILE + p.height - 1; r += TILE)
#pragma unroll
        for (int f = 0; f < FILTERS; f++)
            filtered[f][r][column] = add_products<1>(s.rows[f], &copies[r][column], p.width);
    __syncthreads();
    if (!exists)
        return;
    Sum responses[FILTERS][1];
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        const Sum sum = add_products<TILE>(s.columns[f], &filtered[f][row][column], p.height);
        responses[f][0] = fma(sum, p.finish.scale, p.finish.offset);
    }
    Sum(&v)[1] = responses[0];
    if constexpr (FILTERS == 2)
        gf_combine_each(p.finish, v, responses[1]);
    else
        gf_combine_alone(p.finish, v);
    const bool colour = tile.channel < p.post_channels;
    if (!s.finished)
        gf_post_each(p.finish, v, [&](int) { return colour; });
    gf_put(p, blockIdx.z, tile.channel, x, y, v[0]);
}

/* ---- the launcher ---- */

size_t tiles_along(size_t samples)
{
    return gf_divide_up<size_t>(samples, TILE);
}

template <typename In, typename Sum, int FILTERS>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Small<Sum, FILTERS> s = {};
    s.p = gf_problem<Sum>(launch);
    s.finished = gf_fold_gain(step, &s.p.finish);
    const Sum *from = static_cast<const Sum *>(launch->factors_host);
    for (int f = 0; f < FILTERS; f++) {
        for (int i = 0; i < s.p.height; i++)
            s.columns[f][i] = *from++;
        for (int i = 0; i < s.p.width; i++)
            s.rows[f][i] = *from++;
    }
    s.across = gf_find_edge(step->in_width, step->border);
    s.down = gf_find_edge(step->in_height, step->border);
    const size_t across = tiles_along(step->out_width);
    s.tiles = static_cast<unsigned>(across);
    const size_t down = tiles_along(launch->y1 - launch->y0);
    const dim3 grid(static_cast<unsigned>(across * down * step->channels), 1,
                    static_cast<unsigned>(launch->count));
    const auto kernel = separable_small<In, Sum, FILTERS>;
    return gf_launch_early(kernel, {grid, THREADS}, stream, s);
}

template <typename Sum> cudaError_t run_sample(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return launch->step->linear.filters == 1 ? run<decltype(sample), Sum, 1>(launch, stream)
                                                 : run<decltype(sample), Sum, 2>(launch, stream);
    });
}

/* Can it, and do its numbers fit? */
bool fits(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const size_t across = tiles_along(step->out_width) * TILE;
    const size_t down = tiles_along(launch->y1 - launch->y0) * TILE;
    const ptrdiff_t top = static_cast<ptrdiff_t>(launch->y0) + step->origin_y;
    return step->linear.width <= MOST && step->linear.height <= MOST &&
           step->in_height <= INT_MAX / 2 && launch->in.capacity <= INT_MAX / launch->in.stride &&
           across * step->channels <= INT_MAX / down &&
           gf_reaches(step->in_width, step->origin_x, across + step->linear.width - 1,
                      step->border) &&
           gf_reaches(step->in_height, top, down + step->linear.height - 1, step->border);
}

} // namespace

bool gf_separable_is_small(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const size_t samples = step->out_width * step->channels * (launch->y1 - launch->y0);
    return samples <= SAMPLES / launch->count && fits(launch);
}

extern "C" cudaError_t gf_launch_separable_small(const GfLaunch *launch, cudaStream_t stream)
{
    if (!fits(launch))
        return cudaErrorNotSupported;
    return launch->wide ? run_sample<double>(launch, stream) : run_sample<float>(launch, stream);
}
