/* What the table of algorithms and the kernels both know of constant memory, shared memory,
 * tiles, and sums in f32. */
#pragma once

#include "filters/plan.h"

#ifdef __cplusplus
#define GF_CONSTEXPR constexpr /* what kernels know when compiled */
#else
#define GF_CONSTEXPR
#endif

enum {
    GF_CONSTANT_BYTES = 31 << 10, /* of taps as a kernel's parameter, of 32,764 in all */
    GF_SHARED_BYTES = 96 << 10,   /* of a block's shared memory, on every card since sm_80 */
    GF_BLOCK_BYTES = 1 << 10      /* of shared memory, that the card takes for each block */
};

/* A launch, as far as the time that it takes depends on it, for methods that know theirs. */
typedef struct GfTask {
    const GfStep *step;
    size_t rows, pictures;              /* of a picture's outputs; of the launch */
    bool wide;                          /* are sums in f64? */
    bool vectors;                       /* are vectors of the outputs stored? */
    size_t processors, processor_bytes; /* the card's multiprocessors, shared memory of each */
    size_t block_bytes;                 /* and what of it a block may have */
    bool clusters;                      /* has it clusters of blocks? */
} GfTask;

/* Blocks that a multiprocessor with `room` bytes of shared memory holds at once: of `bytes` each,
 * `most` at most. */
static inline size_t gf_blocks_in(size_t room, size_t most, size_t bytes)
{
    const size_t blocks = room / (bytes + GF_BLOCK_BYTES);
    return blocks < 1 || most < 1 ? 1 : blocks < most ? blocks : most;
}

/* Units of so many that hold n. */
static inline size_t gf_units(size_t n, size_t unit)
{
    return (n + unit - 1) / unit;
}

/* How much of them n fills. */
static inline double gf_filled(size_t n, size_t unit)
{
    return (double)n / (double)(gf_units(n, unit) * unit);
}

/* Tiles, columns x rows, that `tiled`, `cached` and `shared` can be asked for by name. */
#define GF_TILE_SIZES(SIZE)                                                                        \
    SIZE(8, 8) SIZE(16, 16) SIZE(32, 8) SIZE(32, 16) SIZE(32, 32) SIZE(64, 8)

typedef struct GfTileSize {
    size_t columns, rows;
} GfTileSize;

/* The i-th of them; 0 x 0 after the last. */
static inline GfTileSize gf_tile_size(size_t i)
{
#define GF_TILE_SIZE(columns, rows) {columns, rows},
    static const GfTileSize sizes[] = {GF_TILE_SIZES(GF_TILE_SIZE){0, 0}};
#undef GF_TILE_SIZE
    return sizes[i];
}

/* Bytes of all taps of a step. */
static inline size_t gf_taps_bytes(const GfStep *step, bool wide)
{
    return step->linear.filters * gf_linear_taps(&step->linear) *
           (wide ? sizeof(double) : sizeof(float));
}

/* Taps that a method may add up one after the other, before that sum is added to others, so that
 * f32 keeps as close as filters/precision.c counts on. Of a bank: of n taps sqrt(n), and as many
 * such sums, which together are no more than width + height. Of a layer gf_layer_chunk(). */
static inline size_t gf_chain(const GfStep *step)
{
    size_t taps = gf_linear_taps(&step->linear), root = 1;
    if (taps <= GF_FLAT_TAPS)
        return taps;
    if (gf_step_is_layer(step))
        return gf_layer_chunk(taps);
    while (root * root < taps)
        root++;
    return root;
}

/* Pixels from the first to the last tap of a window, both included. */
static inline GfTileSize gf_window(const GfStep *step)
{
    GfTileSize window = {(step->linear.width - 1) * step->dilation_x + 1,
                         (step->linear.height - 1) * step->dilation_y + 1};
    return window;
}

/* Bytes of shared memory for the inner part of a tile of `cached`. */
static inline size_t gf_cached_bytes(const GfStep *step, bool wide, GfTileSize tile)
{
    size_t columns = tile.columns * step->stride_x, rows = tile.rows * step->stride_y;
    if (columns > GF_SHARED_BYTES || rows > GF_SHARED_BYTES)
        return (size_t)-1;
    return columns * rows * (wide ? sizeof(double) : sizeof(float));
}

/* What `special` can be asked for by name. First, of banks of one kernel on one channel, the
 * samples that a thread moves in one access; then those banks in the way of layers; then, of
 * layers, the columns x rows of a map that a block computes; then, of kernels in tiles, the rows of
 * a thread. */
enum { GF_SPECIAL_AS_LAYER = 6, GF_SPECIAL_IN_TILES = 15 };
#define GF_SPECIAL_ACCESSES "n1", "n2", "n4", "n8", "n16", "n4r4"
#define GF_SPECIAL_BLOCKS(BLOCK)                                                                   \
    BLOCK(128, 8)                                                                                  \
    BLOCK(128, 16)                                                                                 \
    BLOCK(128, 64) BLOCK(128, 256) BLOCK(64, 16) BLOCK(64, 64) BLOCK(64, 256) BLOCK(32, 64)
#define GF_SPECIAL_TILES "r2", "r4"

/* How `special` computes kernels that registers have no room for: in tiles of
 * GF_SPECIAL_TILE_STRIP_BYTES of sums by some rows for each of a warp's groups of lanes, a chunk of
 * the kernel's rows at a time. */
enum { GF_SPECIAL_TILE_STRIP_BYTES = 512, GF_SPECIAL_TILE_GROUPS = 2, GF_SPECIAL_TILE_CHUNK = 32 };

typedef struct GfSpecialTile {
    size_t warps, rows, chunk;
} GfSpecialTile;

static inline size_t gf_special_tile_rows(GfSpecialTile tile)
{
    return tile.warps * GF_SPECIAL_TILE_GROUPS * tile.rows;
}

/* Samples from row to row of a tile's input: an even number of vectors. */
static inline size_t gf_special_tile_pitch(const GfLinear *linear, bool wide)
{
    const size_t strip = GF_SPECIAL_TILE_STRIP_BYTES / (wide ? sizeof(double) : sizeof(float));
    return (strip + linear->width - 1 + 7) / 8 * 8;
}

/* Bytes of shared memory for such a tile: taps, input, and where its rows and columns are;
 * (size_t)-1 where no card has as much. */
static inline size_t gf_special_tile_bytes(const GfLinear *linear, bool wide, GfSpecialTile tile)
{
    const size_t pitch = gf_special_tile_pitch(linear, wide), rows = gf_special_tile_rows(tile);
    if (linear->width > GF_SHARED_BYTES || linear->height > GF_SHARED_BYTES)
        return (size_t)-1;
    return (tile.chunk * ((linear->width + 7) / 8 * 8) + (rows + tile.chunk - 1) * pitch) *
               (wide ? sizeof(double) : sizeof(float)) +
           (rows + linear->height - 1) * sizeof(void *) + pitch * sizeof(int);
}

/* What `separable` can be asked for by name: strips, down which blocks walk, or a block a tile; and
 * the place of tiles among them. */
enum { GF_SEPARABLE_TILES = 2 };
#define GF_SEPARABLE_WAYS "strips", "tiles"

/* The smallest pieces in which `separable` works, and the rows of a kernel for which shared memory
 * suffices in f64, too. */
enum { GF_SEPARABLE_STRIP = 32, GF_SEPARABLE_STEP = 8, GF_SEPARABLE_TALL = 256 };

/* Bytes of shared memory that a block of `separable` needs for strips of `strip` columns and steps
 * of `step` rows, both multiples of 4. */
static inline size_t gf_separable_bytes(const GfLinear *linear, bool wide, size_t strip,
                                        size_t step)
{
    size_t width = (linear->width + 3) / 4 * 4, height = (linear->height + 3) / 4 * 4;
    size_t ring = ((linear->height + 2) / 4 * 4 + step) * strip;
    size_t sums = step * (strip + width) + linear->filters * (ring + height + width);
    return sums * (wide ? sizeof(double) : sizeof(float)) +
           (strip + linear->width - 1) * sizeof(int);
}
