/* Several backends as one: the bytes are those of one backend, however many there are, whichever of
 * them fail and whenever they come. */
#include "tests/unit/cpu_trial.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "filters/grammar.h"
#include "filters/spread.h"

enum { MOST = 8, WHEN_NEEDED = 1 };

/* Draws of what fails and comes when, for each chain of filters. Sanitizers see in few of them
 * what chance would show in many, and take ten times as long for each. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { TURNS = 5 };
#else
enum { TURNS = 20 };
#endif

/* Backends of the CPU that fail for good after so many calls; 0: never. */
typedef struct Frail {
    GfBackend *inner;
    size_t left, calls;
    bool fails, dead;
    bool poor; /* after so many, what needs memory finds none */
    bool held; /* keeps those who collect waiting */
} Frail;

static Frail frails[MOST];

/* Of what follows, and of all that a frail backend counts. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A session of a frail backend is found by the inner one that it is. */
static struct {
    const GfSession *session;
    Frail *frail;
} owners[256];
static size_t owner_count;

static Frail *owner(const GfSession *session)
{
    Frail *found = NULL;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < owner_count; i++)
        if (owners[i].session == session)
            found = owners[i].frail;
    pthread_mutex_unlock(&mutex);
    assert_non_null(found);
    return found;
}

static GfStatus may_fail(Frail *frail)
{
    pthread_mutex_lock(&mutex);
    frail->calls++;
    frail->dead = frail->fails && (frail->dead || frail->left-- == 0);
    bool dead = frail->dead;
    pthread_mutex_unlock(&mutex);
    return dead ? gf_fail(GF_EDEVICE, "a device is gone") : GF_OK;
}

static GfStatus may_be_short(Frail *frail)
{
    GF_TRY(may_fail(frail));
    if (!frail->poor)
        return GF_OK;
    if (frail->left == 0)
        return gf_fail(GF_EDEVMEM, "no memory");
    frail->left--;
    return GF_OK;
}

static GfStatus frail_alloc(GfBackend *backend, size_t bytes, void **memory)
{
    GF_TRY(may_fail(backend->state));
    return gf_allocate(bytes, 1, memory);
}

static void frail_free(GfBackend *backend, void *memory)
{
    (void)backend;
    free(memory);
}

static GfStatus frail_session(GfBackend *backend, const GfPlan *plan, GfSession **session)
{
    Frail *frail = backend->state;
    GF_TRY(may_be_short(frail));
    GF_TRY(frail->inner->session(frail->inner, plan, session));
    pthread_mutex_lock(&mutex);
    assert_true(owner_count < 256);
    owners[owner_count].session = *session;
    owners[owner_count++].frail = frail;
    pthread_mutex_unlock(&mutex);
    return GF_OK;
}

static GfStatus frail_begin(GfSession *session, const GfRing *ring)
{
    Frail *frail = owner(session);
    GF_TRY(may_fail(frail));
    return frail->inner->begin(session, ring);
}

/* Bands that a session of a frail backend may still copy to, the oldest first. */
static struct {
    const GfSession *session;
    const void *samples; /* NULL: nowhere */
} flying[256];
static size_t flying_count;

/* Takes a session's oldest band; false: it has none. */
static bool settle(const GfSession *session)
{
    size_t i = 0;
    pthread_mutex_lock(&mutex);
    while (i < flying_count && flying[i].session != session)
        i++;
    const bool found = i < flying_count;
    flying_count -= found;
    for (; found && i < flying_count; i++)
        flying[i] = flying[i + 1];
    pthread_mutex_unlock(&mutex);
    return found;
}

/* A band has one copy on its way at a time: that of a device which failed is waited for. */
static void set_off(const GfSession *session, const GfBand *out)
{
    const void *samples = out->rows > 0 ? out->samples : NULL;
    bool fits = true;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < flying_count; i++)
        fits &= !samples || flying[i].samples != samples;
    fits &= flying_count < 256;
    if (fits) {
        flying[flying_count].session = session;
        flying[flying_count++].samples = samples;
    }
    pthread_mutex_unlock(&mutex);
    assert_true(fits);
}

static GfStatus frail_submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    Frail *frail = owner(session);
    GF_TRY(may_be_short(frail));
    set_off(session, outs);
    return frail->inner->submit(session, y0, rows, outs);
}

/* Those whom backends keep waiting, and when they may go on. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t waiting;
    bool open;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static void wait_at_gate(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.waiting++;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.open)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.waiting--;
    pthread_mutex_unlock(&gate.mutex);
}

static GfStatus frail_collect(GfSession *session)
{
    Frail *frail = owner(session);
    if (frail->held)
        wait_at_gate();
    else
        GF_TRY(may_fail(frail));
    settle(session);
    return frail->inner->collect(session);
}

static GfStatus frail_supports(GfBackend *backend, const GfPlan *plan)
{
    const Frail *frail = backend->state;
    return frail->inner->supports(frail->inner, plan);
}

static void frail_end(GfSession *session)
{
    if (!session)
        return;
    while (settle(session))
        ;
    owner(session)->inner->end(session);
}

static void frail_close(GfBackend *backend)
{
    Frail *frail = backend->state;
    frail->inner->close(frail->inner);
    free(backend);
}

static GfBackend *make_frail(size_t i, bool fails, size_t calls)
{
    GfBackend *backend = malloc(sizeof *backend);
    assert_non_null(backend);
    frails[i] = (Frail){.left = random_below(calls + 1), .fails = fails};
    assert_int_equal(gf_cpu_open(1, &frails[i].inner), GF_OK);
    *backend = *frails[i].inner;
    backend->state = &frails[i];
    backend->supports = frail_supports;
    backend->host_alloc = frail_alloc;
    backend->host_free = frail_free;
    backend->session = frail_session;
    backend->begin = frail_begin;
    backend->submit = frail_submit;
    backend->collect = frail_collect;
    backend->end = frail_end;
    backend->close = frail_close;
    return backend;
}

/* Backends of a spread that are added while it works. */
typedef struct Late {
    GfBackend *spread;
    GfBackend *others[MOST]; /* NULL: does not come */
    size_t count;
    long pause; /* nanoseconds before each; WHEN_NEEDED: until all that there are have failed */
    pthread_t thread;
} Late;

static void *add_late(void *argument)
{
    const Late *late = argument;
    for (size_t i = 0; i < late->count; i++) {
        do
            nanosleep(&(struct timespec){.tv_nsec = late->pause}, NULL);
        while (late->pause == WHEN_NEEDED && gf_spread_load(late->spread) != GF_SPREAD_STRANDED);
        gf_spread_add(late->spread, late->others[i]);
    }
    return NULL;
}

/* `failing` bits say which of the backends fail, each after a random number of calls, `missing`
 * bits which of all but the first do not come. A thread adds those, after a pause for each. */
static void make_spread(size_t count, unsigned failing, unsigned missing, size_t calls, long pause,
                        Late *late)
{
    GfBackend *first = make_frail(0, failing & 1, calls);
    *late = (Late){.count = count - 1, .pause = pause};
    owner_count = 0;
    for (size_t i = 1; i < count; i++)
        late->others[i - 1] = missing >> i & 1 ? NULL : make_frail(i, failing >> i & 1, calls);
    assert_int_equal(gf_spread_create(first, count, "all", &late->spread), GF_OK);
    if (pause > 0)
        assert_int_equal(pthread_create(&late->thread, NULL, add_late, late), 0);
    else
        add_late(late);
}

/* Rows go in, as many submits are in flight as the plan allows, and the bytes come out as
 * wanted. */
static GfStatus run_in_flight(GfSession *session, GfBackend *backend, const GfPlan *plan,
                              const GfImage *in, GfImage *out)
{
    size_t bytes = gf_row_bytes(&plan->in), bands, submitted = 0, done = 0;
    void *rows;
    GF_TRY(backend->host_alloc(backend, plan->ring_rows * bytes, &rows));
    GfRing ring = {rows, bytes, plan->ring_rows};
    bands = (plan->in.height + plan->band_rows - 1) / plan->band_rows;
    GfStatus status = backend->begin(session, &ring);
    for (size_t collected = 0; status == GF_OK && collected < bands;) {
        if (submitted < bands && submitted - collected < plan->slots) {
            size_t y0 = submitted * plan->band_rows;
            size_t y1 = gf_min(y0 + plan->band_rows, plan->in.height);
            size_t ready = gf_pipeline_ready(&plan->pipelines[0], y1);
            for (size_t y = y0; y < y1; y++)
                memcpy(gf_ring_row(&ring, y), (unsigned char *)in->samples + y * in->stride, bytes);
            GfBand band = {done, ready - done, out->stride,
                           (unsigned char *)out->samples + done * out->stride};
            status = backend->submit(session, y0, y1 - y0, &band);
            submitted++;
            done = ready;
            continue;
        }
        status = backend->collect(session);
        collected++;
    }
    backend->host_free(backend, rows);
    return status;
}

static const char *const chains[] = {"box", "gaussian:sigma=3,sobel", "unsharp",
                                     "maxpool:size=3:stride=1:padding=1,gaussian", "box:size=31"};

/* What is under way when backends are added. */
typedef struct Arrivals {
    unsigned missing;
    long pause;    /* 0: all are there from the beginning */
    unsigned poor; /* those that run short of memory */
} Arrivals;

static void check(Backends *backends, size_t count, unsigned failing, Arrivals arrivals,
                  const char *chain)
{
    GfFilter *filter;
    GfFormat format = format_of(23 + random_below(20), 100 + random_below(200), 3, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    Late late;
    make_spread(count, failing, arrivals.missing, 30, arrivals.pause, &late);
    GfBackend *spread = late.spread;
    options.band_bytes = 1;
    options.devices = spread->devices;
    assert_int_equal(gf_filter_parse(chain, &filter), GF_OK);
    GfPlan *plan = make_plan(filter, chain, &format, &options);
    for (size_t i = 0; i < count; i++)
        frails[i].poor = arrivals.poor >> i & 1;
    bool all_fail = (failing | arrivals.missing | arrivals.poor) == (1U << count) - 1;
    GfSession *session;
    GfStatus status = spread->session(spread, plan, &session);
    for (int picture = 0; picture < 3 && status == GF_OK; picture++) {
        GfImage in = random_picture(format), out, wanted = run_plan(backends->one, plan, &in);
        assert_int_equal(gf_image_allocate(&plan->pipelines[0].out, &out), GF_OK);
        memset(out.samples, 0xA5, out.stride * out.format.height);
        status = run_in_flight(session, spread, plan, &in, &out);
        for (size_t y = 0; status == GF_OK && y < out.format.height; y++)
            assert_memory_equal((char *)out.samples + y * out.stride,
                                (char *)wanted.samples + y * wanted.stride,
                                gf_row_bytes(&out.format));
        gf_image_free(&in);
        gf_image_free(&out);
        gf_image_free(&wanted);
    }
    if (status != GF_OK) {
        assert_true(status == GF_EDEVICE || (status == GF_EDEVMEM && arrivals.poor != 0));
        assert_true(all_fail);
    }
    spread->end(session);
    if (arrivals.pause > 0)
        assert_int_equal(pthread_join(late.thread, NULL), 0);
    spread->close(spread);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void test_same_bytes(void **state)
{
    for (size_t count = 1; count <= MOST; count++)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
            check(*state, count, 0, (Arrivals){0}, chains[i]);
}

/* All of them get work. */
static void test_all_work(void **state)
{
    check(*state, 4, 0, (Arrivals){0}, "box");
    for (size_t i = 0; i < 4; i++)
        assert_true(frails[i].calls > 8);
}

static void test_failures(void **state)
{
    for (size_t count = 2; count <= MOST; count += 3)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
            for (int turn = 0; turn < TURNS; turn++)
                check(*state, count, (unsigned)random_below((1U << count) - 1), (Arrivals){0},
                      chains[i]);
}

static void test_all_fail(void **state)
{
    for (size_t count = 1; count <= 4; count++)
        check(*state, count, (1U << count) - 1, (Arrivals){0}, "box");
}

/* Some fail, some run short of memory: what one of the others can do is done. */
static void test_short_of_memory(void **state)
{
    for (size_t count = 1; count <= MOST; count += 2)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
            for (int turn = 0; turn < TURNS; turn++) {
                unsigned poor = (unsigned)random_below(1U << count);
                unsigned failing = (unsigned)random_below(1U << count) & ~poor;
                check(*state, count, failing, (Arrivals){.poor = poor}, chains[i]);
            }
}

/* Backends that come while a picture is under way, and those that never do. */
static void test_late(void **state)
{
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (int turn = 0; turn < TURNS; turn++) {
            Arrivals arrivals = {.missing = (unsigned)random_below(1U << 4) << 1,
                                 .pause = 2 + (long)random_below(500000)};
            check(*state, 5, 0, arrivals, chains[i]);
            check(*state, 5, (unsigned)random_below((1U << 5) - 1), arrivals, chains[i]);
        }
}

/* Where the first fails, its work waits for the next that comes: it is no failure. */
static void test_waits_for_the_late(void **state)
{
    const Arrivals arrivals = {.missing = 1U << 1, .pause = WHEN_NEEDED};
    check(*state, 3, 1, arrivals, "box:size=31");
    assert_true(frails[0].dead && frails[2].calls > 8);
}

/* ---- several sessions ---- */

/* A session with a thread of its own, in which one picture is made. */
typedef struct Customer {
    GfBackend *spread;
    const GfPlan *plan;
    GfSession *session;
    GfImage in, out;
    pthread_t thread;
    GfStatus made;
} Customer;

static Customer come(GfBackend *spread, const GfPlan *plan)
{
    Customer customer = {.spread = spread, .plan = plan, .in = random_picture(plan->in)};
    assert_int_equal(gf_image_allocate(&plan->pipelines[0].out, &customer.out), GF_OK);
    assert_int_equal(spread->session(spread, plan, &customer.session), GF_OK);
    return customer;
}

static void *have_made(void *argument)
{
    Customer *customer = argument;
    customer->made = run_in_flight(customer->session, customer->spread, customer->plan,
                                   &customer->in, &customer->out);
    return NULL;
}

static void be_served(Customer *customer)
{
    assert_int_equal(pthread_create(&customer->thread, NULL, have_made, customer), 0);
}

static void await_picture(const Customer *customer)
{
    assert_int_equal(pthread_join(customer->thread, NULL), 0);
    assert_int_equal(customer->made, GF_OK);
}

static void leave(Customer *customer)
{
    customer->spread->end(customer->session);
    gf_image_free(&customer->in);
    gf_image_free(&customer->out);
}

static void await_at_gate(size_t waiting)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.waiting < waiting)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

/* Busy is when more than half of the sessions wait; here the third of four is the first to make it
 * so. */
static void test_load(void **state)
{
    (void)state;
    enum { CUSTOMERS = 4 };
    static const GfSpreadLoad loads[CUSTOMERS + 1] = {
        GF_SPREAD_IDLE, GF_SPREAD_IDLE, GF_SPREAD_IDLE, GF_SPREAD_BUSY, GF_SPREAD_BUSY};
    Customer customers[CUSTOMERS];
    GfFilter *filter;
    GfFormat format = format_of(20, 10, 1, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    Late late;
    make_spread(1, 0, 0, 0, 0, &late);
    frails[0].held = true;
    assert_int_equal(gf_filter_parse("box", &filter), GF_OK);
    GfPlan *plan = make_plan(filter, "box", &format, &options);
    assert_int_equal(gf_spread_load(late.spread), GF_SPREAD_IDLE);
    for (size_t i = 0; i < CUSTOMERS; i++)
        customers[i] = come(late.spread, plan);
    assert_int_equal(gf_spread_load(late.spread), loads[0]);
    for (size_t i = 0; i < CUSTOMERS; i++) {
        be_served(&customers[i]);
        await_at_gate(i + 1);
        assert_int_equal(gf_spread_load(late.spread), loads[i + 1]);
    }
    open_gate();
    for (size_t i = 0; i < CUSTOMERS; i++)
        await_picture(&customers[i]);
    assert_int_equal(gf_spread_load(late.spread), GF_SPREAD_IDLE);
    for (size_t i = 0; i < CUSTOMERS; i++)
        leave(&customers[i]);
    late.spread->close(late.spread);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

/* All work on one that has just come while it fails: each of them waits for the next. */
static void test_lost_by_several(void **state)
{
    (void)state;
    enum { CUSTOMERS = 6, COUNT = 8 };
    Customer customers[CUSTOMERS];
    GfFilter *filter;
    GfFormat format = format_of(20, 10, 1, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.band_bytes = 1;
    assert_int_equal(gf_filter_parse("box", &filter), GF_OK);
    GfPlan *plan = make_plan(filter, "box", &format, &options);
    for (size_t turn = 0; turn < 5 * TURNS; turn++) {
        Late late;
        make_spread(COUNT, (1U << (COUNT - 1)) - 1, 0, 3, WHEN_NEEDED, &late);
        for (size_t i = 0; i < CUSTOMERS; i++)
            customers[i] = come(late.spread, plan);
        for (size_t i = 0; i < CUSTOMERS; i++)
            be_served(&customers[i]);
        for (size_t i = 0; i < CUSTOMERS; i++)
            await_picture(&customers[i]);
        for (size_t i = 0; i < CUSTOMERS; i++)
            leave(&customers[i]);
        assert_int_equal(pthread_join(late.thread, NULL), 0);
        late.spread->close(late.spread);
    }
    gf_plan_free(plan);
    gf_filter_free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_all_work),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_all_fail),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_waits_for_the_late),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_short_of_memory),
        cmocka_unit_test(test_lost_by_several),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
