/* Kernels that look in a direction, which the catalogue has one by one and the banks as families:
 * waves under a gaussian, and masks of the compass. */
#pragma once

#include "filters/catalog.h"

/* Parameters of a wave, as both tables begin their shared part: bandwidth in octaves, sigma in
 * pixels (0: by the bandwidth), aspect, phase in degrees. */
enum { GF_GABOR_BANDWIDTH, GF_GABOR_SIGMA, GF_GABOR_ASPECT, GF_GABOR_PHASE };

#define GF_GABOR_PARAMETERS                                                                         \
    {"bandwidth", "octaves at half height, from which sigma follows", GF_NUMBER, NULL, 0.2, 4, 1},  \
        {"sigma", "of the gaussian along the wave; 0: by the bandwidth", GF_NUMBER, NULL, 0, 250,   \
         0},                                                                                        \
        {"aspect", "sigma along the wave, divided by sigma across", GF_NUMBER, NULL, 0.1, 10, 0.5}, \
    {                                                                                               \
        "phase", "in degrees: 0 lines, 90 edges", GF_NUMBER, NULL, -360, 360, 0                     \
    }

/* Appends a wave under a gaussian (Daugman 1985), `theta` in radians from x towards y, which points
 * down. Its taps sum to 0, the positive ones to 1. GF_EUSAGE where sigma is too small to be sampled
 * or the kernel would be too large. */
GfStatus gf_gabor_add(double wavelength, double theta, const GfValue *shape, GfFilter *filter);

/* Masks of 3 x 3 with their light in the north. */
enum { GF_COMPASS_DIRECTIONS = 8 };
typedef enum GfCompass {
    GF_COMPASS_PREWITT,
    GF_COMPASS_KIRSCH,
    GF_COMPASS_ROBINSON,
    GF_COMPASS_SOBEL, /* turned on, Sobel's mask is Robinson's */
    GF_COMPASSES
} GfCompass;

/* Writes the nine taps of a mask, its rim turned on `turn` times by 45 degrees against the
 * clock. */
void gf_compass_turn(GfCompass mask, size_t turn, double *taps);
