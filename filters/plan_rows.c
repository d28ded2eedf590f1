/* Which rows of what goes in are needed for which rows of what comes out: of a step by its windows
 * and its border, of a pipeline from its last step to its first. */
#include <math.h>
#include <string.h>

#include "filters/windows.h"

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

static ptrdiff_t clamp(ptrdiff_t at, ptrdiff_t size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

/* Rows or columns [*begin, *end), of `size` that there are, that windows from `first` to `last`
 * need. */
static void find_inside(const GfStep *step, ptrdiff_t size, ptrdiff_t first, ptrdiff_t last,
                        size_t *begin, size_t *end)
{
    if (step->border == GF_BORDER_WRAP && (first < 0 || last >= size)) {
        *begin = 0;
        *end = (size_t)size;
        return;
    }
    if (step->border != GF_BORDER_CONSTANT) {
        /* What lies outside is mirrored to what is as far inside, which a short band may not reach
         * itself. */
        ptrdiff_t lowest = last >= size ? 2 * (size - 1) - last : first;
        ptrdiff_t highest = first < 0 ? -first : last;
        first = first < lowest ? first : lowest;
        last = last > highest ? last : highest;
    }
    *begin = (size_t)clamp(first, size);
    *end = (size_t)clamp(last, size) + 1;
}

void gf_step_rows(const GfStep *step, size_t y0, size_t y1, size_t *begin, size_t *end)
{
    ptrdiff_t first, last;
    if (y0 >= y1) {
        *begin = *end = 0;
        return;
    }
    if (step->kind == GF_STEP_UPSAMPLE) {
        *begin = y0 / step->factor_y;
        *end = (y1 - 1) / step->factor_y + 1;
        return;
    }
    window_rows(step, (ptrdiff_t)y0, (ptrdiff_t)y1, &first, &last);
    find_inside(step, (ptrdiff_t)step->in_height, first, last, begin, end);
}

void gf_step_columns(const GfStep *step, size_t x0, size_t x1, size_t *begin, size_t *end)
{
    ptrdiff_t first = (ptrdiff_t)x0 + step->origin_x;
    ptrdiff_t last = (ptrdiff_t)(x1 - 1 + step->taps_x - 1) + step->origin_x;
    find_inside(step, (ptrdiff_t)step->in_width, first, last, begin, end);
}

/* The most rows that windows lie outside the picture, above or below. */
static size_t outside_rows(const GfStep *step)
{
    ptrdiff_t first, last;
    if (step->kind == GF_STEP_UPSAMPLE)
        return 0;
    window_rows(step, 0, (ptrdiff_t)step->out_height, &first, &last);
    ptrdiff_t below = last - (ptrdiff_t)step->in_height + 1;
    return (size_t)(first < 0 ? (-first > below ? -first : below) : below > 0 ? below : 0);
}

bool gf_step_wraps(const GfStep *step)
{
    return step->border == GF_BORDER_WRAP && outside_rows(step) > 0;
}

size_t gf_step_most_rows(const GfStep *step, size_t rows)
{
    size_t span = (rows - 1) * step->stride_y + (size_t)reach_y(step);
    if (step->kind == GF_STEP_UPSAMPLE)
        return gf_min((rows - 1) / step->factor_y + 2, step->in_height);
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
    if (step->border == GF_BORDER_WRAP && step->kind != GF_STEP_UPSAMPLE) {
        window_rows(step, y0, y1, begin, end);
        ++*end;
        return;
    }
    gf_step_rows(step, (size_t)y0, (size_t)y1, &first, &last);
    *begin = (ptrdiff_t)first;
    *end = (ptrdiff_t)last;
}

/* Widens a range to what another one holds; an empty one holds nothing. */
static void unite(GfRowRange *range, GfRowRange with)
{
    if (with.begin >= with.end)
        return;
    bool empty = range->begin >= range->end;
    *range = (GfRowRange){empty ? with.begin : gf_min(range->begin, with.begin),
                          empty ? with.end : gf_max(range->end, with.end)};
}

void gf_pipeline_needs(const GfPipeline *pipeline, size_t y0, size_t y1, GfRowRange *need)
{
    memset(need, 0, pipeline->count * sizeof *need);
    need[pipeline->count] = (GfRowRange){y0, y1};
    for (size_t i = pipeline->count; i-- > 0;) {
        const GfStep *step = &pipeline->steps[i];
        GfRowRange rows;
        gf_step_rows(step, need[i + 1].begin, need[i + 1].end, &rows.begin, &rows.end);
        unite(&need[i], rows);
        if (step->kind == GF_STEP_ADD)
            unite(&need[step->skip], need[i + 1]);
    }
}

void gf_pipeline_rows(const GfPipeline *pipeline, size_t y0, size_t y1, size_t *begin, size_t *end)
{
    GfRowRange need[GF_PIPELINE_MAX_STEPS + 1];
    gf_pipeline_needs(pipeline, y0, y1, need);
    *begin = need[0].begin;
    *end = need[0].end;
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

size_t gf_pipeline_layers(const GfPipeline *pipeline)
{
    size_t layers = 0;
    for (size_t i = 0; i < pipeline->count; i++)
        layers += gf_step_is_layer(&pipeline->steps[i]);
    return layers;
}

/* Rows of input by which a step's output lags behind at most; as many are kept. */
static size_t lag_of(const GfStep *step)
{
    size_t reach = gf_max((size_t)reach_y(step), step->stride_y);
    return gf_max(reach - 1, outside_rows(step));
}

/* The sum of what `rows_of` says of the steps from `first` on, in rows of what that one reads. */
static size_t sum_rows(const GfPipeline *pipeline, size_t first, size_t (*rows_of)(const GfStep *))
{
    const size_t most = (size_t)GF_MOST_PIXELS << 3; /* times a stride it does not overflow */
    size_t sum = 0;
    for (size_t i = pipeline->count; i-- > first;) {
        const GfStep *step = &pipeline->steps[i];
        if (step->kind == GF_STEP_UPSAMPLE)
            sum = (sum + step->factor_y - 1) / step->factor_y;
        sum = gf_min(sum * step->stride_y + rows_of(step), most);
    }
    return sum;
}

size_t gf_pipeline_lag(const GfPipeline *pipeline, size_t first)
{
    return sum_rows(pipeline, first, lag_of);
}

static size_t span_of(const GfStep *step)
{
    return 2 * lag_of(step);
}

size_t gf_pipeline_span(const GfPipeline *pipeline)
{
    return sum_rows(pipeline, 0, span_of);
}

/* Rows that come at once when what they lag behind for is there, with those that padding adds. */
static size_t burst_of(const GfStep *step)
{
    size_t covered = step->out_height * step->stride_y / step->factor_y;
    return lag_of(step) + (covered > step->in_height ? covered - step->in_height : 0);
}

/* As many as the rows of input, or as the picture grows on the way. A step that strides may hand a
 * row on earlier or later by what a row of it comes to in the end. */
size_t gf_pipeline_most_rows(const GfPipeline *pipeline, size_t band)
{
    size_t rows = band + sum_rows(pipeline, 0, burst_of);
    double growth = 1.0, uneven = 0.0;
    for (size_t i = pipeline->count; i-- > 0;) {
        const GfStep *step = &pipeline->steps[i];
        growth *= (double)step->factor_y;
        if (step->stride_y > 1)
            uneven += growth;
        growth /= (double)step->stride_y;
    }
    double most = (double)rows * fmax(growth, 1.0) + uneven;
    return most < (double)pipeline->out.height ? (size_t)ceil(most) : pipeline->out.height;
}
