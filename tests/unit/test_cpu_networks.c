/* Networks on the CPU's fast path: values worked out by hand, and random networks, with additions
 * of earlier stages, enlargements and opacity, against the float64 reference. */
#include "tests/draft.h"
#include "tests/unit/cpu_trial.h"

#include <math.h>
#include <string.h>

static const GfBorder borders[] = {GF_BORDER_REPLICATE, GF_BORDER_REFLECT101, GF_BORDER_REFLECT,
                                   GF_BORDER_WRAP, GF_BORDER_CONSTANT};

static GfFilter *new_filter(void)
{
    GfFilter *filter = calloc(1, sizeof *filter);
    assert_non_null(filter);
    return filter;
}

static GfEntry *add_entry(GfFilter *filter, size_t channels, double low, double high, size_t planes)
{
    GfEntry *entry;
    assert_int_equal(gf_filter_add_entry(filter, channels, low, high, planes, &entry), GF_OK);
    return entry;
}

static GfLinear *add_layer(GfFilter *filter, size_t filters, size_t depth, size_t groups,
                           size_t width, size_t height)
{
    GfLinear *layer;
    assert_int_equal(gf_filter_add_layer(filter, filters, depth, groups, width, height, &layer),
                     GF_OK);
    return layer;
}

static void add_exit(GfFilter *filter, bool residual, double low, double high)
{
    assert_int_equal(gf_filter_add_exit(filter, (GfExit){residual, low, high}), GF_OK);
}

static void add_sum(GfFilter *filter, GfReference from)
{
    assert_int_equal(gf_filter_add_sum(filter, (GfAdd){from}), GF_OK);
}

static void enlarge(GfFilter *filter, bool shuffle, size_t x, size_t y, GfReference like)
{
    assert_int_equal(gf_filter_add_upsample(filter, (GfUpsample){shuffle, x, y, like}), GF_OK);
}

/* ---- by hand ---- */

/* The fast path and the reference make `expected` of a picture of f32 or bytes; the filter is
 * freed. */
static void assert_values(Backends *backends, GfFilter *filter, GfFormat format, const float *in,
                          size_t count, const double *expected)
{
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    GfImage picture;
    assert_int_equal(gf_image_allocate(&format, &picture), GF_OK);
    for (size_t y = 0; y < format.height; y++) {
        unsigned char *row = (unsigned char *)picture.samples + y * picture.stride;
        const float *from = in + y * gf_row_samples(&format);
        for (size_t i = 0; i < gf_row_samples(&format); i++)
            if (format.sample == GF_U8)
                row[i] = (unsigned char)from[i];
            else
                memcpy(row + i * sizeof *from, &from[i], sizeof *from);
    }
    options.whole = true;
    GfPlan *plan = make_plan(filter, "a network", &format, &options);
    GfBackend *both[] = {backends->reference, backends->cpu};
    for (int b = 0; b < 2; b++) {
        GfImage out = run_plan(both[b], plan, &picture);
        size_t row = gf_row_samples(&out.format);
        assert_int_equal(row * out.format.height, count);
        for (size_t i = 0; i < count; i++)
            if (!(fabs(sample_at(&out, i / row, i % row) - expected[i]) <= 2e-5))
                fail_msg("%s: sample %zu is %.9g, not %.9g", both[b]->name, i,
                         sample_at(&out, i / row, i % row), expected[i]);
        gf_image_free(&out);
    }
    gf_image_free(&picture);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* Floats are on a scale of 0 to 255: 51 is 0.2, less 0.1, by 0.5 is 0.2; then the plane's 7. */
static void test_entry(void **state)
{
    static const float in[] = {51, 102, 255};
    static const double expected[] = {0.2, 7, 0.6, 7, 1.8, 7};
    GfFilter *filter = new_filter();
    GfEntry *entry = add_entry(filter, 1, 0, 1, 1);
    entry->mean = random_numbers(1, 0.1, 0.1);
    entry->deviation = random_numbers(1, 0.5, 0.5);
    entry->planes[0] = 7;
    assert_values(*state, filter, format_of(3, 1, 1, false, GF_F32), in, 6, expected);
}

enum { WIDTH = 7, HEIGHT = 6, COLOURS = 3, MAPS = 4, SIDE = 3 };

/* How a first layer lies on the picture, and what stands around what it reads. */
typedef struct Lie {
    size_t colours; /* of the picture; the network takes COLOURS */
    GfFit fit;
    GfBorder border;
    double value;
    size_t stride, dilation;
} Lie;

/* The entry's map c at (x, y), which may lie outside: the picture less its mean, or the plane. */
static double entered(const float *in, const Lie *lie, const GfEntry *entry, size_t c, ptrdiff_t x,
                      ptrdiff_t y)
{
    if (lie->border == GF_BORDER_REPLICATE) {
        x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
        y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    }
    if (x < 0 || x >= WIDTH || y < 0 || y >= HEIGHT)
        return lie->value;
    if (c == COLOURS)
        return entry->planes[0];
    size_t sample = ((size_t)y * WIDTH + (size_t)x) * lie->colours + (lie->colours > 1 ? c : 0);
    return ((double)in[sample] / 255.0 - entry->mean[c]) / entry->deviation[c];
}

/* Two rows and columns above and left of the picture, one below and right of it. */
static void assert_entered_layer(Backends *backends, const Lie *lie)
{
    float in[WIDTH * HEIGHT * COLOURS];
    double expected[WIDTH * HEIGHT * MAPS * 4];
    GfFilter *filter = new_filter();
    GfEntry *entry = add_entry(filter, COLOURS, 0, 1, 1);
    entry->mean = random_numbers(COLOURS, 0.3, 0.6);
    entry->deviation = random_numbers(COLOURS, 0.2, 0.5);
    entry->planes[0] = 0.75;
    GfLinear *layer = add_layer(filter, MAPS, COLOURS + 1, 1, SIDE, SIDE);
    layer->bias = random_numbers(MAPS, -1, 1);
    layer->sampling = (GfSampling){.fit = lie->fit,
                                   .left = 2,
                                   .top = 2,
                                   .right = 1,
                                   .bottom = 1,
                                   .border = lie->border,
                                   .border_value = lie->value,
                                   .stride_x = lie->stride,
                                   .stride_y = lie->stride,
                                   .dilation_x = lie->dilation,
                                   .dilation_y = lie->dilation};
    for (size_t i = 0; i < (size_t)MAPS * (COLOURS + 1) * SIDE * SIDE; i++)
        layer->weights[i] = random_between(-0.2, 0.2);
    for (size_t i = 0; i < WIDTH * HEIGHT * lie->colours; i++)
        in[i] = floorf((float)random_between(0, 256));
    size_t count = 0, reach = (SIDE - 1) * lie->dilation + 1;
    for (size_t y = 0; y + reach <= HEIGHT + 3; y += lie->stride)
        for (size_t x = 0; x + reach <= WIDTH + 3; x += lie->stride)
            for (size_t f = 0; f < MAPS; f++) {
                double sum = layer->bias[f];
                for (size_t i = 0; i < (size_t)(COLOURS + 1) * SIDE * SIDE; i++)
                    sum += layer->weights[f * (COLOURS + 1) * SIDE * SIDE + i] *
                           entered(in, lie, entry, i / (SIDE * SIDE),
                                   (ptrdiff_t)(x + i % SIDE * lie->dilation) - 2,
                                   (ptrdiff_t)(y + i / SIDE % SIDE * lie->dilation) - 2);
                expected[count++] = sum;
            }
    assert_values(backends, filter, format_of(WIDTH, HEIGHT, lie->colours, false, GF_U8), in, count,
                  expected);
}

/* Outside of the picture a first layer reads its constant, whatever the entry makes of samples. */
static void test_entry_before_layer(void **state)
{
    static const Lie lies[] = {{3, GF_FIT_PAD, GF_BORDER_CONSTANT, 0, 1, 1},
                               {3, GF_FIT_PAD, GF_BORDER_CONSTANT, 0, 2, 1},
                               {3, GF_FIT_PAD, GF_BORDER_CONSTANT, 0.5, 1, 2},
                               {1, GF_FIT_PAD, GF_BORDER_CONSTANT, 0, 1, 3},
                               {1, GF_FIT_PAD, GF_BORDER_CONSTANT, -0.25, 3, 1},
                               {3, GF_FIT_PAD, GF_BORDER_REPLICATE, 0, 2, 2}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        assert_entered_layer(*state, &lies[i]);
}

/* .299 * 51 + .587 * 102 + .114 * 255 = 104.193, on a scale of -1 to 1: 104.193 / 127.5 - 1. */
static void test_luma(void **state)
{
    static const float in[] = {51, 102, 255};
    static const double expected[] = {-0.1828};
    GfFilter *filter = new_filter();
    add_entry(filter, 1, -1, 1, 0);
    assert_values(*state, filter, format_of(1, 1, 3, false, GF_F32), in, 1, expected);
}

/* One map, half of the luma, is added to every colour; opacity is the input's. */
static void test_residual(void **state)
{
    static const float in[] = {100, 100, 100, 30, 10, 20, 30, 200};
    static const double expected[] = {150, 150, 150, 30, 19.075, 29.075, 39.075, 200};
    GfFilter *filter = new_filter();
    add_entry(filter, 1, 0, 1, 0);
    add_layer(filter, 1, 1, 1, 1, 1)->weights[0] = 0.5;
    add_exit(filter, true, 0, 1);
    assert_values(*state, filter, format_of(2, 1, 4, true, GF_F32), in, 8, expected);
}

/* Three maps of a gray picture are a picture in colour, opacity put back. */
static void test_picture(void **state)
{
    static const float in[] = {100, 77};
    static const double expected[] = {100, 200, -50, 77};
    GfFilter *filter = new_filter();
    add_entry(filter, 1, 0, 1, 0);
    GfLinear *layer = add_layer(filter, 3, 1, 1, 1, 1);
    memcpy(layer->weights, (double[]){1, 2, -0.5}, 3 * sizeof(double));
    add_exit(filter, false, 0, 1);
    assert_values(*state, filter, format_of(1, 1, 2, true, GF_F32), in, 4, expected);
}

static const float six[] = {1, 2, 3, 4, 5, 6};

/* Each pixel 2 x 3 (width x height) times. */
static void test_nearest(void **state)
{
    static const double expected[] = {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3,
                                      4, 4, 5, 5, 6, 6, 4, 4, 5, 5, 6, 6, 4, 4, 5, 5, 6, 6};
    GfFilter *filter = new_filter();
    enlarge(filter, false, 2, 3, GF_NO_REFERENCE);
    assert_values(*state, filter, format_of(3, 2, 1, false, GF_F32), six, 36, expected);
}

/* torch.nn.PixelShuffle(2): channels 0 to 3 are the corners of a block. */
static void test_shuffle(void **state)
{
    static const float in[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const double expected[] = {1, 2, 5, 6, 3, 4, 7, 8};
    GfFilter *filter = new_filter();
    enlarge(filter, true, 2, 2, GF_NO_REFERENCE);
    assert_values(*state, filter, format_of(2, 1, 4, false, GF_F32), in, 8, expected);
}

/* Pooled to ceil(3 / 2) x 1, enlarged to 4 x 2 and cut to what was pooled, then added to it. */
static void test_cut_and_added(void **state)
{
    static const double expected[] = {6, 7, 9, 9, 10, 12};
    GfFilter *filter = new_filter();
    GfPool *pool;
    assert_int_equal(gf_filter_add_pool(filter, GF_POOL_MAX, 2, 2, &pool), GF_OK);
    pool->ceil = true;
    enlarge(filter, false, 2, 2, 0);
    add_sum(filter, 0);
    assert_values(*state, filter, format_of(3, 2, 1, false, GF_F32), six, 6, expected);
}

/* What a stage in the middle of others makes can be added, though they would share a step:
 * |x - 4| + (x - 4). */
static void test_added_function(void **state)
{
    static const double expected[] = {0, 0, 0, 0, 2, 4};
    GfFilter *filter = new_filter();
    assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){GF_POINTWISE_AFFINE, 1, -4}),
                     GF_OK);
    assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){GF_POINTWISE_ABS, 0, 0}), GF_OK);
    add_sum(filter, 1);
    assert_values(*state, filter, format_of(6, 1, 1, false, GF_F32), six, 6, expected);
}

static void test_leaky(void **state)
{
    static const float in[] = {-10, 0, 10};
    static const double expected[] = {-1, 0, 10};
    GfFilter *filter = new_filter();
    assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){GF_POINTWISE_LEAKY, 0.1, 0}),
                     GF_OK);
    assert_values(*state, filter, format_of(3, 1, 1, false, GF_F32), in, 3, expected);
}

/* ---- refused ---- */

static void assert_refused(GfFilter *filter, GfFormat format, const char *why)
{
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    const GfFilter *list = filter;
    GfPlan *plan;
    assert_int_equal(gf_plan_create(&list, 1, &format, &options, &plan), GF_EFILTER);
    if (!strstr(gf_message(), why))
        fail_msg("\"%s\" does not say \"%s\"", gf_message(), why);
    gf_filter_free(filter);
}

static void test_refused(void **state)
{
    GfFormat gray = format_of(5, 5, 1, false, GF_U8), rgb = format_of(5, 5, 3, false, GF_U8);
    (void)state;
    GfFilter *filter = new_filter();
    add_entry(filter, 2, 0, 1, 0);
    assert_refused(filter, rgb, "a network of 2 channels is given 3");
    filter = new_filter();
    add_exit(filter, false, 0, 1);
    assert_refused(filter, rgb, "ends that did not begin");
    filter = new_filter();
    add_entry(filter, 1, 0, 1, 0);
    add_layer(filter, 1, 1, 1, 3, 3);
    add_exit(filter, true, 0, 1);
    assert_refused(filter, gray, "3 x 3 pixels meet 5 x 5");
    filter = new_filter();
    add_entry(filter, 3, 0, 1, 0);
    add_layer(filter, 2, 3, 1, 1, 1);
    add_exit(filter, true, 0, 1);
    assert_refused(filter, rgb, "2 maps cannot be added to a picture of 3 channels");
    filter = new_filter();
    enlarge(filter, true, 2, 2, GF_NO_REFERENCE);
    assert_refused(filter, rgb, "3 channels cannot be shuffled");
    filter = new_filter();
    enlarge(filter, false, 2, 2, 0);
    assert_refused(filter, rgb, "10 x 10 pixels cannot be cut to 5 x 5");
    filter = new_filter();
    add_layer(filter, 2, 3, 1, 1, 1);
    add_sum(filter, 0);
    filter->stages[1].label = strdup("stage 2 (add)");
    assert_refused(filter, rgb, "stage 2 (add): 2 channels meet 3");
}

/* ---- random networks ---- */

static const size_t sizes[][2] = {{1, 1},   {1, 9},   {8, 1},   {2, 3},  {5, 5},
                                  {17, 13}, {33, 31}, {70, 45}, {61, 90}};

static void test_random(void **state)
{
    static const GfSample inputs[] = {GF_U8, GF_U16, GF_F32};
    static const GfSample outputs[] = {GF_U8, GF_U16, GF_F32, GF_F64};
    floor_of_floats = 0.0;
    range_of_floats = 255.0;
    char text[400];
    for (int i = 0; i < 400; i++) {
        const size_t *size = sizes[random_below(sizeof sizes / sizeof *sizes)];
        bool alpha = random_below(3) == 0;
        size_t colours = random_below(2) ? 1 : 3;
        GfFormat format =
            format_of(size[0], size[1], colours + (alpha ? 1 : 0), alpha, inputs[random_below(3)]);
        GfPlanOptions options = gf_plan_options_default(outputs[random_below(4)]);
        options.border = borders[random_below(5)];
        options.band_bytes = random_below(2) ? 1 : 5000;
        options.gray = random_below(3) == 0 ? GF_GRAY_BT601 : GF_GRAY_NONE;
        GfFilter *filter = draft_network(&format, random_below, text, sizeof text);
        check_filter(*state, filter, text, format, options);
        gf_filter_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entry),          cmocka_unit_test(test_entry_before_layer),
        cmocka_unit_test(test_luma),           cmocka_unit_test(test_residual),
        cmocka_unit_test(test_picture),        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_shuffle),        cmocka_unit_test(test_cut_and_added),
        cmocka_unit_test(test_added_function), cmocka_unit_test(test_leaky),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
