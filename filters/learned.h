/* Networks that the program brings along: filter files and their weights, part of the program
 * itself, so that a filter of the catalogue needs no file beside it. */
#pragma once

#include "filters/network_file.h"

typedef struct GfLearned {
    const char *name; /* of the catalogue's row */
    const char *json;
    const size_t *json_size;
    const unsigned char *weights; /* as of a .safetensors file */
    const size_t *weights_size;
} GfLearned;

/* The last row has no name. */
extern const GfLearned gf_learned[];

/* The network of that name, or NULL. */
const GfLearned *gf_learned_find(const char *name);

/* Its file. Errors as of gf_network_file_open_memory(). */
GfStatus gf_learned_open(const GfLearned *learned, GfNetworkFile **file);

/* Stages for the catalogue: values in the order of the row's parameters, which are the file's. */
GfStatus gf_learned_deblur(const GfValue *values, GfFilter *filter);
GfStatus gf_learned_denoise(const GfValue *values, GfFilter *filter);
GfStatus gf_learned_natural(const GfValue *values, GfFilter *filter);
