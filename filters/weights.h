/* Learned weights: arrays of numbers in files. */
#pragma once

#include "images/npy_header.h"

enum { GF_WEIGHTS_MAX = 1 << 28 }; /* most numbers of one array */

typedef struct GfWeights {
    size_t rank, shape[GF_NPY_RANK_MAX];
    size_t count;   /* product of the shape */
    double *values; /* the last index runs fastest; owned */
} GfWeights;

/* Reads an .npy array of integers or floats (1, 2, 4 bytes; 2, 4, 8 bytes), any byte order, C or
 * Fortran order, from a file or a pipe. Every number fits into f32 and the file ends with the last
 * one. Errors: GF_EUSAGE with the reason, without the path; GF_EMEMORY. `weights` is then empty. */
GfStatus gf_weights_read(const char *path, GfWeights *weights);

/* Leaves empty weights. */
void gf_weights_free(GfWeights *weights);

/* "(16, 3, 5, 5)", cut where it does not fit. Returns `text`. */
const char *gf_weights_shape(const GfWeights *weights, char *text, size_t size);
