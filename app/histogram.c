/* Two passes, the first for the extent: bars that fit it need no list of differences, of which
 * there may be as many as samples. Differences keep their sign, since a mean other than zero is a
 * defect of its own, which absolute ones hide. */
#include "app/histogram.h"

#include <math.h>

#include "app/compare.h"

static double difference_at(const GfImage *a, const GfImage *b, size_t y, size_t i)
{
    const unsigned char *p = a->samples, *q = b->samples;
    return gf_sample_difference(gf_sample_at(p + y * a->stride, i, a->format.sample),
                                gf_sample_at(q + y * b->stride, i, b->format.sample));
}

static double find_largest(const GfImage *a, const GfImage *b)
{
    double largest = 0.0;
    for (size_t y = 0; y < a->format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&a->format); i++) {
            double d = fabs(difference_at(a, b, y, i));
            if (isfinite(d))
                largest = fmax(largest, d);
        }
    return largest;
}

static void lay_out(double largest, bool integers, GfHistogram *histogram)
{
    enum { least = 3 }; /* equal pictures are more than a single bar */
    double most = GF_HISTOGRAM_HALF;
    *histogram = (GfHistogram){.half = GF_HISTOGRAM_HALF, .width = 1.0};
    if (integers && largest <= most) {
        histogram->half = gf_max((size_t)largest, least);
    } else if (integers) {
        double width = ceil((2.0 * largest + 1.0) / (2.0 * most + 1.0));
        histogram->width = width + (fmod(width, 2.0) > 0.0 ? 0.0 : 1.0);
    } else if (largest > 0.0) {
        histogram->width = largest / (most + 0.5);
    } else {
        histogram->half = 0;
    }
    histogram->reach = (histogram->width - (integers ? 1.0 : 0.0)) / 2.0;
}

void gf_histogram_count(const GfImage *a, const GfImage *b, GfHistogram *histogram)
{
    lay_out(find_largest(a, b), !gf_sample_is_float(a->format.sample), histogram);
    double half = (double)histogram->half;
    for (size_t y = 0; y < a->format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&a->format); i++) {
            double d = difference_at(a, b, y, i);
            if (!isfinite(d)) {
                histogram->infinite++;
                continue;
            }
            /* Rounding may carry the outermost ones half a bar too far. */
            double bar = fmin(fmax(nearbyint(d / histogram->width), -half), half);
            histogram->counts[(size_t)(bar + half)]++;
        }
}

double gf_histogram_middle(const GfHistogram *histogram, size_t bar)
{
    return ((double)bar - (double)histogram->half) * histogram->width;
}

double gf_histogram_least(const GfHistogram *histogram, size_t bar)
{
    return fmax(fabs(gf_histogram_middle(histogram, bar)) - histogram->reach, 0.0);
}
