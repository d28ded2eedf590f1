/* The CUDA backend of a build without CUDA. */
#include "gpu/backend.h"

static GfStatus without_cuda(void)
{
    return gf_fail(GF_ENODEVICE, "this gpufilter was built without CUDA");
}

GfStatus gf_cuda_devices(GfDevice *devices, size_t capacity, size_t *count)
{
    (void)devices, (void)capacity;
    *count = 0;
    return without_cuda();
}

GfStatus gf_cuda_open(int number, const char *algorithm, GfBackend **backend)
{
    (void)number, (void)algorithm;
    *backend = NULL;
    return without_cuda();
}

int gf_cuda_version(void)
{
    return 0;
}

void gf_cuda_limits(char *text, size_t size)
{
    (void)size;
    text[0] = '\0';
}
