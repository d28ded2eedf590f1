/* Which steps the form of `special` for maps of a channel takes (gpu/special_maps.cu), and which of
 * them it is the fastest form of: layers, single kernels, and two that are joined. */
#include "gpu/launch.h"

enum {
    LEAST_WIDTH = 32, /* but of layers a strip: lanes without columns wait for each map */
    LARGEST_SIDE = 9,
    SMALL = 1 << 20, /* pixels */
    MIDDLING = 1 << 22
};

/* Two kernels, whose factor may follow on either response. */
static bool is_joined(const GfStep *step)
{
    return step->linear.filters == 2 && !gf_step_is_layer(step) && step->posts == 0 &&
           step->gain > 0.0 && step->mid == 0.0 && step->combine.op != GF_COMBINE_NONE &&
           step->combine.op != GF_COMBINE_UNSHARP;
}

/* Is it made of sums as this form makes them? */
static bool is_made_so(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const size_t side = linear->width;
    const bool layer = gf_step_is_layer(step), real = step->in == GF_F32;
    if (!layer && step->post_channels != 1)
        return false;
    if (is_joined(step))
        return side == 3 || side == 5;
    return step->combine.op == GF_COMBINE_NONE && linear->depth <= 1 &&
           (layer || linear->filters == 1) && side >= (real ? 1 : 3) &&
           side <= (layer ? GF_SPECIAL_SIDE : LARGEST_SIDE) &&
           (step->posts == 0 || (step->posts == 1 && (step->post[0].op == GF_POINTWISE_RELU ||
                                                      step->post[0].op == GF_POINTWISE_ABS)));
}

bool gf_special_takes_maps(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const size_t least = gf_step_is_layer(step) ? GF_SPECIAL_STRIP : LEAST_WIDTH;
    return (step->in == GF_F32 ? step->out == GF_F32 : step->in != GF_F64) && step->channels == 1 &&
           linear->height == linear->width && linear->width % 2 == 1 && is_made_so(step) &&
           gf_step_is_dense(step) && step->in_width == step->out_width && step->in_width >= least &&
           step->origin_x == -(ptrdiff_t)(linear->width / 2);
}

/* Large pictures have other forms, whose lanes read whole vectors. */
static bool pays_on_kernels(const GfStep *step, size_t pixels, bool aligned)
{
    const size_t side = step->linear.width;
    if (gf_special_takes_bytes(step))
        return pixels < SMALL;
    if (step->linear.filters > 1)
        return pixels <= MIDDLING;
    if (aligned && gf_special_takes_pairs(step))
        return pixels <= SMALL;
    if (step->in != GF_F32)
        return pixels <= (aligned ? MIDDLING : side < LARGEST_SIDE ? MIDDLING / 2 : SMALL);
    switch (side) {
    case 1:
        return !aligned || pixels <= 4 * MIDDLING;
    case 3:
        return !aligned || pixels <= MIDDLING;
    case 7:
        return pixels < SMALL;
    default:
        return pixels <= (aligned || side == 5 ? MIDDLING : SMALL);
    }
}

/* Many maps under few taps are written as longer stretches of rows by other forms; and those share
 * many maps of a small picture out among their warps. */
static bool pays_on_layers(const GfStep *step, size_t pixels, bool aligned)
{
    const size_t side = step->linear.width, maps = step->linear.filters;
    const bool small = pixels <= SMALL, middling = pixels <= MIDDLING, many = maps > 8;
    const bool whole = aligned || step->in == GF_F32; /* sectors of memory that are written */
    if (maps == 1)
        return pays_on_kernels(step, pixels, aligned);
    if (many && pixels < SMALL / 4)
        return false;
    switch (side) {
    case 1:
        return small || (maps <= 4 && (middling || !aligned));
    case 3:
        return maps <= (whole ? 8 : 4) || (whole && small);
    case 5:
        return aligned || !many || !small;
    default:
        return aligned || !small || (step->in != GF_F32 && !many);
    }
}

/* (bench/results/2026-11-27-h200.md, 2026-11-26-h200-6.md) */
bool gf_special_maps_pay(const GfStep *step, bool aligned)
{
    const size_t strips = (step->out_width + GF_SPECIAL_STRIP - 1) / GF_SPECIAL_STRIP;
    const size_t pixels = strips * GF_SPECIAL_STRIP * step->out_height; /* that they cover */
    return gf_step_is_layer(step) ? pays_on_layers(step, pixels, aligned)
                                  : pays_on_kernels(step, pixels, aligned);
}
