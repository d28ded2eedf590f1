/* cuBLAS, loaded when a method first needs it: the program starts, and all else runs, without it.
 * Private to this room. */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

/* A handle on the device that was current when it was made, for one thread at a time. */
typedef struct GfBlas GfBlas;

/* C = A * B, or C += A * B. All are row-major, in device memory, f64 when wide, else f32; rows
 * begin `..._pitch` numbers apart. Sums of f32 are made in f32, never in a shorter format. */
typedef struct GfProduct {
    bool wide, add;
    int rows, columns, inner; /* A is rows x inner, B inner x columns, C rows x columns */
    const void *a, *b;
    void *c;
    int a_pitch, b_pitch, c_pitch;
} GfProduct;

/* Makes a handle on the current device. GF_EUNSUPPORTED, with the reason, when cuBLAS cannot be
 * loaded or does not know the device; GF_EDEVMEM. On failure *blas is NULL. */
GfStatus gf_blas_open(GfBlas **blas);

/* Enqueues a product. cudaErrorMemoryAllocation or cudaErrorUnknown where cuBLAS fails. */
cudaError_t gf_blas_multiply(GfBlas *blas, const GfProduct *product, cudaStream_t stream);

/* NULL is allowed. */
void gf_blas_close(GfBlas *blas);
