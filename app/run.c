/* One attempt is: reader, backend, lane, outlets, rows, the end of the input, and only then names
 * for the outputs. When memory is short there may be another attempt with smaller bands, when a GPU
 * fails also on the CPU; the reader is used again while no row was read, else opened anew (which no
 * pipe allows); also where rows that it decoded ahead may take the memory that is missing. */
#include "app/run.h"

#include <stdlib.h>

#include "app/message.h"
#include "app/outlets.h"
#include "app/progress.h"
#include "common/clock.h"
#include "images/light.h"

enum { MAX_SHRINKS = 4, SHRINK = 4 };

typedef struct Run {
    const GfSetup *setup;
    GfLane *lane;
    const GfJob *job;
    GfRecord *record;
    bool *wanted; /* filters of the bank, the others' outputs exist; NULL: all; owned */
    GfReader *reader;
    bool touched; /* rows have been read from the reader */
    GfOutlets outlets;
    GfLight light;     /* with --linear: of the picture */
    size_t written;    /* files */
    size_t picture;    /* of a file of several */
    double shown_part; /* of this job, that the progress bar knows of */
} Run;

double gf_job_weight(const GfJob *job)
{
    return job->input->size > 1 ? (double)job->input->size : 1.0;
}

static GfStatus read_rows(void *context, const GfBand *band)
{
    Run *run = context;
    return gf_reader_rows(run->reader, band);
}

static GfStatus write_rows(void *context, size_t output, GfBand *band)
{
    Run *run = context;
    const GfPlan *plan = run->lane->plan;
    double rows = (double)plan->pipelines[output].out.height;
    double part =
        (double)band->rows / rows / ((double)plan->outputs * (double)run->reader->pictures);
    GF_TRY(gf_outlets_rows(&run->outlets, run->picture, run->lane->filters[output], band));
    run->shown_part += part;
    gf_progress_add(part);
    return GF_OK;
}

static GfStatus open_outlets(Run *run)
{
    const GfPlan *plan = run->lane->plan;
    const size_t *filters = run->lane->filters;
    size_t count = run->setup->bank->count;
    const GfFormat **formats;
    GF_TRY(gf_allocate_zero(count, sizeof *formats, &formats));
    for (size_t i = 0; i < plan->outputs; i++)
        formats[filters[i]] = &plan->pipelines[i].out;
    GfStatus status =
        gf_outlets_open(run->setup->options, run->job, run->reader, formats, count,
                        run->setup->read.max_memory, gf_lane_memory(run->lane), &run->outlets);
    free(formats);
    GF_TRY(status);
    for (size_t i = 0; i < plan->outputs; i++)
        gf_outlets_noise(&run->outlets, filters[i], plan->pipelines[i].noise);
    return gf_record_outputs(run->record, &run->outlets);
}

static GfStatus attempt(Run *run, GfBackend *backend, size_t band_bytes)
{
    const GfSetup *setup = run->setup;
    const GfReader *reader = run->reader;
    GfPlanOptions wishes =
        gf_options_plan(setup->options, gf_outlets_sample(setup->options, run->job, reader));
    wishes.band_bytes = band_bytes;
    /* Devices share one picture where there are fewer pictures than devices. */
    wishes.devices = setup->workers < backend->devices ? backend->devices : 1;
    /* The reader decoded ahead with no more than half of it. */
    wishes.memory = setup->memory ? setup->memory - reader->ahead : 0;
    wishes.light = setup->options->linear ? &run->light : NULL;
    GF_TRY(gf_lane_prepare(run->lane, backend, setup->bank, run->wanted, &reader->format, &wishes));
    GF_TRY(open_outlets(run));
    gf_record_lane(run->record, run->lane, reader->pictures);
    const GfEnds ends = {read_rows, write_rows, run};
    run->touched = true;
    run->record->times.read = reader->ahead_seconds;
    for (run->picture = 0; run->picture < reader->pictures; run->picture++)
        GF_TRY(gf_flow_run(run->lane, &ends, &run->record->times));
    GF_TRY(gf_reader_finish(run->reader));
    if (reader->note[0])
        gf_say_note(run->job->input->path, "%s", reader->note);
    GF_TRY(gf_outlets_finish(&run->outlets));
    GfStatus status = gf_outlets_commit(&run->outlets, &run->written);
    gf_record_existing(run->record, &run->outlets);
    gf_outlets_discard(&run->outlets);
    return status;
}

static GfStatus open_reader(Run *run)
{
    if (!run->reader)
        GF_TRY(gf_reader_open(run->job->input->path, &run->setup->read, &run->reader));
    run->record->in = run->reader->format;
    run->record->pictures = run->reader->pictures;
    run->touched = false;
    if (!run->setup->options->linear)
        return GF_OK;
    gf_light_free(&run->light);
    return gf_light_of(&run->reader->metadata, &run->light);
}

/* After a failed attempt: changes backend or band_bytes for the next, or gives the failure back. */
static GfStatus find_remedy(Run *run, GfStatus status, GfBackend **backend, size_t *band_bytes,
                            size_t *shrinks)
{
    GfError failure = {0};
    gf_error_save(&failure, status);
    gf_outlets_discard(&run->outlets);
    gf_lane_clear(run->lane);
    gf_progress_add(-run->shown_part);
    run->shown_part = 0.0;
    run->record->times = (GfFlowTimes){0};
    bool device = status >= GF_EDEVMEM; /* else it is the picture's or the output's, or memory */
    bool ahead = run->reader->ahead > 0;
    bool memory = status == GF_EDEVMEM || status == GF_EMEMORY || (status == GF_ELIMIT && ahead);
    if ((!device && !memory) || (run->touched && !run->job->input->regular))
        return gf_error_raise(&failure);
    if (memory && (*shrinks)++ < MAX_SHRINKS) {
        size_t before = *band_bytes ? *band_bytes : (*backend)->band_bytes;
        *band_bytes = gf_max(before / SHRINK, 1);
        gf_say_detail(run->job->input->path, "%s; trying smaller bands", failure.message);
    } else if (!device) {
        return gf_error_raise(&failure);
    } else {
        GfBackend *failed = *backend;
        gf_error_raise(&failure);
        GF_TRY(gf_devices_fall_back(run->setup->devices, run->job->input->path, failed, status,
                                    backend));
        *band_bytes = 0;
    }
    if (run->touched || (memory && ahead)) {
        gf_reader_close(run->reader);
        run->reader = NULL;
    }
    return open_reader(run);
}

static GfStatus run_attempts(Run *run)
{
    const GfSetup *setup = run->setup;
    GfBackend *backend;
    size_t band_bytes = 0, shrinks = 0;
    if (run->job->input->trouble)
        return gf_fail(GF_EREAD, "%s", run->job->input->trouble);
    GF_TRY(open_reader(run));
    GF_TRY(gf_devices_choose(setup->devices, setup->bank, &run->record->in,
                             setup->total_weight / gf_job_weight(run->job),
                             run->job->input->regular ? run->reader : NULL, &backend));
    for (;;) {
        GfStatus status = attempt(run, backend, band_bytes);
        gf_devices_tell_losses(setup->devices);
        if (status == GF_OK)
            return GF_OK;
        GF_TRY(find_remedy(run, status, &backend, &band_bytes, &shrinks));
    }
}

/* Of several filters those whose outputs are all there are left out. */
static GfStatus run_missing(Run *run)
{
    const GfJob *job = run->job;
    if (run->setup->options->skip_existing && job->filters > 1) {
        GF_TRY(gf_allocate(job->filters, sizeof *run->wanted, &run->wanted));
        if (!gf_outlets_missing(job, run->wanted))
            return GF_OK; /* another run has just written the last */
    }
    return run_attempts(run);
}

GfStatus gf_run_job(const GfSetup *setup, GfLane *lane, const GfJob *job, GfRecord *record)
{
    Run run = {.setup = setup, .lane = lane, .job = job, .record = record};
    double start = gf_now();
    if (*setup->opened) {
        run.reader = *setup->opened;
        *setup->opened = NULL;
        start -= run.reader->ahead_seconds;
    }
    GfStatus status = GF_OK;
    if (setup->options->skip_existing && gf_outlets_exist(job)) {
        record->outcome = GF_OUTCOME_SKIPPED;
    } else {
        status = run_missing(&run);
        record->outcome = status == GF_OK ? run.written ? GF_OUTCOME_WRITTEN : GF_OUTCOME_SKIPPED
                          : status == GF_STOPPED ? GF_OUTCOME_STOPPED
                                                 : GF_OUTCOME_FAILED;
        gf_error_save(&record->error, status);
    }
    gf_reader_close(run.reader);
    gf_light_free(&run.light);
    free(run.wanted);
    if (record->outcome == GF_OUTCOME_SKIPPED && run.shown_part == 0.0)
        gf_progress_pass();
    else
        gf_progress_add(1.0 - run.shown_part);
    record->total = gf_now() - start;
    return status;
}
