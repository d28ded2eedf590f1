/* Banks of one kernel that roll, on samples of 8 bits (gpu/tensor_shape.h): which do, and their
 * second matrix of numbers of f16. Blocks are 8 samples; or 2, of one channel, where the kernel is
 * high, or wide on RGB. */
#include <limits.h>
#include <math.h>

#include "gpu/tensor.h"
#include "gpu/tensor_blocks.h"
#include "gpu/tensor_halves.h"
#include "gpu/tensor_ways.h"

enum {
    RGB = 3,
    WORD = GF_BLOCK_WORD,
    GROUP = GF_BLOCK_GROUP,
    LEAST_ROWS_OF_PAIRS = 12,
    LEAST_ROWS_OF_FACTORS = 7 /* products of so many go as such */
};

/* Samples of a picture, and of its rows, from which on a bank rolls whose kernels are a product or
 * have fewer rows; others do on all pictures. */
enum { LEAST_ROLLING = 1 << 20, LEAST_ROLLING_ROW = 1 << 10, LEAST_ROWS_OF_ROLLING = 5 };

/* How far off a sample may be, in steps of the output: weights are, and each product that is added
 * to a sum rounds it. */
static double reach(const GfStep *step, const GfTensorRolling *rolling, const GfTaps *taps)
{
    double error = 0.0, most = 0.0;
    for (size_t i = 0; i < gf_taps_count(taps); i++) {
        error += gf_halves_rounding(taps->numbers[i], rolling->unit) * UCHAR_MAX;
        most += fabs(taps->numbers[i]) * UCHAR_MAX;
        if (i % taps->width == taps->width - 1)
            error += (double)(rolling->planes * rolling->steps) * gf_halves_last_place(most);
    }
    return fabs(step->linear.scale * step->gain) * error;
}

static void fill_halves(const GfStep *step, const GfTensorRolling *rolling, const GfTaps *taps,
                        size_t p, uint16_t *halves)
{
    const size_t of_step = rolling->block * GF_ROLLING_STEP, row = rolling->steps * of_step;
    const int lead = (int)(step->origin_x * (ptrdiff_t)step->channels) - rolling->first_byte;
    for (size_t i = 0; i < rolling->height * row; i++) {
        const int eighth = (int)(i % 8), sample = (int)(i / 8 % rolling->block);
        const int half = (int)(i / 8 / rolling->block % 2);
        const int at = (int)(i % row / of_step) * GROUP + eighth / 2 * WORD + half * 2 + eighth % 2;
        const GfBlockPlace place = {i / row, sample, at - lead - sample};
        const bool upper = p + 1 == rolling->planes;
        uint16_t *to = halves + (p * rolling->height + place.row) * row;
        size_t tap;
        if (!gf_block_find_tap(step, taps, &place, &tap))
            continue;
        if (!gf_block_keeps(step, sample))
            to[i % row] = gf_halves_part(taps->numbers[tap] / rolling->unit, upper);
        else if (upper)
            to[i % row] = gf_halves_part(1.0, upper);
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
    const size_t groups = gf_block_groups(step);
    const bool pairs = linear->height > GF_ROLLING_ROWS || (rolling->by_channel && groups > 1);
    const bool pairs_fit = step->channels == 1 && linear->width < GF_ROLLING_STEP;
    GfTaps taps;
    int first_word;
    if (step->in != GF_U8 || step->out != GF_U8 || !gf_tensor_finishes(step) ||
        linear->height > GF_TENSOR_SIDE || groups > GF_ROLLING_STEPS || (pairs && !pairs_fit) ||
        ((groups > 1 || linear->height >= LEAST_ROWS_OF_FACTORS) && gf_tensor_uses_factors(step)))
        return false;
    gf_taps_of(linear, 0, &taps);
    (void)gf_block_lead(step, &first_word);
    rolling->block = pairs ? 2 : GF_ROLLING_BLOCK;
    rolling->planes = taps.planes == 1 && !pairs ? 1 : 2;
    rolling->height =
        pairs ? rows_of_pairs(linear->height) : gf_block_rows(linear->height, GF_BLOCK_ROWS);
    rolling->steps = pairs ? 1 : groups;
    rolling->first_byte = pairs ? (int)step->origin_x : first_word * WORD;
    rolling->unit =
        taps.planes == 1 ? taps.unit : gf_halves_unit(taps.numbers, gf_taps_count(&taps));
    if (taps.planes > 1 && reach(step, rolling, &taps) > GF_TENSOR_ALLOWED_U8)
        return false;
    for (size_t p = 0; p < rolling->planes; p++)
        fill_halves(step, rolling, &taps, p, rolling->halves);
    rolling->first_byte *= rolling->by_channel ? RGB : 1;
    return true;
}

bool gf_tensor_rolling_plan(const GfStep *step, bool any_size, GfTensorRolling *rolling)
{
    if (step->in == GF_U16)
        return gf_tensor_words_plan(step, any_size, rolling);
    const size_t samples = step->out_width * step->channels;
    const GfStep one = gf_block_one_channel(step);
    const bool by_channel = step->channels == RGB &&
                            (gf_block_groups(step) > 1 || step->linear.height > GF_ROLLING_ROWS);
    *rolling = (GfTensorRolling){.by_channel = by_channel};
    const bool is_large =
        samples >= LEAST_ROLLING_ROW && samples * step->out_height >= LEAST_ROLLING;
    const bool is_light = step->separable || step->linear.height < LEAST_ROWS_OF_ROLLING;
    if (!any_size && is_light && !is_large)
        return false;
    return plan_rolling(by_channel ? &one : step, rolling);
}
