/* What method `tensor` keeps of a layer from launch to launch. */
#include <math.h>
#include <stdlib.h>

#include "common/memory.h"
#include "gpu/device.h"
#include "gpu/tensor.h"

enum {
    LARGEST = 14, /* taps are below 2^(LARGEST + 1): what f16 holds */
    NEAR = 6      /* channels whose largest taps are within 2^NEAR of each other are alike */
};

/* The exponent of a number's power of two, within those of f32. */
static int exponent_of(float number)
{
    return number == 0.0F ? 0 : (int)fmax(-126.0, fmin(126.0, logb(fabs((double)number))));
}

/* For each channel the power of two of its largest tap; or 1 where those of all channels are so
 * near each other that f16 holds the taps as they are. Is one not 1? */
static bool find_lifts(const GfLinear *linear, const float *taps, float *lifts)
{
    const size_t area = linear->width * linear->height, depth = linear->depth;
    const size_t maps = linear->filters / linear->groups;
    const float wide = ldexpf(1.0F, NEAR);
    float least = INFINITY, largest = 0.0F;
    for (size_t c = 0; c < linear->groups * depth; c++) {
        float most = 0.0F;
        for (size_t i = 0; i < maps * area; i++) {
            const size_t o = c / depth * maps + i / area;
            most = fmaxf(most, fabsf(taps[(o * depth + c % depth) * area + i % area]));
        }
        lifts[c] = ldexpf(1.0F, exponent_of(most));
        least = most > 0.0F ? fminf(least, most) : least;
        largest = fmaxf(largest, most);
    }
    if (largest > least * wide)
        return true;
    for (size_t c = 0; c < linear->groups * depth; c++)
        lifts[c] = 1.0F;
    return false;
}

/* For each map what its taps, divided by the lifts, are further divided by. */
static void find_units(const GfLinear *linear, const float *taps, const float *lifts, float *units)
{
    const size_t area = linear->width * linear->height, depth = linear->depth;
    const size_t maps = linear->filters / linear->groups;
    for (size_t o = 0; o < linear->filters; o++) {
        float most = 0.0F;
        for (size_t i = 0; i < depth * area; i++)
            most =
                fmaxf(most, fabsf(taps[o * depth * area + i]) / lifts[o / maps * depth + i / area]);
        units[o] = ldexpf(1.0F, exponent_of(most) - LARGEST);
    }
}

static GfStatus narrow(const double *numbers, size_t count, float **made)
{
    GF_TRY(gf_allocate(count, sizeof **made, made));
    for (size_t i = 0; i < count; i++)
        (*made)[i] = (float)numbers[i];
    return GF_OK;
}

static GfStatus upload(const float *numbers, size_t count, float **device)
{
    GF_CUDA(cudaMalloc, (void **)device, count * sizeof *numbers);
    GF_CUDA(cudaMemcpy, *device, numbers, count * sizeof *numbers, cudaMemcpyHostToDevice);
    return GF_OK;
}

/* The line of a flat layer. Tiles reach beyond its end. */
static GfStatus make_line(const GfStep *step, GfTensorLayer *layer)
{
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t lines = gf_flat_lines(step);
    layer->line = gf_flat_line_room(step);
    const size_t scales = step->linear.groups * shape.stages * shape.phases_y *
                              gf_flat_scale_rows(layer->line / shape.columns + 1) +
                          2 * GF_FLAT_SPARE;
    GF_CUDA(cudaMalloc, &layer->lines, lines * layer->line * 16);
    GF_CUDA(cudaMemset, layer->lines, 0, lines * layer->line * 16);
    GF_CUDA(cudaMalloc, (void **)&layer->scales, scales * sizeof *layer->scales);
    GF_CUDA(cudaMemset, layer->scales, 0, scales * sizeof *layer->scales);
    return GF_OK;
}

/* `taps`, lifts and units are the host's; the first is what the weights are made of. */
static GfStatus make(const GfStep *step, bool direct, const float *taps, const float *lifts,
                     const float *units, float **taps_there, GfTensorLayer *layer)
{
    const GfLinear *linear = &step->linear;
    const GfTensorShape shape = gf_tensor_shape(step);
    const size_t step_bytes = shape.map_runs * 16 * 16 * 2 * sizeof(uint16_t);
    const size_t vectors = layer->gray   ? gf_gray_vectors(step)
                           : layer->flat ? gf_flat_vectors(step)
                                         : gf_tensor_vectors(step);
    const size_t bytes = vectors * 16;
    const size_t spare = layer->flat || layer->gray ? 0 : 2 * GF_TENSOR_AHEAD * step_bytes;
    const size_t channels = linear->groups * linear->depth + shape.stage_channels;
    GF_TRY(upload(taps, linear->filters * gf_linear_taps(linear), taps_there));
    GF_TRY(upload(lifts, channels, &layer->lifts));
    GF_TRY(upload(units, linear->filters, &layer->units));
    GF_CUDA(cudaMalloc, &layer->weights, bytes + spare);
    GF_CUDA(cudaMemset, (char *)layer->weights + bytes, 0, spare);
    if (layer->flat && !direct)
        GF_TRY(make_line(step, layer));
    GF_TRY(gf_cuda_check(gf_split_taps(step, *taps_there, layer, vectors), "tensor: taps"));
    GF_CUDA(cudaStreamSynchronize, NULL);
    return GF_OK;
}

void gf_tensor_layer_close(const GfTensorLayer *layer)
{
    (void)cudaFree(layer->weights);
    (void)cudaFree(layer->lines);
    (void)cudaFree(layer->scales);
    (void)cudaFree(layer->lifts);
    (void)cudaFree(layer->units);
    (void)cudaFree(layer->outside);
}

GfStatus gf_tensor_layer_open(const GfStep *step, bool flat, bool direct, GfTensorLayer *layer)
{
    GfStatus status = GF_OK;
    const GfLinear *linear = &step->linear;
    const size_t count = linear->filters * gf_linear_taps(linear);
    const size_t channels = linear->groups * linear->depth;
    const size_t spare = gf_tensor_shape(step).stage_channels;
    const size_t sums = linear->filters * (linear->height + 1) * (linear->width + 1);
    float *taps = NULL, *lifts = NULL, *units = NULL, *outside = NULL, *taps_there = NULL;
    GF_GO(narrow(linear->weights, count, &taps));
    GF_GO(gf_allocate(channels + spare, sizeof *lifts, &lifts));
    GF_GO(gf_allocate(linear->filters, sizeof *units, &units));
    for (size_t i = 0; i < spare; i++)
        lifts[channels + i] = 1.0F;
    layer->flat = flat;
    layer->lifted = find_lifts(linear, taps, lifts);
    find_units(linear, taps, lifts, units);
    if (step->outside) {
        GF_GO(narrow(step->outside, sums, &outside));
        GF_GO(upload(outside, sums, &layer->outside));
    }
    GF_GO(make(step, direct, taps, lifts, units, &taps_there, layer));
done:
    (void)cudaFree(taps_there);
    free(taps);
    free(lifts);
    free(units);
    free(outside);
    return status;
}
