/* Writing NumPy arrays, format 1.0, C order, little-endian: H x W for one gray picture, C x H x W
 * for one of several channels, N x C x H x W for several pictures, or as the input had them.
 * Channels become planes, so each band is taken apart and every plane's share written at its own
 * place in the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/codecs.h"

enum { SCRATCH_SIZE = 1 << 20, ALIGNMENT = 64, HEADER_SIZE = 192 };

typedef struct NpyWriter {
    uint64_t start;         /* of the samples in the file */
    size_t size;            /* bytes of a sample */
    unsigned char *scratch; /* rows of one plane */
    size_t scratch_rows;
} NpyWriter;

/* The shape as Python writes it: without axes that the picture does not need, but for those that
 * the array had from which it comes. */
static void print_shape(const GfWriter *writer, size_t axes, char *text, size_t size)
{
    const GfFormat *format = &writer->format;
    if (writer->pictures > 1 || axes == 4)
        snprintf(text, size, "%zu, %zu, %zu, %zu", writer->pictures, format->channels,
                 format->height, format->width);
    else if (format->channels > 1 || axes == 3)
        snprintf(text, size, "%zu, %zu, %zu", format->channels, format->height, format->width);
    else
        snprintf(text, size, "%zu, %zu", format->height, format->width);
}

/* Magic, version, the text's length in two bytes, the text, spaces up to a multiple of 64. */
static GfStatus write_header(GfWriter *writer, NpyWriter *state, size_t axes)
{
    static const char *const descr[] = {
        [GF_U8] = "|u1", [GF_U16] = "<u2", [GF_F32] = "<f4", [GF_F64] = "<f8"};
    enum { PREAMBLE = 10 };
    char shape[96], bytes[HEADER_SIZE];
    print_shape(writer, axes, shape, sizeof shape);
    int length = snprintf(bytes + PREAMBLE, sizeof bytes - PREAMBLE,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          descr[writer->format.sample], shape);
    size_t used = PREAMBLE + (size_t)length;
    size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (char)((total - PREAMBLE) & 0xff);
    bytes[9] = (char)((total - PREAMBLE) >> 8);
    memset(bytes + used, ' ', total - used);
    bytes[total - 1] = '\n';
    state->start = total;
    return gf_output_write_at(writer->output, bytes, total, 0);
}

GfStatus gf_npy_create(GfWriter *writer, const GfMetadata *metadata, const GfWriteOptions *options)
{
    const GfFormat *format = &writer->format;
    NpyWriter *state;
    size_t row, bytes;
    (void)options;
    GF_TRY(gf_allocate_zero(1, sizeof *state, &state));
    writer->state = state;
    state->size = gf_sample_size(format->sample);
    if (!gf_mul(format->width, state->size, &row) || !gf_mul(row, format->height, &bytes) ||
        !gf_mul(bytes, format->channels, &bytes) || !gf_mul(bytes, writer->pictures, &bytes) ||
        bytes > PTRDIFF_MAX)
        return gf_fail(GF_EUSAGE, "%zu pictures of %zu x %zu x %zu samples are too much for a file",
                       writer->pictures, format->width, format->height, format->channels);
    state->scratch_rows = gf_max(1, gf_min(format->height, SCRATCH_SIZE / row));
    GF_TRY(gf_allocate(state->scratch_rows, row, &state->scratch));
    return write_header(writer, state, metadata ? metadata->axes : 0);
}

/* Takes every step-th sample. Always inline, so that the size becomes a constant. */
__attribute__((always_inline)) static inline void
gather(unsigned char *to, const unsigned char *from, size_t step, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * size, from + i * step * size, size);
}

static void gather_row(const NpyWriter *state, unsigned char *to, const unsigned char *from,
                       const GfFormat *format)
{
    if (state->size == 1)
        gather(to, from, format->channels, format->width, 1);
    else if (state->size == 2)
        gather(to, from, format->channels, format->width, 2);
    else if (state->size == 4)
        gather(to, from, format->channels, format->width, 4);
    else
        gather(to, from, format->channels, format->width, 8);
}

/* The file is little-endian whatever the machine is. */
static void to_little_endian(unsigned char *samples, size_t count, size_t size)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return;
    for (size_t i = 0; i < count; i++, samples += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            unsigned char byte = samples[low];
            samples[low] = samples[high];
            samples[high] = byte;
        }
}

GfStatus gf_npy_write(GfWriter *writer, size_t picture, GfBand *band)
{
    const NpyWriter *state = writer->state;
    const GfFormat *format = &writer->format;
    size_t row = format->width * state->size;
    for (size_t done = 0, rows; done < band->rows; done += rows) {
        rows = gf_min(state->scratch_rows, band->rows - done);
        for (size_t c = 0; c < format->channels; c++) {
            const unsigned char *from =
                (const unsigned char *)band->samples + done * band->stride + c * state->size;
            for (size_t i = 0; i < rows; i++)
                gather_row(state, state->scratch + i * row, from + i * band->stride, format);
            to_little_endian(state->scratch, rows * format->width, state->size);
            uint64_t plane = (uint64_t)picture * format->channels + c;
            uint64_t first = plane * format->height + band->y0 + done;
            GF_TRY(gf_output_write_at(writer->output, state->scratch, rows * row,
                                      state->start + first * row));
        }
    }
    return GF_OK;
}

/* Every byte has been written at its place. */
GfStatus gf_npy_complete(GfWriter *writer)
{
    (void)writer;
    return GF_OK;
}

void gf_npy_abandon(GfWriter *writer)
{
    NpyWriter *state = writer->state;
    free(state->scratch);
    free(state);
    writer->state = NULL;
}
