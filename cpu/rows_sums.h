/* Part of rows_template.h: weighted sums, sums of squares and maxima over rows that taps meet.
 * Blocks, single vectors and single samples add in the same order. But the last samples of a row,
 * fewer than a vector has lanes, may round otherwise in weighted sums, where the compiler fuses
 * products and sums of vectors only: who cuts rows cuts them to whole vectors. */

typedef REAL NAME(Vector)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));

enum {
    NAME(LANES) = VECTOR_BYTES / sizeof(REAL),
    NAME(VECTORS) = 8,
    NAME(BLOCK) = NAME(LANES) * NAME(VECTORS),
    NAME(MIX_BLOCK) = NAME(LANES) * MIX_VECTORS
};

static void NAME(sum_vector)(REAL *row, const void *const *sources, const REAL *taps, size_t count,
                             size_t at, bool add)
{
    NAME(Vector) sum = {0};
    for (size_t k = 0; k < count; k++)
        sum += *(const NAME(Vector) *)((const REAL *)sources[k] + at) * taps[k];
    NAME(Vector) *to = (NAME(Vector) *)(row + at);
    if (add)
        sum += *to;
    *to = sum;
}

static void NAME(sum_block)(REAL *row, const void *const *sources, const REAL *taps, size_t count,
                            size_t at, bool add)
{
    NAME(Vector) sums[NAME(VECTORS)] = {{0}};
    for (size_t k = 0; k < count; k++) {
        const NAME(Vector) *source = (const NAME(Vector) *)((const REAL *)sources[k] + at);
        REAL tap = taps[k];
#pragma GCC unroll 8
        for (size_t j = 0; j < NAME(VECTORS); j++)
            sums[j] += source[j] * tap;
    }
    NAME(Vector) *to = (NAME(Vector) *)(row + at);
#pragma GCC unroll 8
    for (size_t j = 0; j < NAME(VECTORS); j++) {
        if (add)
            sums[j] += to[j];
        to[j] = sums[j];
    }
}

static void NAME(sum)(void *to, const void *const *sources, const void *weights, size_t count,
                      size_t n, bool add)
{
    REAL *row = to;
    const REAL *taps = weights;
    size_t at = 0;
    for (; at + NAME(BLOCK) <= n; at += NAME(BLOCK))
        NAME(sum_block)(row, sources, taps, count, at, add);
    for (; at + NAME(LANES) <= n; at += NAME(LANES))
        NAME(sum_vector)(row, sources, taps, count, at, add);
    for (; at < n; at++) {
        REAL sum = 0;
        for (size_t k = 0; k < count; k++)
            sum += ((const REAL *)sources[k])[at] * taps[k];
        row[at] = add ? row[at] + sum : sum;
    }
}

/* Each vector of a source is loaded once for all maps, each tap once for all vectors. `maps` and
 * `vectors` are constants where this is inlined, so that the sums live in registers. */
static inline __attribute__((always_inline)) void
NAME(mix_block)(void *const *rows, size_t maps, size_t vectors, const void *const *sources,
                const REAL *taps, size_t count, size_t at, bool add)
{
    NAME(Vector) sums[GF_MIX_MAPS][MIX_VECTORS] = {{{0}}};
    for (size_t k = 0; k < count; k++, taps += maps) {
        const NAME(Vector) *source = (const NAME(Vector) *)((const REAL *)sources[k] + at);
#pragma GCC unroll 4
        for (size_t m = 0; m < maps; m++)
#pragma GCC unroll 4
            for (size_t j = 0; j < vectors; j++)
                sums[m][j] += source[j] * taps[m];
    }
#pragma GCC unroll 4
    for (size_t m = 0; m < maps; m++) {
        NAME(Vector) *to = (NAME(Vector) *)((REAL *)rows[m] + at);
#pragma GCC unroll 4
        for (size_t j = 0; j < vectors; j++) {
            if (add)
                sums[m][j] += to[j];
            to[j] = sums[m][j];
        }
    }
}

static inline __attribute__((always_inline)) void NAME(mix_maps)(void *const *rows, size_t maps,
                                                                 const void *const *sources,
                                                                 const REAL *taps, size_t count,
                                                                 size_t n, bool add)
{
    size_t at = 0;
    for (; at + NAME(MIX_BLOCK) <= n; at += NAME(MIX_BLOCK))
        NAME(mix_block)(rows, maps, MIX_VECTORS, sources, taps, count, at, add);
    for (; at < n; at += NAME(LANES))
        NAME(mix_block)(rows, maps, 1, sources, taps, count, at, add);
}

static void NAME(mix)(void *const *rows, size_t maps, const void *const *sources, const void *taps,
                      size_t count, size_t n, bool add)
{
    if (maps == 4)
        NAME(mix_maps)(rows, 4, sources, taps, count, n, add);
    else if (maps == 3)
        NAME(mix_maps)(rows, 3, sources, taps, count, n, add);
    else
        NAME(mix_maps)(rows, 2, sources, taps, count, n, add);
}

static void NAME(squares)(void *to, const void *const *sources, size_t count, size_t n)
{
    REAL *restrict row = to;
    NAME(fill)(row, 0.0, n);
    for (size_t k = 0; k < count; k++) {
        const REAL *restrict source = sources[k];
        for (size_t i = 0; i < n; i++)
            row[i] += source[i] * source[i];
    }
}

/* A NaN in row[i] stays: nothing compares greater than it. */
static void NAME(maximum)(void *to, const void *const *sources, size_t count, size_t n)
{
    REAL *restrict row = to;
    memcpy(row, sources[0], n * sizeof *row);
    for (size_t k = 1; k < count; k++) {
        const REAL *restrict source = sources[k];
        for (size_t i = 0; i < n; i++) {
            REAL next = source[i];
            row[i] = ((next > row[i]) | (next != next)) ? next : row[i];
        }
    }
}
