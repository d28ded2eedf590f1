/* All pictures of a run, several at a time. */
#pragma once

#include "app/failures.h"
#include "app/run.h"

/* Does the jobs, reports each failure as it happens and the counts at the end, writes the list of
 * failures, and returns the exit status of the program: 0, 1, 3 or 128 + n. `opened` is that of
 * GfSetup; what is not taken from there stays the caller's. */
int gf_batch_run(const GfOptions *options, const GfBank *bank, GfDevices *devices,
                 const GfJobs *jobs, GfReader **opened, GfFailures *failures);
