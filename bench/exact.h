/* The definition of a case (filters/plan.h, GfStep), sample by sample, in float64. */
#pragma once

#include "bench/case.h"

/* Sample (x, y) of output channel o of picture n behind pass `pass`, not rounded to integers.
 * `samples` is the input of the whole batch. */
double exact_sample(const Case *made, size_t pass, const void *samples, size_t n, size_t o,
                    size_t x, size_t y);
