/* Whole pictures, read into memory and written from it: for comparison, which needs two at once. */
#pragma once

#include "app/options.h"

/* Reads what the reader has, to the end of its file, into *image; several pictures as one, each
 * below the last. GF_ELIMIT over options->max_memory, and the reader's errors. The caller frees
 * *image. */
GfStatus gf_whole_read(GfReader *reader, const GfReadOptions *options, GfImage *image);

/* Writes the image to `path`, whole or not at all; the format is the name's, PNG without one.
 * Messages name the path. */
GfStatus gf_whole_write(const GfOptions *options, const char *path, const GfImage *image);
