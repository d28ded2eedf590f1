/* A bank's scale and offset belong to each of its responses, which are combined by now. */
#include "cpu/finish.h"

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

/* Each colour by its own curve. */
static void light_pixels(const GfStep *step, const GfRowFunctions *functions, size_t real,
                         size_t pixels, unsigned char *row, const GfPointwise *how)
{
    for (size_t c = 0; c < step->post_channels; c++)
        functions->light(row + c * real, how, gf_light_curve(step->light, c, step->post_channels),
                         step->channels, pixels);
}

void gf_finish_pixels(const GfStep *step, const GfRowFunctions *functions, size_t real,
                      size_t pixels, void *row, void *saved)
{
    size_t count = pixels * step->channels;
    unsigned char *opacity = (unsigned char *)row + (step->channels - 1) * real;
    bool spare = step->post_channels < step->channels && (step->posts > 0 || step->mid != 0.0);
    if (spare)
        functions->copy_channel(saved, opacity, 1.0, step->channels, pixels);
    for (size_t i = 0; i < step->posts; i++)
        if (gf_pointwise_is_light(&step->post[i]))
            light_pixels(step, functions, real, pixels, row, &step->post[i]);
        else
            functions->pointwise(row, &step->post[i], count);
    if (step->gain != 1.0 || step->mid != 0.0)
        functions->affine(row, step->gain, step->mid, count);
    if (spare)
        functions->copy_channel(opacity, saved, step->gain, step->channels, pixels);
}
