/* The contact sheet of all outputs of a picture: a tile for each that is gray or RGB, and of an
 * output of many maps a tile a map. */
#pragma once

#include "app/held.h"
#include "app/options.h"
#include "images/sheet.h"

typedef struct GfMontageTile {
    size_t filter, first, channels; /* 1 or 3 channels from the first on */
} GfMontageTile;

typedef struct GfMontage {
    GfMontageTile *tiles; /* owned */
    GfSheet sheet;
    GfFormat format; /* of the sheet: gray, or RGB where a tile is; no opacity */
    GfMontageScale scale;
    double white; /* what an opaque pixel's opacity is in the outputs */
} GfMontage;

/* Lays out the outputs of those formats; `in` is the format of the picture that they are made of,
 * `sample` that of the sheet. GF_ELIMIT, GF_EMEMORY. */
GfStatus gf_montage_plan(const GfOptions *options, const GfFormat *in,
                         const GfFormat *const *formats, size_t filters, GfSample sample,
                         GfMontage *montage);

/* Draws the sheet and writes it, from the top to its last row. */
GfStatus gf_montage_write(const GfMontage *montage, const GfHeld *held, GfWriter *writer);

/* Leaves an empty montage. */
void gf_montage_free(GfMontage *montage);
