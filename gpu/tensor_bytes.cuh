/* Pictures of 8 and 16 bits as `tensor` takes them for products of bytes (tensor_strips.cuh) and of
 * halves (tensor_factors.cu): a warp owns a strip of so many samples and walks down its rows, which
 * come, a batch after another, through a ring in shared memory. A strip S says of what kind it
 * is:
 *     channels  samples from one of its to the next one: 1, or 3 of RGB by channel
 *     size      bytes of a sample
 *     team      threads that bring rows: a warp, or a block, whose warps have the strip's channels
 *     rows      of a batch
 *     samples   of a row of the strip, that it makes
 *     window    bytes that one of its blocks needs of a row
 *     bytes     that all of them need
 *     vectors   of 16 bytes, aligned, in which those lie
 *
 * Most strips lie wholly on the picture and are written as bytes. The rows of the others are found
 * by the border's rule; what of a row lies in no whole vector of 16 bytes on the picture, the odd
 * bytes, is fetched one by one. */
#pragma once

#include <cuda_pipeline.h>

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/instructions.cuh"
#include "gpu/problem.cuh"
#include "gpu/samples.cuh"

constexpr int GF_STRIP_WARPS = 2;         /* of a block, unless that is a team */
constexpr int GF_BATCHES = 3;             /* of input rows on their way */
constexpr int GF_WORD = 4, GF_GROUP = 16; /* bytes; a lane has a word of a group */
constexpr int GF_RGB = 3;                 /* channels, of what goes by channel */
constexpr float GF_START = 12582912.0f;   /* GF_TENSOR_START as a float */

/* What a launch is told. */
struct GfByteStrips {
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
    bool vectors_out;      /* output rows lie in memory as vectors of 16 bytes do */
};

/* ---- a strip ---- */

/* Copies of vectors that a thread makes for a batch, one a turn. */
template <typename S> constexpr int GF_TURNS = (S::rows * S::vectors + S::team - 1) / S::team;

/* Of a block. */
template <typename S> constexpr int GF_WARPS = S::team == 32 ? GF_STRIP_WARPS : S::team / 32;

/* A thread's number in its team. */
template <typename S> __device__ unsigned gf_member()
{
    return threadIdx.x % S::team;
}

/* All of a team do, and see what others have put into shared memory. */
template <typename S> __device__ void gf_meet()
{
    if constexpr (S::team == 32)
        __syncwarp();
    else
        __syncthreads();
}

/* What a team has in shared memory: batches of input rows, of which all but one are on their way;
 * and, at the sides of the picture, where in a row the odd bytes are by the border's rule, -1
 * standing for the constant. */
template <typename S> struct GfByteRing {
    uint4 rows[GF_BATCHES + 1][S::rows][S::vectors];
    int places[S::bytes];
};

/* Where a warp works. Input row 0 is that of the first tap for its first output row. */
struct GfByteWalk {
    size_t top;      /* its first output row */
    int rows;        /* output rows */
    int skipped;     /* of these, which are not wanted and do not count */
    int strip;       /* its first sample, of all channels */
    int channel;     /* by channel */
    int start, lead; /* byte of a row's first vector; bytes of that before the window */
    bool simple; /* whole rows, a batch and a batch, of bytes, and nothing rare to do with them */
    bool whole;  /* all samples of the strip are outputs, stored in pairs */
    bool plain;  /* all vectors lie on the picture, all rows one after the other */
    /* Else: vectors [first, end) lie on it; of the window's bytes the others hold, which are odd,
     * those up to `left` and from `right` on. */
    int first_vector, end_vector, odd, left, right;
};

/* The odd bytes of a strip's window, and their places. */
template <typename S>
__device__ void gf_find_odd(const GfByteStrips &s, GfByteWalk *w, GfByteRing<S> &ring)
{
    const int window = w->start + w->lead; /* byte */
    const int needed = min(S::bytes, (s.out_samples - w->strip) * S::size + S::window);
    const int vectors = s.vectors_in ? s.in_samples * S::size / 16 - w->start / 16 : 0;
    const int pixel_bytes = s.channels * S::size;
    w->first_vector = min(max(-w->start / 16, 0), S::vectors);
    w->end_vector = min(max(vectors, w->first_vector), S::vectors);
    w->left = min(max(w->first_vector * 16 - w->lead, 0), needed);
    w->right = min(max(w->end_vector * 16 - w->lead, w->left), needed);
    w->odd = needed - (w->right - w->left);
#pragma unroll 1
    for (int k = gf_member<S>(); k < w->odd; k += S::team) {
        const int byte = window + (k < w->left ? k : k - w->left + w->right);
        const int pixel = (byte - (byte < 0 ? pixel_bytes - 1 : 0)) / pixel_bytes;
        const long long x = gf_border_index(pixel, s.in_width, s.border);
        ring.places[k] =
            x < 0 ? -1 : static_cast<int>(x) * pixel_bytes + (byte - pixel * pixel_bytes);
    }
    gf_meet<S>();
}

/* ---- its rows on their way ---- */

/* Batches are sent some GF_BATCHES ahead of the one that is worked on. */
template <typename S> struct GfByteStream {
    const GfByteStrips &s;
    const GfByteWalk &w;
    GfByteRing<S> &ring;
    int next_row;          /* input row where the next batch to be sent begins */
    int place, last_place; /* in the ring, of the next batch to be read, and before: bytes */
    const uint8_t *from[GF_TURNS<S>]; /* of a plain strip: of the next batch to be sent */
    unsigned pick, pick_third;        /* by channel: bytes of two words, and of those and a third */

    static constexpr int BATCH = sizeof ring.rows[0];

    /* Sends the first batches. */
    __device__ GfByteStream(const GfByteStrips &tensor, const GfByteWalk &walk, GfByteRing<S> &own,
                            int first_row)
        : s(tensor), w(walk), ring(own), next_row(first_row), place(0),
          last_place(GF_BATCHES * BATCH), pick(S::size == 1 ? of_channel(0x0630, 0x0741, 0x0052)
                                                            : of_channel(0x7610, 0x0032, 0x0054)),
          pick_third(S::size == 1 ? of_channel(0x5210, 0x6210, 0x7410)
                                  : of_channel(0x3210, 0x5410, 0x7610))
    {
        const long long y = static_cast<long long>(w.top) + s.origin_y;
        size_t i = static_cast<size_t>(y) - s.in.first;
        i -= i >= s.in.capacity ? s.in.capacity : 0;
        const uint8_t *row = static_cast<const uint8_t *>(s.in.samples) + i * s.in.stride +
                             blockIdx.y * s.in.batch + w.start;
#pragma unroll
        for (int t = 0; t < GF_TURNS<S>; t++)
            from[t] = row + (first_row + row_of_turn(t)) * static_cast<long long>(s.in.stride) +
                      vector_of_turn(t) * 16;
        gf_wait_for_stream();
        send_plain_or_mapped(0, first_row);
#pragma unroll 1
        for (int batch = 1; batch < GF_BATCHES; batch++)
            send_plain_or_mapped(batch * BATCH, 0);
    }

    __device__ unsigned of_channel(unsigned first, unsigned second, unsigned third) const
    {
        return w.channel == 0 ? first : w.channel == 1 ? second : third;
    }

    static __device__ int row_of_turn(int t)
    {
        return (gf_member<S>() + t * S::team) / S::vectors;
    }

    static __device__ int vector_of_turn(int t)
    {
        return (gf_member<S>() + t * S::team) % S::vectors;
    }

    __device__ uint8_t *bytes() const
    {
        return reinterpret_cast<uint8_t *>(ring.rows);
    }

    /* Sends the next batch to a place in the ring. What its rows above input row 0 hold, from the
     * `above`th on, does not count: plain strips take some other row. */
    __device__ void send_plain_or_mapped(int to, int above)
    {
        if (w.plain) {
#pragma unroll
            for (int t = 0; t < GF_TURNS<S>; t++) {
                const uint8_t *vector =
                    from[t] + (above + row_of_turn(t) < 0 ? S::rows * s.in.stride : 0);
                if (row_of_turn(t) < S::rows)
                    gf_copy_vector(bytes() + to + (gf_member<S>() + t * S::team) * 16, vector);
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

    /* Which byte of its sample is the k-th odd one? */
    __device__ int byte_of_sample(int k) const
    {
        return S::size == 1 ? 0 : (k < w.left ? k : k - w.left + w.right) % S::size;
    }

    /* Any batch: vectors, then the odd bytes one by one. */
    __device__ void send_mapped(int to) const
    {
        const uint8_t *found = find_row(), *rows[S::rows];
        const uint4 border = make_uint4(s.border_word, s.border_word, s.border_word, s.border_word);
#pragma unroll
        for (int t = 0; t < GF_TURNS<S>; t++) {
            const int row = row_of_turn(t), vector = vector_of_turn(t);
            const uint8_t *own = row_of(found, row % S::rows);
            uint4 *there = reinterpret_cast<uint4 *>(bytes() + to) + gf_member<S>() + t * S::team;
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
        for (int k = gf_member<S>(); k < w.odd; k += S::team) {
            const int place = ring.places[k];
            uint8_t byte[S::rows];
#pragma unroll
            for (int r = 0; r < S::rows; r++) {
                byte[r] = static_cast<uint8_t>(s.border_word >> byte_of_sample(k) * 8);
                if (rows[r] && place >= 0)
                    byte[r] = rows[r][place];
            }
            uint8_t *there = bytes() + to + w.lead + (k < w.left ? k : k - w.left + w.right);
#pragma unroll
            for (int r = 0; r < S::rows; r++)
                there[r * S::vectors * 16] = byte[r];
        }
    }

    /* Four samples, or two of 16 bits: a word as it is, or the channel's of the pixels in three. */
    __device__ uint32_t word_at(const uint8_t *at) const
    {
        const uint32_t *words = reinterpret_cast<const uint32_t *>(at);
        if constexpr (S::channels == 1)
            return *words;
        else
            return __byte_perm(__byte_perm(words[0], words[1], pick), words[2], pick_third);
    }

    /* The next batch, when it has come: its first row's first byte of the window. send_next() comes
     * after it. */
    __device__ const uint8_t *wait() const
    {
        __pipeline_wait_prior(GF_BATCHES - 1);
        gf_meet<S>();
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
        place = place == GF_BATCHES * BATCH ? 0 : place + BATCH;
    }
};

/* False: there is nothing left for this warp. */
template <typename S>
__device__ bool gf_begin_strip(const GfByteStrips &s, GfByteRing<S> &ring, GfByteWalk *w)
{
    const unsigned unit =
        __shfl_sync(~0u, blockIdx.x * GF_WARPS<S> + static_cast<unsigned>(threadIdx.x) / 32, 0);
    if (unit >= s.walks.units * S::channels)
        return false;
    const GfWalk walk = gf_walk(s.walks, unit / S::channels);
    w->top = s.y0 + walk.top;
    w->rows = walk.rows;
    w->strip = static_cast<int>(walk.strip) * S::samples * S::channels;
    w->channel = static_cast<int>(unit % S::channels);
    const int window = w->strip * S::size + s.first_byte;
    w->lead = window & 15;
    w->start = window - w->lead;
    w->whole = s.pairs_out && w->strip <= s.out_samples - S::samples * S::channels;
    w->skipped = walk.top == 0 ? s.skipped : 0;
    const bool even = w->rows % S::rows == 0 && w->skipped == 0;
    w->simple = s.simple && w->whole && even;
    const long long y = static_cast<long long>(w->top) + s.origin_y;
    /* The first batches are sent however few rows are wanted. */
    const int rows = max(w->rows + s.above, GF_BATCHES * S::rows);
    size_t i = static_cast<size_t>(y) - s.in.first;
    i -= i >= s.in.capacity ? s.in.capacity : 0;
    const bool inside =
        s.vectors_in && w->start >= 0 && w->start <= s.in_samples * S::size - 16 * S::vectors;
    w->plain = inside && even && y >= 0 && y + rows <= s.in_height && i + rows <= s.in.capacity;
    w->first_vector = w->left = w->odd = 0;
    w->end_vector = S::vectors;
    w->right = S::bytes;
    if (!inside)
        gf_find_odd(s, w, ring);
    return true;
}

/* Where output row `first` of the warp begins. */
__device__ inline unsigned char *gf_output_row(const GfByteStrips &s, const GfByteWalk &w,
                                               int first)
{
    return static_cast<unsigned char *>(s.out.samples) + (w.top - s.y0 + first) * s.out.stride +
           blockIdx.y * s.out.batch;
}

/* ---- launches ---- */

/* Channels that warps take one by one. */
inline int gf_channels_apart(const GfTensor &plan)
{
    return plan.by_channel ? GF_RGB : 1;
}

/* How a picture is cut into units: samples of a strip, of all that are apart; steps of rows; those
 * of the first strip and the last, which take longer, are so many times lower; warps of a block. */
struct GfByteCut {
    int samples;
    size_t apart, rows, sides, warps;
};

using GfByteKernel = void (*)(GfByteStrips);

/* The kernel for samples of 16 bits in planes of digits; NULL: there is none. */
GfByteKernel gf_find_levels(const GfTensor &plan);

/* Launches a kernel of strips that are cut in that way; cudaErrorNotSupported where it is NULL. */
cudaError_t gf_launch_bytes(const GfLaunch *launch, GfByteKernel kernel, const GfByteCut &cut,
                            cudaStream_t stream);
