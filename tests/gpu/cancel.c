#include "tests/gpu/cancel.h"

#include <math.h>
#include <stdlib.h>

#include "tests/gpu/report.h"

#define MOST_SIZE 16.0 /* of what is added, beside the result */

/* NULL of NULL; the caller frees it. */
static double *magnitudes(const double *numbers, size_t count)
{
    double *made = NULL;
    if (!numbers)
        return NULL;
    must(gf_allocate(count, sizeof *made, &made), "magnitudes");
    for (size_t i = 0; i < count; i++)
        made[i] = fabs(numbers[i]);
    return made;
}

/* The step makes sizes of sizes. Its weights and bias are the caller's to free. */
static void take_magnitudes(GfStep *step)
{
    GfLinear *linear = &step->linear;
    size_t posts = 0;
    if (step->kind == GF_STEP_FILTER)
        linear->weights = magnitudes(linear->weights, linear->filters * gf_linear_taps(linear));
    step->bias = magnitudes(step->bias, step->out_channels);
    linear->scale = fabs(linear->scale);
    linear->offset = fabs(linear->offset);
    step->border_value = fabs(step->border_value);
    step->skip_gain = fabs(step->skip_gain);
    for (size_t i = 0; i < step->posts; i++) {
        const GfPointwise *post = &step->post[i];
        if (post->op == GF_POINTWISE_AFFINE)
            step->post[posts++] = (GfPointwise){post->op, fabs(post->a), fabs(post->b)};
    }
    step->posts = posts;
}

static bool sums_wide(const Case *c)
{
    GfPlan *plan;
    must(gf_plan_create(c->filters, 1, &c->format, &c->options, &plan), c->what);
    const bool wide = plan->pipelines[0].wide;
    gf_plan_free(plan);
    return wide;
}

bool sums_cancel(const Case *c, const Block *in, const Block *exact)
{
    Block sizes;
    double size = 0.0, result = 0.0;
    if (!gf_sample_is_float(c->options.sample) || sums_wide(c))
        return false;
    GfPlan *plan = exact_plan(c);
    const GfPipeline *pipeline = &plan->pipelines[0];
    const GfFormat *format = &pipeline->out;
    for (size_t i = 0; i < pipeline->count; i++)
        take_magnitudes(&pipeline->steps[i]);
    must(run_plan(reference, plan, in, &sizes), c->what);
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = 0; i < gf_row_samples(format); i++) {
            double value = gf_sample_at(exact->rows + y * exact->stride, i, GF_F64);
            double added = gf_sample_at(sizes.rows + y * sizes.stride, i, GF_F64);
            result += value * value;
            size += value != 0.0 ? added * added : 0.0;
        }
    for (size_t i = 0; i < pipeline->count; i++) {
        if (pipeline->steps[i].kind == GF_STEP_FILTER)
            free(pipeline->steps[i].linear.weights);
        free((void *)pipeline->steps[i].bias);
    }
    free_blocks(&sizes, 1);
    gf_plan_free(plan);
    return sqrt(size) > MOST_SIZE * sqrt(result);
}
