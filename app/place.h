/* Where files stand, whatever they are called: through links of every kind, and also before they
 * exist. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "common/status.h"

typedef struct GfPlace {
    dev_t device; /* of the folder, or of the nearest one above it that exists already */
    ino_t inode;
    char *name; /* the path below that folder; owned */
} GfPlace;

/* The path without "a/.." wherever the folder a is still to be made: where `path` will lead then.
 * GF_EMEMORY. The caller frees *settled. */
GfStatus gf_place_settle(const char *path, char **settled);

/* The place at which `path` is, or would be, written: an existing link to a file is followed, as
 * gf_output_open() does. GF_EMEMORY. The caller frees place->name. */
GfStatus gf_place_find(const char *path, GfPlace *place);

/* An order of places, for qsort(): 0 for one place. What lies below one comes right after it. */
int gf_place_order(const GfPlace *a, const GfPlace *b);

/* Whether `place` can only be where `folder` is a folder. */
bool gf_place_is_below(const GfPlace *place, const GfPlace *folder);

/* *same: whether two paths are one existing file, or one place. "-" is no file. GF_EMEMORY. */
GfStatus gf_place_same(const char *a, const char *b, bool *same);
