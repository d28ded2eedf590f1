#include "tests/gpu/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/report.h"

/* A trial under way. */
typedef struct Bout {
    const Trial *trial;
    GfStep step, pool; /* with the trial's layouts */
    bool pooled;
    GfFormat out;
    bool wide;
    Block *pictures, *exact; /* as many as the trial has */
} Bout;

static GfLayout layout_of(Lay lay)
{
    return lay == LAY_INTERLEAVED ? GF_INTERLEAVED : GF_PLANAR;
}

/* The trial's pictures, and what becomes of them. */
static void make_pictures(Bout *bout)
{
    const Trial *trial = bout->trial;
    GfPlan *plan = exact_plan(&trial->c);
    must(gf_allocate_zero(trial->count, sizeof *bout->pictures, &bout->pictures), "pictures");
    must(gf_allocate_zero(trial->count, sizeof *bout->exact, &bout->exact), "pictures");
    for (size_t n = 0; n < trial->count; n++) {
        bout->pictures[n] = random_picture(&trial->c.format);
        must(run_plan(reference, plan, &bout->pictures[n], &bout->exact[n]), trial->c.what);
    }
    gf_plan_free(plan);
}

static void check_pictures(const Bout *bout, const Array *out, const char *what)
{
    char detail[160] = "";
    for (size_t n = 0; n < bout->trial->count; n++) {
        Block picture = make_picture(&bout->out);
        read_array(out, n, &picture);
        report(exact_enough(&bout->out, &picture, &bout->exact[n], detail), what, detail);
        free_blocks(&picture, 1);
    }
    report(array_guards_whole(out), what, "bytes beside the samples were written");
}

/* Pictures [first, first + count) once more, in several launches: as they were in `whole`? */
static void check_again(const Bout *bout, Stand *stand, Way way, size_t first, size_t count,
                        const Array *whole, const char *what)
{
    const Trial *trial = bout->trial;
    Inputs in = {trial->c.format, count, bout->pictures + first};
    Array out = make_array(&bout->out, count, trial->lay_out, trial->gap, trial->shift, POISON);
    way.cuts = 1 + below(4);
    way.spare = below(3);
    report(launch_stand(stand, &in, &way, &out), what, "a part is refused");
    for (size_t n = 0; n < count; n++) {
        Block a = make_picture(&bout->out), b = make_picture(&bout->out);
        read_array(whole, first + n, &a);
        read_array(&out, n, &b);
        report(same_bits(&bout->out, &a, &b), what, "bits depend on the launch");
        free_blocks(&a, 1);
        free_blocks(&b, 1);
    }
    free(out.memory);
}

static void describe_trial(const Bout *bout, const char *method, size_t tiling, char *text,
                           size_t size)
{
    const Trial *trial = bout->trial;
    const GfStep *step = &bout->step;
    describe(&trial->c, method, text, size);
    size_t used = strlen(text);
    snprintf(text + used, size - used,
             "; tiling %zu, %zu pictures, layouts %d %d, gap %zu shift %zu%s%s; window %zux%zu "
             "stride %zux%zu dilation %zux%zu origin %td,%td border %d, %zu channels to %zu in %zu "
             "groups",
             tiling, trial->count, (int)trial->lay_in, (int)trial->lay_out, trial->gap,
             trial->shift, bout->wide ? " wide" : "", bout->pooled ? " pooled" : "", step->taps_x,
             step->taps_y, step->stride_x, step->stride_y, step->dilation_x, step->dilation_y,
             step->origin_x, step->origin_y, (int)step->border, step->channels, step->out_channels,
             step->linear.groups);
}

/* One tiling; false when it does not go with the step. */
static bool run_tiling(const Bout *bout, Stand *stand, const char *method, size_t tiling)
{
    char what[600];
    const Trial *trial = bout->trial;
    Inputs in = {trial->c.format, trial->count, bout->pictures};
    Way way = {tiling, trial->lay_in, trial->gap, trial->shift, 1, 0};
    Array out =
        make_array(&bout->out, trial->count, trial->lay_out, trial->gap, trial->shift, POISON);
    bool done = launch_stand(stand, &in, &way, &out);
    describe_trial(bout, method, tiling, what, sizeof what);
    report(done || tiling == 0 || tiling != trial->tiling || strcmp(method, "tensor") != 0, what,
           "refused");
    if (done) {
        check_pictures(bout, &out, what);
        check_again(bout, stand, way, trial->count - 1, 1, &out, what);
        if (!quick)
            check_again(bout, stand, way, 0, trial->count, &out, what);
    }
    free(out.memory);
    return done;
}

static size_t count_tilings(const GfAlgorithm *row)
{
    size_t count = 0;
    while (row->tilings && row->tilings[count])
        count++;
    return count;
}

/* The method's own choice, which has to go with the step, and all others, or one of them in
 * turn. */
static void run_row(const Bout *bout, const GfAlgorithm *row, Method *method)
{
    size_t tilings = count_tilings(row);
    Stand *stand = make_stand(row, &bout->step, bout->pooled ? &bout->pool : NULL, bout->wide);
    report(run_tiling(bout, stand, row->name, 0), row->name, "its own tiling is refused");
    if (bout->trial->tiling > 0 && strcmp(row->name, "tensor") == 0)
        run_tiling(bout, stand, row->name, bout->trial->tiling);
    if (quick && tilings > 0)
        run_tiling(bout, stand, row->name, 1 + next_turn() % tilings);
    for (size_t t = 1; t <= tilings && !quick; t++)
        run_tiling(bout, stand, row->name, t);
    method->launches++;
    free_stand(stand);
}

/* How many methods ran. */
static size_t run_rows(const Bout *bout)
{
    size_t ran = 0;
    GfCard card;
    if (bout->step.kind == GF_STEP_POOL) {
        Stand *stand = make_stand(NULL, &bout->step, NULL, bout->wide);
        report(run_tiling(bout, stand, "pool", 0), "pool", "refused");
        free_stand(stand);
        return 1;
    }
    must(gf_current_card(&card), "card");
    for (size_t i = 0; i < method_count; i++) {
        const GfAlgorithm *row = &gf_algorithms[i];
        if (bout->trial->only && strcmp(bout->trial->only, row->name) != 0)
            continue;
        if (gf_algorithm_runs(row, &bout->step, bout->wide, &card) != GF_OK) {
            check_refusal(methods[i].name);
        } else if (!bout->pooled || (row->pools && row->pools(&bout->step, &bout->pool))) {
            run_row(bout, row, &methods[i]);
            ran++;
        }
    }
    return ran;
}

/* The one step, or the two. */
static void take_steps(const GfPipeline *pipeline, Bout *bout)
{
    const Trial *trial = bout->trial;
    GfStep *last = pipeline->count == 2 ? &bout->pool : &bout->step;
    bout->step = pipeline->steps[0];
    bout->pooled = pipeline->count == 2;
    if (bout->pooled)
        bout->pool = pipeline->steps[1];
    bout->step.in_layout = layout_of(trial->lay_in);
    last->out_layout = layout_of(trial->lay_out);
    bout->out = pipeline->out;
    bout->wide = (pipeline->wide || trial->wide) && !trial->narrow;
}

size_t run_trial(const Trial *trial, GfFilter *filter)
{
    size_t ran = 0;
    Bout bout = {.trial = trial};
    GfPlan *plan;
    const Case *c = &trial->c;
    if (case_fits(c)) {
        must(gf_plan_create(c->filters, 1, &c->format, &c->options, &plan), c->what);
        const GfPipeline *pipeline = &plan->pipelines[0];
        if (pipeline->count == 1 ||
            (pipeline->count == 2 && pipeline->steps[1].kind == GF_STEP_POOL)) {
            take_steps(pipeline, &bout);
            make_pictures(&bout);
            ran = run_rows(&bout);
            free_blocks(bout.pictures, trial->count);
            free_blocks(bout.exact, trial->count);
            free(bout.pictures);
            free(bout.exact);
        }
        gf_plan_free(plan);
    }
    gf_filter_free(filter);
    return ran;
}
