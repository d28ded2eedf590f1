#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "gpu/tensor.h"
#include "gpu/tensor_weights.h"

enum { BLOCK = 8, WORD = 4, GROUP = 16, MOST_ROWS_OF_TWO = 7 };
enum {
    RGB = 3,
    LEAST_ROWS = 3,
    LEAST_ROWS_BY_CHANNEL = 9,
    LEAST_ROWS_BY_CHANNEL_16 = 5,
    LEAST_ROWS_OF_PAIRS = 12,
    LEAST_ROWS_OF_FACTORS = 7
};

/* Samples of a picture, and of its rows, from which on a bank rolls whose kernels are a product or
 * have fewer rows; others do on all pictures. */
enum { LEAST_ROLLING = 1 << 20, LEAST_ROLLING_ROW = 1 << 10, LEAST_ROWS_OF_ROLLING = 5 };

/* Of what the rule of filters/backend.h allows beyond a half, in steps of the output. */
static const double allowed_u8 = 8e-4, allowed_u16 = 2e-2, allowed_of_levels = 4.8e-2;

/* What three planes' sums are rounded by at most, in units: they are joined in f32, near 2^32. */
static const double joined = 1024.0;

/* ---- kernels ---- */

enum { MOST_TAPS = GF_TENSOR_SIDE * GF_TENSOR_GROUPS * GROUP };

/* The taps of a filter. */
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

static void weights_of(const GfLinear *linear, size_t f, Weights *weights)
{
    weights->width = linear->width;
    weights->height = linear->height;
    for (size_t i = 0; i < count_of(weights); i++)
        weights->numbers[i] = gf_linear_tap(linear, f, i / linear->width, i % linear->width);
    weights->unit = gf_weights_unit(weights->numbers, count_of(weights), &weights->planes);
}

/* Bytes of a sample. */
static size_t size_of(const GfStep *step)
{
    return gf_sample_size(step->in);
}

/* Bytes of an input row between the start of a word and the first tap of a block's first sample. */
static int lead_of(const GfStep *step, int *first_word)
{
    ptrdiff_t shift = step->origin_x * (ptrdiff_t)(step->channels * size_of(step));
    ptrdiff_t lead = (shift % WORD + WORD) % WORD;
    *first_word = (int)((shift - lead) / WORD);
    return (int)lead;
}

/* Groups of bytes that so many neighbouring samples need. */
static size_t groups_for(const GfStep *step, size_t samples)
{
    int first_word;
    const size_t reach = samples + (step->linear.width - 1) * step->channels;
    const size_t bytes = (size_t)lead_of(step, &first_word) + reach * size_of(step);
    return gf_max((bytes + GROUP - 1) / GROUP, size_of(step));
}

static size_t groups_of(const GfStep *step)
{
    return groups_for(step, BLOCK);
}

static bool fits(const GfStep *step)
{
    const size_t rows = step->linear.filters > 1 ? MOST_ROWS_OF_TWO
                        : step->in == GF_U16     ? GF_TENSOR_SIDE_16
                                                 : GF_TENSOR_SIDE;
    return step->linear.height <= rows && groups_of(step) <= GF_TENSOR_GROUPS;
}

static size_t planes_of(const GfLinear *linear)
{
    size_t most = 1;
    for (size_t f = 0; f < linear->filters; f++) {
        Weights weights;
        weights_of(linear, f, &weights);
        most = gf_max(most, weights.planes);
    }
    return most;
}

/* Rows that are computed of so many: an odd number. */
static size_t rows_of(size_t height, size_t least)
{
    return height < least ? least : height / 2 * 2 + 1;
}

/* ---- weights as numbers of f16 ---- */

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
static double unit_of_halves(const double *weights, size_t count)
{
    int exponent;
    (void)frexp(gf_weights_largest(weights, count), &exponent);
    return ldexp(1.0, exponent - 15);
}

/* A weight's upper half, or what that leaves to the lower one. */
static double half_of(double units, bool upper, uint16_t *half)
{
    const double rounded = round_half(units, half);
    return upper ? rounded : round_half(units - rounded, half);
}

/* What the two halves of a weight are off. */
static double rounding_of_halves(double weight, double unit)
{
    uint16_t half;
    const double units = weight / unit;
    return fabs(units - half_of(units, true, &half) - half_of(units, false, &half)) * unit;
}

/* ---- products of a column and a row ---- */

/* Steps and blocks for which there is code; 0: for none. */
static size_t steps_of_factors(const GfStep *step)
{
    const size_t groups = groups_for(step, GF_FACTORS_RUN);
    return groups <= 2                  ? 2
           : groups <= 4                ? groups
           : groups <= GF_FACTORS_STEPS ? GF_FACTORS_STEPS
                                        : 0;
}

static size_t blocks_of_factors(const GfStep *step)
{
    const size_t rows = step->linear.height + GF_FACTORS_ROWS - 1;
    const size_t blocks = (rows + GF_FACTORS_ROWS - 1) / GF_FACTORS_ROWS;
    return blocks <= 2 ? 2 : blocks == 3 ? 3 : blocks <= GF_FACTORS_BLOCKS ? GF_FACTORS_BLOCKS : 0;
}

static double unit_of_row(const GfStep *step)
{
    return unit_of_halves(step->linear.rows, step->linear.width);
}

/* By which what comes out are steps of the output: bytes stand for 2^-24 of them. */
static double unit_of_column(const GfStep *step)
{
    return 0x1p-24 / (unit_of_row(step) * step->linear.scale * step->gain);
}

/* The sum of weights' magnitudes, and of what their halves are off. */
static double sum_of_halves(const double *weights, size_t count, double unit, double *error)
{
    double sum = 0.0;
    *error = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += fabs(weights[i]);
        *error += rounding_of_halves(weights[i], unit);
    }
    return sum;
}

static double last_place(double most)
{
    return most > 0.0 ? ldexp(1.0, ilogb(most) - 23) : 0.0;
}

/* How far off a sample may be, in steps of the output: the weights are; each product rounds the
 * sums that it is added to; a filtered row becomes two halves; what their lower ones make with
 * those of the column is not added. */
static double reach_of_factors(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    double row_error, column_error;
    const double row = sum_of_halves(linear->rows, linear->width, unit_of_row(step), &row_error);
    const double column =
        sum_of_halves(linear->columns, linear->height, unit_of_column(step), &column_error);
    const double most = row * UCHAR_MAX; /* of a filtered row */
    const size_t steps = steps_of_factors(step), blocks = blocks_of_factors(step);
    double filtered = row_error * UCHAR_MAX + (double)(2 * steps) * last_place(most);
    filtered += most * (0x1p-22 + 0x1p-23) + last_place(most);
    const double error = filtered * column + most * column_error +
                         (double)((blocks + 1) / 2 * 3) * last_place(most * column);
    return fabs(linear->scale * step->gain) * error;
}

static bool numbers_of_column_fit(const GfStep *step)
{
    const double most = gf_weights_largest(step->linear.columns, step->linear.height);
    return fabs(most / unit_of_column(step)) < 0x1p15;
}

/* Are tensor cores to make a row pass and a column pass? */
static bool use_factors(const GfStep *step)
{
    return step->separable && step->out == GF_U8 && gf_tensor_finishes(step) &&
           step->post_channels == step->channels && steps_of_factors(step) > 0 &&
           blocks_of_factors(step) > 0 && numbers_of_column_fit(step) &&
           reach_of_factors(step) <= allowed_u8 && !(fits(step) && planes_of(&step->linear) == 1);
}

/* Half of a tap of a row or column, or 0 beyond it. */
static uint16_t half_of_factor(const double *weights, size_t count, double unit, ptrdiff_t tap,
                               bool upper)
{
    uint16_t half = 0;
    if (tap >= 0 && tap < (ptrdiff_t)count)
        (void)half_of(weights[tap] / unit, upper, &half);
    return half;
}

/* The row for 16 samples. The samples of a lane's four words are neighbours, and the numbers of a
 * word belong to bytes 0 and 2, or 1 and 3, of a word of the picture. */
static void fill_row(const GfStep *step, const GfTensor *tensor, size_t p, uint32_t *word)
{
    int first_word;
    const int lead = lead_of(step, &first_word), channels = (int)step->channels;
    const double unit = unit_of_row(step);
    for (size_t i = 0; i < tensor->groups * 4 * GF_TENSOR_LANES * 2; i++) {
        const int half = (int)(i % 2), quarter = (int)(i / 2 % 4);
        const int lane = (int)(i / 8 % GF_TENSOR_LANES), group = (int)(i / 8 / GF_TENSOR_LANES);
        const int sample = lane / 4 * 2 + quarter % 2;
        const int at = group * GROUP + lane % 4 * WORD + quarter / 2 + half * 2;
        const int apart = at - lead - sample;
        const ptrdiff_t tap = apart % channels == 0 ? apart / channels : -1;
        const uint32_t number = half_of_factor(step->linear.rows, step->linear.width, unit, tap,
                                               p + 1 == tensor->planes);
        word[i / 2] |= number << 16 * half;
    }
}

static void fill_column(const GfStep *step, const GfTensor *tensor, size_t p, uint32_t *word)
{
    const double unit = unit_of_column(step);
    for (size_t i = 0; i < tensor->height * GF_TENSOR_LANES * 2; i++) {
        const ptrdiff_t lane = (ptrdiff_t)(i / 2 % GF_TENSOR_LANES);
        const ptrdiff_t row = (ptrdiff_t)(i / 2 / GF_TENSOR_LANES) * GF_FACTORS_ROWS +
                              lane % 4 * 2 + (ptrdiff_t)(i % 2);
        const uint32_t number = half_of_factor(step->linear.columns, step->linear.height, unit,
                                               row - lane / 4, p + 1 == tensor->planes);
        word[i / 2] |= number << i % 2 * 16;
    }
}

static void plan_factors(const GfStep *step, GfTensor *tensor)
{
    *tensor = (GfTensor){.factors = true,
                         .filters = 1,
                         .planes = GF_FACTORS_PLANES,
                         .groups = steps_of_factors(step),
                         .height = blocks_of_factors(step),
                         .unit = {unit_of_row(step) * unit_of_column(step) * 0x1p24}};
    (void)lead_of(step, &tensor->first_word);
    const size_t rows = tensor->groups * 4 * GF_TENSOR_LANES;
    for (size_t p = 0; p < tensor->planes; p++) {
        fill_row(step, tensor, p, tensor->words + p * rows);
        fill_column(step, tensor, p,
                    tensor->words + tensor->planes * rows + p * tensor->height * GF_TENSOR_LANES);
    }
}

/* ---- RGB by channel ---- */

/* Kernels on bytes that are products go as such, or by method `separable`. */
static bool goes_by_channel(const GfStep *step)
{
    return step->channels == RGB && step->linear.filters == 1 &&
           !(step->separable && step->in == GF_U8) && groups_of(step) > 2;
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
static double reach(const GfStep *step, const Weights *weights)
{
    const double sum =
        gf_weights_rounding(weights->numbers, count_of(weights), weights->unit) * UCHAR_MAX +
        joined * weights->unit;
    return fabs(step->linear.scale * step->gain) * sum;
}

static GfStatus check_weights(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const bool simple = gf_tensor_finishes(step) && !gf_sample_is_float(step->out);
    const size_t planes = planes_of(linear);
    if (planes > 1 && !simple)
        return gf_fail(GF_EUNSUPPORTED, "tensor: taps that are no small integers times a unit only "
                                        "of one kernel, to 8 or 16 bits, and nothing after it");
    for (size_t f = 0; f < linear->filters; f++) {
        Weights weights;
        weights_of(linear, f, &weights);
        if (planes > 1 && reach(step, &weights) > (step->out == GF_U8 ? allowed_u8 : allowed_u16))
            return gf_fail(GF_EUNSUPPORTED, "tensor: taps that 23 bits hold well enough");
        if (!gf_weights_sums_fit(weights.numbers, count_of(&weights), weights.unit, planes,
                                 GF_TENSOR_MOST_SUM))
            return gf_fail(GF_EUNSUPPORTED, "tensor: sums of bytes times digits below 2^22");
    }
    return GF_OK;
}

/* ---- samples of 16 bits ---- */

/* How weights become planes: all levels of their digits times bytes but for the lowest of several,
 * lower bytes times last digits. */
typedef struct Levels {
    size_t digits, planes, lowest;
} Levels;

/* What stands in plane p for the lower byte of a sample (0) or the upper one (1). */
static int digit_of_level(const Levels *levels, double units, size_t p, size_t byte)
{
    const size_t level = p + levels->lowest;
    return level >= byte && level - byte < levels->digits ? gf_weights_digit(units, level - byte)
                                                          : 0;
}

static bool levels_fit(const Levels *levels, const Weights *weights)
{
    for (size_t p = 0; p < levels->planes; p++) {
        long above = 0, below = 0;
        for (size_t i = 0; i < 2 * count_of(weights); i++) {
            const double units = weights->numbers[i / 2] / weights->unit;
            const int digit = digit_of_level(levels, units, p, i % 2);
            *(digit > 0 ? &above : &below) += labs(digit);
        }
        if (above * UCHAR_MAX >= GF_TENSOR_MOST_SUM || below * UCHAR_MAX >= GF_TENSOR_MOST_SUM)
            return false;
    }
    return true;
}

/* How far off a sample may be, in steps of the output: weights are, and sums without their lowest
 * level; joined in f32, scaled and added to the offset these are rounded. */
static double reach_of_levels(const GfStep *step, const Levels *levels, const Weights *weights)
{
    const size_t count = count_of(weights);
    const double offset = fabs(step->linear.offset * step->gain + step->mid);
    double error = gf_weights_rounding(weights->numbers, count, weights->unit) * USHRT_MAX;
    for (size_t i = 0; i < count && levels->lowest > 0; i++)
        error += abs(gf_weights_digit(weights->numbers[i] / weights->unit, 0)) * weights->unit *
                 UCHAR_MAX;
    const double roundings = (double)levels->planes + 1.0;
    return fabs(step->linear.scale * step->gain) * error +
           0x1p-24 * (roundings * (USHRT_MAX + offset) + offset);
}

/* In as few planes as are exact enough: two of small integers, else three or four. False: none are,
 * or the step, as it is computed, is another. */
static bool find_levels(const GfStep *step, Levels *levels, Weights *weights)
{
    if (step->in != GF_U16 || step->out != GF_U16 || step->linear.filters != 1 ||
        !gf_tensor_finishes(step) || step->keep_alpha || !fits(step))
        return false;
    weights_of(&step->linear, 0, weights);
    *levels = weights->planes == 1 ? (Levels){1, 2, 0} : (Levels){3, 3, 1};
    if (levels->digits > 1 && reach_of_levels(step, levels, weights) > allowed_of_levels) {
        *levels = (Levels){4, 4, 1};
        weights->unit /= 256.0;
    }
    return reach_of_levels(step, levels, weights) <= allowed_of_levels &&
           levels_fit(levels, weights);
}

size_t gf_tensor_levels(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    Weights weights;
    Levels levels;
    return find_levels(&computed, &levels, &weights) ? levels.planes : 0;
}

bool gf_tensor_is_large(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    if (step->in == GF_U16)
        return gf_tensor_levels(step) == 0;
    return !use_factors(step) && !fits(&computed);
}

bool gf_tensor_is_exact(const GfStep *step)
{
    return gf_tensor_is_large(step) ? gf_tensor_large_is_exact(step) : step->in == GF_U16;
}

GfStatus gf_tensor_supports_kernels(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    if (gf_tensor_is_large(step))
        return gf_tensor_large_supports(step);
    if (use_factors(step) || step->in == GF_U16)
        return GF_OK;
    return check_weights(&computed);
}

/* ---- the second matrix ---- */

/* Where a byte of it stands. */
typedef struct Place {
    size_t row; /* of the kernel */
    int sample; /* of the block: the matrix's column */
    int apart;  /* samples from that sample's first tap */
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

/* The digit of a plane for byte `byte` of a sample of 16 bits. */
static int byte_of_level(const GfStep *step, const Weights *weights, const Levels *levels, size_t p,
                         size_t byte, const Place *place)
{
    size_t tap;
    if (!find_tap(step, weights, place, &tap))
        return 0;
    return digit_of_level(levels, weights->numbers[tap] / weights->unit, p, byte);
}

static void fill_level(const GfStep *step, const Weights *weights, const Levels *levels, size_t p,
                       size_t words, uint32_t *word)
{
    int first_word;
    const int lead = lead_of(step, &first_word), size = (int)size_of(step);
    const size_t groups = groups_of(step);
    for (size_t i = 0; i < words * WORD; i++) {
        const int lane = (int)(i / WORD % GF_TENSOR_LANES);
        const size_t slot = i / WORD / GF_TENSOR_LANES;
        const int at = (int)(slot % groups) * GROUP + lane % 4 * WORD + (int)(i % WORD) - lead;
        const Place place = {slot / groups, lane / 4, (at < 0 ? -1 : at / size) - lane / 4};
        const int digit = byte_of_level(step, weights, levels, p, i % (size_t)size, &place);
        word[i / WORD] |= (uint32_t)(digit & 0xFF) << i % WORD * 8;
    }
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

static void plan_levels(const GfStep *step, GfTensor *tensor)
{
    Weights weights;
    Levels levels;
    (void)find_levels(step, &levels, &weights);
    /* There is no code for two by channel. */
    tensor->planes = gf_max(levels.planes, tensor->by_channel ? 3 : 2);
    tensor->height =
        rows_of(step->linear.height, tensor->by_channel ? LEAST_ROWS_BY_CHANNEL_16 : LEAST_ROWS);
    tensor->unit[0] = weights.unit * (levels.lowest > 0 ? 256.0 : 1.0);
    const size_t words = gf_tensor_words(tensor) / tensor->planes;
    for (size_t p = 0; p < tensor->planes; p++)
        fill_level(step, &weights, &levels, p, words, tensor->words + p * words);
}

void gf_tensor_plan(const GfStep *step, GfTensor *tensor)
{
    const GfStep computed = computed_step(step);
    const GfLinear *linear = &step->linear;
    if (use_factors(step)) {
        plan_factors(step, tensor);
        return;
    }
    *tensor = (GfTensor){.by_channel = goes_by_channel(step),
                         .filters = linear->filters,
                         .bytes = size_of(step),
                         .planes = planes_of(linear)};
    tensor->groups = groups_of(&computed);
    (void)lead_of(&computed, &tensor->first_word);
    if (step->in == GF_U16) {
        plan_levels(&computed, tensor);
        return;
    }
    tensor->height =
        rows_of(linear->height, tensor->by_channel ? LEAST_ROWS_BY_CHANNEL : LEAST_ROWS);
    const size_t words = gf_tensor_words(tensor) / tensor->filters / tensor->planes;
    for (size_t f = 0; f < linear->filters; f++) {
        Weights weights;
        weights_of(linear, f, &weights);
        tensor->unit[f] = weights.unit;
        for (size_t p = 0; p < tensor->planes; p++)
            fill_plane(&computed, &weights, p, p + 1 == tensor->planes, words,
                       tensor->words + (f * tensor->planes + p) * words);
    }
}

/* ---- banks that roll ---- */

/* How far off a sample may be, in steps of the output: weights are, and each product that is added
 * to a sum rounds it. */
static double reach_of_halves(const GfStep *step, const GfTensorRolling *rolling,
                              const Weights *weights)
{
    double error = 0.0, most = 0.0;
    for (size_t i = 0; i < count_of(weights); i++) {
        error += rounding_of_halves(weights->numbers[i], rolling->unit) * UCHAR_MAX;
        most += fabs(weights->numbers[i]) * UCHAR_MAX;
        if (i % weights->width == weights->width - 1)
            error += (double)(rolling->planes * rolling->steps) * last_place(most);
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
    const bool pairs_fit = step->channels == 1 && linear->width < GF_ROLLING_STEP;
    Weights weights;
    int first_word;
    if (step->in != GF_U8 || step->out != GF_U8 || !gf_tensor_finishes(step) ||
        linear->height > GF_TENSOR_SIDE || groups > GF_ROLLING_STEPS || (pairs && !pairs_fit) ||
        ((groups > 1 || linear->height >= LEAST_ROWS_OF_FACTORS) && use_factors(step)))
        return false;
    weights_of(linear, 0, &weights);
    (void)lead_of(step, &first_word);
    rolling->block = pairs ? 2 : GF_ROLLING_BLOCK;
    rolling->planes = weights.planes == 1 && !pairs ? 1 : 2;
    rolling->height = pairs ? rows_of_pairs(linear->height) : rows_of(linear->height, LEAST_ROWS);
    rolling->steps = pairs ? 1 : groups;
    rolling->first_byte = pairs ? (int)step->origin_x : first_word * WORD;
    rolling->unit =
        weights.planes == 1 ? weights.unit : unit_of_halves(weights.numbers, count_of(&weights));
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
    const bool is_large =
        samples >= LEAST_ROLLING_ROW && samples * step->out_height >= LEAST_ROLLING;
    const bool is_light = step->separable || step->linear.height < LEAST_ROWS_OF_ROLLING;
    if (!any_size && is_light && !is_large)
        return false;
    return plan_rolling(by_channel ? &one : step, rolling);
}
