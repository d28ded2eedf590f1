/* What the fast path does to one row. The functions are compiled once for each instruction set; a
 * row is an array of f32, or of f64 in a wide pipeline. */
#pragma once

#include "filters/plan.h"

typedef struct GfRowFunctions {
    /* row[i] = samples[i] */
    void (*load)(void *row, const void *samples, GfSample sample, size_t n);
    /* row[i] = value */
    void (*fill)(void *row, double value, size_t n);
    /* row[i] = sum over k of taps[k] * sources[k][i], added up in the order of k; added to row[i]
     * as one number when `add`. */
    void (*sum)(void *row, const void *const *sources, const void *taps, size_t count, size_t n,
                bool add);
    /* row[i] = a * row[i] + b */
    void (*affine)(void *row, double a, double b, size_t n);
    void (*absolute)(void *row, size_t n);
    /* rows[0] = combination of rows[0 .. count): threshold already in the samples' units */
    void (*combine)(void *const *rows, size_t count, const GfCombine *combine, size_t n);
    /* Pixels of `channels` samples, the last of them opacity, as GfStep says. */
    void (*premultiply)(void *row, size_t channels, double white, size_t pixels);
    void (*unpremultiply)(void *row, size_t channels, double white, double alpha_gain,
                          size_t pixels);
    /* to[i * stride] = factor * from[i * stride] */
    void (*copy_channel)(void *to, const void *from, double factor, size_t stride, size_t pixels);
    /* samples[i] = row[i], rounded half to even and saturated where the sample is an integer */
    void (*store)(void *samples, GfSample sample, const void *row, size_t n);
} GfRowFunctions;

typedef struct GfRowSet {
    const char *name;            /* of the instruction set */
    GfRowFunctions functions[2]; /* for f32 and, [1], f64 */
} GfRowSet;

/* The best set that this processor can run. */
const GfRowSet *gf_row_set(void);
