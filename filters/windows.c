/* How windows lie on a picture: how many there are in each direction, and where the first
 * begins. */
#include "filters/windows.h"

/* One direction of a window's way over the picture. */
typedef struct Axis {
    const char *name; /* "row", "column", for messages */
    size_t in, taps, stride, dilation;
    GfFit fit;
    size_t before, after; /* padding */
    size_t anchor;
    bool valid; /* of GF_FIT_BORDER: only windows that lie on the picture */
    bool ceil;
    size_t out;
    ptrdiff_t origin;
} Axis;

static GfStatus check_axis(const Axis *axis)
{
    if (axis->stride < 1 || axis->dilation < 1)
        return gf_fail(GF_EFILTER, "a stride or dilation of 0");
    if (axis->stride > GF_MOST_PIXELS || axis->dilation > GF_MOST_PIXELS ||
        axis->before > GF_MOST_PIXELS || axis->after > GF_MOST_PIXELS)
        return gf_fail(GF_EFILTER, "a stride, dilation or padding above %d", GF_MOST_PIXELS);
    return GF_OK;
}

/* How many windows there are, and where the first begins. */
static GfStatus lay_axis(Axis *axis)
{
    GF_TRY(check_axis(axis));
    size_t reach = (axis->taps - 1) * axis->dilation + 1;
    if (axis->fit == GF_FIT_BORDER && !axis->valid) {
        axis->out = (axis->in - 1) / axis->stride + 1;
        axis->origin = -(ptrdiff_t)(axis->anchor * axis->dilation);
        return GF_OK;
    }
    if (axis->fit == GF_FIT_SAME_UPPER || axis->fit == GF_FIT_SAME_LOWER) {
        size_t span = (axis->in - 1) / axis->stride * axis->stride + reach;
        size_t missing = span > axis->in ? span - axis->in : 0;
        axis->before = (missing + (axis->fit == GF_FIT_SAME_LOWER ? 1 : 0)) / 2;
        axis->after = missing - axis->before;
    }
    size_t padded = axis->in + axis->before + axis->after;
    size_t beyond = axis->ceil ? axis->stride - 1 : 0;
    if (reach > padded + beyond)
        return gf_fail(GF_EFILTER, "%s of %zu %ss%s does not fit into %zu %s%s%s",
                       axis->valid ? "border valid: a kernel" : "a window", reach, axis->name,
                       axis->dilation > 1 ? " (taps and dilation)" : "", axis->in, axis->name,
                       axis->in == 1 ? "" : "s",
                       axis->before + axis->after > 0 ? " and padding" : "");
    axis->out = (padded + beyond - reach) / axis->stride + 1;
    if (axis->ceil && (axis->out - 1) * axis->stride >= axis->in + axis->before)
        axis->out--;
    axis->origin = -(ptrdiff_t)axis->before;
    return GF_OK;
}

/* Where an average's taps count: on the picture, or on its padding too. */
static void set_counted(GfStep *step, const Axis *x, const Axis *y)
{
    bool padding = step->pool.count_padding;
    step->count_x0 = padding ? -(ptrdiff_t)x->before : 0;
    step->count_y0 = padding ? -(ptrdiff_t)y->before : 0;
    step->count_x1 = (ptrdiff_t)(x->in + (padding ? x->after : 0));
    step->count_y1 = (ptrdiff_t)(y->in + (padding ? y->after : 0));
}

GfStatus gf_lay_windows(GfStep *step, const GfPlanOptions *options)
{
    const GfLinear *linear = &step->linear;
    bool pool = step->kind == GF_STEP_POOL;
    const GfSampling *sampling = pool ? &step->pool.sampling : &linear->sampling;
    bool border = sampling->fit == GF_FIT_BORDER, valid = options->border == GF_BORDER_VALID;
    Axis x = {.name = "column",
              .in = step->in_width,
              .taps = pool ? step->pool.width : linear->width,
              .stride = sampling->stride_x,
              .dilation = sampling->dilation_x,
              .fit = sampling->fit,
              .before = sampling->left,
              .after = sampling->right,
              .anchor = linear->anchor_x,
              .valid = border && valid,
              .ceil = pool && step->pool.ceil};
    Axis y = x;
    y.name = "row";
    y.in = step->in_height;
    y.taps = pool ? step->pool.height : linear->height;
    y.stride = sampling->stride_y;
    y.dilation = sampling->dilation_y;
    y.before = sampling->top;
    y.after = sampling->bottom;
    y.anchor = linear->anchor_y;
    GF_TRY(lay_axis(&x));
    GF_TRY(lay_axis(&y));
    step->taps_x = x.taps;
    step->taps_y = y.taps;
    step->stride_x = x.stride;
    step->stride_y = y.stride;
    step->dilation_x = x.dilation;
    step->dilation_y = y.dilation;
    step->origin_x = x.origin;
    step->origin_y = y.origin;
    step->out_width = x.out;
    step->out_height = y.out;
    step->border = border ? options->border : pool ? GF_BORDER_CONSTANT : sampling->border;
    step->border_value = border ? options->border_value : sampling->border_value;
    set_counted(step, &x, &y);
    return GF_OK;
}
