/* Where methods are worth while: what `auto` asks of each, in its order (gpu/algorithms.c). */
#pragma once

#include "gpu/algorithms.h"

/* The squares that methods for layers know when compiled. */
bool gf_is_usual_square(const GfLinear *linear);

/* Maps of a group of channels. */
size_t gf_maps_of_group(const GfLinear *linear);

/* Is it a layer of one map, or few, of each channel? */
bool gf_is_depthwise(const GfLinear *linear);

/* Is the method, which supports the step, worth while for it? Those after it in its order are what
 * it is compared with. As measured on an NVIDIA H200 on the cases of bench/suites.c and on 1500
 * that were drawn by chance (bench/drawn.c). */
bool gf_tensor_pays(const GfStep *step, const GfUse *use, const GfCard *card);
bool gf_special_pays(const GfStep *step, const GfUse *use, const GfCard *card);
bool gf_general_pays(const GfStep *step, const GfUse *use, const GfCard *card);
bool gf_implicit_pays(const GfStep *step, const GfUse *use, const GfCard *card);
