#include "bench/exact.h"

#include <math.h>

/* Where a window's samples come from. */
typedef struct Source {
    const Case *made;
    size_t pass;
    const void *samples;
    size_t n;
} Source;

/* Sample (x, y) of channel c of what goes into the pass, by its border. */
static double input(const Source *from, size_t c, long long x, long long y)
{
    const GfStep *step = &from->made->passes[from->pass].step;
    x = gf_border_index(x, (long long)step->in_width, step->border);
    y = gf_border_index(y, (long long)step->in_height, step->border);
    if (x < 0 || y < 0)
        return step->border_value;
    if (from->pass > 0)
        return exact_sample(from->made, from->pass - 1, from->samples, from->n, c, (size_t)x,
                            (size_t)y);
    const size_t at = step_in_at(step, from->n, c, (size_t)x, (size_t)y);
    return gf_sample_at(from->samples, at, step->in);
}

/* Kernel f on the channels from c on, its window beginning at (x, y). */
static double respond(const Source *from, size_t f, size_t c, long long x, long long y)
{
    const Pass *pass = &from->made->passes[from->pass];
    const GfLinear *linear = &pass->step.linear;
    const double *tap = pass->taps + f * gf_linear_taps(linear);
    double sum = 0.0;
    for (size_t d = 0; d < gf_linear_depth(linear); d++)
        for (size_t i = 0; i < linear->width * linear->height; i++)
            sum += *tap++ * input(from, c + d,
                                  x + (long long)(i % linear->width * pass->step.dilation_x),
                                  y + (long long)(i / linear->width * pass->step.dilation_y));
    return sum;
}

/* A bank's responses become one: its only one, or their length. */
static double bank(const Source *from, size_t c, long long x, long long y)
{
    const GfStep *step = &from->made->passes[from->pass].step;
    double squares = 0.0, r = 0.0;
    for (size_t f = 0; f < step->linear.filters; f++) {
        r = respond(from, f, c, x, y);
        squares += r * r;
    }
    return step->combine.op == GF_COMBINE_L2 ? sqrt(squares) : r;
}

static double largest(const Source *from, size_t c, long long x, long long y)
{
    const GfPool *pool = &from->made->passes[from->pass].step.pool;
    double most = -INFINITY;
    for (size_t i = 0; i < pool->width * pool->height; i++)
        most = fmax(most, input(from, c, x + (long long)(i % pool->width),
                                y + (long long)(i / pool->width)));
    return most;
}

double exact_sample(const Case *made, size_t pass, const void *samples, size_t n, size_t o,
                    size_t x, size_t y)
{
    const GfStep *step = &made->passes[pass].step;
    const GfLinear *linear = &step->linear;
    Source from = {made, pass, samples, n};
    long long left = (long long)(x * step->stride_x) + step->origin_x;
    long long top = (long long)(y * step->stride_y) + step->origin_y;
    double v;
    if (step->kind == GF_STEP_POOL)
        v = largest(&from, o, left, top);
    else if (gf_step_is_layer(step))
        v = respond(&from, o, o / (linear->filters / linear->groups) * linear->depth, left, top);
    else
        v = bank(&from, o, left, top);
    return step->posts > 0 ? fmax(v, 0.0) : v; /* the only function of a sample here is ReLU */
}
