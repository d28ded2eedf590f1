/* One step of a plan on a run of rows, by one thread. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

/* What a step needs again and again, made once a session. */
typedef struct GfStepRunner GfStepRunner;

/* Prepares a step for sums in f32, or f64 when `wide`. Errors: GF_EMEMORY. */
GfStatus gf_step_runner_create(const GfStep *step, bool wide, const GfRowSet *rows,
                               GfStepRunner **runner);

/* Bytes of scratch memory that one thread needs for it. */
size_t gf_step_runner_scratch(const GfStepRunner *runner);

/* Computes the step's output rows [y0, y1) into samples of step->out, `stride` bytes apart. The
 * input has the rows that gf_step_rows() names; `skipped`, of an addition alone, has [y0, y1) of what
 * is added. `scratch` is aligned to GF_ALIGNMENT. */
void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input,
                        const GfStepInput *skipped, ptrdiff_t y0, ptrdiff_t y1, void *to,
                        size_t stride, void *scratch);

/* NULL is allowed. */
void gf_step_runner_free(GfStepRunner *runner);
