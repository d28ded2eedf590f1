#include "bench/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_t *device_json(const Run *run)
{
    const Device *device = &run->device;
    char capability[16];
    if (!run->has_device)
        return json_null();
    snprintf(capability, sizeof capability, "%d.%d", device->major, device->minor);
    return json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:s, s:s, s:s, s:f, s:f}", "name",
                     device->name, "capability", capability, "multiprocessors",
                     device->multiprocessors, "clock_khz", device->clock_khz, "memory",
                     (json_int_t)device->memory, "l2", (json_int_t)device->l2, "driver",
                     device->driver, "cudnn", run->peers.cudnn_note, "npp", run->peers.npp_note,
                     "copy_bytes_per_s", device->copy_rate, "fma_flop_per_s", device->fma_rate);
}

static const char *side_name(Side side)
{
    static const char *const names[] = {"method", "peer", "copy"};
    return names[side];
}

/* NaN has no JSON: an output that was not written is null. */
static json_t *real(double value)
{
    json_t *number = json_real(value);
    return number ? number : json_null();
}

static json_t *score_json(const Result *result, const Score *score)
{
    json_t *object = json_pack("{s:s, s:s, s:b}", "name", score->name, "kind",
                               side_name(score->side), "ran", score->ran);
    if (score->note[0])
        json_object_set_new(object, "note", json_string(score->note));
    if (!score->ran)
        return object;
    const Timing *timing = &score->timing;
    const Verdict *verdict = &score->verdict;
    json_object_set_new(object, "us", real(timing->median * 1e6));
    json_object_set_new(object, "least_us", real(timing->least * 1e6));
    json_object_set_new(object, "most_us", real(timing->most * 1e6));
    json_object_set_new(object, "rounds", json_integer((json_int_t)timing->rounds));
    json_object_set_new(object, "launches", json_integer((json_int_t)timing->launches));
    json_object_set_new(object, "graph", json_boolean(timing->graph));
    json_object_set_new(object, "over_floor", real(timing->median / result->floor));
    json_object_set_new(object, "tflop_per_s", real(result->operations / timing->median / 1e12));
    json_object_set_new(object, "gb_per_s", real(result->bytes / timing->median / 1e9));
    if (verdict->samples > 0) {
        json_object_set_new(object, "error", real(verdict->error));
        json_object_set_new(object, "right", json_boolean(verdict->right));
    }
    if (verdict->against)
        json_object_set_new(object, "apart_from_direct", real(verdict->apart));
    return object;
}

static json_t *spec_json(const Spec *spec)
{
    return json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "in",
                     gf_sample_name(spec->in), "out", gf_sample_name(spec->out), "layer",
                     spec->layer, "batch", (json_int_t)spec->batch, "channels",
                     (json_int_t)spec->channels, "width", (json_int_t)spec->width, "height",
                     (json_int_t)spec->height, "kernel", (json_int_t)spec->kernel, "columns",
                     (json_int_t)(spec->columns ? spec->columns : spec->kernel), "filters",
                     (json_int_t)spec->filters, "padding", (json_int_t)spec->padding, "stride",
                     (json_int_t)(spec->stride ? spec->stride : 1), "groups",
                     (json_int_t)(spec->groups ? spec->groups : 1), "dilation",
                     (json_int_t)(spec->dilation ? spec->dilation : 1));
}

static json_t *result_json(const Result *result)
{
    const Score *ours = result_best(result, SIDE_OURS), *peer = result_best(result, SIDE_PEER);
    json_t *scores = json_array();
    for (size_t i = 0; i < result->count; i++)
        json_array_append_new(scores, score_json(result, &result->scores[i]));
    return json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:f, s:I, s:s?, s:s?, s:s, s:f, s:o}", "suite",
                     result->suite, "case", result->name, "numbers", spec_json(&result->spec),
                     "bytes", result->bytes, "operations", result->operations, "op_per_byte",
                     result->operations / result->bytes, "floor_us", result->floor * 1e6, "sets",
                     (json_int_t)result->sets, "best_method", ours ? ours->name : NULL, "best_peer",
                     peer ? peer->name : NULL, "auto", result->chosen, "peer_over_method",
                     ours && peer ? peer->timing.median / ours->timing.median : 0.0, "contestants",
                     scores);
}

/* How much faster `name` is than each of the peers among the names. */
static json_t *against_json(const Run *run, const char *suite, const char *name,
                            const char *const *names, size_t count)
{
    json_t *all = json_object();
    for (size_t i = 0; i < count; i++) {
        Mean mean = results_against(&run->results, suite, name, names[i]);
        if (mean.cases > 0 && results_side(&run->results, suite, names[i]) == SIDE_PEER)
            json_object_set_new(all, names[i],
                                json_pack("{s:f, s:f, s:I}", "mean", mean.mean, "least", mean.least,
                                          "cases", (json_int_t)mean.cases));
    }
    return all;
}

static json_t *summary_json(const Run *run, const char *suite, const char *name,
                            const char *const *names, size_t count)
{
    Summary summary = results_summary(&run->results, suite, name);
    json_t *against = against_json(run, suite, name, names, count);
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "name", name,
                     "cases", (json_int_t)summary.cases, "wrong", (json_int_t)summary.wrong,
                     "fastest", (json_int_t)summary.wins, "late", (json_int_t)summary.late,
                     "over_floor", summary.over_floor.mean, "worst_over_floor",
                     summary.over_floor.least, "behind", summary.behind.mean, "peer_over_it",
                     summary.against.mean, "least_peer_over_it", summary.against.least,
                     "largest_error", summary.error, "against", against);
}

static json_t *summaries_json(const Run *run)
{
    json_t *all = json_object();
    for (const Suite *suite = suites; suite->name; suite++) {
        const char *names[CONTESTANTS];
        size_t count = results_names(&run->results, suite->name, names, CONTESTANTS);
        if (count == 0)
            continue;
        json_t *list = json_array();
        json_array_append_new(list, summary_json(run, suite->name, BEST_OURS, names, count));
        json_array_append_new(list, summary_json(run, suite->name, CHOSEN, names, count));
        for (size_t i = 0; i < count; i++)
            json_array_append_new(list, summary_json(run, suite->name, names[i], names, count));
        json_object_set_new(all, suite->name, list);
    }
    return all;
}

/* The best tiling of a search, of the suite that was searched: always the least behind. */
static json_t *search_json(const Run *run)
{
    const char *best = NULL;
    double behind = 0.0;
    if (!run->search || run->results.count == 0)
        return json_null();
    const char *names[CONTESTANTS], *suite = run->results.list[0].suite;
    size_t count = results_names(&run->results, suite, names, CONTESTANTS);
    for (size_t i = 0; i < count; i++) {
        Summary summary = results_summary(&run->results, suite, names[i]);
        bool ours = strncmp(names[i], run->search, strlen(run->search)) == 0;
        bool everywhere = summary.cases == run->results.count;
        if (ours && everywhere && (!best || summary.behind.mean < behind)) {
            best = names[i];
            behind = summary.behind.mean;
        }
    }
    return json_pack("{s:s, s:s, s:s?}", "method", run->search, "suite", suite, "best_overall",
                     best);
}

static json_t *run_json(const Run *run)
{
    json_t *results = json_array(), *notes = json_array();
    for (size_t i = 0; i < run->results.count; i++)
        json_array_append_new(results, result_json(&run->results.list[i]));
    for (size_t i = 0; i < run->note_count; i++)
        json_array_append_new(notes, json_string(run->notes[i]));
    return json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "date", run->date,
                     "commit", run->commit, "cuda_runtime", run->device.runtime_version,
                     "cuda_driver", run->device.driver_version, "device", device_json(run), "notes",
                     notes, "search", search_json(run), "means", summaries_json(run), "results",
                     results, "host", host_json(&run->host));
}

GfStatus json_write(const Run *run)
{
    char name[4096];
    GfStatus status = GF_OK;
    json_t *root = run_json(run);
    if (!root)
        return gf_fail(GF_EMEMORY, "no memory for the results as JSON");
    snprintf(name, sizeof name, "%s.new", run->json);
    if (json_dump_file(root, name, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0 ||
        rename(name, run->json) != 0)
        status = gf_fail(GF_EWRITE, "%s: %s", run->json, strerror(errno));
    json_decref(root);
    return status;
}
