/* The usual construction: symbols sorted by frequency and the nodes made of them stand in two
 * queues, the two rarest of both become the next node. Codes that come out too long are cut to the
 * limit, and shorter ones lengthened until there are enough: not quite the best code, but a long
 * code belongs to a symbol that hardly occurs. */
#include "images/huffman.h"

#include <stdbool.h>
#include <stdlib.h>

enum { LENGTHS = 16, SYMBOL_BITS = 9 };

static int by_frequency(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Fills `sorted` with frequency << SYMBOL_BITS | symbol, rising; returns how many. */
static size_t sort_symbols(const uint32_t *frequencies, size_t count, uint64_t *sorted)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (frequencies[i])
            sorted[used++] = (uint64_t)frequencies[i] << SYMBOL_BITS | i;
    for (size_t i = 0; used < 2; i++)
        if (!frequencies[i])
            sorted[used++] = i;
    qsort(sorted, used, sizeof *sorted, by_frequency);
    return used;
}

/* Counts how many of the `used` leaves have each depth, at most `limit`. */
static void count_depths(const uint64_t *sorted, size_t used, unsigned limit, unsigned *depths)
{
    uint64_t weights[GF_HUFFMAN_MAX];
    uint16_t parents[2 * GF_HUFFMAN_MAX] = {0}; /* of the leaves, then of the nodes */
    uint8_t depth[GF_HUFFMAN_MAX];              /* of the nodes */
    size_t leaf = 0, node = 0, nodes = used - 1;
    for (size_t made = 0; made < nodes; made++) {
        weights[made] = 0;
        for (int child = 0; child < 2; child++) {
            bool take_leaf =
                leaf < used && (node == made || sorted[leaf] >> SYMBOL_BITS <= weights[node]);
            weights[made] += take_leaf ? sorted[leaf] >> SYMBOL_BITS : weights[node];
            parents[take_leaf ? leaf++ : used + node++] = (uint16_t)made;
        }
    }
    depth[nodes - 1] = 0;
    for (size_t i = nodes - 1; i-- > 0;)
        depth[i] = (uint8_t)(depth[parents[used + i]] + 1);
    for (size_t i = 0; i < used; i++) {
        unsigned bits = depth[parents[i]] + 1u;
        depths[bits < limit ? bits : limit]++;
    }
}

/* Lengthens short codes until codes of these lengths exist (Kraft's inequality). */
static void make_room(unsigned limit, unsigned *depths)
{
    uint64_t taken = 0;
    for (unsigned bits = 1; bits <= limit; bits++)
        taken += (uint64_t)depths[bits] << (limit - bits);
    for (; taken > (uint64_t)1 << limit; taken--) {
        unsigned bits = limit - 1;
        while (depths[bits] == 0)
            bits--;
        /* One code becomes the prefix of two: its own and one of those of full length. */
        depths[bits]--;
        depths[bits + 1] += 2;
        depths[limit]--;
    }
}

static uint16_t reversed(unsigned code, unsigned length)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < length; i++)
        bits |= (code >> i & 1) << (length - 1 - i);
    return (uint16_t)bits;
}

void gf_huffman_build(const uint32_t *frequencies, size_t count, unsigned limit,
                      GfHuffmanCode *codes)
{
    uint64_t sorted[GF_HUFFMAN_MAX];
    unsigned depths[LENGTHS + 1] = {0}, next[LENGTHS + 1] = {0};
    size_t used = sort_symbols(frequencies, count, sorted);
    count_depths(sorted, used, limit, depths);
    make_room(limit, depths);
    for (size_t i = 0; i < count; i++)
        codes[i] = (GfHuffmanCode){0, 0};
    size_t at = 0; /* the rarest symbols get the longest codes */
    for (unsigned bits = limit; bits > 0; bits--)
        for (unsigned i = 0; i < depths[bits]; i++)
            codes[sorted[at++] & ((1u << SYMBOL_BITS) - 1)].length = (uint8_t)bits;
    for (unsigned bits = 1; bits < LENGTHS; bits++)
        next[bits + 1] = (next[bits] + depths[bits]) << 1;
    for (size_t i = 0; i < count; i++)
        if (codes[i].length)
            codes[i].bits = reversed(next[codes[i].length]++, codes[i].length);
}
