/* Reading NumPy arrays as pictures: H x W, C x H x W or N x C x H x W. The channels of a file are
 * planes, the rows given out are interleaved, so a band takes one positional read a plane; that
 * needs a file. From a pipe a picture of several planes is held in memory first, and so is an array
 * in Fortran order, whose neighbours in a row lie far apart.
 *
 * An array has no part that could be missing harmlessly, so a tolerant reader is as strict here. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "images/codecs.h"
#include "images/npy_header.h"

enum { SCRATCH_SIZE = 1 << 20 };

typedef struct NpyReader {
    GfReader *reader;
    GfInput *input;
    bool seekable, swap, fortran;
    uint64_t start; /* of the samples in the file */
    size_t size;    /* bytes of a sample */
    size_t channels, height, width;
    size_t picture;         /* the one being read */
    size_t next_row;        /* of it */
    unsigned char *scratch; /* rows of one plane */
    size_t scratch_rows;    /* that fit it */
    unsigned char *held;    /* one picture's planes, or the whole Fortran array */
    bool filled;            /* held holds the present picture */
} NpyReader;

static bool recognises(const unsigned char *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

/* Reads in order, exactly. */
static GfStatus read_exactly(GfInput *input, void *bytes, size_t size)
{
    unsigned char *to = bytes;
    while (size > 0) {
        size_t got;
        GF_TRY(gf_input_read(input, to, size, &got));
        if (got == 0)
            return gf_fail(GF_EINPUT, "the .npy file ends early");
        to += got;
        size -= got;
    }
    return GF_OK;
}

static GfStatus read_header(NpyReader *state, GfNpyHeader *header)
{
    unsigned char preamble[GF_NPY_PREAMBLE];
    const unsigned char *head;
    size_t size, offset, text_size;
    char *text;
    GF_TRY(gf_input_head(state->input, &head, &size));
    GF_TRY(gf_npy_preamble(head, gf_min(size, GF_NPY_PREAMBLE), &offset, &text_size));
    GF_TRY(read_exactly(state->input, preamble, offset));
    GF_TRY(gf_allocate(text_size + 1, 1, &text));
    GfStatus status = read_exactly(state->input, text, text_size);
    if (status == GF_OK)
        status = gf_npy_parse(text, text_size, header);
    free(text);
    if (status != GF_OK)
        return status;
    state->start = offset + text_size;
    state->fortran = header->fortran_order && header->rank > 1;
    return GF_OK;
}

static GfStatus set_sample(NpyReader *state, const char *descr)
{
    static const struct {
        char kind[3];
        GfSample sample;
    } known[] = {{"u1", GF_U8}, {"u2", GF_U16}, {"f2", GF_F16}, {"f4", GF_F32}, {"f8", GF_F64}};
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        GfSample sample = known[i].sample;
        bool ordered = descr[0] == '<' || descr[0] == '>';
        if (strcmp(descr[0] ? descr + 1 : descr, known[i].kind) != 0 ||
            !(ordered || (descr[0] == '|' && sample == GF_U8)))
            continue;
        state->reader->format.sample = sample;
        state->size = gf_sample_size(sample);
        state->swap = state->size > 1 && descr[0] == (little ? '>' : '<');
        return GF_OK;
    }
    return gf_fail(GF_EINPUT,
                   "an .npy picture of dtype '%s' is not accepted; convert it to uint8, uint16, "
                   "float16, float32 or float64 (u1, u2, f2, f4, f8) with array.astype()",
                   descr);
}

static GfStatus set_shape(NpyReader *state, const GfNpyHeader *header)
{
    GfReader *reader = state->reader;
    size_t rank = header->rank;
    if (rank < 2 || rank > 4)
        return gf_fail(GF_EINPUT,
                       "an .npy picture has 2, 3 or 4 dimensions (HxW, CxHxW, NxCxHxW), not %zu",
                       rank);
    reader->pictures = rank == 4 ? header->shape[0] : 1;
    reader->metadata.axes = rank;
    state->channels = rank >= 3 ? header->shape[rank - 3] : 1;
    state->height = header->shape[rank - 2];
    state->width = header->shape[rank - 1];
    reader->format.width = state->width;
    reader->format.height = state->height;
    reader->format.channels = state->channels;
    reader->format.has_alpha = false;
    if (rank == 3 && state->width <= 4 && state->channels > 4)
        gf_reader_note(reader,
                       "read as %zu channels of %zu x %zu pixels (CxHxW); for HxWxC save "
                       "array.transpose(2, 0, 1)",
                       state->channels, state->width, state->height);
    return GF_OK;
}

/* A file must hold exactly the samples that its header announces. */
static GfStatus check_size(NpyReader *state, size_t count)
{
    uint64_t size;
    size_t bytes;
    if (!gf_mul(count, state->size, &bytes) || bytes > PTRDIFF_MAX)
        return gf_fail(GF_EINPUT, "the .npy array's shape is too large");
    state->seekable = gf_input_size(state->input, &size);
    if (!state->seekable || size - state->start == bytes)
        return GF_OK;
    return gf_fail(GF_EINPUT, "the .npy file holds %llu bytes of samples, its header announces %zu",
                   (unsigned long long)(size - state->start), bytes);
}

/* Buffers: what has to be held, or a scratch for rows of one plane. */
static GfStatus allocate(NpyReader *state, const GfReadOptions *options)
{
    GfReader *reader = state->reader;
    size_t row = state->width * state->size;
    size_t samples = state->width * state->height * state->channels;
    if (state->fortran || (!state->seekable && state->channels > 1)) {
        size_t count = state->fortran ? samples * reader->pictures : samples;
        reader->streams = false;
        GF_TRY(gf_reader_hold(reader, options, count, state->size));
        return gf_allocate(count, state->size, &state->held);
    }
    state->scratch_rows = gf_max(1, gf_min(state->height, SCRATCH_SIZE / row));
    return gf_allocate(state->scratch_rows, row, &state->scratch);
}

static GfStatus npy_open(GfReader *reader, GfInput *input, const GfReadOptions *options)
{
    NpyReader *state;
    GfNpyHeader header;
    GfStatus status = gf_allocate_zero(1, sizeof *state, &state);
    if (status != GF_OK) {
        gf_input_close(input);
        return status;
    }
    reader->state = state;
    state->reader = reader;
    state->input = input;
    GF_TRY(read_header(state, &header));
    GF_TRY(set_sample(state, header.descr));
    GF_TRY(set_shape(state, &header));
    GF_TRY(gf_reader_limit(reader, options));
    GF_TRY(check_size(state, header.count));
    return allocate(state, options);
}

/* Copies `count` samples of `size` bytes to every to_step-th sample of `to`, from every
 * from_step-th sample of `from`. Always inline, so that the size becomes a constant and memcpy a
 * plain move. */
__attribute__((always_inline)) static inline void copy_samples(unsigned char *to, size_t to_step,
                                                               const unsigned char *from,
                                                               size_t from_step, size_t count,
                                                               size_t size, bool swap)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *source = from + i * from_step * size;
        unsigned char *target = to + i * to_step * size;
        if (!swap)
            memcpy(target, source, size);
        else
            for (size_t b = 0; b < size; b++)
                target[b] = source[size - 1 - b];
    }
}

static void spread(const NpyReader *state, unsigned char *to, const unsigned char *from,
                   size_t from_step)
{
    size_t step = state->channels, count = state->width;
    if (state->swap)
        copy_samples(to, step, from, from_step, count, state->size, true);
    else if (state->size == 1)
        copy_samples(to, step, from, from_step, count, 1, false);
    else if (state->size == 2)
        copy_samples(to, step, from, from_step, count, 2, false);
    else if (state->size == 4)
        copy_samples(to, step, from, from_step, count, 4, false);
    else
        copy_samples(to, step, from, from_step, count, 8, false);
}

/* Rows of the held planes, or of the held array in Fortran order, where the sample of picture n,
 * channel c, row y, column x is the (n + N * (c + C * (y + H * x)))-th. */
static GfStatus rows_of_held(NpyReader *state, const GfBand *band)
{
    size_t pictures = state->fortran ? state->reader->pictures : 1;
    size_t plane = state->width * state->height, samples = plane * state->channels;
    if (!state->filled)
        GF_TRY(read_exactly(state->input, state->held, samples * pictures * state->size));
    state->filled = true;
    for (size_t i = 0; i < band->rows; i++) {
        unsigned char *row = (unsigned char *)band->samples + i * band->stride;
        size_t y = band->y0 + i;
        for (size_t c = 0; c < state->channels; c++) {
            size_t first = state->fortran ? state->picture + pictures * (c + state->channels * y)
                                          : c * plane + y * state->width;
            size_t step = state->fortran ? pictures * state->channels * state->height : 1;
            spread(state, row + c * state->size, state->held + first * state->size, step);
        }
    }
    return GF_OK;
}

/* Rows [y, y + rows) of one plane into the scratch. */
static GfStatus read_plane(NpyReader *state, size_t channel, size_t y, size_t rows)
{
    size_t bytes = rows * state->width * state->size;
    if (!state->seekable)
        return read_exactly(state->input, state->scratch, bytes);
    uint64_t plane = (uint64_t)state->picture * state->channels + channel;
    uint64_t first = (plane * state->height + y) * state->width;
    return gf_input_read_at(state->input, state->scratch, bytes,
                            state->start + first * state->size);
}

static GfStatus rows_by_planes(NpyReader *state, const GfBand *band)
{
    size_t row = state->width * state->size;
    for (size_t done = 0, rows; done < band->rows; done += rows) {
        rows = gf_min(state->scratch_rows, band->rows - done);
        for (size_t c = 0; c < state->channels; c++) {
            GF_TRY(read_plane(state, c, band->y0 + done, rows));
            for (size_t i = 0; i < rows; i++)
                spread(state,
                       (unsigned char *)band->samples + (done + i) * band->stride + c * state->size,
                       state->scratch + i * row, 1);
        }
    }
    return GF_OK;
}

static GfStatus npy_rows(GfReader *reader, const GfBand *band)
{
    NpyReader *state = reader->state;
    if (state->next_row == state->height && band->y0 == 0) {
        state->picture++;
        state->next_row = 0;
        state->filled = state->fortran;
    }
    GF_TRY(state->held ? rows_of_held(state, band) : rows_by_planes(state, band));
    state->next_row = band->y0 + band->rows;
    return GF_OK;
}

/* A file's size was compared at once; the end of a pipe is known only here. */
static GfStatus npy_finish(GfReader *reader)
{
    NpyReader *state = reader->state;
    unsigned char byte;
    size_t got = 0;
    if (!state->seekable)
        GF_TRY(gf_input_read(state->input, &byte, 1, &got));
    return got == 0 ? GF_OK : gf_fail(GF_EINPUT, "the .npy data go on after the last sample");
}

static void npy_close(GfReader *reader)
{
    NpyReader *state = reader->state;
    gf_input_close(state->input);
    free(state->scratch);
    free(state->held);
    free(state);
    reader->state = NULL;
}

const GfCodec gf_npy = {
    .name = "npy",
    .extensions = ".npy",
    .many_pictures = true,
    .samples = 1u << GF_U8 | 1u << GF_U16 | 1u << GF_F32 | 1u << GF_F64,
    .max_channels = 0,
    .alpha = true,
    .max_side = PTRDIFF_MAX,
    .colour = GF_COLOUR_NOWHERE,
    .recognises = recognises,
    .open = npy_open,
    .rows = npy_rows,
    .finish = npy_finish,
    .close = npy_close,
    .create = gf_npy_create,
    .write = gf_npy_write,
    .complete = gf_npy_complete,
    .abandon = gf_npy_abandon,
};
