/* A pixel is made of the one left of it, so they are done one after the other, the bytes of each at
 * once: a vector of 16-bit numbers, as SSE2 has it, which every x86-64 has; and of Paeth's filter,
 * which takes longest and which most rows of photographs have, two rows at a time. */
#include "images/png_unfilter.h"

#include <stdint.h>
#include <string.h>

enum { NONE, SUB, UP, AVERAGE, PAETH };

#ifdef __SSE2__
#include <emmintrin.h>

/* So that `pixel` is known when compiling. */
#define INLINE static inline __attribute__((always_inline))

/* Bytes of a pixel, and maybe some behind it. */
INLINE __m128i load(const unsigned char *from, size_t pixel)
{
    uint64_t bytes = 0;
    memcpy(&bytes, from, pixel == 3 ? 4 : pixel == 6 ? 8 : pixel);
    return _mm_cvtsi64_si128((int64_t)bytes);
}

INLINE void store(unsigned char *to, __m128i pixels, size_t pixel)
{
    const int64_t bytes = _mm_cvtsi128_si64(pixels);
    memcpy(to, &bytes, pixel);
}

INLINE void undo_sub(unsigned char *row, size_t size, size_t pixel)
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
INLINE void undo_average(unsigned char *row, const unsigned char *above, size_t size, size_t pixel)
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

INLINE __m128i magnitude(__m128i v)
{
    return _mm_max_epi16(v, _mm_sub_epi16(_mm_setzero_si128(), v));
}

INLINE __m128i choose(__m128i which, __m128i yes, __m128i no)
{
    return _mm_or_si128(_mm_and_si128(which, yes), _mm_andnot_si128(which, no));
}

/* The pixel, as 16-bit numbers, from its filtered bytes. */
INLINE __m128i undo_paeth(__m128i filtered, __m128i left, __m128i up, __m128i corner)
{
    const __m128i own = _mm_unpacklo_epi8(filtered, _mm_setzero_si128());
    const __m128i down = _mm_sub_epi16(up, corner), across = _mm_sub_epi16(left, corner);
    const __m128i to_left = magnitude(down), to_up = magnitude(across);
    const __m128i to_corner = magnitude(_mm_add_epi16(down, across));
    const __m128i least = _mm_min_epi16(to_corner, _mm_min_epi16(to_left, to_up));
    const __m128i other = choose(_mm_cmpeq_epi16(least, to_up), up, corner);
    return _mm_add_epi8(own, choose(_mm_cmpeq_epi16(least, to_left), left, other));
}

INLINE void undo_paeths(unsigned char *row, const unsigned char *above, size_t size, size_t pixel)
{
    __m128i left = _mm_setzero_si128(), corner = left;
    for (size_t i = 0; i < size; i += pixel) {
        const __m128i up = _mm_unpacklo_epi8(load(above + i, pixel), _mm_setzero_si128());
        left = undo_paeth(load(row + i, pixel), left, up, corner);
        corner = up;
        store(row + i, _mm_packus_epi16(left, left), pixel);
    }
}

/* Two rows of pixels of up to four bytes, the second a pixel behind the first: vectors are of a
 * pixel of each. So the second one's pixels above and left of that are what the vector before had
 * for the first. */
typedef struct Two {
    __m128i made, corner;
} Two;

INLINE __m128i undo_next(Two *two, __m128i first, __m128i second, __m128i above)
{
    const __m128i filtered = _mm_unpacklo_epi32(first, second);
    const __m128i wide = _mm_unpacklo_epi8(above, _mm_setzero_si128());
    const __m128i up = _mm_unpacklo_epi64(wide, two->made);
    two->made = undo_paeth(filtered, two->made, up, two->corner);
    two->corner = up;
    return _mm_packus_epi16(two->made, two->made);
}

INLINE void undo_two_paeths(unsigned char *row, unsigned char *below, const unsigned char *above,
                            size_t size, size_t pixel)
{
    const __m128i zero = _mm_setzero_si128();
    Two two = {zero, zero};
    __m128i made = undo_next(&two, load(row, pixel), zero, load(above, pixel));
    store(row, made, pixel);
    for (size_t i = pixel; i < size; i += pixel, below += pixel) {
        made = undo_next(&two, load(row + i, pixel), load(below, pixel), load(above + i, pixel));
        store(row + i, made, pixel);
        store(below, _mm_srli_epi64(made, 32), pixel);
    }
    made = undo_next(&two, zero, load(below, pixel), zero);
    store(below, _mm_srli_epi64(made, 32), pixel);
}

/* Of the first row, or of the first two; returns of how many. */
INLINE size_t undo(unsigned char *line, size_t count, size_t size, size_t pixel)
{
    unsigned char *const row = line + 1, *const below = row + size + 1;
    const unsigned char *const above = row - size - 1;
    const bool two = pixel <= 4 && count > 1 && line[0] == PAETH && below[-1] == PAETH;
    if (line[0] == SUB)
        undo_sub(row, size, pixel);
    else if (line[0] == UP)
        undo_up(row, above, size);
    else if (line[0] == AVERAGE)
        undo_average(row, above, size, pixel);
    else if (two)
        undo_two_paeths(row, below, above, size, pixel);
    else if (line[0] == PAETH)
        undo_paeths(row, above, size, pixel);
    if (line[0] <= PAETH)
        line[0] = NONE;
    if (two)
        below[-1] = NONE;
    return two ? 2 : 1;
}

bool gf_png_unfilters(void)
{
    return true;
}

void gf_png_unfilter(unsigned char *lines, size_t count, size_t size, size_t pixel)
{
    for (size_t y = 0; y < count;) {
        unsigned char *line = lines + y * (size + 1);
        if (pixel == 1)
            y += undo(line, count - y, size, 1);
        else if (pixel == 2)
            y += undo(line, count - y, size, 2);
        else if (pixel == 3)
            y += undo(line, count - y, size, 3);
        else if (pixel == 4)
            y += undo(line, count - y, size, 4);
        else if (pixel == 6)
            y += undo(line, count - y, size, 6);
        else
            y += undo(line, count - y, size, 8);
    }
}

#else

bool gf_png_unfilters(void)
{
    return false;
}

void gf_png_unfilter(unsigned char *lines, size_t count, size_t size, size_t pixel)
{
    (void)lines, (void)count, (void)size, (void)pixel;
}

#endif
