/* Huffman codes as deflate wants them (RFC 1951, 3.2.2). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GF_HUFFMAN_MAX = 288 }; /* symbols of one code */

typedef struct GfHuffmanCode {
    uint16_t bits; /* the first bit to be written is the lowest */
    uint8_t length;
} GfHuffmanCode;

/* Sets the codes of `count` symbols (2 to GF_HUFFMAN_MAX) that occur so often; none is longer than
 * `limit` bits (2^limit >= count). Symbols that do not occur get length 0, but there are always two
 * with a code, as some readers refuse codes of a single one. The frequencies' sum is below 2^31. */
void gf_huffman_build(const uint32_t *frequencies, size_t count, unsigned limit,
                      GfHuffmanCode *codes);
