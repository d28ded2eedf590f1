/* Method `separable`: banks of kernels that are products, tap (y, x) = column[y] * row[x], as a row
 * and a column pass in one kernel: height + width multiply-adds instead of height * width, and the
 * samples between the passes never leave the chip. (Beyond the sources, which treat kernels as they
 * come.)
 *
 * A block owns a strip of columns of one channel and walks down its rows in steps. A step's input
 * rows are copied, halo and all, to shared memory as the numbers that are summed; the row pass
 * takes them into a ring of filtered rows, one a kernel; the column pass takes from the ring the
 * output rows that it now suffices for. So each input row is read and passed over once a block,
 * whatever the height of the kernels. Both passes slide a window of 8 samples along their taps, 4
 * at a time: a thread makes 4 neighbours of the row pass, 4 x 4 samples of the column pass, so that
 * a 16-byte access of shared memory serves 8 and more multiply-adds. Kernels of common sizes are
 * compiled, which unrolls both loops.
 *
 * Strips are 128 columns wide, or less where kernels are so large that shared memory is short:
 * rings have height + step - 1 rows.
 *
 * Costs for a sample: one read (but for the halo: width - 1 columns a strip, height - 1 rows a
 * block), one write, filters * (height + width) multiply-adds. */
#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr int N = 4;                  /* samples of an access, taps of a turn */
constexpr int BATCH = 5;              /* loads of a lane for a row that are under way at once */
constexpr size_t MOST_THREADS = 1024; /* of a multiprocessor, by the registers */
constexpr int MOST_SIDE = 15;         /* of compiled kernels */
constexpr int STRIP = 128, STEP = 16; /* columns of their strips, rows of their steps */
constexpr size_t MULTIPROCESSOR_BYTES = 200 << 10; /* for all blocks of a multiprocessor */

template <typename Sum> using Four = GfSamples<Sum, N>;

__host__ __device__ constexpr int round_up(int count)
{
    return (count + N - 1) / N * N;
}

/* ---- what a launch is told ---- */

template <typename Sum> struct Separable {
    GfProblem<Sum> p;
    const Sum *factors; /* for each kernel its column, then its row */
    /* Of compiled kernels; read as vectors. */
    alignas(16) Sum columns[2][round_up(MOST_SIDE)];
    alignas(16) Sum rows[2][round_up(MOST_SIDE)];
    int strip, step; /* columns of a strip, a power of 2, and rows of a step */
    int across;      /* accesses of a row of a strip, as a power of 2 */
    int pitch;       /* of the copied rows: samples */
    int block_rows;
    unsigned strips;
    bool finished; /* sums are samples: scale and offset have all that follows in them */
    bool vector_out;
};

/* What of shared memory is where. `ring` and `taps` have a part for each kernel; the ring's rows
 * are a multiple of N, so that N of them from a multiple of N on are in one piece. */
template <typename Sum> struct Shared {
    Sum *copies, *ring, *taps;
    int *places;
    int strip, ring_rows, ring_size, taps_size;
};

template <int SIDE, typename Sum>
__device__ Shared<Sum> divide_memory(const Separable<Sum> &s, void *memory)
{
    Shared<Sum> shared;
    shared.strip = SIDE > 0 ? STRIP : s.strip;
    shared.ring_rows = round_up((SIDE > 0 ? SIDE : s.p.height) - 1) + (SIDE > 0 ? STEP : s.step);
    shared.ring_size = shared.ring_rows * shared.strip;
    shared.taps_size = SIDE > 0 ? 0 : round_up(s.p.height) + round_up(s.p.width);
    shared.copies = static_cast<Sum *>(memory);
    shared.ring = shared.copies + s.step * s.pitch;
    shared.taps = shared.ring + s.p.responses * shared.ring_size;
    shared.places = reinterpret_cast<int *>(shared.taps + s.p.responses * shared.taps_size);
    return shared;
}

/* Where a block works: output columns from `left` on, output rows from `top` on. */
struct Block {
    int channel;
    long long left;
    size_t top, picture;
    int rows;
    bool plain; /* all its input columns lie on the picture, side by side */
};

template <typename Sum> __device__ Block my_block(const Separable<Sum> &s)
{
    Block block;
    unsigned i = blockIdx.x;
    block.channel = static_cast<int>(i % s.p.channels);
    i /= s.p.channels;
    block.left = static_cast<long long>(i % s.strips) * s.strip;
    block.top = s.p.y0 + static_cast<size_t>(i / s.strips) * s.block_rows;
    block.rows = static_cast<int>(min(s.p.y1 - block.top, static_cast<size_t>(s.block_rows)));
    block.picture = blockIdx.z;
    const long long first = block.left + s.p.origin_x;
    block.plain =
        s.p.in.pixel == 1 && first >= 0 && first + s.strip + s.p.width - 1 <= s.p.in_width;
    return block;
}

/* ---- loading ---- */

/* A sample as a number. Integers in the low bits of 2^23 are floats: two operations at full
 * rate, where a conversion takes eight times as long. */
template <typename Sum, typename In> __device__ Sum to_number(In sample)
{
    if constexpr (std::is_integral_v<In> && sizeof(Sum) == sizeof(float))
        return __uint_as_float(0x4B000000u | sample) - 8388608.0f;
    else
        return gf_number<Sum>(sample);
}

/* Taps that are not compiled, padded to whole accesses, and the places of columns by the
 * border's rule; -1: the constant. */
template <int SIDE, typename Sum>
__device__ void prepare(const Separable<Sum> &s, const Block &block, const Shared<Sum> &shared)
{
    const int height = s.p.height, width = s.p.width, columns = s.strip + width - 1;
    for (int f = 0; SIDE == 0 && f < s.p.responses; f++) {
        const Sum *from = s.factors + f * (height + width);
        Sum *to = shared.taps + f * shared.taps_size;
        for (int i = static_cast<int>(threadIdx.x); i < height + width; i += THREADS)
            to[i < height ? i : i - height + round_up(height)] = from[i];
    }
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < columns; i += THREADS)
        shared.places[i] = static_cast<int>(
            gf_border_index(block.left + s.p.origin_x + i, s.p.in_width, s.p.border));
}

/* Columns of two input rows; a row may be NULL: the border's constant. PLAIN: none is, and the
 * first column is at the rows' start. */
template <bool PLAIN, typename In, typename Sum>
__device__ void load_pair(const Separable<Sum> &s, const Shared<Sum> &shared,
                          const In *const (&row)[2], int columns, Sum *to)
{
    for (int first = threadIdx.x % 32; first < columns; first += 32 * BATCH) {
        Sum v[2][BATCH];
#pragma unroll
        for (int j = 0; j < 2 * BATCH; j++) {
            const int column = first + j % BATCH * 32;
            const In *from = row[j / BATCH];
            Sum *number = &v[j / BATCH][j % BATCH];
            if constexpr (PLAIN) {
                if (column < columns)
                    *number = to_number<Sum>(from[column]);
            } else {
                const int place = from && column < columns ? shared.places[column] : -1;
                *number = place < 0 ? s.p.border_value : to_number<Sum>(from[place * s.p.in.pixel]);
            }
        }
#pragma unroll
        for (int j = 0; j < 2 * BATCH; j++)
            if (first + j % BATCH * 32 < columns)
                to[j / BATCH * s.pitch + first + j % BATCH * 32] = v[j / BATCH][j % BATCH];
    }
}

/* Copies `count` input rows from row `first` of the block on, a warp two at a time. */
template <int SIDE, typename In, typename Sum>
__device__ void load_rows(const Separable<Sum> &s, const Block &block, const Shared<Sum> &shared,
                          int first, int count)
{
    const int columns = SIDE > 0 ? STRIP + SIDE - 1 : s.strip + s.p.width - 1;
    for (int r = static_cast<int>(threadIdx.x / 32) * 2; r < count; r += 2 * WARPS) {
        const long long y = static_cast<long long>(block.top) + s.p.origin_y + first + r;
        const In *row[2] = {gf_input_row<In>(s.p, block.picture, y),
                            r + 1 < count ? gf_input_row<In>(s.p, block.picture, y + 1) : nullptr};
        const bool plain = block.plain && row[0] && row[1];
        const size_t skip = block.channel * s.p.in.plane + (plain ? block.left + s.p.origin_x : 0);
        for (int i = 0; i < 2; i++)
            row[i] = row[i] ? row[i] + skip : nullptr;
        Sum *to = shared.copies + r * s.pitch;
        if (plain)
            load_pair<true>(s, shared, row, columns, to);
        else
            load_pair<false>(s, shared, row, columns, to);
    }
}

/* ---- the passes ---- */

template <typename Sum> __device__ Four<Sum> read_four(const Sum *at)
{
    return *reinterpret_cast<const Four<Sum> *>(at);
}

__device__ void write_four(float *at, const float (&v)[N])
{
    *reinterpret_cast<float4 *>(at) = make_float4(v[0], v[1], v[2], v[3]);
}

__device__ void write_four(double *at, const double (&v)[N])
{
    reinterpret_cast<double2 *>(at)[0] = make_double2(v[0], v[1]);
    reinterpret_cast<double2 *>(at)[1] = make_double2(v[2], v[3]);
}

/* A new access enters a window. */
template <typename Sum> __device__ void slide(Sum (&x)[2 * N], const Sum (&next)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = x[N + i];
        x[N + i] = next[i];
    }
}

/* Adds the products of the first `count` taps to 4 sums, of which sum i begins at x[i]. */
template <typename Sum>
__device__ void add_taps(const Four<Sum> &taps, int count, const Sum (&x)[2 * N], Sum (&sums)[N])
{
#pragma unroll
    for (int k = 0; k < N; k++)
        if (k < count)
#pragma unroll
            for (int i = 0; i < N; i++)
                sums[i] = fma(taps.sample[k], x[i + k], sums[i]);
}

/* Calls turn(k, left) for each N taps from tap k on, the last time for what is left of them. TAPS:
 * their number where it is compiled, else 0. */
template <int TAPS, typename Turn> __device__ void in_turns(int taps, Turn turn)
{
    if constexpr (TAPS > 0) {
#pragma unroll
        for (int k = 0; k < TAPS; k += N)
            turn(k, TAPS - k);
    } else {
        int k = 0;
#pragma unroll 2
        for (; k + N <= taps; k += N)
            turn(k, N);
        if (k < taps)
            turn(k, taps - k);
    }
}

/* The row pass of kernel f over `count` copied rows, into the ring from row `slot` on. */
template <int SIDE, typename Sum>
__device__ void pass_rows(const Separable<Sum> &s, const Shared<Sum> &shared, int f, int count,
                          int slot)
{
    const Sum *taps =
        SIDE > 0 ? s.rows[f] : shared.taps + f * shared.taps_size + round_up(s.p.height);
    const int t = static_cast<int>(threadIdx.x), across = SIDE > 0 ? STRIP / N : 1 << s.across;
    const int column = t % across * N;
    for (int r = t / across; r < count; r += THREADS / across) {
        const Sum *samples = shared.copies + r * s.pitch + column;
        int at = slot + r;
        at -= at >= shared.ring_rows ? shared.ring_rows : 0;
        Sum sums[N] = {}, x[2 * N] = {}; /* and the window */
        slide(x, read_four(samples).sample);
        in_turns<SIDE>(s.p.width, [&](int k, int left) {
            slide(x, read_four(samples + k + N).sample);
            add_taps(read_four(taps + k), left, x, sums);
        });
        write_four(shared.ring + f * shared.ring_size + at * shared.strip + column, sums);
    }
}

/* Brings N rows of 4 columns into the windows of the columns, and moves on by as many. */
template <typename Sum>
__device__ void slide_rows(const Shared<Sum> &shared, const Sum **at, const Sum *end,
                           Sum (&x)[N][2 * N])
{
    Four<Sum> row[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        row[i] = read_four(*at + i * shared.strip);
#pragma unroll
    for (int c = 0; c < N; c++) {
        const Sum next[N] = {row[0].sample[c], row[1].sample[c], row[2].sample[c],
                             row[3].sample[c]};
        slide(x[c], next);
    }
    *at += N * shared.strip;
    *at -= *at >= end ? shared.ring_size : 0;
}

/* The column pass of kernel f for 4 columns of 4 output rows, which begin in the ring's row
 * `slot`, a multiple of N; v[c * N + i]: column c, row i. */
template <int SIDE, typename Sum>
__device__ void respond(const Separable<Sum> &s, const Shared<Sum> &shared, int f, int column,
                        int slot, Sum (&v)[N * N])
{
    const Sum *taps = SIDE > 0 ? s.columns[f] : shared.taps + f * shared.taps_size;
    const Sum *begin = shared.ring + f * shared.ring_size + column;
    const Sum *at = begin + slot * shared.strip, *end = begin + shared.ring_size;
    Sum sums[N][N] = {};
    Sum x[N][2 * N] = {}; /* the windows, column by column */
    slide_rows(shared, &at, end, x);
    in_turns<SIDE>(s.p.height, [&](int k, int left) {
        slide_rows(shared, &at, end, x);
        const Four<Sum> four = read_four(taps + k);
#pragma unroll
        for (int c = 0; c < N; c++)
            add_taps(four, left, x[c], sums[c]);
    });
#pragma unroll
    for (int i = 0; i < N * N; i++)
        v[i] = fma(sums[i / N][i % N], s.p.finish.scale, s.p.finish.offset);
}

/* ---- from sums to samples ---- */

/* Stores the part of 4 x 4 samples that lies in the block; v[c][i] is that of column c, row i. */
template <typename Out, typename Sum>
__device__ void store(const Separable<Sum> &s, const Block &block, int column, int row, int end,
                      const Sum (&v)[N * N])
{
    const GfOutRows &out = s.p.out;
    const long long x = block.left + column, beyond = s.p.out_width - x;
    const int columns = static_cast<int>(beyond < N ? beyond : N);
    unsigned char *to = static_cast<unsigned char *>(out.samples) +
                        (block.top - s.p.y0 + row) * out.stride + block.picture * out.batch +
                        (x * out.pixel + block.channel * out.plane) * sizeof(Out);
#pragma unroll
    for (int i = 0; i < N; i++, to += out.stride) {
        if (row + i >= end)
            break;
        const Sum line[N] = {v[i], v[N + i], v[2 * N + i], v[3 * N + i]};
        gf_store_samples<N>(reinterpret_cast<Out *>(to), out.pixel, columns,
                            s.vector_out && columns == N, line);
    }
}

template <typename Sum>
__device__ void store_any(const Separable<Sum> &s, const Block &block, int column, int row, int end,
                          const Sum (&v)[N * N])
{
    switch (s.p.finish.out) {
    case GF_U8:
        store<uint8_t>(s, block, column, row, end, v);
        break;
    case GF_U16:
        store<uint16_t>(s, block, column, row, end, v);
        break;
    case GF_F16: /* never an output */
        break;
    case GF_F32:
        store<float>(s, block, column, row, end, v);
        break;
    case GF_F64:
        if constexpr (sizeof(Sum) == sizeof(double))
            store<double>(s, block, column, row, end, v);
        break;
    }
}

/* The column pass over output rows [first, end), of which the first begins in the ring's row
 * `slot`. */
template <int SIDE, int FILTERS, typename Sum>
__device__ void finish_rows(const Separable<Sum> &s, const Block &block, const Shared<Sum> &shared,
                            int first, int end, int slot)
{
    const bool colour = block.channel < s.p.post_channels;
    const int t = static_cast<int>(threadIdx.x), across = SIDE > 0 ? STRIP / N : 1 << s.across;
    const int column = t % across * N;
    if (block.left + column >= s.p.out_width)
        return;
    for (int row = t / across * N; first + row < end; row += THREADS / across * N) {
        int at = slot + row;
        at -= at >= shared.ring_rows ? shared.ring_rows : 0;
        Sum v[N * N];
        respond<SIDE>(s, shared, 0, column, at, v);
        if constexpr (FILTERS == 2) {
            Sum r[N * N];
            respond<SIDE>(s, shared, 1, column, at, r);
            gf_combine_each(s.p.finish, v, r);
        } else {
            gf_combine_alone(s.p.finish, v);
        }
        if (!s.finished)
            gf_post_each(s.p.finish, v, [&](int) { return colour; });
        store_any(s, block, column, first + row, end, v);
    }
}

/* ---- the kernel ---- */

/* The input's opacity, moved to its place. */
template <typename In, typename Sum>
__device__ void keep_alpha(const Separable<Sum> &s, const Block &block)
{
    for (int r = static_cast<int>(threadIdx.x / 32); r < block.rows; r += WARPS)
        for (int i = threadIdx.x % 32; i < s.strip; i += 32)
            if (block.left + i < s.p.out_width)
                gf_keep_alpha<In>(s.p, block.picture, block.channel, block.left + i, block.top + r);
}

/* Of a multiprocessor, where the compiler by itself would ask for fewer registers than do without
 * spills; else 0. */
template <typename Sum, int SIDE, int FILTERS>
constexpr int BLOCKS = sizeof(Sum) == sizeof(double) ? 2
                       : SIDE == 0                   ? 5
                       : SIDE == 5 && FILTERS == 2   ? 6
                                                     : 0;

/* SIDE: width and height of kernels whose passes are unrolled, or 0: any. */
template <typename In, typename Sum, int SIDE, int FILTERS>
__global__ void __launch_bounds__(THREADS, (BLOCKS<Sum, SIDE, FILTERS>))
    separable(const __grid_constant__ Separable<Sum> s)
{
    GF_BLOCK_MEMORY(float4, memory);
    const Shared<Sum> shared = divide_memory<SIDE>(s, memory);
    const Block block = my_block(s);
    if (gf_is_kept(s.p, block.channel)) {
        gf_wait_for_stream();
        keep_alpha<In>(s, block);
        return;
    }
    prepare<SIDE>(s, block, shared);
    gf_wait_for_stream();
    __syncthreads();
    int filtered = 0, in_slot = 0; /* input rows, and the ring's row for the next one */
    int slot = 0;                  /* of the first input row that is still needed */
    for (int made = 0; made < block.rows; made += s.step) {
        const int end = min(made + s.step, block.rows);
        while (filtered < end + s.p.height - 1) {
            const int count = min(s.step, end + s.p.height - 1 - filtered);
            load_rows<SIDE, In>(s, block, shared, filtered, count);
            __syncthreads();
#pragma unroll
            for (int f = 0; f < FILTERS; f++)
                pass_rows<SIDE>(s, shared, f, count, in_slot);
            __syncthreads();
            filtered += count;
            in_slot += count;
            in_slot -= in_slot >= shared.ring_rows ? shared.ring_rows : 0;
        }
        finish_rows<SIDE, FILTERS>(s, block, shared, made, end, slot);
        slot += s.step;
        slot -= slot >= shared.ring_rows ? shared.ring_rows : 0;
    }
}

/* ---- how the work is cut ---- */

/* Columns of a strip and rows of a step, in the order of what they ask of shared memory. */
struct Cut {
    int strip, step;
};

constexpr Cut cuts[] = {{STRIP, STEP}, {64, 32}, {64, 16},
                        {32, 32},      {32, 16}, {GF_SEPARABLE_STRIP, GF_SEPARABLE_STEP}};

size_t cut_bytes(const GfLaunch *launch, const Cut &cut)
{
    return gf_separable_bytes(&launch->step->linear, launch->wide, static_cast<size_t>(cut.strip),
                              static_cast<size_t>(cut.step));
}

/* Blocks of a multiprocessor. */
size_t blocks_at_once(size_t bytes)
{
    const size_t room = MULTIPROCESSOR_BYTES / (bytes + GF_BLOCK_BYTES);
    return room < 1 ? 1 : room < MOST_THREADS / THREADS ? room : MOST_THREADS / THREADS;
}

/* About as many instructions as a multiprocessor issues for a row of output. */
double cut_cost(const GfLaunch *launch, const Cut &cut)
{
    const GfStep *step = launch->step;
    const int width = static_cast<int>(step->linear.width);
    const int height = static_cast<int>(step->linear.height);
    const int filters = static_cast<int>(step->linear.filters);
    const int rows = gf_divide_up(cut.strip * cut.step, N * THREADS);
    const int columns = gf_divide_up(cut.strip * cut.step, N * N * THREADS);
    const int loads = gf_divide_up(cut.step, WARPS) * gf_divide_up(cut.strip + width, 32);
    const double cost =
        8 * loads + filters * (rows * (5 * width + 30) + columns * (21 * height + 120));
    const double strips =
        static_cast<double>(gf_divide_up(step->out_width, static_cast<size_t>(cut.strip)));
    const double waiting = 1.0 + 1.0 / static_cast<double>(blocks_at_once(cut_bytes(launch, cut)));
    return cost * strips * waiting / cut.step;
}

/* The cheapest way to cut that has room; the last one does, or the step is not supported. Compiled
 * kernels leave no choice. */
Cut choose_cut(const GfLaunch *launch, bool compiled)
{
    if (compiled)
        return {STRIP, STEP};
    Cut best = {GF_SEPARABLE_STRIP, GF_SEPARABLE_STEP};
    double least = cut_cost(launch, best);
    for (const Cut &cut : cuts) {
        const double cost = cut_cost(launch, cut);
        if (cost < least && cut_bytes(launch, cut) <= GF_SHARED_BYTES) {
            least = cost;
            best = cut;
        }
    }
    return best;
}

/* ---- the launcher ---- */

/* The factors of compiled kernels, which are parameters. */
template <typename Sum> void place_factors(const GfLaunch *launch, Separable<Sum> *s)
{
    const Sum *from = static_cast<const Sum *>(launch->factors_host);
    for (int f = 0; f < s->p.responses; f++) {
        for (int i = 0; i < s->p.height; i++)
            s->columns[f][i] = *from++;
        for (int i = 0; i < s->p.width; i++)
            s->rows[f][i] = *from++;
    }
}

template <typename Sum> Separable<Sum> describe(const GfLaunch *launch, const Cut &cut)
{
    const GfStep *step = launch->step;
    Separable<Sum> s = {};
    s.p = gf_problem<Sum>(launch);
    s.factors = static_cast<const Sum *>(launch->factors);
    s.finished = gf_fold_gain(step, &s.p.finish);
    s.strip = cut.strip;
    s.step = cut.step;
    while (N << s.across < cut.strip)
        s.across++;
    s.pitch = cut.strip + round_up(s.p.width);
    s.strips = static_cast<unsigned>(gf_divide_up(step->out_width, static_cast<size_t>(cut.strip)));
    s.vector_out = gf_rows_aligned(launch->out, step->out, N);
    const size_t columns = s.strips * step->channels * launch->count;
    const size_t steps = gf_divide_up(launch->y1 - launch->y0, static_cast<size_t>(cut.step));
    const size_t at_once = gf_multiprocessors() * blocks_at_once(cut_bytes(launch, cut));
    const double halo = 0.5 + 0.6 * s.p.height / cut.step;
    s.block_rows = static_cast<int>(gf_block_steps(steps, columns, at_once, halo)) * cut.step;
    return s;
}

template <typename In, typename Sum, int SIDE, int FILTERS>
cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const Cut cut = choose_cut(launch, SIDE > 0);
    const size_t bytes = cut_bytes(launch, cut);
    Separable<Sum> s = describe<Sum>(launch, cut);
    if (SIDE > 0)
        place_factors(launch, &s);
    const size_t down = gf_divide_up(launch->y1 - launch->y0, static_cast<size_t>(s.block_rows));
    const unsigned blocks = static_cast<unsigned>(s.strips * launch->step->channels * down);
    const dim3 grid(blocks, 1, static_cast<unsigned>(launch->count));
    const auto kernel = separable<In, Sum, SIDE, FILTERS>;
    return gf_launch_early(kernel, gf_spread(kernel, {grid, THREADS, bytes}), stream, s);
}

/* From the launch to its instance, one property after the other. */

template <typename In, typename Sum, int SIDE>
cudaError_t run_filters(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->step->linear.filters == 1 ? run<In, Sum, SIDE, 1>(launch, stream)
                                             : run<In, Sum, SIDE, 2>(launch, stream);
}

template <typename In> cudaError_t run_side(const GfLaunch *launch, cudaStream_t stream)
{
    const GfLinear *linear = &launch->step->linear;
    const bool compiled = linear->width == linear->height && launch->step->out_width > STRIP / 2;
    switch (compiled ? linear->width : 0) {
    case 3:
        return run_filters<In, float, 3>(launch, stream);
    case 5:
        return run_filters<In, float, 5>(launch, stream);
    case 7:
        return run_filters<In, float, 7>(launch, stream);
    case 9:
        return run_filters<In, float, 9>(launch, stream);
    case 11:
        return run_filters<In, float, 11>(launch, stream);
    case 13:
        return run_filters<In, float, 13>(launch, stream);
    case 15:
        return run_filters<In, float, 15>(launch, stream);
    }
    return run_filters<In, float, 0>(launch, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_separable(const GfLaunch *launch, cudaStream_t stream)
{
    if (launch->tiling == GF_SEPARABLE_TILES ||
        (launch->tiling == 0 && gf_separable_is_small(launch)))
        return gf_launch_separable_small(launch, stream);
    if (launch->wide && gf_separable_is_wide(launch->step))
        return gf_launch_separable_wide(launch, stream);
    if (launch->wide)
        return gf_with_sample<double>(launch->step->in, [&](auto sample) {
            return run_filters<decltype(sample), double, 0>(launch, stream);
        });
    return gf_with_sample<float>(
        launch->step->in, [&](auto sample) { return run_side<decltype(sample)>(launch, stream); });
}
