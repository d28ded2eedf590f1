/* NPP's filters with a replicated border. */
#pragma once

#include "bench/contestant.h"

/* NULL when it is not there; `note` (NOTE_SIZE) gets its version, or the reason. */
struct Npp *npp_open(const Device *device, char *note);

/* NULL is allowed. */
void npp_close(struct Npp *npp);

/* Adds the functions that compute the case. */
GfStatus npp_enter(struct Npp *npp, const char *only, Field *field, const Case *made);
