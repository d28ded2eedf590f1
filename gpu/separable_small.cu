/* Method `separable` on small pictures, which have too few strips to keep a card busy: what takes
 * time there is not arithmetic but waiting for the launch, for memory and from pass to pass.
 *
 * A block makes a tile of 16 x 16 outputs of one channel. It copies the tile's samples, halo and
 * all, to shared memory as the numbers that are summed; a row pass and a column pass follow, and
 * that is all: three waits for what other warps have done, instead of three for each step down a
 * strip. All loads of a thread are under way at once. Where samples lie is found, and taps are
 * read, while the kernel before this one ends (gf_launch_early(), gpu/blocks.cuh).
 *
 * In the row pass a thread makes 4 neighbours, whose window it slides along the taps; in the column
 * pass 2 outputs, one above the other.
 *
 * Costs for an output: (15 + height) * width / 16 + height multiply-adds, and (15 + width) * (15 +
 * height) / 256 reads of L1: with large kernels more than strips take, whose halo is that of a
 * block. */
#include "gpu/device.cuh"

namespace
{

constexpr int TILE = 16, WARPS = 4, THREADS = 32 * WARPS;
constexpr int N = 4;                                   /* outputs of a thread in the row pass */
constexpr int PAIR = TILE * TILE / THREADS;            /* the same in the column pass */
constexpr int SMALLER = 17, MOST = GF_SEPARABLE_TILED; /* sides of kernels */

/* Of kernels within SIDE x SIDE: what a block has in shared memory. The rows of numbers begin in
 * such banks that threads, which read four or two rows at a time, do not meet in one. */
template <typename Sum, int FILTERS, int SIDE> struct Shared {
    static constexpr int ROWS = (TILE + SIDE - 1 + WARPS - 1) / WARPS * WARPS;
    static constexpr int PITCH = sizeof(Sum) == sizeof(double) ? 50 : 48;
    static constexpr int COLUMNS = ROWS > 32 ? 2 : 1; /* of a lane that copies */
    static_assert(ROWS <= 48 && N * ((SIDE + 2 * N - 1) / N) + TILE - N <= PITCH);
    alignas(16) Sum copies[ROWS][PITCH];
    alignas(16) Sum filtered[FILTERS][ROWS + N][24];
    alignas(16) Sum columns[FILTERS][MOST + 1], rows[FILTERS][MOST + 1];
    int row_at[ROWS], column_at[32 * COLUMNS]; /* bytes; -1: the border's constant */
};

template <typename Sum> struct Small {
    GfProblem<Sum> p;
    GfEdge across, down; /* of the input */
    const Sum *factors;  /* for each kernel its column, then its row */
    bool finished;       /* sums are samples: scale and offset have all that follows in them */
    unsigned tiles;      /* side by side */
};

/* A block's outputs: from column `left` and row `top` on. */
struct Tile {
    int channel, left, top;
};

template <typename Sum> __device__ Tile my_tile(const Small<Sum> &s)
{
    const unsigned i = blockIdx.x / s.p.channels;
    return {static_cast<int>(blockIdx.x % s.p.channels), static_cast<int>(i % s.tiles) * TILE,
            static_cast<int>(s.p.y0) + static_cast<int>(i / s.tiles) * TILE};
}

/* ---- before the kernel before this one has ended ---- */

/* Finds the rows and columns that the tile's outputs are made of, and reads the taps. Others, like
 * those beside the picture, are none: they need not be there. */
template <typename In, typename Sum, int FILTERS, int SIDE>
__device__ void prepare(const Small<Sum> &s, const Tile &tile, Shared<Sum, FILTERS, SIDE> &shared)
{
    const GfProblem<Sum> &p = s.p;
    const int thread = static_cast<int>(threadIdx.x), side = p.height + p.width;
    const int columns = min(TILE, static_cast<int>(p.out_width) - tile.left) + p.width - 1;
    const int rows = min(TILE, static_cast<int>(p.y1) - tile.top) + p.height - 1;
    for (int i = thread; i < 32 * shared.COLUMNS; i += THREADS) {
        const int x = gf_find_sample(s.across, tile.left + static_cast<int>(p.origin_x) + i);
        shared.column_at[i] =
            i < columns && x >= 0 ? x * static_cast<int>(p.in.pixel * sizeof(In)) : -1;
    }
    for (int i = thread; i < shared.ROWS; i += THREADS) {
        const int y = gf_find_sample(s.down, tile.top + static_cast<int>(p.origin_y) + i);
        const int slot = y - static_cast<int>(p.in.first);
        const int capacity = static_cast<int>(p.in.capacity);
        shared.row_at[i] = i < rows && y >= 0 ? (slot < capacity ? slot : slot - capacity) *
                                                    static_cast<int>(p.in.stride)
                                              : -1;
    }
    for (int i = thread; i < FILTERS * side; i += THREADS) {
        const int f = i / side, tap = i % side;
        Sum *to = tap < p.height ? &shared.columns[f][tap] : &shared.rows[f][tap - p.height];
        *to = s.factors[i];
    }
}

/* ---- the passes ---- */

/* Copies the samples that the tile's outputs are made of. What does not lie on the picture is read
 * as well, from somewhere else, so that no read waits for a choice. */
template <typename In, typename Sum, int FILTERS, int SIDE>
__device__ void copy_samples(const Small<Sum> &s, const Tile &tile,
                             Shared<Sum, FILTERS, SIDE> &shared)
{
    constexpr int ROWS = shared.ROWS / WARPS, COLUMNS = shared.COLUMNS; /* of a lane */
    const GfRows &in = s.p.in;
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const unsigned char *base = static_cast<const unsigned char *>(in.samples) +
                                blockIdx.z * in.batch + tile.channel * in.plane * sizeof(In);
    In samples[ROWS][COLUMNS];
    int row[ROWS], column[COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
        column[j] = shared.column_at[lane + 32 * j];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        row[i] = shared.row_at[warp + WARPS * i];
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            samples[i][j] =
                *reinterpret_cast<const In *>(base + (max(row[i], 0) + max(column[j], 0)));
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if (j == 0 || lane + 32 * j < shared.PITCH)
                shared.copies[warp + WARPS * i][lane + 32 * j] = row[i] >= 0 && column[j] >= 0
                                                                     ? gf_number<Sum>(samples[i][j])
                                                                     : s.p.border_value;
}

/* Adds the products of `count` taps to COUNT sums, of which sum i begins with the number that
 * next(i) tells; numbers are asked for in their order. */
template <int COUNT, typename Sum, typename Next>
__device__ void add_products(const Sum *taps, int count, Next next, Sum (&sums)[COUNT])
{
    Sum x[COUNT + N];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        x[i] = next(i);
#pragma unroll 2
    for (int k = 0; k < count; k += N) {
        const GfSamples<Sum, N> four = *reinterpret_cast<const GfSamples<Sum, N> *>(taps + k);
#pragma unroll
        for (int i = 0; i < N; i++)
            x[COUNT + i] = next(k + COUNT + i);
#pragma unroll
        for (int i = 0; i < N; i++)
            if (k + i < count)
#pragma unroll
                for (int j = 0; j < COUNT; j++)
                    sums[j] = fma(four.sample[i], x[i + j], sums[j]);
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            x[i] = x[i + N];
    }
}

template <typename Sum, int FILTERS, int SIDE>
__device__ void pass_rows(const GfProblem<Sum> &p, Shared<Sum, FILTERS, SIDE> &shared)
{
    const int first = static_cast<int>(threadIdx.x) % (TILE / N) * N;
    for (int r = threadIdx.x / (TILE / N); r < TILE + p.height - 1; r += THREADS / (TILE / N))
#pragma unroll
        for (int f = 0; f < FILTERS; f++) {
            const Sum *numbers = &shared.copies[r][first];
            GfSamples<Sum, N> sums = {};
            add_products(
                shared.rows[f], p.width, [&](int i) { return numbers[i]; }, sums.sample);
            *reinterpret_cast<GfSamples<Sum, N> *>(&shared.filtered[f][r][first]) = sums;
        }
}

template <typename In, typename Sum, int FILTERS, int SIDE>
__global__ void __launch_bounds__(THREADS) separable_small(const __grid_constant__ Small<Sum> s)
{
    __shared__ Shared<Sum, FILTERS, SIDE> shared;
    const GfProblem<Sum> &p = s.p;
    const Tile tile = my_tile(s);
    const int column = static_cast<int>(threadIdx.x) % TILE;
    const int row = static_cast<int>(threadIdx.x) / TILE * PAIR;
    const int x = tile.left + column;
    const size_t y = static_cast<size_t>(tile.top + row);
    const int rows =
        x < p.out_width && y < p.y1 ? static_cast<int>(min(p.y1 - y, size_t{PAIR})) : 0;
    if (gf_is_kept(p, tile.channel)) {
        gf_wait_for_stream(GF_NEXT_IN_TURN);
        for (int i = 0; i < rows; i++)
            gf_keep_alpha<In>(p, blockIdx.z, tile.channel, x, y + i);
        return;
    }
    prepare<In>(s, tile, shared);
    __syncthreads();
    gf_wait_for_stream(GF_NEXT_IN_TURN);
    copy_samples<In>(s, tile, shared);
    __syncthreads();
    pass_rows(p, shared);
    __syncthreads();
    Sum responses[FILTERS][PAIR] = {};
#pragma unroll
    for (int f = 0; f < FILTERS; f++) {
        add_products(
            shared.columns[f], p.height, [&](int i) { return shared.filtered[f][row + i][column]; },
            responses[f]);
#pragma unroll
        for (int i = 0; i < PAIR; i++)
            responses[f][i] = fma(responses[f][i], p.finish.scale, p.finish.offset);
    }
    Sum(&v)[PAIR] = responses[0];
    if constexpr (FILTERS == 2)
        gf_combine_each(p.finish, v, responses[1]);
    else
        gf_combine_alone(p.finish, v);
    const bool colour = tile.channel < p.post_channels;
    if (!s.finished)
        gf_post_each(p.finish, v, [&](int) { return colour; });
#pragma unroll
    for (int i = 0; i < PAIR; i++)
        if (i < rows)
            gf_put(p, blockIdx.z, tile.channel, x, y + i, v[i]);
}

/* ---- the launcher ---- */

size_t tiles_along(size_t samples)
{
    return gf_divide_up<size_t>(samples, TILE);
}

template <typename In, typename Sum, int FILTERS, int SIDE>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Small<Sum> s = {};
    s.p = gf_problem<Sum>(launch);
    s.finished = gf_fold_gain(step, &s.p.finish);
    s.factors = static_cast<const Sum *>(launch->factors);
    s.across = gf_find_edge(step->in_width, step->border);
    s.down = gf_find_edge(step->in_height, step->border);
    const size_t across = tiles_along(step->out_width);
    const size_t down = tiles_along(launch->y1 - launch->y0);
    s.tiles = static_cast<unsigned>(across);
    const dim3 grid(static_cast<unsigned>(across * down * step->channels), 1,
                    static_cast<unsigned>(launch->count));
    return gf_launch_early(separable_small<In, Sum, FILTERS, SIDE>, {grid, THREADS}, stream, s);
}

template <typename In, typename Sum, int FILTERS>
cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    const GfLinear *linear = &launch->step->linear;
    return linear->width <= SMALLER && linear->height <= SMALLER
               ? run<In, Sum, FILTERS, SMALLER>(launch, stream)
               : run<In, Sum, FILTERS, MOST>(launch, stream);
}

template <typename Sum> cudaError_t run_sample(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        using In = decltype(sample);
        return launch->step->linear.filters == 1 ? run_side<In, Sum, 1>(launch, stream)
                                                 : run_side<In, Sum, 2>(launch, stream);
    });
}

/* Can it, and do its numbers fit? Of what can be made whole all parts can. */
bool fits(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    const size_t across = tiles_along(step->out_width) * TILE, rows = launch->y1 - launch->y0;
    const ptrdiff_t top = static_cast<ptrdiff_t>(launch->y0) + step->origin_y;
    return linear->width <= MOST && linear->height <= MOST && step->in_height <= INT_MAX / 2 &&
           launch->in.capacity <= INT_MAX / launch->in.stride &&
           across * step->channels <= INT_MAX / (tiles_along(rows) * TILE) &&
           gf_reaches(step->in_width, step->origin_x, step->out_width + linear->width - 1,
                      step->border) &&
           gf_reaches(step->in_height, top, rows + linear->height - 1, step->border);
}

} // namespace

bool gf_separable_is_small(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const size_t samples = step->out_width * step->channels * (launch->y1 - launch->y0);
    return samples <= gf_separable_few(step, launch->wide) / launch->count && fits(launch);
}

extern "C" cudaError_t gf_launch_separable_small(const GfLaunch *launch, cudaStream_t stream)
{
    if (!fits(launch))
        return cudaErrorNotSupported;
    return launch->wide ? run_sample<double>(launch, stream) : run_sample<float>(launch, stream);
}
