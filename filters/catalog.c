/* The catalogue: a row a filter, and beside it the function that turns parameters into stages.
 * Sizes that a parameter leaves open (0) follow from sigma. Coefficients and sources:
 * gpufilter-filters(7).
 *
 * Kernels are written with integer taps and a scale wherever they can be: their sums are then
 * exact. */
#include "filters/catalog.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/camera.h"
#include "filters/learned.h"
#include "filters/network.h"
#include "filters/oriented.h"

static const double pi = 3.14159265358979323846;

/* ---- building blocks ---- */

/* Taps a side of a gaussian: as given, or (0) up to SciPy's truncation at 4 sigma. */
static size_t gaussian_size(double sigma, double size)
{
    return size > 0 ? (size_t)size : 2 * (size_t)(4.0 * sigma + 0.5) + 1;
}

/* taps[i] = exp(-x^2 / (2 sigma^2)) at x = i - (n - 1) / 2, divided by their sum. */
static void gaussian_taps(double *taps, size_t n, double sigma)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i - ((double)n - 1.0) / 2.0;
        taps[i] = exp(-x * x / (2.0 * sigma * sigma));
        sum += taps[i];
    }
    for (size_t i = 0; i < n; i++)
        taps[i] /= sum;
}

/* Row n - 1 of Pascal's triangle: 1 2 1, 1 4 6 4 1, ... Returns the sum, 2^(n - 1). */
static double binomial_taps(double *taps, size_t n)
{
    taps[0] = 1.0;
    for (size_t i = 1; i < n; i++)
        taps[i] = taps[i - 1] * (double)(n - i) / (double)i;
    return ldexp(1.0, (int)n - 1);
}

/* 1 2 1 convolved (n - 3) / 2 times into -1 0 1: -1 0 1, -1 -2 0 2 1, -1 -4 -5 0 5 4 1. */
static void derivative_taps(double *taps, size_t n)
{
    double smooth[16];
    binomial_taps(smooth, n - 2);
    memset(taps, 0, n * sizeof *taps);
    for (size_t i = 0; i < n - 2; i++) {
        taps[i] -= smooth[i];
        taps[i + 2] += smooth[i];
    }
}

/* Literal taps of one kernel. */
static GfStatus add_literal(GfFilter *filter, size_t side, const double *taps, double scale)
{
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, side, side, &linear));
    memcpy(linear->weights, taps, side * side * sizeof *taps);
    linear->scale = scale;
    return GF_OK;
}

/* The choice of a gradient filter's `direction`, in the order of its words. */
enum { DIRECTION_MAGNITUDE, DIRECTION_X, DIRECTION_Y };

static GfStatus add_norm(GfFilter *filter, const GfValue *norm)
{
    GfCombineOp op = norm->word > 0 ? GF_COMBINE_L1 : GF_COMBINE_L2;
    return gf_filter_add_combine(filter, (GfCombine){.op = op});
}

/* Gradient from a smoothing and a derivative vector of n taps: x is derivative along the row and
 * smoothing along the column, y the other way round, magnitude both combined. */
static GfStatus add_gradient(GfFilter *filter, size_t n, const double *smooth,
                             const double *derivative, const GfValue *values)
{
    int direction = values[0].word;
    bool both = direction == DIRECTION_MAGNITUDE;
    GfLinear *linear;
    GF_TRY(gf_filter_add_factors(filter, both ? 2 : 1, n, n, &linear));
    linear->scale = values[2].number;
    for (size_t f = 0; f < linear->filters; f++) {
        bool x = both ? f == 0 : direction == DIRECTION_X;
        memcpy(linear->rows + f * n, x ? derivative : smooth, n * sizeof *smooth);
        memcpy(linear->columns + f * n, x ? smooth : derivative, n * sizeof *smooth);
    }
    return both ? add_norm(filter, &values[1]) : GF_OK;
}

/* ---- the filters ---- */

static GfStatus identity(const GfValue *values, GfFilter *filter)
{
    (void)values;
    return add_literal(filter, 1, (const double[]){1.0}, 1.0);
}

static GfStatus box(const GfValue *values, GfFilter *filter)
{
    size_t width = (size_t)(values[1].number > 0 ? values[1].number : values[0].number);
    size_t height = (size_t)(values[2].number > 0 ? values[2].number : values[0].number);
    GfLinear *linear;
    GF_TRY(gf_filter_add_factors(filter, 1, width, height, &linear));
    for (size_t i = 0; i < width; i++)
        linear->rows[i] = 1.0;
    for (size_t i = 0; i < height; i++)
        linear->columns[i] = 1.0;
    linear->scale = 1.0 / (double)(width * height);
    return GF_OK;
}

static GfStatus gaussian(const GfValue *values, GfFilter *filter)
{
    double sigma_x = values[1].number > 0 ? values[1].number : values[0].number;
    double sigma_y = values[2].number > 0 ? values[2].number : values[0].number;
    size_t width = gaussian_size(sigma_x, values[3].number),
           height = gaussian_size(sigma_y, values[3].number);
    GfLinear *linear;
    if (fmin(sigma_x, sigma_y) < 0.01)
        return gf_fail(GF_EUSAGE,
                       "gaussian: sigma_x and sigma_y are at least 0.01, or 0 for sigma");
    GF_TRY(gf_filter_add_factors(filter, 1, width, height, &linear));
    gaussian_taps(linear->rows, width, sigma_x);
    gaussian_taps(linear->columns, height, sigma_y);
    return GF_OK;
}

static GfStatus binomial(const GfValue *values, GfFilter *filter)
{
    size_t n = (size_t)values[0].number;
    GfLinear *linear;
    GF_TRY(gf_filter_add_factors(filter, 1, n, n, &linear));
    double sum = binomial_taps(linear->rows, n);
    binomial_taps(linear->columns, n);
    linear->scale = 1.0 / (sum * sum);
    return GF_OK;
}

static GfStatus sharpen(const GfValue *values, GfFilter *filter)
{
    double a = values[0].number;
    const double taps[9] = {0, -a, 0, -a, 1 + 4 * a, -a, 0, -a, 0};
    return add_literal(filter, 3, taps, 1.0);
}

static GfStatus unsharp(const GfValue *values, GfFilter *filter)
{
    double sigma = values[0].number;
    size_t n = gaussian_size(sigma, values[3].number);
    GfLinear *linear;
    GF_TRY(gf_filter_add_factors(filter, 2, n, n, &linear));
    linear->rows[n / 2] = linear->columns[n / 2] = 1.0; /* kernel 0: the picture itself */
    gaussian_taps(linear->rows + n, n, sigma);
    gaussian_taps(linear->columns + n, n, sigma);
    return gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_UNSHARP,
                                                     .amount = values[1].number,
                                                     .threshold = values[2].number});
}

static GfStatus emboss(const GfValue *values, GfFilter *filter)
{
    double a = values[0].number;
    const double taps[9] = {-2 * a, -a, 0, -a, 1, a, 0, a, 2 * a};
    return add_literal(filter, 3, taps, 1.0);
}

/* One kernel, all taps `surround` but that in the middle. */
static GfStatus add_surround(GfFilter *filter, size_t side, double surround, double centre,
                             double scale)
{
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, side, side, &linear));
    for (size_t i = 0; i < side * side; i++)
        linear->weights[i] = surround;
    linear->weights[side * side / 2] = centre;
    linear->scale = scale;
    return GF_OK;
}

static GfStatus highboost(const GfValue *values, GfFilter *filter)
{
    size_t side = (size_t)values[1].number;
    double count = (double)(side * side);
    return add_surround(filter, side, -1.0, values[0].number * count - 1.0, 1.0 / count);
}

static GfStatus sobel(const GfValue *values, GfFilter *filter)
{
    double smooth[7], derivative[7];
    size_t n = (size_t)values[3].number;
    binomial_taps(smooth, n);
    derivative_taps(derivative, n);
    return add_gradient(filter, n, smooth, derivative, values);
}

static GfStatus prewitt(const GfValue *values, GfFilter *filter)
{
    return add_gradient(filter, 3, (const double[]){1, 1, 1}, (const double[]){-1, 0, 1}, values);
}

static GfStatus scharr(const GfValue *values, GfFilter *filter)
{
    return add_gradient(filter, 3, (const double[]){3, 10, 3}, (const double[]){-1, 0, 1}, values);
}

static GfStatus freichen(const GfValue *values, GfFilter *filter)
{
    const double smooth[3] = {1, sqrt(2.0), 1};
    return add_gradient(filter, 3, smooth, (const double[]){-1, 0, 1}, values);
}

/* The halves of each size up to the middle; the derivative goes on with the opposite sign. */
static GfStatus farid(const GfValue *values, GfFilter *filter)
{
    static const struct {
        double smooth[4], derivative[4];
    } halves[] = {
        {{0.229879, 0.540242}, {-0.425287}},
        {{0.0376593171958126, 0.249153396177344, 0.426374573253687},
         {-0.109603762960254, -0.276690988455557}},
        {{0.004711, 0.069321, 0.245410, 0.361117}, {-0.018708, -0.125376, -0.193091}},
    };
    size_t n = (size_t)values[3].number, half = n / 2;
    double smooth[7], derivative[7];
    for (size_t i = 0; i <= half; i++) {
        smooth[i] = smooth[n - 1 - i] = halves[half - 1].smooth[i];
        derivative[i] = halves[half - 1].derivative[i];
        derivative[n - 1 - i] = -derivative[i];
    }
    return add_gradient(filter, n, smooth, derivative, values);
}

/* Two kernels that are no products of a row and a column, so that they come as taps. */
static GfStatus roberts(const GfValue *values, GfFilter *filter)
{
    static const double diagonals[2][4] = {{-1, 0, 0, 1}, {0, -1, 1, 0}};
    int direction = values[0].word;
    bool both = direction == DIRECTION_MAGNITUDE;
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, both ? 2 : 1, 2, 2, &linear));
    memcpy(linear->weights, diagonals[direction == DIRECTION_Y],
           linear->filters * sizeof diagonals[0]);
    linear->anchor_x = linear->anchor_y = 0; /* the pixel and its neighbours right and down */
    linear->scale = values[2].number;
    return both ? add_norm(filter, &values[1]) : GF_OK;
}

/* The largest of eight responses. */
static GfStatus add_compass(GfFilter *filter, GfCompass mask, double scale)
{
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, GF_COMPASS_DIRECTIONS, 3, 3, &linear));
    for (size_t turn = 0; turn < GF_COMPASS_DIRECTIONS; turn++)
        gf_compass_turn(mask, turn, linear->weights + 9 * turn);
    linear->scale = scale;
    return gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_MAX});
}

static GfStatus kirsch(const GfValue *values, GfFilter *filter)
{
    return add_compass(filter, GF_COMPASS_KIRSCH, values[0].number);
}

static GfStatus robinson(const GfValue *values, GfFilter *filter)
{
    return add_compass(filter, GF_COMPASS_ROBINSON, values[0].number);
}

static GfStatus compass(const GfValue *values, GfFilter *filter)
{
    return add_compass(filter, (GfCompass)values[0].word, values[1].number);
}

static GfStatus edge(const GfValue *values, GfFilter *filter)
{
    size_t side = 2 * (size_t)values[0].number + 1;
    return add_surround(filter, side, -1.0, (double)(side * side) - 1.0, values[1].number);
}

static GfStatus gabor(const GfValue *values, GfFilter *filter)
{
    return gf_gabor_add(values[0].number, values[1].number * pi / 180.0, values + 2, filter);
}

/* Smoothing and second derivative, both of n taps, in one direction and the other: what OpenCV's
 * Laplacian adds up, of which the 3 x 3 one is `diagonal`. */
static GfStatus add_wide_laplacian(GfFilter *filter, size_t n, double scale)
{
    double smooth[7], second[7], narrow[7];
    GfLinear *linear;
    binomial_taps(smooth, n);
    derivative_taps(narrow, n - 2);
    memset(second, 0, sizeof second);
    for (size_t i = 0; i < n - 2; i++) {
        second[i] -= narrow[i];
        second[i + 2] += narrow[i];
    }
    GF_TRY(gf_filter_add_kernel(filter, 1, n, n, &linear));
    for (size_t i = 0; i < n * n; i++)
        linear->weights[i] = smooth[i / n] * second[i % n] + second[i / n] * smooth[i % n];
    linear->scale = scale;
    return GF_OK;
}

static GfStatus laplacian(const GfValue *values, GfFilter *filter)
{
    static const double kernels[5][9] = {{0, 1, 0, 1, -4, 1, 0, 1, 0},
                                         {-1, -1, -1, -1, 8, -1, -1, -1, -1},
                                         {2, 0, 2, 0, -8, 0, 2, 0, 2},
                                         {-2, 1, -2, 1, 4, 1, -2, 1, -2},
                                         {1, -2, 1, -2, 4, -2, 1, -2, 1}};
    static const double hat[25] = {0,  0,  -1, 0,  0,  0,  -1, -2, -1, 0,  -1, -2, 16,
                                   -2, -1, 0,  -1, -2, -1, 0,  0,  0,  -1, 0,  0};
    enum { DIAGONAL5 = 5, DIAGONAL7, HAT };
    int kind = values[0].word;
    double scale = values[1].number;
    if (kind == HAT)
        return add_literal(filter, 5, hat, scale);
    if (kind >= DIAGONAL5)
        return add_wide_laplacian(filter, kind == DIAGONAL5 ? 5 : 7, scale);
    return add_literal(filter, 3, kernels[kind], scale);
}

static GfStatus laplacian_of_gaussian(const GfValue *values, GfFilter *filter)
{
    double sigma = values[0].number;
    size_t n = gaussian_size(sigma, values[1].number);
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, n, n, &linear));
    double centre = ((double)n - 1.0) / 2.0, sum = 0.0;
    for (size_t i = 0; i < n * n; i++) {
        double x = (double)(i % n) - centre, y = (double)(i / n) - centre;
        double r2 = (x * x + y * y) / (sigma * sigma);
        linear->weights[i] = (2.0 - r2) * exp(-r2 / 2.0) / 2.0;
        sum += linear->weights[i];
    }
    /* The cut and sampled function does not quite sum to zero, and a flat picture must give zero.
     */
    for (size_t i = 0; i < n * n; i++)
        linear->weights[i] -= sum / (double)(n * n);
    linear->scale = values[2].number;
    return GF_OK;
}

/* Two kernels and their sum: two separable passes are less work than one that is not. */
static GfStatus difference_of_gaussians(const GfValue *values, GfFilter *filter)
{
    double sigma[2] = {values[0].number, values[1].number};
    size_t side = gaussian_size(fmax(sigma[0], sigma[1]), 0);
    GfLinear *linear;
    GF_TRY(gf_filter_add_factors(filter, 2, side, side, &linear));
    for (size_t f = 0; f < 2; f++) {
        size_t n = gaussian_size(sigma[f], 0), from = f * side + (side - n) / 2;
        gaussian_taps(linear->rows + from, n, sigma[f]);
        gaussian_taps(linear->columns + from, n, sigma[f]);
    }
    for (size_t i = 0; i < side; i++)
        linear->columns[side + i] *= -1.0;
    linear->scale = values[2].number;
    return gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_SUM});
}

/* ---- the table ---- */

#define SCALE_PARAMETER                                                                            \
    {                                                                                              \
        "scale", "factor on the response", GF_NUMBER, NULL, -1e6, 1e6, 1                           \
    }
#define GRADIENT_PARAMETERS                                                                        \
    {"direction", "what of the gradient", GF_WORD, "magnitude x y", 0, 2, 0},                      \
        {"norm", "how x and y make the magnitude", GF_WORD, "l2 l1", 0, 1, 0}, SCALE_PARAMETER
#define SIZE_PARAMETER                                                                             \
    {                                                                                              \
        "size", "taps a side, odd; 0: 2 round(4 sigma) + 1", GF_ODD, NULL, 0, 2047, 0              \
    }

#define STRIDE_OF_WINDOW                                                                           \
    {                                                                                              \
        "stride", "pixels from one window to the next; 0: the window's size", GF_SIZE, NULL, 0,    \
            GF_KERNEL_MAX_SIDE, 0                                                                  \
    }
#define PADDING_PARAMETERS                                                                         \
    {"padding",  "rows and columns around the picture",                                            \
     GF_PADDING, "same same_lower",                                                                \
     0,          GF_KERNEL_MAX_SIDE,                                                               \
     0},                                                                                           \
    {                                                                                              \
        "dilation", "pixels from one tap to the next", GF_SIZE, NULL, 1, GF_KERNEL_MAX_SIDE, 1     \
    }
#define INSIDE_PARAMETER                                                                           \
    {                                                                                              \
        "border", "what stands in the padding", GF_WORD, "zero replicate reflect101 reflect wrap", \
            0, 4, 0                                                                                \
    }
#define TENSOR_PARAMETER                                                                           \
    {                                                                                              \
        "tensor", "name of the tensor; needed where several can be meant", GF_OPTIONAL_NAME, NULL, \
            0, 0, 0                                                                                \
    }
#define POOL_PARAMETERS                                                                            \
    {"size", "of the window, in pixels", GF_SIZE, NULL, 1, GF_KERNEL_MAX_SIDE, 2},                 \
        STRIDE_OF_WINDOW, PADDING_PARAMETERS,                                                      \
    {                                                                                              \
        "ceil", "whether a last window may reach beyond", GF_WORD, "no yes", 0, 1, 0               \
    }

const GfNamedFilter gf_catalog[] = {
    {"identity", "the picture as it is", "1", {{0}}, identity},
    {"shift",
     "moves the picture",
     "out(i, j) = in(i - x, j - y); fractions are interpolated linearly",
     {{"x", "pixels to the right", GF_NUMBER, NULL, -2000, 2000, 0},
      {"y", "pixels down", GF_NUMBER, NULL, -2000, 2000, 0}},
     gf_camera_shift},
    {"box",
     "mean of a rectangle",
     "every tap 1 / (width height)",
     {{"size", "taps a side", GF_WHOLE, NULL, 1, 2047, 3},
      {"width", "taps a row; 0: size", GF_WHOLE, NULL, 0, 2047, 0},
      {"height", "taps a column; 0: size", GF_WHOLE, NULL, 0, 2047, 0}},
     box},
    {"gaussian",
     "gaussian blur",
     "exp(-(x^2 / 2 sigma_x^2 + y^2 / 2 sigma_y^2)), divided by its sum",
     {{"sigma", "standard deviation in pixels", GF_NUMBER, NULL, 0.01, 500, 1},
      {"sigma_x", "along the row; 0: sigma", GF_NUMBER, NULL, 0, 500, 0},
      {"sigma_y", "along the column; 0: sigma", GF_NUMBER, NULL, 0, 500, 0},
      SIZE_PARAMETER},
     gaussian},
    {"binomial",
     "blur by a row of Pascal's triangle",
     "1 2 1, 1 4 6 4 1, ... in both directions, divided by the sum",
     {{"size", "taps a side, odd", GF_ODD, NULL, 3, 15, 3}},
     binomial},
    {"disk",
     "mean of a circle: a lens out of focus",
     "the part of each pixel inside the circle, divided by the sum",
     {{"radius", "in pixels", GF_NUMBER, NULL, 0.1, 250, 2}},
     gf_camera_disk},
    {"motion",
     "mean of a line: a camera that moves",
     "max(1 - d, 0), d the distance from a line of length - 1 pixels, divided by the sum",
     {{"length", "in pixels", GF_NUMBER, NULL, 1, 500, 9},
      {"angle", "in degrees, from x towards y, which points down", GF_NUMBER, NULL, -360, 360, 0}},
     gf_camera_motion},
    {"sharpen",
     "picture minus laplacian",
     "0 -a 0 / -a 1+4a -a / 0 -a 0",
     {{"amount", "a", GF_NUMBER, NULL, 0, 100, 1}},
     sharpen},
    {"unsharp",
     "unsharp masking: adds what a blur takes away",
     "x + amount (x - gaussian x) where |x - gaussian x| >= threshold, else x",
     {{"sigma", "of the gaussian, in pixels", GF_NUMBER, NULL, 0.01, 500, 1},
      {"amount", "strength", GF_NUMBER, NULL, 0, 100, 1},
      {"threshold", "smallest difference that counts, on a scale of 0 to 255 (floats: as they are)",
       GF_NUMBER, NULL, 0, 255, 0},
      SIZE_PARAMETER},
     unsharp},
    {"highboost",
     "high-boost filter: the picture enlarged, less its mean",
     "boost x - mean of size x size",
     {{"boost", "factor on the picture; 1: only what the mean takes away", GF_NUMBER, NULL, 0, 100,
       2},
      {"size", "taps a side of the mean, odd", GF_ODD, NULL, 3, 31, 3}},
     highboost},
    {"emboss",
     "relief, lit from the upper left",
     "-2a -a 0 / -a 1 a / 0 a 2a",
     {{"amount", "a", GF_NUMBER, NULL, 0, 100, 1}},
     emboss},
    {"sobel",
     "gradient, binomial smoothing",
     "1 2 1 x -1 0 1; size 5: 1 4 6 4 1 x -1 -2 0 2 1; size 7: 1 6 15 20 15 6 1 x -1 -4 -5 0 5 4 1",
     {GRADIENT_PARAMETERS, {"size", "taps a side: 3, 5 or 7", GF_ODD, NULL, 3, 7, 3}},
     sobel},
    {"prewitt", "gradient, box smoothing", "1 1 1 x -1 0 1", {GRADIENT_PARAMETERS}, prewitt},
    {"scharr",
     "gradient of nearly equal strength in every direction",
     "3 10 3 x -1 0 1",
     {GRADIENT_PARAMETERS},
     scharr},
    {"freichen",
     "gradient, isotropic smoothing",
     "1 sqrt(2) 1 x -1 0 1",
     {GRADIENT_PARAMETERS},
     freichen},
    {"farid",
     "gradient whose direction is as exact as its size allows",
     "size 5: .0376593 .2491534 .4263746 .2491534 .0376593 x -.1096038 -.2766910 0 .2766910 "
     ".1096038; size 3: .229879 .540242 .229879 x -.425287 0 .425287; size 7: .004711 .069321 "
     ".245410 .361117 .245410 .069321 .004711 x -.018708 -.125376 -.193091 0 .193091 .125376 "
     ".018708",
     {GRADIENT_PARAMETERS, {"size", "taps a side: 3, 5 or 7", GF_ODD, NULL, 3, 7, 5}},
     farid},
    {"roberts",
     "gradient along the diagonals, of neighbours",
     "x: -1 0 / 0 1; y: 0 -1 / 1 0; the upper left tap is the pixel's",
     {GRADIENT_PARAMETERS},
     roberts},
    {"kirsch",
     "strongest of eight directions, steep masks",
     "5 5 5 / -3 0 -3 / -3 -3 -3, its rim turned on seven times; the largest response",
     {SCALE_PARAMETER},
     kirsch},
    {"robinson",
     "strongest of eight directions, Sobel's mask",
     "1 2 1 / 0 0 0 / -1 -2 -1, its rim turned on seven times; the largest response",
     {SCALE_PARAMETER},
     robinson},
    {"compass",
     "strongest of eight directions, of a mask by name",
     "prewitt: 1 1 1 / 1 -2 1 / -1 -1 -1; kirsch: 5 5 5 / -3 0 -3 / -3 -3 -3; robinson and sobel: "
     "1 2 1 / 0 0 0 / -1 -2 -1; the rim turned on seven times; the largest response",
     {{"kind", "which mask", GF_WORD, "prewitt kirsch robinson sobel", 0, 3, 0}, SCALE_PARAMETER},
     compass},
    {"gabor",
     "wave under a gaussian: how strong a wavelength is in a direction",
     "exp(-(u^2 / sigma^2 + (aspect v)^2 / sigma^2) / 2) (cos(2 pi u / wavelength + phase) - "
     "mean), u = x cos a + y sin a, v = y cos a - x sin a; positive taps sum to 1, all to 0",
     {{"wavelength", "in pixels", GF_NUMBER, NULL, 2, 256, 8},
      {"angle", "a, in degrees, from x towards y, which points down", GF_NUMBER, NULL, -360, 360,
       0},
      GF_GABOR_PARAMETERS},
     gabor},
    {"laplacian",
     "second derivative",
     "4: 0 1 0 / 1 -4 1 / 0 1 0; 8: -1 -1 -1 / -1 8 -1 / -1 -1 -1; "
     "diagonal: 2 0 2 / 0 -8 0 / 2 0 2; cross: -2 1 -2 / 1 4 1 / -2 1 -2; "
     "check: 1 -2 1 / -2 4 -2 / 1 -2 1; "
     "diagonal5: 1 4 6 4 1 x 1 0 -2 0 1 and the other way round, added; "
     "diagonal7: 1 6 15 20 15 6 1 x 1 2 -1 -4 -1 2 1 likewise; "
     "hat: 0 0 -1 0 0 / 0 -1 -2 -1 0 / -1 -2 16 -2 -1 / 0 -1 -2 -1 0 / 0 0 -1 0 0",
     {{"kind", "which kernel", GF_WORD, "4 8 diagonal cross check diagonal5 diagonal7 hat", 0, 7,
       0},
      SCALE_PARAMETER},
     laplacian},
    {"log",
     "laplacian of gaussian",
     "(2 - r^2 / sigma^2) exp(-r^2 / 2 sigma^2) / 2, less its mean",
     {{"sigma", "of the gaussian, in pixels", GF_NUMBER, NULL, 0.3, 60, 1.4},
      {"size", "taps a side, odd; 0: 2 round(4 sigma) + 1", GF_ODD, NULL, 0, 511, 0},
      SCALE_PARAMETER},
     laplacian_of_gaussian},
    {"dog",
     "difference of gaussians",
     "gaussian(sigma1) - gaussian(sigma2)",
     {{"sigma1", "of the narrow gaussian, in pixels", GF_NUMBER, NULL, 0.01, 500, 1},
      {"sigma2", "of the wide one", GF_NUMBER, NULL, 0.01, 500, 1.6},
      SCALE_PARAMETER},
     difference_of_gaussians},
    {"edge",
     "the picture less what surrounds it",
     "every tap -1, but k^2 - 1 in the middle; k = 2 radius + 1 taps a side",
     {{"radius", "in pixels", GF_WHOLE, NULL, 1, 15, 1}, SCALE_PARAMETER},
     edge},
    {"conv",
     "layer of a neural network, or any bank of learned kernels",
     "map f: sum over channels and taps of weight * sample, + bias f",
     {{"weights", "maps x [channels x] height x width, or height x width; .npy or .safetensors",
       GF_FILE, NULL, 0, 0, 0},
      TENSOR_PARAMETER,
      {"bias", "a number a map: a tensor of the same .safetensors file, or a file",
       GF_OPTIONAL_FILE, NULL, 0, 0, 0},
      {"stride", "pixels from one window to the next", GF_SIZE, NULL, 1, GF_KERNEL_MAX_SIDE, 1},
      PADDING_PARAMETERS,
      {"groups", "parts into which channels and maps are cut", GF_WHOLE, NULL, 1,
       GF_LAYER_MAX_CHANNELS, 1},
      INSIDE_PARAMETER},
     gf_network_conv},
    {"maxpool",
     "largest sample of each window",
     "max x over the window's part of the picture",
     {POOL_PARAMETERS},
     gf_network_maxpool},
    {"avgpool",
     "mean of each window",
     "(sum of x) / (samples that count) + bias c",
     {POOL_PARAMETERS,
      {"bias", "a number a channel; .npy or .safetensors", GF_OPTIONAL_FILE, NULL, 0, 0, 0},
      TENSOR_PARAMETER,
      {"count", "samples that count: of the picture, or padding too, as zeros", GF_WORD,
       "inside padding", 0, 1, 0}},
     gf_network_avgpool},
    {"l2pool",
     "length of each window",
     "square root of the sum of x^2",
     {POOL_PARAMETERS},
     gf_network_l2pool},
    {"wpool",
     "weighted mean or sum of each window",
     "sum of weight * x",
     {{"weights", "height x width; .npy or .safetensors, or a kernel file", GF_FILE, NULL, 0, 0, 0},
      TENSOR_PARAMETER,
      STRIDE_OF_WINDOW,
      PADDING_PARAMETERS,
      INSIDE_PARAMETER},
     gf_network_wpool},
    {"relu", "rectifier: nothing below zero", "max(x, 0)", {{0}}, gf_network_relu},
    {"sigmoid",
     "logistic function",
     "1 / (1 + exp(-(x + bias)))",
     {{"bias", "added to each sample first", GF_NUMBER, NULL, -1e6, 1e6, 0}},
     gf_network_sigmoid},
    {"tanh", "hyperbolic tangent", "tanh(x)", {{0}}, gf_network_tanh},
    {"abs", "absolute value", "|x|", {{0}}, gf_network_abs},
    {"clamp",
     "limits samples",
     "min(max(x, low), high)",
     {{"low", "smallest sample", GF_NUMBER, NULL, -FLT_MAX, FLT_MAX, -FLT_MAX},
      {"high", "largest sample", GF_NUMBER, NULL, -FLT_MAX, FLT_MAX, FLT_MAX}},
     gf_network_clamp},
    {"scale",
     "linear function of each sample",
     "factor x + offset",
     {{"factor", "what samples are multiplied by", GF_NUMBER, NULL, -1e9, 1e9, 1},
      {"offset", "what is added", GF_NUMBER, NULL, -1e9, 1e9, 0}},
     gf_network_scale},
    {"deblur",
     "sharpens what a small blur has softened",
     "a network at half resolution that was taught what blurred photographs looked like before",
     {{"sigma", "standard deviation of the blur, in pixels", GF_NUMBER, NULL, 0.5, 2, 1}},
     gf_learned_deblur},
    {"denoise",
     "takes noise away",
     "a network at half resolution that was taught what noise looks like",
     {{"sigma", "standard deviation of the noise, in steps of 8 bits", GF_NUMBER, NULL, 0, 75, 25}},
     gf_learned_denoise},
    {"natural",
     "32 maps of what natural pictures are made of",
     "a bank of 9 x 9 kernels on luma, learned from photographs without being told what for",
     {{0}},
     gf_learned_natural},
    {NULL, NULL, NULL, {{0}}, NULL},
};

const GfNamedFilter *gf_catalog_find(const char *name)
{
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* What other programs call them. */
static const struct {
    const char *name, *here;
} elsewhere[] = {{"blur", "gaussian"},
                 {"smooth", "gaussian"},
                 {"lowpass", "gaussian"},
                 {"mean", "box"},
                 {"average", "box"}};

const char *gf_catalog_nearest(const char *name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (gf_distance(elsewhere[i].name, name) == 0)
            return elsewhere[i].here;
    const char *names[sizeof gf_catalog / sizeof *gf_catalog];
    size_t n = 0;
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        names[n++] = row->name;
    names[n] = NULL;
    return gf_nearest(name, names);
}

const GfParameter *gf_catalog_required(const GfNamedFilter *row)
{
    for (const GfParameter *p = row->parameters; p < row->parameters + GF_MAX_PARAMETERS; p++)
        if (p->name && p->kind == GF_FILE)
            return p;
    return NULL;
}
