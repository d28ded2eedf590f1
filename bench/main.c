/* gpufilter-bench: every method beside every peer that is found, in one run; bench/README.md says
 * how to use it and how it measures. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/json.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/samples.h"
#include "common/clock.h"

enum { QUICK_CASES = 6 /* a suite, at most */ };

/* ---- which cases ---- */

/* Numbers below `count`, shuffled, and always in the same way: the order in which cases are run
 * where not all may be, so that those that are run are no corner of the suite. */
static GfStatus shuffled(size_t count, size_t **order)
{
    uint32_t state = 1;
    GF_TRY(gf_allocate(count, sizeof **order, order));
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        size_t j = (state >> 8) % (i + 1);
        (*order)[i] = (*order)[j];
        (*order)[j] = i;
    }
    return GF_OK;
}

static int compare_results(const void *a, const void *b)
{
    const Result *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

/* Results of a suite, in the order of its cases again. */
static void sort_results(Results *results, size_t from)
{
    qsort(results->list + from, results->count - from, sizeof *results->list, compare_results);
}

/* ---- running ---- */

/* A case that does not fit into the device's memory is told and passed over. */
static GfStatus run_case(Run *run, Race *race, const Suite *suite, const Spec *spec, size_t number,
                         size_t done, size_t of)
{
    Result result = {.suite = suite->name, .number = number};
    GfStatus status = race_run(race, spec, &result);
    if (status == GF_OK) {
        report_progress(&result, done + 1, of);
        GF_TRY(results_add(&run->results, &result));
        return run->json ? json_write(run) : GF_OK;
    }
    fprintf(stderr, "%s %s: %s\n", suite->name, result.name, gf_message());
    result_free(&result);
    return status == GF_EDEVMEM || (status != GF_EMEMORY && !device_is_lost()) ? GF_OK : status;
}

static GfStatus run_specs(Run *run, Race *race, const Options *options, const Suite *suite,
                          const Specs *specs)
{
    double end = options->seconds > 0.0 ? gf_now() + options->seconds : 0.0;
    size_t *order, first = run->results.count, done = 0;
    size_t most = options->race.quick ? gf_min(QUICK_CASES, specs->count) : specs->count;
    bool all = end == 0.0 && most == specs->count;
    GfStatus status = shuffled(specs->count, &order);
    for (; done < most && status == GF_OK && (end == 0.0 || gf_now() < end); done++) {
        size_t number = all ? done : order[done];
        status = run_case(run, race, suite, &specs->list[number], number, done, most);
    }
    free(order);
    sort_results(&run->results, first);
    if (done < specs->count && run->note_count < sizeof run->notes / sizeof *run->notes)
        snprintf(run->notes[run->note_count++], sizeof *run->notes,
                 "%s: %zu of %zu cases were measured, picked from all over the suite.", suite->name,
                 done, specs->count);
    return status;
}

/* Only that of this name; where there is none, those whose names have the text. */
static void keep_cases(Specs *specs, const char *text)
{
    char name[96];
    bool named = false;
    size_t kept = 0;
    for (size_t i = 0; i < specs->count && !named; i++)
        named = strcmp(spec_name(&specs->list[i], name, sizeof name), text) == 0;
    for (size_t i = 0; i < specs->count; i++) {
        spec_name(&specs->list[i], name, sizeof name);
        if (named ? strcmp(name, text) == 0 : strstr(name, text) != NULL)
            specs->list[kept++] = specs->list[i];
    }
    specs->count = kept;
}

static GfStatus run_suite(Run *run, Race *race, const Options *options, const Suite *suite)
{
    Specs specs = {.seed = options->seed};
    if (!suite->cases) {
        const HostOptions host = {options->gpufilter, options->race.quick};
        return host_run(&host, &run->host);
    }
    if (!run->has_device)
        return gf_fail(GF_ENODEVICE, "suite %s needs a GPU", suite->name);
    GfStatus status = suite->cases(&specs);
    if (status == GF_OK && options->text)
        keep_cases(&specs, options->text);
    if (status == GF_OK)
        status = run_specs(run, race, options, suite, &specs);
    free(specs.list);
    return status;
}

/* ---- reporting ---- */

static GfStatus write_tables(const Run *run, const Options *options)
{
    FILE *files[] = {stdout, run->table ? fopen(run->table, "w") : NULL};
    if (run->table && !files[1])
        return gf_fail(GF_EWRITE, "%s cannot be written", run->table);
    for (size_t i = 0; i < 2 && files[i]; i++) {
        report_head(run, files[i]);
        for (const Suite *suite = suites; suite->name; suite++)
            if (strcmp(options->suite, "all") == 0 || name_listed(options->suite, suite->name))
                report_suite(run, suite, files[i]);
    }
    if (files[1] && fclose(files[1]) != 0)
        return gf_fail(GF_EWRITE, "%s cannot be written", run->table);
    return GF_OK;
}

static bool all_right(const Run *run)
{
    for (size_t i = 0; i < run->results.count; i++)
        for (size_t j = 0; j < run->results.list[i].count; j++) {
            const Score *score = &run->results.list[i].scores[j];
            if (score->ran && score->judged && !score->verdict.right)
                return false;
        }
    return true;
}

/* ---- the whole ---- */

static void set_date(Run *run)
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(run->date, sizeof run->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

static GfStatus run_suites(Run *run, const Options *options)
{
    GfStatus status = GF_OK;
    Race race = {.device = &run->device, .options = options->race, .peers = &run->peers};
    for (const Suite *suite = suites; suite->name && status == GF_OK; suite++)
        if (strcmp(options->suite, "all") == 0 || name_listed(options->suite, suite->name))
            status = run_suite(run, &race, options, suite);
    if (run->has_device)
        race_free(&race);
    return status;
}

static GfStatus run_all(Run *run, const Options *options)
{
    set_date(run);
    if (strcmp(options->suite, "host") != 0) {
        GF_TRY(device_open(&run->device));
        run->has_device = true;
        peers_open(&run->device, options->race.peer, &run->peers);
    }
    GfStatus status = run_suites(run, options);
    GfError error = {GF_OK, ""};
    gf_error_save(&error, status);
    /* What was measured before a failure is told too. */
    GfStatus written = write_tables(run, options);
    if (written == GF_OK && run->json)
        written = json_write(run);
    if (run->has_device) {
        peers_close(&run->peers);
        device_close(&run->device);
    }
    return status == GF_OK ? written : gf_error_raise(&error);
}

int main(int argc, char **argv)
{
    static Run run;
    Options options;
    GfStatus status = options_read(argc, argv, &options);
    if (status == GF_END)
        return 0;
    run.commit = options.commit;
    run.json = options.json;
    run.table = options.table;
    run.search = options.search;
    if (status == GF_OK)
        status = run_all(&run, &options);
    bool right = all_right(&run);
    results_free(&run.results);
    samples_free();
    if (status != GF_OK)
        fprintf(stderr, "gpufilter-bench: %s\n", gf_message());
    return status == GF_EUSAGE ? 2 : status == GF_OK && right ? 0 : 1;
}
