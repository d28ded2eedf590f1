/* Method `special` for 3 x 3 taps on bytes that become bytes: one kernel on gray, or the lengths of
 * gradients on gray and RGB, where the memory's speed is nearly all that counts.
 *
 * A warp owns a short strip, as in special_short.cu: 6 or 7 output rows of 512 samples. It begins
 * to read all rows that the strip needs before it uses the first. A lane owns 16 neighbouring
 * samples, a vector of 16 bytes. It also reads what is beside its vector, of gray a sample on each
 * side, of colours a word: L1 has them, and that takes fewer instructions than neighbours who hand
 * them over. The last strip of a row or a column overlaps the one before rather than be less than
 * whole. Gray pictures that are narrower have strips for fewer lanes, and a warp several of them.
 * (What was slower: bench/results/2026-11-24-h200.md and 2026-11-24-h200-2.md.)
 *
 * A byte with a zero behind it is an f16: byte times 2^-24. So two bytes become a pair of halves by
 * one instruction, and floats by one more each. One kernel's sums are made of floats.
 *
 * Lengths are those of gradients whose kernels are differences, smoothed by 1, m, 1 in the other
 * direction: sobel's and prewitt's. Halves hold integers up to 2048 exactly, in steps of 2^-24, and
 * no response is larger: differences, smoothed samples and both responses are made in pairs of
 * halves, and f32 squares them.
 *
 * Most strips lie on the picture, their rows one after the other in memory. Whole strips at its
 * sides read the samples that the border's rule puts there: of gray a lane its own, of colours each
 * lane one, to be handed over through shared memory. Those at its top and bottom find each row.
 * Strips that are not whole differ more in how they are read: samples that lie in no whole vector
 * of a row, and those beside the picture, 32 at most, are read one by one, each by a lane, and
 * handed over. Ways of reading meet before the sums begin: where they do not, the compiler moves
 * reads down between the sums.
 *
 * No loop goes down the rows, and to a launch all code is new: that of 8 rows is more than caches
 * of instructions hold, and takes longer to come to them than to be run.
 *
 * Costs for a sample: (6 + 2) / 6 reads, those of other strips' rows from L2 or L1 as a rule, one
 * write; 9 multiply-adds and some 4 operations, or for a length some 13. */
#include "gpu/device.cuh"

namespace
{

constexpr int WORDS = 4, VECTOR = WORDS * 4; /* of a lane; samples */
constexpr int STRIP = 32 * VECTOR;           /* samples */
constexpr int SIDE = 3;                      /* taps */
constexpr int REACH = 4; /* bytes beside a strip that are read; channels are no more */
constexpr int ODD = 32;  /* samples of a row that are read one by one, at most */
constexpr float UNIT = 1.0f / (1 << 24); /* of halves */
constexpr int RGB = 3;                   /* channels */
constexpr size_t MOST_BLOCKS = 65535;    /* what grid.y holds */

/* ---- what a launch is told ---- */

/* In 32 bits wherever that is enough: all that a warp does waits for what it computes before its
 * first read. */
struct Bytes {
    const uint8_t *in;
    uint8_t *out;
    size_t in_batch, out_batch; /* bytes from picture to picture */
    unsigned in_stride, out_stride;
    int rows; /* output rows; numbers of rows count from the launch's first */
    int top;  /* input row of the first tap for row 0, */
    int slot; /* and its slot in memory, less than twice `capacity` */
    int capacity;
    unsigned from;  /* a strip that begins there, or up to */
    unsigned most;  /* so many rows below, has all its rows on the picture */
    int last_top;   /* where the last strip of a column begins: strips overlap, and are whole */
    int last_first; /* where that of a row does */
    int samples;    /* of a row */
    int left;       /* of gray: what stands beside a row, the sample before its first */
    int right;      /* and that after its last, or -1: the constant */
    int width, height;
    bool vector_out; /* vectors are aligned where samples go */
    GfBorder border;
    uint32_t border_word;
    float taps[SIDE * SIDE]; /* in units of UNIT */
    float start;             /* of a sum */
    float scale, offset;     /* of a sum, or scale of a length */
    __half2 middle;          /* m, twice */
};

/* What becomes of a sum: a sample as it is, or scaled, or scaled and its size; and of two a
 * length. */
enum Ending { BARE, SCALED, SIZE, LENGTH };

/* What may be tuned: output rows of a strip; strips of a block, one below the other; blocks of a
 * multiprocessor. (bench/results/2026-11-26-h200-5.md) */
template <Ending ENDING> constexpr int ROWS = ENDING == LENGTH ? 7 : 6;
template <Ending ENDING> constexpr int BLOCKS = ENDING == LENGTH ? 5 : 6;
constexpr int WARPS = 4;

/* Where a warp works. Input row 0 is that of the first tap for its first output row. */
struct Strip {
    int top, rows; /* its first output row; how many it has */
    int first;     /* its first sample */
};

/* Of the LANES that have a strip. */
template <int LANES = 32> __device__ int my_lane()
{
    return static_cast<int>(threadIdx.x % LANES);
}

/* ---- reading ---- */

/* Input rows of a strip of N. */
template <int N> constexpr int COUNT = N + SIDE - 1;

/* Those as a lane reads them, and what is beside its vectors: of gray a sample, of colours a
 * word. */
template <int N> struct Rows {
    uint4 own[COUNT<N>];
    uint32_t left[COUNT<N>], right[COUNT<N>];
};

/* Samples of each row that lanes read one by one: from `last_vector()` on, and at the end those
 * left of the picture. */
template <int N> struct alignas(16) Odd {
    uint8_t samples[COUNT<N>][ODD];
};

__device__ int last_vector(const Bytes &s)
{
    return s.samples / VECTOR * VECTOR;
}

__device__ const uint8_t *row_at(const Bytes &s, int slot)
{
    return s.in + static_cast<size_t>(static_cast<unsigned>(slot)) * s.in_stride +
           blockIdx.z * s.in_batch;
}

__device__ int around(const Bytes &s, int slot)
{
    return slot - (slot >= s.capacity ? s.capacity : 0);
}

/* The slot in memory of a strip's input row r by the border's rule; -1 where the constant stands,
 * or where no output row meets it. */
__device__ int find_slot(const Bytes &s, const Strip &strip, int r)
{
    if (r >= strip.rows + SIDE - 1)
        return -1;
    const int y = s.top + strip.top + r;
    const int found = static_cast<int>(gf_border_index(y, s.height, s.border));
    return found < 0 ? -1 : around(s, s.slot + (found - s.top));
}

/* The slot of a strip's first input row, if all lie on the picture and one after the other in
 * memory; else -1. */
template <int N> __device__ int find_slots(const Bytes &s, const Strip &strip)
{
    const int slot = around(s, s.slot + strip.top);
    const bool inside = static_cast<unsigned>(strip.top) - s.from <= s.most;
    return inside && slot + COUNT<N> <= s.capacity ? slot : -1;
}

__device__ uint4 load_vector(const uint8_t *from)
{
    return __ldg(reinterpret_cast<const uint4 *>(from));
}

__device__ uint32_t load_word(const uint8_t *from)
{
    return __ldg(reinterpret_cast<const uint32_t *>(from));
}

/* The sample that stands for one beside the picture, or is it; -1: the constant, or nothing that is
 * needed. */
template <int C> __device__ int find_sample(const Bytes &s, int sample)
{
    if (sample < -C || sample >= s.samples + C)
        return -1;
    const int pixel = (sample - (sample < 0 ? C - 1 : 0)) / C; /* rounded down */
    const long long x = gf_border_index(pixel, s.width, s.border);
    return x < 0 ? -1 : static_cast<int>(x) * C + (sample - pixel * C);
}

template <int C> __device__ uint32_t load_beside(const uint8_t *from)
{
    return C == 1 ? __ldg(from) : load_word(from);
}

/* Rows one after the other in memory, from where a lane's vector is in the first of them, and what
 * is beside it. */
template <int C, int N>
__device__ void read_in_line(const uint8_t *own, const uint8_t *left, const uint8_t *right,
                             unsigned stride, Rows<N> &rows)
{
#pragma unroll
    for (int r = 0; r < COUNT<N>; r++, own += stride, left += stride, right += stride) {
        rows.own[r] = load_vector(own);
        rows.left[r] = load_beside<C>(left);
        rows.right[r] = load_beside<C>(right);
    }
}

/* Of colours: a strip at the picture's side has a pixel beside it in each of its rows. Lanes read a
 * sample each. */
template <int C, int N> __device__ void read_pixels(const Bytes &s, const Strip &strip, Odd<N> &odd)
{
    const int lane = my_lane(), r = lane / C, channel = lane % C;
    const bool is_left = strip.first == 0;
    const int pixel = is_left ? s.left : s.right;
    if (r >= COUNT<N>)
        return;
    const int slot = find_slot(s, strip, r);
    const bool here = slot >= 0 && pixel >= 0;
    odd.samples[r][channel + (is_left ? REACH - C : 0)] =
        here ? __ldg(row_at(s, slot) + pixel * C + channel) : static_cast<uint8_t>(s.border_word);
}

/* Puts those pixels beside the vector that is at the side. */
template <int N>
__device__ void take_pixels(const Bytes &s, int own, const Odd<N> &odd, Rows<N> &rows)
{
    __syncwarp();
#pragma unroll
    for (int r = 0; r < COUNT<N>; r++) {
        const uint32_t word = *reinterpret_cast<const uint32_t *>(odd.samples[r]);
        if (own == 0)
            rows.left[r] = word;
        if (own + VECTOR == s.samples)
            rows.right[r] = word;
    }
}

/* A strip with all its vectors on the picture. */
template <int C, int LANES, int N>
__device__ void read_whole(const Bytes &s, const Strip &strip, Odd<N> &odd, Rows<N> &rows)
{
    constexpr int before = C == 1 ? 1 : REACH;
    const int lane = my_lane<LANES>(), own = strip.first + lane * VECTOR;
    const int end = strip.first + LANES * VECTOR, slots = find_slots<N>(s, strip);
    const bool in_line = LANES == 32 ? slots >= 0 : __all_sync(~0u, slots >= 0);
    const bool at_side = strip.first == 0 || end == s.samples;
    if (in_line && !at_side) {
        const uint8_t *row = row_at(s, slots) + own;
        read_in_line<C>(row, row - before, row + VECTOR, s.in_stride, rows);
        return;
    }
    if (C > 1 && at_side)
        read_pixels<C>(s, strip, odd);
    const int left = own == 0 ? C == 1 ? s.left : 0 : own - before;
    const int right = own + VECTOR == s.samples ? C == 1 ? s.right : own : own + VECTOR;
    if (in_line && (C > 1 || s.left >= 0)) {
        const uint8_t *row = row_at(s, slots);
        read_in_line<C>(row + own, row + left, row + right, s.in_stride, rows);
    } else {
        int found[(COUNT<N> + LANES - 1) / LANES];
#pragma unroll
        for (int i = 0; i * LANES < COUNT<N>; i++)
            found[i] = find_slot(s, strip, i * LANES + lane);
        const uint32_t word = s.border_word, beside = C == 1 ? word & 0xff : word;
#pragma unroll
        for (int r = 0; r < COUNT<N>; r++) {
            const int slot = __shfl_sync(~0u, found[r / LANES], r % LANES, LANES);
            const uint8_t *row = row_at(s, max(slot, 0));
            const bool here = slot >= 0;
            rows.own[r] = here ? load_vector(row + own) : make_uint4(word, word, word, word);
            rows.left[r] = here && left >= 0 ? load_beside<C>(row + left) : beside;
            rows.right[r] = here && right >= 0 ? load_beside<C>(row + right) : beside;
        }
    }
    if (C > 1 && at_side)
        take_pixels(s, own, odd, rows);
}

/* Any strip. */
template <int C, int N>
__device__ void read_any(const Bytes &s, const Strip &strip, Odd<N> &odd, Rows<N> &rows)
{
    const int lane = my_lane(), found = find_slot(s, strip, lane), from = last_vector(s);
    const int own = strip.first + lane * VECTOR;
    const int side = lane == 0 ? strip.first - REACH : strip.first + STRIP;
    const bool own_here = own + VECTOR <= s.samples;
    const bool side_here = side >= 0 && side + REACH <= s.samples && (lane == 0 || lane == 31);
    const int single = find_sample<C>(s, lane < ODD - REACH ? from + lane : lane - ODD);
    const unsigned missing = __ballot_sync(~0u, found < 0);
    uint32_t singles[COUNT<N>], sides[COUNT<N>];
#pragma unroll
    for (int r = 0; r < COUNT<N>; r++) {
        const uint8_t *row = row_at(s, max(__shfl_sync(~0u, found, r), 0));
        rows.own[r] = own_here ? load_vector(row + own) : make_uint4(0, 0, 0, 0);
        sides[r] = side_here ? load_word(row + side) : 0;
        singles[r] = single < 0 ? s.border_word & 0xff : __ldg(row + single);
    }
#pragma unroll
    for (int r = 0; r < COUNT<N>; r++)
        odd.samples[r][lane] = static_cast<uint8_t>(singles[r]);
    __syncwarp();
    const int own_place = own - from, side_place = side < 0 ? ODD - REACH : side - from;
#pragma unroll
    for (int r = 0; r < COUNT<N>; r++) {
        const uint32_t b = s.border_word;
        if (!own_here && own_place < ODD)
            rows.own[r] = *reinterpret_cast<const uint4 *>(odd.samples[r] + own_place);
        uint32_t side_word = side_here ? sides[r] : 0;
        if (!side_here && side_place >= 0 && side_place < ODD)
            side_word = *reinterpret_cast<const uint32_t *>(odd.samples[r] + side_place);
        if (missing >> r & 1) {
            rows.own[r] = make_uint4(b, b, b, b);
            side_word = b;
        }
        const uint32_t left = __shfl_up_sync(~0u, rows.own[r].w, 1);
        const uint32_t right = __shfl_down_sync(~0u, rows.own[r].x, 1);
        rows.left[r] = (lane == 0 ? side_word : left) >> (C == 1 ? 24 : 0);
        rows.right[r] = (lane == 31 ? side_word : right) & (C == 1 ? 0xff : ~0u);
    }
}

/* ---- from bytes to numbers ---- */

/* Samples of a row as halves: bytes 0 and 2 of each word, and 1 and 3. Words 1 to 4 are a lane's
 * own; of gray a sample alone stands for those beside them, each in a first half: the last of word
 * 0, the first of word 5. */
struct Halves {
    uint32_t even[WORDS + 2], odd[WORDS + 2];
};

__device__ uint32_t even_bytes(uint32_t word)
{
    return word & 0x00ff00ff;
}

__device__ uint32_t odd_bytes(uint32_t word)
{
    return __byte_perm(word, 0, 0x4341);
}

template <int C, int N> __device__ Halves find_halves(const Rows<N> &rows, int r)
{
    const uint4 own = rows.own[r];
    const uint32_t word[WORDS + 2] = {rows.left[r], own.x, own.y, own.z, own.w, rows.right[r]};
    Halves halves;
#pragma unroll
    for (int w = 0; w < WORDS + 2; w++) {
        const bool sample = C == 1 && (w == 0 || w == WORDS + 1);
        halves.even[w] = sample ? word[w] : even_bytes(word[w]);
        halves.odd[w] = sample ? word[w] : odd_bytes(word[w]);
    }
    return halves;
}

__device__ __half2 as_halves(uint32_t bits)
{
    return *reinterpret_cast<const __half2 *>(&bits);
}

/* ---- sums of one kernel ---- */

/* Adds a row to the sums under way, in the order of the taps: sums[j] have seen j rows. Those that
 * see their last one come out in `done`. */
template <int C>
__device__ void add_row(const Bytes &s, const Halves &halves, float (&sums)[SIDE][VECTOR],
                        float (&done)[VECTOR])
{
    float x[(WORDS + 2) * 4];
#pragma unroll
    for (int w = 0; w < WORDS + 2; w++) {
        const float2 even = __half22float2(as_halves(halves.even[w]));
        const float2 odd = __half22float2(as_halves(halves.odd[w]));
        x[w * 4] = even.x;
        x[w * 4 + 1] = odd.x;
        x[w * 4 + 2] = even.y;
        x[w * 4 + 3] = C == 1 && w == 0 ? odd.x : odd.y;
    }
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
#pragma unroll
        for (int j = SIDE - 1; j >= 0; j--) {
            float sum = j ? sums[j][i] : s.start;
#pragma unroll
            for (int k = 0; k < SIDE; k++)
                sum = fmaf(s.taps[j * SIDE + k], x[4 + i + (k - SIDE / 2) * C], sum);
            (j == SIDE - 1 ? done[i] : sums[j + 1][i]) = sum;
        }
}

template <Ending ENDING> __device__ void finish(const Bytes &s, float (&v)[VECTOR])
{
#pragma unroll
    for (float &sum : v) {
        if (ENDING != BARE)
            sum = fmaf(sum, s.scale, s.offset);
        if (ENDING == SIZE)
            sum = fabsf(sum);
    }
}

/* ---- lengths of gradients ---- */

/* Of a row: differences and smoothed samples, in the order of pairs: bytes 0 and 2 of a word, then
 * 1 and 3. */
struct Slopes {
    __half2 across[VECTOR / 2], smooth[VECTOR / 2];
};

/* The pair of samples i and i + 2 of a row. */
template <int C> __device__ __half2 pair_at(const Halves &halves, int i)
{
    const uint32_t(&of)[WORDS + 2] = i % 2 ? halves.odd : halves.even;
    const unsigned pick = C == 1 && i / 4 == 0 ? 0x5410 : 0x5432;
    return as_halves(i % 4 < 2 ? of[i / 4] : __byte_perm(of[i / 4], of[i / 4 + 1], pick));
}

template <int C> __device__ void find_slopes(const Bytes &s, const Halves &halves, Slopes &slopes)
{
#pragma unroll
    for (int p = 0; p < VECTOR / 2; p++) {
        const int i = 4 + p / 2 * 4 + p % 2;
        const __half2 left = pair_at<C>(halves, i - C), right = pair_at<C>(halves, i + C);
        slopes.across[p] = __hsub2(right, left);
        slopes.smooth[p] = gf_multiply_add(pair_at<C>(halves, i), s.middle, __hadd2(left, right));
    }
}

/* The lengths in the middle one of three rows. */
__device__ void find_lengths(const Bytes &s, const Slopes (&rows)[SIDE], float (&v)[VECTOR])
{
#pragma unroll
    for (int p = 0; p < VECTOR / 2; p++) {
        const __half2 ends = __hadd2(rows[0].across[p], rows[2].across[p]);
        const float2 x = __half22float2(gf_multiply_add(rows[1].across[p], s.middle, ends));
        const float2 y = __half22float2(__hsub2(rows[2].smooth[p], rows[0].smooth[p]));
        const int i = p / 2 * 4 + p % 2;
        v[i] = gf_root(fmaf(x.x, x.x, y.x * y.x)) * s.scale;
        v[i + 2] = gf_root(fmaf(x.y, x.y, y.y * y.y)) * s.scale;
    }
}

/* ---- storing ---- */

/* Stores the first `left` of a lane's samples. WHOLE: all, aligned. Strips that overlap store the
 * same. */
template <bool WHOLE>
__device__ void store(const Bytes &s, uint8_t *to, int left, const float (&v)[VECTOR])
{
    uint32_t word[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        word[w] = gf_round_bytes(v[w * 4], v[w * 4 + 1], v[w * 4 + 2], v[w * 4 + 3]);
    const uint4 vector = make_uint4(word[0], word[1], word[2], word[3]);
    if constexpr (WHOLE) {
        gf_store_same(to, vector);
    } else if (s.vector_out && left >= VECTOR) {
        gf_store_same(to, vector);
    } else {
#pragma unroll
        for (int i = 0; i < VECTOR; i++)
            if (i < left)
                gf_store_same(to + i, static_cast<uint8_t>(word[i / 4] >> i % 4 * 8));
    }
}

/* ---- the kernel ---- */

/* From a strip's rows to its samples. */
template <Ending ENDING, int C, int LANES, bool WHOLE>
__device__ void compute(const Bytes &s, const Strip &strip, const Rows<ROWS<ENDING>> &rows)
{
    const int sample = strip.first + my_lane<LANES>() * VECTOR;
    uint8_t *to = s.out + blockIdx.z * s.out_batch +
                  static_cast<size_t>(static_cast<unsigned>(strip.top)) * s.out_stride + sample;
    float sums[SIDE][VECTOR] = {};
    Slopes slopes[SIDE] = {};
#pragma unroll
    for (int r = 0; r < COUNT<ROWS<ENDING>>; r++, to += r < SIDE ? 0 : s.out_stride) {
        float v[VECTOR];
        const Halves halves = find_halves<C>(rows, r);
        if constexpr (ENDING == LENGTH) {
            slopes[0] = slopes[1];
            slopes[1] = slopes[2];
            find_slopes<C>(s, halves, slopes[2]);
        } else {
            add_row<C>(s, halves, sums, v);
        }
        if (r < SIDE - 1)
            continue;
        if constexpr (ENDING == LENGTH)
            find_lengths(s, slopes, v);
        else
            finish<ENDING>(s, v);
        store<WHOLE>(s, to, r - (SIDE - 1) < strip.rows ? s.samples - sample : 0, v);
    }
}

/* A strip is for LANES; of fewer than 32 a warp has several, one below the other, all of them
 * whole. */
template <Ending ENDING, int C, int LANES>
__global__ void __launch_bounds__(32 * WARPS, LANES == 32 ? BLOCKS<ENDING> : BLOCKS<ENDING> - 1)
    special_bytes(const __grid_constant__ Bytes s)
{
    constexpr int N = ROWS<ENDING>;
    constexpr int LENGTH_OF_STRIP = LANES * VECTOR, BELOW = 32 / LANES;
    __shared__ Odd<N> odd[LANES == 32 ? WARPS : 1];
    const int warp = gf_warp();
    const int top = (static_cast<int>(blockIdx.y) * WARPS + warp) * BELOW * N;
    if (top >= s.rows)
        return;
    gf_wait_for_stream();
    const int own_top = BELOW == 1 ? top : top + static_cast<int>(threadIdx.x) % 32 / LANES * N;
    const Strip strip = {min(own_top, s.last_top), min(s.rows, N),
                         min(static_cast<int>(blockIdx.x) * LENGTH_OF_STRIP, s.last_first)};
    const int end = strip.first + LENGTH_OF_STRIP;
    const bool sides_here = C == 1 || end == s.samples || end + REACH <= s.samples;
    Rows<N> rows;
    if (LANES < 32 || (s.rows >= N && end <= s.samples && sides_here && s.vector_out)) {
        read_whole<C, LANES>(s, strip, odd[LANES == 32 ? warp : 0], rows);
        __syncwarp(); /* no instruction, but the compiler's order is better with it */
        compute<ENDING, C, LANES, true>(s, strip, rows);
    } else {
        read_any<C>(s, strip, odd[warp], rows);
        compute<ENDING, C, LANES, false>(s, strip, rows);
    }
}

/* ---- the launcher ---- */

/* In strips of so many output rows. */
Bytes describe(const GfLaunch *launch, int strip_rows)
{
    const GfStep *step = launch->step;
    Bytes s = {};
    const long long top = static_cast<long long>(launch->y0) + step->origin_y;
    s.in = static_cast<const uint8_t *>(launch->in.samples);
    s.out = static_cast<uint8_t *>(launch->out.samples);
    s.in_batch = launch->in.batch;
    s.out_batch = launch->out.batch;
    s.in_stride = static_cast<unsigned>(launch->in.stride);
    s.out_stride = static_cast<unsigned>(launch->out.stride);
    s.slot = static_cast<int>(top - static_cast<long long>(launch->in.first));
    s.capacity = static_cast<int>(launch->in.capacity);
    s.top = static_cast<int>(top);
    s.rows = static_cast<int>(launch->y1 - launch->y0);
    const int from = s.top < 0 ? -s.top : 0;
    const int below = static_cast<int>(step->in_height) - (strip_rows + SIDE - 1) - s.top;
    const int last = below < s.rows - strip_rows ? below : s.rows - strip_rows;
    s.from = static_cast<unsigned>(last < from ? s.rows : from);
    s.most = static_cast<unsigned>(last < from ? 0 : last - from);
    s.samples = static_cast<int>(step->in_width * step->channels);
    s.width = static_cast<int>(step->in_width);
    s.height = static_cast<int>(step->in_height);
    s.last_top = s.rows > strip_rows ? s.rows - strip_rows : 0;
    s.left = static_cast<int>(gf_border_index(-1, s.width, step->border));
    s.right = static_cast<int>(gf_border_index(s.width, s.width, step->border));
    s.vector_out = gf_aligned(launch->out.samples, launch->out.stride, launch->out.batch, VECTOR);
    s.border = step->border;
    if (step->border == GF_BORDER_CONSTANT)
        s.border_word = static_cast<uint32_t>(step->border_value) * 0x01010101u;
    return s;
}

/* What is done to a sum is put into the taps where no rounding changes by it. */
Ending place_taps(const GfLaunch *launch, Bytes *s)
{
    const GfStep *step = launch->step;
    const double scale = step->linear.scale * step->gain;
    const double offset = step->linear.offset * step->gain + step->mid;
    const bool size = step->posts > 0;
    const bool in_taps = !size && gf_is_small_power(scale) && gf_is_small_power(step->gain) &&
                         gf_is_whole(step->linear.offset * step->gain) && gf_is_whole(offset);
    const float factor = (in_taps ? static_cast<float>(scale) : 1.0f) / UNIT;
    for (int i = 0; i < SIDE * SIDE; i++)
        s->taps[i] = static_cast<const float *>(launch->weights_host)[i] * factor;
    s->scale = static_cast<float>(scale);
    s->offset = static_cast<float>(offset);
    s->start = in_taps ? s->offset : 0.0f;
    return in_taps ? BARE : size ? SIZE : SCALED;
}

template <Ending ENDING, int C, int LANES>
cudaError_t run_strips(const GfLaunch *launch, Bytes s, cudaStream_t stream)
{
    constexpr int LENGTH_OF_STRIP = LANES * VECTOR;
    const auto kernel = special_bytes<ENDING, C, LANES>;
    const dim3 grid(static_cast<unsigned>(gf_divide_up(s.samples, LENGTH_OF_STRIP)),
                    static_cast<unsigned>(gf_divide_up(s.rows, ROWS<ENDING> * WARPS * 32 / LANES)),
                    static_cast<unsigned>(launch->count));
    s.last_first = s.samples % VECTOR == 0 && s.samples >= LENGTH_OF_STRIP
                       ? s.samples - LENGTH_OF_STRIP
                       : s.samples;
    return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * WARPS, 0}), stream, s);
}

/* Gray rows that are shorter than a strip, but of whole vectors, are for few lanes: the longest
 * strips of which all are whole. */
template <Ending ENDING, int C>
cudaError_t run(const GfLaunch *launch, const Bytes &s, cudaStream_t stream)
{
    const bool whole = s.vector_out && s.samples % VECTOR == 0 && s.rows >= ROWS<ENDING>;
    if constexpr (C == 1) {
        if (whole && s.samples < STRIP) {
            if (s.samples >= 16 * VECTOR)
                return run_strips<ENDING, C, 16>(launch, s, stream);
            if (s.samples >= 8 * VECTOR)
                return run_strips<ENDING, C, 8>(launch, s, stream);
            if (s.samples >= 4 * VECTOR)
                return run_strips<ENDING, C, 4>(launch, s, stream);
        }
    }
    return run_strips<ENDING, C, 32>(launch, s, stream);
}

cudaError_t run_sum(const GfLaunch *launch, Bytes *s, cudaStream_t stream)
{
    switch (place_taps(launch, s)) {
    case BARE:
        return run<BARE, 1>(launch, *s, stream);
    case SCALED:
        return run<SCALED, 1>(launch, *s, stream);
    case SIZE:
        return run<SIZE, 1>(launch, *s, stream);
    case LENGTH:
        break;
    }
    return cudaErrorNotSupported;
}

} // namespace

/* Of all launches of a step or of none. */
extern "C" bool gf_special_is_bytes(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    return gf_special_takes_bytes(step) && launch->tiling == 0 && !launch->pool &&
           (step->linear.filters > 1 || gf_have_taps_room(launch)) &&
           launch->in.pixel == step->channels && launch->out.pixel == step->channels &&
           gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch, VECTOR) &&
           launch->in.stride <= UINT32_MAX && launch->out.stride <= UINT32_MAX &&
           step->in_height <= MOST_BLOCKS * ROWS<BARE> * WARPS;
}

extern "C" cudaError_t gf_launch_special_bytes(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    GfGradient gradient;
    const bool single = step->linear.filters == 1;
    Bytes s = describe(launch, single ? ROWS<BARE> : ROWS<LENGTH>);
    if (single)
        return run_sum(launch, &s, stream);
    if (!gf_special_is_gradient(&step->linear, &gradient))
        return cudaErrorNotSupported;
    s.middle = __float2half2_rn(static_cast<float>(gradient.middle));
    s.scale = static_cast<float>(std::fabs(step->linear.scale) * gradient.unit * step->gain) / UNIT;
    return step->channels == 1 ? run<LENGTH, 1>(launch, s, stream)
                               : run<LENGTH, RGB>(launch, s, stream);
}
