/* What the fast path does to one row. The functions are compiled once for each instruction set; a
 * row is an array of f32, or of f64 in a wide pipeline. */
#pragma once

#include <stdint.h>

#include "filters/plan.h"

enum { GF_MIX_MAPS = 4 }; /* maps that one mix() sums at most */

typedef struct GfRowFunctions {
    /* row[i] = samples[i * stride] */
    void (*load)(void *row, const void *samples, GfSample sample, size_t stride, size_t n);
    /* row[i] = samples[index[i]], or `outside` where the index is negative */
    void (*gather)(void *row, const void *samples, GfSample sample, const ptrdiff_t *index,
                   double outside, size_t n);
    /* row[i] = value */
    void (*fill)(void *row, double value, size_t n);
    /* row[i] = sum over k of taps[k] * sources[k][i], added up in the order of k; added to row[i]
     * as one number when `add`. */
    void (*sum)(void *row, const void *const *sources, const void *taps, size_t count, size_t n,
                bool add);
    /* The same for 2 to GF_MIX_MAPS rows from the same sources: row m has the taps [k * maps + m].
     * n is a multiple of GF_ALIGNMENT bytes. */
    void (*mix)(void *const *rows, size_t maps, const void *const *sources, const void *taps,
                size_t count, size_t n, bool add);
    /* sums[i] += come[i] - go[i], of samples that are integers; NULL for none that go. Sums are
     * int32_t beside f32, else double, and exact. */
    void (*slide)(void *sums, const void *come, const void *go, GfSample sample, size_t n);
    /* row[i] = factor * sum of sums[k], k = i, i - channels, i - 2 * channels, ... above i - apart.
     * Before `sums` lie `apart` zeros; GF_ALIGNMENT bytes more than n may be read and written. */
    void (*total)(void *row, const void *sums, size_t apart, size_t channels, double factor,
                  size_t n);
    /* row[i] = sum over k of sources[k][i]^2 */
    void (*squares)(void *row, const void *const *sources, size_t count, size_t n);
    /* row[i] = the largest of sources[k][i], or NaN where one is NaN */
    void (*maximum)(void *row, const void *const *sources, size_t count, size_t n);
    /* row[i] = a * row[i] + b */
    void (*affine)(void *row, double a, double b, size_t n);
    /* row[i] = row[i] / (by[i] * factor), or 0 where that is nothing */
    void (*divide)(void *row, const double *by, double factor, size_t n);
    /* Is there no NaN and no infinity? */
    bool (*finite)(const void *row, size_t n);
    /* row[i] = sqrt(row[i]) */
    void (*root)(void *row, size_t n);
    void (*pointwise)(void *row, const GfPointwise *how, size_t n);
    /* The functions between numbers and light, of row[i * stride]. */
    void (*light)(void *row, const GfPointwise *how, const GfCurve *curve, size_t stride, size_t n);
    /* rows[0] = combination of rows[0 .. count): threshold already in the samples' units */
    void (*combine)(void *const *rows, size_t count, const GfCombine *combine, size_t n);
    /* Pixels of `channels` samples, the last of them opacity, as GfStep says. */
    void (*premultiply)(void *row, size_t channels, double white, size_t pixels);
    void (*unpremultiply)(void *row, size_t channels, double white, double alpha_gain,
                          size_t pixels);
    /* to[i * stride] = factor * from[i * stride] */
    void (*copy_channel)(void *to, const void *from, double factor, size_t stride, size_t pixels);
    /* samples[i * stride] = row[i], rounded half to even and saturated where the sample is an
     * integer */
    void (*store)(void *samples, GfSample sample, size_t stride, const void *row, size_t n);
} GfRowFunctions;

/* Fourier transforms of complex signals of n samples, a power of two, `lanes` signals at once. A
 * spectrum has n frequencies in an order of their own; frequency f of the i-th signal is at
 * spectra[f * pitch + i] and, its imaginary part, half a pitch after it. Power k of the root of a
 * transform of m samples and its powers 2k and 3k, all complex, are at roots[2 * (m / 4 + 3 * k)],
 * for each m of n, n / 4, ... down to 4 and each k below m / 4. */
typedef struct GfFourierFunctions {
    size_t lanes;
    /* Real parts of `lanes` signals, then imaginary parts, to spectra; memory: 2 * lanes * n
     * numbers. */
    void (*transform)(double *spectra, size_t pitch, double *const *signals, const double *roots,
                      void *memory, size_t n);
    /* The inverse, n times as large, rounded when `whole`; the first `count` samples of each
     * signal. */
    void (*invert)(double *const *signals, const double *spectra, size_t pitch, const double *roots,
                   void *memory, size_t n, size_t count, bool whole);
    /* At each of n frequencies: to[i] = sum over k < taps of w[k] * from[i + k], complex numbers,
     * for i below `rows`, a multiple of `lanes`; or is added to it. The taps of a frequency follow
     * those of the one before. `to` may be `from`. */
    void (*correlate)(double *to, size_t to_pitch, const double *from, size_t from_pitch,
                      const double *w, size_t taps, size_t rows, size_t n, bool add);
} GfFourierFunctions;

/* What a sum of 16 bits becomes: factor * sum + offset; with or without a sign. */
typedef struct GfIntegerResponse {
    float factor, offset;
    bool positive;
} GfIntegerResponse;

/* Sums of small integers, of which none needs more than 16 bits. n is a multiple of GF_ALIGNMENT
 * but where it is said. */
typedef struct GfIntegerFunctions {
    /* sums[i] = sum over k of taps[k] * sources[k][i], of bytes or of sums */
    void (*weigh_bytes)(int16_t *sums, const void *const *sources, const int16_t *taps,
                        size_t count, size_t n);
    void (*weigh_sums)(int16_t *sums, const void *const *sources, const int16_t *taps, size_t count,
                       size_t n);
    void (*respond)(float *row, const int16_t *sums, const GfIntegerResponse *how, size_t n);
    /* The responses, or their absolute values, rounded and saturated; any n. */
    void (*respond_bytes)(uint8_t *row, const int16_t *sums, const GfIntegerResponse *how,
                          bool absolute, size_t n);
} GfIntegerFunctions;

typedef struct GfRowSet {
    const char *name;            /* of the instruction set */
    GfRowFunctions functions[2]; /* for f32 and, [1], f64 */
    GfFourierFunctions fourier;
    GfIntegerFunctions integers;
} GfRowSet;

/* Sets the i-th of numbers of `real` bytes, f64 or f32. */
static inline void gf_set_real(void *numbers, size_t real, size_t i, double value)
{
    if (real == sizeof(double))
        ((double *)numbers)[i] = value;
    else
        ((float *)numbers)[i] = (float)value;
}

/* The i-th set that this processor can run, the plainest first; NULL after the last. */
const GfRowSet *gf_row_set_at(size_t i);

/* The last of them, which is the best. */
const GfRowSet *gf_row_set(void);
