/* A window of thousands of rows is far larger than a cache, and its rows far apart: summed up row
 * by row, each output row would bring all of it from memory, piece by piece from page after page.
 * So the window is kept in panels, a few columns wide, in which its rows follow each other, and a
 * panel is summed for several output rows at once, each sample being loaded once for all of them.
 * Taps that one output row does not have are zeros, which change no bit of its sum (but beside
 * numbers that are not finite: then the rows are summed one by one).
 *
 * Outside the picture columns repeat those inside, so their sums do, too, and only the results are
 * padded. */
#include "cpu/columns.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum { LEAST_TAPS = 48, PANEL_BYTES = 4 * GF_ALIGNMENT };

/* The taps of a column from the first to the last that is not zero. */
typedef struct Column {
    void *taps
        [GF_MIX_MAPS]; /* [n - 1]: for n rows at once, as GfRowFunctions.mix wants them; owned */
    size_t first, count;
} Column;

struct GfColumns {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;
    size_t samples;  /* of a row of a strip, at most, and one that is the border's constant */
    size_t panels;   /* of a row */
    size_t capacity; /* rows of the window */
    size_t row_bytes, panel_bytes;
    Column *columns; /* one a kernel */
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

GfStatus gf_columns_create(const GfStep *step, const GfRowFunctions *functions, size_t real,
                           size_t strip, GfColumns **out)
{
    GfColumns *columns;
    GfStatus status;
    size_t bytes;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *columns, &columns));
    columns->step = step;
    columns->functions = functions;
    columns->real = real;
    /* The border may stand for columns on the other side of those under the taps. */
    columns->samples = gf_min(step->in_width, strip + 2 * step->taps_x) * step->channels + 1;
    columns->capacity = step->taps_y + GF_MIX_MAPS - 1;
    columns->panels = (columns->samples * real + PANEL_BYTES - 1) / PANEL_BYTES;
    columns->row_bytes = columns->panels * PANEL_BYTES;
    columns->panel_bytes = columns->capacity * PANEL_BYTES;
    if (!gf_mul(columns->panels, columns->panel_bytes, &bytes) || bytes > SIZE_MAX / 2)
        GF_GO(gf_fail(GF_EMEMORY, "%zu rows of %zu pixels are too many", columns->capacity,
                      step->in_width));
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
    size_t results = columns->step->linear.filters * GF_MIX_MAPS;
    size_t row = columns->panels * columns->panel_bytes, result = row + columns->row_bytes;
    size_t tops = result + results * columns->row_bytes;
    size_t sources = tops + gf_align(GF_MIX_MAPS * sizeof(void *));
    *work = (GfColumnsWork){.columns = columns};
    if (memory) {
        work->window = memory;
        work->row = memory + row;
        work->results = memory + result;
        work->tops = (void **)(void *)(memory + tops);
        work->sources = (const void **)(void *)(memory + sources);
    }
    return sources + gf_align(columns->capacity * sizeof(void *));
}

size_t gf_columns_scratch(const GfColumns *columns)
{
    GfColumnsWork work;
    return lay_scratch(columns, NULL, &work);
}

/* ---- one thread's work ---- */

/* Finds the columns that `width` outputs from x0 on meet, those for which the border stands
 * included. */
static void find_pixels(const GfStep *step, size_t width, GfColumnsWork *work)
{
    ptrdiff_t begin = (ptrdiff_t)work->x0 + step->origin_x;
    ptrdiff_t end = begin + (ptrdiff_t)(width + step->taps_x - 1);
    size_t first = step->in_width, last = 0;
    for (ptrdiff_t x = begin; x < end; x++) {
        long long at = gf_border_index(x, (long long)step->in_width, step->border);
        if (at < 0)
            continue;
        first = gf_min(first, (size_t)at);
        last = gf_max(last, (size_t)at + 1);
    }
    work->first = gf_min(first, last);
    work->pixels = last - work->first;
}

GfColumnsWork gf_columns_begin(const GfColumns *columns, size_t x0, size_t width, void *memory)
{
    GfColumnsWork work;
    lay_scratch(columns, memory, &work);
    work.x0 = x0;
    find_pixels(columns->step, width, &work);
    return work;
}

/* Samples of a row of this strip; the one after them is the border's constant. */
static size_t strip_samples(const GfColumnsWork *work)
{
    return work->pixels * work->columns->step->channels;
}

/* Panels that those lie in. */
static size_t strip_panels(const GfColumnsWork *work)
{
    return ((strip_samples(work) + 1) * work->columns->real + PANEL_BYTES - 1) / PANEL_BYTES;
}

/* Row r of panel p. */
static unsigned char *panel_row(const GfColumnsWork *work, size_t p, size_t r)
{
    const GfColumns *columns = work->columns;
    return work->window + p * columns->panel_bytes + r % columns->capacity * PANEL_BYTES;
}

void gf_columns_load(GfColumnsWork *work, const GfStepInput *input, ptrdiff_t y, size_t r)
{
    const GfColumns *columns = work->columns;
    const GfStep *step = columns->step;
    size_t samples = strip_samples(work), panels = strip_panels(work);
    size_t rest = panels * PANEL_BYTES / columns->real - samples;
    size_t left = work->first * step->channels * gf_sample_size(step->in);
    const unsigned char *row = gf_step_input_row(step, input, step->border, y);
    if (row)
        columns->functions->load(work->row, row + left, step->in, 1, samples);
    else
        columns->functions->fill(work->row, step->border_value, samples);
    columns->functions->fill(work->row + samples * columns->real, step->border_value, rest);
    for (size_t p = 0; p < panels; p++)
        memcpy(panel_row(work, p, r), work->row + p * PANEL_BYTES, PANEL_BYTES);
    if (gf_sample_is_float(step->in) && !columns->functions->finite(work->row, samples))
        work->finite_from = r + 1;
}

static void sum_rows(const GfColumnsWork *work, size_t f, size_t r, size_t m, size_t rows)
{
    const GfColumns *columns = work->columns;
    const GfRowFunctions *functions = columns->functions;
    const Column *column = &columns->columns[f];
    size_t count = column->count + rows - 1, samples = PANEL_BYTES / columns->real;
    size_t panels = strip_panels(work);
    for (size_t k = 0; k < count; k++)
        work->sources[k] = panel_row(work, 0, r + column->first + k);
    for (size_t n = 0; n < rows; n++)
        work->tops[n] = work->results + (f * GF_MIX_MAPS + m + n) * columns->row_bytes;
    for (size_t p = 0; p < panels; p++) {
        if (rows > 1)
            functions->mix(work->tops, rows, work->sources, column->taps[rows - 1], count, samples,
                           false);
        else
            functions->sum(work->tops[0], work->sources, column->taps[0], count, samples, false);
        for (size_t k = 0; k < count; k++)
            work->sources[k] = (const unsigned char *)work->sources[k] + columns->panel_bytes;
        for (size_t n = 0; n < rows; n++)
            work->tops[n] = (unsigned char *)work->tops[n] + PANEL_BYTES;
    }
}

void gf_columns_sum(const GfColumnsWork *work, size_t r, size_t rows)
{
    bool finite = r >= work->finite_from;
    for (size_t f = 0; f < work->columns->step->linear.filters; f++)
        for (size_t m = 0; m < rows; m += finite ? rows : 1)
            sum_rows(work, f, r + m, m, finite ? rows : 1);
}

void gf_columns_lay(const GfColumnsWork *work, size_t f, size_t m, void *to, size_t padded)
{
    const GfColumns *columns = work->columns;
    const GfStep *step = columns->step;
    const unsigned char *result = work->results + (f * GF_MIX_MAPS + m) * columns->row_bytes;
    const unsigned char *constant = result + strip_samples(work) * columns->real;
    size_t pixel = step->channels * columns->real;
    ptrdiff_t width = (ptrdiff_t)step->in_width, count = (ptrdiff_t)(padded / step->channels);
    ptrdiff_t x0 = (ptrdiff_t)work->x0 + step->origin_x, x1 = x0 + count;
    ptrdiff_t first = x0 > 0 ? x0 : 0, last = x1 < width ? x1 : width; /* on the picture */
    unsigned char *row = to;
    if (first < last)
        memcpy(row + (size_t)(first - x0) * pixel, result + ((size_t)first - work->first) * pixel,
               (size_t)(last - first) * pixel);
    for (ptrdiff_t x = x0; x < x1; x++, row += pixel) {
        if (x >= first && x < last) {
            row += (size_t)(last - x) * pixel;
            x = last;
        }
        if (x >= x1)
            return;
        long long at = gf_border_index(x, width, step->border);
        if (at >= 0)
            memcpy(row, result + ((size_t)at - work->first) * pixel, pixel);
        else
            for (size_t c = 0; c < step->channels; c++)
                memcpy(row + c * columns->real, constant, columns->real);
    }
}

const void *gf_columns_row(const GfColumnsWork *work, size_t r)
{
    for (size_t p = 0; p < strip_panels(work); p++)
        memcpy(work->row + p * PANEL_BYTES, panel_row(work, p, r), PANEL_BYTES);
    return work->row;
}
