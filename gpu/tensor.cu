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
 * Most strips lie wholly on the picture and are written as bytes: their loop does nothing else. The
 * rows of the others are found by the border's rule; what of a row lies in no whole vector of 16
 * bytes on the picture, the odd bytes, is fetched one by one.
 *
 * A kernel that is a product of a column and a row leaves only the row to the tensor cores and the
 * column to multiply-adds in f32: its sums roll, a row is added to all of those that are under
 * way.
 *
 * Of RGB, kernels wider than about 9 reach over more than the two groups of 16 bytes for which all rows
 * of a kernel have registers. Those go by channel: a strip is 128 pixels of one channel, a block 8, and
 * the second matrix that of a gray picture. The ring holds rows as they are in memory; a lane picks its
 * word of four samples from the 12 bytes of their pixels. Three warps side by side make the three
 * channels, so that what they write meets in L2.
 *
 * Costs for a sample: one read (but for the halo: a kernel's width a strip, its height a chunk of
 * rows; by channel two more, from the caches), one write; 32 bytes' products for each filter, plane,
 * row of taps and 16 bytes that a block reaches over, where height * width multiply-adds were asked
 * for. */
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
constexpr int RGB = 3;                  /* channels, of what goes by channel */
constexpr size_t WAVES = 3;             /* of warps, so that the last are not waited for long */
constexpr size_t MOST_PICTURES = 65535; /* of a launch: what grid.y holds */
constexpr float START = 12582912.0f;    /* GF_TENSOR_START as a float */

/* ---- what a launch is told ---- */

struct Tensor {
    GfRows in;
    GfOutRows out;
    size_t y0;
    long long in_width, in_height, origin_y;
    int in_samples, out_samples, channels;
    int first_byte; /* of a block's window, from the block's own first */
    int last_row;   /* of the taps */
    int above;      /* rows of taps that are computed, but one */
    GfWalks walks;
    int post_channels;
    bool keep_alpha;
    bool finished;              /* scale and offset have all that follows in them */
    bool simple;                /* to bytes, finished or magnitudes */
    float magnitude;            /* what lengths of two responses are multiplied by; 0: all else */
    bool vectors_in, pairs_out; /* lie in memory as they are accessed; by channel single samples */
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

/* A warp's samples lie CHANNELS apart in a row: 1, whatever the picture has, or RGB by channel. */

/* Bytes of a row that a strip's blocks reach over, and how many aligned vectors of 16 those lie in. */
template <int GROUPS, int CHANNELS>
constexpr int WINDOW = (STRIP - BLOCK + GROUPS * GROUP) * CHANNELS;
template <int GROUPS, int CHANNELS>
constexpr int VECTORS = (WINDOW<GROUPS, CHANNELS> + 12 + 15) / 16;

/* Copies of vectors that a lane makes for a batch, one a turn. */
template <int GROUPS, int CHANNELS>
constexpr int TURNS = (ROWS * VECTORS<GROUPS, CHANNELS> + 31) / 32;

/* What a warp has in shared memory: batches of ROWS input rows, of which all but one are on their way;
 * and, at the sides of the picture, where in a row the odd bytes are by the border's rule, -1 standing
 * for the constant. */
template <int GROUPS, int CHANNELS> struct Ring {
    uint4 rows[AHEAD + 1][ROWS][VECTORS<GROUPS, CHANNELS>];
    int places[WINDOW<GROUPS, CHANNELS>];
};

/* Where a warp works. Input row 0 is that of the first tap for its first output row. */
struct Walk {
    size_t top;      /* its first output row */
    int rows;        /* output rows */
    int strip;       /* its first sample, of all channels */
    int channel;     /* by channel */
    int start, lead; /* sample of a row's first vector; bytes of that before the window */
    bool simple;     /* whole rows, ROWS and ROWS, of bytes, and nothing rare to do with them */
    bool whole;      /* all samples of the strip are outputs, stored in pairs */
    bool plain;      /* all vectors lie on the picture, all rows one after the other */
    /* Else: vectors [first, end) lie on it; of the window's bytes the others hold, which are odd, those
     * up to `left` and from `right` on. */
    int first_vector, end_vector, odd, left, right;
};

/* The odd bytes of a strip's window, and their places. */
template <int GROUPS, int CHANNELS>
__device__ void find_odd(const Tensor &s, Walk *w, Ring<GROUPS, CHANNELS> &ring)
{
    const int window = w->start + w->lead; /* sample */
    const int needed =
        min(WINDOW<GROUPS, CHANNELS>, s.out_samples - w->strip + GROUPS * GROUP * CHANNELS);
    const int vectors = s.vectors_in ? s.in_samples / 16 - w->start / 16 : 0;
    w->first_vector = min(max(-w->start / 16, 0), VECTORS<GROUPS, CHANNELS>);
    w->end_vector = min(max(vectors, w->first_vector), VECTORS<GROUPS, CHANNELS>);
    w->left = min(max(w->first_vector * 16 - w->lead, 0), needed);
    w->right = min(max(w->end_vector * 16 - w->lead, w->left), needed);
    w->odd = needed - (w->right - w->left);
#pragma unroll 1
    for (int k = threadIdx.x % 32; k < w->odd; k += 32) {
        const int sample = window + (k < w->left ? k : k - w->left + w->right);
        const int pixel = (sample - (sample < 0 ? s.channels - 1 : 0)) / s.channels;
        const long long x = gf_border_index(pixel, s.in_width, s.border);
        ring.places[k] =
            x < 0 ? -1 : static_cast<int>(x) * s.channels + (sample - pixel * s.channels);
    }
    __syncwarp();
}

/* ---- its rows on their way ---- */

/* Batches are sent some AHEAD of the one that is worked on. Batch 0 begins so far above input row 0 that
 * a batch is the last that ROWS output rows need. */
template <int HEIGHT> constexpr int ABOVE = (HEIGHT - 1 + ROWS - 1) / ROWS *ROWS;

template <int GROUPS, int CHANNELS> struct Stream {
    const Tensor &s;
    const Walk &w;
    Ring<GROUPS, CHANNELS> &ring;
    int next_row;          /* input row where the next batch to be sent begins */
    int place, last_place; /* in the ring, of the next batch to be read, and before: bytes */
    const uint8_t
        *from[TURNS<GROUPS, CHANNELS>]; /* of a plain strip: of the next batch to be sent */
    unsigned pick, pick_third; /* by channel: bytes of two words, and of those and a third */

    static constexpr int BATCH = sizeof ring.rows[0];

    /* Sends the first batches. */
    __device__ Stream(const Tensor &tensor, const Walk &walk, Ring<GROUPS, CHANNELS> &own,
                      int first_row)
        : s(tensor), w(walk), ring(own), next_row(first_row), place(0), last_place(AHEAD * BATCH),
          pick(w.channel == 0   ? 0x0630
               : w.channel == 1 ? 0x0741
                                : 0x0052),
          pick_third(w.channel == 0   ? 0x5210
                     : w.channel == 1 ? 0x6210
                                      : 0x7410)
    {
        const long long y = static_cast<long long>(w.top) + s.origin_y;
        size_t i = static_cast<size_t>(y) - s.in.first;
        i -= i >= s.in.capacity ? s.in.capacity : 0;
        const uint8_t *row = static_cast<const uint8_t *>(s.in.samples) + i * s.in.stride +
                             blockIdx.y * s.in.batch + w.start;
#pragma unroll
        for (int t = 0; t < TURNS<GROUPS, CHANNELS>; t++)
            from[t] = row + (first_row + row_of_turn(t)) * static_cast<long long>(s.in.stride) +
                      vector_of_turn(t) * 16;
        send_plain_or_mapped(0, first_row);
#pragma unroll 1
        for (int batch = 1; batch < AHEAD; batch++)
            send_plain_or_mapped(batch * BATCH, 0);
    }

    static __device__ int row_of_turn(int t)
    {
        return (threadIdx.x % 32 + t * 32) / VECTORS<GROUPS, CHANNELS>;
    }

    static __device__ int vector_of_turn(int t)
    {
        return (threadIdx.x % 32 + t * 32) % VECTORS<GROUPS, CHANNELS>;
    }

    __device__ uint8_t *bytes() const
    {
        return reinterpret_cast<uint8_t *>(ring.rows);
    }

    /* Sends the next batch to a place in the ring. What its rows above input row 0 hold, from the `above`th
     * on, does not count: plain strips take some other row. */
    __device__ void send_plain_or_mapped(int to, int above)
    {
        if (w.plain) {
#pragma unroll
            for (int t = 0; t < TURNS<GROUPS, CHANNELS>; t++) {
                const uint8_t *vector =
                    from[t] + (above + row_of_turn(t) < 0 ? ROWS * s.in.stride : 0);
                if (row_of_turn(t) < ROWS)
                    gf_copy_vector(bytes() + to + (threadIdx.x % 32 + t * 32) * 16, vector);
                from[t] += ROWS * s.in.stride;
            }
        } else {
            send_mapped(to);
        }
        next_row += ROWS;
        __pipeline_commit();
    }

    /* Of the first ROWS lanes, each its row by the border's rule; NULL: the constant, or nothing that
     * counts. */
    __device__ const uint8_t *find_row() const
    {
        const int r = next_row + static_cast<int>(threadIdx.x % 32);
        if (threadIdx.x % 32 >= ROWS || r < 0 || r >= w.rows + s.last_row)
            return nullptr;
        const long long y =
            gf_border_index(static_cast<long long>(w.top) + s.origin_y + r, s.in_height, s.border);
        return y < 0 ? nullptr
                     : gf_row<uint8_t>(s.in, static_cast<size_t>(y)) + blockIdx.y * s.in.batch;
    }

    /* The row that lane i has found. */
    static __device__ const uint8_t *row_of(const uint8_t *found, int i)
    {
        return reinterpret_cast<const uint8_t *>(
            __shfl_sync(~0u, reinterpret_cast<unsigned long long>(found), i));
    }

    /* Any batch: vectors, then the odd bytes one by one. */
    __device__ void send_mapped(int to) const
    {
        const uint8_t *found = find_row(), *rows[ROWS];
        const uint4 border = make_uint4(s.border_word, s.border_word, s.border_word, s.border_word);
#pragma unroll
        for (int t = 0; t < TURNS<GROUPS, CHANNELS>; t++) {
            const int row = row_of_turn(t), vector = vector_of_turn(t);
            const uint8_t *own = row_of(found, row % ROWS);
            uint4 *there = reinterpret_cast<uint4 *>(bytes() + to) + threadIdx.x % 32 + t * 32;
            if (row >= ROWS || vector < w.first_vector || vector >= w.end_vector)
                continue;
            if (own)
                gf_copy_vector(there, own + w.start + vector * 16);
            else
                *there = border;
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            rows[r] = row_of(found, r);
#pragma unroll 1
        for (int k = threadIdx.x % 32; k < w.odd; k += 32) {
            const int place = ring.places[k];
            uint8_t byte[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                byte[r] = static_cast<uint8_t>(s.border_word);
                if (rows[r] && place >= 0)
                    byte[r] = rows[r][place];
            }
            uint8_t *there = bytes() + to + w.lead + (k < w.left ? k : k - w.left + w.right);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                there[r * VECTORS<GROUPS, CHANNELS> * 16] = byte[r];
        }
    }

    /* Four samples: a word as it is, or the channel's of the pixels in three. */
    __device__ uint32_t word_at(const uint8_t *at) const
    {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(at);
        if constexpr (CHANNELS == 1)
            return *words;
        else
            return __byte_perm(__byte_perm(words[0], words[1], pick), words[2], pick_third);
    }

    /* This lane's words of the next batch, when it has come: of each row and group, for its two blocks.
     * `more`: there is another to be sent. */
    template <typename Slot> __device__ void next(bool more, Slot slot)
    {
        const int lane = threadIdx.x % 32;
        __pipeline_wait_prior(AHEAD - 1);
        __syncwarp();
        /* Either sum would cost instances of the other kind registers. */
        const uint8_t *own = bytes() + place + w.lead;
        if constexpr (CHANNELS == 1)
            own = own + lane / 4 * BLOCK + lane % 4 * WORD;
        else
            own += (lane / 4 * BLOCK + lane % 4 * WORD) * CHANNELS;
#pragma unroll
        for (int i = 0; i < ROWS * GROUPS * 2; i++)
            slot(i / 2)[i % 2] = word_at(own + i / (GROUPS * 2) * VECTORS<GROUPS, CHANNELS> * 16 +
                                         (i / 2 % GROUPS * GROUP + i % 2 * (STRIP / 2)) * CHANNELS);
        if (more)
            send_plain_or_mapped(last_place, 0);
        else
            __pipeline_commit();
        last_place = place;
        place = place == AHEAD * BATCH ? 0 : place + BATCH;
    }
};

/* False: there is nothing left for this warp. */
template <int GROUPS, int CHANNELS>
__device__ bool begin(const Tensor &s, Ring<GROUPS, CHANNELS> &ring, Walk *w)
{
    const unsigned unit =
        __shfl_sync(~0u, blockIdx.x * WARPS + static_cast<unsigned>(threadIdx.x) / 32, 0);
    if (unit >= s.walks.units * CHANNELS)
        return false;
    const GfWalk walk = gf_walk(s.walks, unit / CHANNELS);
    w->top = s.y0 + walk.top;
    w->rows = walk.rows;
    w->strip = static_cast<int>(walk.strip) * STRIP * CHANNELS;
    w->channel = static_cast<int>(unit % CHANNELS);
    const int window = w->strip + s.first_byte;
    w->lead = window & 15;
    w->start = window - w->lead;
    w->whole = s.pairs_out && w->strip <= s.out_samples - STRIP * CHANNELS;
    w->simple = s.simple && w->whole && w->rows % ROWS == 0;
    const long long y = static_cast<long long>(w->top) + s.origin_y;
    const int rows = w->rows + s.above;
    size_t i = static_cast<size_t>(y) - s.in.first;
    i -= i >= s.in.capacity ? s.in.capacity : 0;
    const bool inside =
        s.vectors_in && w->start >= 0 && w->start <= s.in_samples - 16 * VECTORS<GROUPS, CHANNELS>;
    w->plain = inside && w->rows % ROWS == 0 && y >= 0 && y + rows <= s.in_height &&
               i + rows <= s.in.capacity;
    w->first_vector = w->left = w->odd = 0;
    w->end_vector = VECTORS<GROUPS, CHANNELS>;
    w->right = WINDOW<GROUPS, CHANNELS>;
    if (!inside)
        find_odd(s, w, ring);
    return true;
}

/* ---- products ---- */

__device__ float as_float(int sum)
{
    return __int_as_float(sum);
}

/* What SLOTS words of two blocks make with as many of the second matrix. Of an odd number of slots
 * one is multiplied alone: the first where FIRST is set, so that neighbouring rows, which pair the
 * same slots, find them in the same registers (but hold the second matrix in pairs of two kinds). */
template <bool FIRST, int SLOTS, typename Slot>
__device__ void multiply(Slot slot, const uint32_t (&words)[SLOTS], int (&sums)[SUMS])
{
    constexpr int ALONE = SLOTS % 2 == 0 ? -1 : FIRST ? 0 : SLOTS - 1;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sums[i] = GF_TENSOR_START;
    if constexpr (ALONE >= 0) {
        const uint32_t a[2] = {slot(ALONE)[0], slot(ALONE)[1]};
        gf_multiply_16(sums, a, words[ALONE]);
    }
#pragma unroll
    for (int i = ALONE == 0 ? 1 : 0; i + 1 < SLOTS; i += 2) {
        const uint32_t a[4] = {slot(i)[0], slot(i)[1], slot(i + 1)[0], slot(i + 1)[1]};
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

/* Sample i of a lane's four in a row, counted from its strip; by channel of that channel's. */
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

template <typename Out> __device__ void store_pair(unsigned char *to, float a, float b)
{
    if constexpr (sizeof(Out) == 1)
        *reinterpret_cast<uint16_t *>(to) = static_cast<uint16_t>(gf_round_bytes(a, b, 0.0f, 0.0f));
    else
        *reinterpret_cast<Pair<Out> *>(to) = {gf_convert<Out>(a), gf_convert<Out>(b)};
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
            store_pair<Out>(row + i * (STRIP / 4) * sizeof(Out), v[r * SUMS + i],
                            v[r * SUMS + i + 1]);
}

/* Stores output rows [first, first + ROWS) as far as there are. */
template <int CHANNELS>
__device__ void store(const Tensor &s, const Walk &w, int first, const float (&v)[ROWS * SUMS])
{
    if (CHANNELS > 1 || !w.whole || first + ROWS > w.rows) {
#pragma unroll
        for (int i = 0; i < ROWS * SUMS; i++) {
            const int sample = w.strip + sample_of(i % SUMS) * CHANNELS + w.channel;
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

/* ---- responses ---- */

/* What a lane multiplies by, and what follows. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS> struct Bank {
    uint32_t words[FILTERS][PLANES][HEIGHT * GROUPS];
    float scale[FILTERS][2], offset[FILTERS][2]; /* of even and odd samples */

    __device__ explicit Bank(const Tensor &s)
    {
#pragma unroll
        for (int i = 0; i < FILTERS * PLANES; i++)
            read_words(s.words + i * HEIGHT * GROUPS * 32, words[i / PLANES][i % PLANES]);
#pragma unroll
        for (int i = 0; i < FILTERS * 2; i++) {
            const bool colour = !s.finished || channel_of(s, i % 2) < s.post_channels;
            const bool kept = s.keep_alpha && channel_of(s, i % 2) == s.channels - 1;
            scale[i / 2][i % 2] = kept ? s.kept_scale : s.scale[i / 2];
            offset[i / 2][i % 2] = kept ? s.kept_offset : colour ? s.offset[i / 2] : s.bare_offset;
        }
    }
};

/* The sums of ROWS output rows; `slot(i)` is this lane's words of group i % GROUPS of input row i /
 * GROUPS. ODD: rows that begin with an odd one pair rows as their neighbours do. */
template <bool ODD, int HEIGHT, int GROUPS, int PLANES, int FILTERS, typename Slot, typename Use>
__device__ void sum_up(const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank, Slot slot, Use use)
{
#pragma unroll
    for (int i = 0; i < ROWS * FILTERS; i++) {
        const int r = i / FILTERS, f = i % FILTERS;
        const auto own = [&](int j) { return slot(r * GROUPS + j); };
        int sums[PLANES][SUMS];
#pragma unroll
        for (int p = 0; p < PLANES; p++)
            if (ODD && r % 2 == 1)
                multiply<true>(own, bank.words[f][p], sums[p]);
            else
                multiply<false>(own, bank.words[f][p], sums[p]);
        use(r, f, sums);
    }
}

/* All responses as they are before they are finished. */
template <bool ODD, int HEIGHT, int GROUPS, int PLANES, int FILTERS, typename Slot>
__device__ void respond(const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank, Slot slot,
                        float (&v)[FILTERS][ROWS * SUMS])
{
    sum_up<ODD>(bank, slot, [&](int r, int f, const int(&sums)[PLANES][SUMS]) {
#pragma unroll
        for (int j = 0; j < SUMS; j++)
            v[f][r * SUMS + j] = fmaf(join(sums, j), bank.scale[f][j % 2], bank.offset[f][j % 2]);
    });
}

/* The lengths of two responses, in steps of the output. */
template <bool ODD, int HEIGHT, int GROUPS, typename Slot>
__device__ void find_magnitudes(const Tensor &s, const Bank<HEIGHT, GROUPS, 1, 2> &bank, Slot slot,
                                float (&v)[ROWS * SUMS])
{
    sum_up<ODD>(bank, slot, [&](int r, int f, const int(&sums)[1][SUMS]) {
#pragma unroll
        for (int j = 0; j < SUMS; j++) {
            const float first = v[r * SUMS + j], response = join(sums, j);
            v[r * SUMS + j] =
                f == 0 ? response : gf_root(fmaf(first, first, response * response)) * s.magnitude;
        }
    });
}

/* ---- the loops ---- */

/* ROWS rows of bytes. Two lanes change places so that each has four samples side by side, and a warp
 * writes a row in one access. */
template <int CHANNELS> struct Bytes {
    unsigned char *to; /* this lane's of the next row */
    unsigned take;     /* of its own four and the other lane's */

    __device__ Bytes(const Tensor &s, const Walk &w)
        : to(output_row(s, w, 0) + w.strip), take(threadIdx.x % 2 ? 0x3276 : 0x5410)
    {
        const int lane = threadIdx.x % 32;
        to += lane % 2 * (STRIP / 2) + lane / 4 * BLOCK + lane % 4 / 2 * 4;
    }

    __device__ void store(const Tensor &s, const float (&v)[ROWS * SUMS])
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++, to += s.out.stride) {
            const uint32_t own =
                gf_round_bytes(v[r * SUMS], v[r * SUMS + 1], v[r * SUMS + 2], v[r * SUMS + 3]);
            *reinterpret_cast<uint32_t *>(to) =
                __byte_perm(own, __shfl_xor_sync(~0u, own, 1), take);
        }
    }
};

/* By channel none lie side by side. */
template <> struct Bytes<RGB> {
    unsigned char *to; /* this lane's first of the next row */

    __device__ Bytes(const Tensor &s, const Walk &w)
        : to(output_row(s, w, 0) + w.strip + sample_of(0) * RGB + w.channel)
    {
    }

    __device__ void store(const Tensor &s, const float (&v)[ROWS * SUMS])
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++, to += s.out.stride) {
            const uint32_t own =
                gf_round_bytes(v[r * SUMS], v[r * SUMS + 1], v[r * SUMS + 2], v[r * SUMS + 3]);
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                to[(i / 2 * (STRIP / 2) + i % 2) * RGB] = static_cast<unsigned char>(own >> 8 * i);
        }
    }
};

/* Rows of words in registers. They stay where they are while the loop passes PHASES batches, or, where
 * that would be too much code, move up after each. */
template <int HEIGHT>
constexpr int PHASES = HEIGHT <= 7 ? (HEIGHT - 1 + ROWS + ROWS - 1) / ROWS : 1;
template <int HEIGHT> constexpr int HELD = HEIGHT <= 7 ? PHASES<HEIGHT> *ROWS : HEIGHT - 1 + ROWS;

/* Do rows that begin with an odd one pair rows as their neighbours do? Else pairs are copied. */
template <int HEIGHT, int PLANES> constexpr bool PAIRED = HEIGHT *PLANES <= 15;

template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS, int... PHASE>
__device__ void run_simple(const Tensor &s, const Walk &w, Stream<GROUPS, CHANNELS> &stream,
                           const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank,
                           std::integer_sequence<int, PHASE...>)
{
    constexpr int SLOTS = HELD<HEIGHT> * GROUPS, MOVED = ROWS * GROUPS;
    uint32_t x[SLOTS][2];
    Bytes<CHANNELS> bytes(s, w);
    int first = -ABOVE<HEIGHT>;
    /* False: it was the last. */
    const auto run_batch = [&](auto phase) {
        const auto slot = [&](int i) { return x[(decltype(phase)::value * MOVED + i) % SLOTS]; };
        stream.next(first + AHEAD * ROWS < w.rows,
                    [&](int i) { return slot((HEIGHT - 1) * GROUPS + i); });
        if (first >= 0) {
            float v[1][ROWS * SUMS];
            if constexpr (FILTERS == 1)
                respond<PAIRED<HEIGHT, PLANES>>(bank, slot, v);
            else
                find_magnitudes<PAIRED<HEIGHT, PLANES>>(s, bank, slot, v[0]);
            bytes.store(s, v[0]);
        }
        first += ROWS;
        return first < w.rows;
    };
    while ((run_batch(std::integral_constant<int, PHASE>()) && ...))
        if constexpr (sizeof...(PHASE) == 1)
#pragma unroll
            for (int i = 0; i < (SLOTS - MOVED) * 2; i++)
                x[i / 2][i % 2] = x[i / 2 + MOVED][i % 2];
}

/* The same of any strip. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS>
__device__ void run_any(const Tensor &s, const Walk &w, Stream<GROUPS, CHANNELS> &stream,
                        const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank)
{
    uint32_t x[(HEIGHT - 1 + ROWS) * GROUPS][2] = {};
    for (int first = -ABOVE<HEIGHT>; first < w.rows; first += ROWS) {
#pragma unroll
        for (int i = 0; i < (HEIGHT - 1) * GROUPS * 2; i++)
            x[i / 2][i % 2] = x[i / 2 + ROWS * GROUPS][i % 2];
        stream.next(first + AHEAD * ROWS < w.rows,
                    [&](int i) { return x[(HEIGHT - 1) * GROUPS + i]; });
        if (first < 0)
            continue;
        float v[FILTERS][ROWS * SUMS];
        respond<false>(
            bank, [&](int i) { return x[i]; }, v);
        if constexpr (PLANES == 1)
            if (!s.finished)
                finish_samples(s, v);
        store<CHANNELS>(s, w, first, v[0]);
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

/* The same of ROWS rows, which are filtered first. */
template <int HEIGHT, int GROUPS, int PLANES, typename Slot>
__device__ void add_rows(const Tensor &s, const uint32_t (&words)[PLANES][GROUPS], Slot slot,
                         float (&sums)[HEIGHT][SUMS], float (&v)[ROWS * SUMS])
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int products[PLANES][SUMS];
        float h[SUMS];
        const auto own = [&](int j) { return slot(r * GROUPS + j); };
#pragma unroll
        for (int p = 0; p < PLANES; p++)
            multiply<false>(own, words[p], products[p]);
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            h[i] = join(products, i);
        add_row(s, h, sums, v + r * SUMS);
    }
#pragma unroll
    for (int i = 0; i < ROWS * SUMS; i++)
        v[i] = fmaf(v[i], s.scale[0], s.offset[0]);
}

/* Output rows above the first are summed too, in part, and dropped. */
template <int HEIGHT, bool SIMPLE, int GROUPS, int PLANES>
__device__ void run_rows(const Tensor &s, const Walk &w, Stream<GROUPS, 1> &stream,
                         const uint32_t (&words)[PLANES][GROUPS])
{
    Bytes<1> bytes(s, w);
    float sums[HEIGHT][SUMS] = {};
    for (int first = -ABOVE<HEIGHT>; first < w.rows; first += ROWS) {
        uint32_t x[ROWS * GROUPS][2];
        const auto slot = [&](int i) { return x[i]; };
        stream.next(first + AHEAD * ROWS < w.rows, slot);
        float v[1][ROWS * SUMS];
        add_rows<HEIGHT>(s, words, slot, sums, v[0]);
        if (!SIMPLE && PLANES == 1 && !s.finished)
            finish_samples(s, v);
        if (first < 0)
            continue;
        if constexpr (SIMPLE)
            bytes.store(s, v[0]);
        else
            store<1>(s, w, first, v[0]);
    }
}

/* ---- the kernels ---- */

/* A thread's registers: words and sums that stay there, and others, and as many more as cost no block of
 * a multiprocessor. (Left to itself the compiler asks for fewer than do without spills.) */
constexpr int registers(int words, int others)
{
    constexpr int STEPS[] = {96, 112, 128, 144, 168, 200, 248};
    for (int step : STEPS)
        if (words + others <= step)
            return step;
    return 248;
}

template <int HEIGHT, int GROUPS, int PLANES, int FILTERS>
constexpr int REGISTERS = registers(HELD<HEIGHT> *GROUPS * 2 + (FILTERS - 1) * ROWS * SUMS +
                                        FILTERS * PLANES * HEIGHT * GROUPS,
                                    GROUPS > 1 ? 64 : 100);
template <int HEIGHT, int GROUPS, int PLANES>
constexpr int REGISTERS_OF_ROWS = registers(ROWS *GROUPS * 2 + PLANES * GROUPS + SUMS * HEIGHT,
                                            GROUPS > 2 ? 64 : 84);

/* HEIGHT rows of taps, GROUPS * 16 bytes of each. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS = 1>
__global__ void __maxnreg__((REGISTERS<HEIGHT, GROUPS, PLANES, FILTERS>))
    tensor(const __grid_constant__ Tensor s)
{
    __shared__ Ring<GROUPS, CHANNELS> rings[WARPS];
    Ring<GROUPS, CHANNELS> &ring = rings[threadIdx.x / 32];
    Walk w;
    if (!begin(s, ring, &w))
        return;
    Stream<GROUPS, CHANNELS> stream(s, w, ring, HEIGHT - 1 - ABOVE<HEIGHT>);
    const Bank<HEIGHT, GROUPS, PLANES, FILTERS> bank(s);
    if (w.simple)
        run_simple(s, w, stream, bank, std::make_integer_sequence<int, PHASES<HEIGHT>>());
    else
        run_any(s, w, stream, bank);
}

/* Products of a column of HEIGHT taps and a row. */
template <int HEIGHT, int GROUPS, int PLANES>
__global__ void __maxnreg__((REGISTERS_OF_ROWS<HEIGHT, GROUPS, PLANES>))
    tensor_rows(const __grid_constant__ Tensor s)
{
    __shared__ Ring<GROUPS, 1> rings[WARPS];
    Ring<GROUPS, 1> &ring = rings[threadIdx.x / 32];
    Walk w;
    if (!begin(s, ring, &w))
        return;
    Stream<GROUPS, 1> stream(s, w, ring, HEIGHT - 1 - ABOVE<HEIGHT>);
    uint32_t words[PLANES][GROUPS];
#pragma unroll
    for (int p = 0; p < PLANES; p++)
        read_words(s.words + p * GROUPS * 32, words[p]);
    if (w.simple)
        run_rows<HEIGHT, true>(s, w, stream, words);
    else
        run_rows<HEIGHT, false>(s, w, stream, words);
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
    const bool lengths = plan.filters == 2 && plan.planes == 1 && !step->keep_alpha &&
                         step->combine.op == GF_COMBINE_L2 && step->posts == 0 &&
                         linear->offset == 0.0 && step->mid == 0.0 && step->gain > 0.0 &&
                         plan.unit[0] == plan.unit[1];
    if (lengths)
        s->magnitude = static_cast<float>(std::fabs(linear->scale * plan.unit[0]) * step->gain);
    s->simple =
        step->out == GF_U8 &&
        (plan.by_channel || gf_aligned(s->out.samples, s->out.stride, s->out.batch, WORD)) &&
        (plan.filters == 1 ? s->finished : lengths);
    s->kept_scale = static_cast<float>(gain / (plan.planes > 1 ? 65536.0 : 1.0)); /* last plane's */
    s->kept_offset = static_cast<float>(-extra * static_cast<double>(s->kept_scale));
}

/* Channels that warps take one by one. */
int channels_apart(const GfTensor &plan)
{
    return plan.by_channel ? RGB : 1;
}

Tensor describe(const GfLaunch *launch, const GfTensorState *state)
{
    const GfStep *step = launch->step;
    Tensor s = {};
    s.in = launch->in;
    s.out = launch->out;
    s.y0 = launch->y0;
    s.in_width = static_cast<long long>(step->in_width);
    s.in_height = static_cast<long long>(step->in_height);
    s.origin_y = step->origin_y;
    s.channels = static_cast<int>(step->channels);
    s.in_samples = static_cast<int>(step->in_width * step->channels);
    s.out_samples = static_cast<int>(step->out_width * step->channels);
    s.first_byte = state->plan.first_word * WORD * channels_apart(state->plan);
    s.last_row = static_cast<int>(step->linear.height) - 1;
    s.above = static_cast<int>(state->plan.height) - 1;
    s.post_channels = static_cast<int>(step->post_channels);
    s.keep_alpha = step->keep_alpha;
    s.vectors_in = gf_aligned(s.in.samples, s.in.stride, s.in.batch, 16);
    s.pairs_out = state->plan.by_channel || gf_aligned(s.out.samples, s.out.stride, s.out.batch,
                                                       2 * gf_sample_size(step->out));
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
void cut(const GfLaunch *launch, size_t warps_at_once, int apart, Tensor *s)
{
    const size_t rows = launch->y1 - launch->y0, channels = static_cast<size_t>(apart);
    const size_t strips = static_cast<size_t>(gf_divide_up(s->out_samples, STRIP * apart));
    const size_t least = 2 * launch->step->linear.height + 2;
    const size_t own =
        gf_divide_up(rows, gf_divide_up(WAVES * warps_at_once, strips * channels * launch->count));
    s->walks = gf_walks(strips, rows, own < least ? least : own, least, ROWS);
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

template <int HEIGHT> Kernel find_by_channel(const GfTensor &plan)
{
    return plan.planes == 1 ? tensor<HEIGHT, 2, 1, 1, RGB> : tensor<HEIGHT, 2, 3, 1, RGB>;
}

Kernel find_by_channel(const GfTensor &plan)
{
    switch (plan.height) {
    case 9:
        return find_by_channel<9>(plan);
    case 11:
        return find_by_channel<11>(plan);
    case 13:
        return find_by_channel<13>(plan);
    case 15:
        return find_by_channel<15>(plan);
    }
    return nullptr;
}

Kernel find_kernel(const GfTensor &plan)
{
    if (plan.by_channel)
        return find_by_channel(plan);
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
    if (!state)
        return cudaErrorInvalidValue;
    if (gf_step_is_layer(launch->step))
        return gf_tensor_is_first(launch->step) ? gf_launch_tensor_first(launch, stream)
               : state->layer.lines             ? gf_launch_tensor_flat(launch, stream)
                                                : gf_launch_tensor_layer(launch, stream);
    if (state->halves && (launch->tiling == 0 || launch->tiling == GF_TENSOR_ROLLING_TILING))
        return gf_launch_tensor_rolling(launch, stream);
    if (state->large_words)
        return gf_launch_tensor_large(launch, stream);
    const Kernel kernel = state->words ? find_kernel(state->plan) : nullptr;
    if (!kernel || launch->tiling > 0)
        return cudaErrorNotSupported;
    int blocks_at_once = 0;
    cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_at_once, kernel, THREADS, 0);
    if (error != cudaSuccess)
        return error;
    Tensor s = describe(launch, state);
    const int apart = channels_apart(state->plan);
    cut(launch, gf_multiprocessors() * WARPS * static_cast<size_t>(blocks_at_once), apart, &s);
    const unsigned blocks = gf_divide_up(s.walks.units * apart, static_cast<unsigned>(WARPS));
    for (size_t done = 0; done < launch->count; done += MOST_PICTURES) {
        const size_t left = launch->count - done;
        const dim3 grid(blocks, static_cast<unsigned>(left < MOST_PICTURES ? left : MOST_PICTURES));
        kernel<<<grid, THREADS, 0, stream>>>(s);
        s.in.samples = static_cast<const unsigned char *>(s.in.samples) + grid.y * s.in.batch;
        s.out.samples = static_cast<unsigned char *>(s.out.samples) + grid.y * s.out.batch;
    }
    return cudaGetLastError();
}
