/* gpufilter weights --picture: what learned kernels look like. */
#pragma once

#include "app/options.h"

/* Writes options->picture, a contact sheet of the kernels of options->tensor in the one file of
 * weights named (where there is no such option, of the file's only tensor of 2 to 4 dimensions:
 * height x width, maps x height x width, maps x channels x height x width). GF_EUSAGE as
 * gf_tensors_choose() and gf_tensors_open(), GF_EEXIST, GF_EWRITE, GF_ELIMIT, GF_EMEMORY. */
GfStatus gf_tensor_sheet(const GfOptions *options);
