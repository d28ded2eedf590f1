/* Method `special` for layers of one channel on small pictures, or narrow ones; and for one kernel
 * of up to 9 x 9, or the joined responses of two, on small ones. Where there is little to do, what
 * takes time is not the arithmetic but waiting: for the launch, for memory, for the stores.
 *
 * Tiles of 2 x 4 outputs are counted through all pictures, row by row. A lane has a tile, so that
 * none is idle, however narrow pictures are; a warp has 32 of them and a slice of the filters, and
 * there are as many slices as keep all multiprocessors busy. A lane reads its window right into
 * registers, in vectors where it can; nothing is shared, and no warp waits for another. The kernel
 * is launched early (gf_launch_early(), gpu/blocks.cuh), and where samples lie is found while the
 * one before it ends. (bench/results/2026-11-27-h200-2.md)
 *
 * Costs for an output sample: K * K multiply-adds and one write; for a tile and a slice 3 * (K + 1)
 * reads of L1, or one for each sample of the window. */
#include "gpu/device.cuh"

namespace
{

constexpr int ROWS = 2, OUTPUTS = ROWS * GF_TILE; /* of a tile */
constexpr int WARPS = 2, THREADS = 32 * WARPS;
constexpr int LARGEST = 9; /* side of a kernel */

struct Geometry : GfLayer {
    const unsigned char *in;
    size_t in_stride, in_batch; /* bytes */
    GfEdge across, down;
    int origin_x, origin_y;
    int out_height;               /* before pooling, as out_width is */
    unsigned tiles, picture, all; /* side by side; of a picture; of all pictures */
    unsigned slices;              /* of the filters */
    int slice;                    /* filters of one */
    float border_value;
    uint32_t border_word; /* of integers and halves: samples that are the constant */
};

template <int K> using Layer = GfFilters<K, Geometry>;
template <int K> using Window = GfWindow<K, ROWS>;
static_assert(GF_MOST_FILTERS<5, Geometry> == GF_SPECIAL_HELD_5 &&
              GF_MOST_FILTERS<7, Geometry> == GF_SPECIAL_HELD_7);

/* ---- windows ---- */

/* Sample by sample, by the border's rule. What does not lie on the picture is read as well, from
 * somewhere else, so that no read waits for a choice. */
template <typename In, int K>
__device__ void load_samples(const Geometry &g, const unsigned char *in, int row, int column,
                             Window<K> &x)
{
    constexpr int COLUMNS = GF_TILE + K - 1;
    int columns[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        columns[i] = gf_find_sample(g.across, column + g.origin_x + i);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K, ROWS>; r++) {
        const int y = gf_find_sample(g.down, row + g.origin_y + r);
        const In *from = reinterpret_cast<const In *>(in + max(y, 0) * g.in_stride);
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) {
            const uint32_t bits = gf_load_bits(from + max(columns[i], 0));
            x[r][i] =
                y >= 0 && columns[i] >= 0 ? gf_special::number_of<In>(bits, 0) : g.border_value;
        }
    }
}

/* Words of a row of a window: of the tile's columns, and of as many samples as the kernel needs on
 * each side. */
template <typename In, int K> struct Row {
    static constexpr int A_WORD = gf_special::A_WORD<In, GF_TILE>;
    static constexpr int OWN = GF_TILE / A_WORD;
    static constexpr int NEEDED = (K / 2 + A_WORD - 1) / A_WORD;
    static constexpr int BESIDE = NEEDED > 2 ? 4 : NEEDED > 1 ? 2 : 1;
    uint32_t left[BESIDE], own[OWN], right[BESIDE];

    __device__ float sample(int i) const /* of the tile's columns the first is 0 */
    {
        const uint32_t word = i < 0         ? left[BESIDE + (i - A_WORD + 1) / A_WORD]
                              : i < GF_TILE ? own[i / A_WORD]
                                            : right[(i - GF_TILE) / A_WORD];
        return gf_special::number_of<In>(word, static_cast<unsigned>(i + GF_TILE) % A_WORD);
    }
};

/* Reads N words where `exists`; else they are the border's. */
template <bool REAL, int N>
__device__ void load_words(const Geometry &g, const void *from, bool exists, uint32_t (&words)[N])
{
#pragma unroll
    for (uint32_t &word : words)
        word = REAL ? __float_as_uint(g.border_value) : g.border_word;
    if (exists)
        gf_special::split(*static_cast<const gf_special::Vector<uint32_t, N> *>(from), words);
}

/* The same in vectors, where rows are whole vectors, the border is a constant and the window begins
 * half a kernel left of the tile, whose first column is at `corner` in the window's first row. */
template <typename In, int K>
__device__ void load_vectors(const Geometry &g, const unsigned char *corner, int row, int column,
                             Window<K> &x)
{
    using R = Row<In, K>;
    constexpr bool REAL = std::is_same_v<In, float>;
    const bool left = column > 0, right = column + GF_TILE < g.across.n;
    R rows[GF_WINDOW_ROWS<K, ROWS>];
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K, ROWS>; r++, corner += g.in_stride) {
        const unsigned y = static_cast<unsigned>(row + g.origin_y + r);
        const bool exists = y < static_cast<unsigned>(g.down.n);
        const In *from = reinterpret_cast<const In *>(corner);
        load_words<REAL>(g, from, exists, rows[r].own);
        if (K > 1) {
            load_words<REAL>(g, from - R::BESIDE * R::A_WORD, exists && left, rows[r].left);
            load_words<REAL>(g, from + GF_TILE, exists && right, rows[r].right);
        }
    }
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K, ROWS>; r++)
#pragma unroll
        for (int i = 0; i < GF_TILE + K - 1; i++)
            x[r][i] = rows[r].sample(i - K / 2);
}

/* ---- the kernel ---- */

/* What is stored: a map for each filter; the same, pooled; one map, of what two filters respond
 * together. */
enum Kind { MAPS, POOLED, JOINED };

/* Responses of filters from `begin` to before `end`, one after the other. POSTS: functions other
 * than ReLU and the size may follow. */
template <int K, bool FULL, int SIDE, bool POSTS>
__device__ void make_maps(const Layer<K> &s, const GfTilePlace &place, int begin, int end,
                          const Window<K> &x)
{
    for (int f = begin; f < end; f++) {
        float v[OUTPUTS];
        gf_respond<K, FULL, POSTS>(s.g, s.numbers[f], x, v);
        gf_finish_tile<SIDE>(s.g, place, f, v);
    }
}

/* FULL: the kernel is K x K, else it is smaller; VECTORS: windows can be read so. 7 x 7 are a
 * seventh faster where a bound of one block is told. */
template <typename In, int K, bool FULL, Kind KIND, bool VECTORS>
__global__ void __launch_bounds__(THREADS, K == 7 && VECTORS ? 1 : 0)
    special_small(const __grid_constant__ Layer<K> s)
{
    constexpr int SIDE = KIND == POOLED ? GF_TILE_POOL : 1;
    const Geometry &g = s.g;
    const unsigned unit = blockIdx.x * WARPS + static_cast<unsigned>(gf_warp());
    const unsigned group = unit / g.slices, slice = unit - group * g.slices;
    const unsigned mine = group * 32 + threadIdx.x % 32, own = min(mine, g.all - 1);
    const unsigned picture = own / g.picture, tile = own - picture * g.picture;
    const int row = static_cast<int>(tile / g.tiles) * ROWS;
    const int column = static_cast<int>(tile % g.tiles) * GF_TILE;
    const GfTilePlace place = gf_place_tile<SIDE, ROWS>(g, picture, static_cast<size_t>(row),
                                                        g.out_height - row, column, mine < g.all);
    const int begin = static_cast<int>(slice) * g.slice;
    const int end = min(begin + g.slice, g.filters);
    const unsigned char *in = g.in + picture * g.in_batch;
    const unsigned char *corner =
        in + (row + g.origin_y) * static_cast<ptrdiff_t>(g.in_stride) + column * sizeof(In);
    Window<K> x;
    gf_find_now(VECTORS ? corner : in);
    gf_find_now(place.to);
    gf_wait_for_stream(GF_NEXT_IN_TURN);
    if constexpr (VECTORS)
        load_vectors<In, K>(g, corner, row, column, x);
    else
        load_samples<In, K>(g, in, row, column, x);
    if constexpr (KIND == JOINED) {
        float v[OUTPUTS];
        gf_respond_jointly(s, x, v);
        gf_finish_tile<1>(g, place, 0, v);
    } else if ((K == 3 || K == 5) && (g.finish.posts == 0 || g.rectified || g.absolute)) {
        make_maps<K, FULL, SIDE, false>(s, place, begin, end, x); /* up to a fifth faster */
    } else {
        make_maps<K, FULL, SIDE, true>(s, place, begin, end, x);
    }
}

/* ---- the launcher ---- */

/* Cuts the filters in slices: what takes a quarter of a multiprocessor, that which has the most
 * warps, the fewest cycles. Reading a window takes as many as its loads touch lines, all quarters
 * together; a warp alone cannot start an instruction in each. */
void cut_filters(Geometry *g, int side, unsigned fewest, bool vectors)
{
    constexpr unsigned QUARTERS = 4, LINES = 4 * QUARTERS, WAIT = 800;
    const unsigned groups = gf_divide_up(g->all, 32u), box = static_cast<unsigned>(side);
    const unsigned quarters = QUARTERS * static_cast<unsigned>(gf_multiprocessors());
    const unsigned filters = static_cast<unsigned>(g->filters);
    const size_t filter = OUTPUTS * box * box + 20;
    const size_t window = LINES * (ROWS + box - 1) * (vectors ? 3 : GF_TILE + box - 1);
    size_t least = SIZE_MAX;
    for (unsigned slice = filters; slice > 0 && slice >= fewest; slice--) {
        const unsigned slices = gf_divide_up(filters, slice);
        const size_t each = gf_divide_up<size_t>(static_cast<size_t>(groups) * slices, quarters);
        const size_t together = each * (slice * filter + window);
        const size_t alone = slice * filter * 8 / 5 + WAIT;
        const size_t cost = together > alone ? together : alone;
        if (cost >= least)
            continue;
        least = cost;
        g->slice = static_cast<int>(slice);
        g->slices = slices;
    }
}

/* Tiles of a picture; with a pool, of rows and columns that lie in its windows. */
size_t tiles_across(const GfLaunch *launch)
{
    const size_t side = launch->pool ? GF_TILE_POOL : 1;
    const size_t width = launch->pool ? launch->pool->out_width : launch->step->out_width;
    return gf_divide_up<size_t>(width * side, GF_TILE);
}

size_t tiles_down(const GfLaunch *launch)
{
    const size_t side = launch->pool ? GF_TILE_POOL : 1;
    return gf_divide_up<size_t>(launch->y1 * side, ROWS);
}

Geometry describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    Geometry g = {};
    static_cast<GfLayer &>(g) = gf_layer(launch);
    g.in = static_cast<const unsigned char *>(launch->in.samples);
    g.in_stride = launch->in.stride;
    g.in_batch = launch->in.batch;
    g.across = gf_find_edge(step->in_width, step->border);
    g.down = gf_find_edge(step->in_height, step->border);
    g.origin_x = static_cast<int>(step->origin_x);
    g.origin_y = static_cast<int>(step->origin_y);
    g.out_height = static_cast<int>(launch->y1) * (launch->pool ? GF_TILE_POOL : 1);
    g.tiles = static_cast<unsigned>(tiles_across(launch));
    g.picture = g.tiles * static_cast<unsigned>(tiles_down(launch));
    g.all = g.picture * static_cast<unsigned>(launch->count);
    g.border_value = static_cast<float>(step->border_value);
    return g;
}

/* Can windows be read in vectors, and what is beside the picture be words? */
template <typename In, int K> bool has_vectors(const GfLaunch *launch, uint32_t *border_word)
{
    const GfStep *step = launch->step;
    if (step->border != GF_BORDER_CONSTANT || step->in_width % GF_TILE != 0 ||
        step->origin_x != -(K / 2) || step->in_width != step->out_width ||
        !gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch, GF_TILE * sizeof(In)))
        return false;
    return std::is_same_v<In, float> || gf_short::find_constant<In>(step, border_word);
}

template <typename In, int K, bool FULL, Kind KIND, bool VECTORS>
cudaError_t run(const GfLaunch *launch, uint32_t border_word, cudaStream_t stream)
{
    return gf_run_filters<K>(launch, Layer<K>{describe(launch), {}}, [&](Layer<K> s) {
        s.g.border_word = border_word;
        cut_filters(&s.g, K, KIND == JOINED ? 2 : 1, VECTORS);
        const auto kernel = special_small<In, K, FULL, KIND, VECTORS>;
        const unsigned units = gf_divide_up(s.g.all, 32u) * s.g.slices;
        const dim3 grid(gf_divide_up(units, static_cast<unsigned>(WARPS)));
        return gf_launch_early(kernel, gf_spread(kernel, {grid, THREADS}), stream, s);
    });
}

/* Maps, pooled or not; in vectors where that can be. */
template <typename In, int K, bool FULL, Kind KIND>
cudaError_t run_maps(const GfLaunch *launch, cudaStream_t stream)
{
    uint32_t border_word = 0;
    if constexpr (FULL)
        if (has_vectors<In, K>(launch, &border_word))
            return run<In, K, FULL, KIND, true>(launch, border_word, stream);
    return run<In, K, FULL, KIND, false>(launch, border_word, stream);
}

template <typename In, int K, bool FULL>
cudaError_t run_kind(const GfLaunch *launch, cudaStream_t stream)
{
    if (launch->pool)
        return run_maps<In, K, FULL, POOLED>(launch, stream);
    if constexpr (K == 3 || K == 5)
        if (launch->step->combine.op != GF_COMBINE_NONE)
            return run<In, K, FULL, JOINED, false>(launch, 0, stream);
    return run_maps<In, K, FULL, MAPS>(launch, stream);
}

/* Is it faster than strips, which are 128 columns wide? (bench/results/2026-11-27-h200-2.md) */
bool pays(const GfLaunch *launch)
{
    enum { TINY = 1 << 17, SMALL = 1 << 18, MIDDLING = 1 << 19 };
    const GfStep *step = launch->step;
    const size_t side = step->linear.width, maps = step->linear.filters;
    const size_t pixels = step->out_width * step->out_height * launch->count;
    const bool vectors = step->out_width % GF_TILE == 0;
    if (!gf_step_is_layer(step))
        return pixels <= TINY || (pixels <= SMALL && (side == 3 || side == 9)) ||
               (!vectors && pixels <= MIDDLING && side <= 5);
    return step->out_width < GF_SPECIAL_STRIP || pixels <= SMALL ||
           (!vectors && pixels <= MIDDLING && maps <= 4);
}

} // namespace

/* Of whole pictures alone; bands go by other forms, whose steps and so whose bits are the same. */
bool gf_special_is_small(const GfLaunch *launch)
{
    constexpr size_t MOST = 1 << 26; /* tiles, times filters */
    const GfStep *step = launch->step, *last = launch->pool ? launch->pool : step;
    const size_t across = tiles_across(launch), down = tiles_down(launch);
    const bool whole = launch->y0 == 0 && launch->y1 == last->out_height && launch->in.first == 0 &&
                       launch->in.capacity >= step->in_height;
    return step->channels == 1 && launch->in.pixel == 1 && launch->tiling == 0 && whole &&
           across <= SHRT_MAX && down <= SHRT_MAX && step->in_width <= SHRT_MAX &&
           step->in_height <= SHRT_MAX &&
           across * down * step->linear.filters <= MOST / launch->count &&
           gf_reaches(step->in_width, step->origin_x, across * GF_TILE + LARGEST - 1,
                      step->border) &&
           gf_reaches(step->in_height, step->origin_y, down * ROWS + LARGEST - 1, step->border) &&
           pays(launch);
}

extern "C" cudaError_t gf_launch_special_small(const GfLaunch *launch, cudaStream_t stream)
{
    if (launch->step->linear.width > GF_SPECIAL_SIDE)
        return gf_with_sample<float>(launch->step->in, [&](auto sample) {
            return run<decltype(sample), LARGEST, true, MAPS, false>(launch, 0, stream);
        });
    return gf_with_layer(launch->step, [&](auto sample, auto side, auto full) {
        return run_kind<decltype(sample), side, full>(launch, stream);
    });
}
