/* Method `tensor`, layers of few channels, such as a network's first (tensor_first.cuh), in tiles:
 * a block has one of 64 windows side by side, of narrow pictures 16. A row's power of two depends
 * on its tile's columns alone, so that bits do not depend on how a picture is cut into bands. (But
 * where rows begin anywhere: which of two tiles stores the columns that both make depends on the
 * row's place in memory. Rows of sessions are padded, and never do.) */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

using namespace gf_first;

constexpr size_t NOWHERE = SIZE_MAX; /* a row that is not on the picture */
constexpr int VECTOR = sizeof(float4) / sizeof(float);

template <typename F> __device__ Tile find_tile(const Layer &q)
{
    unsigned i = blockIdx.x;
    Tile tile;
    tile.run = static_cast<int>(i % q.splits) * q.split_runs;
    tile.end = min(tile.run + q.split_runs, q.runs);
    i /= q.splits;
    tile.x = static_cast<long long>(i % q.across) * F::tiles_apart;
    i /= q.across;
    tile.y = q.p.y0 + static_cast<size_t>(i % q.down) * static_cast<unsigned>(q.units * F::rows);
    tile.n = i / q.down;
    tile.rows = static_cast<int>(min(q.p.y1 - tile.y, static_cast<size_t>(q.units) * F::rows));
    tile.in_rows = (tile.rows - 1) * F::stride + F::height;
    tile.read_rows = (tile.rows - 1) * F::stride + q.p.height;
    tile.columns =
        static_cast<int>(min(q.p.out_width - tile.x, static_cast<long long>(F::tile_columns)));
    tile.out = static_cast<unsigned char *>(q.p.out.samples) + (tile.y - q.p.y0) * q.p.out.stride +
               tile.n * q.p.out.batch + tile.x * q.p.out.pixel * q.out_size;
    tile.edges = F::exact && q.outside && !are_whole<F>(q, tile, 0, 0, tile.columns, tile.rows);
    return tile;
}

/* ---- from samples to words ---- */

template <typename F> __device__ Shared find_shared(const Layer &q, uint32_t *memory)
{
    Shared shared;
    shared.lines = reinterpret_cast<size_t *>(memory + F::kept_bytes / sizeof *memory);
    shared.places = reinterpret_cast<int *>(shared.lines + q.rows);
    shared.words = reinterpret_cast<uint32_t *>(shared.places + 2 * F::words);
    shared.scales = reinterpret_cast<float *>(shared.words + q.p.depth * q.rows * F::pitch);
    if constexpr (F::gathered)
        shared.kept = reinterpret_cast<float *>(memory);
    return shared;
}

/* Where a tile's input is, for all who load it. */
template <typename F>
__device__ void find_input(const Layer &q, const Tile &tile, const Shared &shared)
{
    const long long x = tile.x * F::stride + q.p.origin_x;
    const long long y = static_cast<long long>(tile.y) * F::stride + q.p.origin_y;
    for (int i = static_cast<int>(threadIdx.x); i < 2 * F::words; i += THREADS) {
        const int place = static_cast<int>(gf_border_index(x + i, q.p.in_width, q.p.border));
        shared.places[i] = place < 0 ? -1 : place * static_cast<int>(q.p.in.pixel);
    }
    for (int i = static_cast<int>(threadIdx.x); i < tile.in_rows; i += THREADS) {
        const char *line = gf_input_row<char>(q.p, tile.n, y + min(i, tile.read_rows - 1));
        shared.lines[i] = line ? static_cast<size_t>(line - samples_of(q)) : NOWHERE;
    }
}

template <typename In> __device__ size_t bytes_of_sample(const Layer &q)
{
    if constexpr (std::is_void_v<In>)
        return q.size;
    else
        return sizeof(In);
}

template <typename F, typename In>
__device__ Samples<F> load_row(const Layer &q, const char *line, const int *places, float centre)
{
    const size_t bytes = bytes_of_sample<In>(q);
    Samples<F> samples;
#pragma unroll
    for (int i = 0; i < F::lane_words; i++) {
        const int word = my_word<F>(i);
        const bool live = (i + 1) * TEAM <= F::words || word < F::words;
        const int2 two = live ? reinterpret_cast<const int2 *>(places)[word] : int2{-1, -1};
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const int place = j == 0 ? two.x : two.y;
            float v = live ? q.p.border_value : 0.0F;
            if (line && place >= 0)
                v = gf_number_at<float, In>(line + static_cast<size_t>(place) * bytes, q.sample) -
                    centre;
            samples.of[i][j] = v;
        }
    }
    return samples;
}

/* The same of a row that lies on the picture as it is, from its first word on. */
template <typename F, typename In> __device__ Samples<F> load_inside(const In *line, float centre)
{
    Samples<F> samples;
    line += 2 * my_word<F>(0);
#pragma unroll
    for (int i = 0; i < F::lane_words; i++) {
        const bool live = (i + 1) * TEAM <= F::words || my_word<F>(i) < F::words;
        for (int j = 0; j < 2; j++)
            samples.of[i][j] = live ? gf_number<float>(line[i * TEAM * 2 + j]) - centre : 0.0F;
    }
    return samples;
}

/* A row of a channel of a tile, and whether there is one. */
struct Line {
    int channel, y;
    bool live;
};

/* The i-th of all channels' rows; SINGLE: of the first channel's. */
template <bool SINGLE> __device__ Line find_line(const Layer &q, const Tile &tile, int i)
{
    Line line = {0, i, false};
    for (; !SINGLE && line.channel + 1 < q.p.depth && line.y >= tile.in_rows; line.channel++)
        line.y -= tile.in_rows;
    line.live = line.y < tile.in_rows;
    line.y = min(line.y, tile.in_rows - 1);
    return line;
}

/* A tile's samples become words, a team a row. INSIDE: they all lie on the picture, side by
 * side. */
template <typename F, typename In, bool INSIDE>
__device__ void stage(const Layer &q, const Tile &tile, const Shared &shared)
{
    constexpr int TEAMS = THREADS / TEAM;
    /* Rows that are waited for together. */
    constexpr int RUN = F::lane_words > 9 ? 1 : INSIDE ? 3 : 2;
    const int team = static_cast<int>(threadIdx.x) / TEAM;
    const int rows = tile.in_rows * (F::single ? 1 : q.p.depth);
    const long long top = static_cast<long long>(tile.y) * F::stride + q.p.origin_y;
    const long long left = (tile.x * F::stride + q.p.origin_x) * static_cast<long long>(q.size) +
                           static_cast<long long>(tile.n * q.p.in.batch);
    for (int first = 0; first < rows; first += RUN * TEAMS) {
        Samples<F> samples[RUN];
        float lifts[RUN];
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const Line line = find_line<F::single>(q, tile, first + i * TEAMS + team);
            lifts[i] = q.lifts[line.channel];
            const size_t plane = line.channel * q.p.in.plane * q.size;
            const float centre = F::exact ? q.centres[line.channel] : 0.0F;
            if constexpr (INSIDE) {
                const long long y = top + min(line.y, tile.read_rows - 1);
                const char *row = gf_row<char>(q.p.in, static_cast<size_t>(y)) + left + plane;
                samples[i] = load_inside<F>(reinterpret_cast<const In *>(row), centre);
            } else {
                const size_t row = shared.lines[line.y];
                const char *from = row != NOWHERE ? samples_of(q) + row + plane : nullptr;
                samples[i] = load_row<F, In>(q, from, shared.places, centre);
            }
        }
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const Line line = find_line<F::single>(q, tile, first + i * TEAMS + team);
            const int row = line.channel * q.rows + line.y;
            GfScale scales = {1.0F, 1.0F};
            if (!F::exact)
                scales = gf_scale<SCALES_APART>(largest_of<F>(samples[i]));
            if (!line.live)
                continue;
            store_row<F>(samples[i], scales.up, shared.words + row * F::pitch);
            if (my_word<F>(0) == 0)
                shared.scales[row] = scales.down * lifts[i];
        }
    }
}

/* ---- from bytes to words ---- */

constexpr int QUAD = 4;    /* pixels that a thread brings at a time */
constexpr int COLOURS = 3; /* interleaved */

/* Bytes of CHANNELS interleaved channels, in order. */
template <int CHANNELS> struct Quad {
    uint32_t of[CHANNELS];
};

/* Reads the words around a quad, of which up to 3 bytes lie before it and up to 4 behind. */
template <int CHANNELS> __device__ Quad<CHANNELS> load_quad(const char *from)
{
    const uintptr_t at = reinterpret_cast<uintptr_t>(from);
    const uint32_t *words = reinterpret_cast<const uint32_t *>(at / 4 * 4);
    const unsigned shift = at % 4 * CHAR_BIT;
    Quad<CHANNELS> quad;
    uint32_t last = words[0];
#pragma unroll
    for (int i = 0; i < CHANNELS; i++) {
        const uint32_t next = words[i + 1];
        quad.of[i] = __funnelshift_r(last, next, shift);
        last = next;
    }
    return quad;
}

/* Samples `first` and CHANNELS after it, less the centre, as f16. Those from 1024 to 2047 have the
 * byte as their lower half. */
template <int CHANNELS>
__device__ uint32_t two_samples(const Quad<CHANNELS> &quad, int first, float centre)
{
    const int second = first + CHANNELS;
    const uint32_t bytes =
        __byte_perm(quad.of[first / 4], quad.of[second / 4], first % 4 | (second % 4 + 4) << 4);
    const uint32_t raised = __byte_perm(bytes, 0x6464U, 0x4140);
    const __half2 samples =
        __hsub2(*reinterpret_cast<const __half2 *>(&raised), __float2half2_rn(1024.0F + centre));
    return *reinterpret_cast<const uint32_t *>(&samples);
}

/* A row of a tile: the picture's samples, null for the border's constant, and its first channel. */
struct Row {
    const char *samples;
    int channel, y;
    bool live;
};

template <typename F, int CHANNELS>
__device__ Row find_row(const Layer &q, const Tile &tile, const Shared &shared, int i)
{
    const Line line = find_line<(F::single || CHANNELS > 1)>(q, tile, i);
    const size_t at = shared.lines[line.y];
    const char *samples = samples_of(q) + at + line.channel * q.p.in.plane;
    return {at == NOWHERE ? nullptr : samples, line.channel, line.y, line.live};
}

/* A quad of a channel, each sample from where the border says; columns are the quad's. */
__device__ uint2 read_quad(const Layer &q, const char *samples, const int *columns, float centre)
{
    float v[QUAD];
#pragma unroll
    for (int i = 0; i < QUAD; i++) {
        v[i] = q.p.border_value;
        if (samples && columns[i] >= 0)
            v[i] = static_cast<float>(static_cast<uint8_t>(samples[columns[i]])) - centre;
    }
    const __half2 words[] = {__floats2half2_rn(v[0], v[1]), __floats2half2_rn(v[2], v[3])};
    return *reinterpret_cast<const uint2 *>(words);
}

/* The same as a tile's stage() where samples are bytes, CHANNELS of them in a pixel. */
template <typename F, int CHANNELS>
__device__ void stage_bytes(const Layer &q, const Tile &tile, const Shared &shared)
{
    constexpr int TEAMS = THREADS / TEAM, QUADS = F::words / 2, MINE = (QUADS + TEAM - 1) / TEAM;
    constexpr int BEFORE = (3 + CHANNELS - 1) / CHANNELS, BEHIND = (4 + CHANNELS - 1) / CHANNELS;
    constexpr int RUN = CHANNELS == 1 && MINE < 7 ? 2 : 1; /* rows that are waited for together */
    const int lane = static_cast<int>(threadIdx.x) % TEAM;
    const int team = static_cast<int>(threadIdx.x) / TEAM;
    const int left = static_cast<int>(tile.x * F::stride + q.p.origin_x);
    const int width = static_cast<int>(q.p.in_width);
    const int rows = tile.in_rows * (F::single || CHANNELS > 1 ? 1 : q.p.depth);
    const auto is_whole = [&](const Row &row, int x) {
        return row.samples && left + x >= BEFORE && left + x + QUAD + BEHIND <= width;
    };
    for (int first = team; first < rows; first += RUN * TEAMS) {
        Quad<CHANNELS> quads[RUN][MINE];
        Row row[RUN];
#pragma unroll
        for (int r = 0; r < RUN; r++) {
            row[r] = find_row<F, CHANNELS>(q, tile, shared, first + r * TEAMS);
#pragma unroll
            for (int i = 0; i < MINE; i++) {
                const int x = (i * TEAM + lane) * QUAD;
                if (is_whole(row[r], x))
                    quads[r][i] = load_quad<CHANNELS>(row[r].samples + (left + x) * CHANNELS);
            }
        }
#pragma unroll
        for (int r = 0; r < RUN; r++)
#pragma unroll
            for (int c = 0; c < CHANNELS && row[r].live; c++) {
                const int to = (row[r].channel + c) * q.rows + row[r].y;
                const float centre = q.centres[row[r].channel + c];
                if (lane == 0)
                    shared.scales[to] = q.lifts[row[r].channel + c];
#pragma unroll
                for (int i = 0; i < MINE; i++) {
                    const int x = (i * TEAM + lane) * QUAD;
                    uint2 words;
                    if (x >= 2 * F::words)
                        break;
                    if (is_whole(row[r], x))
                        words = {two_samples(quads[r][i], c, centre),
                                 two_samples(quads[r][i], c + 2 * CHANNELS, centre)};
                    else
                        words = read_quad(q, row[r].samples ? row[r].samples + c : nullptr,
                                          shared.places + x, centre);
                    *reinterpret_cast<uint2 *>(shared.words + to * F::pitch + x / 2) = words;
                }
            }
    }
}

/* Does the whole of a tile's input lie on the picture, and a channel's samples side by side, so
 * that nobody asks where they are? (Bytes in fours are brought by stage_bytes(), which does.) */
template <typename F, typename In> __device__ bool is_inside(const Layer &q, const Tile &tile)
{
    const long long x = tile.x * F::stride + q.p.origin_x;
    const long long y = static_cast<long long>(tile.y) * F::stride + q.p.origin_y;
    return !std::is_void_v<In> && !(F::exact && F::quads) && q.p.in.pixel == 1 && x >= 0 &&
           x + 2 * F::words <= q.p.in_width && y >= 0 && y + tile.read_rows <= q.p.in_height;
}

template <typename F, typename In>
__device__ void stage_tile(const Layer &q, const Tile &tile, const Shared &shared, bool inside)
{
    if constexpr (F::exact && !F::single) {
        if (q.p.in.pixel == COLOURS && q.p.depth == COLOURS)
            return stage_bytes<F, COLOURS>(q, tile, shared);
    }
    if constexpr (F::exact && F::quads) {
        if (q.p.in.pixel == 1)
            return stage_bytes<F, 1>(q, tile, shared);
    } else if constexpr (!std::is_void_v<In>) {
        if (inside)
            return stage<F, In, true>(q, tile, shared);
    }
    stage<F, In, false>(q, tile, shared);
}

/* ---- rows that are gathered ---- */

/* Stores what a block's threads kept of its units at row y in whole sectors, a warp a row of each
 * map. INSIDE: there is a tile before this one, and another behind; `last`: none is behind. */
template <typename F, bool INSIDE>
__device__ void store_kept(const Layer &q, const Tile &tile, int run, int y, const float *kept,
                           bool last)
{
    static_assert(WARPS == F::unit_rows);
    const int r = threadIdx.x / WARP;
    const int first = run * F::maps, maps = min(F::maps, q.p.out_channels - first);
    float *row = reinterpret_cast<float *>(tile.out) + first * q.p.out.plane +
                 (y + r) * (q.p.out.stride / sizeof(float));
    if (y + r >= tile.rows)
        return;
    kept += r * F::tile_columns;
#pragma unroll 4
    for (int o = 0; o < maps; o++, row += q.p.out.plane, kept += F::map_floats)
        gf_store_sectors<F::tile_columns, INSIDE>(row, kept, tile.columns, tile.x == 0, last);
}

/* Copies what was kept, likewise, of rows of vectors, a lane a map; what is left behind a row's
 * last vector it stores. */
template <typename F>
__device__ void copy_kept(const Layer &q, const Tile &tile, int run, int y, const float *kept)
{
    static_assert(WARPS == F::unit_rows && F::maps <= WARP);
    const int r = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int o = run * F::maps + lane, whole = tile.columns / VECTOR * VECTOR;
    if (y + r >= tile.rows || lane >= F::maps || o >= q.p.out_channels)
        return;
    float *row = reinterpret_cast<float *>(tile.out) + o * q.p.out.plane +
                 (y + r) * (q.p.out.stride / sizeof(float));
    kept += lane * F::map_floats + r * F::tile_columns;
    if (whole > 0)
        gf_copy_out(row, kept, whole * static_cast<unsigned>(sizeof(float)));
    gf_end_copies_out();
    for (int i = whole; i < tile.columns; i++)
        row[i] = kept[i];
}

/* A block's units, all warps at a row of them at a time. Copies of one are under way while the next
 * is computed. */
template <typename F, bool SAME>
__device__ void run_gathered(const Layer &q, const Tile &tile, const Shared &shared, Run<F> *mine)
{
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    const int across = (tile.columns + F::columns - 1) / F::columns;
    const uint32_t *words = find_words<F>(shared);
    const bool last = tile.x + tile.columns == q.p.out_width, inside = tile.x > 0 && !last;
    bool odd = false;
    for (int run = tile.run; run < tile.end; run++) {
        if (!F::early || run > tile.run)
            read_run<F>(q, run, mine);
        for (int y = 0; y < tile.rows; y += F::unit_rows, odd = !odd) {
            float *kept = shared.kept + (odd ? F::kept_floats : 0);
            for (int column = warp; column < across; column += WARPS) {
                const Sums<F> sums = sum_unit<F, SAME>(q, shared, words, run, mine, column, y);
                finish<F>(q, tile, run, column * F::columns, y, mine->finish, sums, kept);
            }
            if constexpr (F::copied) {
                gf_copies_follow();
                gf_wait_for_copies_out();
            }
            __syncthreads();
            if constexpr (F::copied)
                copy_kept<F>(q, tile, run, y, kept);
            else if (inside)
                store_kept<F, true>(q, tile, run, y, kept, last);
            else
                store_kept<F, false>(q, tile, run, y, kept, last);
        }
    }
    if constexpr (F::copied)
        gf_wait_for_copies_out();
}

/* ---- the kernel ---- */

/* Are all rows of each channel of a tile in the same units? Of a block's threads. */
__device__ bool are_same(const Layer &q, const Tile &tile, const float *scales)
{
    bool same = true;
    for (int c = 0; c < q.p.depth; c++, scales += q.rows)
        for (int i = static_cast<int>(threadIdx.x); i < tile.in_rows; i += THREADS)
            same = same && scales[i] == scales[0];
    return __syncthreads_and(same);
}

template <typename F, typename In>
__global__ void __launch_bounds__(THREADS, F::blocks) tensor_first(const __grid_constant__ Layer q)
{
    GF_BLOCK_MEMORY(__align__(16) uint32_t, memory);
    const Tile tile = find_tile<F>(q);
    const Shared shared = find_shared<F>(q, memory);
    const bool inside = is_inside<F, In>(q, tile);
    Run<F> run;
    if (F::early)
        read_run<F>(q, tile.run, &run);
    if (!inside)
        find_input<F>(q, tile, shared);
    gf_wait_for_stream();
    if (!inside)
        __syncthreads();
    stage_tile<F, In>(q, tile, shared, inside);
    __syncthreads();
    const bool same = F::exact || are_same(q, tile, shared.scales);
    if constexpr (F::gathered)
        same ? run_gathered<F, true>(q, tile, shared, &run)
             : run_gathered<F, false>(q, tile, shared, &run);
    else if (same)
        run_units<F, true>(q, tile, shared, &run);
    else
        run_units<F, false>(q, tile, shared, &run);
}

/* ---- a launch ---- */

/* How a launch is cut: units of a tile, one below the other, and blocks that share its maps. */
struct Cut {
    size_t units, splits;
};

#define TILE(units) units,
constexpr size_t tiles[] = {GF_FIRST_TILES(TILE)};
#undef TILE
constexpr size_t TILES = sizeof tiles / sizeof *tiles;

/* Tilings before those. */
#define COUNT(...) +1
constexpr size_t OTHERS = 0 GF_TENSOR_TILES(COUNT) GF_FLAT_TILES(COUNT) GF_FEW_TILES(COUNT);
#undef COUNT

template <typename F> size_t bytes_of(const GfLaunch *launch, size_t units)
{
    const size_t rows = (units * F::rows - 1) * F::stride + F::height;
    return F::kept_bytes + F::bytes(launch->step->linear.depth, rows);
}

/* Tiles side by side: woven ones share a sector with their neighbours. */
template <typename F> size_t across_of(const GfLaunch *launch)
{
    return gf_divide_up(launch->step->out_width - (F::tile_columns - F::tiles_apart),
                        static_cast<size_t>(F::tiles_apart));
}

template <typename F> size_t tiles_of(const GfLaunch *launch, size_t units)
{
    return across_of<F>(launch) * gf_divide_up(launch->y1 - launch->y0, units * F::rows) *
           launch->count;
}

template <typename F> Cut cut(const GfLaunch *launch)
{
    const size_t processors = gf_multiprocessors(), runs = gf_tensor_first(launch->step).runs;
    size_t most = tiles[0];
    for (const size_t units : tiles)
        most = bytes_of<F>(launch, units) <= GF_SHARED_BYTES / 2 ? units : most;
    const size_t units = launch->tiling > OTHERS
                             ? tiles[launch->tiling - OTHERS - 1]
                             : gf_first_units(across_of<F>(launch) * launch->count,
                                              launch->y1 - launch->y0, runs, most, processors);
    return {units, gf_first_splits(tiles_of<F>(launch, units), runs, processors)};
}

template <typename F, typename In> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const Cut work = cut<F>(launch);
    const size_t bytes = bytes_of<F>(launch, work.units);
    const size_t blocks = tiles_of<F>(launch, work.units) * work.splits;
    if (blocks > INT_MAX || bytes > gf_shared_limit())
        return cudaErrorNotSupported;
    Layer q = describe<F>(launch);
    q.splits = static_cast<unsigned>(work.splits);
    q.across = static_cast<unsigned>(across_of<F>(launch));
    q.down = static_cast<unsigned>(gf_divide_up(launch->y1 - launch->y0, work.units * F::rows));
    q.split_runs = gf_divide_up(q.runs, static_cast<int>(work.splits));
    q.units = static_cast<int>(work.units);
    q.rows = (q.units * F::rows - 1) * F::stride + F::height;
    const auto kernel = tensor_first<F, In>;
    const GfBlocks grid = {static_cast<unsigned>(blocks), THREADS, bytes};
    return gf_launch_early(kernel, gf_spread(kernel, grid), stream, q);
}

/* Do rows of floats begin anywhere? Where they fill little of a tile, too few warps would work; of
 * four channels and few maps tiles would have too few rows. */
template <typename F> bool is_woven(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    return step->out == GF_F32 && launch->out.pixel == 1 &&
           step->out_width * F::stride > GF_FIRST_WOVEN &&
           (step->channels <= GF_FIRST_COLOURS || gf_tensor_first(step).runs > 1) &&
           !gf_rows_aligned(launch->out, GF_F32, VECTOR);
}

/* Are rows of vectors copied by the card? Blocks have eight rows at least; floats under 5 x 5 taps
 * are so much to multiply that it pays for many blocks only. */
template <typename F> bool is_copied(const GfLaunch *launch)
{
    enum { UNITS = 2, WAVES = 3, MORE = 12 };
    const size_t waves = F::exact || F::height < GF_FIRST_COPIED_SIDE ? WAVES : MORE;
    return gf_first_may_copy(launch->step) && launch->out.pixel == 1 &&
           gf_rows_aligned(launch->out, GF_F32, VECTOR) &&
           tiles_of<F>(launch, UNITS) >= waves * gf_multiprocessors() && gf_has_groups();
}

/* Narrow tiles are a form of their own; where rows begin anywhere, they are woven. Large kernels,
 * but those of few tiles, have so much to multiply that either would gain them little. */
template <int HEIGHT, int STRIDE, bool EXACT, bool SINGLE, bool FEW, bool PAIRS, typename In>
cudaError_t run_rows(const GfLaunch *launch, cudaStream_t stream)
{
    constexpr bool various = HEIGHT <= GF_FIRST_SIDE && !std::is_void_v<In>;
    using F = Form<HEIGHT, STRIDE, EXACT, SINGLE, FEW, TILE_WINDOWS, false, PAIRS>;
    using Narrow = Form<HEIGHT, STRIDE, EXACT, SINGLE, FEW, NARROW_WINDOWS, false, PAIRS>;
    using Woven = Form<HEIGHT, STRIDE, EXACT, SINGLE, FEW, TILE_WINDOWS, false, PAIRS, BY_SECTORS>;
    using Copied = Form<HEIGHT, STRIDE, EXACT, SINGLE, FEW, TILE_WINDOWS, false, PAIRS, BY_COPIES>;
    if constexpr ((various && STRIDE == 1 && !SINGLE) ||
                  (HEIGHT > GF_FIRST_SIDE && STRIDE == 4 && !std::is_void_v<In>))
        if (gf_first_windows(launch->step, launch->y1 - launch->y0, launch->count,
                             gf_multiprocessors()) == GF_FIRST_NARROW)
            return run<Narrow, In>(launch, stream);
    if constexpr (various && STRIDE <= 2)
        if (is_woven<F>(launch))
            return run<Woven, In>(launch, stream);
    if constexpr (various && STRIDE == 1 && SINGLE && !FEW &&
                  (EXACT || HEIGHT <= GF_FIRST_COPIED_SIDE))
        if (is_copied<Copied>(launch))
            return run<Copied, In>(launch, stream);
    return run<F, In>(launch, stream);
}

/* Bytes are exact, and so must be what stands around them. */
template <int HEIGHT, int STRIDE, bool SINGLE, bool FEW, bool PAIRS = false>
cudaError_t run_sample(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const float constant = static_cast<float>(step->border_value);
    const bool even =
        step->border != GF_BORDER_CONSTANT || __half2float(__float2half_rn(constant)) == constant;
    if (step->in == GF_U8 && even)
        return run_rows<HEIGHT, STRIDE, true, SINGLE, FEW, PAIRS, uint8_t>(launch, stream);
    if (step->in == GF_F32)
        return run_rows<HEIGHT, STRIDE, false, SINGLE, FEW, PAIRS, float>(launch, stream);
    return run_rows<HEIGHT, STRIDE, false, SINGLE, FEW, PAIRS, void>(launch, stream);
}

/* One channel, few maps of it, and colours under small kernels have forms of their own where
 * windows are side by side. */
template <int HEIGHT, int STRIDE> cudaError_t run_form(const GfLaunch *launch, cudaStream_t stream)
{
    constexpr bool dense = STRIDE == 1;
    constexpr bool few = dense && HEIGHT <= GF_FIRST_SIDE;
    constexpr bool pairs = STRIDE <= 2 && HEIGHT == GF_FIRST_PAIRS_SIDE;
    const GfTensorFirst first = gf_tensor_first(launch->step);
    if (first.few)
        return run_sample<HEIGHT, STRIDE, dense, few>(launch, stream);
    if (first.pairs)
        return run_sample<HEIGHT, STRIDE, false, false, pairs>(launch, stream);
    return launch->step->channels == 1 ? run_sample<HEIGHT, STRIDE, dense, false>(launch, stream)
                                       : run_sample<HEIGHT, STRIDE, false, false>(launch, stream);
}

template <int STRIDE> cudaError_t run_height(const GfLaunch *launch, cudaStream_t stream)
{
    switch (gf_tensor_first(launch->step).height) {
    case 3:
        return run_form<3, STRIDE>(launch, stream);
    case 5:
        return run_form<5, STRIDE>(launch, stream);
    case 7:
        return run_form<7, STRIDE>(launch, stream);
    case 9:
        return run_form<9, STRIDE>(launch, stream);
    case 11:
        return run_form<11, STRIDE>(launch, stream);
    }
    return cudaErrorNotSupported;
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_first(const GfLaunch *launch, cudaStream_t stream)
{
    if (!launch->state)
        return cudaErrorInvalidValue;
    if (launch->tiling > 0 && (launch->tiling <= OTHERS || launch->tiling > OTHERS + TILES))
        return cudaErrorNotSupported;
    const cudaError_t status = gf_launch_tensor_pictures(launch, stream);
    if (status != cudaErrorNotSupported)
        return status;
    switch (launch->step->stride_x) {
    case 1:
        return run_height<1>(launch, stream);
    case 2:
        return run_height<2>(launch, stream);
    default:
        return run_height<4>(launch, stream);
    }
}
