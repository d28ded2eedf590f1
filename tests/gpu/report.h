/* What was checked, and how it went: one line a group, one a failure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

#include "common/status.h"

typedef struct Tally {
    size_t passed, failed;
} Tally;

/* Counts a check; tells of it when it failed, but for the many after the first 40. */
void report(bool good, const char *what, const char *detail);

/* All checks so far. */
Tally tally(void);

/* The line of a group of checks that began at `before` and took so many seconds. */
void close_group(const char *group, Tally before, double seconds);

/* Ends the program unless the call succeeded, without which no check has a meaning. */
void must(GfStatus status, const char *what);
void must_cuda(cudaError_t error, const char *what);
