/* The language of --kernel, kernel files, arrays of weights, and every filter of the catalogue
 * against values made with SciPy, OpenCV and NumPy (tests/expected/filters.py). */
#include <dirent.h>
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
#include "filters/learned.h"
#include "filters/rank.h"
#include "filters/tensors.h"
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

/* Writes an array of format 1.0 to the working directory. */
static void write_npy(const char *name, const char *descr, bool fortran, const char *shape,
                      const void *numbers, size_t bytes)
{
    char text[128];
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr,
                 fortran ? "True" : "False", shape);
    assert_true(length > 0 && length < (int)sizeof text);
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc(length, file);
    fputc(0, file);
    fwrite(text, 1, (size_t)length, file);
    fwrite(numbers, 1, bytes, file);
    assert_int_equal(fclose(file), 0);
}

/* The filter's response to the expected picture in f64, unrounded. */
static void respond(GfBackend *backend, const Expected *expected, double *values)
{
    GfFormat format = {EXPECTED_WIDTH, EXPECTED_HEIGHT, 1, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_F64);
    unsigned char samples[EXPECTED_HEIGHT * EXPECTED_WIDTH];
    GfFilter *filter = parse(expected->text);
    const GfFilter *bank[] = {filter};
    GfPlan *plan;
    GfSession *session;
    for (size_t i = 0; i < sizeof samples; i++) {
        size_t x = i % EXPECTED_WIDTH, y = i / EXPECTED_WIDTH;
        samples[i] = (unsigned char)(37 * x + 91 * y + 13 * x * y + 5 * x * x);
    }
    options.whole = true;
    if (gf_plan_create(bank, 1, &format, &options, &plan) != GF_OK)
        fail_msg("%s: %s", expected->text, gf_message());
    const GfFormat *made = &plan->pipelines[0].out;
    if (made->width != expected->width || made->height != expected->height ||
        made->channels != expected->channels)
        fail_msg("%s: %zu x %zu x %zu samples", expected->text, made->width, made->height,
                 made->channels);
    assert_int_equal(backend->session(backend, plan, &session), GF_OK);
    GfRing ring = {samples, EXPECTED_WIDTH, EXPECTED_HEIGHT};
    GfBand out = {0, made->height, made->width * made->channels * sizeof *values, values};
    assert_int_equal(backend->begin(session, &ring), GF_OK);
    assert_int_equal(backend->submit(session, 0, EXPECTED_HEIGHT, &out), GF_OK);
    assert_int_equal(backend->collect(session), GF_OK);
    backend->end(session);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void check_values(GfBackend *backend)
{
    double values[EXPECTED_MOST];
    for (size_t i = 0; i < sizeof expected_filters / sizeof *expected_filters; i++) {
        const Expected *expected = &expected_filters[i];
        respond(backend, expected, values);
        for (size_t j = 0; j < expected->width * expected->height * expected->channels; j++)
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

/* What a flat picture of 1 becomes: the sum of a kernel's taps, or of all kernels' where they are
 * added. */
static double sum_of_taps(const char *text, size_t kernel)
{
    GfFilter *filter = parse(text);
    const GfLinear *linear = &filter->stages[0].linear;
    bool added = filter->count > 1 && filter->stages[1].combine.op == GF_COMBINE_SUM;
    double sum = 0.0;
    assert_true(kernel < linear->filters);
    for (size_t f = added ? 0 : kernel; f < (added ? linear->filters : kernel + 1); f++)
        for (size_t i = 0; i < linear->width * linear->height; i++)
            sum += linear->scale * gf_linear_tap(linear, f, i / linear->width, i % linear->width);
    gf_filter_free(filter);
    return sum;
}

/* Smoothers leave a flat picture as it is, derivatives nothing of it. */
static void test_kernel_sums(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t kernels;
        double sum;
    } cases[] = {
        {"shift:x=-2000:y=0.001", 1, 1},
        {"shift:x=3:y=1999.999", 1, 1},
        {"box:width=2047:height=1", 1, 1},
        {"gaussian:sigma=500", 1, 1},
        {"gaussian:sigma=0.01", 1, 1},
        {"binomial:size=15", 1, 1},
        {"disk:radius=0.1", 1, 1},
        {"disk:radius=0.5000001", 1, 1},
        {"disk:radius=250", 1, 1},
        {"motion:length=500:angle=-359.9", 1, 1},
        {"motion:length=1.0001:angle=45", 1, 1},
        {"sharpen:amount=100", 1, 1},
        {"highboost", 1, 1},
        {"highboost:boost=1:size=31", 1, 0},
        {"highboost:boost=100:size=5", 1, 99},
        {"emboss:amount=7", 1, 1},
        {"sobel:size=7", 2, 0},
        {"prewitt", 2, 0},
        {"scharr", 2, 0},
        {"freichen", 2, 0},
        {"farid:size=3", 2, 0},
        {"farid", 2, 0},
        {"farid:size=7", 2, 0},
        {"roberts", 2, 0},
        {"kirsch", 8, 0},
        {"robinson", 8, 0},
        {"compass", 8, 0},
        {"gabor:wavelength=2.1:angle=11:aspect=10", 1, 0},
        {"gabor:wavelength=256:phase=33", 1, 0},
        {"laplacian:8", 1, 0},
        {"laplacian:diagonal5", 1, 0},
        {"laplacian:diagonal7", 1, 0},
        {"laplacian:hat", 1, 0},
        {"log:sigma=60:scale=0.001", 1, 0},
        {"dog:sigma1=0.01:sigma2=500", 1, 0},
        {"edge:radius=15", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t f = 0; f < cases[i].kernels; f++) {
            double sum = sum_of_taps(cases[i].text, f);
            if (!(fabs(sum - cases[i].sum) <= 1e-10))
                fail_msg("%s: kernel %zu sums to %.17g", cases[i].text, f, sum);
        }
}

/* Kernels that a parameter moves, turns or cuts. */
static void test_sizes_of_kernels(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width, height, anchor_x, anchor_y;
    } cases[] = {
        {"shift", 1, 1, 0, 0},
        {"shift:x=3:y=-2", 4, 3, 3, 0},
        {"shift:x=0.5:y=-0.5", 2, 2, 1, 0},
        {"shift:x=2000:y=-1999.5", 2001, 2001, 2000, 0},
        {"disk:radius=0.5", 1, 1, 0, 0},
        {"disk:radius=0.51", 3, 3, 1, 1},
        {"disk:radius=2.5", 5, 5, 2, 2},
        {"motion:angle=0", 9, 1, 4, 0},
        {"motion:angle=-90", 1, 9, 0, 4},
        {"motion:angle=360", 9, 1, 4, 0},
        {"motion:angle=45", 7, 7, 3, 3},
        {"roberts", 2, 2, 0, 0},
        {"edge:radius=15", 31, 31, 15, 15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfFilter *filter = parse(cases[i].text);
        const GfLinear *linear = &filter->stages[0].linear;
        if (linear->width != cases[i].width || linear->height != cases[i].height ||
            linear->anchor_x != cases[i].anchor_x || linear->anchor_y != cases[i].anchor_y)
            fail_msg("%s: %zu x %zu about (%zu, %zu)", cases[i].text, linear->width, linear->height,
                     linear->anchor_x, linear->anchor_y);
        gf_filter_free(filter);
    }
}

/* Whether `name` is one of the filters of a chain. */
static bool names_filter(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
        if (strncmp(text, name, length) == 0 && (!text[length] || strchr(":,", text[length])))
            return true;
    return false;
}

static void test_every_filter_has_values(void **state)
{
    (void)state;
    for (const GfNamedFilter *row = gf_catalog; row->name; row++) {
        size_t found = 0;
        for (size_t i = 0; i < sizeof expected_filters / sizeof *expected_filters; i++)
            found += names_filter(expected_filters[i].text, row->name);
        if (!found && !gf_learned_find(row->name)) /* tests/networks.py computes those */
            fail_msg("no expected values for %s", row->name);
    }
}

/* A network that the program brings along has the parameters of its row. */
static void test_learned_parameters(void **state)
{
    (void)state;
    for (const GfLearned *learned = gf_learned; learned->name; learned++) {
        const GfNamedFilter *row = gf_catalog_find(learned->name);
        GfNetworkFile *file;
        assert_non_null(row);
        if (gf_learned_open(learned, &file) != GF_OK)
            fail_msg("%s", gf_message());
        assert_string_equal(gf_network_file_name(file), learned->name);
        const GfParameter *given = gf_network_file_row(file)->parameters;
        for (size_t i = 0; i < GF_MAX_PARAMETERS; i++) {
            const GfParameter *known = &row->parameters[i];
            assert_true(!known->name == !given[i].name);
            if (!known->name)
                break;
            assert_string_equal(known->name, given[i].name);
            assert_int_equal(known->kind, GF_NUMBER);
            assert_true(known->minimum == given[i].minimum && known->maximum == given[i].maximum &&
                        known->standard == given[i].standard);
        }
        gf_network_file_close(file);
    }
}

/* The filter with one of its parameters set, and the file that it must have. */
static const char *with_parameter(const GfNamedFilter *row, const GfParameter *parameter,
                                  const char *format, double value)
{
    static char text[256];
    char number[64];
    const GfParameter *required = gf_catalog_required(row);
    snprintf(number, sizeof number, format, value);
    snprintf(text, sizeof text, "%s%s%s%s:%s=%s", row->name, required ? ":" : "",
             required ? required->name : "", required ? "=kernel.npy" : "", parameter->name,
             number);
    return text;
}

static void check_bounds(const GfNamedFilter *row, const GfParameter *p)
{
    const bool sizes = p->kind == GF_SIZE || p->kind == GF_PADDING;
    if (sizes || !gf_catalog_required(row)) { /* else a number has to fit the file */
        gf_filter_free(parse(with_parameter(row, p, "%.17g", p->maximum)));
        gf_filter_free(parse(with_parameter(row, p, "%.17g", p->minimum)));
    }
    double above = p->maximum + fabs(p->maximum) + 1, below = p->minimum - fabs(p->minimum) - 1;
    assert_refused(with_parameter(row, p, "%.17g", above), "is outside");
    if (!sizes) {
        assert_refused(with_parameter(row, p, "%.17g", below), "is outside");
        return;
    }
    gf_filter_free(parse(with_parameter(row, p, "3x%.17g", p->maximum)));
    assert_refused(with_parameter(row, p, "%.17gx1", above), "is outside");
    assert_refused(with_parameter(row, p, "%.17gx", p->maximum), "is neither");
    assert_refused(with_parameter(row, p, "%.17gx1x1", p->maximum), "is neither");
    assert_refused(with_parameter(row, p, "1x1x1x1x%.17g", p->maximum), "is neither");
    assert_refused(with_parameter(row, p, "-%.17g", p->maximum), "is neither");
}

/* Every parameter takes its bounds and its standard value, and refuses what lies beyond. */
static void test_every_parameter_keeps_its_range(void **state)
{
    (void)state;
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        for (const GfParameter *p = row->parameters; p->name; p++) {
            if (p->kind == GF_WORD)
                assert_refused(with_parameter(row, p, "neither%g", 0), "is one of");
            else if (p->kind == GF_OPTIONAL_FILE)
                assert_refused(with_parameter(row, p, "no/file%g.npy", 0), "No such file");
            else if (p->kind == GF_OPTIONAL_NAME)
                assert_refused(with_parameter(row, p, "", 0), "names nothing");
            else if (p->kind == GF_FILE)
                assert_refused(row->name, "=FILE is missing");
            else
                check_bounds(row, p);
        }
}

/* ---- grammar ---- */

static void test_names(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"sobel", "sobel"},
        {" gaussian:sigma=2 , sobel:x ", "gaussian-sobel"},
        {"conv:weights=kernel.npy,relu", "conv-relu"},
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
    assert_refused("gausian sigma=2", "parameters stand behind a colon");
    assert_refused("gaussian=2.5", "parameters stand behind a colon");
    assert_refused("sobel|box:size=3", "the next filter behind a comma");
    assert_refused("gaussian(2)", "parameters stand behind a colon");
    assert_refused("nothing known", "(gpufilter filters lists them)");
    assert_refused("gaussian:sigma=1,5", "\"5\": a comma begins the next filter; fractions have");
    assert_refused("./sobel =2.5", "kernel file: ");
    assert_refused("median:size=5", "sorts samples");
    assert_refused("bilateral", "by their differences");
    assert_refused("median", "linear");
    assert_refused("gabor:sigma=0.2", "at least 0.3");
    assert_refused("gabor:sigma=250:aspect=0.1", "is larger than");
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
    assert_refused("1x1: 1 2", "the 1x1 kernel has more than 1 number: ");
    assert_refused("1x1+-3: 1", "offset is not a number: \"+-3: 1\" (one sign stands before it");
    assert_refused("2x1: 1 nan", "\"nan\" is not a number");
    assert_refused("3x1: 1.2.3 4", "\"1.2.3 4\" is not a number");
    assert_refused("2x1: 1,2", "a comma begins the next filter");
    assert_refused("0x3:", "is empty");
    assert_refused("99999x1: 1", "is larger than");
    assert_refused("3x3/0: 1 2 3 4 5 6 7 8 9", "scale");
    assert_refused("3x3; 1", "is written 3x3:");
    assert_refused("gaussian:sigma_x=1e-200", "at least 0.01");
    assert_refused("1x1/1e-310: 1", "beyond what floats can hold");
    assert_refused("1x1: 1e39", "beyond what floats can hold");
    char chain[8 * GF_FILTER_MAX_STAGES] = "box";
    for (int i = 0; i < GF_FILTER_MAX_STAGES; i++)
        strcat(chain, ",box");
    assert_refused(chain, "more than 512 stages");
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
    const char cut[] = "3 3 1 128\n1 2 1\n0 0 0\n", less[] = "2 1\n1\n";
    assert_file_refused(cut, strlen(cut), "the first line says 3 rows of 3 numbers, and 2 follow");
    assert_file_refused(less, strlen(less), "line 2 has 1 number, the rows above it have 2");
    const char one[] = "3 1\n1 2 3\n4 5 6\n";
    assert_file_refused(one, strlen(one), "the first line says 1 row of 3 numbers, and 2 follow");
    const char three[] = "5 2 9\n1 1 1 1 1\n1 1 1 1 1\n", wide[] = "4 2 9 0\n1 1 1\n1 1 1\n";
    assert_file_refused(three, strlen(three), "a header is width and height, or width, height");
    assert_file_refused(wide, strlen(wide), "a header is width and height, or width, height");
    assert_file_refused("", 0, "no numbers");
    assert_file_refused("1 2\n3\n", 6, "line 2 has 1 number, ");
    assert_file_refused("1 2\n3 x\n", 8, "line 2: not a number: \"x");
    assert_file_refused("1 nan\n", 6, "line 1: not a number");
    assert_file("1, 2, 3,\n4 ,5;6 ; # six\n", 3, 2, 1, 0, taps);
    assert_file_refused("1,,3\n", 5, "line 1: not a number: \",3\"");
    assert_file_refused("1 2\n,2\n", 7, "line 2: not a number: \",2\"");
    assert_file_refused("1 ; ,3\n", 7, "line 1: not a number: \",3\"");
    assert_file_refused("1.2.3 4\n", 8, "line 1: not a number: \"1.2.3 4\"");
    assert_file_refused("1 2\0 3\n", 7, "NUL");
    assert_file_refused("2 1 0 0\n1 2\n", 12, "the scale is 0");
    assert_file_refused("1 1e39\n", 7, ".txt: a filter's numbers are beyond what floats can hold");
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

/* ---- weights ---- */

static GfStatus read_only_array(const char *name, GfWeights *weights)
{
    GfTensors *tensors;
    GF_TRY(gf_tensors_open(name, &tensors));
    GfStatus status = gf_tensors_read(tensors, NULL, weights);
    gf_tensors_close(tensors);
    return status;
}

static void test_weights_of_every_type(void **state)
{
    (void)state;
    /* Two numbers each, the values of which are known by hand. */
    static const struct {
        const char *descr;
        unsigned char bytes[16];
        size_t size;
        double values[2];
    } cases[] = {
        {"|u1", {0x07, 0xff}, 2, {7, 255}},
        {"|i1", {0x80, 0xff}, 2, {-128, -1}},
        {"<u2", {0x01, 0x02, 0xff, 0xff}, 4, {513, 65535}},
        {">i2", {0x80, 0x00, 0x01, 0x02}, 4, {-32768, 258}},
        {"<i4", {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 8, {-2, 2147483647}},
        {">u4", {0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 3}, 8, {4294967294, 3}},
        {"<f2", {0x00, 0x3c, 0x01, 0x80}, 4, {1, -0x1p-24}},
        {">f2", {0xc2, 0x00, 0x7b, 0xff}, 4, {-3, 65504}},
        {"<f4", {0, 0, 0x40, 0x40, 0, 0, 0x80, 0xbf}, 8, {3, -1}},
        {">f4", {0x40, 0x40, 0, 0, 0, 0, 0, 1}, 8, {3, 0x1p-149}},
        {"<f8", {0, 0, 0, 0, 0, 0, 0x04, 0xc0, 1}, 16, {-2.5, 0x1p-1074}},
        {">f8", {0x3f, 0xd0, 0, 0, 0, 0, 0, 0, 0x40, 0x1c}, 16, {0.25, 7}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfWeights weights;
        write_npy("type.npy", cases[i].descr, false, "(2,)", cases[i].bytes, cases[i].size);
        if (read_only_array("type.npy", &weights) != GF_OK)
            fail_msg("%s: %s", cases[i].descr, gf_message());
        assert_int_equal(weights.rank, 1);
        assert_int_equal(weights.count, 2);
        assert_memory_equal(weights.values, cases[i].values, sizeof cases[i].values);
        gf_weights_free(&weights);
        assert_null(weights.values);
    }
}

static void test_weights_in_fortran_order(void **state)
{
    (void)state;
    /* array[i][j][k] = 100 i + 10 j + k, 2 x 3 x 2, the first index fastest. */
    static const unsigned char fortran[] = {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
    static const double expected[] = {0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
    GfWeights weights;
    char text[8];
    write_npy("fortran.npy", "|u1", true, "(2, 3, 2)", fortran, sizeof fortran);
    assert_int_equal(read_only_array("fortran.npy", &weights), GF_OK);
    assert_memory_equal(weights.values, expected, sizeof expected);
    assert_string_equal(gf_shape_text(weights.rank, weights.shape, text, sizeof text), "(2, 3, ");
    gf_weights_free(&weights);
}

static void assert_weights_refused(const char *name, const char *reason)
{
    char text[64];
    snprintf(text, sizeof text, "conv:weights=%s", name);
    assert_refused(text, reason);
    assert_non_null(strstr(gf_message(), name));
}

static void write_text(const char *name, const char *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_weights_that_are_refused(void **state)
{
    (void)state;
    static const unsigned char nan[] = {0, 0, 0, 0, 0, 0, 0xc0, 0x7f};
    static const unsigned char infinite[] = {0, 0, 0x80, 0xff, 0, 0, 0, 0};
    static const unsigned char huge[] = {0, 0, 0, 0, 0, 0, 0xf0, 0x7e}; /* above f32's largest */
    static const unsigned char zeros[64] = {0};
    static const struct {
        const char *descr, *shape;
        const void *numbers;
        size_t bytes;
        const char *reason;
    } cases[] = {
        {"<f4", "(2, 1)", nan, 8, "number 2 of 2 is NaN"},
        {"<f4", "(1, 2)", infinite, 8, "number 1 of 2 is infinite"},
        {"<f8", "(1, 1)", huge, 8, "number 1 of 1 is beyond what floats can hold"},
        {"<f4", "(2, 2)", zeros, 15, "15 bytes of numbers, its header announces 16"},
        {"<f4", "(2, 2)", zeros, 17, "17 bytes of numbers, its header announces 16"},
        {"<f4", "(2,)", zeros, 8, "an array of shape (2,); kernels are"},
        {"<f4", "(1, 1, 1, 1, 2)", zeros, 8, "an array of shape (1, 1, 1, 1, 2); kernels are"},
        {"<f4", "()", zeros, 4, "an array of shape (); kernels are"},
        {"<f4", "(0, 3)", zeros, 0, "is 0"},
        {"<f4", "(1, 5000)", zeros, 64, "64 bytes of numbers, its header announces 20000"},
        {"<f4", "(99999, 99999)", zeros, 64,
         "64 bytes of numbers, its header announces 39999200004"},
        {"<f4", "(4294967296, 4294967296)", zeros, 64, "too large"},
        {"<i8", "(1, 1)", zeros, 8, "dtype '<i8' are not accepted"},
        {"<c8", "(1, 1)", zeros, 8, "dtype '<c8'"},
        {"<V2", "(1, 1)", zeros, 2, "dtype '<V2'"},
        {"|f4", "(1, 1)", zeros, 4, "dtype '|f4'"},
        {"|O", "(1, 1)", zeros, 8, "numpy.save()"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_npy("bad.npy", cases[i].descr, false, cases[i].shape, cases[i].numbers,
                  cases[i].bytes);
        if (cases[i].numbers == huge)
            assert_refused("conv:weights=bad.npy", cases[i].reason);
        else
            assert_weights_refused("bad.npy", cases[i].reason);
    }
    write_text("bad.npy", "", 0);
    assert_weights_refused("bad.npy", "neither an .npy nor a .safetensors file");
    write_text("bad.npy", "\x93NUMPY\x01\x00", 8);
    assert_weights_refused("bad.npy", "ends in its first bytes");
    write_text("bad.npy", "\x93NUMPY\x01\x00\x20\x00{'descr'", 18);
    assert_weights_refused("bad.npy", "ends early");
    write_text("bad.npz", "PK\x03\x04", 4);
    assert_weights_refused("bad.npz", "an archive or a pickle");
    write_text("bad.pkl", "\x80\x04\x95", 3);
    assert_weights_refused("bad.pkl", "never opened");
    assert_weights_refused("net.safetensors", "No such file");
    assert_weights_refused("missing.npy", "No such file");
    assert_weights_refused("/dev/zero", "neither a file nor a pipe");
}

static void test_weights_and_what_goes_with_them(void **state)
{
    (void)state;
    assert_refused("conv:weights=layer.npy:bias=one.npy", "bias one.npy: 1 number for 2 maps");
    assert_refused("conv:weights=kernel.npy:bias=two.npy", "2 numbers for 1 map");
    assert_refused("conv:weights=layer.npy:bias=kernel.npy", "a bias is a row of numbers");
    assert_refused("conv:weights=layer.npy:groups=3", "cannot be cut into 3 groups");
    assert_refused("conv:weights=kernel.npy:groups=2", "serves every channel");
    assert_refused("conv:weights=", "names no file");
    assert_refused("conv", "weights=FILE is missing");
    assert_refused("conv:weights=layer.npy:weights=layer.npy", "given twice");
    assert_refused("wpool:weights=layer.npy", "has one window");
    assert_refused("wpool:weights=missing.txt", "No such file");
    assert_refused("avgpool:padding", "not of the form");
    assert_refused("clamp:low=2:high=1", "low=2 is above high=1");
    assert_refused("avgpool:count=all", "inside padding");
    assert_refused("./kernel.npy", "conv:weights=");
}

static void assert_sampling(const GfSampling *sampling, const size_t *wanted)
{
    const size_t found[] = {sampling->stride_x,   sampling->stride_y, sampling->dilation_x,
                            sampling->dilation_y, sampling->top,      sampling->left,
                            sampling->bottom,     sampling->right};
    assert_int_equal(sampling->fit, GF_FIT_PAD);
    assert_memory_equal(found, wanted, sizeof found);
}

static void test_sampling(void **state)
{
    (void)state;
    GfFilter *filter = parse("conv:weights=layer.npy:stride=2x3:padding=4x5:dilation=6x7:wrap,"
                             "maxpool:size=8x9:padding=1x2x3x4:yes,conv:weights=kernel.npy:"
                             "bias=one.npy:same_lower");
    const GfLinear *layer = &filter->stages[0].linear, *bank = &filter->stages[2].linear;
    const GfPool *pool = &filter->stages[1].pool;
    assert_sampling(&layer->sampling, (const size_t[]){3, 2, 7, 6, 4, 5, 4, 5});
    assert_sampling(&pool->sampling, (const size_t[]){9, 8, 1, 1, 1, 2, 3, 4});
    assert_int_equal(layer->sampling.border, GF_BORDER_WRAP);
    assert_true(layer->filters == 2 && layer->depth == 1 && layer->groups == 1);
    assert_true(layer->width == 2 && layer->height == 3 && !layer->bias);
    assert_true(pool->width == 9 && pool->height == 8 && pool->ceil && !pool->count_padding);
    assert_true(bank->depth == 0 && bank->offset == -0.75 && !bank->bias);
    assert_int_equal(bank->sampling.fit, GF_FIT_SAME_LOWER);
    assert_string_equal(filter->name, "conv-maxpool-conv");
    gf_filter_free(filter);
}

/* A backslash takes a comma or colon into a path. */
static void test_paths_with_separators(void **state)
{
    (void)state;
    static const double taps[] = {1, 2};
    write_npy("a,b:c\\d.npy", "<f8", false, "(1, 2)", taps, sizeof taps);
    GfFilter *filter = parse("conv:weights=a\\,b\\:c\\\\d.npy:padding=1,relu");
    assert_int_equal(filter->count, 2);
    assert_memory_equal(filter->stages[0].linear.weights, taps, sizeof taps);
    gf_filter_free(filter);
    write_text("a,b:c.txt", "1 2\n", 4);
    filter = parse("./a\\,b:c.txt");
    assert_memory_equal(filter->stages[0].linear.weights, taps, sizeof taps);
    gf_filter_free(filter);
}

/* ---- rank ---- */

static void test_rank(void **state)
{
    (void)state;
    static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    static const double laplacian[] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    static const double nearly[] = {1, 2, 1, 2, 4.00001, 2, 1, 2, 1};
    /* What is lost of those is small beside the largest tap, but no rounding. */
    static const double steep[] = {1e12, 0, 0, 0, 1, 0, 0, 0, 0};
    static const double off[] = {-1, 0, 1, -2, 0, 2.000000004, -1, 0, 1};
    static const double zero[4] = {0};
    double column[3], row[3];
    assert_true(gf_rank_one(sobel, 3, 3, column, row));
    for (size_t i = 0; i < 9; i++)
        assert_true(column[i / 3] * row[i % 3] == sobel[i]);
    assert_false(gf_rank_one(laplacian, 3, 3, column, row));
    assert_false(gf_rank_one(nearly, 3, 3, column, row));
    assert_false(gf_rank_one(steep, 3, 3, column, row));
    assert_false(gf_rank_one(off, 3, 3, column, row));
    assert_true(gf_rank_one(zero, 2, 2, column, row));
    assert_true(column[0] * row[0] == 0.0);
}

/* The tests run in a folder of their own, with the arrays that texts name. */
static char folder[] = "/tmp/gpufilter-filters-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    for (size_t i = 0; i < sizeof expected_files / sizeof *expected_files; i++) {
        const ExpectedFile *file = &expected_files[i];
        write_npy(file->name, "<f8", false, file->shape, file->numbers,
                  file->count * sizeof *file->numbers);
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    struct dirent *entry;
    DIR *directory = opendir(".");
    while (directory && (entry = readdir(directory)) != NULL)
        unlink(entry->d_name);
    return directory && closedir(directory) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_reference),
        cmocka_unit_test(test_values_of_cpu),
        cmocka_unit_test(test_kernel_sums),
        cmocka_unit_test(test_sizes_of_kernels),
        cmocka_unit_test(test_every_filter_has_values),
        cmocka_unit_test(test_learned_parameters),
        cmocka_unit_test(test_every_parameter_keeps_its_range),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_inline_kernel),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_kernel_files),
        cmocka_unit_test(test_weights_of_every_type),
        cmocka_unit_test(test_weights_in_fortran_order),
        cmocka_unit_test(test_weights_that_are_refused),
        cmocka_unit_test(test_weights_and_what_goes_with_them),
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_paths_with_separators),
        cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
