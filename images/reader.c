/* Reading a picture of any format: the codec is found by content, its rows are turned as the EXIF
 * orientation says, and the limits that protect memory are the same for all. Only this file knows
 * of the turning: codecs give rows as stored, callers see rows as shown. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "images/ahead.h"
#include "images/codecs.h"
#include "images/orient.h"

/* A picture is worked on in bands: so many of its rows must fit the memory allowed. A few bytes of
 * a hostile file can announce one row of a gigapixel. */
enum { ROWS_AT_ONCE = 16 };

/* Most that is decoded ahead: more than any decoder gets done while a GPU starts. */
enum { AHEAD_BYTES = 256 << 20 };

typedef struct Reader {
    GfReader shown; /* what the caller sees; first, so that a pointer to it is one to this */
    unsigned orientation;
    GfFormat stored; /* the format of the codec's rows */
    GfImage whole; /* the stored picture, where a turn needs all of it; filled by the first read */
    GfError failure; /* a reader that failed once stays failed */
    size_t max_memory;
    GfAhead ahead;
} Reader;

GfStatus gf_reader_limit(const GfReader *reader, const GfReadOptions *options)
{
    const GfFormat *format = &reader->format;
    size_t pixels, bytes;
    char limit[GF_SIZE_TEXT];
    if (!gf_mul(format->width, format->height, &pixels) || pixels > options->max_pixels)
        return gf_fail(GF_ELIMIT, "%zu x %zu pixels are over the limit of %zu pixel%s",
                       format->width, format->height, options->max_pixels,
                       options->max_pixels == 1 ? "" : "s");
    if (!gf_mul(format->width, format->channels, &bytes) ||
        !gf_mul(bytes, gf_sample_size(format->sample), &bytes) ||
        bytes > options->max_memory / ROWS_AT_ONCE || bytes > PTRDIFF_MAX)
        return gf_fail(GF_ELIMIT, "%d rows of %zu x %zu samples are over the limit of %s",
                       ROWS_AT_ONCE, format->width, format->channels,
                       gf_limit_text(options->max_memory, limit));
    return GF_OK;
}

GfStatus gf_reader_hold(GfReader *reader, const GfReadOptions *options, size_t count, size_t size)
{
    size_t bytes;
    char limit[GF_SIZE_TEXT];
    if (!gf_mul(count, size, &bytes) || !gf_add(bytes, reader->held, &bytes) ||
        bytes > options->max_memory)
        return gf_fail(GF_ELIMIT,
                       "a picture of %zu x %zu that has to be held in memory is over the limit of "
                       "%s",
                       reader->format.width, reader->format.height,
                       gf_limit_text(options->max_memory, limit));
    reader->held = bytes;
    return GF_OK;
}

void gf_reader_note(GfReader *reader, const char *format, ...)
{
    size_t used = strlen(reader->note);
    if (used > 0 && used + 2 < sizeof reader->note) {
        memcpy(reader->note + used, "; ", 3);
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->note + used, sizeof reader->note - used, format, arguments);
    va_end(arguments);
}

/* Finds the codec and hands the input over to it. */
static GfStatus open_codec(Reader *reader, GfInput *input, const GfReadOptions *options)
{
    const unsigned char *head;
    size_t size;
    GfStatus status = gf_input_head(input, &head, &size);
    if (status == GF_OK && size == 0)
        status = gf_fail(GF_EINPUT, "the file is empty");
    for (const GfCodec *const *codec = gf_codecs; status == GF_OK && *codec; codec++) {
        if ((*codec)->recognises(head, size)) {
            reader->shown.codec = *codec;
            return (*codec)->open(&reader->shown, input, options);
        }
    }
    if (status == GF_OK)
        status = gf_fail(GF_EINPUT, "not a PNG, JPEG or .npy picture");
    gf_input_close(input);
    return status;
}

/* Changes what the caller sees to the turned picture. */
static GfStatus set_orientation(Reader *reader, const GfReadOptions *options)
{
    GfReader *shown = &reader->shown;
    reader->stored = shown->format;
    reader->orientation = options->auto_orient ? gf_exif_orientation(&shown->metadata.exif) : 1;
    if (reader->orientation == 1)
        return GF_OK;
    gf_metadata_reset_orientation(&shown->metadata);
    if (gf_orientation_swaps(reader->orientation)) {
        shown->format.width = reader->stored.height;
        shown->format.height = reader->stored.width;
        double across = shown->metadata.density_x;
        shown->metadata.density_x = shown->metadata.density_y;
        shown->metadata.density_y = across;
        gf_exif_swap_resolutions(&shown->metadata.exif);
        GF_TRY(gf_reader_limit(shown, options));
    }
    if (reader->orientation == 2)
        return GF_OK;
    shown->streams = false;
    return gf_reader_hold(shown, options, reader->stored.height, gf_row_stride(&reader->stored));
}

GfStatus gf_reader_open(const char *path, const GfReadOptions *options, GfReader **reader)
{
    GfInput *input;
    Reader *opened;
    *reader = NULL;
    GF_TRY(gf_input_open(path, &input));
    GfStatus status = gf_allocate_zero(1, sizeof *opened, &opened);
    if (status != GF_OK) {
        gf_input_close(input);
        return status;
    }
    opened->shown.pictures = 1;
    opened->shown.streams = true;
    opened->shown.metadata = gf_metadata_none();
    opened->max_memory = options->max_memory;
    status = open_codec(opened, input, options);
    if (status == GF_OK)
        status = set_orientation(opened, options);
    if (status != GF_OK) {
        gf_reader_close(&opened->shown);
        return status;
    }
    *reader = &opened->shown;
    return GF_OK;
}

/* Decodes the stored picture. The codec knows nothing of turning: it finds its own format. */
static GfStatus read_stored(Reader *reader)
{
    GfFormat turned = reader->shown.format;
    GF_TRY(gf_image_allocate(&reader->stored, &reader->whole));
    GfBand all = gf_image_band(&reader->whole);
    reader->shown.format = reader->stored;
    GfStatus status = reader->shown.codec->rows(&reader->shown, &all);
    reader->shown.format = turned;
    return status;
}

static GfStatus read_turned(Reader *reader, const GfBand *band)
{
    if (!reader->whole.samples)
        GF_TRY(read_stored(reader));
    gf_orient_rows(&reader->whole, reader->orientation, band);
    return GF_OK;
}

static GfStatus decode_rows(GfReader *shown, const GfBand *band)
{
    Reader *reader = (Reader *)shown;
    if (reader->failure.status != GF_OK)
        return gf_error_raise(&reader->failure);
    GfStatus status =
        reader->orientation > 2 ? read_turned(reader, band) : shown->codec->rows(shown, band);
    if (status == GF_OK && reader->orientation == 2)
        gf_orient_mirror(&shown->format, band);
    if (status != GF_OK)
        gf_error_save(&reader->failure, status);
    return status;
}

/* Where the first row takes the whole picture, further ones would only be copies. */
void gf_reader_start_ahead(GfReader *shown)
{
    Reader *reader = (Reader *)shown;
    size_t limit = gf_min(AHEAD_BYTES, (reader->max_memory - shown->held) / 2);
    gf_ahead_start(&reader->ahead, shown, decode_rows,
                   shown->streams ? limit : gf_row_bytes(&shown->format));
}

void gf_reader_stop_ahead(GfReader *shown)
{
    if (shown)
        gf_ahead_stop(&((Reader *)shown)->ahead);
}

GfStatus gf_reader_rows(GfReader *shown, const GfBand *band)
{
    GfBand rest = *band;
    gf_ahead_take(&((Reader *)shown)->ahead, &rest);
    return rest.rows > 0 ? decode_rows(shown, &rest) : GF_OK;
}

GfStatus gf_reader_finish(GfReader *shown)
{
    Reader *reader = (Reader *)shown;
    if (reader->failure.status != GF_OK)
        return gf_error_raise(&reader->failure);
    GfStatus status = shown->codec->finish(shown);
    if (status != GF_OK)
        gf_error_save(&reader->failure, status);
    return status;
}

void gf_reader_close(GfReader *shown)
{
    if (!shown)
        return;
    Reader *reader = (Reader *)shown;
    gf_ahead_free(&reader->ahead);
    if (shown->state)
        shown->codec->close(shown);
    gf_metadata_free(&shown->metadata);
    gf_image_free(&reader->whole);
    free(reader);
}
