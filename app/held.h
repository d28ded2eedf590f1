/* Responses kept as floats until a picture's last row is there, for what has to know the smallest
 * and the largest of them: --range minmax and --montage. */
#pragma once

#include "images/image.h"

typedef struct GfHeld {
    GfImage *images; /* one a filter; owned */
    double *noise;   /* of each (GfPipeline.noise); owned */
    size_t count;
} GfHeld;

/* Makes room for a picture of each format that is not NULL, without noise. GF_ELIMIT over `limit`
 * bytes, with both numbers; GF_EMEMORY. `held` is then empty. */
GfStatus gf_held_create(const GfFormat *const *formats, size_t count, size_t limit, GfHeld *held);

/* Copies rows of filter `filter`; rows of one filter come in order. */
void gf_held_rows(GfHeld *held, size_t filter, const GfBand *band);

/* Whether the band was the last of its picture. */
static inline bool gf_held_is_last(const GfHeld *held, size_t filter, const GfBand *band)
{
    return band->y0 + band->rows == held->images[filter].format.height;
}

void gf_held_free(GfHeld *held);

/* Numbers from `low` to `high` become black to white, unless they are no further apart than
 * `noise`. */
typedef struct GfStretch {
    double low, high, noise;
} GfStretch;

/* No number yet. */
GfStretch gf_stretch_none(void);

/* Widens the range to the finite samples of channels [first, first + count) of the picture, but for
 * those of transparent pixels. */
void gf_stretch_widen(GfStretch *stretch, const GfImage *image, size_t first, size_t count);

/* The same for channels of what is held of a filter, and its noise. */
void gf_stretch_widen_held(GfStretch *stretch, const GfHeld *held, size_t filter, size_t first,
                           size_t count);

/* The number as a sample, unrounded: 0 to white, and the middle where all numbers are the same. */
double gf_stretch_sample(const GfStretch *stretch, double number, GfSample sample);
