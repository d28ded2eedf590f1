/* A layer is a matrix product that is never laid out: the rows of the right matrix, one for each
 * tap of each channel, are runs of the slab. It is cut as such products are: a chunk of taps, whose
 * runs stay in the first cache, meets the maps of a panel in blocks of GF_MIX_MAPS, each of which
 * keeps its sums in registers while the chunk passes.
 *
 * The chunks also keep f32 exact: a sum of n terms that is made one after the other is off by some
 * 0.2 sqrt(n) roundings. Here CHUNK taps are summed, then GROUP chunks, then the groups. */
#include "cpu/layer.h"

#include <stdlib.h>

enum { CHUNK = 64, GROUP = 16 };
_Static_assert((int)CHUNK <= (int)GF_LAYER_CHUNK, "filters/precision.c counts on shorter chunks");

/* ---- preparation ---- */

/* Maps of the block that begins with map m of a group. */
static size_t block_maps(const GfLayer *layer, size_t m)
{
    return gf_min(GF_MIX_MAPS, layer->maps - m);
}

/* Where the weights of that block begin. */
static size_t block_weights(const GfLayer *layer, size_t group, size_t m)
{
    return (group * layer->maps + m) * layer->taps;
}

static void pack_block(GfLayer *layer, size_t group, size_t m)
{
    size_t maps = block_maps(layer, m), at = block_weights(layer, group, m);
    const double *from = layer->step->linear.weights + at;
    for (size_t k = 0; k < layer->taps; k++)
        for (size_t i = 0; i < maps; i++)
            gf_set_real(layer->weights, layer->real, at++, from[i * layer->taps + k]);
}

GfStatus gf_layer_create(GfLayer *layer, const GfStep *step, const GfRowFunctions *functions,
                         size_t real)
{
    const GfLinear *linear = &step->linear;
    size_t weights;
    *layer = (GfLayer){.step = step, .functions = functions, .real = real};
    layer->maps = linear->filters / linear->groups;
    layer->taps = gf_linear_taps(linear);
    layer->chunks = (layer->taps + CHUNK - 1) / CHUNK;
    layer->chunk = (layer->taps + layer->chunks - 1) / layer->chunks;
    layer->chunks = (layer->taps + layer->chunk - 1) / layer->chunk;
    if (!gf_mul(linear->filters, layer->taps, &weights))
        return gf_fail(GF_EMEMORY, "a layer of too many weights");
    GF_TRY(gf_allocate(weights, real, &layer->weights));
    for (size_t group = 0; group < linear->groups; group++)
        for (size_t m = 0; m < layer->maps; m += GF_MIX_MAPS)
            pack_block(layer, group, m);
    return GF_OK;
}

size_t gf_layer_levels(const GfLayer *layer)
{
    return layer->chunks > GROUP ? 2 : 1;
}

void gf_layer_free(GfLayer *layer)
{
    free(layer->weights);
}

/* ---- one thread's work ---- */

/* Where the samples under taps [first, first + count) are, in the order of the weights. */
static void find_sources(const GfLayer *layer, const GfView *view, size_t first, size_t count,
                         const void **sources)
{
    size_t width = layer->step->linear.width, height = layer->step->linear.height;
    size_t x = first % width, y = first / width % height, d = first / width / height;
    for (size_t i = 0; i < count; i++) {
        sources[i] = view->base + d * view->plane + view->y[y] + view->x[x];
        if (++x < width)
            continue;
        x = 0;
        if (++y < height)
            continue;
        y = 0;
        d++;
    }
}

/* Adds chunk `chunk` of all maps of the panel to their rows, or begins the rows with it. */
static void add_chunk(const GfLayer *layer, const GfView *view, size_t group, size_t first,
                      size_t count, size_t chunk, const void **sources, void *const *rows, bool add)
{
    const GfRowFunctions *functions = layer->functions;
    size_t begin = chunk * layer->chunk, taps = gf_min(layer->chunk, layer->taps - begin);
    find_sources(layer, view, begin, taps, sources);
    for (size_t i = 0; i < count; i += GF_MIX_MAPS) {
        size_t maps = block_maps(layer, first + i);
        size_t at = block_weights(layer, group, first + i) + begin * maps;
        const unsigned char *weights = (const unsigned char *)layer->weights + at * layer->real;
        if (maps == 1)
            functions->sum(rows[i], sources, weights, taps, view->count, add);
        else
            functions->mix(rows + i, maps, sources, weights, taps, view->count, add);
    }
}

void gf_layer_run(const GfLayer *layer, const GfView *view, size_t group, size_t first,
                  size_t count, const GfLayerMemory *memory)
{
    static const double one = 1.0;
    static const float one_f32 = 1.0F;
    const void *unit = layer->real == sizeof(double) ? (const void *)&one : &one_f32;
    bool levels = gf_layer_levels(layer) == 2;
    void *const *rows = levels ? memory->partial : memory->rows;
    for (size_t chunk = 0; chunk < layer->chunks; chunk++) {
        add_chunk(layer, view, group, first, count, chunk, memory->sources, rows,
                  chunk % GROUP != 0 || (!levels && chunk > 0));
        if (!levels || (chunk % GROUP != GROUP - 1 && chunk + 1 < layer->chunks))
            continue;
        for (size_t i = 0; i < count; i++)
            layer->functions->sum(memory->rows[i], (const void *const *)&rows[i], unit, 1,
                                  view->count, chunk >= GROUP);
    }
}
