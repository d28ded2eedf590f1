/* Method `tensor`, layers of few maps, on the lines of gpu/tensor_flat.cu. There 64 maps are rows
 * of a product; here rows are positions, and maps its columns, 8, 16 or 32 of them: what stands in
 * the line is the first matrix as it was the second, and shifts serve it likewise. Beside the maps'
 * upper halves stand their lower ones, so that upper halves of samples are read once for both; of
 * lower halves the upper ones alone are columns.
 *
 * Products this narrow wait for the first matrix, which comes from shared memory, and blocks for
 * what they bring there. A slot has the taps of all rows of the kernel, and one stretch of the line
 * for all of them, where that is less to bring than a stretch for each.
 *
 * Costs of 16 channels for 64 positions and a tap: 4 KiB of the first matrix, 96 bytes a map of
 * the second; for a tile of P positions, in rows of C, beside its taps 64 bytes for each of P +
 * (K - 1) * C positions from memory, or of K * P. */
#include "gpu/device.cuh"

namespace
{

using namespace gf_flat;

constexpr int ROWS = 64; /* of a product: positions */

/* BY groups of warps, each of BLOCKS times 64 positions: as many as there are registers for. */
template <int MAPS, int BY, int BLOCKS> struct Tile {
    static constexpr int groups = BY, registers = BY > 2 ? 104 : 216;
    static constexpr int others_registers = BY > 2 ? 56 : 72;
    static constexpr int map_runs = 1, maps = MAPS, runs = MAPS / OCTET;
    static constexpr int blocks = BLOCKS, own = BLOCKS * ROWS, positions = own * groups;
    static constexpr int pitch = positions + GF_FEW_SPARE;
};

/* ---- the warp that brings ---- */

/* The row of the line whose scale is the first of a slot: copies begin at multiples of 16 bytes. */
__device__ int first_scale(const Flat &q, const Corner &corner)
{
    return static_cast<int>(corner.position / q.columns) / 4 * 4;
}

template <typename T>
__device__ void bring(const Flat &q, const Corner &corner, unsigned char *memory, Shared<T> *shared,
                      int first, int end)
{
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int phases = q.rows_at_once > 1 ? q.phases_y : 1;
    const int lines = q.octets * q.phases_x * 2; /* of a phase of rows */
    const unsigned stretch_bytes = static_cast<unsigned>(q.stretch) * sizeof(Octet);
    const unsigned weight_bytes = static_cast<unsigned>(q.weight_bytes * q.rows_at_once);
    const unsigned scale_bytes = static_cast<unsigned>(q.slot_scales) * sizeof(float);
    const unsigned octets_bytes = stretch_bytes * lines * phases;
    const unsigned bytes = weight_bytes + octets_bytes + scale_bytes * phases;
    const int weight_octets = q.weight_bytes / static_cast<int>(sizeof(Octet));
    const int first_row = first_scale(q, corner);
    gf_wait_for_stream(q.brief ? GF_NEXT_AT_ONCE : GF_NEXT_AT_END);
    int slot = 0, parity = 1;
    for (int i = first * q.p.height; i < end * q.p.height; i += q.rows_at_once) {
        const int stage = corner.group * q.stages + i / q.p.height, ky = i % q.p.height;
        unsigned char *to = memory + slot * q.slot;
        gf_barrier_wait(&shared->empty[slot], static_cast<unsigned>(parity));
        if (lane == 0) {
            gf_barrier_expect(&shared->full[slot], bytes);
            gf_copy_bulk(to,
                         q.weights +
                             (static_cast<long long>(corner.group) * q.stages * q.p.height + i) *
                                 weight_octets,
                         weight_bytes, &shared->full[slot]);
        }
        __syncwarp();
        for (int j = lane; j < lines * phases; j += WARP) {
            const int phase = phases > 1 ? j / lines : q.downs[ky].phase;
            const int octet = j % lines % q.octets, side = j % lines / q.octets;
            gf_copy_bulk(to + weight_bytes + j * stretch_bytes,
                         q.lines + line_of(q, stage, octet, phase, side) + corner.position +
                             q.downs[ky].octets,
                         stretch_bytes, &shared->full[slot]);
        }
        if (lane < phases) {
            const int phase = phases > 1 ? lane : q.downs[ky].phase;
            gf_copy_bulk(to + weight_bytes + octets_bytes + lane * scale_bytes,
                         q.scales +
                             (static_cast<long long>(stage) * q.phases_y + phase) * q.scale_rows +
                             first_row,
                         scale_bytes, &shared->full[slot]);
        }
        gf_barrier_arrive(&shared->full[slot]);
        if (++slot == q.slots) {
            slot = 0;
            parity ^= 1;
        }
    }
}

/* ---- the groups that multiply ---- */

/* Of a row of the kernel and a block of positions: of upper halves of samples, by the maps' upper
 * and by their lower halves; of lower ones. A thread has two positions, a pair of maps in each
 * run. */
template <typename T> struct Sums {
    float upper[2 * T::runs][4], lower[T::runs][4];
};

/* Begins all products of a row of the kernel. WIDTH: its taps, if known. */
template <typename T, int WIDTH>
__device__ void multiply_row(const Flat &q, const Octet *weights, const Octet *octets,
                             Sums<T> (&sums)[T::blocks])
{
    constexpr unsigned MATRIX = 2 * T::maps; /* octets of both halves of the taps of 8 channels */
    const int width = WIDTH > 0 ? WIDTH : q.p.width;
    const unsigned stretch = static_cast<unsigned>(q.stretch);
    const unsigned taps = gf_describe(weights, MATRIX), samples = gf_describe(octets, stretch);
    gf_begin_products();
#pragma unroll(WIDTH > 0 ? WIDTH : 1)
    for (int kx = 0; kx < width; kx++)
#pragma unroll
        for (int b = 0; b < T::blocks; b++) {
            const unsigned a = samples + q.offsets[kx] + b * ROWS;
            const unsigned second = taps + kx * 2 * MATRIX;
            gf_begin_product(sums[b].upper, a, second, kx > 0);
            gf_begin_product(sums[b].lower, a + 2 * stretch, second, kx > 0);
        }
    gf_end_products();
}

/* Sums are done with: totals have them. `scales`: of the thread's positions. */
template <typename T>
__device__ void add_sums(Sums<T> (&sums)[T::blocks], const float (&scales)[T::blocks][2],
                         float (&totals)[T::blocks][T::runs][4])
{
#pragma unroll
    for (int b = 0; b < T::blocks; b++) {
        gf_wait_for_products(sums[b].upper);
        gf_wait_for_products(sums[b].lower);
#pragma unroll
        for (int r = 0; r < T::runs; r++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float small = sums[b].upper[T::runs + r][i] + sums[b].lower[r][i];
                totals[b][r][i] =
                    fma(sums[b].upper[r][i] + small, scales[b][i / 2], totals[b][r][i]);
            }
    }
}

/* Totals of a thread go to where all can read them; those of the first part, or on top of
 * others. */
template <typename T>
__device__ void keep(float (&totals)[T::blocks][T::runs][4], bool add, float *kept)
{
#pragma unroll
    for (int b = 0; b < T::blocks; b++)
#pragma unroll
        for (int r = 0; r < T::runs; r++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float *to = kept + (r * OCTET + i % 2) * T::pitch + b * ROWS + i / 2 * 8;
                *to = add ? *to + totals[b][r][i] : totals[b][r][i];
                totals[b][r][i] = 0.0F;
            }
}

/* The stages of one or all parts. */
template <typename T, int WIDTH>
__device__ void multiply(const Flat &q, const Corner &corner, unsigned char *memory,
                         Shared<T> *shared, int first, int end, int part, float *kept)
{
    const int warp = my_warp(), lane = static_cast<int>(threadIdx.x) % WARP;
    const int begin = warp / GROUP * T::own, mine = begin + warp % GROUP * 16 + lane / 4;
    const int first_row = first_scale(q, corner);
    const int weight_octets = q.weight_bytes / static_cast<int>(sizeof(Octet));
    const int lines = q.octets * q.phases_x * 2 * (q.rows_at_once > 1 ? q.phases_y : 1);
    const int all = (end - first) * q.p.height, part_rows = part * q.p.height; /* of the kernel */
    float totals[T::blocks][T::runs][4] = {};
    int rows[T::blocks][2]; /* of the line, of the thread's positions */
    kept += lane % 4 * 2 * T::pitch + mine;
#pragma unroll
    for (int b = 0; b < T::blocks; b++) {
        rows[b][0] = shared->rows[mine + b * ROWS] - first_row;
        rows[b][1] = shared->rows[mine + b * ROWS + 8] - first_row;
    }
    int slot = 0, parity = 0, ky = 0;
    for (int done = 0; done < all;) {
        gf_barrier_wait(&shared->full[slot], static_cast<unsigned>(parity));
        const Octet *weights = reinterpret_cast<const Octet *>(memory + slot * q.slot);
        const Octet *octets = weights + weight_octets * q.rows_at_once;
        const float *from = reinterpret_cast<const float *>(octets + lines * q.stretch);
        for (int i = 0; i < q.rows_at_once; i++, ky++, weights += weight_octets) {
            float scales[T::blocks][2];
            Sums<T> sums[T::blocks];
            multiply_row<T, WIDTH>(q, weights, octets + begin + q.downs[ky].shift, sums);
#pragma unroll
            for (int j = 0; j < T::blocks * 2; j++)
                scales[j / 2][j % 2] = from[q.downs[ky].scale + rows[j / 2][j % 2]];
            add_sums<T>(sums, scales, totals);
        }
        if (lane == 0)
            gf_barrier_arrive(&shared->empty[slot]);
        ky = ky == q.p.height ? 0 : ky;
        if (++slot == q.slots) {
            slot = 0;
            parity ^= 1;
        }
        done += q.rows_at_once;
        if (done % part_rows == 0 && done < all)
            keep<T>(totals, done > part_rows, kept);
    }
    meet<T>(); /* now slots are free */
    keep<T>(totals, end - first > part, kept);
}

template <typename T, int WIDTH>
__global__ void __launch_bounds__(threads<T>, 1) tensor_few(const __grid_constant__ Flat q)
{
    run_block<T>(
        q, q.stages,
        [&](const Corner &corner, unsigned char *slots, Shared<T> *shared, int first, int end) {
            bring<T>(q, corner, slots, shared, first, end);
        },
        [&](const Corner &corner, unsigned char *slots, Shared<T> *shared, int first, int end,
            int part,
            float *kept) { multiply<T, WIDTH>(q, corner, slots, shared, first, end, part, kept); });
}

/* ---- a launch ---- */

/* The cut whose slots are of all rows of the kernel, or of one. */
template <typename T> Cut cut_by(bool all, const Flat &flat, const GfStep *step)
{
    static_assert(head_bytes<T> <= gf_few_head(T::positions));
    static_assert(kept_bytes<T> == gf_few_kept(T::maps, T::positions));
    Cut cut = {INFINITY, flat, 0, 0, 0, nullptr};
    Flat &q = cut.q;
    const int lines = q.octets * q.phases_x * 2;
    const GfFewSlot slot = gf_few_slot(step, T::positions, all);
    if (slot.stretch == 0)
        return cut;
    q.rows_at_once = static_cast<int>(slot.rows);
    q.stretch = static_cast<int>(slot.stretch);
    q.slot_scales = static_cast<int>(slot.scales);
    q.slot = static_cast<int>(slot.bytes);
    q.tiles = stretches_of(q, T::positions);
    find_offsets(step, &q);
    find_downs(step, &q);
    for (int ky = 0; ky < q.p.height; ky++) {
        auto &at = q.downs[ky];
        at.scale = at.row + (all ? at.phase * q.slot_scales : 0);
        if (all) {
            at.shift = at.phase * lines * q.stretch + at.row * q.columns;
            at.octets = 0;
        }
    }
    switch (q.p.width) {
    case 3:
        cut.kernel = tensor_few<T, 3>;
        break;
    case 4:
        cut.kernel = tensor_few<T, 4>;
        break;
    case 5:
        cut.kernel = tensor_few<T, 5>;
        break;
    case 7:
        cut.kernel = tensor_few<T, 7>;
        break;
    default:
        cut.kernel = tensor_few<T, 0>;
    }
    const size_t bytes = slot.bytes * (step->linear.height / slot.rows);
    const size_t stages = static_cast<size_t>(q.stages);
    find_cost<T>(
        gf_flat_parts(step), GF_FEW_WAYS,
        [&](size_t tiles, size_t shares) {
            return gf_few_cost(tiles, stages, gf_few_cycles(step, T::positions, bytes), shares,
                               gf_multiprocessors());
        },
        &cut);
    return cut;
}

/* Those for which registers suffice. */
template <int MAPS, int BY, int BLOCKS> Cut cut_of(const Flat &q, const GfStep *step)
{
    if constexpr (gf_few_has_tile(MAPS, BY, BLOCKS)) {
        using T = Tile<MAPS, BY, BLOCKS>;
        const Cut cuts[] = {cut_by<T>(false, q, step), cut_by<T>(true, q, step)};
        return best_of(cuts, 0);
    }
    return {INFINITY, q, 0, 0, 0, nullptr};
}

template <int MAPS> Cut find(const Flat &q, const GfStep *step, size_t tiling)
{
#define CUT(BY, BLOCKS) cut_of<MAPS, BY, BLOCKS>(q, step),
    const Cut cuts[] = {GF_FEW_TILES(CUT)};
#undef CUT
    return best_of(cuts, tiling);
}

} // namespace

gf_flat::Cut gf_flat::find_few(const Flat &q, const GfStep *step, size_t tiling)
{
    return q.run_maps == 8    ? find<8>(q, step, tiling)
           : q.run_maps == 16 ? find<16>(q, step, tiling)
                              : find<32>(q, step, tiling);
}
