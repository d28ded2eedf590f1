/* Which way `tensor` computes a bank (gpu/tensor_ways.h). Products of a column and a row go as such
 * on 8 bits, where that is exact enough and a single plane of digits would not do; all that the
 * rows of fit into registers, in planes of digits; the rest as larger kernels (gpu/tensor_large.c).
 * RGB goes by channel where blocks of all its channels are too wide. */
#include "gpu/tensor.h"
#include "gpu/tensor_blocks.h"
#include "gpu/tensor_ways.h"

enum { RGB = 3 };

/* Kernels on bytes that are products go as such, or by method `separable`. */
static bool goes_by_channel(const GfStep *step)
{
    return step->channels == RGB && step->linear.filters == 1 &&
           !(step->separable && step->in == GF_U8) && gf_block_groups(step) > GF_TENSOR_GROUPS;
}

static GfStep computed_step(const GfStep *step)
{
    return goes_by_channel(step) ? gf_block_one_channel(step) : *step;
}

size_t gf_tensor_levels(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    return gf_tensor_levels_count(&computed);
}

bool gf_tensor_is_large(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    if (step->in == GF_U16)
        return gf_tensor_levels_count(&computed) == 0;
    return !gf_tensor_uses_factors(step) && !gf_block_fits(&computed);
}

bool gf_tensor_is_exact(const GfStep *step)
{
    return gf_tensor_is_large(step) ? gf_tensor_large_is_exact(step) : step->in == GF_U16;
}

GfStatus gf_tensor_supports_kernels(const GfStep *step)
{
    const GfStep computed = computed_step(step);
    if (gf_tensor_is_large(step))
        return gf_tensor_large_supports(step);
    if (gf_tensor_uses_factors(step) || step->in == GF_U16)
        return GF_OK;
    return gf_tensor_planes_support(&computed);
}

void gf_tensor_plan(const GfStep *step, GfTensor *tensor)
{
    const GfStep computed = computed_step(step);
    if (gf_tensor_uses_factors(step)) {
        gf_tensor_factors_plan(step, tensor);
        return;
    }
    *tensor = (GfTensor){.by_channel = goes_by_channel(step),
                         .filters = step->linear.filters,
                         .bytes = gf_sample_size(step->in),
                         .groups = gf_block_groups(&computed)};
    (void)gf_block_lead(&computed, &tensor->first_word);
    if (step->in == GF_U16)
        gf_tensor_levels_plan(&computed, tensor);
    else
        gf_tensor_planes_plan(&computed, tensor);
}
