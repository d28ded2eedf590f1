/* Which steps the form of method `special` for 3 x 3 on bytes takes, and which gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/algorithms.h"
#include "tests/unit/bank_step.h"

enum { SIDE = 3, TAPS = SIDE * SIDE, RGB = 3, LARGE = 2048 };

static GfStep kernel(double *weights)
{
    return bank_step(LARGE, 1, SIDE, SIDE, weights);
}

/* Both differences, smoothed by 1, middle, 1, times `across` and `down`; that across the `first` or
 * second. */
static GfStep gradient(size_t channels, double middle, double across, double down, size_t first,
                       double *weights)
{
    const double taps[TAPS] = {-1, 0, 1, -middle, 0, middle, -1, 0, 1};
    for (size_t i = 0; i < TAPS; i++) {
        weights[first * TAPS + i] = across * taps[i];
        weights[(1 - first) * TAPS + i] = down * taps[i % SIDE * SIDE + i / SIDE];
    }
    GfStep step = bank_step(LARGE, channels, SIDE, SIDE, weights);
    step.linear.filters = 2;
    step.combine.op = GF_COMBINE_L2;
    return step;
}

static void test_gradients(void **state)
{
    double weights[2 * TAPS];
    GfGradient found;
    (void)state;
    for (size_t first = 0; first < 2; first++)
        for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
            const GfStep sobel = gradient(1, 2.0, 0.25 * sign, 0.25, first, weights);
            assert_true(gf_special_is_gradient(&sobel.linear, &found));
            assert_true(found.middle == 2.0 && found.unit == 0.25);
        }
    /* Prewitt's; the largest whose responses halves hold, (6 + 2) * 255 = 2040; the next;
     * Scharr's. */
    const struct {
        double middle;
        bool is;
    } smooth[] = {{1.0, true},  {6.0, true},         {0.0, true},  {7.0, false},
                  {2.5, false}, {10.0 / 3.0, false}, {-2.0, false}};
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) {
        const GfStep step = gradient(1, smooth[i].middle, 1.0, 1.0, 0, weights);
        assert_int_equal(gf_special_is_gradient(&step.linear, &found), smooth[i].is);
    }
    GfStep step = gradient(1, 2.0, 1.0, 2.0, 0, weights); /* of unequal length */
    assert_false(gf_special_is_gradient(&step.linear, &found));
    step = gradient(1, 2.0, 1.0, 1.0, 0, weights);
    memcpy(weights + TAPS, weights, TAPS * sizeof *weights); /* both across */
    assert_false(gf_special_is_gradient(&step.linear, &found));
    for (size_t i = 0; i < 2 * TAPS; i++) {
        step = gradient(1, 2.0, 1.0, 1.0, 0, weights);
        weights[i] += 0.5;
        assert_false(gf_special_is_gradient(&step.linear, &found));
    }
    step = gradient(1, 2.0, 0.0, 0.0, 0, weights);
    assert_false(gf_special_is_gradient(&step.linear, &found));
}

static void test_steps(void **state)
{
    double weights[2 * TAPS] = {0.1, 0.23, 0.3571, -0.2, 1.0};
    (void)state;
    GfStep step = kernel(weights);
    assert_true(gf_special_takes_bytes(&step));
    step.posts = 1;
    step.post[0] = (GfPointwise){.op = GF_POINTWISE_ABS};
    assert_true(gf_special_takes_bytes(&step));
    step.mid = 128.0; /* which is added to the size */
    assert_false(gf_special_takes_bytes(&step));
    step.mid = 0.0;
    step.post[0].op = GF_POINTWISE_RELU;
    assert_false(gf_special_takes_bytes(&step));
    for (size_t i = 0; i < 10; i++) {
        step = kernel(weights);
        if (i == 0)
            step.in = GF_U16;
        if (i == 1)
            step.out = GF_F32;
        if (i == 2)
            step.channels = step.out_channels = step.post_channels = RGB;
        if (i >= 3 && i < 3 + BANK_SPOILS)
            spoil_bank_step(&step, i - 3);
        if (i == 6)
            step.linear.width = 1;
        if (i == 7)
            step.linear.depth = 1;
        if (i == 8)
            step.linear.filters = 2;
        if (i == 9)
            step.combine.op = GF_COMBINE_L1;
        assert_false(gf_special_takes_bytes(&step));
    }
    for (size_t channels = 1; channels <= 4; channels++) {
        step = gradient(channels, 2.0, 1.0, 1.0, 0, weights);
        step.post_channels = channels;
        assert_int_equal(gf_special_takes_bytes(&step), channels == 1 || channels == RGB);
    }
    step = gradient(1, 2.0, 1.0, 1.0, 0, weights);
    step.linear.offset = 0.5;
    assert_false(gf_special_takes_bytes(&step));
    step = gradient(1, 2.0, 1.0, 1.0, 0, weights);
    step.combine.op = GF_COMBINE_L1;
    assert_false(gf_special_takes_bytes(&step));
    step = gradient(RGB, 2.0, 1.0, 1.0, 0, weights);
    step.post_channels = RGB - 1; /* opacity */
    assert_false(gf_special_takes_bytes(&step));
}

static const char *chosen(size_t width, size_t height, GfStep step)
{
    const GfCard card = {.capability = 90};
    step.in_width = step.out_width = width;
    step.in_height = step.out_height = height;
    return gf_algorithm_choose(&step, NULL, &(GfUse){.pictures = 1}, &card)->name;
}

/* `auto` takes lengths, but on small pictures in colour, and weights of several planes; others
 * where it is measured to be faster. */
static void test_choice(void **state)
{
    double weights[2 * TAPS] = {0.1, 0.23, 0.3571, -0.2, 1.0};
    double smooth[] = {0.123, 0.754, 0.123};
    double plain[TAPS] = {1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0};
    (void)state;
    for (size_t side = 16; side < 600; side += 91)
        assert_string_equal(chosen(side, 64 * side, kernel(weights)), "special");
    assert_string_equal(chosen(100, 100, kernel(plain)), "special");
    assert_string_equal(chosen(127, 8191, kernel(plain)), "special");
    assert_string_equal(chosen(127, 8192, kernel(plain)), "tensor");
    assert_string_equal(chosen(16, 65536, kernel(weights)), "tensor");
    assert_string_equal(chosen(128, 1 << 16, kernel(plain)), "special");
    assert_string_equal(chosen(641, 481, kernel(plain)), "special");
    GfStep step = kernel(weights);
    step.separable = true; /* of which `tensor` needs a plane a direction */
    step.linear.columns = step.linear.rows = smooth;
    assert_string_equal(chosen(64, 4096, step), "special");
    assert_string_equal(chosen(64, 16384, step), "special");
    assert_string_equal(chosen(63, 16384, step), "tensor");
    assert_string_equal(chosen(65, 16384, step), "tensor");
    assert_string_equal(chosen(641, 481, step), "special");
    step = kernel(weights);
    step.channels = step.out_channels = step.post_channels = RGB;
    assert_string_equal(chosen(LARGE, LARGE, step), "tensor");
    for (size_t channels = 1; channels <= RGB; channels += RGB - 1)
        assert_string_equal(chosen(LARGE, LARGE, gradient(channels, 10.0, 1.0, 1.0, 0, weights)),
                            "tensor");
    assert_string_equal(chosen(64, 64, gradient(1, 2.0, 1.0, 1.0, 0, weights)), "special");
    step = gradient(RGB, 2.0, 1.0, 1.0, 0, weights);
    assert_string_equal(chosen(256, 256, step), "tensor");
    assert_string_equal(chosen(640, 480, step), "tensor");
    assert_string_equal(chosen(300, 300, step), "special");
    assert_string_equal(chosen(641, 481, step), "special");
    assert_string_equal(chosen(1024, 1024, step), "special");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
