/* Whether sums in f32 keep the exactness rule of filters/backend.h. */
#pragma once

#include "filters/plan.h"

/* True when the pipeline's steps must sum in f64: a bound on the rounding error of f32 sums is
 * above what the rule allows for the output's sample type. */
bool gf_pipeline_needs_wide(const GfPipeline *pipeline);
