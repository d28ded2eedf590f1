/* Launches of single steps by every method that takes them, in every tiling, against the reference:
 * exact, nothing written beside the samples, and the same bits whether all rows and pictures are
 * made at once or not. */
#pragma once

#include "tests/gpu/launch.h"
#include "tests/gpu/plans.h"

typedef struct Trial {
    Case c;       /* of one filter, whose plan is one step, or a layer and a pool */
    size_t count; /* pictures of the minibatch */
    Lay lay_in, lay_out;
    size_t gap, shift; /* as for make_array() */
    bool wide;         /* sums in f64 even if the plan needs none */
    bool narrow;       /* sums in f32 even if the plan does */
    size_t tiling; /* of `tensor`: it has to go with the step; 0: any other than its own may not */
    const char *only; /* the method that runs; NULL: all that take the step */
} Trial;

/* A layer and a pool by the methods that do both in one launch; how many did. Nothing when the plan
 * has other steps, or there is none. Frees the filter. */
size_t run_trial(const Trial *trial, GfFilter *filter);
