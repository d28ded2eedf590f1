/* Several backends as one: the bands of a picture, or whole pictures where a plan is for one
 * device, go to them in turn. */
#pragma once

#include "filters/backend.h"

enum { GF_SPREAD_MAX = 64 };

/* Makes one backend of up to `most` (1 to GF_SPREAD_MAX) that owe the same bits: `first`, and
 * `most` - 1 calls of gf_spread_add() bring the others. `name` is borrowed. On success it owns
 * `first`, on failure (GF_EMEMORY) the caller still does. A backend that fails (GF_EDEVICE) gets no
 * more work; what it had is done by another, and only when all have failed and none is still to
 * come is it a failure. One that has no memory for a picture (GF_EDEVMEM) gets no more of that one;
 * it is a failure when all that are alive have none. */
GfStatus gf_spread_create(GfBackend *first, size_t most, const char *name, GfBackend **spread);

/* Brings another of the backends, which the spread then owns, or says that it does not come (NULL).
 * May be called while sessions work: their next bands may go to it. */
void gf_spread_add(GfBackend *spread, GfBackend *other);

/* Whether those backends that came are enough. */
typedef enum GfSpreadLoad {
    GF_SPREAD_IDLE,
    GF_SPREAD_BUSY,    /* more than half of the sessions wait for them */
    GF_SPREAD_STRANDED /* all of them have failed */
} GfSpreadLoad;

/* How it is at this moment. */
GfSpreadLoad gf_spread_load(GfBackend *spread);

/* Whether a backend has failed of which this was not told yet: its name, which stays the backend's,
 * and why. */
bool gf_spread_next_loss(GfBackend *spread, const char **name, GfError *why);
