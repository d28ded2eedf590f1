/* What the steps of a lane compute and move, by filters/model.h, and how near to the limits of
 * its device that comes: for --stats and --json. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "app/lane.h"
#include "filters/model.h"

/* One step of one filter. */
typedef struct GfStepWork {
    size_t filter;      /* of the bank */
    const char *method; /* of the backend's, static */
    GfWork least;       /* each sample and weight moved once */
    GfWork loads;       /* as the method moves them, caches left aside; empty: not known */
} GfStepWork;

typedef struct GfLaneWork {
    GfStepWork *steps; /* owned */
    size_t count;
    size_t filters;                            /* of the bank, those left out too */
    double operations;                         /* of all steps by their methods */
    double bytes;                              /* of the pictures in and out, each once */
    double bytes_per_second, flops_per_second; /* the device's limits; 0: unknown */
} GfLaneWork;

/* Notes the work of `pictures` pictures. Without memory there are no steps. What it held is
 * freed. */
void gf_work_note(GfLaneWork *work, const GfLane *lane, size_t pictures);

/* Adds "steps", "operations", and with limits "limits" and "shares" of them that were reached in so
 * many seconds. */
void gf_work_json(const GfLaneWork *work, double seconds, json_t *line);

/* Rates, their shares of the limits, and the steps as a table, below the name of each filter
 * where there are several. */
void gf_work_print(const GfLaneWork *work, double seconds, char *const *names, FILE *stream);

void gf_work_free(GfLaneWork *work);
