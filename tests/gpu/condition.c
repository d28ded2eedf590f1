#include "tests/gpu/condition.h"

#include <math.h>
#include <stdlib.h>

#include "tests/gpu/report.h"

/* Numbers a last place of f32 larger; NULL of NULL. The caller frees them. */
static double *raised_of(const double *numbers, size_t count)
{
    double *made = NULL;
    if (!numbers)
        return NULL;
    must(gf_allocate(count, sizeof *made, &made), "raised numbers");
    for (size_t i = 0; i < count; i++)
        made[i] = numbers[i] + fabs(numbers[i]) * 0x1p-23;
    return made;
}

static bool sums_wide(const Case *c)
{
    GfPlan *plan;
    must(gf_plan_create(c->filters, 1, &c->format, &c->options, &plan), c->what);
    const bool wide = plan->pipelines[0].wide;
    gf_plan_free(plan);
    return wide;
}

bool ill_conditioned(const Case *c, const Block *in, const Block *exact)
{
    Block raised;
    char detail[160];
    if (!gf_sample_is_float(c->options.sample) || sums_wide(c))
        return false;
    GfPlan *plan = exact_plan(c);
    const GfPipeline *pipeline = &plan->pipelines[0];
    for (size_t i = 0; i < pipeline->count; i++) {
        GfStep *step = &pipeline->steps[i];
        if (step->kind == GF_STEP_FILTER)
            step->linear.weights = raised_of(step->linear.weights,
                                             step->linear.filters * gf_linear_taps(&step->linear));
        step->bias = raised_of(step->bias, step->out_channels);
    }
    must(run_plan(reference, plan, in, &raised), c->what);
    const bool well = exact_enough(&pipeline->out, &raised, exact, detail);
    for (size_t i = 0; i < pipeline->count; i++) {
        if (pipeline->steps[i].kind == GF_STEP_FILTER)
            free(pipeline->steps[i].linear.weights);
        free((void *)pipeline->steps[i].bias);
    }
    free_blocks(&raised, 1);
    gf_plan_free(plan);
    return !well;
}
