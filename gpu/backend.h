/* The CUDA backend. All of it is there in a build without CUDA too, and says so. */
#pragma once

#include "filters/backend.h"

typedef struct GfDevice {
    char name[128];
    int major, minor; /* compute capability */
    int multiprocessors;
    size_t memory, free_memory; /* bytes */
    size_t l2;                  /* bytes */
    double bandwidth;           /* bytes a second by bus width and clock; 0 unknown */
} GfDevice;

/* How many devices there are. GF_ENODEVICE with the reason (no driver, no GPU, a build without
 * CUDA) when there is none. */
GfStatus gf_cuda_count(size_t *count);

/* What device `number` is. Creates a context on it, which takes a third of a second. Errors:
 * GF_ENODEVICE, GF_EDEVICE. */
GfStatus gf_cuda_describe(int number, GfDevice *device);

/* CUDA's version that was compiled against, as 1000 * major + 10 * minor, or 0 in a build
 * without. */
int gf_cuda_version(void);

/* Writes what the code for GPUs is made for: the compute capabilities, and the shared memory of a
 * block; cut when it is longer than `size`, and empty in a build without. */
void gf_cuda_limits(char *text, size_t size);

/* Lets CUDA see no other device than `number`, since it takes 0.2 s more to start for each that it
 * sees. For gf_cuda_open() that one stays device `number`; no other can be opened then. Where there
 * is no such device in the user's CUDA_VISIBLE_DEVICES nothing changes, and opening it tells. It
 * sets that variable: to be called before CUDA is, and before there are threads. */
void gf_cuda_narrow(int number);

/* Opens device `number`. `algorithm` forces a row of gf_algorithms for every filter step (NULL:
 * chosen for each). Errors: GF_ENODEVICE, GF_EDEVICE, GF_EUSAGE (no such algorithm). */
GfStatus gf_cuda_open(int number, const char *algorithm, GfBackend **backend);
