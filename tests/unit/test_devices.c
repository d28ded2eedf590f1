/* Which GPUs are opened, and when. The GPUs are CPU backends: the functions of gpu/backend.h that
 * open them are this file's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/device.h"
#include "app/message.h"
#include "cpu/backend.h"
#include "gpu/backend.h"

enum { GPUS = 4, NONE = -1 };

static bool opened[GPUS];
static int broken = NONE; /* a GPU that cannot be opened */

GfStatus gf_cuda_count(size_t *count)
{
    *count = GPUS;
    return GF_OK;
}

GfStatus gf_cuda_open(int number, const char *algorithm, GfBackend **backend)
{
    (void)algorithm;
    *backend = NULL;
    assert_in_range(number, 0, GPUS - 1);
    assert_false(opened[number]);
    if (number == broken)
        return gf_fail(GF_EDEVICE, "it is broken");
    opened[number] = true;
    return gf_cpu_open(1, backend);
}

int gf_cuda_version(void)
{
    return 0;
}

void gf_cuda_limits(char *text, size_t size)
{
    (void)size;
    text[0] = '\0';
}

static size_t count_opened(void)
{
    size_t count = 0;
    for (size_t i = 0; i < GPUS; i++)
        count += opened[i];
    return count;
}

/* How many GPUs are open when the backend for `weight` pictures of 1000 x 1000 has been chosen, and
 * when it is closed. */
static void count_for(const char *device, double weight, size_t *then, size_t *at_last)
{
    char words[][24] = {"gpufilter", "a.png", "--kernel", "box", "--device", ""};
    char *arguments[7];
    GfOptions options;
    GfBank bank;
    GfDevices *devices;
    GfBackend *backend;
    const GfFormat format = {.width = 1000, .height = 1000, .channels = 1, .sample = GF_U8};
    memcpy(words[5], device, strlen(device));
    for (size_t i = 0; i < 7; i++)
        arguments[i] = i < 6 ? words[i] : NULL;
    memset(opened, 0, sizeof opened);
    optind = 0; /* as in a new process */
    assert_int_equal(gf_options_parse(6, arguments, &options), GF_OK);
    gf_message_setup(true, false);
    assert_int_equal(gf_bank_create(&options, &bank), GF_OK);
    assert_int_equal(gf_devices_create(&options, NULL, &devices), GF_OK);
    assert_true(count_opened() > 0 &&
                opened[options.device_number] == (options.device_number != broken));
    for (int i = 0; i < 2; i++) /* the second time nothing is left to do */
        assert_int_equal(gf_devices_choose(devices, &bank, &format, weight, NULL, &backend), GF_OK);
    *then = count_opened();
    gf_devices_close(devices);
    *at_last = count_opened();
    gf_bank_free(&bank);
    gf_options_free(&options);
}

/* Nothing waits for the first: the others stay closed. */
static void test_little_work(void **unused)
{
    size_t then, at_last;
    (void)unused;
    count_for("cuda:all", 1.0, &then, &at_last);
    assert_int_equal(then, 1);
    assert_int_equal(at_last, 1);
}

/* Two million pictures of a million pixels and 9 taps. */
static void test_heavy_work(void **unused)
{
    size_t then, at_last;
    (void)unused;
    count_for("cuda:all", 2e6, &then, &at_last);
    assert_int_equal(then, GPUS);
    assert_int_equal(at_last, GPUS);
}

/* The others do without, whichever it is. */
static void test_broken(void **unused)
{
    (void)unused;
    for (broken = 0; broken < GPUS; broken++) {
        size_t then, at_last;
        count_for("cuda:all", 2e6, &then, &at_last);
        assert_int_equal(then, GPUS - 1);
        assert_false(opened[broken]);
    }
    broken = NONE;
}

static void test_one(void **unused)
{
    size_t then, at_last;
    (void)unused;
    count_for("cuda:3", 1e6, &then, &at_last);
    assert_int_equal(at_last, 1);
    assert_true(opened[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_little_work),
        cmocka_unit_test(test_heavy_work),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
