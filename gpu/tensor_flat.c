/* What a layer takes of tensor cores whose samples stand in lines, by which `auto` estimates its
 * time: with the cheapest tile, as gpu/tensor_flat.cu has it. Whether that has room in shared
 * memory is not asked: where it has none, as some of single taps and of strides, another one is
 * launched. */
#include "gpu/tensor.h"

GfFlatWork gf_flat_work(const GfTask *task)
{
    const GfStep *step = task->step;
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t rows =
        gf_flat_rows(&shape, step->out_height, true) * (task->pictures - 1) + step->out_height;
    const size_t steps = shape.stages * step->linear.height, parts = gf_flat_parts(step);
#define TILE(MAP_RUNS, RUNS) {MAP_RUNS, RUNS},
    static const size_t tiles[][2] = {GF_FLAT_TILES(TILE)};
#undef TILE
    size_t least = (size_t)-1;
    GfFlatWork work = {0, false};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const size_t map_runs = tiles[i][0], positions = gf_flat_positions(map_runs, tiles[i][1]);
        const size_t blocks = gf_units(rows * shape.columns, positions) *
                              gf_units(shape.map_runs, map_runs) * step->linear.groups;
        const size_t cycles = gf_flat_step_cycles(step, tiles[i][1]);
        for (size_t way = 0; way < (parts > 1 && task->clusters ? 2 : 1); way++) {
            const size_t shares = way > 0 ? parts : 1;
            const size_t cost = gf_flat_cost(blocks, steps, cycles, shares, task->processors);
            if (cost >= least)
                continue;
            least = cost;
            work.cycles = gf_units(blocks * shares, gf_cluster_blocks(shares, task->processors)) *
                          gf_units(steps, shares) * cycles;
            work.shared = shares > 1;
        }
    }
    return work;
}
