/* What there is: filters, devices, GPU methods. Printed on standard output. */
#pragma once

#include "common/status.h"

/* All filters of the catalogue, or (`text` is a --kernel text, not NULL) what that filter is:
 * summary, formula, parameters, and its stages in numbers. GF_EUSAGE as gf_filter_parse(). */
GfStatus gf_list_filters(const char *text);

/* The CPU and every CUDA device, or one line why there is none. GF_EMEMORY. */
GfStatus gf_list_devices(void);

/* The table of GPU methods, with or without a GPU. */
void gf_list_algorithms(void);
