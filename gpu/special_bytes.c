/* Which steps gpu/special_bytes.cu is for: also asked where there is no CUDA, for the table of
 * algorithms. */
#include <math.h>

#include "gpu/launch.h"

enum { SIDE = 3, RGB = 3, MOST_OF_HALVES = 2048, MOST_OF_BYTES = 255 };

/* Kernel f: does it go across, or down? */
static bool is_slope(const GfLinear *linear, size_t f, bool down, GfGradient *gradient)
{
    const double corner = gf_linear_tap(linear, f, 0, 0);
    const double side = down ? gf_linear_tap(linear, f, 0, 1) : gf_linear_tap(linear, f, 1, 0);
    *gradient = (GfGradient){side / corner, fabs(corner)};
    if (corner == 0.0 || side / corner < 0.0)
        return false;
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            const size_t along = down ? y : x, other = down ? x : y;
            const double smooth = other == 1 ? side : corner;
            if (gf_linear_tap(linear, f, y, x) != smooth * (1.0 - (double)along))
                return false;
        }
    return true;
}

bool gf_special_is_gradient(const GfLinear *linear, GfGradient *gradient)
{
    GfGradient other;
    if (linear->filters != 2 || linear->width != SIDE || linear->height != SIDE)
        return false;
    const bool down = is_slope(linear, 0, true, gradient);
    if (!down && !is_slope(linear, 0, false, gradient))
        return false;
    return is_slope(linear, 1, !down, &other) && other.middle == gradient->middle &&
           other.unit == gradient->unit && gradient->middle == floor(gradient->middle) &&
           (gradient->middle + 2.0) * MOST_OF_BYTES <= MOST_OF_HALVES;
}

/* Is what follows the sums nothing, or their size alone? */
static bool is_one(const GfStep *step)
{
    const bool size = step->posts == 1 && step->post[0].op == GF_POINTWISE_ABS &&
                      step->gain > 0.0 && step->mid == 0.0;
    return step->channels == 1 && step->linear.filters == 1 &&
           step->combine.op == GF_COMBINE_NONE && (step->posts == 0 || size);
}

static bool is_length(const GfStep *step)
{
    GfGradient gradient;
    return (step->channels == 1 || step->channels == RGB) && step->combine.op == GF_COMBINE_L2 &&
           step->posts == 0 && step->linear.offset == 0.0 && step->mid == 0.0 && step->gain > 0.0 &&
           gf_special_is_gradient(&step->linear, &gradient);
}

bool gf_special_takes_bytes(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const bool planar = step->in_layout == GF_PLANAR || step->out_layout == GF_PLANAR;
    return step->kind == GF_STEP_FILTER && !gf_step_is_layer(step) && step->in == GF_U8 &&
           step->out == GF_U8 && linear->width == SIDE && linear->height == SIDE &&
           gf_step_is_dense(step) && step->origin_x == -(SIDE / 2) &&
           step->in_width == step->out_width && !step->bias && !step->keep_alpha &&
           step->post_channels == step->channels && !(step->channels > 1 && planar) &&
           (is_one(step) || is_length(step));
}
