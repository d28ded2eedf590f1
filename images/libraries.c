/* libpng, libjpeg and zlib say what a running program has got, where a system was upgraded under
 * it; libjpeg-turbo, ISA-L and libdeflate only what a program was compiled with. */
#include "images/libraries.h"

#include <png.h>
#include <stdio.h>
#include <zlib.h>

#include <jpeglib.h>

#ifdef GPUFILTER_HAVE_LCMS2
#include <lcms2.h>
#endif
#ifdef GPUFILTER_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef GPUFILTER_HAVE_ISAL
#include <isa-l.h> /* has a gf_mul of its own, and goes with none of our headers of arithmetic */
#endif

#define TEXT_OF(number) #number
#define TEXT(macro)     TEXT_OF(macro)

#ifdef LIBJPEG_TURBO_VERSION
static const char jpeg_name[] = "libjpeg-turbo", jpeg_version[] = TEXT(LIBJPEG_TURBO_VERSION);
#else
static const char jpeg_name[] = "libjpeg", jpeg_version[] = TEXT(JPEG_LIB_VERSION);
#endif

#ifdef GPUFILTER_HAVE_ISAL
static const char isal_version[] =
    TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(ISAL_PATCH_VERSION);
#else
static const char *const isal_version = NULL;       /* zlib does its work */
#endif

#ifdef GPUFILTER_HAVE_LIBDEFLATE
static const char libdeflate_version[] = LIBDEFLATE_VERSION_STRING;
#else
static const char *const libdeflate_version = NULL; /* likewise */
#endif

#ifdef GPUFILTER_HAVE_LCMS2
/* 2140 is 2.14. */
static void write_version(int encoded, char version[16])
{
    snprintf(version, 16, "%d.%d", encoded / 1000, encoded % 1000 / 10);
}
#endif

GfLibrary gf_image_library(int i)
{
#ifdef GPUFILTER_HAVE_LCMS2
    static char compiled[16], running[16];
    write_version(LCMS_VERSION, compiled);
    write_version(cmsGetEncodedCMMversion(), running);
    const GfLibrary lcms2 = {"lcms2", compiled, running};
#else
    const GfLibrary lcms2 = {"lcms2", NULL, NULL};
#endif
    const GfLibrary libraries[] = {
        {"libpng", PNG_LIBPNG_VER_STRING, png_get_libpng_ver(NULL)},
        {jpeg_name, jpeg_version, NULL},
        {"zlib", ZLIB_VERSION, zlibVersion()},
        {"ISA-L", isal_version, NULL},
        {"libdeflate", libdeflate_version, NULL},
        lcms2,
        {NULL, NULL, NULL},
    };
    return libraries[i];
}
