#include "gpu/pays.h"

#include <math.h>

#include "gpu/algorithms.h"
#include "gpu/launch.h"
#include "gpu/tensor.h"
#include "gpu/tensor_weights.h"

bool gf_is_usual_square(const GfLinear *linear)
{
    return linear->width == linear->height &&
           (linear->width == 3 || linear->width == 5 || linear->width == 7);
}

size_t gf_maps_of_group(const GfLinear *linear)
{
    return linear->filters / linear->groups;
}

bool gf_is_depthwise(const GfLinear *linear)
{
    return linear->groups > 1 && linear->depth == 1 && gf_maps_of_group(linear) < 4;
}

static bool is_pointwise(const GfLinear *linear)
{
    return linear->width == 1 && linear->height == 1;
}

static size_t longer_side(const GfLinear *linear)
{
    return linear->width > linear->height ? linear->width : linear->height;
}

static double round_up(size_t n, size_t unit)
{
    return unit > 1 ? (double)(gf_units(n, unit) * unit) : (double)n;
}

/* That a launch makes of each map. */
static double pixels_of(const GfStep *step, const GfUse *use)
{
    return (double)step->out_width * (double)step->out_height * (double)use->pictures;
}

/* May `tensor` store vectors of a layer's maps? */
static bool has_vectors(const GfStep *step, const GfUse *use)
{
    return !use->packed || step->out_width % 4 == 0;
}

/* Of one kernel by short strips of `special`, on no more than `most` pixels. */
static bool strips_pay(const GfStep *step, const GfUse *use, double most)
{
    return !use->wide && step->linear.filters == 1 && pixels_of(step, use) <= most &&
           gf_special_takes_maps(step) && gf_special_maps_pay(step, has_vectors(step, use));
}

/* The same of rows of pairs (gpu/special_pairs.cu), on pictures of any size. */
static bool pairs_pay(const GfStep *step, const GfUse *use)
{
    return !use->wide && gf_special_takes_pairs(step) && has_vectors(step, use) &&
           (step->linear.width == 3 || pixels_of(step, use) <= 1 << 22);
}

static bool is_product(const GfStep *step, const GfUse *use)
{
    return gf_algorithm_find("separable")->supports(step, use->wide) == GF_OK;
}

/* ---- banks ---- */

/* Of products with little to do, by passes in tiles: `separable` is faster than all others.
 * Registers hold small kernels on gray pictures, in vectors where rows are such.
 * (bench/results/2026-11-28-h200-4.md) */
static bool tiles_pay(const GfStep *step, const GfUse *use)
{
    const GfLinear *linear = &step->linear;
    const size_t side = longer_side(linear);
    const double samples = pixels_of(step, use) * (double)step->channels;
    const double few = (double)gf_separable_few(step, use->wide);
    if (gf_step_is_layer(step) || side > GF_SEPARABLE_TILED || !is_product(step, use))
        return false;
    if (step->channels > 1 && gf_sample_size(step->in) == 1)
        return samples <= (side > 3 ? 1 << 18 : 1 << 16) && (side > 3 || linear->filters == 1);
    if (step->channels > 1)
        return samples <= (side > 9 ? few : side > 5 ? fmin(few, 1 << 20) : 1 << 18);
    if (side > 9)
        return samples <= few;
    return side > 7 || (side == 7 && step->out_width % 4 != 0) ? samples < few
                                                               : side == 7 && samples <= 1 << 17;
}

/* 3 x 3 on bytes is faster by `special`: lengths, and one kernel with weights for which `tensor`
 * needs several planes, which are no product of a column and a row, but where pictures are very
 * narrow and high; others but where they are narrow and high. (bench/results/2026-11-24-h200-3.md,
 * -4.md, 2026-11-25-h200.md) */
static bool special_pays_on_bytes(const GfStep *step)
{
    if (!gf_special_takes_bytes(step))
        return false;
    const GfLinear *linear = &step->linear;
    enum { TAPS = 3 * 3 };
    double taps[TAPS];
    size_t planes = 0;
    for (size_t i = 0; i < TAPS; i++)
        taps[i] = gf_linear_tap(linear, 0, i / linear->width, i % linear->width);
    (void)gf_weights_unit(taps, TAPS, &planes);
    const size_t pixels = step->out_width * step->out_height;
    if (step->channels == 3 && linear->filters > 1 && step->out_width % 16 == 0 &&
        pixels <= (step->out_width < 256 ? 1 << 17 : 3 << 17))
        return false;
    if (step->out_width >= 32 && (linear->filters > 1 || (planes > 1 && !step->separable)))
        return true;
    return step->out_width >= (step->out_width % 16 ? 128 : 64) || pixels <= 1 << 18;
}

/* Do sums of a bank roll? Only where its rows begin as words do. */
static bool does_roll(const GfStep *step, const GfUse *use, const GfCard *card)
{
    GfTensorRolling rolling;
    return card->groups && (!use->packed || step->out_width * step->channels % 4 == 0) &&
           gf_tensor_rolling_plan(step, false, &rolling);
}

/* Of a bank of kernels within `side`, whose sums roll, on so many samples of a picture. Rows that
 * end within a word take longer. */
static bool rolling_pays(const GfStep *step, size_t side, double samples)
{
    const bool gray = step->channels == 1, words = step->out_width * step->channels % 4 == 0;
    if (side <= 5 && gray)
        return samples >= 1 << 17;
    if (side <= 5)
        return samples >= (words ? 1 << 20 : 7 << 17) ||
               (words && samples >= 1 << 17 && samples < 1 << 18);
    return samples >= (words ? (gray ? 1 << 14 : 1 << 15) : (gray ? 1 << 16 : 1 << 17));
}

/* Samples from which on it is faster for others: with fewer most tensor cores wait for each other.
 * From 2^20 on sums roll of most. */
static double least_for_strips(const GfStep *step, size_t side)
{
    const bool gray = step->channels == 1;
    const size_t row = step->out_width * step->channels;
    const double rolls = row >= 1024 ? 1 << 20 : 1 << 21;
    const bool words = row % 4 == 0;
    if (side <= 3) /* of gray and of lengths special_pays_on_bytes() has said where not */
        return gray || step->linear.filters > 1 ? 0.0 : words ? 1 << 20 : 3 << 21;
    if (step->separable) {
        if (side <= 5)
            return gray ? 1 << 19 : words ? 1 << 17 : 1 << 19;
        return side <= 7                                         ? 1 << 16
               : side <= 11                                      ? 1 << 17
               : (side <= 15 && row >= 1024) || (words && !gray) ? 1 << 19
                                                                 : 1 << 20;
    }
    if (side <= 5)
        return rolls;
    if (side <= 7)
        return gray ? 3 << 18 : 1 << 20;
    return gray ? (side <= 11 ? 3 << 18 : 3 << 17) : 1 << 19;
}

/* Small kernels on 16 bits, whose rows stay in registers. Weights of which four planes are needed
 * take more time, which counts beside sums in f32 (bench/results/2026-11-26-h200-5.md). */
static bool levels_pay(const GfStep *step, const GfUse *use, size_t side)
{
    const double pixels = pixels_of(step, use), samples = pixels * (double)step->channels;
    const bool slow = !use->wide && gf_tensor_levels(step) > 3;
    if (side == 1 || (side == 3 && step->channels != 3 && slow))
        return false;
    if (pairs_pay(step, use) || strips_pay(step, use, side == 3 ? 1 << 22 : 1 << 20))
        return false;
    if (step->channels != 3) {
        const bool two_passes = step->separable && side >= 7;
        if (use->wide && side < 9)
            return samples >= (side == 3 && !step->separable ? 1 << 18 : 1 << 20);
        return samples >= (two_passes ? 1 << 21 : 1 << 19);
    }
    if (side >= 9)
        return pixels > 1 << 17;
    if (side == 5)
        return use->wide ? pixels > 1 << 18 : pixels >= 1 << 19 && !slow && pixels < 1 << 23;
    return pixels >= (use->wide && side == 3 ? 1 << 16 : 1 << 18) && (!slow || pixels < 1 << 23);
}

/* Of kernels on 16 bits whose sums roll. Two passes are faster for products on small pictures, if
 * rows are multiplied two at a time or end within a word (bench/results/2026-11-28-h200.md). */
static bool words_pay(const GfStep *step, const GfUse *use, size_t side)
{
    const double least = step->channels > 1 ? 1 << 17 : 1 << 20;
    if (step->channels > 1 && side > 13)
        return pixels_of(step, use) >= least;
    return !step->separable || pixels_of(step, use) > least ||
           (side <= 13 && step->out_width % 4 == 0);
}

/* Where sums do not roll: the upper bytes and the lower ones, of strips that a narrow picture
 * leaves mostly empty. Sums in f32 of gray ones roll in `special`, which is faster at 9 x 9 and
 * slower at 13 x 13 (bench/results/2026-11-26-h200-2.md). */
static bool tensor_pays_on_16_bits(const GfStep *step, const GfUse *use, const GfCard *card,
                                   double work)
{
    const size_t least = step->channels > 1 ? 11 : use->wide ? 9 : 13;
    const size_t side = gf_special_side(&step->linear);
    if (!gf_tensor_is_large(step))
        return levels_pay(step, use, side);
    if (does_roll(step, use, card))
        return words_pay(step, use, side);
    const size_t width = step->channels == 1 && (!use->wide || side > 13) ? 128 : 192;
    return !step->separable && side >= least && step->out_width >= width && work >= 3 << 24;
}

/* One small kernel on very small pictures in colour: `shared` is faster. */
static bool is_little_colour(const GfStep *step, const GfUse *use, double samples)
{
    const size_t side = gf_special_side(&step->linear);
    const double little = use->wide || side > 5 ? 1 << 16 : side == 5 ? 1 << 15 : 0;
    return !gf_step_is_layer(step) && !gf_sample_is_float(step->in) && step->channels > 1 &&
           samples < little && step->linear.filters == 1 && side <= 9;
}

static bool tensor_pays_on_bytes(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const GfLinear *linear = &step->linear;
    const size_t side = gf_special_side(linear);
    const double samples = pixels_of(step, use) * (double)step->channels;
    const double work = (double)(gf_linear_taps(linear) * linear->filters) * samples;
    if (step->in == GF_U16)
        return tensor_pays_on_16_bits(step, use, card, work);
    const double strips = side > 7 || (side == 7 && step->separable) ? 3 << 18 : 1 << 20;
    if (side == 1 || special_pays_on_bytes(step) || strips_pay(step, use, strips))
        return false;
    if (is_little_colour(step, use, samples))
        return false;
    if (side <= 3 && step->channels == 3 && linear->filters == 1) {
        const bool words = step->out_width % 4 == 0;
        return words ? (samples >= 1 << 18 && samples < 1 << 20) || samples >= 3 << 22
                     : samples >= 3 << 21;
    }
    if (gf_tensor_is_large(step)) /* with less to do few multiprocessors have any of it */
        return work >= 1 << 25;
    if (side > 3 && !step->separable && does_roll(step, use, card))
        return rolling_pays(step, side, samples);
    return samples >= least_for_strips(step, side);
}

/* Sums in f64, and kernels in tiles. Two passes are faster for products where sums in f64 roll, of
 * others from 9 x 9 on, and from 7 x 7 on large pictures; `shared` is on small ones, if it has
 * room. */
static bool special_pays_in_tiles(const GfStep *step, const GfUse *use, double samples)
{
    const GfLinear *linear = &step->linear;
    const size_t side = longer_side(linear);
    if (is_product(step, use) && (side > 7 || (side == 7 && samples >= 1 << 22) ||
                                  (use->wide && gf_separable_is_wide(step))))
        return false;
    /* By one size, 256 x 256 (bench/results/2026-11-30-h200-6.md). */
    const bool small = side == 9 && !use->wide && step->channels > 1 && step->in == GF_U16;
    const size_t least = small ? 1 << 18 : !use->wide && side > 15 ? 1 << 16 : 1 << 17;
    return samples >= (double)least ||
           gf_algorithm_find("shared")->supports(step, use->wide) != GF_OK;
}

/* Of banks: from 7 x 7 on two passes are faster for products of floats, but for single kernels
 * (gpu/special_short.cu), which gray pictures of a middling size have too few strips for; from
 * 9 x 9 on for all. Small pictures have too little work for its strips then. */
static bool special_pays_by_rules(const GfStep *step, const GfUse *use)
{
    const GfLinear *linear = &step->linear;
    const size_t side = gf_special_side(linear);
    const bool real = gf_sample_is_float(step->in), single = linear->filters == 1;
    const double samples = pixels_of(step, use) * (double)step->channels;
    const double of_products = side > GF_SPECIAL_SIDE ? 3 << 18 : 1 << 20;
    if (tiles_pay(step, use))
        return false;
    if (strips_pay(step, use, is_product(step, use) ? of_products : 1 << 22))
        return true;
    if (gf_special_is_tile(step, use->wide))
        return special_pays_in_tiles(step, use, samples);
    if (is_little_colour(step, use, samples))
        return false;
    if (gf_step_is_layer(step) || side < GF_SPECIAL_SIDE)
        return true;
    const double large = !real ? 1 << 22 : step->out_width % 4 == 0 ? 1 << 20 : 1 << 21;
    const bool middling = step->channels == 1 && samples >= 1 << 17 && samples < large;
    if (side == GF_SPECIAL_SIDE)
        return !is_product(step, use) ||
               (!middling && (!real || (single && (step->in == GF_F32 || step->channels > 1))));
    return !is_product(step, use) && samples >= (side <= 11 ? 1 << 17 : 1 << 19);
}

/* ---- layers on pictures: of few channels ---- */

/* Of one picture's maps that `special` can make in short strips (gpu/special_maps.cu) or, of small
 * or narrow ones, in small tiles (gpu/special_small.cu): tensor cores are ahead with many taps and
 * outputs, and where filters are more than a launch of those holds. Of halves and 16 bits they make
 * floats first. (bench/results/2026-11-27-h200-2.md, 2026-11-30-h200.md) */
static bool tensor_pays_beside_tiles(const GfStep *step, size_t side, double pixels, bool vectors,
                                     const GfUse *use)
{
    const size_t maps = step->linear.filters;
    const bool several = use->pictures > 1;
    const double least = maps < 16 ? 1 << 20 : several ? 1 << 21 : 1 << 18;
    if (!vectors && several && side >= 7 && maps > GF_SPECIAL_HELD_7)
        return pixels < 1 << 14;
    if (!vectors || maps < 3)
        return false;
    if (step->in != GF_U8 && step->in != GF_F32)
        return side >= 7 && maps >= 16 && pixels >= 1 << 18;
    /* Of its tiles of 128 columns and 8 maps. */
    const double used =
        (double)maps / round_up(maps, 8) * (double)step->out_width / round_up(step->out_width, 128);
    if (side >= 7 && maps > 4 && maps < 16)
        return (double)maps * pixels * used > 15 << 16;
    if (side >= 7)
        return maps > GF_SPECIAL_HELD_7 || (double)maps * pixels > least;
    if (side < 5 || maps < 8)
        return false;
    if (pixels < 1 << 17)
        return maps > GF_SPECIAL_HELD_5 && (step->in == GF_U8 || pixels < 1 << 13 || used >= 0.85);
    return (step->in == GF_U8 || maps >= 24) && pixels < 1 << 19;
}

/* Many maps whose rows the card copies are made faster than by `special` of bytes; of floats only
 * under 3 x 3 taps of several large pictures. (bench/results/2026-11-30-h200.md) */
static bool copies_pay(const GfStep *step, size_t side, double pixels, const GfUse *use,
                       const GfCard *card)
{
    const bool several = use->pictures > 1;
    if (!card->groups || !has_vectors(step, use) || !gf_first_may_copy(step))
        return false;
    if (step->in == GF_U8)
        return pixels >= (side > 3 || several ? 3 << 17 : 1 << 21);
    return side == 3 && several && pixels >= 1 << 21;
}

/* Are rows of floats that begin anywhere woven (gpu/tensor_first.cu)? */
static bool are_woven(const GfStep *step, const GfUse *use)
{
    return !has_vectors(step, use) && (step->in == GF_F32 || step->in == GF_U8) &&
           step->out == GF_F32 && step->out_width * step->stride_x > GF_FIRST_WOVEN &&
           step->stride_x <= 2 && step->linear.height <= GF_FIRST_SIDE;
}

/* Of one channel under 3 x 3 and 5 x 5 taps, woven: of narrow pictures, and of several at a time,
 * `special` leaves more of its strips empty. (bench/results/2026-11-29-h200-2.md) */
static bool weaving_pays(const GfStep *step, size_t side, double pixels, const GfUse *use)
{
    const size_t maps = step->linear.filters, width = step->out_width;
    const bool bytes = step->in == GF_U8;
    if (maps < 8 || !are_woven(step, use))
        return false;
    /* Of one wide picture it is from fewer pixels on (bench/results/2026-11-30-h200-4.md). */
    const bool early = use->pictures == 1 && width >= 512 && (side > 3 || maps < 64);
    const double least = !early ? 1 << 21 : side > 3 ? 1 << 19 : 5 << 18;
    if (bytes && pixels >= least && (maps >= 16 || side == 3))
        return true;
    if (use->pictures > 1)
        return side == 3 ? maps >= 16 || (bytes && width > 64)
                         : maps >= 16 && width > 96 && width < 192;
    return width < GF_SPECIAL_STRIP - 8 &&
           (side == 3 ? maps >= 16 && pixels >= 1 << 16
                      : maps > GF_SPECIAL_HELD_5 && pixels >= 1 << 15);
}

/* Of one channel, side by side: `special` is the other, which rounds less where both are as fast.
 * Maps are made eight at a time. */
static bool tensor_pays_on_gray(const GfStep *step, size_t side, double pixels, const GfUse *use,
                                const GfCard *card)
{
    const size_t maps = step->linear.filters;
    const double work = (double)(gf_linear_taps(&step->linear) * maps) * pixels;
    /* Many taps hide the weaving where few of the maps that are made are thrown away.
     * (bench/results/2026-11-28-h200-2.md) */
    const bool woven = side >= 7 && are_woven(step, use) &&
                       (maps <= 4 ? pixels > 1 << 19 : round_up(maps, 8) < 1.5 * (double)maps);
    const bool vectors = woven || has_vectors(step, use);
    const bool full = round_up(maps, 8) <= 1.15 * (double)maps;
    const bool square = gf_is_usual_square(&step->linear);
    const bool small = step->out_width < GF_SPECIAL_STRIP || pixels <= 1 << 18;
    if (side >= 9)
        return true;
    if (side < 7 &&
        (weaving_pays(step, side, pixels, use) || copies_pay(step, side, pixels, use, card)))
        return true;
    if ((use->pictures == 1 && gf_special_takes_maps(step)) ||
        (square && small && (use->pictures == 1 || side >= 7)))
        return tensor_pays_beside_tiles(step, side, pixels, vectors, use);
    if (side >= 7)
        return pixels < 1 << 17 || (maps >= 3 && vectors);
    if (use->pictures > 1 && work / (double)use->pictures < 1 << 22) /* special_small.cu */
        return false;
    if (step->in == GF_U8)
        return maps >= 4 && (vectors || pixels < 1 << 17) && (side >= 5 || maps < 64);
    if (side < 5)
        return vectors && maps >= 32 && pixels < 1 << 15;
    if (pixels < (vectors ? 1 << 18 : 1 << 14))
        return pixels >= 1 << 11 && (maps >= 4 || pixels < 1 << 14);
    return vectors && maps >= 8 && full && (maps < 32 || pixels < 1 << 23);
}

/* Is it a layer on gray of odd squares, side by side, for which the rules above are? Of all others
 * the time is estimated. */
static bool is_usual_on_gray(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    return gf_tensor_is_first(step) && linear->depth == 1 && step->stride_x == 1 &&
           linear->width % 2 == 1 && linear->height == linear->width;
}

/* ---- layers of many channels ---- */

/* Microseconds of a layer by `tensor`, for cards without groups of warps that multiply, and for
 * what has no lines, fitted to layers that were measured: what a launch takes; each tap, which a
 * block's threads wait for; the multiply-adds, of maps (and of channels) that fill up whole units;
 * each sum, the more where vectors are not stored; and each number that is read. */
typedef struct Cost {
    double launch, tap, product, sum;
    size_t maps, channels, taps; /* units, 0 is 1; taps of a row */
    double wide;                 /* times taps and products of kernels wider than 3; 0 is 1 */
    double apart, read;
} Cost;

enum { FEW_MAPS = 16 }; /* of a group, for which it has other kernels, larger than 1 x 1 */

/* Squares by 277 layers (bench/results/2026-11-29-h200-5.md); few maps, for which a row of taps
 * takes as long as eight, by 64 (2026-11-29-h200.md); single taps by 515 (2026-11-29-h200-6.md). In
 * groups squares by 351, those of up to GF_FIRST_CHANNELS channels by 116, single taps by 137
 * (2026-11-30-h200-3.md). */
static const Cost of_squares = {6.66,       9e-4,           8.42e-9,        1.66e-6,
                                .maps = 64, .channels = 16, .read = 3.01e-6};
static const Cost of_few_maps = {8.22, 2.1e-3, 4.96e-8, 3.6e-6, 16, 16, .taps = 8, .wide = 1.04};
static const Cost of_pixels = {6.24,       3.32e-3,        3.95e-8,        3.2e-7,
                               .maps = 64, .channels = 16, .read = 2.26e-6};
static const Cost of_groups = {7.05, 7.8e-4, 8.56e-9,      1.3e-7,
                               64,   16,     .wide = 1.07, .read = 5.86e-6};
static const Cost of_shallow_groups = {4.43, 7.92e-3, 1.52e-8,      2.99e-6,
                                       64,   16,      .wide = 0.72, .apart = 2.98e-6};
static const Cost of_pixels_in_groups = {4.44, 1.75e-2, 1.01e-8,         3.06e-6,
                                         64,   16,      .apart = 3.1e-7, .read = 1.4e-7};

static const Cost *cost_table(const GfLinear *linear)
{
    if (is_pointwise(linear))
        return linear->groups == 1 ? &of_pixels : &of_pixels_in_groups;
    if (linear->groups == 1)
        return linear->filters <= FEW_MAPS ? &of_few_maps : &of_squares;
    return linear->depth > GF_FIRST_CHANNELS ? &of_groups : &of_shallow_groups;
}

/* Numbers that are read. */
static double inputs_of(const GfStep *step, const GfUse *use)
{
    return (double)step->in_width * (double)step->in_height * (double)use->pictures *
           (double)(step->linear.depth * step->linear.groups);
}

/* And that are made. */
static double outputs_of(const GfStep *step, const GfUse *use)
{
    return pixels_of(step, use) * (double)step->linear.filters;
}

static double cost_of(const GfStep *step, const GfUse *use, const Cost *cost)
{
    const GfLinear *linear = &step->linear;
    const double groups = (double)linear->groups;
    const double sums =
        pixels_of(step, use) * groups * round_up(gf_maps_of_group(linear), cost->maps);
    const double column = (double)linear->height * round_up(linear->depth, cost->channels);
    const double taps = column * (double)linear->width;
    const double products = column * round_up(linear->width, cost->taps) * sums;
    const double adding = cost->tap * taps + cost->product * products;
    const double wide = linear->width > 3 && cost->wide > 0.0 ? cost->wide : 1.0;
    const double sum = cost->sum + (has_vectors(step, use) ? 0.0 : cost->apart);
    return cost->launch + adding * wide + sum * sums + cost->read * inputs_of(step, use);
}

/* Are samples read as they are? */
static bool is_direct(const GfStep *step, const GfCard *card)
{
    return card->groups && gf_tensor_is_direct(step) && gf_tensor_is_flat(step);
}

/* For methods that know what they take: on the card that all costs were measured on, with clusters
 * or without. */
static GfTask task_of(const GfStep *step, const GfUse *use, const GfCard *card)
{
    enum { PROCESSOR_BYTES = 228 << 10, BLOCK_BYTES = 227 << 10 };
    return (GfTask){step,
                    step->out_height,
                    use->pictures,
                    use->wide,
                    has_vectors(step, use),
                    GF_FLAT_CARD,
                    PROCESSOR_BYTES,
                    BLOCK_BYTES,
                    card->capability >= 90};
}

/* Microseconds of `tensor` on many maps whose samples stand in lines, of which it knows the cycles
 * (gpu/tensor_flat.c): what a launch takes; each cycle; each output; and each number that is read.
 * By 397 layers (bench/results/2026-11-30-h200-6.md). */
static double lines_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 1.67, cycle = 6.44e-4, output = 6.7e-7, read = 2.15e-6;
    const GfStep taps = gf_patches(step);
    const GfLinear *linear = &taps.linear;
    const GfTask task = task_of(&taps, use, card);
    const GfFlatWork work = gf_flat_work(&task);
    const double inputs = is_pointwise(linear)
                              ? pixels_of(step, use) * (double)(linear->depth * linear->groups)
                              : inputs_of(step, use);
    return launch * (double)work.lines + cycle * (double)work.cycles +
           output * outputs_of(step, use) + read * inputs;
}

/* The same of few maps: what a launch takes, and each of the busiest multiprocessor's blocks;
 * cycles of its products, and of what they wait for; and as above. By 283 layers of squares, in
 * groups and not (bench/results/2026-11-30-h200-4.md). */
static double few_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 1.95, block = 3.09, product = 4.71e-4, brought = 3.1e-4, shares = 0.88,
                 output = 1.82e-6, read = 2.57e-6;
    const GfTask task = task_of(step, use, card);
    const GfFewWork work = gf_few_work(&task);
    return launch + block * (double)work.blocks + product * (double)work.products +
           brought * (double)work.brought + (work.shared ? shares : 0.0) +
           output * outputs_of(step, use) + read * inputs_of(step, use);
}

/* And of single taps whose samples it reads as they are: what a launch takes; each tile of the
 * busiest multiprocessor, with cycles of products, and of making halves of samples, which take
 * longer where no vectors of planes are read; and each output. By 308 layers, in groups and not
 * (bench/results/2026-11-30-h200-4.md). */
static double direct_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 3.09, tile = 0.395, product = 9.22e-4, converting = 8.81e-4,
                 single = 3.86e-4, strided = 1.334e-3, output = 5.89e-7, apart = 2.78e-6;
    const GfStep taps = gf_patches(step);
    const GfTask task = task_of(&taps, use, card);
    const GfPixelsCut cut =
        gf_pixels_cut(&taps, task.pictures * step->out_height * step->out_width, task.processors);
    const bool strides = step->stride_x > 1 || step->stride_y > 1;
    const bool reads = !use->packed || step->in_width * step->in_height % 4 == 0;
    const bool stores = !use->packed || step->out_width * step->out_height % 4 == 0;
    const double a_number = converting + (strides ? strided : reads ? 0.0 : single);
    return launch +
           (double)cut.tiles *
               (tile + product * (double)cut.products + a_number * (double)cut.converting) +
           (output + (stores ? 0.0 : apart)) * outputs_of(step, use);
}

/* And of few channels (gpu/tensor_first.c): what a launch takes; each product of the busiest
 * multiprocessor's blocks; of a block once more its products, its turns, and the numbers that it
 * waits for; each output, the more where rows begin anywhere; and each number that is read. By 1041
 * layers (bench/results/2026-11-30-h200-5.md). */
static double first_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 2.28, product = 2.08e-3, chain = 1.58e-3, turn = 0.266, number = 1.42e-4,
                 output = 3.96e-7, woven = 8.04e-7, apart = 2.7e-6, read = 2.23e-6, strides = 0.4;
    const GfTask task = task_of(step, use, card);
    const GfFirstWork work = gf_first_work(&task);
    const double more = task.vectors ? 0.0 : are_woven(step, use) ? woven : apart;
    return launch + (step->stride_x > 1 ? strides : 0.0) +
           (product * (double)work.blocks + chain) * (double)work.products +
           turn * (double)work.turns + number * (double)work.numbers +
           (output + more) * outputs_of(step, use) + read * inputs_of(step, use);
}

static double tensor_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    if (gf_tensor_is_first(step))
        return first_cost(step, use, card);
    if (is_direct(step, card))
        return direct_cost(step, use, card);
    if (card->groups && gf_tensor_is_flat(step)) {
        const GfStep taps = gf_patches(step);
        return gf_tensor_flat(&taps).few ? few_cost(step, use, card) : lines_cost(step, use, card);
    }
    return cost_of(step, use, cost_table(&step->linear));
}

/* What these take the methods themselves know, in cycles. */
static const double CYCLE = 5.05e-4; /* microseconds */

static double general_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 0.41;
    const GfTask task = task_of(step, use, card);
    return launch + CYCLE * gf_general_cycles(&task, NULL);
}

static double shared_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 0.81, output = 2.6e-6, read = 6.5e-7;
    const GfTask task = task_of(step, use, card);
    return launch + CYCLE * gf_shared_cycles(&task, 0, NULL) + output * outputs_of(step, use) +
           read * inputs_of(step, use);
}

static double implicit_cost(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const double launch = 0.18, apart = 1.11e-6, read = 2.6e-7, bytes = 1.12;
    const GfTask task = task_of(step, use, card);
    return (launch + CYCLE * gf_implicit_cycles(&task, 0, NULL) +
            (task.vectors ? 0.0 : apart * outputs_of(step, use)) + read * inputs_of(step, use)) *
           (step->in == GF_U8 ? bytes : 1.0);
}

/* Of one channel by the rows of `special` that are for kernels of any sides
 * (gpu/special_layer.cu): what a launch takes, and each map of so many taps; each output; and each
 * number that is read. By 199 layers (bench/results/2026-11-30-h200-5.md). */
static double special_cost(const GfStep *step, const GfUse *use)
{
    const double launch = 2.1, map = 0.09, tap = 2.02e-3, product = 2.12e-8, output = 1.92e-6,
                 apart = 9.5e-7, read = 5.6e-6;
    const GfLinear *linear = &step->linear;
    const double side = fmax(3.0, (double)(longer_side(linear) | 1));
    const double outputs = outputs_of(step, use), maps = (double)linear->filters;
    return launch + maps * (map + tap * side * side) +
           outputs * (output + product * side * side + (has_vectors(step, use) ? 0.0 : apart)) +
           read * pixels_of(step, use);
}

/* Has `general` kernels for it? Those that it has for all layers do not pay. */
static bool is_for_general(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    return gf_step_is_dense(step) && !gf_is_depthwise(linear) &&
           (is_pointwise(linear) || gf_is_usual_square(linear));
}

/* Are they for a layer whose kernels are no odd squares? */
static bool is_for_rows(const GfStep *step, const GfUse *use)
{
    const GfLinear *linear = &step->linear;
    return gf_step_is_layer(step) && linear->groups == 1 && linear->depth == 1 &&
           (linear->width != linear->height || linear->width % 2 == 0) &&
           gf_algorithm_find("special")->supports(step, use->wide) == GF_OK;
}

/* What the fastest takes of those that are tried after `general`, and after `tensor`. */
static double least_after_general(const GfStep *step, const GfUse *use, const GfCard *card)
{
    return fmin(implicit_cost(step, use, card), shared_cost(step, use, card));
}

static double least_after_tensor(const GfStep *step, const GfUse *use, const GfCard *card)
{
    double least = least_after_general(step, use, card);
    if (is_for_rows(step, use))
        least = fmin(least, special_cost(step, use));
    return is_for_general(step) ? fmin(least, general_cost(step, use, card)) : least;
}

/* Single taps that are no work for `tensor`: of few channels most of what it multiplies are zeros;
 * of few maps whose samples are not read as they are others are faster
 * (bench/results/2026-11-29-h200-6.md). */
static bool are_few_taps(const GfStep *step, const GfCard *card)
{
    const GfLinear *linear = &step->linear;
    return linear->depth <= GF_FIRST_CHANNELS ||
           (linear->groups == 1 && linear->filters <= FEW_MAPS && !is_direct(step, card));
}

/* ---- all ---- */

bool gf_tensor_pays(const GfStep *step, const GfUse *use, const GfCard *card)
{
    const GfLinear *linear = &step->linear;
    const double pixels = pixels_of(step, use);
    if (tiles_pay(step, use))
        return false;
    if (!gf_step_is_layer(step))
        return tensor_pays_on_bytes(step, use, card);
    if (is_usual_on_gray(step))
        return tensor_pays_on_gray(step, longer_side(linear), pixels, use, card);
    if (gf_tensor_is_first(step)) {
        /* What a network's entry takes at least, if it need not be launched. */
        const double entry = 2.0;
        return tensor_cost(step, use, card) <
               least_after_tensor(step, use, card) + (use->enters ? entry : 0.0);
    }
    if (gf_is_depthwise(linear) || (is_pointwise(linear) && are_few_taps(step, card)))
        return false;
    const bool lines = card->groups && gf_tensor_is_flat(step);
    if (!lines && !is_pointwise(linear) && !gf_is_usual_square(linear))
        return false;
    return tensor_cost(step, use, card) < least_after_tensor(step, use, card);
}

bool gf_special_pays(const GfStep *step, const GfUse *use, const GfCard *card)
{
    return is_for_rows(step, use) ? special_cost(step, use) <= least_after_general(step, use, card)
                                  : special_pays_by_rules(step, use);
}

bool gf_general_pays(const GfStep *step, const GfUse *use, const GfCard *card)
{
    return is_for_general(step) &&
           general_cost(step, use, card) <= least_after_general(step, use, card);
}

bool gf_implicit_pays(const GfStep *step, const GfUse *use, const GfCard *card)
{
    return !gf_is_depthwise(&step->linear) &&
           implicit_cost(step, use, card) <= shared_cost(step, use, card);
}
