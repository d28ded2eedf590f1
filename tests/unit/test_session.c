/* The CUDA backend's sessions on a device that is none (fake_cuda.h): that each step is given the
 * rows that it needs, whatever comes first of what nothing orders; that steps which a method does
 * at once are; and that all is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/memory.h"
#include "filters/backend.h"
#include "filters/grammar.h"
#include "gpu/backend.h"
#include "tests/draft.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/fake_kernels.h"

enum { SEEDS = 60, NETWORKS = 400, PICTURES = 2, MOST_FILTERS = 3 };

typedef struct Trial {
    const char *filters[MOST_FILTERS + 1];
    GfFormat format;
    GfBorder border;
    const char *second; /* the method of the second step, or NULL: any */
} Trial;

static const Trial trials[] = {
    {{"sobel"}, {64, 300, 1, false, GF_U8}, GF_BORDER_REPLICATE, NULL},
    {{"box:size=31"}, {64, 300, 3, false, GF_U8}, GF_BORDER_WRAP, NULL},
    {{"gaussian:sigma=3,sobel,laplacian"}, {64, 300, 3, false, GF_U16}, GF_BORDER_REFLECT, NULL},
    {{"sobel", "gaussian:sigma=2", "identity"}, {48, 257, 1, false, GF_F32}, GF_BORDER_VALID, NULL},
    {{"sharpen,box", "sobel"}, {48, 100, 4, true, GF_U8}, GF_BORDER_REFLECT101, NULL},
    {{"denoise"}, {64, 130, 3, false, GF_U8}, GF_BORDER_REPLICATE, "fused"},
    {{"deblur,sobel"}, {64, 130, 4, true, GF_U8}, GF_BORDER_REPLICATE, NULL},
    {{"natural,maxpool:size=2"}, {64, 130, 1, false, GF_F32}, GF_BORDER_CONSTANT, NULL},
    {{"natural,relu,maxpool:size=3:stride=2"},
     {64, 130, 3, false, GF_U8},
     GF_BORDER_CONSTANT,
     NULL},
    {{"sobel"}, {64, 1, 1, false, GF_U8}, GF_BORDER_REPLICATE, NULL},
};

/* ---- what is expected ---- */

/* Marks of the rows of a pipeline's output; the caller frees them. */
static uint64_t *expect(const GfPipeline *pipeline, const uint64_t *picture)
{
    uint64_t *marks[GF_PIPELINE_MAX_STEPS + 1] = {0};
    marks[0] = (uint64_t *)(uintptr_t)picture;
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        assert_int_equal(gf_allocate(step->out_height, sizeof *marks[0], &marks[i + 1]), GF_OK);
        const uint64_t *skipped = step->kind == GF_STEP_ADD ? marks[step->skip] : NULL;
        for (size_t y = 0; y < step->out_height; y++)
            marks[i + 1][y] = fake_step_mark(step, y, marks[i], skipped);
    }
    for (size_t i = 1; i < pipeline->count; i++)
        free(marks[i]);
    return marks[pipeline->count];
}

/* ---- a run ---- */

typedef struct Run {
    const GfPlan *plan;
    GfBackend *backend;
    GfSession *session;
    GfRing ring;
    GfImage outs[MOST_FILTERS];
    size_t done[MOST_FILTERS]; /* rows */
} Run;

/* As many submits at once as the plan counts on. */
static void run_picture(Run *run, size_t picture)
{
    const GfPlan *plan = run->plan;
    size_t submits = 0, collected = 0;
    memset(run->done, 0, sizeof run->done);
    assert_int_equal(run->backend->begin(run->session, &run->ring), GF_OK);
    for (size_t y = 0; y < plan->in.height; y += plan->band_rows, submits++) {
        const size_t rows = gf_min(plan->band_rows, plan->in.height - y);
        GfBand bands[MOST_FILTERS];
        for (; submits - collected >= plan->slots; collected++)
            assert_int_equal(run->backend->collect(run->session), GF_OK);
        for (size_t i = y; i < y + rows; i++) {
            const uint64_t mark = fake_picture_mark(picture * plan->in.height + i);
            memcpy(gf_ring_row(&run->ring, i), &mark, sizeof mark);
        }
        for (size_t i = 0; i < plan->outputs; i++) {
            const size_t ready = gf_pipeline_ready(&plan->pipelines[i], y + rows);
            bands[i] = gf_image_band(&run->outs[i]);
            bands[i].samples =
                (unsigned char *)run->outs[i].samples + run->done[i] * run->outs[i].stride;
            bands[i].y0 = run->done[i];
            bands[i].rows = ready - run->done[i];
            run->done[i] = ready;
        }
        assert_int_equal(run->backend->submit(run->session, y, rows, bands), GF_OK);
    }
    for (; collected < submits; collected++)
        assert_int_equal(run->backend->collect(run->session), GF_OK);
}

static void check_picture(const Run *run, size_t picture, const char *what)
{
    const size_t height = run->plan->in.height;
    uint64_t *marks;
    assert_int_equal(gf_allocate(height, sizeof *marks, &marks), GF_OK);
    for (size_t y = 0; y < height; y++)
        marks[y] = fake_picture_mark(picture * height + y);
    if (fake_complaint())
        fail_msg("%s: %s", what, fake_complaint());
    for (size_t i = 0; i < run->plan->outputs; i++) {
        const GfImage *out = &run->outs[i];
        uint64_t *expected = expect(&run->plan->pipelines[i], marks);
        assert_int_equal(run->done[i], out->format.height);
        for (size_t y = 0; y < out->format.height; y++)
            if (memcmp((unsigned char *)out->samples + y * out->stride, &expected[y],
                       sizeof *expected) != 0)
                fail_msg("%s: picture %zu, output %zu, row %zu is not of its rows", what, picture,
                         i, y);
        free(expected);
    }
    free(marks);
}

static void run_plan(GfBackend *backend, const GfPlan *plan, const char *second, const char *what)
{
    Run run = {.plan = plan, .backend = backend};
    const size_t stride = gf_row_bytes(&plan->in);
    assert_int_equal(gf_allocate_zero(plan->ring_rows, stride, &run.ring.samples), GF_OK);
    run.ring.stride = stride;
    run.ring.rows = plan->ring_rows;
    for (size_t i = 0; i < plan->outputs; i++) {
        assert_true(gf_row_bytes(&plan->pipelines[i].out) >= sizeof(uint64_t));
        assert_int_equal(gf_image_allocate(&plan->pipelines[i].out, &run.outs[i]), GF_OK);
    }
    assert_int_equal(backend->supports(backend, plan), GF_OK);
    assert_int_equal(backend->session(backend, plan, &run.session), GF_OK);
    if (second)
        assert_string_equal(backend->method(run.session, 0, 1), second);
    for (size_t i = 0; i < PICTURES; i++) {
        run_picture(&run, i);
        check_picture(&run, i, what);
    }
    backend->end(run.session);
    for (size_t i = 0; i < plan->outputs; i++)
        gf_image_free(&run.outs[i]);
    free(run.ring.samples);
}

/* Takes the filters. */
static void run_filters(GfFilter **filters, size_t count, const Trial *trial, uint64_t seed,
                        const char *what)
{
    GfPlanOptions options = gf_plan_options_default(trial->format.sample);
    GfBackend *backend;
    GfPlan *plan;
    fake_begin(seed);
    assert_int_equal(gf_cuda_open(0, NULL, &backend), GF_OK);
    options.border = trial->border;
    options.band_bytes = gf_row_bytes(&trial->format) * (1 + seed % 23);
    options.tall = backend->tall;
    if (gf_plan_create((const GfFilter *const *)filters, count, &trial->format, &options, &plan) !=
        GF_OK)
        fail_msg("%s: %s", what, gf_message());
    run_plan(backend, plan, trial->second, what);
    gf_plan_free(plan);
    for (size_t i = 0; i < count; i++)
        gf_filter_free(filters[i]);
    backend->close(backend);
    assert_int_equal(fake_left(), 0);
}

static void test_filters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            GfFilter *filters[MOST_FILTERS];
            size_t count = 0;
            for (; trials[i].filters[count]; count++)
                assert_int_equal(gf_filter_parse(trials[i].filters[count], &filters[count]), GF_OK);
            run_filters(filters, count, &trials[i], seed, trials[i].filters[0]);
        }
}

/* A layer of square kernels whose maps are as large as what it reads. */
static void add_layer(GfFilter *filter, size_t maps, size_t channels, size_t side)
{
    GfLinear *layer;
    assert_int_equal(gf_filter_add_layer(filter, maps, channels, 1, side, side, &layer), GF_OK);
    for (size_t i = 0; i < maps * channels * side * side; i++)
        layer->weights[i] = (double)(i % 7);
    layer->sampling.fit = GF_FIT_SAME_UPPER;
}

/* A layer and a pool are one launch; but not where what the layer makes is added later. */
static void test_pools(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
        const bool added = seed % 2;
        const Trial trial = {.format = {64, 130, 1, false, GF_F32},
                             .second = added ? "pool" : "fused"};
        GfFilter *filter;
        GfPool *pool;
        assert_int_equal(gf_allocate_zero(1, sizeof *filter, &filter), GF_OK);
        add_layer(filter, 4, 1, 5);
        assert_int_equal(gf_filter_add_pool(filter, GF_POOL_MAX, 2, 2, &pool), GF_OK);
        if (added) {
            assert_int_equal(gf_filter_add_upsample(filter, (GfUpsample){false, 2, 2, 1}), GF_OK);
            assert_int_equal(gf_filter_add_sum(filter, (GfAdd){1}), GF_OK);
        }
        run_filters(&filter, 1, &trial, seed, added ? "a pool, and what it pooled" : "a pool");
    }
}

/* So are a network's entry and its first layer. */
static void test_entries(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
        const bool added = seed % 2;
        const Trial trial = {.format = {64, 130, 3, false, GF_U8},
                             .second = added ? "tensor" : "fused"};
        GfFilter *filter;
        GfEntry *entry;
        assert_int_equal(gf_allocate_zero(1, sizeof *filter, &filter), GF_OK);
        assert_int_equal(gf_filter_add_entry(filter, 3, 0.0, 1.0, 0, &entry), GF_OK);
        add_layer(filter, 32, 3, 3);
        add_layer(filter, 3, 32, 3);
        if (added)
            assert_int_equal(gf_filter_add_sum(filter, (GfAdd){1}), GF_OK);
        run_filters(&filter, 1, &trial, seed, added ? "an entry that is added" : "an entry");
    }
}

static size_t random_below(size_t limit)
{
    static uint64_t state = 20261123;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(state >> 33) % limit;
}

/* Random ones, which keep what some of their steps make to add it later. */
static void test_networks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < NETWORKS; seed++) {
        const size_t channels = random_below(2) ? 3 : 1;
        const Trial trial = {.format = {64 + random_below(40), 20 + random_below(90), channels,
                                        false, random_below(2) ? GF_F32 : GF_U8},
                             .border = GF_BORDER_REPLICATE};
        char text[512];
        GfFilter *filter = draft_network(&trial.format, random_below, text, sizeof text);
        run_filters(&filter, 1, &trial, seed, text);
    }
}

/* A picture in one submit. */
static GfStatus run_once(GfBackend *backend, const GfPlan *plan, GfImage *in, GfImage *out)
{
    const GfRing ring = {in->samples, in->stride, plan->ring_rows};
    const GfBand band = gf_image_band(out);
    GfSession *session;
    GF_TRY(backend->session(backend, plan, &session));
    GfStatus status = backend->begin(session, &ring);
    if (status == GF_OK)
        status = backend->submit(session, 0, in->format.height, &band);
    if (status == GF_OK)
        status = backend->collect(session);
    backend->end(session);
    return status;
}

/* Whichever call fails, it is named, and all is given back. */
static void test_failures(void **state)
{
    const GfFormat format = {64, 40, 3, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfStatus status = GF_EDEVMEM;
    GfFilter *filter;
    GfPlan *plan;
    GfImage in, out;
    size_t calls = 0;
    (void)state;
    options.whole = true;
    assert_int_equal(gf_filter_parse("gaussian,sobel", &filter), GF_OK);
    assert_int_equal(gf_plan_create((const GfFilter *const[]){filter}, 1, &format, &options, &plan),
                     GF_OK);
    assert_int_equal(gf_image_allocate(&format, &in), GF_OK);
    assert_int_equal(gf_image_allocate(&plan->pipelines[0].out, &out), GF_OK);
    for (; status != GF_OK; calls++) {
        GfBackend *backend;
        fake_begin(calls);
        assert_int_equal(gf_cuda_open(0, NULL, &backend), GF_OK);
        fake_fail_after(calls);
        status = run_once(backend, plan, &in, &out);
        const char *failed = fake_failed();
        const bool told = failed && status == GF_EDEVMEM && strstr(gf_message(), failed);
        if (status == GF_OK ? failed != NULL : !told)
            fail_msg("%s failed: status %d, \"%s\"", failed ? failed : "nothing", status,
                     gf_message());
        backend->close(backend);
        assert_int_equal(fake_left(), 0);
    }
    assert_true(calls > 40);
    gf_image_free(&in);
    gf_image_free(&out);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* CUDA copies no rows that are further apart than 2^31 - 1 bytes. */
static void test_long_rows(void **state)
{
    const size_t widths[] = {(1U << 29) - 64, (1U << 29) - 63};
    const GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfFilter *filter;
    (void)state;
    fake_begin(1);
    assert_int_equal(gf_filter_parse("sobel", &filter), GF_OK);
    for (size_t i = 0; i < 2; i++) {
        const GfFormat format = {widths[i], 3, 1, false, GF_F32};
        GfBackend *backend;
        GfPlan *plan;
        assert_int_equal(
            gf_plan_create((const GfFilter *const[]){filter}, 1, &format, &options, &plan), GF_OK);
        assert_int_equal(gf_cuda_open(0, NULL, &backend), GF_OK);
        assert_int_equal(backend->supports(backend, plan), i == 0 ? GF_OK : GF_EUNSUPPORTED);
        if (i > 0)
            assert_string_equal(gf_message(),
                                "rows of 2147483648 bytes, cuda:0 copies 2147483647 at most");
        backend->close(backend);
        gf_plan_free(plan);
    }
    gf_filter_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_rows), cmocka_unit_test(test_filters),
        cmocka_unit_test(test_pools),     cmocka_unit_test(test_entries),
        cmocka_unit_test(test_networks),  cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
