/* What profiles and chunks say about light. The profiles are made by lcms2 itself, from the curves that
 * the standards give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "images/light.h"

#ifdef GPUFILTER_HAVE_LCMS2
#include <lcms2.h>

/* IEC 61966-2-1 as ICC's parametric curve of type 3: gamma, a, b, c, d. */
static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};

static cmsToneCurve *table_of(const cmsToneCurve *curve, unsigned points)
{
    cmsUInt16Number table[4096];
    for (unsigned i = 0; i < points; i++)
        table[i] = cmsEvalToneCurve16(curve, (cmsUInt16Number)(i * 65535 / (points - 1)));
    return cmsBuildTabulatedToneCurve16(NULL, points, table);
}

/* A profile with these curves of red, green and blue; freed with them. */
static GfBlob profile_of(cmsToneCurve *red, cmsToneCurve *green, cmsToneCurve *blue)
{
    const cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.3, 0.6, 1}, {0.15, 0.06, 1}};
    const cmsCIExyY white = {0.3127, 0.329, 1};
    cmsToneCurve *curves[3] = {red, green, blue};
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, curves);
    cmsUInt32Number size = 0;
    GfBlob blob = {0};
    assert_true(cmsSaveProfileToMem(profile, NULL, &size));
    blob.data = malloc(size);
    blob.size = size;
    assert_non_null(blob.data);
    assert_true(cmsSaveProfileToMem(profile, blob.data, &size));
    cmsCloseProfile(profile);
    for (int i = 0; i < 3; i++)
        if (i == 0 || curves[i] != curves[i - 1])
            cmsFreeToneCurve(curves[i]);
    return blob;
}

static void assert_gamma(GfBlob blob, double wanted)
{
    GfMetadata metadata = gf_metadata_none();
    double gamma = -1;
    metadata.icc = blob;
    metadata.gamma = 1.0; /* the profile counts more */
    assert_int_equal(gf_light_of(&metadata, &gamma), GF_OK);
    assert_float_equal(gamma, wanted, 0.01);
    gf_metadata_free(&metadata);
}

static void test_profiles(void **state)
{
    (void)state;
    cmsToneCurve *curve = cmsBuildParametricToneCurve(NULL, 4, srgb);
    cmsToneCurve *small = table_of(curve, 1024), *large = table_of(curve, 4096);
    assert_gamma(profile_of(small, small, small), 0);
    assert_gamma(profile_of(large, large, large), 0);
    assert_gamma(profile_of(curve, curve, curve), 0);
    curve = cmsBuildGamma(NULL, 2.19921875); /* Adobe RGB (1998) */
    assert_gamma(profile_of(curve, curve, curve), 2.2);
    curve = cmsBuildGamma(NULL, 1.0);
    assert_gamma(profile_of(curve, curve, curve), 1);
    curve = cmsBuildGamma(NULL, 1.8);
    small = table_of(curve, 256);
    cmsFreeToneCurve(curve);
    assert_gamma(profile_of(small, small, small), 1.8);
}

static void assert_refused(GfBlob blob, const char *why)
{
    GfMetadata metadata = gf_metadata_none();
    double gamma;
    metadata.icc = blob;
    assert_int_equal(gf_light_of(&metadata, &gamma), GF_EINPUT);
    assert_non_null(strstr(gf_message(), why));
    gf_metadata_free(&metadata);
}

static void test_refused(void **state)
{
    (void)state;
    cmsUInt16Number steps[] = {0, 10000, 50000, 65535};
    cmsToneCurve *curve = cmsBuildTabulatedToneCurve16(NULL, 4, steps);
    assert_refused(profile_of(curve, curve, curve), "neither");
    assert_refused(
        profile_of(cmsBuildGamma(NULL, 1.8), cmsBuildGamma(NULL, 2.2), cmsBuildGamma(NULL, 1.8)),
        "neither");
    GfBlob junk = {calloc(200, 1), 200};
    assert_refused(junk, "damaged");
    curve = cmsBuildGamma(NULL, 2.2);
    GfBlob cut = profile_of(curve, curve, curve);
    cut.size = 150;
    assert_refused(cut, "");
}
#endif

static void test_chunks(void **state)
{
    static const struct {
        int intent;
        double gamma, wanted;
    } cases[] = {{-1, 0, 0},  {0, 0, 0},    {-1, 0.45455, 0}, {3, 0.45455, 0},
                 {0, 1.0, 0}, {-1, 1.0, 1}, {-1, 0.5, 2},     {-1, 0.55556, 1.8}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfMetadata metadata = gf_metadata_none();
        double gamma = -1;
        metadata.srgb_intent = cases[i].intent;
        metadata.gamma = cases[i].gamma;
        assert_int_equal(gf_light_of(&metadata, &gamma), GF_OK);
        assert_float_equal(gamma, cases[i].wanted, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef GPUFILTER_HAVE_LCMS2
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_refused),
#endif
        cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
