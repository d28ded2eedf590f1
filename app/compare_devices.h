/* gpufilter IN --kernel K --compare: one plan on two backends. */
#pragma once

#include "app/device.h"
#include "app/jobs.h"

/* Does all jobs, one after the other, prints the figures of each picture and filter, and writes the
 * first backend's pictures where the job has outputs. Returns the exit status: 0, 1 when a picture
 * failed or differs by more than the tolerance, 3 when a device was lost. Signals are to end the
 * process at once. */
int gf_compare_devices(const GfOptions *options, const GfBank *bank, GfDevices *devices,
                       const GfJobs *jobs);
