/* Rows of one picture on their way through a lane: read, computed, written, at the same time. */
#pragma once

#include "app/lane.h"

/* Where rows come from and go to. The functions have the contracts of gf_reader_rows() and
 * gf_writer_rows(); each is called from one thread at a time, but not the caller's. */
typedef struct GfEnds {
    GfStatus (*read)(void *context, const GfBand *band);
    GfStatus (*write)(void *context, size_t output, GfBand *band);
    void *context;
} GfEnds;

typedef struct GfFlowTimes {
    double read, write;   /* seconds in the functions of GfEnds */
    double compute, copy; /* seconds of the session */
} GfFlowTimes;

/* Sends one picture of lane->plan->in through the lane and adds its seconds to `times`. Errors: the
 * first of any thread; GF_STOPPED when a signal asks for it. After a failure the lane is to be
 * cleared. */
GfStatus gf_flow_run(GfLane *lane, const GfEnds *ends, GfFlowTimes *times);
