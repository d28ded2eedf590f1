/* What the tests of the CPU's fast path share: random pictures, a run in bands through a ring, with
 * poisoned and fenced outputs, and the comparison with the float64 reference. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cpu/backend.h"

typedef struct Backends {
    GfBackend *cpu, *one, *reference; /* three threads, one thread */
} Backends;

/* cmocka's setup and teardown of a group: *state is a Backends. */
int open_backends(void **state);
int close_backends(void **state);

/* Random floats are from floor_of_floats to floor_of_floats + range_of_floats. */
extern double floor_of_floats, range_of_floats;

uint32_t next_random(void);
size_t random_below(size_t limit); /* 0 .. limit - 1 */
double random_between(double low, double high);
double *random_numbers(size_t count, double low, double high); /* the caller's to free */

GfFormat format_of(size_t width, size_t height, size_t channels, bool alpha, GfSample sample);
GfImage random_picture(GfFormat format);
double sample_at(const GfImage *image, size_t y, size_t i);

GfPlan *make_plan(const GfFilter *filter, const char *what, const GfFormat *in,
                  const GfPlanOptions *options);

/* Runs the plan's only pipeline in bands of the plan's size through a ring of the plan's size. */
GfImage run_plan(GfBackend *backend, const GfPlan *plan, const GfImage *in);

/* The fast path's result for a random picture is exact, and has the same bits with one thread on
 * the whole picture at once. `what` names the filter in messages. */
void check_filter(Backends *backends, const GfFilter *filter, const char *what, GfFormat format,
                  GfPlanOptions options);
