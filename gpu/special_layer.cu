/* Method `special` for layers: algorithm 1 of Chen, Chen, Chen and Hu, "Optimizing Memory
 * Efficiency for Convolution Kernels on Kepler GPUs" (DAC 2017), section 3: one input channel, any
 * number of filters. (One of K x K taps, K odd: special.cu, as a bank.)
 *
 * A block owns a strip of columns and walks down its rows in steps. The rows roll through a ring in
 * shared memory: while a step is computed, the rows that only the next one needs are copied in
 * behind it, so that every input pixel is read from global memory once a strip, but for the halo.
 * Samples become f32 on their way into the ring. A thread takes N pixels side by side, one 16-byte
 * access of shared memory, and ROWS rows: it holds the window that these N * ROWS outputs need in
 * registers and computes them for one filter after the other. So a pixel that was loaded serves all
 * filters, and a tap, which lies in constant memory with the kernel's parameters, N * ROWS
 * multiply-adds: nearly nothing else is left to issue.
 *
 * The work of a step is cut into units, a warp's worth of such tiles times a slice of the filters,
 * that the warps of a block take in turn. The units, the columns of a strip and the rows of a step
 * are chosen at launch, so that small pictures too keep all lanes busy: the tiles of a warp may lie
 * in several rows. Where pictures are so few and small that a multiprocessor has one block, with all rows
 * of a picture in one step, that block has more warps.
 *
 * Parameters hold some filters only (18 of 7 x 7, 33 of 5 x 5, 78 of 3 x 3); more take a launch for
 * as many, and the input is read again.
 *
 * Costs for an output sample: K * K multiply-adds and one write; for an input sample one read a
 * launch, but for the halo: K - 1 columns a strip, K - 1 rows a block.
 *
 * Where 2 x 2 pooling follows, a thread has four whole windows of each map in its registers: it
 * writes their maxima or means, a quarter as many samples, and the map itself is never written,
 * nor read again. */
#include <cuda_pipeline.h>

#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 4;                /* of a block that shares its multiprocessor */
constexpr int N = 4, ROWS = 4;          /* outputs of a thread for one filter */
constexpr int POOL = 2;                 /* side of the windows that are pooled, and their stride */
constexpr int STRIP_TILES = 32;         /* threads side by side, at most */
constexpr int STRIP = STRIP_TILES * N;  /* columns of a strip, at most */
constexpr int RING_FLOATS = 9 << 10;    /* so that the blocks of a multiprocessor have room */
constexpr int PARAMETER_BYTES = 4096;   /* every card takes as many */
constexpr size_t MOST_PICTURES = 65535; /* of a launch: what grid.z holds */

/* Blocks of a multiprocessor, by the registers of a window. */
template <int K> constexpr int BLOCKS = K >= 7 ? 3 : K >= 5 ? 4 : 5;

/* Warps of a block that has its multiprocessor for itself. */
template <int K> constexpr int WIDE = K >= 7 ? 8 : 16;

/* 16-byte vectors of a row of the window. */
template <int K> constexpr int VECTORS = (N + K - 1 + 3) / 4;

/* ---- what a launch is told ---- */

struct Geometry {
    GfRows in;
    GfOutRows out;
    size_t y0, y1; /* before pooling, as out_width is */
    long long in_width, in_height, origin_y;
    int origin_x, out_width;
    int width, height;      /* taps */
    int tiles, columns;     /* of a strip: threads side by side, and N times as many pixels */
    unsigned tile_share;    /* 65536 / tiles, rounded up: division by multiplication */
    int step_rows, items;   /* of a step: rows, and tiles */
    int warp_items, slices; /* units of a step: warps' worths of tiles, times slices of filters */
    unsigned unit_share;    /* the same for units / warp_items */
    int pitch, ring_rows;   /* of the ring: floats of a row, rows */
    int block_rows;
    unsigned strips;
    int filters, block_filters, slice_filters;
    int warps; /* of a block */
    bool vector_out;
    bool scaled; /* the sum: else it begins with what is added to it */
    bool pooled, average;
    GfBorder border;
    float border_value;
    GfFinish<float> finish; /* without posts its scale holds the gain too; `out` as it is stored */
};

/* The numbers of a filter: its taps, row by row, with what their sum begins, and what is added
 * when it is scaled; then room to an even number, so that two can be read at once. */
template <int K> constexpr int START = K *K;
template <int K> constexpr int SHIFT = START<K> + 1;
template <int K> constexpr int NUMBERS = START<K> + 3;
template <int K>
constexpr int MOST_FILTERS = (PARAMETER_BYTES - static_cast<int>(sizeof(Geometry))) /
                             (NUMBERS<K> * static_cast<int>(sizeof(float)));

template <int K> struct Layer {
    Geometry g;
    float numbers[MOST_FILTERS<K>][NUMBERS<K>];
};

/* ---- the ring ---- */

/* Where a block works. Input row 0 is that of the first tap for its first output row. */
struct Block {
    size_t top;     /* first output row */
    int rows;       /* output rows */
    int left;       /* first output column */
    int first;      /* first input column, by its place in the picture */
    int begin, end; /* input columns, counted from there, that lie on the picture */
    size_t picture;
};

/* Warp-uniform, and known to be: what follows from it needs no vector registers. */
__device__ int my_warp()
{
    return __shfl_sync(~0u, static_cast<int>(threadIdx.x / 32), 0);
}

__device__ Block my_block(const Geometry &g)
{
    const int columns = g.columns + g.width - 1;
    Block block;
    block.top = g.y0 + static_cast<size_t>(blockIdx.x / g.strips) * g.block_rows;
    block.rows = static_cast<int>(min(g.y1 - block.top, static_cast<size_t>(g.block_rows)));
    block.left = static_cast<int>(blockIdx.x % g.strips) * g.columns;
    block.first = block.left + g.origin_x;
    block.begin = min(max(-block.first, 0), columns);
    block.end = max(min(static_cast<int>(g.in_width) - block.first, columns), block.begin);
    block.picture = blockIdx.z;
    return block;
}

/* The places of a strip's input columns by the border's rule; -1: the constant. */
template <int COUNT> __device__ void map_columns(const Geometry &g, const Block &block, int *places)
{
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < g.columns + g.width - 1; i += 32 * COUNT)
        places[i] = static_cast<int>(gf_border_index(block.first + i, g.in_width, g.border));
}

template <typename In>
__device__ const In *input_row(const Geometry &g, const Block &block, int row)
{
    long long y = static_cast<long long>(block.top) + g.origin_y + row;
    y = gf_border_index(y, g.in_height, g.border);
    if (y < 0)
        return nullptr;
    return reinterpret_cast<const In *>(
        reinterpret_cast<const unsigned char *>(gf_row<In>(g.in, static_cast<size_t>(y))) +
        block.picture * g.in.batch);
}

/* One sample's way into the ring; f32 is not waited for. */
template <typename In> __device__ void copy_sample(const In *from, float *to)
{
    if constexpr (std::is_same_v<In, float>)
        __pipeline_memcpy_async(to, from, sizeof(float));
    else
        *to = gf_number<float>(*from);
}

/* Copies `count` samples of a row, a lane one of 32, of which it is told its first; most rows
 * are as long as they can be. */
template <typename In> __device__ void copy_samples(const In *from, int count, float *to)
{
    int i = threadIdx.x % 32;
    if (count >= STRIP) {
        for (int j = 0; j < STRIP; j += 32)
            copy_sample(from + j, to + j);
        i += STRIP;
        from += STRIP;
        to += STRIP;
    }
#pragma unroll 1
    for (; i < count; i += 32, from += 32, to += 32)
        copy_sample(from, to);
}

/* Fills in the columns of a row that do not lie on the picture; all of them where there is no
 * row. */
template <typename In>
__device__ void copy_border(const Geometry &g, const Block &block, const In *row, const int *places,
                            float *to)
{
    const int inside = row ? block.end - block.begin : 0;
#pragma unroll 1
    for (int j = threadIdx.x % 32; j < g.columns + g.width - 1 - inside; j += 32) {
        const int i = j < block.begin ? j : j + inside, place = row ? places[i] : -1;
        if (place < 0)
            to[i] = g.border_value;
        else
            copy_sample(row + place, to + i);
    }
}

/* The ring goes on at its beginning. */
__device__ int wrapped(const Geometry &g, int slot)
{
    return slot < g.ring_rows ? slot : slot - g.ring_rows;
}

/* Input rows [first, end) go to the ring from `slot` on, a warp one of them. Most often they all
 * lie on the picture, one after the other in memory. */
template <typename In, int COUNT>
__device__ void fill(const Geometry &g, const Block &block, int first, int end, int slot,
                     const int *places, float *ring)
{
    const int lane = threadIdx.x % 32, inside = block.end - block.begin;
    const long long y = static_cast<long long>(block.top) + g.origin_y + first;
    const long long skip = block.first + block.begin + lane;
    size_t i = static_cast<size_t>(y) - g.in.first;
    i -= i >= g.in.capacity ? g.in.capacity : 0;
    const bool together =
        y >= 0 && y + end - first <= g.in_height && i + end - first <= g.in.capacity;
    const unsigned char *next = static_cast<const unsigned char *>(g.in.samples) +
                                (i + my_warp()) * g.in.stride + block.picture * g.in.batch +
                                skip * static_cast<long long>(sizeof(In));
    for (int row = my_warp(); row < end - first; row += COUNT, next += COUNT * g.in.stride) {
        const In *from =
            together ? reinterpret_cast<const In *>(next) : input_row<In>(g, block, first + row);
        float *to = ring + wrapped(g, slot + row) * g.pitch;
        if (from && !together)
            from += skip;
        if (from)
            copy_samples(from, inside, to + block.begin + lane);
        if (!from || inside < g.columns + g.width - 1)
            copy_border(g, block, from ? from - skip : nullptr, places, to);
    }
    __pipeline_commit();
}

/* ---- a tile ---- */

/* The tile of this thread in a unit, and its first row's slot in the ring. */
struct Tile {
    int row, column; /* of its first output, in the block */
    int slot;
    bool exists;
};

/* Lanes beyond the step's last tile compute it too, and store nothing. */
__device__ Tile my_tile(const Geometry &g, const Block &block, int first, int slot, int warp_item)
{
    const int own = warp_item * 32 + static_cast<int>(threadIdx.x % 32);
    const int item = min(own, g.items - 1);
    const int down = static_cast<int>(item * g.tile_share >> 16);
    Tile tile;
    tile.row = first + down * ROWS;
    tile.column = (item - down * g.tiles) * N;
    tile.slot = slot + down * ROWS;
    tile.exists = own < g.items && tile.row < block.rows && block.left + tile.column < g.out_width;
    return tile;
}

/* The input samples of a tile, whose first row is in a multiple of ROWS: so many rows of the
 * ring are in one piece. FULL: the kernel is K x K, else it is smaller, and rows that it does
 * not reach are left alone. */
template <int K, bool FULL>
__device__ void load_window(const Geometry &g, const Tile &tile, const float *ring,
                            float (&x)[ROWS + K - 1][4 * VECTORS<K>])
{
    const float *piece = ring + tile.slot * g.pitch + tile.column;
    const float *end = ring + g.ring_rows * g.pitch;
#pragma unroll
    for (int r = 0; r < ROWS + K - 1; r++) {
        if (r % ROWS == 0) {
            piece += r > 0 ? ROWS * g.pitch : 0;
            piece -= piece >= end ? g.ring_rows * g.pitch : 0;
        }
        const float4 *row = reinterpret_cast<const float4 *>(piece + r % ROWS * g.pitch);
        const bool reached = FULL || r < ROWS + g.height - 1;
#pragma unroll
        for (int i = 0; i < VECTORS<K>; i++) {
            const float4 v = reached ? row[i] : float4{};
            x[r][4 * i] = v.x;
            x[r][4 * i + 1] = v.y;
            x[r][4 * i + 2] = v.z;
            x[r][4 * i + 3] = v.w;
        }
    }
}

/* The responses of one filter, in the order of its taps. */
template <int K, bool FULL>
__device__ void respond(const Geometry &g, const float (&numbers)[NUMBERS<K>],
                        const float (&x)[ROWS + K - 1][4 * VECTORS<K>], float (&v)[ROWS * N])
{
#pragma unroll
    for (int i = 0; i < ROWS * N; i++)
        v[i] = numbers[START<K>];
#pragma unroll
    for (int ky = 0; ky < K; ky++)
#pragma unroll
        for (int kx = 0; kx < K; kx++) {
            if (!FULL && (ky >= g.height || kx >= g.width))
                continue;
#pragma unroll
            for (int i = 0; i < ROWS * N; i++)
                v[i] = fmaf(numbers[ky * K + kx], x[ky + i / N][kx + i % N], v[i]);
        }
    if (g.scaled)
#pragma unroll
        for (int i = 0; i < ROWS * N; i++)
            v[i] = fmaf(v[i], g.finish.scale, numbers[SHIFT<K>]);
    if (g.finish.posts > 0)
        gf_post_each(g.finish, v, [](int) { return true; });
}

/* The maxima or means of the windows of a tile, as pool.cu makes them. */
__device__ void pool(const Geometry &g, const float (&v)[ROWS * N],
                     float (&pooled)[ROWS * N / (POOL * POOL)])
{
#pragma unroll
    for (int i = 0; i < ROWS * N / (POOL * POOL); i++) {
        const int at = i / (N / POOL) * POOL * N + i % (N / POOL) * POOL;
        const float a = v[at], b = v[at + 1], c = v[at + N], d = v[at + N + 1];
        if (g.average)
            pooled[i] = static_cast<float>((static_cast<double>(a) + b + c + d) / 4.0);
        else
            pooled[i] = gf_more(gf_more(gf_more(a, b), c), d);
    }
}

/* ---- storing ---- */

/* Stores a tile's samples of map f, of which SIDE x SIDE were made one. */
template <typename Out, int SIDE>
__device__ void store_tile(const Geometry &g, const Block &block, const Tile &tile, int f,
                           const float (&v)[ROWS * N / (SIDE * SIDE)])
{
    constexpr int ACROSS = N / SIDE;
    const int left = block.left + tile.column;
    unsigned char *row = static_cast<unsigned char *>(g.out.samples) +
                         (block.top - g.y0 + tile.row) / SIDE * g.out.stride +
                         block.picture * g.out.batch +
                         (left / SIDE * g.out.pixel + f * g.out.plane) * sizeof(Out);
    const int columns = min(N, g.out_width - left) / SIDE;
    const int rows = min(ROWS, block.rows - tile.row) / SIDE;
#pragma unroll
    for (int r = 0; r < ROWS / SIDE; r++, row += g.out.stride) {
        if (r >= rows)
            break;
        gf_store_samples<ACROSS>(reinterpret_cast<Out *>(row), g.out.pixel, columns,
                                 g.vector_out && columns == ACROSS, v + r * ACROSS);
    }
}

template <int SIDE>
__device__ void store(const Geometry &g, const Block &block, const Tile &tile, int f,
                      const float (&v)[ROWS * N / (SIDE * SIDE)])
{
    switch (g.finish.out) {
    case GF_U8:
        store_tile<uint8_t, SIDE>(g, block, tile, f, v);
        break;
    case GF_U16:
        store_tile<uint16_t, SIDE>(g, block, tile, f, v);
        break;
    default:
        store_tile<float, SIDE>(g, block, tile, f, v);
        break;
    }
}

/* ---- the kernel ---- */

/* All filters of one unit on one tile. */
template <int K, bool FULL, bool POOLED>
__device__ void run_unit(const Layer<K> &s, const Block &block, const Tile &tile, int first_filter,
                         int end_filter, const float *ring)
{
    const Geometry &g = s.g;
    float x[ROWS + K - 1][4 * VECTORS<K>], v[ROWS * N];
    load_window<K, FULL>(g, tile, ring, x);
    for (int f = first_filter; f < end_filter; f++) {
        respond<K, FULL>(g, s.numbers[f], x, v);
        if (!tile.exists)
            continue;
        if constexpr (POOLED) {
            float pooled[ROWS * N / (POOL * POOL)];
            pool(g, v, pooled);
            store<POOL>(g, block, tile, f, pooled);
        } else {
            store<1>(g, block, tile, f, v);
        }
    }
}

/* All units of the step that begins with row `row`, which is in the ring from `slot` on. */
template <int K, int COUNT, bool FULL, bool POOLED>
__device__ void run_step(const Layer<K> &s, const Block &block, int row, int slot,
                         const float *ring)
{
    const Geometry &g = s.g;
    const int first_filter = static_cast<int>(blockIdx.y) * g.block_filters;
    const int end_filter = min(first_filter + g.block_filters, g.filters);
    for (int unit = my_warp(); unit < g.warp_items * g.slices; unit += COUNT) {
        const int slice = static_cast<int>(unit * g.unit_share >> 16);
        const Tile tile = my_tile(g, block, row, slot, unit - slice * g.warp_items);
        const int begin = first_filter + slice * g.slice_filters;
        if (__any_sync(~0u, tile.exists))
            run_unit<K, FULL, POOLED>(s, block, tile, begin,
                                      min(begin + g.slice_filters, end_filter), ring);
    }
}

template <typename In, int K, int COUNT, bool FULL, bool POOLED>
__global__ void __launch_bounds__(32 * COUNT, COUNT == WARPS ? BLOCKS<K> : 1)
    special_layer(const __grid_constant__ Layer<K> s)
{
    extern __shared__ float4 memory[];
    __shared__ int places[STRIP + K - 1];
    float *ring = reinterpret_cast<float *>(memory);
    const Geometry &g = s.g;
    const Block block = my_block(g);
    map_columns<COUNT>(g, block, places);
    __syncthreads();
    int filled = 0;              /* rows that are or were in the ring, */
    int free_slot = 0, slot = 0; /* where the next one goes, and where `row` is */
    for (int row = -g.step_rows; row < block.rows; row += g.step_rows) {
        if (row >= 0) {
            __pipeline_wait_prior(0);
            __syncthreads();
        }
        /* What the next step needs goes where the rows of the step before were. */
        const int next = min(row + 2 * g.step_rows, block.rows) + g.height - 1;
        if (next > filled) {
            fill<In, COUNT>(g, block, filled, next, free_slot, places, ring);
            free_slot = wrapped(g, free_slot + next - filled);
            filled = next;
        }
        if (row < 0)
            continue;
        run_step<K, COUNT, FULL, POOLED>(s, block, row, slot, ring);
        slot = wrapped(g, slot + g.step_rows);
    }
}

/* ---- how the work is cut ---- */

/* Threads side by side: as few strips as possible, of equal width. A multiple of 4, so that the
 * pitch can place neighbouring rows of tiles in different banks. */
void cut_columns(Geometry *g, int most_tiles, int overhang)
{
    const int across = gf_divide_up(g->out_width, N);
    const int strips = gf_divide_up(across, most_tiles);
    g->tiles = gf_divide_up(gf_divide_up(across, strips), 4) * 4;
    g->tile_share = static_cast<unsigned>(65536 / g->tiles + 1);
    g->columns = g->tiles * N;
    g->strips = static_cast<unsigned>(gf_divide_up(across, g->tiles));
    g->pitch = g->columns + overhang;
    while ((ROWS * g->pitch - g->columns) % 32 != 0)
        g->pitch += 4;
}

/* About as many instructions as a warp issues for a step of `down` rows of tiles. */
int step_cost(const Geometry &g, int down, int slices)
{
    const int units = gf_divide_up(g.tiles * down, 32) * slices;
    const int filter = N * ROWS * (g.width * g.height + 3) + 20, window = 12 * (ROWS + g.height);
    const int fill = 8 * gf_divide_up(g.columns + g.width, 32) + 20;
    return gf_divide_up(units, g.warps) *
               (gf_divide_up(g.block_filters, slices) * filter + window) +
           gf_divide_up(down * ROWS, g.warps) * fill + 100;
}

/* Rows of a step and slices of the filters: what takes the fewest instructions for all rows. */
void cut_steps(Geometry *g, size_t rows)
{
    const size_t all = gf_divide_up(rows, static_cast<size_t>(ROWS));
    double least = 0.0;
    for (int down = 1; down <= STRIP_TILES && static_cast<size_t>(down) <= all; down++) {
        const size_t steps = gf_divide_up(all, static_cast<size_t>(down));
        const int ring_rows =
            (steps > 1 ? 2 : 1) * down * ROWS + gf_divide_up(g->height - 1, ROWS) * ROWS;
        if (down > 1 && ring_rows * g->pitch > RING_FLOATS)
            break;
        for (int slices = 1; slices <= 2 * g->warps && slices <= g->block_filters; slices *= 2) {
            const double cost = static_cast<double>(steps) * step_cost(*g, down, slices);
            if (least > 0.0 && cost >= least)
                continue;
            least = cost;
            g->step_rows = down * ROWS;
            g->ring_rows = ring_rows;
            g->items = g->tiles * down;
            g->warp_items = gf_divide_up(g->items, 32);
            g->unit_share = static_cast<unsigned>(65536 / g->warp_items + 1);
            g->slices = slices;
            g->slice_filters = gf_divide_up(g->block_filters, slices);
        }
    }
}

/* The table's tilings for layers. */
struct BlockSize {
    int columns, rows;
};

#define BLOCK_SIZE(columns, rows) {columns, rows},
constexpr BlockSize block_sizes[] = {GF_SPECIAL_BLOCKS(BLOCK_SIZE)};
#undef BLOCK_SIZE

/* The size that a launch asks for; no columns: none, no rows: one that there is not. */
BlockSize asked_size(const GfLaunch *launch)
{
    const size_t i = launch->tiling - GF_SPECIAL_AS_LAYER - 1;
    const bool layer = gf_step_is_layer(launch->step);
    if (launch->tiling == (layer ? 0 : GF_SPECIAL_AS_LAYER))
        return {0, 1};
    if (!layer || i >= sizeof block_sizes / sizeof *block_sizes)
        return {0, 0};
    return block_sizes[i];
}

void cut_to_size(Geometry *g, const BlockSize &size, int overhang)
{
    cut_columns(g, size.columns / N, overhang);
    g->block_filters = g->filters;
    cut_steps(g, static_cast<size_t>(size.rows));
    g->block_rows = gf_divide_up(size.rows, g->step_rows) * g->step_rows;
}

/* Where pictures are too small to keep the card busy, filters are shared out among blocks. */
void cut_to_card(Geometry *g, size_t pictures, size_t at_once, int overhang)
{
    const size_t rows = g->y1 - g->y0;
    cut_columns(g, STRIP_TILES, overhang);
    const size_t least_blocks =
        g->strips * pictures * gf_divide_up(rows, static_cast<size_t>(4 * ROWS));
    const size_t groups = at_once / least_blocks;
    g->block_filters =
        groups <= 1 ? g->filters : gf_divide_up(g->filters, static_cast<int>(groups));
    cut_steps(g, rows);
    const size_t steps = gf_divide_up(rows, static_cast<size_t>(g->step_rows));
    const size_t columns =
        g->strips * pictures * static_cast<size_t>(gf_divide_up(g->filters, g->block_filters));
    const double halo = 0.5 + static_cast<double>(g->height) / g->step_rows;
    g->block_rows = static_cast<int>(gf_block_steps(steps, columns, at_once, halo)) * g->step_rows;
}

/* What a choice of blocks is judged by. */
struct Card {
    size_t pictures, processors, together; /* blocks of a multiprocessor */
    double in, out; /* bytes of a sample that is read, and for one that is made */
};

/* Cycles until the last block is done, were memory no limit: blocks of a multiprocessor share its
 * issue slots, and each waits for its rows. The weights here and below were fitted to the tile
 * search of bench/results. */
double count_cycles(const Geometry &g, const Card &card, size_t blocks)
{
    const size_t most = gf_divide_up(blocks, card.processors);
    const int steps = gf_divide_up(g.block_rows, g.step_rows);
    const double work = 0.84 * steps * step_cost(g, g.step_rows / ROWS, g.slices);
    const double wait = 1.4 * work + 2400.0 * steps + 57.0 * (g.step_rows + g.height - 1);
    return static_cast<double>(most) * work +
           static_cast<double>(gf_divide_up(most, card.together)) * wait;
}

/* Cycles that a launch takes. Memory brings a multiprocessor 16 bytes a cycle; less where blocks come
 * and go, and the less, the longer they live: neighbours, which begin side by side, drift apart. */
double cost_of(const Geometry &g, const Card &card)
{
    const size_t down = gf_divide_up(g.y1 - g.y0, static_cast<size_t>(g.block_rows));
    const int groups = gf_divide_up(g.filters, g.block_filters);
    const size_t blocks = g.strips * down * static_cast<size_t>(groups) * card.pictures;
    const double samples =
        static_cast<double>(g.y1 - g.y0) * g.out_width * static_cast<double>(card.pictures);
    const double halo = (1.0 + static_cast<double>(g.height - 1) / g.block_rows) *
                        (1.0 + static_cast<double>(g.width - 1) / g.columns);
    const double bytes = samples * (card.out * g.filters + card.in * groups * halo);
    const double apart = 0.056 * std::log2(gf_divide_up(g.block_rows, g.step_rows)) +
                         (blocks > card.processors * card.together ? 0.067 : 0.0);
    const double memory = bytes / (16.2 * static_cast<double>(card.processors)) * (1.0 + apart);
    return std::pow(std::pow(count_cycles(g, card, blocks), 5.5) + std::pow(memory, 5.5),
                    1.0 / 5.5);
}

/* A block a multiprocessor, and whole pictures in one step; false where they are too many or too large. */
bool cut_wide(Geometry *g, const Card &card, int warps, int overhang)
{
    const size_t rows = g->y1 - g->y0;
    Geometry wide = *g;
    wide.warps = warps;
    cut_columns(&wide, STRIP_TILES, overhang);
    const size_t groups = card.processors / (wide.strips * card.pictures);
    if (groups == 0)
        return false;
    wide.block_filters = gf_divide_up(g->filters, static_cast<int>(groups));
    cut_steps(&wide, rows);
    if (static_cast<size_t>(wide.step_rows) < rows)
        return false;
    wide.block_rows = wide.step_rows;
    *g = wide;
    return true;
}

/* Blocks that all run at once, or of the table's sizes, where more of them and smaller ones take
 * less. */
void cut(Geometry *g, const Card &card, int overhang)
{
    const Geometry uncut = *g;
    cut_to_card(g, card.pictures, card.processors * card.together, overhang);
    double least = cost_of(*g, card);
    for (const BlockSize &size : block_sizes) {
        Geometry sized = uncut;
        cut_to_size(&sized, size, overhang);
        const double cost = size.columns == STRIP ? cost_of(sized, card) : least;
        if (cost < least) {
            least = cost;
            *g = sized;
        }
    }
}

/* ---- the launcher ---- */

/* All that is added to the sum of filter f. */
double shift_of(const GfStep *step, size_t f)
{
    const double shift = step->linear.offset + (step->bias ? step->bias[f] : 0.0);
    return step->posts == 0 ? shift * step->gain + step->mid : shift;
}

/* Sums of integers are counted as exact, which they stay only beside other integers. */
bool may_begin(const GfStep *step)
{
    bool whole = true;
    for (size_t f = 0; f < step->linear.filters; f++)
        whole = whole && gf_is_whole(shift_of(step, f));
    return whole || gf_sample_is_float(step->in);
}

/* With a pool: rows and columns that lie in its windows. */
Geometry describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step, *pool = launch->pool;
    const size_t side = pool ? POOL : 1;
    Geometry g = {};
    g.in = launch->in;
    g.out = launch->out;
    g.y0 = launch->y0 * side;
    g.y1 = launch->y1 * side;
    g.in_width = static_cast<long long>(step->in_width);
    g.in_height = static_cast<long long>(step->in_height);
    g.origin_x = static_cast<int>(step->origin_x);
    g.origin_y = step->origin_y;
    g.out_width = static_cast<int>(pool ? pool->out_width * side : step->out_width);
    g.width = static_cast<int>(step->linear.width);
    g.warps = WARPS;
    g.height = static_cast<int>(step->linear.height);
    g.border = step->border;
    g.border_value = static_cast<float>(step->border_value);
    g.finish = gf_finish<float>(step);
    g.finish.out = pool ? pool->out : step->out;
    g.vector_out = gf_rows_aligned(launch->out, g.finish.out, N / side);
    g.pooled = pool != nullptr;
    g.average = pool && pool->pool.op == GF_POOL_AVERAGE;
    if (step->posts == 0)
        g.finish.scale = static_cast<float>(step->linear.scale * step->gain);
    g.scaled = g.finish.scale != 1.0f || !may_begin(step);
    return g;
}

/* The taps of filter f in their K x K box, and all that is added to their sum. */
template <int K> void place_filter(const GfLaunch *launch, size_t f, bool scaled, float *numbers)
{
    const GfStep *step = launch->step;
    const size_t width = step->linear.width, height = step->linear.height;
    const float *taps = static_cast<const float *>(launch->weights_host) + f * height * width;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            numbers[y * K + x] = taps[y * width + x];
    numbers[scaled ? SHIFT<K> : START<K>] = static_cast<float>(shift_of(step, f));
}

template <typename In, int K, bool FULL>
cudaError_t run_pictures(const Layer<K> &layer, size_t pictures, cudaStream_t stream)
{
    Layer<K> s = layer;
    const unsigned bytes = static_cast<unsigned>(s.g.ring_rows * s.g.pitch) * sizeof(float);
    const size_t down = gf_divide_up(s.g.y1 - s.g.y0, static_cast<size_t>(s.g.block_rows));
    for (size_t done = 0; done < pictures; done += MOST_PICTURES) {
        const size_t now = pictures - done < MOST_PICTURES ? pictures - done : MOST_PICTURES;
        const dim3 grid(static_cast<unsigned>(s.g.strips * down),
                        static_cast<unsigned>(gf_divide_up(s.g.filters, s.g.block_filters)),
                        static_cast<unsigned>(now));
        auto *kernel = s.g.pooled ? special_layer<In, K, WARPS, FULL, true>
                                  : special_layer<In, K, WARPS, FULL, false>;
        if (s.g.warps > WARPS)
            kernel = s.g.pooled ? special_layer<In, K, WIDE<K>, FULL, true>
                                : special_layer<In, K, WIDE<K>, FULL, false>;
        kernel<<<grid, 32 * s.g.warps, bytes, stream>>>(s);
        s.g.in.samples = static_cast<const unsigned char *>(s.g.in.samples) + now * s.g.in.batch;
        s.g.out.samples = static_cast<unsigned char *>(s.g.out.samples) + now * s.g.out.batch;
    }
    return cudaGetLastError();
}

template <typename In, int K, bool FULL>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const int filters = static_cast<int>(step->linear.filters);
    const int most = gf_divide_up(filters, gf_divide_up(filters, MOST_FILTERS<K>));
    const BlockSize size = asked_size(launch);
    cudaError_t error = size.rows > 0 ? cudaSuccess : cudaErrorNotSupported;
    Layer<K> s = {describe(launch), {}};
    const double out = static_cast<double>(gf_sample_size(s.g.finish.out));
    const Card card = {launch->count, gf_multiprocessors(), BLOCKS<K>, sizeof(In),
                       s.g.pooled ? out / (POOL * POOL) : out};
    for (int first = 0; first < filters && error == cudaSuccess; first += most) {
        s.g.filters = filters - first < most ? filters - first : most;
        for (int f = 0; f < s.g.filters; f++)
            place_filter<K>(launch, static_cast<size_t>(first + f), s.g.scaled, s.numbers[f]);
        if (size.columns > 0)
            cut_to_size(&s.g, size, 4 * VECTORS<K> - N);
        else if (!cut_wide(&s.g, card, WIDE<K>, 4 * VECTORS<K> - N))
            cut(&s.g, card, 4 * VECTORS<K> - N);
        error = run_pictures<In, K, FULL>(s, launch->count, stream);
        s.g.out.samples =
            static_cast<unsigned char *>(s.g.out.samples) +
            static_cast<size_t>(most) * s.g.out.plane * gf_sample_size(s.g.finish.out);
    }
    return error;
}

template <typename In> cudaError_t run_size(const GfLaunch *launch, cudaStream_t stream)
{
    const GfLinear *linear = &launch->step->linear;
    switch (linear->width == linear->height ? linear->width : 0) {
    case 1:
        return run<In, 1, true>(launch, stream);
    case 3:
        return run<In, 3, true>(launch, stream);
    case 5:
        return run<In, 5, true>(launch, stream);
    case 7:
        return run<In, 7, true>(launch, stream);
    }
    return run<In, 7, false>(launch, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_special_layer(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_with_sample<float>(
        launch->step->in, [&](auto sample) { return run_size<decltype(sample)>(launch, stream); });
}
