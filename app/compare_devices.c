/* The picture is held in memory and sent through both backends by the same flow as ever, bands and
 * all: what is compared is what a normal run computes.
 *
 * Without --tolerance integers may differ by one step, as the exactness rule allows on a near-tie.
 * Floats have no step: 1e-5 of the largest value passes. The rule bounds their relative l2 error by
 * 1e-6; a single sample may be off by some times more. Where samples cancel, as in a flat picture's
 * edges, nothing is left but what rounding leaves of them: a share of the largest passes too, of
 * the size of f64's rounding or f32's, as the sums are. */
#include "app/compare_devices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/compare.h"
#include "app/figures.h"
#include "app/message.h"
#include "app/outlets.h"
#include "app/record.h"
#include "app/report.h"
#include "app/whole.h"
#include "images/light.h"

static const double float_tolerance = 1e-5; /* of the largest value */
/* Of the picture's largest sample, where sums are f32 and where they are f64. */
static const double left_narrow = 0x1p-22, left_wide = 1e-12;

enum { METHODS_SHOWN = 160 };

/* How an output was computed. */
typedef struct Course {
    char methods[METHODS_SHOWN];
    bool wide;
    double noise;
} Course;

typedef struct Comparison {
    const GfOptions *options;
    const GfBank *bank;
    const GfJob *job;
    GfBackend *backends[2];
    GfImage in;
    GfLight light;      /* with --linear */
    GfImage *out[2];    /* a picture a filter */
    Course *courses[2]; /* likewise */
    GfFlowTimes times[2];
    GfReport *report; /* NULL: none is wanted */
    size_t beyond;    /* filters whose outputs differ too much */
} Comparison;

typedef struct Memory {
    const GfImage *in;
    GfImage *out;
} Memory;

static void copy_rows(unsigned char *to, size_t to_stride, const unsigned char *from,
                      size_t from_stride, size_t row_bytes, size_t rows)
{
    for (size_t y = 0; y < rows; y++)
        memcpy(to + y * to_stride, from + y * from_stride, row_bytes);
}

static GfStatus read_memory(void *context, const GfBand *band)
{
    const Memory *memory = context;
    const unsigned char *from = memory->in->samples;
    copy_rows(band->samples, band->stride, from + band->y0 * memory->in->stride, memory->in->stride,
              gf_row_bytes(&memory->in->format), band->rows);
    return GF_OK;
}

static GfStatus write_memory(void *context, size_t output, GfBand *band)
{
    const GfImage *out = &((const Memory *)context)->out[output];
    unsigned char *to = out->samples;
    copy_rows(to + band->y0 * out->stride, out->stride, band->samples, band->stride,
              gf_row_bytes(&out->format), band->rows);
    return GF_OK;
}

/* The methods of the steps to one output, as far as there is room. */
static void note_course(const GfLane *lane, size_t output, Course *course)
{
    size_t used = 0;
    char *text = course->methods;
    course->wide = lane->plan->pipelines[output].wide;
    course->noise = lane->plan->pipelines[output].noise;
    text[0] = '\0';
    for (size_t i = 0; i < lane->plan->pipelines[output].count && used < METHODS_SHOWN; i++)
        used += (size_t)snprintf(text + used, METHODS_SHOWN - used, "%s%s", i ? ", " : "",
                                 lane->backend->method(lane->session, output, i));
}

/* Computes all filters on one backend into out[]. */
static GfStatus compute(Comparison *comparison, GfSample sample, size_t which)
{
    GfLane lane = {0};
    GfImage *out = comparison->out[which];
    GfFlowTimes *times = &comparison->times[which];
    GfStatus status;
    *times = (GfFlowTimes){0};
    GfPlanOptions wishes = gf_options_plan(comparison->options, sample);
    wishes.light = comparison->options->linear ? &comparison->light : NULL;
    wishes.band_bytes = 0; /* as in a run without --compare */
    wishes.devices = comparison->backends[which]->devices;
    GF_GO(gf_lane_prepare(&lane, comparison->backends[which], comparison->bank, NULL,
                          &comparison->in.format, &wishes));
    for (size_t i = 0; i < lane.plan->outputs; i++)
        GF_GO(gf_image_allocate(&lane.plan->pipelines[i].out, &out[i]));
    Memory memory = {&comparison->in, out};
    const GfEnds ends = {read_memory, write_memory, &memory};
    GF_GO(gf_flow_run(&lane, &ends, times));
    for (size_t i = 0; i < lane.plan->outputs; i++)
        note_course(&lane, i, &comparison->courses[which][i]);
    gf_say_detail(comparison->job->input->path, "%s (%s): %.4f s in kernels, %.4f s in transfers",
                  lane.backend->name, lane.backend->device, times->compute, times->copy);
done:
    gf_lane_clear(&lane);
    return status;
}

static void print_figures(const Comparison *comparison, size_t filter, const GfFigures *figures)
{
    const char *path = comparison->job->input->path;
    const char *text = comparison->bank->filters[filter]->text;
    const GfBackend *one = comparison->backends[0], *other = comparison->backends[1];
    if (comparison->options->json) {
        json_t *line = json_object();
        json_object_set_new(line, "input", gf_name_json(path));
        json_object_set_new(line, "filter", gf_name_json(text));
        json_object_set_new(line, "a", gf_name_json(one->name));
        json_object_set_new(line, "b", gf_name_json(other->name));
        gf_figures_json(line, figures);
        return;
    }
    char *title = NULL;
    if (asprintf(&title, "%s: %s: %s (%s) against %s (%s)", path, text, one->name, one->device,
                 other->name, other->device) < 0)
        title = NULL;
    gf_figures_print(title ? title : path, figures);
    free(title);
}

static void report_filter(const Comparison *comparison, size_t filter, const GfFigures *figures)
{
    GfReportCase compared = {.filter = comparison->bank->filters[filter]->text,
                             .figures = figures,
                             .opaque = gf_sample_max(comparison->out[0][filter].format.sample)};
    /* Floats keep the numbers that opacity has in the input. */
    if (gf_sample_is_float(comparison->out[0][filter].format.sample))
        compared.opaque = gf_sample_max(comparison->in.format.sample);
    for (size_t i = 0; i < 2; i++)
        compared.sides[i] = (GfReportSide){.name = comparison->backends[i]->name,
                                           .device = comparison->backends[i]->device,
                                           .method = comparison->courses[i][filter].methods,
                                           .compute = comparison->times[i].compute,
                                           .copy = comparison->times[i].copy,
                                           .image = &comparison->out[i][filter]};
    gf_report_case(comparison->report, &compared);
}

static double tolerance_of(const Comparison *comparison, size_t filter)
{
    const GfImage *result = &comparison->out[1][filter];
    const double left = comparison->courses[0][filter].wide ? left_wide : left_narrow;
    if (comparison->options->tolerance_given)
        return comparison->options->tolerance;
    if (!gf_sample_is_float(result->format.sample))
        return 1.0;
    return fmax(float_tolerance * gf_image_magnitude(result),
                left * gf_image_magnitude(&comparison->in));
}

static GfStatus compare_filter(Comparison *comparison, size_t filter)
{
    const GfOptions *options = comparison->options;
    const GfImage *a = &comparison->out[0][filter], *b = &comparison->out[1][filter];
    GfFigures figures;
    GF_TRY(gf_compare_images(a, b, tolerance_of(comparison, filter), &figures));
    print_figures(comparison, filter, &figures);
    report_filter(comparison, filter, &figures);
    comparison->beyond += figures.beyond > 0;
    return gf_whole_write_difference(options, a, b, figures.largest);
}

/* Writes the first backend's pictures as a run without --compare would. */
static GfStatus write_outputs(Comparison *comparison, const GfReader *reader)
{
    size_t filters = comparison->bank->count;
    const GfFormat **formats = NULL;
    GfOutlets outlets = {0};
    size_t written;
    GfStatus status;
    GF_GO(gf_allocate(filters, sizeof *formats, &formats));
    for (size_t i = 0; i < filters; i++)
        formats[i] = &comparison->out[0][i].format;
    GF_GO(gf_outlets_open(comparison->options, comparison->job, reader, formats, filters,
                          comparison->options->read.max_memory, 0, &outlets));
    for (size_t i = 0; i < filters; i++) {
        gf_outlets_noise(&outlets, i, comparison->courses[0][i].noise);
        GfBand band = gf_image_band(&comparison->out[0][i]);
        GF_GO(gf_outlets_rows(&outlets, 0, i, &band));
    }
    GF_GO(gf_outlets_finish(&outlets));
    GF_GO(gf_outlets_commit(&outlets, &written));
done:
    gf_outlets_discard(&outlets);
    free(formats);
    return status;
}

static GfStatus compare_picture(Comparison *comparison, GfReader *reader)
{
    const GfOptions *options = comparison->options;
    GfSample sample = gf_outlets_sample(options, comparison->job, reader);
    if (reader->pictures > 1)
        return gf_fail(GF_EUSAGE, "--compare takes files of one picture, and this holds %zu",
                       reader->pictures);
    if (options->linear)
        GF_TRY(gf_light_of(&reader->metadata, &comparison->light));
    GF_TRY(gf_whole_read(reader, &options->read, &comparison->in));
    for (size_t i = 0; i < 2; i++)
        GF_TRY(compute(comparison, sample, i));
    gf_report_picture(comparison->report, comparison->job->input->path, &comparison->in);
    for (size_t i = 0; i < comparison->bank->count; i++)
        GF_TRY(compare_filter(comparison, i));
    return comparison->job->outputs > 0 ? write_outputs(comparison, reader) : GF_OK;
}

static GfStatus compare_job(Comparison *comparison)
{
    size_t filters = comparison->bank->count;
    const GfJob *job = comparison->job;
    GfReader *reader = NULL;
    GfStatus status;
    for (size_t i = 0; i < 2; i++) {
        GF_GO(gf_allocate_zero(filters, sizeof(GfImage), &comparison->out[i]));
        GF_GO(gf_allocate_zero(filters, sizeof(Course), &comparison->courses[i]));
    }
    GF_GO(job->input->trouble ? gf_fail(GF_EREAD, "%s", job->input->trouble) : GF_OK);
    GF_GO(gf_reader_open(job->input->path, &comparison->options->read, &reader));
    GF_GO(compare_picture(comparison, reader));
done:
    gf_reader_close(reader);
    gf_image_free(&comparison->in);
    gf_light_free(&comparison->light);
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; comparison->out[i] && j < filters; j++)
            gf_image_free(&comparison->out[i][j]);
        free(comparison->out[i]);
        comparison->out[i] = NULL;
        free(comparison->courses[i]);
        comparison->courses[i] = NULL;
    }
    return status;
}

/* Whether the next picture would fail too. */
static bool report_failure(const Comparison *comparison, GfStatus status)
{
    const GfJob *job = comparison->job;
    GfRecord record = {.outcome = GF_OUTCOME_FAILED};
    gf_error_save(&record.error, status);
    gf_say_error(job->input->path, "%s", gf_message());
    gf_report_failure(comparison->report, job->input->path, gf_message());
    if (comparison->options->json)
        gf_record_json(&record, job);
    return gf_record_is_fatal(&record);
}

/* All pictures one after the other; the exit status. */
static int compare_jobs(Comparison *comparison, const GfJobs *jobs)
{
    bool failed = false, fatal = false;
    size_t i;
    for (i = 0; i < jobs->count && !fatal; i++) {
        comparison->job = &jobs->jobs[i];
        GfStatus status = compare_job(comparison);
        if (status == GF_OK)
            continue;
        fatal = report_failure(comparison, status);
        failed = true;
    }
    if (fatal) {
        gf_record_not_started(jobs, i);
        return 3;
    }
    return failed || comparison->beyond > 0;
}

int gf_compare_devices(const GfOptions *options, const GfBank *bank, GfDevices *devices,
                       const GfJobs *jobs)
{
    Comparison comparison = {.options = options, .bank = bank};
    if (gf_report_open(options, &comparison.report) != GF_OK ||
        gf_devices_pair(devices, &comparison.backends[0], &comparison.backends[1]) != GF_OK) {
        gf_say_error(NULL, "%s", gf_message());
        gf_report_discard(&comparison.report);
        return 2;
    }
    int result = compare_jobs(&comparison, jobs);
    /* A page of some of the pictures would pass for one of all. */
    if (result > 1)
        gf_report_discard(&comparison.report);
    if (gf_report_commit(&comparison.report) == GF_OK)
        return result;
    gf_say_error(NULL, "%s", gf_message());
    return 3;
}
