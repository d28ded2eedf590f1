/* Method `special` for one kernel of up to 7 x 7 on a channel of floats, where the memory's speed
 * is all that counts. (Of few pixels and taps: special_maps.cu.)
 *
 * A warp owns a short strip: 8 output rows of 128 samples. It begins to read all rows that the
 * strip needs before it uses the first, so that few warps have as much on its way as memory can
 * take, and neighbours read the rows that they share while those are in L2. Strips of dozens of
 * rows, which special.cu walks down, read each row less often, but drift apart, and got 3.5 TB/s on
 * an H200 where these get 4.1 (bench/results/2026-11-22-h200.md).
 *
 * A lane owns four neighbouring samples, a vector of 16 bytes. It gets its neighbours' by shuffles;
 * those beside the strip, which the lanes at its ends need, are read by all lanes: each a vector,
 * the first half of the lanes on the left of a row each, the second half on the right.
 *
 * From the rows to the samples there is no branch, so that instructions of different rows fill each
 * other's gaps. Rows and columns beside the picture are found by the border's rule once, a lane one
 * of them, and strips that have such differ in how they read alone.
 *
 * Costs for a sample: (8 + K - 1) / 8 reads, those of other strips' rows from L2 or L1 as a rule,
 * one write; K * K multiply-adds and some 6 operations.
 *
 * With 7 x 7 taps those take longer than memory does. Where a picture has strips enough for all
 * blocks that run at a time and more, a block of four warps has strips of 16 rows, one after the
 * other, and reads the next while it computes (bench/results/2026-11-23-h200-3.md). The rows meet
 * in shared memory: a warp reads every fourth, and makes four output rows of them; the windows of a
 * lane's samples are three vectors in a row. (16 + K - 1) / 16 reads.
 *
 * Where rows begin anywhere, as those of maps do whose width is no multiple of four, no vectors can
 * be read or written. A warp copies all samples that its strip needs to shared memory, one by one;
 * samples of a lane are 32 columns apart, so that neighbours read and store neighbours. What it
 * stores are lines of memory: lanes hand on what belongs to the line of another. */
#include "gpu/device.cuh"

using namespace gf_short;

namespace
{

/* What may be tuned. */
constexpr int ROWS = 8;                               /* of a strip */
constexpr int ACROSS = 4;                             /* strips of a block, side by side, */
template <int K> constexpr int DOWN = K == 5 ? 2 : 1; /* and below each other */
template <int K>
constexpr int BLOCKS = (K == 7 ? 5 : 6) / DOWN<K>; /* of a multiprocessor, at least */

template <int K> constexpr int COUNT = ROWS + K - 1; /* input rows of a strip */
static_assert(2 * COUNT<GF_SPECIAL_SIDE> <= 32);     /* vectors beside it, a lane each */

/* The same of blocks that read ahead: warps, rows of a warp, blocks of a multiprocessor; and strips
 * for ten blocks from which on they are taken. */
constexpr int WARPS = 4, EACH = 4, TALL = WARPS * EACH, AT_ONCE = 5;
constexpr size_t MANY = 17;
template <int K> constexpr int WINDOW = TALL + K - 1;                   /* input rows of a strip, */
template <int K> constexpr int READS = (WINDOW<K> + WARPS - 1) / WARPS; /* and of a warp at most */
static_assert(WINDOW<GF_SPECIAL_SIDE> <= 32 && 2 * READS<GF_SPECIAL_SIDE> <= 32); /* a lane each */

constexpr size_t MOST_BLOCKS = 65535;                            /* what grid.y holds */
constexpr size_t MOST_COLUMNS = (1u << 31) - 4 * STRIP * ACROSS; /* so that int holds them all */

/* ---- what a launch is told ---- */

template <int K> struct Short : Plane {
    GfOutRows out;
    bool vector_out; /* vectors are aligned where samples go */
    Ending ending;
    float taps[K * K];
    unsigned across,
        down; /* reading ahead: strips of a picture, side by side and below each other; */
    unsigned step_x, step_y; /* from a block's strip to its next */
    bool plain;              /* a sum is what is stored */
};

/* ---- reading ---- */

/* A strip's rows as a lane reads them, and the vector beside the strip that it reads. */
template <int K> struct Rows {
    float4 own[COUNT<K>], side;
};

/* All that lies on the picture, its rows one after the other in memory from `row` on. */
template <int K>
__device__ void read_own(const Short<K> &s, const float *row, int first, Rows<K> &rows)
{
    const size_t stride = s.in.stride / sizeof(float);
#pragma unroll
    for (int r = 0; r < COUNT<K>; r++)
        rows.own[r] = gf_load_in_order(row + first + r * stride);
}

/* N rows of any strip, every STEP-th from `from` on: lane r has found the slot of row r. Vectors
 * that begin on the picture and end beside it are read sample by sample, and then all. */
template <int K, int N, int STEP>
__device__ void read_any(const Short<K> &s, int from, int found, int first, float4 (&own)[N])
{
    const bool reached = first < s.width + K / 2;
    const auto row = [&](int i) {
        return row_at(s, max(__shfl_sync(~0u, found, from + i * STEP), 0));
    };
    if (__all_sync(~0u, first <= s.width - VECTOR || !reached)) {
#pragma unroll
        for (int i = 0; i < N; i++)
            own[i] = gf_load_in_order(row(i) + (reached ? first : 0));
    } else {
        int columns[VECTOR];
        find_columns<K>(s, find_beside<K>(s), first, columns);
#pragma unroll
        for (int i = 0; i < N; i++)
            own[i] = gather(row(i), columns, s.border_value);
    }
    const unsigned missing = __ballot_sync(~0u, found < 0);
    const float b = s.border_value;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (missing >> (from + i * STEP) & 1)
            own[i] = make_float4(b, b, b, b);
}

/* The vector beside a strip in the row whose slot this lane has found. */
template <int K> __device__ float4 read_side(const Short<K> &s, int found, int first)
{
    int columns[VECTOR];
    find_columns<K>(s, find_beside<K>(s), first, columns);
    for (int &column : columns)
        column = found < 0 ? -1 : column;
    return gather(row_at(s, max(found, 0)), columns, s.border_value);
}

template <int K> __device__ void read_rows(const Short<K> &s, const Strip &strip, Rows<K> &rows)
{
    const int lane = my_lane(), first = strip.first + lane * VECTOR;
    const int side = strip.first + (lane < COUNT<K> ? -VECTOR : STRIP);
    const int slots = find_slots<K, ROWS>(s, strip), r = lane % COUNT<K>;
    if (slots >= 0 && strip.first > 0 && strip.first + STRIP + VECTOR <= s.width) {
        if (K > 1)
            rows.side = gf_load_in_order(row_at(s, slots + r) + side);
        read_own(s, row_at(s, slots), first, rows);
    } else {
        const int found = slots >= 0 ? slots + r : find_slot<K>(s, strip, r);
        if (slots >= 0 && strip.first + STRIP <= s.width)
            read_own(s, row_at(s, slots), first, rows);
        else
            read_any<K, COUNT<K>, 1>(s, 0, found, first, rows.own);
        if (K > 1)
            rows.side = read_side(s, found, side);
    }
    __syncwarp(); /* what was read is not used before this */
}

/* ---- sums ---- */

/* What lanes at the strip's ends need of the vector that this lane read beside it. */
template <int K> __device__ void take_edge(const float4 &side, float (&edge)[K / 2 + 1])
{
    constexpr int SIDE = K / 2;
    const float v[VECTOR] = {side.x, side.y, side.z, side.w};
#pragma unroll
    for (int i = 0; i < SIDE; i++)
        edge[i] = my_lane() < COUNT<K> ? v[VECTOR - SIDE + i] : v[i];
}

/* The samples that a lane's sums need of row r. */
template <int K>
__device__ void widen(const float4 &own, const float (&edge)[K / 2 + 1], int r,
                      float (&x)[VECTOR + K - 1])
{
    constexpr int SIDE = K / 2;
    const int lane = my_lane();
    const float v[VECTOR] = {own.x, own.y, own.z, own.w};
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        x[SIDE + i] = v[i];
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
        const float beyond = __shfl_sync(~0u, edge[i], lane < 16 ? r : COUNT<K> + r);
        const float left = __shfl_up_sync(~0u, v[VECTOR - SIDE + i], 1);
        const float right = __shfl_down_sync(~0u, v[i], 1);
        x[i] = lane == 0 ? beyond : left;
        x[SIDE + VECTOR + i] = lane == 31 ? beyond : right;
    }
}

/* ---- storing ---- */

/* Stores the first `left` of four samples, together or one by one. */
template <typename Out>
__device__ void store(unsigned char *to, bool together, int left, const float (&v)[VECTOR])
{
    constexpr int BYTES = sizeof(Out), IN_WORD = 4 / BYTES;
    uint32_t word[4] = {};
    if constexpr (BYTES == 1)
        word[0] = gf_round_bytes(v[0], v[1], v[2], v[3]);
    else if constexpr (BYTES == 2)
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            word[i / 2] |= static_cast<uint32_t>(gf_convert<Out>(v[i])) << i % 2 * 16;
    else
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            word[i] = __float_as_uint(v[i]);
    together = together && left >= VECTOR;
    gf_stream_if<VECTOR * BYTES>(together, to, word);
#pragma unroll
    for (int i = 0; i < VECTOR; i++) {
        const uint32_t one[4] = {word[i / IN_WORD] >> i % IN_WORD * 8 * BYTES % 32};
        gf_stream_if<BYTES>(!together && i < left, to + i * BYTES, one);
    }
}

/* ---- strips of a warp ---- */

/* A block has ACROSS strips side by side, DOWN below each other. */
template <typename Out, int K>
__global__ void __launch_bounds__(32 * ACROSS * DOWN<K>, BLOCKS<K>)
    special_short(const __grid_constant__ Short<K> s)
{
    const int warp = gf_warp();
    const int first = (static_cast<int>(blockIdx.x) * ACROSS + warp % ACROSS) * STRIP;
    const size_t down = (static_cast<size_t>(blockIdx.y) * DOWN<K> + warp / ACROSS) * ROWS;
    if (first >= s.width || down >= s.rows)
        return;
    gf_wait_for_stream();
    const int count = static_cast<int>(min(s.rows - down, static_cast<size_t>(ROWS)));
    Rows<K> rows;
    read_rows(s, {s.y0 + down, count, first}, rows);
    const int column = first + my_lane() * VECTOR, left = s.width - column;
    unsigned char *to = static_cast<unsigned char *>(s.out.samples) + blockIdx.z * s.out.batch +
                        down * s.out.stride + static_cast<size_t>(column) * sizeof(Out);
    float sums[K][VECTOR] = {}, edge[K / 2 + 1];
    take_edge<K>(rows.side, edge);
#pragma unroll
    for (int r = 0; r < COUNT<K>; r++) {
        float x[VECTOR + K - 1], done[VECTOR];
        widen<K>(rows.own[r], edge, r, x);
        add_row<K>(
            s.taps, [&](int i, int k) { return x[i + k]; }, sums, done);
        if (r < K - 1)
            continue;
        end_sums(s.ending, done);
        store<Out>(to, s.vector_out, r - (K - 1) < count ? left : 0, done);
        to += s.out.stride;
    }
}

/* ---- strips of a block, read ahead ---- */

/* A warp's rows as a lane reads them, and the vector beside the strip that it reads: the first
 * READS lanes left of a row each, the next right. */
template <int K> struct Share {
    float4 own[READS<K>], side;
};

/* The i-th row that a warp reads; is it one of the strip's, not beyond them? */
__device__ int row_of(int warp, int i)
{
    return warp + i * WARPS;
}

template <int K> __device__ bool has_row(int warp, int i)
{
    return WINDOW<K> % WARPS == 0 || i + 1 < READS<K> || row_of(warp, i) < WINDOW<K>;
}

/* All that lies on the picture, the strip's rows one after the other in memory from `slots` on. */
template <int K>
__device__ void read_own(const Short<K> &s, int warp, int slots, int first, Share<K> &share)
{
    const float *from = row_at(s, slots + row_of(warp, 0)) + first;
    const size_t down = s.in.stride / sizeof(float) * WARPS;
#pragma unroll
    for (int i = 0; i < READS<K>; i++)
        if (has_row<K>(warp, i))
            share.own[i] = gf_load_in_order(from + i * down);
}

template <int K>
__device__ void read_share(const Short<K> &s, int warp, const Strip &strip, Share<K> &share)
{
    const int lane = my_lane(), first = strip.first + lane * VECTOR;
    const int side = strip.first + (lane < READS<K> ? -VECTOR : STRIP);
    const int r =
        min(row_of(warp, lane % READS<K>), WINDOW<K> - 1); /* whose side this lane reads */
    const int slots = find_slots<K, TALL>(s, strip);
    if (slots >= 0 && strip.first > 0 && strip.first + STRIP + VECTOR <= s.width) {
        share.side = gf_load_in_order(row_at(s, slots + r) + side);
        read_own(s, warp, slots, first, share);
    } else {
        const int found = find_slot<K>(s, strip, lane);
        if (slots >= 0 && strip.first + STRIP <= s.width)
            read_own(s, warp, slots, first, share);
        else
            read_any<K, READS<K>, WARPS>(s, warp, found, first, share.own);
        share.side = read_side(s, __shfl_sync(~0u, found, r), side);
    }
    __syncwarp(); /* what was read is not used before this */
}

/* A strip's rows, and a vector on each side of them. */
constexpr int WIDE = 1 + 32 + 1;
template <int K> using Window = float4[WINDOW<K>][WIDE];

/* A warp puts what it has read in its place. */
template <int K> __device__ void place(int warp, const Share<K> &share, Window<K> &window)
{
    const int lane = my_lane(), r = row_of(warp, lane % READS<K>);
#pragma unroll
    for (int i = 0; i < READS<K>; i++)
        if (has_row<K>(warp, i))
            window[row_of(warp, i)][1 + lane] = share.own[i];
    if (lane < 2 * READS<K> && r < WINDOW<K>)
        window[r][lane < READS<K> ? 0 : WIDE - 1] = share.side;
}

/* The sums of a lane's samples in its warp's rows, each in the order of its taps. */
template <int K>
__device__ void add_up(const Short<K> &s, int warp, const Window<K> &window,
                       float (&sums)[EACH][VECTOR])
{
    const float4 *own = &window[warp * EACH][my_lane()]; /* left of the lane's first sample */
#pragma unroll
    for (int r = 0; r < EACH + K - 1; r++) {
        float x[3 * VECTOR];
#pragma unroll
        for (int v = 0; v < 3; v++)
            *reinterpret_cast<float4 *>(x + v * VECTOR) = own[r * WIDE + v];
#pragma unroll
        for (int j = 0; j < EACH; j++)
#pragma unroll
            for (int i = 0; r >= j && r - j < K && i < VECTOR; i++)
#pragma unroll
                for (int k = 0; k < K; k++)
                    sums[j][i] =
                        fmaf(s.taps[(r - j) * K + k], x[VECTOR - K / 2 + i + k], sums[j][i]);
    }
}

/* From the sums to the samples of a warp's rows. */
template <typename Out, int K>
__device__ void finish(const Short<K> &s, int warp, const Strip &strip, float (&sums)[EACH][VECTOR])
{
    const size_t top = strip.top - s.y0 + warp * EACH;
    const int count = strip.rows - warp * EACH, column = strip.first + my_lane() * VECTOR;
    unsigned char *to = static_cast<unsigned char *>(s.out.samples) + blockIdx.z * s.out.batch +
                        top * s.out.stride + static_cast<size_t>(column) * sizeof(Out);
    const auto row = [&](int j) { return reinterpret_cast<Out *>(to + j * s.out.stride); };
    if (!s.plain)
#pragma unroll
        for (int j = 0; j < EACH; j++)
            end_sums(s.ending, sums[j]);
    if (s.vector_out && strip.rows == TALL && strip.first + STRIP <= s.width) {
#pragma unroll
        for (int j = 0; j < EACH; j++)
            gf_store_samples<VECTOR, true>(row(j), 1, VECTOR, true, sums[j]);
        return;
    }
    const int left = s.width - column;
#pragma unroll
    for (int j = 0; j < EACH; j++)
        if (j < count)
            gf_store_samples<VECTOR, true>(row(j), 1, left, s.vector_out && left >= VECTOR,
                                           sums[j]);
}

template <int K> __device__ Strip strip_at(const Short<K> &s, unsigned x, unsigned y)
{
    const size_t down = static_cast<size_t>(y) * TALL;
    return {s.y0 + down, static_cast<int>(min(s.rows - down, static_cast<size_t>(TALL))),
            static_cast<int>(x) * STRIP};
}

/* Each block has every gridDim.x-th strip. */
template <typename Out, int K>
__global__ void __launch_bounds__(32 * WARPS, AT_ONCE)
    special_ahead(const __grid_constant__ Short<K> s)
{
    __shared__ Window<K> windows[2];
    const int warp = gf_warp();
    unsigned x = blockIdx.x % s.across, y = blockIdx.x / s.across, turn = 0;
    Strip next = strip_at(s, x, y);
    gf_wait_for_stream();
    Share<K> share;
    read_share(s, warp, next, share);
    bool more;
    do {
        const Strip strip = next;
        float sums[EACH][VECTOR] = {};
        Window<K> &window = windows[turn];
        place(warp, share, window);
        __syncthreads();
        turn ^= 1; /* no warp is two strips behind another */
        x += s.step_x;
        y += s.step_y + (x >= s.across);
        x -= x >= s.across ? s.across : 0;
        more = y < s.down;
        next = strip_at(s, x, y);
        if (more)
            read_share(s, warp, next, share);
        add_up(s, warp, window, sums);
        finish<Out>(s, warp, strip, sums);
    } while (more);
}

/* ---- rows that begin anywhere ---- */

/* Columns of the picture that a strip needs, and room for them. With many taps a lane reads vectors
 * of its window, and its columns are neighbours until they are stored. */
template <int K> constexpr bool BESIDE = K >= 5;
template <int K> constexpr int NEEDED = STRIP + K - 1;
template <int K> constexpr int PITCH = BESIDE<K> ? STRIP + 2 * VECTOR : NEEDED<K>;
template <int K> using Samples = float[COUNT<K>][PITCH<K>];

/* Begins to copy a strip's rows. */
template <int K> __device__ void copy_rows(const Short<K> &s, const Strip &strip, Samples<K> &to)
{
    constexpr int COPIES = (NEEDED<K> + 31) / 32; /* of a lane, of a row */
    const int lane = my_lane(), first = strip.first - K / 2;
    const int slots = find_slots<K, ROWS>(s, strip);
    const auto each = [&](auto copy) {
#pragma unroll
        for (int i = 0; i < COPIES; i++)
            if (NEEDED<K> % 32 == 0 || i + 1 < COPIES || i * 32 + lane < NEEDED<K>)
                copy(i, i * 32 + lane);
    };
    if (slots >= 0 && first >= 0 && first + NEEDED<K> <= s.width) {
        const float *row = row_at(s, slots) + first;
#pragma unroll
        for (int r = 0; r < COUNT<K>; r++, row += s.in.stride / sizeof(float))
            each([&](int, int c) { __pipeline_memcpy_async(&to[r][c], row + c, sizeof(float)); });
        return;
    }
    const int found = find_slot<K>(s, strip, lane);
    int columns[COPIES];
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
        const int c = first + i * 32 + lane;
        columns[i] =
            c < s.width + K / 2 ? static_cast<int>(gf_border_index(c, s.width, s.border)) : -1;
    }
#pragma unroll 1
    for (int r = 0; r < COUNT<K>; r++) {
        const int slot = __shfl_sync(~0u, found, r);
        const float *row = row_at(s, max(slot, 0));
        each([&](int i, int c) {
            if (slot >= 0 && columns[i] >= 0)
                __pipeline_memcpy_async(&to[r][c], row + columns[i], sizeof(float));
            else
                to[r][c] = s.border_value;
        });
    }
}

/* The windows of a lane's samples in a row. */
template <int K> __device__ void read_windows(const float *row, float (&x)[VECTOR][K])
{
    const int lane = my_lane();
    if constexpr (BESIDE<K>) {
        float all[3 * VECTOR];
#pragma unroll
        for (int v = 0; v < 3; v++)
            *reinterpret_cast<float4 *>(all + v * VECTOR) =
                reinterpret_cast<const float4 *>(row)[lane + v];
#pragma unroll
        for (int i = 0; i < VECTOR * K; i++)
            x[i / K][i % K] = all[i / K + i % K];
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR * K; i++)
            x[i / K][i % K] = row[i / K * 32 + lane + i % K];
    }
}

/* Samples side by side become such 32 apart, by way of a row that nobody needs any more. */
__device__ void part(float *row, float (&v)[VECTOR])
{
    const int lane = my_lane();
    __syncwarp();
    reinterpret_cast<float4 *>(row)[lane] = make_float4(v[0], v[1], v[2], v[3]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        v[i] = row[i * 32 + lane];
}

/* Stores a row of a strip, of which `left` samples are on the picture. */
__device__ void store_lines(float *to, int left, const float (&v)[VECTOR])
{
    const int lane = my_lane();
    const int before = static_cast<int>(reinterpret_cast<uintptr_t>(to) / sizeof *to % 32);
    float last = 0.0f;
#pragma unroll
    for (int line = 0; line <= VECTOR; line++) {
        const int column = line * 32 + lane - before;
        const float next =
            line < VECTOR ? __shfl_sync(~0u, v[line % VECTOR], lane - before & 31) : 0.0f;
        if (column >= 0 && column < min(left, STRIP))
            to[column] = lane < before ? last : next;
        last = next;
    }
}

template <int K>
__global__ void __launch_bounds__(32 * ACROSS, 6)
    special_anywhere(const __grid_constant__ Short<K> s)
{
    __shared__ Samples<K> samples[ACROSS];
    const int warp = gf_warp(), lane = my_lane();
    const int first = (static_cast<int>(blockIdx.x) * ACROSS + warp) * STRIP;
    const size_t down = static_cast<size_t>(blockIdx.y) * ROWS;
    if (first >= s.width)
        return;
    gf_wait_for_stream();
    const int count = static_cast<int>(min(s.rows - down, static_cast<size_t>(ROWS)));
    copy_rows(s, {s.y0 + down, count, first}, samples[warp]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    unsigned char *to = static_cast<unsigned char *>(s.out.samples) + blockIdx.z * s.out.batch +
                        down * s.out.stride + static_cast<size_t>(first) * sizeof(float);
    float sums[K][VECTOR] = {};
#pragma unroll
    for (int r = 0; r < COUNT<K>; r++) {
        float x[VECTOR][K], done[VECTOR];
        read_windows<K>(samples[warp][r], x);
        add_row<K>(
            s.taps, [&](int i, int k) { return x[i][k]; }, sums, done);
        if (r < K - 1 || r - (K - 1) >= count)
            continue;
        end_sums(s.ending, done);
        if (BESIDE<K>)
            part(samples[warp][r], done);
        store_lines(reinterpret_cast<float *>(to), s.width - first, done);
        to += s.out.stride;
    }
}

/* ---- the launcher ---- */

template <typename Out, int K> Short<K> describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    Short<K> s = {};
    static_cast<Plane &>(s) = plane_of(launch);
    s.out = launch->out;
    s.vector_out = gf_aligned(s.out.samples, s.out.stride, s.out.batch, VECTOR * sizeof(Out));
    s.ending = ending_of(step);
    s.plain = s.ending.scale == 1.0f && s.ending.offset == 0.0f && step->posts == 0;
    for (int i = 0; i < K * K; i++)
        s.taps[i] = static_cast<const float *>(launch->weights_host)[i];
    s.across = static_cast<unsigned>(gf_divide_up<size_t>(step->in_width, STRIP));
    s.down = static_cast<unsigned>(gf_divide_up<size_t>(s.rows, TALL));
    return s;
}

/* Blocks that read ahead, as many as run at a time; 0 where each would have few strips. */
template <typename Kernel> unsigned count_ahead(Kernel kernel, size_t strips)
{
    int each = 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, 32 * WARPS, 0) != cudaSuccess)
        return 0;
    const size_t blocks = static_cast<size_t>(each) * gf_multiprocessors();
    return strips * 10 >= MANY * blocks ? static_cast<unsigned>(blocks) : 0;
}

/* Do rows begin where vectors do? */
bool is_aligned(const GfLaunch *launch)
{
    return gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch,
                      VECTOR * sizeof(float));
}

template <typename Out, int K> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    Short<K> s = describe<Out, K>(launch);
    const unsigned pictures = static_cast<unsigned>(launch->count);
    if constexpr (std::is_same_v<Out, float>)
        if (!is_aligned(launch) || !s.vector_out) {
            const dim3 grid(gf_divide_up(s.across, static_cast<unsigned>(ACROSS)),
                            static_cast<unsigned>(gf_divide_up<size_t>(s.rows, ROWS)), pictures);
            const auto kernel = special_anywhere<K>;
            return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * ACROSS, 0}), stream, s);
        }
    if constexpr (K == GF_SPECIAL_SIDE) {
        const auto kernel = special_ahead<Out, K>;
        const unsigned blocks = count_ahead(kernel, static_cast<size_t>(s.across) * s.down);
        if (blocks > 0) {
            s.step_x = blocks % s.across;
            s.step_y = blocks / s.across;
            return gf_launch_early(kernel, {dim3(blocks, 1, pictures), 32 * WARPS}, stream, s);
        }
    }
    const dim3 grid(gf_divide_up(s.across, static_cast<unsigned>(ACROSS)),
                    static_cast<unsigned>(gf_divide_up<size_t>(s.rows, ROWS * DOWN<K>)), pictures);
    const auto kernel = special_short<Out, K>;
    return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * ACROSS * DOWN<K>, 0}), stream, s);
}

template <typename Out> cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->linear.width) {
    case 1:
        return run<Out, 1>(launch, stream);
    case 3:
        return run<Out, 3>(launch, stream);
    case 5:
        return run<Out, 5>(launch, stream);
    case 7:
        return run<Out, 7>(launch, stream);
    }
    return cudaErrorNotSupported;
}

} // namespace

/* Of all launches of a step or of none: special.cu may add an offset elsewhere. */
extern "C" bool gf_special_is_short(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    return step->in == GF_F32 && step->channels == 1 && step->post_channels == 1 &&
           linear->filters == 1 && linear->depth <= 1 && linear->width == linear->height &&
           linear->width % 2 != 0 && linear->width <= GF_SPECIAL_SIDE &&
           gf_step_ends_plainly(step) && gf_step_is_dense(step) && launch->tiling == 0 &&
           !launch->pool && launch->in.pixel == 1 && launch->out.pixel == 1 &&
           step->in_width == step->out_width && step->in_width >= VECTOR &&
           step->in_width <= MOST_COLUMNS &&
           step->origin_x == -static_cast<long long>(linear->width / 2) &&
           (step->out == GF_F32 || is_aligned(launch)) && step->out_height <= MOST_BLOCKS * ROWS;
}

extern "C" cudaError_t gf_launch_special_short(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->out) {
    case GF_U8:
        return run_side<uint8_t>(launch, stream);
    case GF_U16:
        return run_side<uint16_t>(launch, stream);
    case GF_F32:
        return run_side<float>(launch, stream);
    default:
        return cudaErrorNotSupported;
    }
}
