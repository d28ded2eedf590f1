#include "tests/unit/fake_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/algorithms.h"

enum { STREAMS = 64, EVENTS = 4096, POISON = 0xA5 };

typedef enum What { COPY, LAUNCH, MARK, WAIT } What;

/* Something on a stream. */
typedef struct Work {
    What what;
    void *to; /* COPY: `rows` rows */
    const void *from;
    size_t to_pitch, from_pitch, bytes, rows;
    GfLaunch launch;
    size_t stream, place; /* WAIT: goes on when that stream has done so much */
} Work;

typedef struct Stream {
    Work *works;
    size_t count, room, done;
} Stream;

/* The place of an event on the stream where it was recorded last. */
typedef struct Event {
    size_t stream, place; /* place 0: nowhere yet */
} Event;

static Stream streams[STREAMS];
static Event events[EVENTS];
static size_t stream_count, event_count, left, calls_before = SIZE_MAX;
static uint64_t chance;
static const char *complaint, *failed;

static size_t random_below(size_t limit)
{
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(chance >> 33) % limit;
}

/* Is this the call that fails? */
static bool fails(const char *call)
{
    if (calls_before == SIZE_MAX || calls_before-- > 0)
        return false;
    failed = call;
    return true;
}

static uint64_t mix(uint64_t mark, uint64_t with)
{
    mark = (mark ^ with) * 0x9E3779B97F4A7C15U;
    return mark ^ mark >> 29;
}

uint64_t fake_picture_mark(size_t y)
{
    return mix(1, y);
}

/* ---- kernels ---- */

/* Rows that marks are read from: a view on the device, or one mark a row. */
typedef struct Source {
    const GfRows *view;
    const uint64_t *marks;
} Source;

static uint64_t read_mark(const Source *source, size_t y)
{
    uint64_t mark;
    if (source->marks)
        return source->marks[y];
    const GfRows *rows = source->view;
    size_t i = y - rows->first;
    i -= i >= rows->capacity ? rows->capacity : 0;
    if (y < rows->first || i >= rows->capacity) {
        complaint = "a row is looked for where there is none";
        return 0;
    }
    memcpy(&mark, (const unsigned char *)rows->samples + i * rows->stride, sizeof mark);
    return mark;
}

/* A network's entry leaves marks alone: with the layer after it, it may be one step. */
static uint64_t make_mark(const GfStep *step, size_t y, const Source *in, const Source *skipped)
{
    size_t begin, end;
    if (step->entry)
        return read_mark(in, y);
    uint64_t mark = mix(mix(step->kind, step->out_channels), y);
    gf_step_rows(step, y, y + 1, &begin, &end);
    for (size_t row = begin; row < end; row++)
        mark = mix(mark, read_mark(in, row));
    return step->kind == GF_STEP_ADD ? mix(mark, read_mark(skipped, y)) : mark;
}

uint64_t fake_step_mark(const GfStep *step, size_t y, const uint64_t *in, const uint64_t *skipped)
{
    return make_mark(step, y, &(Source){.marks = in}, &(Source){.marks = skipped});
}

static void compute(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const Source in = {.view = &launch->in}, skipped = {.view = &launch->skipped};
    uint64_t *between = calloc(step->out_height, sizeof *between);
    if (!between)
        abort();
    for (size_t y = launch->y0; y < launch->y1; y++) {
        size_t begin = y, end = y + 1;
        unsigned char *to =
            (unsigned char *)launch->out.samples + (y - launch->y0) * launch->out.stride;
        if (launch->pool)
            gf_step_rows(launch->pool, y, y + 1, &begin, &end);
        for (size_t row = begin; row < end; row++)
            between[row] = make_mark(step, row, &in, &skipped);
        uint64_t mark = launch->pool ? fake_step_mark(launch->pool, y, between, NULL) : between[y];
        memcpy(to, &mark, sizeof mark);
    }
    free(between);
}

/* ---- streams ---- */

/* Does what is next on a stream; false: it has to wait for another. */
static bool go_on(size_t number)
{
    Stream *stream = &streams[number];
    const Work *work = &stream->works[stream->done];
    switch (work->what) {
    case COPY:
        for (size_t i = 0; i < work->rows; i++)
            memcpy((unsigned char *)work->to + i * work->to_pitch,
                   (const unsigned char *)work->from + i * work->from_pitch, work->bytes);
        break;
    case LAUNCH:
        compute(&work->launch);
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
        if (!go_on(number))
            finish(stream->works[stream->done].stream, stream->works[stream->done].place);
}

/* Some go on, now and then. */
static void stir(void)
{
    for (size_t i = random_below(8) ? 0 : random_below(40); i > 0; i--) {
        size_t number = random_below(stream_count);
        if (streams[number].done < streams[number].count)
            (void)go_on(number);
    }
}

static cudaError_t put(const char *call, cudaStream_t on, Work work)
{
    Stream *stream = &streams[(uintptr_t)on];
    if (fails(call))
        return cudaErrorMemoryAllocation;
    if (stream->count == stream->room) {
        stream->room = 2 * stream->room + 16;
        stream->works = realloc(stream->works, stream->room * sizeof *stream->works);
        if (!stream->works)
            abort();
    }
    stream->works[stream->count++] = work;
    stir();
    return cudaSuccess;
}

void fake_begin(uint64_t seed)
{
    for (size_t i = 0; i < stream_count; i++)
        free(streams[i].works);
    memset(streams, 0, sizeof streams);
    memset(events, 0, sizeof events);
    stream_count = 1; /* the default one */
    event_count = 1;
    left = 0;
    chance = seed;
    complaint = failed = NULL;
    calls_before = SIZE_MAX;
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
    (void)flags;
    if (stream_count == STREAMS || fails(__func__))
        return cudaErrorMemoryAllocation;
    *stream = (cudaStream_t)(uintptr_t)stream_count++;
    left++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    left--;
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    finish((uintptr_t)stream, streams[(uintptr_t)stream].count);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    const Event *awaited = &events[(uintptr_t)event];
    return put(__func__, stream,
               (Work){.what = WAIT, .stream = awaited->stream, .place = awaited->place});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    if (event_count == EVENTS || fails(__func__))
        return cudaErrorMemoryAllocation;
    *event = (cudaEvent_t)(uintptr_t)event_count++;
    left++;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    left--;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const size_t number = (uintptr_t)stream;
    events[(uintptr_t)event] = (Event){number, streams[number].count + 1};
    return put(__func__, stream, (Work){.what = MARK});
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    finish(events[(uintptr_t)event].stream, events[(uintptr_t)event].place);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    const Event *both[] = {&events[(uintptr_t)begin], &events[(uintptr_t)end]};
    for (size_t i = 0; i < 2; i++)
        if (streams[both[i]->stream].done < both[i]->place)
            return cudaErrorNotReady;
    *milliseconds = 1.0F;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    *memory = fails(__func__) ? NULL : malloc(bytes);
    if (!*memory)
        return cudaErrorMemoryAllocation;
    memset(*memory, POISON, bytes);
    left++;
    return cudaSuccess;
}

/* As CUDA's does, it waits for all that is under way. */
cudaError_t cudaFree(void *memory)
{
    for (size_t i = 0; i < stream_count; i++)
        finish(i, streams[i].count);
    left -= memory != NULL;
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    return cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeHost(void *memory)
{
    return cudaFree(memory);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t bytes, size_t rows, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    (void)kind;
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
    (void)kind;
    return put(__func__, stream,
               (Work){.what = COPY, .to = to, .from = from, .bytes = bytes, .rows = 1});
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    (void)kind;
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = *total = (size_t)1 << 36;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = attribute == cudaDevAttrComputeCapabilityMajor   ? 9
             : attribute == cudaDevAttrComputeCapabilityMinor ? 0
                                                              : 1000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "none");
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an error";
}

/* ---- our kernels ---- */

bool gf_has_groups(void)
{
    return true;
}

cudaError_t gf_probe_kernels(void)
{
    return cudaSuccess;
}

cudaError_t gf_split_taps(const GfStep *step, const float *taps, const GfTensorLayer *layer)
{
    (void)step;
    (void)taps;
    (void)layer;
    return cudaSuccess;
}

#define LAUNCHER(name)                                                                             \
    cudaError_t gf_launch_##name(const GfLaunch *launch, cudaStream_t stream)                      \
    {                                                                                              \
        return put(#name, stream, (Work){.what = LAUNCH, .launch = *launch});                      \
    }
LAUNCHER(direct)
LAUNCHER(constant)
LAUNCHER(tiled)
LAUNCHER(cached)
LAUNCHER(shared)
LAUNCHER(special)
LAUNCHER(general)
LAUNCHER(implicit)
LAUNCHER(separable)
LAUNCHER(tensor)
LAUNCHER(pool)
LAUNCHER(premultiply)
LAUNCHER(unpremultiply)
LAUNCHER(light)
LAUNCHER(add)
LAUNCHER(upsample)

/* `im2col` is of several kernels and a library: none of it. */
cudaError_t gf_launch_unroll(const GfLaunch *launch, size_t n, size_t first, size_t positions,
                             void *matrix, cudaStream_t stream)
{
    (void)launch, (void)n, (void)first, (void)positions, (void)matrix, (void)stream;
    return cudaErrorNotSupported;
}

cudaError_t gf_launch_roll(const GfLaunch *launch, size_t n, size_t first, size_t positions,
                           const void *products, cudaStream_t stream)
{
    (void)launch, (void)n, (void)first, (void)positions, (void)products, (void)stream;
    return cudaErrorNotSupported;
}
