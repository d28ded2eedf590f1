/* A network's entry and its first layer as one step: multiplied out by plain loops, it is what the
 * reference makes of the two. */
#include "gpu/enter.h"

#include <math.h>
#include <string.h>

#include "filters/border.h"
#include "tests/unit/cpu_trial.h"

enum { WIDTH = 7, HEIGHT = 6, MAPS = 4, SIDE = 3 };

typedef struct Lie {
    size_t colours, channels; /* of the picture, of the network */
    GfBorder border;
    double value;
    size_t stride, planes;
} Lie;

/* Two rows and columns above and left of the picture, one below and right of it. */
static GfFilter *make_network(const Lie *lie)
{
    GfEntry *entry;
    GfLinear *layer;
    GfFilter *filter = calloc(1, sizeof *filter);
    const size_t depth = lie->channels + lie->planes;
    assert_non_null(filter);
    assert_int_equal(gf_filter_add_entry(filter, lie->channels, 0, 1, lie->planes, &entry), GF_OK);
    entry->mean = random_numbers(lie->channels, 0.3, 0.6);
    entry->deviation = random_numbers(lie->channels, 0.2, 0.5);
    for (size_t i = 0; i < lie->planes; i++)
        entry->planes[i] = 0.75;
    assert_int_equal(gf_filter_add_layer(filter, MAPS, depth, 1, SIDE, SIDE, &layer), GF_OK);
    layer->bias = random_numbers(MAPS, -1, 1);
    layer->sampling = gf_sampling_plain();
    layer->sampling.fit = GF_FIT_PAD;
    layer->sampling.left = layer->sampling.top = 2;
    layer->sampling.right = layer->sampling.bottom = 1;
    layer->sampling.border = lie->border;
    layer->sampling.border_value = lie->value;
    layer->sampling.stride_x = layer->sampling.stride_y = lie->stride;
    for (size_t i = 0; i < MAPS * depth * SIDE * SIDE; i++)
        layer->weights[i] = random_between(-0.2, 0.2);
    return filter;
}

/* What bias has too much for tap (kx, ky). */
static double too_much(const GfStep *step, size_t f, size_t kx, size_t ky)
{
    const size_t pitch = SIDE + 1;
    if (!step->outside)
        return 0.0;
    const double *at = step->outside + (f * (SIDE + 1) + ky) * pitch + kx;
    return at[pitch + 1] - at[pitch] - at[1] + at[0];
}

static double multiply_out(const GfStep *step, const GfImage *picture, size_t x, size_t y, size_t f)
{
    double sum = step->bias[f];
    for (size_t k = 0; k < SIDE * SIDE; k++) {
        ptrdiff_t in_x = (ptrdiff_t)(x * step->stride_x + k % SIDE) + step->origin_x;
        ptrdiff_t in_y = (ptrdiff_t)(y * step->stride_y + k / SIDE) + step->origin_y;
        in_x = (ptrdiff_t)gf_border_index(in_x, WIDTH, step->border);
        in_y = (ptrdiff_t)gf_border_index(in_y, HEIGHT, step->border);
        if (in_x < 0 || in_y < 0)
            sum -= too_much(step, f, k % SIDE, k / SIDE);
        for (size_t c = 0; c < step->linear.depth && in_x >= 0 && in_y >= 0; c++)
            sum += step->linear.weights[(f * step->linear.depth + c) * SIDE * SIDE + k] *
                   (sample_at(picture, (size_t)in_y, (size_t)in_x * step->channels + c) -
                    step->centres[c]);
    }
    return sum;
}

/* The centre is the sample nearest to the mean, and the bias what the layer's own is but for what
 * planes and the rest of the means, less than a step of samples each, have. */
static void check_centres(const GfStep *step, const Lie *lie, const GfEntry *entry,
                          const GfLinear *layer)
{
    double most = 0.0, mean = 0.0;
    for (size_t c = 0; c < lie->channels; c++)
        mean += entry->mean[c] / (double)lie->channels;
    for (size_t c = 0; c < lie->colours; c++)
        assert_true(step->centres[c] ==
                    round(255.0 * (lie->colours == lie->channels ? entry->mean[c] : mean)));
    for (size_t c = 0; c < lie->channels; c++)
        most =
            fmax(most, (lie->colours == lie->channels ? 0.5 : 40.0) / 255.0 / entry->deviation[c]);
    most = most * (double)lie->channels + 0.75 * (double)lie->planes;
    for (size_t f = 0; f < MAPS; f++)
        assert_true(fabs(step->bias[f] - layer->bias[f]) <= most * 0.2 * SIDE * SIDE);
}

static void assert_one(Backends *backends, const Lie *lie)
{
    GfFilter *filter = make_network(lie);
    GfPlanOptions options = gf_plan_options_default(GF_F32);
    GfFormat format = format_of(WIDTH, HEIGHT, lie->colours, false, GF_U8);
    GfImage picture = random_picture(format);
    GfEntered entered;
    options.whole = true;
    GfPlan *plan = make_plan(filter, "a network", &format, &options);
    const GfStep *steps = plan->pipelines[0].steps;
    assert_int_equal(plan->pipelines[0].count, 2);
    assert_true(gf_can_enter(&steps[0], &steps[1]));
    assert_int_equal(gf_enter(&steps[0], &steps[1], &entered), GF_OK);
    assert_int_equal(entered.step.linear.depth, lie->colours);
    check_centres(&entered.step, lie, &filter->stages[0].entry, &filter->stages[1].linear);
    GfImage out = run_plan(backends->reference, plan, &picture);
    assert_int_equal(out.format.width, (WIDTH + 3 - SIDE) / lie->stride + 1);
    for (size_t y = 0; y < out.format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&out.format); i++)
            assert_true(fabs(multiply_out(&entered.step, &picture, i / MAPS, y, i % MAPS) -
                             sample_at(&out, y, i)) <= 1e-6);
    gf_entered_release(&entered);
    gf_image_free(&out);
    gf_image_free(&picture);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void test_one_step(void **state)
{
    static const Lie lies[] = {
        {3, 3, GF_BORDER_CONSTANT, 0, 1, 0},     {3, 3, GF_BORDER_CONSTANT, 0.5, 2, 1},
        {1, 3, GF_BORDER_CONSTANT, -0.25, 1, 0}, {1, 1, GF_BORDER_CONSTANT, 0, 4, 2},
        {3, 3, GF_BORDER_REPLICATE, 0, 2, 1},    {1, 1, GF_BORDER_WRAP, 0, 1, 0}};
    for (size_t turn = 0; turn < 40; turn++)
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
            assert_one(*state, &lies[i]);
}

/* More channels than the network has would be read for nothing, and floats lose by it. */
static void test_two_steps(void **state)
{
    static const GfSample samples[] = {GF_U8, GF_U8, GF_U16, GF_F32};
    const Lie lie = {3, 3, GF_BORDER_CONSTANT, 0, 1, 0}, luma = {3, 1, GF_BORDER_CONSTANT, 0, 1, 0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        GfFilter *filter = make_network(i == 1 ? &luma : &lie);
        GfPlanOptions options = gf_plan_options_default(GF_F32);
        GfFormat format = format_of(WIDTH, HEIGHT, 3, false, samples[i]);
        GfPlan *plan = make_plan(filter, "a network", &format, &options);
        const GfStep *steps = plan->pipelines[0].steps;
        assert_int_equal(gf_can_enter(&steps[0], &steps[1]), i == 0);
        assert_false(gf_can_enter(&steps[1], &steps[0]));
        gf_plan_free(plan);
        gf_filter_free(filter);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_step),
                                       cmocka_unit_test(test_two_steps)};
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
