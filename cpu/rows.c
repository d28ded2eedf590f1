/* Compiled once for each instruction set, with GF_ROW_SET and GF_ROW_SET_NAME defined by CMake, and
 * within that for f32 and f64. Vectors are as wide as the instruction set's registers, so that
 * they hold the sums of a block while all taps pass over it. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cpu/rows.h"

/* MIX_VECTORS: so many of each of GF_MIX_MAPS maps' sums that they and a source fit into the
 * registers: 32 of AVX-512, else 16. CORRELATE_VECTORS: so many complex sums and samples. */
#if defined(__AVX512F__)
#define VECTOR_BYTES      64
#define MIX_VECTORS       4
#define CORRELATE_VECTORS 4
#elif defined(__AVX__)
#define VECTOR_BYTES      32
#define MIX_VECTORS       3
#define CORRELATE_VECTORS 3
#else
#define VECTOR_BYTES      16
#define MIX_VECTORS       2
#define CORRELATE_VECTORS 2
#endif

#define REAL      float
#define NAME(x)   x##_f32
#define SQRT      sqrtf
#define FABS      fabsf
#define EXP       expf
#define TANH      tanhf
#define POW       powf
#define INTEGER   int32_t
#define SUM       int32_t
#define ROUNDING  8388608.0F /* 2^23: adding it leaves no room for a fraction */
#define SAME      GF_F32
#define OTHERTYPE double
#include "cpu/rows_template.h"
#undef REAL
#undef NAME
#undef SQRT
#undef FABS
#undef EXP
#undef TANH
#undef POW
#undef INTEGER
#undef SUM
#undef ROUNDING
#undef SAME
#undef OTHERTYPE

#define REAL      double
#define NAME(x)   x##_f64
#define SQRT      sqrt
#define FABS      fabs
#define EXP       exp
#define TANH      tanh
#define POW       pow
#define INTEGER   int64_t
#define SUM       double             /* exact to 2^53; AVX2 cannot convert 64-bit integers */
#define ROUNDING  4503599627370496.0 /* 2^52 */
#define SAME      GF_F64
#define OTHERTYPE float
#include "cpu/rows_template.h"

#include "cpu/rows_fourier.h"

#include "cpu/rows_integers.h"

extern const GfRowSet GF_ROW_SET;
const GfRowSet GF_ROW_SET = {.name = GF_ROW_SET_NAME,
                             .functions = {FUNCTIONS(f32), FUNCTIONS(f64)},
                             .fourier = {LANES_f64, to_spectra, from_spectra, correlate},
                             .integers = {weigh_bytes, weigh_sums, respond, respond_bytes}};
