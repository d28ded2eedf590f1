#include "tests/gpu/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend.h"
#include "gpu/algorithms.h"
#include "gpu/backend.h"
#include "tests/gpu/condition.h"
#include "tests/gpu/report.h"

Method methods[MAX_METHODS];
size_t method_count;
GfBackend *reference;
bool quick;

static size_t turns;

void begin_group(const char *name)
{
    seed(name);
    turns = 0;
}

size_t next_turn(void)
{
    return ++turns;
}

int open_backends(void)
{
    size_t count;
    if (gf_cuda_count(&count) != GF_OK) {
        printf("SKIP: %s\n", gf_message());
        return 77;
    }
    must(gf_reference_open(&reference), "reference");
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++) {
        Method *method = &methods[method_count++];
        method->name = row->name;
        must(gf_cuda_open(0, row->name, &method->gpu), row->name);
    }
    printf("# %s\n", methods[0].gpu->device);
    return 0;
}

void close_backends(bool all)
{
    for (size_t i = 0; i < method_count; i++) {
        const Method *method = &methods[i];
        printf("# %s ran %zu plans and %zu launches\n", method->name, method->sessions,
               method->launches);
        if (all) {
            report(method->sessions > 0, method->name, "took no plan");
            report(method->launches > 0, method->name, "was never launched");
        }
        method->gpu->close(method->gpu);
    }
    reference->close(reference);
}

/* ---- a picture through a session ---- */

GfStatus submit_band(Run *run, size_t y0, size_t rows)
{
    GfBand bands[MAX_OUTPUTS];
    const GfPlan *plan = run->plan;
    if (run->flying == IN_FLIGHT) {
        GF_TRY(run->backend->collect(run->session));
        run->flying--;
    }
    for (size_t y = y0; y < y0 + rows; y++)
        memcpy(gf_ring_row(&run->ring, y), run->in->rows + y * run->in->stride,
               gf_row_bytes(&plan->in));
    for (size_t i = 0; i < plan->outputs; i++) {
        size_t ready = gf_pipeline_ready(&plan->pipelines[i], y0 + rows);
        if (!plan->streams && y0 + rows < plan->in.height)
            ready = 0;
        bands[i] = (GfBand){run->done[i], ready - run->done[i], run->outs[i].stride,
                            run->outs[i].rows + run->done[i] * run->outs[i].stride};
        run->done[i] = ready;
    }
    GF_TRY(run->backend->submit(run->session, y0, rows, bands));
    run->flying++;
    return GF_OK;
}

GfStatus run_picture(Run *run)
{
    memset(run->done, 0, sizeof run->done);
    run->flying = 0;
    GF_TRY(run->backend->begin(run->session, &run->ring));
    for (size_t y = 0; y < run->plan->in.height; y += run->plan->band_rows)
        GF_TRY(submit_band(run, y, gf_min(run->plan->band_rows, run->plan->in.height - y)));
    for (; run->flying > 0; run->flying--)
        GF_TRY(run->backend->collect(run->session));
    return GF_OK;
}

GfStatus run_plan(GfBackend *backend, const GfPlan *plan, const Block *in, Block *outs)
{
    Block ring = make_block(plan->ring_rows, gf_row_bytes(&plan->in) + 24);
    Run run = {.backend = backend, .plan = plan, .in = in, .outs = outs};
    run.ring = (GfRing){ring.rows, ring.stride, plan->ring_rows};
    for (size_t i = 0; i < plan->outputs; i++)
        outs[i] = make_picture(&plan->pipelines[i].out);
    GfStatus status = backend->session(backend, plan, &run.session);
    if (status == GF_OK)
        status = run_picture(&run);
    if (run.session)
        backend->end(run.session);
    free(ring.memory);
    return status;
}

/* Rows that must be held at once when `rows` of them are handed over at a time. */
static size_t held_rows(const GfPipeline *pipeline, size_t height, size_t rows)
{
    size_t most = 0;
    for (size_t y = 0; y < height; y += rows) {
        size_t begin, end, ready = gf_pipeline_ready(pipeline, y);
        gf_pipeline_rows(pipeline, ready, pipeline->out.height, &begin, &end);
        if (ready < pipeline->out.height && begin < y + rows)
            most = gf_max(most, gf_min(y + rows, height) - begin);
    }
    return most;
}

void shrink_bands(GfPlan *plan, size_t rows)
{
    size_t held = IN_FLIGHT * rows;
    if (!plan->streams)
        return;
    for (size_t i = 0; i < plan->outputs; i++)
        held = gf_max(held, held_rows(&plan->pipelines[i], plan->in.height, rows));
    plan->band_rows = gf_min(rows, plan->in.height);
    plan->ring_rows = gf_min((held + rows - 1) / rows * rows, plan->in.height);
}

/* ---- cases ---- */

bool case_fits(const Case *c)
{
    GfPlan *plan;
    GfStatus status = gf_plan_create(c->filters, c->count, &c->format, &c->options, &plan);
    if (status != GF_EFILTER)
        must(status, c->what);
    gf_plan_free(plan);
    return status == GF_OK;
}

GfPlan *exact_plan(const Case *c)
{
    GfPlan *plan;
    GfPlanOptions options = c->options;
    options.whole = true;
    must(gf_plan_create(c->filters, c->count, &c->format, &options, &plan), c->what);
    for (size_t i = 0; i < plan->outputs; i++) {
        plan->pipelines[i].steps[plan->pipelines[i].count - 1].out = GF_F64;
        plan->pipelines[i].out.sample = GF_F64;
    }
    return plan;
}

void describe(const Case *c, const char *method, char *text, size_t size)
{
    const GfPlanOptions *o = &c->options;
    snprintf(text, size, "%s, %s, %zux%zux%zu %s->%s border %d range %d alpha %d flip %d", method,
             c->what, c->format.width, c->format.height, c->format.channels,
             gf_sample_name(c->format.sample), gf_sample_name(o->sample), (int)o->border,
             (int)o->range, (int)o->alpha, (int)o->flip);
}

void check_outs(const GfPlan *plan, const Block *outs, const Block *exact, const Block *before,
                const char *what)
{
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfFormat *format = &plan->pipelines[i].out;
        char detail[160] = "";
        if (before)
            report(same_bits(format, &outs[i], &before[i]), what, "bits depend on bands");
        else
            report(exact_enough(format, &outs[i], &exact[i], detail), what, detail);
        report(guards_whole(&outs[i], format), what, "bytes beside the rows were written");
    }
}

void check_refusal(const char *method)
{
    size_t length = strlen(method);
    const char *message = gf_message();
    report(strncmp(message, method, length) == 0 && message[length] == ':', method, message);
}

static void run_bands(Method *method, GfPlan *plan, const Block *in, const Block *exact,
                      const Block *before, Block *outs, const char *what)
{
    must(run_plan(method->gpu, plan, in, outs), what);
    check_outs(plan, outs, exact, before, what);
}

static bool has_filter(const GfPlan *plan)
{
    for (size_t i = 0; i < plan->outputs; i++)
        for (size_t j = 0; j < plan->pipelines[i].count; j++)
            if (plan->pipelines[i].steps[j].kind == GF_STEP_FILTER)
                return true;
    return false;
}

/* False when the method does not take the case. */
static bool run_method(Method *method, const Case *c, const Block *in, const Block *exact)
{
    char what[300];
    GfPlan *plan;
    Block first[MAX_OUTPUTS], second[MAX_OUTPUTS];
    const size_t rows = 1 + next() % 5; /* drawn by all, so that cases are the same on all cards */
    describe(c, method->name, what, sizeof what);
    must(gf_plan_create(c->filters, c->count, &c->format, &c->options, &plan), what);
    if (method->gpu->supports(method->gpu, plan) != GF_OK) {
        check_refusal(method->name);
        gf_plan_free(plan);
        return false;
    }
    method->sessions += has_filter(plan) ? 1 : 0;
    run_bands(method, plan, in, exact, NULL, first, what);
    if (plan->streams && plan->in.height > 3 && !c->brief) {
        shrink_bands(plan, rows);
        run_bands(method, plan, in, exact, first, second, what);
        free_blocks(second, plan->outputs);
    }
    free_blocks(first, plan->outputs);
    gf_plan_free(plan);
    return true;
}

/* The method that is preferred, and another. */
static void run_brief(const Case *c, size_t turn, const Block *in, const Block *exact)
{
    size_t preferred = 0;
    while (!run_method(&methods[preferred], c, in, exact))
        preferred++;
    if (turn % method_count != preferred)
        run_method(&methods[turn % method_count], c, in, exact);
}

bool run_case(const Case *c)
{
    GfPlan *plan = exact_plan(c);
    Block in = random_picture(&c->format), exact[MAX_OUTPUTS];
    must(run_plan(reference, plan, &in, exact), c->what);
    const bool runs = !c->picked || !ill_conditioned(c, &in, exact);
    const size_t turn = next_turn();
    for (size_t i = 0; i < method_count && runs && !c->brief; i++)
        if (c->share < 2 || (i + turn) % c->share == 0)
            run_method(&methods[i], c, &in, exact);
    if (runs && c->brief)
        run_brief(c, turn, &in, exact);
    free_blocks(exact, plan->outputs);
    free_blocks(&in, 1);
    gf_plan_free(plan);
    return runs;
}
