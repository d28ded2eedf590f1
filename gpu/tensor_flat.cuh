/* What the kernels of tensor_flat.cu and tensor_few.cu share: how they see a layer whose samples
 * stand in lines, where a tile's outputs are, and what becomes of its sums. A block has groups of
 * four warps that multiply, and one warp that brings what they need to slots of shared memory, some
 * steps ahead. */
#pragma once

#include <limits.h>

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/groups.cuh"
#include "gpu/halves.cuh"
#include "gpu/instructions.cuh"
#include "gpu/launch.h"
#include "gpu/problem.cuh"

namespace gf_flat
{

constexpr int OCTET = 8; /* numbers side by side: 16 bytes of f16 */
constexpr int WARP = 32, GROUP = 4;
constexpr int LINE = GF_FLAT_LINE;

/* Halves of 8 numbers. */
struct alignas(16) Octet {
    __half2 pair[OCTET / 2];
};

/* Windows whose samples are channels (gf_has_patches(), gpu/tensor_shape.h). */
struct Patches {
    int width, area;                /* of a window; 1 where there are none */
    int planes;                     /* of the picture, of a group */
    unsigned width_part, area_part; /* 2^32 / them, and a bit */
    /* From row to row; and from which of a window's rows on they are at the beginning of the ring
     * that the picture's are in, so many bytes before where they would be. */
    long long row_bytes, ring_bytes;
    int ring_row;
    bool quads; /* are four samples of a window side by side a vector, of floats? */
};

/* A layer as its kernels see it. */
struct Flat {
    GfProblem<float> p;
    int maps, groups, depth;
    int octets, stages, phases_x, phases_y, right, below, run_maps, map_runs;
    int columns, rows; /* of the line: of a row, of a picture */
    int live_rows;     /* of a picture, that outputs have */
    long long line;    /* octets from line to line */
    int line_rows;     /* of all pictures */
    bool brief;        /* few blocks lay it out */
    /* What the lines are made of, for gpu/tensor_lines.cu. */
    GfSample sample;
    GfEdge across;
    int first_column, single_stride; /* samples from one to the next where there is one phase */
    int stride_y, met_rows; /* of a picture's rows, from the first on: those that windows meet */
    long long first_row;
    unsigned phase_part; /* 2^32 / phases_x, and a bit */
    int pixel_bytes;
    long long plane_bytes;
    Patches patches;
    Octet *lines;
    float *scales;  /* of each group, stage, phase and row: what sums are multiplied by */
    int scale_rows; /* from phase to phase */
    const Octet *weights;
    const float *lifts, *units;
    bool lifted;
    int tiles, map_tiles, parts, shares, own_parts; /* of a tile; of those, a block's at most */
    int rows_at_once, slot_scales;  /* of few maps, in a slot: rows of the kernel whose taps it has;
                                      scales of each phase */
    unsigned offsets[GF_FLAT_SIDE]; /* of taps of a row: octets of the stretch */
    struct {
        int phase, row;        /* rows further on */
        int shift, scale;      /* octets, and scales of few maps, in a slot */
        long long octets;      /* and before that, in the line: a multiple of LINE */
    } downs[GF_FLAT_SIDE];     /* of rows of taps */
    int slots, slot, kept;     /* bytes of a slot; floats from the first to GfFlatMemory.kept */
    int weight_bytes, stretch; /* of a row of taps of a run of maps; octets */
};

/* Of a tile: warps that multiply, and threads of a block. One warp of the last group brings, the
 * others idle. */
template <typename T> constexpr int multipliers{T::groups * GROUP};
template <typename T> constexpr int threads{(T::groups + 1) * GROUP * WARP};

/* A block's shared memory: slots of taps, octets and scales; or totals in their place; and behind
 * them: */
template <typename T> struct Shared {
    uint64_t full[GF_FLAT_SLOTS], empty[GF_FLAT_SLOTS];
    long long
        places[T::positions]; /* of outputs: bytes from a map's first; -1 where there is none */
    int rows[T::positions];   /* of the line */
    float units[T::maps], offsets[T::maps]; /* what sums are multiplied by, what is added to them */
};

/* Where a line begins, in octets. `stage`: of all groups; `side`: of a phase of columns, 2 phase +
 * half. */
__device__ inline long long line_of(const Flat &q, int stage, int octet, int phase_y, int side)
{
    const long long octets = static_cast<long long>(stage) * q.octets + octet;
    return ((octets * q.phases_y + phase_y) * q.phases_x * 2 + side) * q.line;
}

/* Where a channel's sample is, in bytes from its window's first, of patches; so many channels are
 * there that 32 bits have the products of two of them. */
__device__ inline long long patch_place(const Flat &q, int channel)
{
    const Patches &of = q.patches;
    const int c = static_cast<int>(__umulhi(static_cast<unsigned>(channel), of.area_part));
    const int tap = channel - c * of.area;
    const int ky = static_cast<int>(__umulhi(static_cast<unsigned>(tap), of.width_part));
    return c * q.plane_bytes + ky * of.row_bytes - (ky >= of.ring_row ? of.ring_bytes : 0) +
           (tap - ky * of.width) * q.pixel_bytes;
}

/* Known to be the same in all lanes. */
__device__ inline int my_warp()
{
    return __shfl_sync(~0U, static_cast<int>(threadIdx.x) / WARP, 0);
}

struct Corner {
    int part, map_run, group;
    long long position;
};

template <typename T> __device__ Corner find_corner(const Flat &q)
{
    unsigned tile = blockIdx.x;
    Corner corner;
    corner.part = static_cast<int>(tile % static_cast<unsigned>(q.shares));
    tile /= static_cast<unsigned>(q.shares);
    corner.map_run = static_cast<int>(tile % static_cast<unsigned>(q.map_tiles)) * T::map_runs;
    tile /= static_cast<unsigned>(q.map_tiles);
    corner.group = static_cast<int>(tile % static_cast<unsigned>(q.groups));
    corner.position = static_cast<long long>(tile / static_cast<unsigned>(q.groups)) * T::positions;
    return corner;
}

template <typename T>
__device__ void find_places(const Flat &q, const Corner &corner, Shared<T> *shared)
{
    for (int i = static_cast<int>(threadIdx.x); i < T::positions; i += threads<T>) {
        const unsigned at = static_cast<unsigned>(corner.position) + static_cast<unsigned>(i);
        const unsigned columns = static_cast<unsigned>(q.columns);
        const int row = static_cast<int>(at / columns), x = static_cast<int>(at % columns);
        const int n = row / q.rows, y = row % q.rows;
        const bool live =
            x < q.p.out_width && y < q.live_rows && static_cast<size_t>(n) < q.p.count;
        const long long place = static_cast<long long>(n * q.p.out.batch + y * q.p.out.stride +
                                                       x * q.p.out.pixel * sizeof(float));
        shared->places[i] = live ? place : -1;
        shared->rows[i] = min(row, q.line_rows - 1 - q.below);
    }
    for (int i = static_cast<int>(threadIdx.x); i < T::maps; i += threads<T>) {
        const int map = corner.map_run * q.run_maps + i, o = corner.group * q.maps + map;
        shared->units[i] = map < q.maps ? q.units[o] : 0.0F;
        shared->offsets[i] = q.p.finish.offset + (map < q.maps && q.p.bias ? q.p.bias[o] : 0.0F);
    }
}

/* ---- from samples to halves ---- */

/* Numbers of an octet. */
struct Numbers {
    float of[OCTET];
};

/* The largest magnitude; or, if FINITE, of those that are. */
template <bool FINITE> __device__ float largest_of(const Numbers &numbers, float most)
{
#pragma unroll
    for (int j = 0; j < OCTET; j++) {
        const float v = fabsf(numbers.of[j]);
        most = fmaxf(most, FINITE && v == INFINITY ? 0.0F : v);
    }
    return most;
}

/* Writes upper halves, and lower ones so many octets further on. */
__device__ inline void write_octet(const Numbers &numbers, float scale, Octet *to,
                                   long long lower_at)
{
    Octet upper, lower;
#pragma unroll
    for (int j = 0; j < OCTET; j += 2)
        gf_split(numbers.of[j] * scale, numbers.of[j + 1] * scale, &upper.pair[j / 2],
                 &lower.pair[j / 2]);
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(&upper);
    *reinterpret_cast<uint4 *>(to + lower_at) = *reinterpret_cast<const uint4 *>(&lower);
}

/* ---- from totals to samples ---- */

/* Until all threads that multiply are here. */
template <typename T> __device__ void meet()
{
    constexpr int BARRIER = 3;
    gf_wait_at<multipliers<T> * WARP, BARRIER>();
}

/* The same of all blocks that share a tile. */
template <typename T> __device__ void wait_for_shares(const Flat &q)
{
    if (q.shares > 1)
        gf_wait_for_cluster();
    else
        meet<T>();
}

/* Totals of MAPS maps side by side: of all parts, of which there are at most MOST, in their order.
 * Of those that a block has, OWN at most, the last one's totals are q.kept before the others'. */
template <typename T, int OWN, int MAPS, int MOST>
__device__ void sum_parts(const Flat &q, const float *kept, float (&sums)[MAPS])
{
    float of[MOST][MAPS];
#pragma unroll
    for (int i = 0; i < MOST * MAPS; i++) {
        const int part = i / MAPS, m = i % MAPS;
        if (part < q.parts)
            of[part][m] =
                gf_in_block(part % OWN > 0 ? kept - q.kept : kept, part / OWN)[m * T::pitch];
    }
#pragma unroll
    for (int i = 0; i < MOST * MAPS; i++) {
        const int part = i / MAPS, m = i % MAPS;
        if (part < q.parts)
            sums[m] = part == 0 ? of[part][m] : sums[m] + of[part][m];
    }
}

/* A warp makes as many positions as it has lanes, of MAPS maps at once; shares and warps take
 * turns. */
template <int MAPS, int MOST, typename T>
__device__ void finish(const Flat &q, const Corner &corner, const Shared<T> &shared,
                       const float *kept)
{
    constexpr int RUNS = (T::positions + WARP - 1) / WARP;
    const int warp = static_cast<int>(threadIdx.x) / WARP,
              lane = static_cast<int>(threadIdx.x) % WARP;
    const int first = corner.group * q.maps + corner.map_run * q.run_maps;
    const int all = min(q.maps - corner.map_run * q.run_maps, T::maps);
    const long long plane = static_cast<long long>(q.p.out.plane * sizeof(float));
    char *const out = static_cast<char *>(q.p.out.samples) + first * plane;
    const int units = (all + MAPS - 1) / MAPS * RUNS;
#pragma unroll 1
    for (int unit = corner.part * multipliers<T> + warp; unit < units;
         unit += q.shares * multipliers<T>) {
        const int map = unit / RUNS * MAPS, i = unit % RUNS * WARP + lane;
        const int left = all - map, colours = q.p.post_channels - first - map;
        const long long place = i < T::positions ? shared.places[i] : -1;
        if (place < 0)
            continue;
        const float *from = kept + map * T::pitch + i;
        float r[MAPS];
        if constexpr (MOST > 1) {
            if (q.own_parts > 1)
                sum_parts<T, 2, MAPS, MOST>(q, from, r);
            else
                sum_parts<T, 1, MAPS, MOST>(q, from, r);
        } else {
#pragma unroll
            for (int m = 0; m < MAPS; m++)
                r[m] = from[m * T::pitch];
        }
#pragma unroll
        for (int m = 0; m < MAPS; m++)
            r[m] = fma(r[m] * shared.units[map + m], q.p.finish.scale, shared.offsets[map + m]);
        gf_post_each(q.p.finish, r, [&](int m) { return m < colours; });
        char *to = out + map * plane + place;
#pragma unroll
        for (int m = 0; m < MAPS; m++, to += plane)
            if (m < left)
                *reinterpret_cast<float *>(to) = r[m];
    }
}

/* ---- a block ---- */

/* Bytes of shared memory before the slots, and of a tile's totals. */
template <typename T> constexpr size_t head_bytes = (sizeof(Shared<T>) + 127) / 128 * 128;
template <typename T> constexpr size_t kept_bytes = sizeof(float[T::maps][T::pitch]);

/* What a block does of a tile's `steps`, or of its share of them: from `first` to `end`.
 * bring(corner, slots, shared, first, end) is what the warp that brings does; multiply(corner,
 * slots, shared, first, end, part, kept) leaves totals in `kept`, of `part` steps after the other
 * added up; or, where blocks share a tile, of the first so many, and the others' q.kept before
 * it. */
template <typename T, typename Bring, typename Multiply>
__device__ void run_block(const Flat &q, int steps, Bring bring, Multiply multiply)
{
    GF_BLOCK_MEMORY(__align__(128) unsigned char, memory);
    Shared<T> *shared = reinterpret_cast<Shared<T> *>(memory);
    unsigned char *slots = memory + head_bytes<T>;
    float *kept = reinterpret_cast<float *>(slots) + q.kept;
    const Corner corner = find_corner<T>(q);
    const int warp = my_warp();
    if (threadIdx.x == 0) {
        for (int i = 0; i < q.slots; i++) {
            gf_barrier_init(&shared->full[i], WARP);
            gf_barrier_init(&shared->empty[i], multipliers<T>);
        }
        gf_barriers_made();
    }
    find_places(q, corner, shared);
    __syncthreads();
    const int part = (steps + q.parts - 1) / q.parts;
    const int own = q.own_parts * part, first = corner.part * own, end = min(first + own, steps);
    if (warp >= multipliers<T>) {
        gf_give_registers<T::others_registers>();
        if (warp == multipliers<T>)
            bring(corner, slots, shared, first, end);
        if (q.shares > 1)
            gf_wait_for_cluster();
    } else {
        gf_take_registers<T::registers>();
        multiply(corner, slots, shared, first, end, part, kept);
        wait_for_shares<T>(q);
        if (q.shares == 1)
            finish<8, 1>(q, corner, *shared, kept);
        else if (q.parts <= 4)
            finish<4, 4>(q, corner, *shared, kept);
        else
            finish<2, GF_FLAT_PARTS>(q, corner, *shared, kept);
    }
    if (q.shares > 1)
        gf_wait_for_cluster(); /* until all have read what is kept here */
}

/* ---- a launch ---- */

/* A launch of a tile: what it takes, in cycles of tensor cores; and how. */
struct Cut {
    double cost;
    Flat q;
    unsigned blocks, threads;
    size_t bytes;
    void (*kernel)(const Flat);
};

/* Tiles of so many positions, of a slice's line up to the last one that has an output. */
inline int stretches_of(const Flat &q, size_t positions)
{
    const size_t rows = static_cast<size_t>(q.rows) * (q.p.count - 1) + q.live_rows;
    return static_cast<int>(gf_divide_up(rows * q.columns, positions));
}

/* Where the taps of a row of the kernel meet their samples, in a slot whose stretches are as long
 * as q->stretch says. */
inline void find_offsets(const GfStep *step, Flat *q)
{
    for (size_t kx = 0; kx < step->linear.width; kx++) {
        const size_t along = kx * step->dilation_x, phases = static_cast<size_t>(q->phases_x);
        q->offsets[kx] =
            static_cast<unsigned>(along % phases * 2 * q->octets * q->stretch + along / phases);
    }
}

/* Where each of the kernel's rows meets them: stretches begin at a multiple of LINE. */
inline void find_downs(const GfStep *step, Flat *q)
{
    for (size_t ky = 0; ky < step->linear.height; ky++) {
        const size_t along = ky * step->dilation_y, phases = static_cast<size_t>(q->phases_y);
        const long long octets = static_cast<long long>(along / phases) * q->columns;
        q->downs[ky] = {static_cast<int>(along % phases), static_cast<int>(along / phases),
                        static_cast<int>(octets % LINE), 0, octets / LINE * LINE};
    }
}

/* Decides how blocks share the tiles, whose sums are of so many parts, in the first `ways` of
 * gf_flat_shares(), and how many slots there are. cost(tiles, shares): what a launch takes;
 * cut->cost stays where there is no room. */
template <typename T, typename Cost> void find_cost(size_t parts, size_t ways, Cost cost, Cut *cut)
{
    Flat &q = cut->q;
    cut->threads = threads<T>;
    q.parts = static_cast<int>(parts);
    q.map_tiles = (q.map_runs + T::map_runs - 1) / T::map_runs;
    const size_t tiles = static_cast<size_t>(q.tiles) * q.map_tiles * q.groups;
    const size_t limit = gf_shared_limit();
    for (size_t way = 0; way < ways && limit > head_bytes<T>; way++) {
        const size_t shares = gf_flat_shares(parts, way);
        if (shares == 0 || (shares > 1 && !gf_has_clusters()) || tiles * shares > INT_MAX)
            continue;
        const size_t own = gf_divide_up(parts, shares);
        const GfFlatMemory memory =
            gf_flat_memory(limit - head_bytes<T>, q.slot, kept_bytes<T>, own > 1);
        const double takes = static_cast<double>(cost(tiles, shares));
        if (memory.slots == 0 || takes >= cut->cost)
            continue;
        cut->cost = takes;
        cut->bytes = head_bytes<T> + memory.bytes;
        cut->blocks = static_cast<unsigned>(tiles * shares);
        q.shares = static_cast<int>(shares);
        q.own_parts = static_cast<int>(own);
        q.slots = static_cast<int>(memory.slots);
        q.kept = static_cast<int>(memory.kept / sizeof(float));
    }
}

/* The cheapest; or the one of tiling `tiling`, from 1 on. Its cost is INFINITY where there is
 * none. */
template <size_t COUNT> Cut best_of(const Cut (&cuts)[COUNT], size_t tiling)
{
    if (tiling > 0)
        return tiling <= COUNT ? cuts[tiling - 1] : Cut{INFINITY, {}, 0, 0, 0, nullptr};
    Cut best = cuts[0];
    for (const Cut &cut : cuts)
        best = cut.cost < best.cost ? cut : best;
    return best;
}

/* Lays out the lines (gpu/tensor_lines.cu); find_lines() finds what of `q` is theirs alone.
 * `window`: the kernels, of which patches have one sample a channel. */
void find_lines(const GfStep *step, const GfLinear &window, Flat *q);
cudaError_t launch_lines(const Flat &q, cudaStream_t stream);

/* The same of a layer of few maps (gpu/tensor_few.cu). */
Cut find_few(const Flat &q, const GfStep *step, size_t tiling);

/* Single taps, whose samples need no lines (gpu/tensor_pixels.cu). */
cudaError_t launch_pixels(const GfStep *step, const Flat &q, cudaStream_t stream);

} // namespace gf_flat
