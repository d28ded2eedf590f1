/* What is measured: a case in numbers, before anything is allocated for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "images/image.h"

/* The kernels of a case. */
typedef enum Taps {
    TAPS_RANDOM,
    TAPS_GAUSS,  /* an outer product, handed to methods with its factors */
    TAPS_SOBEL,  /* both derivatives, combined to the gradient's length */
    TAPS_SOBEL_Y /* the derivative across rows; negative values saturate */
} Taps;

typedef struct Spec {
    const char *label; /* put before the numbers in the case's name; may be NULL */
    GfSample in, out;
    /* A layer: planar, mixing channels, padded with zeros. Else a bank on an interleaved
     * picture whose border is replicated. */
    bool layer;
    Taps taps;
    size_t batch, channels, width, height;
    size_t kernel, filters; /* side, or rows; output channels of a layer */
    size_t columns;         /* of a layer's kernel that is no square; 0: it is one */
    /* Of a layer; a stride of 0 is 1. Padding is above and below; left and right there is as much
     * more as half the kernel's columns are more than half its rows. */
    size_t padding, stride;
    size_t groups, dilation; /* of a layer; 0 is 1 */
    bool wide;               /* sums in f64, as of pipelines that need them */
    bool pooled;             /* the layer goes on: ReLU, 2 x 2 max pool */
    size_t second; /* maps of a second layer with its ReLU and pool, of the same kernel; 0: none */
    /* Who takes part, separated by commas: NAME, NAME/TILING or "NAME/" followed by an asterisk,
     * which is the method's choice and every tiling. NULL: all methods as they choose. Peers always
     * take part. */
    const char *methods;
} Spec;

/* A suite's cases as they are made. */
typedef struct Specs {
    Spec *list; /* owned */
    size_t count, room;
    unsigned seed; /* of cases that are drawn by chance */
} Specs;

/* Appends a copy. Errors: GF_EMEMORY. */
GfStatus specs_add(Specs *specs, Spec spec);

/* Writes the name of a case, e.g. "f32 4096x4096 K=3 F=8", to `name` and returns it. */
const char *spec_name(const Spec *spec, char *name, size_t size);
