/* The reference: each step of the plan as its definition reads, in float64, on whole pictures, one
 * sample after the other. Nothing here is clever, so that the other backends can be measured
 * against it. */
#include <stdlib.h>

#include "common/clock.h"
#include "cpu/backend.h"

/* What a step reads: the input, or (samples are not NULL) what the step before it made. */
typedef struct Source {
    const GfRing *ring;
    double *samples; /* height x width x channels */
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
    case GF_F32:
        ((float *)row)[i] = (float)value;
        return;
    case GF_F64:
        ((double *)row)[i] = value;
        return;
    }
}

static double input_at(const GfStep *step, const Source *in, ptrdiff_t x, ptrdiff_t y, size_t c)
{
    long long column = gf_border_index(x, (long long)in->width, step->border);
    long long row = gf_border_index(y, (long long)in->height, step->border);
    if (column < 0 || row < 0)
        return step->border_value;
    return source_at(in, (size_t)column, (size_t)row, c);
}

static double respond(const GfStep *step, const Source *in, size_t f, size_t x, size_t y, size_t c)
{
    const GfLinear *linear = &step->linear;
    double sum = 0.0;
    for (size_t ky = 0; ky < linear->height; ky++)
        for (size_t kx = 0; kx < linear->width; kx++)
            sum += gf_linear_tap(linear, f, ky, kx) *
                   input_at(step, in, (ptrdiff_t)(x + kx) + step->origin_x,
                            (ptrdiff_t)(y + ky) + step->origin_y, c);
    return linear->scale * sum + linear->offset;
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

/* The value of a sample before gain: filtered, or its share in the arithmetic of opacity. */
static double step_value(const GfStep *step, const Source *in, size_t x, size_t y, size_t c)
{
    size_t last = step->channels - 1;
    if (step->kind == GF_STEP_FILTER) {
        if (!step->keep_alpha || c < last)
            return combine(step, in, x, y, c);
        return input_at(step, in, (ptrdiff_t)(x + step->linear.anchor_x) + step->origin_x,
                        (ptrdiff_t)(y + step->linear.anchor_y) + step->origin_y, c);
    }
    double alpha = source_at(in, x, y, last) * step->alpha_gain;
    if (c == last)
        return alpha;
    if (step->kind == GF_STEP_PREMULTIPLY)
        return source_at(in, x, y, c) * alpha / step->white;
    return alpha > 0.0 ? source_at(in, x, y, c) * step->white / alpha : 0.0;
}

static double finish(const GfStep *step, size_t c, double value)
{
    bool colour = c < step->post_channels;
    for (size_t i = 0; colour && i < step->posts; i++) {
        const GfPointwise *post = &step->post[i];
        value = post->op == GF_POINTWISE_ABS ? fabs(value) : post->a * value + post->b;
    }
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
    Source out = {.width = step->out_width, .height = step->out_height, .channels = step->channels};
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
