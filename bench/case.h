/* A case ready to run: its steps as a plan would make them, and their numbers on the device. */
#pragma once

#include "bench/spec.h"
#include "filters/plan.h"
#include "gpu/launch.h"

enum { CASE_PASSES = 4 };

/* One step with its numbers. */
typedef struct Pass {
    GfStep step;
    double *taps;                    /* filters x depth x height x width, each an f32; owned */
    double *columns, *rows;          /* of a separable kernel, else NULL; owned */
    double *factors;                 /* columns, then rows; owned, or NULL */
    float *taps_host, *factors_host; /* the same in f32; owned; factors NULL where there are none */
    void *taps_device, *factors_device; /* owned */
} Pass;

typedef struct Case {
    const Spec *spec; /* borrowed */
    char name[96];
    Pass passes[CASE_PASSES];
    size_t count;
    size_t in_bytes, out_bytes; /* of all pictures of the batch, as they lie */
    size_t between_bytes;       /* the largest of what passes hand on; 0: none */
    double operations; /* multiply-adds count as two; of separable kernels by their factors */
    double bytes;      /* samples read and written once, and the taps */
} Case;

/* Fills *made, which the caller frees with case_free() also on failure. Errors: GF_EMEMORY,
 * GF_EDEVMEM, GF_EDEVICE. */
GfStatus case_make(const Spec *spec, Case *made);

void case_free(Case *made);

/* The launch of one pass from `in` to `out`. */
GfLaunch case_launch(const Case *made, size_t pass, const void *in, void *out);

/* How the pictures of a batch lie, in samples: rows of `row` of them, `pitch` apart, pictures
 * `picture` apart. Rows of pictures begin where the program lets them begin (gpu/session.c), at
 * multiples of 256 bytes; layers' maps are as tightly packed as peers take them, one row right
 * behind the other. */
typedef struct Lay {
    size_t row, rows; /* of a picture, those of all maps counted */
    size_t pitch, picture;
} Lay;

Lay step_in_lay(const GfStep *step);
Lay step_out_lay(const GfStep *step);

/* Where sample (x, y) of channel c of picture n lies, in samples. */
size_t step_in_at(const GfStep *step, size_t n, size_t c, size_t x, size_t y);
size_t step_out_at(const GfStep *step, size_t n, size_t c, size_t x, size_t y);
