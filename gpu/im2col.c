/* Method `im2col`: convolution as one matrix product, after Chellapilla et al. (2006) and Hwu, Kirk
 * and El Hajj, "Programming Massively Parallel Processors", 16.4. Each output position becomes a
 * column of all the samples that its windows meet (gpu/unroll.cu); filters times columns, by
 * cuBLAS, are the responses; a second kernel makes output samples of them.
 *
 * Costs: each input sample is written and read again up to height x width times, which is the price
 * for a product that runs near the card's peak. So that it is never paid in memory as well, there
 * is ONE buffer, used picture by picture, and for large pictures part by part.
 *
 * A layer is a product a group. A bank, whose kernels go through every channel, is a product a
 * channel with the same filters.
 *
 * Which kernel cuBLAS takes, and so the bits of a sum, depends on the shape of the product. So that
 * bits do not depend on bands, the shape is the step's: the last part of a band is filled up. */
#include <limits.h>
#include <stdlib.h>

#include "common/memory.h"
#include "gpu/blas.h"
#include "gpu/device.h"
#include "gpu/launch.h"

enum {
    BUFFER_BYTES = 256 << 20, /* of columns and responses, where one column is not more */
    MOST_POSITIONS = 1 << 16, /* columns: enough to fill a large card with tiles of the product */
    WARP = 32,
    FLOAT_CHAIN = 256 /* taps a product where samples are floats and the rule is relative */
};

typedef struct Columns {
    GfBlas *blas;
    void *columns, *responses;
    size_t positions; /* of a part */
} Columns;

/* The products of a step. */
typedef struct Shape {
    size_t groups;  /* products a part */
    size_t taps;    /* of a filter: rows of columns that a group has */
    size_t filters; /* of a group */
    size_t apart;   /* taps from one group's first filter to the next one's; 0: they share them */
} Shape;

static Shape shape_of(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    size_t taps = gf_linear_taps(linear);
    if (!gf_step_is_layer(step))
        return (Shape){step->channels, taps, linear->filters, 0};
    size_t filters = linear->filters / linear->groups;
    return (Shape){linear->groups, taps, filters, filters * taps};
}

/* Taps a product, so that f32 keeps the rule; the products' sums are added up. */
static size_t chain_of(const GfStep *step, bool wide, size_t taps)
{
    size_t most = gf_chain(step);
    if (gf_step_is_layer(step) && gf_sample_is_float(step->in) && gf_sample_is_float(step->out))
        most = gf_max(most, FLOAT_CHAIN);
    if (wide)
        most = INT_MAX;
    size_t products = (taps + most - 1) / most;
    return (taps + products - 1) / products;
}

/* Positions a part: as many as the bounds allow, or the picture in parts of equal size. */
static size_t part_of(const GfStep *step, size_t column_bytes)
{
    size_t total = step->out_width * step->out_height;
    size_t most = gf_min(MOST_POSITIONS, gf_max(BUFFER_BYTES / column_bytes, 1));
    if (most > WARP)
        most = most / WARP * WARP;
    size_t parts = (total + most - 1) / most;
    size_t part = (total + parts - 1) / parts;
    return gf_min(most, (part + WARP - 1) / WARP * WARP);
}

/* ---- the state ---- */

void gf_im2col_close(void *state)
{
    Columns *columns = state;
    if (!columns)
        return;
    gf_blas_close(columns->blas);
    (void)cudaFree(columns->columns);
    (void)cudaFree(columns->responses);
    free(columns);
}

static GfStatus allocate(const Shape *shape, size_t size, Columns *columns)
{
    size_t bytes = columns->positions * shape->groups * size;
    GF_CUDA(cudaMalloc, &columns->columns, bytes * shape->taps);
    GF_CUDA(cudaMalloc, &columns->responses, bytes * shape->filters);
    return GF_OK;
}

GfStatus gf_im2col_open(const GfStep *step, bool wide, size_t tiling, void **state)
{
    (void)tiling;
    Shape shape = shape_of(step);
    size_t size = wide ? sizeof(double) : sizeof(float);
    Columns *columns;
    *state = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *columns, &columns));
    columns->positions = part_of(step, shape.groups * (shape.taps + shape.filters) * size);
    GfStatus status = gf_blas_open(&columns->blas);
    if (status == GF_OK)
        status = allocate(&shape, size, columns);
    if (status == GF_OK) {
        *state = columns;
        return GF_OK;
    }
    gf_im2col_close(columns);
    return gf_fail_at(status, "im2col");
}

/* ---- a launch ---- */

/* The responses of one group, as a sum of products of `chain` taps at most. */
static cudaError_t multiply_group(const GfLaunch *launch, const Shape *shape, size_t group,
                                  cudaStream_t stream)
{
    const Columns *columns = launch->state;
    size_t size = launch->wide ? sizeof(double) : sizeof(float), positions = columns->positions;
    size_t chain = chain_of(launch->step, launch->wide, shape->taps);
    const char *filters = (const char *)launch->weights + group * shape->apart * size;
    const char *samples = (const char *)columns->columns + group * shape->taps * positions * size;
    char *responses = (char *)columns->responses + group * shape->filters * positions * size;
    cudaError_t error = cudaSuccess;
    for (size_t k = 0; k < shape->taps && error == cudaSuccess; k += chain) {
        GfProduct product = {.wide = launch->wide,
                             .add = k > 0,
                             .rows = (int)shape->filters,
                             .columns = (int)positions,
                             .inner = (int)gf_min(chain, shape->taps - k),
                             .a = filters + k * size,
                             .a_pitch = (int)shape->taps,
                             .b = samples + k * positions * size,
                             .b_pitch = (int)positions,
                             .c = responses,
                             .c_pitch = (int)positions};
        error = gf_blas_multiply(columns->blas, &product, stream);
    }
    return error;
}

/* Positions [first, first + columns->positions) of picture n. */
static cudaError_t run_part(const GfLaunch *launch, const Shape *shape, size_t n, size_t first,
                            cudaStream_t stream)
{
    const Columns *columns = launch->state;
    cudaError_t error =
        gf_launch_unroll(launch, n, first, columns->positions, columns->columns, stream);
    for (size_t g = 0; g < shape->groups && error == cudaSuccess; g++)
        error = multiply_group(launch, shape, g, stream);
    if (error == cudaSuccess)
        error = gf_launch_roll(launch, n, first, columns->positions, columns->responses, stream);
    return error;
}

cudaError_t gf_launch_im2col(const GfLaunch *launch, cudaStream_t stream)
{
    const Columns *columns = launch->state;
    Shape shape = shape_of(launch->step);
    size_t total = (launch->y1 - launch->y0) * launch->step->out_width;
    cudaError_t error = cudaSuccess;
    if (!columns)
        return cudaErrorInvalidValue;
    for (size_t n = 0; n < launch->count; n++)
        for (size_t i = 0; i < total && error == cudaSuccess; i += columns->positions)
            error = run_part(launch, &shape, n, i, stream);
    return error;
}
