/* The fast path of the CPU against the float64 reference, by the exactness rule of
 * filters/backend.h, and against values worked out by hand. Random pictures, every border, sizes
 * from 1 x 1 up, kernels wider than the picture; outputs are poisoned and fenced. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/backend.h"
#include "filters/grammar.h"

enum { FENCE = 64, POISON = 0xA5 };

static uint64_t seed = 20250101;
static double amplitude = 1.0; /* of random floats */

static uint32_t next_random(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(seed >> 33);
}

static GfFormat format_of(size_t width, size_t height, size_t channels, bool alpha, GfSample sample)
{
    return (GfFormat){width, height, channels, alpha, sample};
}

static GfImage random_picture(GfFormat format)
{
    GfImage image;
    assert_int_equal(gf_image_allocate(&format, &image), GF_OK);
    for (size_t y = 0; y < format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&format); i++) {
            unsigned char *row = (unsigned char *)image.samples + y * image.stride;
            uint32_t r = next_random();
            /* Opaque enough that a sharpened opacity stays well above zero. */
            if (format.has_alpha && i % format.channels == format.channels - 1)
                r |= format.sample == GF_U8 ? 0xE0 : 0xE000;
            switch (format.sample) {
            case GF_U8:
                row[i] = (unsigned char)r;
                break;
            case GF_U16:
                ((uint16_t *)(void *)row)[i] = (uint16_t)r;
                break;
            case GF_F32:
                ((float *)(void *)row)[i] = (float)(amplitude * (r % 100003) / 100003.0);
                break;
            case GF_F64:
                ((double *)(void *)row)[i] = amplitude * (double)r / 2147483648.0;
                break;
            }
        }
    return image;
}

/* Runs the plan in bands of the plan's size through a ring of the plan's size. */
static GfImage run(GfBackend *backend, const GfPlan *plan, const GfImage *in)
{
    GfImage out;
    GfSession *session;
    unsigned char *rows;
    size_t bytes = gf_row_bytes(&plan->in), row = gf_row_bytes(&plan->pipelines[0].out);
    assert_int_equal(gf_image_allocate(&plan->pipelines[0].out, &out), GF_OK);
    memset(out.samples, POISON, out.format.height * out.stride);
    assert_int_equal(gf_allocate(plan->ring_rows, bytes, &rows), GF_OK);
    GfRing ring = {rows, bytes, plan->ring_rows};
    assert_int_equal(backend->supports(backend, plan), GF_OK);
    assert_int_equal(backend->session(backend, plan, &session), GF_OK);
    assert_int_equal(backend->begin(session, &ring), GF_OK);
    size_t done = 0;
    for (size_t y = 0; y < plan->in.height; y += plan->band_rows) {
        size_t count = gf_min(plan->band_rows, plan->in.height - y), oldest, end;
        /* What the ring must still hold must not be overwritten. */
        gf_pipeline_rows(&plan->pipelines[0], done, out.format.height, &oldest, &end);
        if (done < out.format.height)
            assert_true(y + count - oldest <= plan->ring_rows);
        for (size_t i = y; i < y + count; i++)
            memcpy(gf_ring_row(&ring, i), (unsigned char *)in->samples + i * in->stride, bytes);
        size_t ready = gf_pipeline_ready(&plan->pipelines[0], y + count);
        /* Into a fenced buffer, then to the picture. */
        size_t size = (ready - done) * (row + 16);
        unsigned char *fenced = malloc(size + 2 * FENCE);
        assert_non_null(fenced);
        memset(fenced, POISON, size + 2 * FENCE);
        GfBand band = {done, ready - done, row + 16, fenced + FENCE};
        assert_int_equal(backend->submit(session, y, count, &band), GF_OK);
        assert_int_equal(backend->collect(session), GF_OK);
        for (size_t i = 0; i < FENCE; i++)
            assert_true(fenced[i] == POISON && fenced[FENCE + size + i] == POISON);
        for (size_t i = 0; i < band.rows; i++) {
            unsigned char *from = fenced + FENCE + i * band.stride;
            memcpy((unsigned char *)out.samples + (done + i) * out.stride, from, row);
            for (size_t j = row; j < band.stride; j++)
                assert_int_equal(from[j], POISON);
        }
        free(fenced);
        done = ready;
    }
    assert_int_equal(done, out.format.height);
    backend->end(session);
    free(rows);
    return out;
}

static double sample_at(const GfImage *image, size_t y, size_t i)
{
    const unsigned char *rows = image->samples;
    return gf_sample_at(rows + y * image->stride, i, image->format.sample);
}

/* `exact` is in f64 (the plan with an f64 output, unrounded but with its gain). */
static void assert_exact(const GfImage *out, const GfImage *exact, const char *what)
{
    double error = 0.0, norm = 0.0, white = gf_sample_max(out->format.sample);
    double allowed = out->format.sample == GF_U8 ? 0.5 + 1e-3 : 0.5 + 0.05;
    for (size_t y = 0; y < out->format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&out->format); i++) {
            double a = sample_at(out, y, i), b = sample_at(exact, y, i);
            if (gf_sample_is_float(out->format.sample)) {
                error += (a - b) * (a - b);
                norm += b * b;
                continue;
            }
            b = b < 0.0 ? 0.0 : b > white ? white : b;
            if (!(fabs(a - b) <= allowed))
                fail_msg("%s: row %zu sample %zu: %g instead of %.6f", what, y, i, a, b);
        }
    if (!(sqrt(error) <= 1e-6 * sqrt(norm)))
        fail_msg("%s: relative error %g", what, sqrt(error / norm));
}

typedef struct Backends {
    GfBackend *cpu, *one, *reference;
} Backends;

static int open_backends(void **state)
{
    static Backends backends;
    *state = &backends;
    return gf_cpu_open(3, &backends.cpu) || gf_cpu_open(1, &backends.one) ||
           gf_reference_open(&backends.reference);
}

static int close_backends(void **state)
{
    Backends *backends = *state;
    backends->cpu->close(backends->cpu);
    backends->one->close(backends->one);
    backends->reference->close(backends->reference);
    return 0;
}

static GfPlan *make_plan(const char *text, GfFilter **filter, const GfFormat *in,
                         const GfPlanOptions *options)
{
    GfPlan *plan;
    if (gf_filter_parse(text, filter) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    const GfFilter *filters[] = {*filter};
    if (gf_plan_create(filters, 1, in, options, &plan) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return plan;
}

/* The output as it would be before rounding. */
static GfImage exact_result(Backends *backends, const char *text, const GfImage *in,
                            GfPlanOptions options, const GfPlan *plan)
{
    GfFilter *filter;
    GfSample sample = options.sample;
    options.whole = true;
    options.range = plan->pipelines[0].range;
    options.sample = GF_F64;
    GfPlan *exact_plan = make_plan(text, &filter, &in->format, &options);
    GfStep *last = &exact_plan->pipelines[0].steps[exact_plan->pipelines[0].count - 1];
    if (!gf_sample_is_float(in->format.sample) && !gf_sample_is_float(sample))
        last->gain = gf_sample_max(sample) / gf_sample_max(in->format.sample);
    if (options.range == GF_RANGE_OFFSET && !gf_sample_is_float(sample))
        last->mid = (gf_sample_max(sample) + 1.0) / 2.0;
    GfImage exact = run(backends->reference, exact_plan, in);
    gf_plan_free(exact_plan);
    gf_filter_free(filter);
    return exact;
}

static void check(Backends *backends, const char *text, GfFormat format, GfPlanOptions options)
{
    char what[256];
    GfFilter *filter;
    GfImage in = random_picture(format);
    snprintf(what, sizeof what, "%s on %zux%zux%zu sample %d to %d border %d range %d alpha %d",
             text, format.width, format.height, format.channels, format.sample, options.sample,
             options.border, options.range, options.alpha);
    GfPlan *plan = make_plan(text, &filter, &format, &options);
    GfImage exact = exact_result(backends, text, &in, options, plan);
    GfImage out = run(backends->cpu, plan, &in);
    assert_exact(&out, &exact, what);
    /* The same bits with one thread and the whole picture at once. */
    options.whole = true;
    GfFilter *again;
    GfPlan *whole = make_plan(text, &again, &format, &options);
    GfImage same = run(backends->one, whole, &in);
    for (size_t y = 0; y < out.format.height; y++)
        if (memcmp((char *)out.samples + y * out.stride, (char *)same.samples + y * same.stride,
                   gf_row_bytes(&out.format)) != 0)
            fail_msg("%s: row %zu depends on bands or threads", what, y);
    gf_image_free(&in);
    gf_image_free(&out);
    gf_image_free(&same);
    gf_image_free(&exact);
    gf_plan_free(plan);
    gf_plan_free(whole);
    gf_filter_free(filter);
    gf_filter_free(again);
}

static const char *const filters[] = {
    "identity",
    "box:size=4",
    "box:width=9:height=2",
    "gaussian:sigma=0.8",
    "gaussian:sigma=2:size=9",
    "binomial:size=5",
    "sharpen:amount=0.7",
    "unsharp:sigma=1.2:amount=1.5:threshold=4",
    "emboss",
    "sobel",
    "sobel:x:size=5",
    "sobel:y:size=7:scale=0.1",
    "prewitt:l1",
    "scharr",
    "laplacian:8",
    "log:sigma=0.9",
    "3x2/7+3: 0.31 -1.7 2.2 0.01 0.9 -0.4",
    "1x5: 0.1 0.2 0.4 0.2 0.1",
    "4x1: 1 -2 3 -1.5",
    "gaussian:sigma=0.7,sobel",
    "sharpen,box:size=3,laplacian",
    "3x3: 333.333 -250.7 10.1 -99.99 500.01 -400.4 77.7 -88.8 -82.054",
};

static const GfBorder borders[] = {GF_BORDER_REPLICATE, GF_BORDER_REFLECT101, GF_BORDER_REFLECT,
                                   GF_BORDER_WRAP, GF_BORDER_CONSTANT};

static const size_t sizes[][2] = {{1, 1}, {1, 7},   {7, 1},   {2, 3},
                                  {5, 5}, {17, 13}, {33, 31}, {129, 67}};

static void test_filters_borders_sizes(void **state)
{
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
        for (size_t b = 0; b < sizeof borders / sizeof *borders; b++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                GfPlanOptions options = gf_plan_options_default(GF_U8);
                options.border = borders[b];
                options.border_value = 17;
                options.band_bytes = 1;
                check(*state, filters[f],
                      format_of(sizes[s][0], sizes[s][1], 1 + s % 3, s % 3 == 1, GF_U8), options);
            }
}

static void test_samples_and_channels(void **state)
{
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
        for (int in = GF_U8; in <= GF_F64; in++)
            for (int out = GF_U8; out <= GF_F64; out++) {
                GfPlanOptions options = gf_plan_options_default((GfSample)out);
                options.band_bytes = 300;
                check(*state, filters[f],
                      format_of(41, 37, 1 + (f + (size_t)in) % 5, false, (GfSample)in), options);
            }
}

/* Floats are taken as they are: those that become integers are as large as these. */
static void test_large_floats(void **state)
{
    static const char *const steep[] = {"3x1: 33.3 -65.7 33.41", "unsharp:amount=30",
                                        "gaussian:sigma=1,unsharp:amount=12.7",
                                        "sharpen:amount=20.3"};
    for (int deep = 0; deep < 2; deep++) {
        amplitude = deep ? 65535.0 : 255.0;
        for (size_t f = 0; f < sizeof steep / sizeof *steep; f++)
            check(*state, steep[f], format_of(301, 203, 1, false, GF_F32),
                  gf_plan_options_default(deep ? GF_U16 : GF_U8));
        for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
            check(*state, filters[f], format_of(61, 53, 3, false, GF_F32),
                  gf_plan_options_default(deep ? GF_U16 : GF_U8));
    }
    amplitude = 1.0;
}

static void test_ranges_alpha_flip(void **state)
{
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
        for (int range = GF_RANGE_AUTO; range <= GF_RANGE_OFFSET; range++)
            for (int alpha = GF_ALPHA_AUTO; alpha <= GF_ALPHA_FILTER; alpha++)
                for (int deep = 0; deep < 2; deep++) {
                    GfSample sample = deep ? GF_U16 : GF_U8;
                    GfPlanOptions options = gf_plan_options_default(deep ? GF_U8 : GF_U16);
                    options.range = (GfRange)range;
                    options.alpha = (GfAlpha)alpha;
                    options.flip = range % 2 == 1;
                    /* Division by an opacity of zero or by its small remains is no fair question.
                     */
                    if (alpha == GF_ALPHA_PREMUL && (f >= 8 || f == 6 || f == 7))
                        continue;
                    check(*state, filters[f], format_of(30, 29, deep ? 2 : 4, true, sample),
                          options);
                }
}

static void test_valid(void **state)
{
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        options.border = GF_BORDER_VALID;
        options.band_bytes = 1;
        check(*state, filters[f], format_of(40, 61, 3, false, GF_U8), options);
    }
}

static void assert_row(Backends *backends, const char *text, GfBorder border, GfRange range,
                       const unsigned char *in, size_t width, size_t height,
                       const unsigned char *expected)
{
    GfFormat format = format_of(width, height, 1, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfFilter *filter;
    GfImage picture;
    options.border = border;
    options.border_value = 100;
    options.range = range;
    assert_int_equal(gf_image_allocate(&format, &picture), GF_OK);
    for (size_t y = 0; y < height; y++)
        memcpy((unsigned char *)picture.samples + y * picture.stride, in + y * width, width);
    GfPlan *plan = make_plan(text, &filter, &format, &options);
    GfBackend *both[] = {backends->cpu, backends->reference};
    for (int b = 0; b < 2; b++) {
        GfImage out = run(both[b], plan, &picture);
        for (size_t y = 0; y < out.format.height; y++)
            assert_memory_equal((unsigned char *)out.samples + y * out.stride,
                                expected + y * out.format.width, out.format.width);
        gf_image_free(&out);
    }
    gf_image_free(&picture);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* A row 10 20 30 40 under taps that pick out one neighbour each, worked out by hand. */
static void test_literal_borders(void **state)
{
    static const unsigned char row[] = {10, 20, 30, 40};
    static const struct {
        GfBorder border;
        unsigned char left[4], right[4]; /* the pixel three to the left / right */
    } cases[] = {
        {GF_BORDER_REPLICATE, {10, 10, 10, 10}, {40, 40, 40, 40}},
        {GF_BORDER_REFLECT101, {40, 30, 20, 10}, {40, 30, 20, 10}},
        {GF_BORDER_REFLECT, {30, 20, 10, 10}, {40, 40, 30, 20}},
        {GF_BORDER_WRAP, {20, 30, 40, 10}, {40, 10, 20, 30}},
        {GF_BORDER_CONSTANT, {100, 100, 100, 10}, {40, 100, 100, 100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_row(*state, "7x1: 1 0 0 0 0 0 0", cases[i].border, GF_RANGE_AUTO, row, 4, 1,
                   cases[i].left);
        assert_row(*state, "7x1: 0 0 0 0 0 0 1", cases[i].border, GF_RANGE_AUTO, row, 4, 1,
                   cases[i].right);
        assert_row(*state, "1x7: 1 0 0 0 0 0 0", cases[i].border, GF_RANGE_AUTO, row, 1, 4,
                   cases[i].left);
        assert_row(*state, "1x7: 0 0 0 0 0 0 1", cases[i].border, GF_RANGE_AUTO, row, 1, 4,
                   cases[i].right);
    }
    assert_row(*state, "2x1: 1 1", GF_BORDER_VALID, GF_RANGE_AUTO, row, 4, 1,
               (const unsigned char[]){30, 50, 70});
}

/* Rounding half to even, saturation and the ranges, by hand. */
static void test_literal_values(void **state)
{
    static const unsigned char odd[] = {1, 3, 5, 7, 9, 255};
    assert_row(*state, "1x1/2: 1", GF_BORDER_REPLICATE, GF_RANGE_AUTO, odd, 6, 1,
               (const unsigned char[]){0, 2, 2, 4, 4, 128});
    assert_row(*state, "1x1: 30", GF_BORDER_REPLICATE, GF_RANGE_AUTO, odd, 6, 1,
               (const unsigned char[]){30, 90, 150, 210, 255, 255});
    static const unsigned char step[] = {0, 0, 100, 100, 0, 0};
    assert_row(*state, "3x1: -1 0 1", GF_BORDER_REPLICATE, GF_RANGE_AUTO, step, 6, 1,
               (const unsigned char[]){0, 100, 100, 100, 100, 0});
    assert_row(*state, "3x1: -1 0 1", GF_BORDER_REPLICATE, GF_RANGE_CLAMP, step, 6, 1,
               (const unsigned char[]){0, 100, 100, 0, 0, 0});
    assert_row(*state, "3x1: -1 0 1", GF_BORDER_REPLICATE, GF_RANGE_OFFSET, step, 6, 1,
               (const unsigned char[]){128, 228, 228, 28, 28, 128});
    /* sobel of a corner: at (1, 1) gx = 3 * 10 = 30 and gy = 30, sqrt(1800) = 42.43 */
    static const unsigned char corner[] = {0, 0, 0, 0, 0, 10, 0, 10, 10};
    assert_row(*state, "sobel", GF_BORDER_CONSTANT, GF_RANGE_AUTO,
               (const unsigned char[]){100, 100, 100, 100, 100, 100, 100, 100, 100}, 3, 3,
               (const unsigned char[]){0, 0, 0, 0, 0, 0, 0, 0, 0});
    assert_row(*state, "sobel", GF_BORDER_VALID, GF_RANGE_AUTO, corner, 3, 3,
               (const unsigned char[]){42});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literal_borders),
        cmocka_unit_test(test_literal_values),
        cmocka_unit_test(test_filters_borders_sizes),
        cmocka_unit_test(test_samples_and_channels),
        cmocka_unit_test(test_large_floats),
        cmocka_unit_test(test_ranges_alpha_flip),
        cmocka_unit_test(test_valid),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
