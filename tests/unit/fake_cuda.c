#include "tests/unit/fake_cuda.h"

#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/fake_devices.h"

enum { STREAMS = 512, FEW = 64, EVENTS = 4096, POISON = 0xA5 };
#ifndef MULTIPROCESSORS
#define MULTIPROCESSORS 132
#endif

enum { SHARED_MEMORY = 228 << 10, BLOCK_MEMORY = 227 << 10, MOST_PITCH = INT_MAX };

typedef enum What { COPY, LAUNCH, MARK, WAIT } What;

/* Something on a stream. */
typedef struct Work {
    What what;
    void *to; /* COPY: `rows` rows */
    const void *from;
    size_t to_pitch, from_pitch, bytes, rows;
    FakeKernel *run; /* LAUNCH */
    void *context;
    size_t stream, place; /* WAIT: goes on when that stream has done so much */
} Work;

/* What was put on it is numbered from 0; what is done may be forgotten. */
typedef struct Stream {
    Work *works; /* from number `first` on */
    size_t first, count, room, done;
    int device; /* whose it is; that without a number is everyone's */
    bool used;
} Stream;

/* The place of an event on the stream where it was recorded last. */
typedef struct Event {
    size_t stream, place; /* place 0: nowhere yet */
    bool used;
} Event;

static Stream streams[STREAMS];
static size_t reach = FEW; /* no stream that was used has this number or a higher one */
static Event events[EVENTS];
static size_t left, calls_before = SIZE_MAX;
static uint64_t chance;
static const char *complaint, *failed;
static cudaError_t last_error;

/* ---- one thread at a time ---- */

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static atomic_size_t waiting;

static bool lock(void)
{
    atomic_fetch_add(&waiting, 1);
    const bool locked = pthread_mutex_lock(&mutex) == 0;
    atomic_fetch_sub(&waiting, 1);
    return locked;
}

/* Leaves time for one who waits: or a thread whose kernels run in each call would come back first
 * every time. */
static void unlock(const bool *locked)
{
    if (*locked)
        pthread_mutex_unlock(&mutex);
    if (atomic_load(&waiting) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* In a function: until it returns. */
#define LOCKED __attribute__((cleanup(unlock), unused)) const bool locked = lock()

/* ---- chance, failures ---- */

static size_t random_below(size_t limit)
{
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(chance >> 33) % limit;
}

/* How a call ends that makes something or puts something on a stream. */
static cudaError_t try_call(const char *call)
{
    const cudaError_t error = fake_device_call();
    if (error != cudaSuccess || calls_before == SIZE_MAX || calls_before-- > 0)
        return error;
    failed = call;
    return cudaErrorMemoryAllocation;
}

/* ---- streams ---- */

static void forget(const Work *work)
{
    if (work->what == LAUNCH)
        work->run(work->context, false);
}

/* Does what is next on a stream; false: it has to wait for another. */
static bool go_on(size_t number)
{
    Stream *stream = &streams[number];
    const Work *work = &stream->works[stream->done - stream->first];
    if (number > 0 && fake_device_is_lost(stream->device)) {
        forget(work);
        stream->done++;
        return true;
    }
    switch (work->what) {
    case COPY:
        for (size_t i = 0; i < work->rows; i++)
            memcpy((unsigned char *)work->to + i * work->to_pitch,
                   (const unsigned char *)work->from + i * work->from_pitch, work->bytes);
        break;
    case LAUNCH:
        work->run(work->context, true);
        break;
    case MARK:
        break;
    case WAIT:
        if (streams[work->stream].done < work->place)
            return false;
        break;
    }
    stream->done++;
    return true;
}

static void finish(size_t number, size_t place)
{
    Stream *stream = &streams[number];
    while (stream->done < place)
        if (!go_on(number)) {
            const Work *work = &stream->works[stream->done - stream->first];
            finish(work->stream, work->place);
        }
}

/* Some go on, now and then. */
static void stir(void)
{
    for (size_t i = random_below(8) ? 0 : random_below(40); i > 0; i--) {
        size_t number = random_below(reach);
        if (streams[number].done < streams[number].count)
            (void)go_on(number);
    }
}

static cudaError_t put(const char *call, cudaStream_t on, Work work)
{
    Stream *stream = &streams[(uintptr_t)on];
    const cudaError_t error = try_call(call);
    if (error != cudaSuccess)
        return error;
    if (on && stream->device != fake_device())
        return cudaErrorInvalidResourceHandle;
    if (stream->done == stream->count)
        stream->first = stream->count;
    if (stream->count - stream->first == stream->room) {
        stream->room = 2 * stream->room + 16;
        stream->works = realloc(stream->works, stream->room * sizeof *stream->works);
        if (!stream->works)
            abort();
    }
    stream->works[stream->count++ - stream->first] = work;
    stir();
    return cudaSuccess;
}

void fake_begin(uint64_t seed)
{
    for (Stream *stream = streams; stream < streams + STREAMS; stream++) {
        for (; stream->done < stream->count; stream->done++)
            forget(&stream->works[stream->done - stream->first]);
        free(stream->works);
    }
    memset(streams, 0, sizeof streams);
    reach = FEW;
    memset(events, 0, sizeof events);
    left = 0;
    chance = seed;
    complaint = failed = NULL;
    last_error = cudaSuccess;
    calls_before = SIZE_MAX;
}

cudaError_t fake_launch(const char *what, cudaStream_t stream, FakeKernel *run, void *context)
{
    LOCKED;
    cudaError_t error = put(what, stream, (Work){.what = LAUNCH, .run = run, .context = context});
    if (error != cudaSuccess)
        run(context, false);
    return error == cudaSuccess ? error : fake_refuse(error);
}

cudaError_t fake_refuse(cudaError_t error)
{
    LOCKED;
    last_error = error;
    return error;
}

void fake_complain(const char *reason)
{
    complaint = reason;
}

void fake_fail_after(size_t calls)
{
    calls_before = calls;
}

const char *fake_failed(void)
{
    return failed;
}

size_t fake_left(void)
{
    return left;
}

const char *fake_complaint(void)
{
    return complaint;
}

/* ---- CUDA's runtime, as far as it is used ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    LOCKED;
    (void)flags;
    size_t number = 1; /* after the default one */
    while (number < STREAMS && streams[number].used)
        number++;
    const cudaError_t error = number == STREAMS ? cudaErrorMemoryAllocation : try_call(__func__);
    if (error != cudaSuccess)
        return error;
    streams[number].used = true;
    streams[number].device = fake_device();
    reach = number < reach ? reach : number + 1;
    *stream = (cudaStream_t)(uintptr_t)number;
    left++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    LOCKED;
    left--;
    streams[(uintptr_t)stream].used = false;
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    LOCKED;
    finish((uintptr_t)stream, streams[(uintptr_t)stream].count);
    return fake_device_call();
}

cudaError_t cudaDeviceSynchronize(void)
{
    LOCKED;
    for (size_t i = 0; i < STREAMS; i++)
        if (i == 0 || streams[i].device == fake_device())
            finish(i, streams[i].count);
    return fake_device_call();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    LOCKED;
    (void)flags;
    const Event *awaited = &events[(uintptr_t)event];
    return put(__func__, stream,
               (Work){.what = WAIT, .stream = awaited->stream, .place = awaited->place});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    LOCKED;
    (void)flags;
    size_t number = 1; /* 0 would be NULL */
    while (number < EVENTS && events[number].used)
        number++;
    const cudaError_t error = number == EVENTS ? cudaErrorMemoryAllocation : try_call(__func__);
    if (error != cudaSuccess)
        return error;
    events[number] = (Event){.used = true};
    *event = (cudaEvent_t)(uintptr_t)number;
    left++;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    LOCKED;
    events[(uintptr_t)event].used = false;
    left--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    LOCKED;
    const size_t number = (uintptr_t)stream;
    events[(uintptr_t)event] = (Event){number, streams[number].count + 1, true};
    return put(__func__, stream, (Work){.what = MARK});
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    LOCKED;
    finish(events[(uintptr_t)event].stream, events[(uintptr_t)event].place);
    return fake_device_call();
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    LOCKED;
    const Event *both[] = {&events[(uintptr_t)begin], &events[(uintptr_t)end]};
    for (size_t i = 0; i < 2; i++)
        if (streams[both[i]->stream].done < both[i]->place)
            return cudaErrorNotReady;
    *milliseconds = 1.0F;
    return cudaSuccess;
}

static cudaError_t make_memory(const char *call, void **memory, size_t bytes)
{
    const cudaError_t error = try_call(call);
    *memory = error == cudaSuccess ? malloc(bytes) : NULL;
    if (!*memory)
        return error == cudaSuccess ? cudaErrorMemoryAllocation : error;
    memset(*memory, POISON, bytes);
    left++;
    return cudaSuccess;
}

/* As CUDA's do, it waits for all that is under way. */
static cudaError_t free_memory(void *memory)
{
    const cudaError_t error = cudaDeviceSynchronize();
    left -= memory != NULL;
    free(memory);
    return error;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    LOCKED;
    const cudaError_t error = make_memory(__func__, memory, bytes);
    if (error != cudaSuccess || fake_device_take(malloc_usable_size(*memory)))
        return error;
    (void)free_memory(*memory);
    *memory = NULL;
    return cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *memory)
{
    LOCKED;
    finish(0, streams[0].count);
    fake_device_give(malloc_usable_size(memory));
    return free_memory(memory);
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    LOCKED;
    (void)flags;
    return make_memory(__func__, memory, bytes);
}

cudaError_t cudaFreeHost(void *memory)
{
    LOCKED;
    return free_memory(memory);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t bytes, size_t rows, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    LOCKED;
    (void)kind;
    if (to_pitch > MOST_PITCH || from_pitch > MOST_PITCH)
        return cudaErrorInvalidPitchValue;
    return put(__func__, stream,
               (Work){.what = COPY,
                      .to = to,
                      .from = from,
                      .to_pitch = to_pitch,
                      .from_pitch = from_pitch,
                      .bytes = bytes,
                      .rows = rows});
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    LOCKED;
    (void)kind;
    return put(__func__, stream,
               (Work){.what = COPY, .to = to, .from = from, .bytes = bytes, .rows = 1});
}

/* What was taken from the host and is on its way. */
typedef struct Staged {
    void *to;
    size_t bytes;
    unsigned char taken[];
} Staged;

static void arrive(void *context, bool wanted)
{
    Staged *staged = context;
    if (wanted)
        memcpy(staged->to, staged->taken, staged->bytes);
    free(staged);
}

/* To the device it returns when the host's memory may be used again: no stream but the default one
 * waits for what is on its way. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    LOCKED;
    finish(0, streams[0].count);
    if (kind != cudaMemcpyHostToDevice) {
        memcpy(to, from, bytes);
        return fake_device_call();
    }
    Staged *staged = malloc(sizeof *staged + bytes);
    if (!staged)
        abort();
    *staged = (Staged){to, bytes};
    memcpy(staged->taken, from, bytes);
    const cudaError_t error =
        put(__func__, NULL, (Work){.what = LAUNCH, .run = arrive, .context = staged});
    if (error != cudaSuccess)
        arrive(staged, false);
    return error;
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    LOCKED;
    fake_device_memory(available, total);
    return fake_device_call();
}

cudaError_t cudaGetDeviceCount(int *count)
{
    LOCKED;
    *count = fake_device_count();
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = fake_device_chosen();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    LOCKED;
    return fake_device_choose(device) ? fake_device_call() : cudaErrorInvalidDevice;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = MULTIPROCESSORS;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = SHARED_MEMORY;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = BLOCK_MEMORY;
        break;
    default: /* clusters, for one */
        *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    (void)kernel;
    *attributes = (struct cudaFuncAttributes){.ptxVersion = 90,
                                              .binaryVersion = 90,
                                              .maxThreadsPerBlock = 1024,
                                              .maxDynamicSharedSizeBytes = BLOCK_MEMORY};
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel,
                                                                   int threads, size_t bytes,
                                                                   unsigned flags)
{
    (void)kernel;
    (void)flags;
    const size_t by_memory = SHARED_MEMORY / (bytes + 1024), by_threads = 1024 / (size_t)threads;
    *blocks = (int)(by_memory < by_threads ? by_memory : by_threads);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    *properties = (struct cudaDeviceProp){.name = "none",
                                          .major = 9,
                                          .multiProcessorCount = MULTIPROCESSORS,
                                          .memPitch = MOST_PITCH,
                                          .sharedMemPerBlockOptin = BLOCK_MEMORY};
    LOCKED;
    fake_device_describe(device, properties);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    LOCKED;
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    default:
        return "an error";
    }
}
