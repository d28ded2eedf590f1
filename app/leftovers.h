/* What runs that were killed have left where this one writes. */
#pragma once

#include "app/jobs.h"

/* Removes leftovers (images/temporary.h) from the folders of all outputs and of `list`, which may
 * be NULL, and tells of them. */
void gf_leftovers_remove(const GfJobs *jobs, const char *list);
