/* The reference: each step of the plan as its definition reads, in float64, on whole pictures, one
 * sample after the other. Nothing here is clever, so that the other backends can be measured
 * against it. */
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "cpu/backend.h"
#include "images/light.h"

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

/* The sample under tap (kx, ky) of the window of output pixel (x, y); false where it lies outside
 * the picture, whatever the border. */
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
    bool any = alpha > GF_LEAST_ALPHA * step->white;
    return any ? source_at(in, x, y, c) * step->white / alpha : 0.0;
}

static double add(const GfStep *step, const Source *in, const Source *skipped, size_t x, size_t y,
                  size_t c)
{
    size_t colours = skipped->channels - (step->keep_alpha ? 1 : 0);
    if (step->keep_alpha && c == step->out_channels - 1)
        return source_at(skipped, x, y, colours);
    double value = source_at(in, x, y, in->channels == 1 ? 0 : c);
    if (step->skip_gain != 0.0)
        value += step->skip_gain * source_at(skipped, x, y, colours == 1 ? 0 : c);
    return value;
}

static double enlarge(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    size_t i = y % step->factor_y, j = x % step->factor_x;
    if (step->shuffle)
        c = (c * step->factor_y + i) * step->factor_x + j;
    return source_at(in, x / step->factor_x, y / step->factor_y, c);
}

static double filter(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    if (gf_step_is_layer(step))
        return layer(step, in, x, y, c);
    if (step->keep_alpha && c == step->channels - 1)
        return input_at(step, in, x, y, step->linear.anchor_x, step->linear.anchor_y, c);
    return combine(step, in, x, y, c);
}

/* The value of an output sample before what rides on the step; `skipped` is what step->skip
 * reads. */
static double step_value(const GfStep *step, const Source *in, const Source *skipped, size_t x,
                         size_t y, size_t c)
{
    switch (step->kind) {
    case GF_STEP_FILTER:
        return filter(step, in, x, y, c);
    case GF_STEP_POOL:
        return pool(step, in, x, y, c);
    case GF_STEP_PREMULTIPLY:
    case GF_STEP_UNPREMULTIPLY:
        return opacity(step, in, x, y, c);
    case GF_STEP_ADD:
        return add(step, in, skipped, x, y, c);
    case GF_STEP_UPSAMPLE:
        return enlarge(step, in, x, y, c);
    }
    return 0.0;
}

static double apply(const GfPointwise *post, const GfCurve *curve, double value)
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
    case GF_POINTWISE_DECODE:
        return post->a * gf_curve_decode(curve, value / post->a);
    case GF_POINTWISE_ENCODE:
        return post->a * gf_curve_encode(curve, value / post->a);
    case GF_POINTWISE_LEAKY:
        return value < 0.0 ? post->a * value : value;
    }
    return value;
}

static double finish(const GfStep *step, size_t c, double value)
{
    bool colour = c < step->post_channels;
    const GfCurve *curve = step->light ? gf_light_curve(step->light, c, step->post_channels) : NULL;
    if (step->bias)
        value += step->bias[c];
    for (size_t i = 0; colour && i < step->posts; i++)
        value = apply(&step->post[i], curve, value);
    return value * step->gain + (colour ? step->mid : 0.0);
}

/* What the steps read: the picture, then what each step makes, as long as one is still to read
 * it. */
typedef struct Sources {
    const GfPipeline *pipeline;
    Source *read; /* [i]: by step i */
} Sources;

/* The value of a sample that step i makes, not yet rounded. */
static double output_at(const Sources *sources, size_t i, size_t x, size_t y, size_t c)
{
    const GfStep *step = &sources->pipeline->steps[i];
    const Source *skipped = step->kind == GF_STEP_ADD ? &sources->read[step->skip] : NULL;
    return finish(step, c, step_value(step, &sources->read[i], skipped, x, y, c));
}

static bool is_read_after(const GfPipeline *pipeline, size_t source, size_t step)
{
    for (size_t i = step + 1; i < pipeline->count; i++)
        if (pipeline->steps[i].kind == GF_STEP_ADD && pipeline->steps[i].skip == source)
            return true;
    return false;
}

/* Makes what step i + 1 reads, and drops what nothing reads any more. */
static GfStatus run_step(Sources *sources, size_t i)
{
    const GfStep *step = &sources->pipeline->steps[i];
    Source *out = &sources->read[i + 1];
    *out = (Source){
        .width = step->out_width, .height = step->out_height, .channels = step->out_channels};
    size_t row = out->width * out->channels;
    GF_TRY(gf_allocate(out->height, row * sizeof *out->samples, &out->samples));
    for (size_t y = 0; y < out->height; y++)
        for (size_t s = 0; s < row; s++)
            out->samples[y * row + s] =
                output_at(sources, i, s / out->channels, y, s % out->channels);
    for (size_t j = 0; j <= i; j++)
        if (!is_read_after(sources->pipeline, j, i)) {
            free(sources->read[j].samples);
            sources->read[j].samples = NULL;
        }
    return GF_OK;
}

static GfStatus run_pipeline(const GfPipeline *pipeline, const GfFormat *format, const GfRing *ring,
                             const GfBand *out)
{
    Sources sources = {.pipeline = pipeline};
    size_t channels = pipeline->out.channels, last = pipeline->count - 1;
    GfStatus status = GF_OK;
    GF_GO(gf_allocate_zero(pipeline->count, sizeof *sources.read, &sources.read));
    sources.read[0] =
        (Source){ring, NULL, format->width, format->height, format->channels, format->sample};
    for (size_t i = 0; i < last; i++)
        GF_GO(run_step(&sources, i));
    for (size_t y = 0; y < out->rows; y++)
        for (size_t i = 0; i < gf_row_samples(&pipeline->out); i++)
            write_sample((unsigned char *)out->samples + y * out->stride, i, pipeline->out.sample,
                         output_at(&sources, last, i / channels, out->y0 + y, i % channels));
done:
    for (size_t i = 0; sources.read && i < pipeline->count; i++)
        free(sources.read[i].samples);
    free(sources.read);
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
