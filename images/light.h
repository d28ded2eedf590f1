/* What a picture's numbers mean in light: by sRGB's curve (IEC 61966-2-1), by a power, or by the
 * curves of its colour profile (ICC.1:2010, 10.5 curveType and 10.16 parametricCurveType). */
#pragma once

#include <math.h>

#include "images/metadata.h"

/* Of a stored number x from 0 to 1, light is
 *
 *   (a x + b)^g + e  for x >= d,   c x + f  for x < d,
 *
 * which sRGB's curve and powers are cases of; or, where there are `points`, it lies on the straight
 * lines between table[i] at x = i / (points - 1), and beyond 1 grows as x does. */
typedef struct GfCurve {
    double g, a, b, c, d, e, f;
    double split;  /* light at d, or at 0 where d is below it */
    double *table; /* rising from first to last, level in places; owned by the GfLight */
    size_t points;
} GfCurve;

/* The curves of red, green and blue. */
typedef struct GfLight {
    GfCurve curves[3];
} GfLight;

/* Sets *light, which the caller frees: as the profile says, else PNG's gAMA, else sRGB. GF_EINPUT
 * when the profile is damaged, has no curves, or has curves with no way back; GF_EFILTER when there
 * is a profile, and the program was built without lcms2; GF_EMEMORY. */
GfStatus gf_light_of(const GfMetadata *metadata, GfLight *light);

/* Whether PNG's gAMA is the number that stands for sRGB's curve, for those who know powers only: 1
 * / 2.2. */
static inline bool gf_gamma_is_srgb(double gamma)
{
    return fabs(gamma - 0.45455) <= 5e-4;
}

/* sRGB's curve, and light = stored^gamma, for all colours; they own nothing. */
GfLight gf_light_srgb(void);
GfLight gf_light_power(double gamma);

GfStatus gf_light_copy(const GfLight *light,
                       GfLight *copy); /* GF_EMEMORY; the caller frees the copy */
bool gf_light_same(const GfLight *a, const GfLight *b);
void gf_light_free(GfLight *light);

/* The curve of channel c of `colours` channels; that of green where they are not red, green and
 * blue. */
static inline const GfCurve *gf_light_curve(const GfLight *light, size_t c, size_t colours)
{
    return &light->curves[colours == 3 ? c : 1];
}

/* How much an error may grow on the way to light and back, for numbers from 0 to 1; INFINITY where
 * the curve is steep without limit, and for tables. */
double gf_curve_gain(const GfCurve *curve);
double gf_curve_gain_back(const GfCurve *curve);

/* The same as the next two, of curves that are tables, for what is not negative. */
double gf_table_decode(const GfCurve *curve, double stored);
double gf_table_encode(const GfCurve *curve, double light);

/* Light of a stored number, 0 to 1 both. What is below 0 is mirrored. */
static inline double gf_curve_decode(const GfCurve *curve, double stored)
{
    double x = fabs(stored), light;
    if (curve->points)
        light = gf_table_decode(curve, x);
    else if (x < curve->d)
        light = curve->c * x + curve->f;
    else
        light = pow(curve->a * x + curve->b, curve->g) + curve->e;
    return stored < 0.0 ? -light : light;
}

/* The way back. Of several numbers that mean the same light it gives the smallest, but for
 * white. */
static inline double gf_curve_encode(const GfCurve *curve, double light)
{
    double y = fabs(light), stored;
    if (curve->points)
        stored = gf_table_encode(curve, y);
    else if (y > curve->split)
        stored = (pow(y - curve->e, 1.0 / curve->g) - curve->b) / curve->a;
    else
        stored = curve->c > 0.0 ? (y - curve->f) / curve->c : 0.0;
    return light < 0.0 ? -stored : stored;
}
