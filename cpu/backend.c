/* The fast path of the CPU: the output rows of one submit are cut into runs of rows, and each
 * worker takes a run through all steps of a pipeline, so that what is between two steps stays in
 * its cache. Rows that two runs both need between the steps are computed twice: a run does not wait
 * for another, and no bit of the result depends on how the rows were cut. Networks share too many
 * rows for that, and so do transforms, running sums and tall windows of long rows: there all
 * workers take a long run together, step by step. */
#include "cpu/backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/workers.h"
#include "cpu/chain.h"
#include "cpu/fourier.h"

/* Of a thread, and of all. */
enum { BAND_BYTES = 192 << 10, MOST_BYTES = 3 << 19, RUNS_A_WORKER = 2 };

typedef struct State {
    GfWorkers *workers;
    const GfRowSet *rows;
} State;

struct GfSession {
    State *state;
    const GfPlan *plan;
    GfChain **chains;       /* one a pipeline */
    GfBetween *between;     /* [pipeline][worker]; of a deep one the first serves all */
    unsigned char *scratch; /* of worker 0; the others' is the workers' own */
    size_t scratch_bytes;   /* of each */
    GfRing ring;
    GfTimes times;
};

/* ---- computing ---- */

typedef struct Job {
    GfSession *session;
    size_t output;
    const GfBand *out;
    size_t rows; /* of a run */
    pthread_mutex_t mutex;
    GfError error;
} Job;

static void run_rows(void *context, size_t round, size_t worker)
{
    Job *job = context;
    GfSession *session = job->session;
    const GfBand *out = job->out;
    size_t first = round * job->rows, last = gf_min(first + job->rows, out->rows);
    size_t workers = gf_workers_count(session->state->workers);
    ptrdiff_t y0 = (ptrdiff_t)out->y0;
    GfStatus status =
        gf_chain_run(session->chains[job->output], &session->ring, y0 + (ptrdiff_t)first,
                     y0 + (ptrdiff_t)last, (unsigned char *)out->samples + first * out->stride,
                     out->stride, &session->between[job->output * workers + worker],
                     session->state->workers, worker, session->scratch);
    if (status == GF_OK)
        return;
    pthread_mutex_lock(&job->mutex);
    gf_error_save(&job->error, status);
    pthread_mutex_unlock(&job->mutex);
}

/* Rows of a run, of `rows` that are to be computed. */
static size_t run_rows_of(const GfSession *session, const GfChain *chain, size_t rows)
{
    size_t runs = gf_workers_count(session->state->workers) * RUNS_A_WORKER;
    size_t most = gf_chain_most_rows(chain);
    runs = gf_min(runs, gf_max(rows / gf_chain_least_rows(chain), 1));
    runs = gf_max(runs, (rows + most - 1) / most); /* alike: short ones compute as much anew */
    return (rows + runs - 1) / runs;
}

static GfStatus run_band(GfSession *session, size_t output, const GfBand *out)
{
    GfWorkers *workers = session->state->workers;
    const GfChain *chain = session->chains[output];
    Job job = {.session = session, .output = output, .out = out};
    job.rows = run_rows_of(session, chain, out->rows);
    size_t runs = (out->rows + job.rows - 1) / job.rows;
    pthread_mutex_init(&job.mutex, NULL);
    if (gf_chain_is_deep(chain))
        for (size_t i = 0; i < runs && job.error.status == GF_OK; i++)
            run_rows(&job, i, 0);
    else
        gf_workers_run(workers, runs, run_rows, &job);
    pthread_mutex_destroy(&job.mutex);
    return job.error.status == GF_OK ? GF_OK : gf_error_raise(&job.error);
}

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    double start = gf_now();
    (void)y0, (void)rows;
    for (size_t i = 0; i < session->plan->outputs; i++)
        if (outs[i].rows > 0)
            GF_TRY(run_band(session, i, &outs[i]));
    session->times.compute += gf_now() - start;
    return GF_OK;
}

static GfStatus collect(GfSession *session)
{
    (void)session;
    return GF_OK;
}

/* ---- the backend ---- */

double gf_cpu_multiply_adds(const GfPipeline *pipeline)
{
    double work = pipeline->multiply_adds;
    for (size_t i = 0; i < pipeline->count; i++)
        work -= gf_fourier_saves(pipeline, i);
    return work;
}

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    (void)backend, (void)plan;
    return GF_OK;
}

static void end(GfSession *session)
{
    if (!session)
        return;
    size_t workers = gf_workers_count(session->state->workers), outputs = session->plan->outputs;
    for (size_t i = 0; session->chains && i < outputs; i++)
        gf_chain_free(session->chains[i]);
    for (size_t i = 0; session->between && i < outputs * workers; i++)
        gf_between_free(&session->between[i]);
    free(session->chains);
    free(session->between);
    free(session->scratch);
    free(session);
}

static GfStatus make_session(GfBackend *backend, const GfPlan *plan, GfSession **out)
{
    State *state = backend->state;
    GfSession *session = NULL;
    GfStatus status = GF_OK;
    size_t workers = gf_workers_count(state->workers);
    *out = NULL;
    GF_GO(gf_allocate_zero(1, sizeof *session, &session));
    session->state = state;
    session->plan = plan;
    GF_GO(gf_allocate_zero(plan->outputs, sizeof *session->chains, &session->chains));
    GF_GO(gf_allocate_zero(plan->outputs, workers * sizeof *session->between, &session->between));
    for (size_t i = 0; i < plan->outputs; i++) {
        GF_GO(gf_chain_create(&plan->pipelines[i], state->rows, plan->options.memory,
                              &session->chains[i]));
        session->scratch_bytes =
            gf_max(session->scratch_bytes, gf_align(gf_chain_scratch(session->chains[i])));
    }
    GF_GO(gf_allocate(1, session->scratch_bytes, &session->scratch));
    GF_GO(gf_workers_reserve(state->workers, session->scratch_bytes));
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
    return gf_chain_method(session->chains[output], step);
}

/* What lies between steps is counted for bands of the usual height. */
static size_t memory(const GfSession *session)
{
    size_t workers = gf_workers_count(session->state->workers);
    size_t bytes = workers * session->scratch_bytes;
    for (size_t i = 0; i < session->plan->outputs; i++) {
        GfChain *chain = session->chains[i];
        size_t rows = gf_min(session->plan->band_rows, session->plan->pipelines[i].most_rows);
        size_t run = run_rows_of(session, chain, rows);
        size_t at_once = gf_chain_is_deep(chain) ? 1 : gf_min((rows + run - 1) / run, workers);
        bytes += at_once * gf_chain_between(chain, run);
    }
    return bytes;
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
                           .band_bytes = gf_min(BAND_BYTES + threads * BAND_BYTES, MOST_BYTES),
                           .prompt = true,
                           .state = state,
                           .supports = supports,
                           .session = make_session,
                           .begin = begin,
                           .submit = submit,
                           .collect = collect,
                           .method = method,
                           .memory = memory,
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
