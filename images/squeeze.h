/* Deflate in pieces that can be joined (deflate.h), smaller and slower: for rows in which strings come
 * again. By libdeflate, or by zlib where a build has none (squeeze_zlib.c). */
#pragma once

#include <stddef.h>

#include "common/status.h"

typedef struct GfSqueezer GfSqueezer;

typedef enum GfSqueeze {
    GF_SQUEEZE_SMALL, /* like zlib's level 6, or smaller */
    GF_SQUEEZE_SMALLER
} GfSqueeze;

/* What one thread needs; half a megabyte, taken with the first piece. GF_EMEMORY. */
GfStatus gf_squeezer_create(GfSqueezer **squeezer);

/* NULL is allowed. */
void gf_squeezer_free(GfSqueezer *squeezer);

/* As gf_deflate(): `out` has gf_deflate_bound(size) bytes. Returns 0 where there is no memory for it, or the
 * piece would not become smaller than `size`. */
size_t gf_squeeze(GfSqueezer *squeezer, GfSqueeze how, const unsigned char *in, size_t size,
                  unsigned char *out);
