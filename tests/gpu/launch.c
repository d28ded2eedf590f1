#include "tests/gpu/launch.h"

#include <stdlib.h>
#include <string.h>

#include "tests/gpu/report.h"

struct Stand {
    const GfAlgorithm *row; /* NULL: a pool */
    const GfStep *step, *pool;
    bool wide;
    void *weights_host, *factors_host;
    void *weights, *factors, *bias, *state;
    size_t tiling; /* that the state was made for */
};

/* ---- numbers ---- */

/* Numbers as f64 or f32, in host memory and on the device. */
static void upload(const double *numbers, size_t count, bool wide, void **host, void **device)
{
    size_t size = wide ? sizeof(double) : sizeof(float);
    *host = malloc(count * size);
    if (!*host)
        exit(1);
    for (size_t i = 0; i < count; i++) {
        if (wide)
            ((double *)*host)[i] = numbers[i];
        else
            ((float *)*host)[i] = (float)numbers[i];
    }
    must_cuda(cudaMalloc(device, count * size), "numbers");
    must_cuda(cudaMemcpy(*device, *host, count * size, cudaMemcpyHostToDevice), "numbers");
}

static void upload_weights(Stand *stand)
{
    const GfLinear *linear = &stand->step->linear;
    size_t taps = linear->width * linear->height, count = linear->filters * gf_linear_taps(linear);
    double *weights = malloc(count * sizeof *weights);
    if (!weights)
        exit(1);
    for (size_t i = 0; i < count; i++)
        weights[i] = linear->weights ? linear->weights[i]
                                     : gf_linear_tap(linear, i / taps, i % taps / linear->width,
                                                     i % linear->width);
    upload(weights, count, stand->wide, &stand->weights_host, &stand->weights);
    free(weights);
}

static void upload_factors(Stand *stand)
{
    const GfLinear *linear = &stand->step->linear;
    size_t side = linear->width + linear->height;
    double *factors = malloc(linear->filters * side * sizeof *factors);
    if (!factors)
        exit(1);
    for (size_t f = 0; f < linear->filters; f++) {
        memcpy(factors + f * side, linear->columns + f * linear->height,
               linear->height * sizeof *factors);
        memcpy(factors + f * side + linear->height, linear->rows + f * linear->width,
               linear->width * sizeof *factors);
    }
    upload(factors, linear->filters * side, stand->wide, &stand->factors_host, &stand->factors);
    free(factors);
}

Stand *make_stand(const GfAlgorithm *row, const GfStep *step, const GfStep *pool, bool wide)
{
    void *host;
    Stand *stand = calloc(1, sizeof *stand);
    if (!stand)
        exit(1);
    *stand = (Stand){.row = row, .step = step, .pool = pool, .wide = wide};
    if (row)
        upload_weights(stand);
    if (step->separable)
        upload_factors(stand);
    if (step->bias) {
        upload(step->bias, step->out_channels, wide, &host, &stand->bias);
        free(host);
    }
    if (row && row->open)
        must(row->open(step, wide, 0, &stand->state), row->name);
    return stand;
}

static void close_state(Stand *stand)
{
    if (stand->row && stand->row->close)
        stand->row->close(stand->state);
}

static void open_for(Stand *stand, size_t tiling)
{
    if (!stand->row || !stand->row->open || stand->tiling == tiling)
        return;
    close_state(stand);
    must(stand->row->open(stand->step, stand->wide, tiling, &stand->state), stand->row->name);
    stand->tiling = tiling;
}

void free_stand(Stand *stand)
{
    close_state(stand);
    must_cuda(cudaFree(stand->weights), "numbers");
    must_cuda(cudaFree(stand->factors), "numbers");
    must_cuda(cudaFree(stand->bias), "numbers");
    free(stand->weights_host);
    free(stand->factors_host);
    free(stand);
}

/* ---- rows ---- */

static unsigned char *to_device(const Array *array)
{
    void *device;
    must_cuda(cudaMalloc(&device, array->bytes), "array");
    must_cuda(cudaMemcpy(device, array->memory, array->bytes, cudaMemcpyHostToDevice), "array");
    return device;
}

/* The input rows that output rows [y0, y1) need, in a ring of so many rows or, where the whole
 * is asked for, as they are. What else the ring holds is poison: NaN in floats. */
static Array make_ring(const Stand *stand, const Inputs *in, const Way *way, size_t y0, size_t y1,
                       size_t *first)
{
    size_t begin, end;
    GfFormat format = in->format;
    if (stand->pool)
        gf_step_rows(stand->pool, y0, y1, &y0, &y1);
    gf_step_rows(stand->step, y0, y1, &begin, &end);
    if (way->cuts > 1) /* a window may meet no row at all */
        format.height = gf_max(end - begin + way->spare, 1);
    *first = begin / format.height * format.height;
    Array ring = make_array(&format, in->count, way->lay_in, way->gap, way->shift, 0xFF);
    for (size_t n = 0; n < in->count; n++)
        for (size_t y = begin; y < end; y++)
            fill_row(&ring, n, y % format.height, &in->pictures[n], y);
    return ring;
}

static bool launch_rows(const Stand *stand, const Inputs *in, const Way *way, const Array *out,
                        unsigned char *to, size_t y0, size_t y1)
{
    size_t first;
    Array ring = make_ring(stand, in, way, y0, y1, &first);
    unsigned char *from = to_device(&ring);
    GfLaunch launch = {.step = stand->step,
                       .pool = stand->pool,
                       .wide = stand->wide,
                       .in = {.samples = from + ring.first,
                              .stride = ring.stride,
                              .batch = ring.batch,
                              .first = first,
                              .capacity = ring.format.height,
                              .pixel = ring.pixel,
                              .plane = ring.plane},
                       .out = {.samples = to + out->first + y0 * out->stride,
                               .stride = out->stride,
                               .batch = out->batch,
                               .pixel = out->pixel,
                               .plane = out->plane},
                       .y0 = y0,
                       .y1 = y1,
                       .count = in->count,
                       .weights = stand->weights,
                       .weights_host = stand->weights_host,
                       .factors = stand->factors,
                       .factors_host = stand->factors_host,
                       .bias = stand->bias,
                       .state = stand->state,
                       .tiling = way->tiling};
    cudaError_t error = (stand->row ? stand->row->launch : gf_launch_pool)(&launch, NULL);
    if (error != cudaErrorNotSupported)
        must_cuda(error, stand->row ? stand->row->name : "pool");
    else
        (void)cudaGetLastError();
    must_cuda(cudaDeviceSynchronize(), stand->row ? stand->row->name : "pool");
    must_cuda(cudaFree(from), "array");
    free(ring.memory);
    return error == cudaSuccess;
}

bool launch_stand(Stand *stand, const Inputs *in, const Way *way, Array *out)
{
    open_for(stand, way->tiling);
    const GfStep *last = stand->pool ? stand->pool : stand->step;
    size_t height = last->out_height, cuts = gf_min(way->cuts, height);
    unsigned char *to = to_device(out);
    bool done = true;
    for (size_t i = 0; i < cuts && done; i++)
        done = launch_rows(stand, in, way, out, to, i * height / cuts, (i + 1) * height / cuts);
    must_cuda(cudaMemcpy(out->memory, to, out->bytes, cudaMemcpyDeviceToHost), "array");
    must_cuda(cudaFree(to), "array");
    return done;
}
