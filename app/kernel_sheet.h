/* gpufilter filters --picture: what kernels look like. */
#pragma once

#include "app/options.h"

/* Writes options->picture, a contact sheet of the kernels of the filters and banks that are named,
 * or of all filters of the catalogue that are linear, with their standard parameters; and lists the
 * tiles on standard output, unless the picture goes there. GF_EUSAGE as gf_filter_parse() and
 * gf_members_parse(), also where there is no kernel; GF_EEXIST, GF_EWRITE, GF_ELIMIT,
 * GF_EMEMORY. */
GfStatus gf_kernel_sheet(const GfOptions *options);
