/* Blocks are whole pixels: the page can then say what a pixel of it stands for, and no pixel counts
 * for more than another. */
#include "app/view.h"

#include <math.h>

#include "images/sheet.h"

enum { MAX_COLOURS = 3 };

GfView gf_view_make(const GfFormat *format, size_t channel, double opaque)
{
    size_t colours = format->channels - (format->has_alpha ? 1 : 0);
    bool usual = colours == 1 || colours == MAX_COLOURS;
    GfView view = {.colours = usual ? colours : 1, .opaque = opaque};
    view.first = usual ? 0 : gf_min(channel, colours - 1);
    view.stretch = gf_sample_is_float(format->sample)
                       ? gf_stretch_none()
                       : (GfStretch){0.0, gf_sample_max(format->sample), 0.0};
    return view;
}

/* A pixel of the drawing while its block is gone through. */
typedef struct Pixel {
    double colours[MAX_COLOURS];
    double alpha;
} Pixel;

static double limit(double value)
{
    return fmin(fmax(value, 0.0), gf_sample_max(GF_U8)); /* NaN becomes 0 */
}

static void take_pixel(const GfView *view, const GfFormat *format, const void *row, size_t x,
                       Pixel *pixel)
{
    size_t at = x * format->channels;
    double alpha = 1.0;
    if (format->has_alpha)
        alpha = limit(gf_sample_at(row, at + format->channels - 1, format->sample) / view->opaque *
                      gf_sample_max(GF_U8)) /
                gf_sample_max(GF_U8);
    for (size_t c = 0; c < view->colours; c++) {
        double value = gf_sample_at(row, at + view->first + c, format->sample);
        value = limit(gf_stretch_sample(&view->stretch, value, GF_U8));
        double *sum = &pixel->colours[c];
        *sum = view->peaks ? fmax(*sum, value) : *sum + alpha * value;
    }
    pixel->alpha += alpha;
}

/* `region` is the pixel's block. */
static void draw_pixel(const GfView *view, const GfImage *image, const GfRegion *region,
                       unsigned char *to)
{
    Pixel pixel = {0};
    for (size_t y = region->y; y < region->y + region->height; y++)
        for (size_t x = region->x; x < region->x + region->width; x++)
            take_pixel(view, &image->format,
                       (const unsigned char *)image->samples + y * image->stride, x, &pixel);
    double weight = view->peaks ? 1.0 : pixel.alpha;
    for (size_t c = 0; c < view->colours; c++)
        gf_sheet_store(to, c, GF_U8, weight > 0.0 ? pixel.colours[c] / weight : 0.0);
    if (image->format.has_alpha)
        gf_sheet_store(to, view->colours, GF_U8,
                       pixel.alpha / (double)(region->width * region->height) *
                           gf_sample_max(GF_U8));
}

GfStatus gf_view_draw(const GfView *view, const GfImage *image, const GfRegion *region,
                      size_t block, GfImage *out)
{
    bool alpha = image->format.has_alpha;
    const GfFormat format = {(region->width - 1) / block + 1, (region->height - 1) / block + 1,
                             view->colours + (alpha ? 1 : 0), alpha, GF_U8};
    GF_TRY(gf_image_allocate(&format, out));
    for (size_t y = 0; y < format.height; y++)
        for (size_t x = 0; x < format.width; x++) {
            unsigned char *row = (unsigned char *)out->samples + y * out->stride;
            GfRegion part = {region->x + x * block, region->y + y * block, block, block};
            part.width = gf_min(block, region->width - x * block);
            part.height = gf_min(block, region->height - y * block);
            draw_pixel(view, image, &part, row + x * format.channels);
        }
    return GF_OK;
}
