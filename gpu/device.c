/* The devices that are there, and CUDA's errors as ours. */
#include "gpu/device.h"

#include <stdio.h>

#include "gpu/algorithms.h"
#include "gpu/backend.h"
#include "gpu/launch.h"

static GfStatus status_of(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return GF_EDEVMEM;
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoKernelImageForDevice:
        return GF_ENODEVICE;
    /* What was asked for cannot be; the context is whole. */
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorLaunchOutOfResources:
        return GF_EUNSUPPORTED;
    default:
        return GF_EDEVICE;
    }
}

GfStatus gf_cuda_check(cudaError_t error, const char *call)
{
    int driver = 0;
    if (error == cudaSuccess)
        return GF_OK;
    /* Taken away, or the next launch would report it as its own. */
    (void)cudaGetLastError();
    /* CUDA calls a driver that is not there one that is too old. */
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
        driver == 0)
        return gf_fail(GF_ENODEVICE, "no NVIDIA driver is installed");
    return gf_fail(status_of(error), "%s: %s", call, cudaGetErrorString(error));
}

/* An attribute, 0 where the driver does not tell. */
static int attribute(enum cudaDeviceAttr which, int number)
{
    int value;
    if (cudaDeviceGetAttribute(&value, which, number) == cudaSuccess)
        return value;
    (void)cudaGetLastError();
    return 0;
}

double gf_cuda_bandwidth(int number)
{
    /* kHz, two transfers a clock, bits. */
    return 1e3 * attribute(cudaDevAttrMemoryClockRate, number) * 2.0 *
           attribute(cudaDevAttrGlobalMemoryBusWidth, number) / 8.0;
}

double gf_cuda_flops(int number)
{
    int major = attribute(cudaDevAttrComputeCapabilityMajor, number);
    int minor = attribute(cudaDevAttrComputeCapabilityMinor, number);
    bool half = major == 7 || (minor == 0 && (major == 6 || major == 8));
    double lanes = half ? 64.0 : 128.0; /* of a multiprocessor, for f32 */
    return 1e3 * attribute(cudaDevAttrClockRate, number) * 2.0 * lanes *
           attribute(cudaDevAttrMultiProcessorCount, number);
}

GfStatus gf_cuda_describe(int number, GfDevice *device)
{
    struct cudaDeviceProp properties;
    GF_CUDA(cudaSetDevice, number);
    GF_CUDA(cudaGetDeviceProperties, &properties, number);
    *device = (GfDevice){.major = properties.major,
                         .minor = properties.minor,
                         .multiprocessors = properties.multiProcessorCount,
                         .l2 = (size_t)properties.l2CacheSize};
    snprintf(device->name, sizeof device->name, "%.127s", properties.name);
    GF_CUDA(cudaMemGetInfo, &device->free_memory, &device->memory);
    device->bandwidth = gf_cuda_bandwidth(number);
    return GF_OK;
}

GfStatus gf_cuda_count(size_t *count)
{
    int found = 0;
    *count = 0;
    GF_CUDA(cudaGetDeviceCount, &found);
    if (found == 0)
        return gf_fail(GF_ENODEVICE, "there is no CUDA device");
    *count = (size_t)found;
    return GF_OK;
}

GfStatus gf_current_card(GfCard *card)
{
    int number, major, minor;
    GF_CUDA(cudaGetDevice, &number);
    GF_CUDA(cudaDeviceGetAttribute, &major, cudaDevAttrComputeCapabilityMajor, number);
    GF_CUDA(cudaDeviceGetAttribute, &minor, cudaDevAttrComputeCapabilityMinor, number);
    *card = (GfCard){.capability = 10 * major + minor, .groups = gf_has_groups()};
    return GF_OK;
}

int gf_cuda_version(void)
{
    return CUDART_VERSION;
}

void gf_cuda_limits(char *text, size_t size)
{
    snprintf(text, size, "compute capability %s, %d KiB of shared memory a block",
             GPUFILTER_CAPABILITIES, GF_SHARED_BYTES >> 10);
}
