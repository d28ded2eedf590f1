/* Part of rows.c: weighted sums of integers in 16 bits, which nothing rounds, and what is made of
 * them. A vector holds twice as many as of f32. Plain loops, in which the compiler sees that 16
 * bits are enough, of whole vectors: what is left of a row after those costs as much as a tenth of
 * it. */

/* Four taps at a time, so that a sum is seldom read again. Sums are those modulo 2^16. */
#define WEIGH(name, type)                                                                          \
    static inline __attribute__((always_inline)) void name##_together(                             \
        int16_t *restrict sums, const void *const *sources, const int16_t *taps, size_t count,     \
        bool add, size_t n)                                                                        \
    {                                                                                              \
        const type *a = sources[0], *b = sources[count > 1 ? 1 : 0];                               \
        const type *c = sources[count > 2 ? 2 : 0], *d = sources[count > 3 ? 3 : 0];               \
        const int16_t p = taps[0], q = taps[count > 1 ? 1 : 0];                                    \
        const int16_t r = taps[count > 2 ? 2 : 0], s = taps[count > 3 ? 3 : 0];                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            int sum = (add ? sums[i] : 0) + a[i] * p;                                              \
            sum += count > 1 ? b[i] * q : 0;                                                       \
            sum += count > 2 ? c[i] * r : 0;                                                       \
            sum += count > 3 ? d[i] * s : 0;                                                       \
            sums[i] = (int16_t)sum;                                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name(int16_t *restrict sums, const void *const *sources, const int16_t *taps,      \
                     size_t count, size_t n)                                                       \
    {                                                                                              \
        if (count == 0)                                                                            \
            memset(sums, 0, n * sizeof *sums);                                                     \
        for (size_t k = 0; k < count; k += 4)                                                      \
            if (count - k == 1)                                                                    \
                name##_together(sums, sources + k, taps + k, 1, k > 0, n);                         \
            else if (count - k == 2)                                                               \
                name##_together(sums, sources + k, taps + k, 2, k > 0, n);                         \
            else if (count - k == 3)                                                               \
                name##_together(sums, sources + k, taps + k, 3, k > 0, n);                         \
            else                                                                                   \
                name##_together(sums, sources + k, taps + k, 4, k > 0, n);                         \
    }

WEIGH(weigh_bytes, uint8_t)
WEIGH(weigh_sums, int16_t)

#undef WEIGH

static float respond_to(int16_t sum, const GfIntegerResponse *how)
{
    return (how->positive ? (float)(uint16_t)sum : (float)sum) * how->factor + how->offset;
}

static void respond(float *restrict row, const int16_t *restrict sums, const GfIntegerResponse *how,
                    size_t n)
{
    const GfIntegerResponse k = *how;
    for (size_t i = 0; i < n; i++)
        row[i] = respond_to(sums[i], &k);
}

static void respond_some(uint8_t *restrict row, const int16_t *restrict sums,
                         const GfIntegerResponse *how, bool absolute, size_t n)
{
    const GfIntegerResponse k = *how;
    const int32_t least = bits_f32(0x1p23F); /* that is rounded to 0 */
    for (size_t i = 0; i < n; i++) {
        const float response = respond_to(sums[i], &k);
        const int32_t rounded = round_f32(absolute ? fabsf(response) : response, UINT8_MAX);
        row[i] = (uint8_t)(rounded > least ? rounded : least);
    }
}

/* The last samples of a row with some that have been stored already. */
static void respond_bytes(uint8_t *restrict row, const int16_t *restrict sums,
                          const GfIntegerResponse *how, bool absolute, size_t n)
{
    const size_t body = n / GF_ALIGNMENT * GF_ALIGNMENT;
    const size_t last = n < GF_ALIGNMENT ? 0 : n - GF_ALIGNMENT;
    respond_some(row, sums, how, absolute, body);
    if (body < n)
        respond_some(row + last, sums + last, how, absolute, n - last);
}
