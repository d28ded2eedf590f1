/* Suite `drawn`: cases that nobody chose. */
#pragma once

#include "bench/spec.h"

/* Appends cases of all kinds that the other suites have, their sizes drawn by chance; which ones,
 * specs->seed decides, on any machine. Errors: GF_EMEMORY. */
GfStatus drawn_cases(Specs *specs);
