/* A window of rows of bytes slides down the input, with the border laid out at both ends. A kernel
 * that is a product sums the columns first, any other is summed whole; the sums, times a factor,
 * are responses. What lies between is computed in runs of whole vectors: what they have too much is
 * not used. */
#include "cpu/integers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/bank.h"
#include "cpu/box.h"
#include "cpu/finish.h"
#include "cpu/padded.h"

enum {
    PIECE = 2048,    /* samples at once: what is made of them stays in a cache */
    MOST_PARTS = 16, /* of the smallest tap, that the others may be multiples of */
    MOST_TAPS = 256,
    LARGEST_BOX = 7 /* beyond which sums that move are faster (box.h) */
};

/* The taps of one pass that are not zero, and where they lie. */
typedef struct Taps {
    int16_t *taps;
    size_t *y, *x;
    size_t count;
} Taps;

typedef struct Kernel {
    Taps first, second; /* on bytes; where it is a product: on the sums of those */
    GfIntegerResponse response;
} Kernel;

struct GfIntegers {
    const GfStep *step;
    const GfRowFunctions *functions;
    const GfIntegerFunctions *functions16;
    Kernel *kernels; /* one a filter */
    bool simple;     /* responses, or their absolute values, are stored as bytes */
    size_t piece;    /* output pixels at once */
    size_t more;     /* samples that a row of taps needs beside those of the output */
    size_t row;      /* samples of a run that has all */
    size_t taps;     /* of a pass, at most */
};

/* ---- when ---- */

static size_t taps_of(const GfLinear *linear)
{
    return linear->height * linear->width;
}

/* What all taps are whole multiples of; 0: nothing that leaves them small. */
static double find_unit(const double *taps, size_t count)
{
    double least = 0.0;
    for (size_t i = 0; i < count; i++)
        if (taps[i] != 0.0 && (least == 0.0 || fabs(taps[i]) < least))
            least = fabs(taps[i]);
    for (int parts = 1; parts <= MOST_PARTS && least > 0.0; parts++) {
        const double unit = least / parts;
        size_t i = 0;
        while (i < count && fabs(taps[i]) <= unit * INT8_MAX &&
               fabs(taps[i] / unit - rint(taps[i] / unit)) < 1e-9)
            i++;
        if (i == count)
            return unit;
    }
    return 0.0;
}

/* What sums can be, in units, of samples up to 1. */
typedef struct Range {
    double least, most;
} Range;

static Range range_of(const double *taps, size_t count)
{
    const double unit = find_unit(taps, count);
    Range range = {0.0, unit > 0.0 ? 0.0 : INFINITY};
    for (size_t i = 0; i < count && unit > 0.0; i++)
        if (taps[i] < 0.0)
            range.least += rint(taps[i] / unit);
        else
            range.most += rint(taps[i] / unit);
    return range;
}

static Range range_of_filter(const GfStep *step, size_t f)
{
    const GfLinear *linear = &step->linear;
    if (!step->separable)
        return range_of(linear->weights + f * taps_of(linear), taps_of(linear));
    const Range column = range_of(linear->columns + f * linear->height, linear->height);
    const Range row = range_of(linear->rows + f * linear->width, linear->width);
    return (Range){column.least * row.most + column.most * row.least,
                   column.least * row.least + column.most * row.most};
}

/* Have sums 16 bits, with a sign or without? */
static bool are_short(Range range)
{
    const double white = UINT8_MAX, least = range.least * white, most = range.most * white;
    return (least >= INT16_MIN && most <= INT16_MAX) || (least == 0.0 && most <= UINT16_MAX);
}

bool gf_integers_pay(const GfPipeline *pipeline, size_t i)
{
    const GfStep *step = &pipeline->steps[i];
    const GfLinear *linear = &step->linear;
    if (pipeline->wide || step->in != GF_U8 || !gf_step_is_bank(step) || step->keep_alpha ||
        taps_of(linear) > MOST_TAPS || step->border_value != rint(step->border_value) ||
        step->border_value < 0.0 || step->border_value > UINT8_MAX)
        return false;
    if (gf_box_pays(pipeline, i) && gf_max(linear->width, linear->height) > LARGEST_BOX)
        return false;
    for (size_t f = 0; f < linear->filters; f++)
        if (!are_short(range_of_filter(step, f)))
            return false;
    return true;
}

/* ---- preparation ---- */

static bool is_simple(const GfStep *step)
{
    const bool absolute = step->posts == 1 && step->post[0].op == GF_POINTWISE_ABS &&
                          step->post_channels >= step->channels;
    return step->out == GF_U8 && step->linear.filters == 1 && step->combine.op == GF_COMBINE_NONE &&
           (step->posts == 0 || absolute) && step->gain == 1.0 && step->mid == 0.0 && !step->bias;
}

static GfStatus list_taps(Taps *list, const double *taps, size_t height, size_t width, double unit)
{
    const size_t all = height * width;
    GF_TRY(gf_allocate(all, sizeof *list->taps, &list->taps));
    GF_TRY(gf_allocate(all, sizeof *list->y, &list->y));
    GF_TRY(gf_allocate(all, sizeof *list->x, &list->x));
    for (size_t i = 0; i < all; i++) {
        const long tap = lrint(taps[i] / unit);
        if (tap == 0)
            continue;
        list->taps[list->count] = (int16_t)tap;
        list->y[list->count] = i / width;
        list->x[list->count++] = i % width;
    }
    return GF_OK;
}

static GfStatus make_kernel(Kernel *kernel, const GfStep *step, size_t f)
{
    const GfLinear *linear = &step->linear;
    double unit;
    if (step->separable) {
        const double *columns = linear->columns + f * linear->height;
        const double *rows = linear->rows + f * linear->width;
        const double across = find_unit(rows, linear->width);
        unit = find_unit(columns, linear->height);
        GF_TRY(list_taps(&kernel->first, columns, linear->height, 1, unit));
        GF_TRY(list_taps(&kernel->second, rows, 1, linear->width, across));
        unit *= across;
    } else {
        const double *weights = linear->weights + f * taps_of(linear);
        unit = find_unit(weights, taps_of(linear));
        GF_TRY(list_taps(&kernel->first, weights, linear->height, linear->width, unit));
    }
    kernel->response = (GfIntegerResponse){(float)(unit * linear->scale), (float)linear->offset,
                                           range_of_filter(step, f).least == 0.0};
    return GF_OK;
}

static void free_taps(Taps *list)
{
    free(list->taps);
    free(list->y);
    free(list->x);
}

/* Parts of a thread's memory. */
typedef struct Scratch {
    unsigned char *window; /* as many rows as the kernel has, used in turn */
    int16_t *columns, *sums;
    const void **sources;
    void **responses;
    unsigned char *saved;
} Scratch;

/* Lays it out from `memory` on, which may be NULL; returns its bytes. */
static size_t lay_scratch(const GfIntegers *integers, unsigned char *memory, Scratch *scratch)
{
    const GfStep *step = integers->step;
    const size_t filters = step->linear.filters, row = integers->row;
    const size_t columns = step->taps_y * row, sums = columns + row * sizeof(int16_t);
    const size_t sources = sums + row * sizeof(int16_t);
    const size_t list = sources + gf_align(integers->taps * sizeof(void *));
    const size_t saved = list + gf_align(filters * sizeof(void *));
    const size_t responses = saved + row * sizeof(float);
    if (memory) {
        *scratch = (Scratch){.window = memory,
                             .columns = (int16_t *)(void *)(memory + columns),
                             .sums = (int16_t *)(void *)(memory + sums),
                             .sources = (const void **)(void *)(memory + sources),
                             .responses = (void **)(void *)(memory + list),
                             .saved = memory + saved};
        for (size_t f = 0; f < filters; f++)
            scratch->responses[f] = memory + responses + f * row * sizeof(float);
    }
    return responses + filters * row * sizeof(float);
}

GfStatus gf_integers_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows,
                            GfIntegers **out)
{
    const GfStep *step = &pipeline->steps[i];
    GfIntegers *integers;
    GfStatus status;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *integers, &integers));
    integers->step = step;
    integers->functions = &rows->functions[0];
    integers->functions16 = &rows->integers;
    integers->simple = is_simple(step);
    integers->piece = gf_min(PIECE / step->channels + 1, step->out_width);
    integers->more = (step->taps_x - 1) * step->channels;
    integers->row = gf_align(gf_align(integers->piece * step->channels) + integers->more);
    GF_GO(gf_allocate_zero(step->linear.filters, sizeof *integers->kernels, &integers->kernels));
    for (size_t f = 0; f < step->linear.filters; f++) {
        Kernel *kernel = &integers->kernels[f];
        GF_GO(make_kernel(kernel, step, f));
        integers->taps = gf_max(integers->taps, gf_max(kernel->first.count, kernel->second.count));
    }
    *out = integers;
    integers = NULL;
done:
    gf_integers_free(integers);
    return status;
}

size_t gf_integers_scratch(const GfIntegers *integers)
{
    return lay_scratch(integers, NULL, NULL);
}

void gf_integers_free(GfIntegers *integers)
{
    if (!integers)
        return;
    for (size_t f = 0; integers->kernels && f < integers->step->linear.filters; f++) {
        free_taps(&integers->kernels[f].first);
        free_taps(&integers->kernels[f].second);
    }
    free(integers->kernels);
    free(integers);
}

/* ---- one thread's work ---- */

typedef struct Work {
    const GfIntegers *integers;
    const GfStepInput *input;
    Scratch scratch;
    size_t x, pixels; /* of the output */
} Work;

/* Row r of the window, which counts from the first row that the first output row meets. */
static unsigned char *window_row(const Work *work, size_t r)
{
    const GfIntegers *integers = work->integers;
    return work->scratch.window + r % integers->step->taps_y * integers->row;
}

/* Brings input row y to row r of the window. */
static void load(const Work *work, ptrdiff_t y, size_t r)
{
    const GfStep *step = work->integers->step;
    const ptrdiff_t x = (ptrdiff_t)work->x + step->origin_x;
    gf_padded_lay(step, gf_step_input_row(step, work->input, step->border, y), x,
                  x + (ptrdiff_t)(work->pixels + step->taps_x - 1), window_row(work, r));
}

/* The sums of a kernel in the output row that begins with row r of the window. */
static const int16_t *sum_up(const Work *work, const Kernel *kernel, size_t r)
{
    const GfIntegers *integers = work->integers;
    const GfStep *step = integers->step;
    const Scratch *scratch = &work->scratch;
    const Taps *first = &kernel->first, *second = &kernel->second;
    const size_t channels = step->channels, samples = gf_align(work->pixels * channels);
    for (size_t k = 0; k < first->count; k++)
        scratch->sources[k] = window_row(work, r + first->y[k]) + first->x[k] * channels;
    if (!step->separable) {
        integers->functions16->weigh_bytes(scratch->sums, scratch->sources, first->taps,
                                           first->count, samples);
        return scratch->sums;
    }
    integers->functions16->weigh_bytes(scratch->columns, scratch->sources, first->taps,
                                       first->count, gf_align(samples + integers->more));
    for (size_t k = 0; k < second->count; k++)
        scratch->sources[k] = scratch->columns + second->x[k] * channels;
    integers->functions16->weigh_sums(scratch->sums, scratch->sources, second->taps, second->count,
                                      samples);
    return scratch->sums;
}

/* Stores the output row that begins with row r of the window. */
static void make_row(const Work *work, size_t r, unsigned char *to)
{
    const GfIntegers *integers = work->integers;
    const GfStep *step = integers->step;
    const size_t samples = work->pixels * step->channels;
    void *const *responses = work->scratch.responses;
    for (size_t f = 0; f < step->linear.filters; f++) {
        const Kernel *kernel = &integers->kernels[f];
        const int16_t *sums = sum_up(work, kernel, r);
        if (integers->simple)
            integers->functions16->respond_bytes(to, sums, &kernel->response, step->posts > 0,
                                                 samples);
        else
            integers->functions16->respond(responses[f], sums, &kernel->response,
                                           gf_align(samples));
    }
    if (integers->simple)
        return;
    gf_row_bank_join(step, integers->functions, responses, samples);
    gf_finish_pixels(step, integers->functions, sizeof(float), work->pixels, responses[0],
                     work->scratch.saved);
    integers->functions->store(to, step->out, 1, responses[0], samples);
}

/* The columns of a piece, in so many rows of which the first meets input rows from `top` on. */
static void run_piece(const Work *work, ptrdiff_t top, size_t rows, const GfStepOutput *out)
{
    const GfStep *step = work->integers->step;
    size_t loaded = 0;
    unsigned char *to =
        out->samples + (work->x - out->x0) * step->channels * gf_sample_size(step->out);
    for (size_t r = 0; r < rows; r++, to += out->stride) {
        for (; loaded < r + step->taps_y; loaded++)
            load(work, top + (ptrdiff_t)loaded, loaded);
        make_row(work, r, to);
    }
}

void gf_integers_run(const GfIntegers *integers, const GfStepInput *input, ptrdiff_t y0,
                     ptrdiff_t y1, const GfStepOutput *to, void *memory)
{
    const GfStep *step = integers->step;
    Work work = {.integers = integers, .input = input, .x = to->x0};
    lay_scratch(integers, memory, &work.scratch);
    for (; work.x < to->x1; work.x += work.pixels) {
        work.pixels = gf_min(integers->piece, to->x1 - work.x);
        run_piece(&work, y0 + step->origin_y, (size_t)(y1 - y0), to);
    }
}
