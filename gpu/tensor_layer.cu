/* Method `tensor`, layers: a product of matrices on tensor cores, at the accuracy of f32. The first
 * matrix has a row for each map, the second a column for each pixel, and what they are multiplied
 * over are channels and taps (gf_tensor_shape(), gpu/tensor_shape.h). The second matrix is nowhere
 * whole: a column of 8 of its rows is 8 channels of one sample of the picture, 16 bytes that stand
 * in shared memory once and serve every tap.
 *
 * A number of f32 becomes two of f16, its upper and its lower 11 bits, and a product three: upper
 * times upper, upper times lower, lower times upper, which tensor cores make exactly and add up in
 * f32. What is left out is 2^-22 of a product. So that all this lies where f16 has its bits,
 * numbers are multiplied by powers of two: weights for each channel and map, when the method is
 * opened; samples for each row of a tile, by the largest of them. A tile is 8 columns wide whatever
 * its height, so that this, and with it every bit, does not depend on how a picture is cut into
 * bands.
 *
 * Tensor cores cut sums off where f32 would round. So that this does not add up, they sum 16
 * products at a time, the small ones first; these sums are added by f32's rules, those of a
 * kernel's row apart.
 *
 * A warp has 32 maps, and reads both matrices into registers, which every card since sm_80 can.
 * What sm_90 has for it is in gpu/tensor_flat.cu, which takes most layers there. */
#include <cuda_pipeline.h>
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int COLUMNS = 8; /* of a tile */
constexpr int OCTET = 8;   /* numbers side by side: 16 bytes of f16 */
constexpr int WARP = 32, WARP_MAPS = 32;

/* A layer as its kernels see it. */
struct Layer {
    GfProblem<float> p;
    unsigned across, down, map_tiles, groups; /* tiles of a picture, of a group's maps */
    int maps;                                 /* of a group */
    int parts;                                /* blocks that share a tile, each some stages of it */
    size_t size;                              /* bytes of a sample */
    GfSample sample;
    const uint4 *weights;
    size_t group_weights, stage_weights, step_weights; /* from group to group and so on */
    const float *lifts, *units;                        /* of channels, of maps */
    int stages, stage_channels, octets;
    int row_steps;                /* of a row of a kernel */
    int step_octets, pair_octets; /* from step to step; that, times the steps of a pair of octets */
    int rows, columns, pitch, lanes, slots, slot; /* GfTensorTile */
    bool lifted;                                  /* is a lift not 1? */
    bool vectors; /* does every row begin where a vector of 16 bytes may? */
    int plane;    /* octets of a tile */
};

/* Halves of 8 numbers. */
struct alignas(16) Octet {
    __half2 pair[OCTET / 2];
};

/* MAPS x PIXELS warps of a block; each has 32 maps of ROWS rows. */
template <int MAPS, int PIXELS, int ROWS, int BLOCKS> struct Tile {
    static constexpr int maps = MAPS * WARP_MAPS, rows = PIXELS * ROWS, thread_rows = ROWS;
    static constexpr int map_warps = MAPS, warps = MAPS * PIXELS, threads = warps * WARP;
    static constexpr int blocks = BLOCKS;
};

/* The first map of the tile, of its group and of all, and its first pixel. */
struct Corner {
    int group, map, o, part;
    size_t n, y;
    long long x;
};

__device__ Corner find_corner(const Layer &q, int maps, int rows)
{
    unsigned tile = blockIdx.x;
    Corner corner;
    corner.part = static_cast<int>(tile % static_cast<unsigned>(q.parts));
    tile /= static_cast<unsigned>(q.parts);
    corner.map = static_cast<int>(tile % q.map_tiles) * maps;
    tile /= q.map_tiles;
    corner.group = static_cast<int>(tile % q.groups);
    tile /= q.groups;
    corner.o = corner.group * q.maps + corner.map;
    corner.x = static_cast<long long>(tile % q.across) * COLUMNS;
    tile /= q.across;
    corner.y = q.p.y0 + static_cast<size_t>(tile % q.down) * static_cast<unsigned>(rows);
    corner.n = tile / q.down;
    return corner;
}

/* A block's shared memory. */
struct Shared {
    Octet *upper, *lower; /* two sets of planes each */
    const char **lines;   /* rows of the picture, NULL for the border's constant */
    float *loaded; /* this warp's part: two sets of channels of its rows, as they are in memory */
    float *lifts;  /* this warp's copies, of two stages */
    float *scales; /* two of each row: what its sums are multiplied by */
    int *sources;  /* columns of the picture, -1 for the border's constant */
};

__device__ Shared find_shared(const Layer &q, unsigned char *memory, int warps)
{
    const int planes = q.plane * q.octets, warp = static_cast<int>(threadIdx.x) / WARP;
    const int loaded = 2 * q.slots / warps * q.slot;
    Shared shared;
    shared.upper = reinterpret_cast<Octet *>(memory);
    shared.lower = shared.upper + 2 * planes;
    float *numbers = reinterpret_cast<float *>(shared.lower + 2 * planes);
    shared.loaded = numbers + warp * loaded;
    shared.lines = reinterpret_cast<const char **>(numbers + warps * loaded);
    numbers = reinterpret_cast<float *>(shared.lines + q.rows);
    shared.lifts = numbers + warp * 2 * q.stage_channels;
    shared.scales = numbers + warps * 2 * q.stage_channels;
    shared.sources = reinterpret_cast<int *>(shared.scales + 2 * q.rows);
    return shared;
}

/* ---- from samples to octets; a warp has rows of its own ---- */

/* What is known of a tile's input. */
struct Rows {
    int live; /* rows that outputs need; others may not be here */
    long long channel;
    /* Whole vectors are brought, the first column being the shift-th number of the first; or -1. */
    int shift;
    long long x; /* of the first vector */
};

/* Begins to bring channels of one column, as many as `live`; RUN is how many in one go. */
template <typename In>
__device__ int load_column(const Layer &q, const char *from, size_t plane, int live, float *to)
{
    constexpr int RUN = 2 * OCTET;
    const int pitch = q.pitch;
    int c = 0;
    const auto bring = [&] {
        if constexpr (std::is_same_v<In, float>)
            __pipeline_memcpy_async(to, from, sizeof(float));
        else
            *to = gf_number_at<float, In>(from, q.sample);
        to += pitch;
        from += plane;
    };
    for (; c + RUN <= live; c += RUN)
#pragma unroll
        for (int i = 0; i < RUN; i++)
            bring();
    for (; c < live; c++)
        bring();
    return c;
}

/* A warp's rows: in each pass as many as it has teams of q.lanes lanes. */
__device__ int row_of(const Layer &q, int pass, int warp, int warps)
{
    const int teams = WARP / q.lanes;
    return (pass * warps + warp) * teams + static_cast<int>(threadIdx.x) % WARP / q.lanes;
}

/* Where the row of this lane's team stands as it was loaded. */
__device__ float *loaded_row(const Layer &q, const Shared &shared, int stage, int pass, int warps)
{
    const int teams = WARP / q.lanes;
    const int slot = pass * teams + static_cast<int>(threadIdx.x) % WARP / q.lanes;
    return shared.loaded + ((stage & 1) * (q.slots / warps) + slot) * q.slot;
}

__device__ int passes_of(const Layer &q, int warps)
{
    return q.slots / warps * q.lanes / WARP;
}

/* Begins to bring a row's vectors: four, of each channel. */
__device__ void load_vectors(const Layer &q, const char *from, int channels, float *to)
{
    constexpr int VECTOR = 4;
    const int lane = static_cast<int>(threadIdx.x) % q.lanes;
    const size_t plane = q.p.in.plane * sizeof(float);
    from += static_cast<size_t>(lane / VECTOR) * plane + lane % VECTOR * sizeof(float4);
    to += lane / VECTOR * q.pitch + lane % VECTOR * VECTOR;
    for (int c = lane / VECTOR; c < channels; c += q.lanes / VECTOR) {
        __pipeline_memcpy_async(to, from, sizeof(float4));
        from += q.lanes / VECTOR * plane;
        to += q.lanes / VECTOR * q.pitch;
    }
}

/* Begins to bring one stage's channels, and their lifts. */
template <typename In>
__device__ void load(const Layer &q, const Shared &shared, const Rows &rows, int stage, int warp,
                     int warps)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP, first = stage * q.stage_channels;
    const int channels = min(q.p.depth - first, q.stage_channels);
    const size_t plane = q.p.in.plane * q.size;
    for (int pass = 0; pass < passes_of(q, warps); pass++) {
        const int row = row_of(q, pass, warp, warps);
        if (row >= rows.live)
            continue;
        float *to = loaded_row(q, shared, stage, pass, warps);
        const char *line = shared.lines[row];
        const size_t from = (rows.channel + first) * plane;
        if (line && rows.shift >= 0 && channels == q.stage_channels) {
            load_vectors(q, line + from + rows.x * sizeof(float), channels, to);
            continue;
        }
        to += max(rows.shift, 0);
        for (int column = lane % q.lanes; column < q.columns; column += q.lanes) {
            const int x = shared.sources[column];
            int c = 0;
            if (line && x >= 0)
                c = load_column<In>(q, line + from + x * q.p.in.pixel * q.size, plane, channels,
                                    to + column);
            for (; c < q.stage_channels; c++)
                to[c * q.pitch + column] = c < channels ? q.p.border_value : 0.0F;
        }
    }
    for (int c = lane; q.lifted && c < q.stage_channels; c += WARP)
        __pipeline_memcpy_async(shared.lifts + (stage & 1) * q.stage_channels + c,
                                q.lifts + rows.channel + first + c, sizeof(float));
}

/* Numbers of octets of one column, multiplied by what makes channels alike. */
template <int OCTETS> struct Numbers {
    float of[OCTETS][OCTET];
};

template <int OCTETS>
__device__ void read_numbers(const Layer &q, const float *loaded, const float *lifts,
                             Numbers<OCTETS> *numbers)
{
#pragma unroll
    for (int i = 0; i < OCTETS * OCTET; i++)
        numbers->of[i / OCTET][i % OCTET] = loaded[i * q.pitch];
    if (q.lifted)
#pragma unroll
        for (int i = 0; i < OCTETS * OCTET; i++)
            numbers->of[i / OCTET][i % OCTET] *= lifts[i];
}

/* The largest magnitude. */
template <int OCTETS> __device__ float largest_of(const Numbers<OCTETS> &numbers, float most)
{
#pragma unroll
    for (int i = 0; i < OCTETS * OCTET; i++)
        most = fmaxf(most, fabsf(numbers.of[i / OCTET][i % OCTET]));
    return most;
}

template <int OCTETS>
__device__ void convert_column(const Layer &q, const Numbers<OCTETS> &numbers, float scale,
                               Octet *upper, Octet *lower)
{
#pragma unroll
    for (int octet = 0; octet < OCTETS; octet++) {
        const float(&v)[OCTET] = numbers.of[octet];
        Octet high, low;
#pragma unroll
        for (int j = 0; j < OCTET; j += 2)
            gf_split(v[j] * scale, v[j + 1] * scale, &high.pair[j / 2], &low.pair[j / 2]);
        upper[octet * q.plane] = high;
        lower[octet * q.plane] = low;
    }
}

/* A pass's rows, as they were loaded, become rows of a set of planes. */
template <int OCTETS>
__device__ void convert_rows(const Layer &q, const Shared &shared, const float *loaded,
                             const float *lifts, int set, int row, bool live)
{
    const int lane = static_cast<int>(threadIdx.x) % q.lanes;
    const int at = set * OCTETS * q.plane + row * q.columns, columns = live ? q.columns : 0;
    Numbers<OCTETS> numbers = {}, others;
    float most = 0.0F;
    if (lane < columns) {
        read_numbers(q, loaded + lane, lifts, &numbers);
        most = largest_of(numbers, most);
    }
    for (int column = lane + q.lanes; column < columns; column += q.lanes) {
        read_numbers(q, loaded + column, lifts, &others);
        most = largest_of(others, most);
    }
    for (int apart = q.lanes / 2; apart > 0; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0U, most, apart));
    const GfScale scale = gf_scale<1>(most);
    if (lane == 0 && live)
        shared.scales[set * q.rows + row] = scale.down;
    if (lane < columns)
        convert_column(q, numbers, scale.up, shared.upper + at + lane, shared.lower + at + lane);
    for (int column = lane + q.lanes; column < columns; column += q.lanes) {
        read_numbers(q, loaded + column, lifts, &others);
        convert_column(q, others, scale.up, shared.upper + at + column, shared.lower + at + column);
    }
}

/* What was loaded becomes rows of a set of planes. */
template <typename T>
__device__ void convert(const Layer &q, const Shared &shared, const Rows &rows, int stage, int warp)
{
    const float *lifts = shared.lifts + (stage & 1) * q.stage_channels;
    for (int pass = 0; pass < passes_of(q, T::warps); pass++) {
        const float *loaded = loaded_row(q, shared, stage, pass, T::warps) + max(rows.shift, 0);
        const int row = row_of(q, pass, warp, T::warps);
        const bool live = row < rows.live;
        if (q.octets == 2)
            convert_rows<2>(q, shared, loaded, lifts, (stage & 1), row, live);
        else
            convert_rows<4>(q, shared, loaded, lifts, (stage & 1), row, live);
    }
}

/* What a warp does for the stages after the one that is multiplied: it begins to bring the one
 * after the next, and converts the next. */
template <typename T, typename In> struct Ahead {
    const Layer &q;
    const Shared &shared;
    const Rows &rows;
    int stage, end, warp; /* the stage that is multiplied */
    bool converts;

    __device__ void turn() const
    {
        if (stage + 2 < end)
            load<In>(q, shared, rows, stage + 2, warp, T::warps);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncwarp();
        if (converts)
            convert<T>(q, shared, rows, stage + 1, warp);
    }
};

/* ---- products ---- */

/* A thread's sums: of each row two runs of 16 maps. */
template <int ROWS> struct WarpSums {
    float of[ROWS][2][4];
};

/* What a step has of the first matrix for one run of maps. */
struct Weights {
    uint4 upper, lower;
};

/* The weights of one step after the other. */
struct WeightReader {
    const uint4 *next;
    size_t step, ahead; /* vectors: to the next step; to what this lane brings from memory to L2 */
    bool brings;

    __device__ WeightReader(const Layer &q, const uint4 *first) : next(first), step(q.step_weights)
    {
        constexpr int line = 8, lines = 4 * WARP / line; /* of 128 bytes */
        const int lane = static_cast<int>(threadIdx.x) % WARP;
        ahead = lane * line;
        brings = lane < lines;
        for (int i = 0; i < GF_TENSOR_AHEAD; i++)
            bring(next + i * step);
        ahead += GF_TENSOR_AHEAD * step;
        next += lane;
        ahead -= lane;
    }

    __device__ void bring(const uint4 *from) const
    {
        if (brings)
            gf_prefetch(from + ahead);
    }

    __device__ void read(Weights (&w)[2])
    {
        bring(next);
#pragma unroll
        for (int run = 0; run < 2; run++)
            w[run] = {__ldg(next + run * 2 * WARP), __ldg(next + (run * 2 + 1) * WARP)};
        next += step;
    }
};

/* A step: 32 maps times ROWS x 8 pixels, 16 products each, which tensor cores sum alone. */
template <int ROWS>
__device__ void multiply_step(const Weights (&w)[2], const Octet *upper, const Octet *lower,
                              int row_octets, WarpSums<ROWS> *sums)
{
#pragma unroll
    for (int r = 0; r < ROWS; r += 2) {
        if (r == 4)
            __syncwarp(); /* or all matrices are read at once, for which registers are too few */
        const uint4 high = gf_read_matrices(upper + r * row_octets);
        const uint4 low = gf_read_matrices(lower + r * row_octets);
#pragma unroll
        for (int m = 0; m < 2; m++) {
            float step[2][4] = {};
            gf_multiply_halves(step[0], w[m].lower, high.x, high.y);
            gf_multiply_halves(step[1], w[m].lower, high.z, high.w);
            gf_multiply_halves(step[0], w[m].upper, low.x, low.y);
            gf_multiply_halves(step[1], w[m].upper, low.z, low.w);
            gf_multiply_halves(step[0], w[m].upper, high.x, high.y);
            gf_multiply_halves(step[1], w[m].upper, high.z, high.w);
#pragma unroll
            for (int i = 0; i < 8; i++)
                sums->of[r + i / 4][m][i % 4] += step[i / 4][i % 4];
        }
    }
}

/* 32 maps of ROWS rows. */
template <typename T> struct WarpProduct {
    static constexpr int ROWS = T::thread_rows;
    WarpSums<ROWS> totals = {};
    WeightReader weights;
    Weights next[2];
    int row, octet; /* this lane's first, within a plane */

    __device__ WarpProduct(const Layer &q, const uint4 *first, int warp)
        : weights(q, first + warp % T::map_warps * 4 * WARP), row(warp / T::map_warps * ROWS)
    {
        const int lane = static_cast<int>(threadIdx.x) % WARP;
        octet = (row + lane / 16) * static_cast<int>(q.p.stride_y) * q.columns +
                lane % OCTET * static_cast<int>(q.p.stride_x) + lane / OCTET % 2 * q.plane;
        weights.read(next);
    }

    /* All products of a stage, those of one kernel row after the other. Of the warps that share a
     * scheduler some have their turn of `ahead` before them, others after. */
    template <typename Other>
    __device__ void multiply(const Layer &q, const Shared &shared, int stage, const Other &ahead)
    {
        const bool early = threadIdx.x / WARP / 4 % 2 == 0;
#pragma unroll 1
        for (int turn = 0; turn < 2; turn++)
            if ((turn == 0) == early)
                ahead.turn();
            else
                multiply_rows(q, shared, stage);
    }

    __device__ void multiply_rows(const Layer &q, const Shared &shared, int stage)
    {
        const int set = stage & 1, stride = static_cast<int>(q.p.stride_y);
        int at_row = 0;
#pragma unroll 1
        for (int ky = 0; ky < q.p.height; ky++, at_row += static_cast<int>(q.p.dilation_y)) {
            WarpSums<ROWS> sums = {};
            int at = set * q.octets * q.plane + at_row * q.columns + octet;
#pragma unroll 1
            for (int i = 0, along = 0; i < q.row_steps; i++) {
                const Weights now[2] = {next[0], next[1]};
                weights.read(next);
                multiply_step(now, shared.upper + at + along, shared.lower + at + along,
                              stride * q.columns, &sums);
                along += q.step_octets;
                if (along == q.pair_octets) {
                    along = 0;
                    at += 2 * q.plane;
                }
            }
            const float *scales = shared.scales + set * q.rows + row * stride + at_row;
#pragma unroll
            for (int i = 0; i < ROWS * 8; i++) {
                float &total = totals.of[i / 8][i / 4 % 2][i % 4];
                total = fma(sums.of[i / 8][i / 4 % 2][i % 4], scales[i / 8 * stride], total);
            }
        }
    }

    __device__ void keep(int warp, float *kept) const;
};

/* ---- from totals to samples ---- */

/* Totals of a tile in shared memory: a map's are this far apart, so that 4 maps' are in other
 * banks. */
template <typename T> constexpr int MAP_TOTALS = T::rows *COLUMNS + 8;

/* And a unit of each map behind them. */
template <typename T> constexpr size_t TOTAL_BYTES = sizeof(float) * T::maps *(MAP_TOTALS<T> + 1);

/* 16 maps of a row, as a product leaves them in a warp. */
template <typename T> __device__ void keep_row(const float (&row)[4], float *kept)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    kept += lane / 4 * MAP_TOTALS<T> + lane % 4 * 2;
    *reinterpret_cast<float2 *>(kept) = make_float2(row[0], row[1]);
    *reinterpret_cast<float2 *>(kept + 8 * MAP_TOTALS<T>) = make_float2(row[2], row[3]);
}

template <typename T> __device__ void WarpProduct<T>::keep(int warp, float *kept) const
{
    kept += warp % T::map_warps * WARP_MAPS * MAP_TOTALS<T> + row * COLUMNS;
#pragma unroll
    for (int i = 0; i < ROWS * 2; i++)
        keep_row<T>(totals.of[i / 2][i % 2], kept + i % 2 * 16 * MAP_TOTALS<T> + i / 2 * COLUMNS);
}

/* Until all blocks that share a tile are here. */
__device__ void wait_for_parts(const Layer &q)
{
    if (q.parts > 1) {
        gf_wait_for_cluster();
        return;
    }
    __syncthreads();
}

/* Four totals of a map: of all parts, in their order. */
__device__ GfFour<float> sum_parts(const Layer &q, const float *kept)
{
    GfFour<float> sum = *reinterpret_cast<const GfFour<float> *>(kept);
    for (int part = 0; q.parts > 1 && part < q.parts; part++) {
        const float *there = gf_in_block(kept, part);
        const GfFour<float> more = *reinterpret_cast<const GfFour<float> *>(there);
        for (int j = 0; j < 4; j++)
            sum.v[j] = part == 0 ? more.v[j] : sum.v[j] + more.v[j];
    }
    return sum;
}

/* Neighbouring threads have neighbouring fours; parts take turns. */
template <typename T>
__device__ void finish(const Layer &q, const Corner &corner, const float *kept)
{
    constexpr int fours = COLUMNS / 4;
    const float *units = kept + T::maps * MAP_TOTALS<T>;
#pragma unroll 1
    for (int i = corner.part * T::threads + static_cast<int>(threadIdx.x);
         i < T::maps * T::rows * fours; i += T::threads * q.parts) {
        const int map = i / (T::rows * fours), row = i / fours % T::rows, four = i % fours;
        const long long x = corner.x + four * 4, rest = q.p.out_width - x;
        if (corner.map + map >= q.maps || corner.y + row >= q.p.y1 || rest <= 0)
            continue;
        const GfFour<float> total =
            sum_parts(q, kept + map * MAP_TOTALS<T> + row * COLUMNS + four * 4);
        float r[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            r[j] = fma(total.v[j] * units[map], q.p.finish.scale, q.p.finish.offset);
        gf_finish_fours<1>(q.p, corner.n, corner.o + map, x, corner.y + row, r,
                           rest < 4 ? static_cast<int>(rest) : 4);
    }
}

/* ---- a block ---- */

template <typename T, typename In>
__global__ void __launch_bounds__(T::threads, T::blocks)
    tensor_layer(const __grid_constant__ Layer q)
{
    GF_BLOCK_MEMORY(__align__(16) unsigned char, memory);
    const Corner corner = find_corner(q, T::maps, T::rows);
    const Shared shared = find_shared(q, memory, T::warps);
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    const size_t left = q.p.y1 - corner.y;
    const int live_rows = left < T::rows ? static_cast<int>(left) : T::rows;
    const long long x = corner.x * q.p.stride_x + q.p.origin_x, x4 = x & ~3LL;
    const long long y = static_cast<long long>(corner.y) * q.p.stride_y + q.p.origin_y;
    const bool vectors = q.vectors && x4 >= 0 && x4 + q.pitch <= q.p.in_width && q.pitch == 16 &&
                         x - x4 + q.columns <= q.pitch;
    const Rows rows = {(live_rows - 1) * static_cast<int>(q.p.stride_y) +
                           (q.p.height - 1) * static_cast<int>(q.p.dilation_y) + 1,
                       static_cast<long long>(corner.group) * q.p.depth,
                       vectors ? static_cast<int>(x - x4) : -1, x4};
    for (int i = static_cast<int>(threadIdx.x); i < q.columns; i += T::threads)
        shared.sources[i] = static_cast<int>(gf_border_index(x + i, q.p.in_width, q.p.border));
    for (int i = static_cast<int>(threadIdx.x); i < rows.live; i += T::threads)
        shared.lines[i] = gf_input_row<char>(q.p, corner.n, y + i);
    const int stages = (q.stages + q.parts - 1) / q.parts, first = stages * corner.part;
    const int end = min(first + stages, q.stages);
    WarpProduct<T> product(q,
                           q.weights + corner.group * q.group_weights + first * q.stage_weights +
                               corner.map / 16 * 2 * WARP,
                           warp);
    gf_wait_for_stream();
#pragma unroll 1
    for (int stage = first - 2; stage < end; stage++) {
        const Ahead<T, In> ahead = {
            q, shared, rows, stage, end, warp, stage + 1 >= first && stage + 1 < end};
        __syncthreads();
        if (stage < first)
            ahead.turn();
        else
            product.multiply(q, shared, stage, ahead);
    }
    float *kept = reinterpret_cast<float *>(memory);
    __syncthreads();
    product.keep(warp, kept);
    for (int i = static_cast<int>(threadIdx.x); i < T::maps; i += T::threads)
        kept[T::maps * MAP_TOTALS<T> + i] = corner.map + i < q.maps ? q.units[corner.o + i] : 0.0F;
    wait_for_parts(q);
    finish<T>(q, corner, kept);
    if (q.parts > 1)
        wait_for_parts(q); /* until all have read what is kept here */
}

/* ---- a launch ---- */

/* Blocks that share a tile: so many that small pictures fill a large card. It decides bits, so that
 * it depends on the step alone, and on whether the card has clusters. */
size_t parts_of(const GfStep *step)
{
    constexpr size_t most = 8;
    const GfTensorShape shape = gf_tensor_shape(step);
    size_t parts = gf_divide_up(size_t{GF_TENSOR_ENOUGH}, gf_tensor_tiles(step));
    parts = parts < most ? parts : most;
    parts = parts < shape.stages ? parts : shape.stages;
    if (parts < 2 || !gf_has_clusters())
        return 1;
    return gf_divide_up(shape.stages, gf_divide_up(shape.stages, parts));
}

Layer layer_of(const GfLaunch *launch, const GfTensorTile &tile)
{
    const GfStep *step = launch->step;
    const GfTensorLayer *state = &static_cast<const GfTensorState *>(launch->state)->layer;
    const GfTensorShape shape = gf_tensor_shape(step);
    Layer q = {};
    q.p = gf_problem<float>(launch);
    q.maps = q.p.maps_per_group;
    q.groups = static_cast<unsigned>(step->linear.groups);
    q.size = gf_sample_size(step->in);
    q.sample = step->in;
    q.weights = static_cast<const uint4 *>(state->weights);
    q.step_weights = shape.map_runs * 2 * WARP;
    q.group_weights = gf_tensor_steps(step) * q.step_weights;
    q.stage_weights = q.group_weights / shape.stages;
    q.parts = static_cast<int>(parts_of(step));
    q.lifts = state->lifts;
    q.units = state->units;
    q.stages = static_cast<int>(shape.stages);
    q.stage_channels = static_cast<int>(shape.stage_channels);
    q.octets = static_cast<int>(shape.octets);
    q.row_steps = static_cast<int>(shape.row_steps);
    q.rows = static_cast<int>(tile.rows);
    q.columns = static_cast<int>(tile.columns);
    q.pitch = static_cast<int>(tile.pitch);
    q.lanes = static_cast<int>(tile.lanes);
    q.slot = static_cast<int>(tile.slot);
    q.lifted = state->lifted;
    q.vectors = step->in == GF_F32 && step->stride_x == 1 && launch->in.pixel == 1 &&
                launch->in.plane % 4 == 0 &&
                gf_aligned(launch->in.samples, launch->in.stride, launch->in.batch, 16);
    q.slots = static_cast<int>(tile.slots);
    q.plane = q.rows * q.columns;
    q.step_octets = static_cast<int>(step->dilation_x);
    q.pair_octets = q.step_octets * q.p.width;
    return q;
}

template <typename T> size_t bytes_of(const GfTensorTile &tile)
{
    return tile.bytes > TOTAL_BYTES<T> ? tile.bytes : TOTAL_BYTES<T>;
}

template <typename T, typename In> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTensorTile tile = gf_tensor_tile(launch->step, T::rows, T::warps);
    Layer q = layer_of(launch, tile);
    const size_t across = gf_divide_up(launch->step->out_width, static_cast<size_t>(COLUMNS));
    const size_t down = gf_divide_up(launch->y1 - launch->y0, static_cast<size_t>(T::rows));
    const size_t map_tiles = static_cast<size_t>((q.maps + T::maps - 1) / T::maps);
    const size_t blocks = across * down * map_tiles * q.groups * launch->count * q.parts;
    const size_t bytes = bytes_of<T>(tile);
    if (blocks > INT_MAX)
        return cudaErrorNotSupported;
    q.across = static_cast<unsigned>(across);
    q.down = static_cast<unsigned>(down);
    q.map_tiles = static_cast<unsigned>(map_tiles);
    const auto kernel = tensor_layer<T, In>;
    const GfBlocks grid = {static_cast<unsigned>(blocks), T::threads, bytes,
                           static_cast<unsigned>(q.parts)};
    return gf_launch_early(kernel, q.parts == 1 ? gf_spread(kernel, grid) : grid, stream, q);
}

/* What a launch takes, in microseconds: once; each of its blocks, once; for each of its stages; for
 * each step of each row of one; and two blocks on a multiprocessor each, where two have room, of
 * what they would take alone. Fitted to bench/results. */
struct Cost {
    double start, block, stage, step, crowd;
};

struct Row {
    cudaError_t (*launch)(const GfLaunch *launch, cudaStream_t stream);
    double (*cost)(const GfLaunch *launch, const Cost &cost);
};

/* Of a tile; INFINITY where it does not go with the layer or the card. */
template <typename T> double cost_of(const GfLaunch *launch, const Cost &cost)
{
    const GfStep *step = launch->step;
    const GfTensorShape shape = gf_tensor_shape(step);
    const size_t maps = step->linear.filters / step->linear.groups, parts = parts_of(step);
    const size_t bytes = bytes_of<T>(gf_tensor_tile(step, T::rows, T::warps));
    const size_t blocks = gf_divide_up(step->out_width, static_cast<size_t>(COLUMNS)) *
                          gf_divide_up(launch->y1 - launch->y0, static_cast<size_t>(T::rows)) *
                          gf_divide_up(maps, static_cast<size_t>(T::maps)) * step->linear.groups *
                          launch->count * parts;
    const size_t most = gf_divide_up(blocks, gf_multiprocessors());
    if (shape.map_runs * 16 % T::maps != 0 || bytes > gf_shared_limit())
        return INFINITY;
    const double rows =
        static_cast<double>(step->linear.height) * static_cast<double>(shape.row_steps);
    const double stages = static_cast<double>(gf_divide_up(shape.stages, parts));
    const double alone = cost.block + stages * (cost.stage + rows * cost.step);
    const double load = T::blocks == 1 ? static_cast<double>(most)
                                       : static_cast<double>(most / 2) * 2 * cost.crowd +
                                             static_cast<double>(most % 2);
    return cost.start + alone * load;
}

template <typename T> Row row_of()
{
    return {[](const GfLaunch *launch, cudaStream_t stream) {
                return launch->step->in == GF_F32 ? run<T, float>(launch, stream)
                                                  : run<T, void>(launch, stream);
            },
            cost_of<T>};
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_layer(const GfLaunch *launch, cudaStream_t stream)
{
#define ROW(MAPS, PIXELS, ROWS, BLOCKS) row_of<Tile<MAPS, PIXELS, ROWS, BLOCKS>>(),
    static const Row rows[] = {GF_TENSOR_TILES(ROW)};
#undef ROW
    static const Cost costs[] = {{0.0, 7.8, 5.3, 0.284, 0.70},  {0.0, 12.2, 3.3, 0.433, 0.70},
                                 {0.0, 11.8, 4.2, 0.426, 0.70}, {6.2, 4.0, 1.35, 0.156, 0.97},
                                 {5.4, 4.0, 3.17, 0.148, 0.94}, {5.4, 4.0, 1.2, 0.12, 0.97},
                                 {5.4, 4.0, 1.7, 0.12, 0.97}};
    constexpr size_t count = sizeof rows / sizeof *rows;
    static_assert(count == sizeof costs / sizeof *costs);
    size_t best = count;
    double lowest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const bool asked = launch->tiling == 0 || launch->tiling == i + 1;
        const double cost = asked ? rows[i].cost(launch, costs[i]) : INFINITY;
        if (cost < lowest) {
            lowest = cost;
            best = i;
        }
    }
    return best == count ? cudaErrorNotSupported : rows[best].launch(launch, stream);
}
