/* A dense bank on a picture is fastest on pixels as they lie; other windows are taken plane by plane. */
#include "cpu/step.h"

#include <stdlib.h>

#include "cpu/pixels.h"
#include "cpu/planes.h"
#include "cpu/weave.h"

/* One of the three. */
struct GfStepRunner {
    GfPixels *pixels;
    GfPlanes *planes;
    GfWeave *weave;
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
    bool weave = step->kind == GF_STEP_ADD || step->kind == GF_STEP_UPSAMPLE;
    GfStatus status = weave                  ? gf_weave_create(step, wide, rows, &runner->weave)
                      : is_interleaved(step) ? gf_pixels_create(step, wide, rows, &runner->pixels)
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
    if (runner->weave)
        return gf_weave_scratch(runner->weave);
    return runner->pixels ? gf_pixels_scratch(runner->pixels) : gf_planes_scratch(runner->planes);
}

void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input,
                        const GfStepInput *skipped, ptrdiff_t y0, ptrdiff_t y1, void *to,
                        size_t stride, void *scratch)
{
    if (runner->weave)
        gf_weave_run(runner->weave, input, skipped, y0, y1, to, stride, scratch);
    else if (runner->pixels)
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
    gf_weave_free(runner->weave);
    free(runner);
}
