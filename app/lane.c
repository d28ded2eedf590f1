/* The plan says how many rows there are of everything; here they get memory, the backend's own
 * where its transfers want that. */
#include "app/lane.h"

#include <stdlib.h>

static bool same_format(const GfFormat *a, const GfFormat *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->has_alpha == b->has_alpha && a->sample == b->sample;
}

static bool same_light(const GfLight *a, const GfLight *b)
{
    return a && b ? gf_light_same(a, b) : a == b;
}

/* Options that differ between pictures of one run; the others are the command line's. Of those
 * before, the light was that picture's, and the plan has a copy. */
static bool same_wishes(const GfLane *lane, const GfPlanOptions *b)
{
    const GfPlanOptions *a = &lane->wishes;
    return a->sample == b->sample && a->band_bytes == b->band_bytes && a->memory == b->memory &&
           a->devices == b->devices && same_light(lane->plan->options.light, b->light);
}

static bool same_filters(const GfLane *lane, const GfBank *bank, const bool *wanted)
{
    size_t next = 0;
    for (size_t i = 0; i < bank->count; i++) {
        bool has = next < lane->plan->outputs && lane->filters[next] == i;
        if (has != (!wanted || wanted[i]))
            return false;
        next += has;
    }
    return true;
}

static GfStatus make_plan(GfLane *lane, const bool *wanted, const GfFormat *in,
                          const GfPlanOptions *options)
{
    const GfBank *bank = lane->bank;
    const GfFilter **filters;
    size_t count = 0;
    GF_TRY(gf_allocate(bank->count, sizeof *lane->filters, &lane->filters));
    GF_TRY(gf_allocate(bank->count, sizeof *filters, &filters));
    for (size_t i = 0; i < bank->count; i++) {
        if (wanted && !wanted[i])
            continue;
        lane->filters[count] = i;
        filters[count++] = bank->filters[i];
    }
    GfStatus status = gf_plan_create(filters, count, in, options, &lane->plan);
    free(filters);
    return status;
}

static GfStatus allocate(GfLane *lane, size_t rows, size_t stride, void **memory)
{
    size_t bytes;
    if (!gf_mul(gf_max(rows, 1), stride, &bytes))
        return gf_fail(GF_EMEMORY, "%zu rows of %zu bytes are too much memory", rows, stride);
    if (lane->backend->host_alloc)
        return lane->backend->host_alloc(lane->backend, bytes, memory);
    return gf_allocate(bytes, 1, memory);
}

static void release(GfLane *lane, void *memory)
{
    if (memory && lane->backend->host_free)
        lane->backend->host_free(lane->backend, memory);
    else
        free(memory);
}

static GfStatus allocate_rows(GfLane *lane)
{
    const GfPlan *plan = lane->plan;
    void *memory;
    lane->submits = (plan->in.height + plan->band_rows - 1) / plan->band_rows;
    lane->slots = plan->slots;
    lane->ring = (GfRing){.rows = plan->ring_rows, .stride = gf_row_stride(&plan->in)};
    GF_TRY(allocate(lane, lane->ring.rows, lane->ring.stride, &memory));
    lane->ring.samples = memory;
    GF_TRY(gf_allocate_zero(lane->slots * plan->outputs, sizeof *lane->bands, &lane->bands));
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfPipeline *pipeline = &plan->pipelines[i];
        for (size_t slot = 0; slot < lane->slots; slot++) {
            GfBand *band = gf_lane_band(lane, slot, i);
            band->stride = gf_row_stride(&pipeline->out);
            GF_TRY(allocate(lane, pipeline->most_rows, band->stride, &band->samples));
        }
    }
    return GF_OK;
}

GfStatus gf_lane_prepare(GfLane *lane, GfBackend *backend, const GfBank *bank, const bool *wanted,
                         const GfFormat *in, const GfPlanOptions *wishes)
{
    if (lane->backend == backend && same_format(&lane->plan->in, in) && same_wishes(lane, wishes) &&
        same_filters(lane, bank, wanted))
        return GF_OK;
    gf_lane_clear(lane);
    GfPlanOptions options = *wishes;
    options.band_bytes = backend->band_bytes;
    if (wishes->band_bytes)
        options.band_bytes = gf_min(options.band_bytes, wishes->band_bytes);
    options.whole = backend->whole;
    options.prompt = backend->prompt;
    options.tall = backend->tall;
    GfStatus status;
    lane->backend = backend;
    lane->bank = bank;
    lane->wishes = *wishes;
    lane->wishes.light = NULL;
    GF_GO(make_plan(lane, wanted, in, &options));
    GF_GO(backend->supports(backend, lane->plan));
    GF_GO(backend->session(backend, lane->plan, &lane->session));
    GF_GO(allocate_rows(lane));
done:
    if (status != GF_OK)
        gf_lane_clear(lane);
    return status;
}

size_t gf_lane_memory(const GfLane *lane)
{
    const GfPlan *plan = lane->plan;
    if (!lane->backend->memory)
        return 0;
    size_t bytes = lane->ring.rows * lane->ring.stride + lane->backend->memory(lane->session);
    for (size_t i = 0; i < plan->outputs; i++) {
        size_t rows = gf_min(plan->band_rows, plan->pipelines[i].most_rows);
        bytes += lane->slots * rows * gf_lane_band(lane, 0, i)->stride;
    }
    return bytes;
}

void gf_lane_clear(GfLane *lane)
{
    /* The session first: it waits for whatever still reads or writes the rows. */
    if (lane->session)
        lane->backend->end(lane->session);
    if (lane->ring.samples)
        release(lane, lane->ring.samples);
    if (lane->bands)
        for (size_t i = 0; i < lane->slots * lane->plan->outputs; i++)
            release(lane, lane->bands[i].samples);
    free(lane->bands);
    gf_plan_free(lane->plan);
    free(lane->filters);
    *lane = (GfLane){0};
}
