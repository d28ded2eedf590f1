/* From stages to steps: which stages share a pass over the picture. A part of the plan. */
#pragma once

#include "filters/plan.h"

/* Fills pipeline->steps (allocated here) with the stages of the filter that are for `in`, what
 * depends on the geometry left out: a bank, its combination and functions of one sample behind it
 * are one step; a network's entry and exit become steps for this picture's channels. Errors:
 * GF_EFILTER, GF_EMEMORY. */
GfStatus gf_steps_create(GfPipeline *pipeline, const GfFilter *filter, const GfFormat *in,
                         const GfPlanOptions *options);

/* Opacity is multiplied in before the filter's first step and divided out after the last, and also
 * before functions of one sample that are not the same for colour times opacity, which ride on the
 * division: those with an offset, a kernel's own among them, and those that bend elsewhere than at
 * zero. */
void gf_steps_wrap_premultiplied(GfPipeline *pipeline);

/* Light becomes stored numbers after the last step. */
GfStatus gf_steps_add_encoding(GfPipeline *pipeline, double white, const GfLight *light);

/* Whether layers and pools stand only between a network's entry and its end, where opacity
 * waits. */
bool gf_filter_spares_alpha(const GfFilter *filter);
