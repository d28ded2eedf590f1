/* Contact sheets: tiles of one size, row by row in a grid that is as many tiles wide as high, with
 * a margin around each. */
#pragma once

#include "images/image.h"

typedef struct GfSheet {
    size_t tiles, columns, rows;
    size_t tile_width, tile_height, margin;
    size_t width, height; /* of the whole sheet, in pixels */
} GfSheet;

enum { GF_SHEET_MARGIN = 4 };

/* Lays out that many tiles, at least one. columns 0: the least number that is no less than that of
 * rows. GF_ELIMIT when a side, or the samples of a row, are more than a size can be. */
GfStatus gf_sheet_plan(size_t tiles, size_t columns, size_t tile_width, size_t tile_height,
                       size_t margin, GfSheet *sheet);

/* The upper left pixel of something of that size in the middle of a tile. */
void gf_sheet_place(const GfSheet *sheet, size_t tile, size_t width, size_t height, size_t *x,
                    size_t *y);

/* Writes sample i of a row of integer samples: `value` is rounded half to even and limited. */
void gf_sheet_store(void *row, size_t i, GfSample sample, double value);

/* The middle of an integer sample's range: 128, 32768. */
static inline double gf_sample_middle(GfSample sample)
{
    return (gf_sample_max(sample) + 1.0) / 2.0;
}
