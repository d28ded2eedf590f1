/* A window of thousands of rows is far larger than a cache, and its rows far apart: summed up row
 * by row, each output row would bring all of it from memory, piece by piece from page after page.
 * So a few columns at a time are brought, in panels in which their rows follow each other, and a
 * panel is summed for several output rows at once, each sample being loaded once for all of them.
 * Taps that one output row does not have are zeros, which change no bit of its sum (but beside
 * numbers that are not finite: then the rows are summed one by one). A column that has the samples
 * of one that is summed already, since the border repeats that, is not summed again.
 *
 * The sums of columns that the next ones' rows of taps meet, too, are kept, so that memory depends
 * on the kernel alone. */
#include "cpu/columns.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "cpu/padded.h"

enum { LEAST_TAPS = 48, PANEL_BYTES = 4 * GF_ALIGNMENT, PANELS = 4 };

enum { REPEATED = 64 }; /* pixels at once, at most */

/* The taps of a column from the first to the last that is not zero. */
typedef struct Column {
    void *taps
        [GF_MIX_MAPS]; /* [n - 1]: for n rows at once, as GfRowFunctions.mix wants them; owned */
    size_t first, count;
} Column;

struct GfColumns {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real, pixel; /* bytes of a sum, and of a pixel's */
    size_t width;       /* pixels at once */
    size_t panels;      /* that those lie in */
    size_t panel_bytes; /* of the window's rows */
    size_t row_bytes;   /* of results: of the pixels that the next ones need, and of those */
    Column *columns;    /* one a kernel */
};

bool gf_columns_pay(const GfStep *step)
{
    return step->kind == GF_STEP_FILTER && step->separable && step->taps_y >= LEAST_TAPS;
}

/* ---- preparation ---- */

static GfStatus make_column(Column *column, const double *taps, size_t height, size_t real)
{
    size_t last = height;
    while (last > 0 && taps[last - 1] == 0.0)
        last--;
    while (column->first < last && taps[column->first] == 0.0)
        column->first++;
    column->count = last - column->first;
    for (size_t n = 1; n <= GF_MIX_MAPS; n++) {
        size_t rows = column->count + n - 1;
        GF_TRY(gf_allocate_zero(rows * n, real, &column->taps[n - 1]));
        for (size_t m = 0; m < n; m++)
            for (size_t k = 0; k < column->count; k++)
                gf_set_real(column->taps[n - 1], real, (m + k) * n + m, taps[column->first + k]);
    }
    return GF_OK;
}

static size_t panels_of(const GfColumns *columns, size_t pixels)
{
    return (pixels * columns->pixel + PANEL_BYTES - 1) / PANEL_BYTES;
}

/* Whole runs of vectors at once but at a strip's end: vectors by themselves are slower to sum, and
 * single samples may be rounded otherwise. */
static GfStatus set_sizes(GfColumns *columns)
{
    const GfStep *step = columns->step;
    size_t height = step->taps_y + GF_COLUMNS_ROWS - 1, pixels, window, results;
    size_t together = 2 * PANEL_BYTES / columns->real;
    columns->pixel = step->channels * columns->real;
    columns->width = gf_max(PANELS * PANEL_BYTES / columns->pixel / together, 1) * together;
    columns->panels = panels_of(columns, columns->width);
    columns->panel_bytes = height * PANEL_BYTES;
    pixels = columns->width + step->taps_x - 1;
    if (!gf_mul(columns->panels, columns->panel_bytes, &window) || window > SIZE_MAX / 4 ||
        !gf_mul(pixels, columns->pixel, &results) || results > SIZE_MAX / 4)
        return gf_fail(GF_EMEMORY, "%zu rows of %zu channels are too many", height, step->channels);
    columns->row_bytes = gf_align(results) + PANEL_BYTES; /* panels are summed whole */
    if (!gf_mul(columns->row_bytes, step->linear.filters * GF_COLUMNS_ROWS, &results) ||
        results > SIZE_MAX / 4)
        return gf_fail(GF_EMEMORY, "%zu kernels are too many", step->linear.filters);
    return GF_OK;
}

GfStatus gf_columns_create(const GfStep *step, const GfRowFunctions *functions, size_t real,
                           GfColumns **out)
{
    GfColumns *columns;
    GfStatus status;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *columns, &columns));
    columns->step = step;
    columns->functions = functions;
    columns->real = real;
    GF_GO(set_sizes(columns));
    GF_GO(gf_allocate_zero(step->linear.filters, sizeof *columns->columns, &columns->columns));
    for (size_t f = 0; f < step->linear.filters; f++)
        GF_GO(make_column(&columns->columns[f], step->linear.columns + f * step->linear.height,
                          step->linear.height, real));
    *out = columns;
    columns = NULL;
done:
    gf_columns_free(columns);
    return status;
}

size_t gf_columns_width(const GfColumns *columns)
{
    return columns->width;
}

void gf_columns_free(GfColumns *columns)
{
    if (!columns)
        return;
    for (size_t f = 0; columns->columns && f < columns->step->linear.filters; f++)
        for (size_t n = 0; n < GF_MIX_MAPS; n++)
            free(columns->columns[f].taps[n]);
    free(columns->columns);
    free(columns);
}

/* Lays out a thread's memory from `memory` on, which may be NULL; returns its bytes. */
static size_t lay_scratch(const GfColumns *columns, unsigned char *memory, GfColumnsWork *work)
{
    size_t row = columns->panels * columns->panel_bytes;
    size_t results = row + columns->panels * PANEL_BYTES;
    size_t rows = columns->step->linear.filters * GF_COLUMNS_ROWS;
    size_t tops = results + rows * columns->row_bytes;
    size_t sources = tops + gf_align(GF_MIX_MAPS * sizeof(void *));
    *work = (GfColumnsWork){.columns = columns};
    if (memory) {
        work->window = memory;
        work->row = memory + row;
        work->results = memory + results;
        work->tops = (void **)(void *)(memory + tops);
        work->sources = (const void **)(void *)(memory + sources);
    }
    return sources + gf_align((columns->step->taps_y + GF_MIX_MAPS - 1) * sizeof(void *));
}

size_t gf_columns_scratch(const GfColumns *columns)
{
    GfColumnsWork work;
    return lay_scratch(columns, NULL, &work);
}

/* ---- one thread's work ---- */

GfColumnsWork gf_columns_begin(const GfColumns *columns, const GfStepInput *input, ptrdiff_t y,
                               size_t rows, size_t x0, void *memory)
{
    GfColumnsWork work;
    lay_scratch(columns, memory, &work);
    work.input = input;
    work.y = y;
    work.rows = rows;
    work.x = x0;
    return work;
}

static unsigned char *result_row(const GfColumnsWork *work, size_t f, size_t m)
{
    return work->results + (f * GF_COLUMNS_ROWS + m) * work->columns->row_bytes;
}

const void *gf_columns_results(const GfColumnsWork *work, size_t f, size_t m)
{
    return result_row(work, f, m);
}

/* Brings the next `pixels` of all rows that the output rows meet. */
static void load(GfColumnsWork *work, size_t pixels)
{
    const GfColumns *columns = work->columns;
    const GfStep *step = columns->step;
    const GfPadded padded = {step, columns->functions, columns->real, 0, step->channels};
    size_t panels = panels_of(columns, pixels), rows = work->rows + step->taps_y - 1;
    work->finite_from = 0;
    for (size_t r = 0; r < rows; r++) {
        gf_padded_load(&padded, work->input, work->y + (ptrdiff_t)r, work->x, pixels, work->row);
        for (size_t p = 0; p < panels; p++)
            memcpy(work->window + p * columns->panel_bytes + r * PANEL_BYTES,
                   work->row + p * PANEL_BYTES, PANEL_BYTES);
        if (gf_sample_is_float(step->in) &&
            !columns->functions->finite(work->row, pixels * step->channels))
            work->finite_from = r + 1;
    }
}

/* The results of kernel f and panel p for `rows` output rows, 1 to GF_MIX_MAPS, from row m on:
 * their bits do not depend on how many there are. */
static void sum_rows(const GfColumnsWork *work, size_t f, size_t p, size_t m, size_t rows)
{
    const GfColumns *columns = work->columns;
    const GfRowFunctions *functions = columns->functions;
    const Column *column = &columns->columns[f];
    size_t count = column->count + rows - 1, samples = PANEL_BYTES / columns->real;
    size_t at = work->ready * columns->pixel + p * PANEL_BYTES;
    for (size_t k = 0; k < count; k++)
        work->sources[k] =
            work->window + p * columns->panel_bytes + (m + column->first + k) * PANEL_BYTES;
    for (size_t n = 0; n < rows; n++)
        work->tops[n] = result_row(work, f, m + n) + at;
    if (rows > 1)
        functions->mix(work->tops, rows, work->sources, column->taps[rows - 1], count, samples,
                       false);
    else
        functions->sum(work->tops[0], work->sources, column->taps[0], count, samples, false);
}

/* Appends the results of the next `pixels`. */
static void add_pixels(GfColumnsWork *work, size_t pixels)
{
    const GfColumns *columns = work->columns;
    size_t panels = panels_of(columns, pixels), together;
    load(work, pixels);
    for (size_t f = 0; f < columns->step->linear.filters; f++)
        for (size_t p = 0; p < panels; p++)
            for (size_t m = 0; m < work->rows; m += together) {
                together = m >= work->finite_from ? gf_min(GF_MIX_MAPS, work->rows - m) : 1;
                sum_rows(work, f, p, m, together);
            }
    work->x += pixels;
    work->ready += pixels;
}

/* How far before column x of the input, beyond a side or not, the nearest column lies that has the
 * same samples wherever the rows come from; 0: nowhere. */
static size_t find_alike(const GfStep *step, ptrdiff_t x)
{
    ptrdiff_t width = (ptrdiff_t)step->in_width, turn = width;
    switch (step->border) {
    case GF_BORDER_REPLICATE:
        return x <= 0 || x >= width;
    case GF_BORDER_CONSTANT:
        return x < 0 || x > width;
    case GF_BORDER_WRAP:
        return step->in_width;
    case GF_BORDER_REFLECT:
        return 2 * (size_t)((x % turn + turn) % turn) + 1;
    case GF_BORDER_REFLECT101:
        if (width == 1)
            return 1;
        turn = width - 1;
        x = (x % turn + turn) % turn;
        return 2 * (size_t)(x > 0 ? x : turn);
    case GF_BORDER_VALID:
        break;
    }
    return 0;
}

/* The same for the pixel that comes after `more` others, where that is among those and the ones
 * that have results. */
static size_t find_ready(const GfColumnsWork *work, size_t more)
{
    const GfStep *step = work->columns->step;
    size_t back = find_alike(step, (ptrdiff_t)(work->x + more) + step->origin_x);
    return back <= work->ready + more ? back : 0;
}

/* Appends the results of so many pixels, each the same as those of the pixel back[] before it. */
static void repeat_pixels(GfColumnsWork *work, const size_t *back, size_t pixels)
{
    const GfColumns *columns = work->columns;
    size_t pixel = columns->pixel;
    for (size_t f = 0; f < columns->step->linear.filters; f++)
        for (size_t m = 0; m < work->rows; m++) {
            unsigned char *to = result_row(work, f, m) + work->ready * pixel;
            for (size_t i = 0; i < pixels; i++, to += pixel)
                memcpy(to, to - back[i] * pixel, pixel);
        }
    work->x += pixels;
    work->ready += pixels;
}

/* Moves the results that the next columns need, too, to where theirs begin. */
static void keep_results(GfColumnsWork *work)
{
    const GfColumns *columns = work->columns;
    size_t kept = columns->step->taps_x - 1;
    for (size_t f = 0; f < columns->step->linear.filters; f++)
        for (size_t m = 0; m < work->rows; m++) {
            unsigned char *row = result_row(work, f, m);
            memmove(row, row + (work->ready - kept) * columns->pixel, kept * columns->pixel);
        }
    work->ready = kept;
}

void gf_columns_next(GfColumnsWork *work, size_t width)
{
    size_t needed = width + work->columns->step->taps_x - 1;
    if (work->ready > 0)
        keep_results(work);
    while (work->ready < needed) {
        size_t left = needed - work->ready, back[REPEATED], pixels = 0;
        while (pixels < gf_min(left, REPEATED) && (back[pixels] = find_ready(work, pixels)) > 0)
            pixels++;
        if (pixels > 0) {
            repeat_pixels(work, back, pixels);
            continue;
        }
        do
            pixels++;
        while (pixels < gf_min(work->columns->width, left) && find_ready(work, pixels) == 0);
        add_pixels(work, pixels);
    }
}
