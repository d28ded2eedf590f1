/* Minibatches of pictures laid out in one piece of memory in any of the ways that GfRows can name,
 * everything between the samples being poison. */
#pragma once

#include "gpu/launch.h"
#include "tests/gpu/picture.h"

typedef enum Lay {
    LAY_INTERLEAVED, /* RGBRGB */
    LAY_ROWS,        /* the channels of a row one after the other: what lies between steps */
    LAY_NCHW,        /* whole channels one after the other */
    LAYS
} Lay;

typedef struct Array {
    GfFormat format; /* of one picture */
    size_t count;
    size_t stride, batch; /* bytes */
    size_t pixel, plane;  /* samples */
    size_t first;         /* byte of the first sample */
    size_t bytes;
    unsigned char poison;
    unsigned char *memory; /* owned */
} Array;

/* Poisoned. Rows, planes and pictures are `gap` samples longer than they have to be, the first
 * sample lies `shift` samples off the alignment of an allocation. Where rows begin as vectors do,
 * pictures do too. */
Array make_array(const GfFormat *format, size_t count, Lay lay, size_t gap, size_t shift,
                 unsigned char poison);

/* Row `from` of a picture becomes row y of picture n. */
void fill_row(Array *array, size_t n, size_t y, const Block *picture, size_t from);

/* Copies picture n out. */
void read_array(const Array *array, size_t n, Block *picture);

/* Is all that is no sample still poison? */
bool array_guards_whole(const Array *array);
