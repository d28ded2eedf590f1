/* Learned weights: arrays of numbers. They come out of files by tensors.h. */
#pragma once

#include "images/npy_header.h"

enum {
    GF_WEIGHTS_MAX = 1 << 28, /* most numbers of one array */
    GF_TENSOR_RANK_MAX = GF_NPY_RANK_MAX
};

typedef struct GfWeights {
    size_t rank, shape[GF_TENSOR_RANK_MAX];
    size_t count;   /* product of the shape */
    double *values; /* the last index runs fastest; owned */
} GfWeights;

/* Leaves empty weights. */
void gf_weights_free(GfWeights *weights);

enum { GF_SHAPE_SHOWN = GF_TENSOR_RANK_MAX * 22 + 4 }; /* bytes that any shape fits into */

/* "(16, 3, 5, 5)", "(8,)", "()"; cut where it does not fit. Returns `text`. */
const char *gf_shape_text(size_t rank, const size_t *shape, char *text, size_t size);
