/* How layers of few channels are cut into tiles of `tensor` (gpu/tensor_first.cu), and what a
 * launch of one takes, by which `auto` estimates its time. */
#include "gpu/tensor.h"

/* Blocks that give a card work. */
static size_t enough(size_t processors)
{
    enum { EACH = 3 };
    return EACH * processors;
}

/* Where samples are floats, as if a launch were of one whole picture, on a large card: a tile's
 * columns decide their bits, which must not depend on the launch. */
size_t gf_first_windows(const GfStep *step, size_t rows, size_t pictures, size_t processors)
{
    enum { LARGE_CARD = 132 };
    const GfTensorFirst first = gf_tensor_first(step);
    const bool large = first.octets == 2, bytes = step->in == GF_U8, floats = step->in == GF_F32;
    const size_t down = bytes ? gf_units(rows, GF_FIRST_ROWS) * pictures
                              : gf_units(step->out_height, GF_FIRST_ROWS);
    const size_t tiles = gf_units(step->out_width, GF_FIRST_WINDOWS * first.shifts) * down;
    const bool narrow = step->stride_x == 1 && step->linear.depth > 1 && !large &&
                        step->out_width <= GF_FIRST_NARROW * first.shifts;
    const bool starved =
        step->stride_x == 4 && large && tiles * first.runs < (bytes ? processors : LARGE_CARD);
    return (bytes || floats) && (narrow || starved) ? GF_FIRST_NARROW : GF_FIRST_WINDOWS;
}

size_t gf_first_units(size_t across, size_t height, size_t runs, size_t most, size_t processors)
{
    enum { MANY = 4 };
#define TILE(units) units,
    static const size_t tiles[] = {GF_FIRST_TILES(TILE)};
#undef TILE
    for (size_t i = sizeof tiles / sizeof *tiles; --i > 0;) {
        const size_t units = tiles[i];
        if (units <= most && (units <= MANY || runs == 1) &&
            across * gf_units(height, units * GF_FIRST_ROWS) >= enough(processors))
            return units;
    }
    return tiles[0];
}

size_t gf_first_splits(size_t tiles, size_t runs, size_t processors)
{
    const size_t wanted = gf_units(enough(processors), tiles);
    return gf_units(runs, gf_units(runs, wanted < runs ? wanted : runs));
}

GfFirstWork gf_first_work(const GfTask *task)
{
    enum { WARPS = 4, OCTET = 8 };
    const GfStep *step = task->step;
    const GfTensorFirst first = gf_tensor_first(step);
    const size_t depth = step->linear.depth, stride = step->stride_x;
    const size_t columns =
        gf_first_windows(step, step->out_height, task->pictures, task->processors) * first.shifts;
    const size_t across = gf_units(step->out_width, columns) * task->pictures;
    const size_t units =
        gf_first_units(across, step->out_height, first.runs, (size_t)-1, task->processors);
    const size_t rows = units * GF_FIRST_ROWS, tiles = across * gf_units(step->out_height, rows);
    const size_t splits = gf_first_splits(tiles, first.runs, task->processors);
    /* Of a tile. */
    const size_t filled = step->out_width < columns ? step->out_width : columns;
    const size_t down = gf_units(step->out_height < rows ? step->out_height : rows, GF_FIRST_ROWS);
    const size_t all = gf_units(filled, (first.few ? 16 : 8) * first.shifts) * down;
    const size_t turns = gf_units(all, WARPS) * gf_units(first.runs, splits);
    GfFirstWork work;
    work.blocks = gf_units(tiles * splits, task->processors);
    work.products =
        turns * depth * first.steps * first.octets * GF_FIRST_ROWS * (step->in == GF_U8 ? 2 : 3);
    work.turns = turns * (first.pairs || (depth == 1 && stride == 1) ? 1 : depth);
    work.numbers =
        ((rows - 1) * stride + first.height) * depth * (columns * stride + first.octets * OCTET);
    return work;
}
