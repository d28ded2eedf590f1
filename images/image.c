#include "images/image.h"

#include <stdlib.h>

/* Whether there is a gf_row_stride(). */
static bool has_stride(const GfFormat *format)
{
    size_t bytes;
    return gf_mul(format->width, format->channels, &bytes) &&
           gf_mul(bytes, gf_sample_size(format->sample), &bytes) &&
           bytes <= SIZE_MAX - GF_ALIGNMENT;
}

bool gf_image_bytes(const GfFormat *format, size_t *bytes)
{
    return has_stride(format) && gf_mul(gf_row_stride(format), format->height, bytes);
}

GfStatus gf_image_allocate(const GfFormat *format, GfImage *image)
{
    *image = (GfImage){.format = *format};
    if (!has_stride(format))
        return gf_fail(GF_ELIMIT, "rows of %zu pixels are too long", format->width);
    image->stride = gf_row_stride(format);
    return gf_allocate(format->height, image->stride, &image->samples);
}

void gf_image_free(GfImage *image)
{
    free(image->samples);
    *image = (GfImage){0};
}
