/* What rides on a step that works plane by plane. */
#pragma once

#include "cpu/rows.h"

/* Takes from the sums of outputs [x0, x0 + n) of row y of map c, numbers of `sample` bytes, what its bias has for
 * taps outside the picture (GfStep.outside, which is there). Their scale is 1. */
void gf_finish_edges(const GfStep *step, const GfRowFunctions *functions, size_t c, void *row,
                     size_t sample, size_t x0, size_t n, ptrdiff_t y);

/* From the sums of output channel c, `n` of them, to the samples that are stored: scale, offset, bias,
 * the functions of one sample, gain and middle. */
void gf_finish_row(const GfStep *step, const GfRowFunctions *functions, size_t c, void *row,
                   size_t n);
