/* Learned layers and pools: shapes that are no multiple of anything, and chains of them. */
#include <math.h>
#include <stdlib.h>

#include "tests/draft.h"
#include "tests/gpu/filters.h"
#include "tests/gpu/groups.h"
#include "tests/gpu/report.h"
#include "tests/gpu/trial.h"

enum {
    WORK = 1500000 /* multiply-adds of a case: the reference makes some 100 million a second */
};

/* What goes in and what comes out, in turn. */
static const GfSample depths[][2] = {{GF_U8, GF_U8},   {GF_U16, GF_U16}, {GF_F16, GF_F32},
                                     {GF_F32, GF_F32}, {GF_U8, GF_F32},  {GF_F64, GF_F32},
                                     {GF_F64, GF_F64}, {GF_U16, GF_U8},  {GF_F32, GF_F32}};

enum { DEPTHS = sizeof depths / sizeof *depths };

static GfPlanOptions layer_options(const GfSample *depth, size_t turn)
{
    GfPlanOptions options = options_of(depth[0], (GfBorder)(turn % BORDERS));
    options.sample = depth[1];
    return options;
}

/* A random way to lie on a picture, whose padding is below that of a tap. */
static GfSampling random_sampling(size_t width, size_t height)
{
    GfSampling sampling = gf_sampling_plain();
    sampling.stride_x = 1 + below(3);
    sampling.stride_y = below(4) ? sampling.stride_x : 1 + below(3);
    sampling.dilation_x = 1 + (below(4) == 0);
    sampling.dilation_y = below(4) ? sampling.dilation_x : 1 + below(2);
    sampling.fit = (GfFit)below(4);
    sampling.border = (GfBorder)below(GF_BORDER_VALID);
    sampling.border_value = below(2) ? 0.0 : 0.5;
    if (sampling.fit == GF_FIT_PAD) {
        sampling.left = below(width + 1);
        sampling.right = below(width + 1);
        sampling.top = below(height + 1);
        sampling.bottom = below(height + 1);
    }
    return sampling;
}

/* Half the kernels are small squares, as they are in networks. */
static void random_kernel(size_t *width, size_t *height)
{
    *width = *height = 1 + 2 * below(4);
    if (below(2) == 0) {
        *width = 1 + below(below(4) ? 7 : 31);
        *height = 1 + below(below(4) ? 7 : 31);
    }
}

/* So few maps that the case stays within WORK. */
static size_t maps_for(size_t positions, size_t depth, size_t taps, size_t wished)
{
    size_t most = WORK / (positions * depth * taps) + 1;
    return gf_min(wished, most);
}

static GfPointwiseOp random_function(void)
{
    static const GfPointwiseOp ops[] = {GF_POINTWISE_RELU, GF_POINTWISE_SIGMOID, GF_POINTWISE_TANH,
                                        GF_POINTWISE_CLAMP};
    return ops[below(4)];
}

/* One layer: groups and maps of which nothing is a multiple, or one map a channel. */
static bool random_layer(size_t turn)
{
    const GfSample *depth = depths[turn % DEPTHS];
    double white = gf_sample_max(depth[0]);
    size_t width, height, groups = below(3) ? 1 : 1 + below(5);
    size_t channels = below(3) ? 1 + below(9) : 1 + below(40);
    random_kernel(&width, &height);
    if (below(5) == 0) {
        groups = channels;
        channels = 1;
    }
    GfFormat format = format_of(1 + below(60), 1 + below(40), channels * groups, depth[0]);
    format.has_alpha = false;
    size_t maps = maps_for(format.width * format.height * groups, channels, width * height,
                           below(3) ? 1 + below(12) : 1 + below(70));
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, maps * groups, channels, groups, width, height);
    linear->sampling = random_sampling(width, height);
    if (below(3) > 0)
        add_bias(linear, white / 4.0);
    if (below(3) == 0)
        add_function(filter, random_function(), white / 8.0, white / 2.0);
    GfPlanOptions options = layer_options(depth, turn / DEPTHS);
    options.flip = below(4) == 0;
    return run_picked("layers", format, options, 1, filter);
}

/* A layer so deep, of so few outputs, that several blocks share its taps (gpu/implicit.cu), in more
 * than one round where kernels are large. */
static bool random_deep_layer(size_t turn)
{
    const GfSample *depth = depths[turn % DEPTHS];
    const size_t side = 1 + 2 * below(4), channels = 60 + below(turn % 3 ? 240 : 1200);
    GfFormat format = format_of(1 + below(16), 1 + below(8), channels, depth[0]);
    const size_t positions = format.width * format.height;
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, maps_for(positions, channels, side * side, 1 + below(12)),
                                 channels, 1, side, side);
    format.has_alpha = false;
    linear->sampling = random_sampling(side, side);
    add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    return run_picked("deep layers", format, layer_options(depth, turn / DEPTHS), 1, filter);
}

/* A layer of so many taps that chunks of them are longer than of others (gf_layer_chunk()), as the
 * first fully connected layer of a network may be. Of floats biases leave a third of their sums, so
 * that what those lost counts. Of a few outputs alone chance decides how much that is. */
static bool deepest_layer(size_t turn)
{
    static const GfSample floats[2] = {GF_F32, GF_F32};
    const GfSample *depth = turn % 3 ? floats : depths[turn / 3 % DEPTHS];
    const size_t side = 1 + 2 * (turn % 4), most = turn % 3 ? side * side * (1 << 14) : 20000;
    const size_t channels = (GF_DEEP_TAPS + below(gf_min(most, 120000))) / (side * side) + 1;
    GfFormat format = format_of(3 + below(3), 3 + below(2), channels, depth[0]);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + below(3), channels, 1, side, side);
    format.has_alpha = false;
    linear->sampling.fit = GF_FIT_BORDER;
    add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    for (size_t i = 0; i < linear->filters && turn % 3; i++)
        linear->bias[i] = -0.4;
    return run_picked("deepest layers", format, layer_options(depth, 0), 1, filter);
}

/* Taps of some channels become as much as 2^12 times as large, so that f16 holds them only where
 * each channel is scaled by itself. */
static void make_channels_uneven(GfLinear *linear)
{
    const size_t area = linear->width * linear->height;
    for (size_t i = 0; i < linear->filters * gf_linear_taps(linear); i++)
        linear->weights[i] = ldexp(linear->weights[i], (int)(i / area % linear->depth % 4) * 4 - 6);
}

/* A layer that `tensor` lays out in lines (gpu/tensor_lines.cu), whose rows it scales by
 * themselves; some of more samples than the threads of a row keep. */
static bool random_flat_layer(size_t turn)
{
    const size_t side = 1 + 2 * below(3), channels = 5 + below(36), groups = below(4) ? 1 : 2;
    const bool wide = turn % 4 == 0;
    const GfSample depth[] = {GF_F32, GF_F32};
    GfFormat format = format_of(wide ? 2100 + below(700) : 1 + below(turn % 2 ? 40 : 12),
                                1 + below(wide ? 3 : 30), channels * groups, depth[0]);
    const size_t positions = format.width * format.height * groups;
    GfFilter *filter = new_filter();
    GfLinear *linear =
        add_layer(filter, groups * maps_for(positions, channels, side * side, 1 + below(40)),
                  channels, groups, side, below(2) ? side : 2);
    format.has_alpha = false;
    linear->sampling = random_sampling(side, linear->height);
    if (turn % 3 == 0)
        make_channels_uneven(linear);
    make_rows(UNEVEN_ROWS);
    const bool ran = run_picked("flat layers", format, layer_options(depth, turn), 1, filter);
    make_rows(EVEN_ROWS);
    return ran;
}

/* Single taps, whose samples `tensor` scales pixel by pixel (gpu/tensor_pixels.cu): of several
 * stages of channels, in more than one group, side by side or not. */
static bool random_pixel_layer(size_t turn)
{
    const size_t channels = 5 + below(turn % 3 ? 60 : 560), groups = below(4) ? 1 : 2;
    const GfSample depth[] = {GF_F32, GF_F32};
    const size_t width = 1 + below(40);
    GfFormat format = format_of(turn % 2 ? width : (width + 3) / 4 * 4, 1 + below(30),
                                channels * groups, depth[0]);
    const size_t maps =
        maps_for(format.width * format.height * groups, channels, 1, 1 + below(200));
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, groups * maps, channels, groups, 1, 1);
    format.has_alpha = false;
    linear->sampling.stride_x = linear->sampling.stride_y = below(3) ? 1 : 2;
    if (turn % 4 == 0)
        make_channels_uneven(linear);
    if (below(2))
        add_bias(linear, 0.25);
    if (below(2))
        add_function(filter, random_function(), 0.125, 0.5);
    make_rows(UNEVEN_ROWS);
    const bool ran = run_picked("pixels", format, layer_options(depth, turn), 1, filter);
    make_rows(EVEN_ROWS);
    return ran;
}

/* Patches, whose samples become channels of single taps: in lines (gpu/tensor_lines.cu) or as they
 * are (gpu/tensor_pixels.cu), of few channels or under kernels that are too large for lines,
 * windows side by side or apart, some of which have rows at both ends of the ring that a picture's
 * rows are in. */
static bool random_patch_layer(size_t turn)
{
    static const GfSample ins[] = {GF_F32, GF_F32, GF_U8, GF_F16};
    const GfSample depth[] = {ins[turn % 4], GF_F32};
    const bool large = turn % 5 == 4;
    const size_t width = large ? 17 + below(4) : 2 + below(turn % 2 ? 3 : 9);
    const bool flat = turn % 3 == 2; /* several rows of windows in a launch */
    const size_t height = flat ? 2 + below(2) : below(3) ? width : 1 + below(9);
    const size_t channels = 1 + below(large ? 7 : 4), groups = 1 + turn / 4 % 2;
    const size_t apart_x = width + below(2) * below(3), apart_y = height + below(2) * below(3);
    GfFormat format = format_of(
        width + below(1 + 200 / width) * apart_x + below(width),
        height + (flat ? 30 + below(30) : below(1 + 100 / height)) * apart_y + below(height),
        channels * groups, depth[0]);
    const size_t positions = (format.width / apart_x + 1) * (format.height / apart_y + 1);
    GfFilter *filter = new_filter();
    const size_t maps = maps_for(positions * groups, channels, width * height, 17 + below(80));
    GfLinear *linear =
        add_layer(filter, groups * gf_max(maps, 17), channels, groups, width, height);
    format.has_alpha = false;
    linear->sampling.stride_x = apart_x;
    linear->sampling.stride_y = apart_y;
    if (turn % 3 == 0)
        make_channels_uneven(linear);
    if (below(2))
        add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    if (below(2))
        add_function(filter, random_function(), 0.125, 0.5);
    make_rows(depth[0] == GF_F32 ? UNEVEN_ROWS : EVEN_ROWS);
    const bool ran = run_picked("patches", format, layer_options(depth, turn), 1, filter);
    make_rows(EVEN_ROWS);
    return ran;
}

/* A layer on a gray picture, small windows side by side. */
static bool gray_layer(const char *what, size_t turn, size_t most_maps, size_t across, size_t down)
{
    const GfSample *depth = depths[turn % DEPTHS];
    size_t width = 1 + below(7), height = below(2) ? width : 1 + below(7);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + below(most_maps), 1, 1, width, height);
    linear->sampling = random_sampling(width, height);
    linear->sampling.stride_x = linear->sampling.stride_y = 1;
    linear->sampling.dilation_x = linear->sampling.dilation_y = 1;
    add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    if (below(2))
        add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    return run_picked(what, format_of(across, down, 1, depth[0]),
                      layer_options(depth, turn / DEPTHS), 1, filter);
}

/* The first layer of a network. */
static bool random_first_layer(size_t turn)
{
    const size_t across = 1 + below(140), down = 1 + below(40);
    return gray_layer("first layers", turn, below(2) ? 6 : 40, across, down);
}

/* Many maps of a gray picture, whose rows the card copies, and what is left behind a row's last
 * vector it does not (gpu/tensor_first.cu); and a layer that reads them. */
static bool many_maps(size_t turn)
{
    const size_t side = 3 + 2 * (turn / 2 % 3), maps = 25 + below(9);
    /* Enough for a card, or for the emulated one. */
    const size_t across = (quick ? 129 : 257) + below(quick ? 24 : 51);
    const size_t down = (quick ? 33 : 1080) + below(8);
    const GfFormat format = format_of(across, down, 1, turn % 2 ? GF_F32 : GF_U8);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, maps, 1, 1, side, side);
    linear->sampling.fit = GF_FIT_BORDER;
    linear->sampling.border = (GfBorder)below(GF_BORDER_VALID);
    if (below(2))
        add_bias(linear, gf_sample_max(format.sample) / 4.0);
    (void)add_layer(filter, 1 + below(3), maps, 1, 1, 1);
    GfPlanOptions options = options_of(format.sample, (GfBorder)(turn % BORDERS));
    options.sample = GF_F32;
    return run_picked("many maps", format, options, 1, filter);
}

/* Many maps of floats, which groups of warps multiply (gpu/tensor_gray.cu), also where that does
 * not pay. Every other time rows are in several units, and aligned: gpu/tensor_first.cu may cut
 * other rows in other places in each launch, which such rows show. */
static bool wide_maps(size_t turn)
{
    static const GfSample floats[2] = {GF_F32, GF_F32};
    const bool uneven = turn % 2 == 1;
    const size_t across = 1 + below(300), down = 1 + below(quick ? 50 : 120);
    GfCard card;
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, 1 + below(50), 1, 1, 1 + below(7), 7);
    must(gf_current_card(&card), "card");
    linear->sampling = random_sampling(linear->width, linear->height);
    linear->sampling.stride_x = linear->sampling.stride_y = 1;
    linear->sampling.dilation_x = linear->sampling.dilation_y = 1;
    GfPlanOptions options = layer_options(floats, turn);
    if (uneven) {
        linear->sampling.fit = GF_FIT_BORDER;
        options.border = (GfBorder)below(GF_BORDER_VALID);
    }
    if (below(2))
        add_bias(linear, 0.25);
    Trial trial = {
        .c = {.format = format_of(uneven ? (across + 3) / 4 * 4 : across, down, 1, GF_F32),
              .options = options,
              .filters = {filter},
              .count = 1,
              .what = "wide maps"},
        .count = 1 + below(2),
        .lay_in = (Lay)(turn % LAYS),
        .lay_out = turn % 4 ? LAY_NCHW : (Lay)(turn / 4 % LAYS),
        .gap = uneven ? 4 * below(3) : below(5),
        .tiling = card.groups ? GF_TENSOR_GRAY_TILING : 0};
    make_rows(uneven ? UNEVEN_ROWS : EVEN_ROWS);
    run_trial(&trial, filter);
    make_rows(EVEN_ROWS);
    return true;
}

/* Few channels of floats, whose rows gpu/tensor_first.cu scales by what a tile has of them: of as
 * many columns whatever a launch is, also where those depend on how many tiles there are: every
 * other time kernels are large and far apart. Rows of outputs are aligned, as a session's are. */
static bool glaring_layer(size_t turn)
{
    static const GfSample floats[2] = {GF_F32, GF_F32};
    const bool large = turn % 2 == 0;
    const size_t stride = large ? 4 : 1 + below(2), channels = 1 + below(3);
    const size_t side = large ? 9 + 2 * below(2) : 3 + 2 * below(4);
    const size_t across = 4 * stride * (large ? 5 + below(12) : 1 + below(40)),
                 down = stride * (large ? 9 + below(12) : 1 + below(20));
    GfFilter *filter = new_filter();
    const size_t most =
        maps_for(across * down / stride / stride, channels, side * side, large ? 16 : 70);
    GfLinear *linear = add_layer(filter, 1 + below(most), channels, 1, side, side);
    linear->sampling.stride_x = linear->sampling.stride_y = stride;
    linear->sampling.fit = GF_FIT_BORDER;
    add_bias(linear, 0.25);
    Trial trial = {.c = {.format = format_of(across, down, channels, GF_F32),
                         .options = layer_options(floats, turn),
                         .filters = {filter},
                         .count = 1,
                         .what = "glaring layers"},
                   .count = 1 + below(large ? 1 : 3),
                   .lay_in = (Lay)(turn % LAYS),
                   .lay_out = LAY_NCHW,
                   .gap = 4 * below(3)};
    trial.c.format.has_alpha = false;
    trial.c.options.border = (GfBorder)below(GF_BORDER_VALID);
    make_rows(GLARING_ROWS);
    run_trial(&trial, filter);
    make_rows(EVEN_ROWS);
    return true;
}

/* First layers on pictures of more rows than `special` has in shared memory at once. */
static bool random_tall_layer(size_t turn)
{
    const size_t across = 1 + below(70), down = 130 + below(150);
    return gray_layer("tall layers", turn, 4, across, down);
}

/* Layers on pictures in the forms that `tensor` has for few channels: kernels of 1 to 11 rows,
 * windows 1, 2 or 4 pixels apart, maps below, at and above what a product holds. */
static bool random_picture_layer(size_t turn)
{
    static const size_t strides[] = {1, 1, 2, 4};
    const GfSample *depth = depths[turn % DEPTHS];
    const size_t height = 3 + 2 * (turn % 5) - below(2), stride = strides[turn / 5 % 4];
    const size_t most = (size_t)(height > 7 ? 16 : 8) - (stride == 1 ? 1 : 0),
                 channels = 1 + below(4);
    const size_t width = below(2) ? height : 1 + below(most);
    const size_t across = 1 + below(stride == 1 ? 300 : 200 * stride), down = 1 + below(60);
    GfFilter *filter = new_filter();
    size_t maps = 1 + below(below(2) ? 5 : 40);
    maps = maps_for(across / stride * down / stride + 1, channels, width * height, maps);
    GfLinear *linear = add_layer(filter, maps, channels, 1, width, height);
    linear->sampling = random_sampling(width, height);
    linear->sampling.stride_x = linear->sampling.stride_y = stride;
    linear->sampling.dilation_x = linear->sampling.dilation_y = 1;
    add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    if (below(2))
        add_function(filter, random_function(), 0.0, 0.0);
    GfFormat format = format_of(across, down, channels, depth[0]);
    format.has_alpha = false;
    return run_picked("picture layers", format, layer_options(depth, turn / DEPTHS), 1, filter);
}

/* Small kernels on colours, of which an octet of `tensor` has two rows, and those a little larger
 * of which it does not. */
static bool random_colour_layer(size_t turn)
{
    const GfSample *depth = depths[turn % DEPTHS];
    const size_t width = 1 + below(4), stride = 1 + below(2);
    const size_t across = 1 + below(300), down = 1 + below(40);
    GfFilter *filter = new_filter();
    const size_t most = maps_for(across * down / stride / stride + 1, 3, width * 3, 70);
    GfLinear *linear = add_layer(filter, 1 + below(most), 3, 1, width, 3);
    linear->sampling = random_sampling(width, 3);
    linear->sampling.stride_x = linear->sampling.stride_y = stride;
    linear->sampling.dilation_x = linear->sampling.dilation_y = 1;
    add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    GfFormat format = format_of(across, down, 3, depth[0]);
    format.has_alpha = false;
    return run_picked("colour layers", format, layer_options(depth, turn / DEPTHS), 1, filter);
}

/* A layer on gray with its function and a pool of 2 x 2, which `special` does in one launch, and
 * what may stand around them: a filter before, pools behind, the same once more; or the layer's
 * maps are read again. */
static bool random_pooled_layer(size_t turn)
{
    enum { END, POOL, AGAIN, SUM, ENDS };
    const GfSample *depth = depths[turn % DEPTHS];
    size_t end = turn % ENDS, maps = end == AGAIN ? 1 : 1 + below(9);
    bool even = end == SUM;
    GfFormat format = format_of(2 + below(even ? 30 : 70), 2 + below(30), 1, depth[0]);
    GfFilter *filter = new_filter();
    format.width = even ? 2 * format.width : format.width;
    format.height = even ? 2 * format.height : format.height;
    if (below(3) == 0)
        add_kernel(filter, 1, 3, 3, POSITIVE);
    for (size_t i = 0; i < (end == AGAIN ? 2 : 1); i++) {
        size_t side = 1 + below(7);
        GfLinear *linear = add_layer(filter, maps, 1, 1, side, below(2) ? side : 1 + below(7));
        linear->sampling.fit = i ? GF_FIT_SAME_LOWER : GF_FIT_SAME_UPPER;
        add_bias(linear, gf_sample_max(depth[0]) / 8.0);
        if (below(3))
            add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
        add_pool(filter, below(3) ? GF_POOL_MAX : GF_POOL_AVERAGE, 2, 2)->ceil =
            end != SUM && below(4) == 0;
    }
    for (size_t i = 0; i < (end == POOL || end == AGAIN ? below(3) : 0); i++)
        add_pool(filter, GF_POOL_MAX, 1 + below(2), 2)->ceil = true;
    if (end == SUM) {
        GfReference layer = filter->count - 1;
        must(gf_filter_add_upsample(filter, (GfUpsample){false, 2, 2, layer}), "upsample");
        must(gf_filter_add_sum(filter, (GfAdd){layer}), "sum");
    }
    return run_picked("pooled layers", format, layer_options(depth, turn / DEPTHS), 1, filter);
}

/* A network's first layer, which has what makes its channels of the picture's in weights and
 * bias. */
static bool random_entered_layer(size_t turn)
{
    static const GfSample ins[] = {GF_U8, GF_U8, GF_U16, GF_F32};
    const GfSample depth[] = {ins[turn % 4], below(3) ? GF_F32 : GF_U8};
    const bool first = below(3) > 0; /* in the forms that `tensor` has for few channels */
    const size_t channels = below(2) ? 3 : 1, planes = below(2), colours = below(4) ? channels : 1;
    const size_t height = first ? 3 + 2 * below(3) : 1 + below(6),
                 width = first ? height : 1 + below(6);
    const size_t across = 1 + below(140), down = 1 + below(50), most = 1 + below(40);
    GfFilter *filter = new_filter();
    GfEntry *entry;
    /* Floats are taken as if their white were 255: as small parts of it they would all be alike. */
    const double white = depth[0] == GF_F32 ? 255.0 : 1.0;
    must(gf_filter_add_entry(filter, channels, 0.0, white, planes, &entry), "entry");
    must(gf_allocate(channels, sizeof *entry->mean, &entry->mean), "mean");
    must(gf_allocate(channels, sizeof *entry->deviation, &entry->deviation), "deviation");
    for (size_t i = 0; i < channels; i++) {
        entry->mean[i] = uniform(0.3, 0.6);
        entry->deviation[i] = uniform(0.2, 0.5);
    }
    for (size_t i = 0; i < planes; i++)
        entry->planes[i] = uniform(-0.5, 0.5);
    const size_t maps = maps_for(across * down, channels + planes, width * height, most);
    GfLinear *linear = add_layer(filter, maps, channels + planes, 1, width, height);
    linear->sampling = random_sampling(width, height);
    linear->sampling.border = below(4) ? GF_BORDER_CONSTANT : linear->sampling.border;
    if (first) {
        linear->sampling.stride_x = linear->sampling.stride_y = (size_t)1 << below(3);
        linear->sampling.dilation_x = linear->sampling.dilation_y = 1;
    }
    add_bias(linear, 0.5);
    if (below(2))
        add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    must(gf_filter_add_exit(filter, (GfExit){false, 0.0, 1.0}), "exit");
    GfFormat format = format_of(across, down, colours, depth[0]);
    format.has_alpha = false;
    return run_picked("entered layers", format, layer_options(depth, turn), 1, filter);
}

/* One turn after the other, each drawn until it is well-conditioned. */
static void draw_each(bool (*draw)(size_t turn), size_t count)
{
    for (size_t i = 0; i < count; i++)
        while (!draw(i))
            ;
}

/* Maps of a channel, a strip of 128 columns wide and more, of integers and halves narrower ones,
 * too: rows that begin anywhere or where vectors do, more filters than a launch's parameters hold,
 * every border, constants that are samples or not. */
static bool map_strips(size_t turn)
{
    static const size_t widths[] = {128, 129, 130, 131, 132, 135, 255, 256, 257, 260,
                                    383, 517, 64,  32,  33,  36,  100, 127, 31};
    static const GfSample kinds[][2] = {{GF_F32, GF_F32}, {GF_U8, GF_F32}, {GF_U16, GF_F32},
                                        {GF_F16, GF_F32}, {GF_U8, GF_U8},  {GF_U16, GF_U16},
                                        {GF_F16, GF_U8},  {GF_U16, GF_U8}};
    const GfSample *kind = kinds[turn % 3 ? 0 : turn / 3 % (sizeof kinds / sizeof *kinds)];
    static const size_t maps[] = {1, 2, 3, 5, 8, 9, 21, 35};
    const size_t widest = sizeof widths / sizeof *widths, side = 1 + 2 * (turn % 4);
    const size_t across = widths[turn / 4 % widest], down = 1 + below(turn % 7 ? 18 : 70);
    const size_t most = maps[below(sizeof maps / sizeof *maps)];
    const size_t wished = turn % 13 ? maps_for(across * down, 1, side * side, most) : most;
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, wished, 1, 1, side, side);
    linear->sampling.fit = turn % 2 ? GF_FIT_BORDER : GF_FIT_SAME_UPPER;
    linear->sampling.border = (GfBorder)below(GF_BORDER_VALID);
    linear->sampling.border_value = below(2) ? 0.0 : 0.5;
    linear->scale = below(4) ? 1.0 : 0.3;
    if (below(3))
        add_bias(linear, 0.25);
    if (below(3) == 0)
        add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    GfPlanOptions options = options_of(kind[0], (GfBorder)(turn / 4 % GF_BORDER_VALID));
    options.sample = kind[1];
    return run_picked("strips of maps", format_of(across, down, 1, kind[0]), options, 1, filter);
}

void test_layers(void)
{
    draw_each(map_strips, quick ? 27 : 1152);
    draw_each(random_layer, quick ? 9 : 400);
    draw_each(random_first_layer, quick ? 3 : 150);
    draw_each(many_maps, quick ? 3 : 9);
    draw_each(random_tall_layer, quick ? 2 : 27);
    draw_each(random_pooled_layer, quick ? 4 : 150);
    draw_each(random_picture_layer, quick ? 5 : 240);
    draw_each(random_colour_layer, quick ? 4 : 120);
    draw_each(random_entered_layer, quick ? 4 : 200);
    draw_each(random_deep_layer, quick ? 3 : 90);
    draw_each(random_patch_layer, quick ? 10 : 240);
    draw_each(random_flat_layer, quick ? 8 : 60);
    draw_each(random_pixel_layer, quick ? 8 : 90);
    draw_each(wide_maps, quick ? 6 : 40);
    draw_each(deepest_layer, quick ? 3 : 36);
    draw_each(glaring_layer, quick ? 6 : 90);
}

static void random_pool(size_t turn)
{
    const GfSample *depth = depths[turn % DEPTHS];
    size_t width = 1 + below(5), height = 1 + below(5);
    GfFormat format = format_of(1 + below(70), 1 + below(40), 1 + below(9), depth[0]);
    GfFilter *filter = new_filter();
    GfPool *pool = add_pool(filter, (GfPoolOp)below(3), width, height);
    if (below(2)) {
        pool->sampling = random_sampling(width / 2, height / 2);
        pool->sampling.fit = GF_FIT_PAD;
        pool->ceil = below(2);
        pool->count_padding = below(2);
    }
    if (below(2)) {
        pool->bias_count = format.channels;
        must(gf_allocate(format.channels, sizeof *pool->bias, &pool->bias), "bias");
        for (size_t i = 0; i < format.channels; i++)
            pool->bias[i] = uniform(-0.5, 0.5) * gf_sample_max(depth[0]);
    }
    if (below(3) == 0)
        add_function(filter, random_function(), 0.25, 100.0);
    /* There is nothing in it for methods to differ in. */
    run_some("pools", format, layer_options(depth, turn / DEPTHS), method_count, filter);
}

void test_pools(void)
{
    for (size_t i = 0; i < (quick ? 4 : 200); i++)
        random_pool(i);
}

/* Convolution, bias, function, pool, and again, as in LeNet-5. */
static void random_network(size_t turn)
{
    const GfSample *depth = depths[turn % DEPTHS];
    size_t channels = 1 + below(4), first = 1 + below(6), second = 1 + below(9);
    double white = gf_sample_max(depth[0]);
    GfFilter *filter = new_filter();
    GfLinear *linear = add_layer(filter, first, channels, 1, 5, 5);
    linear->sampling = random_sampling(5, 5);
    add_bias(linear, white / 8.0);
    add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    add_pool(filter, GF_POOL_MAX, 2, 2);
    linear = add_layer(filter, second, first, 1, 1 + below(5), 3);
    linear->sampling.fit = GF_FIT_SAME_LOWER;
    add_bias(linear, white / 8.0);
    add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
    add_pool(filter, (GfPoolOp)below(3), 2, 2)->ceil = true;
    if (below(2))
        add_function(filter, GF_POINTWISE_TANH, 0.0, 0.0);
    GfFormat format = format_of(20 + below(60), 24 + below(50), channels, depth[0]);
    format.has_alpha = false;
    run_one("networks", format, layer_options(depth, turn / DEPTHS), filter);
}

/* Layers of a map each, whose kernels may begin before those whose map they read have ended; a
 * third of the pictures are too large for a block's shared memory; of the quick ones one, since
 * racecheck takes much memory. */
static bool random_chain(size_t turn)
{
    const GfSample *depth = depths[turn % DEPTHS];
    GfFilter *filter = new_filter();
    for (size_t i = 0; i < 2; i++) {
        size_t side = 1 + 2 * below(4);
        GfLinear *linear = add_layer(filter, i == 0 ? 1 : 1 + below(6), 1, 1, side, side);
        linear->sampling.fit = GF_FIT_BORDER;
        add_bias(linear, gf_sample_max(depth[0]) / 4.0);
    }
    const bool large = quick ? turn == 0 : turn / 2 % 3 == 0;
    GfFormat format = large ? format_of(300 + below(300), 200 + below(100), 1, depth[0])
                            : format_of(10 + below(90), 10 + below(60), 1, depth[0]);
    return run_picked("chains of layers", format, layer_options(depth, turn / DEPTHS), 1, filter);
}

/* Classic filters before and after a layer of one group a channel, opacity and all. */
static void random_mixture(size_t turn)
{
    size_t channels = 1 + turn % 4;
    GfFilter *filter = new_filter();
    add_kernel(filter, 1, 3, 3, POSITIVE);
    add_layer(filter, channels, 1, channels, 3, 3)->sampling.fit = GF_FIT_BORDER;
    add_kernel(filter, 1, 1 + below(7), 1 + below(7), POSITIVE);
    run_one("mixtures", format_of(30 + below(40), 30, channels, samples[turn % SAMPLES]),
            options_of(samples[turn % SAMPLES], (GfBorder)(turn / SAMPLES % BORDERS)), filter);
}

/* Entries, additions and enlargements too. */
static bool drafted_network(size_t turn)
{
    char text[400];
    size_t channels = 1 + below(4);
    GfFormat format = format_of(1 + below(70), 1 + below(60), channels, samples[turn % SAMPLES]);
    GfFilter *filter = draft_network(&format, below, text, sizeof text);
    GfPlanOptions options =
        options_of(samples[turn / SAMPLES % SAMPLES], (GfBorder)(turn % (BORDERS - 1)));
    options.gray = below(3) == 0 ? GF_GRAY_BT709 : GF_GRAY_NONE;
    return run_picked(text, format, options, 3, filter);
}

void test_networks(void)
{
    draw_each(drafted_network, quick ? 2 : 120);
    for (size_t i = 0; i < (quick ? 2 : 90); i++)
        random_network(i);
    draw_each(random_chain, quick ? 3 : 108);
    for (size_t i = 0; i < (quick ? 1 : 36); i++)
        random_mixture(i);
}
