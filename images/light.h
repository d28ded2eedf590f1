/* What a picture's numbers mean in light: by sRGB's curve (IEC 61966-2-1), or by a power. */
#pragma once

#include <math.h>

#include "images/metadata.h"

/* Sets *gamma: stored numbers are light to the power of 1 / gamma, or follow sRGB's curve where it is
 * 0: as the profile says, else PNG's gAMA, else sRGB. GF_EINPUT when the profile is damaged, or says
 * neither of the two; GF_EFILTER when there is a profile, and the program was built without lcms2. */
GfStatus gf_light_of(const GfMetadata *metadata, double *gamma);

/* Light of a stored number, 0 to 1 both; stored = light^(1 / gamma), gamma 0: by sRGB's curve. What is
 * below 0 is mirrored. */
static inline double gf_light_decode(double stored, double gamma)
{
    double x = fabs(stored), light;
    if (gamma > 0.0)
        light = pow(x, gamma);
    else
        light = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
    return copysign(light, stored);
}

/* The way back. */
static inline double gf_light_encode(double light, double gamma)
{
    double x = fabs(light), stored;
    if (gamma > 0.0)
        stored = pow(x, 1.0 / gamma);
    else
        stored = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
    return copysign(stored, light);
}
