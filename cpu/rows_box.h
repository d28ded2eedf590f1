/* Part of rows_template.h: moving sums of integers, which nothing rounds, so that what comes is
 * added, what goes is taken away, and the order does not matter. */

typedef SUM NAME(Sums) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(SUM)), may_alias));
typedef INTEGER NAME(Places) __attribute__((vector_size(VECTOR_BYTES)));

#define SLIDE(type)                                                                                \
    for (size_t i = 0; i < n; i++)                                                                 \
    sums[i] += (SUM)((const type *)come)[i] - (SUM)(go ? ((const type *)go)[i] : 0)

static void NAME(slide)(void *restrict to, const void *restrict come, const void *restrict go,
                        GfSample sample, size_t n)
{
    SUM *restrict sums = to;
    if (sample == GF_U8)
        SLIDE(uint8_t);
    else
        SLIDE(uint16_t);
}

#undef SLIDE

/* The lanes of a vector `by` places later, after zeros. */
static inline __attribute__((always_inline)) NAME(Sums) NAME(later)(NAME(Sums) v, size_t by)
{
    NAME(Sums) zeros = {0};
    NAME(Places) from = {0};
#pragma GCC unroll 16
    for (size_t i = 0; i < NAME(LANES); i++)
        from[i] = (INTEGER)(i < by ? NAME(LANES) : i - by);
    return __builtin_shuffle(v, zeros, from);
}

/* For each lane the last sample of its channel. */
static inline __attribute__((always_inline)) NAME(Sums) NAME(carry)(NAME(Sums) v, size_t channels)
{
    NAME(Places) from = {0};
#pragma GCC unroll 16
    for (size_t i = 0; i < NAME(LANES); i++)
        from[i] = (INTEGER)(NAME(LANES) - channels + i % channels);
    return __builtin_shuffle(v, from);
}

/* Within a vector sums of 2, 4, 8, ... pixels, then those of all before. `channels` is a constant
 * where this is inlined, and so are the places. */
static inline __attribute__((always_inline)) void
NAME(total_vectors)(REAL *restrict to, const SUM *restrict come, const SUM *restrict go,
                    size_t channels, REAL factor, size_t n)
{
    NAME(Sums) sum = {0};
    for (size_t i = 0; i < n; i += NAME(LANES)) {
        NAME(Sums) own = *(const NAME(Sums) *)(come + i) - *(const NAME(Sums) *)(go + i);
#pragma GCC unroll 4
        for (size_t by = channels; by < NAME(LANES); by *= 2)
            own += NAME(later)(own, by);
        sum = NAME(carry)(sum, channels) + own;
        *(NAME(Vector) *)(to + i) = __builtin_convertvector(sum, NAME(Vector)) * factor;
    }
}

static void NAME(total_pixels)(REAL *restrict to, const SUM *restrict come, const SUM *restrict go,
                               size_t channels, REAL factor, size_t n)
{
    for (size_t c = 0; c < channels; c++) {
        SUM sum = 0;
        for (size_t i = c; i < n; i += channels) {
            sum += come[i] - go[i];
            to[i] = (REAL)sum * factor;
        }
    }
}

static void NAME(total)(void *to, const void *from, size_t apart, size_t channels, double factor,
                        size_t n)
{
    const SUM *come = from, *go = come - apart;
    switch (channels) {
    case 1:
        NAME(total_vectors)(to, come, go, 1, (REAL)factor, n);
        return;
    case 2:
        NAME(total_vectors)(to, come, go, 2, (REAL)factor, n);
        return;
#if VECTOR_BYTES > 16
    case 3:
        NAME(total_vectors)(to, come, go, 3, (REAL)factor, n);
        return;
    case 4:
        NAME(total_vectors)(to, come, go, 4, (REAL)factor, n);
        return;
#endif
    default:
        NAME(total_pixels)(to, come, go, channels, (REAL)factor, n);
        return;
    }
}
