/* A filter step as kernels see it, banks and layers in one form, and how threads find their output
 * samples of it. */
#pragma once

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/launch.h"
#include "gpu/samples.cuh"

/* A launch on the current device, for methods that know what theirs take. */
inline GfTask gf_task_of(const GfLaunch *launch)
{
    return {launch->step,
            launch->y1 - launch->y0,
            launch->count,
            launch->wide,
            gf_rows_aligned(launch->out, launch->step->out, 4),
            gf_multiprocessors(),
            gf_multiprocessor_bytes(),
            gf_shared_limit(),
            gf_has_clusters()};
}

/* Banks and layers in one form. Output channel o of a step is made of `responses` sums (a bank's
 * kernels, combined; a layer has one), the j-th of kernel gf_kernel(p, o, j) on the `depth` input
 * channels from gf_first_channel(p, o) on. */
template <typename Sum> struct GfProblem {
    GfRows in;
    GfOutRows out;
    size_t y0, y1, count;
    long long in_width, in_height, out_width;
    long long stride_x, stride_y, dilation_x, dilation_y, origin_x, origin_y, anchor_x, anchor_y;
    int channels, out_channels, depth, responses;
    int maps_per_group; /* 0: a bank */
    int width, height;  /* taps */
    int post_channels;
    bool keep_alpha;
    GfBorder border;
    Sum border_value;
    const Sum *weights, *bias;
    GfFinish<Sum> finish;
};

template <typename Sum> inline GfProblem<Sum> gf_problem(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    bool layer = gf_step_is_layer(step);
    GfProblem<Sum> p = {};
    p.in = launch->in;
    p.out = launch->out;
    p.y0 = launch->y0;
    p.y1 = launch->y1;
    p.count = launch->count;
    p.in_width = static_cast<long long>(step->in_width);
    p.in_height = static_cast<long long>(step->in_height);
    p.out_width = static_cast<long long>(step->out_width);
    p.stride_x = static_cast<long long>(step->stride_x);
    p.stride_y = static_cast<long long>(step->stride_y);
    p.dilation_x = static_cast<long long>(step->dilation_x);
    p.dilation_y = static_cast<long long>(step->dilation_y);
    p.origin_x = step->origin_x;
    p.origin_y = step->origin_y;
    p.anchor_x = static_cast<long long>(linear->anchor_x);
    p.anchor_y = static_cast<long long>(linear->anchor_y);
    p.channels = static_cast<int>(step->channels);
    p.out_channels = static_cast<int>(step->out_channels);
    p.depth = layer ? static_cast<int>(linear->depth) : 1;
    p.responses = layer ? 1 : static_cast<int>(linear->filters);
    p.maps_per_group = layer ? static_cast<int>(linear->filters / linear->groups) : 0;
    p.width = static_cast<int>(linear->width);
    p.height = static_cast<int>(linear->height);
    p.post_channels = static_cast<int>(step->post_channels);
    p.keep_alpha = step->keep_alpha;
    p.border = step->border;
    p.border_value = static_cast<Sum>(step->border_value);
    p.weights = static_cast<const Sum *>(launch->weights);
    p.bias = static_cast<const Sum *>(launch->bias);
    p.finish = gf_finish<Sum>(step);
    return p;
}

template <typename Sum> __device__ inline int gf_kernel(const GfProblem<Sum> &p, int o, int j)
{
    return p.maps_per_group ? o : j;
}

template <typename Sum> __device__ inline int gf_first_channel(const GfProblem<Sum> &p, int o)
{
    return p.maps_per_group ? o / p.maps_per_group * p.depth : o;
}

/* An input row of picture n by the border's rule; NULL where the border's constant stands. Sample
 * (x, c) of it is at [x * in.pixel + c * in.plane]. */
template <typename In, typename Sum>
__device__ inline const In *gf_input_row(const GfProblem<Sum> &p, size_t n, long long y)
{
    y = gf_border_index(y, p.in_height, p.border);
    if (y < 0)
        return nullptr;
    return reinterpret_cast<const In *>(
        reinterpret_cast<const unsigned char *>(gf_row<In>(p.in, static_cast<size_t>(y))) +
        n * p.in.batch);
}

/* Sample (x, c) of such a row, x by the border's rule. */
template <typename In, typename Sum>
__device__ inline Sum gf_input(const GfProblem<Sum> &p, const In *row, long long x, int c)
{
    x = row ? gf_border_index(x, p.in_width, p.border) : -1;
    return x < 0 ? p.border_value : gf_number<Sum>(row[x * p.in.pixel + c * p.in.plane]);
}

/* Is channel o of the output the input's opacity? */
template <typename Sum> __device__ inline bool gf_is_kept(const GfProblem<Sum> &p, int o)
{
    return p.keep_alpha && o == p.channels - 1;
}

/* Stores a sample of the output, all done. */
template <typename Sum>
__device__ inline void gf_put(const GfProblem<Sum> &p, size_t n, int o, long long x, size_t y,
                              Sum v)
{
    unsigned char *row =
        static_cast<unsigned char *>(p.out.samples) + (y - p.y0) * p.out.stride + n * p.out.batch;
    gf_store(row, x * p.out.pixel + o * p.out.plane, v, p.finish.out);
}

/* From the combined response of output channel o to the stored sample: bias, functions, store. */
template <typename Sum>
__device__ inline void gf_finish_sample(const GfProblem<Sum> &p, size_t n, int o, long long x,
                                        size_t y, Sum v)
{
    if (p.bias)
        v += p.bias[o];
    gf_put(p, n, o, x, y, gf_post(p.finish, v, o < p.post_channels));
}

/* The same for the input's opacity, which is only moved to its place. */
template <typename In, typename Sum>
__device__ inline void gf_keep_alpha(const GfProblem<Sum> &p, size_t n, int o, long long x,
                                     size_t y)
{
    long long at_x = x * p.stride_x + p.origin_x + p.anchor_x * p.dilation_x;
    long long at_y =
        static_cast<long long>(y) * p.stride_y + p.origin_y + p.anchor_y * p.dilation_y;
    const In *row = gf_input_row<In>(p, n, at_y);
    gf_put(p, n, o, x, y, gf_input(p, row, at_x, o) * p.finish.gain);
}

/* The same of a step without strides and dilation, of samples of a type of `size` bytes that is
 * given. */
template <typename Sum>
__device__ inline void gf_keep_alpha_of(const GfProblem<Sum> &p, GfSample type, size_t size,
                                        size_t n, int o, long long x, size_t y)
{
    const long long at_x = gf_border_index(x + p.origin_x + p.anchor_x, p.in_width, p.border);
    const long long at_y =
        gf_border_index(static_cast<long long>(y) + p.origin_y + p.anchor_y, p.in_height, p.border);
    Sum v = p.border_value;
    if (at_x >= 0 && at_y >= 0) {
        const unsigned char *row =
            gf_row<unsigned char>(p.in, static_cast<size_t>(at_y)) + n * p.in.batch;
        v = gf_number_at<Sum, void>(row + (at_x * p.in.pixel + o * p.in.plane) * size, type);
    }
    gf_put(p, n, o, x, y, v * p.finish.gain);
}

/* ---- a thread several output samples ---- */

/* Four neighbours, moved as vectors of 16 bytes. */
template <typename T> struct alignas(16) GfFour {
    T v[4];
};

/* From the first `count` responses of a row of fours of output channel o, at x and right of it, to
 * the stored samples: gf_finish_sample() for each of them. */
template <int FOURS, typename Sum>
__device__ inline void gf_finish_fours(const GfProblem<Sum> &p, size_t n, int o, long long x,
                                       size_t y, Sum (&r)[FOURS * 4], int count)
{
    unsigned char *row =
        static_cast<unsigned char *>(p.out.samples) + (y - p.y0) * p.out.stride + n * p.out.batch;
    float *to = reinterpret_cast<float *>(row) + (x + o * p.out.plane);
    bool aligned = reinterpret_cast<uintptr_t>(to) % sizeof(GfFour<float>) == 0;
    bool colour = o < p.post_channels;
    Sum bias = p.bias ? p.bias[o] : Sum(0);
#pragma unroll
    for (int i = 0; p.bias && i < FOURS * 4; i++)
        r[i] += bias;
    gf_post_each(p.finish, r, [&](int) { return colour; });
#pragma unroll
    for (int f = 0; f < FOURS * 4; f += 4) {
        GfFour<float> samples;
#pragma unroll
        for (int i = 0; i < 4; i++)
            samples.v[i] = static_cast<float>(r[f + i]);
        if (p.finish.out == GF_F32 && p.out.pixel == 1 && count >= f + 4 && aligned) {
            *reinterpret_cast<GfFour<float> *>(to + f) = samples;
            continue;
        }
#pragma unroll
        for (int i = f; i < f + 4; i++)
            if (i < count)
                gf_put(p, n, o, x + i, y, r[i]);
    }
}

/* A block of several teams of threads. Thread t of each team makes the same 4 * FOURS responses, of
 * other taps: the taps are cut into chains (gf_chain()), and team i of n takes the chains i, i + n,
 * i + 2n, ... Here all teams, which have `sums` of a chain each, add them to the totals in shared
 * memory one after the other. So chains are added in their order whatever the number of teams is,
 * and bits do not depend on how a block was cut. Total [i][t] is the i-th four of thread t; `chain`
 * is the number of this team's chain, beyond the last where it has none. */
template <int TEAM, int TEAMS, int FOURS, typename Sum>
__device__ inline void gf_add_chains(GfFour<Sum> (*totals)[TEAM], const GfFour<Sum> (&sums)[FOURS],
                                     int team, int t, int chain, int chains)
{
    for (int turn = 0; turn < TEAMS; turn++) {
        if (turn == team && chain < chains)
#pragma unroll
            for (int i = 0; i < FOURS; i++) {
                GfFour<Sum> total = chain == 0 ? GfFour<Sum>{} : totals[i][t];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    total.v[j] += sums[i].v[j];
                totals[i][t] = total;
            }
        if (TEAMS > 1)
            __syncthreads();
    }
}

/* ---- a thread an output sample ---- */

/* Tiles of TILE_X x TILE_Y samples, numbered row by row in grid.x, which alone has room for 2^31 -
 * 1 of them; sets of them in grid.y, pictures in grid.z. Where pixels are interleaved one set
 * covers the samples of all channels as they lie in a row, else there is a set an output
 * channel. */
constexpr int GF_TILE_X = 32, GF_TILE_Y = 8;

struct GfTiles {
    size_t y0, y1;
    size_t samples;  /* of a row of a set */
    size_t across;   /* tiles side by side */
    size_t channels; /* interleaved, or 1 */
};

inline GfTiles gf_tiles(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    size_t channels = launch->out.plane == 1 ? step->out_channels : 1;
    size_t samples = step->out_width * channels;
    return {launch->y0, launch->y1, samples, (samples + GF_TILE_X - 1) / GF_TILE_X, channels};
}

inline dim3 gf_tiles_grid(const GfTiles &tiles, const GfLaunch *launch)
{
    size_t down = (tiles.y1 - tiles.y0 + GF_TILE_Y - 1) / GF_TILE_Y;
    return dim3(static_cast<unsigned>(tiles.across * down),
                static_cast<unsigned>(launch->step->out_channels / tiles.channels),
                static_cast<unsigned>(launch->count));
}

/* This thread's output sample: channel o of pixel (x, y) of picture blockIdx.z; false where there
 * is none. */
__device__ inline bool gf_my_sample(const GfTiles &tiles, int *o, long long *x, size_t *y)
{
    size_t s = blockIdx.x % tiles.across * GF_TILE_X + threadIdx.x;
    *y = tiles.y0 + blockIdx.x / tiles.across * GF_TILE_Y + threadIdx.y;
    *x = static_cast<long long>(s / tiles.channels);
    *o = static_cast<int>(tiles.channels == 1 ? blockIdx.y : s % tiles.channels);
    return s < tiles.samples && *y < tiles.y1;
}

/* ---- one channel's sum after the other ---- */

/* The sums of a kernel's channels are added up in runs, and the runs: so few roundings follow one
 * another in a deep layer as gf_layer_chunk() promises. */
constexpr int GF_CHANNEL_RUN = 64, GF_LONG_RUN = 8 * GF_CHANNEL_RUN;

__host__ __device__ inline int gf_channel_run(int depth)
{
    return depth > GF_DEEP_TAPS ? GF_LONG_RUN : GF_CHANNEL_RUN;
}

template <typename Sum> struct GfDepthSum {
    Sum total, run;
};

/* Adds the sum of channel d of a layer; the channels come in their order. */
template <typename Sum>
__device__ inline void gf_add_channel(const GfProblem<Sum> &p, GfDepthSum<Sum> *depth, int d,
                                      Sum sum)
{
    depth->run += sum;
    if ((d + 1) % GF_CHANNEL_RUN == 0 && (d + 1) % gf_channel_run(p.depth) == 0) {
        depth->total += depth->run;
        depth->run = 0;
    }
}

/* The response: of all channels, scaled. */
template <typename Sum>
__device__ inline Sum gf_respond(const GfFinish<Sum> &finish, const GfDepthSum<Sum> &depth)
{
    return fma(depth.total + depth.run, finish.scale, finish.offset);
}

/* ---- taps in constant memory ---- */

/* Kernel parameters lie in constant memory, which hands a number to all threads of a warp at once.
 * As a parameter the taps belong to one launch; a __constant__ symbol would be one for all. */
template <typename Sum, size_t BYTES> struct GfConstantTaps {
    Sum tap[BYTES / sizeof(Sum)];
};

template <typename Sum, size_t BYTES>
GfConstantTaps<Sum, BYTES> gf_constant_taps(const GfLaunch *launch)
{
    GfConstantTaps<Sum, BYTES> taps = {};
    const Sum *host = static_cast<const Sum *>(launch->weights_host);
    size_t count = gf_taps_bytes(launch->step, launch->wide) / sizeof(Sum);
    for (size_t i = 0; i < count; i++)
        taps.tap[i] = host[i];
    return taps;
}

/* The same to a kernel, where they are too many. */
template <typename Sum> struct GfGlobalTaps {
    const Sum *tap;
};
