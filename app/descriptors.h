/* How many files the process may have open, and so how many pictures can be in flight. */
#pragma once

#include "app/jobs.h"

/* Raises the soft limit as far as the hard one allows: every output of a picture is open until all
 * are complete, and a layer's maps may be many. */
void gf_descriptors_raise(void);

/* Of `wished` pictures at once as many as have room under the limit, at least one; a note tells of
 * outputs of one picture that have not. */
size_t gf_descriptors_pictures(const GfJobs *jobs, size_t wished);
