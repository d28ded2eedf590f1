/* A picture is cut into strips of rows, which are filtered and compressed each for itself, by
 * several threads, and written in their order: a strip is an IDAT chunk, and the chunks' data
 * joined are one zlib stream (RFC 1950). Its checksum is put together from those of the strips.
 *
 * The strips are the same whoever compresses them. A compressor that begins anew has no earlier
 * strings to refer to, which costs some tenths of a per cent, so a picture that has more work than
 * many threads can share gets strips of up to a megabyte; zlib, whose levels look farther, always.
 *
 * Strips wait until there is one for each worker (and no more than fit into STRIPS_MEMORY; of
 * huge pictures less, which many workers take up to a tenth longer for; still less where filtering
 * takes much memory, and so much time that this is not waited for), so memory depends on the
 * workers, not on the picture. Outputs that are written at once share SHARED_MEMORY; where that has
 * no room for a strip of each, they have one each, and what compresses it only for so long. */
#include "images/png_strips.h"

#include <endian.h>
#include <stdlib.h>
#include <zlib.h>

#include "images/checksum.h"
#include "images/deflate.h"
#include "images/png_compress.h"

enum {
    STRIP_LEAST = 512 << 10,
    STRIP_MOST = 1 << 20,
    SHARES = 16, /* strips of a picture that is large enough */
    HUGE_PICTURE = 256 << 20,
    STRIPS_MEMORY = 40 << 20,
    HUGE_MEMORY = 28 << 20,
    HUGE_LEAST = 12 << 20,
    HUGE_WITH_TAKEN = 52 << 20, /* with what filtering takes, if it is the only output */
    SHARED_MEMORY = 1 << 30,
    ROW_MAX = 1 << 30,
    BUFFERS = 4,      /* of the size of a strip, for each */
    CHUNK_HEADER = 8, /* length and name */
    CHUNK_NAME = 4,   /* where the checksum begins */
    ZLIB_HEADER = 2,
    ZLIB_END = 4,
    CHECKSUM = 4,
    MARGIN = 64 /* for the above */
};

/* A strip on its way through a worker. */
typedef struct Strip {
    unsigned char *samples;      /* the row above, then the strip's own, as in the file; owned */
    unsigned char *chunk;        /* owned */
    GfPngCompressor *compressor; /* owned */
    size_t rows, size;           /* rows, and bytes of data in the chunk */
    uLong adler;
    bool first, failed;
} Strip;

struct GfPngStrips {
    GfFormat format;
    GfOutput *output;
    GfWorkers *workers;
    int level;
    size_t row_bytes, rows; /* of a strip */
    size_t bound;           /* bytes that a compressed strip takes at most */
    size_t y;               /* rows taken */
    uLong adler;            /* of the strips written */
    Strip *strips;          /* owned */
    size_t count, filling;  /* those before strips[filling] are full */
    bool brief;             /* one strip, whose compressor is there only while it works */
};

/* ---- in a worker ---- */

/* Makes the data of a strip's chunk. */
static void make_strip(void *context, size_t round, size_t worker)
{
    const GfPngStrips *strips = context;
    Strip *strip = &strips->strips[round];
    const GfPngRows rows = {strip->samples, strip->rows, strips->row_bytes,
                            strips->format.channels * gf_sample_size(strips->format.sample)};
    unsigned char *to = strip->chunk + CHUNK_HEADER;
    (void)worker; /* all that a round uses is the strip's */
    if (strip->first) {
        *to++ = 0x78; /* deflate with a window of 32 KB; a multiple of 31 with the next byte */
        *to++ = 0x01;
    }
    size_t made = gf_png_compress(strip->compressor, &rows, to, &strip->adler);
    strip->failed = made == 0;
    to += made;
    strip->size = (size_t)(to - strip->chunk) - CHUNK_HEADER;
}

/* ---- chunks ---- */

static void put_be32(unsigned char *to, uLong value)
{
    uint32_t big = htobe32((uint32_t)value);
    memcpy(to, &big, sizeof big);
}

static GfStatus write_chunk(GfPngStrips *strips, Strip *strip, bool last)
{
    size_t length = strip->rows * (strips->row_bytes + 1);
    if (strip->failed)
        return gf_fail(GF_EWRITE, "zlib cannot compress");
    strips->adler = adler32_combine(strips->adler, strip->adler, (z_off_t)length);
    if (last) {
        unsigned char *end = strip->chunk + CHUNK_HEADER + strip->size;
        memcpy(end, gf_deflate_end, GF_DEFLATE_END_SIZE);
        put_be32(end + GF_DEFLATE_END_SIZE, strips->adler);
        strip->size += GF_DEFLATE_END_SIZE + ZLIB_END;
    }
    put_be32(strip->chunk, strip->size);
    memcpy(strip->chunk + CHUNK_NAME, "IDAT", 4);
    put_be32(strip->chunk + CHUNK_HEADER + strip->size,
             gf_crc32(strip->chunk + CHUNK_NAME, CHUNK_HEADER - CHUNK_NAME + strip->size));
    return gf_output_write(strips->output, strip->chunk, CHUNK_HEADER + strip->size + CHECKSUM);
}

static void free_compressor(Strip *strip)
{
    gf_png_compressor_free(strip->compressor);
    free(strip->chunk);
    strip->compressor = NULL;
    strip->chunk = NULL;
}

static void free_strip(Strip *strip)
{
    free_compressor(strip);
    free(strip->samples);
    strip->samples = NULL;
}

static GfStatus prepare_compressor(const GfPngStrips *strips, Strip *strip)
{
    if (strip->chunk)
        return GF_OK;
    GF_TRY(gf_png_compressor_create(strips->level, strips->rows, strips->row_bytes,
                                    &strip->compressor));
    return gf_allocate(strips->bound + MARGIN, 1, &strip->chunk);
}

/* Compresses and writes the strips that are full. With the last one goes the memory: many outputs
 * may be open, and small ones are filled one after the other. */
static GfStatus write_strips(GfPngStrips *strips)
{
    size_t count = strips->filling;
    bool last = strips->y == strips->format.height;
    strips->filling = 0;
    if (strips->brief)
        GF_TRY(prepare_compressor(strips, strips->strips));
    gf_workers_run(strips->workers, count, make_strip, strips);
    for (size_t i = 0; i < count; i++)
        GF_TRY(write_chunk(strips, &strips->strips[i], last && i + 1 == count));
    if (strips->brief)
        free_compressor(strips->strips);
    for (size_t i = 0; last && i < strips->count; i++)
        free_strip(&strips->strips[i]);
    return GF_OK;
}

/* ---- rows ---- */

/* A strip's memory is taken when the strip is first used: small pictures need few. */
static GfStatus prepare(const GfPngStrips *strips, Strip *strip)
{
    if (strip->samples)
        return GF_OK;
    if (!strips->brief)
        GF_TRY(prepare_compressor(strips, strip));
    return gf_allocate(strips->rows + 1, strips->row_bytes, &strip->samples);
}

/* The strip to fill. Where memory ends, those that there are go round more often. */
static GfStatus find_strip(GfPngStrips *strips, Strip **strip)
{
    *strip = &strips->strips[strips->filling];
    GfStatus status = prepare(strips, *strip);
    if (status == GF_OK)
        return GF_OK;
    free_strip(*strip);
    if (strips->filling == 0)
        return status;
    strips->count = strips->filling;
    *strip = strips->strips;
    return write_strips(strips);
}

/* Begins a strip: its first row has above it the last one of the strip before. */
static GfStatus begin_strip(GfPngStrips *strips)
{
    size_t row = strips->row_bytes;
    Strip *strip;
    GF_TRY(find_strip(strips, &strip));
    const Strip *before = strip == strips->strips ? &strips->strips[strips->count - 1] : strip - 1;
    strip->first = strips->y == 0;
    if (strip->first)
        memset(strip->samples, 0, row);
    else /* all strips but the picture's last are full */
        memmove(strip->samples, before->samples + strips->rows * row, row);
    strip->rows = 0;
    return GF_OK;
}

/* Copies a row, 16-bit samples as big-endian ones. */
static void copy_row(const GfFormat *format, unsigned char *restrict to, const void *restrict from)
{
    size_t bytes = gf_row_bytes(format);
    if (format->sample != GF_U16 || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += 2) {
        to[i] = ((const unsigned char *)from)[i + 1];
        to[i + 1] = ((const unsigned char *)from)[i];
    }
}

static GfStatus take_row(GfPngStrips *strips, const void *row)
{
    if (strips->y % strips->rows == 0)
        GF_TRY(begin_strip(strips));
    Strip *strip = &strips->strips[strips->filling];
    strip->rows++;
    copy_row(&strips->format, strip->samples + strip->rows * strips->row_bytes, row);
    bool last = ++strips->y == strips->format.height;
    if (last || strip->rows == strips->rows)
        strips->filling++;
    return last || strips->filling == strips->count ? write_strips(strips) : GF_OK;
}

GfStatus gf_png_strips_rows(GfPngStrips *strips, const GfBand *band)
{
    for (size_t y = 0; y < band->rows; y++)
        GF_TRY(take_row(strips, (const unsigned char *)band->samples + y * band->stride));
    return GF_OK;
}

/* ---- the whole ---- */

/* For the strips of a picture of so many bytes. */
static size_t memory_for(size_t whole, const GfWriteOptions *options)
{
    size_t outputs = gf_max(options->outputs, 1), shared = SHARED_MEMORY / outputs;
    if (whole < HUGE_PICTURE)
        return gf_min(STRIPS_MEMORY, shared);
    size_t taken = outputs > 1 ? 0 : gf_min(options->taken, HUGE_WITH_TAKEN - HUGE_LEAST);
    return gf_min(gf_min(HUGE_MEMORY, HUGE_WITH_TAKEN - taken), shared);
}

static GfStatus set_sizes(GfPngStrips *strips, const GfWriteOptions *options)
{
    size_t height = strips->format.height, row = gf_row_bytes(&strips->format);
    if (row >= ROW_MAX)
        return gf_fail(GF_ELIMIT, "rows of %zu bytes are too long for a PNG file", row);
    size_t whole, wanted = STRIP_MOST;
    if (!gf_mul(height, row + 1, &whole))
        whole = SIZE_MAX;
    if (strips->level <= 1)
        wanted = gf_min(gf_max(whole / SHARES, STRIP_LEAST), STRIP_MOST);
    strips->row_bytes = row;
    strips->rows = gf_min(gf_max(wanted / (row + 1), 1), height);
    size_t size = strips->rows * (row + 1);
    strips->bound = gf_png_compressed_bound(size);
    size_t threads = strips->workers ? gf_workers_count(strips->workers) : 1;
    size_t fit = memory_for(whole, options) / (BUFFERS * size);
    size_t all = (height + strips->rows - 1) / strips->rows;
    strips->brief = options->outputs > 1 && fit == 0;
    strips->count = gf_min(gf_min(threads, gf_max(fit, 1)), all);
    return GF_OK;
}

GfStatus gf_png_strips_create(const GfFormat *format, const GfWriteOptions *options,
                              GfOutput *output, GfPngStrips **out)
{
    GfPngStrips *strips;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *strips, &strips));
    strips->format = *format;
    strips->output = output;
    strips->workers = options->workers;
    strips->level = options->compression;
    strips->adler = 1; /* of nothing */
    GF_GO(set_sizes(strips, options));
    GF_GO(gf_allocate_zero(strips->count, sizeof *strips->strips, &strips->strips));
    *out = strips;
    return GF_OK;
done:
    gf_png_strips_free(strips);
    return status;
}

void gf_png_strips_free(GfPngStrips *strips)
{
    if (!strips)
        return;
    for (size_t i = 0; strips->strips && i < strips->count; i++)
        free_strip(&strips->strips[i]);
    free(strips->strips);
    free(strips);
}
