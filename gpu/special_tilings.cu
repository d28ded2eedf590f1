/* Method `special` with the accesses that are asked for (special.cu): less than a word of shared
 * memory's banks, one or more, so that the comparison of matched and unmatched widths can be
 * repeated. */
#include "gpu/device.cuh"

using namespace gf_special;

namespace
{

/* The i-th tiling moves 2^(i - 1) samples in an access. */
template <typename In, int K, int I = 1>
cudaError_t run_tiling(const GfLaunch *launch, cudaStream_t stream)
{
    constexpr int N = 1 << (I - 1);
    if constexpr (N * sizeof(In) <= 16) {
        if (launch->tiling == I)
            return run<In, 1, K, 1, N>(launch, stream);
        return run_tiling<In, K, I + 1>(launch, stream);
    }
    return cudaErrorNotSupported;
}

} // namespace

extern "C" cudaError_t gf_launch_special_tiling(const GfLaunch *launch, cudaStream_t stream)
{
    if (launch->step->channels > 1 || launch->step->linear.filters > 1)
        return cudaErrorNotSupported;
    return gf_with_sample<float>(launch->step->in, [&](auto sample) {
        using In = decltype(sample);
        switch (find_box(launch->step).side) {
        case 3:
            return run_tiling<In, 3>(launch, stream);
        case 5:
            return run_tiling<In, 5>(launch, stream);
        case 7:
            return run_tiling<In, 7>(launch, stream);
        }
        return cudaErrorNotSupported;
    });
}
