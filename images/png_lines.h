/* The pixels of a PNG file as libpng is to get them: inflated, and where that is faster here, with
 * their rows' filters undone. */
#pragma once

#include <stdbool.h>

#include "images/inflate.h"

typedef struct GfPngLines GfPngLines;

/* `line` bytes a row, the number of its filter included, `pixel` of them a pixel, or 1 where that
 * is less; `lines` rows, whose filters are undone if they can be, and rows are no longer than a
 * megabyte. 0 lines: rows are not looked for. GF_EMEMORY. */
GfStatus gf_png_lines_create(size_t line, size_t pixel, size_t lines, GfPngLines **out);

/* NULL is allowed. */
void gf_png_lines_free(GfPngLines *lines);

/* As gf_inflate(), to memory of its own; all that was made before must have been taken. `progress`:
 * something was made of what was given before, or now. */
GfInflated gf_png_lines_inflate(GfPngLines *lines, const unsigned char **in, size_t *size,
                                bool *progress, const char **reason);

/* The next *size bytes, at most `most`, which stay where they are until the next call of
 * gf_png_lines_inflate(). Of rows that are looked for only whole ones. */
const unsigned char *gf_png_lines_take(GfPngLines *lines, size_t most, size_t *size);
