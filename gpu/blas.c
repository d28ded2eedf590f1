/* cuBLAS by dlopen: once a process, whatever the number of devices and threads. What is used of it
 * is declared here, so that neither its headers nor the library are needed for building.
 *
 * cuBLAS is column-major, and a row-major matrix read so is its transpose: C' = B' * A' is asked
 * for where C = A * B is meant, and nothing is transposed. */
#include "gpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/memory.h"

/* Values and prototypes of cublas_v2.h, the same from CUDA 11 on. */
enum { STATUS_SUCCESS = 0, STATUS_ALLOC_FAILED = 3 };
enum { OPERATION_NONE = 0 };
enum { PEDANTIC_MATH = 2 }; /* neither TF32 nor emulation, whatever the environment asks for */

typedef int (*Create)(void **handle);
typedef int (*Destroy)(void *handle);
typedef int (*SetStream)(void *handle, cudaStream_t stream);
typedef int (*SetMathMode)(void *handle, int mode);
typedef const char *(*StatusText)(int status);
typedef int (*Sgemm)(void *handle, int a_operation, int b_operation, int m, int n, int k,
                     const float *alpha, const float *a, int a_pitch, const float *b, int b_pitch,
                     const float *beta, float *c, int c_pitch);
typedef int (*Dgemm)(void *handle, int a_operation, int b_operation, int m, int n, int k,
                     const double *alpha, const double *a, int a_pitch, const double *b,
                     int b_pitch, const double *beta, double *c, int c_pitch);

typedef struct Library {
    Create create;
    Destroy destroy;
    SetStream set_stream;
    SetMathMode set_math_mode;
    StatusText text;
    Sgemm sgemm;
    Dgemm dgemm;
} Library;

struct GfBlas {
    void *handle;
};

static Library library;
static GfError load_error;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

/* ---- the library ---- */

/* The newest that is here, by the loader's rules or where CUDA installs itself; else what was wrong
 * with the first, which is the one that belongs to us. */
static void *open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *opened = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (opened)
            return opened;
        const char *reason = dlerror();
        gf_error_save(&load_error, gf_fail(GF_EUNSUPPORTED, "%s", reason ? reason : names[i]));
    }
    return NULL;
}

/* Fills in a pointer to a function, which C keeps apart from pointers to data. What is missing is
 * kept in load_error. */
static void find(void *opened, const char *name, void *function)
{
    void *symbol = dlsym(opened, name);
    if (!symbol)
        gf_error_save(&load_error, gf_fail(GF_EUNSUPPORTED, "cuBLAS without %s", name));
    *(void **)function = symbol;
}

static void load(void)
{
    void *opened = open_library();
    if (!opened)
        return;
    load_error.status = GF_OK; /* an older one will do */
    find(opened, "cublasCreate_v2", &library.create);
    find(opened, "cublasDestroy_v2", &library.destroy);
    find(opened, "cublasSetStream_v2", &library.set_stream);
    find(opened, "cublasSetMathMode", &library.set_math_mode);
    find(opened, "cublasGetStatusString", &library.text);
    find(opened, "cublasSgemm_v2", &library.sgemm);
    find(opened, "cublasDgemm_v2", &library.dgemm);
}

static GfStatus need_library(void)
{
    (void)pthread_once(&loaded, load);
    return load_error.status == GF_OK ? GF_OK : gf_error_raise(&load_error);
}

/* ---- a handle ---- */

static GfStatus check(int status, const char *call)
{
    if (status == STATUS_SUCCESS)
        return GF_OK;
    return gf_fail(status == STATUS_ALLOC_FAILED ? GF_EDEVMEM : GF_EUNSUPPORTED, "%s: %s", call,
                   library.text(status));
}

GfStatus gf_blas_open(GfBlas **blas)
{
    GfStatus status = GF_OK;
    GfBlas *made;
    *blas = NULL;
    GF_TRY(need_library());
    GF_TRY(gf_allocate_zero(1, sizeof *made, &made));
    GF_GO(check(library.create(&made->handle), "cublasCreate"));
    GF_GO(check(library.set_math_mode(made->handle, PEDANTIC_MATH), "cublasSetMathMode"));
    *blas = made;
    made = NULL;
done:
    gf_blas_close(made);
    return status;
}

void gf_blas_close(GfBlas *blas)
{
    if (blas && blas->handle)
        (void)library.destroy(blas->handle);
    free(blas);
}

/* ---- products ---- */

static int multiply_narrow(void *handle, const GfProduct *p)
{
    const float one = 1.0F, beta = p->add ? 1.0F : 0.0F;
    return library.sgemm(handle, OPERATION_NONE, OPERATION_NONE, p->columns, p->rows, p->inner,
                         &one, p->b, p->b_pitch, p->a, p->a_pitch, &beta, p->c, p->c_pitch);
}

static int multiply_wide(void *handle, const GfProduct *p)
{
    const double one = 1.0, beta = p->add ? 1.0 : 0.0;
    return library.dgemm(handle, OPERATION_NONE, OPERATION_NONE, p->columns, p->rows, p->inner,
                         &one, p->b, p->b_pitch, p->a, p->a_pitch, &beta, p->c, p->c_pitch);
}

cudaError_t gf_blas_multiply(GfBlas *blas, const GfProduct *product, cudaStream_t stream)
{
    int status = library.set_stream(blas->handle, stream);
    if (status == STATUS_SUCCESS)
        status = product->wide ? multiply_wide(blas->handle, product)
                               : multiply_narrow(blas->handle, product);
    if (status == STATUS_SUCCESS)
        return cudaSuccess;
    return status == STATUS_ALLOC_FAILED ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}
