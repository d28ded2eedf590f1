/* Of integers the sums of columns are kept from one output row to the next: a row comes, and a row
 * goes. Along a row it is the same: a column comes, and a column goes. The sums are exact, so that
 * it does not matter where one began. Sums of other numbers are those of blocks.h. */
#include "cpu/box.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/bank.h"
#include "cpu/blocks.h"
#include "cpu/finish.h"
#include "cpu/padded.h"

enum { LEAST_TAPS = 5, LEAST_ROUNDED_TAPS = 24, LEAST_PIECE = 2048 };

struct GfBox {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;   /* bytes of a sum, and of a number made of it */
    size_t piece;  /* output pixels that are computed at once: their sums stay in a cache */
    size_t padded; /* pixels under the taps of a piece */
    size_t apart;  /* samples of as many pixels as a row of taps */
    bool exact;    /* sums of integers; else: */
    GfBlocks blocks;
};

/* ---- when ---- */

static bool are_same(const double *taps, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (taps[i] != taps[0])
            return false;
    return true;
}

/* Of the integers that are summed. */
static double largest_sum(const GfStep *step)
{
    return step->white * ((double)step->linear.height + 1.0) * (double)step->linear.width;
}

/* Beside f32 sums have 31 bits. A mean is then rounded to f32, which is enough for all samples but
 * f64, and not for what follows in pipelines that need f64. */
static bool needs_f64(const GfPipeline *pipeline, size_t i)
{
    const GfStep *step = &pipeline->steps[i];
    const GfLinear *linear = &step->linear;
    double sum = linear->columns[0] * (double)linear->height * linear->rows[0] *
                 (double)linear->width * linear->scale;
    bool mean =
        pipeline->count == 1 && step->posts == 0 && step->out != GF_F64 && fabs(sum) < 1.001;
    return largest_sum(step) >= 0x1p31 || (pipeline->wide && !mean);
}

/* Can rows of samples have it beside them? */
static bool is_sample(const GfStep *step, double value)
{
    return value == rint(value) && value >= 0.0 && value <= step->white;
}

static bool is_exact(const GfStep *step)
{
    return !gf_sample_is_float(step->in) && is_sample(step, step->border_value) &&
           largest_sum(step) < 0x1p53;
}

static size_t real_of(const GfPipeline *pipeline, size_t i)
{
    const bool f64 = is_exact(&pipeline->steps[i]) ? needs_f64(pipeline, i) : pipeline->wide;
    return f64 ? sizeof(double) : sizeof(float);
}

bool gf_box_pays(const GfPipeline *pipeline, size_t i)
{
    const GfStep *step = &pipeline->steps[i];
    const GfLinear *linear = &step->linear;
    if (!gf_step_is_bank(step) || !step->separable || linear->filters != 1 ||
        !are_same(linear->columns, linear->height) || !are_same(linear->rows, linear->width))
        return false;
    const size_t taps = gf_max(linear->width, linear->height);
    return is_exact(step)
               ? taps >= LEAST_TAPS
               : taps >= LEAST_ROUNDED_TAPS && gf_blocks_piece(step, real_of(pipeline, i)) > 0;
}

/* ---- preparation ---- */

GfStatus gf_box_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows, GfBox **out)
{
    const GfStep *step = &pipeline->steps[i];
    GfBox *box;
    GF_TRY(gf_allocate_zero(1, sizeof *box, out));
    box = *out;
    box->step = step;
    box->real = real_of(pipeline, i);
    box->functions = &rows->functions[box->real == sizeof(double)];
    box->exact = is_exact(step);
    const size_t wished = gf_max(LEAST_PIECE / step->channels + 1, 4 * step->taps_x);
    box->piece = box->exact ? gf_min(wished, step->out_width) : gf_blocks_piece(step, box->real);
    box->padded = box->piece + step->taps_x - 1;
    box->apart = step->taps_x * step->channels;
    if (!box->exact)
        box->blocks = gf_blocks_of(step, box->functions, box->real, box->piece);
    return GF_OK;
}

void gf_box_free(GfBox *box)
{
    free(box);
}

/* Parts of a thread's memory. */
typedef struct Scratch {
    unsigned char *sums, *saved;
    unsigned char *columns, *edged[2]; /* of integers */
    unsigned char *blocks;             /* of others */
} Scratch;

/* Lays it out from `memory` on, which may be NULL; returns its bytes. Whole vectors are summed. */
static size_t lay_scratch(const GfBox *box, unsigned char *memory, Scratch *scratch)
{
    const size_t samples = box->padded * box->step->channels;
    const size_t row = gf_align(samples * box->real) + GF_ALIGNMENT;
    const size_t edged = gf_align(samples * gf_sample_size(box->step->in));
    const size_t zeros = gf_align(box->apart * box->real);
    const size_t columns = 2 * row + zeros, edges = columns + row;
    if (memory)
        *scratch = (Scratch){.sums = memory,
                             .saved = memory + row,
                             .columns = memory + columns,
                             .edged = {memory + edges, memory + edges + edged},
                             .blocks = memory + 2 * row};
    return 2 * row + (box->exact ? zeros + row + 2 * edged : gf_blocks_bytes(&box->blocks));
}

size_t gf_box_scratch(const GfBox *box)
{
    return lay_scratch(box, NULL, NULL);
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
    Scratch scratch;
    size_t x, pixels, padded;
} Work;

/* The pixels [x, end) of a row as samples: where they lie, or laid out in edged[i]. */
static const unsigned char *find_pixels(const Work *work, const unsigned char *row, ptrdiff_t x,
                                        ptrdiff_t end, size_t i)
{
    const GfStep *step = work->box->step;
    unsigned char *laid = work->scratch.edged[i];
    if (row && x >= 0 && end <= (ptrdiff_t)step->in_width)
        return row + (size_t)x * step->channels * gf_sample_size(step->in);
    gf_padded_lay(step, row, x, end, laid);
    return laid;
}

/* To the sums of columns comes an input row, and another goes, or none. What lies beyond the sides
 * is done by itself. */
static void slide(const Work *work, ptrdiff_t come_y, const ptrdiff_t *go_y)
{
    const GfBox *box = work->box;
    const GfStep *step = box->step;
    const ptrdiff_t first = (ptrdiff_t)work->x + step->origin_x, width = (ptrdiff_t)step->in_width;
    const ptrdiff_t end = first + (ptrdiff_t)work->padded;
    const ptrdiff_t inside = first < 0 ? end < 0 ? end : 0 : first;
    const ptrdiff_t right = end > width ? inside > width ? inside : width : end;
    const ptrdiff_t bounds[] = {first, inside, right, end};
    const unsigned char *come = gf_step_input_row(step, work->input, step->border, come_y);
    const unsigned char *go =
        go_y ? gf_step_input_row(step, work->input, step->border, *go_y) : NULL;
    for (size_t i = 0; i < 3; i++) {
        const ptrdiff_t x = bounds[i], next = bounds[i + 1];
        if (x < next)
            box->functions->slide(work->scratch.columns +
                                      (size_t)(x - first) * step->channels * box->real,
                                  find_pixels(work, come, x, next, 0),
                                  go_y ? find_pixels(work, go, x, next, 1) : NULL, step->in,
                                  (size_t)(next - x) * step->channels);
    }
}

/* The sums of columns under the taps of a run's first output row, from input row y on. */
static void begin_columns(const Work *work, ptrdiff_t y)
{
    for (size_t k = 0; k < work->box->step->taps_y; k++)
        slide(work, y + (ptrdiff_t)k, NULL);
}

/* The same of the next one, from input row y on. */
static void move_columns(const Work *work, ptrdiff_t y)
{
    const ptrdiff_t go = y - 1;
    slide(work, y + (ptrdiff_t)work->box->step->taps_y - 1, &go);
}

/* Opacity that is kept: of the pixels under the anchor, the window beginning with input row y. */
static void keep_opacity(const Work *work, ptrdiff_t y, unsigned char *response)
{
    const GfBox *box = work->box;
    const GfStep *step = box->step;
    const size_t last = (step->channels - 1) * box->real;
    const GfPadded padded = {step, box->functions, box->real, 0, step->channels};
    gf_padded_load(&padded, work->input, y + (ptrdiff_t)step->linear.anchor_y,
                   work->x + step->linear.anchor_x, work->pixels, work->scratch.saved);
    box->functions->copy_channel(response + last, work->scratch.saved + last, 1.0, step->channels,
                                 work->pixels);
}

/* The sums under the output row whose first row of taps lies on input row y. */
static unsigned char *sum_row(const Work *work, ptrdiff_t y, bool begins)
{
    const GfBox *box = work->box;
    const GfStep *step = box->step;
    const Scratch *scratch = &work->scratch;
    if (!box->exact) {
        const GfBlocksRun run = {&box->blocks, work->input, work->x, work->pixels, scratch->blocks};
        gf_blocks_sum(&run, y, begins, scratch->sums);
        return scratch->sums;
    }
    if (begins)
        begin_columns(work, y);
    else
        move_columns(work, y);
    box->functions->total(scratch->sums, scratch->columns, box->apart, step->channels,
                          step->linear.columns[0] * step->linear.rows[0],
                          work->padded * step->channels);
    return scratch->sums + (box->apart - step->channels) * box->real; /* that has all columns */
}

static void make_row(const Work *work, ptrdiff_t y, bool begins, void *to)
{
    const GfBox *box = work->box;
    const GfStep *step = box->step;
    const size_t samples = work->pixels * step->channels;
    unsigned char *sums = sum_row(work, y, begins);
    void *response = sums;
    gf_row_bank_combine(step, box->functions, &response, samples);
    if (step->keep_alpha)
        keep_opacity(work, y, sums);
    gf_finish_pixels(step, box->functions, box->real, work->pixels, sums, work->scratch.saved);
    box->functions->store(to, step->out, 1, sums, samples);
}

void gf_box_run(const GfBox *box, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1, size_t part,
                void *to, size_t stride, void *memory)
{
    const GfStep *step = box->step;
    Work work = {.box = box, .input = input, .x = part * box->piece};
    work.pixels = gf_min(box->piece, step->out_width - work.x);
    work.padded = work.pixels + step->taps_x - 1;
    const size_t bytes = lay_scratch(box, memory, &work.scratch);
    if (box->exact)
        memset(memory, 0, bytes);
    unsigned char *row = (unsigned char *)to + work.x * step->channels * gf_sample_size(step->out);
    for (ptrdiff_t y = y0; y < y1; y++, row += stride)
        make_row(&work, y + step->origin_y, y == y0, row);
}
