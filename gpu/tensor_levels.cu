/* The strips of method `tensor` (gpu/tensor_strips.cuh) on samples of 16 bits. */
#include "gpu/device.cuh"

using namespace gf_strips;

namespace
{

/* Samples of 16 bits, of all channels side by side or of one. */
template <int HEIGHT, int CHANNELS> GfByteKernel find_planes(const GfTensor &plan)
{
    switch (plan.planes) {
    case 2:
        if constexpr (CHANNELS == 1)
            return tensor<HEIGHT, 2, 2, 1, CHANNELS, 2>;
        break;
    case 3:
        return tensor<HEIGHT, 2, 3, 1, CHANNELS, 2>;
    case 4:
        return tensor<HEIGHT, 2, 4, 1, CHANNELS, 2>;
    }
    return nullptr;
}

template <int CHANNELS> GfByteKernel find_height(const GfTensor &plan)
{
    switch (plan.height) {
    case 3:
        if constexpr (CHANNELS == 1)
            return find_planes<3, CHANNELS>(plan);
        break;
    case 5:
        return find_planes<5, CHANNELS>(plan);
    case 7:
        return find_planes<7, CHANNELS>(plan);
    case 9:
        return find_planes<9, CHANNELS>(plan);
    }
    return nullptr;
}

} // namespace

GfByteKernel gf_find_levels(const GfTensor &plan)
{
    return plan.by_channel ? find_height<GF_RGB>(plan) : find_height<1>(plan);
}
