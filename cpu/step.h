/* One step of a plan on a run of rows, by one thread. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

/* What a step needs again and again, made once a session. */
typedef struct GfStepRunner GfStepRunner;

/* Prepares step i. Errors: GF_EMEMORY. */
GfStatus gf_step_runner_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows,
                               GfStepRunner **runner);

/* How it is computed, for reports. */
const char *gf_step_runner_method(const GfStepRunner *runner);

/* Bytes of scratch memory that one thread needs for it. */
size_t gf_step_runner_scratch(const GfStepRunner *runner);

/* Whether it can also compute some columns of its output alone, from no more of its input than they
 * meet (gf_step_columns()). */
bool gf_step_runner_narrows(const GfStepRunner *runner);

/* Parts of `width` columns of an output row, all but where it narrows, that are computed apart: 1
 * but of transforms, running sums and windows that are cut into strips, where fewer rows than
 * gf_step_runner_least_rows() are dear. */
size_t gf_step_runner_parts(const GfStepRunner *runner, size_t width);
size_t gf_step_runner_least_rows(const GfStepRunner *runner);

/* Computes one part of the step's output rows [y0, y1) into samples of step->out. The input has the
 * rows that gf_step_rows() names; `skipped`, of an addition alone, has [y0, y1) of what is added.
 * `scratch` is aligned to GF_ALIGNMENT. */
void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input,
                        const GfStepInput *skipped, ptrdiff_t y0, ptrdiff_t y1, size_t part,
                        const GfStepOutput *to, void *scratch);

/* NULL is allowed. */
void gf_step_runner_free(GfStepRunner *runner);
