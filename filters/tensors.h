/* Files of weights, as lists of named tensors.
 *
 * A .safetensors file has many, an .npy file one, without a name. Content decides which it is.
 * Files are not trusted: opening one holds its whole structure to the format before anything of it
 * is used, in memory and time that no file can drive up. What may hold program code (pickles: .pt,
 * .pth, .pkl, .npz, .npy of objects) is never opened, and the message says how to convert it.
 *
 *   GfTensors *tensors;
 *   GfWeights weights;
 *   GF_TRY(gf_tensors_open("net.safetensors", &tensors));
 *   status = gf_tensors_read(tensors, "conv1.weight", &weights);
 *   gf_tensors_close(tensors);
 */
#pragma once

#include "filters/weights.h"

enum {
    GF_TENSORS_MAX = 1 << 16,  /* most tensors of a file */
    GF_TENSOR_NAME_MAX = 511,  /* longest name, in bytes */
    GF_TENSOR_NAME_SHOWN = 120 /* bytes of a name, escaped, that messages show */
};

typedef struct GfTensorInfo {
    const char *name; /* UTF-8 as the file has it: to be escaped where it is shown; of .npy "" */
    const char *type; /* as the file calls it: "F32", "BF16", "<f4" */
    size_t rank, shape[GF_TENSOR_RANK_MAX]; /* a length may be 0 */
    size_t count;                           /* product of the shape; of rank 0: 1 */
    bool readable; /* floats (of .npy integers too) and not empty: can be weights */
} GfTensorInfo;

typedef struct GfTensors GfTensors;

/* Opens a file and checks all of its structure, but no number yet. An .npy file may be a pipe
 * (whose length shows only when it is read), a .safetensors file may not. Errors, which leave
 * *tensors NULL: GF_EUSAGE with the reason, without the path; GF_EMEMORY. */
GfStatus gf_tensors_open(const char *path, GfTensors **tensors);

/* The same for the bytes of a .safetensors file in memory, which are borrowed until the close. */
GfStatus gf_tensors_open_memory(const void *bytes, size_t size, GfTensors **tensors);

/* Whether tensors have names here: true for .safetensors, false for .npy. */
bool gf_tensors_named(const GfTensors *tensors);

size_t gf_tensors_count(const GfTensors *tensors);

/* Tensor `i`; they are sorted by name, numbers in names by their value: conv2 before conv10. Valid
 * until the close. */
const GfTensorInfo *gf_tensors_info(const GfTensors *tensors, size_t i);

/* The tensor of that name, or NULL. */
const GfTensorInfo *gf_tensors_find(const GfTensors *tensors, const char *name);

/* The tensor of that name. NULL: the only tensor of the file, or else the only one that is readable
 * and has from `least` to `most` dimensions. GF_EUSAGE where there is none or a choice, and the
 * message lists some ten candidates with their shapes, the likeliest first; also where the tensor
 * cannot be weights: of another type than floats, empty, or of more than GF_WEIGHTS_MAX numbers. */
GfStatus gf_tensors_choose(const GfTensors *tensors, const char *name, size_t least, size_t most,
                           const GfTensorInfo **info);

/* Reads the tensor of that name (NULL: the only readable one) in C order. Every number fits into
 * f32. Errors, which leave `weights` empty: GF_EUSAGE as gf_tensors_choose(), for files that
 * changed since they were opened, and for NaN, infinity or a number beyond f32 (the message says
 * which one); GF_EMEMORY. */
GfStatus gf_tensors_read(GfTensors *tensors, const char *name, GfWeights *weights);

/* NULL is allowed. */
void gf_tensors_close(GfTensors *tensors);
