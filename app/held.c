/* Whole pictures of floats are large, so what they need is told before anything is computed. */
#include "app/held.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/text.h"
#include "images/sheet.h"

/* Bytes of all pictures; false when that is no size. */
static bool bytes_of(const GfFormat *const *formats, size_t count, size_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t picture;
        if (!formats[i])
            continue;
        if (!gf_image_bytes(formats[i], &picture) || !gf_add(*bytes, picture, bytes))
            return false;
    }
    return true;
}

GfStatus gf_held_create(const GfFormat *const *formats, size_t count, size_t limit, GfHeld *held)
{
    size_t bytes;
    char need[GF_SIZE_TEXT], most[GF_SIZE_TEXT];
    *held = (GfHeld){0};
    if (!bytes_of(formats, count, &bytes))
        bytes = SIZE_MAX;
    if (bytes > limit)
        return gf_fail(
            GF_ELIMIT,
            "the responses that a stretch or a montage holds in memory need %s, the limit "
            "is %s (--memory)",
            gf_need_text(bytes, need), gf_limit_text(limit, most));
    GF_TRY(gf_allocate_zero(count, sizeof *held->images, &held->images));
    GfStatus status = gf_allocate_zero(count, sizeof *held->noise, &held->noise);
    for (; status == GF_OK && held->count < count; held->count++)
        if (formats[held->count])
            status = gf_image_allocate(formats[held->count], &held->images[held->count]);
    if (status != GF_OK)
        gf_held_free(held);
    return status;
}

void gf_held_rows(GfHeld *held, size_t filter, const GfBand *band)
{
    const GfImage *image = &held->images[filter];
    const unsigned char *from = band->samples;
    unsigned char *to = (unsigned char *)image->samples + band->y0 * image->stride;
    for (size_t y = 0; y < band->rows; y++)
        memcpy(to + y * image->stride, from + y * band->stride, gf_row_bytes(&image->format));
}

void gf_held_free(GfHeld *held)
{
    for (size_t i = 0; i < held->count; i++)
        gf_image_free(&held->images[i]);
    free(held->images);
    free(held->noise);
    *held = (GfHeld){0};
}

GfStretch gf_stretch_none(void)
{
    return (GfStretch){INFINITY, -INFINITY, 0.0};
}

void gf_stretch_widen(GfStretch *stretch, const GfImage *image, size_t first, size_t count)
{
    const GfFormat *format = &image->format;
    for (size_t y = 0; y < format->height; y++) {
        const unsigned char *row = (const unsigned char *)image->samples + y * image->stride;
        for (size_t x = 0; x < format->width; x++) {
            size_t pixel = x * format->channels;
            if (format->has_alpha &&
                !(gf_sample_at(row, pixel + format->channels - 1, format->sample) > 0.0))
                continue;
            for (size_t c = first; c < first + count; c++) {
                double number = gf_sample_at(row, pixel + c, format->sample);
                if (!isfinite(number))
                    continue;
                stretch->low = fmin(stretch->low, number);
                stretch->high = fmax(stretch->high, number);
            }
        }
    }
}

void gf_stretch_widen_held(GfStretch *stretch, const GfHeld *held, size_t filter, size_t first,
                           size_t count)
{
    gf_stretch_widen(stretch, &held->images[filter], first, count);
    stretch->noise = fmax(stretch->noise, held->noise[filter]);
}

double gf_stretch_sample(const GfStretch *stretch, double number, GfSample sample)
{
    if (!(stretch->high - stretch->low > stretch->noise))
        return gf_sample_middle(sample);
    return (number - stretch->low) / (stretch->high - stretch->low) * gf_sample_max(sample);
}
