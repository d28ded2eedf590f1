/* Heights are logarithms: most samples are equal, and those that are not are what one looks for. */
#include "app/report_histogram.h"

#include <math.h>

#include "app/histogram.h"
#include "app/report_case.h"

/* Of the drawing, in its own units. */
enum { WIDTH = 900, HEIGHT = 220, LEFT = 80, RIGHT = 16, TOP = 14, BOTTOM = 38 };

static const double plot_width = WIDTH - LEFT - RIGHT, plot_height = HEIGHT - TOP - BOTTOM;

/* A count's place above the bottom line; a single sample can still be seen. */
static double height_of(size_t count, size_t most)
{
    return plot_height * log10(1.0 + (double)count) / log10(1.0 + (double)gf_max(most, 1));
}

static double bar_place(const GfHistogram *h, double bar)
{
    return LEFT + plot_width * (bar + 0.5) / (2.0 * (double)h->half + 1.0);
}

static size_t most_of(const GfHistogram *h)
{
    size_t most = 1;
    for (size_t i = 0; i <= 2 * h->half; i++)
        most = gf_max(most, h->counts[i]);
    return most;
}

/* Lines at 1, 10, 100, ... samples. */
static void put_scale(GfHtml *html, size_t most)
{
    for (size_t count = 1; count <= most; count *= 10) {
        double y = HEIGHT - BOTTOM - height_of(count, most);
        gf_html_print(html, "<path class=\"rule\" d=\"M%d %.1fH%d\"/>", LEFT, y, WIDTH - RIGHT);
        gf_html_print(html, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%zu</text>\n", LEFT - 8,
                      y + 4.0, count);
        if (count > SIZE_MAX / 10)
            break;
    }
}

static void put_bars(GfHtml *html, const GfHistogram *h, double tolerance)
{
    size_t most = most_of(h);
    double width = plot_width / (2.0 * (double)h->half + 1.0);
    for (size_t i = 0; i <= 2 * h->half; i++) {
        double tall = height_of(h->counts[i], most), x = bar_place(h, (double)i);
        if (!h->counts[i])
            continue;
        gf_html_print(
            html, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">",
            gf_histogram_least(h, i) > tolerance ? "beyond" : "within",
            x - fmin(0.42 * width, 40.0), HEIGHT - BOTTOM - tall, fmin(0.84 * width, 80.0), tall);
        gf_html_print(html, "<title>%.6g", gf_histogram_middle(h, i));
        if (h->reach > 0)
            gf_html_print(html, " ± %.4g", h->reach);
        gf_html_print(html, ": %zu sample%s</title></rect>\n", h->counts[i],
                      h->counts[i] == 1 ? "" : "s");
    }
}

static void put_axis(GfHtml *html, const GfHistogram *h)
{
    double end = gf_histogram_middle(h, 2 * h->half);
    gf_html_print(html, "<path class=\"axis\" d=\"M%d %dH%d\"/>", LEFT, HEIGHT - BOTTOM,
                  WIDTH - RIGHT);
    /* From the edges inwards, as the numbers of floats are long. */
    if (h->half)
        gf_html_print(html,
                      "<text x=\"%d\" y=\"%d\">−%.5g</text>"
                      "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">+%.5g</text>\n",
                      LEFT, HEIGHT - BOTTOM + 18, end, WIDTH - RIGHT, HEIGHT - BOTTOM + 18, end);
    gf_html_print(html,
                  "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">0</text>"
                  "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">difference A − B</text>\n",
                  LEFT + plot_width / 2.0, HEIGHT - BOTTOM + 18, LEFT + plot_width / 2.0,
                  HEIGHT - 4);
}

/* The tolerance in bars from zero: beyond the last difference that it allows. */
static double tolerance_place(const GfHistogram *h, double tolerance)
{
    bool integers = h->reach * 2.0 < h->width;
    return (integers ? floor(tolerance) + 0.5 : tolerance) / h->width;
}

/* Lines on both sides of zero; whether they are within the drawing. */
static bool put_tolerance(GfHtml *html, const GfHistogram *h, double tolerance)
{
    double bars = tolerance_place(h, tolerance);
    if (bars > (double)h->half + 0.5)
        return false;
    for (int side = -1; side <= 1; side += 2)
        gf_html_print(html, "<path class=\"tolerance\" d=\"M%.2f %dV%d\"/>",
                      bar_place(h, (double)h->half + side * bars), TOP, HEIGHT - BOTTOM);
    return true;
}

void gf_report_histogram(GfHtml *html, const GfReportCase *compared)
{
    GfHistogram h;
    double tolerance = compared->figures->tolerance;
    gf_histogram_count(compared->sides[0].image, compared->sides[1].image, &h);
    gf_html_print(
        html,
        "<h4>Differences of samples</h4>\n<figure class=\"histogram\">"
        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Histogram of the differences "
        "of samples from %.6g to %.6g\">\n",
        WIDTH, HEIGHT, gf_histogram_middle(&h, 0) - h.reach,
        gf_histogram_middle(&h, 2 * h.half) + h.reach);
    put_scale(html, most_of(&h));
    put_bars(html, &h, tolerance);
    put_axis(html, &h);
    bool within = put_tolerance(html, &h, tolerance);
    gf_html_print(html, "</svg><figcaption>Samples by their difference A − B, the scale "
                        "logarithmic, ");
    if (gf_sample_is_float(compared->sides[0].image->format.sample) || h.width > 1.0)
        gf_html_print(html, "each bar %.5g wide", h.width);
    else
        gf_html_print(html, "a bar for each difference");
    gf_html_print(html, within ? "; dashed: the tolerance of ±%.6g." : "; all within ±%.6g.",
                  tolerance);
    if (h.infinite)
        gf_html_print(html, " Samples without a finite difference: %zu.", h.infinite);
    gf_html_print(html, "</figcaption></figure>\n");
}
