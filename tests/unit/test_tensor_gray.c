/* Which layers on one channel gpu/tensor_gray.cu takes, and in what tiles. Expected values are by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/tensor_gray_shape.h"

static const GfStep layer = {
    .kind = GF_STEP_FILTER,
    .in = GF_F32,
    .out = GF_F32,
    .channels = 1,
    .in_width = 1024,
    .in_height = 1024,
    .out_width = 1024,
    .out_height = 1024,
    .out_layout = GF_PLANAR,
    .stride_x = 1,
    .stride_y = 1,
    .dilation_x = 1,
    .dilation_y = 1,
    .linear = {.width = 7, .height = 7, .depth = 1, .filters = 32, .groups = 1}};

static void test_who_may(void **unused)
{
    enum { OTHERS = 9 };
    static const double outside = 0.0;
    GfStep smallest = layer, others[OTHERS];
    (void)unused;
    assert_true(gf_may_be_gray(&layer));
    smallest.linear.width = smallest.linear.filters = 1;
    smallest.in_width = smallest.in_height = smallest.out_width = smallest.out_height = 1;
    assert_true(gf_may_be_gray(&smallest));
    for (size_t i = 0; i < OTHERS; i++)
        others[i] = layer;
    others[0].linear.width = 8; /* beside the shift nine taps */
    others[1].linear.height = 6;
    others[2].stride_x = 2;
    others[3].dilation_y = 2;
    others[4].in = GF_U8;
    others[5].out = GF_F16;
    others[6].posts = 1;
    others[7].channels = 2;
    others[8].outside = &outside;
    for (size_t i = 0; i < OTHERS; i++)
        assert_false(gf_may_be_gray(&others[i]));
}

/* From 15 * 2^16 pixels on; of what tiles have room for nine tenths, of an odd number of runs 98 of
 * 100. */
static void test_whom_it_pays(void **unused)
{
    static const size_t maps[][2] = {{15, 0}, {16, 1}, {17, 0}, {28, 0}, {29, 1}, {32, 1},
                                     {47, 0}, {48, 1}, {57, 0}, {58, 1}, {116, 1}};
    static const size_t sizes[][4] = {
        {32, 1000, 1024, 1}, {32, 1002, 1024, 0}, {32, 956, 1024, 0},
        {32, 960, 1024, 1},  {32, 228, 9000, 0},  {32, 232, 9000, 1},
        {30, 232, 9000, 0},  {16, 1000, 1024, 0}, {16, 1004, 1024, 1}};
    GfStep step = layer;
    (void)unused;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        step.linear.filters = maps[i][0];
        assert_int_equal(gf_gray_pays(&step), maps[i][1]);
    }
    step = layer;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        step.linear.filters = sizes[i][0];
        step.out_width = sizes[i][1];
        step.out_height = sizes[i][2];
        assert_int_equal(gf_gray_pays(&step), sizes[i][3]);
    }
    step = layer;
    step.out_layout = GF_INTERLEAVED;
    assert_false(gf_gray_pays(&step));
}

static void test_tiles(void **unused)
{
    GfStep step = layer;
    (void)unused;
    step.linear.filters = 33;
    assert_int_equal(gf_gray_runs(&step), 3);
    /* Of 128 threads, four pairs of rows, upper and lower halves. */
    assert_int_equal(gf_gray_vectors(&step), 3 * 128 * 4 * 2);
    /* 8 strips of 1024 rows: 256 tiles of 32, all at once. Of 36 rows a tile would take longer, of
     * 28 there would be two turns. */
    assert_int_equal(gf_gray_tile(8, 1024, 264), 32);
    /* 16 strips of 2048: two turns of 64 rows and six, 140, where 60 take three, 198. */
    assert_int_equal(gf_gray_tile(16, 2048, 264), 64);
    /* 32 strips of 4096: seven turns of 72 rows and six, 546; of 56 nine, 558; of 68 eight, 592. */
    assert_int_equal(gf_gray_tile(32, 4096, 264), 72);
    /* Whatever it is, one turn. */
    assert_int_equal(gf_gray_tile(1, 5, 264), 16);
    assert_int_equal(gf_gray_tile(300, 4, 264), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_who_may),
                                       cmocka_unit_test(test_whom_it_pays),
                                       cmocka_unit_test(test_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
