/* A window's columns first, then the row of their results: a window of w x h costs w + h operations
 * a sample. What lies outside the picture is loaded as what does not change the result, -infinity
 * or zero; how many taps an average is divided by is the product of two counts. */
#include "cpu/pool.h"

#include <math.h>
#include <stdlib.h>

bool gf_pooling_is_wide(const GfStep *step)
{
    return step->pool.op != GF_POOL_MAX;
}

double gf_pooling_outside(const GfStep *step)
{
    return step->pool.op == GF_POOL_MAX ? -INFINITY : 0.0;
}

GfStatus gf_pooling_create(GfPooling *pooling, const GfStep *step, const GfRowFunctions *functions,
                           size_t real)
{
    size_t most = gf_max(step->taps_x, step->taps_y);
    *pooling = (GfPooling){.step = step, .functions = functions};
    GF_TRY(gf_allocate(most, real, &pooling->ones));
    functions->fill(pooling->ones, 1.0, most);
    return GF_OK;
}

void gf_pooling_free(GfPooling *pooling)
{
    free(pooling->ones);
}

/* How many of `taps` positions from `first` on, `apart` from each other, lie in [begin, end). */
static size_t count_taps(ptrdiff_t first, size_t apart, size_t taps, ptrdiff_t begin, ptrdiff_t end)
{
    if (first >= end)
        return 0;
    size_t before = first < begin ? ((size_t)(begin - first) + apart - 1) / apart : 0;
    size_t until = ((size_t)(end - first) + apart - 1) / apart;
    until = gf_min(until, taps);
    return until > before ? until - before : 0;
}

static void run_columns(const GfPooling *pooling, const GfView *view, const GfPoolingMemory *memory)
{
    size_t taps = pooling->step->taps_y;
    for (size_t s = 0; s < view->slots; s++) {
        void *to = (unsigned char *)memory->columns + s * view->column;
        for (size_t k = 0; k < taps; k++)
            memory->sources[k] = view->base + view->y[k] + s * view->slot;
        switch (pooling->step->pool.op) {
        case GF_POOL_MAX:
            pooling->functions->maximum(to, memory->sources, taps, view->column_count);
            break;
        case GF_POOL_AVERAGE:
            pooling->functions->sum(to, memory->sources, pooling->ones, taps, view->column_count,
                                    false);
            break;
        case GF_POOL_L2:
            pooling->functions->squares(to, memory->sources, taps, view->column_count);
            break;
        }
    }
}

static void run_row(const GfPooling *pooling, const GfView *view, const GfPoolingMemory *memory)
{
    size_t taps = pooling->step->taps_x;
    for (size_t k = 0; k < taps; k++)
        memory->sources[k] = (unsigned char *)memory->columns + view->column_x[k];
    if (pooling->step->pool.op == GF_POOL_MAX)
        pooling->functions->maximum(memory->row, memory->sources, taps, view->count);
    else
        pooling->functions->sum(memory->row, memory->sources, pooling->ones, taps, view->count,
                                false);
}

static size_t count_rows(const GfStep *step, ptrdiff_t y, ptrdiff_t begin, ptrdiff_t end)
{
    return count_taps(y * (ptrdiff_t)step->stride_y + step->origin_y, step->dilation_y,
                      step->taps_y, begin, end);
}

/* Windows that meet no sample of the picture have the maximum 0. */
static void fill_bare(const GfPooling *pooling, const GfSlab *slab, const GfTile *tile, ptrdiff_t y,
                      size_t rows, const GfPoolingMemory *memory)
{
    const GfStep *step = pooling->step;
    for (size_t r = 0; r < rows; r++) {
        unsigned char *row = (unsigned char *)memory->row + r * slab->pitch * slab->real;
        bool all = count_rows(step, y + (ptrdiff_t)r, 0, (ptrdiff_t)step->in_height) == 0;
        for (size_t i = 0; (all || memory->bare) && i < tile->width; i++)
            if (all || memory->counts[i] == 0.0)
                pooling->functions->fill(row + i * slab->real, 0.0, 1);
    }
}

static void divide(const GfPooling *pooling, const GfSlab *slab, const GfTile *tile, ptrdiff_t y,
                   size_t rows, const GfPoolingMemory *memory)
{
    const GfStep *step = pooling->step;
    for (size_t r = 0; r < rows; r++) {
        size_t down = count_rows(step, y + (ptrdiff_t)r, step->count_y0, step->count_y1);
        pooling->functions->divide((unsigned char *)memory->row + r * slab->pitch * slab->real,
                                   memory->counts, (double)down, tile->width);
    }
}

void gf_pooling_tile(const GfPooling *pooling, const GfTile *tile, GfPoolingMemory *memory)
{
    const GfStep *step = pooling->step;
    bool average = step->pool.op == GF_POOL_AVERAGE;
    ptrdiff_t begin = average ? step->count_x0 : 0;
    ptrdiff_t end = average ? step->count_x1 : (ptrdiff_t)step->in_width;
    memory->bare = false;
    for (size_t i = 0; i < tile->width; i++) {
        ptrdiff_t x = (ptrdiff_t)((tile->x0 + i) * step->stride_x) + step->origin_x;
        size_t taps = count_taps(x, step->dilation_x, step->taps_x, begin, end);
        memory->counts[i] = (double)taps;
        memory->bare |= taps == 0;
    }
}

void gf_pooling_run(const GfPooling *pooling, const GfSlab *slab, const GfTile *tile,
                    const GfView *view, ptrdiff_t y, size_t rows, const GfPoolingMemory *memory)
{
    run_columns(pooling, view, memory);
    run_row(pooling, view, memory);
    switch (pooling->step->pool.op) {
    case GF_POOL_MAX:
        fill_bare(pooling, slab, tile, y, rows, memory);
        return;
    case GF_POOL_AVERAGE:
        divide(pooling, slab, tile, y, rows, memory);
        return;
    case GF_POOL_L2:
        pooling->functions->root(memory->row, view->count);
        return;
    }
}
