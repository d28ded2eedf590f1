/* What method `tensor` keeps from launch to launch. */
#include "gpu/tensor.h"

#include <stdlib.h>

#include "common/memory.h"
#include "gpu/device.h"

void gf_tensor_close(void *state)
{
    GfTensorState *tensor = state;
    if (!tensor)
        return;
    (void)cudaFree(tensor->words);
    gf_tensor_layer_close(&tensor->layer);
    free(tensor);
}

static GfStatus open_bank(const GfStep *step, GfTensorState *tensor)
{
    gf_tensor_plan(step, &tensor->plan);
    size_t bytes = gf_tensor_words(&tensor->plan) * sizeof *tensor->words;
    GF_CUDA(cudaMalloc, (void **)&tensor->words, bytes);
    GF_CUDA(cudaMemcpy, tensor->words, tensor->plan.words, bytes, cudaMemcpyHostToDevice);
    return GF_OK;
}

/* Tilings of layers that are not flat come first. */
#define COUNT(...) +1
enum { WARP_TILINGS = 0 GF_TENSOR_TILES(COUNT) };
#undef COUNT

GfStatus gf_tensor_open(const GfStep *step, bool wide, size_t tiling, void **state)
{
    GfTensorState *tensor;
    const bool may_be_flat = tiling == 0 || tiling > WARP_TILINGS;
    (void)wide;
    *state = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *tensor, &tensor));
    GfStatus status =
        gf_step_is_layer(step)
            ? gf_tensor_layer_open(step, may_be_flat && gf_has_flat(step), &tensor->layer)
            : open_bank(step, tensor);
    if (status == GF_OK)
        *state = tensor;
    else
        gf_tensor_close(tensor);
    return status;
}
