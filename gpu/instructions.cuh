/* Instructions that CUDA C++ has no words for, and those of its words that only its own compiler
 * reads. All other kernel code is C++ for any compiler that is told what a device is, as
 * tests/emulation tells it. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

/* ---- blocks ---- */

/* An array: the dynamic shared memory of a block. */
#define GF_BLOCK_MEMORY(type, name) extern __shared__ type name[]

/* Starts a kernel; cudaGetLastError() says whether that could be. */
template <typename Kernel, typename... Args>
void gf_start(Kernel kernel, const dim3 &grid, const dim3 &threads, size_t bytes,
              cudaStream_t stream, const Args &...args)
{
    kernel<<<grid, threads, bytes, stream>>>(args...);
}

/* The same, with attributes. */
template <typename Kernel, typename... Args>
cudaError_t gf_start(const cudaLaunchConfig_t &config, Kernel kernel, const Args &...args)
{
    return cudaLaunchKernelEx(&config, kernel, args...);
}

/* When the blocks of the next kernel, if it is launched early, may come: while this one waits for
 * those before it, once it has waited, or as its own blocks end. The first is best where blocks
 * fill the card; of a launch that leaves room the second: several would wait in line, and each
 * start later (bench/results/2026-11-27-h200-2.md). */
enum GfNext { GF_NEXT_AT_ONCE, GF_NEXT_IN_TURN, GF_NEXT_AT_END };

/* Waits until all kernels before this one have ended and what they wrote is seen. Before it of
 * global memory only weights may be touched, which were there before any launch. */
__device__ inline void gf_wait_for_stream(GfNext next = GF_NEXT_AT_ONCE)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    if (next == GF_NEXT_AT_ONCE)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (next == GF_NEXT_IN_TURN)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* An address that is computed before what follows, and not while it is needed at once, as behind a
 * wait: whoever had none would end here. */
__device__ inline void gf_find_now(const void *address)
{
    asm volatile("{\n.reg .pred p;\nsetp.eq.u64 p, %0, 0;\n@p exit;\n}" ::"l"(address) : "memory");
}

/* Waits at one of a block's barriers, 1 to 15, until THREADS of its threads, which are whole warps,
 * wait there or have arrived. */
template <int THREADS> __device__ inline void gf_wait_at(int barrier)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}

/* The same where the barrier is always the same one. */
template <int THREADS, int BARRIER> __device__ inline void gf_wait_at()
{
    asm volatile("bar.sync %0, %1;" ::"n"(BARRIER), "n"(THREADS) : "memory");
}

template <int THREADS> __device__ inline void gf_arrive_at(int barrier)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}

/* ---- numbers ---- */

/* Rounds four numbers half to even to the bytes of a word, the first the lowest, saturated; NaN
 * becomes 0. Two conversions of two. */
__device__ inline uint32_t gf_round_bytes(float a, float b, float c, float d)
{
    uint32_t high, word;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
        : "=r"(high)
        : "r"(__float2int_rn(d)), "r"(__float2int_rn(c)));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(word)
        : "r"(__float2int_rn(b)), "r"(__float2int_rn(a)), "r"(high));
    return word;
}

/* Two numbers likewise to the halves of a word. */
__device__ inline uint32_t gf_round_pair(float a, float b)
{
    uint32_t word;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;"
        : "=r"(word)
        : "r"(__float2int_rn(b)), "r"(__float2int_rn(a)));
    return word;
}

/* a * b + c of both numbers. */
__device__ inline __half2 gf_multiply_add(__half2 a, __half2 b, __half2 c)
{
    return __hfma2(a, b, c);
}

/* A square root, within 2 units of its last place. */
__device__ inline float gf_root(float v)
{
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
}

/* The larger number; NaN is more than any, and stays. */
template <typename T> __device__ inline T gf_more(T most, T v)
{
    return v > most || v != v ? v : most;
}

__device__ inline float gf_more(float most, float v)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    float more;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(more) : "f"(most), "f"(v));
    return more;
#else
    return v > most || v != v ? v : most;
#endif
}

/* The same, found here and kept: the compiler would find it again wherever it is used. */
__device__ inline long long gf_computed(long long number)
{
    asm volatile("" : "+l"(number));
    return number;
}

/* v * scale + offset; and v becomes what it was times `keep`, or `next`. (Told in assembly: where
 * the compiler sees what a register of a product by a group becomes, it moves all others as well,
 * and runs one product after the other.) */
__device__ inline float gf_take_and_scale(float *v, float scale, float offset, float keep)
{
    float taken;
    asm volatile("fma.rn.f32 %0, %1, %2, %3;\nmul.rn.f32 %1, %1, %4;"
                 : "=&f"(taken), "+f"(*v)
                 : "f"(scale), "f"(offset), "f"(keep));
    return taken;
}

__device__ inline float gf_take_and_set(float *v, float scale, float offset, float next)
{
    float taken;
    asm volatile("fma.rn.f32 %0, %1, %2, %3;\nmov.b32 %1, %4;"
                 : "=&f"(taken), "+f"(*v)
                 : "f"(scale), "f"(offset), "f"(next));
    return taken;
}

/* The same of a whole number: what it is, and what becomes of it: bits that are kept, and others
 * set. */
__device__ inline int gf_take_and_set(int *v, int kept, int set)
{
    int taken;
    asm volatile("mov.b32 %0, %1;\nlop3.b32 %1, %1, %2, %3, 0xEA;"
                 : "=&r"(taken), "+r"(*v)
                 : "r"(kept), "r"(set));
    return taken;
}

/* ---- memory ---- */

/* Moves an address by so many bytes. (Where the compiler sees it, it finds every row's address
 * anew.) */
__device__ inline void gf_advance(uint8_t **at, size_t bytes)
{
    asm volatile("add.s64 %0, %0, %1;" : "+l"(*at) : "l"(bytes));
}

/* The same address, of which the compiler no longer sees what it is made of. */
template <typename T> __device__ inline const T *gf_seen(const T *at)
{
    asm volatile("" : "+l"(at));
    return at;
}

/* Loads in the order of the program: nothing waits for one of these before all have begun. */
__device__ inline float4 gf_load_in_order(const float *from)
{
    float4 v;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

template <int WORDS, typename In>
__device__ inline void gf_load_in_order(const In *from, uint32_t (&word)[WORDS])
{
    static_assert(WORDS == 1 || WORDS == 2 || WORDS == 4);
    if constexpr (WORDS == 1)
        asm volatile("ld.global.b32 %0, [%1];" : "=r"(word[0]) : "l"(from) : "memory");
    else if constexpr (WORDS == 2)
        asm volatile("ld.global.v2.b32 {%0, %1}, [%2];"
                     : "=r"(word[0]), "=r"(word[1])
                     : "l"(from)
                     : "memory");
    else
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                     : "l"(from)
                     : "memory");
}

__device__ inline uint32_t gf_load_in_order(const uint8_t *from)
{
    uint32_t byte;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(byte) : "l"(from));
    return byte;
}

/* The bits of a sample. */
template <typename In> __device__ inline uint32_t gf_load_bits(const In *from)
{
    uint32_t bits[1];
    if constexpr (sizeof(In) == 1)
        bits[0] = gf_load_in_order(from);
    else if constexpr (sizeof(In) == 2)
        asm volatile("{\n.reg .b16 b;\nld.global.b16 b, [%1];\ncvt.u32.u16 %0, b;\n}"
                     : "=r"(bits[0])
                     : "l"(from)
                     : "memory");
    else
        gf_load_in_order(from, bits);
    return bits[0];
}

/* Brings a line from memory to L2. */
__device__ inline void gf_prefetch(const void *from)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

/* Stores what another thread may store there, too: the same bits. */
template <typename T> __device__ inline void gf_store_same(uint8_t *to, const T &value)
{
    *reinterpret_cast<T *>(to) = value;
}

/* Stores the first BYTES bytes of words, 1, 2, 4 or 8 and aligned, where that is wanted; without a
 * branch, which would part the warp. */
template <int BYTES, int WORDS>
__device__ inline void gf_store_if(bool wanted, uint8_t *to, const uint32_t (&word)[WORDS])
{
    const int p = wanted;
    static_assert(BYTES <= WORDS * 4 && BYTES <= 8);
    if constexpr (BYTES == 1)
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.b8 [%0], %1;\n}" ::"l"(to),
            "r"(word[0]), "r"(p)
            : "memory");
    else if constexpr (BYTES == 2)
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.b16 [%0], %1;\n}" ::"l"(to),
            "h"(static_cast<uint16_t>(word[0])), "r"(p)
            : "memory");
    else if constexpr (BYTES == 4)
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.b32 [%0], %1;\n}" ::"l"(to),
            "r"(word[0]), "r"(p)
            : "memory");
    else
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p st.global.v2.b32 [%0], {%1, "
                     "%2};\n}" ::"l"(to),
                     "r"(word[0]), "r"(word[1]), "r"(p)
                     : "memory");
}

/* Likewise of a word in shared memory. */
__device__ inline void gf_keep_if(bool wanted, uint32_t *to, uint32_t word)
{
    const int p = wanted;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.shared.b32 [%0], %1;\n}" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "r"(word), "r"(p)
                 : "memory");
}

/* As gf_store_if(), of up to 16 bytes; lines that vectors fill leave L2 before others. */
template <int BYTES, int WORDS>
__device__ inline void gf_stream_if(bool wanted, uint8_t *to, const uint32_t (&word)[WORDS])
{
    const int p = wanted;
    if constexpr (BYTES < 4)
        gf_store_if<BYTES>(wanted, to, word);
    else if constexpr (BYTES == 4)
        asm volatile(
            "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.cs.b32 [%0], %1;\n}" ::"l"(to),
            "r"(word[0]), "r"(p)
            : "memory");
    else if constexpr (BYTES == 8)
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n"
                     "@p st.global.cs.v2.b32 [%0], {%1, %2};\n}" ::"l"(to),
                     "r"(word[0]), "r"(word[1]), "r"(p)
                     : "memory");
    else
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %5, 0;\n"
                     "@p st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};\n}" ::"l"(to),
                     "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(p)
                     : "memory");
}

/* Begins to copy 16 bytes, both aligned, from global to shared memory, as __pipeline_memcpy_async()
 * does, but by way of L1: for what neighbouring warps read too. */
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

/* ---- products of matrices by a warp, on tensor cores ---- */

/* d += a * b of a warp, 16 x 8 sums of 32 products: unsigned bytes times signed bytes, exact. With
 * g = lane / 4 and t = lane % 4: a[0] and a[1] are bytes 4t to 4t + 3 of rows g and g + 8 of the
 * first matrix, a[2] and a[3] those 16 further on; b[0] and b[1] the same bytes of column g of the
 * second; d[0] and d[1] are columns 2t and 2t + 1 of row g, d[2] and d[3] of row g + 8. Needs
 * sm_80. */
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

/* d += a * b of a warp in f32, of numbers of f16: 16 x 8 sums of 16 products. With g and t as
 * above: a's words are numbers 2t and 2t + 1 of rows g and g + 8, then those 8 further on; b's the
 * same of column g, then those 8 further on; d as above. */
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

/* Four matrices of 8 rows of 16 bytes, from shared memory: lane i has the address of row i % 8 of
 * matrix i / 8, and receives of each matrix the i-th word, counted along its rows. */
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
