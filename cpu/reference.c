/* The reference: each step of the plan as its definition reads, in float64, on whole pictures, one
 * sample after the other. Nothing here is clever, so that the other backends can be measured
 * against it. */
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "cpu/backend.h"

/* What a step reads: the input, or (samples are not NULL) what the step before it made. */
typedef struct Source {
    const GfRing *ring;
    double *samples; /* height x width x channels, whatever the steps' layouts */
    size_t width, height, channels;
    GfSample sample; /* of the ring */
} Source;

struct GfSession {
    const GfPlan *plan;
    const GfRing *ring;
    GfTimes times;
};

static double source_at(const Source *in, size_t x, size_t y, size_t c)
{
    size_t i = x * in->channels + c;
    if (in->samples)
        return in->samples[y * in->width * in->channels + i];
    return gf_sample_at(gf_ring_row(in->ring, y), i, in->sample);
}

static void write_sample(void *row, size_t i, GfSample sample, double value)
{
    switch (sample) {
    case GF_U8:
        ((unsigned char *)row)[i] = (unsigned char)gf_quantise(value, sample);
        return;
    case GF_U16:
        ((unsigned short *)row)[i] = (unsigned short)gf_quantise(value, sample);
        return;
    case GF_F16: /* never an output */
        return;
    case GF_F32:
        ((float *)row)[i] = (float)value;
        return;
    case GF_F64:
        ((double *)row)[i] = value;
        return;
    }
}

/* The sample under tap (kx, ky) of the window of output pixel (x, y); false where it lies outside the
 * picture, whatever the border. */
static bool tap_place(const GfStep *step, size_t x, size_t y, size_t kx, size_t ky, ptrdiff_t *in_x,
                      ptrdiff_t *in_y)
{
    *in_x = (ptrdiff_t)(x * step->stride_x + kx * step->dilation_x) + step->origin_x;
    *in_y = (ptrdiff_t)(y * step->stride_y + ky * step->dilation_y) + step->origin_y;
    return *in_x >= 0 && *in_x < (ptrdiff_t)step->in_width && *in_y >= 0 &&
           *in_y < (ptrdiff_t)step->in_height;
}

static double input_at(const GfStep *step, const Source *in, size_t x, size_t y, size_t kx,
                       size_t ky, size_t c)
{
    ptrdiff_t in_x, in_y;
    (void)tap_place(step, x, y, kx, ky, &in_x, &in_y);
    long long column = gf_border_index(in_x, (long long)in->width, step->border);
    long long row = gf_border_index(in_y, (long long)in->height, step->border);
    if (column < 0 || row < 0)
        return step->border_value;
    return source_at(in, (size_t)column, (size_t)row, c);
}

/* The response of kernel f on the channels from c on. */
static double respond(const GfStep *step, const Source *in, size_t f, size_t x, size_t y, size_t c)
{
    const GfLinear *linear = &step->linear;
    size_t plane = linear->height * linear->width;
    double sum = 0.0;
    for (size_t d = 0; d < gf_linear_depth(linear); d++)
        for (size_t ky = 0; ky < linear->height; ky++)
            for (size_t kx = 0; kx < linear->width; kx++) {
                size_t tap = (f * linear->depth + d) * plane + ky * linear->width + kx;
                double weight =
                    linear->depth > 0 ? linear->weights[tap] : gf_linear_tap(linear, f, ky, kx);
                sum += weight * input_at(step, in, x, y, kx, ky, c + d);
            }
    return linear->scale * sum + linear->offset;
}

static double layer(const GfStep *step, const Source *in, size_t x, size_t y, size_t f)
{
    const GfLinear *linear = &step->linear;
    size_t group = f / (linear->filters / linear->groups);
    return respond(step, in, f, x, y, group * linear->depth);
}

static double pool(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    double most = 0.0, sum = 0.0, squares = 0.0, counted = 0.0;
    bool any = false;
    for (size_t ky = 0; ky < step->pool.height; ky++)
        for (size_t kx = 0; kx < step->pool.width; kx++) {
            ptrdiff_t in_x, in_y;
            bool inside = tap_place(step, x, y, kx, ky, &in_x, &in_y);
            if (in_x >= step->count_x0 && in_x < step->count_x1 && in_y >= step->count_y0 &&
                in_y < step->count_y1)
                counted += 1.0;
            if (!inside)
                continue;
            double value = source_at(in, (size_t)in_x, (size_t)in_y, c);
            most = !any || value > most || isnan(value) ? value : most;
            sum += value;
            squares += value * value;
            any = true;
        }
    if (!any || step->pool.op == GF_POOL_MAX)
        return most;
    return step->pool.op == GF_POOL_AVERAGE ? sum / counted : sqrt(squares);
}

static double combine(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    double value = respond(step, in, 0, x, y, c), difference;
    const GfCombine *how = &step->combine;
    if (how->op == GF_COMBINE_L2)
        value *= value;
    if (how->op == GF_COMBINE_L1)
        value = fabs(value);
    for (size_t f = 1; f < step->linear.filters; f++) {
        double next = respond(step, in, f, x, y, c);
        switch (how->op) {
        case GF_COMBINE_NONE:
            break;
        case GF_COMBINE_L2:
            value += next * next;
            break;
        case GF_COMBINE_L1:
            value += fabs(next);
            break;
        case GF_COMBINE_MAX:
            value = fmax(value, next);
            break;
        case GF_COMBINE_MIN:
            value = fmin(value, next);
            break;
        case GF_COMBINE_SUM:
            value += next;
            break;
        case GF_COMBINE_UNSHARP:
            difference = value - next;
            if (fabs(difference) >= how->threshold * step->white / 255.0)
                value += how->amount * difference;
            break;
        }
    }
    return how->op == GF_COMBINE_L2 ? sqrt(value) : value;
}

/* Its share in the arithmetic of opacity. */
static double opacity(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    size_t last = step->channels - 1;
    double alpha = source_at(in, x, y, last) * step->alpha_gain;
    if (c == last)
        return alpha;
    if (step->kind == GF_STEP_PREMULTIPLY)
        return source_at(in, x, y, c) * alpha / step->white;
    return alpha > 0.0 ? source_at(in, x, y, c) * step->white / alpha : 0.0;
}

/* The value of an output sample before what rides on the step. */
static double step_value(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    if (step->kind == GF_STEP_POOL)
        return pool(step, in, x, y, c);
    if (step->kind != GF_STEP_FILTER)
        return opacity(step, in, x, y, c);
    if (gf_step_is_layer(step))
        return layer(step, in, x, y, c);
    if (step->keep_alpha && c == step->channels - 1)
        return input_at(step, in, x, y, step->linear.anchor_x, step->linear.anchor_y, c);
    return combine(step, in, x, y, c);
}

static double apply(const GfPointwise *post, double value)
{
    switch (post->op) {
    case GF_POINTWISE_ABS:
        return fabs(value);
    case GF_POINTWISE_AFFINE:
        return post->a * value + post->b;
    case GF_POINTWISE_RELU:
        return value < 0.0 ? 0.0 : value;
    case GF_POINTWISE_SIGMOID:
        return 1.0 / (1.0 + exp(-(value + post->b)));
    case GF_POINTWISE_TANH:
        return tanh(value);
    case GF_POINTWISE_CLAMP:
        return value < post->a ? post->a : value > post->b ? post->b : value;
    }
    return value;
}

static double finish(const GfStep *step, size_t c, double value)
{
    bool colour = c < step->post_channels;
    if (step->bias)
        value += step->bias[c];
    for (size_t i = 0; colour && i < step->posts; i++)
        value = apply(&step->post[i], value);
    return value * step->gain + (colour ? step->mid : 0.0);
}

/* The value of a sample of the step's output, not yet rounded. */
static double output_at(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    return finish(step, c, step_value(step, in, x, y, c));
}

/* Makes the step's whole output the source of the next step. */
static GfStatus run_step(const GfStep *step, Source *in)
{
    Source out = {
        .width = step->out_width, .height = step->out_height, .channels = step->out_channels};
    size_t row = out.width * out.channels;
    GF_TRY(gf_allocate(out.height, row * sizeof *out.samples, &out.samples));
    for (size_t y = 0; y < out.height; y++)
        for (size_t i = 0; i < row; i++)
            out.samples[y * row + i] = output_at(step, in, i / out.channels, y, i % out.channels);
    free(in->samples);
    *in = out;
    return GF_OK;
}

static GfStatus run_pipeline(const GfPipeline *pipeline, const GfFormat *format, const GfRing *ring,
                             const GfBand *out)
{
    Source in = {ring, NULL, format->width, format->height, format->channels, format->sample};
    const GfStep *last = &pipeline->steps[pipeline->count - 1];
    size_t channels = pipeline->out.channels;
    GfStatus status = GF_OK;
    for (size_t i = 0; i + 1 < pipeline->count; i++)
        GF_GO(run_step(&pipeline->steps[i], &in));
    for (size_t y = 0; y < out->rows; y++)
        for (size_t i = 0; i < gf_row_samples(&pipeline->out); i++)
            write_sample((unsigned char *)out->samples + y * out->stride, i, pipeline->out.sample,
                         output_at(last, &in, i / channels, out->y0 + y, i % channels));
done:
    free(in.samples);
    return status;
}

/* ---- the backend ---- */

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    (void)backend;
    if (plan->ring_rows < plan->in.height)
        return gf_fail(GF_EUNSUPPORTED, "the reference needs all rows of the picture at once");
    return GF_OK;
}

static GfStatus make_session(GfBackend *backend, const GfPlan *plan, GfSession **session)
{
    (void)backend;
    GF_TRY(gf_allocate_zero(1, sizeof **session, session));
    (*session)->plan = plan;
    return GF_OK;
}

static GfStatus begin(GfSession *session, const GfRing *ring)
{
    session->ring = ring;
    return GF_OK;
}

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    double start = gf_now();
    (void)y0, (void)rows;
    for (size_t i = 0; i < session->plan->outputs; i++)
        if (outs[i].rows > 0)
            GF_TRY(run_pipeline(&session->plan->pipelines[i], &session->plan->in, session->ring,
                                &outs[i]));
    session->times.compute += gf_now() - start;
    return GF_OK;
}

static GfStatus collect(GfSession *session)
{
    (void)session;
    return GF_OK;
}

static const char *method(const GfSession *session, size_t output, size_t step)
{
    (void)session, (void)output, (void)step;
    return "float64";
}

static GfTimes times(const GfSession *session)
{
    return session->times;
}

static void end(GfSession *session)
{
    free(session);
}

static void close_backend(GfBackend *backend)
{
    free(backend);
}

GfStatus gf_reference_open(GfBackend **backend)
{
    GF_TRY(gf_allocate_zero(1, sizeof **backend, backend));
    **backend = (GfBackend){.name = "reference",
                            .device = "float64, one thread",
                            .band_bytes = 1 << 20,
                            .whole = true,
                            .supports = supports,
                            .session = make_session,
                            .begin = begin,
                            .submit = submit,
                            .collect = collect,
                            .method = method,
                            .times = times,
                            .end = end,
                            .close = close_backend};
    return GF_OK;
}
