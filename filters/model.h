/* What each convolution method moves and computes on a step, counted as its source counts it: loads
 * from global memory, whatever a cache then serves. Pure arithmetic; no pixel is touched, nothing
 * is measured. For --stats, and for tests that hold kernels to it by a profiler's counters.
 *
 * The sources: Hwu, Kirk, El Hajj, "Programming Massively Parallel Processors", 7.3 to 7.5, 16.3
 * and 16.4 (operations a byte, tiles, expansion); Chen et al., DAC 2017 (`special`, `general`). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "filters/plan.h"

/* How a method cuts its work. Samples of one channel that a block makes, but for `tiled`, whose
 * block is as large as what it loads: samples of the input. `maps`: channels of a layer's output
 * that a block makes of the samples it loaded. `implicit` makes width * height positions,
 * counted along the rows. */
typedef struct GfTile {
    size_t width, height, maps;
} GfTile;

/* Work on one picture. Numbers are counted as often as they are moved. */
typedef struct GfWork {
    double operations; /* a multiply-add is two; functions of single samples are not counted */
    double samples, weights; /* loaded from global memory */
    double scratch;          /* numbers written to a buffer in global memory and read again */
    double outputs;          /* samples stored */
    double loaded, stored;   /* all of these in bytes */
} GfWork;

/* Sides of the largest kernels that `separable` takes in tiles, and how many output samples are few
 * enough for it to do so. Strips of samples that lie apart take longer. */
enum { GF_SEPARABLE_TILED = 31, GF_SEPARABLE_FEW = 1 << 19 };

static inline size_t gf_separable_few(const GfStep *step, bool wide)
{
    bool apart = !wide && step->channels > 1 && gf_sample_size(step->in) > 1;
    return apart ? 3 * GF_SEPARABLE_FEW : GF_SEPARABLE_FEW;
}

/* The tile of a method's source, or the one that it takes for large pictures where the source
 * names none; 1 x 1 of 1 map for methods that have none. */
GfTile gf_model_tile(const char *method, const GfStep *step, bool wide);

/* Blocks of that size that a picture of one channel and one map is cut into. */
double gf_model_tiles(const char *method, const GfStep *step, const GfTile *tile);

/* The work of a step by that method, with sums in f64 when `wide`. False when there is no model of
 * the method, or the tile is too small for it; *work is then empty. */
bool gf_model_work(const char *method, const GfStep *step, bool wide, const GfTile *tile,
                   GfWork *work);

/* What no method can do without: the operations of the definition, or of two passes where
 * step->separable; every sample and weight loaded once, every result stored once. */
GfWork gf_model_least(const GfStep *step, bool wide);

/* Operations a byte loaded: the arithmetic intensity of the sources, who count no stores. */
double gf_work_intensity(const GfWork *work);

/* Rows of the unrolled matrix times its columns, divided by the samples of the input. */
double gf_model_expansion(const GfStep *step);

/* Least seconds for so much work on a device that does `flops` operations and moves `bandwidth`
 * bytes a second: the roofline. A limit of 0 is unknown, and limits nothing. */
double gf_model_floor(double operations, double bytes, double flops, double bandwidth);
