/* Pictures made small and shown as 8 bits, whatever they hold. Pure: no files, no messages. */
#pragma once

#include "app/held.h"

/* What of a picture is shown, and how. */
typedef struct GfView {
    size_t first, colours; /* channels that are shown: 3 as RGB, 1 as gray */
    GfStretch stretch;     /* black and white */
    double opaque;         /* the number of full opacity, where the last channel is that */
    bool peaks;            /* a pixel of several is their largest, not their mean */
} GfView;

typedef struct GfRegion {
    size_t x, y, width, height; /* pixels */
} GfRegion;

/* The usual view: RGB or gray as the picture is, of any other number of channels only `channel`;
 * integers from 0 to white, floats without a stretch yet. */
GfView gf_view_make(const GfFormat *format, size_t channel, double opaque);

/* Draws a region of a picture, one pixel for each block x block of it, or for what the region's
 * edge leaves of that, weighted by opacity. NaN is black. The caller frees *out. GF_EMEMORY. */
GfStatus gf_view_draw(const GfView *view, const GfImage *image, const GfRegion *region,
                      size_t block, GfImage *out);
