/* How method `tensor` computes a step: which products tensor cores make, and of what. Pure, so that it
 * is the same with and without CUDA.
 *
 * A tensor core multiplies a matrix of bytes by one of signed bytes and adds up exactly. So weights
 * become integers, weight = unit * sum over p of 256^p * digit p, each digit a plane of its own: one
 * plane where the weights are small integers times a unit (those of all classic kernels), else
 * three, of 23 bits and a sign.
 *
 * 16 blocks of 8 neighbouring samples are the rows of the first matrix, and its columns the input
 * bytes that such a block needs; the second matrix has a column for each of the 8 samples, the
 * kernel shifted down by as many places. A lane of a warp holds whole words of both. Of an input
 * row a block needs `groups` times 16 bytes, which begin `first_word` words from its own first. */
#pragma once

#include "filters/plan.h"
#include "gpu/launch.h"

enum {
    GF_TENSOR_FILTERS = 2,
    GF_TENSOR_PLANES = 3,
    GF_TENSOR_SIDE = 15,  /* rows of a kernel */
    GF_TENSOR_GROUPS = 4, /* of 16 bytes */
    GF_TENSOR_LANES = 32,
    /* sums of digits times bytes that a float holds beside GF_TENSOR_START */
    GF_TENSOR_MOST_SUM = 1 << 22,
    /* Sums begin with it: as a float's bits it is 1.5 * 2^23, and the integers around it follow. */
    GF_TENSOR_START = 0x4B400000,
    GF_TENSOR_WORDS = GF_TENSOR_FILTERS * GF_TENSOR_PLANES * GF_TENSOR_SIDE * 2 * GF_TENSOR_LANES
};

typedef struct GfTensor {
    bool rows_only; /* a product of a column and a row: the row here, the column by multiply-adds */
    size_t filters, planes, groups;
    size_t height; /* rows of the kernel that are computed: 1, 3, 5, ..., the last may be zeros */
    int first_word;
    double unit[GF_TENSOR_FILTERS];
    /* The second matrix, for each filter, plane, row and group a word a lane. */
    uint32_t words[GF_TENSOR_WORDS];
} GfTensor;

/* GF_OK, or GF_EUNSUPPORTED with what the method cannot do. */
GfStatus gf_tensor_supports(const GfStep *step, bool wide);

/* Of a step that is supported. */
void gf_tensor_plan(const GfStep *step, GfTensor *tensor);

/* Does nothing follow on the sums but scale and offset? */
static inline bool gf_tensor_finishes(const GfStep *step)
{
    return step->linear.filters == 1 && step->combine.op == GF_COMBINE_NONE && step->posts == 0;
}

/* Words of the second matrix. */
static inline size_t gf_tensor_words(const GfTensor *tensor)
{
    size_t rows = tensor->rows_only ? 1 : tensor->height;
    return tensor->filters * tensor->planes * rows * tensor->groups * GF_TENSOR_LANES;
}

/* What is kept from launch to launch: the plan, and its words in device memory. */
typedef struct GfTensorState {
    GfTensor plan; /* host */
    uint32_t *words;
} GfTensorState;
