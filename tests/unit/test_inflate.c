/* Inflate in pieces of any size, against zlib's in one: streams that are whole, cut and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "images/inflate.h"

enum {
    RAW_MAX = 150000,
    STREAM_MAX = 2 * RAW_MAX,
    OUT_MAX = 4 * RAW_MAX,
    BEHIND = 11, /* bytes behind the stream */
    LOST = 300   /* that may be lost in front of damage */
};

/* Of the seeds one in so many: AddressSanitizer's memmove(), which ISA-L calls all the time, goes
 * byte by byte. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif

static unsigned char raw[RAW_MAX], stream[STREAM_MAX], expected[OUT_MAX], out[OUT_MAX];

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

/* Strings of many lengths and distances, up to the longest. */
static size_t make_raw(unsigned *seed)
{
    const size_t size = 1 + draw(seed, RAW_MAX);
    const unsigned form = draw(seed, 5), far = 1 + draw(seed, 32768);
    for (size_t i = 0; i < size; i++) {
        const unsigned any = draw(seed, 256);
        const bool again = form == 1 ? any < 250 : any > 20;
        raw[i] = (unsigned char)any;
        if (form == 2)
            raw[i] = any % 4;
        else if (form > 0 && again && i >= far)
            raw[i] = raw[i - (form == 4 ? 1 + any : far) % (i + 1)];
    }
    return size;
}

static size_t make_stream(unsigned *seed, size_t size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, (int)draw(seed, 10), Z_DEFLATED, 9 + (int)draw(seed, 7),
                                  1 + (int)draw(seed, 9), (int)draw(seed, 5)),
                     Z_OK);
    z.next_in = raw;
    z.avail_in = (uInt)size;
    z.next_out = stream;
    z.avail_out = STREAM_MAX - BEHIND;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t made = z.total_out;
    deflateEnd(&z);
    return made;
}

/* zlib's judgement, as ours, and how much it makes of a stream. */
static GfInflated judge(size_t size, size_t *made)
{
    z_stream z = {0};
    assert_int_equal(inflateInit(&z), Z_OK);
    z.next_in = stream;
    z.avail_in = (uInt)size;
    z.next_out = expected;
    z.avail_out = OUT_MAX;
    const int error = inflate(&z, Z_NO_FLUSH);
    *made = z.total_out;
    inflateEnd(&z);
    return error == Z_STREAM_END                   ? GF_INFLATED_ALL
           : error == Z_OK || error == Z_BUF_ERROR ? GF_INFLATED_SOME
                                                   : GF_INFLATED_BROKEN;
}

/* The same by gf_inflate(), in pieces that are allocated each, so that a sanitizer sees their ends;
 * `behind`: bytes of the last piece that were not taken. */
static GfInflated inflate_pieces(unsigned *seed, size_t size, size_t *made, size_t *behind,
                                 const char **reason)
{
    const unsigned most_in = 1 + draw(seed, 40000), most_out = 1 + draw(seed, 70000);
    GfInflater *inflater;
    GfInflated inflated = GF_INFLATED_SOME;
    size_t at = 0, idle = 0;
    assert_int_equal(gf_inflater_create(&inflater), GF_OK);
    *made = 0;
    *reason = NULL;
    while (inflated == GF_INFLATED_SOME && idle < 2) {
        const size_t left = size - at, wanted = 1 + draw(seed, most_in);
        size_t in_size = wanted < left ? wanted : left, room = 1 + draw(seed, most_out), more;
        const size_t given = in_size;
        unsigned char *piece = malloc(in_size + 1), *to = malloc(room);
        const unsigned char *in = piece;
        assert_true(piece && to && *made + room <= OUT_MAX);
        memcpy(piece, stream + at, in_size);
        inflated = gf_inflate(inflater, &in, &in_size, to, room, &more, reason);
        assert_true(in_size <= given && more <= room);
        memcpy(out + *made, to, more);
        *made += more;
        at += given - in_size;
        *behind = in_size;
        idle = more == 0 && at == size ? idle + 1 : 0;
        free(piece);
        free(to);
    }
    gf_inflater_free(inflater);
    assert_true((inflated == GF_INFLATED_BROKEN) == (*reason != NULL));
    return inflated;
}

static void test_whole(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 300; seed += SHARE) {
        unsigned next = seed;
        const size_t raw_size = make_raw(&next), size = make_stream(&next, raw_size);
        const char *reason;
        size_t made, behind;
        assert_int_equal(inflate_pieces(&next, size, &made, &behind, &reason), GF_INFLATED_ALL);
        assert_int_equal(made, raw_size);
        assert_memory_equal(out, raw, raw_size);
        assert_int_equal(behind, 0);
    }
}

/* What follows a stream is told from it, however the pieces were cut. */
static void test_behind(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 400; seed += SHARE) {
        unsigned next = seed;
        const size_t size = make_stream(&next, make_raw(&next)) + BEHIND;
        const unsigned most = 1 + draw(&next, seed % 2 ? 20 : 100000);
        const unsigned char *in = NULL;
        const char *reason;
        size_t at = 0, left = 0, made;
        GfInflated inflated;
        GfInflater *inflater;
        memset(stream + size - BEHIND, 0xa5, BEHIND);
        assert_int_equal(gf_inflater_create(&inflater), GF_OK);
        do {
            if (left == 0) {
                in = stream + at;
                left = 1 + draw(&next, most);
                left = left < size - at ? left : size - at;
                at += left;
            }
            inflated =
                gf_inflate(inflater, &in, &left, out, 1 + draw(&next, 70000), &made, &reason);
        } while (inflated == GF_INFLATED_SOME);
        assert_int_equal(inflated, GF_INFLATED_ALL);
        assert_int_equal(left + size - at, BEHIND);
        gf_inflater_free(inflater);
    }
}

/* Of a stream that is cut all is made that can be. */
static void test_cut(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 300; seed += SHARE) {
        unsigned next = seed;
        const size_t size = draw(&next, (unsigned)make_stream(&next, make_raw(&next)));
        const char *reason;
        size_t wanted, made, behind;
        assert_int_equal(judge(size, &wanted), GF_INFLATED_SOME);
        assert_int_equal(inflate_pieces(&next, size, &made, &behind, &reason), GF_INFLATED_SOME);
        assert_true(made <= wanted && made + LOST >= wanted);
        assert_memory_equal(out, expected, made);
    }
}

/* A stream that zlib finds damaged is so for both, and up to there both make the same, or nearly as
 * much of it: a set of codes that is not complete may be found later. */
static void test_damaged(void **state)
{
    (void)state;
    size_t damaged = 0;
    for (unsigned seed = 0; seed < 1000; seed += SHARE) {
        unsigned next = seed;
        const size_t size = make_stream(&next, make_raw(&next));
        for (unsigned flips = 1 + draw(&next, 3); flips > 0; flips--)
            stream[draw(&next, (unsigned)size)] ^= (unsigned char)(1u << draw(&next, 8));
        const char *reason;
        size_t wanted, made, behind;
        const GfInflated judged = judge(size, &wanted);
        const GfInflated inflated = inflate_pieces(&next, size, &made, &behind, &reason);
        assert_int_equal(inflated == GF_INFLATED_ALL, judged == GF_INFLATED_ALL);
        assert_memory_equal(out, expected, made < wanted ? made : wanted);
        assert_true(made + LOST >= wanted);
        if (reason && strstr(reason, "too far back")) /* there is nothing that could stand there */
            assert_true(made <= wanted);
        damaged += judged == GF_INFLATED_BROKEN;
    }
    assert_true(damaged > 900 / SHARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_behind),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
