/* The checksums of PNG: by libdeflate, where it is there, at several times zlib's speed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef GPUFILTER_HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

/* Adler-32 (RFC 1950). */
static inline uint32_t gf_adler32(const void *bytes, size_t size)
{
#ifdef GPUFILTER_HAVE_LIBDEFLATE
    return libdeflate_adler32(1, bytes, size);
#else
    return (uint32_t)adler32_z(1, bytes, size);
#endif
}

/* CRC-32 (RFC 1952) of more bytes behind those whose checksum is `before`. */
static inline uint32_t gf_crc32_more(uint32_t before, const void *bytes, size_t size)
{
#ifdef GPUFILTER_HAVE_LIBDEFLATE
    return libdeflate_crc32(before, bytes, size);
#else
    return (uint32_t)crc32_z(before, bytes, size);
#endif
}

static inline uint32_t gf_crc32(const void *bytes, size_t size)
{
    return gf_crc32_more(0, bytes, size);
}
