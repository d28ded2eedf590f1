#include "filters/stage.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

void gf_sampling_set(GfSampling *sampling, const size_t *stride, const size_t *dilation,
                     const size_t *padding, int same)
{
    static const GfFit same_fits[] = {GF_FIT_SAME_UPPER, GF_FIT_SAME_LOWER};
    if (stride[0] != 0)
        sampling->stride_y = stride[0];
    if (stride[1] != 0)
        sampling->stride_x = stride[1];
    sampling->dilation_y = dilation[0];
    sampling->dilation_x = dilation[1];
    sampling->fit = same < 0 ? GF_FIT_PAD : same_fits[same];
    sampling->top = padding[0];
    sampling->left = padding[1];
    sampling->bottom = padding[2];
    sampling->right = padding[3];
}

static GfStatus add_stage(GfFilter *filter, GfStageKind kind, GfStage **stage)
{
    if (filter->count == GF_FILTER_MAX_STAGES)
        return gf_fail(GF_EUSAGE, "the chain has more than %d stages", GF_FILTER_MAX_STAGES);
    *stage = &filter->stages[filter->count++];
    **stage = (GfStage){.kind = kind};
    return GF_OK;
}

static GfStatus add_linear(GfFilter *filter, size_t filters, size_t width, size_t height,
                           GfLinear **linear)
{
    if (filters < 1 || width < 1 || height < 1)
        return gf_fail(GF_EUSAGE, "a kernel of %zu x %zu taps is empty", width, height);
    if (width > GF_KERNEL_MAX_SIDE || height > GF_KERNEL_MAX_SIDE)
        return gf_fail(GF_EUSAGE, "a kernel of %zu x %zu taps is larger than %d x %d", width,
                       height, GF_KERNEL_MAX_SIDE, GF_KERNEL_MAX_SIDE);
    GfStage *stage;
    GF_TRY(add_stage(filter, GF_STAGE_LINEAR, &stage));
    stage->linear = (GfLinear){.filters = filters,
                               .width = width,
                               .height = height,
                               .groups = 1,
                               .anchor_x = width / 2,
                               .anchor_y = height / 2,
                               .scale = 1.0,
                               .sampling = gf_sampling_plain()};
    *linear = &stage->linear;
    return GF_OK;
}

GfStatus gf_filter_add_kernel(GfFilter *filter, size_t filters, size_t width, size_t height,
                              GfLinear **linear)
{
    GF_TRY(add_linear(filter, filters, width, height, linear));
    /* No overflow: a side is at most GF_KERNEL_MAX_SIDE. */
    return gf_allocate_zero(filters, width * height * sizeof(double), &(*linear)->weights);
}

GfStatus gf_filter_add_factors(GfFilter *filter, size_t filters, size_t width, size_t height,
                               GfLinear **linear)
{
    GF_TRY(add_linear(filter, filters, width, height, linear));
    GF_TRY(gf_allocate_zero(filters, height * sizeof(double), &(*linear)->columns));
    return gf_allocate_zero(filters, width * sizeof(double), &(*linear)->rows);
}

static GfSampling unpadded(size_t stride_x, size_t stride_y)
{
    GfSampling sampling = gf_sampling_plain();
    sampling.stride_x = stride_x;
    sampling.stride_y = stride_y;
    sampling.fit = GF_FIT_PAD;
    return sampling;
}

GfStatus gf_filter_add_layer(GfFilter *filter, size_t filters, size_t depth, size_t groups,
                             size_t width, size_t height, GfLinear **linear)
{
    size_t taps;
    if (filters > GF_LAYER_MAX_CHANNELS || depth > GF_LAYER_MAX_CHANNELS ||
        groups > GF_LAYER_MAX_CHANNELS)
        return gf_fail(GF_EUSAGE,
                       "a layer has at most %d maps, channels and groups, not %zu, %zu and %zu",
                       GF_LAYER_MAX_CHANNELS, filters, depth, groups);
    if (depth < 1 || groups < 1 || filters % groups != 0)
        return gf_fail(GF_EUSAGE, "%zu maps cannot be cut into %zu groups", filters, groups);
    GF_TRY(add_linear(filter, filters, width, height, linear));
    (*linear)->depth = depth;
    (*linear)->groups = groups;
    (*linear)->sampling = unpadded(1, 1);
    if (!gf_mul(filters * depth, width * height, &taps))
        return gf_fail(GF_EUSAGE, "a layer of %zu x %zu x %zu x %zu weights is too large", filters,
                       depth, height, width);
    return gf_allocate_zero(taps, sizeof(double), &(*linear)->weights);
}

GfStatus gf_filter_add_pool(GfFilter *filter, GfPoolOp op, size_t width, size_t height,
                            GfPool **pool)
{
    GfStage *stage;
    if (width < 1 || height < 1 || width > GF_KERNEL_MAX_SIDE || height > GF_KERNEL_MAX_SIDE)
        return gf_fail(GF_EUSAGE, "a pool's window has 1 to %d pixels a side, not %zu x %zu",
                       GF_KERNEL_MAX_SIDE, width, height);
    GF_TRY(add_stage(filter, GF_STAGE_POOL, &stage));
    stage->pool =
        (GfPool){.op = op, .width = width, .height = height, .sampling = unpadded(width, height)};
    *pool = &stage->pool;
    return GF_OK;
}

GfStatus gf_filter_add_combine(GfFilter *filter, GfCombine combine)
{
    GfStage *stage;
    GF_TRY(add_stage(filter, GF_STAGE_COMBINE, &stage));
    stage->combine = combine;
    return GF_OK;
}

GfStatus gf_filter_add_pointwise(GfFilter *filter, GfPointwise pointwise)
{
    GfStage *stage;
    GF_TRY(add_stage(filter, GF_STAGE_POINTWISE, &stage));
    stage->pointwise = pointwise;
    return GF_OK;
}

GfStatus gf_filter_add_entry(GfFilter *filter, size_t channels, double low, double high,
                             size_t planes, GfEntry **entry)
{
    GfStage *stage;
    if (channels < 1 || channels > GF_LAYER_MAX_CHANNELS || planes > GF_LAYER_MAX_CHANNELS)
        return gf_fail(GF_EUSAGE, "a network takes 1 to %d channels, not %zu and %zu planes",
                       GF_LAYER_MAX_CHANNELS, channels, planes);
    if (!(low != high))
        return gf_fail(GF_EUSAGE, "a network's black and white are both %g", low);
    GF_TRY(add_stage(filter, GF_STAGE_ENTRY, &stage));
    stage->entry = (GfEntry){.channels = channels, .low = low, .high = high, .plane_count = planes};
    *entry = &stage->entry;
    return planes ? gf_allocate_zero(planes, sizeof(double), &stage->entry.planes) : GF_OK;
}

GfStatus gf_filter_add_exit(GfFilter *filter, GfExit exit)
{
    GfStage *stage;
    if (!(exit.low != exit.high))
        return gf_fail(GF_EUSAGE, "a network's black and white are both %g", exit.low);
    GF_TRY(add_stage(filter, GF_STAGE_EXIT, &stage));
    stage->exit = exit;
    return GF_OK;
}

GfStatus gf_filter_add_sum(GfFilter *filter, GfAdd add)
{
    GfStage *stage;
    GF_TRY(add_stage(filter, GF_STAGE_ADD, &stage));
    stage->add = add;
    return GF_OK;
}

GfStatus gf_filter_add_upsample(GfFilter *filter, GfUpsample upsample)
{
    GfStage *stage;
    if (upsample.factor_x < 1 || upsample.factor_x > GF_UPSAMPLE_MAX || upsample.factor_y < 1 ||
        upsample.factor_y > GF_UPSAMPLE_MAX)
        return gf_fail(GF_EUSAGE, "a picture is enlarged 1 to %d times, not %zu x %zu",
                       GF_UPSAMPLE_MAX, upsample.factor_x, upsample.factor_y);
    GF_TRY(add_stage(filter, GF_STAGE_UPSAMPLE, &stage));
    stage->upsample = upsample;
    return GF_OK;
}

/* NaN and what is beyond f32 fail; NULL has nothing to fail. */
static bool all_representable(const double *numbers, size_t count)
{
    for (size_t i = 0; numbers && i < count; i++)
        if (!(fabs(numbers[i]) <= (double)FLT_MAX))
            return false;
    return true;
}

static bool linear_representable(const GfLinear *linear)
{
    size_t columns = linear->filters * linear->height, rows = linear->filters * linear->width;
    return all_representable(linear->weights, linear->filters * gf_linear_taps(linear)) &&
           all_representable(linear->columns, columns) && all_representable(linear->rows, rows) &&
           all_representable(linear->bias, linear->filters) &&
           all_representable(&linear->scale, 1) && all_representable(&linear->offset, 1);
}

/* What becomes of black and white too. Deviations of 0 have no inverse. */
static bool entry_representable(const GfEntry *entry)
{
    for (size_t i = 0; (entry->mean || entry->deviation) && i < entry->channels; i++) {
        double mean = entry->mean ? entry->mean[i] : 0.0;
        double inverse = entry->deviation ? 1.0 / entry->deviation[i] : 1.0;
        const double ends[] = {inverse, (entry->low - mean) * inverse,
                               (entry->high - mean) * inverse};
        if (!all_representable(ends, 3))
            return false;
    }
    return all_representable(&entry->low, 1) && all_representable(&entry->high, 1) &&
           all_representable(entry->mean, entry->channels) &&
           all_representable(entry->deviation, entry->channels) &&
           all_representable(entry->planes, entry->plane_count);
}

static bool representable(const GfStage *stage)
{
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        return linear_representable(&stage->linear);
    case GF_STAGE_POOL:
        return all_representable(stage->pool.bias, stage->pool.bias_count);
    case GF_STAGE_POINTWISE:
        return all_representable(&stage->pointwise.a, 1) &&
               all_representable(&stage->pointwise.b, 1);
    case GF_STAGE_ENTRY:
        return entry_representable(&stage->entry);
    case GF_STAGE_EXIT:
        return all_representable(&stage->exit.low, 1) && all_representable(&stage->exit.high, 1);
    case GF_STAGE_COMBINE:
    case GF_STAGE_ADD:
    case GF_STAGE_UPSAMPLE:
        return true;
    }
    return false;
}

GfStatus gf_filter_check(const GfFilter *filter)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!representable(&filter->stages[i]))
            return gf_stage_fail(
                &filter->stages[i],
                gf_fail(GF_EUSAGE, "a filter's numbers are beyond what floats can hold"));
    return GF_OK;
}

GfStatus gf_stage_fail(const GfStage *stage, GfStatus status)
{
    return status == GF_OK || !stage || !stage->label ? status : gf_fail_at(status, stage->label);
}

static void free_stage(GfStage *stage)
{
    free(stage->label);
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        free(stage->linear.weights);
        free(stage->linear.columns);
        free(stage->linear.rows);
        free(stage->linear.bias);
        return;
    case GF_STAGE_POOL:
        free(stage->pool.bias);
        return;
    case GF_STAGE_ENTRY:
        free(stage->entry.mean);
        free(stage->entry.deviation);
        free(stage->entry.planes);
        return;
    case GF_STAGE_POINTWISE:
    case GF_STAGE_COMBINE:
    case GF_STAGE_EXIT:
    case GF_STAGE_ADD:
    case GF_STAGE_UPSAMPLE:
        return;
    }
}

void gf_filter_free(GfFilter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        free_stage(&filter->stages[i]);
    free(filter->text);
    free(filter->name);
    free(filter);
}
