/* A dense bank on a picture is fastest on pixels as they lie, of small integers on bytes in sums of
 * 16 bits, large kernels by transforms, and those whose taps are all the same by running sums;
 * other windows are taken plane by plane. */
#include "cpu/step.h"

#include <stdlib.h>

#include "cpu/box.h"
#include "cpu/fourier.h"
#include "cpu/integers.h"
#include "cpu/pixels.h"
#include "cpu/planes.h"
#include "cpu/weave.h"

/* One of the six. */
struct GfStepRunner {
    const GfStep *step;
    GfBox *box;
    GfFourier *fourier;
    GfIntegers *integers;
    GfPixels *pixels;
    GfPlanes *planes;
    GfWeave *weave;
};

static bool is_interleaved(const GfStep *step)
{
    return step->kind == GF_STEP_PREMULTIPLY || step->kind == GF_STEP_UNPREMULTIPLY ||
           gf_step_is_bank(step);
}

GfStatus gf_step_runner_create(const GfPipeline *pipeline, size_t i, const GfRowSet *rows,
                               GfStepRunner **out)
{
    const GfStep *step = &pipeline->steps[i];
    bool wide = pipeline->wide;
    GfStepRunner *runner;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *runner, &runner));
    runner->step = step;
    GfStatus status = GF_OK;
    if (step->kind == GF_STEP_ADD || step->kind == GF_STEP_UPSAMPLE)
        status = gf_weave_create(step, wide, rows, &runner->weave);
    else if (gf_integers_pay(pipeline, i))
        status = gf_integers_create(pipeline, i, rows, &runner->integers);
    else if (gf_box_pays(pipeline, i))
        status = gf_box_create(pipeline, i, rows, &runner->box);
    else if (gf_fourier_saves(pipeline, i) > 0.0)
        status = gf_fourier_create(pipeline, i, rows, &runner->fourier);
    else if (is_interleaved(step))
        status = gf_pixels_create(step, wide, rows, &runner->pixels);
    else
        status = gf_planes_create(step, wide, rows, &runner->planes);
    if (status != GF_OK) {
        gf_step_runner_free(runner);
        return status;
    }
    *out = runner;
    return GF_OK;
}

const char *gf_step_runner_method(const GfStepRunner *runner)
{
    const GfStep *step = runner->step;
    if (runner->fourier)
        return "fourier";
    if (runner->box)
        return "box";
    if (step->light)
        return "light";
    if (step->kind == GF_STEP_FILTER)
        return step->separable ? "separable" : "direct";
    return gf_step_name(step->kind);
}

/* Small integers are bytes, which are the picture's. */
bool gf_step_runner_narrows(const GfStepRunner *runner)
{
    return runner->pixels || runner->integers;
}

size_t gf_step_runner_parts(const GfStepRunner *runner, size_t width)
{
    if (runner->box)
        return gf_box_parts(runner->box);
    if (runner->pixels)
        return gf_pixels_parts(runner->pixels, width);
    return runner->fourier ? gf_fourier_parts(runner->fourier) : 1;
}

size_t gf_step_runner_least_rows(const GfStepRunner *runner)
{
    if (runner->box)
        return gf_box_least_rows(runner->box);
    if (runner->pixels)
        return gf_pixels_least_rows(runner->pixels);
    return runner->fourier ? gf_fourier_least_rows(runner->fourier) : 1;
}

size_t gf_step_runner_scratch(const GfStepRunner *runner)
{
    if (runner->weave)
        return gf_weave_scratch(runner->weave);
    if (runner->box)
        return gf_box_scratch(runner->box);
    if (runner->integers)
        return gf_integers_scratch(runner->integers);
    if (runner->fourier)
        return gf_fourier_scratch(runner->fourier);
    return runner->pixels ? gf_pixels_scratch(runner->pixels) : gf_planes_scratch(runner->planes);
}

void gf_step_runner_run(const GfStepRunner *runner, const GfStepInput *input,
                        const GfStepInput *skipped, ptrdiff_t y0, ptrdiff_t y1, size_t part,
                        const GfStepOutput *to, void *scratch)
{
    unsigned char *samples = to->samples;
    size_t stride = to->stride;
    if (runner->weave)
        gf_weave_run(runner->weave, input, skipped, y0, y1, samples, stride, scratch);
    else if (runner->box)
        gf_box_run(runner->box, input, y0, y1, part, samples, stride, scratch);
    else if (runner->integers)
        gf_integers_run(runner->integers, input, y0, y1, to, scratch);
    else if (runner->fourier)
        gf_fourier_run(runner->fourier, input, y0, y1, part, samples, stride, scratch);
    else if (runner->pixels)
        gf_pixels_run(runner->pixels, input, y0, y1, part, to, scratch);
    else
        gf_planes_run(runner->planes, input, y0, y1, samples, stride, scratch);
}

void gf_step_runner_free(GfStepRunner *runner)
{
    if (!runner)
        return;
    gf_box_free(runner->box);
    gf_integers_free(runner->integers);
    gf_fourier_free(runner->fourier);
    gf_pixels_free(runner->pixels);
    gf_planes_free(runner->planes);
    gf_weave_free(runner->weave);
    free(runner);
}
