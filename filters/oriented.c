/* A wave is sampled over the rectangle that three standard deviations of its turned envelope fill.
 * What makes its taps sum to zero is taken off the carrier, not off the taps: those at the edge
 * stay small. Compass masks are one mask and a walk around its rim. */
#include "filters/oriented.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- gabor ---- */

typedef struct Gabor {
    double wavelength, theta, sigma_x, sigma_y, phase;
} Gabor;

/* Envelope and carrier at (x, y). */
static double gabor_envelope(const Gabor *gabor, double x, double y, double *carrier)
{
    double along = x * cos(gabor->theta) + y * sin(gabor->theta);
    double across = y * cos(gabor->theta) - x * sin(gabor->theta);
    double u = along / gabor->sigma_x, v = across / gabor->sigma_y;
    *carrier = cos(2.0 * pi * along / gabor->wavelength + gabor->phase);
    return exp(-(u * u + v * v) / 2.0);
}

/* Fills taps: the carrier less its mean under the envelope, so that they sum to zero; divided so
 * that the positive taps sum to 1. */
static void gabor_taps(const Gabor *gabor, const GfLinear *linear)
{
    size_t count = linear->width * linear->height;
    double sum = 0.0, weighted = 0.0, positive = 0.0, carrier;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            double x = (double)(i % linear->width) - (double)linear->anchor_x;
            double y = (double)(i / linear->width) - (double)linear->anchor_y;
            double envelope = gabor_envelope(gabor, x, y, &carrier);
            if (pass == 0) {
                sum += envelope;
                weighted += envelope * carrier;
                continue;
            }
            linear->weights[i] = envelope * (carrier - weighted / sum);
            positive += fmax(linear->weights[i], 0.0);
        }
    /* Some waves, as a sine of two pixels, are zero wherever they are sampled: what is left is
     * rounding. */
    double factor = positive > 1e-9 * sum ? 1.0 / positive : 0.0;
    for (size_t i = 0; i < count; i++)
        linear->weights[i] *= factor;
}

/* Three standard deviations of the envelope along the axis on which it is turned to (c, s). */
static size_t gabor_radius(const Gabor *gabor, double c, double s)
{
    return (size_t)ceil(
        fmax(fmax(fabs(3.0 * gabor->sigma_x * c), fabs(3.0 * gabor->sigma_y * s)), 1.0));
}

/* Of the envelope along the wave, from half its height's width in octaves. */
static double bandwidth_sigma(double wavelength, double octaves)
{
    double ratio = exp2(octaves);
    return wavelength / pi * sqrt(log(2.0) / 2.0) * (ratio + 1.0) / (ratio - 1.0);
}

GfStatus gf_gabor_add(double wavelength, double theta, const GfValue *shape, GfFilter *filter)
{
    Gabor gabor = {.wavelength = wavelength,
                   .theta = theta,
                   .sigma_x = shape[GF_GABOR_SIGMA].number,
                   .phase = shape[GF_GABOR_PHASE].number * pi / 180.0};
    GfLinear *linear;
    double c = cos(theta), s = sin(theta);
    if (gabor.sigma_x > 0.0 && gabor.sigma_x < 0.3)
        return gf_fail(GF_EUSAGE, "gabor: sigma is at least 0.3, or 0 for the bandwidth's");
    if (gabor.sigma_x == 0.0)
        gabor.sigma_x = bandwidth_sigma(wavelength, shape[GF_GABOR_BANDWIDTH].number);
    gabor.sigma_y = gabor.sigma_x / shape[GF_GABOR_ASPECT].number;
    GF_TRY(gf_filter_add_kernel(filter, 1, 2 * gabor_radius(&gabor, c, s) + 1,
                                2 * gabor_radius(&gabor, s, c) + 1, &linear));
    gabor_taps(&gabor, linear);
    return GF_OK;
}

/* ---- compass masks ---- */

/* The rim of a 3 x 3 kernel from its upper left, clockwise. */
static const size_t rim[GF_COMPASS_DIRECTIONS] = {0, 1, 2, 5, 8, 7, 6, 3};

static const double north[GF_COMPASSES][9] = {
    [GF_COMPASS_PREWITT] = {1, 1, 1, 1, -2, 1, -1, -1, -1},
    [GF_COMPASS_KIRSCH] = {5, 5, 5, -3, 0, -3, -3, -3, -3},
    [GF_COMPASS_ROBINSON] = {1, 2, 1, 0, 0, 0, -1, -2, -1},
    [GF_COMPASS_SOBEL] = {1, 2, 1, 0, 0, 0, -1, -2, -1},
};

void gf_compass_turn(GfCompass mask, size_t turn, double *taps)
{
    taps[4] = north[mask][4];
    for (size_t i = 0; i < GF_COMPASS_DIRECTIONS; i++)
        taps[rim[i]] = north[mask][rim[(i + turn) % GF_COMPASS_DIRECTIONS]];
}
