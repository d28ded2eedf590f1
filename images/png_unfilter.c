/* A pixel is made of the one left of it, so they are done one after the other, the bytes of each at once: a vector
 * of 16-bit numbers, as SSE2 has it, which every x86-64 has. */
#include "images/png_unfilter.h"

#include <stdint.h>
#include <string.h>

enum { NONE, SUB, UP, AVERAGE, PAETH };

#ifdef __SSE2__
#include <emmintrin.h>

/* Bytes of a pixel, and maybe some behind it. */
static inline __m128i load(const unsigned char *from, size_t pixel)
{
    uint64_t bytes = 0;
    memcpy(&bytes, from, pixel == 3 ? 4 : pixel == 6 ? 8 : pixel);
    return _mm_cvtsi64_si128((int64_t)bytes);
}

static inline void store(unsigned char *to, __m128i pixels, size_t pixel)
{
    const int64_t bytes = _mm_cvtsi128_si64(pixels);
    memcpy(to, &bytes, pixel);
}

static inline void undo_sub(unsigned char *row, size_t size, size_t pixel)
{
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < size; i += pixel) {
        left = _mm_add_epi8(left, load(row + i, pixel));
        store(row + i, left, pixel);
    }
}

static void undo_up(unsigned char *restrict row, const unsigned char *restrict above, size_t size)
{
    for (size_t i = 0; i < size; i++)
        row[i] = (unsigned char)(row[i] + above[i]);
}

/* The mean is rounded down, SSE2's up. */
static inline void undo_average(unsigned char *row, const unsigned char *above, size_t size,
                                size_t pixel)
{
    const __m128i one = _mm_set1_epi8(1);
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < size; i += pixel) {
        const __m128i up = load(above + i, pixel);
        const __m128i odd = _mm_and_si128(_mm_xor_si128(left, up), one);
        const __m128i mean = _mm_sub_epi8(_mm_avg_epu8(left, up), odd);
        left = _mm_add_epi8(load(row + i, pixel), mean);
        store(row + i, left, pixel);
    }
}

static inline __m128i magnitude(__m128i v)
{
    return _mm_max_epi16(v, _mm_sub_epi16(_mm_setzero_si128(), v));
}

static inline __m128i choose(__m128i which, __m128i yes, __m128i no)
{
    return _mm_or_si128(_mm_and_si128(which, yes), _mm_andnot_si128(which, no));
}

static inline void undo_paeth(unsigned char *row, const unsigned char *above, size_t size,
                              size_t pixel)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i left = zero, corner = zero;
    for (size_t i = 0; i < size; i += pixel) {
        const __m128i up = _mm_unpacklo_epi8(load(above + i, pixel), zero);
        const __m128i own = _mm_unpacklo_epi8(load(row + i, pixel), zero);
        const __m128i down = _mm_sub_epi16(up, corner), across = _mm_sub_epi16(left, corner);
        const __m128i to_left = magnitude(down), to_up = magnitude(across);
        const __m128i to_corner = magnitude(_mm_add_epi16(down, across));
        const __m128i least = _mm_min_epi16(to_corner, _mm_min_epi16(to_left, to_up));
        const __m128i other = choose(_mm_cmpeq_epi16(least, to_up), up, corner);
        const __m128i nearest = choose(_mm_cmpeq_epi16(least, to_left), left, other);
        left = _mm_add_epi8(own, nearest);
        corner = up;
        store(row + i, _mm_packus_epi16(left, left), pixel);
    }
}

/* `pixel` is known when compiling. */
static inline void undo(int filter, unsigned char *row, const unsigned char *above, size_t size,
                        size_t pixel)
{
    if (filter == SUB)
        undo_sub(row, size, pixel);
    else if (filter == AVERAGE)
        undo_average(row, above, size, pixel);
    else if (filter == PAETH)
        undo_paeth(row, above, size, pixel);
}

bool gf_png_unfilters(void)
{
    return true;
}

void gf_png_unfilter(unsigned char *row, const unsigned char *above, size_t size, size_t pixel)
{
    const int filter = *row;
    if (filter > PAETH)
        return;
    *row++ = NONE;
    above++;
    if (filter == UP)
        undo_up(row, above, size);
    else if (pixel == 1)
        undo(filter, row, above, size, 1);
    else if (pixel == 2)
        undo(filter, row, above, size, 2);
    else if (pixel == 3)
        undo(filter, row, above, size, 3);
    else if (pixel == 4)
        undo(filter, row, above, size, 4);
    else if (pixel == 6)
        undo(filter, row, above, size, 6);
    else
        undo(filter, row, above, size, 8);
}

#else

bool gf_png_unfilters(void)
{
    return false;
}

void gf_png_unfilter(unsigned char *row, const unsigned char *above, size_t size, size_t pixel)
{
    (void)row, (void)above, (void)size, (void)pixel;
}

#endif
