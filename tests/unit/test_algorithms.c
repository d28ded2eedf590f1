/* Which method `auto` takes for layers, and which pools one does in the launch of the layer before
 * them, by steps that the plan made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/status.h"
#include "gpu/algorithms.h"

/* A layer of `maps` maps and K x K taps, its pool, and what the picture is. */
typedef struct Pair {
    GfFormat format;
    GfSample out;
    size_t maps, side;
    size_t columns;              /* of kernels that are no squares, side x columns; 0: side */
    size_t dilation, stride;     /* 0: 1 */
    bool padded;                 /* are maps as large as the picture? */
    GfPool pool;                 /* its size is 2 x 2 where there is none */
    bool bank;                   /* a filter on pictures, no layer */
    size_t groups;               /* 0: 1 */
    GfPointwiseOp before, after; /* ABS: none */
} Pair;

static const Pair tutorial = {
    .format = {.width = 28, .height = 28, .channels = 1, .sample = GF_F32},
    .out = GF_F32,
    .maps = 16,
    .side = 5};

static GfFilter *make_filter(const Pair *pair)
{
    GfLinear *linear;
    GfPool *pool, wanted = pair->pool;
    GfFilter *filter = calloc(1, sizeof *filter);
    assert_non_null(filter);
    size_t side = pair->side, channels = pair->format.channels;
    size_t columns = pair->columns ? pair->columns : side;
    size_t groups = pair->groups ? pair->groups : 1;
    if (pair->bank)
        assert_int_equal(gf_filter_add_kernel(filter, 1, side, side, &linear), GF_OK);
    else
        assert_int_equal(gf_filter_add_layer(filter, pair->maps, channels / groups, groups, columns,
                                             side, &linear),
                         GF_OK);
    if (pair->dilation)
        linear->sampling.dilation_x = linear->sampling.dilation_y = pair->dilation;
    if (pair->stride)
        linear->sampling.stride_x = linear->sampling.stride_y = pair->stride;
    if (pair->padded)
        linear->sampling.fit = GF_FIT_SAME_UPPER;
    for (size_t i = 0; i < linear->filters * gf_linear_taps(linear); i++)
        linear->weights[i] = 1.0 / (double)(side * side);
    if (pair->before)
        assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){.op = pair->before}), GF_OK);
    assert_int_equal(gf_filter_add_pool(filter, wanted.op, wanted.width ? wanted.width : 2,
                                        wanted.height ? wanted.height : 2, &pool),
                     GF_OK);
    if (wanted.sampling.stride_x)
        pool->sampling = wanted.sampling;
    pool->ceil = wanted.ceil;
    if (wanted.bias_count) {
        assert_int_equal(gf_allocate_zero(wanted.bias_count, sizeof *pool->bias, &pool->bias),
                         GF_OK);
        pool->bias_count = wanted.bias_count;
    }
    if (pair->after)
        assert_int_equal(gf_filter_add_pointwise(filter, (GfPointwise){.op = pair->after}), GF_OK);
    return filter;
}

static GfPlan *make_plan(const Pair *pair, const GfFilter *filter)
{
    GfPlan *plan;
    GfPlanOptions options = gf_plan_options_default(pair->format.sample);
    options.sample = pair->out;
    assert_int_equal(gf_plan_create(&filter, 1, &pair->format, &options, &plan), GF_OK);
    assert_int_equal(plan->pipelines[0].count, 2);
    return plan;
}

/* Does a method pool, and is it `special`, which takes the layer? */
static bool is_pooled(const Pair *pair)
{
    GfFilter *filter = make_filter(pair);
    GfPlan *plan = make_plan(pair, filter);
    const GfStep *step = plan->pipelines[0].steps;
    bool pooled = false;
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++)
        if (row->supports(step, plan->pipelines[0].wide) == GF_OK && row->pools &&
            row->pools(step, step + 1)) {
            assert_string_equal(row->name, "special");
            pooled = true;
        }
    gf_plan_free(plan);
    gf_filter_free(filter);
    return pooled;
}

/* Products of groups of warps are those of 9.0. */
static GfCard card_of(int capability)
{
    return (GfCard){.capability = capability, .groups = capability == 90};
}

/* What `auto` takes for the layer, before its pool or something else. */
static const char *chosen_by(const Pair *pair, bool pool, GfUse use, int capability)
{
    GfFilter *filter = make_filter(pair);
    GfPlan *plan = make_plan(pair, filter);
    const GfPipeline *pipeline = &plan->pipelines[0];
    const GfStep *step = pipeline->steps, *next = pool ? step + 1 : NULL;
    const GfCard card = card_of(capability);
    use.wide = use.wide || pipeline->wide;
    const char *name = gf_algorithm_choose(step, next, &use, &card)->name;
    gf_plan_free(plan);
    gf_filter_free(filter);
    return name;
}

/* On so many pictures, their rows as peers have them. */
static const char *chosen_for(const Pair *pair, bool pool, size_t pictures, int capability)
{
    return chosen_by(pair, pool, (GfUse){.pictures = pictures, .packed = true}, capability);
}

static const char *chosen(const Pair *pair, int capability)
{
    return chosen_for(pair, false, 1, capability);
}

/* Layers large enough to be worth while on tensor cores. */
static void test_layers_on_tensor_cores(void **unused)
{
    const Pair large = {.format = {.width = 256, .height = 256, .channels = 64, .sample = GF_F32},
                        .out = GF_F32,
                        .maps = 64,
                        .side = 3};
    Pair pair = large;
    (void)unused;
    assert_string_equal(chosen(&pair, 90), "tensor");
    assert_string_equal(chosen(&pair, 80), "tensor");
    assert_string_equal(chosen(&pair, 75), "general");
    for (pair.side = 1; pair.side <= 16; pair.side++) {
        assert_string_equal(chosen(&pair, 90), "tensor");
        if (pair.side % 2 == 0 || pair.side > 7)
            assert_string_equal(chosen(&pair, 80), "implicit");
    }
    pair.side = 17;
    assert_string_equal(chosen(&pair, 90), "implicit");
}

/* A layer on one picture of so many outputs, and the method that took least time on an H200: by a
 * fifth or more, of all that can run it (bench, suites `general` and `drawn`). */
typedef struct Measured {
    GfSample sample;
    size_t channels, maps, side, rows, columns; /* of a map */
    const char *name;
} Measured;

static void check_measured(const Measured *cases, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const Measured *c = &cases[i];
        const Pair pair = {.format = {.width = c->columns + c->side - 1,
                                      .height = c->rows + c->side - 1,
                                      .channels = c->channels,
                                      .sample = c->sample},
                           .out = GF_F32,
                           .maps = c->maps,
                           .side = c->side};
        const char *taken = chosen(&pair, 90);
        if (strcmp(taken, c->name) == 0)
            continue;
        print_message("%zu x %zu x %zu to %zu maps, %zu x %zu: %s, not %s\n", c->channels, c->rows,
                      c->columns, c->maps, c->side, c->side, c->name, taken);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void test_measured_layers(void **unused)
{
    static const Measured cases[] = {
        {GF_F32, 6, 4, 5, 32, 7, "general"},      {GF_F32, 13, 5, 3, 7, 48, "general"},
        {GF_F32, 25, 56, 3, 16, 26, "general"},   {GF_F32, 9, 10, 3, 217, 96, "general"},
        {GF_F32, 17, 39, 3, 151, 16, "general"},  {GF_F32, 216, 25, 3, 7, 11, "tensor"},
        {GF_F32, 131, 20, 3, 9, 50, "tensor"},    {GF_F32, 35, 72, 7, 109, 13, "tensor"},
        {GF_F32, 87, 199, 3, 12, 82, "tensor"},   {GF_F32, 14, 334, 5, 112, 16, "tensor"},
        {GF_F32, 213, 18, 3, 104, 194, "tensor"}, {GF_F32, 489, 191, 5, 90, 141, "tensor"},
        {GF_F32, 16, 64, 3, 32, 32, "general"},   {GF_F32, 256, 128, 7, 224, 224, "tensor"},
        {GF_F32, 6, 132, 5, 240, 156, "tensor"},  {GF_F32, 7, 64, 5, 56, 56, "general"},
        {GF_F32, 6, 20, 3, 64, 64, "general"},    {GF_F32, 34, 18, 7, 8, 7, "tensor"},
        {GF_F32, 380, 24, 3, 64, 160, "tensor"},  {GF_F32, 509, 25, 1, 15, 11, "tensor"},
        {GF_F32, 18, 43, 1, 19, 25, "general"},   {GF_F32, 323, 2, 5, 24, 7, "tensor"},
        {GF_F32, 640, 8, 3, 29, 14, "tensor"},    {GF_F32, 827, 5, 3, 9, 65, "tensor"},
        {GF_F32, 926, 4, 3, 82, 8, "tensor"},     {GF_F32, 490, 10, 3, 224, 96, "tensor"},
        {GF_F32, 297, 5, 5, 128, 48, "tensor"},   {GF_F32, 10, 10, 5, 20, 20, "general"},
        {GF_F32, 6, 7, 7, 22, 16, "general"},     {GF_F32, 18, 102, 3, 42, 128, "tensor"},
        {GF_F32, 56, 224, 3, 13, 26, "tensor"},   {GF_F32, 12, 40, 5, 96, 96, "tensor"},
        {GF_F32, 12, 96, 5, 56, 56, "tensor"}};
    (void)unused;
    check_measured(cases, sizeof cases / sizeof *cases);
}

/* The last eleven were measured since `tensor` reads their samples as they are
 * (bench/results/2026-11-29-h200-6.md, 2026-11-30-h200-2.md), the others before. */
static void test_single_taps(void **unused)
{
    static const Measured cases[] = {
        {GF_F32, 6, 26, 1, 211, 10, "general"},   {GF_F32, 8, 8, 1, 70, 35, "general"},
        {GF_F32, 8, 56, 1, 20, 77, "general"},    {GF_F32, 162, 395, 1, 23, 11, "implicit"},
        {GF_F32, 10, 463, 1, 28, 5, "general"},   {GF_F32, 8, 304, 1, 249, 111, "tensor"},
        {GF_F32, 13, 2, 1, 183, 177, "implicit"}, {GF_F32, 16, 64, 1, 54, 54, "general"},
        {GF_F32, 16, 906, 1, 70, 133, "tensor"},  {GF_F32, 32, 16, 1, 88, 232, "general"},
        {GF_F32, 32, 80, 1, 10, 8, "general"},    {GF_F32, 30, 195, 1, 217, 175, "tensor"},
        {GF_F32, 42, 9, 1, 192, 60, "general"},   {GF_F32, 64, 104, 1, 223, 217, "tensor"},
        {GF_F32, 64, 256, 1, 56, 56, "tensor"},   {GF_F32, 96, 936, 1, 70, 6, "tensor"},
        {GF_F32, 174, 5, 1, 8, 243, "implicit"},  {GF_F32, 235, 51, 1, 61, 12, "implicit"},
        {GF_F32, 256, 32, 1, 27, 27, "implicit"}, {GF_F32, 274, 5, 1, 56, 9, "implicit"},
        {GF_F32, 302, 6, 1, 80, 60, "implicit"},  {GF_F32, 541, 36, 1, 69, 111, "tensor"},
        {GF_F32, 549, 863, 1, 10, 38, "tensor"},  {GF_F32, 740, 69, 1, 5, 50, "tensor"},
        {GF_F32, 895, 5, 1, 17, 122, "implicit"}, {GF_F32, 1024, 256, 1, 14, 14, "tensor"},
        {GF_F32, 1, 36, 1, 416, 294, "special"},  {GF_F32, 5, 363, 1, 48, 61, "tensor"},
        {GF_F32, 8, 738, 1, 245, 284, "tensor"},  {GF_F32, 16, 2, 1, 253, 493, "implicit"},
        {GF_F32, 24, 378, 1, 160, 160, "tensor"}, {GF_F32, 29, 520, 1, 7, 24, "general"},
        {GF_F32, 54, 426, 1, 33, 32, "tensor"},   {GF_F32, 64, 48, 1, 200, 184, "tensor"},
        {GF_F32, 68, 8, 1, 13, 17, "general"},    {GF_F32, 88, 195, 1, 73, 292, "tensor"},
        {GF_F32, 90, 124, 1, 45, 240, "tensor"},  {GF_F32, 502, 32, 1, 240, 36, "tensor"},
        {GF_F32, 256, 256, 1, 20, 20, "implicit"}};
    (void)unused;
    check_measured(cases, sizeof cases / sizeof *cases);
}

/* Windows that are not side by side, on few channels: few of them are no work for tensor cores. */
static void test_few_windows(void **unused)
{
    const struct {
        GfSample sample;
        size_t channels, maps, side, stride, rows, columns; /* of a map */
        const char *name;
    } cases[] = {
        {GF_F32, 1, 12, 3, 2, 104, 35, "shared"}, {GF_F32, 1, 36, 3, 2, 129, 192, "tensor"},
        {GF_U8, 1, 16, 5, 2, 61, 119, "shared"},  {GF_U8, 1, 72, 5, 2, 184, 48, "tensor"},
        {GF_F32, 1, 8, 9, 2, 43, 32, "tensor"},   {GF_F32, 3, 16, 9, 4, 17, 36, "implicit"},
        {GF_F32, 3, 64, 11, 4, 55, 55, "tensor"}, {GF_U8, 3, 64, 11, 4, 55, 55, "tensor"},
        {GF_U8, 3, 12, 9, 4, 64, 52, "tensor"},   {GF_F32, 3, 30, 7, 4, 64, 247, "tensor"},
        {GF_U8, 4, 10, 7, 4, 172, 148, "shared"}, {GF_F32, 4, 42, 3, 4, 44, 49, "implicit"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t stride = cases[i].stride, side = cases[i].side;
        const Pair pair = {.format = {.width = (cases[i].columns - 1) * stride + side,
                                      .height = (cases[i].rows - 1) * stride + side,
                                      .channels = cases[i].channels,
                                      .sample = cases[i].sample},
                           .out = GF_F32,
                           .maps = cases[i].maps,
                           .side = side,
                           .stride = stride};
        if (strcmp(chosen(&pair, 90), cases[i].name) != 0)
            print_message("case %zu\n", i);
        assert_string_equal(chosen(&pair, 90), cases[i].name);
    }
}

/* Many pictures are work for tensor cores where one is not; with 5 x 5 taps they are not either. */
static void test_minibatches(void **unused)
{
    Pair pair = {.format = {.width = 86, .height = 86, .channels = 1, .sample = GF_F32},
                 .out = GF_F32,
                 .maps = 4,
                 .side = 7};
    (void)unused;
    assert_string_equal(chosen_for(&pair, false, 1, 90), "special");
    assert_string_equal(chosen_for(&pair, false, 100, 90), "tensor");
    assert_string_equal(chosen_for(&pair, true, 100, 90), "special");
    pair.side = 5;
    pair.maps = 16;
    pair.format.width = pair.format.height = 32;
    assert_string_equal(chosen_for(&pair, false, 1024, 90), "special");
}

/* One channel under 7 x 7 taps: a small picture's maps go to tensor cores where they are many. */
static void test_maps_of_small_pictures(void **unused)
{
    const struct {
        size_t side, maps; /* of the maps */
        const char *name;
    } cases[] = {{512, 4, "special"},
                 {516, 4, "tensor"},
                 {128, 16, "special"},
                 {160, 16, "tensor"},
                 {256, 16, "tensor"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t bytes = 0; bytes < 2; bytes++) {
            const Pair pair = {.format = {.width = cases[i].side + 6,
                                          .height = cases[i].side + 6,
                                          .channels = 1,
                                          .sample = bytes ? GF_U8 : GF_F32},
                               .out = GF_F32,
                               .maps = cases[i].maps,
                               .side = 7};
            assert_string_equal(chosen(&pair, 90), cases[i].name);
        }
}

/* Many maps of one channel, on cards that copy their rows and on others; and on several small
 * pictures. */
static void test_many_maps(void **unused)
{
    const struct {
        GfSample sample;
        size_t pictures, maps, side, rows, columns; /* of a map */
        const char *name, *elsewhere;
    } cases[] = {{GF_U8, 1, 32, 3, 2048, 2048, "tensor", "special"},
                 {GF_U8, 1, 32, 3, 512, 512, "special", "special"},
                 {GF_U8, 1, 64, 5, 1024, 1024, "tensor", "special"},
                 {GF_U8, 8, 64, 3, 224, 224, "tensor", "special"},
                 {GF_F32, 64, 64, 3, 224, 224, "tensor", "special"},
                 {GF_F32, 1, 32, 3, 1024, 1024, "special", "special"},
                 {GF_F32, 1, 32, 5, 512, 512, "tensor", "tensor"},
                 {GF_F32, 64, 16, 7, 28, 28, "special", "special"},
                 {GF_F32, 64, 32, 7, 14, 14, "tensor", "tensor"},
                 {GF_F32, 150, 32, 7, 14, 14, "special", "special"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Pair pair = {.format = {.width = cases[i].columns,
                                      .height = cases[i].rows,
                                      .channels = 1,
                                      .sample = cases[i].sample},
                           .out = GF_F32,
                           .maps = cases[i].maps,
                           .side = cases[i].side,
                           .padded = true};
        assert_string_equal(chosen_for(&pair, false, cases[i].pictures, 90), cases[i].name);
        assert_string_equal(chosen_for(&pair, false, cases[i].pictures, 80), cases[i].elsewhere);
    }
}

/* Windows that far apart have room in the shared memory of cards with products of groups alone. */
static void test_dilated_layers(void **unused)
{
    Pair pair = {.format = {.width = 64, .height = 64, .channels = 256, .sample = GF_F32},
                 .out = GF_F32,
                 .maps = 256,
                 .side = 3,
                 .dilation = 4};
    (void)unused;
    assert_string_equal(chosen(&pair, 90), "tensor");
    assert_string_equal(chosen(&pair, 80), "tensor");
    pair.dilation = 12;
    assert_string_equal(chosen(&pair, 90), "tensor");
    assert_string_equal(chosen(&pair, 80), "implicit");
    assert_string_equal(chosen(&pair, 75), "implicit");
}

/* Kernels that are no squares of an odd side up to 7, as measured, by a third or more
 * (bench/results/2026-11-30-h200-4.md). */
static void test_other_kernels(void **unused)
{
    static const struct {
        size_t channels, maps, groups, rows, columns, stride, height, width;
        const char *method;
    } layers[] = {{128, 128, 1, 1, 7, 1, 17, 17, "tensor"},
                  {192, 192, 1, 7, 1, 1, 17, 17, "tensor"},
                  {384, 384, 1, 1, 3, 1, 8, 8, "tensor"},
                  {384, 768, 1, 2, 2, 2, 7, 7, "tensor"},
                  {256, 512, 1, 4, 4, 2, 16, 16, "tensor"},
                  {150, 72, 6, 4, 4, 1, 41, 39, "tensor"},
                  {116, 18, 1, 2, 2, 1, 69, 82, "tensor"},
                  /* patches, and few channels (bench/results/2026-11-30-h200-5.md) */
                  {3, 768, 1, 16, 16, 16, 14, 14, "tensor"},
                  {3, 1024, 1, 14, 14, 14, 16, 16, "tensor"},
                  {3, 96, 1, 4, 4, 4, 56, 56, "tensor"},
                  {3, 200, 1, 6, 6, 1, 236, 456, "tensor"},
                  {1, 189, 1, 4, 4, 1, 99, 48, "tensor"}};
    (void)unused;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const size_t stride = layers[i].stride;
        const Pair pair = {.format = {.width = (layers[i].width - 1) * stride + layers[i].columns,
                                      .height = (layers[i].height - 1) * stride + layers[i].rows,
                                      .channels = layers[i].channels,
                                      .sample = GF_F32},
                           .out = GF_F32,
                           .maps = layers[i].maps,
                           .groups = layers[i].groups,
                           .side = layers[i].rows,
                           .columns = layers[i].columns,
                           .stride = stride};
        assert_string_equal(chosen(&pair, 90), layers[i].method);
    }
}

/* A map a channel is nothing for a product of matrices. */
static void test_depthwise_layers(void **unused)
{
    Pair pair = {.format = {.width = 56, .height = 56, .channels = 64, .sample = GF_F32},
                 .out = GF_F32,
                 .maps = 64,
                 .side = 3,
                 .groups = 64};
    (void)unused;
    assert_string_equal(chosen(&pair, 75), "special");
    pair.format.sample = pair.out = GF_U8;
    assert_string_equal(chosen(&pair, 90), "special");
    pair.side = 4;
    assert_string_equal(chosen(&pair, 90), "shared");
    /* Several maps a channel, as measured (bench/results/2026-11-29-h200-3.md). */
    pair.format.width = pair.format.height = 128;
    pair.maps = 320;
    assert_string_equal(chosen(&pair, 90), "shared");
    pair = (Pair){.format = {.width = 56, .height = 56, .channels = 64, .sample = GF_F32},
                  .out = GF_F32,
                  .maps = 256,
                  .side = 3,
                  .groups = 64};
    assert_string_equal(chosen(&pair, 90), "shared");
}

/* A layer as it was measured: channels and maps of each group; height and width of the maps; the
 * method that took least time, by a quarter or more. */
typedef struct Grouped {
    size_t channels, maps, groups, side, height, width;
    const char *method;
} Grouped;

static void check_grouped(const Grouped *layers, size_t count, bool wide)
{
    const GfUse use = {.wide = wide, .pictures = 1, .packed = true};
    for (size_t i = 0; i < count; i++) {
        const Pair pair = {.format = {.width = layers[i].width + layers[i].side - 1,
                                      .height = layers[i].height + layers[i].side - 1,
                                      .channels = layers[i].channels * layers[i].groups,
                                      .sample = GF_F32},
                           .out = GF_F32,
                           .maps = layers[i].maps * layers[i].groups,
                           .groups = layers[i].groups,
                           .side = layers[i].side};
        assert_string_equal(chosen_by(&pair, false, use, 90), layers[i].method);
    }
}

/* Layers in groups (bench/results/2026-11-29-h200-3.md; the last thirteen are some of those that
 * the estimates of 2026-11-30-h200-3.md were fitted to). */
static void test_groups(void **unused)
{
    static const Grouped layers[] = {
        {4, 4, 32, 3, 56, 56, "general"},   {4, 4, 113, 3, 21, 48, "general"},
        {8, 8, 32, 3, 28, 28, "general"},   {8, 8, 167, 3, 231, 15, "general"},
        {16, 16, 32, 3, 14, 14, "general"}, {3, 3, 147, 5, 144, 73, "general"},
        {4, 4, 7, 5, 193, 66, "general"},   {9, 1, 43, 5, 7, 28, "general"},
        {6, 6, 13, 7, 212, 60, "general"},  {22, 22, 9, 3, 35, 6, "general"},
        {23, 23, 48, 3, 57, 20, "tensor"},  {20, 20, 45, 3, 193, 38, "tensor"},
        {4, 4, 21, 1, 164, 21, "implicit"}, {10, 10, 17, 1, 17, 180, "implicit"},
        {4, 1, 19, 1, 130, 21, "implicit"}, {16, 16, 14, 1, 6, 9, "general"},
        {4, 4, 16, 9, 56, 56, "shared"},    {12, 12, 3, 7, 27, 48, "general"},
        {1, 8, 20, 1, 64, 80, "general"},   {1, 6, 57, 1, 150, 72, "general"},
        {4, 32, 33, 1, 61, 34, "implicit"}, {3, 18, 37, 1, 19, 45, "implicit"},
        {3, 5, 31, 1, 84, 56, "general"},   {1, 7, 45, 1, 40, 15, "shared"},
        {21, 8, 24, 7, 59, 31, "tensor"},   {29, 7, 10, 5, 26, 62, "tensor"},
        {10, 9, 25, 7, 7, 52, "tensor"},    {33, 15, 7, 1, 19, 36, "general"},
        {29, 16, 10, 1, 34, 10, "general"}, {16, 16, 6, 7, 72, 8, "general"},
        {4, 4, 39, 1, 162, 141, "shared"}};
    (void)unused;
    check_grouped(layers, sizeof layers / sizeof *layers, false);
}

/* Sums in f64: some of the layers that the estimates were fitted to
 * (bench/results/2026-11-30-h200-4.md). */
static void test_sums_in_f64(void **unused)
{
    static const Grouped layers[] = {
        {2, 24, 1, 7, 156, 22, "shared"},   {8, 7, 10, 7, 73, 43, "shared"},
        {29, 55, 1, 6, 73, 52, "shared"},   {74, 73, 1, 6, 17, 69, "shared"},
        {7, 20, 13, 3, 75, 55, "shared"},   {55, 62, 1, 1, 49, 16, "implicit"},
        {35, 88, 1, 1, 29, 12, "implicit"}, {67, 30, 1, 2, 49, 75, "implicit"}};
    (void)unused;
    check_grouped(layers, sizeof layers / sizeof *layers, true);
}

/* Layers on pictures: there kernels of all odd heights up to 11 are, but of one channel only those
 * of more than 3 x 3 taps. */
static void test_layers_on_pictures(void **unused)
{
    const Pair colour = {.format = {.width = 256, .height = 256, .channels = 3, .sample = GF_U8},
                         .out = GF_F32,
                         .maps = 16,
                         .side = 3};
    Pair pair = colour;
    (void)unused;
    for (pair.side = 3; pair.side <= 13; pair.side++)
        assert_string_equal(chosen(&pair, 80), pair.side < 12 ? "tensor" : "shared");
    pair = colour;
    assert_string_equal(chosen(&pair, 75), "shared");
    pair.format.width = pair.format.height = 16;
    pair.side = 5;
    assert_string_equal(chosen(&pair, 90), "general");
    pair = (Pair){.format = {.width = 149, .height = 73, .channels = 3, .sample = GF_F32},
                  .out = GF_F32,
                  .maps = 16,
                  .side = 9,
                  .stride = 4};
    assert_string_equal(chosen(&pair, 90), "implicit");
    /* Unless a network's entry is a launch less by it. */
    assert_string_equal(chosen_by(&pair, false, (GfUse){.pictures = 1, .enters = true}, 90),
                        "tensor");
    pair = colour;
    pair.format.channels = 1;
    pair.side = 5;
    assert_string_equal(chosen(&pair, 75), "special");
    assert_string_equal(chosen_for(&pair, true, 1, 90), "special");
}

static void test_measured_pictures(void **unused)
{
    static const Measured cases[] = {/* of several channels */
                                     {GF_U8, 4, 4, 9, 238, 160, "tensor"},
                                     {GF_F32, 3, 5, 9, 368, 496, "tensor"},
                                     {GF_U8, 3, 6, 3, 152, 505, "tensor"},
                                     {GF_F32, 4, 5, 7, 10, 37, "general"},
                                     {GF_F32, 4, 5, 7, 7, 245, "general"},
                                     {GF_F32, 4, 4, 7, 727, 80, "tensor"},
                                     /* of one: rows of whole words */
                                     {GF_F32, 1, 1, 3, 800, 848, "special"},
                                     {GF_F32, 1, 26, 3, 784, 880, "special"},
                                     {GF_F32, 1, 61, 3, 80, 80, "special"},
                                     {GF_F32, 1, 1, 5, 2249, 2528, "special"},
                                     {GF_F32, 1, 2, 5, 2464, 160, "special"},
                                     {GF_F32, 1, 62, 5, 269, 400, "special"},
                                     {GF_F32, 1, 10, 7, 1189, 112, "special"},
                                     {GF_F32, 1, 8, 7, 233, 1744, "tensor"},
                                     {GF_F32, 1, 1, 7, 3831, 304, "special"},
                                     {GF_F32, 1, 1, 7, 199, 112, "special"},
                                     {GF_F32, 1, 4, 7, 2701, 656, "tensor"},
                                     {GF_F32, 1, 45, 7, 426, 272, "tensor"},
                                     /* rows of bytes that begin anywhere */
                                     {GF_U8, 1, 8, 3, 1001, 1401, "tensor"},
                                     {GF_U8, 1, 64, 3, 1001, 1201, "special"},
                                     {GF_U8, 1, 16, 3, 501, 701, "special"},
                                     {GF_U8, 1, 32, 5, 701, 901, "tensor"},
                                     /* small ones */
                                     {GF_U8, 1, 4, 7, 80, 80, "special"},
                                     {GF_F32, 1, 16, 7, 80, 80, "special"},
                                     {GF_F32, 1, 64, 7, 28, 28, "tensor"},
                                     {GF_U8, 1, 64, 5, 28, 28, "tensor"},
                                     {GF_U8, 1, 16, 5, 199, 112, "special"},
                                     {GF_U8, 1, 64, 7, 199, 112, "tensor"},
                                     {GF_F32, 1, 64, 3, 199, 112, "special"},
                                     /* and others */
                                     {GF_F32, 1, 9, 7, 3728, 174, "special"},
                                     {GF_F32, 1, 9, 7, 1796, 241, "special"},
                                     {GF_F32, 1, 46, 7, 725, 1817, "tensor"},
                                     {GF_F32, 1, 61, 7, 689, 1213, "tensor"},
                                     {GF_F32, 1, 6, 7, 64, 70, "special"},
                                     {GF_F32, 1, 5, 7, 1344, 1961, "special"},
                                     {GF_F32, 1, 1, 3, 1023, 1023, "special"},
                                     {GF_F32, 1, 20, 5, 2905, 3049, "special"},
                                     {GF_F32, 1, 12, 5, 114, 97, "special"},
                                     {GF_F32, 1, 44, 3, 336, 653, "special"},
                                     {GF_F32, 1, 70, 3, 688, 117, "tensor"},
                                     {GF_F32, 1, 32, 3, 1000, 81, "tensor"},
                                     {GF_F32, 1, 32, 3, 125, 125, "special"},
                                     {GF_U8, 1, 70, 5, 688, 117, "tensor"},
                                     {GF_U8, 1, 16, 7, 1023, 1023, "tensor"},
                                     {GF_F32, 3, 16, 5, 61, 61, "general"},
                                     {GF_F32, 4, 16, 7, 61, 61, "general"}};
    (void)unused;
    check_measured(cases, sizeof cases / sizeof *cases);
}

/* Rows that begin where vectors do are stored as vectors, whatever their width; others of floats
 * are woven. */
static void test_rows(void **unused)
{
    Pair pair = {.format = {.width = 1029, .height = 1029, .channels = 1, .sample = GF_F16},
                 .out = GF_F32,
                 .maps = 16,
                 .side = 7};
    (void)unused;
    assert_string_equal(chosen_by(&pair, false, (GfUse){.pictures = 1}, 90), "tensor");
    assert_string_equal(chosen_for(&pair, false, 1, 90), "special");
    pair.format.sample = GF_F32;
    assert_string_equal(chosen_for(&pair, false, 1, 90), "tensor");
    pair.format.width = 104;
    pair.format.height = 202;
    pair.maps = 32;
    pair.side = 3;
    assert_string_equal(chosen_for(&pair, false, 16, 90), "tensor");
    pair.format.width = pair.format.height = 63;
    pair.format.channels = 4;
    pair.maps = 16;
    pair.stride = 2;
    assert_string_equal(chosen_for(&pair, false, 1, 90), "implicit");
    pair.format.sample = GF_U8;
    pair.format.channels = 3;
    pair.maps = 4;
    assert_string_equal(chosen_for(&pair, false, 1, 90), "tensor");
}

/* How a pool of 2 x 2 lies. */
static GfSampling sampling_of(size_t stride, size_t dilation, size_t left, size_t right)
{
    return (GfSampling){.stride_x = stride,
                        .stride_y = stride,
                        .dilation_x = dilation,
                        .dilation_y = dilation,
                        .fit = GF_FIT_PAD,
                        .left = left,
                        .right = right};
}

static void test_pooled(void **unused)
{
    Pair pair = tutorial;
    (void)unused;
    assert_true(is_pooled(&pair));
    pair.before = GF_POINTWISE_RELU;
    assert_true(is_pooled(&pair));
    pair.pool.op = GF_POOL_AVERAGE;
    assert_true(is_pooled(&pair));
    /* A last column or row that is in no window. */
    pair.format.width = 11;
    pair.format.height = 9;
    assert_true(is_pooled(&pair));
    for (pair.side = 1; pair.side <= 7; pair.side++) {
        pair.format.width = pair.format.height = 20;
        assert_true(is_pooled(&pair));
    }
    pair = tutorial;
    pair.pool.ceil = true;
    assert_true(is_pooled(&pair));
    pair.format.sample = pair.out = GF_U8;
    pair.maps = 1;
    assert_true(is_pooled(&pair));
}

static void test_not_pooled(void **unused)
{
    const struct {
        GfPool pool;
        size_t width;
    } pools[] = {{{.op = GF_POOL_L2}, 28},
                 {{.width = 3}, 28},
                 {{.height = 3}, 28},
                 {{.sampling = sampling_of(1, 1, 0, 0)}, 28},
                 {{.sampling = sampling_of(2, 2, 0, 0)}, 28},
                 {{.sampling = sampling_of(2, 1, 1, 0)}, 28},
                 {{.sampling = sampling_of(2, 1, 0, 1)}, 27},
                 {{.ceil = true}, 27},
                 {{.bias_count = 16}, 28}};
    Pair pair = tutorial;
    (void)unused;
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        pair.pool = pools[i].pool;
        pair.format.width = pools[i].width;
        assert_false(is_pooled(&pair));
    }
    pair = tutorial;
    pair.after = GF_POINTWISE_TANH;
    assert_false(is_pooled(&pair));
    pair = tutorial;
    pair.bank = true;
    assert_false(is_pooled(&pair));
    pair = tutorial;
    pair.format.channels = 3;
    assert_false(is_pooled(&pair));
    pair = tutorial;
    pair.side = 9;
    assert_false(is_pooled(&pair));
    pair = tutorial;
    pair.out = GF_F64;
    assert_false(is_pooled(&pair));
    /* What is stored is not what was pooled: 8 bits become 16. */
    pair = tutorial;
    pair.format.sample = GF_U8;
    pair.out = GF_U16;
    assert_false(is_pooled(&pair));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_on_tensor_cores),
        cmocka_unit_test(test_measured_layers),
        cmocka_unit_test(test_single_taps),
        cmocka_unit_test(test_minibatches),
        cmocka_unit_test(test_few_windows),
        cmocka_unit_test(test_maps_of_small_pictures),
        cmocka_unit_test(test_many_maps),
        cmocka_unit_test(test_layers_on_pictures),
        cmocka_unit_test(test_measured_pictures),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_dilated_layers),
        cmocka_unit_test(test_other_kernels),
        cmocka_unit_test(test_sums_in_f64),
        cmocka_unit_test(test_depthwise_layers),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_pooled),
        cmocka_unit_test(test_not_pooled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
