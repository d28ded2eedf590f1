/* What method `implicit` takes, by which it chooses a tile, and `auto` methods. */
#include <math.h>

#include "gpu/launch.h"

/* A tile as it was measured: issue slots that a multiply-add of a warp takes, with what is read for
 * it from shared memory. */
typedef struct Row {
    GfImplicitTile tile;
    double slots;
} Row;

/* Tiling i. The slots, as all weights here, were fitted to every tile of 346 layers
 * (bench/results/2026-11-30-h200-3.md). */
static Row row_of(size_t i)
{
    static const double slots[GF_IMPLICIT_TILINGS] = {0.96, 0.72, 0.97, 1.13, 1.13,
                                                      0.79, 1.04, 0.86, 1.4};
#define TILE(...) {__VA_ARGS__},
    static const int tiles[GF_IMPLICIT_TILINGS][6] = {GF_IMPLICIT_TILES(TILE)};
#undef TILE
    const int *of = tiles[i];
    return (Row){gf_implicit_tile(of[0], of[1], of[2], of[3], of[4], of[5], sizeof(float)),
                 slots[i]};
}

/* A step's product, in tiles: taps of a chain, chains; of the outputs fours of positions, maps of a
 * group, groups. */
typedef struct Product {
    size_t chain, chains, fours, maps, groups;
} Product;

static Product product_of(const GfTask *task)
{
    const GfStep *step = task->step;
    const GfLinear *linear = &step->linear;
    const bool layer = gf_step_is_layer(step);
    const size_t chain = gf_implicit_chain(step, false);
    return (Product){chain, gf_units(gf_linear_taps(linear), chain),
                     gf_units(step->out_width, 4) * task->rows * task->pictures,
                     layer ? linear->filters / linear->groups : 1,
                     layer ? linear->groups : step->channels};
}

/* Blocks of tiles that so many blocks share each. */
static size_t blocks_of(const Product *product, const GfImplicitTile *tile, size_t cluster)
{
    return gf_units(product->fours, (size_t)tile->fours) *
           gf_units(product->maps, (size_t)tile->maps) * product->groups * cluster;
}

static size_t bytes_of(const GfImplicitTile *tile, size_t cluster)
{
    return (size_t)(tile->bytes + (cluster > 1 ? tile->teams * tile->sums_bytes : 0));
}

/* What bringing four samples takes: those that lie apart more, and those that become floats. */
static double gathering(const GfStep *step)
{
    return (step->stride_x > 1 ? 78.0 : 58.5) * (step->in == GF_F32 ? 1.0 : 4.4);
}

/* Cycles where so many blocks share a tile. The blocks of a multiprocessor share its four
 * schedulers, which few warps do not fill: with multiply-adds, what stages bring (fours of
 * positions and of taps), and what becomes of sums; and each waits by itself at barriers and for
 * its turn in adding up, or for the blocks that share its tile. */
static double cycles_of(const GfTask *task, const Product *product, const Row *row, size_t cluster)
{
    const GfImplicitTile *tile = &row->tile;
    const size_t room = gf_cluster_blocks(cluster, task->processors);
    const size_t most = gf_units(blocks_of(product, tile, cluster), room);
    const size_t together =
        gf_blocks_in(task->processor_bytes, (size_t)tile->blocks, bytes_of(tile, cluster));
    const size_t slots = (size_t)tile->teams * cluster;
    const double rounds = (double)gf_units(product->chains, slots);
    const double chains = (double)gf_units(product->chains, cluster);
    const double stages = (double)(product->chain / GF_IMPLICIT_STEP);
    const double warps = tile->team / 32, sums = tile->thread_maps * tile->thread_positions;
    const double maps = gf_filled(product->maps, (size_t)tile->maps);
    const double brought =
        gathering(task->step) * GF_IMPLICIT_STEP * tile->fours + 100.0 * tile->weights;
    const double stage = warps * GF_IMPLICIT_STEP * row->slots * sums + brought / 32.0;
    const double finish = (17.0 + (task->vectors ? 0.0 : 38.5)) * maps + 8.25 * chains;
    double work = (chains * stages * stage + warps * sums * finish) / 4.0;
    double wait = 4560.0 + (tile->taps > 2 ? 143.0 * tile->taps : 637.0) * rounds * stages +
                  2.29 * work / (warps * fmin(chains, tile->teams));
    if (cluster > 1) {
        work += 7.0 * warps * tile->teams * sums * rounds;
        wait += 76.0 * (double)slots * rounds;
    } else if (tile->teams > 1) {
        wait += 113.0 * tile->teams * rounds;
    }
    return (double)most * work + (double)gf_units(most, together) * wait;
}

/* Of a tile, with as many blocks sharing it as is best. */
static double share(const GfTask *task, const Product *product, const Row *row, size_t *cluster)
{
    const GfImplicitTile *tile = &row->tile;
    const bool may_share =
        tile->shared && task->clusters && blocks_of(product, tile, 1) <= task->processors;
    double least = cycles_of(task, product, row, 1);
    *cluster = 1;
    for (size_t n = 2; may_share && n <= GF_IMPLICIT_CLUSTER; n *= 2) {
        if ((size_t)tile->teams * n >= 2 * product->chains || bytes_of(tile, n) > task->block_bytes)
            break;
        const double cycles = cycles_of(task, product, row, n);
        if (cycles < least) {
            least = cycles;
            *cluster = n;
        }
    }
    return least;
}

/* Of sums in f64, for which there is one tile, and one chain of taps. By 90 layers
 * (bench/results/2026-11-30-h200-4.md). */
static double wide_cycles(const GfTask *task, const Product *product)
{
    const GfImplicitTile tile = gf_implicit_tile(GF_IMPLICIT_WIDE, sizeof(double));
    const size_t most = gf_units(blocks_of(product, &tile, 1), task->processors);
    const size_t together =
        gf_blocks_in(task->processor_bytes, (size_t)tile.blocks, bytes_of(&tile, 1));
    const double taps = (double)gf_implicit_chain(task->step, true);
    return 4830.0 + (double)gf_units(most, together) * 335.0 * taps +
           (double)most * (19.0 * taps + 1720.0);
}

double gf_implicit_cycles(const GfTask *task, size_t asked, GfImplicitCut *cut)
{
    const Product product = product_of(task);
    double least = INFINITY;
    if (task->wide)
        return wide_cycles(task, &product);
    for (size_t i = 0; i < GF_IMPLICIT_TILINGS; i++) {
        if (asked > 0 && asked != i + 1)
            continue;
        const Row row = row_of(i);
        size_t cluster = 1;
        const double cycles = share(task, &product, &row, &cluster);
        if (cycles < least) {
            least = cycles;
            if (cut)
                *cut = (GfImplicitCut){i, cluster};
        }
    }
    return least;
}
