/* A window of padded rows slides down the input: each input row is converted to the type of the
 * sums once, with the border already laid out at both ends. Pixels need not be taken apart for
 * that: a row is one run of samples, and neighbouring taps are `channels` samples apart. The
 * columns of tall kernels are summed elsewhere, for several rows and a few columns at once
 * (columns.h).
 *
 * A window of many long rows is larger than a cache, and each thread has one: there the parts of a
 * row are strips of columns. Threads share these first, and rows where there are too few: what two
 * runs of rows meet is loaded for each.
 *
 * Scratch memory of a thread: the window (as many rows as the kernel), one padded row for a
 * column's result, and the responses of the bank, all only as wide as the part of a strip that is
 * computed before the next. */
#include "cpu/pixels.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/bank.h"
#include "cpu/columns.h"
#include "cpu/finish.h"
#include "cpu/padded.h"

enum {
    STRIP_BYTES = 512 << 10,  /* of the window of a strip of columns, if it were one */
    WINDOW_BYTES = 128 << 10, /* of the columns at once */
    LEAST_STRIP = 16,         /* times the taps of a row: what two strips meet is done twice, */
    LEAST_WIDTH = 32,         /* and what two windows do */
    LEAST_ROWS = 8
};

struct GfPixels {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;                    /* bytes of a sum */
    size_t strip;                   /* columns of the output that a thread computes */
    size_t width;                   /* of them at once */
    size_t row, padded;             /* samples of so many, and of a padded input row of them */
    size_t row_bytes, padded_bytes; /* rounded up to the alignment */
    size_t height;                  /* rows of the window */
    size_t responses;               /* rows that a bank makes */
    GfRowBank bank;
    GfColumns *columns; /* of tall kernels; else NULL */
    size_t *x;          /* bytes from a padded row's begin to each tap */
    size_t scratch;
};

/* ---- preparation ---- */

/* Parts of a thread's memory. */
typedef struct Scratch {
    unsigned char *window;  /* `height` padded rows, used in turn */
    unsigned char *column;  /* a padded row */
    unsigned char *saved;   /* opacity while the colours are changed */
    unsigned char *y;       /* bytes from the window's begin to the row under each row of taps */
    unsigned char *sources; /* places under taps */
    unsigned char *row_list;
    unsigned char *rows;  /* the responses */
    unsigned char *tall;  /* for columns.h */
    unsigned char *ready; /* places of its results */
} Scratch;

/* Lays out a thread's memory from `memory` on, which may be NULL; returns its bytes, or 0 when they
 * are too many. */
static size_t lay_scratch(const GfPixels *pixels, unsigned char *memory, Scratch *scratch)
{
    bool tall = pixels->columns != NULL;
    struct {
        unsigned char **place;
        size_t count, size;
    } parts[] = {{&scratch->window, tall ? 0 : pixels->height, pixels->padded_bytes},
                 {&scratch->column, tall ? 0 : 1, pixels->padded_bytes},
                 {&scratch->saved, 1, pixels->row_bytes},
                 {&scratch->y, pixels->height, sizeof(size_t)},
                 {&scratch->sources, pixels->bank.longest, sizeof(void *)},
                 {&scratch->row_list, pixels->responses, sizeof(void *)},
                 {&scratch->rows, pixels->responses, pixels->row_bytes},
                 {&scratch->tall, 1, tall ? gf_columns_scratch(pixels->columns) : 0},
                 {&scratch->ready, tall ? pixels->responses : 0, sizeof(void *)}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t bytes;
        *parts[i].place = memory ? memory + at : NULL;
        if (!gf_mul(parts[i].count, parts[i].size, &bytes) ||
            !gf_add(bytes, GF_ALIGNMENT - 1, &bytes) ||
            !gf_add(at, bytes / GF_ALIGNMENT * GF_ALIGNMENT, &at))
            return 0;
    }
    return at;
}

/* All columns where the window is small, or where a wrapped picture is there as a whole, so that
 * its rows are enough to share. */
static size_t choose_strip(const GfStep *step, size_t real)
{
    bool tall = gf_columns_pay(step);
    size_t height = step->taps_y + (tall ? GF_MIX_MAPS - 1 : 0);
    size_t columns = STRIP_BYTES / real / step->channels / height;
    columns = gf_max(columns, LEAST_STRIP * step->taps_x);
    if (step->kind != GF_STEP_FILTER || columns >= step->out_width ||
        (tall && step->border == GF_BORDER_WRAP))
        return step->out_width;
    size_t strips = (step->out_width + columns - 1) / columns;
    return (step->out_width + strips - 1) / strips;
}

/* Columns at once: whole runs of vectors but at a strip's end, where single samples may be rounded
 * otherwise. */
static size_t choose_width(const GfPixels *pixels)
{
    const GfStep *step = pixels->step;
    size_t together = 8 * GF_ALIGNMENT / pixels->real;
    size_t width = WINDOW_BYTES / pixels->real / step->channels / step->taps_y;
    width = gf_max(gf_max(width, LEAST_WIDTH * step->taps_x) / together, 1) * together;
    return gf_min(pixels->columns ? gf_columns_width(pixels->columns) : width, pixels->strip);
}

static GfStatus set_sizes(GfPixels *pixels)
{
    const GfStep *step = pixels->step;
    size_t columns, row, padded;
    pixels->strip = choose_strip(step, pixels->real);
    pixels->width = choose_width(pixels);
    if (!gf_add(pixels->width, step->taps_x - 1, &columns) ||
        !gf_mul(columns, step->channels, &padded) || !gf_mul(pixels->width, step->channels, &row) ||
        padded > SIZE_MAX / 16 || row > SIZE_MAX / 16)
        return gf_fail(GF_EMEMORY, "rows of %zu pixels are too long", step->out_width);
    pixels->row = row;
    pixels->padded = padded;
    pixels->row_bytes = gf_align(row * pixels->real);
    pixels->padded_bytes = gf_align(padded * pixels->real);
    pixels->height = step->taps_y;
    pixels->responses = gf_max(step->linear.filters, 1);
    return GF_OK;
}

GfStatus gf_pixels_create(const GfStep *step, bool wide, const GfRowSet *rows, GfPixels **out)
{
    GfPixels *pixels;
    Scratch scratch;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *pixels, &pixels));
    pixels->step = step;
    pixels->functions = &rows->functions[wide];
    pixels->real = wide ? sizeof(double) : sizeof(float);
    if (gf_columns_pay(step))
        GF_GO(gf_columns_create(step, pixels->functions, pixels->real, &pixels->columns));
    GF_GO(set_sizes(pixels));
    GF_GO(gf_allocate(step->taps_x, sizeof *pixels->x, &pixels->x));
    for (size_t k = 0; k < step->taps_x; k++)
        pixels->x[k] = k * step->channels * pixels->real;
    if (step->kind == GF_STEP_FILTER)
        GF_GO(gf_row_bank_create(&pixels->bank, step, pixels->functions, pixels->real));
    pixels->scratch = lay_scratch(pixels, NULL, &scratch);
    if (pixels->scratch == 0)
        GF_GO(gf_fail(GF_EMEMORY, "rows of %zu pixels are too long", step->out_width));
    *out = pixels;
    pixels = NULL;
done:
    gf_pixels_free(pixels);
    return status;
}

size_t gf_pixels_parts(const GfPixels *pixels, size_t width)
{
    return (width + pixels->strip - 1) / pixels->strip;
}

/* Of a strip: fewer would have more rows loaded for them than are worth while. */
size_t gf_pixels_least_rows(const GfPixels *pixels)
{
    return gf_pixels_parts(pixels, pixels->step->out_width) > 1 ? LEAST_ROWS : 1;
}

size_t gf_pixels_scratch(const GfPixels *pixels)
{
    return pixels->scratch;
}

void gf_pixels_free(GfPixels *pixels)
{
    if (!pixels)
        return;
    gf_row_bank_free(&pixels->bank);
    gf_columns_free(pixels->columns);
    free(pixels->x);
    free(pixels);
}

/* ---- one thread's work ---- */

/* What a thread computes with, and the columns that it is at. */
typedef struct Work {
    const GfPixels *pixels;
    const GfStepInput *input;
    size_t first;     /* column of the output that its rows begin with */
    size_t x0, width; /* columns of the output */
    unsigned char *window;
    size_t *y;
    void *saved;
    const void **ready;
    GfRowBankMemory bank;
} Work;

static Work make_work(const GfPixels *pixels, const GfStepInput *input, const Scratch *scratch)
{
    Work work = {.pixels = pixels, .input = input, .window = scratch->window};
    work.saved = scratch->saved;
    work.y = (size_t *)(void *)scratch->y;
    work.bank = (GfRowBankMemory){scratch->column, NULL, (const void **)(void *)scratch->sources,
                                  (void **)(void *)scratch->row_list};
    for (size_t f = 0; f < pixels->responses; f++)
        work.bank.responses[f] = scratch->rows + f * pixels->row_bytes;
    if (pixels->columns)
        work.bank.ready = work.ready = (const void **)(void *)scratch->ready;
    return work;
}

/* Bytes from the window's begin to its row r, which counts from the first row that the first output
 * row meets. */
static size_t window_row(const GfPixels *pixels, size_t r)
{
    return r % pixels->height * pixels->padded_bytes;
}

/* Columns that those of the output meet. */
static size_t padded_width(const Work *work)
{
    return work->width + work->pixels->step->taps_x - 1;
}

/* Brings input row y (beyond the picture: what the border says) to row r of the window. */
static void load_window_row(const Work *work, ptrdiff_t y, size_t r)
{
    const GfPixels *pixels = work->pixels;
    const GfPadded padded = {pixels->step, pixels->functions, pixels->real, 0,
                             pixels->step->channels};
    gf_padded_load(&padded, work->input, y, work->x0, padded_width(work),
                   work->window + window_row(pixels, r));
}

/* Opacity under the anchor, of the output row whose window begins with input row y: inside the
 * picture. */
static const unsigned char *kept_opacity(const Work *work, ptrdiff_t y)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    size_t last = (step->channels - 1) * pixels->real;
    if (!pixels->columns)
        return work->window + work->y[step->linear.anchor_y] + pixels->x[step->linear.anchor_x] +
               last;
    const GfPadded padded = {step, pixels->functions, pixels->real, 0, step->channels};
    gf_padded_load(&padded, work->input, y + (ptrdiff_t)step->linear.anchor_y,
                   work->x0 + step->linear.anchor_x, work->width, work->saved);
    return (const unsigned char *)work->saved + last;
}

/* The combined response in the output row that begins with row r of the window, input row y. */
static void filter_row(const Work *work, ptrdiff_t y, size_t r)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    for (size_t k = 0; k < pixels->height && !pixels->columns; k++)
        work->y[k] = window_row(pixels, r + k);
    GfView view = {.base = work->window,
                   .y = work->y,
                   .x = pixels->x,
                   .count = work->width * step->channels,
                   .slots = 1,
                   .column_count = padded_width(work) * step->channels,
                   .column_x = pixels->x};
    gf_row_bank_run(&pixels->bank, &view, &work->bank);
    if (step->keep_alpha)
        pixels->functions->copy_channel((unsigned char *)work->bank.responses[0] +
                                            (step->channels - 1) * pixels->real,
                                        kept_opacity(work, y), 1.0, step->channels, work->width);
}

static void opacity_row(const Work *work, size_t r)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    void *row = work->bank.responses[0];
    memcpy(row, work->window + window_row(pixels, r), work->width * step->channels * pixels->real);
    if (step->kind == GF_STEP_PREMULTIPLY)
        pixels->functions->premultiply(row, step->channels, step->white, work->width);
    else
        pixels->functions->unpremultiply(row, step->channels, step->white, step->alpha_gain,
                                         work->width);
}

/* Makes the output row that begins with row r of the window, input row y, and stores it at `to`,
 * where column work->first of the output would be. */
static void make_row(const Work *work, ptrdiff_t y, size_t r, unsigned char *to)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    void *row = work->bank.responses[0];
    if (step->kind == GF_STEP_FILTER)
        filter_row(work, y, r);
    else
        opacity_row(work, r);
    gf_finish_pixels(step, pixels->functions, pixels->real, work->width, row, work->saved);
    to += (work->x0 - work->first) * step->channels * gf_sample_size(step->out);
    pixels->functions->store(to, step->out, 1, row, work->width * step->channels);
}

/* Columns of a strip, in so many rows of which the first meets input rows from `top` on. */
static void run_window(const Work *work, ptrdiff_t top, size_t rows, unsigned char *to,
                       size_t stride)
{
    size_t loaded = 0;
    for (size_t r = 0; r < rows; r++) {
        for (; loaded < r + work->pixels->height; loaded++)
            load_window_row(work, top + (ptrdiff_t)loaded, loaded);
        make_row(work, top + (ptrdiff_t)r, r, to + r * stride);
    }
}

/* The same where the columns have been summed. */
static void run_sums(const Work *work, const GfColumnsWork *columns, ptrdiff_t top, size_t rows,
                     unsigned char *to, size_t stride)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t f = 0; f < work->pixels->responses; f++)
            work->ready[f] = gf_columns_results(columns, f, r);
        make_row(work, top + (ptrdiff_t)r, r, to + r * stride);
    }
}

void gf_pixels_run(const GfPixels *pixels, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                   size_t part, const GfStepOutput *to, void *memory)
{
    Scratch scratch;
    lay_scratch(pixels, memory, &scratch);
    Work work = make_work(pixels, input, &scratch);
    size_t x0 = to->x0 + part * pixels->strip, x1 = gf_min(x0 + pixels->strip, to->x1);
    size_t rows = (size_t)(y1 - y0), most = pixels->columns ? GF_COLUMNS_ROWS : rows, count;
    ptrdiff_t top = y0 + pixels->step->origin_y;
    unsigned char *row = to->samples;
    work.first = to->x0;
    for (; rows > 0; rows -= count, top += (ptrdiff_t)count, row += count * to->stride) {
        GfColumnsWork columns;
        count = gf_min(rows, most);
        if (pixels->columns)
            columns = gf_columns_begin(pixels->columns, input, top, count, x0, scratch.tall);
        for (work.x0 = x0; work.x0 < x1; work.x0 += work.width) {
            work.width = gf_min(pixels->width, x1 - work.x0);
            if (pixels->columns) {
                gf_columns_next(&columns, work.width);
                run_sums(&work, &columns, top, count, row, to->stride);
            } else {
                run_window(&work, top, count, row, to->stride);
            }
        }
    }
}
