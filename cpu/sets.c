/* Chooses among the instruction sets for which rows.c was compiled: the plainest first, and what
 * the processor has only overrides upward. */
#include "cpu/rows.h"

extern const GfRowSet gf_row_set_base;
#ifdef GF_X86_ROW_SETS
extern const GfRowSet gf_row_set_v3, gf_row_set_v4;
#endif

const GfRowSet *gf_row_set(void)
{
    const GfRowSet *set = &gf_row_set_base;
#ifdef GF_X86_ROW_SETS
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2");
    if (v3)
        set = &gf_row_set_v3;
    if (v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        set = &gf_row_set_v4;
#endif
    return set;
}
