/* What to compute: a filter is a list of stages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"
#include "filters/border.h"

/* How a window lies on the picture and what it meets outside. */
typedef enum GfFit {
    GF_FIT_BORDER,     /* the plan's border; as many positions as the picture has, or `valid` */
    GF_FIT_PAD,        /* top, left, bottom and right more rows and columns */
    GF_FIT_SAME_UPPER, /* padded so that out = ceil(in / stride); an odd one goes below, right */
    GF_FIT_SAME_LOWER  /* the same; an odd one goes above, left */
} GfFit;

typedef struct GfSampling {
    size_t stride_x, stride_y;     /* pixels from one window to the next, >= 1 */
    size_t dilation_x, dilation_y; /* pixels from one tap to the next, >= 1 */
    GfFit fit;
    size_t top, left, bottom, right; /* of GF_FIT_PAD */
    GfBorder border; /* of what is padded; unless GF_FIT_BORDER. Pools know only the picture */
    double border_value;
} GfSampling;

/* Neighbouring windows, taps side by side, the plan's border. */
static inline GfSampling gf_sampling_plain(void)
{
    return (GfSampling){1, 1, 1, 1, GF_FIT_BORDER, 0, 0, 0, 0, GF_BORDER_CONSTANT, 0.0};
}

/* Strides and dilations as {height, width}, padding as {top, left, bottom, right}, or, where `same`
 * is no negative number, GF_FIT_SAME_UPPER (0) or GF_FIT_SAME_LOWER (1). A stride of 0 stays what
 * it is. */
void gf_sampling_set(GfSampling *sampling, const size_t *stride, const size_t *dilation,
                     const size_t *padding, int same);

/* Correlation kernels of height x width taps, in one of two forms.
 *
 * A bank (depth 0): every channel of the picture goes through each of the `filters` kernels,
 *   response = scale * sum(weight * sample) + offset,
 * and a combine stage makes one of the responses.
 *
 * A layer (depth > 0): filter f makes output channel f of `depth` input channels: those of its
 * group, where the channels and the filters are cut into `groups` runs of equal length, so that
 * depth * groups channels come in and `filters` go out. Depthwise: depth 1.
 *   response = scale * sum over depth, height, width of (weight * sample) + offset + bias[f]
 *
 * Weights are kept as doubles, so that a decimal which a user typed reaches the float64 reference
 * unrounded. A kernel of a bank known to be a product is given by its factors instead of its
 * taps. */
typedef struct GfLinear {
    size_t filters, width, height;
    size_t depth, groups;      /* 0 and 1 for a bank */
    size_t anchor_x, anchor_y; /* of GF_FIT_BORDER: the tap that lies on the output pixel */
    double scale, offset;
    GfSampling sampling;
    double *weights; /* filters x [depth x] height x width, or NULL when given by factors; owned */
    double *columns; /* filters x height: tap (y, x) = columns[y] * rows[x]; owned */
    double *rows;    /* filters x width; owned */
    double *bias;    /* of a layer: filters, or NULL; owned */
} GfLinear;

/* The responses r of a bank become one. */
typedef enum GfCombineOp {
    GF_COMBINE_NONE, /* a bank of one */
    GF_COMBINE_L2,   /* sqrt(sum r^2) */
    GF_COMBINE_L1,   /* sum |r| */
    GF_COMBINE_MAX,
    GF_COMBINE_MIN,
    GF_COMBINE_SUM,
    GF_COMBINE_UNSHARP /* r0 + amount * (r0 - r1) where |r0 - r1| >= threshold, else r0 */
} GfCombineOp;

typedef struct GfCombine {
    GfCombineOp op;
    double amount, threshold; /* threshold on a scale of 0 to 255 */
} GfCombine;

/* A function of one sample. */
typedef enum GfPointwiseOp {
    GF_POINTWISE_ABS,
    GF_POINTWISE_AFFINE,  /* a * x + b */
    GF_POINTWISE_RELU,    /* max(x, 0); NaN stays NaN */
    GF_POINTWISE_SIGMOID, /* 1 / (1 + exp(-(x + b))) */
    GF_POINTWISE_TANH,
    GF_POINTWISE_CLAMP,  /* min(max(x, a), b) */
    GF_POINTWISE_LEAKY,  /* x where x > 0, else a * x; NaN stays NaN */
    GF_POINTWISE_DECODE, /* to light, and back, by the curves of the step; a is white */
    GF_POINTWISE_ENCODE
} GfPointwiseOp;

typedef struct GfPointwise {
    GfPointwiseOp op;
    double a, b;
} GfPointwise;

static inline bool gf_pointwise_is_light(const GfPointwise *pointwise)
{
    return pointwise->op == GF_POINTWISE_DECODE || pointwise->op == GF_POINTWISE_ENCODE;
}

/* Each channel's window of height x width samples becomes one sample. Only samples of the picture
 * take part; a window that meets none gives 0. */
typedef enum GfPoolOp {
    GF_POOL_MAX,
    GF_POOL_AVERAGE,
    GF_POOL_L2 /* sqrt(sum x^2) */
} GfPoolOp;

typedef struct GfPool {
    GfPoolOp op;
    size_t width, height;
    GfSampling sampling; /* never GF_FIT_BORDER */
    bool ceil;          /* a last window that begins on the picture or its padding may end beyond */
    bool count_padding; /* of an average: padding counts as zeros (what lies beyond it does not) */
    double *bias; /* added to the sample of each channel: bias_count numbers, or NULL; owned */
    size_t bias_count;
} GfPool;

/* How a network sees the picture: black becomes `low`, white `high`, then the mean is taken off and
 * the rest divided by the deviation; behind the picture's channels stand planes of one number each.
 * One channel is luma (ITU-R BT.601) where the picture has colour; three are three times the same
 * where it has none. Opacity waits for the network's end. */
typedef struct GfEntry {
    size_t channels; /* of the picture; >= 1 */
    double low, high;
    double *mean, *deviation; /* a number a channel, or NULL: 0 and 1; owned */
    double *planes;           /* owned */
    size_t plane_count;
} GfEntry;

/* What a network's last maps are: the picture, black being `low` and white `high`, or, of a
 * residual, what is to be added to the picture that entered, one map to each of its colours.
 * Opacity is put back. Needs an entry before it. */
typedef struct GfExit {
    bool residual;
    double low, high;
} GfExit;

/* Numbers for stages that refer to another: what stage `from` reads, which is what stage from - 1
 * makes; of an entry's number, the picture that enters. It was read before. */
typedef size_t GfReference;
#define GF_NO_REFERENCE ((GfReference)-1)

/* Adds what an earlier stage made, sample by sample: a residual connection. */
typedef struct GfAdd {
    GfReference from;
} GfAdd;

/* From each pixel a block of factor_x x factor_y. Nearest: all are the pixel. Shuffle: pixel (i, j)
 * of channel c's block is that of channel (c * factor_y + i) * factor_x + j, so that there are
 * factor_x * factor_y times fewer channels. With a reference, what exceeds its size is cut off at
 * the right and bottom: less than a block. */
typedef struct GfUpsample {
    bool shuffle;
    size_t factor_x, factor_y;
    GfReference like;
} GfUpsample;

typedef enum GfStageKind {
    GF_STAGE_LINEAR,
    GF_STAGE_COMBINE,
    GF_STAGE_POINTWISE,
    GF_STAGE_POOL,
    GF_STAGE_ENTRY,
    GF_STAGE_EXIT,
    GF_STAGE_ADD,
    GF_STAGE_UPSAMPLE
} GfStageKind;

/* The pictures that a stage is for. Of two networks, each from its entry on, the first is for those
 * that have no colour where it begins, the second for the others. */
typedef enum GfAudience { GF_FOR_ALL, GF_FOR_GRAY, GF_FOR_COLOUR } GfAudience;

typedef struct GfStage {
    GfStageKind kind;
    GfAudience audience;
    char *label; /* for messages about this stage: "stage 3 (conv body)"; or NULL; owned */
    union {
        GfLinear linear;
        GfCombine combine;
        GfPointwise pointwise;
        GfPool pool;
        GfEntry entry;
        GfExit exit;
        GfAdd add;
        GfUpsample upsample;
    };
} GfStage;

enum { GF_FILTER_MAX_STAGES = 512, GF_KERNEL_MAX_SIDE = 4095, GF_LAYER_MAX_CHANNELS = 65535 };
enum { GF_UPSAMPLE_MAX = 64 };

/* An owned list of stages. */
typedef struct GfFilter {
    char *text; /* as the user typed it */
    char *name; /* for file names: the filters' names joined by "-", "custom" for typed kernels */
    GfStage stages[GF_FILTER_MAX_STAGES];
    size_t count;
} GfFilter;

/* Appends a linear stage with weights, or with factors, allocated and zeroed, anchored at
 * (width / 2, height / 2), scale 1, offset 0. Errors: GF_EUSAGE when the chain or the kernel is too
 * large, GF_EMEMORY. */
GfStatus gf_filter_add_kernel(GfFilter *filter, size_t filters, size_t width, size_t height,
                              GfLinear **linear);
GfStatus gf_filter_add_factors(GfFilter *filter, size_t filters, size_t width, size_t height,
                               GfLinear **linear);

/* Appends a layer of `filters` maps from depth * groups channels, its weights allocated and zeroed,
 * no bias, scale 1, stride and dilation 1, GF_FIT_PAD by nothing with zeros. Errors: GF_EUSAGE when
 * the filters are no multiple of the groups, or too much is asked for, GF_EMEMORY. */
GfStatus gf_filter_add_layer(GfFilter *filter, size_t filters, size_t depth, size_t groups,
                             size_t width, size_t height, GfLinear **linear);

/* Appends a pool that moves by its own size: stride = size, dilation 1, GF_FIT_PAD by nothing. */
GfStatus gf_filter_add_pool(GfFilter *filter, GfPoolOp op, size_t width, size_t height,
                            GfPool **pool);

/* Appends the beginning of a network, its means, deviations (both NULL) and planes to be filled in.
 * Errors: GF_EUSAGE where black is white or the channels are none or too many. */
GfStatus gf_filter_add_entry(GfFilter *filter, size_t channels, double low, double high,
                             size_t planes, GfEntry **entry);

/* Appends a stage without numbers of its own. */
GfStatus gf_filter_add_combine(GfFilter *filter, GfCombine combine);
GfStatus gf_filter_add_pointwise(GfFilter *filter, GfPointwise pointwise);
GfStatus gf_filter_add_exit(GfFilter *filter, GfExit exit);
GfStatus gf_filter_add_sum(GfFilter *filter, GfAdd add);
GfStatus gf_filter_add_upsample(GfFilter *filter, GfUpsample upsample);

/* GF_EUSAGE when a tap, scale, offset or bias is not a number that an f32 can hold. */
GfStatus gf_filter_check(const GfFilter *filter);

/* Puts the stage's label, where it has one, before this thread's message; returns `status`. */
GfStatus gf_stage_fail(const GfStage *stage, GfStatus status);

/* NULL is allowed. */
void gf_filter_free(GfFilter *filter);

/* Channels that one kernel spans. */
static inline size_t gf_linear_depth(const GfLinear *linear)
{
    return linear->depth > 0 ? linear->depth : 1;
}

/* A layer, or one kernel that serves every channel as a layer's would: with a padding of its
 * own. */
static inline bool gf_linear_is_learned(const GfLinear *linear)
{
    return linear->depth > 0 || linear->sampling.fit != GF_FIT_BORDER;
}

/* Taps of one kernel, all its channels. */
static inline size_t gf_linear_taps(const GfLinear *linear)
{
    return gf_linear_depth(linear) * linear->height * linear->width;
}

/* Tap (y, x) of kernel f of a bank. */
static inline double gf_linear_tap(const GfLinear *linear, size_t f, size_t y, size_t x)
{
    if (linear->weights)
        return linear->weights[(f * linear->height + y) * linear->width + x];
    return linear->columns[f * linear->height + y] * linear->rows[f * linear->width + x];
}
