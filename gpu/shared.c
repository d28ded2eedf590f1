/* What method `shared` takes, by which it chooses a tile, and `auto` methods. */
#include <math.h>

#include "gpu/launch.h"

static GfSharedCut cut_into(const GfStep *step, bool wide, GfTileSize tile)
{
    const GfLinear *linear = &step->linear;
    const size_t of_group = gf_step_is_layer(step) ? linear->filters / linear->groups : 1;
    GfSharedCut cut = {tile, of_group > 1 ? GF_SHARED_MAPS : 1, 1, 0};
    if (gf_shared_bytes(step, wide, tile, cut.maps) > GF_SHARED_BYTES)
        cut.maps = 1;
    cut.chunks = gf_units(of_group, cut.maps);
    cut.sets = step->out_channels / of_group * cut.chunks / gf_shared_lanes(step);
    return cut;
}

/* What depends on how many rows of a tile a thread makes, as it was measured: issue slots that a
 * multiply-add takes, with what is read for it from shared memory; and cycles that each channel is
 * waited for, whatever is loaded. These, as all weights here, were fitted to each tile of 320
 * layers (bench/results/2026-11-30-h200-4.md). */
typedef struct Row {
    double slots, wait;
} Row;

static Row row_of(size_t rows)
{
    return rows == 4 ? (Row){1.24, 510} : rows == 2 ? (Row){1.6, 1000} : (Row){1.39, 639};
}

/* Cycles of the multiprocessor that has most to do. Its blocks share its four schedulers: in each
 * thread with multiply-adds, the rows of taps, rounds of loads, taps that are brought and what
 * becomes of the sums. And each waits by itself in every channel for its loads, a round after the
 * other, and along the taps; and for its outputs. */
static double cycles_of(const GfTask *task, const GfSharedCut *cut)
{
    const GfStep *step = task->step;
    const GfLinear *linear = &step->linear;
    const GfTileSize input = gf_shared_input(step, cut->tile);
    const bool layer = gf_step_is_layer(step);
    const size_t threads = cut->tile.columns * GF_SHARED_ROWS;
    const size_t rows = cut->tile.rows / GF_SHARED_ROWS;
    const size_t lanes = gf_shared_lanes(step);
    const size_t blocks = gf_units(step->out_width * lanes, cut->tile.columns) *
                          gf_units(task->rows, cut->tile.rows) * cut->sets * task->pictures;
    const size_t most = gf_units(blocks, task->processors);
    const size_t held = (size_t)gf_shared_at_once(task->wide, (int)rows) / threads;
    const size_t bytes = gf_shared_bytes(step, task->wide, cut->tile, cut->maps);
    const size_t together = gf_blocks_in(task->processor_bytes, held, bytes);
    /* All kernels of a bank are on one tile. */
    const double kernels = layer ? 1.0 : (double)linear->filters;
    const double channels = layer ? (double)linear->depth : 1.0;
    const double rounds = (double)gf_units(input.columns * input.rows, threads * GF_SHARED_LOADS);
    const double area = (double)(linear->width * linear->height);
    const double sums = (double)(rows * cut->maps),
                 made = (double)(rows * step->out_channels) / (double)(cut->sets * lanes);
    const Row row = row_of(rows);
    const double taps = area * sums * row.slots + 28.9 * (double)linear->height +
                        40.6 * (double)gf_units((size_t)area * cut->maps, threads);
    const double thread = channels * (kernels * taps + 136.0 * rounds) + 385.0;
    const double along = kernels * area * (33.5 + 7.7 * (double)rows);
    const double alone = channels * (row.wait + 1080.0 * rounds + along) + 255.0 * made;
    const double work = (double)(threads / 32) * thread / 4.0;
    return (double)most * work + (double)gf_units(most, together) * alone;
}

double gf_shared_cycles(const GfTask *task, size_t asked, GfSharedCut *cut)
{
    double least = INFINITY;
    for (size_t i = 0; gf_tile_size(i).columns > 0; i++) {
        const GfSharedCut with = cut_into(task->step, task->wide, gf_tile_size(i));
        if ((asked > 0 && asked != i + 1) ||
            gf_shared_bytes(task->step, task->wide, with.tile, with.maps) > GF_SHARED_BYTES)
            continue;
        const double cycles = cycles_of(task, &with);
        if (cycles <= least) {
            least = cycles;
            if (cut)
                *cut = with;
        }
    }
    return least;
}
