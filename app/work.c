/* Rates are of the operations that the methods make and of the bytes that must be moved at
 * least, so that no method looks busier by moving something twice; the roofline is of the same
 * two. What a method loads by its model stands beside each step. */
#include "app/work.h"

#include <stdlib.h>

#include "app/device.h"
#include "common/text.h"

enum { INDENT = 26, PATH_SHOWN = 4 * 4096 + 8 };

static GfWork scaled(GfWork work, double pictures)
{
    work.operations *= pictures;
    work.loaded *= pictures;
    work.stored *= pictures;
    return work;
}

static void note_step(GfLaneWork *work, const GfLane *lane, size_t output, size_t i,
                      double pictures)
{
    const GfPipeline *pipeline = &lane->plan->pipelines[output];
    const GfStep *step = &pipeline->steps[i];
    const char *method = lane->backend->method(lane->session, output, i);
    GfStepWork *noted = &work->steps[work->count++];
    GfTile tile = gf_model_tile(method, step, pipeline->wide);
    *noted = (GfStepWork){.filter = lane->filters[output], .method = method};
    noted->least = scaled(gf_model_least(step, pipeline->wide), pictures);
    /* Only there is a memory that the models are about. */
    if (gf_backend_is_gpu(lane->backend) &&
        gf_model_work(method, step, pipeline->wide, &tile, &noted->loads)) {
        noted->loads = scaled(noted->loads, pictures);
        noted->least.operations = noted->loads.operations;
    }
    work->operations += noted->least.operations;
}

void gf_work_note(GfLaneWork *work, const GfLane *lane, size_t pictures)
{
    size_t steps = 0;
    gf_work_free(work);
    work->filters = lane->bank->count;
    work->bytes_per_second = lane->backend->bytes_per_second;
    work->flops_per_second = lane->backend->flops_per_second;
    const GfFormat *in = &lane->plan->in;
    double read = (double)gf_row_bytes(in) * (double)in->height; /* once for all outputs */
    work->bytes = (double)pictures * read;
    for (size_t i = 0; i < lane->plan->outputs; i++) {
        steps += lane->plan->pipelines[i].count;
        work->bytes += (double)pictures * (lane->plan->pipelines[i].bytes - read);
    }
    if (gf_allocate_zero(steps, sizeof *work->steps, &work->steps) != GF_OK)
        return;
    for (size_t i = 0; i < lane->plan->outputs; i++)
        for (size_t j = 0; j < lane->plan->pipelines[i].count; j++)
            note_step(work, lane, i, j, (double)pictures);
}

void gf_work_free(GfLaneWork *work)
{
    free(work->steps);
    *work = (GfLaneWork){0};
}

/* Operations a byte; the second is of what is loaded alone, as the methods' sources count. */
static double least_intensity(const GfStepWork *step)
{
    return step->least.operations / (step->least.loaded + step->least.stored);
}

/* ---- JSON ---- */

static json_t *step_json(const GfStepWork *step)
{
    json_t *entry = json_object();
    bool known = step->loads.loaded > 0.0;
    json_object_set_new(entry, "method", json_string(step->method));
    json_object_set_new(entry, "operations", json_real(step->least.operations));
    json_object_set_new(entry, "bytes", json_real(step->least.loaded + step->least.stored));
    json_object_set_new(entry, "intensity", json_real(least_intensity(step)));
    json_object_set_new(entry, "method_loads", known ? json_real(step->loads.loaded) : json_null());
    json_object_set_new(entry, "method_intensity",
                        known ? json_real(gf_work_intensity(&step->loads)) : json_null());
    return entry;
}

static void set_real(json_t *object, const char *name, double value, bool known)
{
    json_object_set_new(object, name, known ? json_real(value) : json_null());
}

void gf_work_json(const GfLaneWork *work, double seconds, json_t *line)
{
    json_t *outputs = json_array(), *limits = json_object(), *shares = json_object();
    double flops = work->flops_per_second, bandwidth = work->bytes_per_second;
    for (size_t i = 0; i < work->filters; i++)
        json_array_append_new(outputs, json_array());
    for (size_t i = 0; i < work->count; i++)
        json_array_append_new(json_array_get(outputs, work->steps[i].filter),
                              step_json(&work->steps[i]));
    set_real(limits, "bytes_per_second", bandwidth, bandwidth > 0.0);
    set_real(limits, "flops_per_second", flops, flops > 0.0);
    set_real(shares, "bandwidth", work->bytes / (bandwidth * seconds),
             bandwidth > 0.0 && seconds > 0.0);
    set_real(shares, "arithmetic", work->operations / (flops * seconds),
             flops > 0.0 && seconds > 0.0);
    set_real(shares, "roofline",
             gf_model_floor(work->operations, work->bytes, flops, bandwidth) / seconds,
             flops > 0.0 && bandwidth > 0.0 && seconds > 0.0);
    json_object_set_new(line, "steps", outputs);
    json_object_set_new(line, "operations", json_real(work->operations));
    json_object_set_new(line, "limits", limits);
    json_object_set_new(line, "shares", shares);
}

/* ---- a table ---- */

static void print_shares(const GfLaneWork *work, double seconds, FILE *stream)
{
    double flops = work->flops_per_second, bandwidth = work->bytes_per_second;
    if (flops <= 0.0 || bandwidth <= 0.0)
        return;
    fprintf(stream, "%*s%.3g %% of %.0f GB/s, %.3g %% of %.0f GFLOP/s, %.3g %% of the roofline\n",
            INDENT, "", 100.0 * work->bytes / (bandwidth * seconds), bandwidth * 1e-9,
            100.0 * work->operations / (flops * seconds), flops * 1e-9,
            100.0 * gf_model_floor(work->operations, work->bytes, flops, bandwidth) / seconds);
}

static void print_step(const GfStepWork *step, size_t number, FILE *stream)
{
    fprintf(stream, "    step %-3zu %-12s %10.4g %11.4g %8.2f", number, step->method,
            step->least.operations, step->least.loaded + step->least.stored, least_intensity(step));
    if (step->loads.loaded > 0.0)
        fprintf(stream, " %13.4g %8.2f", step->loads.loaded, gf_work_intensity(&step->loads));
    fprintf(stream, "\n");
}

static void print_steps(const GfLaneWork *work, char *const *names, FILE *stream)
{
    char shown[PATH_SHOWN];
    size_t number = 0;
    for (size_t i = 0; i < work->count; i++) {
        const GfStepWork *step = &work->steps[i];
        number = i > 0 && step->filter == work->steps[i - 1].filter ? number + 1 : 1;
        if (number == 1 && work->filters > 1)
            fprintf(stream, "    %s\n", gf_escape(names[step->filter], shown, sizeof shown));
        print_step(step, number, stream);
    }
}

void gf_work_print(const GfLaneWork *work, double seconds, char *const *names, FILE *stream)
{
    bool loads = false;
    fprintf(stream, "%.2f GB/s, %.2f GFLOP/s, %.2f OP/B\n", work->bytes / seconds * 1e-9,
            work->operations / seconds * 1e-9, work->operations / work->bytes);
    print_shares(work, seconds, stream);
    for (size_t i = 0; i < work->count; i++)
        loads |= work->steps[i].loads.loaded > 0.0;
    fprintf(stream, "    %-21s operations       bytes     OP/B%s\n", "",
            loads ? "  method loads     OP/B" : "");
    if (work->count > 0)
        print_steps(work, names, stream);
}
