/* From a sum to the sample: what GfStep says is done to sums, alone and combined. */
#pragma once

#include <cmath>

#include "gpu/launch.h"

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

/* Where nothing but the gain follows on the sums of a bank, it becomes part of their scale and
 * offset; does it? */
template <typename T> inline bool gf_fold_gain(const GfStep *step, GfFinish<T> *finish)
{
    const size_t filtered = step->channels - (step->keep_alpha ? 1 : 0);
    if (step->linear.filters > 1 || step->combine.op != GF_COMBINE_NONE || step->posts > 0 ||
        step->post_channels < filtered)
        return false;
    finish->scale = static_cast<T>(step->linear.scale * step->gain);
    finish->offset = static_cast<T>(step->linear.offset * step->gain + step->mid);
    return true;
}

/* An integer that leaves sums of integers exact. */
inline bool gf_is_whole(double offset)
{
    return offset == std::floor(offset) && std::fabs(offset) <= 65536.0;
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

/* The same for a function of many instructions, of which there is one copy: the samples move past
 * it. */
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
