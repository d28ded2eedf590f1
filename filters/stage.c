#include "filters/stage.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

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
                               .anchor_x = width / 2,
                               .anchor_y = height / 2,
                               .scale = 1.0};
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

/* NaN and what is beyond f32 fail; NULL has nothing to fail. */
static bool all_representable(const double *numbers, size_t count)
{
    for (size_t i = 0; numbers && i < count; i++)
        if (!(fabs(numbers[i]) <= (double)FLT_MAX))
            return false;
    return true;
}

GfStatus gf_filter_check(const GfFilter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        const GfLinear *linear = &filter->stages[i].linear;
        if (filter->stages[i].kind != GF_STAGE_LINEAR)
            continue;
        size_t columns = linear->filters * linear->height, rows = linear->filters * linear->width;
        if (!all_representable(linear->weights, columns * linear->width) ||
            !all_representable(linear->columns, columns) ||
            !all_representable(linear->rows, rows) || !all_representable(&linear->scale, 1) ||
            !all_representable(&linear->offset, 1))
            return gf_fail(GF_EUSAGE, "a kernel's numbers are beyond what floats can hold");
    }
    return GF_OK;
}

void gf_filter_free(GfFilter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->stages[i].kind != GF_STAGE_LINEAR)
            continue;
        free(filter->stages[i].linear.weights);
        free(filter->stages[i].linear.columns);
        free(filter->stages[i].linear.rows);
    }
    free(filter->text);
    free(filter->name);
    free(filter);
}
