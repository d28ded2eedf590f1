/* Differences are taken in double, where integers of every depth are exact. The window of SSIM is
 * separable: five maps (a, b, a^2, b^2, ab) are filtered along the row into a ring of eleven rows,
 * and these along the column, so that memory is a few rows whatever the height is. */
#include "app/compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { WINDOW = 11, MAPS = 5 };
static const double window_sigma = 1.5, k1 = 0.01, k2 = 0.03;

static double sample(const GfImage *image, size_t y, size_t i)
{
    const unsigned char *rows = image->samples;
    return gf_sample_at(rows + y * image->stride, i, image->format.sample);
}

double gf_sample_difference(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0.0;
    double d = a - b;
    return isnan(d) ? INFINITY : d;
}

static double difference(double a, double b)
{
    return fabs(gf_sample_difference(a, b));
}

GfStatus gf_compare_formats(const GfFormat *a, const GfFormat *b)
{
    if (a->width != b->width || a->height != b->height)
        return gf_fail(GF_EUSAGE, "the sizes differ: %zu x %zu and %zu x %zu", a->width, a->height,
                       b->width, b->height);
    if (a->channels != b->channels || a->has_alpha != b->has_alpha)
        return gf_fail(GF_EUSAGE, "the channels differ: %zu%s and %zu%s", a->channels,
                       a->has_alpha ? " with opacity" : "", b->channels,
                       b->has_alpha ? " with opacity" : "");
    if (a->sample != b->sample)
        return gf_fail(GF_EUSAGE,
                       "the sample types differ: %s and %s (gpufilter --kernel identity --depth "
                       "makes one like the other)",
                       gf_sample_name(a->sample), gf_sample_name(b->sample));
    return GF_OK;
}

/* ---- SSIM ---- */

typedef struct Means {
    double a, b, aa, bb, ab; /* weighted by the window */
} Means;

/* Of samples in units of the peak: so their squares neither vanish nor have no end because the
 * samples are small or large. */
static double similarity(const Means *m)
{
    double c1 = k1 * k1, c2 = k2 * k2;
    double variance_a = m->aa - m->a * m->a, variance_b = m->bb - m->b * m->b;
    double covariance = m->ab - m->a * m->b;
    return (2.0 * m->a * m->b + c1) * (2.0 * covariance + c2) /
           ((m->a * m->a + m->b * m->b + c1) * (variance_a + variance_b + c2));
}

/* One window over the whole picture. */
static double whole_similarity(const GfImage *a, const GfImage *b, size_t channel, double peak)
{
    const GfFormat *format = &a->format;
    double count = (double)format->width * (double)format->height;
    Means m = {0};
    for (size_t y = 0; y < format->height; y++)
        for (size_t x = 0; x < format->width; x++) {
            double p = sample(a, y, x * format->channels + channel) / peak;
            double q = sample(b, y, x * format->channels + channel) / peak;
            m.a += p / count;
            m.b += q / count;
            m.aa += p * p / count;
            m.bb += q * q / count;
            m.ab += p * q / count;
        }
    return similarity(&m);
}

typedef struct Ssim {
    double taps[WINDOW];
    double peak;
    size_t columns; /* window positions in a row */
    double *lines;  /* MAPS x width: one row of products */
    double *ring;   /* WINDOW x MAPS x columns: filtered along the row */
} Ssim;

static GfStatus ssim_begin(size_t width, double peak, Ssim *ssim)
{
    double sum = 0.0;
    *ssim = (Ssim){.peak = peak, .columns = width - WINDOW + 1};
    for (int i = 0; i < WINDOW; i++) {
        double x = i - WINDOW / 2;
        ssim->taps[i] = exp(-x * x / (2.0 * window_sigma * window_sigma));
        sum += ssim->taps[i];
    }
    for (int i = 0; i < WINDOW; i++)
        ssim->taps[i] /= sum;
    GF_TRY(gf_allocate(width, MAPS * sizeof(double), &ssim->lines));
    return gf_allocate(ssim->columns, (size_t)WINDOW * MAPS * sizeof(double), &ssim->ring);
}

/* Filters row y along itself into its place in the ring. */
static void ssim_row(Ssim *ssim, const GfImage *a, const GfImage *b, size_t y, size_t channel)
{
    size_t width = a->format.width, channels = a->format.channels;
    for (size_t x = 0; x < width; x++) {
        double p = sample(a, y, x * channels + channel) / ssim->peak;
        double q = sample(b, y, x * channels + channel) / ssim->peak;
        ssim->lines[x] = p;
        ssim->lines[width + x] = q;
        ssim->lines[2 * width + x] = p * p;
        ssim->lines[3 * width + x] = q * q;
        ssim->lines[4 * width + x] = p * q;
    }
    for (size_t map = 0; map < MAPS; map++) {
        const double *line = ssim->lines + map * width;
        double *out = ssim->ring + (y % WINDOW * MAPS + map) * ssim->columns;
        for (size_t x = 0; x < ssim->columns; x++) {
            double sum = 0.0;
            for (size_t i = 0; i < WINDOW; i++)
                sum += ssim->taps[i] * line[x + i];
            out[x] = sum;
        }
    }
}

/* The similarities of all windows whose last row is y, summed. */
static double ssim_windows(const Ssim *ssim, size_t y)
{
    double sum = 0.0;
    for (size_t x = 0; x < ssim->columns; x++) {
        double m[MAPS] = {0};
        for (size_t i = 0; i < WINDOW; i++) {
            const double *row = ssim->ring + (y + 1 + i) % WINDOW * MAPS * ssim->columns + x;
            for (size_t map = 0; map < MAPS; map++)
                m[map] += ssim->taps[i] * row[map * ssim->columns];
        }
        sum += similarity(&(Means){m[0], m[1], m[2], m[3], m[4]});
    }
    return sum;
}

static GfStatus find_ssim(const GfImage *a, const GfImage *b, double peak, double *result)
{
    const GfFormat *format = &a->format;
    double sum = 0.0, channels = (double)format->channels;
    if (format->width < WINDOW || format->height < WINDOW) {
        for (size_t c = 0; c < format->channels; c++)
            sum += whole_similarity(a, b, c, peak);
        *result = sum / channels;
        return GF_OK;
    }
    Ssim ssim;
    GfStatus status = ssim_begin(format->width, peak, &ssim);
    for (size_t c = 0; status == GF_OK && c < format->channels; c++)
        for (size_t y = 0; y < format->height; y++) {
            ssim_row(&ssim, a, b, y, c);
            if (y + 1 >= WINDOW)
                sum += ssim_windows(&ssim, y);
        }
    *result = sum / (channels * (double)ssim.columns * (double)(format->height - WINDOW + 1));
    free(ssim.lines);
    free(ssim.ring);
    return status;
}

/* ---- the figures ---- */

typedef struct Extent {
    double low, high;
} Extent;

static void extend(Extent *extent, const GfImage *image)
{
    for (size_t y = 0; y < image->format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&image->format); i++) {
            double v = sample(image, y, i);
            if (isfinite(v)) {
                extent->low = fmin(extent->low, v);
                extent->high = fmax(extent->high, v);
            }
        }
}

double gf_image_magnitude(const GfImage *image)
{
    Extent extent = {0.0, 0.0};
    extend(&extent, image);
    return fmax(fabs(extent.low), fabs(extent.high));
}

static double find_peak(const GfImage *a, const GfImage *b)
{
    Extent extent = {INFINITY, -INFINITY};
    if (!gf_sample_is_float(a->format.sample))
        return gf_sample_max(a->format.sample);
    extend(&extent, a);
    extend(&extent, b);
    return extent.high > extent.low ? fmin(extent.high - extent.low, DBL_MAX) : 1.0;
}

GfStatus gf_compare_images(const GfImage *a, const GfImage *b, double tolerance, GfFigures *figures)
{
    size_t row = gf_row_samples(&a->format);
    double sum = 0.0, squares = 0.0, peak = find_peak(a, b);
    *figures = (GfFigures){.samples = row * a->format.height, .tolerance = tolerance};
    for (size_t y = 0; y < a->format.height; y++)
        for (size_t i = 0; i < row; i++) {
            double d = difference(sample(a, y, i), sample(b, y, i));
            figures->beyond += d > tolerance;
            if (d > figures->largest) {
                figures->largest = d;
                figures->x = i / a->format.channels;
                figures->y = y;
                figures->channel = i % a->format.channels;
            }
            sum += d;
            squares += d / peak * (d / peak);
        }
    figures->mean = sum / (double)figures->samples;
    figures->psnr = squares > 0.0 ? 10.0 * log10((double)figures->samples / squares) : INFINITY;
    figures->ssim = 1.0;
    return figures->largest > 0.0 ? find_ssim(a, b, peak, &figures->ssim) : GF_OK;
}

/* ---- the picture of differences ---- */

static unsigned char gray_of(double d, double largest)
{
    if (isinf(d))
        return 255;
    return d > 0.0 ? (unsigned char)lrint(255.0 * d / largest) : 0;
}

static void difference_row(const GfImage *a, const GfImage *b, size_t y, double largest,
                           const GfImage *out)
{
    const GfFormat *format = &a->format;
    size_t colours = out->format.channels, channels = format->channels;
    bool all = channels != colours && !(format->has_alpha && channels == colours + 1);
    unsigned char *to = (unsigned char *)out->samples + y * out->stride;
    for (size_t x = 0; x < format->width; x++)
        for (size_t c = 0; c < colours; c++) {
            double most = 0.0;
            for (size_t i = 0; i < channels; i++) {
                bool counts = all || i == c || (format->has_alpha && i == channels - 1);
                size_t at = x * channels + i;
                if (counts)
                    most = fmax(most, difference(sample(a, y, at), sample(b, y, at)));
            }
            to[x * colours + c] = gray_of(most, largest);
        }
}

GfStatus gf_compare_picture(const GfImage *a, const GfImage *b, double largest, GfImage *picture)
{
    GfFormat format = a->format;
    size_t colours = format.channels - (format.has_alpha ? 1 : 0);
    format.channels = colours == 3 ? 3 : 1;
    format.has_alpha = false;
    format.sample = GF_U8;
    GF_TRY(gf_image_allocate(&format, picture));
    for (size_t y = 0; y < format.height; y++)
        difference_row(a, b, y, largest, picture);
    return GF_OK;
}
