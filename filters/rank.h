/* Is a kernel the product of a column and a row? */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* When the height x width matrix `taps` has rank 1, writes factors with taps[y][x] = column[y] *
 * row[x] and returns true. The residue may sum to 1e-9 of the sum of |taps|: that moves an 8- or
 * 16-bit response by less than 1e-4 steps. A matrix of zeros has factors of zeros. */
bool gf_rank_one(const double *taps, size_t width, size_t height, double *column, double *row);
