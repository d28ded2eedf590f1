/* Deflate in pieces that can be joined (deflate.h), smaller and slower: for rows in which strings
 * come again. By libdeflate, or by zlib where a build has none (squeeze_zlib.c). */
#pragma once

#include <stddef.h>

#include "common/status.h"

typedef struct GfSqueezer GfSqueezer;

/* How long strings are looked for: about as long as in zlib's level 6, less long in less time, or
 * longer. */
typedef enum GfSearch { GF_SEARCH_SHORT, GF_SEARCH_MEDIUM, GF_SEARCH_LONG, GF_SEARCHES } GfSearch;

/* What one thread needs; up to two megabytes. GF_EMEMORY. */
GfStatus gf_squeezer_create(GfSqueezer **squeezer);

/* NULL is allowed. */
void gf_squeezer_free(GfSqueezer *squeezer);

/* As gf_deflate(): `out` has gf_deflate_bound(size) bytes. Returns 0 where the data would not
 * become smaller than `size`. */
size_t gf_squeeze(GfSqueezer *squeezer, GfSearch search, const unsigned char *in, size_t size,
                  unsigned char *out);

/* How large gf_squeeze() would make it, within a few bytes, in less time; `out` is overwritten. */
size_t gf_squeezed_size(GfSqueezer *squeezer, GfSearch search, const unsigned char *in, size_t size,
                        unsigned char *out);
