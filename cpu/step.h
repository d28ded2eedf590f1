/* One step of a plan on a run of rows, by one thread. */
#pragma once

#include "cpu/rows.h"
#include "filters/backend.h"

/* Rows of a step's input: row y is at samples + (y - first) % rows * stride. Rows of a window are
 * those of gf_step_window(), which may be negative; else they are the picture's. */
typedef struct GfStepInput {
    const unsigned char *samples;
    size_t stride, rows;
    ptrdiff_t first;
    bool window;
} GfStepInput;

/* What a step needs again and again, made once a session. */
typedef struct GfStepRunner GfStepRunner;

/* Prepares a step for sums in f32, or f64 when `wide`. */
GfStatus gf_step_runner_create(const GfStep *step, bool wide, const GfRowFunctions *functions,
                               GfStepRunner **runner);

/* Bytes of scratch memory that one thread needs for it. */
size_t gf_step_runner_scratch(const GfStepRunner *runner);

/* Computes the step's output rows [y0, y1) into samples of step->out, `stride` bytes apart. The
 * input has the rows that gf_step_rows() names. `scratch` is aligned to 64. */
void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input, ptrdiff_t y0,
                        ptrdiff_t y1, void *to, size_t stride, void *scratch);

/* NULL is allowed. */
void gf_step_runner_free(GfStepRunner *runner);
