/* Launches of the forms of `tensor` for pictures of 8 bits that go in strips
 * (gpu/tensor_bytes.cuh). */
#include "gpu/device.cuh"

namespace
{

constexpr size_t WAVES = 3; /* of warps, so that the last are not waited for long */

/* Where nothing but the gain follows on the sums, it is part of their scale and offset; so are the
 * unit of the integers, and what three planes' sums have too much. */
void fold(const GfStep *step, const GfTensor &plan, GfByteStrips *s)
{
    const GfLinear *linear = &step->linear;
    s->finished = gf_tensor_finishes(step);
    const double gain = s->finished ? step->gain : 1.0, mid = s->finished ? step->mid : 0.0;
    const bool joined = plan.planes > 1 && plan.bytes == 1 && !plan.factors;
    const double extra = joined ? 257.0 * static_cast<double>(GF_START) : 0.0;
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
        (step->out == GF_U8 || plan.bytes == 2) &&
        (plan.by_channel || gf_aligned(s->out.samples, s->out.stride, s->out.batch, GF_WORD)) &&
        (plan.filters == 1 ? s->finished : lengths);
    s->kept_scale = static_cast<float>(gain / (plan.planes > 1 ? 65536.0 : 1.0)); /* last plane's */
    s->kept_offset = static_cast<float>(-extra * static_cast<double>(s->kept_scale));
}

GfByteStrips describe(const GfLaunch *launch, const GfTensorState *state)
{
    const GfStep *step = launch->step;
    GfByteStrips s = {};
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
    s.first_byte = state->plan.first_word * GF_WORD * gf_channels_apart(state->plan);
    s.last_row = static_cast<int>(step->linear.height) - 1;
    s.above = state->plan.factors ? static_cast<int>(state->plan.height - 1) * GF_FACTORS_ROWS
                                  : static_cast<int>(state->plan.height) - 1;
    s.post_channels = static_cast<int>(step->post_channels);
    s.keep_alpha = step->keep_alpha;
    s.vectors_in = gf_aligned(s.in.samples, s.in.stride, s.in.batch, 16);
    s.vectors_out = gf_aligned(s.out.samples, s.out.stride, s.out.batch, 16);
    s.pairs_out = state->plan.by_channel || gf_aligned(s.out.samples, s.out.stride, s.out.batch,
                                                       2 * gf_sample_size(step->out));
    s.border = step->border;
    if (step->border == GF_BORDER_CONSTANT)
        s.border_word = static_cast<uint32_t>(step->border_value) *
                        (state->plan.bytes == 2 ? 0x00010001u : 0x01010101u);
    s.finish = gf_finish<float>(step);
    s.words = state->words;
    fold(step, state->plan, &s);
    return s;
}

/* So many rows a warp that there are up to WAVES of them, few rows are computed twice, and no few
 * warps are one wave more; no fewer than the kernel's height makes worth while. */
void find_walks(const GfLaunch *launch, size_t warps_at_once, const GfByteCut &cut, GfByteStrips *s)
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

} // namespace

cudaError_t gf_launch_bytes(const GfLaunch *launch, GfByteKernel kernel, const GfByteCut &cut,
                            cudaStream_t stream)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    const unsigned threads = 32 * static_cast<unsigned>(cut.warps);
    if (!kernel)
        return cudaErrorNotSupported;
    int blocks_at_once = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_at_once, kernel,
                                                                      static_cast<int>(threads), 0);
    if (error != cudaSuccess || blocks_at_once == 0)
        return error != cudaSuccess ? error : cudaErrorLaunchOutOfResources;
    GfByteStrips s = describe(launch, state);
    find_walks(launch, gf_multiprocessors() * cut.warps * static_cast<size_t>(blocks_at_once), cut,
               &s);
    const size_t units = s.walks.units * cut.apart;
    const dim3 grid(static_cast<unsigned>(gf_divide_up(units, cut.warps)),
                    static_cast<unsigned>(launch->count));
    return gf_launch_early(kernel, gf_spread(kernel, {grid, threads}), stream, s);
}
