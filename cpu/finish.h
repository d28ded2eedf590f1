/* What rides on a step that works plane by plane. */
#pragma once

#include "cpu/rows.h"

/* From the sums of output channel c, `n` of them, to the samples that are stored: scale, offset, bias,
 * the functions of one sample, gain and middle. */
void gf_finish_row(const GfStep *step, const GfRowFunctions *functions, size_t c, void *row,
                   size_t n);
