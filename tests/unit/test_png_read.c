/* How PNG's pixels come to libpng: rows' filters by the standard's formulas, lines in pieces of any
 * size, and whole files of every kind, in which libpng by itself is the judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>
#include <zlib.h>

#include "images/codec.h"
#include "images/png_lines.h"
#include "images/png_unfilter.h"
#include "tests/unit/png_standard.h"

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

/* All bytes, and the extremes often. */
static void fill(unsigned char *bytes, size_t size, unsigned *seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(draw(seed, 3) ? draw(seed, 256) : draw(seed, 2) * 255);
}

/* ---- filters ---- */

static void test_filters(void **state)
{
    (void)state;
    enum { ROWS = 4 };
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    unsigned seed = 1;
    for (size_t p = 0; p < sizeof pixels / sizeof *pixels && gf_png_unfilters(); p++)
        for (size_t width = 1; width < 300; width += 1 + width / 9)
            for (size_t trial = 0; trial < 40; trial++) {
                const size_t size = width * pixels[p], line = size + 1;
                /* An allocation ends with what may be read behind the rows. */
                unsigned char *lines = malloc((1 + ROWS) * line + GF_PNG_UNFILTER_SLACK);
                unsigned char *expected = malloc((1 + ROWS) * line);
                assert_true(lines && expected);
                fill(lines, (1 + ROWS) * line + GF_PNG_UNFILTER_SLACK, &seed);
                for (size_t y = 1; y <= ROWS; y++)
                    lines[y * line] = (unsigned char)(trial % 2 ? 4 : draw(&seed, 7));
                memcpy(expected, lines, (1 + ROWS) * line);
                for (size_t y = 1; y <= ROWS; y++) {
                    unsigned char *row = expected + y * line;
                    if (*row < 5) {
                        undo(*row, row + 1, row - size, size, pixels[p]);
                        *row = 0;
                    }
                }
                const size_t count = 1 + draw(&seed, ROWS);
                memcpy(expected + (1 + count) * line, lines + (1 + count) * line,
                       (ROWS - count) * line);
                gf_png_unfilter(lines + line, count, size, pixels[p]);
                assert_memory_equal(lines, expected, (1 + ROWS) * line);
                free(lines);
                free(expected);
            }
}

/* ---- lines ---- */

enum { LINES_MAX = 400000 };

static unsigned char raw[LINES_MAX], undone[LINES_MAX], stream[2 * LINES_MAX], got[2 * LINES_MAX];

/* Rows with filters, and maybe bytes behind the last; what is to come of them; and their stream. */
static size_t make_lines(unsigned *seed, size_t line, size_t pixel, size_t lines, size_t behind)
{
    const size_t size = line * lines + behind;
    uLongf made = sizeof stream;
    static unsigned char zeros[LINES_MAX];
    assert_true(size <= LINES_MAX);
    fill(raw, size, seed);
    for (size_t y = 0; y < lines; y++)
        raw[y * line] = (unsigned char)draw(seed, 5);
    memcpy(undone, raw, size);
    for (size_t y = 0; y < lines && gf_png_unfilters(); y++) {
        unsigned char *row = undone + y * line;
        undo(*row, row + 1, y > 0 ? row - line + 1 : zeros, line - 1, pixel);
        *row = 0;
    }
    assert_int_equal(compress2(stream, &made, raw, size, 1), Z_OK);
    return made;
}

/* Returns how much came. */
static size_t read_lines(unsigned *seed, GfPngLines *lines, size_t size, GfInflated *end)
{
    const unsigned most_in = 1 + draw(seed, 30000), most_out = 1 + draw(seed, 30000);
    const char *reason = NULL;
    size_t at = 0, came = 0, idle = 0;
    *end = GF_INFLATED_SOME;
    while (idle < 2) {
        const size_t wanted = 1 + draw(seed, most_in), left = size - at;
        size_t given = wanted < left ? wanted : left, more;
        const unsigned char *in = stream + at;
        bool progress = false;
        at += given;
        if (*end == GF_INFLATED_SOME)
            *end = gf_png_lines_inflate(lines, &in, &given, &progress, &reason);
        at -= given;
        do {
            const unsigned char *bytes = gf_png_lines_take(lines, 1 + draw(seed, most_out), &more);
            assert_true(came + more <= sizeof got);
            memcpy(got + came, bytes, more);
            came += more;
        } while (more > 0);
        idle = progress ? 0 : idle + 1;
    }
    assert_true((*end == GF_INFLATED_BROKEN) == (reason != NULL));
    return came;
}

static void test_lines(void **state)
{
    (void)state;
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    for (unsigned seed = 0; seed < 300; seed++) {
        unsigned next = seed;
        const size_t pixel = pixels[draw(&next, 6)], behind = draw(&next, 3) ? 0 : draw(&next, 99);
        const size_t width = 1 + draw(&next, seed % 7 == 0 ? 120000 / 8 : 300);
        const size_t line = 1 + width * pixel;
        const size_t count =
            1 +
            draw(&next, (unsigned)((LINES_MAX - 99) / line < 50 ? (LINES_MAX - 99) / line : 50));
        const size_t size = make_lines(&next, line, pixel, count, behind);
        const bool looks = draw(&next, 4) > 0;
        GfPngLines *lines;
        GfInflated end;
        assert_int_equal(gf_png_lines_create(line, pixel, looks ? count : 0, &lines), GF_OK);
        assert_int_equal(read_lines(&next, lines, size, &end), line * count + behind);
        assert_int_equal(end, GF_INFLATED_ALL);
        assert_memory_equal(got, looks ? undone : raw, line * count + behind);
        gf_png_lines_free(lines);
    }
}

/* Of a stream that is cut come the lines that are whole; of one that is damaged all but the last
 * bytes before it. */
static void test_lines_end(void **state)
{
    (void)state;
    enum { LINE = 1 + 3 * 100, COUNT = 300, LOST = 300 };
    for (unsigned seed = 0; seed < 200; seed++) {
        unsigned next = seed;
        const size_t size = make_lines(&next, LINE, 3, COUNT, 0),
                     cut = 2 + draw(&next, (unsigned)size - 2);
        GfPngLines *lines;
        GfInflated end;
        assert_int_equal(gf_png_lines_create(LINE, 3, COUNT, &lines), GF_OK);
        if (seed % 2 == 0)
            stream[cut] ^= 0x10;
        const size_t came = read_lines(&next, lines, seed % 2 ? cut : size, &end);
        assert_int_equal(end, seed % 2 ? GF_INFLATED_SOME : GF_INFLATED_BROKEN);
        if (seed % 2)
            assert_true(came % LINE == 0 || !gf_png_unfilters());
        else
            assert_true(came + LOST + LINE > cut * 9 / 10); /* noise: hardly compressed */
        gf_png_lines_free(lines);
    }
}

/* ---- files ---- */

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/gpufilter-png-XXXXXX");
    const int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

typedef struct Kind {
    int type, depth, interlace;
    png_uint_32 width, height;
} Kind;

static void write_file(const Kind *kind, unsigned *seed)
{
    static const int filters[] = {PNG_FILTER_NONE, PNG_FILTER_SUB,   PNG_FILTER_UP,
                                  PNG_FILTER_AVG,  PNG_FILTER_PAETH, PNG_ALL_FILTERS};
    png_color palette[256];
    png_byte opacity[9];
    FILE *file = fopen(path, "w");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, kind->width, kind->height, kind->depth, kind->type, kind->interlace, 0,
                 0);
    if (kind->type == PNG_COLOR_TYPE_PALETTE) {
        fill((unsigned char *)palette, sizeof palette, seed);
        fill(opacity, sizeof opacity, seed);
        png_set_PLTE(png, info, palette, 1 << kind->depth);
        if (draw(seed, 2) && kind->depth > 3)
            png_set_tRNS(png, info, opacity, sizeof opacity, NULL);
    }
    png_set_compression_buffer_size(png, 6 + draw(seed, draw(seed, 2) ? 10000 : 50));
    png_set_compression_level(png, (int)draw(seed, 10));
    png_write_info(png, info);
    const int passes = png_set_interlace_handling(png);
    const size_t size = png_get_rowbytes(png, info);
    unsigned char *rows = malloc(kind->height * size);
    assert_non_null(rows);
    fill(rows, kind->height * size, seed);
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < kind->height; y++) {
            png_set_filter(png, 0, y == 0 ? PNG_ALL_FILTERS : filters[draw(seed, 6)]);
            png_write_row(png, rows + y * size);
        }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(rows);
    fclose(file);
}

/* The file's rows by libpng alone, 16 bits in the machine's order; the caller frees them. */
static unsigned char *read_by_libpng(size_t *row_bytes, png_uint_32 height)
{
    FILE *file = fopen(path, "r");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_EXPAND | PNG_TRANSFORM_SWAP_ENDIAN, NULL);
    *row_bytes = png_get_rowbytes(png, info);
    unsigned char *samples = malloc(height * *row_bytes);
    assert_non_null(samples);
    for (size_t y = 0; y < height; y++)
        memcpy(samples + y * *row_bytes, png_get_rows(png, info)[y], *row_bytes);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
    return samples;
}

/* By the reader, a few rows at a time. */
static void check_file(const Kind *kind, unsigned *seed)
{
    static const GfReadOptions options = {
        .max_pixels = 1 << 24, .max_memory = 1 << 28, .max_scans = 10};
    size_t row_bytes;
    GfReader *reader;
    write_file(kind, seed);
    unsigned char *expected = read_by_libpng(&row_bytes, kind->height);
    assert_int_equal(gf_reader_open(path, &options, &reader), GF_OK);
    assert_int_equal(gf_row_bytes(&reader->format), row_bytes);
    unsigned char *band_rows = malloc(kind->height * row_bytes);
    assert_non_null(band_rows);
    for (size_t y = 0, rows; y < kind->height; y += rows) {
        rows = 1 + draw(seed, (unsigned)(kind->height - y));
        const GfBand band = {
            .y0 = y, .rows = rows, .stride = row_bytes, .samples = band_rows + y * row_bytes};
        assert_int_equal(gf_reader_rows(reader, &band), GF_OK);
    }
    assert_int_equal(gf_reader_finish(reader), GF_OK);
    assert_string_equal(reader->note, "");
    assert_memory_equal(band_rows, expected, kind->height * row_bytes);
    gf_reader_close(reader);
    free(band_rows);
    free(expected);
}

static void test_files(void **state)
{
    (void)state;
    static const int types[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                   {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
    static const png_uint_32 sides[] = {1, 2, 3, 5, 8, 9, 17, 33, 100, 301};
    unsigned seed = 1;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < 40; i++) {
            const Kind kind = {types[t][0], types[t][1], i % 4 == 3, sides[draw(&seed, 10)],
                               sides[draw(&seed, 10)]};
            check_file(&kind, &seed);
        }
    const Kind wide = {6, 16, 0, 20000, 7}, wider = {6, 16, 0, 140000, 3},
               long_one = {0, 1, 0, 3, 9000};
    check_file(&wide, &seed);
    check_file(&wider, &seed);
    check_file(&long_one, &seed);
}

/* ---- damaged files ---- */

enum { WIDTH = 70, HEIGHT = 120, ROW = 3 * WIDTH, FILE_MAX = 100000 };

static unsigned char file[FILE_MAX], picture[HEIGHT * ROW];
static size_t file_size;

/* A picture in colour, in chunks of 500 bytes, to `file` and `picture`. */
static void make_picture_of(int interlace)
{
    unsigned seed = 5;
    FILE *stream_out = fopen(path, "w");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, stream_out);
    png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_RGB, interlace, 0, 0);
    png_set_compression_buffer_size(png, 500);
    png_write_info(png, info);
    for (size_t i = 0; i < sizeof picture; i++)
        picture[i] = (unsigned char)(i % ROW * 2 + i / ROW + draw(&seed, 6));
    for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
        for (size_t y = 0; y < HEIGHT; y++)
            png_write_row(png, picture + y * ROW);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(stream_out);
    FILE *stream_in = fopen(path, "r");
    file_size = fread(file, 1, sizeof file, stream_in);
    assert_true(file_size < sizeof file - 1);
    fclose(stream_in);
}

static void make_picture(void)
{
    make_picture_of(PNG_INTERLACE_NONE);
}

/* The place of the n-th chunk of pixels, or of the last where there are fewer. */
static size_t find_pixels(size_t n)
{
    size_t found = 0;
    for (size_t at = 8; at < file_size; at += 12 + png_get_uint_32(file + at))
        if (memcmp(file + at + 4, "IDAT", 4) == 0) {
            found = at;
            if (n-- == 0)
                break;
        }
    return found;
}

static void mend_checksum(size_t chunk)
{
    const size_t length = png_get_uint_32(file + chunk);
    png_save_uint_32(file + chunk + 8 + length,
                     (png_uint_32)crc32(0, file + chunk + 4, (uInt)length + 4));
}

/* Reads `file`. Returns how many of its first rows are right; the status, and what was said. */
static size_t read_damaged(bool tolerant, GfStatus *status, char *said, size_t said_size)
{
    const GfReadOptions options = {
        .max_pixels = 1 << 24, .max_memory = 1 << 28, .max_scans = 10, .tolerant = tolerant};
    unsigned char samples[HEIGHT * ROW];
    GfReader *reader;
    size_t right = 0;
    FILE *stream_out = fopen(path, "w");
    assert_int_equal(fwrite(file, 1, file_size, stream_out), file_size);
    fclose(stream_out);
    assert_int_equal(gf_reader_open(path, &options, &reader), GF_OK);
    const GfBand band = {.rows = HEIGHT, .stride = ROW, .samples = samples};
    memset(samples, 0xa5, sizeof samples);
    *status = gf_reader_rows(reader, &band);
    if (*status == GF_OK)
        *status = gf_reader_finish(reader);
    snprintf(said, said_size, "%s", *status == GF_OK ? reader->note : gf_message());
    gf_reader_close(reader);
    while (right < HEIGHT && memcmp(samples + right * ROW, picture + right * ROW, ROW) == 0)
        right++;
    return right;
}

/* What is said of `file`, and how many rows are right when damage is accepted. */
static void check_damaged(const char *said, size_t rows)
{
    char text[512];
    GfStatus status;
    read_damaged(false, &status, text, sizeof text);
    assert_int_equal(status, GF_EINPUT);
    assert_non_null(strstr(text, said));
    assert_true(read_damaged(true, &status, text, sizeof text) >= rows);
    assert_int_equal(status, GF_OK);
    assert_non_null(strstr(text, "damage accepted"));
}

static void test_damaged_files(void **state)
{
    (void)state;
    char text[512];
    GfStatus status;
    size_t chunk, length;

    make_picture();
    assert_int_equal(read_damaged(false, &status, text, sizeof text), HEIGHT);
    assert_int_equal(status, GF_OK);
    assert_string_equal(text, "");

    chunk = find_pixels(3);
    file[chunk + 8 + png_get_uint_32(file + chunk)] ^= 1;
    check_damaged("IDAT: CRC error", HEIGHT);

    make_picture();
    chunk = find_pixels(SIZE_MAX); /* a checksum of the stream that is wrong */
    file[chunk + 8 + png_get_uint_32(file + chunk) - 1] ^= 1;
    mend_checksum(chunk);
    check_damaged("IDAT: incorrect ", HEIGHT);

    make_picture();
    chunk = find_pixels(SIZE_MAX); /* without it, of which the rows know nothing */
    length = png_get_uint_32(file + chunk);
    assert_true(length > 4);
    memmove(file + chunk + 8 + length - 4, file + chunk + 8 + length,
            file_size - chunk - 8 - length);
    file_size -= 4;
    png_save_uint_32(file + chunk, (png_uint_32)length - 4);
    mend_checksum(chunk);
    check_damaged("the PNG data end without their checksum", HEIGHT);

    make_picture();
    chunk = find_pixels(SIZE_MAX); /* a file that is cut there */
    file_size = chunk + 8 + png_get_uint_32(file + chunk) - 4;
    check_damaged("the PNG file ends without its end marker (IEND)", HEIGHT);

    make_picture();
    chunk = find_pixels(SIZE_MAX); /* a byte more behind the stream is no damage */
    length = png_get_uint_32(file + chunk);
    memmove(file + chunk + 9 + length, file + chunk + 8 + length, file_size - chunk - 8 - length);
    file_size++;
    png_save_uint_32(file + chunk, (png_uint_32)length + 1);
    mend_checksum(chunk);
    assert_int_equal(read_damaged(false, &status, text, sizeof text), HEIGHT);
    assert_int_equal(status, GF_OK);
    assert_string_equal(text, "data after the last row ignored");

    make_picture();
    chunk = file_size - 12; /* in front of the end one that must be understood */
    memcpy(file + chunk + 13, file + chunk, 12);
    memcpy(file + chunk, "\0\0\0\1ABCDx", 9);
    mend_checksum(chunk);
    file_size += 13;
    check_damaged("the PNG is damaged: ABCD: unhandled critical chunk", HEIGHT);

    make_picture();
    file_size =
        find_pixels(SIZE_MAX) + 8; /* cut behind a header; all rows but those of a chunk or so */
    check_damaged("the PNG data end after row 1", HEIGHT - 10);

    make_picture();
    chunk = find_pixels(SIZE_MAX); /* a chunk of pixels that is missing */
    memmove(file + chunk, file + file_size - 12, 12);
    file_size = chunk + 12;
    check_damaged("the PNG data end after row 1", HEIGHT - 10);
}

/* Of an interlaced picture, too, all is decoded when the end of its stream is looked at. */
static void test_damaged_end_of_interlaced(void **state)
{
    (void)state;
    make_picture_of(PNG_INTERLACE_ADAM7);
    size_t chunk = find_pixels(SIZE_MAX);
    file[chunk + 8 + png_get_uint_32(file + chunk) - 1] ^= 1;
    mend_checksum(chunk);
    check_damaged("the PNG is damaged: IDAT: incorrect ", HEIGHT);

    make_picture_of(PNG_INTERLACE_ADAM7);
    chunk = find_pixels(SIZE_MAX);
    file_size = chunk + 8 + png_get_uint_32(file + chunk) - 4;
    check_damaged("the PNG file ends without its end marker (IEND)", HEIGHT);

    make_picture_of(PNG_INTERLACE_ADAM7);
    file_size = find_pixels(SIZE_MAX) + 8;
    check_damaged("the PNG data end early (interlaced): ", 0);
}

/* Whatever is wrong in the stream, it is said, and the rows before it are right when damage is
 * accepted. */
static void test_damaged_streams(void **state)
{
    (void)state;
    char text[512];
    GfStatus status;
    unsigned seed = 1;
    for (size_t i = 0; i < 500; i++) {
        make_picture();
        const size_t n = draw(&seed, 20), chunk = find_pixels(n);
        file[chunk + 8 + draw(&seed, png_get_uint_32(file + chunk))] ^=
            (unsigned char)(1u << draw(&seed, 8));
        mend_checksum(chunk);
        read_damaged(false, &status, text, sizeof text);
        assert_int_equal(status, GF_EINPUT);
        assert_null(strstr(text, "invalid block type"));
        const size_t right = read_damaged(true, &status, text, sizeof text);
        assert_int_equal(status, GF_OK);
        assert_non_null(strstr(text, "damage accepted"));
        assert_true(right + 10 >= n * 500 * 2 / 3 / ROW); /* deflated by a third at most */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_lines_end),
        cmocka_unit_test_setup_teardown(test_files, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_damaged_files, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_damaged_end_of_interlaced, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_damaged_streams, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
