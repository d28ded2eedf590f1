/* Of the devices that the user lets CUDA see, it is let see one only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/backend.h"
#include "gpu/visible.h"

static const char variable[] = "CUDA_VISIBLE_DEVICES";

/* With such a list of the user (NULL: none) CUDA is let see `wanted`. */
static void narrow(const char *list, int number, const char *wanted)
{
    if (list)
        assert_int_equal(setenv(variable, list, 1), 0);
    else
        assert_int_equal(unsetenv(variable), 0);
    gf_cuda_narrow(number);
    assert_string_equal(getenv(variable), wanted);
}

static void test_without_list(void **state)
{
    (void)state;
    narrow(NULL, 0, "0");
    narrow(NULL, 12, "12");
}

static void test_lists(void **state)
{
    (void)state;
    narrow("3", 0, "3");
    narrow("3,1,20,0", 0, "3");
    narrow("3,1,20,0", 2, "20");
    narrow("3,1,20,0", 3, "0");
    narrow("1,", 0, "1");
    narrow("2,-1,3", 0, "2");
    narrow("GPU-5ebe9f43-ac33,GPU-8932f937", 1, "GPU-8932f937");
    narrow("MIG-GPU-8932f937/1/0,MIG-c7384736", 0, "MIG-GPU-8932f937/1/0");
    narrow("MIG-GPU-8932f937/1/0,MIG-c7384736", 1, "MIG-c7384736");
}

/* What such a list lacks is for CUDA to tell. */
static void test_not_in_the_list(void **state)
{
    (void)state;
    const char *const lists[] = {"",       ",",    "-1",       "2",         "2,",
                                 "2,-1,3", "2,,3", "2,none,3", "NoDevFiles"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int number = 2; number < 4; number++)
            narrow(lists[i], number, lists[i]);
    narrow("", 0, "");
    narrow("-1,2", 0, "-1,2");
    narrow("2,3", 2, "2,3");
}

/* CUDA counts from 0 what it sees. */
static void test_ordinals(void **state)
{
    (void)state;
    narrow("4,5", 7, "4,5");
    assert_int_equal(gf_cuda_ordinal(7), 7);
    narrow("4,5,6", 2, "6");
    assert_int_equal(gf_cuda_ordinal(2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_list),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_not_in_the_list),
        cmocka_unit_test(test_ordinals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
