/* How `special` (special.cu) reads a strip's rows: in vectors, whose words are exchanged between
 * the lanes of a warp. */
#pragma once

#include "gpu/finish.cuh"
#include "gpu/instructions.cuh"
#include "gpu/problem.cuh"
#include "gpu/samples.cuh"

namespace gf_special
{

/* ---- vectors of N samples ---- */

/* What moves in one access: 1, 2 or 4 words of 32 bits, or, to show what that costs, less than
 * one. */
template <int bytes> struct Access;
template <> struct Access<1> {
    using Type = uint8_t;
};
template <> struct Access<2> {
    using Type = uint16_t;
};
template <> struct Access<4> {
    using Type = uint32_t;
};
template <> struct Access<8> {
    using Type = uint2;
};
template <> struct Access<16> {
    using Type = uint4;
};

template <typename In, int N> using Vector = typename Access<N *static_cast<int>(sizeof(In))>::Type;
template <typename In, int N> constexpr int A_WORD = N * sizeof(In) < 4 ? N : 4 / sizeof(In);
template <typename In, int N> constexpr int WORDS = N / A_WORD<In, N>;

__device__ inline void split(uint32_t v, uint32_t *word)
{
    word[0] = v;
}

__device__ inline void split(uint2 v, uint32_t *word)
{
    word[0] = v.x;
    word[1] = v.y;
}

__device__ inline void split(uint4 v, uint32_t *word)
{
    word[0] = v.x;
    word[1] = v.y;
    word[2] = v.z;
    word[3] = v.w;
}

template <typename To> __device__ To join(const uint32_t *word)
{
    if constexpr (sizeof(To) <= 4)
        return static_cast<To>(word[0]);
    else if constexpr (sizeof(To) == 8)
        return make_uint2(word[0], word[1]);
    else
        return make_uint4(word[0], word[1], word[2], word[3]);
}

template <typename In> __device__ uint32_t bits(In sample)
{
    if constexpr (sizeof(In) == sizeof(float))
        return __float_as_uint(sample);
    else if constexpr (std::is_same_v<In, __half>)
        return __half_as_ushort(sample);
    else
        return sample;
}

/* The words of N samples that `sample(i)` gives. */
template <typename In, int N, typename Sample> __device__ void pack(uint32_t *word, Sample sample)
{
#pragma unroll
    for (int w = 0; w < WORDS<In, N>; w++)
        word[w] = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        word[i / A_WORD<In, N>] |= bits<In>(sample(i)) << i % A_WORD<In, N> * 8 * sizeof(In) % 32;
}

/* Sample i of a word. An integer below 2^16 in the low bits of 2^23 is a float: a byte permutation
 * and a subtraction, where a conversion would take four times as long. */
template <typename In> __device__ float number_of(uint32_t word, unsigned i)
{
    if constexpr (sizeof(In) == 4)
        return __uint_as_float(word);
    if constexpr (std::is_same_v<In, __half>)
        return __half2float(__ushort_as_half(static_cast<uint16_t>(word >> i % 2 * 16)));
    const unsigned selector = sizeof(In) == 1 ? 0x7440 + i : 0x7410 + 0x22 * i;
    return __uint_as_float(__byte_perm(word, 0x4B000000u, selector)) - 8388608.0f;
}

/* An f16 whose bits are those of a byte is that byte times 2^-24: bytes are unpacked two at a time,
 * and their taps are 2^24 times as large. */
template <typename In> constexpr float UNIT = sizeof(In) == 1 ? 1.0f / (1 << 24) : 1.0f;

/* Sample i of a word, in units of UNIT. */
template <typename In> __device__ float unpack(uint32_t word, unsigned i)
{
    if constexpr (sizeof(In) == 1)
        return number_of<__half>(__byte_perm(word, 0, i / 2 ? 0x4342 : 0x4140), i);
    else
        return number_of<In>(word, i);
}

/* ---- what a launch is told ---- */

/* What makes a sample of a sum. */
enum Ending {
    ENDING_POSTS,   /* all that GfFinish says */
    ENDING_SCALED,  /* scale and offset, which have all that follows in them */
    ENDING_IN_TAPS, /* nothing: sums begin with the offset, taps have the scale in them */
};

/* All but the taps: the same for every instance. */
struct Geometry {
    GfRows in;
    GfOutRows out;
    size_t y0;
    long long in_width, in_height;
    long long origin_y;      /* input row of the box's first row for output row 0 */
    int first_row, last_row; /* rows of the box that have taps: no others need to be there */
    int in_samples, out_samples;
    int shift; /* input sample of the box's centre for output sample 0 */
    GfWalks walks;
    int out_bytes; /* of a sample */
    int post_channels;
    bool keep_alpha;
    bool vector_in, vector_out; /* vectors are aligned in global memory */
    bool plain;                 /* both are, and there are no posts */
    bool bare;                  /* with one response: nothing is done to a sum */
    bool magnitude;             /* at the end, of colours or all; but for ENDING_POSTS */
    Ending ending;
    GfBorder border;
    float border_value;
    float scale[2], offset[2], start[2]; /* of both tap sets */
    float factor[2];                     /* that is in the taps */
    GfFinish<float> finish;
};

/* ---- reading ---- */

/* A row as a lane reads it: its own vector, and what it lends to the lanes at the other end of the
 * strip, which need SIDE samples beyond it. LENDERS lanes at each end lend vectors; where one is
 * enough, only as much of it as is needed. */
template <typename In, int C, int K, int N> struct Row {
    static constexpr int SIDE = C * (K / 2);
    static constexpr int SIDE_WORDS = (SIDE + A_WORD<In, N> - 1) / A_WORD<In, N>;
    static constexpr int LENDERS = (SIDE_WORDS + WORDS<In, N> - 1) / WORDS<In, N>;
    static constexpr int LENT_WORDS = LENDERS > 1      ? WORDS<In, N>
                                      : SIDE_WORDS > 4 ? 8
                                      : SIDE_WORDS > 2 ? 4
                                      : SIDE_WORDS > 1 ? 2
                                                       : 1;
    static constexpr int LENT = LENT_WORDS * A_WORD<In, N>; /* samples */
    static constexpr int REACH = LENDERS * LENT;            /* of a strip, on both sides */

    uint32_t own[WORDS<In, N>], lent[LENT_WORDS];
    In odd; /* sample that this lane reads for others */
};

/* Where a warp works. Row 0 is that of the first output's first tap. */
struct Strip {
    size_t top;               /* its first output row */
    int rows;                 /* output rows */
    int first;                /* output sample */
    int base;                 /* input sample at its left end */
    int begin, end;           /* rows that need to be there */
    const unsigned char *row; /* `begin`, where all of them follow it in memory; or NULL */
};

__device__ inline int my_lane()
{
    return static_cast<int>(threadIdx.x % 32);
}

/* The sample of the strip where that begins which this lane lends, and does it lend any? */
template <typename Row, int N> __device__ int lent_sample()
{
    const int lane = my_lane();
    return lane < 16 ? (32 + lane) * N : (lane - 32) * (Row::LENDERS > 1 ? N : Row::LENT);
}

template <typename Row> __device__ bool lends()
{
    return Row::LENDERS > 0 && (my_lane() < Row::LENDERS || my_lane() >= 32 - Row::LENDERS);
}

/* N samples, which are aligned. */
template <typename In, int N> __device__ void read(const void *from, uint32_t *word)
{
    constexpr int BYTES = N * sizeof(In), PIECE = BYTES < 16 ? BYTES : 16;
    const auto *pieces = static_cast<const typename Access<PIECE>::Type *>(from);
#pragma unroll
    for (int p = 0; p < BYTES / PIECE; p++)
        split(__ldg(pieces + p), word + p * 4);
}

/* The same, of shared memory. */
template <typename In, int N> __device__ void read_shared(const In *from, uint32_t *word)
{
    constexpr int BYTES = N * sizeof(In), PIECE = BYTES < 16 ? BYTES : 16;
    const auto *pieces = reinterpret_cast<const typename Access<PIECE>::Type *>(from);
#pragma unroll
    for (int p = 0; p < BYTES / PIECE; p++)
        split(pieces[p], word + p * 4);
}

/* Reads rows of strips where nothing is odd. Rows that only zero taps meet are some other row. */
template <typename In, int C, int K, int N> struct PlainReader {
    using R = Row<In, C, K, N>;
    const unsigned char *own;
    size_t stride;
    int away, begin;
    unsigned last;
    bool lend;

    __device__ PlainReader(const Geometry &g, const Strip &strip)
        : own(strip.row + static_cast<size_t>(strip.base + my_lane() * N) * sizeof(In)),
          stride(g.in.stride),
          away((lent_sample<R, N>() - my_lane() * N) * static_cast<int>(sizeof(In))),
          begin(strip.begin), last(static_cast<unsigned>(strip.end - strip.begin - 1)),
          lend(lends<R>())
    {
    }

    /* Begins to read row r: each in its turn. */
    __device__ void read_row(int r, R &row)
    {
        read<In, N>(own, row.own);
        if (lend)
            read<In, R::LENT>(own + away, row.lent);
        if (static_cast<unsigned>(r - begin) < last)
            own += stride;
    }

    /* Makes it complete. */
    __device__ void end_row(int, R &) const
    {
    }
};

/* Input row r by the border's rule; NULL where the constant stands, or where only zero taps would
 * meet it. */
__device__ inline const unsigned char *find_row(const Geometry &g, const Strip &strip, int r)
{
    if (r < strip.begin || r >= strip.end)
        return nullptr;
    long long y = static_cast<long long>(strip.top) + g.origin_y + r;
    y = gf_border_index(y, g.in_height, g.border);
    return y < 0 ? nullptr
                 : gf_row<unsigned char>(g.in, static_cast<size_t>(y)) + blockIdx.y * g.in.batch;
}

/* A strip's samples that are read one by one: where they go, SIDE and more of them on both sides,
 * and where in a row the k-th of them is by the border's rule, -1 standing for the constant. */
template <typename In, int C, int K, int N> struct alignas(16) Odd {
    using R = Row<In, C, K, N>;
    static constexpr int ORIGIN = (R::REACH * sizeof(In) + 15) / 16 * 16 / sizeof(In);
    static constexpr int MOST = 32 * N + 2 * R::SIDE;

    In samples[ORIGIN + 32 * N + R::REACH];
    int columns[MOST];
};

/* Reads rows of any strip. Lanes read the vectors that lie in the picture; the odd samples, which
 * lie in none, are read one by one, each by a lane, and handed over through shared memory. As a
 * rule there are no more than lanes; else, as in rows that are not aligned, all are odd. */
template <typename In, int C, int K, int N> struct OddReader {
    using R = Row<In, C, K, N>;
    static_assert(2 * R::SIDE + N <= 32);
    /* Samples of a lane where all are odd: half of them, or all. */
    static constexpr int AT_ONCE = N > 8 ? N / 2 + 1 : N + 1;
    const Geometry &g;
    const Strip &strip;
    Odd<In, C, K, N> &odd;
    int count, left, gap; /* odd samples, and those in front of a gap of some that are not */
    bool few, own_here, lent_here;
    int column;                 /* of this lane's, if there are few */
    const unsigned char *found; /* row of this lane, of 32 */

    __device__ OddReader(const Geometry &geometry, const Strip &there, Odd<In, C, K, N> &shared)
        : g(geometry), strip(there), odd(shared), found(nullptr)
    {
        const int base = strip.base, lane = my_lane();
        const int end = min(32 * N, g.out_samples - strip.first) + R::SIDE;
        const bool left_here = base >= R::REACH;
        const bool right_here = base <= g.in_samples - 32 * N - R::REACH;
        const int from = left_here ? -R::SIDE : max(0, -base);
        const int vectors = min(32 * N, g.in_samples - g.in_samples % N - base);
        const int to = right_here ? end : min(end, max(from, vectors));
        left = from + R::SIDE;
        count = left + end - to;
        gap = to - from;
        few = g.vector_in && from <= to && count <= 32;
        if (!few) {
            left = count = end + R::SIDE;
            gap = 0;
        }
        const int own = base + lane * N;
        own_here = few && own >= 0 && own <= g.in_samples - N;
        lent_here = few && lends<R>() && (lane < 16 ? right_here : left_here);
#pragma unroll 1
        for (int k = lane; k < count; k += 32) {
            const int sample = base + place(k);
            const int pixel = (sample - (sample < 0 ? C - 1 : 0)) / C; /* rounded down */
            const long long x = gf_border_index(pixel, g.in_width, g.border);
            odd.columns[k] = x < 0 ? -1 : static_cast<int>(x) * C + (sample - pixel * C);
        }
        column = lane < count ? odd.columns[lane] : -1;
    }

    /* Where in the strip the k-th is. */
    __device__ int place(int k) const
    {
        return k - R::SIDE + (k < left ? 0 : gap);
    }

    __device__ const unsigned char *next_row(int r)
    {
        if (r % 32 == 0)
            found = find_row(g, strip, r + my_lane());
        return reinterpret_cast<const unsigned char *>(
            __shfl_sync(~0u, reinterpret_cast<unsigned long long>(found), r % 32));
    }

    __device__ In sample(const unsigned char *row, int x) const
    {
        In v = static_cast<In>(g.border_value);
        if (row && x >= 0)
            v = __ldg(reinterpret_cast<const In *>(row) + x);
        return v;
    }

    __device__ void read_row(int r, R &row)
    {
        if (!few)
            return;
        const unsigned char *from = next_row(r);
        const int first = strip.base + my_lane() * N;
        const In border = static_cast<In>(g.border_value);
        pack<In, N>(row.own, [&](int) { return border; });
        pack<In, R::LENT>(row.lent, [&](int) { return border; });
        if (from && own_here)
            read<In, N>(from + static_cast<size_t>(first) * sizeof(In), row.own);
        if (from && lent_here)
            read<In, R::LENT>(from + static_cast<size_t>(strip.base + lent_sample<R, N>()) *
                                         sizeof(In),
                              row.lent);
        row.odd = sample(from, column);
    }

    __device__ void end_row(int r, R &row)
    {
        const int lane = my_lane();
        In *samples = odd.samples + Odd<In, C, K, N>::ORIGIN;
        if (count == 0)
            return;
        if (few) {
            if (lane < count)
                samples[place(lane)] = row.odd;
        } else {
            const unsigned char *from = next_row(r);
#pragma unroll 1
            for (int k = lane; k < count; k += 32 * AT_ONCE) {
                In v[AT_ONCE];
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    v[i] = sample(from, k + 32 * i < count ? odd.columns[k + 32 * i] : -1);
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    if (k + 32 * i < count)
                        samples[k + 32 * i - R::SIDE] = v[i];
            }
        }
        __syncwarp();
        if (!own_here)
            read_shared<In, N>(samples + lane * N, row.own);
        if (lends<R>() && !lent_here)
            read_shared<In, R::LENT>(samples + lent_sample<R, N>(), row.lent);
        __syncwarp();
    }
};

/* ---- exchanging ---- */

/* The N + 2 * SIDE samples that a thread's sums need. */
template <typename In, int C, int K, int N>
__device__ void widen(const Row<In, C, K, N> &row, float *x)
{
    using R = Row<In, C, K, N>;
    constexpr int PER = WORDS<In, N>, SIDE = R::SIDE_WORDS, A = A_WORD<In, N>;
    const int lane = my_lane();
    uint32_t word[PER + 2 * SIDE];
#pragma unroll
    for (int i = 0; i < PER + 2 * SIDE; i++) {
        const int lanes = (i - SIDE + R::LENDERS * PER) / PER - R::LENDERS; /* to the right */
        const int w = i - SIDE - lanes * PER;
        if (lanes == 0) {
            word[i] = row.own[w];
            continue;
        }
        const bool lend = lanes < 0 ? lane >= 32 + lanes : lane < lanes;
        const int lent = lanes < 0 ? w - (PER - R::LENT_WORDS) : w;
        word[i] = __shfl_sync(~0u, lend ? row.lent[lent] : row.own[w], (lane + lanes) & 31);
    }
#pragma unroll
    for (int i = 0; i < N + 2 * R::SIDE; i++) {
        const int sample = SIDE * A - R::SIDE + i;
        x[i] = unpack<In>(word[sample / A], static_cast<unsigned>(sample % A));
    }
}

} // namespace gf_special
