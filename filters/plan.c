/* From stages to steps: neighbours that can share a pass over the picture are fused (a bank, its
 * combination, the functions of one sample behind it, the last rounding), geometry follows from the
 * kernels, and the rows in flight follow from the geometry. */
#include "filters/plan.h"

#include <math.h>
#include <stdlib.h>

#include "common/text.h"
#include "filters/precision.h"
#include "filters/steps.h"
#include "filters/windows.h"

/* A small picture too is cut into some bands, so that decoding, computing and encoding overlap, as
 * long as handing a band over costs less than that gains. */
enum {
    BANDS_AHEAD = 1,
    LEAST_BAND_ROWS = 16,
    BANDS_A_PICTURE = 8,
    LEAST_BAND_BYTES = 64 << 10,
    BANDS_A_DEVICE = 4,
    BAND_ANEW = 8, /* times the rows that it computes anew, where short bands are wanted */
    MADE_BANDS = 8 /* times a band's bytes: what is made of it, which is to stay in the cache */
};

/* Of the rows between its layers a network computes anew for each band as many as half its span: a
 * sixth of the work when a band has three spans. */
enum { DEEP_BAND_SPANS = 3 };

/* What a band becomes takes no more than this, whatever neighbouring bands share, where a row of
 * it does not. */
enum { MOST_MADE_BYTES = 256 << 20 };

/* What is in flight where --memory names no other limit: no more than this, or so many times the
 * whole picture, whose rows may be as long. */
static const size_t most_in_flight = (size_t)4 << 30;
enum { MOST_TIMES_PICTURE = 8 };

GfPlanOptions gf_plan_options_default(GfSample sample)
{
    return (GfPlanOptions){.border = GF_BORDER_REPLICATE, .sample = sample, .band_bytes = 1 << 20};
}

const char *gf_step_name(GfStepKind kind)
{
    static const char *const names[] = {[GF_STEP_FILTER] = "filter",
                                        [GF_STEP_POOL] = "pool",
                                        [GF_STEP_PREMULTIPLY] = "opacity",
                                        [GF_STEP_UNPREMULTIPLY] = "opacity",
                                        [GF_STEP_ADD] = "add",
                                        [GF_STEP_UPSAMPLE] = "upsample"};
    return names[kind];
}

/* ---- what the response means ---- */

typedef struct Meaning {
    bool is_signed;  /* the response swings about zero */
    bool derivative; /* some kernel's sum is zero, or an offset moves the response */
    bool spreads;    /* some kernel is larger than 1 x 1 */
    bool learned;    /* there is a layer or a pool: responses are no pictures of their own */
} Meaning;

static double kernel_sum(const GfLinear *linear, size_t f, double *absolute)
{
    double sum = 0.0;
    *absolute = 0.0;
    for (size_t y = 0; y < linear->height; y++)
        for (size_t x = 0; x < linear->width; x++) {
            sum += gf_linear_tap(linear, f, y, x);
            *absolute += fabs(gf_linear_tap(linear, f, y, x));
        }
    return sum;
}

/* Of what the step makes of its kernels, all of which have the first one's meaning unless they are
 * added up. */
static double response_sum(const GfStep *step, double *absolute)
{
    double sum = kernel_sum(&step->linear, 0, absolute), more;
    for (size_t f = 1; step->combine.op == GF_COMBINE_SUM && f < step->linear.filters; f++) {
        sum += kernel_sum(&step->linear, f, &more);
        *absolute += more;
    }
    return sum;
}

static bool is_zero(double sum, double absolute)
{
    return fabs(sum) <= 1e-9 * absolute;
}

static Meaning find_meaning(const GfPipeline *pipeline)
{
    Meaning meaning = {0};
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        const GfLinear *linear = &step->linear;
        bool gray = gf_step_is_layer(step) && step->picture;
        meaning.learned |= step->kind != GF_STEP_FILTER || (gf_linear_is_learned(linear) && !gray);
        if (meaning.learned || gray)
            continue;
        double absolute, sum = response_sum(step, &absolute);
        bool zero = is_zero(sum, absolute);
        meaning.is_signed = (meaning.is_signed || zero) && linear->offset == 0.0;
        meaning.derivative |= zero || linear->offset != 0.0;
        meaning.spreads |= linear->width * linear->height > 1;
        if (step->combine.op == GF_COMBINE_L2 || step->combine.op == GF_COMBINE_L1)
            meaning.is_signed = false;
        for (size_t j = 0; j < step->posts; j++)
            if (step->post[j].op != GF_POINTWISE_AFFINE || step->post[j].b != 0.0)
                meaning.is_signed = false;
    }
    return meaning;
}

static void resolve_options(GfPipeline *pipeline, const GfPlan *plan, const Meaning *meaning)
{
    bool real = gf_sample_is_float(plan->options.sample);
    pipeline->range = plan->options.range;
    if (pipeline->range == GF_RANGE_AUTO)
        pipeline->range =
            meaning->is_signed && !meaning->learned && !real ? GF_RANGE_ABS : GF_RANGE_CLAMP;
    pipeline->alpha =
        gf_filter_spares_alpha(pipeline->filter) ? plan->options.alpha : GF_ALPHA_FILTER;
    if (pipeline->alpha == GF_ALPHA_AUTO)
        pipeline->alpha = meaning->derivative || !meaning->spreads || meaning->learned
                              ? GF_ALPHA_COPY
                              : GF_ALPHA_PREMUL;
}

/* ---- geometry ---- */

static double white_of(const GfPlan *plan)
{
    return gf_sample_is_float(plan->in.sample) ? 255.0 : gf_sample_max(plan->in.sample);
}

/* What goes on beside the picture's samples while the steps are laid out. */
typedef struct Flow {
    size_t width, height, channels;
    bool opacity; /* the last channel is opacity, */
    bool alpha;   /* and not filtered as if it were a colour */
} Flow;

/* Channels in and out of a layer, and what belongs to each of them. */
static GfStatus set_layer(GfStep *step)
{
    const GfLinear *linear = &step->linear;
    if (linear->depth * linear->groups != step->channels)
        return gf_fail(GF_EFILTER, "a layer that takes %zu channel%s%s is given %zu",
                       linear->depth * linear->groups,
                       linear->depth * linear->groups == 1 ? "" : "s",
                       linear->groups > 1 ? " (all groups together)" : "", step->channels);
    step->out_channels = linear->filters;
    step->bias = linear->bias;
    return GF_OK;
}

static GfStatus set_pool(GfStep *step)
{
    step->bias = step->pool.bias;
    if (step->bias && step->pool.bias_count != step->channels)
        return gf_fail(GF_EFILTER, "a bias of %zu number%s for a pool of %zu channel%s",
                       step->pool.bias_count, step->pool.bias_count == 1 ? "" : "s", step->channels,
                       step->channels == 1 ? "" : "s");
    return GF_OK;
}

/* Two ways meet: what they bring must be of one size, and of as many channels or of one. */
static GfStatus set_sum(GfStep *step, const GfStep *skipped)
{
    size_t alpha = step->keep_alpha ? 1 : 0, colours = skipped->channels - alpha;
    bool fits = skipped->in_width == step->in_width && skipped->in_height == step->in_height;
    if (!fits && step->skip_gain == 0.0)
        return gf_fail(GF_EFILTER, "opacity cannot be put back: %zu x %zu pixels became %zu x %zu",
                       skipped->in_width, skipped->in_height, step->in_width, step->in_height);
    if (!fits)
        return gf_fail(GF_EFILTER, "%zu x %zu pixels meet %zu x %zu", step->in_width,
                       step->in_height, skipped->in_width, skipped->in_height);
    step->skip_channels = skipped->channels;
    if (step->skip_gain == 0.0)
        colours = step->channels;
    if (step->channels != colours && (!step->picture || gf_min(step->channels, colours) != 1))
        return gf_fail(GF_EFILTER, "%zu channel%s %zu", step->channels,
                       step->channels == 1 ? " meets" : "s meet", colours);
    step->out_channels = gf_max(step->channels, colours) + alpha;
    return GF_OK;
}

static GfStatus set_enlarged(GfStep *step, const GfStep *steps)
{
    if (step->shuffle)
        step->out_channels = step->channels / (step->factor_x * step->factor_y);
    if (!gf_mul(step->in_width, step->factor_x, &step->out_width) ||
        !gf_mul(step->in_height, step->factor_y, &step->out_height) ||
        step->out_width > GF_MOST_PIXELS || step->out_height > GF_MOST_PIXELS)
        return gf_fail(GF_EFILTER, "%zu x %zu pixels are enlarged beyond %d a side", step->in_width,
                       step->in_height, GF_MOST_PIXELS);
    if (step->skip == GF_NO_REFERENCE)
        return GF_OK;
    const GfStep *like = &steps[step->skip];
    size_t width = like->in_width, height = like->in_height;
    if (width > step->out_width || width + step->factor_x <= step->out_width ||
        height > step->out_height || height + step->factor_y <= step->out_height)
        return gf_fail(GF_EFILTER, "%zu x %zu pixels cannot be cut to %zu x %zu", step->out_width,
                       step->out_height, width, height);
    step->out_width = width;
    step->out_height = height;
    return GF_OK;
}

/* What stands outside the picture is light too where the picture is: one number for all
 * channels. */
static double border_value(const GfPipeline *pipeline, const GfStep *step, const GfPlan *plan)
{
    const GfPlanOptions *options = &plan->options;
    double white = white_of(plan);
    if (!options->light || (size_t)(step - pipeline->steps) < pipeline->lead)
        return options->border_value;
    return white *
           gf_curve_decode(gf_light_curve(options->light, 0, 1), options->border_value / white);
}

static GfStatus lay_step(GfPipeline *pipeline, GfStep *step, const GfPlan *plan)
{
    const GfPlanOptions *options = &plan->options;
    step->out_width = step->in_width;
    step->out_height = step->in_height;
    step->border = options->border;
    step->border_value = options->border_value;
    step->out_channels = step->channels;
    switch (step->kind) {
    case GF_STEP_FILTER:
        if (gf_step_is_layer(step))
            GF_TRY(set_layer(step));
        GF_TRY(gf_lay_windows(step, options));
        if (step->linear.sampling.fit == GF_FIT_BORDER)
            step->border_value = border_value(pipeline, step, plan);
        return GF_OK;
    case GF_STEP_POOL:
        GF_TRY(set_pool(step));
        return gf_lay_windows(step, options);
    case GF_STEP_ADD:
        return set_sum(step, &pipeline->steps[step->skip]);
    case GF_STEP_UPSAMPLE:
        return set_enlarged(step, pipeline->steps);
    case GF_STEP_PREMULTIPLY:
    case GF_STEP_UNPREMULTIPLY:
        return GF_OK;
    }
    return gf_fail(GF_EFILTER, "an unknown step");
}

/* Layers make channels that are none of the picture's. A network's end puts opacity back. */
static bool keeps_opacity(const GfStep *step, bool opacity)
{
    if (step->picture)
        return step->kind == GF_STEP_ADD ? step->keep_alpha : opacity;
    return opacity && !gf_step_is_layer(step) && !step->shuffle;
}

/* One over what the steps since the last multiplication make of a flat opacity, where that is not
 * zero. */
static double alpha_gain(const GfStep *division)
{
    double sum = 1.0, absolute;
    for (const GfStep *step = division - 1; step->kind != GF_STEP_PREMULTIPLY; step--) {
        if (step->kind != GF_STEP_FILTER || gf_linear_is_learned(&step->linear))
            continue;
        double gain = response_sum(step, &absolute) * step->linear.scale;
        sum *= is_zero(gain, absolute * fabs(step->linear.scale)) ? 0.0 : gain;
    }
    return sum != 0.0 ? 1.0 / sum : 1.0;
}

static GfStatus set_geometry(GfPipeline *pipeline, const GfPlan *plan)
{
    const bool apart = pipeline->alpha != GF_ALPHA_FILTER;
    Flow flow = {plan->in.width, plan->in.height, plan->in.channels, plan->in.has_alpha,
                 plan->in.has_alpha && apart};
    for (size_t i = 0; i < pipeline->count; i++) {
        GfStep *step = &pipeline->steps[i];
        step->in_width = flow.width;
        step->in_height = flow.height;
        step->channels = flow.channels;
        GF_TRY(gf_stage_fail(step->stage, lay_step(pipeline, step, plan)));
        flow = (Flow){step->out_width, step->out_height, step->out_channels,
                      keeps_opacity(step, flow.opacity), false};
        flow.alpha = flow.opacity && apart;
        step->post_channels = flow.channels - (flow.alpha ? 1 : 0);
        if (step->kind == GF_STEP_FILTER)
            step->keep_alpha = flow.alpha && pipeline->alpha == GF_ALPHA_COPY;
        step->white = white_of(plan);
        if (step->kind == GF_STEP_UNPREMULTIPLY)
            step->alpha_gain = alpha_gain(step);
    }
    pipeline->out = plan->in;
    pipeline->out.width = flow.width;
    pipeline->out.height = flow.height;
    pipeline->out.channels = flow.channels;
    pipeline->out.has_alpha = flow.opacity;
    pipeline->out.sample = plan->options.sample;
    size_t samples, bytes;
    if (!gf_mul(flow.width, flow.channels, &samples) || !gf_mul(samples, sizeof(double), &bytes))
        return gf_fail(GF_EFILTER, "rows of %zu pixels of %zu channels are too long", flow.width,
                       flow.channels);
    return GF_OK;
}

/* What layers and pools hand on lies in planes; pictures are interleaved. */
static void set_layouts(GfPipeline *pipeline)
{
    for (size_t i = 1; i < pipeline->count; i++) {
        GfStep *before = &pipeline->steps[i - 1], *step = &pipeline->steps[i];
        bool planar = before->kind == GF_STEP_POOL || before->kind == GF_STEP_UPSAMPLE ||
                      gf_step_is_layer(before) || before->in_layout == GF_PLANAR;
        before->out_layout = step->in_layout =
            planar && !before->picture ? GF_PLANAR : GF_INTERLEAVED;
    }
    for (size_t i = 0; i < pipeline->count; i++)
        if (pipeline->steps[i].kind == GF_STEP_ADD)
            pipeline->steps[i].skip_layout = pipeline->steps[pipeline->steps[i].skip].in_layout;
}

/* The last step carries the range, the change of depth and the store. */
static GfStatus set_samples(GfPipeline *pipeline, const GfPlan *plan)
{
    GfSample out = plan->options.sample;
    GfStep *last = &pipeline->steps[pipeline->count - 1];
    if (pipeline->range == GF_RANGE_ABS)
        last->post[last->posts++] = (GfPointwise){.op = GF_POINTWISE_ABS};
    if (!gf_sample_is_float(plan->in.sample) && !gf_sample_is_float(out))
        last->gain = gf_sample_max(out) / gf_sample_max(plan->in.sample);
    if (pipeline->range == GF_RANGE_OFFSET && !gf_sample_is_float(out))
        last->mid = (gf_sample_max(out) + 1.0) / 2.0;
    pipeline->steps[0].in = plan->in.sample;
    last->out = out;
    GF_TRY(gf_pipeline_needs_wide(pipeline, &pipeline->wide));
    GF_TRY(gf_pipeline_noise(pipeline, &pipeline->noise));
    for (size_t i = 1; i < pipeline->count; i++)
        pipeline->steps[i - 1].out = pipeline->steps[i].in = pipeline->wide ? GF_F64 : GF_F32;
    for (size_t i = 0; i < pipeline->count; i++)
        if (pipeline->steps[i].kind == GF_STEP_ADD)
            pipeline->steps[i].skip_in = pipeline->steps[pipeline->steps[i].skip].in;
    return GF_OK;
}

static void count_work(GfPipeline *pipeline, const GfPlan *plan)
{
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        double taps = (double)step->taps_x * (double)step->taps_y;
        double sums = gf_step_is_layer(step) ? 1.0 : (double)step->linear.filters;
        if (step->kind != GF_STEP_FILTER)
            sums = 1.0;
        if (step->separable)
            taps = (double)step->taps_x + (double)step->taps_y;
        pipeline->multiply_adds += taps * (double)gf_linear_depth(&step->linear) * sums *
                                   (double)step->out_channels * (double)step->out_width *
                                   (double)step->out_height;
    }
    pipeline->bytes = (double)gf_row_bytes(&plan->in) * (double)plan->in.height +
                      (double)gf_row_bytes(&pipeline->out) * (double)pipeline->out.height;
}

/* Whether the colours' curves agree on what stands outside. */
static GfStatus check_border(const GfPlan *plan)
{
    const GfPlanOptions *options = &plan->options;
    if (!options->light || options->border != GF_BORDER_CONSTANT)
        return GF_OK;
    double number = options->border_value / white_of(plan);
    const GfCurve *curves = options->light->curves;
    double green = gf_curve_decode(&curves[1], number);
    if (gf_curve_decode(&curves[0], number) == green &&
        gf_curve_decode(&curves[2], number) == green)
        return GF_OK;
    return gf_fail(GF_EFILTER,
                   "its colour profile has a curve of light for each colour, so that with "
                   "--linear --border constant is not one number; use another border");
}

static GfStatus plan_pipeline(GfPipeline *pipeline, const GfFilter *filter, const GfPlan *plan)
{
    pipeline->filter = filter;
    GF_TRY(check_border(plan));
    GF_TRY(gf_steps_create(pipeline, filter, &plan->in, &plan->options));
    for (size_t i = 0; i < pipeline->count; i++)
        if (pipeline->steps[i].linear.filters > 1 && pipeline->steps[i].linear.depth == 0 &&
            !pipeline->steps[i].combine.op)
            return gf_fail(GF_EFILTER, "a bank without a stage that combines it");
    Meaning meaning = find_meaning(pipeline);
    resolve_options(pipeline, plan, &meaning);
    if (plan->in.has_alpha && pipeline->alpha == GF_ALPHA_PREMUL)
        gf_steps_wrap_premultiplied(pipeline);
    if (plan->options.light)
        GF_TRY(gf_steps_add_encoding(pipeline, white_of(plan), plan->options.light));
    GF_TRY(set_geometry(pipeline, plan));
    set_layouts(pipeline);
    GF_TRY(set_samples(pipeline, plan));
    count_work(pipeline, plan);
    return GF_OK;
}

/* ---- rows in flight ---- */

/* Submits in flight. Of several devices each has one that waits while it computes another: they are
 * collected in turn, so that what ends early is followed by nothing until all before it have
 * ended. */
static size_t most_slots(const GfPlan *plan)
{
    return plan->options.prompt ? GF_SLOTS - 1 : gf_max(GF_SLOTS, 2 * plan->options.devices);
}

/* `kept`: rows of input beside those of bands. What is collected at once makes room for the band
 * ahead by itself. */
static size_t ring_rows(const GfPlan *plan, size_t kept)
{
    size_t band = plan->band_rows;
    size_t ahead = most_slots(plan) + (plan->options.prompt ? 0 : BANDS_AHEAD);
    size_t rows = (kept + band - 1) / band * band + ahead * band;
    return plan->streams ? gf_min(rows, plan->in.height) : plan->in.height;
}

/* *sum += a * b * c, or SIZE_MAX where that is more. */
static void add_product(size_t *sum, size_t a, size_t b, size_t c)
{
    size_t product;
    if (!gf_mul(a, b, &product) || !gf_mul(product, c, &product) || !gf_add(*sum, product, sum))
        *sum = SIZE_MAX;
}

/* Sets everything that follows from the height of the bands, and returns the bytes in flight. */
static size_t set_bands(GfPlan *plan, size_t band, size_t kept)
{
    plan->band_rows = band;
    plan->ring_rows = ring_rows(plan, kept);
    plan->slots = gf_min((plan->in.height + band - 1) / band, most_slots(plan));
    size_t bytes = 0;
    add_product(&bytes, 1, plan->ring_rows, gf_row_stride(&plan->in));
    for (size_t i = 0; i < plan->outputs; i++) {
        GfPipeline *pipeline = &plan->pipelines[i];
        pipeline->most_rows = gf_pipeline_most_rows(pipeline, band);
        add_product(&bytes, plan->slots, pipeline->most_rows, gf_row_stride(&pipeline->out));
    }
    return bytes;
}

/* Some pipeline computes layers from layers; gray and a network's channels cost little anew. */
static bool is_deep(const GfPlan *plan)
{
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfPipeline *pipeline = &plan->pipelines[i];
        size_t layers = gf_pipeline_layers(pipeline);
        for (size_t j = 0; j < pipeline->count; j++)
            layers -= gf_step_is_layer(&pipeline->steps[j]) &&
                      (pipeline->steps[j].picture || pipeline->steps[j].entry);
        if (layers > 1)
            return true;
    }
    return false;
}

/* No pipeline computes rows anew for each band. */
static bool is_shallow(const GfPlan *plan)
{
    for (size_t i = 0; i < plan->outputs; i++)
        if (plan->pipelines[i].count > 1)
            return false;
    return true;
}

/* All kernels are products: rows that neighbouring bands share are only loaded for each. */
static bool are_products(const GfPlan *plan)
{
    for (size_t i = 0; i < plan->outputs; i++)
        for (size_t j = 0; j < plan->pipelines[i].count; j++)
            if (!plan->pipelines[i].steps[j].separable)
                return false;
    return true;
}

/* Rows that a band of some pipeline computes anew between its steps at most. */
static size_t anew_rows(const GfPlan *plan)
{
    size_t rows = 0;
    for (size_t i = 0; i < plan->outputs; i++)
        rows = gf_max(rows, gf_pipeline_lag(&plan->pipelines[i], 1));
    return rows;
}

/* Rows of a band at least, for what neighbouring bands share. Several devices are sent all rows
 * whatever the bands, and are to have some bands each. */
static size_t least_band(const GfPlan *plan, size_t span)
{
    size_t devices = plan->options.devices;
    if (is_deep(plan))
        return DEEP_BAND_SPANS * span;
    if (plan->options.prompt && are_products(plan))
        return gf_max(span / 4, gf_min(span / 2, BAND_ANEW * anew_rows(plan)));
    if (devices > 1 && is_shallow(plan))
        return gf_min(span / 2, plan->in.height / (BANDS_A_DEVICE * devices));
    return span / 2;
}

/* Bytes that a row of input becomes in some pipeline, where they are most. What lies between the
 * layers of a network is made a run at a time, whatever the bands. */
static double made_bytes(const GfPlan *plan)
{
    const bool deep = is_deep(plan);
    double most = 0.0;
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfPipeline *pipeline = &plan->pipelines[i];
        double rows = 1.0;
        for (size_t j = 0; j < pipeline->count; j++) {
            const GfStep *step = &pipeline->steps[j];
            size_t bytes = step->out_width * step->out_channels * gf_sample_size(step->out);
            rows *= (double)step->factor_y / (double)step->stride_y;
            if (j + 1 == pipeline->count || !deep)
                most = fmax(most, rows * (double)bytes);
        }
    }
    return most;
}

/* So many rows, or as many as become no more than `most` bytes. */
static size_t most_made(size_t rows, double made, double most)
{
    return made * (double)rows > most ? (size_t)(most / made) : rows;
}

static size_t wished_band(const GfPlan *plan, size_t span)
{
    size_t row_bytes = gf_row_bytes(&plan->in), height = plan->in.height;
    size_t share = (height / BANDS_A_PICTURE + 1) * row_bytes;
    size_t bytes = gf_min(plan->options.band_bytes, gf_max(share, LEAST_BAND_BYTES));
    size_t rows = gf_max(bytes / row_bytes, LEAST_BAND_ROWS), least = least_band(plan, span);
    if (plan->options.prompt) {
        double made = made_bytes(plan);
        double band = (double)gf_max(plan->options.band_bytes, rows * row_bytes);
        rows = most_made(rows, made, band * MADE_BANDS);
        least = most_made(least, made, MOST_MADE_BYTES);
    }
    return gf_min(gf_max(gf_max(rows, least), 1), height);
}

static size_t most_bytes(const GfPlan *plan)
{
    size_t bytes = 0;
    if (plan->options.memory || !plan->streams)
        return plan->options.memory ? plan->options.memory : SIZE_MAX;
    add_product(&bytes, plan->in.height, gf_row_stride(&plan->in), MOST_TIMES_PICTURE);
    return gf_max(bytes, most_in_flight);
}

static GfStatus plan_rows(GfPlan *plan)
{
    size_t span = 0, kept = 0;
    char need[GF_SIZE_TEXT], limit[GF_SIZE_TEXT];
    plan->streams = !plan->options.whole;
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfPipeline *pipeline = &plan->pipelines[i];
        span = gf_max(span, gf_pipeline_span(pipeline));
        kept = gf_max(kept, gf_pipeline_lag(pipeline, 0));
        for (size_t j = 0; j < pipeline->count; j++)
            if (gf_step_wraps(&pipeline->steps[j]))
                plan->streams = false;
    }
    kept = plan->options.prompt ? kept : span;
    size_t band = plan->streams ? wished_band(plan, span) : plan->in.height;
    size_t bytes = set_bands(plan, band, kept);
    const size_t most = most_bytes(plan);
    while (plan->streams && band > 1 && bytes > most) {
        band = (band + 1) / 2;
        bytes = set_bands(plan, band, kept);
    }
    if (bytes > most)
        return gf_fail(GF_ELIMIT, "the rows in flight need %s, the limit is %s (--memory)",
                       gf_need_text(bytes, need), gf_limit_text(most, limit));
    return GF_OK;
}

GfStatus gf_plan_create(const GfFilter *const *filters, size_t count, const GfFormat *in,
                        const GfPlanOptions *options, GfPlan **out)
{
    GfPlan *plan;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *plan, &plan));
    plan->in = *in;
    plan->options = *options;
    plan->options.light = NULL;
    if (options->light) {
        GF_GO(gf_light_copy(options->light, &plan->light));
        plan->options.light = &plan->light;
    }
    GF_GO(gf_allocate_zero(count, sizeof *plan->pipelines, &plan->pipelines));
    for (plan->outputs = 0; plan->outputs < count;) {
        size_t i = plan->outputs++;
        GF_GO(plan_pipeline(&plan->pipelines[i], filters[i], plan));
    }
    GF_GO(plan_rows(plan));
    *out = plan;
    plan = NULL;
done:
    gf_plan_free(plan);
    return status;
}

void gf_plan_free(GfPlan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->outputs; i++) {
        for (size_t j = 0; j < plan->pipelines[i].stored; j++)
            free(plan->pipelines[i].storage[j]);
        free(plan->pipelines[i].steps);
    }
    free(plan->pipelines);
    gf_light_free(&plan->light);
    free(plan);
}
