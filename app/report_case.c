/* Thumbnails of inputs and outputs are means, those of differences maxima: a single sample that
 * differs must not vanish. Both outputs have one black and one white. */
#include "app/report_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "app/report_histogram.h"
#include "app/view.h"

/* Longest side of a thumbnail; sides of the part shown pixel by pixel; below SMALL pixels are drawn
 * as squares. */
enum { LONGEST = 1000, CROP = 128, SMALL = 480, LETTER = 'A' };

void gf_report_number(GfHtml *html, const char *format, double value)
{
    char text[64];
    if (isfinite(value))
        snprintf(text, sizeof text, format, value);
    else
        snprintf(text, sizeof text, "%s", value > 0 ? "∞" : value < 0 ? "−∞" : "NaN");
    gf_html_print(html, "%s", text);
}

static const char *colours_of(const GfFormat *format)
{
    size_t colours = format->channels - (format->has_alpha ? 1 : 0);
    return colours == 1 ? "gray" : colours == 3 ? "RGB" : NULL;
}

void gf_report_format(GfHtml *html, const GfFormat *format)
{
    const char *colours = colours_of(format);
    gf_html_print(html, "%zu × %zu pixels, ", format->width, format->height);
    if (colours)
        gf_html_print(html, "%s", colours);
    else
        gf_html_print(html, "%zu channels", format->channels);
    gf_html_print(html, "%s, ", format->has_alpha ? " with opacity" : "");
    if (gf_sample_is_float(format->sample))
        gf_html_print(html, "floats (%s)", gf_sample_name(format->sample));
    else
        gf_html_print(html, "%zu bits", 8 * gf_sample_size(format->sample));
}

/* ---- pictures ---- */

/* What the pictures of one comparison have in common. */
typedef struct Gallery {
    GfHtml *html;
    const GfWriteOptions *options;
    GfRegion region; /* of the output that is shown */
    size_t block;
    const GfRegion *marked; /* outlined; NULL: nothing is */
} Gallery;

static size_t block_of(const GfFormat *format)
{
    return (gf_max(format->width, format->height) - 1) / LONGEST + 1;
}

static void put_marker(const Gallery *gallery)
{
    const GfRegion *whole = &gallery->region, *marked = gallery->marked;
    gf_html_print(gallery->html,
                  "<svg viewBox=\"0 0 %zu %zu\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                  "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\"/></svg>",
                  whole->width, whole->height, marked->x, marked->y, marked->width, marked->height);
}

/* The picture as far as its caption; `which` and `name` are what it shows. */
static void put_picture(const Gallery *gallery, const GfView *view, const GfImage *image,
                        const char *which, const char *name)
{
    GfHtml *html = gallery->html;
    GfImage drawn;
    GfStatus status = gf_view_draw(view, image, &gallery->region, gallery->block, &drawn);
    if (status != GF_OK) {
        gf_error_save(&html->error, status);
        return;
    }
    size_t width = drawn.format.width, height = drawn.format.height;
    gf_html_print(html, "<figure data-of=\"%s\"><div class=\"frame\"><img class=\"%s\" ", which,
                  gf_max(width, height) < SMALL ? "squares" : "smooth");
    gf_html_print(html, "width=\"%zu\" height=\"%zu\" alt=\"%s", width, height, which);
    if (name) {
        gf_html_print(html, ": ");
        gf_html_text(html, name);
    }
    gf_html_print(html, "\" src=\"");
    gf_html_picture(html, &drawn, gallery->options);
    gf_html_print(html, "\">");
    if (gallery->marked)
        put_marker(gallery);
    gf_html_print(html, "</div><figcaption><b>%s</b> ", which);
    if (name)
        gf_html_text(html, name);
    gf_image_free(&drawn);
}

static void end_caption(const Gallery *gallery)
{
    if (gallery->block > 1)
        gf_html_print(gallery->html, "<br>reduced %zu × %zu to one", gallery->block,
                      gallery->block);
    gf_html_print(gallery->html, "</figcaption></figure>\n");
}

static void put_view(const Gallery *gallery, const GfView *view, const GfFormat *format)
{
    if (!colours_of(format))
        gf_html_print(gallery->html, "<br>channel %zu of %zu", view->first + 1, format->channels);
    if (gf_sample_is_float(format->sample)) {
        if (view->stretch.high > view->stretch.low)
            gf_html_print(gallery->html, "<br>black is %.5g, white is %.5g", view->stretch.low,
                          view->stretch.high);
        else
            gf_html_print(gallery->html, "<br>gray: its numbers have no range");
    } else if (format->sample != GF_U8) {
        gf_html_print(gallery->html, "<br>shown with 8 of its %zu bits",
                      8 * gf_sample_size(format->sample));
    }
}

static void put_input(const Gallery *gallery, const GfImage *input)
{
    const GfFormat *format = &input->format;
    Gallery own = *gallery;
    double opaque = gf_sample_max(format->sample);
    GfView view = gf_view_make(format, 0, opaque);
    own.region = (GfRegion){0, 0, format->width, format->height};
    own.block = block_of(format);
    own.marked = NULL;
    if (gf_sample_is_float(format->sample))
        gf_stretch_widen(&view.stretch, input, view.first, view.colours);
    put_picture(&own, &view, input, "Input", NULL);
    gf_report_format(gallery->html, format);
    put_view(&own, &view, format);
    end_caption(&own);
}

static GfView view_of_outputs(const GfReportCase *compared)
{
    const GfFormat *format = &compared->sides[0].image->format;
    GfView view = gf_view_make(format, compared->figures->channel, compared->opaque);
    for (size_t i = 0; i < 2 && gf_sample_is_float(format->sample); i++)
        gf_stretch_widen(&view.stretch, compared->sides[i].image, view.first, view.colours);
    return view;
}

static void put_outputs(const Gallery *gallery, const GfView *view, const GfReportCase *compared)
{
    Gallery own = *gallery;
    own.marked = NULL;
    for (int i = 0; i < 2; i++) {
        const GfReportSide *side = &compared->sides[i];
        const char letter[] = {(char)(LETTER + i), '\0'};
        put_picture(&own, view, side->image, letter, side->name);
        put_view(&own, view, &side->image->format);
        end_caption(&own);
    }
}

static void put_difference(const Gallery *gallery, const GfView *outputs, const GfImage *picture,
                           const GfReportCase *compared)
{
    GfHtml *html = gallery->html;
    const GfFormat *format = &compared->sides[0].image->format;
    double largest = compared->figures->largest;
    GfView view = gf_view_make(&picture->format, 0, 1.0);
    view.peaks = true;
    put_picture(gallery, &view, picture, "Difference", NULL);
    if (largest > 0)
        gf_html_print(html, "white is ");
    if (largest > 0)
        gf_report_number(html, "%.6g", largest);
    else
        gf_html_print(html, "none: the outputs are equal");
    double amplified = (outputs->stretch.high - outputs->stretch.low) / largest;
    if (isfinite(amplified) && amplified > 0)
        gf_html_print(html, ", amplified %.4g times", amplified);
    if (!colours_of(format))
        gf_html_print(html, "<br>the largest of all channels");
    else if (format->has_alpha)
        gf_html_print(html, "<br>of colours and opacity");
    if (gallery->block > 1)
        gf_html_print(html, "<br>the largest of each %zu × %zu", gallery->block, gallery->block);
    gf_html_print(html, "</figcaption></figure>\n");
}

/* A part of the picture with the largest difference in its middle, as far as the edges allow. */
static GfRegion crop_of(const GfFormat *format, const GfFigures *figures)
{
    GfRegion region = {.width = gf_min(CROP, format->width),
                       .height = gf_min(CROP, format->height)};
    region.x = gf_min(figures->x - gf_min(figures->x, CROP / 2), format->width - region.width);
    region.y = gf_min(figures->y - gf_min(figures->y, CROP / 2), format->height - region.height);
    return region;
}

static double value_at(const GfImage *image, const GfFigures *figures)
{
    const unsigned char *row = (const unsigned char *)image->samples + figures->y * image->stride;
    return gf_sample_at(row, figures->x * image->format.channels + figures->channel,
                        image->format.sample);
}

/* Where the largest difference is, and what is around it. */
static void put_crops(const Gallery *gallery, const GfView *view, const GfImage *difference,
                      const GfReportCase *compared)
{
    GfHtml *html = gallery->html;
    const GfFigures *figures = compared->figures;
    const GfFormat *format = &compared->sides[0].image->format;
    Gallery crop = *gallery;
    crop.region = crop_of(format, figures);
    crop.block = 1;
    crop.marked = NULL;
    gf_html_print(html, "<h4>The largest difference</h4>\n<p>At x = %zu, y = %zu", figures->x,
                  figures->y);
    if (format->channels > 1)
        gf_html_print(html, ", channel %zu", figures->channel + 1);
    for (int i = 0; i < 2; i++) {
        gf_html_print(html, "; %c is ", LETTER + i);
        gf_report_number(html, "%.9g", value_at(compared->sides[i].image, figures));
    }
    gf_html_print(html, ".");
    if (!gallery->marked) {
        gf_html_print(html, "</p>\n");
        return;
    }
    gf_html_print(html, " Shown pixel by pixel: columns %zu to %zu, rows %zu to %zu.</p>\n",
                  crop.region.x, crop.region.x + crop.region.width - 1, crop.region.y,
                  crop.region.y + crop.region.height - 1);
    gf_html_print(html, "<div class=\"pictures of3\">\n");
    put_outputs(&crop, view, compared);
    put_difference(&crop, view, difference, compared);
    gf_html_print(html, "</div>\n");
}

static void put_pictures(GfHtml *html, const GfReportCase *compared, const GfImage *input,
                         const GfWriteOptions *options)
{
    const GfFigures *figures = compared->figures;
    const GfFormat *format = &compared->sides[0].image->format;
    GfImage difference;
    GfRegion crop = crop_of(format, figures);
    Gallery gallery = {
        html, options, {0, 0, format->width, format->height}, block_of(format), NULL};
    GfView view = view_of_outputs(compared);
    GfStatus status = gf_compare_picture(compared->sides[0].image, compared->sides[1].image,
                                         figures->largest, &difference);
    if (status != GF_OK) {
        gf_error_save(&html->error, status);
        return;
    }
    if (figures->largest > 0 && (crop.width < format->width || crop.height < format->height))
        gallery.marked = &crop;
    gf_html_print(html, "<div class=\"pictures of%d\">\n", input ? 4 : 3);
    if (input)
        put_input(&gallery, input);
    put_outputs(&gallery, &view, compared);
    put_difference(&gallery, &view, &difference, compared);
    gf_html_print(html, "</div>\n");
    if (figures->largest > 0)
        put_crops(&gallery, &view, &difference, compared);
    gf_image_free(&difference);
}

/* ---- figures ---- */

static void put_figure(GfHtml *html, const char *name, const char *format, double value,
                       const char *unit)
{
    gf_html_print(html, "<div><dt>%s</dt><dd>", name);
    gf_report_number(html, format, value);
    gf_html_print(html, "%s</dd></div>\n", unit);
}

static void put_figures(GfHtml *html, const GfFigures *figures)
{
    gf_html_print(html, "<dl class=\"figures\">\n");
    put_figure(html, "Largest difference", "%.9g", figures->largest, "");
    put_figure(html, "Mean difference", "%.6g", figures->mean, "");
    put_figure(html, "PSNR", "%.2f", figures->psnr, isfinite(figures->psnr) ? " dB" : "");
    put_figure(html, "SSIM", "%.8f", figures->ssim, "");
    gf_html_print(
        html,
        "<div><dt>Beyond %.6g</dt><dd>%zu <small>of %zu samples, %.4g&nbsp;%%</small></dd>"
        "</div>\n</dl>\n",
        figures->tolerance, figures->beyond, figures->samples,
        100.0 * (double)figures->beyond / (double)figures->samples);
}

static void put_sides(GfHtml *html, const GfReportCase *compared)
{
    gf_html_print(html, "<table class=\"sides\"><thead><tr><th scope=\"col\"></th>"
                        "<th scope=\"col\">Device</th><th scope=\"col\">Method</th>"
                        "<th scope=\"col\" class=\"number\">Kernels</th>"
                        "<th scope=\"col\" class=\"number\">Transfers</th></tr></thead><tbody>\n");
    for (int i = 0; i < 2; i++) {
        const GfReportSide *side = &compared->sides[i];
        gf_html_print(html, "<tr><th scope=\"row\">%c</th><td>", LETTER + i);
        gf_html_text(html, side->name);
        gf_html_print(html, " <small>");
        gf_html_text(html, side->device);
        gf_html_print(html, "</small></td><td>");
        gf_html_text(html, side->method);
        gf_html_print(
            html, "</td><td class=\"number\">%.4f s</td><td class=\"number\">%.4f s</td></tr>\n",
            side->compute, side->copy);
    }
    gf_html_print(html, "</tbody></table>\n");
}

void gf_report_article(GfHtml *html, size_t number, const GfReportCase *compared,
                       const GfImage *input, const GfWriteOptions *options)
{
    bool passed = compared->figures->beyond == 0;
    gf_html_print(html, "<article id=\"c%zu\">\n<h3><span>", number);
    gf_html_text(html, compared->filter ? compared->filter : "A against B");
    gf_html_print(html, "</span> <strong class=\"verdict %s\">%s</strong></h3>\n",
                  passed ? "passed" : "failed", passed ? "passed" : "failed");
    gf_html_print(html, "<p class=\"facts\">");
    gf_report_format(html, &compared->sides[0].image->format);
    gf_html_print(html, "</p>\n");
    put_figures(html, compared->figures);
    if (compared->sides[0].device)
        put_sides(html, compared);
    put_pictures(html, compared, input, options);
    gf_report_histogram(html, compared);
    gf_html_print(html, "</article>\n");
}
