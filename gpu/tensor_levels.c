/* Kernels on samples of 16 bits, which are two bytes, in planes of digits. A plane is a level: all
 * that counts by the same power of 256: digits times lower bytes, and those one place below times
 * upper bytes. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "gpu/tensor_blocks.h"
#include "gpu/tensor_ways.h"
#include "gpu/tensor_weights.h"

enum { LEAST_ROWS_BY_CHANNEL = 5, LEAST_PLANES = 2, LEAST_PLANES_BY_CHANNEL = 3 };

/* Of what the rule of filters/backend.h allows beyond a half, in steps of the output. */
static const double allowed = 4.8e-2;

static bool levels_fit(const GfLevels *levels, const GfTaps *taps)
{
    for (size_t p = 0; p < levels->planes; p++) {
        long above = 0, below = 0;
        for (size_t i = 0; i < 2 * gf_taps_count(taps); i++) {
            const double units = taps->numbers[i / 2] / taps->unit;
            const int digit = gf_block_digit(units, levels->digits, p + levels->lowest, i % 2);
            *(digit > 0 ? &above : &below) += labs(digit);
        }
        if (above * UCHAR_MAX >= GF_TENSOR_MOST_SUM || below * UCHAR_MAX >= GF_TENSOR_MOST_SUM)
            return false;
    }
    return true;
}

/* How far off a sample may be, in steps of the output: weights are, and sums without their lowest
 * level; joined in f32, scaled and added to the offset these are rounded. */
static double reach(const GfStep *step, const GfLevels *levels, const GfTaps *taps)
{
    const size_t count = gf_taps_count(taps);
    const double offset = fabs(step->linear.offset * step->gain + step->mid);
    double error = gf_weights_rounding(taps->numbers, count, taps->unit) * USHRT_MAX;
    for (size_t i = 0; i < count && levels->lowest > 0; i++)
        error += abs(gf_weights_digit(taps->numbers[i] / taps->unit, 0)) * taps->unit * UCHAR_MAX;
    const double roundings = (double)levels->planes + 1.0;
    return fabs(step->linear.scale * step->gain) * error +
           0x1p-24 * (roundings * (USHRT_MAX + offset) + offset);
}

/* Two planes of small integers, else three or four. */
bool gf_tensor_find_levels(const GfStep *step, GfLevels *levels, GfTaps *taps)
{
    if (step->in != GF_U16 || step->out != GF_U16 || step->linear.filters != 1 ||
        !gf_tensor_finishes(step) || step->keep_alpha)
        return false;
    gf_taps_of(&step->linear, 0, taps);
    *levels = taps->planes == 1 ? (GfLevels){1, 2, 0} : (GfLevels){3, 3, 1};
    if (levels->digits > 1 && reach(step, levels, taps) > allowed) {
        *levels = (GfLevels){4, 4, 1};
        taps->unit /= 256.0;
    }
    return reach(step, levels, taps) <= allowed;
}

size_t gf_tensor_levels_count(const GfStep *step)
{
    GfTaps taps;
    GfLevels levels;
    return gf_block_fits(step) && gf_tensor_find_levels(step, &levels, &taps) &&
                   levels_fit(&levels, &taps)
               ? levels.planes
               : 0;
}

void gf_tensor_levels_plan(const GfStep *step, GfTensor *tensor)
{
    const bool by_channel = tensor->by_channel;
    GfTaps taps;
    GfLevels levels = {0};
    (void)gf_tensor_find_levels(step, &levels, &taps);
    /* There is no code for two by channel. */
    tensor->planes = gf_max(levels.planes, by_channel ? LEAST_PLANES_BY_CHANNEL : LEAST_PLANES);
    tensor->height =
        gf_block_rows(step->linear.height, by_channel ? LEAST_ROWS_BY_CHANNEL : GF_BLOCK_ROWS);
    tensor->unit[0] = taps.unit * (levels.lowest > 0 ? 256.0 : 1.0);
    const size_t words = gf_tensor_words(tensor) / tensor->planes;
    for (size_t p = 0; p < tensor->planes; p++)
        gf_block_fill(step, &taps, levels.digits, p + levels.lowest, words,
                      tensor->words + p * words);
}
