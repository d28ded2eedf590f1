/* The table of convolution methods, and what each can run. */
#include "gpu/algorithms.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "gpu/enter.h"
#include "gpu/pays.h"
#include "gpu/tensor.h"

#ifdef GPUFILTER_HAVE_CUDA
#define LAUNCHER(name) name
#else
#define LAUNCHER(name) NULL
#endif

static GfStatus direct_supports(const GfStep *step, bool wide)
{
    (void)step, (void)wide;
    return GF_OK;
}

/* Do the places of all samples that windows may meet, inside and outside of the picture, fit into
 * an int with room to spare? */
static bool fits_int(const GfStep *step)
{
    const size_t most = 1 << 28;
    GfTileSize window = gf_window(step);
    return step->in_width < most && step->in_height < most && window.columns < most &&
           window.rows < most && step->out_width < most / step->stride_x &&
           step->out_height < most / step->stride_y && step->stride_x < most / 8 &&
           step->origin_x > -(ptrdiff_t)most && step->origin_x < (ptrdiff_t)most &&
           step->origin_y > -(ptrdiff_t)most && step->origin_y < (ptrdiff_t)most;
}

enum { SPECIAL_CHANNELS = 4, SPECIAL_FILTERS = 2 };

/* Is it a number of IEEE 754 binary16? */
static bool is_half(double value)
{
    int exponent;
    double mantissa = ldexp(frexp(value, &exponent), 11), steps = ldexp(value, 24);
    return fabs(value) <= 65504.0 && mantissa == nearbyint(mantissa) && steps == nearbyint(steps);
}

/* Is the border's constant a sample of the input? A row of samples has no place for others. */
static bool border_is_sample(const GfStep *step)
{
    double value = step->border_value, white = gf_sample_max(step->in);
    if (step->border != GF_BORDER_CONSTANT)
        return true;
    if (gf_sample_is_float(step->in))
        return step->in != GF_F16 || is_half(value);
    return value >= 0.0 && value <= white && value == (double)(long)value;
}

/* A zero tap makes NaN of an infinite sample: floats are multiplied by no taps that the kernel has
 * not. */
static bool fills_box(const GfStep *step)
{
    size_t side = gf_special_side(&step->linear);
    return step->linear.width == side && step->linear.height == side && !step->keep_alpha;
}

/* Windows side by side, taps side by side. */
static GfStatus need_dense(const GfStep *step, const char *method)
{
    if (gf_step_is_dense(step))
        return GF_OK;
    return gf_fail(GF_EUNSUPPORTED,
                   "%s: stride and dilation 1, not stride %zu x %zu and dilation %zu x %zu", method,
                   step->stride_x, step->stride_y, step->dilation_x, step->dilation_y);
}

/* In registers, every pixel read once. */
static GfStatus special_rolls(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    bool planar = step->in_layout == GF_PLANAR || step->out_layout == GF_PLANAR;
    const bool gray = step->channels == 1 && linear->filters == 1;
    const size_t side = gray ? GF_SPECIAL_GRAY_SIDE : GF_SPECIAL_SIDE;
    if (wide || step->in == GF_F64 || step->out == GF_F64)
        return gf_fail(GF_EUNSUPPORTED, "special: sums in f32 only, this step needs f64");
    if (gf_special_side(linear) > side)
        return gf_fail(GF_EUNSUPPORTED,
                       "special: kernels within %zu pixels of their anchor, this one is %zu x %zu",
                       side / 2, linear->width, linear->height);
    if (linear->filters > SPECIAL_FILTERS)
        return gf_fail(GF_EUNSUPPORTED, "special: banks of 1 or 2 kernels, this one has %zu",
                       linear->filters);
    if (step->bias)
        return gf_fail(GF_EUNSUPPORTED, "special: no bias after a bank");
    if (step->channels > SPECIAL_CHANNELS)
        return gf_fail(GF_EUNSUPPORTED, "special: 1 to 4 channels, this picture has %zu",
                       step->channels);
    if (step->channels > 1 && planar)
        return gf_fail(GF_EUNSUPPORTED, "special: channels interleaved, these %zu lie in planes",
                       step->channels);
    if (step->channels % 2 != 0 && step->post_channels != step->channels)
        return gf_fail(GF_EUNSUPPORTED,
                       "special: opacity is the last of 2 or 4 channels, not of %zu",
                       step->channels);
    if (gf_sample_is_float(step->in) && !fills_box(step))
        return gf_fail(GF_EUNSUPPORTED, "special: on float samples only kernels that are a square "
                                        "about their anchor, and no opacity that is copied");
    if (!border_is_sample(step))
        return gf_fail(GF_EUNSUPPORTED,
                       "special: the border's value %g is no sample of this picture",
                       step->border_value);
    return GF_OK;
}

/* Kernels that are computed in tiles. */
#define MOST_IN_TILES(wide) ((wide) ? 2u : 1u)

static GfStatus special_tiles(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    const GfSpecialTile least = {1, 4, 4};
    if (gf_special_tile_bytes(linear, wide, least) > GF_SHARED_BYTES)
        return gf_fail(GF_EUNSUPPORTED,
                       "special: %d bytes of shared memory for rows of a tile, those of %zu x %zu "
                       "take more",
                       GF_SHARED_BYTES, linear->width, linear->height);
    return GF_OK;
}

/* Is hardly anything of the square filled that registers would hold? */
static bool is_sparse(const GfLinear *linear)
{
    const size_t side = gf_special_side(linear);
    return side > GF_SPECIAL_SIDE && 4 * linear->width * linear->height < side * side;
}

bool gf_special_is_tile(const GfStep *step, bool wide)
{
    return !gf_step_is_layer(step) && step->linear.filters <= MOST_IN_TILES(wide) &&
           (special_rolls(step, wide) != GF_OK || is_sparse(&step->linear));
}

static GfStatus special_bank_supports(const GfStep *step, bool wide)
{
    if (gf_special_is_tile(step, wide) && !step->bias)
        return special_tiles(step, wide);
    return special_rolls(step, wide);
}

static GfStatus special_layer_supports(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    if (step->channels > 1)
        return gf_fail(GF_EUNSUPPORTED, "special: layers of one channel, this one has %zu",
                       step->channels);
    if (linear->width > GF_SPECIAL_SIDE || linear->height > GF_SPECIAL_SIDE)
        return gf_fail(GF_EUNSUPPORTED, "special: layers of at most %d x %d taps, not %zu x %zu",
                       GF_SPECIAL_SIDE, GF_SPECIAL_SIDE, linear->width, linear->height);
    if (step->post_channels != step->out_channels)
        return gf_fail(GF_EUNSUPPORTED, "special: no layers that make an opacity");
    if (linear->filters > INT_MAX || step->out_width > INT_MAX / 2)
        return gf_fail(GF_EUNSUPPORTED, "special: %zu maps of %zu columns are too many",
                       linear->filters, step->out_width);
    return GF_OK;
}

static GfStatus special_depthwise_supports(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const size_t stride = step->stride_x;
    if (!gf_is_usual_square(linear) || step->stride_y != stride || stride > 2 ||
        step->dilation_x > 1 || step->dilation_y > 1)
        return gf_fail(GF_EUNSUPPORTED,
                       "special: depthwise layers of 3 x 3, 5 x 5 or 7 x 7 taps, strides 1 and 2, "
                       "dilation 1");
    if (step->out_width * linear->filters > INT_MAX / step->out_height)
        return gf_fail(GF_EUNSUPPORTED, "special: depthwise layers of up to 2^31 samples");
    return GF_OK;
}

static GfStatus special_supports(const GfStep *step, bool wide)
{
    const bool layer = gf_step_is_layer(step);
    if (layer && (wide || step->in == GF_F64 || step->out == GF_F64))
        return gf_fail(GF_EUNSUPPORTED, "special: sums in f32 only, this step needs f64");
    if (layer && gf_is_depthwise(&step->linear))
        return special_depthwise_supports(step);
    GF_TRY(need_dense(step, "special"));
    if (step->in_width > (size_t)INT_MAX / 2 / step->channels)
        return gf_fail(GF_EUNSUPPORTED, "special: rows of %zu pixels are too long", step->in_width);
    return layer ? special_layer_supports(step) : special_bank_supports(step, wide);
}

/* Layers write, instead of their maps, the maxima or means of windows of 2 x 2 samples side by
 * side, all of them on the map, and nothing done to them but the store. */
static bool special_pools(const GfStep *step, const GfStep *pool)
{
    if (!gf_step_is_layer(step) || step->channels > 1 || step->out != GF_F32 ||
        pool->kind != GF_STEP_POOL)
        return false;
    const bool windows = pool->pool.width == 2 && pool->pool.height == 2 && pool->stride_x == 2 &&
                         pool->stride_y == 2 && pool->dilation_x == 1 && pool->dilation_y == 1;
    const bool inside = pool->origin_x == 0 && pool->origin_y == 0 &&
                        2 * pool->out_width <= pool->in_width &&
                        2 * pool->out_height <= pool->in_height;
    const bool plain = !pool->bias && pool->posts == 0 && pool->gain == 1.0 && pool->mid == 0.0;
    return windows && inside && plain && pool->out != GF_F64 &&
           (pool->pool.op == GF_POOL_MAX || pool->pool.op == GF_POOL_AVERAGE);
}

#define BLOCK_NAME(columns, rows) #columns "x" #rows,
static const char *const special_tilings[] = {GF_SPECIAL_ACCESSES,
                                              GF_SPECIAL_BLOCKS(BLOCK_NAME) GF_SPECIAL_TILES, NULL};
#undef BLOCK_NAME

enum { SEPARABLE_FILTERS = 2 };

static const char *const separable_tilings[] = {GF_SEPARABLE_WAYS, NULL};

static GfStatus separable_supports(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    if (!step->separable || gf_step_is_layer(step))
        return gf_fail(GF_EUNSUPPORTED, "separable: banks of kernels that are products of a column "
                                        "and a row, these are not");
    GF_TRY(need_dense(step, "separable"));
    if (linear->filters > SEPARABLE_FILTERS)
        return gf_fail(GF_EUNSUPPORTED, "separable: banks of 1 or 2 kernels, this one has %zu",
                       linear->filters);
    if (step->bias)
        return gf_fail(GF_EUNSUPPORTED, "separable: no bias after a bank");
    size_t bytes = gf_separable_bytes(linear, wide, GF_SEPARABLE_STRIP, GF_SEPARABLE_STEP);
    if (bytes > GF_SHARED_BYTES)
        return gf_fail(GF_EUNSUPPORTED,
                       "separable: %d bytes of shared memory, %zu kernels of %zu x %zu need %zu",
                       GF_SHARED_BYTES, linear->filters, linear->width, linear->height, bytes);
    if (step->in_width > INT_MAX / 2 || step->channels > INT_MAX / 2)
        return gf_fail(GF_EUNSUPPORTED,
                       "separable: rows of %zu pixels of %zu channels are too long", step->in_width,
                       step->channels);
    return GF_OK;
}

enum { TENSOR_CHANNELS = 4 };

/* Has the smallest tile of a layer that is not flat room in shared memory: 4 rows of 64 maps, or 8
 * of 32, by four warps? */
static bool fits_tensor_tile(const GfStep *step)
{
    const size_t rows = step->linear.filters / step->linear.groups > 32 ? 4 : 8;
    return gf_tensor_tile(step, rows, 4).bytes <= GF_SHARED_BYTES;
}

/* Has a tile of the layer room in shared memory? `flat`: it is computed as a line, which has. */
static GfStatus need_room(const GfStep *step, bool flat)
{
    if (gf_tensor_is_first(step) || flat || fits_tensor_tile(step))
        return GF_OK;
    return gf_fail(GF_EUNSUPPORTED,
                   "tensor: %d bytes of shared memory for the windows of a tile, these "
                   "(%zu x %zu, stride %zu x %zu) take more",
                   GF_SHARED_BYTES, step->linear.width, step->linear.height, step->stride_x,
                   step->stride_y);
}

static GfStatus tensor_layer_supports(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    if (wide || step->in == GF_F64 || step->out == GF_F64)
        return gf_fail(GF_EUNSUPPORTED, "tensor: sums in f32 only, this step needs f64");
    if (!gf_tensor_is_first(step) && step->out != GF_F32)
        return gf_fail(GF_EUNSUPPORTED,
                       "tensor: maps of f32; others of layers on up to %d channels, "
                       "with kernels of up to %d rows",
                       GF_FIRST_CHANNELS, GF_FIRST_MOST_SIDE);
    GF_TRY(need_room(step, gf_tensor_is_flat(step)));
    if (gf_linear_taps(linear) > INT_MAX / 16 || !fits_int(step))
        return gf_fail(GF_EUNSUPPORTED,
                       "tensor: filters within 2^27 taps and pictures within 2^28 pixels");
    return GF_OK;
}

static GfStatus tensor_supports(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    bool planar = step->in_layout == GF_PLANAR || step->out_layout == GF_PLANAR;
    if (gf_step_is_layer(step))
        return tensor_layer_supports(step, wide);
    if ((step->in != GF_U8 && step->in != GF_U16) || step->out == GF_F64)
        return gf_fail(GF_EUNSUPPORTED, "tensor: samples of 8 or 16 bits, sums in f32");
    if (wide && !gf_tensor_is_exact(step))
        return gf_fail(GF_EUNSUPPORTED, "tensor: sums in f32 only, this step needs f64");
    GF_TRY(need_dense(step, "tensor"));
    if (step->channels > TENSOR_CHANNELS || (step->channels > 1 && planar))
        return gf_fail(GF_EUNSUPPORTED, "tensor: 1 to %d channels, interleaved", TENSOR_CHANNELS);
    if (step->channels == 3 && step->post_channels != 3)
        return gf_fail(GF_EUNSUPPORTED, "tensor: opacity is the last of 2 or 4 channels, not of 3");
    if (!border_is_sample(step))
        return gf_fail(GF_EUNSUPPORTED,
                       "tensor: the border's value %g is no sample of this picture",
                       step->border_value);
    if (step->in_width > (size_t)INT_MAX / 2 / step->channels)
        return gf_fail(GF_EUNSUPPORTED, "tensor: rows of %zu pixels are too long", step->in_width);
    if (linear->filters > GF_TENSOR_FILTERS || step->bias)
        return gf_fail(GF_EUNSUPPORTED, "tensor: banks of 1 or 2 kernels, without bias");
    if (linear->filters > 1 && step->keep_alpha)
        return gf_fail(GF_EUNSUPPORTED, "tensor: no opacity that is copied beside two kernels");
    return gf_tensor_supports_kernels(step);
}

static GfStatus tensor_runs_on(const GfStep *step, const GfCard *card)
{
    enum { LEAST = 80 };
    if (card->capability < LEAST)
        return gf_fail(GF_EUNSUPPORTED,
                       "tensor: a GPU of compute capability %d.%d, this one has %d.%d", LEAST / 10,
                       LEAST % 10, card->capability / 10, card->capability % 10);
    if (!gf_step_is_layer(step))
        return GF_OK;
    return need_room(step, card->groups && gf_tensor_is_flat(step));
}

static bool tensor_enters(const GfStep *entry, const GfStep *layer)
{
    GfStep step = *layer;
    step.linear.depth = entry->linear.depth;
    return gf_can_enter(entry, layer) && gf_tensor_is_first(&step);
}

static const char *const tensor_tilings[] = {
#define NAME(maps, pixels, rows, blocks) "m" #maps "p" #pixels "r" #rows,
#define FLAT_NAME(runs, positions)       "f" #runs "x" #positions,
#define FEW_NAME(groups, runs)           "c" #groups "x" #runs,
#define FIRST_NAME(units)                "x" #units,
    GF_TENSOR_TILES(NAME) GF_FLAT_TILES(FLAT_NAME) GF_FEW_TILES(FEW_NAME)
        GF_FIRST_TILES(FIRST_NAME) "rolling",
    "wide", "gray", NULL
#undef NAME
#undef FLAT_NAME
#undef FEW_NAME
#undef FIRST_NAME
};

static GfStatus general_supports(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    if (!gf_step_is_layer(step))
        return gf_fail(GF_EUNSUPPORTED, "general: layers, which mix channels; no banks");
    if (wide)
        return gf_fail(GF_EUNSUPPORTED, "general: sums in f32 only, this step needs f64");
    if (gf_general_bytes(step) > GF_SHARED_BYTES)
        return gf_fail(GF_EUNSUPPORTED,
                       "general: %d bytes of shared memory for a channel's windows and taps, these "
                       "(%zu x %zu, stride %zu x %zu) take more",
                       GF_SHARED_BYTES, linear->width, linear->height, step->stride_x,
                       step->stride_y);
    if (gf_linear_taps(linear) > INT_MAX / 16 || !fits_int(step))
        return gf_fail(GF_EUNSUPPORTED,
                       "general: filters within 2^27 taps and pictures within 2^28 pixels");
    return GF_OK;
}

static const char *const general_tilings[] = {"paper",
#define NAME(columns, rows, maps, pixels, thread_maps, teams, blocks)                              \
    "w" #columns "h" #rows "f" #maps "t" #pixels "x" #thread_maps "s" #teams,
                                              GF_GENERAL_TILES(NAME) NULL
#undef NAME
};

static GfStatus implicit_supports(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    (void)wide;
    if (!gf_step_is_layer(step) && linear->filters > 1)
        return gf_fail(GF_EUNSUPPORTED, "implicit: banks of one kernel, this one has %zu",
                       linear->filters);
    if (step->combine.op != GF_COMBINE_NONE)
        return gf_fail(GF_EUNSUPPORTED, "implicit: no bank whose responses are combined");
    if (step->keep_alpha)
        return gf_fail(GF_EUNSUPPORTED, "implicit: no opacity that is copied");
    if (gf_linear_taps(linear) > INT_MAX / 16)
        return gf_fail(GF_EUNSUPPORTED, "implicit: at most %d taps a filter, these have %zu",
                       INT_MAX / 16, gf_linear_taps(linear));
    if (!fits_int(step))
        return gf_fail(GF_EUNSUPPORTED,
                       "implicit: pictures and windows within 2^28 pixels, these are %zu x %zu and "
                       "%zu x %zu apart",
                       step->in_width, step->in_height, step->stride_x, step->stride_y);
    return GF_OK;
}

static const char *const implicit_tilings[] = {
#define NAME(maps, positions, thread_maps, thread_positions, teams, blocks)                        \
#maps "x" #positions "x" #teams,
    GF_IMPLICIT_TILES(NAME) NULL
#undef NAME
};

static GfStatus im2col_supports(const GfStep *step, bool wide)
{
    (void)wide;
    if (gf_linear_taps(&step->linear) > INT_MAX || step->linear.filters > INT_MAX)
        return gf_fail(GF_EUNSUPPORTED,
                       "im2col: matrices of at most %d rows, these filters are %zu x %zu taps",
                       INT_MAX, step->linear.filters, gf_linear_taps(&step->linear));
    return GF_OK;
}

/* ---- methods that keep taps in constant memory, or tiles in shared memory ---- */

#define TILE_NAME(columns, rows) #columns "x" #rows,
static const char *const tile_names[] = {GF_TILE_SIZES(TILE_NAME) NULL};
#undef TILE_NAME

static GfStatus constant_supports(const GfStep *step, bool wide)
{
    size_t bytes = gf_taps_bytes(step, wide);
    if (bytes > GF_CONSTANT_BYTES)
        return gf_fail(
            GF_EUNSUPPORTED, "constant: at most %d bytes of taps, these %zu x %zu take %zu",
            GF_CONSTANT_BYTES, step->linear.filters, gf_linear_taps(&step->linear), bytes);
    return GF_OK;
}

static GfStatus tiled_supports(const GfStep *step, bool wide)
{
    GfTileSize window = gf_window(step);
    (void)wide;
    for (size_t i = 0; gf_tile_size(i).columns > 0; i++)
        if (window.columns <= gf_tile_size(i).columns && window.rows <= gf_tile_size(i).rows)
            return GF_OK;
    return gf_fail(GF_EUNSUPPORTED,
                   "tiled: windows within a tile of 32 x 32 or 64 x 8 samples, these are %zu x %zu",
                   window.columns, window.rows);
}

/* Does the smallest tile, the first of the list, fit into shared memory? */
static GfStatus cached_supports(const GfStep *step, bool wide)
{
    GfTileSize tile = gf_tile_size(0);
    if (gf_cached_bytes(step, wide, tile) > GF_SHARED_BYTES)
        return gf_fail(GF_EUNSUPPORTED,
                       "cached: a tile of %zu x %zu with a stride of %zu x %zu is beyond %d bytes",
                       tile.columns, tile.rows, step->stride_x, step->stride_y, GF_SHARED_BYTES);
    return GF_OK;
}

static GfStatus shared_supports(const GfStep *step, bool wide)
{
    GfTileSize tile = gf_tile_size(0), input = gf_shared_input(step, tile);
    if (gf_shared_bytes(step, wide, tile, 1) > GF_SHARED_BYTES)
        return gf_fail(GF_EUNSUPPORTED,
                       "shared: %zu x %zu samples for a tile of %zu x %zu, and %zu x %zu taps, are "
                       "beyond %d bytes",
                       input.columns, input.rows, tile.columns, tile.rows, step->linear.width,
                       step->linear.height, GF_SHARED_BYTES);
    return GF_OK;
}

const GfAlgorithm gf_algorithms[] = {
    {.name = "special",
     .summary = "rows roll through registers; kernels up to 7 x 7, on one channel 15 x 15; larger "
                "ones in tiles",
     .source = "Chen et al., DAC 2017, algorithm 1",
     .supports = special_supports,
     .pays = gf_special_pays,
     .pools = special_pools,
     .launch = LAUNCHER(gf_launch_special),
     .tilings = special_tilings},
    {.name = "separable",
     .summary = "a row pass and a column pass in one kernel, for kernels that are products",
     .source = "beyond the sources",
     .supports = separable_supports,
     .launch = LAUNCHER(gf_launch_separable),
     .tilings = separable_tilings},
    {.name = "tensor",
     .summary = "products of matrices on tensor cores: of bytes or halves for pictures of 8 and 16 "
                "bits, of halves for layers",
     .source = "beyond the sources",
     .supports = tensor_supports,
     .pays = gf_tensor_pays,
     .enters = tensor_enters,
     .runs_on = tensor_runs_on,
     .launch = LAUNCHER(gf_launch_tensor),
     .tilings = tensor_tilings,
     .open = LAUNCHER(gf_tensor_open),
     .close = LAUNCHER(gf_tensor_close)},
    {.name = "direct",
     .summary = "a thread an output sample; runs every step",
     .source = "Hwu, Kirk, El Hajj, PMPP, 16.3",
     .supports = direct_supports,
     .launch = LAUNCHER(gf_launch_direct)},
    {.name = "constant",
     .summary = "as direct, with the taps in constant memory",
     .source = "Hwu, Kirk, El Hajj, PMPP, 7.3",
     .supports = constant_supports,
     .launch = LAUNCHER(gf_launch_constant)},
    {.name = "tiled",
     .summary = "a thread a sample of the input tile, which is in shared memory with its halo",
     .source = "Hwu, Kirk, El Hajj, PMPP, 7.4",
     .supports = tiled_supports,
     .launch = LAUNCHER(gf_launch_tiled),
     .tilings = tile_names},
    {.name = "cached",
     .summary = "a thread a sample of the output tile; the halo is read through the caches",
     .source = "Hwu, Kirk, El Hajj, PMPP, 7.5",
     .supports = cached_supports,
     .launch = LAUNCHER(gf_launch_cached),
     .tilings = tile_names},
    {.name = "shared",
     .summary = "tile and halo in shared memory, loaded channel by channel; four maps a thread",
     .source = "basic-cuda-tutorial, 06",
     .supports = shared_supports,
     .launch = LAUNCHER(gf_launch_shared),
     .tilings = tile_names},
    {.name = "general",
     .summary = "channels staged in shared memory, rows in registers; layers of many channels",
     .source = "Chen et al., DAC 2017, algorithm 2",
     .supports = general_supports,
     .pays = gf_general_pays,
     .launch = LAUNCHER(gf_launch_general),
     .tilings = general_tilings},
    {.name = "implicit",
     .summary = "the product of im2col, its matrix made in tiles on the chip",
     .source = "Hwu, Kirk, El Hajj, PMPP, 16.4",
     .supports = implicit_supports,
     .pays = gf_implicit_pays,
     .launch = LAUNCHER(gf_launch_implicit),
     .tilings = implicit_tilings},
    {.name = "im2col",
     .summary = "windows unrolled into a matrix, times the filters by cuBLAS",
     .source = "Hwu, Kirk, El Hajj, PMPP, 16.4",
     .supports = im2col_supports,
     .launch = LAUNCHER(gf_launch_im2col),
     .open = LAUNCHER(gf_im2col_open),
     .close = LAUNCHER(gf_im2col_close)},
    {0}};

const GfAlgorithm *gf_algorithm_find(const char *name)
{
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* What `auto` tries, one after the other; `direct` takes every step. */
static const char *const for_banks[] = {"tensor", "special", "separable", "shared", "direct"};
static const char *const for_layers[] = {"tensor",   "special", "general",
                                         "implicit", "shared",  "direct"};

GfStatus gf_algorithm_runs(const GfAlgorithm *row, const GfStep *step, bool wide,
                           const GfCard *card)
{
    GF_TRY(row->supports(step, wide));
    return row->runs_on ? row->runs_on(step, card) : GF_OK;
}

static bool is_chosen(const GfAlgorithm *row, const GfStep *step, const GfUse *use,
                      const GfCard *card)
{
    return gf_algorithm_runs(row, step, use->wide, card) == GF_OK &&
           (!row->pays || row->pays(step, use, card));
}

const GfAlgorithm *gf_algorithm_choose(const GfStep *step, const GfStep *next, const GfUse *use,
                                       const GfCard *card)
{
    const char *const *name = gf_step_is_layer(step) ? for_layers : for_banks;
    /* What is pooled at once is not written: that outweighs a faster layer. */
    for (const GfAlgorithm *row = gf_algorithms; next && row->name; row++)
        if (row->pools && is_chosen(row, step, use, card) && row->pools(step, next))
            return row;
    while (!is_chosen(gf_algorithm_find(*name), step, use, card))
        name++;
    return gf_algorithm_find(*name);
}
