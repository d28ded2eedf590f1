/* The fast path of the CPU: the output rows of one submit are cut into runs of rows, and each
 * worker takes a run through all steps of a pipeline, so that what is between two steps stays in
 * its cache. Rows that two runs both need between the steps are computed twice: a run does not wait
 * for another, and no bit of the result depends on how the rows were cut. */
#include "cpu/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/workers.h"
#include "cpu/step.h"

enum { BAND_BYTES = 192 << 10, RUNS_A_WORKER = 2, MOST_RUN_ROWS = 64, LEAST_RUN_ROWS = 8 };

/* A run's rows between steps take no more memory than this, where a shorter run is worth while. */
enum { BETWEEN_BYTES = 16 << 20 };

/* A run of a pipeline with layers may be shorter than LEAST_RUN_ROWS if it has as much to do. */
static const double least_run_work = 1e6;

typedef struct State {
    GfWorkers *workers;
    const GfRowSet *rows;
} State;

/* A pipeline's steps, and the memory that a worker needs for a run of rows. */
typedef struct Chain {
    GfStepRunner **runners;
    size_t *between;       /* bytes between steps: of a row of the output of step i */
    size_t *between_first; /* where in a worker's memory */
    size_t scratch;        /* bytes of the largest step's scratch memory, at the memory's begin */
    size_t bytes;
    size_t least_rows, run_rows; /* shortest run worth while, longest run */
} Chain;

struct GfSession {
    State *state;
    const GfPlan *plan;
    Chain *chains;
    unsigned char **memory; /* one a worker */
    GfRing ring;
    GfTimes times;
};

/* Rows between the first two steps that two neighbouring runs both compute, counted in rows of the
 * output. */
static size_t shared_rows(const GfPipeline *pipeline)
{
    double rows = 1.0, stride = 1.0;
    for (size_t i = pipeline->count - 1; i > 0; i--) {
        const GfStep *step = &pipeline->steps[i];
        double reach = (double)(step->taps_y - 1) * (double)step->dilation_y + 1.0;
        rows = (rows - 1.0) * (double)step->stride_y + reach;
        rows = fmin(rows, (double)step->in_height);
        stride *= (double)step->stride_y;
    }
    return rows > stride ? (size_t)ceil((rows - stride) / stride) : 0;
}

/* The shortest run: handing it over costs something, and shared rows are computed twice. */
static size_t least_rows(const GfPipeline *pipeline)
{
    double work = pipeline->multiply_adds / (double)pipeline->out.height;
    bool layers = false;
    for (size_t i = 0; i < pipeline->count; i++)
        layers |= gf_step_is_layer(&pipeline->steps[i]);
    if (!layers || work * LEAST_RUN_ROWS <= least_run_work)
        return LEAST_RUN_ROWS;
    return gf_max((size_t)ceil(least_run_work / work), shared_rows(pipeline));
}

/* Lays out a worker's memory for runs of chain->run_rows rows; false when it is too large. */
static bool lay_chain(Chain *chain, const GfPipeline *pipeline)
{
    size_t needed = chain->run_rows;
    chain->bytes = gf_align(chain->scratch);
    for (size_t i = pipeline->count - 1; i-- > 0;) {
        const GfStep *step = &pipeline->steps[i];
        size_t bytes;
        needed = gf_min(gf_step_most_rows(step + 1, needed), step->out_height);
        chain->between_first[i] = chain->bytes;
        if (!gf_mul(needed, chain->between[i], &bytes) ||
            !gf_add(chain->bytes, bytes, &chain->bytes))
            return false;
    }
    return true;
}

static GfStatus make_chain(Chain *chain, const GfPipeline *pipeline, const GfRowSet *rows)
{
    size_t count = pipeline->count;
    GF_TRY(gf_allocate_zero(count, sizeof *chain->runners, &chain->runners));
    GF_TRY(gf_allocate_zero(count, sizeof *chain->between, &chain->between));
    GF_TRY(gf_allocate_zero(count, sizeof *chain->between_first, &chain->between_first));
    for (size_t i = 0; i < count; i++) {
        const GfStep *step = &pipeline->steps[i];
        GF_TRY(gf_step_runner_create(step, pipeline->wide, rows, &chain->runners[i]));
        chain->scratch = gf_max(chain->scratch, gf_step_runner_scratch(chain->runners[i]));
        chain->between[i] =
            gf_align(step->out_width * step->out_channels * gf_sample_size(step->out));
    }
    chain->least_rows = least_rows(pipeline);
    chain->run_rows = gf_max(MOST_RUN_ROWS, 2 * shared_rows(pipeline));
    bool fits = lay_chain(chain, pipeline);
    while (chain->run_rows > chain->least_rows &&
           (!fits || chain->bytes - chain->scratch > BETWEEN_BYTES)) {
        chain->run_rows = gf_max(chain->run_rows / 2, chain->least_rows);
        fits = lay_chain(chain, pipeline);
    }
    if (!fits)
        return gf_fail(GF_EMEMORY, "the rows between the steps are too large");
    return GF_OK;
}

/* ---- computing ---- */

typedef struct Job {
    GfSession *session;
    const GfPipeline *pipeline;
    const Chain *chain;
    const GfBand *out;
    size_t rows; /* of a run */
} Job;

static void run_step(const Job *job, size_t index, ptrdiff_t y0, ptrdiff_t y1,
                     unsigned char *memory, void *to, size_t stride);

/* Rows [begin, end) between steps index - 1 and index. They may be numbered as if a wrapped picture
 * went on for ever: the step before knows only the picture itself. */
static void run_between(const Job *job, size_t index, ptrdiff_t begin, ptrdiff_t end,
                        unsigned char *memory, unsigned char *to, size_t stride)
{
    ptrdiff_t height = (ptrdiff_t)job->pipeline->steps[index].in_height;
    while (begin < end) {
        ptrdiff_t y = (begin % height + height) % height;
        ptrdiff_t rows = end - begin < height - y ? end - begin : height - y;
        run_step(job, index - 1, y, y + rows, memory, to, stride);
        begin += rows;
        to += (size_t)rows * stride;
    }
}

/* Output rows [y0, y1) of step `index`, in the memory of the next step or in the output band. */
static void run_step(const Job *job, size_t index, ptrdiff_t y0, ptrdiff_t y1,
                     unsigned char *memory, void *to, size_t stride)
{
    const GfStep *step = &job->pipeline->steps[index];
    GfStepInput input = {job->session->ring.samples, job->session->ring.stride,
                         job->session->ring.rows, 0, false};
    if (index > 0) {
        ptrdiff_t begin, end, height = (ptrdiff_t)step->in_height;
        gf_step_window(step, y0, y1, &begin, &end);
        bool window = end - begin < height;
        if (!window) {
            begin = 0;
            end = height;
        }
        unsigned char *between = memory + job->chain->between_first[index - 1];
        input = (GfStepInput){between, job->chain->between[index - 1], (size_t)(end - begin), begin,
                              window};
        run_between(job, index, begin, end, memory, between, input.stride);
    }
    gf_step_runner_run(job->chain->runners[index], &input, y0, y1, to, stride, memory);
}

static void run_rows(void *context, size_t round, size_t worker)
{
    const Job *job = context;
    const GfBand *out = job->out;
    size_t first = round * job->rows, last = gf_min(first + job->rows, out->rows);
    ptrdiff_t y0 = (ptrdiff_t)out->y0;
    run_step(job, job->pipeline->count - 1, y0 + (ptrdiff_t)first, y0 + (ptrdiff_t)last,
             job->session->memory[worker], (unsigned char *)out->samples + first * out->stride,
             out->stride);
}

static void run_band(GfSession *session, size_t output, const GfBand *out)
{
    GfWorkers *workers = session->state->workers;
    const Chain *chain = &session->chains[output];
    size_t runs = gf_workers_count(workers) * RUNS_A_WORKER;
    size_t rows = gf_max((out->rows + runs - 1) / runs, chain->least_rows);
    if (chain->run_rows > MOST_RUN_ROWS) /* many rows are computed twice: rather fewer runs */
        rows = gf_max(rows, chain->run_rows);
    rows = gf_min(rows, chain->run_rows);
    Job job = {session, &session->plan->pipelines[output], chain, out, rows};
    gf_workers_run(workers, (out->rows + rows - 1) / rows, run_rows, &job);
}

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    double start = gf_now();
    (void)y0, (void)rows;
    for (size_t i = 0; i < session->plan->outputs; i++)
        if (outs[i].rows > 0)
            run_band(session, i, &outs[i]);
    session->times.compute += gf_now() - start;
    return GF_OK;
}

static GfStatus collect(GfSession *session)
{
    (void)session;
    return GF_OK;
}

/* ---- the backend ---- */

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    (void)backend, (void)plan;
    return GF_OK;
}

static void end(GfSession *session)
{
    if (!session)
        return;
    for (size_t i = 0; session->chains && i < session->plan->outputs; i++) {
        Chain *chain = &session->chains[i];
        for (size_t j = 0; chain->runners && j < session->plan->pipelines[i].count; j++)
            gf_step_runner_free(chain->runners[j]);
        free(chain->runners);
        free(chain->between);
        free(chain->between_first);
    }
    for (size_t i = 0; session->memory && i < gf_workers_count(session->state->workers); i++)
        free(session->memory[i]);
    free(session->memory);
    free(session->chains);
    free(session);
}

static GfStatus make_session(GfBackend *backend, const GfPlan *plan, GfSession **out)
{
    State *state = backend->state;
    GfSession *session = NULL;
    GfStatus status = GF_OK;
    size_t bytes = 0, workers = gf_workers_count(state->workers);
    *out = NULL;
    GF_GO(gf_allocate_zero(1, sizeof *session, &session));
    session->state = state;
    session->plan = plan;
    GF_GO(gf_allocate_zero(plan->outputs, sizeof *session->chains, &session->chains));
    GF_GO(gf_allocate_zero(workers, sizeof *session->memory, &session->memory));
    for (size_t i = 0; i < plan->outputs; i++) {
        GF_GO(make_chain(&session->chains[i], &plan->pipelines[i], state->rows));
        bytes = gf_max(bytes, session->chains[i].bytes);
    }
    for (size_t i = 0; i < workers; i++)
        GF_GO(gf_allocate(1, bytes, &session->memory[i]));
    *out = session;
    session = NULL;
done:
    end(session);
    return status;
}

static GfStatus begin(GfSession *session, const GfRing *ring)
{
    session->ring = *ring;
    return GF_OK;
}

static const char *method(const GfSession *session, size_t output, size_t step)
{
    const GfStep *of = &session->plan->pipelines[output].steps[step];
    if (of->kind == GF_STEP_POOL)
        return "pool";
    return of->kind != GF_STEP_FILTER ? "opacity" : of->separable ? "separable" : "direct";
}

static GfTimes times(const GfSession *session)
{
    return session->times;
}

static void close_backend(GfBackend *backend)
{
    State *state = backend->state;
    gf_workers_destroy(state->workers);
    free(state);
    free(backend);
}

GfStatus gf_cpu_open(size_t threads, GfBackend **out)
{
    GfBackend *backend = NULL;
    State *state = NULL;
    GfStatus status = GF_OK;
    *out = NULL;
    threads = threads ? threads : gf_processors();
    GF_GO(gf_allocate_zero(1, sizeof *backend, &backend));
    GF_GO(gf_allocate_zero(1, sizeof *state, &state));
    GF_GO(gf_workers_create(threads, &state->workers));
    state->rows = gf_row_set();
    *backend = (GfBackend){.name = "cpu",
                           .band_bytes = BAND_BYTES + threads * BAND_BYTES,
                           .state = state,
                           .supports = supports,
                           .session = make_session,
                           .begin = begin,
                           .submit = submit,
                           .collect = collect,
                           .method = method,
                           .times = times,
                           .end = end,
                           .close = close_backend};
    snprintf(backend->device, sizeof backend->device, "%zu thread%s, %s", threads,
             threads == 1 ? "" : "s", state->rows->name);
    *out = backend;
    return GF_OK;
done:
    free(state);
    free(backend);
    return status;
}
