/* The plan: how the stages of one or several filters are run on one picture's geometry. Pure: it
 * touches no pixel. No other file decides what is decided here. */
#pragma once

#include "filters/border.h"
#include "filters/stage.h"
#include "images/image.h"
#include "images/light.h"

enum {
    /* Submits of one picture in flight: one that waits for a device, one computed, one encoded. */
    GF_SLOTS = 3,
    GF_FLAT_TAPS =
        49, /* kernels of more taps are summed row by row, then the rows' sums (precision.c) */
    GF_LAYER_CHUNK = 128, /* taps of a layer that are summed by themselves, at most */
    GF_DEEP_TAPS = 8192   /* of deeper layers more: gf_layer_chunk() */
};

/* Taps of a layer of n that are summed by themselves, at most. Where sums grow evenly, those of m
 * chunks grow to an m-th of the whole, so that what their additions lose counts little beside what
 * is lost when the chunks' sums are added up; the loss is least where 2 * chunk^3 is n^2. */
static inline size_t gf_layer_chunk(size_t taps)
{
    size_t chunk = GF_LAYER_CHUNK;
    while (taps > GF_DEEP_TAPS && 2 * chunk * chunk * chunk < taps * taps)
        chunk++;
    return chunk;
}

typedef enum GfRange {
    GF_RANGE_AUTO, /* clamp where the response is a picture, abs where it is a derivative */
    GF_RANGE_CLAMP,
    GF_RANGE_ABS,
    GF_RANGE_OFFSET /* zero becomes the middle of the sample's range (128, 32768) */
} GfRange;

typedef enum GfAlpha {
    GF_ALPHA_AUTO,   /* premul where no kernel's sum is zero and something spreads, else copy */
    GF_ALPHA_PREMUL, /* filter colour times opacity, and the opacity, then divide */
    GF_ALPHA_COPY,   /* the opacity of the input pixel */
    GF_ALPHA_FILTER  /* a channel like any other */
} GfAlpha;

/* What pictures in colour become before anything else, in the light that their numbers stand
 * for. */
typedef enum GfGray {
    GF_GRAY_NONE,
    GF_GRAY_BT601, /* .299 R + .587 G + .114 B, full range: JPEG's luma */
    GF_GRAY_BT709  /* .2126 R + .7152 G + .0722 B: HDTV's */
} GfGray;

typedef struct GfPlanOptions {
    GfBorder border;
    double border_value; /* for GF_BORDER_CONSTANT, in sample units of the input */
    GfRange range;
    GfAlpha alpha;
    bool flip; /* true convolution: kernels turned by 180 degrees, but those of networks */
    GfGray gray;
    const GfLight
        *light; /* filter light, and store what was stored before; or NULL. The plan copies it */
    GfSample sample;   /* of the output */
    size_t band_bytes; /* most bytes of a band of input rows, where one row is not more */
    size_t memory;     /* most bytes for the rows of one picture in flight; 0: plan.c's own */
    bool whole;        /* all rows at once */
    bool prompt;       /* no submit waits for another to be computed */
    size_t devices;    /* that share the bands of a picture; 0: one */
    size_t tall;       /* most rows of a kernel that is a product in one step; 0: any */
} GfPlanOptions;

/* Everything default for a picture of that sample type: replicate, auto, auto. */
GfPlanOptions gf_plan_options_default(GfSample sample);

enum { GF_STEP_MAX_POST = 8 };

/* Of white: there is no opacity where it is not above this. Where opacities cancel, f64 (in which
 * all sums are that can cancel) leaves about 1e-15 of white, or nothing, or less; half a step of 16
 * bits is 8e-6. */
#define GF_LEAST_ALPHA 1e-9

typedef enum GfStepKind {
    GF_STEP_FILTER,        /* a bank, combined, or a layer, and what is fused after it */
    GF_STEP_POOL,          /* and what is fused after it */
    GF_STEP_PREMULTIPLY,   /* colour *= alpha / white */
    GF_STEP_UNPREMULTIPLY, /* alpha *= alpha_gain; colour *= white / alpha, 0 where there is none */
    GF_STEP_ADD,           /* what an earlier step reads is added, and what is fused after it */
    GF_STEP_UPSAMPLE       /* and what is fused after it */
} GfStepKind;

/* What reports call a step that is no filter: "pool", "opacity", "add", "upsample"; else
 * "filter". */
const char *gf_step_name(GfStepKind kind);

/* How the samples of a row lie. */
typedef enum GfLayout {
    GF_INTERLEAVED, /* RGBRGB: what pictures are */
    GF_PLANAR       /* all samples of channel 0, then those of channel 1, ...: what layers make */
} GfLayout;

/* One pass over the picture: stages that run together. With
 *
 *   at(c, ky, kx) = in(x * stride_x + origin_x + kx * dilation_x,
 *                      y * stride_y + origin_y + ky * dilation_y, c)
 *
 * a bank makes for output sample (x, y, c), out_channels being channels,
 *
 *   r[f] = scale * sum over (ky, kx) of tap(f, ky, kx) * at(c, ky, kx) + offset,  v = combine(r);
 *
 * a layer makes for output sample (x, y, f), g = f / (filters / groups) being its group,
 *
 *   v = scale * sum over (d, ky, kx) of tap(f, d, ky, kx) * at(g * depth + d, ky, kx) + offset
 *       + bias[f];
 *
 * a pool makes the maximum, mean or length of at(c, ky, kx), plus bias[c]. An average is divided by
 * the taps within [count_x0, count_x1) x [count_y0, count_y1): the picture, or the picture and its
 * padding. An addition makes, skipped being what step `skip` reads,
 *
 *   v = in(x, y, c) + skip_gain * skipped(x, y, c), 0 standing for c where there is one channel;
 *
 * an enlargement, with i = y mod factor_y and j = x mod factor_x,
 *
 *   v = in(x / factor_x, y / factor_y, shuffle ? (c * factor_y + i) * factor_x + j : c).
 *
 * Then for all of them
 *
 *   v = post[i](v) for each i in order, where c < post_channels
 *   v = v * gain, and + mid where c < post_channels
 *
 * and stored: floats as they are, integers by gf_quantise() (filters/backend.h). Where keep_alpha
 * is set, which is so of banks and additions, the last channel is v = at(c, anchor_y, anchor_x) *
 * gain instead, of an addition v = gain * the last channel of what is skipped; its other channels
 * are the colours. Steps after the first read what the step before wrote: GF_F64 when the pipeline
 * is wide, else GF_F32, not rounded. */
typedef struct GfStep {
    GfStepKind kind;
    size_t in_width, in_height, out_width, out_height;
    size_t channels, out_channels;
    GfSample in, out;
    GfLayout in_layout, out_layout;
    const GfStage *stage; /* that the step began with, for messages; NULL for those of opacity */
    GfLinear linear; /* borrowed weights, flipped where asked; 0 filters unless GF_STEP_FILTER */
    GfPool pool;     /* of GF_STEP_POOL */
    size_t skip; /* of GF_STEP_ADD and GF_STEP_UPSAMPLE (whose size it gives), or GF_NO_REFERENCE */
    double skip_gain;
    size_t skip_channels; /* of what is skipped, and how it lies */
    GfSample skip_in;
    GfLayout skip_layout;
    bool picture; /* of an addition or layer: what it makes is a picture again, interleaved */
    bool entry;   /* a network's: its channels, made of the picture's */
    /* Not NULL: a bank of one tap that is 1, there for the functions between numbers and light. The
     * plan's. */
    const GfLight *light;
    bool shuffle; /* of GF_STEP_UPSAMPLE */
    size_t factor_x, factor_y;
    bool separable;        /* linear.columns and linear.rows are there: use them */
    size_t taps_x, taps_y; /* of the window: 1 and 1 for the steps of opacity */
    size_t stride_x, stride_y, dilation_x, dilation_y;
    ptrdiff_t origin_x, origin_y; /* position in the input of tap (0, 0) for output (0, 0) */
    ptrdiff_t count_x0, count_x1, count_y0, count_y1; /* of an average */
    GfBorder border;
    double border_value;
    const double *bias; /* borrowed: out_channels numbers, or NULL */
    /* NULL but where a network's entry is part of its first layer (gpu/enter.h); borrowed. What is
     * taken off the samples of each channel before they are multiplied. And for each filter (height
     * + 1) x (width + 1) numbers, of which [i][j] is what bias has too much where the taps above i
     * and left of j are outside the picture. */
    const double *centres, *outside;
    GfCombine combine;
    GfPointwise post[GF_STEP_MAX_POST];
    size_t posts;
    size_t post_channels;
    bool keep_alpha;
    double white; /* of the scale of the samples: 255, 65535; 255 for floats, taken as they are */
    double alpha_gain; /* 1 / (sum of the kernels since GF_STEP_PREMULTIPLY): opaque stays opaque */
    double gain, mid;  /* 1 and 0 but in the last step */
} GfStep;

static inline bool gf_step_is_layer(const GfStep *step)
{
    return step->kind == GF_STEP_FILTER && step->linear.depth > 0;
}

/* No stride, no dilation: windows side by side, taps side by side. */
static inline bool gf_step_is_dense(const GfStep *step)
{
    return step->stride_x == 1 && step->stride_y == 1 && step->dilation_x == 1 &&
           step->dilation_y == 1;
}

/* One filter's way from input rows to output rows. */
typedef struct GfPipeline {
    const GfFilter *filter; /* borrowed */
    GfFormat out;
    GfRange range; /* as resolved: never AUTO */
    GfAlpha alpha;
    bool wide;    /* sums in f64: f32 could not keep the exactness rule */
    double noise; /* of responses (gf_pipeline_noise(), filters/precision.h) */
    bool network; /* it has an entry */
    size_t lead;  /* steps that come before the filter's: gray, and to light */
    GfStep *steps;
    size_t count;
    size_t most_rows; /* output rows that one submit of band_rows input rows gives at most */
    double multiply_adds, bytes; /* of the picture: work of the kernels, samples in and out once */
    double *storage[5 * GF_FILTER_MAX_STAGES]; /* weights made for this plan; owned */
    size_t stored;
} GfPipeline;

typedef struct GfPlan {
    GfFormat in;
    GfPlanOptions options;
    GfLight light;         /* what options.light points to, if not NULL */
    GfPipeline *pipelines; /* one a filter of the bank */
    size_t outputs;
    bool streams;     /* false: nothing can be computed before the last row is there */
    size_t band_rows; /* rows that are handed over at once */
    size_t ring_rows; /* rows of input held: in.height, or a multiple of band_rows */
    size_t slots;     /* submits in flight at most: of a picture of fewer bands, those */
} GfPlan;

typedef struct GfRowRange {
    size_t begin, end;
} GfRowRange;

/* Most steps that a pipeline has. */
enum { GF_PIPELINE_MAX_STEPS = 4 * GF_FILTER_MAX_STAGES + 5 };

/* Plans a bank of filters on pictures of one format. The filters must outlive the plan. Errors:
 * GF_EFILTER (`valid` with a kernel larger than the picture, ...), GF_ELIMIT (memory), GF_EMEMORY.
 */
GfStatus gf_plan_create(const GfFilter *const *filters, size_t count, const GfFormat *in,
                        const GfPlanOptions *options, GfPlan **plan);

/* NULL is allowed. */
void gf_plan_free(GfPlan *plan);

/* Input rows [*begin, *end) of the step that output rows [y0, y1) need. */
void gf_step_rows(const GfStep *step, size_t y0, size_t y1, size_t *begin, size_t *end);

/* The same of columns, for a dense step: those that output columns [x0, x1), at least one, need. */
void gf_step_columns(const GfStep *step, size_t x0, size_t x1, size_t *begin, size_t *end);

/* The same for a whole pipeline: rows of the picture. */
void gf_pipeline_rows(const GfPipeline *pipeline, size_t y0, size_t y1, size_t *begin, size_t *end);

/* Input rows that `rows` neighbouring output rows of the step need at most. */
size_t gf_step_most_rows(const GfStep *step, size_t rows);

/* Input rows [*begin, *end) as gf_step_rows() names them, but numbered as if a wrapped picture went
 * on for ever in both directions, so that they are neighbours too: row v is row v modulo
 * in_height. */
void gf_step_window(const GfStep *step, ptrdiff_t y0, ptrdiff_t y1, ptrdiff_t *begin,
                    ptrdiff_t *end);

/* The input rows [need[i].begin, need[i].end) of every step that output rows [y0, y1) of the
 * pipeline need; need[count] is [y0, y1). */
void gf_pipeline_needs(const GfPipeline *pipeline, size_t y0, size_t y1, GfRowRange *need);

/* How many of its steps are layers. */
size_t gf_pipeline_layers(const GfPipeline *pipeline);

/* How many output rows, from the first on, can be computed from the first `rows` rows of input. */
size_t gf_pipeline_ready(const GfPipeline *pipeline, size_t rows);
