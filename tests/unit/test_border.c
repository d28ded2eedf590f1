/* The border's index function: literal rows for each mode, and far outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "filters/border.h"

/* Positions -9 ... 12 of a row of n = 4 pixels a b c d, and of n = 1. */
static void test_literal(void **state)
{
    (void)state;
    static const struct {
        GfBorder border;
        const char *four, *one;
    } rows[] = {
        {GF_BORDER_REPLICATE, "aaaaaaaaaabcdddddddddd", "aaaaaaaaaaaaaaaaaaaaaa"},
        {GF_BORDER_REFLECT101, "dcbabcdcbabcdcbabcdcba", "aaaaaaaaaaaaaaaaaaaaaa"},
        {GF_BORDER_REFLECT, "aabcddcbaabcddcbaabcdd", "aaaaaaaaaaaaaaaaaaaaaa"},
        {GF_BORDER_WRAP, "dabcdabcdabcdabcdabcda", "aaaaaaaaaaaaaaaaaaaaaa"},
        {GF_BORDER_CONSTANT, "---------abcd---------", "---------a------------"},
        {GF_BORDER_VALID, "---------abcd---------", "---------a------------"},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = -9; i <= 12; i++) {
            long long four = gf_border_index(i, 4, rows[r].border);
            long long one = gf_border_index(i, 1, rows[r].border);
            assert_int_equal(four < 0 ? '-' : 'a' + four, rows[r].four[i + 9]);
            assert_int_equal(one < 0 ? '-' : 'a' + one, rows[r].one[i + 9]);
        }
}

/* By the definition, one step at a time: walking outward mirrors, wraps or stands. */
static void test_walk(void **state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        long long reflect = 0, reflect101 = 0, wrap = 0;
        int step = 1, step101 = 1;
        for (int i = 1; i < 50; i++) {
            if (reflect + step >= n || reflect + step < 0)
                step = -step; /* the edge pixel stands twice */
            else
                reflect += step;
            if (n > 1 && (reflect101 + step101 >= n || reflect101 + step101 < 0))
                step101 = -step101;
            reflect101 += n > 1 ? step101 : 0;
            wrap = (wrap + 1) % n;
            assert_int_equal(gf_border_index(i, n, GF_BORDER_REFLECT), reflect);
            assert_int_equal(gf_border_index(i, n, GF_BORDER_REFLECT101), reflect101);
            assert_int_equal(gf_border_index(i, n, GF_BORDER_WRAP), wrap);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_literal), cmocka_unit_test(test_walk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
