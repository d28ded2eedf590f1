/* Method `tensor`: banks on pictures of 8 bits (tensor.cu) and of 16 (tensor_levels.cu) as products
 * of matrices of bytes, which tensor cores make; exact, since the weights are integers in one plane
 * of signed bytes or in three (gpu/tensor_shape.h). The pixels flow as in algorithm 1 of Chen,
 * Chen, Chen and Hu, "Optimizing Memory Efficiency for Convolution Kernels on Kepler GPUs" (DAC
 * 2017): each is read once and its rows roll through registers. (The matrices are beyond the
 * sources.)
 *
 * A warp owns a strip of 128 samples and walks down its rows. The strip is 16 blocks of 8 samples,
 * the rows of the first matrix; a lane holds, of two blocks, one word of each 16 bytes of an input
 * row. These words are the matrix as they come from memory: nothing is converted or shifted. An
 * output row is the sum over the kernel's rows of what they make with the second matrix, whose
 * words stay in registers. ROWS output rows are made at a time, while input rows are on their way
 * to the warp's ring in shared memory (gpu/tensor_bytes.cuh). Sums begin with 1.5 * 2^23 in a
 * float's bits, so that they are floats without a conversion.
 *
 * Most strips lie wholly on the picture and are written as bytes: their loop does nothing else.
 *
 * Of RGB, kernels wider than about 9 reach over more than the two groups of 16 bytes for which all
 * rows of a kernel have registers. Those go by channel: a strip is 128 pixels of one channel, a
 * block 8, and the second matrix that of a gray picture. The ring holds rows as they are in memory;
 * a lane picks its word of four samples from the 12 bytes of their pixels. Three warps side by side
 * make the three channels, so that what they write meets in L2.
 *
 * Samples of 16 bits are two bytes beside each other (gpu/tensor_shape.h), blocks and strips have
 * as many of them. By channel three warps are a team: they bring rows for each other, and put what
 * they make into shared memory, where it becomes whole pixels.
 *
 * Costs for a sample: one read (but for the halo: a kernel's width a strip, its height a chunk of
 * rows; by channel two more, from the caches), one write; 32 bytes' products for each filter,
 * plane, row of taps and 16 bytes that a block reaches over, where height * width multiply-adds
 * were asked for. */
#pragma once

#include "gpu/tensor_bytes.cuh"

namespace gf_strips
{

constexpr int ROWS = 4;               /* output rows at a time */
constexpr int BLOCK = 8, STRIP = 128; /* samples */
constexpr int SUMS = 4;               /* of a lane for a row of a strip */

/* ---- the strips ---- */

/* Strips of blocks whose windows are GROUPS * 16 bytes, and samples of SIZE bytes CHANNELS apart:
 * 1, whatever the picture has, or GF_RGB by channel. */
template <int GROUPS, int CHANNELS, int SIZE> struct Blocks {
    static constexpr int channels = CHANNELS, size = SIZE, rows = ROWS, samples = STRIP;
    static constexpr int team = CHANNELS > 1 && SIZE > 1 ? 32 * CHANNELS : 32;
    static constexpr int window = GROUPS * GF_GROUP * CHANNELS; /* bytes of a block's */
    static constexpr int bytes = (STRIP - BLOCK) * SIZE * CHANNELS + window; /* of a row */
    static constexpr int vectors = (bytes + 12 + 15) / 16; /* of 16, aligned, in which those lie */
};

/* As many output rows come of each batch: batch 0 begins so far above input row 0 that a batch is
 * the last that those need. */
template <int HEIGHT> constexpr int ABOVE = (HEIGHT - 1 + ROWS - 1) / ROWS *ROWS;

/* This lane's words of the next batch: of each row and group, for its two blocks. `more`: there is
 * another to be sent. */
template <int GROUPS, int CHANNELS, int SIZE, typename Slot>
__device__ void read_next(GfByteStream<Blocks<GROUPS, CHANNELS, SIZE>> &stream, bool more,
                          Slot slot)
{
    constexpr int PITCH = Blocks<GROUPS, CHANNELS, SIZE>::vectors * 16;
    const int lane = threadIdx.x % 32;
    /* Either sum would cost instances of the other kind registers. */
    const uint8_t *own = stream.wait();
    if constexpr (CHANNELS == 1)
        own = own + lane / 4 * BLOCK * SIZE + lane % 4 * GF_WORD;
    else
        own += (lane / 4 * BLOCK * SIZE + lane % 4 * GF_WORD) * CHANNELS;
#pragma unroll
    for (int i = 0; i < ROWS * GROUPS * 2; i++)
        slot(i / 2)[i % 2] =
            stream.word_at(own + i / (GROUPS * 2) * PITCH +
                           (i / 2 % GROUPS * GF_GROUP + i % 2 * (STRIP / 2) * SIZE) * CHANNELS);
    stream.send_next(more);
}

/* What a block has in shared memory: a team's samples of two batches, too. */
template <typename S> struct Shared {
    GfByteRing<S> rings[GF_WARPS<S> * 32 / S::team];
};

template <typename S> struct TeamShared : Shared<S> {
    alignas(16) uint16_t samples[2][ROWS][STRIP * S::channels];
};

template <typename S> using SharedOf = std::conditional_t<S::team == 32, Shared<S>, TeamShared<S>>;

/* ---- products ---- */

__device__ inline float as_float(int sum)
{
    return __int_as_float(sum);
}

/* What SLOTS words of two blocks make with as many of the second matrix. Of an odd number of slots
 * one is multiplied alone: the first where FIRST is set, so that neighbouring rows, which pair the
 * same slots, find them in the same registers (but hold the second matrix in pairs of two
 * kinds). */
template <bool FIRST, int SLOTS, typename Slot>
__device__ void multiply(Slot slot, const uint32_t (&words)[SLOTS], int (&sums)[SUMS])
{
    constexpr int ALONE = SLOTS % 2 == 0 ? -1 : FIRST ? 0 : SLOTS - 1;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sums[i] = GF_TENSOR_START;
    if constexpr (ALONE >= 0) {
        const uint32_t a[2] = {slot(ALONE)[0], slot(ALONE)[1]};
        gf_multiply_16(sums, a, words[ALONE]);
    }
#pragma unroll
    for (int i = ALONE == 0 ? 1 : 0; i + 1 < SLOTS; i += 2) {
        const uint32_t a[4] = {slot(i)[0], slot(i)[1], slot(i + 1)[0], slot(i + 1)[1]};
        const uint32_t b[2] = {words[i], words[i + 1]};
        gf_multiply_32(sums, a, b);
    }
}

/* The number that planes' sums stand for, in units, and of bytes 257 * GF_START more where there
 * are three: the offset takes that away again. (Of 16 bits that would cost too many digits.) */
template <int SIZE, int PLANES> __device__ float join(const int (&sums)[PLANES][SUMS], int i)
{
    if constexpr (SIZE > 1) {
        float sum = as_float(sums[PLANES - 1][i]) - GF_START;
#pragma unroll
        for (int p = PLANES - 2; p >= 0; p--)
            sum = fmaf(256.0f, sum, as_float(sums[p][i]) - GF_START);
        return sum;
    } else if constexpr (PLANES == 1) {
        return as_float(sums[0][i]) - GF_START;
    } else {
        return fmaf(65536.0f, as_float(sums[2][i]) - GF_START,
                    fmaf(256.0f, as_float(sums[1][i]), as_float(sums[0][i])));
    }
}

template <int COUNT> __device__ void read_words(const uint32_t *from, uint32_t (&words)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        words[i] = from[i * 32 + threadIdx.x % 32];
}

/* ---- from sums to samples ---- */

/* Sample i of a lane's four in a row, counted from its strip; by channel of that channel's. */
__device__ inline int sample_of(int i)
{
    const int lane = threadIdx.x % 32;
    return i / 2 * (STRIP / 2) + lane / 4 * BLOCK + lane % 4 * 2 + i % 2;
}

__device__ inline int channel_of(const GfByteStrips &s, int i)
{
    return s.channels == 3 ? 0 : sample_of(i) & (s.channels - 1);
}

template <int FILTERS>
__device__ void finish_samples(const GfByteStrips &s, float (&v)[FILTERS][ROWS * SUMS])
{
    if constexpr (FILTERS == 2)
        gf_combine_each(s.finish, v[0], v[1]);
    else
        gf_combine_alone(s.finish, v[0]);
    gf_post_each(s.finish, v[0], [&](int i) { return channel_of(s, i % SUMS) < s.post_channels; });
}

template <typename Out> struct alignas(2 * sizeof(Out)) Pair {
    Out sample[2];
};

template <typename Out> __device__ void store_pair(unsigned char *to, float a, float b)
{
    if constexpr (sizeof(Out) == 1)
        *reinterpret_cast<uint16_t *>(to) = static_cast<uint16_t>(gf_round_bytes(a, b, 0.0f, 0.0f));
    else
        *reinterpret_cast<Pair<Out> *>(to) = {gf_convert<Out>(a), gf_convert<Out>(b)};
}

/* Stores ROWS whole rows of a strip. */
template <typename Out>
__device__ void store_pairs(const GfByteStrips &s, const GfByteWalk &w, int first,
                            const float (&v)[ROWS * SUMS])
{
    unsigned char *row = gf_output_row(s, w, first) + (w.strip + sample_of(0)) * sizeof(Out);
#pragma unroll
    for (int r = 0; r < ROWS; r++, row += s.out.stride)
#pragma unroll
        for (int i = 0; i < SUMS; i += 2)
            store_pair<Out>(row + i * (STRIP / 4) * sizeof(Out), v[r * SUMS + i],
                            v[r * SUMS + i + 1]);
}

/* Stores output rows [first, first + ROWS) as far as there are. */
template <typename Out, int CHANNELS>
__device__ void store_as(const GfByteStrips &s, const GfByteWalk &w, int first,
                         const float (&v)[ROWS * SUMS])
{
    if (CHANNELS == 1 && w.whole && first + ROWS <= w.rows) {
        store_pairs<Out>(s, w, first, v);
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        Out *row = reinterpret_cast<Out *>(gf_output_row(s, w, first + r));
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
            const int sample = w.strip + sample_of(i) * CHANNELS + w.channel;
            if (first + r < w.rows && sample < s.out_samples)
                row[sample] = gf_convert<Out>(v[r * SUMS + i]);
        }
    }
}

/* Of samples of 16 bits come such; responses of several planes become integers. */
template <int PLANES, int CHANNELS, int SIZE>
__device__ void store(const GfByteStrips &s, const GfByteWalk &w, int first,
                      const float (&v)[ROWS * SUMS])
{
    if (SIZE > 1 || s.finish.out == GF_U16)
        store_as<uint16_t, CHANNELS>(s, w, first, v);
    else if (PLANES > 1 || s.finish.out == GF_U8)
        store_as<uint8_t, CHANNELS>(s, w, first, v);
    else
        store_as<float, CHANNELS>(s, w, first, v);
}

/* ---- responses ---- */

/* What a lane multiplies by, and what follows. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS> struct Bank {
    uint32_t words[FILTERS][PLANES][HEIGHT * GROUPS];
    float scale[FILTERS][2], offset[FILTERS][2]; /* of even and odd samples */

    __device__ explicit Bank(const GfByteStrips &s)
    {
#pragma unroll
        for (int i = 0; i < FILTERS * PLANES; i++)
            read_words(s.words + i * HEIGHT * GROUPS * 32, words[i / PLANES][i % PLANES]);
#pragma unroll
        for (int i = 0; i < FILTERS * 2; i++) {
            const bool colour = !s.finished || channel_of(s, i % 2) < s.post_channels;
            const bool kept = s.keep_alpha && channel_of(s, i % 2) == s.channels - 1;
            scale[i / 2][i % 2] = kept ? s.kept_scale : s.scale[i / 2];
            offset[i / 2][i % 2] = kept ? s.kept_offset : colour ? s.offset[i / 2] : s.bare_offset;
        }
    }
};

/* The sums of ROWS output rows; `slot(i)` is this lane's words of group i % GROUPS of input row i /
 * GROUPS. ODD: rows that begin with an odd one pair rows as their neighbours do. */
template <bool ODD, int HEIGHT, int GROUPS, int PLANES, int FILTERS, typename Slot, typename Use>
__device__ void sum_up(const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank, Slot slot, Use use)
{
#pragma unroll
    for (int i = 0; i < ROWS * FILTERS; i++) {
        const int r = i / FILTERS, f = i % FILTERS;
        const auto own = [&](int j) { return slot(r * GROUPS + j); };
        int sums[PLANES][SUMS];
#pragma unroll
        for (int p = 0; p < PLANES; p++)
            if (ODD && r % 2 == 1)
                multiply<true>(own, bank.words[f][p], sums[p]);
            else
                multiply<false>(own, bank.words[f][p], sums[p]);
        use(r, f, sums);
    }
}

/* All responses as they are before they are finished. */
template <int SIZE, bool ODD, int HEIGHT, int GROUPS, int PLANES, int FILTERS, typename Slot>
__device__ void respond(const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank, Slot slot,
                        float (&v)[FILTERS][ROWS * SUMS])
{
    sum_up<ODD>(bank, slot, [&](int r, int f, const int(&sums)[PLANES][SUMS]) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            v[f][r * SUMS + j] =
                fmaf(join<SIZE>(sums, j), bank.scale[f][j % 2], bank.offset[f][j % 2]);
    });
}

/* The lengths of two responses, in steps of the output. */
template <bool ODD, int HEIGHT, int GROUPS, typename Slot>
__device__ void find_magnitudes(const GfByteStrips &s, const Bank<HEIGHT, GROUPS, 1, 2> &bank,
                                Slot slot, float (&v)[ROWS * SUMS])
{
    sum_up<ODD>(bank, slot, [&](int r, int f, const int(&sums)[1][SUMS]) {
#pragma unroll
        for (int j = 0; j < SUMS; j++) {
            const float first = v[r * SUMS + j], response = join<1>(sums, j);
            v[r * SUMS + j] =
                f == 0 ? response : gf_root(fmaf(first, first, response * response)) * s.magnitude;
        }
    });
}

/* ---- the loops ---- */

/* ROWS rows of samples. Two lanes change places so that each has four bytes side by side, and a
 * warp writes a row in one access. */
template <int CHANNELS, int SIZE> struct Samples {
    unsigned char *to; /* this lane's of the next row */
    unsigned take;     /* of its own four and the other lane's */

    template <typename Room>
    __device__ Samples(const GfByteStrips &s, const GfByteWalk &w, Room &)
        : to(gf_output_row(s, w, 0) + w.strip), take(threadIdx.x % 2 ? 0x3276 : 0x5410)
    {
        const int lane = threadIdx.x % 32;
        to += lane % 2 * (STRIP / 2) + lane / 4 * BLOCK + lane % 4 / 2 * 4;
    }

    __device__ void store(const GfByteStrips &s, const float (&v)[ROWS * SUMS])
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++, to += s.out.stride) {
            const uint32_t own =
                gf_round_bytes(v[r * SUMS], v[r * SUMS + 1], v[r * SUMS + 2], v[r * SUMS + 3]);
            *reinterpret_cast<uint32_t *>(to) =
                __byte_perm(own, __shfl_xor_sync(~0u, own, 1), take);
        }
    }
};

/* Of 16 bits a lane has pairs side by side, and a warp writes a row in two accesses. */
template <> struct Samples<1, 2> {
    unsigned char *to;

    template <typename Room>
    __device__ Samples(const GfByteStrips &s, const GfByteWalk &w, Room &)
        : to(gf_output_row(s, w, 0) + (w.strip + sample_of(0)) * 2)
    {
    }

    __device__ void store(const GfByteStrips &s, const float (&v)[ROWS * SUMS])
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++, to += s.out.stride)
#pragma unroll
            for (int i = 0; i < SUMS; i += 2)
                store_pair<uint16_t>(to + i * (STRIP / 4) * 2, v[r * SUMS + i],
                                     v[r * SUMS + i + 1]);
    }
};

/* Those of a team meet in shared memory, and are stored as whole pixels when all have met for the
 * next batch. */
template <> struct Samples<GF_RGB, 2> {
    using Rows = uint16_t[ROWS][STRIP * GF_RGB];
    static constexpr int TEAM = 32 * GF_RGB, VECTOR = 16;                          /* bytes */
    static constexpr int VECTORS = static_cast<int>(sizeof(Rows)) / ROWS / VECTOR; /* of a row */
    Rows *rows;                                                                    /* two */
    unsigned turn;
    unsigned char *to; /* where the rows go that are stored next */
    int own;           /* of a row */
    bool whole;        /* vectors are aligned where they go */

    template <typename Room>
    __device__ Samples(const GfByteStrips &s, const GfByteWalk &w, Room &room)
        : rows(room.samples), turn(0), to(gf_output_row(s, w, 0) + w.strip * 2),
          own(sample_of(0) * GF_RGB + w.channel), whole(s.vectors_out)
    {
    }

    __device__ void store(const GfByteStrips &, const float (&v)[ROWS * SUMS])
    {
#pragma unroll
        for (int i = 0; i < ROWS * SUMS; i++)
            rows[turn][i / SUMS][own + (i % SUMS / 2 * (STRIP / 2) + i % 2) * GF_RGB] =
                gf_convert<uint16_t>(v[i]);
        turn ^= 1;
    }

    /* After all have met. */
    __device__ void store_last(const GfByteStrips &s)
    {
        const Rows &last = rows[turn ^ 1];
        const int member = static_cast<int>(threadIdx.x);
        if (whole) {
#pragma unroll
            for (int i = member; i < ROWS * VECTORS; i += TEAM)
                reinterpret_cast<uint4 *>(to + i / VECTORS * s.out.stride)[i % VECTORS] =
                    reinterpret_cast<const uint4 *>(last[i / VECTORS])[i % VECTORS];
        } else {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int i = member; i < STRIP * GF_RGB; i += TEAM)
                    reinterpret_cast<uint16_t *>(to + r * s.out.stride)[i] = last[r][i];
        }
        to += ROWS * s.out.stride;
    }
};

/* By channel none lie side by side. */
template <> struct Samples<GF_RGB, 1> {
    unsigned char *to; /* this lane's first of the next row */

    template <typename Room>
    __device__ Samples(const GfByteStrips &s, const GfByteWalk &w, Room &)
        : to(gf_output_row(s, w, 0) + w.strip + sample_of(0) * GF_RGB + w.channel)
    {
    }

    __device__ void store(const GfByteStrips &s, const float (&v)[ROWS * SUMS])
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++, to += s.out.stride) {
            const uint32_t own =
                gf_round_bytes(v[r * SUMS], v[r * SUMS + 1], v[r * SUMS + 2], v[r * SUMS + 3]);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                to[(i / 2 * (STRIP / 2) + i % 2) * GF_RGB] =
                    static_cast<unsigned char>(own >> 8 * i);
        }
    }
};

/* Rows of words in registers. They stay where they are while the loop passes PHASES batches, or,
 * where that would be too much code, move up after each. */
template <int HEIGHT>
constexpr int PHASES = HEIGHT <= 7 ? (HEIGHT - 1 + ROWS + ROWS - 1) / ROWS : 1;
template <int HEIGHT> constexpr int HELD = HEIGHT <= 7 ? PHASES<HEIGHT> *ROWS : HEIGHT - 1 + ROWS;

/* Do rows that begin with an odd one pair rows as their neighbours do? Else pairs are copied. */
template <int HEIGHT, int PLANES> constexpr bool PAIRED = HEIGHT *PLANES <= 15;

template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS, int SIZE, int... PHASE>
__device__ void run_simple(const GfByteStrips &s, const GfByteWalk &w,
                           GfByteStream<Blocks<GROUPS, CHANNELS, SIZE>> &stream,
                           const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank,
                           SharedOf<Blocks<GROUPS, CHANNELS, SIZE>> &shared,
                           std::integer_sequence<int, PHASE...>)
{
    constexpr bool TEAM = Blocks<GROUPS, CHANNELS, SIZE>::team > 32;
    constexpr int SLOTS = HELD<HEIGHT> * GROUPS, MOVED = ROWS * GROUPS;
    uint32_t x[SLOTS][2];
    Samples<CHANNELS, SIZE> samples(s, w, shared);
    int first = -ABOVE<HEIGHT>;
    /* False: it was the last. */
    const auto run_batch = [&](auto phase) {
        const auto slot = [&](int i) { return x[(decltype(phase)::value * MOVED + i) % SLOTS]; };
        read_next(stream, first + GF_BATCHES * ROWS < w.rows,
                  [&](int i) { return slot((HEIGHT - 1) * GROUPS + i); });
        if constexpr (TEAM)
            if (first > 0)
                samples.store_last(s);
        if (first >= 0) {
            float v[1][ROWS * SUMS];
            if constexpr (FILTERS == 1)
                respond<SIZE, PAIRED<HEIGHT, PLANES>>(bank, slot, v);
            else
                find_magnitudes<PAIRED<HEIGHT, PLANES>>(s, bank, slot, v[0]);
            samples.store(s, v[0]);
        }
        first += ROWS;
        return first < w.rows;
    };
    while ((run_batch(std::integral_constant<int, PHASE>()) && ...))
        if constexpr (sizeof...(PHASE) == 1)
#pragma unroll
            for (int i = 0; i < (SLOTS - MOVED) * 2; i++)
                x[i / 2][i % 2] = x[i / 2 + MOVED][i % 2];
    if constexpr (TEAM) {
        __syncthreads();
        samples.store_last(s);
    }
}

/* The same of any strip. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS, int SIZE>
__device__ void run_any(const GfByteStrips &s, const GfByteWalk &w,
                        GfByteStream<Blocks<GROUPS, CHANNELS, SIZE>> &stream,
                        const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank)
{
    uint32_t x[(HEIGHT - 1 + ROWS) * GROUPS][2] = {};
    for (int first = -ABOVE<HEIGHT>; first < w.rows; first += ROWS) {
#pragma unroll
        for (int i = 0; i < (HEIGHT - 1) * GROUPS * 2; i++)
            x[i / 2][i % 2] = x[i / 2 + ROWS * GROUPS][i % 2];
        read_next(stream, first + GF_BATCHES * ROWS < w.rows,
                  [&](int i) { return x[(HEIGHT - 1) * GROUPS + i]; });
        if (first < 0)
            continue;
        const auto slot = [&](int i) { return x[i]; };
        float v[FILTERS][ROWS * SUMS];
        if constexpr (PLANES == 1 && FILTERS == 2) {
            if (s.magnitude > 0.0f && s.finish.out == GF_U8) {
                find_magnitudes<false>(s, bank, slot, v[0]); /* as on the other strips */
                store<PLANES, CHANNELS, SIZE>(s, w, first, v[0]);
                continue;
            }
        }
        respond<SIZE, false>(bank, slot, v);
        if constexpr (PLANES == 1)
            if (!s.finished)
                finish_samples(s, v);
        store<PLANES, CHANNELS, SIZE>(s, w, first, v[0]);
    }
}

/* ---- the kernels ---- */

/* A thread's registers: words and sums that stay there, and others, and as many more as cost no
 * block of a multiprocessor. (Left to itself the compiler asks for fewer than do without
 * spills.) */
constexpr int registers(int words, int others)
{
    constexpr int STEPS[] = {96, 112, 128, 144, 168, 200, 248};
    for (int step : STEPS)
        if (words + others <= step)
            return step;
    return 248;
}

template <int HEIGHT, int GROUPS, int PLANES, int FILTERS>
constexpr int REGISTERS = registers(HELD<HEIGHT> *GROUPS * 2 + (FILTERS - 1) * ROWS * SUMS +
                                        FILTERS * PLANES * HEIGHT * GROUPS,
                                    GROUPS > 1 ? 64 : 100);

/* HEIGHT rows of taps, GROUPS * 16 bytes of each. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS = 1, int SIZE = 1>
__global__ void __maxnreg__((REGISTERS<HEIGHT, GROUPS, PLANES, FILTERS>))
    tensor(const __grid_constant__ GfByteStrips s)
{
    using Strips = Blocks<GROUPS, CHANNELS, SIZE>;
    __shared__ SharedOf<Strips> shared;
    GfByteRing<Strips> &ring = shared.rings[threadIdx.x / Strips::team];
    GfByteWalk w;
    if (!gf_begin_strip(s, ring, &w))
        return;
    GfByteStream<Strips> stream(s, w, ring, HEIGHT - 1 - ABOVE<HEIGHT>);
    const Bank<HEIGHT, GROUPS, PLANES, FILTERS> bank(s);
    if (w.simple)
        run_simple(s, w, stream, bank, shared, std::make_integer_sequence<int, PHASES<HEIGHT>>());
    else
        run_any(s, w, stream, bank);
}

} // namespace gf_strips
