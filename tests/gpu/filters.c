#include "tests/gpu/filters.h"

#include <stdlib.h>

#include "tests/gpu/report.h"

const GfSample samples[] = {GF_U8, GF_U16, GF_F32};

Taps taps_for(GfSample sample)
{
    return gf_sample_is_float(sample) || next() % 2 ? FRACTION : INTEGER;
}

GfFilter *new_filter(void)
{
    GfFilter *filter = calloc(1, sizeof *filter);
    if (!filter)
        exit(1);
    return filter;
}

static double tap(Taps taps)
{
    switch (taps) {
    case INTEGER:
        return (double)below(9) - 3.0;
    case FRACTION:
        return uniform(-0.3, 1.0);
    case POSITIVE:
        break;
    }
    return uniform(0.1, 1.0);
}

GfLinear *add_kernel(GfFilter *filter, size_t filters, size_t width, size_t height, Taps taps)
{
    GfLinear *linear;
    size_t count = width * height;
    must(gf_filter_add_kernel(filter, filters, width, height, &linear), "kernel");
    for (size_t i = 0; i < filters * count; i++)
        linear->weights[i] = tap(taps);
    linear->scale = taps == POSITIVE ? 1.0 / (0.55 * (double)count) : 1.3 / (double)count;
    return linear;
}

GfLinear *add_factors(GfFilter *filter, size_t filters, size_t width, size_t height)
{
    GfLinear *linear;
    must(gf_filter_add_factors(filter, filters, width, height, &linear), "factors");
    for (size_t i = 0; i < filters * height; i++)
        linear->columns[i] = tap(POSITIVE) / (0.55 * (double)height);
    for (size_t i = 0; i < filters * width; i++)
        linear->rows[i] = tap(POSITIVE) / (0.55 * (double)width);
    return linear;
}

GfFilter *kernel(size_t filters, size_t width, size_t height, Taps taps)
{
    GfFilter *filter = new_filter();
    add_kernel(filter, filters, width, height, taps);
    return filter;
}

GfLinear *add_layer(GfFilter *filter, size_t filters, size_t depth, size_t groups, size_t width,
                    size_t height)
{
    GfLinear *linear;
    must(gf_filter_add_layer(filter, filters, depth, groups, width, height, &linear), "layer");
    size_t taps = gf_linear_taps(linear);
    for (size_t i = 0; i < filters * taps; i++)
        linear->weights[i] = tap(FRACTION) * 2.6 / (double)taps;
    return linear;
}

void add_bias(GfLinear *linear, double largest)
{
    must(gf_allocate(linear->filters, sizeof *linear->bias, &linear->bias), "bias");
    for (size_t i = 0; i < linear->filters; i++)
        linear->bias[i] = uniform(-largest, largest);
}

GfPool *add_pool(GfFilter *filter, GfPoolOp op, size_t width, size_t height)
{
    GfPool *pool;
    must(gf_filter_add_pool(filter, op, width, height, &pool), "pool");
    return pool;
}

void add_function(GfFilter *filter, GfPointwiseOp op, double a, double b)
{
    must(gf_filter_add_pointwise(filter, (GfPointwise){op, a, b}), "function");
}

GfPlanOptions options_of(GfSample sample, GfBorder border)
{
    GfPlanOptions options = gf_plan_options_default(sample == GF_F16 ? GF_F32 : sample);
    options.border = border;
    options.border_value = gf_sample_is_float(sample) ? 0.375 : 77.0;
    return options;
}

static bool run_filter(Case *c, GfFilter *filter)
{
    c->filters[0] = filter;
    c->count = 1;
    const bool ran = !case_fits(c) || run_case(c);
    gf_filter_free(filter);
    return ran;
}

void run_some(const char *what, GfFormat format, GfPlanOptions options, size_t share,
              GfFilter *filter)
{
    Case c = {.format = format, .options = options, .what = what, .share = share};
    run_filter(&c, filter);
}

void run_one(const char *what, GfFormat format, GfPlanOptions options, GfFilter *filter)
{
    run_some(what, format, options, 1, filter);
}

bool run_picked(const char *what, GfFormat format, GfPlanOptions options, size_t share,
                GfFilter *filter)
{
    Case c = {.format = format, .options = options, .what = what, .share = share, .picked = true};
    return run_filter(&c, filter);
}
