/* Method `special` for one kernel of 3 x 3 or 5 x 5 on a channel of 16 bits, or of 5 x 5 on halves,
 * whose rows are whole vectors. (Of pictures that are not large: special_maps.cu.)
 *
 * A warp owns a short strip, as in special_short.cu: 8 output rows of 256 samples. It begins to
 * read all rows that the strip needs before it uses the first. A lane owns 8 neighbouring samples,
 * a vector of 16 bytes, and reads the pair on each side of it as well: L1 has them, and that takes
 * fewer instructions than neighbours who hand them over. The last strip of a row overlaps the one
 * before rather than be less than whole.
 *
 * A pair beside the picture is made of the two words at that end of the row, by the border's rule,
 * or read from the row's other end.
 *
 * Costs for a sample: (8 + K - 1) / 8 reads, those of other strips' rows from L2 or L1 as a rule,
 * one write; K * K multiply-adds and some 7 operations. */
#include "gpu/device.cuh"

using namespace gf_short;

namespace
{

/* What may be tuned: output rows of a strip; strips of a block, one below the other; blocks of a
 * multiprocessor. */
constexpr int ROWS = 8, WARPS = 4;
template <int K> constexpr int BLOCKS = K == 3 ? 5 : 4;

constexpr int WORDS = 4, PAIR = 2, SAMPLES = WORDS * PAIR; /* of a lane */
constexpr int WIDE = 32 * SAMPLES;                         /* samples of a strip */
template <int K> constexpr int COUNT = ROWS + K - 1;       /* input rows of a strip */

constexpr size_t MOST_BLOCKS = 65535;                  /* what grid.y holds */
constexpr size_t MOST_COLUMNS = (1u << 31) - 2 * WIDE; /* so that int holds them all */

template <int K> struct Pairs : Plane {
    GfOutRows out;
    Ending ending;
    uint32_t constant; /* a pair of the constant border */
    float taps[K * K];
};

/* ---- reading ---- */

/* Rows as a lane reads them: its own vector, and a pair on each side. */
template <int K> struct Rows {
    uint32_t own[COUNT<K>][WORDS], left[COUNT<K>][1], right[COUNT<K>][1];
};

/* Where a lane finds the pairs beside its vector; how those beside the picture are made. */
struct Sides {
    int left, right; /* columns */
    bool make_left, make_right;
    uint32_t take_left, take_right; /* bytes of two words, as __byte_perm() takes them */
};

__device__ Sides find_sides(const Plane &plane, int column)
{
    const bool wrap = plane.border == GF_BORDER_WRAP;
    const bool at_left = column == 0, at_right = column + SAMPLES == plane.width;
    Sides sides;
    sides.left = !at_left ? column - PAIR : wrap ? plane.width - PAIR : 0;
    sides.right = !at_right ? column + SAMPLES : wrap ? 0 : plane.width - PAIR;
    sides.make_left = at_left && !wrap;
    sides.make_right = at_right && !wrap;
    switch (plane.border) {
    case GF_BORDER_REPLICATE:
        sides.take_left = 0x1010;
        sides.take_right = 0x7676;
        break;
    case GF_BORDER_REFLECT:
        sides.take_left = 0x1032;
        sides.take_right = 0x5476;
        break;
    default:
        sides.take_left = sides.take_right = 0x3254;
    }
    return sides;
}

template <typename In, int K>
__device__ void read_row(const In *row, int column, const Sides &sides, int r, Rows<K> &rows)
{
    gf_load_in_order(row + column, rows.own[r]);
    gf_load_in_order(row + sides.left, rows.left[r]);
    gf_load_in_order(row + sides.right, rows.right[r]);
}

template <typename In, int K>
__device__ void read_rows(const Pairs<K> &s, const Strip &strip, int column, const Sides &sides,
                          Rows<K> &rows)
{
    const int slots = find_slots<K, ROWS>(s, strip);
    unsigned missing = 0;
    if (slots >= 0) {
        const In *row = row_at<In>(s, slots);
        const size_t stride = s.in.stride / sizeof(In);
#pragma unroll
        for (int r = 0; r < COUNT<K>; r++)
            read_row<In, K>(row + r * stride, column, sides, r, rows);
    } else {
        const int found = find_slot<K>(s, strip, my_lane());
        missing = __ballot_sync(~0u, found < 0);
#pragma unroll
        for (int r = 0; r < COUNT<K>; r++)
            read_row<In, K>(row_at<In>(s, max(__shfl_sync(~0u, found, r), 0)), column, sides, r,
                            rows);
    }
    __syncwarp(); /* what was read is not used before this */
    if (missing != 0)
#pragma unroll
        for (int r = 0; r < COUNT<K>; r++)
            if (missing >> r & 1) {
#pragma unroll
                for (uint32_t &word : rows.own[r])
                    word = s.constant;
                rows.left[r][0] = rows.right[r][0] = s.constant;
            }
}

/* ---- sums ---- */

/* The samples that a lane's sums need of row r. */
template <typename In, int K>
__device__ void widen(const Pairs<K> &s, const Sides &sides, const Rows<K> &rows, int r,
                      float (&x)[SAMPLES + K - 1])
{
    constexpr int SIDE = K / 2;
    const uint32_t(&own)[WORDS] = rows.own[r];
    const bool fixed = s.border == GF_BORDER_CONSTANT;
    uint32_t left = __byte_perm(own[0], own[1], sides.take_left);
    uint32_t right = __byte_perm(own[WORDS - 2], own[WORDS - 1], sides.take_right);
    left = !sides.make_left ? rows.left[r][0] : fixed ? s.constant : left;
    right = !sides.make_right ? rows.right[r][0] : fixed ? s.constant : right;
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        x[i] = gf_special::number_of<In>(left, static_cast<unsigned>(PAIR - SIDE + i));
        x[SIDE + SAMPLES + i] = gf_special::number_of<In>(right, static_cast<unsigned>(i));
    }
#pragma unroll
    for (int i = 0; i < SAMPLES; i++)
        x[SIDE + i] = gf_special::number_of<In>(own[i / PAIR], static_cast<unsigned>(i % PAIR));
}

/* ---- storing ---- */

/* A lane's samples, if they are wanted: last strips store what others store, too. */
template <typename Out>
__device__ void store(unsigned char *to, bool wanted, const float (&v)[SAMPLES])
{
    constexpr int IN_PIECE = 16 / sizeof(Out);
#pragma unroll
    for (int p = 0; p < SAMPLES; p += IN_PIECE) {
        uint32_t word[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            if constexpr (sizeof(Out) == 2)
                word[i] = gf_round_pair(v[p + 2 * i], v[p + 2 * i + 1]);
            else
                word[i] = __float_as_uint(v[p + i]);
        gf_stream_if<16>(wanted, to + p * sizeof(Out), word);
    }
}

template <typename In, typename Out, int K>
__global__ void __launch_bounds__(32 * WARPS, BLOCKS<K>)
    special_pairs(const __grid_constant__ Pairs<K> s)
{
    const int first = min(static_cast<int>(blockIdx.x) * WIDE, s.width - WIDE);
    const int column = first + my_lane() * SAMPLES;
    const size_t down = (static_cast<size_t>(blockIdx.y) * WARPS + gf_warp()) * ROWS;
    if (down >= s.rows)
        return;
    gf_wait_for_stream();
    const int count = static_cast<int>(min(s.rows - down, static_cast<size_t>(ROWS)));
    const Sides sides = find_sides(s, column);
    Rows<K> rows;
    read_rows<In, K>(s, {s.y0 + down, count, first}, column, sides, rows);
    unsigned char *to = static_cast<unsigned char *>(s.out.samples) + blockIdx.z * s.out.batch +
                        down * s.out.stride + static_cast<size_t>(column) * sizeof(Out);
    float sums[K][SAMPLES] = {};
#pragma unroll
    for (int r = 0; r < COUNT<K>; r++) {
        float x[SAMPLES + K - 1], done[SAMPLES];
        widen<In, K>(s, sides, rows, r, x);
        add_row<K>(
            s.taps, [&](int i, int k) { return x[i + k]; }, sums, done);
        if (r < K - 1)
            continue;
        end_sums(s.ending, done);
        store<Out>(to, r - (K - 1) < count, done);
        to += s.out.stride;
    }
}

/* ---- the launcher ---- */

template <typename In, typename Out, int K>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Pairs<K> s = {};
    static_cast<Plane &>(s) = plane_of(launch);
    s.out = launch->out;
    s.ending = ending_of(step);
    if (!find_constant<In>(step, &s.constant))
        return cudaErrorNotSupported;
    for (int i = 0; i < K * K; i++)
        s.taps[i] = static_cast<const float *>(launch->weights_host)[i];
    const dim3 grid(static_cast<unsigned>(gf_divide_up<size_t>(step->in_width, WIDE)),
                    static_cast<unsigned>(gf_divide_up<size_t>(s.rows, ROWS * WARPS)),
                    static_cast<unsigned>(launch->count));
    const auto kernel = special_pairs<In, Out, K>;
    return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * WARPS}), stream, s);
}

} // namespace

/* Of all launches of a step or of none: other forms may add an offset elsewhere. */
extern "C" bool gf_special_is_pairs(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    uint32_t constant;
    return gf_special_takes_pairs(step) && launch->tiling == 0 && !launch->pool &&
           (step->in == GF_U16 ? find_constant<uint16_t>(step, &constant)
                               : find_constant<__half>(step, &constant)) &&
           launch->in.pixel == 1 && launch->out.pixel == 1 && step->in_width <= MOST_COLUMNS &&
           step->out_height <= MOST_BLOCKS * ROWS * WARPS &&
           gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch, sizeof(uint4)) &&
           gf_aligned(launch->out.samples, launch->out.stride, launch->out.batch, sizeof(uint4));
}

extern "C" cudaError_t gf_launch_special_pairs(const GfLaunch *launch, cudaStream_t stream)
{
    if (launch->step->in != GF_U16)
        return run<__half, float, 5>(launch, stream);
    return launch->step->linear.width == 3 ? run<uint16_t, uint16_t, 3>(launch, stream)
                                           : run<uint16_t, uint16_t, 5>(launch, stream);
}
