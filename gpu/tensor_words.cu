/* Method `tensor` on sm_90: single kernels on samples of 16 bits whose sums roll (as in
 * tensor_rolling.cu), as products of bytes that groups of four warps make (GfTensorRolling,
 * gpu/tensor_shape.h).
 *
 * A row of such samples is a row of bytes, lower and upper ones in turn, and goes into the first
 * matrix as it lies in memory: nothing is converted. A block is two samples, its window 32 bytes:
 * 16 samples, enough for 15 columns. The second matrix has a column for each of the two, for each
 * of the 16 rows of sums and for each plane of digits; products and their sums are exact. Four rows
 * of sums are 8 columns, of which each of four lanes has a row. So of a row's turn only the part
 * within four needs a matrix of its own; the rest is where in that it begins.
 *
 * EACH rows are multiplied before sums are taken, of which as many are complete; the second matrix
 * has a row of zeros less, so that those complete first stay so while the last is added.
 *
 * A lane's two blocks are neighbours, and the second matrix has their windows' words in such an
 * order that a lane needs three words of a row: what shared memory can give bounds this kernel as
 * much as products do.
 *
 * RGB goes by channel: a block is two pixels of one channel, and the channels of the same pixels
 * are three tiles of the same lanes, which so store whole pixels.
 *
 * Costs for a sample: one read (but for the halo), one write; 512 products for each plane; for
 * 4 / EACH samples some ten operations that join planes. */
#include "gpu/device.cuh"

using namespace gf_rolling;

namespace
{

constexpr int HEIGHT = GF_WORDS_ROWS, TURN = 4; /* rows of sums; those of four lanes */
constexpr int SAMPLES = 4;                      /* of a lane, side by side: of two blocks */
constexpr int HALVES = 2;                       /* of a window, of 16 bytes */

template <int EACH, int PLANES, int CHANNELS> struct Words {
    static constexpr int size = 2, each = EACH, planes = PLANES, channels = CHANNELS;
    static constexpr int groups = HEIGHT / TURN, runs = groups * PLANES; /* of 8 columns */
    static constexpr int rows = HEIGHT - EACH + 1;                       /* of a kernel at most */
    static constexpr int tiles = CHANNELS == 3 ? 3 : PLANES == 4 ? 1 : 2;
    static constexpr int blocks = 4 - tiles;
    static constexpr int turns = HEIGHT, parts = 1, batch = HEIGHT; /* rows */
    static constexpr int stages = 3;
    static constexpr int line = 16;
    static constexpr int strip = tiles * BLOCKS * 2 * size; /* bytes */
    static constexpr int pitch = strip + HALVES * STEP * CHANNELS + line;
    static constexpr int beside = rows / 2 * size * CHANNELS;
    static constexpr int odd = (batch * (15 + beside) + WARP - 1) / WARP;
    static constexpr int places = (odd * WARP / batch + WARP - 1) / WARP;
    static constexpr int run_bytes = 8 * STEP, group_bytes = PLANES * run_bytes;
    static constexpr int copies = 2 * groups - 1; /* of a group, each at its turn */
    static constexpr int half_bytes = copies * group_bytes, turn_bytes = HALVES * half_bytes;
    static constexpr int matrix_bytes = TURN * turn_bytes, batch_bytes = batch * pitch;
    static constexpr int bytes = matrix_bytes + stages * batch_bytes;
    static_assert(blocks * (bytes + GF_BLOCK_BYTES) <= 228 << 10);
};

/* The windows of a tile's two blocks in EACH rows. */
template <typename S> using Windows = uint32_t[S::each][4];

/* The sums of a tile: all planes of a group, the lowest first, then those of the next. */
template <typename S> using Sums = int[S::runs][4];

/* ---- products ---- */

/* Loads a tile's windows in EACH rows, from this lane's first word on. Windows begin at sample `at`
 * of it, and those of the second block a pair of samples further on: three pairs are needed. */
template <typename S> __device__ void load(const uint8_t *from, int at, int tile, Windows<S> &a)
{
    constexpr int PAIRS = 3;
    const uint8_t *first = from, *second = from;
    const int own = at + (S::channels == 1 ? 0 : tile);
    if constexpr (S::channels == 1) {
        first += tile * (S::strip / S::tiles);
    } else {
        first += own / 2 * WORD;
        second += (own + S::channels) / 2 * WORD;
    }
#pragma unroll
    for (int r = 0; r < S::each; r++) {
        const auto word = [&](const uint8_t *there, int i) {
            return *reinterpret_cast<const uint32_t *>(there + r * S::pitch +
                                                       i * WORD * S::channels);
        };
        uint32_t pair[PAIRS];
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
            if constexpr (S::channels == 1)
                pair[i] = __funnelshift_r(word(first, i), word(first, i + 1), own % 2 * 16);
            else
                pair[i] = __byte_perm(word(first, i), word(second, i), own % 2 ? 0x5432 : 0x7610);
#pragma unroll
        for (int i = 0; i < 4; i++)
            a[r][i] = pair[i / 2 + i % 2];
    }
}

/* Begins a tile's products of EACH rows, the first of which has its turn. */
template <typename S>
__device__ void begin(Sums<S> &sums, const Windows<S> &a, uint64_t second, int turn)
{
    gf_begin_products();
#pragma unroll
    for (int r = 0; r < S::each; r++) {
        const int copy = (S::groups - (turn + r) / TURN) % S::groups;
        gf_begin_product(sums, a[r],
                         second + ((turn + r) % TURN * S::turn_bytes + copy * S::group_bytes) / 16);
    }
    gf_end_products();
}

/* ---- from sums to samples ---- */

/* How lanes take sums: those that are complete make room for the next, others stay. */
struct Taking {
    int kept, first; /* bits that stay; what the upper plane's become */
};

/* What follows on sums. */
struct Ending {
    float first_sum, scale, offset;
};

/* Takes a sum of all planes of a group. What carries leave below the upper plane is kept to 16
 * bits. */
template <typename S>
__device__ float take(Sums<S> &sums, int group, int i, const Taking &taking, const Ending &ending)
{
    constexpr float BELOW = 8388608.0f; /* 2^23, to whose bits 16 others are added */
    int plane[S::planes];
#pragma unroll
    for (int p = 0; p < S::planes; p++)
        plane[p] = gf_take_and_set(&sums[group * S::planes + p][i], taking.kept,
                                   p + 1 < S::planes ? 0 : taking.first);
#pragma unroll
    for (int p = 1; p < S::planes; p++)
        plane[p] += plane[p - 1] >> 8;
    const uint32_t low = __byte_perm(plane[S::planes - 3], plane[S::planes - 2], 0x0040);
    const float below = __uint_as_float(__byte_perm(low, 0x4B000000, 0x7610)) - BELOW;
    const float sum =
        fmaf(65536.0f, __int_as_float(plane[S::planes - 1]) - ending.first_sum, below);
    return fmaf(sum, ending.scale, ending.offset);
}

/* Words of a lane's samples, four of each tile. */
template <typename S> using Done = uint32_t[S::tiles * SAMPLES / 2];

/* RRRR, GGGG, BBBB, two samples a word, as pixels; others stay as they are. */
template <int WORDS>
__device__ void join_channels(const uint32_t (&word)[WORDS], uint32_t (&to)[WORDS])
{
    if constexpr (WORDS == 3 * SAMPLES / 2) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const uint32_t r = word[i], g = word[2 + i], b = word[4 + i];
            to[3 * i] = __byte_perm(r, g, 0x5410);
            to[3 * i + 1] = __byte_perm(b, r, 0x7610);
            to[3 * i + 2] = __byte_perm(g, b, 0x7632);
        }
    } else {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            to[i] = word[i];
    }
}

/* The rows of a unit as one lane stores them, every EACH-th. */
template <typename S> struct Lane {
    static constexpr int TOGETHER = SAMPLES * S::channels, RUNS = S::tiles / S::channels;
    uint8_t *to;
    int y, rows; /* of the unit: the row that is stored next, and how many there are */
    int left;    /* samples of it from this lane's first on */

    __device__ Lane(const Rolling &s, const Unit &u, int own)
        : y(static_cast<int>(threadIdx.x) % S::each + S::each - HEIGHT), rows(u.rows),
          left((s.out_samples - u.sample - own) / S::size)
    {
        to = find_output(s, u, own, y);
    }

    /* `mine`: this lane has complete sums. */
    __device__ void store(const Rolling &s, const Done<S> &word, bool mine)
    {
        const int in_row = mine && is_within(y, rows) ? left : 0;
#pragma unroll
        for (int run = 0; run < RUNS; run++) {
            const int count = in_row - run * BLOCKS * 2;
            uint8_t *own = to + run * BLOCKS * 2 * S::size;
            const uint32_t *samples = word + run * SAMPLES / 2;
#pragma unroll
            for (int i = 0; i < S::channels; i++)
                gf_store_if<2 * WORD>(count >= TOGETHER, own + i * 2 * WORD,
                                      {samples[2 * i], samples[2 * i + 1]});
#pragma unroll
            for (int i = 0; i < TOGETHER - S::channels; i++)
                gf_store_if<S::size>(i < count && count < TOGETHER, own + i * S::size,
                                     {samples[i / 2] >> i % 2 * 16});
        }
        gf_advance(&to, S::each * s.out.stride);
        y += S::each;
    }
};

/* Waits for a tile's products, of which those of LATER others may still be under way, and takes its
 * sums. */
template <typename S, int LATER>
__device__ void take_tile(Sums<S> &sums, int group, const Taking &taking, const Ending &ending,
                          uint32_t *done)
{
    gf_wait_for_products<LATER>(sums);
#pragma unroll
    for (int i = 0; i < SAMPLES; i += 2)
        done[i / 2] = gf_round_pair(take<S>(sums, group, i, taking, ending),
                                    take<S>(sums, group, i + 1, taking, ending));
}

/* Tiles take turns: while the sums of one are taken, the products of the others are made. */
template <typename S>
__device__ void multiply(const Rolling &s, const uint8_t *matrices, Ring<S> ring, int warp)
{
    constexpr int OTHERS = S::tiles - 1;
    const int lane = threadIdx.x % WARP, at = s.lead % WORD / S::size;
    const int own = (warp * (WARP / 4) + lane / 4) * SAMPLES * S::size * S::channels;
    const uint8_t *from =
        ring.rows + s.lead / WORD * WORD + own + lane % 4 * 2 * WORD * S::channels;
    /* 8 columns lie behind each other, 16 bytes of each, the other 16 behind those of all. */
    const uint64_t second = static_cast<uint64_t>(S::run_bytes / 16) << 32 |
                            S::half_bytes / 16 << 16 | (gf_shared_address(matrices) & 0x3FFFF) >> 4;
    const Ending ending = {__int_as_float(s.first_sum), s.scale,
                           s.post_channels > 0 ? s.offset : s.bare_offset};
    /* Where the lower two of four lanes are complete, or all, and where the upper two. */
    Taking taking[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const bool complete = S::each == TURN || lane % 4 / 2 == i;
        taking[i] = {complete ? 0 : -1, complete ? s.first_sum : 0};
    }
    Sums<S> sums[S::tiles] = {};
#pragma unroll
    for (int i = 0; i < S::tiles * S::groups * 4; i++)
        sums[i / 4 / S::groups][i / 4 % S::groups * S::planes + S::planes - 1][i % 4] = s.first_sum;
    for (unsigned unit = blockIdx.x; unit < s.units; unit += gridDim.x) {
        const Unit u = find_unit<S>(s, unit);
        Lane<S> out(s, u, own);
        for (int part = 0; part < s.parts; part++) {
            const uint8_t *rows = from + ring.stage * S::batch_bytes;
            Windows<S> a[S::tiles];
            gf_barrier_wait(&ring.full[ring.stage], ring.parity);
#pragma unroll
            for (int i = 0; i < S::tiles; i++) {
                load<S>(rows, at, i, a[i]);
                begin<S>(sums[i], a[i], second, 0);
            }
#pragma unroll
            for (int r = S::each; r <= HEIGHT; r += S::each) {
                const int oldest = r % HEIGHT, group = oldest / TURN;
                const Taking &how = taking[oldest % TURN / 2];
                Done<S> done, pixels;
                const auto next = [&](auto tile) {
                    constexpr int i = decltype(tile)::value;
                    uint32_t *own_done = done + i * SAMPLES / 2;
                    if (r == HEIGHT) {
                        take_tile<S, OTHERS - i>(sums[i], group, how, ending, own_done);
                        return;
                    }
                    take_tile<S, OTHERS>(sums[i], group, how, ending, own_done);
                    load<S>(rows + r * S::pitch, at, i, a[i]);
                    begin<S>(sums[i], a[i], second, r);
                };
                next(std::integral_constant<int, 0>());
                if constexpr (S::tiles > 1)
                    next(std::integral_constant<int, 1>());
                if constexpr (S::tiles > 2)
                    next(std::integral_constant<int, 2>());
                join_channels(done, pixels);
                out.store(s, pixels, how.kept == 0);
            }
            __syncwarp();
            if (lane == 0)
                gf_barrier_arrive(&ring.empty[ring.stage]);
            ring.advance();
        }
    }
}

/* ---- the kernel ---- */

template <typename S>
__global__ void __launch_bounds__(THREADS, S::blocks)
    tensor_words(const __grid_constant__ Rolling s)
{
    GF_BLOCK_MEMORY(__align__(128) uint8_t, shared);
    __shared__ uint64_t full[S::stages], empty[S::stages];
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / WARP, 0);
    const Ring<S> ring = {shared + S::matrix_bytes, full, empty};
    make_barriers(ring);
    if (warp == WARPS) {
        gf_wait_for_stream();
        return bring_rows<S>(s, ring);
    }
    /* Four matrices, of which each begins a row later. In each are the kernel's rows: of groups of
     * four the first, then the others from the last on, and again; of a group the last first. */
    for (int i = threadIdx.x; i < S::matrix_bytes / STEP; i += GROUP) {
        const int sample = i % 2, slot = i / 2 % TURN, run = i / 8;
        const int plane = run % S::planes, copy = run / S::planes % S::copies;
        const int half = run / S::planes / S::copies % HALVES;
        const int turn = run / S::planes / S::copies / HALVES;
        const int row = (2 * HEIGHT - TURN * copy + turn - slot) % HEIGHT;
        reinterpret_cast<uint4 *>(shared)[i] = reinterpret_cast<const uint4 *>(
            s.halves)[((plane * HEIGHT + row) * HALVES + half) * 2 + sample];
    }
    gf_wait_for_stream();
    gf_copies_follow();     /* as products do, which read shared memory by themselves */
    gf_wait_at<GROUP, 1>(); /* those who multiply */
    multiply<S>(s, shared, ring, warp);
}

/* ---- the launcher ---- */

template <typename S> Rolling describe(const GfLaunch *launch, const GfTensorState *state)
{
    const GfStep *step = launch->step;
    Rolling s = describe_rows<S>(launch, state->rolling);
    s.scale = static_cast<float>(step->linear.scale * state->rolling.unit * step->gain);
    s.bare_offset = static_cast<float>(step->linear.offset * step->gain);
    s.offset = static_cast<float>(step->linear.offset * step->gain + step->mid);
    s.first_sum = state->rolling.first_sum;
    s.halves = state->halves;
    return s;
}

template <typename S> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    const Rolling s = describe<S>(launch, static_cast<const GfTensorState *>(launch->state));
    return launch_rolling<S>(launch, tensor_words<S>, s, stream);
}

template <int EACH> auto find_run(const GfTensorRolling &plan)
{
    return plan.by_channel    ? run<Words<EACH, 3, 3>>
           : plan.planes == 3 ? run<Words<EACH, 3, 1>>
                              : run<Words<EACH, 4, 1>>;
}

} // namespace

extern "C" cudaError_t gf_launch_tensor_words(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    const auto run =
        state->rolling.each == 2 ? find_run<2>(state->rolling) : find_run<4>(state->rolling);
    return run(launch, stream);
}
