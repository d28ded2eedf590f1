/* Profiles say it by formulas or by tables, of 1024 or 4096 numbers; a table is taken for the curve or the
 * power that it was made from when it is nowhere farther from it than an 8-bit step of dark light. */
#include "images/light.h"

#ifdef GPUFILTER_HAVE_LCMS2
#include <lcms2.h>

enum { POINTS = 1024 };

static const double close_enough = 0.002;

static bool is_srgb(const cmsToneCurve *curve)
{
    for (int i = 0; i <= POINTS; i++) {
        float x = (float)i / POINTS;
        if (!(fabs((double)cmsEvalToneCurveFloat(curve, x) - gf_light_decode((double)x, 0.0)) <=
              close_enough))
            return false;
    }
    return true;
}

/* The power by the curve's middle, if it is one everywhere; else 0. */
static double find_power(const cmsToneCurve *curve)
{
    double power = log((double)cmsEvalToneCurveFloat(curve, 0.5F)) / log(0.5);
    if (!(power > 0.1 && power < 10.0))
        return 0.0;
    for (int i = 0; i <= POINTS; i++) {
        float x = (float)i / POINTS;
        double light = (double)cmsEvalToneCurveFloat(curve, x);
        if (!(fabs(light - pow((double)x, power)) <= close_enough))
            return 0.0;
    }
    return power;
}

/* Of one channel: 0 sRGB's, else a power; negative: neither. */
static double read_curve(cmsHPROFILE profile, cmsTagSignature tag)
{
    const cmsToneCurve *curve = cmsReadTag(profile, tag);
    if (!curve)
        return -1.0;
    if (is_srgb(curve))
        return 0.0;
    double power = find_power(curve);
    return power > 0.0 ? power : -1.0;
}

static GfStatus read_profile(cmsHPROFILE profile, double *gamma)
{
    static const cmsTagSignature colours[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    bool gray = cmsGetColorSpace(profile) == cmsSigGrayData;
    *gamma = read_curve(profile, gray ? cmsSigGrayTRCTag : colours[0]);
    for (int i = 1; i < 3 && !gray; i++)
        if (fabs(read_curve(profile, colours[i]) - *gamma) > 0.01)
            *gamma = -1.0;
    if (*gamma >= 0.0)
        return GF_OK;
    return gf_fail(GF_EINPUT,
                   "its colour profile gives light neither by sRGB's curve nor by one power "
                   "for all colours");
}

static GfStatus light_of_icc(const GfBlob *icc, double *gamma)
{
    cmsHPROFILE profile = cmsOpenProfileFromMem(icc->data, (cmsUInt32Number)icc->size);
    if (!profile)
        return gf_fail(GF_EINPUT, "its colour profile is damaged");
    GfStatus status = read_profile(profile, gamma);
    cmsCloseProfile(profile);
    return status;
}
#else
static GfStatus light_of_icc(const GfBlob *icc, double *gamma)
{
    (void)icc, (void)gamma;
    return gf_fail(GF_EFILTER, "it has a colour profile, which this gpufilter, built without "
                               "lcms2, cannot read for --linear");
}
#endif

GfStatus gf_light_of(const GfMetadata *metadata, double *gamma)
{
    *gamma = 0.0;
    if (metadata->icc.data)
        return light_of_icc(&metadata->icc, gamma);
    /* What says sRGB often says its gamma too, for those who know no better. */
    if (metadata->srgb_intent < 0 && metadata->gamma > 0.0 &&
        fabs(metadata->gamma - 0.45455) > 5e-4)
        *gamma = 1.0 / metadata->gamma;
    return GF_OK;
}
