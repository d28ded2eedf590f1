/* What the formats fill in for tensors.c, and nobody else needs to know. */
#pragma once

#include "filters/numbers.h"
#include "filters/tensors.h"

typedef struct GfTensor {
    char *name;    /* owned; the same as info.name */
    bool nameless; /* in a format without names, where it is "" */
    GfTensorInfo info;
    GfNumberType number;
    bool fortran_order; /* the first index runs fastest */
    size_t begin, end;  /* bytes of the file */
} GfTensor;

struct GfTensors {
    GfBytes bytes;
    bool named;
    char descr[GF_NPY_DESCR_SIZE]; /* the type of an .npy file, to which info.type points */
    GfTensor *list;
    size_t count, capacity;
};

/* Appends an empty tensor of that name, which is copied. GF_ELIMIT over GF_TENSORS_MAX. */
GfStatus gf_tensors_add(GfTensors *tensors, const char *name, GfTensor **tensor);

enum { GF_TENSOR_HEAD = 10 }; /* first bytes that tell the formats apart */

/* Puts the tensor's name, where it has one, before a failure's message. Returns `status`. */
GfStatus gf_tensor_fail(GfStatus status, const GfTensor *tensor);

/* Sorts the list by name. GF_EUSAGE where two names are the same. */
GfStatus gf_tensors_sort(GfTensors *tensors);

/* An .npy file whose first bytes, `size` of them, have been read. */
GfStatus gf_tensors_of_npy(const unsigned char *head, size_t size, GfTensors *tensors);

/* A .safetensors file, wherever it stands; it can seek. The list is left sorted. */
GfStatus gf_tensors_of_safetensors(GfTensors *tensors);

enum { GF_SAFETENSORS_HEADER_MAX = 100 * 1000 * 1000 }; /* bytes, the format's own limit */

/* The length of the header, from the file's first eight bytes. */
size_t gf_safetensors_length(const unsigned char *head);
