/* What the kernels of tensor_rolling.cu and tensor_words.cu are told, how their strips are cut into
 * units, and the warp that brings their rows: stretches that lie on the picture as copies of the
 * bulk, the odd bytes at its sides and rows beyond it by the border's rule. So those who multiply
 * know no border. A row of samples of 16 bits is one of bytes here, with twice as many channels. */
#pragma once

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/groups.cuh"
#include "gpu/instructions.cuh"
#include "gpu/problem.cuh"
#include "gpu/samples.cuh"

namespace gf_rolling
{

constexpr int WARP = 32, WARPS = 4, GROUP = WARPS * WARP;
constexpr int THREADS = GROUP + WARP; /* those that multiply, and one warp that brings rows */
constexpr int BLOCKS = GROUP / 2;     /* of a product */
constexpr int BLOCK = 8, TILE = BLOCKS * BLOCK; /* samples, where they are no pairs */
constexpr int STEP = 16;                        /* bytes of a block's window */
constexpr int WORD = 4;                         /* bytes */
constexpr size_t WAVES = 4;                     /* of units, at most */

/* ---- what a launch is told ---- */

struct Rolling {
    GfRows in;
    GfOutRows out;
    size_t y0, height; /* output rows */
    long long in_width, in_height, origin_y;
    int in_samples, out_samples, channels, post_channels;
    int start, lead; /* of windows: bytes from a strip's first sample, whole S::lines, the rest */
    int first_tap, last_tap; /* of a sample: bytes from it */
    int last_row;            /* of the taps */
    unsigned strips, chunks, units;
    int parts; /* of input rows, of a unit: S::turns each */
    bool vectors_in, keep_alpha;
    GfBorder border;
    uint16_t border_word; /* the constant; of bytes twice */
    float scale, offset;
    float bare_offset; /* of an opacity that is filtered like colours */
    float kept_scale;  /* of one that is copied */
    float zero;        /* not known when compiled */
    int first_sum;     /* of 16 bits: what sums of the upper plane begin with */
    const uint16_t *halves;
};

/* How a kernel of HEIGHT rows is computed, or of HEIGHT - 1 in pairs: registers and shared memory
 * for so many blocks of threads. */
template <int HEIGHT, int STEPS, int PLANES, int CHANNELS> struct Shape {
    static constexpr int size = 1; /* bytes of a sample */
    static constexpr int height = HEIGHT, steps = STEPS, planes = PLANES;
    static constexpr bool pairs = HEIGHT % 2 == 0;
    static constexpr int block = pairs ? 2 : BLOCK; /* samples */
    static constexpr int rows = pairs ? HEIGHT - 1 : HEIGHT;
    static constexpr int channels = CHANNELS; /* 3: each has a tile of its own; else 1 */
    static constexpr int tile = BLOCKS * block;
    static constexpr int tiles = CHANNELS == 3                             ? 3
                                 : pairs || HEIGHT <= (STEPS == 1 ? 9 : 7) ? 2
                                                                           : 1;
    /* Where registers have room for more, memory is slower: more strips are read and written at
     * once. */
    static constexpr int blocks = CHANNELS == 3               ? (HEIGHT <= 5 || pairs ? 3 : 2)
                                  : pairs                     ? 4
                                  : tiles == 1                ? 4
                                  : STEPS == 2 || HEIGHT == 9 ? 3
                                                              : 4;
    static constexpr int turns = HEIGHT == 3 ? 6 : HEIGHT; /* rows, after which all is as before */
    static constexpr int parts = STEPS == 1 && !pairs ? 2 : 1;
    static constexpr int batch = parts * turns; /* rows */
    static constexpr int stages = pairs ? 3 : STEPS == 1 ? 2 : HEIGHT <= 5 ? 4 : 3;
    static constexpr int strip = tiles * tile;
    static constexpr int together = pairs ? 4 * tiles : WORD; /* samples that a lane stores */
    /* Bytes, at whose multiples copies begin; of strips as wide as those of pairs most would not
     * count. */
    static constexpr int line = pairs ? 16 : 128;
    static constexpr int pitch = strip + STEPS * STEP * CHANNELS + line;
    /* Bytes of a batch that a lane begins: of a row's end and the columns beyond it. */
    static constexpr int beside = rows / 2 * (CHANNELS == 3 || rows <= 5 ? 3 : 1);
    static constexpr int odd = (batch * (15 + beside) + WARP - 1) / WARP;
    static constexpr int places = (odd * WARP / batch + WARP - 1) / WARP; /* a lane's */
    static constexpr int matrix = STEP * block * 2; /* bytes: a step's of a row of the kernel */
    static constexpr int copies = 2 * HEIGHT - 1;   /* of a row of the kernel, each at its turn */
    static constexpr int plane_bytes = copies * STEPS * matrix;
    static constexpr int batch_bytes = batch * pitch;
    static constexpr int end_bytes = turns * together; /* of rows that end within a word */
    static constexpr int bytes = PLANES * plane_bytes + stages * batch_bytes + end_bytes;
    static_assert(blocks * (bytes + GF_BLOCK_BYTES) <= 228 << 10); /* a multiprocessor's */
};

/* A unit: `rows` output rows from `top` on, counted from the launch's first, of a strip. */
struct Unit {
    int sample; /* the strip's first */
    size_t top, picture;
    int rows;
};

template <typename S> __device__ Unit find_unit(const Rolling &s, unsigned unit)
{
    const unsigned chunk = unit / s.strips;
    const int most = s.parts * S::turns - (S::rows - 1);
    Unit u;
    u.sample = static_cast<int>(unit % s.strips) * S::strip;
    u.picture = chunk / s.chunks;
    u.top = static_cast<size_t>(chunk % s.chunks) * most;
    u.rows = static_cast<int>(min(s.height - u.top, static_cast<size_t>(most)));
    return u;
}

/* Where sample `own` of a strip goes in row y of a unit. */
__device__ inline uint8_t *find_output(const Rolling &s, const Unit &u, int own, int y)
{
    return static_cast<uint8_t *>(s.out.samples) + u.picture * s.out.batch + u.sample + own +
           (static_cast<ptrdiff_t>(u.top) + y) * static_cast<ptrdiff_t>(s.out.stride);
}

__device__ inline bool is_within(int y, int rows)
{
    return static_cast<unsigned>(y) < static_cast<unsigned>(rows);
}

/* A ring of batches of rows, and who waits for whom. */
template <typename S> struct Ring {
    uint8_t *rows;
    uint64_t *full, *empty; /* a barrier for each stage */
    int stage = 0;
    unsigned parity = 0; /* of its barrier's next phase */

    __device__ uint8_t *batch() const
    {
        return rows + stage * S::batch_bytes;
    }

    __device__ void advance()
    {
        if (++stage == S::stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* Its barriers, which all threads of a block see then. */
template <typename S> __device__ void make_barriers(const Ring<S> &ring)
{
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < S::stages; i++) {
            gf_barrier_init(&ring.full[i], WARP);
            gf_barrier_init(&ring.empty[i], WARPS);
        }
        gf_barriers_made();
    }
    __syncthreads();
}

/* ---- the warp that brings rows ---- */

/* Bytes of a strip's rows, from their start on: those that count, and those of whole vectors on the
 * picture. */
struct Span {
    int start; /* sample */
    int begin, end, first, last;
};

template <typename S> __device__ Span find_span(const Rolling &s, const Unit &u)
{
    const int samples = min(S::strip, s.out_samples - u.sample);
    Span span;
    span.start = u.sample + s.start;
    span.begin = s.first_tap - s.start; /* what else windows have meets no taps */
    span.end = s.last_tap - s.start + samples;
    const int vectors = s.vectors_in ? s.in_samples / 16 * 16 - span.start : 0;
    span.first = min(max(-span.start, 0), S::pitch);
    span.last = min(max(vectors, span.first), S::pitch);
    return span;
}

/* Row i of a batch, which lane i has found. */
__device__ inline const uint8_t *row_of(const uint8_t *found, int i)
{
    return reinterpret_cast<const uint8_t *>(
        __shfl_sync(~0u, reinterpret_cast<unsigned long long>(found), i));
}

/* The sample of a row that stands at `at` by the border's rule; -1: the constant. */
__device__ inline int find_place(const Rolling &s, int at)
{
    const int pixel = (at - (at < 0 ? s.channels - 1 : 0)) / s.channels;
    const long long x = gf_border_index(pixel, s.in_width, s.border);
    return x < 0 ? -1 : static_cast<int>(x) * s.channels + (at - pixel * s.channels);
}

/* The constant's byte at such a place. */
template <typename S> __device__ uint8_t border_at(const Rolling &s, int at)
{
    return static_cast<uint8_t>(S::size == 1 ? s.border_word : s.border_word >> at % 2 * 8);
}

/* The k-th byte of those that no vector brings, from the span's start on. */
__device__ inline int find_odd(const Span &span, int k)
{
    const int left = max(min(span.first, span.end) - span.begin, 0);
    return k < left ? span.begin + k : span.last + k - left;
}

__device__ inline int count_odd(const Span &span)
{
    return max(min(span.first, span.end) - span.begin, 0) + max(span.end - span.last, 0);
}

/* A batch that is to be brought: lane i has row i of it; NULL: the constant, or nothing that
 * counts. */
template <typename S> struct Batch {
    const uint8_t *row;
    unsigned rows,
        constant;         /* bits of those that lie on the picture, or where the constant stands */
    uint32_t odd[S::odd]; /* this lane's, where there are so few */
};

/* Odd byte i * WARP of the lane's own, counted through the rows of a batch. */
template <typename S> __device__ int byte_of_lane(int i)
{
    return (threadIdx.x % WARP + i * WARP) / S::batch;
}

template <typename S> __device__ int row_of_lane(int i)
{
    return (threadIdx.x % WARP + i * WARP) % S::batch;
}

/* Where a row's odd bytes come from: lane i knows it of byte i, and of byte i + WARP if there are
 * so many. */
template <typename S> struct Places {
    int at[S::places];

    __device__ Places(const Rolling &s, const Span &span)
    {
        const int lane = threadIdx.x % WARP;
#pragma unroll
        for (int i = 0; i < S::places; i++)
            at[i] = find_place(s, span.start + find_odd(span, lane + i * WARP));
    }

    /* By all lanes. */
    __device__ int of(int byte) const
    {
        int found = __shfl_sync(~0u, at[0], byte % WARP);
#pragma unroll
        for (int i = 1; i < S::places; i++) {
            const int other = __shfl_sync(~0u, at[i], byte % WARP);
            if (byte >= i * WARP)
                found = other;
        }
        return found;
    }
};

/* Begins to load the odd bytes. All lanes load, and nothing is done with it yet, so that nobody
 * waits. */
template <typename S>
__device__ void load_odd(const Rolling &s, const uint8_t *row, int count, const Places<S> &places,
                         uint32_t (&odd)[S::odd])
{
#pragma unroll
    for (int i = 0; i < S::odd; i++) {
        if (i * WARP >= count)
            break;
        const int from = places.of(byte_of_lane<S>(i));
        const uint8_t *found = row_of(row, row_of_lane<S>(i));
        const uint8_t *any = found ? found : static_cast<const uint8_t *>(s.in.samples);
        odd[i] = gf_load_in_order(any + max(from, 0));
    }
}

template <typename S>
__device__ Batch<S> find_batch(const Rolling &s, const Unit &u, int b, int few,
                               const Places<S> &places)
{
    const int lane = threadIdx.x % WARP, r = b * S::batch + lane;
    const bool wanted = lane < S::batch && r < u.rows + s.last_row;
    const long long y = gf_border_index(static_cast<long long>(s.y0 + u.top) + s.origin_y + r,
                                        s.in_height, s.border);
    Batch<S> batch;
    batch.row = nullptr;
    if (wanted && y >= 0)
        batch.row = gf_row<uint8_t>(s.in, static_cast<size_t>(y)) + u.picture * s.in.batch;
    batch.rows = __ballot_sync(~0u, batch.row != nullptr);
    batch.constant = __ballot_sync(~0u, wanted && !batch.row);
    load_odd<S>(s, batch.row, few, places, batch.odd);
    return batch;
}

/* Brings odd bytes from the `first` on, counted through the rows of a batch: as many as lanes hold
 * at once. */
template <typename S>
__device__ void fill_some(const Rolling &s, const Span &span, const uint8_t *row, int first,
                          uint8_t *to)
{
    const int count = count_odd(span) * S::batch;
    uint32_t odd[S::odd];
    int at[S::odd];
#pragma unroll
    for (int i = 0; i < S::odd; i++) {
        const int k = first + i * WARP + static_cast<int>(threadIdx.x % WARP);
        const int byte = find_odd(span, k / S::batch), from = find_place(s, span.start + byte);
        const uint8_t *found = row_of(row, k % S::batch);
        at[i] = k < count && found ? k % S::batch * S::pitch + byte : -1;
        odd[i] = border_at<S>(s, byte);
        if (at[i] >= 0 && from >= 0)
            odd[i] = found[from];
    }
#pragma unroll
    for (int i = 0; i < S::odd; i++)
        if (at[i] >= 0)
            to[at[i]] = static_cast<uint8_t>(odd[i]);
}

/* Stores what no copy brings. */
template <typename S>
__device__ void fill(const Rolling &s, const Span &span, const Batch<S> &batch, int few,
                     const Places<S> &places, uint8_t *to)
{
    const int lane = threadIdx.x % WARP, odd = count_odd(span);
#pragma unroll
    for (int i = 0; i < S::odd; i++) {
        if (i * WARP >= few)
            break;
        const int r = row_of_lane<S>(i), byte = byte_of_lane<S>(i);
        const int from = places.of(byte);
        const int at = find_odd(span, byte);
        if (byte < odd && batch.rows >> r & 1)
            to[r * S::pitch + at] =
                from < 0 ? border_at<S>(s, at) : static_cast<uint8_t>(batch.odd[i]);
    }
#pragma unroll 1
    for (int first = 0; first < odd * S::batch && few == 0; first += S::odd * WARP)
        fill_some<S>(s, span, batch.row, first, to);
#pragma unroll 1
    for (unsigned left = batch.constant; left; left &= left - 1)
        for (int at = lane; at < span.end; at += WARP)
            to[(__ffs(left) - 1) * S::pitch + at] = border_at<S>(s, at);
}

/* Copies begin first, then come the odd bytes, which were loaded while the batch before was waited
 * for. */
template <typename S> __device__ void bring_rows(const Rolling &s, Ring<S> ring)
{
    const int lane = threadIdx.x % WARP;
    ring.parity = 1; /* all stages are empty */
    for (unsigned unit = blockIdx.x; unit < s.units; unit += gridDim.x) {
        const Unit u = find_unit<S>(s, unit);
        const Span span = find_span<S>(s, u);
        const int odd = count_odd(span), bytes = span.last - span.first;
        /* Of a batch, if they are few. */
        const int few = odd * S::batch <= S::odd * WARP ? odd * S::batch : 0;
        const Places<S> places(s, span);
        Batch<S> batch = find_batch<S>(s, u, 0, few, places);
        for (int b = 0; b * S::parts < s.parts; b++, ring.advance()) {
            uint64_t *full = &ring.full[ring.stage];
            gf_barrier_wait(&ring.empty[ring.stage], ring.parity);
            if (lane == 0)
                gf_barrier_expect(full, __popc(batch.rows) * bytes);
            __syncwarp();
            if (batch.row && bytes > 0)
                gf_copy_bulk(ring.batch() + lane * S::pitch + span.first,
                             batch.row + span.start + span.first, bytes, full);
            if (odd > 0 || batch.constant) {
                fill<S>(s, span, batch, few, places, ring.batch());
                gf_copies_follow();
                gf_barrier_arrive(full);
            } else if (lane == 0) {
                gf_barrier_arrive(full, WARP);
            }
            batch = find_batch<S>(s, u, b + 1, few, places);
        }
    }
}

/* ---- launches ---- */

/* All but the numbers. */
template <typename S> Rolling describe_rows(const GfLaunch *launch, const GfTensorRolling &plan)
{
    const GfStep *step = launch->step;
    Rolling s = {};
    s.in = launch->in;
    s.out = launch->out;
    s.y0 = launch->y0;
    s.height = launch->y1 - launch->y0;
    s.in_width = static_cast<long long>(step->in_width);
    s.in_height = static_cast<long long>(step->in_height);
    s.origin_y = step->origin_y;
    s.channels = static_cast<int>(step->channels) * S::size;
    s.post_channels = static_cast<int>(step->post_channels);
    s.in_samples = static_cast<int>(step->in_width) * s.channels;
    s.out_samples = static_cast<int>(step->out_width) * s.channels;
    s.lead = plan.first_byte & (S::line - 1);
    s.start = plan.first_byte - s.lead;
    s.first_tap = static_cast<int>(step->origin_x) * s.channels;
    s.last_tap = s.first_tap + static_cast<int>(step->linear.width - 1) * s.channels;
    s.last_row = static_cast<int>(step->linear.height) - 1;
    s.vectors_in = gf_aligned(s.in.samples, s.in.stride, s.in.batch, 16);
    s.border = step->border;
    if (step->border == GF_BORDER_CONSTANT)
        s.border_word = static_cast<uint16_t>(step->border_value);
    return s;
}

/* So many parts a unit that blocks have least to do, in units that begin together; of several such
 * numbers the least, since rows that are read twice are then read soon after each other. */
template <typename S> void cut(const GfLaunch *launch, size_t blocks_at_once, Rolling *s)
{
    const size_t strips = gf_divide_up(static_cast<size_t>(s->out_samples), size_t{S::strip});
    size_t best = SIZE_MAX;
    for (size_t waves = 1; waves <= WAVES; waves++) {
        const size_t wanted = waves * blocks_at_once / (strips * launch->count);
        const size_t rows = gf_divide_up(s->height, wanted ? wanted : 1);
        const size_t parts = gf_divide_up(rows + S::rows - 1, size_t{S::turns});
        const size_t chunks = gf_divide_up(s->height, parts * S::turns - (S::rows - 1));
        const size_t units = strips * chunks * launch->count;
        const size_t work = gf_divide_up(units, blocks_at_once) * parts;
        if (work > best)
            continue;
        best = work;
        s->strips = static_cast<unsigned>(strips);
        s->chunks = static_cast<unsigned>(chunks);
        s->units = static_cast<unsigned>(units);
        s->parts = static_cast<int>(parts);
    }
}

template <typename S>
cudaError_t launch_rolling(const GfLaunch *launch, void (*kernel)(Rolling), Rolling s,
                           cudaStream_t stream)
{
    int blocks = 0;
    cudaError_t error = gf_allow_shared(kernel, S::bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, THREADS, S::bytes);
    if (error != cudaSuccess || blocks == 0)
        return error != cudaSuccess ? error : cudaErrorLaunchOutOfResources;
    const size_t at_once = gf_multiprocessors() * static_cast<size_t>(blocks);
    cut<S>(launch, at_once, &s);
    const unsigned grid = s.units < at_once ? s.units : static_cast<unsigned>(at_once);
    return gf_launch_early(kernel, gf_spread(kernel, {grid, THREADS, S::bytes}), stream, s);
}

} // namespace gf_rolling
