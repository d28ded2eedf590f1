/* What PyTorch and ONNX mean by these names, with the same standard values: correlation, no padding,
 * zeros in the padding. An array's number of dimensions says what its kernels are for. */
#include "filters/network.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/kernel_file.h"
#include "filters/weights.h"

enum { SHOWN = 256, SHAPE_SHOWN = 200, NOT_GIVEN = 0 };

/* In the order of the words of the parameters. */
static const GfBorder borders[] = {GF_BORDER_CONSTANT, GF_BORDER_REPLICATE, GF_BORDER_REFLECT101,
                                   GF_BORDER_REFLECT, GF_BORDER_WRAP};
static const GfFit same_fits[] = {GF_FIT_SAME_UPPER, GF_FIT_SAME_LOWER};

/* A stride that is not given stays what it is. */
static void set_sampling(const GfValue *stride, const GfValue *padding, const GfValue *dilation,
                         GfSampling *sampling)
{
    if (stride->sizes[0] != NOT_GIVEN)
        sampling->stride_y = stride->sizes[0];
    if (stride->sizes[1] != NOT_GIVEN)
        sampling->stride_x = stride->sizes[1];
    sampling->dilation_y = dilation->sizes[0];
    sampling->dilation_x = dilation->sizes[1];
    sampling->fit = padding->word < 0 ? GF_FIT_PAD : same_fits[padding->word];
    sampling->top = padding->sizes[0];
    sampling->left = padding->sizes[1];
    sampling->bottom = padding->sizes[2];
    sampling->right = padding->sizes[3];
}

/* Puts "PARAMETER PATH: " before the reason. */
static GfStatus fail_file(GfStatus status, const char *parameter, const char *path)
{
    char shown[SHOWN];
    gf_escape(path, shown, sizeof shown);
    return status == GF_OK ? GF_OK : gf_fail(status, "%s %s: %s", parameter, shown, gf_message());
}

/* ---- layers ---- */

/* Moves the numbers into a linear stage that they fill. */
static void move_numbers(GfWeights *weights, GfLinear *linear)
{
    free(linear->weights);
    linear->weights = weights->values;
    weights->values = NULL;
}

/* One kernel for every channel. */
static GfStatus add_kernel(GfWeights *weights, GfFilter *filter, GfLinear **linear)
{
    GF_TRY(gf_filter_add_kernel(filter, 1, weights->shape[1], weights->shape[0], linear));
    (*linear)->sampling.fit = GF_FIT_PAD;
    move_numbers(weights, *linear);
    return GF_OK;
}

/* maps x channels of a group x height x width, or without the channels: one. */
static GfStatus add_layer(GfWeights *weights, size_t groups, GfFilter *filter, GfLinear **linear)
{
    const size_t *sides = weights->shape + weights->rank - 2;
    size_t depth = weights->rank == 4 ? weights->shape[1] : 1;
    GF_TRY(
        gf_filter_add_layer(filter, weights->shape[0], depth, groups, sides[1], sides[0], linear));
    move_numbers(weights, *linear);
    return GF_OK;
}

static GfStatus add_weights(GfWeights *weights, size_t groups, GfFilter *filter, GfLinear **linear)
{
    char shape[SHAPE_SHOWN];
    if (weights->rank < 2 || weights->rank > 4)
        return gf_fail(GF_EUSAGE,
                       "an array of shape %s; kernels are maps x channels x height x width, maps x "
                       "height x width or height x width",
                       gf_weights_shape(weights, shape, sizeof shape));
    if (weights->rank > 2)
        return add_layer(weights, groups, filter, linear);
    if (groups != 1)
        return gf_fail(GF_EUSAGE,
                       "one kernel of shape %s serves every channel; groups are for maps",
                       gf_weights_shape(weights, shape, sizeof shape));
    return add_kernel(weights, filter, linear);
}

/* Reads the kernels of `path` into a new linear stage. */
static GfStatus read_kernels(const char *path, size_t groups, GfFilter *filter, GfLinear **linear)
{
    GfWeights weights;
    GfStatus status = gf_weights_read(path, &weights);
    if (status == GF_OK)
        status = add_weights(&weights, groups, filter, linear);
    gf_weights_free(&weights);
    return fail_file(status, "weights", path);
}

/* A row of numbers, `wanted` of them, or any count where it is 0. The caller frees *bias. */
static GfStatus read_bias(const char *path, size_t wanted, double **bias, size_t *count)
{
    GfWeights weights;
    char shape[SHAPE_SHOWN];
    GfStatus status;
    GF_GO(gf_weights_read(path, &weights));
    if (weights.rank != 1)
        GF_GO(gf_fail(GF_EUSAGE, "an array of shape %s; a bias is a row of numbers",
                      gf_weights_shape(&weights, shape, sizeof shape)));
    if (wanted && weights.count != wanted)
        GF_GO(gf_fail(GF_EUSAGE, "%zu numbers for %zu maps", weights.count, wanted));
    *bias = weights.values;
    *count = weights.count;
    weights.values = NULL;
done:
    gf_weights_free(&weights);
    return fail_file(status, "bias", path);
}

GfStatus gf_network_conv(const GfValue *values, GfFilter *filter)
{
    enum { WEIGHTS, BIAS, STRIDE, PADDING, DILATION, GROUPS, BORDER };
    GfLinear *linear;
    double *bias = NULL;
    size_t count = 0;
    GF_TRY(read_kernels(values[WEIGHTS].file, (size_t)values[GROUPS].number, filter, &linear));
    set_sampling(&values[STRIDE], &values[PADDING], &values[DILATION], &linear->sampling);
    linear->sampling.border = borders[values[BORDER].word];
    if (!values[BIAS].file)
        return GF_OK;
    GF_TRY(read_bias(values[BIAS].file, linear->filters, &bias, &count));
    if (linear->depth > 0) {
        linear->bias = bias;
        return GF_OK;
    }
    linear->offset = bias[0];
    free(bias);
    return GF_OK;
}

/* ---- pools ---- */

enum { SIZE, STRIDE, PADDING, DILATION, CEIL, BIAS, COUNT };

static GfStatus add_pool(GfPoolOp op, const GfValue *values, GfFilter *filter, GfPool **pool)
{
    const size_t *size = values[SIZE].sizes;
    GF_TRY(gf_filter_add_pool(filter, op, size[1], size[0], pool));
    set_sampling(&values[STRIDE], &values[PADDING], &values[DILATION], &(*pool)->sampling);
    (*pool)->ceil = values[CEIL].word > 0;
    return GF_OK;
}

GfStatus gf_network_maxpool(const GfValue *values, GfFilter *filter)
{
    GfPool *pool;
    return add_pool(GF_POOL_MAX, values, filter, &pool);
}

GfStatus gf_network_l2pool(const GfValue *values, GfFilter *filter)
{
    GfPool *pool;
    return add_pool(GF_POOL_L2, values, filter, &pool);
}

GfStatus gf_network_avgpool(const GfValue *values, GfFilter *filter)
{
    GfPool *pool;
    GF_TRY(add_pool(GF_POOL_AVERAGE, values, filter, &pool));
    pool->count_padding = values[COUNT].word > 0;
    if (!values[BIAS].file)
        return GF_OK;
    return read_bias(values[BIAS].file, 0, &pool->bias, &pool->bias_count);
}

static bool is_npy(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 && strcasecmp(path + length - 4, ".npy") == 0;
}

static GfStatus read_window(const char *path, GfFilter *filter, GfLinear **linear)
{
    if (!is_npy(path)) {
        GF_TRY(gf_kernel_file_read(path, filter));
        *linear = &filter->stages[filter->count - 1].linear;
        return GF_OK;
    }
    GF_TRY(read_kernels(path, 1, filter, linear));
    if ((*linear)->depth == 0)
        return GF_OK;
    return fail_file(gf_fail(GF_EUSAGE, "a pool has one window, height x width, not %zu maps",
                             (*linear)->filters),
                     "weights", path);
}

GfStatus gf_network_wpool(const GfValue *values, GfFilter *filter)
{
    enum { WINDOW, WINDOW_STRIDE, WINDOW_PADDING, WINDOW_DILATION, WINDOW_BORDER };
    GfLinear *linear;
    GF_TRY(read_window(values[WINDOW].file, filter, &linear));
    linear->sampling.stride_x = linear->width;
    linear->sampling.stride_y = linear->height;
    set_sampling(&values[WINDOW_STRIDE], &values[WINDOW_PADDING], &values[WINDOW_DILATION],
                 &linear->sampling);
    linear->sampling.border = borders[values[WINDOW_BORDER].word];
    return GF_OK;
}

/* ---- functions of one sample ---- */

static GfStatus add_function(GfFilter *filter, GfPointwiseOp op, double a, double b)
{
    return gf_filter_add_pointwise(filter, (GfPointwise){.op = op, .a = a, .b = b});
}

GfStatus gf_network_relu(const GfValue *values, GfFilter *filter)
{
    (void)values;
    return add_function(filter, GF_POINTWISE_RELU, 0.0, 0.0);
}

GfStatus gf_network_tanh(const GfValue *values, GfFilter *filter)
{
    (void)values;
    return add_function(filter, GF_POINTWISE_TANH, 0.0, 0.0);
}

GfStatus gf_network_abs(const GfValue *values, GfFilter *filter)
{
    (void)values;
    return add_function(filter, GF_POINTWISE_ABS, 0.0, 0.0);
}

GfStatus gf_network_sigmoid(const GfValue *values, GfFilter *filter)
{
    return add_function(filter, GF_POINTWISE_SIGMOID, 0.0, values[0].number);
}

GfStatus gf_network_clamp(const GfValue *values, GfFilter *filter)
{
    double low = values[0].number, high = values[1].number;
    if (low > high)
        return gf_fail(GF_EUSAGE, "clamp: low=%g is above high=%g", low, high);
    return add_function(filter, GF_POINTWISE_CLAMP, low, high);
}

GfStatus gf_network_scale(const GfValue *values, GfFilter *filter)
{
    return add_function(filter, GF_POINTWISE_AFFINE, values[0].number, values[1].number);
}
