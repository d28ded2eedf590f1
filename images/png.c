/* Reading PNG through libpng, every kind as 8- or 16-bit samples in the machine's byte order:
 * palettes and small depths expanded, tRNS as opacity, no colour or gamma transform.
 *
 * Every call into libpng that may fail runs in guarded(), the only place of a setjmp: the steps
 * called there keep all they own in GfPngReader, so that a longjmp loses nothing. */
#include "images/png_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

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

/* What a stream cannot be inflated for, which png_pixels.c knows and libpng does not. */
static const char *reason_of(const GfPngReader *state, const char *text)
{
    const bool stream = state->pixels.broken && strcmp(text, GF_PNG_BROKEN) == 0;
    return stream ? state->pixels.reason : text;
}

static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    GfPngReader *state = png_get_error_ptr(png);
    text = reason_of(state, text);
    if (state->status == GF_OK)
        state->status = is_memory(text) ? GF_EMEMORY : GF_EINPUT;
    snprintf(state->message, sizeof state->message, "%s", text);
    longjmp(state->jump, 1);
}

/* libpng leaves tRNS out, and the picture's opacity with it. An empty one, a second one and one
 * beside a channel of opacity are no loss, nor is a chunk behind it that libpng is not shown. */
static bool loses_opacity(const GfPngReader *state, const char *text)
{
    return strncmp(text, "tRNS: ", 6) == 0 && gf_png_is(state, "tRNS") &&
           png_get_uint_32(state->header) > 0 &&
           !png_get_valid(state->png, state->info, PNG_INFO_tRNS) &&
           !(png_get_color_type(state->png, state->info) & PNG_COLOR_MASK_ALPHA);
}

/* Warnings about most ancillary chunks are nobody's business. Those about IDAT and tRNS say that
 * pixels cannot be trusted, but for data beyond the last row; a checksum of IEND gives one only
 * where damage is accepted. (A palette index without a colour gives no warning: it is black, as in
 * browsers.) */
static void on_warning(png_structp png, png_const_charp text)
{
    GfPngReader *state = png_get_error_ptr(png);
    if (strncmp(text, "IDAT: ", 6) != 0 && strcmp(text, "IEND: CRC error") != 0 &&
        !loses_opacity(state, text))
        return;
    if (strstr(text, "Extra compressed data") || strstr(text, "Too much image data"))
        gf_reader_note(state->reader, "data after the last row ignored");
    else if (state->tolerant)
        gf_png_note_damage(state, reason_of(state, text));
    else
        on_error(png, text);
}

/* Steps: run in guarded(), left by longjmp on failure. */

static void create(GfPngReader *state)
{
    state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    state->info = state->png ? png_create_info_struct(state->png) : NULL;
    if (!state->info) {
        state->status = gf_fail(GF_EMEMORY, "out of memory");
        snprintf(state->message, sizeof state->message, "%s", gf_message());
        longjmp(state->jump, 1);
    }
    png_set_read_fn(state->png, state, gf_png_read_bytes);
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(state->png, GF_PNG_CHUNK_MAX);
    png_set_chunk_cache_max(state->png, 2 * GF_PNG_TEXTS_MAX);
    png_set_compression_buffer_size(state->png, GF_PNG_STORED_MAX + GF_PNG_PART_MAX);
    png_set_option(state->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
}

static void read_header(GfPngReader *state)
{
    png_read_info(state->png, state->info);
    state->line = 1 + png_get_rowbytes(state->png, state->info);
    state->pixel = gf_max(1, png_get_channels(state->png, state->info) *
                                 (size_t)png_get_bit_depth(state->png, state->info) / 8);
    png_set_expand(state->png);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(state->png);
    state->interlaced = png_set_interlace_handling(state->png) > 1;
}

static void start_rows(GfPngReader *state)
{
    png_read_update_info(state->png, state->info);
    if (png_get_rowbytes(state->png, state->info) != gf_row_bytes(&state->reader->format))
        png_error(state->png, "rows are not as long as the header says");
}

static void read_rows(GfPngReader *state)
{
    const GfBand *band = state->band;
    for (; state->row - band->y0 < band->rows; state->row++) {
        size_t y = state->row - band->y0;
        png_read_row(state->png, (png_bytep)band->samples + y * band->stride, NULL);
    }
}

static void read_passes(GfPngReader *state)
{
    const GfBand *band = state->band;
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++)
        for (size_t y = 0; y < band->rows; y++)
            png_read_row(state->png, (png_bytep)band->samples + y * band->stride, NULL);
}

/* Without a place for what it reads libpng would pass over critical chunks that nobody knows. */
static void read_end(GfPngReader *state)
{
    png_read_end(state->png, state->info);
}

static GfStatus guarded(GfPngReader *state, void (*step)(GfPngReader *))
{
    state->status = GF_OK;
    if (setjmp(state->jump) != 0)
        return state->status;
    step(state);
    return GF_OK;
}

/* Puts a failed step into words. */
static GfStatus explain(const GfPngReader *state)
{
    size_t row = state->row, rows = png_get_image_height(state->png, state->info);
    if (state->status != GF_EINPUT)
        return gf_fail(state->status, "%s", state->message);
    bool short_data = state->cut || strstr(state->message, "Not enough image data");
    if (!state->pixels_began)
        return state->cut ? gf_fail(GF_EINPUT, "the PNG file ends before its picture")
                          : gf_fail(GF_EINPUT, "the PNG header cannot be read: %s", state->message);
    if (row == rows)
        return state->cut   ? gf_fail(GF_EINPUT, "the PNG file ends without its end marker (IEND)")
               : short_data ? gf_fail(GF_EINPUT, "the PNG data end without their checksum")
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
static GfStatus damaged(GfPngReader *state)
{
    GfStatus status = explain(state);
    if (status != GF_EINPUT || !state->tolerant)
        return status;
    state->broken = true;
    gf_png_note_damage(state, gf_message());
    return GF_OK;
}

static void set_format(GfPngReader *state)
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

/* Gamma and primaries of sRGB's chunk, for those who do not know it (PNG 1.2, 4.2.2.3). */
static void complete_srgb(GfMetadata *metadata)
{
    if (metadata->srgb_intent < 0)
        return;
    metadata->gamma = 0.45455;
    metadata->has_chromaticities = true;
    memcpy(metadata->chromaticities, gf_srgb_chromaticities, sizeof gf_srgb_chromaticities);
}

static void set_density(const GfPngReader *state, GfMetadata *metadata)
{
    png_uint_32 x, y;
    int unit;
    if (png_get_pHYs(state->png, state->info, &x, &y, &unit)) {
        metadata->density_x = x;
        metadata->density_y = y;
        metadata->density_is_aspect = unit != PNG_RESOLUTION_METER;
    }
}

static GfStatus set_metadata(GfPngReader *state)
{
    png_structp png = state->png;
    png_infop info = state->info;
    GfMetadata *metadata = &state->reader->metadata;
    png_charp name;
    png_bytep bytes;
    png_uint_32 size;
    int compression, count = 0;
    png_textp texts;
    complete_srgb(metadata);
    set_density(state, metadata);
    if (png_get_iCCP(png, info, &name, &compression, &bytes, &size))
        GF_TRY(gf_blob_set(&metadata->icc, bytes, size));
    else if (state->profiled)
        gf_reader_note(state->reader, "its colour profile is left out: libpng does not accept it");
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
    if (state->coded)
        gf_reader_note(state->reader, "what cICP says of its colours is left out");
    if (state->animated)
        gf_reader_note(state->reader, "animated PNG: only its first picture is read");
    return GF_OK;
}

static GfStatus png_open(GfReader *reader, GfInput *input, const GfReadOptions *options)
{
    GfPngReader *state;
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
static GfStatus rows_of_whole(GfPngReader *state, const GfBand *band)
{
    GfImage *whole = &state->whole;
    if (!whole->samples) {
        GF_TRY(gf_image_allocate(&state->reader->format, whole));
        if (state->tolerant)
            memset(whole->samples, 0, whole->format.height * whole->stride);
        GfBand all = gf_image_band(whole);
        state->band = &all;
        GfStatus status = guarded(state, read_passes);
        /* As with the last row of others. */
        if (png_get_current_pass_number(state->png) == PNG_INTERLACE_ADAM7_PASSES)
            state->row = all.rows;
        if (status != GF_OK)
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
    GfPngReader *state = reader->state;
    if (state->interlaced)
        return rows_of_whole(state, band);
    size_t decoded = 0;
    if (!state->broken) {
        state->band = band;
        GfStatus status = guarded(state, read_rows);
        /* With the last row libpng is done before it complains of what should follow. */
        state->row = png_get_current_row_number(state->png);
        if (status != GF_OK)
            GF_TRY(damaged(state));
        decoded = state->row - band->y0;
    }
    for (size_t y = decoded; y < band->rows; y++)
        memset((unsigned char *)band->samples + y * band->stride, 0, gf_row_bytes(&reader->format));
    return GF_OK;
}

static GfStatus png_finish(GfReader *reader)
{
    GfPngReader *state = reader->state;
    if (!state->broken && guarded(state, read_end) != GF_OK)
        return damaged(state);
    return GF_OK;
}

static void png_close(GfReader *reader)
{
    GfPngReader *state = reader->state;
    png_destroy_read_struct(&state->png, &state->info, &state->trial);
    gf_input_close(state->input);
    gf_png_lines_free(state->pixels.lines);
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
