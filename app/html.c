/* Pictures go through the writer of PNG files into a file without a name, which is read back as
 * base64 (RFC 4648, 4): a page then needs no second way to write pictures. */
#include "app/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

/* Bytes at a time: whole groups of three, so that only the last block is padded. */
enum { NAME_SHOWN = 4 * 4096 + 8, GROUPS = 1024, BLOCK = 3 * GROUPS };

static void keep(GfHtml *html, GfStatus status)
{
    if (status != GF_OK)
        gf_error_save(&html->error, status);
}

static void put(GfHtml *html, const void *bytes, size_t size)
{
    if (html->error.status == GF_OK)
        keep(html, gf_output_write(html->output, bytes, size));
}

void gf_html_print(GfHtml *html, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        keep(html, gf_fail(GF_EMEMORY, "out of memory"));
        return;
    }
    put(html, text, (size_t)length);
    free(text);
}

void gf_html_text(GfHtml *html, const char *name)
{
    static const struct {
        char letter;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    char shown[NAME_SHOWN];
    for (const char *c = gf_escape(name, shown, sizeof shown); *c; c++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*c == entities[i].letter)
                entity = entities[i].entity;
        put(html, entity ? entity : c, entity ? strlen(entity) : 1);
    }
}

static void put_base64(GfHtml *html, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4 * GROUPS];
    size_t n = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t have = gf_min(size - i, 3);
        unsigned group = (unsigned)bytes[i] << 16;
        group |= have > 1 ? (unsigned)bytes[i + 1] << 8 : 0;
        group |= have > 2 ? (unsigned)bytes[i + 2] : 0;
        text[n++] = digits[group >> 18];
        text[n++] = digits[group >> 12 & 63];
        text[n++] = have > 1 ? digits[group >> 6 & 63] : '=';
        text[n++] = have > 2 ? digits[group & 63] : '=';
    }
    put(html, text, n);
}

/* Hands all that was written to `from` to `take`, a block at a time. */
static void each_block(GfHtml *html, GfOutput *from,
                       void (*take)(GfHtml *html, const unsigned char *bytes, size_t size))
{
    unsigned char block[BLOCK];
    size_t got = BLOCK;
    for (uint64_t place = 0; html->error.status == GF_OK && got == BLOCK; place += got) {
        keep(html, gf_output_read(from, block, BLOCK, place, &got));
        take(html, block, got);
    }
}

static GfStatus write_png(const GfImage *image, const GfWriteOptions *options, GfOutput *output)
{
    GfWriter *writer = NULL;
    GfStatus status;
    const GfMetadata metadata = gf_metadata_none();
    GfBand band = gf_image_band(image);
    GF_GO(gf_writer_create(output, gf_codec_for_path("picture.png"), &image->format, 1, &metadata,
                           options, &writer));
    GF_GO(gf_writer_rows(writer, 0, &band));
    GF_GO(gf_writer_finish(writer));
done:
    gf_writer_close(writer);
    return status;
}

void gf_html_picture(GfHtml *html, const GfImage *image, const GfWriteOptions *options)
{
    GfOutput *spool = NULL;
    GfStatus status;
    GF_GO(gf_output_spool(&spool));
    GF_GO(write_png(image, options, spool));
    gf_html_print(html, "data:image/png;base64,");
    each_block(html, spool, put_base64);
done:
    keep(html, status);
    gf_output_discard(&spool);
}

static void put_block(GfHtml *html, const unsigned char *bytes, size_t size)
{
    put(html, bytes, size);
}

void gf_html_append(GfHtml *html, GfOutput *from)
{
    each_block(html, from, put_block);
}
