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

/* Blocks that a launch has on the multiprocessor that has most, and how many of them are there at
 * once. */
typedef struct Blocks {
    size_t most, together;
} Blocks;

static Blocks blocks_of(const GfTask *task, const GfSharedCut *cut)
{
    const GfStep *step = task->step;
    const GfTileSize *tile = &cut->tile;
    const size_t across = gf_units(step->out_width * gf_shared_lanes(step), tile->columns);
    const size_t blocks = across * gf_units(task->rows, tile->rows) * cut->sets * task->pictures;
    const int threads = gf_shared_at_once(task->wide, (int)(tile->rows / GF_SHARED_ROWS));
    const size_t held = (size_t)threads / (tile->columns * GF_SHARED_ROWS);
    const size_t bytes = gf_shared_bytes(step, task->wide, *tile, cut->maps);
    return (Blocks){gf_units(blocks, task->processors),
                    gf_blocks_in(task->processor_bytes, held, bytes)};
}

/* Cycles of the multiprocessor that has most to do. Its blocks share its four schedulers: in each
 * thread with multiply-adds, the rows of taps, taps that are brought, rounds of loads, and the
 * places of the tile's samples. And each waits by itself in every channel, for its loads, a round
 * after the other, and along the taps; and for its outputs. All kernels of a bank are on one
 * tile. */
static double cycles_of(const GfTask *task, const GfSharedCut *cut)
{
    const GfStep *step = task->step;
    const GfLinear *linear = &step->linear;
    const bool layer = gf_step_is_layer(step);
    const double kernels = layer ? 1.0 : (double)linear->filters;
    const double channels = layer ? (double)linear->depth : 1.0;
    const GfTileSize input = gf_shared_input(step, cut->tile);
    const size_t threads = cut->tile.columns * GF_SHARED_ROWS;
    const size_t rows = cut->tile.rows / GF_SHARED_ROWS, taps = linear->width * linear->height;
    const size_t maps = cut->sets * gf_shared_lanes(step);
    const double made = (double)(rows * step->out_channels) / (double)maps;
    const double rounds = (double)gf_units(input.columns * input.rows, threads * GF_SHARED_LOADS);
    const double brought = (double)gf_units(taps * cut->maps, threads);
    const double each = (double)taps * (task->wide ? 1.5 : 1.0); /* in f64 they take longer */
    const Row row = row_of(rows);
    const double slots = each * (double)(rows * cut->maps) * row.slots +
                         28.9 * (double)linear->height + 40.6 * brought;
    const double thread = channels * (kernels * slots + 136.0 * rounds) + 385.0;
    const double along = kernels * each * (33.5 + 7.7 * (double)rows);
    const double alone = channels * (row.wait + 1080.0 * rounds + along) + 255.0 * made;
    const Blocks blocks = blocks_of(task, cut);
    return (double)blocks.most * thread * (double)(threads / 32) / 4.0 +
           (double)gf_units(blocks.most, blocks.together) * alone;
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
