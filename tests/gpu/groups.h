/* Groups of cases; plans.h says how they are run. */
#pragma once

/* Classic filters: banks, chains of them, opacity, ranges, sizes. */
void test_sizes(void);
void test_kernels(void);
void test_anchors(void);
void test_banks(void);
void test_named_banks(void);
void test_magnitudes(void);
void test_options(void);
void test_derivatives(void);
void test_chains(void);
void test_factors(void);
void test_large_factors(void);
void test_sweep(void);
void test_short_strips(void);
void test_byte_strips(void);
void test_long(void);

/* Layers and pools. */
void test_layers(void);
void test_pools(void);
void test_networks(void);

/* Launchers alone, on memory that is laid out in all ways. */
void test_strides(void);
void test_families(void);
void test_minibatches(void);
void test_wide_kernels(void);
void test_large_kernels(void);
void test_kernels_on_16_bits(void);
void test_kernels_in_tiles(void);
void test_sums_in_f64(void);
void test_tilings(void);
void test_depths(void);

/* Sessions: threads, pictures one after the other, failures. */
void test_sessions(void);
void test_failures(void);
