/* What rides on a step. */
#pragma once

#include "cpu/rows.h"

/* Plane by plane: from the sums of output channel c, `n` of them, to the samples that are stored:
 * scale, offset, bias, the functions of one sample, gain and middle. */
void gf_finish_row(const GfStep *step, const GfRowFunctions *functions, size_t c, void *row,
                   size_t n);

/* The same for interleaved pixels, of samples of `real` bytes. `saved`: memory for as many. */
void gf_finish_pixels(const GfStep *step, const GfRowFunctions *functions, size_t real,
                      size_t pixels, void *row, void *saved);
