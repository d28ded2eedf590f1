#include "tests/gpu/condition.h"

#include <stdlib.h>

#include "tests/gpu/report.h"

/* Numbers a last place of f32 larger or smaller, by lots that are the same for each case; NULL of
 * NULL. The caller frees them. */
static double *move(const double *numbers, size_t count)
{
    double *made = NULL;
    uint32_t lots = 1;
    if (!numbers)
        return NULL;
    must(gf_allocate(count, sizeof *made, &made), "moved numbers");
    for (size_t i = 0; i < count; i++) {
        lots = lots * 1664525U + 1013904223U;
        made[i] = numbers[i] * (1.0 + (lots >> 31 ? 0x1p-23 : -0x1p-23));
    }
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
    Block moved;
    char detail[160];
    if (!gf_sample_is_float(c->options.sample) || sums_wide(c))
        return false;
    GfPlan *plan = exact_plan(c);
    const GfPipeline *pipeline = &plan->pipelines[0];
    for (size_t i = 0; i < pipeline->count; i++) {
        GfStep *step = &pipeline->steps[i];
        if (step->kind == GF_STEP_FILTER)
            step->linear.weights =
                move(step->linear.weights, step->linear.filters * gf_linear_taps(&step->linear));
        step->bias = move(step->bias, step->out_channels);
    }
    must(run_plan(reference, plan, in, &moved), c->what);
    const bool well = exact_enough(&pipeline->out, &moved, exact, detail);
    for (size_t i = 0; i < pipeline->count; i++) {
        if (pipeline->steps[i].kind == GF_STEP_FILTER)
            free(pipeline->steps[i].linear.weights);
        free((void *)pipeline->steps[i].bias);
    }
    free_blocks(&moved, 1);
    gf_plan_free(plan);
    return !well;
}
