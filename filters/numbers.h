/* Numbers as files hold them, made into doubles, which hold all of these kinds exactly. */
#pragma once

#include "filters/tensor_bytes.h"

/* What a number's bytes mean. */
typedef enum GfNumberKind {
    GF_UNSIGNED,
    GF_SIGNED, /* two's complement */
    GF_IEEE,   /* binary16, binary32 or binary64 */
    GF_BRAIN   /* bfloat16: the upper half of a binary32 */
} GfNumberKind;

typedef struct GfNumberType {
    GfNumberKind kind;
    size_t size; /* bytes: 1, 2, 4 or 8; 0: a type that is not read */
    bool big_endian;
} GfNumberType;

/* Reads `count` numbers. GF_EUSAGE where the file ends before, or where a number is NaN, infinite
 * or beyond what f32 can hold: the message says which. */
GfStatus gf_numbers_read(GfBytes *bytes, const GfNumberType *type, size_t count, double *numbers);
