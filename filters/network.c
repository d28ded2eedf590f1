/* What PyTorch and ONNX mean by these names, with the same standard values: correlation, no
 * padding, zeros in the padding. An array's number of dimensions says what its kernels are for. */
#include "filters/network.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/kernel_file.h"
#include "filters/tensors.h"

enum { SHOWN = 256 };

/* In the order of the words of the parameters. */
static const GfBorder borders[] = {GF_BORDER_CONSTANT, GF_BORDER_REPLICATE, GF_BORDER_REFLECT101,
                                   GF_BORDER_REFLECT, GF_BORDER_WRAP};

static void set_sampling(const GfValue *stride, const GfValue *padding, const GfValue *dilation,
                         GfSampling *sampling)
{
    gf_sampling_set(sampling, stride->sizes, dilation->sizes, padding->sizes, padding->word);
}

/* ---- weights ---- */

/* Puts "PARAMETER PATH: " before the reason. */
static GfStatus fail_file(GfStatus status, const char *parameter, const char *path)
{
    char shown[SHOWN];
    gf_escape(path, shown, sizeof shown);
    return status == GF_OK ? GF_OK : gf_fail(status, "%s %s: %s", parameter, shown, gf_message());
}

/* Puts the tensor's name, where the file has several, before the reason. */
static GfStatus fail_tensor(GfStatus status, const GfTensors *tensors, const GfTensorInfo *info)
{
    char shown[GF_TENSOR_NAME_SHOWN];
    if (status == GF_OK || gf_tensors_count(tensors) == 1)
        return status;
    gf_escape(info->name, shown, sizeof shown);
    return gf_fail(status, "tensor \"%s\": %s", shown, gf_message());
}

static GfStatus fail_shape(const GfTensorInfo *info, const char *wanted)
{
    char shape[GF_SHAPE_SHOWN];
    return gf_fail(GF_EUSAGE, "an array of shape %s; %s",
                   gf_shape_text(info->rank, info->shape, shape, sizeof shape), wanted);
}

/* One kernel for every channel. */
static GfStatus add_kernel(const GfTensorInfo *info, GfFilter *filter, GfLinear **linear)
{
    GF_TRY(gf_filter_add_kernel(filter, 1, info->shape[1], info->shape[0], linear));
    (*linear)->sampling.fit = GF_FIT_PAD;
    return GF_OK;
}

/* maps x channels of a group x height x width, or without the channels: one. */
static GfStatus add_layer(const GfTensorInfo *info, size_t groups, GfFilter *filter,
                          GfLinear **linear)
{
    const size_t *sides = info->shape + info->rank - 2;
    size_t depth = info->rank == 4 ? info->shape[1] : 1;
    return gf_filter_add_layer(filter, info->shape[0], depth, groups, sides[1], sides[0], linear);
}

/* A stage with room for weights of that shape. */
static GfStatus add_linear(const GfTensorInfo *info, size_t groups, GfFilter *filter,
                           GfLinear **linear)
{
    if (info->rank < 2 || info->rank > 4)
        return fail_shape(info, "kernels are maps x channels x height x width, maps x height x "
                                "width or height x width");
    if (info->rank > 2)
        return add_layer(info, groups, filter, linear);
    if (groups != 1)
        return fail_shape(info, "one kernel serves every channel; groups are for maps");
    return add_kernel(info, filter, linear);
}

/* The stage comes first, because it knows how large kernels may be before any number is read. */
static GfStatus read_kernels(GfTensors *tensors, const char *name, size_t groups, GfFilter *filter,
                             GfLinear **linear)
{
    const GfTensorInfo *info;
    GfWeights weights;
    GF_TRY(gf_tensors_choose(tensors, name, 2, 4, &info));
    GF_TRY(fail_tensor(add_linear(info, groups, filter, linear), tensors, info));
    GF_TRY(gf_tensors_read(tensors, info->name, &weights));
    free((*linear)->weights);
    (*linear)->weights = weights.values;
    return GF_OK;
}

/* A row of numbers, `wanted` of them, or any count where it is 0. */
static GfStatus check_bias(const GfTensorInfo *info, size_t wanted)
{
    if (info->rank != 1)
        return fail_shape(info, "a bias is a row of numbers");
    if (wanted && info->count != wanted)
        return gf_fail(GF_EUSAGE, "%zu number%s for %zu map%s", info->count,
                       info->count == 1 ? "" : "s", wanted, wanted == 1 ? "" : "s");
    return GF_OK;
}

/* The caller frees *bias. */
static GfStatus read_bias(GfTensors *tensors, const char *name, size_t wanted, double **bias,
                          size_t *count)
{
    const GfTensorInfo *info;
    GfWeights weights;
    GF_TRY(gf_tensors_choose(tensors, name, 1, 1, &info));
    GF_TRY(fail_tensor(check_bias(info, wanted), tensors, info));
    GF_TRY(gf_tensors_read(tensors, info->name, &weights));
    *bias = weights.values;
    *count = weights.count;
    return GF_OK;
}

static GfStatus read_bias_file(const char *path, const char *name, size_t wanted, double **bias,
                               size_t *count)
{
    GfTensors *tensors;
    GfStatus status = gf_tensors_open(path, &tensors);
    if (status == GF_OK)
        status = read_bias(tensors, name, wanted, bias, count);
    gf_tensors_close(tensors);
    return fail_file(status, "bias", path);
}

/* ---- layers ---- */

static bool has_tensors(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (strcasecmp(end, ".npy") == 0 || strcasecmp(end, ".safetensors") == 0);
}

/* A tensor of the weights' file comes before a file of the same name, so that what a command means
 * does not depend on what else lies in the folder. */
static bool is_bias_file(const GfTensors *tensors, const char *bias)
{
    if (!gf_tensors_named(tensors))
        return true;
    if (strncmp(bias, "./", 2) == 0 || strncmp(bias, "../", 3) == 0 || *bias == '/')
        return true;
    return !gf_tensors_find(tensors, bias) && (has_tensors(bias) || access(bias, F_OK) == 0);
}

static GfStatus read_layer_bias(GfTensors *tensors, const char *path, const char *bias,
                                GfLinear *linear)
{
    double *numbers;
    size_t count;
    if (is_bias_file(tensors, bias))
        GF_TRY(read_bias_file(bias, NULL, linear->filters, &numbers, &count));
    else
        GF_TRY(
            fail_file(read_bias(tensors, bias, linear->filters, &numbers, &count), "bias", path));
    if (linear->depth > 0) {
        linear->bias = numbers;
        return GF_OK;
    }
    linear->offset = numbers[0];
    free(numbers);
    return GF_OK;
}

GfStatus gf_network_conv(const GfValue *values, GfFilter *filter)
{
    enum { WEIGHTS, TENSOR, BIAS, STRIDE, PADDING, DILATION, GROUPS, BORDER };
    const char *path = values[WEIGHTS].file;
    GfTensors *tensors;
    GfLinear *linear;
    GfStatus status = gf_tensors_open(path, &tensors);
    if (status == GF_OK)
        status = read_kernels(tensors, values[TENSOR].file, (size_t)values[GROUPS].number, filter,
                              &linear);
    GF_GO(fail_file(status, "weights", path));
    set_sampling(&values[STRIDE], &values[PADDING], &values[DILATION], &linear->sampling);
    linear->sampling.border = borders[values[BORDER].word];
    if (values[BIAS].file)
        status = read_layer_bias(tensors, path, values[BIAS].file, linear);
done:
    gf_tensors_close(tensors);
    return status;
}

/* ---- pools ---- */

enum { SIZE, STRIDE, PADDING, DILATION, CEIL, BIAS, TENSOR, COUNT };

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
    if (values[TENSOR].file && !values[BIAS].file)
        return gf_fail(GF_EUSAGE, "avgpool: tensor= goes with bias=FILE");
    if (!values[BIAS].file)
        return GF_OK;
    return read_bias_file(values[BIAS].file, values[TENSOR].file, 0, &pool->bias,
                          &pool->bias_count);
}

static GfStatus read_window(const char *path, const char *name, GfFilter *filter, GfLinear **linear)
{
    const GfTensorInfo *info;
    GfTensors *tensors;
    GfStatus status;
    GF_GO(gf_tensors_open(path, &tensors));
    GF_GO(gf_tensors_choose(tensors, name, 2, 2, &info));
    if (info->rank > 2)
        GF_GO(gf_fail(GF_EUSAGE, "a pool has one window, height x width, not %zu maps",
                      info->shape[0]));
    status = read_kernels(tensors, info->name, 1, filter, linear);
done:
    gf_tensors_close(tensors);
    return fail_file(status, "weights", path);
}

/* A kernel file is text, and has one kernel. */
static GfStatus read_text_window(const char *path, const char *name, GfFilter *filter,
                                 GfLinear **linear)
{
    if (name)
        return gf_fail(GF_EUSAGE, "wpool: tensor= goes with a .safetensors file");
    GF_TRY(gf_kernel_file_read(path, filter));
    *linear = &filter->stages[filter->count - 1].linear;
    return GF_OK;
}

GfStatus gf_network_wpool(const GfValue *values, GfFilter *filter)
{
    enum { WINDOW, WINDOW_TENSOR, WINDOW_STRIDE, WINDOW_PADDING, WINDOW_DILATION, WINDOW_BORDER };
    const char *path = values[WINDOW].file, *name = values[WINDOW_TENSOR].file;
    GfLinear *linear;
    GF_TRY(has_tensors(path) ? read_window(path, name, filter, &linear)
                             : read_text_window(path, name, filter, &linear));
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
