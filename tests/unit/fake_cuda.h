/* CUDA devices that are none (fake_devices.h), for the code that drives some. Their memory is the
 * host's. What is put on their streams is done sooner or later: between calls some streams go on,
 * which and how far is chance, in the order that events and synchronisation demand and no other. So
 * what is not ordered comes out wrong, for one seed or another. A device that is lost does nothing
 * more. Kernels come from elsewhere: fake_kernels.h, or tests/emulation. */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts anew. */
void fake_begin(uint64_t seed);

/* Lets one call fail that makes something or puts something on a stream: as if memory were short,
 * after so many others. */
void fake_fail_after(size_t calls);

/* The name of the call that failed, of a launch that of its method; NULL: none has. */
const char *fake_failed(void);

/* How much has been made and not been given back: memory, streams, events. */
size_t fake_left(void);

/* What failed, or NULL: a row that is not where it is looked for. */
const char *fake_complaint(void);

/* A kernel's blocks with its arguments; where they are not wanted, only gives back what the context
 * holds. */
typedef void FakeKernel(void *context, bool wanted);

/* Puts a kernel on a stream. */
cudaError_t fake_launch(const char *what, cudaStream_t stream, FakeKernel *run, void *context);

/* What cudaGetLastError() returns next, here too: a launch that cannot be. */
cudaError_t fake_refuse(cudaError_t error);

/* What a kernel finds wrong, for fake_complaint(). */
void fake_complain(const char *reason);

#ifdef __cplusplus
}
#endif
