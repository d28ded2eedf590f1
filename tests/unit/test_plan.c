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
        {"3x1+128: -1 0 1", GF_RANGE_CLAMP, GF_ALPHA_COPY, 1},
        {"3x1: -1 0 1,1x1+128: 1", GF_RANGE_CLAMP, GF_ALPHA_COPY, 2},
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfFormat format = gray;
        format.sample = cases[i].in;
        GfPlan *plan = plan_for(cases[i].text, format, gf_plan_options_default(cases[i].out));
        if (plan->pipelines[0].wide != cases[i].wide)
            fail_msg("%s is%s wide", cases[i].text, cases[i].wide ? " not" : "");
        drop(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fusing),    cmocka_unit_test(test_range_and_alpha),
        cmocka_unit_test(test_geometry),  cmocka_unit_test(test_halo),
        cmocka_unit_test(test_most_rows), cmocka_unit_test(test_ring),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
