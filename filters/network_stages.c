/* Channels are followed from stage to stage, so that a layer that does not fit is found when the
 * file is read. Sizes depend on the picture and are the plan's business.
 *
 * Names and standard values are those of torch.nn. */
#include "filters/network_stages.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 100, COMMON = 2 };

static const GfBorder borders[] = {GF_BORDER_CONSTANT, GF_BORDER_REPLICATE, GF_BORDER_REFLECT101,
                                   GF_BORDER_REFLECT, GF_BORDER_WRAP};

static size_t channels_in(const GfNetworkPart *part)
{
    return part->channels[part->count];
}

static void set_channels_out(GfNetworkPart *part, size_t channels)
{
    part->channels[part->count + 1] = channels;
}

/* ---- references ---- */

static const char *stage_name(const json_t *stages, size_t i)
{
    const char *name = json_string_value(json_object_get(json_array_get(stages, i), "name"));
    return name ? name : "";
}

/* The number, from 0 on, of the stage of that name, or how many stages there are. */
static size_t find_stage(const json_t *stages, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(stages) && strcmp(stage_name(stages, i), name) != 0)
        i++;
    return i;
}

static GfStatus unknown_stage(const GfNetworkPart *part, const char *key, const char *name)
{
    const char *names[GF_NETWORK_MAX_STAGES + 2];
    size_t count = 0;
    names[count++] = "input";
    for (size_t i = 0; i < part->count; i++)
        if (*stage_name(part->stages, i))
            names[count++] = stage_name(part->stages, i);
    names[count] = NULL;
    const char *nearest = gf_nearest(name, names);
    return gf_fail(GF_EUSAGE, "\"%s\": no stage before it is named \"%s\"%s%s%s", key, name,
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

/* What stage `name` made, "input": what the first stage reads, or "picture": what entered. */
static GfStatus find_reference(const GfNetworkPart *part, const char *key, const char *name,
                               GfReference *reference)
{
    size_t i = find_stage(part->stages, name);
    *reference = part->first + i + 1;
    if (strcmp(name, "input") == 0)
        *reference = part->first;
    else if (strcmp(name, "picture") == 0)
        *reference = part->first - (part->entered ? 1 : 0);
    else if (i == json_array_size(part->stages))
        return unknown_stage(part, key, name);
    else if (i >= part->count)
        return gf_fail(GF_EUSAGE, "\"%s\": \"%s\" is stage %zu, which is %s", key, name, i + 1,
                       i == part->count ? "this one" : "a later one");
    return GF_OK;
}

/* ---- layers ---- */

static GfStatus add_layer(GfNetworkPart *part, const GfTensorInfo *info, size_t groups,
                          GfLinear **linear)
{
    const size_t *shape = info->shape;
    char text[GF_SHAPE_SHOWN];
    gf_shape_text(info->rank, shape, text, sizeof text);
    if (info->rank != 4)
        return gf_fail(GF_EUSAGE,
                       "an array of shape %s; a layer's kernels are maps x channels x "
                       "height x width",
                       text);
    GF_TRY(
        gf_filter_add_layer(part->filter, shape[0], shape[1], groups, shape[3], shape[2], linear));
    if (channels_in(part) && channels_in(part) != shape[1] * groups)
        return gf_fail(GF_EUSAGE,
                       "kernels of shape %s in %zu group%s take %zu channels; %zu come in", text,
                       groups, groups == 1 ? "" : "s", shape[1] * groups, channels_in(part));
    return GF_OK;
}

/* The stage comes first, because it knows how large kernels may be before any number is read. */
static GfStatus read_weight(GfNetworkPart *part, const char *name, size_t groups, GfLinear **linear)
{
    GfNetworkTensor tensor;
    GfStatus status;
    double *numbers;
    GF_GO(gf_network_tensor_find(part->weights, name, &tensor));
    GF_GO(add_layer(part, tensor.info, groups, linear));
    GF_GO(gf_network_tensor_read(part->weights, &tensor, &numbers));
    free((*linear)->weights);
    (*linear)->weights = numbers;
done:
    gf_network_tensor_close(&tensor);
    return status == GF_OK ? GF_OK : gf_fail_at(status, "\"weight\"");
}

static GfStatus read_bias(GfNetworkPart *part, const char *name, GfLinear *linear)
{
    GfNetworkTensor tensor;
    GfStatus status;
    char shape[GF_SHAPE_SHOWN];
    GF_GO(gf_network_tensor_find(part->weights, name, &tensor));
    if (tensor.info->rank != 1 || tensor.info->count != linear->filters)
        GF_GO(gf_fail(GF_EUSAGE, "an array of shape %s for %zu map%s",
                      gf_shape_text(tensor.info->rank, tensor.info->shape, shape, sizeof shape),
                      linear->filters,
                      linear->filters == 1 ? ", which takes a number"
                                           : "s, which take a number each"));
    GF_GO(gf_network_tensor_read(part->weights, &tensor, &linear->bias));
done:
    gf_network_tensor_close(&tensor);
    return status == GF_OK ? GF_OK : gf_fail_at(status, "\"bias\"");
}

static GfStatus append_conv(GfNetworkPart *part, const GfFieldValue *values)
{
    enum { WEIGHT, BIAS, STRIDE, PADDING, DILATION, GROUPS, BORDER };
    GfLinear *linear;
    GF_TRY(read_weight(part, values[WEIGHT].text, (size_t)values[GROUPS].number, &linear));
    gf_sampling_set(&linear->sampling, values[STRIDE].sizes, values[DILATION].sizes,
                    values[PADDING].sizes, values[PADDING].word);
    linear->sampling.border = borders[values[BORDER].word];
    if (values[BIAS].given)
        GF_TRY(read_bias(part, values[BIAS].text, linear));
    set_channels_out(part, linear->filters);
    return GF_OK;
}

/* ---- pools ---- */

enum { SIZE, STRIDE, PADDING, DILATION, CEIL, COUNT_PADDING };

static GfStatus append_pool(GfNetworkPart *part, GfPoolOp op, const GfFieldValue *values,
                            GfPool **pool)
{
    const size_t *size = values[SIZE].sizes;
    GF_TRY(gf_filter_add_pool(part->filter, op, size[1], size[0], pool));
    gf_sampling_set(&(*pool)->sampling, values[STRIDE].sizes, values[DILATION].sizes,
                    values[PADDING].sizes, values[PADDING].word);
    (*pool)->ceil = values[CEIL].word > 0;
    set_channels_out(part, channels_in(part));
    return GF_OK;
}

static GfStatus append_maxpool(GfNetworkPart *part, const GfFieldValue *values)
{
    GfPool *pool;
    return append_pool(part, GF_POOL_MAX, values, &pool);
}

static GfStatus append_l2pool(GfNetworkPart *part, const GfFieldValue *values)
{
    GfPool *pool;
    return append_pool(part, GF_POOL_L2, values, &pool);
}

static GfStatus append_avgpool(GfNetworkPart *part, const GfFieldValue *values)
{
    GfPool *pool;
    GF_TRY(append_pool(part, GF_POOL_AVERAGE, values, &pool));
    pool->count_padding = values[COUNT_PADDING].word > 0;
    return GF_OK;
}

/* ---- functions of one sample ---- */

static GfStatus append_function(GfNetworkPart *part, GfPointwiseOp op, double a, double b)
{
    set_channels_out(part, channels_in(part));
    return gf_filter_add_pointwise(part->filter, (GfPointwise){.op = op, .a = a, .b = b});
}

static GfStatus append_relu(GfNetworkPart *part, const GfFieldValue *values)
{
    (void)values;
    return append_function(part, GF_POINTWISE_RELU, 0.0, 0.0);
}

static GfStatus append_leaky_relu(GfNetworkPart *part, const GfFieldValue *values)
{
    return append_function(part, GF_POINTWISE_LEAKY, values[0].number, 0.0);
}

static GfStatus append_sigmoid(GfNetworkPart *part, const GfFieldValue *values)
{
    return append_function(part, GF_POINTWISE_SIGMOID, 0.0, values[0].number);
}

static GfStatus append_tanh(GfNetworkPart *part, const GfFieldValue *values)
{
    (void)values;
    return append_function(part, GF_POINTWISE_TANH, 0.0, 0.0);
}

static GfStatus append_abs(GfNetworkPart *part, const GfFieldValue *values)
{
    (void)values;
    return append_function(part, GF_POINTWISE_ABS, 0.0, 0.0);
}

static GfStatus append_clamp(GfNetworkPart *part, const GfFieldValue *values)
{
    double low = values[0].number, high = values[1].number;
    if (low > high)
        return gf_fail(GF_EUSAGE, "\"low\" is %g, above \"high\", %g", low, high);
    return append_function(part, GF_POINTWISE_CLAMP, low, high);
}

static GfStatus append_scale(GfNetworkPart *part, const GfFieldValue *values)
{
    return append_function(part, GF_POINTWISE_AFFINE, values[0].number, values[1].number);
}

/* ---- stages that look back ---- */

static GfStatus append_add(GfNetworkPart *part, const GfFieldValue *values)
{
    GfAdd add;
    if (strcmp(values[0].text, "picture") == 0)
        return gf_fail(GF_EUSAGE, "\"from\": \"picture\" is none of the network's numbers; "
                                  "\"input\" is what its first stage reads");
    GF_TRY(find_reference(part, "from", values[0].text, &add.from));
    size_t other = part->channels[add.from - part->first];
    if (channels_in(part) && other && channels_in(part) != other)
        return gf_fail(GF_EUSAGE, "%zu channel%s, and \"%s\" made %zu", channels_in(part),
                       channels_in(part) == 1 ? " comes in" : "s come in", values[0].text, other);
    set_channels_out(part, gf_max(channels_in(part), other));
    return gf_filter_add_sum(part->filter, add);
}

static GfStatus append_enlarged(GfNetworkPart *part, const GfFieldValue *like, GfUpsample upsample)
{
    upsample.like = GF_NO_REFERENCE;
    if (like->given)
        GF_TRY(find_reference(part, "like", like->text, &upsample.like));
    return gf_filter_add_upsample(part->filter, upsample);
}

static GfStatus append_upsample(GfNetworkPart *part, const GfFieldValue *values)
{
    const size_t *factor = values[0].sizes;
    set_channels_out(part, channels_in(part));
    return append_enlarged(part, &values[1],
                           (GfUpsample){.factor_x = factor[1], .factor_y = factor[0]});
}

static GfStatus append_shuffle(GfNetworkPart *part, const GfFieldValue *values)
{
    size_t factor = (size_t)values[0].number, block = factor * factor;
    if (channels_in(part) % block != 0)
        return gf_fail(GF_EUSAGE,
                       "%zu channel%s cannot be shuffled into blocks of %zu x %zu, which "
                       "take %zu each",
                       channels_in(part), channels_in(part) == 1 ? "" : "s", factor, factor, block);
    set_channels_out(part, channels_in(part) / block);
    return append_enlarged(part, &values[1],
                           (GfUpsample){.shuffle = true, .factor_x = factor, .factor_y = factor});
}

/* ---- the table ---- */

#define SAMPLING_FIELDS                                                                            \
    {"padding", GF_FIELD_PADDING, false, "same same_lower", 0, GF_KERNEL_MAX_SIDE, 0},             \
    {                                                                                              \
        "dilation", GF_FIELD_SIZES, false, NULL, 1, GF_KERNEL_MAX_SIDE, 1                          \
    }
#define POOL_FIELDS                                                                                \
    {"size", GF_FIELD_SIZES, true, NULL, 1, GF_KERNEL_MAX_SIDE, 0},                                \
        {"stride", GF_FIELD_SIZES, false, NULL, 1, GF_KERNEL_MAX_SIDE, 0}, SAMPLING_FIELDS,        \
    {                                                                                              \
        "ceil", GF_FIELD_SWITCH, false, NULL, 0, 1, 0                                              \
    }
#define NUMBER_FIELD(name, standard)                                                               \
    {                                                                                              \
        name, GF_FIELD_NUMBER, false, NULL, -FLT_MAX, FLT_MAX, standard                            \
    }
#define LIKE_FIELD                                                                                 \
    {                                                                                              \
        "like", GF_FIELD_NAME, false, NULL, 0, 0, 0                                                \
    }

const GfField gf_network_stage_common[] = {
    {"stage", GF_FIELD_TEXT, true, NULL, 0, 0, 0},
    {"name", GF_FIELD_NAME, false, NULL, 0, 0, 0},
    {0},
};

const GfNetworkStage gf_network_stages[] = {
    {"conv",
     "a layer: correlation, plus a bias",
     {{"weight", GF_FIELD_TEXT, true, NULL, 0, 0, 0},
      {"bias", GF_FIELD_TEXT, false, NULL, 0, 0, 0},
      {"stride", GF_FIELD_SIZES, false, NULL, 1, GF_KERNEL_MAX_SIDE, 1},
      SAMPLING_FIELDS,
      {"groups", GF_FIELD_WHOLE, false, NULL, 1, GF_LAYER_MAX_CHANNELS, 1},
      {"border", GF_FIELD_WORD, false, "zeros replicate reflect101 reflect wrap", 0, 4, 0}},
     append_conv},
    {"maxpool", "the largest sample of each window", {POOL_FIELDS}, append_maxpool},
    {"avgpool",
     "the mean of each window",
     {POOL_FIELDS, {"count_padding", GF_FIELD_SWITCH, false, NULL, 0, 1, 0}},
     append_avgpool},
    {"l2pool", "the length of each window", {POOL_FIELDS}, append_l2pool},
    {"relu", "max(x, 0)", {{0}}, append_relu},
    {"leaky_relu",
     "x where it is above 0, else slope x",
     {NUMBER_FIELD("slope", 0.01)},
     append_leaky_relu},
    {"sigmoid", "1 / (1 + exp(-(x + offset)))", {NUMBER_FIELD("offset", 0)}, append_sigmoid},
    {"tanh", "the hyperbolic tangent", {{0}}, append_tanh},
    {"abs", "the absolute value", {{0}}, append_abs},
    {"clamp",
     "min(max(x, low), high)",
     {NUMBER_FIELD("low", -FLT_MAX), NUMBER_FIELD("high", FLT_MAX)},
     append_clamp},
    {"scale",
     "gain x + offset",
     {NUMBER_FIELD("gain", 1), NUMBER_FIELD("offset", 0)},
     append_scale},
    {"add",
     "plus what an earlier stage made",
     {{"from", GF_FIELD_NAME, true, NULL, 0, 0, 0}},
     append_add},
    {"upsample",
     "each pixel becomes a block",
     {{"factor", GF_FIELD_SIZES, true, NULL, 1, GF_UPSAMPLE_MAX, 0}, LIKE_FIELD},
     append_upsample},
    {"shuffle",
     "the channels of a pixel become a block",
     {{"factor", GF_FIELD_WHOLE, true, NULL, 1, GF_UPSAMPLE_MAX, 0}, LIKE_FIELD},
     append_shuffle},
    {NULL, NULL, {{0}}, NULL},
};

static GfStatus find_kind(json_t *object, const GfNetworkStage **kind)
{
    const char *names[sizeof gf_network_stages / sizeof *gf_network_stages];
    const char *name = json_string_value(json_object_get(object, "stage"));
    char shown[SHOWN];
    size_t count = 0;
    if (!name)
        return gf_fail(GF_EUSAGE, "no \"stage\" says of what kind it is");
    for (*kind = gf_network_stages; (*kind)->name; ++*kind) {
        if (strcmp((*kind)->name, name) == 0)
            return GF_OK;
        names[count++] = (*kind)->name;
    }
    names[count] = NULL;
    const char *nearest = gf_nearest(name, names);
    return gf_fail(GF_EUSAGE, "unknown stage \"%s\"%s%s%s", gf_escape(name, shown, sizeof shown),
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static GfStatus check_name(const GfNetworkPart *part, const char *name)
{
    size_t i = name ? find_stage(part->stages, name) : part->count;
    if (name && (strcmp(name, "input") == 0 || strcmp(name, "picture") == 0))
        return gf_fail(GF_EUSAGE, "the name \"%s\" is taken", name);
    if (i < part->count)
        return gf_fail(GF_EUSAGE, "stage %zu too is named \"%s\"", i + 1, name);
    return GF_OK;
}

GfStatus gf_network_stage_read(GfNetworkPart *part, json_t *object)
{
    const GfNetworkStage *kind;
    GfField fields[COMMON + GF_STAGE_MAX_FIELDS + 1] = {{0}};
    GfFieldValue values[COMMON + GF_STAGE_MAX_FIELDS];
    GF_TRY(find_kind(object, &kind));
    memcpy(fields, gf_network_stage_common, COMMON * sizeof *fields);
    memcpy(fields + COMMON, kind->fields, sizeof kind->fields);
    GF_TRY(gf_fields_read(object, fields, values));
    GF_TRY(check_name(part, values[1].text));
    GF_TRY(kind->append(part, values + COMMON));
    part->count++;
    return GF_OK;
}

const char *gf_network_stage_label(const json_t *object, size_t number, char *text)
{
    const char *kind = json_string_value(json_object_get(object, "stage"));
    const char *name = json_string_value(json_object_get(object, "name"));
    char shown[2][GF_STAGE_LABEL_SHOWN / 3];
    gf_escape(kind ? kind : "", shown[0], sizeof shown[0]);
    gf_escape(name ? name : "", shown[1], sizeof shown[1]);
    snprintf(text, GF_STAGE_LABEL_SHOWN, "stage %zu%s%s%s%s%s%s", number, kind ? " (" : "",
             kind ? shown[0] : "", kind && name ? " \"" : "", kind && name ? shown[1] : "",
             kind && name ? "\"" : "", kind ? ")" : "");
    return text;
}
