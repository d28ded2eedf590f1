/* Each method's work as the sources count it, by the figures that the sources give. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cpu/backend.h"
#include "filters/model.h"

/* ---- steps ---- */

static GfFilter *filter;
static GfPlan *plan;

static void make_filter(void)
{
    assert_int_equal(gf_allocate_zero(1, sizeof *filter, &filter), GF_OK);
}

/* Plans `filter`; drop() frees both. */
static const GfStep *plan_steps(GfFormat format, GfBorder border)
{
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    const GfFilter *filters[] = {filter};
    options.border = border;
    options.whole = true;
    if (gf_plan_create(filters, 1, &format, &options, &plan) != GF_OK)
        fail_msg("%s", gf_message());
    return plan->pipelines[0].steps;
}

static void drop(void)
{
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static GfFormat floats(size_t width, size_t height, size_t channels)
{
    return (GfFormat){width, height, channels, false, GF_F32};
}

/* One kernel without factors of side x side taps, on a picture so large that `out` x `out` samples
 * come out where there is no border. */
static const GfStep *plan_kernel(size_t side, size_t out, GfBorder border)
{
    GfLinear *linear;
    make_filter();
    assert_int_equal(gf_filter_add_kernel(filter, 1, side, side, &linear), GF_OK);
    for (size_t i = 0; i < side * side; i++)
        linear->weights[i] = i % 3 == 1 ? 1.0 : 0.0;
    return plan_steps(floats(out + side - 1, out + side - 1, 1), border);
}

static GfWork work_of(const char *method, const GfStep *step, GfTile tile)
{
    GfWork work;
    assert_true(gf_model_work(method, step, false, &tile, &work));
    return work;
}

static GfTile square(size_t side)
{
    return (GfTile){side, side, 1};
}

/* ---- operations a byte ---- */

/* PMPP 7.2 and 7.3: 2 operations for 8 bytes, for 4 where weights are in constant memory. */
static void test_one_tap_one_load(void **state)
{
    (void)state;
    for (int border = GF_BORDER_REPLICATE; border <= GF_BORDER_VALID; border++) {
        const GfStep *step = plan_kernel(5, 37, (GfBorder)border);
        GfWork direct = work_of("direct", step, square(1));
        GfWork constant = work_of("constant", step, square(1));
        if (border != GF_BORDER_CONSTANT) {
            assert_true(gf_work_intensity(&direct) == 0.25);
            assert_true(gf_work_intensity(&constant) == 0.5);
        } else { /* nothing is loaded outside */
            assert_true(constant.samples < direct.weights);
        }
        drop();
    }
}

/* Tap (ky, kx) of output (y, x) is a load unless it lies outside. */
static void test_taps_outside(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(3, 4, GF_BORDER_CONSTANT); /* 6 x 6 pixels */
    double inside = 0.0;
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++)
            for (int k = 0; k < 9; k++) {
                int at_x = x + k % 3 - 1, at_y = y + k / 3 - 1;
                inside += at_x >= 0 && at_x < 6 && at_y >= 0 && at_y < 6;
            }
    assert_true(work_of("direct", step, square(1)).samples == inside);
    assert_true(work_of("constant", step, square(1)).samples == inside);
    /* A tile has to be filled up to its ghosts, but those are no loads: 2 x 2 tiles of 4 x 4. */
    assert_true(work_of("shared", step, square(3)).samples == 4 * 4 * 4);
    drop();
}

/* PMPP 7.4: OUT^2 K^2 2 / (IN^2 4) operations a byte, below K^2 2 / 4. */
static void test_tiles(void **state)
{
    (void)state;
    static const struct {
        size_t side, in;
        double hundredths, bound;
    } rows[] = {{5, 8, 313, 12.5},
                {5, 16, 703, 12.5},
                {5, 32, 957, 12.5},
                {9, 16, 1013, 40.5},
                {9, 32, 2278, 40.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double side = (double)rows[i].side, in = (double)rows[i].in, out = in - side + 1.0;
        const GfStep *step = plan_kernel(rows[i].side, 8 * (size_t)out, GF_BORDER_VALID);
        GfTile tile = square(rows[i].in), endless = square(100000);
        GfWork work = work_of("tiled", step, tile);
        assert_true(gf_model_tiles("tiled", step, &tile) == 64.0);
        assert_true(gf_work_intensity(&work) == out * out * side * side * 2.0 / (in * in * 4.0));
        assert_true(round(gf_work_intensity(&work) * 100.0) == rows[i].hundredths);
        drop();
        step = plan_kernel(rows[i].side, 50000, GF_BORDER_VALID);
        work = work_of("tiled", step, endless);
        assert_true(gf_work_intensity(&work) < rows[i].bound);
        assert_true(gf_work_intensity(&work) > 0.999 * rows[i].bound);
        drop();
    }
    const GfStep *step = plan_kernel(9, 8, GF_BORDER_VALID);
    GfWork work;
    assert_false(gf_model_work("tiled", step, false, &(GfTile){8, 8, 1}, &work));
    assert_true(work.operations == 0.0);
    drop();
}

/* A tile of 8 x 8 outputs of a 5 x 5 kernel: 144 loads instead of 1600. */
static void test_shared_tile(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(5, 8, GF_BORDER_VALID);
    assert_true(work_of("shared", step, square(8)).samples == 144.0);
    assert_true(work_of("direct", step, square(1)).samples == 1600.0);
    drop();
    for (size_t side = 1; side <= 9; side++)
        for (size_t tile = 1; tile <= 33; tile += 4) {
            double k = (double)side, t = (double)tile, window = t + k - 1.0;
            step = plan_kernel(side, 3 * tile, GF_BORDER_VALID);
            double saving = work_of("direct", step, square(1)).samples /
                            work_of("shared", step, square(tile)).samples;
            assert_true(fabs(saving - k * k * t * t / (window * window)) < 1e-9);
            drop();
        }
}

/* Strips of 128 x 8 outputs, for 3 x 3 taps 130 x 10 loads each; of a layer's maps 128 x 16, and of
 * small pictures; beyond 7 x 7 they are taller; of bytes 512 x 8. */
static void test_short_strips(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(3, 256, GF_BORDER_VALID);
    GfTile tile = gf_model_tile("special", step, false);
    assert_true(work_of("special", step, tile).samples == 2.0 * 16 * 130 * 18);
    drop();
    step = plan_kernel(3, 1024, GF_BORDER_VALID);
    tile = gf_model_tile("special", step, false);
    assert_true(work_of("special", step, tile).samples == 8.0 * 128 * 130 * 10);
    GfStep layer = *step;
    layer.linear.depth = 1;
    layer.linear.filters = 4;
    tile = gf_model_tile("special", &layer, false);
    assert_true(tile.width == 128 && tile.height == 16 && tile.maps >= 4);
    drop();
    step = plan_kernel(9, 1024, GF_BORDER_VALID);
    assert_true(gf_model_tile("special", step, false).height > 16);
    GfStep bytes = *step;
    bytes.in = bytes.out = GF_U8;
    bytes.taps_x = bytes.taps_y = 3;
    tile = gf_model_tile("special", &bytes, false);
    assert_true(tile.width == 512 && tile.height == 8);
    bytes.taps_y = 5;
    assert_true(gf_model_tile("special", &bytes, false).height > 16);
    drop();
}

/* ((TILE - 1) S + (K - 1) D + 1)^2 loads a tile and channel. */
static void test_strides(void **state)
{
    (void)state;
    for (size_t stride = 1; stride <= 3; stride++)
        for (size_t dilation = 1; dilation <= 3; dilation++) {
            GfLinear *linear;
            size_t reach = 7 * stride + 2 * dilation + 1;
            make_filter();
            assert_int_equal(gf_filter_add_layer(filter, 6, 5, 1, 3, 3, &linear), GF_OK);
            linear->sampling.stride_x = linear->sampling.stride_y = stride;
            linear->sampling.dilation_x = linear->sampling.dilation_y = dilation;
            const GfStep *step = plan_steps(floats(reach, reach, 5), GF_BORDER_REPLICATE);
            assert_int_equal(step->out_width, 8);
            GfTile all = {8, 8, 6}, two = {8, 8, 2};
            assert_true(work_of("shared", step, all).samples == (double)(reach * reach * 5));
            assert_true(work_of("shared", step, two).samples == (double)(reach * reach * 5 * 3));
            drop();
        }
}

/* Chen et al.: each pixel once, but for the halo of a block; the filters of a block beside it. */
static void test_blocks(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(5, 512, GF_BORDER_VALID);
    GfWork special = work_of("special", step, (GfTile){256, 8, 1});
    assert_true(special.samples == 2.0 * 260 * 64 * 12);
    assert_true(special.weights == 0.0);
    assert_true(special.operations == 512.0 * 512 * 25 * 2);
    drop();
    GfLinear *linear;
    make_filter();
    assert_int_equal(gf_filter_add_layer(filter, 130, 7, 1, 3, 3, &linear), GF_OK);
    step = plan_steps(floats(66, 10, 7), GF_BORDER_REPLICATE);
    GfWork general = work_of("general", step, (GfTile){32, 4, 64});
    assert_true(general.samples == 3.0 * 4 * 34 * 6 * 7); /* 130 maps are 3 blocks of 64 */
    assert_true(general.weights == 4.0 * 130 * 7 * 9);
    drop();
}

/* Halo taps are loads, the inner part of a tile is loaded once. */
static void test_cached_halo(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(3, 4, GF_BORDER_VALID);
    /* One tile of 4 x 4: of the 144 taps (3 x 4 - 2)^2 = 100 fall on the 16 inner samples. */
    assert_true(work_of("cached", step, square(4)).samples == 16.0 + 144.0 - 100.0);
    drop();
}

static void test_separable(void **state)
{
    (void)state;
    GfLinear *linear;
    make_filter();
    assert_int_equal(gf_filter_add_factors(filter, 1, 15, 15, &linear), GF_OK);
    for (size_t i = 0; i < 15; i++)
        linear->columns[i] = linear->rows[i] = 1.0 / 15.0;
    const GfStep *step = plan_steps(floats(64, 64, 1), GF_BORDER_REPLICATE);
    assert_true(work_of("separable", step, square(16)).operations == 64.0 * 64 * 2 * 30);
    assert_true(work_of("constant", step, square(1)).operations == 64.0 * 64 * 2 * 225);
    assert_true(gf_model_least(step, false).operations == 64.0 * 64 * 2 * 30);
    assert_true(gf_model_least(step, false).loaded == 4.0 * (64 * 64 + 30));
    GfTile tile = gf_model_tile("separable", step, false);
    assert_int_equal(tile.width, 16);
    assert_int_equal(tile.height, 16);
    GfStep large = *step;
    large.out_width = large.out_height = 1024;
    assert_int_equal(gf_model_tile("separable", &large, false).width, 128);
    large.channels = large.out_channels = 3;
    large.out_height = 512;
    assert_int_equal(gf_model_tile("separable", &large, false).width, 16);
    assert_int_equal(gf_model_tile("separable", &large, true).width, 128);
    drop();
}

/* ---- the unrolled matrix ---- */

/* Row-major: the input sample, numbered map by map, that stands in each place. */
static void unroll(const GfStep *step, size_t *matrix)
{
    size_t positions = step->out_width * step->out_height, taps = step->taps_x * step->taps_y;
    for (size_t row = 0; row < taps * step->channels; row++)
        for (size_t column = 0; column < positions; column++) {
            size_t tap = row % taps;
            size_t x = column % step->out_width * step->stride_x + tap % step->taps_x;
            size_t y = column / step->out_width * step->stride_y + tap / step->taps_x;
            matrix[row * positions + column] =
                (row / taps * step->in_height + y) * step->in_width + x;
        }
}

/* 3 maps of 3 x 3, 2 filters of 2 x 2 (PMPP, figure 16.16). */
static const GfStep *plan_example(GfLinear **linear)
{
    make_filter();
    assert_int_equal(gf_filter_add_layer(filter, 2, 3, 1, 2, 2, linear), GF_OK);
    return plan_steps(floats(3, 3, 3), GF_BORDER_REPLICATE);
}

/* Corners stand in the matrix once, edges twice, the centre four times: 16 numbers of 9. */
static void test_expansion(void **state)
{
    (void)state;
    static const size_t uses[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    GfLinear *linear;
    const GfStep *step = plan_example(&linear);
    size_t matrix[48], counts[27] = {0};
    unroll(step, matrix);
    for (size_t i = 0; i < 48; i++)
        counts[matrix[i]]++;
    for (size_t i = 0; i < 27; i++)
        assert_int_equal(counts[i], uses[i % 9]);
    assert_true(gf_model_expansion(step) == 16.0 / 9.0);
    GfWork work = work_of("im2col", step, square(1));
    assert_true(work.samples == 48.0);
    assert_true(work.scratch == 48.0 + 8.0);
    assert_true(work.weights == 24.0);
    assert_true(work.operations == 2.0 * 8 * 12);
    assert_true(work.stored == 4.0 * (48 + 8 + 8));
    assert_true(work.loaded == 4.0 * (48 + 48 + 8 + 24));
    /* On the chip: no buffer, and with a tile as large as the product every number once. */
    GfWork implicit = work_of("implicit", step, (GfTile){4, 1, 2});
    assert_true(implicit.scratch == 0.0 && implicit.samples == 48.0 && implicit.weights == 24.0);
    drop();
    /* Far from the borders every sample is used by all taps. */
    step = plan_kernel(5, 4000, GF_BORDER_VALID);
    assert_true(fabs(gf_model_expansion(step) - 25.0) < 0.1);
    drop();
}

static void run_reference(const GfBand *in, GfBand *out)
{
    GfBackend *backend;
    GfSession *session;
    GfRing ring = {in->samples, in->stride, in->rows};
    assert_int_equal(gf_reference_open(&backend), GF_OK);
    assert_int_equal(backend->session(backend, plan, &session), GF_OK);
    assert_int_equal(backend->begin(session, &ring), GF_OK);
    assert_int_equal(backend->submit(session, 0, in->rows, out), GF_OK);
    assert_int_equal(backend->collect(session), GF_OK);
    backend->end(session);
    backend->close(backend);
}

/* The column (1 2 1 1, 0 2 0 3, 1 2 0 1) with the filter (1 1 2 2, 1 1 1 1, 0 1 1 0) gives 14.
 * What the source does not tell is made up, and checked as the product of the matrices. */
static void test_example(void **state)
{
    (void)state;
    static const double filters[2][12] = {{1, 1, 2, 2, 1, 1, 1, 1, 0, 1, 1, 0},
                                          {0, 1, 1, 0, 2, 1, 2, 1, 1, 2, 2, 0}};
    static const float maps[27] = {1, 2, 5, 1, 1, 3, 0, 2, 2, 0, 2, 1, 0, 3,
                                   2, 1, 1, 0, 1, 2, 1, 0, 1, 3, 3, 3, 2};
    float in[27], out[8];
    size_t matrix[48];
    GfLinear *linear;
    make_filter();
    assert_int_equal(gf_filter_add_layer(filter, 2, 3, 1, 2, 2, &linear), GF_OK);
    for (size_t i = 0; i < 24; i++)
        linear->weights[i] = filters[i / 12][i % 12];
    const GfStep *step = plan_steps(floats(3, 3, 3), GF_BORDER_REPLICATE);
    for (size_t i = 0; i < 27; i++) /* pictures are interleaved */
        in[i % 9 * 3 + i / 9] = maps[i];
    GfBand from = {0, 3, 9 * sizeof *in, in}, to = {0, 2, 4 * sizeof *out, out};
    run_reference(&from, &to);
    assert_true(out[0] == 14.0f);
    unroll(step, matrix);
    for (size_t f = 0; f < 2; f++)
        for (size_t column = 0; column < 4; column++) {
            double sum = 0.0;
            for (size_t row = 0; row < 12; row++)
                sum += filters[f][row] * (double)maps[matrix[row * 4 + column]];
            assert_true((double)out[column * 2 + f] == sum);
        }
    drop();
}

/* ---- sizes ---- */

/* (H + 2P - K) / S + 1. */
static void test_sizes(void **state)
{
    (void)state;
    static const size_t rows[][5] = {/* H, K, P, S, out */
                                     {28, 5, 2, 1, 28},   {86, 7, 0, 1, 80}, {28, 5, 0, 1, 24},
                                     {224, 7, 3, 2, 112}, {10, 3, 0, 3, 3},  {3, 2, 0, 1, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t *r = rows[i];
        GfLinear *linear;
        make_filter();
        assert_int_equal(gf_filter_add_layer(filter, 16, 1, 1, r[1], r[1], &linear), GF_OK);
        GfSampling *sampling = &linear->sampling;
        sampling->top = sampling->left = sampling->bottom = sampling->right = r[2];
        sampling->stride_x = sampling->stride_y = r[3];
        const GfStep *step = plan_steps(floats(r[0], r[0], 1), GF_BORDER_REPLICATE);
        assert_int_equal((r[0] + 2 * r[2] - r[1]) / r[3] + 1, r[4]);
        assert_int_equal(step->out_width, r[4]);
        assert_int_equal(step->out_height, r[4]);
        assert_int_equal(step->out_channels, 16);
        drop();
    }
}

/* The tutorial's layer: 28 x 28, 5 x 5, padding 2, ReLU, then 2 x 2 pooling: 14 x 14. */
static void test_pooled_size(void **state)
{
    (void)state;
    GfLinear *linear;
    GfPool *pool;
    make_filter();
    assert_int_equal(gf_filter_add_layer(filter, 16, 1, 1, 5, 5, &linear), GF_OK);
    GfSampling *sampling = &linear->sampling;
    sampling->top = sampling->left = sampling->bottom = sampling->right = 2;
    assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){.op = GF_POINTWISE_RELU}),
                     GF_OK);
    assert_int_equal(gf_filter_add_pool(filter, GF_POOL_MAX, 2, 2, &pool), GF_OK);
    const GfStep *steps = plan_steps(floats(28, 28, 1), GF_BORDER_REPLICATE);
    assert_int_equal(plan->pipelines[0].count, 2);
    assert_int_equal(steps[0].out_width, 28);
    assert_int_equal(steps[1].out_width, 14);
    assert_int_equal(steps[1].out_height, 14);
    GfWork work = work_of("pool", &steps[1], square(1));
    assert_true(work.operations == 16.0 * 28 * 28);
    assert_true(work.samples == 16.0 * 28 * 28);
    drop();
}

/* ---- least work, and the roofline ---- */

static void test_least(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(5, 60, GF_BORDER_REPLICATE); /* 64 x 64 */
    GfWork least = gf_model_least(step, false), wide = gf_model_least(step, true);
    assert_true(least.operations == 64.0 * 64 * 25 * 2);
    assert_true(least.loaded == 4.0 * (64 * 64 + 25));
    assert_true(least.stored == 4.0 * 64 * 64);
    assert_true(wide.loaded == 4.0 * 64 * 64 + 8.0 * 25);
    drop();
    assert_true(gf_model_floor(6e12, 1e9, 60e12, 4e12) == 0.1);
    assert_true(gf_model_floor(6e9, 1e12, 60e12, 4e12) == 0.25);
    assert_true(gf_model_floor(6e9, 1e12, 0.0, 4e12) == 0.25);
    assert_true(gf_model_floor(6e9, 1e12, 0.0, 0.0) == 0.0);
}

static void test_unknown(void **state)
{
    (void)state;
    const GfStep *step = plan_kernel(3, 8, GF_BORDER_VALID);
    GfWork work;
    GfTile tile = gf_model_tile("float64", step, false);
    assert_false(gf_model_work("float64", step, false, &tile, &work));
    assert_true(work.loaded == 0.0);
    drop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tap_one_load),
        cmocka_unit_test(test_taps_outside),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_shared_tile),
        cmocka_unit_test(test_short_strips),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_cached_halo),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_expansion),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_pooled_size),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
