#include "bench/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COPIES = 9,
    LANES = 128 /* f32 lanes of a multiprocessor, compute capability 8.6 and later */
};

GfStatus cuda_status(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return GF_OK;
    (void)cudaGetLastError();
    GfStatus status = error == cudaErrorMemoryAllocation ? GF_EDEVMEM
                      : error == cudaErrorNotSupported   ? GF_EUNSUPPORTED
                                                         : GF_EDEVICE;
    return gf_fail(status, "%s: %s", what, cudaGetErrorString(error));
}

bool device_is_lost(void)
{
    (void)cudaGetLastError();
    return cudaDeviceSynchronize() != cudaSuccess;
}

GfStatus slab_reserve(Slab *slab, size_t bytes)
{
    if (bytes <= slab->bytes)
        return GF_OK;
    slab_free(slab);
    CUDA(cudaMalloc, &slab->memory, bytes);
    slab->bytes = bytes;
    return GF_OK;
}

void slab_free(Slab *slab)
{
    (void)cudaFree(slab->memory);
    *slab = (Slab){0};
}

/* The line of the kernel module's own report that names its version. */
static void read_driver(char *text, size_t size)
{
    char line[256] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        const char *version = strpbrk(line, "0123456789");
        while (version && strspn(version, "0123456789.") < 5)
            version = strpbrk(version + strspn(version, "0123456789."), "0123456789");
        if (version)
            snprintf(text, size, "%.*s", (int)strspn(version, "0123456789."), version);
    }
    fclose(file);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static GfStatus time_copy(Device *device, cudaEvent_t begin, cudaEvent_t end, const Slab *slab)
{
    double seconds[COPIES];
    size_t half = slab->bytes / 2;
    for (size_t i = 0; i < COPIES; i++) {
        float milliseconds;
        CUDA(cudaEventRecord, begin, device->stream);
        CUDA(cudaMemcpyAsync, (char *)slab->memory + half, slab->memory, half,
             cudaMemcpyDeviceToDevice, device->stream);
        CUDA(cudaEventRecord, end, device->stream);
        CUDA(cudaEventSynchronize, end);
        CUDA(cudaEventElapsedTime, &milliseconds, begin, end);
        seconds[i] = (double)milliseconds / 1e3;
    }
    qsort(seconds, COPIES, sizeof *seconds, compare);
    device->copy_rate = 2.0 * (double)half / seconds[COPIES / 2];
    return GF_OK;
}

static GfStatus measure_copy(Device *device)
{
    GfStatus status = GF_OK;
    cudaEvent_t begin = NULL, end = NULL;
    Slab slab = {0};
    GF_GO(slab_reserve(&slab, (size_t)2 << 30));
    GF_GO(cuda_status(cudaMemset(slab.memory, 0x5A, slab.bytes), "cudaMemset"));
    GF_GO(cuda_status(cudaEventCreate(&begin), "cudaEventCreate"));
    GF_GO(cuda_status(cudaEventCreate(&end), "cudaEventCreate"));
    GF_GO(time_copy(device, begin, end, &slab));
done:
    if (begin)
        (void)cudaEventDestroy(begin);
    if (end)
        (void)cudaEventDestroy(end);
    slab_free(&slab);
    return status;
}

GfStatus device_open(Device *device)
{
    struct cudaDeviceProp properties;
    int count = 0;
    *device = (Device){0};
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0)
        return gf_fail(GF_ENODEVICE, "no GPU: %s", cudaGetErrorString(error));
    CUDA(cudaSetDevice, 0);
    CUDA(cudaGetDeviceProperties, &properties, 0);
    snprintf(device->name, sizeof device->name, "%.127s", properties.name);
    device->major = properties.major;
    device->minor = properties.minor;
    device->multiprocessors = properties.multiProcessorCount;
    device->memory = properties.totalGlobalMem;
    device->l2 = (size_t)properties.l2CacheSize;
    CUDA(cudaDeviceGetAttribute, &device->clock_khz, cudaDevAttrClockRate, 0);
    CUDA(cudaDriverGetVersion, &device->driver_version);
    CUDA(cudaRuntimeGetVersion, &device->runtime_version);
    read_driver(device->driver, sizeof device->driver);
    device->fma_rate = (double)device->multiprocessors * LANES * 2.0 * device->clock_khz * 1e3;
    CUDA(cudaStreamCreateWithFlags, &device->stream, cudaStreamNonBlocking);
    return measure_copy(device);
}

void device_close(Device *device)
{
    if (device->stream)
        (void)cudaStreamDestroy(device->stream);
    *device = (Device){0};
}
