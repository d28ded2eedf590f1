/* What one picture in flight needs beside its files: the plan for its format, a session of a
 * backend, the ring of input rows and the bands of output rows. The next picture of the same format
 * uses it again. */
#pragma once

#include "app/bank.h"
#include "app/options.h"
#include "filters/backend.h"

typedef struct GfLane {
    GfBackend *backend; /* borrowed; NULL: nothing is prepared */
    const GfBank *bank; /* borrowed */
    size_t *filters;    /* of each output of the plan: which of the bank's it is; owned */
    GfPlan *plan;
    GfSession *session;
    GfRing ring;
    size_t slots;   /* sets of output bands: one is computed while others are written */
    GfBand *bands;  /* slots x plan->outputs, each with room for all that one submit() gives */
    size_t submits; /* calls of submit() for one picture */
    GfPlanOptions wishes; /* what it was prepared for */
} GfLane;

/* Makes the lane ready for pictures of that format on `backend`. Filters of the bank for which
 * `wanted` is false, which are not all, are left out; NULL: none is. `wishes` are the plan's
 * options, of which `whole` is taken from the backend, and band_bytes too, capped by
 * wishes->band_bytes where that is not 0. Whatever was prepared before is used again where it fits,
 * else freed. Errors: those of gf_plan_create() and of the backend; the lane is then empty. */
GfStatus gf_lane_prepare(GfLane *lane, GfBackend *backend, const GfBank *bank, const bool *wanted,
                         const GfFormat *in, const GfPlanOptions *wishes);

/* Bytes of host memory that a picture's rows take on their way, in bands of the usual height, and
 * those that they are computed in. 0 where these need not be few (GfBackend.memory). */
size_t gf_lane_memory(const GfLane *lane);

/* Frees what the lane holds. To be called after any failure while rows were under way. */
void gf_lane_clear(GfLane *lane);

/* Output band `output` of slot `slot`. */
static inline GfBand *gf_lane_band(const GfLane *lane, size_t slot, size_t output)
{
    return &lane->bands[slot * lane->plan->outputs + output];
}

/* Input rows that have been handed over after `submits` calls of submit(). */
static inline size_t gf_lane_rows(const GfLane *lane, size_t submits)
{
    return gf_min(submits * lane->plan->band_rows, lane->plan->in.height);
}
