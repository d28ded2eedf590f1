/* What there is: filters, devices, GPU methods. Printed on standard output. */
#pragma once

#include "app/options.h"

/* All filters of the catalogue and all banks, or those that operands and --bank name: summary,
 * formula, parameters, and the stages in numbers; or the catalogue as a table. GF_EUSAGE as
 * gf_filter_parse() and gf_members_parse(). */
GfStatus gf_list_filters(const GfOptions *options);

/* The CPU and every CUDA device, or one line why there is none. GF_EMEMORY. */
GfStatus gf_list_devices(void);

/* The table of GPU methods, with or without a GPU. */
void gf_list_algorithms(void);
