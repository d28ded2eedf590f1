/* What the plan decides: steps and what is fused, geometry, halo, rows in flight, ranges,
 * precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filters/grammar.h"
#include "filters/plan.h"

static GfFilter *filter;

static GfPlan *plan_for(const char *text, GfFormat format, GfPlanOptions options)
{
    GfPlan *plan;
    if (gf_filter_parse(text, &filter) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    const GfFilter *bank[] = {filter};
    if (gf_plan_create(bank, 1, &format, &options, &plan) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return plan;
}

static void drop(GfPlan *plan)
{
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static const GfFormat gray = {640, 480, 1, false, GF_U8};
static const GfFormat rgba = {640, 480, 4, true, GF_U8};

/* sobel is one step: two separable kernels, l2, rounding. */
static void test_fusing(void **state)
{
    (void)state;
    GfPlan *plan = plan_for("sobel", gray, gf_plan_options_default(GF_U8));
    const GfPipeline *pipeline = &plan->pipelines[0];
    assert_int_equal(pipeline->count, 1);
    assert_int_equal(pipeline->steps[0].linear.filters, 2);
    assert_true(pipeline->steps[0].separable);
    assert_int_equal(pipeline->steps[0].combine.op, GF_COMBINE_L2);
    assert_int_equal(pipeline->steps[0].in, GF_U8);
    assert_int_equal(pipeline->steps[0].out, GF_U8);
    assert_true(pipeline->multiply_adds == 640.0 * 480 * 2 * 6);
    assert_true(pipeline->bytes == 640.0 * 480 * 2);
    drop(plan);
    plan = plan_for("gaussian,binomial,box", gray, gf_plan_options_default(GF_U8));
    pipeline = &plan->pipelines[0];
    assert_int_equal(pipeline->count, 3);
    assert_int_equal(pipeline->steps[1].in, GF_F32);
    assert_int_equal(pipeline->steps[1].out, GF_F32);
    assert_int_equal(pipeline->steps[2].out, GF_U8);
    drop(plan);
    plan = plan_for("sobel,identity", gray, gf_plan_options_default(GF_U16));
    assert_true(plan->pipelines[0].steps[0].gain == 1.0);
    assert_true(plan->pipelines[0].steps[1].gain == 257.0);
    drop(plan);
    plan = plan_for("laplacian", gray, gf_plan_options_default(GF_U8));
    assert_false(plan->pipelines[0].steps[0].separable);
    assert_int_equal(plan->pipelines[0].steps[0].posts, 1); /* the absolute value rides along */
    drop(plan);
    plan = plan_for("3x3: 1 2 1 2 4 2 1 2 1", gray, gf_plan_options_default(GF_U8));
    assert_true(plan->pipelines[0].steps[0].separable);
    drop(plan);
}

/* Kernels that are products and taller than the backend wants them: a row, then a column. */
static void test_tall_kernels(void **state)
{
    (void)state;
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.tall = 8;
    /* 9 and 11 rows, and a bank of two */
    GfPlan *plan = plan_for("gaussian,gaussian:sigma=1.25,dog", gray, options);
    const GfPipeline *pipeline = &plan->pipelines[0];
    assert_int_equal(pipeline->count, 5);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pipeline->steps[i].linear.width, i % 2 ? 1 : i < 2 ? 9 : 11);
        assert_int_equal(pipeline->steps[i].linear.height, i % 2 ? i < 2 ? 9 : 11 : 1);
    }
    assert_int_equal(pipeline->steps[4].linear.filters, 2);
    drop(plan);
    options.border = GF_BORDER_CONSTANT;
    plan = plan_for("gaussian", gray, options);
    assert_int_equal(plan->pipelines[0].count, 2);
    drop(plan);
    options.tall = 2; /* the row sums to nothing, and what stands outside would */
    plan = plan_for("sobel:x", gray, options);
    assert_int_equal(plan->pipelines[0].count, 1);
    drop(plan);
}

static void test_range_and_alpha(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        GfRange range;
        GfAlpha alpha;
        size_t steps;
    } cases[] = {
        {"gaussian", GF_RANGE_CLAMP, GF_ALPHA_PREMUL, 3},
        {"sharpen", GF_RANGE_CLAMP, GF_ALPHA_PREMUL, 3},
        {"unsharp", GF_RANGE_CLAMP, GF_ALPHA_PREMUL, 3},
        {"identity", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"3x1: -1 -1 -1", GF_RANGE_CLAMP, GF_ALPHA_PREMUL, 3},
        {"sobel", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"sobel:x", GF_RANGE_ABS, GF_ALPHA_COPY, 1},
        {"laplacian", GF_RANGE_ABS, GF_ALPHA_COPY, 1},
        {"laplacian,gaussian", GF_RANGE_ABS, GF_ALPHA_COPY, 2},
        {"gaussian,sobel", GF_RANGE_CLAMP, GF_ALPHA_COPY, 2},
        {"shift", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"shift:x=1", GF_RANGE_CLAMP, GF_ALPHA_PREMUL, 3},
        {"highboost", GF_RANGE_CLAMP, GF_ALPHA_PREMUL, 3},
        {"highboost:boost=1", GF_RANGE_ABS, GF_ALPHA_COPY, 1},
        {"kirsch", GF_RANGE_ABS, GF_ALPHA_COPY, 1},
        {"roberts", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"dog:sigma1=250:sigma2=0.01", GF_RANGE_ABS, GF_ALPHA_COPY, 1},
        {"3x1+128: -1 0 1", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"3x1: -1 0 1,1x1+128: 1", GF_RANGE_CLAMP, GF_ALPHA_COPY, 2},
        {"laplacian,scale:offset=128", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"laplacian,scale:factor=2", GF_RANGE_ABS, GF_ALPHA_COPY, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfPlan *plan = plan_for(cases[i].text, rgba, gf_plan_options_default(GF_U8));
        assert_int_equal(plan->pipelines[0].range, cases[i].range);
        assert_int_equal(plan->pipelines[0].alpha, cases[i].alpha);
        assert_int_equal(plan->pipelines[0].count, cases[i].steps);
        drop(plan);
    }
}

static void test_geometry(void **state)
{
    (void)state;
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfPlan *plan = plan_for("4x3: 1 1 1 1 1 1 1 1 1 1 1 1", gray, options);
    assert_int_equal(plan->pipelines[0].steps[0].origin_x, -2);
    assert_int_equal(plan->pipelines[0].steps[0].origin_y, -1);
    drop(plan);
    options.flip = true; /* the anchor turns with the kernel */
    plan = plan_for("4x3: 1 2 3 4 5 6 7 8 9 10 11 12", gray, options);
    assert_int_equal(plan->pipelines[0].steps[0].origin_x, -1);
    assert_int_equal(plan->pipelines[0].steps[0].origin_y, -1);
    assert_true(gf_linear_tap(&plan->pipelines[0].steps[0].linear, 0, 0, 0) == 12);
    drop(plan);
    options.flip = false;
    options.border = GF_BORDER_VALID;
    plan = plan_for("box:width=5:height=3,box:size=3", gray, options);
    assert_int_equal(plan->pipelines[0].out.width, 640 - 4 - 2);
    assert_int_equal(plan->pipelines[0].out.height, 480 - 2 - 2);
    drop(plan);
    GfFormat small = {4, 4, 1, false, GF_U8};
    const GfFilter *bank[1];
    assert_int_equal(gf_filter_parse("box:size=5", &filter), GF_OK);
    bank[0] = filter;
    assert_int_equal(gf_plan_create(bank, 1, &small, &options, &plan), GF_EFILTER);
    assert_non_null(strstr(gf_message(), "does not fit"));
    gf_filter_free(filter);
}

static void assert_rows(const GfPipeline *pipeline, size_t y0, size_t y1, size_t first, size_t last)
{
    size_t begin, end;
    gf_pipeline_rows(pipeline, y0, y1, &begin, &end);
    assert_int_equal(begin, first);
    assert_int_equal(end, last);
}

static void test_halo(void **state)
{
    (void)state;
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfPlan *plan = plan_for("box:size=5,box:size=3", gray, options);
    assert_rows(&plan->pipelines[0], 100, 110, 97, 113);
    assert_rows(&plan->pipelines[0], 0, 10, 0, 13);
    assert_rows(&plan->pipelines[0], 470, 480, 467, 480);
    assert_int_equal(gf_pipeline_ready(&plan->pipelines[0], 13), 10);
    assert_int_equal(gf_pipeline_ready(&plan->pipelines[0], 479), 476);
    assert_int_equal(gf_pipeline_ready(&plan->pipelines[0], 480), 480);
    assert_int_equal(gf_pipeline_ready(&plan->pipelines[0], 1), 0);
    drop(plan);
    /* All taps above the pixel: the first row is made of rows mirrored from below. */
    options.border = GF_BORDER_REFLECT101;
    options.flip = true;
    plan = plan_for("1x2: 1 1,1x2: 1 1", gray, options);
    assert_rows(&plan->pipelines[0], 0, 1, 0, 3);
    drop(plan);
    options.flip = false;
    plan = plan_for("1x9: 1 0 0 0 0 0 0 0 0", gray, options);
    assert_rows(&plan->pipelines[0], 0, 1, 0, 5);
    assert_rows(&plan->pipelines[0], 479, 480, 475, 480);
    drop(plan);
    options.border = GF_BORDER_WRAP;
    plan = plan_for("box", gray, options);
    assert_false(plan->streams);
    assert_rows(&plan->pipelines[0], 0, 1, 0, 480);
    assert_rows(&plan->pipelines[0], 5, 6, 4, 7);
    drop(plan);
}

/* Seven taps in columns of 640, three of them to the left. */
static void test_columns(void **state)
{
    (void)state;
    static const struct {
        GfBorder border;
        size_t x0, x1, begin, end;
    } cases[] = {
        {GF_BORDER_REPLICATE, 100, 200, 97, 203}, {GF_BORDER_CONSTANT, 0, 1, 0, 4},
        {GF_BORDER_REFLECT, 0, 2, 0, 5},          {GF_BORDER_REFLECT101, 639, 640, 636, 640},
        {GF_BORDER_WRAP, 0, 1, 0, 640},           {GF_BORDER_WRAP, 3, 4, 0, 7},
        {GF_BORDER_VALID, 10, 12, 10, 18}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        options.border = cases[i].border;
        GfPlan *plan = plan_for("box:width=7:height=1", gray, options);
        size_t begin, end;
        gf_step_columns(&plan->pipelines[0].steps[0], cases[i].x0, cases[i].x1, &begin, &end);
        assert_int_equal(begin, cases[i].begin);
        assert_int_equal(end, cases[i].end);
        drop(plan);
    }
}

/* No submit gives more rows than the plan says. */
static void test_most_rows(void **state)
{
    (void)state;
    static const char *const texts[] = {"identity",
                                        "1x31: 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                                        "0 0 0 0 0 0 0 0 0 0,gaussian:sigma=3"};
    for (int flip = 0; flip < 2; flip++)
        for (size_t t = 0; t < 2; t++)
            for (size_t height = 1; height < 300; height += 23) {
                GfFormat format = {64, height, 1, false, GF_U8};
                GfPlanOptions options = gf_plan_options_default(GF_U8);
                options.band_bytes = 1;
                options.flip = flip != 0;
                options.border = GF_BORDER_REFLECT101;
                GfPlan *plan = plan_for(texts[t], format, options);
                size_t before = 0;
                for (size_t y = 0; y < height; y += plan->band_rows) {
                    size_t ready =
                        gf_pipeline_ready(&plan->pipelines[0], gf_min(y + plan->band_rows, height));
                    assert_true(ready - before <= plan->pipelines[0].most_rows);
                    before = ready;
                }
                assert_int_equal(before, height);
                drop(plan);
            }
}

/* The ring always has room for one band more than any row not yet made needs. */
static void test_ring(void **state)
{
    (void)state;
    static const char *const texts[] = {"identity", "box:size=31",
                                        "gaussian:sigma=5,sobel,box:size=9"};
    GfFormat tall = {100, 5000, 3, false, GF_U8};
    for (size_t t = 0; t < 3; t++)
        for (size_t band_bytes = 1; band_bytes < 200000; band_bytes *= 7) {
            GfPlanOptions options = gf_plan_options_default(GF_U8);
            options.band_bytes = band_bytes;
            options.border = GF_BORDER_REFLECT;
            GfPlan *plan = plan_for(texts[t], tall, options);
            const GfPipeline *pipeline = &plan->pipelines[0];
            assert_true(plan->ring_rows == 5000 || plan->ring_rows % plan->band_rows == 0);
            for (size_t rows = 0; rows < 5000; rows += plan->band_rows) {
                size_t begin, end, ready = gf_pipeline_ready(pipeline, rows);
                gf_pipeline_rows(pipeline, ready, 5000, &begin, &end);
                assert_true(gf_min(rows + plan->band_rows, 5000) - begin <= plan->ring_rows);
            }
            drop(plan);
        }
}

/* On the CPU what has to be kept is what one window has, and bands of products are short. */
static void test_prompt_bands(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool prompt;
        size_t band, ring;
    } cases[] = {{"box:size=137", true, 68, 136 + 2 * 68},
                 {"box:size=9", true, 48, 48 + 2 * 48},
                 {"disk:radius=68", true, 136, 136 + 2 * 136},
                 {"box:size=137,sobel", true, 69, 138 + 2 * 69},
                 {"sobel,box:size=137", true, 138, 138 + 2 * 138},
                 {"box:size=137", false, 136, 272 + 4 * 136}};
    const GfFormat wide = {32768, 9000, 1, false, GF_U8};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        options.band_bytes = 3 << 19;
        options.prompt = cases[i].prompt;
        GfPlan *plan = plan_for(cases[i].text, wide, options);
        assert_int_equal(plan->band_rows, cases[i].band);
        assert_int_equal(plan->ring_rows, cases[i].ring);
        drop(plan);
    }
}

/* What is made of a band counts too: 32 maps of floats are 128 bytes of a pixel's three. */
static void test_made_bands(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool prompt;
        size_t band;
    } cases[] = {{"natural", true, 9}, {"natural", false, 49}, {"box", true, 49}};
    const GfFormat photo = {4000, 3000, 3, false, GF_U8};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfPlanOptions options = gf_plan_options_default(GF_F32);
        options.band_bytes = 576 << 10;
        options.prompt = cases[i].prompt;
        GfPlan *plan = plan_for(cases[i].text, photo, options);
        assert_int_equal(plan->band_rows, cases[i].band);
        drop(plan);
    }
}

static void test_memory(void **state)
{
    (void)state;
    GfFormat huge = {30000, 30000, 3, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.memory = 8 << 20;
    GfPlan *plan = plan_for("box:size=3", huge, options);
    assert_true(plan->ring_rows * 90000 <= 8 << 20);
    drop(plan);
    options.memory = 1 << 20;
    assert_int_equal(gf_filter_parse("gaussian:sigma=10", &filter), GF_OK);
    const GfFilter *bank[] = {filter};
    assert_int_equal(gf_plan_create(bank, 1, &huge, &options, &plan), GF_ELIMIT);
    gf_filter_free(filter);
    /* Padding counts. */
    GfFormat tall = {65, 1000000, 1, false, GF_U8};
    for (options.memory = 10000; options.memory < 1 << 20; options.memory += options.memory / 4) {
        plan = plan_for("box:size=3", tall, options);
        size_t rows = plan->ring_rows + plan->slots * plan->pipelines[0].most_rows;
        assert_true(rows * 128 <= options.memory);
        drop(plan);
    }
}

/* Integer kernels are exact in f32; large fractional sums are not. */
static void test_precision(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        GfSample in, out;
        bool wide;
    } cases[] = {
        {"sobel", GF_U8, GF_U8, false},
        {"laplacian", GF_U16, GF_U16, false},
        {"box:size=15", GF_U8, GF_U8, false},
        {"gaussian:sigma=2", GF_U8, GF_U8, false},
        {"gaussian:sigma=1,sobel", GF_U8, GF_U8, false},
        {"3x3: 333.3 -250.7 10.1 -99.9 500.1 -400.4 77.7 -88.8 -82.1", GF_U8, GF_U8, true},
        {"3x3: 333.3 -250.7 10.1 -99.9 500.1 -400.4 77.7 -88.8 -82.1", GF_U16, GF_U16, true},
        {"3x1: -0.1 0 0.1", GF_F32, GF_F32, true},
        {"box", GF_F32, GF_F32, false},
        {"box", GF_F64, GF_F32, true},
        {"sobel", GF_F32, GF_U8, true},
        {"box", GF_F32, GF_F64, true},
        {"binomial", GF_F32, GF_U8, false},
        {"sharpen:amount=20.3", GF_F32, GF_U16, true}, /* floats up to 65535 */
        {"sharpen", GF_U8, GF_U8, false},
        {"sharpen:amount=0.7", GF_U8, GF_U8, false},
        {"emboss", GF_U8, GF_U8, false},
        {"unsharp", GF_U8, GF_U8, false},
        {"unsharp:threshold=4", GF_U8, GF_U8, true}, /* on which side of 4 must be right */
        {"dog", GF_U8, GF_F32, true},                /* blurs of sum 1, and what they differ by */
        {"dog", GF_U8, GF_U8, false},
        {"clamp:high=189,5x1: 4 4 0 -4 -4", GF_U8, GF_F32, false}, /* still integers */
        {"clamp:high=189.3,5x1: 4 4 0 -4 -4", GF_U8, GF_F32, true},
        {"clamp:low=1e9,5x1: 4 4 0 -4 -4", GF_U8, GF_F32, true}, /* and too large for f32 */
        /* The sum of taps is a small part of that of their sizes. */
        {"highboost:boost=1.15:size=7", GF_F32, GF_F32, true},
        {"highboost:boost=1.1", GF_F32, GF_F32, true},
        {"highboost:boost=1.3", GF_F32, GF_F32, false},
        {"sharpen:amount=2.3", GF_F32, GF_F32, false}, /* of five taps */
        {"unsharp:amount=5", GF_F32, GF_F32, true},
        {"unsharp:amount=2", GF_F32, GF_F32, false},
        /* Beyond f32 in between. */
        {"1x1: 1e30,1x1: 1e30,1x1/1e30: 1,1x1/1e30: 1", GF_U8, GF_U8, true},
        {"1x1/1e30: 1,1x1/1e30: 1,1x1: 1e30,1x1: 1e30", GF_F32, GF_F32, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfFormat format = gray;
        format.sample = cases[i].in;
        GfPlan *plan = plan_for(cases[i].text, format, gf_plan_options_default(cases[i].out));
        if (plan->pipelines[0].wide != cases[i].wide)
            fail_msg("%s is%s wide", cases[i].text, cases[i].wide ? " not" : "");
        drop(plan);
    }
    /* Only where there is an opacity is one divided by. */
    const GfFormat opacity = {gray.width, gray.height, 2, true, GF_U8};
    GfPlan *plan = plan_for("sharpen", opacity, gf_plan_options_default(GF_U8));
    assert_true(plan->pipelines[0].wide);
    drop(plan);
    /* What stands outside need not be an integer. */
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    options.border = GF_BORDER_CONSTANT;
    for (int i = 0; i < 2; i++) {
        options.border_value = i ? 185.1 : 185.0;
        plan = plan_for("sobel:x", gray, options);
        assert_int_equal(plan->pipelines[0].wide, i);
        drop(plan);
    }
}

/* Rounding leaves of a flat picture some units in the last place of its largest sums, and of
 * integers nothing. */
static void test_noise(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        GfSample in;
        double least, most;
    } cases[] = {
        {"sobel:x", GF_U8, 0.0, 0.0},
        {"log", GF_U8, 1e-13, 1e-11}, /* in f64 */
        {"log", GF_U16, 257e-13, 257e-11},
        {"log:scale=1e-6", GF_U8, 1e-19, 1e-17},
        {"gabor", GF_U8, 1e-14, 1e-11},
        {"gaussian", GF_U16, 0.0, 0.0}, /* in f32, where nothing cancels */
        {"log,tanh", GF_U8, 0.0, 0.0},  /* small results of large ones? */
        {"log", GF_F32, 0.0, 0.0},      /* of what size are they? */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfFormat format = gray;
        format.sample = cases[i].in;
        GfPlan *plan = plan_for(cases[i].text, format, gf_plan_options_default(GF_F32));
        double noise = plan->pipelines[0].noise;
        if (!(noise >= cases[i].least && noise <= cases[i].most))
            fail_msg("%s: %g", cases[i].text, noise);
        drop(plan);
    }
}

/* Functions that want the colours themselves ride on a division. */
static void test_functions_and_opacity(void **state)
{
    (void)state;
    static const struct {
        const char *text,
            *steps;   /* x: multiply, k: kernel, d: divide; and how many functions they carry */
        double gains; /* of all divisions, multiplied */
    } cases[] = {
        {"3x1: 1 2 1", "x0k0d0", 1.0 / 4},
        {"3x1: 1 2 1,scale:factor=2,abs,relu", "x0k3d0", 1.0 / 4},
        {"3x1: 1 2 1,scale:factor=2,scale:offset=1,abs", "x0k1d2", 1.0 / 4},
        {"3x1: 1 2 1,clamp:high=9,1x3: 1 1 1,sigmoid", "x0k0d1x0k0d1", 1.0 / 12},
        {"scale:offset=1,3x1/2: 1 2 1,relu", "x0k0d1x0k1d0", 1.0 / 2},
        {"3x1/2+7: 1 2 1,relu", "x0k0d2", 1.0 / 2},
        {"3x1: -1 2 -1", "x0k0d0", 1.0},
        {"log", "x0k0d0", 1.0}, /* whose sum is 0 but for rounding */
    };
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.alpha = GF_ALPHA_PREMUL;
    options.range = GF_RANGE_CLAMP;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char letters[] = {
            [GF_STEP_FILTER] = 'k', [GF_STEP_PREMULTIPLY] = 'x', [GF_STEP_UNPREMULTIPLY] = 'd'};
        GfPlan *plan = plan_for(cases[i].text, rgba, options);
        const GfPipeline *pipeline = &plan->pipelines[0];
        char steps[32] = "";
        double gains = 1.0;
        for (size_t j = 0; j < pipeline->count; j++) {
            const GfStep *step = &pipeline->steps[j];
            assert_true(step->linear.offset == 0.0);
            assert_int_equal(step->post_channels, 3);
            steps[2 * j] = letters[step->kind];
            steps[2 * j + 1] = (char)('0' + step->posts);
            gains *= step->alpha_gain;
        }
        assert_string_equal(steps, cases[i].steps);
        assert_true(fabs(gains - cases[i].gains) < 1e-15);
        drop(plan);
    }
    /* As many as a step holds, and the range's. */
    options.range = GF_RANGE_ABS;
    GfPlan *plan = plan_for("3x1+1: 1 2 1,tanh,tanh,tanh,tanh,tanh,tanh,tanh,tanh", rgba, options);
    const GfPipeline *pipeline = &plan->pipelines[0];
    assert_int_equal(pipeline->count, 6);
    assert_int_equal(pipeline->steps[2].posts, 7);
    assert_int_equal(pipeline->steps[5].posts, 3);
    drop(plan);
}

/* ---- layers and pools ---- */

static GfPlan *plan_for_filter(GfFormat format, GfPlanOptions options)
{
    GfPlan *plan;
    const GfFilter *bank[] = {filter};
    if (gf_plan_create(bank, 1, &format, &options, &plan) != GF_OK)
        fail_msg("%s", gf_message());
    return plan;
}

static void expect_status(GfStatus status, GfFormat format, GfPlanOptions options, const char *why)
{
    GfPlan *plan;
    const GfFilter *bank[] = {filter};
    assert_int_equal(gf_plan_create(bank, 1, &format, &options, &plan), status);
    if (!strstr(gf_message(), why))
        fail_msg("\"%s\" does not say \"%s\"", gf_message(), why);
    gf_filter_free(filter);
}

static void expect_failure(GfFormat format, GfPlanOptions options, const char *why)
{
    expect_status(GF_EFILTER, format, options, why);
}

static void new_filter(void)
{
    assert_int_equal(gf_allocate_zero(1, sizeof *filter, &filter), GF_OK);
}

/* Appends a layer with weights of 1. */
static GfLinear *add_layer(size_t filters, size_t depth, size_t groups, size_t width, size_t height)
{
    GfLinear *linear;
    assert_int_equal(gf_filter_add_layer(filter, filters, depth, groups, width, height, &linear),
                     GF_OK);
    for (size_t i = 0; i < filters * depth * width * height; i++)
        linear->weights[i] = 1.0;
    return linear;
}

static GfPool *add_pool(GfPoolOp op, size_t width, size_t height)
{
    GfPool *pool;
    assert_int_equal(gf_filter_add_pool(filter, op, width, height, &pool), GF_OK);
    return pool;
}

static const GfFormat rgb = {640, 480, 3, false, GF_U8};

/* Functions ride on the layer or pool before them; what passes between layers lies in planes. */
static void test_network(void **state)
{
    (void)state;
    new_filter();
    GfLinear *first = add_layer(6, 3, 1, 5, 5);
    gf_filter_add_pointwise(filter, (GfPointwise){.op = GF_POINTWISE_RELU});
    add_pool(GF_POOL_MAX, 2, 2);
    add_layer(15, 2, 3, 3, 3);
    assert_int_equal(gf_allocate(6, sizeof *first->bias, &first->bias), GF_OK);
    for (size_t i = 0; i < 6; i++)
        first->bias[i] = (double)i;
    gf_filter_add_pointwise(filter, (GfPointwise){.op = GF_POINTWISE_TANH});
    GfPlan *plan = plan_for_filter(rgb, gf_plan_options_default(GF_U8));
    const GfPipeline *pipeline = &plan->pipelines[0];
    const GfStep *steps = pipeline->steps;
    assert_int_equal(pipeline->count, 3);
    assert_int_equal(steps[0].posts, 1);
    assert_ptr_equal(steps[0].bias, first->bias);
    assert_int_equal(steps[1].kind, GF_STEP_POOL);
    assert_int_equal(steps[2].posts, 1);
    static const size_t sizes[][3] = {{636, 476, 6}, {318, 238, 6}, {316, 236, 15}};
    static const GfLayout layouts[] = {GF_INTERLEAVED, GF_PLANAR, GF_PLANAR, GF_INTERLEAVED};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(steps[i].out_width, sizes[i][0]);
        assert_int_equal(steps[i].out_height, sizes[i][1]);
        assert_int_equal(steps[i].out_channels, sizes[i][2]);
        assert_int_equal(steps[i].post_channels, sizes[i][2]);
        assert_int_equal(steps[i].in_layout, layouts[i]);
        assert_int_equal(steps[i].out_layout, layouts[i + 1]);
        assert_false(steps[i].keep_alpha);
    }
    assert_int_equal(pipeline->out.channels, 15);
    assert_false(pipeline->out.has_alpha);
    assert_true(pipeline->multiply_adds ==
                636.0 * 476 * 6 * 75 + 318.0 * 238 * 6 * 4 + 316.0 * 236 * 15 * 18);
    assert_true(pipeline->bytes == 640.0 * 480 * 3 + 316.0 * 236 * 15);
    drop(plan);
}

/* Opacity goes through a layer as any channel does. */
static void test_layer_alpha(void **state)
{
    (void)state;
    new_filter();
    add_layer(4, 1, 4, 3, 3);
    GfPlan *plan = plan_for_filter(rgba, gf_plan_options_default(GF_U8));
    assert_int_equal(plan->pipelines[0].count, 1);
    assert_int_equal(plan->pipelines[0].alpha, GF_ALPHA_FILTER);
    assert_int_equal(plan->pipelines[0].steps[0].post_channels, 4);
    assert_false(plan->pipelines[0].out.has_alpha);
    drop(plan);
    /* As through one kernel for all channels, which keeps them apart. */
    GfLinear *linear;
    new_filter();
    assert_int_equal(gf_filter_add_kernel(filter, 1, 3, 1, &linear), GF_OK);
    linear->weights[0] = -1.0;
    linear->weights[2] = 1.0;
    linear->sampling.fit = GF_FIT_PAD;
    plan = plan_for_filter(rgba, gf_plan_options_default(GF_U8));
    assert_int_equal(plan->pipelines[0].count, 1);
    assert_int_equal(plan->pipelines[0].alpha, GF_ALPHA_FILTER);
    assert_int_equal(plan->pipelines[0].range, GF_RANGE_CLAMP);
    assert_int_equal(plan->pipelines[0].steps[0].post_channels, 4);
    assert_true(plan->pipelines[0].out.has_alpha);
    drop(plan);
}

static void assert_axis(size_t in, size_t taps, size_t stride, size_t dilation, GfFit fit,
                        size_t out, ptrdiff_t origin)
{
    GfFormat format = {in, 50, 1, false, GF_U8};
    new_filter();
    GfLinear *linear = add_layer(1, 1, 1, taps, 1);
    linear->sampling.stride_x = stride;
    linear->sampling.dilation_x = dilation;
    linear->sampling.fit = fit;
    linear->sampling.left = 2;
    linear->sampling.right = 1;
    GfPlan *plan = plan_for_filter(format, gf_plan_options_default(GF_U8));
    const GfStep *step = &plan->pipelines[0].steps[0];
    assert_int_equal(step->out_width, out);
    assert_int_equal(step->origin_x, origin);
    assert_int_equal(step->out_height, 50);
    assert_int_equal(step->origin_y, 0);
    drop(plan);
}

/* How windows lie: out = (in + before + after - (taps - 1) dilation - 1) / stride + 1. */
static void test_fits(void **state)
{
    (void)state;
    assert_axis(10, 3, 1, 1, GF_FIT_PAD, 11, -2);
    assert_axis(10, 3, 2, 1, GF_FIT_PAD, 6, -2);
    assert_axis(10, 3, 3, 2, GF_FIT_PAD, 3, -2);
    assert_axis(1, 4, 1, 1, GF_FIT_PAD, 1, -2);
    assert_axis(10, 3, 1, 1, GF_FIT_BORDER, 10, -1);
    assert_axis(10, 3, 3, 1, GF_FIT_BORDER, 4, -1);
    assert_axis(10, 4, 3, 2, GF_FIT_BORDER, 4, -4);
    /* An even kernel misses an odd number of pixels; one more goes after, or before. */
    assert_axis(10, 4, 1, 1, GF_FIT_SAME_UPPER, 10, -1);
    assert_axis(10, 4, 1, 1, GF_FIT_SAME_LOWER, 10, -2);
    assert_axis(10, 3, 2, 1, GF_FIT_SAME_UPPER, 5, 0);
    assert_axis(10, 3, 2, 1, GF_FIT_SAME_LOWER, 5, -1);
    assert_axis(10, 3, 2, 3, GF_FIT_SAME_UPPER, 5, -2);
    assert_axis(9, 2, 3, 1, GF_FIT_SAME_UPPER, 3, 0); /* nothing is missing */
}

static void assert_pool(size_t in, size_t size, size_t stride, size_t before, size_t after,
                        bool ceil, size_t out)
{
    GfFormat format = {in, in, 1, false, GF_U8};
    new_filter();
    GfPool *pool = add_pool(GF_POOL_AVERAGE, size, size);
    pool->sampling.stride_x = pool->sampling.stride_y = stride;
    pool->sampling.left = pool->sampling.top = before;
    pool->sampling.right = pool->sampling.bottom = after;
    pool->ceil = ceil;
    pool->count_padding = ceil;
    GfPlan *plan = plan_for_filter(format, gf_plan_options_default(GF_U8));
    const GfStep *step = &plan->pipelines[0].steps[0];
    assert_int_equal(step->out_width, out);
    assert_int_equal(step->out_height, out);
    assert_int_equal(step->origin_x, -(ptrdiff_t)before);
    assert_int_equal(step->count_x0, ceil ? -(ptrdiff_t)before : 0);
    assert_int_equal(step->count_y1, (ptrdiff_t)(in + (ceil ? after : 0)));
    assert_int_equal(step->border, GF_BORDER_CONSTANT);
    drop(plan);
}

/* A last window that begins on the picture or its padding may end beyond. */
static void test_pools(void **state)
{
    (void)state;
    assert_pool(28, 2, 2, 0, 0, false, 14);
    assert_pool(7, 2, 2, 0, 0, false, 3);
    assert_pool(7, 2, 2, 0, 0, true, 4);
    assert_pool(6, 2, 2, 0, 0, true, 3);
    assert_pool(5, 3, 2, 1, 1, false, 3);
    assert_pool(6, 3, 2, 1, 1, true, 4);
    assert_pool(4, 2, 3, 1, 1, true, 2);
    assert_pool(1, 2, 2, 0, 0, true, 1); /* rounded up as PyTorch does, even from less than one */
    assert_pool(3, 1, 3, 0, 1, true, 1); /* a second one would begin on the padding behind */
}

static void test_misfits(void **state)
{
    (void)state;
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    new_filter();
    add_layer(2, 4, 1, 3, 3);
    expect_failure(rgb, options, "a layer that takes 4 channels is given 3");
    new_filter();
    add_layer(4, 1, 2, 3, 3);
    expect_failure(rgb, options, "a layer that takes 2 channels (all groups together) is given 3");
    new_filter();
    add_layer(1, 3, 1, 3, 481);
    expect_failure(rgb, options, "a window of 481 rows");
    new_filter();
    add_layer(1, 3, 1, 3, 3)->sampling.stride_y = 0;
    expect_failure(rgb, options, "a stride or dilation of 0");
    new_filter();
    GfPool *pool = add_pool(GF_POOL_MAX, 2, 2);
    assert_int_equal(gf_allocate_zero(2, sizeof *pool->bias, &pool->bias), GF_OK);
    pool->bias_count = 2;
    expect_failure(rgb, options, "a bias of 2 numbers for a pool of 3 channels");
    new_filter();
    add_layer(2, 3, 1, 1, 1);
    gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L2});
    expect_failure(rgb, options, "no bank to combine");
}

/* The picture's other end is met by padding, too, whatever the taps; without any it is not. */
static void test_wraps(void **state)
{
    (void)state;
    for (size_t bottom = 0; bottom < 2; bottom++)
        for (size_t taps = 1; taps <= 3; taps += 2) {
            GfFormat format = {8, 300, 2, false, GF_U8};
            GfPlanOptions options = gf_plan_options_default(GF_U8);
            options.band_bytes = 1;
            options.border = GF_BORDER_WRAP;
            new_filter();
            GfSampling *sampling = &add_layer(2, 2, 1, taps, taps)->sampling;
            sampling->fit = GF_FIT_PAD;
            sampling->bottom = bottom;
            sampling->border = GF_BORDER_WRAP;
            GfPlan *plan = plan_for_filter(format, options);
            assert_int_equal(plan->streams, bottom == 0);
            drop(plan);
        }
}

/* Nor does it say many more, whatever grows on the way. */
static void test_most_rows_are_few(void **state)
{
    (void)state;
    for (size_t factor = 1; factor <= 4; factor++) {
        GfFormat format = {8, 3000, 2, false, GF_U8};
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        options.band_bytes = 1;
        new_filter();
        add_layer(2, 2, 1, 3, 3)->sampling.fit = GF_FIT_SAME_UPPER;
        GfUpsample larger = {false, 1, factor, GF_NO_REFERENCE};
        if (factor > 1)
            assert_int_equal(gf_filter_add_upsample(filter, larger), GF_OK);
        add_layer(2, 2, 1, 3, 3)->sampling.fit = GF_FIT_SAME_UPPER;
        GfPlan *plan = plan_for_filter(format, options);
        assert_int_equal(plan->pipelines[0].out.height, 3000 * factor);
        assert_in_range(plan->pipelines[0].most_rows, factor * plan->band_rows,
                        factor * (plan->band_rows + 8));
        drop(plan);
    }
    GfFormat format = {64, 3000, 1, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfPlan *plan = plan_for("box:size=301", format, options);
    assert_in_range(plan->pipelines[0].most_rows, plan->band_rows + 150, plan->band_rows + 300);
    drop(plan);
}

static void add_enlargements(size_t count, size_t factor)
{
    GfUpsample larger = {false, factor, factor, GF_NO_REFERENCE};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(gf_filter_add_upsample(filter, larger), GF_OK);
}

/* A band may be a single row where that becomes thousands; what would not fit is refused. */
static void test_enlarged_bands(void **state)
{
    (void)state;
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.prompt = true;
    new_filter();
    add_enlargements(2, 64);
    GfPlan *plan = plan_for_filter((GfFormat){100, 75, 1, false, GF_U8}, options);
    assert_int_equal(plan->band_rows, 1);
    assert_int_equal(plan->pipelines[0].most_rows, 4096);
    drop(plan);
    new_filter();
    add_enlargements(2, 64);
    expect_status(GF_ELIMIT, (GfFormat){512, 384, 1, false, GF_U8}, options,
                  "the rows in flight need 16777217 KiB, the limit is 4194304 KiB (--memory)");
    options.memory = SIZE_MAX - 1;
    options.sample = GF_F64;
    new_filter();
    add_enlargements(5, 64); /* a row becomes 2^65 bytes */
    expect_status(GF_ELIMIT, (GfFormat){1, 1, 4, true, GF_F64}, options, "the rows in flight");
    /* Rows that are long by themselves are no enlargement's. */
    options = gf_plan_options_default(GF_F32);
    new_filter();
    add_enlargements(1, 1);
    drop(plan_for_filter((GfFormat){1U << 29, 3, 1, false, GF_F32}, options));
    /* Rows that neighbouring bands share do not count more than what all of them become. */
    options = gf_plan_options_default(GF_U8);
    options.prompt = true;
    new_filter();
    add_layer(1, 1, 1, 301, 301)->sampling.fit = GF_FIT_SAME_UPPER;
    add_enlargements(1, 64);
    plan = plan_for_filter((GfFormat){1000, 3000, 1, false, GF_U8}, options);
    assert_int_equal(plan->band_rows, (256 << 20) / (1000 * 64 * 64));
    drop(plan);
}

static uint32_t seed = 1;

static size_t below(size_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % limit;
}

/* A layer or pool that lies anyhow, or now and then an enlargement. */
static void add_random_stage(size_t channels)
{
    size_t taps = 1 + below(7);
    if (below(5) == 0) {
        GfUpsample larger = {false, 1, 1 + below(4), GF_NO_REFERENCE};
        assert_int_equal(gf_filter_add_upsample(filter, larger), GF_OK);
        return;
    }
    bool pool = below(3) == 0;
    GfSampling *sampling = pool ? &add_pool(GF_POOL_MAX, 2, taps)->sampling
                                : &add_layer(channels, 1, channels, 1, taps)->sampling;
    sampling->stride_y = 1 + below(4);
    sampling->dilation_y = 1 + below(3);
    sampling->fit = pool ? GF_FIT_PAD : (GfFit)below(4);
    sampling->top = below(8);
    sampling->bottom = below(8);
    sampling->border = (GfBorder)below(GF_BORDER_VALID);
}

/* Every row that a tap meets is among those that are named, and none more where there are no
 * rules to map rows by. */
static void assert_rows_enough(const GfStep *step, size_t y0, size_t y1)
{
    size_t begin, end;
    long long lowest = (long long)step->in_height, highest = -1;
    gf_step_rows(step, y0, y1, &begin, &end);
    assert_true(begin < end && end <= step->in_height);
    if (step->kind == GF_STEP_UPSAMPLE) {
        assert_int_equal(begin, y0 / step->factor_y);
        assert_int_equal(end, (y1 - 1) / step->factor_y + 1);
        assert_true(end - begin <= gf_step_most_rows(step, y1 - y0));
        return;
    }
    for (size_t y = y0; y < y1; y++)
        for (size_t k = 0; k < step->taps_y; k++) {
            long long row = (long long)(y * step->stride_y + k * step->dilation_y) + step->origin_y;
            row = gf_border_index(row, (long long)step->in_height, step->border);
            lowest = row >= 0 && row < lowest ? row : lowest;
            highest = row > highest ? row : highest;
        }
    if (highest < 0) /* nothing but padding */
        return;
    assert_true((long long)begin <= lowest && highest < (long long)end);
    if (step->border == GF_BORDER_CONSTANT && step->dilation_y == 1 && y1 == y0 + 1)
        assert_true((long long)begin == lowest && highest + 1 == (long long)end);
    size_t most = gf_step_most_rows(step, y1 - y0);
    assert_true(end - begin <= most || step->border == GF_BORDER_WRAP);
    /* Padding of zeros is not held. */
    if (step->border == GF_BORDER_CONSTANT)
        assert_true(most <=
                    (y1 - y0 - 1) * step->stride_y + (step->taps_y - 1) * step->dilation_y + 1);
}

/* The ring holds what the rows that are still to be made need, of the CPU's with room for the band
 * that is read meanwhile, and no submit makes more than the plan says. */
static void assert_bands_enough(const GfPlan *plan)
{
    const GfPipeline *pipeline = &plan->pipelines[0];
    size_t height = plan->in.height, made = 0;
    size_t ahead = plan->options.prompt && plan->ring_rows < height ? plan->band_rows : 0;
    for (size_t y = 0; y < height; y += plan->band_rows) {
        size_t begin, end, rows = gf_min(y + plan->band_rows, height);
        size_t ready = gf_pipeline_ready(pipeline, rows);
        assert_true(ready >= made && ready - made <= pipeline->most_rows);
        gf_pipeline_rows(pipeline, made, pipeline->out.height, &begin, &end);
        if (made < pipeline->out.height)
            assert_true(rows <= begin || rows - begin + ahead <= plan->ring_rows);
        made = ready;
    }
    assert_int_equal(made, pipeline->out.height);
}

/* Rows, bands and rings of chains of such stages. */
static void test_random_rows(void **state)
{
    (void)state;
    for (size_t turn = 0; turn < 20000; turn++) {
        GfFormat format = {8, 20 + below(300), 2, false, GF_U8};
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        const GfFilter *bank[1];
        GfPlan *plan;
        options.band_bytes = 1 + below(600);
        options.border = (GfBorder)below(GF_BORDER_VALID);
        options.prompt = below(2) == 0;
        new_filter();
        for (size_t i = 0; i <= turn % 4; i++)
            add_random_stage(2);
        bank[0] = filter;
        if (gf_plan_create(bank, 1, &format, &options, &plan) != GF_OK) {
            gf_filter_free(filter); /* too small a picture */
            continue;
        }
        const GfPipeline *pipeline = &plan->pipelines[0];
        for (size_t i = 0; i < pipeline->count; i++)
            for (size_t j = 0; j < 20; j++) {
                size_t y0 = below(pipeline->steps[i].out_height);
                size_t rows = 1 + below(pipeline->steps[i].out_height - y0);
                assert_rows_enough(&pipeline->steps[i], y0, y0 + rows);
            }
        if (plan->streams)
            assert_bands_enough(plan);
        drop(plan);
    }
}

/* What sums of n taps in chunks lose, squared, as filters/plan.h reckons it: of n / chunk sums,
 * each of which grows to its part of the whole, and of their sum. What all have in common is left
 * out. */
static double lost(double n, double chunk)
{
    return chunk * chunk / n + n / chunk;
}

/* Chunks of deep layers are those that lose least; of other layers they are what they always were.
 * By cubes of whole numbers: 2 * 323^3 = 67,396,534 is more than 8193^2 = 67,125,249, and
 * 2 * 322^3 = 66,772,496 less, and so on. */
static void test_layer_chunks(void **state)
{
    (void)state;
    static const size_t known[][2] = {{1, 128},      {8192, 128},    {8193, 323},    {12544, 429},
                                      {46403, 1025}, {100000, 1710}, {1000000, 7938}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(gf_layer_chunk(known[i][0]), known[i][1]);
    for (size_t n = GF_DEEP_TAPS + 1; n < 200000; n += n / 7) {
        const double chunk = (double)gf_layer_chunk(n), taps = (double)n;
        for (double factor = 0.25; factor < 5.0; factor *= 1.25)
            assert_true(lost(taps, chunk) <= 1.001 * lost(taps, chunk * factor));
    }
}

/* Sums over many channels leave f32 when they are too long for it. */
static void test_layer_precision(void **state)
{
    (void)state;
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    GfFormat format = {32, 32, 16, false, GF_F32};
    new_filter();
    add_layer(8, 16, 1, 3, 3);
    GfPlan *plan = plan_for_filter(format, options);
    assert_false(plan->pipelines[0].wide);
    drop(plan);
    new_filter();
    add_layer(8, 16, 1, 3, 3);
    format.sample = GF_F64;
    plan = plan_for_filter(format, options);
    assert_true(plan->pipelines[0].wide);
    drop(plan);
    format.sample = GF_F16;
    new_filter();
    add_layer(8, 16, 1, 3, 3);
    plan = plan_for_filter(format, options);
    assert_int_equal(plan->pipelines[0].steps[0].in, GF_F16);
    assert_int_equal(plan->pipelines[0].out.sample, GF_F32);
    drop(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fusing),
        cmocka_unit_test(test_tall_kernels),
        cmocka_unit_test(test_range_and_alpha),
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_halo),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_most_rows),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_most_rows_are_few),
        cmocka_unit_test(test_enlarged_bands),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_prompt_bands),
        cmocka_unit_test(test_made_bands),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_functions_and_opacity),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_layer_alpha),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_misfits),
        cmocka_unit_test(test_random_rows),
        cmocka_unit_test(test_layer_chunks),
        cmocka_unit_test(test_layer_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
