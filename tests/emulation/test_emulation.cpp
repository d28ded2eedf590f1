/* That the emulated device (device.h) does what a kernel asks for, and finds what a kernel must not
 * do: each in a process of its own, which has to end as expected. */
#include "gpu/groups.cuh"
#include "gpu/instructions.cuh"

#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fake_cuda.h"

namespace
{

constexpr int THREADS = 128, RACE = 66; /* as ThreadSanitizer ends a process */
#ifdef __SANITIZE_THREAD__
constexpr bool RACES_ARE_FOUND = true;
#else
constexpr bool RACES_ARE_FOUND = false;
#endif

/* ---- kernels that are right ---- */

/* Each thread's number goes to the one opposite in the block. */
void reverse(int *out)
{
    GF_BLOCK_MEMORY(int, memory);
    const int i = static_cast<int>(threadIdx.x);
    memory[i] = i;
    __syncthreads();
    out[i] = memory[THREADS - 1 - i];
}

/* The sum of all threads' numbers, by shuffles and a barrier that half of the warps only arrive
 * at. */
void add_up(int *out)
{
    GF_BLOCK_MEMORY(int, memory);
    const unsigned warp = threadIdx.x / 32;
    int sum = static_cast<int>(threadIdx.x);
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_xor_sync(~0U, sum, by);
    if (threadIdx.x % 32 == 0)
        memory[warp] = sum;
    if (warp >= 2) {
        gf_arrive_at<THREADS>(1);
        return;
    }
    gf_wait_at<THREADS>(1);
    out[threadIdx.x] = memory[0] + memory[1] + memory[2] + memory[3];
}

/* A copy of the thread's number by way of shared memory. */
template <bool WAITS> void copy(int *out)
{
    GF_BLOCK_MEMORY(int, memory);
    out[threadIdx.x] = static_cast<int>(threadIdx.x);
    __pipeline_memcpy_async(memory + threadIdx.x, out + threadIdx.x, sizeof *out);
    __pipeline_commit();
    if (WAITS)
        __pipeline_wait_prior(0);
    out[threadIdx.x] = memory[threadIdx.x] + 1;
}

/* A warp brings what another waits for. */
void bring(int *out)
{
    GF_BLOCK_MEMORY(uint64_t, memory);
    int *number = reinterpret_cast<int *>(memory + 2);
    if (threadIdx.x == 0)
        gf_barrier_init(memory, 1);
    out[threadIdx.x] = 7;
    __syncthreads();
    if (threadIdx.x == THREADS - 1) {
        gf_barrier_expect(memory, 16);
        gf_copy_bulk(number, out, 16, memory);
        gf_barrier_arrive(memory);
    }
    gf_barrier_wait(memory, 0);
    out[threadIdx.x] += number[1];
}

/* Products of a matrix of ones and twos with one whose columns are their numbers. */
void multiply(int *out)
{
    const unsigned column = threadIdx.x % 32 / 4 * 0x01010101;
    const uint32_t a[4] = {0x01010101, 0x02020202, 0x01010101, 0x02020202};
    const uint32_t b[2] = {column, column};
    int d[4] = {1, 1, 1, 1};
    gf_multiply_32(d, a, b);
    out[threadIdx.x] = d[1] * 1000 + d[3];
}

/* ---- kernels that are not ---- */

void reverse_without_barrier(int *out)
{
    GF_BLOCK_MEMORY(int, memory);
    memory[threadIdx.x] = static_cast<int>(threadIdx.x);
    out[threadIdx.x] = memory[THREADS - 1 - static_cast<int>(threadIdx.x)];
}

/* Shuffles put nothing in an order. */
void reverse_by_shuffle(int *out)
{
    GF_BLOCK_MEMORY(int, memory);
    const int i = static_cast<int>(threadIdx.x);
    memory[i] = i;
    (void)__shfl_sync(~0U, i, 0);
    out[i] = memory[i ^ 31];
}

/* A copy begins where others still read, and ends when they have. */
void copy_too_early(int *out)
{
    GF_BLOCK_MEMORY(int, memory);
    const int i = static_cast<int>(threadIdx.x);
    memory[i] = i;
    __syncthreads();
    if (i == 0) {
        __pipeline_memcpy_async(memory + 32, out, sizeof *out);
        __pipeline_commit();
    }
    const int read = memory[THREADS - 1 - i];
    __syncthreads();
    if (i == 0)
        __pipeline_wait_prior(0);
    out[i] = read;
}

void part_at_barrier(int *)
{
    if (threadIdx.x < 40)
        gf_wait_at<THREADS>(1);
}

void part_of_warp(int *)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp();
    else
        __syncthreads();
}

void write_behind(int *)
{
    GF_BLOCK_MEMORY(int, memory);
    memory[THREADS] = 0;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool ADDRESSES_ARE_SEEN = true;
#else
constexpr bool ADDRESSES_ARE_SEEN = false;
#endif

/* Behind an array of the thread's own, after others have run. */
void write_behind_own(int *out)
{
    int own[4] = {};
    int *volatile kept = own; /* whose size the compiler does not know */
    __syncthreads();
    kept[threadIdx.x == 70 ? 4 : 0] = 1;
    out[threadIdx.x] = own[0];
}

void read_unaligned(int *out)
{
    out[0] =
        static_cast<int>(gf_load_in_order(static_cast<float *>(static_cast<void *>(out + 1))).x);
}

/* ---- running them ---- */

using Kernel = void (*)(int *);
using Expected = int (*)(int);

/* In a process of its own: 0 where all outputs are as expected, of several orders. */
[[noreturn]] void run(Kernel kernel, Expected expected)
{
    alignas(16) int out[THREADS];
    fake_begin(1);
    for (int order = 0; order < 20; order++) {
        gf_start(kernel, 1, THREADS, THREADS * sizeof *out, nullptr, &out[0]);
        (void)cudaDeviceSynchronize();
        for (int i = 0; i < THREADS && expected; i++)
            if (out[i] != expected(i))
                _exit(1);
    }
    _exit(0);
}

enum Outcome { RIGHT, WRONG, FOUND };
constexpr Outcome RIGHT_BY_CHANCE = RACES_ARE_FOUND ? FOUND : RIGHT;

bool check(const char *name, Kernel kernel, Expected expected, Outcome outcome)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (outcome == FOUND || !expected) /* its message is not for the reader */
            (void)!freopen("/dev/null", "w", stderr);
        run(kernel, expected);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    const bool found = WIFSIGNALED(status) || WEXITSTATUS(status) == RACE;
    const Outcome came = found ? FOUND : WEXITSTATUS(status) ? WRONG : RIGHT;
    std::printf("%s - %s\n", came == outcome ? "ok" : "not ok", name);
    return came == outcome;
}

} // namespace

int main()
{
    const Expected own = [](int i) { return i + 1; };
    const Expected opposite = [](int i) { return THREADS - 1 - i; };
    const Expected sum = [](int i) { return i < 64 ? THREADS * (THREADS - 1) / 2 : 0; };
    const Expected product = [](int i) {
        return (1 + 32 * (i % 4 * 2 + 1)) * 1000 + 1 + 64 * (i % 4 * 2 + 1);
    };
    bool well = true;
    std::setbuf(stdout, nullptr);
    well &= check("a barrier", reverse, opposite, RIGHT);
    well &= check(
        "shuffles, and warps that only arrive",
        [](int *out) {
            out[threadIdx.x] = 0;
            add_up(out);
        },
        sum, RIGHT);
    well &= check("a copy that is waited for", copy<true>, own, RIGHT);
    well &= check(
        "a barrier in memory", bring, [](int) { return 14; }, RIGHT);
    well &= check("a product", multiply, product, RIGHT);
    well &= check("a barrier is missing", reverse_without_barrier, opposite, WRONG);
    well &= check("a copy is not waited for", copy<false>, own, WRONG);
    well &= check(
        "a shuffle in a barrier's place", reverse_by_shuffle, [](int i) { return i ^ 31; },
        RIGHT_BY_CHANCE);
    well &= check("a copy that begins too early", copy_too_early, opposite, RIGHT_BY_CHANCE);
    well &= check("a barrier that not all reach", part_at_barrier, nullptr, FOUND);
    well &= check("a warp that is parted", part_of_warp, nullptr, FOUND);
    well &= check("a write behind shared memory", write_behind, nullptr, FOUND);
    well &= check("a vector that is not aligned", read_unaligned, nullptr, FOUND);
    if (ADDRESSES_ARE_SEEN) /* AddressSanitizer ends a process as run() does */
        well &= check("a write behind an array on the stack", write_behind_own, nullptr, WRONG);
    return well ? 0 : 1;
}
