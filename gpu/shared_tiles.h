/* What host and kernels both know of method `shared`: its blocks, the tiles of input that they
 * load, and how a launch is cut; and what it takes (gpu/shared.c). */
#pragma once

#include "gpu/tiles.h"

/* A block has so many rows of threads, each for a column of the tile's outputs: thread row r makes
 * rows r, r + GF_SHARED_ROWS, ... of them. Of a layer it makes several maps, where a group has as
 * many and shared memory has room. Of the tile's input each thread has some loads under way at a
 * time. */
enum { GF_SHARED_ROWS = 8, GF_SHARED_MAPS = 4, GF_SHARED_LOADS = 6 };

/* Threads that a multiprocessor should hold at once, which bounds their registers: where each makes
 * so many rows. */
static inline GF_CONSTEXPR int gf_shared_at_once(bool wide, int rows)
{
    return wide ? 512 : rows == 4 ? 768 : 1024;
}

/* How a launch is cut: into which tiles; and how many maps a thread makes, chunks of a group that
 * is, and tiles on top of each other. */
typedef struct GfSharedCut {
    GfTileSize tile;
    size_t maps, chunks, sets;
} GfSharedCut;

/* Channels side by side in the rows of a tile of `shared`: those of a picture, since neighbouring
 * samples are read from memory together; else 1, and there are tiles for each channel. */
static inline size_t gf_shared_lanes(const GfStep *step)
{
    bool picture = !gf_step_is_layer(step) && step->in_layout == GF_INTERLEAVED;
    return picture && step->channels <= 4 ? step->channels : 1;
}

/* The samples that a tile of output samples of `shared` needs, of one channel or of its lanes. */
static inline GfTileSize gf_shared_input(const GfStep *step, GfTileSize tile)
{
    size_t lanes = gf_shared_lanes(step);
    GfTileSize window = gf_window(step), input;
    input.columns = ((tile.columns + lanes - 2) / lanes * step->stride_x + window.columns) * lanes;
    input.rows = (tile.rows - 1) * step->stride_y + window.rows;
    return input;
}

/* Bytes of shared memory for such a tile, with the taps of `maps` kernels on a channel, and where
 * the tile's columns and rows come from; (size_t)-1 where no card has as much. */
static inline size_t gf_shared_bytes(const GfStep *step, bool wide, GfTileSize tile, size_t maps)
{
    GfTileSize input = gf_shared_input(step, tile);
    size_t size = wide ? sizeof(double) : sizeof(float);
    size_t taps = step->linear.width * step->linear.height * maps;
    if (input.columns > GF_SHARED_BYTES || input.rows > GF_SHARED_BYTES)
        return (size_t)-1;
    /* Where columns and rows come from is an even count: the taps behind lie on 16 bytes. */
    return (input.columns + input.rows + 1) / 2 * 2 * sizeof(long long) +
           (input.columns * input.rows + taps) * size;
}

/* Cycles that a launch takes with the fastest tile, or with the one asked for, in the order of the
 * tilings, from 1 on; and how it is cut then, unless NULL. Infinitely many where no such tile has
 * room. */
#ifdef __cplusplus
extern "C"
#endif
    double
    gf_shared_cycles(const GfTask *task, size_t asked, GfSharedCut *cut);
