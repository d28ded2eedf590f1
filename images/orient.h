/* Inside images/: the eight EXIF orientations as ways of going through the stored rows. */
#pragma once

#include "images/image.h"

/* Whether width and height change places (5..8). */
static inline bool gf_orientation_swaps(unsigned orientation)
{
    return orientation >= 5;
}

/* Orientation 2 in place: every row of the band from right to left. `format` is the band's. */
void gf_orient_mirror(const GfFormat *format, const GfBand *band);

/* Fills the band with rows of the picture that `stored` shows when it is turned as orientation
 * 1..8 says (EXIF 2.32, tag 0x0112). The band's rows have the turned picture's width. */
void gf_orient_rows(const GfImage *stored, unsigned orientation, const GfBand *band);
