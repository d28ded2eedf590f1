/* The numbers of dimensions say what they are, as in `conv`. */
#include "app/tensor_sheet.h"

#include "app/whole.h"
#include "common/text.h"
#include "filters/kernel_picture.h"
#include "filters/tensors.h"

enum { LEAST_RANK = 2, MOST_RANK = 4, NAME_SHOWN = GF_TENSOR_NAME_SHOWN };

static GfStatus draw(const GfWeights *weights, GfImage *image)
{
    char shape[GF_SHAPE_SHOWN];
    size_t rank = weights->rank;
    const size_t *sides = weights->shape + rank - 2;
    if (rank < LEAST_RANK || rank > MOST_RANK)
        return gf_fail(GF_EUSAGE, "a tensor of shape %s has no kernels to draw",
                       gf_shape_text(rank, weights->shape, shape, sizeof shape));
    return gf_kernels_picture(weights->values, rank > 2 ? weights->shape[0] : 1,
                              rank > 3 ? weights->shape[1] : 1, sides[0], sides[1], image);
}

static GfStatus read_chosen(const char *path, const char *name, GfWeights *weights)
{
    const GfTensorInfo *info;
    GfTensors *tensors;
    GF_TRY(gf_tensors_open(path, &tensors));
    GfStatus status = gf_tensors_choose(tensors, name, LEAST_RANK, MOST_RANK, &info);
    if (status == GF_OK)
        status = gf_tensors_read(tensors, gf_tensors_named(tensors) ? info->name : NULL, weights);
    gf_tensors_close(tensors);
    return status;
}

GfStatus gf_tensor_sheet(const GfOptions *options)
{
    GfWeights weights = {0};
    GfImage image = {0};
    GfStatus status;
    char shown[NAME_SHOWN];
    if (!options->picture)
        return gf_fail(GF_EUSAGE, "--tensor goes with --picture");
    if (options->operand_count != 1)
        return gf_fail(GF_EUSAGE, "--picture draws the kernels of one file of weights, not of %zu",
                       options->operand_count);
    GF_GO(read_chosen(options->operands[0], options->tensor, &weights));
    GF_GO(draw(&weights, &image));
done:
    gf_weights_free(&weights);
    if (status != GF_OK)
        return gf_fail_at(status, gf_escape(options->operands[0], shown, sizeof shown));
    status = gf_whole_write(options, options->picture, &image);
    gf_image_free(&image);
    return status;
}
