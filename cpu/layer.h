/* Layers: sums over all channels of a group, for many maps at once. */
#pragma once

#include "cpu/rows.h"
#include "cpu/view.h"

enum { GF_LAYER_PANEL = 64 }; /* maps whose sums are made together at most */

typedef struct GfLayer {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;   /* bytes of a sum */
    size_t maps;   /* of a group */
    size_t taps;   /* of a map: depth x height x width */
    size_t chunk;  /* taps that are summed up by themselves at most */
    size_t chunks; /* of a map */
    void *weights; /* in blocks of GF_MIX_MAPS maps, the last of a group smaller: taps x maps */
} GfLayer;

/* What one thread needs: sources for layer->chunk taps, and rows for GF_LAYER_PANEL maps at most,
 * twice as many where gf_layer_levels() is 2. */
typedef struct GfLayerMemory {
    const void **sources;
    void **rows, **partial;
} GfLayerMemory;

/* Packs the weights of a layer, for sums of `real` bytes. On failure too it is to be freed. */
GfStatus gf_layer_create(GfLayer *layer, const GfStep *step, const GfRowFunctions *functions,
                         size_t real);

/* 2 where sums of chunks are themselves summed in two levels. */
size_t gf_layer_levels(const GfLayer *layer);

/* Makes memory->rows[i] the sum of map first + i of a group, for i < count; `first` is a multiple
 * of GF_MIX_MAPS. The view shows the group's channels as planes. */
void gf_layer_run(const GfLayer *layer, const GfView *view, size_t group, size_t first,
                  size_t count, const GfLayerMemory *memory);

/* Frees what a layer, or a cleared one, holds. */
void gf_layer_free(GfLayer *layer);
