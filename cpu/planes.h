/* Steps that are run plane by plane: layers, pools, and banks with a stride, a dilation, or an
 * input or output in planes. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

typedef struct GfPlanes GfPlanes;

/* As gf_step_runner_create() (cpu/step.h). */
GfStatus gf_planes_create(const GfStep *step, bool wide, const GfRowSet *rows, GfPlanes **planes);

size_t gf_planes_scratch(const GfPlanes *planes);

void gf_planes_run(const GfPlanes *planes, const GfStepInput *input, ptrdiff_t y0, ptrdiff_t y1,
                   void *to, size_t stride, void *scratch);

void gf_planes_free(GfPlanes *planes);
