/* What the forms of `special` for layers of one channel share (special_layer.cu, special_small.cu):
 * the tile of outputs that a thread computes for one filter after the other, from its sums to what
 * is stored; and the numbers of filters, which lie in constant memory with a kernel's parameters.
 *
 * Where 2 x 2 pooling follows, a tile has four whole windows: their maxima or means are stored, a
 * quarter as many samples, and the map itself is never written, nor read again. */
#pragma once

#include <cuda_pipeline.h>

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/instructions.cuh"
#include "gpu/samples.cuh"
#include "gpu/special.cuh"

constexpr int GF_TILE = 4; /* rows of a tile, but where it has fewer, and outputs of each */
constexpr int GF_TILE_OUTPUTS = GF_TILE * GF_TILE;
constexpr int GF_TILE_POOL = 2;          /* side of the windows that are pooled, and their stride */
constexpr int GF_PARAMETER_BYTES = 4096; /* of a kernel: every card takes as many */

/* Vectors of 4 floats in a row of the window of a tile of so many rows, and its rows. */
template <int K> constexpr int GF_WINDOW_VECTORS = (GF_TILE + K - 1 + 3) / 4;
template <int K, int ROWS = GF_TILE> constexpr int GF_WINDOW_ROWS = ROWS + K - 1;

template <int K, int ROWS = GF_TILE>
using GfWindow = float[GF_WINDOW_ROWS<K, ROWS>][4 * GF_WINDOW_VECTORS<K>];

/* A layer and its outputs, of all filters or of those of a launch. */
struct GfLayer {
    GfOutRows out;
    size_t pixel_bytes, plane_bytes; /* from a sample to the next one; to the next map's */
    int out_width;                   /* before pooling */
    int width, height;               /* taps */
    int filters;
    bool vector_out;
    bool scaled;    /* the sum: else it begins with what is added to it */
    bool rectified; /* the only function is ReLU, */
    bool absolute;  /* or the size of a number */
    bool pooled, average;
    GfFinish<float> finish; /* without posts its scale holds the gain too; `out` as it is stored */
};

/* The numbers of a filter: its taps, row by row, with what their sum begins, and what is added when
 * it is scaled; then room to an even number, so that two can be read at once. */
template <int K> struct GfNumbers {
    static constexpr int START = K * K, SHIFT = START + 1;
    float v[START + 3];
};

/* As many filters as parameters hold beside `Geometry`. */
template <int K, typename Geometry>
constexpr int GF_MOST_FILTERS = (GF_PARAMETER_BYTES - static_cast<int>(sizeof(Geometry))) /
                                static_cast<int>(sizeof(GfNumbers<K>));

/* What a launch is told: a GfLayer and how it is cut, and its filters. */
template <int K, typename Geometry> struct GfFilters {
    Geometry g;
    GfNumbers<K> numbers[GF_MOST_FILTERS<K, Geometry>];
};

/* ---- a tile ---- */

/* The sums of one filter, in the order of its taps, of large kernels row by row. FULL: the kernel
 * is K x K, else it is smaller. */
template <int K, bool FULL, int N>
__device__ inline void gf_sum_tile(const GfLayer &layer, const GfNumbers<K> &numbers,
                                   const GfWindow<K, N / GF_TILE> &x, float (&v)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = numbers.v[GfNumbers<K>::START];
#pragma unroll
    for (int ky = 0; ky < K; ky++) {
        constexpr bool BY_ROWS = K * K > GF_FLAT_TAPS;
        float row[N] = {};
        float(&sum)[N] = BY_ROWS ? row : v;
#pragma unroll
        for (int kx = 0; kx < K; kx++) {
            if (!FULL && (ky >= layer.height || kx >= layer.width))
                continue;
#pragma unroll
            for (int i = 0; i < N; i++)
                sum[i] =
                    fmaf(numbers.v[ky * K + kx], x[ky + i / GF_TILE][kx + i % GF_TILE], sum[i]);
        }
#pragma unroll
        for (int i = 0; i < N && BY_ROWS; i++)
            v[i] += row[i];
    }
}

/* Sums become responses. POSTS: functions other than those two may follow. */
template <int K, bool POSTS, int N>
__device__ inline void gf_finish_sums(const GfLayer &layer, const GfNumbers<K> &numbers,
                                      float (&v)[N])
{
    if (layer.scaled)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = fmaf(v[i], layer.finish.scale, numbers.v[GfNumbers<K>::SHIFT]);
    if (layer.rectified)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = fmaf(gf_more(v[i], 0.0f), layer.finish.gain, layer.finish.mid);
    else if (!POSTS && layer.absolute)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = fmaf(fabsf(v[i]), layer.finish.gain, layer.finish.mid);
    else if (POSTS && layer.finish.posts > 0)
        gf_post_each(layer.finish, v, [](int) { return true; });
}

/* The responses of one filter: both. */
template <int K, bool FULL, bool POSTS, int N>
__device__ inline void gf_respond(const GfLayer &layer, const GfNumbers<K> &numbers,
                                  const GfWindow<K, N / GF_TILE> &x, float (&v)[N])
{
    gf_sum_tile<K, FULL>(layer, numbers, x, v);
    gf_finish_sums<K, POSTS>(layer, numbers, v);
}

/* What the first two filters, of K x K taps, respond together. */
template <int K, typename Geometry, int N>
__device__ inline void gf_respond_jointly(const GfFilters<K, Geometry> &s,
                                          const GfWindow<K, N / GF_TILE> &x, float (&v)[N])
{
    float other[N];
    gf_respond<K, true, false>(s.g, s.numbers[0], x, v);
    gf_respond<K, true, false>(s.g, s.numbers[1], x, other);
    gf_join_responses(s.g.finish, v, other);
}

/* The maxima or means of the windows of a tile, as pool.cu makes them. */
template <int N>
__device__ inline void gf_pool_tile(bool average, const float (&v)[N], float (&pooled)[N / 4])
{
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        const int at = i / 2 * GF_TILE_POOL * GF_TILE + i % 2 * GF_TILE_POOL;
        const float a = v[at], b = v[at + 1], c = v[at + GF_TILE], d = v[at + GF_TILE + 1];
        if (average)
            pooled[i] = static_cast<float>((static_cast<double>(a) + b + c + d) / 4.0);
        else
            pooled[i] = gf_more(gf_more(gf_more(a, b), c), d);
    }
}

/* Where a tile's samples of map 0 go, of which SIDE x SIDE outputs were made one, and how many of
 * its rows and columns there are. */
struct GfTilePlace {
    unsigned char *to;
    int rows, columns;
    bool exists;
};

/* Of the tile that begins with output (row, column) of a picture, before pooling, and has ROWS
 * rows; there are outputs in `rows` rows from there on. */
template <int SIDE, int ROWS = GF_TILE>
__device__ inline GfTilePlace gf_place_tile(const GfLayer &layer, size_t picture, size_t row,
                                            int rows, int column, bool exists)
{
    GfTilePlace place;
    place.to = static_cast<unsigned char *>(layer.out.samples) + picture * layer.out.batch +
               row / SIDE * layer.out.stride + column / SIDE * layer.pixel_bytes;
    place.rows = min(ROWS, rows) / SIDE;
    place.columns = min(GF_TILE, layer.out_width - column) / SIDE;
    place.exists = exists && rows > 0 && column < layer.out_width;
    return place;
}

/* Stores a tile's samples of a map. */
template <typename Out, int SIDE, int N>
__device__ inline void gf_store_tile_as(const GfLayer &layer, const GfTilePlace &place,
                                        unsigned char *to, const float (&v)[N])
{
    constexpr int ACROSS = GF_TILE / SIDE;
    const auto store_rows = [&](bool whole) {
#pragma unroll
        for (int r = 0; r < N / ACROSS; r++, to += layer.out.stride) {
            if (r >= place.rows)
                break;
            gf_store_samples<ACROSS, true>(reinterpret_cast<Out *>(to), layer.out.pixel,
                                           place.columns, whole, v + r * ACROSS);
        }
    };
    if (layer.vector_out && place.columns == ACROSS)
        store_rows(true);
    else
        store_rows(false);
}

template <int SIDE, int N>
__device__ inline void gf_store_tile(const GfLayer &layer, const GfTilePlace &place, int f,
                                     const float (&v)[N])
{
    unsigned char *to = place.to + f * layer.plane_bytes;
    if (layer.finish.out == GF_F32)
        gf_store_tile_as<float, SIDE>(layer, place, to, v);
    else if (layer.finish.out == GF_U8)
        gf_store_tile_as<uint8_t, SIDE>(layer, place, to, v);
    else
        gf_store_tile_as<uint16_t, SIDE>(layer, place, to, v);
}

/* Responses of filter f, pooled where SIDE is 2, and stored where the tile exists. */
template <int SIDE, int N>
__device__ inline void gf_finish_tile(const GfLayer &layer, const GfTilePlace &place, int f,
                                      const float (&v)[N])
{
    if (!place.exists)
        return;
    if constexpr (SIDE == 1) {
        gf_store_tile<SIDE>(layer, place, f, v);
    } else {
        float pooled[N / 4];
        gf_pool_tile(layer.average, v, pooled);
        gf_store_tile<SIDE>(layer, place, f, pooled);
    }
}

/* ---- rows that begin anywhere ---- */

/* Samples of a line of memory, if they are floats, and of a strip: a row of a warp's tiles, side by
 * side. */
constexpr int GF_LINE = 32, GF_LAYER_STRIP = 32 * GF_TILE;

/* Where the rows of a strip are woven, two in turn, so that one is written while the other is
 * read. */
using GfWeave = float4[2][32];

/* Stores a strip's rows, the first sample of the first at `to`, in column `left` of the map, so
 * that neighbouring lanes store neighbouring samples. `lead`: strips store whole lines, the first
 * of them `lead` columns before the map; else 0. */
template <typename Out>
__device__ inline void gf_store_woven(const GfLayer &layer, unsigned char *to, int rows, int left,
                                      int lead, const float (&v)[GF_TILE_OUTPUTS], GfWeave &weave)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < GF_TILE; r++, to += layer.out.stride) {
        const float *row = reinterpret_cast<const float *>(weave[r % 2]);
        const int before =
            static_cast<int>(reinterpret_cast<uintptr_t>(to) / sizeof(Out) % GF_LINE);
        /* Of whole lines, what the strip before and the next one store. */
        const int spare = lead > 0 ? before : 0;
        const int first = max(-left, lead - spare);
        const int end = min(layer.out_width - left, GF_LAYER_STRIP - spare);
        weave[r % 2][lane] =
            make_float4(v[r * GF_TILE], v[r * GF_TILE + 1], v[r * GF_TILE + 2], v[r * GF_TILE + 3]);
        __syncwarp();
#pragma unroll
        for (int line = 0; line <= GF_LAYER_STRIP / GF_LINE; line++) {
            const int column = line * GF_LINE + lane - before;
            if (r < rows && column >= first && column < end)
                reinterpret_cast<Out *>(to)[column] = gf_convert<Out>(row[column]);
        }
    }
}

/* A sample's way into shared memory, as f32; what is f32 already is not waited for. */
template <typename In> __device__ inline void gf_copy_sample(const In *from, float *to)
{
    if constexpr (std::is_same_v<In, float>)
        __pipeline_memcpy_async(to, from, sizeof(float));
    else
        *to = gf_number<float>(*from);
}

/* ---- what a launch is told ---- */

/* All that is added to the sum of filter f. */
inline double gf_layer_shift(const GfStep *step, size_t f)
{
    const double shift = step->linear.offset + (step->bias ? step->bias[f] : 0.0);
    return step->posts == 0 ? shift * step->gain + step->mid : shift;
}

/* May sums begin with it? Sums of integers are counted as exact, which they stay only beside other
 * integers. */
inline bool gf_layer_begins(const GfStep *step)
{
    bool whole = true;
    for (size_t f = 0; f < step->linear.filters; f++)
        whole = whole && gf_is_whole(gf_layer_shift(step, f));
    return whole || gf_sample_is_float(step->in);
}

/* Of all filters. With a pool: columns that lie in its windows. */
inline GfLayer gf_layer(const GfLaunch *launch)
{
    const GfStep *step = launch->step, *pool = launch->pool;
    const size_t side = pool ? GF_TILE_POOL : 1;
    GfLayer layer = {};
    layer.out = launch->out;
    layer.out_width = static_cast<int>(pool ? pool->out_width * side : step->out_width);
    layer.width = static_cast<int>(step->linear.width);
    layer.height = static_cast<int>(step->linear.height);
    layer.filters = static_cast<int>(step->linear.filters);
    layer.finish = gf_finish<float>(step);
    layer.finish.out = pool ? pool->out : step->out;
    layer.pixel_bytes = layer.out.pixel * gf_sample_size(layer.finish.out);
    layer.plane_bytes = layer.out.plane * gf_sample_size(layer.finish.out);
    layer.vector_out = gf_rows_aligned(launch->out, layer.finish.out, GF_TILE / side);
    layer.rectified = step->posts == 1 && step->post[0].op == GF_POINTWISE_RELU;
    layer.absolute = step->posts == 1 && step->post[0].op == GF_POINTWISE_ABS;
    layer.pooled = pool != nullptr;
    layer.average = pool && pool->pool.op == GF_POOL_AVERAGE;
    if (step->posts == 0)
        layer.finish.scale = static_cast<float>(step->linear.scale * step->gain);
    layer.scaled = layer.finish.scale != 1.0f || !gf_layer_begins(step);
    return layer;
}

/* The taps of filter f in their K x K box, and all that is added to their sum. */
template <int K>
void gf_place_filter(const GfLaunch *launch, size_t f, bool scaled, GfNumbers<K> *numbers)
{
    const GfStep *step = launch->step;
    const size_t width = step->linear.width, height = step->linear.height;
    const float *taps = static_cast<const float *>(launch->weights_host) + f * height * width;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            numbers->v[y * K + x] = taps[y * width + x];
    numbers->v[scaled ? GfNumbers<K>::SHIFT : GfNumbers<K>::START] =
        static_cast<float>(gf_layer_shift(step, f));
}

/* A launch of a layer for as many filters as its parameters hold, and again for the next: `run` is
 * told a GfFilters of g.filters of them. */
template <int K, typename Layer, typename Run>
cudaError_t gf_run_filters(const GfLaunch *launch, Layer s, Run run)
{
    constexpr int MOST = sizeof s.numbers / sizeof *s.numbers;
    const int filters = s.g.filters, most = gf_divide_up(filters, gf_divide_up(filters, MOST));
    cudaError_t error = cudaSuccess;
    for (int first = 0; first < filters && error == cudaSuccess; first += most) {
        s.g.filters = filters - first < most ? filters - first : most;
        for (int f = 0; f < s.g.filters; f++)
            gf_place_filter<K>(launch, static_cast<size_t>(first + f), s.g.scaled, &s.numbers[f]);
        error = run(s);
        s.g.out.samples = static_cast<unsigned char *>(s.g.out.samples) +
                          static_cast<size_t>(most) * s.g.plane_bytes;
    }
    return error;
}

/* Calls `run` with a sample of the step's type, the side of the box that its kernel is computed in,
 * and whether it fills that box, as constants. */
template <typename Run> cudaError_t gf_with_layer(const GfStep *step, Run run)
{
    const GfLinear *linear = &step->linear;
    return gf_with_sample<float>(step->in, [&](auto sample) {
        switch (linear->width == linear->height ? linear->width : 0) {
        case 1:
            return run(sample, std::integral_constant<int, 1>(), std::true_type());
        case 3:
            return run(sample, std::integral_constant<int, 3>(), std::true_type());
        case 5:
            return run(sample, std::integral_constant<int, 5>(), std::true_type());
        case 7:
            return run(sample, std::integral_constant<int, 7>(), std::true_type());
        }
        return run(sample, std::integral_constant<int, 7>(), std::false_type());
    });
}
