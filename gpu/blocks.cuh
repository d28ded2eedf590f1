/* How blocks and warps share a picture, and what the card has for them. */
#pragma once

#include <cstdint>

#include "gpu/instructions.cuh"
#include "gpu/launch.h"

/* This thread's warp in its block; known to be the same in all lanes, so that what follows from it
 * needs no vector registers. */
__device__ inline int gf_warp()
{
    return __shfl_sync(~0u, static_cast<int>(threadIdx.x / 32), 0);
}

/* ---- how blocks share the rows ---- */

template <typename T> inline T gf_divide_up(T a, T b)
{
    return (a + b - 1) / b;
}

/* Blocks walk down `columns` strips of `steps` steps each; `at_once` of them run at a time. How
 * many steps a block takes, so that all are busy to the end: starting one costs `halo` steps. */
inline size_t gf_block_steps(size_t steps, size_t columns, size_t at_once, double halo)
{
    size_t best = steps;
    double least = 0.0;
    for (size_t waves = 1; waves <= 8; waves++) {
        size_t blocks = waves * at_once / columns;
        blocks = blocks < 1 ? 1 : blocks > steps ? steps : blocks;
        size_t own = gf_divide_up(steps, blocks);
        size_t total = columns * gf_divide_up(steps, own);
        double cost =
            static_cast<double>(gf_divide_up(total, at_once)) * (static_cast<double>(own) + halo);
        if (least > 0.0 && cost >= least)
            continue;
        least = cost;
        best = own;
    }
    return best;
}

/* ---- a block a tile ---- */

/* Tiles of columns x rows output samples, of `sets` sets each (output channels, or runs of them).
 * The sets of a tile are neighbours in grid.x: what they read in common is still in a cache, and
 * what they write side by side meets there. Pictures in grid.z. */
struct GfCut {
    int columns, rows;
    unsigned sets, across; /* tiles side by side */
    size_t samples;        /* of a row of a set */
};

inline GfCut gf_cut(size_t samples, GfTileSize tile, size_t sets)
{
    return {static_cast<int>(tile.columns), static_cast<int>(tile.rows),
            static_cast<unsigned>(sets),
            static_cast<unsigned>((samples + tile.columns - 1) / tile.columns), samples};
}

inline dim3 gf_cut_grid(const GfCut &cut, const GfLaunch *launch)
{
    size_t rows = static_cast<size_t>(cut.rows);
    size_t down = (launch->y1 - launch->y0 + rows - 1) / rows;
    size_t blocks = cut.across * down * cut.sets;
    /* More than a grid may have are none: the launch fails. */
    return dim3(blocks > INT32_MAX ? 0 : static_cast<unsigned>(blocks), 1,
                static_cast<unsigned>(launch->count));
}

/* The first sample and row of this block's tile, and its set. */
struct GfPlace {
    size_t s, y;
    int set;
};

__device__ inline GfPlace gf_my_tile(const GfCut &cut, size_t y0)
{
    unsigned tile = blockIdx.x / cut.sets;
    return {static_cast<size_t>(tile % cut.across) * static_cast<unsigned>(cut.columns),
            y0 + static_cast<size_t>(tile / cut.across) * static_cast<unsigned>(cut.rows),
            static_cast<int>(blockIdx.x % cut.sets)};
}

/* The tile of the least cost among those that launch->tiling allows. cost(tile) is negative where
 * a tile does not go with the step; 0 x 0 where none does. */
template <typename Cost> GfTileSize gf_choose_tile(const GfLaunch *launch, Cost cost)
{
    GfTileSize best = {0, 0};
    double least = -1;
    for (size_t i = 0; gf_tile_size(i).columns > 0; i++) {
        double c = launch->tiling == 0 || launch->tiling == i + 1 ? cost(gf_tile_size(i)) : -1;
        if (c >= 0 && (least < 0 || c <= least)) {
            best = gf_tile_size(i);
            least = c;
        }
    }
    return best;
}

/* ---- strips, down which warps walk ---- */

/* A picture as units of work, one a warp: strips side by side, each cut into so many rows. Units at
 * the picture's edge take longest: those of the first strip and the last have fewer rows, and they
 * and those at the bottom begin first, so that none is waited for at the end. */
struct GfWalks {
    unsigned strips, units;
    size_t rows;                     /* of the picture */
    unsigned chunks, chunk_rows;     /* of an inner strip: units, rows of each */
    unsigned side_chunks, side_rows; /* of the first strip and the last */
};

/* Units of `own` rows, and at the sides a quarter of that but no fewer than `least`; both are
 * rounded up to a multiple of `step`. */
inline GfWalks gf_walks(size_t strips, size_t rows, size_t own, size_t least, size_t step)
{
    const size_t quarter = own / 4 > least ? own / 4 : least, side = quarter < own ? quarter : own;
    const size_t sides = strips < 2 ? strips : 2;
    GfWalks walks = {};
    walks.strips = static_cast<unsigned>(strips);
    walks.rows = rows;
    walks.chunk_rows = static_cast<unsigned>((own + step - 1) / step * step);
    walks.side_rows = static_cast<unsigned>((side + step - 1) / step * step);
    walks.chunks = static_cast<unsigned>((rows + walks.chunk_rows - 1) / walks.chunk_rows);
    walks.side_chunks = static_cast<unsigned>((rows + walks.side_rows - 1) / walks.side_rows);
    walks.units =
        static_cast<unsigned>(sides * walks.side_chunks + (strips - sides) * walks.chunks);
    return walks;
}

/* A unit: rows [top, top + rows) of a strip. */
struct GfWalk {
    unsigned strip;
    size_t top;
    int rows;
};

/* unit < walks.units. */
__device__ inline GfWalk gf_walk(const GfWalks &walks, unsigned unit)
{
    const unsigned sides = min(walks.strips, 2u), inner = walks.strips - sides;
    const bool side = unit < sides * walks.side_chunks;
    const unsigned own = side ? unit : unit - sides * walks.side_chunks;
    const unsigned rows = side ? walks.side_rows : walks.chunk_rows;
    GfWalk walk;
    unsigned chunk;
    if (side) {
        walk.strip = own % sides * (walks.strips - 1);
        chunk = own / sides;
    } else {
        walk.strip = 1 + own % inner;
        chunk = own < inner ? walks.chunks - 1 : own / inner - 1;
    }
    walk.top = static_cast<size_t>(chunk) * rows;
    walk.rows = static_cast<int>(min(walks.rows - walk.top, static_cast<size_t>(rows)));
    return walk;
}

/* ---- the card ---- */

/* Multiprocessors of the current device; 1 when it does not say. */
inline size_t gf_multiprocessors()
{
    int device, count;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 1;
    return static_cast<size_t>(count);
}

/* Bytes of shared memory of a multiprocessor of the current device; 0 when it does not say. */
inline size_t gf_multiprocessor_bytes()
{
    int device, bytes;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) !=
            cudaSuccess)
        return 0;
    return static_cast<size_t>(bytes);
}

/* Bytes of the current device's L2; 0 when it does not say. */
inline size_t gf_l2_bytes()
{
    int device, bytes;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device) != cudaSuccess)
        return 0;
    return static_cast<size_t>(bytes);
}

/* Has the current device clusters of blocks? */
inline bool gf_has_clusters()
{
    int device = 0, has = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, device) == cudaSuccess && has;
}

/* Bytes of shared memory that a block may have on the current device. */
inline size_t gf_shared_limit()
{
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess)
        return GF_SHARED_BYTES;
    return static_cast<size_t>(bytes);
}

/* Lets a kernel have that much dynamic shared memory: with what it has anyway, beyond 48 KiB it
 * must be asked for. It is given all that there is, for good: other threads may be about to launch
 * it with more. */
template <typename Kernel> cudaError_t gf_allow_shared(Kernel kernel, size_t bytes)
{
    constexpr size_t UNASKED = 48 * 1024;
    cudaFuncAttributes code;
    if (bytes == 0)
        return cudaSuccess;
    const cudaError_t error = cudaFuncGetAttributes(&code, kernel);
    if (error != cudaSuccess || bytes + code.sharedSizeBytes <= UNASKED)
        return error;
    const size_t most = static_cast<size_t>(code.maxDynamicSharedSizeBytes);
    if (most > UNASKED && bytes <= most)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(gf_shared_limit() - code.sharedSizeBytes));
}

/* ---- launches ---- */

/* Blocks of a launch: `bytes` of dynamic shared memory each; `cluster` of them, side by side, are
 * one. */
struct GfBlocks {
    dim3 grid, threads;
    size_t bytes = 0;
    unsigned cluster = 1;
};

/* Launches a kernel. */
template <typename... Params, typename... Args>
cudaError_t gf_launch(void (*kernel)(Params...), const GfBlocks &blocks, cudaStream_t stream,
                      const Args &...args)
{
    const cudaError_t error = gf_allow_shared(kernel, blocks.bytes);
    if (error != cudaSuccess)
        return error;
    gf_start(kernel, blocks.grid, blocks.threads, blocks.bytes, stream, args...);
    return cudaGetLastError();
}

/* Launches a kernel that calls gf_wait_for_stream(): where the card can, its blocks come as soon as
 * there is room beside the last ones of the kernel before it in the stream, instead of after that
 * kernel's end. */
template <typename... Args>
cudaError_t gf_launch_early(void (*kernel)(Args...), const GfBlocks &blocks, cudaStream_t stream,
                            const Args &...args)
{
    cudaFuncAttributes code;
    cudaError_t error = gf_allow_shared(kernel, blocks.bytes);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&code, kernel);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks.grid;
    config.blockDim = blocks.threads;
    config.dynamicSmemBytes = blocks.bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (code.ptxVersion >= 90) { /* older code does not wait */
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (blocks.cluster > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs++].val.clusterDim = {blocks.cluster, 1, 1};
    }
    return gf_start(config, kernel, args...);
}

/* Blocks, one on each multiprocessor, that the current device runs at once in clusters of so
 * many. */
inline size_t gf_cluster_room(size_t cluster)
{
    return gf_cluster_blocks(cluster, gf_multiprocessors());
}

/* Blocks of a multiprocessor when all have as many. */
inline size_t gf_blocks_each(const GfBlocks &blocks)
{
    const dim3 grid = blocks.grid;
    return gf_divide_up(static_cast<size_t>(grid.x) * grid.y * grid.z,
                        gf_cluster_room(blocks.cluster));
}

/* Blocks that come early settle where there is room first. With more shared memory they cannot
 * share a multiprocessor while another has none: it holds as many as it has to when all have as
 * many. */
template <typename Kernel> GfBlocks gf_spread(Kernel kernel, GfBlocks blocks)
{
    const dim3 threads = blocks.threads;
    const size_t each = gf_blocks_each(blocks);
    cudaFuncAttributes code;
    int most;
    if (gf_allow_shared(kernel, blocks.bytes) != cudaSuccess ||
        cudaFuncGetAttributes(&code, kernel) != cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &most, kernel, static_cast<int>(threads.x * threads.y * threads.z), blocks.bytes) !=
            cudaSuccess ||
        each >= static_cast<size_t>(most))
        return blocks;
    /* One more does not fit. */
    const size_t share = gf_multiprocessor_bytes() / (each + 1);
    const size_t own = code.sharedSizeBytes + GF_BLOCK_BYTES;
    if (share >= blocks.bytes + own)
        blocks.bytes = share - own + 1;
    return blocks;
}
