/* Steps are filled in here by hand, not by the plan, so that a case is what its numbers say: the
 * plan might separate a kernel or ask for sums in f64, which are other cases. */
#include "bench/case.h"

#include <math.h>
#include <stdlib.h>

#include "bench/device.h"
#include "bench/samples.h"

/* ---- where samples lie ---- */

enum { ROW_ALIGNMENT = 256 }; /* bytes */

static Lay lay(size_t width, size_t height, size_t channels, GfSample sample, GfLayout layout)
{
    const size_t size = gf_sample_size(sample);
    if (layout == GF_PLANAR)
        return (Lay){width, channels * height, width, channels * height * width};
    const size_t row = width * channels;
    const size_t units = (row * size + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT;
    const size_t pitch = units * ROW_ALIGNMENT / size;
    return (Lay){row, height, pitch, height * pitch};
}

Lay step_in_lay(const GfStep *step)
{
    return lay(step->in_width, step->in_height, step->channels, step->in, step->in_layout);
}

Lay step_out_lay(const GfStep *step)
{
    return lay(step->out_width, step->out_height, step->out_channels, step->out, step->out_layout);
}

static size_t place(Lay lay, GfLayout layout, size_t height, size_t channels, size_t n, size_t c,
                    size_t x, size_t y)
{
    const bool planar = layout == GF_PLANAR;
    return n * lay.picture + (planar ? c * height + y : y) * lay.pitch +
           (planar ? x : x * channels + c);
}

size_t step_in_at(const GfStep *step, size_t n, size_t c, size_t x, size_t y)
{
    return place(step_in_lay(step), step->in_layout, step->in_height, step->channels, n, c, x, y);
}

size_t step_out_at(const GfStep *step, size_t n, size_t c, size_t x, size_t y)
{
    return place(step_out_lay(step), step->out_layout, step->out_height, step->out_channels, n, c,
                 x, y);
}

/* ---- geometry ---- */

/* A step that reads what lies before it and changes no size. */
static GfStep plain_step(const Spec *spec, size_t channels, size_t width, size_t height)
{
    GfLayout layout = spec->layer ? GF_PLANAR : GF_INTERLEAVED;
    GfSample between = spec->layer ? GF_F32 : spec->out;
    return (GfStep){.kind = GF_STEP_FILTER,
                    .in_width = width,
                    .in_height = height,
                    .out_width = width,
                    .out_height = height,
                    .channels = channels,
                    .out_channels = channels,
                    .in = spec->in,
                    .out = between,
                    .in_layout = layout,
                    .out_layout = layout,
                    .taps_x = 1,
                    .taps_y = 1,
                    .stride_x = 1,
                    .stride_y = 1,
                    .dilation_x = 1,
                    .dilation_y = 1,
                    .border = spec->layer ? GF_BORDER_CONSTANT : GF_BORDER_REPLICATE,
                    .post_channels = channels,
                    .white = gf_sample_is_float(spec->in) ? 255.0 : gf_sample_max(spec->in),
                    .alpha_gain = 1.0,
                    .gain = 1.0};
}

/* Of a kernel. */
typedef struct Side {
    size_t columns, rows;
} Side;

/* Padding as of Spec. */
static void set_linear(GfStep *step, size_t filters, Side side, size_t padding, size_t stride,
                       size_t dilation)
{
    stride = stride ? stride : 1;
    dilation = dilation ? dilation : 1;
    const size_t right = (side.columns - 1) * dilation, below = (side.rows - 1) * dilation;
    const size_t across = padding + side.columns / 2 - side.rows / 2;
    step->dilation_x = step->dilation_y = dilation;
    step->stride_x = step->stride_y = stride;
    step->taps_x = side.columns;
    step->taps_y = side.rows;
    step->origin_x = -(ptrdiff_t)across;
    step->origin_y = -(ptrdiff_t)padding;
    step->out_width = (step->in_width + 2 * across - right - 1) / stride + 1;
    step->out_height = (step->in_height + 2 * padding - below - 1) / stride + 1;
    step->linear = (GfLinear){.filters = filters,
                              .width = side.columns,
                              .height = side.rows,
                              .groups = 1,
                              .anchor_x = side.columns / 2,
                              .anchor_y = side.rows / 2,
                              .scale = 1.0,
                              .sampling = gf_sampling_plain()};
}

static GfStep layer_step(const Spec *spec, const GfStep *before, size_t filters, size_t padding)
{
    GfStep step =
        before ? plain_step(spec, before->out_channels, before->out_width, before->out_height)
               : plain_step(spec, spec->channels, spec->width, spec->height);
    const Side side = {spec->columns ? spec->columns : spec->kernel, spec->kernel};
    set_linear(&step, filters, side, padding, before ? 1 : spec->stride,
               before ? 1 : spec->dilation);
    step.in = before ? GF_F32 : spec->in;
    step.linear.groups = spec->groups && !before ? spec->groups : 1;
    step.linear.depth = step.channels / step.linear.groups;
    step.out_channels = step.post_channels = filters;
    if (spec->pooled || spec->second) {
        step.post[0] = (GfPointwise){.op = GF_POINTWISE_RELU};
        step.posts = 1;
    }
    return step;
}

static GfStep pool_step(const Spec *spec, const GfStep *before)
{
    GfStep step = plain_step(spec, before->out_channels, before->out_width, before->out_height);
    step.kind = GF_STEP_POOL;
    step.in = GF_F32;
    step.out_width /= 2;
    step.out_height /= 2;
    step.taps_x = step.taps_y = step.stride_x = step.stride_y = 2;
    step.count_x1 = (ptrdiff_t)step.in_width;
    step.count_y1 = (ptrdiff_t)step.in_height;
    step.pool =
        (GfPool){.op = GF_POOL_MAX, .width = 2, .height = 2, .sampling = gf_sampling_plain()};
    step.pool.sampling.stride_x = step.pool.sampling.stride_y = 2;
    step.pool.sampling.fit = GF_FIT_PAD;
    return step;
}

static GfStep bank_step(const Spec *spec)
{
    GfStep step = plain_step(spec, spec->channels, spec->width, spec->height);
    const Side side = {spec->kernel, spec->kernel};
    set_linear(&step, spec->taps == TAPS_SOBEL ? 2 : 1, side, spec->kernel / 2, 1, 1);
    step.combine.op = spec->taps == TAPS_SOBEL ? GF_COMBINE_L2 : GF_COMBINE_NONE;
    step.separable = spec->taps == TAPS_GAUSS;
    return step;
}

static void make_steps(Case *made)
{
    const Spec *spec = made->spec;
    Pass *pass = made->passes;
    if (!spec->layer) {
        pass[made->count++].step = bank_step(spec);
        return;
    }
    pass[made->count++].step = layer_step(spec, NULL, spec->filters, spec->padding);
    if (spec->pooled || spec->second)
        pass[made->count++].step = pool_step(spec, &pass[0].step);
    if (spec->second) {
        pass[made->count++].step = layer_step(spec, &pass[1].step, spec->second, 0);
        pass[made->count++].step = pool_step(spec, &pass[2].step);
    }
}

/* ---- taps ---- */

/* Signed taps whose responses neither grow nor fade from layer to layer, or, for pictures, some of
 * them negative and with the sum 1. */
static void random_taps(Pass *pass, bool layer)
{
    size_t one = gf_linear_taps(&pass->step.linear);
    for (size_t f = 0; f < pass->step.linear.filters; f++) {
        double *taps = pass->taps + f * one, sum = 0.0;
        for (size_t i = 0; i < one; i++) {
            taps[i] = layer ? samples_uniform(-1.0, 1.0) : samples_uniform(-0.25, 1.0);
            sum += taps[i];
        }
        for (size_t i = 0; i < one; i++)
            taps[i] = (double)(float)(layer ? taps[i] / sqrt((double)one / 3.0) : taps[i] / sum);
    }
}

/* Sigma as large as the window holds to three standard deviations. */
static GfStatus gauss_taps(Pass *pass)
{
    size_t side = pass->step.linear.width;
    double sum = 0.0, sigma = (double)side / 6.0;
    GF_TRY(gf_allocate(side, sizeof(double), &pass->columns));
    GF_TRY(gf_allocate(side, sizeof(double), &pass->rows));
    for (size_t i = 0; i < side; i++) {
        double at = ((double)i - (double)(side / 2)) / sigma;
        pass->columns[i] = exp(-at * at / 2.0);
        sum += pass->columns[i];
    }
    for (size_t i = 0; i < side; i++)
        pass->rows[i] = pass->columns[i] = (double)(float)(pass->columns[i] / sum);
    for (size_t i = 0; i < side * side; i++)
        pass->taps[i] = pass->columns[i / side] * pass->rows[i % side];
    return GF_OK;
}

static void sobel_taps(Pass *pass)
{
    static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1};
    for (size_t i = 0; i < 9 * pass->step.linear.filters; i++)
        pass->taps[i] = sobel[i];
}

/* NPP's sign: the row above less the row below. */
static void sobel_y_taps(Pass *pass)
{
    static const double sobel[] = {1, 2, 1, 0, 0, 0, -1, -2, -1};
    for (size_t i = 0; i < 9; i++)
        pass->taps[i] = sobel[i];
}

static GfStatus fill_taps(Pass *pass, const Spec *spec)
{
    switch (spec->taps) {
    case TAPS_RANDOM:
        random_taps(pass, spec->layer);
        return GF_OK;
    case TAPS_GAUSS:
        return gauss_taps(pass);
    case TAPS_SOBEL:
        sobel_taps(pass);
        return GF_OK;
    case TAPS_SOBEL_Y:
        sobel_y_taps(pass);
        return GF_OK;
    }
    return GF_OK;
}

static GfStatus upload(const void *host, size_t bytes, void **device)
{
    CUDA(cudaMalloc, device, bytes);
    CUDA(cudaMemcpy, *device, host, bytes, cudaMemcpyHostToDevice);
    return GF_OK;
}

/* Numbers for the device: f32, or f64 where sums are. */
static GfStatus upload_numbers(const double *wide, const float *narrow, size_t count,
                               const Spec *spec, void **device)
{
    return spec->wide ? upload(wide, count * sizeof *wide, device)
                      : upload(narrow, count * sizeof *narrow, device);
}

static GfStatus make_numbers(Pass *pass, const Spec *spec)
{
    GfLinear *linear = &pass->step.linear;
    size_t side = linear->width, count = linear->filters * gf_linear_taps(linear);
    GF_TRY(gf_allocate(count, sizeof(double), &pass->taps));
    GF_TRY(fill_taps(pass, spec));
    GF_TRY(gf_allocate(count, sizeof(float), &pass->taps_host));
    for (size_t i = 0; i < count; i++)
        pass->taps_host[i] = (float)pass->taps[i];
    GF_TRY(upload_numbers(pass->taps, pass->taps_host, count, spec, &pass->taps_device));
    linear->weights = pass->taps;
    linear->columns = pass->columns;
    linear->rows = pass->rows;
    if (!pass->columns)
        return GF_OK;
    GF_TRY(gf_allocate(2 * side, sizeof(double), &pass->factors));
    GF_TRY(gf_allocate(2 * side, sizeof(float), &pass->factors_host));
    for (size_t i = 0; i < 2 * side; i++) {
        pass->factors[i] = i < side ? pass->columns[i] : pass->rows[i - side];
        pass->factors_host[i] = (float)pass->factors[i];
    }
    return upload_numbers(pass->factors, pass->factors_host, 2 * side, spec, &pass->factors_device);
}

/* ---- the whole ---- */

static void count_work(Case *made)
{
    size_t batch = made->spec->batch;
    const GfStep *first = &made->passes[0].step, *last = &made->passes[made->count - 1].step;
    const Lay in = step_in_lay(first), out = step_out_lay(last);
    const size_t in_size = gf_sample_size(first->in), out_size = gf_sample_size(last->out);
    made->in_bytes = batch * in.picture * in_size;
    made->out_bytes = batch * out.picture * out_size;
    made->bytes =
        (double)(batch * in.rows * in.row * in_size + batch * out.rows * out.row * out_size);
    for (size_t i = 0; i < made->count; i++) {
        const GfStep *step = &made->passes[i].step;
        const GfLinear *linear = &step->linear;
        const Lay made_here = step_out_lay(step);
        if (i + 1 < made->count)
            made->between_bytes =
                gf_max(made->between_bytes, batch * made_here.picture * gf_sample_size(step->out));
        if (step->kind != GF_STEP_FILTER)
            continue;
        size_t taps = step->separable ? linear->width + linear->height : gf_linear_taps(linear);
        size_t kernels = gf_step_is_layer(step) ? 1 : linear->filters;
        made->operations +=
            2.0 * (double)(batch * made_here.rows * made_here.row) * (double)(taps * kernels);
        made->bytes += (double)(linear->filters * gf_linear_taps(linear)) * sizeof(float);
    }
}

GfStatus case_make(const Spec *spec, Case *made)
{
    *made = (Case){.spec = spec};
    spec_name(spec, made->name, sizeof made->name);
    make_steps(made);
    for (size_t i = 0; i < made->count; i++)
        if (made->passes[i].step.kind == GF_STEP_FILTER)
            GF_TRY(make_numbers(&made->passes[i], spec));
    count_work(made);
    return GF_OK;
}

void case_free(Case *made)
{
    for (size_t i = 0; i < made->count; i++) {
        Pass *pass = &made->passes[i];
        free(pass->taps);
        free(pass->columns);
        free(pass->rows);
        free(pass->factors);
        free(pass->taps_host);
        free(pass->factors_host);
        (void)cudaFree(pass->taps_device);
        (void)cudaFree(pass->factors_device);
    }
    *made = (Case){0};
}

GfLaunch case_launch(const Case *made, size_t pass, const void *in, void *out)
{
    const Pass *from = &made->passes[pass];
    const bool wide = made->spec->wide;
    const GfStep *step = &from->step;
    bool planar = step->in_layout == GF_PLANAR;
    size_t in_size = gf_sample_size(step->in), out_size = gf_sample_size(step->out);
    const Lay in_lay = step_in_lay(step), out_lay = step_out_lay(step);
    return (GfLaunch){.step = step,
                      .wide = wide,
                      .in = {.samples = in,
                             .stride = in_lay.pitch * in_size,
                             .batch = in_lay.picture * in_size,
                             .capacity = step->in_height,
                             .pixel = planar ? 1 : step->channels,
                             .plane = planar ? step->in_width * step->in_height : 1},
                      .out = {.samples = out,
                              .stride = out_lay.pitch * out_size,
                              .batch = out_lay.picture * out_size,
                              .pixel = planar ? 1 : step->out_channels,
                              .plane = planar ? step->out_width * step->out_height : 1},
                      .y1 = step->out_height,
                      .count = made->spec->batch,
                      .weights = from->taps_device,
                      .weights_host = wide ? (const void *)from->taps : from->taps_host,
                      .factors = from->factors_device,
                      .factors_host = wide ? (const void *)from->factors : from->factors_host};
}
