/* The language of --kernel, kernel files, and every filter of the catalogue against values made
 * with SciPy and OpenCV (tests/expected/filters.py). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cpu/backend.h"
#include "filters/catalog.h"
#include "filters/grammar.h"
#include "filters/rank.h"
#include "tests/expected/filters.h"

static GfFilter *parse(const char *text)
{
    GfFilter *filter;
    if (gf_filter_parse(text, &filter) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return filter;
}

/* The text is refused as wrong usage, and the message holds `reason`. */
static void assert_refused(const char *text, const char *reason)
{
    GfFilter *filter = NULL;
    assert_int_equal(gf_filter_parse(text, &filter), GF_EUSAGE);
    assert_null(filter);
    if (!strstr(gf_message(), reason))
        fail_msg("\"%s\" gave \"%s\", not \"%s\"", text, gf_message(), reason);
}

/* ---- values ---- */

/* The filter's response to the expected picture in f64, unrounded. */
static void respond(GfBackend *backend, const char *text, double *values)
{
    GfFormat format = {EXPECTED_WIDTH, EXPECTED_HEIGHT, 1, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_F64);
    unsigned char samples[EXPECTED_HEIGHT * EXPECTED_WIDTH];
    GfFilter *filter = parse(text);
    const GfFilter *bank[] = {filter};
    GfPlan *plan;
    GfSession *session;
    for (size_t i = 0; i < sizeof samples; i++) {
        size_t x = i % EXPECTED_WIDTH, y = i / EXPECTED_WIDTH;
        samples[i] = (unsigned char)(37 * x + 91 * y + 13 * x * y + 5 * x * x);
    }
    options.whole = true;
    assert_int_equal(gf_plan_create(bank, 1, &format, &options, &plan), GF_OK);
    assert_int_equal(backend->session(backend, plan, &session), GF_OK);
    GfRing ring = {samples, EXPECTED_WIDTH, EXPECTED_HEIGHT};
    GfBand out = {0, EXPECTED_HEIGHT, EXPECTED_WIDTH * sizeof *values, values};
    assert_int_equal(backend->begin(session, &ring), GF_OK);
    assert_int_equal(backend->submit(session, 0, EXPECTED_HEIGHT, &out), GF_OK);
    assert_int_equal(backend->collect(session), GF_OK);
    backend->end(session);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void check_values(GfBackend *backend)
{
    double values[EXPECTED_WIDTH * EXPECTED_HEIGHT];
    for (size_t i = 0; i < sizeof expected_filters / sizeof *expected_filters; i++) {
        const Expected *expected = &expected_filters[i];
        respond(backend, expected->text, values);
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            if (!(fabs(values[j] - expected->values[j]) <= 1e-6))
                fail_msg("%s: %s at %zu: %.9g instead of %.9g", backend->name, expected->text, j,
                         values[j], expected->values[j]);
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

static void test_every_filter_has_values(void **state)
{
    (void)state;
    for (const GfNamedFilter *row = gf_catalog; row->name; row++) {
        size_t length = strlen(row->name), found = 0;
        for (size_t i = 0; i < sizeof expected_filters / sizeof *expected_filters; i++) {
            const char *text = expected_filters[i].text;
            found +=
                strncmp(text, row->name, length) == 0 && (!text[length] || text[length] == ':');
        }
        if (!found)
            fail_msg("no expected values for %s", row->name);
    }
}

/* Every parameter takes its bounds and its standard value, and refuses what lies beyond. */
static void test_every_parameter_keeps_its_range(void **state)
{
    (void)state;
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        for (const GfParameter *p = row->parameters; p->name; p++) {
            char text[128];
            if (p->words) {
                snprintf(text, sizeof text, "%s:%s=neither", row->name, p->name);
                assert_refused(text, "is one of");
                continue;
            }
            snprintf(text, sizeof text, "%s:%s=%.17g", row->name, p->name, p->maximum);
            gf_filter_free(parse(text));
            snprintf(text, sizeof text, "%s:%s=%.17g", row->name, p->name, p->minimum);
            gf_filter_free(parse(text));
            snprintf(text, sizeof text, "%s:%s=%.17g", row->name, p->name, p->maximum + 1);
            assert_refused(text, "is outside");
            snprintf(text, sizeof text, "%s:%s=%.17g", row->name, p->name, p->minimum - 1);
            assert_refused(text, "is outside");
        }
}

/* ---- grammar ---- */

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"sobel", "sobel"},
        {" gaussian:sigma=2 , sobel:x ", "gaussian-sobel"},
        {"3x3: 1 0 0 0 1 0 0 0 1", "custom"},
        {"1x1:1,box", "custom-box"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        GfFilter *filter = parse(names[i][0]);
        assert_string_equal(filter->name, names[i][1]);
        assert_string_equal(filter->text, names[i][0]);
        gf_filter_free(filter);
    }
}

static void test_inline_kernel(void **state)
{
    (void)state;
    GfFilter *filter = parse("3x2/4-1.5: 1 2 3\n-4 5.5 6e-1");
    const GfLinear *linear = &filter->stages[0].linear;
    static const double taps[] = {1, 2, 3, -4, 5.5, 0.6};
    assert_int_equal(filter->count, 1);
    assert_int_equal(linear->width, 3);
    assert_int_equal(linear->height, 2);
    assert_int_equal(linear->anchor_x, 1);
    assert_int_equal(linear->anchor_y, 1);
    assert_true(linear->scale == 0.25 && linear->offset == -1.5);
    assert_memory_equal(linear->weights, taps, sizeof taps);
    gf_filter_free(filter);
}

static void test_refusals(void **state)
{
    (void)state;
    assert_refused("", "an empty filter name");
    assert_refused("sobel,,box", "an empty filter name");
    assert_refused("soble", "did you mean \"sobel\"?");
    assert_refused("gausian:sigma=2", "did you mean \"gaussian\"?");
    assert_refused("xyzzyplugh", "gpufilter filters lists them");
    assert_refused("evil\x1b[2J\n", "\\x1b[2J");
    assert_refused("gaussian:sigma", "not of the form parameter=value");
    assert_refused("gaussian:sigam=2", "did you mean \"sigma\"?");
    assert_refused("gaussian:sigma=2:sigma=3", "given twice");
    assert_refused("gaussian:sigma=nan", "is not a number");
    assert_refused("gaussian:sigma=inf", "is not a number");
    assert_refused("gaussian:sigma=0x10", "is not a number");
    assert_refused("gaussian:sigma=2px", "is not a number");
    assert_refused("gaussian:sigma=", "is not a number");
    assert_refused("gaussian:size=4", "is not odd");
    assert_refused("box:size=2.5", "is not a whole number");
    assert_refused("identity:a=1", "has no parameters");
    assert_refused("sobel:z", "not of the form");
    assert_refused("sobel:direction=z", "magnitude x y");
    assert_refused("3x3: 1 2 3", "has 3 numbers instead of 9");
    assert_refused("2x1: 1 2 3", "\"3\" is left");
    assert_refused("2x1: 1 nan", "\"nan\" is not a number");
    assert_refused("2x1: 1,2", "a comma begins the next filter");
    assert_refused("0x3:", "is empty");
    assert_refused("99999x1: 1", "is larger than");
    assert_refused("3x3/0: 1 2 3 4 5 6 7 8 9", "scale");
    assert_refused("3x3; 1", "is written 3x3:");
    assert_refused("gaussian:sigma_x=1e-200", "at least 0.01");
    assert_refused("1x1/1e-310: 1", "beyond what floats can hold");
    assert_refused("1x1: 1e39", "beyond what floats can hold");
    char chain[1024] = "box";
    for (int i = 0; i < GF_FILTER_MAX_STAGES; i++)
        strcat(chain, ",box");
    assert_refused(chain, "more than 32 stages");
}

/* ---- kernel files ---- */

static char path[64];

static const char *write_file(const char *text, size_t size)
{
    strcpy(path, "/tmp/gpufilter-kernel-XXXXXX.txt");
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    close(fd);
    return path;
}

static void assert_file(const char *text, size_t width, size_t height, double scale, double offset,
                        const double *taps)
{
    GfFilter *filter = parse(write_file(text, strlen(text)));
    const GfLinear *linear = &filter->stages[0].linear;
    assert_int_equal(linear->width, width);
    assert_int_equal(linear->height, height);
    assert_true(linear->scale == scale && linear->offset == offset);
    assert_memory_equal(linear->weights, taps, width * height * sizeof *taps);
    assert_memory_equal(filter->name, "gpufilter-kernel-", 17);
    gf_filter_free(filter);
    unlink(path);
}

static void assert_file_refused(const char *text, size_t size, const char *reason)
{
    assert_refused(write_file(text, size), reason);
    unlink(path);
}

static void test_kernel_files(void **state)
{
    (void)state;
    static const double taps[] = {1, 2, 3, 4, 5, 6};
    assert_file("1 2 3\n4 5 6\n", 3, 2, 1, 0, taps);
    assert_file("# a comment\n\n1,2,3\r\n4;5\t6", 3, 2, 1, 0, taps);
    assert_file("3 2 4 0.5\n1 2 3\n4 5 6\n", 3, 2, 0.25, 0.5, taps);
    assert_file("2 3\n1 2\n3 4\n5 6\n", 2, 3, 1, 0, taps);
    assert_file_refused("", 0, "no numbers");
    assert_file_refused("1 2\n3\n", 6, "line 2 has 1 numbers");
    assert_file_refused("1 2\n3 x\n", 8, "line 2: not a number: \"x");
    assert_file_refused("1 nan\n", 6, "line 1: not a number");
    assert_file_refused("1 2\0 3\n", 7, "NUL");
    assert_file_refused("2 1 0 0\n1 2\n", 12, "the scale is 0");
    /* Three numbers are no header, however well they would fit. */
    static const double triangle[] = {3, 2, 1, 2, 1, 0, 1, 0, 0};
    assert_file("3 2 1\n2 1 0\n1 0 0\n", 3, 3, 1, 0, triangle);
    assert_refused("./no/such/kernel.txt", "No such file");
    assert_refused("/", "neither a file nor a pipe");
    assert_refused("/dev/zero", "neither a file nor a pipe");
    assert_file("\xef\xbb\xbf"
                "1 2 3\n4 5 6\n",
                3, 2, 1, 0, taps);
}

/* ---- rank ---- */

static void test_rank(void **state)
{
    (void)state;
    static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const double laplacian[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    static const double nearly[] = {1, 2, 1, 2, 4.00001, 2, 1, 2, 1};
    static const double zero[4] = {0};
    double column[3], row[3];
    assert_true(gf_rank_one(sobel, 3, 3, column, row));
    for (size_t i = 0; i < 9; i++)
        assert_true(column[i / 3] * row[i % 3] == sobel[i]);
    assert_false(gf_rank_one(laplacian, 3, 3, column, row));
    assert_false(gf_rank_one(nearly, 3, 3, column, row));
    assert_true(gf_rank_one(zero, 2, 2, column, row));
    assert_true(column[0] * row[0] == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_reference),
        cmocka_unit_test(test_values_of_cpu),
        cmocka_unit_test(test_every_filter_has_values),
        cmocka_unit_test(test_every_parameter_keeps_its_range),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_inline_kernel),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_kernel_files),
        cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
