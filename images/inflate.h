/* Inflate (RFC 1950) piece by piece: by ISA-L, in a third of zlib's time, or by zlib where a build
 * has none (inflate_zlib.c). */
#pragma once

#include <stddef.h>

#include "common/status.h"

typedef struct GfInflater GfInflater;

/* For one stream, from its first byte on; a hundred kilobytes. GF_EMEMORY. */
GfStatus gf_inflater_create(GfInflater **inflater);

/* NULL is allowed. */
void gf_inflater_free(GfInflater *inflater);

typedef enum GfInflated {
    GF_INFLATED_SOME, /* all of the input was taken, or all of the room was filled */
    GF_INFLATED_ALL,  /* the stream has ended, and its checksum is right */
    GF_INFLATED_BROKEN
} GfInflated;

/* Inflates *size bytes at *in, which move past what was taken, to at most `room` bytes of `out`;
 * *made of them are right, even where the stream is broken, which *reason then says. Sizes are at
 * most 2^30. After the end, when *size is how many of the bytes that were given are behind it, or
 * after what is broken it is not to be called again. */
GfInflated gf_inflate(GfInflater *inflater, const unsigned char **in, size_t *size,
                      unsigned char *out, size_t room, size_t *made, const char **reason);
