#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "gpu/tensor.h"
#include "gpu/tensor_weights.h"

enum { BLOCK = 8, WORD = 4, GROUP = 16, MOST_ROWS_OF_TWO = 7 };
enum { RGB = 3, LEAST_ROWS = 3, LEAST_ROWS_BY_CHANNEL = 9, LEAST_ROWS_OF_PAIRS = 12 };

/* Samples of a picture, and of its rows, from which on a bank rolls; rows of a kernel that does with one step. */
enum { LEAST_ROLLING = 1 << 20, LEAST_ROLLING_ROW = 1 << 10 };

/* Of what the rule of filters/backend.h allows beyond a half, in steps of the output. */
static const double allowed_u8 = 8e-4, allowed_u16 = 2e-2;

/* What three planes' sums are rounded by at most, in units: they are joined in f32, near 2^32, and of
 * rows more such numbers are added up. */
static const double joined = 1024.0, joined_rows = 4096.0;

/* ---- the choice between kernels and their factors ---- */

enum { MOST_TAPS = GF_TENSOR_SIDE * GF_TENSOR_GROUPS * GROUP };

/* The weights that tensor cores multiply by: a filter's taps, or its row. */
typedef struct Weights {
    size_t width, height;
    double unit;
    size_t planes;
    double numbers[MOST_TAPS];
} Weights;

static size_t count_of(const Weights *weights)
{
    return weights->width * weights->height;
}

static void weights_of(const GfLinear *linear, size_t f, bool rows_only, Weights *weights)
{
    weights->width = linear->width;
    weights->height = rows_only ? 1 : linear->height;
    for (size_t i = 0; i < count_of(weights); i++)
        weights->numbers[i] = rows_only
                                  ? linear->rows[f * linear->width + i]
                                  : gf_linear_tap(linear, f, i / linear->width, i % linear->width);
    weights->unit = gf_weights_unit(weights->numbers, count_of(weights), &weights->planes);
}

/* Bytes of an input row between the start of a word and the first tap of a block's first sample. */
static int lead_of(const GfStep *step, int *first_word)
{
    ptrdiff_t shift = step->origin_x * (ptrdiff_t)step->channels;
    ptrdiff_t lead = (shift % WORD + WORD) % WORD;
    *first_word = (int)((shift - lead) / WORD);
    return (int)lead;
}

static size_t groups_of(const GfStep *step)
{
    int first_word;
    size_t bytes =
        (size_t)lead_of(step, &first_word) + BLOCK + (step->linear.width - 1) * step->channels;
    size_t groups = (bytes + GROUP - 1) / GROUP;
    return groups == 3 ? 4 : groups;
}

static bool fits(const GfStep *step, bool rows_only)
{
    const size_t rows = step->linear.filters > 1 ? MOST_ROWS_OF_TWO : GF_TENSOR_SIDE;
    return step->linear.height <= rows && groups_of(step) <= (rows_only ? GF_TENSOR_GROUPS : 2);
}

static size_t planes_of(const GfLinear *linear, bool rows_only)
{
    size_t most = 1;
    for (size_t f = 0; f < linear->filters; f++) {
        Weights weights;
        weights_of(linear, f, rows_only, &weights);
        most = weights.planes > most ? weights.planes : most;
    }
    return most;
}

/* Are tensor cores to make the row pass only? That was measured to be faster, but where all of the kernel
 * is in one plane. */
static bool use_rows(const GfStep *step)
{
    return step->separable && step->linear.filters == 1 && step->post_channels == step->channels &&
           fits(step, true) && !(fits(step, false) && planes_of(&step->linear, false) == 1);
}

/* Rows that are computed of so many: an odd number. */
static size_t rows_of(size_t height, size_t least)
{
    return height < least ? least : height / 2 * 2 + 1;
}

/* ---- RGB by channel ---- */

/* Kernels that are products have the rows' way, or method `separable`. */
static bool goes_by_channel(const GfStep *step)
{
    return step->channels == RGB && step->linear.filters == 1 && !step->separable &&
           groups_of(step) > 2;
}

/* The step as it is on one of its channels. */
static GfStep one_channel(const GfStep *step)
{
    GfStep one = *step;
    one.channels = one.out_channels = one.post_channels = 1;
    return one;
}

static GfStep computed_step(const GfStep *step)
{
    return goes_by_channel(step) ? one_channel(step) : *step;
}

/* ---- what is supported ---- */

/* How far off a sample may be, in steps of the output, where three planes stand for the weights. */
static double reach(const GfStep *step, size_t f, bool rows_only, const Weights *weights)
{
    const GfLinear *linear = &step->linear;
    double columns = rows_only ? 0.0 : 1.0;
    for (size_t i = 0; rows_only && i < linear->height; i++)
        columns += fabs(linear->columns[f * linear->height + i]);
    double sum =
        gf_weights_rounding(weights->numbers, count_of(weights), weights->unit) * UCHAR_MAX +
        (rows_only ? joined_rows : joined) * weights->unit;
    return fabs(linear->scale * step->gain) * columns * sum;
}

static GfStatus check_weights(const GfStep *step, bool rows_only)
{
    const GfLinear *linear = &step->linear;
    const bool simple = gf_tensor_finishes(step) && !gf_sample_is_float(step->out);
    const size_t planes = planes_of(linear, rows_only);
    if (planes > 1 && !simple)
        return gf_fail(GF_EUNSUPPORTED, "tensor: taps that are no small integers times a unit only "
                                        "of one kernel, to 8 or 16 bits, and nothing after it");
    for (size_t f = 0; f < linear->filters; f++) {
        Weights weights;
        weights_of(linear, f, rows_only, &weights);
        if (planes > 1 &&
            reach(step, f, rows_only, &weights) > (step->out == GF_U8 ? allowed_u8 : allowed_u16))
            return gf_fail(GF_EUNSUPPORTED, "tensor: taps that 23 bits hold well enough");
        if (!gf_weights_sums_fit(weights.numbers, count_of(&weights), weights.unit, planes,
                                 GF_TENSOR_MOST_SUM))
            return gf_fail(GF_EUNSUPPORTED, "tensor: sums of bytes times digits below 2^22");
    }
    return GF_OK;
}

bool gf_tensor_is_large(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    return !fits(&computed, use_rows(&computed));
}

GfStatus gf_tensor_supports_kernels(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    return gf_tensor_is_large(step) ? gf_tensor_large_supports(step)
                                    : check_weights(&computed, use_rows(&computed));
}

/* ---- the second matrix ---- */

/* Where a byte of it stands. */
typedef struct Place {
    size_t row; /* of the kernel */
    int sample; /* of the block: the matrix's column */
    int apart;  /* bytes from that sample's first tap */
} Place;

static bool is_kept(const GfStep *step, int sample)
{
    return step->keep_alpha && sample % (int)step->channels == (int)step->channels - 1;
}

/* Does a tap stand there? Of opacity that is copied, one of 1 at the anchor. */
static bool find_tap(const GfStep *step, const Weights *weights, const Place *place, size_t *tap)
{
    const int channels = (int)step->channels;
    if (place->apart < 0 || place->apart % channels != 0)
        return false;
    const size_t x = (size_t)(place->apart / channels);
    *tap = place->row * weights->width + x;
    if (is_kept(step, place->sample))
        return x == step->linear.anchor_x && place->row == step->linear.anchor_y;
    return x < weights->width && place->row < weights->height;
}

/* `top`: it belongs to the last plane. */
static int byte_at(const GfStep *step, const Weights *weights, size_t p, bool top,
                   const Place *place)
{
    size_t tap;
    if (!find_tap(step, weights, place, &tap))
        return 0;
    return is_kept(step, place->sample)
               ? top
               : gf_weights_digit(weights->numbers[tap] / weights->unit, p);
}

/* The words of one filter's plane p. */
static void fill_plane(const GfStep *step, const Weights *weights, size_t p, bool top, size_t words,
                       uint32_t *word)
{
    int first_word;
    const int lead = lead_of(step, &first_word);
    const size_t groups = groups_of(step);
    for (size_t i = 0; i < words * WORD; i++) {
        const int lane = (int)(i / WORD % GF_TENSOR_LANES);
        const size_t slot = i / WORD / GF_TENSOR_LANES;
        const int at = (int)(slot % groups) * GROUP + lane % 4 * WORD + (int)(i % WORD);
        const Place place = {slot / groups, lane / 4, at - lead - lane / 4};
        word[i / WORD] |= (uint32_t)(byte_at(step, weights, p, top, &place) & 0xFF) << i % WORD * 8;
    }
}

void gf_tensor_plan(const GfStep *step, GfTensor *tensor)
{
    const GfStep computed = computed_step(step);
    const GfLinear *linear = &step->linear;
    *tensor = (GfTensor){.rows_only = use_rows(&computed),
                         .by_channel = goes_by_channel(step),
                         .filters = linear->filters};
    tensor->planes = planes_of(linear, tensor->rows_only);
    tensor->groups = groups_of(&computed);
    tensor->height =
        rows_of(linear->height, tensor->by_channel ? LEAST_ROWS_BY_CHANNEL : LEAST_ROWS);
    (void)lead_of(&computed, &tensor->first_word);
    const size_t words = gf_tensor_words(tensor) / tensor->filters / tensor->planes;
    for (size_t f = 0; f < linear->filters; f++) {
        Weights weights;
        weights_of(linear, f, tensor->rows_only, &weights);
        tensor->unit[f] = weights.unit;
        for (size_t p = 0; p < tensor->planes; p++)
            fill_plane(&computed, &weights, p, p + 1 == tensor->planes, words,
                       tensor->words + (f * tensor->planes + p) * words);
    }
}

/* ---- banks that roll ---- */

/* The nearest number of f16; all are far below its largest. */
static double round_half(double number, uint16_t *half)
{
    int exponent;
    *half = 0;
    if (number == 0.0)
        return 0.0;
    (void)frexp(number, &exponent);
    const int last = exponent - 11 < -24 ? -24 : exponent - 11; /* place of the last digit */
    const double digits = nearbyint(ldexp(fabs(number), -last));
    *half = (uint16_t)((unsigned)digits + ((unsigned)(last + 24) << 10) + (number < 0.0) * 0x8000u);
    return copysign(ldexp(digits, last), number);
}

/* A power of two by which the largest weight is less than 2^15. */
static double unit_of_halves(const Weights *weights)
{
    int exponent;
    (void)frexp(gf_weights_largest(weights->numbers, count_of(weights)), &exponent);
    return ldexp(1.0, exponent - 15);
}

/* A weight's upper half, or what that leaves to the lower one. */
static double half_of(double units, bool upper, uint16_t *half)
{
    const double rounded = round_half(units, half);
    return upper ? rounded : round_half(units - rounded, half);
}

/* How far off a sample may be, in steps of the output: weights are, and each product that is added to a
 * sum rounds it. */
static double reach_of_halves(const GfStep *step, const GfTensorRolling *rolling,
                              const Weights *weights)
{
    double error = 0.0, most = 0.0;
    for (size_t i = 0; i < count_of(weights); i++) {
        const double units = weights->numbers[i] / rolling->unit;
        uint16_t half;
        const double upper = half_of(units, true, &half), lower = half_of(units, false, &half);
        error += fabs(units - upper - lower) * rolling->unit * UCHAR_MAX;
        most += fabs(weights->numbers[i]) * UCHAR_MAX;
        if (i % weights->width == weights->width - 1 && most > 0.0)
            error += (double)(rolling->planes * rolling->steps) * ldexp(1.0, ilogb(most) - 23);
    }
    return fabs(step->linear.scale * step->gain) * error;
}

static void fill_halves(const GfStep *step, const GfTensorRolling *rolling, const Weights *weights,
                        size_t p, uint16_t *halves)
{
    const size_t of_step = rolling->block * GF_ROLLING_STEP, row = rolling->steps * of_step;
    const int lead = (int)(step->origin_x * (ptrdiff_t)step->channels) - rolling->first_byte;
    for (size_t i = 0; i < rolling->height * row; i++) {
        const int eighth = (int)(i % 8), sample = (int)(i / 8 % rolling->block);
        const int half = (int)(i / 8 / rolling->block % 2);
        const int at = (int)(i % row / of_step) * GROUP + eighth / 2 * WORD + half * 2 + eighth % 2;
        const Place place = {i / row, sample, at - lead - sample};
        const bool upper = p + 1 == rolling->planes;
        uint16_t *to = halves + (p * rolling->height + place.row) * row;
        size_t tap;
        if (!find_tap(step, weights, &place, &tap))
            continue;
        if (!is_kept(step, sample))
            (void)half_of(weights->numbers[tap] / rolling->unit, upper, &to[i % row]);
        else if (upper)
            (void)round_half(1.0, &to[i % row]);
    }
}

/* Where blocks are pairs: a multiple of 4, and one row more than the kernel has at least. */
static size_t rows_of_pairs(size_t height)
{
    return gf_max(height / 4 * 4 + 4, LEAST_ROWS_OF_PAIRS);
}

/* Of a bank whose samples a block has side by side, or of one channel. */
static bool plan_rolling(const GfStep *step, GfTensorRolling *rolling)
{
    const GfLinear *linear = &step->linear;
    const size_t groups = groups_of(step);
    const bool pairs = linear->height > GF_ROLLING_ROWS || (rolling->by_channel && groups > 1);
    Weights weights;
    int first_word;
    if (step->out != GF_U8 || !gf_tensor_finishes(step) || linear->height > GF_TENSOR_SIDE ||
        groups > GF_ROLLING_STEPS || (pairs && step->channels > 1) ||
        ((groups > 1 || pairs) && use_rows(step)))
        return false;
    weights_of(linear, 0, false, &weights);
    (void)lead_of(step, &first_word);
    rolling->block = pairs ? 2 : GF_ROLLING_BLOCK;
    rolling->planes = weights.planes == 1 && !pairs ? 1 : 2;
    rolling->height = pairs ? rows_of_pairs(linear->height) : rows_of(linear->height, LEAST_ROWS);
    rolling->steps = pairs ? 1 : groups;
    rolling->first_byte = pairs ? (int)step->origin_x : first_word * WORD;
    rolling->unit = weights.planes == 1 ? weights.unit : unit_of_halves(&weights);
    if (weights.planes > 1 && reach_of_halves(step, rolling, &weights) > allowed_u8)
        return false;
    for (size_t p = 0; p < rolling->planes; p++)
        fill_halves(step, rolling, &weights, p, rolling->halves);
    rolling->first_byte *= rolling->by_channel ? RGB : 1;
    return true;
}

bool gf_tensor_rolling_plan(const GfStep *step, bool any_size, GfTensorRolling *rolling)
{
    const size_t samples = step->out_width * step->channels;
    const GfStep one = one_channel(step);
    const bool by_channel =
        step->channels == RGB && (groups_of(step) > 1 || step->linear.height > GF_ROLLING_ROWS);
    *rolling = (GfTensorRolling){.by_channel = by_channel};
    if (!any_size && (samples < LEAST_ROLLING_ROW || samples * step->out_height < LEAST_ROLLING))
        return false;
    return plan_rolling(by_channel ? &one : step, rolling);
}
