/* The ground floor: messages, sizes, names and the workers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/memory.h"
#include "common/status.h"
#include "common/text.h"
#include "common/workers.h"

/* ---- Status ---- */

static void fail_formats_and_prefixes(void **state)
{
    (void)state;
    assert_int_equal(gf_fail(GF_EINPUT, "row %d of %s", 7, "x"), GF_EINPUT);
    assert_string_equal(gf_message(), "row 7 of x");
    assert_int_equal(gf_fail_at(GF_EINPUT, "a.png"), GF_EINPUT);
    assert_string_equal(gf_message(), "a.png: row 7 of x");
    /* The present message may be an argument. */
    (void)gf_fail(GF_EREAD, "<%s>", gf_message());
    assert_string_equal(gf_message(), "<a.png: row 7 of x>");
}

static void fail_cuts_long_text(void **state)
{
    (void)state;
    char text[3 * GF_MESSAGE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)gf_fail(GF_EUSAGE, "%s", text);
    assert_int_equal(strlen(gf_message()), GF_MESSAGE_SIZE - 1);
    (void)gf_fail_at(GF_EUSAGE, text);
    assert_int_equal(strlen(gf_message()), GF_MESSAGE_SIZE - 1);
}

static void save_keeps_the_first_failure(void **state)
{
    (void)state;
    GfError error = {0};
    (void)gf_fail(GF_EINPUT, "first");
    gf_error_save(&error, GF_EINPUT);
    (void)gf_fail(GF_EWRITE, "second");
    gf_error_save(&error, GF_EWRITE);
    assert_int_equal(gf_error_raise(&error), GF_EINPUT);
    assert_string_equal(gf_message(), "first");
}

static void *fail_in_thread(void *argument)
{
    (void)gf_fail(GF_EDEVICE, "lost in a thread");
    gf_error_save(argument, GF_EDEVICE);
    return NULL;
}

static void messages_belong_to_threads(void **state)
{
    (void)state;
    GfError error = {0};
    pthread_t thread;
    (void)gf_fail(GF_EUSAGE, "mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &error), 0);
    pthread_join(thread, NULL);
    assert_string_equal(gf_message(), "mine");
    assert_int_equal(gf_error_raise(&error), GF_EDEVICE);
    assert_string_equal(gf_message(), "lost in a thread");
}

static GfStatus try_it(GfStatus status, int *went_on)
{
    GF_TRY(status);
    *went_on = 1;
    return GF_OK;
}

static GfStatus go_there(GfStatus wanted, int *went_on)
{
    GfStatus status;
    GF_GO(wanted);
    *went_on = 1;
done:
    *went_on += 2;
    return status;
}

static void try_and_go_forward_failures(void **state)
{
    (void)state;
    int went_on = 0;
    assert_int_equal(try_it(GF_EREAD, &went_on), GF_EREAD);
    assert_int_equal(went_on, 0);
    assert_int_equal(try_it(GF_OK, &went_on), GF_OK);
    assert_int_equal(went_on, 1);
    went_on = 0;
    assert_int_equal(go_there(GF_EREAD, &went_on), GF_EREAD);
    assert_int_equal(went_on, 2);
    went_on = 0;
    assert_int_equal(go_there(GF_OK, &went_on), GF_OK);
    assert_int_equal(went_on, 3);
}

/* ---- Memory ---- */

static void sizes_are_checked(void **state)
{
    (void)state;
    size_t n;
    assert_true(gf_mul(SIZE_MAX / 2, 2, &n));
    assert_true(n == SIZE_MAX - 1);
    assert_false(gf_mul(SIZE_MAX / 2 + 1, 2, &n));
    assert_true(gf_add(SIZE_MAX - 1, 1, &n));
    assert_true(n == SIZE_MAX);
    assert_false(gf_add(SIZE_MAX, 1, &n));
    assert_int_equal(gf_min(2, 3), 2);
    assert_int_equal(gf_max(2, 3), 3);
}

static void overflowing_allocations_fail(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX, 1}, {SIZE_MAX - 63, 1}, {SIZE_MAX / 2 + 1, 2}, {1, SIZE_MAX / 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *memory = state;
        assert_int_equal(gf_allocate(sizes[i][0], sizes[i][1], &memory), GF_EMEMORY);
        assert_null(memory);
        memory = state;
        assert_int_equal(gf_allocate_zero(sizes[i][0], sizes[i][1], &memory), GF_EMEMORY);
        assert_null(memory);
    }
}

static void allocations_are_aligned_and_cleared(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 63, 64, 65, 4097};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        unsigned char *memory = NULL;
        assert_int_equal(gf_allocate(counts[i], 1, &memory), GF_OK);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        memset(memory, 0xa5, counts[i]);
        free(memory);
        assert_int_equal(gf_allocate_zero(counts[i], 1, &memory), GF_OK);
        for (size_t k = 0; k < counts[i]; k++)
            assert_int_equal(memory[k], 0);
        free(memory);
    }
}

/* ---- Text ---- */

static void hostile_names_are_escaped(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"photo.png", "photo.png"},
        {"", ""},
        {"a b'\"$`", "a b'\"$`"},
        {"Gr\xc3\xb6\xc3\x9f"
         "e.png",
         "Gr\xc3\xb6\xc3\x9f"
         "e.png"},                                                /* umlauts stay */
        {"\xe5\x86\x99\xe7\x9c\x9f", "\xe5\x86\x99\xe7\x9c\x9f"}, /* and Chinese */
        {"\xf0\x9f\x93\xb7", "\xf0\x9f\x93\xb7"},                 /* and a camera, U+1F4F7 */
        {"a\nb", "a\\x0ab"},                                      /* a forged line */
        {"a\rb\tc\x7f", "a\\x0db\\x09c\\x7f"},                    /* DEL too */
        {"\x1b[2J", "\\x1b[2J"},                                  /* clears the screen */
        {"\xc2\x9b"
         "2J",
         "\\xc2\\x9b2J"},   /* CSI as a C1 control */
        {"a\\b", "a\\\\b"}, /* what looks like an escape */
        {"\xe2\x80\xae"
         "gnp.exe",
         "\\xe2\\x80\\xaegnp.exe"},                   /* right-to-left override */
        {"\xe2\x81\xa6x", "\\xe2\\x81\\xa6x"},        /* left-to-right isolate */
        {"\xe2\x80\xa8x", "\\xe2\\x80\\xa8x"},        /* line separator */
        {"\xff\xfe", "\\xff\\xfe"},                   /* never in UTF-8 */
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* "/", overlong */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},          /* "/", more so */
        {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},          /* U+07FF in three bytes */
        {"\xe2\x80\x8ex", "\\xe2\\x80\\x8ex"},        /* left-to-right mark */
        {"\xef\xbb\xbfx", "\\xef\\xbb\\xbfx"},        /* byte order mark: nobody sees it */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
        {"\xe2\x82", "\\xe2\\x82"},                   /* cut short at the end */
        {"\xe2\x82z", "\\xe2\\x82z"},                 /* and in the middle */
        {"\x80", "\\x80"},                            /* a continuation alone */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char out[128];
        memset(out, 'x', sizeof out);
        assert_ptr_equal(gf_escape(pairs[i][0], out, sizeof out), out);
        assert_string_equal(out, pairs[i][1]);
    }
}

static void escaping_stays_inside_its_buffer(void **state)
{
    (void)state;
    static const char *const names[] = {"a long name that does not fit", "\n\n\n\n\n\n\n\n\n\n\n\n",
                                        "\xe5\x86\x99\xe5\x86\x99\xe5\x86\x99\xe5\x86\x99",
                                        "\\\\\\\\\\\\\\\\\\\\\\\\"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (size_t size = 1; size < 16; size++) {
            char out[32];
            memset(out, 0x5a, sizeof out);
            gf_escape(names[i], out, size);
            assert_true(memchr(out, '\0', size) != NULL);
            for (size_t k = size; k < sizeof out; k++)
                assert_int_equal(out[k], 0x5a);
            /* Nothing is cut inside an escape or a character: it is whole pieces and three dots. */
            if (size >= 8)
                assert_string_equal(out + strlen(out) - 3, "...");
        }
    }
}

static void numbers_that_round_to_the_largest_single_are_that(void **state)
{
    (void)state;
    const double most = 0x1.fffffep127; /* FLT_MAX */
    const char *text = "3.4028235e38 -3.4028235e38 3.40282357e38";
    double number;
    assert_true(gf_read_number(&text, &number) && number == most);
    assert_true(gf_read_number(&text, &number) && number == -most);
    assert_true(gf_read_number(&text, &number) && number > most);
    assert_true(gf_trim_to_single(0x1.fffffefffffffp127) == most);
    assert_true(gf_trim_to_single(0x1.ffffffp127) == 0x1.ffffffp127);
    assert_true(gf_trim_to_single(most) == most);
    assert_true(isinf(gf_trim_to_single(-INFINITY)));
    assert_true(isnan(gf_trim_to_single(NAN)));
}

/* A need beyond a limit never reads as if it were none. */
static void sizes_are_written_for_people(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        const char *limit, *need;
    } sizes[] = {{0, "0 bytes", "0 bytes"},
                 {1, "1 byte", "1 byte"},
                 {1023, "1023 bytes", "1023 bytes"},
                 {1024, "1 KiB", "1 KiB"},
                 {1025, "1 KiB", "2 KiB"},
                 {307200, "300 KiB", "300 KiB"},
                 {307199, "299 KiB", "300 KiB"},
                 {SIZE_MAX, "18014398509481983 KiB", "18014398509481984 KiB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char out[GF_SIZE_TEXT];
        assert_ptr_equal(gf_limit_text(sizes[i].bytes, out), out);
        assert_string_equal(out, sizes[i].limit);
        assert_string_equal(gf_need_text(sizes[i].bytes, out), sizes[i].need);
    }
}

static void misspelt_names_find_the_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"gaussian", "sobel", "scharr", "laplacian", "log", NULL};
    static const char *const none[] = {NULL};
    assert_string_equal(gf_nearest("guassian", names), "gaussian");
    assert_string_equal(gf_nearest("sobl", names), "sobel");
    assert_string_equal(gf_nearest("laplacien", names), "laplacian");
    assert_string_equal(gf_nearest("sobel", names), "sobel");
    assert_string_equal(gf_nearest("lag", names), "log"); /* one of three letters */
    assert_string_equal(gf_nearest("LoG", names), "log");
    assert_string_equal(gf_nearest("SOBLE", names), "sobel");
    assert_null(gf_nearest("zzzzzz", names));
    assert_string_equal(gf_nearest("soble", names), "sobel"); /* two of five */
    assert_null(gf_nearest("lagg", names));                   /* two of four are too many */
    assert_null(gf_nearest("", names));
    assert_null(gf_nearest("sobel", none));
    char long_name[1000];
    memset(long_name, 's', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_null(gf_nearest(long_name, names));
    const char *const long_names[] = {long_name, "sobel", NULL};
    assert_string_equal(gf_nearest("sobell", long_names), "sobel");
}

/* ---- Workers ---- */

static void pause_briefly(void)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    nanosleep(&moment, NULL);
}

enum { MOST_ROUNDS = 1000, MOST_WORKERS = 7 };

typedef struct Loop {
    size_t workers;
    atomic_uint done[MOST_ROUNDS];
    atomic_uint busy[MOST_WORKERS]; /* is a round running under this number? */
    atomic_uint clashes;
} Loop;

static void count_round(void *context, size_t round, size_t worker)
{
    Loop *loop = context;
    if (worker >= loop->workers || atomic_fetch_add(&loop->busy[worker], 1) != 0)
        atomic_fetch_add(&loop->clashes, 1);
    atomic_fetch_add(&loop->done[round], 1);
    atomic_fetch_sub(&loop->busy[worker], 1);
}

static void workers_do_each_round_once(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, MOST_WORKERS}, rounds[] = {0, 1, 2, 63, MOST_ROUNDS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        GfWorkers *workers;
        assert_int_equal(gf_workers_create(counts[i], &workers), GF_OK);
        assert_int_equal(gf_workers_count(workers), counts[i]);
        for (size_t k = 0; k < 5 * sizeof rounds / sizeof rounds[0]; k++) {
            Loop loop = {.workers = counts[i]};
            size_t wanted = rounds[k % (sizeof rounds / sizeof rounds[0])];
            gf_workers_run(workers, wanted, count_round, &loop);
            for (size_t r = 0; r < MOST_ROUNDS; r++)
                assert_int_equal(loop.done[r], r < wanted);
            assert_int_equal(loop.clashes, 0);
        }
        gf_workers_destroy(workers);
    }
    gf_workers_destroy(NULL);
}

typedef struct Caller {
    GfWorkers *workers;
    Loop loop;
} Caller;

static void *call_loops(void *argument)
{
    Caller *caller = argument;
    for (int i = 0; i < 50; i++)
        gf_workers_run(caller->workers, 100, count_round, &caller->loop);
    return NULL;
}

static void workers_serve_several_callers(void **state)
{
    (void)state;
    GfWorkers *workers;
    Caller *callers;
    pthread_t threads[3];
    assert_int_equal(gf_workers_create(4, &workers), GF_OK);
    assert_int_equal(gf_allocate_zero(3, sizeof *callers, &callers), GF_OK);
    for (int i = 0; i < 3; i++) {
        callers[i].workers = workers;
        callers[i].loop.workers = 4;
        pthread_create(&threads[i], NULL, call_loops, &callers[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        for (size_t r = 0; r < 100; r++)
            assert_int_equal(callers[i].loop.done[r], 50);
        assert_int_equal(callers[i].loop.clashes, 0);
    }
    gf_workers_destroy(workers);
    free(callers);
}

static void assert_each_once(const Loop *loop, size_t rounds)
{
    for (size_t r = 0; r < MOST_ROUNDS; r++)
        assert_int_equal(loop->done[r], r < rounds);
    assert_int_equal(loop->clashes, 0);
}

/* A loop within a loop: the workers are taken, so the caller does it alone. */
static void run_inner(void *context, size_t round, size_t worker)
{
    Caller *caller = context;
    (void)worker;
    if (round == 0)
        gf_workers_run(caller->workers, 10, count_round, &caller->loop);
}

static void workers_that_are_busy_are_not_waited_for(void **state)
{
    (void)state;
    Caller caller = {.loop = {.workers = 1}};
    Loop together = {.workers = 4}, alone = {.workers = 1};
    assert_int_equal(gf_workers_create(4, &caller.workers), GF_OK);
    gf_workers_run(caller.workers, 100, count_round, &together);
    assert_each_once(&together, 100);
    gf_workers_run(caller.workers, 2, run_inner, &caller);
    assert_each_once(&caller.loop, 10);
    gf_workers_run(NULL, 100, count_round, &alone);
    assert_each_once(&alone, 100);
    gf_workers_destroy(caller.workers);
}

typedef struct Writer {
    GfWorkers *workers;
    size_t bytes;
    unsigned char mark;
    atomic_uint rounds, spoilt; /* of workers 1 and up */
} Writer;

static void write_round(void *context, size_t round, size_t worker)
{
    Writer *writer = context;
    if (worker == 0) {
        if (writer->rounds == 0 && round == 0)
            pause_briefly(); /* until others are there */
        return;
    }
    unsigned char *memory = gf_workers_memory(writer->workers, worker);
    bool spoilt = (uintptr_t)memory % GF_ALIGNMENT != 0;
    memset(memory, writer->mark + (int)(round % 8), writer->bytes);
    sched_yield();
    for (size_t i = 0; i < writer->bytes; i++)
        spoilt |= memory[i] != writer->mark + round % 8;
    atomic_fetch_add(&writer->rounds, 1);
    atomic_fetch_add(&writer->spoilt, spoilt);
}

static void *write_loops(void *argument)
{
    Writer *writer = argument;
    for (size_t i = 0; i < 40; i++) {
        writer->bytes = 1000 + 100 * i;
        if (gf_workers_reserve(writer->workers, writer->bytes) != GF_OK)
            atomic_fetch_add(&writer->spoilt, 1);
        gf_workers_run(writer->workers, 60, write_round, writer);
    }
    return NULL;
}

static void workers_have_memory_of_their_own(void **state)
{
    (void)state;
    GfWorkers *workers;
    Writer writers[3];
    pthread_t threads[3];
    assert_int_equal(gf_workers_create(4, &workers), GF_OK);
    for (size_t i = 0; i < 3; i++) {
        writers[i] = (Writer){.workers = workers, .mark = (unsigned char)(8 * i)};
        pthread_create(&threads[i], NULL, write_loops, &writers[i]);
    }
    unsigned rounds = 0;
    for (size_t i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(writers[i].spoilt, 0);
        rounds += writers[i].rounds;
    }
    assert_true(rounds > 0);
    /* What cannot be had takes nothing away. */
    assert_int_equal(gf_workers_reserve(workers, SIZE_MAX / 2), GF_EMEMORY);
    write_loops(&writers[0]);
    assert_int_equal(writers[0].spoilt, 0);
    gf_workers_destroy(workers);
}

static void absurd_worker_counts_are_refused(void **state)
{
    GfWorkers *workers = (void *)state;
    assert_int_equal(gf_workers_create(SIZE_MAX, &workers), GF_EMEMORY);
    assert_null(workers);
    assert_true(gf_processors() >= 1);
}

static void the_clock_goes_forward(void **state)
{
    (void)state;
    double before = gf_now();
    pause_briefly();
    double passed = gf_now() - before;
    assert_true(passed >= 0.019 && passed < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fail_formats_and_prefixes),
        cmocka_unit_test(fail_cuts_long_text),
        cmocka_unit_test(save_keeps_the_first_failure),
        cmocka_unit_test(messages_belong_to_threads),
        cmocka_unit_test(try_and_go_forward_failures),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(overflowing_allocations_fail),
        cmocka_unit_test(allocations_are_aligned_and_cleared),
        cmocka_unit_test(hostile_names_are_escaped),
        cmocka_unit_test(escaping_stays_inside_its_buffer),
        cmocka_unit_test(numbers_that_round_to_the_largest_single_are_that),
        cmocka_unit_test(sizes_are_written_for_people),
        cmocka_unit_test(misspelt_names_find_the_nearest),
        cmocka_unit_test(workers_do_each_round_once),
        cmocka_unit_test(workers_serve_several_callers),
        cmocka_unit_test(workers_that_are_busy_are_not_waited_for),
        cmocka_unit_test(workers_have_memory_of_their_own),
        cmocka_unit_test(absurd_worker_counts_are_refused),
        cmocka_unit_test(the_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
