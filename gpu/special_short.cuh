/* Where the rows and columns of short strips lie that `special` reads of a channel, a warp some
 * rows: 128 neighbouring samples, four a lane (special_short.cu, special_maps.cu), or other strips
 * (special_pairs.cu); and what single kernels make of their sums. */
#pragma once

#include "gpu/blocks.cuh"
#include "gpu/instructions.cuh"
#include "gpu/problem.cuh"

namespace gf_short
{

constexpr int VECTOR = 4, STRIP = 32 * VECTOR; /* samples of a lane, of a strip */
static_assert(STRIP == GF_SPECIAL_STRIP);

/* A channel. */
struct Plane {
    GfRows in;
    size_t y0, rows; /* first output row, and how many there are */
    int width;
    long long height;
    long long origin_y; /* input row of the first tap for output row 0 */
    GfBorder border;
    float border_value;
};

/* Where a warp works, or a block. Input row 0 is that of the first tap for its first output row. */
struct Strip {
    size_t top;      /* its first output row, */
    int rows, first; /* how many it has, its first column */
};

__device__ inline int my_lane()
{
    return static_cast<int>(threadIdx.x % 32);
}

/* Four samples, one by one. What does not lie on the picture is read as well, from somewhere else,
 * so that no read waits for a choice. */
__device__ inline float4 gather(const float *row, const int (&columns)[VECTOR], float border)
{
    float v[VECTOR];
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        v[i] = __ldg(row + max(columns[i], 0));
#pragma unroll
    for (int i = 0; i < VECTOR; i++)
        v[i] = columns[i] < 0 ? border : v[i];
    return make_float4(v[0], v[1], v[2], v[3]);
}

/* The slot in memory of a strip's input row r by the border's rule; -1 where the constant stands,
 * or where no output row meets it. */
template <int K> __device__ int find_slot(const Plane &plane, const Strip &strip, int r)
{
    if (r >= strip.rows + K - 1)
        return -1;
    const long long y = gf_border_index(static_cast<long long>(strip.top) + plane.origin_y + r,
                                        plane.height, plane.border);
    const size_t slot = static_cast<size_t>(y) - plane.in.first;
    return y < 0 ? -1
                 : static_cast<int>(slot - (slot >= plane.in.capacity ? plane.in.capacity : 0));
}

/* The slot of a strip's first input row, if all rows lie on the picture and one after the other in
 * memory; else -1. */
template <int K, int TALL> __device__ int find_slots(const Plane &plane, const Strip &strip)
{
    constexpr int COUNT = TALL + K - 1;
    const long long y = static_cast<long long>(strip.top) + plane.origin_y;
    size_t slot = static_cast<size_t>(y) - plane.in.first;
    slot -= slot >= plane.in.capacity ? plane.in.capacity : 0;
    const bool together = strip.rows == TALL && y >= 0 && y + COUNT <= plane.height &&
                          slot + COUNT <= plane.in.capacity;
    return together ? static_cast<int>(slot) : -1;
}

template <typename In = float> __device__ const In *row_at(const Plane &plane, int slot)
{
    return reinterpret_cast<const In *>(static_cast<const unsigned char *>(plane.in.samples) +
                                        static_cast<size_t>(slot) * plane.in.stride +
                                        blockIdx.z * plane.in.batch);
}

/* The column that stands for one beside the picture, each lane another: those left of it, as far as
 * taps reach, then those right of it. -1: the constant. */
template <int K> __device__ int find_beside(const Plane &plane)
{
    constexpr int SIDE = K / 2;
    const int lane = my_lane(), beside = lane < SIDE ? lane - SIDE : plane.width + lane - SIDE;
    return static_cast<int>(gf_border_index(beside, plane.width, plane.border));
}

/* The columns of N samples from `first` on; beside the picture, those that stand for them. -1:
 * the constant, or what nothing needs. */
template <int K, int N>
__device__ void find_columns(const Plane &plane, int beside, int first, int (&columns)[N])
{
    constexpr int SIDE = K / 2;
    const int width = plane.width;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int c = first + i, finder = (c < 0 ? c : c - width) + SIDE;
        const int other = __shfl_sync(~0u, beside, finder & 31);
        const bool reached = c >= -SIDE && c < width + SIDE;
        columns[i] = c >= 0 && c < width ? c : reached ? other : -1;
    }
}

/* ---- sums, and what becomes of them but for rounding ---- */

/* Adds a row to the sums under way, in the order of the taps: sums[j] have seen j rows. Those that
 * see their last one come out in `done`. x(i, k): what the i-th sum has of it under tap k. */
template <int K, int N, typename Samples>
__device__ void add_row(const float (&taps)[K * K], Samples x, float (&sums)[K][N],
                        float (&done)[N])
{
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int i = 0; i < N; i++) {
            float sum = j ? sums[j][i] : 0.0f;
#pragma unroll
            for (int k = 0; k < K; k++)
                sum = fmaf(taps[j * K + k], x(i, k), sum);
            (j == K - 1 ? done[i] : sums[(j + 1) % K][i]) = sum;
        }
}

/* The offset is -0 where there is none, which changes nothing. */
struct Ending {
    float scale, offset;
    unsigned keep; /* bits of a number: all but the sign for its size */
};

template <int N> __device__ void end_sums(const Ending &ending, float (&sums)[N])
{
#pragma unroll
    for (float &sum : sums)
        sum =
            __uint_as_float(__float_as_uint(fmaf(sum, ending.scale, ending.offset)) & ending.keep);
}

/* Of a step for which gf_step_ends_plainly(). */
inline Ending ending_of(const GfStep *step)
{
    const double shift = step->linear.offset + (step->bias ? step->bias[0] : 0.0);
    const double offset = shift * step->gain + step->mid;
    return {static_cast<float>(step->linear.scale * step->gain),
            offset == 0.0 ? -0.0f : static_cast<float>(offset),
            step->posts == 0 ? ~0u : 0x7fffffffu};
}

/* ---- what a launch is told ---- */

/* The word whose samples are the constant border; false where none is known: of halves only zero
 * is. */
template <typename In> bool find_constant(const GfStep *step, uint32_t *word)
{
    const double value = step->border_value;
    const double most = std::is_integral_v<In> ? (1u << 8 * sizeof(In) % 32) - 1 : 0.0;
    if (step->border != GF_BORDER_CONSTANT)
        return true;
    if (!(value >= 0.0 && value <= most && gf_is_whole(value)))
        return false;
    *word = static_cast<uint32_t>(value) * (sizeof(In) == 1 ? 0x01010101u : 0x00010001u);
    return true;
}

/* Of a launch; all but what it is told of the output. */
inline Plane plane_of(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    Plane plane = {};
    plane.in = launch->in;
    plane.y0 = launch->y0;
    plane.rows = launch->y1 - launch->y0;
    plane.width = static_cast<int>(step->in_width);
    plane.height = static_cast<long long>(step->in_height);
    plane.origin_y = step->origin_y;
    plane.border = step->border;
    plane.border_value = static_cast<float>(step->border_value);
    return plane;
}

} // namespace gf_short
