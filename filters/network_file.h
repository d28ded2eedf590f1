/* Filter files: networks as JSON, with their weights beside them; gpufilter-filters(7) describes
 * them. */
#pragma once

#include "filters/catalog.h"

typedef struct GfNetworkFile GfNetworkFile;

/* Reads the file `path` and what it says about itself, and opens its weights. The whole of it is
 * understood by gf_network_file_add(). Errors, which leave *file NULL: GF_EUSAGE with the path and
 * the reason; GF_EMEMORY. */
GfStatus gf_network_file_open(const char *path, GfNetworkFile **file);

/* The same for a file in memory, whose weights are the bytes of a .safetensors file: both are
 * borrowed until the close. `name` is what messages call it. */
GfStatus gf_network_file_open_memory(const char *name, const char *json, size_t json_size,
                                     const void *weights, size_t weights_size,
                                     GfNetworkFile **file);

/* Name for messages ("@" and the path), summary and parameters. Valid until the close. */
const GfNamedFilter *gf_network_file_row(const GfNetworkFile *file);

/* For the names of outputs: as the file says, or its own name up to the first dot. */
const char *gf_network_file_name(const GfNetworkFile *file);

/* Appends the stages; `values` in the order of the row's parameters. Errors: GF_EUSAGE with the
 * number, kind and name of the stage that is wrong; GF_EMEMORY. */
GfStatus gf_network_file_add(GfNetworkFile *file, const GfValue *values, GfFilter *filter);

/* NULL is allowed. */
void gf_network_file_close(GfNetworkFile *file);
