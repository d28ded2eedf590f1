/* A bank's scale and offset belong to each of its responses, which are combined by now. */
#include "cpu/finish.h"

/* What bias has for taps outside, of output (x, y) of map c. */
static double outside(const GfStep *step, size_t c, ptrdiff_t x, ptrdiff_t y)
{
    const long long width = (long long)step->linear.width, height = (long long)step->linear.height;
    const long long pitch = width + 1;
    const double *sums = step->outside + c * (step->linear.height + 1) * (step->linear.width + 1);
    long long left, right, top, bottom;
    gf_taps_inside(x * (ptrdiff_t)step->stride_x + step->origin_x, width,
                   (long long)step->dilation_x, (long long)step->in_width, &left, &right);
    gf_taps_inside(y * (ptrdiff_t)step->stride_y + step->origin_y, height,
                   (long long)step->dilation_y, (long long)step->in_height, &top, &bottom);
    const double *above = sums + top * pitch, *below = sums + bottom * pitch;
    return sums[height * pitch + width] - (below[right] - below[left] - above[right] + above[left]);
}

void gf_finish_edges(const GfStep *step, const GfRowFunctions *functions, size_t c, void *row,
                     size_t sample, size_t x0, size_t n, ptrdiff_t y)
{
    const ptrdiff_t down = y * (ptrdiff_t)step->stride_y + step->origin_y;
    const ptrdiff_t depth = (ptrdiff_t)((step->linear.height - 1) * step->dilation_y);
    const bool whole = down >= 0 && down + depth < (ptrdiff_t)step->in_height;
    const ptrdiff_t reach = (ptrdiff_t)((step->linear.width - 1) * step->dilation_x);
    for (size_t i = 0; i < n; i++) {
        const ptrdiff_t x = (ptrdiff_t)(x0 + i);
        const ptrdiff_t at = x * (ptrdiff_t)step->stride_x + step->origin_x;
        if (!whole || at < 0 || at + reach >= (ptrdiff_t)step->in_width)
            functions->affine((unsigned char *)row + i * sample, 1.0, -outside(step, c, x, y), 1);
    }
}

void gf_finish_row(const GfStep *step, const GfRowFunctions *functions, size_t c, void *row,
                   size_t n)
{
    bool layer = gf_step_is_layer(step), colour = c < step->post_channels;
    double scale = layer ? step->linear.scale : 1.0, mid = colour ? step->mid : 0.0;
    double offset = (layer ? step->linear.offset : 0.0) + (step->bias ? step->bias[c] : 0.0);
    if (scale != 1.0 || offset != 0.0)
        functions->affine(row, scale, offset, n);
    for (size_t i = 0; colour && i < step->posts; i++)
        if (gf_pointwise_is_light(&step->post[i]))
            functions->light(row, &step->post[i],
                             gf_light_curve(step->light, c, step->post_channels), 1, n);
        else
            functions->pointwise(row, &step->post[i], n);
    if (step->gain != 1.0 || mid != 0.0)
        functions->affine(row, step->gain, mid, n);
}
