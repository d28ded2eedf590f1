/* Undoes the row filters of PNG (PNG specification, 9.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Is it done here in less time than by libpng? Debian's does it byte by byte but on ARM. */
bool gf_png_unfilters(void);

enum { GF_PNG_UNFILTER_SLACK = 8 }; /* bytes behind a row that may be read */

/* `lines` are `count` rows, one after the other, each a filter's number and `size` bytes, `pixel`
 * bytes a pixel (1, 2, 3, 4, 6 or 8). In front of them is the row above, undone, of zeros above a
 * picture's first. Afterwards numbers are 0, but where no filter has them: such a row is left as it
 * is. */
void gf_png_unfilter(unsigned char *lines, size_t count, size_t size, size_t pixel);
