/* The line of gpu/tensor_flat.cu and gpu/tensor_few.cu: is what stands a tap's shift behind an
 * output's position the sample that the tap meets there? Where neighbours share zeros, another zero
 * will do. And for which maps is it multiplied how? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/launch.h"

enum { PICTURES = 3 };

/* Along one side. */
typedef struct Side {
    size_t in, out, taps, stride, dilation, phases;
    ptrdiff_t origin;
} Side;

/* The sample that tap k of output i meets; -1 outside of the picture. */
static ptrdiff_t wanted(const Side *side, size_t i, size_t k)
{
    ptrdiff_t at = (ptrdiff_t)(i * side->stride + k * side->dilation) + side->origin;
    return at >= 0 && at < (ptrdiff_t)side->in ? at : -1;
}

/* The sample at place i of the line whose phase is that of tap k. */
static ptrdiff_t found(const Side *side, size_t i, size_t k)
{
    size_t phase = k * side->dilation % side->phases;
    ptrdiff_t at = (ptrdiff_t)(i * side->stride + phase) + side->origin;
    return at >= 0 && at < (ptrdiff_t)side->in ? at : -1;
}

static size_t shift(const Side *side, size_t k)
{
    return k * side->dilation / side->phases;
}

static void check_outputs(const GfTensorFlat *shape, const Side *x, const Side *y, size_t apart)
{
    size_t rows = gf_flat_line_rows(shape, PICTURES, y->out, apart);
    size_t line = gf_flat_line(shape, rows);
    /* The stretch of the largest tile, were it to begin with the last output, and at multiples of
     * 8. */
    size_t last = ((PICTURES - 1) * apart + y->out + shape->below) * shape->columns - 1;
    assert_true(last + GF_FLAT_SPARE + shape->right + 14 <= line);
    for (size_t i = 0; i < PICTURES * y->out * x->out * y->taps * x->taps; i++) {
        size_t kx = i % x->taps, ky = i / x->taps % y->taps, rest = i / x->taps / y->taps;
        size_t column = rest % x->out, row = rest / x->out % y->out, n = rest / x->out / y->out;
        size_t at = (n * apart + row + shift(y, ky)) * shape->columns + column + shift(x, kx);
        ptrdiff_t want_x = wanted(x, column, kx), want_y = wanted(y, row, ky);
        size_t there = at / shape->columns / apart;
        ptrdiff_t found_x = found(x, at % shape->columns, kx);
        ptrdiff_t found_y = found(y, at / shape->columns % apart, ky);
        assert_true(at < line);
        assert_true(at / shape->columns < rows);
        if (want_x < 0 || want_y < 0) {
            assert_true(there == PICTURES || found_x < 0 || found_y < 0);
            continue;
        }
        assert_int_equal(there, n);
        assert_int_equal(found_x, want_x);
        assert_int_equal(found_y, want_y);
    }
}

static void check_step(const Side *sides, GfBorder border)
{
    const Side *x = &sides[0], *y = &sides[1];
    GfStep step = {
        .kind = GF_STEP_FILTER,
        .in_width = x->in,
        .in_height = y->in,
        .out_width = x->out,
        .out_height = y->out,
        .stride_x = x->stride,
        .stride_y = y->stride,
        .dilation_x = x->dilation,
        .dilation_y = y->dilation,
        .origin_x = x->origin,
        .origin_y = y->origin,
        .border = border,
        .linear = {.width = x->taps, .height = y->taps, .depth = 16, .filters = 64, .groups = 1}};
    const GfTensorFlat shape = gf_tensor_flat(&step);
    Side own[2] = {*x, *y};
    own[0].phases = shape.phases_x;
    own[1].phases = shape.phases_y;
    check_outputs(&shape, &own[0], &own[1], gf_flat_rows(&shape, y->out, true));
    check_outputs(&shape, &own[0], &own[1], gf_flat_rows(&shape, y->out, false));
}

/* A side by the rules of networks: so many zeros before and behind it. */
static Side side_of(size_t in, size_t taps, size_t stride, size_t dilation, size_t before,
                    size_t behind)
{
    size_t window = (taps - 1) * dilation + 1;
    return (Side){in,
                  (in + before + behind - window) / stride + 1,
                  taps,
                  stride,
                  dilation,
                  1,
                  -(ptrdiff_t)before};
}

static void test_taps_are_shifts(void **unused)
{
    (void)unused;
    for (size_t taps = 1; taps <= 5; taps++)
        for (size_t stride = 1; stride <= 4; stride++)
            for (size_t dilation = 1; dilation <= 3; dilation++)
                for (size_t before = 0; before <= 4; before++)
                    for (size_t behind = 0; behind <= 4; behind += 2) {
                        const size_t least = (taps - 1) * dilation + 1;
                        const Side sides[] = {
                            side_of(least + 6, taps, stride, dilation, before, behind),
                            side_of(least + 3, taps % 3 + 1, stride, dilation, behind, before)};
                        check_step(sides, GF_BORDER_CONSTANT);
                    }
}

static void test_narrow_pictures(void **unused)
{
    (void)unused;
    for (size_t width = 1; width <= 4; width++) {
        const Side sides[] = {side_of(width, 1, 1, 1, 0, 0), side_of(9, 3, 1, 1, 1, 1)};
        check_step(sides, GF_BORDER_CONSTANT);
    }
}

/* On 14 x 14 samples and a zero all round. */
static const GfStep padded_layer = {
    .in_width = 14,
    .in_height = 14,
    .out_width = 14,
    .out_height = 14,
    .stride_x = 1,
    .stride_y = 1,
    .dilation_x = 1,
    .dilation_y = 1,
    .origin_x = -1,
    .origin_y = -1,
    .border = GF_BORDER_CONSTANT,
    .linear = {.width = 3, .height = 3, .depth = 96, .filters = 80, .groups = 1}};

/* Rows and pictures share one zero. */
static void test_shared_zeros(void **unused)
{
    GfStep step = padded_layer;
    GfTensorFlat shape = gf_tensor_flat(&step);
    (void)unused;
    assert_int_equal(shape.columns, 15);
    assert_int_equal(gf_flat_rows(&shape, 14, true), 15);
    assert_int_equal(gf_flat_rows(&shape, 14, false), 16);
    assert_int_equal(shape.octets, 4);
    assert_int_equal(shape.stages, 3);
    assert_int_equal(shape.map_runs, 2);
    step.border_value = 0.5;
    assert_int_equal(gf_tensor_flat(&step).columns, 16);
    step.border_value = 0.0;
    step.border = GF_BORDER_REFLECT;
    assert_int_equal(gf_tensor_flat(&step).columns, 16);
}

static const GfStep small_layer = {.kind = GF_STEP_FILTER,
                                   .in = GF_F32,
                                   .out = GF_F32,
                                   .in_width = 40,
                                   .in_height = 30,
                                   .out_width = 40,
                                   .out_height = 30,
                                   .stride_x = 1,
                                   .stride_y = 1,
                                   .dilation_x = 1,
                                   .dilation_y = 1};

/* A group's maps are columns of products where they are few, but of single taps. */
static void test_few_maps(void **unused)
{
    static const size_t cases[][2] = {{1, 8},   {8, 8},   {9, 16},  {16, 16},
                                      {17, 32}, {32, 32}, {33, 64}, {65, 64}}; /* maps, of a run */
    GfStep step = small_layer;
    (void)unused;
    step.linear = (GfLinear){.depth = 64, .groups = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t maps = cases[i][0], run = cases[i][1];
        step.linear.width = step.linear.height = 3;
        step.linear.filters = 2 * maps;
        const GfTensorFlat shape = gf_tensor_flat(&step);
        assert_int_equal(shape.few, run < 64);
        assert_int_equal(shape.run_maps, run);
        assert_int_equal(shape.map_runs, run < 64 ? 1 : (maps + 63) / 64);
        /* Upper and lower halves of three taps of a stage's channels. */
        assert_int_equal(gf_flat_step_vectors(&step), 3 * shape.octets * run * 2);
        assert_true(gf_tensor_is_flat(&step));
        step.linear.width = step.linear.height = 1;
        assert_false(gf_tensor_flat(&step).few);
        assert_true(gf_tensor_is_flat(&step));
        step.in = GF_U8; /* not read as they are */
        assert_int_equal(gf_tensor_is_flat(&step), maps > 16);
        step.in = GF_F32;
    }
    /* A launch has no more blocks side by side. */
    step.linear =
        (GfLinear){.width = 3, .height = 3, .depth = 5, .filters = 65535, .groups = 65535};
    assert_true(gf_tensor_is_flat(&step));
    step.linear.filters = step.linear.groups = 65536;
    assert_false(gf_tensor_is_flat(&step));
}

/* Single taps on floats are read as they are: of up to 256 channels, or 512 on large pictures for
 * few maps; where all are on the picture. */
static void test_single_taps(void **unused)
{
    GfStep usual = small_layer;
    usual.linear = (GfLinear){.width = 1, .height = 1, .depth = 256, .filters = 300, .groups = 1};
    GfStep step = usual;
    (void)unused;
    assert_true(gf_tensor_is_direct(&step));
    step.linear.depth = 257;
    assert_false(gf_tensor_is_direct(&step));
    step.in_width = step.out_width = 70;
    assert_false(gf_tensor_is_direct(&step));
    step.linear.filters = 256;
    assert_true(gf_tensor_is_direct(&step));
    step.linear.depth = 513;
    assert_false(gf_tensor_is_direct(&step));

    step = usual;
    step.in = GF_F16;
    assert_false(gf_tensor_is_direct(&step));
    step = usual;
    step.linear.width = 3;
    assert_false(gf_tensor_is_direct(&step));
    step = usual;
    step.stride_x = step.stride_y = 2; /* the last at 78 and 58 */
    assert_false(gf_tensor_is_direct(&step));
    step.in_width = 79;
    step.in_height = 59;
    assert_true(gf_tensor_is_direct(&step));
    step.origin_y = 1;
    assert_false(gf_tensor_is_direct(&step));
    step.origin_y = -1;
    assert_false(gf_tensor_is_direct(&step));
}

/* A first layer of 3 x 224 x 224 in windows of 16 x 16, side by side. */
static const GfStep patches = {
    .kind = GF_STEP_FILTER,
    .in = GF_F32,
    .out = GF_F32,
    .in_width = 224,
    .in_height = 224,
    .out_width = 14,
    .out_height = 14,
    .stride_x = 16,
    .stride_y = 16,
    .dilation_x = 1,
    .dilation_y = 1,
    .linear = {.width = 16, .height = 16, .depth = 3, .filters = 768, .groups = 1}};

/* Windows that do not overlap are single taps on their samples, 12 stages of 64; where they are all
 * on the picture, and where there is no other line for them. */
static void test_patches(void **unused)
{
    GfStep step = patches;
    const GfStep taps = gf_patches(&step);
    const GfTensorFlat shape = gf_tensor_flat(&taps);
    (void)unused;
    assert_int_equal(taps.linear.depth, 768);
    assert_int_equal(taps.linear.width, 1);
    assert_int_equal(taps.linear.height, 1);
    assert_int_equal(shape.stages, 12);
    assert_int_equal(shape.columns, 14);
    assert_true(gf_tensor_is_flat(&step));

    step.linear.filters = 16; /* few maps of single taps are not multiplied so */
    assert_false(gf_has_patches(&step));
    step = patches;
    step.stride_x = 15;
    assert_false(gf_has_patches(&step));
    step = patches;
    step.dilation_y = 2;
    assert_false(gf_has_patches(&step));
    step = patches;
    step.in_height = 223;
    assert_false(gf_has_patches(&step));
    step = patches;
    step.origin_x = -1;
    assert_false(gf_has_patches(&step));
    assert_int_equal(gf_patches(&step).linear.depth, 3);
    step = patches;
    step.linear.depth = 64; /* has lines, but for the stride */
    assert_true(gf_has_patches(&step));
    step.linear.width = step.linear.height = step.stride_x = step.stride_y = 4;
    assert_false(gf_has_patches(&step));
    step.linear.depth = 16;
    assert_true(gf_has_patches(&step));
}

/* Patches of up to 256 samples are read as they are, where those are not vectors of up to 128;
 * those of large pictures of up to 512 for few maps. */
static void test_patches_as_they_are(void **unused)
{
    GfStep step = patches;
    (void)unused;
    assert_false(gf_tensor_is_direct(&step));
    step.linear.width = step.linear.height = step.stride_x = step.stride_y = 8;
    assert_true(gf_tensor_is_direct(&step)); /* 192 */
    step.stride_x = 9;
    assert_false(gf_tensor_is_direct(&step));
    step.linear.depth = 2;
    assert_true(gf_tensor_is_direct(&step)); /* 128 */
    step.in = GF_U8;
    assert_false(gf_tensor_is_direct(&step));
    assert_true(gf_tensor_is_flat(&step));
    step = patches;
    step.linear.width = step.linear.height = step.stride_x = step.stride_y = 12;
    assert_false(gf_tensor_is_direct(&step)); /* 432 */
    step.in_width = step.in_height = 600;
    step.out_width = step.out_height = 50;
    assert_false(gf_tensor_is_direct(&step));
    step.linear.filters = 256;
    assert_true(gf_tensor_is_direct(&step));
}

/* Few samples of a window are multiplied as those of other layers of few channels are, whose
 * kernels of an even side have a row of zeros more. */
static void test_few_channels(void **unused)
{
    GfStep step = patches;
    (void)unused;
    step.linear.width = step.linear.height = step.stride_x = step.stride_y = 4;
    assert_false(gf_tensor_is_first(&step)); /* 48 */
    step.linear.depth = 1;
    assert_true(gf_tensor_is_first(&step)); /* 16 */
    step.linear.depth = 3;
    step.stride_x = step.stride_y = 2;
    assert_true(gf_tensor_is_first(&step));
    for (size_t rows = 1; rows <= 12; rows++) {
        step.linear.height = rows;
        assert_int_equal(gf_tensor_is_first(&step), rows <= 11);
        assert_int_equal(gf_tensor_first(&step).height, rows < 3 ? 3 : rows / 2 * 2 + 1);
    }
    step.linear.width = step.linear.height = 1;
    assert_false(gf_tensor_is_first(&step));
}

/* By hand: rows of 15 positions (14, and a zero that neighbours share), 15 from picture to picture;
 * behind the last are two rows, a column, and what tiles reach over. */
static void test_slices(void **unused)
{
    GfStep step = padded_layer;
    const size_t one = (14 + 2 + 1) * 15 + 2 + GF_FLAT_SPARE + 32; /* 801 */
    GfFlatSlice slice = gf_flat_slice(&step, 800 + 2 * 15 * 15, 5, 14, true);
    (void)unused;
    assert_int_equal(
        gf_flat_octets(&(GfTensorFlat){.columns = 15, .right = 2, .below = 2, .overlap_y = 1}, 1,
                       14, true),
        one / 8 * 8);
    assert_int_equal(slice.count, 3);
    assert_int_equal(slice.rows, 14);
    slice = gf_flat_slice(&step, 800, 5, 14, true);
    assert_int_equal(slice.count, 1);
    assert_int_equal(slice.rows, 14);
    slice = gf_flat_slice(&step, 799, 5, 14, true);
    assert_int_equal(slice.count, 1);
    assert_int_equal(slice.rows, 7);
    /* Memory has lines of 12 octets, both halves, for 64 pictures; of wide ones for some rows. */
    assert_int_equal(gf_flat_line_room(&step), (63 * 15 + 17) * 15 + 2 + GF_FLAT_SPARE + 32);
    step.in_width = step.out_width = step.in_height = step.out_height = 1000;
    assert_int_equal(gf_flat_line_room(&step), GF_FLAT_BYTES / (12 * 2 * 16));
}

/* So large a picture keeps a card busy without parts. Layers of more than 8192 taps have them
 * still: of 64 steps at most, as long as those are no more than eight. */
static void test_parts(void **unused)
{
    GfStep step = padded_layer;
    (void)unused;
    step.in_width = step.out_width = step.in_height = step.out_height = 1000;
    step.linear.filters = step.out_channels = 64;
    step.linear.width = step.linear.height = 5;
    step.channels = step.linear.depth = 256; /* 6400 taps */
    assert_int_equal(gf_tensor_flat(&step).stages, 16);
    assert_int_equal(gf_flat_parts(&step), 1);
    step.channels = step.linear.depth = 336; /* 8400: 21 stages of five rows, 105 steps */
    assert_int_equal(gf_tensor_flat(&step).stages, 21);
    assert_int_equal(gf_flat_parts(&step), 2);
    step.channels = step.linear.depth = 672; /* 210 steps */
    assert_int_equal(gf_flat_parts(&step), 4);
    step.linear.width = step.linear.height = 1;
    step.origin_x = step.origin_y = 0;
    step.channels = step.linear.depth = 41079; /* 642 steps of 64 channels */
    assert_int_equal(gf_tensor_flat(&step).stages, 642);
    assert_int_equal(gf_flat_parts(&step), GF_FLAT_PARTS);
    step.channels = step.linear.depth = 8192;
    assert_int_equal(gf_flat_parts(&step), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taps_are_shifts),
        cmocka_unit_test(test_narrow_pictures),
        cmocka_unit_test(test_shared_zeros),
        cmocka_unit_test(test_few_maps),
        cmocka_unit_test(test_single_taps),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_patches_as_they_are),
        cmocka_unit_test(test_few_channels),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
