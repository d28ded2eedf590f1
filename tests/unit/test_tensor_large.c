/* The second matrix of method `tensor` for larger kernels, multiplied out here as a tensor core
 * does and held against the kernel that it stands for; and which kernels those are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/status.h"
#include "gpu/algorithms.h"
#include "gpu/tensor.h"
#include "tests/unit/bank_step.h"

enum { BLOCK = 8, GROUP = GF_LARGE_GROUP, SIDE = 160 };

static uint32_t state = 12345;
static double weights[SIDE * SIDE];

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static size_t between(size_t least, size_t most)
{
    return least + next() % (most - least + 1);
}

static void fill_fractions(size_t count)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = ((double)next() / 0x1p24 - 0.3) / (double)count;
}

static void fill_integers(size_t count, size_t most)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = (double)between(0, 2 * most) - (double)most;
}

/* Of the weights above, anchored anywhere. */
static GfStep bank(size_t channels, size_t width, size_t height)
{
    GfStep step = bank_step(1000, channels, width, height, weights);
    step.linear.anchor_x = between(0, width - 1);
    step.linear.anchor_y = between(0, height - 1);
    step.origin_x = -(ptrdiff_t)step.linear.anchor_x;
    step.origin_y = -(ptrdiff_t)step.linear.anchor_y;
    return step;
}

static GfStatus supports(const GfStep *step)
{
    return gf_algorithm_find("tensor")->supports(step, false);
}

/* Byte `at` of a block's window, for its sample n, in a row and plane of the second matrix. */
static int matrix_byte(const GfTensorLarge *large, const uint32_t *words, size_t row, size_t p,
                       size_t at, size_t n)
{
    const size_t in_group = at % GROUP, half = in_group / (GROUP / 2);
    const size_t lane = n * 4 + in_group % (GROUP / 2) / 4;
    const size_t matrix = (at / GROUP * large->rows + row) * large->planes + p;
    const uint32_t word = words[(matrix * GF_TENSOR_LANES + lane) * 2 + half];
    return (int8_t)(word >> at % 4 * 8 & 0xFF);
}

/* The sums that a block's planes have in sample n, `pixels` being its window. */
static void multiply(const GfTensorLarge *large, const uint32_t *words, const unsigned char *pixels,
                     size_t n, int64_t *sums)
{
    const size_t pitch = large->groups * GROUP;
    for (size_t p = 0; p < large->planes; p++) {
        sums[p] = 0;
        for (size_t i = 0; i < large->rows * pitch; i++)
            sums[p] += matrix_byte(large, words, i / pitch, p, i % pitch, n) * pixels[i];
    }
}

/* Are those bytes zeros that the device leaves out? */
static void check_half(const GfLinear *linear, const GfTensorLarge *large, const uint32_t *words)
{
    bool zeros = true;
    for (size_t i = 0; i < large->rows * large->planes * BLOCK * (GROUP / 2); i++)
        zeros &=
            matrix_byte(large, words, i / (GROUP / 2) / BLOCK % large->rows,
                        i / (GROUP / 2) / BLOCK / large->rows,
                        large->groups * GROUP - 1 - i % (GROUP / 2), i / (GROUP / 2) % BLOCK) == 0;
    assert_true(zeros || !gf_large_ends_half(linear));
    const size_t window = linear->width + BLOCK - 1;
    assert_int_equal(gf_large_ends_half(linear), window <= large->groups * GROUP - GROUP / 2);
}

/* The second matrix of a step that is supported; the caller's to free(). */
static uint32_t *make_matrix(const GfStep *step, size_t planes, GfTensorLarge *large)
{
    uint32_t *words;
    assert_int_equal(supports(step), GF_OK);
    assert_true(gf_tensor_is_large(step));
    assert_int_equal(gf_tensor_large_plan(step, large, &words), GF_OK);
    assert_int_equal(large->planes, planes);
    return words;
}

/* Against the kernel on random bytes, or on white where every sum is largest. */
static void check(const GfStep *step, size_t planes, bool white)
{
    const GfLinear *linear = &step->linear;
    GfTensorLarge large;
    uint32_t *words = make_matrix(step, planes, &large);
    assert_true(large.rows >= linear->height && large.rows < linear->height + GF_LARGE_STEP);
    assert_int_equal(large.rows % GF_LARGE_STEP, 0);
    const size_t pitch = large.groups * GROUP;
    assert_in_range(pitch, linear->width + BLOCK - 1, linear->width + BLOCK + GROUP - 2);
    check_half(linear, &large, words);
    unsigned char *pixels = malloc(large.rows * pitch);
    assert_non_null(pixels);
    for (size_t i = 0; i < large.rows * pitch; i++)
        pixels[i] = white ? 255 : (unsigned char)next();
    for (size_t n = 0; n < BLOCK; n++) {
        double exact = 0.0, most = 0.0;
        int64_t sums[GF_TENSOR_PLANES] = {0};
        multiply(&large, words, pixels, n, sums);
        for (size_t i = 0; i < linear->width * linear->height; i++) {
            const size_t row = large.rows - linear->height + i / linear->width;
            const size_t at = row * pitch + i % linear->width + n;
            exact += linear->weights[i] * pixels[at];
            most = fmax(most, fabs(linear->weights[i]));
        }
        for (size_t p = 0; p < large.planes; p++)
            assert_true(llabs(sums[p]) < 1 << 30);
        const double sum = large.unit * (double)(sums[0] + sums[1] * 256 + sums[2] * 65536);
        /* Each integer is off by half a unit at most. */
        const double off = planes == 1 ? 1e-9 : 0x1p-23;
        assert_true(fabs(sum - exact) <=
                    off * most * 255.0 * (double)(linear->width * linear->height));
    }
    free(pixels);
    free(words);
}

/* Against the kernel on random samples of 16 bits, or on white: upper and lower bytes by
 * themselves. Sums of a plane times lower bytes, and of the plane below it times upper ones, are
 * added up in 32 bits. */
static void check_16_bits(const GfStep *step, size_t planes, bool white)
{
    enum { SUMS = GF_TENSOR_PLANES + 1 };
    const GfLinear *linear = &step->linear;
    GfTensorLarge large;
    uint32_t *words = make_matrix(step, planes, &large);
    const size_t pitch = large.groups * GROUP, count = large.rows * pitch;
    unsigned char *upper = malloc(count), *lower = malloc(count);
    assert_non_null(upper);
    assert_non_null(lower);
    for (size_t i = 0; i < count; i++) {
        upper[i] = white ? 255 : (unsigned char)next();
        lower[i] = white ? 255 : (unsigned char)next();
    }
    for (size_t n = 0; n < BLOCK; n++) {
        double exact = 0.0, rounding = 0.0, sum = 0.0;
        int64_t high[SUMS] = {0}, low[SUMS] = {0};
        multiply(&large, words, upper, n, high + 1);
        multiply(&large, words, lower, n, low);
        for (size_t i = 0; i < linear->width * linear->height; i++) {
            const size_t row = large.rows - linear->height + i / linear->width;
            const size_t at = row * pitch + i % linear->width + n;
            exact += linear->weights[i] * (256.0 * upper[at] + lower[at]);
            rounding += 65535.0 * large.unit / 2.0;
        }
        for (size_t p = SUMS; p-- > 0;) {
            assert_true(llabs(high[p] + low[p]) <= INT32_MAX);
            sum = 256.0 * sum + (double)(high[p] + low[p]);
        }
        assert_true(fabs(large.unit * sum - exact) <= (planes == 1 ? 1e-6 : rounding));
    }
    free(upper);
    free(lower);
    free(words);
}

/* Sizes that have no other way: taller than 15, or wider on one channel than 25. */
static void pick_size(size_t most, size_t *width, size_t *height)
{
    const bool tall = next() % 2;
    *width = between(tall ? 1 : 26, most);
    *height = between(tall ? 16 : 1, most);
}

static void test_fractions(void **unused)
{
    size_t width, height;
    (void)unused;
    for (int turn = 0; turn < 60; turn++) {
        pick_size(63, &width, &height);
        fill_fractions(width * height);
        GfStep step = bank(between(1, 4), width, height);
        check(&step, GF_TENSOR_PLANES, turn % 4 == 3);
    }
}

static void test_integers(void **unused)
{
    size_t width, height;
    (void)unused;
    for (int turn = 0; turn < 60; turn++) {
        pick_size(63, &width, &height);
        fill_integers(width * height, turn % 3 ? 127 : 9);
        for (size_t i = 0; i < width * height && turn % 2; i++)
            weights[i] /= 1000.0;
        GfStep step = bank(between(1, 4), width, height);
        step.out = turn % 5 ? GF_U8 : GF_F32;
        check(&step, 1, turn % 4 == 3);
        step.posts = 1; /* functions may follow */
        check(&step, 1, false);
    }
}

/* Weights that are whole, but no small multiples of anything. */
static void test_large_weights(void **unused)
{
    size_t width, height;
    (void)unused;
    for (int turn = 0; turn < 20; turn++) {
        pick_size(63, &width, &height);
        fill_integers(width * height, 100000);
        GfStep step = bank(1, width, height);
        step.linear.scale = 1e-5 / (double)(width * height);
        check(&step, GF_TENSOR_PLANES, turn % 2);
    }
}

/* The largest kernels, and those whose weights all have digits that are as large as can be. */
static void test_limits(void **unused)
{
    (void)unused;
    fill_fractions(127 * 127);
    GfStep step = bank(3, 127, 127);
    check(&step, GF_TENSOR_PLANES, true);
    for (size_t i = 0; i < 127 * 127; i++)
        weights[i] = i == 0 ? 1.0 : 127.0;
    step = bank(1, 127, 127);
    step.linear.scale = 1e-6;
    check(&step, 1, true);
    for (size_t i = 0; i < 127 * 127; i++)
        weights[i] = i == 0 ? 0.12345 : 1.0;
    step = bank(1, 127, 127);
    step.linear.scale = 1.0 / (127.0 * 127.0);
    check(&step, GF_TENSOR_PLANES, true);
    fill_fractions(31 * 3);
    step = bank(1, 31, 3);
    check(&step, GF_TENSOR_PLANES, false);
    step = bank(1, 3, 31);
    check(&step, GF_TENSOR_PLANES, false);
    step = bank(2, 31, 1);
    check(&step, GF_TENSOR_PLANES, false);
    /* In passes. */
    fill_fractions(SIDE * SIDE);
    step = bank(1, SIDE, SIDE);
    check(&step, GF_TENSOR_PLANES, true);
    assert_true(gf_large_pass(&step.linear, 1, GF_TENSOR_PLANES) < gf_large_rows(&step.linear));
    step = bank(1, 8, SIDE * SIDE / 8);
    check(&step, GF_TENSOR_PLANES, false);
}

static void check_pass(const GfLinear *linear, size_t bytes, size_t planes)
{
    const size_t pass = gf_large_pass(linear, bytes, planes), rows = gf_large_rows(linear);
    assert_true(pass > 0 && pass % GF_LARGE_STEP == 0 && pass <= rows);
    assert_true(gf_large_bytes(linear, bytes, planes, pass) <= GF_SHARED_BYTES);
    const size_t passes = (rows + pass - 1) / pass;
    assert_true(passes == 1 || rows - (passes - 1) * pass + passes * GF_LARGE_STEP >= pass);
}

/* Passes are whole steps, have room, and are as high as each other but for the last. */
static void test_passes(void **unused)
{
    (void)unused;
    for (size_t width = 1; width < 1600; width += 13)
        for (size_t height = 1; height < 3000; height += 61)
            for (size_t bytes = 1; bytes <= (width < 700 ? 2 : 1); bytes++) {
                const GfLinear linear = {.width = width, .height = height};
                check_pass(&linear, bytes, 1);
                check_pass(&linear, bytes, GF_TENSOR_PLANES);
            }
}

static void refuses(const GfStep *step, const char *reason)
{
    assert_int_equal(supports(step), GF_EUNSUPPORTED);
    assert_non_null(strstr(gf_message(), "tensor: "));
    assert_non_null(strstr(gf_message(), reason));
}

static void test_refusals(void **unused)
{
    (void)unused;
    fill_fractions(SIDE * SIDE);
    GfStep step = bank(1, 5000, 2);
    refuses(&step, "shared memory");
    step = bank(1, 100000, 2);
    refuses(&step, "shared memory");
    step = bank(1, 31, 31);
    step.out = GF_F32;
    refuses(&step, "8 or 16 bits");
    step = bank(1, 31, 31);
    step.posts = 1;
    step.post[0] = (GfPointwise){.op = GF_POINTWISE_TANH};
    refuses(&step, "abs, relu and scale");
    step.post[0] = (GfPointwise){.op = GF_POINTWISE_AFFINE, .a = 1e5};
    refuses(&step, "23 bits");
    step.post[0] = (GfPointwise){.op = GF_POINTWISE_ABS};
    assert_int_equal(supports(&step), GF_OK);
    step = bank(1, 31, 31);
    step.separable = true; /* left to others */
    assert_int_equal(gf_tensor_large_supports(&step), GF_EUNSUPPORTED);
    step = bank(1, 31, 31);
    step.linear.filters = 2;
    refuses(&step, "15 x 15");
    step = bank(1, 31, 31);
    step.stride_x = 2;
    refuses(&step, "stride");
    /* Sums far beyond white: what the weights' last digits lose is seen. */
    step = bank(1, 31, 31);
    step.linear.scale = 1e5;
    refuses(&step, "23 bits");
    step.linear.scale = 1.0;
    assert_int_equal(supports(&step), GF_OK);
}

/* Where f32 is not enough it is taken for larger kernels to integers, if their last step is exact
 * enough, too. */
static void test_wide(void **unused)
{
    const GfAlgorithm *tensor = gf_algorithm_find("tensor");
    (void)unused;
    fill_fractions(31 * 31);
    GfStep step = bank(1, 31, 31);
    assert_int_equal(tensor->supports(&step, true), GF_OK);
    step.out = GF_F32;
    assert_int_equal(tensor->supports(&step, true), GF_EUNSUPPORTED);
    assert_non_null(strstr(gf_message(), "f64"));
    step = bank(1, 5, 5); /* not in this way */
    assert_int_equal(tensor->supports(&step, true), GF_EUNSUPPORTED);
    fill_integers(31 * 31, 9);
    step = bank(1, 31, 31);
    step.linear.scale = 1.0 / (9.0 * 31.0 * 31.0);
    assert_int_equal(tensor->supports(&step, true), GF_OK);
    step.linear.offset = 1e5; /* which rounds what is left of a sum */
    assert_int_equal(tensor->supports(&step, false), GF_OK);
    assert_int_equal(tensor->supports(&step, true), GF_EUNSUPPORTED);
}

static GfStep bank_on_16_bits(size_t width, size_t height)
{
    GfStep step = bank(1, width, height);
    step.in = step.out = GF_U16;
    return step;
}

/* A product of a column and a row is what its taps are. */
static void test_products_on_16_bits(void **unused)
{
    double column[15], row[15];
    GfTensorLarge large, same;
    uint32_t *words, *others;
    (void)unused;
    for (size_t i = 0; i < 15; i++) {
        column[i] = 0.01 + (double)(i % 4) / 70.0;
        row[i] = 0.03 + (double)(i % 5) / 11.0;
    }
    for (size_t i = 0; i < 15 * 12; i++)
        weights[i] = column[i / 15] * row[i % 15];
    const GfStep whole = bank_on_16_bits(15, 12);
    GfStep product = whole;
    product.separable = true;
    product.linear.weights = NULL;
    product.linear.columns = column;
    product.linear.rows = row;
    assert_int_equal(supports(&product), GF_OK);
    assert_int_equal(gf_tensor_large_is_exact(&product), gf_tensor_large_is_exact(&whole));
    assert_int_equal(gf_tensor_large_plan(&whole, &large, &words), GF_OK);
    assert_int_equal(gf_tensor_large_plan(&product, &same, &others), GF_OK);
    assert_memory_equal(&large, &same, sizeof large);
    assert_memory_equal(words, others, gf_tensor_large_words(&large) * sizeof *words);
    free(words);
    free(others);
}

/* Of all sizes; also where f32 is not enough: what is joined is joined in f64. */
static void test_16_bits(void **unused)
{
    const GfAlgorithm *tensor = gf_algorithm_find("tensor");
    (void)unused;
    for (size_t i = 0; i < 40; i++) {
        const bool tall = i % 3 > 0; /* those within 9 x 9 go another way */
        const size_t width = between(tall ? 2 : 10, 40), height = between(tall ? 10 : 2, 40);
        const bool whole = i % 2;
        if (whole)
            fill_integers(width * height, 100);
        else
            fill_fractions(width * height);
        weights[0] = whole ? 101 : weights[0]; /* the unit is 1 */
        GfStep step = bank_on_16_bits(width, height);
        check_16_bits(&step, whole ? 1 : GF_TENSOR_PLANES, i % 4 < 2);
        assert_int_equal(tensor->supports(&step, true), GF_OK);
    }
    fill_fractions(9 * 10);
    GfStep step = bank_on_16_bits(9, 10);
    step.linear.scale = 100.0; /* what the weights' last digits lose is seen */
    refuses(&step, "23 bits");
    step = bank_on_16_bits(9, 9);
    step.out = GF_F32;
    refuses(&step, "8 or 16 bits");
    step = bank_on_16_bits(16, 10);
    step.separable = true;
    refuses(&step, "15 x 15");
    step = bank_on_16_bits(9, 9);
    step.linear.filters = 2;
    refuses(&step, "single kernels");
    step = bank_on_16_bits(9, 9);
    step.border = GF_BORDER_CONSTANT;
    step.border_value = 65536.0;
    refuses(&step, "border");
    step.border_value = 65535.0;
    assert_int_equal(supports(&step), GF_OK);
}

/* `auto` takes it where there is enough to do. */
static void test_choice(void **unused)
{
    const GfCard card = {.capability = 90}, older = {.capability = 75};
    (void)unused;
    fill_fractions(31 * 31);
    GfStep step = bank(1, 31, 31);
    assert_string_equal(gf_algorithm_choose(&step, NULL, &(GfUse){.pictures = 1}, &card)->name,
                        "tensor");
    assert_string_equal(gf_algorithm_choose(&step, NULL, &(GfUse){.pictures = 1}, &older)->name,
                        "special");
    step.out_width = step.out_height = 100;
    assert_string_equal(gf_algorithm_choose(&step, NULL, &(GfUse){.pictures = 1}, &card)->name,
                        "shared");
    assert_int_equal(supports(&step), GF_OK);
    step = bank(1, 15, 15); /* not in this way */
    assert_false(gf_tensor_is_large(&step));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fractions),
                                       cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_large_weights),
                                       cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_passes),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_products_on_16_bits),
                                       cmocka_unit_test(test_16_bits),
                                       cmocka_unit_test(test_wide),
                                       cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
