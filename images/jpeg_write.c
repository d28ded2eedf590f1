/* Writing baseline JPEG through libjpeg-turbo, gray or YCbCr. Huffman tables are the standard's:
 * optimized ones need the whole picture's coefficients in memory, which would break the rule that
 * memory does not grow with the picture; they would save 9 % of the file at quality
 * 90 and 4 % at 75 (13 photographs). */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* After jpeglib.h, whose configuration decides which codes there are. */
#include <jerror.h>

#include "images/codecs.h"

enum {
    SINK_SIZE = 64 * 1024,
    SEGMENT_MAX = 65533, /* payload of one marker */
    LINES = 16,
    FULL_CHROMA_QUALITY = 90
};

typedef struct JpegWriter {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr sink;
    jmp_buf jump;
    GfWriter *writer;
    const GfMetadata *metadata;    /* only while gf_jpeg_create() runs */
    const GfWriteOptions *options; /* likewise */
    const GfBand *band;            /* what the present step writes */
    GfStatus status;
    char message[GF_MESSAGE_SIZE];
    JOCTET bytes[SINK_SIZE];
} JpegWriter;

static JpegWriter *state_of(j_common_ptr info)
{
    return info->client_data;
}

static _Noreturn void on_error(j_common_ptr info)
{
    JpegWriter *state = state_of(info);
    info->err->format_message(info, state->message);
    state->status = info->err->msg_code == JERR_OUT_OF_MEMORY ? GF_EMEMORY : GF_EWRITE;
    longjmp(state->jump, 1);
}

/* Nothing that libjpeg says while it writes is worth telling. */
static void on_message(j_common_ptr info, int level)
{
    (void)info;
    (void)level;
}

static void deliver(JpegWriter *state, size_t size)
{
    state->status = gf_output_write(state->writer->output, state->bytes, size);
    if (state->status != GF_OK) {
        snprintf(state->message, sizeof state->message, "%s", gf_message());
        longjmp(state->jump, 1);
    }
}

static void init_sink(j_compress_ptr info)
{
    info->dest->next_output_byte = state_of((j_common_ptr)info)->bytes;
    info->dest->free_in_buffer = SINK_SIZE;
}

static boolean empty_sink(j_compress_ptr info)
{
    deliver(state_of((j_common_ptr)info), SINK_SIZE);
    init_sink(info);
    return TRUE;
}

static void end_sink(j_compress_ptr info)
{
    deliver(state_of((j_common_ptr)info), SINK_SIZE - info->dest->free_in_buffer);
}

/* JFIF holds whole numbers of 16 bits: pixels an inch where that loses nothing, else a centimetre.
 */
static void set_density(JpegWriter *state)
{
    const GfMetadata *m = state->metadata;
    double inches = m->density_x * 0.0254 + 0.5;
    if (!(m->density_x > 0 && m->density_y > 0 && inches < 65536))
        return;
    double off_inch = inches - 0.5 - (UINT16)inches;
    bool metric = off_inch < -0.05 || off_inch > 0.05;
    double unit = m->density_is_aspect ? 1 : metric ? 0.01 : 0.0254;
    double x = m->density_x * unit + 0.5, y = m->density_y * unit + 0.5;
    if (x < 1 || y < 1 || x >= 65536 || y >= 65536)
        return;
    state->info.density_unit = m->density_is_aspect ? 0 : metric ? 2 : 1;
    state->info.X_density = (UINT16)x;
    state->info.Y_density = (UINT16)y;
}

/* A segment of `prefix` and `body`; left out when it is too long for one. */
static void write_segment(JpegWriter *state, int marker, const char *prefix, size_t prefix_size,
                          const void *body, size_t size)
{
    if (size > SEGMENT_MAX - prefix_size)
        return;
    jpeg_write_m_header(&state->info, marker, (unsigned)(prefix_size + size));
    for (size_t i = 0; i < prefix_size; i++)
        jpeg_write_m_byte(&state->info, (unsigned char)prefix[i]);
    for (size_t i = 0; i < size; i++)
        jpeg_write_m_byte(&state->info, ((const unsigned char *)body)[i]);
}

/* Comments have no keyword in JPEG, so the keyword of another text is put before it. */
static void write_texts(JpegWriter *state)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
    for (size_t i = 0; i < state->metadata->text_count; i++) {
        const GfText *text = &state->metadata->texts[i];
        size_t size = strlen(text->text);
        char keyword[96];
        int length = snprintf(keyword, sizeof keyword, "%s: ", text->keyword);
        if (strcmp(text->keyword, GF_XMP_KEYWORD) == 0)
            write_segment(state, JPEG_APP0 + 1, xmp, sizeof xmp, text->text, size);
        else if (strcmp(text->keyword, "Comment") == 0)
            write_segment(state, JPEG_COM, "", 0, text->text, size);
        else if (length > 0 && (size_t)length < sizeof keyword)
            write_segment(state, JPEG_COM, keyword, (size_t)length, text->text, size);
    }
}

/* In as many segments as it takes. */
static void write_photoshop(JpegWriter *state)
{
    const size_t prefix = sizeof GF_PHOTOSHOP;
    const GfBlob *block = &state->metadata->photoshop;
    for (size_t at = 0, size; at < block->size; at += size) {
        size = gf_min(block->size - at, SEGMENT_MAX - prefix);
        write_segment(state, JPEG_APP0 + 13, GF_PHOTOSHOP, prefix, block->data + at, size);
    }
}

static void write_metadata(JpegWriter *state)
{
    const GfMetadata *m = state->metadata;
    if (m->exif.data)
        write_segment(state, JPEG_APP0 + 1, "Exif\0\0", 6, m->exif.data, m->exif.size);
    if (m->icc.data && m->icc.size <= 255 * (size_t)(SEGMENT_MAX - 14))
        jpeg_write_icc_profile(&state->info, m->icc.data, (unsigned)m->icc.size);
    write_photoshop(state);
    write_texts(state);
}

/* Steps: run in guarded(), left by longjmp on failure. */

static void write_header(JpegWriter *state)
{
    struct jpeg_compress_struct *info = &state->info;
    const GfFormat *format = &state->writer->format;
    int chroma = state->options->quality >= FULL_CHROMA_QUALITY ? 1 : 2;
    jpeg_create_compress(info);
    info->dest = &state->sink;
    info->image_width = (JDIMENSION)format->width;
    info->image_height = (JDIMENSION)format->height;
    info->input_components = (int)format->channels;
    info->in_color_space = format->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, state->options->quality, TRUE);
    if (format->channels == 3)
        info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = chroma;
    set_density(state);
    jpeg_start_compress(info, TRUE);
    write_metadata(state);
}

static void write_rows(JpegWriter *state)
{
    const GfBand *band = state->band;
    for (size_t y = 0; y < band->rows;) {
        JSAMPROW lines[LINES];
        size_t count = gf_min(LINES, band->rows - y);
        for (size_t i = 0; i < count; i++)
            lines[i] = (JSAMPROW)band->samples + (y + i) * band->stride;
        y += jpeg_write_scanlines(&state->info, lines, (JDIMENSION)count);
    }
}

static void write_end(JpegWriter *state)
{
    jpeg_finish_compress(&state->info);
}

/* The only setjmp; the steps keep all they own in JpegWriter. */
static GfStatus guarded(JpegWriter *state, void (*step)(JpegWriter *))
{
    state->status = GF_OK;
    if (setjmp(state->jump) != 0)
        return gf_fail(state->status, "%s", state->message);
    step(state);
    return GF_OK;
}

GfStatus gf_jpeg_create(GfWriter *writer, const GfMetadata *metadata, const GfWriteOptions *options)
{
    JpegWriter *state;
    GF_TRY(gf_allocate(1, sizeof *state, &state));
    memset(state, 0, offsetof(JpegWriter, bytes));
    writer->state = state;
    state->writer = writer;
    state->metadata = metadata;
    state->options = options;
    state->info.err = jpeg_std_error(&state->errors);
    state->info.client_data = state;
    state->errors.error_exit = on_error;
    state->errors.emit_message = on_message;
    state->sink.init_destination = init_sink;
    state->sink.empty_output_buffer = empty_sink;
    state->sink.term_destination = end_sink;
    return guarded(state, write_header);
}

GfStatus gf_jpeg_write(GfWriter *writer, size_t picture, GfBand *band)
{
    JpegWriter *state = writer->state;
    (void)picture; /* a JPEG has one */
    state->band = band;
    return guarded(state, write_rows);
}

GfStatus gf_jpeg_complete(GfWriter *writer)
{
    return guarded(writer->state, write_end);
}

void gf_jpeg_abandon(GfWriter *writer)
{
    JpegWriter *state = writer->state;
    jpeg_destroy_compress(&state->info);
    free(state);
    writer->state = NULL;
}
