/* The input that a block of output samples meets, plane by plane, in the type of the sums. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"
#include "cpu/view.h"

/* One direction. Tap k of output i is at input position i * stride + origin + k * dilation: entry
 * i + shift of slot s, where every slot takes one residue modulo the stride. */
typedef struct GfSlabAxis {
    size_t taps, stride, dilation;
    ptrdiff_t origin;
    size_t slots;   /* tap k lies in slot k % slots */
    bool own;       /* a slot for each tap, of what that tap alone meets: shifts are 0 */
    size_t reach;   /* largest shift */
    size_t outputs; /* at once */
} GfSlabAxis;

typedef struct GfSlab {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real; /* bytes of a sum */
    GfSlabAxis across, down;
    size_t depth;    /* planes at once */
    GfBorder border; /* as the step's, but pools know only the picture */
    double outside;  /* what stands where the border has no sample */
    size_t pitch;    /* samples from one row of a slot to the next */
    size_t block;    /* bytes of a slot: rows that lie one behind the other */
    size_t bytes;    /* of all planes; more may be read, not used, after them: GF_ALIGNMENT */
    size_t count;    /* samples of a run of down.outputs rows, a multiple of GF_ALIGNMENT bytes */
    size_t column_count;      /* the same for runs of columns' results */
    size_t *y, *x, *column_x; /* for each tap, as GfView says */
} GfSlab;

/* Output columns [x0, x0 + width), and which input columns those meet. */
typedef struct GfTile {
    size_t x0, width;
    size_t count;           /* columns of a slot */
    const ptrdiff_t *index; /* sample of each column of each slot, -1 outside, pitch a slot */
    const size_t *left;     /* for each slot: columns before those that lie on the picture, and */
    const size_t *inside;   /* columns that do */
} GfTile;

/* Lays out a slab for `depth` neighbouring channels at once. On failure too it is to be freed.
 * Errors: GF_EMEMORY, also where its size does not fit a size_t. */
GfStatus gf_slab_create(GfSlab *slab, const GfStep *step, const GfRowFunctions *functions,
                        size_t real, size_t depth, double outside);

/* Bytes that gf_slab_tile() needs. */
size_t gf_slab_tile_bytes(const GfSlab *slab);

/* The tile from x0 on, its lists in `memory`. */
GfTile gf_slab_tile(const GfSlab *slab, size_t x0, void *memory);

/* Loads what `rows` output rows from y on meet of the channels from `channel` on. */
GfView gf_slab_load(const GfSlab *slab, const GfTile *tile, const GfStepInput *input, ptrdiff_t y,
                    size_t rows, size_t channel, void *memory);

/* Frees what a slab, or a cleared one, holds. */
void gf_slab_free(GfSlab *slab);
