#include "tests/unit/fake_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/algorithms.h"
#include "tests/unit/fake_cuda.h"

static uint64_t mix(uint64_t mark, uint64_t with)
{
    mark = (mark ^ with) * 0x9E3779B97F4A7C15U;
    return mark ^ mark >> 29;
}

uint64_t fake_picture_mark(size_t y)
{
    return mix(1, y);
}

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
        fake_complain("a row is looked for where there is none");
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

/* ---- the launchers ---- */

static void run(void *context, bool wanted)
{
    if (wanted)
        compute(context);
    free(context);
}

bool gf_has_groups(void)
{
    return true;
}

cudaError_t gf_probe_kernels(void)
{
    return cudaSuccess;
}

cudaError_t gf_split_taps(const GfStep *step, const float *taps, const GfTensorLayer *layer,
                          size_t vectors)
{
    (void)step;
    (void)taps;
    (void)layer;
    (void)vectors;
    return cudaSuccess;
}

#define LAUNCHER(name)                                                                             \
    cudaError_t gf_launch_##name(const GfLaunch *launch, cudaStream_t stream)                      \
    {                                                                                              \
        GfLaunch *own = malloc(sizeof *own);                                                       \
        if (!own)                                                                                  \
            abort();                                                                               \
        *own = *launch;                                                                            \
        return fake_launch(#name, stream, run, own);                                               \
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
