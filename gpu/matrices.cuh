/* Products of matrices on tensor cores, by a warp and by groups of four, and the copies that feed them. */
#pragma once

#include <cstdint>
#include <cuda_fp16.h>

/* ---- products by a warp ---- */

/* d += a * b of a warp, 16 x 8 sums of 32 products: unsigned bytes times signed bytes, exact. With
 * g = lane / 4 and t = lane % 4: a[0] and a[1] are bytes 4t to 4t + 3 of rows g and g + 8 of the first
 * matrix, a[2] and a[3] those 16 further on; b[0] and b[1] the same bytes of column g of the
 * second; d[0] and d[1] are columns 2t and 2t + 1 of row g, d[2] and d[3] of row g + 8. Needs sm_80. */
__device__ inline void gf_multiply_32(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
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
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

/* Two numbers as sums of two of f16 each, of 11 bits each. */
__device__ inline void gf_split(float a, float b, __half2 *upper, __half2 *lower)
{
    *upper = __floats2half2_rn(a, b);
    const float2 back = __half22float2(*upper);
    *lower = __floats2half2_rn(a - back.x, b - back.y);
}

/* Powers of two, one of every APART: `up` takes numbers of which `most` is the largest to below 2^15, that
 * one to 2^(15 - APART) at least, where f16 has its bits; `down` takes them back. */
struct GfScale {
    float up, down;
};

template <unsigned APART> __device__ inline GfScale gf_scale(float most)
{
    const unsigned least = min(max(__float_as_uint(most) >> 23, 15U), 254U);
    const unsigned exponent = (least + APART - 1) / APART * APART;
    return {__uint_as_float((268U - exponent) << 23), __uint_as_float((exponent - 14U) << 23)};
}

/* d += a * b of a warp in f32, of numbers of f16: 16 x 8 sums of 16 products. With g and t as above:
 * a's words are numbers 2t and 2t + 1 of rows g and g + 8, then those 8 further on; b's the same of
 * column g, then those 8 further on; d as above. */
__device__ inline void gf_multiply_halves(float (&d)[4], const uint4 &a, uint32_t b0, uint32_t b1)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

/* The same of 8 products a sum: without the numbers that are 8 further on. */
__device__ inline void gf_multiply_halves(float (&d)[4], const uint2 &a, uint32_t b)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.x), "r"(a.y), "r"(b));
#endif
}

/* Four matrices of 8 rows of 16 bytes, from shared memory: lane i has the address of row i % 8 of matrix
 * i / 8, and receives of each matrix the i-th word, counted along its rows. */
__device__ inline uint4 gf_read_matrices(const void *row)
{
    uint4 words = {};
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
#endif
    return words;
}

/* ---- copies that are not waited for ---- */

/* Begins to copy 16 bytes, both aligned, from global to shared memory, as __pipeline_memcpy_async() does,
 * but by way of L1: for what neighbouring warps read too. */
__device__ inline void gf_copy_vector(void *to, const void *from)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
#else
    *static_cast<uint4 *>(to) = *static_cast<const uint4 *>(from);
#endif
}

/* ---- what only sm_90 has: copies of whole stretches, products by groups of four warps ---- */

/* Those of 90a do nothing elsewhere. */

__device__ inline unsigned gf_shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/* A barrier in shared memory: its phase ends when so many arrived and so many bytes were copied as it
 * expects. Phases are told apart by their parity. */
__device__ inline void gf_barrier_init(uint64_t *barrier, unsigned count)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gf_shared_address(barrier)),
                 "r"(count)
                 : "memory");
#endif
}

__device__ inline void gf_barrier_expect(uint64_t *barrier, unsigned bytes)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(
                     gf_shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
#endif
}

__device__ inline void gf_barrier_arrive(uint64_t *barrier, unsigned count = 1)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(gf_shared_address(barrier)),
                 "r"(count)
                 : "memory");
#endif
}

__device__ inline void gf_barrier_wait(uint64_t *barrier, unsigned parity)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("{\n.reg .pred p;\nWAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT;\n}" ::"r"(
                     gf_shared_address(barrier)),
                 "r"(parity)
                 : "memory");
#endif
}

/* Barriers that were made are seen by copies, too. */
__device__ inline void gf_barriers_made()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                     : "memory");
#endif
}

/* Copies that begin after it come after what was stored before it. */
__device__ inline void gf_copies_follow()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Begins a copy from global to shared memory, of a multiple of 16 bytes, that a barrier waits for. */
__device__ inline void gf_copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(gf_shared_address(to)),
        "l"(from), "r"(bytes), "r"(gf_shared_address(barrier))
        : "memory");
#endif
}

/* gf_begin_products() comes before products whose registers were written, gf_end_products() after them; up to
 * gf_wait_for_products() they are under way, and neither their matrices nor their sums may be touched. */
__device__ inline void gf_begin_products()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ inline void gf_end_products()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

template <int RUNS> __device__ inline void gf_wait_for_products(float (&d)[RUNS][4])
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < RUNS * 4; i++)
        asm volatile("" : "+f"(d[i / 4][i % 4])::"memory");
#endif
}
