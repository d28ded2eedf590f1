/* Neighbours that can share a pass over the picture are fused. What a network asks of the picture
 * (so many channels, on its scale, less their means) is a layer of 1 x 1 like any other, made here
 * because it depends on the picture; what it gives back is brought together with the picture in one
 * addition. */
#include "filters/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "filters/rank.h"

/* Room for an identity before a pointwise stage, for the two steps of a network's end, and for two
 * of opacity around each stage; for gray, and for two each of light and opacity. */
enum { STEPS_A_STAGE = 4, MORE_STEPS = 5 };

/* Shares of red, green and blue in luma: ITU-R BT.601 and BT.709. */
static const double luma[][3] = {
    [GF_GRAY_BT601] = {0.299, 0.587, 0.114}, [GF_GRAY_BT709] = {0.2126, 0.7152, 0.0722}};

typedef struct Builder {
    GfPipeline *pipeline;
    const GfFilter *filter;
    const GfPlanOptions *options;
    bool flipped;
    size_t channels;  /* of what the next stage reads */
    bool opacity;     /* the last of them is opacity */
    double white;     /* of the picture's samples */
    GfAudience other; /* whom the stages at hand are not for */
    size_t *reads;    /* for each stage the step that begins with it */
    bool *referred;   /* for each stage: another refers to it, so that a step begins with it */
    size_t entry;     /* the step of the network's entry, or SIZE_MAX */
    size_t entered;   /* channels of the picture there */
    bool waits;       /* opacity, until the network ends */
} Builder;

static GfStep *last_step(GfPipeline *pipeline)
{
    return pipeline->count ? &pipeline->steps[pipeline->count - 1] : NULL;
}

/* Before step `at`; references go on to mean what they meant. */
static GfStep *insert_step(GfPipeline *pipeline, size_t at, GfStepKind kind)
{
    GfStep *step = &pipeline->steps[at];
    memmove(step + 1, step, (pipeline->count++ - at) * sizeof *step);
    *step = (GfStep){.kind = kind,
                     .gain = 1.0,
                     .alpha_gain = 1.0,
                     .taps_x = 1,
                     .taps_y = 1,
                     .stride_x = 1,
                     .stride_y = 1,
                     .dilation_x = 1,
                     .dilation_y = 1,
                     .factor_x = 1,
                     .factor_y = 1,
                     .skip = GF_NO_REFERENCE};
    for (size_t i = at + 1; i < pipeline->count; i++)
        if (pipeline->steps[i].skip != GF_NO_REFERENCE && pipeline->steps[i].skip >= at)
            pipeline->steps[i].skip++;
    return step;
}

static GfStep *add_step(GfPipeline *pipeline, GfStepKind kind)
{
    return insert_step(pipeline, pipeline->count, kind);
}

/* Keeps an array of doubles for the life of the pipeline. */
static GfStatus store(GfPipeline *pipeline, size_t count, double **array)
{
    GF_TRY(gf_allocate(count, sizeof **array, array));
    pipeline->storage[pipeline->stored++] = *array;
    return GF_OK;
}

/* ---- kernels ---- */

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

/* Whether what stands outside the picture stands outside of its filtered rows, too. */
static bool keeps_outside(const GfLinear *linear, GfBorder border)
{
    double sum = 0.0;
    for (size_t i = 0; i < linear->width; i++)
        sum += linear->rows[i];
    return border != GF_BORDER_CONSTANT || fabs(sum - 1.0) < 1e-12;
}

/* Makes two steps of one whose kernel is a product and taller than the backend wants it: its row,
 * then its column. */
static GfStatus split(GfPipeline *pipeline, const GfPlanOptions *options)
{
    GfStep *step = last_step(pipeline);
    double *one;
    if (!options->tall || !step->separable || step->linear.height <= options->tall ||
        step->linear.filters > 1 || !keeps_outside(&step->linear, options->border))
        return GF_OK;
    GF_TRY(store(pipeline, 1, &one));
    *one = 1.0;
    GfStep *below = add_step(pipeline, GF_STEP_FILTER);
    below->linear = step->linear;
    below->separable = true;
    below->linear.rows = one;
    below->linear.width = 1;
    below->linear.anchor_x = 0;
    step->linear.columns = one;
    step->linear.height = 1;
    step->linear.anchor_y = 0;
    step->linear.scale = 1.0;
    step->linear.offset = 0.0;
    step->linear.weights = below->linear.weights = NULL;
    return GF_OK;
}

static GfStatus add_linear(GfPipeline *pipeline, const GfLinear *linear, bool flipped,
                           const GfPlanOptions *options)
{
    GfStep *step = add_step(pipeline, GF_STEP_FILTER);
    step->linear = *linear;
    if (flipped)
        GF_TRY(flip(pipeline, &step->linear));
    GF_TRY(separate(pipeline, step));
    return split(pipeline, options);
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

static GfStatus add_pointwise(Builder *builder, const GfPointwise *pointwise, bool apart)
{
    GfStep *last = last_step(builder->pipeline);
    /* The range may be one more, and where there is opacity a kernel's offset. */
    size_t more = last && builder->opacity && last->linear.offset != 0.0 ? 2 : 1;
    if (!last || last->light || apart || last->posts == GF_STEP_MAX_POST - more)
        GF_TRY(add_identity(builder->pipeline, &last));
    last->post[last->posts++] = *pointwise;
    return GF_OK;
}

static GfStatus add_combine(Builder *builder, const GfCombine *combine)
{
    GfStep *last = last_step(builder->pipeline);
    if (!last || last->linear.filters == 0 || last->linear.depth > 0 || last->combine.op ||
        last->posts)
        return gf_fail(GF_EFILTER, "there is no bank to combine");
    last->combine = *combine;
    return GF_OK;
}

/* A layer of 1 x 1: new channels from old ones. */
static GfStep *add_mixing(GfPipeline *pipeline, size_t maps, size_t depth, double *weights,
                          double *bias)
{
    GfStep *step = add_step(pipeline, GF_STEP_FILTER);
    step->linear = (GfLinear){.filters = maps,
                              .width = 1,
                              .height = 1,
                              .depth = depth,
                              .groups = 1,
                              .scale = 1.0,
                              .sampling = gf_sampling_plain(),
                              .weights = weights,
                              .bias = bias};
    return step;
}

/* ---- gray ---- */

/* A layer of 1 x 1 that makes one channel of three, and hands on what is behind them. */
static GfStatus add_gray(Builder *builder, GfGray gray)
{
    GfPipeline *pipeline = builder->pipeline;
    size_t depth = builder->channels, maps = depth - 2;
    double *weights;
    if (gray == GF_GRAY_NONE || depth < 3)
        return GF_OK;
    if (depth > 4)
        return gf_fail(GF_EFILTER, "gray is made of red, green and blue, not of %zu channels",
                       depth);
    GF_TRY(store(pipeline, maps * depth, &weights));
    for (size_t d = 0; d < depth; d++) {
        weights[d] = d < 3 ? luma[gray][d] : 0.0;
        if (maps == 2)
            weights[depth + d] = d == 3 ? 1.0 : 0.0;
    }
    add_mixing(pipeline, maps, depth, weights, NULL)->picture = true;
    builder->channels = maps;
    return GF_OK;
}

/* ---- light ---- */

/* Such functions are of many instructions, so they do not ride on filters: they have steps of their
 * own. */
static GfStatus add_light(GfPipeline *pipeline, GfPointwiseOp op, double white,
                          const GfLight *light)
{
    GfStep *step;
    GF_TRY(add_identity(pipeline, &step));
    step->light = light;
    step->post[step->posts++] = (GfPointwise){.op = op, .a = white};
    return GF_OK;
}

/* ---- networks ---- */

/* How much of the picture's channel d goes into channel c of the network. */
static double mixture(const GfEntry *entry, size_t colours, size_t c, size_t d)
{
    if (d >= colours)
        return 0.0;
    if (colours == 3 && entry->channels == 1)
        return luma[GF_GRAY_BT601][d];
    if (colours == 1)
        return 1.0;
    return c == d ? 1.0 : 0.0;
}

/* A layer of 1 x 1: channels on the network's scale, then planes of one number. */
static GfStatus add_entry(Builder *builder, const GfEntry *entry)
{
    GfPipeline *pipeline = builder->pipeline;
    size_t depth = builder->channels;
    bool waits = builder->opacity && depth != entry->channels;
    size_t colours = depth - (waits ? 1 : 0);
    size_t maps = entry->channels + entry->plane_count;
    double *weights, *bias, scale = (entry->high - entry->low) / builder->white;
    bool fits = colours == entry->channels || (colours == 3 && entry->channels == 1) ||
                (colours == 1 && entry->channels == 3);
    if (!fits)
        return gf_fail(GF_EFILTER, "a network of %zu channel%s is given %zu", entry->channels,
                       entry->channels == 1 ? "" : "s", colours);
    GF_TRY(store(pipeline, maps * depth, &weights));
    GF_TRY(store(pipeline, maps, &bias));
    for (size_t c = 0; c < maps; c++) {
        bool plane = c >= entry->channels;
        double deviation = !plane && entry->deviation ? entry->deviation[c] : 1.0;
        double mean = !plane && entry->mean ? entry->mean[c] : 0.0;
        bias[c] = plane ? entry->planes[c - entry->channels] : (entry->low - mean) / deviation;
        for (size_t d = 0; d < depth; d++)
            weights[c * depth + d] =
                plane ? 0.0 : mixture(entry, colours, c, d) * scale / deviation;
    }
    builder->entry = pipeline->count;
    builder->entered = depth;
    builder->waits = waits;
    builder->channels = maps;
    builder->opacity = false;
    pipeline->network = true;
    add_mixing(pipeline, maps, depth, weights, bias)->entry = true;
    return GF_OK;
}

/* Back to the picture's scale, and to the picture itself where it or its opacity is asked for. */
static GfStatus add_exit(Builder *builder, const GfExit *exit)
{
    GfPipeline *pipeline = builder->pipeline;
    double scale = builder->white / (exit->high - exit->low);
    GfPointwise back = {GF_POINTWISE_AFFINE, scale, exit->residual ? 0.0 : -exit->low * scale};
    size_t alpha = builder->waits ? 1 : 0, colours = builder->entered - alpha;
    if (builder->entry == SIZE_MAX)
        return gf_fail(GF_EFILTER, "a network ends that did not begin");
    if (exit->residual && builder->channels != 1 && colours != 1 && builder->channels != colours)
        return gf_fail(GF_EFILTER, "%zu maps cannot be added to a picture of %zu channels",
                       builder->channels, colours);
    GF_TRY(add_pointwise(builder, &back, false));
    size_t entry = builder->entry;
    builder->entry = SIZE_MAX;
    if (!exit->residual && alpha == 0)
        return GF_OK;
    GfStep *step = add_step(pipeline, GF_STEP_ADD);
    step->skip = entry;
    step->skip_gain = exit->residual ? 1.0 : 0.0;
    step->keep_alpha = alpha > 0;
    step->picture = true;
    builder->channels = exit->residual ? gf_max(builder->channels, colours) : builder->channels;
    builder->channels += alpha;
    builder->opacity = alpha > 0;
    return GF_OK;
}

static void add_sum(Builder *builder, const GfAdd *add)
{
    GfStep *step = add_step(builder->pipeline, GF_STEP_ADD);
    step->skip = builder->reads[add->from];
    step->skip_gain = 1.0;
}

static GfStatus add_upsample(Builder *builder, const GfUpsample *upsample)
{
    GfStep *step = add_step(builder->pipeline, GF_STEP_UPSAMPLE);
    size_t block = upsample->factor_x * upsample->factor_y;
    step->shuffle = upsample->shuffle;
    step->factor_x = upsample->factor_x;
    step->factor_y = upsample->factor_y;
    if (upsample->like != GF_NO_REFERENCE)
        step->skip = builder->reads[upsample->like];
    if (!upsample->shuffle)
        return GF_OK;
    if (builder->channels % block != 0)
        return gf_fail(GF_EFILTER, "%zu channel%s cannot be shuffled into blocks of %zu x %zu",
                       builder->channels, builder->channels == 1 ? "" : "s", upsample->factor_y,
                       upsample->factor_x);
    builder->channels /= block;
    builder->opacity = false;
    return GF_OK;
}

/* ---- all stages ---- */

static GfStatus add_stage(Builder *builder, size_t i)
{
    const GfStage *stage = &builder->filter->stages[i];
    GfPipeline *pipeline = builder->pipeline;
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        if (stage->linear.depth > 0) {
            builder->channels = stage->linear.filters;
            builder->opacity = false;
        }
        /* What a network learned is no kernel that somebody wrote down. */
        return add_linear(pipeline, &stage->linear, builder->flipped && builder->entry == SIZE_MAX,
                          builder->options);
    case GF_STAGE_COMBINE:
        return add_combine(builder, &stage->combine);
    case GF_STAGE_POINTWISE:
        return add_pointwise(builder, &stage->pointwise, builder->referred[i]);
    case GF_STAGE_POOL:
        add_step(pipeline, GF_STEP_POOL)->pool = stage->pool;
        return GF_OK;
    case GF_STAGE_ENTRY:
        return add_entry(builder, &stage->entry);
    case GF_STAGE_EXIT:
        return add_exit(builder, &stage->exit);
    case GF_STAGE_ADD:
        add_sum(builder, &stage->add);
        return GF_OK;
    case GF_STAGE_UPSAMPLE:
        return add_upsample(builder, &stage->upsample);
    }
    return gf_fail(GF_EFILTER, "an unknown stage");
}

static void note_references(Builder *builder)
{
    const GfFilter *filter = builder->filter;
    for (size_t i = 0; i < filter->count; i++) {
        const GfStage *stage = &filter->stages[i];
        if (stage->kind == GF_STAGE_ADD)
            builder->referred[stage->add.from] = true;
        if (stage->kind == GF_STAGE_UPSAMPLE && stage->upsample.like != GF_NO_REFERENCE)
            builder->referred[stage->upsample.like] = true;
    }
}

/* Of two networks the one for gray comes first, and is taken where what enters has one channel. */
static bool is_for_others(Builder *builder, const GfStage *stage)
{
    size_t colours = builder->channels - (builder->opacity ? 1 : 0);
    if (stage->kind == GF_STAGE_ENTRY && stage->audience == GF_FOR_GRAY)
        builder->other = colours == 1 ? GF_FOR_COLOUR : GF_FOR_GRAY;
    return stage->audience != GF_FOR_ALL && stage->audience == builder->other;
}

static GfStatus add_stages(Builder *builder)
{
    GfPipeline *pipeline = builder->pipeline;
    for (size_t i = 0; i < builder->filter->count; i++) {
        const GfStage *stage = &builder->filter->stages[i];
        if (is_for_others(builder, stage))
            continue;
        builder->reads[i] = pipeline->count;
        size_t before = pipeline->count;
        GF_TRY(gf_stage_fail(stage, add_stage(builder, i)));
        for (size_t j = before; j < pipeline->count; j++)
            pipeline->steps[j].stage = stage;
    }
    return GF_OK;
}

GfStatus gf_steps_create(GfPipeline *pipeline, const GfFilter *filter, const GfFormat *in,
                         const GfPlanOptions *options)
{
    Builder builder = {.pipeline = pipeline,
                       .filter = filter,
                       .options = options,
                       .flipped = options->flip,
                       .channels = in->channels,
                       .opacity = in->has_alpha,
                       .white = gf_sample_is_float(in->sample) ? 255.0 : gf_sample_max(in->sample),
                       .entry = SIZE_MAX};
    GfStatus status;
    size_t steps = filter->count * STEPS_A_STAGE + MORE_STEPS;
    GF_GO(gf_allocate_zero(steps, sizeof *pipeline->steps, &pipeline->steps));
    GF_GO(gf_allocate_zero(filter->count + 1, sizeof *builder.reads, &builder.reads));
    GF_GO(gf_allocate_zero(filter->count + 1, sizeof *builder.referred, &builder.referred));
    note_references(&builder);
    GF_GO(add_gray(&builder, options->gray));
    if (options->light)
        GF_GO(add_light(pipeline, GF_POINTWISE_DECODE, builder.white, options->light));
    pipeline->lead = pipeline->count;
    GF_GO(add_stages(&builder));
done:
    free(builder.reads);
    free(builder.referred);
    return status;
}

GfStatus gf_steps_add_encoding(GfPipeline *pipeline, double white, const GfLight *light)
{
    return add_light(pipeline, GF_POINTWISE_ENCODE, white, light);
}

/* ---- opacity ---- */

/* f(k x) = k f(x) for k > 0, so that it may be applied to colour times opacity. */
static bool is_homogeneous(const GfPointwise *function)
{
    if (function->op == GF_POINTWISE_AFFINE)
        return function->b == 0.0;
    return function->op == GF_POINTWISE_ABS || function->op == GF_POINTWISE_RELU ||
           function->op == GF_POINTWISE_LEAKY;
}

static bool has_offset(const GfStep *step)
{
    return step->linear.offset != 0.0 && !step->combine.op;
}

/* How many of the functions on a step may be applied to colour times opacity. */
static size_t homogeneous_posts(const GfStep *step)
{
    size_t count = 0;
    while (!has_offset(step) && count < step->posts && is_homogeneous(&step->post[count]))
        count++;
    return count;
}

/* All others are for the colours after the division. */
static void hand_on_posts(GfStep *step, GfStep *division)
{
    size_t kept = homogeneous_posts(step);
    if (has_offset(step))
        division->post[division->posts++] =
            (GfPointwise){.op = GF_POINTWISE_AFFINE, .a = 1.0, .b = step->linear.offset};
    for (size_t i = kept; i < step->posts; i++)
        division->post[division->posts++] = step->post[i];
    step->posts = kept;
    step->linear.offset = has_offset(step) ? 0.0 : step->linear.offset;
}

void gf_steps_wrap_premultiplied(GfPipeline *pipeline)
{
    bool opacity = true; /* false in a network, where it waits, and behind one that ends in maps */
    bool multiplied = true;
    insert_step(pipeline, pipeline->lead, GF_STEP_PREMULTIPLY);
    for (size_t i = pipeline->lead + 1; i < pipeline->count; i++) {
        if (!multiplied)
            insert_step(pipeline, i++, GF_STEP_PREMULTIPLY);
        multiplied = true;
        GfStep *step = &pipeline->steps[i];
        opacity = (opacity && !step->entry) || step->keep_alpha;
        if (!opacity || (homogeneous_posts(step) == step->posts && !has_offset(step)))
            continue;
        hand_on_posts(step, insert_step(pipeline, ++i, GF_STEP_UNPREMULTIPLY));
        multiplied = false;
    }
    if (multiplied && opacity)
        add_step(pipeline, GF_STEP_UNPREMULTIPLY);
}

bool gf_filter_spares_alpha(const GfFilter *filter)
{
    bool inside = false;
    for (size_t i = 0; i < filter->count; i++) {
        const GfStage *stage = &filter->stages[i];
        bool layer = stage->kind == GF_STAGE_LINEAR && gf_linear_is_learned(&stage->linear);
        bool learned = layer || stage->kind == GF_STAGE_POOL || stage->kind == GF_STAGE_ADD ||
                       stage->kind == GF_STAGE_UPSAMPLE;
        if (learned && !inside)
            return false;
        inside = stage->kind == GF_STAGE_ENTRY || (inside && stage->kind != GF_STAGE_EXIT);
    }
    return true;
}
