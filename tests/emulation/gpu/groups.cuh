/* Stands for gpu/groups.cuh. Without clusters: the device says that it has none. */
#pragma once

#include "tests/emulation/gpu/instructions.cuh"

namespace emulation
{

/* A barrier in shared memory. */
struct Phase {
    uint64_t parity : 1, count : 15, awaited : 16;
    int64_t bytes : 32; /* that are still to come */
};
static_assert(sizeof(Phase) == sizeof(uint64_t));

inline EMULATION_OWN Phase &phase_of(uint64_t *barrier)
{
    return *reinterpret_cast<Phase *>(barrier);
}

inline EMULATION_OWN bool has_ended(const void *barrier, unsigned parity)
{
    return static_cast<const Phase *>(barrier)->parity != parity;
}

inline EMULATION_OWN void end_phase(Phase &phase)
{
    if (phase.awaited > 0 || phase.bytes != 0)
        return;
    phase.awaited = phase.count;
    phase.parity ^= 1;
}

/* Where row i of a matrix in shared memory has its numbers of 16 bytes, the half-th of two. */
inline const unsigned char *place_in(uint64_t matrix, unsigned i, unsigned half)
{
    const auto field = [=](int from) { return (matrix >> from & 0x3FFF) << 4; };
    return block_memory() + field(0) + i / 8 * field(32) + half * field(16) + i % 8 * 16;
}

} // namespace emulation

/* ---- copies and their barriers ---- */

inline unsigned gf_shared_address(const void *at)
{
    return static_cast<unsigned>(static_cast<const unsigned char *>(at) -
                                 emulation::block_memory());
}

inline EMULATION_OWN void gf_barrier_init(uint64_t *barrier, unsigned count)
{
    emulation::phase_of(barrier) = {0, count, count, 0};
}

inline EMULATION_OWN void gf_barrier_expect(uint64_t *barrier, unsigned bytes)
{
    emulation::phase_of(barrier).bytes += bytes;
}

inline EMULATION_OWN void gf_barrier_arrive(uint64_t *barrier, unsigned count = 1)
{
    emulation::publish(barrier);
    emulation::Phase &phase = emulation::phase_of(barrier);
    if (count > phase.awaited)
        emulation::fail("more arrive at a barrier than it expects");
    phase.awaited -= count;
    end_phase(phase);
}

inline void gf_barrier_wait(uint64_t *barrier, unsigned parity)
{
    emulation::wait_until(emulation::has_ended, barrier, parity);
    emulation::receive(barrier);
}

inline void gf_barriers_made()
{
}
inline void gf_copies_follow()
{
}

inline EMULATION_OWN void gf_copy_bulk(void *to, const void *from, unsigned bytes,
                                       uint64_t *barrier)
{
    if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes) % 16)
        emulation::fail("a copy is not aligned");
    std::memcpy(to, from, bytes);
    emulation::publish(barrier);
    emulation::Phase &phase = emulation::phase_of(barrier);
    phase.bytes -= bytes;
    end_phase(phase);
}

inline void gf_copy_out(void *to, const void *from, unsigned bytes)
{
    if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes) % 16)
        emulation::fail("a copy is not aligned");
    emulation::begin_copy(to, from, bytes);
}

inline void gf_end_copies_out()
{
    emulation::end_copies();
}

inline void gf_wait_for_copies_out()
{
    emulation::wait_for_copies(0);
}

/* ---- products ---- */

inline void gf_begin_products()
{
}
inline void gf_settle(uint32_t (&)[4])
{
}
inline void gf_end_products()
{
}
template <int LATER = 0, typename Sum, int RUNS> void gf_wait_for_products(Sum (&)[RUNS][4])
{
    emulation::wait_for_reads();
}

inline unsigned gf_describe(const void *matrix, unsigned second)
{
    return (gf_shared_address(matrix) & 0x3FFFF) >> 4 | second << 16;
}

namespace emulation
{

/* A row's 16 numbers. */
struct Row {
    float of[16];
};

inline Row read_row(uint64_t matrix, unsigned i)
{
    Row row;
    for (unsigned k = 0; k < 16; k += 8) {
        const unsigned char *from = place_in(matrix, i, k / 8);
        begin_read(from, 8 * sizeof(__half));
        unpack<__half>(reinterpret_cast<float(&)[8]>(row.of[k]), from);
    }
    return row;
}

/* Of a warp's 16 rows of a a lane has lane / 4 and that 8 further on. */
template <int RUNS> void multiply_rows(float (&d)[RUNS][4], const Row (&a)[2], uint64_t second)
{
    for (unsigned i = 0; i < RUNS * 2; i++) {
        const Row b = read_row(second, i / 2 * 8 + lane() % 4 * 2 + i % 2);
        for (unsigned row = 0; row < 2; row++) {
            double sum = 0;
            for (int k = 0; k < 16; k++)
                sum += static_cast<double>(a[row].of[k]) * static_cast<double>(b.of[k]);
            d[i / 2][row * 2 + i % 2] += static_cast<float>(sum);
        }
    }
}

} // namespace emulation

template <int RUNS>
void gf_begin_product(float (&d)[RUNS][4], unsigned first, unsigned second, bool add)
{
    constexpr uint64_t next_rows = 8ULL << 32;
    const unsigned row = emulation::thread() / 32 % 4 * 16 + emulation::lane() / 4;
    for (int i = 0; i < RUNS * 4 && !add; i++)
        d[i / 4][i % 4] = 0.0F;
    (void)emulation::meet(emulation::ALL, &add, sizeof add);
    emulation::multiply_rows(d,
                             {emulation::read_row(next_rows | first, row),
                              emulation::read_row(next_rows | first, row + 8)},
                             next_rows | second);
}

template <int RUNS, bool ADD = true>
void gf_begin_product(float (&d)[RUNS][4], const uint32_t (&a)[4], uint64_t second)
{
    for (int i = 0; i < RUNS * 4 && !ADD; i++)
        d[i / 4][i % 4] = 0.0F;
    struct Own {
        float a[2][2][2]; /* numbers that are 8 further on, rows, two numbers */
    } own;
    emulation::unpack<__half>(reinterpret_cast<float(&)[8]>(own.a), a);
    const emulation::Told *told = emulation::meet(emulation::ALL, &own, sizeof own);
    emulation::Row rows[2];
    for (unsigned i = 0; i < 32; i++) {
        const unsigned row = i / 16, k = i % 16;
        rows[row].of[k] = emulation::told_by<Own>(told, emulation::lane() / 4 * 4 + k % 8 / 2)
                              .a[k / 8][row][k % 2];
    }
    emulation::multiply_rows(d, rows, second);
}

template <int RUNS>
void gf_begin_product(int (&d)[RUNS][4], const uint32_t (&a)[4], uint64_t second)
{
    struct Own {
        unsigned char a[2][2][4]; /* bytes that are 16 further on, rows, four bytes */
    } own;
    std::memcpy(&own, a, sizeof own);
    const emulation::Told *told = emulation::meet(emulation::ALL, &own, sizeof own);
    for (unsigned i = 0; i < RUNS * 4; i++) {
        const unsigned column = i / 4 * 8 + emulation::lane() % 4 * 2 + i % 2;
        for (unsigned k = 0; k < 32; k++) {
            const unsigned char *from = emulation::place_in(second, column, k / 16) + k % 16;
            if (k % 16 == 0 && i / 2 % 2 == 0)
                emulation::begin_read(from, 16);
            const Own &other =
                emulation::told_by<Own>(told, emulation::lane() / 4 * 4 + k % 16 / 4);
            d[i / 4][i % 4] += other.a[k / 16][i / 2 % 2][k % 4] * static_cast<signed char>(*from);
        }
    }
}

/* ---- registers, clusters ---- */

template <int REGISTERS> void gf_take_registers()
{
}
template <int REGISTERS> void gf_give_registers()
{
}

inline void gf_wait_for_cluster()
{
    __syncthreads();
}

template <typename T> const T *gf_in_block(const T *place, int)
{
    return place;
}
