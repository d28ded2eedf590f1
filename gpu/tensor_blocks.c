/* A block's window begins with the word that holds the first tap of its first sample, so that the
 * input comes as it lies in memory. All ways of `tensor` on blocks go by that, and differ in the
 * numbers that stand for the taps. */
#include "gpu/tensor_blocks.h"

#include "gpu/tensor_weights.h"

enum { BLOCK = 8, WORD = GF_BLOCK_WORD, GROUP = GF_BLOCK_GROUP, MOST_ROWS_OF_TWO = 7 };

/* ---- taps ---- */

size_t gf_taps_count(const GfTaps *taps)
{
    return taps->width * taps->height;
}

void gf_taps_of(const GfLinear *linear, size_t f, GfTaps *taps)
{
    taps->width = linear->width;
    taps->height = linear->height;
    for (size_t i = 0; i < gf_taps_count(taps); i++)
        taps->numbers[i] = gf_linear_tap(linear, f, i / linear->width, i % linear->width);
    taps->unit = gf_weights_unit(taps->numbers, gf_taps_count(taps), &taps->planes);
}

size_t gf_taps_planes(const GfLinear *linear)
{
    size_t most = 1;
    for (size_t f = 0; f < linear->filters; f++) {
        GfTaps taps;
        gf_taps_of(linear, f, &taps);
        most = gf_max(most, taps.planes);
    }
    return most;
}

/* ---- windows ---- */

/* Bytes of a sample. */
static size_t size_of(const GfStep *step)
{
    return gf_sample_size(step->in);
}

GfStep gf_block_one_channel(const GfStep *step)
{
    GfStep one = *step;
    one.channels = one.out_channels = one.post_channels = 1;
    return one;
}

int gf_block_lead(const GfStep *step, int *first_word)
{
    ptrdiff_t shift = step->origin_x * (ptrdiff_t)(step->channels * size_of(step));
    ptrdiff_t lead = (shift % WORD + WORD) % WORD;
    *first_word = (int)((shift - lead) / WORD);
    return (int)lead;
}

size_t gf_block_groups_for(const GfStep *step, size_t samples)
{
    int first_word;
    const size_t reach = samples + (step->linear.width - 1) * step->channels;
    const size_t bytes = (size_t)gf_block_lead(step, &first_word) + reach * size_of(step);
    return gf_max((bytes + GROUP - 1) / GROUP, size_of(step));
}

size_t gf_block_groups(const GfStep *step)
{
    return gf_block_groups_for(step, BLOCK);
}

bool gf_block_fits(const GfStep *step)
{
    const size_t rows = step->linear.filters > 1 ? MOST_ROWS_OF_TWO
                        : step->in == GF_U16     ? GF_TENSOR_SIDE_16
                                                 : GF_TENSOR_SIDE;
    return step->linear.height <= rows && gf_block_groups(step) <= GF_TENSOR_GROUPS;
}

size_t gf_block_rows(size_t height, size_t least)
{
    return height < least ? least : height / 2 * 2 + 1;
}

/* ---- the second matrix ---- */

bool gf_block_keeps(const GfStep *step, int sample)
{
    return step->keep_alpha && sample % (int)step->channels == (int)step->channels - 1;
}

bool gf_block_find_tap(const GfStep *step, const GfTaps *taps, const GfBlockPlace *place,
                       size_t *tap)
{
    const int channels = (int)step->channels;
    if (place->apart < 0 || place->apart % channels != 0)
        return false;
    const size_t x = (size_t)(place->apart / channels);
    *tap = place->row * taps->width + x;
    if (gf_block_keeps(step, place->sample))
        return x == step->linear.anchor_x && place->row == step->linear.anchor_y;
    return x < taps->width && place->row < taps->height;
}

int gf_block_digit(double units, size_t digits, size_t level, size_t byte)
{
    return level >= byte && level - byte < digits ? gf_weights_digit(units, level - byte) : 0;
}

static int digit_at(const GfStep *step, const GfTaps *taps, size_t digits, size_t level,
                    size_t byte, const GfBlockPlace *place)
{
    size_t tap;
    if (!gf_block_find_tap(step, taps, place, &tap))
        return 0;
    return gf_block_keeps(step, place->sample)
               ? level + 1 == digits
               : gf_block_digit(taps->numbers[tap] / taps->unit, digits, level, byte);
}

void gf_block_fill(const GfStep *step, const GfTaps *taps, size_t digits, size_t level,
                   size_t words, uint32_t *word)
{
    int first_word;
    const int lead = gf_block_lead(step, &first_word), size = (int)size_of(step);
    const size_t groups = gf_block_groups(step);
    for (size_t i = 0; i < words * WORD; i++) {
        const int lane = (int)(i / WORD % GF_TENSOR_LANES);
        const size_t slot = i / WORD / GF_TENSOR_LANES;
        const int at = (int)(slot % groups) * GROUP + lane % 4 * WORD + (int)(i % WORD) - lead;
        const int apart = (at < 0 ? -1 : at / size) - lane / 4;
        const GfBlockPlace place = {slot / groups, lane / 4, apart};
        const int digit = digit_at(step, taps, digits, level, i % (size_t)size, &place);
        word[i / WORD] |= (uint32_t)(digit & 0xFF) << i % WORD * 8;
    }
}
