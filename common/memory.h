/* Sizes that are checked before anything is allocated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

/* *product = a * b; false when it does not fit. */
static inline bool gf_mul(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* *sum = a + b; false when it does not fit. */
static inline bool gf_add(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline size_t gf_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t gf_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

enum { GF_ALIGNMENT = 64 };

/* `bytes`, which is no size near SIZE_MAX, rounded up to the alignment of allocations. */
static inline size_t gf_align(size_t bytes)
{
    return (bytes + GF_ALIGNMENT - 1) / GF_ALIGNMENT * GF_ALIGNMENT;
}

/* Allocates count * size bytes, aligned to GF_ALIGNMENT, not cleared. The caller frees *memory with
 * free(). GF_EMEMORY (and *memory = NULL) when the product overflows or memory is short. */
GfStatus gf_allocate(size_t count, size_t size, void *memory);

/* The same, cleared to zero. */
GfStatus gf_allocate_zero(size_t count, size_t size, void *memory);
