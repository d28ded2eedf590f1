/* Method `tensor` for kernels whose second matrix is too large for registers
 * (gpu/tensor_strips.cuh has the others): any height, and any width of which some rows of a
 * tile's input have room in shared memory. Products of bytes, exact, the weights being integers
 * in one plane of signed bytes or in three (gpu/tensor_shape.h). Of samples of 16 bits the upper
 * bytes and the lower ones are multiplied, each by themselves: the sums of a plane of weights
 * times upper bytes belong to those of the next plane times lower bytes. Beyond the sources.
 *
 * A block of threads computes a tile of 256 samples of ROWS * WARPS rows of one channel. The
 * bytes that it needs, or that a pass of the kernel's rows needs where not all have room, are
 * brought to shared memory once, by the border's rule, so that the window of the tile's first
 * sample begins with a row. A warp has ROWS output rows, of each two times 16 blocks of 8
 * samples: the rows of the first matrix, which are bytes as they lie. Lane (g, t) reads words 2g
 * + t of a stretch of 32 bytes, so that no two words are in one bank. The columns of the second
 * matrix are the kernel's row, moved down by a sample each.
 *
 * The first matrix is the same for every row of the kernel: input row y and the kernel's row r
 * belong to output row y - r. So a warp walks down the input rows; it holds the last ROWS rows of
 * the second matrix in registers, takes in a new one, and multiplies each of them by the input
 * row. Sums stay in registers to the end. What is walked along at once is a chunk of the kernel's
 * rows, of one group of 32 bytes, which lies in shared memory while the next is on its way to it.
 *
 * An opacity that is copied has no products: its tiles are taken from their input.
 *
 * Of RGB, where there are enough tiles, a block has those of all channels, one after the other.
 * Its pixels are read once and taken apart on their way to shared memory; what becomes of a
 * channel takes its samples' place, so that whole pixels are stored.
 *
 * Costs for a sample: one read, but for the halo, which neighbouring tiles read again from the
 * caches; one write; for each of its bytes, plane and row of taps 16 bytes' products for every 16
 * bytes that a block reaches over, which are 7 more than a row of taps has. */
#include <cuda_pipeline.h>

#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr int ROWS = GF_LARGE_STEP;               /* output rows of a warp */
constexpr int STRIP = GF_LARGE_STRIP, HALVES = 2; /* samples of a row; products that make them */
constexpr int HALF = STRIP / HALVES, BLOCK = 8;   /* samples */
constexpr int SUMS = 4;                           /* of a lane, of a product */
constexpr int OWN = ROWS * HALVES * SUMS;         /* samples of a lane */
constexpr int GROUP = GF_LARGE_GROUP, WORD = 4;   /* bytes */
constexpr int COLOURS = 3;
constexpr int ROW_VECTORS =
    GF_LARGE_ROW_BYTES / 8; /* of the second matrix, of a plane: one a lane */

static_assert(WARPS * ROWS == GF_LARGE_ROWS, "the tile that its size was computed for");

/* What sums become: those of 16 bits have more digits than f32. BYTES: of a sample. */
template <int BYTES> using Number = std::conditional_t<BYTES == 1, float, double>;

template <int BYTES> using Sample = std::conditional_t<BYTES == 1, uint8_t, uint16_t>;

/* Sums of a lane, of planes of weights (the lowest first) times bytes. */
template <int PLANES, int BYTES> using Sums = int[ROWS][HALVES][PLANES + BYTES - 1][SUMS];

/* ---- what a launch is told ---- */

template <int BYTES> struct Large {
    GfRows in;
    GfOutRows out;
    size_t y0, y1;
    long long in_width, in_height, origin_x, origin_y;
    int anchor_x, anchor_y;
    int out_width, channels, post_channels;
    unsigned strips, sharers; /* sharers: blocks that have the channels of a tile */
    int height;               /* rows of the kernel, */
    int rows, pass, chunk;    /* of the second matrix, and of a pass and a chunk of it */
    int groups;
    bool ends_half;       /* the last group is only half a one */
    int pitch, tile_rows; /* of a tile's input */
    bool keep_alpha;
    bool finished; /* scale and offset have all that follows in them */
    /* Rows that a block has whole, of samples of BYTES, aligned as words. */
    bool words_in, words_out;
    GfBorder border;
    uint32_t border_word; /* the constant, again and again */
    Number<BYTES> scale, offset;
    Number<BYTES> bare_offset; /* of an opacity that is filtered like colours */
    GfFinish<Number<BYTES>> finish;
    const uint2 *words; /* the second matrix */
};

/* A tile: rows [top, top + rows) of output samples from pixel x on. */
struct Tile {
    size_t top;
    int rows, x, channel;
};

/* The channels of a tile are neighbours: they read the same bytes, and what they write meets in
 * L2. */
template <int BYTES> __device__ Tile find_tile(const Large<BYTES> &s)
{
    const unsigned tile = blockIdx.x / s.sharers;
    const size_t top = s.y0 + static_cast<size_t>(tile / s.strips) * GF_LARGE_ROWS;
    return {top, static_cast<int>(min(s.y1 - top, static_cast<size_t>(GF_LARGE_ROWS))),
            static_cast<int>(tile % s.strips) * STRIP, static_cast<int>(blockIdx.x % s.sharers)};
}

/* ---- a tile's input ---- */

/* Row r of a tile's input by the border's rule; NULL: the constant, or nothing that counts. */
template <int BYTES>
__device__ const uint8_t *locate(const Large<BYTES> &s, const Tile &tile, int r)
{
    const long long y =
        gf_border_index(static_cast<long long>(tile.top) + s.origin_y + r, s.in_height, s.border);
    return y < 0 || r < 0 || r >= tile.rows + s.height - 1
               ? nullptr
               : gf_row<uint8_t>(s.in, static_cast<size_t>(y)) + blockIdx.y * s.in.batch;
}

/* Where its rows are for the pass that begins with row `first` of the matrix, whose first rows may
 * be zeros. */
template <int BYTES>
__device__ void find_rows(const Large<BYTES> &s, const Tile &tile, int first, const uint8_t **rows)
{
    for (int r = threadIdx.x; r < s.tile_rows; r += THREADS)
        rows[r] = locate(s, tile, r + first - (s.rows - s.height));
}

/* A warp's rows are every WARPS-th, and so many of them are loaded before the first is stored; for
 * one more of bytes there are too few registers. */
template <int BYTES> constexpr int AT_ONCE = BYTES == 1 ? 7 : 8;

template <int BYTES>
__device__ const uint8_t *find_row(const Large<BYTES> &s, const uint8_t *const *rows, int r)
{
    return r < s.tile_rows ? rows[r] : nullptr;
}

/* Stores the upper bytes of four samples of 16 bits, two words, and their lower ones: those of all
 * rows lie behind the upper bytes of all. Of bytes there is one word. */
template <int BYTES>
__device__ void put_word(const Large<BYTES> &s, uint8_t *to, int r, const uint32_t (&word)[BYTES])
{
    const auto at = [&](int row) { return reinterpret_cast<uint32_t *>(to + row * s.pitch); };
    if constexpr (BYTES == 1) {
        *at(r) = word[0];
    } else {
        *at(r) = __byte_perm(word[0], word[1], 0x7531);
        *at(r + s.tile_rows) = __byte_perm(word[0], word[1], 0x6420);
    }
}

/* This lane's four samples, or pixels of RGB, of all rows, where all of them are on the picture, in
 * WORDS words and a part of one more: take(row, words) gets them. LOADED rows are waited for. */
template <int WORDS, int LOADED, int BYTES, typename Take>
__device__ void load_words(const Large<BYTES> &s, long long x, const uint8_t *const *rows,
                           Take take)
{
    const long long first = x * WORDS & -WORD;
    const unsigned shift = static_cast<unsigned>(x * WORDS % WORD) * 8;
    for (int r = threadIdx.x / 32; r < s.tile_rows; r += WARPS * LOADED) {
        uint32_t words[LOADED][WORDS + 1];
#pragma unroll
        for (int i = 0; i < LOADED; i++) {
            const uint8_t *row = find_row(s, rows, r + i * WARPS);
#pragma unroll
            for (int j = 0; j <= WORDS; j++)
                words[i][j] = s.border_word;
            if (row)
#pragma unroll
                for (int j = 0; j <= WORDS; j++)
                    words[i][j] = __ldg(reinterpret_cast<const uint32_t *>(row + first + j * WORD));
        }
#pragma unroll
        for (int i = 0; i < LOADED; i++) {
            uint32_t own[WORDS];
#pragma unroll
            for (int j = 0; j < WORDS; j++)
                own[j] = __funnelshift_r(words[i][j], words[i][j + 1], shift);
            if (r + i * WARPS < s.tile_rows)
                take(r + i * WARPS, own);
        }
    }
}

/* Any four samples: their places are found once. */
template <int BYTES>
__device__ void fill_mapped(const Large<BYTES> &s, long long x, int channel,
                            const uint8_t *const *rows, uint8_t *to)
{
    constexpr unsigned PAIR = BYTES == 1 ? 0x0040 : 0x5410; /* bytes of two samples */
    int place[WORD];
#pragma unroll
    for (int i = 0; i < WORD; i++) {
        const long long mapped = gf_border_index(x + i, s.in_width, s.border);
        place[i] = mapped < 0 ? -1 : static_cast<int>(mapped) * s.channels + channel;
    }
    for (int r = threadIdx.x / 32; r < s.tile_rows; r += WARPS * AT_ONCE<BYTES>) {
        uint32_t samples[AT_ONCE<BYTES>][WORD];
#pragma unroll
        for (int i = 0; i < AT_ONCE<BYTES> * WORD; i++) {
            const Sample<BYTES> *row =
                reinterpret_cast<const Sample<BYTES> *>(find_row(s, rows, r + i / WORD * WARPS));
            samples[i / WORD][i % WORD] = s.border_word;
            if (row && place[i % WORD] >= 0)
                samples[i / WORD][i % WORD] = __ldg(row + place[i % WORD]);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE<BYTES>; i++) {
            const uint32_t low = __byte_perm(samples[i][0], samples[i][1], PAIR);
            const uint32_t high = __byte_perm(samples[i][2], samples[i][3], PAIR);
            uint32_t own[BYTES];
            if constexpr (BYTES == 1) {
                own[0] = __byte_perm(low, high, 0x5410);
            } else {
                own[0] = low;
                own[1] = high;
            }
            if (r + i * WARPS < s.tile_rows)
                put_word(s, to, r + i * WARPS, own);
        }
    }
}

/* Bytes of a channel's samples of a tile. */
template <int BYTES> __device__ int plane_of(const Large<BYTES> &s)
{
    return s.tile_rows * s.pitch;
}

/* RGBRGBRGBRGB taken apart. */
__device__ void part_channels(uint32_t (&word)[COLOURS])
{
    const uint32_t first = word[0], second = word[1], third = word[2];
    word[0] = __byte_perm(__byte_perm(first, second, 0x0630), third, 0x5210);
    word[1] = __byte_perm(__byte_perm(first, second, 0x0741), third, 0x6210);
    word[2] = __byte_perm(__byte_perm(first, second, 0x0052), third, 0x7410);
}

/* Do the words lie on a row that load_words() takes of four pixels of so many bytes, from x on? */
template <int BYTES> __device__ bool has_words(const Large<BYTES> &s, long long x, int bytes)
{
    return s.words_in && x >= 0 && (x * bytes & -WORD) + (bytes + 1) * WORD <= s.in_width * bytes;
}

/* The samples of all colours. */
__device__ void fill_all(const Large<1> &s, const Tile &tile, const uint8_t *const *rows,
                         uint8_t *pixels)
{
    for (int at = threadIdx.x % 32 * WORD; at < s.pitch; at += 32 * WORD) {
        const long long x = tile.x + at + s.origin_x;
        if (has_words(s, x, COLOURS))
            load_words<COLOURS, 6>(s, x, rows, [&](int r, uint32_t(&word)[COLOURS]) {
                part_channels(word);
#pragma unroll
                for (int i = 0; i < COLOURS; i++)
                    put_word<1>(s, pixels + at + i * plane_of(s), r, {word[i]});
            });
        else
#pragma unroll 1
            for (int i = 0; i < COLOURS; i++)
                fill_mapped(s, x, i, rows, pixels + at + i * plane_of(s));
    }
}

template <int BYTES>
__device__ void fill(const Large<BYTES> &s, const Tile &tile, const uint8_t *const *rows,
                     uint8_t *pixels)
{
    for (int at = threadIdx.x % 32 * WORD; at < s.pitch; at += 32 * WORD) {
        const long long x = tile.x + at + s.origin_x;
        if (has_words(s, x, BYTES))
            load_words<BYTES, AT_ONCE<BYTES>>(s, x, rows, [&](int r, uint32_t(&word)[BYTES]) {
                put_word<BYTES>(s, pixels + at, r, word);
            });
        else
            fill_mapped(s, x, tile.channel, rows, pixels + at);
    }
}

/* ---- products ---- */

/* Input row y: what it makes with the rows y - first to y - last of the second matrix, of which row
 * i is at held[i % ROWS], for the output rows first to last. `phase` is y % ROWS. SHORT: of a group
 * only the first half. */
template <bool SHORT, int BYTE, int PLANES, int ALL>
__device__ void multiply(const uint8_t *row, const uint2 (&held)[ROWS][PLANES], int phase,
                         int first, int last, int (&sums)[ROWS][HALVES][ALL][SUMS])
{
    constexpr int WORDS = SHORT ? 2 : 4;
    uint32_t a[HALVES][WORDS];
#pragma unroll
    for (int i = 0; i < HALVES * WORDS; i++)
        a[i / WORDS][i % WORDS] = *reinterpret_cast<const uint32_t *>(
            row + i / WORDS * HALF + i % 2 * (HALF / 2) + i % WORDS / 2 * (GROUP / 2));
#pragma unroll
    for (int r = first; r <= last; r++)
#pragma unroll
        for (int i = 0; i < HALVES * PLANES; i++) {
            const uint2 &words = held[(phase - r + ROWS) % ROWS][i % PLANES];
            int(&own)[SUMS] = sums[r][i / PLANES][i % PLANES + BYTE];
            if constexpr (SHORT) {
                gf_multiply_16(own, a[i / PLANES], words.x);
            } else {
                const uint32_t b[2] = {words.x, words.y};
                gf_multiply_32(own, a[i / PLANES], b);
            }
        }
}

/* Walks along a chunk of so many rows, a multiple of ROWS, and the ROWS - 1 input rows below it.
 * `vectors` and `row` are this lane's of the first. The first `above` rows of the chunk are zeros,
 * and there are no input rows for them. */
template <bool SHORT, int PLANES, int BYTE, int ALL>
__device__ void walk(const uint2 *vectors, int rows, int above, const uint8_t *row, int pitch,
                     int (&sums)[ROWS][HALVES][ALL][SUMS])
{
    uint2 held[ROWS][PLANES];
    const auto take = [&](int i) {
#pragma unroll
        for (int p = 0; p < PLANES; p++)
            held[i][p] = vectors[p * ROW_VECTORS];
        vectors += PLANES * ROW_VECTORS;
    };
#pragma unroll
    for (int i = 0; i < ROWS; i++, row += pitch) {
        take(i);
        if (i >= above)
            multiply<SHORT, BYTE>(row, held, i, 0, i, sums);
    }
#pragma unroll 1
    for (int left = rows - ROWS; left > 0; left -= ROWS)
#pragma unroll
        for (int i = 0; i < ROWS; i++, row += pitch) {
            take(i);
            multiply<SHORT, BYTE>(row, held, i, 0, ROWS - 1, sums);
        }
#pragma unroll
    for (int i = 0; i < ROWS - 1; i++, row += pitch)
        multiply<SHORT, BYTE>(row, held, i, i + 1, ROWS - 1, sums);
}

/* Begins to copy so many rows of the second matrix, from row `first` on, counted through all
 * groups. */
template <int PLANES, int BYTES>
__device__ void send(const Large<BYTES> &s, int first, int rows, uint2 *chunk)
{
    const uint2 *from = s.words + static_cast<size_t>(first) * PLANES * ROW_VECTORS;
    for (int i = threadIdx.x * 2; i < rows * PLANES * ROW_VECTORS; i += THREADS * 2)
        __pipeline_memcpy_async(chunk + i, from + i, 2 * sizeof *chunk);
    __pipeline_commit();
}

/* Where the walk through the second matrix is: at row `first` of a group, in a pass. */
struct Step {
    int pass, group, first;
};

template <int BYTES> __device__ int rows_of(const Large<BYTES> &s, const Step &step)
{
    return min(s.chunk, min(step.pass + s.pass, s.rows) - step.first);
}

template <int BYTES> __device__ Step step_after(const Large<BYTES> &s, Step step)
{
    const int end = min(step.pass + s.pass, s.rows);
    step.first += rows_of(s, step);
    if (step.first < end)
        return step;
    if (step.group + 1 < s.groups)
        return {step.pass, step.group + 1, step.pass};
    return {end, 0, end};
}

/* Walks along a chunk for bytes number BYTE. */
template <int PLANES, int BYTE, int BYTES>
__device__ void add_chunk(const Large<BYTES> &s, const Step &step, const uint2 *chunk,
                          const uint8_t *own, Sums<PLANES, BYTES> &sums)
{
    const uint8_t *const row = own + (BYTES - 1 - BYTE) * s.tile_rows * s.pitch +
                               (step.first - step.pass) * s.pitch + step.group * GROUP;
    const int above = step.first ? 0 : s.rows - s.height;
    if (s.ends_half && step.group == s.groups - 1)
        walk<true, PLANES, BYTE>(chunk, rows_of(s, step), above, row, s.pitch, sums);
    else
        walk<false, PLANES, BYTE>(chunk, rows_of(s, step), above, row, s.pitch, sums);
}

/* Room for two chunks, one of which is on its way. */
struct Chunks {
    uint2 *chunk, *other;
};

/* Makes room, and begins to copy the first. */
template <int PLANES, int BYTES>
__device__ Chunks begin_chunks(const Large<BYTES> &s, uint2 *memory)
{
    send<PLANES>(s, 0, rows_of(s, {0, 0, 0}), memory);
    return {memory, memory + s.chunk * PLANES * ROW_VECTORS};
}

/* All products of a tile. Before those of a pass come begin_pass(its first row)'s. AGAIN: the first
 * chunk is to be on its way once more at the end. */
template <bool AGAIN, int PLANES, int BYTES, typename BeginPass>
__device__ void sum_up(const Large<BYTES> &s, Chunks &two, const uint8_t *pixels,
                       Sums<PLANES, BYTES> &sums, BeginPass begin_pass)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint8_t *own = pixels + warp * ROWS * s.pitch + lane / 4 * BLOCK + lane % 4 * WORD;
    for (Step step = {0, 0, 0}, next; step.pass < s.rows; step = next) {
        if (step.group == 0 && step.first == step.pass)
            begin_pass(step.pass);
        __pipeline_wait_prior(0);
        __syncthreads();
        next = step_after(s, step);
        if (next.pass < s.rows)
            send<PLANES>(s, next.group * s.rows + next.first, rows_of(s, next), two.other);
        else if (AGAIN)
            send<PLANES>(s, 0, rows_of(s, {0, 0, 0}), two.other);
        if constexpr (BYTES == 2)
            add_chunk<PLANES, 1>(s, step, two.chunk + lane, own, sums);
        add_chunk<PLANES, 0>(s, step, two.chunk + lane, own, sums);
        two = {two.other, two.chunk};
    }
}

/* ---- from sums to samples ---- */

/* The number that the planes' sums stand for, in units. Carries leave 16 bits below what the last
 * plane has, so that it is rounded twice, each time by 2^-24 of it at most. */
template <int PLANES> __device__ float join(const int (&sums)[PLANES][SUMS], int i)
{
    if constexpr (PLANES == 1)
        return static_cast<float>(sums[0][i]);
    else {
        const int middle = sums[1][i] + (sums[0][i] >> 8), top = sums[2][i] + (middle >> 8);
        const int low = (middle & 0xFF) << 8 | (sums[0][i] & 0xFF);
        return fmaf(65536.0f, static_cast<float>(top), static_cast<float>(low));
    }
}

/* The same of 16 bits, as a whole number; of f64 it has a digit or two too many at most. */
template <int ALL> __device__ double join_words(const int (&sums)[ALL][SUMS], int i)
{
    long long sum = 0;
#pragma unroll
    for (int p = ALL - 1; p >= 0; p--)
        sum = sum * 256 + sums[p][i];
    return static_cast<double>(sum);
}

/* Where row r of a tile begins. */
template <int BYTES>
__device__ unsigned char *output_row(const Large<BYTES> &s, const Tile &tile, int r)
{
    return static_cast<unsigned char *>(s.out.samples) + (tile.top - s.y0 + r) * s.out.stride +
           blockIdx.y * s.out.batch;
}

/* Where in a tile's row sample j is of those that this lane has of a product. */
__device__ int column_of(int half, int j)
{
    const int lane = threadIdx.x % 32;
    return half * HALF + j / 2 * (HALF / 2) + lane / 4 * BLOCK + lane % 4 * 2 + j % 2;
}

/* Bytes of one channel: two lanes change places so that each has four samples side by side, which
 * take(row of the tile, column, word) gets. */
template <typename Take> __device__ void each_word(const float (&v)[OWN], Take take)
{
    const int lane = threadIdx.x % 32, odd = lane % 2;
    const int own = odd * (HALF / 2) + lane / 4 * BLOCK + lane % 4 / 2 * WORD;
#pragma unroll
    for (int i = 0; i < ROWS * HALVES; i++) {
        const int r = static_cast<int>(threadIdx.x) / 32 * ROWS + i / HALVES;
        const float *w = v + i * SUMS;
        const uint32_t word = gf_round_bytes(w[0], w[1], w[2], w[3]);
        const uint32_t other = __shfl_xor_sync(~0u, word, 1);
        take(r, i % HALVES * HALF + own, __byte_perm(word, other, odd ? 0x3276 : 0x5410));
    }
}

/* Whole rows of them. */
__device__ void store_words(const Large<1> &s, const Tile &tile, const float (&v)[OWN])
{
    each_word(v, [&](int r, int column, uint32_t word) {
        if (r < tile.rows)
            *reinterpret_cast<uint32_t *>(output_row(s, tile, r) + tile.x + column) = word;
    });
}

/* The same of 16 bits: a lane's samples are pairs. */
__device__ void store_words(const Large<2> &s, const Tile &tile, const double (&v)[OWN])
{
#pragma unroll
    for (int i = 0; i < OWN; i += 2) {
        const int r = static_cast<int>(threadIdx.x) / 32 * ROWS + i / (HALVES * SUMS);
        const int x = tile.x + column_of(i / SUMS % HALVES, i % SUMS);
        if (r < tile.rows)
            *reinterpret_cast<uint32_t *>(output_row(s, tile, r) + x * sizeof(uint16_t)) =
                gf_round(v[i], 65535) | gf_round(v[i + 1], 65535) << 16;
    }
}

/* Word k of the three that four pixels are, RGBRGBRGBRGB. */
__device__ uint32_t join_channels(const uint32_t (&colour)[COLOURS], int k)
{
    const uint32_t a = k == 0 ? colour[0] : k == 1 ? colour[1] : colour[2];
    const uint32_t b = k == 0 ? colour[1] : k == 1 ? colour[2] : colour[0];
    const uint32_t c = k == 0 ? colour[2] : k == 1 ? colour[0] : colour[1];
    const unsigned first = k == 0 ? 0x1040 : k == 1 ? 0x2051 : 0x3072;
    return __byte_perm(__byte_perm(a, b, first), c, k == 0 ? 0x3410 : k == 1 ? 0x3610 : 0x3710);
}

/* A tile's pixels, whose channels lie in planes, rows of STRIP. */
__device__ void store_colours(const Large<1> &s, const Tile &tile, const uint8_t *planes)
{
    constexpr int WORDS = STRIP / WORD * COLOURS; /* of a row */
    const int left = (s.out_width - tile.x) * COLOURS;
    for (int i = threadIdx.x; i < tile.rows * WORDS; i += THREADS) {
        const int r = i / WORDS, at = i % WORDS * WORD;
        uint32_t colour[COLOURS];
#pragma unroll
        for (int j = 0; j < COLOURS; j++)
            colour[j] = *reinterpret_cast<const uint32_t *>(planes + j * plane_of(s) + r * STRIP +
                                                            i % WORDS / COLOURS * WORD);
        const uint32_t word = join_channels(colour, i % COLOURS);
        unsigned char *to = output_row(s, tile, r) + tile.x * COLOURS + at;
        if (s.words_out && at + WORD <= left)
            *reinterpret_cast<uint32_t *>(to) = word;
        else
            for (int j = 0; j < WORD && at + j < left; j++)
                to[j] = static_cast<unsigned char>(word >> 8 * j);
    }
}

template <int BYTES>
__device__ void store(const Large<BYTES> &s, const Tile &tile, const Number<BYTES> (&v)[OWN])
{
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int r = static_cast<int>(threadIdx.x) / 32 * ROWS + i / (HALVES * SUMS);
        const int x = tile.x + column_of(i / SUMS % HALVES, i % SUMS);
        if (r < tile.rows && x < s.out_width)
            gf_store(output_row(s, tile, r), static_cast<size_t>(x) * s.channels + tile.channel,
                     v[i], s.finish.out);
    }
}

/* What follows on the sums of a channel. */
template <int BYTES, int ALL>
__device__ void finish(const Large<BYTES> &s, int channel,
                       const int (&sums)[ROWS][HALVES][ALL][SUMS], Number<BYTES> (&v)[OWN])
{
    const bool colour = channel < s.post_channels;
    const Number<BYTES> offset = !s.finished || colour ? s.offset : s.bare_offset;
#pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int(&own)[ALL][SUMS] = sums[i / (HALVES * SUMS)][i / SUMS % HALVES];
        if constexpr (BYTES == 1)
            v[i] = fmaf(join(own, i % SUMS), s.scale, offset);
        else
            v[i] = fma(join_words(own, i % SUMS), s.scale, offset);
    }
    if (!s.finished) {
        gf_combine_alone(s.finish, v);
        gf_post_each(s.finish, v, [&](int) { return colour; });
    }
}

/* A tile of opacity: the samples under the anchor. */
template <int BYTES> __device__ void copy(const Large<BYTES> &s, const Tile &tile)
{
    for (int i = threadIdx.x; i < tile.rows * STRIP; i += THREADS) {
        const int r = i / STRIP, x = tile.x + i % STRIP;
        if (x >= s.out_width)
            continue;
        const uint8_t *row = locate(s, tile, r + s.anchor_y);
        const long long at = gf_border_index(x + s.origin_x + s.anchor_x, s.in_width, s.border);
        unsigned sample = s.border_word & ((1u << 8 * BYTES) - 1);
        if (row && at >= 0)
            sample = reinterpret_cast<const Sample<BYTES> *>(row)[at * s.channels + tile.channel];
        gf_store(output_row(s, tile, r), static_cast<size_t>(x) * s.channels + tile.channel,
                 static_cast<Number<BYTES>>(sample) * s.finish.gain, s.finish.out);
    }
}

/* ---- the kernel ---- */

/* Of a multiprocessor, which bounds a thread's registers. */
template <int PLANES, int BYTES>
constexpr int BLOCKS = PLANES == 1  ? (BYTES == 1 ? 5 : 3)
                       : BYTES == 1 ? 3
                                    : 2;

/* A block's shared memory: two chunks, where the input's rows are, the input. */
struct Shared {
    uint2 *chunks;
    const uint8_t **rows;
    uint8_t *pixels;
};

template <int PLANES, int BYTES> __device__ Shared find_shared(const Large<BYTES> &s, uint4 *memory)
{
    Shared shared;
    shared.chunks = reinterpret_cast<uint2 *>(memory);
    shared.rows =
        reinterpret_cast<const uint8_t **>(shared.chunks + 2 * s.chunk * PLANES * ROW_VECTORS);
    shared.pixels = reinterpret_cast<uint8_t *>(shared.rows + s.tile_rows);
    return shared;
}

template <int PLANES, int BYTES>
__global__ void __launch_bounds__(THREADS, (BLOCKS<PLANES, BYTES>))
    tensor_large(const __grid_constant__ Large<BYTES> s)
{
    GF_BLOCK_MEMORY(uint4, memory);
    const Shared shared = find_shared<PLANES>(s, memory);
    const Tile tile = find_tile(s);
    if (s.keep_alpha && tile.channel == s.channels - 1) {
        gf_wait_for_stream();
        return copy(s, tile);
    }
    Chunks two = begin_chunks<PLANES>(s, shared.chunks);
    gf_wait_for_stream();
    Sums<PLANES, BYTES> sums = {};
    sum_up<false, PLANES>(s, two, shared.pixels, sums, [&](int first) {
        __syncthreads();
        find_rows(s, tile, first, shared.rows);
        __syncthreads();
        fill(s, tile, shared.rows, shared.pixels);
    });
    Number<BYTES> v[OWN];
    finish(s, tile.channel, sums, v);
    if (s.words_out && tile.x + STRIP <= s.out_width)
        store_words(s, tile, v);
    else
        store(s, tile, v);
}

/* The channels of RGB one after the other, in one pass each. */
template <int PLANES>
__global__ void __launch_bounds__(THREADS, (BLOCKS<PLANES, 1>))
    tensor_large_colours(const __grid_constant__ Large<1> s)
{
    GF_BLOCK_MEMORY(uint4, memory);
    const Shared shared = find_shared<PLANES>(s, memory);
    const Tile tile = find_tile(s);
    Chunks two = begin_chunks<PLANES>(s, shared.chunks);
    find_rows(s, tile, 0, shared.rows);
    gf_wait_for_stream();
    __syncthreads();
    fill_all(s, tile, shared.rows, shared.pixels);
#pragma unroll 1
    for (int channel = 0; channel < COLOURS; channel++) {
        uint8_t *const plane = shared.pixels + channel * plane_of(s);
        Sums<PLANES, 1> sums = {};
        sum_up<true, PLANES>(s, two, plane, sums, [](int) {});
        float v[OWN];
        finish(s, channel, sums, v);
        __syncthreads();
        each_word(v, [&](int r, int column, uint32_t word) {
            *reinterpret_cast<uint32_t *>(plane + r * STRIP + column) = word;
        });
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    store_colours(s, tile, shared.pixels);
}

/* ---- the launcher ---- */

/* Where nothing but the gain follows on the sums, it is part of their scale and offset, as the unit
 * is. */
template <int BYTES> void fold(const GfStep *step, double unit, Large<BYTES> *s)
{
    const GfLinear *linear = &step->linear;
    s->finished = gf_tensor_finishes(step);
    const double gain = s->finished ? step->gain : 1.0, mid = s->finished ? step->mid : 0.0;
    s->scale = static_cast<Number<BYTES>>(linear->scale * gain * unit);
    s->bare_offset = static_cast<Number<BYTES>>(linear->offset * gain);
    s->offset = static_cast<Number<BYTES>>(linear->offset * gain + mid);
}

template <int BYTES>
Large<BYTES> describe(const GfLaunch *launch, const GfTensorState *state, size_t sharers)
{
    const GfStep *step = launch->step;
    Large<BYTES> s = {};
    s.in = launch->in;
    s.out = launch->out;
    s.y0 = launch->y0;
    s.y1 = launch->y1;
    s.in_width = static_cast<long long>(step->in_width);
    s.in_height = static_cast<long long>(step->in_height);
    s.origin_x = step->origin_x;
    s.origin_y = step->origin_y;
    s.anchor_x = static_cast<int>(step->linear.anchor_x);
    s.anchor_y = static_cast<int>(step->linear.anchor_y);
    s.out_width = static_cast<int>(step->out_width);
    s.channels = static_cast<int>(step->channels);
    s.post_channels = static_cast<int>(step->post_channels);
    s.strips = gf_divide_up(static_cast<unsigned>(step->out_width), static_cast<unsigned>(STRIP));
    s.height = static_cast<int>(step->linear.height);
    s.rows = static_cast<int>(state->large.rows);
    s.groups = static_cast<int>(state->large.groups);
    s.ends_half = gf_large_ends_half(&step->linear);
    s.chunk = static_cast<int>(gf_large_chunk(state->large.planes));
    s.pitch = static_cast<int>(gf_large_pitch(&step->linear));
    s.pass = static_cast<int>(gf_large_pass(&step->linear, BYTES, state->large.planes));
    s.tile_rows = static_cast<int>(
        gf_large_tile_rows(gf_large_pass(&step->linear, BYTES, state->large.planes)));
    s.keep_alpha = step->keep_alpha;
    const bool whole = sharers == 1;
    s.sharers = static_cast<unsigned>(sharers);
    s.words_in = whole && gf_aligned(s.in.samples, s.in.stride, s.in.batch, WORD);
    s.words_out = whole && step->out == step->in &&
                  gf_aligned(s.out.samples, s.out.stride, s.out.batch, WORD);
    s.border = step->border;
    if (step->border == GF_BORDER_CONSTANT)
        s.border_word =
            static_cast<uint32_t>(step->border_value) * (BYTES == 1 ? 0x01010101u : 0x00010001u);
    s.finish = gf_finish<Number<BYTES>>(step);
    s.words = reinterpret_cast<const uint2 *>(state->large_words);
    fold(step, state->large.unit, &s);
    return s;
}

size_t tiles_of(const GfLaunch *launch)
{
    return gf_divide_up(launch->step->out_width, static_cast<size_t>(STRIP)) *
           gf_divide_up(launch->y1 - launch->y0, static_cast<size_t>(GF_LARGE_ROWS));
}

/* Launches with so many blocks to a tile, each of which has `planes` of its samples' bytes. */
template <int PLANES, int BYTES>
cudaError_t run_kernel(const GfLaunch *launch, cudaStream_t stream, void (*kernel)(Large<BYTES>),
                       size_t sharers, size_t planes)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    const Large<BYTES> s = describe<BYTES>(launch, state, sharers);
    const size_t bytes =
        gf_large_bytes(&launch->step->linear, planes, PLANES, static_cast<size_t>(s.pass));
    const size_t blocks = tiles_of(launch) * sharers;
    /* More than a grid may have are none: the launch fails. */
    const dim3 grid(blocks > INT32_MAX ? 0 : static_cast<unsigned>(blocks),
                    static_cast<unsigned>(launch->count));
    return gf_launch_early(kernel, gf_spread(kernel, {grid, THREADS, bytes}), stream, s);
}

/* Is it RGB of which there are enough tiles for blocks that have all channels, and room for two
 * such blocks on a multiprocessor? On an H200 512 x 512 pixels are too few, 1024 x 1024 are enough;
 * for kernels of 63 x 63 there is just room (bench/results/2026-11-26-h200-3.md). */
template <int PLANES> bool shares_pixels(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const size_t rows = gf_large_rows(&step->linear);
    return step->channels == COLOURS && step->out == GF_U8 && !step->keep_alpha &&
           gf_large_pass(&step->linear, 1, PLANES) == rows &&
           gf_large_bytes(&step->linear, COLOURS, PLANES, rows) <= gf_shared_limit() / 2 &&
           2 * tiles_of(launch) * launch->count >= 3 * gf_multiprocessors();
}

template <int PLANES, int BYTES> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    if constexpr (BYTES == 1) {
        if (shares_pixels<PLANES>(launch))
            return run_kernel<PLANES, 1>(launch, stream, tensor_large_colours<PLANES>, 1, COLOURS);
    }
    return run_kernel<PLANES, BYTES>(launch, stream, tensor_large<PLANES, BYTES>,
                                     launch->step->channels, BYTES);
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_large(const GfLaunch *launch, cudaStream_t stream)
{
    const bool one = static_cast<const GfTensorState *>(launch->state)->large.planes == 1;
    if (launch->tiling > 0)
        return cudaErrorNotSupported;
    if (launch->step->in == GF_U8)
        return one ? run<1, 1>(launch, stream) : run<3, 1>(launch, stream);
    return one ? run<1, 2>(launch, stream) : run<3, 2>(launch, stream);
}
