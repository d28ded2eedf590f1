/* Writing PNG through libpng. Deflate takes nearly all of the time, so row filter, level and
 * strategy were measured, on 13 photographs (Kodak, scikit-image, crops of 4K ones; 6.3 megapixels)
 * and on an edge map of one, libpng 1.6.39 and zlib 1.2.13 on one core. Size is relative to
 * libvips's default, which is no filter and level 6; "largest" is the least favourable photograph:
 *
 *   filter        level  strategy   ms / 512x512 RGB   size   largest   edge map
 *   none            6    default         15.0          1.00    1.00      1.00      (libvips)
 *   up              1    default          6.8          0.81    1.02      1.16
 *   up              2    default          7.7          0.80    1.01      1.15
 *   sub             1    default          7.0          0.83    0.98      1.31
 *   paeth           1    default          8.4          0.81    1.01      1.22
 *   all             1    default         10.6          0.80    0.99      1.17
 *   all             4    filtered        20.6          0.75    0.95      1.05
 *   up              -    rle              5.0          0.82    1.02      1.00
 *   avg             -    rle              5.3          0.79    0.97      1.13
 *   up avg          -    rle              6.1          0.78    0.98      1.00
 *   sub up avg      -    rle              6.5          0.78    0.96      1.00      (taken)
 *   paeth           -    rle              7.0          0.77    0.97      1.06
 *   all             -    rle              9.1          0.77    0.96      1.00
 *
 * Filtered photographs repeat next to nothing at a distance, so that looking only for runs costs no
 * size and saves the search. Drawings do repeat: for them, and for archives, there is the level
 * that the user gives, with libpng's own choice of filters and strategy. */
#include <png.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "images/codecs.h"

enum { IDAT_SIZE = 256 * 1024 /* few and large writes */ };

typedef struct PngWriter {
    GfWriter *writer;
    const GfMetadata *metadata;    /* only while gf_png_create() runs */
    const GfWriteOptions *options; /* likewise */
    png_structp png;
    png_infop info;
    jmp_buf jump;
    GfStatus status;
    char message[256];
    const GfBand *band; /* what the present step writes */
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
    size_t colours = state->writer->format.channels >= 3 ? 3 : 1;
    if (gf_icc_fits(&m->icc, colours))
        png_set_iCCP(state->png, state->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, m->icc.data,
                     (png_uint_32)m->icc.size);
    else if (m->srgb_intent >= 0)
        png_set_sRGB(state->png, state->info, m->srgb_intent);
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

/* The chunk for a text: tEXt means Latin-1, which ASCII is; other bytes are taken for UTF-8 (iTXt)
 * when every one of them fits into a well-formed sequence, as Latin-1 prose hardly ever does. */
static int text_kind(const char *text)
{
    enum { LONG_TEXT = 1024 };
    const unsigned char *c = (const unsigned char *)text;
    bool ascii = true;
    while (*c) {
        int more = *c < 0x80                 ? 0
                   : *c >= 0xc2 && *c < 0xe0 ? 1
                   : (*c & 0xf0) == 0xe0     ? 2
                   : *c >= 0xf0 && *c < 0xf5 ? 3
                                             : -1;
        ascii &= more == 0;
        if (more < 0)
            return PNG_TEXT_COMPRESSION_NONE;
        for (c++; more > 0; more--, c++)
            if ((*c & 0xc0) != 0x80)
                return PNG_TEXT_COMPRESSION_NONE;
    }
    bool deflate = c - (const unsigned char *)text > LONG_TEXT;
    if (!ascii)
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
            .compression = xmp ? PNG_ITXT_COMPRESSION_NONE : text_kind(text->text),
            .key = text->keyword,
            .text = text->text,
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
    int level = state->options->compression;
    png_set_IHDR(state->png, state->info, (png_uint_32)format->width, (png_uint_32)format->height,
                 format->sample == GF_U16 ? 16 : 8, types[format->channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (level >= 0) {
        png_set_compression_level(state->png, level);
    } else {
        png_set_filter(state->png, PNG_FILTER_TYPE_BASE,
                       PNG_FILTER_SUB | PNG_FILTER_UP | PNG_FILTER_AVG);
        png_set_compression_level(state->png, 1);
        png_set_compression_strategy(state->png, Z_RLE);
    }
    png_set_compression_buffer_size(state->png, IDAT_SIZE);
    set_colour(state);
    set_density(state);
    set_exif(state);
    set_texts(state);
    png_write_info(state->png, state->info);
    if (format->sample == GF_U16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(state->png);
}

static void write_rows(PngWriter *state)
{
    const GfBand *band = state->band;
    for (size_t y = 0; y < band->rows; y++)
        png_write_row(state->png, (png_const_bytep)band->samples + y * band->stride);
}

static void write_end(PngWriter *state)
{
    png_write_end(state->png, NULL);
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
    state->options = options;
    GF_TRY(guarded(state, create));
    return guarded(state, write_header);
}

GfStatus gf_png_write(GfWriter *writer, size_t picture, GfBand *band)
{
    PngWriter *state = writer->state;
    (void)picture; /* a PNG has one */
    state->band = band;
    return guarded(state, write_rows);
}

GfStatus gf_png_complete(GfWriter *writer)
{
    return guarded(writer->state, write_end);
}

void gf_png_abandon(GfWriter *writer)
{
    PngWriter *state = writer->state;
    png_destroy_write_struct(&state->png, &state->info);
    free(state);
    writer->state = NULL;
}
