/* Which steps the form of `special` for maps of a channel of floats takes (gpu/special_maps.cu).
 * Pictures narrower than a strip would leave lanes without columns. */
#include "gpu/launch.h"

bool gf_special_takes_maps(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const size_t side = linear->width;
    const bool bare =
        step->posts == 0 || (step->posts == 1 && step->post[0].op == GF_POINTWISE_RELU);
    return step->in == GF_F32 && step->out == GF_F32 && bare &&
           step->combine.op == GF_COMBINE_NONE && step->channels == 1 && linear->depth <= 1 &&
           (linear->filters == 1 || gf_step_is_layer(step)) && linear->height == side &&
           side % 2 == 1 && side <= GF_SPECIAL_SIDE && gf_step_is_dense(step) &&
           step->in_width == step->out_width && step->in_width >= GF_SPECIAL_STRIP &&
           step->origin_x == -(ptrdiff_t)(side / 2);
}
