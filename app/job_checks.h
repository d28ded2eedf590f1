/* What can be found wrong with the outputs of a run before it starts. Used by jobs.c only. */
#pragma once

#include "app/jobs.h"

/* Whether the job's outputs have one format, which can hold the depth asked for. `named`: the user
 * wrote the path, so that an extension that means nothing is a mistake. GF_EUSAGE. */
GfStatus gf_job_check_format(const GfOptions *options, const GfJob *job, bool named);

/* Whether all paths differ, and none is a file that is read. GF_EUSAGE. */
GfStatus gf_jobs_check_paths(const GfOptions *options, const GfJobs *jobs);
