/* A step slides a window of padded rows down its input: each input row is converted to the type of
 * the sums once, with the border already laid out at both ends, and then every tap of every output
 * row is a plain "row += tap * shifted row" over contiguous memory. A kernel that is a product
 * takes the column first, over the padded width, and the row after it.
 *
 * Scratch memory of a thread: the window (kernel height padded rows), one padded row for a column's
 * result, and the responses of the bank. */
#include "cpu/step.h"

#include <stdlib.h>
#include <string.h>

/* Taps that are not zero, in groups that are summed up by themselves before they are added: a
 * rounding error then grows with the number of groups plus their length (filters/precision.c counts
 * on it). */
typedef struct TapList {
    void *taps;    /* of the type of the sums */
    size_t *y, *x; /* where in the kernel */
    size_t *group; /* index of each group's first tap; group[groups] = count */
    size_t count, groups;
} TapList;

struct GfStepRunner {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real; /* bytes of a sum */
    bool wide;
    size_t row, padded;             /* samples of an output row and of a padded input row */
    size_t row_bytes, padded_bytes; /* rounded up to the alignment */
    size_t height;                  /* taps a column */
    TapList *lists; /* for each kernel: all taps, or when separable columns and then rows */
    size_t list_count, longest;
};

/* ---- preparation ---- */

static void set_tap(void *taps, bool wide, size_t i, double value)
{
    if (wide)
        ((double *)taps)[i] = value;
    else
        ((float *)taps)[i] = (float)value;
}

/* Lists the taps of a matrix of doubles; one group a matrix row when there are many. */
static GfStatus list_taps(TapList *list, const double *matrix, size_t width, size_t height,
                          bool wide)
{
    size_t taps = width * height;
    bool by_rows = taps > GF_FLAT_TAPS && width > 1;
    GF_TRY(gf_allocate(taps, wide ? sizeof(double) : sizeof(float), &list->taps));
    GF_TRY(gf_allocate(taps, sizeof *list->y, &list->y));
    GF_TRY(gf_allocate(taps, sizeof *list->x, &list->x));
    GF_TRY(gf_allocate(height + 1, sizeof *list->group, &list->group));
    for (size_t y = 0; y < height; y++) {
        size_t before = list->count;
        for (size_t x = 0; x < width; x++) {
            if (matrix[y * width + x] == 0.0)
                continue;
            set_tap(list->taps, wide, list->count, matrix[y * width + x]);
            list->y[list->count] = y;
            list->x[list->count++] = x;
        }
        if (list->count > before && (list->groups == 0 || by_rows))
            list->group[list->groups++] = before;
    }
    list->group[list->groups] = list->count;
    return GF_OK;
}

static GfStatus list_kernels(GfStepRunner *runner)
{
    const GfStep *step = runner->step;
    const GfLinear *linear = &step->linear;
    size_t width = linear->width, height = linear->height;
    bool wide = runner->wide;
    runner->list_count = linear->filters * (step->separable ? 2 : 1);
    GF_TRY(gf_allocate_zero(runner->list_count, sizeof *runner->lists, &runner->lists));
    for (size_t f = 0; f < linear->filters; f++) {
        if (!step->separable) {
            const double *taps = linear->weights + f * width * height;
            GF_TRY(list_taps(&runner->lists[f], taps, width, height, wide));
            continue;
        }
        TapList *pair = runner->lists + 2 * f;
        GF_TRY(list_taps(&pair[0], linear->columns + f * height, 1, height, wide));
        GF_TRY(list_taps(&pair[1], linear->rows + f * width, width, 1, wide));
    }
    for (size_t i = 0; i < runner->list_count; i++)
        runner->longest = gf_max(runner->longest, runner->lists[i].count);
    return GF_OK;
}

GfStatus gf_step_runner_create(const GfStep *step, bool wide, const GfRowFunctions *functions,
                               GfStepRunner **out)
{
    GfStepRunner *runner;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *runner, &runner));
    bool filter = step->kind == GF_STEP_FILTER;
    runner->step = step;
    runner->functions = functions;
    runner->wide = wide;
    runner->real = wide ? sizeof(double) : sizeof(float);
    runner->row = step->out_width * step->channels;
    runner->padded = runner->row + (filter ? step->linear.width - 1 : 0) * step->channels;
    runner->row_bytes = gf_align(runner->row * runner->real);
    runner->padded_bytes = gf_align(runner->padded * runner->real);
    runner->height = filter ? step->linear.height : 1;
    GfStatus status = filter ? list_kernels(runner) : GF_OK;
    if (status != GF_OK) {
        gf_step_runner_free(runner);
        return status;
    }
    *out = runner;
    return GF_OK;
}

size_t gf_step_runner_scratch(const GfStepRunner *runner)
{
    size_t responses = runner->step->kind == GF_STEP_FILTER ? runner->step->linear.filters : 1;
    return (runner->height + 1) * runner->padded_bytes + responses * runner->row_bytes +
           runner->row_bytes + gf_align(runner->longest * sizeof(void *)) +
           gf_align(responses * sizeof(void *));
}

void gf_step_runner_free(GfStepRunner *runner)
{
    if (!runner)
        return;
    for (size_t i = 0; runner->lists && i < runner->list_count; i++) {
        free(runner->lists[i].taps);
        free(runner->lists[i].y);
        free(runner->lists[i].x);
        free(runner->lists[i].group);
    }
    free(runner->lists);
    free(runner);
}

/* ---- one thread's work ---- */

typedef struct Scratch {
    unsigned char *window; /* height padded rows, used in turn */
    void *column;          /* a padded row */
    void *saved;           /* opacity while the colours are changed */
    void **responses;      /* one row a kernel */
    const void **sources;  /* longest */
} Scratch;

static Scratch divide(const GfStepRunner *runner, void *memory)
{
    Scratch scratch;
    unsigned char *next = memory;
    size_t responses = runner->step->kind == GF_STEP_FILTER ? runner->step->linear.filters : 1;
    scratch.window = next;
    next += runner->height * runner->padded_bytes;
    scratch.column = next;
    next += runner->padded_bytes;
    scratch.saved = next;
    next += runner->row_bytes;
    scratch.sources = (const void **)(void *)next;
    next += gf_align(runner->longest * sizeof(void *));
    scratch.responses = (void **)(void *)next;
    next += gf_align(responses * sizeof(void *));
    for (size_t f = 0; f < responses; f++, next += runner->row_bytes)
        scratch.responses[f] = next;
    return scratch;
}

/* Row r of the window, which counts from the first row that the first output row meets. */
static unsigned char *window_row(const GfStepRunner *runner, const Scratch *scratch, size_t r)
{
    return scratch->window + r % runner->height * runner->padded_bytes;
}

/* Lays out `row` (at virtual columns origin_x ...) with the border at both ends. */
static void load_padded(const GfStepRunner *runner, const unsigned char *row, unsigned char *to)
{
    const GfStep *step = runner->step;
    const GfRowFunctions *functions = runner->functions;
    size_t channels = step->channels, pixel = channels * runner->real;
    size_t in_pixel = channels * gf_sample_size(step->in);
    ptrdiff_t width = (ptrdiff_t)step->in_width;
    ptrdiff_t count = (ptrdiff_t)(runner->padded / channels);
    ptrdiff_t left = -step->origin_x, inside = width < count - left ? width : count - left;
    functions->load(to + (size_t)left * pixel, row, step->in, (size_t)inside * channels);
    for (ptrdiff_t i = 0; i < count; i++) {
        if (i == left)
            i += inside;
        if (i >= count)
            return;
        long long x = gf_border_index(i - left, width, step->border);
        if (x < 0)
            functions->fill(to + (size_t)i * pixel, step->border_value, channels);
        else
            functions->load(to + (size_t)i * pixel, row + (size_t)x * in_pixel, step->in, channels);
    }
}

/* Brings input row y (beyond the picture: what the border says) to row r of the window. */
static void load_window_row(const GfStepRunner *runner, const GfStepInput *input,
                            const Scratch *scratch, ptrdiff_t y, size_t r)
{
    const GfStep *step = runner->step;
    unsigned char *to = window_row(runner, scratch, r);
    bool neighbours = input->window && step->border == GF_BORDER_WRAP;
    long long row = neighbours ? y : gf_border_index(y, (long long)step->in_height, step->border);
    if (row < 0 && !neighbours) {
        runner->functions->fill(to, step->border_value, runner->padded);
        return;
    }
    size_t place = (size_t)(row - input->first) % input->rows;
    load_padded(runner, input->samples + place * input->stride, to);
}

static void sum_list(const GfStepRunner *runner, const TapList *list, const Scratch *scratch,
                     void *to, size_t n)
{
    if (list->count == 0)
        runner->functions->fill(to, 0.0, n);
    for (size_t g = 0; g < list->groups; g++) {
        size_t first = list->group[g], count = list->group[g + 1] - first;
        runner->functions->sum(to, scratch->sources + first,
                               (const unsigned char *)list->taps + first * runner->real, count, n,
                               g > 0);
    }
}

/* The response of kernel f in the output row that begins with row r of the window. */
static void respond(const GfStepRunner *runner, const Scratch *scratch, size_t f, size_t r)
{
    const GfStep *step = runner->step;
    size_t pixel = step->channels * runner->real;
    const TapList *list = &runner->lists[step->separable ? 2 * f : f];
    void *to = scratch->responses[f];
    for (size_t i = 0; i < list->count; i++)
        scratch->sources[i] = window_row(runner, scratch, r + list->y[i]) + list->x[i] * pixel;
    if (!step->separable) {
        sum_list(runner, list, scratch, to, runner->row);
    } else {
        sum_list(runner, list++, scratch, scratch->column, runner->padded);
        for (size_t i = 0; i < list->count; i++)
            scratch->sources[i] = (unsigned char *)scratch->column + list->x[i] * pixel;
        sum_list(runner, list, scratch, to, runner->row);
    }
    if (step->linear.scale != 1.0 || step->linear.offset != 0.0)
        runner->functions->affine(to, step->linear.scale, step->linear.offset, runner->row);
}

static void filter_row(const GfStepRunner *runner, const Scratch *scratch, size_t r)
{
    const GfStep *step = runner->step;
    for (size_t f = 0; f < step->linear.filters; f++)
        respond(runner, scratch, f, r);
    if (step->combine.op) {
        GfCombine combine = step->combine;
        combine.threshold *= step->white / 255.0;
        runner->functions->combine(scratch->responses, step->linear.filters, &combine, runner->row);
    }
    if (step->keep_alpha) {
        size_t last = step->channels - 1;
        const unsigned char *source = window_row(runner, scratch, r + step->linear.anchor_y);
        source += (step->linear.anchor_x * step->channels + last) * runner->real;
        runner->functions->copy_channel((unsigned char *)scratch->responses[0] +
                                            last * runner->real,
                                        source, 1.0, step->channels, step->out_width);
    }
}

static void pixel_row(const GfStepRunner *runner, const Scratch *scratch, size_t r)
{
    const GfStep *step = runner->step;
    void *row = scratch->responses[0];
    memcpy(row, window_row(runner, scratch, r), runner->row * runner->real);
    if (step->kind == GF_STEP_PREMULTIPLY)
        runner->functions->premultiply(row, step->channels, step->white, step->out_width);
    else
        runner->functions->unpremultiply(row, step->channels, step->white, step->alpha_gain,
                                         step->out_width);
}

/* What rides on the step: functions of one sample, not for opacity; the gain for all. */
static void finish_row(const GfStepRunner *runner, const Scratch *scratch)
{
    const GfStep *step = runner->step;
    const GfRowFunctions *functions = runner->functions;
    unsigned char *row = scratch->responses[0];
    size_t alpha = (step->channels - 1) * runner->real;
    bool spare = step->post_channels < step->channels && (step->posts > 0 || step->mid != 0.0);
    if (spare)
        functions->copy_channel((unsigned char *)scratch->saved + alpha, row + alpha, 1.0,
                                step->channels, step->out_width);
    for (size_t i = 0; i < step->posts; i++) {
        if (step->post[i].op == GF_POINTWISE_ABS)
            functions->absolute(row, runner->row);
        else
            functions->affine(row, step->post[i].a, step->post[i].b, runner->row);
    }
    if (step->gain != 1.0 || step->mid != 0.0)
        functions->affine(row, step->gain, step->mid, runner->row);
    if (spare)
        functions->copy_channel(row + alpha, (unsigned char *)scratch->saved + alpha, step->gain,
                                step->channels, step->out_width);
}

void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input, ptrdiff_t y0,
                        ptrdiff_t y1, void *to, size_t stride, void *memory)
{
    const GfStep *step = runner->step;
    Scratch scratch = divide(runner, memory);
    ptrdiff_t top = y0 + step->origin_y;
    size_t rows = (size_t)(y1 - y0), loaded = 0;
    for (size_t r = 0; r < rows; r++) {
        for (; loaded < r + runner->height; loaded++)
            load_window_row(runner, input, &scratch, top + (ptrdiff_t)loaded, loaded);
        if (step->kind == GF_STEP_FILTER)
            filter_row(runner, &scratch, r);
        else
            pixel_row(runner, &scratch, r);
        finish_row(runner, &scratch);
        runner->functions->store((unsigned char *)to + r * stride, step->out, scratch.responses[0],
                                 runner->row);
    }
}
