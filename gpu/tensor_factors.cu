/* Method `tensor`: pictures of 8 bits under a kernel that is a product of a column and a row, by two products
 * of halves on tensor cores (gpu/tensor_shape.h), one after the other. The strips come as for other kernels
 * (gpu/tensor_bytes.cuh).
 *
 * The sums of the first product, 16 samples of 8 input rows, filtered along the rows, lie in registers as the
 * first matrix of the second product does, which filters along the columns. Each is split into two halves, so
 * that 22 bits of it count. Those of the rows above stay in registers, too.
 *
 * Costs for a sample: one read (but for the halo), one write; 32 bytes' products for each 16 bytes that 16
 * samples reach over, 24 for each 8 rows that 8 rows do, and 8. */
#include "gpu/device.cuh"

namespace
{

constexpr int RUN = GF_FACTORS_RUN; /* samples of a product */
constexpr int RUNS = 4;             /* of a strip */

/* ---- what strips are ---- */

/* A strip of runs of 16 samples; a window is STEPS * 16 bytes. Of a row there is an odd number of vectors, so
 * that words of 8 rows lie in different banks. */
template <int STEPS> struct Runs {
    static constexpr int channels = 1, rows = GF_FACTORS_ROWS, samples = RUNS * RUN;
    static constexpr int window = STEPS * GF_GROUP, bytes = samples - RUN + window;
    static constexpr int vectors = (bytes + 12 + 15) / 16 | 1;
};

/* ---- products ---- */

/* What a lane multiplies by: of each plane, that of the lower halves first. */
template <int STEPS, int BLOCKS> struct Factors {
    const uint4 *row; /* shared memory */
    uint32_t column[2][BLOCKS];
    uint32_t minus_one; /* of a matrix of 8 x 8 that has them in its diagonal */

    __device__ Factors(const GfByteStrips &s, const uint4 *rows)
    {
        const int lane = threadIdx.x % 32;
        const uint32_t *columns = s.words + 2 * STEPS * 128;
        row = rows + lane;
#pragma unroll
        for (int i = 0; i < 2 * BLOCKS; i++)
            column[i / BLOCKS][i % BLOCKS] = columns[i * 32 + lane];
        minus_one = lane / 8 == lane % 4 ? 0xBC00u << lane / 4 % 2 * 16 : 0;
    }
};

/* BLOCKS blocks of 8 rows of a run, filtered along the rows, as the first matrix of the second product. What is
 * multiplied together lies in neighbouring registers: two blocks' upper halves, and two blocks' lower
 * ones; of a block left over both halves. */
template <int BLOCKS> struct Filtered {
    uint4 upper[BLOCKS / 2], lower[BLOCKS / 2], last;

    __device__ void set(int block, uint2 high, uint2 low)
    {
        if (block == BLOCKS / 2 * 2) {
            last = make_uint4(low.x, low.y, high.x, high.y);
        } else if (block % 2 == 0) {
            upper[block / 2].x = high.x, upper[block / 2].y = high.y;
            lower[block / 2].x = low.x, lower[block / 2].y = low.y;
        } else {
            upper[block / 2].z = high.x, upper[block / 2].w = high.y;
            lower[block / 2].z = low.x, lower[block / 2].w = low.y;
        }
    }
};

__device__ uint2 round_halves(const float (&v)[4])
{
    const __half2 halves[2] = {__floats2half2_rn(v[0], v[1]), __floats2half2_rn(v[2], v[3])};
    return *reinterpret_cast<const uint2 *>(halves);
}

/* 8 rows of all runs, from their windows' steps, two words of two numbers each. Their upper halves become block
 * `own`; taken off by a product with -1 they leave the lower ones. */
template <int STEPS, int BLOCKS>
__device__ void filter_rows(const Factors<STEPS, BLOCKS> &factors,
                            const uint32_t (&halves)[RUNS + STEPS - 1][2], int own,
                            Filtered<BLOCKS> (&filtered)[RUNS])
{
    float sums[RUNS][4] = {};
#pragma unroll
    for (int i = 0; i < 2 * STEPS; i++) {
        const uint4 row = factors.row[i * 32];
#pragma unroll
        for (int r = 0; r < RUNS; r++) {
            const uint32_t(&step)[2] = halves[r + i % STEPS];
            gf_multiply_halves(sums[r], row, step[0], step[1]);
        }
    }
#pragma unroll
    for (int r = 0; r < RUNS; r++) {
        const uint2 upper = round_halves(sums[r]);
        gf_multiply_halves(sums[r], upper, factors.minus_one);
        filtered[r].set(own, upper, round_halves(sums[r]));
    }
}

/* 8 output rows of a run, from its filtered ones, of which block `own` is the last. Small products come
 * first, that of two lower halves is nothing. */
template <int STEPS, int BLOCKS>
__device__ void filter_columns(const Factors<STEPS, BLOCKS> &factors,
                               const Filtered<BLOCKS> &filtered, int own, float (&sums)[4])
{
    constexpr int LAST = BLOCKS - 1;
    const auto column = [&](bool upper, int block) {
        return factors.column[upper][(block + 2 * BLOCKS - own - 1) % BLOCKS];
    };
#pragma unroll
    for (int i = 0; i + 1 < BLOCKS; i += 2) {
        gf_multiply_halves(sums, filtered.lower[i / 2], column(true, i), column(true, i + 1));
        gf_multiply_halves(sums, filtered.upper[i / 2], column(false, i), column(false, i + 1));
    }
    if constexpr (BLOCKS % 2 == 1)
        gf_multiply_halves(sums, filtered.last, column(true, LAST), column(false, LAST));
#pragma unroll
    for (int i = 0; i + 1 < BLOCKS; i += 2)
        gf_multiply_halves(sums, filtered.upper[i / 2], column(true, i), column(true, i + 1));
    if constexpr (BLOCKS % 2 == 1)
        gf_multiply_halves(sums, make_uint2(filtered.last.z, filtered.last.w), column(true, LAST));
}

/* ---- storing ---- */

/* 8 output rows of a strip, of which a lane has two: sums 0 and 2 of a run are neighbours in the one, 1 and 3
 * in the other. */
struct RunBytes {
    unsigned char *to; /* this lane's first in the first of the two rows that are next */

    __device__ RunBytes(const GfByteStrips &s, const GfByteWalk &w)
    {
        const int lane = threadIdx.x % 32;
        to = gf_output_row(s, w, lane % 4 * 2) + w.strip + own_sample();
    }

    static __device__ int own_sample()
    {
        const int lane = threadIdx.x % 32;
        return lane / 4 % 2 * RUN + lane / 8 * GF_WORD;
    }

    /* Two lanes change places so that each has four samples side by side. */
    static __device__ uint32_t word_of(const float (&v)[RUNS][4], int run, int r)
    {
        const unsigned take = threadIdx.x / 4 % 2 ? 0x3276 : 0x5410;
        const uint32_t own =
            gf_round_bytes(v[run][r], v[run][r + 2], v[run + 1][r], v[run + 1][r + 2]);
        return __byte_perm(own, __shfl_xor_sync(~0u, own, 4), take);
    }

    /* Whole rows. */
    __device__ void store(const GfByteStrips &s, const float (&v)[RUNS][4])
    {
#pragma unroll
        for (int i = 0; i < RUNS; i++)
            *reinterpret_cast<uint32_t *>(to + i / 2 * 2 * RUN + (i % 2 ? s.out.stride : 0)) =
                word_of(v, i / 2 * 2, i % 2);
        to += GF_FACTORS_ROWS * s.out.stride;
    }

    /* From output row `first` on, as far as rows and samples go. */
    __device__ void store_some(const GfByteStrips &s, const GfByteWalk &w, int first,
                               const float (&v)[RUNS][4])
    {
        const int left = s.out_samples - w.strip - own_sample();
#pragma unroll
        for (int i = 0; i < RUNS; i++) {
            const int run = i / 2 * 2, row = first + static_cast<int>(threadIdx.x % 4) * 2 + i % 2;
            const int here = row >= w.skipped && row < w.rows ? left - run * RUN : 0;
            const uint32_t word = word_of(v, run, i % 2);
            unsigned char *there = to + run * RUN + (i % 2 ? s.out.stride : 0);
            gf_store_if<GF_WORD>(here >= GF_WORD, there, {word});
#pragma unroll
            for (int k = 0; k < GF_WORD - 1; k++)
                gf_store_if<1>(here < GF_WORD && here > k, there + k, {word >> 8 * k});
        }
        to += GF_FACTORS_ROWS * s.out.stride;
    }
};

/* The same where words begin anywhere, or more follows on the sums. */
__device__ void store_runs(const GfByteStrips &s, const GfByteWalk &w, int first,
                           const float (&v)[RUNS][4])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < RUNS * 4; i++) {
        const int row = first + lane % 4 * 2 + i % 2;
        const int sample = w.strip + i / 4 * RUN + lane / 4 * 2 + i / 2 % 2;
        if (row >= w.skipped && row < w.rows && sample < s.out_samples)
            gf_output_row(s, w, row)[sample] =
                static_cast<unsigned char>(gf_round(v[i / 4][i % 4], 255));
    }
}

/* ---- the loop ---- */

/* Walks down a strip by 8 rows, of which the picture's row 0 is one of the first, and begins with the phase
 * that belongs to them: so a row's sums are made in the same order whatever rows a launch makes. What was
 * filtered along the rows stays where it is while the loop passes BLOCKS batches. */
template <bool SIMPLE, int STEPS, int BLOCKS, int... PHASE>
__device__ void
run_factors(const GfByteStrips &s, const GfByteWalk &w, GfByteStream<Runs<STEPS>> &stream,
            const Factors<STEPS, BLOCKS> &factors, std::integer_sequence<int, PHASE...>)
{
    using Strip = Runs<STEPS>;
    const int lane = threadIdx.x % 32;
    const float offset = s.offset[0];
    Filtered<BLOCKS> filtered[RUNS];
    RunBytes bytes(s, w);
    int first = -Strip::rows * (BLOCKS - 1);
    int passed = static_cast<int>(w.top / Strip::rows % BLOCKS); /* phases, at the beginning */
    /* False: it was the last. */
    const auto run_batch = [&](auto phase) {
        constexpr int OWN = decltype(phase)::value;
        if (passed-- > 0)
            return true;
        const uint8_t *row = stream.wait() + lane / 4 * (Strip::vectors * 16) + lane % 4 * GF_WORD;
        stream.send_next(first + GF_BATCHES * Strip::rows < w.rows);
        uint32_t halves[RUNS + STEPS - 1][2];
#pragma unroll
        for (int i = 0; i < RUNS + STEPS - 1; i++) {
            const uint32_t word = *reinterpret_cast<const uint32_t *>(row + i * GF_GROUP);
            halves[i][0] = word & 0x00FF00FF;
            halves[i][1] = __byte_perm(word, 0, 0x4341);
        }
        filter_rows(factors, halves, OWN, filtered);
        float v[RUNS][4];
#pragma unroll
        for (int i = 0; i < RUNS; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[i][j] = offset;
            filter_columns(factors, filtered[i], OWN, v[i]);
        }
        if (first >= 0) {
            if constexpr (SIMPLE)
                bytes.store(s, v);
            else if (s.simple)
                bytes.store_some(s, w, first, v);
            else
                store_runs(s, w, first, v);
        }
        first += Strip::rows;
        return first < w.rows;
    };
    while ((run_batch(std::integral_constant<int, PHASE>()) && ...))
        ;
}

/* ---- the kernel ---- */

/* A thread's registers: those of a quarter of a multiprocessor are enough for five warps, four or three. */
template <int STEPS, int BLOCKS> constexpr int registers_of_factors()
{
    constexpr int WANTED = RUNS * BLOCKS * 4 + BLOCKS * 2 + STEPS * 4 + 48;
    return WANTED <= 96 ? 96 : WANTED <= 128 ? 128 : 168;
}

/* Products of a column of up to BLOCKS * 8 - 7 taps and a row. */
template <int STEPS, int BLOCKS>
__global__ void __maxnreg__((registers_of_factors<STEPS, BLOCKS>()))
    tensor_factors(const __grid_constant__ GfByteStrips s)
{
    __shared__ uint4 rows[2 * STEPS * 32];
    __shared__ GfByteRing<Runs<STEPS>> rings[GF_STRIP_WARPS];
    GfByteRing<Runs<STEPS>> &ring = rings[threadIdx.x / 32];
    GfByteWalk w;
#pragma unroll
    for (int i = 0; i < 2 * STEPS * 32; i += 32 * GF_STRIP_WARPS)
        rows[i + threadIdx.x] = reinterpret_cast<const uint4 *>(s.words)[i + threadIdx.x];
    __syncthreads();
    if (!gf_begin_strip(s, ring, &w))
        return;
    GfByteStream<Runs<STEPS>> stream(s, w, ring, 0);
    const Factors<STEPS, BLOCKS> factors(s, rows);
    if (w.simple)
        run_factors<true>(s, w, stream, factors, std::make_integer_sequence<int, BLOCKS>());
    else
        run_factors<false>(s, w, stream, factors, std::make_integer_sequence<int, BLOCKS>());
}

/* ---- the launcher ---- */

/* From the plan to its instance, one property after the other; NULL: there is none. */

template <int STEPS> GfByteKernel find_blocks(const GfTensor &plan)
{
    switch (plan.height) {
    case 2:
        return tensor_factors<STEPS, 2>;
    case 3:
        return tensor_factors<STEPS, 3>;
    case 5:
        return tensor_factors<STEPS, 5>;
    }
    return nullptr;
}

GfByteKernel find_factors(const GfTensor &plan)
{
    switch (plan.groups) {
    case 2:
        return find_blocks<2>(plan);
    case 3:
        return find_blocks<3>(plan);
    case 4:
        return find_blocks<4>(plan);
    case 7:
        return find_blocks<7>(plan);
    }
    return nullptr;
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_factors(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    const GfByteCut cut = {RUNS * RUN, 1, GF_FACTORS_ROWS, 2};
    return gf_launch_bytes(launch, find_factors(state->plan), cut, stream);
}
