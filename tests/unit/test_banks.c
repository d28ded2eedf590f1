/* The banks: every member and combination against values made with SciPy, scikit-image and NumPy
 * (tests/expected/banks.py), and what is owed by their definition. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/backend.h"
#include "filters/banks.h"
#include "tests/expected/banks.h"

enum { CASES = sizeof expected_members / sizeof *expected_members };

static GfMembers parse(const char *text)
{
    GfMembers members;
    if (gf_members_parse(text, &members) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return members;
}

static void assert_refused(const char *text, const char *reason)
{
    GfMembers members;
    assert_int_equal(gf_members_parse(text, &members), GF_EUSAGE);
    if (!strstr(gf_message(), reason))
        fail_msg("\"%s\" gave \"%s\", not \"%s\"", text, gf_message(), reason);
    gf_members_free(&members);
}

/* The filter's response to the expected picture in f64, unrounded. */
static void respond(GfBackend *backend, const GfFilter *filter, double *values)
{
    GfFormat format = {EXPECTED_WIDTH, EXPECTED_HEIGHT, 1, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_F64);
    unsigned char samples[EXPECTED_SAMPLES];
    GfPlan *plan;
    GfSession *session;
    for (size_t i = 0; i < sizeof samples; i++) {
        size_t x = i % EXPECTED_WIDTH, y = i / EXPECTED_WIDTH;
        samples[i] = (unsigned char)(37 * x + 91 * y + 13 * x * y + 5 * x * x);
    }
    options.whole = true;
    if (gf_plan_create(&filter, 1, &format, &options, &plan) != GF_OK)
        fail_msg("%s: %s", filter->text, gf_message());
    assert_int_equal(backend->session(backend, plan, &session), GF_OK);
    GfRing ring = {samples, EXPECTED_WIDTH, EXPECTED_HEIGHT};
    GfBand out = {0, EXPECTED_HEIGHT, EXPECTED_WIDTH * sizeof *values, values};
    assert_int_equal(backend->begin(session, &ring), GF_OK);
    assert_int_equal(backend->submit(session, 0, EXPECTED_HEIGHT, &out), GF_OK);
    assert_int_equal(backend->collect(session), GF_OK);
    backend->end(session);
    gf_plan_free(plan);
}

static void check_filter(GfBackend *backend, const GfFilter *filter, const ExpectedMember *expected)
{
    double values[EXPECTED_SAMPLES];
    respond(backend, filter, values);
    assert_string_equal(filter->name, expected->name);
    for (size_t j = 0; j < EXPECTED_SAMPLES; j++)
        if (!(fabs(values[j] - expected->values[j]) <= 1e-6))
            fail_msg("%s: %s %s at %zu: %.9g instead of %.9g", backend->name, expected->bank,
                     expected->name, j, values[j], expected->values[j]);
}

static GfCombineOp op_of(const char *name)
{
    static const char *const names[] = {[GF_COMBINE_L2] = "l2",
                                        [GF_COMBINE_L1] = "l1",
                                        [GF_COMBINE_MAX] = "max",
                                        [GF_COMBINE_MIN] = "min",
                                        [GF_COMBINE_SUM] = "sum"};
    for (int i = GF_COMBINE_L2; i <= GF_COMBINE_SUM; i++)
        if (strcmp(names[i], name) == 0)
            return (GfCombineOp)i;
    fail_msg("%s", name);
    return GF_COMBINE_NONE;
}

static void check_combined(GfBackend *backend, const ExpectedMember *expected)
{
    GfMembers members = parse(expected->bank);
    GfFilter *filter;
    assert_int_equal(gf_members_combine(expected->bank, &members, op_of(expected->op), &filter),
                     GF_OK);
    check_filter(backend, filter, expected);
    gf_filter_free(filter);
    gf_members_free(&members);
}

/* Banks come member by member, all of them, in the order of the header. */
static void check_values(GfBackend *backend)
{
    for (size_t i = 0; i < CASES;) {
        if (expected_members[i].op) {
            check_combined(backend, &expected_members[i++]);
            continue;
        }
        const char *text = expected_members[i].bank;
        GfMembers members = parse(text);
        for (size_t j = 0; j < members.count; j++, i++) {
            assert_true(i < CASES);
            assert_string_equal(expected_members[i].bank, text);
            check_filter(backend, members.filters[j], &expected_members[i]);
        }
        assert_true(i == CASES || strcmp(expected_members[i].bank, text) != 0);
        gf_members_free(&members);
    }
    backend->close(backend);
}

static void test_values_of_reference(void **state)
{
    (void)state;
    GfBackend *backend;
    assert_int_equal(gf_reference_open(&backend), GF_OK);
    check_values(backend);
}

static void test_values_of_cpu(void **state)
{
    (void)state;
    GfBackend *backend;
    assert_int_equal(gf_cpu_open(2, &backend), GF_OK);
    check_values(backend);
}

static void test_every_bank_has_values(void **state)
{
    (void)state;
    for (const GfNamedBank *row = gf_named_banks; row->about.name; row++) {
        size_t found = 0, length = strlen(row->about.name);
        for (size_t i = 0; i < CASES; i++)
            found += strncmp(expected_members[i].bank, row->about.name, length) == 0;
        if (!found)
            fail_msg("no expected values for %s", row->about.name);
    }
}

static void test_levels_sum_to_the_picture(void **state)
{
    (void)state;
    GfBackend *backend;
    double sum[EXPECTED_SAMPLES] = {0}, values[EXPECTED_SAMPLES];
    GfMembers members = parse("laplacian:levels=5:sigma=0.8");
    assert_int_equal(members.count, 6);
    assert_int_equal(gf_reference_open(&backend), GF_OK);
    for (size_t i = 0; i < members.count; i++) {
        respond(backend, members.filters[i], values);
        for (size_t j = 0; j < EXPECTED_SAMPLES; j++)
            sum[j] += values[j];
    }
    for (size_t j = 0; j < EXPECTED_SAMPLES; j++) {
        size_t x = j % EXPECTED_WIDTH, y = j / EXPECTED_WIDTH;
        assert_true(fabs(sum[j] - (double)((37 * x + 91 * y + 13 * x * y + 5 * x * x) % 256)) <
                    1e-9);
    }
    backend->close(backend);
    gf_members_free(&members);
}

/* Kernel 0 of a member as taps. */
static double sum_of(const GfFilter *filter, double *positive)
{
    const GfLinear *linear = &filter->stages[0].linear;
    double sum = 0.0;
    *positive = 0.0;
    for (size_t i = 0; i < linear->width * linear->height; i++) {
        double tap = gf_linear_tap(linear, 0, i / linear->width, i % linear->width);
        sum += tap;
        *positive += fmax(tap, 0.0);
    }
    return sum;
}

static void test_gabor_sums_to_zero(void **state)
{
    (void)state;
    GfMembers members = parse("gabor:orientations=7:wavelengths=2,3.5,16:phase=30:aspect=2");
    assert_int_equal(members.count, 21);
    for (size_t i = 0; i < members.count; i++) {
        double positive, sum = sum_of(members.filters[i], &positive);
        assert_true(fabs(sum) < 1e-12);
        assert_true(fabs(positive - 1.0) < 1e-12);
    }
    gf_members_free(&members);
}

static void test_names_differ(void **state)
{
    (void)state;
    static const char *const texts[] = {"gabor:orientations=90:wavelengths=2,2.5,3,3.25",
                                        "laws",
                                        "derivatives:order=3:sigmas=1,1.5,2",
                                        "kirsch",
                                        "robinson",
                                        "laplacian:levels=8"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        GfMembers members = parse(texts[t]);
        for (size_t i = 0; i < members.count; i++)
            for (size_t j = 0; j < i; j++)
                assert_string_not_equal(members.filters[i]->name, members.filters[j]->name);
        gf_members_free(&members);
    }
}

static void test_parameters(void **state)
{
    (void)state;
    assert_refused("gabro", "did you mean \"gabor\"?");
    assert_refused("sobel", "is a filter, not a bank");
    assert_refused("", "unknown bank");
    assert_refused("gabor:wavelengths=", "is not a list of numbers");
    assert_refused("gabor:wavelengths=4,", "is not a list of numbers");
    assert_refused("gabor:wavelengths=4;8", "is not a list of numbers");
    assert_refused("gabor:wavelengths=4,1", "is outside 2 to 256");
    assert_refused("gabor:wavelengths=4,8,4.00001", "has a number twice");
    assert_refused("gabor:wavelengths=2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18", "too many");
    assert_refused("gabor:wavelengths=4:wavelengths=8", "given twice");
    assert_refused("gabor:orientations=2.5", "is not a whole number");
    assert_refused("gabor:4,8", "is not of the form");
    assert_refused("gabor:waves=4", "gpufilter filters --bank gabor lists them");
    assert_refused("gabor:sigma=0.1", "sigma");
    assert_refused("gabor:wavelengths=256:bandwidth=0.2:aspect=0.1", "larger than 4095");
    assert_refused("gabor:orientations=90:wavelengths=2,3,4,5,6,7,8,9,10,11,12,13", "more than");
    assert_refused("laws:size=4", "is not odd");
    assert_refused("robinson:x=1", "has no parameter");
}

/* Smallest and largest values of every number are taken, and nothing beyond. */
static void test_bounds(void **state)
{
    (void)state;
    char text[128];
    for (const GfNamedBank *row = gf_named_banks; row->about.name; row++)
        for (const GfParameter *p = row->about.parameters; p->name; p++) {
            const double good[] = {p->minimum, p->maximum};
            const double bad[] = {p->minimum - fabs(p->minimum) - 1, p->maximum + 1};
            for (size_t i = 0; i < 2; i++) {
                snprintf(text, sizeof text, "%s:%s=%.17g", row->about.name, p->name, good[i]);
                GfMembers members = parse(text);
                gf_members_free(&members);
                snprintf(text, sizeof text, "%s:%s=%.17g", row->about.name, p->name, bad[i]);
                assert_refused(text, "is outside");
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_reference),
        cmocka_unit_test(test_values_of_cpu),
        cmocka_unit_test(test_every_bank_has_values),
        cmocka_unit_test(test_levels_sum_to_the_picture),
        cmocka_unit_test(test_gabor_sums_to_zero),
        cmocka_unit_test(test_names_differ),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
