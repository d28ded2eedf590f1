/* Steps for tests of method `tensor`. */
#pragma once

#include "filters/plan.h"

/* A bank of one kernel, anchored in its middle, on a square picture of 8 bits. The weights stay the
 * caller's. */
static inline GfStep bank_step(size_t side, size_t channels, size_t width, size_t height,
                               double *weights)
{
    GfStep step = {.kind = GF_STEP_FILTER,
                   .in_width = side,
                   .in_height = side,
                   .out_width = side,
                   .out_height = side,
                   .channels = channels,
                   .out_channels = channels,
                   .post_channels = channels,
                   .in = GF_U8,
                   .out = GF_U8,
                   .stride_x = 1,
                   .stride_y = 1,
                   .dilation_x = 1,
                   .dilation_y = 1,
                   .gain = 1.0};
    step.linear = (GfLinear){.filters = 1,
                             .width = width,
                             .height = height,
                             .groups = 1,
                             .anchor_x = width / 2,
                             .anchor_y = height / 2,
                             .scale = 1.0,
                             .weights = weights};
    step.origin_x = -(ptrdiff_t)step.linear.anchor_x;
    step.origin_y = -(ptrdiff_t)step.linear.anchor_y;
    return step;
}

/* Makes it one whose windows do not lie on each sample of its picture, in one of three ways. */
enum { BANK_SPOILS = 3 };

static inline void spoil_bank_step(GfStep *step, size_t how)
{
    if (how == 0)
        step->stride_x = 2;
    else if (how == 1)
        step->origin_x = 0;
    else
        step->out_width -= 2;
}
