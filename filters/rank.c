/* For rank 1 no singular value decomposition is needed: the cross of the row and the column through
 * the largest tap is a factorisation exactly when there is one, and dividing by the largest tap
 * keeps it well conditioned. */
#include "filters/rank.h"

#include <math.h>

static const double rounding = 5e-13; /* of waves whose angle is a right one, with a margin */

bool gf_rank_one(const double *taps, size_t width, size_t height, double *column, double *row)
{
    size_t pivot = 0;
    double total = 0.0, residue = 0.0;
    for (size_t i = 0; i < width * height; i++) {
        total += fabs(taps[i]);
        if (fabs(taps[i]) > fabs(taps[pivot]))
            pivot = i;
    }
    double largest = taps[pivot] != 0.0 ? taps[pivot] : 1.0;
    for (size_t y = 0; y < height; y++)
        column[y] = taps[y * width + pivot % width];
    for (size_t x = 0; x < width; x++)
        row[x] = taps[pivot / width * width + x] / largest;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            residue += fabs(taps[y * width + x] - column[y] * row[x]);
    return residue <= rounding * total;
}
