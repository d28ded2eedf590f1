/* How the methods see the input: as runs of neighbours, whatever the stride, the dilation and the
 * border, which were dealt with when the rows were loaded. */
#pragma once

#include <stddef.h>

/* For `count` output samples at once, the samples under tap (ky, kx) of plane d are neighbours, of
 * the type of the sums, from base + d * plane + y[ky] + x[kx] on. `count` may be more than the
 * samples that are used: then it is a multiple of GF_ALIGNMENT bytes.
 *
 * A method that works on columns first makes `slots` runs of `column_count` results out of the runs
 * at base + y[ky] + s * slot, and lays them down `column` bytes apart; what is under tap kx is then
 * at column_x[kx] among them. All offsets are in bytes. */
typedef struct GfView {
    const unsigned char *base;
    size_t plane;
    const size_t *y, *x;
    size_t count;
    size_t slots, slot;
    size_t column_count, column;
    const size_t *column_x;
} GfView;
