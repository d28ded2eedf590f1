/* A window of padded rows slides down the input: each input row is converted to the type of the
 * sums once, with the border already laid out at both ends. Pixels need not be taken apart for
 * that: a row is one run of samples, and neighbouring taps are `channels` samples apart. The
 * columns of tall kernels are summed elsewhere, for several rows at once (columns.h).
 *
 * A window of many long rows is larger than a cache, and each thread has one: there the parts of a
 * row are strips of columns. Threads share these first, and rows where there are too few: what two
 * runs of rows meet is loaded for each.
 *
 * Scratch memory of a thread: the window (as many rows as the kernel), one padded row for a
 * column's result, and the responses of the bank, all as wide as a strip. */
#include "cpu/pixels.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/bank.h"
#include "cpu/columns.h"
#include "cpu/finish.h"
#include "cpu/padded.h"

enum {
    WINDOW_BYTES = 512 << 10, /* of a strip of columns */
    LEAST_STRIP = 16,         /* times the taps of a row: what two strips meet is done twice */
    LEAST_ROWS = 8
};

struct GfPixels {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;                    /* bytes of a sum */
    size_t strip;                   /* columns of the output that are computed at once */
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
    unsigned char *rows;         /* the responses */
    unsigned char *tall;         /* for columns.h */
    unsigned char *ready, *laid; /* its results with the border: their places, and they */
} Scratch;

/* Lays out a thread's memory from `memory` on, which may be NULL; returns its bytes, or 0 when they
 * are too many. */
static size_t lay_scratch(const GfPixels *pixels, unsigned char *memory, Scratch *scratch)
{
    unsigned char **part[] = {
        &scratch->window,   &scratch->column, &scratch->saved, &scratch->y,     &scratch->sources,
        &scratch->row_list, &scratch->rows,   &scratch->tall,  &scratch->ready, &scratch->laid};
    bool tall = pixels->columns != NULL;
    size_t counts[] = {tall ? 0 : pixels->height,
                       1,
                       1,
                       pixels->height,
                       pixels->bank.longest,
                       pixels->responses,
                       pixels->responses,
                       1,
                       tall ? pixels->responses : 0,
                       tall ? pixels->responses : 0};
    size_t sizes[] = {pixels->padded_bytes, pixels->padded_bytes,
                      pixels->row_bytes,    sizeof(size_t),
                      sizeof(void *),       sizeof(void *),
                      pixels->row_bytes,    tall ? gf_columns_scratch(pixels->columns) : 0,
                      sizeof(void *),       pixels->padded_bytes};
    size_t at = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        size_t bytes;
        *part[i] = memory ? memory + at : NULL;
        if (!gf_mul(counts[i], sizes[i], &bytes) || !gf_add(bytes, GF_ALIGNMENT - 1, &bytes) ||
            !gf_add(at, bytes / GF_ALIGNMENT * GF_ALIGNMENT, &at))
            return 0;
    }
    return at;
}

/* All columns where the window is small, or where a strip at one end would need those of the
 * other. */
static size_t choose_strip(const GfStep *step, size_t real)
{
    bool tall = gf_columns_pay(step);
    size_t height = step->taps_y + (tall ? GF_MIX_MAPS - 1 : 0);
    size_t columns = WINDOW_BYTES / real / step->channels / height;
    columns = gf_max(columns, LEAST_STRIP * step->taps_x);
    if (step->kind != GF_STEP_FILTER || columns >= step->out_width ||
        (tall && step->border == GF_BORDER_WRAP))
        return step->out_width;
    size_t strips = (step->out_width + columns - 1) / columns;
    return (step->out_width + strips - 1) / strips;
}

static GfStatus set_sizes(GfPixels *pixels)
{
    const GfStep *step = pixels->step;
    size_t columns, row, padded;
    pixels->strip = choose_strip(step, pixels->real);
    if (!gf_add(pixels->strip, step->taps_x - 1, &columns) ||
        !gf_mul(columns, step->channels, &padded) || !gf_mul(pixels->strip, step->channels, &row) ||
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
    GF_GO(set_sizes(pixels));
    GF_GO(gf_allocate(step->taps_x, sizeof *pixels->x, &pixels->x));
    for (size_t k = 0; k < step->taps_x; k++)
        pixels->x[k] = k * step->channels * pixels->real;
    if (step->kind == GF_STEP_FILTER)
        GF_GO(gf_row_bank_create(&pixels->bank, step, pixels->functions, pixels->real));
    if (gf_columns_pay(step))
        GF_GO(gf_columns_create(step, pixels->functions, pixels->real, pixels->strip,
                                &pixels->columns));
    pixels->scratch = lay_scratch(pixels, NULL, &scratch);
    if (pixels->scratch == 0)
        GF_GO(gf_fail(GF_EMEMORY, "rows of %zu pixels are too long", step->out_width));
    *out = pixels;
    pixels = NULL;
done:
    gf_pixels_free(pixels);
    return status;
}

size_t gf_pixels_parts(const GfPixels *pixels)
{
    return (pixels->step->out_width + pixels->strip - 1) / pixels->strip;
}

/* Of a strip: fewer would have more rows loaded for them than are worth while. */
size_t gf_pixels_least_rows(const GfPixels *pixels)
{
    return gf_pixels_parts(pixels) > 1 ? LEAST_ROWS : 1;
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

/* What a thread computes with, and the strip that it is at. */
typedef struct Work {
    const GfPixels *pixels;
    size_t x0, width; /* columns of the output */
    unsigned char *window;
    size_t *y;
    void *saved;
    GfRowBankMemory bank;
    GfColumnsWork columns;
    unsigned char *laid;
} Work;

static Work make_work(const GfPixels *pixels, size_t x0, void *memory)
{
    Scratch scratch;
    lay_scratch(pixels, memory, &scratch);
    Work work = {.pixels = pixels, .x0 = x0, .window = scratch.window, .saved = scratch.saved};
    work.width = gf_min(pixels->strip, pixels->step->out_width - x0);
    work.y = (size_t *)(void *)scratch.y;
    work.bank = (GfRowBankMemory){scratch.column, NULL, (const void **)(void *)scratch.sources,
                                  (void **)(void *)scratch.row_list};
    for (size_t f = 0; f < pixels->responses; f++)
        work.bank.responses[f] = scratch.rows + f * pixels->row_bytes;
    if (!pixels->columns)
        return work;
    work.columns = gf_columns_begin(pixels->columns, x0, work.width, scratch.tall);
    work.laid = scratch.laid;
    const void **ready = (const void **)(void *)scratch.ready;
    for (size_t f = 0; f < pixels->responses; f++)
        ready[f] = work.laid + f * pixels->padded_bytes;
    work.bank.ready = ready;
    return work;
}

/* Bytes from the window's begin to its row r, which counts from the first row that the first output
 * row meets. */
static size_t window_row(const GfPixels *pixels, size_t r)
{
    return r % pixels->height * pixels->padded_bytes;
}

/* Columns that the strip meets. */
static size_t padded_width(const Work *work)
{
    return work->width + work->pixels->step->taps_x - 1;
}

/* Brings input row y (beyond the picture: what the border says) to row r of the window. */
static void load_window_row(Work *work, const GfStepInput *input, ptrdiff_t y, size_t r)
{
    const GfPixels *pixels = work->pixels;
    size_t channels = pixels->step->channels;
    const GfPadded padded = {pixels->step, pixels->functions, pixels->real, 0, channels};
    if (pixels->columns)
        gf_columns_load(&work->columns, input, y, r);
    else
        gf_padded_load(&padded, input, y, work->x0, padded_width(work),
                       work->window + window_row(pixels, r));
}

/* Opacity under the anchor, of the output row that begins with row r of the window: inside the
 * picture. */
static const unsigned char *kept_opacity(const Work *work, size_t r)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    size_t last = (step->channels - 1) * pixels->real;
    if (!pixels->columns)
        return work->window + work->y[step->linear.anchor_y] + pixels->x[step->linear.anchor_x] +
               last;
    size_t x = work->x0 + (size_t)(step->origin_x + (ptrdiff_t)step->linear.anchor_x);
    const unsigned char *row = gf_columns_row(&work->columns, r + step->linear.anchor_y);
    return row + (x - work->columns.first) * step->channels * pixels->real + last;
}

/* The combined response in the output row that begins with row r of the window. */
static void filter_row(const Work *work, size_t r)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    for (size_t k = 0; k < pixels->height; k++)
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
                                        kept_opacity(work, r), 1.0, step->channels, work->width);
}

static void opacity_row(const Work *work, size_t r)
{
    const GfPixels *pixels = work->pixels;
    const GfStep *step = pixels->step;
    void *row = work->bank.responses[0];
    memcpy(row, work->window + window_row(pixels, r), pixels->row * pixels->real);
    if (step->kind == GF_STEP_PREMULTIPLY)
        pixels->functions->premultiply(row, step->channels, step->white, step->out_width);
    else
        pixels->functions->unpremultiply(row, step->channels, step->white, step->alpha_gain,
                                         step->out_width);
}

/* The output row that begins with row r of the window, `m` after the first of those summed
 * together. */
static void make_row(const Work *work, size_t r, size_t m)
{
    const GfPixels *pixels = work->pixels;
    size_t padded = padded_width(work) * pixels->step->channels;
    for (size_t f = 0; pixels->columns && f < pixels->responses; f++)
        gf_columns_lay(&work->columns, f, m, work->laid + f * pixels->padded_bytes, padded);
    if (pixels->step->kind == GF_STEP_FILTER)
        filter_row(work, r);
    else
        opacity_row(work, r);
    gf_finish_pixels(pixels->step, pixels->functions, pixels->real, work->width,
                     work->bank.responses[0], work->saved);
}

/* The strip from column x0 on. */
static void run_strip(const GfPixels *pixels, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                      size_t x0, unsigned char *to, size_t stride, void *memory)
{
    const GfStep *step = pixels->step;
    Work work = make_work(pixels, x0, memory);
    ptrdiff_t top = y0 + step->origin_y;
    size_t rows = (size_t)(y1 - y0), loaded = 0, together = pixels->columns ? GF_MIX_MAPS : 1;
    for (size_t r = 0; r < rows; r += together) {
        size_t count = gf_min(together, rows - r);
        for (; loaded < r + count - 1 + pixels->height; loaded++)
            load_window_row(&work, input, top + (ptrdiff_t)loaded, loaded);
        if (pixels->columns)
            gf_columns_sum(&work.columns, r, count);
        for (size_t m = 0; m < count; m++) {
            make_row(&work, r + m, m);
            pixels->functions->store(to + (r + m) * stride, step->out, 1, work.bank.responses[0],
                                     work.width * step->channels);
        }
    }
}

void gf_pixels_run(const GfPixels *pixels, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                   size_t part, void *to, size_t stride, void *memory)
{
    const GfStep *step = pixels->step;
    size_t pixel = step->channels * gf_sample_size(step->out), x0 = part * pixels->strip;
    run_strip(pixels, input, y0, y1, x0, (unsigned char *)to + x0 * pixel, stride, memory);
}
