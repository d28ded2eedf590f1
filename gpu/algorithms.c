/* The table of convolution methods, and what each can run. */
#include "gpu/algorithms.h"

#include <limits.h>
#include <string.h>

#ifdef GPUFILTER_HAVE_CUDA
#define LAUNCHER(name) name
#else
#define LAUNCHER(name) NULL
#endif

static GfStatus direct_supports(const GfStep *step, bool wide)
{
    (void)step, (void)wide;
    return GF_OK;
}

enum { SPECIAL_SIDE = 7, SPECIAL_CHANNELS = 4, SPECIAL_FILTERS = 2 };

/* Is the border's constant a sample of the input? A row of samples has no place for others. */
static bool border_is_sample(const GfStep *step)
{
    double value = step->border_value, white = gf_sample_max(step->in);
    if (step->border != GF_BORDER_CONSTANT || gf_sample_is_float(step->in))
        return true;
    return value >= 0.0 && value <= white && value == (double)(long)value;
}

/* A zero tap makes NaN of an infinite sample: floats are multiplied by no taps that the kernel has
 * not. */
static bool fills_box(const GfStep *step)
{
    size_t side = gf_special_side(&step->linear);
    return step->linear.width == side && step->linear.height == side && !step->keep_alpha;
}

static GfStatus special_supports(const GfStep *step, bool wide)
{
    const GfLinear *linear = &step->linear;
    if (wide || step->in == GF_F64 || step->out == GF_F64)
        return gf_fail(GF_EUNSUPPORTED, "special: sums in f32 only, this step needs f64");
    if (gf_special_side(linear) > SPECIAL_SIDE)
        return gf_fail(GF_EUNSUPPORTED,
                       "special: kernels within 3 pixels of their anchor, this one is %zu x %zu",
                       linear->width, linear->height);
    if (linear->filters > SPECIAL_FILTERS)
        return gf_fail(GF_EUNSUPPORTED, "special: banks of 1 or 2 kernels, this one has %zu",
                       linear->filters);
    if (step->channels > SPECIAL_CHANNELS)
        return gf_fail(GF_EUNSUPPORTED, "special: 1 to 4 channels, this picture has %zu",
                       step->channels);
    if (step->channels % 2 != 0 && step->post_channels != step->channels)
        return gf_fail(GF_EUNSUPPORTED,
                       "special: opacity is the last of 2 or 4 channels, not of %zu",
                       step->channels);
    if (gf_sample_is_float(step->in) && !fills_box(step))
        return gf_fail(GF_EUNSUPPORTED, "special: on float samples only kernels that are a square "
                                        "about their anchor, and no opacity that is copied");
    if (!border_is_sample(step))
        return gf_fail(GF_EUNSUPPORTED,
                       "special: the border's value %g is no sample of this picture",
                       step->border_value);
    if (step->in_width > (size_t)INT_MAX / 2 / step->channels)
        return gf_fail(GF_EUNSUPPORTED, "special: rows of %zu pixels are too long", step->in_width);
    return GF_OK;
}

const GfAlgorithm gf_algorithms[] = {
    {"special", "rows roll through registers and shared memory; kernels up to 7 x 7",
     "Chen et al., DAC 2017, algorithm 1", special_supports, LAUNCHER(gf_launch_special)},
    {"direct", "a thread an output sample; runs every step", "Hwu, Kirk, El Hajj, PMPP, 16.3",
     direct_supports, LAUNCHER(gf_launch_direct)},
    {0}};

const GfAlgorithm *gf_algorithm_find(const char *name)
{
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

const GfAlgorithm *gf_algorithm_choose(const GfStep *step, bool wide)
{
    const GfAlgorithm *row = gf_algorithms;
    while (row->supports(step, wide) != GF_OK)
        row++;
    return row;
}
