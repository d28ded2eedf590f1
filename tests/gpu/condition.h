/* Whether a case is ill-conditioned: floats, of which the rule for them asks more than f32 has.
 *
 * Its weights are f32 for every method. Where all that is added up were larger by its last place
 * results would differ by as much as the rule allows: terms are more than eight times what is left
 * of them, and the manual says that errors are relative to the terms there. Of 518 layers 11 are
 * so, of 90 networks 3. */
#pragma once

#include "tests/gpu/plans.h"

/* `in` is the picture of a case of one filter, `exact` what exact_plan() makes of it. Never where
 * results are integers, or sums f64. */
bool ill_conditioned(const Case *c, const Block *in, const Block *exact);
