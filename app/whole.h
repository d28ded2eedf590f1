/* Whole pictures, read into memory and written from it: for comparison, which needs two at once. */
#pragma once

#include "app/options.h"

/* Reads what the reader has, to the end of its file, into *image; several pictures as one, each
 * below the last. GF_ELIMIT over options->max_memory, and the reader's errors. The caller frees
 * *image. */
GfStatus gf_whole_read(GfReader *reader, const GfReadOptions *options, GfImage *image);

/* Writes a picture, whole or not at all, in the format of its name, PNG without one. Replaces a
 * file only with --overwrite. Messages name the path. */
GfStatus gf_whole_write(const GfOptions *options, const char *path, const GfImage *image);

/* Writes the picture of differences (gf_compare_picture()) to options->diff_image, where that is
 * given, whole or not at all, and notes what its white stands for. The format is the name's, PNG
 * without one. Messages name the path. */
GfStatus gf_whole_write_difference(const GfOptions *options, const GfImage *a, const GfImage *b,
                                   double largest);
