/* Banks on samples of 8 bits in planes of digits: which are exact enough, and their second matrix.
 * Small integers times a unit take one plane, and are exact; other weights take three. */
#include <limits.h>
#include <math.h>

#include "gpu/tensor_blocks.h"
#include "gpu/tensor_ways.h"
#include "gpu/tensor_weights.h"

enum { LEAST_ROWS_BY_CHANNEL = 9 };

/* Of what the rule of filters/backend.h allows samples of 16 bits beyond a half. */
static const double allowed_u16 = 2e-2;

/* What three planes' sums are rounded by at most, in units: they are joined in f32, near 2^32. */
static const double joined = 1024.0;

/* How far off a sample may be, in steps of the output, where three planes stand for the weights. */
static double reach(const GfStep *step, const GfTaps *taps)
{
    const double sum =
        gf_weights_rounding(taps->numbers, gf_taps_count(taps), taps->unit) * UCHAR_MAX +
        joined * taps->unit;
    return fabs(step->linear.scale * step->gain) * sum;
}

GfStatus gf_tensor_planes_support(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const bool simple = gf_tensor_finishes(step) && !gf_sample_is_float(step->out);
    const double allowed = step->out == GF_U8 ? GF_TENSOR_ALLOWED_U8 : allowed_u16;
    const size_t planes = gf_taps_planes(linear);
    if (planes > 1 && !simple)
        return gf_fail(GF_EUNSUPPORTED, "tensor: taps that are no small integers times a unit only "
                                        "of one kernel, to 8 or 16 bits, and nothing after it");
    for (size_t f = 0; f < linear->filters; f++) {
        GfTaps taps;
        gf_taps_of(linear, f, &taps);
        if (planes > 1 && reach(step, &taps) > allowed)
            return gf_fail(GF_EUNSUPPORTED, "tensor: taps that 23 bits hold well enough");
        if (!gf_weights_sums_fit(taps.numbers, gf_taps_count(&taps), taps.unit, planes,
                                 GF_TENSOR_MOST_SUM))
            return gf_fail(GF_EUNSUPPORTED, "tensor: sums of bytes times digits below 2^22");
    }
    return GF_OK;
}

void gf_tensor_planes_plan(const GfStep *step, GfTensor *tensor)
{
    const GfLinear *linear = &step->linear;
    tensor->planes = gf_taps_planes(linear);
    tensor->height =
        gf_block_rows(linear->height, tensor->by_channel ? LEAST_ROWS_BY_CHANNEL : GF_BLOCK_ROWS);
    const size_t words = gf_tensor_words(tensor) / tensor->filters / tensor->planes;
    for (size_t f = 0; f < linear->filters; f++) {
        GfTaps taps;
        gf_taps_of(linear, f, &taps);
        tensor->unit[f] = taps.unit;
        for (size_t p = 0; p < tensor->planes; p++)
            gf_block_fill(step, &taps, tensor->planes, p, words,
                          tensor->words + (f * tensor->planes + p) * words);
    }
}
