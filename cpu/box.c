/* The sums of columns are kept from one output row to the next: a row comes, and a row goes. Along
 * a row, sums of 4, 16, 64, ... columns side by side are made of each other, and the sum under the
 * taps of those: 31 columns are 3, 3 times 4, and 16. As sums of integers those of columns are not
 * rounded, and it is all the same from which row on they were summed. */
#include "cpu/box.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/bank.h"
#include "cpu/finish.h"
#include "cpu/padded.h"

enum { LEAST_TAPS = 8, RADIX = 4, LEAST_PIECE = 1024 };

struct GfBox {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;  /* bytes of a sum */
    size_t piece; /* output pixels that are computed at once: their sums stay in a cache */
    size_t bytes; /* of those under a piece's taps */
    double ones[RADIX], change[2]; /* taps, of the type of the sums: all 1; 1 and -1 */
};

/* ---- when ---- */

static bool are_same(const double *taps, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (taps[i] != taps[0])
            return false;
    return true;
}

/* Of the integers in a column under the taps, and of one more. */
static double largest_column(const GfStep *step)
{
    return fmax(step->white, fabs(step->border_value)) * ((double)step->linear.height + 1.0);
}

/* In f32 sums of columns are exact to 2^24, and a mean of 255 of them errs by less than 24
 * roundings, 7e-7 of white: enough for all samples, but not for what follows in pipelines that need
 * f64. */
static bool needs_f64(const GfPipeline *pipeline, size_t i)
{
    const GfStep *step = &pipeline->steps[i];
    const GfLinear *linear = &step->linear;
    double sum = linear->columns[0] * (double)linear->height * linear->rows[0] *
                 (double)linear->width * linear->scale;
    bool mean = pipeline->count == 1 && step->posts == 0 && fabs(sum) < 1.001;
    return linear->width > 255 || largest_column(step) > 0x1p24 || (pipeline->wide && !mean);
}

bool gf_box_pays(const GfPipeline *pipeline, size_t i)
{
    const GfStep *step = &pipeline->steps[i];
    const GfLinear *linear = &step->linear;
    return gf_step_is_bank(step) && step->separable && linear->filters == 1 &&
           !gf_sample_is_float(step->in) && step->border_value == rint(step->border_value) &&
           gf_max(linear->width, linear->height) >= LEAST_TAPS &&
           are_same(linear->columns, linear->height) && are_same(linear->rows, linear->width) &&
           largest_column(step) < 0x1p53;
}

/* ---- preparation ---- */

GfStatus gf_box_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows, GfBox **out)
{
    const GfStep *step = &pipeline->steps[i];
    GfBox *box;
    GF_TRY(gf_allocate_zero(1, sizeof *box, out));
    box = *out;
    box->step = step;
    box->functions = &rows->functions[needs_f64(pipeline, i)];
    box->real = needs_f64(pipeline, i) ? sizeof(double) : sizeof(float);
    box->piece = gf_max(LEAST_PIECE / step->channels + 1, 4 * step->taps_x);
    box->piece = gf_min(box->piece, step->out_width);
    box->bytes = gf_align((box->piece + step->taps_x - 1) * step->channels * box->real);
    for (size_t k = 0; k < RADIX; k++)
        gf_set_real(box->ones, box->real, k, 1.0);
    gf_set_real(box->change, box->real, 0, 1.0);
    gf_set_real(box->change, box->real, 1, -1.0);
    return GF_OK;
}

void gf_box_free(GfBox *box)
{
    free(box);
}

enum { THREAD_ROWS = 4 }; /* of Work */

size_t gf_box_scratch(const GfBox *box)
{
    return THREAD_ROWS * box->bytes;
}

size_t gf_box_parts(const GfBox *box)
{
    return (box->step->out_width + box->piece - 1) / box->piece;
}

/* As many rows are summed before the first. */
size_t gf_box_least_rows(const GfBox *box)
{
    return box->step->taps_y;
}

/* ---- one thread's work ---- */

/* A piece: output pixels [x, x + pixels), and `padded` under their taps. */
typedef struct Work {
    const GfBox *box;
    const GfStepInput *input;
    size_t x, pixels, padded;
    unsigned char *columns; /* sums of the padded rows under the taps of an output row */
    unsigned char *rows[2]; /* padded rows, then sums of some columns side by side */
    unsigned char *sums;    /* under all taps */
} Work;

static void load(const Work *work, ptrdiff_t y, size_t i)
{
    const GfBox *box = work->box;
    const GfPadded padded = {box->step, box->functions, box->real, 0, box->step->channels};
    gf_padded_load(&padded, work->input, y, work->x, work->padded, work->rows[i]);
}

/* The sums of columns under the taps of a run's first output row, from input row y on. */
static void begin_columns(const Work *work, ptrdiff_t y)
{
    const GfBox *box = work->box;
    const void *row = work->rows[0];
    for (size_t k = 0; k < box->step->taps_y; k++) {
        load(work, y + (ptrdiff_t)k, 0);
        box->functions->sum(work->columns, &row, box->ones, 1, work->padded * box->step->channels,
                            k > 0);
    }
}

/* The same of the next one, from input row y on. */
static void move_columns(const Work *work, ptrdiff_t y)
{
    const GfBox *box = work->box;
    const void *rows[] = {work->rows[0], work->rows[1]};
    load(work, y + (ptrdiff_t)box->step->taps_y - 1, 0);
    load(work, y - 1, 1);
    box->functions->sum(work->columns, rows, box->change, 2, work->padded * box->step->channels,
                        true);
}

/* to[i] = sum of `count` samples of `from`, every `apart`-th pixel's from pixel `first` on; or is
 * added to it. */
static void sum_pixels(const GfBox *box, void *to, const unsigned char *from, size_t first,
                       size_t apart, size_t count, size_t pixels, bool add)
{
    const void *sources[RADIX];
    size_t channels = box->step->channels;
    for (size_t k = 0; k < count; k++)
        sources[k] = from + (first + k * apart) * channels * box->real;
    box->functions->sum(to, sources, box->ones, count, pixels * channels, add);
}

static void sum_row(const Work *work)
{
    const GfBox *box = work->box;
    const unsigned char *from = work->columns; /* `pixels` sums of `size` columns each */
    size_t taps = box->step->taps_x, pixels = work->padded, done = 0;
    for (size_t i = 0, size = 1;; i++, size *= RADIX) {
        size_t digit = taps / size % RADIX;
        if (digit > 0)
            sum_pixels(box, work->sums, from, done, size, digit, work->pixels, done > 0);
        done += digit * size;
        if (done == taps)
            return;
        pixels -= (RADIX - 1) * size;
        sum_pixels(box, work->rows[i % 2], from, 0, size, RADIX, pixels, false);
        from = work->rows[i % 2];
    }
}

/* Opacity that is kept: of the pixels under the anchor, the window beginning with input row y. */
static void keep_opacity(const Work *work, ptrdiff_t y)
{
    const GfBox *box = work->box;
    const GfStep *step = box->step;
    size_t last = step->channels - 1, anchor = step->linear.anchor_x * step->channels;
    load(work, y + (ptrdiff_t)step->linear.anchor_y, 0);
    box->functions->copy_channel(work->sums + last * box->real,
                                 work->rows[0] + (anchor + last) * box->real, 1.0, step->channels,
                                 work->pixels);
}

/* The output row whose first row of taps lies on input row y. */
static void make_row(const Work *work, ptrdiff_t y, void *to)
{
    const GfBox *box = work->box;
    const GfStep *step = box->step;
    size_t samples = work->pixels * step->channels;
    void *response = work->sums;
    sum_row(work);
    box->functions->affine(response, step->linear.columns[0] * step->linear.rows[0], 0.0, samples);
    gf_row_bank_combine(step, box->functions, &response, samples);
    if (step->keep_alpha)
        keep_opacity(work, y);
    gf_finish_pixels(step, box->functions, box->real, work->pixels, response, work->rows[0]);
    box->functions->store(to, step->out, 1, response, samples);
}

void gf_box_run(const GfBox *box, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1, size_t part,
                void *to, size_t stride, void *memory)
{
    const GfStep *step = box->step;
    unsigned char *at = memory;
    Work work = {.box = box, .input = input, .x = part * box->piece};
    work.pixels = gf_min(box->piece, step->out_width - work.x);
    work.padded = work.pixels + step->taps_x - 1;
    work.columns = at;
    work.rows[0] = at + box->bytes;
    work.rows[1] = at + 2 * box->bytes;
    work.sums = at + 3 * box->bytes;
    unsigned char *row = (unsigned char *)to + work.x * step->channels * gf_sample_size(step->out);
    for (ptrdiff_t y = y0; y < y1; y++, row += stride) {
        if (y == y0)
            begin_columns(&work, y + step->origin_y);
        else
            move_columns(&work, y + step->origin_y);
        make_row(&work, y + step->origin_y, row);
    }
}
