/* Sums in f64 that registers hold: of one or two kernels of 3 x 3, 5 x 5 or 7 x 7 (method
 * `special`), and of products of a column and a row up to 31 x 31 (method `separable`). Beyond the
 * sources, which sum in f32.
 *
 * A warp owns a strip of columns of one channel and walks down its rows, each of which it reads
 * once. It sends for the next few rows while it computes with the last: what has come lies in
 * registers as it lay in memory, and goes to shared memory, the warp's own, as numbers, each made
 * once. There a lane finds the windows of its outputs, which lie side by side. Not samples but sums
 * roll: a row is multiplied by every row of taps, and added to as many sums under way, of which one
 * is then an output. Of products, the row is filtered by the row of taps first.
 *
 * So no warp waits for another. A sample's type and its channel's layout matter only where it is
 * read and stored: one kernel computes all types, planes and pixels.
 *
 * Costs for a sample: one read (but for the halo: K - 1 columns of a strip, K - 1 rows of a walk),
 * a conversion, K * K multiply-adds in f64 (of products 2 * K), an access of shared memory or two,
 * one write. */
#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 4, THREADS = 32 * WARPS; /* of a block, at most */
constexpr int ROWS = 4;                        /* that a warp sends for at once */

/* What a kernel is compiled for. RUN: outputs of a lane, side by side. */
template <int SIDE, int FILTERS_, bool PRODUCT_> struct Shape {
    static constexpr int K = SIDE, FILTERS = FILTERS_;
    static constexpr bool PRODUCT = PRODUCT_;
    static constexpr int RUN = K * FILTERS > 15 ? 2 : 4; /* sums have registers enough */
    static constexpr int STRIP = 32 * RUN, COLUMNS = STRIP + K - 1;
    static constexpr int SIDES =
        (ROWS * (K - 1) + 31) / 32; /* samples beside the strip, of a lane */
    /* Vectors of a row in shared memory. A lane's windows begin RUN samples from its neighbour's:
     * of four the even vectors lie before the odd ones, so that lanes side by side read vectors
     * side by side. */
    static constexpr int HALF = 36, PITCH = RUN == 4 ? 2 * HALF : COLUMNS / 2;
    static_assert(COLUMNS % 2 == 0 && COLUMNS <= 2 * PITCH);
    /* Are sums that nobody needs, at a walk's ends, worth asking for? */
    static constexpr bool SKIPS = !PRODUCT && K > 3;
};

template <typename S> struct Taps {
    double kernel[S::FILTERS][S::PRODUCT ? 1 : S::K * S::K];
    double column[S::FILTERS][S::PRODUCT ? S::K : 1], row[S::FILTERS][S::PRODUCT ? S::K : 1];
};

template <typename S> struct Wide {
    GfProblem<double> p;
    GfSample sample;
    size_t in_size, out_size;  /* bytes of a sample */
    const unsigned char *base; /* samples that are there */
    size_t plane_bytes;        /* of the input */
    unsigned strips, walks;    /* strips of a channel, walks of a picture */
    int rows;                  /* of a walk */
    bool aligned;              /* runs of outputs, as vectors */
    bool finished; /* sums are samples: scale and offset have all that follows in them */
    Taps<S> taps;
};

/* A row in shared memory, as vectors of two numbers. */
template <typename S> using Row = double2[S::PITCH];

__device__ int my_lane()
{
    return static_cast<int>(threadIdx.x % 32);
}

/* ---- where a warp works ---- */

struct Walk {
    int channel, rows;
    long long left;
    size_t top;
};

template <typename S> __device__ Walk walk_at(const Wide<S> &s, unsigned i)
{
    const unsigned channels = static_cast<unsigned>(s.p.channels), column = i / channels;
    Walk walk;
    walk.channel = static_cast<int>(i % channels);
    walk.left = static_cast<long long>(column % s.strips) * S::STRIP;
    walk.top = s.p.y0 + static_cast<size_t>(column / s.strips) * static_cast<unsigned>(s.rows);
    walk.rows = static_cast<int>(min(s.p.y1 - walk.top, static_cast<size_t>(s.rows)));
    return walk;
}

/* Where a lane reads in a row, in samples from the first; where the border's constant stands,
 * anywhere. */
template <typename S> struct Columns {
    int own[S::RUN], side[S::SIDES];
    unsigned missing; /* of own[], then of side[], a bit each: the border's constant */
    bool plain;       /* no lane misses any */
};

/* The row and the column of the i-th sample beside the strip that a lane reads. */
template <typename S> __device__ int side_row(int i)
{
    return (i * 32 + my_lane()) / (S::K - 1);
}

template <typename S> __device__ int side_column(int i)
{
    return S::STRIP + (i * 32 + my_lane()) % (S::K - 1);
}

/* `memory`: of the warp, for now. */
template <typename S>
__device__ Columns<S> find_columns(const Wide<S> &s, const Walk &walk, int *memory)
{
    Columns<S> columns;
#pragma unroll 1
    for (int i = my_lane(); i < S::COLUMNS; i += 32) {
        const long long x = gf_border_index(walk.left + s.p.origin_x + i, s.p.in_width, s.p.border);
        memory[i] = x < 0 ? -1 : static_cast<int>(x * static_cast<long long>(s.p.in.pixel));
    }
    __syncwarp();
    columns.missing = 0;
    const auto find = [&](int i, int column) {
        const int found = memory[column];
        columns.missing |= static_cast<unsigned>(found < 0) << i;
        return max(found, 0);
    };
#pragma unroll
    for (int j = 0; j < S::RUN; j++)
        columns.own[j] = find(j, my_lane() + 32 * j);
#pragma unroll
    for (int j = 0; j < S::SIDES; j++)
        columns.side[j] = find(S::RUN + j, side_column<S>(j));
    columns.plain = __all_sync(~0u, columns.missing == 0);
    __syncwarp();
    return columns;
}

/* ---- reading ---- */

/* Samples of ROWS rows as they lie in memory, and which of these rows are not there, a bit each:
 * the border's constant. */
template <typename S> struct Samples {
    uint32_t own[ROWS][S::RUN], side[S::SIDES];
    unsigned missing;
};

/* `row`: of lane i the i-th row. */
template <typename Bits, typename S>
__device__ void read(const Columns<S> &columns, const Bits *row, Samples<S> &samples)
{
    const auto row_of = [&](int i) {
        return reinterpret_cast<const Bits *>(
            __shfl_sync(~0u, reinterpret_cast<unsigned long long>(row), i));
    };
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const Bits *const from = row_of(i);
#pragma unroll
        for (int j = 0; j < S::RUN; j++)
            samples.own[i][j] = __ldg(from + columns.own[j]);
    }
#pragma unroll
    for (int j = 0; j < S::SIDES; j++)
        samples.side[j] = __ldg(row_of(side_row<S>(j) % ROWS) + columns.side[j]);
}

/* Sends for ROWS rows of a walk from row `first` on; those that no output needs are missing, and
 * what is missing is read as well, from somewhere else, so that no read waits for a choice. */
template <typename S>
__device__ void send(const Wide<S> &s, const Walk &walk, const Columns<S> &columns, int first,
                     Samples<S> &samples)
{
    const int own = first + my_lane() % ROWS;
    long long y = static_cast<long long>(walk.top) + s.p.origin_y + own;
    y = own < walk.rows + S::K - 1 ? gf_border_index(y, s.p.in_height, s.p.border) : -1;
    const unsigned char *row = s.base;
    if (y >= 0)
        row = gf_row<unsigned char>(s.p.in, static_cast<size_t>(y));
    row += blockIdx.z * s.p.in.batch + static_cast<size_t>(walk.channel) * s.plane_bytes;
    samples.missing = __ballot_sync(~0u, y < 0) & ((1u << ROWS) - 1);
    if (s.in_size == sizeof(float))
        read(columns, reinterpret_cast<const uint32_t *>(row), samples);
    else if (s.in_size == sizeof(uint16_t))
        read(columns, reinterpret_cast<const uint16_t *>(row), samples);
    else
        read(columns, row, samples);
}

/* ---- from samples to numbers ---- */

template <typename T> __device__ double number_of(uint32_t bits)
{
    if constexpr (std::is_same_v<T, float>)
        return static_cast<double>(__uint_as_float(bits));
    else if constexpr (std::is_same_v<T, __half>)
        return static_cast<double>(__half2float(__ushort_as_half(static_cast<uint16_t>(bits))));
    else
        return static_cast<double>(bits);
}

/* Where number x of a row lies. */
template <typename S> __device__ double *place_of(Row<S> &row, int x)
{
    const int vector = S::RUN == 4 ? x / 2 % 2 * S::HALF + x / 4 : x / 2;
    return &row[vector].x + x % 2;
}

/* Calls put(to, row, i) for all samples of the lane: samples.own[row][i] of it, or samples.side[i -
 * RUN]. */
template <typename S, typename Put> __device__ void each_place(Row<S> *rows, Put put)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < S::RUN; j++)
            put(place_of<S>(rows[i], my_lane() + 32 * j), i, j);
#pragma unroll
    for (int j = 0; j < S::SIDES; j++)
        if (side_row<S>(j) < ROWS)
            put(place_of<S>(rows[side_row<S>(j)], side_column<S>(j)), side_row<S>(j), S::RUN + j);
}

template <typename T, typename S> __device__ void place(const Samples<S> &samples, Row<S> *rows)
{
    each_place<S>(rows, [&](double *to, int row, int i) {
        *to = number_of<T>(i < S::RUN ? samples.own[row % ROWS][i % S::RUN]
                                      : samples.side[(i - S::RUN) % S::SIDES]);
    });
}

template <typename S>
__device__ void place_any(const Wide<S> &s, const Columns<S> &columns, const Samples<S> &samples,
                          Row<S> *rows)
{
    if (s.sample == GF_F32)
        place<float>(samples, rows);
    else if (s.sample == GF_F16)
        place<__half>(samples, rows);
    else
        place<unsigned>(samples, rows);
    if (!columns.plain || samples.missing)
        each_place<S>(rows, [&](double *to, int row, int i) {
            if ((samples.missing >> row | columns.missing >> i) & 1)
                *to = s.p.border_value;
        });
}

/* ---- sums ---- */

/* The windows of a lane's outputs. */
template <typename S>
__device__ void read_windows(const Row<S> &row, double (&x)[S::RUN + S::K - 1])
{
    const int lane = my_lane();
#pragma unroll
    for (int v = 0; v < (S::RUN + S::K - 1) / 2; v++) {
        const double2 two = row[S::RUN == 4 ? v % 2 * S::HALF + lane + v / 2 : lane + v];
        x[2 * v] = two.x;
        x[2 * v + 1] = two.y;
    }
}

/* Sums under way: the j-th of a column have met j rows. */
template <typename S> using Sums = double[S::K][S::RUN];

/* A row meets kernel f; what has met its last row comes out in `done`. EDGE: a walk of so many
 * output rows begins or ends near by, and no sums are made but theirs; `row` is the row's number in
 * the walk. */
template <bool EDGE, typename S>
__device__ void add_row(const Wide<S> &s, int f, int row, int count,
                        const double (&x)[S::RUN + S::K - 1], Sums<S> &sums, double (&done)[S::RUN])
{
    constexpr int K = S::K;
    double filtered[S::RUN] = {};
    if constexpr (S::PRODUCT)
#pragma unroll
        for (int i = 0; i < S::RUN * K; i++)
            filtered[i % S::RUN] =
                fma(s.taps.row[f][i / S::RUN], x[i % S::RUN + i / S::RUN], filtered[i % S::RUN]);
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int i = 0; i < S::RUN && (!EDGE || (row >= j && row - j < count)); i++) {
            double sum = j > 0 ? sums[j][i] : 0.0;
            if constexpr (S::PRODUCT)
                sum = fma(s.taps.column[f][j], filtered[i], sum);
            else
#pragma unroll
                for (int k = 0; k < K; k++)
                    sum = fma(s.taps.kernel[f][j * K + k], x[i + k], sum);
            (j == K - 1 ? done[i] : sums[(j + 1) % K][i]) = sum;
        }
}

template <bool EDGE, typename S>
__device__ void add_filters(const Wide<S> &s, int row, int count,
                            const double (&x)[S::RUN + S::K - 1], Sums<S> (&sums)[S::FILTERS],
                            double (&done)[S::FILTERS][S::RUN])
{
#pragma unroll
    for (int f = 0; f < S::FILTERS; f++)
        add_row<EDGE>(s, f, row, count, x, sums[f], done[f]);
}

/* From sums to samples. */
template <typename S>
__device__ void finish(const Wide<S> &s, bool colour, double (&sums)[S::FILTERS][S::RUN])
{
    constexpr int RUN = S::RUN;
    const GfFinish<double> &finish = s.p.finish;
#pragma unroll
    for (int i = 0; i < S::FILTERS * RUN; i++)
        sums[i / RUN][i % RUN] = fma(sums[i / RUN][i % RUN], finish.scale, finish.offset);
    if (s.finished)
        return;
    if constexpr (S::FILTERS == 2)
        gf_combine_each(finish, sums[0], sums[1]);
    else
        gf_combine_alone(finish, sums[0]);
    gf_post_each(finish, sums[0], [&](int) { return colour; });
}

/* Stores samples that lie `apart` from each other, as far as they are on the picture: `left`
 * samples to its end. */
template <typename Out, int RUN>
__device__ void store_as(unsigned char *to, size_t apart, int left, int step, bool whole,
                         const double (&v)[RUN])
{
    if (whole)
        return gf_store_samples<RUN>(reinterpret_cast<Out *>(to), 1, RUN, true, v);
#pragma unroll
    for (int i = 0; i < RUN; i++)
        if (i * step < left)
            reinterpret_cast<Out *>(to)[i * apart] = gf_convert<Out>(v[i]);
}

/* Where a lane stores. Its samples are those that its sums are, side by side; where pixels lie
 * apart they are 32 apart, as those that it reads, so that lanes side by side store pixels side by
 * side. */
struct Target {
    unsigned char *to;
    int left; /* samples from its first to the picture's end */
};

template <typename S>
__device__ void store(const Wide<S> &s, const Target &target, Row<S> &row, double (&v)[S::RUN])
{
    constexpr int RUN = S::RUN;
    const size_t pixel = s.p.out.pixel;
    const int step = pixel > 1 ? 32 : 1;
    if (pixel > 1) { /* the row has been read */
        __syncwarp();
#pragma unroll
        for (int i = 0; i < RUN; i++)
            *place_of<S>(row, my_lane() * RUN + i) = v[i];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < RUN; i++)
            v[i] = *place_of<S>(row, my_lane() + 32 * i);
    }
    const bool whole = s.aligned && target.left >= RUN;
    if (s.p.finish.out == GF_F32)
        store_as<float>(target.to, pixel * step, target.left, step, whole, v);
    else if (s.p.finish.out == GF_U16)
        store_as<uint16_t>(target.to, pixel * step, target.left, step, whole, v);
    else if (s.p.finish.out == GF_U8)
        store_as<uint8_t>(target.to, pixel * step, target.left, step, whole, v);
    else
        store_as<double>(target.to, pixel * step, target.left, step, whole, v);
}

/* ---- the kernel ---- */

/* A strip of opacity that is copied. */
template <typename S> __device__ void keep(const Wide<S> &s, const Walk &walk)
{
    for (int y = 0; y < walk.rows; y++)
        for (int i = my_lane(); i < S::STRIP && walk.left + i < s.p.out_width; i += 32)
            gf_keep_alpha_of(s.p, s.sample, s.in_size, blockIdx.z, walk.channel, walk.left + i,
                             walk.top + y);
}

/* Blocks of a multiprocessor, where the compiler by itself would ask for fewer registers than do
 * without spills; else 0. */
template <typename S> constexpr int BLOCKS = S::K == 5 && S::FILTERS == 1 ? 4 : 0;

template <typename S>
__global__ void __launch_bounds__(THREADS, BLOCKS<S>) wide(const __grid_constant__ Wide<S> s)
{
    __shared__ Row<S> memory[WARPS][ROWS];
    const unsigned own = blockIdx.x * (blockDim.x / 32) + static_cast<unsigned>(gf_warp());
    if (own >= s.walks)
        return;
    gf_wait_for_stream();
    const Walk walk = walk_at(s, own);
    if (gf_is_kept(s.p, walk.channel))
        return keep(s, walk);
    Row<S> *const rows = memory[gf_warp()];
    const Columns<S> columns = find_columns(s, walk, reinterpret_cast<int *>(rows));
    const bool colour = walk.channel < s.p.post_channels;
    const long long first = walk.left + my_lane() * (s.p.out.pixel > 1 ? 1 : S::RUN);
    Target target = {static_cast<unsigned char *>(s.p.out.samples) + blockIdx.z * s.p.out.batch +
                         (walk.top - s.p.y0) * s.p.out.stride +
                         (first * s.p.out.pixel + walk.channel * s.p.out.plane) * s.out_size,
                     static_cast<int>(s.p.out_width - first)};
    const int end = walk.rows + S::K - 1;
    Sums<S> sums[S::FILTERS] = {};
    Samples<S> samples;
#pragma unroll 1
    for (int begin = -ROWS; begin < end; begin += ROWS) {
        if (begin >= 0)
            place_any(s, columns, samples, rows);
        __syncwarp();
        if (begin + ROWS < end)
            send(s, walk, columns, begin + ROWS, samples);
        if (begin < 0)
            continue;
#pragma unroll 1
        for (int i = 0; i < ROWS && begin + i < end; i++) {
            double x[S::RUN + S::K - 1], done[S::FILTERS][S::RUN];
            read_windows<S>(rows[i], x);
            const int row = begin + i;
            if (S::SKIPS && (row < S::K - 1 || row >= walk.rows))
                add_filters<true>(s, row, walk.rows, x, sums, done);
            else
                add_filters<false>(s, row, walk.rows, x, sums, done);
            if (row < S::K - 1)
                continue;
            finish(s, colour, done);
            store(s, target, rows[i], done[0]);
            target.to += s.p.out.stride;
        }
        __syncwarp();
    }
}

/* ---- the launchers ---- */

template <typename S> void place_taps(const GfLaunch *launch, Taps<S> &taps)
{
    const double *from =
        static_cast<const double *>(S::PRODUCT ? launch->factors_host : launch->weights_host);
    for (int f = 0; f < S::FILTERS; f++) {
        if (S::PRODUCT) {
            for (double &tap : taps.column[f])
                tap = *from++;
            for (double &tap : taps.row[f])
                tap = *from++;
        } else {
            for (double &tap : taps.kernel[f])
                tap = *from++;
        }
    }
}

template <typename S> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const auto kernel = wide<S>;
    /* The channels of RGB, which read and store the same lines, are a block's. */
    const unsigned warps = step->channels == 3 ? 3 : WARPS;
    int blocks_each = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks_each, kernel, static_cast<int>(32 * warps), 0);
    if (error != cudaSuccess)
        return error;
    Wide<S> s = {};
    s.p = gf_problem<double>(launch);
    s.sample = step->in;
    s.in_size = gf_sample_size(step->in);
    s.out_size = gf_sample_size(step->out);
    s.base = static_cast<const unsigned char *>(s.p.in.samples);
    s.plane_bytes = s.p.in.plane * s.in_size;
    s.finished = gf_fold_gain(step, &s.p.finish);
    s.strips = static_cast<unsigned>(gf_divide_up<size_t>(step->out_width, S::STRIP));
    s.aligned = gf_rows_aligned(launch->out, step->out, S::RUN);
    place_taps(launch, s.taps);
    const size_t columns = s.strips * step->channels, rows = launch->y1 - launch->y0;
    const size_t steps = gf_divide_up<size_t>(rows, ROWS);
    const size_t at_once = gf_multiprocessors() * static_cast<size_t>(blocks_each) * warps;
    const double halo = 1.0 + static_cast<double>(S::K - 1) / ROWS;
    const size_t own = gf_block_steps(steps, columns * launch->count, at_once, halo);
    const size_t walks = columns * gf_divide_up(steps, own);
    if (walks > INT32_MAX)
        return cudaErrorNotSupported;
    s.rows = static_cast<int>(own * ROWS);
    s.walks = static_cast<unsigned>(walks);
    const dim3 grid(gf_divide_up(s.walks, warps), 1, static_cast<unsigned>(launch->count));
    return gf_launch_early(kernel, gf_spread(kernel, {grid, 32 * warps}), stream, s);
}

/* Of kernels of K x K, or the next size, up to that of MOST. */
template <int K, int MOST, bool PRODUCT>
cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    const GfLinear *linear = &launch->step->linear;
    if (linear->width == K && linear->filters == 1)
        return run<Shape<K, 1, PRODUCT>>(launch, stream);
    if constexpr (K <= GF_WIDE_PRODUCT_OF_TWO)
        if (linear->width == K)
            return run<Shape<K, 2, PRODUCT>>(launch, stream);
    if constexpr (K < MOST)
        return run_side<K + 2, MOST, PRODUCT>(launch, stream);
    return cudaErrorNotSupported;
}

} // namespace

extern "C" cudaError_t gf_launch_special_wide(const GfLaunch *launch, cudaStream_t stream)
{
    return run_side<3, GF_SPECIAL_SIDE, false>(launch, stream);
}

extern "C" cudaError_t gf_launch_separable_wide(const GfLaunch *launch, cudaStream_t stream)
{
    return run_side<3, GF_WIDE_PRODUCT, true>(launch, stream);
}
