/* Instructions that CUDA C++ has no name for. */
#pragma once

#include <cstdint>

/* d += a * b of a warp, 16 x 8 sums of 32 products: unsigned bytes times signed bytes, exact. With
 * g = lane / 4 and t = lane % 4: a[0] and a[1] are bytes 4t to 4t + 3 of rows g and g + 8 of the first
 * matrix, a[2] and a[3] those 16 further on; b[0] and b[1] the same bytes of column g of the
 * second; d[0] and d[1] are columns 2t and 2t + 1 of row g, d[2] and d[3] of row g + 8. Needs sm_80. */
__device__ inline void gf_multiply_32(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/* The same of 16 products a sum: without the bytes that are 16 further on. */
__device__ inline void gf_multiply_16(int (&d)[4], const uint32_t (&a)[2], uint32_t b)
{
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

/* Rounds half to even, then saturates; NaN becomes 0. */
__device__ inline uint32_t gf_round_u8(float v)
{
    uint32_t byte;
    asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(byte) : "f"(v));
    return byte;
}
