/* What crosses from host C to CUDA C++: one launch of one step, and the launchers. Also read in a
 * build without CUDA, for the table of algorithms. */
#pragma once

#include "filters/border.h"
#include "filters/model.h"
#include "filters/plan.h"
#include "gpu/general_tiles.h"
#include "gpu/implicit_tiles.h"
#include "gpu/shared_tiles.h"
#include "gpu/tensor_flat_shape.h"
#include "gpu/tensor_gray_shape.h"
#include "gpu/tensor_shape.h"
#include "gpu/tiles.h"

#ifdef GPUFILTER_HAVE_CUDA
#include <cuda_runtime_api.h>
#else
typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;
#endif

/* Rows in device memory: row y is at samples + i * stride with i = y - first, less `capacity` once
 * where i >= capacity. So a ring of n rows that holds row y at slot y % n is a view whose `first`
 * is a multiple of n, at most n below every row that is read. Sample (x, c) of a row is its
 * (x * pixel + c * plane)-th: (channels, 1) where they are interleaved, (1, plane) where planar.
 * Picture n of a minibatch lies n * batch bytes further on. */
typedef struct GfRows {
    const void *samples;
    size_t stride, batch; /* bytes */
    size_t first, capacity;
    size_t pixel, plane; /* samples */
} GfRows;

/* Where output rows go: row y0 + i of picture n is at samples + i * stride + n * batch. */
typedef struct GfOutRows {
    void *samples;
    size_t stride, batch; /* bytes */
    size_t pixel, plane;  /* samples */
} GfOutRows;

/* Output rows [y0, y1) of a step, of each of `count` pictures; or, with `pool`, of the pool that
 * follows the step, whose own samples are then stored nowhere. Pointers are to device memory unless
 * told otherwise, nothing is owned; all that is host memory is read before the launcher returns.
 * Numbers of the filter are f64 when the sums are (wide), else f32. */
typedef struct GfLaunch {
    const GfStep *step; /* host */
    const GfStep *pool; /* host; the step after it, which the method pools; NULL: none */
    bool wide;          /* sums in f64 */
    GfRows in;          /* holds every row that those need, by gf_step_rows() */
    GfRows skipped;     /* of an addition: rows [y0, y1) of what step->skip reads */
    GfOutRows out;
    size_t y0, y1; /* y0 < y1 */
    size_t count;  /* pictures, 1 to 65535 */
    /* Taps, filters x depth x height x width, or, of a step of light, the tables of its curves,
     * those of red first; NULL where the step has none. */
    const void *weights;
    const void *weights_host; /* the same; host */
    const void *factors;      /* of a separable step: for each kernel its column, then its row */
    const void *factors_host; /* the same; host */
    const void *bias;         /* out_channels, or NULL */
    void *state;              /* what the method's open() made, or NULL */
    size_t tiling;            /* 0: the method's choice; i: the table's tilings[i - 1] */
} GfLaunch;

typedef cudaError_t (*GfLauncher)(const GfLaunch *launch, cudaStream_t stream);

/* Largest sides that `special` holds in registers: of banks and layers, and of one kernel on one
 * channel. Larger single kernels, and pairs in f64, go in tiles. */
enum { GF_SPECIAL_SIDE = 7, GF_SPECIAL_GRAY_SIDE = 15 };
enum { GF_SPECIAL_STRIP = 128 }; /* columns of a short strip of `special` */
/* Filters of 5 x 5 and 7 x 7 that a launch on small pictures holds (gpu/special_small.cu). */
enum { GF_SPECIAL_HELD_5 = 33, GF_SPECIAL_HELD_7 = 18 };

/* The side of the smallest square box, centred on the anchor, that holds the kernel: what `special`
 * computes banks with, zero taps filling the rest. */
static inline size_t gf_special_side(const GfLinear *linear)
{
    size_t right = linear->width - 1 - linear->anchor_x;
    size_t below = linear->height - 1 - linear->anchor_y;
    size_t x = linear->anchor_x > right ? linear->anchor_x : right;
    size_t y = linear->anchor_y > below ? linear->anchor_y : below;
    return 2 * (x > y ? x : y) + 1;
}

/* Two kernels of 3 x 3 that are differences, one across and one down, smoothed by 1, `middle`, 1 in
 * the other direction, times `unit`; either sign, either order. */
typedef struct GfGradient {
    double middle, unit;
} GfGradient;

/* Do sums in f64 roll through registers, if its kernels are taken as they come, or as products?
 * Squares of an odd side, and two only up to a smaller one. */
enum { GF_WIDE_PRODUCT = 31, GF_WIDE_PRODUCT_OF_TWO = 15 };

static inline bool gf_is_wide_square(const GfStep *step, size_t most)
{
    const GfLinear *linear = &step->linear;
    return step->in != GF_F64 && linear->width == linear->height && linear->width % 2 != 0 &&
           linear->width >= 3 && linear->width <= most;
}

static inline bool gf_special_is_wide(const GfStep *step)
{
    return gf_is_wide_square(step, GF_SPECIAL_SIDE);
}

static inline bool gf_separable_is_wide(const GfStep *step)
{
    return gf_is_wide_square(step,
                             step->linear.filters == 1 ? GF_WIDE_PRODUCT : GF_WIDE_PRODUCT_OF_TWO);
}

#ifdef __cplusplus
extern "C" {
#endif

/* The methods. A tiling that does not go with the step gives cudaErrorNotSupported, and nothing is
 * launched. */
cudaError_t gf_launch_direct(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_constant(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tiled(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_cached(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_shared(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_general(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_im2col(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_implicit(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_separable(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor(const GfLaunch *launch, cudaStream_t stream);

/* Is it a gradient whose responses to bytes are integers that f16 holds? */
bool gf_special_is_gradient(const GfLinear *linear, GfGradient *gradient);

/* Is it a step for the form of `special` for 3 x 3 on bytes, wherever its rows lie? */
bool gf_special_takes_bytes(const GfStep *step);

/* The same for its form for maps of a channel, and single kernels by the same strips. Is that the
 * fastest form? `aligned`: rows are whole vectors, and begin where those do. */
bool gf_special_takes_maps(const GfStep *step);
bool gf_special_maps_pay(const GfStep *step, bool aligned);

/* The same for its form for one small kernel on a channel of 16 bits. */
bool gf_special_takes_pairs(const GfStep *step);

/* Is what follows the sums nothing, or their size alone? */
static inline bool gf_step_ends_plainly(const GfStep *step)
{
    const bool size = step->posts == 1 && step->post[0].op == GF_POINTWISE_ABS &&
                      step->gain > 0.0 && step->mid == 0.0;
    return step->combine.op == GF_COMBINE_NONE && (step->posts == 0 || size);
}

/* The two halves of `im2col` around the matrix product. Output positions [first, first +
 * positions), counted along the rows [y0, y1) of picture n, become the columns of a row-major
 * matrix of channels * height * width rows of `positions` numbers (f64 when wide, else f32); and
 * the products, a row of `positions` numbers for each filter (of a bank: for each filter of each
 * channel), become output samples. Positions beyond the last row are columns of zeros, and no
 * output. */
cudaError_t gf_launch_unroll(const GfLaunch *launch, size_t n, size_t first, size_t positions,
                             void *matrix, cudaStream_t stream);
cudaError_t gf_launch_roll(const GfLaunch *launch, size_t n, size_t first, size_t positions,
                           const void *products, cudaStream_t stream);

/* What `im2col` keeps from launch to launch: cuBLAS and its buffers (GfAlgorithm.open, .close).
 * Errors: GF_EUNSUPPORTED where there is no cuBLAS, GF_EDEVMEM, GF_EMEMORY. */
GfStatus gf_im2col_open(const GfStep *step, bool wide, size_t tiling, void **state);
void gf_im2col_close(void *state);

/* What `tensor` keeps from launch to launch: its weights as integers. Errors: GF_EDEVMEM,
 * GF_EMEMORY. */
GfStatus gf_tensor_open(const GfStep *step, bool wide, size_t tiling, void **state);
void gf_tensor_close(void *state);

/* The steps that are no filters. */
cudaError_t gf_launch_pool(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_premultiply(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_unpremultiply(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_light(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_add(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_upsample(const GfLaunch *launch, cudaStream_t stream);

/* Is it a step for the form of `special` for single kernels that its registers have no room for, or
 * whose sums need f64? */
bool gf_special_is_tile(const GfStep *step, bool wide);

/* The forms of `special` for one small kernel on a channel of floats, for the maps of a channel,
 * for 3 x 3 on bytes, for small kernels on 16 bits, for layers of one channel on small pictures (is
 * a launch one for them?), for others and for depthwise layers, for single kernels in tiles, for
 * what is left of floats, and with the accesses of a tiling, which gf_launch_special() passes
 * on. */
bool gf_special_is_short(const GfLaunch *launch);
bool gf_special_is_maps(const GfLaunch *launch);
bool gf_special_is_bytes(const GfLaunch *launch);
bool gf_special_is_pairs(const GfLaunch *launch);
bool gf_special_is_small(const GfLaunch *launch);
cudaError_t gf_launch_special_bytes(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_pairs(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_short(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_maps(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_small(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_layer(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_depthwise(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_tile(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_floats(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_special_tiling(const GfLaunch *launch, cudaStream_t stream);

/* Sums in f64 of odd squares: the forms of `special` for small kernels and of `separable`, which
 * gf_launch_special() and gf_launch_separable() pass on. */
cudaError_t gf_launch_special_wide(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_separable_wide(const GfLaunch *launch, cudaStream_t stream);

/* The form of `separable` for little work (is a launch that?), which gf_launch_separable() passes
 * on. */
bool gf_separable_is_small(const GfLaunch *launch);
cudaError_t gf_launch_separable_small(const GfLaunch *launch, cudaStream_t stream);

/* The forms of `tensor` for banks that roll, for products of a column and a row, for larger kernels
 * and for layers, which gf_launch_tensor() passes on; and what makes a layer's weights of the taps,
 * which are f32 in device memory, on the current device's default stream. */
bool gf_tensor_rolls(const GfLaunch *launch); /* can it, and its rows begin where words do? */
cudaError_t gf_launch_tensor_rolling(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_words(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_factors(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_large(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_layer(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_first(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_pictures(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_gray(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_launch_tensor_flat(const GfLaunch *launch, cudaStream_t stream);
cudaError_t gf_split_taps(const GfStep *step, const float *taps, const GfTensorLayer *layer,
                          size_t vectors);

/* Has the current device products of groups of four warps, and this program code for them? */
bool gf_has_groups(void);

/* cudaSuccess when this program has code for the current device. */
cudaError_t gf_probe_kernels(void);

#ifdef __cplusplus
}
#endif
