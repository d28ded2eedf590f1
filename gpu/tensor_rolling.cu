/* Method `tensor` on sm_90: banks on pictures of 8 bits whose sums roll, as products that groups of
 * four warps make (GfTensorRolling, gpu/tensor_shape.h).
 *
 * A sum belongs to an output row, and a row of samples to as many output rows as the kernel is
 * high. So one product of a row's blocks of 8 samples with all rows of the kernel side by side is
 * added to the sums of HEIGHT output rows at once. After it the oldest of them are complete: they
 * are rounded and stored while the next product runs, and their place is the youngest's. What moves
 * from row to row is not the sums but where the second matrix begins, which stands twice in shared
 * memory.
 *
 * A byte as an f16 is the byte with a zero behind it: byte times 2^-24. Products of such numbers
 * are exact, sums are rounded as f32 are.
 *
 * Windows of RGB are those of gray: where taps three bytes apart would make them wider than 16
 * bytes, a block is 8 pixels of one channel, and three tiles are the channels of the same pixels.
 *
 * Large kernels have blocks of two samples: a window of 16 bytes is enough for 15 columns, where
 * blocks of 8 would take 32. Then two rows go into one product, and of four lanes with the same
 * sums two have complete ones. A row of zeros below the kernel keeps the sums of the first row
 * complete while the second is added.
 *
 * Rows begin where whole words are stored (gf_tensor_rolls()), but may end in the middle of one. Of
 * a picture's last strip such ends are kept in shared memory and stored byte by byte, once for all
 * rows of a turn.
 *
 * One warp brings rows (tensor_rolling.cuh). Blocks stay and take one unit, some rows of a strip,
 * after the other; copies run ahead into the next.
 *
 * Costs for a sample: one read (but for the halo: a kernel's width a strip, its height a unit of
 * rows), one write, and 16 products for each plane, row of taps and 16 bytes of the window. */
#include "gpu/device.cuh"

using namespace gf_rolling;

namespace
{

/* ---- products ---- */

/* Words of two blocks' windows as numbers of f16, two a register. */
template <int STEPS> __device__ void load(const uint8_t *from, uint32_t (&a)[STEPS][4])
{
#pragma unroll
    for (int i = 0; i < STEPS * 2; i++) {
        const uint32_t word =
            *reinterpret_cast<const uint32_t *>(from + i / 2 * STEP + i % 2 * (WARP / 4 * BLOCK));
        a[i / 2][i % 2] = __byte_perm(word, 0, 0x4140);
        a[i / 2][2 + i % 2] = __byte_perm(word, 0, 0x4342);
    }
}

/* The same of four pixels of RGB in each window. Where two bytes of a channel lie in two words,
 * each is taken twice and the upper one masked away. */
__device__ void load(const uint8_t *from, uint32_t (&a)[3][1][4])
{
    constexpr uint32_t BYTES = 0x00FF00FF;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t *words =
            reinterpret_cast<const uint32_t *>(from + i * (WARP / 4 * BLOCK) * 3);
        const uint32_t word[] = {words[0], words[1], words[2]};
        a[0][0][i] = __byte_perm(word[0], 0, 0x4340);
        a[1][0][i] = __byte_perm(word[0], word[1], 0x4411) & BYTES;
        a[2][0][i] = __byte_perm(word[0], word[1], 0x5522) & BYTES;
        a[0][0][2 + i] = __byte_perm(word[1], word[2], 0x5522) & BYTES;
        a[1][0][2 + i] = __byte_perm(word[1], word[2], 0x6633) & BYTES;
        a[2][0][2 + i] = __byte_perm(word[2], 0, 0x4340);
    }
}

/* ---- the groups that multiply ---- */

/* The block and word of a tile whose samples a lane has side by side after two lanes changed
 * places. */
__device__ int place_of_lane()
{
    const int lane = threadIdx.x % WARP;
    return lane % 2 * (WARP / 4 * BLOCK) + lane / 4 * BLOCK + lane % 4 / 2 * WORD;
}

/* The lane at a place. */
__device__ int lane_at(int word)
{
    return word / 2 % 8 * 4 + word % 2 * 2 + word / 16;
}

/* How words of RGB go from the lanes that have them, three each, to those that store them side by
 * side. */
struct Turns {
    int third;   /* of a lane's number */
    int from[3]; /* the lane that has a first, second or third word for this one */

    __device__ Turns() : third(threadIdx.x % WARP % 3)
    {
        const int lane = threadIdx.x % WARP;
#pragma unroll
        for (int i = 0; i < 3; i++)
            from[i] = lane_at(((2 * i + lane) % 3 * WARP + lane) / 3);
    }
};

/* Four pixels of three channels as they lie in a picture: RGBRGBRGBRGB. */
__device__ void join_channels(uint32_t (&word)[3])
{
    const uint32_t r = word[0], g = word[1], b = word[2];
    word[0] = __byte_perm(__byte_perm(r, g, 0x1040), b, 0x3410);
    word[1] = __byte_perm(__byte_perm(g, b, 0x2051), r, 0x3610);
    word[2] = __byte_perm(__byte_perm(b, r, 0x3072), g, 0x3710);
}

/* Of joined words word i * WARP + lane of the warp's. */
__device__ void weave(const Turns &turns, uint32_t (&word)[3])
{
    uint32_t other[3];
#pragma unroll
    for (int i = 0; i < 3; i++)
        other[i] = __shfl_sync(~0u, word[i], turns.from[i]);
    word[0] = turns.third == 0 ? other[0] : turns.third == 1 ? other[1] : other[2];
    word[1] = turns.third == 0 ? other[2] : turns.third == 1 ? other[0] : other[1];
    word[2] = turns.third == 0 ? other[1] : turns.third == 1 ? other[2] : other[0];
}

/* Those of all tiles. */
template <typename S>
__device__ void load_tiles(const uint8_t *from, uint32_t (&a)[S::tiles][S::steps][4])
{
    if constexpr (S::channels == 3) {
        load(from, a);
    } else {
#pragma unroll
        for (int i = 0; i < S::tiles; i++)
            load<S::steps>(from + i * TILE, a[i]);
    }
}

/* What is known of rows that are stored: all are of the unit, and none ends within a word; all but
 * the first; neither. */
enum Known { EVERY, WHOLE, NOTHING };
template <Known KNOWN> using Knows = std::integral_constant<Known, KNOWN>;

/* Are they known to be all of the unit, from row y of it on, and whole? */
template <typename S, Known LEAST> __device__ bool is_every(const Rolling &s, const Unit &u, int y)
{
    const bool whole = LEAST == WHOLE || u.sample + S::strip <= s.out_samples;
    return whole && y >= 0 && y + S::turns <= u.rows;
}

/* Does a row end in the middle of what a lane stores at once, `left` samples before its end? */
template <typename S> __device__ bool is_end(int left)
{
    return left > 0 && left < S::together;
}

/* The ends of a turn's rows, in shared memory. */
template <typename S> struct Ends {
    uint8_t *kept;

    /* Keeps that of the r-th row. */
    template <int WORDS>
    __device__ void keep_if(bool wanted, int r, const uint32_t (&word)[WORDS]) const
    {
        uint32_t *to = reinterpret_cast<uint32_t *>(kept + r * S::together);
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            gf_keep_if(wanted, to + i, word[i]);
    }

    /* Stores those of N rows, of which the first is row y of so many, a lane a row, if this warp
     * has them. `behind`: where the row behind them ends. */
    template <int N>
    __device__ void store_if(bool mine, const Rolling &s, uint8_t *behind, int y, int rows) const
    {
        const int lane = threadIdx.x % WARP, count = s.out_samples % S::together;
        if (!__any_sync(~0u, mine))
            return;
        __syncwarp();
        if (lane < N && is_within(y + lane, rows))
#pragma unroll 1
            for (int i = 0; i < count; i++)
                (behind - (N - lane) * s.out.stride - count)[i] = kept[lane * S::together + i];
        __syncwarp();
    }
};

/* The rows of a unit as one lane stores them. */
template <typename S> struct Lane {
    static constexpr int apart = S::channels == 3 ? WARP * WORD : TILE; /* words of a lane */
    uint8_t *to; /* of the row that is complete next: its first word */
    int y, rows; /* that row, in the unit, and how many there are */
    int end;     /* of the output row, from this lane's first sample on */
    Ends<S> ends;
    Turns turns;

    __device__ Lane(const Rolling &s, const Unit &u, int own, uint8_t *kept)
        : to(find_output(s, u, own, -S::height)), y(-S::height), rows(u.rows),
          end(s.out_samples - u.sample - own), ends{kept}
    {
    }

    /* A row's samples, of which the other of two lanes has the one half; the r-th of a part, which
     * begins with row y. */
    template <Known KNOWN>
    __device__ void store(const Rolling &s, int r, const float (&v)[S::tiles][4], unsigned choice)
    {
        const int in_row = KNOWN == EVERY || is_within(y + r, rows) ? end : 0;
        uint32_t word[S::tiles];
#pragma unroll
        for (int i = 0; i < S::tiles; i++) {
            const uint32_t own = gf_round_bytes(v[i][0], v[i][1], v[i][2], v[i][3]);
            word[i] = __byte_perm(own, __shfl_xor_sync(~0u, own, 1), choice);
        }
        if constexpr (S::channels == 3) {
            join_channels(word);
            weave(turns, word);
        }
#pragma unroll
        for (int i = 0; i < S::tiles; i++) {
            const int left = in_row - i * apart;
            gf_store_if<WORD>(KNOWN == NOTHING ? left >= WORD : left > 0, to + i * apart,
                              {word[i]});
            if (KNOWN == NOTHING)
                ends.template keep_if<1>(is_end<S>(end - i * apart), r, {word[i]});
        }
        gf_advance(&to, s.out.stride);
    }

    /* The ends of N rows, the first of them row y. */
    template <int N> __device__ void store_ends(const Rolling &s) const
    {
        bool mine = false;
#pragma unroll
        for (int i = 0; i < S::tiles; i++)
            mine = mine || is_end<S>(end - i * apart);
        ends.template store_if<N>(mine, s, to + end, y, rows);
    }
};

template <typename S, Known LEAST>
__device__ void multiply_rows(const Rolling &s, const uint8_t *matrices, Ring<S> ring, int warp,
                              uint8_t *kept)
{
    const int lane = threadIdx.x % WARP;
    const int tile = warp * (WARP / 2 * BLOCK) * S::channels;
    const uint8_t *from =
        ring.rows + s.lead + tile + (lane / 4 * BLOCK + lane % 4 * WORD) * S::channels;
    const int own = tile + (S::channels == 3 ? lane * WORD : place_of_lane());
    /* Rows of 8 numbers lie behind each other, the other 8 of 16 are 128 bytes further on, the next
     * 8 samples behind all steps. */
    const uint64_t second = static_cast<uint64_t>(S::steps * S::matrix / 16) << 32 |
                            S::matrix / 2 / 16 << 16 | (gf_shared_address(matrices) & 0x3FFFF) >> 4;
    unsigned choice = lane % 2 ? 0x3276 : 0x5410;
    float scale[2], offset[2]; /* of even and odd samples */
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int channel = s.channels == 3 ? 0 : (lane % 4 * 2 + i) & (s.channels - 1);
        const bool kept = s.keep_alpha && channel == s.channels - 1;
        scale[i] = kept ? s.kept_scale : s.scale;
        offset[i] = kept ? 0.0f : channel < s.post_channels ? s.offset : s.bare_offset;
    }
    float sums[S::tiles][S::height][4] = {}, done[S::tiles][4] = {};
    uint32_t a[S::tiles][S::steps][4];
    gf_barrier_wait(&ring.full[0], 0);
    load_tiles<S>(from, a);
    for (unsigned unit = blockIdx.x; unit < s.units; unit += gridDim.x) {
        const Unit u = find_unit<S>(s, unit);
        Lane<S> out(s, u, own, kept);
        const bool last_unit = unit + gridDim.x >= s.units;
        const auto run_part = [&](auto known, int part, bool ends, bool last) {
            constexpr Known KNOWN = decltype(known)::value;
            const int stage = ring.stage;
            const uint8_t *rows = from + stage * S::batch_bytes + part * S::turns * S::pitch;
#pragma unroll
            for (int r = 0; r < S::turns; r++) {
                const int turn = r % S::height, oldest = (turn + 1) % S::height;
                if (r == S::turns - 1 && ends) {
                    ring.advance();
                    if (!last)
                        gf_barrier_wait(&ring.full[ring.stage], ring.parity);
                }
                gf_begin_products();
#pragma unroll
                for (int i = 0; i < S::planes * S::steps * S::tiles; i++) {
                    const int plane = i / S::tiles / S::steps, step = i / S::tiles % S::steps;
                    const int begin = (S::height - turn) % S::height * S::steps + step;
                    gf_begin_product(sums[i % S::tiles], a[i % S::tiles][step],
                                     second + (plane * S::plane_bytes + begin * S::matrix) / 16);
                }
                gf_end_products();
                const uint8_t *after = r < S::turns - 1 || !ends
                                           ? rows + (r + 1) * S::pitch
                                           : from + ring.stage * S::batch_bytes;
                uint32_t next[S::tiles][S::steps][4];
                /* Stores and loads stay where they are: beside the products, loads of colours
                 * first. */
                __syncwarp();
                if constexpr (S::channels == 3) {
                    load_tiles<S>(after, next);
                    __syncwarp();
                }
                out.template store<KNOWN>(s, r, done, choice);
                __syncwarp();
                if constexpr (S::channels != 3)
                    load_tiles<S>(after, next);
                gf_wait_for_products(reinterpret_cast<float(&)[S::tiles * S::height][4]>(sums));
#pragma unroll
                for (int i = 0; i < S::tiles * 4; i++)
                    done[i / 4][i % 4] = gf_take_and_set(&sums[i / 4][oldest][i % 4], scale[i % 2],
                                                         offset[i % 2], s.zero);
#pragma unroll
                for (int i = 0; i < S::tiles * S::steps * 4; i++)
                    a[i / 4 / S::steps][i / 4 % S::steps][i % 4] =
                        next[i / 4 / S::steps][i / 4 % S::steps][i % 4];
            }
            if (KNOWN == NOTHING)
                out.template store_ends<S::turns>(s);
            out.y += S::turns;
            __syncwarp();
            if (lane == 0 && ends)
                gf_barrier_arrive(&ring.empty[stage]);
        };
        for (int i = 0; i < s.parts; i++) {
            const int part = i % S::parts;
            const bool unit_ends = i + 1 == s.parts, ends = unit_ends || part + 1 == S::parts;
            if (is_every<S, LEAST>(s, u, out.y))
                run_part(Knows<EVERY>(), part, ends, last_unit && unit_ends);
            else
                run_part(Knows<LEAST>(), part, ends, last_unit && unit_ends);
        }
        out.template store<LEAST>(s, 0, done, choice);
        if (LEAST == NOTHING)
            out.template store_ends<1>(s);
    }
}

/* ---- the same with blocks of two samples ---- */

/* Samples of a lane lie side by side: two blocks of each tile, 8 of its rows apart, so that the
 * next block's window is the last one's and a pair more. Tiles of RGB are channels of the same
 * pixels. From a row's first word of the lane on come the windows, as pairs of f16. */
template <typename S>
__device__ void load_windows(const uint8_t *from, int shift, int r, uint32_t (&a)[S::tiles][2][4])
{
    constexpr int PIXEL = S::channels; /* bytes */
    constexpr int PAIRS = 2 * S::tiles / PIXEL + 1, WORDS = (2 * PIXEL * PAIRS + WORD - 1) / WORD;
    const uint32_t *read = reinterpret_cast<const uint32_t *>(from + r * S::pitch);
    uint32_t word[WORDS + 1], pair[PIXEL][PAIRS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        word[i] = __funnelshift_r(read[i], read[i + 1], shift);
    word[WORDS] = 0;
#pragma unroll
    for (int i = 0; i < PIXEL * PAIRS; i++) {
        const int byte = i % PIXEL + i / PIXEL * 2 * PIXEL, at = byte % WORD;
        const uint32_t both =
            __byte_perm(word[byte / WORD], word[byte / WORD + 1], at | (at + PIXEL) << 8);
        pair[i % PIXEL][i / PIXEL] = both & 0x00FF00FF;
    }
#pragma unroll
    for (int i = 0; i < S::tiles * 4; i++)
        a[i / 4][r][i % 4] = pair[i / 4 % PIXEL][i / 4 / PIXEL * 2 + i % 4 / 2 + i % 2];
}

/* Of a row and the next. */
template <typename S>
__device__ void load_windows(const uint8_t *from, int shift, uint32_t (&a)[S::tiles][2][4])
{
    load_windows<S>(from, shift, 0, a);
    load_windows<S>(from, shift, 1, a);
}

/* The rows of a unit as one lane stores them, every other: of four lanes with the same samples two
 * have a row each of the sums that are complete. */
template <typename S> struct PairLane {
    uint8_t *to;
    int y, rows, end; /* as Lane's */
    Ends<S> ends;

    __device__ PairLane(const Rolling &s, const Unit &u, int own, uint8_t *kept)
        : y(odd_row() - S::height), rows(u.rows), end(s.out_samples - u.sample - own), ends{kept}
    {
        to = find_output(s, u, own, y);
    }

    /* Which of two rows is this lane's? */
    static __device__ int odd_row()
    {
        return threadIdx.x % 2;
    }

    /* The first of both. */
    __device__ int even_y() const
    {
        return y - odd_row();
    }

    /* The r-th row of a part; `mine`: this lane has sums of it. */
    template <Known KNOWN>
    __device__ void store(const Rolling &s, int r, uint32_t (&word)[S::tiles], bool mine)
    {
        const bool in_unit = KNOWN == EVERY || is_within(y + r, rows);
        const int left = mine && in_unit ? end : 0;
        const bool all = KNOWN == NOTHING ? left >= S::together : left > 0;
        if constexpr (S::channels == 3)
            join_channels(word);
        if constexpr (S::tiles == 2) /* which are aligned as one */
            gf_store_if<2 * WORD>(all, to, word);
        else
#pragma unroll
            for (int i = 0; i < S::tiles; i++)
                gf_store_if<WORD>(all, to + i * WORD, {word[i]});
        if (KNOWN == NOTHING)
            ends.keep_if(mine && is_end<S>(end), r + odd_row(), word);
        gf_advance(&to, 2 * s.out.stride);
    }

    /* As Lane's. */
    template <int N> __device__ void store_ends(const Rolling &s) const
    {
        ends.template store_if<N>(is_end<S>(end), s, to - odd_row() * s.out.stride + end, even_y(),
                                  rows);
    }
};

/* Four sums that are complete become bytes, and the next begin: `keep` is 0, or 1 for those that
 * are not complete. */
__device__ uint32_t take_word(float (&sums)[4], float scale, float offset, float keep)
{
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = gf_take_and_scale(&sums[i], scale, offset, keep);
    return gf_round_bytes(v[0], v[1], v[2], v[3]);
}

/* Begins the products of all tiles with two rows, the first of which has its turn. */
template <typename S>
__device__ void begin_pairs(float (&sums)[S::tiles][S::height / 4][4],
                            const uint32_t (&a)[S::tiles][2][4], uint64_t second, int turn)
{
    constexpr int OF_ROW = S::planes * S::tiles;
    gf_begin_products();
#pragma unroll
    for (int i = 0; i < 2 * OF_ROW; i++) {
        const int tile = i % S::tiles, plane = i / S::tiles % S::planes, row = i / OF_ROW;
        const int begin = (2 * S::height - turn - row) % S::height;
        gf_begin_product(sums[tile], a[tile][row],
                         second + plane * S::plane_bytes / 16 + begin * S::block);
    }
    gf_end_products();
}

template <typename S, Known LEAST>
__device__ void multiply_pairs(const Rolling &s, const uint8_t *matrices, Ring<S> ring, int warp,
                               uint8_t *kept)
{
    const int lane = threadIdx.x % WARP, shift = 8 * (s.lead % WORD);
    const int own = (warp * (WARP / 4) + lane / 4) * S::together;
    const uint8_t *from = ring.rows + s.lead / WORD * WORD + own + lane % 4 * WORD * S::channels;
    /* Rows of 8 numbers lie behind each other, the other 8 of 16 behind those of all samples and
     * copies. */
    const uint64_t second = static_cast<uint64_t>(128 / 16) << 32 | S::copies * S::block << 16 |
                            (gf_shared_address(matrices) & 0x3FFFF) >> 4;
    const bool upper = lane % 4 >= 2;
    const float offset = s.post_channels > 0 ? s.offset : s.bare_offset;
    const float keep[2] = {upper ? 1.0f : 0.0f, upper ? 0.0f : 1.0f};
    float sums[S::tiles][S::height / 4][4] = {};
    uint32_t done[S::tiles] = {}, a[S::tiles][2][4];
    gf_barrier_wait(&ring.full[0], 0);
    load_windows<S>(from, shift, a);
    for (unsigned unit = blockIdx.x; unit < s.units; unit += gridDim.x) {
        const Unit u = find_unit<S>(s, unit);
        PairLane<S> out(s, u, own, kept);
        const bool last_unit = unit + gridDim.x >= s.units;
        const auto run_batch = [&](auto known, bool last) {
            constexpr Known KNOWN = decltype(known)::value;
            const int stage = ring.stage;
            const uint8_t *rows = from + stage * S::batch_bytes;
#pragma unroll
            for (int r = 0; r < S::turns; r += 2) {
                const int oldest = (r + 2) % S::height;
                const bool ends = r == S::turns - 2;
                if (ends) {
                    ring.advance();
                    if (!last)
                        gf_barrier_wait(&ring.full[ring.stage], ring.parity);
                }
                begin_pairs<S>(sums, a, second, r);
                __syncwarp(); /* as there */
                out.template store<KNOWN>(s, r, done, upper == (r % 4 == 2));
                __syncwarp();
                uint32_t next[S::tiles][2][4];
                load_windows<S>(ends ? from + ring.stage * S::batch_bytes
                                     : rows + (r + 2) * S::pitch,
                                shift, next);
                gf_wait_for_products(reinterpret_cast<float(&)[S::tiles * S::height / 4][4]>(sums));
#pragma unroll
                for (int i = 0; i < S::tiles; i++)
                    done[i] = take_word(sums[i][oldest / 4], s.scale, offset, keep[oldest % 4 / 2]);
#pragma unroll
                for (int i = 0; i < S::tiles * 8; i++)
                    a[i / 8][i / 4 % 2][i % 4] = next[i / 8][i / 4 % 2][i % 4];
            }
            if (KNOWN == NOTHING)
                out.template store_ends<S::turns>(s);
            out.y += S::turns;
            __syncwarp();
            if (lane == 0)
                gf_barrier_arrive(&ring.empty[stage]);
        };
        for (int i = 0; i < s.parts; i++) {
            const bool last = last_unit && i + 1 == s.parts;
            /* Not a lane's own row: all lanes go one way, since they make products together. */
            const int y = out.even_y();
            if (is_every<S, LEAST>(s, u, y))
                run_batch(Knows<EVERY>(), last);
            else
                run_batch(Knows<LEAST>(), last);
        }
        out.template store<LEAST>(s, 0, done, !upper);
        if (LEAST == NOTHING)
            out.template store_ends<2>(s);
    }
}

/* ---- the kernel ---- */

/* LEAST: what is known of all rows. */
template <typename S, Known LEAST>
__global__ void __launch_bounds__(THREADS, S::blocks)
    tensor_rolling(const __grid_constant__ Rolling s)
{
    GF_BLOCK_MEMORY(__align__(128) uint8_t, shared);
    __shared__ uint64_t full[S::stages], empty[S::stages];
    const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x) / WARP, 0);
    const Ring<S> ring = {shared + S::planes * S::plane_bytes, full, empty};
    make_barriers(ring);
    if (warp == WARPS) {
        gf_wait_for_stream();
        return bring_rows<S>(s, ring);
    }
    /* Of the kernel's rows the first, then the others from the last on, and again. */
    constexpr int ROW = S::steps * S::matrix / 16;
    for (int i = threadIdx.x; i < S::planes * S::plane_bytes / 16; i += GROUP) {
        const int plane = i / ROW / S::copies, copy = i / ROW % S::copies;
        const int row = (S::height - copy % S::height) % S::height;
        const int half = i % ROW / S::block, sample = i % S::block;
        const int to = S::pairs ? ((plane * 2 + half) * S::copies + copy) * S::block + sample : i;
        reinterpret_cast<uint4 *>(shared)[to] =
            reinterpret_cast<const uint4 *>(s.halves)[(plane * S::height + row) * ROW + i % ROW];
    }
    gf_wait_for_stream();
    gf_copies_follow();     /* as products do, which read shared memory by themselves */
    gf_wait_at<GROUP, 1>(); /* those who multiply */
    uint8_t *kept = shared + S::bytes - S::end_bytes;
    if constexpr (S::pairs)
        multiply_pairs<S, LEAST>(s, shared, ring, warp, kept);
    else
        multiply_rows<S, LEAST>(s, shared, ring, warp, kept);
}

/* ---- the launcher ---- */

template <typename S> Rolling describe(const GfLaunch *launch, const GfTensorState *state)
{
    const GfStep *step = launch->step;
    Rolling s = describe_rows<S>(launch, state->rolling);
    s.keep_alpha = step->keep_alpha;
    s.border_word *= 0x0101;
    const double byte = 0x1p24 * step->gain; /* what a product with 1 is multiplied by */
    s.scale = static_cast<float>(step->linear.scale * state->rolling.unit * byte);
    s.bare_offset = static_cast<float>(step->linear.offset * step->gain);
    s.offset = static_cast<float>(step->linear.offset * step->gain + step->mid);
    s.kept_scale = static_cast<float>(byte);
    s.halves = state->halves;
    return s;
}

template <typename S> cudaError_t run(const GfLaunch *launch, cudaStream_t stream)
{
    Rolling s = describe<S>(launch, static_cast<const GfTensorState *>(launch->state));
    const auto kernel =
        s.out_samples % S::together == 0 ? tensor_rolling<S, WHOLE> : tensor_rolling<S, NOTHING>;
    return launch_rolling<S>(launch, kernel, s, stream);
}

using Run = decltype(&run<Shape<3, 1, 1, 1>>);

/* From the plan to its instance, one property after the other; NULL: there is none. */

template <int HEIGHT, int STEPS, int CHANNELS> Run find_planes(const GfTensorRolling &plan)
{
    return plan.planes == 1 ? run<Shape<HEIGHT, STEPS, 1, CHANNELS>>
                            : run<Shape<HEIGHT, STEPS, 2, CHANNELS>>;
}

template <int HEIGHT> Run find_steps(const GfTensorRolling &plan)
{
    if constexpr (HEIGHT <= 9) {
        if (plan.by_channel)
            return find_planes<HEIGHT, 1, 3>(plan);
        if (plan.steps == 1)
            return find_planes<HEIGHT, 1, 1>(plan);
    }
    if constexpr (HEIGHT % 2 == 0)
        return plan.by_channel ? run<Shape<HEIGHT, 1, 2, 3>> : run<Shape<HEIGHT, 1, 2, 1>>;
    else
        return plan.steps == 2 && !plan.by_channel ? find_planes<HEIGHT, 2, 1>(plan) : nullptr;
}

Run find_run(const GfTensorRolling &plan)
{
    switch (plan.height) {
    case 3:
        return find_steps<3>(plan);
    case 5:
        return find_steps<5>(plan);
    case 7:
        return find_steps<7>(plan);
    case 9:
        return find_steps<9>(plan);
    case 12:
        return find_steps<12>(plan);
    case 16:
        return find_steps<16>(plan);
    }
    return nullptr;
}

} // namespace

/* Of a step that has a plan for it. */
extern "C" bool gf_tensor_rolls(const GfLaunch *launch)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    const GfTensorRolling &plan = state->rolling;
    const bool colours = plan.by_channel && launch->step->in == GF_U8;
    const size_t together = plan.block < BLOCK && !colours ? 2 * WORD : WORD;
    return state->halves && (launch->tiling == 0 || launch->tiling == GF_TENSOR_ROLLING_TILING) &&
           gf_aligned(launch->out.samples, launch->out.stride, launch->out.batch, together);
}

extern "C" cudaError_t gf_launch_tensor_rolling(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    if (launch->step->in == GF_U16)
        return gf_launch_tensor_words(launch, stream);
    const Run run = find_run(state->rolling);
    return run ? run(launch, stream) : cudaErrorNotSupported;
}
