/* What a layer takes of tensor cores whose samples stand in lines, by which `auto` estimates its
 * time: with the cheapest tile, as gpu/tensor_flat.cu and gpu/tensor_few.cu have it. */
#include "gpu/tensor.h"

/* Lines, one after the other: positions up to the last one that has an output, of a whole line, and
 * of the last. */
typedef struct Lines {
    size_t count, positions, last;
} Lines;

static Lines lines_of(const GfTask *task, const GfTensorFlat *shape)
{
    const GfStep *step = task->step;
    const size_t height = step->out_height, pictures = task->pictures;
    const GfFlatSlice slice = gf_flat_slice(step, gf_flat_line_room(step), pictures, height, true);
    const size_t apart = gf_flat_rows(shape, slice.rows, slice.rows == height);
    const size_t runs = gf_units(pictures, slice.count), bands = gf_units(height, slice.rows);
    const size_t count = pictures - (runs - 1) * slice.count;
    const size_t rows = height - (bands - 1) * slice.rows;
    return (Lines){runs * bands, (apart * (slice.count - 1) + slice.rows) * shape->columns,
                   (apart * (count - 1) + rows) * shape->columns};
}

/* Cycles of the cheapest tile. */
static size_t many_cycles(const GfTask *task, const GfTensorFlat *shape, size_t all)
{
    const GfStep *step = task->step;
    const size_t parts = gf_flat_parts(step);
#define TILE(MAP_RUNS, RUNS) {MAP_RUNS, RUNS},
    static const size_t tiles[][2] = {GF_FLAT_TILES(TILE)};
#undef TILE
    size_t least = (size_t)-1;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles * GF_FLAT_WAYS; i++) {
        const size_t *tile = tiles[i / GF_FLAT_WAYS], map_runs = tile[0];
        const size_t positions = gf_flat_positions(map_runs, tile[1]);
        const size_t shares = gf_flat_shares(parts, i % GF_FLAT_WAYS);
        const size_t head = gf_flat_head(map_runs, positions);
        if (shares == 0 || (shares > 1 && !task->clusters) || task->block_bytes <= head)
            continue;
        const GfFlatMemory memory =
            gf_flat_memory(task->block_bytes - head, gf_flat_slot(step, map_runs, positions),
                           gf_flat_kept(map_runs, positions), shares < parts);
        const size_t blocks =
            gf_units(all, positions) * gf_units(shape->map_runs, map_runs) * step->linear.groups;
        const size_t cost = gf_flat_cost(step, blocks, tile[1], parts, shares, task->processors);
        if (memory.slots > 0 && cost < least)
            least = cost;
    }
    return least;
}

GfFlatWork gf_flat_work(const GfTask *task)
{
    const GfTensorFlat shape = gf_tensor_flat(task->step);
    const Lines lines = lines_of(task, &shape);
    const size_t last = many_cycles(task, &shape, lines.last);
    if (lines.count == 1)
        return (GfFlatWork){1, last};
    return (GfFlatWork){lines.count,
                        (lines.count - 1) * many_cycles(task, &shape, lines.positions) + last};
}

GfFewWork gf_few_work(const GfTask *task)
{
    const GfStep *step = task->step;
    const GfTensorFlat shape = gf_tensor_flat(step);
    const Lines lines = lines_of(task, &shape);
    const size_t all = lines.positions, slices = lines.count, parts = gf_flat_parts(step);
#define TILE(GROUPS, RUNS) {GROUPS, RUNS, 0}, {GROUPS, RUNS, 1},
    static const size_t tiles[][3] = {GF_FEW_TILES(TILE)};
#undef TILE
    size_t least = (size_t)-1;
    GfFewWork work = {0, 0, 0, false};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        const size_t positions = tiles[i][0] * tiles[i][1] * 64;
        const GfFewSlot slot = gf_few_slot(step, positions, tiles[i][2] == 1);
        const size_t bytes = slot.bytes * (step->linear.height / slot.rows);
        const size_t blocks = gf_units(all, positions) * step->linear.groups;
        const size_t cycles = gf_few_cycles(step, positions, bytes);
        if (!gf_few_has_tile(shape.run_maps, tiles[i][0], tiles[i][1]))
            continue;
        for (size_t way = 0; way < (parts > 1 && task->clusters ? 2 : 1); way++) {
            const size_t shares = way > 0 ? parts : 1;
            const size_t kept = parts > shares ? gf_few_kept(shape.run_maps, positions) : 0;
            const size_t room = gf_few_head(positions) + kept + 2 * slot.bytes;
            const size_t cost = gf_few_cost(blocks, shape.stages, cycles, shares, task->processors);
            if (cost >= least || slot.stretch == 0 || room > task->block_bytes)
                continue;
            least = cost;
            work.blocks =
                slices * gf_units(blocks * shares, gf_cluster_blocks(shares, task->processors));
            const size_t stages = work.blocks * gf_units(shape.stages, shares);
            work.products = stages * gf_few_products(step, positions);
            work.brought = stages * gf_few_brought(bytes);
            work.shared = shares > 1;
        }
    }
    return work;
}
