/* Deflate (RFC 1951) for the rows of pictures: fast, and in pieces that can be joined. By ISA-L, or
 * by zlib where a build has none (deflate_zlib.c). */
#pragma once

#include <stddef.h>

#include "common/status.h"

typedef struct GfDeflater GfDeflater;

/* What one thread needs to compress, up to half a megabyte. GF_EMEMORY. */
GfStatus gf_deflater_create(GfDeflater **deflater);

/* NULL is allowed. */
void gf_deflater_free(GfDeflater *deflater);

/* Room that gf_deflate() may need for so many bytes, at most 2^30. */
size_t gf_deflate_bound(size_t size);

/* Compresses `size` bytes (at most 2^30) to `out`, and returns how many bytes that gave. They are
 * whole blocks, none of them marked as the last, that end at a byte's end and refer to nothing in
 * front of them: such pieces joined in any number, with gf_deflate_end behind, are one deflate
 * stream. On one machine the same bytes always give the same piece. */
size_t gf_deflate(GfDeflater *deflater, const unsigned char *in, size_t size, unsigned char *out);

/* The same form without compression. */
size_t gf_deflate_store(const unsigned char *in, size_t size, unsigned char *out);

/* The end of a stream: an empty block that is the last. */
enum { GF_DEFLATE_END_SIZE = 2 };
extern const unsigned char gf_deflate_end[GF_DEFLATE_END_SIZE];
