/* Kernels as text files. */
#pragma once

#include "filters/stage.h"

/* Appends the kernel in the file `path`: rows of numbers, all of one length; what follows a # in a
 * line, and empty lines, count for nothing. A first line "width height" or "width height scale
 * offset" that fits the rows below it is a header, as in the matrices of libvips: the sum is
 * divided by the scale, then the offset is added. Errors: GF_EUSAGE with the line's number. */
GfStatus gf_kernel_file_read(const char *path, GfFilter *filter);
