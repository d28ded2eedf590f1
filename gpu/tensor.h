/* Method `tensor` on the host: what it supports, and the integers that it multiplies by (GfTensor,
 * gpu/launch.h). Pure, so that it is the same with and without CUDA. */
#pragma once

#include "gpu/launch.h"

/* GF_OK, or GF_EUNSUPPORTED with what the method cannot do. */
GfStatus gf_tensor_supports(const GfStep *step, bool wide);

/* Of a step that is supported. */
void gf_tensor_plan(const GfStep *step, GfTensor *tensor);
