/* What the forms of `special` have in common: when what is done to a sum may be put into the taps,
 * and how two responses become one. */
#pragma once

#include <cmath>

#include "gpu/finish.cuh"
#include "gpu/instructions.cuh"
#include "gpu/launch.h"

/* A factor that changes no number but its exponent, and that little. */
inline bool gf_is_small_power(double factor)
{
    int exponent;
    return std::frexp(factor, &exponent) == 0.5 && exponent > -30 && exponent < 30;
}

/* Have taps room for such factors? Filters have others only by mistake. */
inline bool gf_have_taps_room(const GfLaunch *launch)
{
    const GfLinear *linear = &launch->step->linear;
    const float *taps = static_cast<const float *>(launch->weights_host);
    bool room = true;
    for (size_t i = 0; i < linear->filters * linear->height * linear->width; i++)
        room =
            room && std::fabs(taps[i]) < 1e18f && (taps[i] == 0.0f || std::fabs(taps[i]) > 1e-18f);
    return room;
}

/* N responses and others become one in v. Lengths that become integers need no last bit. */
template <int N>
__device__ inline void gf_join_responses(const GfFinish<float> &finish, float (&v)[N],
                                         const float (&r)[N])
{
    if (finish.combine != GF_COMBINE_L2 || finish.out == GF_F32) {
        gf_combine_each(finish, v, r);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = gf_root(fmaf(v[i], v[i], r[i] * r[i]));
}
