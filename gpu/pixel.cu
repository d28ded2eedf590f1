/* The steps that look at one pixel, a thread a sample. Opacity: colour is multiplied by its pixel's
 * opacity before the first filter, and divided by the filtered opacity after the last one. Each
 * reads and writes every sample once (and the opacity again, from a cache) for two or three
 * operations: bound by memory. */
#include "gpu/device.cuh"

namespace
{

template <typename Sum> struct Opacity {
    GfProblem<Sum> p;
    GfTiles tiles;
    bool divide;
    Sum white, alpha_gain;
};

template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    apply_opacity(const __grid_constant__ Opacity<Sum> opacity)
{
    const GfProblem<Sum> &p = opacity.p;
    int c;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(opacity.tiles, &c, &x, &y))
        return;
    const In *row = gf_input_row<In>(p, n, static_cast<long long>(y));
    Sum v = gf_input(p, row, x, c);
    Sum alpha = gf_input(p, row, x, p.channels - 1) * opacity.alpha_gain;
    if (c == p.channels - 1)
        v = alpha;
    else if (opacity.divide)
        v = alpha > Sum(GF_LEAST_ALPHA) * opacity.white ? v * opacity.white / alpha : Sum(0);
    else
        v = v * alpha / opacity.white;
    gf_finish_sample(p, n, c, x, y, v);
}

template <typename Sum> cudaError_t launch_opacity(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    Opacity<Sum> opacity = {};
    opacity.p = gf_problem<Sum>(launch);
    opacity.tiles = gf_tiles(launch);
    opacity.divide = step->kind == GF_STEP_UNPREMULTIPLY;
    opacity.white = static_cast<Sum>(step->white);
    opacity.alpha_gain = static_cast<Sum>(step->alpha_gain);
    dim3 grid = gf_tiles_grid(opacity.tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(step->in, [&](auto sample) {
        return gf_launch(apply_opacity<decltype(sample), Sum>, {grid, block}, stream, opacity);
    });
}

/* images/light.h, in the type of the sums. */
template <typename T> struct Curve {
    T g, a, b, c, d, e, f, split;
    const T *table; /* on the device */
    int points;
};

template <typename T> __device__ inline T decode_table(const Curve<T> &curve, T stored)
{
    int last = curve.points - 1;
    T at = stored * T(last);
    if (!(at < T(last)))
        return curve.table[last] + (stored - T(1));
    int i = static_cast<int>(at);
    return fma(at - T(i), curve.table[i + 1] - curve.table[i], curve.table[i]);
}

template <typename T> __device__ inline T encode_table(const Curve<T> &curve, T light)
{
    int below = 0, above = curve.points - 1;
    if (!(light < curve.table[above]))
        return T(1) + (light - curve.table[above]);
    if (light <= curve.table[0])
        return T(0);
    while (above - below > 1) {
        int middle = below + (above - below) / 2;
        if (curve.table[middle] < light)
            below = middle;
        else
            above = middle;
    }
    T part = (light - curve.table[below]) / (curve.table[above] - curve.table[below]);
    return (T(below) + part) / T(curve.points - 1);
}

template <typename T> __device__ inline T decode(const Curve<T> &curve, T stored)
{
    T x = fabs(stored), light;
    if (curve.points)
        light = decode_table(curve, x);
    else if (x < curve.d)
        light = fma(curve.c, x, curve.f);
    else
        light = pow(fma(curve.a, x, curve.b), curve.g) + curve.e;
    return stored < 0 ? -light : light;
}

template <typename T> __device__ inline T encode(const Curve<T> &curve, T light)
{
    T y = fabs(light), stored;
    if (curve.points)
        stored = encode_table(curve, y);
    else if (y > curve.split)
        stored = (pow(y - curve.e, T(1) / curve.g) - curve.b) / curve.a;
    else
        stored = curve.c > 0 ? (y - curve.f) / curve.c : T(0);
    return light < 0 ? -stored : stored;
}

template <typename Sum> struct Light {
    GfProblem<Sum> p;
    GfTiles tiles;
    Curve<Sum> curves[3];
};

/* The functions of a step of light: those that are for it alone, and all others. */
template <typename In, typename Sum>
__global__ void __launch_bounds__(GF_TILE_X *GF_TILE_Y)
    apply_light(const __grid_constant__ Light<Sum> light)
{
    const GfProblem<Sum> &p = light.p;
    int c;
    long long x;
    size_t y, n = blockIdx.z;
    if (!gf_my_sample(light.tiles, &c, &x, &y))
        return;
    const In *row = gf_input_row<In>(p, n, static_cast<long long>(y));
    const GfFinish<Sum> &finish = p.finish;
    const Curve<Sum> &curve = light.curves[p.post_channels == 3 && c < 3 ? c : 1];
    Sum v = gf_input(p, row, x, c);
    bool colour = c < p.post_channels;
    for (int i = 0; colour && i < finish.posts; i++) {
        Sum a = finish.a[i], b = finish.b[i];
        if (finish.op[i] == GF_POINTWISE_DECODE)
            v = a * decode(curve, v / a);
        else if (finish.op[i] == GF_POINTWISE_ENCODE)
            v = a * encode(curve, v / a);
        else
            v = gf_apply(finish.op[i], a, b, v);
    }
    gf_put(p, n, c, x, y, fma(v, finish.gain, colour ? finish.mid : Sum(0)));
}

template <typename Sum> cudaError_t launch_light(const GfLaunch *launch, cudaStream_t stream)
{
    Light<Sum> light = {};
    light.p = gf_problem<Sum>(launch);
    light.tiles = gf_tiles(launch);
    const Sum *table = light.p.weights;
    for (int i = 0; i < 3; i++) {
        const GfCurve &k = launch->step->light->curves[i];
        light.curves[i] = {Sum(k.g), Sum(k.a), Sum(k.b),     Sum(k.c), Sum(k.d),
                           Sum(k.e), Sum(k.f), Sum(k.split), table,    static_cast<int>(k.points)};
        table += k.points;
    }
    dim3 grid = gf_tiles_grid(light.tiles, launch), block(GF_TILE_X, GF_TILE_Y);
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return gf_launch(apply_light<decltype(sample), Sum>, {grid, block}, stream, light);
    });
}

cudaError_t launch_of_width(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_opacity<double>(launch, stream)
                        : launch_opacity<float>(launch, stream);
}

} // namespace

extern "C" cudaError_t gf_launch_premultiply(const GfLaunch *launch, cudaStream_t stream)
{
    return launch_of_width(launch, stream);
}

extern "C" cudaError_t gf_launch_light(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_light<double>(launch, stream)
                        : launch_light<float>(launch, stream);
}

extern "C" cudaError_t gf_launch_unpremultiply(const GfLaunch *launch, cudaStream_t stream)
{
    return launch_of_width(launch, stream);
}
