/* The picture files: what is written comes back, what others write is read as the formats say, and
 * nothing damaged or hostile passes for a picture. Files are made by libpng and libjpeg directly or
 * byte by byte, so that reader and writer cannot agree on a mistake. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include "images/codecs.h"

enum { FILE_MAX = 1 << 16 };

static char folder[PATH_MAX];

/* A file's bytes, small enough for every test. */
typedef struct Bytes {
    size_t size;
    unsigned char data[FILE_MAX];
} Bytes;

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX + NAME_MAX + 2];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* A new file each time: ext4 writes a file that was cut to nothing to the disk as it is closed. */
static void save(const char *name, const void *data, size_t size)
{
    unlink(in_folder(name));
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void load(const char *name, Bytes *bytes)
{
    FILE *file = fopen(in_folder(name), "r");
    assert_non_null(file);
    bytes->size = fread(bytes->data, 1, sizeof bytes->data, file);
    fclose(file);
}

/* Reads all pictures of a file in bands of `rows`, one after another into `samples`, with guard
 * bytes behind every row. */
static GfStatus read_all(GfReader *reader, size_t rows, unsigned char *samples)
{
    enum { GUARD = 16 };
    size_t row_bytes = gf_row_bytes(&reader->format), stride = row_bytes + GUARD;
    unsigned char *block = malloc(rows * stride);
    GfStatus status = GF_OK;
    for (size_t i = 0; status == GF_OK && i < reader->pictures; i++) {
        for (size_t y = 0; status == GF_OK && y < reader->format.height; y += rows) {
            GfBand band = {y, gf_min(rows, reader->format.height - y), stride, block};
            memset(block, 0xa5, rows * stride);
            status = gf_reader_rows(reader, &band);
            for (size_t r = 0; r < band.rows; r++, samples += row_bytes) {
                memcpy(samples, block + r * stride, row_bytes);
                for (size_t g = 0; g < GUARD; g++)
                    assert_int_equal(block[r * stride + row_bytes + g], 0xa5);
            }
        }
    }
    free(block);
    return status == GF_OK ? gf_reader_finish(reader) : status;
}

/* Opens and reads; on success *reader is open and `samples` filled. */
static GfStatus read_file(const char *path, const GfReadOptions *options, size_t rows,
                          GfReader **reader, unsigned char *samples)
{
    GfStatus status = gf_reader_open(path, options, reader);
    if (status == GF_OK)
        status = read_all(*reader, rows, samples);
    if (status != GF_OK) {
        gf_reader_close(*reader);
        *reader = NULL;
    }
    return status;
}

/* The status of reading a small file to its end. */
static GfStatus verdict(const char *name, bool tolerant, unsigned char *samples)
{
    GfReader *reader;
    GfReadOptions options = gf_read_options_default();
    options.tolerant = tolerant;
    options.max_pixels = 4096;
    GfStatus status = read_file(in_folder(name), &options, 3, &reader, samples);
    gf_reader_close(reader);
    return status;
}

static void assert_reads_as(const char *name, GfFormat format, const void *expected)
{
    static unsigned char samples[FILE_MAX];
    GfReader *reader;
    GfReadOptions options = gf_read_options_default();
    for (size_t rows = 1; rows <= format.height; rows++) {
        assert_int_equal(read_file(in_folder(name), &options, rows, &reader, samples), GF_OK);
        assert_int_equal(reader->format.width, format.width);
        assert_int_equal(reader->format.height, format.height);
        assert_int_equal(reader->format.channels, format.channels);
        assert_int_equal(reader->format.has_alpha, format.has_alpha);
        assert_int_equal(reader->format.sample, format.sample);
        assert_memory_equal(samples, expected,
                            gf_row_bytes(&format) * format.height * reader->pictures);
        gf_reader_close(reader);
    }
}

static void assert_fails(const char *name, GfStatus status, const char *reason)
{
    static unsigned char samples[FILE_MAX];
    assert_int_equal(verdict(name, false, samples), status);
    if (!strstr(gf_message(), reason))
        fail_msg("\"%s\" does not say \"%s\"", gf_message(), reason);
    assert_null(strstr(gf_message(), name));
}

/* Writes pictures that follow one another in `samples`, in bands of `rows`, pictures taking turns.
 */
static GfStatus write_pictures(const char *name, const GfFormat *format, size_t pictures,
                               const GfMetadata *metadata, const GfWriteOptions *options,
                               size_t rows, const unsigned char *samples)
{
    GfOutput *output;
    GfWriter *writer;
    GfMetadata none = gf_metadata_none();
    GfWriteOptions usual = gf_write_options_default();
    size_t row_bytes = gf_row_bytes(format), picture_bytes = row_bytes * format->height;
    unsigned char *copy = malloc(rows * row_bytes);
    assert_int_equal(gf_output_open(in_folder(name), true, &output), GF_OK);
    GfStatus status =
        gf_writer_create(output, gf_codec_for_path(name), format, pictures,
                         metadata ? metadata : &none, options ? options : &usual, &writer);
    for (size_t y = 0; status == GF_OK && y < format->height; y += rows) {
        for (size_t i = 0; status == GF_OK && i < pictures; i++) {
            GfBand band = {y, gf_min(rows, format->height - y), row_bytes, copy};
            memcpy(copy, samples + i * picture_bytes + y * row_bytes, band.rows * row_bytes);
            status = gf_writer_rows(writer, i, &band);
        }
    }
    if (status == GF_OK)
        status = gf_writer_finish(writer);
    gf_writer_close(writer);
    free(copy);
    if (status == GF_OK)
        return gf_output_commit(&output);
    gf_output_discard(&output);
    return status;
}

static void fill(unsigned char *samples, size_t size)
{
    unsigned value = 12345;
    for (size_t i = 0; i < size; i++) {
        value = value * 1103515245u + 12345u;
        samples[i] = (unsigned char)(value >> 16);
    }
}

static void round_trip(const char *name, GfFormat format, size_t pictures)
{
    unsigned char samples[8192];
    size_t size = gf_row_bytes(&format) * format.height * pictures;
    assert_true(size <= sizeof samples);
    fill(samples, size);
    for (size_t rows = 1; rows <= format.height + 1; rows += 2) {
        assert_int_equal(write_pictures(name, &format, pictures, NULL, NULL, rows, samples), GF_OK);
        assert_reads_as(name, format, samples);
    }
}

/* Round trips. */

static void png_round_trips(void **state)
{
    (void)state;
    for (size_t channels = 1; channels <= 4; channels++) {
        bool alpha = channels % 2 == 0;
        round_trip("a.png", (GfFormat){7, 5, channels, alpha, GF_U8}, 1);
        round_trip("a.png", (GfFormat){7, 5, channels, alpha, GF_U16}, 1);
        round_trip("a.png", (GfFormat){1, 1, channels, alpha, GF_U8}, 1);
        round_trip("a.png", (GfFormat){1, 9, channels, alpha, GF_U16}, 1);
    }
}

static void npy_round_trips(void **state)
{
    (void)state;
    static const GfSample kinds[] = {GF_U8, GF_U16, GF_F32, GF_F64};
    for (size_t i = 0; i < 4; i++) {
        for (size_t channels = 1; channels <= 5; channels += 2) {
            round_trip("a.npy", (GfFormat){7, 5, channels, false, kinds[i]}, 1);
            round_trip("a.npy", (GfFormat){7, 5, channels, false, kinds[i]}, 3);
            round_trip("a.npy", (GfFormat){1, 1, channels, false, kinds[i]}, 2);
        }
    }
}

static void png_levels_give_the_same_picture(void **state)
{
    (void)state;
    unsigned char samples[64 * 9 * 3];
    GfFormat format = {64, 9, 3, false, GF_U8};
    fill(samples, sizeof samples);
    for (int level = 0; level <= 9; level++) {
        GfWriteOptions options = {.quality = 90, .compression = level};
        assert_int_equal(write_pictures("a.png", &format, 1, NULL, &options, 4, samples), GF_OK);
        assert_reads_as("a.png", format, samples);
    }
}

/* What another reader makes of our files. */

static void libpng_reads_what_is_written(void **state)
{
    (void)state;
    unsigned char samples[5 * 3 * 4], found[sizeof samples];
    GfFormat format = {5, 3, 4, true, GF_U8};
    png_image image = {.version = PNG_IMAGE_VERSION};
    fill(samples, sizeof samples);
    assert_int_equal(write_pictures("a.png", &format, 1, NULL, NULL, 2, samples), GF_OK);
    assert_true(png_image_begin_read_from_file(&image, in_folder("a.png")));
    image.format = PNG_FORMAT_RGBA;
    assert_true(png_image_finish_read(&image, NULL, found, 0, NULL));
    assert_memory_equal(found, samples, sizeof samples);
}

/* PNG stores the high byte first. */
static void png_16_bit_samples_are_stored_big_endian(void **state)
{
    (void)state;
    static const uint16_t samples[] = {0x0102, 0xfffe, 0x8000};
    GfFormat format = {3, 1, 1, false, GF_U16};
    assert_int_equal(
        write_pictures("a.png", &format, 1, NULL, NULL, 1, (const unsigned char *)samples), GF_OK);
    FILE *file = fopen(in_folder("a.png"), "r");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    assert_memory_equal(png_get_rows(png, info)[0], "\x01\x02\xff\xfe\x80\x00", 6);
    png_destroy_read_struct(&png, &info, NULL);
    fclose(file);
}

static void npy_files_are_exactly_these_bytes(void **state)
{
    (void)state;
    static const uint16_t samples[] = {0x0102, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0xfffe};
    static Bytes bytes;
    static const char text[] = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2, 3), }";
    GfFormat format = {3, 2, 2, false, GF_U16};
    assert_int_equal(
        write_pictures("a.npy", &format, 1, NULL, NULL, 1, (const unsigned char *)samples), GF_OK);
    load("a.npy", &bytes);
    assert_int_equal(bytes.size, 128 + 24);
    assert_memory_equal(bytes.data, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(bytes.data + 10, text, strlen(text));
    for (size_t i = 10 + strlen(text); i < 127; i++)
        assert_int_equal(bytes.data[i], ' ');
    assert_int_equal(bytes.data[127], '\n');
    /* The first plane is every other sample of the interleaved rows, then the second. */
    assert_memory_equal(bytes.data + 128, "\x02\x01\x03\0\x05\0\x07\0\x09\0\x0b\0", 12);
    assert_memory_equal(bytes.data + 140, "\x02\0\x04\0\x06\0\x08\0\x0a\0\xfe\xff", 12);
}

static int luma_sampling(const char *name)
{
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(in_folder(name), "r");
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_stdio_src(&info, file);
    jpeg_read_header(&info, TRUE);
    int sampling = info.comp_info[0].h_samp_factor * 10 + info.comp_info[0].v_samp_factor;
    jpeg_destroy_decompress(&info);
    fclose(file);
    return sampling;
}

static void jpeg_comes_back_nearly_the_same(void **state)
{
    (void)state;
    enum { WIDTH = 33, HEIGHT = 17 };
    unsigned char samples[WIDTH * HEIGHT * 3], found[sizeof samples];
    GfReadOptions options = gf_read_options_default();
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (unsigned char)(40 + i / 3 % WIDTH * 3 + i / 3 / WIDTH * 4 + i % 3 * 9);
    for (size_t channels = 1; channels <= 3; channels += 2) {
        for (int quality = 89; quality <= 100; quality += 11) {
            GfFormat format = {WIDTH, HEIGHT, channels, false, GF_U8};
            GfWriteOptions writing = {.quality = quality, .compression = -1};
            GfReader *reader;
            assert_int_equal(write_pictures("a.jpg", &format, 1, NULL, &writing, 5, samples),
                             GF_OK);
            assert_int_equal(read_file(in_folder("a.jpg"), &options, 4, &reader, found), GF_OK);
            assert_int_equal(reader->format.channels, channels);
            assert_int_equal(luma_sampling("a.jpg"), channels == 1 || quality >= 90 ? 11 : 22);
            for (size_t i = 0; i < WIDTH * HEIGHT * channels; i++)
                assert_true(abs(samples[i] - found[i]) <= (quality == 100 ? 3 : 24));
            gf_reader_close(reader);
        }
    }
}

/* Kinds of PNG that only others write. */

typedef struct PngMaking {
    int type, depth, interlace;
    png_color palette[4];
    unsigned char opacity[4];
    int colours, transparent;
    png_color_16 key;
    unsigned orientation;
} PngMaking;

static void make_png(const char *name, png_uint_32 width, png_uint_32 height, const PngMaking *how,
                     const unsigned char *rows, size_t row_bytes)
{
    FILE *file = fopen(in_folder(name), "w");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, how->depth, how->type, how->interlace, 0, 0);
    if (how->colours)
        png_set_PLTE(png, info, how->palette, how->colours);
    if (how->transparent)
        png_set_tRNS(png, info, how->colours ? how->opacity : NULL, how->transparent, &how->key);
    if (how->orientation) {
        unsigned char exif[] = "MM\0*\0\0\0\x08\0\3\1\x12\0\3\0\0\0\1\0\0\0\0"
                               "\1\x1a\0\5\0\0\0\1\0\0\0\x32\1\x1b\0\5\0\0\0\1\0\0\0\x3a"
                               "\0\0\0\0\0\0\0\x48\0\0\0\1\0\0\0\x90\0\0\0\1";
        exif[19] = (unsigned char)how->orientation;
        png_set_eXIf_1(png, info, sizeof exif - 1, exif);
        png_set_pHYs(png, info, 1000, 3000, PNG_RESOLUTION_METER);
    }
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < height; y++)
            png_write_row(png, rows + y * row_bytes);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

static void palettes_are_expanded(void **state)
{
    (void)state;
    PngMaking how = {.type = PNG_COLOR_TYPE_PALETTE,
                     .depth = 2,
                     .palette = {{1, 2, 3}, {40, 50, 60}, {7, 8, 9}, {255, 254, 253}},
                     .colours = 4};
    /* 0 1 2 / 3 3 0, two bits each, padded */
    static const unsigned char rows[] = {0x18, 0xf0};
    static const unsigned char rgb[] = {1,   2,   3,   40,  50,  60,  7, 8, 9,
                                        255, 254, 253, 255, 254, 253, 1, 2, 3};
    make_png("a.png", 3, 2, &how, rows, 1);
    assert_reads_as("a.png", (GfFormat){3, 2, 3, false, GF_U8}, rgb);
    how.transparent = 2;
    how.opacity[0] = 0;
    how.opacity[1] = 128;
    static const unsigned char rgba[] = {1,   2,   3,   0,   40,  50,  60,  128, 7, 8, 9, 255,
                                         255, 254, 253, 255, 255, 254, 253, 255, 1, 2, 3, 0};
    make_png("a.png", 3, 2, &how, rows, 1);
    assert_reads_as("a.png", (GfFormat){3, 2, 4, true, GF_U8}, rgba);
}

static void small_grays_are_spread_over_the_range(void **state)
{
    (void)state;
    PngMaking how = {.type = PNG_COLOR_TYPE_GRAY, .depth = 1};
    make_png("a.png", 4, 1, &how, (const unsigned char *)"\x50", 1);
    assert_reads_as("a.png", (GfFormat){4, 1, 1, false, GF_U8}, "\x00\xff\x00\xff");
    how.depth = 2;
    make_png("a.png", 4, 1, &how, (const unsigned char *)"\x1b", 1);
    assert_reads_as("a.png", (GfFormat){4, 1, 1, false, GF_U8}, "\x00\x55\xaa\xff");
    how.depth = 4;
    make_png("a.png", 3, 1, &how, (const unsigned char *)"\x01\xf0", 2);
    assert_reads_as("a.png", (GfFormat){3, 1, 1, false, GF_U8}, "\x00\x11\xff");
}

static void a_transparent_colour_becomes_opacity(void **state)
{
    (void)state;
    static const uint16_t gray[] = {0x1234, 0, 0x1235, 0xffff};
    static const unsigned char rgb[] = {1, 2, 3, 0, 1, 2, 4, 255};
    PngMaking how = {.type = PNG_COLOR_TYPE_GRAY, .depth = 16, .transparent = 1};
    how.key.gray = 0x1234;
    make_png("a.png", 2, 1, &how, (const unsigned char *)"\x12\x34\x12\x35", 4);
    assert_reads_as("a.png", (GfFormat){2, 1, 2, true, GF_U16}, gray);
    how = (PngMaking){.type = PNG_COLOR_TYPE_RGB, .depth = 8, .transparent = 1};
    how.key = (png_color_16){0, 1, 2, 3, 0};
    make_png("a.png", 2, 1, &how, (const unsigned char *)"\1\2\3\1\2\4", 6);
    assert_reads_as("a.png", (GfFormat){2, 1, 4, true, GF_U8}, rgb);
}

/* Its columns become rows, which have a limit. */
static void a_tall_picture_that_is_turned_is_a_wide_one(void **state)
{
    (void)state;
    static unsigned char rows[1001];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    options.max_memory = 16 * 1000;
    for (unsigned orientation = 1; orientation <= 8; orientation++) {
        PngMaking how = {.depth = 8, .orientation = orientation};
        make_png("a.png", 1, 1001, &how, rows, 1);
        assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader),
                         orientation >= 5 ? GF_ELIMIT : GF_OK);
        gf_reader_close(reader);
        make_png("a.png", 1, 1000, &how, rows, 1);
        assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_OK);
        gf_reader_close(reader);
    }
}

static void interlaced_pictures_take_a_buffer(void **state)
{
    (void)state;
    unsigned char samples[19 * 11 * 3];
    PngMaking how = {.type = PNG_COLOR_TYPE_RGB, .depth = 8, .interlace = PNG_INTERLACE_ADAM7};
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    fill(samples, sizeof samples);
    make_png("a.png", 19, 11, &how, samples, 19 * 3);
    assert_reads_as("a.png", (GfFormat){19, 11, 3, false, GF_U8}, samples);
    assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_OK);
    assert_false(reader->streams);
    assert_int_equal(reader->held, sizeof samples);
    gf_reader_close(reader);
    options.max_memory = 1024 * 16;
    assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_OK);
    gf_reader_close(reader);
    make_png("b.png", 200, 100, &(PngMaking){.depth = 8, .interlace = 1}, samples, 0);
    assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_ELIMIT);
    assert_null(reader);
}

/* What limits count is what is taken: padding is no more than the row. */
static void rows_of_narrow_pictures_lie_close(void **state)
{
    (void)state;
    for (size_t width = 1; width < 200; width++) {
        GfFormat format = {width, 3, 1, false, GF_U8};
        GfImage image;
        size_t bytes;
        assert_int_equal(gf_image_allocate(&format, &image), GF_OK);
        assert_true(gf_image_bytes(&format, &bytes));
        assert_int_equal(bytes, 3 * image.stride);
        assert_int_equal(image.stride, width < 64 ? width : (width + 63) / 64 * 64);
        gf_image_free(&image);
    }
    size_t bytes;
    assert_false(gf_image_bytes(&(GfFormat){SIZE_MAX - 8, 1, 1, false, GF_U8}, &bytes));
    assert_false(gf_image_bytes(&(GfFormat){SIZE_MAX / 4, 1, 1, false, GF_F64}, &bytes));
    assert_false(gf_image_bytes(&(GfFormat){SIZE_MAX / 4, 8, 1, false, GF_U8}, &bytes));
    unsigned char samples[65 * 8] = {0};
    make_png("a.png", 65, 8, &(PngMaking){.depth = 8, .interlace = 1}, samples, 65);
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_OK);
    assert_int_equal(reader->held, 128 * 8);
    gf_reader_close(reader);
}

/* Orientation. */

static void every_orientation_shows_the_right_pixels(void **state)
{
    (void)state;
    /* 1 2 3
     * 4 5 6 as stored; as shown by EXIF 2.32's corners of the 0th row and 0th column */
    static const struct {
        size_t width, height;
        unsigned char shown[7];
    } cases[] = {
        {3, 2, "\1\2\3\4\5\6"}, {3, 2, "\3\2\1\6\5\4"}, {3, 2, "\6\5\4\3\2\1"},
        {3, 2, "\4\5\6\1\2\3"}, {2, 3, "\1\4\2\5\3\6"}, {2, 3, "\4\1\5\2\6\3"},
        {2, 3, "\6\3\5\2\4\1"}, {2, 3, "\3\6\2\5\1\4"},
    };
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    for (int i = 0; i < 16; i++) {
        unsigned orientation = (unsigned)i % 8 + 1;
        PngMaking how = {.depth = 8, .orientation = orientation, .interlace = i / 8};
        size_t width = cases[orientation - 1].width, height = cases[orientation - 1].height;
        make_png("a.png", 3, 2, &how, (const unsigned char *)"\1\2\3\4\5\6", 3);
        assert_reads_as("a.png", (GfFormat){width, height, 1, false, GF_U8},
                        cases[orientation - 1].shown);
        assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_OK);
        assert_int_equal(reader->streams, orientation <= 2 && i < 8);
        assert_int_equal(gf_exif_orientation(&reader->metadata.exif), 1);
        assert_int_equal((int)reader->metadata.density_x, width == 3 ? 1000 : 3000);
        assert_int_equal((int)reader->metadata.density_y, width == 3 ? 3000 : 1000);
        /* XResolution is the fraction at 50, 72 / 1, or that at 58, 144 / 1. */
        assert_int_equal(reader->metadata.exif.data[33], width == 3 ? 50 : 58);
        assert_int_equal(reader->metadata.exif.data[45], width == 3 ? 58 : 50);
        gf_reader_close(reader);
    }
}

static void orientation_can_be_left_alone(void **state)
{
    (void)state;
    unsigned char samples[6];
    PngMaking how = {.depth = 8, .orientation = 6};
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    options.auto_orient = false;
    make_png("a.png", 3, 2, &how, (const unsigned char *)"\1\2\3\4\5\6", 3);
    assert_int_equal(read_file(in_folder("a.png"), &options, 1, &reader, samples), GF_OK);
    assert_memory_equal(samples, "\1\2\3\4\5\6", 6);
    assert_int_equal(gf_exif_orientation(&reader->metadata.exif), 6);
    assert_true(reader->streams);
    gf_reader_close(reader);
}

/* Larger than the tiles in which columns are walked, with every pixel size there is. */
static void turning_works_at_any_size(void **state)
{
    (void)state;
    enum { WIDTH = 70, HEIGHT = 131 };
    static unsigned char stored[WIDTH * HEIGHT * 8], shown[WIDTH * HEIGHT * 8];
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    GfReadOptions options = gf_read_options_default();
    for (size_t channels = 1; channels <= 4; channels++) {
        GfReader *reader;
        PngMaking how = {.type = types[channels - 1], .depth = 8, .orientation = 6};
        fill(stored, sizeof stored);
        make_png("a.png", WIDTH, HEIGHT, &how, stored, WIDTH * channels);
        assert_int_equal(read_file(in_folder("a.png"), &options, 7, &reader, shown), GF_OK);
        gf_reader_close(reader);
        for (size_t y = 0; y < WIDTH; y++) /* a quarter turn clockwise */
            for (size_t x = 0; x < HEIGHT; x++)
                assert_memory_equal(shown + (y * HEIGHT + x) * channels,
                                    stored + ((HEIGHT - 1 - x) * WIDTH + y) * channels, channels);
    }
}

/* Metadata. */

enum { PROFILE_SIZE = 512, PROFILE_TAG = 144 };

/* What libpng takes for a profile: a header and one tag, which is noise. */
static void make_profile(unsigned char *profile, const char *space)
{
    memset(profile, 0, PROFILE_SIZE);
    profile[2] = PROFILE_SIZE >> 8;
    memcpy(profile + 8, "\x02\x10\0\0mntr", 8);
    memcpy(profile + 16, space, 4);
    memcpy(profile + 20, "XYZ ", 4);
    memcpy(profile + 36, "acsp", 4);
    memcpy(profile + 68, "\0\0\xf6\xd6\0\x01\0\0\0\0\xd3\x2d", 12);
    memcpy(profile + 128, "\0\0\0\1desc\0\0\0\x90\0\0\x01\x70", 16);
    fill(profile + PROFILE_TAG, PROFILE_SIZE - PROFILE_TAG);
}

static void make_metadata(GfMetadata *metadata)
{
    static const unsigned char exif[] = "II*\0\x08\0\0\0\0\0\0\0\0";
    unsigned char profile[PROFILE_SIZE];
    make_profile(profile, "RGB ");
    *metadata = gf_metadata_none();
    assert_int_equal(gf_blob_set(&metadata->icc, profile, sizeof profile), GF_OK);
    assert_int_equal(gf_blob_set(&metadata->exif, exif, sizeof exif - 1), GF_OK);
    assert_int_equal(gf_metadata_add_text(metadata, "Comment", "a comment"), GF_OK);
    assert_int_equal(gf_metadata_add_text(metadata, "Title", "Gr\xc3\xbc\xc3\x9f"), GF_OK);
    assert_int_equal(gf_metadata_add_text(metadata, GF_XMP_KEYWORD, "<x:xmpmeta/>"), GF_OK);
    assert_int_equal(gf_metadata_add_text(metadata, "", "no keyword"), GF_OK);
    metadata->density_x = 300 / 0.0254;
    metadata->density_y = 150 / 0.0254;
}

static const char *text_of(const GfMetadata *metadata, const char *keyword)
{
    for (size_t i = 0; i < metadata->text_count; i++)
        if (strcmp(metadata->texts[i].keyword, keyword) == 0)
            return metadata->texts[i].text;
    return NULL;
}

static GfReader *write_with_metadata(const char *name, size_t channels, const GfMetadata *metadata)
{
    unsigned char samples[4 * 4 * 3] = {0};
    GfFormat format = {4, 4, channels, false, GF_U8};
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(write_pictures(name, &format, 1, metadata, NULL, 4, samples), GF_OK);
    assert_int_equal(read_file(in_folder(name), &options, 4, &reader, samples), GF_OK);
    return reader;
}

static void png_carries_metadata(void **state)
{
    (void)state;
    GfMetadata metadata;
    make_metadata(&metadata);
    metadata.gamma = 0.5;
    metadata.has_chromaticities = true;
    static const double xy[] = {0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06};
    memcpy(metadata.chromaticities, xy, sizeof xy);
    GfReader *reader = write_with_metadata("a.png", 3, &metadata);
    const GfMetadata *found = &reader->metadata;
    assert_int_equal(found->icc.size, PROFILE_SIZE);
    assert_memory_equal(found->icc.data, metadata.icc.data, PROFILE_SIZE);
    assert_int_equal(found->exif.size, metadata.exif.size);
    assert_memory_equal(found->exif.data, metadata.exif.data, metadata.exif.size);
    assert_int_equal(found->density_x, 11811); /* PNG has whole pixels a metre */
    assert_int_equal(found->density_y, 5906);
    assert_false(found->density_is_aspect);
    assert_int_equal(found->text_count, 3);
    assert_string_equal(text_of(found, "Comment"), "a comment");
    assert_string_equal(text_of(found, "Title"), "Gr\xc3\xbc\xc3\x9f");
    assert_string_equal(text_of(found, GF_XMP_KEYWORD), "<x:xmpmeta/>");
    assert_true(found->gamma > 0.49999 && found->gamma < 0.50001);
    assert_true(found->has_chromaticities);
    for (size_t i = 0; i < 8; i++)
        assert_true(found->chromaticities[i] > xy[i] - 1e-5 &&
                    found->chromaticities[i] < xy[i] + 1e-5);
    gf_reader_close(reader);
    gf_metadata_free(&metadata);
}

static void jpeg_carries_metadata(void **state)
{
    (void)state;
    GfMetadata metadata;
    make_metadata(&metadata);
    GfReader *reader = write_with_metadata("a.jpg", 3, &metadata);
    const GfMetadata *found = &reader->metadata;
    assert_int_equal(found->icc.size, PROFILE_SIZE);
    assert_memory_equal(found->icc.data, metadata.icc.data, PROFILE_SIZE);
    assert_int_equal(found->exif.size, metadata.exif.size);
    assert_memory_equal(found->exif.data, metadata.exif.data, metadata.exif.size);
    assert_true(found->density_x > 11811 && found->density_x < 11811.1);
    assert_true(found->density_y > 5905 && found->density_y < 5906);
    assert_string_equal(text_of(found, "Comment"), "a comment");
    assert_string_equal(found->texts[1].text, "Title: Gr\xc3\xbc\xc3\x9f");
    assert_string_equal(text_of(found, GF_XMP_KEYWORD), "<x:xmpmeta/>");
    gf_reader_close(reader);
    gf_metadata_free(&metadata);
}

static void srgb_and_aspect_survive(void **state)
{
    (void)state;
    GfMetadata metadata = gf_metadata_none();
    metadata.srgb_intent = 2;
    metadata.density_x = 2;
    metadata.density_y = 3;
    metadata.density_is_aspect = true;
    GfReader *reader = write_with_metadata("a.png", 3, &metadata);
    assert_int_equal(reader->metadata.srgb_intent, 2);
    assert_true(reader->metadata.density_is_aspect);
    assert_int_equal(reader->metadata.density_y, 3);
    gf_reader_close(reader);
    reader = write_with_metadata("a.jpg", 3, &metadata);
    assert_true(reader->metadata.density_is_aspect);
    assert_int_equal(reader->metadata.density_x, 2);
    gf_reader_close(reader);
}

static void a_profile_of_other_colours_is_left_out(void **state)
{
    (void)state;
    GfMetadata metadata;
    make_metadata(&metadata);
    GfReader *reader = write_with_metadata("a.png", 1, &metadata);
    assert_null(reader->metadata.icc.data);
    gf_reader_close(reader);
    reader = write_with_metadata("a.jpg", 1, &metadata);
    assert_null(reader->metadata.icc.data);
    gf_reader_close(reader);
    for (size_t channels = 1; channels <= 3; channels += 2) { /* and that is told */
        const GfFormat format = {4, 4, channels, false, GF_U8};
        const GfWriteOptions options = {.quality = 90};
        GfOutput *output;
        GfWriter *writer;
        assert_int_equal(gf_output_open(in_folder("b.jpg"), true, &output), GF_OK);
        assert_int_equal(gf_writer_create(output, gf_codec_for_path("b.jpg"), &format, 1, &metadata,
                                          &options, &writer),
                         GF_OK);
        assert_int_equal(writer->note != NULL, channels == 1);
        gf_writer_close(writer);
        gf_output_discard(&output);
    }
    gf_metadata_free(&metadata);
}

/* libpng takes no profile with bytes behind it. */
static void padding_behind_a_profile_is_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg"};
    unsigned char padded[PROFILE_SIZE + 4] = {0};
    GfMetadata metadata = gf_metadata_none();
    make_profile(padded, "RGB ");
    for (size_t pad = 1; pad <= 4; pad++)
        for (size_t i = 0; i < 2; i++) {
            metadata.icc = (GfBlob){padded, PROFILE_SIZE + pad};
            GfReader *reader = write_with_metadata(names[i], 3, &metadata);
            assert_int_equal(reader->metadata.icc.size, PROFILE_SIZE);
            assert_memory_equal(reader->metadata.icc.data, padded, PROFILE_SIZE);
            gf_reader_close(reader);
        }
}

/* Version 4 of profiles, which libpng takes only where their length is a multiple of four. */
static void a_profile_of_odd_length_is_kept(void **state)
{
    (void)state;
    unsigned char odd[PROFILE_SIZE + 4] = {0};
    GfMetadata metadata = gf_metadata_none();
    for (size_t size = PROFILE_SIZE + 1; size <= PROFILE_SIZE + 4; size++) {
        make_profile(odd, "RGB ");
        odd[3] = (unsigned char)(size - PROFILE_SIZE);
        odd[8] = 4;
        odd[size - 1] = 7;
        metadata.icc = (GfBlob){odd, size};
        GfReader *reader = write_with_metadata("a.png", 3, &metadata);
        const GfBlob *found = &reader->metadata.icc;
        assert_int_equal(found->size, PROFILE_SIZE + 4);
        assert_memory_equal(found->data, "\0\0\2\4", 4);
        assert_memory_equal(found->data + 4, odd + 4, 80);
        assert_memory_equal(found->data + 100, odd + 100, size - 100);
        for (size_t i = size; i < found->size; i++)
            assert_int_equal(found->data[i], 0);
        assert_string_equal(reader->note, "");
        gf_reader_close(reader);
        reader = write_with_metadata("a.jpg", 3, &metadata);
        assert_int_equal(reader->metadata.icc.size, size);
        assert_memory_equal(reader->metadata.icc.data, odd, size);
        gf_reader_close(reader);
    }
}

/* A block of Photoshop's with IPTC in it: `size` bytes, in one segment of JPEG or in several. */
static void jpeg_carries_photoshops_block(void **state)
{
    (void)state;
    static unsigned char block[200000] = "8BIM\4\4\0\0";
    enum { ROOM = 65533 - 14 }; /* of a segment */
    static const size_t sizes[] = {1, 38, ROOM, ROOM + 1, 2 * ROOM, 200000};
    GfMetadata metadata = gf_metadata_none();
    fill(block + 8, sizeof block - 8);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        metadata.photoshop = (GfBlob){block, sizes[i]};
        GfReader *reader = write_with_metadata("a.jpg", 3, &metadata);
        assert_int_equal(reader->metadata.photoshop.size, sizes[i]);
        assert_memory_equal(reader->metadata.photoshop.data, block, sizes[i]);
        gf_reader_close(reader);
        gf_reader_close(write_with_metadata("a.png", 3, &metadata)); /* which has no place for it */
    }
}

/* Segments byte by byte: two of a block, one of another program, one that is empty, a comment. */
static void photoshops_block_is_put_together(void **state)
{
    (void)state;
    static const char segments[] = "\xff\xed\0\x14Photoshop 3.0\0ABCD"
                                   "\xff\xed\0\x13Photoshop 2.5\0xyz"
                                   "\xff\xed\0\x10Photoshop 3.0\0"
                                   "\xff\xfe\0\x13Photoshop 3.0\0xyz"
                                   "\xff\xed\0\x12Photoshop 3.0\0EF";
    enum { SOI = 2 };
    static Bytes bytes;
    static unsigned char file[FILE_MAX];
    GfReadOptions options = gf_read_options_default();
    GfMetadata none = gf_metadata_none();
    GfReader *reader = write_with_metadata("a.jpg", 3, &none);
    gf_reader_close(reader);
    load("a.jpg", &bytes);
    memcpy(file, bytes.data, SOI);
    memcpy(file + SOI, segments, sizeof segments - 1);
    memcpy(file + SOI + sizeof segments - 1, bytes.data + SOI, bytes.size - SOI);
    save("b.jpg", file, bytes.size + sizeof segments - 1);
    assert_int_equal(gf_reader_open(in_folder("b.jpg"), &options, &reader), GF_OK);
    assert_int_equal(reader->metadata.photoshop.size, 6);
    assert_memory_equal(reader->metadata.photoshop.data, "ABCDEF", 6);
    gf_reader_close(reader);
}

/* EXIF in big-endian order by hand: IFD0 with orientation 6 and the way to the camera's directory,
 * there a width of 9 (a SHORT) and a height of 8 (a LONG). */
static void a_turned_picture_says_nothing_of_its_turn(void **state)
{
    (void)state;
    static unsigned char exif[] = "MM\0*\0\0\0\x08\0\2"
                                  "\x01\x12\0\3\0\0\0\1\0\6\0\0"
                                  "\x87\x69\0\4\0\0\0\1\0\0\0\x26\0\0\0\0"
                                  "\0\2"
                                  "\xa0\x02\0\3\0\0\0\1\0\x09\0\0"
                                  "\xa0\x03\0\4\0\0\0\1\0\0\0\x08\0\0\0\0";
    enum { SIZE = sizeof exif - 1, TURN = 8 + 2 + 9, WIDTH = 0x26 + 2 + 9, HEIGHT = WIDTH + 14 };
    static const char *const names[] = {"a.jpg", "a.png"};
    unsigned char samples[9 * 8] = {0}, expected[SIZE];
    GfReadOptions options = gf_read_options_default();
    for (size_t i = 0; i < 2; i++) {
        GfMetadata metadata = gf_metadata_none();
        GfReader *stored, *shown;
        GfFormat format = {9, 8, 1, false, GF_U8};
        metadata.exif = (GfBlob){exif, SIZE};
        memcpy(expected, exif, SIZE);
        GfText xmp = {.keyword = (char[]){GF_XMP_KEYWORD},
                      .text = (char[]){"<x tiff:Orientation=\"6\"/>"}};
        metadata.texts = &xmp;
        metadata.text_count = 1;
        assert_int_equal(write_pictures(names[i], &format, 1, &metadata, NULL, 8, samples), GF_OK);
        assert_int_equal(gf_reader_open(in_folder(names[i]), &options, &stored), GF_OK);
        assert_int_equal(stored->format.width, 8);
        assert_int_equal(stored->format.height, 9);
        assert_string_equal(text_of(&stored->metadata, GF_XMP_KEYWORD),
                            "<x tiff:Orientation=\"1\"/>");
        assert_int_equal(
            write_pictures(names[i], &stored->format, 1, &stored->metadata, NULL, 9, samples),
            GF_OK);
        assert_int_equal(gf_reader_open(in_folder(names[i]), &options, &shown), GF_OK);
        expected[TURN] = 1;
        expected[WIDTH] = 8;
        expected[HEIGHT] = 9;
        assert_int_equal(shown->metadata.exif.size, SIZE);
        assert_memory_equal(shown->metadata.exif.data, expected, SIZE);
        assert_int_equal(exif[WIDTH], 9); /* the caller's are left alone */
        gf_reader_close(stored);
        gf_reader_close(shown);
    }
}

static void exif_too_long_for_jpeg_is_left_out(void **state)
{
    (void)state;
    static unsigned char exif[65600] = "II*\0";
    GfMetadata metadata = gf_metadata_none();
    metadata.exif = (GfBlob){exif, 65533 - 6};
    GfReader *reader = write_with_metadata("a.jpg", 3, &metadata);
    assert_int_equal(reader->metadata.exif.size, 65527);
    gf_reader_close(reader);
    metadata.exif.size++;
    reader = write_with_metadata("a.jpg", 3, &metadata);
    assert_null(reader->metadata.exif.data);
    gf_reader_close(reader);
}

/* Damage. */

/* One small file of each kind, with metadata where it holds any. */
static void make_small(const char *name, Bytes *bytes)
{
    unsigned char samples[9 * 8 * 3];
    GfFormat format = {9, 8, 3, false, GF_U8};
    GfMetadata metadata;
    make_metadata(&metadata);
    fill(samples, sizeof samples);
    assert_int_equal(write_pictures(name, &format, 1, &metadata, NULL, 8, samples), GF_OK);
    gf_metadata_free(&metadata);
    load(name, bytes);
    assert_int_equal(verdict(name, false, samples), GF_OK);
}

static void a_file_cut_anywhere_is_an_error(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.npy"};
    static unsigned char samples[FILE_MAX];
    static Bytes bytes;
    for (size_t i = 0; i < 3; i++) {
        make_small(names[i], &bytes);
        for (size_t size = 0; size < bytes.size; size++) {
            save(names[i], bytes.data, size);
            assert_int_equal(verdict(names[i], false, samples), GF_EINPUT);
            assert_true(gf_message()[0] != '\0');
            verdict(names[i], true, samples);
        }
        save(names[i], bytes.data, bytes.size);
        assert_int_equal(verdict(names[i], false, samples), GF_OK);
    }
}

/* PNG has a checksum over everything: a changed byte is found, or lies in a chunk that does not
 * matter. The others must only not crash. */
static void a_changed_byte_never_changes_a_png(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.npy"};
    static unsigned char samples[FILE_MAX], right[9 * 8 * 3];
    static Bytes bytes;
    for (size_t i = 0; i < 3; i++) {
        make_small(names[i], &bytes);
        assert_int_equal(verdict(names[i], false, right), GF_OK);
        for (size_t at = 0; at < bytes.size; at++) {
            bytes.data[at] ^= (unsigned char)(1u << at % 8);
            save(names[i], bytes.data, bytes.size);
            GfStatus status = verdict(names[i], false, samples);
            assert_true(status == GF_OK || status == GF_EINPUT || status == GF_ELIMIT);
            if (i == 0 && status == GF_OK)
                assert_memory_equal(samples, right, sizeof right);
            verdict(names[i], true, samples);
            bytes.data[at] ^= (unsigned char)(1u << at % 8);
        }
    }
}

static void tolerance_keeps_what_was_decoded(void **state)
{
    (void)state;
    static Bytes bytes;
    static unsigned char right[64 * 64], found[64 * 64];
    GfFormat format = {64, 64, 1, false, GF_U8};
    GfWriteOptions stored = {.quality = 90, .compression = 0};
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    fill(right, sizeof right);
    assert_int_equal(write_pictures("a.png", &format, 1, NULL, &stored, 64, right), GF_OK);
    load("a.png", &bytes);
    save("a.png", bytes.data, bytes.size / 2);
    assert_fails("a.png", GF_EINPUT, " of 64");
    options.tolerant = true;
    assert_int_equal(read_file(in_folder("a.png"), &options, 5, &reader, found), GF_OK);
    assert_non_null(strstr(reader->note, "damage accepted: the PNG data end after row "));
    gf_reader_close(reader);
    assert_memory_equal(found, right, 64 * 28); /* half the file is nearly half the rows */
    for (size_t i = 64 * 33; i < sizeof found; i++)
        assert_int_equal(found[i], 0);
    assert_int_equal(write_pictures("a.jpg", &format, 1, NULL, NULL, 64, right), GF_OK);
    load("a.jpg", &bytes);
    save("a.jpg", bytes.data, bytes.size - 2);
    assert_fails("a.jpg", GF_EINPUT, "the JPEG ");
    assert_int_equal(read_file(in_folder("a.jpg"), &options, 5, &reader, found), GF_OK);
    assert_non_null(strstr(reader->note, "damage accepted"));
    gf_reader_close(reader);
}

static void bytes_after_the_end_are_ignored(void **state)
{
    (void)state;
    static Bytes bytes;
    static unsigned char samples[FILE_MAX];
    static const char *const names[] = {"a.png", "a.jpg"};
    for (size_t i = 0; i < 2; i++) {
        make_small(names[i], &bytes);
        size_t once = bytes.size;
        memcpy(bytes.data + once, bytes.data, once);
        save(names[i], bytes.data, 2 * once);
        assert_int_equal(verdict(names[i], false, samples), GF_OK);
        memset(bytes.data + once, 0x55, 100);
        save(names[i], bytes.data, once + 100);
        assert_int_equal(verdict(names[i], false, samples), GF_OK);
    }
}

static void what_is_no_picture_is_said(void **state)
{
    (void)state;
    save("empty.png", "", 0);
    assert_fails("empty.png", GF_EINPUT, "empty");
    save("text.png", "hello, this is no picture", 25);
    assert_fails("text.png", GF_EINPUT, "not a PNG");
    assert_fails("missing", GF_EREAD, "No such file");
    assert_fails(".", GF_EREAD, "directory");
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(gf_reader_open("/dev/null", &options, &reader), GF_EREAD);
}

/* Ancillary chunks of PNG, put in after IHDR. */

static void store_be32(unsigned char *to, unsigned long value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static size_t chunk(unsigned char *to, const char *name, const void *data, size_t size)
{
    store_be32(to, size);
    memcpy(to + 4, name, 4);
    memcpy(to + 8, data, size);
    store_be32(to + 8 + size, crc32(0, to + 4, (uInt)size + 4));
    return size + 12;
}

/* ImageMagick writes its text there. */
static void metadata_behind_the_pixels_is_found(void **state)
{
    (void)state;
    static const char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    enum { IEND = 12 };
    static Bytes bytes;
    unsigned char file[4096];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    make_png("a.png", 3, 2, &(PngMaking){.depth = 8}, (const unsigned char *)"\1\2\3\4\5\6", 3);
    load("a.png", &bytes);
    size_t size = bytes.size - IEND;
    memcpy(file, bytes.data, size);
    size += chunk(file + size, "tEXt", "Author\0me", 9);
    size += chunk(file + size, "tIME", "\x07\xe5\x0d\x20\x18\x3c\x3c", 7);
    size += chunk(file + size, "eXIf", exif, sizeof exif - 1);
    size += chunk(file + size, "IEND", "", 0);
    save("b.png", file, size);
    assert_reads_as("b.png", (GfFormat){2, 3, 1, false, GF_U8}, "\4\1\5\2\6\3");
    assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_OK);
    assert_string_equal(text_of(&reader->metadata, "Author"), "me");
    gf_reader_close(reader);
    /* A length that leads out of the file, and a file that is cut, hold none, and are as bad as
     * ever. */
    file[bytes.size - IEND] = 0x7f;
    save("b.png", file, size);
    assert_fails("b.png", GF_EINPUT, "end marker");
}

static void exif_behind_many_texts_is_found(void **state)
{
    (void)state;
    enum { IEND = 12, TEXTS = 1000 };
    static const char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    static Bytes bytes;
    static unsigned char file[FILE_MAX];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    make_png("a.png", 3, 2, &(PngMaking){.depth = 8}, (const unsigned char *)"\1\2\3\4\5\6", 3);
    load("a.png", &bytes);
    for (int surplus = 0; surplus < 2; surplus++) {
        size_t size = bytes.size - IEND;
        memcpy(file, bytes.data, size);
        for (int i = 0; i < TEXTS + surplus; i++)
            size += chunk(file + size, "tEXt", "K\0x", 3);
        size += chunk(file + size, "eXIf", "II*\0", 4);
        file[size - 1] ^= 1; /* damaged: the next one counts */
        size += chunk(file + size, "eXIf", exif, sizeof exif - 1);
        size += chunk(file + size, "eXIf", "II*\0", 4);
        size += chunk(file + size, "IEND", "", 0);
        save("b.png", file, size);
        assert_reads_as("b.png", (GfFormat){2, 3, 1, false, GF_U8}, "\4\1\5\2\6\3");
        assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_OK);
        assert_int_equal(reader->metadata.text_count, TEXTS);
        assert_int_equal(reader->metadata.exif.size, sizeof exif - 1);
        gf_reader_close(reader);
    }
}

/* Messages speak of the rows that are stored. */
static void a_turned_picture_without_end_marker_is_told_so(void **state)
{
    (void)state;
    enum { IEND = 12, EOI = 2 };
    static unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    static Bytes bytes;
    unsigned char samples[9 * 8] = {0};
    GfMetadata metadata = gf_metadata_none();
    metadata.exif = (GfBlob){exif, sizeof exif - 1};
    GfFormat format = {9, 8, 1, false, GF_U8};
    assert_int_equal(write_pictures("a.png", &format, 1, &metadata, NULL, 8, samples), GF_OK);
    load("a.png", &bytes);
    save("a.png", bytes.data, bytes.size - IEND);
    assert_fails("a.png", GF_EINPUT, "the PNG file ends without its end marker (IEND)");
    assert_int_equal(write_pictures("a.jpg", &format, 1, &metadata, NULL, 8, samples), GF_OK);
    load("a.jpg", &bytes);
    memcpy(bytes.data + bytes.size - EOI, "\xff\xfe\0\x10", 4); /* a comment begins */
    save("a.jpg", bytes.data, bytes.size - EOI + 4);
    assert_fails("a.jpg", GF_EINPUT, "the JPEG file ends without its end marker (EOI)");
}

/* The second tEXt is two letters in Latin-1, and would be one in UTF-8. */
static void texts_keep_their_encoding_and_language(void **state)
{
    (void)state;
    static const struct {
        const char *name, *data;
        size_t size;
    } chunks[] = {
        {"tEXt",
         "A\0Gr\xfc\xdf"
         "e",
         7},
        {"tEXt", "B\0\xc3\xa9", 4},
        {"iTXt", "C\0\0\0\0\0\xc3\xa9", 8},
        {"iTXt", "D\0\0\0\0\0\xc3", 7}, /* not well-formed */
        {"iTXt", "E\0\0\0de\0Titel\0ascii", 18},
        {"iTXt", "F\0\0\0\0\xc3\x9c\0", 8},
    };
    enum { COUNT = sizeof chunks / sizeof chunks[0], AFTER_IHDR = 8 + 25 };
    static Bytes bytes;
    unsigned char file[4096], expected[COUNT][64];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    size_t size = AFTER_IHDR, sizes[COUNT];
    make_png("a.png", 3, 2, &(PngMaking){.depth = 8}, (const unsigned char *)"\1\2\3\4\5\6", 3);
    load("a.png", &bytes);
    memcpy(file, bytes.data, AFTER_IHDR);
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = chunk(expected[i], chunks[i].name, chunks[i].data, chunks[i].size);
        memcpy(file + size, expected[i], sizes[i]);
        size += sizes[i];
    }
    memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
    save("b.png", file, size + bytes.size - AFTER_IHDR);
    assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_OK);
    gf_reader_close(write_with_metadata("c.png", 3, &reader->metadata));
    gf_reader_close(reader);
    load("c.png", &bytes);
    for (size_t i = 0; i < COUNT; i++)
        assert_non_null(memmem(bytes.data, bytes.size, expected[i], sizes[i]));
}

static void damaged_ancillary_chunks_do_no_harm(void **state)
{
    (void)state;
    enum { AFTER_IHDR = 8 + 25, MANY = 3000, BOMB = 64 << 20 };
    static unsigned char samples[FILE_MAX];
    static Bytes bytes;
    make_small("a.png", &bytes);
    unsigned char *file = malloc(1 << 20), *zeros = calloc(1, BOMB);
    size_t size = AFTER_IHDR;
    memcpy(file, bytes.data, AFTER_IHDR);
    size += chunk(file + size, "tIME", "\x07\xe5\x0d\x20\x18\x3c\x3c", 7); /* no such day */
    size += chunk(file + size, "pHYs", "short", 5);
    size += chunk(file + size, "iCCP", "p\0\0garbage", 10);
    size += chunk(file + size, "eXIf", "nothing", 7);
    size += chunk(file + size, "tEXt", "Bad\0checksum", 12);
    file[size - 1] ^= 1;
    memcpy(file + size, "Bomb\0\0", 6);
    uLongf packed = 1 << 19;
    unsigned char *bomb = malloc(packed + 6);
    memcpy(bomb, "Bomb\0", 6);
    assert_int_equal(compress(bomb + 6, &packed, zeros, BOMB), Z_OK);
    size += chunk(file + size, "zTXt", bomb, packed + 6);
    for (int i = 0; i < MANY; i++)
        size += chunk(file + size, "tEXt", "Many\0text", 9);
    memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
    save("b.png", file, size + bytes.size - AFTER_IHDR);
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(read_file(in_folder("b.png"), &options, 3, &reader, samples), GF_OK);
    assert_null(text_of(&reader->metadata, "Bad"));
    assert_null(text_of(&reader->metadata, "Bomb"));
    assert_string_equal(text_of(&reader->metadata, "Many"), "text");
    assert_true(reader->metadata.text_count <= 1000);
    gf_reader_close(reader);
    /* A length of 2 GB in a file of a few bytes. */
    memcpy(file + AFTER_IHDR, "\x7f\xff\xff\xfftEXtKey", 12);
    save("b.png", file, AFTER_IHDR + 12);
    assert_fails("b.png", GF_EINPUT, "ends before its picture");
    free(bomb);
    free(zeros);
    free(file);
}

/* iCCP's content of a profile of `space`, beside which PNG has the picture in colour. */
static size_t deflated_profile(unsigned char *to, const char *space)
{
    unsigned char profile[PROFILE_SIZE];
    uLongf packed = 1024;
    make_profile(profile, space);
    memcpy(to, "p\0", 3);
    assert_int_equal(compress(to + 3, &packed, profile, PROFILE_SIZE), Z_OK);
    return 3 + packed;
}

#define D65_P3                                                                                     \
    "\0\0\x7a\x26\0\0\x80\x84\0\1\x09\xa0\0\0\x7d\0\0\0\x67\x84\0\1\x0d\x88\0\0\x3a\x98\0\0\x17"   \
    "\x70"

/* The first of each that is whole and makes sense counts, and nothing else is lost by the rest.
 * Letters: P a profile, Q one of gray; S and T sRGB of intents 0 and 3, U of 4, which is none; G
 * and H gAMA of 1 and 0.45455, Z of 0; C cHRM of Display P3 and D65, 0 of zeros; - spoils the
 * checksum of the one before. With sRGB go its gamma and primaries, as PNG 1.2, 4.2.2.3 has them.
 */
static void colours_survive_odd_chunks(void **state)
{
    (void)state;
    enum { SIGNATURE = 8, AFTER_IHDR = SIGNATURE + 25 };
    static const struct {
        const char *chunks;
        bool profile;
        int intent, gamma; /* gamma in 1/100000 */
        double red;        /* its x; 0: no primaries */
    } cases[] = {
        {"P", true, -1, 0, 0},          {"SP", true, 0, 45455, 0.64},
        {"PS", true, 0, 45455, 0.64},   {"PGG", true, -1, 100000, 0},
        {"P0", true, -1, 0, 0},         {"0GP", true, -1, 100000, 0},
        {"PP", true, -1, 0, 0},         {"PQ", true, -1, 0, 0},
        {"GH", false, -1, 100000, 0},   {"HG", false, -1, 45455, 0},
        {"G-H", false, -1, 45455, 0},   {"ZH", false, -1, 45455, 0},
        {"G0", false, -1, 100000, 0},   {"0C", false, -1, 0, 0.68},
        {"C0", false, -1, 0, 0.68},     {"C-G", false, -1, 100000, 0},
        {"CC", false, -1, 0, 0.68},     {"UT", false, 3, 45455, 0.64},
        {"TS", false, 3, 45455, 0.64},  {"S-", false, -1, 0, 0},
        {"GSC", false, 0, 45455, 0.64}, {"HC", false, -1, 45455, 0.68},
        {"N0", false, -1, 0, 0},        {"NIG", false, -1, 100000, 0},
    };
    static const char zeros[32], impossible[32] = {[3] = 1, [7] = 2, [11] = 3, [15] = 4};
    static const struct {
        char letter;
        const char *name, *data;
        size_t size;
    } known[] = {{'S', "sRGB", "\0", 1},           {'T', "sRGB", "\3", 1},
                 {'U', "sRGB", "\4", 1},           {'G', "gAMA", "\0\1\x86\xa0", 4},
                 {'H', "gAMA", "\0\0\xb1\x8f", 4}, {'Z', "gAMA", "\0\0\0\0", 4},
                 {'C', "cHRM", D65_P3, 32},        {'0', "cHRM", zeros, 32},
                 {'I', "cHRM", impossible, 32},    {'N', "tRNS", "", 0}};
    static Bytes bytes;
    unsigned char file[4096], deflated[2048];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    make_png("a.png", 1, 1, &(PngMaking){.type = PNG_COLOR_TYPE_RGB, .depth = 8},
             (const unsigned char *)"\1\2\3", 3);
    load("a.png", &bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = AFTER_IHDR;
        memcpy(file, bytes.data, size);
        for (const char *c = cases[i].chunks; *c; c++) {
            if (*c == 'P' || *c == 'Q')
                size += chunk(file + size, "iCCP", deflated,
                              deflated_profile(deflated, *c == 'P' ? "RGB " : "GRAY"));
            for (size_t k = 0; k < sizeof known / sizeof *known; k++)
                if (known[k].letter == *c)
                    size += chunk(file + size, known[k].name, known[k].data, known[k].size);
            file[size - 1] ^= *c == '-';
        }
        memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
        save("b.png", file, size + bytes.size - AFTER_IHDR);
        assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_OK);
        const GfMetadata *found = &reader->metadata;
        assert_int_equal(found->icc.size, cases[i].profile ? PROFILE_SIZE : 0);
        assert_int_equal(found->srgb_intent, cases[i].intent);
        assert_int_equal(found->gamma * 1e5 + 0.5, cases[i].gamma);
        assert_int_equal(found->has_chromaticities, cases[i].red > 0);
        assert_true(cases[i].red == 0 || found->chromaticities[2] == cases[i].red);
        assert_string_equal(reader->note, "");
        GfReader *again = write_with_metadata("c.png", 3, found);
        assert_int_equal(again->metadata.icc.size, found->icc.size);
        assert_int_equal(again->metadata.gamma * 1e5 + 0.5, cases[i].gamma);
        assert_int_equal(again->metadata.has_chromaticities, found->has_chromaticities);
        gf_reader_close(again);
        gf_reader_close(reader);
    }
    size_t size = SIGNATURE + chunk(file + SIGNATURE, "gAMA", "\0\1\x86\xa0", 4);
    memcpy(file + size, bytes.data + SIGNATURE, bytes.size - SIGNATURE);
    save("b.png", file, size + bytes.size - SIGNATURE);
    assert_fails("b.png", GF_EINPUT, "IHDR");
}

static void a_profile_that_libpng_refuses_is_told(void **state)
{
    (void)state;
    enum { AFTER_IHDR = 8 + 25 };
    static Bytes bytes;
    unsigned char file[4096], deflated[2048];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    make_png("a.png", 1, 1, &(PngMaking){.type = PNG_COLOR_TYPE_RGB, .depth = 8},
             (const unsigned char *)"\1\2\3", 3);
    load("a.png", &bytes);
    for (int gray = 0; gray < 2; gray++) { /* one that is no profile, and one of other colours */
        size_t size = AFTER_IHDR, length = 10;
        memcpy(file, bytes.data, size);
        memcpy(deflated, "p\0\0garbage", 11);
        if (gray)
            length = deflated_profile(deflated, "GRAY");
        size += chunk(file + size, "iCCP", deflated, length);
        size += chunk(file + size, "gAMA", "\0\1\x86\xa0", 4);
        memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
        save("b.png", file, size + bytes.size - AFTER_IHDR);
        assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_OK);
        assert_string_equal(reader->note,
                            "its colour profile is left out: libpng does not accept it");
        assert_null(reader->metadata.icc.data);
        assert_true(reader->metadata.gamma == 1.0);
        gf_reader_close(reader);
    }
}

/* Some writers put JPEG's prefix before the block. */
static void exif_with_a_prefix_is_read(void **state)
{
    (void)state;
    enum { SIGNATURE = 8, AFTER_IHDR = SIGNATURE + 25, PREFIX = 6, BLOCK = 26 };
    static const unsigned char exif[] =
        "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0";
    static const struct {
        size_t from, size;
        bool flip, found;
    } cases[] = {
        {0, PREFIX + BLOCK, false, true}, {PREFIX, BLOCK, false, true},
        {0, PREFIX + BLOCK, true, false}, /* the checksum */
        {0, PREFIX, false, false},        {0, PREFIX + 1, false, false},
        {PREFIX, 0, false, false},        {PREFIX + 1, BLOCK - 1, false, false},
    };
    static Bytes bytes;
    unsigned char file[512];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    options.auto_orient = false;
    make_png("a.png", 3, 2, &(PngMaking){.depth = 8}, (const unsigned char *)"\1\2\3\4\5\6", 3);
    load("a.png", &bytes);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const size_t wanted = i / 2, second = i % 2; /* alone, and before one that is whole */
        size_t size = AFTER_IHDR;
        memcpy(file, bytes.data, size);
        size += chunk(file + size, "eXIf", exif + cases[wanted].from, cases[wanted].size);
        file[size - 1] ^= cases[wanted].flip;
        if (second)
            size += chunk(file + size, "eXIf", "MM\0*", 4);
        memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
        save("b.png", file, size + bytes.size - AFTER_IHDR);
        assert_int_equal(gf_reader_open(in_folder("b.png"), &options, &reader), GF_OK);
        const GfBlob *found = &reader->metadata.exif;
        assert_int_equal(found->size, cases[wanted].found ? BLOCK : second ? 4 : 0);
        assert_int_equal(gf_exif_orientation(found), cases[wanted].found ? 6 : 1);
        gf_reader_close(reader);
    }
    memcpy(file + AFTER_IHDR, "\xff\xff\xff\xff", 4); /* more than a chunk's length may be */
    save("b.png", file, AFTER_IHDR + 8);
    assert_fails("b.png", GF_EINPUT, "the PNG header cannot be read");
    size_t size = SIGNATURE + chunk(file + SIGNATURE, "eXIf", exif, PREFIX + BLOCK);
    memcpy(file + size, bytes.data + SIGNATURE, bytes.size - SIGNATURE);
    save("b.png", file, size + bytes.size - SIGNATURE);
    assert_fails("b.png", GF_EINPUT, "IHDR");
}

/* Opacity is no ancillary matter. */
static void damaged_opacity_is_damage(void **state)
{
    (void)state;
    enum { PLTE = 8 + 25, PIXELS = 8 + 25 + 12 + 12 };
    static const struct {
        const char *opacity;
        size_t size, place;
        bool flip, again, damaged;
    } cases[] = {
        {"\0\xff\x80", 3, PIXELS, false, false, false},
        {"\0\xff\x80", 3, PIXELS, true, false, true}, /* the checksum */
        {"\0\xff\x80\1\2", 5, PIXELS, false, false, true},
        {"\0\xff\x80", 3, PLTE, false, false, true},
        {"\0\xff\x80", 3, PIXELS, false, true, false},
        {"\0\xff\x80", 3, PIXELS, true, true, false}, /* of the second, which is not wanted */
        {"", 0, PIXELS, false, false, false},
    };
    PngMaking how = {.type = PNG_COLOR_TYPE_PALETTE,
                     .depth = 8,
                     .palette = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {9, 9, 9}},
                     .colours = 4};
    static Bytes bytes;
    unsigned char file[512], samples[8];
    make_png("a.png", 2, 1, &how, (const unsigned char *)"\0\2", 2);
    load("a.png", &bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t place = cases[i].place, size = place;
        GfReadOptions options = gf_read_options_default();
        GfReader *reader;
        memcpy(file, bytes.data, place);
        for (int turn = 0; turn < (cases[i].again ? 2 : 1); turn++)
            size += chunk(file + size, "tRNS", cases[i].opacity, cases[i].size);
        file[size - 1] ^= cases[i].flip;
        memcpy(file + size, bytes.data + place, bytes.size - place);
        save("b.png", file, size + bytes.size - place);
        if (cases[i].damaged)
            assert_fails("b.png", GF_EINPUT, "tRNS");
        options.tolerant = cases[i].damaged;
        assert_int_equal(read_file(in_folder("b.png"), &options, 1, &reader, samples), GF_OK);
        assert_int_equal(reader->format.channels, cases[i].damaged || !cases[i].size ? 3 : 4);
        assert_int_equal(strstr(reader->note, "tRNS") != NULL, cases[i].damaged);
        gf_reader_close(reader);
    }
}

/* Texts that use up what they may take leave the other chunks their room. */
static void many_texts_do_not_crowd_out_the_palette(void **state)
{
    (void)state;
    enum { AFTER_IHDR = 8 + 25, LARGE = (8 << 20) - 1 };
    static Bytes bytes;
    PngMaking how = {.type = PNG_COLOR_TYPE_PALETTE,
                     .depth = 8,
                     .palette = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {9, 9, 9}},
                     .colours = 4};
    make_png("a.png", 2, 1, &how, (const unsigned char *)"\0\2", 2);
    load("a.png", &bytes);
    unsigned char *file = calloc(1, LARGE + FILE_MAX), *text = malloc(LARGE);
    memset(text, 'x', LARGE);
    memcpy(text, "K", 2);
    memcpy(file, bytes.data, AFTER_IHDR);
    size_t size = AFTER_IHDR + chunk(file + AFTER_IHDR, "tEXt", text, LARGE);
    size += chunk(file + size, "tEXt", "K", 2);
    memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
    save("a.png", file, size + bytes.size - AFTER_IHDR);
    assert_reads_as("a.png", (GfFormat){2, 1, 3, false, GF_U8}, "\1\2\3\7\x8\x9");
    free(text);
    free(file);
}

static void a_chunk_too_large_is_passed_over(void **state)
{
    (void)state;
    enum { AFTER_IHDR = 8 + 25, LARGE = 9 << 20 };
    static unsigned char samples[FILE_MAX];
    static Bytes bytes;
    make_small("a.png", &bytes);
    unsigned char *file = calloc(1, LARGE + FILE_MAX), *text = malloc(LARGE);
    memset(text, 'x', LARGE);
    memcpy(text, "Large", 6);
    memcpy(file, bytes.data, AFTER_IHDR);
    size_t size = AFTER_IHDR + chunk(file + AFTER_IHDR, "tEXt", text, LARGE);
    memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
    save("b.png", file, size + bytes.size - AFTER_IHDR);
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(read_file(in_folder("b.png"), &options, 3, &reader, samples), GF_OK);
    assert_null(text_of(&reader->metadata, "Large"));
    assert_string_equal(text_of(&reader->metadata, "Comment"), "a comment");
    gf_reader_close(reader);
    free(text);
    free(file);
}

static void translated_keywords_take_room_of_texts(void **state)
{
    (void)state;
    enum { AFTER_IHDR = 8 + 25, LARGE = 5 << 20 };
    static unsigned char samples[FILE_MAX];
    static Bytes bytes;
    make_small("a.png", &bytes);
    unsigned char *file = calloc(1, 2 * LARGE + FILE_MAX), *text = malloc(LARGE);
    memset(text, 'x', LARGE);
    memcpy(file, bytes.data, AFTER_IHDR);
    size_t size = AFTER_IHDR;
    for (int i = 0; i < 2; i++) {
        memcpy(text, i == 0 ? "First\0\0\0\0" : "Later\0\0\0\0", 9);
        text[LARGE - 2] = '\0';
        size += chunk(file + size, "iTXt", text, LARGE);
    }
    memcpy(file + size, bytes.data + AFTER_IHDR, bytes.size - AFTER_IHDR);
    save("b.png", file, size + bytes.size - AFTER_IHDR);
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(read_file(in_folder("b.png"), &options, 3, &reader, samples), GF_OK);
    assert_string_equal(text_of(&reader->metadata, "First"), "x");
    assert_null(text_of(&reader->metadata, "Later"));
    gf_reader_close(reader);
    free(text);
    free(file);
}

/* Kinds of JPEG that only others write. */

static void make_jpeg(const char *name, J_COLOR_SPACE space, bool adobe, bool progressive,
                      unsigned side, const unsigned char *pixel)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    unsigned char row[4 * 64];
    JSAMPROW line = row;
    FILE *file = fopen(in_folder(name), "w");
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = info.image_height = side;
    info.input_components = space == JCS_RGB ? 3 : 4;
    info.in_color_space = space == JCS_RGB ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, space == JCS_RGB ? JCS_YCbCr : space);
    jpeg_set_quality(&info, 100, TRUE);
    info.write_Adobe_marker = adobe;
    if (progressive)
        jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    for (unsigned x = 0; x < side; x++)
        memcpy(row + x * (unsigned)info.input_components, pixel, (size_t)info.input_components);
    while (info.next_scanline < info.image_height)
        jpeg_write_scanlines(&info, &line, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    fclose(file);
}

static void assert_flat(const char *name, int red, int green, int blue)
{
    unsigned char samples[16 * 16 * 3];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    assert_int_equal(read_file(in_folder(name), &options, 5, &reader, samples), GF_OK);
    assert_int_equal(reader->format.channels, 3);
    for (size_t i = 0; i < sizeof samples; i += 3) {
        assert_true(abs(samples[i] - red) <= 3);
        assert_true(abs(samples[i + 1] - green) <= 3);
        assert_true(abs(samples[i + 2] - blue) <= 3);
    }
    assert_non_null(strstr(reader->note, "CMYK"));
    gf_reader_close(reader);
}

static void cmyk_becomes_rgb(void **state)
{
    (void)state;
    /* Adobe stores what each ink lets through: 200/255 of red, all green, none of blue, under a
     * black that lets 128/255 through. */
    make_jpeg("a.jpg", JCS_CMYK, true, false, 16, (const unsigned char *)"\xc8\xff\x00\x80");
    assert_flat("a.jpg", 100, 128, 0);
    make_jpeg("a.jpg", JCS_YCCK, true, false, 16, (const unsigned char *)"\xc8\xff\x00\x80");
    assert_flat("a.jpg", 100, 128, 0);
    /* Without Adobe's marker samples mean the same. Of such a file Pillow 13.0, too, makes 100,
     * 128, 0, and OpenCV 5.0 101, 128, 1. */
    make_jpeg("a.jpg", JCS_CMYK, false, false, 16, (const unsigned char *)"\xc8\xff\x00\x80");
    assert_flat("a.jpg", 100, 128, 0);
}

static void progressive_jpegs_are_limited(void **state)
{
    (void)state;
    unsigned char samples[64 * 64 * 3];
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    make_jpeg("a.jpg", JCS_RGB, false, true, 64, (const unsigned char *)"\x50\x90\x30");
    assert_int_equal(read_file(in_folder("a.jpg"), &options, 9, &reader, samples), GF_OK);
    assert_true(reader->held >= 64 * 64 * 3 * 2 / 2); /* 4:2:0: half as many coefficients */
    assert_true(abs(samples[0] - 0x50) <= 3);
    gf_reader_close(reader);
    options.max_scans = 9; /* of 10 */
    assert_int_equal(read_file(in_folder("a.jpg"), &options, 9, &reader, samples), GF_ELIMIT);
    assert_non_null(strstr(gf_message(), "9 scans"));
    options.max_scans = 10;
    options.max_memory = 64 * 64 * 2;
    assert_int_equal(gf_reader_open(in_folder("a.jpg"), &options, &reader), GF_ELIMIT);
}

static void pictures_over_the_limit_are_refused_from_the_header(void **state)
{
    (void)state;
    static Bytes bytes;
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    static const char *const names[] = {"a.png", "a.jpg", "a.npy"};
    for (size_t i = 0; i < 3; i++) {
        make_small(names[i], &bytes);
        options.max_pixels = 72;
        assert_int_equal(gf_reader_open(in_folder(names[i]), &options, &reader), GF_OK);
        gf_reader_close(reader);
        options.max_pixels = 71;
        assert_int_equal(gf_reader_open(in_folder(names[i]), &options, &reader), GF_ELIMIT);
        assert_non_null(strstr(gf_message(), "71 pixels"));
    }
    /* 2^31 - 1 squared in a file of a few bytes, its checksum right. */
    make_small("a.png", &bytes);
    memcpy(bytes.data + 16, "\x7f\xff\xff\xff\x7f\xff\xff\xff", 8);
    store_be32(bytes.data + 29, crc32(0, bytes.data + 12, 17));
    save("a.png", bytes.data, bytes.size);
    assert_fails("a.png", GF_ELIMIT, "2147483647 x 2147483647");
    /* One row of a gigapixel. */
    memcpy(bytes.data + 16, "\x3f\xff\xff\xff\0\0\0\1", 8);
    store_be32(bytes.data + 29, crc32(0, bytes.data + 12, 17));
    save("a.png", bytes.data, bytes.size);
    options = gf_read_options_default();
    assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_ELIMIT);
}

/* .npy */

static void save_npy(const char *name, unsigned version, const char *text, const void *data,
                     size_t size)
{
    static Bytes bytes;
    size_t length = strlen(text), start = version == 1 ? 10 : 12;
    memcpy(bytes.data, "\x93NUMPY", 6);
    bytes.data[6] = (unsigned char)version;
    bytes.data[7] = 0;
    for (size_t i = 8; i < start; i++)
        bytes.data[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(bytes.data + start, text, length);
    if (size)
        memcpy(bytes.data + start + length, data, size);
    save(name, bytes.data, start + length + size);
}

static void npy_headers_are_read_as_numpy_writes_them(void **state)
{
    (void)state;
    static const uint16_t wide[] = {0x0102, 0x0304};
    static const char data[] = "\1\2\3\4\5\6";
    GfFormat format = {3, 2, 1, false, GF_U8};
    save_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n", data,
             6);
    assert_reads_as("a.npy", format, data);
    save_npy("a.npy", 2, "{\"shape\":(2,3,),'descr':'<u1','fortran_order':False}\n", data, 6);
    assert_reads_as("a.npy", format, data);
    /* Fortran order: the file goes down the columns. */
    save_npy("a.npy", 3, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", data, 6);
    assert_reads_as("a.npy", format, "\1\3\5\2\4\6");
    /* Two channels of 1 x 3 are planes in C order, and interleaved in Fortran order. */
    format = (GfFormat){3, 1, 2, false, GF_U8};
    save_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 3), }\n", data,
             6);
    assert_reads_as("a.npy", format, "\1\4\2\5\3\6");
    save_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 1, 3), }\n", data,
             6);
    assert_reads_as("a.npy", format, data);
    save_npy("a.npy", 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (1, 2), }\n", data, 4);
    assert_reads_as("a.npy", (GfFormat){2, 1, 1, false, GF_U16}, wide);
}

/* Three pictures of two channels and 1 x 2 pixels: sample 100 n + 10 c + x, as NumPy lays it out.
 */
/* The axes of an array stay, also those of length one. */
static void npy_axes_are_kept(void **state)
{
    (void)state;
    static const char *const shapes[] = {"(2, 3)", "(1, 2, 3)", "(1, 1, 2, 3)"};
    static const GfFormat format = {3, 2, 1, false, GF_U8};
    for (size_t i = 0; i < 3; i++) {
        char text[96];
        static Bytes bytes;
        GfReader *reader;
        GfReadOptions options = gf_read_options_default();
        snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }\n",
                 shapes[i]);
        save_npy("a.npy", 1, text, "\1\2\3\4\5\6", 6);
        assert_int_equal(gf_reader_open(in_folder("a.npy"), &options, &reader), GF_OK);
        unsigned char samples[] = "\1\2\3\4\5\6";
        assert_int_equal(write_pictures("b.npy", &format, 1, &reader->metadata, NULL, 2, samples),
                         GF_OK);
        gf_reader_close(reader);
        load("b.npy", &bytes);
        bytes.data[bytes.size] = '\0';
        assert_non_null(strstr((const char *)bytes.data + 10, shapes[i]));
    }
}

static void npy_pictures_follow_one_another(void **state)
{
    (void)state;
    static const unsigned char c_order[] = {0, 1, 10, 11, 100, 101, 110, 111, 200, 201, 210, 211};
    static const unsigned char fortran[] = {0, 100, 200, 10, 110, 210, 1, 101, 201, 11, 111, 211};
    static const unsigned char shown[] = {0, 10, 1, 11, 100, 110, 101, 111, 200, 210, 201, 211};
    GfFormat format = {2, 1, 2, false, GF_U8};
    save_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2, 1, 2), }\n",
             c_order, 12);
    assert_reads_as("a.npy", format, shown);
    save_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (3, 2, 1, 2), }\n",
             fortran, 12);
    assert_reads_as("a.npy", format, shown);
}

static void npy_headers_that_numpy_does_not_write_are_refused(void **state)
{
    (void)state;
#define DICT(descr, order, shape)                                                                  \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape "}"
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {DICT("'|b1'", "False", "(2, 3)"), "'|b1'"},
        {DICT("'<i2'", "False", "(2, 3)"), "float16"},
        {DICT("'<c8'", "False", "(2, 3)"), "'<c8'"},
        {DICT("'|u2'", "False", "(2, 3)"), "'|u2'"},
        {DICT("'f4'", "False", "(2, 3)"), "'f4'"},
        {DICT("''", "False", "(2, 3)"), "''"},
        {DICT("'|O'", "False", "(2, 3)"), "pickle"},
        {DICT("[('a', '<f4')]", "False", "(2, 3)"), "structured"},
        {DICT("'|u1'", "false", "(2, 3)"), "fortran_order"},
        {DICT("'|u1'", "0", "(2, 3)"), "fortran_order"},
        {DICT("'|u1'", "'True'", "(2, 3)"), "fortran_order"},
        {DICT("'|u1'", "False", "()"), "dimensions"},
        {DICT("'|u1'", "False", "(6,)"), "dimensions"},
        {DICT("'|u1'", "False", "(6)"), "tuple"},
        {DICT("'|u1'", "False", "6"), "tuple"},
        {DICT("'|u1'", "False", "[2, 3]"), "tuple"},
        {DICT("'|u1'", "False", "(1, 1, 1, 2, 3)"), "dimensions"},
        {DICT("'|u1'", "False", "(1, 1, 1, 1, 1, 1, 1, 2, 3)"), "more than 8"},
        {DICT("'|u1'", "False", "(0, 3)"), "0"},
        {DICT("'|u1'", "False", "(-2, 3)"), "whole number"},
        {DICT("'|u1'", "False", "(2.0, 3)"), "whole number"},
        {DICT("'|u1'", "False", "(2x0, 3)"), "whole number"},
        {DICT("'|u1'", "False", "(2 3)"), "whole number"},
        {DICT("'|u1'", "False", "(,)"), "whole number"},
        {DICT("'|u1'", "False", "((((2, 3"), "whole number"},
        {DICT("'|u1'", "False", "(2, 3"), "malformed"},
        {DICT("'|u1'", "False", "(18446744073709551617, 3)"), "too large"},
        {DICT("'|u1'", "False", "(4294967296, 4294967296)"), "too large"},
        {DICT("'|u1'", "False", "(3, 6148914691236517207)"), "too large"},
        {DICT("'|u1'", "False", "(2, 4)"), "announces 8"},
        {DICT("'|u1'", "False", "(1, 3)"), "announces 3"},
        {DICT("'|u1'", "False", "(2, 3), 'x': 1"), "'x'"},
        {DICT("'|u1'", "False", "(2, 3), 'descr': '|u1'"), "twice"},
        {"{'descr': '|u1', 'fortran_order': False}", "no key 'shape'"},
        {"{'fortran_order': False, 'shape': (2, 3)}", "no key 'descr'"},
        {"{'descr': '|u1' 'fortran_order': False, 'shape': (2, 3)}", "comma"},
        {"{'descr' '|u1', 'fortran_order': False, 'shape': (2, 3)}", "colon"},
        {"{descr: '|u1', 'fortran_order': False, 'shape': (2, 3)}", "quoted"},
        {"{'descr': '|u1", "does not end"},
        {"{'de\\x73cr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", "character"},
        {"{'d\xc3\xa9scr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", "character"},
        {"{'descr': '|u1|u1|u1|u1|u1|u1|u1'}", "too long"},
        {"__import__('os').system('true')", "no dict"},
        {"", "no dict"},
        {"{", "missing"},
        {"{}", "no key"},
        {DICT("'|u1'", "False", "(2, 3)") " 1", "follows"},
        {DICT("'|u1'", "False", "(2, 3)") "}", "follows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        save_npy("a.npy", 1, cases[i].text, "\1\2\3\4\5\6", 6);
        assert_fails("a.npy", GF_EINPUT, cases[i].reason);
    }
    save_npy("a.npy", 4, DICT("'|u1'", "False", "(2, 3)"), "\1\2\3\4\5\6", 6);
    assert_fails("a.npy", GF_EINPUT, "version 4.0");
    save("a.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14);
    assert_fails("a.npy", GF_EINPUT, "4294967295");
    save("a.npy", "\x93NUMPY\x01\x00\xff\xff{}", 12);
    assert_fails("a.npy", GF_EINPUT, "ends early");
}

/* Standard input. */

/* Reads what a child writes into a pipe, in pieces; where it does not block there is nothing in it
 * at first. */
static GfStatus read_from_pipe(const Bytes *bytes, bool blocks, GfReader **reader,
                               unsigned char *samples)
{
    int ends[2], saved = dup(STDIN_FILENO), result;
    GfReadOptions options = gf_read_options_default();
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_IGN);
        usleep(blocks ? 0 : 20000);
        for (size_t done = 0; done < bytes->size; done += 7)
            if (write(ends[1], bytes->data + done, gf_min(7, bytes->size - done)) < 0)
                break;
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    if (!blocks)
        assert_int_equal(fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK), 0);
    GfStatus status = read_file("-", &options, 3, reader, samples);
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_int_equal(waitpid(child, &result, 0), child);
    return status;
}

static void pictures_come_through_pipes(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.npy"};
    static Bytes bytes;
    static unsigned char from_file[FILE_MAX], from_pipe[FILE_MAX];
    GfReader *reader;
    for (size_t i = 0; i < 3; i++) {
        make_small(names[i], &bytes);
        assert_int_equal(verdict(names[i], false, from_file), GF_OK);
        assert_int_equal(read_from_pipe(&bytes, true, &reader, from_pipe), GF_OK);
        assert_memory_equal(from_file, from_pipe, 9 * 8 * 3);
        assert_int_equal(reader->streams, i < 2); /* planes of a pipe are held */
        gf_reader_close(reader);
        bytes.size--;
        assert_int_equal(read_from_pipe(&bytes, true, &reader, from_pipe), GF_EINPUT);
    }
    bytes.size += 2; /* one byte too many for .npy */
    assert_int_equal(read_from_pipe(&bytes, true, &reader, from_pipe), GF_EINPUT);
    assert_non_null(strstr(gf_message(), "go on"));
}

static void standard_input_may_be_non_blocking(void **state)
{
    (void)state;
    static Bytes bytes;
    static unsigned char from_file[FILE_MAX], from_pipe[FILE_MAX];
    GfReader *reader;
    make_small("a.png", &bytes);
    assert_int_equal(verdict("a.png", false, from_file), GF_OK);
    assert_int_equal(read_from_pipe(&bytes, false, &reader, from_pipe), GF_OK);
    assert_memory_equal(from_file, from_pipe, 9 * 8 * 3);
    gf_reader_close(reader);
}

static void gray_npy_streams_through_pipes(void **state)
{
    (void)state;
    static Bytes bytes;
    unsigned char samples[2 * 5 * 7 * 4], found[sizeof samples];
    GfFormat format = {7, 5, 1, false, GF_F32};
    GfReader *reader;
    fill(samples, sizeof samples);
    assert_int_equal(write_pictures("a.npy", &format, 2, NULL, NULL, 2, samples), GF_OK);
    load("a.npy", &bytes);
    assert_int_equal(read_from_pipe(&bytes, true, &reader, found), GF_OK);
    assert_true(reader->streams);
    assert_memory_equal(found, samples, sizeof samples);
    gf_reader_close(reader);
}

/* Writing. */

static void formats_say_what_they_cannot_hold(void **state)
{
    (void)state;
    const GfCodec *png = gf_codec_for_path("a/b.PNG"), *jpeg = gf_codec_for_path("x.JpEg"),
                  *npy = gf_codec_for_path("dir.png/x.npy");
    assert_ptr_equal(png, &gf_png);
    assert_ptr_equal(jpeg, &gf_jpeg);
    assert_ptr_equal(npy, &gf_npy);
    assert_ptr_equal(gf_codec_for_path(".jpg"), &gf_jpeg);
    assert_null(gf_codec_for_path("png"));
    assert_null(gf_codec_for_path("a.png/b"));
    assert_null(gf_codec_for_path("a.pn"));
    assert_null(gf_codec_for_path("a.png "));
    assert_null(gf_codec_for_path("a."));
    static const struct {
        GfFormat format;
        size_t pictures;
        bool png, jpeg, npy;
    } cases[] = {
        {{5, 5, 1, false, GF_U8}, 1, true, true, true},
        {{5, 5, 3, false, GF_U8}, 1, true, true, true},
        {{5, 5, 4, true, GF_U8}, 1, true, false, true},
        {{5, 5, 2, true, GF_U16}, 1, true, false, true},
        {{5, 5, 2, false, GF_U8}, 1, false, false, true},
        {{5, 5, 4, false, GF_U8}, 1, false, false, true},
        {{5, 5, 3, true, GF_U8}, 1, false, false, true},
        {{5, 5, 5, false, GF_U8}, 1, false, false, true},
        {{5, 5, 3, false, GF_U16}, 1, true, false, true},
        {{5, 5, 3, false, GF_F32}, 1, false, false, true},
        {{5, 5, 1, false, GF_U8}, 2, false, false, true},
        {{65501, 5, 1, false, GF_U8}, 1, true, false, true},
        {{5, 1ul << 31, 1, false, GF_U8}, 1, false, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const GfFormat *format = &cases[i].format;
        size_t pictures = cases[i].pictures;
        assert_int_equal(gf_codec_accepts(png, format, pictures), cases[i].png ? GF_OK : GF_EUSAGE);
        assert_int_equal(gf_codec_accepts(jpeg, format, pictures),
                         cases[i].jpeg ? GF_OK : GF_EUSAGE);
        assert_int_equal(gf_codec_accepts(npy, format, pictures), cases[i].npy ? GF_OK : GF_EUSAGE);
    }
}

static void a_failing_disk_fails_every_writer(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg", "a.npy"};
    GfFormat format = {400, 400, 3, false, GF_U8};
    size_t size = gf_row_bytes(&format) * format.height;
    unsigned char *samples = malloc(size);
    struct rlimit before, small;
    fill(samples, size);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    for (size_t i = 0; i < 3; i++) {
        setrlimit(RLIMIT_FSIZE, &small);
        GfStatus status = write_pictures(names[i], &format, 1, NULL, NULL, 50, samples);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, GF_EWRITE);
        assert_non_null(strstr(gf_message(), "File too large"));
        assert_int_equal(access(in_folder(names[i]), F_OK), -1);
    }
    free(samples);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/gpufilter-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    return rmdir(folder);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(png_round_trips),
        IN_FOLDER(npy_round_trips),
        IN_FOLDER(png_levels_give_the_same_picture),
        IN_FOLDER(libpng_reads_what_is_written),
        IN_FOLDER(png_16_bit_samples_are_stored_big_endian),
        IN_FOLDER(npy_files_are_exactly_these_bytes),
        IN_FOLDER(jpeg_comes_back_nearly_the_same),
        IN_FOLDER(palettes_are_expanded),
        IN_FOLDER(small_grays_are_spread_over_the_range),
        IN_FOLDER(a_transparent_colour_becomes_opacity),
        IN_FOLDER(a_tall_picture_that_is_turned_is_a_wide_one),
        IN_FOLDER(interlaced_pictures_take_a_buffer),
        IN_FOLDER(rows_of_narrow_pictures_lie_close),
        IN_FOLDER(every_orientation_shows_the_right_pixels),
        IN_FOLDER(orientation_can_be_left_alone),
        IN_FOLDER(turning_works_at_any_size),
        IN_FOLDER(png_carries_metadata),
        IN_FOLDER(jpeg_carries_metadata),
        IN_FOLDER(srgb_and_aspect_survive),
        IN_FOLDER(a_profile_of_other_colours_is_left_out),
        IN_FOLDER(padding_behind_a_profile_is_left_out),
        IN_FOLDER(a_profile_of_odd_length_is_kept),
        IN_FOLDER(jpeg_carries_photoshops_block),
        IN_FOLDER(photoshops_block_is_put_together),
        IN_FOLDER(a_turned_picture_says_nothing_of_its_turn),
        IN_FOLDER(exif_too_long_for_jpeg_is_left_out),
        IN_FOLDER(a_file_cut_anywhere_is_an_error),
        IN_FOLDER(a_changed_byte_never_changes_a_png),
        IN_FOLDER(tolerance_keeps_what_was_decoded),
        IN_FOLDER(bytes_after_the_end_are_ignored),
        IN_FOLDER(what_is_no_picture_is_said),
        IN_FOLDER(npy_axes_are_kept),
        IN_FOLDER(metadata_behind_the_pixels_is_found),
        IN_FOLDER(exif_behind_many_texts_is_found),
        IN_FOLDER(a_turned_picture_without_end_marker_is_told_so),
        IN_FOLDER(texts_keep_their_encoding_and_language),
        IN_FOLDER(damaged_ancillary_chunks_do_no_harm),
        IN_FOLDER(colours_survive_odd_chunks),
        IN_FOLDER(a_profile_that_libpng_refuses_is_told),
        IN_FOLDER(exif_with_a_prefix_is_read),
        IN_FOLDER(damaged_opacity_is_damage),
        IN_FOLDER(many_texts_do_not_crowd_out_the_palette),
        IN_FOLDER(a_chunk_too_large_is_passed_over),
        IN_FOLDER(translated_keywords_take_room_of_texts),
        IN_FOLDER(cmyk_becomes_rgb),
        IN_FOLDER(progressive_jpegs_are_limited),
        IN_FOLDER(pictures_over_the_limit_are_refused_from_the_header),
        IN_FOLDER(npy_headers_are_read_as_numpy_writes_them),
        IN_FOLDER(npy_pictures_follow_one_another),
        IN_FOLDER(npy_headers_that_numpy_does_not_write_are_refused),
        IN_FOLDER(pictures_come_through_pipes),
        IN_FOLDER(standard_input_may_be_non_blocking),
        IN_FOLDER(gray_npy_streams_through_pipes),
        IN_FOLDER(formats_say_what_they_cannot_hold),
        IN_FOLDER(a_failing_disk_fails_every_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
