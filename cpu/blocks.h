/* Sums under a box of numbers that are rounded, and so cannot be taken away again. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

enum { GF_BLOCKS_RADIX = 4 };

/* What does not change in a session. */
typedef struct GfBlocks {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;      /* bytes of a sum */
    size_t row_bytes; /* of a row of sums, of as many pixels as are there at once */
    /* Taps, of the type of the sums: all 1; all those of a row; that of a column, and 1. */
    double ones[GF_BLOCKS_RADIX], row[GF_BLOCKS_RADIX], column[2];
} GfBlocks;

/* Of a bank of one product whose taps are all the same: how many pixels of the output at once, of
 * sums of `real` bytes, so that what a thread has stays in a cache; 0 where that would be few. */
size_t gf_blocks_piece(const GfStep *step, size_t real);

/* Prepares for so many of them. */
GfBlocks gf_blocks_of(const GfStep *step, const GfRowFunctions *functions, size_t real,
                      size_t pixels);

/* Bytes of a thread's memory. */
size_t gf_blocks_bytes(const GfBlocks *blocks);

/* A run of output rows under way, of output pixels [x, x + pixels). */
typedef struct GfBlocksRun {
    const GfBlocks *blocks;
    const GfStepInput *input;
    size_t x, pixels;
    unsigned char *memory;
} GfBlocksRun;

/* The sums under the output row whose first row of taps lies on input row y: of the run's first
 * when `begins`, else of the one after that before. */
void gf_blocks_sum(const GfBlocksRun *run, ptrdiff_t y, bool begins, void *sums);
