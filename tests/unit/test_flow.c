/* Bands of one picture on several devices: none of them is waited for while another one has nothing
 * to do. On one that computes before submit() returns: no band waits to be collected. What they
 * take of memory on their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include <pthread.h>

#include "app/flow.h"
#include "common/memory.h"
#include "cpu/backend.h"
#include "filters/grammar.h"
#include "filters/spread.h"

enum { MOST = 8, BANDS = 60, PATIENCE = 20 /* seconds */ };

/* Devices that compute nothing. A submit ends once every device has one, or none is left to be had:
 * where one has none while others are waited for, it never ends. */
typedef struct Device {
    GfBackend backend;
    size_t waiting, most; /* submits that are not collected; most that ever were */
    long slow;            /* nanoseconds of a submit */
} Device;

struct GfSession {
    Device *device;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    Device devices[MOST];
    size_t count;
    size_t rows; /* of the picture that were submitted */
    size_t height;
    bool starved;
} fleet = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    (void)backend, (void)plan;
    return GF_OK;
}

static GfStatus make_session(GfBackend *backend, const GfPlan *plan, GfSession **session)
{
    (void)plan;
    GF_TRY(gf_allocate_zero(1, sizeof **session, session));
    (*session)->device = backend->state;
    return GF_OK;
}

static GfStatus begin(GfSession *session, const GfRing *ring)
{
    (void)session, (void)ring;
    return GF_OK;
}

static void rest(long nanoseconds)
{
    if (nanoseconds > 0)
        nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    (void)y0, (void)rows;
    rest(session->device->slow);
    pthread_mutex_lock(&fleet.mutex);
    session->device->waiting++;
    session->device->most = gf_max(session->device->most, session->device->waiting);
    fleet.rows += outs[0].rows;
    pthread_cond_broadcast(&fleet.changed);
    pthread_mutex_unlock(&fleet.mutex);
    return GF_OK;
}

/* The mutex is held. */
static bool all_work(void)
{
    bool all = true;
    for (size_t i = 0; i < fleet.count; i++)
        all = all && fleet.devices[i].waiting > 0;
    return all;
}

static GfStatus collect(GfSession *session)
{
    struct timespec end;
    timespec_get(&end, TIME_UTC);
    end.tv_sec += PATIENCE;
    pthread_mutex_lock(&fleet.mutex);
    while (!all_work() && fleet.rows < fleet.height && !fleet.starved)
        fleet.starved = pthread_cond_timedwait(&fleet.changed, &fleet.mutex, &end) != 0;
    session->device->waiting--;
    pthread_mutex_unlock(&fleet.mutex);
    return GF_OK;
}

static GfTimes times(const GfSession *session)
{
    (void)session;
    return (GfTimes){0};
}

static void end_session(GfSession *session)
{
    free(session);
}

static void close_device(GfBackend *backend)
{
    (void)backend;
}

static GfBackend *open_device(size_t i)
{
    Device *device = &fleet.devices[i];
    *device = (Device){.backend = {.name = "device",
                                   .band_bytes = 1,
                                   .state = device,
                                   .supports = supports,
                                   .session = make_session,
                                   .begin = begin,
                                   .submit = submit,
                                   .collect = collect,
                                   .times = times,
                                   .end = end_session,
                                   .close = close_device}};
    return &device->backend;
}

/* How long files keep the flow waiting, and how far they are. */
typedef struct Files {
    long read, write; /* nanoseconds a band */
    size_t rows_read, rows_written;
} Files;

static GfStatus read_rows(void *context, const GfBand *band)
{
    Files *files = context;
    assert_int_equal(band->y0, files->rows_read);
    files->rows_read += band->rows;
    rest(files->read);
    return GF_OK;
}

static GfStatus write_rows(void *context, size_t output, GfBand *band)
{
    Files *files = context;
    assert_int_equal(output, 0);
    assert_int_equal(band->y0, files->rows_written);
    files->rows_written += band->rows;
    rest(files->write);
    return GF_OK;
}

/* Filters a picture, and closes the backend. */
static void run(GfBackend *backend, const char *kernel, size_t devices, long read, long write)
{
    GfFilter *filter;
    GfLane lane = {0};
    GfFormat format = {4096, 16 * BANDS, 1, false, GF_U8};
    GfPlanOptions options = gf_plan_options_default(GF_U8);
    options.devices = devices;
    Files files = {.read = read, .write = write};
    GfFlowTimes seconds = {0};
    char *names[] = {"kernel"};
    assert_int_equal(gf_filter_parse(kernel, &filter), GF_OK);
    GfBank bank = {&filter, names, 1};
    fleet.count = devices;
    fleet.rows = 0;
    fleet.height = format.height;
    fleet.starved = false;
    assert_int_equal(gf_lane_prepare(&lane, backend, &bank, NULL, &format, &options), GF_OK);
    assert_true(lane.submits > 3 * devices);
    GfEnds ends = {read_rows, write_rows, &files};
    assert_int_equal(gf_flow_run(&lane, &ends, &seconds), GF_OK);
    assert_false(fleet.starved);
    assert_int_equal(files.rows_read, format.height);
    assert_int_equal(files.rows_written, format.height);
    for (size_t i = 0; i < devices; i++)
        assert_int_equal(fleet.devices[i].waiting, 0);
    gf_lane_clear(&lane);
    backend->close(backend);
    gf_filter_free(filter);
}

static void check(const char *kernel, size_t devices, long read, long write)
{
    GfBackend *spread;
    assert_int_equal(gf_spread_create(open_device(0), devices, "all", &spread), GF_OK);
    for (size_t i = 1; i < devices; i++)
        gf_spread_add(spread, open_device(i));
    run(spread, kernel, devices, read, write);
}

/* Whatever is slow: reading, writing, both or neither. */
static void test_no_device_starves(void **state)
{
    (void)state;
    static const char *const kernels[] = {"box:size=3", "box:size=31", "gaussian:sigma=2,sobel"};
    for (size_t devices = 1; devices <= MOST; devices++)
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            for (long slow = 0; slow < 4; slow++)
                check(kernels[i], devices, slow & 1 ? 200000 : 0, slow & 2 ? 200000 : 0);
}

/* While it computes, the next rows are decoded: where they are taken first, bands wait. */
static void test_what_is_done_is_collected(void **state)
{
    (void)state;
    for (int prompt = 0; prompt < 2; prompt++) {
        GfBackend *backend = open_device(0);
        backend->prompt = prompt;
        fleet.devices[0].slow = 2000000;
        run(backend, "box:size=31", 1, 0, 0);
        assert_int_equal(fleet.devices[0].most == 1, prompt);
    }
}

static size_t lane_memory(GfBackend *backend, const char *kernel)
{
    const GfFormat format = {1 << 15, 1 << 15, 1, false, GF_U8};
    const GfPlanOptions options = gf_plan_options_default(GF_U8);
    char *names[] = {"kernel"};
    GfLane lane = {0};
    GfFilter *filter;
    assert_int_equal(gf_filter_parse(kernel, &filter), GF_OK);
    const GfBank bank = {&filter, names, 1};
    assert_int_equal(gf_lane_prepare(&lane, backend, &bank, NULL, &format, &options), GF_OK);
    size_t bytes = gf_lane_memory(&lane), rows = lane.ring.rows * lane.ring.stride;
    assert_true(bytes == 0 || bytes > rows);
    gf_lane_clear(&lane);
    gf_filter_free(filter);
    return bytes;
}

/* Of a gigapixel under tall kernels, on many threads: what leaves room in 60 MB for the writer and
 * for the program itself. Devices need not get by with little. */
static void test_memory_of_wide_pictures(void **state)
{
    (void)state;
    static const char *const kernels[] = {"gabor:wavelength=40", "disk:radius=40",
                                          "sobel,gaussian:sigma=10", "gaussian:sigma=10,sobel"};
    GfBackend *cpu;
    assert_int_equal(gf_cpu_open(16, &cpu), GF_OK);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        size_t bytes = lane_memory(cpu, kernels[i]);
        assert_true(bytes > 0 && bytes <= 40000000);
    }
    cpu->close(cpu);
    assert_int_equal(lane_memory(open_device(0), kernels[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_device_starves),
                                       cmocka_unit_test(test_what_is_done_is_collected),
                                       cmocka_unit_test(test_memory_of_wide_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
