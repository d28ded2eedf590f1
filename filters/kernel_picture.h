/* Kernels as a picture: a contact sheet with a tile a kernel. */
#pragma once

#include "filters/stage.h"
#include "images/image.h"

/* Draws the kernels weights[maps][channels][height][width] as an 8-bit picture that the caller
 * frees. Each is enlarged by whole pixels to a tile that can be looked at; zero is the middle gray,
 * and the weight of the largest magnitude of a tile is black or white. A kernel of one channel is a
 * gray tile, of three a colour tile; of other numbers each channel is a gray tile, and each row of
 * the sheet a map. GF_ELIMIT when the sheet would be too large; GF_EMEMORY. */
GfStatus gf_kernels_picture(const double *weights, size_t maps, size_t channels, size_t height,
                            size_t width, GfImage *image);

/* One kernel of a sheet: weights[channels][height][width], with 1 or 3 channels. */
typedef struct GfKernelTile {
    double *weights; /* owned by the list */
    size_t channels, height, width;
    char *name; /* owned by the list */
} GfKernelTile;

/* Kernels of several sizes. */
typedef struct GfKernelList {
    GfKernelTile *tiles; /* owned */
    size_t count;
} GfKernelList;

/* Appends the kernels of all linear stages of the filter: those of a bank one by one (where they
 * are added up, their sum), of a layer by their maps. Functions and pools have none. GF_EMEMORY. */
GfStatus gf_kernel_list_add(GfKernelList *list, const GfFilter *filter);

/* The same picture of a list of at least one; *columns: tiles in a row. */
GfStatus gf_kernel_list_picture(const GfKernelList *list, size_t *columns, GfImage *image);

/* Leaves an empty list. */
void gf_kernel_list_free(GfKernelList *list);
