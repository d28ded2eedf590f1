/* Steps whose samples stay interleaved: dense banks and the steps of opacity. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

typedef struct GfPixels GfPixels;

/* As gf_step_runner_create() (cpu/step.h). */
GfStatus gf_pixels_create(const GfStep *step, bool wide, const GfRowSet *rows, GfPixels **pixels);

/* As gf_step_runner_parts() and gf_step_runner_least_rows(). */
size_t gf_pixels_parts(const GfPixels *pixels, size_t width);
size_t gf_pixels_least_rows(const GfPixels *pixels);

size_t gf_pixels_scratch(const GfPixels *pixels);

/* As gf_step_runner_run(). */
void gf_pixels_run(const GfPixels *pixels, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                   size_t part, const GfStepOutput *to, void *scratch);

void gf_pixels_free(GfPixels *pixels);
