/* Method `special` for the maps of a channel of floats, of up to 7 x 7 taps, one or many.
 *
 * special_layer.cu, which is for all layers of one channel, brings rows into a ring in shared
 * memory, and a block's warps wait for the rows and for each other: of few maps that takes nearly
 * as long as memory and multiply-adds one after the other. Here a warp has a strip to itself, 4
 * rows of 128 columns, and a lane a tile of 4 x 4 outputs. It reads its window right into
 * registers, three vectors of a row, of which its neighbours read two as well, from L1; then it
 * makes one map after the other. Nothing is shared, and nothing waited for but those reads: while
 * one warp waits for them, others multiply. The strips of a block lie below each other, so that
 * most rows come from L2 once. All lanes take the same tap at a time, from a register that they
 * have in common: a multiply-add reads two of its own, not three, which is a fifth faster with
 * 7 x 7 taps (bench/results/2026-11-26-h200-6.md).
 *
 * Where rows begin anywhere, samples are read one by one, and maps are woven in shared memory, so
 * that neighbouring lanes store neighbouring samples.
 *
 * Costs for an output sample: K * K multiply-adds and one write; for an input sample (16 + K - 1) /
 * 16 reads of L2, 3 * (4 + K - 1) / 4 of L1. */
#include "gpu/device.cuh"

using namespace gf_short;

namespace
{

/* What may be tuned: strips of a block, below each other; blocks of a multiprocessor. */
constexpr int DOWN = 4;
template <int K, bool ALIGNED>
constexpr int BLOCKS = K == 1    ? 8
                       : K == 3  ? 6
                       : K == 5  ? 5
                       : ALIGNED ? 4
                                 : 3;

constexpr size_t MOST_BLOCKS = 65535;                   /* what grid.y holds */
constexpr size_t MOST_COLUMNS = (1u << 31) - 2 * STRIP; /* so that int holds them all */

struct Geometry : GfLayer {
    Plane plane;
};

template <int K> using Maps = GfFilters<K, Geometry>;

/* ---- a window ---- */

template <int K> constexpr int COLUMNS = GF_TILE + K - 1; /* of a window */

/* Vectors of the window's rows: this lane's own, and one on each side. */
template <int K> using Vectors = float4[GF_WINDOW_ROWS<K>][3];

__device__ float part_of(const float4 &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

template <int K> __device__ void take_window(const Vectors<K> &rows, GfWindow<K> &x)
{
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < COLUMNS<K>; i++) {
            const int at = VECTOR - K / 2 + i;
            x[r][i] = part_of(rows[r][at / VECTOR], at % VECTOR);
        }
}

/* On the picture, the rows one after the other in memory, this lane's own vector at `from`. */
template <int K> __device__ void load_inside(const Plane &plane, const float *from, GfWindow<K> &x)
{
    const size_t stride = plane.in.stride / sizeof(float);
    Vectors<K> rows;
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            rows[r][i] = gf_load_in_order(from + r * stride + (i - 1) * VECTOR);
    take_window<K>(rows, x);
}

/* The same with one vector of a row: what lies beside it is the neighbours', and what they lack at
 * the strip's ends is read by lanes 0 to 15 on the left of a row each, by the others on the right.
 * That leaves registers for another block of 7 x 7. */
template <int K> __device__ void load_own(const Plane &plane, const float *from, GfWindow<K> &x)
{
    constexpr int SIDE = K / 2, HALF = 16;
    static_assert(GF_WINDOW_ROWS<K> <= HALF);
    const size_t stride = plane.in.stride / sizeof(float);
    const int lane = my_lane(), beside = (lane < HALF ? -VECTOR : STRIP) - lane * VECTOR;
    float4 own[GF_WINDOW_ROWS<K>], side = {};
    if (SIDE > 0 && lane % HALF < GF_WINDOW_ROWS<K>)
        side = gf_load_in_order(from + lane % HALF * stride + beside);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
        own[r] = gf_load_in_order(from + r * stride);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            x[r][SIDE + i] = part_of(own[r], i);
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            const float given = lane < HALF ? part_of(side, VECTOR - SIDE + i) : part_of(side, i);
            const float end = __shfl_sync(~0u, given, lane < HALF ? r : HALF + r);
            const float left = __shfl_up_sync(~0u, part_of(own[r], VECTOR - SIDE + i), 1);
            const float right = __shfl_down_sync(~0u, part_of(own[r], i), 1);
            x[r][i] = lane == 0 ? end : left;
            x[r][SIDE + VECTOR + i] = lane == 31 ? end : right;
        }
    }
}

/* On the picture, one by one: the window's first sample at `from`. */
template <int K> __device__ void load_samples(const Plane &plane, const float *from, GfWindow<K> &x)
{
    const size_t stride = plane.in.stride / sizeof(float);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < COLUMNS<K>; i++)
            x[r][i] = __ldg(from + r * stride + i);
}

/* In vectors, where what is beside the picture is a constant. `found`: the slot of this lane's row
 * of the strip. */
template <int K>
__device__ void load_with_constant(const Plane &plane, int found, int column, GfWindow<K> &x)
{
    const float b = plane.border_value;
    Vectors<K> rows;
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
        const int slot = __shfl_sync(~0u, found, r);
        const float *row = row_at(plane, max(slot, 0));
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int c = column + (i - 1) * VECTOR;
            rows[r][i] = make_float4(b, b, b, b);
            if (slot >= 0 && c >= 0 && c < plane.width)
                rows[r][i] = gf_load_in_order(row + c);
        }
    }
    take_window<K>(rows, x);
}

/* One by one, by the border's rule. */
template <int K>
__device__ void load_with_border(const Plane &plane, int found, int first, GfWindow<K> &x)
{
    int columns[COLUMNS<K>];
    find_columns<K>(plane, find_beside<K>(plane), first, columns);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
        const int slot = __shfl_sync(~0u, found, r);
        const float *row = row_at(plane, max(slot, 0));
#pragma unroll
        for (int i = 0; i < COLUMNS<K>; i++)
            x[r][i] = slot >= 0 && columns[i] >= 0 ? __ldg(row + columns[i]) : plane.border_value;
    }
}

/* The inputs of the tile that begins with `column`, in the strip's rows. */
template <int K, bool ALIGNED>
__device__ void load_window(const Plane &plane, const Strip &strip, int column, GfWindow<K> &x)
{
    constexpr int BESIDE = K == 1 ? 0 : VECTOR;
    const int slots = find_slots<K, GF_TILE>(plane, strip), first = column - K / 2;
    if (slots >= 0 && strip.first >= BESIDE && strip.first + STRIP + BESIDE <= plane.width) {
        const float *row = row_at(plane, slots);
        if (!ALIGNED)
            load_samples<K>(plane, row + first, x);
        else if (K == 3 || K == 5)
            load_inside<K>(plane, row + column, x);
        else
            load_own<K>(plane, row + column, x);
        return;
    }
    const int found = find_slot<K>(plane, strip, my_lane());
    if (ALIGNED && (K == 3 || K == 5) && plane.border == GF_BORDER_CONSTANT)
        load_with_constant<K>(plane, found, column, x);
    else
        load_with_border<K>(plane, found, first, x);
}

/* Stores a tile's first `rows` rows, in vectors. */
__device__ void store_vectors(const GfOutRows &out, unsigned char *to, int rows,
                              const float (&v)[GF_TILE_OUTPUTS])
{
#pragma unroll
    for (int r = 0; r < GF_TILE; r++, to += out.stride)
        if (r < rows)
            __stcs(reinterpret_cast<float4 *>(to),
                   make_float4(v[r * GF_TILE], v[r * GF_TILE + 1], v[r * GF_TILE + 2],
                               v[r * GF_TILE + 3]));
}

/* ---- the kernel ---- */

/* All maps of a strip's tiles, that of map 0 at `to`. BARE: a sum is what is stored. A loop
 * without branches is up to 8 % faster with many taps, and slower with few. */
template <int K, bool ALIGNED, bool BARE>
__device__ void make_maps(const Maps<K> &s, const Strip &strip, const GfWindow<K> &x,
                          unsigned char *to, GfWeave &weave)
{
    const Geometry &g = s.g;
    const int lane = my_lane(), column = strip.first + lane * VECTOR;
    for (int f = 0; f < g.filters; f++, to += g.plane_bytes) {
        float v[GF_TILE_OUTPUTS];
        gf_sum_tile<K, true>(g, s.numbers[f], x, v);
        if (!BARE)
            gf_finish_sums<K, false>(g, s.numbers[f], v);
        if (ALIGNED)
            store_vectors(g.out, to + lane * sizeof(float4), column < g.out_width ? strip.rows : 0,
                          v);
        else
            gf_store_woven(g, to, strip.rows, strip.first, 0, v, weave);
    }
}

/* ALIGNED: rows are whole vectors, and begin where those do. */
template <int K, bool ALIGNED>
__global__ void __launch_bounds__(32 * DOWN, (BLOCKS<K, ALIGNED>))
    special_maps(const __grid_constant__ Maps<K> s)
{
    __shared__ GfWeave weaves[DOWN];
    const Geometry &g = s.g;
    const int warp = gf_warp(), first = static_cast<int>(blockIdx.x) * STRIP;
    const size_t down = (static_cast<size_t>(blockIdx.y) * DOWN + warp) * GF_TILE;
    if (down >= g.plane.rows)
        return;
    const int rows = static_cast<int>(min(g.plane.rows - down, static_cast<size_t>(GF_TILE)));
    const Strip strip = {g.plane.y0 + down, rows, first};
    gf_wait_for_stream();
    unsigned char *to = static_cast<unsigned char *>(g.out.samples) + blockIdx.z * g.out.batch +
                        down * g.out.stride + static_cast<size_t>(first) * sizeof(float);
    GfWindow<K> x;
    load_window<K, ALIGNED>(g.plane, strip, first + my_lane() * VECTOR, x);
    if (K <= 3 || g.scaled || g.rectified)
        make_maps<K, ALIGNED, false>(s, strip, x, to, weaves[warp]);
    else
        make_maps<K, ALIGNED, true>(s, strip, x, to, weaves[warp]);
}

/* ---- the launcher ---- */

template <int K, bool ALIGNED> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    Geometry geometry = {};
    static_cast<GfLayer &>(geometry) = gf_layer(launch);
    geometry.plane = plane_of(launch);
    return gf_run_filters<K>(launch, Maps<K>{geometry, {}}, [&](const Maps<K> &s) {
        const size_t across = gf_divide_up<size_t>(launch->step->in_width, STRIP);
        const size_t down = gf_divide_up<size_t>(s.g.plane.rows, GF_TILE * DOWN);
        const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down),
                        static_cast<unsigned>(launch->count));
        const auto kernel = special_maps<K, ALIGNED>;
        return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * DOWN}), stream, s);
    });
}

/* Are rows that are read and written whole vectors, and begin where those do? */
bool is_aligned(const GfLaunch *launch)
{
    return launch->step->in_width % VECTOR == 0 &&
           gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch,
                      VECTOR * sizeof(float)) &&
           gf_rows_aligned(launch->out, launch->step->out, VECTOR);
}

template <int K> cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    return is_aligned(launch) ? run<K, true>(launch, stream) : run<K, false>(launch, stream);
}

/* Is it faster than the other forms? Strips that begin anywhere write the lines that they share
 * with their neighbours twice, which counts where maps are many and taps few
 * (bench/results/2026-11-26-h200-6.md). */
bool pays(const GfStep *step, bool aligned)
{
    const size_t pixels = step->out_width * step->out_height, maps = step->linear.filters;
    const bool small = pixels <= 1 << 20, middling = pixels <= 1 << 22;
    switch (step->linear.width) {
    case 1:
        return maps == 1 ? !aligned || pixels <= 1 << 24 : maps <= 4 ? middling : aligned && small;
    case 3:
        return maps == 1 ? !aligned || middling : maps <= (aligned ? 8 : 4) || (aligned && small);
    case 5:
        return maps > 1 || middling;
    default:
        return maps > 1 && (aligned || !small);
    }
}

} // namespace

/* Of all launches of a step or of none, since how rows are aligned is the same for all its bands:
 * other forms may add an offset elsewhere. */
extern "C" bool gf_special_is_maps(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    return gf_special_takes_maps(step) && launch->tiling == 0 && !launch->pool &&
           launch->in.pixel == 1 && launch->out.pixel == 1 && step->in_width <= MOST_COLUMNS &&
           step->out_height <= MOST_BLOCKS * GF_TILE * DOWN && pays(step, is_aligned(launch));
}

extern "C" cudaError_t gf_launch_special_maps(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->linear.width) {
    case 1:
        return run_side<1>(launch, stream);
    case 3:
        return run_side<3>(launch, stream);
    case 5:
        return run_side<5>(launch, stream);
    case 7:
        return run_side<7>(launch, stream);
    }
    return cudaErrorNotSupported;
}
