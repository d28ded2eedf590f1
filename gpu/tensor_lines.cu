/* The lines of gpu/tensor_flat.cu: samples become f16 and stand as its product wants them. A thread
 * has some samples of a row, of eight channels each. Those of a row, of all channels of a stage,
 * find its largest magnitude, which what is written is divided by.
 *
 * Costs of a number: 4 bytes read, 4 written, and some thirty instructions, which it waits for as
 * much as for bytes. */
#include "gpu/device.cuh"

namespace
{

using namespace gf_flat;

constexpr int OWN = 4;   /* samples that a thread keeps; where there are more it reads them again */
constexpr int LEAST = 4; /* threads of a row: a power of two, or whole warps */
constexpr int MOST = 1024; /* threads of a block, */
constexpr int USUAL = 128; /* and as many as short rows are put together for */

/* ---- samples ---- */

/* A row of a picture as a thread reads it. */
struct Source {
    const char *samples; /* of its octet's first channel; of patches, of all */
    int channel, count;  /* the first, and how many there are; */
    int read;            /* as many, or none where the border's constant stands */
};

/* Where the channels of an octet are, in bytes. */
template <bool PATCHES> struct Places {
    __device__ Places(const Flat &q, int) : plane(q.plane_bytes)
    {
    }
    __device__ long long operator[](int j) const
    {
        return j * plane;
    }
    long long plane;
};

template <> struct Places<true> {
    __device__ Places(const Flat &q, int channel)
    {
#pragma unroll
        for (int j = 0; j < OCTET; j++)
            of[j] = patch_place(q, channel + j);
    }
    __device__ long long operator[](int j) const
    {
        return of[j];
    }
    long long of[OCTET];
};

template <typename In, bool PATCHES>
__device__ Numbers read_numbers(const Flat &q, const Source &row, const Places<PATCHES> &places,
                                int x)
{
    Numbers numbers;
    x = gf_find_sample(q.across, x);
    const char *from = row.samples + static_cast<long long>(x) * q.pixel_bytes;
    if constexpr (PATCHES && std::is_same_v<In, float>)
        if (x >= 0 && row.read >= OCTET && q.patches.quads) {
#pragma unroll
            for (int j = 0; j < OCTET; j += 4) {
                const float4 four = *reinterpret_cast<const float4 *>(from + places[j]);
                numbers.of[j] = four.x;
                numbers.of[j + 1] = four.y;
                numbers.of[j + 2] = four.z;
                numbers.of[j + 3] = four.w;
            }
            return numbers;
        }
    if (x >= 0 && row.read >= OCTET) {
#pragma unroll
        for (int j = 0; j < OCTET; j++)
            numbers.of[j] = gf_number_at<float, In>(from + places[j], q.sample);
        return numbers;
    }
#pragma unroll
    for (int j = 0; j < OCTET; j++) {
        numbers.of[j] = j < row.count ? q.p.border_value : 0.0F;
        if (x >= 0 && j < row.read)
            numbers.of[j] = gf_number_at<float, In>(from + places[j], q.sample);
    }
    return numbers;
}

__device__ float lift_of(const Flat &q, const Source &row, int j)
{
    return j < row.count ? q.lifts[row.channel + j] : 1.0F;
}

/* ---- a block ---- */

/* The largest of a row's threads, of all octets; largest[row] is 0 before. */
__device__ float row_largest(float most, unsigned *largest)
{
    const int lanes = min(static_cast<int>(blockDim.x), WARP);
    for (int apart = lanes / 2; apart > 0; apart /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0U, most, apart));
    if (static_cast<int>(threadIdx.x) % lanes == 0)
        atomicMax(&largest[threadIdx.y], __float_as_uint(most));
    __syncthreads();
    return __uint_as_float(largest[threadIdx.y]);
}

/* A block: some rows of the line, of all octets of a stage. Its threads are those along a row, of
 * so many rows, of each octet. PHASES: there may be several in a row. */
template <typename In, bool PHASES, bool PATCHES = false>
__global__ void __launch_bounds__(MOST) lay_out(const __grid_constant__ Flat q)
{
    __shared__ unsigned largest[USUAL / LEAST];
    const unsigned row = blockIdx.x * blockDim.y + threadIdx.y,
                   stages = static_cast<unsigned>(q.stages);
    const int stage = static_cast<int>(blockIdx.y), octet = static_cast<int>(threadIdx.z);
    const int phase_y = static_cast<int>(blockIdx.z);
    const unsigned n = row / static_cast<unsigned>(q.rows),
                   own_row = row % static_cast<unsigned>(q.rows);
    const int down = static_cast<int>(own_row) * q.stride_y + phase_y;
    const int first = (static_cast<int>(blockIdx.y % stages) * q.octets + octet) * OCTET;
    const int channel = static_cast<int>(blockIdx.y / stages) * q.depth + first;
    if (threadIdx.x == 0 && octet == 0)
        largest[threadIdx.y] = 0;
    __syncthreads();
    /* The line has more rows than windows meet: zeros between pictures, and of other phases. */
    const bool met = n < q.p.count && down < q.met_rows;
    Source source = {static_cast<const char *>(q.p.in.samples), channel, met ? q.depth - first : 0,
                     0};
    const char *from = source.count > 0 ? gf_input_row<char>(q.p, n, q.first_row + down) : nullptr;
    if (from) {
        source.samples = from + (PATCHES ? 0 : channel * q.plane_bytes);
        source.read = source.count;
    }
    const Places<PATCHES> places(q, channel);
    Octet *to = q.lines + gf_computed(line_of(q, stage, octet, phase_y, 0) +
                                      static_cast<long long>(row) * q.columns);
    const int threads = static_cast<int>(blockDim.x), begin = static_cast<int>(threadIdx.x);
    const bool there = row < static_cast<unsigned>(q.line_rows);
    const int samples = there ? q.columns * (PHASES ? q.phases_x : 1) : 0;
    Numbers mine[OWN];
    const auto each = [&](auto what) {
#pragma unroll
        for (int k = 0; k < OWN; k++)
            if (begin + k * threads < samples)
                what(begin + k * threads, &mine[k]);
    };
    const auto read = [&](int i) {
        const int x = PHASES ? i : i * q.single_stride;
        return read_numbers<In>(q, source, places, x + q.first_column);
    };
    const auto write = [&](int i, const Numbers &numbers, float scale) {
        const int column = PHASES ? static_cast<int>(__umulhi(i, q.phase_part)) : i;
        const int phase = PHASES ? i - column * q.phases_x : 0;
        write_octet(numbers, scale, to + phase * 2 * q.line + column, q.line);
    };
    gf_wait_for_stream();
    float most = 0.0F;
    each([&](int i, Numbers *numbers) { *numbers = read(i); });
    if (q.lifted)
#pragma unroll
        for (int j = 0; j < OCTET; j++) {
            const float lift = lift_of(q, source, j);
            each([&](int, Numbers *numbers) { numbers->of[j] *= lift; });
        }
    each([&](int, Numbers *numbers) { most = largest_of<false>(*numbers, most); });
    if (most == INFINITY) {
        most = 0.0F;
        each([&](int, Numbers *numbers) { most = largest_of<true>(*numbers, most); });
    }
    const auto again = [&](int i) {
        Numbers numbers = read(i);
        if (q.lifted)
            for (int j = 0; j < OCTET; j++)
                numbers.of[j] *= lift_of(q, source, j);
        return numbers;
    };
    for (int i = begin + OWN * threads; i < samples; i += threads)
        most = largest_of<true>(again(i), most);
    const GfScale scale = gf_scale<1>(row_largest(most, largest));
    if (begin == 0 && octet == 0 && there)
        q.scales[(static_cast<long long>(stage) * q.phases_y + phase_y) * q.scale_rows + row] =
            scale.down;
    each([&](int i, Numbers *numbers) { write(i, *numbers, scale.up); });
    for (int i = begin + OWN * threads; i < samples; i += threads)
        write(i, again(i), scale.up);
}

/* ---- a launch ---- */

/* Threads of a multiprocessor that lay lines out, where those are brief. Then the multiplying
 * launch lets the next one's blocks come: where there were more, layers took up to 5 % longer by it
 * on an H200, here up to 18 % less. */
constexpr size_t FEW = 1024;

/* Blocks whose threads have so many samples each. */
GfBlocks blocks_by(const Flat &q, unsigned own)
{
    const unsigned octets = static_cast<unsigned>(q.octets), most = MOST / octets;
    const unsigned line_rows = static_cast<unsigned>(q.line_rows);
    const dim3 each(1, static_cast<unsigned>(q.groups * q.stages),
                    static_cast<unsigned>(q.phases_y));
    const unsigned wanted = gf_divide_up(static_cast<unsigned>(q.columns * q.phases_x), own);
    unsigned along = LEAST, rows = 1;
    while (along < wanted && along < WARP)
        along *= 2;
    if (wanted > WARP)
        along = gf_divide_up(wanted, static_cast<unsigned>(WARP)) * WARP;
    along = along < most ? along : most;
    while (along * octets * rows < WARP)
        rows *= 2;
    while (along * octets * rows < USUAL &&
           static_cast<size_t>(gf_divide_up(line_rows, 2 * rows)) * each.y * each.z >=
               2 * gf_cluster_room(1))
        rows *= 2;
    return {dim3(gf_divide_up(line_rows, rows), each.y, each.z), dim3(along, rows, octets), 0};
}

/* Those of as few samples as let all blocks run at once; but of short rows neighbours read
 * neighbours, and long ones are kept. */
GfBlocks blocks_of(const Flat &q)
{
    const int samples = q.columns * q.phases_x;
    const unsigned most = samples > WARP ? OWN : OWN / 2;
    unsigned own = samples > WARP * OWN ? OWN : 1;
    const auto wait = [](const GfBlocks &blocks) {
        const dim3 threads = blocks.threads;
        return gf_blocks_each(blocks) > MOST / (threads.x * threads.y * threads.z);
    };
    while (own < most && wait(blocks_by(q, own)))
        own *= 2;
    return blocks_by(q, own);
}

unsigned part_of(int n)
{
    return static_cast<unsigned>((1ULL << 32) / static_cast<unsigned>(n) + 1);
}

/* Of rows of which no window but the first may have some before the ring's end and some behind. */
void find_patches(const GfStep *step, const GfLinear &window, Flat *q)
{
    const bool any = step->linear.depth > window.depth;
    const GfRows &in = q->p.in;
    const size_t from = static_cast<size_t>(q->first_row) - in.first;
    const bool parted = from < in.capacity && from + window.height > in.capacity;
    Patches *of = &q->patches;
    of->width = any ? static_cast<int>(window.width) : 1;
    of->area = any ? static_cast<int>(window.width * window.height) : 1;
    of->planes = static_cast<int>(window.depth);
    of->width_part = part_of(of->width);
    of->area_part = part_of(of->area);
    of->row_bytes = static_cast<long long>(in.stride);
    of->ring_bytes = static_cast<long long>(in.capacity * in.stride);
    of->ring_row = parted ? static_cast<int>(in.capacity - from) : INT_MAX;
    of->quads = any && window.width % 4 == 0 && in.pixel == 1 && in.plane % 4 == 0 &&
                step->stride_x % 4 == 0 && step->origin_x % 4 == 0 &&
                gf_aligned(in.samples, in.stride, in.batch, sizeof(float4));
}

} // namespace

void gf_flat::find_lines(const GfStep *step, const GfLinear &window, Flat *q)
{
    const long long size = static_cast<long long>(gf_sample_size(step->in));
    q->sample = step->in;
    q->across = gf_find_edge(step->in_width, step->border);
    q->pixel_bytes = static_cast<int>(static_cast<long long>(q->p.in.pixel) * size);
    q->plane_bytes = static_cast<long long>(q->p.in.plane) * size;
    q->stride_y = static_cast<int>(q->p.stride_y);
    q->single_stride = q->phases_x > 1 ? 1 : static_cast<int>(q->p.stride_x);
    q->phase_part = part_of(q->phases_x);
    q->first_column = static_cast<int>(q->p.origin_x);
    q->first_row = static_cast<long long>(q->p.y0) * q->p.stride_y + q->p.origin_y;
    q->met_rows = (q->live_rows - 1) * q->stride_y +
                  static_cast<int>((step->linear.height - 1) * step->dilation_y) + 1;
    find_patches(step, window, q);
    const GfBlocks blocks = blocks_of(*q);
    const dim3 threads = blocks.threads;
    q->brief = gf_blocks_each(blocks) * threads.x * threads.y * threads.z <= FEW;
}

cudaError_t gf_flat::launch_lines(const Flat &q, cudaStream_t stream)
{
    const bool several = q.phases_x > 1, real = q.sample == GF_F32;
    void (*kernel)(const Flat) = real ? lay_out<float, false> : lay_out<void, false>;
    if (several)
        kernel = real ? lay_out<float, true> : lay_out<void, true>;
    if (q.patches.area > 1)
        kernel = real ? lay_out<float, false, true> : lay_out<void, false, true>;
    return gf_launch_early(kernel, gf_spread(kernel, blocks_of(q)), stream, q);
}
