/* Method `tensor` on the host: what it supports, and the integers that it multiplies by (GfTensor,
 * gpu/tensor_shape.h). Pure, so that it is the same with and without CUDA. */
#pragma once

#include "gpu/launch.h"

/* GF_OK when integers can stand for the kernels of a bank on samples of 8 or 16 bits, or
 * GF_EUNSUPPORTED with why not. */
GfStatus gf_tensor_supports_kernels(const GfStep *step);

/* Of a step that is supported. */
void gf_tensor_plan(const GfStep *step, GfTensor *tensor);

/* The same for a card where banks roll: gpu/tensor_rolling.c. False: this one does not, or its
 * picture is too small for that to pay (which with `any_size` does not count). */
bool gf_tensor_rolling_plan(const GfStep *step, bool any_size, GfTensorRolling *rolling);

/* Planes of the second matrix of a step on samples of 16 bits whose rows stay in registers; 0: it
 * is none. */
size_t gf_tensor_levels(const GfStep *step);

/* Is a step that gf_tensor_supports_kernels() takes computed in the way of larger kernels? */
bool gf_tensor_is_large(const GfStep *step);

/* Is what it makes of such a step's one kernel within the rule of filters/backend.h even where sums
 * in f32 are not? */
bool gf_tensor_is_exact(const GfStep *step);

/* The same as the first two for that way: gpu/tensor_large.c. The words of the second matrix are
 * the caller's to free(): for each group, row and plane two a lane. GF_EMEMORY. */
GfStatus gf_tensor_large_supports(const GfStep *step);
GfStatus gf_tensor_large_plan(const GfStep *step, GfTensorLarge *large, uint32_t **words);
size_t gf_tensor_large_words(const GfTensorLarge *large);

/* What gf_tensor_is_exact() says of that way. */
bool gf_tensor_large_is_exact(const GfStep *step);

/* What a launch of a layer takes of tensor cores whose samples stand in lines and whose maps are
 * many (gpu/tensor_flat.cu): lines, one after the other; and cycles of the busiest. */
typedef struct GfFlatWork {
    size_t lines, cycles;
} GfFlatWork;

GfFlatWork gf_flat_work(const GfTask *task);

/* The same of few maps (gpu/tensor_few.cu): cycles of the busiest for products, and for what they
 * wait for in shared memory; its blocks, one after the other; and do they share tiles? */
typedef struct GfFewWork {
    size_t products, brought, blocks;
    bool shared;
} GfFewWork;

GfFewWork gf_few_work(const GfTask *task);

/* The same of few channels (gpu/tensor_first.cu): blocks of the busiest; of a block numbers that it
 * brings, and of each of its warps products and turns, which wait for their taps. */
typedef struct GfFirstWork {
    size_t blocks, numbers, products, turns;
} GfFirstWork;

GfFirstWork gf_first_work(const GfTask *task);

/* Makes in device memory what `tensor` multiplies a layer by, and the line of one that is to be
 * `flat` (gf_tensor_is_flat()), unless it is `direct`, too; what was made is the caller's to close,
 * also after an error. `layer` is all zeros before. */
GfStatus gf_tensor_layer_open(const GfStep *step, bool flat, bool direct, GfTensorLayer *layer);
void gf_tensor_layer_close(const GfTensorLayer *layer);
