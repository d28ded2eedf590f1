/* The GPU's methods against the float64 reference, by the exactness rule of filters/backend.h, and
 * against themselves: bits must not depend on bands. Each case runs a plan on the reference with
 * its last step's store taken away, so that exact values are compared, and then on every row of
 * gf_algorithms that takes it: in bands of the plan's own size, and in bands so small that every
 * ring wraps around.
 *
 * Without frameworks, so that it runs wherever there is a GPU. `--quick` runs a part of the cases,
 * for compute-sanitizer. Exit status: 0 all passed, 1 not, 77 no device. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend.h"
#include "gpu/algorithms.h"
#include "gpu/backend.h"

enum { POISON = 0xA5, GUARD = 64, MAX_ALGORITHMS = 16, IN_FLIGHT = 2, MAX_TOLD = 40 };

static GfBackend *reference, *gpus[MAX_ALGORITHMS];
static const char *names[MAX_ALGORITHMS];
static size_t runs[MAX_ALGORITHMS], algorithms;
static size_t passed, failed;
static bool quick;

/* ---- reports ---- */

static void report(bool good, const char *what, const char *detail)
{
    if (good)
        passed++;
    else if (failed++ < MAX_TOLD)
        printf("not ok - %s: %s\n", what, detail);
}

/* One line for a group of cases, of which only failures have lines of their own. */
static void close_group(const char *group, size_t failed_before, size_t passed_before)
{
    printf("%s - %s: %zu checks\n", failed == failed_before ? "ok" : "not ok", group,
           passed + failed - failed_before - passed_before);
    fflush(stdout);
}

static void must(GfStatus status, const char *what)
{
    if (status == GF_OK)
        return;
    printf("not ok - %s: %s\n", what, gf_message());
    exit(1);
}

static void must_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("not ok - CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
}

/* ---- random numbers ---- */

static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (state ^ state >> 29) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(mixed >> 32);
}

static double uniform(double low, double high)
{
    return low + (high - low) * next() / 4294967296.0;
}

/* ---- pictures ---- */

/* A row-organised block whose rows have `stride` bytes, with a guard before and after them. */
typedef struct Block {
    unsigned char *memory, *rows;
    size_t stride, bytes;
} Block;

static Block make_block(size_t rows, size_t stride)
{
    Block block = {.stride = stride, .bytes = rows * stride + 2 * GUARD};
    block.memory = malloc(block.bytes);
    if (!block.memory)
        exit(1);
    memset(block.memory, POISON, block.bytes);
    block.rows = block.memory + GUARD;
    return block;
}

/* Rows are longer than their samples by an odd number of them. */
static Block make_picture(const GfFormat *format)
{
    return make_block(format->height, gf_row_bytes(format) + 3 * gf_sample_size(format->sample));
}

static void set_sample(void *row, size_t i, GfSample sample, double value)
{
    switch (sample) {
    case GF_U8:
        ((uint8_t *)row)[i] = (uint8_t)value;
        break;
    case GF_U16:
        ((uint16_t *)row)[i] = (uint16_t)value;
        break;
    case GF_F32:
        ((float *)row)[i] = (float)value;
        break;
    case GF_F64:
        ((double *)row)[i] = value;
        break;
    }
}

/* Noise; opacities are often 0 or full, as in pictures. */
static Block random_picture(const GfFormat *format)
{
    Block block = make_picture(format);
    double white = gf_sample_max(format->sample);
    bool real = gf_sample_is_float(format->sample);
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = 0; i < gf_row_samples(format); i++) {
            double value = real ? uniform(0.0, 1.25) : floor(uniform(0.0, white + 1.0));
            if (format->has_alpha && i % format->channels == format->channels - 1 && next() % 2)
                value = next() % 2 ? white : 0.0;
            set_sample(block.rows + y * block.stride, i, format->sample, value);
        }
    return block;
}

static bool guards_whole(const Block *block, const GfFormat *format)
{
    size_t bytes = gf_row_bytes(format);
    for (size_t i = 0; i < GUARD; i++)
        if (block->memory[i] != POISON || block->memory[block->bytes - 1 - i] != POISON)
            return false;
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = bytes; i < block->stride; i++)
            if (block->rows[y * block->stride + i] != POISON)
                return false;
    return true;
}

/* ---- running a plan ---- */

typedef struct Run {
    GfBackend *backend;
    const GfPlan *plan;
    const Block *in;
    Block *outs;
    GfRing ring;
    GfSession *session;
    size_t done[4]; /* output rows handed out */
    size_t flying;
} Run;

static GfStatus submit_band(Run *run, size_t y0, size_t rows)
{
    GfBand bands[4];
    const GfPlan *plan = run->plan;
    if (run->flying == IN_FLIGHT) {
        GF_TRY(run->backend->collect(run->session));
        run->flying--;
    }
    for (size_t y = y0; y < y0 + rows; y++)
        memcpy(gf_ring_row(&run->ring, y), run->in->rows + y * run->in->stride,
               gf_row_bytes(&plan->in));
    for (size_t i = 0; i < plan->outputs; i++) {
        size_t ready = gf_pipeline_ready(&plan->pipelines[i], y0 + rows);
        if (!plan->streams && y0 + rows < plan->in.height)
            ready = 0;
        bands[i] = (GfBand){run->done[i], ready - run->done[i], run->outs[i].stride,
                            run->outs[i].rows + run->done[i] * run->outs[i].stride};
        run->done[i] = ready;
    }
    GF_TRY(run->backend->submit(run->session, y0, rows, bands));
    run->flying++;
    return GF_OK;
}

/* One picture through a session. */
static GfStatus run_picture(Run *run)
{
    memset(run->done, 0, sizeof run->done);
    run->flying = 0;
    GF_TRY(run->backend->begin(run->session, &run->ring));
    for (size_t y = 0; y < run->plan->in.height; y += run->plan->band_rows)
        GF_TRY(submit_band(run, y, gf_min(run->plan->band_rows, run->plan->in.height - y)));
    for (; run->flying > 0; run->flying--)
        GF_TRY(run->backend->collect(run->session));
    return GF_OK;
}

/* Runs a plan; the outputs are made here, poisoned, and the caller's to free. */
static GfStatus run_plan(GfBackend *backend, const GfPlan *plan, const Block *in, Block *outs)
{
    Block ring = make_block(plan->ring_rows, gf_row_bytes(&plan->in) + 24);
    Run run = {.backend = backend, .plan = plan, .in = in, .outs = outs};
    run.ring = (GfRing){ring.rows, ring.stride, plan->ring_rows};
    for (size_t i = 0; i < plan->outputs; i++)
        outs[i] = make_picture(&plan->pipelines[i].out);
    GfStatus status = backend->session(backend, plan, &run.session);
    if (status == GF_OK)
        status = run_picture(&run);
    if (run.session)
        backend->end(run.session);
    free(ring.memory);
    return status;
}

static void free_outs(Block *outs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(outs[i].memory);
}

/* ---- comparing ---- */

/* The exactness rule; `detail` says what broke it. */
static bool exact_enough(const GfFormat *format, const Block *out, const Block *exact, char *detail)
{
    double white = gf_sample_max(format->sample), error = 0.0, size = 0.0;
    double allowed = format->sample == GF_U8 ? 0.5 + 1e-3 : 0.5 + 0.05;
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = 0; i < gf_row_samples(format); i++) {
            double got = gf_sample_at(out->rows + y * out->stride, i, format->sample);
            double want = gf_sample_at(exact->rows + y * exact->stride, i, GF_F64);
            if (gf_sample_is_float(format->sample)) {
                error += (got - want) * (got - want);
                size += want * want;
                continue;
            }
            want = want < 0.0 ? 0.0 : want > white ? white : want;
            if (fabs(got - want) <= allowed)
                continue;
            sprintf(detail, "row %zu sample %zu is %g, not %.9g", y, i, got, want);
            return false;
        }
    if (gf_sample_is_float(format->sample) && !(sqrt(error) <= 1e-6 * sqrt(size))) {
        sprintf(detail, "relative error %g", sqrt(error / size));
        return false;
    }
    return true;
}

static bool same_bits(const GfFormat *format, const Block *a, const Block *b)
{
    for (size_t y = 0; y < format->height; y++)
        if (memcmp(a->rows + y * a->stride, b->rows + y * b->stride, gf_row_bytes(format)) != 0)
            return false;
    return true;
}

/* ---- cases ---- */

typedef struct Case {
    GfFormat format;
    GfPlanOptions options;
    const GfFilter *filters[4];
    size_t count;
    const char *what;
    bool brief; /* the first algorithm only, in bands of one size */
} Case;

/* The plan with results that are neither rounded nor saturated. */
static GfPlan *exact_plan(const Case *c)
{
    GfPlan *plan;
    GfPlanOptions options = c->options;
    options.whole = true;
    must(gf_plan_create(c->filters, c->count, &c->format, &options, &plan), c->what);
    for (size_t i = 0; i < plan->outputs; i++) {
        plan->pipelines[i].steps[plan->pipelines[i].count - 1].out = GF_F64;
        plan->pipelines[i].out.sample = GF_F64;
    }
    return plan;
}

/* Makes bands of `rows` rows, and the ring as short as the contract allows: rows are written over
 * while the kernels that read them may still be running. */
static void shrink_bands(GfPlan *plan, size_t rows)
{
    size_t span = 0;
    if (!plan->streams)
        return;
    for (size_t i = 0; i < plan->outputs; i++) {
        size_t sum = 0;
        for (size_t j = 0; j < plan->pipelines[i].count; j++)
            if (plan->pipelines[i].steps[j].kind == GF_STEP_FILTER)
                sum += plan->pipelines[i].steps[j].linear.height - 1;
        span = gf_max(span, sum);
    }
    size_t ring = gf_max((span + rows - 1) / rows * rows + rows, IN_FLIGHT * rows);
    plan->band_rows = gf_min(rows, plan->in.height);
    plan->ring_rows = gf_min(ring, plan->in.height);
}

static void describe(const Case *c, const char *algorithm, char *text, size_t size)
{
    const GfPlanOptions *o = &c->options;
    snprintf(text, size, "%s, %s, %zux%zux%zu sample %d->%d border %d range %d alpha %d flip %d",
             algorithm, c->what, c->format.width, c->format.height, c->format.channels,
             (int)c->format.sample, (int)o->sample, (int)o->border, (int)o->range, (int)o->alpha,
             (int)o->flip);
}

/* Compares all outputs with the exact ones, or with those of another run. */
static void check_outs(const GfPlan *plan, const Block *outs, const Block *exact,
                       const Block *before, const char *what)
{
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfFormat *format = &plan->pipelines[i].out;
        char detail[160] = "";
        if (before)
            report(same_bits(format, &outs[i], &before[i]), what, "bits depend on bands");
        else
            report(exact_enough(format, &outs[i], &exact[i], detail), what, detail);
        report(guards_whole(&outs[i], format), what, "bytes beside the rows were written");
    }
}

static void run_algorithm(const Case *c, size_t a, const Block *in, const Block *exact)
{
    char what[300];
    GfPlan *plan;
    Block first[4], second[4];
    describe(c, names[a], what, sizeof what);
    must(gf_plan_create(c->filters, c->count, &c->format, &c->options, &plan), what);
    if (gpus[a]->supports(gpus[a], plan) == GF_OK) {
        runs[a]++;
        must(run_plan(gpus[a], plan, in, first), what);
        check_outs(plan, first, exact, NULL, what);
        if (plan->streams && plan->in.height > 3 && !c->brief) {
            shrink_bands(plan, 1 + next() % 5);
            must(run_plan(gpus[a], plan, in, second), what);
            check_outs(plan, second, exact, first, what);
            free_outs(second, plan->outputs);
        }
        free_outs(first, plan->outputs);
    }
    gf_plan_free(plan);
}

static void run_case(const Case *c)
{
    GfPlan *plan = exact_plan(c);
    Block in = random_picture(&c->format), exact[4];
    must(run_plan(reference, plan, &in, exact), c->what);
    for (size_t a = 0; a < (c->brief ? 1 : algorithms); a++)
        run_algorithm(c, a, &in, exact);
    free_outs(exact, plan->outputs);
    free(in.memory);
    gf_plan_free(plan);
}

/* ---- filters ---- */

typedef enum Taps { INTEGER, FRACTION, POSITIVE } Taps;

static GfFilter *new_filter(void)
{
    GfFilter *filter = calloc(1, sizeof *filter);
    if (!filter)
        exit(1);
    return filter;
}

/* Kernels whose sums do not cancel, so that the rule for floats is about rounding alone. */
static GfLinear *add_kernel(GfFilter *filter, size_t filters, size_t width, size_t height,
                            Taps taps)
{
    GfLinear *linear;
    size_t count = width * height;
    must(gf_filter_add_kernel(filter, filters, width, height, &linear), "kernel");
    for (size_t i = 0; i < filters * count; i++)
        linear->weights[i] = taps == INTEGER    ? (double)(next() % 9) - 3.0
                             : taps == FRACTION ? uniform(-0.3, 1.0)
                                                : uniform(0.1, 1.0);
    linear->scale = taps == POSITIVE ? 1.0 / (0.55 * (double)count) : 1.3 / (double)count;
    return linear;
}

static GfFilter *kernel(size_t filters, size_t width, size_t height, Taps taps)
{
    GfFilter *filter = new_filter();
    add_kernel(filter, filters, width, height, taps);
    return filter;
}

static GfFormat format_of(size_t width, size_t height, size_t channels, GfSample sample)
{
    return (GfFormat){width, height, channels, channels == 2 || channels == 4, sample};
}

/* A case with one filter, which it frees. */
static void run_one(const char *what, GfFormat format, GfPlanOptions options, GfFilter *filter)
{
    Case c = {format, options, {filter}, 1, what, false};
    const GfLinear *linear = &filter->stages[0].linear;
    bool fits = linear->width <= format.width && linear->height <= format.height;
    if (options.border != GF_BORDER_VALID || fits)
        run_case(&c);
    gf_filter_free(filter);
}

static GfPlanOptions options_of(GfSample sample, GfBorder border)
{
    GfPlanOptions options = gf_plan_options_default(sample);
    options.border = border;
    options.border_value = gf_sample_is_float(sample) ? 0.375 : 77.0;
    return options;
}

/* ---- groups ---- */

static const size_t sizes[][2] = {{1, 1},   {1, 7},   {7, 1},    {2, 3},   {5, 5},   {17, 13},
                                  {33, 31}, {64, 48}, {129, 67}, {300, 5}, {5, 300}, {1030, 40}};
static const size_t kernels[][2] = {{3, 3}, {5, 5}, {7, 7}, {1, 1},  {2, 2},  {4, 3},
                                    {1, 7}, {7, 1}, {9, 9}, {15, 3}, {41, 37}};
static const GfSample samples[] = {GF_U8, GF_U16, GF_F32};

enum {
    SIZES = sizeof sizes / sizeof *sizes,
    KERNELS = sizeof kernels / sizeof *kernels,
    SAMPLES = sizeof samples / sizeof *samples,
    BORDERS = GF_BORDER_VALID + 1
};

/* Taps that suit a sample: exact integers for integers, now and then fractions. */
static Taps taps_for(GfSample sample)
{
    return gf_sample_is_float(sample) || next() % 2 ? FRACTION : INTEGER;
}

/* Every size with every channel count, sample type and border; kernels in turn. */
static void test_sizes(void)
{
    size_t turn = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (size_t channels = 1; channels <= 5; channels++)
            for (size_t s = 0; s < SAMPLES; s++)
                for (int border = 0; border < BORDERS; border++) {
                    /* The largest kernel takes long on the reference: small pictures only. */
                    size_t limit = sizes[i][0] * sizes[i][1] > 1000 ? KERNELS - 1 : KERNELS;
                    const size_t *k = kernels[turn++ % limit];
                    if (quick && turn % 37 != 0)
                        continue;
                    run_one("sizes", format_of(sizes[i][0], sizes[i][1], channels, samples[s]),
                            options_of(samples[s], (GfBorder)border),
                            kernel(1, k[0], k[1], taps_for(samples[s])));
                }
}

/* Every kernel with every channel count, sample type and border, at one size. */
static void test_kernels(void)
{
    size_t turn = 0;
    for (size_t k = 0; k < KERNELS - 1; k++)
        for (size_t channels = 1; channels <= 5; channels++)
            for (size_t s = 0; s < SAMPLES; s++)
                for (int border = 0; border < BORDERS; border++) {
                    GfPlanOptions options = options_of(samples[s], (GfBorder)border);
                    if (quick && turn++ % 41 != 0)
                        continue;
                    options.alpha = channels % 2 ? GF_ALPHA_AUTO : GF_ALPHA_FILTER;
                    run_one("kernels", format_of(37, 21, channels, samples[s]), options,
                            kernel(1, kernels[k][0], kernels[k][1], taps_for(samples[s])));
                }
}

/* Anchors anywhere in the kernel. */
static void test_anchors(void)
{
    for (size_t i = 0; i < (quick ? 4 : 60); i++) {
        size_t width = 1 + next() % 6, height = 1 + next() % 6;
        GfSample sample = samples[i % SAMPLES];
        GfFilter *filter = new_filter();
        GfLinear *linear = add_kernel(filter, 1, width, height, taps_for(sample));
        linear->anchor_x = next() % width;
        linear->anchor_y = next() % height;
        GfPlanOptions options = options_of(sample, (GfBorder)(i % BORDERS));
        options.flip = i % 2;
        run_one("anchors", format_of(21 + i, 19, 1 + i % 4, sample), options, filter);
    }
}

/* Every combination of a bank's responses, with an offset and functions behind it. */
static void test_banks(void)
{
    size_t turn = 0;
    for (int op = GF_COMBINE_L2; op <= GF_COMBINE_UNSHARP; op++)
        for (size_t filters = 2; filters <= 3; filters++)
            for (size_t channels = 1; channels <= 4; channels++)
                for (size_t s = 0; s < SAMPLES; s++) {
                    size_t side = 1 + 2 * (turn++ % 4);
                    if ((op == GF_COMBINE_UNSHARP && filters > 2) || (quick && turn % 17 != 0))
                        continue;
                    GfFilter *filter = new_filter();
                    GfLinear *linear =
                        add_kernel(filter, filters, side, side, taps_for(samples[s]));
                    linear->offset = turn % 3 ? 0.0 : 0.25;
                    GfCombine combine = {(GfCombineOp)op, 0.8, 3.3};
                    must(gf_filter_add_combine(filter, combine), "combine");
                    if (turn % 2)
                        must(gf_filter_add_pointwise(
                                 filter, (GfPointwise){GF_POINTWISE_AFFINE, 0.5, 0.125}),
                             "pointwise");
                    run_one("banks", format_of(45, 38, channels, samples[s]),
                            options_of(samples[s], (GfBorder)(turn % BORDERS)), filter);
                }
}

/* Squares that leave the range of f32. */
static void test_magnitudes(void)
{
    static const double scales[] = {1e-25, 1e-15, 1e15, 1e25};
    for (size_t i = 0; i < 4; i++) {
        GfFilter *filter = new_filter();
        add_kernel(filter, 2, 3, 3, FRACTION)->scale = scales[i];
        must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L2}), "combine");
        run_one("magnitudes", format_of(40, 20, 1, GF_F32),
                options_of(GF_F32, GF_BORDER_REFLECT101), filter);
    }
}

/* Opacity in all its ways, ranges, depths. */
static void test_options(void)
{
    static const GfSample depths[] = {GF_U8, GF_U16, GF_F32, GF_F64};
    size_t turn = 0;
    for (int alpha = GF_ALPHA_AUTO; alpha <= GF_ALPHA_FILTER; alpha++)
        for (int range = GF_RANGE_AUTO; range <= GF_RANGE_OFFSET; range++)
            for (size_t s = 0; s < 4; s++)
                for (size_t d = 0; d < 4; d++) {
                    bool reals = gf_sample_is_float(depths[s]);
                    size_t side = 1 + 2 * (turn++ % 4);
                    if ((reals && !gf_sample_is_float(depths[d])) || (quick && turn % 23 != 0))
                        continue;
                    GfPlanOptions options = options_of(depths[s], (GfBorder)(turn % BORDERS));
                    options.sample = depths[d];
                    options.alpha = (GfAlpha)alpha;
                    options.range = (GfRange)range;
                    run_one("options", format_of(53, 26, turn % 4 + 1, depths[s]), options,
                            kernel(1, side, side, reals || turn % 3 ? POSITIVE : INTEGER));
                }
}

/* Derivatives, whose sums cancel, on integers. */
static void test_derivatives(void)
{
    static const double sobel[2][9] = {{-1, 0, 1, -2, 0, 2, -1, 0, 1},
                                       {-1, -2, -1, 0, 0, 0, 1, 2, 1}};
    for (size_t i = 0; i < (quick ? 3 : 24); i++) {
        GfFilter *filter = new_filter();
        GfLinear *linear = add_kernel(filter, 1 + i % 2, 3, 3, INTEGER);
        memcpy(linear->weights, sobel, (1 + i % 2) * sizeof *sobel);
        linear->scale = 1.0;
        if (i % 2)
            must(gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_L2}), "combine");
        GfSample sample = samples[i / 2 % 2];
        run_one("derivatives", format_of(70, 41, 1 + i / 4 % 4, sample),
                options_of(sample, (GfBorder)(i % BORDERS)), filter);
    }
}

/* Steps one after the other, several outputs of one picture, kernels given by factors. */
static void test_chains(void)
{
    for (size_t i = 0; i < (quick ? 3 : 72); i++) {
        GfSample sample = samples[i % SAMPLES];
        GfPlanOptions options = options_of(sample, (GfBorder)(i / SAMPLES % BORDERS));
        GfFilter *filters[3];
        for (size_t f = 0; f < 3; f++) {
            filters[f] = new_filter();
            for (size_t j = 0; j <= f + i % 2; j++)
                add_kernel(filters[f], 1, 1 + 2 * (next() % 4), 1 + next() % 7, POSITIVE);
        }
        GfLinear *factors;
        must(gf_filter_add_factors(filters[1], 1, 5, 9, &factors), "factors");
        for (size_t j = 0; j < 9; j++)
            factors->columns[j] = factors->rows[j % 5] = uniform(0.1, 0.3);
        Case c = {format_of(61, 90, 1 + i % 4, sample), options, {NULL}, 3, "chains", false};
        for (size_t f = 0; f < 3; f++)
            c.filters[f] = filters[f];
        run_case(&c);
        for (size_t f = 0; f < 3; f++)
            gf_filter_free(filters[f]);
    }
}

/* Every width and height around the sizes of a thread, a warp and a block's halo. */
static void test_sweep(void)
{
    for (size_t width = 1; width <= 70; width++)
        for (size_t height = 1; height <= 70; height++) {
            GfBorder border = (GfBorder)((width + height) % (BORDERS - 1));
            GfFilter *filter = kernel(1, 5, 5, INTEGER);
            Case c = {.format = format_of(width, height, 1, GF_U8),
                      .options = options_of(GF_U8, border),
                      .filters = {filter},
                      .count = 1,
                      .what = "sweep",
                      .brief = true};
            if (!quick || (width * 70 + height) % 401 == 0)
                run_case(&c);
            gf_filter_free(filter);
        }
}

/* More rows, and longer rows, than one grid dimension has blocks or 16 bits can count. */
static void test_long(void)
{
    static const size_t longs[][3] = {{70001, 2, 1}, {2, 70001, 1}, {30001, 9, 3}, {1, 600000, 1}};
    for (size_t i = 0; i < 4; i++) {
        GfPlanOptions options = options_of(GF_U8, GF_BORDER_REFLECT101);
        options.band_bytes = 1 << 24;
        run_one("long", format_of(longs[i][0], longs[i][1], longs[i][2], GF_U8), options,
                kernel(1, 3, 3, INTEGER));
    }
}

/* ---- launchers alone ---- */

/* A block in device memory, `shift` bytes off the alignment of an allocation. */
static void *to_device(const Block *block, size_t shift, void **memory)
{
    must_cuda(cudaMalloc(memory, block->bytes + shift));
    unsigned char *bytes = *memory;
    must_cuda(cudaMemcpy(bytes + shift, block->memory, block->bytes, cudaMemcpyHostToDevice));
    return bytes + shift;
}

static float *float_taps(const GfLinear *linear)
{
    size_t taps = linear->width * linear->height, count = linear->filters * taps;
    float *weights = malloc(count * sizeof *weights);
    for (size_t i = 0; weights && i < count; i++)
        weights[i] =
            (float)gf_linear_tap(linear, i / taps, i % taps / linear->width, i % linear->width);
    return weights;
}

/* Runs the one step of a plan on rows that lie anywhere, the result to `out`. */
static void launch_step(const GfAlgorithm *row, const GfPipeline *pipeline, const Block *in,
                        Block *out, size_t shift)
{
    const GfStep *step = &pipeline->steps[0];
    size_t count = step->linear.filters * step->linear.width * step->linear.height;
    float *weights = float_taps(&step->linear);
    void *memory[3];
    unsigned char *from = to_device(in, shift, &memory[0]), *to = to_device(out, shift, &memory[1]);
    must_cuda(cudaMalloc(&memory[2], count * sizeof *weights));
    must_cuda(cudaMemcpy(memory[2], weights, count * sizeof *weights, cudaMemcpyHostToDevice));
    GfLaunch launch = {.step = step,
                       .in = {from + GUARD, in->stride, 0, step->in_height},
                       .out = to + GUARD,
                       .out_stride = out->stride,
                       .y1 = step->out_height,
                       .weights = memory[2],
                       .weights_host = weights};
    must_cuda(row->launch(&launch, NULL));
    must_cuda(cudaMemcpy(out->memory, to, out->bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < 3; i++)
        must_cuda(cudaFree(memory[i]));
    free(weights);
}

static void check_strides(const Case *c, size_t shift, size_t padding)
{
    GfPlan *exact = exact_plan(c), *plan;
    Block in = random_picture(&c->format), want, wide_in;
    must(run_plan(reference, exact, &in, &want), c->what);
    must(gf_plan_create(c->filters, 1, &c->format, &c->options, &plan), c->what);
    const GfPipeline *pipeline = &plan->pipelines[0];
    size_t size = gf_sample_size(c->format.sample), bytes = gf_row_bytes(&c->format);
    wide_in = make_block(c->format.height, bytes + padding * size);
    for (size_t y = 0; y < c->format.height; y++)
        memcpy(wide_in.rows + y * wide_in.stride, in.rows + y * in.stride, bytes);
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++) {
        if (pipeline->count != 1 || pipeline->wide ||
            row->supports(&pipeline->steps[0], false) != GF_OK)
            continue;
        Block out = make_block(pipeline->out.height, gf_row_bytes(&pipeline->out) + padding * size);
        launch_step(row, pipeline, &wide_in, &out, shift * size);
        check_outs(plan, &out, &want, NULL, row->name);
        free(out.memory);
    }
    free(in.memory);
    free(want.memory);
    free(wide_in.memory);
    gf_plan_free(plan);
    gf_plan_free(exact);
}

/* Rows at every distance from what vectors are aligned to. */
static void test_strides(void)
{
    for (size_t i = 0; i < (quick ? 6 : 120); i++) {
        GfSample sample = samples[i % SAMPLES];
        GfFormat format = format_of(20 + next() % 30, 9, 1 + i / 3 % 4, sample);
        size_t side = 1 + 2 * (next() % 4), shift = next() % 5;
        /* Now and then rows that are aligned but for where they begin. */
        size_t padding = i % 2 ? next() % 4 : (4 - gf_row_samples(&format) % 4) % 4;
        GfFilter *filter = kernel(1, side, side, INTEGER);
        GfPlanOptions options = options_of(sample, (GfBorder)(i % (BORDERS - 1)));
        options.alpha = i % 5 ? GF_ALPHA_COPY : GF_ALPHA_FILTER;
        Case c = {format, options, {filter}, 1, "strides", false};
        check_strides(&c, shift, padding);
        gf_filter_free(filter);
    }
}

/* ---- sessions ---- */

typedef struct Worker {
    GfBackend *backend;
    const GfPlan *plan;
    const Block *in;
    Block outs[4];
    GfStatus status;
} Worker;

static void *work(void *context)
{
    Worker *worker = context;
    for (size_t i = 0; i < 8; i++) {
        worker->status = run_plan(worker->backend, worker->plan, worker->in, worker->outs);
        if (worker->status != GF_OK)
            break;
        if (i < 7)
            free_outs(worker->outs, 1);
    }
    return NULL;
}

/* Sessions of one backend in two threads give what one thread gets. */
static void test_threads(size_t a)
{
    GfFormat format = format_of(200, 150, 3, GF_U8);
    GfPlanOptions options = options_of(GF_U8, GF_BORDER_REPLICATE);
    GfFilter *filter = kernel(1, 5, 5, INTEGER);
    const GfFilter *filters[] = {filter};
    Block in = random_picture(&format), alone;
    GfPlan *plan;
    Worker workers[2];
    pthread_t threads[2];
    must(gf_plan_create(filters, 1, &format, &options, &plan), "threads");
    shrink_bands(plan, 7);
    must(run_plan(gpus[a], plan, &in, &alone), "threads");
    for (size_t i = 0; i < 2; i++) {
        workers[i] = (Worker){.backend = gpus[a], .plan = plan, .in = &in};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        bool good = workers[i].status == GF_OK;
        report(good && same_bits(&plan->pipelines[0].out, &alone, &workers[i].outs[0]), names[a],
               "two threads disturb each other");
        if (good)
            free_outs(workers[i].outs, 1);
    }
    free(alone.memory);
    free(in.memory);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* One session, three pictures one after the other, pinned rows; then ended with a submit in flight.
 */
static void test_reuse(size_t a)
{
    GfFormat format = format_of(150, 97, 1, GF_U16);
    GfPlanOptions options = options_of(GF_U16, GF_BORDER_REFLECT);
    GfFilter *filter = kernel(1, 3, 3, INTEGER);
    const GfFilter *filters[] = {filter};
    GfPlan *plan;
    must(gf_plan_create(filters, 1, &format, &options, &plan), "reuse");
    shrink_bands(plan, 6);
    Block fresh, out = make_picture(&plan->pipelines[0].out);
    Run run = {.backend = gpus[a], .plan = plan, .outs = &out};
    void *rows;
    size_t stride = gf_row_bytes(&format);
    must(gpus[a]->host_alloc(gpus[a], plan->ring_rows * stride, &rows), "pinned memory");
    run.ring = (GfRing){rows, stride, plan->ring_rows};
    must(gpus[a]->session(gpus[a], plan, &run.session), "reuse");
    for (size_t i = 0; i < 3; i++) {
        Block in = random_picture(&format);
        run.in = &in;
        must(run_picture(&run), "reuse");
        must(run_plan(gpus[a], plan, &in, &fresh), "reuse");
        report(same_bits(&plan->pipelines[0].out, &out, &fresh), names[a],
               "a session's second picture differs");
        free(fresh.memory);
        if (i == 2) {
            memset(run.done, 0, sizeof run.done);
            must(run.backend->begin(run.session, &run.ring), "reuse");
            must(submit_band(&run, 0, plan->band_rows), "reuse");
        }
        free(in.memory);
    }
    GfTimes times = run.backend->times(run.session);
    report(times.compute > 0.0 && times.copy > 0.0, names[a], "no times");
    report(strcmp(run.backend->method(run.session, 0, 0), names[a]) == 0, names[a], "its name");
    run.backend->end(run.session);
    gpus[a]->host_free(gpus[a], rows);
    free(out.memory);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void test_sessions(void)
{
    for (size_t a = 0; a < algorithms; a++) {
        /* racecheck (CUDA 13.0) came to a halt in this three times out of five, for a reason that is
         * not known; the other tools, and runs without them, never did. */
        if (!quick)
            test_threads(a);
        test_reuse(a);
    }
}

/* Failures that are told and leave everything usable. */
static void test_failures(void)
{
    GfBackend *backend;
    GfFilter *filter = kernel(1, 3, 3, POSITIVE);
    const GfFilter *filters[] = {filter};
    GfFormat format = format_of(1 << 20, 1 << 22, 3, GF_F32);
    GfPlanOptions options = options_of(GF_F32, GF_BORDER_WRAP);
    GfSession *session = NULL;
    GfPlan *plan;
    report(gf_cuda_open(0, "nonsense", &backend) == GF_EUSAGE, "an unknown algorithm",
           gf_message());
    report(gf_cuda_open(4096, NULL, &backend) == GF_ENODEVICE, "an unknown device", gf_message());
    must(gf_plan_create(filters, 1, &format, &options, &plan), "failures");
    report(gpus[0]->session(gpus[0], plan, &session) == GF_EDEVMEM && !session,
           "48 TiB of device memory", gf_message());
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* ---- all of it ---- */

static const struct {
    const char *name;
    void (*run)(void);
    bool quick; /* runs with --quick too */
} groups[] = {{"sizes", test_sizes, true},
              {"kernels", test_kernels, true},
              {"anchors", test_anchors, true},
              {"banks", test_banks, true},
              {"magnitudes", test_magnitudes, true},
              {"options", test_options, true},
              {"derivatives", test_derivatives, true},
              {"chains", test_chains, true},
              {"sweep", test_sweep, true},
              {"strides", test_strides, true},
              {"long", test_long, false},
              {"sessions", test_sessions, true},
              {"failures", test_failures, false}};

static int open_backends(void)
{
    size_t count;
    if (gf_cuda_devices(NULL, 0, &count) != GF_OK) {
        printf("SKIP: %s\n", gf_message());
        return 77;
    }
    must(gf_reference_open(&reference), "reference");
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++) {
        names[algorithms] = row->name;
        must(gf_cuda_open(0, row->name, &gpus[algorithms++]), row->name);
    }
    printf("# %s\n", gpus[0]->device);
    return 0;
}

int main(int argc, char **argv)
{
    quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int status = open_backends();
    if (status != 0)
        return status;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        size_t failed_before = failed, passed_before = passed;
        if (quick && !groups[i].quick)
            continue;
        groups[i].run();
        close_group(groups[i].name, failed_before, passed_before);
    }
    for (size_t a = 0; a < algorithms; a++) {
        printf("# %s ran %zu cases\n", names[a], runs[a]);
        gpus[a]->close(gpus[a]);
    }
    reference->close(reference);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed > 0;
}
