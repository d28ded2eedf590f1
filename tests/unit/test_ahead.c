/* Rows that were decoded ahead are those that a plain reader gives, however many they are, and so
 * are failures; a run that is handed such a reader writes the same bytes. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <png.h>

#include "app/run.h"
#include "images/codec.h"

static char folder[] = "/tmp/test_ahead.XXXXXX";

static char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

/* Noise, with numbers that floats can have. */
static void fill(unsigned char *samples, size_t size)
{
    unsigned value = 12345;
    for (size_t i = 0; i < size; i++) {
        value = value * 1103515245u + 12345u;
        samples[i] = (unsigned char)((value >> 16) % 100);
    }
}

static void make(const char *name, const GfFormat *format, size_t pictures,
                 const GfMetadata *metadata)
{
    GfOutput *output;
    GfWriter *writer;
    GfWriteOptions options = gf_write_options_default();
    size_t row_bytes = gf_row_bytes(format);
    GfBand band = {0, format->height, row_bytes, malloc(row_bytes * format->height)};
    assert_non_null(band.samples);
    assert_int_equal(gf_output_open(in_folder(name), true, &output), GF_OK);
    assert_int_equal(gf_writer_create(output, gf_codec_for_path(name), format, pictures, metadata,
                                      &options, &writer),
                     GF_OK);
    for (size_t i = 0; i < pictures; i++) {
        fill(band.samples, row_bytes * format->height);
        ((unsigned char *)band.samples)[0] = (unsigned char)i;
        assert_int_equal(gf_writer_rows(writer, i, &band), GF_OK);
    }
    assert_int_equal(gf_writer_finish(writer), GF_OK);
    gf_writer_close(writer);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    free(band.samples);
}

static void make_interlaced(const char *name, png_uint_32 width, png_uint_32 height)
{
    FILE *file = fopen(in_folder(name), "w");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    unsigned char *samples = malloc((size_t)width * height);
    png_bytepp rows = malloc(height * sizeof *rows);
    assert_true(file && info && samples && rows);
    fill(samples, (size_t)width * height);
    for (size_t y = 0; y < height; y++)
        rows[y] = samples + y * width;
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
    free(samples);
    free(rows);
}

/* Opens a file and lets it decode ahead until there are `wanted` bytes. */
static GfReader *open_ahead(const char *path, const GfReadOptions *options, size_t wanted)
{
    GfReader *reader;
    for (long pause = 1000000;; pause *= 2) {
        assert_int_equal(gf_reader_open(path, options, &reader), GF_OK);
        gf_reader_start_ahead(reader);
        if (wanted > 0)
            nanosleep(&(struct timespec){pause / 1000000000, pause % 1000000000}, NULL);
        gf_reader_stop_ahead(reader);
        if (reader->ahead >= wanted)
            return reader;
        gf_reader_close(reader);
    }
}

/* Reads all pictures in bands of `rows` and to the end. Returns how many rows came before a
 * failure. */
static size_t read_all(GfReader *reader, size_t rows, unsigned char *samples, GfError *error)
{
    size_t row_bytes = gf_row_bytes(&reader->format), stride = row_bytes + 16, total = 0;
    unsigned char *block = malloc(rows * stride);
    GfStatus status = GF_OK;
    *error = (GfError){0};
    for (size_t i = 0; status == GF_OK && i < reader->pictures; i++) {
        for (size_t y = 0; status == GF_OK && y < reader->format.height; y += rows) {
            GfBand band = {y, gf_min(rows, reader->format.height - y), stride, block};
            memset(block, 0xa5, rows * stride);
            status = gf_reader_rows(reader, &band);
            for (size_t r = 0; status == GF_OK && r < band.rows; r++, total++) {
                memcpy(samples + total * row_bytes, block + r * stride, row_bytes);
                assert_int_equal(block[r * stride + row_bytes], 0xa5);
            }
        }
    }
    free(block);
    if (status == GF_OK)
        status = gf_reader_finish(reader);
    gf_error_save(error, status);
    assert_int_equal(reader->ahead, 0);
    return total;
}

/* With that many bytes of rows decoded ahead, or more, everything is as without; but a failure may
 * come some rows earlier, with the piece that it is in. */
static void assert_same(const char *name, const GfReadOptions *options, size_t rows, size_t ahead)
{
    GfReader *reader;
    GfError error, other;
    assert_int_equal(gf_reader_open(in_folder(name), options, &reader), GF_OK);
    size_t row_bytes = gf_row_bytes(&reader->format);
    size_t size = row_bytes * reader->format.height * reader->pictures;
    unsigned char *expected = malloc(size), *samples = malloc(size);
    size_t count = read_all(reader, rows, expected, &error);
    char note[GF_NOTE_SIZE];
    memcpy(note, reader->note, sizeof note);
    gf_reader_close(reader);

    reader = open_ahead(in_folder(name), options, ahead);
    size_t found = read_all(reader, rows, samples, &other);
    assert_true(found == count || (error.status != GF_OK && found < count));
    assert_memory_equal(samples, expected, found * row_bytes);
    assert_int_equal(other.status, error.status);
    assert_string_equal(other.message, error.message);
    assert_string_equal(reader->note, note);
    gf_reader_close(reader);
    free(expected);
    free(samples);
}

static const struct {
    const char *name;
    GfFormat format;
    size_t pictures;
} kinds[] = {
    {"gray.png", {37, 41, 1, false, GF_U8}, 1},     {"deep.png", {33, 57, 3, false, GF_U16}, 1},
    {"alpha.png", {1, 19, 4, true, GF_U8}, 1},      {"gray.jpg", {61, 35, 1, false, GF_U8}, 1},
    {"colour.jpg", {61, 131, 3, false, GF_U8}, 1},  {"pixel.png", {1, 1, 1, false, GF_U8}, 1},
    {"several.npy", {17, 21, 3, false, GF_F32}, 3}, {"large.png", {701, 907, 1, false, GF_U8}, 1},
};

static void rows_are_those_of_a_plain_reader(void **state)
{
    (void)state;
    const GfMetadata none = gf_metadata_none();
    const size_t bands[] = {1, 7, 16, 1000};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const GfFormat *format = &kinds[i].format;
        size_t row_bytes = gf_row_bytes(format), size = row_bytes * format->height;
        make(kinds[i].name, format, kinds[i].pictures, &none);
        for (size_t j = 0; j < 4; j++) {
            GfReadOptions options = gf_read_options_default();
            assert_same(kinds[i].name, &options, bands[j], 0);
            assert_same(kinds[i].name, &options, bands[j], size);
            options.max_memory = gf_max(size, 16 * row_bytes); /* half of it: at least 8 rows */
            assert_same(kinds[i].name, &options, bands[j],
                        gf_min(size, options.max_memory / 2 / row_bytes * row_bytes));
        }
    }
}

static void limit_is_half_of_the_memory(void **state)
{
    (void)state;
    const GfMetadata none = gf_metadata_none();
    GfReadOptions options = gf_read_options_default();
    make("a.png", &(GfFormat){1000, 900, 1, false, GF_U8}, 1, &none);
    options.max_memory = 600999;
    GfReader *reader = open_ahead(in_folder("a.png"), &options, 300000);
    assert_int_equal(reader->ahead, 300000);
    assert_true(reader->ahead_seconds > 0.0);
    /* Freed in pieces of 262 rows. */
    unsigned char *samples = malloc(300 * 1000);
    assert_int_equal(gf_reader_rows(reader, &(GfBand){0, 261, 1000, samples}), GF_OK);
    assert_int_equal(reader->ahead, 300000);
    assert_int_equal(gf_reader_rows(reader, &(GfBand){261, 1, 1000, samples}), GF_OK);
    assert_int_equal(reader->ahead, 38000);
    assert_int_equal(gf_reader_rows(reader, &(GfBand){262, 39, 1000, samples}), GF_OK);
    assert_int_equal(reader->ahead, 0);
    gf_reader_close(reader);
    free(samples);
}

static void whole_pictures_are_not_held_twice(void **state)
{
    (void)state;
    static unsigned char turned[] =
        "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    GfMetadata metadata = gf_metadata_none();
    metadata.exif = (GfBlob){turned, sizeof turned - 1};
    make("turned.png", &(GfFormat){31, 17, 3, false, GF_U8}, 1, &metadata);
    make("turned.jpg", &(GfFormat){31, 17, 1, false, GF_U8}, 1, &metadata);
    make_interlaced("interlaced.png", 43, 29);
    const char *names[] = {"turned.png", "turned.jpg", "interlaced.png"};
    GfReadOptions options = gf_read_options_default();
    for (size_t i = 0; i < 3; i++) {
        GfReader *reader = open_ahead(in_folder(names[i]), &options, 1);
        assert_false(reader->streams);
        assert_int_equal(reader->ahead, gf_row_bytes(&reader->format));
        gf_reader_close(reader);
        for (size_t rows = 1; rows < 60; rows += 19)
            assert_same(names[i], &options, rows, 1);
    }
}

static void damage_is_found_where_it_is(void **state)
{
    (void)state;
    const GfMetadata none = gf_metadata_none();
    const char *names[] = {"cut.png", "cut.jpg"};
    for (size_t i = 0; i < 2; i++) {
        struct stat file;
        make(names[i], &(GfFormat){1000, 900, 1, false, GF_U8}, 1, &none);
        assert_int_equal(stat(in_folder(names[i]), &file), 0);
        assert_int_equal(truncate(in_folder(names[i]), file.st_size * 7 / 10), 0);
        for (int tolerant = 0; tolerant < 2; tolerant++) {
            GfReadOptions options = gf_read_options_default();
            options.tolerant = tolerant;
            for (size_t rows = 1; rows <= 64; rows *= 4) {
                assert_same(names[i], &options, rows, 0);
                assert_same(names[i], &options, rows, 262000); /* the first piece */
            }
        }
    }
}

static void reader_may_be_closed_at_any_time(void **state)
{
    (void)state;
    const GfMetadata none = gf_metadata_none();
    GfReadOptions options = gf_read_options_default();
    GfReader *reader;
    unsigned char row[1000];
    make("a.png", &(GfFormat){1000, 900, 1, false, GF_U8}, 1, &none);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(gf_reader_open(in_folder("a.png"), &options, &reader), GF_OK);
        gf_reader_start_ahead(reader);
        nanosleep(&(struct timespec){.tv_nsec = i * 100000}, NULL);
        gf_reader_close(reader);
    }
    reader = open_ahead(in_folder("a.png"), &options, 600000);
    assert_int_equal(gf_reader_rows(reader, &(GfBand){0, 1, 1000, row}), GF_OK);
    gf_reader_close(reader);
    gf_reader_stop_ahead(NULL);
}

/* The way of one picture. */

/* Filters a.png into out.png, where `ahead` bytes of it or more were decoded ahead; 0: it is not
 * opened yet. */
static GfStatus filter(char *kernel, char *memory, size_t ahead, GfRecord *record)
{
    GfOptions options;
    GfBank bank = {0};
    GfJobs jobs;
    GfDevices *devices;
    GfLane lane = {0};
    GfReader *reader = NULL;
    char *arguments[] = {
        "gpufilter", in_folder("a.png"), "-k", kernel,     "-o",   in_folder("out.png"), "--device",
        "cpu",       "--threads",        "1",  "--memory", memory, "--overwrite",        NULL};
    optind = 0; /* as in a new process */
    assert_int_equal(gf_options_parse(13, arguments, &options), GF_OK);
    assert_int_equal(gf_bank_create(&options, &bank), GF_OK);
    assert_int_equal(gf_jobs_create(&options, &bank, &jobs), GF_OK);
    if (ahead > 0)
        reader = open_ahead(in_folder("a.png"), &options.read, ahead);
    assert_int_equal(gf_devices_create(&options, reader, &devices), GF_OK);
    const GfSetup setup = {&options, &bank, devices, &reader, options.read, 1, options.memory, 1.0};
    *record = (GfRecord){0};
    GfStatus status = gf_run_job(&setup, &lane, jobs.jobs, record);
    assert_null(reader);
    gf_lane_clear(&lane);
    gf_record_free(record);
    gf_devices_close(devices);
    gf_jobs_free(&jobs);
    gf_bank_free(&bank);
    gf_options_free(&options);
    return status;
}

static size_t load(const char *name, unsigned char **bytes)
{
    struct stat status;
    assert_int_equal(stat(in_folder(name), &status), 0);
    size_t size = (size_t)status.st_size;
    FILE *file = fopen(in_folder(name), "r");
    *bytes = malloc(size);
    assert_int_equal(fread(*bytes, 1, size, file), size);
    fclose(file);
    return size;
}

static void outputs_are_the_same(void **state)
{
    (void)state;
    const GfMetadata none = gf_metadata_none();
    char *kernels[] = {"identity", "gaussian:sigma=9", "sobel"};
    GfRecord record;
    make("a.png", &(GfFormat){701, 907, 3, false, GF_U8}, 1, &none);
    for (size_t i = 0; i < 3; i++) {
        unsigned char *expected, *found;
        assert_int_equal(filter(kernels[i], "1G", 0, &record), GF_OK);
        size_t size = load("out.png", &expected);
        assert_int_equal(filter(kernels[i], "1G", 701 * 907 * 3, &record), GF_OK);
        assert_true(record.times.read > 0.0 && record.total > record.times.read);
        assert_int_equal(load("out.png", &found), size);
        assert_memory_equal(found, expected, size);
        free(expected);
        free(found);
    }
}

/* The rows in flight need 23 KiB at least; those that were decoded ahead count, but never take what
 * others need. */
static void memory_suffices_as_before(void **state)
{
    (void)state;
    const GfMetadata none = gf_metadata_none();
    GfRecord plain, ahead;
    make("a.png", &(GfFormat){192, 1600, 1, false, GF_U8}, 1, &none);
    assert_int_equal(filter("gaussian:sigma=5", "23616", 0, &plain), GF_ELIMIT);
    assert_int_equal(filter("gaussian:sigma=5", "23616", 11712, &ahead), GF_ELIMIT);
    assert_string_equal(ahead.error.message, plain.error.message);
    assert_int_equal(filter("gaussian:sigma=5", "23808", 0, &plain), GF_OK);
    assert_int_equal(filter("gaussian:sigma=5", "23808", 11904, &ahead), GF_OK);
    assert_int_equal(filter("gaussian:sigma=5", "163200", 0, &plain), GF_OK);
    assert_int_equal(filter("gaussian:sigma=5", "163200", 81600, &ahead), GF_OK);
    assert_true(ahead.band_rows < plain.band_rows);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int end(void **state)
{
    char command[PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_a_plain_reader),
        cmocka_unit_test(limit_is_half_of_the_memory),
        cmocka_unit_test(whole_pictures_are_not_held_twice),
        cmocka_unit_test(damage_is_found_where_it_is),
        cmocka_unit_test(reader_may_be_closed_at_any_time),
        cmocka_unit_test(outputs_are_the_same),
        cmocka_unit_test(memory_suffices_as_before),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
