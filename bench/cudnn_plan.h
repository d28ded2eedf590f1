/* cuDNN's newer interface: a convolution as a graph of one operation, for which its heuristics
 * propose engines. */
#pragma once

#include "bench/case.h"
#include "bench/cudnn_library.h"

/* Which engines may be taken: those that keep IEEE f32 throughout, or any. */
typedef enum CudnnClass { CUDNN_IEEE, CUDNN_TF32 } CudnnClass;

enum { CUDNN_PROPOSALS = 24 };

/* Execution plans of one layer, ready to run, in the order of the heuristics. */
typedef struct CudnnPlans {
    cudnnBackendDescriptor_t list[CUDNN_PROPOSALS]; /* owned */
    size_t count;
} CudnnPlans;

/* The plans of the class that need at most `workspace` bytes; making them stops after `seconds`.
 * Errors: GF_EUNSUPPORTED. *plans is to be freed in every case. */
GfStatus cudnn_plans_make(cudnnHandle_t handle, const GfStep *step, size_t batch, CudnnClass class,
                          size_t workspace, double seconds, CudnnPlans *plans);

/* Runs a plan on the layer's data, all on the device. */
GfStatus cudnn_plan_run(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, const void *in,
                        const void *taps, void *out, void *workspace);

/* Frees them, but for one that is kept, or NULL. */
void cudnn_plans_free(CudnnPlans *plans, cudnnBackendDescriptor_t kept);
