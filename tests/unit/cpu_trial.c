#include "tests/unit/cpu_trial.h"

#include <math.h>
#include <string.h>

enum { FENCE = 64, POISON = 0xA5 };

static uint64_t seed = 20250101;
double floor_of_floats = 0.0, range_of_floats = 1.0;

uint32_t next_random(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(seed >> 33);
}

size_t random_below(size_t limit)
{
    return next_random() % limit;
}

double random_between(double low, double high)
{
    return low + (high - low) * (double)next_random() / 2147483648.0;
}

double *random_numbers(size_t count, double low, double high)
{
    double *numbers = malloc(count * sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = random_between(low, high);
    return numbers;
}

GfFormat format_of(size_t width, size_t height, size_t channels, bool alpha, GfSample sample)
{
    return (GfFormat){width, height, channels, alpha, sample};
}

static void set_random(void *row, size_t i, GfFormat format)
{
    uint32_t r = next_random();
    /* Opaque enough that a sharpened opacity stays well above zero. */
    if (format.has_alpha && i % format.channels == format.channels - 1)
        r |= format.sample == GF_U8 ? 0xE0 : 0xE000;
    switch (format.sample) {
    case GF_U8:
        ((unsigned char *)row)[i] = (unsigned char)r;
        return;
    case GF_U16:
        ((uint16_t *)row)[i] = (uint16_t)r;
        return;
    case GF_F16: /* up to 4, also below the smallest normal number */
        ((uint16_t *)row)[i] = (uint16_t)(r & (r & 0x10000 ? 0xC3FF : 0xBFFF));
        return;
    case GF_F32:
        ((float *)row)[i] = (float)(floor_of_floats + range_of_floats * (r % 100003) / 100003.0);
        return;
    case GF_F64:
        ((double *)row)[i] = floor_of_floats + range_of_floats * (double)r / 2147483648.0;
        return;
    }
}

GfImage random_picture(GfFormat format)
{
    GfImage image;
    assert_int_equal(gf_image_allocate(&format, &image), GF_OK);
    for (size_t y = 0; y < format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&format); i++)
            set_random((unsigned char *)image.samples + y * image.stride, i, format);
    return image;
}

GfImage run_plan(GfBackend *backend, const GfPlan *plan, const GfImage *in)
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

double sample_at(const GfImage *image, size_t y, size_t i)
{
    const unsigned char *rows = image->samples;
    return gf_sample_at(rows + y * image->stride, i, image->format.sample);
}

/* `exact` is in f64 (the plan with an f64 output, unrounded but with its gain). */
static void assert_exact(const GfImage *out, const GfImage *exact, const char *what)
{
    double error = 0.0, norm = 0.0, white = gf_sample_max(out->format.sample);
    double allowed = out->format.sample == GF_U8 ? 0.5 + 1e-3 : 0.5 + 0.05;
    double relative = out->format.sample == GF_F64 ? 1e-12 : 1e-6;
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
    if (!(sqrt(error) <= relative * sqrt(norm)))
        fail_msg("%s: relative error %g", what, sqrt(error / norm));
}

int open_backends(void **state)
{
    static Backends backends;
    *state = &backends;
    return gf_cpu_open(3, &backends.cpu) || gf_cpu_open(1, &backends.one) ||
           gf_reference_open(&backends.reference);
}

int close_backends(void **state)
{
    Backends *backends = *state;
    backends->cpu->close(backends->cpu);
    backends->one->close(backends->one);
    backends->reference->close(backends->reference);
    return 0;
}

GfPlan *make_plan(const GfFilter *filter, const char *what, const GfFormat *in,
                  const GfPlanOptions *options)
{
    GfPlan *plan;
    if (gf_plan_create(&filter, 1, in, options, &plan) != GF_OK)
        fail_msg("%s: %s", what, gf_message());
    return plan;
}

/* The output as it would be before rounding. */
static GfImage exact_result(Backends *backends, const GfFilter *filter, const char *what,
                            const GfImage *in, GfPlanOptions options, const GfPlan *plan)
{
    GfSample sample = options.sample;
    options.whole = true;
    options.tall = 0;
    options.range = plan->pipelines[0].range;
    options.sample = GF_F64;
    GfPlan *exact_plan = make_plan(filter, what, &in->format, &options);
    GfStep *last = &exact_plan->pipelines[0].steps[exact_plan->pipelines[0].count - 1];
    if (!gf_sample_is_float(in->format.sample) && !gf_sample_is_float(sample))
        last->gain = gf_sample_max(sample) / gf_sample_max(in->format.sample);
    if (options.range == GF_RANGE_OFFSET && !gf_sample_is_float(sample))
        last->mid = (gf_sample_max(sample) + 1.0) / 2.0;
    GfImage exact = run_plan(backends->reference, exact_plan, in);
    gf_plan_free(exact_plan);
    return exact;
}

void check_filter(Backends *backends, const GfFilter *filter, const char *what, GfFormat format,
                  GfPlanOptions options)
{
    char where[512];
    GfImage in = random_picture(format);
    snprintf(where, sizeof where, "%s on %zux%zux%zu %s to %s border %d range %d alpha %d", what,
             format.width, format.height, format.channels, gf_sample_name(format.sample),
             gf_sample_name(options.sample), options.border, options.range, options.alpha);
    GfPlan *plan = make_plan(filter, where, &format, &options);
    GfImage exact = exact_result(backends, filter, where, &in, options, plan);
    GfImage out = run_plan(backends->cpu, plan, &in);
    assert_exact(&out, &exact, where);
    options.whole = true;
    GfPlan *whole = make_plan(filter, where, &format, &options);
    GfImage same = run_plan(backends->one, whole, &in);
    for (size_t y = 0; y < out.format.height; y++)
        if (memcmp((char *)out.samples + y * out.stride, (char *)same.samples + y * same.stride,
                   gf_row_bytes(&out.format)) != 0)
            fail_msg("%s: row %zu depends on bands or threads", where, y);
    gf_image_free(&in);
    gf_image_free(&out);
    gf_image_free(&same);
    gf_image_free(&exact);
    gf_plan_free(plan);
    gf_plan_free(whole);
}
