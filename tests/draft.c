/* Blocks in blocks: layers that keep the size, additions of what stood before a block, descents by
 * a stride and back. */
#include "tests/draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const GfBorder borders[] = {GF_BORDER_REPLICATE, GF_BORDER_REFLECT101, GF_BORDER_REFLECT,
                                   GF_BORDER_WRAP, GF_BORDER_CONSTANT};

/* A network that is being drawn. */
typedef struct Draft {
    GfFilter *filter;
    size_t channels;
    size_t (*below)(size_t limit); /* random, 0 to limit - 1 */
    char *text;
    size_t size;
} Draft;

#define NOTE(draft, ...)                                                                           \
    snprintf((draft)->text + strlen((draft)->text), (draft)->size - strlen((draft)->text),         \
             __VA_ARGS__)

static size_t below(const Draft *draft, size_t limit)
{
    return draft->below(limit);
}

static double between(const Draft *draft, double low, double high)
{
    return low + (high - low) * (double)draft->below(1 << 20) / 1048576.0;
}

/* A draft asks for nothing that is refused, unless memory is short. */
static void must(GfStatus status)
{
    if (status == GF_OK)
        return;
    fprintf(stderr, "a random network: %s\n", gf_message());
    abort();
}

static double *numbers(const Draft *draft, size_t count, double low, double high)
{
    double *drawn = malloc(count * sizeof *drawn);
    for (size_t i = 0; drawn && i < count; i++)
        drawn[i] = between(draft, low, high);
    return drawn;
}

/* A layer that keeps the size, or divides it by a stride, rounded up. */
static void draw_layer(Draft *draft, size_t filters, size_t stride)
{
    size_t width = 1 + below(draft, 5), height = 1 + below(draft, 5), apart = 1 + below(draft, 2);
    size_t groups = draft->channels % 2 == 0 && filters % 2 == 0 ? 1 + below(draft, 2) : 1;
    GfLinear *layer;
    must(gf_filter_add_layer(draft->filter, filters, draft->channels / groups, groups, width,
                             height, &layer));
    GfSampling *sampling = &layer->sampling;
    double most = 1.5 / sqrt((double)gf_linear_taps(layer));
    for (size_t i = 0; i < filters * gf_linear_taps(layer); i++)
        layer->weights[i] = between(draft, -most, most);
    if (below(draft, 2))
        layer->bias = numbers(draft, filters, -0.2, 0.2);
    sampling->dilation_x = sampling->dilation_y = apart;
    sampling->stride_x = sampling->stride_y = stride;
    sampling->left = below(draft, (width - 1) * apart + 1);
    sampling->right = (width - 1) * apart - sampling->left;
    sampling->top = below(draft, (height - 1) * apart + 1);
    sampling->bottom = (height - 1) * apart - sampling->top;
    sampling->border = borders[below(draft, 5)];
    NOTE(draft, " conv %zu->%zu %zux%zu/%zu*%zu g%zu b%d", draft->channels, filters, width, height,
         stride, apart, groups, sampling->border);
    draft->channels = filters;
}

static void draw_function(Draft *draft)
{
    static const GfPointwise functions[] = {{GF_POINTWISE_RELU, 0, 0},
                                            {GF_POINTWISE_LEAKY, 0.2, 0},
                                            {GF_POINTWISE_TANH, 0, 0},
                                            {GF_POINTWISE_AFFINE, 0.7, 0.1}};
    size_t i = below(draft, 4);
    NOTE(draft, " f%zu", i);
    must(gf_filter_add_pointwise(draft->filter, functions[i]));
}

static void draw_body(Draft *draft, size_t depth);

/* x + body(x), where the body makes as many channels. */
static void draw_residual(Draft *draft, size_t depth)
{
    GfReference from = draft->filter->count;
    size_t channels = draft->channels;
    NOTE(draft, " (");
    draw_body(draft, depth - 1);
    draw_layer(draft, channels, 1);
    must(gf_filter_add_sum(draft->filter, (GfAdd){from}));
    NOTE(draft, " +)");
}

/* Down by a stride, a body, and up again to the size before. */
static void draw_descent(Draft *draft, size_t depth)
{
    GfReference like = draft->filter->count;
    size_t factor = 2 + below(draft, 2), channels = 1 + below(draft, 3);
    bool shuffle = below(draft, 2);
    NOTE(draft, " [");
    draw_layer(draft, 1 + below(draft, 6), factor);
    draw_body(draft, depth - 1);
    if (shuffle)
        draw_layer(draft, channels * factor * factor, 1);
    must(gf_filter_add_upsample(draft->filter, (GfUpsample){shuffle, factor, factor, like}));
    draft->channels = shuffle ? channels : draft->channels;
    NOTE(draft, " %s]", shuffle ? "shuffle" : "nearest");
}

static void draw_body(Draft *draft, size_t depth)
{
    size_t blocks = 1 + below(draft, 2);
    for (size_t i = 0; i < blocks; i++) {
        size_t kind = depth > 0 ? below(draft, 4) : 0;
        if (kind == 1)
            draw_residual(draft, depth);
        else if (kind == 2)
            draw_descent(draft, depth);
        else
            draw_layer(draft, 1 + below(draft, 7), 1);
        if (below(draft, 2))
            draw_function(draft);
    }
}

static void draw_box(Draft *draft)
{
    GfLinear *box;
    must(gf_filter_add_kernel(draft->filter, 1, 3, 3, &box));
    for (size_t i = 0; i < 9; i++)
        box->weights[i] = 1.0 / 9;
    NOTE(draft, " box");
}

static void draw_network(Draft *draft, const GfFormat *format)
{
    size_t colours = format->channels - (format->has_alpha ? 1 : 0), planes = below(draft, 3);
    size_t channels = below(draft, 2) ? colours : colours == 1 ? 3 : 1;
    bool residual = below(draft, 2);
    if (below(draft, 4) == 0)
        draw_box(draft);
    double low = below(draft, 2) ? 0.0 : -1.0;
    GfEntry *entry;
    must(gf_filter_add_entry(draft->filter, channels, low, 1, planes, &entry));
    for (size_t i = 0; i < planes; i++)
        entry->planes[i] = between(draft, -1, 1);
    if (below(draft, 2)) {
        entry->mean = numbers(draft, channels, low + 0.3 * (1 - low), low + 0.6 * (1 - low));
        entry->deviation = numbers(draft, channels, 0.2, 0.4);
    }
    NOTE(draft, " entry %zu+%zu", channels, planes);
    draft->channels = channels + planes;
    draw_body(draft, 3);
    if (below(draft, 4) == 0)
        return;
    draw_layer(draft, residual && below(draft, 2) ? colours : residual ? 1 : 3, 1);
    if (below(draft, 8) == 0 && !format->has_alpha && !residual)
        must(gf_filter_add_upsample(draft->filter, (GfUpsample){false, 2, 1, GF_NO_REFERENCE}));
    must(gf_filter_add_exit(draft->filter, (GfExit){residual, 0, 1}));
    NOTE(draft, " %s", residual ? "residual" : "picture");
    if (below(draft, 4) == 0)
        draw_box(draft);
}

GfFilter *draft_network(const GfFormat *format, size_t (*random_below)(size_t), char *text,
                        size_t size)
{
    Draft draft = {.below = random_below, .text = text, .size = size};
    text[0] = '\0';
    draft.filter = calloc(1, sizeof *draft.filter);
    if (!draft.filter)
        abort();
    draw_network(&draft, format);
    return draft.filter;
}
