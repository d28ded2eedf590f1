#include "bench/cudnn_plan.h"

#include "common/clock.h"

/* Names of the tensors. */
enum { UID_IN = 1, UID_TAPS, UID_OUT, UIDS = 3 };

/* Descriptors that are needed until the plans are made. */
typedef struct Graph {
    cudnnBackendDescriptor_t in, taps, out, convolution, operation, graph, heuristic;
} Graph;

static GfStatus create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *made)
{
    DNN(cudnnBackendCreateDescriptor, type, made);
    return GF_OK;
}

static GfStatus set(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type, size_t count, const void *values)
{
    DNN(cudnnBackendSetAttribute, of, name, type, (int64_t)count, values);
    return GF_OK;
}

static GfStatus set_descriptor(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                               cudnnBackendDescriptor_t value)
{
    return set(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static GfStatus finalize(cudnnBackendDescriptor_t made)
{
    DNN(cudnnBackendFinalize, made);
    return GF_OK;
}

static void destroy(cudnnBackendDescriptor_t made)
{
    if (made)
        (void)dnn.cudnnBackendDestroyDescriptor(made);
}

/* ---- the graph ---- */

/* A packed tensor of f32 in four dimensions. */
static GfStatus make_tensor(int64_t uid, size_t n, size_t c, size_t h, size_t w,
                            cudnnBackendDescriptor_t *tensor)
{
    const int64_t sizes[] = {(int64_t)n, (int64_t)c, (int64_t)h, (int64_t)w};
    const int64_t strides[] = {(int64_t)(c * h * w), (int64_t)(h * w), (int64_t)w, 1};
    const int64_t alignment = 16;
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    GF_TRY(create(CUDNN_BACKEND_TENSOR_DESCRIPTOR, tensor));
    GF_TRY(set(*tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    GF_TRY(set(*tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes));
    GF_TRY(set(*tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides));
    GF_TRY(set(*tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid));
    GF_TRY(set(*tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment));
    return finalize(*tensor);
}

static GfStatus make_convolution(const GfStep *step, cudnnBackendDescriptor_t *made)
{
    const int64_t padding[] = {-step->origin_y, -step->origin_x}, dimensions = 2;
    const int64_t dilations[] = {(int64_t)step->dilation_y, (int64_t)step->dilation_x};
    const int64_t strides[] = {(int64_t)step->stride_y, (int64_t)step->stride_x};
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    GF_TRY(create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, made));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dimensions));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, padding));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, padding));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilations));
    GF_TRY(set(*made, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, strides));
    return finalize(*made);
}

static GfStatus make_operation(Graph *graph)
{
    const float one = 1.0f, zero = 0.0f;
    cudnnBackendDescriptor_t *made = &graph->operation;
    GF_TRY(create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, made));
    GF_TRY(set_descriptor(*made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, graph->in));
    GF_TRY(set_descriptor(*made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, graph->taps));
    GF_TRY(set_descriptor(*made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, graph->out));
    GF_TRY(set_descriptor(*made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                          graph->convolution));
    GF_TRY(set(*made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one));
    GF_TRY(set(*made, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero));
    return finalize(*made);
}

static GfStatus make_graph(cudnnHandle_t handle, const GfStep *step, size_t batch, Graph *graph)
{
    const GfLinear *linear = &step->linear;
    GF_TRY(make_tensor(UID_IN, batch, step->channels, step->in_height, step->in_width, &graph->in));
    GF_TRY(make_tensor(UID_TAPS, linear->filters, linear->depth, linear->height, linear->width,
                       &graph->taps));
    GF_TRY(make_tensor(UID_OUT, batch, step->out_channels, step->out_height, step->out_width,
                       &graph->out));
    GF_TRY(make_convolution(step, &graph->convolution));
    GF_TRY(make_operation(graph));
    GF_TRY(create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &graph->graph));
    GF_TRY(set_descriptor(graph->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, graph->operation));
    GF_TRY(set(graph->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    return finalize(graph->graph);
}

static void free_graph(Graph *graph)
{
    destroy(graph->heuristic);
    destroy(graph->graph);
    destroy(graph->operation);
    destroy(graph->convolution);
    destroy(graph->out);
    destroy(graph->taps);
    destroy(graph->in);
}

/* ---- engines ---- */

/* Does the proposed engine round its inputs, or use units that do? */
static GfStatus is_ieee(cudnnBackendDescriptor_t proposal, bool *ieee)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    cudnnBackendDescriptor_t engine = NULL;
    int64_t count = 0, engines = 0;
    GF_TRY(create(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine));
    GfStatus status = cudnn_check(
        dnn.cudnnBackendGetAttribute(proposal, CUDNN_ATTR_ENGINECFG_ENGINE,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engines, &engine),
        "CUDNN_ATTR_ENGINECFG_ENGINE");
    if (status == GF_OK)
        status = cudnn_check(dnn.cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                          CUDNN_TYPE_NUMERICAL_NOTE,
                                                          CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
                                                          notes),
                             "CUDNN_ATTR_ENGINE_NUMERICAL_NOTE");
    *ieee = true;
    for (int64_t i = 0; status == GF_OK && i < count; i++)
        *ieee &= notes[i] != CUDNN_NUMERICAL_NOTE_TENSOR_CORE &&
                 notes[i] != CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS &&
                 notes[i] != CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
    destroy(engine);
    return status;
}

/* A plan of the proposal, when it fits. */
static GfStatus make_plan(cudnnHandle_t handle, cudnnBackendDescriptor_t proposal, size_t workspace,
                          cudnnBackendDescriptor_t *plan)
{
    int64_t needed = 0, count = 0;
    GF_TRY(create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, plan));
    GF_TRY(set(*plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle));
    GF_TRY(set_descriptor(*plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal));
    GF_TRY(finalize(*plan));
    DNN(cudnnBackendGetAttribute, *plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
        1, &count, &needed);
    if (needed < 0 || (size_t)needed > workspace)
        return gf_fail(GF_EUNSUPPORTED, "a workspace of %lld bytes", (long long)needed);
    return GF_OK;
}

/* Adds the proposal's plan when it is of the class and can be made. */
static void take(cudnnHandle_t handle, cudnnBackendDescriptor_t proposal, CudnnClass class,
                 size_t workspace, CudnnPlans *plans)
{
    bool ieee = false;
    cudnnBackendDescriptor_t plan = NULL;
    if (plans->count == CUDNN_PROPOSALS || is_ieee(proposal, &ieee) != GF_OK ||
        (class == CUDNN_IEEE && !ieee))
        return;
    if (make_plan(handle, proposal, workspace, &plan) == GF_OK)
        plans->list[plans->count++] = plan;
    else
        destroy(plan);
}

static GfStatus propose(Graph *graph, cudnnBackendHeurMode_t mode,
                        cudnnBackendDescriptor_t *proposals, int64_t *count)
{
    destroy(graph->heuristic);
    graph->heuristic = NULL;
    GF_TRY(create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &graph->heuristic));
    GF_TRY(set_descriptor(graph->heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph->graph));
    GF_TRY(set(graph->heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode));
    GF_TRY(finalize(graph->heuristic));
    for (size_t i = 0; i < CUDNN_PROPOSALS; i++)
        GF_TRY(create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &proposals[i]));
    DNN(cudnnBackendGetAttribute, graph->heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
        CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_PROPOSALS, count, proposals);
    return GF_OK;
}

/* All that one way of proposing gives. */
static void take_proposals(cudnnHandle_t handle, Graph *graph, cudnnBackendHeurMode_t mode,
                           CudnnClass class, size_t workspace, double end, CudnnPlans *plans)
{
    cudnnBackendDescriptor_t proposals[CUDNN_PROPOSALS] = {NULL};
    int64_t count = 0;
    if (propose(graph, mode, proposals, &count) == GF_OK)
        for (int64_t i = 0; i < count && i < CUDNN_PROPOSALS && gf_now() < end; i++)
            take(handle, proposals[i], class, workspace, plans);
    for (size_t i = 0; i < CUDNN_PROPOSALS; i++)
        destroy(proposals[i]);
}

GfStatus cudnn_plans_make(cudnnHandle_t handle, const GfStep *step, size_t batch, CudnnClass class,
                          size_t workspace, double seconds, CudnnPlans *plans)
{
    Graph graph = {NULL};
    double end = gf_now() + seconds;
    *plans = (CudnnPlans){.count = 0};
    GfStatus status = make_graph(handle, step, batch, &graph);
    if (status == GF_OK) {
        take_proposals(handle, &graph, CUDNN_HEUR_MODE_A, class, workspace, end, plans);
        take_proposals(handle, &graph, CUDNN_HEUR_MODE_FALLBACK, class, workspace, end, plans);
    }
    free_graph(&graph);
    if (status == GF_OK && plans->count == 0)
        status = gf_fail(GF_EUNSUPPORTED, "cuDNN proposes no engine of this class");
    return status;
}

GfStatus cudnn_plan_run(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, const void *in,
                        const void *taps, void *out, void *workspace)
{
    const int64_t uids[UIDS] = {UID_IN, UID_TAPS, UID_OUT};
    const void *const pointers[UIDS] = {in, taps, out};
    cudnnBackendDescriptor_t pack = NULL;
    GfStatus status = GF_OK;
    GF_GO(create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
    GF_GO(set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, UIDS, uids));
    GF_GO(set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, UIDS, pointers));
    GF_GO(set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace));
    GF_GO(finalize(pack));
    GF_GO(cudnn_check(dnn.cudnnBackendExecute(handle, plan, pack), "cudnnBackendExecute"));
done:
    destroy(pack);
    return status;
}

void cudnn_plans_free(CudnnPlans *plans, cudnnBackendDescriptor_t kept)
{
    for (size_t i = 0; i < plans->count; i++)
        if (plans->list[i] != kept)
            destroy(plans->list[i]);
    plans->count = 0;
}
