/* Metadata that a PNG file holds behind its pixels. */
#pragma once

#include "images/input.h"

enum { GF_PNG_TEXTS_MAX = 1000, GF_PNG_EXIFS_MAX = 8 };

/* Places of chunks in the file: where their length and name begin. There is always room for
 * EXIF. */
typedef struct GfPngLate {
    uint64_t offsets[GF_PNG_TEXTS_MAX + GF_PNG_EXIFS_MAX];
    size_t count;
} GfPngLate;

/* Finds the first text and EXIF chunks that follow the pixels (those of EXIF may be damaged), where
 * the input can be read at any place; none are found in a pipe, behind a hundred thousand chunks,
 * or behind a chunk that is cut short. */
void gf_png_find_late(GfInput *input, GfPngLate *late);
