/* Filters to test with. */
#pragma once

#include "tests/gpu/plans.h"

typedef enum Taps {
    INTEGER,
    FRACTION, /* sums that do not cancel, so that the rule for floats is about rounding alone */
    POSITIVE
} Taps;

extern const GfSample samples[];
enum { SAMPLES = 3, BORDERS = GF_BORDER_VALID + 1 };

/* Taps that suit a sample: exact integers for integers, now and then fractions. */
Taps taps_for(GfSample sample);

/* The caller frees filters with gf_filter_free(). */
GfFilter *new_filter(void);

/* Appends a bank whose kernels' sums are about 1. */
GfLinear *add_kernel(GfFilter *filter, size_t filters, size_t width, size_t height, Taps taps);

/* The same of kernels that are given by factors. */
GfLinear *add_factors(GfFilter *filter, size_t filters, size_t width, size_t height);

/* A filter of one bank. */
GfFilter *kernel(size_t filters, size_t width, size_t height, Taps taps);

/* Appends a layer whose responses to positive samples are about as large as those. */
GfLinear *add_layer(GfFilter *filter, size_t filters, size_t depth, size_t groups, size_t width,
                    size_t height);

/* A bias for each of its filters, of numbers up to `largest` in size. */
void add_bias(GfLinear *linear, double largest);

GfPool *add_pool(GfFilter *filter, GfPoolOp op, size_t width, size_t height);

void add_function(GfFilter *filter, GfPointwiseOp op, double a, double b);

GfPlanOptions options_of(GfSample sample, GfBorder border);

/* A case with one filter, which it frees. Nothing where a border of `valid` leaves nothing. */
void run_one(const char *what, GfFormat format, GfPlanOptions options, GfFilter *filter);

/* The same by one in `share` of the methods, in turn. */
void run_some(const char *what, GfFormat format, GfPlanOptions options, size_t share,
              GfFilter *filter);

/* As run_some(); false, and nothing is run, where it is ill-conditioned (tests/gpu/condition.h). */
bool run_picked(const char *what, GfFormat format, GfPlanOptions options, size_t share,
                GfFilter *filter);
