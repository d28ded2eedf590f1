/* Method `special` for one or two kernels that are too large for its registers, or whose sums need
 * f64: any width and height of which a few rows have room in shared memory. Beyond the source:
 * there a thread has all taps.
 *
 * A block of threads computes a tile of one channel. Its input comes as numbers to a ring of rows
 * in shared memory, each row once, a chunk of the kernel's rows at a time, which lie there too. A
 * thread has ROWS rows of RUN outputs side by side. It takes a column of RUN taps after the other,
 * and walks down it: a window of 2 RUN samples of each of ROWS input rows is in registers, the next
 * row's takes the place of the uppermost, and each row of taps, which all threads of a warp read at
 * once, is multiplied by all of them.
 *
 * Nothing is multiplied but samples of a window by taps, so that no sample beside it can spoil an
 * output. In f32 sums of some rows of taps are summed by themselves, then added to others, as
 * filters/precision.c counts on.
 *
 * A lane's window begins two vectors from its neighbour's, so the vectors of a row lie in two
 * halves, the even ones and the odd ones: lanes side by side read vectors side by side. Taps lie in
 * groups of RUN, those of a row below those of the one above.
 *
 * Costs for RUN taps: ROWS * RUN * RUN multiply-adds for four vectors of samples and two of taps.
 */
#include <cuda_pipeline.h>

#include "gpu/device.cuh"

namespace
{

constexpr int LANES = 16; /* across a tile */
constexpr int MOST_WARPS = 4;
constexpr size_t LEAST_CHUNK = 4; /* rows of a kernel that is higher */

template <typename Sum> constexpr int VECTOR = 16 / static_cast<int>(sizeof(Sum));
template <typename Sum>
constexpr int RUN = 2 * VECTOR<Sum>; /* outputs of a row of a thread; taps */
template <typename Sum> constexpr int STRIP = LANES *RUN<Sum>;

/* Samples, and rows of them, that a thread loads before it stores the first. */
template <typename Sum> constexpr int ACROSS = sizeof(Sum) == sizeof(float) ? 5 : 3;
constexpr int DOWN = 4;

static_assert(32 / LANES == GF_SPECIAL_TILE_GROUPS &&
              STRIP<float> * sizeof(float) == GF_SPECIAL_TILE_STRIP_BYTES);

template <typename Sum> struct Tiles {
    GfProblem<Sum> p;
    GfSample sample;
    size_t size; /* bytes of a sample */
    GfCut cut;
    int chunk; /* rows of the kernel */
    int ring;  /* rows of input */
    int columns, pitch;
    int chain;     /* rows of taps, a multiple of ROWS, that are summed by themselves in f32 */
    int tile_rows; /* of input, of all chunks */
    bool aligned;  /* runs of outputs, as vectors */
};

/* A block's shared memory. */
template <typename Sum> struct Memory {
    Sum *taps, *ring;
    const unsigned char **rows; /* where the tile's input rows are; NULL: the border's constant */
    int *columns;               /* samples from a row's begin; -1: likewise */
};

template <typename Sum> __device__ Memory<Sum> divide(const Tiles<Sum> &s, unsigned char *memory)
{
    Memory<Sum> m;
    m.taps = reinterpret_cast<Sum *>(memory);
    m.ring = m.taps + (s.p.width + RUN<Sum> - 1) / RUN<Sum> * RUN<Sum> * s.chunk;
    m.rows = reinterpret_cast<const unsigned char **>(m.ring + s.ring * s.pitch);
    m.columns = reinterpret_cast<int *>(m.rows + s.tile_rows);
    return m;
}

/* Where sample x of a row lies. */
template <typename Sum> __device__ int place_of(int x, int pitch)
{
    constexpr int V = VECTOR<Sum>;
    return x / V % 2 * (pitch / 2) + x / (2 * V) * V + x % V;
}

/* ---- what a chunk needs ---- */

/* An input row by the border's rule, from this tile's channel on; NULL: the border's constant. */
template <typename Sum>
__device__ const unsigned char *find_row(const Tiles<Sum> &s, const GfPlace &place, long long y)
{
    const GfProblem<Sum> &p = s.p;
    y = gf_border_index(y, p.in_height, p.border);
    return y < 0 ? nullptr
                 : gf_row<unsigned char>(p.in, static_cast<size_t>(y)) + blockIdx.z * p.in.batch +
                       place.set * p.in.plane * s.size;
}

/* Rows that no output needs are NULL, too: they need not be there. */
template <typename Sum>
__device__ void locate(const Tiles<Sum> &s, const GfPlace &place, const Memory<Sum> &m)
{
    const GfProblem<Sum> &p = s.p;
    const int down =
        static_cast<int>(min(static_cast<size_t>(s.cut.rows), p.y1 - place.y)) + p.height - 1;
    for (int i = static_cast<int>(threadIdx.x); i < s.tile_rows; i += blockDim.x) {
        const long long y = static_cast<long long>(place.y) + p.origin_y + i;
        m.rows[i] = i < down ? find_row(s, place, y) : nullptr;
    }
    for (int i = static_cast<int>(threadIdx.x); i < s.columns; i += blockDim.x) {
        const long long x =
            gf_border_index(static_cast<long long>(place.s) + p.origin_x + i, p.in_width, p.border);
        m.columns[i] = x < 0 ? -1 : static_cast<int>(x * p.in.pixel);
    }
}

/* Rows of the kernel: [begin, begin + rows). The tile's input row of that number is at `slot` of
 * the ring. */
struct Chunk {
    int begin, rows, slot;
};

template <typename Sum> __device__ int slot_of(const Tiles<Sum> &s, const Chunk &chunk, int row)
{
    const int slot = chunk.slot + row - chunk.begin;
    return slot < s.ring ? slot : slot - s.ring;
}

/* Rows of the tile's input from row `first` on, as far as a chunk needs them: a warp every so
 * many-th. */
template <typename In, typename Sum>
__device__ void load_rows(const Tiles<Sum> &s, const Memory<Sum> &m, const Chunk &chunk, int first)
{
    const int end = chunk.begin + chunk.rows + s.cut.rows - 1;
    constexpr int ACROSS = ::ACROSS<Sum>;
    const int lane = static_cast<int>(threadIdx.x) % 32, warps = static_cast<int>(blockDim.x) / 32;
#pragma unroll 1
    for (int left = 0; left < s.columns; left += 32 * ACROSS) {
        int at[ACROSS], place[ACROSS];
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            const int column = left + lane + 32 * j;
            const bool is_column = column < s.columns;
            at[j] = is_column ? m.columns[column] : -1;
            place[j] = is_column ? place_of<Sum>(column, s.pitch) : -1;
        }
#pragma unroll 1
        for (int row = first + gf_warp(); row < end; row += DOWN * warps) {
            Sum v[DOWN][ACROSS];
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                const int own = row + i * warps;
                const In *from = own < end ? reinterpret_cast<const In *>(m.rows[own]) : nullptr;
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    v[i][j] = s.p.border_value;
                    if (from && at[j] >= 0)
                        v[i][j] = gf_number<Sum>(from[at[j]]);
                }
            }
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                if (row + i * warps >= end)
                    break;
                Sum *const to = m.ring + slot_of(s, chunk, row + i * warps) * s.pitch;
#pragma unroll
                for (int j = 0; j < ACROSS; j++)
                    if (place[j] >= 0)
                        to[place[j]] = v[i][j];
            }
        }
    }
}

template <typename Sum>
__device__ void load(const Tiles<Sum> &s, const Memory<Sum> &m, const Chunk &chunk, int first)
{
    switch (s.sample) {
    case GF_U8:
        return load_rows<uint8_t>(s, m, chunk, first);
    case GF_U16:
        return load_rows<uint16_t>(s, m, chunk, first);
    case GF_F16:
        return load_rows<__half>(s, m, chunk, first);
    case GF_F32:
        return load_rows<float>(s, m, chunk, first);
    case GF_F64:
        if constexpr (sizeof(Sum) == sizeof(double))
            return load_rows<double>(s, m, chunk, first);
    }
}

/* Sends for `rows` rows of kernels, from row `first` on. They go by asynchronous copy, past the
 * registers, while rows of input are loaded; __pipeline_wait_prior(0) waits for them. */
template <typename Sum>
__device__ void send_for_taps(const Tiles<Sum> &s, const Memory<Sum> &m, int first, int rows)
{
    for (int i = static_cast<int>(threadIdx.x); i < rows * s.p.width; i += blockDim.x) {
        const int row = i / s.p.width, x = i % s.p.width;
        __pipeline_memcpy_async(&m.taps[(x / RUN<Sum> * s.chunk + row) * RUN<Sum> + x % RUN<Sum>],
                                &s.p.weights[first * s.p.width + i], sizeof(Sum));
    }
    __pipeline_commit();
}

/* ---- sums ---- */

template <typename Sum> __device__ void read(const Sum *from, Sum *to)
{
    constexpr int V = VECTOR<Sum>;
    *reinterpret_cast<GfSamples<Sum, V> *>(to) = *reinterpret_cast<const GfSamples<Sum, V> *>(from);
}

/* Sums of a thread: in f32 those of the last few rows of taps by themselves. */
template <typename Sum, int ROWS> struct Sums {
    Sum total[ROWS][RUN<Sum>], line[ROWS][RUN<Sum>];
    int left; /* rows of taps before they are added to the others */
};

template <typename Sum, int ROWS>
__device__ void add_lines(const Tiles<Sum> &s, Sums<Sum, ROWS> &sums)
{
#pragma unroll
    for (int i = 0; i < ROWS * RUN<Sum>; i++) {
        sums.total[i / RUN<Sum>][i % RUN<Sum>] += sums.line[i / RUN<Sum>][i % RUN<Sum>];
        sums.line[i / RUN<Sum>][i % RUN<Sum>] = 0;
    }
    sums.left = s.chain;
}

/* Where a thread's windows begin: in which row of the ring, and in it the first, third, ... vector
 * and the others. */
struct Window {
    int slot, one, other;
};

/* The samples of TAPS windows side by side, and the next row. */
template <int TAPS, typename Sum>
__device__ void read_row(const Tiles<Sum> &s, const Memory<Sum> &m, Window &from, Sum *window)
{
    constexpr int V = VECTOR<Sum>, COUNT = (RUN<Sum> + TAPS - 1 + V - 1) / V;
    const Sum *const row = m.ring + from.slot * s.pitch;
#pragma unroll
    for (int v = 0; v < COUNT; v++)
        read(row + (v % 2 ? from.other : from.one) + v / 2 * V, window + v * V);
    from.slot = from.slot + 1 == s.ring ? 0 : from.slot + 1;
}

/* TAPS taps of `count` rows. */
template <int TAPS, typename Sum, int ROWS>
__device__ void walk(const Tiles<Sum> &s, const Memory<Sum> &m, Window from, const Sum *taps,
                     int count, Sums<Sum, ROWS> &sums)
{
    constexpr int V = VECTOR<Sum>;
    alignas(16) Sum window[ROWS][2 * RUN<Sum>];
#pragma unroll
    for (int r = 0; r < ROWS - 1; r++)
        read_row<TAPS>(s, m, from, window[r]);
#pragma unroll 1
    for (; count > 0; count -= ROWS) {
#pragma unroll
        for (int k = 0; k < ROWS; k++, taps += RUN<Sum>) {
            if (k >= count)
                break;
            read_row<TAPS>(s, m, from, window[(k + ROWS - 1) % ROWS]);
            alignas(16) Sum tap[2 * V + 1];
#pragma unroll
            for (int v = 0; v < TAPS && v < 2 * V; v += V)
                read(taps + v, tap + v);
            if (TAPS > 2 * V)
                tap[2 * V] = taps[s.chunk * RUN<Sum>];
#pragma unroll
            for (int t = 0; t < TAPS; t++)
#pragma unroll
                for (int i = 0; i < ROWS * RUN<Sum>; i++) {
                    const int r = i / RUN<Sum>, x = i % RUN<Sum>;
                    Sum &sum = sizeof(Sum) == sizeof(float) ? sums.line[r][x] : sums.total[r][x];
                    sum = fma(tap[t], window[(k + r) % ROWS][x + t], sum);
                }
        }
        if (sizeof(Sum) == sizeof(float) && (sums.left -= ROWS) <= 0)
            add_lines(s, sums);
    }
}

/* What is left of a row of taps, one more than RUN at most. */
template <int TAPS, typename Sum, int ROWS>
__device__ void walk_last(const Tiles<Sum> &s, const Memory<Sum> &m, const Window &from,
                          const Sum *taps, int width, int rows, Sums<Sum, ROWS> &sums)
{
    if (width == TAPS)
        walk<TAPS>(s, m, from, taps, rows, sums);
    else if constexpr (TAPS > 1)
        walk_last<TAPS - 1>(s, m, from, taps, width, rows, sums);
}

/* What a chunk adds to the thread's outputs. */
template <typename Sum, int ROWS>
__device__ void add_chunk(const Tiles<Sum> &s, const Memory<Sum> &m, const Chunk &chunk,
                          Sums<Sum, ROWS> &sums)
{
    constexpr int V = VECTOR<Sum>, R = RUN<Sum>;
    const int lane = static_cast<int>(threadIdx.x) % LANES, top = threadIdx.x / LANES * ROWS;
    Window from = {slot_of(s, chunk, chunk.begin + top), lane * V, lane * V + s.pitch / 2};
    const Sum *taps = m.taps;
    int width = s.p.width;
#pragma unroll 1
    for (; width > R + 1; width -= R, taps += s.chunk * R, from.one += V, from.other += V)
        walk<R>(s, m, from, taps, chunk.rows, sums);
    walk_last<R + 1>(s, m, from, taps, width, chunk.rows, sums);
}

/* The responses of kernel `f`. Input that all chunks' rows have room for stays for the next
 * kernel. */
template <typename Sum, int ROWS>
__device__ void sum_up(const Tiles<Sum> &s, const Memory<Sum> &m, int f,
                       Sum (&response)[ROWS * RUN<Sum>])
{
    Sums<Sum, ROWS> sums = {};
    sums.left = s.chain;
    const bool stays = s.chunk >= s.p.height;
    Chunk chunk = {0, 0, 0};
#pragma unroll 1
    for (int loaded = 0; chunk.begin < s.p.height; chunk.begin += chunk.rows) {
        chunk.slot = slot_of(s, chunk, chunk.begin + chunk.rows);
        chunk.rows = min(s.chunk, s.p.height - chunk.begin);
        __syncthreads();
        send_for_taps(s, m, f * s.p.height + chunk.begin, chunk.rows);
        if (f == 0 || !stays)
            load(s, m, chunk, loaded);
        loaded = chunk.begin + chunk.rows + s.cut.rows - 1;
        __pipeline_wait_prior(0);
        __syncthreads();
        add_chunk(s, m, chunk, sums);
    }
    if (sizeof(Sum) == sizeof(float))
        add_lines(s, sums);
#pragma unroll
    for (int i = 0; i < ROWS * RUN<Sum>; i++)
        response[i] =
            fma(sums.total[i / RUN<Sum>][i % RUN<Sum>], s.p.finish.scale, s.p.finish.offset);
}

/* ---- from sums to samples ---- */

template <typename Out, int ROWS, typename Sum>
__device__ void store_runs(const Tiles<Sum> &s, const GfPlace &place, size_t x, size_t y,
                           const Sum *v)
{
    const GfProblem<Sum> &p = s.p;
    const int count =
        static_cast<int>(min(static_cast<size_t>(RUN<Sum>), static_cast<size_t>(p.out_width) - x));
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (y + r >= p.y1)
            return;
        unsigned char *row = static_cast<unsigned char *>(p.out.samples) +
                             (y + r - p.y0) * p.out.stride + blockIdx.z * p.out.batch;
        gf_store_samples<RUN<Sum>>(
            reinterpret_cast<Out *>(row) + x * p.out.pixel + place.set * p.out.plane, p.out.pixel,
            count, s.aligned && count == RUN<Sum>, v + r * RUN<Sum>);
    }
}

template <typename Sum, int ROWS>
__device__ void finish(const Tiles<Sum> &s, const GfPlace &place, Sum (&v)[ROWS * RUN<Sum>])
{
    const size_t x = place.s + threadIdx.x % LANES * RUN<Sum>;
    const size_t y = place.y + threadIdx.x / LANES * ROWS;
    const bool colour = place.set < s.p.post_channels;
    gf_post_each(s.p.finish, v, [&](int) { return colour; });
    if (x >= static_cast<size_t>(s.p.out_width))
        return;
    switch (s.p.finish.out) {
    case GF_U8:
        store_runs<uint8_t, ROWS>(s, place, x, y, v);
        break;
    case GF_U16:
        store_runs<uint16_t, ROWS>(s, place, x, y, v);
        break;
    case GF_F16: /* never an output */
        break;
    case GF_F32:
        store_runs<float, ROWS>(s, place, x, y, v);
        break;
    case GF_F64:
        store_runs<double, ROWS>(s, place, x, y, v);
        break;
    }
}

/* A tile of opacity that is copied. */
template <typename Sum> __device__ void keep(const Tiles<Sum> &s, const GfPlace &place)
{
    for (int i = static_cast<int>(threadIdx.x); i < s.cut.rows * STRIP<Sum>; i += blockDim.x) {
        const size_t y = place.y + i / STRIP<Sum>;
        const long long x = static_cast<long long>(place.s) + i % STRIP<Sum>;
        if (y < s.p.y1 && x < s.p.out_width)
            gf_keep_alpha_of(s.p, s.sample, s.size, blockIdx.z, place.set, x, y);
    }
}

/* ---- the kernel ---- */

/* Of large kernels four rows, which share what is read; of small ones two, so that more blocks wait
 * for memory at once, and of small pictures, so that there are more. */
constexpr int MANY_ROWS = 4, FEW_ROWS = 2;
template <typename Sum> /* rows of a kernel */
constexpr size_t SMALL = sizeof(Sum) == sizeof(float) ? 17 : 9;
constexpr size_t MIDDLING = 1 << 19; /* samples of a picture */
template <typename Sum, int ROWS>    /* blocks on a multiprocessor, which bounds registers */
constexpr int AT_ONCE = ROWS == MANY_ROWS              ? 3
                        : sizeof(Sum) == sizeof(float) ? 4
                                                       : 5;

template <typename Sum, int ROWS>
__global__ void __launch_bounds__(32 * MOST_WARPS, AT_ONCE<Sum, ROWS>)
    special_tile(const __grid_constant__ Tiles<Sum> s)
{
    GF_BLOCK_MEMORY(double2, memory);
    const GfPlace place = gf_my_tile(s.cut, s.p.y0);
    if (gf_is_kept(s.p, place.set)) {
        gf_wait_for_stream();
        return keep(s, place);
    }
    const Memory<Sum> m = divide(s, reinterpret_cast<unsigned char *>(memory));
    Sum v[ROWS * RUN<Sum>];
    locate(s, place, m);
    gf_wait_for_stream();
    sum_up<Sum, ROWS>(s, m, 0, v);
    if (s.p.responses == 1) {
        gf_combine_alone(s.p.finish, v);
    } else if constexpr (sizeof(Sum) == sizeof(double)) {
        Sum second[ROWS * RUN<Sum>];
        sum_up<Sum, ROWS>(s, m, 1, second);
        gf_combine_each(s.p.finish, v, second);
    }
    finish<Sum, ROWS>(s, place, v);
}

/* ---- the launcher ---- */

size_t blocks_of(const GfLaunch *launch, size_t strip, const GfSpecialTile &tile)
{
    const size_t across = gf_divide_up(launch->step->out_width, strip);
    const size_t down = gf_divide_up(launch->y1 - launch->y0, gf_special_tile_rows(tile));
    return across * down * launch->step->out_channels * launch->count;
}

/* Chunks have as many rows as leave the other blocks room; they and the rows of a thread decide
 * bits, and do not depend on the rows of a launch. Tiles are lower where there would be too few of
 * them for all multiprocessors. */
GfSpecialTile choose(const GfLaunch *launch, size_t strip, size_t rows, size_t at_once)
{
    const GfLinear *linear = &launch->step->linear;
    const size_t room = gf_multiprocessor_bytes() / at_once - GF_BLOCK_BYTES;
    const size_t limit = gf_shared_limit(), enough = at_once * gf_multiprocessors();
    const size_t chunk = GF_SPECIAL_TILE_CHUNK;
    GfSpecialTile tile = {MOST_WARPS, rows, linear->height < chunk ? linear->height : chunk};
    while (tile.chunk > LEAST_CHUNK && gf_special_tile_bytes(linear, launch->wide, tile) > room)
        tile.chunk /= 2;
    while (tile.warps > 1 && (blocks_of(launch, strip, tile) < enough ||
                              gf_special_tile_bytes(linear, launch->wide, tile) > limit))
        tile.warps /= 2;
    return tile;
}

template <typename Sum, int ROWS>
cudaError_t launch_tiles(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    const GfSpecialTile tile = choose(launch, STRIP<Sum>, ROWS, AT_ONCE<Sum, ROWS>);
    const size_t rows = gf_special_tile_rows(tile);
    Tiles<Sum> s = {};
    s.p = gf_problem<Sum>(launch);
    s.sample = step->in;
    s.size = gf_sample_size(step->in);
    s.cut = gf_cut(step->out_width, {STRIP<Sum>, rows}, step->out_channels);
    s.chunk = static_cast<int>(tile.chunk);
    s.ring = static_cast<int>(rows + tile.chunk - 1);
    s.columns = static_cast<int>(STRIP<Sum> + linear->width - 1);
    s.pitch = static_cast<int>(gf_special_tile_pitch(linear, launch->wide));
    s.chain = static_cast<int>(gf_divide_up(gf_chain(step) / 4, size_t{ROWS}) * ROWS);
    s.tile_rows = static_cast<int>(rows + linear->height - 1);
    s.aligned = gf_rows_aligned(launch->out, step->out, RUN<Sum>);
    const GfBlocks blocks = {gf_cut_grid(s.cut, launch), static_cast<unsigned>(32 * tile.warps),
                             gf_special_tile_bytes(linear, launch->wide, tile)};
    return gf_launch_early(special_tile<Sum, ROWS>, gf_spread(special_tile<Sum, ROWS>, blocks),
                           stream, s);
}

template <typename Sum> cudaError_t launch_rows(const GfLaunch *launch, cudaStream_t stream)
{
    constexpr size_t FEW = GF_SPECIAL_IN_TILES, MANY = FEW + 1;
    const GfStep *step = launch->step;
    const size_t samples = step->out_width * step->out_height * step->out_channels;
    const bool small = step->linear.height <= SMALL<Sum> || samples < MIDDLING;
    if (launch->tiling > 0 && launch->tiling != FEW && launch->tiling != MANY)
        return cudaErrorNotSupported;
    return launch->tiling == FEW || (launch->tiling == 0 && small)
               ? launch_tiles<Sum, FEW_ROWS>(launch, stream)
               : launch_tiles<Sum, MANY_ROWS>(launch, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_special_tile(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_rows<double>(launch, stream) : launch_rows<float>(launch, stream);
}
