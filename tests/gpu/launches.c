/* Launchers on memory laid out in every way, minibatches, and each method's templates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/filters.h"
#include "tests/gpu/groups.h"
#include "tests/gpu/report.h"
#include "tests/gpu/trial.h"

static Trial trial_of(const char *what, GfFormat format, GfPlanOptions options, GfFilter *filter)
{
    Case c = {.format = format, .options = options, .filters = {filter}, .count = 1, .what = what};
    return (Trial){.c = c, .count = 1};
}

static Lay random_lay(void)
{
    return (Lay)below(LAYS);
}

/* Between rows that begin where vectors do, whatever their width. */
static size_t aligned_gap(const GfFormat *format)
{
    return (16 - gf_row_samples(format) % 16) % 16;
}

/* Rows at every distance from what vectors are aligned to. */
void test_strides(void)
{
    for (size_t i = 0; i < (quick ? 2 : 120); i++) {
        GfSample sample = samples[i % SAMPLES];
        GfFormat format = format_of(20 + below(30), 9, 1 + i / 3 % 4, sample);
        size_t side = 1 + 2 * below(4);
        GfFilter *filter = kernel(1, side, side, INTEGER);
        GfPlanOptions options = options_of(sample, (GfBorder)(i % (BORDERS - 1)));
        options.alpha = i % 5 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
        Trial trial = trial_of("strides", format, options, filter);
        trial.shift = below(5);
        /* Now and then rows that are aligned but for where they begin. */
        trial.gap = i % 2 ? below(4) : (4 - gf_row_samples(&format) % 4) % 4;
        run_trial(&trial, filter);
    }
}

/* Every kind of sample with every small kernel: banks and layers. */
void test_families(void)
{
    static const GfSample kinds[][2] = {
        {GF_U8, GF_U8}, {GF_U16, GF_U16}, {GF_F16, GF_F32}, {GF_F32, GF_F32}, {GF_F64, GF_F64}};
    for (size_t i = 0; i < 5; i++)
        for (size_t side = 1; side <= (quick ? 7 : 17); side += 2)
            for (size_t j = 0; j < 4; j++) {
                if (quick && (side / 2 + i + j) % 4 != 0)
                    continue;
                GfFilter *filter = new_filter();
                GfFormat format = format_of(71, 13, j < 2 ? 1 : 3, kinds[i][0]);
                GfPlanOptions options = options_of(kinds[i][0], (GfBorder)(j % 2 ? 4 : 0));
                options.sample = kinds[i][1];
                if (j % 2)
                    add_layer(filter, 5, format.channels, 1, side, side)->sampling.fit =
                        GF_FIT_SAME_UPPER;
                else
                    add_kernel(filter, 1, side, side, POSITIVE);
                Trial trial = trial_of("families", format, options, filter);
                run_trial(&trial, filter);
            }
}

static const GfSample kinds[][2] = {{GF_F32, GF_F32}, {GF_U8, GF_U8},   {GF_U16, GF_U16},
                                    {GF_F16, GF_F32}, {GF_F32, GF_F32}, {GF_F64, GF_F32}};

/* Pictures and memory for a layer or bank of that kind of samples. */
static Trial random_trial(GfFormat format, const GfSample *kind, GfFilter *filter)
{
    GfPlanOptions options = options_of(kind[0], (GfBorder)below(BORDERS));
    options.sample = kind[1];
    options.alpha = below(2) ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
    Trial trial = trial_of("minibatches", format, options, filter);
    trial.count = 1 + below(5);
    trial.lay_in = random_lay();
    trial.lay_out = random_lay();
    trial.gap = below(4);
    trial.shift = below(4);
    trial.wide = below(6) == 0;
    return trial;
}

/* Layers on several pictures at once, in planes and interleaved, with all strides and borders. */
static void random_minibatch(size_t turn)
{
    const GfSample *kind = kinds[turn % 6];
    size_t groups = below(3) ? 1 : 1 + below(3), depth = 1 + below(below(3) ? 6 : 20);
    size_t maps = 1 + below(below(3) ? 8 : 70), side = 1 + below(6), other = 1 + below(6);
    bool first = below(3) == 0; /* of a network: one channel, windows and taps side by side */
    if (first)
        groups = depth = 1;
    GfFormat format = format_of(1 + below(40), 1 + below(24), groups * depth, kind[0]);
    GfFilter *filter = new_filter();
    GfLinear *linear =
        add_layer(filter, gf_min(maps, 1 + 40 / depth) * groups, depth, groups, side, other);
    linear->sampling.stride_x = first ? 1 : 1 + below(3);
    linear->sampling.stride_y = first ? 1 : 1 + below(3);
    linear->sampling.dilation_x = first ? 1 : 1 + below(2);
    linear->sampling.fit = (GfFit)below(4);
    linear->sampling.left = below(side);
    linear->sampling.bottom = below(other);
    linear->sampling.border = (GfBorder)below(GF_BORDER_VALID);
    if (below(2))
        add_bias(linear, gf_sample_max(kind[0]) / 4.0);
    if (below(2))
        add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    format.has_alpha = false;
    Trial trial = random_trial(format, kind, filter);
    run_trial(&trial, filter);
}

/* Single taps on many channels, and as many maps as are several runs of a product. */
static void random_pixel_minibatch(size_t turn)
{
    static const GfSample kind[] = {GF_F32, GF_F32};
    const size_t depth = 5 + below(turn % 4 ? 70 : 280), stride = below(4) ? 1 : 2;
    const size_t width = 1 + below(12);
    GfFormat format =
        format_of(turn % 2 ? width : (width + 3) / 4 * 4, 1 + below(12), depth, kind[0]);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + below(turn % 3 ? 30 : 300), depth, 1, 1, 1);
    linear->sampling.stride_x = linear->sampling.stride_y = stride;
    if (below(2))
        add_bias(linear, 0.25);
    format.has_alpha = false;
    Trial trial = random_trial(format, kind, filter);
    trial.c.what = "pixels of minibatches";
    trial.gap *= turn % 2;
    trial.shift *= turn % 2;
    run_trial(&trial, filter);
}

/* The first layer of a network, its function and the pool of 2 x 2 after it in one launch. Pictures
 * are large enough for a window. */
static size_t random_pooled_minibatch(size_t turn)
{
    const GfSample *kind = kinds[turn % 5];
    size_t width = 1 + turn / 5 % 7, height = below(3) ? width : 1 + below(7);
    size_t across = below(4) ? 2 + below(70) : 2, down = below(4) ? 2 + below(24) : 2;
    double white = gf_sample_max(kind[0]);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + below(below(3) ? 9 : 40), 1, 1, width, height);
    linear->sampling.fit = GF_FIT_PAD;
    linear->sampling.left = below(width);
    linear->sampling.bottom = below(height);
    linear->sampling.border = (GfBorder)below(GF_BORDER_VALID);
    add_bias(linear, white / 4.0);
    if (below(4))
        add_function(filter, below(3) ? GF_POINTWISE_RELU : GF_POINTWISE_SIGMOID, 0.0,
                     -white / 2.0);
    add_pool(filter, below(2) ? GF_POOL_MAX : GF_POOL_AVERAGE, 2, 2);
    GfFormat format = format_of(across + width - 1 - linear->sampling.left,
                                down + height - 1 - linear->sampling.bottom, 1, kind[0]);
    Trial trial = random_trial(format, kind, filter);
    trial.c.what = "pooled minibatches";
    return run_trial(&trial, filter);
}

/* A picture of noise in which some samples are no numbers. */
static Block strange_picture(const GfFormat *format)
{
    Block block = random_picture(format);
    for (size_t i = 0; i < 6; i++) {
        const float strange = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
        memcpy(block.rows + below(format->height) * block.stride +
                   below(format->width) * sizeof strange,
               &strange, sizeof strange);
    }
    return block;
}

/* A layer, its pool (row is NULL), or both, in so many launches by a tiling. */
static Block launch_alone(const GfAlgorithm *row, const GfStep *step, const GfStep *pool,
                          const GfFormat *in, const Block *picture, const GfFormat *out,
                          size_t cuts, size_t tiling)
{
    const Way way = {.lay_in = LAY_INTERLEAVED, .cuts = cuts, .tiling = tiling};
    const Inputs inputs = {*in, 1, picture};
    Array array = make_array(out, 1, LAY_INTERLEAVED, 0, 0, POISON);
    Stand *stand = make_stand(row, step, pool, false);
    report(launch_stand(stand, &inputs, &way, &array), "pooled apart", "refused");
    Block made = make_picture(out);
    read_array(&array, 0, &made);
    free_stand(stand);
    free(array.memory);
    return made;
}

/* Bit for bit, but that no number is as good as any other that is none. */
static bool same_numbers(const GfFormat *format, const Block *a, const Block *b)
{
    const size_t count = format->width * format->channels;
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = 0; i < count; i++) {
            float v, w;
            memcpy(&v, a->rows + y * a->stride + i * sizeof v, sizeof v);
            memcpy(&w, b->rows + y * b->stride + i * sizeof w, sizeof w);
            if (memcmp(&v, &w, sizeof v) != 0 && !(isnan(v) && isnan(w)))
                return false;
        }
    return true;
}

/* One launch gives what two give, also where that is no number. */
static void pooled_apart(size_t turn)
{
    GfFilter *filter = new_filter();
    const GfFilter *filters[] = {filter};
    const GfAlgorithm *row = gf_algorithm_find("special");
    GfFormat format = format_of(12 + below(50), 12 + below(30), 1, GF_F32);
    GfPlanOptions options = options_of(GF_F32, GF_BORDER_CONSTANT);
    GfPlan *plan;
    add_layer(filter, 2 + below(5), 1, 1, 1 + turn % 7, 1 + below(7));
    if (below(2))
        add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    add_pool(filter, turn % 2 ? GF_POOL_MAX : GF_POOL_AVERAGE, 2, 2);
    must(gf_plan_create(filters, 1, &format, &options, &plan), "pooled apart");
    const GfStep *step = plan->pipelines[0].steps, *pool = step + 1;
    const GfFormat map = {step->out_width, step->out_height, step->out_channels, false, GF_F32};
    const GfFormat *out = &plan->pipelines[0].out;
    Block picture = strange_picture(&format);
    Block maps = launch_alone(row, step, NULL, &format, &picture, &map, 1, 0);
    Block apart = launch_alone(NULL, pool, NULL, &map, &maps, out, 1, 0);
    Block together = launch_alone(row, step, pool, &format, &picture, out, 1, 0);
    report(row->pools(step, pool), "pooled apart", "not pooled");
    report(same_numbers(out, &apart, &together), "pooled apart", "one launch differs from two");
    free_blocks(&picture, 1);
    free_blocks(&maps, 1);
    free_blocks(&apart, 1);
    free_blocks(&together, 1);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* A picture of noise over many orders of magnitude, from row to row, and with some samples far
 * above. */
static Block steep_picture(const GfFormat *format)
{
    Block block = random_picture(format);
    for (size_t y = 0; y < format->height; y++) {
        float *row = (float *)(void *)(block.rows + y * block.stride);
        const int magnitude = (int)below(60) - 30;
        for (size_t i = 0; i < format->width * format->channels; i++)
            row[i] = ldexpf(row[i], magnitude + (below(40) ? 0 : 10 + (int)below(20)));
    }
    return block;
}

/* The tallest tiling of `tensor` for layers on a picture; 0, the method's choice, on other
 * layers. */
static size_t tallest(const GfAlgorithm *row, const GfStep *step)
{
    return strcmp(row->name, "tensor") == 0 && gf_tensor_is_first(step)
               ? GF_TENSOR_ROLLING_TILING - 1
               : 0;
}

/* Layers' bits are the same where a picture is cut into bands, whatever the samples. */
static void cut_apart(size_t turn)
{
    static const char *const names[] = {"tensor", "special", "general"};
    GfFilter *filter = new_filter();
    const GfFilter *filters[] = {filter};
    const GfAlgorithm *row = gf_algorithm_find(names[turn % 3]);
    const bool colours = turn % 12 == 6; /* of which `tensor` has a form for small kernels */
    const size_t side = colours ? 3 : 3 + 2 * below(turn % 3 == 1 ? 3 : 4);
    const size_t channels = colours ? 3 : turn % 3 == 0 && turn % 2 ? 1 + below(20) : 1;
    const size_t maps = 1 + below(channels < 8 ? 9 : 90);
    GfFormat format = format_of(130 + below(300), 30 + below(40), channels, GF_F32);
    GfPlanOptions options = options_of(GF_F32, (GfBorder)below(GF_BORDER_VALID));
    GfCard card;
    GfPlan *plan;
    format.has_alpha = false;
    add_layer(filter, maps, channels, 1, side, side)->sampling.fit = GF_FIT_SAME_LOWER;
    must(gf_plan_create(filters, 1, &format, &options, &plan), "cut apart");
    const GfStep *step = plan->pipelines[0].steps;
    const GfFormat out = {step->out_width, step->out_height, step->out_channels, false, GF_F32};
    must(gf_current_card(&card), "card");
    if (gf_algorithm_runs(row, step, false, &card) == GF_OK && plan->pipelines[0].count == 1) {
        Block picture = steep_picture(&format);
        const size_t tiling = tallest(row, step), cuts = 2 + below(4);
        Block whole = launch_alone(row, step, NULL, &format, &picture, &out, 1, tiling);
        Block apart = launch_alone(row, step, NULL, &format, &picture, &out, cuts, tiling);
        report(same_numbers(&out, &whole, &apart), "cut apart", "bands differ from the whole");
        free_blocks(&picture, 1);
        free_blocks(&whole, 1);
        free_blocks(&apart, 1);
    }
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* Whole numbers below 16, in some rows 512 times as many. */
static Block stepped_picture(const GfFormat *format)
{
    Block block = random_picture(format);
    for (size_t y = 0; y < format->height; y++) {
        float *row = (float *)(void *)(block.rows + y * block.stride);
        const float unit = below(2) ? 1.0F : 512.0F;
        for (size_t i = 0; i < format->width * format->channels; i++)
            row[i] = unit * (float)below(16);
    }
    return block;
}

/* Sums of these with small weights are exact, so that a method which has rows in units of their
 * own gives what another does. */
static void rows_in_units(size_t turn)
{
    GfFilter *filter = new_filter();
    const GfFilter *filters[] = {filter};
    const GfAlgorithm *tensor = gf_algorithm_find("tensor"), *other = gf_algorithm_find("general");
    const size_t side = turn % 2 ? 3 : 3 + 2 * below(5), channels = turn % 4 ? 3 : 1 + below(4);
    GfFormat format = format_of(1 + below(300), 3 + below(40), channels, GF_F32);
    GfPlanOptions options = options_of(GF_F32, (GfBorder)below(GF_BORDER_VALID));
    GfPlan *plan;
    format.has_alpha = false;
    GfLinear *linear = add_layer(filter, 1 + below(20), channels, 1, side, side);
    for (size_t i = 0; i < linear->filters * channels * side * side; i++)
        linear->weights[i] = (double)below(9) - 4.0;
    linear->sampling.fit = GF_FIT_SAME_LOWER;
    linear->sampling.stride_x = linear->sampling.stride_y = 1 + turn / 2 % 2;
    options.sample = GF_F32;
    must(gf_plan_create(filters, 1, &format, &options, &plan), "rows in units");
    const GfStep *step = plan->pipelines[0].steps;
    const GfFormat out = {step->out_width, step->out_height, step->out_channels, false, GF_F32};
    Block picture = stepped_picture(&format);
    Block sums = launch_alone(tensor, step, NULL, &format, &picture, &out, 1, 0);
    Block exact = launch_alone(other, step, NULL, &format, &picture, &out, 1, 0);
    report(same_numbers(&out, &sums, &exact), "rows in units", "exact sums differ");
    free_blocks(&picture, 1);
    free_blocks(&sums, 1);
    free_blocks(&exact, 1);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* Banks and pools the same way. */
static void random_bank_minibatch(size_t turn)
{
    const GfSample *kind = kinds[turn % 6];
    GfFormat format = format_of(1 + below(90), 1 + below(20), 1 + below(4), kind[0]);
    GfFilter *filter = new_filter();
    if (turn % 4 == 3) {
        GfPool *pool = add_pool(filter, (GfPoolOp)below(3), 1 + below(4), 1 + below(4));
        pool->ceil = below(2);
    } else {
        size_t filters = 1 + below(2);
        if (turn % 4 == 1)
            add_factors(filter, filters, 1 + below(17), 1 + below(17));
        else
            add_kernel(filter, filters, 1 + below(7), 1 + below(7), POSITIVE);
        if (filters > 1)
            must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_MAX}), "combine");
    }
    Trial trial = random_trial(format, kind, filter);
    run_trial(&trial, filter);
}

/* More pictures than a card has places for blocks: those that stay take several. */
static void crowd(size_t side)
{
    GfFilter *filter = new_filter();
    add_kernel(filter, 1, side, side, POSITIVE);
    Trial trial = trial_of("crowd", format_of(48, 30, 1, GF_U8),
                           options_of(GF_U8, GF_BORDER_REFLECT101), filter);
    trial.count = 1500;
    run_trial(&trial, filter);
}

/* Small layers on so many pictures, with nothing between their rows, that each block takes several
 * of them whole: widths about what such a block holds, zeros around them or nothing. */
static void small_pictures(size_t turn)
{
    static const size_t widths[] = {12, 84, 7,  80,
                                    86, 33, 81, 81}; /* of maps: 6, 80, 5, 80, 80, 29, 79, 81 */
    const size_t width = widths[turn % 8], padding = turn % 4;
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + turn % 4, 1, 1, 7, 7);
    linear->sampling.fit = GF_FIT_PAD;
    linear->sampling.left = linear->sampling.right = padding;
    linear->sampling.top = linear->sampling.bottom = turn % 3 ? padding : 3;
    linear->sampling.border = GF_BORDER_CONSTANT;
    linear->sampling.border_value = turn % 3 == 1 ? 0.5 : 0.0;
    if (turn % 2)
        add_bias(linear, 0.25);
    GfPlanOptions options = options_of(GF_F32, GF_BORDER_CONSTANT);
    options.sample = GF_F32;
    const size_t height = turn == 8 ? 348 : turn % 2 ? 8 : 12; /* or too many rows for a block */
    Trial trial = trial_of("small pictures", format_of(width, height, 1, GF_F32), options, filter);
    trial.count = 800;
    trial.lay_in = trial.lay_out = LAY_NCHW;
    run_trial(&trial, filter);
}

/* Half of the layers have a bias, half a function; what comes out are floats. */
static GfPlanOptions end_with_floats(GfSample input, GfFilter *filter, GfLinear *linear)
{
    if (below(2))
        add_bias(linear, gf_sample_max(input) / 4.0);
    if (below(2))
        add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    GfPlanOptions options = options_of(input, GF_BORDER_CONSTANT);
    options.sample = GF_F32;
    return options;
}

/* Maps of floats whose rows begin anywhere, most of them wider than what a warp stores at once. */
static void unaligned_maps(size_t turn)
{
    static const GfSample inputs[] = {GF_F32, GF_U8, GF_U16};
    const GfSample input = inputs[turn / 6 % 3];
    const size_t side = 1 + 2 * (turn % 6), channels = turn % 5 < 2 ? 1 : turn % 5;
    const size_t width = turn % 4 ? 257 + below(300) : 20 + below(240);
    GfFormat format = format_of(width, 1 + below(14), channels, input);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + below(side <= 7 ? 12 : 4), channels, 1, side, side);
    linear->sampling.fit = GF_FIT_PAD;
    linear->sampling.left = linear->sampling.top = side / 2;
    linear->sampling.right = linear->sampling.bottom = side - 1 - side / 2 + below(2);
    linear->sampling.stride_x = linear->sampling.stride_y = turn % 7 < 3 ? 2 : 1;
    linear->sampling.border = (GfBorder)below(GF_BORDER_VALID);
    const GfPlanOptions options = end_with_floats(input, filter, linear);
    Trial trial = trial_of("unaligned maps", format, options, filter);
    trial.count = 1 + below(2);
    trial.lay_in = trial.lay_out = LAY_NCHW;
    trial.gap = below(4);
    trial.shift = below(4);
    run_trial(&trial, filter);
}

/* Many maps of one channel, in rows of vectors, of so many pictures that the card copies them:
 * tiles and runs of maps that are not full. */
static void copied_maps(size_t turn)
{
    const GfSample input = turn % 2 ? GF_F32 : GF_U8;
    const size_t side = 3 + 2 * (turn / 2), width = 4 * (33 + below(5)), maps = 25 + below(9);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, maps, 1, 1, side, side);
    linear->sampling.fit = GF_FIT_BORDER;
    linear->sampling.border = (GfBorder)below(GF_BORDER_VALID);
    const GfPlanOptions options = end_with_floats(input, filter, linear);
    const GfFormat format = format_of(width, 20 + below(5), 1, input);
    Trial trial = trial_of("copied maps", format, options, filter);
    trial.count = quick ? 2 : 70; /* the emulated card has few multiprocessors */
    trial.lay_in = trial.lay_out = LAY_NCHW;
    run_trial(&trial, filter);
}

/* Layers whose tiles `tensor` has shared by blocks with two parts each on an H200, of 6, 5 and 8
 * parts (test_tensor_cores() in tests/unit/test_tiles.c). */
static void tiles_in_parts(void)
{
    static const struct {
        size_t pictures, channels, columns, side, maps;
    } layers[] = {{11, 64, 9, 3, 256}, {9, 32, 13, 5, 192}, {2, 48, 21, 5, 256}};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const size_t columns = layers[i].columns, side = layers[i].side;
        GfFormat format = format_of(columns, columns, layers[i].channels, GF_F32);
        GfFilter *filter = new_filter();
        add_layer(filter, layers[i].maps, layers[i].channels, 1, side, side)->sampling.fit =
            GF_FIT_SAME_UPPER;
        format.has_alpha = false;
        Trial trial =
            trial_of("tiles in parts", format, options_of(GF_F32, GF_BORDER_CONSTANT), filter);
        trial.count = layers[i].pictures;
        trial.lay_in = trial.lay_out = LAY_NCHW;
        run_trial(&trial, filter);
    }
}

void test_minibatches(void)
{
    for (size_t i = 0; i < (quick ? 3 : 150); i++)
        random_minibatch(i);
    for (size_t i = quick; i < (quick ? 3 : 120); i++) /* the first is large */
        random_pixel_minibatch(i);
    if (!quick)
        tiles_in_parts();
    size_t pooled = 0, cases = quick ? 3 : 140;
    for (size_t i = 0; i < cases; i++)
        pooled += random_pooled_minibatch(i);
    report(quick || pooled > cases / 2, "pooled minibatches",
           "few layers are pooled in their launch");
    for (size_t i = 0; i < (quick ? 2 : 28); i++)
        pooled_apart(i);
    for (size_t i = 0; i < (quick ? 3 : 100); i++)
        random_bank_minibatch(i);
    for (size_t i = 0; i < (quick ? 3 : 90); i++)
        cut_apart(i);
    for (size_t i = 0; i < (quick ? 4 : 200); i++)
        rows_in_units(i);
    for (size_t side = 3; side <= 11 && !quick; side += 4)
        crowd(side);
    for (size_t i = 0; i < (quick ? 1 : 9); i++)
        small_pictures(i);
    for (size_t i = 0; i < (quick ? 6 : 210); i++)
        unaligned_maps(i);
    for (size_t i = 0; i < (quick ? 2 : 3); i++)
        copied_maps(i);
}

/* A wide kernel on a picture of every width up to 70, and then of up to five strips; most often
 * rows begin where vectors do. */
static void wide_kernel(size_t i, size_t channels)
{
    static const GfSample depths[] = {GF_U8, GF_U8, GF_U8, GF_U16, GF_F32};
    const GfSample depth = depths[i % 5];
    const bool narrow = quick ? i % 2 : i < 70;
    const size_t wide = 16 * (8 + below(32)) - (i % 4 == 1 ? below(16) : 0);
    const GfFormat format = format_of(narrow ? 1 + i : wide, 1 + below(60), channels, GF_U8);
    const Taps taps = depth == GF_U8 && i % 2 ? FRACTION : INTEGER;
    GfFilter *filter = new_filter();
    GfLinear *linear = add_kernel(filter, 1, 10 + below(16), 1 + below(15), taps);
    linear->anchor_x = i % 3 ? linear->anchor_x : below(linear->width);
    if (taps == INTEGER && below(3) == 0)
        add_function(filter, GF_POINTWISE_AFFINE, 0.5, 0.125);
    GfPlanOptions options = options_of(GF_U8, (GfBorder)(i % BORDERS));
    options.sample = depth;
    Trial trial = trial_of("wide kernels", format, options, filter);
    trial.count = 1 + below(3);
    trial.gap = i % 4 == 3 ? below(4) : aligned_gap(&format) + (i % 4 == 2 ? 16 : 0);
    trial.shift = narrow && i % 4 == 3 ? below(4) : 0;
    run_trial(&trial, filter);
}

/* A product of a column and a row, on the same pictures; on RGB square ones, by wider strips,
 * too. */
static void wide_factors(size_t i)
{
    static const size_t sides[] = {7, 15, 31, 9, 21};
    const bool square = i % 4 == 2;
    const size_t side = sides[i / 4 % (sizeof sides / sizeof *sides)];
    const bool narrow = quick ? i % 2 : i < 70;
    const size_t width = narrow ? 1 + i : 16 * (4 + below(32)), height = 1 + below(70);
    GfFilter *filter = new_filter();
    GfLinear *linear =
        add_factors(filter, 1, square ? side : 1 + below(33), square ? side : 1 + below(33));
    linear->anchor_x = i % 3 ? linear->anchor_x : below(linear->width);
    linear->anchor_y = i % 5 ? linear->anchor_y : below(linear->height);
    if (i % 4 == 1)
        for (size_t x = 0; x < linear->width; x += 2)
            linear->rows[x] = -linear->rows[x];
    GfPlanOptions options = options_of(GF_U8, (GfBorder)(i % BORDERS));
    options.alpha = i % 2 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
    Trial trial =
        trial_of("wide factors", format_of(width, height, 1 + i % 4, GF_U8), options, filter);
    trial.count = 1 + below(3);
    trial.gap = narrow || i % 4 == 3 ? below(4) : i % 4 == 2 ? 16 : 0;
    trial.shift = narrow ? below(4) : 0;
    trial.tiling = square ? GF_TENSOR_WIDE_TILING : 0;
    run_trial(&trial, filter);
}

/* So few rows that what is sent ahead is more than there are. */
static void low_picture(size_t height)
{
    GfFilter *filter = new_filter();
    (void)add_kernel(filter, 1, 3, 1 + 2 * below(3), FRACTION);
    Trial trial = trial_of("low pictures", format_of(256, height, 1, GF_U8),
                           options_of(GF_U8, GF_BORDER_VALID), filter);
    run_trial(&trial, filter);
}

/* Kernels of many rows, on pictures from which on their sums roll (gf_tensor_rolling_plan()), cut
 * into units that end anywhere in a turn of the sums, as after the last row of one; rows of whole
 * words, and others. On cards where they do. Where it is to be quick, as on the emulated one,
 * without other methods, to which so large a picture is as any other: they would take most of the
 * time. */
static void rolling_turns(GfSample sample)
{
    /* Of 16 bits fewer rows are enough for the emulated device, which has few blocks; that units
     * end anywhere, rolling_words() sees. */
    const bool words = sample == GF_U16;
    const size_t first = quick && words ? 300 : 1000, last = first + (words ? 3 : 16);
    GfCard card;
    must(gf_current_card(&card), "card");
    if (!card.groups)
        return;
    for (size_t side = 11; side <= 15; side += 4)
        for (size_t channels = 1; channels <= 3; channels += 2) {
            const bool half = (side == 11) == (channels == 1);
            if (quick && !half)
                continue;
            for (size_t height = first; height <= (quick || !half ? first : last); height++) {
                const size_t width = 1056 / channels - (half ? height % 3 : 2);
                const GfFormat format = format_of(width, height, channels, sample);
                GfFilter *filter = new_filter();
                (void)add_kernel(filter, 1, side, side, FRACTION);
                Trial trial =
                    trial_of("rolling turns", format,
                             options_of(sample, (GfBorder)(height % GF_BORDER_VALID)), filter);
                trial.gap = aligned_gap(&format);
                trial.only = quick ? "tensor" : NULL;
                run_trial(&trial, filter);
            }
        }
}

/* RGB is what `tensor` computes by channel. */
void test_wide_kernels(void)
{
    for (size_t height = 5; height <= 12; height++)
        low_picture(height);
    rolling_turns(GF_U8);
    for (size_t i = 0; i < (quick ? 12 : 200); i++)
        wide_factors(i);
    for (size_t i = 0; i < (quick ? 4 : 160); i++)
        wide_kernel(i, 3);
    for (size_t i = 0; i < (quick ? 4 : 160); i++)
        wide_kernel(i, 1);
}

/* How often a method ran. */
static size_t launches_of(const char *name)
{
    size_t i = 0;
    while (strcmp(methods[i].name, name) != 0)
        i++;
    return methods[i].launches;
}

/* The sizes that have edges of their own, and then any. */
static GfLinear *add_large_kernel(GfFilter *filter, size_t i, Taps taps)
{
    static const size_t sizes[][2] = {{31, 3},    {3, 31},  {2, 700}, {31, 31},   {25, 25},
                                      {26, 25},   {1, 31},  {63, 63}, {100, 100}, {57, 17},
                                      {180, 200}, {58, 16}, {16, 16}};
    const size_t known = quick ? 3 : sizeof sizes / sizeof *sizes;
    const size_t width = i < known ? sizes[i][0] : 16 + below(below(4) || quick ? 16 : 48);
    const size_t height = i < known ? sizes[i][1] : 16 + below(below(4) || quick ? 16 : 48);
    GfLinear *linear = add_kernel(filter, 1, width, height, taps);
    if (i % 3) {
        linear->anchor_x = below(width);
        linear->anchor_y = below(height);
    }
    return linear;
}

/* Every third picture is gray, wider than a tile, its rows aligned as words are. */
static void large_kernel(size_t i)
{
    static const GfSample depths[] = {GF_U8, GF_U8, GF_U8, GF_U16, GF_F32};
    const GfSample depth = depths[i % 5];
    const bool wide = i % 3 == 0;
    const size_t width = wide ? 256 + 4 * below(20) : 1 + below(300);
    const size_t height = 1 + below(i % 4 ? 30 : 70);
    const Taps taps = depth == GF_U8 && i % 2 ? FRACTION : INTEGER;
    GfFilter *filter = new_filter();
    (void)add_large_kernel(filter, i, taps);
    if (below(3) == 0)
        add_function(filter, GF_POINTWISE_AFFINE, 0.5, 0.125);
    GfPlanOptions options = options_of(GF_U8, (GfBorder)(i % BORDERS));
    options.sample = depth;
    options.alpha = below(2) ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
    options.range = (GfRange)(i % 4);
    Trial trial = trial_of(
        "large kernels", format_of(width, height, wide ? 1 : 1 + below(4), GF_U8), options, filter);
    trial.count = 1 + below(3);
    trial.gap = wide ? 0 : below(4);
    trial.shift = wide ? 0 : below(4);
    run_trial(&trial, filter);
}

/* RGB of so many tiles that on any card blocks have all channels of one (on the emulated device
 * those of large_kernel() are enough). Every other picture's rows are aligned as words are. */
static void large_kernel_on_colours(size_t i)
{
    enum { TILES = 320, ROWS = 3, ACROSS = 2 };
    const size_t width = 257 + below(200), height = 33 + below(15);
    GfFilter *filter = new_filter();
    GfLinear *linear =
        add_kernel(filter, 1, 16 + below(30), 16 + below(17), i % 4 < 2 ? FRACTION : INTEGER);
    linear->anchor_x = below(linear->width);
    linear->anchor_y = below(linear->height);
    if (below(3) == 0)
        add_function(filter, GF_POINTWISE_AFFINE, 0.5, 0.125);
    GfPlanOptions options = options_of(GF_U8, (GfBorder)(i % BORDERS));
    options.range = (GfRange)(i % 4);
    Trial trial = trial_of("large kernels", format_of(width, height, 3, GF_U8), options, filter);
    trial.count = 1 + TILES / (ROWS * ACROSS);
    trial.gap = i % 2 ? (4 - width * 3 % 4) % 4 : below(4);
    trial.shift = i % 2 ? 0 : below(4);
    run_trial(&trial, filter);
}

/* Responses in steps of 0.35: a digit too few beside an offset is seen. */
static void make_coarse(GfLinear *linear)
{
    for (size_t i = 0; i < linear->width * linear->height; i++)
        linear->weights[i] = 1.0;
    linear->scale = 0.35;
}

/* Any kernel on 16 bits within a side. */
static void kernel_on_16_bits(size_t i, size_t most)
{
    static const GfSample depths[] = {GF_U16, GF_U16, GF_U8, GF_U16, GF_F32};
    const bool wide = i % 3 == 0;
    const GfFormat format = format_of(wide ? 256 + 2 * below(60) : 1 + below(300),
                                      1 + below(i % 4 ? 30 : 70), wide ? 1 : 1 + below(4), GF_U16);
    GfFilter *filter = new_filter();
    const bool coarse = i % 5 == 3 && most < 10;
    GfLinear *linear =
        add_kernel(filter, 1, coarse ? 2 : 1 + below(most), coarse ? 1 : 1 + below(most),
                   i % 5 < 4 && i % 2 ? FRACTION : INTEGER);
    if (coarse)
        make_coarse(linear);
    if (i % 3) {
        linear->anchor_x = below(linear->width);
        linear->anchor_y = below(linear->height);
    }
    if (below(3) == 0)
        add_function(filter, GF_POINTWISE_AFFINE, 0.5, 0.125);
    GfPlanOptions options = options_of(GF_U16, (GfBorder)(i % BORDERS));
    options.sample = depths[i % 5];
    options.alpha = below(2) ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
    options.range = (GfRange)(i % 4);
    Trial trial = trial_of("kernels on 16 bits", format, options, filter);
    trial.count = 1 + below(3);
    trial.gap = wide ? (4 - format.width % 4) % 4 : below(4);
    trial.shift = wide ? 0 : below(4);
    trial.wide = i % 4 == 1;
    run_trial(&trial, filter);
}

/* Sums on 16 bits that roll, on cards where they do: rows that begin as words do and end anywhere,
 * units that end anywhere in a turn of the sums, constants of two unlike bytes. */
static void rolling_words(size_t i)
{
    const size_t channels = i % 3 ? 1 : 3, most = 15;
    const bool whole = i % 4 == 0, product = i % 11 == 3;
    const GfFormat format =
        format_of(1 + below(i % 2 ? 500 : 140), 1 + below(whole ? 200 : 40), channels, GF_U16);
    GfFilter *filter = new_filter();
    const size_t columns = i % 5 ? 1 + below(most) : most, rows = i % 7 ? 1 + below(most) : most;
    GfLinear *linear = product ? add_factors(filter, 1, columns, rows)
                               : add_kernel(filter, 1, columns, rows, whole ? INTEGER : FRACTION);
    GfCard card;
    must(gf_current_card(&card), "card");
    linear->anchor_x = below(linear->width);
    linear->anchor_y = below(linear->height);
    GfPlanOptions options = options_of(GF_U16, (GfBorder)(i % GF_BORDER_VALID));
    options.border_value = 40001.0;
    Trial trial = trial_of("rolling words", format, options, filter);
    trial.gap = format.width * channels % 4 ? aligned_gap(&format) : 4 * below(4);
    trial.count = 1 + below(3);
    trial.wide = i % 4 == 1;
    /* Four planes of RGB do not, which products may need. */
    const bool rolls = !product && (channels == 1 || whole);
    trial.tiling = card.groups && rolls ? GF_TENSOR_ROLLING_TILING : 0;
    run_trial(&trial, filter);
}

/* Kernels that `tensor` stages through shared memory. */
void test_large_kernels(void)
{
    const size_t before = launches_of("tensor"), cases = quick ? 8 : 150;
    for (size_t i = 0; i < cases; i++)
        large_kernel(i);
    report(launches_of("tensor") - before > cases / 2, "large kernels", "few by tensor");
    for (size_t i = 0; i < (quick ? 0 : 12); i++)
        large_kernel_on_colours(i);
}

/* Those that `tensor` stages, and small ones, whose rows stay in registers. */
void test_kernels_on_16_bits(void)
{
    const size_t before = launches_of("tensor"), cases = quick ? 40 : 300;
    for (size_t i = 0; i < 2 * cases; i++)
        kernel_on_16_bits(i / 2, i % 2 ? 9 : quick || below(3) ? 20 : 70);
    report(launches_of("tensor") - before > cases, "kernels on 16 bits", "few by tensor");
    rolling_turns(GF_U16);
    for (size_t i = 0; i < cases; i++)
        rolling_words(i);
}

/* Now and then two kernels (`two`), other anchors and a function, on random pictures. Frees the
 * filter. */
static void run_varied(const char *what, size_t i, bool two, bool wide, GfFilter *filter,
                       GfLinear *linear)
{
    static const GfCombineOp ways[] = {GF_COMBINE_L2, GF_COMBINE_L1, GF_COMBINE_UNSHARP};
    const GfSample *kind = kinds[i % 6];
    if (i % 3) {
        linear->anchor_x = below(linear->width);
        linear->anchor_y = below(linear->height);
    }
    if (two)
        must(gf_filter_add_combine(filter, (GfCombine){ways[i / 5 % 3], 0.8, 3.3}), "combine");
    if (below(3) == 0)
        add_function(filter, GF_POINTWISE_AFFINE, 0.5, 0.125);
    const GfFormat format =
        format_of(1 + below(i % 4 ? 150 : 300), 1 + below(i % 4 ? 40 : 90), 1 + below(5), kind[0]);
    Trial trial = random_trial(format, kind, filter);
    trial.c.what = what;
    trial.wide = wide;
    run_trial(&trial, filter);
}

/* Kernels of all shapes on all samples, in f32 and f64, one and two: what `special` has no
 * registers for. Every number of taps that is left over at the end of a row, kernels of one chunk
 * and of several, pictures of less than a tile and of several. */
static void kernel_in_tiles(size_t i)
{
    const size_t most = quick ? 20 : i % 8 == 7 ? 140 : 40;
    const size_t width = 1 + (i < 40 ? i : below(most)), height = 1 + below(most);
    const bool two = i % 5 == 4;
    GfFilter *filter = new_filter();
    GfLinear *linear = add_kernel(filter, two ? 2 : 1, width, height, taps_for(kinds[i % 6][0]));
    run_varied("kernels in tiles", i, two, i % 2 || two, filter, linear);
}

void test_kernels_in_tiles(void)
{
    const size_t before = launches_of("special"), cases = quick ? 18 : 240;
    for (size_t i = 0; i < cases; i++)
        kernel_in_tiles(i);
    report(launches_of("special") - before > cases / 2, "kernels in tiles", "few by special");
}

/* Small squares and products of all samples, summed in f64, one and two, on pictures of less than a
 * strip and of several. */
static void sums_in_f64(size_t i)
{
    const bool two = i % 5 == 4, product = i % 2;
    const size_t side = 3 + 2 * below(product ? (two ? 7 : 15) : 3);
    GfFilter *filter = new_filter();
    GfLinear *linear = product
                           ? add_factors(filter, two ? 2 : 1, side, side)
                           : add_kernel(filter, two ? 2 : 1, side, side, taps_for(kinds[i % 6][0]));
    run_varied("sums in f64", i, two, true, filter, linear);
}

/* What is no number, in a row of samples, is so whatever the method. */
static void compare_strange(const GfStep *step, const GfFormat *in, const GfFormat *out)
{
    Block picture = strange_picture(in), made[2];
    for (size_t i = 0; i < 2; i++) {
        const Way way = {.lay_in = LAY_INTERLEAVED, .cuts = 1};
        const Inputs inputs = {*in, 1, &picture};
        Array array = make_array(out, 1, LAY_INTERLEAVED, 0, 0, POISON);
        Stand *stand = make_stand(gf_algorithm_find(i ? "special" : "direct"), step, NULL, true);
        report(launch_stand(stand, &inputs, &way, &array), "strange samples", "refused");
        made[i] = make_picture(out);
        read_array(&array, 0, &made[i]);
        free_stand(stand);
        free(array.memory);
    }
    bool same = true;
    for (size_t y = 0; y < out->height; y++)
        for (size_t x = 0; x < out->width; x++) {
            float v, w;
            memcpy(&v, made[0].rows + y * made[0].stride + x * sizeof v, sizeof v);
            memcpy(&w, made[1].rows + y * made[1].stride + x * sizeof w, sizeof w);
            same = same && (isnan(v) ? isnan(w) : isinf(v) ? v == w : fabsf(v - w) < 1e-6f);
        }
    report(same, "strange samples", "special and direct differ");
    free_blocks(&picture, 1);
    free_blocks(made, 2);
}

static void strange_samples(size_t side)
{
    GfFilter *filter = kernel(1, side, side, POSITIVE);
    const GfFilter *filters[] = {filter};
    const GfFormat format = format_of(150, 40, 1, GF_F32);
    GfPlanOptions options = options_of(GF_F32, GF_BORDER_REFLECT);
    GfPlan *plan;
    must(gf_plan_create(filters, 1, &format, &options, &plan), "strange samples");
    compare_strange(plan->pipelines[0].steps, &format, &plan->pipelines[0].out);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* Of the quick ones all samples, one kernel and two; ThreadSanitizer, which for each barrier of a
 * block compares what all its threads know of each other, takes a quarter of a minute for each. */
#ifdef __SANITIZE_THREAD__
enum { QUICK_SUMS = 10 };
#else
enum { QUICK_SUMS = 18 };
#endif

void test_sums_in_f64(void)
{
    for (size_t i = 0; i < (quick ? QUICK_SUMS : 360); i++)
        sums_in_f64(i);
    for (size_t side = 3; side <= 7; side += 2)
        strange_samples(side);
}

/* Pictures larger than every tile, so that all of them meet their neighbours. */
void test_tilings(void)
{
    static const struct {
        size_t width, height, channels, maps, side, stride, dilation;
    } shapes[] = {
        {300, 150, 1, 0, 5, 1, 1},  {200, 70, 3, 0, 7, 1, 1},   {150, 90, 1, 9, 5, 1, 1},
        {80, 70, 9, 70, 3, 1, 1},   {71, 67, 17, 130, 1, 1, 1}, {67, 45, 5, 33, 7, 1, 1},
        {150, 141, 3, 37, 3, 2, 1}, {75, 77, 6, 20, 3, 1, 2},   {66, 50, 33, 66, 3, 1, 1},
        {290, 75, 1, 3, 7, 1, 1},   {270, 40, 3, 9, 9, 1, 1},   {530, 139, 2, 21, 11, 4, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !(quick && i > 0); i++)
        for (size_t s = 0; s < SAMPLES; s++) {
            GfFilter *filter = new_filter();
            GfFormat format =
                format_of(shapes[i].width, shapes[i].height, shapes[i].channels, samples[s]);
            GfLinear *linear;
            format.has_alpha = false;
            if (shapes[i].maps)
                linear = add_layer(filter, shapes[i].maps, shapes[i].channels, 1, shapes[i].side,
                                   shapes[i].side);
            else
                linear = add_kernel(filter, 1, shapes[i].side, shapes[i].side, POSITIVE);
            linear->sampling.stride_x = linear->sampling.stride_y = shapes[i].stride;
            linear->sampling.dilation_x = linear->sampling.dilation_y = shapes[i].dilation;
            linear->sampling.fit = shapes[i].maps ? GF_FIT_SAME_LOWER : GF_FIT_BORDER;
            if (quick)
                format.width = format.height = 40;
            Trial trial = trial_of("tilings", format,
                                   options_of(samples[s], (GfBorder)(i % (BORDERS - 1))), filter);
            trial.lay_in = trial.lay_out = shapes[i].maps ? LAY_NCHW : LAY_INTERLEAVED;
            run_trial(&trial, filter);
        }
}

/* Long sums of terms of both signs, in f32 whatever the plan would take: methods sum in levels,
 * so that rounding errors do not pile up. And sums so long that the plan has to take f64. */
void test_depths(void)
{
    static const size_t shapes[][4] = {/* depth, width, height, maps */
                                       {512, 7, 7, 3}, {512, 1, 1, 9}, {256, 3, 3, 40},
                                       {64, 5, 5, 33}, {1, 31, 31, 2}, {3, 11, 31, 5}};
    static const size_t beyond[][4] = {{3000, 1, 1, 4}, {700, 7, 5, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        GfFilter *filter = new_filter();
        const size_t *s = shapes[i];
        GfLinear *linear = add_layer(filter, s[3], s[0], 1, s[1], s[2]);
        for (size_t j = 0; j < s[3] * gf_linear_taps(linear); j++)
            linear->weights[j] = uniform(-1.0, 1.0);
        linear->sampling.fit = GF_FIT_SAME_UPPER;
        Trial trial = trial_of("depths", format_of(9, 7, s[0], GF_F32),
                               options_of(GF_F32, GF_BORDER_CONSTANT), filter);
        trial.lay_in = trial.lay_out = LAY_NCHW;
        trial.narrow = true;
        run_trial(&trial, filter);
    }
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        GfFilter *filter = new_filter();
        const size_t *s = beyond[i];
        add_layer(filter, s[3], s[0], 1, s[1], s[2]);
        run_one("depths", format_of(5 + s[1], 5 + s[2], s[0], GF_F32),
                options_of(GF_F32, GF_BORDER_CONSTANT), filter);
    }
}
