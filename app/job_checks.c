/* Both checks of paths sort first and then look at neighbours, so that a hundred thousand files are
 * no trouble. Paths are compared in normal form; files by device and inode, which sees through
 * links. */
#include "app/job_checks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/naming.h"
#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 400 };

/* The output's extension, known or not; "" when it has none. */
static const char *any_extension(const char *path)
{
    const char *base = gf_path_base(path), *dot = strrchr(base, '.');
    return dot && dot != base ? dot : "";
}

GfStatus gf_job_check_format(const GfOptions *options, const GfJob *job, bool named)
{
    char shown[SHOWN];
    for (size_t i = 0; i < job->outputs; i++) {
        const char *path = job->paths[i];
        const GfCodec *by_name = gf_codec_for_path(path);
        gf_escape(path, shown, sizeof shown);
        if (options->format && by_name && by_name != options->format)
            return gf_fail(GF_EUSAGE, "%s: the name says %s, --format says %s", shown,
                           by_name->name, options->format->name);
        if (!options->format && by_name != job->codec)
            return gf_fail(GF_EUSAGE, "%s: outputs of one picture have one format", shown);
        if (named && !job->codec && *any_extension(path))
            return gf_fail(GF_EUSAGE,
                           "%s: nothing is known of the extension %s; use .png, .jpg or .npy, or "
                           "say --format",
                           shown, any_extension(shown));
    }
    if (!options->depth_given || !job->codec || job->codec->samples & 1u << options->depth)
        return GF_OK;
    static const char *const depths[] = {"8", "16", "f32", "f64"};
    return gf_fail(GF_EUSAGE, "--depth %s: %s cannot hold that", depths[options->depth],
                   job->codec->name);
}

typedef struct NamedOutput {
    char *normal;
    const char *path;
    const GfJob *job;
} NamedOutput;

static int by_path(const void *a, const void *b)
{
    return strcmp(((const NamedOutput *)a)->normal, ((const NamedOutput *)b)->normal);
}

static size_t count_outputs(const GfJobs *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += jobs->jobs[i].outputs;
    return count;
}

static GfStatus same_output(const NamedOutput *one, const NamedOutput *other)
{
    char path[SHOWN], a[SHOWN], b[SHOWN];
    gf_escape(one->path, path, sizeof path);
    if (one->job == other->job)
        return gf_fail(GF_EUSAGE,
                       "%s: two kernels would be written here; put {filter} into --name, or leave "
                       "one out",
                       path);
    /* Named in the order of the call, whatever the sorting did. */
    bool ordered = one->job < other->job;
    return gf_fail(GF_EUSAGE, "%s: both %s and %s would be written here", path,
                   gf_escape((ordered ? one : other)->job->input->path, a, sizeof a),
                   gf_escape((ordered ? other : one)->job->input->path, b, sizeof b));
}

static GfStatus check_collisions(const GfJobs *jobs)
{
    NamedOutput *outputs = NULL;
    size_t n = 0;
    GfStatus status;
    GF_GO(gf_allocate_zero(count_outputs(jobs) + 1, sizeof *outputs, &outputs));
    for (size_t i = 0; i < jobs->count; i++)
        for (size_t j = 0; j < jobs->jobs[i].outputs; j++) {
            outputs[n] = (NamedOutput){.path = jobs->jobs[i].paths[j], .job = &jobs->jobs[i]};
            GF_GO(gf_path_normal(outputs[n].path, &outputs[n].normal));
            n++;
        }
    qsort(outputs, n, sizeof *outputs, by_path);
    for (size_t i = 1; i < n; i++)
        if (strcmp(outputs[i - 1].normal, outputs[i].normal) == 0)
            GF_GO(same_output(&outputs[i - 1], &outputs[i]));
done:
    for (size_t i = 0; i < n; i++)
        free(outputs[i].normal);
    free(outputs);
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

/* One output against the sorted inputs. */
static GfStatus check_not_input(const GfOptions *options, const GfJob *job, const char *path,
                                const GfInputFile *const *inputs, size_t count)
{
    char shown[SHOWN], other[SHOWN];
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0)
        return GF_OK;
    GfInputFile wanted = {.device = about.st_dev, .inode = about.st_ino};
    const GfInputFile *key = &wanted;
    const GfInputFile *const *found = bsearch(&key, inputs, count, sizeof *inputs, by_inode);
    if (!found)
        return GF_OK;
    gf_escape(path, shown, sizeof shown);
    bool own = job->input->device == about.st_dev && job->input->inode == about.st_ino;
    if (own && options->in_place)
        return GF_OK;
    if (own)
        return gf_fail(GF_EUSAGE, "%s: the output is the input; --in-place allows that", shown);
    return gf_fail(GF_EUSAGE, "%s: the output is another input of this call, %s", shown,
                   gf_escape((*found)->path, other, sizeof other));
}

static GfStatus check_inodes(const GfOptions *options, const GfJobs *jobs)
{
    const GfInputFile **inputs = NULL;
    size_t n = 0;
    GfStatus status;
    GF_GO(gf_allocate_zero(jobs->inputs.count + 1, sizeof *inputs, &inputs));
    for (size_t i = 0; i < jobs->inputs.count; i++)
        if (jobs->inputs.files[i].regular)
            inputs[n++] = &jobs->inputs.files[i];
    qsort(inputs, n, sizeof *inputs, by_inode);
    for (size_t i = 0; i < jobs->count; i++)
        for (size_t j = 0; j < jobs->jobs[i].outputs; j++)
            GF_GO(check_not_input(options, &jobs->jobs[i], jobs->jobs[i].paths[j], inputs, n));
done:
    free(inputs);
    return status;
}

GfStatus gf_jobs_check_paths(const GfOptions *options, const GfJobs *jobs)
{
    GF_TRY(check_collisions(jobs));
    return check_inodes(options, jobs);
}
