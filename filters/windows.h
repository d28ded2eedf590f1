/* Where the windows of a step lie on its picture, and how far the rows reach that a pipeline
 * holds. */
#pragma once

#include "filters/plan.h"

/* Most pixels of a stride, a dilation and a padding: no sum of a few of their products
 * overflows. */
enum { GF_MOST_PIXELS = 1 << 30 };

/* Lays the windows of a filter's or pool's step over in_width x in_height pixels: sets out_width,
 * out_height and all that GfStep says of taps, strides, dilations, origins, counts and the border.
 * Errors: GF_EFILTER where a window does not fit, or a number is out of range. */
GfStatus gf_lay_windows(GfStep *step, const GfPlanOptions *options);

/* Whether some windows hold rows of the picture's other end. */
bool gf_step_wraps(const GfStep *step);

/* Rows of what step `first` reads, from the first that the next output row needs to the last that
 * there is, at most. */
size_t gf_pipeline_lag(const GfPipeline *pipeline, size_t first);

/* Rows of input by which output lags behind, and by which input must be kept, at most. */
size_t gf_pipeline_span(const GfPipeline *pipeline);

/* Output rows that a band of so many rows of input gives at most, with those before it that had to
 * wait for it. */
size_t gf_pipeline_most_rows(const GfPipeline *pipeline, size_t band);
