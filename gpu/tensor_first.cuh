/* What `tensor` has of layers of few channels, such as a network's first, in tiles
 * (tensor_first.cu) and picture by picture (tensor_pictures.cu): a product of matrices on tensor
 * cores, at the accuracy of f32. The first matrix has a row for each map, the second a column for
 * each window, and they are multiplied over the taps of one row of a kernel, eight or sixteen of
 * them (gf_tensor_first(), gpu/tensor_shape.h). Of few maps on one channel it is the other way
 * round: 16 windows are the rows, and the maps fill 8 columns. Kernels of 3 x 3 on colours are
 * multiplied by two of their rows at a time, four taps each.
 *
 * Samples become numbers of f16 in shared memory, once for all maps: the upper and the lower 11
 * bits of each, as for other layers (tensor_layer.cu), each row multiplied by a power of two of its
 * own. A window is nowhere else than in that row, since neighbours overlap: a lane reads its two
 * samples of it as one word.
 *
 * A warp computes units: what one product holds, times several output rows. It goes down the input
 * rows, each of which is read once and multiplied by every row of the kernel that meets it. The
 * tensor cores, which cut sums off where f32 would round, sum a few rows of a kernel, fewer where
 * those of the picture are not in the same units: powers of two are taken one of every eighth, so
 * that most are. Those sums are added by f32's rules.
 *
 * Samples of 8 bits are numbers of f16 as they are, and have no lower part; so they are after a
 * whole number was taken off them, where a network's entry is part of the layer (gpu/enter.h).
 *
 * Costs for 8 maps at 16 pixels, 16 maps at 8, or 4 maps at 32, and a row of a kernel: a product
 * and a half, of 16 numbers (bytes: one; kernels of more than 7 rows: three and two). */
#pragma once

#include <limits.h>
#include <type_traits>

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/groups.cuh"
#include "gpu/halves.cuh"
#include "gpu/instructions.cuh"
#include "gpu/problem.cuh"
#include "gpu/samples.cuh"

namespace gf_first
{

constexpr int WARP = 32, WARPS = 4, THREADS = WARP * WARPS;
constexpr int TEAM = 8;  /* lanes that load a row of the picture */
constexpr int OCTET = 8; /* taps */
constexpr int TILE_WINDOWS = GF_FIRST_WINDOWS, NARROW_WINDOWS = GF_FIRST_NARROW;
constexpr int SCALES_APART = 8; /* binary places */

/* How sums leave a block: each thread stores its own; or a row of units is gathered first, and
 * stored in whole sectors where rows of floats begin anywhere, or copied by the card. */
enum Leaving { BY_THREADS, BY_SECTORS, BY_COPIES };

/* Kernels of HEIGHT rows (GfTensorFirst.height), STRIDE pixels apart; EXACT: samples are numbers of
 * f16; SINGLE: of one channel; FEW: windows are the rows of the product, two neighbours a thread,
 * or where TALL one above the other; PAIRS: an octet has two rows of a kernel. */
template <int HEIGHT, int STRIDE, bool EXACT, bool SINGLE, bool FEW, int WINDOWS = TILE_WINDOWS,
          bool TALL = false, bool PAIRS = false, Leaving LEAVING = BY_THREADS>
struct Form {
    static constexpr int height = HEIGHT, stride = STRIDE, octets = HEIGHT > GF_FIRST_SIDE ? 2 : 1;
    static constexpr bool large = HEIGHT >= 9; /* too many registers, too much code */
    static constexpr bool exact = EXACT, single = SINGLE, few = FEW, pairs = PAIRS;
    static constexpr int steps = PAIRS ? (HEIGHT + 1) / 2 : HEIGHT; /* GfTensorFirst.steps */
    /* Channels whose taps stay in registers from unit to unit; 0: those of no channel. */
    static constexpr int kept = SINGLE ? 1 : PAIRS ? GF_FIRST_COLOURS : 0;
    static constexpr bool early = FEW && !TALL; /* taps are read while samples come */
    static constexpr int shifts = STRIDE == 1 ? 2 : 1;
    static constexpr int windows = FEW ? 16 : 8; /* of a product */
    static constexpr int maps = (FEW ? 8 : 16) / shifts;
    static constexpr int tile_columns = WINDOWS * shifts;
    static constexpr int tiles_apart = tile_columns - (LEAVING == BY_SECTORS ? GF_SECTOR : 0);
    /* Of a unit, and of a thread in it, which has as many rows. */
    static constexpr int columns = windows * shifts / (TALL ? 2 : 1), rows = GF_FIRST_ROWS;
    static constexpr int unit_rows = rows * (TALL ? 2 : 1);
    static constexpr int thread_maps = FEW ? 1 : 2 / shifts;
    static constexpr int thread_columns = 2 * shifts / (TALL ? 2 : 1);
    static constexpr int in_rows = (rows - 1) * STRIDE + HEIGHT;
    /* Steps of a kernel that the tensor cores sum: at most four products, of small kernels two. */
    static constexpr int chain = (HEIGHT < 7 ? 1 : 2) * (EXACT ? 2 : 1) / octets;
    /* Of a multiprocessor, which bounds a thread's registers. */
    static constexpr int blocks = octets == 2 || STRIDE == 4 || TALL ? 3 : 4;
    /* Words, of two samples: from window to window; of a row of the tile, bytes in fours; from row
     * to row. */
    static constexpr int apart = shifts * STRIDE / 2;
    static constexpr int needed = (WINDOWS - 1) * apart + octets * OCTET / 2;
    static constexpr int words = needed + (EXACT ? needed % 2 : 0);
    static constexpr int pitch = words * (EXACT ? 1 : 2);
    static constexpr int lane_words = (words + TEAM - 1) / TEAM;
    static constexpr bool quads = STRIDE == 1 && octets == 2; /* planes of bytes come in fours */
    /* Of shared memory, for a tile of so many rows of input. */
    static constexpr size_t bytes(size_t channels, size_t rows)
    {
        return rows * sizeof(size_t) + channels * rows * (pitch + 1) * sizeof(uint32_t) +
               2 * words * sizeof(int);
    }
    static_assert(bytes(GF_FIRST_CHANNELS - (STRIDE == 4), in_rows) <= GF_SHARED_BYTES);
    /* Of a row of a kernel a lane reads so many words of a tile's row, so far apart: of both its
     * windows, or of each octet of one. */
    static constexpr int lane_parts = FEW ? 2 : octets;
    static constexpr int part_apart = TALL ? rows * pitch : FEW ? apart : OCTET / 2;
    static constexpr bool tall = TALL;
    static constexpr int lane_apart = apart * (FEW && !TALL ? 2 : 1);
    /* Where rows are gathered, floats of a row of units, of a map and of all, two of which are kept
     * in turn: vectors that a warp stores at a time meet all banks. */
    static constexpr bool copied = LEAVING == BY_COPIES, gathered = LEAVING != BY_THREADS;
    static constexpr int map_floats = unit_rows * tile_columns + (FEW ? 8 : columns);
    static constexpr int kept_floats = maps * map_floats;
    static constexpr size_t kept_bytes = gathered ? 2 * kept_floats * sizeof(float) : 0;
};

/* A layer as its kernels see it. */
struct Layer {
    GfProblem<float> p;
    unsigned across, down, splits; /* tiles of a picture; blocks that share the maps of one */
    int runs, split_runs;          /* of 16 rows of the first matrix; of a block */
    int units, rows;               /* of a tile, down; rows of its input */
    size_t size, out_size;         /* bytes of a sample */
    GfSample sample;
    const uint4 *weights;
    const float *lifts, *map_units; /* of channels, of maps */
    const float *outside;           /* GfStep.outside */
    float centres[GF_FIRST_CHANNELS];
    bool vectors; /* may a thread's pixels be stored as one? */
    bool plain;   /* and are they f32, with nothing done to them but scale and offset, no further
                     from a tile's first than an int tells? */
};

/* Where a block works: its first pixel, its picture and its maps. */
struct Tile {
    long long x;
    size_t y, n;
    int rows, columns; /* of its output, that are on the picture */
    int in_rows;       /* that those are made of; */
    int read_rows;     /* without those that meet zeros alone */
    int run, end;
    unsigned char *out; /* of its first pixel */
    bool edges;         /* may bias have too much for its windows? */
};

/* Do all taps of `columns` x `rows` pixels, the first at (x, y) of the tile, lie on the picture? */
template <typename F>
__device__ bool are_whole(const Layer &q, const Tile &tile, int x, int y, int columns, int rows)
{
    const long long in_x = (tile.x + x) * F::stride + q.p.origin_x;
    const long long in_y = (static_cast<long long>(tile.y) + y) * F::stride + q.p.origin_y;
    return in_x >= 0 && in_y >= 0 && in_y + (rows - 1) * F::stride + q.p.height <= q.p.in_height &&
           in_x + (columns - 1) * F::stride + q.p.width <= q.p.in_width;
}

/* ---- from samples to words ---- */

/* A block's shared memory. */
struct Shared {
    uint32_t *words;
    float *scales; /* of each row of each channel: what its sums are multiplied by */
    size_t *lines; /* where the picture's rows are, in bytes; NOWHERE: the border's constant */
    int *places;   /* of a row's columns, in samples; -1: the border's constant */
    float *kept;   /* where rows are gathered, two rows of units */
};

__device__ inline const char *samples_of(const Layer &q)
{
    return static_cast<const char *>(q.p.in.samples);
}

/* The samples of a lane's words of a row; a row has TEAM lanes, and a word of each in turn. */
template <typename F> struct Samples {
    float of[F::lane_words][2];
};

template <typename F> __device__ int my_word(int i)
{
    return i * TEAM + static_cast<int>(threadIdx.x) % TEAM;
}

__device__ inline float team_most(float most)
{
#pragma unroll
    for (int apart = TEAM / 2; apart > 0; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0U, most, apart));
    return most;
}

/* The largest magnitude of a row, infinity passed over. */
template <typename F> __device__ float largest_of(const Samples<F> &samples)
{
    float most = 0.0F, finite = 0.0F;
#pragma unroll
    for (int i = 0; i < F::lane_words * 2; i++)
        most = fmaxf(most, fabsf(samples.of[i / 2][i % 2]));
    most = team_most(most);
    if (__all_sync(~0U, most < INFINITY))
        return most;
    for (int i = 0; i < F::lane_words * 2; i++) {
        const float v = fabsf(samples.of[i / 2][i % 2]);
        finite = v < INFINITY ? fmaxf(finite, v) : finite;
    }
    return team_most(finite);
}

template <typename F>
__device__ void store_row(const Samples<F> &samples, float up, uint32_t *words)
{
    words += my_word<F>(0);
#pragma unroll
    for (int i = 0; i < F::lane_words; i++) {
        const float(&v)[2] = samples.of[i];
        __half2 upper, lower;
        if (F::exact)
            upper = __floats2half2_rn(v[0], v[1]);
        else
            gf_split(v[0] * up, v[1] * up, &upper, &lower);
        if ((i + 1) * TEAM > F::words && my_word<F>(i) >= F::words)
            break;
        words[i * TEAM] = *reinterpret_cast<const uint32_t *>(&upper);
        if (!F::exact)
            words[F::words + i * TEAM] = *reinterpret_cast<const uint32_t *>(&lower);
    }
}

/* ---- products ---- */

/* A thread's sums, as products leave them. */
template <typename F> struct Sums {
    float of[F::rows][4];
};

/* What the rows of a kernel have of their matrix, as split_first_taps() makes it
 * (gpu/tensor_taps.cu): of one octet upper numbers, then lower ones; of two the upper numbers of
 * both, then the lower; of few maps a word of each, and the upper one twice more. */
template <typename F> struct Taps {
    uint4 of[F::steps][F::octets];
};

template <typename F> __device__ void read_taps(const uint4 *from, Taps<F> *taps)
{
#pragma unroll
    for (int i = 0; i < F::steps * F::octets; i++)
        taps->of[i / F::octets][i % F::octets] = __ldg(from + i * WARP);
}

/* An input row times a kernel's row: lower times upper, upper times lower, upper times upper.
 * Tensor cores cut sums off, which costs less while they are small; but large kernels have no
 * registers for that order. */
template <typename F>
__device__ void multiply(float (&d)[4], const uint4 (&a)[F::octets],
                         const uint32_t (&upper)[F::lane_parts],
                         const uint32_t (&lower)[F::lane_parts])
{
    if constexpr (F::few) {
        const uint4 both = {upper[0], upper[1], F::exact ? upper[0] : lower[0],
                            F::exact ? upper[1] : lower[1]};
        if (F::exact) {
            gf_multiply_halves(d, both, a[0].x, a[0].y);
        } else {
            gf_multiply_halves(d, uint2{upper[0], upper[1]}, a[0].y);
            gf_multiply_halves(d, both, a[0].z, a[0].w);
        }
    } else if constexpr (F::octets == 2) {
        if (F::large)
            gf_multiply_halves(d, a[0], upper[0], upper[1]);
        gf_multiply_halves(d, a[1], upper[0], upper[1]);
        if (!F::exact)
            gf_multiply_halves(d, a[0], lower[0], lower[1]);
        if (!F::large)
            gf_multiply_halves(d, a[0], upper[0], upper[1]);
    } else {
        if (!F::exact)
            gf_multiply_halves(d, uint2{a[0].x, a[0].y}, lower[0]);
        gf_multiply_halves(d, a[0], upper[0], upper[0]);
    }
}

/* Adds what the tensor cores summed of two pixels, in units of `scale`, to what f32 sums. */
__device__ inline void drain(float *part, float scale, float *sum)
{
#pragma unroll
    for (int j = 0; j < 2; j++) {
        sum[j] = fmaf(part[j], scale, sum[j]);
        part[j] = 0.0F;
    }
}

/* Adds a channel's products, its rows' words beginning with this lane's own. SAME: all rows are in
 * the same units; without, it comes to the same. */
template <typename F, bool SAME>
__device__ void add_channel(const Taps<F> &taps, const uint32_t *words, const float *scales,
                            Sums<F> *sums)
{
    constexpr int LOWER =
        F::tall ? F::rows : 0; /* rows from a thread's first pixels to its others */
    Sums<F> part = {};
#pragma unroll
    for (int y = 0; y < F::in_rows; y++) {
        const float scale = scales[SAME ? 0 : y], below = scales[SAME ? 0 : y + LOWER];
        const int next = min(y + 1, F::in_rows - 1);
        const bool ends = !SAME && F::chain > 1 && scales[next] != scale;
        const bool below_ends = !SAME && F::chain > 1 && scales[next + LOWER] != below;
        uint32_t upper[F::lane_parts], lower[F::lane_parts];
#pragma unroll
        for (int i = 0; i < F::lane_parts; i++) {
            upper[i] = words[y * F::pitch + i * F::part_apart];
            lower[i] = F::exact ? 0 : words[y * F::pitch + F::words + i * F::part_apart];
        }
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            const int row = y - r * F::stride;
            if (row < 0 || row >= F::height)
                continue;
            multiply<F>(part.of[r], taps.of[row], upper, lower);
            const bool full = row % F::chain == F::chain - 1 || row == F::height - 1;
            if (full || ends)
                drain(part.of[r], scale, sums->of[r]);
            if (full || below_ends)
                drain(part.of[r] + 2, below, sums->of[r] + 2);
        }
    }
}

/* The products of one step of a kernel of pairs with all rows of a unit, those of lower numbers
 * first. */
template <typename F>
__device__ void multiply_pairs(Sums<F> *part, const uint4 &a, const uint32_t (&upper)[F::rows],
                               const uint32_t (&lower)[F::rows])
{
#pragma unroll
    for (int r = 0; r < F::rows; r++)
        if (!F::exact)
            gf_multiply_halves(part->of[r], uint2{a.x, a.y}, lower[r]);
#pragma unroll
    for (int r = 0; r < F::rows; r++)
        gf_multiply_halves(part->of[r], a, upper[r], upper[r]);
}

/* Adds a channel's products where an octet has two rows of a kernel: lanes from the third of four
 * on have the lower one, or no taps. What is not in the same units is summed apart. */
template <typename F, bool SAME>
__device__ void add_pairs(const Taps<F> &taps, const uint32_t *words, const float *scales,
                          Sums<F> *sums)
{
    const bool second = threadIdx.x % 4 >= 2;
    const uint32_t *pair = words + (second ? F::pitch : 0);
    Sums<F> part = {};
#pragma unroll
    for (int step = 0; step < F::steps; step++) {
        const bool is_pair = 2 * step + 1 < F::height;
        uint32_t upper[F::rows], lower[F::rows];
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            const int row = r * F::stride + 2 * step;
            const uint32_t *from = (is_pair ? pair : words) + row * F::pitch;
            upper[r] = from[0];
            lower[r] = F::exact ? 0 : from[F::words];
        }
        if (!SAME && is_pair) {
#pragma unroll
            for (int r = 0; r < F::rows; r++) {
                const int row = r * F::stride + 2 * step;
                const float scale = scales[row];
                if (scale == scales[row + 1])
                    continue;
                const uint32_t own[1] = {second ? 0 : upper[r]};
                const uint32_t rest[1] = {second ? 0 : lower[r]};
                multiply<F>(part.of[r], taps.of[step], own, rest);
                drain(part.of[r], scale, sums->of[r]);
                drain(part.of[r] + 2, scale, sums->of[r] + 2);
                upper[r] = second ? upper[r] : 0;
                lower[r] = second ? lower[r] : 0;
            }
        }
        multiply_pairs<F>(&part, taps.of[step][0], upper, lower);
        if (step % F::chain < F::chain - 1 && step < F::steps - 1)
            continue;
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            const float scale = scales[SAME ? 0 : r * F::stride + 2 * step + is_pair];
            drain(part.of[r], scale, sums->of[r]);
            drain(part.of[r] + 2, scale, sums->of[r] + 2);
        }
    }
}

/* ---- storing ---- */

/* A thread's samples of one map, from pixel (x, y) on. */
template <typename F, typename Out>
__device__ void store(const Layer &q, const Tile &tile, int o, int x, int y,
                      const float (&v)[F::unit_rows * F::thread_columns])
{
    constexpr int N = F::thread_columns, ROWS = F::unit_rows;
    const int columns = min(tile.columns - x, N), rows = tile.rows - y;
    unsigned char *row =
        tile.out + y * q.p.out.stride + (x * q.p.out.pixel + o * q.p.out.plane) * sizeof(Out);
    if (q.vectors && columns == N && rows >= ROWS) {
#pragma unroll
        for (int r = 0; r < ROWS; r++, row += q.p.out.stride)
            gf_store_samples<N, F::few>(reinterpret_cast<Out *>(row), 1, N, true, v + r * N);
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++, row += q.p.out.stride)
        if (r < rows)
            gf_store_samples<N>(reinterpret_cast<Out *>(row), q.p.out.pixel, columns, false,
                                v + r * N);
}

/* The same where they are plain, and all on the picture. */
template <typename F>
__device__ void store_plain(const Layer &q, const Tile &tile, int o, int x, int y,
                            const float (&v)[F::unit_rows * F::thread_columns])
{
    constexpr int N = F::thread_columns;
    const unsigned stride = static_cast<unsigned>(q.p.out.stride / sizeof(float));
    unsigned at = static_cast<unsigned>(o) * static_cast<unsigned>(q.p.out.plane) + y * stride + x;
    float *out = reinterpret_cast<float *>(tile.out);
#pragma unroll
    for (int r = 0; r < F::unit_rows; r++, at += stride)
        gf_store_samples<N, F::few>(out + at, 1, N, true, v + r * N);
}

/* Leaves a thread's samples of a map of the run, from column x of the tile on, for store_kept() or
 * copy_kept(). */
template <typename F>
__device__ void keep(int map, int x, const float (&v)[F::unit_rows * F::thread_columns],
                     float *kept)
{
    constexpr int N = F::thread_columns;
    kept += map * F::map_floats + x;
#pragma unroll
    for (int r = 0; r < F::unit_rows; r++, kept += F::tile_columns)
        gf_store_samples<N>(kept, 1, N, true, v + r * N);
}

/* What sums of a map are multiplied by, and what is added; with the gain where no function comes
 * between. */
struct MapFinish {
    float scale, shift;
};

/* Of map o, or of the last where there are fewer. */
__device__ inline MapFinish find_map_finish(const GfProblem<float> &p, const float *units, int o)
{
    const GfFinish<float> &finish = p.finish;
    const float gain = finish.posts == 0 ? finish.gain : 1.0F;
    o = min(o, p.out_channels - 1);
    const float mid = finish.posts == 0 && o < p.post_channels ? finish.mid : 0.0F;
    return {units[o] * finish.scale * gain,
            fmaf(finish.offset + (p.bias ? p.bias[o] : 0.0F), gain, mid)};
}

/* Of a thread's maps of a run. */
template <typename F> struct Finish {
    float scale[F::thread_maps], shift[F::thread_maps];
};

template <typename F> __device__ int my_map(int run, int h)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    return run * F::maps + (F::few ? lane % 4 : lane / 4) + h * 8;
}

template <typename F> __device__ Finish<F> find_finish(const Layer &q, int run)
{
    Finish<F> mine;
#pragma unroll
    for (int h = 0; h < F::thread_maps; h++) {
        const MapFinish map = find_map_finish(q.p, q.map_units, my_map<F>(run, h));
        mine.scale[h] = map.scale;
        mine.shift[h] = map.shift;
    }
    return mine;
}

/* Of the taps of a window from `first` on, those that lie on n samples. */
__device__ inline int2 taps_inside(long long first, int taps, long long n)
{
    const int begin = static_cast<int>(max(0LL, min(-first, static_cast<long long>(taps))));
    const int end = static_cast<int>(max(0LL, min(n - first, static_cast<long long>(taps))));
    return {begin, max(begin, end)};
}

/* What bias has too much for map o at (x, y) (GfStep.outside). */
__device__ inline float outside_of(const Layer &q, int o, long long x, long long y)
{
    const int2 h = taps_inside(x * q.p.stride_x + q.p.origin_x, q.p.width, q.p.in_width);
    const int2 v = taps_inside(y * q.p.stride_y + q.p.origin_y, q.p.height, q.p.in_height);
    const int pitch = q.p.width + 1;
    const float *sums = q.outside + static_cast<size_t>(o) * pitch * (q.p.height + 1);
    const float *above = sums + v.x * pitch, *below = sums + v.y * pitch;
    return sums[q.p.height * pitch + q.p.width] -
           (below[h.y] - below[h.x] - above[h.y] + above[h.x]);
}

/* Takes from a thread's samples of map o, from pixel (x, y) of the tile on, what bias has too
 * much. */
template <typename F>
__device__ void take_outside(const Layer &q, const Tile &tile, int o, int x, int y,
                             float (&v)[F::unit_rows * F::thread_columns])
{
    constexpr int N = F::thread_columns, ROWS = F::unit_rows;
    const float gain = q.p.finish.posts == 0 ? q.p.finish.gain : 1.0F;
    if (are_whole<F>(q, tile, x, y, N, ROWS))
        return;
#pragma unroll 1
    for (int i = 0; i < ROWS * N; i++) {
        const long long down = static_cast<long long>(tile.y) + y + i / N;
        const float outside = gain * outside_of(q, o, tile.x + x + i % N, down);
#pragma unroll
        for (int j = 0; j < ROWS * N; j++)
            v[j] -= j == i ? outside : 0.0F;
    }
}

/* From the sums of a unit at (x, y) of the tile to its samples, which are stored, or kept. */
template <typename F>
__device__ void finish(const Layer &q, const Tile &tile, int run, int x, int y,
                       const Finish<F> &mine, const Sums<F> &sums, float *kept = nullptr)
{
    constexpr int N = F::thread_columns;
    /* The code of large kernels on floats is more than what holds instructions. */
    constexpr int AT_ONCE = F::exact || !F::large ? F::thread_maps : 1;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    x += (F::few ? lane / 4 : lane % 4) * N;
    if (x >= tile.columns || y >= tile.rows)
        return;
#pragma unroll AT_ONCE
    for (int h = 0; h < F::thread_maps; h++) {
        const int o = my_map<F>(run, h);
        if (o >= q.p.out_channels)
            continue;
        const float scale = h == 0 ? mine.scale[0] : mine.scale[F::thread_maps - 1];
        const float shift = h == 0 ? mine.shift[0] : mine.shift[F::thread_maps - 1];
        float v[F::unit_rows * N];
#pragma unroll
        for (int i = 0; i < F::unit_rows * N; i++) {
            const float(&sum)[4] = sums.of[i / N % F::rows];
            const int j = i % N + (F::tall ? i / N / F::rows * N : 0);
            /* A place that is computed would put the sums into memory where the loop is not
             * unrolled. */
            const float own = F::shifts == 2 && !F::few ? sum[j % 2 * 2 + j / 2]
                              : h == 0                  ? sum[j]
                                                        : sum[F::thread_maps == 1 ? j : 2 + j];
            v[i] = fmaf(own, scale, shift);
        }
        if (!F::gathered && q.plain && x + N <= tile.columns && y + F::unit_rows <= tile.rows) {
            store_plain<F>(q, tile, o, x, y, v);
            continue;
        }
        if (tile.edges)
            take_outside<F>(q, tile, o, x, y, v);
        if (q.p.finish.posts > 0)
            gf_post_each(q.p.finish, v, [&](int) { return o < q.p.post_channels; });
        if constexpr (F::gathered)
            keep<F>(o - run * F::maps, x, v, kept);
        else if (q.p.finish.out == GF_F32)
            store<F, float>(q, tile, o, x, y, v);
        else if (q.p.finish.out == GF_U16)
            store<F, uint16_t>(q, tile, o, x, y, v);
        else
            store<F, uint8_t>(q, tile, o, x, y, v);
    }
}

/* ---- a block's work ---- */

/* What a thread keeps of a run from unit to unit. */
template <typename F> struct Run {
    Finish<F> finish;
    Taps<F> taps[F::kept ? F::kept : 1]; /* of channels that are kept */
};

template <typename F> __device__ void read_run(const Layer &q, int i, Run<F> *run)
{
    constexpr int CHANNEL = F::steps * F::octets * WARP; /* vectors of taps */
    const uint4 *weights = q.weights + static_cast<size_t>(i) * F::kept * CHANNEL;
#pragma unroll
    for (int c = 0; c < F::kept; c++)
        read_taps<F>(weights + c * CHANNEL + threadIdx.x % WARP, &run->taps[c]);
    run->finish = find_finish<F>(q, i);
}

/* A warp's units: from one to the next it goes `across` columns and `down` rows on, and to the next
 * row where that is beyond the tile. Few maps take up to 5 % less time so, other forms up to 4 %
 * less by a loop. */
template <typename F, int WARPS> struct Walk {
    int column, y; /* of its unit; rows are samples */
    int columns, across, down;

    __device__ explicit Walk(const Tile &tile)
    {
        const int warp = static_cast<int>(threadIdx.x) / WARP;
        columns = (tile.columns + F::columns - 1) / F::columns;
        column = warp % columns;
        y = warp / columns * F::unit_rows;
        across = WARPS % columns;
        down = WARPS / columns * F::unit_rows;
    }

    __device__ void advance()
    {
        column += across;
        y += down;
        if (column >= columns) {
            column -= columns;
            y += F::unit_rows;
        }
    }
};

/* The same by a loop. */
template <typename F, int WARPS> struct Loop {
    int column, y, columns;

    __device__ explicit Loop(const Tile &tile)
        : column(static_cast<int>(threadIdx.x) / WARP), y(0),
          columns((tile.columns + F::columns - 1) / F::columns)
    {
        wrap();
    }

    __device__ void wrap()
    {
        for (; column >= columns; column -= columns)
            y += F::unit_rows;
    }

    __device__ void advance()
    {
        column += WARPS;
        wrap();
    }
};

/* Where this lane's words of the tile's first window are. */
template <typename F> __device__ const uint32_t *find_words(const Shared &shared)
{
    const int lane = threadIdx.x % WARP;
    return shared.words + lane / 4 * F::lane_apart + (F::pairs ? lane % 2 : lane % 4);
}

/* The sums of the unit at `column`, in units, and row y of the tile, for a run of which `mine` is
 * kept. */
template <typename F, bool SAME>
__device__ Sums<F> sum_unit(const Layer &q, const Shared &shared, const uint32_t *lane_words,
                            int run, Run<F> *mine, int column, int y)
{
    constexpr int CHANNEL = F::steps * F::octets * WARP; /* vectors of taps */
    const int depth = F::kept ? F::kept : q.p.depth;
    const uint4 *weights =
        q.weights + static_cast<size_t>(run * depth) * CHANNEL + threadIdx.x % WARP;
    Sums<F> sums = {};
    const auto add = [&](const Taps<F> &of, int c) {
        const int row = c * q.rows + y * F::stride;
        const uint32_t *words =
            lane_words + row * F::pitch + column * (F::columns / F::shifts) * F::apart;
        if constexpr (F::pairs)
            add_pairs<F, SAME>(of, words, shared.scales + row, &sums);
        else
            add_channel<F, SAME>(of, words, shared.scales + row, &sums);
    };
#pragma unroll
    for (int c = 0; c < F::kept; c++)
        add(mine->taps[c], c);
    for (int c = F::kept; c < depth; c++) {
        read_taps<F>(weights + c * CHANNEL, &mine->taps[0]);
        add(mine->taps[0], c);
    }
    return sums;
}

/* `mine` is the tile's first run where that is read early. */
template <typename F, bool SAME, int WARPS = gf_first::WARPS>
__device__ void run_units(const Layer &q, const Tile &tile, const Shared &shared, Run<F> *mine)
{
    using Units = std::conditional_t<F::early, Walk<F, WARPS>, Loop<F, WARPS>>;
    const uint32_t *words = find_words<F>(shared);
    for (int run = tile.run; run < tile.end; run++) {
        if (!F::early || run > tile.run)
            read_run<F>(q, run, mine);
        for (Units units(tile); units.y < tile.rows; units.advance()) {
            const Sums<F> sums =
                sum_unit<F, SAME>(q, shared, words, run, mine, units.column, units.y);
            finish<F>(q, tile, run, units.column * F::columns, units.y, mine->finish, sums);
        }
    }
}

/* All but how it is cut. */
template <typename F> Layer describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfTensorLayer *state = &static_cast<const GfTensorState *>(launch->state)->layer;
    Layer q = {};
    q.p = gf_problem<float>(launch);
    q.runs = static_cast<int>(gf_tensor_first(step).runs);
    q.size = gf_sample_size(step->in);
    q.out_size = gf_sample_size(step->out);
    q.sample = step->in;
    q.weights = static_cast<const uint4 *>(state->weights);
    q.lifts = state->lifts;
    q.map_units = state->units;
    q.outside = state->outside;
    for (size_t c = 0; step->centres && c < step->channels; c++)
        q.centres[c] = static_cast<float>(step->centres[c]);
    q.vectors = gf_rows_aligned(launch->out, step->out, F::thread_columns);
    const size_t rows = launch->y1 - launch->y0;
    const size_t reach =
        launch->out.plane * step->out_channels + launch->out.stride / sizeof(float) * rows;
    q.plain =
        q.vectors && step->out == GF_F32 && step->posts == 0 && !q.outside && reach <= INT_MAX;
    return q;
}

} // namespace gf_first
