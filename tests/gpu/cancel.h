/* Whether the sums of a case cancel, so that its result in floats is small beside what is added.
 *
 * What is added has a size: for each sample the same sum of magnitudes, |weight| |sample| and
 * |bias|, through all steps, without the functions, whose slopes are 1 at most. A number that becomes
 * an f32 is off by up to 2^-24 of itself, and the rule for floats allows 1e-6 of the result. So from a
 * size of 16 results on a weight's rounding may be all that is allowed, however well a method sums.
 * Most draws have a size of 1 to 2 results, layers behind a network's entry 6. */
#pragma once

#include "tests/gpu/plans.h"

/* Is the size of what is added beyond 16 times the result, in l2, where a filter of layers, pools
 * and plain banks makes floats by sums in f32? `in` is the case's picture, no sample of which is
 * below 0, `exact` what exact_plan() makes of it. Samples that a function made 0 do not count. */
bool sums_cancel(const Case *c, const Block *in, const Block *exact);
