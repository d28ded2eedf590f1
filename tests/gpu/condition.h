/* Whether a case is ill-conditioned: floats, of which the rule for them asks more than f32 has.
 *
 * Its weights are f32 for every method, and a change of each by its last place, up or down, changes
 * results by so much that rounding alone may be all that the rule allows, however well a method
 * sums. Of 498 layers and 39 networks one each is so, whose sums cancel 30 and 170 times; the next
 * change by half of what the rule allows and nine tenths. */
#pragma once

#include "tests/gpu/plans.h"

/* `in` is the picture of a case of one filter, `exact` what exact_plan() makes of it. Never where
 * results are integers, or sums f64. */
bool ill_conditioned(const Case *c, const Block *in, const Block *exact);
