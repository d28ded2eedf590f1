/* How layers of many maps of one channel are computed by groups of warps (gpu/tensor_gray.cu).
 * Plain C. */
#pragma once

#include "gpu/tensor_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GF_GRAY_TAPS = 8,      /* of a row of input that a product takes, one of them for the shift */
    GF_GRAY_SIDE = 7,      /* rows of a kernel */
    GF_GRAY_ROWS = 2,      /* of output, of a unit, */
    GF_GRAY_MAPS = 16,     /* and its maps: a run */
    GF_GRAY_COLUMNS = 128, /* of output, side by side in a tile */
    GF_GRAY_STEPS = 4      /* pairs of rows of a unit's input */
};

static inline size_t gf_gray_runs(const GfStep *step)
{
    return (step->linear.filters + GF_GRAY_MAPS - 1) / GF_GRAY_MAPS;
}

/* Vectors of 16 bytes that its taps become. */
static inline size_t gf_gray_vectors(const GfStep *step)
{
    return gf_gray_runs(step) * GF_GRAY_STEPS * 2 * 4 * GF_TENSOR_LANES;
}

/* Rows of a tile, of which there are `each` side by side, in all pictures, and `slots` at a time,
 * so that slots have as much to do as each other. A tile costs as much as some rows more. */
static inline size_t gf_gray_tile(size_t each, size_t rows, size_t slots)
{
    enum { LEAST = 16, MOST = 72, APART = 4, MORE = 6 };
    size_t best = LEAST, least = (size_t)-1;
    for (size_t tile = LEAST; tile <= MOST; tile += APART) {
        const size_t tiles = each * ((rows + tile - 1) / tile);
        const size_t cost = (tiles + slots - 1) / slots * (tile + MORE);
        best = cost <= least ? tile : best;
        least = cost <= least ? cost : least;
    }
    return best;
}

/* May a layer be computed that way, on cards that can? */
static inline bool gf_may_be_gray(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    return step->channels == 1 && linear->groups == 1 && step->dilation_x == 1 &&
           step->dilation_y == 1 && step->stride_x == 1 && step->stride_y == 1 &&
           linear->width < GF_GRAY_TAPS && linear->height == GF_GRAY_SIDE && step->in == GF_F32 &&
           step->out == GF_F32 && step->posts == 0 && !step->outside;
}

/* Is that faster than gpu/tensor_first.cu? Where rows are aligned, tiles full of pixels and maps,
 * most so where each run has blocks of its own, and a picture has enough of them
 * (bench/results/2026-12-01-h200-2.md). */
static inline bool gf_gray_pays(const GfStep *step)
{
    enum { PIXELS = 15 << 16, OF_RUNS = 98, OF_PAIRS = 90 }; /* percent */
    const size_t runs = gf_gray_runs(step);
    const size_t across = (step->out_width + GF_GRAY_COLUMNS - 1) / GF_GRAY_COLUMNS;
    return gf_may_be_gray(step) && step->out_layout == GF_PLANAR && step->out_width % 4 == 0 &&
           step->out_width * step->out_height >= PIXELS &&
           step->linear.filters * step->out_width * 100 >=
               runs * GF_GRAY_MAPS * across * GF_GRAY_COLUMNS * (runs % 2 ? OF_RUNS : OF_PAIRS);
}

#ifdef __cplusplus
}
#endif
