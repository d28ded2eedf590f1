/* CUDA's errors as ours. Private to this room. */
#pragma once

#include <cuda_runtime_api.h>

#include "common/status.h"

/* GF_OK for cudaSuccess. Else the failure of `call`: GF_EDEVMEM when memory of the device or pinned
 * for it is short, GF_ENODEVICE without a device or driver, GF_EUNSUPPORTED when the call asks for
 * what cannot be, GF_EDEVICE for all else; the message names the call. */
GfStatus gf_cuda_check(cudaError_t error, const char *call);

/* What the device's clocks allow: bytes a second of its memory, by the width of the bus;
 * operations a second in f32, a fused multiply-add being two. 0 where the driver does not tell. */
double gf_cuda_bandwidth(int number);
double gf_cuda_flops(int number);

/* Calls a function of the CUDA runtime and returns from this one when it fails. */
#define GF_CUDA(call, ...) GF_TRY(gf_cuda_check(call(__VA_ARGS__), #call))
