/* Reading PNG through libpng, every kind as 8- or 16-bit samples in the machine's byte order:
 * palettes and small depths expanded, tRNS as opacity, no colour or gamma transform.
 *
 * libpng is strict about pixels and lenient about the rest, but its limits make an over-long
 * ancillary chunk fatal, and it spends memory on chunks nobody asked for. So the bytes pass a small
 * filter first: the read callback follows the chunks, leaves out ancillary ones that are not carried
 * or are too large, and brings metadata from behind the pixels to the front, where the file is no
 * pipe. What libpng then complains of concerns the pixels.
 *
 * Inflating is most of reading: 90 of 105 ms of a smooth, 155 of 188 of a noisy RGB picture of 4096 x
 * 4096. libdeflate takes 27 and 90 ms, but wants the whole stream at once, and of a whole run that
 * is a sixth: not enough for a second way of reading. Larger buffers change nothing.
 *
 * Every call into libpng that may fail runs in guarded(), the only place of a setjmp: the steps
 * called there keep all they own in PngReader, so that a longjmp loses nothing. */
#include <png.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/checksum.h"
#include "images/codecs.h"
#include "images/png_late.h"

enum {
    CHUNK_MAX = 8 << 20, /* bytes of one ancillary chunk, also uncompressed; and of all texts */
    SMALL_PIECE = 256,
    HEADER = 8 /* length and name of a chunk */
};

typedef struct PngReader {
    GfReader *reader;
    GfInput *input;
    png_structp png;
    png_infop info;
    jmp_buf jump;
    GfStatus status;              /* what kind of failure a longjmp reports */
    char message[256];            /* and libpng's words for it */
    unsigned char header[HEADER]; /* of the chunk that is being read */
    uint64_t left;                /* bytes of it not read yet, checksum included */
    bool signature_read, pixels_began, animated, cut;
    unsigned char *exif; /* an eXIf chunk while it is looked at; owned */
    GfPngLate late;      /* metadata behind the pixels, which libpng is shown before them */
    size_t late_served;
    bool serving_late;
    uint64_t late_place;           /* where reading from a late chunk goes on */
    unsigned char waiting[HEADER]; /* header of the first IDAT meanwhile */
    int texts_counted;             /* entries of libpng's list that text_bytes includes */
    size_t text_bytes;
    bool tolerant, interlaced;
    bool noted;         /* the user has been told of damage accepted */
    bool broken;        /* nothing more can be decoded; the rest is zero (tolerant only) */
    size_t row;         /* rows decoded */
    GfImage whole;      /* an interlaced picture; its samples are NULL until the first read */
    const GfBand *band; /* what the present step is to fill */
} PngReader;

static bool recognises(const unsigned char *head, size_t size)
{
    return size >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

/* What libpng calls. */

/* libpng says it in its own words, or in those that it has for zlib's code. */
static bool is_memory(const char *text)
{
    return strcmp(text, "Out of memory") == 0 || strstr(text, "insufficient memory");
}

static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    PngReader *state = png_get_error_ptr(png);
    if (state->status == GF_OK)
        state->status = is_memory(text) ? GF_EMEMORY : GF_EINPUT;
    snprintf(state->message, sizeof state->message, "%s", text);
    longjmp(state->jump, 1);
}

/* Once is enough: every IDAT chunk of a file may have its checksum wrong. */
static void note_damage(PngReader *state, const char *text)
{
    if (!state->noted)
        gf_reader_note(state->reader, "damage accepted: %s", text);
    state->noted = true;
}

/* libpng leaves tRNS out, and the picture's opacity with it. An empty one, a second one and one beside a
 * channel of opacity are no loss. */
static bool loses_opacity(const PngReader *state, const char *text)
{
    return strncmp(text, "tRNS: ", 6) == 0 && png_get_uint_32(state->header) > 0 &&
           !png_get_valid(state->png, state->info, PNG_INFO_tRNS) &&
           !(png_get_color_type(state->png, state->info) & PNG_COLOR_MASK_ALPHA);
}

/* Warnings about most ancillary chunks are nobody's business. Those about IDAT and tRNS say that pixels
 * cannot be trusted, but for data beyond the last row. (A palette index without a colour gives no
 * warning: it is black, as in browsers.) */
static void on_warning(png_structp png, png_const_charp text)
{
    PngReader *state = png_get_error_ptr(png);
    if (strncmp(text, "IDAT: ", 6) != 0 && !loses_opacity(state, text))
        return;
    if (strstr(text, "Extra compressed data") || strstr(text, "Too much image data"))
        gf_reader_note(state->reader, "data after the last row ignored");
    else if (state->tolerant)
        note_damage(state, text);
    else
        on_error(png, text);
}

static void take(PngReader *state, void *bytes, size_t size)
{
    unsigned char *to = bytes;
    if (state->serving_late) {
        state->status = gf_input_read_at(state->input, bytes, size, state->late_place);
        if (state->status != GF_OK)
            png_error(state->png, gf_message());
        state->late_place += size;
        return;
    }
    while (size > 0) {
        size_t got;
        state->status = gf_input_read(state->input, to, size, &got);
        if (state->status != GF_OK)
            png_error(state->png, gf_message());
        state->cut = got == 0;
        if (state->cut)
            png_error(state->png, "the file is cut short");
        to += got;
        size -= got;
    }
}

static void skip(PngReader *state, uint64_t size)
{
    unsigned char block[4096];
    while (size > 0) {
        size_t piece = size < sizeof block ? (size_t)size : sizeof block;
        take(state, block, piece);
        size -= piece;
    }
}

static bool is(const PngReader *state, const char *name)
{
    return memcmp(state->header + 4, name, 4) == 0;
}

static bool is_text(const PngReader *state)
{
    return is(state, "tEXt") || is(state, "zTXt") || is(state, "iTXt");
}

/* Bytes that the texts to come may still take. One deflated kilobyte can become a megabyte of text,
 * so it is the text in memory that is counted. */
static size_t text_budget(PngReader *state)
{
    png_textp texts;
    int count = 0;
    png_get_text(state->png, state->info, &texts, &count);
    for (; state->texts_counted < count; state->texts_counted++) {
        const png_text *text = &texts[state->texts_counted];
        state->text_bytes += text->text_length + text->itxt_length;
        state->text_bytes += text->lang_key ? strlen(text->lang_key) : 0;
        state->text_bytes += text->lang ? strlen(text->lang) : 0;
    }
    bool room = count < GF_PNG_TEXTS_MAX && state->text_bytes < CHUNK_MAX;
    return room ? CHUNK_MAX - state->text_bytes : 0;
}

/* Whether libpng shall not see the chunk in state->header. Critical chunks and names that are no
 * names (not four letters) are libpng's to judge. */
static bool left_out(PngReader *state, uint32_t length)
{
    static const char *const carried[] = {"tRNS", "iCCP", "eXIf", "pHYs", "gAMA",
                                          "cHRM", "sRGB", "tEXt", "zTXt", "iTXt"};
    const unsigned char *name = state->header + 4;
    png_set_chunk_malloc_max(state->png, CHUNK_MAX);
    for (size_t i = 0; i < 4; i++)
        if ((name[i] | 0x20) < 'a' || (name[i] | 0x20) > 'z')
            return false;
    bool ancillary = name[0] & 0x20;
    if (!ancillary || length > PNG_UINT_31_MAX)
        return false;
    size_t limit = is_text(state) ? text_budget(state) : CHUNK_MAX;
    if (state->pixels_began || length >= limit)
        return true;
    png_set_chunk_malloc_max(state->png, limit);
    for (size_t i = 0; i < sizeof carried / sizeof carried[0]; i++)
        if (is(state, carried[i]))
            return false;
    return true;
}

/* Reads the next chunk's header. In front of the first IDAT those of the late chunks come, one after
 * the other, and IDAT's own waits meanwhile. */
static void read_chunk_header(PngReader *state)
{
    if (!state->serving_late) {
        take(state, state->header, HEADER);
        if (state->pixels_began || state->late.count == 0 || !is(state, "IDAT"))
            return;
        memcpy(state->waiting, state->header, HEADER);
    }
    state->serving_late = state->late_served < state->late.count;
    if (state->serving_late) {
        state->late_place = state->late.offsets[state->late_served++];
        take(state, state->header, HEADER);
    } else {
        memcpy(state->header, state->waiting, HEADER);
    }
}

/* Takes an eXIf chunk of less than CHUNK_MAX bytes; the first that is whole counts. libpng would drop
 * those of writers that put JPEG's "Exif\0\0" before the block. */
static void take_exif(PngReader *state, uint32_t length)
{
    enum { NAME = 4, PREFIX = 6 };
    GfBlob *exif = &state->reader->metadata.exif;
    state->status = gf_allocate(1, NAME + (size_t)state->left, &state->exif);
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
    const unsigned char *block = state->exif + NAME, *end = block + length;
    memcpy(state->exif, state->header + 4, NAME);
    take(state, state->exif + NAME, state->left);
    bool whole = gf_crc32(state->exif, NAME + length) == png_get_uint_32(end);
    if (length >= PREFIX && memcmp(block, "Exif\0\0", PREFIX) == 0)
        block += PREFIX;
    bool order = end - block >= 2 && (memcmp(block, "II", 2) == 0 || memcmp(block, "MM", 2) == 0);
    if (whole && order && !exif->data)
        state->status = gf_blob_set(exif, block, (size_t)(end - block));
    free(state->exif);
    state->exif = NULL;
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
}

/* Goes on to the next chunk that libpng is to see. */
static void next_chunk(PngReader *state)
{
    for (;;) {
        read_chunk_header(state);
        uint32_t length = png_get_uint_32(state->header);
        state->left = (uint64_t)length + 4;
        state->animated |= is(state, "acTL");
        if (left_out(state, length))
            skip(state, state->left);
        else if (is(state, "eXIf") && length < CHUNK_MAX &&
                 png_get_image_width(state->png, state->info) > 0) /* behind IHDR, as it must be */
            take_exif(state, length);
        else
            break;
    }
    state->pixels_began |= is(state, "IDAT");
}

static void read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    PngReader *state = png_get_io_ptr(png);
    if (state->signature_read && state->left == 0 && size == HEADER) {
        next_chunk(state);
        memcpy(bytes, state->header, HEADER);
        return;
    }
    take(state, bytes, size);
    if (state->signature_read)
        state->left -= size < state->left ? size : state->left;
    state->signature_read = true;
}

/* Steps: run in guarded(), left by longjmp on failure. */

static void create(PngReader *state)
{
    state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    state->info = state->png ? png_create_info_struct(state->png) : NULL;
    if (!state->info) {
        state->status = gf_fail(GF_EMEMORY, "out of memory");
        snprintf(state->message, sizeof state->message, "%s", gf_message());
        longjmp(state->jump, 1);
    }
    png_set_read_fn(state->png, state, read_bytes);
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(state->png, CHUNK_MAX);
    png_set_chunk_cache_max(state->png, 2 * GF_PNG_TEXTS_MAX);
    png_set_option(state->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
}

static void read_header(PngReader *state)
{
    png_read_info(state->png, state->info);
    png_set_expand(state->png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(state->png);
    state->interlaced = png_set_interlace_handling(state->png) > 1;
    /* The header was read strictly; from here on a tolerant reader takes pixels as they are. */
    if (state->tolerant) {
        png_set_crc_action(state->png, PNG_CRC_WARN_USE, PNG_CRC_WARN_DISCARD);
        /* Of a file that is cut, libpng drops the piece of this size in which it ends. */
        png_set_compression_buffer_size(state->png, SMALL_PIECE);
    }
}

static void start_rows(PngReader *state)
{
    png_read_update_info(state->png, state->info);
    if (png_get_rowbytes(state->png, state->info) != gf_row_bytes(&state->reader->format))
        png_error(state->png, "rows are not as long as the header says");
}

static void read_rows(PngReader *state)
{
    const GfBand *band = state->band;
    for (; state->row - band->y0 < band->rows; state->row++) {
        size_t y = state->row - band->y0;
        png_read_row(state->png, (png_bytep)band->samples + y * band->stride, NULL);
    }
}

static void read_passes(PngReader *state)
{
    enum { PASSES = 7 };
    const GfBand *band = state->band;
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t y = 0; y < band->rows; y++)
            png_read_row(state->png, (png_bytep)band->samples + y * band->stride, NULL);
    state->row = band->rows;
}

static void read_end(PngReader *state)
{
    png_read_end(state->png, NULL);
}

static GfStatus guarded(PngReader *state, void (*step)(PngReader *))
{
    state->status = GF_OK;
    if (setjmp(state->jump) != 0)
        return state->status;
    step(state);
    return GF_OK;
}

/* Puts a failed step into words. */
static GfStatus explain(const PngReader *state)
{
    size_t row = state->row, rows = png_get_image_height(state->png, state->info);
    if (state->status != GF_EINPUT)
        return gf_fail(state->status, "%s", state->message);
    bool short_data = state->cut || strstr(state->message, "Not enough image data");
    if (!state->pixels_began)
        return state->cut ? gf_fail(GF_EINPUT, "the PNG file ends before its picture")
                          : gf_fail(GF_EINPUT, "the PNG header cannot be read: %s", state->message);
    if (row == rows)
        return state->cut ? gf_fail(GF_EINPUT, "the PNG file ends without its end marker (IEND)")
                          : gf_fail(GF_EINPUT, "the PNG is damaged: %s", state->message);
    if (state->interlaced)
        return gf_fail(GF_EINPUT, "the PNG data %s (interlaced): %s",
                       short_data ? "end early" : "are damaged", state->message);
    if (short_data)
        return gf_fail(GF_EINPUT, "the PNG data end after row %zu of %zu", row, rows);
    return gf_fail(GF_EINPUT, "the PNG data are damaged after row %zu of %zu: %s", row, rows,
                   state->message);
}

/* A failure among the pixels: an error, or (tolerant) the end of what can be decoded. */
static GfStatus damaged(PngReader *state)
{
    GfStatus status = explain(state);
    if (status != GF_EINPUT || !state->tolerant)
        return status;
    state->broken = true;
    note_damage(state, gf_message());
    return GF_OK;
}

static void set_format(PngReader *state)
{
    png_structp png = state->png;
    png_infop info = state->info;
    int type = png_get_color_type(png, info);
    bool alpha = (type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    state->reader->format = (GfFormat){
        .width = png_get_image_width(png, info),
        .height = png_get_image_height(png, info),
        .channels = (type & PNG_COLOR_MASK_COLOR ? 3u : 1u) + (alpha ? 1u : 0u),
        .has_alpha = alpha,
        .sample = png_get_bit_depth(png, info) == 16 ? GF_U16 : GF_U8,
    };
}

static void set_colour(PngReader *state, GfMetadata *metadata)
{
    png_structp png = state->png;
    png_infop info = state->info;
    double *c = metadata->chromaticities;
    png_uint_32 x, y;
    int unit;
    if (png_get_valid(png, info, PNG_INFO_gAMA))
        png_get_gAMA(png, info, &metadata->gamma);
    if (png_get_valid(png, info, PNG_INFO_cHRM))
        metadata->has_chromaticities =
            png_get_cHRM(png, info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]) != 0;
    if (png_get_valid(png, info, PNG_INFO_sRGB))
        png_get_sRGB(png, info, &metadata->srgb_intent);
    if (png_get_pHYs(png, info, &x, &y, &unit)) {
        metadata->density_x = x;
        metadata->density_y = y;
        metadata->density_is_aspect = unit != PNG_RESOLUTION_METER;
    }
}

static GfStatus set_metadata(PngReader *state)
{
    png_structp png = state->png;
    png_infop info = state->info;
    GfMetadata *metadata = &state->reader->metadata;
    png_charp name;
    png_bytep bytes;
    png_uint_32 size;
    int compression, count = 0;
    png_textp texts;
    set_colour(state, metadata);
    if (png_get_iCCP(png, info, &name, &compression, &bytes, &size))
        GF_TRY(gf_blob_set(&metadata->icc, bytes, size));
    png_get_text(png, info, &texts, &count);
    for (int i = 0; i < count; i++) {
        if (!texts[i].key || !texts[i].text)
            continue;
        GF_TRY(gf_metadata_add_text(metadata, texts[i].key, texts[i].text));
        metadata->texts[metadata->text_count - 1].encoding =
            texts[i].compression >= PNG_ITXT_COMPRESSION_NONE ? GF_TEXT_UTF8 : GF_TEXT_LATIN1;
        GF_TRY(gf_metadata_set_language(metadata, texts[i].lang, texts[i].lang_key));
    }
    /* libpng's own copies are not needed beside ours. */
    png_free_data(png, info, PNG_FREE_ICCP | PNG_FREE_TEXT, -1);
    if (state->animated)
        gf_reader_note(state->reader, "animated PNG: only its first picture is read");
    return GF_OK;
}

static GfStatus png_open(GfReader *reader, GfInput *input, const GfReadOptions *options)
{
    PngReader *state;
    GfStatus status = gf_allocate_zero(1, sizeof *state, &state);
    if (status != GF_OK) {
        gf_input_close(input);
        return status;
    }
    reader->state = state;
    state->reader = reader;
    state->input = input;
    state->tolerant = options->tolerant;
    gf_png_find_late(input, &state->late);
    if (guarded(state, create) != GF_OK || guarded(state, read_header) != GF_OK)
        return explain(state);
    set_format(state);
    GF_TRY(gf_reader_limit(reader, options));
    GF_TRY(set_metadata(state));
    if (state->interlaced) {
        reader->streams = false;
        GF_TRY(
            gf_reader_hold(reader, options, reader->format.height, gf_row_stride(&reader->format)));
    }
    return guarded(state, start_rows) == GF_OK ? GF_OK : explain(state);
}

/* Rows from the whole picture, which the first call decodes. */
static GfStatus rows_of_whole(PngReader *state, const GfBand *band)
{
    GfImage *whole = &state->whole;
    if (!whole->samples) {
        GF_TRY(gf_image_allocate(&state->reader->format, whole));
        if (state->tolerant)
            memset(whole->samples, 0, whole->format.height * whole->stride);
        GfBand all = gf_image_band(whole);
        state->band = &all;
        if (guarded(state, read_passes) != GF_OK)
            GF_TRY(damaged(state));
    }
    const unsigned char *from = (const unsigned char *)whole->samples + band->y0 * whole->stride;
    for (size_t y = 0; y < band->rows; y++)
        memcpy((unsigned char *)band->samples + y * band->stride, from + y * whole->stride,
               gf_row_bytes(&whole->format));
    return GF_OK;
}

static GfStatus png_rows(GfReader *reader, const GfBand *band)
{
    PngReader *state = reader->state;
    if (state->interlaced)
        return rows_of_whole(state, band);
    size_t decoded = 0;
    if (!state->broken) {
        state->band = band;
        if (guarded(state, read_rows) != GF_OK)
            GF_TRY(damaged(state));
        decoded = state->row - band->y0;
    }
    for (size_t y = decoded; y < band->rows; y++)
        memset((unsigned char *)band->samples + y * band->stride, 0, gf_row_bytes(&reader->format));
    return GF_OK;
}

static GfStatus png_finish(GfReader *reader)
{
    PngReader *state = reader->state;
    if (!state->broken && guarded(state, read_end) != GF_OK)
        return damaged(state);
    return GF_OK;
}

static void png_close(GfReader *reader)
{
    PngReader *state = reader->state;
    png_destroy_read_struct(&state->png, &state->info, NULL);
    gf_input_close(state->input);
    gf_image_free(&state->whole);
    free(state->exif);
    free(state);
    reader->state = NULL;
}

const GfCodec gf_png = {
    .name = "png",
    .extensions = ".png",
    .many_pictures = false,
    .samples = 1u << GF_U8 | 1u << GF_U16,
    .max_channels = 4,
    .alpha = true,
    .max_side = PNG_UINT_31_MAX,
    .colour = GF_COLOUR_CHUNKS,
    .recognises = recognises,
    .open = png_open,
    .rows = png_rows,
    .finish = png_finish,
    .close = png_close,
    .create = gf_png_create,
    .write = gf_png_write,
    .complete = gf_png_complete,
    .abandon = gf_png_abandon,
};
