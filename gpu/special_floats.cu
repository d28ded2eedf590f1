/* Method `special` (special.cu) on f16 and f32: apart, for its code is kept compressed. */
#include "gpu/device.cuh"

using namespace gf_special;

extern "C" cudaError_t gf_launch_special_floats(const GfLaunch *launch, cudaStream_t stream)
{
    switch (launch->step->in) {
    case GF_F16:
        return run_channels<__half>(launch, stream);
    case GF_F32:
        return run_channels<float>(launch, stream);
    default:
        return cudaErrorNotSupported;
    }
}
