/* Both checks of paths sort first and then look at neighbours, so that a hundred thousand files are
 * no trouble. Outputs are compared by their places, files by device and inode: both see through
 * links. */
#include "app/job_checks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/naming.h"
#include "app/place.h"
#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 400 };

GfStatus gf_job_check_format(const GfOptions *options, const GfJob *job, bool named)
{
    char shown[SHOWN] = "";
    for (size_t i = 0; i < job->outputs; i++) {
        const char *path = job->paths[i];
        const GfCodec *by_name = gf_codec_for_path(path);
        gf_escape(path, shown, sizeof shown);
        if (options->format && by_name && by_name != options->format)
            return gf_fail(GF_EUSAGE, "%s: the name says %s, --format says %s", shown,
                           by_name->name, options->format->name);
        if (!options->format && !options->in_place && by_name != job->codec)
            return gf_fail(GF_EUSAGE, "%s: outputs of one picture have one format", shown);
        if (named && !job->codec && *gf_path_any_extension(path))
            return gf_fail(GF_EUSAGE,
                           "%s: nothing is known of the extension %s; use .png, .jpg or .npy, or "
                           "say --format",
                           shown, gf_path_any_extension(shown));
    }
    if (!options->depth_given || !job->codec || job->codec->samples & 1u << options->depth)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "%s: --depth: %s cannot hold samples of type %s", shown,
                   job->codec->name, gf_sample_name(options->depth));
}

typedef struct PlacedOutput {
    GfPlace place;
    const char *path;
    const GfJob *job;
} PlacedOutput;

static int by_place(const void *a, const void *b)
{
    return gf_place_order(&((const PlacedOutput *)a)->place, &((const PlacedOutput *)b)->place);
}

static size_t count_outputs(const GfJobs *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += jobs->jobs[i].outputs;
    return count;
}

/* `montage` is its template, or NULL. */
static GfStatus same_output(const PlacedOutput *one, const PlacedOutput *other, const char *montage)
{
    char path[SHOWN], a[SHOWN], b[SHOWN];
    /* Named in the order of the call, whatever the sorting did. */
    const PlacedOutput *first = one->job < other->job ? one : other;
    const PlacedOutput *second = first == one ? other : one;
    gf_escape(first->path, path, sizeof path);
    if (one->job == other->job)
        return gf_fail(
            GF_EUSAGE,
            "%s: two kernels would be written here; put {index} into --name, or leave one out",
            path);
    if (strcmp(first->job->input->path, second->job->input->path) == 0)
        return gf_fail(GF_EUSAGE, "%s: %s is given twice, and would be written here both times",
                       path, gf_escape(first->job->input->path, a, sizeof a));
    return gf_fail(GF_EUSAGE, "%s: both %s and %s would be written here%s", path,
                   gf_escape(first->job->input->path, a, sizeof a),
                   gf_escape(second->job->input->path, b, sizeof b),
                   !montage                    ? ""
                   : strstr(montage, "{stem}") ? "; put {index} into --montage"
                                               : "; put {stem} into --montage");
}

/* `below` would need a folder where `file` is to be. */
static GfStatus below_output(const PlacedOutput *file, const PlacedOutput *below)
{
    char path[SHOWN / 2], inside[SHOWN / 2], a[SHOWN / 2], b[SHOWN / 2];
    return gf_fail(GF_EUSAGE, "%s: %s would be written here, and %s below it, to %s",
                   gf_escape(file->path, path, sizeof path),
                   gf_escape(file->job->input->path, a, sizeof a),
                   gf_escape(below->job->input->path, b, sizeof b),
                   gf_escape(below->path, inside, sizeof inside));
}

static GfStatus check_collisions(const GfOptions *options, const GfJobs *jobs)
{
    PlacedOutput *outputs = NULL;
    size_t n = 0;
    GfStatus status;
    GF_GO(gf_allocate_zero(count_outputs(jobs) + 1, sizeof *outputs, &outputs));
    for (size_t i = 0; i < jobs->count; i++)
        for (size_t j = 0; j < jobs->jobs[i].outputs; j++) {
            outputs[n] = (PlacedOutput){.path = jobs->jobs[i].paths[j], .job = &jobs->jobs[i]};
            GF_GO(gf_place_find(outputs[n].path, &outputs[n].place));
            n++;
        }
    qsort(outputs, n, sizeof *outputs, by_place);
    for (size_t i = 1; i < n; i++)
        if (by_place(&outputs[i - 1], &outputs[i]) == 0)
            GF_GO(same_output(&outputs[i - 1], &outputs[i], options->montage));
        else if (gf_place_is_below(&outputs[i].place, &outputs[i - 1].place))
            GF_GO(below_output(&outputs[i - 1], &outputs[i]));
done:
    for (size_t i = 0; i < n; i++)
        free(outputs[i].place.name);
    free(outputs);
    return status;
}

GfStatus gf_jobs_check_list(const char *list, const GfJobs *jobs)
{
    char shown[SHOWN];
    GfPlace place, other;
    GfStatus status = gf_place_find(list, &place);
    for (size_t i = 0; status == GF_OK && i < jobs->count; i++)
        for (size_t j = 0; status == GF_OK && j < jobs->jobs[i].outputs; j++) {
            status = gf_place_find(jobs->jobs[i].paths[j], &other);
            if (status == GF_OK && gf_place_order(&place, &other) == 0)
                status = gf_fail(GF_EUSAGE, "--failures %s: an output of this call is written here",
                                 gf_escape(list, shown, sizeof shown));
            free(other.name);
        }
    free(place.name);
    return status;
}

static int by_inode(const void *a, const void *b)
{
    const GfInputFile *one = *(const GfInputFile *const *)a;
    const GfInputFile *other = *(const GfInputFile *const *)b;
    if (one->device != other->device)
        return one->device < other->device ? -1 : 1;
    return (one->inode > other->inode) - (one->inode < other->inode);
}

/* Looks at the file that `path` is, or becomes when its folders are made. */
static GfStatus look(const char *path, bool *found, struct stat *about)
{
    char *settled;
    *found = stat(path, about) == 0;
    if (*found || !gf_path_climbs(path))
        return GF_OK;
    GF_TRY(gf_place_settle(path, &settled));
    *found = stat(settled, about) == 0;
    free(settled);
    return GF_OK;
}

/* One output against the sorted inputs. */
static GfStatus check_not_input(const GfOptions *options, const GfJob *job, const char *path,
                                const GfInputFile *const *inputs, size_t count)
{
    char shown[SHOWN], other[SHOWN];
    struct stat about;
    bool there = false;
    if (strcmp(path, "-") != 0)
        GF_TRY(look(path, &there, &about));
    if (!there)
        return GF_OK;
    GfInputFile wanted = {.device = about.st_dev, .inode = about.st_ino};
    const GfInputFile *key = &wanted;
    const GfInputFile *const *found = bsearch(&key, inputs, count, sizeof *inputs, by_inode);
    if (!found)
        return GF_OK;
    gf_escape(path, shown, sizeof shown);
    bool own = job->input->device == about.st_dev && job->input->inode == about.st_ino;
    if (own && options->in_place && job->input->regular)
        return GF_OK;
    if (own && !job->input->regular)
        return gf_fail(GF_EUSAGE, "%s: the output is the input, which is a pipe", shown);
    if (own)
        return gf_fail(GF_EUSAGE, "%s: the output is the input; --in-place allows that", shown);
    return gf_fail(GF_EUSAGE,
                   "%s: the output is another input of this call, %s; give outputs a folder of "
                   "their own",
                   shown, gf_escape((*found)->path, other, sizeof other));
}

/* Under --in-place: two of the sorted inputs that are one file. */
static GfStatus check_twice(const GfInputFile *const *inputs, size_t count)
{
    char one[SHOWN], other[SHOWN];
    for (size_t i = 1; i < count; i++)
        if (by_inode(&inputs[i - 1], &inputs[i]) == 0) {
            /* Named in the order of the call, whatever the sorting did. */
            bool ordered = inputs[i - 1] < inputs[i];
            return gf_fail(GF_EUSAGE, "%s: the same file as %s; --in-place takes it once",
                           gf_escape(inputs[ordered ? i : i - 1]->path, one, sizeof one),
                           gf_escape(inputs[ordered ? i - 1 : i]->path, other, sizeof other));
        }
    return GF_OK;
}

static GfStatus check_inodes(const GfOptions *options, const GfJobs *jobs)
{
    const GfInputFile **inputs = NULL;
    size_t n = 0;
    GfStatus status;
    GF_GO(gf_allocate_zero(jobs->inputs.count + 1, sizeof *inputs, &inputs));
    for (size_t i = 0; i < jobs->inputs.count; i++)
        if (jobs->inputs.files[i].found)
            inputs[n++] = &jobs->inputs.files[i];
    qsort(inputs, n, sizeof *inputs, by_inode);
    GF_GO(options->in_place ? check_twice(inputs, n) : GF_OK);
    for (size_t i = 0; i < jobs->count; i++)
        for (size_t j = 0; j < jobs->jobs[i].outputs; j++)
            GF_GO(check_not_input(options, &jobs->jobs[i], jobs->jobs[i].paths[j], inputs, n));
done:
    free(inputs);
    return status;
}

/* The value of an option that writes a file beside the figures; NULL: not given. */
static GfStatus check_apart(const char *option, const char *path, const char *const *others,
                            size_t count)
{
    char shown[SHOWN], other[SHOWN];
    if (path && strcmp(path, "-") == 0)
        return gf_fail(GF_EUSAGE, "--%s -: the figures go to standard output", option);
    for (size_t i = 0; path && i < count; i++) {
        bool same;
        GF_TRY(gf_place_same(path, others[i], &same));
        if (same)
            return gf_fail(GF_EUSAGE, "--%s %s: this is %s, which would be lost", option,
                           gf_escape(path, shown, sizeof shown),
                           gf_escape(others[i], other, sizeof other));
    }
    return GF_OK;
}

/* The report finds that out when it is opened; the differences are written at the end of all. */
static GfStatus check_diff_image(const GfOptions *options)
{
    const char *path = options->diff_image;
    char shown[SHOWN];
    struct stat about;
    if (!path || stat(path, &about) != 0)
        return GF_OK;
    bool folder = S_ISDIR(about.st_mode);
    if (!folder && (options->overwrite || !S_ISREG(about.st_mode)))
        return GF_OK;
    return gf_fail(GF_EUSAGE, "--diff-image %s: %s", gf_escape(path, shown, sizeof shown),
                   folder ? "is a directory" : "exists already");
}

GfStatus gf_compare_check_paths(const GfOptions *options, const char *const *others, size_t count)
{
    GF_TRY(check_apart("diff-image", options->diff_image, others, count));
    GF_TRY(check_apart("report", options->report, others, count));
    GF_TRY(check_diff_image(options));
    return check_apart("report", options->report, &options->diff_image,
                       options->diff_image ? 1 : 0);
}

GfStatus gf_jobs_check_paths(const GfOptions *options, const GfJobs *jobs)
{
    GF_TRY(check_inodes(options, jobs));
    GF_TRY(check_collisions(options, jobs));
    for (size_t i = 0; i < jobs->count; i++) {
        const GfJob *job = &jobs->jobs[i];
        const char *input = job->input->path;
        GF_TRY(gf_compare_check_paths(options, &input, 1));
        GF_TRY(gf_compare_check_paths(options, (const char *const *)job->paths, job->outputs));
    }
    return GF_OK;
}
