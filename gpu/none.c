/* The CUDA backend of a build without CUDA. */
#include "gpu/backend.h"

static GfStatus without_cuda(void)
{
    return gf_fail(GF_ENODEVICE, "this gpufilter was built without CUDA");
}

GfStatus gf_cuda_count(size_t *count)
{
    *count = 0;
    return without_cuda();
}

GfStatus gf_cuda_describe(int number, GfDevice *device)
{
    (void)number;
    *device = (GfDevice){0};
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
