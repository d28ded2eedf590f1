/* Geometry alone, so that what draws the tiles may hold a row of them, or the whole sheet. */
#include "images/sheet.h"

#include <math.h>

/* margin + count * (side + margin) */
static bool side_of(size_t count, size_t side, size_t margin, size_t *pixels)
{
    return gf_add(side, margin, pixels) && gf_mul(*pixels, count, pixels) &&
           gf_add(*pixels, margin, pixels);
}

GfStatus gf_sheet_plan(size_t tiles, size_t columns, size_t tile_width, size_t tile_height,
                       size_t margin, GfSheet *sheet)
{
    size_t bytes;
    if (columns == 0)
        for (columns = 1; columns * columns < tiles;)
            columns++;
    columns = gf_min(columns, tiles);
    *sheet = (GfSheet){.tiles = tiles,
                       .columns = columns,
                       .rows = (tiles + columns - 1) / columns,
                       .tile_width = tile_width,
                       .tile_height = tile_height,
                       .margin = margin};
    if (!side_of(sheet->columns, tile_width, margin, &sheet->width) ||
        !side_of(sheet->rows, tile_height, margin, &sheet->height) ||
        !gf_mul(sheet->width, 3 * sizeof(double), &bytes))
        return gf_fail(GF_ELIMIT, "a sheet of %zu tiles of %zu x %zu pixels is too large", tiles,
                       tile_width, tile_height);
    return GF_OK;
}

void gf_sheet_place(const GfSheet *sheet, size_t tile, size_t width, size_t height, size_t *x,
                    size_t *y)
{
    *x = sheet->margin + tile % sheet->columns * (sheet->tile_width + sheet->margin) +
         (sheet->tile_width - width) / 2;
    *y = sheet->margin + tile / sheet->columns * (sheet->tile_height + sheet->margin) +
         (sheet->tile_height - height) / 2;
}

void gf_sheet_store(void *row, size_t i, GfSample sample, double value)
{
    double white = gf_sample_max(sample);
    double limited = value > 0.0 ? fmin(nearbyint(value), white) : 0.0; /* NaN becomes 0 */
    if (sample == GF_U8)
        ((uint8_t *)row)[i] = (uint8_t)limited;
    else
        ((uint16_t *)row)[i] = (uint16_t)limited;
}
