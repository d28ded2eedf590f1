#include "bench/samples.h"

#include <stdlib.h>

typedef struct Pool {
    void *memory;
    size_t count;
} Pool;

static Pool pools[GF_F64 + 1];
static uint64_t state = 1;

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state ^ state >> 29) * 0xBF58476D1CE4E5B9u;
}

double samples_uniform(double low, double high)
{
    return low + (high - low) * (double)(next() >> 11) * 0x1p-53;
}

/* Exponents of 2^-5 to 2^-1 over any mantissa. */
static uint16_t random_half(uint64_t bits)
{
    return (uint16_t)((10 + (bits >> 16) % 5) << 10 | (bits >> 32 & 0x3FF));
}

static void fill(void *memory, GfSample sample, size_t count)
{
    size_t whole = count * gf_sample_size(sample) / sizeof(uint64_t) + 1;
    uint64_t *words = memory;
    float *floats = memory;
    uint16_t *halves = memory;
    if (sample == GF_F32)
        for (size_t i = 0; i < count; i++)
            floats[i] = (float)(int32_t)(next() >> 32) * 0x1p-31f;
    else if (sample == GF_F16)
        for (size_t i = 0; i < count; i++)
            halves[i] = random_half(next());
    else
        for (size_t i = 0; i < whole; i++)
            words[i] = next();
}

GfStatus samples_get(GfSample sample, size_t count, const void **samples)
{
    Pool *pool = &pools[sample];
    if (pool->count < count) {
        free(pool->memory);
        *pool = (Pool){0};
        GF_TRY(gf_allocate(count * gf_sample_size(sample) + sizeof(uint64_t), 1, &pool->memory));
        fill(pool->memory, sample, count);
        pool->count = count;
    }
    *samples = pool->memory;
    return GF_OK;
}

void samples_free(void)
{
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        free(pools[i].memory);
        pools[i] = (Pool){0};
    }
}
