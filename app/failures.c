/* A list for --files-from (list.h): before each input a comment with the reason, and in its path a
 * "/./" where the tree of the outputs begins, so that a second run writes to the same places. */
#include "app/failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/job_checks.h"
#include "app/list.h"
#include "app/message.h"
#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 512 };

static const char heading[] = "gpufilter: inputs that were not done, for --files-from";
static const char shard_word[] = "{shard}";

/* The number of the shard with leading zeros, so that names sort. */
static GfStatus name_list(const char *template, const GfShard *shard, char **path)
{
    char shown[SHOWN];
    size_t size, length = strlen(shard_word);
    int digits = snprintf(NULL, 0, "%zu", shard->count);
    for (const char *s = template; (s = strchr(s, '{')) != NULL; s += length)
        if (strncmp(s, shard_word, length) != 0)
            return gf_fail(GF_EUSAGE,
                           "--failures %s: there is no other word in braces than {shard}",
                           gf_escape(template, shown, sizeof shown));
    FILE *stream = open_memstream(path, &size);
    if (!stream)
        return gf_fail(GF_EMEMORY, "out of memory");
    for (const char *s = template, *word; *s; s = word + (*word ? length : 0)) {
        word = strchrnul(s, '{');
        fwrite(s, 1, (size_t)(word - s), stream);
        if (*word)
            fprintf(stream, "%0*zu", digits, shard->index + 1);
    }
    if (fclose(stream) == 0)
        return GF_OK;
    free(*path);
    *path = NULL;
    return gf_fail(GF_EMEMORY, "out of memory");
}

/* An existing file that is not empty has to be a list of ours. */
static GfStatus check_place(const char *path)
{
    char shown[SHOWN], first[sizeof heading + 2] = "";
    struct stat about;
    gf_escape(path, shown, sizeof shown);
    if (strcmp(path, "-") == 0)
        return gf_fail(GF_EUSAGE,
                       "--failures -: a list does not go to standard output; name a file");
    if (gf_codec_for_path(path))
        return gf_fail(GF_EUSAGE, "--failures %s: a list is no picture; name a file of its own",
                       shown);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
        return GF_OK;
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(first, 1, sizeof first - 1, file) : 0;
    if (file)
        fclose(file);
    size_t length = strlen(gf_list_comment);
    if (got == sizeof first - 1 && strncmp(first, gf_list_comment, length) == 0 &&
        strncmp(first + length, heading, strlen(heading)) == 0)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "--failures %s: exists, and is no list of failures", shown);
}

/* By all inputs, so that the lists of all shards can be put together. */
static char choose_separator(const GfJobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (strpbrk(jobs->jobs[i].input->path, "\n\r"))
            return '\0';
    return '\n';
}

GfStatus gf_failures_create(const GfOptions *options, const GfShard *shard, const GfJobs *jobs,
                            GfFailures *failures)
{
    char shown[SHOWN];
    *failures = (GfFailures){.separator = choose_separator(jobs)};
    GF_TRY(gf_allocate_zero(jobs->count + 1, sizeof *failures->items, &failures->items));
    if (!options->failures)
        return GF_OK;
    if (shard->count > 1 && !strstr(options->failures, shard_word))
        return gf_fail(GF_EUSAGE,
                       "--failures %s: every shard needs a list of its own; put {shard} "
                       "into the name",
                       gf_escape(options->failures, shown, sizeof shown));
    GF_TRY(name_list(options->failures, shard, &failures->path));
    GF_TRY(check_place(failures->path));
    GF_TRY(gf_jobs_check_list(failures->path, jobs));
    GfStatus status = gf_output_open(failures->path, true, &failures->output);
    return status == GF_OK ? GF_OK
                           : gf_fail(GF_EUSAGE, "--failures %s: %s",
                                     gf_escape(failures->path, shown, sizeof shown), gf_message());
}

void gf_failures_add(GfFailures *failures, const GfInputFile *input, bool failed,
                     const char *reason)
{
    failures->items[failures->count++] = (GfFailure){input, strdup(reason), failed};
}

static int compare(const void *a, const void *b)
{
    const GfInputFile *one = ((const GfFailure *)a)->input, *other = ((const GfFailure *)b)->input;
    return (one > other) - (one < other);
}

void gf_failures_sort(GfFailures *failures)
{
    if (failures->count > 0)
        qsort(failures->items, failures->count, sizeof *failures->items, compare);
}

static GfStatus put(GfOutput *output, const char *text)
{
    return gf_output_write(output, text, strlen(text));
}

/* The bytes from `text` to `end` without "/./", which in a list says where the tree begins. */
static GfStatus put_unmarked(GfOutput *output, const char *text, const char *end)
{
    for (; text < end; text++) {
        while (end - text > 2 && strncmp(text, "/./", 3) == 0)
            text += 2;
        GF_TRY(gf_output_write(output, text, 1));
    }
    return GF_OK;
}

static GfStatus put_failure(const GfFailure *failure, char separator, GfOutput *output)
{
    const GfInputFile *input = failure->input;
    const char *reason = failure->reason;
    const char *tree = *input->folder ? gf_input_relative(input) : strchr(input->path, '\0');
    GF_TRY(put(output, gf_list_comment));
    for (const char *c = reason ? reason : "failed"; *c; c++)
        GF_TRY(gf_output_write(output, (unsigned char)*c < 0x20 ? "?" : c, 1));
    GF_TRY(gf_output_write(output, &separator, 1));
    if (strncmp(input->path, gf_list_comment, strlen(gf_list_comment)) == 0)
        GF_TRY(put(output, "./"));
    GF_TRY(put_unmarked(output, input->path, tree));
    if (*input->folder)
        GF_TRY(put(output, "./"));
    GF_TRY(put(output, tree));
    return gf_output_write(output, &separator, 1);
}

static GfStatus put_list(const GfFailures *failures)
{
    const char separator = failures->separator;
    GF_TRY(put(failures->output, gf_list_comment));
    GF_TRY(put(failures->output, heading));
    GF_TRY(gf_output_write(failures->output, &separator, 1));
    for (size_t i = 0; i < failures->count; i++)
        GF_TRY(put_failure(&failures->items[i], separator, failures->output));
    return GF_OK;
}

GfStatus gf_failures_write(GfFailures *failures)
{
    if (!failures->output)
        return GF_OK;
    GfStatus status = put_list(failures);
    if (status == GF_OK)
        status = gf_output_commit(&failures->output);
    return gf_fail_output(status, failures->path);
}

void gf_failures_free(GfFailures *failures)
{
    for (size_t i = 0; i < failures->count; i++)
        free(failures->items[i].reason);
    free(failures->items);
    free(failures->path);
    gf_output_discard(&failures->output);
    *failures = (GfFailures){0};
}
