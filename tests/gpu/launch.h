/* A method's launcher alone, on arrays in device memory. */
#pragma once

#include "gpu/algorithms.h"
#include "tests/gpu/array.h"

/* A step with all that a launch of it needs but for its rows: a test stand. */
typedef struct Stand Stand;

/* Uploads the step's numbers as f64 when `wide`, else f32. `row` is NULL for a pool, `pool` unless
 * the method is to do that too. */
Stand *make_stand(const GfAlgorithm *row, const GfStep *step, const GfStep *pool, bool wide);
void free_stand(Stand *stand);

/* Pictures of one format. */
typedef struct Inputs {
    GfFormat format;
    size_t count;
    const Block *pictures;
} Inputs;

/* How to launch. */
typedef struct Way {
    size_t tiling;     /* as in GfLaunch */
    Lay lay_in;        /* of the input in device memory */
    size_t gap, shift; /* of that, as for make_array() */
    size_t cuts;       /* output rows in so many launches, each with a ring of its own input rows */
    size_t spare;      /* rows of those rings that no output row needs */
} Way;

/* Runs the step on all pictures; `out` has their number and the output format. False when
 * the tiling does not go with the step. */
bool launch_stand(Stand *stand, const Inputs *in, const Way *way, Array *out);
