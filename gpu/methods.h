/* How the steps of a pipeline are run on a device: each by a method, some of them two steps at
 * once. Private to this room. */
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/algorithms.h"
#include "gpu/enter.h"

/* What methods are chosen by. */
typedef struct GfChoice {
    const GfAlgorithm *forced; /* the user's, or NULL */
    GfCard card;
} GfChoice;

/* How a step is run. The numbers of its filter are f64 when wide, else f32. */
typedef struct GfMethod {
    const GfAlgorithm *algorithm; /* NULL for steps that are no filters */
    const char *name;
    GfLauncher launch;
    GfEntered entered;                 /* not all zeros: it does this step and the next as one */
    bool pools;                        /* it does the pool that follows too */
    void *weights_host, *factors_host; /* for the launchers */
    void *weights, *factors, *bias;    /* on the device */
    void *state;                       /* the algorithm's own */
} GfMethod;

/* Those of a pipeline. Of its buffers each step but the last fills one that holds nothing which is
 * still needed. */
typedef struct GfMethods {
    GfMethod *of;    /* one a step; what another does as well is only named there */
    size_t *buffers; /* which one each step fills */
} GfMethods;

/* The algorithm for step i of a pipeline, a GF_STEP_FILTER. Errors: GF_EUNSUPPORTED where the
 * forced one cannot run it. */
GfStatus gf_method_choose(const GfChoice *choice, const GfPipeline *pipeline, size_t i,
                          const GfAlgorithm **algorithm);

/* Makes the methods of a pipeline's steps on the current device; what they need there is sent on a
 * stream, and has arrived. Errors: GF_EUNSUPPORTED, GF_EMEMORY, GF_EDEVMEM, GF_EDEVICE; the caller
 * frees what there is even then. */
GfStatus gf_methods_make(const GfChoice *choice, const GfPipeline *pipeline, cudaStream_t stream,
                         GfMethods *methods);

/* Of a pipeline of so many steps. All zeros are allowed. */
void gf_methods_free(GfMethods *methods, size_t steps);

/* The step that a method runs, where it stands for step `own` of the pipeline. */
const GfStep *gf_method_step(const GfMethod *method, const GfStep *own);

/* How many steps of the pipeline it does. */
size_t gf_method_steps(const GfMethod *method);
