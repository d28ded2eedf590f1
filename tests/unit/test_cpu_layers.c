/* Layers, pools, functions of one sample and banks with strides on the CPU's fast path: values
 * worked out by hand, and random filters against the float64 reference. */
#include "tests/unit/cpu_trial.h"

#include <math.h>
#include <string.h>

static GfFilter *new_filter(void)
{
    GfFilter *filter = calloc(1, sizeof *filter);
    assert_non_null(filter);
    return filter;
}

static GfLinear *add_layer(GfFilter *filter, size_t filters, size_t depth, size_t groups,
                           size_t width, size_t height)
{
    GfLinear *layer;
    assert_int_equal(gf_filter_add_layer(filter, filters, depth, groups, width, height, &layer),
                     GF_OK);
    return layer;
}

static GfPool *add_pool(GfFilter *filter, GfPoolOp op, size_t width, size_t height)
{
    GfPool *pool;
    assert_int_equal(gf_filter_add_pool(filter, op, width, height, &pool), GF_OK);
    return pool;
}

static void add_function(GfFilter *filter, GfPointwiseOp op, double a, double b)
{
    assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){op, a, b}), GF_OK);
}

/* Doubles that the filter will own. */
static double *numbers(const double *from, size_t count)
{
    double *copy = malloc(count * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, from, count * sizeof *copy);
    return copy;
}

/* ---- by hand ---- */

/* The fast path and the reference make `expected` (rows of pixels) of an f32 picture. */
static void assert_values(Backends *backends, GfFilter *filter, size_t width, size_t height,
                          size_t channels, const float *in, size_t count, const double *expected)
{
    GfFormat format = format_of(width, height, channels, false, GF_F32);
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    GfImage picture;
    assert_int_equal(gf_image_allocate(&format, &picture), GF_OK);
    for (size_t y = 0; y < height; y++)
        memcpy((unsigned char *)picture.samples + y * picture.stride, in + y * width * channels,
               gf_row_bytes(&format));
    options.whole = true;
    GfPlan *plan = make_plan(filter, "a filter", &format, &options);
    GfBackend *both[] = {backends->reference, backends->cpu};
    for (int b = 0; b < 2; b++) {
        GfImage out = run_plan(both[b], plan, &picture);
        size_t row = gf_row_samples(&out.format);
        assert_int_equal(row * out.format.height, count);
        for (size_t i = 0; i < count; i++) {
            double value = sample_at(&out, i / row, i % row), wanted = expected[i];
            bool same = isnan(wanted) ? isnan(value) : fabs(value - wanted) <= 1e-7 * fabs(wanted);
            if (!same)
                fail_msg("%s: sample %zu is %.9g, not %.9g", both[b]->name, i, value, wanted);
        }
        gf_image_free(&out);
    }
    gf_image_free(&picture);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* One column of an unrolled input of three channels and one row of filters: 14. */
static void test_one_product(void **state)
{
    static const double weights[] = {1, 1, 2, 2, 1, 1, 1, 1, 0, 1, 1, 0};
    static const float pixels[] = {1, 0, 1, 2, 2, 2, 1, 0, 0, 1, 3, 1};
    GfFilter *filter = new_filter();
    GfLinear *layer = add_layer(filter, 1, 3, 1, 2, 2);
    memcpy(layer->weights, weights, sizeof weights);
    assert_values(*state, filter, 2, 2, 3, pixels, 1, (const double[]){14});
}

/* 1 .. 7 under 1 10 100 with a hole between the taps, every second window, a zero on each side. */
static void test_stride_dilation_padding(void **state)
{
    static const float row[] = {1, 2, 3, 4, 5, 6, 7};
    static const double taps[] = {1, 10, 100}, expected[] = {420, 642, 64};
    for (int down = 0; down < 2; down++) {
        GfFilter *filter = new_filter();
        GfLinear *layer = add_layer(filter, 1, 1, 1, down ? 1 : 3, down ? 3 : 1);
        memcpy(layer->weights, taps, sizeof taps);
        GfSampling *sampling = &layer->sampling;
        *(down ? &sampling->stride_y : &sampling->stride_x) = 2;
        *(down ? &sampling->dilation_y : &sampling->dilation_x) = 2;
        *(down ? &sampling->top : &sampling->left) = 1;
        *(down ? &sampling->bottom : &sampling->right) = 1;
        assert_values(*state, filter, down ? 1 : 7, down ? 7 : 1, 1, row, 3, expected);
    }
}

/* Two groups of two channels, two maps each, scale, offset and biases. */
static void test_groups_and_bias(void **state)
{
    static const float pixel[] = {1, 2, 3, 4};
    static const double weights[] = {1, 1, 1, -1, 2, 0, 0.5, 0.25}, bias[] = {0, 1, 10, 100};
    GfFilter *filter = new_filter();
    GfLinear *layer = add_layer(filter, 4, 2, 2, 1, 1);
    memcpy(layer->weights, weights, sizeof weights);
    layer->bias = numbers(bias, 4);
    layer->scale = 2;
    layer->offset = 0.5;
    /* 2 * (3, -1, 6, 2.5) + 0.5 + bias */
    assert_values(*state, filter, 1, 1, 4, pixel, 4, (const double[]){6.5, -0.5, 22.5, 105.5});
}

static const float sixteen[] = {1, 3, 2, 1, 4, 2, 0, 5, -1, -2, 7, 7, -3, -4, 8, 6};

static void test_pools(void **state)
{
    static const double bias[] = {100};
    GfFilter *filter = new_filter();
    add_pool(filter, GF_POOL_MAX, 2, 2);
    assert_values(*state, filter, 4, 4, 1, sixteen, 4, (const double[]){4, 5, -1, 8});
    filter = new_filter();
    GfPool *pool = add_pool(filter, GF_POOL_AVERAGE, 2, 2);
    pool->bias = numbers(bias, 1);
    pool->bias_count = 1;
    assert_values(*state, filter, 4, 4, 1, sixteen, 4, (const double[]){102.5, 102, 97.5, 107});
    /* Squares of these are beyond f32. */
    static const float large[] = {3e30F, 4e30F, 0, 3e-30F, 4e-30F, 0};
    filter = new_filter();
    add_pool(filter, GF_POOL_L2, 3, 1);
    assert_values(*state, filter, 3, 2, 1, large, 2, (const double[]){5e30, 5e-30});
}

/* Padding counts as zeros of an average when asked; it is no sample of a maximum. */
static void test_pool_padding(void **state)
{
    static const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, below[] = {-5};
    static const double counted[] = {4.0 / 9, 4.0 / 9, 4.0 / 9, 4.0 / 9};
    for (int padding = 0; padding < 2; padding++) {
        GfFilter *filter = new_filter();
        GfPool *pool = add_pool(filter, GF_POOL_AVERAGE, 3, 3);
        pool->sampling.stride_x = pool->sampling.stride_y = 2;
        pool->sampling.top = pool->sampling.left = 1;
        pool->sampling.bottom = pool->sampling.right = 1;
        pool->count_padding = padding == 1;
        assert_values(*state, filter, 3, 3, 1, ones, 4,
                      padding ? counted : (const double[]){1, 1, 1, 1});
    }
    /* The windows at both ends meet nothing. */
    GfFilter *filter = new_filter();
    GfPool *pool = add_pool(filter, GF_POOL_MAX, 2, 1);
    pool->sampling.stride_x = 1;
    pool->sampling.left = pool->sampling.right = 2;
    assert_values(*state, filter, 1, 1, 1, below, 4, (const double[]){0, -5, -5, 0});
    /* A last window beyond the end. */
    filter = new_filter();
    pool = add_pool(filter, GF_POOL_AVERAGE, 2, 1);
    pool->ceil = pool->count_padding = true;
    assert_values(*state, filter, 3, 1, 1, (const float[]){2, 4, 9}, 2, (const double[]){3, 9});
}

static void test_not_a_number(void **state)
{
    static const float row[] = {1, NAN, 2, NAN, NAN, 5, 1, 2};
    GfFilter *filter = new_filter();
    add_pool(filter, GF_POOL_MAX, 2, 1);
    assert_values(*state, filter, 8, 1, 1, row, 4, (const double[]){NAN, NAN, NAN, 2});
    filter = new_filter();
    add_layer(filter, 1, 1, 1, 1, 1)->weights[0] = 1;
    add_function(filter, GF_POINTWISE_RELU, 0, 0);
    assert_values(*state, filter, 2, 1, 1, (const float[]){NAN, -1}, 2, (const double[]){NAN, 0});
}

static void test_functions(void **state)
{
    static const float row[] = {-100, -1, 0, 0.5F, 2};
    static const struct {
        GfPointwise how;
        double expected[5];
    } cases[] = {
        {{GF_POINTWISE_RELU, 0, 0}, {0, 0, 0, 0.5, 2}},
        {{GF_POINTWISE_ABS, 0, 0}, {100, 1, 0, 0.5, 2}},
        {{GF_POINTWISE_AFFINE, -2, 1}, {201, 3, 1, 0, -3}},
        {{GF_POINTWISE_CLAMP, -1.5, 0.25}, {-1.5, -1, 0, 0.25, 0.25}},
        {{GF_POINTWISE_SIGMOID, 0, 0},
         {3.72007597602083596e-44, 0.268941421369995121, 0.5, 0.622459331201854594,
          0.880797077977882444}},
        {{GF_POINTWISE_SIGMOID, 0, 1},
         {1.01122149261045e-43, 0.5, 0.731058578630004879, 0.817574476193643650,
          0.952574126822433260}},
        {{GF_POINTWISE_TANH, 0, 0},
         {-1, -0.761594155955764888, 0, 0.462117157260009758, 0.964027580075816884}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfFilter *filter = new_filter();
        add_layer(filter, 1, 1, 1, 1, 1)->weights[0] = 1;
        assert_int_equal(gf_filter_add_pointwise(filter, cases[i].how), GF_OK);
        bool tiny = cases[i].how.op == GF_POINTWISE_SIGMOID; /* -100: below the smallest normal */
        assert_values(*state, filter, tiny ? 4 : 5, 1, 1, row + tiny, tiny ? 4 : 5,
                      cases[i].expected + tiny);
    }
}

/* 512 channels of 7 x 7 taps in f32: sums of 25088 terms, of one sign and of both. */
static void test_deep_sums(void **state)
{
    for (int both = 0; both < 2; both++) {
        GfFilter *filter = new_filter();
        GfLinear *layer = add_layer(filter, 3, 512, 1, 7, 7);
        GfFormat format = format_of(11, 9, 512, false, GF_F32);
        for (size_t i = 0; i < 3 * gf_linear_taps(layer); i++)
            layer->weights[i] = random_between(both ? -1 : 0, 1);
        floor_of_floats = both ? -0.5 : 0;
        check_filter(*state, filter, "512 x 7 x 7", format, gf_plan_options_default(GF_F32));
        gf_filter_free(filter);
    }
    floor_of_floats = 0;
}

/* ---- random ---- */

static const GfBorder borders[] = {GF_BORDER_REPLICATE, GF_BORDER_REFLECT101, GF_BORDER_REFLECT,
                                   GF_BORDER_WRAP, GF_BORDER_CONSTANT};

/* What was drawn, for messages. */
typedef struct Text {
    char characters[400];
    size_t length;
} Text;

__attribute__((format(printf, 2, 3))) static void note(Text *text, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof text->characters - text->length;
    va_start(arguments, format);
    int written = vsnprintf(text->characters + text->length, room, format, arguments);
    va_end(arguments);
    text->length += written < 0 ? 0 : gf_min((size_t)written, room - 1);
}

static void draw_sampling(GfSampling *sampling, Text *text)
{
    static const GfFit fits[] = {GF_FIT_PAD, GF_FIT_PAD, GF_FIT_SAME_UPPER, GF_FIT_SAME_LOWER};
    sampling->stride_x = 1 + random_below(3);
    sampling->stride_y = 1 + random_below(3);
    sampling->dilation_x = 1 + random_below(2);
    sampling->dilation_y = 1 + random_below(2);
    sampling->fit = fits[random_below(4)];
    sampling->left = random_below(4);
    sampling->right = random_below(4);
    sampling->top = random_below(4);
    sampling->bottom = random_below(4);
    sampling->border = borders[random_below(5)];
    sampling->border_value = random_between(-2, 2);
    note(text, " /%zux%zu *%zux%zu fit %d by %zu %zu %zu %zu border %d", sampling->stride_x,
         sampling->stride_y, sampling->dilation_x, sampling->dilation_y, sampling->fit,
         sampling->left, sampling->right, sampling->top, sampling->bottom, sampling->border);
}

static void draw_weights(GfLinear *linear)
{
    size_t taps = gf_linear_taps(linear);
    for (size_t i = 0; i < linear->filters * taps; i++)
        linear->weights[i] = random_between(-1, 1) * 1.7 / sqrt((double)taps);
}

static double *draw_bias(size_t count)
{
    double *bias = malloc(count * sizeof *bias);
    assert_non_null(bias);
    for (size_t i = 0; i < count; i++)
        bias[i] = random_between(-3, 3);
    return bias;
}

/* A layer on `channels` channels; returns the maps. */
static size_t draw_layer(GfFilter *filter, size_t channels, Text *text)
{
    size_t groups = 1 + random_below(channels), width = 1 + random_below(7);
    size_t height = 1 + random_below(7);
    while (channels % groups != 0)
        groups--;
    size_t maps = groups * (1 + random_below(9));
    note(text, " conv %zux%zu %zu/%zu->%zu", width, height, channels, groups, maps);
    GfLinear *layer = add_layer(filter, maps, channels / groups, groups, width, height);
    draw_sampling(&layer->sampling, text);
    draw_weights(layer);
    if (random_below(2))
        layer->bias = draw_bias(maps);
    if (random_below(3) == 0) {
        layer->scale = 0.7;
        layer->offset = 5;
    }
    return maps;
}

static void draw_pool(GfFilter *filter, size_t channels, Text *text)
{
    static const GfPoolOp ops[] = {GF_POOL_MAX, GF_POOL_AVERAGE, GF_POOL_L2};
    GfPool *pool = add_pool(filter, ops[random_below(3)], 1 + random_below(5), 1 + random_below(5));
    note(text, " pool %d %zux%zu", pool->op, pool->width, pool->height);
    draw_sampling(&pool->sampling, text);
    pool->ceil = random_below(2);
    pool->count_padding = random_below(2);
    if (random_below(2)) {
        pool->bias = draw_bias(channels);
        pool->bias_count = channels;
    }
}

/* A bank of one kernel or of some, with factors or not, with windows of its own or the plan's. */
static void draw_bank(GfFilter *filter, Text *text)
{
    static const GfCombineOp ops[] = {GF_COMBINE_L2, GF_COMBINE_L1, GF_COMBINE_MAX, GF_COMBINE_MIN,
                                      GF_COMBINE_SUM};
    size_t filters = 1 + random_below(3), width = 1 + random_below(6), height = 1 + random_below(6);
    bool factors = random_below(2);
    GfLinear *bank = NULL;
    GfStatus status = factors ? gf_filter_add_factors(filter, filters, width, height, &bank)
                              : gf_filter_add_kernel(filter, filters, width, height, &bank);
    assert_int_equal(status, GF_OK);
    for (size_t i = 0; factors && i < filters * height; i++)
        bank->columns[i] = random_between(0.1, 1) / (double)height;
    for (size_t i = 0; factors && i < filters * width; i++)
        bank->rows[i] = random_between(0.1, 1) / (double)width;
    if (!factors)
        draw_weights(bank);
    note(text, " bank %zu %zux%zu factors %d", filters, width, height, factors);
    if (random_below(4))
        draw_sampling(&bank->sampling, text);
    if (filters > 1)
        assert_int_equal(gf_filter_add_combine(filter, (GfCombine){.op = ops[random_below(5)]}),
                         GF_OK);
}

/* Functions that bend are only exact in f32 on numbers of a size at which they do: white becomes 4.
 */
static void draw_function(GfFilter *filter, double white, Text *text)
{
    static const GfPointwise functions[] = {
        {GF_POINTWISE_RELU, 0, 0},      {GF_POINTWISE_ABS, 0, 0},  {GF_POINTWISE_AFFINE, 0.5, 3},
        {GF_POINTWISE_SIGMOID, 0, 0.5}, {GF_POINTWISE_TANH, 0, 0}, {GF_POINTWISE_CLAMP, -0.2, 1},
    };
    size_t i = random_below(sizeof functions / sizeof *functions);
    note(text, " function %d", functions[i].op);
    if (i >= 3)
        add_function(filter, GF_POINTWISE_AFFINE, white > 1 ? 4 / white : 1, 0);
    assert_int_equal(gf_filter_add_pointwise(filter, functions[i]), GF_OK);
}

/* Whether the windows of the filter fit into such a picture. */
static bool fits(const GfFilter *filter, const GfFormat *format, const GfPlanOptions *options)
{
    GfPlan *plan;
    GfStatus status = gf_plan_create(&filter, 1, format, options, &plan);
    if (status != GF_OK && status != GF_EFILTER)
        fail_msg("%s", gf_message());
    gf_plan_free(plan);
    return status == GF_OK;
}

static const size_t sizes[][2] = {{1, 1},   {1, 9},   {8, 1},   {2, 3},   {5, 5},
                                  {17, 13}, {33, 31}, {70, 45}, {261, 9}, {530, 20}};
static const GfSample outputs[] = {GF_U8, GF_U16, GF_F32, GF_F64};

/* Draws filters of `stages` stages, layers and more, until `count` of them have run. */
static void run_random(Backends *backends, size_t stages, size_t count)
{
    for (size_t done = 0; done < count;) {
        Text text = {.length = 0};
        GfFilter *filter = new_filter();
        const size_t *size = sizes[random_below(sizeof sizes / sizeof *sizes)];
        GfSample in = (GfSample)random_below(5);
        GfFormat format = format_of(size[0], size[1], 1 + random_below(8), false, in);
        GfPlanOptions options = gf_plan_options_default(outputs[random_below(4)]);
        options.border = borders[random_below(5)];
        options.border_value = 7;
        options.band_bytes = random_below(2) ? 1 : 5000;
        size_t channels = format.channels;
        for (size_t i = 0; i < stages; i++) {
            size_t kind = random_below(4);
            if (kind == 0)
                draw_bank(filter, &text);
            else if (kind == 1)
                draw_pool(filter, channels, &text);
            else
                channels = draw_layer(filter, channels, &text);
            while (random_below(2))
                draw_function(filter, gf_sample_max(in), &text);
        }
        if (channels < 100 && fits(filter, &format, &options)) {
            check_filter(backends, filter, text.characters, format, options);
            done++;
        }
        gf_filter_free(filter);
    }
}

static void test_single(void **state)
{
    run_random(*state, 1, 1500);
}

static void test_chains(void **state)
{
    run_random(*state, 2, 300);
    run_random(*state, 3, 200);
    run_random(*state, 4, 100);
}

/* Taps so far apart that none of their rows and columns are shared, and most lie outside. */
static void test_far_taps(void **state)
{
    static const size_t apart[] = {6, 300, 1 << 20};
    for (size_t i = 0; i < 3; i++)
        for (size_t b = 0; b < 5; b++) {
            Text text = {.length = 0};
            GfFilter *filter = new_filter();
            GfLinear *layer = add_layer(filter, 5, 2, 1, 3, 3), *bank;
            draw_weights(layer);
            layer->sampling.dilation_x = layer->sampling.dilation_y = apart[i];
            layer->sampling.left = layer->sampling.right = apart[i];
            layer->sampling.top = layer->sampling.bottom = apart[i];
            layer->sampling.border = borders[b];
            assert_int_equal(gf_filter_add_kernel(filter, 1, 4, 2, &bank), GF_OK);
            draw_weights(bank);
            bank->sampling.dilation_x = apart[i];
            bank->sampling.dilation_y = apart[2 - i];
            bank->sampling.stride_x = 2;
            note(&text, "far taps %zu border %d", apart[i], borders[b]);
            GfPlanOptions options = gf_plan_options_default(GF_F32);
            options.border = borders[b];
            options.band_bytes = 1;
            check_filter(*state, filter, text.characters, format_of(37, 29, 2, false, GF_U8),
                         options);
            gf_filter_free(filter);
        }
}

/* Windows much larger than the picture; a whole picture as one window. */
static void test_large_windows(void **state)
{
    static const GfPoolOp ops[] = {GF_POOL_MAX, GF_POOL_AVERAGE, GF_POOL_L2};
    for (size_t i = 0; i < 3; i++) {
        GfFilter *filter = new_filter();
        GfPool *pool = add_pool(filter, ops[i], 40, 30);
        pool->sampling.stride_x = 3;
        pool->sampling.stride_y = 1;
        pool->sampling.left = pool->sampling.right = 25;
        pool->sampling.top = pool->sampling.bottom = 20;
        check_filter(*state, filter, "pool 40x30", format_of(17, 13, 2, false, GF_U16),
                     gf_plan_options_default(GF_F32));
        gf_filter_free(filter);
        filter = new_filter();
        add_pool(filter, ops[i], 299, 301);
        check_filter(*state, filter, "pool 299x301", format_of(299, 301, 3, false, GF_U8),
                     gf_plan_options_default(GF_U8));
        gf_filter_free(filter);
    }
    GfFilter *filter = new_filter();
    GfLinear *layer = add_layer(filter, 2, 2, 1, 31, 33);
    draw_weights(layer);
    layer->sampling.left = layer->sampling.right = 15;
    layer->sampling.top = layer->sampling.bottom = 16;
    layer->sampling.border = GF_BORDER_REFLECT101;
    check_filter(*state, filter, "conv 31x33", format_of(3, 4, 2, false, GF_U8),
                 gf_plan_options_default(GF_F32));
    gf_filter_free(filter);
}

/* Weighted pooling of pictures with opacity, which is premultiplied, copied or filtered. */
static void test_banks_with_opacity(void **state)
{
    for (int alpha = GF_ALPHA_AUTO; alpha <= GF_ALPHA_FILTER; alpha++)
        for (size_t stride = 1; stride < 4; stride++)
            for (size_t channels = 2; channels < 5; channels += 2) {
                GfFilter *filter = new_filter();
                GfLinear *bank;
                assert_int_equal(gf_filter_add_kernel(filter, 1, 3, 4, &bank), GF_OK);
                for (size_t i = 0; i < 12; i++)
                    bank->weights[i] = (double)(i + 1) / 78;
                bank->sampling.stride_x = bank->sampling.stride_y = stride;
                bank->sampling.dilation_x = 2;
                add_function(filter, GF_POINTWISE_AFFINE, 0.8, 9);
                GfPlanOptions options = gf_plan_options_default(GF_U8);
                options.alpha = (GfAlpha)alpha;
                options.range = GF_RANGE_OFFSET;
                check_filter(*state, filter, "a bank with opacity",
                             format_of(61, 40, channels, true, GF_U16), options);
                gf_filter_free(filter);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep_sums),       cmocka_unit_test(test_far_taps),
        cmocka_unit_test(test_large_windows),   cmocka_unit_test(test_banks_with_opacity),
        cmocka_unit_test(test_one_product),     cmocka_unit_test(test_stride_dilation_padding),
        cmocka_unit_test(test_groups_and_bias), cmocka_unit_test(test_pools),
        cmocka_unit_test(test_pool_padding),    cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_functions),       cmocka_unit_test(test_single),
        cmocka_unit_test(test_chains),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
