/* Method `tensor`, few maps of one channel (tensor_first.cuh) on many small pictures: a block takes
 * one after the other, whole, and has the next one copied to shared memory while it computes. */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

using namespace gf_first;

constexpr int PICTURE_WARPS = 5, PICTURE_WINDOWS = 40;

/* Floats of one channel, few maps, the side of kernel for which `auto` takes that. */
using PictureForm = Form<GF_SPECIAL_SIDE, 1, false, true, true, PICTURE_WINDOWS, true>;

/* A picture as its samples lie, in vectors. */
template <int THREADS> __device__ void copy_picture(const Layer &q, size_t n, float4 *raw)
{
    const char *from = samples_of(q) + n * q.p.in.batch;
    const int vectors = static_cast<int>(q.p.in_width * q.p.in_height / 4);
    for (int i = static_cast<int>(threadIdx.x); i < vectors; i += THREADS)
        __pipeline_memcpy_async(raw + i, from + i * sizeof *raw, sizeof *raw);
    __pipeline_commit();
}

/* A lane's words of a row, `count` samples of which, from the `begin`-th on, are on the picture.
 * PAIRS: both samples of a word are, or none, and their place is even. */
template <typename F, bool PAIRS>
__device__ Samples<F> read_row(const Layer &q, const float *row, int begin, int count)
{
    Samples<F> samples;
#pragma unroll
    for (int i = 0; i < F::lane_words; i++) {
        float(&v)[2] = samples.of[i];
        const int at = 2 * my_word<F>(i) - begin;
        v[0] = v[1] = q.p.border_value;
        if (PAIRS && static_cast<unsigned>(at) < static_cast<unsigned>(count)) {
            const float2 two = *reinterpret_cast<const float2 *>(row + at);
            v[0] = two.x;
            v[1] = two.y;
        }
#pragma unroll
        for (int j = 0; j < 2; j++)
            if (!PAIRS && static_cast<unsigned>(at + j) < static_cast<unsigned>(count))
                v[j] = row[at + j];
    }
    return samples;
}

/* A picture and the border around it become words, a team a row. Are all rows of this thread in
 * units of `unit`? */
template <typename F, bool PAIRS, int THREADS>
__device__ bool stage_picture(const Layer &q, const float *raw, const Shared &shared, float unit)
{
    constexpr int TEAMS = THREADS / TEAM;
    const int width = static_cast<int>(q.p.in_width);
    const float lift = q.lifts[0];
    bool same = true;
    for (int first = 0; first < q.rows; first += TEAMS) {
        const int y = first + static_cast<int>(threadIdx.x) / TEAM;
        const int row = y + static_cast<int>(q.p.origin_y);
        const bool on = static_cast<unsigned>(row) < static_cast<unsigned>(q.p.in_height);
        const Samples<F> samples = read_row<F, PAIRS>(
            q, raw + (on ? row * width : 0), -static_cast<int>(q.p.origin_x), on ? width : 0);
        /* A tile has room beside such a picture, and so its rows always have a border. */
        const float most = fmaxf(largest_of<F>(samples), fabsf(q.p.border_value));
        const GfScale scales = gf_scale<SCALES_APART>(most);
        if (y >= q.rows)
            continue;
        const float own = scales.down * lift;
        store_row<F>(samples, scales.up, shared.words + y * F::pitch);
        if (my_word<F>(0) == 0)
            shared.scales[y] = own;
        same = same && own == unit;
    }
    return same;
}

template <typename F, bool PAIRS>
__global__ void __launch_bounds__(PICTURE_WARPS *WARP, F::blocks)
    tensor_pictures(const __grid_constant__ Layer q)
{
    constexpr int THREADS = PICTURE_WARPS * WARP;
    static_assert(!F::quads);
    GF_BLOCK_MEMORY(float4, raw);
    const float *samples = reinterpret_cast<const float *>(raw);
    Shared shared = {};
    shared.words = reinterpret_cast<uint32_t *>(raw + q.p.in_width * q.p.in_height / 4);
    shared.scales = reinterpret_cast<float *>(shared.words + q.rows * F::pitch);
    Tile tile = {};
    tile.rows = static_cast<int>(q.p.y1);
    tile.columns = static_cast<int>(q.p.out_width);
    tile.end = q.runs;
    float unit = 0.0F;
    Run<F> run;
    gf_wait_for_stream();
    copy_picture<THREADS>(q, blockIdx.x, raw);
    for (size_t n = blockIdx.x; n < q.p.count; n += gridDim.x) {
        __pipeline_wait_prior(0);
        __syncthreads();
        const bool mine = stage_picture<F, PAIRS, THREADS>(q, samples, shared, unit);
        const bool same = __syncthreads_and(mine);
        if (n + gridDim.x < q.p.count)
            copy_picture<THREADS>(q, n + gridDim.x, raw);
        unit = shared.scales[0];
        tile.out = static_cast<unsigned char *>(q.p.out.samples) + n * q.p.out.batch;
        if (same)
            run_units<F, true, PICTURE_WARPS>(q, tile, shared, &run);
        else
            run_units<F, false, PICTURE_WARPS>(q, tile, shared, &run);
    }
}

/* ---- a launch ---- */

/* Rows of a whole picture's units, and the shared memory of a block that takes one. */
size_t picture_rows(const GfStep *step)
{
    using F = PictureForm;
    return gf_divide_up(step->out_height, size_t{F::unit_rows}) * F::unit_rows + F::height - 1;
}

size_t picture_bytes(const GfStep *step)
{
    return (step->in_width * step->in_height + picture_rows(step) * (PictureForm::pitch + 1)) *
           sizeof(float);
}

/* Are there several pictures for each block, all blocks at a time, and nothing between their
 * rows? */
bool are_pictures(const GfLaunch *launch)
{
    enum { MANY = 2 };
    using F = PictureForm;
    const GfStep *step = launch->step;
    const bool small =
        step->out_width <= F::tile_columns && step->in_height <= SHRT_MAX &&
        step->out_height <= SHRT_MAX && step->in_width <= SHRT_MAX &&
        picture_bytes(step) + GF_BLOCK_BYTES <= gf_multiprocessor_bytes() / F::blocks;
    const bool whole = launch->y0 == 0 && launch->y1 == step->out_height && launch->in.first == 0 &&
                       launch->in.capacity >= step->in_height;
    const bool dense = launch->in.pixel == 1 && step->in_width * step->in_height % 4 == 0 &&
                       launch->in.stride == step->in_width * sizeof(float) &&
                       gf_aligned(launch->in.samples, 0, launch->in.batch, sizeof(float4));
    return step->in == GF_F32 && step->linear.height == GF_SPECIAL_SIDE && launch->tiling == 0 &&
           (step->border == GF_BORDER_CONSTANT || step->border == GF_BORDER_VALID) && small &&
           whole && dense && launch->count >= MANY * F::blocks * gf_multiprocessors();
}

template <bool PAIRS> cudaError_t run_pictures(const GfLaunch *launch, cudaStream_t stream)
{
    using F = PictureForm;
    const GfStep *step = launch->step;
    Layer q = describe<F>(launch);
    q.rows = static_cast<int>(picture_rows(step));
    const unsigned blocks = static_cast<unsigned>(F::blocks * gf_multiprocessors());
    return gf_launch_early(tensor_pictures<F, PAIRS>,
                           {blocks, PICTURE_WARPS * WARP, picture_bytes(step)}, stream, q);
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_pictures(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    if (!gf_tensor_first(step).few || !are_pictures(launch))
        return cudaErrorNotSupported;
    const bool pairs = step->in_width % 2 == 0 && step->origin_x % 2 == 0;
    return pairs ? run_pictures<true>(launch, stream) : run_pictures<false>(launch, stream);
}
