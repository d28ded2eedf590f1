/* Metadata that a PNG file holds behind its pixels. */
#pragma once

#include "images/input.h"

enum { GF_PNG_TEXTS_MAX = 1000 };

/* Places of chunks in the file: where their length and name begin. There is always room for EXIF. */
typedef struct GfPngLate {
    uint64_t offsets[GF_PNG_TEXTS_MAX + 1];
    size_t count;
} GfPngLate;

/* Finds the text chunks, at most GF_PNG_TEXTS_MAX, and the first EXIF chunk that follow the pixels, where
 * the input can be read at any place; none are found in a pipe, behind a hundred thousand chunks, or
 * behind a chunk that is cut short. */
void gf_png_find_late(GfInput *input, GfPngLate *late);
