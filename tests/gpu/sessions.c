/* Sessions: two at once, pictures one after the other, failures. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend.h"
#include "tests/gpu/filters.h"
#include "tests/gpu/groups.h"
#include "tests/gpu/report.h"

typedef struct Worker {
    GfBackend *backend;
    const GfPlan *plan;
    const Block *in;
    Block outs[MAX_OUTPUTS];
    GfStatus status;
} Worker;

static void *work(void *context)
{
    Worker *worker = context;
    for (size_t i = 0; i < 8; i++) {
        worker->status = run_plan(worker->backend, worker->plan, worker->in, worker->outs);
        if (worker->status != GF_OK)
            break;
        if (i < 7)
            free_blocks(worker->outs, 1);
    }
    return NULL;
}

/* Sessions of one backend in two threads, a plan each, give what one thread gets. */
static void run_threads(const Method *method, const GfPlan *const *plans, const Block *in)
{
    Block alone[2];
    Worker workers[2];
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        must(run_plan(method->gpu, plans[i], in, &alone[i]), "threads");
    for (size_t i = 0; i < 2; i++) {
        workers[i] = (Worker){.backend = method->gpu, .plan = plans[i], .in = in};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        bool good = workers[i].status == GF_OK;
        report(good && same_bits(&plans[i]->pipelines[0].out, &alone[i], &workers[i].outs[0]),
               method->name, "two threads disturb each other");
        if (good)
            free_blocks(workers[i].outs, 1);
        free_blocks(&alone[i], 1);
    }
}

/* A picture, and a filter that the method takes: classic, else a layer, else of factors. */
typedef struct Job {
    GfFormat format;
    GfFilter *filter;
    GfPlan *plan;
} Job;

static bool try_job(const Method *method, Job *job, GfFormat format, GfFilter *filter)
{
    GfPlanOptions options = options_of(format.sample, GF_BORDER_REFLECT);
    const GfFilter *filters[] = {filter};
    *job = (Job){.format = format, .filter = filter};
    must(gf_plan_create(filters, 1, &format, &options, &job->plan), "sessions");
    return method->gpu->supports(method->gpu, job->plan) == GF_OK;
}

static void free_job(Job *job)
{
    gf_plan_free(job->plan);
    gf_filter_free(job->filter);
}

static bool make_job(const Method *method, Job *job)
{
    GfFilter *layer = new_filter();
    if (try_job(method, job, format_of(150, 97, 1, GF_U16), kernel(1, 3, 3, INTEGER))) {
        gf_filter_free(layer);
        return true;
    }
    free_job(job);
    add_layer(layer, 8, 3, 1, 3, 3)->sampling.fit = GF_FIT_SAME_UPPER;
    if (try_job(method, job, format_of(150, 97, 3, GF_U8), layer))
        return true;
    free_job(job);
    GfFilter *product = new_filter();
    add_factors(product, 1, 5, 5);
    if (try_job(method, job, format_of(150, 97, 1, GF_U8), product))
        return true;
    free_job(job);
    return false;
}

/* Kernels of two sizes, whose blocks have different shares of shared memory, at once. */
static void run_sizes(const Method *method)
{
    Job jobs[2];
    GfFormat format = format_of(300, 260, 1, GF_U8);
    bool taken[2];
    for (size_t i = 0; i < 2; i++) {
        taken[i] = try_job(method, &jobs[i], format, kernel(1, 81 + 20 * i, 81 + 20 * i, INTEGER));
        shrink_bands(jobs[i].plan, 2);
    }
    Block in = random_picture(&format);
    if (taken[0] && taken[1])
        run_threads(method, (const GfPlan *[]){jobs[0].plan, jobs[1].plan}, &in);
    free_blocks(&in, 1);
    for (size_t i = 0; i < 2; i++)
        free_job(&jobs[i]);
}

/* One session, three pictures one after the other, pinned rows; then ended with a submit in flight.
 */
static void run_reuse(const Method *method, Run *run)
{
    const GfPlan *plan = run->plan;
    const GfFormat *out = &plan->pipelines[0].out;
    Block fresh;
    for (size_t i = 0; i < 3; i++) {
        Block in = random_picture(&plan->in);
        run->in = &in;
        must(run_picture(run), "reuse");
        must(run_plan(method->gpu, plan, &in, &fresh), "reuse");
        report(same_bits(out, &run->outs[0], &fresh), method->name,
               "a session's second picture differs");
        free_blocks(&fresh, 1);
        if (i == 2) {
            memset(run->done, 0, sizeof run->done);
            must(run->backend->begin(run->session, &run->ring), "reuse");
            must(submit_band(run, 0, plan->band_rows), "reuse");
        }
        free_blocks(&in, 1);
    }
}

static void test_reuse(const Method *method, const GfPlan *plan)
{
    GfBackend *gpu = method->gpu;
    Block out = make_picture(&plan->pipelines[0].out);
    Run run = {.backend = gpu, .plan = plan, .outs = &out};
    void *rows;
    size_t stride = gf_row_bytes(&plan->in);
    must(gpu->host_alloc(gpu, plan->ring_rows * stride, &rows), "pinned memory");
    run.ring = (GfRing){rows, stride, plan->ring_rows};
    must(gpu->session(gpu, plan, &run.session), "reuse");
    run_reuse(method, &run);
    GfTimes times = gpu->times(run.session);
    report(times.compute > 0.0 && times.copy > 0.0, method->name, "no times");
    report(strcmp(gpu->method(run.session, 0, 0), method->name) == 0, method->name, "its name");
    gpu->end(run.session);
    gpu->host_free(gpu, rows);
    free_blocks(&out, 1);
}

/* A layer with a pool behind it, whose map is added to what is made of the pool where `again`. */
static GfFilter *pooled_layer(size_t maps, bool again)
{
    GfFilter *filter = new_filter();
    add_layer(filter, maps, 1, 1, 5, 5)->sampling.fit = GF_FIT_SAME_UPPER;
    add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    GfReference layer = filter->count;
    add_pool(filter, GF_POOL_MAX, 2, 2);
    if (again) {
        must(gf_filter_add_upsample(filter, (GfUpsample){false, 2, 2, layer}), "upsample");
        must(gf_filter_add_sum(filter, (GfAdd){layer}), "sum");
    }
    return filter;
}

/* The methods of a pooled layer's steps, left to the backend. */
static void expect_steps(const char *algorithm, GfFilter *filter, size_t count,
                         const char *const *names)
{
    GfBackend *gpu;
    Job job;
    GfSession *session;
    must(gf_cuda_open(0, algorithm, &gpu), "steps");
    Method method = {.name = "auto", .gpu = gpu};
    report(try_job(&method, &job, format_of(28, 28, 1, GF_F32), filter), "steps", gf_message());
    report(job.plan->pipelines[0].count == count, "steps", "another number");
    must(gpu->session(gpu, job.plan, &session), "steps");
    for (size_t i = 0; i < count; i++)
        report(strcmp(gpu->method(session, 0, i), names[i]) == 0, names[i],
               gpu->method(session, 0, i));
    gpu->end(session);
    gpu->close(gpu);
    free_job(&job);
}

static void test_fusion(void)
{
    expect_steps(NULL, pooled_layer(16, false), 2, (const char *[]){"special", "fused"});
    expect_steps("special", pooled_layer(1, false), 2, (const char *[]){"special", "fused"});
    expect_steps("direct", pooled_layer(16, false), 2, (const char *[]){"direct", "pool"});
    expect_steps(NULL, pooled_layer(16, true), 4,
                 (const char *[]){"special", "pool", "upsample", "add"});
}

void test_sessions(void)
{
    test_fusion();
    for (size_t i = 0; i < method_count; i++) {
        Job job;
        if (!make_job(&methods[i], &job))
            continue; /* close_backends() tells of a method that takes nothing */
        Block in = random_picture(&job.format);
        shrink_bands(job.plan, 6);
        /* racecheck (CUDA 13.0) came to a halt in this three times out of five, for a reason
         * that is not known; the other tools, and runs without them, never did. */
        if (!quick) {
            run_threads(&methods[i], (const GfPlan *[]){job.plan, job.plan}, &in);
            run_sizes(&methods[i]);
        }
        test_reuse(&methods[i], job.plan);
        free_blocks(&in, 1);
        free_job(&job);
    }
}

/* Failures that are told and leave everything usable. */
void test_failures(void)
{
    GfBackend *backend, *gpu;
    GfFilter *filter = kernel(1, 3, 3, POSITIVE);
    const GfFilter *filters[] = {filter};
    GfFormat format = format_of(1 << 20, 1 << 22, 3, GF_F32);
    GfPlanOptions options = options_of(GF_F32, GF_BORDER_WRAP);
    GfSession *session = NULL;
    GfPlan *plan;
    report(gf_cuda_open(0, "nonsense", &backend) == GF_EUSAGE, "an unknown algorithm",
           gf_message());
    report(gf_cuda_open(4096, NULL, &backend) == GF_ENODEVICE, "an unknown device", gf_message());
    must(gf_cuda_open(0, NULL, &gpu), "failures");
    must(gf_plan_create(filters, 1, &format, &options, &plan), "failures");
    report(gpu->session(gpu, plan, &session) == GF_EDEVMEM && !session, "48 TiB of device memory",
           gf_message());
    gpu->close(gpu);
    gf_plan_free(plan);
    gf_filter_free(filter);
}
