/* A model of the rounding error, step by step. With u = 2^-24, each operation in f32 is off by a
 * random 0.58 u times its result (one standard deviation, at the worst mantissa), and errors of
 * different operations are independent. A sum of n products whose partial sums grow evenly to R is
 * then off by 0.58 u R sqrt(n / 3), the rounded weights add 0.58 u max|x| sqrt(sum w^2), and a
 * kernel passes an error that came in on as sqrt(sum w^2). Six standard deviations must fit into
 * what the rule allows.
 *
 * Kernels of integers times a power of two on integer samples are exact while the sums stay below
 * 2^24, which covers the classic edge filters. Backends sum kernels of more than 49 taps row by
 * row, so that n is width + height there as for separable kernels, and those of a layer in chunks.
 *
 * Such bounds say nothing about a network: they grow from layer to layer by the sums of the
 * absolute weights, while what happens does not. Networks sum in f32, which takes those that ship
 * with the program up to 5.1e-4 of a step of 8 bits from exact: enough for 8 bits and floats. For
 * 16 bits they sum in f64. */
#include "filters/precision.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0.58 * 0x1p-24;
static const double deviations = 6.0;

#define MOST_BENT_ERROR 2e-7 /* of the rule's 1e-6 for floats */
#define MOST_AMOUNT     3.0  /* times that what a blur takes away is added to floats */

enum { MOST_FLOAT_TERMS = 64 };

/* Numbers between steps that f32 holds with all their bits, whatever they are multiplied by. */
static const double most_between = 1e30;

/* What is known about the samples between two steps. */
typedef struct Knowledge {
    double largest; /* bound on |sample| */
    double error;   /* standard deviation of (sample in f32 - exact sample) */
    bool integer;   /* samples are integers */
    bool is_signed; /* samples may be negative */
    bool lossy; /* a derivative or a difference was taken of rounded samples: small values, large
                   relative error */
    bool jumps; /* rounded samples decided between two values that lie apart */
    bool wide;  /* f32 is not enough, whatever the error */
} Knowledge;

typedef struct Sums {
    double absolute; /* largest sum of |tap| of the bank */
    double one_sign; /* largest sum of |tap| over the positive or the negative taps */
    double length;   /* largest square root of the sum of tap^2 */
    double total;    /* smallest |sum of taps| relative to its sum of |tap|; of a sum also of all */
    size_t taps;     /* most that are not 0 */
} Sums;

/* Tap i of kernel f, all its channels. */
static double tap_at(const GfLinear *linear, size_t f, size_t i)
{
    if (linear->weights)
        return linear->weights[f * gf_linear_taps(linear) + i];
    return gf_linear_tap(linear, f, i / linear->width, i % linear->width);
}

static Sums sum_taps(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    Sums sums = {0.0, 0.0, 0.0, 1.0, 0};
    double all = 0.0, all_absolute = 0.0;
    for (size_t f = 0; f < linear->filters; f++) {
        double absolute = 0.0, total = 0.0, squares = 0.0;
        size_t taps = 0;
        for (size_t i = 0; i < gf_linear_taps(linear); i++) {
            double tap = tap_at(linear, f, i);
            absolute += fabs(tap);
            total += tap;
            squares += tap * tap;
            taps += tap != 0.0;
        }
        sums.taps = gf_max(sums.taps, taps);
        sums.length = fmax(sums.length, sqrt(squares));
        sums.one_sign = fmax(sums.one_sign, (absolute + fabs(total)) / 2.0);
        sums.absolute = fmax(sums.absolute, absolute);
        if (absolute > 0.0)
            sums.total = fmin(sums.total, fabs(total) / absolute);
        all += total;
        all_absolute += absolute;
    }
    if (step->combine.op == GF_COMBINE_SUM && all_absolute > 0.0)
        sums.total = fmin(sums.total, fabs(all) / all_absolute);
    return sums;
}

/* The fewest binary places after the point that hold every number; more than 8 count as 100. */
static int binary_places(const double *numbers, size_t count)
{
    double unit_place = 1.0;
    int places = 0;
    for (size_t i = 0; i < count; i++)
        while (places < 100 && numbers[i] * unit_place != nearbyint(numbers[i] * unit_place)) {
            places = places < 8 ? places + 1 : 100;
            unit_place = ldexp(1.0, places);
        }
    return places;
}

/* The same for all products of taps that a backend may form: of the whole kernel, or of its
 * factors. */
static int step_places(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    int places = 0, taps = 0;
    if (linear->columns)
        places = binary_places(linear->columns, linear->filters * linear->height) +
                 binary_places(linear->rows, linear->filters * linear->width);
    if (linear->weights)
        taps = binary_places(linear->weights, linear->filters * gf_linear_taps(linear));
    return places > taps ? places : taps;
}

static void follow_combine(const GfStep *step, double limit, Knowledge *known)
{
    double n = (double)step->linear.filters;
    switch (step->combine.op) {
    case GF_COMBINE_NONE:
    case GF_COMBINE_MAX:
    case GF_COMBINE_MIN:
        return;
    case GF_COMBINE_L2:
        known->error = hypot(known->error, 2.0 * unit * fmin(known->largest, limit));
        known->largest *= sqrt(n);
        break;
    case GF_COMBINE_L1:
    case GF_COMBINE_SUM:
        known->error *= sqrt(n);
        known->largest *= n;
        break;
    case GF_COMBINE_UNSHARP:
        known->jumps |= step->combine.threshold > 0.0 && known->error > 0.0;
        known->lossy |= step->combine.amount > MOST_AMOUNT && known->error > 0.0;
        known->error *= 1.0 + 2.0 * step->combine.amount;
        known->largest *= 1.0 + 2.0 * step->combine.amount;
        break;
    }
    known->integer = false;
}

/* Terms of the longest sum that a backend makes of the step's taps. */
static double sum_terms(const GfLinear *linear)
{
    const size_t taps = gf_linear_taps(linear), chunk = gf_layer_chunk(taps);
    if (taps <= GF_FLAT_TAPS)
        return (double)taps;
    if (linear->depth > 0)
        return (double)chunk + (double)taps / (double)chunk;
    return (double)(linear->width + linear->height);
}

static double largest_bias(const GfStep *step)
{
    double largest = 0.0;
    for (size_t i = 0; step->bias && i < step->out_channels; i++)
        largest = fmax(largest, fabs(step->bias[i]));
    return largest;
}

/* Of samples that are alike so little is left that the errors of their sum count. */
static bool leaves_little(const Sums *sums)
{
    return sums->total < (sums->taps > 9 ? 0.15 : sums->taps > 5 ? 0.1 : 0.05);
}

/* Responses beyond `limit` need not be exact: they are saturated. Nor is a layer's response a
 * picture whose small values count by themselves: it is never lossy. */
static void follow_filter(const GfStep *step, double limit, Knowledge *known)
{
    const GfLinear *linear = &step->linear;
    Sums sums = sum_taps(step);
    double reach = sums.absolute * known->largest, terms = sum_terms(linear);
    double bias = largest_bias(step);
    int places = step_places(step);
    bool plain = linear->scale == 1.0 && linear->offset == 0.0 && bias == 0.0;
    bool exact = known->integer && ldexp(reach, places) < 0x1p24;
    double error = known->error * sums.length;
    if (!exact) {
        double partial = known->is_signed ? sums.absolute : sums.one_sign;
        error = hypot(error, unit * partial * known->largest * sqrt(terms / 3.0));
        error = hypot(error, 2.0 * unit * known->largest * sums.length);
    }
    bool derivative = leaves_little(&sums) || linear->offset != 0.0;
    known->lossy |= linear->depth == 0 && !exact && (derivative || terms > MOST_FLOAT_TERMS);
    known->largest = reach * fabs(linear->scale) + fabs(linear->offset) + bias;
    known->error = error * fabs(linear->scale);
    if (!plain || !exact)
        known->error = hypot(known->error, 2.0 * unit * fmin(known->largest, limit));
    known->integer = exact && places == 0 && plain;
    known->is_signed |=
        sums.one_sign < sums.absolute || linear->offset < 0.0 || linear->scale < 0.0 || bias > 0.0;
    follow_combine(step, limit, known);
}

/* A maximum passes one sample on; a mean is a sum like a kernel's; a length passes errors on as
 * they came, and squares are summed in f64. */
static void follow_pool(const GfStep *step, double limit, Knowledge *known)
{
    double taps = (double)step->taps_x * (double)step->taps_y, bias = largest_bias(step);
    if (step->pool.op == GF_POOL_AVERAGE)
        known->error = hypot(known->error, unit * known->largest * sqrt(taps / 3.0));
    if (step->pool.op == GF_POOL_L2)
        known->largest *= sqrt(taps);
    if (step->pool.op != GF_POOL_MAX || bias > 0.0) {
        known->largest += bias;
        known->error = hypot(known->error, 2.0 * unit * fmin(known->largest, limit));
        known->integer = false;
    }
    known->is_signed |= bias > 0.0;
}

static double largest_gain(const GfLight *light, double (*gain)(const GfCurve *))
{
    return fmax(gain(&light->curves[0]), fmax(gain(&light->curves[1]), gain(&light->curves[2])));
}

static bool is_integer(double number)
{
    return number == floor(number);
}

/* Some samples become a number that f32 may not hold, not larger than that. */
static void follow_fraction(double largest, Knowledge *known)
{
    known->error = hypot(known->error, unit * largest);
    known->integer = false;
}

static double clamp(double value, const GfPointwise *post)
{
    return value < post->a ? post->a : value > post->b ? post->b : value;
}

/* What stands outside the picture is a sample, too. */
static void follow_border(const GfStep *step, Knowledge *known)
{
    known->largest = fmax(known->largest, fabs(step->border_value));
    known->is_signed |= step->border_value < 0.0;
    if (step->border == GF_BORDER_CONSTANT && !is_integer(step->border_value))
        follow_fraction(fabs(step->border_value), known);
}

static void follow_post(const GfPointwise *post, const GfLight *light, double limit,
                        Knowledge *known)
{
    switch (post->op) {
    case GF_POINTWISE_ABS:
    case GF_POINTWISE_RELU:
        return;
    case GF_POINTWISE_AFFINE:
        known->lossy |= post->b != 0.0 && known->error > 0.0;
        known->error *= fabs(post->a);
        known->largest = fabs(post->a) * known->largest + fabs(post->b);
        break;
    case GF_POINTWISE_SIGMOID: /* of slope 1/4 at most */
        known->error = hypot(known->error, unit * (known->largest + fabs(post->b))) / 4.0;
        known->largest = 1.0;
        break;
    case GF_POINTWISE_TANH:
        known->largest = 1.0;
        break;
    case GF_POINTWISE_DECODE:
        known->lossy |= known->error > 0.0;
        if (known->error > 0.0)
            known->error *= largest_gain(light, gf_curve_gain);
        break;
    case GF_POINTWISE_ENCODE:
        known->lossy = true;
        if (known->error > 0.0)
            known->error *= largest_gain(light, gf_curve_gain_back);
        break;
    case GF_POINTWISE_LEAKY: /* of slope 1 or a */
        known->error *= fmax(1.0, fabs(post->a));
        known->largest *= fmax(1.0, fabs(post->a));
        known->integer = false;
        return;
    case GF_POINTWISE_CLAMP:
        known->lossy |= known->error > MOST_BENT_ERROR * fmax(fabs(post->a), fabs(post->b));
        known->largest =
            fmax(fabs(clamp(-known->largest, post)), fabs(clamp(known->largest, post)));
        known->is_signed |= post->b < 0.0;
        if (!is_integer(post->a) || !is_integer(post->b))
            follow_fraction(known->largest, known);
        return;
    }
    /* Where it bends, a result of about 1 keeps the whole error of a sum that was much larger. */
    if (post->op != GF_POINTWISE_AFFINE)
        known->lossy |= known->error > MOST_BENT_ERROR;
    known->error = hypot(known->error, 2.0 * unit * fmin(known->largest, limit));
    known->integer = false;
    known->is_signed = true;
}

static void follow_sum(const GfStep *step, const Knowledge *skipped, double limit, Knowledge *known)
{
    known->largest += step->skip_gain * skipped->largest;
    known->error = hypot(known->error, step->skip_gain * skipped->error);
    known->error = hypot(known->error, 2.0 * unit * fmin(known->largest, limit));
    known->is_signed |= skipped->is_signed;
    known->integer = false;
}

static bool has_negative_tap(const GfLinear *linear)
{
    for (size_t f = 0; f < linear->filters; f++)
        for (size_t i = 0; i < gf_linear_taps(linear); i++)
            if (tap_at(linear, f, i) < 0.0)
                return true;
    return false;
}

/* Pictures without opacity are not, whatever the pipeline would do with one. */
static bool is_premultiplied(const GfPipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->count; i++)
        if (pipeline->steps[i].kind == GF_STEP_PREMULTIPLY)
            return true;
    return false;
}

/* *responses: what is known of a pipeline's. */
static GfStatus follow_pipeline(const GfPipeline *pipeline, Knowledge *responses)
{
    const GfStep *first = &pipeline->steps[0], *last = &pipeline->steps[pipeline->count - 1];
    bool premultiplied = is_premultiplied(pipeline);
    Knowledge known = {.largest = gf_sample_max(first->in),
                       .integer = !gf_sample_is_float(first->in) && !premultiplied,
                       .is_signed = gf_sample_is_float(first->in)};
    Knowledge *read; /* what the steps read */
    GF_TRY(gf_allocate(pipeline->count, sizeof *read, &read));
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        read[i] = known;
        bool saturates = i + 1 == pipeline->count && !gf_sample_is_float(last->out);
        double limit = saturates ? gf_sample_max(last->out) / fabs(last->gain) : INFINITY;
        follow_border(step, &known);
        if (step->kind == GF_STEP_FILTER) {
            /* Dividing by a small opacity that is itself a difference amplifies without bound. */
            known.wide |= premultiplied && (has_negative_tap(&step->linear) || step->combine.op ||
                                            step->border_value < 0.0);
            /* The square of a float may be beyond f32 in either direction. */
            known.wide |= step->combine.op == GF_COMBINE_L2 && gf_sample_is_float(first->in);
            follow_filter(step, limit, &known);
        } else if (step->kind == GF_STEP_POOL) {
            follow_pool(step, limit, &known);
        } else if (step->kind == GF_STEP_ADD) {
            follow_sum(step, &read[step->skip], limit, &known);
        } else if (step->kind != GF_STEP_UPSAMPLE) {
            known.error = hypot(known.error, 3.0 * unit * fmin(known.largest, limit));
        }
        for (size_t j = 0; j < step->posts; j++)
            follow_post(&step->post[j], step->light, limit, &known);
        known.wide |= known.largest > most_between ||
                      (known.largest > 0.0 && 1.0 / known.largest > most_between);
    }
    free(read);
    *responses = known;
    return GF_OK;
}

GfStatus gf_pipeline_needs_wide(const GfPipeline *pipeline, bool *wide)
{
    Knowledge known;
    const GfStep *first = &pipeline->steps[0], *last = &pipeline->steps[pipeline->count - 1];
    *wide = first->in == GF_F64 || last->out == GF_F64;
    if (*wide)
        return GF_OK;
    if (pipeline->network) {
        *wide = last->out == GF_U16 || is_premultiplied(pipeline);
        return GF_OK;
    }
    GF_TRY(follow_pipeline(pipeline, &known));
    *wide = known.wide || known.jumps || (gf_sample_is_float(last->out) && known.lossy);
    if (*wide || gf_sample_is_float(last->out))
        return GF_OK;
    double allowed = last->out == GF_U8 ? 1e-3 : 0.05;
    /* Floats are taken as they are, so they may be as large as the integers that they become. */
    double scale = gf_sample_is_float(first->in) ? gf_sample_max(last->out) : 1.0;
    *wide = deviations * known.error * scale * fabs(last->gain) > allowed;
    return GF_OK;
}

/* Of functions whose results are small where much went in the model says too much. */
static bool bends(const GfPipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->count; i++)
        for (size_t j = 0; j < pipeline->steps[i].posts; j++) {
            GfPointwiseOp op = pipeline->steps[i].post[j].op;
            if (op == GF_POINTWISE_SIGMOID || op == GF_POINTWISE_TANH ||
                op == GF_POINTWISE_DECODE || op == GF_POINTWISE_ENCODE)
                return true;
        }
    return false;
}

GfStatus gf_pipeline_noise(const GfPipeline *pipeline, double *noise)
{
    Knowledge known;
    *noise = 0.0;
    if (!pipeline->wide || pipeline->network || bends(pipeline) ||
        gf_sample_is_float(pipeline->steps[0].in))
        return GF_OK;
    GF_TRY(follow_pipeline(pipeline, &known));
    *noise = deviations * 0x1p-29 * known.error;
    return GF_OK;
}
