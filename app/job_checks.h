/* What can be found wrong with the outputs of a run before it starts. */
#pragma once

#include "app/jobs.h"

/* Whether the job's outputs have one format, which can hold the depth asked for. `named`: the user
 * wrote the path, so that an extension that means nothing is a mistake. GF_EUSAGE. */
GfStatus gf_job_check_format(const GfOptions *options, const GfJob *job, bool named);

/* Whether all outputs are different files and none is one that is read, but for its own input under
 * --in-place. GF_EUSAGE; GF_EMEMORY. */
GfStatus gf_jobs_check_paths(const GfOptions *options, const GfJobs *jobs);

/* Whether the list of --failures is none of the outputs. GF_EUSAGE; GF_EMEMORY. */
GfStatus gf_jobs_check_list(const char *list, const GfJobs *jobs);

/* Whether --diff-image and --report, where given, are two files and none of `others`, and the first
 * may be written. GF_EUSAGE; GF_EMEMORY. */
GfStatus gf_compare_check_paths(const GfOptions *options, const char *const *others, size_t count);
