/* The CUDA backend. A session has three streams: rows go up on one, kernels run on the second,
 * results come down on the third, and events order what depends on one another. So while one
 * submit's kernels run, the next one's rows are on their way up and the last one's results on their
 * way down.
 *
 * The device holds a ring of input rows, slot for slot the host's. Results lie in one of GF_SLOTS sets
 * of buffers until they are down; what passes between the steps of a pipeline lives on the kernels'
 * stream alone, so that two buffers in turn serve all steps, pipelines and submits. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/algorithms.h"
#include "gpu/backend.h"
#include "gpu/device.h"

enum {
    ROW_ALIGNMENT = 256, /* bytes: rows begin where a warp's widest access does */
    BAND_BYTES =
        8 << 20 /* a band this large keeps a fast link busy for longer than a launch takes */
};

typedef struct Cuda {
    GfBackend backend;
    int number;
    char name[32];
    const GfAlgorithm *forced;
} Cuda;

typedef struct Buffer {
    void *memory;
    size_t bytes;
} Buffer;

/* How a step is run. */
typedef struct Method {
    const GfAlgorithm *algorithm; /* NULL for the steps of opacity */
    GfLauncher launch;
    float *weights_host; /* not when wide */
    void *weights;       /* on the device; f64 when wide, else f32 */
} Method;

typedef struct Rows {
    size_t begin, end;
} Rows;

typedef enum Mark { UP_BEGIN, UP_END, RUN_BEGIN, RUN_END, DOWN_BEGIN, DOWN_END, MARKS } Mark;

/* A submit in flight. */
typedef struct Slot {
    cudaEvent_t marks[MARKS];
    size_t first_row; /* the lowest input row that its kernels read; SIZE_MAX: none */
    Buffer *outputs;  /* one a pipeline */
} Slot;

struct GfSession {
    const Cuda *cuda;
    const GfPlan *plan;
    const GfRing *ring;
    cudaStream_t up, run, down;
    Buffer rows, between[2];
    Method **methods; /* [output][step] */
    Slot slots[GF_SLOTS];
    size_t submitted, finished, collected; /* counts; finished: waited for, and timed */
    GfTimes times;
};

/* ---- memory ---- */

/* Bytes from one row to the next on the device. */
static size_t row_pitch(size_t width, size_t channels, GfSample sample)
{
    size_t bytes = width * channels * gf_sample_size(sample);
    return (bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

/* Makes a buffer of at least rows * pitch bytes; what it held is lost. Memory that work in flight
 * may still use is not taken from it. */
static GfStatus reserve(GfSession *session, Buffer *buffer, size_t rows, size_t pitch)
{
    size_t bytes;
    if (!gf_mul(rows, pitch, &bytes))
        return gf_fail(GF_EDEVMEM, "%zu rows of %zu bytes", rows, pitch);
    if (bytes <= buffer->bytes)
        return GF_OK;
    GF_CUDA(cudaStreamSynchronize, session->run);
    GF_CUDA(cudaStreamSynchronize, session->down);
    void *old = buffer->memory;
    *buffer = (Buffer){0};
    GF_CUDA(cudaFree, old);
    GF_CUDA(cudaMalloc, &buffer->memory, bytes);
    buffer->bytes = bytes;
    return GF_OK;
}

static GfStatus host_alloc(GfBackend *backend, size_t bytes, void **memory)
{
    const Cuda *cuda = backend->state;
    *memory = NULL;
    GF_CUDA(cudaSetDevice, cuda->number);
    GF_CUDA(cudaHostAlloc, memory, bytes, cudaHostAllocPortable);
    return GF_OK;
}

static void host_free(GfBackend *backend, void *memory)
{
    const Cuda *cuda = backend->state;
    (void)cudaSetDevice(cuda->number);
    (void)cudaFreeHost(memory);
    (void)cudaGetLastError();
}

/* ---- methods ---- */

static GfStatus choose(const Cuda *cuda, const GfStep *step, bool wide,
                       const GfAlgorithm **algorithm)
{
    *algorithm = cuda->forced ? cuda->forced : gf_algorithm_choose(step, wide);
    return (*algorithm)->supports(step, wide);
}

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    const GfAlgorithm *algorithm;
    for (size_t i = 0; i < plan->outputs; i++)
        for (size_t j = 0; j < plan->pipelines[i].count; j++) {
            const GfStep *step = &plan->pipelines[i].steps[j];
            if (step->kind == GF_STEP_FILTER)
                GF_TRY(choose(backend->state, step, plan->pipelines[i].wide, &algorithm));
        }
    return GF_OK;
}

/* Writes the taps, filters x height x width, as f64 or f32. */
static void expand_taps(const GfLinear *linear, double *wide, float *narrow)
{
    size_t i = 0;
    for (size_t f = 0; f < linear->filters; f++)
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++, i++) {
                double tap = gf_linear_tap(linear, f, y, x);
                if (wide)
                    wide[i] = tap;
                else
                    narrow[i] = (float)tap;
            }
}

static GfStatus upload_taps(GfSession *session, const GfLinear *linear, bool wide, Method *method)
{
    GfStatus status = GF_OK;
    size_t count = linear->filters * linear->height * linear->width;
    size_t size = wide ? sizeof(double) : sizeof(float);
    void *taps;
    GF_TRY(gf_allocate(count, size, &taps));
    expand_taps(linear, wide ? taps : NULL, wide ? NULL : taps);
    GF_GO(gf_cuda_check(cudaMalloc(&method->weights, count * size), "cudaMalloc"));
    /* On the kernels' stream, which comes before its kernels whatever the memory is. */
    GF_GO(gf_cuda_check(
        cudaMemcpyAsync(method->weights, taps, count * size, cudaMemcpyHostToDevice, session->run),
        "cudaMemcpyAsync"));
    GF_GO(gf_cuda_check(cudaStreamSynchronize(session->run), "cudaStreamSynchronize"));
    if (!wide) {
        method->weights_host = taps;
        taps = NULL;
    }
done:
    free(taps);
    return status;
}

static GfStatus make_method(GfSession *session, const GfStep *step, bool wide, Method *method)
{
    switch (step->kind) {
    case GF_STEP_PREMULTIPLY:
        method->launch = gf_launch_premultiply;
        return GF_OK;
    case GF_STEP_UNPREMULTIPLY:
        method->launch = gf_launch_unpremultiply;
        return GF_OK;
    case GF_STEP_FILTER:
        break;
    }
    GF_TRY(choose(session->cuda, step, wide, &method->algorithm));
    method->launch = method->algorithm->launch;
    return upload_taps(session, &step->linear, wide, method);
}

/* ---- one submit ---- */

static GfStatus mark(Slot *slot, Mark which, cudaStream_t stream)
{
    GF_CUDA(cudaEventRecord, slot->marks[which], stream);
    return GF_OK;
}

/* Rows of the ring are written over only when the kernels that read them are done. */
static GfStatus wait_for_readers(GfSession *session, size_t end)
{
    for (size_t i = session->finished; i < session->submitted; i++) {
        const Slot *earlier = &session->slots[i % GF_SLOTS];
        if (earlier->first_row < SIZE_MAX - session->plan->ring_rows &&
            earlier->first_row + session->plan->ring_rows < end)
            GF_CUDA(cudaStreamWaitEvent, session->up, earlier->marks[RUN_END], 0);
    }
    return GF_OK;
}

static GfStatus send_rows(GfSession *session, Slot *slot, size_t y0, size_t rows)
{
    const GfFormat *in = &session->plan->in;
    size_t pitch = row_pitch(in->width, in->channels, in->sample);
    unsigned char *to = session->rows.memory;
    GF_TRY(wait_for_readers(session, y0 + rows));
    GF_TRY(mark(slot, UP_BEGIN, session->up));
    if (rows > 0)
        GF_CUDA(cudaMemcpy2DAsync, to + y0 % session->plan->ring_rows * pitch, pitch,
                gf_ring_row(session->ring, y0), session->ring->stride, gf_row_bytes(in), rows,
                cudaMemcpyHostToDevice, session->up);
    return mark(slot, UP_END, session->up);
}

/* Runs one step from `from` on the output rows `rows` into `to`, or finds its buffer too small. */
static GfStatus run_step(GfSession *session, const GfPipeline *pipeline, size_t i, Rows rows,
                         const Method *method, const GfRows *from, Buffer *to)
{
    const GfStep *step = &pipeline->steps[i];
    size_t pitch = row_pitch(step->out_width, step->channels, step->out);
    GF_TRY(reserve(session, to, rows.end - rows.begin, pitch));
    GfLaunch launch = {.step = step,
                       .wide = pipeline->wide,
                       .in = *from,
                       .out = to->memory,
                       .out_stride = pitch,
                       .y0 = rows.begin,
                       .y1 = rows.end,
                       .weights = pipeline->wide ? NULL : method->weights,
                       .weights_wide = pipeline->wide ? method->weights : NULL,
                       .weights_host = method->weights_host};
    return gf_cuda_check(method->launch(&launch, session->run),
                         method->algorithm ? method->algorithm->name : "opacity");
}

/* All steps of a pipeline for one band of its output. */
static GfStatus run_pipeline(GfSession *session, Slot *slot, size_t output, const GfBand *out)
{
    const GfPipeline *pipeline = &session->plan->pipelines[output];
    Rows need[GF_FILTER_MAX_STAGES + 4]; /* [i]: rows that step i reads */
    size_t count = pipeline->count, ring_rows = session->plan->ring_rows;
    if (out->rows == 0)
        return GF_OK;
    need[count] = (Rows){out->y0, out->y0 + out->rows};
    for (size_t i = count; i-- > 0;)
        gf_step_rows(&pipeline->steps[i], need[i + 1].begin, need[i + 1].end, &need[i].begin,
                     &need[i].end);
    slot->first_row = gf_min(slot->first_row, need[0].begin);
    const GfFormat *in = &session->plan->in;
    GfRows from = {session->rows.memory, row_pitch(in->width, in->channels, in->sample),
                   need[0].begin / ring_rows * ring_rows, ring_rows};
    for (size_t i = 0; i < count; i++) {
        const GfStep *step = &pipeline->steps[i];
        Buffer *to = i + 1 == count ? &slot->outputs[output] : &session->between[i % 2];
        GF_TRY(
            run_step(session, pipeline, i, need[i + 1], &session->methods[output][i], &from, to));
        from = (GfRows){to->memory, row_pitch(step->out_width, step->channels, step->out),
                        need[i + 1].begin, need[i + 1].end - need[i + 1].begin};
    }
    return GF_OK;
}

static GfStatus run_kernels(GfSession *session, Slot *slot, const GfBand *outs)
{
    GF_CUDA(cudaStreamWaitEvent, session->run, slot->marks[UP_END], 0);
    GF_TRY(mark(slot, RUN_BEGIN, session->run));
    slot->first_row = SIZE_MAX;
    for (size_t i = 0; i < session->plan->outputs; i++)
        GF_TRY(run_pipeline(session, slot, i, &outs[i]));
    return mark(slot, RUN_END, session->run);
}

static GfStatus fetch_results(GfSession *session, Slot *slot, const GfBand *outs)
{
    GF_CUDA(cudaStreamWaitEvent, session->down, slot->marks[RUN_END], 0);
    GF_TRY(mark(slot, DOWN_BEGIN, session->down));
    for (size_t i = 0; i < session->plan->outputs; i++) {
        const GfFormat *out = &session->plan->pipelines[i].out;
        if (outs[i].rows > 0)
            GF_CUDA(cudaMemcpy2DAsync, outs[i].samples, outs[i].stride, slot->outputs[i].memory,
                    row_pitch(out->width, out->channels, out->sample), gf_row_bytes(out),
                    outs[i].rows, cudaMemcpyDeviceToHost, session->down);
    }
    return mark(slot, DOWN_END, session->down);
}

static GfStatus elapsed(const Slot *slot, Mark begin, Mark end, double *sum)
{
    float milliseconds;
    GF_CUDA(cudaEventElapsedTime, &milliseconds, slot->marks[begin], slot->marks[end]);
    *sum += (double)milliseconds / 1e3;
    return GF_OK;
}

/* Waits for the oldest submit in flight, whose slot then is free. */
static GfStatus finish_oldest(GfSession *session)
{
    const Slot *slot = &session->slots[session->finished % GF_SLOTS];
    GF_CUDA(cudaEventSynchronize, slot->marks[DOWN_END]);
    GF_TRY(elapsed(slot, UP_BEGIN, UP_END, &session->times.copy));
    GF_TRY(elapsed(slot, RUN_BEGIN, RUN_END, &session->times.compute));
    GF_TRY(elapsed(slot, DOWN_BEGIN, DOWN_END, &session->times.copy));
    session->finished++;
    return GF_OK;
}

/* ---- the session ---- */

static GfStatus begin(GfSession *session, const GfRing *ring)
{
    GF_CUDA(cudaSetDevice, session->cuda->number);
    while (session->finished < session->submitted)
        GF_TRY(finish_oldest(session));
    session->collected = session->submitted;
    session->ring = ring;
    return GF_OK;
}

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    GF_CUDA(cudaSetDevice, session->cuda->number);
    if (session->submitted - session->finished == GF_SLOTS)
        GF_TRY(finish_oldest(session));
    Slot *slot = &session->slots[session->submitted % GF_SLOTS];
    GF_TRY(send_rows(session, slot, y0, rows));
    GF_TRY(run_kernels(session, slot, outs));
    GF_TRY(fetch_results(session, slot, outs));
    session->submitted++;
    return GF_OK;
}

static GfStatus collect(GfSession *session)
{
    GF_CUDA(cudaSetDevice, session->cuda->number);
    if (session->collected == session->finished)
        GF_TRY(finish_oldest(session));
    session->collected++;
    return GF_OK;
}

static const char *method(const GfSession *session, size_t output, size_t step)
{
    const GfAlgorithm *algorithm = session->methods[output][step].algorithm;
    return algorithm ? algorithm->name : "opacity";
}

static GfTimes times(const GfSession *session)
{
    return session->times;
}

static void free_buffer(Buffer *buffer)
{
    (void)cudaFree(buffer->memory);
}

static void free_methods(GfSession *session)
{
    for (size_t i = 0; session->methods && i < session->plan->outputs; i++) {
        Method *methods = session->methods[i];
        for (size_t j = 0; methods && j < session->plan->pipelines[i].count; j++) {
            (void)cudaFree(methods[j].weights);
            free(methods[j].weights_host);
        }
        free(methods);
    }
    free(session->methods);
}

static void free_slot(const GfSession *session, Slot *slot)
{
    for (size_t i = 0; i < MARKS; i++)
        if (slot->marks[i])
            (void)cudaEventDestroy(slot->marks[i]);
    for (size_t i = 0; slot->outputs && i < session->plan->outputs; i++)
        free_buffer(&slot->outputs[i]);
    free(slot->outputs);
}

/* Errors have been told where they arose; here all is given back that still can be. */
static void end(GfSession *session)
{
    if (!session)
        return;
    (void)cudaSetDevice(session->cuda->number);
    cudaStream_t streams[] = {session->up, session->run, session->down};
    for (size_t i = 0; i < 3; i++)
        if (streams[i])
            (void)cudaStreamSynchronize(streams[i]);
    for (size_t i = 0; i < GF_SLOTS; i++)
        free_slot(session, &session->slots[i]);
    free_methods(session);
    free_buffer(&session->rows);
    free_buffer(&session->between[0]);
    free_buffer(&session->between[1]);
    for (size_t i = 0; i < 3; i++)
        if (streams[i])
            (void)cudaStreamDestroy(streams[i]);
    (void)cudaGetLastError();
    free(session);
}

static GfStatus make_slot(GfSession *session, Slot *slot)
{
    const GfPlan *plan = session->plan;
    for (size_t i = 0; i < MARKS; i++)
        GF_CUDA(cudaEventCreateWithFlags, &slot->marks[i], cudaEventBlockingSync);
    GF_TRY(gf_allocate_zero(plan->outputs, sizeof *slot->outputs, &slot->outputs));
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfFormat *out = &plan->pipelines[i].out;
        GF_TRY(reserve(session, &slot->outputs[i], plan->pipelines[i].most_rows,
                       row_pitch(out->width, out->channels, out->sample)));
    }
    return GF_OK;
}

static GfStatus make_methods(GfSession *session)
{
    const GfPlan *plan = session->plan;
    GF_TRY(gf_allocate_zero(plan->outputs, sizeof *session->methods, &session->methods));
    for (size_t i = 0; i < plan->outputs; i++) {
        const GfPipeline *pipeline = &plan->pipelines[i];
        GF_TRY(gf_allocate_zero(pipeline->count, sizeof **session->methods, &session->methods[i]));
        for (size_t j = 0; j < pipeline->count; j++)
            GF_TRY(
                make_method(session, &pipeline->steps[j], pipeline->wide, &session->methods[i][j]));
    }
    return GF_OK;
}

static GfStatus fill_session(GfSession *session)
{
    const GfFormat *in = &session->plan->in;
    GF_CUDA(cudaSetDevice, session->cuda->number);
    cudaStream_t *streams[] = {&session->up, &session->run, &session->down};
    for (size_t i = 0; i < 3; i++)
        GF_CUDA(cudaStreamCreateWithFlags, streams[i], cudaStreamNonBlocking);
    GF_TRY(make_methods(session));
    GF_TRY(reserve(session, &session->rows, session->plan->ring_rows,
                   row_pitch(in->width, in->channels, in->sample)));
    for (size_t i = 0; i < GF_SLOTS; i++)
        GF_TRY(make_slot(session, &session->slots[i]));
    return GF_OK;
}

static GfStatus make_session(GfBackend *backend, const GfPlan *plan, GfSession **out)
{
    GfSession *session;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *session, &session));
    session->cuda = backend->state;
    session->plan = plan;
    GfStatus status = fill_session(session);
    if (status == GF_OK)
        *out = session;
    else
        end(session);
    return status;
}

/* ---- the backend ---- */

static void close_backend(GfBackend *backend)
{
    if (backend)
        free(backend->state);
}

GfStatus gf_cuda_open(int number, const char *algorithm, GfBackend **backend)
{
    const GfAlgorithm *forced = algorithm ? gf_algorithm_find(algorithm) : NULL;
    struct cudaDeviceProp properties;
    Cuda *cuda;
    int count = 0;
    *backend = NULL;
    if (algorithm && !forced)
        return gf_fail(GF_EUSAGE, "there is no algorithm \"%s\"", algorithm);
    GF_CUDA(cudaGetDeviceCount, &count);
    if (number >= count)
        return gf_fail(GF_ENODEVICE, "there is no cuda:%d (%d found)", number, count);
    GF_CUDA(cudaSetDevice, number);
    GF_CUDA(cudaGetDeviceProperties, &properties, number);
    GF_CUDA(cudaFree, NULL); /* creates the context, which takes a third of a second */
    GF_TRY(gf_cuda_check(gf_probe_kernels(), "kernels for this GPU"));
    GF_TRY(gf_allocate_zero(1, sizeof *cuda, &cuda));
    snprintf(cuda->name, sizeof cuda->name, "cuda:%d", number);
    cuda->number = number;
    cuda->forced = forced;
    cuda->backend = (GfBackend){.name = cuda->name,
                                .band_bytes = BAND_BYTES,
                                .state = cuda,
                                .supports = supports,
                                .host_alloc = host_alloc,
                                .host_free = host_free,
                                .session = make_session,
                                .begin = begin,
                                .submit = submit,
                                .collect = collect,
                                .method = method,
                                .times = times,
                                .end = end,
                                .close = close_backend};
    snprintf(cuda->backend.device, sizeof cuda->backend.device, "%.127s", properties.name);
    *backend = &cuda->backend;
    return GF_OK;
}
