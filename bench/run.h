/* A run of the program: what was asked for, where it ran, what it gave. */
#pragma once

#include "bench/host.h"
#include "bench/results.h"

typedef struct Run {
    const char *commit, *json, *table; /* json and table: paths, or NULL */
    const char *search;                /* the method whose tilings are searched, or NULL */
    char date[32];                     /* UTC, ISO 8601 */
    bool has_device;
    Device device;
    Peers peers;
    Results results;
    HostResults host;
    /* Suites of which not all cases fitted into the time given, in words. */
    char notes[8][160];
    size_t note_count;
} Run;
