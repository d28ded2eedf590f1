/* Whether sums in f32 keep the exactness rule of filters/backend.h. */
#pragma once

#include "filters/plan.h"

/* True when the pipeline's steps must sum in f64: a bound on the rounding error of f32 sums is
 * above what the rule allows for the output's sample type. */
bool gf_pipeline_needs_wide(const GfPipeline *pipeline);

/* How far at most rounding takes responses apart that are the same by arithmetic, when
 * pipeline->wide is set: what is stretched by less shows nothing else. 0 where nothing is rounded,
 * or where the model does not say: of networks, and of floats, whose size it does not know. */
double gf_pipeline_noise(const GfPipeline *pipeline);
