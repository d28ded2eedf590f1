/* The strips of method `tensor` (gpu/tensor_strips.cuh) on samples of 8 bits, and all launches of
 * that method. */
#include "gpu/device.cuh"

using namespace gf_strips;

namespace
{

/* ---- the launcher ---- */

/* From the plan to its instance, one property after the other; NULL: there is none. */

template <int HEIGHT, int GROUPS> GfByteKernel find_planes(const GfTensor &plan)
{
    const bool one = plan.planes == 1;
    if (plan.filters == 1)
        return one ? tensor<HEIGHT, GROUPS, 1, 1> : tensor<HEIGHT, GROUPS, 3, 1>;
    if constexpr (HEIGHT <= 7)
        return one ? tensor<HEIGHT, GROUPS, 1, 2> : nullptr;
    return nullptr;
}

template <int HEIGHT> GfByteKernel find_groups(const GfTensor &plan)
{
    switch (plan.groups) {
    case 1:
        return find_planes<HEIGHT, 1>(plan);
    case 2:
        return find_planes<HEIGHT, 2>(plan);
    }
    return nullptr;
}

template <int HEIGHT> GfByteKernel find_by_channel(const GfTensor &plan)
{
    return plan.planes == 1 ? tensor<HEIGHT, 2, 1, 1, GF_RGB> : tensor<HEIGHT, 2, 3, 1, GF_RGB>;
}

GfByteKernel find_by_channel(const GfTensor &plan)
{
    switch (plan.height) {
    case 9:
        return find_by_channel<9>(plan);
    case 11:
        return find_by_channel<11>(plan);
    case 13:
        return find_by_channel<13>(plan);
    case 15:
        return find_by_channel<15>(plan);
    }
    return nullptr;
}

GfByteKernel find_kernel(const GfTensor &plan)
{
    if (plan.bytes == 2)
        return gf_find_levels(plan);
    if (plan.by_channel)
        return find_by_channel(plan);
    switch (plan.height) {
    case 3:
        return find_groups<3>(plan);
    case 5:
        return find_groups<5>(plan);
    case 7:
        return find_groups<7>(plan);
    case 9:
        return find_groups<9>(plan);
    case 11:
        return find_groups<11>(plan);
    case 13:
        return find_groups<13>(plan);
    case 15:
        return find_groups<15>(plan);
    }
    return nullptr;
}

} // namespace

extern "C" cudaError_t gf_launch_tensor(const GfLaunch *launch, cudaStream_t stream)
{
    const GfTensorState *state = static_cast<const GfTensorState *>(launch->state);
    if (!state)
        return cudaErrorInvalidValue;
    if (gf_step_is_layer(launch->step))
        return state->layer.gray                  ? gf_launch_tensor_gray(launch, stream)
               : gf_tensor_is_first(launch->step) ? gf_launch_tensor_first(launch, stream)
               : state->layer.flat                ? gf_launch_tensor_flat(launch, stream)
                                                  : gf_launch_tensor_layer(launch, stream);
    if (gf_tensor_rolls(launch))
        return gf_launch_tensor_rolling(launch, stream);
    if (state->large_words)
        return gf_launch_tensor_large(launch, stream);
    if (!state->words)
        return cudaErrorNotSupported;
    if (state->plan.factors)
        return gf_launch_tensor_factors(launch, stream);
    if (launch->tiling > 0)
        return cudaErrorNotSupported;
    const int apart = gf_channels_apart(state->plan);
    const size_t warps = apart > 1 && state->plan.bytes == 2 ? GF_RGB : GF_STRIP_WARPS;
    const GfByteCut cut = {STRIP * apart, static_cast<size_t>(apart), ROWS, 4, warps};
    return gf_launch_bytes(launch, find_kernel(state->plan), cut, stream);
}
