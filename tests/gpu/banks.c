/* Classic filters on pictures of every size, kind and border. */
#include <string.h>

#include "filters/banks.h"
#include "tests/gpu/filters.h"
#include "tests/gpu/groups.h"
#include "tests/gpu/report.h"

static const size_t sizes[][2] = {{1, 1},   {1, 7},   {7, 1},    {2, 3},   {5, 5},   {17, 13},
                                  {33, 31}, {64, 48}, {129, 67}, {300, 5}, {5, 300}, {1030, 40}};
static const size_t kernels[][2] = {{3, 3},   {5, 5},   {7, 7},   {1, 1},  {2, 2},
                                    {4, 3},   {1, 7},   {7, 1},   {9, 9},  {15, 3},
                                    {11, 11}, {13, 12}, {15, 15}, {41, 37}};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    KERNELS = sizeof kernels / sizeof *kernels,
    SMALL_KERNELS = KERNELS - 4 /* the others take long on the reference */
};

/* Every size with every channel count, sample type and border; kernels in turn. */
void test_sizes(void)
{
    size_t turn = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t channels = 1; channels <= 5; channels++)
            for (size_t s = 0; s < SAMPLES; s++)
                for (int border = 0; border < BORDERS; border++) {
                    size_t limit = sizes[i][0] * sizes[i][1] > 1000 ? SMALL_KERNELS : KERNELS;
                    const size_t *k = kernels[turn++ % limit];
                    if (quick && turn % 97 != 0)
                        continue;
                    run_some("sizes", format_of(sizes[i][0], sizes[i][1], channels, samples[s]),
                             options_of(samples[s], (GfBorder)border), 2,
                             kernel(1, k[0], k[1], taps_for(samples[s])));
                }
}

/* Every kernel with every channel count, sample type and border, at one size. */
void test_kernels(void)
{
    size_t turn = 0;
    for (size_t k = 0; k < KERNELS - 1; k++)
        for (size_t channels = 1; channels <= 5; channels++)
            for (size_t s = 0; s < SAMPLES; s++)
                for (int border = 0; border < BORDERS; border++) {
                    GfPlanOptions options = options_of(samples[s], (GfBorder)border);
                    if (quick && turn++ % 131 != 0)
                        continue;
                    options.alpha = channels % 2 ? GF_ALPHA_AUTO : GF_ALPHA_FILTER;
                    run_some("kernels", format_of(37, 21, channels, samples[s]), options, 2,
                             kernel(1, kernels[k][0], kernels[k][1], taps_for(samples[s])));
                }
}

/* Anchors anywhere in the kernel; strides and dilations of banks. */
void test_anchors(void)
{
    for (size_t i = 0; i < (quick ? 3 : 80); i++) {
        size_t width = 1 + below(6), height = 1 + below(6);
        GfSample sample = samples[i % SAMPLES];
        GfFilter *filter = new_filter();
        GfLinear *linear = add_kernel(filter, 1, width, height, taps_for(sample));
        linear->anchor_x = below(width);
        linear->anchor_y = below(height);
        if (i % 3 == 2) {
            linear->sampling.stride_x = 1 + below(3);
            linear->sampling.stride_y = 1 + below(3);
            linear->sampling.dilation_x = 1 + below(2);
            linear->sampling.dilation_y = 1 + below(2);
        }
        GfPlanOptions options = options_of(sample, (GfBorder)(i % BORDERS));
        options.flip = i % 2;
        options.gray = (GfGray)(i % 3);
        GfLight light = i % 8 == 1 ? gf_light_power(1.8) : gf_light_srgb();
        double table[] = {0.0, 0.05, 0.3, 1.0};
        if (i % 16 == 5) /* of three colours, each another */
            light.curves[2] = (GfCurve){.table = table, .points = 4};
        options.light = i % 4 == 1 ? &light : NULL;
        run_one("anchors", format_of(21 + i, 19, 1 + i % 4, sample), options, filter);
    }
}

/* Every combination of a bank's responses, with an offset and functions behind it. */
void test_banks(void)
{
    size_t turn = 0;
    for (int op = GF_COMBINE_L2; op <= GF_COMBINE_UNSHARP; op++)
        for (size_t filters = 2; filters <= 3; filters++)
            for (size_t channels = 1; channels <= 4; channels++)
                for (size_t s = 0; s < SAMPLES; s++) {
                    size_t side = 1 + 2 * (turn++ % 4);
                    if ((op == GF_COMBINE_UNSHARP && filters > 2) || (quick && turn % 29 != 0))
                        continue;
                    GfFilter *filter = new_filter();
                    GfLinear *linear =
                        add_kernel(filter, filters, side, side, taps_for(samples[s]));
                    linear->offset = turn % 3 ? 0.0 : 0.25;
                    GfCombine combine = {(GfCombineOp)op, 0.8, 3.3};
                    must(gf_filter_add_combine(filter, combine), "combine");
                    if (turn % 2)
                        add_function(filter, GF_POINTWISE_AFFINE, 0.5, 0.125);
                    run_one("banks", format_of(45, 38, channels, samples[s]),
                            options_of(samples[s], (GfBorder)(turn % BORDERS)), filter);
                }
}

/* Takes a member out of its list, so that the case may free it. */
static GfFilter *take_member(GfMembers *members, size_t i)
{
    GfFilter *filter = members->filters[i];
    members->filters[i] = members->filters[--members->count];
    return filter;
}

/* Of every bank of the table some members, and all of them combined in every way. */
void test_named_banks(void)
{
    size_t turn = 0;
    for (const GfNamedBank *row = gf_named_banks; row->about.name; row++)
        for (int op = GF_COMBINE_NONE; op <= GF_COMBINE_SUM; op++) {
            GfSample sample = samples[turn % SAMPLES];
            GfPlanOptions options = options_of(sample, (GfBorder)(turn % BORDERS));
            GfMembers members;
            GfFilter *filter;
            if (turn++ % (quick ? 7 : 1) != 0)
                continue;
            must(gf_members_parse(row->about.name, &members), row->about.name);
            if (op == GF_COMBINE_NONE)
                filter = take_member(&members, turn % members.count);
            else
                must(gf_members_combine(row->about.name, &members, (GfCombineOp)op, &filter),
                     row->about.name);
            run_some("named banks", format_of(77, 72, 1 + turn % 4, sample), options, 2, filter);
            gf_members_free(&members);
        }
}

/* Squares that leave the range of f32. */
void test_magnitudes(void)
{
    static const double scales[] = {1e-25, 1e-15, 1e15, 1e25};
    for (size_t i = 0; i < (quick ? 1 : 4); i++) {
        GfFilter *filter = new_filter();
        add_kernel(filter, 2, 3, 3, FRACTION)->scale = scales[i];
        must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L2}), "combine");
        run_one("magnitudes", format_of(40, 20, 1, GF_F32),
                options_of(GF_F32, GF_BORDER_REFLECT101), filter);
    }
}

/* Opacity in all its ways, ranges, depths. */
void test_options(void)
{
    static const GfSample depths[] = {GF_U8, GF_U16, GF_F16, GF_F32, GF_F64};
    size_t turn = 0;
    for (int alpha = GF_ALPHA_AUTO; alpha <= GF_ALPHA_FILTER; alpha++)
        for (int range = GF_RANGE_AUTO; range <= GF_RANGE_OFFSET; range++)
            for (size_t s = 0; s < 5; s++)
                for (size_t d = 0; d < 5; d++) {
                    bool reals = gf_sample_is_float(depths[s]);
                    size_t side = 1 + 2 * (turn++ % 4);
                    if (depths[d] == GF_F16 || (reals && !gf_sample_is_float(depths[d])) ||
                        (quick && turn % 43 != 0))
                        continue;
                    GfPlanOptions options = options_of(depths[s], (GfBorder)(turn % BORDERS));
                    options.sample = depths[d];
                    options.alpha = (GfAlpha)alpha;
                    options.range = (GfRange)range;
                    run_one("options", format_of(53, 26, turn % 4 + 1, depths[s]), options,
                            kernel(1, side, side, reals || turn % 3 ? POSITIVE : INTEGER));
                }
}

/* Sums of integers that cancel, and a fraction that is added to them: exact, as long as it comes
 * last. */
static void cancelling(GfSample depth)
{
    static const double taps[] = {100, -100, 1};
    GfFilter *filter = new_filter();
    GfLinear *linear = add_kernel(filter, 1, 3, 1, INTEGER);
    memcpy(linear->weights, taps, sizeof taps);
    linear->scale = 1.0;
    linear->offset = 0.3;
    GfPlanOptions options = options_of(GF_U16, GF_BORDER_REPLICATE);
    options.sample = depth;
    options.range = GF_RANGE_CLAMP;
    run_one("cancelling", format_of(301, 203, 1, GF_U16), options, filter);
}

/* Derivatives, whose sums cancel, on integers. */
void test_derivatives(void)
{
    static const double sobel[2][9] = {{-1, 0, 1, -2, 0, 2, -1, 0, 1},
                                       {-1, -2, -1, 0, 0, 0, 1, 2, 1}};
    for (size_t i = 0; i < (quick ? 2 : 24); i++) {
        GfFilter *filter = new_filter();
        GfLinear *linear = add_kernel(filter, 1 + i % 2, 3, 3, INTEGER);
        memcpy(linear->weights, sobel, (1 + i % 2) * sizeof *sobel);
        linear->scale = 1.0;
        if (i % 2)
            must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L2}), "combine");
        GfSample sample = samples[i / 2 % 2];
        run_one("derivatives", format_of(70, 41, 1 + i / 4 % 4, sample),
                options_of(sample, (GfBorder)(i % BORDERS)), filter);
    }
    cancelling(GF_U16);
    cancelling(GF_F32);
}

/* Steps one after the other, several outputs of one picture, kernels given by factors. */
void test_chains(void)
{
    for (size_t i = 0; i < (quick ? 1 : 72); i++) {
        GfSample sample = samples[i % SAMPLES];
        GfPlanOptions options = options_of(sample, (GfBorder)(i / SAMPLES % BORDERS));
        GfFilter *filters[3];
        for (size_t f = 0; f < 3; f++) {
            filters[f] = new_filter();
            for (size_t j = 0; j <= f + i % 2; j++)
                add_kernel(filters[f], 1, 1 + 2 * below(4), 1 + below(7), POSITIVE);
        }
        add_factors(filters[1], 1, 5, 9);
        Case c = {.format = format_of(61, 90, 1 + i % 4, sample),
                  .options = options,
                  .count = 3,
                  .what = "chains"};
        for (size_t f = 0; f < 3; f++)
            c.filters[f] = filters[f];
        run_case(&c);
        for (size_t f = 0; f < 3; f++)
            gf_filter_free(filters[f]);
    }
}

/* A kernel of factors, up to a side of 31, which the method of two passes takes: by tiles, or, of a
 * large picture, by strips. */
static void factors_on(const char *what, size_t i, size_t columns, size_t rows)
{
    GfSample sample = samples[i % SAMPLES];
    GfFilter *filter = new_filter();
    size_t filters = 1 + (i % 5 == 4), width = 1 + below(31), height = 1 + below(31);
    GfLinear *factors = add_factors(filter, filters, width, height);
    if (filters > 1)
        must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L1}), "combine");
    factors->anchor_x = i % 4 ? factors->anchor_x : below(width);
    factors->anchor_y = i % 4 ? factors->anchor_y : below(height);
    GfPlanOptions options = options_of(sample, (GfBorder)(i / SAMPLES % BORDERS));
    options.tall = i % 7 == 3 ? 1 : 0; /* in two steps */
    run_one(what, format_of(columns, rows, 1 + i % 4, sample), options, filter);
}

void test_factors(void)
{
    for (size_t i = 0; i < (quick ? 3 : 90); i++)
        factors_on("factors", i, 1 + below(150), 1 + below(70));
}

void test_large_factors(void)
{
    for (size_t i = 0; i < 30; i++)
        factors_on("large factors", i, 1000 + below(200), 540 + below(40));
}

/* Every width and height around the sizes of a thread, a warp and a block's halo. */
void test_sweep(void)
{
    for (size_t width = 1; width <= 70; width++)
        for (size_t height = 1; height <= 70; height++) {
            GfBorder border = (GfBorder)((width + height) % (BORDERS - 1));
            GfFilter *filter = kernel(1, 5, 5, INTEGER);
            Case c = {.format = format_of(width, height, 1, GF_U8),
                      .options = options_of(GF_U8, border),
                      .filters = {filter},
                      .count = 1,
                      .what = "sweep",
                      .brief = true};
            if (!quick || (width * 70 + height) % 1601 == 0)
                run_case(&c);
            gf_filter_free(filter);
        }
}

/* By strips of maps: what a constant border becomes is a sample or not, responses are joined. */
static void narrow_strips(void)
{
    static const size_t widths[] = {31, 32, 33, 36, 63, 64, 100, 127, 128, 129, 132, 256, 260};
    static const size_t heights[] = {1, 2, 3, 4, 5, 9, 16, 17, 33};
    static const GfSample kinds[][2] = {{GF_U8, GF_U8},   {GF_U16, GF_U16}, {GF_F16, GF_F32},
                                        {GF_U16, GF_F32}, {GF_U8, GF_F32},  {GF_F16, GF_U16},
                                        {GF_U8, GF_U16},  {GF_F32, GF_F32}};
    size_t turn = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++)
            for (size_t side = 3; side <= 9; side += 2)
                for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                    const size_t now = turn++;
                    const bool joined = side <= 5 && now % 2 == 0;
                    if (now % (quick ? 61 : 3) != 0)
                        continue;
                    GfFilter *filter = new_filter();
                    GfLinear *linear = add_kernel(filter, joined ? 2 : 1, side, side,
                                                  now % 4 ? FRACTION : INTEGER);
                    linear->offset = now % 5 == 0 ? 0.25 : 0.0;
                    if (joined)
                        must(gf_filter_add_combine(
                                 filter,
                                 (GfCombine){(GfCombineOp)(GF_COMBINE_L2 + now / 6 % 5), 0.0, 0.0}),
                             "combine");
                    else if (now % 7 < 2)
                        add_function(filter, now % 7 ? GF_POINTWISE_ABS : GF_POINTWISE_RELU, 0.0,
                                     0.0);
                    const GfBorder border = (GfBorder)((now + now / BORDERS) % GF_BORDER_VALID);
                    GfPlanOptions options = options_of(kinds[k][0], border);
                    options.sample = kinds[k][1];
                    options.border_value += now / 7 % 3 == 0 ? 0.3 : 0.0;
                    run_some("short strips", format_of(widths[w], heights[h], 1, kinds[k][0]),
                             options, 2, filter);
                }
}

/* 16 bits on pictures that are large enough for rows of pairs, the last strips of which overlap. */
static void pair_strips(void)
{
    static const size_t shapes[][2] = {{8200, 130}, {16392, 66}, {4104, 258}};
    static const GfSample kinds[][2] = {{GF_U16, GF_U16}, {GF_F16, GF_F32}};
    size_t turn = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t side = 3; side <= 5; side += 2)
            for (size_t k = 0; k < 2; k++)
                for (int border = 0; border < GF_BORDER_VALID; border++) {
                    const size_t now = turn++;
                    if (quick && now != 20)
                        continue;
                    GfFilter *filter = new_filter();
                    GfLinear *linear =
                        add_kernel(filter, 1, side, side, now % 3 ? FRACTION : INTEGER);
                    linear->offset = now % 2 ? 0.25 : 0.0;
                    if (now % 5 == 1)
                        add_function(filter, GF_POINTWISE_ABS, 0.0, 0.0);
                    GfPlanOptions options = options_of(kinds[k][0], (GfBorder)border);
                    options.sample = kinds[k][1];
                    options.border_value += now % 7 == 0 ? 0.3 : 0.0;
                    run_some("short strips", format_of(shapes[i][0], shapes[i][1], 1, kinds[k][0]),
                             options, 2, filter);
                }
}

/* Gray pictures of floats whose sides are about those of short strips (128 x 8 and 128 x 16 samples
 * and twice that), or less than a vector; samples out as floats and, by a second step, as bytes.
 * Then some that are large enough for 5 x 5 and 7 x 7 to go by such strips, the last for blocks
 * that read ahead. */
void test_short_strips(void)
{
    static const size_t widths[] = {1,   2,   3,   4,   5,   7,   8,   124, 125, 126, 127,
                                    128, 129, 130, 131, 132, 255, 256, 257, 259, 511, 517};
    static const size_t heights[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 33};
    static const size_t sides[] = {1, 3, 5, 7};
    size_t turn = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++)
            for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
                const size_t now = turn++;
                const GfSample sample = now % 5 == 1 ? GF_U8 : GF_F32;
                if (quick && now % 41 != 0)
                    continue;
                GfFilter *filter = new_filter();
                if (sample == GF_U8) /* whose second step is one of floats */
                    add_kernel(filter, 1, 3, 3, FRACTION);
                add_kernel(filter, 1, sides[k], sides[k], FRACTION);
                if (now % 3 == 0)
                    add_function(filter, GF_POINTWISE_ABS, 0.0, 0.0);
                run_some("short strips", format_of(widths[w], heights[h], 1, sample),
                         options_of(sample, (GfBorder)((now + now / BORDERS) % BORDERS)), 2,
                         filter);
            }
    narrow_strips();
    pair_strips();
    static const size_t large[][2] = {{1025, 1031}, {2051, 517}, {130, 8081}};
    for (size_t i = 0; i < (quick ? 1 : 3); i++)
        for (size_t side = 5; side <= 7; side += 2)
            for (int border = 0; border < (quick ? 1 : GF_BORDER_VALID); border++)
                run_one("short strips", format_of(large[i][0], large[i][1], 1, GF_F32),
                        options_of(GF_F32, (GfBorder)border), kernel(1, side, side, FRACTION));
    /* Up to 2^22 pixels go as maps (gpu/special_maps.cu). */
    for (size_t side = 3; side <= (quick ? 0 : 5); side += 2)
        for (size_t width = 2056; width <= 2057; width++)
            run_one("short strips", format_of(width, 2057, 1, GF_F32),
                    options_of(GF_F32, (GfBorder)((side + width) % GF_BORDER_VALID)),
                    kernel(1, side, side, FRACTION));
    for (int border = 0; border < (quick ? 0 : GF_BORDER_VALID); border++)
        run_one("short strips", format_of(131, 16411, 1, GF_F32),
                options_of(GF_F32, (GfBorder)border), kernel(1, 7, 7, FRACTION));
}

/* What the form of `special` for 3 x 3 on bytes takes: one kernel on gray, its sums stored as they
 * are, scaled, moved to the middle of the range, or their size; lengths of gradients on gray and
 * RGB. */
static GfFilter *byte_filter(size_t turn, GfPlanOptions *options)
{
    GfFilter *filter = new_filter();
    const size_t kind = turn % 6;
    if (kind < 4) {
        GfLinear *linear = add_kernel(filter, 1, 3, 3, kind % 2 ? FRACTION : INTEGER);
        if (kind < 2)
            linear->scale = 0.125;
        else if (turn % 5 == 0)
            add_function(filter, GF_POINTWISE_ABS, 0.0, 0.0);
        if (turn % 7 == 0)
            linear->offset = kind == 1 ? 0.3 : -3.0;
        options->range = turn % 4 == 1 ? GF_RANGE_OFFSET : GF_RANGE_CLAMP;
        return filter;
    }
    const double unit = turn % 7 == 1 ? -0.3 : 1.0, middle = (double)(turn % 7);
    const double across[] = {-1, 0, 1, -middle, 0, middle, -1, 0, 1};
    GfLinear *linear = add_kernel(filter, 2, 3, 3, INTEGER);
    for (size_t i = 0; i < 9; i++) {
        linear->weights[(turn % 2) * 9 + i] = unit * across[i];
        linear->weights[(1 - turn % 2) * 9 + i] = -unit * across[i % 3 * 3 + i / 3];
    }
    linear->scale = turn % 3 ? 0.25 : 0.3;
    must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L2}), "combine");
    return filter;
}

/* Sides about those of a lane's vector (16 samples), of a strip (512 x 8) or half of one, of a
 * block (512 x 32); then large ones. */
void test_byte_strips(void)
{
    static const size_t widths[] = {1,   2,   3,   4,    5,    6,    10,  11,  15,  16,   17,
                                    31,  32,  33,  165,  169,  170,  171, 172, 187, 341,  342,
                                    495, 496, 497, 507,  508,  509,  510, 511, 512, 513,  514,
                                    515, 516, 517, 1023, 1024, 1025, 176, 336, 528, 1008, 256,
                                    272, 288, 752, 768,  1280, 64,   80,  112, 128, 144,  240};
    static const size_t heights[] = {1, 2, 3, 7, 8, 9, 10, 11, 31, 32, 33, 35, 63, 66};
    size_t turn = 0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++)
            for (size_t k = 0; k < 3; k++) {
                const size_t now = turn++, kind = 2 * k + now / 3 % 2;
                GfPlanOptions options =
                    options_of(GF_U8, (GfBorder)((now + now / BORDERS) % BORDERS));
                if (quick && now % 41 != 0)
                    continue;
                GfFilter *filter = byte_filter(now / 6 * 6 + kind, &options);
                run_some("byte strips",
                         format_of(widths[w], heights[h], k == 2 && now % 5 < 2 ? 3 : 1, GF_U8),
                         options, 2, filter);
            }
    static const size_t large[][3] = {
        {272, 131, 1}, {1543, 1031, 1}, {1040, 517, 3}, {130, 8081, 1}, {8200, 40, 1}};
    for (size_t i = 0; i < (quick ? 1 : 5); i++)
        for (size_t kind = large[i][2] == 1 ? 0 : 4; kind < 6; kind++)
            for (int border = 0; border < (quick ? 1 : BORDERS); border++) {
                GfPlanOptions options = options_of(GF_U8, (GfBorder)border);
                GfFilter *filter = byte_filter(turn++ / 6 * 6 + kind, &options);
                run_one("byte strips", format_of(large[i][0], large[i][1], large[i][2], GF_U8),
                        options, filter);
            }
}

/* More rows, and longer rows, than one grid dimension has blocks or 16 bits can count. */
void test_long(void)
{
    static const size_t longs[][3] = {{70001, 2, 1}, {2, 70001, 1}, {30001, 9, 3}, {1, 600000, 1}};
    for (size_t i = 0; i < 4; i++) {
        GfPlanOptions options = options_of(GF_U8, GF_BORDER_REFLECT101);
        options.band_bytes = 1 << 24;
        run_one("long", format_of(longs[i][0], longs[i][1], longs[i][2], GF_U8), options,
                kernel(1, 3, 3, INTEGER));
    }
}
