/* Method `shared`: a block for each tile of the OUTPUT, as in the tutorial "Shared memory optimised
 * CNN convolution" (eunomia-bpf, basic-cuda-tutorial 06). For each input channel the block's
 * threads go round to load the tile and its halo into shared memory, then compute. So every sample
 * is loaded once for a tile and not once for a tap: 144 loads instead of 1600 for 8 x 8 outputs and
 * a 5 x 5 kernel. (The taps go by asynchronous copies, which a profiler counts by themselves.)
 *
 * Beyond the tutorial: a thread makes several rows of a tile, and of a layer four maps, so that a
 * sample and a tap that are brought to registers serve four multiply-adds each; and where the
 * border's rules put a tile's columns and rows is found once, not for each sample and channel.
 *
 * Costs, of a channel: (TILE stride + (K - 1) dilation)^2 loads for 2 TILE^2 K^2 operations a map,
 * and for four maps five accesses to shared memory for each 32 operations. */
#include "gpu/device.cuh"

#include <cuda_pipeline.h>

namespace
{

constexpr int THREAD_ROWS = GF_SHARED_ROWS;
constexpr int LOADS = GF_SHARED_LOADS;

/* Threads of a block where a thread makes so many rows, and blocks of a multiprocessor. */
template <int ROWS> constexpr int MOST_THREADS = ROWS == 1 ? 512 : 256;
template <typename Sum, int ROWS>
constexpr int BLOCKS = gf_shared_at_once(sizeof(Sum) == 8, ROWS) / MOST_THREADS<ROWS>;

template <typename Sum> struct Shared {
    GfProblem<Sum> p;
    GfCut cut;
    int lanes;         /* channels side by side in the tile: gf_shared_lanes() */
    int chunks;        /* that the maps of a group are cut into */
    int run;           /* channels whose kernel rows are added up before they are added to others */
    int columns, rows; /* of the input tile */
    int window_rows;   /* from the first to the last row of taps */
    int step_x, step_y, tap_x, tap_y; /* samples of the tile from window to window, tap to tap */
    int next_column, next_row; /* from a sample that a thread loads to the next: blockDim samples */
};

/* One tap of `MANY` kernels. */
template <typename Sum, int MANY>
struct alignas(MANY * sizeof(Sum) < 16 ? MANY * sizeof(Sum) : 16) Taps {
    Sum of[MANY];
};

/* The block's shared memory. */
template <typename Sum, int MANY> struct Memory {
    long long *row;    /* of each row, its byte of the input; -1: the border's constant */
    long long *column; /* of each column, its sample in a row; -1: the border's constant */
    Taps<Sum, MANY> *taps;
    Sum *tile;
};

template <typename Sum, int MANY>
__device__ inline Memory<Sum, MANY> divide(const Shared<Sum> &s, unsigned char *memory)
{
    Memory<Sum, MANY> m;
    m.row = reinterpret_cast<long long *>(memory);
    m.column = m.row + s.rows;
    m.taps = reinterpret_cast<Taps<Sum, MANY> *>(memory + (s.columns + s.rows + 1) / 2 * 2 *
                                                              sizeof(long long));
    m.tile = reinterpret_cast<Sum *>(m.taps + s.p.width * s.p.height);
    return m;
}

__device__ inline int my_index()
{
    return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
}

__device__ inline int threads()
{
    return static_cast<int>(blockDim.y * blockDim.x);
}

/* Finds the tile's rows and columns. Rows that no window reaches count as border: they need not be
 * there. */
template <typename In, typename Sum, int MANY>
__device__ inline void locate(const Shared<Sum> &s, const GfPlace &place,
                              const Memory<Sum, MANY> &m)
{
    const GfProblem<Sum> &p = s.p;
    long long down =
        min(static_cast<long long>(s.cut.rows), static_cast<long long>(p.y1 - place.y));
    long long reach = (down - 1) * p.stride_y + s.window_rows;
    long long y = static_cast<long long>(place.y) * p.stride_y + p.origin_y;
#pragma unroll 1
    for (int i = my_index(); i < s.rows; i += threads()) {
        const In *row = i < reach ? gf_input_row<In>(p, blockIdx.z, y + i) : nullptr;
        m.row[i] = row ? reinterpret_cast<const unsigned char *>(row) -
                             static_cast<const unsigned char *>(p.in.samples)
                       : -1;
    }
    long long x = static_cast<long long>(place.s / s.lanes) * p.stride_x + p.origin_x;
#pragma unroll 1
    for (int i = my_index(); i < s.columns; i += threads()) {
        long long at = gf_border_index(x + i / s.lanes, p.in_width, p.border);
        long long lane = i % s.lanes;
        if (at >= 0)
            at = static_cast<long long>(at * p.in.pixel + lane * p.in.plane);
        m.column[i] = at;
    }
}

/* Loads the tile of channel c, and of the lanes after it. Several loads are under way before the
 * first is waited for. */
template <typename In, typename Sum, int MANY>
__device__ inline void load_tile(const Shared<Sum> &s, const Memory<Sum, MANY> &m, int c)
{
    const GfProblem<Sum> &p = s.p;
    const unsigned char *samples = static_cast<const unsigned char *>(p.in.samples);
    long long channel = c * p.in.plane;
    int row = my_index() / s.columns, column = my_index() % s.columns;
    int count = s.rows * s.columns;
    for (int i = my_index(); i < count; i += LOADS * threads()) {
        long long at[LOADS]; /* bytes */
        Sum v[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            long long first = m.row[min(row, s.rows - 1)], sample = m.column[column];
            bool there = row < s.rows && first >= 0 && sample >= 0;
            at[j] = there ? first + (sample + channel) * static_cast<int>(sizeof(In)) : -1;
            row += s.next_row;
            column += s.next_column;
            if (column >= s.columns) {
                column -= s.columns;
                row++;
            }
        }
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            v[j] = at[j] >= 0 ? gf_number<Sum>(*reinterpret_cast<const In *>(samples + at[j]))
                              : p.border_value;
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            if (i + j * threads() < count)
                m.tile[i + j * threads()] = v[j];
    }
}

/* Sends for the taps of `live` kernels from f on, on their channel d. They go by asynchronous copy,
 * past the registers, while the tile is loaded; __pipeline_wait_prior(0) waits for them. */
template <typename Sum, int MANY>
__device__ inline void send_for_taps(const Shared<Sum> &s, const Memory<Sum, MANY> &m, int f,
                                     int live, int d)
{
    int area = s.p.width * s.p.height;
    for (int i = my_index(); i < area * MANY; i += threads()) {
        int map = i % MANY, tap = i / MANY;
        size_t kernel = static_cast<size_t>(f + map) * s.p.depth + d;
        if (map < live)
            __pipeline_memcpy_async(&m.taps[tap].of[map], &s.p.weights[kernel * area + tap],
                                    sizeof(Sum));
        else
            m.taps[tap].of[map] = 0;
    }
    __pipeline_commit();
}

/* Of ROWS outputs, MANY maps each. */
template <int ROWS, int MANY, typename Sum>
__device__ inline void add(const Sum (&from)[ROWS][MANY], Sum (&to)[ROWS][MANY])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int map = 0; map < MANY; map++)
            to[i][map] += from[i][map];
}

/* Adds a channel's kernel rows to the sums of ROWS outputs, MANY maps each; `at` is the sample of
 * the first output's first tap, tap_x samples before the next one. */
template <int ROWS, int MANY, typename Sum>
__device__ inline void add_channel(const Shared<Sum> &s, const Taps<Sum, MANY> *taps, const Sum *at,
                                   int tap_x, Sum (&total)[ROWS][MANY])
{
    const int apart = THREAD_ROWS * s.step_y;
    for (int ky = 0; ky < s.p.height; ky++, taps += s.p.width, at += s.tap_y) {
        Sum line[ROWS][MANY] = {};
        for (int kx = 0; kx < s.p.width; kx++) {
            Taps<Sum, MANY> tap = taps[kx];
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                Sum sample = at[i * apart + kx * tap_x];
#pragma unroll
                for (int map = 0; map < MANY; map++)
                    line[i][map] = fma(tap.of[map], sample, line[i][map]);
            }
        }
        add(line, total);
    }
}

/* The same; taps that are neighbours, the usual case, are addressed by constants. */
template <int ROWS, int MANY, typename Sum>
__device__ inline void add_channel(const Shared<Sum> &s, const Taps<Sum, MANY> *taps, const Sum *at,
                                   Sum (&total)[ROWS][MANY])
{
    if (s.tap_x == 1)
        add_channel(s, taps, at, 1, total);
    else
        add_channel(s, taps, at, s.tap_x, total);
}

/* values[i] without an address, which registers have not. */
template <typename T, int COUNT> __device__ inline T pick(const T (&values)[COUNT], int i)
{
    T v = values[0];
#pragma unroll
    for (int j = 1; j < COUNT; j++)
        v = i == j ? values[j] : v;
    return v;
}

/* This thread's outputs: rows y, y + THREAD_ROWS, ... of column x, of `live` maps from o on. */
struct Outputs {
    long long x;
    size_t y;
    int o, live;
};

/* Loops that stay loops: what makes a sample of a sum is long. */
template <typename In, int ROWS, int MANY, typename Sum>
__device__ inline void store(const GfProblem<Sum> &p, const Outputs &mine,
                             const Sum (&total)[ROWS][MANY])
{
    size_t y = mine.y;
#pragma unroll 1
    for (int i = 0; i < ROWS && y < p.y1; i++, y += THREAD_ROWS) {
        Sum row[MANY];
#pragma unroll
        for (int map = 0; map < MANY; map++) {
            Sum column[ROWS];
#pragma unroll
            for (int j = 0; j < ROWS; j++)
                column[j] = total[j][map];
            row[map] = pick(column, i);
        }
#pragma unroll 1
        for (int map = 0; map < mine.live; map++)
            if (gf_is_kept(p, mine.o + map))
                gf_keep_alpha<In>(p, blockIdx.z, mine.o + map, mine.x, y);
            else
                gf_finish_sample(p, blockIdx.z, mine.o + map, mine.x, y, pick(row, map));
    }
}

template <int ROWS, int MANY, typename Sum>
__device__ inline void respond(const GfProblem<Sum> &p, Sum (&total)[ROWS][MANY])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int map = 0; map < MANY; map++)
            total[i][map] = fma(total[i][map], p.finish.scale, p.finish.offset);
}

/* The block's tile and this thread's outputs in it; returns the tile's sample of the first one's
 * first tap. */
template <int MANY, typename Sum>
__device__ inline int my_outputs(const Shared<Sum> &s, const GfPlace &place, Outputs *mine)
{
    int group = place.set / s.chunks, chunk = place.set % s.chunks * MANY;
    int column = static_cast<int>(threadIdx.x), lane = 0;
    size_t x = place.s;
    mine->o = place.set;
    mine->live = 1;
    if (s.lanes > 1) {
        x = place.s / s.lanes;
        column += static_cast<int>(place.s % s.lanes);
        lane = column % s.lanes;
        column /= s.lanes;
        mine->o = lane;
    } else if (s.p.maps_per_group > 0) {
        mine->o = group * s.p.maps_per_group + chunk;
        mine->live = min(MANY, s.p.maps_per_group - chunk);
    }
    mine->x = static_cast<long long>(x) + column;
    mine->y = place.y + threadIdx.y;
    return static_cast<int>(threadIdx.y) * s.step_y + column * s.step_x + lane;
}

/* A layer, MANY maps of a group at a time. Kernel rows are added up over a run of channels, then
 * the runs, so that few roundings follow one another. */
template <typename In, typename Sum, int ROWS, int MANY>
__device__ inline void run_layer(const Shared<Sum> &s, const Memory<Sum, MANY> &m,
                                 const Outputs &mine, bool computes, const Sum *at)
{
    Sum total[ROWS][MANY] = {};
    int c = gf_first_channel(s.p, mine.o);
    for (int d = 0; d < s.p.depth;) {
        Sum run[ROWS][MANY] = {};
        for (int end = min(d + s.run, s.p.depth); d < end; d++) {
            __syncthreads();
            send_for_taps(s, m, mine.o, mine.live, d);
            load_tile<In>(s, m, c + d);
            __pipeline_wait_prior(0);
            __syncthreads();
            if (computes)
                add_channel(s, m.taps, at, run);
        }
        add(run, total);
    }
    respond(s.p, total);
    if (computes)
        store<In>(s.p, mine, total);
}

/* A bank: one tile for all its kernels, one after the other. */
template <typename In, typename Sum, int ROWS>
__device__ inline void run_bank(const Shared<Sum> &s, const Memory<Sum, 1> &m, const Outputs &mine,
                                bool computes, const Sum *at)
{
    GfCombiner<Sum> combined[ROWS];
    Sum total[ROWS][1];
    __syncthreads();
    for (int j = 0; j < s.p.responses; j++) {
        send_for_taps(s, m, j, 1, 0);
        if (j == 0)
            load_tile<In>(s, m, s.lanes > 1 ? 0 : mine.o);
        __pipeline_wait_prior(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            total[i][0] = 0;
        if (computes)
            add_channel(s, m.taps, at, total);
        respond(s.p, total);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (j == 0)
                gf_combine_begin(s.p.finish, &combined[i], total[i][0]);
            else
                gf_combine_add(s.p.finish, &combined[i], total[i][0]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        total[i][0] = gf_combine_end(s.p.finish, combined[i]);
    if (computes)
        store<In>(s.p, mine, total);
}

template <typename In, typename Sum, int ROWS, int MANY>
__global__ void __launch_bounds__(MOST_THREADS<ROWS>, BLOCKS<Sum, ROWS>)
    shared(const __grid_constant__ Shared<Sum> s)
{
    GF_BLOCK_MEMORY(double2, memory);
    Memory<Sum, MANY> m = divide<Sum, MANY>(s, reinterpret_cast<unsigned char *>(memory));
    GfPlace place = gf_my_tile(s.cut, s.p.y0);
    Outputs mine;
    const Sum *at = m.tile + my_outputs<MANY>(s, place, &mine);
    bool computes = place.s + threadIdx.x < s.cut.samples && mine.y < s.p.y1;
    locate<In>(s, place, m);
    gf_wait_for_stream();
    if (MANY > 1 || s.p.maps_per_group > 0)
        run_layer<In, Sum, ROWS>(s, m, mine, computes, at);
    else if constexpr (MANY == 1)
        run_bank<In, Sum, ROWS>(s, m, mine, computes, at);
}

/* ---- launching ---- */

template <typename Sum> Shared<Sum> make(const GfLaunch *launch, const GfSharedCut &cut)
{
    const GfStep *step = launch->step;
    Shared<Sum> s = {};
    GfTileSize input = gf_shared_input(step, cut.tile);
    s.p = gf_problem<Sum>(launch);
    s.lanes = static_cast<int>(gf_shared_lanes(step));
    s.cut = gf_cut(step->out_width * gf_shared_lanes(step), cut.tile, cut.sets);
    s.chunks = static_cast<int>(cut.chunks);
    s.run = gf_channel_run(s.p.depth * s.p.height) / s.p.height;
    s.run = s.run > 0 ? s.run : 1;
    s.columns = static_cast<int>(input.columns);
    s.rows = static_cast<int>(input.rows);
    s.window_rows = static_cast<int>(gf_window(step).rows);
    s.step_x = static_cast<int>(step->stride_x) * s.lanes;
    s.step_y = static_cast<int>(step->stride_y) * s.columns;
    s.tap_x = s.p.width > 1 ? static_cast<int>(step->dilation_x) * s.lanes : 0;
    s.tap_y = s.p.height > 1 ? static_cast<int>(step->dilation_y) * s.columns : 0;
    int threads = s.cut.columns * THREAD_ROWS;
    s.next_column = threads % s.columns;
    s.next_row = threads / s.columns;
    return s;
}

template <typename In, typename Sum, int ROWS, int MANY>
cudaError_t start(const GfLaunch *launch, const GfSharedCut &cut, cudaStream_t stream)
{
    Shared<Sum> s = make<Sum>(launch, cut);
    size_t bytes = gf_shared_bytes(launch->step, launch->wide, cut.tile, MANY);
    dim3 grid = gf_cut_grid(s.cut, launch);
    dim3 block(static_cast<unsigned>(cut.tile.columns), THREAD_ROWS);
    const auto kernel = shared<In, Sum, ROWS, MANY>;
    return gf_launch_early(kernel, gf_spread(kernel, {grid, block, bytes}), stream, s);
}

template <typename In, typename Sum, int MANY>
cudaError_t start(const GfLaunch *launch, const GfSharedCut &cut, cudaStream_t stream)
{
    switch (cut.tile.rows / THREAD_ROWS) {
    case 1:
        return start<In, Sum, 1, MANY>(launch, cut, stream);
    case 2:
        return start<In, Sum, 2, MANY>(launch, cut, stream);
    case 4:
        return start<In, Sum, 4, MANY>(launch, cut, stream);
    }
    return cudaErrorNotSupported;
}

template <typename Sum> cudaError_t launch_shared(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTask task = gf_task_of(launch);
    GfSharedCut cut = {};
    gf_shared_cycles(&task, launch->tiling, &cut);
    if (cut.maps == 0)
        return cudaErrorNotSupported;
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return cut.maps == 1 ? start<decltype(sample), Sum, 1>(launch, cut, stream)
                             : start<decltype(sample), Sum, GF_SHARED_MAPS>(launch, cut, stream);
    });
}

} // namespace

extern "C" cudaError_t gf_launch_shared(const GfLaunch *launch, cudaStream_t stream)
{
    return launch->wide ? launch_shared<double>(launch, stream)
                        : launch_shared<float>(launch, stream);
}
