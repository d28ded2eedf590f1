/* Windows are products of two directions, so every count of loads is a sum over columns times a sum
 * over rows. Positions outside the picture are loads only where the border's rule maps them to
 * samples; where it says a constant there is nothing to load. */
#include "filters/model.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* One direction of the windows' way over the picture. */
typedef struct Axis {
    size_t in, out, taps, stride, dilation;
    ptrdiff_t origin;
    bool skips; /* what lies outside is not loaded */
} Axis;

/* A step in the counts that the methods have in common. */
typedef struct Count {
    Axis x, y;
    double positions; /* of one output channel */
    double depth;     /* channels that one sum spans */
    double sums;      /* responses of an output sample: the kernels of a bank, 1 of a layer */
    double made;      /* output channels that are computed */
    double kept;      /* samples that are only moved: opacities */
    double kernels;   /* weights of all kernels */
    size_t groups, maps_per_group; /* of a layer; of a bank each channel is a group of one map */
} Count;

static Count count_step(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    bool layer = gf_step_is_layer(step), skips = step->border == GF_BORDER_CONSTANT;
    Count count = {.x = {step->in_width, step->out_width, step->taps_x, step->stride_x,
                         step->dilation_x, step->origin_x, skips},
                   .y = {step->in_height, step->out_height, step->taps_y, step->stride_y,
                         step->dilation_y, step->origin_y, skips},
                   .positions = (double)step->out_width * (double)step->out_height,
                   .depth = layer ? (double)linear->depth : 1.0,
                   .sums = layer || linear->filters == 0 ? 1.0 : (double)linear->filters,
                   .kernels = (double)linear->filters * (double)gf_linear_taps(linear)};
    count.made = (double)step->out_channels - (step->keep_alpha ? 1.0 : 0.0);
    count.kept = step->keep_alpha ? count.positions : 0.0;
    count.groups = layer ? linear->groups : (size_t)count.made;
    count.maps_per_group = layer ? linear->filters / linear->groups : 1;
    return count;
}

/* Input positions from the first to the last that `outputs` neighbouring outputs need. */
static size_t reach(const Axis *axis, size_t outputs)
{
    return (outputs - 1) * axis->stride + (axis->taps - 1) * axis->dilation + 1;
}

/* How many of `length` neighbouring positions from `first` on are loads. */
static double loads_of(const Axis *axis, ptrdiff_t first, size_t length)
{
    ptrdiff_t last = first + (ptrdiff_t)length, in = (ptrdiff_t)axis->in;
    if (!axis->skips)
        return (double)length;
    first = first < 0 ? 0 : first;
    last = last > in ? in : last;
    return first < last ? (double)(last - first) : 0.0;
}

static ptrdiff_t position(const Axis *axis, size_t output)
{
    return (ptrdiff_t)(output * axis->stride) + axis->origin;
}

/* Loads when every tap of every output is one. */
static double tap_loads(const Axis *axis)
{
    double sum = 0.0;
    if (!axis->skips)
        return (double)axis->out * (double)axis->taps;
    for (size_t o = 0; o < axis->out; o++)
        for (size_t k = 0; k < axis->taps; k++)
            sum += loads_of(axis, position(axis, o) + (ptrdiff_t)(k * axis->dilation), 1);
    return sum;
}

/* Loads when runs of `tile` outputs share theirs. */
static double window_loads(const Axis *axis, size_t tile)
{
    double sum = 0.0;
    for (size_t o = 0; o < axis->out; o += tile)
        sum += loads_of(axis, position(axis, o), reach(axis, gf_min(tile, axis->out - o)));
    return sum;
}

/* The first sample of a tile's inner part, which lies under the middles of the windows of the
 * outputs from `o` on, and is as many samples as they step over. */
static ptrdiff_t inner_part(const Axis *axis, size_t o)
{
    return position(axis, o) + (ptrdiff_t)(axis->taps / 2 * axis->dilation);
}

/* Loads of the inner parts. */
static double inner_loads(const Axis *axis, size_t tile)
{
    double sum = 0.0;
    for (size_t o = 0; o < axis->out; o += tile)
        sum += loads_of(axis, inner_part(axis, o), tile * axis->stride);
    return sum;
}

/* Taps that fall on them. */
static double inner_taps(const Axis *axis, size_t tile)
{
    double sum = 0.0;
    for (size_t o = 0; o < axis->out; o++)
        for (size_t k = 0; k < axis->taps; k++) {
            ptrdiff_t tap = position(axis, o) + (ptrdiff_t)(k * axis->dilation);
            ptrdiff_t inner = inner_part(axis, o / tile * tile);
            if (tap >= inner && tap < inner + (ptrdiff_t)(tile * axis->stride))
                sum += loads_of(axis, tap, 1);
        }
    return sum;
}

static double tiles_of(double count, size_t tile)
{
    return ceil(count / (double)tile);
}

/* Blocks of maps that load the same samples again, over all groups. */
static double map_blocks(const Count *count, size_t maps)
{
    return (double)count->groups * tiles_of((double)count->maps_per_group, maps);
}

/* Taps of all sums, as the definition makes them. */
static double all_taps(const Count *count)
{
    return (double)count->x.taps * (double)count->y.taps * count->depth * count->sums *
           count->made * count->positions;
}

/* The operations that are needed: two for a tap of a filter, one for a pool's, two for a colour
 * that is multiplied by its opacity. */
static double operations(const GfStep *step, const Count *count)
{
    double two_passes = ((double)count->x.taps + (double)count->y.taps) /
                        ((double)count->x.taps * (double)count->y.taps);
    switch (step->kind) {
    case GF_STEP_FILTER:
        return 2.0 * all_taps(count) * (step->separable ? two_passes : 1.0);
    case GF_STEP_POOL:
        return all_taps(count);
    case GF_STEP_ADD:
        return count->made * count->positions;
    case GF_STEP_UPSAMPLE:
        return 0.0;
    case GF_STEP_PREMULTIPLY:
    case GF_STEP_UNPREMULTIPLY:
        break;
    }
    return 2.0 * (count->made - 1.0) * count->positions;
}

/* ---- the methods ---- */

/* A thread an output sample, every tap a load. */
static bool count_taps(const Count *count, const GfTile *tile, GfWork *work)
{
    (void)tile;
    work->samples =
        tap_loads(&count->x) * tap_loads(&count->y) * count->depth * count->sums * count->made +
        count->kept;
    return true;
}

/* The same, with a weight loaded for each tap. */
static bool count_direct(const Count *count, const GfTile *tile, GfWork *work)
{
    work->weights = all_taps(count);
    return count_taps(count, tile, work);
}

/* A block's window of each channel is loaded once for all its maps. */
static bool count_windows(const Count *count, const GfTile *tile, GfWork *work)
{
    work->samples = window_loads(&count->x, tile->width) * window_loads(&count->y, tile->height) *
                        count->depth * map_blocks(count, tile->maps) +
                    count->kept;
    return true;
}

/* Output samples of a side of a block of `tiled`, which is as large as its window. */
static size_t tiled_side(const Axis *axis, size_t block)
{
    return block < reach(axis, 1) ? 0 : (block - reach(axis, 1)) / axis->stride + 1;
}

static bool count_tiled(const Count *count, const GfTile *tile, GfWork *work)
{
    GfTile out = {tiled_side(&count->x, tile->width), tiled_side(&count->y, tile->height),
                  tile->maps};
    return out.width && out.height && count_windows(count, &out, work);
}

/* The inner part of a window is loaded once, taps on the halo are loads of their own. */
static bool count_cached(const Count *count, const GfTile *tile, GfWork *work)
{
    double inner = inner_loads(&count->x, tile->width) * inner_loads(&count->y, tile->height);
    double served = inner_taps(&count->x, tile->width) * inner_taps(&count->y, tile->height);
    double taps = tap_loads(&count->x) * tap_loads(&count->y);
    work->samples =
        count->depth * count->made * (inner + count->sums * (taps - served)) + count->kept;
    return true;
}

/* Windows, and the filters of the block's maps staged with them. */
static bool count_staged(const Count *count, const GfTile *tile, GfWork *work)
{
    double blocks =
        tiles_of((double)count->x.out, tile->width) * tiles_of((double)count->y.out, tile->height);
    work->weights = blocks * count->kernels;
    return count_windows(count, tile, work);
}

/* The unrolled matrix is written and read, and the product too. */
static bool count_unrolled(const Count *count, const GfTile *tile, GfWork *work)
{
    double channels = count->depth * (double)count->groups;
    double rows = (double)count->x.taps * (double)count->y.taps * channels;
    (void)tile;
    work->samples = tap_loads(&count->x) * tap_loads(&count->y) * channels + count->kept;
    work->scratch = (rows + count->sums * count->made) * count->positions;
    work->weights = count->kernels;
    return true;
}

/* Tiles of that matrix are made on the chip: each block of maps loads the samples again, each block
 * of positions the weights. */
static bool count_implicit(const Count *count, const GfTile *tile, GfWork *work)
{
    work->samples =
        tap_loads(&count->x) * tap_loads(&count->y) * count->depth * map_blocks(count, tile->maps) +
        count->kept;
    work->weights = count->kernels * tiles_of(count->positions, tile->width * tile->height);
    return true;
}

/* Every colour sample with its opacity. */
static bool count_opacity(const Count *count, const GfTile *tile, GfWork *work)
{
    (void)tile;
    work->samples = (2.0 * count->made - 1.0) * count->positions;
    return true;
}

static const struct Model {
    const char *name;
    bool (*count)(const Count *count, const GfTile *tile, GfWork *work);
    GfTile tile;
} models[] = {{"direct", count_direct, {1, 1, 1}},
              {"constant", count_taps, {1, 1, 1}},
              {"tiled", count_tiled, {32, 32, 1}},
              {"cached", count_cached, {32, 32, 1}},
              {"shared", count_staged, {32, 32, 4}},
              {"special", count_windows, {512, 32, SIZE_MAX}},
              {"general", count_staged, {1, 1, 1}}, /* see general_tile() */
              {"im2col", count_unrolled, {1, 1, 1}},
              {"implicit", count_implicit, {128, 1, 128}},
              {"separable", count_windows, {128, 64, 1}},
              {"tensor", count_windows, {128, 64, SIZE_MAX}},
              {"pool", count_taps, {1, 1, 1}},
              {"opacity", count_opacity, {1, 1, 1}}};

static const struct Model *find_model(const char *method)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, method) == 0)
            return &models[i];
    return NULL;
}

/* Chen et al., table 1. */
static GfTile general_tile(const GfStep *step)
{
    size_t side = gf_max(step->taps_x, step->taps_y);
    if (side <= 3)
        return (GfTile){32, 4, 64};
    return side <= 5 ? (GfTile){32, 8, 32} : (GfTile){64, 4, 32};
}

/* Up to 7 x 7 taps on a channel of floats: `special` reads short strips at once. */
static bool is_short(const GfStep *step)
{
    return step->in == GF_F32 && step->channels == 1 && gf_max(step->taps_x, step->taps_y) <= 7 &&
           (step->linear.filters == 1 || gf_step_is_layer(step));
}

/* Up to 9 x 9 on a small picture's only channel, of any samples: shorter ones yet, four of which
 * are a block. */
static bool is_small(const GfStep *step)
{
    return step->channels == 1 && step->out_width * step->out_height < 1 << 20 &&
           gf_max(step->taps_x, step->taps_y) <= 9 && step->linear.filters == 1 &&
           !gf_step_is_layer(step);
}

/* One kernel of 3 x 3 on a channel of bytes: it reads strips of 512 x 8. */
static bool is_short_of_bytes(const GfStep *step)
{
    return step->in == GF_U8 && step->out == GF_U8 && step->channels == 1 &&
           !gf_step_is_layer(step) && step->linear.filters == 1 && step->taps_x == 3 &&
           step->taps_y == 3;
}

/* Products on little: `separable` makes tiles instead of strips. */
static bool is_tiled(const GfStep *step, bool wide)
{
    return gf_max(step->taps_x, step->taps_y) <= GF_SEPARABLE_TILED &&
           step->out_width * step->out_height <= gf_separable_few(step, wide) / step->channels;
}

GfTile gf_model_tile(const char *method, const GfStep *step, bool wide)
{
    const struct Model *model = find_model(method);
    if (!model)
        return (GfTile){1, 1, 1};
    if (strcmp(method, "general") == 0)
        return general_tile(step);
    if (strcmp(method, "separable") == 0 && is_tiled(step, wide))
        return (GfTile){16, 16, 1};
    if (strcmp(method, "special") == 0 && is_small(step))
        return (GfTile){128, 16, 1};
    if (strcmp(method, "special") == 0 && is_short(step))
        return (GfTile){128, step->linear.filters == 1 ? 8 : 16, SIZE_MAX};
    if (strcmp(method, "special") == 0 && is_short_of_bytes(step))
        return (GfTile){512, 8, 1};
    if (strcmp(method, "special") == 0 && gf_step_is_layer(step))
        return (GfTile){128, 64, SIZE_MAX};
    return model->tile;
}

double gf_model_tiles(const char *method, const GfStep *step, const GfTile *tile)
{
    Count count = count_step(step);
    size_t width = tile->width, height = tile->height;
    if (strcmp(method, "tiled") == 0) {
        width = tiled_side(&count.x, width);
        height = tiled_side(&count.y, height);
    }
    return tiles_of((double)count.x.out, width) * tiles_of((double)count.y.out, height);
}

/* Bytes of all that is counted. */
static void add_bytes(const GfStep *step, bool wide, GfWork *work)
{
    double number = wide ? sizeof(double) : sizeof(float);
    work->loaded =
        work->samples * (double)gf_sample_size(step->in) + (work->weights + work->scratch) * number;
    work->stored = work->outputs * (double)gf_sample_size(step->out) + work->scratch * number;
}

static GfWork begin_work(const GfStep *step, const Count *count)
{
    return (GfWork){.operations = operations(step, count),
                    .outputs = (double)step->out_channels * count->positions};
}

bool gf_model_work(const char *method, const GfStep *step, bool wide, const GfTile *tile,
                   GfWork *work)
{
    const struct Model *model = find_model(method);
    Count count = count_step(step);
    *work = begin_work(step, &count);
    /* Only that method makes two passes of a kernel that allows them. */
    if (step->kind == GF_STEP_FILTER && strcmp(method, "separable") != 0)
        work->operations = 2.0 * all_taps(&count);
    if (!model || !model->count(&count, tile, work)) {
        *work = (GfWork){0};
        return false;
    }
    add_bytes(step, wide, work);
    return true;
}

GfWork gf_model_least(const GfStep *step, bool wide)
{
    Count count = count_step(step);
    GfWork work = begin_work(step, &count);
    work.samples = (double)step->in_width * (double)step->in_height * (double)step->channels;
    work.weights = count.kernels;
    if (step->separable)
        work.weights = (double)(step->linear.filters * (step->linear.width + step->linear.height));
    add_bytes(step, wide, &work);
    if (step->kind == GF_STEP_ADD && (step->skip_gain != 0.0 || step->keep_alpha))
        work.loaded += (double)step->in_width * (double)step->in_height *
                       (double)step->skip_channels * (double)gf_sample_size(step->skip_in);
    return work;
}

double gf_work_intensity(const GfWork *work)
{
    return work->operations / work->loaded;
}

double gf_model_expansion(const GfStep *step)
{
    Count count = count_step(step);
    return (double)count.x.taps * (double)count.y.taps * count.positions /
           ((double)step->in_width * (double)step->in_height);
}

double gf_model_floor(double operations, double bytes, double flops, double bandwidth)
{
    double compute = flops > 0.0 ? operations / flops : 0.0;
    double move = bandwidth > 0.0 ? bytes / bandwidth : 0.0;
    return fmax(compute, move);
}
