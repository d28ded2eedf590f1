/* Stands for gpu/instructions.cuh. */
#pragma once

#include "tests/emulation/device.h"

/* ---- blocks ---- */

namespace emulation
{

struct BlockMemory {
    template <typename T> operator T *() const
    {
        return reinterpret_cast<T *>(block_memory());
    }
};

} // namespace emulation

#define GF_BLOCK_MEMORY(type, name) type *name = emulation::BlockMemory()

template <typename Kernel, typename... Args>
void gf_start(Kernel kernel, const dim3 &grid, const dim3 &threads, size_t bytes,
              cudaStream_t stream, const Args &...args)
{
    (void)emulation::launch(grid, threads, bytes, stream, [=] { kernel(args...); });
}

template <typename Kernel, typename... Args>
cudaError_t gf_start(const cudaLaunchConfig_t &config, Kernel kernel, const Args &...args)
{
    return emulation::launch(config.gridDim, config.blockDim, config.dynamicSmemBytes,
                             config.stream, [=] { kernel(args...); });
}

enum GfNext { GF_NEXT_AT_ONCE, GF_NEXT_IN_TURN, GF_NEXT_AT_END };

inline void gf_wait_for_stream(GfNext = GF_NEXT_AT_ONCE)
{
}

inline void gf_find_now(const void *)
{
}

template <int THREADS> void gf_wait_at(int barrier)
{
    emulation::wait_at(static_cast<unsigned>(barrier), THREADS);
}

template <int THREADS, int BARRIER> void gf_wait_at()
{
    emulation::wait_at(BARRIER, THREADS);
}

template <int THREADS> void gf_arrive_at(int barrier)
{
    emulation::arrive_at(static_cast<unsigned>(barrier), THREADS);
}

inline long long gf_computed(long long number)
{
    return number;
}

/* ---- numbers ---- */

inline uint32_t gf_round_bytes(float a, float b, float c, float d)
{
    uint32_t word = 0;
    const float v[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        word |= static_cast<uint32_t>(round_to<uint8_t>(v[i])) << i * 8;
    return word;
}

inline uint32_t gf_round_pair(float a, float b)
{
    return round_to<uint16_t>(a) | static_cast<uint32_t>(round_to<uint16_t>(b)) << 16;
}

inline __half2 gf_multiply_add(__half2 a, __half2 b, __half2 c)
{
    const float2 x = __half22float2(a), y = __half22float2(b), z = __half22float2(c);
    return __floats2half2_rn(std::fma(x.x, y.x, z.x), std::fma(x.y, y.y, z.y));
}

inline float gf_root(float v)
{
    return std::sqrt(v);
}

template <typename T> T gf_more(T most, T v)
{
    return v > most || v != v ? v : most;
}

inline float gf_take_and_scale(float *v, float scale, float offset, float keep)
{
    const float taken = std::fma(*v, scale, offset);
    *v *= keep;
    return taken;
}

inline float gf_take_and_set(float *v, float scale, float offset, float next)
{
    const float taken = std::fma(*v, scale, offset);
    *v = next;
    return taken;
}

inline int gf_take_and_set(int *v, int kept, int set)
{
    const int taken = *v;
    *v = (taken & kept) | set;
    return taken;
}

/* ---- memory ---- */

inline void gf_advance(uint8_t **at, size_t bytes)
{
    *at += bytes;
}

template <typename T> const T *gf_seen(const T *at)
{
    return at;
}

inline float4 gf_load_in_order(const float *from)
{
    return emulation::aligned(reinterpret_cast<const float4 *>(from));
}

template <int WORDS, typename In> void gf_load_in_order(const In *from, uint32_t (&word)[WORDS])
{
    struct alignas(sizeof word) Vector {
        uint32_t word[WORDS];
    };
    const Vector v = emulation::aligned(reinterpret_cast<const Vector *>(from));
    for (int i = 0; i < WORDS; i++)
        word[i] = v.word[i];
}

inline uint32_t gf_load_in_order(const uint8_t *from)
{
    return *from;
}

template <typename In> uint32_t gf_load_bits(const In *from)
{
    uint32_t bits = 0;
    std::memcpy(&bits, from, sizeof *from);
    return bits;
}

inline void gf_prefetch(const void *)
{
}

/* A byte at a time, each at once. */
template <typename T> void gf_store_same(uint8_t *to, const T &value)
{
    if (reinterpret_cast<uintptr_t>(to) % alignof(T))
        emulation::fail("a store is not aligned");
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&value);
    for (size_t i = 0; i < sizeof(T); i++)
        __atomic_store_n(to + i, bytes[i], __ATOMIC_RELAXED);
}

template <int BYTES, int WORDS>
void gf_store_if(bool wanted, uint8_t *to, const uint32_t (&word)[WORDS])
{
    static_assert(BYTES <= WORDS * 4);
    if (!wanted)
        return;
    if (reinterpret_cast<uintptr_t>(to) % BYTES)
        emulation::fail("a store is not aligned");
    std::memcpy(to, word, BYTES);
}

inline void gf_keep_if(bool wanted, uint32_t *to, uint32_t word)
{
    if (wanted)
        *to = word;
}

template <int BYTES, int WORDS>
void gf_stream_if(bool wanted, uint8_t *to, const uint32_t (&word)[WORDS])
{
    gf_store_if<BYTES>(wanted, to, word);
}

inline void gf_copy_vector(void *to, const void *from)
{
    emulation::begin_copy(to, from, sizeof(uint4));
}

/* ---- products of matrices by a warp ---- */

namespace emulation
{

/* The numbers that words hold. */
template <typename T, int COUNT> void unpack(float (&numbers)[COUNT], const void *words)
{
    for (int i = 0; i < COUNT; i++) {
        T number;
        std::memcpy(static_cast<void *>(&number), static_cast<const T *>(words) + i, sizeof(T));
        numbers[i] = static_cast<float>(number);
    }
}

/* d[i] += the products of a row and a column: of rows lane / 4 and that 8 further on, columns lane
 * % 4 * 2 and the next. A lane has RUNS runs of PER numbers of both rows of a, in turn, and as many
 * of column lane / 4 of b; numbers run on from lane to lane of four, then from run to run. */
template <int RUNS, int PER, typename InA, typename InB, typename Sum>
void multiply(Sum (&d)[4], const void *a, const void *b)
{
    struct Own {
        float a[RUNS][2][PER], b[RUNS][PER];
    } own;
    unpack<InA>(reinterpret_cast<float(&)[RUNS * 2 * PER]>(own.a), a);
    unpack<InB>(reinterpret_cast<float(&)[RUNS * PER]>(own.b), b);
    const Told *told = meet(ALL, &own, sizeof own);
    for (unsigned i = 0; i < 4; i++) {
        double sum = 0;
        for (unsigned t = 0; t < 4; t++) {
            const Own &row = told_by<Own>(told, lane() / 4 * 4 + t);
            const Own &column = told_by<Own>(told, (lane() % 4 * 2 + i % 2) * 4 + t);
            for (int run = 0; run < RUNS; run++)
                for (int k = 0; k < PER; k++)
                    sum += static_cast<double>(row.a[run][i / 2][k]) *
                           static_cast<double>(column.b[run][k]);
        }
        d[i] += static_cast<Sum>(sum);
    }
}

} // namespace emulation

inline void gf_multiply_32(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    emulation::multiply<2, 4, uint8_t, int8_t>(d, a, b);
}

inline void gf_multiply_16(int (&d)[4], const uint32_t (&a)[2], uint32_t b)
{
    emulation::multiply<1, 4, uint8_t, int8_t>(d, a, &b);
}

inline void gf_multiply_halves(float (&d)[4], const uint4 &a, uint32_t b0, uint32_t b1)
{
    const uint32_t b[] = {b0, b1};
    emulation::multiply<2, 2, __half, __half>(d, &a, b);
}

inline void gf_multiply_halves(float (&d)[4], const uint2 &a, uint32_t b)
{
    emulation::multiply<1, 2, __half, __half>(d, &a, &b);
}

inline uint4 gf_read_matrices(const void *row)
{
    const emulation::Told *told = emulation::meet(emulation::ALL, &row, sizeof row);
    uint32_t words[4];
    for (unsigned m = 0; m < 4; m++) {
        const auto *from =
            emulation::told_by<const uint32_t *>(told, m * 8 + emulation::lane() / 4);
        if (reinterpret_cast<uintptr_t>(from) % 16)
            emulation::fail("a matrix is not aligned");
        words[m] = from[emulation::lane() % 4];
    }
    return {words[0], words[1], words[2], words[3]};
}
