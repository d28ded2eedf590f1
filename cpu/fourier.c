/* The picture's rows are cut into pieces as long as a transform, which overlap by the kernel's
 * width less one. Two neighbouring pieces are the real and the imaginary parts of one signal: since
 * taps are real, they stay apart. At each frequency an output row is a sum of complex products over
 * the kernel's rows, so that K x K taps cost about 2 K multiply-adds a sample. Down the columns
 * nothing is transformed: a row depends on those under its own taps alone, and no bit of it on how
 * rows were cut to bands and runs.
 *
 * All of it is in f64, whose error is some 1e-15 of the largest sum that the taps allow. But a
 * sample is in all sums of its piece, so that one that is not a number, or is far larger than the
 * others, would spoil them: only what is bounded comes here. Of taps that are integers the sums
 * are, too, and become exact. */
#include "cpu/fourier.h"

#include <math.h>
#include <stdlib.h>

#include "cpu/bank.h"
#include "cpu/finish.h"
#include "cpu/padded.h"

enum { SIDES = 2, LEAST_ROWS = 32, MOST_ROWS = 256, MOST_TAPS = 256 };

/* What a sample costs, counted in multiply-adds of f64: in a transform, times the logarithm of its
 * length, and apart from it (measured with AVX2 and AVX-512). */
static const double transform_cost = 2.2, other_cost = 12.0;

static const double shorter_cost = 1.08;

/* Sums of samples and taps are no larger, so that their error stays below 1e-5; those of integers,
 * which are rounded, below a tenth. */
static const double largest_sum = 0x1p32, largest_whole_sum = 0x1p42;

struct GfFourier {
    const GfStep *step;
    const GfRowFunctions *functions, *f64;
    const GfFourierFunctions *fourier;
    size_t real;       /* bytes of a response */
    size_t n, piece;   /* samples of a transform, and those of its responses that are right */
    size_t rows, taps; /* output rows and rows of taps at once, at most */
    bool whole;        /* sums are integers */
    double *roots;
    double *kernels; /* for each filter, some rows of taps, and each frequency: complex taps */
};

/* ---- when, and how large ---- */

/* What is known of the taps. */
typedef struct Taps {
    double count;   /* that are not zero */
    double largest; /* sum of the absolute taps of a kernel */
    bool whole;
} Taps;

static Taps find_taps(const GfLinear *linear)
{
    Taps taps = {.whole = true};
    for (size_t f = 0; f < linear->filters; f++) {
        double sum = 0.0;
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++) {
                double tap = gf_linear_tap(linear, f, y, x);
                taps.count += tap != 0.0;
                taps.whole &= tap == rint(tap);
                sum += fabs(tap);
            }
        taps.largest = fmax(taps.largest, sum);
    }
    return taps;
}

static size_t rows_at_once(const GfStep *step)
{
    size_t rows = gf_min(gf_max(step->linear.height, LEAST_ROWS), MOST_ROWS);
    return gf_min(rows, step->out_height);
}

/* Multiply-adds of an output row of one channel by transforms of n samples. */
static double cost_of(const GfStep *step, size_t n)
{
    const GfLinear *linear = &step->linear;
    size_t piece = n - linear->width + 1;
    double signals = (double)((step->out_width + SIDES * piece - 1) / (SIDES * piece));
    double rows = (double)rows_at_once(step), filters = (double)linear->filters;
    double taps = (double)gf_min(linear->height, MOST_TAPS);
    double there = (rows / taps + 1.0) * (double)linear->height / rows;
    double transforms = transform_cost * log2((double)n) * (there + filters);
    return signals * (double)n * SIDES *
           (transforms + 2.0 * (double)linear->height * filters + other_cost);
}

/* Samples of the transform that costs least: a power of two, at least 16 and the kernel's width. */
static size_t cheapest_length(const GfStep *step)
{
    size_t n = 16, least;
    while (n < step->linear.width)
        n *= 2;
    least = n;
    for (; n / 2 < step->out_width + step->linear.width; n *= 2)
        if (cost_of(step, n) < cost_of(step, least))
            least = n;
    return least;
}

/* One half as long, whose spectra take half the memory and of caches, is as fast where it costs
 * little more. */
static size_t choose_length(const GfStep *step)
{
    size_t n = cheapest_length(step);
    bool shorter = n / 2 >= gf_max(16, step->linear.width) &&
                   cost_of(step, n / 2) < shorter_cost * cost_of(step, n);
    return shorter ? n / 2 : n;
}

static bool sums_are_whole(const GfStep *step, const Taps *taps)
{
    return taps->whole && !gf_sample_is_float(step->in) &&
           step->border_value == rint(step->border_value);
}

/* Integers, or what opacity and light made of them: none is larger than white. */
static bool is_bounded(const GfPipeline *pipeline, size_t i)
{
    bool bounded = !gf_sample_is_float(pipeline->steps[0].in);
    for (size_t j = 0; j < i; j++)
        bounded &= j < pipeline->lead || pipeline->steps[j].kind == GF_STEP_PREMULTIPLY;
    return bounded;
}

double gf_fourier_saves(const GfPipeline *pipeline, size_t i)
{
    const GfStep *step = &pipeline->steps[i];
    const GfLinear *linear = &step->linear;
    if (!gf_step_is_bank(step) || step->separable || step->light || !is_bounded(pipeline, i))
        return 0.0;
    Taps taps = find_taps(linear);
    double f64 = pipeline->wide ? 1.0 : 2.0; /* of f32 */
    double saved =
        (double)step->out_width * taps.count - f64 * cost_of(step, cheapest_length(step));
    double sum = taps.largest * fmax(step->white, fabs(step->border_value));
    bool exact = sums_are_whole(step, &taps) ? sum <= largest_whole_sum
                                             : sum * fabs(linear->scale) <= largest_sum;
    if (saved <= 0.0 || !exact)
        return 0.0;
    return saved * (double)step->channels * (double)step->out_height;
}

/* ---- preparation ---- */

static GfStatus make_roots(GfFourier *fourier)
{
    GF_TRY(gf_allocate(fourier->n, 2 * sizeof *fourier->roots, &fourier->roots));
    for (size_t m = fourier->n; m >= 4; m /= 4)
        for (size_t k = 0; k < m / 4; k++)
            for (size_t power = 1; power <= 3; power++) {
                double angle = -2.0 * acos(-1.0) * (double)(k * power) / (double)m;
                double *root = fourier->roots + 2 * (m / 4 + 3 * k + power - 1);
                root[0] = cos(angle);
                root[1] = sin(angle);
            }
    return GF_OK;
}

/* Those of kernel f's rows of taps from `first` on, with which some begin. */
static double *taps_of(const GfFourier *fourier, size_t f, size_t first)
{
    return fourier->kernels + (f * fourier->step->linear.height + first) * fourier->n * 2;
}

/* The spectra of kernel f's rows, conjugate, since taps follow the samples that they meet, and
 * divided by what the inverse transform multiplies. */
static void transform_kernel(GfFourier *fourier, size_t f, double *memory, double **signals)
{
    const GfLinear *linear = &fourier->step->linear;
    size_t n = fourier->n, lanes = fourier->fourier->lanes, height = linear->height;
    double *spectra = memory + SIDES * lanes * n;
    for (size_t y = 0; y < height; y += lanes) {
        for (size_t i = 0; i < SIDES * lanes; i++)
            for (size_t x = 0; x < n; x++)
                signals[i][x] = i < lanes && y + i < height && x < linear->width
                                    ? gf_linear_tap(linear, f, y + i, x) / (double)n
                                    : 0.0;
        fourier->fourier->transform(spectra, SIDES * lanes, signals, fourier->roots, memory, n);
        for (size_t i = 0; i < lanes && y + i < height; i++) {
            size_t first = (y + i) / fourier->taps * fourier->taps;
            size_t count = gf_min(fourier->taps, height - first);
            double *tap = taps_of(fourier, f, first) + 2 * (y + i - first);
            for (size_t k = 0; k < n; k++, tap += 2 * count) {
                tap[0] = spectra[SIDES * lanes * k + i];
                tap[1] = -spectra[SIDES * lanes * k + lanes + i];
            }
        }
    }
}

static GfStatus make_kernels(GfFourier *fourier)
{
    const GfLinear *linear = &fourier->step->linear;
    size_t n = fourier->n, signals = SIDES * fourier->fourier->lanes, taps;
    double *memory = NULL, **places = NULL;
    GfStatus status = GF_OK;
    if (!gf_mul(linear->filters * linear->height, 2 * n, &taps))
        return gf_fail(GF_EMEMORY, "kernels of %zu rows are too many", linear->height);
    GF_GO(gf_allocate(taps, sizeof *fourier->kernels, &fourier->kernels));
    GF_GO(gf_allocate(n, 3 * signals * sizeof *memory, &memory));
    GF_GO(gf_allocate(signals, sizeof *places, &places));
    for (size_t i = 0; i < signals; i++)
        places[i] = memory + (2 * signals + i) * n;
    for (size_t f = 0; f < linear->filters; f++)
        transform_kernel(fourier, f, memory, places);
done:
    free(memory);
    free(places);
    return status;
}

/* Responses of one kernel, summed at once, take the place of the rows under their first taps, which
 * no later ones meet. */
static bool is_in_place(const GfFourier *fourier)
{
    const GfLinear *linear = &fourier->step->linear;
    return linear->filters == 1 && linear->height <= fourier->taps;
}

static size_t round_up(size_t rows, size_t lanes)
{
    return (rows + lanes - 1) / lanes * lanes;
}

/* From one frequency to the next there are rows' real and imaginary parts, and a cache line, so
 * that they do not all come to lie in the same few lines of a cache. */
static size_t pitch_of(size_t rows)
{
    return 2 * rows + GF_ALIGNMENT / sizeof(double);
}

/* In the window and in the responses of `rows` output rows. */
static size_t window_pitch(const GfFourier *fourier, size_t rows)
{
    size_t lanes = fourier->fourier->lanes;
    return pitch_of(round_up(round_up(rows, lanes) + fourier->taps - 1, lanes));
}

static size_t response_pitch(const GfFourier *fourier, size_t rows)
{
    return is_in_place(fourier) ? window_pitch(fourier, rows)
                                : pitch_of(round_up(rows, fourier->fourier->lanes));
}

/* Parts of a thread's memory. */
typedef struct Scratch {
    void *work;               /* of a transform */
    double *signals;          /* real and imaginary parts of `lanes` */
    double **places;          /* of them */
    double *window, *out;     /* spectra of input rows and of each kernel's responses */
    unsigned char *responses; /* of each kernel `lanes` rows of both sides */
    void **row;               /* a place in each kernel's */
} Scratch;

static size_t response_bytes(const GfFourier *fourier)
{
    return gf_align(fourier->piece * fourier->real);
}

/* Lays out a thread's memory from `memory` on, which may be NULL; returns its bytes, or 0 when they
 * are too many. */
static size_t lay_scratch(const GfFourier *fourier, unsigned char *memory, Scratch *scratch)
{
    size_t filters = fourier->step->linear.filters, signals = SIDES * fourier->fourier->lanes;
    size_t spectra = is_in_place(fourier) ? 0 : filters;
    size_t counts[] = {fourier->n,           fourier->n,        signals, fourier->n,
                       spectra * fourier->n, filters * signals, filters};
    size_t sizes[] = {signals * sizeof(double),
                      signals * sizeof(double),
                      sizeof(double *),
                      window_pitch(fourier, fourier->rows) * sizeof(double),
                      response_pitch(fourier, fourier->rows) * sizeof(double),
                      response_bytes(fourier),
                      sizeof(void *)};
    unsigned char *parts[sizeof counts / sizeof *counts];
    size_t at = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t bytes;
        parts[i] = memory ? memory + at : NULL;
        if (!gf_mul(counts[i], sizes[i], &bytes) || bytes > SIZE_MAX / 16 ||
            !gf_add(at, gf_align(bytes), &at))
            return 0;
    }
    *scratch = (Scratch){parts[0],
                         (double *)(void *)parts[1],
                         (double **)(void *)parts[2],
                         (double *)(void *)parts[3],
                         (double *)(void *)parts[is_in_place(fourier) ? 3 : 4],
                         parts[5],
                         (void **)(void *)parts[6]};
    return at;
}

GfStatus gf_fourier_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows,
                           GfFourier **out)
{
    const GfStep *step = &pipeline->steps[i];
    GfFourier *fourier;
    GfStatus status = GF_OK;
    Scratch scratch;
    size_t lanes = rows->fourier.lanes;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *fourier, &fourier));
    fourier->step = step;
    fourier->functions = &rows->functions[pipeline->wide];
    fourier->f64 = &rows->functions[1];
    fourier->fourier = &rows->fourier;
    fourier->real = pipeline->wide ? sizeof(double) : sizeof(float);
    fourier->n = choose_length(step);
    fourier->piece = fourier->n - step->linear.width + 1;
    fourier->rows = round_up(rows_at_once(step), lanes);
    fourier->taps = gf_min(step->linear.height, MOST_TAPS);
    Taps taps = find_taps(&step->linear);
    fourier->whole = sums_are_whole(step, &taps);
    if (lay_scratch(fourier, NULL, &scratch) == 0)
        GF_GO(gf_fail(GF_EMEMORY, "kernels of %zu x %zu taps are too large", step->linear.width,
                      step->linear.height));
    GF_GO(make_roots(fourier));
    GF_GO(make_kernels(fourier));
    *out = fourier;
    fourier = NULL;
done:
    gf_fourier_free(fourier);
    return status;
}

size_t gf_fourier_scratch(const GfFourier *fourier)
{
    Scratch scratch;
    return lay_scratch(fourier, NULL, &scratch);
}

void gf_fourier_free(GfFourier *fourier)
{
    if (!fourier)
        return;
    free(fourier->roots);
    free(fourier->kernels);
    free(fourier);
}

/* Units of work of a channel, SIDES pieces each. */
static size_t units(const GfFourier *fourier)
{
    size_t width = SIDES * fourier->piece;
    return (fourier->step->out_width + width - 1) / width;
}

size_t gf_fourier_parts(const GfFourier *fourier)
{
    return units(fourier) * fourier->step->channels;
}

/* Fewer would have more rows transformed for them than are worth while. */
size_t gf_fourier_least_rows(const GfFourier *fourier)
{
    return gf_min(gf_max(fourier->step->linear.height / 2, 1), fourier->rows);
}

/* ---- one thread's work ---- */

/* Output rows [y, y + rows) of channel c. */
typedef struct Block {
    const GfFourier *fourier;
    const GfStepInput *input;
    Scratch scratch;
    ptrdiff_t y;
    size_t rows, channel;
    size_t window_pitch, pitch; /* from one frequency to the next: in responses */
    unsigned char *to;          /* row y of the output */
    size_t stride;
} Block;

/* The samples of what stands at input row y from the one under output column x's first tap on, as
 * far as any is. */
static void load_piece(const Block *block, ptrdiff_t y, size_t x, double *to)
{
    const GfFourier *fourier = block->fourier;
    const GfStep *step = fourier->step;
    const GfPadded padded = {step, fourier->f64, sizeof *to, block->channel, 1};
    size_t end = step->out_width + step->taps_x - 1;
    size_t count = x < end ? gf_min(fourier->n, end - x) : 0;
    gf_padded_load(&padded, block->input, y, x, count, to);
    fourier->f64->fill(to + count, 0.0, fourier->n - count);
}

/* The spectra of the input rows under the block's and `taps` rows of taps, of which the first is
 * `first`, of the two pieces from output column x on. */
static void transform_rows(const Block *block, size_t x, size_t first, size_t taps)
{
    const GfFourier *fourier = block->fourier;
    const Scratch *scratch = &block->scratch;
    size_t lanes = fourier->fourier->lanes;
    size_t window = round_up(round_up(block->rows, lanes) + taps - 1, lanes);
    ptrdiff_t top = block->y + fourier->step->origin_y + (ptrdiff_t)first;
    for (size_t r = 0; r < window; r += lanes) {
        for (size_t i = 0; i < lanes; i++) {
            /* Rows after the last one fill lanes that nobody reads. */
            ptrdiff_t y = top + (ptrdiff_t)gf_min(r + i, block->rows + taps - 2);
            load_piece(block, y, x, scratch->places[i]);
            load_piece(block, y, x + fourier->piece, scratch->places[lanes + i]);
        }
        fourier->fourier->transform(scratch->window + r, block->window_pitch, scratch->places,
                                    fourier->roots, scratch->work, fourier->n);
    }
}

/* The spectra of all kernels' responses. */
static void correlate_rows(const Block *block, size_t x)
{
    const GfFourier *fourier = block->fourier;
    const GfLinear *linear = &fourier->step->linear;
    const Scratch *scratch = &block->scratch;
    size_t rows = round_up(block->rows, fourier->fourier->lanes), n = fourier->n;
    for (size_t first = 0; first < linear->height; first += fourier->taps) {
        size_t taps = gf_min(fourier->taps, linear->height - first);
        transform_rows(block, x, first, taps);
        for (size_t f = 0; f < linear->filters; f++)
            fourier->fourier->correlate(scratch->out + f * n * block->pitch, block->pitch,
                                        scratch->window, block->window_pitch,
                                        taps_of(fourier, f, first), taps, rows, n, first > 0);
    }
}

/* Row i of those that are inverted at once. */
static unsigned char *response(const Block *block, size_t f, size_t i, size_t side)
{
    const GfFourier *fourier = block->fourier;
    return block->scratch.responses +
           ((f * fourier->fourier->lanes + i) * SIDES + side) * response_bytes(fourier);
}

/* Kernel f's responses in the block's rows from r on, `rows` of them. */
static void respond(const Block *block, size_t f, size_t r, size_t rows)
{
    const GfFourier *fourier = block->fourier;
    const Scratch *scratch = &block->scratch;
    size_t n = fourier->n;
    const double *out = scratch->out + f * n * block->pitch;
    fourier->fourier->invert(scratch->places, out + r, block->pitch, fourier->roots, scratch->work,
                             n, fourier->piece, fourier->whole);
    for (size_t i = 0; i < rows; i++)
        for (size_t side = 0; side < SIDES; side++)
            fourier->functions->load(response(block, f, i, side),
                                     scratch->places[side * fourier->fourier->lanes + i], GF_F64, 1,
                                     fourier->piece);
}

/* Finishes and stores `count` samples of the block's row r from column x on. */
static void emit(const Block *block, void *samples, size_t r, size_t x, size_t count)
{
    const GfStep *step = block->fourier->step;
    const GfRowFunctions *functions = block->fourier->functions;
    size_t place = (x * step->channels + block->channel) * gf_sample_size(step->out);
    gf_finish_row(step, functions, block->channel, samples, count);
    functions->store(block->to + r * block->stride + place, step->out, step->channels, samples,
                     count);
}

/* Opacity that is kept: of the sample under the anchor. */
static void copy_piece(const Block *block, size_t x, size_t count)
{
    const GfFourier *fourier = block->fourier;
    const GfStep *step = fourier->step;
    ptrdiff_t top = block->y + step->origin_y + (ptrdiff_t)step->linear.anchor_y;
    ptrdiff_t left = (ptrdiff_t)(x + step->linear.anchor_x) + step->origin_x;
    size_t place = ((size_t)left * step->channels + block->channel) * gf_sample_size(step->in);
    for (size_t r = 0; r < block->rows; r++) {
        const unsigned char *row =
            gf_step_input_row(step, block->input, step->border, top + (ptrdiff_t)r);
        void *samples = response(block, 0, 0, 0);
        fourier->functions->load(samples, row + place, step->in, step->channels, count);
        emit(block, samples, r, x, count);
    }
}

/* The block's rows from r on, `rows` of them, of the two pieces from output column x on. */
static void filter_rows(const Block *block, size_t x, size_t r, size_t rows)
{
    const GfFourier *fourier = block->fourier;
    const GfStep *step = fourier->step;
    size_t filters = step->linear.filters;
    void **row = block->scratch.row;
    for (size_t f = 0; f < filters; f++)
        respond(block, f, r, rows);
    for (size_t side = 0; side < SIDES && x < step->out_width; side++, x += fourier->piece) {
        size_t count = gf_min(fourier->piece, step->out_width - x);
        for (size_t i = 0; i < rows; i++) {
            for (size_t f = 0; f < filters; f++)
                row[f] = response(block, f, i, side);
            gf_row_bank_combine(step, fourier->functions, row, count);
            emit(block, row[0], r + i, x, count);
        }
    }
}

static void run_unit(const Block *block, size_t x)
{
    const GfFourier *fourier = block->fourier;
    const GfStep *step = fourier->step;
    size_t lanes = fourier->fourier->lanes;
    bool kept = step->keep_alpha && block->channel == step->channels - 1;
    if (!kept)
        correlate_rows(block, x);
    for (size_t r = 0; r < block->rows && !kept; r += lanes)
        filter_rows(block, x, r, gf_min(lanes, block->rows - r));
    for (size_t side = 0; side < SIDES && kept && x < step->out_width; side++, x += fourier->piece)
        copy_piece(block, x, gf_min(fourier->piece, step->out_width - x));
}

void gf_fourier_run(const GfFourier *fourier, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                    size_t part, void *to, size_t stride, void *memory)
{
    Block block = {.fourier = fourier, .input = input, .y = y0, .to = to, .stride = stride};
    size_t x = part % units(fourier) * SIDES * fourier->piece;
    block.channel = part / units(fourier);
    lay_scratch(fourier, memory, &block.scratch);
    for (size_t i = 0; i < SIDES * fourier->fourier->lanes; i++)
        block.scratch.places[i] = block.scratch.signals + i * fourier->n;
    for (; block.y < y1; block.y += (ptrdiff_t)block.rows) {
        block.rows = gf_min(fourier->rows, (size_t)(y1 - block.y));
        block.window_pitch = window_pitch(fourier, block.rows);
        block.pitch = response_pitch(fourier, block.rows);
        run_unit(&block, x);
        block.to += block.rows * stride;
    }
}
