/* -o names a file when there is one output, else a folder; without -o outputs stand beside their
 * inputs. Where that is not clear (several outputs, but -o looks like a picture's name) it is
 * refused rather than guessed. */
#include "app/jobs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/job_checks.h"
#include "app/maps.h"
#include "app/naming.h"
#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 1024 };

typedef enum Target { BESIDE, ONE_FILE, FOLDER, STDOUT, NOWHERE, AS_NAMED } Target;

typedef struct Maker {
    const GfOptions *options;
    const GfBank *bank;
    GfJobs *jobs;
    Target target;
    const char *template;
    size_t named; /* outputs of an input, of which a file of several or a sheet is one */
    int index_digits;
} Maker;

static bool is_directory(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool ends_in_slash(const char *path)
{
    return path[strlen(path) - 1] == '/';
}

/* One input, and the call leaves no doubt about that. */
static bool is_one(const GfInputFiles *inputs)
{
    return inputs->count == 1 && !inputs->any_directory && !inputs->any_list;
}

/* -o as the one file of a bank: an .npy holds several pictures. */
static bool is_stack(const GfOptions *options, size_t filters, const GfInputFiles *inputs)
{
    const char *output = options->output;
    if (!output || options->montage || filters < 2 || !is_one(inputs))
        return false;
    if (ends_in_slash(output) || is_directory(output))
        return false;
    const GfCodec *codec = options->format ? options->format : gf_codec_for_path(output);
    return codec && codec->many_pictures;
}

/* Where -o and a name with {dir} do not place it, a sheet stands where its name says. */
static GfStatus choose_montage_target(const GfOptions *options, const GfJobs *jobs, Target *target)
{
    const char *output = options->output;
    char shown[SHOWN];
    struct stat about;
    bool one = is_one(&jobs->inputs);
    *target = strcmp(options->montage, "-") == 0 ? STDOUT : output ? FOLDER : AS_NAMED;
    if (*target == STDOUT && (!one || output))
        return gf_fail(GF_EUSAGE, "--montage -: standard output takes the sheet of one picture%s",
                       output ? ", and -o says otherwise" : "");
    if (*target != FOLDER || is_directory(output))
        return GF_OK;
    if (stat(output, &about) == 0 || gf_codec_for_path(output) || strcmp(output, "-") == 0)
        return gf_fail(GF_EUSAGE, "-o %s: with --montage it names the folder of the sheets",
                       gf_escape(output, shown, sizeof shown));
    return GF_OK;
}

/* Why a call is not of one output. */
static const char *why_several(const GfInputFiles *inputs, size_t filters)
{
    if (inputs->count > 1 || filters > 1)
        return "there are several outputs";
    return inputs->any_directory ? "a directory may give several outputs"
                                 : "a list may give several outputs";
}

/* Standard input can give its picture to standard output only, unless -o says otherwise. */
static GfStatus choose_target(const GfOptions *options, size_t filters, const GfJobs *jobs,
                              Target *target)
{
    const GfInputFiles *inputs = &jobs->inputs;
    const char *output = options->output;
    char shown[SHOWN];
    bool one = is_one(inputs) && (filters == 1 || jobs->stacked);
    bool from_stdin = inputs->count == 1 && strcmp(inputs->files[0].path, "-") == 0;
    if (options->montage)
        return choose_montage_target(options, jobs, target);
    if (options->compare && !output)
        *target = NOWHERE;
    else if (!output && inputs->any_directory && !options->in_place)
        return gf_fail(GF_EUSAGE, "a directory needs -o FOLDER for its outputs");
    else if (output ? strcmp(output, "-") == 0 : from_stdin)
        *target = STDOUT;
    else if (!output)
        *target = BESIDE;
    else
        *target = one && !ends_in_slash(output) && !is_directory(output) ? ONE_FILE : FOLDER;
    if (*target == STDOUT && !one)
        return gf_fail(GF_EUSAGE, "standard output takes one output, and %s%s",
                       why_several(inputs, filters),
                       filters > 1 ? " (--format npy puts a bank into one)" : "");
    if (*target == STDOUT && options->in_place)
        return gf_fail(GF_EUSAGE, "--in-place replaces files, not standard input");
    if (*target == STDOUT && options->json)
        return gf_fail(GF_EUSAGE, "the picture goes to standard output; give -o");
    if (*target != FOLDER || is_directory(output))
        return GF_OK;
    struct stat about;
    bool is_file = stat(output, &about) == 0;
    if (is_file || (gf_codec_for_path(output) && !ends_in_slash(output)))
        return gf_fail(GF_EUSAGE, "-o %s is %s, but %s; name a folder%s",
                       gf_escape(output, shown, sizeof shown),
                       is_file ? "a file" : "a picture's name", why_several(inputs, filters),
                       is_file ? "" : " (end it with / if it is one)");
    return GF_OK;
}

/* The format found inside a file; NULL: none that is known, or it cannot be looked into ahead. */
static const GfCodec *codec_inside(const GfInputFile *input)
{
    const GfCodec *codec = NULL;
    GfInput *opened = NULL;
    const unsigned char *head;
    size_t bytes;
    if (input->regular && gf_input_open(input->path, &opened) == GF_OK &&
        gf_input_head(opened, &head, &bytes) == GF_OK)
        for (size_t i = 0; gf_codecs[i] && !codec; i++)
            codec = gf_codecs[i]->recognises(head, bytes) ? gf_codecs[i] : NULL;
    gf_input_close(opened);
    return codec;
}

/* The extension of outputs named after the input: --format's, the input's own, or that of the
 * format found inside it. A pipe cannot be looked into ahead; what it gives is written as PNG. */
static const char *output_extension(const GfOptions *options, const GfInputFile *input,
                                    char *buffer, size_t size)
{
    const GfCodec *codec = options->format;
    const char *own = gf_path_extension(input->path);
    if (*own && (!codec || codec == gf_codec_for_path(input->path)))
        return own;
    if (!codec)
        codec = codec_inside(input);
    const char *extensions = codec ? codec->extensions : ".png";
    size_t length = gf_min(strcspn(extensions, " "), size - 1);
    memcpy(buffer, extensions, length);
    buffer[length] = '\0';
    return buffer;
}

/* The folder in which the outputs of an input stand. The caller frees it. */
static GfStatus output_folder(const Maker *maker, const GfInputFile *input, char **folder)
{
    if (maker->target == FOLDER && !gf_name_has_folder(maker->template))
        return gf_path_join(maker->options->output, input->folder, folder);
    *folder = maker->target == FOLDER ? strdup(maker->options->output)
              : maker->target == AS_NAMED
                  ? strdup("")
                  : strndup(input->path, (size_t)(gf_path_base(input->path) - input->path));
    return *folder ? GF_OK : gf_fail(GF_EMEMORY, "out of memory");
}

static const char *name_option(const GfOptions *options)
{
    return options->montage ? "montage" : "name";
}

static GfStatus name_output(const Maker *maker, const GfInputFile *input, size_t index,
                            const char *filter, char **path)
{
    char extension[32], shown[SHOWN], *folder = NULL, *stem = NULL, *name = NULL;
    GfStatus status = GF_OK;
    const char *base = strcmp(input->path, "-") == 0 ? "stdin" : gf_path_base(input->path);
    stem = strndup(base, strlen(base) - strlen(gf_path_extension(base)));
    GF_GO(stem ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    GfNameParts parts = {
        .folder = input->folder,
        .stem = stem,
        .filter = filter,
        .extension = output_extension(maker->options, input, extension, sizeof extension),
        .index = index,
        .index_digits = maker->index_digits,
    };
    GF_GO(gf_name_make(maker->template, &parts, &name));
    const char *last = gf_path_base(name);
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        GF_GO(gf_fail(GF_EUSAGE, "--%s gives no file's name: \"%s\"", name_option(maker->options),
                      gf_escape(name, shown, sizeof shown)));
    GF_GO(output_folder(maker, input, &folder));
    GF_GO(gf_path_join(folder, name, path));
done:
    free(folder);
    free(stem);
    free(name);
    return status;
}

static GfStatus copy_path(const char *from, char **path)
{
    *path = strdup(from);
    return *path ? GF_OK : gf_fail(GF_EMEMORY, "out of memory");
}

static GfStatus make_paths(const Maker *maker, size_t index, GfJob *job)
{
    const char *given = maker->target == STDOUT     ? "-"
                        : maker->target == ONE_FILE ? maker->options->output
                        : maker->options->in_place  ? job->input->path
                                                    : NULL;
    bool together = maker->jobs->stacked || maker->jobs->montage;
    const GfOptions *options = maker->options;
    job->filters = maker->target == NOWHERE || job->input->trouble ? 0 : maker->named;
    job->bases_are_names = !together && maker->target != STDOUT;
    GF_TRY(gf_allocate_zero(job->filters + 1, sizeof *job->bases, &job->bases));
    for (size_t i = 0; i < job->filters; i++)
        GF_TRY(given ? copy_path(given, &job->bases[i])
                     : name_output(maker, job->input, index * maker->named + i + 1,
                                   maker->jobs->montage ? "montage" : maker->bank->names[i],
                                   &job->bases[i]));
    job->codec = options->format;
    if (!job->codec && job->filters)
        job->codec =
            options->in_place ? codec_inside(job->input) : gf_codec_for_path(job->bases[0]);
    GF_TRY(gf_maps_list(options, maker->bank, job));
    return gf_job_check_format(options, job,
                               maker->target == ONE_FILE || options->name || options->montage);
}

static GfStatus make_jobs(Maker *maker)
{
    GfJobs *jobs = maker->jobs;
    size_t count = jobs->inputs.count;
    maker->named = jobs->stacked || jobs->montage ? 1 : maker->bank->count;
    for (size_t n = count * maker->named; n > 0; n /= 10)
        maker->index_digits++;
    GF_TRY(gf_allocate_zero(count, sizeof *jobs->jobs, &jobs->jobs));
    for (size_t i = 0; i < count; i++) {
        GfJob *job = &jobs->jobs[jobs->count++];
        job->input = &jobs->inputs.files[i];
        GF_TRY(make_paths(maker, i, job));
    }
    return GF_OK;
}

GfStatus gf_jobs_create(const GfOptions *options, const GfBank *bank, GfJobs *jobs)
{
    Maker maker = {.options = options, .bank = bank, .jobs = jobs};
    *jobs = (GfJobs){0};
    jobs->montage = options->montage != NULL;
    maker.template = options->montage ? options->montage
                     : options->name  ? options->name
                                      : gf_name_default;
    GF_TRY(gf_name_check(name_option(options), maker.template));
    GF_TRY(gf_inputs_find(options, options->output, &jobs->inputs));
    jobs->stacked = is_stack(options, bank->count, &jobs->inputs);
    GF_TRY(choose_target(options, bank->count, jobs, &maker.target));
    if (options->diff_image && (jobs->inputs.count > 1 || bank->count > 1))
        return gf_fail(GF_EUSAGE, "--diff-image is for one picture and one filter");
    if (options->in_place && bank->count > 1)
        return gf_fail(GF_EUSAGE, "--in-place and several filters exclude each other");
    if (options->name && maker.target != BESIDE && maker.target != FOLDER)
        return gf_fail(GF_EUSAGE, "--name does not count where the output %s",
                       options->output           ? "is named by -o"
                       : maker.target == NOWHERE ? "is a comparison; -o writes pictures, too"
                                                 : "goes to standard output; -o names a folder");
    if (options->name && *options->name == '/' && maker.target == BESIDE)
        return gf_fail(GF_EUSAGE,
                       "--name begins in the input's folder, not at /; -o names another");
    GF_TRY(make_jobs(&maker));
    return gf_jobs_check_paths(options, jobs);
}

bool gf_jobs_may_wait(const GfJobs *jobs)
{
    bool waits = jobs->inputs.any_pipe;
    for (size_t j = 0; jobs->count == 1 && j < jobs->jobs[0].outputs; j++) {
        const char *path = jobs->jobs[0].paths[j];
        struct stat about;
        int found = strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, &about) : stat(path, &about);
        waits |= found == 0 && !S_ISREG(about.st_mode);
    }
    return waits;
}

void gf_job_free(GfJob *job)
{
    for (size_t j = 0; job->paths && j < job->outputs; j++)
        free(job->paths[j]);
    for (size_t j = 0; job->bases && j < job->filters; j++)
        free(job->bases[j]);
    free(job->paths);
    free(job->maps);
    free(job->bases);
    *job = (GfJob){0};
}

void gf_jobs_free(GfJobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        gf_job_free(&jobs->jobs[i]);
    free(jobs->jobs);
    gf_inputs_free(&jobs->inputs);
    *jobs = (GfJobs){0};
}
