/* Banks of small integers, times a factor, on bytes: boxes, derivatives, sharpening. Sums have 16
 * bits and are exact. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

typedef struct GfIntegers GfIntegers;

/* Is step i, a dense bank on interleaved samples, faster so? */
bool gf_integers_pay(const GfPipeline *pipeline, size_t i);

/* As those of cpu/step.h. */
GfStatus gf_integers_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows,
                            GfIntegers **integers);

size_t gf_integers_scratch(const GfIntegers *integers);

void gf_integers_run(const GfIntegers *integers, const GfStepInput *input, ptrdiff_t y0,
                     ptrdiff_t y1, const GfStepOutput *to, void *scratch);

void gf_integers_free(GfIntegers *integers);
