/* What the kernels share: rows and samples, what happens to a sum until it is stored, and how a
 * thread finds its sample. Arithmetic that decides an output's bits is written with explicit fma,
 * so that two kernels, or two paths of one, cannot be contracted differently. */
#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/launch.h"

/* ---- rows ---- */

/* Row y, which the view holds. 64 bits throughout: rows and pictures may be larger than 4 GiB. */
template <typename T> __device__ inline const T *gf_row(const GfRows &rows, size_t y)
{
    size_t i = y - rows.first;
    if (i >= rows.capacity)
        i -= rows.capacity;
    return reinterpret_cast<const T *>(static_cast<const unsigned char *>(rows.samples) +
                                       i * rows.stride);
}

/* ---- the last step to a sample ---- */

/* Rounds half to even, then saturates; NaN becomes 0 (conversion from f32 does both by itself, from
 * f64 it turns NaN into 2^31). */
__device__ inline unsigned gf_round(float v, unsigned largest)
{
    return min(__float2uint_rn(v), largest);
}

__device__ inline unsigned gf_round(double v, unsigned largest)
{
    return v == v ? min(__double2uint_rn(v), largest) : 0;
}

/* Stores sample s of a row. */
template <typename T> __device__ inline void gf_store(void *row, size_t s, T v, GfSample sample)
{
    switch (sample) {
    case GF_U8:
        static_cast<uint8_t *>(row)[s] = static_cast<uint8_t>(gf_round(v, 255));
        break;
    case GF_U16:
        static_cast<uint16_t *>(row)[s] = static_cast<uint16_t>(gf_round(v, 65535));
        break;
    case GF_F32:
        static_cast<float *>(row)[s] = static_cast<float>(v);
        break;
    case GF_F64:
        static_cast<double *>(row)[s] = v;
        break;
    }
}

/* ---- from a sum to the sample ---- */

/* What GfStep says about sums, in the type in which they are made. */
template <typename T> struct GfFinish {
    T scale, offset;
    T amount, threshold; /* of unsharp, the threshold in this step's units */
    T gain, mid;
    T a[GF_STEP_MAX_POST], b[GF_STEP_MAX_POST];
    GfPointwiseOp op[GF_STEP_MAX_POST];
    int posts;
    GfCombineOp combine;
    GfSample out;
};

template <typename T> inline GfFinish<T> gf_finish(const GfStep *step)
{
    GfFinish<T> finish = {};
    finish.scale = static_cast<T>(step->linear.scale);
    finish.offset = static_cast<T>(step->linear.offset);
    finish.amount = static_cast<T>(step->combine.amount);
    finish.threshold = static_cast<T>(step->combine.threshold * step->white / 255.0);
    finish.gain = static_cast<T>(step->gain);
    finish.mid = static_cast<T>(step->mid);
    for (size_t i = 0; i < step->posts; i++) {
        finish.op[i] = step->post[i].op;
        finish.a[i] = static_cast<T>(step->post[i].a);
        finish.b[i] = static_cast<T>(step->post[i].b);
    }
    finish.posts = static_cast<int>(step->posts);
    finish.combine = step->combine.op;
    finish.out = step->out;
    return finish;
}

/* r0 + amount * (r0 - r1) where the two differ by the threshold. */
template <typename T> __device__ inline T gf_unsharp(const GfFinish<T> &finish, T r0, T r1)
{
    T difference = r0 - r1;
    return fabs(difference) >= finish.threshold ? fma(finish.amount, difference, r0) : r0;
}

/* The functions of one sample, and the gain; `colour` is false for an opacity that they pass over.
 */
template <typename T> __device__ inline T gf_post(const GfFinish<T> &finish, T v, bool colour)
{
    for (int i = 0; colour && i < finish.posts; i++)
        switch (finish.op[i]) {
        case GF_POINTWISE_ABS:
            v = fabs(v);
            break;
        case GF_POINTWISE_AFFINE:
            v = fma(finish.a[i], v, finish.b[i]);
            break;
        }
    return fma(v, finish.gain, colour ? finish.mid : T(0));
}

/* ---- a thread a sample ---- */

/* Output rows [y0, y1) of `samples` samples each, cut into tiles of TILE_X x TILE_Y threads that
 * are numbered row by row in grid.x, which alone has room for 2^31 - 1 of them. */
constexpr int GF_TILE_X = 32, GF_TILE_Y = 8;

struct GfTiles {
    size_t y0, y1, samples;
    size_t across; /* tiles side by side */
};

inline GfTiles gf_tiles(const GfLaunch *launch)
{
    size_t samples = launch->step->out_width * launch->step->channels;
    return {launch->y0, launch->y1, samples, (samples + GF_TILE_X - 1) / GF_TILE_X};
}

inline dim3 gf_tiles_grid(const GfTiles &tiles)
{
    size_t down = (tiles.y1 - tiles.y0 + GF_TILE_Y - 1) / GF_TILE_Y;
    return dim3(static_cast<unsigned>(tiles.across * down));
}

/* This thread's sample s of row y; false where there is none. */
__device__ inline bool gf_my_sample(const GfTiles &tiles, size_t *s, size_t *y)
{
    *s = blockIdx.x % tiles.across * GF_TILE_X + threadIdx.x;
    *y = tiles.y0 + blockIdx.x / tiles.across * GF_TILE_Y + threadIdx.y;
    return *s < tiles.samples && *y < tiles.y1;
}
