/* What a filter computes, in words and numbers. */
#pragma once

#include "filters/stage.h"

/* Prints a stage on standard output, after an empty line. */
void gf_stage_print(const GfStage *stage);

/* Prints all stages, and where they begin to be for some pictures only, for which. */
void gf_stages_print(const GfFilter *filter);
