/* The second matrix of kernels that are larger than registers hold, and which they are. */
#include <math.h>
#include <stdlib.h>

#include "common/memory.h"
#include "gpu/tensor.h"
#include "gpu/tensor_weights.h"

enum {
    BLOCK = 8,
    WORD = 4,
    LANES = GF_TENSOR_LANES,
    PRODUCT = GF_TENSOR_SIDE /* a side of the largest product of a column and a row that goes so */
};

/* The step with all taps of its kernel, for which there is room; of larger products without. */
static GfStep with_taps(const GfStep *step, double (*room)[PRODUCT * PRODUCT])
{
    GfStep whole = *step;
    const GfLinear *linear = &step->linear;
    if (linear->weights || linear->filters != 1 || linear->width > PRODUCT ||
        linear->height > PRODUCT)
        return whole;
    for (size_t i = 0; i < linear->width * linear->height; i++)
        (*room)[i] = gf_linear_tap(linear, 0, i / linear->width, i % linear->width);
    whole.linear.weights = *room;
    return whole;
}

/* Of what the rule of filters/backend.h allows beyond a half, in steps of the output. */
static const double allowed_u8 = 9e-4, allowed_u16 = 4.5e-2;

/* Carries from plane to plane stay within 32 bits. */
static const long most_sum = 1L << 30;

/* How large a number is at most, how far off, and by what part of itself it is rounded each
 * time. */
typedef struct Bound {
    double size, error, rounding;
} Bound;

/* The largest sum of a picture's samples times weights of one sign. */
static double largest_sum(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    double above = 0.0, below = 0.0;
    for (size_t i = 0; i < linear->width * linear->height; i++)
        *(linear->weights[i] > 0.0 ? &above : &below) += fabs(linear->weights[i]);
    return gf_sample_max(step->in) * fmax(above, below);
}

/* Of responses. Besides the weights four numbers are rounded: the upper bits of a sum, the sum, its
 * scale, the response. */
static Bound bound_responses(const GfStep *step, double unit)
{
    const GfLinear *linear = &step->linear;
    const double scale = fabs(linear->scale), rounding = step->in == GF_U8 ? 0x1p-24 : 0x1p-53;
    const double off = gf_weights_rounding(linear->weights, linear->width * linear->height, unit);
    const double size = scale * largest_sum(step) + fabs(linear->offset);
    const double error = scale * gf_sample_max(step->in) * off + 4.0 * rounding * size;
    return (Bound){size, error, rounding};
}

/* What a function makes of it. False: of that there is no bound. */
static bool follow(const GfPointwise *post, Bound *bound)
{
    switch (post->op) {
    case GF_POINTWISE_ABS:
    case GF_POINTWISE_RELU:
        return true;
    case GF_POINTWISE_AFFINE:
        bound->size = fabs(post->a) * bound->size + fabs(post->b);
        bound->error = fabs(post->a) * bound->error + 2.0 * bound->rounding * bound->size;
        return true;
    default:
        return false;
    }
}

/* How far off a sample may be, in steps of the output, where three planes stand for the weights. */
static double reach(const GfStep *step, double unit)
{
    Bound bound = bound_responses(step, unit);
    for (size_t i = 0; i < step->posts; i++)
        if (!follow(&step->post[i], &bound))
            return INFINITY;
    return fabs(step->gain) * bound.error +
           2.0 * bound.rounding * (fabs(step->gain) * bound.size + fabs(step->mid));
}

static double allowed(const GfStep *step)
{
    return step->out == GF_U8 ? allowed_u8 : allowed_u16;
}

bool gf_tensor_large_is_exact(const GfStep *step)
{
    double room[PRODUCT * PRODUCT];
    const GfStep whole = with_taps(step, &room);
    const GfLinear *linear = &whole.linear;
    size_t planes;
    if (gf_sample_is_float(step->out) || !linear->weights)
        return false;
    return reach(&whole, gf_weights_unit(linear->weights, linear->width * linear->height,
                                         &planes)) <= allowed(&whole);
}

static GfStatus check_weights(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const size_t count = linear->width * linear->height;
    size_t planes;
    const double unit = gf_weights_unit(linear->weights, count, &planes);
    const double off = planes > 1 ? reach(step, unit) : 0.0;
    if (planes > 1 && (gf_sample_is_float(step->out) || isinf(off)))
        return gf_fail(GF_EUNSUPPORTED, "tensor: taps that are no small integers times a unit only "
                                        "to 8 or 16 bits, and after them only abs, relu and scale");
    if (off > allowed(step))
        return gf_fail(GF_EUNSUPPORTED, "tensor: taps that 23 bits hold well enough");
    if (!gf_weights_sums_fit(linear->weights, count, unit, planes, most_sum))
        return gf_fail(GF_EUNSUPPORTED, "tensor: sums of bytes times digits below 2^30");
    return GF_OK;
}

GfStatus gf_tensor_large_supports(const GfStep *step)
{
    double room[PRODUCT * PRODUCT];
    const GfStep whole = with_taps(step, &room);
    const GfLinear *linear = &whole.linear;
    const bool fits = linear->width <= PRODUCT && linear->height <= PRODUCT;
    const bool single = linear->filters == 1 && linear->weights &&
                        (!step->separable || (step->in == GF_U16 && fits));
    if (!single && step->in == GF_U16)
        return gf_fail(GF_EUNSUPPORTED,
                       "tensor: on 16 bits single kernels, those that are products "
                       "of a column and a row within 15 x 15");
    if (!single)
        return gf_fail(GF_EUNSUPPORTED,
                       "tensor: kernels of about 15 x 15 taps (two: 7 x 7), and less wide the more "
                       "channels there are, but for single ones that are no products; not %zu x "
                       "%zu",
                       linear->width, linear->height);
    if (gf_large_pass(linear, gf_sample_size(step->in), GF_TENSOR_PLANES) == 0)
        return gf_fail(
            GF_EUNSUPPORTED,
            "tensor: %d bytes of shared memory for rows of a tile, those of %zu x %zu take more",
            GF_SHARED_BYTES, linear->width, linear->height);
    return check_weights(&whole);
}

/* The two words of a lane, for one row of the matrix, plane p and 32 bytes of a block's window from
 * `first` on: of the column of sample lane / 4. */
static void fill_lane(const GfLinear *linear, const GfTensorLarge *large, size_t row, size_t p,
                      size_t first, size_t lane, uint32_t *words)
{
    const size_t above = large->rows - linear->height;
    for (size_t i = 0; i < 2 * WORD; i++) {
        const size_t at = first + i / WORD * (GF_LARGE_GROUP / 2) + lane % 4 * WORD + i % WORD;
        const size_t sample = lane / 4, x = at - sample;
        if (at < sample || x >= linear->width || row < above)
            continue;
        const double units = linear->weights[(row - above) * linear->width + x] / large->unit;
        words[i / WORD] |= (uint32_t)(gf_weights_digit(units, p) & 0xFF) << i % WORD * 8;
    }
}

size_t gf_tensor_large_words(const GfTensorLarge *large)
{
    return large->groups * large->rows * large->planes * LANES * 2;
}

GfStatus gf_tensor_large_plan(const GfStep *step, GfTensorLarge *large, uint32_t **words)
{
    double room[PRODUCT * PRODUCT];
    const GfStep whole = with_taps(step, &room);
    const GfLinear *linear = &whole.linear;
    large->unit = gf_weights_unit(linear->weights, linear->width * linear->height, &large->planes);
    large->groups = gf_large_groups(linear);
    large->rows = gf_large_rows(linear);
    GF_TRY(gf_allocate_zero(gf_tensor_large_words(large), sizeof **words, words));
    for (size_t i = 0; i < gf_tensor_large_words(large) / 2; i++) {
        const size_t p = i / LANES % large->planes, row = i / LANES / large->planes;
        fill_lane(linear, large, row % large->rows, p, row / large->rows * GF_LARGE_GROUP,
                  i % LANES, *words + 2 * i);
    }
    return GF_OK;
}
