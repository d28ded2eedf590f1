/* What the kernels share: rows and samples, what happens to a sum until it is stored, and how a
 * thread finds its sample. Arithmetic that decides an output's bits is written with explicit fma,
 * so that two kernels, or two paths of one, cannot be contracted differently. */
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

/* The same of four samples to the bytes of a word, the first the lowest: two conversions of two,
 * which no intrinsic says. */
__device__ inline uint32_t gf_round_bytes(float a, float b, float c, float d)
{
#ifdef __CUDA_ARCH__
    uint32_t high, word;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
        : "=r"(high)
        : "r"(__float2int_rn(d)), "r"(__float2int_rn(c)));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(word)
        : "r"(__float2int_rn(b)), "r"(__float2int_rn(a)), "r"(high));
    return word;
#else
    return gf_round(a, 255) | gf_round(b, 255) << 8 | gf_round(c, 255) << 16 |
           gf_round(d, 255) << 24;
#endif
}

/* A square root, within 2 units of its last place. */
__device__ inline float gf_root(float v)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
#else
    return sqrtf(v);
#endif
}

/* The larger number; NaN is more than any, and stays. */
template <typename T> __device__ inline T gf_more(T most, T v)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {
        float more;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(more) : "f"(most), "f"(v));
        return more;
    }
#endif
    return v > most || v != v ? v : most;
}

/* Begins to copy 16 bytes, both aligned, from global to shared memory, as __pipeline_memcpy_async() does,
 * but by way of L1: for what neighbouring warps read too. */
__device__ inline void gf_copy_vector(void *to, const void *from)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
#else
    *static_cast<uint4 *>(to) = *static_cast<const uint4 *>(from);
#endif
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

/* One function of a sample. */
template <typename T> __device__ inline T gf_apply(GfPointwiseOp op, T a, T b, T v)
{
    switch (op) {
    case GF_POINTWISE_ABS:
        return fabs(v);
    case GF_POINTWISE_AFFINE:
        return fma(a, v, b);
    case GF_POINTWISE_RELU:
        return v < 0 ? T(0) : v;
    case GF_POINTWISE_SIGMOID:
        return T(1) / (T(1) + exp(-(v + b)));
    case GF_POINTWISE_TANH:
        return tanh(v);
    case GF_POINTWISE_CLAMP:
        return v < a ? a : v > b ? b : v;
    case GF_POINTWISE_LEAKY:
        return v < 0 ? a * v : v;
    case GF_POINTWISE_DECODE: /* of steps that have a kernel of their own: pixel.cu */
    case GF_POINTWISE_ENCODE:
        break;
    }
    return v;
}

/* The functions of one sample, and the gain; `colour` is false for an opacity that they pass over.
 */
template <typename T> __device__ inline T gf_post(const GfFinish<T> &finish, T v, bool colour)
{
    for (int i = 0; colour && i < finish.posts; i++)
        v = gf_apply(finish.op[i], finish.a[i], finish.b[i], v);
    return fma(v, finish.gain, colour ? finish.mid : T(0));
}

/* One function of N samples; `colour(i)` is false for an opacity that it passes over. */
template <GfPointwiseOp op, int N, typename T, typename Colour>
__device__ inline void gf_apply_each(T a, T b, T (&v)[N], Colour colour)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = colour(i) ? gf_apply(op, a, b, v[i]) : v[i];
}

/* The same for a function of many instructions, of which there is one copy: the samples move past it. */
template <GfPointwiseOp op, int N, typename T, typename Colour>
__device__ inline void gf_apply_in_turn(T a, T b, T (&v)[N], Colour colour)
{
#pragma unroll 1
    for (int i = 0; i < N; i++) {
        T last = colour(i) ? gf_apply(op, a, b, v[0]) : v[0];
#pragma unroll
        for (int j = 0; j + 1 < N; j++)
            v[j] = v[j + 1];
        v[N - 1] = last;
    }
}

/* gf_post() of N samples in registers, each switch passed once. */
template <int N, typename T, typename Colour>
__device__ inline void gf_post_each(const GfFinish<T> &finish, T (&v)[N], Colour colour)
{
    for (int p = 0; p < finish.posts; p++) {
        T a = finish.a[p], b = finish.b[p];
        switch (finish.op[p]) {
        case GF_POINTWISE_ABS:
            gf_apply_each<GF_POINTWISE_ABS>(a, b, v, colour);
            break;
        case GF_POINTWISE_AFFINE:
            gf_apply_each<GF_POINTWISE_AFFINE>(a, b, v, colour);
            break;
        case GF_POINTWISE_RELU:
            gf_apply_each<GF_POINTWISE_RELU>(a, b, v, colour);
            break;
        case GF_POINTWISE_SIGMOID:
            gf_apply_in_turn<GF_POINTWISE_SIGMOID>(a, b, v, colour);
            break;
        case GF_POINTWISE_TANH:
            gf_apply_in_turn<GF_POINTWISE_TANH>(a, b, v, colour);
            break;
        case GF_POINTWISE_CLAMP:
            gf_apply_each<GF_POINTWISE_CLAMP>(a, b, v, colour);
            break;
        case GF_POINTWISE_LEAKY:
            gf_apply_each<GF_POINTWISE_LEAKY>(a, b, v, colour);
            break;
        case GF_POINTWISE_DECODE:
        case GF_POINTWISE_ENCODE:
            break;
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = fma(v[i], finish.gain, colour(i) ? finish.mid : T(0));
}

/* The responses of a bank as they come, made one. Squares are summed in f64: a square of an f32
 * neither overflows nor vanishes there. */
template <typename T> struct GfCombiner {
    T first, v;
    double squares;
};

template <typename T>
__device__ inline void gf_combine_begin(const GfFinish<T> &finish, GfCombiner<T> *c, T r)
{
    c->first = r;
    c->v = finish.combine == GF_COMBINE_L1 ? fabs(r) : r;
    c->squares = static_cast<double>(r) * static_cast<double>(r);
}

template <typename T>
__device__ inline void gf_combine_add(const GfFinish<T> &finish, GfCombiner<T> *c, T r)
{
    switch (finish.combine) {
    case GF_COMBINE_L2:
        c->squares = fma(static_cast<double>(r), static_cast<double>(r), c->squares);
        break;
    case GF_COMBINE_L1:
        c->v += fabs(r);
        break;
    case GF_COMBINE_MAX:
        c->v = fmax(c->v, r);
        break;
    case GF_COMBINE_MIN:
        c->v = fmin(c->v, r);
        break;
    case GF_COMBINE_SUM:
        c->v += r;
        break;
    case GF_COMBINE_NONE:
        break;
    case GF_COMBINE_UNSHARP:
        c->v = gf_unsharp(finish, c->first, r);
        break;
    }
}

template <typename T>
__device__ inline T gf_combine_end(const GfFinish<T> &finish, const GfCombiner<T> &c)
{
    return finish.combine == GF_COMBINE_L2 ? static_cast<T>(sqrt(c.squares)) : c.v;
}

/* The responses r of a bank's second kernel join those of its first, the switch passed once. For
 * responses whose squares the type holds. */
template <int N, typename T>
__device__ inline void gf_combine_each(const GfFinish<T> &finish, T (&v)[N], const T (&r)[N])
{
    switch (finish.combine) {
    case GF_COMBINE_L2:
        for (int i = 0; i < N; i++)
            v[i] = sqrt(fma(v[i], v[i], r[i] * r[i]));
        break;
    case GF_COMBINE_L1:
        for (int i = 0; i < N; i++)
            v[i] = fabs(v[i]) + fabs(r[i]);
        break;
    case GF_COMBINE_MAX:
        for (int i = 0; i < N; i++)
            v[i] = fmax(v[i], r[i]);
        break;
    case GF_COMBINE_MIN:
        for (int i = 0; i < N; i++)
            v[i] = fmin(v[i], r[i]);
        break;
    case GF_COMBINE_SUM:
        for (int i = 0; i < N; i++)
            v[i] += r[i];
        break;
    case GF_COMBINE_UNSHARP:
        for (int i = 0; i < N; i++)
            v[i] = gf_unsharp(finish, v[i], r[i]);
        break;
    case GF_COMBINE_NONE:
        break;
    }
}

/* The length, or the sum of magnitudes, of single responses. */
template <int N, typename T>
__device__ inline void gf_combine_alone(const GfFinish<T> &finish, T (&v)[N])
{
    if (finish.combine == GF_COMBINE_L2 || finish.combine == GF_COMBINE_L1)
        for (int i = 0; i < N; i++)
            v[i] = fabs(v[i]);
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

/* Stores the first `count` of v[0 .. N - 1], `pixel` samples apart; `whole`: all of them, side by side
 * and aligned. */
template <int N, typename Out, typename T>
__device__ inline void gf_store_samples(Out *to, size_t pixel, int count, bool whole, const T *v)
{
    GfSamples<Out, N> samples;
#pragma unroll
    for (int i = 0; i < N; i++)
        samples.sample[i] = gf_convert<Out>(v[i]);
    if (whole) {
        *reinterpret_cast<GfSamples<Out, N> *>(to) = samples;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            to[i * pixel] = samples.sample[i];
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

/* ---- how blocks share the rows ---- */

template <typename T> inline T gf_divide_up(T a, T b)
{
    return (a + b - 1) / b;
}

/* Blocks walk down `columns` strips of `steps` steps each; `at_once` of them run at a time. How many
 * steps a block takes, so that all are busy to the end: starting one costs `halo` steps. */
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

/* Multiprocessors of the current device; 1 when it does not say. */
inline size_t gf_multiprocessors()
{
    int device, count;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return 1;
    return static_cast<size_t>(count);
}

/* Blocks that a multiprocessor of the current device holds at once: of `bytes` of shared memory each,
 * `most` at most. A KiB of each is the card's. */
inline size_t gf_blocks_at_once(size_t most, size_t bytes)
{
    int device, shared;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) !=
            cudaSuccess)
        return 1;
    size_t room = static_cast<size_t>(shared) / (bytes + 1024);
    return room < 1 || most < 1 ? 1 : room < most ? room : most;
}

/* ---- a filter step as kernels see it ---- */

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

/* An input row of picture n by the border's rule; NULL where the border's constant stands. Sample (x,
 * c) of it is at [x * in.pixel + c * in.plane]. */
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

/* ---- products of matrices of bytes ---- */

/* d += a * b of a warp, 16 x 8 sums of 32 products: unsigned bytes times signed bytes, exact. With
 * g = lane / 4 and t = lane % 4: a[0] and a[1] are bytes 4t to 4t + 3 of rows g and g + 8 of the first
 * matrix, a[2] and a[3] those 16 further on; b[0] and b[1] the same bytes of column g of the
 * second; d[0] and d[1] are columns 2t and 2t + 1 of row g, d[2] and d[3] of row g + 8. Needs sm_80. */
__device__ inline void gf_multiply_32(int (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/* The same of 16 products a sum: without the bytes that are 16 further on. */
__device__ inline void gf_multiply_16(int (&d)[4], const uint32_t (&a)[2], uint32_t b)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

/* Two numbers as sums of two of f16 each, of 11 bits each. */
__device__ inline void gf_split(float a, float b, __half2 *upper, __half2 *lower)
{
    *upper = __floats2half2_rn(a, b);
    const float2 back = __half22float2(*upper);
    *lower = __floats2half2_rn(a - back.x, b - back.y);
}

/* Powers of two, one of every APART: `up` takes numbers of which `most` is the largest to below 2^15, that
 * one to 2^(15 - APART) at least, where f16 has its bits; `down` takes them back. */
struct GfScale {
    float up, down;
};

template <unsigned APART> __device__ inline GfScale gf_scale(float most)
{
    const unsigned least = min(max(__float_as_uint(most) >> 23, 15U), 254U);
    const unsigned exponent = (least + APART - 1) / APART * APART;
    return {__uint_as_float((268U - exponent) << 23), __uint_as_float((exponent - 14U) << 23)};
}

/* d += a * b of a warp in f32, of numbers of f16: 16 x 8 sums of 16 products. With g and t as above:
 * a's words are numbers 2t and 2t + 1 of rows g and g + 8, then those 8 further on; b's the same of
 * column g, then those 8 further on; d as above. */
__device__ inline void gf_multiply_halves(float (&d)[4], const uint4 &a, uint32_t b0, uint32_t b1)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

/* The same of 8 products a sum: without the numbers that are 8 further on. */
__device__ inline void gf_multiply_halves(float (&d)[4], const uint2 &a, uint32_t b)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a.x), "r"(a.y), "r"(b));
#endif
}

/* Four matrices of 8 rows of 16 bytes, from shared memory: lane i has the address of row i % 8 of matrix
 * i / 8, and receives of each matrix the i-th word, counted along its rows. */
__device__ inline uint4 gf_read_matrices(const void *row)
{
    uint4 words = {};
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
#endif
    return words;
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

/* Tiles of TILE_X x TILE_Y samples, numbered row by row in grid.x, which alone has room for 2^31 - 1
 * of them; sets of them in grid.y, pictures in grid.z. Where pixels are interleaved one set covers
 * the samples of all channels as they lie in a row, else there is a set an output channel. */
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

/* This thread's output sample: channel o of pixel (x, y) of picture blockIdx.z; false where there is
 * none. */
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
 * another in a deep layer as GF_LAYER_CHUNK promises. */
constexpr int GF_CHANNEL_RUN = 64;

template <typename Sum> struct GfDepthSum {
    Sum total, run;
};

/* Adds channel d's sum; the channels come in their order. */
template <typename Sum>
__device__ inline void gf_add_channel(GfDepthSum<Sum> *depth, int d, Sum sum)
{
    depth->run += sum;
    if (d % GF_CHANNEL_RUN == GF_CHANNEL_RUN - 1) {
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

/* ---- strips, down which warps walk ---- */

/* A picture as units of work, one a warp: strips side by side, each cut into so many rows. Units at the
 * picture's edge take longest: those of the first strip and the last have fewer rows, and they and
 * those at the bottom begin first, so that none is waited for at the end. */
struct GfWalks {
    unsigned strips, units;
    size_t rows;                     /* of the picture */
    unsigned chunks, chunk_rows;     /* of an inner strip: units, rows of each */
    unsigned side_chunks, side_rows; /* of the first strip and the last */
};

/* Units of `own` rows, and at the sides a quarter of that but no fewer than `least`; both are rounded up
 * to a multiple of `step`. */
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

/* Lets a kernel have that much dynamic shared memory: beyond 48 KiB it must be asked for. */
template <typename Kernel> cudaError_t gf_allow_shared(Kernel kernel, size_t bytes)
{
    return bytes <= 48 * 1024
               ? cudaSuccess
               : cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bytes));
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

/* ---- what only sm_90 has: copies of whole stretches, products of groups of four warps ---- */

/* Those of 90a do nothing elsewhere. */

__device__ inline unsigned gf_shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/* A barrier in shared memory: its phase ends when so many arrived and so many bytes were copied as it
 * expects. Phases are told apart by their parity. */
__device__ inline void gf_barrier_init(uint64_t *barrier, unsigned count)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gf_shared_address(barrier)),
                 "r"(count)
                 : "memory");
#endif
}

__device__ inline void gf_barrier_expect(uint64_t *barrier, unsigned bytes)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(
                     gf_shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
#endif
}

__device__ inline void gf_barrier_arrive(uint64_t *barrier)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(gf_shared_address(barrier))
                 : "memory");
#endif
}

__device__ inline void gf_barrier_wait(uint64_t *barrier, unsigned parity)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("{\n.reg .pred p;\nWAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT;\n}" ::"r"(
                     gf_shared_address(barrier)),
                 "r"(parity)
                 : "memory");
#endif
}

/* Barriers that were made are seen by copies, too. */
__device__ inline void gf_barriers_made()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                     : "memory");
#endif
}

/* Copies that begin after it come after what was stored before it. */
__device__ inline void gf_copies_follow()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Begins a copy from global to shared memory, of a multiple of 16 bytes, that a barrier waits for. */
__device__ inline void gf_copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(gf_shared_address(to)),
        "l"(from), "r"(bytes), "r"(gf_shared_address(barrier))
        : "memory");
#endif
}

/* gf_begin_products() comes before products whose registers were written, gf_end_products() after them; up to
 * gf_wait_for_products() they are under way, and neither their matrices nor their sums may be touched. */
__device__ inline void gf_begin_products()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ inline void gf_end_products()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

template <int RUNS> __device__ inline void gf_wait_for_products(float (&d)[RUNS][4])
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < RUNS * 4; i++)
        asm volatile("" : "+f"(d[i / 4][i % 4])::"memory");
#endif
}
