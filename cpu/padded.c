#include "cpu/padded.h"

#include <string.h>

/* Pixels side by side, all on the picture, of a row that begins with column x0. */
static void load_inside(const GfPadded *padded, const unsigned char *row, size_t x0, size_t x,
                        size_t pixels, void *to)
{
    const GfStep *step = padded->step;
    const unsigned char *from =
        row + ((x - x0) * step->channels + padded->channel) * gf_sample_size(step->in);
    bool all = padded->channels == step->channels;
    padded->functions->load(to, from, step->in, all ? 1 : step->channels,
                            all ? pixels * step->channels : pixels);
}

/* Pixels from column x of the picture on, which may be negative. */
static void load_pixels(const GfPadded *padded, const unsigned char *row, size_t x0, ptrdiff_t x,
                        ptrdiff_t pixels, unsigned char *to)
{
    const GfStep *step = padded->step;
    size_t pixel = padded->channels * padded->real;
    ptrdiff_t width = (ptrdiff_t)step->in_width;
    ptrdiff_t begin = x < 0 ? -x : 0, end = width - x < pixels ? width - x : pixels;
    if (begin < end)
        load_inside(padded, row, x0, (size_t)(x + begin), (size_t)(end - begin),
                    to + (size_t)begin * pixel);
    for (ptrdiff_t i = 0; i < pixels; i++) {
        if (i == begin && begin < end)
            i = end;
        if (i >= pixels)
            return;
        long long from = gf_border_index(x + i, width, step->border);
        if (from < 0)
            padded->functions->fill(to + (size_t)i * pixel, step->border_value, padded->channels);
        else if (from >= x + begin && from < x + end) /* it is there as numbers already */
            memcpy(to + (size_t)i * pixel, to + (size_t)(from - x) * pixel, pixel);
        else
            load_inside(padded, row, x0, (size_t)from, 1, to + (size_t)i * pixel);
    }
}

void gf_padded_load(const GfPadded *padded, const GfStepInput *input, ptrdiff_t y, size_t x,
                    size_t pixels, void *to)
{
    const GfStep *step = padded->step;
    const unsigned char *row = gf_step_input_row(step, input, step->border, y);
    if (row)
        load_pixels(padded, row, input->x0, (ptrdiff_t)x + step->origin_x, (ptrdiff_t)pixels, to);
    else
        padded->functions->fill(to, step->border_value, pixels * padded->channels);
}

/* Samples of the constant beyond the picture. */
static void fill(const GfStep *step, unsigned char *to, size_t pixels)
{
    for (size_t i = 0; i < pixels * step->channels; i++)
        if (step->in == GF_U8)
            to[i] = (uint8_t)step->border_value;
        else
            ((uint16_t *)(void *)to)[i] = (uint16_t)step->border_value;
}

void gf_padded_lay(const GfStep *step, const unsigned char *row, ptrdiff_t x, ptrdiff_t end,
                   unsigned char *to)
{
    const size_t pixel = step->channels * gf_sample_size(step->in);
    const ptrdiff_t width = (ptrdiff_t)step->in_width;
    while (x < end) {
        const long long from = row ? gf_border_index(x, width, step->border) : -1;
        size_t pixels = 1;
        if (!row || (x == from && from >= 0)) /* so is what follows */
            pixels = (size_t)((row && width < end ? width : end) - x);
        if (from < 0)
            fill(step, to, pixels);
        else
            memcpy(to, row + (size_t)from * pixel, pixels * pixel);
        to += pixels * pixel;
        x += (ptrdiff_t)pixels;
    }
}
