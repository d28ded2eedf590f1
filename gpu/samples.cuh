/* Samples on the device: where rows lie, how a sample becomes a number and a number a sample. */
#pragma once

#include <cmath>
#include <cstdint>
#include <cuda_fp16.h>
#include <type_traits>

#include "gpu/launch.h"

/* ---- rows ---- */

/* Row y of the first picture, which the view holds. 64 bits throughout: rows and pictures may be
 * larger than 4 GiB. */
template <typename T> __device__ inline const T *gf_row(const GfRows &rows, size_t y)
{
    size_t i = y - rows.first;
    if (i >= rows.capacity)
        i -= rows.capacity;
    return reinterpret_cast<const T *>(static_cast<const unsigned char *>(rows.samples) +
                                       i * rows.stride);
}

/* A sample as a number that is summed. F16 is __half. */
template <typename Sum, typename In> __device__ inline Sum gf_number(In sample)
{
    if constexpr (sizeof(In) == 2 && !std::is_integral_v<In>)
        return static_cast<Sum>(__half2float(sample));
    else
        return static_cast<Sum>(sample);
}

/* Calls run(T()) with the type of the samples: what kernels are instantiated for. Sums in f32 are
 * made of u8, u16, f16 and f32, sums in f64 of f64 too. */
template <typename Sum, typename Run> cudaError_t gf_with_sample(GfSample sample, Run run)
{
    switch (sample) {
    case GF_U8:
        return run(uint8_t());
    case GF_U16:
        return run(uint16_t());
    case GF_F16:
        return run(__half());
    case GF_F32:
        return run(float());
    case GF_F64:
        if constexpr (sizeof(Sum) == sizeof(double))
            return run(double());
        break;
    }
    return cudaErrorNotSupported;
}

/* The number at an address, whose type is known when compiling, or else (In is void) given: for the
 * methods whose kernels are too many to have one for each type. */
template <typename Sum, typename In>
__device__ inline Sum gf_number_at(const void *at, GfSample type)
{
    if constexpr (!std::is_void_v<In>)
        return gf_number<Sum>(*static_cast<const In *>(at));
    switch (type) {
    case GF_U8:
        return gf_number<Sum>(*static_cast<const uint8_t *>(at));
    case GF_U16:
        return gf_number<Sum>(*static_cast<const uint16_t *>(at));
    case GF_F16:
        return gf_number<Sum>(*static_cast<const __half *>(at));
    case GF_F32:
        return gf_number<Sum>(*static_cast<const float *>(at));
    case GF_F64:
        break;
    }
    return static_cast<Sum>(*static_cast<const double *>(at));
}

/* ---- borders without divisions ---- */

/* What gf_border_index() says of a line of n samples, no further from it than it is long, without
 * divisions: in place of sample i beside it stands sample sign * i + before, or beyond its end
 * sign * i + behind; -1 is the border's constant. */
struct GfEdge {
    int n, sign, before, behind;
};

__device__ inline int gf_find_sample(const GfEdge &edge, int i)
{
    const int other = edge.sign * i + (i < 0 ? edge.before : edge.behind);
    return static_cast<unsigned>(i) < static_cast<unsigned>(edge.n) ? i : other;
}

inline GfEdge gf_find_edge(size_t samples, GfBorder border)
{
    const int n = static_cast<int>(samples);
    switch (border) {
    case GF_BORDER_REPLICATE:
        return {n, 0, 0, n - 1};
    case GF_BORDER_WRAP:
        return {n, 1, n, -n};
    case GF_BORDER_REFLECT:
        return {n, -1, -1, 2 * n - 1};
    case GF_BORDER_REFLECT101:
        return {n, -1, 0, 2 * n - 2};
    case GF_BORDER_CONSTANT:
    case GF_BORDER_VALID:
        break;
    }
    return {n, 0, -1, -1};
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
    case GF_F16: /* never an output */
        break;
    case GF_F32:
        static_cast<float *>(row)[s] = static_cast<float>(v);
        break;
    case GF_F64:
        static_cast<double *>(row)[s] = v;
        break;
    }
}

/* ---- neighbouring samples ---- */

/* N of them as they lie in memory, moved in accesses of at most 16 bytes. */
template <typename T, int N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) GfSamples {
    T sample[N];
};

template <typename Out, typename T> __device__ inline Out gf_convert(T v)
{
    if constexpr (std::is_floating_point_v<Out>)
        return static_cast<Out>(v);
    else
        return static_cast<Out>(gf_round(v, static_cast<unsigned>(static_cast<Out>(-1))));
}

/* Stores the first `count` of v[0 .. N - 1], `pixel` samples apart; `whole`: all of them, side by
 * side and aligned. STREAM: vectors of 16 bytes leave L2 before what else is there. */
template <int N, bool STREAM = false, typename Out, typename T>
__device__ inline void gf_store_samples(Out *to, size_t pixel, int count, bool whole, const T *v)
{
    GfSamples<Out, N> samples;
#pragma unroll
    for (int i = 0; i < N; i++)
        samples.sample[i] = gf_convert<Out>(v[i]);
    if (whole) {
        if constexpr (STREAM && sizeof samples == sizeof(uint4))
            __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&samples));
        else
            *reinterpret_cast<GfSamples<Out, N> *>(to) = samples;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            to[i * pixel] = samples.sample[i];
}

constexpr int GF_SECTOR = 8; /* floats, of memory */

/* Stores a strip of a row whose samples may begin anywhere, a warp neighbouring samples from `kept`
 * to `to`: of whole sectors, to which partly written ones cost several times as much. Of the first
 * that the strip has part of, the strip before has all: they are WIDTH columns wide and overlap by
 * a sector. `columns` of the strip are on the picture; `first`, `last`: no strip of the row comes
 * before or behind. INSIDE: both do. */
template <int WIDTH, bool INSIDE>
__device__ inline void gf_store_sectors(float *to, const float *kept, int columns, bool first,
                                        bool last)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto place = static_cast<unsigned>(reinterpret_cast<uintptr_t>(to)) / sizeof(float);
    const int past = static_cast<int>((place - 1) % GF_SECTOR) + 1;
    const int begin = first ? 0 : GF_SECTOR - past, end = last ? columns : WIDTH - past;
    to += lane - past;
    kept += lane - past;
#pragma unroll
    for (int i = 0; i < WIDTH; i += 32) {
        const int x = i + lane - past;
        if (INSIDE ? i > 0 || lane >= GF_SECTOR : x >= begin && x < end)
            to[i] = kept[i];
    }
    if (!INSIDE && WIDTH + lane - past < end)
        to[WIDTH] = kept[WIDTH];
}

/* Do rows, and the pictures of a minibatch, all begin at multiples of so many bytes? */
inline bool gf_aligned(const void *rows, size_t stride, size_t batch, size_t bytes)
{
    return reinterpret_cast<uintptr_t>(rows) % bytes == 0 && stride % bytes == 0 &&
           batch % bytes == 0;
}

/* Do rows of samples keep accesses of N samples aligned? A plane of one sample is that of an only
 * channel, or too narrow for such an access. */
inline bool gf_rows_aligned(const GfOutRows &rows, GfSample sample, size_t n)
{
    size_t bytes = n * gf_sample_size(sample);
    bytes = bytes < 16 ? bytes : 16;
    return rows.pixel == 1 && gf_aligned(rows.samples, rows.stride, rows.batch, bytes) &&
           (rows.plane == 1 || rows.plane % n == 0);
}
