/* Files are begun before the first row is read, so that an output that exists or a folder that
 * cannot be written costs no work.
 *
 * Rows go to their writers as they come, of an output that is cut into maps each channel to its
 * own. Only what depends on the whole picture, a stretch or a sheet, is held until the last row. */
#include "app/outlets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/maps.h"
#include "app/message.h"
#include "app/naming.h"
#include "common/memory.h"

/* Names the output that failed, but for the input itself, which is named anyway. */
static GfStatus fail_outlet(const GfOutlets *outlets, GfStatus status, const char *path)
{
    bool input = strcmp(path, "-") != 0 && strcmp(path, outlets->job->input->path) == 0;
    return input ? status : gf_fail_output(status, path);
}

/* A folder, or a link that leads nowhere, is in the way of an output, but none. */
static bool exists(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

bool gf_outlets_exist(const GfJob *job)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (!exists(job->paths[i]))
            return false;
    return job->outputs > 0;
}

bool gf_outlets_missing(const GfJob *job, bool *missing)
{
    bool any = false;
    char *const *path = job->paths;
    for (size_t i = 0; i < job->filters; i++) {
        missing[i] = false;
        for (size_t map = 0; map < job->maps[i]; map++)
            missing[i] |= !exists(*path++);
        any |= missing[i];
    }
    return any;
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
        if (stat(copy, &about) != 0 && mkdir(copy, 0777) != 0 && errno != EEXIST) {
            bool full = errno == ENOSPC || errno == EDQUOT;
            status = gf_fail(full ? GF_EFULL : GF_EWRITE, "its folder cannot be made: %s",
                             strerror(errno));
        }
        *slash = '/';
    }
    free(copy);
    return status;
}

/* ---- what is written ---- */

static const GfCodec *codec_of(const GfJob *job, const GfReader *reader)
{
    return job->outputs == 0 ? NULL : job->codec ? job->codec : reader->codec;
}

/* Sheets are of integers: what they show is made for the eye. */
static GfSample file_sample(const GfOptions *options, const GfJob *job, const GfReader *reader)
{
    const GfCodec *codec = codec_of(job, reader);
    GfSample in = reader->format.sample;
    if (!options->montage || options->depth_given)
        return gf_options_sample(options, codec, in);
    return !gf_sample_is_float(in) && codec->samples & 1u << in ? in : GF_U8;
}

GfSample gf_outlets_sample(const GfOptions *options, const GfJob *job, const GfReader *reader)
{
    GfSample sample = file_sample(options, job, reader);
    bool stretched = options->montage ? options->montage_scale != GF_MONTAGE_NONE : options->minmax;
    if (!stretched || gf_sample_is_float(sample))
        return sample;
    return reader->format.sample == GF_F64 ? GF_F64 : GF_F32;
}

/* ---- opening ---- */

/* What all files of a picture share. */
typedef struct Opening {
    const GfOptions *options;
    const GfCodec *codec;
    const GfFormat *const *formats;
    size_t pictures;
    GfMetadata metadata;
    GfWriteOptions write;
} Opening;

static GfStatus begin_file(const Opening *opening, const GfFormat *format, GfOutlet *outlet)
{
    const GfOptions *options = opening->options;
    const char *path = outlet->path;
    outlet->exists = options->skip_existing && exists(path);
    if (outlet->exists)
        return GF_OK;
    GF_TRY(gf_codec_accepts(opening->codec, format, opening->pictures));
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        return gf_fail(GF_EUSAGE, "a picture is not written to a terminal; give -o FILE");
    if (strcmp(path, "-") != 0)
        GF_TRY(make_folders(path));
    GfStatus status =
        gf_output_open(path, options->overwrite || options->in_place, &outlet->output);
    if (status == GF_EEXIST && exists(path)) {
        outlet->exists = options->skip_existing; /* another run has just written it */
        if (outlet->exists)
            return GF_OK;
        return gf_fail(status, "%s (--overwrite replaces, --skip-existing passes over)",
                       gf_message());
    }
    GF_TRY(status);
    return gf_writer_create(outlet->output, opening->codec, format, opening->pictures,
                            &opening->metadata, &opening->write, &outlet->writer);
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

/* Those of a filter that is left out. */
static GfStatus pass_over(GfOutlets *outlets, size_t filter)
{
    size_t maps = outlets->job->maps[filter];
    for (size_t map = 0; map < maps; map++) {
        GfOutlet *outlet = &outlets->items[outlets->count++];
        *outlet = (GfOutlet){.filter = filter, .exists = true};
        GF_TRY(gf_name_map(outlets->job->bases[filter], map + 1, maps, &outlet->path));
    }
    return GF_OK;
}

/* Begins the files of one filter: one, or one a map. */
static GfStatus open_filter(GfOutlets *outlets, const Opening *opening, size_t filter)
{
    GfFormat format = *opening->formats[filter];
    size_t maps = gf_maps_allowed(opening->options, outlets->job)
                      ? gf_codec_maps(opening->codec, &format)
                      : 1;
    format.sample = outlets->sample;
    format.channels /= maps;
    for (size_t map = 0; map < maps; map++) {
        GfOutlet *outlet = &outlets->items[outlets->count++];
        *outlet = (GfOutlet){.filter = filter,
                             .first = map,
                             .channels = format.channels,
                             .of = maps * format.channels};
        GF_TRY(gf_name_map(outlets->job->bases[filter], map + 1, maps, &outlet->path));
        GF_TRY(fail_outlet(outlets, begin_file(opening, &format, outlet), outlet->path));
    }
    return GF_OK;
}

static GfStatus open_filters(GfOutlets *outlets, const Opening *opening)
{
    size_t most = 0;
    for (size_t i = 0; i < outlets->job->filters; i++)
        most += opening->formats[i] ? opening->formats[i]->channels : outlets->job->maps[i];
    GF_TRY(gf_allocate_zero(most + 1, sizeof *outlets->items, &outlets->items));
    for (size_t i = 0; i < outlets->job->filters; i++)
        GF_TRY(opening->formats[i] ? open_filter(outlets, opening, i) : pass_over(outlets, i));
    return GF_OK;
}

static GfStatus open_montage(GfOutlets *outlets, const Opening *opening, const GfReader *reader)
{
    GF_TRY(gf_montage_plan(opening->options, &reader->format, opening->formats, outlets->filters,
                           outlets->sample, &outlets->montage));
    GF_TRY(gf_allocate_zero(1, sizeof *outlets->items, &outlets->items));
    outlets->count = 1;
    GF_TRY(gf_name_map(outlets->job->bases[0], 1, 1, &outlets->items[0].path));
    if (reader->pictures > 1)
        return gf_fail(GF_EUSAGE, "a montage is of one picture, and this file holds %zu",
                       reader->pictures);
    return fail_outlet(outlets, begin_file(opening, &outlets->montage.format, &outlets->items[0]),
                       outlets->items[0].path);
}

static GfMetadata metadata_of(const GfOptions *options, const GfMetadata *metadata)
{
    GfMetadata kept = options->strip || options->montage ? gf_metadata_none() : *metadata;
    kept.icc = metadata->icc;
    if (!options->montage)
        kept.axes = metadata->axes; /* the array's shape, which says nothing about its origin */
    return kept;
}

GfStatus gf_outlets_open(const GfOptions *options, const GfJob *job, const GfReader *reader,
                         const GfFormat *const *formats, size_t filters, size_t memory,
                         size_t taken, GfOutlets *outlets)
{
    Opening opening = {options,
                       codec_of(job, reader),
                       formats,
                       reader->pictures,
                       metadata_of(options, &reader->metadata),
                       options->write};
    GfStatus status;
    *outlets = (GfOutlets){.job = job, .filters = filters, .in = reader->format.sample};
    outlets->sample = file_sample(options, job, reader);
    opening.write.outputs = job->outputs;
    opening.write.taken = taken;
    outlets->skip_existing = options->skip_existing;
    outlets->stacked = !options->montage && job->filters == 1 && filters > 1;
    if (outlets->stacked) {
        GF_GO(check_stack(formats, filters));
        if (!gf_mul(opening.pictures, filters, &opening.pictures))
            GF_GO(gf_fail(GF_ELIMIT, "too many pictures"));
    }
    const GfFormat *const *computed = formats; /* all are of one sample type */
    while (!*computed)
        computed++;
    if (options->montage || (*computed)->sample != outlets->sample)
        GF_GO(gf_held_create(formats, filters, memory, &outlets->held));
    GF_GO(options->montage ? open_montage(outlets, &opening, reader)
                           : open_filters(outlets, &opening));
done:
    if (status != GF_OK)
        gf_outlets_discard(outlets);
    return status;
}

void gf_outlets_noise(GfOutlets *outlets, size_t filter, double noise)
{
    if (outlets->held.count)
        outlets->held.noise[filter] = noise;
}

/* ---- rows ---- */

/* Makes the scratch at least that large. */
static GfStatus reserve(GfOutlets *outlets, size_t rows, size_t stride)
{
    size_t bytes;
    if (!gf_mul(rows, stride, &bytes))
        return gf_fail(GF_EMEMORY, "%zu rows of %zu bytes are too much memory", rows, stride);
    if (bytes <= outlets->scratch_bytes)
        return GF_OK;
    free(outlets->scratch);
    outlets->scratch_bytes = 0;
    GF_TRY(gf_allocate(bytes, 1, &outlets->scratch));
    outlets->scratch_bytes = bytes;
    return GF_OK;
}

/* Copies one channel of a row of pixels of `channels` samples of `size` bytes. */
static void copy_channel(unsigned char *to, const unsigned char *from, size_t width,
                         size_t channels, size_t size)
{
    for (size_t x = 0; x < width; x++)
        memcpy(to + x * size, from + x * channels * size, size);
}

static GfStatus write_channel(GfOutlets *outlets, size_t picture, const GfOutlet *outlet,
                              const GfBand *band)
{
    const GfFormat *format = &outlet->writer->format;
    size_t size = gf_sample_size(format->sample), stride = gf_row_stride(format);
    GF_TRY(reserve(outlets, band->rows, stride));
    unsigned char *rows = outlets->scratch;
    const unsigned char *from = band->samples;
    for (size_t y = 0; y < band->rows; y++)
        copy_channel(rows + y * stride, from + y * band->stride + outlet->first * size,
                     format->width, outlet->of, size);
    return gf_writer_rows(outlet->writer, picture, &(GfBand){band->y0, band->rows, stride, rows});
}

/* A filter's responses from the smallest to the largest, but for opacity, as rows of samples. */
static GfStatus write_stretched(GfOutlets *outlets, size_t picture, size_t filter,
                                const GfOutlet *outlet)
{
    const GfImage *image = &outlets->held.images[filter];
    const GfFormat *format = &outlet->writer->format;
    size_t colours = format->channels - (format->has_alpha ? 1 : 0);
    double alpha = gf_sample_max(format->sample) / gf_sample_max(outlets->in);
    GfStretch stretch = gf_stretch_none();
    GF_TRY(reserve(outlets, 1, gf_align(gf_row_bytes(format))));
    gf_stretch_widen_held(&stretch, &outlets->held, filter, outlet->first, colours);
    for (size_t y = 0; y < format->height; y++) {
        const unsigned char *from = (const unsigned char *)image->samples + y * image->stride;
        for (size_t i = 0; i < gf_row_samples(format); i++) {
            size_t x = i / format->channels, c = i % format->channels;
            double number = gf_sample_at(from, x * image->format.channels + outlet->first + c,
                                         image->format.sample);
            gf_sheet_store(outlets->scratch, i, format->sample,
                           c < colours ? gf_stretch_sample(&stretch, number, format->sample)
                                       : number * alpha);
        }
        GfBand row = {y, 1, gf_align(gf_row_bytes(format)), outlets->scratch};
        GF_TRY(gf_writer_rows(outlet->writer, picture, &row));
    }
    return GF_OK;
}

/* Writes a band of a filter, or the picture that it completed, to one outlet. */
static GfStatus write_outlet(GfOutlets *outlets, size_t picture, size_t filter, GfOutlet *outlet,
                             GfBand *band)
{
    if (!outlet->writer)
        return GF_OK;
    if (outlets->held.count)
        return write_stretched(outlets, picture, filter, outlet);
    if (outlet->channels < outlet->of)
        return write_channel(outlets, picture, outlet, band);
    return gf_writer_rows(outlet->writer, picture, band);
}

GfStatus gf_outlets_rows(GfOutlets *outlets, size_t picture, size_t filter, GfBand *band)
{
    if (outlets->held.count) {
        gf_held_rows(&outlets->held, filter, band);
        if (outlets->montage.tiles || !gf_held_is_last(&outlets->held, filter, band))
            return GF_OK;
    }
    size_t place = outlets->stacked ? picture * outlets->filters + filter : picture;
    for (size_t i = 0; i < outlets->count; i++) {
        GfOutlet *outlet = &outlets->items[i];
        if (outlets->stacked || outlet->filter == filter)
            GF_TRY(fail_outlet(outlets, write_outlet(outlets, place, filter, outlet, band),
                               outlet->path));
    }
    return GF_OK;
}

/* ---- the end ---- */

GfStatus gf_outlets_finish(GfOutlets *outlets)
{
    const char *note = NULL; /* said once: it is about the picture */
    for (size_t i = 0; i < outlets->count; i++) {
        GfOutlet *outlet = &outlets->items[i];
        if (outlet->writer && outlets->montage.tiles)
            GF_TRY(fail_outlet(outlets,
                               gf_montage_write(&outlets->montage, &outlets->held, outlet->writer),
                               outlet->path));
        if (outlet->writer)
            GF_TRY(fail_outlet(outlets, gf_writer_finish(outlet->writer), outlet->path));
        if (outlet->writer && outlet->writer->note)
            note = outlet->writer->note;
    }
    if (note)
        gf_say_note(outlets->job->input->path, "%s", note);
    return GF_OK;
}

GfStatus gf_outlets_commit(GfOutlets *outlets, size_t *written)
{
    GfStatus status = GF_OK;
    *written = 0;
    for (size_t i = 0; status == GF_OK && i < outlets->count; i++) {
        GfOutlet *outlet = &outlets->items[i];
        gf_writer_close(outlet->writer);
        outlet->writer = NULL;
        if (!outlet->output)
            continue;
        /* Whoever passes over what exists has to be sure that it is whole. */
        if (outlets->skip_existing)
            status = gf_output_sync(outlet->output);
        if (status == GF_OK)
            status = gf_output_commit(&outlet->output);
        if (status == GF_OK)
            (*written)++;
        /* Under --skip-existing one that another run was first to write is as good. */
        outlet->exists = status == GF_EEXIST && outlets->skip_existing;
        if (outlet->exists)
            status = GF_OK;
        status = fail_outlet(outlets, status, outlet->path);
    }
    return status;
}

void gf_outlets_discard(GfOutlets *outlets)
{
    for (size_t i = 0; i < outlets->count; i++) {
        gf_writer_close(outlets->items[i].writer);
        gf_output_discard(&outlets->items[i].output);
        free(outlets->items[i].path);
    }
    free(outlets->items);
    free(outlets->scratch);
    gf_held_free(&outlets->held);
    gf_montage_free(&outlets->montage);
    *outlets = (GfOutlets){0};
}
