#include "bench/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/host_process.h"

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void host_add(HostResults *results, const char *what, const char *who, double *seconds, size_t runs,
              size_t bytes)
{
    if (results->count == HOST_SCORES)
        return;
    HostScore *score = &results->list[results->count++];
    qsort(seconds, runs, sizeof *seconds, compare);
    *score = (HostScore){.seconds = seconds[runs / 2],
                         .least = seconds[0],
                         .most = seconds[runs - 1],
                         .runs = runs,
                         .bytes = bytes};
    snprintf(score->what, sizeof score->what, "%s", what);
    snprintf(score->who, sizeof score->who, "%s", who);
    fprintf(stderr, "host %s: %s %.2f ms\n", what, who, score->seconds * 1e3);
}

void host_note(HostResults *results, const char *format, ...)
{
    char note[sizeof *results->notes];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < results->note_count; i++)
        if (strcmp(results->notes[i], note) == 0)
            return;
    if (results->note_count < HOST_NOTES)
        memcpy(results->notes[results->note_count++], note, sizeof note);
}

GfStatus host_run(const HostOptions *options, HostResults *results)
{
    char folder[256];
    const char *temporary = getenv("TMPDIR");
    GF_TRY(host_filters(results));
    snprintf(folder, sizeof folder, "%.200s/gpufilter-bench-XXXXXX",
             temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return gf_fail(GF_EWRITE, "%s: %s", folder, strerror(errno));
    GfStatus status = host_commands(options, folder, results);
    if (status == GF_OK)
        status = host_directories(options, folder, results);
    host_remove_folder(folder);
    return status;
}

/* All rows of the case that row `first` begins; the others are compared with it, which is ours. */
static void report_case(const HostResults *results, size_t first, FILE *to)
{
    const HostScore *ours = &results->list[first];
    fprintf(to,
            "\n**%s**\n\n| who | ms | least-most | runs | x the first | bytes written |\n"
            "|---|---:|---:|---:|---:|---:|\n",
            ours->what);
    for (size_t i = first; i < results->count; i++) {
        const HostScore *score = &results->list[i];
        if (strcmp(score->what, ours->what) == 0)
            fprintf(to, "| %s | %.2f | %.2f-%.2f | %zu | %.2f | %zu |\n", score->who,
                    score->seconds * 1e3, score->least * 1e3, score->most * 1e3, score->runs,
                    score->seconds / ours->seconds, score->bytes);
    }
}

static bool is_first(const HostResults *results, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(results->list[i].what, results->list[at].what) == 0)
            return false;
    return true;
}

void host_report(const HostResults *results, FILE *to)
{
    for (size_t i = 0; i < results->count; i++)
        if (is_first(results, i))
            report_case(results, i, to);
    for (size_t i = 0; i < results->note_count; i++)
        fprintf(to, "%s- %s\n", i == 0 ? "\n" : "", results->notes[i]);
}

json_t *host_json(const HostResults *results)
{
    json_t *list = json_array(), *notes = json_array();
    for (size_t i = 0; i < results->count; i++) {
        const HostScore *score = &results->list[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:I, s:I}", "case", score->what, "who",
                            score->who, "ms", score->seconds * 1e3, "least_ms", score->least * 1e3,
                            "most_ms", score->most * 1e3, "runs", (json_int_t)score->runs, "bytes",
                            (json_int_t)score->bytes));
    }
    for (size_t i = 0; i < results->note_count; i++)
        json_array_append_new(notes, json_string(results->notes[i]));
    return json_pack("{s:o, s:o}", "results", list, "notes", notes);
}
