/* What the forms of `special` have in common: when what is done to a sum may be put into the
 * taps. */
#pragma once

#include <cmath>

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
