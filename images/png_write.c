/* Writing PNG: libpng makes the chunks in front of the pixels, png_strips.c those of the pixels. */
#include <png.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/codecs.h"
#include "images/png_strips.h"

typedef struct PngWriter {
    GfWriter *writer;
    const GfMetadata *metadata; /* only while gf_png_create() runs */
    png_structp png;
    png_infop info;
    jmp_buf jump;
    GfStatus status;
    char message[256];
    GfPngStrips *strips; /* the pixels */
} PngWriter;

static _Noreturn void on_error(png_structp png, png_const_charp text)
{
    PngWriter *state = png_get_error_ptr(png);
    if (state->status == GF_OK)
        state->status = strcmp(text, "Out of memory") == 0 ? GF_EMEMORY : GF_EWRITE;
    snprintf(state->message, sizeof state->message, "%s", text);
    longjmp(state->jump, 1);
}

/* Warnings here are about metadata that libpng finds odd and leaves out. */
static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void write_bytes(png_structp png, png_bytep bytes, size_t size)
{
    PngWriter *state = png_get_io_ptr(png);
    state->status = gf_output_write(state->writer->output, bytes, size);
    if (state->status != GF_OK)
        png_error(png, gf_message());
}

static void flush_bytes(png_structp png)
{
    (void)png; /* the output is flushed once, at its commit */
}

static void create(PngWriter *state)
{
    state->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    state->info = state->png ? png_create_info_struct(state->png) : NULL;
    if (!state->info) {
        state->status = gf_fail(GF_EMEMORY, "out of memory");
        snprintf(state->message, sizeof state->message, "%s", gf_message());
        longjmp(state->jump, 1);
    }
    png_set_write_fn(state->png, state, write_bytes, flush_bytes);
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_benign_errors(state->png, 1);
    png_set_option(state->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
}

static void set_colour(PngWriter *state)
{
    const GfMetadata *m = state->metadata;
    const double *c = m->chromaticities;
    if (m->icc.data) {
        png_set_iCCP(state->png, state->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, m->icc.data,
                     (png_uint_32)m->icc.size);
        if (!png_get_valid(state->png, state->info, PNG_INFO_iCCP))
            state->writer->note = "its colour profile is left out: libpng does not accept it";
    } else if (m->srgb_intent >= 0) {
        png_set_sRGB(state->png, state->info, m->srgb_intent);
    }
    if (m->gamma > 0)
        png_set_gAMA(state->png, state->info, m->gamma);
    if (m->has_chromaticities)
        png_set_cHRM(state->png, state->info, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
}

static void set_density(PngWriter *state)
{
    const GfMetadata *m = state->metadata;
    double x = m->density_x + 0.5, y = m->density_y + 0.5;
    if (x >= 1 && y >= 1 && x < PNG_UINT_31_MAX && y < PNG_UINT_31_MAX)
        png_set_pHYs(state->png, state->info, (png_uint_32)x, (png_uint_32)y,
                     m->density_is_aspect ? PNG_RESOLUTION_UNKNOWN : PNG_RESOLUTION_METER);
}

static void set_exif(PngWriter *state)
{
    const GfBlob *exif = &state->metadata->exif;
    bool tiff = exif->size >= 4 &&
                (memcmp(exif->data, "II*\0", 4) == 0 || memcmp(exif->data, "MM\0*", 4) == 0);
    if (tiff && exif->size <= PNG_UINT_31_MAX)
        png_set_eXIf_1(state->png, state->info, (png_uint_32)exif->size, exif->data);
}

/* PNG 1.2, 4.2.3: 1 to 79 Latin-1 printable characters, no space at either end. */
static bool is_keyword(const char *keyword)
{
    size_t length = strlen(keyword);
    if (length < 1 || length > 79 || keyword[0] == ' ' || keyword[length - 1] == ' ')
        return false;
    for (const unsigned char *c = (const unsigned char *)keyword; *c; c++)
        if (*c < 32 || (*c > 126 && *c < 161))
            return false;
    return true;
}

static bool is_ascii(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c >= 0x80)
            return false;
    return true;
}

static bool is_utf8(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c) {
        int more = *c < 0x80                 ? 0
                   : *c >= 0xc2 && *c < 0xe0 ? 1
                   : (*c & 0xf0) == 0xe0     ? 2
                   : *c >= 0xf0 && *c < 0xf5 ? 3
                                             : -1;
        if (more < 0)
            return false;
        for (c++; more > 0; more--, c++)
            if ((*c & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* The chunk for a text: tEXt means Latin-1, which ASCII is, iTXt UTF-8 of some language. Where
 * nothing is known of the bytes they are taken for UTF-8 when every one of them fits into a
 * well-formed sequence, as Latin-1 prose hardly ever does. */
static int text_kind(const GfText *text)
{
    enum { LONG_TEXT = 1024 };
    bool deflate = strlen(text->text) > LONG_TEXT;
    bool utf8 = text->encoding == GF_TEXT_UTF8 ||
                (text->encoding == GF_TEXT_UNKNOWN && is_utf8(text->text));
    if (text->language || text->translated || (utf8 && !is_ascii(text->text)))
        return deflate ? PNG_ITXT_COMPRESSION_zTXt : PNG_ITXT_COMPRESSION_NONE;
    return deflate ? PNG_TEXT_COMPRESSION_zTXt : PNG_TEXT_COMPRESSION_NONE;
}

static void set_texts(PngWriter *state)
{
    for (size_t i = 0; i < state->metadata->text_count; i++) {
        const GfText *text = &state->metadata->texts[i];
        /* XMP's place is an uncompressed iTXt chunk (XMP part 3, 1.1.5). */
        bool xmp = strcmp(text->keyword, GF_XMP_KEYWORD) == 0;
        png_text entry = {
            .compression = xmp ? PNG_ITXT_COMPRESSION_NONE : text_kind(text),
            .key = text->keyword,
            .text = text->text,
            .lang = text->language,
            .lang_key = text->translated,
        };
        if (is_keyword(text->keyword))
            png_set_text(state->png, state->info, &entry, 1);
    }
}

static void write_header(PngWriter *state)
{
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const GfFormat *format = &state->writer->format;
    png_set_IHDR(state->png, state->info, (png_uint_32)format->width, (png_uint_32)format->height,
                 format->sample == GF_U16 ? 16 : 8, types[format->channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    set_colour(state);
    set_density(state);
    set_exif(state);
    set_texts(state);
    png_write_info(state->png, state->info);
}

/* The only setjmp; the steps keep all they own in PngWriter. */
static GfStatus guarded(PngWriter *state, void (*step)(PngWriter *))
{
    state->status = GF_OK;
    if (setjmp(state->jump) != 0)
        return gf_fail(state->status, "%s", state->message);
    step(state);
    return GF_OK;
}

GfStatus gf_png_create(GfWriter *writer, const GfMetadata *metadata, const GfWriteOptions *options)
{
    PngWriter *state;
    GF_TRY(gf_allocate_zero(1, sizeof *state, &state));
    writer->state = state;
    state->writer = writer;
    state->metadata = metadata;
    GF_TRY(guarded(state, create));
    GF_TRY(guarded(state, write_header));
    return gf_png_strips_create(&writer->format, options, writer->output, &state->strips);
}

GfStatus gf_png_write(GfWriter *writer, size_t picture, GfBand *band)
{
    PngWriter *state = writer->state;
    (void)picture; /* a PNG has one */
    return gf_png_strips_rows(state->strips, band);
}

GfStatus gf_png_complete(GfWriter *writer)
{
    static const unsigned char end[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    return gf_output_write(writer->output, end, sizeof end);
}

void gf_png_abandon(GfWriter *writer)
{
    PngWriter *state = writer->state;
    png_destroy_write_struct(&state->png, &state->info);
    gf_png_strips_free(state->strips);
    free(state);
    writer->state = NULL;
}
