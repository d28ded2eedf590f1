/* The output is made in blocks: a tile of columns, as many rows as the slab takes, and the maps
 * that see the same input channels (a layer's group; else a channel by itself), of which a panel is
 * summed, finished and stored while it is in the cache. */
#include "cpu/planes.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/bank.h"
#include "cpu/finish.h"
#include "cpu/layer.h"
#include "cpu/pool.h"
#include "cpu/slab.h"

struct GfPlanes {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real; /* bytes of a sum */
    GfSlab slab;
    GfLayer layer; /* the one of the three that the step is */
    GfPooling pooling;
    GfRowBank bank;
    size_t groups, maps; /* output channels are groups x maps, input channels groups x slab.depth */
    size_t panel;        /* maps at once */
    size_t rows;         /* rows of sums that a panel takes */
    size_t sources;      /* taps at once */
    size_t scratch;
};

/* ---- preparation ---- */

static GfStatus create_method(GfPlanes *planes)
{
    const GfStep *step = planes->step;
    if (step->kind == GF_STEP_POOL) {
        planes->sources = gf_max(step->taps_x, step->taps_y);
        planes->rows = 1;
        return gf_pooling_create(&planes->pooling, step, planes->functions, planes->real);
    }
    if (!gf_step_is_layer(step)) {
        GF_TRY(gf_row_bank_create(&planes->bank, step, planes->functions, planes->real));
        planes->sources = planes->bank.longest;
        planes->rows = step->linear.filters;
        return GF_OK;
    }
    GF_TRY(gf_layer_create(&planes->layer, step, planes->functions, planes->real));
    planes->sources = planes->layer.chunk;
    planes->maps = planes->layer.maps;
    planes->panel = gf_min(planes->maps, GF_LAYER_PANEL);
    planes->rows = planes->panel * gf_layer_levels(&planes->layer);
    return GF_OK;
}

/* Parts of a thread's memory, each aligned. */
typedef struct Scratch {
    unsigned char *slab;
    unsigned char *tile;
    unsigned char *columns;
    unsigned char *counts;
    unsigned char *sources;
    unsigned char *row_list;
    unsigned char *rows;
} Scratch;

/* Lays out a thread's memory from `memory` on, which may be NULL; returns its bytes, or 0 when they
 * are too many. */
static size_t lay_scratch(const GfPlanes *planes, unsigned char *memory, Scratch *scratch)
{
    const GfSlab *slab = &planes->slab;
    unsigned char **part[] = {&scratch->slab,   &scratch->tile,    &scratch->columns,
                              &scratch->counts, &scratch->sources, &scratch->row_list,
                              &scratch->rows};
    size_t counts[] = {1,
                       1,
                       slab->across.slots * slab->column_count,
                       slab->across.outputs,
                       planes->sources,
                       planes->rows,
                       planes->rows};
    size_t sizes[] = {slab->bytes,
                      gf_slab_tile_bytes(slab),
                      planes->real,
                      sizeof(double),
                      sizeof(void *),
                      sizeof(void *),
                      gf_align(slab->count * planes->real)};
    size_t at = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        size_t bytes;
        *part[i] = memory ? memory + at : NULL;
        /* What is read in vain after a part lies in the next, or in the last GF_ALIGNMENT bytes. */
        if (!gf_mul(counts[i], sizes[i], &bytes) || !gf_add(bytes, 2 * GF_ALIGNMENT, &bytes) ||
            !gf_add(at, bytes / GF_ALIGNMENT * GF_ALIGNMENT, &at))
            return 0;
    }
    return at;
}

GfStatus gf_planes_create(const GfStep *step, bool wide, const GfRowSet *rows, GfPlanes **out)
{
    GfPlanes *planes;
    Scratch scratch;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *planes, &planes));
    bool pool = step->kind == GF_STEP_POOL;
    wide = wide || (pool && gf_pooling_is_wide(step));
    planes->step = step;
    planes->functions = &rows->functions[wide];
    planes->real = wide ? sizeof(double) : sizeof(float);
    planes->groups = gf_step_is_layer(step) ? step->linear.groups : step->channels;
    planes->maps = planes->panel = 1;
    GF_GO(gf_slab_create(&planes->slab, step, planes->functions, planes->real,
                         pool ? 1 : gf_linear_depth(&step->linear),
                         pool ? gf_pooling_outside(step) : step->border_value));
    GF_GO(create_method(planes));
    planes->scratch = lay_scratch(planes, NULL, &scratch);
    if (planes->scratch == 0)
        GF_GO(gf_fail(GF_EMEMORY, "a layer's rows are too large"));
    *out = planes;
    planes = NULL;
done:
    gf_planes_free(planes);
    return status;
}

size_t gf_planes_scratch(const GfPlanes *planes)
{
    return planes->scratch;
}

void gf_planes_free(GfPlanes *planes)
{
    if (!planes)
        return;
    gf_slab_free(&planes->slab);
    gf_layer_free(&planes->layer);
    gf_pooling_free(&planes->pooling);
    gf_row_bank_free(&planes->bank);
    free(planes);
}

/* ---- one thread's work ---- */

/* A run of gf_planes_run(), and one block of it. */
typedef struct Block {
    const GfPlanes *planes;
    unsigned char *slab, *lists; /* lists: a tile's */
    unsigned char *to;           /* output row y0 */
    size_t stride;
    ptrdiff_t y0;
    GfTile tile;
    GfView view;
    size_t group;
    ptrdiff_t y; /* first output row */
    size_t rows; /* output rows */
    GfLayerMemory layer;
    GfPoolingMemory pooling;
    GfRowBankMemory bank;
    void **results; /* rows of a panel */
} Block;

static Block make_block(const GfPlanes *planes, void *memory)
{
    Scratch scratch;
    lay_scratch(planes, memory, &scratch);
    Block block = {.planes = planes, .slab = scratch.slab, .lists = scratch.tile};
    const void **sources = (const void **)(void *)scratch.sources;
    size_t row = gf_align(planes->slab.count * planes->real);
    block.results = (void **)(void *)scratch.row_list;
    for (size_t i = 0; i < planes->rows; i++)
        block.results[i] = scratch.rows + i * row;
    block.layer = (GfLayerMemory){sources, block.results, block.results + planes->panel};
    block.pooling = (GfPoolingMemory){scratch.columns, sources, scratch.rows,
                                      (double *)(void *)scratch.counts, false};
    block.bank = (GfRowBankMemory){scratch.columns, NULL, sources, block.results};
    return block;
}

/* Finishes and stores the block's rows of output channel c. */
static void emit(const Block *block, size_t c, void *row)
{
    const GfPlanes *planes = block->planes;
    const GfStep *step = planes->step;
    bool planar = step->out_layout == GF_PLANAR;
    size_t pitch = planes->slab.pitch, apart = planar ? 1 : step->out_channels;
    size_t first = planar ? c * step->out_width + block->tile.x0 : block->tile.x0 * apart + c;
    unsigned char *to = block->to + (size_t)(block->y - block->y0) * block->stride +
                        first * gf_sample_size(step->out);
    gf_finish_row(step, planes->functions, c, row, (block->rows - 1) * pitch + block->tile.width);
    for (size_t r = 0; r < block->rows; r++, to += block->stride)
        planes->functions->store(to, step->out, apart,
                                 (unsigned char *)row + r * pitch * planes->real,
                                 block->tile.width);
}

/* The opacity of a bank's step: the input's, as it is. */
static void keep_alpha(const Block *block)
{
    const GfView *view = &block->view;
    const GfLinear *linear = &block->planes->step->linear;
    memcpy(block->results[0], view->base + view->y[linear->anchor_y] + view->x[linear->anchor_x],
           view->count * block->planes->real);
}

/* Sums of maps [first, first + count) of the block's group, in block->results. */
static void run_panel(Block *block, size_t first, size_t count)
{
    const GfPlanes *planes = block->planes;
    const GfStep *step = planes->step;
    if (step->kind == GF_STEP_POOL)
        gf_pooling_run(&planes->pooling, &planes->slab, &block->tile, &block->view, block->y,
                       block->rows, &block->pooling);
    else if (gf_step_is_layer(step))
        gf_layer_run(&planes->layer, &block->view, block->group, first, count, &block->layer);
    else if (step->keep_alpha && block->group == step->channels - 1)
        keep_alpha(block);
    else
        gf_row_bank_run(&planes->bank, &block->view, &block->bank);
}

static void run_block(Block *block, const GfStepInput *input)
{
    const GfPlanes *planes = block->planes;
    size_t depth = planes->slab.depth;
    block->view = gf_slab_load(&planes->slab, &block->tile, input, block->y, block->rows,
                               block->group * depth, block->slab);
    for (size_t first = 0; first < planes->maps; first += planes->panel) {
        size_t count = gf_min(planes->panel, planes->maps - first);
        run_panel(block, first, count);
        for (size_t i = 0; i < count; i++)
            emit(block, block->group * planes->maps + first + i, block->results[i]);
    }
}

void gf_planes_run(const GfPlanes *planes, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                   void *to, size_t stride, void *memory)
{
    const GfSlab *slab = &planes->slab;
    Block block = make_block(planes, memory);
    block.to = to;
    block.stride = stride;
    block.y0 = y0;
    for (size_t x0 = 0; x0 < planes->step->out_width; x0 += slab->across.outputs) {
        block.tile = gf_slab_tile(slab, x0, block.lists);
        if (planes->step->kind == GF_STEP_POOL)
            gf_pooling_tile(&planes->pooling, &block.tile, &block.pooling);
        for (block.group = 0; block.group < planes->groups; block.group++)
            for (block.y = y0; block.y < y1; block.y += (ptrdiff_t)slab->down.outputs) {
                block.rows = gf_min(slab->down.outputs, (size_t)(y1 - block.y));
                run_block(&block, input);
            }
    }
}
