/* Method `special` for layers of one channel on small pictures. Where there are few of them, what
 * takes time is not the arithmetic but waiting, first for the launch, then for memory, then for the
 * stores.
 *
 * A block has a whole picture in shared memory, with its border and as f32, and makes some of the
 * maps: as many groups of filters share a picture as there are multiprocessors for. The kernel is
 * launched early (gf_launch_early(), gpu/blocks.cuh), and writes a border that is a constant while
 * the one before it ends; then it asks for copies of the picture, and for those of any other
 * border. Then warps take units, as in special_layer.cu: a warp's worth of tiles, times a slice of
 * the filters.
 *
 * Costs: as special_layer.cu; a picture is read from memory once, and by the other groups from
 * L2. */
#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr int PICTURE_FLOATS = 9 << 10; /* in shared memory, at most */
constexpr int MOST_TILES = 32;          /* side by side */
constexpr int MOST_SLICES = 4 * WARPS;  /* of filters: few enough for divisions by multiplication */

struct Geometry : GfLayer {
    const void *in;
    size_t in_stride, in_batch; /* bytes */
    int in_width, in_height, origin_x, origin_y;
    int out_height;           /* before pooling, as out_width is */
    int columns, rows, pitch; /* of the picture in shared memory; floats from row to row */
    int tiles, items;         /* side by side; of a picture */
    int warp_items, slices;   /* units: warps' worths of tiles, times slices of a block's filters */
    /* 2^16 / tiles, 2^16 / warp_items and 2^32 / pitch, rounded up: division by multiplication */
    unsigned tile_share, unit_share, pitch_share;
    int block_filters, slice_filters;
    GfBorder border;
    float border_value;
};

template <int K> using Layer = GfFilters<K, Geometry>;

/* ---- the picture ---- */

template <typename In> __device__ const In *row_of(const Geometry &g, int y)
{
    return reinterpret_cast<const In *>(static_cast<const unsigned char *>(g.in) +
                                        blockIdx.x * g.in_batch + y * g.in_stride);
}

/* Samples that lie on the picture, a warp a row. */
template <typename In> __device__ void copy_inside(const Geometry &g, float *picture)
{
    const int end_y = min(g.origin_y + g.rows, g.in_height);
    const int begin_x = max(g.origin_x, 0), end_x = min(g.origin_x + g.columns, g.in_width);
    for (int y = max(g.origin_y, 0) + gf_warp(); y < end_y; y += WARPS) {
        const In *from = row_of<In>(g, y);
        float *to = picture + (y - g.origin_y) * g.pitch - g.origin_x;
        for (int x = begin_x + static_cast<int>(threadIdx.x % 32); x < end_x; x += 32)
            gf_copy_sample(from + x, to + x);
    }
}

/* Tells set(place in shared memory, row, column) of every sample beside the picture. */
template <typename Set> __device__ void for_border(const Geometry &g, Set set)
{
    for (int i = threadIdx.x; i < g.rows * g.pitch; i += THREADS) {
        const int row = static_cast<int>(__umulhi(i, g.pitch_share));
        const int y = row + g.origin_y, x = i - row * g.pitch + g.origin_x;
        if (static_cast<unsigned>(y) >= static_cast<unsigned>(g.in_height) ||
            static_cast<unsigned>(x) >= static_cast<unsigned>(g.in_width))
            set(i, y, x);
    }
}

/* Samples by the border's rule. */
template <typename In> __device__ void copy_border(const Geometry &g, float *picture)
{
    for_border(g, [&](int i, int y, int x) {
        const int row = static_cast<int>(gf_border_index(y, g.in_height, g.border));
        const int column = static_cast<int>(gf_border_index(x, g.in_width, g.border));
        gf_copy_sample(row_of<In>(g, row) + column, picture + i);
    });
}

/* ---- the kernel ---- */

template <int K> __device__ void load_window(const Geometry &g, const float *corner, GfWindow<K> &x)
{
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < GF_WINDOW_VECTORS<K>; i++) {
            const float4 v = reinterpret_cast<const float4 *>(corner + r * g.pitch)[i];
            x[r][4 * i] = v.x;
            x[r][4 * i + 1] = v.y;
            x[r][4 * i + 2] = v.z;
            x[r][4 * i + 3] = v.w;
        }
}

template <typename In, int K, bool FULL, int SIDE>
__global__ void __launch_bounds__(THREADS, 1) special_small(const __grid_constant__ Layer<K> s)
{
    GF_BLOCK_MEMORY(float4, memory);
    float *picture = reinterpret_cast<float *>(memory);
    const Geometry &g = s.g;
    const bool constant = g.border == GF_BORDER_CONSTANT || g.border == GF_BORDER_VALID;
    if (constant)
        for_border(g, [&](int i, int, int) { picture[i] = g.border_value; });
    gf_wait_for_stream();
    copy_inside<In>(g, picture);
    if (!constant)
        copy_border<In>(g, picture);
    __pipeline_commit();
    const int first_filter = static_cast<int>(blockIdx.y) * g.block_filters;
    const int end_filter = min(first_filter + g.block_filters, g.filters);
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int unit = gf_warp(); unit < g.warp_items * g.slices; unit += WARPS) {
        const int slice = static_cast<int>(unit * g.unit_share >> 16);
        const int own = (unit - slice * g.warp_items) * 32 + static_cast<int>(threadIdx.x % 32);
        const int item = min(own, g.items - 1);
        const int row = static_cast<int>(item * g.tile_share >> 16) * GF_TILE;
        const int column = (item - row / GF_TILE * g.tiles) * GF_TILE;
        const GfTilePlace place = gf_place_tile<SIDE>(g, blockIdx.x, static_cast<size_t>(row),
                                                      g.out_height - row, column, own < g.items);
        const int begin = first_filter + slice * g.slice_filters;
        const int end = min(begin + g.slice_filters, end_filter);
        GfWindow<K> x;
        load_window<K>(g, picture + row * g.pitch + column, x);
        for (int f = begin; f < end; f++) {
            float v[GF_TILE_OUTPUTS];
            gf_respond<K, FULL>(g, s.numbers[f], x, v);
            gf_finish_tile<SIDE>(g, place, f, v);
        }
    }
}

/* ---- the launcher ---- */

/* Tiles side by side: a multiple of 4 of them, whose rows lie in different banks, unless that takes
 * more warps. */
void cut_picture(Geometry *g, int side)
{
    const int across = gf_divide_up(g->out_width, GF_TILE);
    const int down = gf_divide_up(g->out_height, GF_TILE), wider = gf_divide_up(across, 4) * 4;
    const bool widen = gf_divide_up(wider * down, 32) == gf_divide_up(across * down, 32);
    g->tiles = widen ? wider : across;
    g->items = g->tiles * down;
    g->warp_items = gf_divide_up(g->items, 32);
    g->rows = down * GF_TILE + side - 1;
    g->columns = g->tiles * GF_TILE + side - 1;
    g->pitch = gf_divide_up(g->columns, 4) * 4;
    while (g->tiles % 4 == 0 && GF_TILE * (g->pitch - g->tiles) % 32 != 0)
        g->pitch += 4;
    g->tile_share = static_cast<unsigned>(65536 / g->tiles + 1);
    g->unit_share = static_cast<unsigned>(65536 / g->warp_items + 1);
    g->pitch_share = UINT32_MAX / static_cast<unsigned>(g->pitch) + 1;
}

/* Filters of a block, and slices of them: what takes the busiest warp the fewest instructions. */
void cut_filters(Geometry *g, size_t pictures, int side)
{
    const int groups =
        pictures < gf_multiprocessors() ? static_cast<int>(gf_multiprocessors() / pictures) : 1;
    const int filter = GF_TILE_OUTPUTS * side * side + 20, window = 12 * (GF_TILE + side);
    int least = 0;
    g->block_filters = gf_divide_up(g->filters, groups);
    for (int slices = 1; slices <= g->block_filters && slices <= MOST_SLICES; slices++) {
        const int filters = gf_divide_up(g->block_filters, slices);
        const int cost = gf_divide_up(g->warp_items * slices, WARPS) * (filters * filter + window);
        if (least > 0 && cost >= least)
            continue;
        least = cost;
        g->slices = slices;
        g->slice_filters = filters;
    }
}

/* With a pool: rows that lie in its windows. */
Geometry describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    Geometry g = {};
    static_cast<GfLayer &>(g) = gf_layer(launch);
    g.in = launch->in.samples;
    g.in_stride = launch->in.stride;
    g.in_batch = launch->in.batch;
    g.in_width = static_cast<int>(step->in_width);
    g.in_height = static_cast<int>(step->in_height);
    g.origin_x = static_cast<int>(step->origin_x);
    g.origin_y = static_cast<int>(step->origin_y);
    g.out_height = static_cast<int>(launch->y1) * (launch->pool ? GF_TILE_POOL : 1);
    g.border = step->border;
    g.border_value = static_cast<float>(step->border_value);
    return g;
}

template <typename In, int K, bool FULL>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_run_filters<K>(launch, Layer<K>{describe(launch), {}}, [&](Layer<K> s) {
        cut_picture(&s.g, K);
        cut_filters(&s.g, launch->count, K);
        const dim3 grid(static_cast<unsigned>(launch->count),
                        static_cast<unsigned>(gf_divide_up(s.g.filters, s.g.block_filters)));
        const auto kernel =
            s.g.pooled ? special_small<In, K, FULL, GF_TILE_POOL> : special_small<In, K, FULL, 1>;
        const size_t bytes = static_cast<size_t>(s.g.rows * s.g.pitch) * sizeof(float);
        return gf_launch_early(kernel, gf_spread(kernel, {grid, THREADS, bytes}), stream, s);
    });
}

} // namespace

/* Is it faster than strips? Fitted to 144 cases (bench/results/2026-11-22-h200-4.md), measured
 * before strips were launched early: not for large pictures that few blocks share, nor for many
 * pictures a multiprocessor, still fewer where windows take most of the registers. */
bool gf_special_is_small(const GfLaunch *launch)
{
    const GfStep *step = launch->step, *last = launch->pool ? launch->pool : step;
    const size_t width = step->linear.width, height = step->linear.height;
    const size_t most = (width == height && width <= 5 ? 8 : 2) * gf_multiprocessors();
    const bool whole = launch->y0 == 0 && launch->y1 == last->out_height && launch->in.first == 0 &&
                       launch->in.capacity >= step->in_height;
    if (launch->tiling != 0 || !whole || launch->count > most ||
        step->out_width > MOST_TILES * GF_TILE || step->out_height > PICTURE_FLOATS)
        return false;
    Geometry g = describe(launch);
    cut_picture(&g, GF_SPECIAL_SIDE);
    cut_filters(&g, launch->count, GF_SPECIAL_SIDE);
    const double blocks =
        static_cast<double>(launch->count) * gf_divide_up(g.filters, g.block_filters);
    const double area = static_cast<double>(g.rows) * g.pitch;
    return area <= PICTURE_FLOATS && area * area <= 1e6 * blocks;
}

extern "C" cudaError_t gf_launch_special_small(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_with_layer(launch->step, [&](auto sample, auto side, auto full) {
        return run<decltype(sample), side, full>(launch, stream);
    });
}
