/* The pixels of a PNG file: rows in, IDAT chunks out. */
#pragma once

#include "images/codec.h"

typedef struct GfPngStrips GfPngStrips;

/* Begins the pixels of a picture of `format`, compressed as the options say. GF_EMEMORY, GF_ELIMIT
 * (rows of a gigabyte and more). `output` and options->workers are borrowed until
 * gf_png_strips_free(). */
GfStatus gf_png_strips_create(const GfFormat *format, const GfWriteOptions *options,
                              GfOutput *output, GfPngStrips **strips);

/* Takes the next rows and writes what chunks they complete; with the last row all of them. The
 * bytes do not depend on the workers or on how rows come. */
GfStatus gf_png_strips_rows(GfPngStrips *strips, const GfBand *band);

/* NULL is allowed. */
void gf_png_strips_free(GfPngStrips *strips);
