/* cuDNN's convolution, ReLU and pooling, each layer with the algorithm that is fastest when all are
 * tried. */
#include "bench/peers_cudnn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cudnn_plan.h"
#include "common/clock.h"

struct Cudnn {
    cudnnHandle_t handle;
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

enum { WORKSPACE_GIB = 4, TIMED_RUNS = 4 };

static const double search_seconds =
    0.3; /* a layer: to make plans, and as much again to try them */
static const double slow = 20e-3;

static GfStatus open_handle(const Device *device, struct Cudnn *cudnn)
{
    GF_TRY(cudnn_find());
    DNN(cudnnCreate, &cudnn->handle);
    DNN(cudnnSetStream, cudnn->handle, device->stream);
    cudnn->stream = device->stream;
    CUDA(cudaEventCreate, &cudnn->begin);
    CUDA(cudaEventCreate, &cudnn->end);
    return GF_OK;
}

struct Cudnn *cudnn_open(const Device *device, char *note)
{
    struct Cudnn *cudnn;
    GfStatus status = gf_allocate_zero(1, sizeof *cudnn, &cudnn);
    if (status == GF_OK)
        status = open_handle(device, cudnn);
    if (status != GF_OK) {
        snprintf(note, NOTE_SIZE, "%.*s", NOTE_SIZE - 1, gf_message());
        free(cudnn);
        return NULL;
    }
    size_t version = dnn.cudnnGetVersion();
    snprintf(note, NOTE_SIZE, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    return cudnn;
}

void cudnn_close(struct Cudnn *cudnn)
{
    if (!cudnn)
        return;
    (void)dnn.cudnnDestroy(cudnn->handle);
    (void)cudaEventDestroy(cudnn->begin);
    (void)cudaEventDestroy(cudnn->end);
    free(cudnn);
}

/* ---- layers ---- */

/* One pass of a case. */
typedef struct Layer {
    const Pass *pass;
    cudnnTensorDescriptor_t in, out;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t convolution;
    cudnnActivationDescriptor_t relu; /* NULL: none */
    cudnnPoolingDescriptor_t pool;
    cudnnConvolutionFwdAlgo_t algorithm;
    cudnnBackendDescriptor_t plan; /* used instead of the algorithm; NULL: not; owned */
} Layer;

typedef struct Net {
    struct Cudnn *library;
    Field *field; /* for its slabs */
    size_t count;
    Layer layers[CASE_PASSES];
} Net;

static GfStatus convolve(const Net *net, const Layer *layer, const void *in, void *out)
{
    const float one = 1.0f, zero = 0.0f;
    const Slab *workspace = &net->field->workspace;
    cudnnHandle_t handle = net->library->handle;
    if (layer->plan)
        return cudnn_plan_run(handle, layer->plan, in, layer->pass->taps_device, out,
                              workspace->memory);
    DNN(cudnnConvolutionForward, handle, &one, layer->in, in, layer->filter,
        layer->pass->taps_device, layer->convolution, layer->algorithm, workspace->memory,
        workspace->bytes, &zero, layer->out, out);
    return GF_OK;
}

static GfStatus run_layer(const Net *net, const Layer *layer, const void *in, void *out)
{
    const float one = 1.0f, zero = 0.0f;
    cudnnHandle_t handle = net->library->handle;
    if (layer->pool) {
        DNN(cudnnPoolingForward, handle, layer->pool, &one, layer->in, in, &zero, layer->out, out);
        return GF_OK;
    }
    GF_TRY(convolve(net, layer, in, out));
    if (layer->relu)
        DNN(cudnnActivationForward, handle, layer->relu, &one, layer->out, out, &zero, layer->out,
            out);
    return GF_OK;
}

static GfStatus run(void *state, const void *in, void *out, cudaStream_t stream)
{
    const Net *net = state;
    (void)stream; /* the handle's */
    for (size_t i = 0; i < net->count; i++) {
        const void *from = i == 0 ? in : net->field->between[(i - 1) % 2].memory;
        void *to = i + 1 == net->count ? out : net->field->between[i % 2].memory;
        GF_TRY(run_layer(net, &net->layers[i], from, to));
    }
    return GF_OK;
}

static void close_net(void *state)
{
    Net *net = state;
    for (size_t i = 0; net && i < net->count; i++) {
        Layer *layer = &net->layers[i];
        if (layer->in)
            (void)dnn.cudnnDestroyTensorDescriptor(layer->in);
        if (layer->out)
            (void)dnn.cudnnDestroyTensorDescriptor(layer->out);
        if (layer->filter)
            (void)dnn.cudnnDestroyFilterDescriptor(layer->filter);
        if (layer->convolution)
            (void)dnn.cudnnDestroyConvolutionDescriptor(layer->convolution);
        if (layer->relu)
            (void)dnn.cudnnDestroyActivationDescriptor(layer->relu);
        if (layer->plan)
            (void)dnn.cudnnBackendDestroyDescriptor(layer->plan);
        if (layer->pool)
            (void)dnn.cudnnDestroyPoolingDescriptor(layer->pool);
    }
    free(net);
}

static GfStatus describe_tensor(cudnnTensorDescriptor_t *tensor, size_t batch, size_t channels,
                                size_t height, size_t width)
{
    DNN(cudnnCreateTensorDescriptor, tensor);
    DNN(cudnnSetTensor4dDescriptor, *tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, (int)batch,
        (int)channels, (int)height, (int)width);
    return GF_OK;
}

static GfStatus describe_convolution(Layer *layer, CudnnClass class)
{
    const GfStep *step = &layer->pass->step;
    const GfLinear *linear = &step->linear;
    DNN(cudnnCreateFilterDescriptor, &layer->filter);
    DNN(cudnnSetFilter4dDescriptor, layer->filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
        (int)linear->filters, (int)linear->depth, (int)linear->height, (int)linear->width);
    DNN(cudnnCreateConvolutionDescriptor, &layer->convolution);
    DNN(cudnnSetConvolution2dDescriptor, layer->convolution, (int)-step->origin_y,
        (int)-step->origin_x, (int)step->stride_y, (int)step->stride_x, (int)step->dilation_y,
        (int)step->dilation_x, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    DNN(cudnnSetConvolutionGroupCount, layer->convolution, (int)linear->groups);
    DNN(cudnnSetConvolutionMathType, layer->convolution,
        class == CUDNN_IEEE ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH);
    if (step->posts == 0)
        return GF_OK;
    DNN(cudnnCreateActivationDescriptor, &layer->relu);
    DNN(cudnnSetActivationDescriptor, layer->relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN,
        0.0);
    return GF_OK;
}

static GfStatus describe_pool(Layer *layer)
{
    DNN(cudnnCreatePoolingDescriptor, &layer->pool);
    DNN(cudnnSetPooling2dDescriptor, layer->pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2,
        0, 0, 2, 2);
    return GF_OK;
}

/* ---- the fastest way ---- */

/* Seconds of one run of the layer's convolution, as it is set up now. */
static GfStatus time_layer(const Net *net, const Layer *layer, const void *in, void *out,
                           double *seconds)
{
    float milliseconds;
    const struct Cudnn *library = net->library;
    for (size_t runs = 1; runs <= TIMED_RUNS; runs += TIMED_RUNS - 1) { /* the first warms up */
        CUDA(cudaEventRecord, library->begin, library->stream);
        for (size_t i = 0; i < runs; i++)
            GF_TRY(convolve(net, layer, in, out));
        CUDA(cudaEventRecord, library->end, library->stream);
        CUDA(cudaEventSynchronize, library->end);
        CUDA(cudaEventElapsedTime, &milliseconds, library->begin, library->end);
        *seconds = (double)milliseconds / 1e3 / (double)runs;
        if (*seconds > slow)
            break;
    }
    return GF_OK;
}

/* Tries all algorithms of the older interface on the layer's own sizes. */
static GfStatus find_algorithm(const Net *net, Layer *layer, CudnnClass class, const void *in,
                               void *out)
{
    cudnnConvolutionFwdAlgoPerf_t found[2 * CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    const Slab *workspace = &net->field->workspace;
    int count = 0;
    DNN(cudnnFindConvolutionForwardAlgorithmEx, net->library->handle, layer->in, in, layer->filter,
        layer->pass->taps_device, layer->convolution, layer->out, out,
        (int)(sizeof found / sizeof *found), &count, found, workspace->memory, workspace->bytes);
    for (int i = 0; i < count; i++) {
        bool ieee = found[i].mathType == CUDNN_FMA_MATH;
        if (found[i].status != CUDNN_STATUS_SUCCESS || (class == CUDNN_IEEE && !ieee))
            continue;
        layer->algorithm = found[i].algo;
        DNN(cudnnSetConvolutionMathType, layer->convolution, found[i].mathType);
        return GF_OK;
    }
    return gf_fail(GF_EUNSUPPORTED, "no algorithm of this class");
}

/* The fastest of the plans, where it is faster than `least`; else the layer keeps its algorithm. */
static void try_plans(const Net *net, Layer *layer, CudnnPlans *plans, const void *in, void *out,
                      double *least)
{
    cudnnBackendDescriptor_t best = NULL;
    double seconds, end = gf_now() + search_seconds;
    for (size_t i = 0; i < plans->count && gf_now() < end; i++) {
        layer->plan = plans->list[i];
        if (time_layer(net, layer, in, out, &seconds) == GF_OK && seconds < *least) {
            best = layer->plan;
            *least = seconds;
        }
    }
    layer->plan = best;
    cudnn_plans_free(plans, best);
}

/* Both interfaces are asked: which of them knows the fastest way depends on the layer. What was
 * taken goes to the note. */
static GfStatus find_fastest(const Net *net, Layer *layer, const Case *made, CudnnClass class,
                             const void *in, void *out, char *note)
{
    static const char *const names[] = {
        "implicit gemm", "implicit precomp gemm", "gemm", "direct", "fft", "fft tiling",
        "winograd",      "winograd nonfused"};
    CudnnPlans plans;
    double least = INFINITY;
    bool old = find_algorithm(net, layer, class, in, out) == GF_OK &&
               time_layer(net, layer, in, out, &least) == GF_OK;
    GfStatus status = cudnn_plans_make(net->library->handle, &layer->pass->step, made->spec->batch,
                                       class, net->field->workspace.bytes, search_seconds, &plans);
    size_t length = strlen(note), count = plans.count;
    try_plans(net, layer, &plans, in, out, &least);
    if (!old && !layer->plan)
        return status != GF_OK ? status
                               : gf_fail(GF_EUNSUPPORTED, "none of cuDNN's engines ran the layer");
    snprintf(note + length, NOTE_SIZE - length, "%s%s, %zu engines proposed", length ? "; " : "",
             layer->plan ? "one of the graph interface" : names[layer->algorithm], count);
    return GF_OK;
}

static GfStatus make_layer(Net *net, const Case *made, CudnnClass class, void *in, void *out,
                           char *note)
{
    Layer *layer = &net->layers[net->count];
    layer->pass = &made->passes[net->count++];
    const GfStep *step = &layer->pass->step;
    size_t batch = made->spec->batch;
    GF_TRY(describe_tensor(&layer->in, batch, step->channels, step->in_height, step->in_width));
    GF_TRY(
        describe_tensor(&layer->out, batch, step->out_channels, step->out_height, step->out_width));
    if (step->kind == GF_STEP_POOL)
        return describe_pool(layer);
    GF_TRY(describe_convolution(layer, class));
    return find_fastest(net, layer, made, class, in, out, note);
}

static GfStatus make_net(struct Cudnn *cudnn, Contestant *contestant, Field *field,
                         const Case *made, CudnnClass class, void *in, void *out)
{
    Net *net;
    GF_TRY(slab_reserve(&field->workspace, (size_t)WORKSPACE_GIB << 30));
    GF_TRY(gf_allocate_zero(1, sizeof *net, &net));
    net->library = cudnn;
    net->field = field;
    contestant->state = net;
    contestant->run = run;
    contestant->close = close_net;
    for (size_t i = 0; i < made->count; i++) {
        /* Buffers of the sizes that this pass will have. */
        void *from = i == 0 ? in : field->between[(i - 1) % 2].memory;
        void *to = i + 1 == made->count ? out : field->between[i % 2].memory;
        GF_TRY(make_layer(net, made, class, from, to, contestant->score.note));
    }
    return GF_OK;
}

/* Of the engines that may round to TF32 some read rows as vectors wherever they begin (9.14.0,
 * 1 x 2047 x 2047, 7 x 7, 16 maps), and the device is lost. */
static GfStatus check_rows(const Case *made, CudnnClass class)
{
    if (class == CUDNN_IEEE || made->spec->width % 4 == 0)
        return GF_OK;
    return gf_fail(GF_EUNSUPPORTED, "rows of whole vectors only: else engines lose the device");
}

GfStatus cudnn_enter(struct Cudnn *cudnn, const char *only, Field *field, const Case *made,
                     void *in, void *out)
{
    static const char *const names[] = {"cudnn-ieee", "cudnn-tf32"};
    if (made->spec->in != GF_F32)
        return GF_OK;
    for (size_t i = 0; i < 2; i++) {
        bool wanted = !only || strcmp(only, "cudnn") == 0 || strcmp(only, names[i]) == 0;
        Contestant *contestant = wanted ? field_add(field, SIDE_PEER, names[i]) : NULL;
        if (!contestant)
            continue;
        CudnnClass class = i == 0 ? CUDNN_IEEE : CUDNN_TF32;
        contestant->score.ran = true;
        if (check_rows(made, class) == GF_OK &&
            make_net(cudnn, contestant, field, made, class, in, out) == GF_OK)
            continue;
        contestant_drop(contestant);
        if (device_is_lost())
            return gf_fail(GF_EDEVICE, "%s: %s", names[i], contestant->score.note);
    }
    return GF_OK;
}
