/* A case ready to run: its steps as a plan would make them, and their numbers on the device. */
#pragma once

#include "bench/spec.h"
#include "filters/plan.h"
#include "gpu/launch.h"

enum { CASE_PASSES = 4 };

/* One step with its numbers. */
typedef struct Pass {
    GfStep step;
    double *taps;                       /* filters x depth x height x width, each an f32; owned */
    double *columns, *rows;             /* of a separable kernel, else NULL; owned */
    float *taps_host, *factors_host;    /* owned; factors NULL where there are none */
    void *taps_device, *factors_device; /* owned */
} Pass;

typedef struct Case {
    const Spec *spec; /* borrowed */
    char name[96];
    Pass passes[CASE_PASSES];
    size_t count;
    size_t in_bytes, out_bytes; /* of all pictures of the batch */
    size_t between_bytes;       /* the largest of what passes hand on; 0: none */
    double operations; /* multiply-adds count as two; of separable kernels by their factors */
    double bytes;      /* samples read and written once, and the taps */
} Case;

/* Fills *made, which the caller frees with case_free() also on failure. Errors: GF_EMEMORY,
 * GF_EDEVMEM, GF_EDEVICE. */
GfStatus case_make(const Spec *spec, Case *made);

void case_free(Case *made);

/* The launch of one pass from `in` to `out`, both as tightly packed as they can lie. */
GfLaunch case_launch(const Case *made, size_t pass, const void *in, void *out);

/* Samples of one picture that go into a pass, and that come out. */
size_t step_in_samples(const GfStep *step);
size_t step_out_samples(const GfStep *step);
