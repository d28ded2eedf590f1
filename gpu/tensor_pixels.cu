/* Method `tensor`, layers of single taps on floats, on cards whose tensor cores read both matrices
 * from shared memory: as gpu/tensor_flat.cu has it, in one launch. A tap meets one sample, so that
 * nothing is gained by laying samples out first: a block reads those of its positions, a stage of
 * channels at a time, splits them, and leaves the halves where its products find them.
 *
 * Two groups of warps do so, in turns, a stage each. A thread has four positions and 16 channels of
 * a stage of 64: vectors of 16 bytes where neighbours can be read as such. The largest magnitude of
 * a position, which what it writes is divided by, four threads of a warp find; an octet of channels
 * is a vector of shared memory. The next stage's samples are on their way to registers meanwhile.
 *
 * Two other groups multiply, each other maps, 64 at a time, and write what they have made. A block
 * stays: those that convert are some stages ahead, of the next tile, too. Where all stages of a
 * tile have room they are converted once for all its maps, else once for each 128 of them.
 *
 * Of patches (gf_has_patches(), gpu/tensor_shape.h) channels are the places of a window, of which
 * four side by side may be a vector.
 *
 * Costs of a number: 4 bytes read and some ten instructions, the latter once more for each 128 maps
 * where there is no room; and of a sum 4 bytes written. */
#include "gpu/device.cuh"

namespace
{

using namespace gf_flat;

constexpr int POSITIONS = GF_PIXELS_TILE, RUNS = POSITIONS / OCTET; /* of a tile */
constexpr int ROWS = GF_FLAT_MAPS;                                  /* maps of a product */
constexpr int GROUPS = GF_PIXELS_GROUPS, THREADS = GROUP * WARP;    /* and as many convert */
constexpr int REGISTERS = 144, OTHERS = 112;                        /* of their threads */
constexpr int WEIGHT_SLOTS = 2;
constexpr int MOST_STAGES = GF_PIXELS_STAGES;
constexpr int TILES = 2 * MOST_STAGES;       /* of which as many at most are under way */
constexpr int SIDE = 4, QUADS = WARP / SIDE; /* positions of a thread that converts; of a warp */
constexpr int STEP = sizeof(float);          /* bytes from a neighbour to the next */

struct Pixels {
    Flat q;
    int tiles, splits; /* of the maps */
    int runs, passes;  /* of maps of a split; of times that samples are converted */
    bool vectors;      /* are four neighbours of a map written at once, as a rule? */
};

/* Of a block's shared memory. */
template <int PAIRS> struct Slot {
    Octet octets[2 * 2 * PAIRS * POSITIONS]; /* upper halves, then lower ones */
    float scales[POSITIONS];                 /* what sums are multiplied by */
};

/* Of a group that multiplies: which weights are brought next. */
struct Next {
    int tile, round, run, stage; /* the round-th of the block's tiles */
};

template <int PAIRS> struct alignas(128) Room {
    uint64_t full[MOST_STAGES], empty[MOST_STAGES];
    uint64_t weights_full[GROUPS][WEIGHT_SLOTS];
    Next next[GROUPS];
    Octet weights[GROUPS][WEIGHT_SLOTS][2 * 2 * PAIRS * ROWS];
    Slot<PAIRS> slots[MOST_STAGES];
    /* Of outputs of some tiles: bytes from a map's first; -1 where there is none. */
    long long places[TILES][POSITIONS];
};

/* What a block does: some runs of maps of a group of channels, of every so many-th tile. */
struct Share {
    int tile, step, group, run, runs;
};

__device__ Share find_share(const Pixels &s)
{
    const int units = s.q.groups * s.splits, unit = static_cast<int>(blockIdx.x) % units;
    Share share;
    share.tile = static_cast<int>(blockIdx.x) / units;
    share.step = static_cast<int>(gridDim.x) / units;
    share.group = unit / s.splits;
    share.run = unit % s.splits * s.runs;
    share.runs = min(s.runs, s.q.map_runs - share.run);
    return share;
}

/* Counts through SLOTS of them. */
template <int SLOTS> struct Ring {
    int slot, parity;

    __device__ void advance(int by = 1)
    {
        slot += by;
        if (slot >= SLOTS) {
            slot -= SLOTS;
            parity ^= 1;
        }
    }
};

/* ---- the groups that convert ---- */

/* Four positions of the line: where the first's first sample is, and the others, in bytes from
 * there. They are neighbours, or where their outputs cannot be written as vectors every QUADS-th,
 * so that threads side by side have neighbours. Behind the last position is that one again. */
struct Quad {
    const char *sample;
    int further[SIDE - 1];
};

/* The one whose first is `own` of a tile; `places` are its outputs', if wanted. */
__device__ Quad find_quad(const Pixels &s, const Share &share, int tile, int own, long long *places)
{
    const Flat &q = s.q;
    const unsigned apart = s.vectors ? 1 : QUADS;
    const unsigned columns = static_cast<unsigned>(q.columns);
    const unsigned rows = static_cast<unsigned>(q.live_rows);
    const unsigned last = static_cast<unsigned>(q.p.count) * rows * columns - 1;
    const unsigned wanted = static_cast<unsigned>(tile) * POSITIONS + static_cast<unsigned>(own);
    const unsigned at = min(wanted, last), row = at / columns;
    unsigned x = at % columns, n = row / rows, y = row % rows;
    Quad quad;
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        const size_t down = static_cast<size_t>(q.first_row + static_cast<int>(y) * q.stride_y);
        const char *sample =
            gf_row<char>(q.p.in, down) + n * q.p.in.batch +
            (static_cast<long long>(x) * q.single_stride + q.first_column) * q.pixel_bytes +
            share.group * q.patches.planes * q.plane_bytes;
        if (k == 0)
            quad.sample = sample;
        else
            quad.further[k - 1] = static_cast<int>(sample - quad.sample);
        if (places)
            places[k] = wanted + k * apart > last
                            ? -1
                            : static_cast<long long>(n * q.p.out.batch + y * q.p.out.stride +
                                                     x * q.p.out.pixel * sizeof(float));
        if (wanted + (k + 1) * apart > last)
            continue;
        for (x += apart; x >= columns; x -= columns)
            if (++y == rows) {
                y = 0;
                n++;
            }
    }
    return quad;
}

/* Where the first position of a warp's i-th quad stands among the columns of a product; the others
 * are QUADS columns further on each. So a thread that multiplies, which has two neighbours of each
 * eight columns, has two quads, and four such threads have four quads that are neighbours. */
__device__ int column_of(int i)
{
    return i % 4 * 2 + i / 4;
}

/* Numbers of a channel, at four positions. */
struct Side {
    float of[SIDE];
};

/* Reads channels of a stage from `from` on, of which there are `left`. */
template <bool VECTORS>
__device__ void read_channels(const Quad &quad, const char *from, unsigned plane, int left,
                              Side (&sides)[OCTET])
{
#pragma unroll
    for (int j = 0; j < OCTET; j++, from += plane) {
        sides[j] = {};
        if (j < left) {
            if constexpr (VECTORS) {
                const float4 v = *reinterpret_cast<const float4 *>(from);
                sides[j] = {v.x, v.y, v.z, v.w};
            } else {
#pragma unroll
                for (int k = 0; k < SIDE; k++)
                    sides[j].of[k] =
                        *reinterpret_cast<const float *>(from + (k > 0 ? quad.further[k - 1] : 0));
            }
        }
    }
}

/* The same of patches, whose channels are those from `first` on. */
__device__ void read_patches(const Flat &q, const Quad &quad, int first, Side (&sides)[OCTET])
{
    const auto from = [&](int channel, int k) {
        return reinterpret_cast<const float *>(quad.sample + (k > 0 ? quad.further[k - 1] : 0) +
                                               patch_place(q, channel));
    };
#pragma unroll
    for (int j = 0; j < OCTET; j++)
        sides[j] = {};
    if (q.patches.quads) {
#pragma unroll
        for (int j = 0; j < OCTET; j += 4)
#pragma unroll
            for (int k = 0; k < SIDE && first + j < q.depth; k++) {
                const float4 v = *reinterpret_cast<const float4 *>(from(first + j, k));
                sides[j].of[k] = v.x;
                sides[j + 1].of[k] = v.y;
                sides[j + 2].of[k] = v.z;
                sides[j + 3].of[k] = v.w;
            }
        return;
    }
#pragma unroll
    for (int j = 0; j < OCTET; j++)
#pragma unroll
        for (int k = 0; k < SIDE && first + j < q.depth; k++)
            sides[j].of[k] = *from(first + j, k);
}

/* There are ones behind the last channel's. */
__device__ void lift(const float *lifts, Side (&sides)[OCTET])
{
#pragma unroll
    for (int j = 0; j < OCTET; j++)
#pragma unroll
        for (int k = 0; k < SIDE; k++)
            sides[j].of[k] *= lifts[j];
}

/* The largest magnitudes at each position, of all channels of the stage, which the lanes of other
 * octets have; or of those that are finite. */
template <bool FINITE, int OWN>
__device__ void find_largest(const Side (&sides)[OWN][OCTET], float (&most)[SIDE])
{
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
        most[k] = 0.0F;
#pragma unroll
        for (int i = 0; i < OWN * OCTET; i++) {
            const float v = fabsf(sides[i / OCTET][i % OCTET].of[k]);
            most[k] = fmaxf(most[k], FINITE && v == INFINITY ? 0.0F : v);
        }
#pragma unroll
        for (int apart = QUADS; apart < WARP; apart *= 2)
            most[k] = fmaxf(most[k], __shfl_xor_sync(~0U, most[k], apart));
    }
}

template <int PAIRS, bool PATCHES> __device__ void convert(const Pixels &s, Room<PAIRS> *room)
{
    /* Octets of a thread, and of a stage. */
    constexpr int OCTETS = 2 * PAIRS, OWN = OCTETS * QUADS / WARP, CHANNELS = OCTETS * OCTET;
    const Flat &q = s.q;
    const Share share = find_share(s);
    const int group = my_warp() / GROUP - GROUPS, warp = my_warp() % GROUP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int octet = lane / QUADS * OWN, column = warp * WARP + column_of(lane % QUADS);
    const int position = warp * WARP + lane % QUADS * SIDE; /* of what is multiplied */
    const int first = s.vectors ? position : warp * WARP + lane % QUADS;
    const unsigned plane = static_cast<unsigned>(q.plane_bytes);
    int tile = share.tile, round = 0, pass = 0, stage = group, held = 0;
    Quad quad;
    Side sides[OWN][OCTET];
    Ring<MOST_STAGES> ring = {group, 1};
    /* From a stage of the block's, which may be behind a tile's last, to the tile that has it. */
    const auto settle = [&](bool other) {
        for (; stage >= q.stages; stage -= q.stages)
            if (++pass == s.passes) {
                pass = 0;
                tile += share.step;
                round++;
                other = true;
            }
        const bool tells = stage == 0 && octet == 0; /* one of all that are at those positions */
        if (other && tile < s.tiles)
            quad = find_quad(s, share, tile, first,
                             tells ? room->places[round % TILES] + position : nullptr);
    };
    settle(true);
    gf_wait_for_stream();
    bool have = false;
    while (have || tile < s.tiles) {
        Slot<PAIRS> *to = &room->slots[ring.slot];
        float up[SIDE];
        if (have) {
            float most[SIDE];
            if (q.lifted)
#pragma unroll
                for (int o = 0; o < OWN; o++)
                    if (held * CHANNELS + (octet + o) * OCTET < q.depth)
                        lift(q.lifts + share.group * q.depth + held * CHANNELS +
                                 (octet + o) * OCTET,
                             sides[o]);
            find_largest<false>(sides, most);
            if (__any_sync(~0U,
                           fmaxf(fmaxf(most[0], most[1]), fmaxf(most[2], most[3])) == INFINITY))
                find_largest<true>(sides, most);
            gf_barrier_wait(&room->empty[ring.slot], static_cast<unsigned>(ring.parity));
#pragma unroll
            for (int k = 0; k < SIDE; k++) {
                const GfScale scale = gf_scale<1>(most[k]);
                up[k] = scale.up;
                if (octet == 0)
                    to->scales[column + k * QUADS] = scale.down;
            }
        }
        const bool more = tile < s.tiles;
        const char *from =
            quad.sample + static_cast<long long>(stage * CHANNELS + octet * OCTET) * plane;
        const bool vectors = s.vectors && plane % sizeof(float4) == 0 &&
                             quad.further[SIDE - 2] == (SIDE - 1) * STEP &&
                             reinterpret_cast<uintptr_t>(from) % sizeof(float4) == 0;
#pragma unroll
        for (int o = 0; o < OWN; o++) {
            if (have)
#pragma unroll
                for (int k = 0; k < SIDE; k++) {
                    Numbers numbers;
#pragma unroll
                    for (int j = 0; j < OCTET; j++)
                        numbers.of[j] = sides[o][j].of[k];
                    write_octet(numbers, up[k],
                                to->octets + (octet + o) * POSITIONS + column + k * QUADS,
                                OCTETS * POSITIONS);
                }
            if (more && PATCHES)
                read_patches(q, quad, stage * CHANNELS + (octet + o) * OCTET, sides[o]);
            else if (more) {
                const char *own = from + static_cast<long long>(o * OCTET) * plane;
                const int left = q.depth - stage * CHANNELS - (octet + o) * OCTET;
                if (vectors)
                    read_channels<true>(quad, own, plane, left, sides[o]);
                else
                    read_channels<false>(quad, own, plane, left, sides[o]);
            }
        }
        if (have) {
            gf_copies_follow();
            __syncwarp();
            if (lane == 0)
                gf_barrier_arrive(&room->full[ring.slot]);
            ring.advance(GROUPS);
        }
        have = more;
        if (more) {
            held = stage;
            stage += GROUPS;
            settle(false);
        }
    }
}

/* ---- the groups that multiply ---- */

/* A stage's products: lower times upper, upper times lower, upper times upper halves. */
template <int PAIRS>
__device__ void multiply_stage(const Octet *weights, const Octet *octets, float (&sums)[RUNS][4])
{
    constexpr unsigned MATRIX = 2 * ROWS; /* octets of 64 maps of 16 channels */
    const unsigned taps = gf_describe(weights, ROWS), samples = gf_describe(octets, POSITIONS);
    gf_begin_products();
#pragma unroll
    for (int kind = 0; kind < 3; kind++) {
        const unsigned a = taps + (kind == 0 ? MATRIX : 0);
        const unsigned b = samples + (kind == 1 ? 2 * PAIRS * POSITIONS : 0);
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
            gf_begin_product(sums, a + i * 2 * MATRIX, b + i * 2 * POSITIONS, kind > 0 || i > 0);
    }
    gf_end_products();
    gf_wait_for_products(sums);
}

__device__ void add_sums(const float (&sums)[RUNS][4], const float *scales,
                         float (&totals)[RUNS][4])
{
    const int column = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int r = 0; r < RUNS; r++) {
        const float2 scale = *reinterpret_cast<const float2 *>(scales + r * OCTET + column);
#pragma unroll
        for (int i = 0; i < 4; i++)
            totals[r][i] = fma(sums[r][i], i % 2 ? scale.y : scale.x, totals[r][i]);
    }
}

/* Four neighbours of a map, at places that are found by their own. */
__device__ void write_quad(char *map, const long long *places, const float (&v)[SIDE])
{
    float *const first = reinterpret_cast<float *>(map + places[0]);
    if (places[0] >= 0 && places[SIDE - 1] - places[0] == (SIDE - 1) * STEP &&
        reinterpret_cast<uintptr_t>(first) % sizeof(float4) == 0) {
        *reinterpret_cast<float4 *>(first) = make_float4(v[0], v[1], v[2], v[3]);
        return;
    }
#pragma unroll
    for (int k = 0; k < SIDE; k++)
        if (places[k] >= 0)
            *reinterpret_cast<float *>(map + places[k]) = v[k];
}

/* What sums of a thread's two maps, which are 8 apart, are multiplied by, and what is added. */
struct Factors {
    float unit[2], offset[2];
};

__device__ Factors read_factors(const Flat &q, const Share &share, int map)
{
    Factors factors;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int own = share.group * q.maps + min(map + half * 8, q.maps - 1);
        factors.unit[half] = q.units[own];
        factors.offset[half] = q.p.finish.offset + (q.p.bias ? q.p.bias[own] : 0.0F);
    }
    return factors;
}

/* From totals to samples, of map `map` and the one 8 behind it. */
__device__ void write_run(const Pixels &s, const Share &share, int map, const Factors &factors,
                          const long long *places, float (&totals)[RUNS][4])
{
    const Flat &q = s.q;
    const int own = static_cast<int>(threadIdx.x) % 4 * SIDE, o = share.group * q.maps + map;
    const long long plane = static_cast<long long>(q.p.out.plane * sizeof(float));
    char *const out = static_cast<char *>(q.p.out.samples) + o * plane;
    /* Are all of the tile one after the other, in vectors? */
    const bool beside = s.vectors && places[POSITIONS - 1] - places[0] == (POSITIONS - 1) * STEP &&
                        (reinterpret_cast<uintptr_t>(out) + places[0]) % sizeof(float4) == 0;
#pragma unroll
    for (int r = 0; r < RUNS; r++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            totals[r][i] =
                fma(totals[r][i] * factors.unit[i / 2], q.p.finish.scale, factors.offset[i / 2]);
    if (q.p.finish.posts > 0)
#pragma unroll
        for (int r = 0; r < RUNS; r += 2) {
            float some[8];
#pragma unroll
            for (int i = 0; i < 8; i++)
                some[i] = totals[r + i / 4][i % 4];
            gf_post_each(q.p.finish, some,
                         [&](int i) { return o + i % 4 / 2 * 8 < q.p.post_channels; });
#pragma unroll
            for (int i = 0; i < 8; i++)
                totals[r + i / 4][i % 4] = some[i];
        }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (map + half * 8 >= q.maps)
            return;
        char *const to = out + half * 8 * plane;
        float *const first = reinterpret_cast<float *>(to + places[0]) + own;
#pragma unroll
        for (int i = 0; i < RUNS / 2; i++) {
            const int at = i / 2 * WARP + i % 2 * (WARP / 2);
            const int r = i / 2 * 4, column = half * 2 + i % 2;
            const float quad[SIDE] = {totals[r][column], totals[r + 1][column],
                                      totals[r + 2][column], totals[r + 3][column]};
            if (beside)
                *reinterpret_cast<float4 *>(first + at) =
                    make_float4(quad[0], quad[1], quad[2], quad[3]);
            else
                write_quad(to, places + at + own, quad);
        }
    }
}

template <int PAIRS> __device__ void multiply(const Pixels &s, Room<PAIRS> *room)
{
    constexpr int OCTETS = 2 * 2 * PAIRS * ROWS; /* of a stage's weights */
    const Flat &q = s.q;
    const Share share = find_share(s);
    const int group = my_warp() / GROUP, own = static_cast<int>(threadIdx.x) % THREADS;
    const int turns = (share.runs + GROUPS - 1) / GROUPS;
    const bool once = s.passes == 1;
    /* Runs of a tile are dealt out in turns, the first of them to the group that had not the last
     * one of the tile before. */
    const auto first_run = [&](int i) { return (group + i * share.runs) % GROUPS; };
    Ring<MOST_STAGES> ring = {0, 0};
    Ring<WEIGHT_SLOTS> weights_ring = {0, 0};
    /* Weights are brought in the order of their use, some stages ahead. */
    const auto bring = [&](int slot) {
        Next next = room->next[group];
        while (next.tile < s.tiles && next.run >= share.runs) {
            next.round++;
            next.tile += share.step;
            next.run = first_run(next.round);
        }
        if (next.tile >= s.tiles)
            return;
        const long long at =
            static_cast<long long>(share.group * q.map_runs + share.run + next.run) * q.stages +
            next.stage;
        constexpr unsigned bytes = OCTETS * sizeof(Octet);
        gf_barrier_expect(&room->weights_full[group][slot], bytes);
        gf_copy_bulk(room->weights[group][slot], q.weights + at * OCTETS, bytes,
                     &room->weights_full[group][slot]);
        gf_barrier_arrive(&room->weights_full[group][slot]);
        if (++next.stage == q.stages) {
            next.stage = 0;
            next.run += GROUPS;
        }
        room->next[group] = next;
    };
    if (own == 0) {
        room->next[group] = {share.tile, 0, first_run(0), 0};
        for (int i = 0; i < WEIGHT_SLOTS; i++)
            bring(i);
    }
    int i = 0;
    for (int tile = share.tile; tile < s.tiles; tile += share.step, i++) {
        const Ring<MOST_STAGES> begin = ring;
        for (int turn = 0; turn < turns; turn++) {
            const int run = first_run(i) + turn * GROUPS;
            const bool release = !once || turn + 1 == turns;
            if (once)
                ring = begin;
            float totals[RUNS][4] = {};
            const int map = (share.run + run) * ROWS + my_warp() % GROUP * 16 + own % WARP / 4;
            const Factors factors = read_factors(q, share, map);
            for (int stage = 0; stage < q.stages; stage++) {
                const Slot<PAIRS> *from = &room->slots[ring.slot];
                gf_barrier_wait(&room->full[ring.slot], static_cast<unsigned>(ring.parity));
                if (run < share.runs) {
                    float sums[RUNS][4];
                    gf_barrier_wait(&room->weights_full[group][weights_ring.slot],
                                    static_cast<unsigned>(weights_ring.parity));
                    multiply_stage<PAIRS>(room->weights[group][weights_ring.slot], from->octets,
                                          sums);
                    /* When all warps are here the weights have been used. */
                    gf_wait_at<THREADS>(group + 1);
                    if (own == 0)
                        bring(weights_ring.slot);
                    add_sums(sums, from->scales, totals);
                    weights_ring.advance();
                    if (stage + 1 == q.stages)
                        write_run(s, share, map, factors, room->places[i % TILES], totals);
                }
                __syncwarp();
                if (release && own % WARP == 0)
                    gf_barrier_arrive(&room->empty[ring.slot]);
                ring.advance();
            }
        }
    }
}

/* ---- a block ---- */

template <int PAIRS, bool PATCHES>
__global__ void __launch_bounds__(2 * GROUPS * THREADS, 1)
    tensor_pixels(const __grid_constant__ Pixels s)
{
    GF_BLOCK_MEMORY(__align__(128) unsigned char, memory);
    Room<PAIRS> *room = reinterpret_cast<Room<PAIRS> *>(memory);
    if (threadIdx.x == 0) {
        for (int i = 0; i < MOST_STAGES; i++) {
            gf_barrier_init(&room->full[i], GROUP);
            gf_barrier_init(&room->empty[i], GROUPS * GROUP);
        }
        for (int i = 0; i < GROUPS * WEIGHT_SLOTS; i++)
            gf_barrier_init(&room->weights_full[i / WEIGHT_SLOTS][i % WEIGHT_SLOTS], 1);
        gf_barriers_made();
    }
    __syncthreads();
    if (my_warp() >= GROUPS * GROUP) {
        gf_give_registers<OTHERS>();
        convert<PAIRS, PATCHES>(s, room);
    } else {
        gf_take_registers<REGISTERS>();
        multiply<PAIRS>(s, room);
    }
}

/* ---- a launch ---- */

template <int PAIRS> cudaError_t launch(const Pixels &s, unsigned blocks, cudaStream_t stream)
{
    return gf_launch_early(s.q.patches.area > 1 ? tensor_pixels<PAIRS, true>
                                                : tensor_pixels<PAIRS, false>,
                           {blocks, 2 * GROUPS * THREADS, sizeof(Room<PAIRS>)}, stream, s);
}

} // namespace

cudaError_t gf_flat::launch_pixels(const GfStep *step, const Flat &q, cudaStream_t stream)
{
    if (q.plane_bytes > UINT_MAX)
        return cudaErrorNotSupported;
    const size_t positions = q.p.count * static_cast<size_t>(q.live_rows) * q.columns;
    const GfPixelsCut cut = gf_pixels_cut(step, positions, gf_cluster_room(1));
    Pixels s = {q,
                static_cast<int>(gf_divide_up(positions, size_t{POSITIONS})),
                static_cast<int>(cut.splits),
                static_cast<int>(cut.runs),
                static_cast<int>(cut.passes),
                false};
    s.vectors = q.p.out.pixel == 1 && q.p.out.plane % SIDE == 0;
    const unsigned blocks = static_cast<unsigned>(cut.blocks * cut.splits * q.groups);
    return q.octets == 4 ? launch<2>(s, blocks, stream) : launch<4>(s, blocks, stream);
}
