/* What host and kernels both know of method `general`: its tiles, what a block of one is made of,
 * how channels become chains; and what a launch takes (gpu/general.c). */
#pragma once

#include "gpu/tiles.h"

/* Tiles in the order of the method's tilings, after those of its paper: columns, rows and maps of a
 * block, pixels and maps of a thread, teams of a block, blocks on a multiprocessor. Those of fewer
 * than 16 maps are for kernels larger than 1 x 1. */
#define GF_GENERAL_TILES(TILE)                                                                     \
    TILE(32, 8, 64, 8, 8, 1, 2)                                                                    \
    TILE(32, 4, 64, 8, 8, 2, 2)                                                                    \
    TILE(32, 4, 32, 8, 8, 4, 2)                                                                    \
    TILE(16, 8, 16, 8, 8, 8, 2)                                                                    \
    TILE(8, 4, 16, 4, 4, 8, 3)                                                                     \
    TILE(32, 8, 48, 8, 8, 1, 2)                                                                    \
    TILE(32, 8, 48, 8, 12, 1, 3)                                                                   \
    TILE(32, 8, 32, 8, 8, 1, 4)                                                                    \
    TILE(64, 8, 16, 8, 8, 1, 4)                                                                    \
    TILE(64, 8, 8, 8, 8, 1, 8)                                                                     \
    TILE(32, 16, 8, 8, 8, 1, 8)                                                                    \
    TILE(64, 8, 4, 8, 4, 1, 8)                                                                     \
    TILE(32, 16, 4, 8, 4, 1, 8)                                                                    \
    TILE(16, 16, 4, 8, 4, 1, 16)

/* Those of the paper, of 3 x 3, 5 x 5 and 7 x 7. */
#define GF_GENERAL_PAPER_3 32, 4, 64, 16, 4, 1, 3
#define GF_GENERAL_PAPER_5 32, 8, 32, 8, 8, 1, 4
#define GF_GENERAL_PAPER_7 64, 4, 32, 8, 8, 1, 4

#define GF_COUNT(...) +1
enum { GF_GENERAL_TILINGS = 1 GF_GENERAL_TILES(GF_COUNT) };
#undef GF_COUNT

/* A tile, of kernels of side x side; and what follows from it. */
typedef struct GfGeneralTile {
    int side, width, height, maps, thread_pixels, thread_maps, teams, blocks;
    int channels;      /* of a stage, for each team */
    int window;        /* fours that a row of a thread's pixels is */
    int team, threads; /* threads of a team, of a block */
    int rows, pitch;   /* of a channel's pixels in shared memory */
    int places;        /* of them and behind them, so that all threads of a team bring as many */
    int ways;          /* rows and columns that are looked up once for all places; 0: none are */
    int tap_maps;      /* whose taps are brought at once */
    int bytes;         /* of shared memory */
} GfGeneralTile;

static inline GF_CONSTEXPR int gf_general_up(int n, int unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Channels a stage, for each team: the more, the fewer barriers, but the fewer blocks have room. */
static inline GF_CONSTEXPR int gf_general_channels(int side, int teams, int blocks)
{
    return side == 1   ? (teams == 8 || blocks == 4 ? 4 : 8)
           : side == 3 ? (teams == 1 && blocks == 2 ? 4 : 2)
                       : 1;
}

static inline GF_CONSTEXPR GfGeneralTile gf_general_tile(int side, int width, int height, int maps,
                                                         int thread_pixels, int thread_maps,
                                                         int teams, int blocks)
{
    const int channels = gf_general_channels(side, teams, blocks);
    const int window = (thread_pixels + side - 1 + 3) / 4;
    const int map_threads = maps / thread_maps, across = width / thread_pixels;
    const int team = map_threads * across * height, threads = team * teams;
    const int read = width - thread_pixels + window * 4, needed = width + side - 1;
    const int row = read > needed ? read : needed, rows = height + side - 1;
    /* Where a warp reads several rows, they are an odd number of vectors apart: eight of them begin
     * in eight different places of the banks. */
    const int pitch = 32 / map_threads <= across ? gf_general_up(row, 4) : (row + 3) / 8 * 8 + 4;
    const int plane = rows * pitch, places = gf_general_up(plane, team);
    const int ways = places < 4 * threads ? 0 : rows + pitch;
    const int taps = channels * side * side, tap_maps = team < taps ? 1 : team / taps;
    /* As struct Shared of gpu/general.cu is, which asserts it: totals; two stages of each team, or
     * in their place what teams have of the last round; and the ways, and the block's corner. */
    const int totals = thread_maps * thread_pixels * team * 4;
    const int stages = 2 * teams * gf_general_up((channels * plane + taps * (maps + 4)) * 4, 16);
    const int last = teams > 1 ? teams * totals : teams * team * 16;
    const int found = gf_general_up((places + ways + 1) * 4, 8) + 40;
    const int bytes = totals + (stages > last ? stages : last) + found;
    const GfGeneralTile tile = {
        side,  width,  height,   maps,   thread_pixels, thread_maps,
        teams, blocks, channels, window, team,          threads,
        rows,  pitch,  places,   ways,   tap_maps,      gf_general_up(bytes, 16)};
    return tile;
}

/* Channels a chain: as many as f32 allows, but where a whole picture has few outputs, enough chains
 * for 8 teams; 0 where a channel has too many taps for one. It decides bits, so that it depends on
 * the step alone. */
static inline int gf_general_chain(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    size_t most = gf_chain(step) / (linear->width * linear->height);
    size_t teams = step->out_width * step->out_height * linear->filters < 1 << 20 ? 8 : 2;
    if (most == 0)
        return 0;
    size_t chains = gf_units(gf_units(linear->depth, most), teams) * teams;
    return (int)gf_units(linear->depth, chains);
}

/* Cycles that a launch takes with the fastest tile, for a step of a square kernel of side 1, 3, 5
 * or 7 without strides or gaps; and which tile that is, in the order of the tilings, unless
 * NULL. */
#ifdef __cplusplus
extern "C"
#endif
    double
    gf_general_cycles(const GfTask *task, size_t *tiling);

/* Bytes of shared memory for a block where kernels are of any size: 16 x 8 pixels of 16 maps, all
 * taps of a channel; (size_t)-1 where no card has as much. */
static inline size_t gf_general_bytes(const GfStep *step)
{
    GfTileSize window = gf_window(step);
    if (step->stride_x > GF_SHARED_BYTES || step->stride_y > GF_SHARED_BYTES ||
        window.columns > GF_SHARED_BYTES || window.rows > GF_SHARED_BYTES)
        return (size_t)-1;
    size_t pixels = (15 * step->stride_x + window.columns) * (7 * step->stride_y + window.rows);
    return (16 * 8 * 16 + step->linear.width * step->linear.height * 20 + pixels) * sizeof(float);
}
