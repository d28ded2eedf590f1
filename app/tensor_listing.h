/* gpufilter weights: what tensors files of weights have. */
#pragma once

#include "app/options.h"

/* Lists the tensors of each file on standard output, with --verbose their smallest and largest
 * numbers too, with --json as one object a file. Returns the exit status: 2 when a file cannot be
 * read as what it claims to be (the message is out, and the other files are listed), else 0. */
int gf_list_weights(const GfOptions *options);
