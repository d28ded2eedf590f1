/* All steps of a pipeline on a run of output rows. */
#pragma once

#include "common/workers.h"
#include "cpu/step.h"
#include "filters/backend.h"

typedef struct GfChain GfChain;

/* What lies between the steps of one run. Cleared: empty. */
typedef struct GfBetween {
    unsigned char *samples;
    size_t bytes;
    void *places; /* where the rows of each step are */
} GfBetween;

/* Prepares the steps. memory: most bytes between the steps of a deep chain, 0: no limit given.
 * Errors: GF_ELIMIT, GF_EMEMORY. */
GfStatus gf_chain_create(const GfPipeline *pipeline, const GfRowSet *rows, size_t memory,
                         GfChain **chain);

/* Bytes of scratch memory that each thread needs. */
size_t gf_chain_scratch(const GfChain *chain);

/* How a step is computed, for reports. */
const char *gf_chain_method(const GfChain *chain, size_t step);

/* Whether a run is best taken by all workers together, step by step: of networks, because what
 * neighbouring runs share would be computed too often, and where workers can share the rows of a
 * step. Else each worker takes runs of its own. */
bool gf_chain_is_deep(const GfChain *chain);

/* Rows of the output: of the shortest run worth while, and of the longest. */
size_t gf_chain_least_rows(const GfChain *chain);
size_t gf_chain_most_rows(const GfChain *chain);

/* Bytes that lie between the steps in a run of so many rows amid the picture; SIZE_MAX: more. */
size_t gf_chain_between(GfChain *chain, size_t rows);

/* Computes output rows [y0, y1) into samples `stride` bytes apart from the picture's rows in
 * `ring`, as worker `worker`; of a deep chain, which is run outside of the workers, by all of
 * `workers`. Scratch memory of worker 0 is `scratch`, that of others the workers'
 * (gf_workers_reserve()). `between` grows as it must. Errors: GF_EMEMORY. */
GfStatus gf_chain_run(const GfChain *chain, const GfRing *ring, ptrdiff_t y0, ptrdiff_t y1,
                      void *to, size_t stride, GfBetween *between, GfWorkers *workers,
                      size_t worker, unsigned char *scratch);

/* Leaves it empty. */
void gf_between_free(GfBetween *between);

/* NULL is allowed. */
void gf_chain_free(GfChain *chain);
