/* Kernels are shown tap by tap as far as a person would look at them: the few of a filter, or of a
 * small layer. Of large layers only the extent of the weights is told. */
#include "app/stage_text.h"

#include <math.h>
#include <stdio.h>

enum { MAX_SIDE = 25, MAX_LAYER_KERNELS = 16, MAX_BIAS = 16 };

static void print_numbers(const char *title, const double *numbers, size_t count)
{
    printf("%s", title);
    for (size_t i = 0; i < count; i++)
        printf(" %10.6g", numbers[i]);
    putchar('\n');
}

/* Large kernels that are products are shown by their factors. */
static void print_kernel(const GfLinear *linear, size_t f)
{
    if (linear->columns && (linear->width > MAX_SIDE || linear->height > MAX_SIDE)) {
        print_numbers("  column", linear->columns + f * linear->height, linear->height);
        print_numbers("  row   ", linear->rows + f * linear->width, linear->width);
        return;
    }
    for (size_t y = 0; y < linear->height; y++) {
        putchar(' ');
        for (size_t x = 0; x < linear->width; x++)
            printf(" %10.6g", gf_linear_tap(linear, f, y, x));
        putchar('\n');
    }
}

static const char *border_name(GfBorder border)
{
    static const char *const names[] = {
        [GF_BORDER_REPLICATE] = "replicate", [GF_BORDER_REFLECT101] = "reflect101",
        [GF_BORDER_REFLECT] = "reflect",     [GF_BORDER_WRAP] = "wrap",
        [GF_BORDER_CONSTANT] = "zero",       [GF_BORDER_VALID] = "valid"};
    return names[border];
}

/* Where the windows lie, unless they do as every filter's. */
static void print_sampling(const GfSampling *sampling)
{
    if (sampling->fit == GF_FIT_BORDER)
        return;
    printf("  stride %zu x %zu, dilation %zu x %zu, ", sampling->stride_y, sampling->stride_x,
           sampling->dilation_y, sampling->dilation_x);
    if (sampling->fit == GF_FIT_PAD)
        printf("padding %zu above, %zu left, %zu below, %zu right", sampling->top, sampling->left,
               sampling->bottom, sampling->right);
    else
        printf("padding %s", sampling->fit == GF_FIT_SAME_UPPER ? "same" : "same_lower");
    putchar('\n');
}

static void print_bank(const GfLinear *linear)
{
    for (size_t f = 0; f < linear->filters; f++) {
        printf("\nKernel");
        if (linear->filters > 1)
            printf(" %zu of %zu", f + 1, linear->filters);
        printf(", %zu x %zu, times %.9g", linear->width, linear->height, linear->scale);
        if (linear->offset != 0.0)
            printf(", plus %g", linear->offset);
        printf("%s:\n", linear->columns ? " (column times row)" : "");
        print_sampling(&linear->sampling);
        print_kernel(linear, f);
    }
}

static void print_extent(const char *what, const double *numbers, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, numbers[i]);
        high = fmax(high, numbers[i]);
    }
    printf("  %zu %s from %g to %g\n", count, what, low, high);
}

/* Of many numbers only the extent. */
static void print_bias(const double *bias, size_t count)
{
    if (count <= MAX_BIAS)
        print_numbers("  bias", bias, count);
    else
        print_extent("biases", bias, count);
}

static void print_layer(const GfLinear *linear)
{
    size_t channels = linear->depth * linear->groups;
    printf("\nLayer: %zu map%s from %zu channel%s", linear->filters,
           linear->filters == 1 ? "" : "s", channels, channels == 1 ? "" : "s");
    if (linear->groups > 1)
        printf(" in %zu groups", linear->groups);
    printf(", kernels of %zu x %zu (height x width), border %s\n", linear->height, linear->width,
           border_name(linear->sampling.border));
    print_sampling(&linear->sampling);
    if (linear->bias)
        print_bias(linear->bias, linear->filters);
    if (linear->filters * linear->depth > MAX_LAYER_KERNELS) {
        print_extent("weights", linear->weights, linear->filters * gf_linear_taps(linear));
        return;
    }
    for (size_t i = 0; i < linear->filters * linear->depth; i++) {
        printf("  map %zu, channel %zu of its group:\n", i / linear->depth + 1,
               i % linear->depth + 1);
        print_kernel(linear, i);
    }
}

static void print_combine(const GfCombine *combine)
{
    static const char *const formulas[] = {
        [GF_COMBINE_NONE] = "the response itself",
        [GF_COMBINE_L2] = "square root of the sum of squared responses",
        [GF_COMBINE_L1] = "sum of absolute responses",
        [GF_COMBINE_MAX] = "largest response",
        [GF_COMBINE_MIN] = "smallest response",
        [GF_COMBINE_SUM] = "sum of responses",
        [GF_COMBINE_UNSHARP] = "first + amount * (first - second)",
    };
    printf("\nCombined: %s", formulas[combine->op]);
    if (combine->op == GF_COMBINE_UNSHARP)
        printf(", amount %g, where the difference is at least %g on a scale of 0 to 255",
               combine->amount, combine->threshold);
    putchar('\n');
}

static void print_pointwise(const GfPointwise *pointwise)
{
    printf("\nEach sample: ");
    switch (pointwise->op) {
    case GF_POINTWISE_ABS:
        printf("its absolute value\n");
        break;
    case GF_POINTWISE_AFFINE:
        printf("times %g, plus %g\n", pointwise->a, pointwise->b);
        break;
    case GF_POINTWISE_RELU:
        printf("0 where it is negative\n");
        break;
    case GF_POINTWISE_SIGMOID:
        printf("1 / (1 + exp(-(x + %g)))\n", pointwise->b);
        break;
    case GF_POINTWISE_TANH:
        printf("its hyperbolic tangent\n");
        break;
    case GF_POINTWISE_CLAMP:
        printf("at least %g, then at most %g\n", pointwise->a, pointwise->b);
        break;
    case GF_POINTWISE_DECODE:
    case GF_POINTWISE_ENCODE: /* of no filter */
        break;
    case GF_POINTWISE_LEAKY:
        printf("times %g where it is negative\n", pointwise->a);
        break;
    }
}

static void print_pool(const GfPool *pool)
{
    static const char *const results[] = {[GF_POOL_MAX] = "largest sample",
                                          [GF_POOL_AVERAGE] = "mean",
                                          [GF_POOL_L2] =
                                              "square root of the sum of squared samples"};
    printf("\nPool: %s of windows of %zu x %zu (height x width)%s%s\n", results[pool->op],
           pool->height, pool->width, pool->count_padding ? ", padding counted as zeros" : "",
           pool->ceil ? ", the last one cut by the edge" : "");
    print_sampling(&pool->sampling);
    if (pool->bias)
        print_bias(pool->bias, pool->bias_count);
}

static void print_entry(const GfEntry *entry)
{
    printf("\nNetwork: %zu channel%s, black %g, white %g", entry->channels,
           entry->channels == 1 ? "" : "s", entry->low, entry->high);
    if (entry->plane_count > 0)
        printf("; %zu more of one number%s", entry->plane_count,
               entry->plane_count > 1 ? " each" : "");
    putchar('\n');
    if (entry->mean)
        print_numbers("  less", entry->mean, entry->channels);
    if (entry->deviation)
        print_numbers("  divided by", entry->deviation, entry->channels);
    if (entry->planes)
        print_numbers("  numbers", entry->planes, entry->plane_count);
}

static void print_exit(const GfExit *exit)
{
    printf("\nResult: %s, black %g, white %g\n",
           exit->residual ? "added to the picture" : "the picture", exit->low, exit->high);
}

static void print_upsample(const GfUpsample *upsample)
{
    printf("\nEnlarged: %zu x %zu (height x width), %s%s\n", upsample->factor_y, upsample->factor_x,
           upsample->shuffle ? "from as many channels" : "each pixel repeated",
           upsample->like == GF_NO_REFERENCE ? "" : ", cut to an earlier size");
}

void gf_stage_print(const GfStage *stage)
{
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        if (stage->linear.depth > 0)
            print_layer(&stage->linear);
        else
            print_bank(&stage->linear);
        break;
    case GF_STAGE_COMBINE:
        print_combine(&stage->combine);
        break;
    case GF_STAGE_POINTWISE:
        print_pointwise(&stage->pointwise);
        break;
    case GF_STAGE_POOL:
        print_pool(&stage->pool);
        break;
    case GF_STAGE_ENTRY:
        print_entry(&stage->entry);
        break;
    case GF_STAGE_EXIT:
        print_exit(&stage->exit);
        break;
    case GF_STAGE_ADD:
        printf("\nAdded: what an earlier stage made\n");
        break;
    case GF_STAGE_UPSAMPLE:
        print_upsample(&stage->upsample);
        break;
    }
}

void gf_stages_print(const GfFilter *filter)
{
    static const char *const audiences[] = {[GF_FOR_GRAY] = "gray", [GF_FOR_COLOUR] = "colour"};
    GfAudience before = GF_FOR_ALL;
    for (size_t i = 0; i < filter->count; i++) {
        GfAudience now = filter->stages[i].audience;
        if (now != before)
            printf("\nFor %s pictures:\n", now == GF_FOR_ALL ? "all" : audiences[now]);
        before = now;
        gf_stage_print(&filter->stages[i]);
    }
}
