/* Several backends as one: the bands of a picture, or whole pictures where as many are under way as there
 * are backends, go to them in turn. */
#pragma once

#include "filters/backend.h"

enum { GF_SPREAD_MAX = 64 };

/* Makes one backend of `count` (1 to GF_SPREAD_MAX) backends that owe the same bits; `name` is borrowed.
 * On success it owns them, on failure (GF_EMEMORY) the caller still does. One of them that fails
 * (GF_EDEVICE) gets no more work; what it had is done by another, and only when all have failed is it a
 * failure. */
GfStatus gf_spread_create(GfBackend *const *backends, size_t count, const char *name,
                          GfBackend **spread);

/* Whether a backend has failed of which this was not told yet: its name, which stays the backend's, and
 * why. */
bool gf_spread_next_loss(GfBackend *spread, const char **name, GfError *why);
