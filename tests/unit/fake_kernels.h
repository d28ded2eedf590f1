/* Kernels for the device that is none (fake_cuda.h), all of ours. They compute no pixels. Each row
 * begins with a mark, which says what it is; a kernel makes the marks of its output rows of those
 * of the rows that they need, as the step says (gf_step_rows()). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "filters/plan.h"

/* Mark of row y of a picture. */
uint64_t fake_picture_mark(size_t y);

/* Marks of a step's output row y, from those of its input rows and of the rows that it adds, by
 * number. */
uint64_t fake_step_mark(const GfStep *step, size_t y, const uint64_t *in, const uint64_t *skipped);
