/* Large kernels, by Fourier transforms along the rows. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

typedef struct GfFourier GfFourier;

/* Multiply-adds of a picture, of those that the pipeline counts, that step i does not take when it
 * is done so; 0 where it cannot be, takes more, or would be less exact than sums in f64. */
double gf_fourier_saves(const GfPipeline *pipeline, size_t i);

/* As those of cpu/step.h. */
GfStatus gf_fourier_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows,
                           GfFourier **fourier);

size_t gf_fourier_scratch(const GfFourier *fourier);

size_t gf_fourier_parts(const GfFourier *fourier);

size_t gf_fourier_least_rows(const GfFourier *fourier);

void gf_fourier_run(const GfFourier *fourier, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                    size_t part, void *to, size_t stride, void *scratch);

void gf_fourier_free(GfFourier *fourier);
