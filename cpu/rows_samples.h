/* Part of rows_template.h: from samples to numbers and back. */

#define FROM(type, number, place)                                                                  \
    for (size_t i = 0; i < n; i++)                                                                 \
        row[i] = (REAL)number(((const type *)from)[place]);                                        \
    return

/* Inlined where the stride is a constant, which the compiler can turn into shuffles. */
static inline __attribute__((always_inline)) void NAME(load_apart)(REAL *restrict row,
                                                                   const void *restrict from,
                                                                   GfSample sample, size_t stride,
                                                                   size_t n)
{
    switch (sample) {
    case GF_U8:
        FROM(uint8_t, , i * stride);
    case GF_U16:
        FROM(uint16_t, , i * stride);
    case GF_F16:
        FROM(uint16_t, gf_half, i * stride);
    case SAME:
        FROM(REAL, , i * stride);
    default:
        FROM(OTHERTYPE, , i * stride);
    }
}

static void NAME(load)(void *restrict to, const void *restrict from, GfSample sample, size_t stride,
                       size_t n)
{
    switch (stride) {
    case 1:
        if (sample == SAME)
            memcpy(to, from, n * sizeof(REAL));
        else
            NAME(load_apart)(to, from, sample, 1, n);
        return;
    case 2:
        NAME(load_apart)(to, from, sample, 2, n);
        return;
    case 3:
        NAME(load_apart)(to, from, sample, 3, n);
        return;
    case 4:
        NAME(load_apart)(to, from, sample, 4, n);
        return;
    default:
        NAME(load_apart)(to, from, sample, stride, n);
        return;
    }
}

static void NAME(fill)(void *to, double value, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = (REAL)value;
}

static void NAME(gather)(void *to, const void *from, GfSample sample, const ptrdiff_t *index,
                         double outside, size_t n)
{
    REAL *row = to;
    for (size_t i = 0; i < n; i++)
        row[i] = (REAL)(index[i] < 0 ? outside : gf_sample_at(from, (size_t)index[i], sample));
}

/* The bits of a number. */
static INTEGER NAME(bits)(REAL number)
{
    union {
        REAL number;
        INTEGER bits;
    } both = {number};
    return both.bits;
}

/* Rounds half to even (the rounding mode of every thread here) and saturates above; below 0 only
 * that stays which is less. What is added leaves the integer in the lowest bits, and bits have the
 * order of the numbers that they are of: compilers know the lesser of integers as an instruction,
 * but of floats, any of which may be NaN, as two. */
static INTEGER NAME(round)(REAL value, INTEGER white)
{
    const INTEGER sum = NAME(bits)(value + ROUNDING), most = NAME(bits)(ROUNDING) + white;
    return sum < most ? sum : most;
}

/* Saturates below, too; NaN gives 0. */
static INTEGER NAME(quantise)(REAL value, INTEGER white)
{
    return NAME(round)(value > 0 ? value : (REAL)0, white);
}

static inline __attribute__((always_inline)) void NAME(store_apart)(void *restrict to,
                                                                    GfSample sample, size_t stride,
                                                                    const REAL *restrict row,
                                                                    size_t n)
{
    if (sample == GF_U8)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)to)[i * stride] = (uint8_t)NAME(quantise)(row[i], 255);
    else if (sample == GF_U16)
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)to)[i * stride] = (uint16_t)NAME(quantise)(row[i], 65535);
    else if (sample == SAME)
        for (size_t i = 0; i < n; i++)
            ((REAL *)to)[i * stride] = row[i];
    else
        for (size_t i = 0; i < n; i++)
            ((OTHERTYPE *)to)[i * stride] = (OTHERTYPE)row[i];
}

static void NAME(store)(void *restrict to, GfSample sample, size_t stride,
                        const void *restrict from, size_t n)
{
    switch (stride) {
    case 1:
        if (sample == SAME)
            memcpy(to, from, n * sizeof(REAL));
        else
            NAME(store_apart)(to, sample, 1, from, n);
        return;
    case 2:
        NAME(store_apart)(to, sample, 2, from, n);
        return;
    case 3:
        NAME(store_apart)(to, sample, 3, from, n);
        return;
    case 4:
        NAME(store_apart)(to, sample, 4, from, n);
        return;
    default:
        NAME(store_apart)(to, sample, stride, from, n);
        return;
    }
}

static void NAME(copy_channel)(void *to, const void *from, double factor, size_t stride,
                               size_t pixels)
{
    for (size_t i = 0; i < pixels; i++)
        ((REAL *)to)[i * stride] = (REAL)factor * ((const REAL *)from)[i * stride];
}

#undef FROM
