/* Byte by byte and without casts, so that neither the file's byte order nor this machine's matters.
 * Whatever is not finite is refused here, before a single sum can be spoilt by it. */
#include "filters/numbers.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "images/image.h"

enum { CHUNK_BYTES = 4 << 10 };

static double of_single(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double of_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double decode(const unsigned char *bytes, const GfNumberType *type)
{
    uint64_t bits = 0, sign = (uint64_t)1 << (8 * type->size - 1);
    for (size_t i = 0; i < type->size; i++)
        bits = bits << 8 | bytes[type->big_endian ? i : type->size - 1 - i];
    switch (type->kind) {
    case GF_UNSIGNED:
        return (double)bits;
    case GF_SIGNED:
        return (double)(bits & ~sign) - (double)(bits & sign);
    case GF_BRAIN:
        return of_single((uint32_t)bits << 16);
    case GF_IEEE:
        break;
    }
    return type->size == 2   ? (double)gf_half((uint16_t)bits)
           : type->size == 4 ? of_single((uint32_t)bits)
                             : of_double(bits);
}

GfStatus gf_numbers_read(GfBytes *bytes, const GfNumberType *type, size_t count, double *numbers)
{
    unsigned char chunk[CHUNK_BYTES];
    for (size_t done = 0, n; done < count; done += n) {
        n = gf_min(count - done, CHUNK_BYTES / type->size);
        GF_TRY(gf_bytes_read(bytes, chunk, n * type->size));
        for (size_t i = 0; i < n; i++) {
            double value = gf_trim_to_single(decode(chunk + i * type->size, type));
            if (!(fabs(value) <= (double)FLT_MAX))
                return gf_fail(GF_EUSAGE, "number %zu of %zu is %s", done + i + 1, count,
                               isnan(value)   ? "NaN"
                               : isinf(value) ? "infinite"
                                              : "beyond what floats can hold");
            numbers[done + i] = value;
        }
    }
    return GF_OK;
}
