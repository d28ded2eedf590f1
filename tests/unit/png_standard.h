/* PNG's row filters by the standard's formulas. */
#pragma once

#include <stddef.h>
#include <stdlib.h>

/* PNG 1.2, 6.6. */
static inline int paeth_predictor(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Undoes the filter of one row in place; `above` is undone already. */
static inline void undo(unsigned filter, unsigned char *row, const unsigned char *above,
                        size_t bytes, size_t pixel)
{
    for (size_t i = 0; i < bytes; i++) {
        int a = i < pixel ? 0 : row[i - pixel], b = above[i], c = i < pixel ? 0 : above[i - pixel];
        const int predicted[] = {0, a, b, (a + b) / 2, paeth_predictor(a, b, c)};
        row[i] = (unsigned char)(row[i] + predicted[filter]);
    }
}
