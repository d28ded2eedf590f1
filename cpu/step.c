/* A dense bank on a picture is fastest on pixels as they lie; everything else is taken plane by
 * plane. */
#include "cpu/step.h"

#include <stdlib.h>

#include "cpu/pixels.h"
#include "cpu/planes.h"

/* One of the two. */
struct GfStepRunner {
    GfPixels *pixels;
    GfPlanes *planes;
};

static bool is_interleaved(const GfStep *step)
{
    bool opacity = step->kind == GF_STEP_PREMULTIPLY || step->kind == GF_STEP_UNPREMULTIPLY;
    bool bank = step->kind == GF_STEP_FILTER && !gf_step_is_layer(step);
    return opacity || (bank && gf_step_is_dense(step) && step->in_layout == GF_INTERLEAVED &&
                       step->out_layout == GF_INTERLEAVED);
}

GfStatus gf_step_runner_create(const GfStep *step, bool wide, const GfRowSet *rows,
                               GfStepRunner **out)
{
    GfStepRunner *runner;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *runner, &runner));
    GfStatus status = is_interleaved(step) ? gf_pixels_create(step, wide, rows, &runner->pixels)
                                           : gf_planes_create(step, wide, rows, &runner->planes);
    if (status != GF_OK) {
        gf_step_runner_free(runner);
        return status;
    }
    *out = runner;
    return GF_OK;
}

size_t gf_step_runner_scratch(const GfStepRunner *runner)
{
    return runner->pixels ? gf_pixels_scratch(runner->pixels) : gf_planes_scratch(runner->planes);
}

void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input, ptrdiff_t y0,
                        ptrdiff_t y1, void *to, size_t stride, void *scratch)
{
    if (runner->pixels)
        gf_pixels_run(runner->pixels, input, y0, y1, to, stride, scratch);
    else
        gf_planes_run(runner->planes, input, y0, y1, to, stride, scratch);
}

void gf_step_runner_free(GfStepRunner *runner)
{
    if (!runner)
        return;
    gf_pixels_free(runner->pixels);
    gf_planes_free(runner->planes);
    free(runner);
}
