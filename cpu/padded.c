#include "cpu/padded.h"

/* Pixels from column x of the picture on, which may be negative. */
static void load_pixels(const GfStep *step, const GfRowFunctions *functions, size_t real,
                        const unsigned char *row, ptrdiff_t x, ptrdiff_t pixels, unsigned char *to)
{
    size_t channels = step->channels, pixel = channels * real;
    size_t in_pixel = channels * gf_sample_size(step->in);
    ptrdiff_t width = (ptrdiff_t)step->in_width;
    ptrdiff_t begin = x < 0 ? -x : 0, end = width - x < pixels ? width - x : pixels;
    if (begin < end)
        functions->load(to + (size_t)begin * pixel, row + (size_t)(x + begin) * in_pixel, step->in,
                        1, (size_t)(end - begin) * channels);
    for (ptrdiff_t i = 0; i < pixels; i++) {
        if (i == begin && begin < end)
            i = end;
        if (i >= pixels)
            return;
        long long from = gf_border_index(x + i, width, step->border);
        if (from < 0)
            functions->fill(to + (size_t)i * pixel, step->border_value, channels);
        else
            functions->load(to + (size_t)i * pixel, row + (size_t)from * in_pixel, step->in, 1,
                            channels);
    }
}

void gf_padded_load(const GfStep *step, const GfRowFunctions *functions, size_t real,
                    const GfStepInput *input, ptrdiff_t y, size_t x, size_t pixels, void *to)
{
    const unsigned char *row = gf_step_input_row(step, input, step->border, y);
    if (row)
        load_pixels(step, functions, real, row, (ptrdiff_t)x + step->origin_x, (ptrdiff_t)pixels,
                    to);
    else
        functions->fill(to, step->border_value, pixels * step->channels);
}
