/* Several backends as one: the bytes are those of one backend, however many there are and whichever of
 * them fail. */
#include "tests/unit/cpu_trial.h"

#include <string.h>

#include "filters/grammar.h"
#include "filters/spread.h"

enum { MOST = 8 };

/* Backends of the CPU that fail for good after so many calls; 0: never. */
typedef struct Frail {
    GfBackend *inner;
    size_t left, calls;
    bool fails, dead;
} Frail;

static Frail frails[MOST];
static size_t frail_count;

/* A session of a frail backend is found by the inner one that it is. */
static struct {
    const GfSession *session;
    Frail *frail;
} owners[256];
static size_t owner_count;

static Frail *owner(const GfSession *session)
{
    for (size_t i = 0; i < owner_count; i++)
        if (owners[i].session == session)
            return owners[i].frail;
    fail_msg("a session that nobody made");
    return NULL;
}

static GfStatus may_fail(Frail *frail)
{
    frail->calls++;
    if (frail->fails && (frail->dead || frail->left-- == 0)) {
        frail->dead = true;
        return gf_fail(GF_EDEVICE, "a device is gone");
    }
    return GF_OK;
}

static GfStatus frail_session(GfBackend *backend, const GfPlan *plan, GfSession **session)
{
    Frail *frail = backend->state;
    GF_TRY(may_fail(frail));
    GF_TRY(frail->inner->session(frail->inner, plan, session));
    assert_true(owner_count < 256);
    owners[owner_count].session = *session;
    owners[owner_count++].frail = frail;
    return GF_OK;
}

static GfStatus frail_begin(GfSession *session, const GfRing *ring)
{
    Frail *frail = owner(session);
    GF_TRY(may_fail(frail));
    return frail->inner->begin(session, ring);
}

static GfStatus frail_submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    Frail *frail = owner(session);
    GF_TRY(may_fail(frail));
    return frail->inner->submit(session, y0, rows, outs);
}

static GfStatus frail_collect(GfSession *session)
{
    Frail *frail = owner(session);
    GF_TRY(may_fail(frail));
    return frail->inner->collect(session);
}

static GfStatus frail_supports(GfBackend *backend, const GfPlan *plan)
{
    const Frail *frail = backend->state;
    return frail->inner->supports(frail->inner, plan);
}

static void frail_end(GfSession *session)
{
    if (session)
        owner(session)->inner->end(session);
}

static void frail_close(GfBackend *backend)
{
    Frail *frail = backend->state;
    frail->inner->close(frail->inner);
    free(backend);
}

/* `failing` bits say which of the backends fail, each after a random number of calls. */
static GfBackend *make_spread(size_t count, unsigned failing, size_t calls)
{
    GfBackend *backends[MOST], *spread;
    frail_count = count;
    owner_count = 0;
    for (size_t i = 0; i < count; i++) {
        frails[i] = (Frail){.left = random_below(calls + 1), .fails = failing >> i & 1};
        assert_int_equal(gf_cpu_open(1, &frails[i].inner), GF_OK);
        backends[i] = malloc(sizeof *backends[i]);
        assert_non_null(backends[i]);
        *backends[i] = *frails[i].inner;
        backends[i]->state = &frails[i];
        backends[i]->supports = frail_supports;
        backends[i]->session = frail_session;
        backends[i]->begin = frail_begin;
        backends[i]->submit = frail_submit;
        backends[i]->collect = frail_collect;
        backends[i]->end = frail_end;
        backends[i]->close = frail_close;
    }
    assert_int_equal(gf_spread_create(backends, count, "all", &spread), GF_OK);
    return spread;
}

/* Rows go in, as many submits are in flight as the plan allows, and the bytes come out as wanted. */
static GfStatus run_in_flight(GfSession *session, GfBackend *backend, const GfPlan *plan,
                              const GfImage *in, GfImage *out)
{
    size_t bytes = gf_row_bytes(&plan->in), bands, submitted = 0, done = 0;
    unsigned char *rows;
    assert_int_equal(gf_allocate(plan->ring_rows, bytes, &rows), GF_OK);
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
    free(rows);
    return status;
}

static const char *const chains[] = {"box", "gaussian:sigma=3,sobel", "unsharp",
                                     "maxpool:size=3:stride=1:padding=1,gaussian", "box:size=31"};

static void check(Backends *backends, size_t count, unsigned failing, const char *chain)
{
    GfFilter *filter;
    GfFormat format = format_of(23 + random_below(20), 100 + random_below(200), 3, false, GF_U8);
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    GfBackend *spread = make_spread(count, failing, 30);
    options.band_bytes = 1;
    options.slots = spread->slots;
    assert_int_equal(gf_filter_parse(chain, &filter), GF_OK);
    GfPlan *plan = make_plan(filter, chain, &format, &options);
    bool all_fail = failing == (1U << count) - 1;
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
        assert_int_equal(status, GF_EDEVICE);
        assert_true(all_fail);
    }
    spread->end(session);
    spread->close(spread);
    gf_plan_free(plan);
    gf_filter_free(filter);
}

static void test_same_bytes(void **state)
{
    for (size_t count = 1; count <= MOST; count++)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
            check(*state, count, 0, chains[i]);
}

/* All of them get work. */
static void test_all_work(void **state)
{
    check(*state, 4, 0, "box");
    for (size_t i = 0; i < 4; i++)
        assert_true(frails[i].calls > 8);
}

static void test_failures(void **state)
{
    for (size_t count = 2; count <= MOST; count += 3)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
            for (int turn = 0; turn < 20; turn++)
                check(*state, count, (unsigned)random_below((1U << count) - 1), chains[i]);
}

static void test_all_fail(void **state)
{
    for (size_t count = 1; count <= 4; count++)
        check(*state, count, (1U << count) - 1, "box");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_all_work),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_all_fail),
    };
    return cmocka_run_group_tests(tests, open_backends, close_backends);
}
