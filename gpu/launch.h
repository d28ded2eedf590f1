/* What crosses from host C to CUDA C++: one launch of one step, and the launchers. Also read in a
 * build without CUDA, for the table of algorithms. */
#pragma once

#include "filters/border.h"
#include "filters/plan.h"

#ifdef GPUFILTER_HAVE_CUDA
#include <cuda_runtime_api.h>
#else
typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;
#endif

/* Rows in device memory: row y is at samples + i * stride with i = y - first, less `capacity` once
 * where i >= capacity. So a ring of n rows that holds row y at slot y % n is a view whose `first`
 * is a multiple of n, at most n below every row that is read. */
typedef struct GfRows {
    const void *samples;
    size_t stride; /* bytes */
    size_t first, capacity;
} GfRows;

/* Output rows [y0, y1) of a step. Pointers are to device memory unless told otherwise, nothing is
 * owned; all that is host memory is read before the launcher returns. */
typedef struct GfLaunch {
    const GfStep *step; /* host */
    bool wide;          /* sums in f64 */
    GfRows in;          /* holds every row that gf_step_rows() names for [y0, y1) */
    void *out;          /* the first sample of row y0 */
    size_t out_stride;  /* bytes */
    size_t y0, y1;      /* y0 < y1 */
    /* Taps, filters x height x width; NULL where the step has none. */
    const float *weights;       /* there unless wide */
    const double *weights_wide; /* there when wide */
    const float *weights_host;  /* host; there unless wide */
} GfLaunch;

typedef cudaError_t (*GfLauncher)(const GfLaunch *launch, cudaStream_t stream);

/* The side of the smallest square box, centred on the anchor, that holds the kernel: what `special`
 * computes with, zero taps filling the rest. */
static inline size_t gf_special_side(const GfLinear *linear)
{
    size_t right = linear->width - 1 - linear->anchor_x;
    size_t below = linear->height - 1 - linear->anchor_y;
    size_t x = linear->anchor_x > right ? linear->anchor_x : right;
    size_t y = linear->anchor_y > below ? linear->anchor_y : below;
    return 2 * (x > y ? x : y) + 1;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the current device can run the kernels of this build. */
cudaError_t gf_probe_kernels(void);

/* Each enqueues one step, which its row of gf_algorithms supports, and returns at once. */
cudaError_t gf_launch_direct(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special(const GfLaunch *launch, cudaStream_t stream);

/* The two steps for opacity. */
cudaError_t gf_launch_premultiply(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_unpremultiply(const GfLaunch *launch, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
