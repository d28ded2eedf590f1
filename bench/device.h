/* The device that is measured: what it is, what it can do, and its memory. */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

typedef struct Device {
    char name[128], driver[128]; /* driver: its version as the kernel module tells it, or "" */
    int major, minor, multiprocessors, clock_khz;
    int driver_version, runtime_version; /* 1000 * major + 10 * minor */
    size_t memory, l2;                   /* bytes */
    cudaStream_t stream;
    double copy_rate; /* bytes read and written a second, of a device-to-device copy of 1 GiB */
    double fma_rate;  /* f32 operations a second: multiprocessors x 128 lanes x 2 x highest clock */
} Device;

/* GF_OK for cudaSuccess, else GF_EDEVMEM or GF_EDEVICE with a message naming `what`; the error is
 * cleared, unless it is one that stays. */
GfStatus cuda_status(cudaError_t error, const char *what);

#define CUDA(call, ...) GF_TRY(cuda_status(call(__VA_ARGS__), #call))

/* Opens device 0 and measures its copy. GF_ENODEVICE where there is none. */
GfStatus device_open(Device *device);

void device_close(Device *device);

/* Has the device failed in a way that nothing on it can be trusted any more? */
bool device_is_lost(void);

/* Device memory that grows and is used again from case to case. */
typedef struct Slab {
    void *memory;
    size_t bytes;
} Slab;

/* At least `bytes`; what it held is lost when it grows. */
GfStatus slab_reserve(Slab *slab, size_t bytes);

void slab_free(Slab *slab);
