/* What to compute: a filter is a list of stages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

/* Every channel of the picture goes through a bank of `filters` correlation kernels of
 * height x width taps; response = scale * sum(weight * sample) + offset.
 *
 * Weights are kept as doubles, so that a decimal which a user typed reaches the float64 reference
 * unrounded. A kernel known to be a product is given by its factors instead of its taps. */
typedef struct GfLinear {
    size_t filters, width, height;
    size_t anchor_x, anchor_y; /* the tap that lies on the output pixel */
    double scale, offset;
    double *weights; /* filters x height x width, or NULL when given by factors; owned */
    double *columns; /* filters x height: tap (y, x) = columns[y] * rows[x]; owned */
    double *rows;    /* filters x width; owned */
} GfLinear;

/* The responses r of a bank become one. */
typedef enum GfCombineOp {
    GF_COMBINE_NONE, /* a bank of one */
    GF_COMBINE_L2,   /* sqrt(sum r^2) */
    GF_COMBINE_L1,   /* sum |r| */
    GF_COMBINE_MAX,
    GF_COMBINE_MIN,
    GF_COMBINE_SUM,
    GF_COMBINE_UNSHARP /* r0 + amount * (r0 - r1) where |r0 - r1| >= threshold, else r0 */
} GfCombineOp;

typedef struct GfCombine {
    GfCombineOp op;
    double amount, threshold; /* threshold on a scale of 0 to 255 */
} GfCombine;

/* A function of one sample. */
typedef enum GfPointwiseOp {
    GF_POINTWISE_ABS,
    GF_POINTWISE_AFFINE /* a * x + b */
} GfPointwiseOp;

typedef struct GfPointwise {
    GfPointwiseOp op;
    double a, b;
} GfPointwise;

typedef enum GfStageKind { GF_STAGE_LINEAR, GF_STAGE_COMBINE, GF_STAGE_POINTWISE } GfStageKind;

typedef struct GfStage {
    GfStageKind kind;
    union {
        GfLinear linear;
        GfCombine combine;
        GfPointwise pointwise;
    };
} GfStage;

enum { GF_FILTER_MAX_STAGES = 32, GF_KERNEL_MAX_SIDE = 4095 };

/* An owned list of stages. */
typedef struct GfFilter {
    char *text; /* as the user typed it */
    char *name; /* for file names: the filters' names joined by "-", "custom" for typed kernels */
    GfStage stages[GF_FILTER_MAX_STAGES];
    size_t count;
} GfFilter;

/* Appends a linear stage with weights, or with factors, allocated and zeroed, anchored at
 * (width / 2, height / 2), scale 1, offset 0. Errors: GF_EUSAGE when the chain or the kernel is too
 * large, GF_EMEMORY. */
GfStatus gf_filter_add_kernel(GfFilter *filter, size_t filters, size_t width, size_t height,
                              GfLinear **linear);
GfStatus gf_filter_add_factors(GfFilter *filter, size_t filters, size_t width, size_t height,
                               GfLinear **linear);

/* Appends a combine or pointwise stage. */
GfStatus gf_filter_add_combine(GfFilter *filter, GfCombine combine);
GfStatus gf_filter_add_pointwise(GfFilter *filter, GfPointwise pointwise);

/* GF_EUSAGE when a tap, scale or offset is not a number that an f32 can hold. */
GfStatus gf_filter_check(const GfFilter *filter);

/* NULL is allowed. */
void gf_filter_free(GfFilter *filter);

/* Tap (y, x) of kernel f. */
static inline double gf_linear_tap(const GfLinear *linear, size_t f, size_t y, size_t x)
{
    if (linear->weights)
        return linear->weights[(f * linear->height + y) * linear->width + x];
    return linear->columns[f * linear->height + y] * linear->rows[f * linear->width + x];
}
