/* Method `tensor`, layers of many maps of one channel in f32 (gpu/tensor_gray_shape.h), as products
 * of matrices by groups of four warps, at the accuracy of f32.
 *
 * Of the first matrix 64 rows are two rows of 16 maps and the same moved right by a pixel; its taps
 * stay in a group's registers. Of the second 64 columns are windows, two pixels apart, and 16 rows
 * the eight taps that they have on each of two rows of the picture. It lies in shared memory by
 * rows of the picture, 16 bytes a window, so that any two of these are a second matrix.
 *
 * Four warps bring rows of the picture into a ring: as the upper and the lower 11 bits of each
 * sample, in f16, each row multiplied by a power of two of its own. A group multiplies, one run of
 * maps or two, and stores what it had before while the next products are under way.
 *
 * The order in which memory is written decides how long that takes: as several rows of one map, not
 * as one row of many (bench/results/2026-12-01-h200.md). So a warp, which has four maps, gathers
 * four rows of them, two units, and stores those of two maps after each unit.
 *
 * Two rows of output are a unit of work. Where all rows that it is made of were multiplied by the
 * same, its sums are of all products; else those of each factor are added up, from the smallest
 * sums on. Units of work begin at even rows of the whole output, so that bits do not depend on how
 * it is cut. */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int WARP = 32, WARPS = 4, GROUP = WARP * WARPS, THREADS = 2 * GROUP, BLOCKS = 2;
constexpr int REGISTERS = 168, OTHERS = 88; /* of threads that multiply, that bring */
constexpr int COLUMNS = GF_GRAY_COLUMNS, OCTET = 8, OCTETS = COLUMNS / 2 / OCTET;
constexpr int WINDOWS = COLUMNS / 2, WORDS = WINDOWS + 4; /* of a row, of two samples */
constexpr int TEAM = gf_first::TEAM;
constexpr int CHUNK = WARP / TEAM, CHUNKS = 8, RING = CHUNK * CHUNKS; /* rows that a warp brings */
constexpr int ROWS = GF_GRAY_ROWS, MAPS = GF_GRAY_MAPS;               /* of a unit */
constexpr int STEPS = GF_GRAY_STEPS, IN_ROWS = 2 * STEPS;
constexpr int UNITS = 2, BATCH = UNITS * ROWS, WARP_MAPS = MAPS / WARPS; /* that a warp gathers */
constexpr int HALVES = 2, HALF = WARP_MAPS / HALVES;                     /* maps that it stores */
constexpr int KEPT_PITCH = COLUMNS / 4 + 4;                              /* vectors of a row */
constexpr int RUN_VECTORS = STEPS * 2 * GROUP; /* of 16 bytes, of a run's taps */
constexpr int SCALES_APART = 8;                /* binary places */

struct Gray {
    GfProblem<float> p;
    unsigned across, down, splits; /* tiles of a picture; blocks that share the maps of one */
    int rows;                      /* of a tile */
    const uint4 *weights;
    const float *map_units;
    long long base; /* row of the first tile */
    bool vectors;
};

struct Tile {
    int x;
    long long y; /* of its first row, of the whole output: the first may lie before q.p.y0 */
    size_t n;
    int run;                 /* its first */
    int begin, end, columns; /* rows, columns of it that are stored */
    int in_rows;             /* of the picture, that are brought */
};

/* What rows are multiplied by after products: that of those in the smallest units, in the largest,
 * but for rows of zeros. */
struct Range {
    float least, most;
};

struct Shared {
    uint4 upper[RING * WINDOWS], lower[RING * WINDOWS];
    float4 kept[WARPS][BATCH * WARP_MAPS * KEPT_PITCH];
    float scales[RING]; /* of each row; 0: it is zeros */
    int places[2 * WORDS];
    Range ranges[CHUNKS];
    uint64_t full[CHUNKS], empty[CHUNKS];
};

template <int RUNS> __device__ Tile find_tile(const Gray &q)
{
    unsigned i = blockIdx.x;
    Tile tile;
    tile.run = static_cast<int>(i % q.splits) * RUNS;
    i /= q.splits;
    tile.x = static_cast<int>(i % q.across) * COLUMNS;
    i /= q.across;
    tile.y = q.base + static_cast<long long>(i % q.down) * q.rows;
    tile.n = i / q.down;
    tile.begin = static_cast<int>(max(static_cast<long long>(q.p.y0) - tile.y, 0LL));
    tile.end = static_cast<int>(
        min(static_cast<long long>(q.p.y1) - tile.y, static_cast<long long>(q.rows)));
    tile.in_rows = (tile.end + BATCH - 1) / BATCH * BATCH - ROWS + IN_ROWS;
    tile.columns = static_cast<int>(min(q.p.out_width - tile.x, static_cast<long long>(COLUMNS)));
    return tile;
}

/* ---- from samples to windows ---- */

/* A row's words as gf_first has them, a team of lanes a row. */
struct Line {
    static constexpr int lane_words = (WORDS + TEAM - 1) / TEAM;
};
using Samples = gf_first::Samples<Line>;
using Finish = gf_first::MapFinish;

/* Where a tile's columns are in their rows; below 0 where the border's constant stands. */
__device__ inline void find_places(const Gray &q, const Tile &tile, int (&places)[2 * WORDS])
{
    const int left = tile.x + static_cast<int>(q.p.origin_x);
    for (int i = static_cast<int>(threadIdx.x); i < 2 * WORDS; i += THREADS)
        places[i] = static_cast<int>(gf_border_index(left + i, q.p.in_width, q.p.border));
}

/* A tile's samples of a row. INSIDE: all are on the picture, side by side. */
template <bool INSIDE>
__device__ Samples load_row(const Gray &q, const Tile &tile, const Shared &shared, const float *row)
{
    const int lane = static_cast<int>(threadIdx.x) % TEAM;
    const int left = tile.x + static_cast<int>(q.p.origin_x);
    Samples samples;
#pragma unroll
    for (int i = 0; i < Line::lane_words; i++) {
        const int word = i * TEAM + lane;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            float &v = samples.of[i][j];
            v = 0.0F;
            if ((i + 1) * TEAM > WORDS && word >= WORDS)
                continue;
            const int x = 2 * word + j, place = INSIDE ? left + x : shared.places[x];
            const bool there = row && (INSIDE || place >= 0);
            v = there ? row[INSIDE ? place : place * q.p.in.pixel] : q.p.border_value;
        }
    }
    return samples;
}

/* Of a team's lanes. */
__device__ inline bool are_zeros(const Samples &samples)
{
    float most = 0.0F;
    for (int i = 0; i < 2 * Line::lane_words; i++)
        most = samples.of[i / 2][i % 2] == 0.0F ? most : 1.0F;
    return gf_first::team_most(most) == 0.0F;
}

/* A row's windows: each of its words is a part of four. Teams write different parts at a time,
 * which meet all banks. */
__device__ inline void store_windows(const Samples &samples, float up, uint4 *upper, uint4 *lower)
{
    const int lane = static_cast<int>(threadIdx.x) % TEAM;
    const int team = static_cast<int>(threadIdx.x) % WARP / TEAM;
#pragma unroll
    for (int i = 0; i < Line::lane_words; i++) {
        const float(&v)[2] = samples.of[i];
        __half2 halves[2];
        gf_split(v[0] * up, v[1] * up, &halves[0], &halves[1]);
#pragma unroll
        for (int p = 0; p < 4; p++) {
            const int part = (p + team) % 4, window = i * TEAM + lane - part;
            if ((i > 0 || window >= 0) && ((i + 1) * TEAM <= WINDOWS || window < WINDOWS)) {
                reinterpret_cast<uint32_t *>(upper + window)[part] =
                    *reinterpret_cast<const uint32_t *>(&halves[0]);
                reinterpret_cast<uint32_t *>(lower + window)[part] =
                    *reinterpret_cast<const uint32_t *>(&halves[1]);
            }
        }
    }
}

/* A warp that brings every WARPS-th chunk of rows, and reads its next meanwhile. */
template <bool INSIDE> __device__ void produce(const Gray &q, const Tile &tile, Shared &shared)
{
    const int first = static_cast<int>(threadIdx.x) / WARP % WARPS * CHUNK;
    const int lane = static_cast<int>(threadIdx.x) % WARP, team = lane / TEAM;
    const auto read = [&](int y) {
        const int row = max(tile.begin, min(y + team, tile.end - 1 + q.p.height - 1));
        const long long down = tile.y + q.p.origin_y + row;
        return load_row<INSIDE>(q, tile, shared, gf_input_row<float>(q.p, tile.n, down));
    };
    Samples next = read(first);
#pragma unroll 1
    for (int y = first; y < tile.in_rows; y += WARPS * CHUNK) {
        const Samples samples = next;
        const int slot = y / CHUNK % CHUNKS, row = slot * CHUNK + team;
        if (y + WARPS * CHUNK < tile.in_rows)
            next = read(y + WARPS * CHUNK);
        const float most = gf_first::largest_of<Line>(samples);
        const GfScale scale = gf_scale<SCALES_APART>(most);
        const bool zeros = __any_sync(~0U, most == 0.0F) && are_zeros(samples);
        const unsigned unit = __float_as_uint(scale.down);
        const unsigned least = __reduce_min_sync(~0U, zeros ? ~0U : unit);
        const unsigned largest = __reduce_max_sync(~0U, zeros ? 0 : unit);
        gf_barrier_wait(&shared.empty[slot], y / RING % 2 ^ 1);
        store_windows(samples, scale.up, shared.upper + row * WINDOWS,
                      shared.lower + row * WINDOWS);
        if (lane % TEAM == 0)
            shared.scales[row] = zeros ? 0.0F : scale.down;
        if (lane == 0)
            shared.ranges[slot] = {least == ~0U ? INFINITY : __uint_as_float(least),
                                   __uint_as_float(largest)};
        gf_copies_follow();
        gf_barrier_arrive(&shared.full[slot]);
    }
}

/* ---- products ---- */

using Sums = float[OCTETS][4];

struct Taps {
    uint32_t upper[STEPS][4], lower[STEPS][4];
};

__device__ inline void read_taps(const uint4 *from, uint32_t (&taps)[4])
{
    const uint4 v = __ldg(from);
    taps[0] = v.x, taps[1] = v.y, taps[2] = v.z, taps[3] = v.w;
}

__device__ inline Taps read_run(const Gray &q, int run)
{
    const uint4 *from = q.weights + static_cast<size_t>(run) * RUN_VECTORS + threadIdx.x % GROUP;
    Taps taps;
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        read_taps(from + 2 * i * GROUP, taps.upper[i]);
        read_taps(from + (2 * i + 1) * GROUP, taps.lower[i]);
    }
    return taps;
}

/* The ring's windows, as products take them. */
struct Matrices {
    uint64_t upper, lower;
};

__device__ inline uint64_t describe(const uint4 *windows)
{
    return 8ULL << 32 | gf_describe(windows, WINDOWS);
}

/* Begins the sums of the unit of row y, in its units. Tensor cores cut sums off, which costs less
 * while they are small. */
__device__ inline void begin_unit(const Taps &taps, const Matrices &from, int y, Sums &sums)
{
    gf_begin_products();
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        const int row = (y + 2 * i) % RING * WINDOWS;
        if (i == 0)
            gf_begin_product<OCTETS, false>(sums, taps.lower[i], from.upper + row);
        else
            gf_begin_product<OCTETS>(sums, taps.lower[i], from.upper + row);
        gf_begin_product<OCTETS>(sums, taps.upper[i], from.lower + row);
    }
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        gf_begin_product<OCTETS>(sums, taps.upper[i], from.upper + (y + 2 * i) % RING * WINDOWS);
    gf_end_products();
}

/* What all rows of a unit are in units of, zeros aside; below 0 where they may differ. A unit has
 * rows of two chunks or three. */
__device__ inline float common_scale(const Range (&ranges)[CHUNKS], int y)
{
    Range all = ranges[y / CHUNK % CHUNKS];
#pragma unroll
    for (int i = CHUNK; i < IN_ROWS + CHUNK - 1; i += CHUNK) {
        const Range &other = ranges[min(y + i, y + IN_ROWS - 1) / CHUNK % CHUNKS];
        all = {fminf(all.least, other.least), fmaxf(all.most, other.most)};
    }
    /* A lane's word, by which the compiler knows that warps stay together. */
    return __shfl_sync(~0U, all.least < all.most ? -1.0F : all.most, 0);
}

__device__ inline int my_first_map(int run)
{
    return run * MAPS + static_cast<int>(threadIdx.x) / WARP % WARPS * WARP_MAPS;
}

/* Of a thread's map. One channel alone has a lift of 1 (gpu/tensor_layer.c). */
__device__ inline Finish my_finish(const Gray &q, int run)
{
    const int map = my_first_map(run) + static_cast<int>(threadIdx.x) % WARP / 4 % WARP_MAPS;
    return gf_first::find_map_finish(q.p, q.map_units, map);
}

/* Adds what sums of rows in units of `scale` come to. */
__device__ inline void add(const Sums &sums, float scale, Sums &values)
{
#pragma unroll
    for (int i = 0; i < OCTETS * 4; i++)
        values[i / 4][i % 4] = fmaf(sums[i / 4][i % 4], scale, values[i / 4][i % 4]);
}

__device__ inline void begin_values(const Finish &finish, Sums &values)
{
#pragma unroll
    for (int i = 0; i < OCTETS * 4; i++)
        values[i / 4][i % 4] = finish.shift;
}

/* Where units may differ: the sums of each are added from the smallest on. Taps are read again,
 * since registers hold no others beside those that are multiplied. */
__device__ inline void add_apart(const Gray &q, int run, const Matrices &from, int y,
                                 const float *scales, const Finish &finish, Sums &values)
{
    float scale = 0.0F;
    for (;;) {
        float next = INFINITY;
        for (int i = 0; i < IN_ROWS; i++) {
            const float other = scales[(y + i) % RING];
            next = other > scale ? fminf(next, other) : next;
        }
        if (__shfl_sync(~0U, next, 0) == INFINITY)
            return;
        scale = next;
        Taps own = read_run(q, run);
        Sums sums;
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
#pragma unroll
            for (int w = 0; w < 4; w++) {
                const bool live = scales[(y + 2 * i + w / 2) % RING] == scale;
                own.upper[i][w] = live ? own.upper[i][w] : 0;
                own.lower[i][w] = live ? own.lower[i][w] : 0;
            }
            gf_settle(own.upper[i]);
            gf_settle(own.lower[i]);
        }
        begin_unit(own, from, y, sums);
        gf_wait_for_products(sums);
        add(sums, scale * finish.scale, values);
    }
}

/* ---- storing ---- */

/* Four rows of a warp's maps: where the first goes, and what of them does. */
struct Batch {
    unsigned char *to;
    int maps, begin, end, columns;
    bool whole; /* all of it, as vectors */
};

__device__ inline Batch find_batch(const Gray &q, const Tile &tile, int run, int y)
{
    const int map = my_first_map(run);
    const long long down = tile.y + y - static_cast<long long>(q.p.y0);
    Batch batch;
    batch.to = static_cast<unsigned char *>(q.p.out.samples) + tile.n * q.p.out.batch +
               down * static_cast<long long>(q.p.out.stride) +
               (tile.x * q.p.out.pixel + map * q.p.out.plane) * sizeof(float);
    batch.maps = min(q.p.out_channels - map, WARP_MAPS);
    batch.begin = max(tile.begin - y, 0);
    batch.end = min(tile.end - y, BATCH);
    batch.columns = tile.columns;
    batch.whole = q.vectors && tile.columns == COLUMNS && batch.maps == WARP_MAPS &&
                  batch.begin == 0 && batch.end == BATCH;
    return batch;
}

/* What a warp gathers: of a batch a quarter is a unit's rows of a half's maps. As soon as a half is
 * stored the next unit takes the place of its quarters: so in each second batch units are as far
 * apart as halves are in the others. */
struct Warp {
    float4 *kept;
    Batch batch; /* the last that is complete, of which a half is stored */
    int lane;
    bool turned;

    static constexpr int QUARTER = ROWS * HALF;

    __device__ int unit_apart() const
    {
        return turned ? QUARTER : 2 * QUARTER;
    }

    __device__ int half_apart() const
    {
        return turned ? 2 * QUARTER : QUARTER;
    }

    /* Values of a unit; a thread's are of one row of a map. */
    __device__ void keep(int unit, const Sums &values)
    {
        const int row = lane / 4 / WARP_MAPS, map = lane / 4 % WARP_MAPS;
        const int slot = unit * unit_apart() + map / HALF * half_apart() + row * HALF + map % HALF;
        float4 *to = kept + slot * KEPT_PITCH + lane % 4;
#pragma unroll
        for (int i = 0; i < OCTETS; i++)
            to[i * 4] = {values[i][0], values[i][2], values[i][1], values[i][3]};
    }

    /* Of the batch, whose half and units are so far apart. */
    __device__ void store(const Gray &q, int half, int halves_apart, int units_apart) const
    {
        const float4 *from = kept + half * halves_apart * KEPT_PITCH;
        unsigned char *to = batch.to + half * HALF * q.p.out.plane * sizeof(float);
        const auto slot = [&](int map, int y) {
            return (y / ROWS * units_apart + y % ROWS * HALF + map) * KEPT_PITCH;
        };
        if (batch.whole) {
            float4 v[HALF][BATCH];
#pragma unroll
            for (int i = 0; i < HALF * BATCH; i++)
                v[i / BATCH][i % BATCH] = from[slot(i / BATCH, i % BATCH) + lane];
#pragma unroll
            for (int map = 0; map < HALF; map++) {
                unsigned char *row = to + map * q.p.out.plane * sizeof(float);
#pragma unroll
                for (int y = 0; y < BATCH; y++, row += q.p.out.stride)
                    __stcs(reinterpret_cast<float4 *>(row) + lane, v[map][y]);
            }
            return;
        }
#pragma unroll 1
        for (int map = 0; map < HALF && half * HALF + map < batch.maps; map++)
#pragma unroll 1
            for (int y = batch.begin; y < batch.end; y++) {
                float *row =
                    reinterpret_cast<float *>(to + y * q.p.out.stride) + map * q.p.out.plane;
                const float *values = reinterpret_cast<const float *>(from + slot(map, y));
#pragma unroll 1
                for (int x = lane; x < batch.columns; x += WARP)
                    row[x * q.p.out.pixel] = values[x];
            }
    }

    /* The other half of the last batch. */
    __device__ void store_rest(const Gray &q) const
    {
        store(q, 1, unit_apart(), half_apart());
    }

    /* Takes a unit of rows y on, and stores a half. */
    __device__ void take(const Gray &q, const Tile &tile, int run, int y, int unit,
                         const Sums &values)
    {
        keep(unit, values);
        if (unit == UNITS - 1)
            batch = find_batch(q, tile, run, y);
        __syncwarp();
        store(q, unit == 0 ? 1 : 0, unit == 0 ? unit_apart() : 0,
              unit == 0 ? half_apart() : unit_apart());
        turned ^= unit == UNITS - 1;
        __syncwarp();
    }
};

/* ---- a group's work ---- */

/* A unit whose values are in registers. */
struct Last {
    int run, y, unit;
};

template <int RUNS> __device__ void consume(const Gray &q, const Tile &tile, Shared &shared)
{
    const Matrices from = {describe(shared.upper), describe(shared.lower)};
    Warp warp = {shared.kept[threadIdx.x / WARP], {}, static_cast<int>(threadIdx.x) % WARP, false};
    Taps taps[RUNS];
    Finish finish[RUNS];
    Sums values = {};
    /* Before the first there is one of which no row is stored. */
    Last last = {tile.run + RUNS - 1, -BATCH, UNITS - 1};
    int ready = 0;
#pragma unroll
    for (int i = 0; i < RUNS; i++) {
        taps[i] = read_run(q, tile.run + i);
        finish[i] = my_finish(q, tile.run + i);
    }
#pragma unroll 1
    for (int y = 0; y < tile.end; y += BATCH) {
#pragma unroll
        for (int r = 0; r < RUNS; r++) {
#pragma unroll 1
            for (int unit = 0; unit < UNITS; unit++) {
                const int at = y + unit * ROWS;
                for (; ready * CHUNK < at + IN_ROWS; ready++)
                    gf_barrier_wait(&shared.full[ready % CHUNKS], ready / CHUNKS % 2);
                const float scale = common_scale(shared.ranges, at);
                if (scale >= 0.0F) {
                    Sums sums;
                    begin_unit(taps[r], from, at, sums);
                    warp.take(q, tile, last.run, last.y, last.unit, values);
                    gf_wait_for_products(sums);
                    begin_values(finish[r], values);
                    add(sums, scale * finish[r].scale, values);
                } else {
                    warp.take(q, tile, last.run, last.y, last.unit, values);
                    begin_values(finish[r], values);
                    add_apart(q, tile.run + r, from, at, shared.scales, finish[r], values);
                    for (int i = 0; i < RUNS; i++)
                        taps[i] = read_run(q, tile.run + i);
                }
                last = {tile.run + r, y, unit};
            }
        }
        gf_barrier_arrive(&shared.empty[y / CHUNK % CHUNKS]);
    }
    warp.take(q, tile, last.run, last.y, last.unit, values);
    warp.store_rest(q);
}

template <int RUNS>
__global__ void __launch_bounds__(THREADS, BLOCKS) tensor_gray(const __grid_constant__ Gray q)
{
    static_assert(BATCH == CHUNK, "a chunk is needed no more after a batch");
    GF_BLOCK_MEMORY(__align__(16) unsigned char, memory);
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    const Tile tile = find_tile<RUNS>(q);
    find_places(q, tile, shared.places);
    if (threadIdx.x == 0) {
        for (int i = 0; i < CHUNKS; i++) {
            gf_barrier_init(&shared.full[i], WARP);
            gf_barrier_init(&shared.empty[i], GROUP);
        }
        gf_barriers_made();
    }
    __syncthreads();
    gf_wait_for_stream();
    if (threadIdx.x < GROUP) {
        gf_take_registers<REGISTERS>();
        consume<RUNS>(q, tile, shared);
    } else {
        gf_give_registers<OTHERS>();
        const int left = tile.x + static_cast<int>(q.p.origin_x);
        if (left >= 0 && left + 2 * WORDS <= q.p.in_width && q.p.in.pixel == 1)
            produce<true>(q, tile, shared);
        else
            produce<false>(q, tile, shared);
    }
}

/* ---- a launch ---- */

template <int RUNS> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const GfTensorLayer *layer = &static_cast<const GfTensorState *>(launch->state)->layer;
    const size_t first = launch->y0 / BATCH * BATCH, rows = launch->y1 - first;
    const size_t across = gf_divide_up(step->out_width, size_t{COLUMNS});
    const size_t splits = gf_gray_runs(step) / RUNS, each = across * launch->count * splits;
    Gray q = {};
    q.p = gf_problem<float>(launch);
    q.rows = static_cast<int>(gf_gray_tile(each, rows, BLOCKS * gf_multiprocessors()));
    q.base = static_cast<long long>(first);
    q.splits = static_cast<unsigned>(splits);
    q.across = static_cast<unsigned>(across);
    q.down = static_cast<unsigned>(gf_divide_up(rows, static_cast<size_t>(q.rows)));
    q.weights = static_cast<const uint4 *>(layer->weights);
    q.map_units = layer->units;
    q.vectors = gf_rows_aligned(launch->out, GF_F32, 4);
    const size_t blocks = each * q.down;
    if (blocks > INT_MAX || sizeof(Shared) > gf_shared_limit())
        return cudaErrorNotSupported;
    const GfBlocks grid = {static_cast<unsigned>(blocks), THREADS, sizeof(Shared)};
    return gf_launch_early(tensor_gray<RUNS>, grid, stream, q);
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_gray(const GfLaunch *launch, cudaStream_t stream)
{
    if (!launch->state)
        return cudaErrorInvalidValue;
    return gf_gray_runs(launch->step) % 2 == 0 ? run<2>(launch, stream) : run<1>(launch, stream);
}
