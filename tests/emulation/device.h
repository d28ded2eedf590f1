/* A device that is none, for kernels: what CUDA C++ adds to C++, on the processor. A block's
 * threads are coroutines, which wait for each other where a kernel's threads do and run in an order
 * of chance, warp by warp; so a barrier that is missing shows as a wrong output, for one order or
 * another, and one that not all reach as a deadlock, which ends the program with a message. Memory
 * is the host's: with AddressSanitizer what is read or written outside it is found, and with
 * ThreadSanitizer what two threads of a block do to the same place with no barrier between them,
 * whatever comes of it. (Of two blocks that is not found: they run one after the other.) Not found
 * is what a block reads of its static shared memory before it has written it, if the block before
 * left the same there, nor a product of groups that is not waited for: those are made at once.
 * There are no clusters.
 *
 * Included before all else in a kernel file (-include), with tests/emulation in front of the
 * sources in the search for headers, so that those of this folder stand for gpu/instructions.cuh,
 * gpu/groups.cuh and <cuda_pipeline.h>. */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <functional>
#include <limits>
#include <type_traits>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __noinline__
#undef __forceinline__
#undef __launch_bounds__
#undef __maxnreg__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
#define __shared__ static /* one block runs at a time */
#define __noinline__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulation
{

/* Puts a kernel's blocks on a stream; one of no threads, or of more than there may be, fails as it
 * does on a device. */
cudaError_t launch(const dim3 &grid, const dim3 &threads, size_t bytes, cudaStream_t stream,
                   std::function<void()> kernel);

/* Where a block's dynamic shared memory begins. */
unsigned char *block_memory();

/* ---- of the thread that runs ---- */

constexpr size_t MOST = 96; /* bytes that a thread tells its warp at once */
constexpr unsigned ALL = ~0U;

struct alignas(16) Told {
    unsigned char bytes[MOST];
};

/* Waits until all threads of the mask that have not ended call it; what each told stands in the
 * array of 32 that is returned, until the thread calls it again. As with CUDA's instructions what
 * they did before is done for the others only where they meet for nothing else: where `size` is
 * 0. */
const Told *meet(unsigned mask, const void *told, size_t size);

/* Waits at a barrier until `count` threads have come or arrived; 0 at barrier 0: all that have not
 * ended. */
void wait_at(unsigned barrier, unsigned count);
void arrive_at(unsigned barrier, unsigned count);

/* Does the predicate hold for all threads of the block? */
bool holds_for_all(bool predicate);

/* Lets others run, until the condition holds. */
using Condition = bool(const void *asked, unsigned value);
void wait_until(Condition *condition, const void *asked, unsigned value);

/* A copy that is done when the thread waits for it, as late as may be; copies up to end_copies()
 * are a group. */
void begin_copy(void *to, const void *from, size_t size);
void end_copies();

/* Waits for all groups of copies of this thread but the last `but`. */
void wait_for_copies(size_t but);

/* What a product reads from the time it is begun until the thread waits for it: nobody may write
 * there. */
void begin_read(const void *from, size_t size);
void wait_for_reads();

/* What a thread did before it published at a place is done for all that receive from there.
 * Barriers do both, and nothing else puts the work of two threads in an order: ThreadSanitizer
 * reports what needs one and has none. */
void publish(const void *place);
void receive(const void *place);

/* Of functions: what they read and write is the device's own. */
#define EMULATION_OWN __attribute__((no_sanitize("thread")))

/* Ends the program: a kernel did what none may. */
[[noreturn]] void fail(const char *reason);

template <typename T> const T &told_by(const Told *told, unsigned lane)
{
    static_assert(sizeof(T) <= MOST && std::is_trivially_copyable_v<T>);
    return *reinterpret_cast<const T *>(told[lane].bytes);
}

inline unsigned thread()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

inline unsigned lane()
{
    return thread() % 32;
}

/* What lane `from` told, if it is one of the mask. */
template <typename T> T fetch(unsigned mask, T value, unsigned from)
{
    const Told *told = meet(mask, &value, sizeof value);
    if (!(mask >> from % 32 & 1))
        fail("a lane asks another that is not there");
    return told_by<T>(told, from % 32);
}

template <typename T> const T &aligned(const T *at)
{
    if (reinterpret_cast<uintptr_t>(at) % sizeof(T))
        fail("a vector is not aligned");
    return *at;
}

} // namespace emulation

/* ---- words of CUDA C++, as far as kernels use them ---- */

template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b)
{
    return std::common_type_t<A, B>(b) < std::common_type_t<A, B>(a) ? b : a;
}

template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b)
{
    return std::common_type_t<A, B>(a) < std::common_type_t<A, B>(b) ? b : a;
}

template <typename... Params>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(Params...))
{
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}

/* Dynamic shared memory need not be asked for. */
template <typename... Params>
cudaError_t cudaFuncSetAttribute(void (*)(Params...), cudaFuncAttribute, int)
{
    return cudaSuccess;
}

inline void __syncthreads()
{
    emulation::wait_at(0, 0);
}

inline int __syncthreads_and(int predicate)
{
    return emulation::holds_for_all(predicate);
}

inline void __syncwarp(unsigned mask = emulation::ALL)
{
    emulation::meet(mask, nullptr, 0);
}

template <typename T> T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    const unsigned own = emulation::lane(), w = static_cast<unsigned>(width);
    return emulation::fetch(mask, value, own / w * w + static_cast<unsigned>(from) % w);
}

template <typename T> T __shfl_xor_sync(unsigned mask, T value, int with)
{
    return emulation::fetch(mask, value, emulation::lane() ^ static_cast<unsigned>(with));
}

template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned by)
{
    const unsigned own = emulation::lane();
    return emulation::fetch(mask, value, own < by ? own : own - by);
}

template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned by)
{
    const unsigned own = emulation::lane();
    return emulation::fetch(mask, value, own + by > 31 ? own : own + by);
}

inline unsigned __ballot_sync(unsigned mask, bool predicate)
{
    const emulation::Told *told = emulation::meet(mask, &predicate, sizeof predicate);
    unsigned lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1 && emulation::told_by<bool>(told, i))
            lanes |= 1U << i;
    return lanes;
}

inline int __all_sync(unsigned mask, bool predicate)
{
    return __ballot_sync(mask, !predicate) == 0;
}

inline int __any_sync(unsigned mask, bool predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

inline unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
    const emulation::Told *told = emulation::meet(mask, &value, sizeof value);
    unsigned most = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1)
            most = std::max(most, emulation::told_by<unsigned>(told, i));
    return most;
}

inline unsigned __reduce_min_sync(unsigned mask, unsigned value)
{
    return ~__reduce_max_sync(mask, ~value);
}

template <typename T> T __ldg(const T *from)
{
    return emulation::aligned(from);
}

template <typename T> void __stcs(T *to, const T &value)
{
    const_cast<T &>(emulation::aligned(to)) = value;
}

/* The bytes of y and x that the digits of `choice` name. */
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned choice)
{
    const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
    unsigned word = 0;
    for (int i = 0; i < 4; i++)
        word |= static_cast<unsigned>(both >> (choice >> i * 4 & 7) * 8 & 0xFF) << i * 8;
    return word;
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (by & 31));
}

inline unsigned atomicMax(unsigned *at, unsigned value)
{
    unsigned old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
    return old;
}

inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}

inline int __popc(unsigned v)
{
    return __builtin_popcount(v);
}

inline int __ffs(int v)
{
    return __builtin_ffs(v);
}

inline unsigned __float_as_uint(float v)
{
    unsigned bits;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
}

inline float __uint_as_float(unsigned bits)
{
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
}

inline double __longlong_as_double(long long bits)
{
    double v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
}

inline float __int_as_float(int bits)
{
    return __uint_as_float(static_cast<unsigned>(bits));
}

/* Rounds half to even and saturates; NaN becomes 0. */
template <typename To> To round_to(double v)
{
    using Limits = std::numeric_limits<To>;
    const double rounded = std::nearbyint(v);
    return std::isnan(v)             ? To{0}
           : rounded < Limits::min() ? Limits::min()
           : rounded > Limits::max() ? Limits::max()
                                     : static_cast<To>(rounded);
}

inline int __float2int_rn(float v)
{
    return round_to<int>(v);
}

inline unsigned __float2uint_rn(float v)
{
    return round_to<unsigned>(v);
}

inline unsigned __double2uint_rn(double v)
{
    return std::isnan(v) ? 1U << 31 : round_to<unsigned>(v);
}
