/* The walk of `special` (special.cu): what a strip's sums are made of and become, its kernel, and
 * how a launch is told. */
#pragma once

#include <cmath>

#include "gpu/blocks.cuh"
#include "gpu/special.cuh"
#include "gpu/special_rows.cuh"

namespace gf_special
{

/* What may be tuned. */
constexpr int WARPS = 4, THREADS = 32 * WARPS; /* of a block: strips of their own */
/* Rows that are being read. */
template <typename In, int K> constexpr int AHEAD = K > 7 ? 1 : sizeof(In) == 1 || K > 3 ? 2 : 3;
constexpr int MOST_ROWS = 16;      /* output rows of a strip, times K (of 1 x 1: 3) */
constexpr int MOST_HALF_ROWS = 32; /* of halves, 7 x 7 and more */
constexpr double LATENCY = 3.0;    /* of a row, in what another warp takes for one */
constexpr int ASKED_ROWS = 32;     /* output rows of a strip, with the tilings */
constexpr size_t LITTLE = 1 << 21; /* output samples of launches that are worth hiding */

template <typename In> constexpr bool HALF = std::is_same_v<In, __half>;

/* N, the samples of a thread: each keeps F * K sums in registers, and there are one or two accesses
 * of a row, of 16 bytes at most. */
template <typename In, int K, int F>
constexpr int SAMPLES = F *K <= 3 && sizeof(In) == 1                                 ? 16
                        : (F *K == 1 && sizeof(In) == 4) || (F * K == 3 && HALF<In>) ? 4
                        : F *K <= 7                                                  ? 8
                                                                                     : 4;

/* Opacity has taps of its own where the channel of a thread's sample i is known: i % C. */
template <int C> constexpr int TAP_SETS = C == 2 || C == 4 ? 2 : 1;
template <int C> constexpr __host__ __device__ int tap_set(int i)
{
    return TAP_SETS<C> == 2 && i % C == C - 1;
}

/* ---- what a launch is told ---- */

template <int C, int K, int F> struct Special {
    Geometry g;
    float taps[TAP_SETS<C>][F][K * K];
};

/* ---- sums ---- */

/* Adds a row to the sums under way. sums[f][j] have seen j rows so far; those that see their last
 * one come out in `done`. Sums are made in the order of the taps, of large kernels row by row
 * first, whatever the strip: bits do not depend on how a picture is cut. */
template <int C, int K, int F, int N>
__device__ void add_row(const Special<C, K, F> &s, const float *x, float (&sums)[F][K][N],
                        float (&done)[F][N])
{
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int f = 0; f < F; f++)
#pragma unroll
            for (int i = 0; i < N; i++) {
                constexpr bool BY_ROWS = K * K > GF_FLAT_TAPS;
                const float *taps = s.taps[tap_set<C>(i)][f] + j * K;
                const float before = j ? sums[f][j][i] : s.g.start[tap_set<C>(i)];
                float sum = BY_ROWS ? taps[0] * x[i] : fmaf(taps[0], x[i], before);
#pragma unroll
                for (int k = 1; k < K; k++)
                    sum = fmaf(taps[k], x[i + k * C], sum);
                if constexpr (BY_ROWS)
                    sum += before;
                (j == K - 1 ? done[f][i] : sums[f][(j + 1) % K][i]) = sum;
            }
}

/* ---- from sums to samples ---- */

template <int C, int F, int N>
__device__ void finish_with_posts(const Geometry &g, float (&done)[F][N])
{
    float v[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = fmaf(done[0][i], g.finish.scale, g.finish.offset);
    if constexpr (F == 2) {
        float r[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            r[i] = fmaf(done[1][i], g.finish.scale, g.finish.offset);
        gf_join_responses(g.finish, v, r);
    } else {
        gf_combine_alone(g.finish, v);
    }
    gf_post_each(g.finish, v, [&](int i) { return TAP_SETS<C> == 1 || i % C < g.post_channels; });
#pragma unroll
    for (int i = 0; i < N; i++)
        done[0][i] = tap_set<C>(i) && g.keep_alpha ? done[0][i] * g.scale[1] : v[i];
}

/* Responses become samples, the first ones where they are, if no posts are left. */
template <int C, int F, int N>
__device__ void finish_samples(const Geometry &g, float (&done)[F][N])
{
    if (F == 1 && g.bare)
        return;
    if (g.ending == ENDING_SCALED)
#pragma unroll
        for (int i = 0; i < F * N; i++)
            done[i / N][i % N] =
                fmaf(done[i / N][i % N], g.scale[tap_set<C>(i % N)], g.offset[tap_set<C>(i % N)]);
    if constexpr (F == 2) {
        float first[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            first[i] = done[0][i];
        gf_join_responses(g.finish, done[0], done[1]);
#pragma unroll
        for (int i = 0; i < N; i++)
            done[0][i] = tap_set<C>(i) && g.keep_alpha ? first[i] : done[0][i];
    }
    if (g.magnitude)
#pragma unroll
        for (int i = 0; i < N; i++)
            done[0][i] = !tap_set<C>(i) || g.post_channels == C ? fabsf(done[0][i]) : done[0][i];
}

/* Stores N samples in 16-byte pieces, or less. */
template <typename Out, int N> __device__ void store_vector(unsigned char *to, const float (&v)[N])
{
    constexpr int PIECE = N * sizeof(Out) > 16 ? 16 / sizeof(Out) : N;
#pragma unroll
    for (int p = 0; p < N; p += PIECE) {
        uint32_t word[WORDS<Out, PIECE>];
        if constexpr (sizeof(Out) == 1 && PIECE >= 4)
#pragma unroll
            for (int i = 0; i < PIECE; i += 4)
                word[i / 4] = gf_round_bytes(v[p + i], v[p + i + 1], v[p + i + 2], v[p + i + 3]);
        else
            pack<Out, PIECE>(word, [&](int i) { return gf_convert<Out>(v[p + i]); });
        *reinterpret_cast<Vector<Out, PIECE> *>(to + p * sizeof(Out)) =
            join<Vector<Out, PIECE>>(word);
    }
}

template <int N>
__device__ void store_all(const Geometry &g, unsigned char *to, const float (&v)[N])
{
    if (g.finish.out == GF_U8)
        store_vector<uint8_t>(to, v);
    else if (g.finish.out == GF_U16)
        store_vector<uint16_t>(to, v);
    else
        store_vector<float>(to, v);
}

template <typename Out, int N>
__device__ void store_each(unsigned char *to, int count, const float (&v)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            reinterpret_cast<Out *>(to)[i] = gf_convert<Out>(v[i]);
}

/* Stores the first `count` of N samples. */
template <int N>
__device__ void store_some(const Geometry &g, unsigned char *to, int count, const float (&v)[N])
{
    if (g.vector_out && count >= N)
        store_all(g, to, v);
    else if (g.finish.out == GF_U8)
        store_each<uint8_t>(to, count, v);
    else if (g.finish.out == GF_U16)
        store_each<uint16_t>(to, count, v);
    else
        store_each<float>(to, count, v);
}

/* ---- the kernel ---- */

/* Walks down a strip. PLAIN: there are no posts, and all samples can be stored as vectors. */
template <typename In, int C, int K, int F, int N, bool PLAIN, typename Reader>
__device__ void walk(const Special<C, K, F> &s, const Strip &strip, Reader reader)
{
    constexpr int AT_ONCE = PLAIN ? AHEAD<In, K> : 1;
    const Geometry &g = s.g;
    const int total = strip.rows + K - 1, sample = strip.first + N * my_lane();
    unsigned char *to = static_cast<unsigned char *>(g.out.samples) + blockIdx.y * g.out.batch +
                        (strip.top - g.y0) * g.out.stride +
                        static_cast<size_t>(sample) * g.out_bytes;
    float sums[F][K][N] = {};
    Row<In, C, K, N> rows[AT_ONCE] = {};
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
        if (i < total)
            reader.read_row(i, rows[i]);
    for (int first = 0; first < total; first += AT_ONCE)
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const int r = first + i;
            if (r >= total)
                return;
            float x[N + 2 * Row<In, C, K, N>::SIDE], done[F][N];
            reader.end_row(r, rows[i]);
            widen(rows[i], x);
            if (PLAIN || r + AT_ONCE < total) /* a test would hold reading up */
                reader.read_row(r + AT_ONCE, rows[i]);
            add_row<C, K, F, N>(s, x, sums, done);
            if (r < K - 1)
                continue;
            if (PLAIN || g.ending != ENDING_POSTS)
                finish_samples<C, F, N>(g, done);
            else
                finish_with_posts<C, F, N>(g, done);
            if (PLAIN)
                store_all(g, to, done[0]);
            else
                store_some(g, to, g.out_samples - sample, done[0]);
            to += g.out.stride;
        }
}

/* The i-th strip. */
__device__ inline Strip find_strip(const Geometry &g, unsigned i, int side, int samples)
{
    Strip strip;
    const GfWalk walk = gf_walk(g.walks, i);
    strip.top = g.y0 + walk.top;
    strip.rows = walk.rows;
    strip.first = static_cast<int>(walk.strip) * samples;
    strip.base = strip.first + g.shift;
    strip.begin = g.first_row;
    strip.end = strip.rows + g.last_row;
    strip.row = nullptr;
    const long long y = static_cast<long long>(strip.top) + g.origin_y + strip.begin;
    const int count = strip.end - strip.begin;
    size_t slot = static_cast<size_t>(y) - g.in.first;
    slot -= slot >= g.in.capacity ? g.in.capacity : 0;
    if (y >= 0 && y + count <= g.in_height && slot + count <= g.in.capacity)
        strip.row = static_cast<const unsigned char *>(g.in.samples) + slot * g.in.stride +
                    blockIdx.y * g.in.batch;
    return strip;
}

/* Registers of a thread, and by them the blocks on a multiprocessor. */
template <typename In, int C, int K, int F, int N> constexpr int REGISTERS()
{
    using R = Row<In, C, K, N>;
    return F * K * N + N + 2 * R::SIDE + AHEAD<In, K> * (WORDS<In, N> + R::LENT_WORDS) +
           (C > 1 && K > 5       ? 54
            : K > 7              ? 44
            : C > 1 || F * K > 7 ? 30
                                 : 22);
}

template <typename In, int C, int K, int F, int N> constexpr int BLOCKS()
{
    constexpr int blocks = 65536 / THREADS / REGISTERS<In, C, K, F, N>();
    return blocks < 1 ? 1 : blocks > 8 ? 8 : blocks;
}

template <typename In, int C, int K, int F, int N>
__global__ void __launch_bounds__(THREADS, (BLOCKS<In, C, K, F, N>()))
    special(const __grid_constant__ Special<C, K, F> s)
{
    using R = Row<In, C, K, N>;
    __shared__ Odd<In, C, K, N> odd[WARPS];
    const int warp = gf_warp();
    const size_t i = static_cast<size_t>(blockIdx.x) * WARPS + warp;
    if (i >= s.g.walks.units)
        return;
    const Strip strip = find_strip(s.g, static_cast<unsigned>(i), K, 32 * N);
    gf_wait_for_stream();
    if (s.g.plain && strip.row && strip.base >= R::REACH &&
        strip.base <= s.g.in_samples - 32 * N - R::REACH && strip.first <= s.g.out_samples - 32 * N)
        walk<In, C, K, F, N, true>(s, strip, PlainReader<In, C, K, N>(s.g, strip));
    else
        walk<In, C, K, F, N, false>(s, strip, OddReader<In, C, K, N>(s.g, strip, odd[warp]));
}

/* ---- the launcher ---- */

/* Where a step's kernel lies in the smallest box that special can compute. Layers fill theirs. */
struct Box {
    int side, left, above;
};

inline Box find_box(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    if (gf_step_is_layer(step))
        return {static_cast<int>(linear->width), 0, 0};
    const int side = static_cast<int>(gf_special_side(linear));
    return {side, side / 2 - static_cast<int>(linear->anchor_x),
            side / 2 - static_cast<int>(linear->anchor_y)};
}

/* May sums begin with what is added to them? Those of integers are counted as exact, which they
 * stay only beside other integers. */
inline bool may_begin(const GfStep *step)
{
    const double shift = (step->linear.offset + (step->bias ? step->bias[0] : 0.0)) * step->gain;
    return gf_sample_is_float(step->in) || (gf_is_whole(shift) && gf_is_whole(shift + step->mid));
}

/* How sums become samples. A factor of both responses is one of what they are combined to, if it is
 * positive. */
inline Ending choose_ending(const GfLaunch *launch, bool magnitude)
{
    const GfStep *step = launch->step;
    const GfCombineOp op = step->combine.op;
    const bool two = step->linear.filters == 2;
    const bool joins = two ? step->gain > 0.0 && step->mid == 0.0 && op != GF_COMBINE_UNSHARP &&
                                 op != GF_COMBINE_NONE
                           : op == GF_COMBINE_NONE;
    const bool all_colours = step->post_channels + 1 >= step->channels &&
                             (step->post_channels == step->channels || step->channels % 2 == 0);
    if (!joins || !all_colours || (step->posts > 0 && !magnitude))
        return ENDING_POSTS;
    return gf_is_small_power(step->linear.scale * step->gain) && gf_is_small_power(step->gain) &&
                   gf_have_taps_room(launch) && may_begin(step)
               ? ENDING_IN_TAPS
               : ENDING_SCALED;
}

/* All that is done to sums of samples in units of `unit`. */
inline void place_ending(const GfLaunch *launch, float unit, Geometry *g)
{
    const GfStep *step = launch->step;
    const double shift = step->linear.offset + (step->bias ? step->bias[0] : 0.0);
    const float rest = gf_have_taps_room(launch) ? 1.0f : 1.0f / unit; /* that taps cannot take */
    g->magnitude = step->linear.filters == 1 && step->posts == 1 && step->gain > 0.0 &&
                   step->mid == 0.0 && step->post[0].op == GF_POINTWISE_ABS;
    g->ending = choose_ending(launch, g->magnitude);
    g->bare = g->ending == ENDING_IN_TAPS && !g->magnitude;
    g->finish.scale *= rest;
    g->finish.offset = static_cast<float>(shift);
    for (size_t set = 0; set < 2; set++) {
        const bool kept = set == 1 && step->keep_alpha;
        const bool colour = set == 0 || step->post_channels == step->channels;
        const double scale = kept ? step->gain : step->linear.scale * step->gain;
        const double offset = kept ? 0.0 : shift * step->gain + (colour ? step->mid : 0.0);
        const bool in_taps = g->ending == ENDING_IN_TAPS;
        g->scale[set] = static_cast<float>(scale) * rest;
        g->offset[set] = static_cast<float>(offset);
        g->start[set] = in_taps ? static_cast<float>(offset) : 0.0f;
        g->factor[set] = (in_taps ? static_cast<float>(scale) : 1.0f) / unit / rest;
    }
}

/* n: samples of a thread */
inline Geometry describe(const GfLaunch *launch, const Box &box, int n, float unit)
{
    const GfStep *step = launch->step;
    const int channels = static_cast<int>(step->channels);
    Geometry g = {};
    g.in = launch->in;
    g.out = launch->out;
    g.y0 = launch->y0;
    g.in_width = static_cast<long long>(step->in_width);
    g.in_height = static_cast<long long>(step->in_height);
    g.origin_y = step->origin_y - box.above;
    g.first_row = box.above;
    g.last_row = box.above + static_cast<int>(step->linear.height) - 1;
    g.in_samples = static_cast<int>(step->in_width) * channels;
    g.out_samples = static_cast<int>(step->out_width) * channels;
    g.shift = (static_cast<int>(step->origin_x) - box.left + box.side / 2) * channels;
    g.out_bytes = static_cast<int>(gf_sample_size(step->out));
    g.post_channels = static_cast<int>(step->post_channels);
    g.keep_alpha = step->keep_alpha;
    size_t piece = n * gf_sample_size(step->out);
    const size_t access = n * gf_sample_size(step->in);
    g.vector_in = g.shift % n == 0 &&
                  gf_aligned(g.in.samples, g.in.stride, g.in.batch, access < 16 ? access : 16);
    g.vector_out = gf_aligned(g.out.samples, g.out.stride, g.out.batch, piece < 16 ? piece : 16);
    g.border = step->border;
    g.border_value = static_cast<float>(step->border_value);
    g.finish = gf_finish<float>(step);
    place_ending(launch, unit, &g);
    g.plain = g.vector_in && g.vector_out && g.ending != ENDING_POSTS;
    return g;
}

/* How many rows a strip has. A warp goes through its rows, its halo and its start; each takes its
 * turn among the others that run on a quarter of a multiprocessor, and LATENCY more turns. Strips
 * that are too long would be waited for at the end. */
inline unsigned choose_rows(size_t rows, size_t most, size_t columns, size_t blocks, int side)
{
    const double quarters = static_cast<double>(gf_multiprocessors()) * 4.0;
    const double resident = static_cast<double>(blocks) * WARPS / 4.0;
    size_t best = 1;
    double least = 0.0;
    for (size_t own = 1; own <= rows && own <= most; own++) {
        const double warps = static_cast<double>(columns * gf_divide_up(rows, own)) / quarters;
        const double waves = warps / resident;
        const double turns = std::fmin(warps, resident) + LATENCY;
        const double rounds = waves > 1.0 ? std::fmin(std::ceil(waves), waves + 0.5) : 1.0;
        const double cost = rounds * turns * (static_cast<double>(own) + side + 0.5);
        if (own > 1 && cost >= least)
            continue;
        least = cost;
        best = own;
    }
    return static_cast<unsigned>(best);
}

template <typename In> void cut(const GfLaunch *launch, size_t blocks, int side, int n, Geometry *g)
{
    const size_t rows = launch->y1 - launch->y0;
    const size_t most =
        static_cast<size_t>(HALF<In> && side > 5 ? MOST_HALF_ROWS : MOST_ROWS * std::max(side, 3));
    const size_t strips = static_cast<size_t>(gf_divide_up(g->out_samples, 32 * n));
    if (launch->tiling > 0)
        g->walks = gf_walks(strips, rows, ASKED_ROWS, ASKED_ROWS, 1);
    else
        g->walks =
            gf_walks(strips, rows, choose_rows(rows, most, strips * launch->count, blocks, side),
                     2 * static_cast<size_t>(side) + 2, 1);
}

/* The taps in their box, with their factor; opacity that is kept has the identity. */
template <int C, int K, int F>
void place_taps(const GfLaunch *launch, const Box &box, Special<C, K, F> *s)
{
    const GfLinear *linear = &launch->step->linear;
    for (int set = 0; set < TAP_SETS<C>; set++) {
        const float factor = s->g.factor[set];
        for (size_t f = 0; f < F; f++) {
            float *to = s->taps[set][f];
            const float *taps = static_cast<const float *>(launch->weights_host) +
                                f * linear->height * linear->width;
            if (set == 1 && launch->step->keep_alpha) {
                to[K * K / 2] = factor;
                continue;
            }
            for (size_t y = 0; y < linear->height; y++)
                for (size_t x = 0; x < linear->width; x++)
                    to[(box.above + y) * K + box.left + x] = taps[y * linear->width + x] * factor;
        }
    }
}

template <typename In, int C, int K, int F, int N>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const Box box = find_box(launch->step);
    Special<C, K, F> s = {describe(launch, box, N, UNIT<In>), {}};
    cut<In>(launch, BLOCKS<In, C, K, F, N>(), K, N, &s.g);
    place_taps(launch, box, &s);
    const unsigned blocks = static_cast<unsigned>(gf_divide_up<size_t>(s.g.walks.units, WARPS));
    const dim3 grid(blocks, static_cast<unsigned>(launch->count));
    const auto kernel = special<In, C, K, F, N>;
    const GfBlocks all = {grid, THREADS};
    if (K > GF_SPECIAL_SIDE || (launch->y1 - launch->y0) * s.g.out_samples * launch->count > LITTLE)
        return gf_launch(kernel, all, stream, s);
    return gf_launch_early(kernel, gf_spread(kernel, all), stream, s);
}

/* From the launch to its instance, one property after the other. */

template <typename In, int C, int K>
cudaError_t run_filters(const GfLaunch *launch, cudaStream_t stream)
{
    const bool one = launch->step->linear.filters == 1;
    if (one)
        return run<In, C, K, 1, SAMPLES<In, K, 1>>(launch, stream);
    if constexpr (K <= GF_SPECIAL_SIDE)
        return run<In, C, K, 2, SAMPLES<In, K, 2>>(launch, stream);
    return cudaErrorNotSupported;
}

template <typename In, int C> cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    switch (find_box(launch->step).side) {
    case 1:
        return run_filters<In, C, 1>(launch, stream);
    case 3:
        return run_filters<In, C, 3>(launch, stream);
    case 5:
        return run_filters<In, C, 5>(launch, stream);
    case 7:
        return run_filters<In, C, 7>(launch, stream);
    }
    if constexpr (C == 1)
        switch (find_box(launch->step).side) {
        case 9:
            return run_filters<In, C, 9>(launch, stream);
        case 11:
            return run_filters<In, C, 11>(launch, stream);
        case 13:
            return run_filters<In, C, 13>(launch, stream);
        case 15:
            return run_filters<In, C, 15>(launch, stream);
        }
    return cudaErrorNotSupported;
}

template <typename In> cudaError_t run_channels(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->channels) {
    case 1:
        return run_side<In, 1>(launch, stream);
    case 2:
        return run_side<In, 2>(launch, stream);
    case 3:
        return run_side<In, 3>(launch, stream);
    case 4:
        return run_side<In, 4>(launch, stream);
    }
    return cudaErrorNotSupported;
}

} // namespace gf_special
