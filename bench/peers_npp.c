/* NPP's filters. One table of functions: each row says which cases it computes, and a small
 * function hands it our buffers. */
#include "bench/peers_npp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <npp.h>

#include "bench/library.h"

#define FUNCTIONS(X)                                                                               \
    X(nppiFilterBorder32f_8u_C1R_Ctx)                                                              \
    X(nppiFilterBorder32f_8u_C3R_Ctx)                                                              \
    X(nppiFilterBorder32f_16u_C1R_Ctx)                                                             \
    X(nppiFilterBorder_32f_C1R_Ctx)                                                                \
    X(nppiFilterGaussAdvancedBorder_8u_C1R_Ctx)                                                    \
    X(nppiFilterGaussAdvancedBorder_8u_C3R_Ctx)                                                    \
    X(nppiFilterGaussAdvancedBorder_16u_C1R_Ctx)                                                   \
    X(nppiFilterGaussAdvancedBorder_32f_C1R_Ctx)                                                   \
    X(nppiFilterGaussBorder_8u_C1R_Ctx)                                                            \
    X(nppiFilterGaussBorder_8u_C3R_Ctx)                                                            \
    X(nppiFilterSobelHorizBorder_8u_C1R_Ctx)                                                       \
    X(nppiGradientVectorSobelBorder_8u16s_C1R_Ctx)

/* The library's functions under their own names, found when the program runs. */
static struct {
#define MEMBER(name) __typeof__(name) *name;
    FUNCTIONS(MEMBER)
    __typeof__(nppGetLibVersion) *version;
} npp;

struct Npp {
    NppStreamContext context;
    bool reversed; /* kernels are handed over last tap first */
};

/* A case in NPP's words. */
typedef struct Call {
    const struct Npp *npp;
    const struct Row *row;
    const Case *made;
    float *kernel; /* on the device, taps in NPP's order; owned */
    NppiSize size, side;
    NppiPoint anchor;
    int step; /* bytes of a row, in and out */
} Call;

static const NppiPoint origin = {0, 0};

/* ---- one function each ---- */

#define FILTER(name, type)                                                                         \
    static NppStatus call_##name(const Call *c, const void *in, void *out)                         \
    {                                                                                              \
        return npp.name((const type *)in, c->step, c->size, origin, (type *)out, c->step, c->size, \
                        c->kernel, c->side, c->anchor, NPP_BORDER_REPLICATE, c->npp->context);     \
    }
FILTER(nppiFilterBorder32f_8u_C1R_Ctx, Npp8u)
FILTER(nppiFilterBorder32f_8u_C3R_Ctx, Npp8u)
FILTER(nppiFilterBorder32f_16u_C1R_Ctx, Npp16u)
FILTER(nppiFilterBorder_32f_C1R_Ctx, Npp32f)

#define ADVANCED(name, type)                                                                       \
    static NppStatus call_##name(const Call *c, const void *in, void *out)                         \
    {                                                                                              \
        return npp.name((const type *)in, c->step, c->size, origin, (type *)out, c->step, c->size, \
                        c->side.width, c->kernel, NPP_BORDER_REPLICATE, c->npp->context);          \
    }
ADVANCED(nppiFilterGaussAdvancedBorder_8u_C1R_Ctx, Npp8u)
ADVANCED(nppiFilterGaussAdvancedBorder_8u_C3R_Ctx, Npp8u)
ADVANCED(nppiFilterGaussAdvancedBorder_16u_C1R_Ctx, Npp16u)
ADVANCED(nppiFilterGaussAdvancedBorder_32f_C1R_Ctx, Npp32f)

/* Its names for masks of 3, 5, 7, ... 15 rows and columns. */
static NppiMaskSize mask(int side)
{
    static const NppiMaskSize sizes[] = {
        NPP_MASK_SIZE_3_X_3,   NPP_MASK_SIZE_5_X_5,   NPP_MASK_SIZE_7_X_7,  NPP_MASK_SIZE_9_X_9,
        NPP_MASK_SIZE_11_X_11, NPP_MASK_SIZE_13_X_13, NPP_MASK_SIZE_15_X_15};
    return sizes[(side - 3) / 2];
}

#define MASKED(name)                                                                               \
    static NppStatus call_##name(const Call *c, const void *in, void *out)                         \
    {                                                                                              \
        return npp.name(in, c->step, c->size, origin, out, c->step, c->size, mask(c->side.width),  \
                        NPP_BORDER_REPLICATE, c->npp->context);                                    \
    }
MASKED(nppiFilterGaussBorder_8u_C1R_Ctx)
MASKED(nppiFilterGaussBorder_8u_C3R_Ctx)

static NppStatus call_sobel(const Call *c, const void *in, void *out)
{
    return npp.nppiFilterSobelHorizBorder_8u_C1R_Ctx(
        in, c->step, c->size, origin, out, c->step, c->size, NPP_BORDER_REPLICATE, c->npp->context);
}

static NppStatus call_magnitude(const Call *c, const void *in, void *out)
{
    return npp.nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
        in, c->step, c->size, origin, NULL, 0, NULL, 0, out, 2 * c->step, NULL, 0, c->size,
        NPP_MASK_SIZE_3_X_3, nppiNormL2, NPP_BORDER_REPLICATE, c->npp->context);
}

/* ---- the table ---- */

typedef enum Kernel { KERNEL_NONE, KERNEL_TAPS, KERNEL_FACTOR } Kernel;

typedef struct Row {
    const char *name;
    GfSample sample;
    size_t channels;
    unsigned taps; /* bit (1 << Taps): cases that it computes */
    Kernel kernel;
    NppStatus (*call)(const Call *call, const void *in, void *out);
    const char *note;
    bool signed16;
} Row;

enum { ANY = 1 << TAPS_RANDOM | 1 << TAPS_GAUSS | 1 << TAPS_SOBEL_Y, GAUSS = 1 << TAPS_GAUSS };

static const char own_coefficients[] = "coefficients of its own: its result is not compared";

static const Row rows[] = {
    {"npp-filter", GF_U8, 1, ANY, KERNEL_TAPS, call_nppiFilterBorder32f_8u_C1R_Ctx, "", false},
    {"npp-filter", GF_U8, 3, ANY, KERNEL_TAPS, call_nppiFilterBorder32f_8u_C3R_Ctx, "", false},
    {"npp-filter", GF_U16, 1, ANY, KERNEL_TAPS, call_nppiFilterBorder32f_16u_C1R_Ctx, "", false},
    {"npp-filter", GF_F32, 1, ANY, KERNEL_TAPS, call_nppiFilterBorder_32f_C1R_Ctx, "", false},
    {"npp-gauss-advanced", GF_U8, 1, GAUSS, KERNEL_FACTOR,
     call_nppiFilterGaussAdvancedBorder_8u_C1R_Ctx, "", false},
    {"npp-gauss-advanced", GF_U8, 3, GAUSS, KERNEL_FACTOR,
     call_nppiFilterGaussAdvancedBorder_8u_C3R_Ctx, "", false},
    {"npp-gauss-advanced", GF_U16, 1, GAUSS, KERNEL_FACTOR,
     call_nppiFilterGaussAdvancedBorder_16u_C1R_Ctx, "", false},
    {"npp-gauss-advanced", GF_F32, 1, GAUSS, KERNEL_FACTOR,
     call_nppiFilterGaussAdvancedBorder_32f_C1R_Ctx, "", false},
    {"npp-gauss", GF_U8, 1, GAUSS, KERNEL_NONE, call_nppiFilterGaussBorder_8u_C1R_Ctx,
     own_coefficients, false},
    {"npp-gauss", GF_U8, 3, GAUSS, KERNEL_NONE, call_nppiFilterGaussBorder_8u_C3R_Ctx,
     own_coefficients, false},
    {"npp-sobel-horiz", GF_U8, 1, 1 << TAPS_SOBEL_Y, KERNEL_NONE, call_sobel, "", false},
    {"npp-gradient", GF_U8, 1, 1 << TAPS_SOBEL, KERNEL_NONE, call_magnitude,
     "16-bit results, twice the bytes written", true}};

/* ---- contestants ---- */

static GfStatus run(void *state, const void *in, void *out, cudaStream_t stream)
{
    const Call *call = state;
    (void)stream; /* the context's */
    NppStatus status = call->row->call(call, in, out);
    if (status == NPP_SUCCESS)
        return GF_OK;
    return gf_fail(GF_EUNSUPPORTED, "NPP's status %d", (int)status);
}

static void close_call(void *state)
{
    Call *call = state;
    (void)cudaFree(call->kernel);
    free(call);
}

static GfStatus make_kernel(Call *call)
{
    const Pass *pass = &call->made->passes[0];
    size_t side = pass->step.linear.width;
    size_t count = call->row->kernel == KERNEL_TAPS ? side * side : side;
    const float *from = call->row->kernel == KERNEL_TAPS ? pass->taps_host : pass->factors_host;
    float *taps;
    GF_TRY(gf_allocate(count, sizeof *taps, &taps));
    for (size_t i = 0; i < count; i++)
        taps[i] = from[call->npp->reversed ? count - 1 - i : i];
    cudaError_t error = cudaMalloc((void **)&call->kernel, count * sizeof *taps);
    if (error == cudaSuccess)
        error = cudaMemcpy(call->kernel, taps, count * sizeof *taps, cudaMemcpyHostToDevice);
    free(taps);
    return cuda_status(error, "NPP's kernel");
}

static GfStatus make_call(struct Npp *library, const Row *row, const Case *made,
                          Contestant *contestant)
{
    Call *call;
    const GfStep *step = &made->passes[0].step;
    int side = (int)step->linear.width;
    GF_TRY(gf_allocate_zero(1, sizeof *call, &call));
    *call = (Call){.npp = library,
                   .row = row,
                   .made = made,
                   .size = {(int)step->in_width, (int)step->in_height},
                   .side = {side, side},
                   .anchor = {side / 2, side / 2},
                   .step = (int)(step_in_lay(step).pitch * gf_sample_size(step->in))};
    contestant->state = call;
    contestant->run = run;
    contestant->close = close_call;
    contestant->out = row->signed16 ? GF_U16 : step->out;
    contestant->signed16 = row->signed16;
    contestant->unlike = row->note == own_coefficients;
    snprintf(contestant->score.note, sizeof contestant->score.note, "%s", row->note);
    return row->kernel == KERNEL_NONE ? GF_OK : make_kernel(call);
}

static bool computes(const Row *row, const Case *made)
{
    const Spec *spec = made->spec;
    return row->sample == spec->in && spec->in == spec->out && row->channels == spec->channels &&
           (row->taps >> spec->taps & 1) != 0;
}

GfStatus npp_enter(struct Npp *library, const char *only, Field *field, const Case *made)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Row *row = &rows[i];
        bool wanted = !only || strcmp(only, "npp") == 0 || strcmp(only, row->name) == 0;
        Contestant *contestant =
            wanted && computes(row, made) ? field_add(field, SIDE_PEER, row->name) : NULL;
        if (!contestant)
            continue;
        contestant->score.ran = true;
        if (make_call(library, row, made, contestant) != GF_OK)
            contestant_drop(contestant);
    }
    return GF_OK;
}

/* ---- the library ---- */

static GfStatus find_functions(void)
{
    static const char *const core[] = {"libnppc.so.13", "libnppc.so.12", NULL};
    static const char *const filters[] = {"libnppif.so.13", "libnppif.so.12", NULL};
    void *library;
    GF_TRY(library_open(core, &library));
    GF_TRY(library_find(library, "nppGetLibVersion", &npp.version));
    GF_TRY(library_open(filters, &library));
#define FIND(name) GF_TRY(library_find(library, #name, &npp.name));
    FUNCTIONS(FIND)
    return GF_OK;
}

/* NPP wants its taps in reverse; whether that means the last tap of a correlation first is found
 * out with a picture that is one bright pixel. */
static GfStatus find_order(struct Npp *library, unsigned char *memory)
{
    enum { WIDTH = 16, AT = 8 * WIDTH + 8 };
    unsigned char picture[WIDTH * WIDTH] = {[AT] = 1}, result[WIDTH * WIDTH];
    const float kernel[9] = {100.0f}; /* as a correlation: what is above left of a pixel */
    const Call call = {.npp = library,
                       .kernel = (float *)(void *)(memory + 2 * sizeof picture),
                       .size = {WIDTH, WIDTH},
                       .side = {3, 3},
                       .anchor = {1, 1},
                       .step = WIDTH};
    CUDA(cudaMemcpy, memory, picture, sizeof picture, cudaMemcpyHostToDevice);
    CUDA(cudaMemcpy, call.kernel, kernel, sizeof kernel, cudaMemcpyHostToDevice);
    NppStatus status = call_nppiFilterBorder32f_8u_C1R_Ctx(&call, memory, memory + sizeof picture);
    if (status != NPP_SUCCESS)
        return gf_fail(GF_EUNSUPPORTED, "NPP's status %d", (int)status);
    GF_TRY(cuda_status(cudaDeviceSynchronize(), "cudaDeviceSynchronize"));
    CUDA(cudaMemcpy, result, memory + sizeof picture, sizeof result, cudaMemcpyDeviceToHost);
    if (result[AT + WIDTH + 1] != 100 && result[AT - WIDTH - 1] != 100)
        return gf_fail(GF_EUNSUPPORTED, "NPP's filter gave an unexpected result");
    library->reversed = result[AT + WIDTH + 1] != 100;
    return GF_OK;
}

static GfStatus make_context(const Device *device, NppStreamContext *context)
{
    struct cudaDeviceProp properties;
    CUDA(cudaGetDeviceProperties, &properties, 0);
    *context =
        (NppStreamContext){.hStream = device->stream,
                           .nMultiProcessorCount = properties.multiProcessorCount,
                           .nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor,
                           .nMaxThreadsPerBlock = properties.maxThreadsPerBlock,
                           .nSharedMemPerBlock = properties.sharedMemPerBlock,
                           .nCudaDevAttrComputeCapabilityMajor = properties.major,
                           .nCudaDevAttrComputeCapabilityMinor = properties.minor};
    CUDA(cudaStreamGetFlags, device->stream, &context->nStreamFlags);
    return GF_OK;
}

static GfStatus open_library(const Device *device, struct Npp *library)
{
    Slab slab = {0};
    GF_TRY(find_functions());
    GF_TRY(make_context(device, &library->context));
    GF_TRY(slab_reserve(&slab, 4096));
    GfStatus status = find_order(library, slab.memory);
    slab_free(&slab);
    return status;
}

struct Npp *npp_open(const Device *device, char *note)
{
    struct Npp *library;
    GfStatus status = gf_allocate_zero(1, sizeof *library, &library);
    if (status == GF_OK)
        status = open_library(device, library);
    if (status != GF_OK) {
        snprintf(note, NOTE_SIZE, "%.*s", NOTE_SIZE - 1, gf_message());
        free(library);
        return NULL;
    }
    const NppLibraryVersion *version = npp.version();
    snprintf(note, NOTE_SIZE, "%d.%d.%d", version->major, version->minor, version->build);
    return library;
}

void npp_close(struct Npp *library)
{
    free(library);
}
