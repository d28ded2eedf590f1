/* Method `special` for layers: algorithm 1 of Chen, Chen, Chen and Hu, "Optimizing Memory
 * Efficiency for Convolution Kernels on Kepler GPUs" (DAC 2017), section 3: one input channel, any
 * number of filters. (One of K x K taps, K odd: special.cu, as a bank; most maps of floats:
 * special_maps.cu.)
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
 * in several rows. (Small pictures have a form of their own: special_small.cu.)
 *
 * Rows of floats that begin anywhere, as those of layers do whose width is no multiple of four, go
 * by way of shared memory, so that neighbouring lanes store neighbouring samples. Where maps are
 * larger than L2, strips store whole lines of memory: a line that two blocks write, who drift
 * apart, leaves L2 twice. What lines a strip has differs from row to row, so it computes one more
 * than it stores; not of many taps, whose multiply-adds take longer than memory does.
 *
 * Parameters hold some filters only (18 of 7 x 7, 33 of 5 x 5, 78 of 3 x 3); more take a launch for
 * as many, and the input is read again.
 *
 * Costs for an output sample: K * K multiply-adds and one write; for an input sample one read a
 * launch, but for the halo: K - 1 columns a strip, K - 1 rows a block. */
#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr int N = GF_TILE, ROWS = GF_TILE; /* outputs of a thread for one filter */
constexpr int STRIP_TILES = 32;            /* threads side by side, at most */
constexpr int STRIP = STRIP_TILES * N;     /* columns of a strip, at most */
constexpr int RING_FLOATS = 9 << 10;       /* so that the blocks of a multiprocessor have room */
constexpr int LEAST_WOVEN = 2 * STRIP;     /* columns */
constexpr double LARGE = 1.6;              /* L2s of maps, from which on lines are whole */

/* Blocks of a multiprocessor, by the registers of a window. */
template <int K> constexpr int BLOCKS = K >= 7 ? 3 : K >= 5 ? 4 : 5;

/* Floats of a row of the ring beyond a strip's. */
template <int K> constexpr int OVERHANG = 4 * GF_WINDOW_VECTORS<K> - N;

/* ---- what a launch is told ---- */

struct Geometry : GfLayer {
    GfRows in;
    size_t y0, y1; /* before pooling, as out_width is */
    long long in_width, in_height, origin_y;
    int origin_x;
    int tiles, columns;  /* of a strip: threads side by side, and N times as many pixels */
    int apart, before;   /* columns from strip to strip; that the first begins before the picture */
    unsigned tile_share; /* 65536 / tiles, rounded up: division by multiplication */
    int step_rows, items;   /* of a step: rows, and tiles */
    int warp_items, slices; /* units of a step: warps' worths of tiles, times slices of filters */
    unsigned unit_share;    /* the same for units / warp_items */
    int pitch, ring_rows;   /* of the ring: floats of a row, rows */
    int block_rows;
    unsigned strips;
    int block_filters, slice_filters;
    bool woven; /* rows go by way of shared memory: a warp's tiles lie side by side */
    GfBorder border;
    float border_value;
};

template <int K> using Layer = GfFilters<K, Geometry>;

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

__device__ Block my_block(const Geometry &g)
{
    const int columns = g.columns + g.width - 1;
    Block block;
    block.top = g.y0 + static_cast<size_t>(blockIdx.x / g.strips) * g.block_rows;
    block.rows = static_cast<int>(min(g.y1 - block.top, static_cast<size_t>(g.block_rows)));
    block.left = static_cast<int>(blockIdx.x % g.strips) * g.apart - g.before;
    block.first = block.left + g.origin_x;
    block.begin = min(max(-block.first, 0), columns);
    block.end = max(min(static_cast<int>(g.in_width) - block.first, columns), block.begin);
    block.picture = blockIdx.z;
    return block;
}

/* The places of a strip's input columns by the border's rule; -1: the constant. */
__device__ void map_columns(const Geometry &g, const Block &block, int *places)
{
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < g.columns + g.width - 1; i += THREADS)
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

/* Copies `count` samples of a row, a lane one of 32, of which it is told its first; most rows
 * are as long as they can be. */
template <typename In> __device__ void copy_samples(const In *from, int count, float *to)
{
    int i = threadIdx.x % 32;
    if (count >= STRIP) {
        for (int j = 0; j < STRIP; j += 32)
            gf_copy_sample(from + j, to + j);
        i += STRIP;
        from += STRIP;
        to += STRIP;
    }
#pragma unroll 1
    for (; i < count; i += 32, from += 32, to += 32)
        gf_copy_sample(from, to);
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
            gf_copy_sample(row + place, to + i);
    }
}

/* The ring goes on at its beginning. */
__device__ int wrapped(const Geometry &g, int slot)
{
    return slot < g.ring_rows ? slot : slot - g.ring_rows;
}

/* Input rows [first, end) go to the ring from `slot` on, a warp one of them. Most often they all
 * lie on the picture, one after the other in memory. */
template <typename In>
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
                                (i + gf_warp()) * g.in.stride + block.picture * g.in.batch +
                                skip * static_cast<long long>(sizeof(In));
    for (int row = gf_warp(); row < end - first; row += WARPS, next += WARPS * g.in.stride) {
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
__device__ void load_window(const Geometry &g, const Tile &tile, const float *ring, GfWindow<K> &x)
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
        for (int i = 0; i < GF_WINDOW_VECTORS<K>; i++) {
            const float4 v = reached ? row[i] : float4{};
            x[r][4 * i] = v.x;
            x[r][4 * i + 1] = v.y;
            x[r][4 * i + 2] = v.z;
            x[r][4 * i + 3] = v.w;
        }
    }
}

/* ---- the kernel ---- */

/* All filters of one unit on one tile. */
template <int K, bool FULL, int SIDE>
__device__ void run_unit(const Layer<K> &s, const Block &block, const Tile &tile, int first_filter,
                         int end_filter, const float *ring)
{
    __shared__ GfWeave weaves[WARPS];
    const GfTilePlace place =
        gf_place_tile<SIDE>(s.g, block.picture, block.top - s.g.y0 + tile.row,
                            block.rows - tile.row, block.left + tile.column, tile.exists);
    GfWindow<K> x;
    load_window<K, FULL>(s.g, tile, ring, x);
    for (int f = first_filter; f < end_filter; f++) {
        float v[GF_TILE_OUTPUTS];
        gf_respond<K, FULL, true>(s.g, s.numbers[f], x, v);
        if (SIDE == 1 && s.g.woven)
            gf_store_woven<float>(
                s.g, place.to + f * s.g.plane_bytes - threadIdx.x % 32 * sizeof(float4), place.rows,
                block.left, s.g.before, v, weaves[gf_warp()]);
        else
            gf_finish_tile<SIDE>(s.g, place, f, v);
    }
}

/* All units of the step that begins with row `row`, which is in the ring from `slot` on. */
template <int K, bool FULL, int SIDE>
__device__ void run_step(const Layer<K> &s, const Block &block, int row, int slot,
                         const float *ring)
{
    const Geometry &g = s.g;
    const int first_filter = static_cast<int>(blockIdx.y) * g.block_filters;
    const int end_filter = min(first_filter + g.block_filters, g.filters);
    for (int unit = gf_warp(); unit < g.warp_items * g.slices; unit += WARPS) {
        const int slice = static_cast<int>(unit * g.unit_share >> 16);
        const Tile tile = my_tile(g, block, row, slot, unit - slice * g.warp_items);
        const int begin = first_filter + slice * g.slice_filters;
        if (__any_sync(~0u, tile.exists))
            run_unit<K, FULL, SIDE>(s, block, tile, begin, min(begin + g.slice_filters, end_filter),
                                    ring);
    }
}

template <typename In, int K, bool FULL, int SIDE>
__global__ void __launch_bounds__(THREADS, BLOCKS<K>)
    special_layer(const __grid_constant__ Layer<K> s)
{
    GF_BLOCK_MEMORY(float4, memory);
    __shared__ int places[STRIP + K - 1];
    float *ring = reinterpret_cast<float *>(memory);
    const Geometry &g = s.g;
    const Block block = my_block(g);
    map_columns(g, block, places);
    gf_wait_for_stream();
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
            fill<In>(g, block, filled, next, free_slot, places, ring);
            free_slot = wrapped(g, free_slot + next - filled);
            filled = next;
        }
        if (row < 0)
            continue;
        run_step<K, FULL, SIDE>(s, block, row, slot, ring);
        slot = wrapped(g, slot + g.step_rows);
    }
}

/* ---- how the work is cut ---- */

/* Does it pay that woven strips compute one line more than they store? */
bool has_whole_lines(const Geometry &g)
{
    const double bytes = static_cast<double>(g.y1 - g.y0) * g.out_width * g.filters * sizeof(float);
    return bytes >= LARGE * static_cast<double>(gf_l2_bytes()) &&
           (g.width == 1 || (g.width <= 3 && g.filters >= 8));
}

/* Threads side by side: as few strips as possible, of equal width. A multiple of 4, so that the
 * pitch can place neighbouring rows of tiles in different banks. */
void cut_columns(Geometry *g, int most_tiles, int overhang)
{
    const int across = gf_divide_up(g->out_width, N);
    const int strips = gf_divide_up(across, most_tiles);
    g->tiles = gf_divide_up(gf_divide_up(across, strips), 4) * 4;
    g->woven = g->woven && g->out_width > LEAST_WOVEN && most_tiles == STRIP_TILES;
    if (g->woven)
        g->tiles = STRIP_TILES;
    g->tile_share = static_cast<unsigned>(65536 / g->tiles + 1);
    g->columns = g->tiles * N;
    g->before = g->woven && has_whole_lines(*g) ? GF_LINE : 0;
    g->apart = g->columns - g->before;
    g->strips = static_cast<unsigned>(
        gf_divide_up(g->out_width + (g->before > 0 ? GF_LINE - 1 : 0), g->apart));
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
    return gf_divide_up(units, WARPS) * (gf_divide_up(g.block_filters, slices) * filter + window) +
           gf_divide_up(down * ROWS, WARPS) * fill + 100;
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
        for (int slices = 1; slices <= 2 * WARPS && slices <= g->block_filters; slices *= 2) {
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

/* Cycles that a launch takes. Memory brings a multiprocessor 16 bytes a cycle; less where blocks
 * come and go, and the less, the longer they live: neighbours, which begin side by side, drift
 * apart. */
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

/* With a pool: rows that lie in its windows. */
Geometry describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const size_t side = launch->pool ? GF_TILE_POOL : 1;
    Geometry g = {};
    static_cast<GfLayer &>(g) = gf_layer(launch);
    g.in = launch->in;
    g.y0 = launch->y0 * side;
    g.y1 = launch->y1 * side;
    g.in_width = static_cast<long long>(step->in_width);
    g.in_height = static_cast<long long>(step->in_height);
    g.origin_x = static_cast<int>(step->origin_x);
    g.origin_y = step->origin_y;
    g.border = step->border;
    g.border_value = static_cast<float>(step->border_value);
    g.woven = !g.pooled && !g.vector_out && g.finish.out == GF_F32 && g.out.pixel == 1;
    return g;
}

template <typename In, int K, bool FULL>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const BlockSize size = asked_size(launch);
    if (size.rows == 0)
        return cudaErrorNotSupported;
    return gf_run_filters<K>(launch, Layer<K>{describe(launch), {}}, [&](Layer<K> s) {
        Geometry &g = s.g;
        const double out = static_cast<double>(gf_sample_size(g.finish.out));
        const Card card = {launch->count, gf_multiprocessors(), BLOCKS<K>, sizeof(In),
                           g.pooled ? out / (GF_TILE_POOL * GF_TILE_POOL) : out};
        if (size.columns > 0)
            cut_to_size(&g, size, OVERHANG<K>);
        else
            cut(&g, card, OVERHANG<K>);
        const size_t down = gf_divide_up(g.y1 - g.y0, static_cast<size_t>(g.block_rows));
        const unsigned bytes = static_cast<unsigned>(g.ring_rows * g.pitch) * sizeof(float);
        const dim3 grid(static_cast<unsigned>(g.strips * down),
                        static_cast<unsigned>(gf_divide_up(g.filters, g.block_filters)),
                        static_cast<unsigned>(launch->count));
        const auto kernel =
            g.pooled ? special_layer<In, K, FULL, GF_TILE_POOL> : special_layer<In, K, FULL, 1>;
        return gf_launch_early(kernel, gf_spread(kernel, {grid, THREADS, bytes}), stream, s);
    });
}

} // namespace

extern "C" cudaError_t gf_launch_special_layer(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_with_layer(launch->step, [&](auto sample, auto side, auto full) {
        return run<decltype(sample), side, full>(launch, stream);
    });
}
