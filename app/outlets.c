/* Files are begun before the first row is read, so that an output that exists or a folder that
 * cannot be written costs no work. */
#include "app/outlets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/message.h"
#include "common/memory.h"

static bool exists(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && lstat(path, &about) == 0;
}

bool gf_outlets_exist(const GfJob *job)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (!exists(job->paths[i]))
            return false;
    return job->outputs > 0;
}

/* Makes the folders above `path`; one that another thread makes meanwhile is as good. */
static GfStatus make_folders(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return gf_fail(GF_EMEMORY, "out of memory");
    GfStatus status = GF_OK;
    for (char *slash = strchr(copy + 1, '/'); slash && status == GF_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        struct stat about;
        if (stat(copy, &about) != 0 && mkdir(copy, 0777) != 0 && errno != EEXIST)
            status = gf_fail(GF_EWRITE, "its folder cannot be made: %s", strerror(errno));
        *slash = '/';
    }
    free(copy);
    return status;
}

static GfStatus open_outlet(GfOutlet *outlet, const GfOptions *options, const char *path,
                            const GfCodec *codec, const GfFormat *format, size_t pictures,
                            const GfMetadata *metadata)
{
    if (options->skip_existing && exists(path))
        return GF_OK;
    GF_TRY(gf_codec_accepts(codec, format, pictures));
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return gf_fail(GF_EUSAGE, "a picture is not written to a terminal; give -o FILE");
    if (strcmp(path, "-") != 0)
        GF_TRY(make_folders(path));
    GfStatus status =
        gf_output_open(path, options->overwrite || options->in_place, &outlet->output);
    if (status == GF_EEXIST)
        return gf_fail(status, "%s (--overwrite replaces, --skip-existing passes over)",
                       gf_message());
    GF_TRY(status);
    return gf_writer_create(outlet->output, codec, format, pictures, metadata, &options->write,
                            &outlet->writer);
}

/* One file of several pictures holds pictures of one shape. */
static GfStatus check_stack(const GfFormat *const *formats, size_t filters)
{
    for (size_t i = 1; i < filters; i++) {
        const GfFormat *a = formats[0], *b = formats[i];
        if (a->width != b->width || a->height != b->height)
            return gf_fail(GF_EFILTER,
                           "the filters' outputs differ in size (%zu x %zu, %zu x %zu) and cannot "
                           "go into one array",
                           a->width, a->height, b->width, b->height);
        if (a->channels != b->channels)
            return gf_fail(GF_EFILTER,
                           "the filters' outputs have %zu and %zu channels and cannot go into one "
                           "array",
                           a->channels, b->channels);
    }
    return GF_OK;
}

GfStatus gf_outlets_open(const GfOptions *options, const GfJob *job, const GfCodec *codec,
                         const GfFormat *const *formats, size_t filters, size_t pictures,
                         const GfMetadata *metadata, GfOutlets *outlets)
{
    *outlets = (GfOutlets){.job = job, .filters = filters};
    outlets->stacked = job->outputs == 1 && filters > 1;
    GfStatus status = GF_OK;
    GfMetadata kept = options->strip ? gf_metadata_none() : *metadata;
    kept.icc = metadata->icc;
    kept.axes = metadata->axes; /* the array's shape, which says nothing about its origin */
    if (outlets->stacked) {
        GF_TRY(check_stack(formats, filters));
        if (!gf_mul(pictures, filters, &pictures))
            return gf_fail(GF_ELIMIT, "too many pictures");
    }
    GF_TRY(gf_allocate_zero(job->outputs + 1, sizeof *outlets->items, &outlets->items));
    for (size_t i = 0; status == GF_OK && i < job->outputs; i++)
        status = gf_fail_output(open_outlet(&outlets->items[i], options, job->paths[i], codec,
                                            formats[i], pictures, &kept),
                                job->paths[i]);
    if (status != GF_OK)
        gf_outlets_discard(outlets);
    return status;
}

GfStatus gf_outlets_rows(GfOutlets *outlets, size_t picture, size_t filter, GfBand *band)
{
    size_t item = outlets->stacked ? 0 : filter;
    if (outlets->stacked)
        picture = picture * outlets->filters + filter;
    GfOutlet *outlet = &outlets->items[item];
    if (!outlet->writer)
        return GF_OK;
    return gf_fail_output(gf_writer_rows(outlet->writer, picture, band), outlets->job->paths[item]);
}

GfStatus gf_outlets_finish(GfOutlets *outlets)
{
    for (size_t i = 0; i < outlets->job->outputs; i++)
        if (outlets->items[i].writer)
            GF_TRY(
                gf_fail_output(gf_writer_finish(outlets->items[i].writer), outlets->job->paths[i]));
    return GF_OK;
}

GfStatus gf_outlets_commit(GfOutlets *outlets)
{
    GfStatus status = GF_OK;
    for (size_t i = 0; status == GF_OK && i < outlets->job->outputs; i++) {
        GfOutlet *outlet = &outlets->items[i];
        gf_writer_close(outlet->writer);
        outlet->writer = NULL;
        if (outlet->output)
            status = gf_fail_output(gf_output_commit(&outlet->output), outlets->job->paths[i]);
    }
    gf_outlets_discard(outlets);
    return status;
}

void gf_outlets_discard(GfOutlets *outlets)
{
    for (size_t i = 0; outlets->items && i < outlets->job->outputs; i++) {
        gf_writer_close(outlets->items[i].writer);
        gf_output_discard(&outlets->items[i].output);
    }
    free(outlets->items);
    outlets->items = NULL;
}
