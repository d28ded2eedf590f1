/* Undoes the row filters of PNG (PNG specification, 9.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Is it done here in less time than by libpng? Debian's does it byte by byte but on ARM. */
bool gf_png_unfilters(void);

enum { GF_PNG_UNFILTER_SLACK = 8 }; /* bytes behind a row that may be read */

/* `row` is a filter's number and `size` bytes, `pixel` bytes a pixel (1, 2, 3, 4, 6 or 8); `above` the row above it,
 * undone, which has the same form, of zeros above the first. Afterwards the number is 0, unless no filter has it:
 * such a row is left as it is. */
void gf_png_unfilter(unsigned char *row, const unsigned char *above, size_t size, size_t pixel);
