#include "images/image.h"

#include <stdlib.h>

GfStatus gf_image_allocate(const GfFormat *format, GfImage *image)
{
    size_t stride;
    *image = (GfImage){.format = *format};
    if (!gf_mul(format->width, format->channels, &stride) ||
        !gf_mul(stride, gf_sample_size(format->sample), &stride) ||
        stride > SIZE_MAX - GF_ALIGNMENT)
        return gf_fail(GF_ELIMIT, "rows of %zu pixels are too long", format->width);
    image->stride = gf_align(stride);
    return gf_allocate(format->height, image->stride, &image->samples);
}

void gf_image_free(GfImage *image)
{
    free(image->samples);
    *image = (GfImage){0};
}
