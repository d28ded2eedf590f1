/* Blocks of neighbouring samples and the second matrix (gpu/tensor_shape.h), as far as `tensor`
 * needs them on the host whatever its digits are: a kernel's taps, the bytes of an input row that a
 * block needs, and where taps stand in the matrix.
 *
 * A step is taken as it is computed: one by channel as that of a single channel
 * (gf_block_one_channel()). Nothing is allocated; what is made is the caller's. */
#pragma once

#include "gpu/launch.h"

enum {
    GF_BLOCK_WORD = 4,   /* bytes that a lane holds, */
    GF_BLOCK_GROUP = 16, /* and that a product takes of a block's window */
    GF_BLOCK_ROWS = 3,   /* of a kernel that are computed at least */
    GF_BLOCK_TAPS = GF_TENSOR_SIDE * GF_TENSOR_GROUPS * GF_BLOCK_GROUP
};

/* The taps of a kernel whose blocks need no more than GF_TENSOR_SIDE rows of GF_TENSOR_GROUPS
 * groups, row by row; and the unit and planes that they take as integers (gf_weights_unit()). */
typedef struct GfTaps {
    size_t width, height;
    double unit;
    size_t planes;
    double numbers[GF_BLOCK_TAPS];
} GfTaps;

size_t gf_taps_count(const GfTaps *taps);

/* Of kernel f. */
void gf_taps_of(const GfLinear *linear, size_t f, GfTaps *taps);

/* Of the kernel that takes most planes, how many. */
size_t gf_taps_planes(const GfLinear *linear);

/* The step as it is on one of its channels. */
GfStep gf_block_one_channel(const GfStep *step);

/* Bytes of an input row between the start of a word, `first_word` words from the block's first
 * sample, and the first tap of that sample. */
int gf_block_lead(const GfStep *step, int *first_word);

/* Groups of bytes that a block of so many samples needs of an input row; and one of 8. */
size_t gf_block_groups_for(const GfStep *step, size_t samples);
size_t gf_block_groups(const GfStep *step);

/* Do the input rows that an output row needs fit into registers? */
bool gf_block_fits(const GfStep *step);

/* Rows that are computed of a kernel of so many: an odd number. */
size_t gf_block_rows(size_t height, size_t least);

/* Where a number of the second matrix stands. */
typedef struct GfBlockPlace {
    size_t row; /* of the kernel */
    int sample; /* of the block: the matrix's column */
    int apart;  /* samples from that sample's first tap */
} GfBlockPlace;

/* Is the sample opacity that is copied? */
bool gf_block_keeps(const GfStep *step, int sample);

/* Does a tap stand there, and which? Of opacity that is copied there is one at the anchor, which is
 * 1 and none of `taps`. */
bool gf_block_find_tap(const GfStep *step, const GfTaps *taps, const GfBlockPlace *place,
                       size_t *tap);

/* What plane `level` has of a weight of so many units for byte `byte` of a sample, 0 being the
 * lower one: of its `digits` that of number level - byte; 0 where there is none. */
int gf_block_digit(double units, size_t digits, size_t level, size_t byte);

/* That plane of a kernel's matrix, in words that are zeros before. The tap of opacity that is
 * copied, of samples of 8 bits, stands in the last plane. */
void gf_block_fill(const GfStep *step, const GfTaps *taps, size_t digits, size_t level,
                   size_t words, uint32_t *word);
