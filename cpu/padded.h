/* Rows with the border laid out at both ends. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

/* What of a row is brought: `channels` channels from `channel` on, all or one. */
typedef struct GfPadded {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real; /* bytes of a number */
    size_t channel, channels;
} GfPadded;

/* Brings what stands at input row y (beyond the picture: what the border says) as numbers to `to`:
 * interleaved pixels, from the one under the first tap of output column x on. */
void gf_padded_load(const GfPadded *padded, const GfStepInput *input, ptrdiff_t y, size_t x,
                    size_t pixels, void *to);

/* Lays out the pixels of a whole row from column x of the picture on, all channels as samples of 8
 * or 16 bits; those beyond its sides, and all where there is no row (NULL), as the border says. */
void gf_padded_lay(const GfStep *step, const unsigned char *row, ptrdiff_t x, ptrdiff_t end,
                   unsigned char *to);
