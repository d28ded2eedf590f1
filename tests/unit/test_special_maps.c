/* Which steps the forms of method `special` for short strips of a channel and for rows of pairs
 * take, and where strips pay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/launch.h"
#include "tests/unit/bank_step.h"

enum { LARGEST = 9 };

static double weights[2 * LARGEST * LARGEST];

static GfStep kernel(GfSample in, GfSample out, size_t width, size_t height, size_t side)
{
    GfStep step = bank_step(width, 1, side, side, weights);
    step.in_height = step.out_height = height;
    step.in = in;
    step.out = out;
    return step;
}

static GfStep layer(GfSample in, size_t width, size_t height, size_t side, size_t maps)
{
    GfStep step = kernel(in, GF_F32, width, height, side);
    step.linear.depth = 1;
    step.linear.filters = maps;
    return step;
}

static void test_strips(void **state)
{
    const GfSample samples[] = {GF_U8, GF_U16, GF_F16, GF_F32, GF_F64};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (size_t side = 1; side <= 11; side++) {
            const bool real = samples[i] == GF_F32;
            const GfStep step = kernel(samples[i], GF_F32, 64, 64, side);
            assert_int_equal(gf_special_takes_maps(&step), samples[i] != GF_F64 && side % 2 == 1 &&
                                                               side <= LARGEST &&
                                                               (side > 1 || real));
            const GfStep maps = layer(samples[i], 128, 64, side, 4);
            assert_int_equal(gf_special_takes_maps(&maps), samples[i] != GF_F64 && side % 2 == 1 &&
                                                               side < LARGEST &&
                                                               (side > 1 || real));
        }
    GfStep step = layer(GF_U8, 127, 64, 3, 4); /* lanes without columns */
    assert_false(gf_special_takes_maps(&step));
    for (size_t i = 0; i < 9; i++) {
        step = kernel(GF_U8, GF_U8, 64, 64, 3);
        if (i == 1)
            step.in_width = step.out_width = 31;
        if (i == 2)
            step.channels = 3;
        if (i >= 3 && i < 3 + BANK_SPOILS)
            spoil_bank_step(&step, i - 3);
        if (i == 6)
            step.linear.filters = 2; /* of which no one is made */
        if (i == 7)
            step.post_channels = 0;
        if (i == 8) {
            step.in = GF_F32;
            step.out = GF_U8;
        }
        assert_int_equal(gf_special_takes_maps(&step), i == 0);
    }
    step.in = GF_U8;
    step.posts = 1;
    for (int op = GF_POINTWISE_ABS; op <= GF_POINTWISE_LEAKY; op++) {
        step.post[0].op = (GfPointwiseOp)op;
        assert_int_equal(gf_special_takes_maps(&step),
                         op == GF_POINTWISE_ABS || op == GF_POINTWISE_RELU);
    }
}

/* Two responses joined: their factor must be one that may follow. */
static void test_joined(void **state)
{
    (void)state;
    for (size_t side = 1; side <= LARGEST; side += 2)
        for (int op = GF_COMBINE_L2; op <= GF_COMBINE_UNSHARP; op++) {
            GfStep step = kernel(GF_U8, GF_U8, 64, 64, side);
            step.linear.filters = 2;
            step.combine.op = (GfCombineOp)op;
            const bool takes = (side == 3 || side == 5) && op != GF_COMBINE_UNSHARP;
            assert_int_equal(gf_special_takes_maps(&step), takes);
            step.gain = -1.0;
            assert_false(gf_special_takes_maps(&step));
            step.gain = 1.0;
            step.mid = 128.0;
            assert_false(gf_special_takes_maps(&step));
        }
}

/* As measured for bench/results/2026-11-27-h200.md and 2026-11-28-h200-3.md: pixels that strips
 * cover, 128 columns each. */
static void test_pays(void **state)
{
    (void)state;
    const struct {
        GfStep step;
        bool aligned, pays;
    } cases[] = {{kernel(GF_U8, GF_U8, 1024, 768, 3), true, true},
                 {kernel(GF_U8, GF_U8, 1536, 1536, 3), true, false}, /* special_bytes.cu */
                 {kernel(GF_U8, GF_U8, 64, 16384, 3), true, false},
                 {kernel(GF_U8, GF_U8, 2048, 2048, 7), true, true},
                 {kernel(GF_U16, GF_U16, 1024, 1024, 3), true, true},
                 {kernel(GF_U16, GF_U16, 2048, 2048, 3), true, false}, /* special_pairs.cu */
                 {kernel(GF_U16, GF_U16, 2048, 2048, 7), true, true},
                 {kernel(GF_U16, GF_U16, 3001, 2001, 3), false, false},
                 {kernel(GF_F16, GF_F32, 1501, 1101, 7), false, true},
                 {kernel(GF_F16, GF_F32, 1501, 1101, 9), false, false},
                 {kernel(GF_F32, GF_F32, 641, 481, 7), false, true},
                 {kernel(GF_F32, GF_F32, 1024, 1024, 7), true, false}, /* special_short.cu */
                 {kernel(GF_F32, GF_F32, 2048, 2048, 9), true, true},
                 {kernel(GF_F32, GF_F32, 1501, 1101, 9), false, false},
                 {layer(GF_U8, 256, 256, 5, 16), true, false}, /* special_layer.cu */
                 {layer(GF_U8, 512, 512, 5, 16), true, true},
                 {layer(GF_U8, 481, 641, 3, 16), false, false},
                 {layer(GF_U8, 481, 641, 7, 4), false, true},
                 {layer(GF_F32, 481, 641, 7, 4), false, false},
                 {layer(GF_F32, 4096, 4096, 5, 32), true, true},
                 {layer(GF_F32, 4096, 4096, 3, 16), true, false},
                 {layer(GF_F32, 4095, 4095, 3, 8), false, true},
                 {layer(GF_F32, 4095, 4095, 3, 16), false, false},
                 {layer(GF_F32, 1023, 1023, 3, 16), false, true},
                 {layer(GF_F32, 4095, 4095, 1, 4), false, true},
                 {layer(GF_F32, 4095, 4095, 1, 8), false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (gf_special_maps_pay(&cases[i].step, cases[i].aligned) != cases[i].pays)
            print_message("case %zu\n", i);
        assert_int_equal(gf_special_maps_pay(&cases[i].step, cases[i].aligned), cases[i].pays);
    }
}

static void test_pairs(void **state)
{
    (void)state;
    for (size_t side = 1; side <= LARGEST; side += 2)
        for (size_t width = 248; width <= 272; width++) {
            const bool takes = (side == 3 || side == 5) && width >= 256 && width % 8 == 0;
            GfStep step = kernel(GF_U16, GF_U16, width, 64, side);
            assert_int_equal(gf_special_takes_pairs(&step), takes);
            step.out = GF_U8;
            assert_false(gf_special_takes_pairs(&step));
            step = kernel(GF_F16, GF_F32, width, 64, side);
            assert_int_equal(gf_special_takes_pairs(&step), takes && side == 5);
            step.posts = 1;
            step.post[0].op = GF_POINTWISE_ABS;
            assert_int_equal(gf_special_takes_pairs(&step), takes && side == 5);
            step.mid = 0.5;
            assert_false(gf_special_takes_pairs(&step));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strips), cmocka_unit_test(test_joined),
                                       cmocka_unit_test(test_pays), cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
