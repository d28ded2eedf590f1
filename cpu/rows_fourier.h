/* Part of rows.c: Fourier transforms of as many complex signals as a vector has lanes, each in a
 * lane of its own, so that nothing moves between lanes. The frequencies of a transform stay in the
 * order that it leaves them in, which the inverse one takes: what lies between only multiplies
 * them. */

#define NO_FRACTION 6755399441055744.0 /* 1.5 * 2^52: adding it leaves no room for a fraction */

typedef Vector_f64 Lanes;
typedef long long Places __attribute__((vector_size(VECTOR_BYTES)));

typedef struct Complex {
    Lanes re, im;
} Complex;

static inline Complex plus(Complex a, Complex b)
{
    return (Complex){a.re + b.re, a.im + b.im};
}

static inline Complex minus(Complex a, Complex b)
{
    return (Complex){a.re - b.re, a.im - b.im};
}

/* a times i. */
static inline Complex turned(Complex a)
{
    return (Complex){-a.im, a.re};
}

static inline Complex times(Complex a, double re, double im)
{
    return (Complex){a.re * re - a.im * im, a.re * im + a.im * re};
}

/* A radix-4 butterfly of entries a quarter of a signal apart: w holds the root to its powers 1, 2
 * and 3, or is NULL where that is 1. */
static inline __attribute__((always_inline)) void part(Complex *z, size_t quarter, const double *w)
{
    Complex a = z[0], b = z[quarter], c = z[2 * quarter], d = z[3 * quarter];
    Complex even = plus(a, c), odd = plus(b, d), left = minus(a, c), right = turned(minus(d, b));
    a = plus(even, odd);
    b = minus(even, odd);
    c = plus(left, right);
    d = minus(left, right);
    z[0] = a;
    z[quarter] = w ? times(b, w[2], w[3]) : b;
    z[2 * quarter] = w ? times(c, w[0], w[1]) : c;
    z[3 * quarter] = w ? times(d, w[4], w[5]) : d;
}

/* The way back, four times as large. */
static inline __attribute__((always_inline)) void unite(Complex *z, size_t quarter, const double *w)
{
    Complex a = z[0], b = z[quarter], c = z[2 * quarter], d = z[3 * quarter];
    b = w ? times(b, w[2], -w[3]) : b;
    c = w ? times(c, w[0], -w[1]) : c;
    d = w ? times(d, w[4], -w[5]) : d;
    Complex even = plus(a, b), left = minus(a, b), odd = plus(c, d), right = turned(minus(c, d));
    z[0] = plus(even, odd);
    z[quarter] = plus(left, right);
    z[2 * quarter] = minus(even, odd);
    z[3 * quarter] = minus(left, right);
}

static inline void swap_sums(Complex *z)
{
    Complex a = z[0], b = z[1];
    z[0] = plus(a, b);
    z[1] = minus(a, b);
}

static void transform(Complex *z, const double *roots, size_t n)
{
    size_t quarter = n / 4;
    if (n == 2)
        swap_sums(z);
    if (quarter == 0)
        return;
    part(z, quarter, NULL);
    const double *w = roots + 2 * quarter + 6;
    for (size_t k = 1; k < quarter; k++, w += 6)
        part(z + k, quarter, w);
    for (size_t i = 0; i < 4; i++)
        transform(z + i * quarter, roots, quarter);
}

static void invert(Complex *z, const double *roots, size_t n)
{
    size_t quarter = n / 4;
    if (n == 2)
        swap_sums(z);
    if (quarter == 0)
        return;
    for (size_t i = 0; i < 4; i++)
        invert(z + i * quarter, roots, quarter);
    unite(z, quarter, NULL);
    const double *w = roots + 2 * quarter + 6;
    for (size_t k = 1; k < quarter; k++, w += 6)
        unite(z + k, quarter, w);
}

/* Which entries of two vectors the first has, when pieces of d = 1, 2, ... entries of them change
 * places; the second has those d after them. */
static const Places places[] = {
#if VECTOR_BYTES == 64
    {0, 8, 2, 10, 4, 12, 6, 14},
    {0, 1, 8, 9, 4, 5, 12, 13},
    {0, 1, 2, 3, 8, 9, 10, 11},
#elif VECTOR_BYTES == 32
    {0, 4, 2, 6},
    {0, 1, 4, 5},
#else
    {0, 2},
#endif
};

/* Clang has shuffles by constants only, and finds that these are. */
static inline __attribute__((always_inline)) Lanes shuffle(Lanes a, Lanes b, Places from)
{
#ifdef __clang__
    Lanes result;
    for (size_t i = 0; i < LANES_f64; i++) {
        const size_t at = (size_t)from[i];
        result[i] = at < LANES_f64 ? a[at] : b[at - LANES_f64];
    }
    return result;
#else
    return __builtin_shuffle(a, b, from);
#endif
}

/* Entry i of vector j becomes entry j of vector i. */
static inline __attribute__((always_inline)) void turn(Lanes *v)
{
#pragma GCC unroll 3
    for (size_t stage = 0, d = 1; d < LANES_f64; stage++, d *= 2)
#pragma GCC unroll 8
        for (size_t i = 0; i < LANES_f64; i++)
            if (!(i & d)) {
                Lanes a = v[i], b = v[i + d];
                v[i] = shuffle(a, b, places[stage]);
                v[i + d] = shuffle(a, b, places[stage] + (long long)d);
            }
}

static void to_spectra(double *spectra, size_t pitch, double *const *signals, const double *roots,
                       void *memory, size_t n)
{
    Complex *z = memory;
    for (size_t x = 0; x < n; x += LANES_f64) {
        Lanes re[LANES_f64], im[LANES_f64];
        for (size_t i = 0; i < LANES_f64; i++) {
            re[i] = *(const Lanes *)(signals[i] + x);
            im[i] = *(const Lanes *)(signals[LANES_f64 + i] + x);
        }
        turn(re);
        turn(im);
        for (size_t i = 0; i < LANES_f64; i++)
            z[x + i] = (Complex){re[i], im[i]};
    }
    transform(z, roots, n);
    for (size_t f = 0; f < n; f++) {
        *(Lanes *)(spectra + f * pitch) = z[f].re;
        *(Lanes *)(spectra + f * pitch + pitch / 2) = z[f].im;
    }
}

static void from_spectra(double *const *signals, const double *spectra, size_t pitch,
                         const double *roots, void *memory, size_t n, size_t count, bool whole)
{
    Complex *z = memory;
    for (size_t f = 0; f < n; f++) {
        z[f].re = *(const Lanes *)(spectra + f * pitch);
        z[f].im = *(const Lanes *)(spectra + f * pitch + pitch / 2);
    }
    invert(z, roots, n);
    for (size_t x = 0; x < count; x += LANES_f64) {
        Lanes re[LANES_f64], im[LANES_f64];
        double none = whole ? NO_FRACTION : 0.0;
        for (size_t i = 0; i < LANES_f64; i++) {
            re[i] = (z[x + i].re + none) - none;
            im[i] = (z[x + i].im + none) - none;
        }
        turn(re);
        turn(im);
        for (size_t i = 0; i < LANES_f64; i++) {
            *(Lanes *)(signals[i] + x) = re[i];
            *(Lanes *)(signals[LANES_f64 + i] + x) = im[i];
        }
    }
}

/* Sums of so many vectors of rows stay in registers while all taps pass over them: every LANES-th
 * tap first, which meet the same vectors one after the other, so that each is loaded once for them
 * all. `vectors` is a constant where this is inlined. */
static inline __attribute__((always_inline)) void
correlate_some(double *to, size_t to_half, const double *from, size_t from_half, const double *taps,
               size_t count, bool add, size_t vectors)
{
    Lanes re[CORRELATE_VECTORS] = {{0}}, im[CORRELATE_VECTORS] = {{0}};
    for (size_t j = 0; add && j < vectors; j++) {
        re[j] = ((const Lanes *)to)[j];
        im[j] = ((const Lanes *)(to + to_half))[j];
    }
    for (size_t first = 0; first < LANES_f64 && first < count; first++) {
        Lanes x[CORRELATE_VECTORS], y[CORRELATE_VECTORS];
        const double *at = from + first;
#pragma GCC unroll 4
        for (size_t j = 0; j + 1 < vectors; j++, at += LANES_f64) {
            x[j] = *(const Lanes *)at;
            y[j] = *(const Lanes *)(at + from_half);
        }
        for (size_t k = first; k < count; k += vectors * LANES_f64)
#pragma GCC unroll 4
            for (size_t i = 0; i < vectors; i++, at += LANES_f64) {
                if (k + i * LANES_f64 >= count)
                    break;
                const double *tap = taps + 2 * (k + i * LANES_f64);
                double tap_re = tap[0], tap_im = tap[1];
                size_t last = (i + vectors - 1) % vectors;
                x[last] = *(const Lanes *)at;
                y[last] = *(const Lanes *)(at + from_half);
#pragma GCC unroll 4
                for (size_t j = 0; j < vectors; j++) {
                    re[j] += x[(i + j) % vectors] * tap_re;
                    im[j] += x[(i + j) % vectors] * tap_im;
                    re[j] -= y[(i + j) % vectors] * tap_im;
                    im[j] += y[(i + j) % vectors] * tap_re;
                }
            }
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) {
        ((Lanes *)to)[j] = re[j];
        ((Lanes *)(to + to_half))[j] = im[j];
    }
}

static void correlate(double *to, size_t to_pitch, const double *from, size_t from_pitch,
                      const double *taps, size_t count, size_t rows, size_t n, bool add)
{
    for (size_t f = 0; f < n; f++) {
        size_t at = 0, step = CORRELATE_VECTORS * LANES_f64;
        for (; at + step <= rows; at += step)
            correlate_some(to + at, to_pitch / 2, from + at, from_pitch / 2, taps, count, add,
                           CORRELATE_VECTORS);
        for (; at < rows; at += LANES_f64)
            correlate_some(to + at, to_pitch / 2, from + at, from_pitch / 2, taps, count, add, 1);
        to += to_pitch;
        from += from_pitch;
        taps += 2 * count;
    }
}
