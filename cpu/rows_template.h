/* Included by rows.c for each real type: REAL, NAME(x), ... are defined there. No include guard. */

typedef REAL NAME(Vector)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));

enum {
    NAME(LANES) = VECTOR_BYTES / sizeof(REAL),
    NAME(VECTORS) = 8,
    NAME(BLOCK) = NAME(LANES) * NAME(VECTORS)
};

static void NAME(load)(void *restrict to, const void *restrict from, GfSample sample, size_t n)
{
    REAL *row = to;
    if (sample == GF_U8)
        for (size_t i = 0; i < n; i++)
            row[i] = (REAL)((const uint8_t *)from)[i];
    else if (sample == GF_U16)
        for (size_t i = 0; i < n; i++)
            row[i] = (REAL)((const uint16_t *)from)[i];
    else if (sample == SAME)
        memcpy(row, from, n * sizeof *row);
    else
        for (size_t i = 0; i < n; i++)
            row[i] = (REAL)((const OTHERTYPE *)from)[i];
}

static void NAME(fill)(void *to, double value, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = (REAL)value;
}

/* One vector's sums; the order of additions is the same as in whole blocks and single samples. */
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

static void NAME(affine)(void *to, double a, double b, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = row[i] * (REAL)a + (REAL)b;
}

static void NAME(absolute)(void *to, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = FABS(row[i]);
}

static void NAME(combine_l2)(REAL *restrict row, void *const *rows, size_t count, size_t n)
{
    for (size_t i = 0; i < n; i++)
        row[i] *= row[i];
    for (size_t f = 1; f < count; f++) {
        const REAL *restrict next = rows[f];
        for (size_t i = 0; i < n; i++)
            row[i] += next[i] * next[i];
    }
    for (size_t i = 0; i < n; i++)
        row[i] = SQRT(row[i]);
}

static void NAME(combine_pair)(REAL *restrict row, const REAL *restrict next,
                               const GfCombine *combine, size_t n)
{
    REAL amount = (REAL)combine->amount, threshold = (REAL)combine->threshold;
    switch (combine->op) {
    case GF_COMBINE_L1:
        for (size_t i = 0; i < n; i++)
            row[i] = FABS(row[i]) + FABS(next[i]);
        return;
    case GF_COMBINE_MAX:
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] > next[i] ? row[i] : next[i];
        return;
    case GF_COMBINE_MIN:
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] < next[i] ? row[i] : next[i];
        return;
    case GF_COMBINE_SUM:
        for (size_t i = 0; i < n; i++)
            row[i] += next[i];
        return;
    case GF_COMBINE_UNSHARP:
        for (size_t i = 0; i < n; i++) {
            REAL difference = row[i] - next[i];
            row[i] += FABS(difference) >= threshold ? amount * difference : (REAL)0;
        }
        return;
    case GF_COMBINE_NONE:
    case GF_COMBINE_L2:
        return;
    }
}

static void NAME(combine)(void *const *rows, size_t count, const GfCombine *combine, size_t n)
{
    if (combine->op == GF_COMBINE_L2) {
        NAME(combine_l2)(rows[0], rows, count, n);
        return;
    }
    if (combine->op == GF_COMBINE_L1 && count == 1)
        NAME(absolute)(rows[0], n);
    for (size_t f = 1; f < count; f++)
        NAME(combine_pair)(rows[0], rows[f], combine, n);
}

static void NAME(premultiply)(void *to, size_t channels, double white, size_t pixels)
{
    REAL *pixel = to;
    for (size_t i = 0; i < pixels; i++, pixel += channels)
        for (size_t c = 0; c + 1 < channels; c++)
            pixel[c] = pixel[c] * pixel[channels - 1] / (REAL)white;
}

static void NAME(unpremultiply)(void *to, size_t channels, double white, double alpha_gain,
                                size_t pixels)
{
    REAL *pixel = to;
    for (size_t i = 0; i < pixels; i++, pixel += channels) {
        REAL alpha = pixel[channels - 1] * (REAL)alpha_gain;
        for (size_t c = 0; c + 1 < channels; c++)
            pixel[c] = alpha > 0 ? pixel[c] * (REAL)white / alpha : (REAL)0;
        pixel[channels - 1] = alpha;
    }
}

static void NAME(copy_channel)(void *to, const void *from, double factor, size_t stride,
                               size_t pixels)
{
    for (size_t i = 0; i < pixels; i++)
        ((REAL *)to)[i * stride] = (REAL)factor * ((const REAL *)from)[i * stride];
}

/* Rounds half to even (the rounding mode of every thread here) and saturates; NaN gives 0. */
static REAL NAME(quantise)(REAL value, REAL white)
{
    value = value > 0 ? value : (REAL)0;
    value = value < white ? value : white;
    return (value + ROUNDING) - ROUNDING;
}

static void NAME(store)(void *restrict to, GfSample sample, const void *restrict from, size_t n)
{
    const REAL *row = from;
    if (sample == GF_U8)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)to)[i] = (uint8_t)(int32_t)NAME(quantise)(row[i], 255);
    else if (sample == GF_U16)
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = (uint16_t)(int32_t)NAME(quantise)(row[i], 65535);
    else if (sample == SAME)
        memcpy(to, from, n * sizeof *row);
    else
        for (size_t i = 0; i < n; i++)
            ((OTHERTYPE *)to)[i] = (OTHERTYPE)row[i];
}

#ifndef FUNCTIONS
#define FUNCTIONS(type)                                                                            \
    {                                                                                              \
        load_##type, fill_##type, sum_##type, affine_##type, absolute_##type, combine_##type,      \
            premultiply_##type, unpremultiply_##type, copy_channel_##type, store_##type            \
    }
#endif
