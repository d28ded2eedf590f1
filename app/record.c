/* jansson refuses strings that are no UTF-8, which file names may be, so every name goes through
 * gf_name_json(). */
#include "app/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/figures.h"
#include "app/message.h"
#include "app/print.h"
#include "common/text.h"

enum { PATH_SHOWN = 4 * 4096 + 8, METHODS_SHOWN = 512, REAL_DIGITS = 9 };

void gf_record_lane(GfRecord *record, const GfLane *lane, size_t pictures)
{
    const GfBackend *backend = lane->backend;
    snprintf(record->device, sizeof record->device, "%s (%s)", backend->name, backend->device);
    record->bands = lane->submits;
    record->band_rows = lane->plan->band_rows;
    record->multiply_adds = 0.0;
    gf_work_note(&record->work, lane, pictures);
    json_decref(record->methods);
    record->methods = json_array();
    for (size_t i = 0; i < lane->bank->count; i++)
        json_array_append_new(record->methods, json_array());
    for (size_t i = 0; i < lane->plan->outputs; i++) {
        const GfPipeline *pipeline = &lane->plan->pipelines[i];
        json_t *steps = json_array_get(record->methods, lane->filters[i]);
        record->multiply_adds += (double)pictures * pipeline->multiply_adds;
        for (size_t j = 0; j < pipeline->count; j++)
            json_array_append_new(steps, json_string(backend->method(lane->session, i, j)));
    }
}

static void forget_outputs(GfRecord *record)
{
    for (size_t i = 0; i < record->output_count; i++)
        free(record->outputs[i]);
    free(record->outputs);
    free(record->exist);
    record->outputs = NULL;
    record->exist = NULL;
    record->output_count = 0;
}

GfStatus gf_record_outputs(GfRecord *record, const GfOutlets *outlets)
{
    forget_outputs(record);
    GF_TRY(gf_allocate_zero(outlets->count, sizeof *record->outputs, &record->outputs));
    GF_TRY(gf_allocate_zero(outlets->count, sizeof *record->exist, &record->exist));
    for (; record->output_count < outlets->count; record->output_count++) {
        char *path = strdup(outlets->items[record->output_count].path);
        if (!path)
            return gf_fail(GF_EMEMORY, "out of memory");
        record->outputs[record->output_count] = path;
    }
    gf_record_existing(record, outlets);
    return GF_OK;
}

void gf_record_existing(GfRecord *record, const GfOutlets *outlets)
{
    for (size_t i = 0; i < record->output_count; i++)
        record->exist[i] = outlets->items[i].exists;
}

static void add_picture(json_t *line, const GfRecord *record)
{
    const GfFormat *in = &record->in;
    json_object_set_new(line, "width", json_integer((json_int_t)in->width));
    json_object_set_new(line, "height", json_integer((json_int_t)in->height));
    json_object_set_new(line, "channels", json_integer((json_int_t)in->channels));
    json_object_set_new(line, "sample", json_string(gf_sample_name(in->sample)));
    json_object_set_new(line, "pictures", json_integer((json_int_t)record->pictures));
}

static void add_work(json_t *line, const GfRecord *record)
{
    json_object_set_new(line, "device", json_string(record->device));
    json_object_set(line, "methods", record->methods);
    json_object_set_new(line, "bands", json_integer((json_int_t)record->bands));
    json_object_set_new(line, "multiply_adds", json_real(record->multiply_adds));
    json_object_set_new(line, "bytes", json_real(record->work.bytes));
    gf_work_json(&record->work, record->times.compute, line);
    const GfFlowTimes *times = &record->times;
    json_t *seconds = json_object();
    json_object_set_new(seconds, "decode", json_real(times->read));
    json_object_set_new(seconds, "compute", json_real(times->compute));
    json_object_set_new(seconds, "copy", json_real(times->copy));
    json_object_set_new(seconds, "encode", json_real(times->write));
    json_object_set_new(seconds, "total", json_real(record->total));
    json_object_set_new(line, "seconds", seconds);
}

void gf_record_json(const GfRecord *record, const GfJob *job)
{
    static const char *const words[] = {"ok", "failed", "skipped", "stopped"};
    json_t *line = json_object(), *outputs = json_array(), *existing = json_array();
    json_object_set_new(line, "input", gf_name_json(job->input->path));
    char *const *paths = record->output_count ? record->outputs : job->paths;
    size_t count = record->output_count ? record->output_count : job->outputs;
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(outputs, gf_name_json(paths[i]));
        if (record->exist ? record->exist[i] : record->outcome == GF_OUTCOME_SKIPPED)
            json_array_append_new(existing, gf_name_json(paths[i]));
    }
    json_object_set_new(line, "outputs", outputs);
    if (json_array_size(existing) > 0)
        json_object_set(line, "existing", existing);
    json_decref(existing);
    json_object_set_new(line, "status", json_string(words[record->outcome]));
    if (record->outcome == GF_OUTCOME_FAILED) {
        json_object_set_new(line, "error", gf_name_json(record->error.message));
    }
    if (record->in.width)
        add_picture(line, record);
    if (record->outcome == GF_OUTCOME_WRITTEN)
        add_work(line, record);
    gf_print_json(line, REAL_DIGITS);
}

/* The methods of one filter's steps as "separable, opacity". */
static const char *method_names(const json_t *methods, size_t filter, char *text, size_t size)
{
    size_t i, used = 0;
    json_t *name;
    const json_t *steps = json_array_get(methods, filter);
    text[0] = '\0';
    json_array_foreach (steps, i, name) {
        int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "", json_string_value(name));
        used = gf_min(used + (size_t)(n > 0 ? n : 0), size - 1);
    }
    return text;
}

void gf_record_detail(const GfRecord *record, const GfJob *job, const GfBank *bank)
{
    char names[METHODS_SHOWN];
    for (size_t i = 0; i < record->output_count; i++)
        if (record->exist[i])
            gf_say_detail(record->outputs[i], "exists already");
    for (size_t i = 0; i < bank->count; i++) {
        if (json_array_size(json_array_get(record->methods, i)) == 0)
            continue;
        method_names(record->methods, i, names, sizeof names);
        if (job->filters == bank->count && job->maps[i] == 1)
            gf_say_detail(strcmp(job->bases[i], "-") == 0 ? "standard output" : job->bases[i],
                          "computed by %s", names);
        else
            gf_say_detail(job->input->path, "%s computed by %s", bank->names[i], names);
    }
}

void gf_record_stats(const GfRecord *record, const GfJob *job, const GfBank *bank)
{
    char *text = NULL, shown[PATH_SHOWN];
    size_t size;
    const GfFlowTimes *times = &record->times;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return;
    double busy = times->compute > 0 ? times->compute : 1e-9;
    fprintf(stream, "%s: %zu x %zu, %zu channel%s, %s; %s\n",
            gf_escape(job->input->path, shown, sizeof shown), record->in.width, record->in.height,
            record->in.channels, record->in.channels == 1 ? "" : "s",
            gf_sample_name(record->in.sample), record->device);
    fprintf(stream, "  decode    %9.4f s   bands of %zu rows: %zu\n", times->read,
            record->band_rows, record->bands);
    fprintf(stream, "  filter    %9.4f s   ", times->compute);
    gf_work_print(&record->work, busy, bank->names, stream);
    fprintf(stream, "  transfer  %9.4f s\n", times->copy);
    fprintf(stream, "  encode    %9.4f s\n", times->write);
    fprintf(stream, "  total     %9.4f s   (stages overlap)\n", record->total);
    if (fclose(stream) == 0)
        gf_say_text(text);
    free(text);
}

bool gf_record_is_fatal(const GfRecord *record)
{
    bool standard = record->output_count == 1 && strcmp(record->outputs[0], "-") == 0;
    return record->error.status == GF_EFULL || record->error.status == GF_EDEVICE ||
           (standard && record->error.status == GF_EWRITE);
}

void gf_record_not_started(const GfJobs *jobs, size_t first)
{
    for (size_t i = first; i < jobs->count; i++)
        gf_say_error(jobs->jobs[i].input->path, "not started");
}

void gf_record_free(GfRecord *record)
{
    json_decref(record->methods);
    record->methods = NULL;
    forget_outputs(record);
    gf_work_free(&record->work);
}
