/* Pixels in memory: formats, rows, bands. Samples are interleaved (RGBRGB...), in the machine's
 * byte order, full range; 8- and 16-bit integers are unsigned. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/memory.h"

/* F16, IEEE 754 binary16, is only read: results of it are F32. */
typedef enum GfSample { GF_U8, GF_U16, GF_F16, GF_F32, GF_F64 } GfSample;

/* Bytes of one sample. */
static inline size_t gf_sample_size(GfSample sample)
{
    static const unsigned char size[] = {1, 2, 2, 4, 8};
    return size[sample];
}

/* "u8", "u16", "f16", "f32", "f64" */
static inline const char *gf_sample_name(GfSample sample)
{
    static const char name[][4] = {"u8", "u16", "f16", "f32", "f64"};
    return name[sample];
}

static inline bool gf_sample_is_float(GfSample sample)
{
    return sample >= GF_F16;
}

/* White: the largest value of an integer sample; 1 for floats, which have no limit. */
static inline double gf_sample_max(GfSample sample)
{
    return sample == GF_U8 ? 255.0 : sample == GF_U16 ? 65535.0 : 1.0;
}

/* The number that 16 bits stand for in IEEE 754 binary16. */
static inline float gf_half(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7FFFu;
    float value;
    if (rest >= 0x7C00u) { /* infinity and NaN */
        rest = 0x7F800000u | (rest & 0x3FFu) << 13;
    } else if (rest >= 0x400u) {
        rest = (rest << 13) + ((127u - 15u) << 23);
    } else { /* zero and what is below the smallest normal number: rest * 2^-24 */
        value = (float)rest * 0x1p-24f;
        return sign ? -value : value;
    }
    rest |= sign;
    memcpy(&value, &rest, sizeof value);
    return value;
}

/* Sample i of a row, as a double (which holds every sample of every type exactly). */
static inline double gf_sample_at(const void *row, size_t i, GfSample sample)
{
    switch (sample) {
    case GF_U8:
        return ((const uint8_t *)row)[i];
    case GF_U16:
        return ((const uint16_t *)row)[i];
    case GF_F16:
        return (double)gf_half(((const uint16_t *)row)[i]);
    case GF_F32:
        return (double)((const float *)row)[i];
    case GF_F64:
        break;
    }
    return ((const double *)row)[i];
}

typedef struct GfFormat {
    size_t width, height; /* pixels, both >= 1 */
    size_t channels;      /* 1 gray, 2 gray+alpha, 3 RGB, 4 RGBA; any count from .npy */
    bool has_alpha;       /* the last channel is opacity */
    GfSample sample;
} GfFormat;

/* Samples of one row. */
static inline size_t gf_row_samples(const GfFormat *format)
{
    return format->width * format->channels;
}

/* Bytes of one row, without padding. A reader has checked that this does not overflow. */
static inline size_t gf_row_bytes(const GfFormat *format)
{
    return gf_row_samples(format) * gf_sample_size(format->sample);
}

/* Bytes from one row to the next in memory: rows begin at multiples of GF_ALIGNMENT, but short ones
 * lie one behind the other, where padding could be most of what a narrow picture takes. */
static inline size_t gf_row_stride(const GfFormat *format)
{
    size_t bytes = gf_row_bytes(format);
    return bytes < GF_ALIGNMENT ? bytes : gf_align(bytes);
}

/* Rows [y0, y0 + rows) of a picture: a view, it owns nothing. */
typedef struct GfBand {
    size_t y0, rows;
    size_t stride; /* bytes from one row to the next */
    void *samples; /* the first sample of row y0 */
} GfBand;

/* A whole picture. */
typedef struct GfImage {
    GfFormat format;
    size_t stride; /* gf_row_stride() */
    void *samples; /* owned */
} GfImage;

/* Bytes that gf_image_allocate() takes for `format`; false when that is no size. */
bool gf_image_bytes(const GfFormat *format, size_t *bytes);

/* Allocates samples for `format`, not cleared. Errors: GF_ELIMIT (rows too long), GF_EMEMORY;
 * image->samples is then NULL. */
GfStatus gf_image_allocate(const GfFormat *format, GfImage *image);

void gf_image_free(GfImage *image);

/* All rows of an image as one band. */
static inline GfBand gf_image_band(const GfImage *image)
{
    return (GfBand){0, image->format.height, image->stride, image->samples};
}
