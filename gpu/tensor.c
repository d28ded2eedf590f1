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
    (void)cudaFree(tensor->halves);
    (void)cudaFree(tensor->large_words);
    gf_tensor_layer_close(&tensor->layer);
    free(tensor);
}

/* From memory that is not pinned a copy may return before it has come there, and kernels' streams
 * do not wait for it. */
static GfStatus upload(const void *from, size_t bytes, void **to)
{
    GF_CUDA(cudaMalloc, to, bytes);
    GF_CUDA(cudaMemcpy, *to, from, bytes, cudaMemcpyHostToDevice);
    GF_CUDA(cudaStreamSynchronize, NULL);
    return GF_OK;
}

static GfStatus open_large(const GfStep *step, GfTensorState *tensor)
{
    uint32_t *words;
    GF_TRY(gf_tensor_large_plan(step, &tensor->large, &words));
    GfStatus status = upload(words, gf_tensor_large_words(&tensor->large) * sizeof *words,
                             (void **)&tensor->large_words);
    free(words);
    return status;
}

static GfStatus open_bank(const GfStep *step, size_t tiling, GfTensorState *tensor)
{
    GfTensorRolling *rolling = &tensor->rolling;
    if (gf_has_groups() &&
        gf_tensor_rolling_plan(step, tiling == GF_TENSOR_ROLLING_TILING, rolling))
        GF_TRY(upload(rolling->halves, sizeof rolling->halves, (void **)&tensor->halves));
    if (gf_tensor_is_large(step))
        return open_large(step, tensor);
    gf_tensor_plan(step, &tensor->plan);
    return upload(tensor->plan.words, gf_tensor_words(&tensor->plan) * sizeof *tensor->words,
                  (void **)&tensor->words);
}

/* Tilings of layers that are not flat come first. */
#define COUNT(...) +1
enum { WARP_TILINGS = 0 GF_TENSOR_TILES(COUNT) };
#undef COUNT

GfStatus gf_tensor_open(const GfStep *step, bool wide, size_t tiling, void **state)
{
    GfTensorState *tensor;
    const bool may_be_flat = tiling == 0 || tiling > WARP_TILINGS;
    const bool layer = gf_step_is_layer(step);
    const bool flat = layer && may_be_flat && gf_tensor_is_flat(step) && gf_has_groups();
    const bool direct = flat && tiling == 0 && gf_tensor_is_direct(step);
    (void)wide;
    *state = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *tensor, &tensor));
    const GfStep taps = flat ? gf_patches(step) : *step;
    tensor->layer.gray = layer && gf_has_groups() &&
                         (tiling == 0 ? gf_gray_pays(step)
                                      : tiling == GF_TENSOR_GRAY_TILING && gf_may_be_gray(step));
    GfStatus status = layer ? gf_tensor_layer_open(&taps, flat, direct, &tensor->layer)
                            : open_bank(step, tiling, tensor);
    if (status == GF_OK)
        *state = tensor;
    else
        gf_tensor_close(tensor);
    return status;
}
