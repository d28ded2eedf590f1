/* A session is one of each backend, made when it gets its first work. A band is handed to one of
 * them together with those rows of the input that the band needs and the backend does not have yet,
 * so that only what neighbouring bands share is sent twice. Until a band is collected its rows stay
 * in the caller's ring: so another backend can make it where the first one fails, and one that
 * comes late any. */
#include "filters/spread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Spread {
    GfBackend backend;
    atomic_size_t waiting; /* sessions that a backend keeps waiting */
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t added;
    GfBackend *backends[GF_SPREAD_MAX]; /* one that was found under the mutex is used without it */
    size_t count, coming;
    GfError lost[GF_SPREAD_MAX]; /* why it gets no more work; GF_OK: it does */
    bool told[GF_SPREAD_MAX];
    size_t sessions, pictures;
} Spread;

/* A backend's part in a session. */
typedef struct Part {
    GfSession *session; /* NULL: not made yet */
    bool begun;         /* the picture under way */
    bool full;          /* it had no memory for that */
    size_t begin, end;  /* rows of it that the backend has */
    size_t *queue;      /* numbers of submits under way, the oldest first; SIZE_MAX: only rows */
    size_t queued, room;
} Part;

/* A submit that is not collected yet. */
typedef struct Pending {
    size_t number, part;
    bool done;
    GfBand *outs; /* one an output; owned */
} Pending;

struct GfSession {
    Spread *spread;
    const GfPlan *plan;
    const GfRing *ring;
    Part parts[GF_SPREAD_MAX];
    Pending *pending; /* plan->slots of them: submit n is in slot n % slots */
    size_t first; /* whose turn the picture's first band is, modulo the backends that there are */
    size_t submitted, collected;
};

/* ---- who works ---- */

static bool is_lost(Spread *spread, size_t i)
{
    pthread_mutex_lock(&spread->mutex);
    bool lost = spread->lost[i].status != GF_OK;
    pthread_mutex_unlock(&spread->mutex);
    return lost;
}

/* The mutex is held. With `parts` of those that have memory. */
static size_t find_alive_now(const Spread *spread, size_t turn, const Part *parts)
{
    for (size_t n = 0; n < spread->count; n++) {
        size_t i = (turn + n) % spread->count;
        if (spread->lost[i].status == GF_OK && !(parts && parts[i].full))
            return i;
    }
    return SIZE_MAX;
}

/* The backend whose turn it is, or the next that has not failed and, with `parts`, has memory;
 * SIZE_MAX: none, and *alive says whether some have not failed. Where all have it waits for those
 * that come. */
static size_t find_able(Spread *spread, size_t turn, const Part *parts, bool *alive)
{
    pthread_mutex_lock(&spread->mutex);
    while (find_alive_now(spread, turn, NULL) == SIZE_MAX && spread->coming > 0)
        pthread_cond_wait(&spread->added, &spread->mutex);
    *alive = find_alive_now(spread, turn, NULL) != SIZE_MAX;
    size_t found = find_alive_now(spread, turn, parts);
    pthread_mutex_unlock(&spread->mutex);
    return found;
}

/* After a failure of backend `i`, which is this thread's message. */
static void lose(Spread *spread, size_t i)
{
    pthread_mutex_lock(&spread->mutex);
    gf_error_save(&spread->lost[i], GF_EDEVICE);
    pthread_mutex_unlock(&spread->mutex);
}

/* Ends a backend's part. What it still has under way is waited for: its copies would come into
 * bands that are in use again. */
static void drop_part(GfSession *session, size_t i)
{
    Part *part = &session->parts[i];
    if (part->session)
        session->spread->backends[i]->end(part->session);
    part->session = NULL;
    part->begun = false;
    part->queued = 0;
}

/* When no backend can do it: `last` is how the last one that tried ended, GF_OK where none did. */
static GfStatus none_able(bool alive, GfStatus last)
{
    if (!alive)
        return last == GF_EDEVICE ? last : gf_fail(GF_EDEVICE, "all devices have failed");
    return last == GF_EDEVMEM
               ? last
               : gf_fail(GF_EDEVMEM, "the devices that are left are short of memory");
}

/* ---- one backend's work ---- */

static GfStatus push(Part *part, size_t number)
{
    if (part->queued == part->room) {
        size_t room = 2 * part->room + 4;
        size_t *longer = realloc(part->queue, room * sizeof *longer);
        if (!longer)
            return gf_fail(GF_EMEMORY, "out of memory");
        part->queue = longer;
        part->room = room;
    }
    part->queue[part->queued++] = number;
    return GF_OK;
}

static Pending *find_pending(GfSession *session, size_t number)
{
    return &session->pending[number % session->plan->slots];
}

/* Waits for the oldest submit of a backend. */
static GfStatus collect_part(GfSession *session, size_t i)
{
    Part *part = &session->parts[i];
    GfBackend *backend = session->spread->backends[i];
    size_t number = part->queue[0];
    GF_TRY(backend->collect(part->session));
    memmove(part->queue, part->queue + 1, --part->queued * sizeof *part->queue);
    if (number != SIZE_MAX)
        find_pending(session, number)->done = true;
    return GF_OK;
}

static GfStatus prepare_part(GfSession *session, size_t i)
{
    Part *part = &session->parts[i];
    GfBackend *backend = session->spread->backends[i];
    if (!part->session)
        GF_TRY(backend->session(backend, session->plan, &part->session));
    if (part->begun)
        return GF_OK;
    GF_TRY(backend->begin(part->session, session->ring));
    part->begun = true;
    part->begin = part->end = 0;
    return GF_OK;
}

/* The rows of input that the outputs of a submit need. */
static GfRowRange rows_needed(const GfSession *session, const GfBand *outs)
{
    GfRowRange all = {SIZE_MAX, 0};
    for (size_t i = 0; i < session->plan->outputs; i++) {
        size_t begin, end;
        if (outs[i].rows == 0)
            continue;
        gf_pipeline_rows(&session->plan->pipelines[i], outs[i].y0, outs[i].y0 + outs[i].rows,
                         &begin, &end);
        all = (GfRowRange){gf_min(all.begin, begin), gf_max(all.end, end)};
    }
    return all;
}

/* Hands rows to a backend up to the last run that does not pass the ring's end: [*y0, *y0 +
 * *rows). */
static GfStatus send_rows(GfSession *session, size_t i, GfRowRange needed, size_t *y0, size_t *rows)
{
    Part *part = &session->parts[i];
    GfBackend *backend = session->spread->backends[i];
    size_t ring = session->plan->ring_rows, outputs = session->plan->outputs;
    bool follows = part->begin <= needed.begin && needed.begin <= part->end;
    size_t from = follows ? part->end : needed.begin;
    GfBand *nothing = NULL;
    if (from >= needed.end) {
        *y0 = needed.end;
        *rows = 0;
        return GF_OK;
    }
    GF_TRY(gf_allocate_zero(outputs, sizeof *nothing, &nothing));
    GfStatus status = GF_OK;
    for (size_t run_end; status == GF_OK; from = run_end) {
        run_end = gf_min(needed.end, (from / ring + 1) * ring);
        *y0 = from;
        *rows = run_end - from;
        if (run_end == needed.end)
            break;
        status = backend->submit(part->session, from, run_end - from, nothing);
        if (status == GF_OK)
            status = push(part, SIZE_MAX);
    }
    free(nothing);
    part->begin = follows ? part->begin : needed.begin;
    part->end = needed.end;
    return status;
}

static GfStatus submit_part(GfSession *session, size_t i, const Pending *pending)
{
    Part *part = &session->parts[i];
    GfBackend *backend = session->spread->backends[i];
    GfRowRange needed = rows_needed(session, pending->outs);
    size_t y0, rows;
    GF_TRY(prepare_part(session, i));
    GF_TRY(send_rows(session, i, needed, &y0, &rows));
    GF_TRY(backend->submit(part->session, y0, rows, pending->outs));
    return push(part, pending->number);
}

/* ---- failures ---- */

/* After a failure of backend `i`: may another do it? */
static bool goes_on(GfSession *session, size_t i, GfStatus status)
{
    if (status == GF_EDEVICE) {
        lose(session->spread, i);
        drop_part(session, i);
    } else if (status == GF_EDEVMEM) {
        session->parts[i].full = true;
    }
    return status == GF_EDEVICE || status == GF_EDEVMEM;
}

/* Gives a submit to the backend whose turn it is, or to the next that has not failed. */
static GfStatus place(GfSession *session, Pending *pending, size_t turn)
{
    GfStatus status = GF_OK;
    bool alive;
    for (size_t i; (i = find_able(session->spread, turn, session->parts, &alive)) != SIZE_MAX;) {
        pending->part = i;
        status = submit_part(session, i, pending);
        if (!goes_on(session, i, status))
            return status;
    }
    return none_able(alive, status);
}

/* A backend failed: what it had under way goes to the others. */
static GfStatus hand_over(GfSession *session, size_t failed)
{
    lose(session->spread, failed);
    drop_part(session, failed);
    for (size_t n = session->collected; n < session->submitted; n++) {
        Pending *pending = find_pending(session, n);
        if (pending->part == failed && !pending->done)
            GF_TRY(place(session, pending, failed + 1));
    }
    return GF_OK;
}

/* ---- the session ---- */

static void end(GfSession *session)
{
    if (!session)
        return;
    Spread *spread = session->spread;
    for (size_t i = 0; i < GF_SPREAD_MAX; i++) {
        drop_part(session, i);
        free(session->parts[i].queue);
    }
    for (size_t i = 0; session->pending && i < session->plan->slots; i++)
        free(session->pending[i].outs);
    free(session->pending);
    pthread_mutex_lock(&spread->mutex);
    spread->sessions--;
    pthread_mutex_unlock(&spread->mutex);
    free(session);
}

/* One session at once, so that what cannot be made is told now. */
static GfStatus make_first(GfSession *session)
{
    GfStatus status = GF_OK;
    bool alive;
    for (size_t i; (i = find_able(session->spread, 0, session->parts, &alive)) != SIZE_MAX;) {
        GfBackend *backend = session->spread->backends[i];
        status = backend->session(backend, session->plan, &session->parts[i].session);
        if (!goes_on(session, i, status))
            return status;
    }
    return none_able(alive, status);
}

static GfStatus make_session(GfBackend *backend, const GfPlan *plan, GfSession **out)
{
    Spread *spread = backend->state;
    GfSession *session;
    GfStatus status;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *session, &session));
    session->spread = spread;
    session->plan = plan;
    pthread_mutex_lock(&spread->mutex);
    spread->sessions++;
    pthread_mutex_unlock(&spread->mutex);
    GF_GO(gf_allocate_zero(plan->slots, sizeof *session->pending, &session->pending));
    for (size_t i = 0; i < plan->slots; i++)
        GF_GO(gf_allocate_zero(plan->outputs, sizeof *session->pending[i].outs,
                               &session->pending[i].outs));
    GF_GO(make_first(session));
    *out = session;
    return GF_OK;
done:
    end(session);
    return status;
}

static GfStatus begin(GfSession *session, const GfRing *ring)
{
    Spread *spread = session->spread;
    session->ring = ring;
    session->submitted = session->collected = 0;
    for (size_t i = 0; i < GF_SPREAD_MAX; i++) {
        session->parts[i].begun = session->parts[i].full = false;
        session->parts[i].queued = 0;
    }
    pthread_mutex_lock(&spread->mutex);
    session->first = spread->pictures++;
    pthread_mutex_unlock(&spread->mutex);
    return GF_OK;
}

static bool is_empty(const GfSession *session, const GfBand *outs)
{
    for (size_t i = 0; i < session->plan->outputs; i++)
        if (outs[i].rows > 0)
            return false;
    return true;
}

/* Is it the first one's turn for all bands? */
static bool is_whole(const GfSession *session)
{
    return session->plan->options.devices < 2;
}

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    size_t number = session->submitted++;
    Pending *pending = find_pending(session, number);
    (void)y0, (void)rows;
    pending->number = number;
    pending->done = is_empty(session, outs);
    memcpy(pending->outs, outs, session->plan->outputs * sizeof *outs);
    if (pending->done)
        return GF_OK;
    atomic_fetch_add(&session->spread->waiting, 1); /* a backend that has enough returns later */
    GfStatus status = place(session, pending, session->first + (is_whole(session) ? 0 : number));
    atomic_fetch_sub(&session->spread->waiting, 1);
    return status;
}

static GfStatus collect(GfSession *session)
{
    const Pending *pending = find_pending(session, session->collected);
    GfStatus status = GF_OK;
    atomic_fetch_add(&session->spread->waiting, 1);
    while (status == GF_OK && !pending->done) {
        size_t i = pending->part;
        /* What a device still hands out after it failed is not to be trusted. */
        bool lost = is_lost(session->spread, i);
        status = lost ? GF_EDEVICE : collect_part(session, i);
        if (status == GF_EDEVICE)
            status = hand_over(session, i);
    }
    atomic_fetch_sub(&session->spread->waiting, 1);
    session->collected += status == GF_OK;
    return status;
}

static bool starves(const GfSession *session)
{
    Spread *spread = session->spread;
    size_t able = 0;
    pthread_mutex_lock(&spread->mutex);
    for (size_t i = 0; i < spread->count; i++)
        able += spread->lost[i].status == GF_OK && !session->parts[i].full;
    pthread_mutex_unlock(&spread->mutex);
    return !is_whole(session) && session->submitted - session->collected < able;
}

/* The part whose figures stand for all: the first that has a session. */
static const char *method(const GfSession *session, size_t output, size_t step)
{
    const Spread *spread = session->spread;
    for (size_t i = 0; i < GF_SPREAD_MAX; i++)
        if (session->parts[i].session)
            return spread->backends[i]->method(session->parts[i].session, output, step);
    return "";
}

static GfTimes times(const GfSession *session)
{
    const Spread *spread = session->spread;
    GfTimes sum = {0};
    for (size_t i = 0; i < GF_SPREAD_MAX; i++) {
        if (!session->parts[i].session)
            continue;
        GfTimes own = spread->backends[i]->times(session->parts[i].session);
        sum.compute += own.compute;
        sum.copy += own.copy;
    }
    return sum;
}

/* ---- the backend ---- */

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    const Spread *spread = backend->state;
    return spread->backends[0]->supports(spread->backends[0], plan);
}

static GfStatus host_alloc(GfBackend *backend, size_t bytes, void **memory)
{
    Spread *spread = backend->state;
    GfStatus status = GF_OK;
    bool alive;
    *memory = NULL;
    for (size_t i; (i = find_able(spread, 0, NULL, &alive)) != SIZE_MAX; lose(spread, i)) {
        status = spread->backends[i]->host_alloc(spread->backends[i], bytes, memory);
        if (status != GF_EDEVICE)
            return status;
    }
    return none_able(alive, status);
}

static void host_free(GfBackend *backend, void *memory)
{
    Spread *spread = backend->state;
    pthread_mutex_lock(&spread->mutex);
    size_t alive = find_alive_now(spread, 0, NULL);
    pthread_mutex_unlock(&spread->mutex);
    GfBackend *owner = spread->backends[alive == SIZE_MAX ? 0 : alive];
    owner->host_free(owner, memory);
}

static void close_spread(GfBackend *backend)
{
    Spread *spread = backend->state;
    for (size_t i = 0; i < spread->count; i++)
        spread->backends[i]->close(spread->backends[i]);
    pthread_cond_destroy(&spread->added);
    pthread_mutex_destroy(&spread->mutex);
    free(spread);
}

GfStatus gf_spread_create(GfBackend *first, size_t most, const char *name, GfBackend **out)
{
    Spread *spread;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *spread, &spread));
    spread->coming = most - 1;
    spread->backends[spread->count++] = first;
    pthread_mutex_init(&spread->mutex, NULL);
    pthread_cond_init(&spread->added, NULL);
    spread->backend = (GfBackend){.name = name,
                                  .band_bytes = first->band_bytes,
                                  .whole = first->whole,
                                  .devices = most,
                                  .tall = first->tall,
                                  .bytes_per_second = (double)most * first->bytes_per_second,
                                  .flops_per_second = (double)most * first->flops_per_second,
                                  .state = spread,
                                  .supports = supports,
                                  .host_alloc = first->host_alloc ? host_alloc : NULL,
                                  .host_free = first->host_free ? host_free : NULL,
                                  .session = make_session,
                                  .begin = begin,
                                  .submit = submit,
                                  .collect = collect,
                                  .starves = starves,
                                  .method = method,
                                  .times = times,
                                  .end = end,
                                  .close = close_spread};
    snprintf(spread->backend.device, sizeof spread->backend.device, "%zu x %.100s", most,
             first->device);
    *out = &spread->backend;
    return GF_OK;
}

void gf_spread_add(GfBackend *backend, GfBackend *other)
{
    Spread *spread = backend->state;
    pthread_mutex_lock(&spread->mutex);
    spread->coming--;
    if (other)
        spread->backends[spread->count++] = other;
    pthread_cond_broadcast(&spread->added);
    pthread_mutex_unlock(&spread->mutex);
}

GfSpreadLoad gf_spread_load(GfBackend *backend)
{
    Spread *spread = backend->state;
    pthread_mutex_lock(&spread->mutex);
    bool stranded = find_alive_now(spread, 0, NULL) == SIZE_MAX;
    bool busy = 2 * atomic_load(&spread->waiting) > spread->sessions;
    pthread_mutex_unlock(&spread->mutex);
    return stranded ? GF_SPREAD_STRANDED : busy ? GF_SPREAD_BUSY : GF_SPREAD_IDLE;
}

bool gf_spread_next_loss(GfBackend *backend, const char **name, GfError *why)
{
    Spread *spread = backend->state;
    bool found = false;
    pthread_mutex_lock(&spread->mutex);
    for (size_t i = 0; i < spread->count && !found; i++) {
        found = spread->lost[i].status != GF_OK && !spread->told[i];
        if (!found)
            continue;
        spread->told[i] = true;
        *name = spread->backends[i]->name;
        *why = spread->lost[i];
    }
    pthread_mutex_unlock(&spread->mutex);
    return found;
}
