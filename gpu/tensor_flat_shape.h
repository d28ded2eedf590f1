/* What host and kernels both know of layers whose product reads shared memory alone: samples in
 * lines (gpu/tensor_flat.cu), few maps on those (gpu/tensor_few.cu), and single taps whose samples
 * are read as they are (gpu/tensor_pixels.cu). */
#pragma once

#include "gpu/tensor_shape.h"

enum {
    GF_FLAT_SPARE = 512,      /* positions behind a line: those of the largest tile */
    GF_FLAT_BYTES = 64 << 20, /* of the lines, where a row of a picture is not more */
    GF_FLAT_DIRECT = 1 << 30, /* positions of a launch that has no lines */
    GF_FLAT_PARTS = 8,
    GF_FLAT_SLOTS = 8,  /* of a block, at most */
    GF_FLAT_GROUPS = 2, /* of warps, that multiply in a tile of many maps */
    GF_FLAT_LINE = 8,   /* octets: 128 bytes, at a multiple of which copies begin and end */
    GF_FLAT_CARD = 132, /* multiprocessors of the card that costs were measured on */
    GF_FLAT_MAPS = 64,  /* of a run; where a group has no more than */
    GF_FLAT_FEW = 32    /* a run is all of them, as 8, 16 or 32 */
};

/* The line of gpu/tensor_flat.cu and gpu/tensor_few.cu. */
typedef struct GfTensorFlat {
    size_t octets, stages;       /* of a stage, of a group */
    size_t phases_x, phases_y;   /* lines for each octet: one for each sample of a stride */
    size_t right, below;         /* columns and rows of the line that a window reaches over */
    size_t overlap_x, overlap_y; /* columns, rows of zeros that neighbours share */
    size_t columns;              /* positions of a row */
    size_t run_maps, map_runs;   /* maps of a run, and runs of a group */
    bool few;                    /* is a run all maps of a group, and columns of products? */
} GfTensorFlat;

/* Zeros before and behind the samples that windows meet, of which a row or picture needs only
 * one. */
static inline size_t gf_flat_overlap(const GfStep *step, ptrdiff_t origin, size_t in, size_t out,
                                     size_t reach, size_t stride)
{
    const ptrdiff_t after = (ptrdiff_t)(out - 1 + reach) + origin - (ptrdiff_t)(in - 1);
    if (step->border != GF_BORDER_CONSTANT || step->border_value != 0.0 || stride > 1 ||
        origin > 0 || after < 0)
        return 0;
    return (size_t)(-origin < after ? -origin : after);
}

static inline GfTensorFlat gf_tensor_flat(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const size_t pairs = (linear->depth + 15) / 16, maps = linear->filters / linear->groups;
    const size_t reach_x = (linear->width - 1) * step->dilation_x;
    const size_t reach_y = (linear->height - 1) * step->dilation_y;
    GfTensorFlat shape;
    /* Pairs of octets of a step. Of single taps it waits as long for one as for four: zeros fill
     * it (bench/results/2026-11-29-h200.md). */
    shape.few = maps <= GF_FLAT_FEW && linear->width * linear->height > 1;
    size_t run = linear->width <= 3 && pairs % 2 == 0 && !shape.few ? 2 : 1;
    if (linear->width == 1 && !shape.few)
        run = pairs > 2 ? 4 : 2;
    shape.octets = 2 * run;
    shape.stages = (pairs + run - 1) / run;
    shape.phases_x = reach_x > 0 ? step->stride_x : 1;
    shape.phases_y = reach_y > 0 ? step->stride_y : 1;
    shape.right = reach_x / step->stride_x;
    shape.below = reach_y / step->stride_y;
    shape.overlap_x = gf_flat_overlap(step, step->origin_x, step->in_width, step->out_width,
                                      reach_x, step->stride_x);
    shape.overlap_y = gf_flat_overlap(step, step->origin_y, step->in_height, step->out_height,
                                      reach_y, step->stride_y);
    shape.columns = step->out_width + shape.right - shape.overlap_x;
    shape.run_maps = !shape.few ? GF_FLAT_MAPS : maps <= 8 ? 8 : maps <= 16 ? 16 : 32;
    shape.map_runs = (maps + shape.run_maps - 1) / shape.run_maps;
    return shape;
}

/* Rows from picture to picture of which so many output rows are wanted, of all of it or not. */
static inline size_t gf_flat_rows(const GfTensorFlat *shape, size_t rows, bool whole)
{
    return rows + shape->below - (whole ? shape->overlap_y : 0);
}

/* Rows of the line of so many pictures; the last is the zeros behind the one before it. */
static inline size_t gf_flat_line_rows(const GfTensorFlat *shape, size_t count, size_t rows,
                                       size_t apart)
{
    return (count - 1) * apart + rows + shape->below + 1;
}

/* Octets of such a line. */
static inline size_t gf_flat_line(const GfTensorFlat *shape, size_t line_rows)
{
    return (line_rows * shape->columns + shape->right + GF_FLAT_SPARE + 32) / 8 * 8;
}

/* The same for so many rows of so many pictures, of all of them or not. */
static inline size_t gf_flat_octets(const GfTensorFlat *shape, size_t count, size_t rows,
                                    bool whole)
{
    const size_t apart = gf_flat_rows(shape, rows, whole);
    return gf_flat_line(shape, gf_flat_line_rows(shape, count, rows, apart));
}

/* Rows of each of some pictures, that are in a line at a time. */
typedef struct GfFlatSlice {
    size_t count, rows;
} GfFlatSlice;

/* Of so many pictures of so many rows, of all of them or not, the most that lines of `room` octets
 * hold: pictures as they are, or half of the rows of one, or half of those. */
static inline GfFlatSlice gf_flat_slice(const GfStep *step, size_t room, size_t count, size_t rows,
                                        bool whole)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    GfFlatSlice slice = {1, rows};
    while (slice.rows > 1 &&
           gf_flat_octets(&shape, 1, slice.rows, whole && slice.rows == rows) > room)
        slice.rows = (slice.rows + 1) / 2;
    while (slice.rows == rows && slice.count < count &&
           gf_flat_octets(&shape, slice.count + 1, rows, whole) <= room)
        slice.count++;
    return slice;
}

/* Scales of so many rows of it, of which copies begin at multiples of four. */
static inline size_t gf_flat_scale_rows(size_t line_rows)
{
    return (line_rows + 3) / 4 * 4;
}

/* Lines of a step. */
static inline size_t gf_flat_lines(const GfStep *step)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    return step->linear.groups * shape.stages * shape.octets * shape.phases_y * shape.phases_x * 2;
}

/* Octets that there is room for in each: of many pictures, or as many rows as that much memory
 * holds. */
static inline size_t gf_flat_line_room(const GfStep *step)
{
    enum { PICTURES = 64 };
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t least = gf_flat_octets(&shape, 1, 1, false);
    const size_t most = gf_flat_octets(&shape, PICTURES, step->out_height, true);
    const size_t held = GF_FLAT_BYTES / (gf_flat_lines(step) * 16);
    return gf_max(least, gf_min(most, held));
}

/* Vectors of 16 bytes of the taps of a row of the kernel of a stage, of a run of maps and both
 * halves. */
static inline size_t gf_flat_step_vectors(const GfStep *step)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    return step->linear.width * shape.octets * shape.run_maps * 2;
}

/* Have registers room for a tile of few maps: of so many groups of warps, of so many runs of 64
 * positions each? */
static inline GF_CONSTEXPR bool gf_few_has_tile(size_t maps, size_t groups, size_t runs)
{
    return maps * runs <= (groups > 2 ? 32 : 64);
}

/* Bytes of shared memory beside its slots: what a block knows of its tile, at most; and what it
 * keeps of sums while it has other parts, GF_FEW_SPARE of each map so that pairs of maps are in
 * other banks. */
enum { GF_FEW_SPARE = 4 };

static inline GF_CONSTEXPR size_t gf_few_head(size_t positions)
{
    return 640 + 12 * positions;
}

static inline GF_CONSTEXPR size_t gf_few_kept(size_t maps, size_t positions)
{
    return maps * (positions + GF_FEW_SPARE) * sizeof(float);
}

/* A slot of few maps: taps of so many rows of the kernel, all or one, and the stretches of the line
 * that these meet. */
typedef struct GfFewSlot {
    size_t rows, stretch; /* octets; 0: more than any slot has room for */
    size_t scales;        /* of each phase */
    size_t bytes;
} GfFewSlot;

static inline GfFewSlot gf_few_slot(const GfStep *step, size_t positions, bool all)
{
    enum { MOST_OCTETS = 1 << 13, OCTET_BYTES = 16, SCALE_BYTES = 4, UNIT = 128 };
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t phases = all ? shape.phases_y : 1, lines = shape.octets * shape.phases_x * 2;
    const size_t further = all ? shape.below * shape.columns : GF_FLAT_LINE - 1;
    GfFewSlot slot = {all ? step->linear.height : 1, 0, 0, 0};
    if (all && further > MOST_OCTETS)
        return slot;
    slot.stretch = gf_units(positions + shape.right + further, GF_FLAT_LINE) * GF_FLAT_LINE;
    slot.scales = gf_units(positions / shape.columns + 2 + shape.below + 3, 4) * 4;
    slot.bytes = phases * (lines * slot.stretch * OCTET_BYTES + slot.scales * SCALE_BYTES) +
                 slot.rows * gf_flat_step_vectors(step) * OCTET_BYTES;
    slot.bytes = gf_units(slot.bytes, UNIT) * UNIT;
    return slot;
}

/* Cycles that a stage of few maps takes a block of so many positions: its products; what it brings
 * of so many bytes; and the longer of the two, with the end of each row of the kernel. */
static inline size_t gf_few_products(const GfStep *step, size_t positions)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    return step->linear.height * step->linear.width * (shape.octets / 2) * (positions / 64) *
           (32 + shape.run_maps * 3 / 4);
}

static inline size_t gf_few_brought(size_t bytes)
{
    enum { A_CYCLE = 20 };
    return bytes / A_CYCLE;
}

static inline size_t gf_few_cycles(const GfStep *step, size_t positions, size_t bytes)
{
    enum { ROW = 400 };
    const size_t products = gf_few_products(step, positions), brought = gf_few_brought(bytes);
    return (products > brought ? products : brought) + step->linear.height * ROW;
}

/* Blocks that a card of 132 multiprocessors runs at once, one on each, in clusters of so many. */
static inline size_t gf_flat_room(size_t cluster)
{
    static const size_t room[GF_FLAT_PARTS] = {132, 132, 117, 120, 110, 102, 105, 120};
    return room[cluster - 1];
}

/* The same of a card of so many. */
static inline size_t gf_cluster_blocks(size_t cluster, size_t processors)
{
    const size_t room = gf_flat_room(cluster) * processors / GF_FLAT_CARD;
    return room < 1 ? 1 : room;
}

/* What one of so many blocks that share a tile takes, in cycles, for the choice of parts and of few
 * maps: each of its steps, and the rest. */
static inline size_t gf_flat_cycles(size_t steps, size_t step_cycles, size_t shares)
{
    return (steps + shares - 1) / shares * step_cycles + (shares > 1 ? 6000 + 300 * shares : 5000);
}

/* How many blocks share a tile whose sums are of so many parts, in each of these ways, of which few
 * maps have the first two: one has all of them, each has one, or each has two. 0: that is none of
 * its own. */
enum { GF_FLAT_WAYS = 3, GF_FEW_WAYS = 2 };

static inline size_t gf_flat_shares(size_t parts, size_t way)
{
    const size_t shares[GF_FLAT_WAYS] = {1, parts > 1 ? parts : 0, parts > 2 ? (parts + 1) / 2 : 0};
    return shares[way];
}

/* Positions of a tile of many maps: of so many runs of maps, and runs of 8 positions of a group of
 * warps. */
static inline GF_CONSTEXPR size_t gf_flat_positions(size_t map_runs, size_t runs)
{
    return runs * 8 * GF_FLAT_GROUPS / map_runs;
}

/* From map to map of its totals in shared memory, so that four maps are in other banks. */
static inline GF_CONSTEXPR size_t gf_flat_pitch(size_t positions)
{
    return positions % 16 == 8 ? positions : positions + 8;
}

/* Bytes of shared memory: what a block knows of its tile; its totals; and a slot, of the taps of a
 * row of the kernel, and stretches of the line and scales that these meet. */
static inline GF_CONSTEXPR size_t gf_flat_head(size_t map_runs, size_t positions)
{
    enum { BARRIERS = 128, POSITION = 12, MAP = 8, UNIT = 128 };
    const size_t bytes = BARRIERS + POSITION * positions + MAP * GF_FLAT_MAPS * map_runs;
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

static inline GF_CONSTEXPR size_t gf_flat_kept(size_t map_runs, size_t positions)
{
    return map_runs * GF_FLAT_MAPS * gf_flat_pitch(positions) * sizeof(float);
}

static inline size_t gf_flat_stretch(const GfTensorFlat *shape, size_t positions)
{
    return gf_units(positions + shape->right + GF_FLAT_LINE - 1, GF_FLAT_LINE) * GF_FLAT_LINE;
}

static inline size_t gf_flat_slot(const GfStep *step, size_t map_runs, size_t positions)
{
    enum { OCTET_BYTES = 16, UNIT = 128 };
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t lines = shape.octets * shape.phases_x * 2;
    const size_t octets =
        map_runs * gf_flat_step_vectors(step) + lines * gf_flat_stretch(&shape, positions);
    return gf_units(octets * OCTET_BYTES + positions * sizeof(float), UNIT) * UNIT;
}

/* Where a block's totals and slots are, of so many bytes each, in `room` bytes: slots, and, where
 * it has several parts, totals of those before the last behind them. Those of the last come where
 * slots were. */
typedef struct GfFlatMemory {
    size_t slots; /* 0: there is no room */
    size_t kept;  /* bytes from the first slot to the totals */
    size_t bytes;
} GfFlatMemory;

static inline GfFlatMemory gf_flat_memory(size_t room, size_t slot, size_t kept, bool several)
{
    enum { LEAST = 2 };
    const size_t more = several ? kept : 0, slots = room > more ? (room - more) / slot : 0;
    const size_t some = gf_min(slots, GF_FLAT_SLOTS), first = gf_max(some * slot, kept);
    const bool has_room = some >= LEAST && first + more <= room;
    return (GfFlatMemory){has_room ? some : 0, several ? first : 0, first + more};
}

/* Cycles that a step of a tile of many maps takes: its products, its lines, and the rest. As what
 * the tile takes beside that by some 200 layers, each in up to 16 tiles
 * (bench/results/2026-11-30-h200-6.md). */
static inline size_t gf_flat_step_cycles(const GfStep *step, size_t runs)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t products = step->linear.width * shape.octets / 2 * 3 * GF_FLAT_GROUPS;
    return products * (8 * runs - 37) / 3 + 80 * shape.octets * shape.phases_x + 920;
}

/* What tiles of so many runs take a card, whose sums are of so many parts and which so many blocks
 * share. */
static inline size_t gf_flat_cost(const GfStep *step, size_t tiles, size_t runs, size_t parts,
                                  size_t shares, size_t processors)
{
    const size_t alone = 2500, shared = 5700, two = 2500, keeping = 200, finishing = 260;
    const size_t steps = gf_tensor_flat(step).stages * step->linear.height;
    const size_t own = gf_units(parts, shares), most = gf_min(own * gf_units(steps, parts), steps);
    size_t cycles = most * gf_flat_step_cycles(step, runs) + finishing * runs;
    cycles += (shares > 1 ? shared : alone) + (own > 1 ? own * keeping : 0);
    cycles += shares > 1 && own > 1 ? two : 0;
    return gf_units(tiles * shares, gf_cluster_blocks(shares, processors)) * cycles;
}

/* The same of few maps. */
static inline size_t gf_few_cost(size_t tiles, size_t stages, size_t stage_cycles, size_t shares,
                                 size_t processors)
{
    enum { MEETING = 2500 };
    return gf_units(tiles * shares, gf_cluster_blocks(shares, processors)) *
           (gf_flat_cycles(stages, stage_cycles, shares) + (shares > 1 ? MEETING : 0));
}

/* Sums of so many parts of the steps are added up, so that blocks can share them: as many as keep a
 * large card busy, but of many steps of deep layers no fewer than f32 needs, whose sums would lose
 * too much one by one. It decides bits, so that it depends on nothing else. */
static inline size_t gf_flat_parts(const GfStep *step)
{
    enum { TILE = 128, FEW_TILE = 256, PRODUCT = 64, LONGEST = 64 };
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t positions = step->out_height * shape.columns;
    /* Of 128 maps, with 64 cycles for a product of 64. */
    size_t steps = shape.stages * step->linear.height;
    size_t tiles = ((positions + TILE - 1) / TILE * shape.map_runs + 1) / 2 * step->linear.groups;
    size_t cycles = step->linear.width * shape.octets / 2 * 3 * 2 * PRODUCT;
    if (shape.few) {
        steps = shape.stages;
        tiles = (positions + FEW_TILE - 1) / FEW_TILE * step->linear.groups;
        cycles = gf_few_cycles(step, FEW_TILE, 0);
    }
    const bool deep = gf_linear_taps(&step->linear) > GF_DEEP_TAPS;
    const size_t fewest = deep ? gf_min(gf_units(steps, LONGEST), GF_FLAT_PARTS) : 1;
    size_t best = fewest, least = (size_t)-1;
    for (size_t parts = 1; parts <= GF_FLAT_PARTS && parts <= steps; parts++) {
        const size_t part = (steps + parts - 1) / parts, room = gf_flat_room(parts);
        const size_t cost =
            (tiles * parts + room - 1) / room * gf_flat_cycles(steps, cycles, parts);
        if (parts >= fewest && tiles <= 8 * GF_FLAT_CARD && cost < least &&
            (steps + part - 1) / part == parts) {
            least = cost;
            best = parts;
        }
    }
    return best;
}

/* Are a layer's samples read as they are, without lines (gpu/tensor_pixels.cu)? Single taps of
 * floats, all on the picture, of few channels: others have parts, which blocks share. They have
 * none where pictures are so large that there is work for many blocks anyway, unless there are so
 * many maps that all samples would be converted several times. */
static inline bool gf_tensor_is_direct(const GfStep *step)
{
    enum { FEW = 4, SOME = 8, LARGE = 2048, MAPS = 256, MOST = 1 << 28 }; /* stages, pixels */
    const GfStep taps = gf_patches(step);
    const GfLinear *linear = &taps.linear;
    const ptrdiff_t right = (ptrdiff_t)((step->out_width - 1) * step->stride_x);
    const ptrdiff_t below = (ptrdiff_t)((step->out_height - 1) * step->stride_y);
    const size_t stages = gf_tensor_flat(&taps).stages;
    if (gf_has_patches(step) && !gf_patches_have_vectors(step) && stages > FEW / 2)
        return false;
    if (linear->width * linear->height > 1 || step->in != GF_F32 ||
        step->in_width * step->in_height > MOST || step->origin_x < 0 || step->origin_y < 0 ||
        step->origin_x + right >= (ptrdiff_t)step->in_width ||
        step->origin_y + below >= (ptrdiff_t)step->in_height)
        return false;
    return stages <= FEW || (stages <= SOME && linear->filters / linear->groups <= MAPS &&
                             step->out_width * step->out_height >= LARGE);
}

/* Of such a layer: positions of a tile, stages of channels that have room in shared memory, and
 * groups of warps, that multiply 64 maps each. */
enum { GF_PIXELS_TILE = 128, GF_PIXELS_STAGES = 4, GF_PIXELS_GROUPS = 2 };

/* How a launch of it on so many positions is cut, among blocks that multiprocessors have one of
 * each: a block stays, for a split of a group's maps and some of the tiles. */
typedef struct GfPixelsCut {
    size_t splits, runs, passes; /* runs of 64 maps of a split; times that samples are converted */
    size_t blocks;               /* of a split of a group */
    size_t tiles;                /* that the busiest multiprocessor has */
    size_t products, converting; /* cycles of each of those */
} GfPixelsCut;

#ifdef __cplusplus
extern "C"
#endif
    GfPixelsCut
    gf_pixels_cut(const GfStep *step, size_t positions, size_t processors);

/* Is a layer computed that way, on cards that can? Two steps of the smallest tile, 128 positions of
 * a run of maps, have room in shared memory beside its totals; lines have fewer than 2^28
 * positions; and what they have of a border is next to the picture. Few maps of single taps are
 * not, unless they are direct: they wait for the line. */
static inline bool gf_tensor_is_flat(const GfStep *step)
{
    enum { POSITIONS = 128, MOST_BYTES = (227 - 40) << 10, MOST_BLOCKS = 65535 };
    const GfStep taps = gf_patches(step);
    const GfLinear *linear = &taps.linear;
    if (gf_tensor_is_first(step) || step->out != GF_F32 || step->dilation_x > GF_FLAT_SIDE ||
        step->dilation_y > GF_FLAT_SIDE || linear->depth <= GF_FIRST_CHANNELS ||
        !(gf_has_patches(step) || gf_fits_line(step)) || step->out_width >= 1 << 24 ||
        step->in_width >= 1 << 28 || linear->groups * linear->depth >= 1 << 19)
        return false;
    const GfTensorFlat shape = gf_tensor_flat(&taps);
    if ((!shape.few && linear->filters / linear->groups <= 16 && !gf_tensor_is_direct(step)) ||
        linear->groups * shape.stages > MOST_BLOCKS ||
        !gf_reaches(step->in_width, step->origin_x, shape.columns * step->stride_x, step->border))
        return false;
    return 2 * gf_flat_slot(&taps, 1, POSITIONS) <= MOST_BYTES &&
           shape.columns * (shape.below + 3) < 1 << 28;
}

/* Vectors of 16 bytes that its taps become. */
static inline size_t gf_flat_vectors(const GfStep *step)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    return step->linear.groups * shape.map_runs * shape.stages * step->linear.height *
           gf_flat_step_vectors(step);
}
