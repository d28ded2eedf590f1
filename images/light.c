/* A profile's formulas are taken as they are. Its tables are, too, unless all their numbers are
 * those of sRGB's curve or of a power, rounded: then the curve says better what the profile meant,
 * and costs less. */
#include "images/light.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- curves ---- */

static GfLight all_alike(GfCurve curve)
{
    double bend = fmax(curve.a * fmax(curve.d, 0.0) + curve.b, 0.0);
    curve.split = pow(bend, curve.g) + curve.e;
    return (GfLight){{curve, curve, curve}};
}

GfLight gf_light_srgb(void)
{
    return all_alike(
        (GfCurve){.g = 2.4, .a = 1 / 1.055, .b = 0.055 / 1.055, .c = 1 / 12.92, .d = 0.04045});
}

GfLight gf_light_power(double gamma)
{
    return all_alike((GfCurve){.g = gamma, .a = 1.0});
}

GfStatus gf_light_copy(const GfLight *light, GfLight *copy)
{
    GfStatus status = GF_OK;
    *copy = *light;
    for (int i = 0; i < 3; i++)
        copy->curves[i].table = NULL;
    for (int i = 0; i < 3; i++) {
        size_t points = light->curves[i].points;
        if (points == 0)
            continue;
        GF_GO(gf_allocate(points, sizeof(double), &copy->curves[i].table));
        memcpy(copy->curves[i].table, light->curves[i].table, points * sizeof(double));
    }
done:
    if (status != GF_OK)
        gf_light_free(copy);
    return status;
}

static bool same_curve(const GfCurve *a, const GfCurve *b)
{
    return a->points == b->points && a->g == b->g && a->a == b->a && a->b == b->b && a->c == b->c &&
           a->d == b->d && a->e == b->e && a->f == b->f &&
           (a->points == 0 || memcmp(a->table, b->table, a->points * sizeof(double)) == 0);
}

bool gf_light_same(const GfLight *a, const GfLight *b)
{
    for (int i = 0; i < 3; i++)
        if (!same_curve(&a->curves[i], &b->curves[i]))
            return false;
    return true;
}

void gf_light_free(GfLight *light)
{
    for (int i = 0; i < 3; i++)
        free(light->curves[i].table);
    *light = (GfLight){0};
}

/* The slope of the power at x. */
static double slope(const GfCurve *curve, double x)
{
    return curve->g * curve->a * pow(fmax(curve->a * x + curve->b, 0.0), curve->g - 1.0);
}

double gf_curve_gain(const GfCurve *curve)
{
    if (curve->points)
        return INFINITY;
    return fmax(curve->c, fmax(slope(curve, fmax(curve->d, 0.0)), slope(curve, 1.0)));
}

double gf_curve_gain_back(const GfCurve *curve)
{
    if (curve->points || (curve->d > 0.0 && !(curve->c > 0.0)))
        return INFINITY;
    double least = fmin(slope(curve, fmax(curve->d, 0.0)), slope(curve, 1.0));
    return 1.0 / (curve->d > 0.0 ? fmin(least, curve->c) : least);
}

double gf_table_decode(const GfCurve *curve, double stored)
{
    size_t last = curve->points - 1;
    double at = stored * (double)last;
    if (!(at < (double)last))
        return curve->table[last] + (stored - 1.0);
    size_t i = (size_t)at;
    return curve->table[i] + (at - (double)i) * (curve->table[i + 1] - curve->table[i]);
}

double gf_table_encode(const GfCurve *curve, double light)
{
    const double *table = curve->table;
    size_t below = 0, above = curve->points - 1;
    if (!(light < table[above]))
        return 1.0 + (light - table[above]);
    if (light <= table[0])
        return 0.0;
    while (above - below > 1) {
        size_t middle = below + (above - below) / 2;
        if (table[middle] < light)
            below = middle;
        else
            above = middle;
    }
    double part = (light - table[below]) / (table[above] - table[below]);
    return ((double)below + part) / (double)(curve->points - 1);
}

/* ---- profiles ---- */

#ifdef GPUFILTER_HAVE_LCMS2
#include <lcms2.h>

/* A table of 16-bit numbers that were rounded, or cut off, differs from its curve by less than
 * one. */
static bool is_rounded(const GfCurve *table, const GfCurve *curve)
{
    for (size_t i = 0; i < table->points; i++) {
        double light = gf_curve_decode(curve, (double)i / (double)(table->points - 1));
        if (!(fabs(table->table[i] - light) < 1.0 / 65535.0))
            return false;
    }
    return true;
}

/* Puts sRGB's curve or a power in the place of a table of either. */
static void recognise(GfCurve *curve)
{
    enum { LEAST_POINTS = 256 }; /* fewer are lines, whatever they were made from */
    if (curve->points < LEAST_POINTS)
        return;
    size_t middle = curve->points / 2;
    double power = log(curve->table[middle]) / log((double)middle / (double)(curve->points - 1));
    const GfCurve known[] = {gf_light_srgb().curves[0], gf_light_power(power).curves[0]};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_rounded(curve, &known[i])) {
            free(curve->table);
            *curve = known[i];
            return;
        }
}

static GfStatus read_table(const cmsToneCurve *from, GfCurve *curve)
{
    const cmsUInt16Number *numbers = cmsGetToneCurveEstimatedTable(from);
    size_t points = cmsGetToneCurveEstimatedTableEntries(from);
    if (points < 2)
        return gf_fail(GF_EINPUT, "its colour profile is damaged");
    GF_TRY(gf_allocate(points, sizeof(double), &curve->table));
    curve->points = points;
    for (size_t i = 0; i < points; i++)
        curve->table[i] = numbers[i] / 65535.0;
    return GF_OK;
}

/* lcms2 numbers ICC's function types, 0 to 4, from 1. */
static GfCurve read_formula(int type, const double *p)
{
    GfCurve curve = {.g = p[0], .a = 1.0};
    if (type >= 2) {
        curve.a = p[1];
        curve.b = p[2];
        curve.d = -curve.b / curve.a;
    }
    if (type == 3)
        curve.e = curve.f = p[3];
    if (type >= 4) {
        curve.c = p[3];
        curve.d = p[4];
    }
    if (type == 5) {
        curve.e = p[5];
        curve.f = p[6];
    }
    return all_alike(curve).curves[0];
}

/* Does light grow with the number, and lead back to one of the same light? Formulas are tried at so
 * many places; where their parts meet they may be apart by what the profile's numbers are rounded
 * by. One whose first part goes on beyond white may grow and yet not lead back. */
static bool is_rising(const GfCurve *curve)
{
    enum { PLACES = 4096 };
    const double apart = 1e-4;
    size_t count = curve->points ? curve->points : PLACES;
    double first = gf_curve_decode(curve, 0.0), most = first;
    for (size_t i = 0; i < count; i++) {
        double light = gf_curve_decode(curve, (double)i / (double)(count - 1));
        double back = fmin(fmax(gf_curve_encode(curve, light), 0.0), 1.0);
        if (!(light >= most - (curve->points ? 0.0 : apart)) || !isfinite(light) ||
            !(fabs(gf_curve_decode(curve, back) - light) <= apart))
            return false;
        most = fmax(most, light);
    }
    return most > first;
}

static GfStatus read_curve(cmsHPROFILE profile, cmsTagSignature tag, GfCurve *curve)
{
    if (!cmsIsTag(profile, tag))
        return gf_fail(GF_EINPUT,
                       "its colour profile has no curves of light, only tables of colours: "
                       "for --linear convert the picture first, to sRGB for example");
    const cmsToneCurve *from = cmsReadTag(profile, tag);
    if (!from)
        return gf_fail(GF_EINPUT, "its colour profile is damaged");
    int type = cmsGetToneCurveParametricType(from);
    if (type >= 1 && type <= 5)
        *curve = read_formula(type, cmsGetToneCurveParams(from));
    else
        GF_TRY(read_table(from, curve));
    if (!is_rising(curve))
        return gf_fail(GF_EINPUT, "its colour profile has a curve by which light does not grow "
                                  "with the numbers; there is no way back for --linear");
    recognise(curve);
    return GF_OK;
}

static GfStatus read_profile(cmsHPROFILE profile, GfLight *light)
{
    static const cmsTagSignature colours[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    bool gray = cmsGetColorSpace(profile) == cmsSigGrayData;
    *light = (GfLight){0};
    for (int i = 0; i < 3; i++)
        GF_TRY(read_curve(profile, gray ? cmsSigGrayTRCTag : colours[i], &light->curves[i]));
    return GF_OK;
}

static GfStatus light_of_icc(const GfBlob *icc, GfLight *light)
{
    cmsHPROFILE profile = cmsOpenProfileFromMem(icc->data, (cmsUInt32Number)icc->size);
    if (!profile)
        return gf_fail(GF_EINPUT, "its colour profile is damaged");
    GfStatus status = read_profile(profile, light);
    cmsCloseProfile(profile);
    if (status != GF_OK)
        gf_light_free(light);
    return status;
}
#else
static GfStatus light_of_icc(const GfBlob *icc, GfLight *light)
{
    (void)icc, (void)light;
    return gf_fail(GF_EFILTER, "it has a colour profile, which this gpufilter, built without "
                               "lcms2, cannot read for --linear");
}
#endif

GfStatus gf_light_of(const GfMetadata *metadata, GfLight *light)
{
    *light = gf_light_srgb();
    if (metadata->icc.data)
        return light_of_icc(&metadata->icc, light);
    if (metadata->srgb_intent < 0 && metadata->gamma > 0.0 && !gf_gamma_is_srgb(metadata->gamma))
        *light = gf_light_power(1.0 / metadata->gamma);
    return GF_OK;
}
