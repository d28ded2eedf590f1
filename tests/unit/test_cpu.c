/* The fast path of the CPU against the float64 reference, by the exactness rule of
 * filters/backend.h, and against values worked out by hand. Random pictures, every border, sizes
 * from 1 x 1 up, kernels wider than the picture; outputs are poisoned and fenced. */
#include "tests/unit/cpu_trial.h"

#include <string.h>

#include "cpu/box.h"
#include "cpu/chain.h"
#include "cpu/integers.h"
#include "filters/grammar.h"

static GfFilter *parse(const char *text)
{
    GfFilter *filter;
    if (gf_filter_parse(text, &filter) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return filter;
}

static void check(Backends *backends, const char *text, GfFormat format, GfPlanOptions options)
{
    GfFilter *filter = parse(text);
    check_filter(backends, filter, text, format, options);
    gf_filter_free(filter);
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
    "shift:x=30:y=-2",
    "shift:x=-0.3:y=6.75",
    "disk:radius=3.3",
    "motion:length=8.5:angle=-60",
    "highboost:boost=1.7:size=5",
    "farid",
    "roberts",
    "roberts:y",
    "kirsch",
    "compass:scale=-0.4",
    "gabor:wavelength=5:angle=20",
    "laplacian:diagonal7:scale=0.01",
    "dog:sigma1=0.6:sigma2=1.1",
    "edge:radius=2",
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
                if (out == GF_F16) /* never an output */
                    continue;
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
        range_of_floats = deep ? 65535.0 : 255.0;
        for (size_t f = 0; f < sizeof steep / sizeof *steep; f++)
            check(*state, steep[f], format_of(301, 203, 1, false, GF_F32),
                  gf_plan_options_default(deep ? GF_U16 : GF_U8));
        for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
            check(*state, filters[f], format_of(61, 53, 3, false, GF_F32),
                  gf_plan_options_default(deep ? GF_U16 : GF_U8));
    }
    range_of_floats = 1.0;
}

static void test_ranges_alpha_flip(void **state)
{
    double table[] = {0.0, 0.0, 0.01, 0.3, 1.0};
    GfLight lights[] = {gf_light_srgb(), gf_light_power(2.2), gf_light_power(1.8)};
    lights[2].curves[0] = lights[0].curves[0];
    lights[2].curves[1] = (GfCurve){.table = table, .points = 5};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++)
        for (int range = GF_RANGE_AUTO; range <= GF_RANGE_OFFSET; range++)
            for (int alpha = GF_ALPHA_AUTO; alpha <= GF_ALPHA_FILTER; alpha++)
                for (int deep = 0; deep < 2; deep++) {
                    GfSample sample = deep ? GF_U16 : GF_U8;
                    GfPlanOptions options = gf_plan_options_default(deep ? GF_U8 : GF_U16);
                    options.range = (GfRange)range;
                    options.alpha = (GfAlpha)alpha;
                    options.flip = range % 2 == 1;
                    options.gray = (GfGray)((size_t)(range + alpha) % 3);
                    if ((f + (size_t)range) % 3 == 0)
                        options.light = &lights[f % 3];
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

/* Columns of 48 taps and more, which are summed for several rows at once. */
static void test_tall_kernels(void **state)
{
    static const char *const tall[] = {
        "gaussian:sigma=6",         "gaussian:sigma_x=0.6:sigma_y=20",
        "unsharp:sigma=7:amount=3", "dog:sigma1=1.3:sigma2=9",
        "shift:x=-1.3:y=-70.4",     "gaussian:sigma=7,sobel"};
    for (size_t f = 0; f < sizeof tall / sizeof *tall; f++)
        for (size_t b = 0; b < sizeof borders / sizeof *borders; b++)
            for (size_t in = GF_U8; in <= GF_F64; in++) {
                const size_t channels = 1 + (f + b + in) % 4;
                GfPlanOptions options = gf_plan_options_default(in == GF_U16 ? GF_U16
                                                                : f % 2      ? GF_F32
                                                                             : GF_U8);
                options.border = borders[b];
                options.border_value = 0.3;
                options.alpha = b % 2 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
                options.band_bytes = 1 + 500 * (f % 2);
                check(*state, tall[f],
                      format_of(2 + 19 * (f % 3), 1 + 61 * (b % 3), channels, channels % 2 == 0,
                                (GfSample)in),
                      options);
            }
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.border = GF_BORDER_VALID;
    options.alpha = GF_ALPHA_COPY;
    for (size_t channels = 1; channels <= 4; channels++)
        check(*state, tall[0], format_of(83, 91, channels, channels % 2 == 0, GF_U8), options);
}

/* Columns beyond the sides are as others on the picture, which may be narrower than the kernel. */
static void test_tall_kernels_on_narrow_pictures(void **state)
{
    static const size_t widths[] = {1, 2, 3, 4, 36, 37, 72, 73, 74, 151};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t b = 0; b < sizeof borders / sizeof *borders; b++)
            for (size_t channels = 1; channels <= 3; channels += 2) {
                GfPlanOptions options = gf_plan_options_default(GF_F32);
                options.border = borders[b];
                options.border_value = 0.3;
                check(*state, "gaussian:sigma=9", format_of(widths[i], 9, channels, false, GF_F32),
                      options);
            }
}

/* Those and others on rows so long that they are cut into strips, of which the last is narrower. Of
 * the first there are rows for several threads, too. */
static void test_long_rows(void **state)
{
    static const char *const tall[] = {
        "gaussian:sigma_x=0.6:sigma_y=6", "shift:x=-1.3:y=-50.4", "gaussian:sigma_x=2:sigma_y=6",
        "gaussian:sigma_x=0.6:sigma_y=5", "gaussian:sigma_x=0.6:sigma_y=4,sobel"};
    for (size_t f = 0; f < sizeof tall / sizeof *tall; f++)
        for (size_t b = 0; b < sizeof borders / sizeof *borders; b++) {
            const size_t channels = 1 + (f + b) % 4, width = 11003 / channels;
            const GfSample sample = b % 2 ? GF_F32 : GF_U8;
            GfPlanOptions options = gf_plan_options_default(sample);
            options.border = borders[b];
            options.border_value = 0.3;
            options.alpha = f % 2 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
            const size_t height = f ? 2 : 29;
            check(*state, tall[f], format_of(width, height, channels, channels % 2 == 0, sample),
                  options);
        }
    GfPlanOptions options = gf_plan_options_default(GF_U16);
    options.border = GF_BORDER_VALID;
    check(*state, tall[0], format_of(11003, 50, 1, false, GF_U16), options);
}

/* Chains whose columns are cut: whole rows between their steps would take more than 16 MiB. What is
 * computed at once does not end where kernels' reach does. */
static void test_chains_of_long_rows(void **state)
{
    static const char sides[] = "gaussian:sigma_x=0.6:sigma_y=1,laplacian,sobel";
    static const struct {
        const char *text;
        size_t width, channels;
        GfBorder border;
    } chains[] = {{"sobel,gaussian:sigma_x=0.3:sigma_y=6", 36003, 1, GF_BORDER_CONSTANT},
                  {sides, 18003, 1, GF_BORDER_REFLECT101},
                  {sides, 18003, 1, GF_BORDER_REFLECT},
                  {sides, 18003, 1, GF_BORDER_VALID},
                  {"gaussian:sigma_x=0.6:sigma_y=1", 9003, 4, GF_BORDER_REPLICATE}};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        const size_t channels = chains[i].channels;
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        options.border = chains[i].border;
        options.border_value = 200;
        check(*state, chains[i].text,
              format_of(chains[i].width, 60, channels, channels == 4, GF_U8), options);
    }
}

/* Kernels whose taps are all the same, by running sums, also in several pieces of a row, and in
 * f64. */
static void test_boxes(void **state)
{
    static const char *const boxes[] = {"box:size=9",
                                        "box:width=31:height=12",
                                        "box:width=3:height=64",
                                        "box:width=70:height=2",
                                        "box:width=301:height=3",
                                        "box:size=30,1x1/2+7: -3"};
    static const size_t wide[][2] = {{1, 1}, {40, 33}, {1030, 9}, {8, 90}};
    size_t by_sums = 0, trials = 0;
    for (size_t f = 0; f < sizeof boxes / sizeof *boxes; f++)
        for (size_t s = 0; s < sizeof wide / sizeof *wide; s++)
            for (size_t channels = 1; channels <= 4; channels++, trials++) {
                bool deep = (f + s + channels) % 3 == 0;
                GfFilter *filter = parse(boxes[f]);
                GfPlanOptions options = gf_plan_options_default(trials % 2 ? GF_F32
                                                                : deep     ? GF_U16
                                                                           : GF_U8);
                GfFormat format = format_of(wide[s][0], wide[s][1], channels, channels % 2 == 0,
                                            deep ? GF_U16 : GF_U8);
                options.border = borders[trials % 5];
                options.border_value = 200;
                options.band_bytes = 1 + trials % 3 * 400;
                options.alpha = trials % 2 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
                GfPlan *plan = make_plan(filter, boxes[f], &format, &options);
                by_sums += gf_box_pays(&plan->pipelines[0], 0);
                gf_plan_free(plan);
                check_filter(*state, filter, boxes[f], format, options);
                gf_filter_free(filter);
            }
    assert_int_equal(by_sums, trials);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.border = GF_BORDER_VALID;
    check(*state, boxes[1], format_of(83, 91, 3, false, GF_U8), options);
}

/* The same of numbers that are rounded, by blocks of rows: also in f64, of what a step before made,
 * of integers beside a border that is none, and in several pieces of a row. */
static void test_boxes_of_floats(void **state)
{
    static const char *const boxes[] = {"box:size=31",
                                        "box:width=64:height=5",
                                        "box:width=2:height=70",
                                        "box:width=24:height=29,1x1/2+7: -3",
                                        "box:width=101:height=7",
                                        "box:size=24,box:width=27:height=5"};
    static const size_t wide[][2] = {{1, 1}, {40, 33}, {1300, 5}, {8, 150}};
    size_t by_blocks = 0, trials = 0;
    for (size_t f = 0; f < sizeof boxes / sizeof *boxes; f++)
        for (size_t s = 0; s < sizeof wide / sizeof *wide; s++)
            for (size_t channels = 1 + (f + s) % 2; channels <= 4; channels += 2, trials++) {
                const GfSample samples[] = {GF_F32, GF_F64, GF_U8};
                GfFilter *filter = parse(boxes[f]);
                GfPlanOptions options = gf_plan_options_default(trials % 5 ? GF_F32 : GF_F64);
                GfFormat format = format_of(wide[s][0], wide[s][1], channels, channels % 2 == 0,
                                            samples[(f + s + channels) % 3]);
                options.border = borders[trials % 5];
                options.border_value = 99.5;
                options.band_bytes = 1 + trials % 3 * 400;
                options.alpha = trials % 2 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
                GfPlan *plan = make_plan(filter, boxes[f], &format, &options);
                by_blocks += gf_box_pays(&plan->pipelines[0], 0);
                gf_plan_free(plan);
                check_filter(*state, filter, boxes[f], format, options);
                gf_filter_free(filter);
            }
    assert_int_equal(by_blocks, trials);
}

/* Small integers on bytes: sums of 16 bits, with a sign or without, also in several pieces of a
 * row; and what is not such. */
static void test_integers(void **state)
{
    static const char *const small[] = {"box:size=3",
                                        "box:width=5:height=2",
                                        "sobel",
                                        "scharr:direction=x",
                                        "binomial:size=5",
                                        "sharpen",
                                        "emboss",
                                        "3x3/7+40: 1 2 -3 4 0 5 -6 7 8",
                                        "5x2/8: 0.2 0.4 -0.6 0 1 2 0 0 -0.2 3",
                                        "4x1: 5 -6 7 3,box:size=3"};
    static const char *const others[] = {"gaussian:sigma=1", "box:size=9", "binomial:size=7",
                                         "3x1: 1 128 1", "2x1: 1 0.3333"};
    static const size_t wide[][2] = {{1, 1}, {2, 7}, {90, 11}, {2100, 3}};
    size_t short_sums = 0, trials = 0;
    for (size_t f = 0; f < sizeof small / sizeof *small; f++)
        for (size_t s = 0; s < sizeof wide / sizeof *wide; s++)
            for (size_t channels = 1; channels <= 4; channels++, trials++) {
                const GfSample outs[] = {GF_U8, GF_U8, GF_U16, GF_F32};
                GfFilter *filter = parse(small[f]);
                GfFormat format =
                    format_of(wide[s][0], wide[s][1], channels, channels % 2 == 0, GF_U8);
                GfPlanOptions options = gf_plan_options_default(outs[(f + s + channels) % 4]);
                options.border = borders[trials % 5];
                options.border_value = 200;
                options.band_bytes = 1 + trials % 3 * 400;
                options.range = (GfRange)(trials % 3);
                options.alpha = GF_ALPHA_FILTER;
                GfPlan *plan = make_plan(filter, small[f], &format, &options);
                short_sums += gf_integers_pay(&plan->pipelines[0], 0);
                gf_plan_free(plan);
                check_filter(*state, filter, small[f], format, options);
                gf_filter_free(filter);
            }
    assert_int_equal(short_sums, trials);
    for (size_t f = 0; f < sizeof others / sizeof *others; f++) {
        GfFilter *filter = parse(others[f]);
        GfFormat format = format_of(30, 30, 1, false, GF_U8);
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        GfPlan *plan = make_plan(filter, others[f], &format, &options);
        assert_false(gf_integers_pay(&plan->pipelines[0], 0));
        gf_plan_free(plan);
        gf_filter_free(filter);
    }
}

/* A number that is none reaches as far as the taps do, and no row farther. */
static void check_no_numbers(const Backends *backends, const char *text)
{
    const float none[] = {NAN, INFINITY};
    GfFilter *filter = parse(text); /* 28 pixels to each side */
    GfFormat format = format_of(3, 150, 1, false, GF_F32);
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    GfPlan *plan = make_plan(filter, "no numbers", &format, &options);
    for (size_t i = 0; i < 2; i++)
        for (size_t at = 60; at < 68; at++) {
            GfImage in = random_picture(format);
            ((float *)(void *)((unsigned char *)in.samples + at * in.stride))[1] = none[i];
            GfImage out = run_plan(backends->cpu, plan, &in);
            for (size_t y = 0; y < 150; y++)
                for (size_t x = 0; x < 3; x++)
                    assert_int_equal(isfinite(sample_at(&out, y, x)), y + 28 < at || y > at + 28);
            gf_image_free(&out);
            gf_image_free(&in);
        }
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void test_tall_kernels_on_no_numbers(void **state)
{
    check_no_numbers(*state, "gaussian:sigma=7");
    check_no_numbers(*state, "box:size=57");
}

/* A row and a column as two steps are what they are as one. */
static void test_kernels_in_two_steps(void **state)
{
    static const char *const split[] = {"gaussian:sigma=1.7",
                                        "shift:x=2.3:y=-1.4",
                                        "sobel:x",
                                        "5x3/8: 1 4 6 4 1 -2 -8 -12 -8 -2 3 12 18 12 3",
                                        "gaussian:sigma=2,scharr",
                                        "box:size=4,unsharp:sigma=1"};
    for (size_t f = 0; f < sizeof split / sizeof *split; f++)
        for (int border = GF_BORDER_REPLICATE; border <= GF_BORDER_VALID; border++)
            for (size_t channels = 1; channels <= 4; channels++) {
                GfPlanOptions options = gf_plan_options_default(f % 2 ? GF_U8 : GF_U16);
                options.border = (GfBorder)border;
                options.border_value = 99;
                options.tall = 2;
                options.flip = channels % 2;
                options.alpha = channels % 3 ? GF_ALPHA_COPY : GF_ALPHA_AUTO;
                options.band_bytes = 1;
                check(*state, split[f],
                      format_of(23, 31, channels, channels % 2 == 0, (GfSample)(f % 2)), options);
            }
}

static void assert_row(Backends *backends, const char *text, GfBorder border, GfRange range,
                       const unsigned char *in, size_t width, size_t height,
                       const unsigned char *expected)
{
    GfFormat format = format_of(width, height, 1, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfFilter *filter = parse(text);
    GfImage picture;
    options.border = border;
    options.border_value = 100;
    options.range = range;
    assert_int_equal(gf_image_allocate(&format, &picture), GF_OK);
    for (size_t y = 0; y < height; y++)
        memcpy((unsigned char *)picture.samples + y * picture.stride, in + y * width, width);
    GfPlan *plan = make_plan(filter, text, &format, &options);
    GfBackend *both[] = {backends->cpu, backends->reference};
    for (int b = 0; b < 2; b++) {
        GfImage out = run_plan(both[b], plan, &picture);
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

/* A thread's memory follows from the kernel, not from the width of the picture; what lies between
 * steps all threads have together, and in a run of a band's rows it keeps within 16 MiB. */
static void test_memory_of_wide_rows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t most;
        bool deep;
    } cases[] = {{"sobel", 1 << 19, false},
                 {"gabor:wavelength=40", 1 << 20, true}, /* 271 rows */
                 {"disk:radius=40", 7 << 18, true},
                 {"avgpool:size=200", 56 << 20, false}, /* a row of windows, not four */
                 {"gaussian:sigma=10,sobel", 1 << 20, true},
                 {"sobel,gaussian:sigma=10", 1 << 20, true}};
    const GfFormat format = format_of(1 << 15, 2000, 1, false, GF_U8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfFilter *filter = parse(cases[i].text);
        GfPlanOptions options = gf_plan_options_default(GF_U8);
        GfPlan *plan = make_plan(filter, cases[i].text, &format, &options);
        GfChain *chain;
        assert_int_equal(gf_chain_create(&plan->pipelines[0], gf_row_set(), 0, &chain), GF_OK);
        assert_true(gf_chain_scratch(chain) <= cases[i].most);
        assert_int_equal(gf_chain_is_deep(chain), cases[i].deep);
        size_t rows = gf_min(plan->band_rows, gf_chain_most_rows(chain));
        assert_true(gf_chain_between(chain, rows) <= 16 << 20);
        gf_chain_free(chain);
        gf_plan_free(plan);
        gf_filter_free(filter);
    }
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
        cmocka_unit_test(test_kernels_in_two_steps),
        cmocka_unit_test(test_tall_kernels),
        cmocka_unit_test(test_tall_kernels_on_narrow_pictures),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_chains_of_long_rows),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_boxes_of_floats),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_tall_kernels_on_no_numbers),
        cmocka_unit_test(test_memory_of_wide_rows),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
