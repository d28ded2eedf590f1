/* What host and kernels both know of the forms of `tensor`: how steps become products of matrices,
 * and where the numbers of these lie. */
#pragma once

#include "gpu/tiles.h"

/* ---- how `tensor` computes a step ---- */

/* A tensor core multiplies a matrix of bytes by one of signed bytes and adds up exactly. So weights
 * become integers, weight = unit * sum over p of 256^p * digit p, each digit a plane of its own:
 * one plane where the weights are small integers times a unit (those of all classic kernels), else
 * three, of 23 bits and a sign.
 *
 * 16 blocks of 8 neighbouring samples are the rows of the first matrix, and its columns the input
 * bytes that such a block needs; the second matrix has a column for each of the 8 samples, the
 * kernel shifted down by as many places. A lane of a warp holds whole words of both. Of an input
 * row a block needs `groups` times 16 bytes, which begin `first_word` words from its own first.
 *
 * Blocks of RGB for which that is too wide are 8 neighbouring pixels of one channel: all of this is
 * then as for a picture of one channel, and each channel's bytes are picked out on the device.
 *
 * A sample of 16 bits is two bytes, lower + 256 * upper. What a plane's digit makes with upper
 * bytes belongs to what the next one's makes with lower ones: so of each plane of the matrix the
 * rows of lower bytes have digit p and those of upper bytes digit p - 1, and there is a plane more
 * than digits. What the last digit makes with lower bytes is left out where that is not seen. */
enum {
    GF_TENSOR_FILTERS = 2,
    GF_TENSOR_PLANES = 3,
    GF_TENSOR_SIDE = 15,   /* rows of a kernel, */
    GF_TENSOR_SIDE_16 = 9, /* and on samples of 16 bits */
    GF_TENSOR_GROUPS = 2,  /* of 16 bytes */
    GF_TENSOR_LANES = 32,
    /* sums of digits times bytes that a float holds beside GF_TENSOR_START */
    GF_TENSOR_MOST_SUM = 1 << 22,
    /* Sums begin with it: as a float's bits it is 1.5 * 2^23, and the integers around it follow. */
    GF_TENSOR_START = 0x4B400000,
    GF_TENSOR_WORDS = GF_TENSOR_FILTERS * GF_TENSOR_PLANES * GF_TENSOR_SIDE * 2 * GF_TENSOR_LANES
};

/* A kernel that is a product of a column and a row goes in two products of numbers of f16, weights
 * being the sum of two of them, of 22 bits. In the first, the first matrix is the row, shifted for
 * each of 16 neighbouring samples, and the second the bytes of 8 input rows, `groups` times 16 of
 * each, as f16, byte times 2^-24. Its sums are the first matrix of the second product, in which the
 * second is the column, shifted for each of 8 output rows: `height` blocks of 8 rows. */
enum {
    GF_FACTORS_RUN = 16,
    GF_FACTORS_ROWS = 8,
    GF_FACTORS_PLANES = 2,
    GF_FACTORS_STEPS = 7,
    GF_FACTORS_BLOCKS = 5
};

typedef struct GfTensor {
    bool factors; /* a product of a column and a row, see below */
    size_t filters, planes, groups;
    size_t bytes;    /* of a sample */
    bool by_channel; /* of RGB; one kernel, in two groups, of 9 rows or more; on 16 bits of 5 */
    size_t height;   /* rows of the kernel that are computed: 3, 5, ..., the last may be zeros */
    int first_word;
    double unit[GF_TENSOR_FILTERS];
    /* The second matrix, for each filter, plane, row and group a word a lane; of factors the row's,
     * for each plane and step four words a lane, then the column's, for each plane and block
     * one. */
    uint32_t words[GF_TENSOR_WORDS];
} GfTensor;

/* Does nothing follow on the sums but scale and offset? */
static inline bool gf_tensor_finishes(const GfStep *step)
{
    return step->linear.filters == 1 && step->combine.op == GF_COMBINE_NONE && step->posts == 0;
}

/* Words of the second matrix. */
static inline size_t gf_tensor_words(const GfTensor *tensor)
{
    if (tensor->factors)
        return tensor->planes * (tensor->groups * 4 + tensor->height) * GF_TENSOR_LANES;
    return tensor->filters * tensor->planes * tensor->height * tensor->groups * GF_TENSOR_LANES;
}

/* On sm_90 banks of one kernel roll: the sums of all rows under way are one product of groups of
 * four warps. The first matrix is bytes as f16, byte times 2^-24; the second has a column for each
 * sample of a block and row of the kernel. Weights are numbers of f16 times a unit: one where they
 * are small multiples of it, else the sum of two, of 22 bits. A block needs `steps` times 16 bytes
 * of an input row, which begin `first_byte` from its own first. Blocks of two samples leave few of
 * those bytes unused where kernels are large, and then the last row of the second matrix is
 * zeros. */
enum {
    GF_ROLLING_STEPS = 2,
    GF_ROLLING_STEP = 16, /* bytes of a block's window */
    GF_ROLLING_BLOCK = 8, /* samples */
    GF_ROLLING_ROWS = 9,  /* of a kernel whose blocks are so large */
    GF_ROLLING_HALVES = 2 * GF_ROLLING_ROWS * GF_ROLLING_STEPS * GF_ROLLING_STEP * GF_ROLLING_BLOCK
};

/* On samples of 16 bits both matrices are bytes, weights planes of digits as above, blocks two
 * samples. Of a window's words the halves of the second matrix have every other one. It has a row
 * of zeros less than rows are multiplied at a time. */
enum {
    GF_WORDS_WINDOW = 32, /* bytes */
    GF_WORDS_BLOCK = 2,   /* samples */
    GF_WORDS_ROWS = 16,   /* of the second matrix */
    GF_WORDS_PLANES = 4   /* likewise; three at least */
};

typedef struct GfTensorRolling {
    bool by_channel; /* blocks are pixels of one channel of RGB */
    size_t block;    /* samples: GF_ROLLING_BLOCK, or 2 */
    size_t planes, height, steps;
    int first_byte;
    double unit;   /* of 16 bits that of the upper plane but two */
    size_t each;   /* of 16 bits, else 0: rows that are multiplied at a time, */
    int first_sum; /* and bits that sums of the upper plane begin with, to be those of floats */
    union {
        /* The second matrix: planes (that of the lower halves first), rows, steps; */
        uint16_t halves[GF_ROLLING_HALVES];
        /* of digits (the lowest plane first) for each half of the window and sample 16 bytes. */
        int8_t digits[GF_WORDS_PLANES * GF_WORDS_ROWS * GF_WORDS_BLOCK * GF_WORDS_WINDOW];
    };
} GfTensorRolling;

/* ---- how `tensor` computes banks of one larger kernel ---- */

/* Blocks are 8 samples of one channel, whatever the picture has. The second matrix is staged
 * through shared memory in chunks of rows of the kernel, 32 bytes of a block's window at a time;
 * these are `groups`. */
enum {
    GF_LARGE_GROUP = 32,
    GF_LARGE_STRIP = 256, /* samples of a row that a block of threads computes, */
    GF_LARGE_ROWS = 16,   /* and how many rows */
    GF_LARGE_STEP = 4,    /* rows of the matrix are a multiple of it, the first may be zeros */
    GF_LARGE_ROW_BYTES = GF_TENSOR_LANES * 8 /* of the second matrix, of a plane */
};

typedef struct GfTensorLarge {
    size_t planes, groups, rows;
    double unit;
} GfTensorLarge;

static inline size_t gf_large_groups(const GfLinear *linear)
{
    return (7 + linear->width + GF_LARGE_GROUP - 1) / GF_LARGE_GROUP;
}

/* Does a block's window need no more than the first half of its last group? */
static inline bool gf_large_ends_half(const GfLinear *linear)
{
    return (7 + linear->width - 1) % GF_LARGE_GROUP < GF_LARGE_GROUP / 2;
}

static inline size_t gf_large_rows(const GfLinear *linear)
{
    return (linear->height + GF_LARGE_STEP - 1) / GF_LARGE_STEP * GF_LARGE_STEP;
}

/* Rows of a kernel in a chunk. */
static inline size_t gf_large_chunk(size_t planes)
{
    return planes == 1 ? 32 : 16;
}

/* Samples of a row of a tile's input. */
static inline size_t gf_large_pitch(const GfLinear *linear)
{
    return GF_LARGE_STRIP - 8 + gf_large_groups(linear) * GF_LARGE_GROUP;
}

/* Rows of a tile's input, for a pass of so many rows of the matrix. */
static inline size_t gf_large_tile_rows(size_t pass)
{
    return GF_LARGE_ROWS - 1 + pass;
}

/* Bytes of shared memory for a block of threads: two chunks, the tile's input, of samples of so
 * many bytes, and where its rows are. */
static inline size_t gf_large_bytes(const GfLinear *linear, size_t bytes, size_t planes,
                                    size_t pass)
{
    return 2 * gf_large_chunk(planes) * planes * GF_LARGE_ROW_BYTES +
           gf_large_tile_rows(pass) * (bytes * gf_large_pitch(linear) + sizeof(void *));
}

/* Rows of the matrix that are computed in a pass, in as few passes as shared memory has room for; 0
 * where it has none for as many as a tile has rows. */
static inline size_t gf_large_pass(const GfLinear *linear, size_t bytes, size_t planes)
{
    const size_t rows = gf_large_rows(linear);
    if (linear->width > GF_SHARED_BYTES)
        return 0;
    for (size_t passes = 1;; passes++) {
        const size_t each = (rows + passes - 1) / passes;
        const size_t pass = (each + GF_LARGE_STEP - 1) / GF_LARGE_STEP * GF_LARGE_STEP;
        if (gf_large_bytes(linear, bytes, planes, pass) <= GF_SHARED_BYTES)
            return pass;
        if (pass <= GF_LARGE_ROWS)
            return 0;
    }
}

/* ---- how `tensor` computes a layer ---- */

/* A step of the product is 16 channels at one tap: two octets. A kernel's row is so many steps for
 * each pair of octets; a stage is what is in shared memory at once. */
typedef struct GfTensorShape {
    size_t octets, stage_channels; /* of a stage */
    size_t stages, row_steps;      /* steps of a row of a kernel */
    size_t map_runs;               /* of 16 maps, of a group; some may be zeros */
} GfTensorShape;

/* Tiles of 64 maps of 16 rows of a picture; fewer than so many leave multiprocessors of a large
 * card idle. */
enum { GF_TENSOR_ENOUGH = 132 };

static inline size_t gf_tensor_tiles(const GfStep *step)
{
    const size_t maps = step->linear.filters / step->linear.groups;
    return (step->out_width + 7) / 8 * ((step->out_height + 15) / 16) * ((maps + 63) / 64) *
           step->linear.groups;
}

static inline GfTensorShape gf_tensor_shape(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const bool small = gf_tensor_tiles(step) < GF_TENSOR_ENOUGH;
    const bool wide = linear->width == 1 || (linear->width == 3 && !small);
    const size_t most = wide && step->stride_x == 1 && step->stride_y == 1 ? 2 : 1;
    const size_t pairs = (linear->depth + 15) / 16, maps = linear->filters / linear->groups;
    const size_t tile = maps <= 32 ? 32 : maps <= 64 ? 64 : 128;
    GfTensorShape shape;
    shape.octets = 2 * (pairs < most ? 1 : most);
    shape.stage_channels = shape.octets * 8;
    shape.stages = (linear->depth + shape.stage_channels - 1) / shape.stage_channels;
    shape.row_steps = linear->width * shape.octets / 2;
    shape.map_runs = (maps + tile - 1) / tile * tile / 16;
    return shape;
}

/* Steps of a group's filters. */
static inline size_t gf_tensor_steps(const GfStep *step)
{
    const GfTensorShape shape = gf_tensor_shape(step);
    return shape.stages * step->linear.height * shape.row_steps;
}

/* The input of a tile of 8 columns. */
typedef struct GfTensorTile {
    size_t rows, columns; /* of samples */
    size_t pitch;         /* numbers from channel to channel of a row as it is loaded */
    size_t lanes;         /* of a warp, that load a row */
    size_t slots, slot;   /* rows there is room for, and its size */
    size_t bytes;         /* of shared memory */
} GfTensorTile;

/* Of a tile of so many rows, which so many warps load; bytes is (size_t)-1 where no card has as
 * much. */
static inline GfTensorTile gf_tensor_tile(const GfStep *step, size_t rows, size_t warps)
{
    const GfTensorShape shape = gf_tensor_shape(step);
    const GfTileSize window = gf_window(step);
    GfTensorTile tile = {0, 0, 0, 0, 0, 0, (size_t)-1};
    if (step->stride_x > GF_SHARED_BYTES || step->stride_y > GF_SHARED_BYTES ||
        window.columns > GF_SHARED_BYTES || window.rows > GF_SHARED_BYTES)
        return tile;
    tile.rows = (rows - 1) * step->stride_y + window.rows;
    tile.columns = 7 * step->stride_x + window.columns;
    tile.pitch = tile.columns <= 16 ? 16 : (tile.columns + 3) / 4 * 4 + 4;
    tile.lanes = tile.columns <= 8 ? 8 : tile.columns <= 16 ? 16 : 32;
    tile.slots = warps * (32 / tile.lanes);
    tile.slots = (tile.rows + tile.slots - 1) / tile.slots * tile.slots;
    tile.slot = shape.stage_channels * tile.pitch + tile.lanes % 32; /* in other banks */
    tile.bytes = tile.rows * tile.columns * shape.octets * 4 * 16 +
                 2 * (tile.slots * tile.slot + warps * shape.stage_channels) * sizeof(float) +
                 tile.rows * (2 * sizeof(float) + sizeof(char *)) + tile.columns * sizeof(int);
    return tile;
}

/* Tiles of layers, in the order of their tilings: warps that share the maps, 32 each; warps that
 * share the rows, and rows of each; blocks on a multiprocessor, which bounds a thread's
 * registers. */
#define GF_TENSOR_TILES(TILE)                                                                      \
    TILE(2, 2, 8, 2)                                                                               \
    TILE(4, 2, 8, 1)                                                                               \
    TILE(2, 4, 8, 1) TILE(2, 2, 4, 2) TILE(1, 4, 4, 2) TILE(2, 2, 2, 2) TILE(1, 4, 2, 2)

/* Steps whose weights are on their way from memory to L2. */
enum { GF_TENSOR_AHEAD = 8 };

/* ---- how `tensor` computes layers of few channels ---- */

/* A row of a kernel is multiplied at a time, as one or two octets of taps; of kernels of 3 x 3 on
 * colours two rows, four taps each. Of the 16 rows of the first matrix each is a map; where windows
 * are side by side the last 8 are the maps of the first 8 again, moved right by a pixel, so that
 * windows of both begin at an even sample, where a word of two of f16 does. Of four maps on one
 * channel the second matrix has the taps: 8 columns, each map and its copy. */
enum {
    GF_FIRST_CHANNELS = 4,
    GF_FIRST_SIDE = 7,       /* rows of a kernel of one octet, */
    GF_FIRST_MOST_SIDE = 11, /* of two */
    GF_FIRST_FEW = 4,        /* maps */
    GF_FIRST_COLOURS = 3,    /* channels whose kernels have two rows in an octet, */
    GF_FIRST_PAIRS_SIDE = 3, /* if they are so large */
    GF_FIRST_WINDOWS = 64,   /* side by side in a tile; */
    GF_FIRST_NARROW = 16,    /* or so many */
    GF_FIRST_ROWS = 4,       /* of a unit: tiles have so many units, one below the other */
    GF_FIRST_WOVEN = 48,     /* columns, times the stride; shorter rows are not woven */
    GF_FIRST_COPIED_SIDE = 5 /* rows of a kernel on floats whose maps the card may copy, at most */
};

typedef struct GfTensorFirst {
    size_t height;        /* rows of a kernel; of an even one the last is zeros */
    size_t steps, octets; /* of a kernel, each a row or two; of a step */
    size_t shifts;        /* copies of a map */
    size_t maps, runs;    /* of a product, and how many such runs there are */
    bool few;             /* do the second matrix's columns have them? */
    bool pairs;           /* has an octet two rows of a kernel? */
} GfTensorFirst;

static inline GfTensorFirst gf_tensor_first(const GfStep *step)
{
    GfTensorFirst first;
    const GfLinear *linear = &step->linear;
    const bool few = linear->filters <= GF_FIRST_FEW && linear->depth == 1;
    first.height = linear->height < 3 ? 3 : linear->height | 1;
    first.octets = first.height > GF_FIRST_SIDE ? 2 : 1;
    first.shifts = step->stride_x == 1 ? 2 : 1;
    first.pairs = linear->depth == GF_FIRST_COLOURS && first.height == GF_FIRST_PAIRS_SIDE &&
                  linear->width <= GF_FIRST_PAIRS_SIDE && step->stride_x <= 2;
    first.steps = first.pairs ? (first.height + 1) / 2 : first.height;
    first.few = few && first.octets == 1 && first.shifts == 2;
    first.maps = (first.few ? 8 : 16) / first.shifts;
    first.runs = (linear->filters + first.maps - 1) / first.maps;
    return first;
}

/* Layers whose samples stand in lines (gpu/tensor_flat_shape.h): kernels and strides, the most. */
enum { GF_FLAT_SIDE = 16, GF_FLAT_STRIDE = 4 };

static inline bool gf_fits_line(const GfStep *step)
{
    return step->linear.width <= GF_FLAT_SIDE && step->linear.height <= GF_FLAT_SIDE &&
           step->stride_x <= GF_FLAT_STRIDE && step->stride_y <= GF_FLAT_STRIDE;
}

/* Are its windows, which do not overlap and are all on the picture, patches that are single taps of
 * as many more channels, each sample of a window one of them? Where it has not enough channels for
 * lines, or too large kernels or strides, but maps enough. */
static inline bool gf_has_patches(const GfStep *step)
{
    enum { FEW = 16, SOME = 256, LARGE = 64 * 64 };
    const GfLinear *linear = &step->linear;
    const ptrdiff_t right = (ptrdiff_t)((step->out_width - 1) * step->stride_x + linear->width);
    const ptrdiff_t below = (ptrdiff_t)((step->out_height - 1) * step->stride_y + linear->height);
    return (linear->depth <= GF_FIRST_CHANNELS || gf_linear_taps(linear) <= SOME ||
            !gf_fits_line(step)) &&
           linear->filters / linear->groups > FEW && linear->width > 1 &&
           linear->width * linear->height <= LARGE &&
           (step->stride_x >= linear->width || step->out_width == 1) &&
           (step->stride_y >= linear->height || step->out_height == 1) && step->dilation_x == 1 &&
           step->dilation_y == 1 && step->origin_x >= 0 && step->origin_y >= 0 &&
           step->origin_x + right <= (ptrdiff_t)step->in_width &&
           step->origin_y + below <= (ptrdiff_t)step->in_height;
}

/* Are vectors of four samples of a window side by side where vectors of a picture's row are? */
static inline bool gf_patches_have_vectors(const GfStep *step)
{
    return step->linear.width % 4 == 0 && step->stride_x % 4 == 0 && step->origin_x % 4 == 0;
}

/* The layer that is multiplied: of those single taps, whose weights are where they were. */
static inline GfStep gf_patches(const GfStep *step)
{
    GfStep taps = *step;
    if (gf_has_patches(step)) {
        taps.linear.depth *= step->linear.width * step->linear.height;
        taps.linear.width = taps.linear.height = 1;
    }
    return taps;
}

/* Windows side by side in a tile: few where rows of several channels are no longer, or where large
 * kernels are far apart and tiles so few that multiprocessors would have none. Units of a tile, of
 * those that GF_FIRST_TILES has: the largest, up to `most`, of which there are enough for a card,
 * so many tiles being side by side in all pictures. Of many maps tiles are smaller: what is written
 * to them at a time lies nearer together. And the blocks that share the maps of one, where tiles
 * are few. */
#ifdef __cplusplus
extern "C" {
#endif
size_t gf_first_windows(const GfStep *step, size_t rows, size_t pictures, size_t processors);
size_t gf_first_units(size_t across, size_t height, size_t runs, size_t most, size_t processors);
size_t gf_first_splits(size_t tiles, size_t runs, size_t processors);
#ifdef __cplusplus
}
#endif

/* Is a layer computed that way? Kernels of 1 to 11 rows, strides of 1, 2 or 4; no single taps, and
 * no patches of many samples, which are fewer products (bench/results/2026-11-30-h200-5.md). */
static inline bool gf_tensor_is_first(const GfStep *step)
{
    enum { MANY = 32 };
    const GfLinear *linear = &step->linear;
    const GfTensorFirst first = gf_tensor_first(step);
    const size_t stride = step->stride_x;
    const size_t most = stride == 4 ? GF_FIRST_CHANNELS - 1 : GF_FIRST_CHANNELS;
    return linear->groups == 1 && linear->depth <= most && step->dilation_x == 1 &&
           step->dilation_y == 1 && step->stride_y == stride &&
           (stride == 1 || stride == 2 || stride == 4) && first.height <= GF_FIRST_MOST_SIDE &&
           linear->width * linear->height > 1 &&
           linear->width + (first.shifts - 1) * stride <= 8 * first.octets &&
           !(gf_has_patches(step) && gf_linear_taps(linear) >= MANY);
}

/* May the card copy the rows of a layer's maps to memory, where they are vectors and blocks have
 * enough to do (gpu/tensor_first.cu)? It writes them in better order than threads do, but warps
 * wait for each other: that pays for many maps of one channel which are not much to multiply.
 * (bench/results/2026-11-30-h200.md) */
static inline bool gf_first_may_copy(const GfStep *step)
{
    enum { MAPS = 25, COLUMNS = 128 };
    const GfLinear *linear = &step->linear;
    return linear->depth == 1 && step->stride_x == 1 && linear->filters >= MAPS &&
           step->out == GF_F32 && step->out_width >= COLUMNS &&
           (step->in == GF_U8 || (step->in == GF_F32 && linear->height <= GF_FIRST_COPIED_SIDE));
}

/* Vectors of 16 bytes that the taps of this and of other layers become. */
static inline size_t gf_tensor_vectors(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    const GfTensorFirst first = gf_tensor_first(step);
    if (gf_tensor_is_first(step))
        return first.runs * linear->depth * first.steps * first.octets * GF_TENSOR_LANES;
    return linear->groups * gf_tensor_steps(step) * gf_tensor_shape(step).map_runs * 2 *
           GF_TENSOR_LANES;
}

/* ---- tilings of all of them, and what is kept ---- */

/* Tiles, in the order of their tilings, after those of other layers: runs of 64 maps, runs of 8
 * positions of a group of warps; and of few maps groups, and runs of 64 positions of each. */
#define GF_FLAT_TILES(TILE)                                                                        \
    TILE(1, 8) TILE(1, 12) TILE(1, 14) TILE(1, 16) TILE(1, 17) TILE(2, 9) TILE(2, 15) TILE(2, 17)
#define GF_FEW_TILES(TILE) TILE(2, 1) TILE(4, 1) TILE(4, 2)

/* Rows of units in a tile, in the order of their tilings, after those of other layers. */
#define GF_FIRST_TILES(TILE) TILE(1) TILE(2) TILE(4) TILE(8)

/* Behind them that of banks that roll, whatever their size, that of products of a column and a row
 * in wider strips, and that of maps of one channel by groups of warps, however few. */
#define GF_COUNT(...) +1
enum {
    GF_TENSOR_ROLLING_TILING = 1 GF_TENSOR_TILES(GF_COUNT) GF_FLAT_TILES(GF_COUNT)
        GF_FEW_TILES(GF_COUNT) GF_FIRST_TILES(GF_COUNT),
    GF_TENSOR_WIDE_TILING,
    GF_TENSOR_GRAY_TILING
};
#undef GF_COUNT

/* A layer's numbers, in device memory. Taps are two f16 each, divided by their channel's lift and
 * their map's unit, powers of two; behind them are zeros for 2 * GF_TENSOR_AHEAD steps. */
typedef struct GfTensorLayer {
    void *weights;
    float *lifts;   /* of all channels, and 1 behind them for a stage */
    float *units;   /* of all maps */
    float *outside; /* GfStep.outside, or NULL */
    bool lifted;    /* is a lift not 1? */
    bool flat;      /* gf_tensor_is_flat(), and the card can */
    bool gray;      /* as in gpu/tensor_gray_shape.h, and the card can */
    void *lines;    /* of a layer that is flat; NULL where it is direct */
    float *scales;
    size_t line; /* octets there is room for */
} GfTensorLayer;

/* What is kept from launch to launch: of a bank the plan, and its words in device memory. */
typedef struct GfTensorState {
    GfTensor plan; /* host */
    uint32_t *words;
    GfTensorRolling rolling; /* host; of a bank that rolls where its rows are aligned */
    uint16_t *halves;
    GfTensorLarge large; /* host; of a larger kernel */
    uint32_t *large_words;
    GfTensorLayer layer;
} GfTensorState;
