/* Tiles are drawn a row of them at a time, straight from the responses, so that beside these no
 * whole picture is in memory. Where outputs have opacity the gray of the margins shows through. */
#include "app/montage.h"

#include <math.h>
#include <stdlib.h>

/* Channels of a tile of the output, and with that how many tiles it has. */
static size_t tile_channels(const GfFormat *format)
{
    size_t colours = format->channels - (format->has_alpha ? 1 : 0);
    return colours == 3 ? 3 : 1;
}

static size_t tiles_of(const GfFormat *format)
{
    size_t colours = format->channels - (format->has_alpha ? 1 : 0);
    return colours / tile_channels(format);
}

static GfStatus list_tiles(const GfFormat *const *formats, size_t filters, GfMontage *montage,
                           size_t *count)
{
    size_t all = 0;
    for (size_t f = 0; f < filters; f++)
        all += tiles_of(formats[f]);
    GF_TRY(gf_allocate(all, sizeof *montage->tiles, &montage->tiles));
    *count = 0;
    for (size_t f = 0; f < filters; f++)
        for (size_t i = 0; i < tiles_of(formats[f]); i++)
            montage->tiles[(*count)++] = (GfMontageTile){f, i, tile_channels(formats[f])};
    return GF_OK;
}

GfStatus gf_montage_plan(const GfOptions *options, const GfFormat *in,
                         const GfFormat *const *formats, size_t filters, GfSample sample,
                         GfMontage *montage)
{
    size_t count, width = 1, height = 1, channels = 1;
    GfStatus status;
    *montage =
        (GfMontage){.scale = options->montage_scale ? options->montage_scale : GF_MONTAGE_MAP};
    GF_GO(list_tiles(formats, filters, montage, &count));
    for (size_t f = 0; f < filters; f++) {
        width = gf_max(width, formats[f]->width);
        height = gf_max(height, formats[f]->height);
        channels = gf_max(channels, tile_channels(formats[f]));
    }
    GF_GO(gf_sheet_plan(count, options->montage_columns, width, height, GF_SHEET_MARGIN,
                        &montage->sheet));
    montage->format =
        (GfFormat){montage->sheet.width, montage->sheet.height, channels, false, sample};
    /* Floats keep the numbers that opacity has in the input. */
    montage->white = gf_sample_max(gf_sample_is_float(formats[0]->sample) ? in->sample : sample);
done:
    if (status != GF_OK)
        gf_montage_free(montage);
    return status;
}

/* A row of tiles while it is drawn. */
typedef struct Strip {
    const GfMontage *montage;
    size_t y0, rows, stride;
    unsigned char *samples;
} Strip;

static void fill_gray(const Strip *strip)
{
    const GfFormat *format = &strip->montage->format;
    for (size_t y = 0; y < strip->rows; y++)
        for (size_t i = 0; i < gf_row_samples(format); i++)
            gf_sheet_store(strip->samples + y * strip->stride, i, format->sample,
                           gf_sample_middle(format->sample));
}

/* Sample `channel` of a pixel of an output as it is on the sheet. */
static double tile_sample(const GfMontage *montage, const GfFormat *from, const GfStretch *stretch,
                          const void *row, size_t x, size_t channel)
{
    GfSample sample = montage->format.sample;
    size_t pixel = x * from->channels;
    double value = gf_sample_at(row, pixel + channel, from->sample);
    if (montage->scale != GF_MONTAGE_NONE)
        value = gf_stretch_sample(stretch, value, sample);
    if (!from->has_alpha)
        return value;
    double alpha = gf_sample_at(row, pixel + from->channels - 1, from->sample) / montage->white;
    alpha = fmin(fmax(alpha, 0.0), 1.0); /* of responses, which may lie beyond */
    return value * alpha + gf_sample_middle(sample) * (1.0 - alpha);
}

static void draw_tile(const Strip *strip, size_t number, const GfImage *image,
                      const GfStretch *stretch)
{
    const GfMontage *montage = strip->montage;
    const GfMontageTile *tile = &montage->tiles[number];
    size_t channels = montage->format.channels, left, top;
    gf_sheet_place(&montage->sheet, number, image->format.width, image->format.height, &left, &top);
    for (size_t y = 0; y < image->format.height; y++) {
        const unsigned char *from = (const unsigned char *)image->samples + y * image->stride;
        unsigned char *to = strip->samples + (top - strip->y0 + y) * strip->stride;
        for (size_t x = 0; x < image->format.width; x++)
            for (size_t c = 0; c < channels; c++)
                gf_sheet_store(to, (left + x) * channels + c, montage->format.sample,
                               tile_sample(montage, &image->format, stretch, from, x,
                                           tile->first + (tile->channels > 1 ? c : 0)));
    }
}

/* The range of all tiles together. */
static GfStretch common_stretch(const GfMontage *montage, const GfHeld *held)
{
    GfStretch stretch = gf_stretch_none();
    for (size_t i = 0; i < montage->sheet.tiles; i++) {
        const GfMontageTile *tile = &montage->tiles[i];
        gf_stretch_widen_held(&stretch, held, tile->filter, tile->first, tile->channels);
    }
    return stretch;
}

static GfStatus write_strip(const GfMontage *montage, const GfHeld *held, GfStretch common,
                            Strip *strip, size_t row, GfWriter *writer)
{
    const GfSheet *sheet = &montage->sheet;
    size_t first = row * sheet->columns, end = gf_min(first + sheet->columns, sheet->tiles);
    strip->y0 = row * (sheet->tile_height + sheet->margin);
    strip->rows = sheet->margin + sheet->tile_height + (end == sheet->tiles ? sheet->margin : 0);
    fill_gray(strip);
    for (size_t i = first; i < end; i++) {
        const GfMontageTile *tile = &montage->tiles[i];
        const GfImage *image = &held->images[tile->filter];
        GfStretch stretch = common;
        if (montage->scale == GF_MONTAGE_MAP)
            gf_stretch_widen_held(&stretch, held, tile->filter, tile->first, tile->channels);
        draw_tile(strip, i, image, &stretch);
    }
    GfBand band = {strip->y0, strip->rows, strip->stride, strip->samples};
    return gf_writer_rows(writer, 0, &band);
}

GfStatus gf_montage_write(const GfMontage *montage, const GfHeld *held, GfWriter *writer)
{
    const GfSheet *sheet = &montage->sheet;
    GfStretch common = gf_stretch_none();
    Strip strip = {.montage = montage, .stride = gf_row_stride(&montage->format)};
    GfStatus status;
    if (montage->scale == GF_MONTAGE_COMMON)
        common = common_stretch(montage, held);
    GF_GO(gf_allocate(sheet->tile_height + 2 * sheet->margin, strip.stride, &strip.samples));
    for (size_t row = 0; row < sheet->rows; row++)
        GF_GO(write_strip(montage, held, common, &strip, row, writer));
done:
    free(strip.samples);
    return status;
}

void gf_montage_free(GfMontage *montage)
{
    free(montage->tiles);
    *montage = (GfMontage){0};
}
