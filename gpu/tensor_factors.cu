/* Method `tensor`: pictures of 8 bits under a kernel that is a product of a column and a row, by
 * two products of halves on tensor cores (gpu/tensor_shape.h), one after the other. The strips come
 * as for other kernels (gpu/tensor_bytes.cuh).
 *
 * The sums of the first product, 16 samples of 8 input rows, filtered along the rows, lie in
 * registers as the first matrix of the second product does, which filters along the columns. Each
 * is split into two halves, so that 22 bits of it count. Those of the rows above stay in registers,
 * too.
 *
 * What is multiplied by lies in shared memory: so what a product takes from registers stands in
 * neighbouring ones, and nothing is moved. Most of what these kernels wait for is shared memory,
 * where rows come, too: strips that are wider read their matrices, and what lies beside them, less
 * often, if pictures have enough for all multiprocessors.
 *
 * Costs for a sample: one read (but for the halo), one write; 32 bytes' products for each 16 bytes
 * that 16 samples reach over, 24 for each 8 rows that 8 rows do, and 8. */
#include "gpu/device.cuh"

namespace
{

constexpr int RUN = GF_FACTORS_RUN; /* samples of a product */

/* ---- what strips are ---- */

/* A strip of RUNS runs of 16 samples; a window is STEPS * 16 bytes; BLOCKS blocks of 8 rows,
 * filtered along the rows, make one of outputs. Of a row there is an odd number of vectors, so that
 * words of 8 rows lie in different banks. */
template <int STEPS, int BLOCKS, int RUNS> struct Shape {
    static constexpr int steps = STEPS, blocks = BLOCKS, runs = RUNS;
    static constexpr int channels = 1, size = 1, team = 32;
    static constexpr int rows = GF_FACTORS_ROWS, samples = RUNS * RUN;
    static constexpr int window = STEPS * GF_GROUP, bytes = samples - RUN + window;
    static constexpr int vectors = (bytes + 12 + 15) / 16 | 1;
    /* A thread's: those of a quarter of a multiprocessor are enough for five warps, four, three or
     * two. */
    static constexpr int wanted = RUNS * (BLOCKS * 4 + 2) + BLOCKS * 2 + STEPS * 4 + 40;
    static constexpr int registers = wanted <= 96    ? 96
                                     : wanted <= 128 ? 128
                                     : wanted <= 168 ? 168
                                                     : 255;
    /* Is there room in them for what rows are multiplied by? Else for what sums begin with. */
    static constexpr bool rows_stay = STEPS == 2 && BLOCKS == 3;
};

/* ---- products ---- */

/* What a warp multiplies by, and adds, as it lies in shared memory: each lane's words together. Of
 * columns two of each plane: a block of 8 rows and the next, in a circle; or a block alone, its
 * upper halves first. */
template <typename S> struct Factors {
    uint4 rows[2 * S::steps][32]; /* of each plane, that of the lower halves first */
    uint4 columns[S::blocks][32];
    uint2 last_columns[S::blocks][32];
    float4 offset[32]; /* four times the same */

    /* By all warps of a block. */
    __device__ void load(const GfByteStrips &s)
    {
        constexpr int THREADS = 32 * GF_STRIP_WARPS, COLUMNS = S::blocks * 32;
        const int thread = threadIdx.x;
        const uint32_t *lower = s.words + 2 * S::steps * 128, *upper = lower + COLUMNS;
        for (int i = thread; i < 2 * S::steps * 32; i += THREADS)
            rows[i / 32][i % 32] = reinterpret_cast<const uint4 *>(s.words)[i];
        for (int i = thread; i < COLUMNS; i += THREADS) {
            const int next = (i + 32) % COLUMNS;
            columns[i / 32][i % 32] = make_uint4(lower[i], lower[next], upper[i], upper[next]);
            last_columns[i / 32][i % 32] = make_uint2(upper[i], lower[i]);
        }
        if (thread < 32)
            offset[thread] = make_float4(s.offset[0], s.offset[0], s.offset[0], s.offset[0]);
        __syncthreads();
    }
};

/* A lane's own of them. */
template <typename S> struct LaneFactors {
    const Factors<S> &all;
    uint4 rows[2 * S::steps]; /* if they stay */
    float4 offset;            /* if they do not */
    uint32_t minus_one;       /* of a matrix of 8 x 8 that has them in its diagonal */

    __device__ LaneFactors(const Factors<S> &factors) : all(factors), offset(all.offset[lane()])
    {
#pragma unroll
        for (int i = 0; i < 2 * S::steps; i++)
            rows[i] = all.rows[i][lane()];
        minus_one = lane() / 8 == lane() % 4 ? 0xBC00u << lane() / 4 % 2 * 16 : 0;
    }

    static __device__ int lane()
    {
        return threadIdx.x % 32;
    }

    __device__ uint4 row(int i) const
    {
        return S::rows_stay ? rows[i] : all.rows[i][lane()];
    }

    __device__ float4 begin() const
    {
        return S::rows_stay ? all.offset[lane()] : offset;
    }
};

/* BLOCKS blocks of 8 rows of a run, filtered along the rows, as the first matrix of the second
 * product. What is multiplied together lies in neighbouring registers: two blocks' upper halves,
 * and two blocks' lower ones; of a block left over both halves. */
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

/* 8 rows of all runs, from their windows' steps, two words of two numbers each. Their upper halves
 * become block `own`; taken off by a product with -1 they leave the lower ones. */
template <typename S>
__device__ void filter_rows(const LaneFactors<S> &factors,
                            const uint32_t (&halves)[S::runs + S::steps - 1][2], int own,
                            Filtered<S::blocks> (&filtered)[S::runs])
{
    float sums[S::runs][4] = {};
#pragma unroll
    for (int i = 0; i < 2 * S::steps; i++) {
        const uint4 row = factors.row(i);
#pragma unroll
        for (int r = 0; r < S::runs; r++) {
            const uint32_t(&step)[2] = halves[r + i % S::steps];
            gf_multiply_halves(sums[r], row, step[0], step[1]);
        }
    }
#pragma unroll
    for (int r = 0; r < S::runs; r++) {
        const uint2 upper = round_halves(sums[r]);
        gf_multiply_halves(sums[r], upper, factors.minus_one);
        filtered[r].set(own, upper, round_halves(sums[r]));
    }
}

/* 8 output rows of all runs, from their filtered ones, of which block `own` is the last. Small
 * products come first, that of two lower halves is nothing. */
template <typename S>
__device__ void filter_columns(const LaneFactors<S> &factors,
                               const Filtered<S::blocks> (&filtered)[S::runs], int own,
                               float (&sums)[S::runs][4])
{
    constexpr int BLOCKS = S::blocks, PAIRS = BLOCKS / 2;
    const auto column = [&](int block) { return (block + 2 * BLOCKS - own - 1) % BLOCKS; };
    const float4 offset = factors.begin();
    const uint2 last = factors.all.last_columns[column(BLOCKS - 1)][factors.lane()];
    uint4 pairs[PAIRS];
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        pairs[i] = factors.all.columns[column(2 * i)][factors.lane()];
#pragma unroll
    for (int r = 0; r < S::runs; r++) {
        const Filtered<BLOCKS> &run = filtered[r];
        float(&v)[4] = sums[r];
        v[0] = offset.x, v[1] = offset.y, v[2] = offset.z, v[3] = offset.w;
#pragma unroll
        for (int i = 0; i < PAIRS; i++) {
            gf_multiply_halves(v, run.lower[i], pairs[i].z, pairs[i].w);
            gf_multiply_halves(v, run.upper[i], pairs[i].x, pairs[i].y);
        }
        if constexpr (BLOCKS % 2 == 1)
            gf_multiply_halves(v, run.last, last.x, last.y);
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
            gf_multiply_halves(v, run.upper[i], pairs[i].z, pairs[i].w);
        if constexpr (BLOCKS % 2 == 1)
            gf_multiply_halves(v, make_uint2(run.last.z, run.last.w), last.x);
    }
}

/* ---- storing ---- */

/* 8 output rows of a strip, of which a lane has two: sums 0 and 2 of a run are neighbours in the
 * one, 1 and 3 in the other. */
template <int RUNS> struct RunBytes {
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
template <int RUNS>
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

/* Walks down a strip by 8 rows, of which the picture's row 0 is one of the first, and begins with
 * the phase that belongs to them: so a row's sums are made in the same order whatever rows a launch
 * makes. What was filtered along the rows stays where it is while the loop passes as many batches
 * as there are blocks. */
template <bool SIMPLE, typename S, int... PHASE>
__device__ void run_factors(const GfByteStrips &s, const GfByteWalk &w, GfByteStream<S> &stream,
                            const LaneFactors<S> &factors, std::integer_sequence<int, PHASE...>)
{
    constexpr int HALVES = S::runs + S::steps - 1;
    const int lane = threadIdx.x % 32;
    Filtered<S::blocks> filtered[S::runs];
    RunBytes<S::runs> bytes(s, w);
    int first = -S::rows * (S::blocks - 1);
    int passed = static_cast<int>(w.top / S::rows % S::blocks); /* phases, at the beginning */
    const auto run_batch = [&](auto phase) {
        constexpr int OWN = decltype(phase)::value;
        const uint8_t *row = stream.wait() + lane / 4 * (S::vectors * 16) + lane % 4 * GF_WORD;
        stream.send_next(first + GF_BATCHES * S::rows < w.rows);
        uint32_t halves[HALVES][2];
#pragma unroll
        for (int i = 0; i < HALVES; i++) {
            const uint32_t word = *reinterpret_cast<const uint32_t *>(row + i * GF_GROUP);
            halves[i][0] = word & 0x00FF00FF;
            halves[i][1] = __byte_perm(word, 0, 0x4341);
        }
        filter_rows(factors, halves, OWN, filtered);
        float v[S::runs][4];
        filter_columns(factors, filtered, OWN, v);
        if (first >= 0) {
            if constexpr (SIMPLE)
                bytes.store(s, v);
            else if (s.simple)
                bytes.store_some(s, w, first, v);
            else
                store_runs(s, w, first, v);
        }
        first += S::rows;
    };
    /* False: it was the last. */
    const auto run_phase = [&](auto phase) {
        if (passed-- <= 0)
            run_batch(phase);
        return first < w.rows;
    };
    while ((run_phase(std::integral_constant<int, PHASE>()) && ...))
        ;
}

/* ---- the kernel ---- */

/* Products of a column of up to S::blocks * 8 - 7 taps and a row. */
template <typename S>
__global__ void __maxnreg__(S::registers) tensor_factors(const __grid_constant__ GfByteStrips s)
{
    __shared__ Factors<S> factors;
    __shared__ GfByteRing<S> rings[GF_STRIP_WARPS];
    GfByteRing<S> &ring = rings[threadIdx.x / 32];
    GfByteWalk w;
    factors.load(s);
    if (!gf_begin_strip(s, ring, &w))
        return;
    GfByteStream<S> stream(s, w, ring, 0);
    const LaneFactors<S> own(factors);
    if (w.simple)
        run_factors<true>(s, w, stream, own, std::make_integer_sequence<int, S::blocks>());
    else
        run_factors<false>(s, w, stream, own, std::make_integer_sequence<int, S::blocks>());
}

/* ---- the launcher ---- */

template <typename S> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfByteCut cut = {S::samples, 1, S::rows, 2, GF_STRIP_WARPS};
    return gf_launch_bytes(launch, tensor_factors<S>, cut, stream);
}

/* From the plan to its instances, one property after the other; NULL: there is none. */

using Run = decltype(&run<Shape<2, 2, 4>>);

/* By strips of four runs, and by wider ones, from so many outputs on: of square kernels on RGB. */
struct Ways {
    Run narrow, wide;
    size_t many;
};

template <int STEPS, int BLOCKS> Ways find_ways()
{
    constexpr bool LOW = STEPS == 3 && BLOCKS == 2; /* 7 x 7, 9 x 9 */
    constexpr bool HIGH = (STEPS == 4 && BLOCKS == 3) || (STEPS == 7 && BLOCKS == 5);
    if constexpr (LOW || HIGH)
        return {run<Shape<STEPS, BLOCKS, 4>>, run<Shape<STEPS, BLOCKS, LOW ? 8 : 6>>,
                size_t{1} << (STEPS == 4 ? 23 : 24)};
    else
        return {run<Shape<STEPS, BLOCKS, 4>>, nullptr, SIZE_MAX};
}

template <int STEPS> Ways find_blocks(const GfTensor &plan)
{
    switch (plan.height) {
    case 2:
        return find_ways<STEPS, 2>();
    case 3:
        return find_ways<STEPS, 3>();
    case 5:
        return find_ways<STEPS, 5>();
    }
    return {};
}

Ways find_steps(const GfTensor &plan)
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
    return {};
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_factors(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const Ways ways = find_steps(static_cast<const GfTensorState *>(launch->state)->plan);
    const size_t rows = (launch->y1 - launch->y0) * launch->count;
    const size_t outputs = rows * step->out_width * step->channels;
    Run run = outputs >= ways.many ? ways.wide : ways.narrow;
    if (launch->tiling > 0)
        run = launch->tiling == GF_TENSOR_WIDE_TILING ? ways.wide : nullptr;
    return run ? run(launch, stream) : cudaErrorNotSupported;
}
