/* The ways of gf_tensor_plan(), between which gpu/tensor_plan.c decides. Steps are taken as they
 * are computed (gpu/tensor_blocks.h), plans are the caller's. */
#pragma once

#include "gpu/launch.h"
#include "gpu/tensor_blocks.h"

/* How far off samples of 8 bits may be, in steps of the output: of what the rule of
 * filters/backend.h allows beyond a half. */
#define GF_TENSOR_ALLOWED_U8 8e-4

/* Bytes times planes of digits: gpu/tensor_planes.c, for steps on 8 bits that gf_block_fits().
 * GF_OK, or GF_EUNSUPPORTED with why not. */
GfStatus gf_tensor_planes_support(const GfStep *step);

/* Fills in planes, height, units and words, which are zeros before; the rest of the plan stands. */
void gf_tensor_planes_plan(const GfStep *step, GfTensor *tensor);

/* How weights become planes on 16 bits (gpu/tensor_levels.c): all levels of their digits times
 * bytes but for the lowest of several, lower bytes times last digits. */
typedef struct GfLevels {
    size_t digits, planes, lowest;
} GfLevels;

/* In as few planes as are exact enough. False: none are, or the step is another; its kernel has no
 * more than GF_BLOCK_TAPS taps. */
bool gf_tensor_find_levels(const GfStep *step, GfLevels *levels, GfTaps *taps);

/* Their products with rows in registers. How many planes the second matrix has; 0: the step does
 * not go so. */
size_t gf_tensor_levels_count(const GfStep *step);
void gf_tensor_levels_plan(const GfStep *step, GfTensor *tensor);

/* A product of a column and a row as such: gpu/tensor_factors.c. Is a step to go so? Then all of
 * the plan is made there. */
bool gf_tensor_uses_factors(const GfStep *step);
void gf_tensor_factors_plan(const GfStep *step, GfTensor *tensor);

/* gf_tensor_rolling_plan() on samples of 16 bits: gpu/tensor_words.c. */
bool gf_tensor_words_plan(const GfStep *step, bool any_size, GfTensorRolling *rolling);
