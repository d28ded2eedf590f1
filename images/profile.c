/* A profile for RGB says nothing true about a picture that has become gray, nor does gamma survive
 * in a format that has no word for it, unless a profile takes it over. */
#include "images/profile.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/light.h"

enum { HEADER = 128 };

static bool fits(const GfBlob *icc, size_t colours)
{
    /* ICC.1:2010, 7.2.1: the data colour space is a four-byte signature at offset 16. */
    enum { COLOUR_SPACE = 16 };
    if (icc->size < HEADER)
        return false;
    return memcmp(icc->data + COLOUR_SPACE, colours == 1 ? "GRAY" : "RGB ", 4) == 0;
}

/* The bytes that the profile itself has by its header (ICC.1:2010, 7.2.2): JPEG's often have
 * padding behind them, which libpng refuses. */
static size_t size_of(const GfBlob *icc)
{
    const unsigned char *b = icc->data;
    size_t size = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
    return size >= HEADER && size < icc->size ? size : icc->size;
}

/* Fills a profile of version 4 up to a multiple of four bytes, as libpng wants it. With it go the
 * size in front (ICC.1:2010, 7.2.2) and the identifier, a sum over all of it, which becomes the
 * zeros that stand for none (7.2.18). */
static GfStatus fill_up(GfBlob *icc)
{
    enum { VERSION = 8, IDENTIFIER = 84, IDENTIFIER_SIZE = 16 };
    size_t size = (icc->size + 3) & ~(size_t)3;
    if (size == icc->size || icc->data[VERSION] < 4)
        return GF_OK;
    unsigned char *data = realloc(icc->data, size);
    if (!data)
        return gf_fail(GF_EMEMORY, "out of memory (a profile of %zu bytes)", size);
    memset(data + icc->size, 0, size - icc->size);
    memset(data + IDENTIFIER, 0, IDENTIFIER_SIZE);
    for (int i = 0; i < 4; i++)
        data[i] = (unsigned char)(size >> (24 - 8 * i));
    *icc = (GfBlob){data, size};
    return GF_OK;
}

#ifdef GPUFILTER_HAVE_LCMS2
#include <lcms2.h>

/* Closes the profile, which may be NULL: then there is none. Its date is fixed (ICC.1:2010, 7.2.8),
 * so that the same picture always becomes the same file. */
static GfStatus save(cmsHPROFILE profile, GfBlob *saved)
{
    enum { DATE = 24 };
    static const unsigned char year_2000[] = {0x07, 0xd0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0};
    cmsUInt32Number size = 0;
    GfStatus status = GF_OK;
    if (!profile || !cmsSaveProfileToMem(profile, NULL, &size) || size < DATE + sizeof year_2000)
        goto done;
    GF_GO(gf_allocate(size, 1, &saved->data));
    saved->size = size;
    if (!cmsSaveProfileToMem(profile, saved->data, &size)) {
        free(saved->data);
        *saved = (GfBlob){0};
        goto done;
    }
    memcpy(saved->data + DATE, year_2000, sizeof year_2000);
done:
    if (profile)
        cmsCloseProfile(profile);
    return status;
}

/* The gray profile whose curve is that of a profile's green. */
static GfStatus make_gray(const GfBlob *icc, GfBlob *profile)
{
    cmsHPROFILE colour = cmsOpenProfileFromMem(icc->data, (cmsUInt32Number)icc->size);
    if (!colour)
        return GF_OK;
    const cmsToneCurve *green = cmsReadTag(colour, cmsSigGreenTRCTag);
    GfStatus status = green ? save(cmsCreateGrayProfile(cmsD50_xyY(), green), profile) : GF_OK;
    cmsCloseProfile(colour);
    return status;
}

/* Without chromaticities they are sRGB's; what is sRGB altogether needs no profile. White of gray
 * is D50, as ICC.1:2010 has it in all profiles (7.2.16), whatever it was. */
static GfStatus make_from_chunks(const GfMetadata *metadata, size_t colours, GfBlob *profile)
{
    static const double srgb_curve[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    const double *c =
        metadata->has_chromaticities ? metadata->chromaticities : gf_srgb_chromaticities;
    double far = 0.0;
    for (size_t i = 0; i < 8; i++)
        far = fmax(far, fabs(c[i] - gf_srgb_chromaticities[i]));
    if (gf_gamma_is_srgb(metadata->gamma) && (far < 1e-3 || colours == 1))
        return GF_OK;
    const cmsCIExyY white = {c[0], c[1], 1};
    const cmsCIExyYTRIPLE primaries = {{c[2], c[3], 1}, {c[4], c[5], 1}, {c[6], c[7], 1}};
    cmsToneCurve *curve = gf_gamma_is_srgb(metadata->gamma)
                              ? cmsBuildParametricToneCurve(NULL, 4, srgb_curve)
                              : cmsBuildGamma(NULL, 1.0 / metadata->gamma);
    cmsToneCurve *curves[3] = {curve, curve, curve};
    if (!curve)
        return GF_OK;
    GfStatus status = save(colours == 1 ? cmsCreateGrayProfile(cmsD50_xyY(), curve)
                                        : cmsCreateRGBProfile(&white, &primaries, curves),
                           profile);
    cmsFreeToneCurve(curve);
    return status;
}
#else
static GfStatus make_gray(const GfBlob *icc, GfBlob *profile)
{
    (void)icc, (void)profile;
    return GF_OK;
}

static GfStatus make_from_chunks(const GfMetadata *metadata, size_t colours, GfBlob *profile)
{
    (void)metadata, (void)colours, (void)profile;
    return GF_OK;
}
#endif

GfStatus gf_profile_for(const GfMetadata *metadata, size_t colours, GfColourRoom room,
                        GfBlob *profile)
{
    *profile = (GfBlob){0};
    if (room == GF_COLOUR_NOWHERE)
        return GF_OK;
    if (fits(&metadata->icc, colours)) {
        GF_TRY(gf_blob_set(profile, metadata->icc.data, size_of(&metadata->icc)));
        return room == GF_COLOUR_CHUNKS ? fill_up(profile) : GF_OK;
    }
    if (metadata->icc.data)
        return colours == 1 ? make_gray(&metadata->icc, profile) : GF_OK;
    if (room == GF_COLOUR_CHUNKS || metadata->srgb_intent >= 0 || !(metadata->gamma > 0.0))
        return GF_OK;
    return make_from_chunks(metadata, colours, profile);
}
