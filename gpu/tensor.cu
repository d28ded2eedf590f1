/* Method `tensor`: banks on pictures of 8 bits as products of matrices of bytes, which tensor cores
 * make; exact, since the weights are integers in one plane of signed bytes or in three (gpu/launch.h).
 * The pixels flow as in algorithm 1 of Chen, Chen, Chen and Hu, "Optimizing Memory Efficiency for
 * Convolution Kernels on Kepler GPUs" (DAC 2017): each is read once and its rows roll through
 * registers. (The matrices are beyond the sources.)
 *
 * A warp owns a strip of 128 samples and walks down its rows. The strip is 16 blocks of 8 samples,
 * the rows of the first matrix; a lane holds, of two blocks, one word of each 16 bytes of an input
 * row. These words are the matrix as they come from memory: nothing is converted or shifted. An
 * output row is the sum over the kernel's rows of what they make with the second matrix, whose
 * words stay in registers. ROWS output rows are made at a time, while AHEAD times as many input
 * rows are on their way to the warp's ring in shared memory. Sums begin with 1.5 * 2^23 in a
 * float's bits, so that they are floats without a conversion.
 *
 * A kernel that is a product of a column and a row leaves only the row to the tensor cores and the
 * column to multiply-adds in f32: its sums roll, a row is added to all of those that are under
 * way.
 *
 * Costs for a sample: one read (but for the halo: a kernel's width a strip, its height a chunk of
 * rows), one write; 32 bytes' products for each filter, plane, row of taps and 16 bytes that a
 * block reaches over, where height * width multiply-adds were asked for. */
#include <cuda_pipeline.h>

#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 2, THREADS = 32 * WARPS;
constexpr int ROWS = 4;                 /* output rows at a time */
constexpr int AHEAD = 3;                /* batches of ROWS input rows on their way */
constexpr int BLOCK = 8, STRIP = 128;   /* samples */
constexpr int SUMS = 4;                 /* of a lane for a row of a strip */
constexpr int WORD = 4, GROUP = 16;     /* bytes; a lane has a word of a group */
constexpr size_t WAVES = 3;             /* of warps, so that the last are not waited for long */
constexpr size_t MOST_PICTURES = 65535; /* of a launch: what grid.y holds */
constexpr float START = 12582912.0f;    /* GF_TENSOR_START as a float */

/* ---- what a launch is told ---- */

struct Tensor {
    GfRows in;
    GfOutRows out;
    size_t y0, y1;
    long long in_width, in_height, origin_y;
    int in_samples, out_samples, channels;
    int first_byte; /* of a block's window, from the block's own first */
    int last_row;   /* of the taps */
    int block_rows;
    unsigned strips, chunks;
    int post_channels;
    bool keep_alpha;
    bool finished;              /* scale and offset have all that follows in them */
    bool vectors_in, pairs_out; /* lie in memory as they are accessed */
    GfBorder border;
    uint32_t border_word;
    float scale[GF_TENSOR_FILTERS], offset[GF_TENSOR_FILTERS];
    float bare_offset;             /* of an opacity that is filtered like colours */
    float kept_scale, kept_offset; /* of one that is copied */
    float column[GF_TENSOR_SIDE];
    GfFinish<float> finish;
    const uint32_t *words; /* the second matrix */
};

/* ---- a warp's strip ---- */

/* Bytes of a row that a strip's blocks reach over, and how many aligned vectors of 16 those lie in. */
template <int GROUPS> constexpr int WINDOW = STRIP - BLOCK + GROUPS *GROUP;
template <int GROUPS> constexpr int VECTORS = (WINDOW<GROUPS> + 12 + 15) / 16;

/* What a warp has in shared memory: batches of ROWS input rows, of which all but one are on their way;
 * and at the picture's edge, for each byte of the window, its place in a row by the border's rule, -1
 * for the constant. */
template <int GROUPS> struct Ring {
    uint4 rows[AHEAD + 1][ROWS][VECTORS<GROUPS>];
    int places[WINDOW<GROUPS>];
};

/* Where a warp works. Input row 0 is that of the first tap for its first output row. */
struct Walk {
    size_t top; /* its first output row */
    int rows;   /* output rows */
    int strip;  /* its first sample */
    int lead;   /* bytes of a row's vectors before the first that is needed */
    int end;    /* input rows that are needed */
    bool edge;  /* a row's vectors do not all lie on the picture, or are not aligned */
    bool whole; /* all samples of the strip are outputs, stored in pairs */
    bool plain; /* and all rows lie on the picture, one after the other */
};

/* Of a plain strip, the vectors of input rows 0 to ROWS - 1 that a lane copies, one a turn. */
template <int GROUPS> constexpr int TURNS = (ROWS * VECTORS<GROUPS> + 31) / 32;
template <int GROUPS> struct Copies {
    const uint8_t *from[TURNS<GROUPS>];
};

/* The places of the window's bytes. */
template <int GROUPS> __device__ void map_window(const Tensor &s, int left, Ring<GROUPS> &ring)
{
#pragma unroll 1
    for (int j = threadIdx.x % 32; j < WINDOW<GROUPS>; j += 32) {
        const int sample = left + j;
        const int pixel = (sample - (sample < 0 ? s.channels - 1 : 0)) / s.channels;
        const long long x = gf_border_index(pixel, s.in_width, s.border);
        ring.places[j] =
            x < 0 ? -1 : static_cast<int>(x) * s.channels + (sample - pixel * s.channels);
    }
    __syncwarp();
}

/* Warps are numbered so that those at the sides of the picture, which take longest, begin first. */
__device__ void place(const Tensor &s, unsigned unit, unsigned *strip, unsigned *chunk)
{
    const unsigned sides = min(s.strips, 2u), inner = s.strips - sides;
    if (unit < sides * s.chunks) {
        *strip = unit % sides * (s.strips - 1);
        *chunk = unit / sides;
        return;
    }
    unit -= sides * s.chunks;
    *strip = 1 + unit % inner;
    *chunk = unit / inner;
}

/* False: there is nothing left for this warp. */
template <int GROUPS>
__device__ bool begin(const Tensor &s, Ring<GROUPS> &ring, Walk *w, Copies<GROUPS> *copies)
{
    const unsigned unit =
        __shfl_sync(~0u, blockIdx.x * WARPS + static_cast<unsigned>(threadIdx.x) / 32, 0);
    unsigned strip, chunk;
    if (unit >= s.strips * s.chunks)
        return false;
    place(s, unit, &strip, &chunk);
    w->top = s.y0 + static_cast<size_t>(chunk) * s.block_rows;
    w->rows = static_cast<int>(min(s.y1 - w->top, static_cast<size_t>(s.block_rows)));
    w->strip = static_cast<int>(strip) * STRIP;
    w->end = w->rows + s.last_row;
    w->whole = s.pairs_out && w->strip <= s.out_samples - STRIP;
    const int left = w->strip + s.first_byte;
    w->lead = left & 15;
    w->plain = false;
    w->edge =
        !s.vectors_in || left < w->lead || left - w->lead > s.in_samples - 16 * VECTORS<GROUPS>;
    if (w->edge) {
        map_window<GROUPS>(s, left, ring);
        return true;
    }
    const long long y = static_cast<long long>(w->top) + s.origin_y;
    size_t i = static_cast<size_t>(y) - s.in.first;
    i -= i >= s.in.capacity ? s.in.capacity : 0;
    w->plain = y >= 0 && y + w->end <= s.in_height && i + w->end <= s.in.capacity;
    const uint8_t *first = static_cast<const uint8_t *>(s.in.samples) + i * s.in.stride +
                           blockIdx.y * s.in.batch + (left - w->lead);
#pragma unroll
    for (int t = 0; t < TURNS<GROUPS>; t++) {
        const int own = threadIdx.x % 32 + t * 32, row = own / VECTORS<GROUPS>;
        copies->from[t] =
            first + row * static_cast<long long>(s.in.stride) + own % VECTORS<GROUPS> * 16;
    }
    return true;
}

/* ---- reading ---- */

/* Of the first ROWS lanes, each its input row r + lane; NULL: the border's constant, or nothing that
 * counts. */
__device__ const uint8_t *input_row(const Tensor &s, const Walk &w, int r)
{
    const int lane = threadIdx.x % 32;
    if (lane >= ROWS || r + lane < 0 || r + lane >= w.end)
        return nullptr;
    const long long y = gf_border_index(static_cast<long long>(w.top) + s.origin_y + r + lane,
                                        s.in_height, s.border);
    return y < 0 ? nullptr
                 : gf_row<uint8_t>(s.in, static_cast<size_t>(y)) + blockIdx.y * s.in.batch;
}

/* The row of lane i. */
__device__ const uint8_t *row_of(const uint8_t *own, int i)
{
    return reinterpret_cast<const uint8_t *>(
        __shfl_sync(~0u, reinterpret_cast<unsigned long long>(own), i));
}

/* Rows of a strip at the picture's edge, byte by byte. */
template <int GROUPS>
__device__ void fill_edge(const Tensor &s, const Walk &w, const uint8_t *own, const int *places,
                          uint4 (*to)[VECTORS<GROUPS>])
{
    constexpr int TURNS = (WINDOW<GROUPS> + 31) / 32, HALF = ROWS / 2;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < ROWS; half += HALF) {
        uint8_t byte[HALF][TURNS];
#pragma unroll
        for (int i = 0; i < TURNS * HALF; i++) {
            const uint8_t *row = row_of(own, half + i / TURNS);
            const int at = lane + i % TURNS * 32, place = at < WINDOW<GROUPS> ? places[at] : -1;
            byte[i / TURNS][i % TURNS] = static_cast<uint8_t>(s.border_word);
            if (row && place >= 0)
                byte[i / TURNS][i % TURNS] = row[place];
        }
#pragma unroll
        for (int i = 0; i < TURNS * HALF; i++)
            if (lane + i % TURNS * 32 < WINDOW<GROUPS>)
                reinterpret_cast<uint8_t *>(to[half + i / TURNS])[w.lead + lane + i % TURNS * 32] =
                    byte[i / TURNS][i % TURNS];
    }
}

/* Rows that the border maps to others, or that are not one after the other in memory. */
template <int GROUPS>
__device__ void fill_mapped(const Tensor &s, const Walk &w, const uint8_t *own,
                            uint4 (*to)[VECTORS<GROUPS>])
{
#pragma unroll
    for (int t = 0; t < TURNS<GROUPS>; t++) {
        const int i = threadIdx.x % 32 + t * 32, row = i / VECTORS<GROUPS>;
        const uint8_t *from = row_of(own, row % ROWS);
        if (row < ROWS && from)
            __pipeline_memcpy_async(
                &to[0][i], from + (w.strip + s.first_byte - w.lead) + i % VECTORS<GROUPS> * 16, 16);
        else if (row < ROWS)
            to[0][i] = make_uint4(s.border_word, s.border_word, s.border_word, s.border_word);
    }
}

/* Sends input rows [r, r + ROWS) on their way to the ring's place for that batch. */
template <int GROUPS>
__device__ void fill(const Tensor &s, const Walk &w, const Copies<GROUPS> &copies, int r, int batch,
                     Ring<GROUPS> &ring)
{
    uint4(*to)[VECTORS<GROUPS>] = ring.rows[batch % (AHEAD + 1)];
    if (w.plain && r >= 0 && r + ROWS <= w.end) {
#pragma unroll
        for (int t = 0; t < TURNS<GROUPS>; t++)
            if (threadIdx.x % 32 + t * 32 < ROWS * VECTORS<GROUPS>)
                __pipeline_memcpy_async(&to[0][threadIdx.x % 32 + t * 32],
                                        copies.from[t] + r * static_cast<long long>(s.in.stride),
                                        16);
    } else {
        const uint8_t *own = input_row(s, w, r);
        if (w.edge)
            fill_edge<GROUPS>(s, w, own, ring.places, to);
        else
            fill_mapped<GROUPS>(s, w, own, to);
    }
    __pipeline_commit();
}

/* This lane's words of a batch that has come: of each row and group, for its two blocks. */
template <int GROUPS>
__device__ void read_rows(const Walk &w, int batch, const Ring<GROUPS> &ring, uint32_t (*x)[2])
{
    const int lane = threadIdx.x % 32;
    const int first = w.lead + lane / 4 * BLOCK + lane % 4 * WORD;
#pragma unroll
    for (int i = 0; i < ROWS * GROUPS * 2; i++) {
        const auto row =
            reinterpret_cast<const uint8_t *>(ring.rows[batch % (AHEAD + 1)][i / (GROUPS * 2)]);
        x[i / 2][i % 2] = *reinterpret_cast<const uint32_t *>(row + first + i / 2 % GROUPS * GROUP +
                                                              i % 2 * (STRIP / 2));
    }
}

/* Waits for a batch, then sends the one after all that are on their way. Batch 0 begins so far above
 * input row 0 that a batch is the last that ROWS output rows need. */
template <int HEIGHT> constexpr int ABOVE = (HEIGHT - 1 + ROWS - 1) / ROWS *ROWS;

template <int HEIGHT, int GROUPS>
__device__ void fill_first(const Tensor &s, const Walk &w, const Copies<GROUPS> &copies,
                           Ring<GROUPS> &ring)
{
    for (int batch = 0; batch < AHEAD; batch++)
        fill<GROUPS>(s, w, copies, HEIGHT - 1 - ABOVE<HEIGHT> + batch * ROWS, batch, ring);
}

template <int HEIGHT, int GROUPS>
__device__ void next_rows(const Tensor &s, const Walk &w, const Copies<GROUPS> &copies, int first,
                          Ring<GROUPS> &ring, uint32_t (*x)[2])
{
    const int batch = (first + ABOVE<HEIGHT>) / ROWS;
    __pipeline_wait_prior(AHEAD - 1);
    __syncwarp();
    read_rows<GROUPS>(w, batch, ring, x);
    fill<GROUPS>(s, w, copies, first + HEIGHT - 1 + AHEAD * ROWS, batch + AHEAD, ring);
}

/* ---- products ---- */

__device__ float as_float(int sum)
{
    return __int_as_float(sum);
}

/* What SLOTS words of two blocks make with as many of the second matrix. Of an odd number of slots
 * one is multiplied alone: the first where FIRST is set, so that neighbouring rows, which pair the
 * same slots, find them in the same registers (but hold the second matrix in pairs of two kinds). */
template <bool FIRST, int SLOTS>
__device__ void multiply(const uint32_t (*x)[2], const uint32_t (&words)[SLOTS], int (&sums)[SUMS])
{
    constexpr int ALONE = SLOTS % 2 == 0 ? -1 : FIRST ? 0 : SLOTS - 1;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sums[i] = GF_TENSOR_START;
    if constexpr (ALONE >= 0)
        gf_multiply_16(sums, x[ALONE], words[ALONE]);
#pragma unroll
    for (int i = ALONE == 0 ? 1 : 0; i + 1 < SLOTS; i += 2) {
        const uint32_t a[4] = {x[i][0], x[i][1], x[i + 1][0], x[i + 1][1]};
        const uint32_t b[2] = {words[i], words[i + 1]};
        gf_multiply_32(sums, a, b);
    }
}

/* The number that planes' sums stand for, in units, and 257 * START more where there are three: the
 * offset takes that away again. */
template <int PLANES> __device__ float join(const int (&sums)[PLANES][SUMS], int i)
{
    if constexpr (PLANES == 1)
        return as_float(sums[0][i]) - START;
    else
        return fmaf(65536.0f, as_float(sums[2][i]) - START,
                    fmaf(256.0f, as_float(sums[1][i]), as_float(sums[0][i])));
}

template <int COUNT> __device__ void read_words(const uint32_t *from, uint32_t (&words)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        words[i] = from[i * 32 + threadIdx.x % 32];
}

/* ---- from sums to samples ---- */

/* Sample i of a lane's four in a row, counted from its strip. */
__device__ int sample_of(int i)
{
    const int lane = threadIdx.x % 32;
    return i / 2 * (STRIP / 2) + lane / 4 * BLOCK + lane % 4 * 2 + i % 2;
}

__device__ int channel_of(const Tensor &s, int i)
{
    return s.channels == 3 ? 0 : sample_of(i) & (s.channels - 1);
}

template <int FILTERS>
__device__ void finish_samples(const Tensor &s, float (&v)[FILTERS][ROWS * SUMS])
{
    if constexpr (FILTERS == 2)
        gf_combine_each(s.finish, v[0], v[1]);
    else
        gf_combine_alone(s.finish, v[0]);
    gf_post_each(s.finish, v[0], [&](int i) { return channel_of(s, i % SUMS) < s.post_channels; });
}

template <typename Out> struct alignas(2 * sizeof(Out)) Pair {
    Out sample[2];
};

template <typename Out> __device__ Out convert(float v)
{
    if constexpr (sizeof(Out) == 1)
        return static_cast<Out>(gf_round_byte(v));
    else
        return gf_convert<Out>(v);
}

/* Where output row `first` of the warp begins. */
__device__ unsigned char *output_row(const Tensor &s, const Walk &w, int first)
{
    return static_cast<unsigned char *>(s.out.samples) + (w.top - s.y0 + first) * s.out.stride +
           blockIdx.y * s.out.batch;
}

/* Stores ROWS whole rows of a strip. */
template <typename Out>
__device__ void store_pairs(const Tensor &s, const Walk &w, int first,
                            const float (&v)[ROWS * SUMS])
{
    unsigned char *row = output_row(s, w, first) + (w.strip + sample_of(0)) * sizeof(Out);
#pragma unroll
    for (int r = 0; r < ROWS; r++, row += s.out.stride)
#pragma unroll
        for (int i = 0; i < SUMS; i += 2)
            reinterpret_cast<Pair<Out> *>(row)[i * (STRIP / 8)] = {
                convert<Out>(v[r * SUMS + i]), convert<Out>(v[r * SUMS + i + 1])};
}

/* Stores output rows [first, first + ROWS) as far as there are. */
__device__ void store(const Tensor &s, const Walk &w, int first, const float (&v)[ROWS * SUMS])
{
    if (!w.whole || first + ROWS > w.rows) {
#pragma unroll
        for (int i = 0; i < ROWS * SUMS; i++) {
            const int sample = w.strip + sample_of(i % SUMS);
            if (first + i / SUMS < w.rows && sample < s.out_samples)
                gf_store(output_row(s, w, first + i / SUMS), static_cast<size_t>(sample), v[i],
                         s.finish.out);
        }
    } else if (s.finish.out == GF_U8) {
        store_pairs<uint8_t>(s, w, first, v);
    } else if (s.finish.out == GF_U16) {
        store_pairs<uint16_t>(s, w, first, v);
    } else {
        store_pairs<float>(s, w, first, v);
    }
}

/* ---- the kernels ---- */

/* A thread's registers: so many words that stay there, and others. (Left to itself the compiler asks for
 * fewer than do without spills.) */
constexpr int registers(int words)
{
    constexpr int OTHERS = 84;
    return (words + OTHERS + 7) / 8 * 8;
}

template <int HEIGHT, int GROUPS, int PLANES, int FILTERS>
constexpr int REGISTERS = registers(
    (HEIGHT - 1 + ROWS) * GROUPS * 2 + (FILTERS - 1) * ROWS * SUMS +
    FILTERS * PLANES * (HEIGHT * GROUPS + (GROUPS == 1 && HEIGHT * PLANES <= 5 ? HEIGHT / 2 : 0)));
template <int HEIGHT, int GROUPS, int PLANES>
constexpr int REGISTERS_OF_ROWS = registers(ROWS *GROUPS * 2 + PLANES * GROUPS + SUMS * HEIGHT);

/* HEIGHT rows of taps, GROUPS * 16 bytes of each. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS>
__global__ void __maxnreg__((REGISTERS<HEIGHT, GROUPS, PLANES, FILTERS>))
    tensor(const __grid_constant__ Tensor s)
{
    constexpr int SLOTS = HEIGHT * GROUPS;
    __shared__ Ring<GROUPS> rings[WARPS];
    Ring<GROUPS> &ring = rings[threadIdx.x / 32];
    Walk w;
    Copies<GROUPS> copies;
    if (!begin<GROUPS>(s, ring, &w, &copies))
        return;
    fill_first<HEIGHT, GROUPS>(s, w, copies, ring);
    uint32_t words[FILTERS][PLANES][SLOTS];
#pragma unroll
    for (int i = 0; i < FILTERS * PLANES; i++)
        read_words(s.words + i * SLOTS * 32, words[i / PLANES][i % PLANES]);
    uint32_t x[(HEIGHT - 1 + ROWS) * GROUPS][2] = {};
    float scale[FILTERS][2], offset[FILTERS][2]; /* of even and odd samples */
#pragma unroll
    for (int i = 0; i < FILTERS * 2; i++) {
        const bool colour = !s.finished || channel_of(s, i % 2) < s.post_channels;
        const bool kept = s.keep_alpha && channel_of(s, i % 2) == s.channels - 1;
        scale[i / 2][i % 2] = kept ? s.kept_scale : s.scale[i / 2];
        offset[i / 2][i % 2] = kept ? s.kept_offset : colour ? s.offset[i / 2] : s.bare_offset;
    }
    for (int first = -ABOVE<HEIGHT>; first < w.rows; first += ROWS) {
#pragma unroll
        for (int i = 0; i < (HEIGHT - 1) * GROUPS * 2; i++)
            x[i / 2][i % 2] = x[i / 2 + ROWS * GROUPS][i % 2];
        next_rows<HEIGHT, GROUPS>(s, w, copies, first, ring, x + (HEIGHT - 1) * GROUPS);
        if (first < 0)
            continue;
        float v[FILTERS][ROWS * SUMS];
#pragma unroll
        for (int i = 0; i < ROWS * FILTERS; i++) {
            const int r = i / FILTERS, f = i % FILTERS;
            int sums[PLANES][SUMS];
#pragma unroll
            for (int p = 0; p < PLANES; p++)
                if (r % 2 == 0 || HEIGHT * PLANES > 5)
                    multiply<false>(x + r * GROUPS, words[f][p], sums[p]);
                else
                    multiply<true>(x + r * GROUPS, words[f][p], sums[p]);
#pragma unroll
            for (int j = 0; j < SUMS; j++)
                v[f][r * SUMS + j] = fmaf(join(sums, j), scale[f][j % 2], offset[f][j % 2]);
        }
        if constexpr (PLANES == 1)
            if (!s.finished)
                finish_samples(s, v);
        store(s, w, first, v[0]);
    }
}

/* Adds a filtered row to the sums under way: sums[j] have seen j rows so far. */
template <int HEIGHT>
__device__ void add_row(const Tensor &s, const float (&h)[SUMS], float (&sums)[HEIGHT][SUMS],
                        float *done)
{
#pragma unroll
    for (int j = HEIGHT - 1; j >= 0; j--)
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
            const float sum = j ? fmaf(s.column[j], h[i], sums[j][i]) : s.column[0] * h[i];
            (j == HEIGHT - 1 ? done[i] : sums[(j + 1) % HEIGHT][i]) = sum;
        }
}

/* Products of a column of HEIGHT taps and a row. */
template <int HEIGHT, int GROUPS, int PLANES>
__global__ void __maxnreg__((REGISTERS_OF_ROWS<HEIGHT, GROUPS, PLANES>))
    tensor_rows(const __grid_constant__ Tensor s)
{
    __shared__ Ring<GROUPS> rings[WARPS];
    Ring<GROUPS> &ring = rings[threadIdx.x / 32];
    Walk w;
    Copies<GROUPS> copies;
    if (!begin<GROUPS>(s, ring, &w, &copies))
        return;
    fill_first<HEIGHT, GROUPS>(s, w, copies, ring);
    uint32_t words[PLANES][GROUPS];
#pragma unroll
    for (int p = 0; p < PLANES; p++)
        read_words(s.words + p * GROUPS * 32, words[p]);
    float sums[HEIGHT][SUMS] = {};
    /* Output rows above the first are summed too, in part, and dropped. */
    for (int first = -ABOVE<HEIGHT>; first < w.rows; first += ROWS) {
        uint32_t x[ROWS * GROUPS][2];
        next_rows<HEIGHT, GROUPS>(s, w, copies, first, ring, x);
        float v[1][ROWS * SUMS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int products[PLANES][SUMS];
            float h[SUMS];
#pragma unroll
            for (int p = 0; p < PLANES; p++)
                multiply<false>(x + r * GROUPS, words[p], products[p]);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                h[i] = join(products, i);
            add_row(s, h, sums, v[0] + r * SUMS);
        }
#pragma unroll
        for (int i = 0; i < ROWS * SUMS; i++)
            v[0][i] = fmaf(v[0][i], s.scale[0], s.offset[0]);
        if constexpr (PLANES == 1)
            if (!s.finished)
                finish_samples(s, v);
        if (first >= 0)
            store(s, w, first, v[0]);
    }
}

/* ---- the launcher ---- */

/* Where nothing but the gain follows on the sums, it is part of their scale and offset; so are the
 * unit of the integers, and what three planes' sums have too much. */
void fold(const GfStep *step, const GfTensor &plan, Tensor *s)
{
    const GfLinear *linear = &step->linear;
    s->finished = gf_tensor_finishes(step);
    const double gain = s->finished ? step->gain : 1.0, mid = s->finished ? step->mid : 0.0;
    double columns = plan.rows_only ? 0.0 : 1.0;
    for (size_t i = 0; plan.rows_only && i < linear->height; i++) {
        s->column[i] = static_cast<float>(linear->columns[i]);
        columns += static_cast<double>(s->column[i]);
    }
    const double extra = plan.planes > 1 ? 257.0 * static_cast<double>(START) : 0.0;
    for (size_t f = 0; f < plan.filters; f++) {
        s->scale[f] = static_cast<float>(linear->scale * gain * plan.unit[f]);
        const double bare =
            linear->offset * gain - extra * columns * static_cast<double>(s->scale[f]);
        s->bare_offset = static_cast<float>(bare);
        s->offset[f] = static_cast<float>(bare + mid);
    }
    s->kept_scale = static_cast<float>(gain / (plan.planes > 1 ? 65536.0 : 1.0)); /* last plane's */
    s->kept_offset = static_cast<float>(-extra * static_cast<double>(s->kept_scale));
}

Tensor describe(const GfLaunch *launch, const GfTensorState *state)
{
    const GfStep *step = launch->step;
    Tensor s = {};
    s.in = launch->in;
    s.out = launch->out;
    s.y0 = launch->y0;
    s.y1 = launch->y1;
    s.in_width = static_cast<long long>(step->in_width);
    s.in_height = static_cast<long long>(step->in_height);
    s.origin_y = step->origin_y;
    s.channels = static_cast<int>(step->channels);
    s.in_samples = static_cast<int>(step->in_width * step->channels);
    s.out_samples = static_cast<int>(step->out_width * step->channels);
    s.first_byte = state->plan.first_word * 4;
    s.last_row = static_cast<int>(step->linear.height) - 1;
    s.strips = static_cast<unsigned>(gf_divide_up(s.out_samples, STRIP));
    s.post_channels = static_cast<int>(step->post_channels);
    s.keep_alpha = step->keep_alpha;
    s.vectors_in = gf_aligned(s.in.samples, s.in.stride, s.in.batch, 16);
    s.pairs_out =
        gf_aligned(s.out.samples, s.out.stride, s.out.batch, 2 * gf_sample_size(step->out));
    s.border = step->border;
    if (step->border == GF_BORDER_CONSTANT)
        s.border_word = static_cast<uint32_t>(step->border_value) * 0x01010101u;
    s.finish = gf_finish<float>(step);
    s.words = state->words;
    fold(step, state->plan, &s);
    return s;
}

/* So many rows a warp that there are WAVES of them; no fewer than the kernel's height makes worth
 * while. */
void cut(const GfLaunch *launch, size_t warps_at_once, Tensor *s)
{
    const size_t rows = launch->y1 - launch->y0;
    const size_t strips = s->strips * launch->count;
    const size_t chunks = gf_divide_up(WAVES * warps_at_once, strips);
    const size_t least = 2 * launch->step->linear.height + 2;
    const size_t own = gf_divide_up(rows, chunks);
    s->block_rows = static_cast<int>(gf_divide_up(own < least ? least : own, size_t{ROWS})) * ROWS;
    s->chunks = static_cast<unsigned>(gf_divide_up(rows, static_cast<size_t>(s->block_rows)));
}

using Kernel = decltype(&tensor<3, 1, 1, 1>);

/* From the plan to its instance, one property after the other; NULL: there is none. */

template <int HEIGHT, int GROUPS> Kernel find_planes(const GfTensor &plan)
{
    const bool one = plan.planes == 1;
    if (plan.rows_only)
        return one ? tensor_rows<HEIGHT, GROUPS, 1> : tensor_rows<HEIGHT, GROUPS, 3>;
    if constexpr (GROUPS <= 2) {
        if (plan.filters == 1)
            return one ? tensor<HEIGHT, GROUPS, 1, 1> : tensor<HEIGHT, GROUPS, 3, 1>;
        if constexpr (HEIGHT <= 7)
            return one ? tensor<HEIGHT, GROUPS, 1, 2> : nullptr;
    }
    return nullptr;
}

template <int HEIGHT> Kernel find_groups(const GfTensor &plan)
{
    switch (plan.groups) {
    case 1:
        return find_planes<HEIGHT, 1>(plan);
    case 2:
        return find_planes<HEIGHT, 2>(plan);
    case 4:
        return find_planes<HEIGHT, 4>(plan);
    }
    return nullptr;
}

Kernel find_kernel(const GfTensor &plan)
{
    switch (plan.height) {
    case 3:
        return find_groups<3>(plan);
    case 5:
        return find_groups<5>(plan);
    case 7:
        return find_groups<7>(plan);
    case 9:
        return find_groups<9>(plan);
    case 11:
        return find_groups<11>(plan);
    case 13:
        return find_groups<13>(plan);
    case 15:
        return find_groups<15>(plan);
    }
    return nullptr;
}

} // namespace

extern "C" cudaError_t gf_launch_tensor(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    const Kernel kernel = state ? find_kernel(state->plan) : nullptr;
    if (!kernel)
        return cudaErrorNotSupported;
    int blocks_at_once = 0;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_at_once, kernel, THREADS, 0);
    if (error != cudaSuccess)
        return error;
    Tensor s = describe(launch, state);
    cut(launch, gf_multiprocessors() * WARPS * static_cast<size_t>(blocks_at_once), &s);
    const unsigned blocks = gf_divide_up(s.strips * s.chunks, static_cast<unsigned>(WARPS));
    for (size_t done = 0; done < launch->count; done += MOST_PICTURES) {
        const size_t left = launch->count - done;
        const dim3 grid(blocks, static_cast<unsigned>(left < MOST_PICTURES ? left : MOST_PICTURES));
        kernel<<<grid, THREADS, 0, stream>>>(s);
        s.in.samples = static_cast<const unsigned char *>(s.in.samples) + grid.y * s.in.batch;
        s.out.samples = static_cast<unsigned char *>(s.out.samples) + grid.y * s.out.batch;
    }
    return cudaGetLastError();
}
