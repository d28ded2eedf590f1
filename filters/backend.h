/* What a place that computes offers: the CPU, a GPU, the float64 reference.
 *
 * The exactness that every backend owes: with `exact` the result of the plan in real arithmetic,
 * |out - exact| <= 0.5 + 1e-3 for u8, <= 0.5 + 0.05 for u16, relative l2 error <= 1e-6 for floats.
 * The last step to integers rounds half to even, then saturates; NaN becomes 0. The bits of one
 * backend do not depend on bands, threads or the number of devices. */
#pragma once

#include <math.h>

#include "filters/plan.h"

/* The last step to an integer sample, in the current rounding mode (half to even). */
static inline double gf_quantise(double value, GfSample sample)
{
    double white = gf_sample_max(sample);
    if (!(value > 0.0)) /* NaN too */
        return 0.0;
    return value < white ? nearbyint(value) : white;
}

typedef struct GfBackend GfBackend;
typedef struct GfSession GfSession;

/* Rows of the input in host memory: row y is at samples + (y % rows) * stride. */
typedef struct GfRing {
    unsigned char *samples;
    size_t stride, rows;
} GfRing;

static inline unsigned char *gf_ring_row(const GfRing *ring, size_t y)
{
    return ring->samples + y % ring->rows * ring->stride;
}

/* What a session did since it was made. */
typedef struct GfTimes {
    double compute; /* seconds in kernels */
    double copy;    /* seconds in transfers to and from a device */
} GfTimes;

struct GfBackend {
    const char *name;                          /* "cpu", "cuda:0", "reference" */
    char device[128];                          /* "8 threads, AVX2", "NVIDIA H200" */
    size_t band_bytes;                         /* for GfPlanOptions */
    bool whole;                                /* likewise */
    bool prompt;                               /* likewise: submit() returns when all is done */
    size_t tall;                               /* likewise */
    size_t devices;                            /* that can share a picture; 0: one */
    double bytes_per_second, flops_per_second; /* limits of memory and of f32; 0: unknown */
    void *state;

    /* GF_OK, or why not (GF_EUNSUPPORTED). */
    GfStatus (*supports)(GfBackend *backend, const GfPlan *plan);

    /* Host memory from which transfers are fast. NULL members: use gf_allocate() and free(). */
    GfStatus (*host_alloc)(GfBackend *backend, size_t bytes, void **memory);
    void (*host_free)(GfBackend *backend, void *memory);

    /* Buffers, streams and weights for one plan, which must outlive the session. A session serves
     * one picture at a time, any number one after the other; several sessions of one backend may be
     * used by several threads at once. */
    GfStatus (*session)(GfBackend *backend, const GfPlan *plan, GfSession **session);

    /* A new picture begins; its rows will be in `ring` (plan->ring_rows rows). The ring and all
     * bands handed to submit() stay valid and unchanged until they are collected and (ring rows)
     * until no later output row needs them. */
    GfStatus (*begin)(GfSession *session, const GfRing *ring);

    /* Input rows [y0, y0 + rows), if any, are in the ring and do not pass its end. They follow
     * those of the last call, but for rows that nothing needs which this session is to make.
     * Computes the output rows outs[i] (a band for each plan output, rows may be 0), for which
     * gf_pipeline_ready() says that the rows so far suffice. May return before it is done. */
    GfStatus (*submit)(GfSession *session, size_t y0, size_t rows, const GfBand *outs);

    /* Waits for the oldest submit() not yet collected. */
    GfStatus (*collect)(GfSession *session);

    /* Whether a device has nothing to do though others have. NULL: there is one device. */
    bool (*starves)(const GfSession *session);

    /* The method used for a step, e.g. "special"; "fused": the step before does it too. For
     * reports. */
    const char *(*method)(const GfSession *session, size_t output, size_t step);

    /* Bytes of host memory that a session computes in, beside rows of the input and the output.
     * NULL where a picture need not get by with few. */
    size_t (*memory)(const GfSession *session);

    GfTimes (*times)(const GfSession *session);

    /* Frees a session, whatever its state. NULL is allowed. */
    void (*end)(GfSession *session);

    /* Frees the backend. No session may be left. */
    void (*close)(GfBackend *backend);
};
