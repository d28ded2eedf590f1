/* gpufilter compare A B */
#pragma once

#include "app/options.h"

/* Compares the two operands and returns the exit status: 0 within the tolerance, 1 beyond, 2
 * trouble. */
int gf_compare_files(const GfOptions *options);
