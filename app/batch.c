/* Workers take jobs from one counter, in order. A bad picture costs only itself; what would spoil
 * all the rest as well (a full disk, a lost GPU that the user insists on) stops the run, and what
 * was not begun is listed. A picture that memory, or its share of a limit, was too short for is
 * done again when no other is in flight. Reports are made under one mutex, so that their lines and
 * the counts agree. */
#include "app/batch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/descriptors.h"
#include "app/leftovers.h"
#include "app/message.h"
#include "app/outlets.h"
#include "app/progress.h"
#include "app/stop.h"
#include "common/clock.h"
#include "common/thread.h"
#include "common/workers.h"

enum { SCROLLED = 10 };

enum { DEFAULT_JOBS = 32 };   /* pictures in flight, where there are as many processors */
enum { PICTURE_THREADS = 3 }; /* of each: flow.c */

typedef struct Batch {
    GfSetup setup;
    const GfJobs *jobs;
    pthread_mutex_t mutex; /* of everything below */
    size_t next;
    const GfJob **again; /* those that memory was too short for; owned; NULL: none is to be */
    size_t again_count;
    bool fatal;
    size_t outcomes[GF_OUTCOME_STOPPED + 1];
    GfFailures *failures;
} Batch;

static void report(Batch *batch, const GfJob *job, const GfRecord *record)
{
    const GfOptions *options = batch->setup.options;
    batch->outcomes[record->outcome]++;
    if (options->json)
        gf_record_json(record, job);
    if (record->outcome == GF_OUTCOME_FAILED) {
        gf_failures_add(batch->failures, job->input, true, record->error.message);
        gf_say_error(job->input->path, "%s", record->error.message);
        batch->fatal |= gf_record_is_fatal(record);
    } else if (record->outcome == GF_OUTCOME_STOPPED) {
        gf_failures_add(batch->failures, job->input, false, "stopped");
    } else if (record->outcome == GF_OUTCOME_SKIPPED) {
        gf_say_detail(job->input->path, "its outputs exist");
    } else if (record->outcome == GF_OUTCOME_WRITTEN) {
        gf_record_detail(record, job, batch->setup.bank);
        if (options->stats)
            gf_record_stats(record, job, batch->setup.bank);
    }
}

/* The next job, or NULL when there is none or the run is to stop. */
static const GfJob *take(Batch *batch)
{
    const GfJob *job = NULL;
    pthread_mutex_lock(&batch->mutex);
    if (!batch->fatal && !gf_stop_signal() && batch->next < batch->jobs->count)
        job = &batch->jobs->jobs[batch->next++];
    pthread_mutex_unlock(&batch->mutex);
    return job;
}

/* Whether the job may do better when it is alone; then it is kept for that. The mutex is held.
 * Limits that are not shared out refuse it again, most of them when it is opened. */
static bool put_aside(Batch *batch, const GfJob *job, const GfRecord *record)
{
    GfStatus status = record->error.status;
    bool memory = status == GF_EMEMORY || status == GF_ELIMIT;
    /* What is no file is read by now. */
    if (!batch->again || record->outcome != GF_OUTCOME_FAILED || !memory || !job->input->regular)
        return false;
    gf_say_detail(job->input->path, "%s; it is tried again, alone", record->error.message);
    batch->again[batch->again_count++] = job;
    gf_progress_add(-1.0);
    return true;
}

static void run_one(Batch *batch, GfLane *lane, const GfJob *job)
{
    GfRecord record = {0};
    gf_run_job(&batch->setup, lane, job, &record);
    pthread_mutex_lock(&batch->mutex);
    if (!put_aside(batch, job, &record))
        report(batch, job, &record);
    pthread_mutex_unlock(&batch->mutex);
    gf_record_free(&record);
}

static void *worker(void *argument)
{
    Batch *batch = argument;
    GfLane lane = {0};
    const GfJob *job;
    while ((job = take(batch)) != NULL)
        run_one(batch, &lane, job);
    gf_lane_clear(&lane);
    return NULL;
}

static bool has_work(const Batch *batch)
{
    bool work = !batch->setup.options->skip_existing;
    for (size_t i = 0; i < batch->jobs->count && !work; i++)
        work = !gf_outlets_exist(&batch->jobs->jobs[i]);
    return work;
}

/* Decides the device from the first picture that can be opened: with several in flight the first to
 * get there might be another one each time, and the first that --skip-existing leaves another one
 * than in the run that it goes on with. A single picture decides when it is opened. */
static void choose_device(Batch *batch)
{
    const GfSetup *setup = &batch->setup;
    GfBackend *backend;
    bool chosen = batch->jobs->count < 2 || !has_work(batch);
    for (size_t i = 0; i < batch->jobs->count && !chosen; i++) {
        const GfJob *job = &batch->jobs->jobs[i];
        GfReader *reader = NULL;
        if (!job->input->regular ||
            gf_reader_open(job->input->path, &setup->read, &reader) != GF_OK)
            continue;
        chosen =
            gf_devices_choose(setup->devices, setup->bank, &reader->format,
                              setup->total_weight / gf_job_weight(job), NULL, &backend) == GF_OK;
        gf_reader_close(reader);
    }
}

static void run_workers(Batch *batch, size_t count)
{
    pthread_t *threads = calloc(count, sizeof *threads);
    size_t started = 0;
    /* Fewer threads than wished are slower, but no failure: this one works in any case. */
    while (threads && started + 1 < count && gf_thread_start(&threads[started], worker, batch))
        started++;
    worker(batch);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* Shares out what limits there are. */
static void share_out(GfSetup *setup, size_t workers)
{
    setup->workers = workers;
    /* 0 means no limit, which is not what is left of a small one. */
    setup->memory = setup->options->memory ? gf_max(setup->options->memory / workers, 1) : 0;
    setup->read.max_memory = gf_max(setup->options->read.max_memory / workers, 1);
}

/* Does what memory was too short for, now with all of it, unless the run is to stop: then it is
 * among what is not done. */
static void run_again(Batch *batch)
{
    GfLane lane = {0};
    const GfJob **again = batch->again;
    batch->again = NULL;
    share_out(&batch->setup, 1);
    for (size_t i = 0; i < batch->again_count; i++) {
        if (!batch->fatal && !gf_stop_signal()) {
            run_one(batch, &lane, again[i]);
            continue;
        }
        if (batch->fatal)
            gf_say_error(again[i]->input->path, "not started");
        report(batch, again[i], &(GfRecord){.outcome = GF_OUTCOME_STOPPED});
    }
    gf_lane_clear(&lane);
    free(again);
}

static void summarise(const Batch *batch, double seconds)
{
    char text[256];
    size_t left = batch->jobs->count - batch->next + batch->outcomes[GF_OUTCOME_STOPPED];
    int used = snprintf(text, sizeof text, "%zu written, %zu failed, %zu skipped",
                        batch->outcomes[GF_OUTCOME_WRITTEN], batch->outcomes[GF_OUTCOME_FAILED],
                        batch->outcomes[GF_OUTCOME_SKIPPED]);
    if (left > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %zu not done", left);
    snprintf(text + used, sizeof text - (size_t)used, " in %.1f s", seconds);
    gf_say_note(NULL, "%s", text);
    /* In a long run the messages of failures have scrolled away. */
    for (size_t i = 0; batch->jobs->count > SCROLLED && i < batch->failures->count; i++) {
        const GfFailure *failure = &batch->failures->items[i];
        if (failure->failed)
            gf_say_note(failure->input->path, "%s", failure->reason ? failure->reason : "failed");
    }
}

/* Of what was not begun: tells it where a failure is the cause, and lists it. */
static void give_up_rest(Batch *batch)
{
    const GfRecord stopped = {.outcome = GF_OUTCOME_STOPPED};
    if (batch->fatal)
        gf_record_not_started(batch->jobs, batch->next);
    for (size_t i = batch->next; i < batch->jobs->count; i++) {
        const GfJob *job = &batch->jobs->jobs[i];
        gf_failures_add(batch->failures, job->input, false, "not started");
        if (batch->setup.options->json)
            gf_record_json(&stopped, job);
    }
}

static int exit_status(const Batch *batch)
{
    int signal = gf_stop_signal();
    if (batch->fatal)
        return 3;
    if (signal)
        return 128 + signal;
    return batch->outcomes[GF_OUTCOME_FAILED] > 0;
}

/* Of `wished` pictures at once as many as have room for their threads. What the stacks take is not
 * given back, so that without this there would be none left for a picture that is tried again. */
static size_t fit_threads(size_t wished)
{
    size_t fitting = gf_max(gf_threads_room() / PICTURE_THREADS, 1);
    if (fitting >= wished)
        return wished;
    const char *plural = fitting == 1 ? "" : "s";
    gf_say_detail(NULL, "%zu picture%s at once: the address space is limited (ulimit -v)", fitting,
                  plural);
    return fitting;
}

static size_t count_workers(const GfOptions *options, const GfJobs *jobs)
{
    size_t wished = options->jobs ? options->jobs : gf_min(gf_processors(), DEFAULT_JOBS);
    return gf_descriptors_pictures(jobs, fit_threads(gf_max(gf_min(wished, jobs->count), 1)));
}

int gf_batch_run(const GfOptions *options, const GfBank *bank, GfDevices *devices,
                 const GfJobs *jobs, GfReader **opened, GfFailures *failures)
{
    double start = gf_now();
    Batch batch = {.setup = {options, bank, devices, opened, options->read, 0, 0, 0.0},
                   .jobs = jobs,
                   .failures = failures};
    for (size_t i = 0; i < jobs->count; i++)
        batch.setup.total_weight += gf_job_weight(&jobs->jobs[i]);
    pthread_mutex_init(&batch.mutex, NULL);
    gf_progress_begin(jobs->count, !options->quiet && !options->json);
    gf_leftovers_remove(jobs, failures->path);
    choose_device(&batch); /* which opens files of its own */
    size_t workers = count_workers(options, jobs);
    share_out(&batch.setup, workers);
    if (workers > 1) /* without memory for it nothing is tried again */
        (void)gf_allocate_zero(jobs->count, sizeof *batch.again, &batch.again);
    run_workers(&batch, workers);
    run_again(&batch);
    gf_progress_end();
    give_up_rest(&batch);
    gf_failures_sort(failures);
    if (jobs->count > 1)
        summarise(&batch, gf_now() - start);
    pthread_mutex_destroy(&batch.mutex);
    int result = exit_status(&batch);
    if (gf_failures_write(failures) == GF_OK)
        return result;
    gf_say_error(NULL, "%s", gf_message());
    return result ? result : 3;
}
