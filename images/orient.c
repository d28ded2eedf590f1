/* A turned picture is the stored one gone through with other steps: the shown pixel (x, y) lies at
 * origin + x * step_x + y * step_y, where the origin is one of the stored picture's corners and the
 * steps are plus or minus one pixel or one stored row. Where x walks down the stored columns, the
 * walk is cut into tiles, so that each fetched cache line serves all rows of the band that need it.
 */
#include "images/orient.h"

#include <string.h>

enum { TILE = 64 };

/* By orientation - 1: EXIF 2.32 gives the corner where the stored row 0 and column 0 are shown. */
static const struct {
    bool from_right, from_bottom; /* the stored corner that is shown at the top left */
    bool columns;                 /* shown rows are stored columns */
} ways[8] = {
    {false, false, false}, {true, false, false}, {true, true, false}, {false, true, false},
    {false, false, true},  {false, true, true},  {true, true, true},  {true, false, true},
};

/* Copies the band's pixels of `size` bytes each. Always inline, so that the usual sizes become
 * constants and memcpy a plain move. */
__attribute__((always_inline)) static inline void copy_pixels(const unsigned char *first,
                                                              ptrdiff_t step_x, ptrdiff_t step_y,
                                                              const GfBand *band, size_t width,
                                                              size_t size)
{
    for (size_t x0 = 0; x0 < width; x0 += TILE) {
        size_t columns = gf_min(TILE, width - x0);
        for (size_t y = 0; y < band->rows; y++) {
            const unsigned char *from = first + (ptrdiff_t)x0 * step_x + (ptrdiff_t)y * step_y;
            unsigned char *to = (unsigned char *)band->samples + y * band->stride + x0 * size;
            for (size_t x = 0; x < columns; x++)
                memcpy(to + x * size, from + (ptrdiff_t)x * step_x, size);
        }
    }
}

void gf_orient_rows(const GfImage *stored, unsigned orientation, const GfBand *band)
{
    const GfFormat *format = &stored->format;
    size_t size = format->channels * gf_sample_size(format->sample);
    ptrdiff_t pixel = (ptrdiff_t)size, row = (ptrdiff_t)stored->stride;
    const unsigned char *first = stored->samples;
    if (ways[orientation - 1].from_right) {
        first += (format->width - 1) * size;
        pixel = -pixel;
    }
    if (ways[orientation - 1].from_bottom) {
        first += (format->height - 1) * stored->stride;
        row = -row;
    }
    bool columns = ways[orientation - 1].columns;
    ptrdiff_t step_x = columns ? row : pixel, step_y = columns ? pixel : row;
    size_t width = columns ? format->height : format->width;
    first += (ptrdiff_t)band->y0 * step_y;
    switch (size) {
    case 1:
        copy_pixels(first, step_x, step_y, band, width, 1);
        break;
    case 3:
        copy_pixels(first, step_x, step_y, band, width, 3);
        break;
    case 4:
        copy_pixels(first, step_x, step_y, band, width, 4);
        break;
    default:
        copy_pixels(first, step_x, step_y, band, width, size);
    }
}

void gf_orient_mirror(const GfFormat *format, const GfBand *band)
{
    enum { LARGEST_PIXEL = 4 * 8 }; /* only PNG and JPEG have an orientation: 4 channels at most */
    size_t size = format->channels * gf_sample_size(format->sample);
    for (size_t y = 0; y < band->rows; y++) {
        unsigned char *left = (unsigned char *)band->samples + y * band->stride;
        unsigned char *right = left + (format->width - 1) * size;
        for (; left < right; left += size, right -= size) {
            unsigned char pixel[LARGEST_PIXEL];
            memcpy(pixel, left, size);
            memcpy(left, right, size);
            memcpy(right, pixel, size);
        }
    }
}
