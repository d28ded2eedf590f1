/* What a report shows: bars of a histogram and samples of reduced pictures, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "app/histogram.h"
#include "app/view.h"

/* A row of one channel. */
static GfImage row_of(GfSample sample, const void *samples, size_t count)
{
    GfImage image;
    const GfFormat format = {count, 1, 1, false, sample};
    assert_int_equal(gf_image_allocate(&format, &image), GF_OK);
    memcpy(image.samples, samples, gf_row_bytes(&format));
    return image;
}

static GfHistogram count(GfSample sample, const void *a, const void *b, size_t samples)
{
    GfHistogram histogram;
    GfImage one = row_of(sample, a, samples), other = row_of(sample, b, samples);
    gf_histogram_count(&one, &other, &histogram);
    gf_image_free(&one);
    gf_image_free(&other);
    return histogram;
}

static void small_integers_have_a_bar_each(void **state)
{
    (void)state;
    const uint8_t a[] = {10, 20, 30, 40, 0}, b[] = {10, 24, 30, 39, 5};
    GfHistogram h = count(GF_U8, a, b, 5);
    assert_int_equal(h.half, 5);
    assert_true(h.width == 1.0 && h.reach == 0.0);
    assert_int_equal(h.counts[0], 1); /* -5 */
    assert_int_equal(h.counts[1], 1); /* -4 */
    assert_int_equal(h.counts[5], 2);
    assert_int_equal(h.counts[6], 1); /* +1 */
    assert_int_equal(h.counts[10], 0);
    assert_true(gf_histogram_middle(&h, 1) == -4.0 && gf_histogram_least(&h, 1) == 4.0);
}

static void large_integers_share_bars(void **state)
{
    (void)state;
    /* 511 differences in 41 bars: 12.5 a bar, and the next odd number is 13. */
    const uint8_t a[] = {255, 0, 6, 7, 0, 0}, b[] = {0, 255, 0, 0, 6, 19};
    GfHistogram h = count(GF_U8, a, b, 6);
    assert_int_equal(h.half, 20);
    assert_true(h.width == 13.0 && h.reach == 6.0);
    assert_int_equal(h.counts[0], 1);  /* -255 in -266 .. -254 */
    assert_int_equal(h.counts[19], 1); /* -19 in -19 .. -7 */
    assert_int_equal(h.counts[20], 2); /* 6 and -6 */
    assert_int_equal(h.counts[21], 1); /* 7 */
    assert_int_equal(h.counts[40], 1);
    assert_true(gf_histogram_least(&h, 20) == 0.0 && gf_histogram_least(&h, 21) == 7.0);
}

static void floats_fill_the_bars(void **state)
{
    (void)state;
    const float a[] = {41.0f, 0.0f, 0.9f, 1.1f, NAN, NAN, INFINITY};
    const float b[] = {0.0f, 41.0f, 0.0f, 0.0f, NAN, 0.0f, 0.0f};
    GfHistogram h = count(GF_F32, a, b, 7);
    assert_true(h.width == 2.0 && h.reach == 1.0);
    assert_int_equal(h.counts[0], 1);
    assert_int_equal(h.counts[40], 1);
    assert_int_equal(h.counts[20], 2); /* 0.9, and NaN beside NaN */
    assert_int_equal(h.counts[21], 1);
    assert_int_equal(h.infinite, 2);
    GfHistogram none = count(GF_F32, a, a, 4);
    assert_int_equal(none.half, 0);
    assert_int_equal(none.counts[0], 4);
}

static void transparent_pixels_weigh_nothing(void **state)
{
    (void)state;
    const GfFormat format = {3, 2, 2, true, GF_U8};
    const uint8_t rows[2][6] = {{200, 255, 9, 0, 7, 0}, {100, 255, 9, 0, 7, 0}};
    GfImage image, out;
    assert_int_equal(gf_image_allocate(&format, &image), GF_OK);
    for (size_t y = 0; y < 2; y++)
        memcpy((unsigned char *)image.samples + y * image.stride, rows[y], sizeof rows[y]);
    GfView view = gf_view_make(&format, 0, 255.0);
    assert_int_equal(gf_view_draw(&view, &image, &(GfRegion){0, 0, 3, 2}, 2, &out), GF_OK);
    const uint8_t *drawn = out.samples;
    assert_int_equal(out.format.width, 2); /* the second of one column only */
    assert_int_equal(out.format.height, 1);
    assert_int_equal(drawn[0], 150);
    assert_int_equal(drawn[1], 128); /* half of 255, to even */
    assert_int_equal(drawn[2], 0);
    assert_int_equal(drawn[3], 0);
    gf_image_free(&image);
    gf_image_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_integers_have_a_bar_each),
        cmocka_unit_test(large_integers_share_bars),
        cmocka_unit_test(floats_fill_the_bars),
        cmocka_unit_test(transparent_pixels_weigh_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
