/* What profiles and chunks say about light. The profiles are made by lcms2 itself, from the curves
 * that the standards give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "images/light.h"

/* cmocka's own compares floats. */
static void assert_near(double got, double wanted, double close)
{
    if (!(fabs(got - wanted) <= close))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

#ifdef GPUFILTER_HAVE_LCMS2
#include <lcms2.h>

/* IEC 61966-2-1 as ICC's parametric curve of type 3: gamma, a, b, c, d. */
static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};

static cmsToneCurve *table_of(const cmsToneCurve *curve, unsigned points)
{
    cmsUInt16Number table[4096];
    for (unsigned i = 0; i < points; i++)
        table[i] = (cmsUInt16Number)lrint(
            65535 * (double)cmsEvalToneCurveFloat(curve, (float)i / (float)(points - 1)));
    return cmsBuildTabulatedToneCurve16(NULL, points, table);
}

static GfBlob saved(cmsHPROFILE profile)
{
    cmsUInt32Number size = 0;
    GfBlob blob = {0};
    assert_true(cmsSaveProfileToMem(profile, NULL, &size));
    blob.data = malloc(size);
    blob.size = size;
    assert_non_null(blob.data);
    assert_true(cmsSaveProfileToMem(profile, blob.data, &size));
    cmsCloseProfile(profile);
    return blob;
}

/* A profile with these curves of red, green and blue; freed with them. */
static GfBlob profile_of(cmsToneCurve *red, cmsToneCurve *green, cmsToneCurve *blue)
{
    const cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.3, 0.6, 1}, {0.15, 0.06, 1}};
    const cmsCIExyY white = {0.3127, 0.329, 1};
    cmsToneCurve *curves[3] = {red, green, blue};
    GfBlob blob = saved(cmsCreateRGBProfile(&white, &primaries, curves));
    for (int i = 0; i < 3; i++)
        if (i == 0 || curves[i] != curves[i - 1])
            cmsFreeToneCurve(curves[i]);
    return blob;
}

static GfLight light_of(GfBlob blob)
{
    GfMetadata metadata = gf_metadata_none();
    GfLight light;
    metadata.icc = blob;
    metadata.gamma = 1.0; /* the profile counts more */
    assert_int_equal(gf_light_of(&metadata, &light), GF_OK);
    gf_metadata_free(&metadata);
    return light;
}

/* All three curves are that power, or sRGB's curve (0); `close` to it, all the way from black to
 * white. */
static void assert_gamma(GfBlob blob, double gamma, double close)
{
    GfLight light = light_of(blob);
    for (int i = 0; i < 3; i++) {
        const GfCurve *curve = &light.curves[i];
        assert_int_equal(curve->points, 0);
        for (int x = 0; x <= 255; x++) {
            double stored = x / 255.0;
            double wanted = gamma > 0           ? pow(stored, gamma)
                            : stored <= 0.04045 ? stored / 12.92
                                                : pow((stored + 0.055) / 1.055, 2.4);
            assert_near(gf_curve_decode(curve, stored), wanted, close);
            assert_near(gf_curve_encode(curve, gf_curve_decode(curve, stored)), stored, 1e-12);
            assert_near(gf_curve_decode(curve, -stored), -wanted, close);
        }
    }
    gf_light_free(&light);
}

static void test_profiles(void **state)
{
    (void)state;
    cmsToneCurve *curve = cmsBuildParametricToneCurve(NULL, 4, srgb);
    cmsToneCurve *small = table_of(curve, 1024), *large = table_of(curve, 4096);
    assert_gamma(profile_of(small, small, small), 0, 1e-15);
    assert_gamma(profile_of(large, large, large), 0, 1e-15);
    assert_gamma(profile_of(curve, curve, curve), 0, 2e-5); /* numbers of a profile have 16 bits */
    curve = cmsBuildGamma(NULL, 2.19921875);                /* Adobe RGB (1998) */
    assert_gamma(profile_of(curve, curve, curve), 2.19921875, 1e-15);
    curve = cmsBuildGamma(NULL, 1.0);
    assert_gamma(profile_of(curve, curve, curve), 1, 1e-15);
    curve = cmsBuildGamma(NULL, 1.8);
    small = table_of(curve, 256);
    cmsFreeToneCurve(curve);
    assert_gamma(profile_of(small, small, small), 1.8, 1e-5);
}

/* The formulas of ICC.1:2010, table 65, as it writes them; x below d is what the second of each
 * says. */
static double formula(int type, const double *p, double x)
{
    double power = type == 0 ? pow(x, p[0]) : pow(fmax(p[1] * x + p[2], 0), p[0]);
    switch (type) {
    case 1:
        return x >= -p[2] / p[1] ? power : 0;
    case 2:
        return x >= -p[2] / p[1] ? power + p[3] : p[3];
    case 3:
        return x >= p[4] ? power : p[3] * x;
    case 4:
        return x >= p[4] ? power + p[5] : p[3] * x + p[6];
    default:
        return power;
    }
}

static void test_formulas(void **state)
{
    static const struct {
        int type;
        double p[7];
    } cases[] = {
        {0, {2.6}},
        {0, {0.5}},
        {1, {2.2, 0.9, 0.1}},
        {1, {2.2, 1.25, -0.25}}, /* black up to 0.2 */
        {2, {2.2, 0.75, 0.125, 0.0625}},
        {2, {2.2, 1.25, -0.25, 0.03125}},
        {3, {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081}}, /* ITU-R BT.709 */
        {3, {1.8, 1, 0, 1 / 16.0, 1 / 32.0}},                      /* ProPhoto RGB */
        {3, {3, 1 / 1.16, 0.16 / 1.16, 2700 / 24389.0, 0.08}},     /* CIE L* */
        {4, {2.4, 0.9, 0.1, 0.1, 0.0625, 0.0104, 0.0157}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *p = cases[i].p;
        cmsToneCurve *curve = cmsBuildParametricToneCurve(NULL, cases[i].type + 1, p);
        GfLight light = light_of(profile_of(curve, curve, curve));
        for (int x = 0; x <= 1000; x++) {
            double stored = x / 1000.0, wanted = formula(cases[i].type, p, stored);
            double got = gf_curve_decode(&light.curves[i % 3], stored);
            double back = gf_curve_encode(&light.curves[i % 3], got);
            assert_near(got, wanted, 1e-4);
            if (wanted > formula(cases[i].type, p, 0) + 1e-9) /* not where it is level */
                assert_near(back, stored, 1e-3);
            assert_near(gf_curve_decode(&light.curves[i % 3], back), got, 1e-12);
        }
        assert_near(gf_curve_encode(&light.curves[0], gf_curve_decode(&light.curves[0], 0)), 0,
                    1e-12);
        gf_light_free(&light);
    }
}

/* Straight lines between the numbers, which may be level: black and white come back as they
 * were. */
static void test_tables(void **state)
{
    cmsUInt16Number steps[] = {0, 0, 13107, 52428, 65535, 65535};
    static const double points[][2] = {{0, 0},     {0.1, 0},   {0.3, 0.1}, {0.4, 0.2},
                                       {0.5, 0.5}, {0.6, 0.8}, {0.7, 0.9}, {0.8, 1},
                                       {0.9, 1},   {1, 1},     {1.5, 1.5}};
    (void)state;
    cmsToneCurve *curve = cmsBuildTabulatedToneCurve16(NULL, 6, steps),
                 *other = cmsBuildGamma(NULL, 2);
    GfLight light = light_of(profile_of(curve, other, cmsDupToneCurve(curve))), copy;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const double *p = points[i];
        bool level = (p[0] > 0 && p[0] <= 0.2) || (p[0] >= 0.8 && p[0] < 1);
        assert_near(gf_curve_decode(&light.curves[0], p[0]), p[1], 1e-12);
        if (!level)
            assert_near(gf_curve_encode(&light.curves[0], p[1]), p[0], 1e-12);
        assert_near(gf_curve_decode(&light.curves[1], p[0]), p[0] * p[0], 1e-12);
    }
    assert_ptr_equal(gf_light_curve(&light, 0, 3), &light.curves[0]);
    assert_ptr_equal(gf_light_curve(&light, 0, 1), &light.curves[1]);
    assert_int_equal(gf_light_copy(&light, &copy), GF_OK);
    assert_true(gf_light_same(&light, &copy));
    copy.curves[2].table[3] += 1e-9;
    assert_false(gf_light_same(&light, &copy));
    gf_light_free(&copy);
    gf_light_free(&light);
}

static void test_gray(void **state)
{
    (void)state;
    cmsToneCurve *curve = cmsBuildGamma(NULL, 2.5);
    GfLight light = light_of(saved(cmsCreateGrayProfile(cmsD50_xyY(), curve)));
    cmsFreeToneCurve(curve);
    for (int i = 0; i < 3; i++)
        assert_near(gf_curve_decode(&light.curves[i], 0.25), pow(0.25, 2.5), 1e-12);
    gf_light_free(&light);
}

static void assert_refused(GfBlob blob, const char *why)
{
    GfMetadata metadata = gf_metadata_none();
    GfLight light;
    metadata.icc = blob;
    assert_int_equal(gf_light_of(&metadata, &light), GF_EINPUT);
    assert_non_null(strstr(gf_message(), why));
    gf_metadata_free(&metadata);
}

static void test_refused(void **state)
{
    (void)state;
    cmsUInt16Number dent[] = {0, 50000, 49999, 65535}, level[] = {9, 9, 9};
    double falls[] = {2, -1, 1};
    cmsToneCurve *curve = cmsBuildTabulatedToneCurve16(NULL, 4, dent);
    assert_refused(profile_of(curve, curve, curve), "does not grow");
    curve = cmsBuildTabulatedToneCurve16(NULL, 3, level);
    assert_refused(profile_of(curve, curve, curve), "does not grow");
    curve = cmsBuildParametricToneCurve(NULL, 2, falls);
    assert_refused(profile_of(curve, curve, curve), "does not grow");
    /* x / 2 + 1 / 2 below 3, which is all there is, and (x / 8)^3 from there on. */
    curve = cmsBuildParametricToneCurve(NULL, 5, (double[]){3, 0.125, 0, 0.5, 3, 0, 0.5});
    assert_refused(profile_of(curve, curve, curve), "no way back");
    assert_refused(saved(cmsCreateLab4Profile(NULL)), "no curves of light");
    GfBlob junk = {calloc(200, 1), 200};
    assert_refused(junk, "damaged");
    curve = cmsBuildGamma(NULL, 2.2);
    GfBlob cut = profile_of(curve, curve, curve);
    cut.size = 150;
    assert_refused(cut, "");
}
#endif

/* gain: what an error may become, the steepest slope there is. */
static void test_gains(void **state)
{
    (void)state;
    const GfLight light = gf_light_srgb(), one = gf_light_power(1), two = gf_light_power(2);
    double line[] = {0, 1};
    const GfCurve table = {.table = line, .points = 2};
    assert_near(gf_curve_gain(&light.curves[0]), 2.4 / 1.055, 1e-12);
    assert_near(gf_curve_gain_back(&light.curves[0]), 12.92, 1e-12);
    assert_near(gf_curve_gain(&one.curves[0]), 1, 1e-12);
    assert_near(gf_curve_gain_back(&one.curves[0]), 1, 1e-12);
    assert_near(gf_curve_gain(&two.curves[0]), 2, 1e-12);
    assert_true(isinf(gf_curve_gain_back(&two.curves[0])));
    assert_true(isinf(gf_curve_gain(&table)) && isinf(gf_curve_gain_back(&table)));
}

static void test_chunks(void **state)
{
    static const struct {
        int intent;
        double gamma, wanted; /* light of 0.5 */
    } cases[] = {{-1, 0, 0.21404114},      {0, 0, 0.21404114},       {-1, 0.45455, 0.21404114},
                 {3, 0.45455, 0.21404114}, {0, 1.0, 0.21404114},     {-1, 1.0, 0.5},
                 {-1, 0.5, 0.25},          {-1, 0.55556, 0.28717725}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfMetadata metadata = gf_metadata_none();
        GfLight light;
        metadata.srgb_intent = cases[i].intent;
        metadata.gamma = cases[i].gamma;
        assert_int_equal(gf_light_of(&metadata, &light), GF_OK);
        for (int c = 0; c < 3; c++)
            assert_near(gf_curve_decode(&light.curves[c], 0.5), cases[i].wanted, 1e-5);
        gf_light_free(&light);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef GPUFILTER_HAVE_LCMS2
        cmocka_unit_test(test_profiles), cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_tables),   cmocka_unit_test(test_gray),
        cmocka_unit_test(test_refused),
#endif
        cmocka_unit_test(test_gains),    cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
