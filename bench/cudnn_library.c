#include "bench/cudnn_library.h"

#include "bench/library.h"

CudnnFunctions dnn;

GfStatus cudnn_find(void)
{
    static const char *const names[] = {"libcudnn.so.9", "libcudnn.so", NULL};
    void *library;
    GF_TRY(library_open(names, &library));
#define FIND(name) GF_TRY(library_find(library, #name, &dnn.name));
    CUDNN_FUNCTIONS(FIND)
#undef FIND
    return GF_OK;
}

GfStatus cudnn_check(cudnnStatus_t status, const char *call)
{
    if (status == CUDNN_STATUS_SUCCESS)
        return GF_OK;
    GfStatus kind = status == CUDNN_STATUS_EXECUTION_FAILED ? GF_EDEVICE : GF_EUNSUPPORTED;
    return gf_fail(kind, "%s: %s", call, dnn.cudnnGetErrorString(status));
}
