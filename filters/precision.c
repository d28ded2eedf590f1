/* A forward error bound, step by step. With u = 2^-24, a sum of n products in f32 is off by at most
 * about u (n + 1) / 2 sum|w| max|x| (the partial sums grow evenly), the weights' own rounding adds
 * u sum|w| max|x|. Kernels of integers times a power of two on integer samples are exact while the
 * sums stay below 2^24, which covers the classic edge filters. Backends sum kernels of more than 49
 * taps row by row, so that n is width + height there as for separable kernels. */
#include "filters/precision.h"

#include <math.h>

static const double unit = 0x1p-24;

enum { FLAT_TAPS = 49, MOST_FLOAT_TERMS = 64 };

/* What is known about the samples between two steps. */
typedef struct Knowledge {
    double largest; /* bound on |sample| */
    double error;   /* bound on |sample in f32 - exact sample| */
    bool integer;   /* samples are integers */
    bool lossy; /* a derivative was taken of rounded samples: small values, large relative error */
} Knowledge;

typedef struct Sums {
    double absolute; /* largest sum of |tap| of the bank */
    double total;    /* smallest |sum of taps| relative to its sum of |tap| */
    bool dyadic;     /* every tap is an integer times 2^-8 */
} Sums;

static Sums sum_taps(const GfLinear *linear)
{
    Sums sums = {0.0, 1.0, true};
    for (size_t f = 0; f < linear->filters; f++) {
        double absolute = 0.0, total = 0.0;
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++) {
                double tap = gf_linear_tap(linear, f, y, x);
                absolute += fabs(tap);
                total += tap;
                sums.dyadic &= tap * 256.0 == nearbyint(tap * 256.0);
            }
        sums.absolute = fmax(sums.absolute, absolute);
        if (absolute > 0.0)
            sums.total = fmin(sums.total, fabs(total) / absolute);
    }
    return sums;
}

/* Scales that are dyadic factors of a separable kernel must be so one by one. */
static bool factors_dyadic(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    bool dyadic = true;
    for (size_t i = 0; step->separable && i < linear->filters * linear->height; i++)
        dyadic &= linear->columns[i] * 16.0 == nearbyint(linear->columns[i] * 16.0);
    for (size_t i = 0; step->separable && i < linear->filters * linear->width; i++)
        dyadic &= linear->rows[i] * 16.0 == nearbyint(linear->rows[i] * 16.0);
    return dyadic;
}

static void follow_combine(const GfStep *step, Knowledge *known)
{
    double n = (double)step->linear.filters;
    switch (step->combine.op) {
    case GF_COMBINE_NONE:
    case GF_COMBINE_MAX:
    case GF_COMBINE_MIN:
        return;
    case GF_COMBINE_L2:
        known->error = known->error * sqrt(n) + 3.0 * unit * fmin(known->largest, 65535.0);
        known->largest *= sqrt(n);
        break;
    case GF_COMBINE_L1:
    case GF_COMBINE_SUM:
        known->error *= n;
        known->largest *= n;
        break;
    case GF_COMBINE_UNSHARP:
        known->error *= 1.0 + 2.0 * step->combine.amount;
        known->largest *= 1.0 + 2.0 * step->combine.amount;
        break;
    }
    known->integer = false;
}

static void follow_filter(const GfStep *step, Knowledge *known)
{
    const GfLinear *linear = &step->linear;
    Sums sums = sum_taps(linear);
    double reach = sums.absolute * known->largest;
    double taps = (double)linear->width * (double)linear->height;
    double terms = taps <= FLAT_TAPS ? taps : (double)(linear->width + linear->height);
    bool exact = known->integer && sums.dyadic && factors_dyadic(step) && reach * 256.0 < 0x1p24;
    double error = known->error * sums.absolute;
    if (!exact)
        error += unit * reach * ((terms + 1.0) / 2.0 + 1.0);
    bool derivative = sums.total < 0.05;
    known->lossy |= !exact && (derivative || terms > MOST_FLOAT_TERMS);
    known->largest = reach * fabs(linear->scale) + fabs(linear->offset);
    known->error = error * fabs(linear->scale);
    /* The scale, the offset and the store between steps round what is not saturated anyway. */
    if (linear->scale != 1.0 || linear->offset != 0.0 || !exact)
        known->error += 2.0 * unit * fmin(known->largest, 65535.0);
    known->integer = exact && linear->scale == 1.0 && linear->offset == 0.0 && sums.dyadic &&
                     nearbyint(sums.absolute) == sums.absolute;
    follow_combine(step, known);
}

static bool has_negative_tap(const GfLinear *linear)
{
    for (size_t f = 0; f < linear->filters; f++)
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++)
                if (gf_linear_tap(linear, f, y, x) < 0.0)
                    return true;
    return false;
}

bool gf_pipeline_needs_wide(const GfPipeline *pipeline)
{
    const GfStep *first = &pipeline->steps[0], *last = &pipeline->steps[pipeline->count - 1];
    bool premultiplied = first->kind == GF_STEP_PREMULTIPLY;
    Knowledge known = {.largest = gf_sample_max(first->in),
                       .integer = !gf_sample_is_float(first->in) && !premultiplied};
    if (first->in == GF_F64 || last->out == GF_F64)
        return true;
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        known.largest = fmax(known.largest, fabs(step->border_value));
        if (step->kind == GF_STEP_FILTER) {
            /* Dividing by a small opacity that is itself a difference amplifies without bound. */
            if (premultiplied && (has_negative_tap(&step->linear) || step->combine.op))
                return true;
            follow_filter(step, &known);
        } else {
            known.error += 3.0 * unit * fmin(known.largest, 65535.0);
        }
        for (size_t j = 0; j < step->posts; j++)
            if (step->post[j].op == GF_POINTWISE_AFFINE)
                known.error *= fabs(step->post[j].a);
    }
    if (gf_sample_is_float(last->out))
        return known.lossy;
    double allowed = last->out == GF_U8 ? 1e-3 : 0.05;
    /* Floats have no limit: an input beyond white (1) is taken as 8-bit white at most. */
    double scale = gf_sample_is_float(first->in) ? 255.0 : 1.0;
    return known.error * scale * fabs(last->gain) > allowed;
}
