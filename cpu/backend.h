/* The CPU backends. */
#pragma once

#include "filters/backend.h"

/* The fast path: `threads` worker threads (0: one a processor). The caller closes it. */
GfStatus gf_cpu_open(size_t threads, GfBackend **backend);

/* Multiply-adds that the fast path takes for a pipeline's picture; boxes count as any products. */
double gf_cpu_multiply_adds(const GfPipeline *pipeline);

/* The reference: float64 throughout, one thread, whole pictures, as plain as the definition. */
GfStatus gf_reference_open(GfBackend **backend);
