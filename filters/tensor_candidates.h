/* Which tensor is meant where a name is missing or misspelt. */
#pragma once

#include "filters/tensor_formats.h"

/* The only readable tensor with from `least` to `most` dimensions. GF_EUSAGE, with a list, where
 * there is none or a choice. */
GfStatus gf_tensors_only(const GfTensors *tensors, size_t least, size_t most,
                         const GfTensor **tensor);

/* GF_EUSAGE: there is no tensor of that name; with a list of those with similar names. */
GfStatus gf_tensors_missing(const GfTensors *tensors, const char *name);
