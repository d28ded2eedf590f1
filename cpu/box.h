/* Kernels whose taps are all the same: of integers by sums that move, else by those of blocks.h. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

typedef struct GfBox GfBox;

/* Is step i, a dense bank on interleaved samples, faster so? */
bool gf_box_pays(const GfPipeline *pipeline, size_t i);

/* As those of cpu/step.h. */
GfStatus gf_box_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows, GfBox **box);

size_t gf_box_scratch(const GfBox *box);

size_t gf_box_parts(const GfBox *box);

size_t gf_box_least_rows(const GfBox *box);

void gf_box_run(const GfBox *box, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1, size_t part,
                void *to, size_t stride, void *scratch);

void gf_box_free(GfBox *box);
