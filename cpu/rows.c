/* Compiled once for each instruction set, with GF_ROW_SET and GF_ROW_SET_NAME defined by CMake, and
 * within that for f32 and f64. Vectors are as wide as the instruction set's registers, so that
 * eight of them hold the sums of a block while all taps pass over it. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cpu/rows.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define REAL      float
#define NAME(x)   x##_f32
#define SQRT      sqrtf
#define FABS      fabsf
#define ROUNDING  8388608.0F /* 2^23: adding it leaves no room for a fraction */
#define SAME      GF_F32
#define OTHER     GF_F64
#define OTHERTYPE double
#include "cpu/rows_template.h"
#undef REAL
#undef NAME
#undef SQRT
#undef FABS
#undef ROUNDING
#undef SAME
#undef OTHER
#undef OTHERTYPE

#define REAL      double
#define NAME(x)   x##_f64
#define SQRT      sqrt
#define FABS      fabs
#define ROUNDING  4503599627370496.0 /* 2^52 */
#define SAME      GF_F64
#define OTHER     GF_F32
#define OTHERTYPE float
#include "cpu/rows_template.h"

extern const GfRowSet GF_ROW_SET;
const GfRowSet GF_ROW_SET = {.name = GF_ROW_SET_NAME,
                             .functions = {FUNCTIONS(f32), FUNCTIONS(f64)}};
