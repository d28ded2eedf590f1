/* From rows of a PNG to deflate data: which row filter, and which way of compressing. */
#pragma once

#include <zlib.h>

#include "common/status.h"
#include "images/png_filter.h"

typedef struct GfPngCompressor GfPngCompressor;

/* What one thread needs for up to `count` rows of `row_bytes` at a time; that is, with the filters'
 * bytes, at most 2^30 bytes. `level`: 0 none, 1 fast, to 9. GF_EMEMORY. */
GfStatus gf_png_compressor_create(int level, size_t count, size_t row_bytes,
                                  GfPngCompressor **compressor);

/* NULL is allowed. */
void gf_png_compressor_free(GfPngCompressor *compressor);

/* Room that so many bytes of filtered rows may need. */
size_t gf_png_compressed_bound(size_t size);

/* Writes a piece of deflate data as gf_deflate() does to `out`, and returns its size; *adler is the
 * checksum of what it holds. 0 where zlib fails. The same rows always give the same piece. */
size_t gf_png_compress(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out,
                       uLong *adler);
