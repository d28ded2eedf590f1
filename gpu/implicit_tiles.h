/* What host and kernels both know of method `implicit`: its tiles, what a block of one is made of,
 * how taps become chains; and what a launch takes (gpu/implicit.c). */
#pragma once

#include "gpu/tiles.h"

/* Tiles in the order of the method's tilings: maps x positions of a block and of a thread; teams of
 * a block; blocks on a multiprocessor, which bounds a thread's registers. */
#define GF_IMPLICIT_TILES(TILE)                                                                    \
    TILE(128, 128, 8, 8, 1, 2)                                                                     \
    TILE(64, 128, 8, 8, 1, 3)                                                                      \
    TILE(64, 128, 8, 8, 2, 2)                                                                      \
    TILE(64, 64, 8, 8, 4, 1)                                                                       \
    TILE(32, 32, 4, 8, 8, 2)                                                                       \
    TILE(32, 128, 8, 4, 1, 4)                                                                      \
    TILE(16, 256, 4, 8, 1, 4)                                                                      \
    TILE(16, 32, 4, 4, 8, 2)                                                                       \
    TILE(8, 64, 4, 4, 8, 2)

/* And that of sums in f64. */
#define GF_IMPLICIT_WIDE 64, 64, 8, 4, 1, 2

enum {
    GF_IMPLICIT_STEP = 8,    /* taps of a stage, for each team */
    GF_IMPLICIT_CLUSTER = 8, /* blocks that share a tile, at most */
#define GF_COUNT(...) +1
    GF_IMPLICIT_TILINGS = 0 GF_IMPLICIT_TILES(GF_COUNT)
#undef GF_COUNT
};

/* A tile, of numbers of so many bytes; and what follows from it. */
typedef struct GfImplicitTile {
    int maps, positions, thread_maps, thread_positions, teams, blocks;
    int team, threads;        /* threads of a team, of a block */
    int fours, taps, weights; /* of positions; that a thread brings of a stage: taps; and in all of
                                 its filters, fours of taps */
    int sums_bytes, bytes;    /* of shared memory: for a team's sums, for a block */
    bool shared;              /* may blocks share it? */
} GfImplicitTile;

static inline GF_CONSTEXPR GfImplicitTile gf_implicit_tile(int maps, int positions, int thread_maps,
                                                           int thread_positions, int teams,
                                                           int blocks, int number)
{
    const int step = GF_IMPLICIT_STEP, fours = positions / 4;
    const int team = maps * positions / (thread_maps * thread_positions), threads = team * teams;
    const int sums = thread_maps * thread_positions * team * number;
    /* As struct Shared of gpu/implicit.cu is, which asserts it: totals, two stages of each team
     * with filters, columns and taps; who follows the taps; and the block's corner. */
    const int stage = step * ((maps + 4) * number + positions * number + 16);
    const int bytes = sums + 2 * teams * stage + teams * step * 16 + 16;
    /* Threads of 64 sums have no registers to spare where 512 are together. */
    const bool shared = thread_maps * thread_positions < 64 || threads * blocks < 512;
    const GfImplicitTile tile = {
        maps,    positions, thread_maps,         thread_positions, teams, blocks, team,
        threads, fours,     step * fours / team, step / 4 * maps,  sums,  bytes,  shared};
    return tile;
}

/* Taps a chain. It decides bits, so that it depends on the step alone: where a whole picture has
 * few outputs, chains for 8 teams, else as long as f32 allows. */
static inline size_t gf_implicit_chain(const GfStep *step, bool wide)
{
    const size_t taps = gf_linear_taps(&step->linear);
    size_t chains = wide ? 1 : gf_units(taps, gf_chain(step));
    if (!wide && step->out_width * step->out_height * step->linear.filters < 1 << 20)
        chains = (chains + 7) / 8 * 8;
    return gf_units(gf_units(taps, chains), GF_IMPLICIT_STEP) * GF_IMPLICIT_STEP;
}

/* How a launch is cut: the tile, in the order of the tilings, and how many blocks share one. */
typedef struct GfImplicitCut {
    size_t tiling, cluster;
} GfImplicitCut;

/* Cycles that a launch takes with the tile that is asked for, from 1 on, or with the fastest, 0;
 * and how it is cut then, unless NULL. Of sums in f64, which have one tile, `cut` stays as it
 * is. */
#ifdef __cplusplus
extern "C"
#endif
    double
    gf_implicit_cycles(const GfTask *task, size_t asked, GfImplicitCut *cut);
