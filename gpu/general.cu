/* Method `general`: layers of many channels, after Chen et al., "Optimizing Memory Efficiency for
 * Convolution Kernels on Kepler GPUs", DAC 2017, algorithm 2. A block has W x H output pixels of
 * FTB maps. It goes through the channels, CSH at a time: their pixels with the halo and their taps
 * stand in shared memory, the taps turned so that those of neighbouring maps are neighbours, in
 * rows that are padded to begin in different banks. A thread has WT pixels side by side of FT maps.
 * It reads WT + K - 1 pixels of a row into registers, where they serve K rounds, one for each tap
 * of that row of the kernel: in a round only FT taps come from shared memory. All is read as
 * vectors of 16 bytes, the widest that a thread can read, and while one stage is computed, the next
 * CSH channels are on their way from memory.
 *
 * Beyond the paper: where a picture has too few tiles to fill the card, teams of a block share the
 * channels (gpu/problem.cuh); and sums are made in chains of channels, so that f32 is exact enough
 * at any depth.
 *
 * Costs, for a channel and a tile: (W + K - 1) * (H + K - 1) + K * K * FTB numbers from memory for
 * K * K * W * H * FTB multiply-adds; for a channel and a thread (WT + K - 1) * K + K * K * FT
 * numbers from shared memory for K * K * WT * FT multiply-adds. */
#include <cuda_pipeline.h>
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

/* A layer as its kernels see it. */
struct Layer {
    GfProblem<float> p;
    unsigned across, down, map_tiles, groups; /* tiles of a picture, of a group's maps */
    int maps;                                 /* of a group */
    int chain, chains;                        /* channels of a chain; of the layer */
    int chain_rows;                           /* kernel rows of a chain */
    unsigned row;                             /* samples from one input row to the next */
    size_t size, plane;                       /* bytes of a sample; from channel to channel */
    size_t filters_step; /* taps from a map that a thread brings to the next one that it brings */
    GfSample sample;
};

/* ---- a block's tile ---- */

/* The first map of the tile, of its group and of all, and its first pixel. */
struct Corner {
    int group, map, o;
    size_t n, y;
    long long x;
};

__device__ Corner find_corner(const Layer &q, int maps, int columns, int rows)
{
    unsigned tile = blockIdx.x;
    Corner corner;
    corner.map = static_cast<int>(tile % q.map_tiles) * maps;
    tile /= q.map_tiles;
    corner.group = static_cast<int>(tile % q.groups);
    tile /= q.groups;
    corner.o = corner.group * q.maps + corner.map;
    corner.x = static_cast<long long>(tile % q.across) * columns;
    tile /= q.across;
    corner.y = q.p.y0 + static_cast<size_t>(tile % q.down) * static_cast<unsigned>(rows);
    corner.n = tile / q.down;
    return corner;
}

/* A thread's totals become samples: FOURS fours side by side of MAPS maps, which in turns of four
 * are `apart` maps apart; total(i) is the i-th four. Teams share the maps. */
template <int MAPS, int FOURS, int TEAMS, typename Total>
__device__ void finish(const Layer &q, const Corner &corner, int map, long long x, size_t y,
                       Total total, int team, int apart)
{
    long long rest = q.p.out_width - x;
    if (y >= q.p.y1 || rest <= 0)
        return;
#pragma unroll 1
    for (int m = team; m < MAPS; m += TEAMS) {
        int of_tile = map + m / 4 * apart + m % 4;
        if (corner.map + of_tile >= q.maps)
            continue;
        float r[FOURS * 4];
#pragma unroll
        for (int i = 0; i < FOURS; i++) {
            const GfFour<float> four = total(m * FOURS + i);
#pragma unroll
            for (int j = 0; j < 4; j++)
                r[i * 4 + j] = fma(four.v[j], q.p.finish.scale, q.p.finish.offset);
        }
        gf_finish_fours<FOURS>(q.p, corner.n, corner.o + of_tile, x, y, r,
                               rest < FOURS * 4 ? static_cast<int>(rest) : FOURS * 4);
    }
}

/* ---- square kernels known when compiling ---- */

constexpr unsigned NOWHERE = UINT_MAX;

/* The paper's names: K x K taps, W x H pixels and FTB maps of a block, WT pixels and FT maps of a
 * thread, of each of TEAMS teams; BLOCKS on a multiprocessor bounds the registers. What host and
 * kernels both know of a tile is told in gpu/general_tiles.h. */
template <int SIDE, int W, int H, int FTB, int WT, int FT, int TEAMS, int BLOCKS> struct Tile {
    static constexpr GfGeneralTile own = gf_general_tile(SIDE, W, H, FTB, WT, FT, TEAMS, BLOCKS);
    static constexpr int side = SIDE, width = W, height = H, maps = FTB, channels = own.channels;
    static constexpr int thread_pixels = WT, thread_maps = FT, teams = TEAMS, blocks = BLOCKS;
    static constexpr int area = SIDE * SIDE, taps = channels * area;
    static constexpr int map_threads = FTB / FT, across = W / WT;
    static constexpr int team = own.team, threads = own.threads, window = own.window;
    static constexpr int fours = WT / 4, sums = FT * fours;
    static constexpr int apart =
        FT > 4 ? FTB * 4 / FT : 0; /* maps from one four of them to the next */
    static constexpr int rows = own.rows, pitch = own.pitch, plane = rows * pitch;
    static constexpr int places = own.places, ways = own.ways;
    static constexpr int filter_pitch = FTB + 4;
    static constexpr int tap_maps = own.tap_maps;
    static_assert(team % 32 == 0 && W % WT == 0 && FTB % FT == 0);
};

/* A team's part of a stage. */
template <typename T> struct alignas(16) Stage {
    float pixels[T::channels][T::plane];
    float filters[T::taps][T::filter_pitch];
};

template <typename T> struct Shared {
    GfFour<float> totals[T::sums][T::team]; /* of all rounds but the last */
    union {
        Stage<T> stages[2][T::teams];
        GfFour<float> last[T::teams][T::teams > 1 ? T::sums : 1][T::team]; /* of each team */
    };
    unsigned sources[T::places]; /* samples from a channel's first to each of a plane; or NOWHERE */
    unsigned ways[T::ways + 1];  /* those of rows, those of columns */
    Corner corner;               /* kept here, since registers are short */
};

/* What a thread does in its block. */
template <typename T> struct Place {
    int team, t;
    int pixel, map;         /* its first, within a plane and within the tile */
    const char *picture;    /* the group's first channel */
    const float *filters;   /* the first map that it brings taps of */
    int tap, tap_map, maps; /* which taps and map these are; maps that the tile has */
};

__host__ __device__ inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* Where the samples for a row and a column of a plane are, in samples from the channel's first:
 * NOWHERE for the border's constant and for those that no output needs, whose rows may not be
 * here. */
template <typename T> __device__ unsigned find_row(const Layer &q, const Corner &corner, int row)
{
    size_t rows = q.p.y1 - corner.y;
    if (row >= static_cast<int>(rows < T::height ? rows : T::height) + T::side - 1)
        return NOWHERE;
    long long y = gf_border_index(static_cast<long long>(corner.y) + row + q.p.origin_y,
                                  q.p.in_height, q.p.border);
    size_t slot = static_cast<size_t>(y) - q.p.in.first;
    if (slot >= q.p.in.capacity)
        slot -= q.p.in.capacity;
    return y < 0 ? NOWHERE : static_cast<unsigned>(slot) * q.row;
}

template <typename T>
__device__ unsigned find_column(const Layer &q, const Corner &corner, int column)
{
    long long columns = q.p.out_width - corner.x;
    if (column >= static_cast<int>(columns < T::width ? columns : T::width) + T::side - 1)
        return NOWHERE;
    long long x = gf_border_index(corner.x + column + q.p.origin_x, q.p.in_width, q.p.border);
    return x < 0 ? NOWHERE : static_cast<unsigned>(x) * static_cast<unsigned>(q.p.in.pixel);
}

__device__ unsigned add_ways(unsigned row, unsigned column)
{
    return row == NOWHERE || column == NOWHERE ? NOWHERE : row + column;
}

/* The same for all places of a plane. Where each thread has many, rows and columns are looked up
 * once. */
template <typename T>
__device__ void find_sources(const Layer &q, const Corner &corner, Shared<T> *s)
{
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (T::ways > 0) {
        for (int i = thread; i < T::ways; i += T::threads)
            s->ways[i] =
                i < T::rows ? find_row<T>(q, corner, i) : find_column<T>(q, corner, i - T::rows);
        __syncthreads();
    }
    for (int i = thread; i < T::places; i += T::threads) {
        const int row = i / T::pitch, column = i % T::pitch;
        if (i >= T::plane)
            s->sources[i] = NOWHERE;
        else if constexpr (T::ways > 0)
            s->sources[i] = add_ways(s->ways[row], s->ways[T::rows + column]);
        else
            s->sources[i] =
                add_ways(find_row<T>(q, corner, row), find_column<T>(q, corner, column));
    }
}

/* A thread's first pixel of the tile. */
template <typename T> __device__ int my_x(int t)
{
    return t / T::map_threads % T::across * T::thread_pixels;
}

template <typename T> __device__ int my_y(int t)
{
    return t / T::map_threads / T::across;
}

template <typename T> __device__ Place<T> my_place(const Layer &q, const Corner &corner)
{
    Place<T> place;
    place.team = static_cast<int>(threadIdx.x) / T::team;
    place.t = static_cast<int>(threadIdx.x) % T::team;
    place.pixel = my_y<T>(place.t) * T::pitch + my_x<T>(place.t);
    place.map = place.t % T::map_threads * 4;
    place.picture = static_cast<const char *>(q.p.in.samples) + corner.n * q.p.in.batch +
                    static_cast<size_t>(corner.group * q.p.depth) * q.plane;
    /* Threads that are too many for the taps have one that no stage has. */
    place.tap = place.t < T::tap_maps * T::taps ? place.t % T::taps : T::taps;
    place.tap_map = place.t / T::taps;
    place.filters =
        q.p.weights + static_cast<size_t>(corner.o + place.tap_map) * q.p.depth * T::area;
    place.maps = least(q.maps - corner.map, T::maps);
    return place;
}

/* What no stage brings is there from the beginning. */
template <typename T>
__device__ void fill_border(const Layer &q, const Place<T> &place, Shared<T> *s)
{
    for (int i = place.t; i < T::plane; i += T::team)
        for (int c = 0; c < T::channels && s->sources[i] == NOWHERE; c++) {
            s->stages[0][place.team].pixels[c][i] = q.p.border_value;
            s->stages[1][place.team].pixels[c][i] = q.p.border_value;
        }
}

/* f32 goes past the registers, while the last stage is computed. */
template <typename T, typename In>
__device__ void load_pixels(const Layer &q, const Place<T> &place, const unsigned *sources, int c,
                            int live, Stage<T> *stage)
{
    size_t size = std::is_same_v<In, float> ? sizeof(float) : q.size;
    const char *plane = place.picture + static_cast<size_t>(c) * q.plane;
#pragma unroll 1
    for (int i = 0; i < live; i++, plane += q.plane) {
#pragma unroll
        for (int j = 0; j < T::places; j += T::team) {
            unsigned source = sources[place.t + j];
            const char *from = plane + source * size;
            float *to = stage->pixels[i] + place.t + j;
            if (source == NOWHERE)
                continue;
            if constexpr (std::is_same_v<In, float>)
                __pipeline_memcpy_async(to, from, sizeof(float));
            else
                *to = gf_number_at<float, In>(from, q.sample);
        }
    }
}

/* Neighbouring threads bring neighbouring taps of a map, and each the same taps of other maps. */
template <typename T>
__device__ void load_filters(const Layer &q, const Place<T> &place, int c, int live,
                             Stage<T> *stage)
{
#pragma unroll
    for (int first = 0; first < T::taps; first += T::team) {
        int tap = place.tap + first;
        const float *from = place.filters + static_cast<size_t>(c) * T::area + tap;
        float *to = &stage->filters[0][0] + tap * T::filter_pitch + place.tap_map;
        int maps = tap < live * T::area ? place.maps - place.tap_map : 0;
#pragma unroll
        for (int i = 0; i < T::maps; i += T::tap_maps) {
            if (i < maps)
                __pipeline_memcpy_async(to + i, from, sizeof(float));
            from += q.filters_step;
        }
    }
}

/* Brings `live` channels from channel c of the group on. */
template <typename T, typename In>
__device__ void load(const Layer &q, const Place<T> &place, const unsigned *sources, int c,
                     int live, Stage<T> *stage)
{
    live = least(live, T::channels);
    load_pixels<T, In>(q, place, sources, c, live, stage);
    load_filters(q, place, c, live, stage);
    __pipeline_commit();
}

template <typename T>
__device__ void accumulate(const Place<T> &place, const Stage<T> &stage, int live,
                           GfFour<float> (&sums)[T::sums])
{
    const float *pixels = stage.pixels[0] + place.pixel;
    const float *filters = stage.filters[0] + place.map;
#pragma unroll 1
    for (int c = 0; c < live; c++) {
#pragma unroll(T::side <= 3 ? T::side : 1)
        for (int ky = 0; ky < T::side; ky++) {
            GfFour<float> row[T::window];
#pragma unroll
            for (int i = 0; i < T::window; i++)
                row[i] = *reinterpret_cast<const GfFour<float> *>(pixels + i * 4);
#pragma unroll
            for (int kx = 0; kx < T::side; kx++) {
                GfFour<float> taps[T::thread_maps / 4];
#pragma unroll
                for (int i = 0; i < T::thread_maps / 4; i++)
                    taps[i] = *reinterpret_cast<const GfFour<float> *>(filters + i * T::apart);
#pragma unroll
                for (int m = 0; m < T::thread_maps; m++)
#pragma unroll
                    for (int x = 0; x < T::thread_pixels; x++) {
                        float &sum = sums[m * T::fours + x / 4].v[x % 4];
                        sum = fma(taps[m / 4].v[m % 4], row[(x + kx) / 4].v[(x + kx) % 4], sum);
                    }
                filters += T::filter_pitch;
            }
            pixels += T::pitch;
        }
        pixels += T::plane - T::side * T::pitch;
    }
}

/* What each team has of the last round goes where its stages were, so that teams need not take
 * turns. */
template <typename T>
__device__ void keep_last(GfFour<float> (*last)[T::sums][T::team],
                          const GfFour<float> (&sums)[T::sums], const Place<T> &place)
{
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T::sums; i++)
        last[place.team][i][place.t] = sums[i];
    __syncthreads();
}

/* The i-th total of thread t: chains in their order, as gf_add_chains() adds them. */
template <typename T>
__device__ GfFour<float> total_of(const Layer &q, const Shared<T> &shared, int i, int t)
{
    if constexpr (T::teams == 1)
        return shared.totals[i][t];
    const int before = (q.chains - 1) / T::teams * T::teams;
    GfFour<float> total = before > 0 ? shared.totals[i][t] : GfFour<float>{};
#pragma unroll
    for (int team = 0; team < T::teams; team++)
        if (before + team < q.chains)
#pragma unroll
            for (int j = 0; j < 4; j++)
                total.v[j] += shared.last[team][i][t].v[j];
    return total;
}

/* Channels of a chain that has `rest` of them before the depth ends. */
__device__ int channels_of(const Layer &q, int rest)
{
    return rest < 0 ? 0 : least(rest, q.chain);
}

/* Stage by stage, the chains that begin with chain `first`: a round, in which each team has one. In
 * the last round chains may be short, or missing. */
template <typename T, typename In>
__global__ void __launch_bounds__(T::threads, T::blocks) general(const __grid_constant__ Layer q)
{
    GF_BLOCK_MEMORY(__align__(16) unsigned char, memory);
    Shared<T> &shared = *reinterpret_cast<Shared<T> *>(memory);
    Corner corner = find_corner(q, T::maps, T::width, T::height);
    Place<T> place = my_place<T>(q, corner);
    Stage<T> *now = &shared.stages[0][place.team], *then = &shared.stages[1][place.team];
    find_sources(q, corner, &shared);
    if (threadIdx.x == 0)
        shared.corner = corner;
    __syncthreads();
    fill_border(q, place, &shared);
    gf_wait_for_stream();
    int c = place.team * q.chain,
        live = channels_of(q, q.p.depth - c); /* of the chain, from c on */
    load<T, In>(q, place, shared.sources, c, live, now);
#pragma unroll 1
    for (int first = 0; first < q.chains; first += T::teams) {
        GfFour<float> sums[T::sums] = {};
        int stages = (channels_of(q, q.p.depth - first * q.chain) + T::channels - 1) / T::channels;
#pragma unroll 1
        for (; stages > 0; stages--) {
            __pipeline_wait_prior(0);
            __syncthreads();
            int here = least(live, T::channels);
            if (stages > 1) {
                c += T::channels;
                live -= here;
            } else {
                c = (first + T::teams + place.team) * q.chain;
                live = channels_of(q, q.p.depth - c);
            }
            load<T, In>(q, place, shared.sources, c, live, then);
            accumulate(place, *now, here, sums);
            Stage<T> *done = now;
            now = then;
            then = done;
        }
        if constexpr (T::teams > 1)
            if (first + T::teams >= q.chains) {
                keep_last(shared.last, sums, place);
                break;
            }
        gf_add_chains<T::team, T::teams>(shared.totals, sums, place.team, place.t,
                                         first + place.team, q.chains);
    }
    corner = shared.corner;
    finish<T::thread_maps, T::fours, T::teams>(
        q, corner, place.map, corner.x + my_x<T>(place.t), corner.y + my_y<T>(place.t),
        [&](int i) { return total_of(q, shared, i, place.t); }, place.team, T::apart);
}

/* ---- any kernel ---- */

/* W x H pixels and FTB maps of a block, WT pixels and FT maps of a thread; one channel at a time,
 * whose rows and taps are as many as it has. */
constexpr int ANY_W = 16, ANY_H = 8, ANY_FTB = 16, ANY_T = 4, ANY_PITCH = ANY_FTB + 4;
constexpr int ANY_TEAM = ANY_FTB / ANY_T * (ANY_W / ANY_T) * ANY_H;

struct AnyShared {
    GfFour<float> totals[ANY_T][ANY_TEAM];
    float filters[1][ANY_PITCH]; /* as many as the kernel has taps, and the pixels behind */
};

/* Pixels of a tile's row and rows of it. */
__device__ int any_columns(const Layer &q)
{
    return static_cast<int>((ANY_W - 1) * q.p.stride_x + (q.p.width - 1) * q.p.dilation_x) + 1;
}

__device__ int any_rows(const Layer &q)
{
    return static_cast<int>((ANY_H - 1) * q.p.stride_y + (q.p.height - 1) * q.p.dilation_y) + 1;
}

/* A channel's pixels; what no output needs may not be here, and is left out. */
__device__ void any_pixels(const Layer &q, const Corner &corner, int c, float *pixels)
{
    int columns = any_columns(q), count = columns * any_rows(q);
    size_t last_row = (q.p.y1 - 1 - corner.y) * q.p.stride_y + (q.p.height - 1) * q.p.dilation_y;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += ANY_TEAM) {
        int row = i / columns, column = i % columns;
        if (static_cast<size_t>(row) > last_row)
            break;
        long long y = static_cast<long long>(corner.y) * q.p.stride_y + q.p.origin_y + row;
        long long x = corner.x * q.p.stride_x + q.p.origin_x + column;
        const char *from = gf_input_row<char>(q.p, corner.n, y);
        x = gf_border_index(x, q.p.in_width, q.p.border);
        pixels[i] = from && x >= 0
                        ? gf_number_at<float, void>(
                              from + (x * q.p.in.pixel + c * q.p.in.plane) * q.size, q.sample)
                        : q.p.border_value;
    }
}

__device__ void any_filters(const Layer &q, const Corner &corner, int c, AnyShared *shared)
{
    int area = q.p.width * q.p.height;
    for (int i = static_cast<int>(threadIdx.x); i < area * ANY_FTB; i += ANY_TEAM) {
        int map = i / area, tap = i % area;
        size_t filter = static_cast<size_t>(corner.o + map) * q.p.depth + c;
        if (corner.map + map < q.maps)
            shared->filters[tap][map] = q.p.weights[filter * area + tap];
    }
}

/* A row of the kernel on a row of pixels. */
__device__ void any_row(const Layer &q, const float *pixels, const float *filters,
                        GfFour<float> (&sums)[ANY_T])
{
    int stride = static_cast<int>(q.p.stride_x), dilation = static_cast<int>(q.p.dilation_x);
    for (int kx = 0; kx < q.p.width; kx++, pixels += dilation, filters += ANY_PITCH) {
        GfFour<float> taps = *reinterpret_cast<const GfFour<float> *>(filters);
#pragma unroll
        for (int m = 0; m < ANY_T; m++)
#pragma unroll
            for (int x = 0; x < 4; x++)
                sums[m].v[x] = fma(taps.v[m], pixels[x * stride], sums[m].v[x]);
    }
}

__global__ void __launch_bounds__(ANY_TEAM) general_any(const __grid_constant__ Layer q)
{
    GF_BLOCK_MEMORY(__align__(16) unsigned char, memory);
    AnyShared &shared = *reinterpret_cast<AnyShared *>(memory);
    float *pixels = shared.filters[q.p.width * q.p.height];
    Corner corner = find_corner(q, ANY_FTB, ANY_W, ANY_H);
    int t = static_cast<int>(threadIdx.x), map = t % (ANY_FTB / ANY_T) * 4;
    int x = t / (ANY_FTB / ANY_T) % (ANY_W / ANY_T) * ANY_T,
        y = t / (ANY_FTB / ANY_T * ANY_W / ANY_T);
    int columns = any_columns(q), rows = 0, chain = 0;
    GfFour<float> sums[ANY_T] = {};
    gf_wait_for_stream();
    for (int c = 0; c < q.p.depth; c++) {
        __syncthreads();
        any_pixels(q, corner, corner.group * q.p.depth + c, pixels);
        any_filters(q, corner, c, &shared);
        __syncthreads();
        for (int ky = 0; ky < q.p.height; ky++) {
            int row = static_cast<int>(y * q.p.stride_y + ky * q.p.dilation_y);
            any_row(q, pixels + row * columns + x * q.p.stride_x,
                    shared.filters[ky * q.p.width] + map, sums);
            bool last = c + 1 == q.p.depth && ky + 1 == q.p.height;
            if (++rows < q.chain_rows && !last)
                continue;
            gf_add_chains<ANY_TEAM, 1>(shared.totals, sums, 0, t, chain, chain + 1);
            for (auto &sum : sums)
                sum = {};
            chain++;
            rows = 0;
        }
    }
    finish<ANY_T, 1, 1>(
        q, corner, map, corner.x + x, corner.y + y, [&](int i) { return shared.totals[i][t]; }, 0,
        0);
}

/* ---- a launch ---- */

Layer layer_of(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    Layer q = {};
    q.p = gf_problem<float>(launch);
    q.maps = q.p.maps_per_group;
    q.groups = static_cast<unsigned>(linear->groups);
    q.chain = gf_general_chain(step);
    q.chains = q.chain ? (q.p.depth + q.chain - 1) / q.chain : 0;
    size_t rows = gf_chain(step) / linear->width;
    q.chain_rows = q.chain ? q.chain * q.p.height : rows ? static_cast<int>(rows) : 1;
    q.sample = step->in;
    q.size = gf_sample_size(step->in);
    q.plane = launch->in.plane * q.size;
    q.row = static_cast<unsigned>(launch->in.stride / gf_sample_size(step->in));
    return q;
}

/* Cuts the outputs into tiles: their number, 0 when a grid has no room for it. */
unsigned cut(const GfLaunch *launch, size_t width, size_t height, size_t maps, Layer *q)
{
    size_t across = (launch->step->out_width + width - 1) / width;
    size_t down = (launch->y1 - launch->y0 + height - 1) / height;
    size_t map_tiles = (static_cast<size_t>(q->maps) + maps - 1) / maps;
    size_t blocks = across * down * map_tiles * q->groups * launch->count;
    q->across = static_cast<unsigned>(across);
    q->down = static_cast<unsigned>(down);
    q->map_tiles = static_cast<unsigned>(map_tiles);
    return blocks > INT_MAX ? 0 : static_cast<unsigned>(blocks);
}

cudaError_t run_any(const GfLaunch *launch, cudaStream_t stream)
{
    Layer q = layer_of(launch);
    unsigned blocks = cut(launch, ANY_W, ANY_H, ANY_FTB, &q);
    size_t bytes = gf_general_bytes(launch->step);
    return gf_launch_early(general_any, gf_spread(general_any, {blocks, ANY_TEAM, bytes}), stream,
                           q);
}

template <typename T, typename In> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    Layer q = layer_of(launch);
    unsigned blocks = cut(launch, T::width, T::height, T::maps, &q);
    q.filters_step = gf_linear_taps(&launch->step->linear) * T::tap_maps;
    const auto kernel = general<T, In>;
    return gf_launch_early(kernel, gf_spread(kernel, {blocks, T::threads, sizeof(Shared<T>)}),
                           stream, q);
}

using Launcher = cudaError_t (*)(const GfLaunch *launch, cudaStream_t stream);

template <typename T> Launcher launcher_of()
{
    if constexpr (std::is_void_v<T>) {
        return nullptr;
    } else {
        static_assert(sizeof(Shared<T>) == T::own.bytes);
        static_assert(sizeof(Shared<T>) <= 99 * 1024); /* what a block may have since sm_80 */
        return [](const GfLaunch *launch, cudaStream_t stream) {
            return launch->step->in == GF_F32 ? run<T, float>(launch, stream)
                                              : run<T, void>(launch, stream);
        };
    }
}

/* The tilings, in the order of their names, for K x K. */
template <int K> const Launcher *launchers_of()
{
#define OF(...) launcher_of<Tile<__VA_ARGS__>>()
#define ROW(W, H, FTB, WT, FT, TEAMS, BLOCKS)                                                      \
    launcher_of<std::conditional_t<(K > 1 || FTB >= 16),                                           \
                                   Tile<K, W, H, FTB, WT, FT, TEAMS, BLOCKS>, void>>(),
    static const Launcher launchers[] = {K == 3   ? OF(3, GF_GENERAL_PAPER_3)
                                         : K == 5 ? OF(5, GF_GENERAL_PAPER_5)
                                         : K == 7 ? OF(7, GF_GENERAL_PAPER_7)
                                                  : nullptr,
                                         GF_GENERAL_TILES(ROW)};
#undef ROW
#undef OF
    return launchers;
}

/* NULL where kernels of that size are not known when compiling, or samples of a channel are more
 * than 32 bits can count. */
const Launcher *find_launchers(const GfLaunch *launch)
{
    const GfLinear *linear = &launch->step->linear;
    size_t size = gf_sample_size(launch->step->in);
    bool counts = launch->in.stride % size == 0 &&
                  launch->in.capacity < UINT_MAX / (launch->in.stride / size + 1);
    if (!gf_step_is_dense(launch->step) || linear->width != linear->height || !counts)
        return nullptr;
    switch (linear->width) {
    case 1:
        return launchers_of<1>();
    case 3:
        return launchers_of<3>();
    case 5:
        return launchers_of<5>();
    case 7:
        return launchers_of<7>();
    default:
        return nullptr;
    }
}

} // namespace

extern "C" cudaError_t gf_launch_general(const GfLaunch *launch, cudaStream_t stream)
{
    const Launcher *launchers = find_launchers(launch);
    size_t tiling = launch->tiling - 1;
    if (launch->tiling == 0 && !launchers)
        return run_any(launch, stream);
    if (launch->tiling == 0) {
        const GfTask task = gf_task_of(launch);
        gf_general_cycles(&task, &tiling);
    }
    if (!launchers || tiling >= GF_GENERAL_TILINGS || !launchers[tiling])
        return cudaErrorNotSupported;
    return launchers[tiling](launch, stream);
}
