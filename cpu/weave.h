/* The steps of a network that are no sums of windows: additions of what an earlier step read, and
 * enlargements. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

typedef struct GfWeave GfWeave;

/* Prepares a GF_STEP_ADD or GF_STEP_UPSAMPLE. Errors: GF_EMEMORY. */
GfStatus gf_weave_create(const GfStep *step, bool wide, const GfRowSet *rows, GfWeave **weave);

/* Bytes of scratch memory that one thread needs. */
size_t gf_weave_scratch(const GfWeave *weave);

/* Computes output rows [y0, y1), `stride` bytes apart. `skipped` has the same rows of what an
 * addition adds; an enlargement does not look at it. */
void gf_weave_run(const GfWeave *weave, const GfStepInput *input, const GfStepInput *skipped,
                  ptrdiff_t y0, ptrdiff_t y1, void *to, size_t stride, void *scratch);

/* NULL is allowed. */
void gf_weave_free(GfWeave *weave);
