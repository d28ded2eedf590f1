/* The way of one picture: opened, planned, computed, written, named. */
#pragma once

#include "app/device.h"
#include "app/record.h"

/* What all pictures of a run share. */
typedef struct GfSetup {
    const GfOptions *options;
    const GfBank *bank;
    GfDevices *devices;
    GfReader **opened; /* where the reader of the only job is, which takes it; or NULL is */
    GfReadOptions read;
    size_t workers;      /* pictures in flight */
    size_t memory;       /* for the rows of one picture in flight; 0: no limit */
    double total_weight; /* of all inputs, in the unit of gf_job_weight() */
} GfSetup;

/* How much work a picture is expected to be, against others: its file's size, at least 1. */
double gf_job_weight(const GfJob *job);

/* Does one job and fills `record`, which begins as zeros: outcome, error, times. Under
 * --device auto a failure of the GPU is met with smaller bands where memory is short, then with the
 * CPU. The lane is used again from picture to
 * picture; the caller clears it at last. Returns the record's failure, GF_STOPPED, or GF_OK (also
 * for a job that was skipped). */
GfStatus gf_run_job(const GfSetup *setup, GfLane *lane, const GfJob *job, GfRecord *record);
