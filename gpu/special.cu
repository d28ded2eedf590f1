/* Method `special`: algorithm 1 of Chen, Chen, Chen and Hu, "Optimizing Memory Efficiency for
 * Convolution Kernels on Kepler GPUs" (DAC 2017), for pictures whose channels are
 * filtered one by one with small kernels. (Layers of one channel: special_layer.cu.)
 *
 * A block owns a strip of THREADS * N samples of a row and walks down BLOCK_ROWS output rows; a
 * thread owns N neighbouring samples. Each input row is read from global memory once, one vector of
 * N samples a thread, while the row before it is still being used; it is exchanged sideways through
 * one of two shared-memory rows, one barrier a row. A vector is 4, 8 or 16 bytes, so that narrow
 * samples too fill the 4-byte banks of shared memory: the paper's matched width, and multiples of
 * it where registers allow, since all that a row costs beside its multiply-adds is shared by the N.
 * (The tilings of the table force N, down to accesses of one narrow sample, so that the paper's
 * comparison of matched and unmatched widths can be repeated.)
 * Downwards nothing is exchanged: a thread keeps, instead of the paper's K rows of pixels, the K -
 * 1 sums of the output rows that are under way, and each input row is added to all of them. A sum
 * moves on by one place with every row; the first multiply-add of a row does that for free, so the
 * loop needs no unrolling modulo K.
 *
 * Interleaved channels are a row of width * C samples whose taps lie C apart. Taps are a kernel
 * parameter, so the multiply-adds take them from uniform registers and no thread loads one. Kernels
 * that are no K x K square about their anchor lie in the smallest such box, filled up with zero
 * taps.
 *
 * Costs for a sample of input: (BLOCK_ROWS + K - 1) / BLOCK_ROWS reads and one write of global
 * memory, F * K * K multiply-adds. */
#include "gpu/device.cuh"

namespace
{

constexpr int THREADS = 128;   /* of a block, side by side */
constexpr int BLOCK_ROWS = 32; /* output rows of a block */

/* N, the samples of a thread: each keeps F * K sums in registers, and one access moves 16 bytes at
 * most. */
template <int SUMS> constexpr int MOST_SAMPLES = SUMS <= 3 ? 16 : SUMS <= 7 ? 8 : 4;
template <typename In, int K, int F>
constexpr int SAMPLES = MOST_SAMPLES<F * K> * sizeof(In) < 16 ? MOST_SAMPLES<F * K>
                                                              : 16 / sizeof(In);
constexpr unsigned MOST_PICTURES = 65535; /* of a launch: what grid.y holds */

/* The row in shared memory begins with a whole vector, at or before the first sample that a strip
 * needs: LEAD samples before it when the kernel is centred (it then is aligned in global memory
 * too). A thread's window is its own vector and the WINDOW - 1 after it. */
template <int C, int K, int N> constexpr int LEAD = (N - C * (K / 2) % N) % N;
template <int C, int K, int N> constexpr int WINDOW = (N - 1 + LEAD<C, K, N> + (K - 1) * C) / N + 1;

/* Opacity has taps of its own where the channel of a thread's sample i is known: i % C. */
template <int C> constexpr int TAP_SETS = C == 2 || C == 4 ? 2 : 1;
template <int C> constexpr __host__ __device__ bool is_opacity(int i)
{
    return TAP_SETS<C> == 2 && i % C == C - 1;
}

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

__device__ void split(uint32_t v, uint32_t *word)
{
    word[0] = v;
}

__device__ void split(uint2 v, uint32_t *word)
{
    word[0] = v.x;
    word[1] = v.y;
}

__device__ void split(uint4 v, uint32_t *word)
{
    word[0] = v.x;
    word[1] = v.y;
    word[2] = v.z;
    word[3] = v.w;
}

template <typename To, int words> __device__ To join(const uint32_t (&word)[words])
{
    if constexpr (words == 1)
        return static_cast<To>(word[0]);
    else if constexpr (words == 2)
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

/* N samples that `sample(i)` gives, as they lie in memory. */
template <typename In, int N, typename Sample> __device__ Vector<In, N> pack(Sample sample)
{
    uint32_t word[WORDS<In, N>] = {};
#pragma unroll
    for (int i = 0; i < N; i++)
        word[i / A_WORD<In, N>] |= bits(sample(i)) << i % A_WORD<In, N> * 8 * sizeof(In) % 32;
    return join<Vector<In, N>>(word);
}

/* An integer below 2^16 in the low bits of 2^23 is a float: a byte permutation and a subtraction,
 * where a conversion would take four times as long. */
__device__ float to_float(uint32_t word, unsigned selector)
{
    return __uint_as_float(__byte_perm(word, 0x4B000000u, selector)) - 8388608.0f;
}

/* The first `count` samples of one word. */
template <typename In, int count> __device__ void unpack(uint32_t word, float *x)
{
    if constexpr (sizeof(In) == 4) {
        x[0] = __uint_as_float(word);
    } else if constexpr (std::is_same_v<In, __half>) {
        for (unsigned i = 0; i < count; i++)
            x[i] = __half2float(__ushort_as_half(static_cast<uint16_t>(word >> 16 * i)));
    } else {
        constexpr unsigned selector = sizeof(In) == 1 ? 0x7440 : 0x7410;
        constexpr unsigned next = sizeof(In) == 1 ? 0x1 : 0x22;
        for (unsigned i = 0; i < count; i++)
            x[i] = to_float(word, selector + i * next);
    }
}

/* ---- what a launch is told ---- */

/* All but the taps: the same for every instance. */
struct Geometry {
    GfRows in;
    GfOutRows out;
    size_t y0, y1;
    long long in_width, in_height;
    long long origin_y;      /* input row of the box's first row for output row 0 */
    int first_row, last_row; /* rows of the box that have taps: no others need to be there */
    int in_samples, out_samples;
    int shift;       /* input sample of the box's first column for output sample 0 */
    unsigned strips; /* side by side */
    int post_channels;
    bool keep_alpha;
    bool vector_in, vector_out; /* vectors are aligned in global memory */
    GfBorder border;
    float border_value;
    GfFinish<float> finish;
};

template <int C, int K, int F> struct Special {
    Geometry g;
    float taps[TAP_SETS<C>][F][K * K];
};

/* ---- reading ---- */

/* The rows of one strip, as this block reads them. */
template <typename In> struct Strip {
    const Geometry &g;
    size_t top;         /* its first output row */
    int rows;           /* output rows */
    int base;           /* input sample at the start of the row in shared memory */
    const int *columns; /* samples' places by the border's rule; NULL: the strip lies inside */
};

/* Input row r of the block, 0 being the row of the first output's first tap; NULL where the
 * border's constant stands, or where only zero taps would meet it. */
template <typename In> __device__ const In *strip_row(const Strip<In> &strip, int r)
{
    const Geometry &g = strip.g;
    if (r < g.first_row || r > strip.rows - 1 + g.last_row)
        return nullptr;
    long long y = static_cast<long long>(strip.top) + g.origin_y + r;
    y = gf_border_index(y, g.in_height, g.border);
    if (y < 0)
        return nullptr;
    return reinterpret_cast<const In *>(
        reinterpret_cast<const unsigned char *>(gf_row<In>(g.in, static_cast<size_t>(y))) +
        blockIdx.y * g.in.batch);
}

template <typename In> __device__ In sample_at(const Geometry &g, const In *row, int column)
{
    return column < 0 ? static_cast<In>(g.border_value) : row[column];
}

/* Vector v of a row, counted from the strip's base. */
template <typename In, int N>
__device__ Vector<In, N> read_vector(const Strip<In> &strip, const In *row, int v)
{
    const Geometry &g = strip.g;
    if (!row)
        return pack<In, N>([&](int) { return static_cast<In>(g.border_value); });
    int first = strip.base + N * v;
    if (strip.columns && (first < 0 || first > g.in_samples - N)) {
        const int *column = strip.columns + N * v;
        return pack<In, N>([&](int i) { return sample_at(g, row, column[i]); });
    }
    if (g.vector_in)
        return __ldg(reinterpret_cast<const Vector<In, N> *>(row + first));
    return pack<In, N>([&](int i) { return row[first + i]; });
}

/* Fills `columns` with the places in a row of the `count` samples from `base` on; -1: the constant.
 */
template <int C> __device__ void map_columns(const Geometry &g, int base, int count, int *columns)
{
    for (int i = threadIdx.x; i < count; i += THREADS) {
        int sample = base + i;
        int pixel = (sample - (sample < 0 ? C - 1 : 0)) / C; /* rounded down */
        long long x = gf_border_index(pixel, g.in_width, g.border);
        columns[i] = x < 0 ? -1 : static_cast<int>(x) * C + (sample - pixel * C);
    }
    __syncthreads();
}

/* ---- sums ---- */

/* Adds a row to the sums under way. sums[f][j] have seen j rows so far; those that see their last
 * one come out in `done`. Sums are made in the order of the taps, whatever the block: bits do not
 * depend on how a picture is cut. */
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
                const float *taps = s.taps[is_opacity<C>(i) ? 1 : 0][f] + j * K;
                float sum = j ? sums[f][j][i] : 0.0f;
#pragma unroll
                for (int k = 0; k < K; k++)
                    sum = fmaf(taps[k], x[i + k * C], sum);
                (j == K - 1 ? done[f][i] : sums[f][(j + 1) % K][i]) = sum;
            }
}

/* ---- from sums to samples ---- */

template <int C, int F, int N>
__device__ void finish_samples(const Geometry &g, const float (&done)[F][N], float (&v)[N])
{
    for (int i = 0; i < N; i++)
        v[i] = fmaf(done[0][i], g.finish.scale, g.finish.offset);
    if constexpr (F == 2) {
        float r[N];
        for (int i = 0; i < N; i++)
            r[i] = fmaf(done[1][i], g.finish.scale, g.finish.offset);
        gf_combine_each(g.finish, v, r);
    } else {
        gf_combine_alone(g.finish, v);
    }
    gf_post_each(g.finish, v, [&](int i) { return TAP_SETS<C> == 1 || i % C < g.post_channels; });
    if (TAP_SETS<C> == 2 && g.keep_alpha)
        for (int i = C - 1; i < N; i += C)
            v[i] = done[0][i] * g.finish.gain;
}

/* Stores N samples in 16-byte pieces, or less. */
template <typename Out, int N, typename Convert>
__device__ void store_vector(void *row, int s, const float (&v)[N], Convert convert)
{
    constexpr int PIECE = N * sizeof(Out) > 16 ? 16 / sizeof(Out) : N;
    for (int p = 0; p < N; p += PIECE)
        *reinterpret_cast<Vector<Out, PIECE> *>(static_cast<Out *>(row) + s + p) =
            pack<Out, PIECE>([&](int i) { return static_cast<Out>(convert(v[p + i])); });
}

/* Stores the samples from s on of one output row; s is a multiple of N. */
template <int N>
__device__ void store_samples(const Geometry &g, size_t y, int s, const float (&v)[N])
{
    void *row = static_cast<unsigned char *>(g.out.samples) + (y - g.y0) * g.out.stride +
                blockIdx.y * g.out.batch;
    if (g.vector_out && s <= g.out_samples - N) {
        if (g.finish.out == GF_U8)
            store_vector<uint8_t>(row, s, v, [](float x) { return gf_round(x, 255); });
        else if (g.finish.out == GF_U16)
            store_vector<uint16_t>(row, s, v, [](float x) { return gf_round(x, 65535); });
        else
            store_vector<float>(row, s, v, [](float x) { return x; });
        return;
    }
    for (int i = 0; i < N; i++)
        if (s < g.out_samples - i)
            gf_store(row, static_cast<size_t>(s + i), v[i], g.finish.out);
}

/* ---- the kernel ---- */

template <typename In, int C, int K, int F, int N>
__global__ void __launch_bounds__(THREADS) special(const __grid_constant__ Special<C, K, F> s)
{
    constexpr int W = WINDOW<C, K, N>, PER = WORDS<In, N>;
    constexpr int VECTORS = THREADS + W - 1;
    __shared__ Vector<In, N> shared[2][VECTORS];
    __shared__ int columns[N * VECTORS];
    const Geometry &g = s.g;
    const int t = threadIdx.x;
    const int first = static_cast<int>(blockIdx.x % g.strips) * (THREADS * N);
    const size_t top = g.y0 + static_cast<size_t>(blockIdx.x / g.strips) * BLOCK_ROWS;
    const int rows = static_cast<int>(min(g.y1 - top, static_cast<size_t>(BLOCK_ROWS)));
    const int base = first + g.shift - LEAD<C, K, N>;
    const bool edge = base < 0 || base > g.in_samples - N * VECTORS;
    if (edge)
        map_columns<C>(g, base, N * VECTORS, columns);
    const Strip<In> strip = {g, top, rows, base, edge ? columns : nullptr};
    const bool has_halo = t < W - 1;

    float sums[F][K][N] = {};
    const In *row = strip_row(strip, 0);
    Vector<In, N> own = read_vector<In, N>(strip, row, t), halo = {};
    if (has_halo)
        halo = read_vector<In, N>(strip, row, THREADS + t);
    for (int r = 0; r < rows + K - 1; r++) {
        /* The other half may still be read by slower threads; this half was left by all of them
         * before the barrier of the row before. */
        Vector<In, N> *half = shared[r & 1];
        half[t] = own;
        if (has_halo)
            half[THREADS + t] = halo;
        __syncthreads();
        if (r + 1 < rows + K - 1) {
            row = strip_row(strip, r + 1);
            own = read_vector<In, N>(strip, row, t);
            if (has_halo)
                halo = read_vector<In, N>(strip, row, THREADS + t);
        }
        uint32_t words[W * PER];
        float x[N * W], done[F][N], v[N];
#pragma unroll
        for (int i = 0; i < W; i++)
            split(half[t + i], words + PER * i);
#pragma unroll
        for (int i = 0; i < W * PER; i++)
            unpack<In, N / PER>(words[i], x + i * (N / PER));
        add_row<C, K, F, N>(s, x + LEAD<C, K, N>, sums, done);
        if (r < K - 1)
            continue;
        finish_samples<C, F, N>(g, done, v);
        store_samples(g, top + static_cast<size_t>(r - (K - 1)), first + N * t, v);
    }
}

/* ---- the launcher ---- */

bool aligned(const void *rows, size_t stride, size_t batch, size_t bytes)
{
    return reinterpret_cast<uintptr_t>(rows) % bytes == 0 && stride % bytes == 0 &&
           batch % bytes == 0;
}

/* n: samples of a thread */
Geometry describe(const GfLaunch *launch, int channels, int side, int lead, int n)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    const int half = side / 2;
    Geometry g = {};
    g.in = launch->in;
    g.out = launch->out;
    g.y0 = launch->y0;
    g.y1 = launch->y1;
    g.in_width = static_cast<long long>(step->in_width);
    g.in_height = static_cast<long long>(step->in_height);
    g.origin_y = step->origin_y + static_cast<long long>(linear->anchor_y) - half;
    g.first_row = half - static_cast<int>(linear->anchor_y);
    g.last_row = g.first_row + static_cast<int>(linear->height) - 1;
    g.in_samples = static_cast<int>(step->in_width * step->channels);
    g.out_samples = static_cast<int>(step->out_width * step->channels);
    g.shift =
        (static_cast<int>(step->origin_x) + static_cast<int>(linear->anchor_x) - half) * channels;
    g.strips = static_cast<unsigned>((g.out_samples + THREADS * n - 1) / (THREADS * n));
    g.post_channels = static_cast<int>(step->post_channels);
    g.keep_alpha = step->keep_alpha;
    size_t piece = n * gf_sample_size(step->out);
    g.vector_in = (g.shift - lead) % n == 0 &&
                  aligned(g.in.samples, g.in.stride, g.in.batch, n * gf_sample_size(step->in));
    g.vector_out = aligned(g.out.samples, g.out.stride, g.out.batch, piece < 16 ? piece : 16);
    g.border = step->border;
    g.border_value = static_cast<float>(step->border_value);
    g.finish = gf_finish<float>(step);
    return g;
}

/* The taps in their box; opacity that is kept has the identity. */
template <int C, int K, int F> void place_taps(const GfLaunch *launch, Special<C, K, F> *s)
{
    const GfLinear *linear = &launch->step->linear;
    const size_t left = K / 2 - linear->anchor_x, above = K / 2 - linear->anchor_y;
    for (int set = 0; set < TAP_SETS<C>; set++)
        for (size_t f = 0; f < F; f++) {
            float *box = s->taps[set][f];
            const float *taps = static_cast<const float *>(launch->weights_host) +
                                f * linear->height * linear->width;
            if (set == 1 && launch->step->keep_alpha) {
                box[K * K / 2] = 1.0f;
                continue;
            }
            for (size_t y = 0; y < linear->height; y++)
                for (size_t x = 0; x < linear->width; x++)
                    box[(above + y) * K + left + x] = taps[y * linear->width + x];
        }
}

template <typename In, int C, int K, int F, int N>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    Special<C, K, F> s = {describe(launch, C, K, LEAD<C, K, N>, N), {}};
    place_taps(launch, &s);
    size_t down = (launch->y1 - launch->y0 + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (size_t left = launch->count; left > 0;) {
        const unsigned pictures =
            left < MOST_PICTURES ? static_cast<unsigned>(left) : MOST_PICTURES;
        const dim3 grid(static_cast<unsigned>(s.g.strips * down), pictures);
        special<In, C, K, F, N><<<grid, THREADS, 0, stream>>>(s);
        s.g.in.samples =
            static_cast<const unsigned char *>(s.g.in.samples) + pictures * s.g.in.batch;
        s.g.out.samples = static_cast<unsigned char *>(s.g.out.samples) + pictures * s.g.out.batch;
        left -= pictures;
    }
    return cudaGetLastError();
}

/* From the launch to its instance, one property after the other. */

/* The accesses that the table's tilings ask for: the i-th moves 2^(i - 1) samples. */
template <typename In, int K, int I = 1>
cudaError_t run_tiling(const GfLaunch *launch, cudaStream_t stream)
{
    constexpr int N = 1 << (I - 1);
    if constexpr (N * sizeof(In) <= 16) {
        if (launch->tiling == I)
            return run<In, 1, K, 1, N>(launch, stream);
        return run_tiling<In, K, I + 1>(launch, stream);
    }
    return cudaErrorNotSupported;
}

template <typename In, int C, int K>
cudaError_t run_filters(const GfLaunch *launch, cudaStream_t stream)
{
    const bool one = launch->step->linear.filters == 1;
    if (launch->tiling > 0) {
        if constexpr (C == 1 && K > 1)
            return one ? run_tiling<In, K>(launch, stream) : cudaErrorNotSupported;
        return cudaErrorNotSupported;
    }
    return one ? run<In, C, K, 1, SAMPLES<In, K, 1>>(launch, stream)
               : run<In, C, K, 2, SAMPLES<In, K, 2>>(launch, stream);
}

template <typename In, int C> cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    switch (gf_special_side(&launch->step->linear)) {
    case 1:
        return run_filters<In, C, 1>(launch, stream);
    case 3:
        return run_filters<In, C, 3>(launch, stream);
    case 5:
        return run_filters<In, C, 5>(launch, stream);
    case 7:
        return run_filters<In, C, 7>(launch, stream);
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

} // namespace

extern "C" cudaError_t gf_launch_special(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const bool layer = gf_step_is_layer(step);
    const bool alike = step->channels == 1 && step->linear.filters == 1 && !step->combine.op;
    if (layer || (alike && launch->tiling == GF_SPECIAL_AS_LAYER))
        return gf_launch_special_layer(launch, stream);
    return gf_with_sample<float>(
        step->in, [&](auto sample) { return run_channels<decltype(sample)>(launch, stream); });
}
