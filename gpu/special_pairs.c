/* Which steps the form of `special` for large pictures of 16 bits takes (gpu/special_pairs.cu). On
 * halves 3 x 3 take 0.73 to 0.77 of its time by others: a lane's vectors of floats are parts of
 * sectors. (bench/results/2026-11-28-h200-6.md) */
#include "gpu/launch.h"

enum { LEAST_WIDTH = 256, VECTOR = 8 };

bool gf_special_takes_pairs(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const bool integers = step->in == GF_U16 && step->out == GF_U16;
    const bool halves = step->in == GF_F16 && step->out == GF_F32 && linear->width > 3;
    return (integers || halves) && gf_step_ends_plainly(step) && step->channels == 1 &&
           step->post_channels == 1 && linear->filters == 1 && linear->depth <= 1 &&
           linear->width == linear->height && (linear->width == 3 || linear->width == 5) &&
           gf_step_is_dense(step) && step->in_width == step->out_width &&
           step->in_width % VECTOR == 0 && step->in_width >= LEAST_WIDTH &&
           step->origin_x == -(ptrdiff_t)(linear->width / 2);
}
