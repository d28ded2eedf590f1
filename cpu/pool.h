/* Pools: each channel's windows become their maximum, mean or length. */
#pragma once

#include "cpu/rows.h"
#include "cpu/slab.h"

typedef struct GfPooling {
    const GfStep *step;
    const GfRowFunctions *functions;
    void *ones; /* as many as taps in a row or column: sums are weighted sums */
} GfPooling;

/* What one thread needs: rows for the columns' results (GfView), sources for the taps of a column
 * or row, a row, and a number for each column of a tile. */
typedef struct GfPoolingMemory {
    void *columns;
    const void **sources;
    void *row;
    double *counts; /* taps of each column that count */
    bool bare;      /* some are 0 */
} GfPoolingMemory;

/* Whether the pool's sums are made in f64, whatever the pipeline: so they neither overflow nor lose
 * anything, however many samples a window has. */
bool gf_pooling_is_wide(const GfStep *step);

/* What a pool meets outside the picture. */
double gf_pooling_outside(const GfStep *step);

/* On failure too it is to be freed. */
GfStatus gf_pooling_create(GfPooling *pooling, const GfStep *step, const GfRowFunctions *functions,
                           size_t real);

/* Counts, for the columns of a tile. */
void gf_pooling_tile(const GfPooling *pooling, const GfTile *tile, GfPoolingMemory *memory);

/* Makes memory->row of what slab and tile show for `rows` output rows from y on. */
void gf_pooling_run(const GfPooling *pooling, const GfSlab *slab, const GfTile *tile,
                    const GfView *view, ptrdiff_t y, size_t rows, const GfPoolingMemory *memory);

/* Frees what a pooling, or a cleared one, holds. */
void gf_pooling_free(GfPooling *pooling);
