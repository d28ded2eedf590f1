/* The two halves of method `im2col` around its matrix product, as in Hwu, Kirk and El Hajj,
 * "Programming Massively Parallel Processors", 16.4. `unroll` has a thread for each input channel
 * and output position, channels * positions in all, which gathers the height * width samples of its
 * window; neighbouring threads stand for neighbouring positions, so that each of their writes is
 * one run of memory. `roll` has a thread an output sample, and does to sums what every method does.
 *
 * Costs, for each position: channels * height * width numbers written, and read once by the
 * product. Samples come from caches but for the first of the windows that share them. */
#include "gpu/device.cuh"

namespace
{

constexpr unsigned BLOCK = 256;

/* Positions [first, first + count) of picture n; there are `total` in the rows of the launch. */
struct Part {
    size_t n, first, count, total;
};

Part part_of(const GfLaunch *launch, size_t n, size_t first, size_t positions)
{
    return {n, first, positions, (launch->y1 - launch->y0) * launch->step->out_width};
}

/* This thread's row of a part's matrix and its place in it; false beyond the last of `rows`. */
__device__ bool my_place(const Part &part, int rows, int *row, size_t *i)
{
    size_t t = blockIdx.x * static_cast<size_t>(BLOCK) + threadIdx.x;
    *row = static_cast<int>(t / part.count);
    *i = t % part.count;
    return *row < rows;
}

template <typename Sum>
__device__ void locate(const GfProblem<Sum> &p, const Part &part, size_t i, long long *x, size_t *y)
{
    size_t position = part.first + i, width = static_cast<size_t>(p.out_width);
    *x = static_cast<long long>(position % width);
    *y = p.y0 + position / width;
}

template <typename In, typename Sum>
__device__ Sum sample_at(const GfProblem<Sum> &p, const In *row, long long x, int c)
{
    return row && x >= 0 && x < p.in_width ? gf_number<Sum>(row[x * p.in.pixel + c * p.in.plane])
                                           : gf_input(p, row, x, c);
}

template <typename In, typename Sum>
__global__ void __launch_bounds__(BLOCK)
    unroll(const __grid_constant__ GfProblem<Sum> p, Part part, Sum *matrix)
{
    int c;
    size_t i, y;
    long long x;
    if (!my_place(part, p.channels, &c, &i))
        return;
    Sum *to = matrix + static_cast<size_t>(c) * p.height * p.width * part.count + i;
    bool beyond = part.first + i >= part.total;
    locate(p, part, i, &x, &y);
    x = x * p.stride_x + p.origin_x;
    long long at_y = static_cast<long long>(y) * p.stride_y + p.origin_y;
    for (int ky = 0; ky < p.height; ky++) {
        const In *row = beyond ? nullptr : gf_input_row<In>(p, part.n, at_y + ky * p.dilation_y);
        for (int kx = 0; kx < p.width; kx++, to += part.count)
            *to = beyond ? Sum(0) : sample_at(p, row, x + kx * p.dilation_x, c);
    }
}

/* The responses of output channel o, combined. */
template <typename Sum>
__device__ Sum respond(const GfProblem<Sum> &p, const Part &part, int o, size_t i,
                       const Sum *products)
{
    const Sum *product = products + static_cast<size_t>(o) * p.responses * part.count + i;
    GfCombiner<Sum> combined;
    gf_combine_begin(p.finish, &combined, fma(*product, p.finish.scale, p.finish.offset));
    for (int j = 1; j < p.responses; j++) {
        product += part.count;
        gf_combine_add(p.finish, &combined, fma(*product, p.finish.scale, p.finish.offset));
    }
    return gf_combine_end(p.finish, combined);
}

template <typename In, typename Sum>
__global__ void __launch_bounds__(BLOCK)
    roll(const __grid_constant__ GfProblem<Sum> p, Part part, const Sum *products)
{
    int o;
    size_t i, y;
    long long x;
    if (!my_place(part, p.out_channels, &o, &i) || part.first + i >= part.total)
        return;
    locate(p, part, i, &x, &y);
    if (gf_is_kept(p, o))
        gf_keep_alpha<In>(p, part.n, o, x, y);
    else
        gf_finish_sample(p, part.n, o, x, y, respond(p, part, o, i, products));
}

/* Blocks for `rows` rows of a part's matrix. */
unsigned blocks_of(const Part &part, size_t rows)
{
    return static_cast<unsigned>((part.count * rows + BLOCK - 1) / BLOCK);
}

template <typename Sum>
cudaError_t launch_unroll(const GfLaunch *launch, const Part &part, Sum *matrix,
                          cudaStream_t stream)
{
    GfProblem<Sum> p = gf_problem<Sum>(launch);
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return gf_launch(unroll<decltype(sample), Sum>,
                         {blocks_of(part, launch->step->channels), BLOCK}, stream, p, part, matrix);
    });
}

template <typename Sum>
cudaError_t launch_roll(const GfLaunch *launch, const Part &part, const Sum *products,
                        cudaStream_t stream)
{
    GfProblem<Sum> p = gf_problem<Sum>(launch);
    return gf_with_sample<Sum>(launch->step->in, [&](auto sample) {
        return gf_launch(roll<decltype(sample), Sum>,
                         {blocks_of(part, launch->step->out_channels), BLOCK}, stream, p, part,
                         products);
    });
}

} // namespace

extern "C" cudaError_t gf_launch_unroll(const GfLaunch *launch, size_t n, size_t first,
                                        size_t positions, void *matrix, cudaStream_t stream)
{
    Part part = part_of(launch, n, first, positions);
    return launch->wide ? launch_unroll(launch, part, static_cast<double *>(matrix), stream)
                        : launch_unroll(launch, part, static_cast<float *>(matrix), stream);
}

extern "C" cudaError_t gf_launch_roll(const GfLaunch *launch, size_t n, size_t first,
                                      size_t positions, const void *products, cudaStream_t stream)
{
    Part part = part_of(launch, n, first, positions);
    return launch->wide ? launch_roll(launch, part, static_cast<const double *>(products), stream)
                        : launch_roll(launch, part, static_cast<const float *>(products), stream);
}
