/* What method `general` takes, by which it chooses a tile, and `auto` methods. */
#include <math.h>

#include "gpu/launch.h"

/* A tile as it was measured: issue slots that a multiply-add of a warp takes, with what is read for
 * it from shared memory. */
typedef struct Row {
    GfGeneralTile tile;
    double slots;
} Row;

/* Tiling i for kernels of side x side; false where there is none. The slots, as all weights here,
 * were fitted to every tile of 331 layers (bench/results/2026-11-30-h200-3.md, -4.md). */
static bool find_row(size_t side, size_t i, Row *row)
{
    static const double slots[GF_GENERAL_TILINGS] = {1.01, 1.1,  1.09, 1.13, 1.23, 1.63, 1.16, 0.98,
                                                     1.02, 1.03, 0.97, 0.93, 0.96, 0.87, 1.04};
    static const int papers[][7] = {
        {GF_GENERAL_PAPER_3}, {GF_GENERAL_PAPER_5}, {GF_GENERAL_PAPER_7}};
#define TILE(...) {__VA_ARGS__},
    static const int tiles[][7] = {GF_GENERAL_TILES(TILE)};
#undef TILE
    if (side == 1 && (i == 0 || tiles[i - 1][2] < 16))
        return false;
    const int *of = i == 0 ? papers[side / 2 - 1] : tiles[i - 1];
    row->tile = gf_general_tile((int)side, of[0], of[1], of[2], of[3], of[4], of[5], of[6]);
    row->slots = slots[i];
    return true;
}

/* Channels of a group; their chains; and stages, where each of a tile's teams has every so many-th
 * chain. */
typedef struct Depth {
    size_t channels, chains, stages;
} Depth;

static Depth depth_of(const GfStep *step, const GfGeneralTile *tile)
{
    const size_t channels = step->linear.depth, chain = (size_t)gf_general_chain(step);
    const size_t chains = gf_units(channels, chain), rounds = gf_units(chains, (size_t)tile->teams);
    return (Depth){channels, chains, rounds * gf_units(chain, (size_t)tile->channels)};
}

/* Issue slots of a multiprocessor's four schedulers that a block takes: for multiply-adds, what
 * stages bring, and what becomes of sums: more where each is stored by itself. */
static double work_of(const GfTask *task, const Row *row, const Depth *depth)
{
    const GfStep *step = task->step;
    const GfGeneralTile *tile = &row->tile;
    const size_t taps = (size_t)(tile->channels * tile->side * tile->side);
    const double maps = gf_filled(step->linear.filters / step->linear.groups, (size_t)tile->maps);
    const double pixels = gf_filled(step->out_width, (size_t)tile->width) *
                          gf_filled(task->rows, (size_t)tile->height);
    const double channels = (double)depth->channels, stages = (double)depth->stages;
    const double sums = tile->thread_pixels * tile->thread_maps;
    const double products = channels * tile->side * tile->side * sums * row->slots;
    const double places = channels * tile->places / tile->team;
    const double place =
        step->in == GF_F32 ? 19.0 : 190.0; /* past the registers, or through them */
    const double filters = stages * tile->teams * (double)gf_units(taps, (size_t)tile->team) *
                           (double)gf_units((size_t)tile->maps, (size_t)tile->tap_maps) * maps;
    const double bringing = (tile->side == 1 ? 0.89 : 1.0) * (place * places + 11.0 * filters);
    const double storing = (30.0 + (task->vectors ? 0.0 : 137.0 * pixels)) * maps;
    const double warp = products + bringing + sums * (storing + 7.0 * (double)depth->chains);
    return warp * (tile->team / 32) / 4.0;
}

/* Cycles that a launch takes with a tile. The blocks that share a multiprocessor share its issue
 * slots, which few warps do not fill, and each waits by itself for its first stage, and at
 * barriers. */
static double cycles_of(const GfTask *task, const Row *row)
{
    const GfStep *step = task->step;
    const GfGeneralTile *tile = &row->tile;
    const Depth depth = depth_of(step, tile);
    const size_t blocks = gf_units(step->out_width, (size_t)tile->width) *
                          gf_units(task->rows, (size_t)tile->height) *
                          gf_units(step->linear.filters / step->linear.groups, (size_t)tile->maps) *
                          step->linear.groups * task->pictures;
    const size_t most = gf_units(blocks, task->processors);
    const size_t together =
        gf_blocks_in(task->processor_bytes, (size_t)tile->blocks, (size_t)tile->bytes);
    const double work = work_of(task, row, &depth);
    const double stage = (tile->side == 1 ? 710.0 : 310.0) + (tile->threads < 128 ? 700.0 : 0.0);
    const double warps = tile->team / 32 * fmin((double)depth.chains, tile->teams);
    const double places = 152.0 * tile->places / tile->team; /* found one after the other */
    const double alone = 2030.0 + places + stage * (double)depth.stages + 2.04 * work / warps;
    return (double)most * work + (double)gf_units(most, together) * alone;
}

double gf_general_cycles(const GfTask *task, size_t *tiling)
{
    double least = INFINITY;
    for (size_t i = 0; i < GF_GENERAL_TILINGS; i++) {
        Row row;
        if (!find_row(task->step->linear.width, i, &row))
            continue;
        const double cycles = cycles_of(task, &row);
        if (cycles < least) {
            least = cycles;
            if (tiling)
                *tiling = i;
        }
    }
    return least;
}
