/* Tables for people, in Markdown. */
#pragma once

#include <stdio.h>

#include "bench/run.h"

/* Device, limits, peers, method. */
void report_head(const Run *run, FILE *to);

/* A suite's cases and means. */
void report_suite(const Run *run, const Suite *suite, FILE *to);

/* One line while the program runs. */
void report_progress(const Result *result, size_t number, size_t of);
