/* Where a filter file's numbers are: named tensors in one .safetensors file, and .npy files, all of
 * them in the filter file's folder or below it, so that a filter file reads nothing else of a
 * machine. */
#pragma once

#include "filters/tensors.h"

typedef struct GfNetworkWeights {
    char *folder;       /* with the slash at its end, or ""; NULL: there are no files; owned */
    GfTensors *tensors; /* of the named file; or NULL; owned */
    size_t numbers;     /* read until now */
} GfNetworkWeights;

/* One tensor, between finding it and reading it. */
typedef struct GfNetworkTensor {
    GfTensors *tensors;
    const GfTensorInfo *info;
    bool own; /* the file was opened for this one tensor */
} GfNetworkTensor;

/* Weights beside the filter file `path`; `name` is the file of tensors, or NULL. Errors: GF_EUSAGE
 * with the reason, GF_EMEMORY; `weights` is to be closed all the same. */
GfStatus gf_network_weights_open(GfNetworkWeights *weights, const char *path, const char *name);

/* Weights in memory, as of a .safetensors file, borrowed until the close. */
GfStatus gf_network_weights_open_memory(GfNetworkWeights *weights, const void *bytes, size_t size);

void gf_network_weights_close(GfNetworkWeights *weights);

/* The tensor of that name, or, where there is none, of the .npy file of that name. Errors:
 * GF_EUSAGE, also for what cannot be weights; GF_EMEMORY. */
GfStatus gf_network_tensor_find(const GfNetworkWeights *weights, const char *name,
                                GfNetworkTensor *tensor);

/* Reads its numbers into an array that the caller frees. GF_EUSAGE also where one file asks for
 * more than GF_WEIGHTS_MAX numbers in all. */
GfStatus gf_network_tensor_read(GfNetworkWeights *weights, const GfNetworkTensor *tensor,
                                double **numbers);

void gf_network_tensor_close(GfNetworkTensor *tensor);
