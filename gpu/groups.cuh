/* What only sm_90 has: barriers in shared memory, copies of whole stretches that end at them,
 * products of matrices by groups of four warps, clusters of blocks. Those of 90a do nothing
 * elsewhere, copies to global memory nothing before sm_90. */
#pragma once

#include <cooperative_groups.h>
#include <cstdint>

/* ---- copies and their barriers ---- */

__device__ inline unsigned gf_shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/* A barrier in shared memory: its phase ends when so many arrived and so many bytes were copied as
 * it expects. Phases are told apart by their parity. */
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

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define GF_COPIES_OUT
#endif

/* Copies that begin after it come after what was stored before it. */
__device__ inline void gf_copies_follow()
{
#ifdef GF_COPIES_OUT
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Begins a copy from global to shared memory, of a multiple of 16 bytes, that a barrier waits
 * for. */
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

/* Begins a copy from shared to global memory, of a multiple of 16 bytes, which leaves L2 early. */
__device__ inline void gf_copy_out(void *to, const void *from, unsigned bytes)
{
#ifdef GF_COPIES_OUT
    uint64_t early;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(early));
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, "
                 "%3;" ::"l"(to),
                 "r"(gf_shared_address(from)), "r"(bytes), "l"(early)
                 : "memory");
#endif
}

/* Ends a group of this thread's. */
__device__ inline void gf_end_copies_out()
{
#ifdef GF_COPIES_OUT
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/* Until all groups of this thread's have been read from shared memory. */
__device__ inline void gf_wait_for_copies_out()
{
#ifdef GF_COPIES_OUT
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* ---- products ---- */

/* gf_begin_products() comes before products whose registers were written, gf_end_products() after
 * them; up to gf_wait_for_products() they are under way, and neither their matrices nor their sums
 * may be touched. */
__device__ inline void gf_begin_products()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/* Registers of a first matrix are written where this stands, which is before products begin. */
__device__ inline void gf_settle(uint32_t (&a)[4])
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("" : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])::"memory");
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

/* The same but for those of the last LATER gf_end_products(), which may still be under way. */
template <int LATER = 0, int RUNS> __device__ inline void gf_wait_for_products(int (&d)[RUNS][4])
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LATER) : "memory");
#pragma unroll
    for (int i = 0; i < RUNS * 4; i++)
        asm volatile("" : "+r"(d[i / 4][i % 4])::"memory");
#endif
}

/* A matrix in shared memory as products take it: 8 rows of 8 numbers of f16 are 128 bytes, the next
 * 8 rows right behind; the next 8 numbers are `second` octets further on. Another matrix that lies
 * so many octets further on is that many more. */
__device__ inline unsigned gf_describe(const void *matrix, unsigned second)
{
    return (gf_shared_address(matrix) & 0x3FFFF) >> 4 | second << 16;
}

#define D4(i) "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
#define D_1   D4(0)
#define D_2   D_1, D4(1)
#define D_3   D_2, D4(2)
#define D_4   D_3, D4(3)
#define D_5   D_4, D4(4)
#define D_7   D_5, D4(5), D4(6)
#define D_8   D_7, D4(7)
#define D_9   D_8, D4(8)
#define D_12  D_9, D4(9), D4(10), D4(11)
#define D_14  D_12, D4(12), D4(13)
#define D_15  D_14, D4(14)
#define D_16  D_15, D4(15)
#define D_17  D_16, D4(16)
#define AT_1  "%0, %1, %2, %3"
#define AT_2  AT_1 ", %4, %5, %6, %7"
#define AT_3  AT_2 ", %8, %9, %10, %11"
#define AT_4  AT_3 ", %12, %13, %14, %15"
#define AT_5  AT_4 ", %16, %17, %18, %19"
#define AT_7  AT_5 ", %20, %21, %22, %23, %24, %25, %26, %27"
#define AT_8  AT_7 ", %28, %29, %30, %31"
#define AT_9  AT_8 ", %32, %33, %34, %35"
#define AT_12 AT_9 ", %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define AT_14 AT_12 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define AT_15 AT_14 ", %56, %57, %58, %59"
#define AT_16 AT_15 ", %60, %61, %62, %63"
#define AT_17 AT_16 ", %64, %65, %66, %67"

#define PRODUCT(RUNS_, SHAPE, A, B, ADDS)                                                          \
    if constexpr (RUNS == RUNS_)                                                                   \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #ADDS ", 0;\n"                               \
                 "wgmma.mma_async.sync.aligned." SHAPE ".f32.f16.f16 {" AT_##RUNS_                 \
                 "}, %" #A ", %" #B ", p, 1, 1, 0, 0;\n}"                                          \
                 : D_##RUNS_                                                                       \
                 : "l"(a), "l"(b), "r"(adds))

/* d += a * b, or d = a * b, of a group of four warps: 64 x 8 RUNS sums of 16 products of numbers of
 * f16, for 1, 2, 4, 8, 9, 12 or 14 to 17 RUNS. Each warp has 16 rows of d, as gf_multiply_halves()
 * leaves them. */
template <int RUNS>
__device__ inline void gf_begin_product(float (&d)[RUNS][4], unsigned first, unsigned second,
                                        bool add)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    constexpr uint64_t next_rows = 8ULL << 32;
    const uint64_t a = next_rows | first, b = next_rows | second;
    const int adds = add;
    PRODUCT(1, "m64n8k16", 4, 5, 6);
    PRODUCT(2, "m64n16k16", 8, 9, 10);
    PRODUCT(4, "m64n32k16", 16, 17, 18);
    PRODUCT(8, "m64n64k16", 32, 33, 34);
    PRODUCT(9, "m64n72k16", 36, 37, 38);
    PRODUCT(12, "m64n96k16", 48, 49, 50);
    PRODUCT(14, "m64n112k16", 56, 57, 58);
    PRODUCT(15, "m64n120k16", 60, 61, 62);
    PRODUCT(16, "m64n128k16", 64, 65, 66);
    PRODUCT(17, "m64n136k16", 68, 69, 70);
#endif
}

#undef PRODUCT
#define PRODUCT(RUNS_, SHAPE, A, B, C, E, SECOND, SIGNS)                                           \
    if constexpr (RUNS == RUNS_)                                                                   \
    asm volatile("wgmma.mma_async.sync.aligned." SHAPE " {" AT_##RUNS_                             \
                 "}, {%" #A ", %" #B ", %" #C ", %" #E "}, %" #SECOND SIGNS ";"                    \
                 : D_##RUNS_                                                                       \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(second))

/* d += a * second of a group, likewise, for 3, 4, 5, 7, 8 or 9 RUNS; without ADD, of 8, d = a *
 * second. Each warp has 16 rows of a, too, as gf_multiply_halves() takes them. `second`: the
 * matrix. */
template <int RUNS, bool ADD = true>
__device__ inline void gf_begin_product(float (&d)[RUNS][4], const uint32_t (&a)[4],
                                        uint64_t second)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    PRODUCT(3, "m64n24k16.f32.f16.f16", 12, 13, 14, 15, 16, ", 1, 1, 1, 0");
    PRODUCT(4, "m64n32k16.f32.f16.f16", 16, 17, 18, 19, 20, ", 1, 1, 1, 0");
    PRODUCT(5, "m64n40k16.f32.f16.f16", 20, 21, 22, 23, 24, ", 1, 1, 1, 0");
    PRODUCT(7, "m64n56k16.f32.f16.f16", 28, 29, 30, 31, 32, ", 1, 1, 1, 0");
    PRODUCT(9, "m64n72k16.f32.f16.f16", 36, 37, 38, 39, 40, ", 1, 1, 1, 0");
    if constexpr (ADD) {
        PRODUCT(8, "m64n64k16.f32.f16.f16", 32, 33, 34, 35, 36, ", 1, 1, 1, 0");
    } else {
        PRODUCT(8, "m64n64k16.f32.f16.f16", 32, 33, 34, 35, 36, ", 0, 1, 1, 0");
    }
#endif
}

#undef D4
#define D4(i) "+r"(d[i][0]), "+r"(d[i][1]), "+r"(d[i][2]), "+r"(d[i][3])

/* Likewise 64 x 8 RUNS sums of 32 products of bytes and signed bytes, for 12 or 16 RUNS. */
template <int RUNS>
__device__ inline void gf_begin_product(int (&d)[RUNS][4], const uint32_t (&a)[4], uint64_t second)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    static_assert(RUNS == 12 || RUNS == 16);
    PRODUCT(12, "m64n96k32.s32.u8.s8", 48, 49, 50, 51, 52, ", 1");
    PRODUCT(16, "m64n128k32.s32.u8.s8", 64, 65, 66, 67, 68, ", 1");
#endif
}

#undef PRODUCT
#undef AT_17
#undef AT_16
#undef AT_15
#undef AT_14
#undef AT_12
#undef AT_9
#undef AT_8
#undef AT_7
#undef AT_5
#undef AT_4
#undef AT_3
#undef AT_2
#undef AT_1
#undef D_17
#undef D_16
#undef D_15
#undef D_14
#undef D_12
#undef D_9
#undef D_8
#undef D_7
#undef D_5
#undef D_4
#undef D_3
#undef D_2
#undef D_1
#undef D4

/* ---- registers ---- */

/* Each thread of a group has so many registers from here on: more, or fewer. */
template <int REGISTERS> __device__ inline void gf_take_registers()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
#endif
}

template <int REGISTERS> __device__ inline void gf_give_registers()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
#endif
}

/* ---- clusters ---- */

/* Until all blocks of the cluster are here. */
__device__ inline void gf_wait_for_cluster()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#endif
}

/* The same place in the shared memory of the cluster's block `rank`. */
template <typename T> __device__ inline const T *gf_in_block(const T *place, int rank)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    return cooperative_groups::this_cluster().map_shared_rank(place, rank);
#else
    return place;
#endif
}
