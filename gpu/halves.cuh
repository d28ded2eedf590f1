/* Numbers as tensor cores take them: in f16. */
#pragma once

#include <cstdint>
#include <cuda_fp16.h>

/* Two numbers as sums of two of f16 each, of 11 bits each. */
__device__ inline void gf_split(float a, float b, __half2 *upper, __half2 *lower)
{
    *upper = __floats2half2_rn(a, b);
    const float2 back = __half22float2(*upper);
    *lower = __floats2half2_rn(a - back.x, b - back.y);
}

/* Powers of two, one of every APART: `up` takes numbers of which `most` is the largest to below
 * 2^15, that one to 2^(15 - APART) at least, where f16 has its bits; `down` takes them back. */
struct GfScale {
    float up, down;
};

template <unsigned APART> __device__ inline GfScale gf_scale(float most)
{
    const unsigned least = min(max(__float_as_uint(most) >> 23, 15U), 254U);
    const unsigned exponent = (least + APART - 1) / APART * APART;
    return {__uint_as_float((268U - exponent) << 23), __uint_as_float((exponent - 14U) << 23)};
}
