/* Large kernels on the CPU, which are computed by Fourier transforms along the rows: the transforms
 * by their definition, and what comes of them against the float64 reference, by the exactness rule
 * of filters/backend.h; outputs are poisoned and fenced, and their bits the same whatever the bands
 * and threads. */
#include "tests/unit/cpu_trial.h"

#include <math.h>
#include <string.h>

#include "cpu/fourier.h"
#include "cpu/rows.h"
#include "filters/grammar.h"

/* ---- transforms ---- */

enum { MOST = 128, TAPS = 11, MOST_LANES = 8, ROWS = 5 * MOST_LANES, ROOM = ROWS + 2 * MOST_LANES };

static double signals[ROOM][2][MOST], weights[TAPS][MOST], responses[MOST_LANES][2][MOST];
static double spectra[MOST][2 * ROOM], taps[MOST][TAPS][2], sums[MOST][2 * ROWS];
static double roots[2 * MOST], memory[2 * MOST_LANES * MOST];

static void set_roots(size_t n)
{
    for (size_t m = n; m >= 4; m /= 4)
        for (size_t k = 0; k < m / 4; k++)
            for (size_t power = 1; power <= 3; power++) {
                double angle = -2.0 * acos(-1.0) * (double)(k * power) / (double)m;
                roots[2 * (m / 4 + 3 * k + power - 1)] = cos(angle);
                roots[2 * (m / 4 + 3 * k + power - 1) + 1] = sin(angle);
            }
}

/* Transforms rows of `from` (or, where it is NULL, the weights) into to, lanes at a time. */
static void transform_rows(const GfFourierFunctions *fourier, size_t n, size_t rows, size_t pitch,
                           bool of_weights, double *to)
{
    static double none[MOST];
    double *places[2 * MOST_LANES];
    for (size_t r = 0; r < rows; r += fourier->lanes) {
        for (size_t i = 0; i < fourier->lanes; i++) {
            bool is = !of_weights || r + i < TAPS;
            places[i] = of_weights ? is ? weights[r + i] : none : signals[r + i][0];
            places[fourier->lanes + i] = of_weights ? none : signals[r + i][1];
        }
        fourier->transform(to + r, pitch, places, roots, memory, n);
    }
}

/* Row r of the circular correlation of all signals with all weights, by its definition. */
static double correlation(size_t n, size_t r, size_t side, size_t x)
{
    double sum = 0.0;
    for (size_t k = 0; k < TAPS; k++)
        for (size_t j = 0; j < n; j++)
            sum += weights[k][j] * signals[r + k][side][(x + j) % n];
    return sum;
}

static void check_transforms(const GfRowSet *set, size_t n, bool whole)
{
    const GfFourierFunctions *fourier = &set->fourier;
    size_t lanes = fourier->lanes, rows = ROWS / lanes * lanes - lanes;
    static double kernel[MOST][2 * ROOM];
    assert_true(lanes >= 2 && lanes <= MOST_LANES);
    set_roots(n);
    for (size_t r = 0; r < ROOM; r++)
        for (size_t x = 0; x < 2 * n; x++)
            signals[r][x % 2][x / 2] = (double)random_below(256);
    for (size_t k = 0; k < TAPS; k++)
        for (size_t x = 0; x < n; x++)
            weights[k][x] = whole ? (double)random_below(9) - 4.0 : random_between(-1.0, 1.0);
    transform_rows(fourier, n, ROOM, 2 * ROOM, false, spectra[0]);
    transform_rows(fourier, n, TAPS, 2 * ROOM, true, kernel[0]);
    for (size_t f = 0; f < n; f++)
        for (size_t k = 0; k < TAPS; k++) {
            taps[f][k][0] = kernel[f][k] / (double)n;
            taps[f][k][1] = -kernel[f][ROOM + k] / (double)n;
        }
    fourier->correlate(sums[0], 2 * ROWS, spectra[0], 2 * ROOM, taps[0][0], TAPS, rows, n, false);
    /* Once more, without what they add: the sums are twice as large, and half of that. */
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < 2 * ROWS; i++)
            sums[f][i] /= 2.0;
    for (size_t f = 0; f < n; f++)
        for (size_t k = 0; k < 2 * TAPS; k++)
            taps[f][k / 2][k % 2] /= 2.0;
    fourier->correlate(sums[0], 2 * ROWS, spectra[0], 2 * ROOM, taps[0][0], TAPS, rows, n, true);
    for (size_t r = 0; r < rows; r += lanes) {
        double *places[2 * MOST_LANES];
        for (size_t i = 0; i < 2 * lanes; i++)
            places[i] = responses[i % lanes][i / lanes];
        fourier->invert(places, sums[0] + r, 2 * ROWS, roots, memory, n, n - 1, whole);
        for (size_t i = 0; i < 2 * lanes; i++)
            for (size_t x = 0; x < n - 1; x++) {
                double is = places[i][x], should = correlation(n, r + i % lanes, i / lanes, x);
                if (whole)
                    assert_true(is == should);
                else if (!(fabs(is - should) <= 1e-9))
                    fail_msg("%s, %zu samples: row %zu at %zu: %.12g instead of %.12g", set->name,
                             n, r, x, is, should);
            }
    }
}

static void test_transforms(void **state)
{
    const GfRowSet *set;
    (void)state;
    for (size_t i = 0; (set = gf_row_set_at(i)); i++)
        for (size_t n = 16; n <= MOST; n *= 2) {
            check_transforms(set, n, false);
            check_transforms(set, n, true);
        }
}

/* ---- kernels ---- */

/* A kernel of random taps: integers where `whole`. */
static GfFilter *random_kernel(size_t width, size_t height, bool whole)
{
    GfFilter *filter;
    GfLinear *linear;
    assert_int_equal(gf_allocate_zero(1, sizeof *filter, &filter), GF_OK);
    assert_int_equal(gf_filter_add_kernel(filter, 1, width, height, &linear), GF_OK);
    for (size_t i = 0; i < width * height; i++)
        linear->weights[i] = whole ? (double)random_below(7) - 3.0
                                   : random_between(-0.5, 1.0) * 4.0 / (double)(width * height);
    return filter;
}

static GfFilter *parse(const char *text)
{
    GfFilter *filter;
    if (gf_filter_parse(text, &filter) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return filter;
}

/* Whether the step that multiplies is done by transforms. */
static bool goes_by_transforms(const GfFilter *filter, GfFormat format, GfPlanOptions options)
{
    bool any = false;
    GfPlan *plan = make_plan(filter, "a plan", &format, &options);
    for (size_t i = 0; i < plan->pipelines[0].count; i++)
        any |= gf_fourier_saves(&plan->pipelines[0], i) > 0.0;
    gf_plan_free(plan);
    return any;
}

static const struct {
    size_t width, height;
} shapes[] = {{17, 17}, {31, 31}, {16, 24}, {40, 19}, {24, 64}, {65, 12}, {70, 71}, {20, 270}};

/* Narrower and lower than the kernels, and of widths about those of one and two pieces. */
static const struct {
    size_t width, height;
} sizes[] = {{1, 1}, {70, 1}, {9, 40}, {98, 17}, {99, 9}, {226, 7}, {227, 8}, {453, 11}};

static void test_kernels_borders_sizes(void **state)
{
    size_t by_transforms = 0, trials = 0;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++, trials++) {
            GfFilter *filter = random_kernel(shapes[k].width, shapes[k].height, false);
            bool deep = (k + s) % 3 == 0;
            GfPlanOptions options = gf_plan_options_default(s % 4 == 1 ? GF_F32
                                                            : deep     ? GF_U16
                                                                       : GF_U8);
            size_t channels = 1 + (k + s) % 4;
            GfFormat format = format_of(sizes[s].width, sizes[s].height, channels,
                                        channels % 2 == 0, deep ? GF_U16 : GF_U8);
            options.border = (GfBorder)(trials % 5);
            options.border_value = 17;
            options.band_bytes = 1 + trials % 2 * 3000;
            options.alpha = s % 2 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
            options.flip = s % 2;
            by_transforms += goes_by_transforms(filter, format, options);
            check_filter(*state, filter, "a large kernel", format, options);
            gf_filter_free(filter);
        }
    assert_true(by_transforms > trials / 2);
}

static void test_valid(void **state)
{
    GfFilter *filter = random_kernel(31, 27, false);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.border = GF_BORDER_VALID;
    options.band_bytes = 1;
    options.alpha = GF_ALPHA_COPY;
    for (size_t channels = 1; channels <= 4; channels++) {
        GfFormat format = format_of(280, 37, channels, channels % 2 == 0, GF_U8);
        assert_true(goes_by_transforms(filter, format, options));
        check_filter(*state, filter, "valid", format, options);
    }
    gf_filter_free(filter);
}

/* Banks, what rides on them, what comes before and after. */
static void test_filters(void **state)
{
    static const char *const texts[] = {"disk:radius=12.3", "gabor:wavelength=13:angle=20",
                                        "disk:radius=9,sobel", "disk:radius=10,1x1/2+300: -3",
                                        "log:sigma=5"};
    for (size_t f = 0; f < sizeof texts / sizeof *texts; f++)
        for (int alpha = GF_ALPHA_AUTO; alpha <= GF_ALPHA_FILTER; alpha++)
            for (size_t channels = 1; channels <= 4; channels++) {
                GfLight light = gf_light_srgb();
                GfFilter *filter = parse(texts[f]);
                GfPlanOptions options = gf_plan_options_default(GF_U8);
                GfFormat format =
                    format_of(150, 32, channels, channels % 2 == 0, channels == 3 ? GF_U16 : GF_U8);
                options.alpha = (GfAlpha)alpha;
                options.border = (GfBorder)((f + channels) % 5);
                options.band_bytes = 1;
                if (alpha % 2 == 0 && f < 2)
                    options.light = &light;
                assert_true(goes_by_transforms(filter, format, options));
                check_filter(*state, filter, texts[f], format, options);
                gf_filter_free(filter);
            }
}

/* Sums of integers are exact: halves are rounded to even, and what cancels is nothing. */
static void test_integers(void **state)
{
    Backends *backends = *state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t i = 0; i < 2; i++) {
            static const GfSample samples[] = {GF_U8, GF_F64, GF_U16, GF_F32};
            GfFilter *filter = random_kernel(shapes[k].width, shapes[k].height, true);
            GfFormat format = format_of(200, 20, 1, false, k % 2 ? GF_U16 : GF_U8);
            GfPlanOptions options = gf_plan_options_default(samples[2 * (k % 2) + i]);
            filter->stages[0].linear.scale = 1.0 / 64.0;
            options.range = GF_RANGE_CLAMP;
            GfPlan *plan = make_plan(filter, "integers", &format, &options);
            assert_true(goes_by_transforms(filter, format, options));
            GfImage in = random_picture(format), out = run_plan(backends->cpu, plan, &in);
            GfImage exact = run_plan(backends->reference, plan, &in);
            for (size_t y = 0; y < out.format.height; y++)
                assert_memory_equal((char *)out.samples + y * out.stride,
                                    (char *)exact.samples + y * exact.stride,
                                    gf_row_bytes(&out.format));
            gf_image_free(&in);
            gf_image_free(&out);
            gf_image_free(&exact);
            gf_plan_free(plan);
            gf_filter_free(filter);
        }
}

/* But not where what stands around the picture is none. */
static void test_integers_and_fractions(void **state)
{
    GfFilter *filter = random_kernel(31, 31, true);
    GfFormat format = format_of(120, 40, 1, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_F64);
    options.border = GF_BORDER_CONSTANT;
    options.border_value = 0.3;
    assert_true(goes_by_transforms(filter, format, options));
    check_filter(*state, filter, "integers and a fraction", format, options);
    gf_filter_free(filter);
}

/* Floats may be no numbers, or large ones, which are in the outputs whose windows they are in and
 * in no others. */
static void test_floats_are_not_transformed(void **state)
{
    Backends *backends = *state;
    GfFilter *filter = random_kernel(31, 31, false);
    GfFormat format = format_of(200, 70, 1, false, GF_F32);
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    assert_false(goes_by_transforms(filter, format, options));
    GfPlan *plan = make_plan(filter, "floats", &format, &options);
    GfImage in = random_picture(format);
    ((float *)(void *)((unsigned char *)in.samples + 40 * in.stride))[90] = NAN;
    GfImage out = run_plan(backends->cpu, plan, &in);
    for (size_t y = 0; y < 70; y++)
        for (size_t x = 0; x < 200; x++)
            assert_int_equal(isfinite(sample_at(&out, y, x)),
                             y + 15 < 40 || y > 55 || x + 15 < 90 || x > 105);
    gf_image_free(&in);
    gf_image_free(&out);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* What saves nothing is not done: small kernels, those that are products, few taps that are not
 * zero; nor what would not be exact. */
static void test_when(void **state)
{
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfFormat format = format_of(1000, 1000, 1, false, GF_U8);
    static const char *const other[] = {"sharpen:amount=90,disk:radius=12", "laplacian",
                                        "gaussian:sigma=8", "motion:length=40:angle=0",
                                        "box:size=31"};
    (void)state;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        GfFilter *filter = parse(other[i]);
        assert_false(goes_by_transforms(filter, format, options));
        gf_filter_free(filter);
    }
    GfFilter *small = random_kernel(5, 5, false), *large = random_kernel(31, 31, false);
    assert_false(goes_by_transforms(small, format, options));
    assert_true(goes_by_transforms(large, format, options));
    large->stages[0].linear.weights[7] = 1e8;
    assert_false(goes_by_transforms(large, format, options));
    gf_filter_free(small);
    gf_filter_free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_kernels_borders_sizes),
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_integers_and_fractions),
        cmocka_unit_test(test_floats_are_not_transformed),
        cmocka_unit_test(test_when),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
