/* Method `special` for the maps of one channel, of up to 7 x 7 taps; and for one kernel of up to
 * 9 x 9, or the joined responses of two, on pictures that are not large.
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
 * A small picture takes as long as a launch whose code is new and whose few warps have nobody to
 * wait with. Of it many short strips are on their way at once, and the code is short: two to three
 * times as fast as strips of dozens of rows (bench/results/2026-11-27-h200.md). Of still smaller
 * ones, of which those strips are too few, tiles are made (special_small.cu).
 *
 * Beside the picture, vectors of integers and halves are made of those that lie on it, their bytes
 * moved by the border's rule. Floats are read one by one there, as are all where rows begin
 * anywhere; maps are then woven in shared memory, so that neighbouring lanes store neighbouring
 * samples. Strips of several maps of floats overlap by a sector of memory there, and store whole
 * ones (bench/results/2026-11-28-h200-3.md).
 *
 * Costs for an output sample: K * K multiply-adds and one write; for an input sample (16 + K - 1) /
 * 16 reads of L2, 3 * (4 + K - 1) / 4 of L1. */
#include "gpu/device.cuh"

using namespace gf_short;

namespace
{

/* Rows that are read and written: whole vectors, which begin where those do; or what begins
 * anywhere, of which SECTORS stores whole sectors of memory. */
enum class Rows { VECTORS, ANYWHERE, SECTORS };

/* What may be tuned: strips of a block, below each other; blocks of a multiprocessor. */
constexpr int DOWN = 4;
template <typename In, int K, Rows ROWS>
constexpr int BLOCKS = K == 1   ? 8
                       : K == 3 ? 6
                       : K == 5
                           ? (sizeof(In) == 4 || (ROWS == Rows::VECTORS && sizeof(In) == 2) ? 5 : 4)
                       : K == 7 ? (ROWS == Rows::VECTORS && sizeof(In) == 4 ? 4 : 3)
                                : 2;

/* Maps from which it pays that strips overlap. */
template <int K> constexpr size_t LEAST_SECTORS = K <= 3 ? 2 : 16;

/* Columns from strip to strip. */
template <Rows ROWS> constexpr int APART = STRIP - (ROWS == Rows::SECTORS ? GF_SECTOR : 0);

constexpr size_t MOST_BLOCKS = 65535;                   /* what grid.y holds */
constexpr size_t MOST_COLUMNS = (1u << 31) - 2 * STRIP; /* so that int holds them all */

struct Geometry : GfLayer {
    Plane plane;
    uint32_t border_word; /* of integers and halves: samples that are the constant */
    bool by_words;        /* goes_by_words() */
};

template <int K> using Maps = GfFilters<K, Geometry>;

/* ---- a window ---- */

template <int K> constexpr int COLUMNS = GF_TILE + K - 1; /* of a window */

/* Words of a vector, and vectors of the window's rows: this lane's own, and one on each side. */
template <typename In> using Words = uint32_t[gf_special::WORDS<In, VECTOR>];
template <typename In, int K> using Vectors = Words<In>[GF_WINDOW_ROWS<K>][3];

template <typename In> __device__ float part_of(const Words<In> &v, int i)
{
    constexpr int A_WORD = gf_special::A_WORD<In, VECTOR>;
    return gf_special::number_of<In>(v[i / A_WORD], static_cast<unsigned>(i % A_WORD));
}

template <typename In, int K>
__device__ void take_window(const Vectors<In, K> &rows, GfWindow<K> &x)
{
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < COLUMNS<K>; i++) {
            const int at = VECTOR - K / 2 + i;
            x[r][i] = part_of<In>(rows[r][at / VECTOR], at % VECTOR);
        }
}

/* On the picture, the rows one after the other in memory, this lane's own vector at `from`. */
template <typename In, int K>
__device__ void load_inside(const Plane &plane, const In *from, GfWindow<K> &x)
{
    const size_t stride = plane.in.stride / sizeof(In);
    Vectors<In, K> rows;
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < 3; i++)
            gf_load_in_order(from + r * stride + (i - 1) * VECTOR, rows[r][i]);
    take_window<In, K>(rows, x);
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
    Words<float> own[GF_WINDOW_ROWS<K>], side = {};
    if (SIDE > 0 && lane % HALF < GF_WINDOW_ROWS<K>)
        gf_load_in_order(from + lane % HALF * stride + beside, side);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
        gf_load_in_order(from + r * stride, own[r]);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            x[r][SIDE + i] = part_of<float>(own[r], i);
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            const float given =
                lane < HALF ? part_of<float>(side, VECTOR - SIDE + i) : part_of<float>(side, i);
            const float end = __shfl_sync(~0u, given, lane < HALF ? r : HALF + r);
            const float left = __shfl_up_sync(~0u, part_of<float>(own[r], VECTOR - SIDE + i), 1);
            const float right = __shfl_down_sync(~0u, part_of<float>(own[r], i), 1);
            x[r][i] = lane == 0 ? end : left;
            x[r][SIDE + VECTOR + i] = lane == 31 ? end : right;
        }
    }
}

/* On the picture, one by one: the window's first sample at `from`. */
template <typename In, int K>
__device__ void load_samples(const Plane &plane, const In *from, GfWindow<K> &x)
{
    const size_t stride = plane.in.stride / sizeof(In);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
        const In *row = from + r * stride;
#pragma unroll
        for (int i = 0; i < COLUMNS<K>; i++)
            x[r][i] = gf_number<float>(__ldg(row + i));
    }
}

/* In vectors of floats, where what is beside the picture is a constant. `found`: the slot of this
 * lane's row of the strip. */
template <int K>
__device__ void load_with_constant(const Plane &plane, int found, int column, GfWindow<K> &x)
{
    const uint32_t b = __float_as_uint(plane.border_value);
    Vectors<float, K> rows;
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
        const int slot = __shfl_sync(~0u, found, r);
        const float *row = row_at<float>(plane, max(slot, 0));
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int c = column + (i - 1) * VECTOR;
#pragma unroll
            for (uint32_t &word : rows[r][i])
                word = b;
            if (slot >= 0 && c >= 0 && c < plane.width)
                gf_load_in_order(row + c, rows[r][i]);
        }
    }
    take_window<float, K>(rows, x);
}

/* How a vector beside the picture is made of the one that is nearest to it, or with `wrap` of that
 * at the other end: the bytes of its words, as __byte_perm() takes them. */
template <typename In>
__device__ void find_selectors(GfBorder border, bool right, Words<In> &selectors)
{
#pragma unroll
    for (uint32_t &selector : selectors)
        selector = 0;
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        const int last = VECTOR - 1;
        const int part = border == GF_BORDER_REPLICATE ? (right ? last : 0)
                         : border == GF_BORDER_REFLECT ? last - i
                         : border == GF_BORDER_REFLECT101
                             ? (right ? max(last - 1 - i, 0) : min(VECTOR - i, last))
                             : i;
#pragma unroll
        for (int b = 0; b < static_cast<int>(sizeof(In)); b++) {
            const int at = i * static_cast<int>(sizeof(In)) + b;
            selectors[at / 4] |= static_cast<uint32_t>(part * static_cast<int>(sizeof(In)) + b)
                                 << at % 4 * 4;
        }
    }
}

/* In vectors of integers or halves, by the border's rule. */
template <typename In, int K>
__device__ void load_by_words(const Geometry &g, int found, int column, GfWindow<K> &x)
{
    constexpr int WORDS = gf_special::WORDS<In, VECTOR>;
    const Plane &plane = g.plane;
    const int last = plane.width - VECTOR, own = min(column, last);
    const bool wrap = plane.border == GF_BORDER_WRAP, fixed = plane.border == GF_BORDER_CONSTANT;
    int columns[3];
    bool missing[3];
    Words<In> selectors[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const int c = own + (i - 1) * VECTOR;
        const bool left = c < 0, beside = left || c > last;
        columns[i] = !beside ? c : left != wrap ? 0 : last;
        missing[i] = beside && fixed;
        find_selectors<In>(beside ? plane.border : GF_BORDER_WRAP, !left, selectors[i]);
    }
    Vectors<In, K> rows;
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
        const In *row = row_at<In>(plane, max(__shfl_sync(~0u, found, r), 0));
#pragma unroll
        for (int i = 0; i < 3; i++)
            gf_load_in_order(row + columns[i], rows[r][i]);
    }
    const unsigned above = __ballot_sync(~0u, found < 0);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++)
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const bool constant = missing[i] || above >> r & 1;
            uint32_t words[2] = {rows[r][i][0], rows[r][i][WORDS - 1]};
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                const uint32_t word =
                    i == 1 ? words[w] : __byte_perm(words[0], words[1], selectors[i][w]);
                rows[r][i][w] = constant ? g.border_word : word;
            }
        }
    take_window<In, K>(rows, x);
}

/* One by one, by the border's rule. Bytes that do not lie on the picture are read as well, from
 * somewhere else: with a choice their addresses take more registers than there are. */
template <typename In, int K>
__device__ void load_with_border(const Plane &plane, int found, int first, GfWindow<K> &x)
{
    constexpr bool ANY = sizeof(In) == 1;
    int columns[COLUMNS<K>];
    find_columns<K>(plane, find_beside<K>(plane), first, columns);
#pragma unroll
    for (int r = 0; r < GF_WINDOW_ROWS<K>; r++) {
        const int slot = __shfl_sync(~0u, found, r);
        const In *row = gf_seen(row_at<In>(plane, max(slot, 0)));
#pragma unroll
        for (int i = 0; i < COLUMNS<K>; i++) {
            const bool exists = slot >= 0 && columns[i] >= 0;
            const float v = ANY || exists ? gf_number<float>(__ldg(row + max(columns[i], 0)))
                                          : plane.border_value;
            x[r][i] = exists ? v : plane.border_value;
        }
    }
}

/* The inputs of the tile that begins with `column`, in the strip's rows. */
template <typename In, int K, Rows ROWS>
__device__ void load_window(const Geometry &g, const Strip &strip, int column, GfWindow<K> &x)
{
    constexpr bool REAL = std::is_same_v<In, float>, BY_THREE = !REAL || (K != 1 && K != 7);
    constexpr bool ALIGNED = ROWS == Rows::VECTORS;
    constexpr int BESIDE = K == 1 ? 0 : VECTOR;
    const Plane &plane = g.plane;
    const int slots = find_slots<K, GF_TILE>(plane, strip), first = column - K / 2;
    if (slots >= 0 && strip.first >= BESIDE && strip.first + STRIP + BESIDE <= plane.width) {
        const In *row = row_at<In>(plane, slots);
        if constexpr (!ALIGNED)
            load_samples<In, K>(plane, row + first, x);
        else if constexpr (BY_THREE)
            load_inside<In, K>(plane, row + column, x);
        else
            load_own<K>(plane, row + column, x);
        return;
    }
    const int found = find_slot<K>(plane, strip, my_lane());
    if constexpr (ALIGNED && BY_THREE && REAL) {
        if (plane.border == GF_BORDER_CONSTANT) {
            load_with_constant<K>(plane, found, column, x);
            return;
        }
    } else if constexpr (ALIGNED && !REAL) {
        if (g.by_words) {
            load_by_words<In, K>(g, found, column, x);
            return;
        }
    }
    load_with_border<In, K>(plane, found, first, x);
}

/* Stores a tile's first `rows` rows, in vectors. */
template <typename Out>
__device__ void store_vectors(const GfOutRows &out, unsigned char *to, int rows,
                              const float (&v)[GF_TILE_OUTPUTS])
{
#pragma unroll
    for (int r = 0; r < GF_TILE; r++, to += out.stride)
        if (r < rows)
            gf_store_samples<GF_TILE, true>(reinterpret_cast<Out *>(to), 1, GF_TILE, true,
                                            v + r * GF_TILE);
}

/* Where the rows of a strip are woven. */
using Sheet = GfWeave[GF_TILE / 2];

/* Stores a map's rows in whole sectors, the strip's first at `to`. INSIDE: there is a strip before
 * this one, and another behind. */
template <bool INSIDE>
__device__ void store_sectors(const Geometry &g, const Strip &strip, unsigned char *to,
                              const float (&v)[GF_TILE_OUTPUTS], Sheet &sheet)
{
    const int lane = my_lane(), columns = min(g.out_width - strip.first, STRIP);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < GF_TILE; r++)
        sheet[r / 2][r % 2][lane] =
            make_float4(v[r * GF_TILE], v[r * GF_TILE + 1], v[r * GF_TILE + 2], v[r * GF_TILE + 3]);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < GF_TILE; r++, to += g.out.stride)
        if (r < strip.rows)
            gf_store_sectors<STRIP, INSIDE>(reinterpret_cast<float *>(to),
                                            reinterpret_cast<const float *>(sheet[r / 2][r % 2]),
                                            columns, strip.first == 0, columns < STRIP);
}

/* ---- the kernel ---- */

/* Stores a map's tiles of a strip, that of its first lane at `to`. */
template <typename Out, Rows ROWS>
__device__ void store_map_as(const Geometry &g, const Strip &strip, unsigned char *to,
                             const float (&v)[GF_TILE_OUTPUTS], Sheet &sheet)
{
    const int lane = my_lane(), column = strip.first + lane * VECTOR;
    if constexpr (ROWS == Rows::VECTORS)
        store_vectors<Out>(g.out, to + lane * VECTOR * sizeof(Out),
                           column < g.out_width ? strip.rows : 0, v);
    else if constexpr (ROWS == Rows::ANYWHERE)
        gf_store_woven<Out>(g, to, strip.rows, strip.first, 0, v, sheet[0]);
    else if (strip.first > 0 && strip.first + STRIP <= g.out_width)
        store_sectors<true>(g, strip, to, v, sheet);
    else
        store_sectors<false>(g, strip, to, v, sheet);
}

template <typename In, Rows ROWS>
__device__ void store_map(const Geometry &g, const Strip &strip, unsigned char *to,
                          const float (&v)[GF_TILE_OUTPUTS], Sheet &sheet)
{
    if (std::is_same_v<In, float> || g.finish.out == GF_F32)
        store_map_as<float, ROWS>(g, strip, to, v, sheet);
    else if (g.finish.out == GF_U8)
        store_map_as<uint8_t, ROWS>(g, strip, to, v, sheet);
    else
        store_map_as<uint16_t, ROWS>(g, strip, to, v, sheet);
}

/* All maps of a strip's tiles, those of map 0 at `to`. BARE: a sum is what is stored. A loop
 * without branches is up to 8 % faster with many taps, and slower with few. */
template <typename In, int K, Rows ROWS, bool BARE>
__device__ void make_maps(const Maps<K> &s, const Strip &strip, const GfWindow<K> &x,
                          unsigned char *to, Sheet &sheet)
{
    const Geometry &g = s.g;
    for (int f = 0; f < g.filters; f++, to += g.plane_bytes) {
        float v[GF_TILE_OUTPUTS];
        gf_sum_tile<K, true>(g, s.numbers[f], x, v);
        if (!BARE)
            gf_finish_sums<K, false>(g, s.numbers[f], v);
        store_map<In, ROWS>(g, strip, to, v, sheet);
    }
}

/* The only map that two kernels make, of what they respond together. */
template <typename In, int K, Rows ROWS>
__device__ void make_joined(const Maps<K> &s, const Strip &strip, const GfWindow<K> &x,
                            unsigned char *to, Sheet &sheet)
{
    float v[GF_TILE_OUTPUTS];
    gf_respond_jointly(s, x, v);
    store_map<In, ROWS>(s.g, strip, to, v, sheet);
}

/* JOINED: there are two kernels. */
template <typename In, int K, Rows ROWS, bool JOINED>
__global__ void __launch_bounds__(32 * DOWN, (BLOCKS<In, K, ROWS>))
    special_maps(const __grid_constant__ Maps<K> s)
{
    __shared__ Sheet sheets[DOWN];
    const Geometry &g = s.g;
    const int warp = gf_warp(), first = static_cast<int>(blockIdx.x) * APART<ROWS>;
    const size_t down = (static_cast<size_t>(blockIdx.y) * DOWN + warp) * GF_TILE;
    if (down >= g.plane.rows)
        return;
    const int rows = static_cast<int>(min(g.plane.rows - down, static_cast<size_t>(GF_TILE)));
    const Strip strip = {g.plane.y0 + down, rows, first};
    gf_wait_for_stream();
    unsigned char *to = static_cast<unsigned char *>(g.out.samples) + blockIdx.z * g.out.batch +
                        down * g.out.stride + static_cast<size_t>(first) * g.pixel_bytes;
    GfWindow<K> x;
    load_window<In, K, ROWS>(g, strip, first + my_lane() * VECTOR, x);
    if constexpr (JOINED)
        make_joined<In, K, ROWS>(s, strip, x, to, sheets[warp]);
    else if (K <= 3 || g.scaled || g.rectified || g.absolute)
        make_maps<In, K, ROWS, false>(s, strip, x, to, sheets[warp]);
    else
        make_maps<In, K, ROWS, true>(s, strip, x, to, sheets[warp]);
}

/* ---- the launcher ---- */

/* Can what is beside the picture be made of vectors of its samples? Nine taps reach beyond a vector
 * where the picture is mirrored without its first sample. */
template <typename In, int K> bool goes_by_words(const GfStep *step, uint32_t *constant)
{
    return find_constant<In>(step, constant) &&
           (K / 2 < VECTOR || step->border != GF_BORDER_REFLECT101);
}

template <typename In, int K, Rows ROWS, bool JOINED>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    Geometry geometry = {};
    static_cast<GfLayer &>(geometry) = gf_layer(launch);
    geometry.plane = plane_of(launch);
    geometry.by_words = goes_by_words<In, K>(launch->step, &geometry.border_word);
    return gf_run_filters<K>(launch, Maps<K>{geometry, {}}, [&](const Maps<K> &s) {
        const size_t across = gf_divide_up<size_t>(launch->step->in_width, APART<ROWS>);
        const size_t down = gf_divide_up<size_t>(s.g.plane.rows, GF_TILE * DOWN);
        const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down),
                        static_cast<unsigned>(launch->count));
        const auto kernel = special_maps<In, K, ROWS, JOINED>;
        return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * DOWN}), stream, s);
    });
}

/* Are rows that are read and written whole vectors, and begin where those do? */
bool is_aligned(const GfLaunch *launch)
{
    return launch->step->in_width % VECTOR == 0 &&
           gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch,
                      VECTOR * gf_sample_size(launch->step->in)) &&
           gf_rows_aligned(launch->out, launch->step->out, VECTOR);
}

template <typename In, int K> cudaError_t run_type(const GfLaunch *launch, cudaStream_t stream)
{
    if constexpr (K == 3 || K == 5)
        if (launch->step->combine.op != GF_COMBINE_NONE)
            return is_aligned(launch) ? run<In, K, Rows::VECTORS, true>(launch, stream)
                                      : run<In, K, Rows::ANYWHERE, true>(launch, stream);
    if (is_aligned(launch))
        return run<In, K, Rows::VECTORS, false>(launch, stream);
    if constexpr (std::is_same_v<In, float> && K <= 5)
        if (launch->step->linear.filters >= LEAST_SECTORS<K>)
            return run<In, K, Rows::SECTORS, false>(launch, stream);
    return run<In, K, Rows::ANYWHERE, false>(launch, stream);
}

template <int K> cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    return gf_with_sample<float>(launch->step->in, [&](auto sample) {
        return run_type<decltype(sample), K>(launch, stream);
    });
}

} // namespace

/* Of all launches of a step or of none, since how rows are aligned is the same for all its bands:
 * other forms may add an offset elsewhere. */
extern "C" bool gf_special_is_maps(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    return gf_special_takes_maps(step) && launch->tiling == 0 && !launch->pool &&
           launch->in.pixel == 1 && launch->out.pixel == 1 && step->in_width <= MOST_COLUMNS &&
           step->out_height <= MOST_BLOCKS * GF_TILE * DOWN &&
           gf_special_maps_pay(step, is_aligned(launch));
}

extern "C" cudaError_t gf_launch_special_maps(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->linear.width) {
    case 1:
        return run_type<float, 1>(launch, stream);
    case 3:
        return run_side<3>(launch, stream);
    case 5:
        return run_side<5>(launch, stream);
    case 7:
        return run_side<7>(launch, stream);
    case 9:
        return run_side<9>(launch, stream);
    }
    return cudaErrorNotSupported;
}
