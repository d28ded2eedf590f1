/* Method `tensor`, layers, on cards whose tensor cores read both matrices from shared memory
 * (sm_90): as gpu/tensor_layer.cu has it, in two launches.
 *
 * The first lays the samples out as the product wants them (gpu/tensor_lines.cu). All rows of all
 * pictures of a minibatch become one line of positions, each an octet of channels, 16 bytes of f16;
 * there is a line of upper halves and one of lower halves for each octet of channels. Beside a row
 * stands what the border makes of its windows left and right of the picture, so that a window's
 * sample is always the same number of positions further on: a tap is nothing but a shift of the
 * line. Where the stride is s, positions are those of every s-th sample, and there are s times s
 * lines.
 *
 * The second multiplies. Of the first matrix a step has the taps of one row of the kernel for 64
 * maps, of the second one stretch of the line for each octet. One warp brings these to shared
 * memory, some steps ahead, by copies that the card makes by itself; groups of four warps multiply.
 * Sums of a step, in which small products come first, are added by f32's rules, multiplied by what
 * the samples' row was divided by. Of few maps gpu/tensor_few.cu multiplies; single taps on floats
 * need no lines (gpu/tensor_pixels.cu).
 *
 * Windows that do not overlap may be patches, single taps on the samples of each as channels
 * (gf_has_patches()): there is a line for each octet of those. */
#include "gpu/device.cuh"

namespace
{

using namespace gf_flat;

constexpr int NARROW = 3; /* columns */
constexpr int GROUP_MAPS = GF_FLAT_MAPS, GROUPS = GF_FLAT_GROUPS,
              MULTIPLYING = GROUPS * GROUP * WARP; /* threads */

/* Two groups of warps, each with 64 maps and 8 RUNS positions: of 128 maps, or of twice the
 * positions. */
template <int BLOCKS, int RUNS> struct Tile {
    static constexpr int groups = GROUPS, registers = 216, others_registers = 72;
    static constexpr int map_runs = BLOCKS, runs = RUNS, maps = BLOCKS * GROUP_MAPS;
    static constexpr int own = RUNS * OCTET, positions = gf_flat_positions(BLOCKS, RUNS);
    static constexpr int pitch = gf_flat_pitch(positions);
};

/* ---- the warp that brings ---- */

template <typename T>
__device__ void bring(const Flat &q, const Corner &corner, unsigned char *memory, Shared<T> *shared,
                      int first, int end)
{
    constexpr int OWN = (T::positions + WARP - 1) / WARP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int lines = q.octets * q.phases_x * 2, copies = T::map_runs + lines;
    const unsigned stretch_bytes = static_cast<unsigned>(q.stretch) * sizeof(Octet);
    const unsigned weight_bytes = static_cast<unsigned>(q.weight_bytes);
    const unsigned bytes = weight_bytes * T::map_runs + stretch_bytes * lines;
    const int weight_octets = q.weight_bytes / static_cast<int>(sizeof(Octet));
    const int steps = q.stages * q.p.height;
    int rows[OWN];
    float scales[OWN];
    const auto read_scales = [&](int stage, int ky) {
        const float *from =
            q.scales +
            (static_cast<long long>(stage) * q.phases_y + q.downs[ky].phase) * q.scale_rows +
            q.downs[ky].row;
#pragma unroll
        for (int i = 0; i < OWN; i++)
            scales[i] = from[rows[i]];
    };
    gf_wait_for_stream(q.brief ? GF_NEXT_AT_ONCE : GF_NEXT_AT_END);
#pragma unroll
    for (int i = 0; i < OWN; i++)
        rows[i] = shared->rows[min(i * WARP + lane, T::positions - 1)];
    int stage = corner.group * q.stages + first / q.p.height, ky = first % q.p.height;
    read_scales(stage, ky);
    for (int step = first, slot = 0, parity = 1; step < end; step++) {
        unsigned char *to = memory + slot * q.slot;
        gf_barrier_wait(&shared->empty[slot], static_cast<unsigned>(parity));
        if (lane == 0)
            gf_barrier_expect(&shared->full[slot], bytes);
        __syncwarp();
        for (int i = lane; i < copies; i += WARP) {
            if (i < T::map_runs) {
                const int run = min(corner.map_run + i, q.map_runs - 1);
                gf_copy_bulk(
                    to + i * weight_bytes,
                    q.weights +
                        (static_cast<long long>(corner.group * q.map_runs + run) * steps + step) *
                            weight_octets,
                    weight_bytes, &shared->full[slot]);
                continue;
            }
            /* Shared memory has the octets of a phase's upper halves, then those of its lower
             * ones. */
            const int line = i - T::map_runs, octet = line % q.octets, side = line / q.octets;
            gf_copy_bulk(to + T::map_runs * weight_bytes + line * stretch_bytes,
                         q.lines + line_of(q, stage, octet, q.downs[ky].phase, side) +
                             corner.position + q.downs[ky].octets,
                         stretch_bytes, &shared->full[slot]);
        }
        float *there = reinterpret_cast<float *>(to + bytes);
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (i * WARP + lane < T::positions)
                there[i * WARP + lane] = scales[i];
        gf_barrier_arrive(&shared->full[slot]);
        if (++ky == q.p.height) {
            ky = 0;
            stage++;
        }
        if (step + 1 < end)
            read_scales(stage, ky);
        if (++slot == q.slots) {
            slot = 0;
            parity ^= 1;
        }
    }
}

/* ---- the groups that multiply ---- */

/* Begins all products of a step: lower times upper, upper times lower, upper times upper halves. */
template <typename T, int WIDTH, int PAIRS>
__device__ void multiply_step(const Flat &q, const Octet *weights, const Octet *octets,
                              float (&sums)[T::runs][4])
{
    constexpr unsigned MATRIX = GROUP_MAPS * 2; /* octets of 64 maps of 16 channels */
    const unsigned stretch = static_cast<unsigned>(q.stretch);
    const unsigned half = 2 * PAIRS * stretch;
    const unsigned taps = gf_describe(weights, GROUP_MAPS), samples = gf_describe(octets, stretch);
    gf_begin_products();
#pragma unroll
    for (int kind = 0; kind < 3; kind++) {
        const unsigned a = taps + (kind == 0 ? MATRIX : 0), b = samples + (kind == 1 ? half : 0);
#pragma unroll
        for (int kx = 0; kx < WIDTH; kx++)
#pragma unroll
            for (int i = 0; i < PAIRS; i++)
                gf_begin_product<T::runs>(sums, a + (kx * PAIRS + i) * 2 * MATRIX,
                                          b + q.offsets[kx] + i * 2 * stretch,
                                          kind > 0 || kx > 0 || i > 0);
    }
    gf_end_products();
}

/* What a thread's sums are multiplied by. */
template <typename T> struct Scales {
    float2 of[T::runs];
};

template <typename T> __device__ Scales<T> read_scales(const float *scales)
{
    Scales<T> read;
#pragma unroll
    for (int r = 0; r < T::runs; r++)
        read.of[r] = *reinterpret_cast<const float2 *>(scales + threadIdx.x % 4 * 2 + r * OCTET);
    return read;
}

/* Sums of a step are done with: totals have them. */
template <typename T>
__device__ void add_sums(const float (&sums)[T::runs][4], const Scales<T> &scales,
                         float (&totals)[T::runs][4])
{
#pragma unroll
    for (int r = 0; r < T::runs; r++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            totals[r][i] = fma(sums[r][i], i % 2 ? scales.of[r].y : scales.of[r].x, totals[r][i]);
}

/* Totals of a thread go to where all can read them; those of the first part, or on top of
 * others. */
template <typename T> __device__ void keep(float (&totals)[T::runs][4], bool add, float *kept)
{
#pragma unroll
    for (int r = 0; r < T::runs; r++)
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            float2 *to = reinterpret_cast<float2 *>(kept + r * OCTET + i * 4 * T::pitch);
            float2 total = make_float2(totals[r][i], totals[r][i + 1]);
            if (add)
                total = make_float2(to->x + total.x, to->y + total.y);
            *to = total;
            totals[r][i] = totals[r][i + 1] = 0.0F;
        }
}

/* The steps of one or all parts. */
template <typename T, int WIDTH, int PAIRS>
__device__ void multiply(const Flat &q, unsigned char *memory, Shared<T> *shared, int first,
                         int end, int part, float (&totals)[T::runs][4], float *kept)
{
    const int group = my_warp() / GROUP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    const int run = T::map_runs == 1 ? 0 : group, begin = T::map_runs == 1 ? group * T::own : 0;
    for (int step = first, slot = 0, parity = 0, ky = first % q.p.height, of_part = 0; step < end;
         step++) {
        unsigned char *from = memory + slot * q.slot;
        const Octet *weights = reinterpret_cast<const Octet *>(from + run * q.weight_bytes);
        const Octet *octets = reinterpret_cast<const Octet *>(from + T::map_runs * q.weight_bytes);
        const float *scales =
            reinterpret_cast<const float *>(octets + q.octets * q.phases_x * 2 * q.stretch);
        const int shift = q.downs[ky].shift;
        ky = ky + 1 == q.p.height ? 0 : ky + 1;
        float sums[T::runs][4];
        gf_barrier_wait(&shared->full[slot], static_cast<unsigned>(parity));
        /* While one group adds up its sums, the other's products are made. */
        if (step > first || group > 0)
            gf_wait_at<MULTIPLYING>(group + 1);
        multiply_step<T, WIDTH, PAIRS>(q, weights, octets + begin + shift, sums);
        if (step + 1 < end || group == 0)
            gf_arrive_at<MULTIPLYING>(2 - group);
        const Scales<T> factors = read_scales<T>(scales + begin);
        gf_wait_for_products(sums);
        add_sums<T>(sums, factors, totals);
        if (lane == 0)
            gf_barrier_arrive(&shared->empty[slot]);
        if (++slot == q.slots) {
            slot = 0;
            parity ^= 1;
        }
        if (++of_part == part && step + 1 < end) {
            keep<T>(totals, step >= first + part, kept);
            of_part = 0;
        }
    }
}

/* ---- a block ---- */

template <typename T, int WIDTH, int PAIRS>
__global__ void __launch_bounds__(threads<T>, 1) tensor_flat(const __grid_constant__ Flat q)
{
    run_block<T>(
        q, q.stages * q.p.height,
        [&](const Corner &corner, unsigned char *slots, Shared<T> *shared, int first, int end) {
            bring(q, corner, slots, shared, first, end);
        },
        [&](const Corner &, unsigned char *slots, Shared<T> *shared, int first, int end, int part,
            float *kept) {
            const int warp = my_warp(), lane = static_cast<int>(threadIdx.x) % WARP;
            const int own_row = (T::map_runs == 1 ? warp % GROUP : warp) * 16 + lane / 4;
            const int own_column = (T::map_runs == 1 ? warp / GROUP * T::own : 0) + lane % 4 * 2;
            float *own = kept + own_row * T::pitch + own_column;
            float totals[T::runs][4] = {};
            multiply<T, WIDTH, PAIRS>(q, slots, shared, first, end, part, totals, own);
            meet<T>();
            const bool later = end - first > part;
            keep<T>(totals, later && q.shares == 1, later && q.shares > 1 ? own - q.kept : own);
        });
}

/* ---- a launch ---- */

/* Rows [y0, y1) of pictures [n, n + count) of a launch, the line of which has room for them. */
struct Slice {
    size_t n, count, y0, y1;
};

Flat flat_of(const GfLaunch *launch, const GfLinear &window, const Slice &slice)
{
    const GfStep *step = launch->step;
    const GfTensorLayer *state = &static_cast<const GfTensorState *>(launch->state)->layer;
    const GfTensorFlat shape = gf_tensor_flat(step);
    const bool whole = slice.y0 == 0 && slice.y1 == step->out_height;
    const size_t rows = gf_flat_rows(&shape, slice.y1 - slice.y0, whole);
    Flat q = {};
    q.p = gf_problem<float>(launch);
    q.p.in.samples = static_cast<const char *>(q.p.in.samples) + slice.n * q.p.in.batch;
    q.p.out.samples = static_cast<char *>(q.p.out.samples) + slice.n * q.p.out.batch +
                      (slice.y0 - launch->y0) * q.p.out.stride;
    q.p.y0 = slice.y0;
    q.p.y1 = slice.y1;
    q.p.count = slice.count;
    q.maps = q.p.maps_per_group;
    q.groups = static_cast<int>(step->linear.groups);
    q.depth = q.p.depth;
    q.octets = static_cast<int>(shape.octets);
    q.stages = static_cast<int>(shape.stages);
    q.phases_x = static_cast<int>(shape.phases_x);
    q.phases_y = static_cast<int>(shape.phases_y);
    q.right = static_cast<int>(shape.right);
    q.below = static_cast<int>(shape.below);
    q.run_maps = static_cast<int>(shape.run_maps);
    q.map_runs = static_cast<int>(shape.map_runs);
    q.columns = static_cast<int>(shape.columns);
    q.rows = static_cast<int>(rows);
    q.live_rows = static_cast<int>(slice.y1 - slice.y0);
    q.line_rows =
        static_cast<int>(gf_flat_line_rows(&shape, slice.count, slice.y1 - slice.y0, rows));
    q.line = static_cast<long long>(gf_flat_line(&shape, static_cast<size_t>(q.line_rows)));
    q.lines = static_cast<Octet *>(state->lines);
    q.scales = state->scales;
    q.scale_rows = static_cast<int>(gf_flat_scale_rows(static_cast<size_t>(q.line_rows)));
    q.weights = static_cast<const Octet *>(state->weights);
    q.lifts = state->lifts;
    q.units = state->units;
    q.lifted = state->lifted;
    q.weight_bytes = static_cast<int>(gf_flat_step_vectors(step) * sizeof(Octet));
    find_lines(step, window, &q);
    return q;
}

cudaError_t launch_tiles(const Cut &cut, cudaStream_t stream)
{
    return gf_launch_early(
        cut.kernel, {cut.blocks, cut.threads, cut.bytes, static_cast<unsigned>(cut.q.shares)},
        stream, cut.q);
}

/* Those for kernels of more than three columns, of a pair of octets a step. */
template <typename T, int... I>
void (*wide_kernel_of(int width, std::integer_sequence<int, I...>))(const Flat)
{
    static constexpr void (*kernels[])(const Flat) = {tensor_flat<T, NARROW + 1 + I, 1>...};
    return kernels[width - NARROW - 1];
}

/* The kernel that was compiled for width and channels of a step: loops that do not know them keep
 * products apart, and take two to three times as long (bench/results/2026-11-30-h200-5.md). */
template <typename T> void (*kernel_of(const Flat &q))(const Flat)
{
    if (q.p.width > NARROW)
        return wide_kernel_of<T>(q.p.width,
                                 std::make_integer_sequence<int, GF_FLAT_SIDE - NARROW>());
    switch (q.p.width * 10 + q.octets / 2) {
    case 12:
        return tensor_flat<T, 1, 2>;
    case 14:
        return tensor_flat<T, 1, 4>;
    case 21:
        return tensor_flat<T, 2, 1>;
    case 22:
        return tensor_flat<T, 2, 2>;
    case 31:
        return tensor_flat<T, 3, 1>;
    default:
        return tensor_flat<T, 3, 2>;
    }
}

template <typename T> Cut cut_of(const Flat &flat, const GfStep *step)
{
    static_assert(head_bytes<T> == gf_flat_head(T::map_runs, T::positions));
    static_assert(kept_bytes<T> == gf_flat_kept(T::map_runs, T::positions));
    Cut cut = {INFINITY, flat, 0, 0, 0, kernel_of<T>(flat)};
    Flat &q = cut.q;
    const GfTensorFlat shape = gf_tensor_flat(step);
    q.stretch = static_cast<int>(gf_flat_stretch(&shape, T::positions));
    q.slot = static_cast<int>(gf_flat_slot(step, T::map_runs, T::positions));
    q.tiles = stretches_of(q, T::positions);
    find_offsets(step, &q);
    find_downs(step, &q);
    const size_t parts = gf_flat_parts(step);
    find_cost<T>(
        parts, GF_FLAT_WAYS,
        [&](size_t tiles, size_t shares) {
            return gf_flat_cost(step, tiles, T::runs, parts, shares, gf_multiprocessors());
        },
        &cut);
    return cut;
}

/* Tilings before those; and of many maps, those of few are behind them. */
#define COUNT(...) +1
constexpr size_t OTHERS = 0 GF_TENSOR_TILES(COUNT), MANY = 0 GF_FLAT_TILES(COUNT);
#undef COUNT

/* The cheapest, or that of tiling `tiling`, from 1 on. */
Cut find_many(const Flat &q, const GfStep *step, size_t tiling)
{
#define CUT(BLOCKS, RUNS) cut_of<Tile<BLOCKS, RUNS>>(q, step),
    const Cut cuts[] = {GF_FLAT_TILES(CUT)};
#undef CUT
    return best_of(cuts, tiling);
}

cudaError_t run_slice(const GfLaunch *launch, const GfLinear &window, const Slice &slice,
                      cudaStream_t stream)
{
    const Flat q = flat_of(launch, window, slice);
    const size_t tiling = launch->tiling > OTHERS ? launch->tiling - OTHERS : 0;
    if (!q.lines)
        return launch_pixels(launch->step, q, stream);
    const bool few = q.run_maps < GROUP_MAPS;
    if (few && tiling > 0 && tiling <= MANY)
        return cudaErrorNotSupported;
    const Cut best = few ? find_few(q, launch->step, tiling > 0 ? tiling - MANY : 0)
                         : find_many(q, launch->step, tiling);
    if (best.cost == INFINITY)
        return cudaErrorNotSupported;
    cudaError_t error = launch_lines(q, stream);
    return error == cudaSuccess ? launch_tiles(best, stream) : error;
}

/* Where the rows from y0 on end, at y1 at most, of which patches of no row but the first have some
 * rows of the picture at the end of their ring, and others at its beginning. */
size_t end_of_patches(const GfLaunch *launch, size_t y0, size_t y1)
{
    const GfStep *step = launch->step;
    const auto parted = [&](size_t y) {
        const size_t at = y * step->stride_y + static_cast<size_t>(step->origin_y);
        const size_t from = at - launch->in.first;
        return from < launch->in.capacity && from + step->linear.height > launch->in.capacity;
    };
    if (!gf_has_patches(step))
        return y1;
    if (parted(y0))
        return y0 + 1;
    for (size_t y = y0 + 1; y < y1; y++)
        if (parted(y))
            return y;
    return y1;
}

} // namespace

extern "C" bool gf_has_groups()
{
#ifdef GPUFILTER_SM90A
    int device = 0, major = 0, minor = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) ==
               cudaSuccess &&
           major == 9 && minor == 0;
#else
    return false;
#endif
}

extern "C" cudaError_t gf_launch_tensor_flat(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep taps = gf_patches(launch->step);
    GfLaunch of_taps = *launch;
    of_taps.step = &taps;
    const GfTensorLayer *layer = &static_cast<const GfTensorState *>(launch->state)->layer;
    const size_t room = layer->lines ? layer->line : size_t{GF_FLAT_DIRECT};
    const size_t height = launch->y1 - launch->y0;
    const bool whole = launch->y0 == 0 && launch->y1 == launch->step->out_height;
    /* Without lines distances from picture to picture are of 32 bits. */
    const bool several = layer->lines || launch->in.batch <= INT_MAX;
    const GfFlatSlice slice =
        gf_flat_slice(&taps, room, several ? launch->count : 1, height, whole);
    const size_t count = slice.count, rows = slice.rows;
    cudaError_t error = cudaSuccess;
    for (size_t n = 0; n < launch->count && error == cudaSuccess; n += count)
        for (size_t y = launch->y0, next; y < launch->y1 && error == cudaSuccess; y = next) {
            const size_t left = launch->count - n, under = launch->y1 - y;
            next = end_of_patches(launch, y, y + (under < rows ? under : rows));
            error = run_slice(&of_taps, launch->step->linear,
                              {n, left < count ? left : count, y, next}, stream);
        }
    return error;
}
