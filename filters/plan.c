/* From stages to steps: neighbours that can share a pass over the picture are fused (a bank, its
 * combination, the functions of one sample behind it, the last rounding), geometry follows from the
 * kernels, and the rows in flight follow from the geometry. */
#include "filters/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/precision.h"
#include "filters/rank.h"
#include "filters/windows.h"

/* A small picture too is cut into some bands, so that decoding, computing and encoding overlap, as long
 * as handing a band over costs less than that gains. */
enum { BANDS_AHEAD = 4, LEAST_BAND_ROWS = 16, BANDS_A_PICTURE = 8, LEAST_BAND_BYTES = 64 << 10 };

GfPlanOptions gf_plan_options_default(GfSample sample)
{
    return (GfPlanOptions){.border = GF_BORDER_REPLICATE, .sample = sample, .band_bytes = 1 << 20};
}

/* ---- stages to steps ---- */

static GfStep *last_step(GfPipeline *pipeline)
{
    return pipeline->count ? &pipeline->steps[pipeline->count - 1] : NULL;
}

static GfStep *add_step(GfPipeline *pipeline, GfStepKind kind)
{
    GfStep *step = &pipeline->steps[pipeline->count++];
    *step = (GfStep){.kind = kind,
                     .gain = 1.0,
                     .alpha_gain = 1.0,
                     .taps_x = 1,
                     .taps_y = 1,
                     .stride_x = 1,
                     .stride_y = 1,
                     .dilation_x = 1,
                     .dilation_y = 1};
    return step;
}

/* Keeps an array of doubles for the life of the pipeline. */
static GfStatus store(GfPipeline *pipeline, size_t count, double **array)
{
    GF_TRY(gf_allocate(count, sizeof **array, array));
    pipeline->storage[pipeline->stored++] = *array;
    return GF_OK;
}

/* Copies `count` runs of `length` doubles, each run reversed. */
static GfStatus reversed(GfPipeline *pipeline, double **array, size_t count, size_t length)
{
    const double *from = *array;
    if (!from)
        return GF_OK;
    GF_TRY(store(pipeline, count * length, array));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < length; j++)
            (*array)[i * length + j] = from[i * length + length - 1 - j];
    return GF_OK;
}

/* True convolution is correlation with the kernel turned by 180 degrees about its anchor. */
static GfStatus flip(GfPipeline *pipeline, GfLinear *linear)
{
    linear->anchor_x = linear->width - 1 - linear->anchor_x;
    linear->anchor_y = linear->height - 1 - linear->anchor_y;
    size_t kernels = linear->filters * gf_linear_depth(linear);
    GF_TRY(reversed(pipeline, &linear->weights, kernels, linear->width * linear->height));
    GF_TRY(reversed(pipeline, &linear->columns, linear->filters, linear->height));
    return reversed(pipeline, &linear->rows, linear->filters, linear->width);
}

static bool is_plain(const GfSampling *sampling)
{
    return sampling->fit == GF_FIT_BORDER && sampling->stride_x == 1 && sampling->stride_y == 1 &&
           sampling->dilation_x == 1 && sampling->dilation_y == 1;
}

/* Finds factors of a bank's kernels that came as taps, where two passes are less work than one. */
static GfStatus separate(GfPipeline *pipeline, GfStep *step)
{
    GfLinear *linear = &step->linear;
    size_t taps = linear->width * linear->height;
    if (linear->depth > 0 || !is_plain(&linear->sampling))
        return GF_OK;
    if (!linear->columns) {
        if (taps <= linear->width + linear->height)
            return GF_OK;
        double *columns, *rows;
        GF_TRY(store(pipeline, linear->filters * linear->height, &columns));
        GF_TRY(store(pipeline, linear->filters * linear->width, &rows));
        for (size_t f = 0; f < linear->filters; f++)
            if (!gf_rank_one(linear->weights + f * taps, linear->width, linear->height,
                             columns + f * linear->height, rows + f * linear->width))
                return GF_OK;
        linear->columns = columns;
        linear->rows = rows;
    }
    step->separable = true;
    return GF_OK;
}

static GfStatus add_linear(GfPipeline *pipeline, const GfLinear *linear, bool flipped)
{
    GfStep *step = add_step(pipeline, GF_STEP_FILTER);
    step->linear = *linear;
    if (flipped)
        GF_TRY(flip(pipeline, &step->linear));
    return separate(pipeline, step);
}

static GfStatus add_pool(GfPipeline *pipeline, const GfPool *pool)
{
    GfStep *step = add_step(pipeline, GF_STEP_POOL);
    step->pool = *pool;
    return GF_OK;
}

/* A step for functions of one sample that have no filter to ride on. */
static GfStatus add_identity(GfPipeline *pipeline, GfStep **step)
{
    double *one;
    GF_TRY(store(pipeline, 1, &one));
    *one = 1.0;
    *step = add_step(pipeline, GF_STEP_FILTER);
    (*step)->linear = (GfLinear){.filters = 1,
                                 .width = 1,
                                 .height = 1,
                                 .groups = 1,
                                 .scale = 1.0,
                                 .sampling = gf_sampling_plain(),
                                 .weights = one};
    return GF_OK;
}

static GfStatus add_stage(GfPipeline *pipeline, const GfStage *stage, bool flipped)
{
    GfStep *last = last_step(pipeline);
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        return add_linear(pipeline, &stage->linear, flipped);
    case GF_STAGE_COMBINE:
        if (!last || last->linear.filters == 0 || last->linear.depth > 0 || last->combine.op ||
            last->posts)
            return gf_fail(GF_EFILTER, "there is no bank to combine");
        last->combine = stage->combine;
        return GF_OK;
    case GF_STAGE_POINTWISE:
        if (!last || last->posts == GF_STEP_MAX_POST - 1)
            GF_TRY(add_identity(pipeline, &last));
        last->post[last->posts++] = stage->pointwise;
        return GF_OK;
    case GF_STAGE_POOL:
        return add_pool(pipeline, &stage->pool);
    }
    return gf_fail(GF_EFILTER, "an unknown stage");
}

/* ---- what the response means ---- */

typedef struct Meaning {
    bool is_signed;  /* the response swings about zero */
    bool derivative; /* some kernel's sum is zero, or an offset moves the response */
    bool spreads;    /* some kernel is larger than 1 x 1 */
    bool learned;    /* there is a layer or a pool: responses are no pictures of their own */
    double sum;      /* product of the kernels' sums: what a flat picture is multiplied by */
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

/* Of what the step makes of its kernels, all of which have the first one's meaning unless they are added
 * up. */
static double response_sum(const GfStep *step, double *absolute)
{
    double sum = kernel_sum(&step->linear, 0, absolute), more;
    for (size_t f = 1; step->combine.op == GF_COMBINE_SUM && f < step->linear.filters; f++) {
        sum += kernel_sum(&step->linear, f, &more);
        *absolute += more;
    }
    return sum;
}

static Meaning find_meaning(const GfPipeline *pipeline)
{
    Meaning meaning = {.sum = 1.0};
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        const GfLinear *linear = &step->linear;
        meaning.learned |= step->kind == GF_STEP_POOL || gf_step_is_layer(step);
        if (meaning.learned)
            continue;
        double absolute, sum = response_sum(step, &absolute);
        bool zero = fabs(sum) <= 1e-9 * absolute;
        meaning.is_signed = (meaning.is_signed || zero) && linear->offset == 0.0;
        meaning.derivative |= zero || linear->offset != 0.0;
        meaning.spreads |= linear->width * linear->height > 1;
        meaning.sum *= sum * linear->scale;
        if (step->combine.op == GF_COMBINE_L2 || step->combine.op == GF_COMBINE_L1)
            meaning.is_signed = false;
        for (size_t j = 0; j < step->posts; j++)
            if (step->post[j].op != GF_POINTWISE_AFFINE)
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
    pipeline->alpha = meaning->learned ? GF_ALPHA_FILTER : plan->options.alpha;
    if (pipeline->alpha == GF_ALPHA_AUTO)
        pipeline->alpha =
            meaning->derivative || !meaning->spreads ? GF_ALPHA_COPY : GF_ALPHA_PREMUL;
}

/* ---- geometry ---- */

/* Channels in and out, and what belongs to each of them. */
static GfStatus set_channels(GfStep *step, size_t channels)
{
    const GfLinear *linear = &step->linear;
    step->channels = step->out_channels = channels;
    if (step->kind == GF_STEP_POOL) {
        step->bias = step->pool.bias;
        if (step->bias && step->pool.bias_count != channels)
            return gf_fail(GF_EFILTER, "a bias of %zu numbers for a pool of %zu channels",
                           step->pool.bias_count, channels);
    }
    if (!gf_step_is_layer(step))
        return GF_OK;
    if (linear->depth * linear->groups != channels)
        return gf_fail(GF_EFILTER, "a layer that takes %zu channels%s is given %zu",
                       linear->depth * linear->groups,
                       linear->groups > 1 ? " (all groups together)" : "", channels);
    step->out_channels = linear->filters;
    step->bias = linear->bias;
    return GF_OK;
}

static bool has_layer(const GfPipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->count; i++)
        if (gf_step_is_layer(&pipeline->steps[i]))
            return true;
    return false;
}

static GfStatus set_geometry(GfPipeline *pipeline, const GfPlan *plan, const Meaning *meaning)
{
    size_t width = plan->in.width, height = plan->in.height, channels = plan->in.channels;
    bool own_alpha = plan->in.has_alpha && pipeline->alpha != GF_ALPHA_FILTER;
    for (size_t i = 0; i < pipeline->count; i++) {
        GfStep *step = &pipeline->steps[i];
        step->in_width = width;
        step->in_height = height;
        GF_TRY(set_channels(step, channels));
        if (step->kind == GF_STEP_FILTER || step->kind == GF_STEP_POOL) {
            GF_TRY(gf_lay_windows(step, &plan->options));
        } else {
            step->out_width = width;
            step->out_height = height;
            step->border = plan->options.border;
            step->border_value = plan->options.border_value;
        }
        width = step->out_width;
        height = step->out_height;
        channels = step->out_channels;
        step->post_channels = channels - (own_alpha ? 1 : 0);
        step->keep_alpha =
            step->kind == GF_STEP_FILTER && own_alpha && pipeline->alpha == GF_ALPHA_COPY;
        step->white = gf_sample_is_float(plan->in.sample) ? 255.0 : gf_sample_max(plan->in.sample);
        bool divides = step->kind == GF_STEP_UNPREMULTIPLY && meaning->sum != 0.0;
        step->alpha_gain = divides ? 1.0 / meaning->sum : 1.0;
    }
    pipeline->out = plan->in;
    pipeline->out.width = width;
    pipeline->out.height = height;
    pipeline->out.channels = channels;
    pipeline->out.has_alpha = plan->in.has_alpha && !has_layer(pipeline);
    pipeline->out.sample = plan->options.sample;
    size_t samples, bytes;
    if (!gf_mul(width, channels, &samples) || !gf_mul(samples, sizeof(double), &bytes))
        return gf_fail(GF_EFILTER, "rows of %zu pixels of %zu channels are too long", width,
                       channels);
    return GF_OK;
}

/* What layers and pools hand on lies in planes; pictures are interleaved. */
static void set_layouts(GfPipeline *pipeline)
{
    for (size_t i = 1; i < pipeline->count; i++) {
        GfStep *before = &pipeline->steps[i - 1], *step = &pipeline->steps[i];
        bool planar = before->kind == GF_STEP_POOL || gf_step_is_layer(before) ||
                      before->in_layout == GF_PLANAR;
        before->out_layout = step->in_layout = planar ? GF_PLANAR : GF_INTERLEAVED;
    }
}

/* The last step carries the range, the change of depth and the store. */
static void set_samples(GfPipeline *pipeline, const GfPlan *plan)
{
    GfSample out = plan->options.sample;
    GfStep *last = last_step(pipeline);
    if (pipeline->range == GF_RANGE_ABS)
        last->post[last->posts++] = (GfPointwise){.op = GF_POINTWISE_ABS};
    if (!gf_sample_is_float(plan->in.sample) && !gf_sample_is_float(out))
        last->gain = gf_sample_max(out) / gf_sample_max(plan->in.sample);
    if (pipeline->range == GF_RANGE_OFFSET && !gf_sample_is_float(out))
        last->mid = (gf_sample_max(out) + 1.0) / 2.0;
    pipeline->steps[0].in = plan->in.sample;
    last->out = out;
    pipeline->wide = gf_pipeline_needs_wide(pipeline);
    for (size_t i = 1; i < pipeline->count; i++)
        pipeline->steps[i - 1].out = pipeline->steps[i].in = pipeline->wide ? GF_F64 : GF_F32;
}

static void count_work(GfPipeline *pipeline, const GfPlan *plan)
{
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        double taps = (double)step->taps_x * (double)step->taps_y;
        double sums = gf_step_is_layer(step) ? 1.0 : (double)step->linear.filters;
        if (step->kind == GF_STEP_POOL)
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

/* Opacity is multiplied in before the first step and divided out after the last. */
static void wrap_premultiplied(GfPipeline *pipeline)
{
    size_t count = pipeline->count;
    memmove(pipeline->steps + 1, pipeline->steps, count * sizeof *pipeline->steps);
    pipeline->count = 0;
    add_step(pipeline, GF_STEP_PREMULTIPLY);
    pipeline->count = count + 1;
    add_step(pipeline, GF_STEP_UNPREMULTIPLY);
}

static GfStatus plan_pipeline(GfPipeline *pipeline, const GfFilter *filter, const GfPlan *plan)
{
    pipeline->filter = filter;
    /* Room for an identity before a pointwise stage that has none, and two steps for opacity. */
    GF_TRY(gf_allocate_zero(filter->count + 3, sizeof *pipeline->steps, &pipeline->steps));
    for (size_t i = 0; i < filter->count; i++)
        GF_TRY(add_stage(pipeline, &filter->stages[i], plan->options.flip));
    for (size_t i = 0; i < pipeline->count; i++)
        if (pipeline->steps[i].linear.filters > 1 && pipeline->steps[i].linear.depth == 0 &&
            !pipeline->steps[i].combine.op)
            return gf_fail(GF_EFILTER, "a bank without a stage that combines it");
    Meaning meaning = find_meaning(pipeline);
    resolve_options(pipeline, plan, &meaning);
    if (plan->in.has_alpha && pipeline->alpha == GF_ALPHA_PREMUL)
        wrap_premultiplied(pipeline);
    GF_TRY(set_geometry(pipeline, plan, &meaning));
    set_layouts(pipeline);
    set_samples(pipeline, plan);
    count_work(pipeline, plan);
    return GF_OK;
}

/* ---- rows ---- */

/* Rows from a window's first to its last tap. */
static ptrdiff_t reach_y(const GfStep *step)
{
    return (ptrdiff_t)((step->taps_y - 1) * step->dilation_y + 1);
}

/* Input rows of the windows of [y0, y1), wherever they lie. */
static void window_rows(const GfStep *step, ptrdiff_t y0, ptrdiff_t y1, ptrdiff_t *first,
                        ptrdiff_t *last)
{
    ptrdiff_t stride = (ptrdiff_t)step->stride_y;
    *first = y0 * stride + step->origin_y;
    *last = (y1 - 1) * stride + step->origin_y + reach_y(step) - 1;
}

static ptrdiff_t clamp_row(ptrdiff_t y, ptrdiff_t height)
{
    return y < 0 ? 0 : y < height ? y : height - 1;
}

void gf_step_rows(const GfStep *step, size_t y0, size_t y1, size_t *begin, size_t *end)
{
    ptrdiff_t height = (ptrdiff_t)step->in_height, first, last;
    if (y0 >= y1) {
        *begin = *end = 0;
        return;
    }
    window_rows(step, (ptrdiff_t)y0, (ptrdiff_t)y1, &first, &last);
    if (step->border == GF_BORDER_WRAP && (first < 0 || last >= height)) {
        *begin = 0;
        *end = step->in_height;
        return;
    }
    if (step->border != GF_BORDER_CONSTANT) {
        /* What lies outside is mirrored to rows as far inside, which a short band may not reach
         * itself. */
        ptrdiff_t lowest = last >= height ? 2 * (height - 1) - last : first;
        ptrdiff_t highest = first < 0 ? -first : last;
        first = first < lowest ? first : lowest;
        last = last > highest ? last : highest;
    }
    *begin = (size_t)clamp_row(first, height);
    *end = (size_t)clamp_row(last, height) + 1;
}

/* The most rows that windows lie outside the picture, above or below. */
static size_t outside_rows(const GfStep *step)
{
    ptrdiff_t first, last;
    window_rows(step, 0, (ptrdiff_t)step->out_height, &first, &last);
    ptrdiff_t below = last - (ptrdiff_t)step->in_height + 1;
    return (size_t)(first < 0 ? (-first > below ? -first : below) : below > 0 ? below : 0);
}

size_t gf_step_most_rows(const GfStep *step, size_t rows)
{
    size_t span = (rows - 1) * step->stride_y + (size_t)reach_y(step);
    if (step->border == GF_BORDER_WRAP)
        return span;
    /* Mirrored rows may be as far inside as the windows reach outside. */
    size_t mirrored = step->border == GF_BORDER_CONSTANT ? 0 : outside_rows(step) + 1;
    return gf_min(gf_max(span, mirrored), step->in_height);
}

void gf_step_window(const GfStep *step, ptrdiff_t y0, ptrdiff_t y1, ptrdiff_t *begin,
                    ptrdiff_t *end)
{
    size_t first, last;
    if (step->border == GF_BORDER_WRAP) {
        window_rows(step, y0, y1, begin, end);
        ++*end;
        return;
    }
    gf_step_rows(step, (size_t)y0, (size_t)y1, &first, &last);
    *begin = (ptrdiff_t)first;
    *end = (ptrdiff_t)last;
}

void gf_pipeline_rows(const GfPipeline *pipeline, size_t y0, size_t y1, size_t *begin, size_t *end)
{
    for (size_t i = pipeline->count; i-- > 0;) {
        gf_step_rows(&pipeline->steps[i], y0, y1, begin, end);
        y0 = *begin;
        y1 = *end;
    }
}

size_t gf_pipeline_ready(const GfPipeline *pipeline, size_t rows)
{
    size_t known = 0, beyond = pipeline->out.height + 1;
    while (beyond - known > 1) {
        size_t begin = 0, end = 0, middle = known + (beyond - known) / 2;
        gf_pipeline_rows(pipeline, 0, middle, &begin, &end);
        if (end <= rows)
            known = middle;
        else
            beyond = middle;
    }
    return known;
}

/* Rows of input by which output lags behind, and by which input must be kept, at most. */
static size_t pipeline_span(const GfPipeline *pipeline)
{
    const size_t most = (size_t)GF_MOST_PIXELS << 3; /* times a stride it does not overflow */
    size_t span = 0;
    for (size_t i = pipeline->count; i-- > 0;) {
        const GfStep *step = &pipeline->steps[i];
        size_t reach = gf_max((size_t)reach_y(step), step->stride_y);
        span = span * step->stride_y + 2 * gf_max(reach - 1, outside_rows(step));
        span = gf_min(span, most);
    }
    return span;
}

static size_t ring_rows(const GfPlan *plan, size_t span)
{
    size_t band = plan->band_rows;
    size_t rows = (span + band - 1) / band * band + BANDS_AHEAD * band;
    return plan->streams ? gf_min(rows, plan->in.height) : plan->in.height;
}

/* Sets everything that follows from the height of the bands, and returns the bytes in flight. */
static size_t set_bands(GfPlan *plan, size_t band, size_t span)
{
    plan->band_rows = band;
    plan->ring_rows = ring_rows(plan, span);
    size_t slots = gf_min((plan->in.height + band - 1) / band, GF_SLOTS);
    size_t bytes = plan->ring_rows * gf_row_bytes(&plan->in);
    for (size_t i = 0; i < plan->outputs; i++) {
        GfPipeline *pipeline = &plan->pipelines[i];
        pipeline->most_rows = gf_min(band + pipeline_span(pipeline), pipeline->out.height);
        bytes += slots * pipeline->most_rows * gf_row_bytes(&pipeline->out);
    }
    return bytes;
}

static size_t wished_band(const GfPlan *plan, size_t span)
{
    size_t row_bytes = gf_row_bytes(&plan->in), height = plan->in.height;
    size_t share = (height / BANDS_A_PICTURE + 1) * row_bytes;
    size_t bytes = gf_min(plan->options.band_bytes, gf_max(share, LEAST_BAND_BYTES));
    return gf_min(gf_max(gf_max(bytes / row_bytes, span / 2), LEAST_BAND_ROWS), height);
}

static GfStatus plan_rows(GfPlan *plan)
{
    size_t span = 0, memory = plan->options.memory;
    plan->streams = !plan->options.whole;
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfPipeline *pipeline = &plan->pipelines[i];
        span = gf_max(span, pipeline_span(pipeline));
        for (size_t j = 0; j < pipeline->count; j++)
            if (pipeline->steps[j].border == GF_BORDER_WRAP &&
                (pipeline->steps[j].taps_y > 1 || pipeline->steps[j].origin_y != 0))
                plan->streams = false;
    }
    size_t band = plan->streams ? wished_band(plan, span) : plan->in.height;
    size_t bytes = set_bands(plan, band, span);
    while (memory && plan->streams && band > 1 && bytes > memory) {
        band = (band + 1) / 2;
        bytes = set_bands(plan, band, span);
    }
    if (memory && bytes > memory)
        return gf_fail(GF_ELIMIT, "the rows in flight need %zu KiB, the limit is %zu KiB",
                       bytes >> 10, memory >> 10);
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
    free(plan);
}
