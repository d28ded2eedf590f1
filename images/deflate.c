/* What pieces of deflate have in common, whoever compresses them. */
#include "images/deflate.h"

#include <string.h>

#include "common/memory.h"

enum {
    STORED_MAX = 65535, /* bytes of a stored block */
    STORED_HEADER = 5,
    FLUSH = 64 /* what ends a piece at a byte, and what a compressor may begin before it gives up */
};

/* An empty block of fixed codes, the last. */
const unsigned char gf_deflate_end[GF_DEFLATE_END_SIZE] = {0x03, 0x00};

size_t gf_deflate_bound(size_t size)
{
    return size + (size / STORED_MAX + 1) * STORED_HEADER + FLUSH;
}

size_t gf_deflate_store(const unsigned char *in, size_t size, unsigned char *out)
{
    unsigned char *to = out;
    for (size_t begin = 0, length; begin < size; begin += length, to += length) {
        length = gf_min(size - begin, STORED_MAX);
        const unsigned low = length & 0xFF, high = (unsigned)(length >> 8);
        const unsigned char header[STORED_HEADER] = {0, (unsigned char)low, (unsigned char)high,
                                                     (unsigned char)~low, (unsigned char)~high};
        memcpy(to, header, sizeof header);
        to += sizeof header;
        memcpy(to, in + begin, length);
    }
    return (size_t)(to - out);
}
