/* What a step's input is, and where its rows are. */
#pragma once

#include "filters/plan.h"

/* Row y is at samples + (y - first) % rows * stride and begins with column x0. Rows of a window are
 * those of gf_step_window(), which may be negative; else they are the picture's. */
typedef struct GfStepInput {
    const unsigned char *samples;
    size_t stride, rows;
    ptrdiff_t first;
    bool window;
    size_t x0; /* 0 but of a step that narrows (cpu/step.h) */
} GfStepInput;

/* Where columns [x0, x1) of a step's output are to go. */
typedef struct GfStepOutput {
    unsigned char *samples; /* of the first row's column x0 */
    size_t stride;          /* bytes from row to row */
    size_t x0, x1;          /* all columns, but of a step that narrows (cpu/step.h) */
} GfStepOutput;

/* A dense bank from interleaved samples to such? */
static inline bool gf_step_is_bank(const GfStep *step)
{
    return step->kind == GF_STEP_FILTER && !gf_step_is_layer(step) && gf_step_is_dense(step) &&
           step->in_layout == GF_INTERLEAVED && step->out_layout == GF_INTERLEAVED;
}

/* The row that stands at row y by the rule of `border`; NULL where its constant stands. */
static inline const unsigned char *gf_step_input_row(const GfStep *step, const GfStepInput *input,
                                                     GfBorder border, ptrdiff_t y)
{
    bool neighbours = input->window && border == GF_BORDER_WRAP;
    long long row = neighbours ? y : gf_border_index(y, (long long)step->in_height, border);
    if (row < 0 && !neighbours)
        return NULL;
    return input->samples + (size_t)(row - input->first) % input->rows * input->stride;
}
