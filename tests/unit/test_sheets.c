/* Contact sheets of responses and of kernels, and the stretch of what is held in memory: samples
 * worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/maps.h"
#include "app/montage.h"
#include "app/naming.h"
#include "filters/banks.h"
#include "filters/grammar.h"
#include "filters/kernel_picture.h"
#include "images/codecs.h"
#include "images/sheet.h"

/* ---- geometry ---- */

static void test_sheet_is_near_square(void **state)
{
    (void)state;
    static const size_t wanted[][3] = {{1, 1, 1},     {2, 2, 1},        {3, 2, 2},  {4, 2, 2},
                                       {5, 3, 2},     {16, 4, 4},       {17, 5, 4}, {100, 10, 10},
                                       {101, 11, 10}, {65535, 256, 256}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        GfSheet sheet;
        assert_int_equal(gf_sheet_plan(wanted[i][0], 0, 7, 5, 4, &sheet), GF_OK);
        assert_int_equal(sheet.columns, wanted[i][1]);
        assert_int_equal(sheet.rows, wanted[i][2]);
        assert_int_equal(sheet.width, 4 + wanted[i][1] * 11);
        assert_int_equal(sheet.height, 4 + wanted[i][2] * 9);
    }
}

static void test_sheet_bounds(void **state)
{
    (void)state;
    GfSheet sheet;
    size_t x, y;
    assert_int_equal(gf_sheet_plan(5, 9, 1, 1, 4, &sheet), GF_OK);
    assert_int_equal(sheet.columns, 5);
    assert_int_equal(gf_sheet_plan(4, 0, SIZE_MAX / 2, 1, 4, &sheet), GF_ELIMIT);
    assert_int_equal(gf_sheet_plan(1, 0, SIZE_MAX - 3, 1, 4, &sheet), GF_ELIMIT);
    assert_int_equal(gf_sheet_plan(1, 0, SIZE_MAX / 32, 1, 4, &sheet), GF_OK);
    assert_int_equal(gf_sheet_plan(1, 0, SIZE_MAX / 16, 1, 4, &sheet), GF_ELIMIT);
    assert_int_equal(gf_sheet_plan(7, 3, 10, 6, 2, &sheet), GF_OK);
    gf_sheet_place(&sheet, 5, 3, 6, &x, &y); /* second row, third column, centred */
    assert_int_equal(x, 2 + 2 * 12 + 3);
    assert_int_equal(y, 2 + 8);
}

static void test_store(void **state)
{
    (void)state;
    const double values[] = {-1.0, 0.5, 1.5, 254.5, 255.4, 1e9, INFINITY, -INFINITY, NAN};
    const uint8_t bytes[] = {0, 0, 2, 254, 255, 255, 255, 0, 0};
    const uint16_t words[] = {0, 0, 2, 254, 255, 65535, 65535, 0, 0};
    for (size_t i = 0; i < sizeof bytes; i++) {
        uint8_t eight[3] = {7, 7, 7};
        uint16_t sixteen[3] = {7, 7, 7};
        gf_sheet_store(eight, 1, GF_U8, values[i]);
        gf_sheet_store(sixteen, 1, GF_U16, values[i]);
        assert_int_equal(eight[1], bytes[i]);
        assert_int_equal(sixteen[1], words[i]);
        assert_int_equal(eight[0] + eight[2] + sixteen[0] + sixteen[2], 28);
    }
}

/* ---- held responses ---- */

static void test_stretch_looks_at_what_is_seen(void **state)
{
    (void)state;
    /* RGBA: transparent pixels and numbers that are none do not count. */
    float samples[] = {1, 2, 3, 255, -50, 900, 4, 0, INFINITY, -3, NAN, 9, 5, 6, 7, 1};
    GfImage image = {{2, 2, 4, true, GF_F32}, 8 * sizeof(float), samples};
    GfStretch stretch = gf_stretch_none();
    gf_stretch_widen(&stretch, &image, 0, 3);
    assert_true(stretch.low == -3.0 && stretch.high == 7.0);
    assert_true(gf_stretch_sample(&stretch, 2.0, GF_U8) == 127.5);
    assert_true(gf_stretch_sample(&stretch, 7.0, GF_U16) == 65535.0);
    stretch = gf_stretch_none();
    assert_true(gf_stretch_sample(&stretch, 2.0, GF_U8) == 128.0);
    gf_stretch_widen(&stretch, &image, 2, 1);
    assert_true(stretch.low == 3.0 && stretch.high == 7.0);
    stretch.noise = 4.0;
    assert_true(gf_stretch_sample(&stretch, 7.0, GF_U8) == 128.0);
    stretch.noise = 3.9;
    assert_true(gf_stretch_sample(&stretch, 7.0, GF_U8) == 255.0);
}

static void test_held_is_limited(void **state)
{
    (void)state;
    const GfFormat format = {3, 2, 2, false, GF_F32}, huge = {SIZE_MAX / 8, 3, 2, false, GF_F32};
    const GfFormat *two[] = {&format, &format}, *large[] = {&huge};
    GfHeld held;
    assert_int_equal(gf_held_create(two, 2, 95, &held), GF_ELIMIT);
    assert_int_equal(held.count, 0);
    assert_int_equal(gf_held_create(large, 1, SIZE_MAX, &held), GF_ELIMIT);
    assert_int_equal(gf_held_create(two, 2, 96, &held), GF_OK);
    float rows[12];
    for (size_t i = 0; i < 12; i++)
        rows[i] = (float)i;
    const GfBand first = {0, 1, 24, rows}, last = {1, 1, 24, rows + 6};
    assert_false(gf_held_is_last(&held, 1, &first));
    assert_true(gf_held_is_last(&held, 1, &last));
    gf_held_rows(&held, 1, &first);
    gf_held_rows(&held, 1, &last);
    for (size_t y = 0; y < 2; y++)
        assert_memory_equal((unsigned char *)held.images[1].samples + y * held.images[1].stride,
                            rows + 6 * y, 24);
    gf_held_free(&held);
}

/* ---- montage ---- */

/* Writes the montage of the responses as an array and reads its samples. */
static void draw(const GfMontage *montage, const GfHeld *held, GfImage *image)
{
    static const char path[] = "montage.npy";
    GfOutput *output;
    GfWriter *writer;
    GfReader *reader;
    const GfMetadata metadata = gf_metadata_none();
    const GfWriteOptions write = gf_write_options_default();
    const GfReadOptions read = gf_read_options_default();
    assert_int_equal(gf_output_open(path, true, &output), GF_OK);
    assert_int_equal(
        gf_writer_create(output, &gf_npy, &montage->format, 1, &metadata, &write, &writer), GF_OK);
    assert_int_equal(gf_montage_write(montage, held, writer), GF_OK);
    assert_int_equal(gf_writer_finish(writer), GF_OK);
    gf_writer_close(writer);
    assert_int_equal(gf_output_commit(&output), GF_OK);
    assert_int_equal(gf_reader_open(path, &read, &reader), GF_OK);
    assert_int_equal(gf_image_allocate(&reader->format, image), GF_OK);
    GfBand band = gf_image_band(image);
    assert_int_equal(gf_reader_rows(reader, &band), GF_OK);
    gf_reader_close(reader);
    unlink(path);
}

static double at(const GfImage *image, size_t x, size_t y, size_t c)
{
    const unsigned char *row = (const unsigned char *)image->samples + y * image->stride;
    return gf_sample_at(row, x * image->format.channels + c, image->format.sample);
}

/* One output of RGBA, half of it transparent, and one of two gray maps of half the size. */
static void test_montage_of_colours_and_maps(void **state)
{
    (void)state;
    const GfFormat in = {2, 2, 4, true, GF_U8}, colour = {2, 2, 4, true, GF_F32},
                   maps = {1, 2, 2, false, GF_F32};
    const GfFormat *formats[] = {&colour, &maps};
    float rgba[] = {0, 10, 5, 255, 10, 0, 0, 51, 77, 88, 99, 0, 5, 5, 5, 255},
          gray[] = {1, 9, 2, 9};
    const GfOptions options = {.montage_scale = GF_MONTAGE_MAP};
    GfMontage montage;
    GfHeld held;
    GfImage image;
    assert_int_equal(gf_montage_plan(&options, &in, formats, 2, GF_U8, &montage), GF_OK);
    assert_int_equal(montage.sheet.tiles, 3);
    assert_int_equal(montage.format.channels, 3);
    assert_int_equal(montage.format.width, 16);
    assert_int_equal(montage.format.height, 16);
    assert_int_equal(gf_held_create(formats, 2, SIZE_MAX, &held), GF_OK);
    const GfBand bands[] = {{0, 2, 32, rgba}, {0, 2, 8, gray}};
    gf_held_rows(&held, 0, &bands[0]);
    gf_held_rows(&held, 1, &bands[1]);
    draw(&montage, &held, &image);
    const double expected[][6] = {
        {4, 4, 0, 255, 128},                            /* stretched from 0 to 10 */
        {5, 4, 153, 102, 102},                          /* a fifth of it over gray */
        {4, 5, 128, 128, 128},                          /* transparent */
        {10, 4, 0, 0, 0},                               /* map 1: gray on a sheet of colours */
        {10, 5, 255, 255, 255}, {4, 10, 128, 128, 128}, /* map 2: one number */
        {0, 0, 128, 128, 128},  {15, 15, 128, 128, 128}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (size_t c = 0; c < 3; c++)
            assert_true(at(&image, (size_t)expected[i][0], (size_t)expected[i][1], c) ==
                        expected[i][2 + c]);
    gf_image_free(&image);
    gf_held_free(&held);
    gf_montage_free(&montage);
}

/* Kernels with negative taps take opacity below nothing and above all of it. */
static void test_montage_limits_opacity(void **state)
{
    (void)state;
    const GfFormat in = {4, 1, 2, true, GF_U8}, response = {4, 1, 2, true, GF_F32};
    const GfFormat *formats[] = {&response};
    const GfOptions options = {.montage_scale = GF_MONTAGE_MAP};
    float samples[] = {0, 255, 4, 510, 10, 255, 10, -51};
    const GfBand band = {0, 1, sizeof samples, samples};
    const double expected[] = {0, 102, 255, 128};
    GfMontage montage;
    GfHeld held;
    GfImage image;
    assert_int_equal(gf_montage_plan(&options, &in, formats, 1, GF_U8, &montage), GF_OK);
    assert_int_equal(gf_held_create(formats, 1, SIZE_MAX, &held), GF_OK);
    gf_held_rows(&held, 0, &band);
    draw(&montage, &held, &image);
    for (size_t x = 0; x < 4; x++)
        assert_true(at(&image, GF_SHEET_MARGIN + x, GF_SHEET_MARGIN, 0) == expected[x]);
    gf_image_free(&image);
    gf_held_free(&held);
    gf_montage_free(&montage);
}

/* ---- kernels ---- */

static void test_kernels_by_hand(void **state)
{
    (void)state;
    const double weights[] = {1, -0.5, 0, 0, 0, 0, 8, 4};
    GfImage image;
    assert_int_equal(gf_kernels_picture(weights, 2, 1, 1, 4, &image), GF_OK);
    /* Two tiles of 128: taps of 32 x 32 pixels, in the middle of their height. */
    assert_int_equal(image.format.width, 268);
    assert_int_equal(image.format.height, 136);
    assert_int_equal(image.format.channels, 1);
    assert_true(at(&image, 4, 52, 0) == 255 && at(&image, 35, 83, 0) == 255);
    assert_true(at(&image, 36, 52, 0) == 64 /* 128 - 63.5, half to even */);
    assert_true(at(&image, 68, 52, 0) == 128 && at(&image, 4, 51, 0) == 32);
    assert_true(at(&image, 136 + 64, 52, 0) == 255 && at(&image, 136 + 96, 52, 0) == 192);
    gf_image_free(&image);
}

static void test_kernels_of_channels(void **state)
{
    (void)state;
    const double weights[] = {1, 0, -1, -2, 2, 1};
    GfImage image;
    assert_int_equal(gf_kernels_picture(weights, 2, 3, 1, 1, &image), GF_OK);
    assert_int_equal(image.format.channels, 3);
    assert_true(at(&image, 4, 4, 0) == 255 && at(&image, 4, 4, 1) == 128 &&
                at(&image, 4, 4, 2) == 1);
    assert_true(at(&image, 136, 4, 0) == 1 && at(&image, 136, 4, 2) == 192);
    gf_image_free(&image);
    /* A row a map. */
    assert_int_equal(gf_kernels_picture(weights, 3, 2, 1, 1, &image), GF_OK);
    assert_int_equal(image.format.channels, 1);
    assert_int_equal(image.format.width, 268);
    assert_int_equal(image.format.height, 400);
    gf_image_free(&image);
    const double nothing[9] = {0};
    assert_int_equal(gf_kernels_picture(nothing, 1, 1, 3, 3, &image), GF_OK);
    assert_true(at(&image, 50, 50, 0) == 128);
    gf_image_free(&image);
    assert_int_equal(gf_kernels_picture(weights, 1 << 20, 1, 1, 1, &image), GF_ELIMIT);
    assert_null(image.samples);
}

static void test_kernel_list(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t kernels;
    } cases[] = {{"sobel", 2}, {"gaussian,sobel:x", 2}, {"relu", 0}, {"box", 1}, {"unsharp", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfKernelList list = {0};
        GfFilter *filter;
        assert_int_equal(gf_filter_parse(cases[i].text, &filter), GF_OK);
        assert_int_equal(gf_kernel_list_add(&list, filter), GF_OK);
        assert_int_equal(list.count, cases[i].kernels);
        gf_kernel_list_free(&list);
        gf_filter_free(filter);
    }
    /* A level is the difference of two gaussians: one kernel, which sums to nothing. */
    GfMembers members;
    GfKernelList list = {0};
    double sum = 0.0;
    assert_int_equal(gf_members_parse("laplacian:levels=1", &members), GF_OK);
    assert_int_equal(gf_kernel_list_add(&list, members.filters[0]), GF_OK);
    assert_int_equal(list.count, 1);
    for (size_t i = 0; i < list.tiles[0].width * list.tiles[0].height; i++)
        sum += list.tiles[0].weights[i];
    assert_true(fabs(sum) < 1e-12);
    gf_kernel_list_free(&list);
    gf_members_free(&members);
}

/* ---- names ---- */

static void test_names_of_maps(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t map, maps;
        const char *name;
    } cases[] = {{"a.conv.png", 3, 16, "a.conv.03.png"}, {"d.x/a.JPG", 100, 100, "d.x/a.100.JPG"},
                 {"a.conv.png", 1, 1, "a.conv.png"},     {"d.png/a", 2, 9, "d.png/a.2"},
                 {"d/.png", 1, 2, "d/.png.1"},           {"a.tar", 7, 10, "a.tar.07"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name;
        assert_int_equal(gf_name_map(cases[i].path, cases[i].map, cases[i].maps, &name), GF_OK);
        assert_string_equal(name, cases[i].name);
        free(name);
    }
}

/* A file with one row of two gray pixels. */
static void write_picture(const char *path)
{
    GfOutput *output;
    GfWriter *writer;
    const GfFormat format = {2, 1, 1, false, GF_U8};
    const GfMetadata metadata = gf_metadata_none();
    const GfWriteOptions write = gf_write_options_default();
    uint8_t samples[2] = {1, 2};
    GfBand band = {0, 1, 2, samples};
    assert_int_equal(gf_output_open(path, true, &output), GF_OK);
    assert_int_equal(gf_writer_create(output, &gf_png, &format, 1, &metadata, &write, &writer),
                     GF_OK);
    assert_int_equal(gf_writer_rows(writer, 0, &band), GF_OK);
    assert_int_equal(gf_writer_finish(writer), GF_OK);
    gf_writer_close(writer);
    assert_int_equal(gf_output_commit(&output), GF_OK);
}

/* Of a network the plan knows how many maps it makes, also where nothing else does. */
static void test_maps_of_networks(void **state)
{
    (void)state;
    char path[] = "maps.png", base[] = "maps.net.png", *bases[] = {base};
    const GfOptions options = {.read = gf_read_options_default()};
    GfFilter *network, *filters[1];
    const GfBank bank = {.filters = filters, .count = 1};
    const GfInputFile input = {.path = path, .regular = true};
    GfJob job = {.input = &input, .bases = bases, .filters = 1, .codec = &gf_png};
    GfEntry *entry;
    GfLinear *linear;
    assert_int_equal(gf_allocate_zero(1, sizeof *network, &network), GF_OK);
    filters[0] = network;
    assert_int_equal(gf_filter_add_entry(network, 1, 0, 1, 0, &entry), GF_OK);
    assert_int_equal(gf_filter_add_layer(network, 8, 1, 1, 1, 1, &linear), GF_OK);
    assert_int_equal(gf_filter_add_upsample(network, (GfUpsample){true, 2, 2, GF_NO_REFERENCE}),
                     GF_OK);
    write_picture(path);
    job.bases_are_names = true;
    assert_int_equal(gf_maps_list(&options, &bank, &job), GF_OK);
    assert_int_equal(job.outputs, 2);
    assert_string_equal(job.paths[1], "maps.net.2.png");
    assert_int_equal(job.maps[0], 2);
    for (size_t i = 0; i < job.outputs; i++)
        free(job.paths[i]);
    free(job.paths);
    free(job.maps);
    job.outputs = 0;
    job.bases_are_names = false;
    assert_int_equal(gf_maps_list(&options, &bank, &job), GF_OK);
    assert_int_equal(job.outputs, 1);
    free(job.paths[0]);
    free(job.paths);
    free(job.maps);
    unlink(path);
    gf_filter_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sheet_is_near_square),
        cmocka_unit_test(test_sheet_bounds),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_stretch_looks_at_what_is_seen),
        cmocka_unit_test(test_held_is_limited),
        cmocka_unit_test(test_montage_of_colours_and_maps),
        cmocka_unit_test(test_montage_limits_opacity),
        cmocka_unit_test(test_kernels_by_hand),
        cmocka_unit_test(test_kernels_of_channels),
        cmocka_unit_test(test_kernel_list),
        cmocka_unit_test(test_names_of_maps),
        cmocka_unit_test(test_maps_of_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
