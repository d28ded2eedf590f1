/* Outputs of more channels than their format holds become a gray picture a channel:
 * in.conv.03.png. */
#pragma once

#include "app/jobs.h"

/* Whether outputs of the job may be cut: not where one path is all there is. */
bool gf_maps_allowed(const GfOptions *options, const GfJob *job);

/* Lists the paths of the job from its bases, each as often as the filter's output has maps. For an
 * input that cannot be opened twice, or not at all, and a filter that keeps the input's channels
 * the number is known only when the picture is read; it is taken to be one here. GF_EMEMORY. */
GfStatus gf_maps_list(const GfOptions *options, const GfBank *bank, GfJob *job);
