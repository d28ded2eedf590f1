/* Single kernels that roll on samples of 16 bits (gpu/tensor_shape.h): which do, and their second
 * matrix of digits. */
#include <limits.h>
#include <math.h>

#include "gpu/tensor.h"
#include "gpu/tensor_blocks.h"
#include "gpu/tensor_ways.h"
#include "gpu/tensor_weights.h"

enum { RGB = 3, HALF = GF_WORDS_WINDOW / 2, WORD = 4, LEAST_PLANES = 3 };

/* Samples of a picture, and pixels of its rows, from which on kernels roll whose rows do not stay
 * in registers (bench/results/2026-11-28-h200.md). */
enum { LEAST_ROLLING = 1 << 16, LEAST_ROLLING_ROW = 1 << 8 };

/* What planes below the upper three may lose, in steps of the output: of what the rule of
 * filters/backend.h allows, beside gf_tensor_find_levels(). */
static const double allowed_below = 2e-3;

/* Rows of a kernel for which there is room, where so many are multiplied at a time. */
static size_t room(size_t each)
{
    return GF_WORDS_ROWS - (each - 1);
}

/* The byte of the window that stands at a place of the second matrix: words go to the halves in
 * turn. */
static size_t byte_at(size_t half, size_t place)
{
    return (2 * (place / WORD) + half) * WORD + place % WORD;
}

/* The digit of a plane at a byte of the window for a sample of the block. */
static int digit_at(const GfTaps *taps, const GfLevels *levels, size_t plane, size_t row,
                    size_t sample, size_t byte)
{
    const size_t x = byte / 2 - sample;
    if (byte / 2 < sample || x >= taps->width || row >= taps->height)
        return 0;
    const double units = taps->numbers[row * taps->width + x] / taps->unit;
    return gf_block_digit(units, levels->digits, plane + levels->lowest, byte % 2);
}

/* Fills in a plane. Returns how far below zero its sums may be. */
static long fill_plane(const GfTaps *taps, const GfLevels *levels, size_t plane,
                       GfTensorRolling *rolling)
{
    const size_t count = (size_t)GF_WORDS_ROWS * GF_WORDS_BLOCK * GF_WORDS_WINDOW;
    long below = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t sample = i / HALF % GF_WORDS_BLOCK, half = i / HALF / GF_WORDS_BLOCK % 2;
        const size_t row = i / GF_WORDS_WINDOW / GF_WORDS_BLOCK;
        const int digit = digit_at(taps, levels, plane, row, sample, byte_at(half, i % HALF));
        rolling->digits[plane * count + i] = (int8_t)digit;
        if (sample == 0 && digit < 0)
            below -= (long)digit * UCHAR_MAX;
    }
    return below;
}

/* Of a step of one channel. */
static bool plan_words(const GfStep *step, GfTensorRolling *rolling)
{
    const GfLinear *linear = &step->linear;
    GfTaps taps;
    GfLevels levels;
    if (step->channels != 1 || linear->width >= GF_WORDS_WINDOW / 2 || linear->height > room(2) ||
        !gf_tensor_find_levels(step, &levels, &taps))
        return false;
    rolling->block = GF_WORDS_BLOCK;
    rolling->planes = gf_max(levels.planes, LEAST_PLANES);
    rolling->height = GF_WORDS_ROWS;
    rolling->each = linear->height <= room(4) ? 4 : 2;
    rolling->steps = 1;
    rolling->first_byte = (int)step->origin_x * 2;
    rolling->unit = taps.unit;
    for (size_t p = LEAST_PLANES; p < rolling->planes + levels.lowest; p++)
        rolling->unit *= 256.0;
    const double below_unit = fabs(linear->scale * step->gain) * rolling->unit;
    if (rolling->planes > LEAST_PLANES && below_unit > allowed_below)
        return false;
    long below = 0;
    for (size_t p = 0; p < rolling->planes; p++)
        below = fill_plane(&taps, &levels, p, rolling);
    /* Sums of 15 x 15 bytes times digits, and what is carried from the plane below, are less than
     * 2^23 apart. */
    rolling->first_sum = 0x4B000000 + (int)below + (1 << 16);
    return true;
}

bool gf_tensor_words_plan(const GfStep *step, bool any_size, GfTensorRolling *rolling)
{
    const size_t samples = step->out_width * step->channels;
    const GfStep one = gf_block_one_channel(step);
    *rolling = (GfTensorRolling){.by_channel = step->channels == RGB};
    const bool is_large =
        step->out_width >= LEAST_ROLLING_ROW && samples * step->out_height >= LEAST_ROLLING;
    if (!any_size && !(is_large && gf_tensor_is_large(step)))
        return false;
    if (!plan_words(rolling->by_channel ? &one : step, rolling) ||
        (rolling->by_channel && rolling->planes > LEAST_PLANES))
        return false;
    rolling->first_byte *= rolling->by_channel ? RGB : 1;
    return true;
}
