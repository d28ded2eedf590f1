/* The instruction sets for which rows.c was compiled. */
#include "cpu/rows.h"

extern const GfRowSet gf_row_set_base;
#ifdef GF_X86_ROW_SETS
extern const GfRowSet gf_row_set_v3, gf_row_set_v4;

static bool has_v3(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

const GfRowSet *gf_row_set_at(size_t i)
{
    if (i == 0)
        return &gf_row_set_base;
#ifdef GF_X86_ROW_SETS
    if (i == 1 && has_v3())
        return &gf_row_set_v3;
    if (i == 2 && has_v4())
        return &gf_row_set_v4;
#endif
    return NULL;
}

const GfRowSet *gf_row_set(void)
{
    const GfRowSet *set = NULL, *next;
    for (size_t i = 0; (next = gf_row_set_at(i)); i++)
        set = next;
    return set;
}
