/* The filters' formulas are the standard's; all of a row's differences are independent of each
 * other when they are made (not when they are undone), so the loops below become vector code.
 *
 * One filter serves all rows of a strip: deflate's codes cost least where one kind of numbers is in
 * a block. It is chosen by the entropy of what the filters make of a few rows, which says nearly
 * what Huffman's codes will need. Least sums of absolute differences row by row, the usual way, are
 * as good for photographs, but take longer, and keep masks and drawings from being left as they
 * are. */
#include "images/png_filter.h"

#include <math.h>
#include <string.h>

enum { SAMPLED = 16 /* one row of so many */ };

/* Bits that a byte takes at least: codes have no half bits, but runs take less than one a byte. */
static const double least_bits = 0.5;

typedef void Filter(const uint8_t *restrict row, const uint8_t *restrict above, size_t bytes,
                    size_t pixel, uint8_t *restrict out);

static void none(const uint8_t *restrict row, const uint8_t *restrict above, size_t bytes,
                 size_t pixel, uint8_t *restrict out)
{
    (void)above;
    (void)pixel;
    memcpy(out, row, bytes);
}

static void sub(const uint8_t *restrict row, const uint8_t *restrict above, size_t bytes,
                size_t pixel, uint8_t *restrict out)
{
    (void)above;
    memcpy(out, row, pixel);
    for (size_t i = pixel; i < bytes; i++)
        out[i] = (uint8_t)(row[i] - row[i - pixel]);
}

static void up(const uint8_t *restrict row, const uint8_t *restrict above, size_t bytes,
               size_t pixel, uint8_t *restrict out)
{
    (void)pixel;
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(row[i] - above[i]);
}

static void average(const uint8_t *restrict row, const uint8_t *restrict above, size_t bytes,
                    size_t pixel, uint8_t *restrict out)
{
    for (size_t i = 0; i < pixel; i++)
        out[i] = (uint8_t)(row[i] - above[i] / 2);
    for (size_t i = pixel; i < bytes; i++) {
        unsigned a = row[i - pixel], b = above[i];
        out[i] = (uint8_t)(row[i] - ((a & b) + ((a ^ b) >> 1)));
    }
}

static inline int16_t distance(int a, int b)
{
    int16_t d = (int16_t)(a - b);
    return d < 0 ? (int16_t)-d : d;
}

/* Of left, above and above left the one nearest to left + above - above left; 16 bits are
 * enough. */
static inline __attribute__((always_inline)) void predict(const uint8_t *restrict row,
                                                          const uint8_t *restrict above,
                                                          size_t bytes, size_t pixel,
                                                          uint8_t *restrict out)
{
    for (size_t i = 0; i < pixel; i++)
        out[i] = (uint8_t)(row[i] - above[i]);
    for (size_t i = pixel; i < bytes; i++) {
        int16_t a = row[i - pixel], b = above[i], c = above[i - pixel];
        int16_t to_a = distance(b, c), to_b = distance(a, c), to_c = distance(a + b, 2 * c);
        int16_t nearer = to_b <= to_c ? b : c, least = to_b <= to_c ? to_b : to_c;
        out[i] = (uint8_t)(row[i] - (to_a <= least ? a : nearer));
    }
}

static void paeth(const uint8_t *restrict row, const uint8_t *restrict above, size_t bytes,
                  size_t pixel, uint8_t *restrict out)
{
    predict(row, above, bytes, pixel, out);
}

#ifdef __x86_64__
/* The same in half the time. */
static __attribute__((target("avx2"))) void paeth_avx2(const uint8_t *restrict row,
                                                       const uint8_t *restrict above, size_t bytes,
                                                       size_t pixel, uint8_t *restrict out)
{
    predict(row, above, bytes, pixel, out);
}
#endif

static Filter *find_filter(unsigned filter)
{
    static Filter *const filters[GF_PNG_FILTERS] = {none, sub, up, average, paeth};
#ifdef __x86_64__
    if (filters[filter] == paeth && __builtin_cpu_supports("avx2"))
        return paeth_avx2;
#endif
    return filters[filter];
}

static double entropy(const uint32_t *counts, double total)
{
    double bits = 0.0;
    for (size_t i = 0; i < 256; i++)
        if (counts[i])
            bits += counts[i] * fmax(log2(total / counts[i]), least_bits);
    return bits;
}

unsigned gf_png_filter_choose(const GfPngRows *rows, uint8_t *scratch)
{
    double least = INFINITY;
    unsigned best = 0;
    size_t bytes = rows->row_bytes;
    for (unsigned filter = 0; filter < GF_PNG_FILTERS; filter++) {
        Filter *const make = find_filter(filter);
        uint32_t counts[256] = {0};
        size_t sampled = 0;
        for (size_t y = rows->count / 2 % SAMPLED; y < rows->count; y += SAMPLED, sampled++) {
            const uint8_t *above = rows->above + y * bytes;
            make(above + bytes, above, bytes, rows->pixel_bytes, scratch);
            for (size_t i = 0; i < bytes; i++)
                counts[scratch[i]]++;
        }
        double bits = entropy(counts, (double)sampled * (double)bytes);
        if (bits < least) {
            least = bits;
            best = filter;
        }
    }
    return best;
}

void gf_png_filter(const GfPngRows *rows, unsigned filter, uint8_t *out)
{
    Filter *const make = find_filter(filter);
    const uint8_t *above = rows->above;
    size_t bytes = rows->row_bytes;
    for (size_t y = 0; y < rows->count; y++, above += bytes) {
        *out++ = (uint8_t)filter;
        make(above + bytes, above, bytes, rows->pixel_bytes, out);
        out += bytes;
    }
}
