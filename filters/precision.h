/* Whether sums in f32 keep the exactness rule of filters/backend.h. */
#pragma once

#include "filters/plan.h"

/* Sets *wide: the pipeline's steps must sum in f64, as a bound on the rounding error of f32 sums
 * is above what the rule allows for the output's sample type. Errors: GF_EMEMORY, as below. */
GfStatus gf_pipeline_needs_wide(const GfPipeline *pipeline, bool *wide);

/* Sets *noise: how far at most rounding in f64 takes responses apart that are the same by
 * arithmetic, where sums are wide because they cancel: what is stretched by less shows nothing
 * else. 0 where they are not wide (pipeline->wide), or the model does not say: of networks, of
 * functions that bend, and of floats, whose size it does not know. */
GfStatus gf_pipeline_noise(const GfPipeline *pipeline, double *noise);
