/* From the last step to the first goes what each must make: the union of the rows that all steps
 * after it read. Then the steps are run from the first to the last. What one makes lies in memory
 * until the last step that reads it is done, and where nothing else that is alive lies.
 *
 * Rows of a picture that is wrapped are numbered as if it went on for ever, so that those above row
 * 0 are neighbours of it: row v is row v modulo the height, and every run of rows is one range. A
 * step itself only knows the picture's rows, so a range is computed in pieces that lie between
 * seams.
 *
 * Where tall windows are met across all columns of a wide picture, what lies between is large,
 * though runs be short. There the columns too are cut, to as many at a time as keep it within
 * BETWEEN_BYTES, and what neighbours share is computed for each. */
#include "cpu/chain.h"

#include <math.h>
#include <stdlib.h>

#include "common/text.h"

enum { MOST_RUN_ROWS = 64, LEAST_RUN_ROWS = 8, PARTS_A_WORKER = 3 };

/* Columns are cut to no fewer than so many times those that neighbours share. */
enum { LEAST_SHARES = 16 };

/* What lies between the steps takes no more memory than this, where a shorter run is worth while:
 * of a run, and of a network's, that all take together. What all take together may have a lower
 * limit given. */
enum { BETWEEN_BYTES = 16 << 20, DEEP_BETWEEN_BYTES = 256 << 20, DEEP_RUN_ROWS = 512 };

/* A run of a pipeline with layers may be shorter than LEAST_RUN_ROWS if it has as much to do. */
static const double least_run_work = 1e6;

/* Rows [begin, end). */
typedef struct Range {
    ptrdiff_t begin, end;
} Range;

/* What step i makes in a run, and where it lies. */
typedef struct Place {
    Range rows;
    size_t x0, x1; /* columns */
    size_t first;  /* byte */
} Place;

struct GfChain {
    const GfPipeline *pipeline;
    GfStepRunner **runners;
    size_t *pixel; /* bytes of a pixel that step i makes, of all channels */
    size_t *last;  /* the last step that reads what step i makes */
    size_t width;  /* columns of the output that are computed at once */
    Place *places; /* of a run that is only measured */
    size_t scratch;
    bool deep;
    size_t most_bytes; /* between the steps */
    size_t least_rows, most_rows;
};

/* ---- which rows ---- */

static void unite(Range *range, Range with)
{
    bool empty = range->begin >= range->end;
    if (with.begin >= with.end)
        return;
    range->begin = empty || with.begin < range->begin ? with.begin : range->begin;
    range->end = empty || with.end > range->end ? with.end : range->end;
}

/* A range that is the whole picture, or more, is the picture. */
static void bound(Range *range, size_t height)
{
    if (range->end - range->begin >= (ptrdiff_t)height)
        *range = (Range){0, (ptrdiff_t)height};
}

/* A part of a range between two seams: rows [y0, y1) of the picture, `turn` pictures away. */
typedef struct Piece {
    ptrdiff_t y0, y1, turn;
} Piece;

static Piece piece_at(ptrdiff_t at, ptrdiff_t end, size_t height)
{
    ptrdiff_t h = (ptrdiff_t)height, y = (at % h + h) % h, rows = end - at;
    return (Piece){y, y + (rows < h - y ? rows : h - y), (at - y) / h};
}

/* Rows that the step reads for those that it makes. */
static Range find_read(const GfStep *step, Range made)
{
    Range read = {0, 0};
    for (ptrdiff_t at = made.begin; at < made.end;) {
        Piece piece = piece_at(at, made.end, step->out_height);
        ptrdiff_t shift = piece.turn * (ptrdiff_t)step->in_height;
        Range window;
        gf_step_window(step, piece.y0, piece.y1, &window.begin, &window.end);
        unite(&read, (Range){window.begin + shift, window.end + shift});
        at += piece.y1 - piece.y0;
    }
    bound(&read, step->in_height);
    return read;
}

static void find_rows(const GfPipeline *pipeline, Range made, Place *places)
{
    size_t count = pipeline->count;
    for (size_t i = 0; i < count; i++)
        places[i].rows = (Range){0, 0};
    places[count - 1].rows = made;
    for (size_t i = count; i-- > 0;) {
        const GfStep *step = &pipeline->steps[i];
        bound(&places[i].rows, step->out_height);
        if (step->kind == GF_STEP_ADD && step->skip > 0)
            unite(&places[step->skip - 1].rows, places[i].rows);
        if (i > 0)
            unite(&places[i - 1].rows, find_read(step, places[i].rows));
    }
}

/* Whether the columns are cut. */
static bool is_cut(const GfChain *chain)
{
    return chain->width < chain->pipeline->out.width;
}

/* The columns that all steps make for those of the output from x0 on. Between the steps they are
 * whole vectors, whose samples are rounded alike wherever columns are cut. */
static void find_columns(const GfChain *chain, size_t x0, Place *places)
{
    const GfPipeline *pipeline = chain->pipeline;
    size_t last = pipeline->count - 1;
    places[last].x0 = x0;
    places[last].x1 = gf_min(x0 + chain->width, pipeline->out.width);
    for (size_t i = last; i-- > 0;) {
        Place *place = &places[i], *next = place + 1;
        size_t width = pipeline->steps[i].out_width;
        place->x0 = 0;
        place->x1 = width;
        if (!is_cut(chain))
            continue;
        gf_step_columns(&pipeline->steps[i + 1], next->x0, next->x1, &place->x0, &place->x1);
        place->x0 = place->x0 / GF_ALIGNMENT * GF_ALIGNMENT;
        place->x1 = gf_min(gf_align(place->x1), width);
    }
}

/* ---- where they lie ---- */

/* Bytes from one row that step i makes to the next. */
static size_t row_of(const GfChain *chain, const Place *places, size_t i)
{
    return gf_align((places[i].x1 - places[i].x0) * chain->pixel[i]);
}

static bool size_of(const GfChain *chain, const Place *places, size_t i, size_t *bytes)
{
    size_t rows = (size_t)(places[i].rows.end - places[i].rows.begin);
    return gf_mul(rows, row_of(chain, places, i), bytes);
}

/* Moves step i's place behind one that is alive and in its way; false when there is none. */
static bool make_way(const GfChain *chain, Place *places, size_t i, size_t bytes)
{
    for (size_t j = 0; j < i; j++) {
        size_t other;
        size_of(chain, places, j, &other); /* fitted before */
        if (chain->last[j] < i || places[i].first >= places[j].first + other ||
            places[j].first >= places[i].first + bytes)
            continue;
        places[i].first = places[j].first + other;
        return true;
    }
    return false;
}

/* Lays out what all steps but the last make. *bytes: of all of it; false when they are too many. */
static bool lay_out(const GfChain *chain, Place *places, size_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i + 1 < chain->pipeline->count; i++) {
        size_t own, end;
        places[i].first = 0;
        if (!size_of(chain, places, i, &own))
            return false;
        while (make_way(chain, places, i, own))
            continue;
        if (!gf_add(places[i].first, own, &end))
            return false;
        *bytes = gf_max(*bytes, end);
    }
    return true;
}

size_t gf_chain_between(GfChain *chain, size_t rows)
{
    Place *places = chain->places;
    size_t height = chain->pipeline->out.height, bytes;
    find_columns(chain, (chain->pipeline->out.width - chain->width) / 2, places);
    rows = gf_min(rows, height);
    ptrdiff_t y0 = (ptrdiff_t)((height - rows) / 2);
    find_rows(chain->pipeline, (Range){y0, y0 + (ptrdiff_t)rows}, places);
    return lay_out(chain, places, &bytes) ? bytes : SIZE_MAX;
}

/* Whether runs of `rows` rows keep within the memory that they may have. */
static bool fits(GfChain *chain, size_t rows)
{
    return gf_chain_between(chain, rows) <= chain->most_bytes;
}

/* ---- preparation ---- */

/* Rows between the first two steps that two neighbouring runs both compute, counted in rows of the
 * output. */
static size_t shared_rows(const GfPipeline *pipeline)
{
    double rows = 1.0, stride = 1.0;
    for (size_t i = pipeline->count - 1; i > 0; i--) {
        const GfStep *step = &pipeline->steps[i];
        double reach = (double)(step->taps_y - 1) * (double)step->dilation_y + 1.0;
        rows = ((rows - 1.0) * (double)step->stride_y + reach) / (double)step->factor_y;
        rows = fmax(fmin(rows, (double)step->in_height), 1.0);
        stride *= (double)step->stride_y / (double)step->factor_y;
    }
    return rows > stride ? (size_t)ceil((rows - stride) / stride) : 0;
}

/* Each run brings its own window, which for a few rows would cost more than what is done with
 * it. */
static size_t tallest_window(const GfPipeline *pipeline)
{
    size_t rows = 1;
    for (size_t i = 0; i < pipeline->count; i++)
        rows = gf_max(rows, pipeline->steps[i].taps_y);
    return rows;
}

/* The shortest run: handing it over costs something, and shared rows are computed twice. */
static size_t least_rows(const GfPipeline *pipeline)
{
    double work = pipeline->multiply_adds / (double)pipeline->out.height;
    if (gf_pipeline_layers(pipeline) == 0 || work * LEAST_RUN_ROWS <= least_run_work)
        return LEAST_RUN_ROWS;
    return gf_max((size_t)ceil(least_run_work / work), shared_rows(pipeline));
}

static void find_lives(GfChain *chain)
{
    const GfPipeline *pipeline = chain->pipeline;
    for (size_t i = 0; i < pipeline->count; i++) {
        chain->last[i] = i + 1;
        for (size_t j = i + 1; j < pipeline->count; j++)
            if (pipeline->steps[j].kind == GF_STEP_ADD && pipeline->steps[j].skip == i + 1)
                chain->last[i] = j;
    }
}

/* Workers can share a row of some step. */
static bool has_parts(const GfChain *chain)
{
    for (size_t i = 0; i < chain->pipeline->count; i++)
        if (gf_step_runner_parts(chain->runners[i], chain->pipeline->steps[i].out_width) > 1)
            return true;
    return false;
}

/* Whether columns may be cut, not those of a picture that is wrapped, whose sides meet; *shared:
 * those that neighbours share. */
static bool narrows(const GfChain *chain, size_t *shared)
{
    const GfPipeline *pipeline = chain->pipeline;
    *shared = 0;
    for (size_t i = 0; i < pipeline->count; i++) {
        const GfStep *step = &pipeline->steps[i];
        if (!gf_step_runner_narrows(chain->runners[i]) || step->border == GF_BORDER_WRAP)
            return false;
        *shared += i > 0 ? step->taps_x - 1 : 0;
    }
    return pipeline->count > 1 && has_parts(chain);
}

/* Cuts columns until runs of `rows` rows fit: by the filter and the picture alone, since no bit may
 * depend on bands or on --memory. */
static void choose_width(GfChain *chain, size_t rows)
{
    size_t shared;
    chain->width = chain->pipeline->out.width;
    chain->most_bytes = BETWEEN_BYTES;
    if (!narrows(chain, &shared))
        return;
    while (!fits(chain, rows)) {
        size_t width = gf_align((chain->width + 1) / 2);
        if (width < LEAST_SHARES * shared || width >= chain->width)
            return;
        chain->width = width;
    }
}

/* Whether the shortest run of one worker would take more than a network's, which all workers take:
 * a single layer, or enlargements, can make very much of a small picture. */
static bool is_vast(GfChain *chain, size_t memory)
{
    chain->most_bytes = memory ? gf_min(memory, DEEP_BETWEEN_BYTES) : DEEP_BETWEEN_BYTES;
    return chain->pipeline->count > 1 && !fits(chain, LEAST_RUN_ROWS);
}

static GfStatus choose_rows(GfChain *chain, size_t memory)
{
    const GfPipeline *pipeline = chain->pipeline;
    char limit[GF_SIZE_TEXT];
    size_t tall = gf_max(2 * shared_rows(pipeline), tallest_window(pipeline));
    choose_width(chain, gf_max(MOST_RUN_ROWS, tall));
    bool network = gf_pipeline_layers(pipeline) > 1 || is_vast(chain, memory);
    chain->deep = network || has_parts(chain);
    chain->most_bytes = network ? DEEP_BETWEEN_BYTES : BETWEEN_BYTES;
    if (chain->deep && memory)
        chain->most_bytes = gf_min(chain->most_bytes, memory);
    chain->least_rows = chain->deep ? gf_max(shared_rows(pipeline), 1) : least_rows(pipeline);
    chain->most_rows = chain->deep ? DEEP_RUN_ROWS : MOST_RUN_ROWS;
    /* Not so many that a band is one run. */
    for (size_t i = 0; i < pipeline->count && !chain->deep; i++)
        chain->least_rows =
            gf_max(chain->least_rows,
                   gf_min(gf_step_runner_least_rows(chain->runners[i]), 3 * LEAST_RUN_ROWS));
    bool shares = 2 * shared_rows(pipeline) > MOST_RUN_ROWS;
    chain->most_rows = gf_max(chain->most_rows, tall);
    while (chain->most_rows > chain->least_rows && !fits(chain, chain->most_rows))
        chain->most_rows = gf_max(chain->most_rows / 2, chain->least_rows);
    if (chain->deep || (shares && chain->most_rows > MOST_RUN_ROWS))
        chain->least_rows = chain->most_rows;
    chain->most_bytes = gf_max(chain->most_bytes, memory); /* there was a wish, this is the limit */
    bool over = network && memory && !fits(chain, chain->most_rows);
    return over ? gf_fail(GF_ELIMIT,
                          "what lies between the network's layers needs more than the limit of "
                          "%s",
                          gf_limit_text(memory, limit))
                : GF_OK;
}

GfStatus gf_chain_create(const GfPipeline *pipeline, const GfRowSet *rows, size_t memory,
                         GfChain **out)
{
    GfChain *chain;
    size_t count = pipeline->count;
    GfStatus status;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *chain, &chain));
    chain->pipeline = pipeline;
    GF_GO(gf_allocate_zero(count, sizeof *chain->runners, &chain->runners));
    GF_GO(gf_allocate_zero(count, sizeof *chain->pixel, &chain->pixel));
    GF_GO(gf_allocate_zero(count, sizeof *chain->last, &chain->last));
    GF_GO(gf_allocate_zero(count, sizeof *chain->places, &chain->places));
    for (size_t i = 0; i < count; i++) {
        const GfStep *step = &pipeline->steps[i];
        GF_GO(gf_step_runner_create(pipeline, i, rows, &chain->runners[i]));
        chain->scratch = gf_max(chain->scratch, gf_step_runner_scratch(chain->runners[i]));
        chain->pixel[i] = step->out_channels * gf_sample_size(step->out);
    }
    find_lives(chain);
    GF_GO(choose_rows(chain, memory));
    *out = chain;
    return GF_OK;
done:
    gf_chain_free(chain);
    return status;
}

size_t gf_chain_scratch(const GfChain *chain)
{
    return chain->scratch;
}

const char *gf_chain_method(const GfChain *chain, size_t step)
{
    return gf_step_runner_method(chain->runners[step]);
}

bool gf_chain_is_deep(const GfChain *chain)
{
    return chain->deep;
}

size_t gf_chain_least_rows(const GfChain *chain)
{
    return chain->least_rows;
}

size_t gf_chain_most_rows(const GfChain *chain)
{
    return chain->most_rows;
}

void gf_chain_free(GfChain *chain)
{
    if (!chain)
        return;
    for (size_t i = 0; chain->runners && i < chain->pipeline->count; i++)
        gf_step_runner_free(chain->runners[i]);
    free(chain->runners);
    free(chain->pixel);
    free(chain->last);
    free(chain->places);
    free(chain);
}

void gf_between_free(GfBetween *between)
{
    free(between->samples);
    free(between->places);
    *between = (GfBetween){0};
}

/* ---- computing ---- */

/* A run under way. */
typedef struct Run {
    const GfChain *chain;
    const GfRing *ring;
    const Place *places;
    unsigned char *samples; /* what lies between */
    const GfWorkers *workers;
    unsigned char *scratch; /* of worker 0 */
} Run;

/* A piece of a step's rows. */
typedef struct Part {
    const Run *run;
    size_t step;
    GfStepInput input, skipped;
    ptrdiff_t y0, y1;
    size_t across, rows; /* parts of a row, each a round of so many rows */
    GfStepOutput to;
} Part;

/* What step `reader` reads, which the step before it makes, seen from `turn` pictures away. */
static GfStepInput input_of(const Run *run, size_t reader, ptrdiff_t turn)
{
    const GfStep *step = &run->chain->pipeline->steps[reader];
    if (reader == 0)
        return (GfStepInput){run->ring->samples, run->ring->stride, run->ring->rows, 0, false, 0};
    const Place *place = &run->places[reader - 1];
    size_t rows = (size_t)(place->rows.end - place->rows.begin);
    bool window = rows < step->in_height;
    ptrdiff_t shift = window ? turn * (ptrdiff_t)step->in_height : 0;
    return (GfStepInput){run->samples + place->first,
                         row_of(run->chain, run->places, reader - 1),
                         rows,
                         place->rows.begin - shift,
                         window,
                         place->x0};
}

static void run_round(void *context, size_t round, size_t worker)
{
    const Part *part = context;
    const Run *run = part->run;
    void *scratch = worker == 0 ? run->scratch : gf_workers_memory(run->workers, worker);
    size_t top = round / part->across * part->rows;
    ptrdiff_t first = part->y0 + (ptrdiff_t)top, end = first + (ptrdiff_t)part->rows;
    end = end < part->y1 ? end : part->y1;
    GfStepOutput to = part->to;
    to.samples += top * to.stride;
    gf_step_runner_run(run->chain->runners[part->step], &part->input, &part->skipped, first, end,
                       round % part->across, &to, scratch);
}

static void run_piece(Part *part, GfWorkers *workers, size_t worker)
{
    const GfStepRunner *runner = part->run->chain->runners[part->step];
    size_t rows = (size_t)(part->y1 - part->y0);
    part->rows = rows;
    part->across = gf_step_runner_parts(runner, part->to.x1 - part->to.x0);
    if (!part->run->chain->deep) {
        for (size_t i = 0; i < part->across; i++)
            run_round(part, i, worker);
        return;
    }
    size_t parts = gf_workers_count(workers) * PARTS_A_WORKER;
    parts = (parts + part->across - 1) / part->across;
    /* Of tall windows on few columns many short parts would mostly load what others load, too. */
    if (is_cut(part->run->chain))
        parts = gf_workers_count(workers) / part->across;
    parts = gf_min(gf_max(parts, 1), rows);
    part->rows = gf_max((rows + parts - 1) / parts, gf_step_runner_least_rows(runner));
    gf_workers_run(workers, (rows + part->rows - 1) / part->rows * part->across, run_round, part);
}

/* Rows of one step, in the pieces that lie between seams. */
static void run_step(const Run *run, size_t i, unsigned char *samples, size_t stride,
                     GfWorkers *workers, size_t worker)
{
    const GfStep *step = &run->chain->pipeline->steps[i];
    const Place *place = &run->places[i];
    GfStepOutput to = {samples, stride, place->x0, place->x1};
    Range made = place->rows;
    for (ptrdiff_t at = made.begin; at < made.end;) {
        Piece piece = piece_at(at, made.end, step->out_height);
        Part part = {.run = run,
                     .step = i,
                     .input = input_of(run, i, piece.turn),
                     .y0 = piece.y0,
                     .y1 = piece.y1,
                     .to = to};
        if (step->kind == GF_STEP_ADD)
            part.skipped = input_of(run, step->skip, piece.turn);
        run_piece(&part, workers, worker);
        at += piece.y1 - piece.y0;
        to.samples += (size_t)(piece.y1 - piece.y0) * stride;
    }
}

/* For columns from x0 on. */
static GfStatus make_room(const GfChain *chain, Range made, size_t x0, GfBetween *between)
{
    size_t bytes;
    if (!between->places)
        GF_TRY(gf_allocate(chain->pipeline->count, sizeof(Place), &between->places));
    find_rows(chain->pipeline, made, between->places);
    find_columns(chain, x0, between->places);
    if (!lay_out(chain, between->places, &bytes))
        return gf_fail(GF_EMEMORY, "the rows between the steps are too large");
    if (bytes <= between->bytes)
        return GF_OK;
    free(between->samples);
    between->bytes = 0;
    GF_TRY(gf_allocate(bytes, 1, &between->samples));
    between->bytes = bytes;
    return GF_OK;
}

GfStatus gf_chain_run(const GfChain *chain, const GfRing *ring, ptrdiff_t y0, ptrdiff_t y1,
                      void *to, size_t stride, GfBetween *between, GfWorkers *workers,
                      size_t worker, unsigned char *scratch)
{
    size_t last = chain->pipeline->count - 1;
    for (size_t x0 = 0; x0 < chain->pipeline->out.width; x0 += chain->width) {
        GF_TRY(make_room(chain, (Range){y0, y1}, x0, between));
        const Place *places = between->places;
        Run run = {chain, ring, places, between->samples, workers, scratch};
        for (size_t i = 0; i < last; i++)
            run_step(&run, i, between->samples + places[i].first, row_of(chain, places, i), workers,
                     worker);
        run_step(&run, last, (unsigned char *)to + x0 * chain->pixel[last], stride, workers,
                 worker);
    }
    return GF_OK;
}
