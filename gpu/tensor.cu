/* Method `tensor`: banks on pictures of 8 bits as products of matrices of bytes, which tensor cores
 * make; exact, since the weights are integers in one plane of signed bytes or in three (gpu/tensor_shape.h).
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
 * A kernel that is a product of a column and a row takes two products of halves (gpu/tensor_shape.h), one
 * after the other. The sums of the first, 16 samples of 8 input rows, filtered along the rows, lie in
 * registers as the first matrix of the second product does, which filters along the columns. Each is split
 * into two halves, so that 22 bits of it count. Those of the rows above stay in registers, too.
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
 * for; of a kernel that is a product 32 for each 16 bytes that 16 samples reach over, 24 for each 8 rows
 * that 8 rows do, and 8. */
#include <cuda_pipeline.h>

#include "gpu/device.cuh"

namespace
{

constexpr int WARPS = 2, THREADS = 32 * WARPS;
constexpr int ROWS = 4;               /* output rows at a time */
constexpr int AHEAD = 3;              /* batches of input rows on their way */
constexpr int BLOCK = 8, STRIP = 128; /* samples */
constexpr int SUMS = 4;               /* of a lane for a row of a strip */
constexpr int WORD = 4, GROUP = 16;   /* bytes; a lane has a word of a group */
constexpr int RGB = 3;                /* channels, of what goes by channel */
constexpr int RUN = GF_FACTORS_RUN;   /* samples of a product of halves */
constexpr int RUNS = 4;               /* of a strip of kernels that are products */
constexpr size_t WAVES = 3;           /* of warps, so that the last are not waited for long */
constexpr float START = 12582912.0f;  /* GF_TENSOR_START as a float */

/* ---- what a launch is told ---- */

struct Tensor {
    GfRows in;
    GfOutRows out;
    size_t y0;
    int skipped; /* output rows from y0 on, which are not wanted */
    long long in_width, in_height, origin_y;
    int in_samples, out_samples, channels;
    int first_byte; /* of a block's window, from the block's own first */
    int last_row;   /* of the taps */
    int above;      /* input rows that are computed with, but as many as output rows */
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
    GfFinish<float> finish;
    const uint32_t *words; /* the second matrix */
};

/* ---- a warp's strip ---- */

/* Strips of blocks whose windows are GROUPS * 16 bytes, and samples CHANNELS apart: 1, whatever the picture
 * has, or RGB by channel. */
template <int GROUPS, int CHANNELS> struct Blocks {
    static constexpr int channels = CHANNELS, rows = ROWS, samples = STRIP;
    static constexpr int window = GROUPS * GROUP * CHANNELS;          /* bytes of a block's */
    static constexpr int bytes = (STRIP - BLOCK) * CHANNELS + window; /* of a row */
    static constexpr int vectors = (bytes + 12 + 15) / 16; /* of 16, aligned, in which those lie */
};

/* Copies of vectors that a lane makes for a batch, one a turn. */
template <typename S> constexpr int TURNS = (S::rows * S::vectors + 31) / 32;

/* What a warp has in shared memory: batches of input rows, of which all but one are on their way; and,
 * at the sides of the picture, where in a row the odd bytes are by the border's rule, -1 standing for
 * the constant. */
template <typename S> struct Ring {
    uint4 rows[AHEAD + 1][S::rows][S::vectors];
    int places[S::bytes];
};

/* Where a warp works. Input row 0 is that of the first tap for its first output row. */
struct Walk {
    size_t top;      /* its first output row */
    int rows;        /* output rows */
    int skipped;     /* of these, which are not wanted and do not count */
    int strip;       /* its first sample, of all channels */
    int channel;     /* by channel */
    int start, lead; /* sample of a row's first vector; bytes of that before the window */
    bool simple; /* whole rows, a batch and a batch, of bytes, and nothing rare to do with them */
    bool whole;  /* all samples of the strip are outputs, stored in pairs */
    bool plain;  /* all vectors lie on the picture, all rows one after the other */
    /* Else: vectors [first, end) lie on it; of the window's bytes the others hold, which are odd, those
     * up to `left` and from `right` on. */
    int first_vector, end_vector, odd, left, right;
};

/* The odd bytes of a strip's window, and their places. */
template <typename S> __device__ void find_odd(const Tensor &s, Walk *w, Ring<S> &ring)
{
    const int window = w->start + w->lead; /* sample */
    const int needed = min(S::bytes, s.out_samples - w->strip + S::window);
    const int vectors = s.vectors_in ? s.in_samples / 16 - w->start / 16 : 0;
    w->first_vector = min(max(-w->start / 16, 0), S::vectors);
    w->end_vector = min(max(vectors, w->first_vector), S::vectors);
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

/* Batches are sent some AHEAD of the one that is worked on. Where as many output rows come of each, batch 0
 * begins so far above input row 0 that a batch is the last that those need. */
template <int HEIGHT> constexpr int ABOVE = (HEIGHT - 1 + ROWS - 1) / ROWS *ROWS;

template <typename S> struct Stream {
    const Tensor &s;
    const Walk &w;
    Ring<S> &ring;
    int next_row;          /* input row where the next batch to be sent begins */
    int place, last_place; /* in the ring, of the next batch to be read, and before: bytes */
    const uint8_t *from[TURNS<S>]; /* of a plain strip: of the next batch to be sent */
    unsigned pick, pick_third;     /* by channel: bytes of two words, and of those and a third */

    static constexpr int BATCH = sizeof ring.rows[0];

    /* Sends the first batches. */
    __device__ Stream(const Tensor &tensor, const Walk &walk, Ring<S> &own, int first_row)
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
        for (int t = 0; t < TURNS<S>; t++)
            from[t] = row + (first_row + row_of_turn(t)) * static_cast<long long>(s.in.stride) +
                      vector_of_turn(t) * 16;
        send_plain_or_mapped(0, first_row);
#pragma unroll 1
        for (int batch = 1; batch < AHEAD; batch++)
            send_plain_or_mapped(batch * BATCH, 0);
    }

    static __device__ int row_of_turn(int t)
    {
        return (threadIdx.x % 32 + t * 32) / S::vectors;
    }

    static __device__ int vector_of_turn(int t)
    {
        return (threadIdx.x % 32 + t * 32) % S::vectors;
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
            for (int t = 0; t < TURNS<S>; t++) {
                const uint8_t *vector =
                    from[t] + (above + row_of_turn(t) < 0 ? S::rows * s.in.stride : 0);
                if (row_of_turn(t) < S::rows)
                    gf_copy_vector(bytes() + to + (threadIdx.x % 32 + t * 32) * 16, vector);
                from[t] += S::rows * s.in.stride;
            }
        } else {
            send_mapped(to);
        }
        next_row += S::rows;
        __pipeline_commit();
    }

    /* Of the first lanes, each its row by the border's rule; NULL: the constant, or nothing that
     * counts. */
    __device__ const uint8_t *find_row() const
    {
        const int r = next_row + static_cast<int>(threadIdx.x % 32);
        if (threadIdx.x % 32 >= S::rows || r < w.skipped || r >= w.rows + s.last_row)
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
        const uint8_t *found = find_row(), *rows[S::rows];
        const uint4 border = make_uint4(s.border_word, s.border_word, s.border_word, s.border_word);
#pragma unroll
        for (int t = 0; t < TURNS<S>; t++) {
            const int row = row_of_turn(t), vector = vector_of_turn(t);
            const uint8_t *own = row_of(found, row % S::rows);
            uint4 *there = reinterpret_cast<uint4 *>(bytes() + to) + threadIdx.x % 32 + t * 32;
            if (row >= S::rows || vector < w.first_vector || vector >= w.end_vector)
                continue;
            if (own)
                gf_copy_vector(there, own + w.start + vector * 16);
            else
                *there = border;
        }
#pragma unroll
        for (int r = 0; r < S::rows; r++)
            rows[r] = row_of(found, r);
#pragma unroll 1
        for (int k = threadIdx.x % 32; k < w.odd; k += 32) {
            const int place = ring.places[k];
            uint8_t byte[S::rows];
#pragma unroll
            for (int r = 0; r < S::rows; r++) {
                byte[r] = static_cast<uint8_t>(s.border_word);
                if (rows[r] && place >= 0)
                    byte[r] = rows[r][place];
            }
            uint8_t *there = bytes() + to + w.lead + (k < w.left ? k : k - w.left + w.right);
#pragma unroll
            for (int r = 0; r < S::rows; r++)
                there[r * S::vectors * 16] = byte[r];
        }
    }

    /* Four samples: a word as it is, or the channel's of the pixels in three. */
    __device__ uint32_t word_at(const uint8_t *at) const
    {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(at);
        if constexpr (S::channels == 1)
            return *words;
        else
            return __byte_perm(__byte_perm(words[0], words[1], pick), words[2], pick_third);
    }

    /* The next batch, when it has come: its first row's first byte of the window. send_next() comes after it. */
    __device__ const uint8_t *wait() const
    {
        __pipeline_wait_prior(AHEAD - 1);
        __syncwarp();
        return bytes() + place + w.lead;
    }

    /* Sends another to where the one before was, if there is one. */
    __device__ void send_next(bool more)
    {
        if (more)
            send_plain_or_mapped(last_place, 0);
        else
            __pipeline_commit();
        last_place = place;
        place = place == AHEAD * BATCH ? 0 : place + BATCH;
    }
};

/* This lane's words of the next batch: of each row and group, for its two blocks. `more`: there is another
 * to be sent. */
template <int GROUPS, int CHANNELS, typename Slot>
__device__ void read_next(Stream<Blocks<GROUPS, CHANNELS>> &stream, bool more, Slot slot)
{
    constexpr int PITCH = Blocks<GROUPS, CHANNELS>::vectors * 16;
    const int lane = threadIdx.x % 32;
    /* Either sum would cost instances of the other kind registers. */
    const uint8_t *own = stream.wait();
    if constexpr (CHANNELS == 1)
        own = own + lane / 4 * BLOCK + lane % 4 * WORD;
    else
        own += (lane / 4 * BLOCK + lane % 4 * WORD) * CHANNELS;
#pragma unroll
    for (int i = 0; i < ROWS * GROUPS * 2; i++)
        slot(i / 2)[i % 2] =
            stream.word_at(own + i / (GROUPS * 2) * PITCH +
                           (i / 2 % GROUPS * GROUP + i % 2 * (STRIP / 2)) * CHANNELS);
    stream.send_next(more);
}

/* False: there is nothing left for this warp. */
template <typename S> __device__ bool begin(const Tensor &s, Ring<S> &ring, Walk *w)
{
    const unsigned unit =
        __shfl_sync(~0u, blockIdx.x * WARPS + static_cast<unsigned>(threadIdx.x) / 32, 0);
    if (unit >= s.walks.units * S::channels)
        return false;
    const GfWalk walk = gf_walk(s.walks, unit / S::channels);
    w->top = s.y0 + walk.top;
    w->rows = walk.rows;
    w->strip = static_cast<int>(walk.strip) * S::samples * S::channels;
    w->channel = static_cast<int>(unit % S::channels);
    const int window = w->strip + s.first_byte;
    w->lead = window & 15;
    w->start = window - w->lead;
    w->whole = s.pairs_out && w->strip <= s.out_samples - S::samples * S::channels;
    w->skipped = walk.top == 0 ? s.skipped : 0;
    const bool even = w->rows % S::rows == 0 && w->skipped == 0;
    w->simple = s.simple && w->whole && even;
    const long long y = static_cast<long long>(w->top) + s.origin_y;
    /* The first batches are sent however few rows are wanted. */
    const int rows = max(w->rows + s.above, AHEAD * S::rows);
    size_t i = static_cast<size_t>(y) - s.in.first;
    i -= i >= s.in.capacity ? s.in.capacity : 0;
    const bool inside = s.vectors_in && w->start >= 0 && w->start <= s.in_samples - 16 * S::vectors;
    w->plain = inside && even && y >= 0 && y + rows <= s.in_height && i + rows <= s.in.capacity;
    w->first_vector = w->left = w->odd = 0;
    w->end_vector = S::vectors;
    w->right = S::bytes;
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
__device__ void run_simple(const Tensor &s, const Walk &w, Stream<Blocks<GROUPS, CHANNELS>> &stream,
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
        read_next(stream, first + AHEAD * ROWS < w.rows,
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
__device__ void run_any(const Tensor &s, const Walk &w, Stream<Blocks<GROUPS, CHANNELS>> &stream,
                        const Bank<HEIGHT, GROUPS, PLANES, FILTERS> &bank)
{
    uint32_t x[(HEIGHT - 1 + ROWS) * GROUPS][2] = {};
    for (int first = -ABOVE<HEIGHT>; first < w.rows; first += ROWS) {
#pragma unroll
        for (int i = 0; i < (HEIGHT - 1) * GROUPS * 2; i++)
            x[i / 2][i % 2] = x[i / 2 + ROWS * GROUPS][i % 2];
        read_next(stream, first + AHEAD * ROWS < w.rows,
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

/* ---- products of a column and a row ---- */

/* A strip of runs of 16 samples; a window is STEPS * 16 bytes. Of a row there is an odd number of vectors, so
 * that words of 8 rows lie in different banks. */
template <int STEPS> struct Runs {
    static constexpr int channels = 1, rows = GF_FACTORS_ROWS, samples = RUNS * RUN;
    static constexpr int window = STEPS * GROUP, bytes = samples - RUN + window;
    static constexpr int vectors = (bytes + 12 + 15) / 16 | 1;
};

/* What a lane multiplies by: of each plane, that of the lower halves first. */
template <int STEPS, int BLOCKS> struct Factors {
    const uint4 *row; /* shared memory */
    uint32_t column[2][BLOCKS];
    uint32_t minus_one; /* of a matrix of 8 x 8 that has them in its diagonal */

    __device__ Factors(const Tensor &s, const uint4 *rows)
    {
        const int lane = threadIdx.x % 32;
        const uint32_t *columns = s.words + 2 * STEPS * 128;
        row = rows + lane;
#pragma unroll
        for (int i = 0; i < 2 * BLOCKS; i++)
            column[i / BLOCKS][i % BLOCKS] = columns[i * 32 + lane];
        minus_one = lane / 8 == lane % 4 ? 0xBC00u << lane / 4 % 2 * 16 : 0;
    }
};

/* BLOCKS blocks of 8 rows of a run, filtered along the rows, as the first matrix of the second product. What is
 * multiplied together lies in neighbouring registers: two blocks' upper halves, and two blocks' lower
 * ones; of a block left over both halves. */
template <int BLOCKS> struct Filtered {
    uint4 upper[BLOCKS / 2], lower[BLOCKS / 2], last;

    __device__ void set(int block, uint2 high, uint2 low)
    {
        if (block == BLOCKS / 2 * 2) {
            last = make_uint4(low.x, low.y, high.x, high.y);
        } else if (block % 2 == 0) {
            upper[block / 2].x = high.x, upper[block / 2].y = high.y;
            lower[block / 2].x = low.x, lower[block / 2].y = low.y;
        } else {
            upper[block / 2].z = high.x, upper[block / 2].w = high.y;
            lower[block / 2].z = low.x, lower[block / 2].w = low.y;
        }
    }
};

__device__ uint2 round_halves(const float (&v)[4])
{
    const __half2 halves[2] = {__floats2half2_rn(v[0], v[1]), __floats2half2_rn(v[2], v[3])};
    return *reinterpret_cast<const uint2 *>(halves);
}

/* 8 rows of all runs, from their windows' steps, two words of two numbers each. Their upper halves become block
 * `own`; taken off by a product with -1 they leave the lower ones. */
template <int STEPS, int BLOCKS>
__device__ void filter_rows(const Factors<STEPS, BLOCKS> &factors,
                            const uint32_t (&halves)[RUNS + STEPS - 1][2], int own,
                            Filtered<BLOCKS> (&filtered)[RUNS])
{
    float sums[RUNS][4] = {};
#pragma unroll
    for (int i = 0; i < 2 * STEPS; i++) {
        const uint4 row = factors.row[i * 32];
#pragma unroll
        for (int r = 0; r < RUNS; r++) {
            const uint32_t(&step)[2] = halves[r + i % STEPS];
            gf_multiply_halves(sums[r], row, step[0], step[1]);
        }
    }
#pragma unroll
    for (int r = 0; r < RUNS; r++) {
        const uint2 upper = round_halves(sums[r]);
        gf_multiply_halves(sums[r], upper, factors.minus_one);
        filtered[r].set(own, upper, round_halves(sums[r]));
    }
}

/* 8 output rows of a run, from its filtered ones, of which block `own` is the last. Small products come
 * first, that of two lower halves is nothing. */
template <int STEPS, int BLOCKS>
__device__ void filter_columns(const Factors<STEPS, BLOCKS> &factors,
                               const Filtered<BLOCKS> &filtered, int own, float (&sums)[4])
{
    constexpr int LAST = BLOCKS - 1;
    const auto column = [&](bool upper, int block) {
        return factors.column[upper][(block + 2 * BLOCKS - own - 1) % BLOCKS];
    };
#pragma unroll
    for (int i = 0; i + 1 < BLOCKS; i += 2) {
        gf_multiply_halves(sums, filtered.lower[i / 2], column(true, i), column(true, i + 1));
        gf_multiply_halves(sums, filtered.upper[i / 2], column(false, i), column(false, i + 1));
    }
    if constexpr (BLOCKS % 2 == 1)
        gf_multiply_halves(sums, filtered.last, column(true, LAST), column(false, LAST));
#pragma unroll
    for (int i = 0; i + 1 < BLOCKS; i += 2)
        gf_multiply_halves(sums, filtered.upper[i / 2], column(true, i), column(true, i + 1));
    if constexpr (BLOCKS % 2 == 1)
        gf_multiply_halves(sums, make_uint2(filtered.last.z, filtered.last.w), column(true, LAST));
}

/* 8 output rows of a strip, of which a lane has two: sums 0 and 2 of a run are neighbours in the one, 1 and 3
 * in the other. */
struct RunBytes {
    unsigned char *to; /* this lane's first in the first of the two rows that are next */

    __device__ RunBytes(const Tensor &s, const Walk &w)
    {
        const int lane = threadIdx.x % 32;
        to = output_row(s, w, lane % 4 * 2) + w.strip + lane / 4 % 2 * RUN + lane / 8 * WORD;
    }

    /* Whole rows: two lanes change places so that each has four samples side by side. */
    __device__ void store(const Tensor &s, const float (&v)[RUNS][4])
    {
        const unsigned take = threadIdx.x / 4 % 2 ? 0x3276 : 0x5410;
#pragma unroll
        for (int i = 0; i < RUNS; i++) {
            const int r = i % 2, run = i / 2 * 2;
            const uint32_t own =
                gf_round_bytes(v[run][r], v[run][r + 2], v[run + 1][r], v[run + 1][r + 2]);
            *reinterpret_cast<uint32_t *>(to + run * RUN + (r ? s.out.stride : 0)) =
                __byte_perm(own, __shfl_xor_sync(~0u, own, 4), take);
        }
        to += GF_FACTORS_ROWS * s.out.stride;
    }
};

/* The same from output row `first` on, as far as there are. */
__device__ void store_runs(const Tensor &s, const Walk &w, int first, const float (&v)[RUNS][4])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < RUNS * 4; i++) {
        const int row = first + lane % 4 * 2 + i % 2;
        const int sample = w.strip + i / 4 * RUN + lane / 4 * 2 + i / 2 % 2;
        if (row >= w.skipped && row < w.rows && sample < s.out_samples)
            output_row(s, w, row)[sample] =
                static_cast<unsigned char>(gf_round(v[i / 4][i % 4], 255));
    }
}

/* Walks down a strip by 8 rows, of which the picture's row 0 is one of the first, and begins with the phase
 * that belongs to them: so a row's sums are made in the same order whatever rows a launch makes. What was
 * filtered along the rows stays where it is while the loop passes BLOCKS batches. */
template <bool SIMPLE, int STEPS, int BLOCKS, int... PHASE>
__device__ void run_factors(const Tensor &s, const Walk &w, Stream<Runs<STEPS>> &stream,
                            const Factors<STEPS, BLOCKS> &factors,
                            std::integer_sequence<int, PHASE...>)
{
    using Strip = Runs<STEPS>;
    const int lane = threadIdx.x % 32;
    const float offset = s.offset[0];
    Filtered<BLOCKS> filtered[RUNS];
    RunBytes bytes(s, w);
    int first = -Strip::rows * (BLOCKS - 1);
    int passed = static_cast<int>(w.top / Strip::rows % BLOCKS); /* phases, at the beginning */
    /* False: it was the last. */
    const auto run_batch = [&](auto phase) {
        constexpr int OWN = decltype(phase)::value;
        if (passed-- > 0)
            return true;
        const uint8_t *row = stream.wait() + lane / 4 * (Strip::vectors * 16) + lane % 4 * WORD;
        stream.send_next(first + AHEAD * Strip::rows < w.rows);
        uint32_t halves[RUNS + STEPS - 1][2];
#pragma unroll
        for (int i = 0; i < RUNS + STEPS - 1; i++) {
            const uint32_t word = *reinterpret_cast<const uint32_t *>(row + i * GROUP);
            halves[i][0] = word & 0x00FF00FF;
            halves[i][1] = __byte_perm(word, 0, 0x4341);
        }
        filter_rows(factors, halves, OWN, filtered);
        float v[RUNS][4];
#pragma unroll
        for (int i = 0; i < RUNS; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[i][j] = offset;
            filter_columns(factors, filtered[i], OWN, v[i]);
        }
        if (first >= 0) {
            if constexpr (SIMPLE)
                bytes.store(s, v);
            else
                store_runs(s, w, first, v);
        }
        first += Strip::rows;
        return first < w.rows;
    };
    while ((run_batch(std::integral_constant<int, PHASE>()) && ...))
        ;
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

/* The same of products: the registers of a quarter of a multiprocessor are enough for five warps, four or
 * three. */
template <int STEPS, int BLOCKS> constexpr int registers_of_factors()
{
    constexpr int WANTED = RUNS * BLOCKS * 4 + BLOCKS * 2 + STEPS * 4 + 48;
    return WANTED <= 96 ? 96 : WANTED <= 128 ? 128 : 168;
}

/* HEIGHT rows of taps, GROUPS * 16 bytes of each. */
template <int HEIGHT, int GROUPS, int PLANES, int FILTERS, int CHANNELS = 1>
__global__ void __maxnreg__((REGISTERS<HEIGHT, GROUPS, PLANES, FILTERS>))
    tensor(const __grid_constant__ Tensor s)
{
    __shared__ Ring<Blocks<GROUPS, CHANNELS>> rings[WARPS];
    Ring<Blocks<GROUPS, CHANNELS>> &ring = rings[threadIdx.x / 32];
    Walk w;
    if (!begin(s, ring, &w))
        return;
    Stream<Blocks<GROUPS, CHANNELS>> stream(s, w, ring, HEIGHT - 1 - ABOVE<HEIGHT>);
    const Bank<HEIGHT, GROUPS, PLANES, FILTERS> bank(s);
    if (w.simple)
        run_simple(s, w, stream, bank, std::make_integer_sequence<int, PHASES<HEIGHT>>());
    else
        run_any(s, w, stream, bank);
}

/* Products of a column of up to BLOCKS * 8 - 7 taps and a row. */
template <int STEPS, int BLOCKS>
__global__ void __maxnreg__((registers_of_factors<STEPS, BLOCKS>()))
    tensor_factors(const __grid_constant__ Tensor s)
{
    __shared__ uint4 rows[2 * STEPS * 32];
    __shared__ Ring<Runs<STEPS>> rings[WARPS];
    Ring<Runs<STEPS>> &ring = rings[threadIdx.x / 32];
    Walk w;
#pragma unroll
    for (int i = 0; i < 2 * STEPS * 32; i += THREADS)
        rows[i + threadIdx.x] = reinterpret_cast<const uint4 *>(s.words)[i + threadIdx.x];
    __syncthreads();
    if (!begin(s, ring, &w))
        return;
    Stream<Runs<STEPS>> stream(s, w, ring, 0);
    const Factors<STEPS, BLOCKS> factors(s, rows);
    if (w.simple)
        run_factors<true>(s, w, stream, factors, std::make_integer_sequence<int, BLOCKS>());
    else
        run_factors<false>(s, w, stream, factors, std::make_integer_sequence<int, BLOCKS>());
}

/* ---- the launcher ---- */

/* Where nothing but the gain follows on the sums, it is part of their scale and offset; so are the
 * unit of the integers, and what three planes' sums have too much. */
void fold(const GfStep *step, const GfTensor &plan, Tensor *s)
{
    const GfLinear *linear = &step->linear;
    s->finished = gf_tensor_finishes(step);
    const double gain = s->finished ? step->gain : 1.0, mid = s->finished ? step->mid : 0.0;
    const bool joined = plan.planes > 1 && !plan.factors;
    const double extra = joined ? 257.0 * static_cast<double>(START) : 0.0;
    for (size_t f = 0; f < plan.filters; f++) {
        s->scale[f] = static_cast<float>(linear->scale * gain * plan.unit[f]);
        const double bare = linear->offset * gain - extra * static_cast<double>(s->scale[f]);
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
    s.skipped = state->plan.factors ? static_cast<int>(launch->y0 % GF_FACTORS_ROWS) : 0;
    s.y0 = launch->y0 - static_cast<size_t>(s.skipped);
    s.out.samples = static_cast<unsigned char *>(s.out.samples) - s.skipped * s.out.stride;
    s.in_width = static_cast<long long>(step->in_width);
    s.in_height = static_cast<long long>(step->in_height);
    s.origin_y = step->origin_y;
    s.channels = static_cast<int>(step->channels);
    s.in_samples = static_cast<int>(step->in_width * step->channels);
    s.out_samples = static_cast<int>(step->out_width * step->channels);
    s.first_byte = state->plan.first_word * WORD * channels_apart(state->plan);
    s.last_row = static_cast<int>(step->linear.height) - 1;
    s.above = state->plan.factors ? static_cast<int>(state->plan.height - 1) * GF_FACTORS_ROWS
                                  : static_cast<int>(state->plan.height) - 1;
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

/* How a picture is cut into units: samples of a strip, of all that are apart; steps of rows; those of the first strip
 * and the last, which take longer, are so many times lower. */
struct Cut {
    int samples;
    size_t apart, rows, sides;
};

Cut find_cut(const GfTensor &plan)
{
    const int apart = channels_apart(plan);
    if (plan.factors)
        return {RUNS * RUN, 1, GF_FACTORS_ROWS, 2};
    return {STRIP * apart, static_cast<size_t>(apart), ROWS, 4};
}

/* So many rows a warp that there are up to WAVES of them, few rows are computed twice, and no few warps are
 * one wave more; no fewer than the kernel's height makes worth while. */
void cut(const GfLaunch *launch, size_t warps_at_once, const Cut &cut, Tensor *s)
{
    const size_t rows = launch->y1 - s->y0;
    const size_t strips = static_cast<size_t>(gf_divide_up(s->out_samples, cut.samples));
    const size_t across = strips * cut.apart * launch->count;
    const size_t height = launch->step->linear.height;
    size_t best = SIZE_MAX;
    for (size_t waves = 2; waves <= WAVES; waves++) {
        const size_t chunks = waves * warps_at_once / across;
        size_t own = gf_divide_up(rows, chunks ? chunks : 1);
        for (int tries = 0; tries < 8; tries++, own += cut.rows) {
            const size_t side = own / cut.sides, least = 2 * height + 2;
            const GfWalks walks = gf_walks(strips, rows, own < least ? least : own,
                                           side < least ? least : side, cut.rows);
            const size_t units = walks.units * cut.apart * launch->count;
            const size_t work = gf_divide_up(units, warps_at_once) * (walks.chunk_rows + height);
            if (work >= best)
                continue;
            best = work;
            s->walks = walks;
        }
    }
}

using Kernel = decltype(&tensor<3, 1, 1, 1>);

/* From the plan to its instance, one property after the other; NULL: there is none. */

template <int HEIGHT, int GROUPS> Kernel find_planes(const GfTensor &plan)
{
    const bool one = plan.planes == 1;
    if (plan.filters == 1)
        return one ? tensor<HEIGHT, GROUPS, 1, 1> : tensor<HEIGHT, GROUPS, 3, 1>;
    if constexpr (HEIGHT <= 7)
        return one ? tensor<HEIGHT, GROUPS, 1, 2> : nullptr;
    return nullptr;
}

template <int HEIGHT> Kernel find_groups(const GfTensor &plan)
{
    switch (plan.groups) {
    case 1:
        return find_planes<HEIGHT, 1>(plan);
    case 2:
        return find_planes<HEIGHT, 2>(plan);
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

template <int STEPS> Kernel find_blocks(const GfTensor &plan)
{
    switch (plan.height) {
    case 2:
        return tensor_factors<STEPS, 2>;
    case 3:
        return tensor_factors<STEPS, 3>;
    case 5:
        return tensor_factors<STEPS, 5>;
    }
    return nullptr;
}

Kernel find_factors(const GfTensor &plan)
{
    switch (plan.groups) {
    case 2:
        return find_blocks<2>(plan);
    case 3:
        return find_blocks<3>(plan);
    case 4:
        return find_blocks<4>(plan);
    case 7:
        return find_blocks<7>(plan);
    }
    return nullptr;
}

Kernel find_kernel(const GfTensor &plan)
{
    if (plan.factors)
        return find_factors(plan);
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
    if (error != cudaSuccess || blocks_at_once == 0)
        return error != cudaSuccess ? error : cudaErrorLaunchOutOfResources;
    Tensor s = describe(launch, state);
    const int apart = channels_apart(state->plan);
    cut(launch, gf_multiprocessors() * WARPS * static_cast<size_t>(blocks_at_once),
        find_cut(state->plan), &s);
    const unsigned blocks = gf_divide_up(s.walks.units * apart, static_cast<unsigned>(WARPS));
    const dim3 grid(blocks, static_cast<unsigned>(launch->count));
    kernel<<<grid, THREADS, 0, stream>>>(s);
    return cudaGetLastError();
}
