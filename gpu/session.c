/* The CUDA backend. A session has three streams: rows go up on one, kernels run on the second,
 * results come down on the third, and events order what depends on one another. So while one
 * submit's kernels run, the next one's rows are on their way up and the last one's results on their
 * way down.
 *
 * The device holds a ring of input rows, slot for slot the host's. Results lie in one of GF_SLOTS
 * sets of buffers until they are down; what passes between the steps of a pipeline lives on the
 * kernels' stream alone, so that a few buffers in turn serve all steps, pipelines and submits: two,
 * and one for each thing that a network keeps to add it later. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend.h"
#include "gpu/device.h"
#include "gpu/methods.h"
#include "gpu/visible.h"

enum {
    ROW_ALIGNMENT = 256,  /* bytes: rows begin where a warp's widest access does */
    PLANE_ALIGNMENT = 16, /* bytes: the planes of a row where a thread's widest access does */
    BAND_BYTES =
        8 << 20 /* a band this large keeps a fast link busy for longer than a launch takes */
};

typedef struct Cuda {
    GfBackend backend;
    int number;        /* CUDA's own: gf_cuda_ordinal() */
    size_t most_pitch; /* bytes from row to row that its copies take */
    GfChoice choice;
    char name[32];
} Cuda;

typedef struct Buffer {
    void *memory;
    size_t bytes;
} Buffer;

/* How the samples of rows lie on the device. */
typedef struct Layout {
    size_t pixel, plane; /* samples */
    size_t pitch;        /* bytes from row to row */
} Layout;

/* How a pipeline's steps are run, and what they hand on. */
typedef struct Chain {
    GfMethods methods;
    GfRows *read;     /* what each step reads in the submit under way */
    GfRowRange *need; /* which rows; one more than steps */
} Chain;

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
    Buffer rows;
    Buffer *between; /* as many as the longest chain has steps: most stay empty */
    size_t betweens;
    Chain *chains; /* one an output */
    Slot slots[GF_SLOTS];
    size_t submitted, finished, collected; /* counts; finished: waited for, and timed */
    GfTimes times;
};

/* ---- memory ---- */

static size_t round_up(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

static Layout lay_rows(size_t width, size_t channels, GfSample sample, GfLayout layout)
{
    size_t size = gf_sample_size(sample);
    Layout rows = {.pixel = channels, .plane = 1};
    if (layout == GF_PLANAR) {
        rows.pixel = 1;
        rows.plane = round_up(width * size, PLANE_ALIGNMENT) / size;
        rows.pitch = round_up(channels * rows.plane * size, ROW_ALIGNMENT);
    } else {
        rows.pitch = round_up(width * channels * size, ROW_ALIGNMENT);
    }
    return rows;
}

/* Of the input and the results: pictures. */
static Layout lay_picture(const GfFormat *format)
{
    return lay_rows(format->width, format->channels, format->sample, GF_INTERLEAVED);
}

/* Of what a step makes. */
static Layout lay_output(const GfStep *step)
{
    return lay_rows(step->out_width, step->out_channels, step->out, step->out_layout);
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

/* A device that was opened and then is not there has failed. */
static GfStatus since_opened(GfStatus status)
{
    return status == GF_ENODEVICE ? GF_EDEVICE : status;
}

static GfStatus pin(const Cuda *cuda, size_t bytes, void **memory)
{
    GF_CUDA(cudaSetDevice, cuda->number);
    GF_CUDA(cudaHostAlloc, memory, bytes, cudaHostAllocPortable);
    return GF_OK;
}

static GfStatus host_alloc(GfBackend *backend, size_t bytes, void **memory)
{
    *memory = NULL;
    return since_opened(pin(backend->state, bytes, memory));
}

static void host_free(GfBackend *backend, void *memory)
{
    const Cuda *cuda = backend->state;
    (void)cudaSetDevice(cuda->number);
    (void)cudaFreeHost(memory);
    (void)cudaGetLastError();
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
    size_t pitch = lay_picture(in).pitch;
    unsigned char *to = session->rows.memory;
    GF_TRY(wait_for_readers(session, y0 + rows));
    GF_TRY(mark(slot, UP_BEGIN, session->up));
    if (rows > 0)
        GF_CUDA(cudaMemcpy2DAsync, to + y0 % session->plan->ring_rows * pitch, pitch,
                gf_ring_row(session->ring, y0), session->ring->stride, gf_row_bytes(in), rows,
                cudaMemcpyHostToDevice, session->up);
    return mark(slot, UP_END, session->up);
}

/* Rows of a buffer, as the steps after it read them. */
static GfRows view(const Buffer *buffer, const Layout *layout, size_t first, size_t capacity)
{
    return (GfRows){.samples = buffer->memory,
                    .stride = layout->pitch,
                    .first = first,
                    .capacity = capacity,
                    .pixel = layout->pixel,
                    .plane = layout->plane};
}

/* Runs step i, and with it what its method does besides, on the output rows that are needed, into
 * `to`. */
static GfStatus run_step(GfSession *session, const GfPipeline *pipeline, const Chain *chain,
                         size_t i, Buffer *to)
{
    const GfMethod *method = &chain->methods.of[i];
    const GfStep *step = gf_method_step(method, &pipeline->steps[i]);
    const size_t last = i + gf_method_steps(method) - 1;
    GfRowRange rows = chain->need[last + 1];
    Layout layout = lay_output(&pipeline->steps[last]);
    GF_TRY(reserve(session, to, rows.end - rows.begin, layout.pitch));
    GfLaunch launch = {.step = step,
                       .pool = method->pools ? step + 1 : NULL,
                       .wide = pipeline->wide,
                       .in = chain->read[i],
                       .out = {.samples = to->memory,
                               .stride = layout.pitch,
                               .pixel = layout.pixel,
                               .plane = layout.plane},
                       .y0 = rows.begin,
                       .y1 = rows.end,
                       .count = 1,
                       .weights = method->weights,
                       .weights_host = method->weights_host,
                       .factors = method->factors,
                       .factors_host = method->factors_host,
                       .bias = method->bias,
                       .state = method->state};
    if (step->kind == GF_STEP_ADD)
        launch.skipped = chain->read[step->skip];
    if (last + 1 < pipeline->count)
        chain->read[last + 1] = view(to, &layout, rows.begin, rows.end - rows.begin);
    return gf_cuda_check(method->launch(&launch, session->run), method->name);
}

/* All steps of a pipeline for one band of its output. */
static GfStatus run_pipeline(GfSession *session, Slot *slot, size_t output, const GfBand *out)
{
    const GfPipeline *pipeline = &session->plan->pipelines[output];
    const Chain *chain = &session->chains[output];
    size_t ring_rows = session->plan->ring_rows;
    if (out->rows == 0)
        return GF_OK;
    gf_pipeline_needs(pipeline, out->y0, out->y0 + out->rows, chain->need);
    slot->first_row = gf_min(slot->first_row, chain->need[0].begin);
    Layout layout = lay_picture(&session->plan->in);
    chain->read[0] =
        view(&session->rows, &layout, chain->need[0].begin / ring_rows * ring_rows, ring_rows);
    for (size_t i = 0, next; i < pipeline->count; i = next) {
        next = i + gf_method_steps(&chain->methods.of[i]);
        GF_TRY(run_step(session, pipeline, chain, i,
                        next == pipeline->count ? &slot->outputs[output]
                                                : &session->between[chain->methods.buffers[i]]));
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
                    lay_picture(out).pitch, gf_row_bytes(out), outs[i].rows, cudaMemcpyDeviceToHost,
                    session->down);
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

static GfStatus begin_picture(GfSession *session, const GfRing *ring)
{
    GF_CUDA(cudaSetDevice, session->cuda->number);
    while (session->finished < session->submitted)
        GF_TRY(finish_oldest(session));
    session->collected = session->submitted;
    session->ring = ring;
    return GF_OK;
}

static GfStatus begin(GfSession *session, const GfRing *ring)
{
    return since_opened(begin_picture(session, ring));
}

static GfStatus submit_rows(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
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

static GfStatus submit(GfSession *session, size_t y0, size_t rows, const GfBand *outs)
{
    return since_opened(submit_rows(session, y0, rows, outs));
}

static GfStatus collect_rows(GfSession *session)
{
    GF_CUDA(cudaSetDevice, session->cuda->number);
    if (session->collected == session->finished)
        GF_TRY(finish_oldest(session));
    session->collected++;
    return GF_OK;
}

static GfStatus collect(GfSession *session)
{
    return since_opened(collect_rows(session));
}

static const char *method(const GfSession *session, size_t output, size_t step)
{
    return session->chains[output].methods.of[step].name;
}

static GfTimes times(const GfSession *session)
{
    return session->times;
}

static void free_buffer(Buffer *buffer)
{
    (void)cudaFree(buffer->memory);
}

static void free_chains(GfSession *session)
{
    for (size_t i = 0; session->chains && i < session->plan->outputs; i++) {
        Chain *chain = &session->chains[i];
        gf_methods_free(&chain->methods, session->plan->pipelines[i].count);
        free(chain->read);
        free(chain->need);
    }
    free(session->chains);
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
    free_chains(session);
    free_buffer(&session->rows);
    for (size_t i = 0; session->between && i < session->betweens; i++)
        free_buffer(&session->between[i]);
    free(session->between);
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
        GF_TRY(reserve(session, &slot->outputs[i], plan->pipelines[i].most_rows,
                       lay_picture(&plan->pipelines[i].out).pitch));
    }
    return GF_OK;
}

static GfStatus make_chain(GfSession *session, const GfPipeline *pipeline, Chain *chain)
{
    size_t count = pipeline->count;
    GF_TRY(gf_allocate_zero(count, sizeof *chain->read, &chain->read));
    GF_TRY(gf_allocate_zero(count + 1, sizeof *chain->need, &chain->need));
    return gf_methods_make(&session->cuda->choice, pipeline, session->run, &chain->methods);
}

static GfStatus make_chains(GfSession *session)
{
    const GfPlan *plan = session->plan;
    GF_TRY(gf_allocate_zero(plan->outputs, sizeof *session->chains, &session->chains));
    for (size_t i = 0; i < plan->outputs; i++) {
        GF_TRY(make_chain(session, &plan->pipelines[i], &session->chains[i]));
        session->betweens = gf_max(session->betweens, plan->pipelines[i].count);
    }
    return gf_allocate_zero(session->betweens, sizeof *session->between, &session->between);
}

static GfStatus fill_session(GfSession *session)
{
    const GfFormat *in = &session->plan->in;
    GF_CUDA(cudaSetDevice, session->cuda->number);
    cudaStream_t *streams[] = {&session->up, &session->run, &session->down};
    for (size_t i = 0; i < 3; i++)
        GF_CUDA(cudaStreamCreateWithFlags, streams[i], cudaStreamNonBlocking);
    GF_TRY(make_chains(session));
    GF_TRY(reserve(session, &session->rows, session->plan->ring_rows, lay_picture(in).pitch));
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
    GfStatus status = since_opened(fill_session(session));
    if (status == GF_OK)
        *out = session;
    else
        end(session);
    return status;
}

/* ---- the backend ---- */

static GfStatus check_pitch(const Cuda *cuda, const GfFormat *format)
{
    const size_t pitch = lay_picture(format).pitch;
    if (pitch <= cuda->most_pitch)
        return GF_OK;
    return gf_fail(GF_EUNSUPPORTED, "rows of %zu bytes, %s copies %zu at most", pitch, cuda->name,
                   cuda->most_pitch);
}

static GfStatus supports(GfBackend *backend, const GfPlan *plan)
{
    const Cuda *cuda = backend->state;
    const GfAlgorithm *algorithm;
    GF_TRY(check_pitch(cuda, &plan->in));
    for (size_t i = 0; i < plan->outputs; i++) {
        GF_TRY(check_pitch(cuda, &plan->pipelines[i].out));
        for (size_t j = 0; j < plan->pipelines[i].count; j++) {
            const GfStep *step = &plan->pipelines[i].steps[j];
            if (step->kind == GF_STEP_FILTER && !step->light)
                GF_TRY(gf_method_choose(&cuda->choice, &plan->pipelines[i], j, &algorithm));
        }
    }
    return GF_OK;
}

static void close_backend(GfBackend *backend)
{
    if (backend)
        free(backend->state);
}

/* Whether there is such a device. Of how many is not known where CUDA was let see this one only. */
static GfStatus find_device(int number, int ordinal)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice && ordinal != number)
        return gf_fail(GF_ENODEVICE, "there is no cuda:%d (gpufilter devices lists them)", number);
    GF_TRY(gf_cuda_check(error, "cudaGetDeviceCount"));
    if (ordinal >= count)
        return gf_fail(GF_ENODEVICE, "there is no cuda:%d (%d found)", number, count);
    return GF_OK;
}

GfStatus gf_cuda_open(int number, const char *algorithm, GfBackend **backend)
{
    const GfAlgorithm *forced = algorithm ? gf_algorithm_find(algorithm) : NULL;
    struct cudaDeviceProp properties;
    GfCard card;
    Cuda *cuda;
    const int ordinal = gf_cuda_ordinal(number);
    *backend = NULL;
    if (algorithm && !forced)
        return gf_fail(GF_EUSAGE, "there is no algorithm \"%s\"", algorithm);
    GF_TRY(find_device(number, ordinal));
    GF_CUDA(cudaSetDevice, ordinal);
    GF_CUDA(cudaGetDeviceProperties, &properties, ordinal);
    if (properties.sharedMemPerBlockOptin < GF_SHARED_BYTES)
        return gf_fail(GF_ENODEVICE, "cuda:%d has %zu KiB of shared memory a block, %d are needed",
                       number, properties.sharedMemPerBlockOptin >> 10, GF_SHARED_BYTES >> 10);
    GF_CUDA(cudaFree, NULL); /* creates the context, which takes a third of a second */
    GF_TRY(gf_cuda_check(gf_probe_kernels(), "kernels for this GPU"));
    GF_TRY(gf_current_card(&card));
    GF_TRY(gf_allocate_zero(1, sizeof *cuda, &cuda));
    snprintf(cuda->name, sizeof cuda->name, "cuda:%d", number);
    cuda->number = ordinal;
    cuda->most_pitch = properties.memPitch;
    cuda->choice = (GfChoice){forced, card};
    cuda->backend = (GfBackend){.name = cuda->name,
                                .band_bytes = BAND_BYTES,
                                .tall = forced ? 0 : GF_SEPARABLE_TALL,
                                .bytes_per_second = gf_cuda_bandwidth(ordinal),
                                .flops_per_second = gf_cuda_flops(ordinal),
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
