/* Method `special`: algorithm 1 of Chen, Chen, Chen and Hu, "Optimizing Memory Efficiency for
 * Convolution Kernels on Kepler GPUs" (DAC 2017), for pictures whose channels are
 * filtered one by one with small kernels, and for layers of one channel and one map. (Layers of
 * more maps: special_layer.cu, special_maps.cu; one channel of small pictures: special_maps.cu;
 * most of what is done to floats: special_short.cu, the rest: special_floats.cu; 3 x 3 on bytes:
 * special_bytes.cu; the walk down the rows that is told of here: special_walk.cuh,
 * special_rows.cuh.)
 *
 * A warp owns a strip of 32 * N samples and walks down rows by itself: nothing is shared and
 * nothing waited for but memory. A thread owns N neighbouring samples. Each input row is read from
 * global memory once, one vector of N samples a thread, some rows before it is used; what a thread
 * needs of its neighbours' vectors comes by shuffles of 32-bit words, as they were read. The
 * strip's halo is read by the lanes at its ends, each for the other end: shuffles go round, and
 * what the last lane has to give to the right, none takes. A vector is 4, 8 or 16 bytes: the
 * paper's matched width, here of words of a shuffle, and multiples of it where registers allow,
 * since all that a row costs beside its multiply-adds is shared by the N. (The tilings of the table
 * force N, down to accesses of one narrow sample, so that the paper's comparison of matched and
 * unmatched widths can be repeated.)
 *
 * Downwards nothing is exchanged: a thread keeps, instead of the paper's K rows of pixels, the K -
 * 1 sums of the output rows that are under way, and each input row is added to all of them. A sum
 * moves on by one place with every row; the first multiply-add of a row does that for free, so the
 * loop needs no unrolling modulo K.
 *
 * Strips whose rows and columns all lie on the picture, one after the other in memory, are read
 * without a test. The others find rows by the border's rule, 32 at a time, and the few samples that
 * lie in no vector of the picture one by one, each by another lane.
 *
 * Kernels of more than 7 x 7 are for one channel: they are summed row by row, each row then added
 * to the sum under way.
 *
 * Interleaved channels are a row of width * C samples whose taps lie C apart. Taps are a kernel
 * parameter, so the multiply-adds take them from constant memory and no thread loads one. Kernels
 * that are no K x K square about their anchor lie in the smallest such box, filled up with zero
 * taps. What is done to a sum is put into the taps where no rounding changes by it.
 *
 * Costs for a sample of input: (rows + K - 1) / rows reads, with `rows` chosen so that all
 * multiprocessors are busy, and one write of global memory; F * K * K multiply-adds, and some 5 to
 * 10 operations more. */
#include "gpu/device.cuh"

using namespace gf_special;

namespace
{

constexpr size_t LARGE = 1 << 21;  /* pixels of a large picture */
constexpr size_t MEDIUM = 1 << 20; /* from which 5 x 5 and 7 x 7 by short strips were measured */

/* Do rows that are read and written begin where vectors do? */
bool are_aligned(const GfLaunch *launch)
{
    const GfRows &in = launch->in;
    const GfOutRows &out = launch->out;
    return gf_aligned(in.samples, in.stride, in.batch, sizeof(uint4)) &&
           gf_aligned(out.samples, out.stride, out.batch, sizeof(uint4));
}

/* Is it a bank of one kernel by another name, whose kernel is its box? The border must be a sample:
 * zero is one of every type. Small pictures have too few strips for large kernels to be worth
 * while; rows that begin anywhere would be read sample by sample. */
bool is_bank(const GfLaunch *launch)
{
    const GfStep *step = launch->step;
    const GfLinear *linear = &step->linear;
    return step->channels == 1 && linear->filters == 1 && linear->depth == 1 &&
           linear->width == linear->height && linear->width % 2 != 0 &&
           (linear->width <= 3 || step->out_width * step->out_height >= LARGE) &&
           step->combine.op == GF_COMBINE_NONE &&
           (step->border != GF_BORDER_CONSTANT || step->border_value == 0.0 ||
            step->in == GF_F32) &&
           launch->in.pixel == 1 && launch->out.pixel == 1 && launch->tiling == 0 &&
           !launch->pool && are_aligned(launch);
}

} // namespace

extern "C" cudaError_t gf_launch_special(const GfLaunch *launch, cudaStream_t stream)
{
    const GfStep *step = launch->step;
    if (gf_special_is_tile(step, launch->wide))
        return launch->wide && launch->tiling == 0 && gf_special_is_wide(step)
                   ? gf_launch_special_wide(launch, stream)
                   : gf_launch_special_tile(launch, stream);
    const bool layer = gf_step_is_layer(step) && !is_bank(launch);
    const bool maps = gf_special_is_maps(launch);
    if ((layer || maps) && gf_special_is_small(launch))
        return gf_launch_special_small(launch, stream);
    if (maps)
        return gf_launch_special_maps(launch, stream);
    if (gf_special_is_short(launch) &&
        (step->linear.width <= 3 || step->out_width * step->out_height >= MEDIUM))
        return gf_launch_special_short(launch, stream);
    if (gf_special_is_pairs(launch))
        return gf_launch_special_pairs(launch, stream);
    if (gf_special_is_bytes(launch))
        return gf_launch_special_bytes(launch, stream);
    const bool alike = step->channels == 1 && step->linear.filters == 1 && !step->combine.op &&
                       gf_special_side(&step->linear) <= GF_SPECIAL_SIDE;
    if (layer && step->channels > 1)
        return gf_launch_special_depthwise(launch, stream);
    if (layer || (alike && launch->tiling == GF_SPECIAL_AS_LAYER))
        return gf_launch_special_layer(launch, stream);
    if (launch->tiling > 0)
        return gf_launch_special_tiling(launch, stream);
    switch (step->in) {
    case GF_U8:
        return run_channels<uint8_t>(launch, stream);
    case GF_U16:
        return run_channels<uint16_t>(launch, stream);
    default:
        return gf_launch_special_floats(launch, stream);
    }
}
