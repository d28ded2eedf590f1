/* Three threads and four counters. One thread fills the ring with input rows, the caller's submits
 * them and collects results, one writes these. Everything they tell each other is how far each has
 * come:
 *
 *   decoded    input rows that are in the ring, counted from the top of the picture
 *   released   input rows that nothing needs any more, so that their place may be filled again
 *   collected  submits whose output bands are ready (submit k uses the bands of slot k % slots)
 *   written    submits whose output bands have been written, so that their slot is free
 *
 * Counters only grow, a thread waits until the one it depends on is far enough, and a failure ends
 * all waiting: that is all there is to know against deadlocks. The ring cannot starve: what is
 * submitted is collected before the caller waits for rows, and the plan made the ring large enough
 * for all rows that an output row needs and the next band.
 *
 * A picture of a single band, or a tiny one, and any where the system gives no threads, goes
 * through the same four functions in one thread. */
#include "app/flow.h"

#include <pthread.h>
#include <stdlib.h>

#include "app/stop.h"
#include "common/clock.h"
#include "common/thread.h"

enum { TINY_SAMPLES = 64 << 10 };

typedef struct Flow {
    GfLane *lane;
    const GfEnds *ends;
    GfFlowTimes *times;
    size_t submitted; /* of the caller's thread */
    size_t *next;     /* likewise: for each output the row that the next submit() begins with */

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t decoded, released, collected, written;
    GfError error;
} Flow;

/* ---- the four things that happen to a band ---- */

static GfStatus check_stop(void)
{
    return gf_stop_signal() ? gf_fail(GF_STOPPED, "stopped") : GF_OK;
}

static GfStatus decode(Flow *flow, size_t number)
{
    const GfRing *ring = &flow->lane->ring;
    size_t y0 = gf_lane_rows(flow->lane, number), y1 = gf_lane_rows(flow->lane, number + 1);
    GfBand band = {y0, y1 - y0, ring->stride, gf_ring_row(ring, y0)};
    GF_TRY(check_stop());
    double start = gf_now();
    GfStatus status = flow->ends->read(flow->ends->context, &band);
    flow->times->read += gf_now() - start;
    return status;
}

static GfStatus submit(Flow *flow)
{
    GfLane *lane = flow->lane;
    size_t number = flow->submitted, slot = number % lane->slots;
    size_t y0 = gf_lane_rows(lane, number), y1 = gf_lane_rows(lane, number + 1);
    GF_TRY(check_stop());
    for (size_t i = 0; i < lane->plan->outputs; i++) {
        size_t ready = gf_pipeline_ready(&lane->plan->pipelines[i], y1);
        GfBand *band = gf_lane_band(lane, slot, i);
        band->y0 = flow->next[i];
        band->rows = ready - flow->next[i];
        flow->next[i] = ready;
    }
    GF_TRY(lane->backend->submit(lane->session, y0, y1 - y0, gf_lane_band(lane, slot, 0)));
    flow->submitted++;
    return GF_OK;
}

/* Waits for submit `number` and says in *released which input rows are needed no more. */
static GfStatus collect(Flow *flow, size_t number, size_t *released)
{
    GfLane *lane = flow->lane;
    GF_TRY(lane->backend->collect(lane->session));
    /* Rows of submits under way may still be read. */
    *released = gf_lane_rows(lane, number + 1);
    for (size_t i = 0; i < lane->plan->outputs; i++) {
        const GfPipeline *pipeline = &lane->plan->pipelines[i];
        const GfBand *band = gf_lane_band(lane, number % lane->slots, i);
        size_t begin, end, next = band->y0 + band->rows;
        if (next == pipeline->out.height)
            continue;
        gf_pipeline_rows(pipeline, next, pipeline->out.height, &begin, &end);
        *released = gf_min(*released, begin);
    }
    return GF_OK;
}

static GfStatus encode(Flow *flow, size_t number)
{
    GfLane *lane = flow->lane;
    GfStatus status = GF_OK;
    double start = gf_now();
    for (size_t i = 0; status == GF_OK && i < lane->plan->outputs; i++) {
        GfBand band = *gf_lane_band(lane, number % lane->slots, i);
        if (band.rows)
            status = flow->ends->write(flow->ends->context, i, &band);
    }
    flow->times->write += gf_now() - start;
    return status;
}

/* ---- one thread ---- */

static GfStatus run_alone(Flow *flow)
{
    for (size_t i = 0; i < flow->lane->submits; i++) {
        size_t released;
        GF_TRY(decode(flow, i));
        GF_TRY(submit(flow));
        GF_TRY(collect(flow, i, &released));
        GF_TRY(encode(flow, i));
    }
    return GF_OK;
}

/* ---- three threads ---- */

/* Ends a thread's turn: sets its counter (NULL: none) or keeps its failure, and wakes the rest. */
static void tell(Flow *flow, GfStatus status, size_t *counter, size_t value)
{
    pthread_mutex_lock(&flow->mutex);
    if (status != GF_OK)
        gf_error_save(&flow->error, status);
    else if (counter)
        *counter = value;
    pthread_cond_broadcast(&flow->changed);
    pthread_mutex_unlock(&flow->mutex);
}

/* Waits until *counter reaches `value`; false when something failed meanwhile. */
static bool reaches(Flow *flow, const size_t *counter, size_t value)
{
    pthread_mutex_lock(&flow->mutex);
    while (flow->error.status == GF_OK && *counter < value)
        pthread_cond_wait(&flow->changed, &flow->mutex);
    bool good = flow->error.status == GF_OK;
    pthread_mutex_unlock(&flow->mutex);
    return good;
}

static void *reading_thread(void *argument)
{
    Flow *flow = argument;
    size_t room = flow->lane->ring.rows;
    for (size_t i = 0; i < flow->lane->submits; i++) {
        size_t end = gf_lane_rows(flow->lane, i + 1);
        if (!reaches(flow, &flow->released, end > room ? end - room : 0))
            break;
        GfStatus status = decode(flow, i);
        tell(flow, status, &flow->decoded, end);
        if (status != GF_OK)
            break;
    }
    return NULL;
}

static void *writing_thread(void *argument)
{
    Flow *flow = argument;
    for (size_t i = 0; i < flow->lane->submits; i++) {
        if (!reaches(flow, &flow->collected, i + 1))
            break;
        GfStatus status = encode(flow, i);
        tell(flow, status, &flow->written, i + 1);
        if (status != GF_OK)
            break;
    }
    return NULL;
}

typedef enum Turn { TURN_SUBMIT, TURN_COLLECT, TURN_FAILED } Turn;

static bool starves(const GfLane *lane)
{
    return lane->backend->starves && lane->backend->starves(lane->session);
}

/* What is computed already is collected first. Else submitting comes first, as long as rows and a
 * free slot are there; what is under way is collected next, but for a device that has nothing to do
 * rows and a slot are waited for, which the other threads bring; else there is nothing to do but to
 * wait. */
static Turn next_turn(Flow *flow)
{
    GfLane *lane = flow->lane;
    Turn turn = TURN_FAILED;
    pthread_mutex_lock(&flow->mutex);
    while (flow->error.status == GF_OK) {
        size_t rows = gf_lane_rows(lane, flow->submitted + 1);
        bool more = flow->submitted < lane->submits;
        bool done = lane->backend->prompt && flow->collected < flow->submitted;
        bool may_submit =
            more && !done && flow->decoded >= rows && flow->submitted - flow->written < lane->slots;
        bool comes = more && rows <= flow->released + lane->ring.rows &&
                     flow->submitted - flow->collected < lane->slots;
        if (may_submit || (flow->collected < flow->submitted && !(comes && starves(lane)))) {
            turn = may_submit ? TURN_SUBMIT : TURN_COLLECT;
            break;
        }
        pthread_cond_wait(&flow->changed, &flow->mutex);
    }
    pthread_mutex_unlock(&flow->mutex);
    return turn;
}

static void compute(Flow *flow)
{
    size_t collected = 0;
    GfStatus status = GF_OK;
    while (status == GF_OK && collected < flow->lane->submits) {
        Turn turn = next_turn(flow);
        if (turn == TURN_FAILED)
            break;
        if (turn == TURN_SUBMIT) {
            status = submit(flow);
            tell(flow, status, NULL, 0);
            continue;
        }
        size_t released = 0;
        status = collect(flow, collected, &released);
        tell(flow, status, &flow->released, released);
        if (status == GF_OK)
            tell(flow, GF_OK, &flow->collected, ++collected);
    }
}

static GfStatus run_together(Flow *flow)
{
    pthread_t reading, writing;
    pthread_mutex_init(&flow->mutex, NULL);
    pthread_cond_init(&flow->changed, NULL);
    /* The writing one first: it touches nothing before there is something to write. */
    bool has_writing = gf_thread_start(&writing, writing_thread, flow);
    bool has_reading = has_writing && gf_thread_start(&reading, reading_thread, flow);
    if (has_reading)
        compute(flow);
    else
        tell(flow, gf_fail(GF_EMEMORY, "cannot start a thread"), NULL, 0);
    if (has_reading)
        pthread_join(reading, NULL);
    if (has_writing)
        pthread_join(writing, NULL);
    pthread_cond_destroy(&flow->changed);
    pthread_mutex_destroy(&flow->mutex);
    if (!has_reading) /* slower, but no failure */
        return run_alone(flow);
    return flow->error.status == GF_OK ? GF_OK : gf_error_raise(&flow->error);
}

GfStatus gf_flow_run(GfLane *lane, const GfEnds *ends, GfFlowTimes *times)
{
    Flow flow = {.lane = lane, .ends = ends, .times = times};
    GfTimes before = lane->backend->times(lane->session);
    size_t samples;
    bool tiny = gf_mul(gf_row_samples(&lane->plan->in), lane->plan->in.height, &samples) &&
                samples < TINY_SAMPLES;
    GfStatus status;
    GF_GO(gf_allocate_zero(lane->plan->outputs, sizeof *flow.next, &flow.next));
    GF_GO(lane->backend->begin(lane->session, &lane->ring));
    status = tiny || lane->submits == 1 ? run_alone(&flow) : run_together(&flow);
    GfTimes after = lane->backend->times(lane->session);
    times->compute += after.compute - before.compute;
    times->copy += after.copy - before.copy;
done:
    free(flow.next);
    return status;
}
