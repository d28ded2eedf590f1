/* How PNG's pixels are written: pieces of deflate that are joined, row filters, strips. What
 * comes out is judged by zlib and libpng, and row filters by the standard's formulas for undoing
 * them. */
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>
#include <zlib.h>

#include "images/codec.h"
#include "images/deflate.h"
#include "images/png_filter.h"
#include "images/squeeze.h"
#include "tests/unit/png_standard.h"

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* ---- what is compressed ---- */

typedef enum Content { NOISE, ZEROS, RUNS, REPEATS, SMOOTH, MIXED, CONTENTS } Content;

static unsigned char byte_of(Content content, size_t i, unsigned *seed, const unsigned char *all)
{
    unsigned value = draw(seed);
    switch (content) {
    case NOISE:
        return (unsigned char)value;
    case RUNS: /* of all lengths, also those around the shortest */
        return i > 0 && value % 8 ? all[i - 1] : (unsigned char)value;
    case REPEATS: /* at a distance just inside and just outside of the window */
        return i < 32768 + i / 100000 % 2 ? (unsigned char)value : all[i - 32768 - i / 100000 % 2];
    case SMOOTH:
        return (unsigned char)((value % 3) * (value / 3 % 3) * (value / 9 % 3));
    case MIXED:
        return byte_of((Content)(i / 20000 % 5), i, seed, all);
    default:
        return 0;
    }
}

static unsigned char *make(Content content, size_t size)
{
    unsigned seed = 7u + (unsigned)content;
    unsigned char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_of(content, i, &seed, bytes);
    return bytes;
}

/* ---- pieces of deflate ---- */

static void inflate_whole(const unsigned char *from, size_t size, unsigned char *to,
                          size_t expected)
{
    z_stream zlib = {0};
    assert_int_equal(inflateInit2(&zlib, -MAX_WBITS), Z_OK);
    zlib.next_in = (unsigned char *)(uintptr_t)from;
    zlib.avail_in = (uInt)size;
    zlib.next_out = to;
    zlib.avail_out = (uInt)expected + 1;
    assert_int_equal(inflate(&zlib, Z_FINISH), Z_STREAM_END);
    assert_int_equal(zlib.total_out, expected);
    assert_int_equal(zlib.avail_in, 0);
    inflateEnd(&zlib);
}

/* Compresses in[0, size) behind `to`, checks the bound, and returns the new end. */
static unsigned char *add_piece(GfDeflater *deflater, const unsigned char *in, size_t size,
                                unsigned char *to)
{
    size_t bound = gf_deflate_bound(size);
    to[bound] = 0xa5;
    size_t made = gf_deflate(deflater, in, size, to);
    assert_in_range(made, 0, bound);
    assert_int_equal(to[bound], 0xa5);
    return to + made;
}

/* Ends the pieces [joined, end): they are of bytes[0, size). */
static void assert_joined(const unsigned char *joined, unsigned char *end,
                          const unsigned char *bytes, size_t size)
{
    unsigned char *back = malloc(size + 1);
    assert_non_null(back);
    memcpy(end, gf_deflate_end, GF_DEFLATE_END_SIZE);
    inflate_whole(joined, (size_t)(end - joined) + GF_DEFLATE_END_SIZE, back, size);
    assert_memory_equal(back, bytes, size);
    free(back);
}

static void pieces_join(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     2,     3,     7,     8,      15,    16,
                                   17,    18,    258,   259,   260,   1000,   49151, 49152,
                                   49153, 65535, 65536, 98304, 98305, 150001, 262145};
    GfDeflater *deflater;
    assert_int_equal(gf_deflater_create(&deflater), GF_OK);
    for (Content content = NOISE; content < CONTENTS; content++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t size = sizes[i], all = size + 1 + size;
            unsigned char *bytes = make(content, all);
            unsigned char *joined = malloc(2 * gf_deflate_bound(size) + gf_deflate_bound(1) + 8);
            assert_non_null(joined);
            unsigned char *end = add_piece(deflater, bytes, size, joined);
            end = add_piece(deflater, bytes + size, 1, end);
            end = add_piece(deflater, bytes + size + 1, size, end);
            assert_joined(joined, end, bytes, all);
            free(bytes);
            free(joined);
        }
    gf_deflater_free(deflater);
}

/* A compressor that has been used gives the same as a new one, whatever its memory held. */
static void pieces_do_not_depend_on_earlier_ones(void **state)
{
    (void)state;
    enum { SIZE = 120000 };
    GfDeflater *used, *fresh;
    unsigned char *a = malloc(gf_deflate_bound(SIZE)), *b = malloc(gf_deflate_bound(SIZE));
    assert_true(a && b);
    assert_int_equal(gf_deflater_create(&used), GF_OK);
    for (Content content = NOISE; content < CONTENTS; content++) {
        unsigned char *bytes = make(content, SIZE);
        assert_int_equal(gf_deflater_create(&fresh), GF_OK);
        size_t made = gf_deflate(used, bytes, SIZE, a);
        assert_int_equal(gf_deflate(fresh, bytes, SIZE, b), made);
        assert_memory_equal(a, b, made);
        gf_deflater_free(fresh);
        free(bytes);
    }
    gf_deflater_free(used);
    free(a);
    free(b);
}

/* Where a compressor lies says nothing about what it makes. Of many pieces whose beginnings come
 * again, because what goes wrong does so in one of thousands: ISA-L 2.30 hashes its own address. */
static void pieces_do_not_depend_on_addresses(void **state)
{
    (void)state;
    enum { SIZE = 200, BEGINNING = 16, AGAIN = 100, PIECES = 50000 };
    GfDeflater *one, *other;
    unsigned char *a = malloc(gf_deflate_bound(SIZE)), *b = malloc(gf_deflate_bound(SIZE));
    assert_true(a && b);
    assert_int_equal(gf_deflater_create(&one), GF_OK);
    assert_int_equal(gf_deflater_create(&other), GF_OK);
    unsigned seed = 1;
    for (size_t i = 0; i < PIECES; i++) {
        unsigned char piece[SIZE];
        for (size_t k = 0; k < SIZE; k++)
            piece[k] = draw(&seed) % 16;
        memcpy(piece + AGAIN, piece, BEGINNING);
        size_t made = gf_deflate(one, piece, SIZE, a);
        assert_int_equal(gf_deflate(other, piece, SIZE, b), made);
        assert_memory_equal(a, b, made);
    }
    gf_deflater_free(one);
    gf_deflater_free(other);
    free(a);
    free(b);
}

static void pieces_are_as_small_as_they_should_be(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    static const size_t most[CONTENTS] = {
        SIZE + 5 * 5 + 64, /* stored */
        SIZE / 100,        /* zeros */
        SIZE / 2,
        SIZE + 100, /* repetitions at the far end of the window, which may be too far */
        SIZE / 2,
        SIZE};
    GfDeflater *deflater;
    unsigned char *out = malloc(gf_deflate_bound(SIZE));
    assert_non_null(out);
    assert_int_equal(gf_deflater_create(&deflater), GF_OK);
    for (Content content = NOISE; content < CONTENTS; content++) {
        unsigned char *bytes = make(content, SIZE);
        assert_in_range(gf_deflate(deflater, bytes, SIZE, out), 1, most[content]);
        free(bytes);
    }
    gf_deflater_free(deflater);
    free(out);
}

/* Pieces that a slow search has made join with each other and with fast ones, and none is larger
 * than what it is of. */
static void squeezed_pieces_join(void **state)
{
    (void)state;
    static const size_t sizes[] = {200, 1000, 32768, 65536, 98305, 262145, 600001};
    GfSqueezer *squeezer;
    GfDeflater *deflater;
    assert_int_equal(gf_squeezer_create(&squeezer), GF_OK);
    assert_int_equal(gf_deflater_create(&deflater), GF_OK);
    for (Content content = NOISE; content < CONTENTS; content++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t size = sizes[i], all = 2 * size;
            unsigned char *bytes = make(content, all);
            unsigned char *joined = malloc(2 * gf_deflate_bound(size) + GF_DEFLATE_END_SIZE);
            assert_non_null(joined);
            joined[gf_deflate_bound(size)] = 0xa5;
            size_t made = gf_squeeze(squeezer, GF_SEARCH_MEDIUM, bytes, size, joined);
            assert_int_equal(joined[gf_deflate_bound(size)], 0xa5);
            assert_in_range(made, 0, size);
            assert_true(made > 0 || !(content == ZEROS || content == RUNS || content == SMOOTH));
            unsigned char *end = joined + made;
            if (made == 0)
                end = add_piece(deflater, bytes, size, joined);
            made = gf_squeeze(squeezer, GF_SEARCH_LONG, bytes + size, size, end);
            end = made ? end + made : add_piece(deflater, bytes + size, size, end);
            assert_joined(joined, end, bytes, all);
            free(bytes);
            free(joined);
        }
    gf_deflater_free(deflater);
    gf_squeezer_free(squeezer);
}

static void stored_pieces_join(void **state)
{
    (void)state;
    enum { SIZE = 100001 };
    unsigned char *bytes = make(NOISE, SIZE);
    unsigned char *out = malloc(gf_deflate_bound(SIZE) + GF_DEFLATE_END_SIZE);
    assert_non_null(out);
    assert_joined(out, out + gf_deflate_store(bytes, SIZE, out), bytes, SIZE);
    free(bytes);
    free(out);
}

/* ---- row filters ---- */

static void filters_can_be_undone(void **state)
{
    (void)state;
    enum { MOST = 64 * 8, ROWS = 3 };
    unsigned char rows[(ROWS + 1) * MOST], out[ROWS * (MOST + 1)];
    unsigned seed = 3;
    for (size_t i = 0; i < sizeof rows; i++) /* all differences, and the extremes often */
        rows[i] = (unsigned char)(draw(&seed) % 3 ? draw(&seed) : draw(&seed) % 2 * 255);
    for (size_t pixel = 1; pixel <= 8; pixel++)
        for (size_t width = 1; width <= 64; width += 1 + width / 7)
            for (unsigned filter = 0; filter < GF_PNG_FILTERS; filter++) {
                size_t bytes = width * pixel;
                const GfPngRows some = {rows, ROWS, bytes, pixel};
                gf_png_filter(&some, filter, out);
                for (size_t y = 0; y < ROWS; y++) {
                    unsigned char *row = out + y * (bytes + 1);
                    assert_int_equal(row[0], filter);
                    undo(filter, row + 1, rows + y * bytes, bytes, pixel);
                    assert_memory_equal(row + 1, rows + (y + 1) * bytes, bytes);
                }
            }
}

/* Whatever is above, what fits a picture best is found. */
static void the_filter_that_fits_is_chosen(void **state)
{
    (void)state;
    enum { WIDTH = 600, ROWS = 64 };
    static unsigned char rows[ROWS + 1][WIDTH], scratch[WIDTH];
    unsigned seed = 1;
    const GfPngRows all = {rows[0], ROWS, WIDTH, 1};
    for (size_t x = 0; x < WIDTH; x++)
        rows[0][x] = (unsigned char)draw(&seed);
    for (size_t y = 1; y <= ROWS; y++)
        memcpy(rows[y], rows[0], WIDTH);
    assert_int_equal(gf_png_filter_choose(&all, scratch), 2);
    for (size_t y = 0; y <= ROWS; y++)
        memset(rows[y], (int)(draw(&seed) & 0xff), WIDTH);
    assert_int_equal(gf_png_filter_choose(&all, scratch), 1);
    for (size_t y = 0; y <= ROWS; y++) /* white dots on black */
        for (size_t x = 0; x < WIDTH; x++)
            rows[y][x] = draw(&seed) % 10 ? 0 : 255;
    assert_int_equal(gf_png_filter_choose(&all, scratch), 0);
}

/* ---- files ---- */

static char path[PATH_MAX];

typedef struct File {
    unsigned char *bytes;
    size_t size;
} File;

static File load(void)
{
    File file = {0};
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.bytes = malloc(file.size);
    assert_int_equal(fread(file.bytes, 1, file.size, stream), file.size);
    fclose(stream);
    return file;
}

static GfStatus write_png(const GfFormat *format, int level, GfWorkers *workers, size_t rows,
                          const unsigned char *samples)
{
    GfOutput *output;
    GfWriter *writer;
    const GfMetadata none = gf_metadata_none();
    GfWriteOptions options = {.quality = 90, .compression = level, .workers = workers};
    size_t bytes = gf_row_bytes(format);
    assert_int_equal(gf_output_open(path, true, &output), GF_OK);
    GfStatus status =
        gf_writer_create(output, gf_codec_for_path(path), format, 1, &none, &options, &writer);
    for (size_t y = 0; status == GF_OK && y < format->height; y += rows) {
        GfBand band = {y, gf_min(rows, format->height - y), bytes,
                       (unsigned char *)(uintptr_t)samples + y * bytes};
        status = gf_writer_rows(writer, 0, &band);
    }
    if (status == GF_OK)
        status = gf_writer_finish(writer);
    gf_writer_close(writer);
    if (status == GF_OK)
        return gf_output_commit(&output);
    gf_output_discard(&output);
    return status;
}

/* Follows the chunks, checks their sums, joins the pixels' data, and inflates them strictly. */
static size_t assert_sound(const File *file, const GfFormat *format)
{
    size_t raw = format->height * (gf_row_bytes(format) + 1), joined = 0, chunks = 0;
    unsigned char *data = malloc(file->size), *rows = malloc(raw);
    assert_true(data && rows);
    for (size_t at = 8, length; at < file->size; at += 12 + length) {
        const unsigned char *chunk = file->bytes + at;
        length = png_get_uint_32(chunk);
        assert_true(at + 12 + length <= file->size);
        assert_int_equal(png_get_uint_32(chunk + 8 + length),
                         crc32(0, chunk + 4, (uInt)length + 4));
        if (memcmp(chunk + 4, "IDAT", 4) != 0)
            continue;
        memcpy(data + joined, chunk + 8, length);
        joined += length;
        chunks++;
    }
    uLongf made = raw;
    uLong used = joined;
    assert_int_equal(uncompress2(rows, &made, data, &used), Z_OK);
    assert_int_equal(made, raw);
    assert_int_equal(used, joined);
    free(data);
    free(rows);
    return chunks;
}

/* libpng's own reading, with its own turning of 16-bit samples. */
static void assert_libpng_reads(const GfFormat *format, const unsigned char *samples)
{
    FILE *stream = fopen(path, "r");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, stream);
    bool swapped = format->sample == GF_U16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    png_read_png(png, info, swapped ? PNG_TRANSFORM_SWAP_ENDIAN : PNG_TRANSFORM_IDENTITY, NULL);
    assert_int_equal(png_get_image_width(png, info), format->width);
    assert_int_equal(png_get_image_height(png, info), format->height);
    assert_int_equal(png_get_channels(png, info), format->channels);
    for (size_t y = 0; y < format->height; y++)
        assert_memory_equal(png_get_rows(png, info)[y], samples + y * gf_row_bytes(format),
                            gf_row_bytes(format));
    png_destroy_read_struct(&png, &info, NULL);
    fclose(stream);
}

static const GfFormat shapes[] = {
    {1, 1, 1, false, GF_U8},
    {1, 1, 4, true, GF_U16},
    {3, 2, 2, true, GF_U8},
    {300, 901, 3, false, GF_U8}, /* a strip of 581 rows, two strips */
    {101, 1500, 2, true, GF_U8},
    {211, 333, 4, true, GF_U16},
    {1023, 1024, 1, false, GF_U8}, /* 1024 bytes a row with the filter's: two strips exactly */
    {1023, 1025, 1, false, GF_U8}, /* and a row */
    {1023, 1023, 1, false, GF_U8},
    {2, 70000, 3, false, GF_U16},
    {300000, 5, 1, false, GF_U8}, /* a row is more than a strip */
    {700, 600, 3, false, GF_U16},
    {600, 700, 4, true, GF_U8},
};

static void others_read_what_is_written(void **state)
{
    (void)state;
    GfWorkers *workers;
    assert_int_equal(gf_workers_create(3, &workers), GF_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const GfFormat *format = &shapes[i];
        Content content = (Content)(i % CONTENTS);
        unsigned char *samples = make(content, gf_row_bytes(format) * format->height);
        for (int level = 0; level <= 9; level += level < 2 ? 1 : 7) {
            assert_int_equal(write_png(format, level, workers, 50, samples), GF_OK);
            File file = load();
            size_t wanted = level > 1 ? 1 << 20 : 512 << 10;
            size_t rows = gf_max(wanted / (gf_row_bytes(format) + 1), 1);
            assert_int_equal(assert_sound(&file, format), (format->height + rows - 1) / rows);
            assert_libpng_reads(format, samples);
            free(file.bytes);
        }
        free(samples);
    }
    gf_workers_destroy(workers);
}

static void bytes_do_not_depend_on_threads_or_bands(void **state)
{
    (void)state;
    static const size_t threads[] = {1, 2, 8}, bands[] = {1, 37, 5000};
    const GfFormat format = {500, 1400, 3, false, GF_U8};
    unsigned char *samples = make(MIXED, gf_row_bytes(&format) * format.height);
    for (int level = 0; level <= 2; level++) {
        assert_int_equal(write_png(&format, level, NULL, 100, samples), GF_OK);
        File expected = load();
        for (size_t i = 0; i < 9; i++) {
            GfWorkers *workers;
            assert_int_equal(gf_workers_create(threads[i / 3], &workers), GF_OK);
            assert_int_equal(write_png(&format, level, workers, bands[i % 3], samples), GF_OK);
            File file = load();
            assert_int_equal(file.size, expected.size);
            assert_memory_equal(file.bytes, expected.bytes, file.size);
            free(file.bytes);
            gf_workers_destroy(workers);
        }
        free(expected.bytes);
    }
    free(samples);
}

/* What malloc() has given; sanitizers have their own, of which nothing is known: 0. */
static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* A bank's outputs are open together: one that is filled holds no memory, one of very many while it
 * waits for rows no more than these. */
static void outputs_that_wait_hold_little_memory(void **state)
{
    (void)state;
    enum { KEPT = 64 << 10 }; /* by the library, to be given out again */
    const GfFormat format = {1000, 300, 3, false, GF_U8};
    const GfMetadata none = gf_metadata_none();
    const GfWriteOptions options = {.quality = 90, .compression = 1, .outputs = 10000};
    size_t bytes = gf_row_bytes(&format), strip = (512 << 10) / (bytes + 1);
    unsigned char *samples = make(MIXED, bytes * format.height);
    GfBand first = {0, strip + 1, bytes, samples};
    GfBand rest = {strip + 1, format.height - first.rows, bytes, samples + first.rows * bytes};
    GfOutput *output;
    GfWriter *writer;
    assert_int_equal(write_png(&format, 1, NULL, 50, samples), GF_OK);
    File expected = load();
    assert_int_equal(gf_output_open(path, true, &output), GF_OK);
    assert_int_equal(
        gf_writer_create(output, gf_codec_for_path(path), &format, 1, &none, &options, &writer),
        GF_OK);
    size_t before = allocated();
    assert_int_equal(gf_writer_rows(writer, 0, &first), GF_OK);
    assert_true(allocated() <= before + (strip + 1) * bytes + KEPT);
    assert_int_equal(gf_writer_rows(writer, 0, &rest), GF_OK);
    assert_true(allocated() <= before + KEPT);
    assert_int_equal(gf_writer_finish(writer), GF_OK);
    gf_writer_close(writer);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    File file = load();
    assert_int_equal(file.size, expected.size);
    assert_memory_equal(file.bytes, expected.bytes, file.size);
    free(file.bytes);
    free(expected.bytes);
    free(samples);
}

/* Writes the first rows of a very large picture with many workers, and returns how many bytes the
 * writer held at most (or 0: not known). `taken` as in GfWriteOptions. */
static size_t held_of_huge_picture(size_t taken)
{
    enum { ROWS = 64, BANDS = 10, THREADS = 32 };
    const GfFormat format = {65536, 65536, 1, false, GF_U8};
    const GfMetadata none = gf_metadata_none();
    unsigned char *samples = make(MIXED, format.width * ROWS);
    GfWriteOptions options = {.quality = 90, .compression = 0, .taken = taken};
    GfOutput *output;
    GfWriter *writer;
    size_t before = allocated(), most = 0;
    assert_int_equal(gf_workers_create(THREADS, &options.workers), GF_OK);
    assert_int_equal(gf_output_open(path, true, &output), GF_OK);
    assert_int_equal(
        gf_writer_create(output, gf_codec_for_path(path), &format, 1, &none, &options, &writer),
        GF_OK);
    for (size_t i = 0; i < BANDS; i++) {
        GfBand band = {i * ROWS, ROWS, format.width, samples};
        assert_int_equal(gf_writer_rows(writer, 0, &band), GF_OK);
        most = gf_max(most, allocated());
    }
    gf_writer_close(writer);
    gf_output_discard(&output);
    gf_workers_destroy(options.workers);
    free(samples);
    return most == 0 ? 0 : most - before;
}

/* Strips of very large pictures wait in 28 MiB, however many workers there are, and where much is
 * taken elsewhere, in what that leaves of 52, but 12 at least. */
static void huge_pictures_hold_little_memory(void **state)
{
    (void)state;
    static const struct {
        size_t taken, least, most; /* MiB */
    } cases[] = {{0, 16, 28}, {24, 16, 28}, {32, 12, 20}, {60, 6, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t held = held_of_huge_picture(cases[i].taken << 20);
        assert_true(held == 0 || held > cases[i].least << 20);
        assert_true(held < cases[i].most << 20);
    }
}

/* The disk fills up after the first strips. */
static void a_disk_that_fills_up_is_reported(void **state)
{
    (void)state;
    const GfFormat format = {1000, 2000, 3, false, GF_U8};
    unsigned char *samples = make(NOISE, gf_row_bytes(&format) * format.height);
    struct rlimit before, small;
    GfWorkers *workers;
    assert_int_equal(gf_workers_create(2, &workers), GF_OK);
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1500000;
    for (int level = 0; level <= 2; level++) {
        setrlimit(RLIMIT_FSIZE, &small);
        GfStatus status = write_png(&format, level, workers, 64, samples);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, GF_EWRITE);
        assert_non_null(strstr(gf_message(), "File too large"));
        assert_int_equal(access(path, F_OK), -1);
    }
    gf_workers_destroy(workers);
    free(samples);
}

/* What filters leave of pictures, drawn: (x, y) of one kind in `channel`. */
typedef enum Scene { MASK, GRAY_MASK, EDGES, PHOTOGRAPH, SCENES } Scene;

static unsigned char sample_of(Scene scene, size_t x, size_t y, size_t channel, unsigned *seed)
{
    double at = (double)x, down = (double)y, turn = (double)channel * 0.9;
    double grain = (double)(draw(seed) % 1000) / 1000.0;
    double wave = sin(at / 9.0 + turn + sin(down / 31.0)) + sin(down / 7.0 + at / 53.0 - turn);
    double edge = exp(-wave * wave * 9.0) * (200.0 + 90.0 * grain);
    switch (scene) {
    case MASK:
    case GRAY_MASK:
        return wave * wave < 0.02 ? 255 : 0;
    case EDGES:
        return (unsigned char)(edge > 255.0 ? 255.0 : edge < 6.0 ? 0.0 : edge);
    default:
        return (unsigned char)(128.0 + 50.0 * wave + 6.0 * grain);
    }
}

static unsigned char *draw_scene(Scene scene, const GfFormat *format)
{
    unsigned seed = 5;
    size_t row = gf_row_bytes(format);
    unsigned char *samples = malloc(row * format->height);
    bool gray = scene == GRAY_MASK; /* in equal channels */
    assert_non_null(samples);
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = 0; i < row; i++) {
            size_t channel = i % format->channels;
            samples[y * row + i] = gray && channel > 0
                                       ? samples[y * row + i - 1]
                                       : sample_of(scene, i / format->channels, y, channel, &seed);
        }
    return samples;
}

/* What zlib makes at its usual level of rows without filters, which is how libvips writes PNG. */
static size_t plain_size(const GfFormat *format, const unsigned char *samples)
{
    size_t row = gf_row_bytes(format), size = (row + 1) * format->height;
    unsigned char *plain = malloc(size), *out = malloc(compressBound(size));
    uLongf made = compressBound(size);
    assert_true(plain && out);
    for (size_t y = 0; y < format->height; y++) {
        plain[y * (row + 1)] = 0;
        memcpy(plain + y * (row + 1) + 1, samples + y * row, row);
    }
    assert_int_equal(compress2(out, &made, plain, size, 6), Z_OK);
    free(plain);
    free(out);
    return made;
}

/* Not even where strings come again and filters do not help. */
static void no_file_is_larger_than_plain_rows_by_zlib(void **state)
{
    (void)state;
    enum { CHUNKS = 8 + 25 + 12 + 12 }; /* signature, header, end, one for the pixels */
    for (size_t channels = 1; channels <= 4; channels++)
        for (Scene scene = MASK; scene < SCENES; scene++) {
            const GfFormat format = {640, 470, channels, channels % 2 == 0, GF_U8};
            unsigned char *samples = draw_scene(scene, &format);
            assert_int_equal(write_png(&format, 1, NULL, 64, samples), GF_OK);
            File file = load();
            assert_in_range(file.size, 1, plain_size(&format, samples) + CHUNKS);
            assert_libpng_reads(&format, samples);
            free(file.bytes);
            free(samples);
        }
}

static void absurd_rows_are_refused(void **state)
{
    (void)state;
    const GfFormat format = {(size_t)1 << 30, 1, 1, false, GF_U8};
    assert_int_equal(write_png(&format, 1, NULL, 1, NULL), GF_ELIMIT);
    assert_non_null(strstr(gf_message(), "too long"));
}

static int make_path(void **state)
{
    (void)state;
    const char *place = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.4000s/gpufilter-test-%ld.png", place ? place : "/tmp",
             (long)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_join),
        cmocka_unit_test(pieces_do_not_depend_on_earlier_ones),
        cmocka_unit_test(pieces_do_not_depend_on_addresses),
        cmocka_unit_test(pieces_are_as_small_as_they_should_be),
        cmocka_unit_test(squeezed_pieces_join),
        cmocka_unit_test(stored_pieces_join),
        cmocka_unit_test(filters_can_be_undone),
        cmocka_unit_test(the_filter_that_fits_is_chosen),
        cmocka_unit_test(others_read_what_is_written),
        cmocka_unit_test(bytes_do_not_depend_on_threads_or_bands),
        cmocka_unit_test(outputs_that_wait_hold_little_memory),
        cmocka_unit_test(huge_pictures_hold_little_memory),
        cmocka_unit_test(a_disk_that_fills_up_is_reported),
        cmocka_unit_test(no_file_is_larger_than_plain_rows_by_zlib),
        cmocka_unit_test(absurd_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
