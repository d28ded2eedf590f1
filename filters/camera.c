/* A disk's taps are areas in closed form: with F(x, y) the area of the circle between the axes, x
 * and y, any pixel is a sum of four values of F. Lines have no such area; a tap is one less its
 * distance from the line, which makes a line along an axis exact and others look smooth. */
#include "filters/camera.h"

#include <math.h>

#include "common/memory.h"

static const double degree = 3.14159265358979323846 / 180.0;

/* Divides what was filled in by its sum. */
static void normalise(double *taps, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += taps[i];
    for (size_t i = 0; i < count; i++)
        taps[i] /= sum;
}

/* ---- shift ---- */

/* The one or two taps between `first` and 0, or 0 and `last`, that fetch what was `by` samples
 * before. */
typedef struct Shift {
    double whole, fraction;
    size_t taps, anchor;
} Shift;

static Shift find_shift(double by)
{
    Shift shift = {.whole = floor(by), .fraction = by - floor(by)};
    double first = fmin(0.0, -shift.whole - (shift.fraction > 0.0 ? 1.0 : 0.0));
    double last = fmax(0.0, -shift.whole);
    shift.taps = (size_t)(last - first) + 1;
    shift.anchor = (size_t)-first;
    return shift;
}

static void shift_taps(double *taps, const Shift *shift)
{
    double *at = taps + (ptrdiff_t)shift->anchor - (ptrdiff_t)shift->whole;
    at[0] = 1.0 - shift->fraction;
    if (shift->fraction > 0.0)
        at[-1] = shift->fraction;
}

GfStatus gf_camera_shift(const GfValue *values, GfFilter *filter)
{
    Shift x = find_shift(values[0].number), y = find_shift(values[1].number);
    GfLinear *linear;
    GF_TRY(gf_filter_add_factors(filter, 1, x.taps, y.taps, &linear));
    linear->anchor_x = x.anchor;
    linear->anchor_y = y.anchor;
    shift_taps(linear->rows, &x);
    shift_taps(linear->columns, &y);
    return GF_OK;
}

/* ---- disk ---- */

/* The integral of sqrt(r^2 - t^2) from 0 to x, 0 <= x <= r. */
static double under_circle(double r, double x)
{
    return (x * sqrt(fmax(r * r - x * x, 0.0)) + r * r * asin(x / r)) / 2.0;
}

/* The area of the circle's part between the axes and the lines at x and y; odd in both. */
static double circle_part(double r, double x, double y)
{
    double sign = (x < 0.0) == (y < 0.0) ? 1.0 : -1.0;
    x = fmin(fabs(x), r);
    y = fmin(fabs(y), r);
    /* Up to here the line at y limits the part, from here on the circle does. */
    double limit = fmin(x, sqrt(r * r - y * y));
    return sign * (limit * y + under_circle(r, x) - under_circle(r, limit));
}

GfStatus gf_camera_disk(const GfValue *values, GfFilter *filter)
{
    double r = values[0].number;
    size_t radius = (size_t)ceil(fmax(r - 0.5, 0.0)), side = 2 * radius + 1;
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, side, side, &linear));
    for (size_t i = 0; i < side * side; i++) {
        double left = (double)(i % side) - (double)radius - 0.5;
        double top = (double)(i / side) - (double)radius - 0.5;
        double area = circle_part(r, left + 1.0, top + 1.0) - circle_part(r, left, top + 1.0) -
                      circle_part(r, left + 1.0, top) + circle_part(r, left, top);
        linear->weights[i] = fmax(area, 0.0); /* what cancels leaves 1e-17 of either sign */
    }
    normalise(linear->weights, side * side);
    return GF_OK;
}

/* ---- motion ---- */

GfStatus gf_camera_motion(const GfValue *values, GfFilter *filter)
{
    double half = (values[0].number - 1.0) / 2.0, angle = values[1].number * degree;
    double c = cos(angle), s = sin(angle);
    /* Along an axis the other's cosine is not quite 0; that must not add a row of zeros. */
    size_t right = (size_t)ceil(fmax(half * fabs(c) - 1e-9, 0.0));
    size_t down = (size_t)ceil(fmax(half * fabs(s) - 1e-9, 0.0));
    size_t width = 2 * right + 1, height = 2 * down + 1;
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, width, height, &linear));
    for (size_t i = 0; i < width * height; i++) {
        double x = (double)(i % width) - (double)right, y = (double)(i / width) - (double)down;
        double along = fmax(fabs(x * c + y * s) - half, 0.0);
        linear->weights[i] = fmax(1.0 - hypot(along, y * c - x * s), 0.0);
    }
    normalise(linear->weights, width * height);
    return GF_OK;
}
