/* PNG's row filters (PNG 1.2, 6), which turn samples into differences from their neighbours. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GF_PNG_FILTERS = 5 }; /* none, sub, up, average, Paeth: their numbers in the file */

/* Rows one behind the other, without padding, as the file has them (16-bit samples big-endian). */
typedef struct GfPngRows {
    const uint8_t
        *above; /* the row above the first, zeros at the picture's top; `row_bytes` each */
    size_t count, row_bytes;
    size_t pixel_bytes; /* at least 1 */
} GfPngRows;

/* The filter that promises the smallest file for these rows, by a look at some of them. `scratch`
 * has room for a row. */
unsigned gf_png_filter_choose(const GfPngRows *rows, uint8_t *scratch);

/* Writes each row's filter byte and its `row_bytes` differences to `out`. */
void gf_png_filter(const GfPngRows *rows, unsigned filter, uint8_t *out);
