#include "tests/emulation/device.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef EMULATION_RACES
#include <sanitizer/tsan_interface.h>
extern "C" { /* what that leaves out */
void __tsan_read_range(const void *from, unsigned long size);
void __tsan_write_range(void *to, unsigned long size);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, long size,
                             const char *why);
}
#define TELL_RACES(call) (call) /* ThreadSanitizer */
#else
#define TELL_RACES(call) ((void)0)
#endif

#include "tests/unit/fake_cuda.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulation
{
namespace
{

constexpr size_t STACK = 256 << 10, MOST_THREADS = 1024, MOST_GRID_Y = 65535, BARRIERS = 16;
constexpr size_t MOST_MEMORY = 227 << 10, GUARD = 64;
constexpr unsigned char POISON = 0xFF; /* NaN in floats */

struct Copy {
    void *to;
    const void *from;
    size_t size;
};

struct Read {
    const void *from;
    size_t size;
};

/* What a thread waits for. */
enum class Wait { NOTHING, WARP, BARRIER, CONDITION };

/* Where a coroutine goes on, for the compiler's own setjmp() and longjmp(). The library's are
 * sanitizers' to watch: AddressSanitizer forgets at each jump all that it knows of the stack, with
 * calls of the system, and takes most of the time. */
using Place = void *[5];
/* A function that jumps: others run before it returns, so that its callers may not go by which
 * registers it uses (-fipa-ra). */
#ifdef __clang__
#define EMULATION_JUMPS __attribute__((noinline, no_sanitize("address")))
#else
#define EMULATION_JUMPS __attribute__((noipa, no_sanitize("address")))
#endif

struct Thread {
    ucontext_t context;    /* where it begins */
    Place place;           /* where it goes on */
    void *told = nullptr;  /* to AddressSanitizer */
    void *fiber = nullptr; /* ThreadSanitizer's */
    bool made = false, begun = false, ended = false;
    Wait wait = Wait::NOTHING;
    unsigned mask = 0, meetings = 0; /* of its warp: of the one that it waits for; so far */
    unsigned barrier = 0, turn = 0;  /* the barrier; its turn that has to pass */
    Condition *condition = nullptr;
    const void *asked = nullptr; /* the condition's */
    unsigned value = 0;
    std::vector<std::vector<Copy>> groups; /* of copies; the last is open */
    std::vector<Read> reads;               /* of products that are under way */
};

struct Barrier {
    unsigned come, turn;
    char ends[2]; /* of turns: places for publish() */
};

struct Warp {
    Told told[2][32]; /* of meetings in turn: some may be at the next when others read */
};

Thread threads[MOST_THREADS];
Warp warps[MOST_THREADS / 32];
Barrier barriers[BARRIERS];
size_t count, alive, current;
bool predicates[2];
struct {
    Place place;
    void *told, *fiber;
    const void *stack;
    size_t size;
} scheduler;
alignas(1024) unsigned char memory[MOST_MEMORY + GUARD];
size_t memory_bytes;
std::function<void()> running;
uint64_t chance = 1;

size_t below(size_t limit)
{
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    return static_cast<size_t>(chance >> 33) % limit;
}

/* ---- coroutines ---- */

/* Tells AddressSanitizer to which stack the program goes, and that it is there. */
void tell_going([[maybe_unused]] void **own, [[maybe_unused]] const void *stack,
                [[maybe_unused]] size_t size)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(own, stack, size);
#endif
}

void tell_there([[maybe_unused]] void *own, [[maybe_unused]] const void **left,
                [[maybe_unused]] size_t *size)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(own, left, size);
#endif
}

/* Tells ThreadSanitizer which thread works from now on. That they take turns puts nothing in an
 * order. */
void tell_who([[maybe_unused]] void *fiber)
{
    TELL_RACES(__tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync));
}

/* On its own: where a function both keeps its place and leaves, compilers lose what comes after. */
[[noreturn]] EMULATION_JUMPS void go_to(Place &place)
{
    __builtin_longjmp(place, 1);
}

/* From the scheduler to a thread, and back: as swapcontext() does, which asks the system each time
 * which signals are blocked. */
EMULATION_JUMPS void enter(Thread &thread)
{
    tell_going(&scheduler.told, thread.context.uc_stack.ss_sp, STACK);
    if (__builtin_setjmp(scheduler.place) != 0) {
        tell_there(scheduler.told, nullptr, nullptr);
        return;
    }
    tell_who(thread.fiber);
    if (thread.begun)
        go_to(thread.place);
    thread.begun = true;
    setcontext(&thread.context);
}

EMULATION_JUMPS void leave(Thread &thread)
{
    tell_going(&thread.told, scheduler.stack, scheduler.size);
    if (__builtin_setjmp(thread.place) == 0) {
        tell_who(scheduler.fiber);
        go_to(scheduler.place);
    }
    tell_there(thread.told, &scheduler.stack, &scheduler.size);
}

void pause(Wait wait)
{
    Thread &own = threads[current];
    own.wait = wait;
    leave(own);
}

void release(Barrier &barrier)
{
    barrier.come = 0;
    barrier.turn++;
}

/* One block's thread after the other. */
void run_thread()
{
    tell_there(nullptr, &scheduler.stack, &scheduler.size);
    for (;;) {
        receive(&threads);
        running();
        Thread &own = threads[current];
        publish(&alive);
        own.ended = true;
        alive--;
        if (alive > 0 && barriers[0].come == alive)
            release(barriers[0]);
        leave(own);
    }
}

void make_coroutine(Thread &thread)
{
    void *stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || getcontext(&thread.context) != 0)
        fail("no memory for a stack");
    thread.context.uc_stack.ss_sp = stack;
    thread.context.uc_stack.ss_size = STACK;
    makecontext(&thread.context, run_thread, 0);
    TELL_RACES(thread.fiber = __tsan_create_fiber(0));
    thread.made = true;
}

/* ---- the scheduler ---- */

void begin_thread(size_t i)
{
    Thread &t = threads[i];
    if (!t.made)
        make_coroutine(t);
    t.ended = false;
    t.wait = Wait::NOTHING;
    t.meetings = 0;
    t.groups.resize(1);
    t.groups[0].clear();
    t.reads.clear();
}

bool all_meet(size_t first, unsigned mask)
{
    for (size_t i = 0; i < 32; i++) {
        const Thread &t = threads[first + i];
        if (mask >> i & 1 && !t.ended && (t.wait != Wait::WARP || t.mask != mask))
            return false;
    }
    return true;
}

bool may_run(size_t i)
{
    const Thread &t = threads[i];
    switch (t.wait) {
    case Wait::NOTHING:
        return true;
    case Wait::BARRIER:
        return barriers[t.barrier].turn != t.turn;
    case Wait::CONDITION:
        return t.condition(t.asked, t.value);
    default:
        return false;
    }
}

/* Each lane of a warp goes on as far as it can; did one? */
bool step(size_t first)
{
    bool moved = false;
    const size_t end = std::min(first + 32, count);
    for (size_t i = first; i < end; i++) {
        Thread &t = threads[i];
        if (t.ended || !may_run(i))
            continue;
        moved = true;
        current = i;
        t.wait = Wait::NOTHING;
        const unsigned place = static_cast<unsigned>(i);
        threadIdx = {place % blockDim.x, place / blockDim.x % blockDim.y,
                     place / blockDim.x / blockDim.y};
        enter(t);
    }
    for (size_t i = first; i < end; i++) {
        const unsigned mask = threads[i].mask;
        if (threads[i].ended || threads[i].wait != Wait::WARP || !all_meet(first, mask))
            continue;
        for (size_t k = 0; k < 32; k++)
            if (mask >> k & 1)
                threads[first + k].wait = Wait::NOTHING;
    }
    return moved;
}

void run_block()
{
    const size_t size = (count + 31) / 32;
    std::memset(memory, POISON, memory_bytes + GUARD);
    std::memset(barriers, 0, sizeof barriers);
    alive = count;
    for (size_t i = 0; i < size * 32; i++) {
        begin_thread(i);
        threads[i].ended = i >= count;
    }
    publish(&threads);
    while (alive > 0) {
        bool moved = false;
        const size_t first = below(size);
        for (size_t i = 0; i < size; i++)
            for (size_t steps = 1 + below(8); steps > 0 && step((first + i) % size * 32); steps--)
                moved = true;
        if (!moved)
            fail("a deadlock");
    }
    receive(&alive);
    for (size_t i = memory_bytes; i < memory_bytes + GUARD; i++)
        if (memory[i] != POISON)
            fail("a block wrote behind its shared memory");
}

struct Launch {
    dim3 grid, block;
    size_t bytes;
    std::function<void()> kernel;
};

/* ISA-L's functions end without vzeroupper: after them the kernels' instructions of SSE and libm's
 * of AVX, which take turns, would take 160 ns each. */
void leave_avx()
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroupper");
#endif
}

void run(void *context, bool wanted)
{
    const std::unique_ptr<Launch> launch(static_cast<Launch *>(context));
    if (!wanted)
        return;
    leave_avx();
    TELL_RACES(scheduler.fiber = __tsan_get_current_fiber());
    TELL_RACES(AnnotateBenignRaceSized(__FILE__, __LINE__, warps, sizeof warps, "as they meet"));
    gridDim = launch->grid;
    blockDim = launch->block;
    count = static_cast<size_t>(blockDim.x) * blockDim.y * blockDim.z;
    memory_bytes = launch->bytes;
    running = std::move(launch->kernel);
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
                run_block();
}

} // namespace

void fail(const char *reason)
{
    std::fprintf(stderr, "emulated device: %s (block %u, %u, %u of %u, %u, %u; thread %u)\n",
                 reason, blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z,
                 thread());
    std::abort();
}

cudaError_t launch(const dim3 &grid, const dim3 &block, size_t bytes, cudaStream_t stream,
                   std::function<void()> kernel)
{
    const size_t size = static_cast<size_t>(block.x) * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || size == 0 || grid.x > INT32_MAX ||
        grid.y > MOST_GRID_Y || grid.z > MOST_GRID_Y || size > MOST_THREADS || bytes > MOST_MEMORY)
        return fake_refuse(cudaErrorInvalidConfiguration);
    return fake_launch("kernel", stream, run, new Launch{grid, block, bytes, std::move(kernel)});
}

void publish([[maybe_unused]] const void *place)
{
    TELL_RACES(__tsan_release(const_cast<void *>(place)));
}

void receive([[maybe_unused]] const void *place)
{
    TELL_RACES(__tsan_acquire(const_cast<void *>(place)));
}

unsigned char *block_memory()
{
    return memory;
}

const Told *meet(unsigned mask, const void *told, size_t size)
{
    Thread &own = threads[current];
    Told *place = warps[current / 32].told[own.meetings++ % 2];
    if (!(mask >> current % 32 & 1))
        fail("a lane meets others that do not know of it");
    if (size > 0)
        std::memcpy(place[current % 32].bytes, told, size);
    own.mask = mask;
    if (size == 0)
        publish(place);
    pause(Wait::WARP);
    if (size == 0)
        receive(place);
    return place;
}

void arrive_at(unsigned barrier, unsigned awaited)
{
    Barrier &b = barriers[barrier];
    publish(&b.ends[b.turn % 2]);
    if (++b.come == (awaited ? awaited : alive))
        release(b);
}

void wait_at(unsigned barrier, unsigned awaited)
{
    Thread &own = threads[current];
    own.barrier = barrier;
    own.turn = barriers[barrier].turn;
    arrive_at(barrier, awaited);
    pause(Wait::BARRIER);
    receive(&barriers[barrier].ends[own.turn % 2]);
}

bool holds_for_all(bool predicate)
{
    const unsigned turn = barriers[0].turn;
    if (barriers[0].come == 0)
        predicates[turn % 2] = true;
    predicates[turn % 2] = predicates[turn % 2] && predicate;
    wait_at(0, 0);
    return predicates[turn % 2];
}

void wait_until(Condition *condition, const void *asked, unsigned value)
{
    Thread &own = threads[current];
    own.condition = condition;
    own.asked = asked;
    own.value = value;
    pause(Wait::CONDITION);
}

/* A copy writes when it begins, when it ends, and at any time between. */
void begin_copy(void *to, const void *from, size_t size)
{
    TELL_RACES(__tsan_read_range(from, size));
    TELL_RACES(__tsan_write_range(to, size));
    threads[current].groups.back().push_back({to, from, size});
}

void end_copies()
{
    threads[current].groups.emplace_back();
}

void wait_for_copies(size_t but)
{
    std::vector<std::vector<Copy>> &groups = threads[current].groups;
    const size_t done = groups.size() - 1 > but ? groups.size() - 1 - but : 0;
    for (size_t i = 0; i < done; i++)
        for (const Copy &copy : groups[i])
            std::memcpy(copy.to, copy.from, copy.size);

    groups.erase(groups.begin(), groups.begin() + static_cast<ptrdiff_t>(done));
}

void begin_read(const void *from, size_t size)
{
    threads[current].reads.push_back({from, size});
}

void wait_for_reads()
{
    for ([[maybe_unused]] const Read &own : threads[current].reads)
        TELL_RACES(__tsan_read_range(own.from, own.size));
    threads[current].reads.clear();
}

} // namespace emulation
