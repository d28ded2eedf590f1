#include "gpu/methods.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "gpu/device.h"

/* Whether a step after step `i` reads what step `made` makes. */
static bool is_read_after(const GfPipeline *pipeline, size_t made, size_t i)
{
    for (size_t j = i + 1; j < pipeline->count; j++)
        if (j == made + 1 ||
            (pipeline->steps[j].kind == GF_STEP_ADD && pipeline->steps[j].skip == made + 1))
            return true;
    return false;
}

/* Is the first step a network's entry, which the method of the layer after it may take along? */
static bool may_enter(const GfPipeline *pipeline)
{
    return pipeline->count > 1 && gf_can_enter(pipeline->steps, pipeline->steps + 1) &&
           !is_read_after(pipeline, 0, 1);
}

GfStatus gf_method_choose(const GfChoice *choice, const GfPipeline *pipeline, size_t i,
                          const GfAlgorithm **algorithm)
{
    const GfStep *step = &pipeline->steps[i], *next = i + 1 < pipeline->count ? step + 1 : NULL;
    const GfUse use = {
        .wide = pipeline->wide, .pictures = 1, .enters = i == 1 && may_enter(pipeline)};
    *algorithm =
        choice->forced ? choice->forced : gf_algorithm_choose(step, next, &use, &choice->card);
    return gf_algorithm_runs(*algorithm, step, use.wide, &choice->card);
}

/* ---- what they need on the device ---- */

/* Copies doubles to the device, as they are or as f32. `host`, unless NULL, receives the copy that
 * was sent, which the caller owns. */
static GfStatus upload(cudaStream_t stream, const double *numbers, size_t count, bool wide,
                       void **host, void **device)
{
    GfStatus status = GF_OK;
    size_t size = wide ? sizeof(double) : sizeof(float);
    void *copy;
    GF_TRY(gf_allocate(count, size, &copy));
    for (size_t i = 0; i < count; i++) {
        if (wide)
            ((double *)copy)[i] = numbers[i];
        else
            ((float *)copy)[i] = (float)numbers[i];
    }
    GF_GO(gf_cuda_check(cudaMalloc(device, count * size), "cudaMalloc"));
    /* On the kernels' stream, which comes before its kernels whatever the memory is. */
    GF_GO(
        gf_cuda_check(cudaMemcpyAsync(*device, copy, count * size, cudaMemcpyHostToDevice, stream),
                      "cudaMemcpyAsync"));
    GF_GO(gf_cuda_check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"));
    if (host) {
        *host = copy;
        copy = NULL;
    }
done:
    free(copy);
    return status;
}

/* The taps, filters x depth x height x width. */
static GfStatus upload_taps(cudaStream_t stream, const GfLinear *linear, bool wide,
                            GfMethod *method)
{
    size_t count = linear->filters * gf_linear_taps(linear), i = 0;
    double *taps;
    if (linear->weights)
        return upload(stream, linear->weights, count, wide, &method->weights_host,
                      &method->weights);
    GF_TRY(gf_allocate(count, sizeof *taps, &taps));
    for (size_t f = 0; f < linear->filters; f++)
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++)
                taps[i++] = gf_linear_tap(linear, f, y, x);
    GfStatus status = upload(stream, taps, count, wide, &method->weights_host, &method->weights);
    free(taps);
    return status;
}

/* For each kernel its column, then its row. */
static GfStatus upload_factors(cudaStream_t stream, const GfLinear *linear, bool wide,
                               GfMethod *method)
{
    size_t width = linear->width, height = linear->height, side = width + height;
    double *factors;
    GF_TRY(gf_allocate(linear->filters, side * sizeof *factors, &factors));
    for (size_t f = 0; f < linear->filters; f++) {
        memcpy(factors + f * side, linear->columns + f * height, height * sizeof *factors);
        memcpy(factors + f * side + height, linear->rows + f * width, width * sizeof *factors);
    }
    GfStatus status = upload(stream, factors, linear->filters * side, wide, &method->factors_host,
                             &method->factors);
    free(factors);
    return status;
}

/* The tables of curves, those of red first. */
static GfStatus upload_tables(cudaStream_t stream, const GfLight *light, bool wide,
                              GfMethod *method)
{
    size_t count = 0, at = 0;
    double *tables;
    for (int i = 0; i < 3; i++)
        count += light->curves[i].points;
    if (count == 0)
        return GF_OK;
    GF_TRY(gf_allocate(count, sizeof *tables, &tables));
    for (int i = 0; i < 3; i++) {
        const GfCurve *curve = &light->curves[i];
        if (curve->points)
            memcpy(tables + at, curve->table, curve->points * sizeof *tables);
        at += curve->points;
    }
    GfStatus status = upload(stream, tables, count, wide, NULL, &method->weights);
    free(tables);
    return status;
}

/* ---- a method ---- */

static bool enters(const GfMethod *method)
{
    return method->entered.weights != NULL;
}

const GfStep *gf_method_step(const GfMethod *method, const GfStep *own)
{
    return enters(method) ? &method->entered.step : own;
}

size_t gf_method_steps(const GfMethod *method)
{
    return method->pools || enters(method) ? 2 : 1;
}

static GfStatus make_filter(const GfChoice *choice, const GfPipeline *pipeline, cudaStream_t stream,
                            size_t i, GfMethod *method)
{
    const GfStep *step = gf_method_step(method, &pipeline->steps[i]);
    const bool wide = pipeline->wide;
    GF_TRY(gf_method_choose(choice, pipeline, i + enters(method), &method->algorithm));
    method->launch = method->algorithm->launch;
    method->name = method->algorithm->name;
    GF_TRY(upload_taps(stream, &step->linear, wide, method));
    if (step->separable)
        GF_TRY(upload_factors(stream, &step->linear, wide, method));
    return method->algorithm->open ? method->algorithm->open(step, wide, 0, &method->state) : GF_OK;
}

static GfStatus make_method(const GfChoice *choice, const GfPipeline *pipeline, cudaStream_t stream,
                            size_t i, GfMethod *method)
{
    const GfStep *step = gf_method_step(method, &pipeline->steps[i]);
    if (step->bias)
        GF_TRY(upload(stream, step->bias, step->out_channels, pipeline->wide, NULL, &method->bias));
    if (step->light) {
        method->launch = gf_launch_light;
        method->name = "light";
        return upload_tables(stream, step->light, pipeline->wide, method);
    }
    switch (step->kind) {
    case GF_STEP_FILTER:
        return make_filter(choice, pipeline, stream, i, method);
    case GF_STEP_POOL:
        method->launch = gf_launch_pool;
        break;
    case GF_STEP_PREMULTIPLY:
        method->launch = gf_launch_premultiply;
        break;
    case GF_STEP_UNPREMULTIPLY:
        method->launch = gf_launch_unpremultiply;
        break;
    case GF_STEP_ADD:
        method->launch = gf_launch_add;
        break;
    case GF_STEP_UPSAMPLE:
        method->launch = gf_launch_upsample;
        break;
    }
    method->name = gf_step_name(step->kind);
    return GF_OK;
}

static void free_method(GfMethod *method)
{
    if (method->state)
        method->algorithm->close(method->state);
    (void)cudaFree(method->weights);
    (void)cudaFree(method->factors);
    (void)cudaFree(method->bias);
    free(method->weights_host);
    free(method->factors_host);
    gf_entered_release(&method->entered);
}

/* ---- those of a pipeline ---- */

/* Lets methods that can do it do the pool after them, where nothing else reads what they make. */
static void fuse_pools(const GfPipeline *pipeline, GfMethod *methods)
{
    for (size_t i = 0; i + 1 < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        const GfAlgorithm *algorithm = methods[i].algorithm;
        if (!algorithm || !algorithm->pools || !algorithm->pools(step, step + 1) ||
            is_read_after(pipeline, i, i + 1))
            continue;
        methods[i].pools = true;
        methods[i + 1].name = "fused";
    }
}

/* Has a network's entry and its first layer done as one where the layer's method can, and nothing
 * else reads what the entry makes. */
static GfStatus fuse_entry(const GfChoice *choice, const GfPipeline *pipeline, GfMethod *methods)
{
    const GfStep *entry = pipeline->steps, *layer = entry + 1;
    const GfAlgorithm *algorithm;
    if (!may_enter(pipeline))
        return GF_OK;
    GF_TRY(gf_method_choose(choice, pipeline, 1, &algorithm));
    if (!algorithm->enters || !algorithm->enters(entry, layer))
        return GF_OK;
    methods[1].name = "fused";
    return gf_enter(entry, layer, &methods[0].entered);
}

/* Gives each step the first buffer that holds nothing which it or a later step reads. One that the
 * step before does has that one's, into which it is made while that one's input is still read. */
static void choose_buffers(const GfPipeline *pipeline, const GfMethod *methods, size_t *buffers)
{
    for (size_t i = 0; i + 1 < pipeline->count; i++) {
        buffers[i] = 0;
        for (size_t j = 0; j < i;) {
            bool taken = buffers[j] == buffers[i] && is_read_after(pipeline, j, i - 1);
            buffers[i] += taken;
            j = taken ? 0 : j + 1;
        }
        if (i > 0 && gf_method_steps(&methods[i - 1]) > 1)
            buffers[i] = buffers[i - 1];
    }
}

GfStatus gf_methods_make(const GfChoice *choice, const GfPipeline *pipeline, cudaStream_t stream,
                         GfMethods *methods)
{
    size_t count = pipeline->count;
    GF_TRY(gf_allocate_zero(count, sizeof *methods->of, &methods->of));
    GF_TRY(gf_allocate_zero(count, sizeof *methods->buffers, &methods->buffers));
    GF_TRY(fuse_entry(choice, pipeline, methods->of));
    for (size_t i = 0; i < count; i++)
        if (!methods->of[i].name)
            GF_TRY(make_method(choice, pipeline, stream, i, &methods->of[i]));
    fuse_pools(pipeline, methods->of);
    choose_buffers(pipeline, methods->of, methods->buffers);
    return GF_OK;
}

void gf_methods_free(GfMethods *methods, size_t steps)
{
    for (size_t i = 0; methods->of && i < steps; i++)
        free_method(&methods->of[i]);
    free(methods->of);
    free(methods->buffers);
}
