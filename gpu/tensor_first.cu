/* Method `tensor`, layers of few channels, such as a network's first: a product of matrices on tensor
 * cores, at the accuracy of f32. The first matrix has a row for each map, the second a column for each
 * window, and they are multiplied over the taps of one row of a kernel, eight or sixteen of them
 * (gf_tensor_first(), gpu/tensor_shape.h). Of few maps on one channel it is the other way round: 16 windows
 * are the rows, and the maps fill 8 columns.
 *
 * A block has a tile of 64 windows side by side. Its samples become numbers of f16 in shared memory, once
 * for all maps: the upper and the lower 11 bits of each, as for other layers (tensor_layer.cu), each row
 * of the tile multiplied by a power of two of its own. A window is nowhere else than in that row, since
 * neighbours overlap: a lane reads its two samples of it as one word.
 *
 * A warp computes units: what one product holds, times several output rows. It goes down the input rows,
 * each of which is read once and multiplied by every row of the kernel that meets it.
 * The tensor cores, which cut sums off where f32 would round, sum a few rows of a kernel, fewer where those
 * of the picture are not in the same units: powers of two are taken one of every eighth, so that most are.
 * Those sums are added by f32's rules. A row's power of two depends on its tile's columns alone, so that bits
 * do not depend on how a picture is cut into bands.
 *
 * Samples of 8 bits are numbers of f16 as they are, and have no lower part; so they are after a whole number was
 * taken off them, where a network's entry is part of the layer (gpu/enter.h).
 *
 * Where there are many small pictures a block takes one after the other, whole, and has the next one copied to shared
 * memory while it computes.
 *
 * Costs for 8 maps at 16 pixels, 16 maps at 8, or 4 maps at 32, and a row of a kernel: a product and a half, of
 * 16 numbers (bytes: one; kernels of more than 7 rows: three and two). */
#include <limits.h>

#include "gpu/device.cuh"

namespace
{

constexpr int WARP = 32, WARPS = 4, THREADS = WARP * WARPS;
constexpr int TEAM = 8;              /* lanes that load a row of the picture */
constexpr int OCTET = 8;             /* taps */
constexpr int TILE_WINDOWS = 64;     /* side by side in a tile */
constexpr int SCALES_APART = 8;      /* binary places */
constexpr size_t NOWHERE = SIZE_MAX; /* a row that is not on the picture */

/* Kernels of HEIGHT rows, STRIDE pixels apart; EXACT: samples are numbers of f16; SINGLE: of one channel;
 * FEW: windows are the rows of the product, two neighbours a thread, or where TALL one above the other. */
template <int HEIGHT, int STRIDE, bool EXACT, bool SINGLE, bool FEW, int WINDOWS = TILE_WINDOWS,
          bool TALL = false>
struct Form {
    static constexpr int height = HEIGHT, stride = STRIDE, octets = HEIGHT > GF_FIRST_SIDE ? 2 : 1;
    static constexpr bool large = HEIGHT >= 9; /* too many registers, too much code */
    static constexpr bool exact = EXACT, single = SINGLE, few = FEW;
    static constexpr int shifts = STRIDE == 1 ? 2 : 1;
    static constexpr int windows = FEW ? 16 : 8; /* of a product */
    static constexpr int maps = (FEW ? 8 : 16) / shifts;
    static constexpr int tile_columns = WINDOWS * shifts;
    /* Of a unit, and of a thread in it, which has as many rows. */
    static constexpr int columns = windows * shifts / (TALL ? 2 : 1), rows = 4;
    static constexpr int unit_rows = rows * (TALL ? 2 : 1);
    static constexpr int thread_maps = FEW ? 1 : 2 / shifts;
    static constexpr int thread_columns = 2 * shifts / (TALL ? 2 : 1);
    static constexpr int in_rows = (rows - 1) * STRIDE + HEIGHT;
    /* Rows of a kernel that the tensor cores sum: at most four products, of small kernels two. */
    static constexpr int chain = (HEIGHT < 7 ? 1 : 2) * (EXACT ? 2 : 1) / octets;
    /* Of a multiprocessor, which bounds a thread's registers. */
    static constexpr int blocks = octets == 2 || STRIDE == 4 || TALL ? 3 : 4;
    /* Words, of two samples: from window to window; of a row of the tile, bytes in fours; from row to row. */
    static constexpr int apart = shifts * STRIDE / 2;
    static constexpr int needed = (WINDOWS - 1) * apart + octets * OCTET / 2;
    static constexpr int words = needed + (EXACT ? needed % 2 : 0);
    static constexpr int pitch = words * (EXACT ? 1 : 2);
    static constexpr int lane_words = (words + TEAM - 1) / TEAM;
    static constexpr bool quads = STRIDE == 1 && octets == 2; /* planes of bytes come in fours */
    /* Of shared memory, for a tile of so many rows of input. */
    static constexpr size_t bytes(size_t channels, size_t rows)
    {
        return rows * sizeof(size_t) + channels * rows * (pitch + 1) * sizeof(uint32_t) +
               2 * words * sizeof(int);
    }
    static_assert(bytes(GF_FIRST_CHANNELS - (STRIDE == 4), in_rows) <= GF_SHARED_BYTES);
    /* Of a row of a kernel a lane reads so many words of a tile's row, so far apart: of both its windows, or of each
     * octet of one. */
    static constexpr int lane_parts = FEW ? 2 : octets;
    static constexpr int part_apart = TALL ? rows * pitch : FEW ? apart : OCTET / 2;
    static constexpr bool tall = TALL;
    static constexpr int lane_apart = apart * (FEW && !TALL ? 2 : 1);
};

/* A layer as its kernels see it. */
struct Layer {
    GfProblem<float> p;
    unsigned across, down, splits; /* tiles of a picture; blocks that share the maps of one */
    int runs, split_runs;          /* of 16 rows of the first matrix; of a block */
    int units, rows;               /* of a tile, down; rows of its input */
    size_t size, out_size;         /* bytes of a sample */
    GfSample sample;
    const uint4 *weights;
    const float *lifts, *map_units; /* of channels, of maps */
    const float *outside;           /* GfStep.outside */
    float centres[GF_FIRST_CHANNELS];
    bool vectors; /* may a thread's pixels be stored as one? */
    bool plain;   /* and are they f32, with nothing done to them but scale and offset? */
};

/* Where a block works: its first pixel, its picture and its maps. */
struct Tile {
    long long x;
    size_t y, n;
    int rows, columns; /* of its output, that are on the picture */
    int in_rows;       /* that those need */
    int run, end;
    unsigned char *out; /* of its first pixel */
    bool edges;         /* may bias have too much for its windows? */
};

/* Do all taps of `columns` x `rows` pixels, the first at (x, y) of the tile, lie on the picture? */
template <typename F>
__device__ bool are_whole(const Layer &q, const Tile &tile, int x, int y, int columns, int rows)
{
    const long long in_x = (tile.x + x) * F::stride + q.p.origin_x;
    const long long in_y = (static_cast<long long>(tile.y) + y) * F::stride + q.p.origin_y;
    return in_x >= 0 && in_y >= 0 && in_y + (rows - 1) * F::stride + q.p.height <= q.p.in_height &&
           in_x + (columns - 1) * F::stride + q.p.width <= q.p.in_width;
}

template <typename F> __device__ Tile find_tile(const Layer &q)
{
    unsigned i = blockIdx.x;
    Tile tile;
    tile.run = static_cast<int>(i % q.splits) * q.split_runs;
    tile.end = min(tile.run + q.split_runs, q.runs);
    i /= q.splits;
    tile.x = static_cast<long long>(i % q.across) * F::tile_columns;
    i /= q.across;
    tile.y = q.p.y0 + static_cast<size_t>(i % q.down) * static_cast<unsigned>(q.units * F::rows);
    tile.n = i / q.down;
    tile.rows = static_cast<int>(min(q.p.y1 - tile.y, static_cast<size_t>(q.units) * F::rows));
    tile.in_rows = (tile.rows - 1) * F::stride + F::height;
    tile.columns =
        static_cast<int>(min(q.p.out_width - tile.x, static_cast<long long>(F::tile_columns)));
    tile.out = static_cast<unsigned char *>(q.p.out.samples) + (tile.y - q.p.y0) * q.p.out.stride +
               tile.n * q.p.out.batch + tile.x * q.p.out.pixel * q.out_size;
    tile.edges = F::exact && q.outside && !are_whole<F>(q, tile, 0, 0, tile.columns, tile.rows);
    return tile;
}

/* ---- from samples to words ---- */

/* A block's shared memory. */
struct Shared {
    uint32_t *words;
    float *scales; /* of each row of each channel: what its sums are multiplied by */
    size_t *lines; /* where the picture's rows are, in bytes; NOWHERE: the border's constant */
    int *places;   /* of a row's columns, in samples; -1: the border's constant */
};

template <typename F> __device__ Shared find_shared(const Layer &q, uint32_t *memory)
{
    Shared shared;
    shared.lines = reinterpret_cast<size_t *>(memory);
    shared.places = reinterpret_cast<int *>(shared.lines + q.rows);
    shared.words = reinterpret_cast<uint32_t *>(shared.places + 2 * F::words);
    shared.scales = reinterpret_cast<float *>(shared.words + q.p.depth * q.rows * F::pitch);
    return shared;
}

__device__ const char *samples_of(const Layer &q)
{
    return static_cast<const char *>(q.p.in.samples);
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
        const char *line = gf_input_row<char>(q.p, tile.n, y + i);
        shared.lines[i] = line ? static_cast<size_t>(line - samples_of(q)) : NOWHERE;
    }
}

/* The samples of a lane's words of a row; a row has TEAM lanes, and a word of each in turn. */
template <typename F> struct Samples {
    float of[F::lane_words][2];
};

template <typename F> __device__ int my_word(int i)
{
    return i * TEAM + static_cast<int>(threadIdx.x) % TEAM;
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

__device__ float team_most(float most)
{
#pragma unroll
    for (int apart = TEAM / 2; apart > 0; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0U, most, apart));
    return most;
}

/* The largest magnitude of a row, infinity passed over. */
template <typename F> __device__ float largest_of(const Samples<F> &samples)
{
    float most = 0.0F, finite = 0.0F;
#pragma unroll
    for (int i = 0; i < F::lane_words * 2; i++)
        most = fmaxf(most, fabsf(samples.of[i / 2][i % 2]));
    most = team_most(most);
    if (__all_sync(~0U, most < INFINITY))
        return most;
    for (int i = 0; i < F::lane_words * 2; i++) {
        const float v = fabsf(samples.of[i / 2][i % 2]);
        finite = v < INFINITY ? fmaxf(finite, v) : finite;
    }
    return team_most(finite);
}

template <typename F>
__device__ void store_row(const Samples<F> &samples, float up, uint32_t *words)
{
    words += my_word<F>(0);
#pragma unroll
    for (int i = 0; i < F::lane_words; i++) {
        const float(&v)[2] = samples.of[i];
        __half2 upper, lower;
        if (F::exact)
            upper = __floats2half2_rn(v[0], v[1]);
        else
            gf_split(v[0] * up, v[1] * up, &upper, &lower);
        if ((i + 1) * TEAM > F::words && my_word<F>(i) >= F::words)
            break;
        words[i * TEAM] = *reinterpret_cast<const uint32_t *>(&upper);
        if (!F::exact)
            words[F::words + i * TEAM] = *reinterpret_cast<const uint32_t *>(&lower);
    }
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

/* A tile's samples become words, a team a row. INSIDE: they all lie on the picture, side by side. */
template <typename F, typename In, bool INSIDE>
__device__ void stage(const Layer &q, const Tile &tile, const Shared &shared)
{
    constexpr int TEAMS = THREADS / TEAM;
    /* Rows that are waited for together. */
    constexpr int RUN = F::lane_words > 9 ? 1 : INSIDE ? 3 : 2;
    const int team = static_cast<int>(threadIdx.x) / TEAM;
    const int rows = tile.in_rows * (F::single ? 1 : q.p.depth);
    const long long left =
        INSIDE ? (tile.x * F::stride + q.p.origin_x) * static_cast<long long>(q.size) : 0;
    for (int first = 0; first < rows; first += RUN * TEAMS) {
        Samples<F> samples[RUN];
        float lifts[RUN];
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const Line line = find_line<F::single>(q, tile, first + i * TEAMS + team);
            lifts[i] = q.lifts[line.channel];
            const size_t row = shared.lines[line.y];
            const char *from = INSIDE || row != NOWHERE ? samples_of(q) + left + row +
                                                              line.channel * q.p.in.plane * q.size
                                                        : nullptr;
            const float centre = F::exact ? q.centres[line.channel] : 0.0F;
            if constexpr (INSIDE)
                samples[i] = load_inside<F>(reinterpret_cast<const In *>(from), centre);
            else
                samples[i] = load_row<F, In>(q, from, shared.places, centre);
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

/* Samples `first` and CHANNELS after it, less the centre, as f16. Those from 1024 to 2047 have the byte as their
 * lower half. */
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

/* Does the whole of a tile's input lie on the picture, and a channel's samples side by side? */
template <typename F> __device__ bool is_inside(const Layer &q, const Tile &tile)
{
    const long long x = tile.x * F::stride + q.p.origin_x;
    const long long y = static_cast<long long>(tile.y) * F::stride + q.p.origin_y;
    return q.p.in.pixel == 1 && x >= 0 && x + 2 * F::words <= q.p.in_width && y >= 0 &&
           y + tile.in_rows <= q.p.in_height;
}

template <typename F, typename In>
__device__ void stage_tile(const Layer &q, const Tile &tile, const Shared &shared)
{
    if constexpr (F::exact && !F::single) {
        if (q.p.in.pixel == COLOURS && q.p.depth == COLOURS)
            return stage_bytes<F, COLOURS>(q, tile, shared);
    }
    if constexpr (F::exact && F::quads) {
        if (q.p.in.pixel == 1)
            return stage_bytes<F, 1>(q, tile, shared);
    } else if constexpr (!std::is_void_v<In>) {
        if (is_inside<F>(q, tile))
            return stage<F, In, true>(q, tile, shared);
    }
    stage<F, In, false>(q, tile, shared);
}

/* ---- products ---- */

/* A thread's sums, as products leave them. */
template <typename F> struct Sums {
    float of[F::rows][4];
};

/* What the rows of a kernel have of their matrix, as split_first_taps() makes it (gpu/tensor_taps.cu): of one
 * octet upper numbers, then lower ones; of two the upper numbers of both, then the lower; of few maps a word of
 * each, and the upper one twice more. */
template <typename F> struct Taps {
    uint4 of[F::height][F::octets];
};

template <typename F> __device__ void read_taps(const uint4 *from, Taps<F> *taps)
{
#pragma unroll
    for (int i = 0; i < F::height * F::octets; i++)
        taps->of[i / F::octets][i % F::octets] = __ldg(from + i * WARP);
}

/* An input row times a kernel's row: lower times upper, upper times lower, upper times upper. Tensor cores cut
 * sums off, which costs less while they are small; but large kernels have no registers for that order. */
template <typename F>
__device__ void multiply(float (&d)[4], const uint4 (&a)[F::octets],
                         const uint32_t (&upper)[F::lane_parts],
                         const uint32_t (&lower)[F::lane_parts])
{
    if constexpr (F::few) {
        const uint4 both = {upper[0], upper[1], F::exact ? upper[0] : lower[0],
                            F::exact ? upper[1] : lower[1]};
        if (F::exact) {
            gf_multiply_halves(d, both, a[0].x, a[0].y);
        } else {
            gf_multiply_halves(d, uint2{upper[0], upper[1]}, a[0].y);
            gf_multiply_halves(d, both, a[0].z, a[0].w);
        }
    } else if constexpr (F::octets == 2) {
        if (F::large)
            gf_multiply_halves(d, a[0], upper[0], upper[1]);
        gf_multiply_halves(d, a[1], upper[0], upper[1]);
        if (!F::exact)
            gf_multiply_halves(d, a[0], lower[0], lower[1]);
        if (!F::large)
            gf_multiply_halves(d, a[0], upper[0], upper[1]);
    } else {
        if (!F::exact)
            gf_multiply_halves(d, uint2{a[0].x, a[0].y}, lower[0]);
        gf_multiply_halves(d, a[0], upper[0], upper[0]);
    }
}

/* Adds what the tensor cores summed of two pixels, in units of `scale`, to what f32 sums. */
__device__ void drain(float *part, float scale, float *sum)
{
#pragma unroll
    for (int j = 0; j < 2; j++) {
        sum[j] = fmaf(part[j], scale, sum[j]);
        part[j] = 0.0F;
    }
}

/* Are all rows of each channel of a tile in the same units? Of a block's threads. */
__device__ bool are_same(const Layer &q, const Tile &tile, const float *scales)
{
    bool same = true;
    for (int c = 0; c < q.p.depth; c++, scales += q.rows)
        for (int i = static_cast<int>(threadIdx.x); i < tile.in_rows; i += THREADS)
            same = same && scales[i] == scales[0];
    return __syncthreads_and(same);
}

/* Adds a channel's products, its rows' words beginning with this lane's own. SAME: all rows are in the
 * same units; without, it comes to the same. */
template <typename F, bool SAME>
__device__ void add_channel(const Taps<F> &taps, const uint32_t *words, const float *scales,
                            Sums<F> *sums)
{
    constexpr int LOWER =
        F::tall ? F::rows : 0; /* rows from a thread's first pixels to its others */
    Sums<F> part = {};
#pragma unroll
    for (int y = 0; y < F::in_rows; y++) {
        const float scale = scales[SAME ? 0 : y], below = scales[SAME ? 0 : y + LOWER];
        const int next = min(y + 1, F::in_rows - 1);
        const bool ends = !SAME && F::chain > 1 && scales[next] != scale;
        const bool below_ends = !SAME && F::chain > 1 && scales[next + LOWER] != below;
        uint32_t upper[F::lane_parts], lower[F::lane_parts];
#pragma unroll
        for (int i = 0; i < F::lane_parts; i++) {
            upper[i] = words[y * F::pitch + i * F::part_apart];
            lower[i] = F::exact ? 0 : words[y * F::pitch + F::words + i * F::part_apart];
        }
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            const int row = y - r * F::stride;
            if (row < 0 || row >= F::height)
                continue;
            multiply<F>(part.of[r], taps.of[row], upper, lower);
            const bool full = row % F::chain == F::chain - 1 || row == F::height - 1;
            if (full || ends)
                drain(part.of[r], scale, sums->of[r]);
            if (full || below_ends)
                drain(part.of[r] + 2, below, sums->of[r] + 2);
        }
    }
}

/* ---- storing ---- */

/* A thread's samples of one map, from pixel (x, y) on. */
template <typename F, typename Out>
__device__ void store(const Layer &q, const Tile &tile, int o, int x, int y,
                      const float (&v)[F::unit_rows * F::thread_columns])
{
    constexpr int N = F::thread_columns, ROWS = F::unit_rows;
    const int columns = min(tile.columns - x, N), rows = tile.rows - y;
    unsigned char *row =
        tile.out + y * q.p.out.stride + (x * q.p.out.pixel + o * q.p.out.plane) * sizeof(Out);
    if (q.vectors && columns == N && rows >= ROWS) {
#pragma unroll
        for (int r = 0; r < ROWS; r++, row += q.p.out.stride)
            gf_store_samples<N, F::few>(reinterpret_cast<Out *>(row), 1, N, true, v + r * N);
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++, row += q.p.out.stride)
        if (r < rows)
            gf_store_samples<N>(reinterpret_cast<Out *>(row), q.p.out.pixel, columns, false,
                                v + r * N);
}

/* The same of pairs of floats, all of them on the picture, and that no further from its first than an int tells. */
template <typename F>
__device__ void store_plain(const Layer &q, const Tile &tile, int o, int x, int y,
                            const float (&v)[F::unit_rows * F::thread_columns])
{
    const unsigned stride = static_cast<unsigned>(q.p.out.stride / sizeof(float));
    unsigned at = static_cast<unsigned>(o) * static_cast<unsigned>(q.p.out.plane) + y * stride + x;
    float *out = reinterpret_cast<float *>(tile.out);
#pragma unroll
    for (int r = 0; r < F::unit_rows; r++, at += stride)
        *reinterpret_cast<float2 *>(out + at) = {v[2 * r], v[2 * r + 1]};
}

/* What a thread's maps of a run are multiplied by, and what is added; with the gain where no function comes
 * between. */
template <typename F> struct Finish {
    float scale[F::thread_maps], shift[F::thread_maps];
};

template <typename F> __device__ int my_map(int run, int h)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    return run * F::maps + (F::few ? lane % 4 : lane / 4) + h * 8;
}

template <typename F> __device__ Finish<F> find_finish(const Layer &q, int run)
{
    const GfFinish<float> &finish = q.p.finish;
    const float gain = finish.posts == 0 ? finish.gain : 1.0F;
    Finish<F> mine;
#pragma unroll
    for (int h = 0; h < F::thread_maps; h++) {
        const int o = min(my_map<F>(run, h), q.p.out_channels - 1);
        const float mid = finish.posts == 0 && o < q.p.post_channels ? finish.mid : 0.0F;
        mine.scale[h] = q.map_units[o] * finish.scale * gain;
        mine.shift[h] = fmaf(finish.offset + (q.p.bias ? q.p.bias[o] : 0.0F), gain, mid);
    }
    return mine;
}

/* Of the taps of a window from `first` on, those that lie on n samples. */
__device__ int2 taps_inside(long long first, int taps, long long n)
{
    const int begin = static_cast<int>(max(0LL, min(-first, static_cast<long long>(taps))));
    const int end = static_cast<int>(max(0LL, min(n - first, static_cast<long long>(taps))));
    return {begin, max(begin, end)};
}

/* What bias has too much for map o at (x, y) (GfStep.outside). */
__device__ float outside_of(const Layer &q, int o, long long x, long long y)
{
    const int2 h = taps_inside(x * q.p.stride_x + q.p.origin_x, q.p.width, q.p.in_width);
    const int2 v = taps_inside(y * q.p.stride_y + q.p.origin_y, q.p.height, q.p.in_height);
    const int pitch = q.p.width + 1;
    const float *sums = q.outside + static_cast<size_t>(o) * pitch * (q.p.height + 1);
    const float *above = sums + v.x * pitch, *below = sums + v.y * pitch;
    return sums[q.p.height * pitch + q.p.width] -
           (below[h.y] - below[h.x] - above[h.y] + above[h.x]);
}

/* Takes from a thread's samples of map o, from pixel (x, y) of the tile on, what bias has too much. */
template <typename F>
__device__ void take_outside(const Layer &q, const Tile &tile, int o, int x, int y,
                             float (&v)[F::unit_rows * F::thread_columns])
{
    constexpr int N = F::thread_columns, ROWS = F::unit_rows;
    const float gain = q.p.finish.posts == 0 ? q.p.finish.gain : 1.0F;
    if (are_whole<F>(q, tile, x, y, N, ROWS))
        return;
#pragma unroll 1
    for (int i = 0; i < ROWS * N; i++) {
        const long long down = static_cast<long long>(tile.y) + y + i / N;
        const float outside = gain * outside_of(q, o, tile.x + x + i % N, down);
#pragma unroll
        for (int j = 0; j < ROWS * N; j++)
            v[j] -= j == i ? outside : 0.0F;
    }
}

/* From the sums of a unit at (x, y) of the tile to its stored samples. */
template <typename F>
__device__ void finish(const Layer &q, const Tile &tile, int run, int x, int y,
                       const Finish<F> &mine, const Sums<F> &sums)
{
    constexpr int N = F::thread_columns;
    /* The code of large kernels on floats is more than what holds instructions. */
    constexpr int AT_ONCE = F::exact || !F::large ? F::thread_maps : 1;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    x += (F::few ? lane / 4 : lane % 4) * N;
    if (x >= tile.columns || y >= tile.rows)
        return;
#pragma unroll AT_ONCE
    for (int h = 0; h < F::thread_maps; h++) {
        const int o = my_map<F>(run, h);
        if (o >= q.p.out_channels)
            continue;
        const float scale = h == 0 ? mine.scale[0] : mine.scale[F::thread_maps - 1];
        const float shift = h == 0 ? mine.shift[0] : mine.shift[F::thread_maps - 1];
        float v[F::unit_rows * N];
#pragma unroll
        for (int i = 0; i < F::unit_rows * N; i++) {
            const float(&sum)[4] = sums.of[i / N % F::rows];
            const int j = i % N + (F::tall ? i / N / F::rows * N : 0);
            /* A place that is computed would put the sums into memory where the loop is not unrolled. */
            const float own = F::shifts == 2 && !F::few ? sum[j % 2 * 2 + j / 2]
                              : h == 0                  ? sum[j]
                                                        : sum[F::thread_maps == 1 ? j : 2 + j];
            v[i] = fmaf(own, scale, shift);
        }
        if (F::tall && q.plain && x + N <= tile.columns && y + F::unit_rows <= tile.rows) {
            store_plain<F>(q, tile, o, x, y, v);
            continue;
        }
        if (tile.edges)
            take_outside<F>(q, tile, o, x, y, v);
        if (q.p.finish.posts > 0)
            gf_post_each(q.p.finish, v, [&](int) { return o < q.p.post_channels; });
        if (q.p.finish.out == GF_F32)
            store<F, float>(q, tile, o, x, y, v);
        else if (q.p.finish.out == GF_U16)
            store<F, uint16_t>(q, tile, o, x, y, v);
        else
            store<F, uint8_t>(q, tile, o, x, y, v);
    }
}

/* ---- the kernel ---- */

template <typename F, bool SAME, int WARPS = ::WARPS>
__device__ void run_units(const Layer &q, const Tile &tile, const Shared &shared)
{
    constexpr int CHANNEL = F::height * F::octets * WARP; /* vectors of taps */
    const int warp = static_cast<int>(threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    const int across = (tile.columns + F::columns - 1) / F::columns;
    const int depth = F::single ? 1 : q.p.depth;
    const uint32_t *lane_words = shared.words + lane / 4 * F::lane_apart + lane % 4;
    for (int run = tile.run; run < tile.end; run++) {
        const uint4 *weights = q.weights + static_cast<size_t>(run * depth) * CHANNEL + lane;
        const Finish<F> mine = find_finish<F>(q, run);
        Taps<F> taps;
        if (F::single)
            read_taps<F>(weights, &taps);
        for (int column = warp, y = 0;; column += WARPS) {
            for (; column >= across; column -= across)
                y += F::unit_rows;
            if (y >= tile.rows)
                break;
            Sums<F> sums = {};
            for (int c = 0; c < depth; c++) {
                const int row = c * q.rows + y * F::stride;
                if (!F::single)
                    read_taps<F>(weights + c * CHANNEL, &taps);
                add_channel<F, SAME>(taps,
                                     lane_words + row * F::pitch +
                                         column * (F::columns / F::shifts) * F::apart,
                                     shared.scales + row, &sums);
            }
            finish<F>(q, tile, run, column * F::columns, y, mine, sums);
        }
    }
}

template <typename F, typename In>
__global__ void __launch_bounds__(THREADS, F::blocks) tensor_first(const __grid_constant__ Layer q)
{
    GF_BLOCK_MEMORY(__align__(8) uint32_t, memory);
    const Tile tile = find_tile<F>(q);
    const Shared shared = find_shared<F>(q, memory);
    find_input<F>(q, tile, shared);
    gf_wait_for_stream();
    __syncthreads();
    stage_tile<F, In>(q, tile, shared);
    __syncthreads();
    if (F::exact || are_same(q, tile, shared.scales))
        run_units<F, true>(q, tile, shared);
    else
        run_units<F, false>(q, tile, shared);
}

/* ---- whole pictures ---- */

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

/* A lane's words of a row, `count` samples of which, from the `begin`-th on, are on the picture. PAIRS: both samples
 * of a word are, or none, and their place is even. */
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

/* A picture and the border around it become words, a team a row. Are all rows of this thread in units of `unit`? */
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
            run_units<F, true, PICTURE_WARPS>(q, tile, shared);
        else
            run_units<F, false, PICTURE_WARPS>(q, tile, shared);
    }
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

/* Units of a tile of more maps than one run, at most. */
constexpr size_t MANY = 4;

/* Tilings before those. */
#define COUNT(...) +1
constexpr size_t OTHERS = 0 GF_TENSOR_TILES(COUNT) GF_FLAT_TILES(COUNT);
#undef COUNT

template <typename F> size_t bytes_of(const GfLaunch *launch, size_t units)
{
    const size_t rows = (units * F::rows - 1) * F::stride + F::height;
    return F::bytes(launch->step->linear.depth, rows);
}

template <typename F> size_t tiles_of(const GfLaunch *launch, size_t units)
{
    return gf_divide_up(launch->step->out_width, static_cast<size_t>(F::tile_columns)) *
           gf_divide_up(launch->y1 - launch->y0, units * F::rows) * launch->count;
}

/* The largest tile of which there are enough, and so many blocks that the card has work. Of many maps tiles
 * are smaller: what is written to them at a time lies nearer together. */
template <typename F> Cut cut(const GfLaunch *launch)
{
    const size_t enough = 3 * gf_multiprocessors(), runs = gf_tensor_first(launch->step).runs;
    Cut cut = {launch->tiling > OTHERS ? tiles[launch->tiling - OTHERS - 1] : tiles[TILES - 1], 1};
    for (size_t i = TILES; launch->tiling == 0 && i-- > 0;) {
        cut.units = tiles[i];
        if (tiles_of<F>(launch, cut.units) >= enough && (cut.units <= MANY || runs == 1) &&
            bytes_of<F>(launch, cut.units) <= GF_SHARED_BYTES / 2)
            break;
    }
    cut.splits = gf_divide_up(enough, tiles_of<F>(launch, cut.units));
    cut.splits = gf_divide_up(runs, gf_divide_up(runs, cut.splits < runs ? cut.splits : runs));
    return cut;
}

/* All but how it is cut. */
template <typename F> Layer describe(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfTensorLayer *state = &static_cast<const GfTensorState *>(launch->state)->layer;
    Layer q = {};
    q.p = gf_problem<float>(launch);
    q.runs = static_cast<int>(gf_tensor_first(step).runs);
    q.size = gf_sample_size(step->in);
    q.out_size = gf_sample_size(step->out);
    q.sample = step->in;
    q.weights = static_cast<const uint4 *>(state->weights);
    q.lifts = state->lifts;
    q.map_units = state->units;
    q.outside = state->outside;
    for (size_t c = 0; step->centres && c < step->channels; c++)
        q.centres[c] = static_cast<float>(step->centres[c]);
    q.vectors = gf_rows_aligned(launch->out, step->out, F::thread_columns);
    return q;
}

template <typename F, typename In> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const Cut work = cut<F>(launch);
    const size_t bytes = bytes_of<F>(launch, work.units);
    const size_t blocks = tiles_of<F>(launch, work.units) * work.splits;
    if (blocks > INT_MAX || bytes > gf_shared_limit())
        return cudaErrorNotSupported;
    Layer q = describe<F>(launch);
    q.splits = static_cast<unsigned>(work.splits);
    q.across =
        static_cast<unsigned>(gf_divide_up(step->out_width, static_cast<size_t>(F::tile_columns)));
    q.down = static_cast<unsigned>(gf_divide_up(launch->y1 - launch->y0, work.units * F::rows));
    q.split_runs = gf_divide_up(q.runs, static_cast<int>(work.splits));
    q.units = static_cast<int>(work.units);
    q.rows = (q.units * F::rows - 1) * F::stride + F::height;
    const auto kernel = tensor_first<F, In>;
    const GfBlocks grid = {static_cast<unsigned>(blocks), THREADS, bytes};
    return gf_launch_early(kernel, gf_spread(kernel, grid), stream, q);
}

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

/* Are there several pictures for each block, all blocks at a time, and nothing between their rows? */
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
    q.plain = q.vectors && step->out == GF_F32 && step->posts == 0 &&
              launch->out.batch / sizeof(float) <= INT_MAX;
    const unsigned blocks = static_cast<unsigned>(F::blocks * gf_multiprocessors());
    return gf_launch_early(tensor_pictures<F, PAIRS>,
                           {blocks, PICTURE_WARPS * WARP, picture_bytes(step)}, stream, q);
}

/* Bytes are exact, and so must be what stands around them. */
template <int HEIGHT, int STRIDE, bool SINGLE, bool FEW>
cudaError_t run_sample(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    const float constant = static_cast<float>(step->border_value);
    const bool even =
        step->border != GF_BORDER_CONSTANT || __half2float(__float2half_rn(constant)) == constant;
    if (step->in == GF_U8 && even)
        return run<Form<HEIGHT, STRIDE, true, SINGLE, FEW>, uint8_t>(launch, stream);
    if (step->in == GF_F32)
        return run<Form<HEIGHT, STRIDE, false, SINGLE, FEW>, float>(launch, stream);
    return run<Form<HEIGHT, STRIDE, false, SINGLE, FEW>, void>(launch, stream);
}

/* One channel, and few maps of it, have forms of their own where windows are side by side. */
template <int HEIGHT, int STRIDE> cudaError_t run_form(const GfLaunch *launch, cudaStream_t stream)
{
    constexpr bool dense = STRIDE == 1;
    constexpr bool few = dense && HEIGHT <= GF_FIRST_SIDE;
    if (gf_tensor_first(launch->step).few)
        return run_sample<HEIGHT, STRIDE, dense, few>(launch, stream);
    return launch->step->channels == 1 ? run_sample<HEIGHT, STRIDE, dense, false>(launch, stream)
                                       : run_sample<HEIGHT, STRIDE, false, false>(launch, stream);
}

template <int STRIDE> cudaError_t run_height(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->linear.height) {
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
    if (gf_tensor_first(launch->step).few && are_pictures(launch)) {
        const bool pairs = launch->step->in_width % 2 == 0 && launch->step->origin_x % 2 == 0;
        return pairs ? run_pictures<true>(launch, stream) : run_pictures<false>(launch, stream);
    }
    switch (launch->step->stride_x) {
    case 1:
        return run_height<1>(launch, stream);
    case 2:
        return run_height<2>(launch, stream);
    default:
        return run_height<4>(launch, stream);
    }
}
