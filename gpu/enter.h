/* A network's entry and its first layer as one step, which reads the bytes of a picture.
 *
 * An entry is a layer of 1 x 1: it makes the network's channels of the picture's, brings them to
 * the network's range and takes their means off. With it in front, a layer is one with other
 * weights and bias on the picture itself. Sums of samples that are far from 0 would lose what is
 * left of them when bias takes the means off. So a whole number near its mean is taken off each
 * sample first, which is exact. */
#pragma once

#include "filters/plan.h"

typedef struct GfEntered {
    GfStep step;                      /* reads what the entry reads, makes what the layer makes */
    double *weights, *bias, *outside; /* of the step */
    double *centres;
} GfEntered;

/* Can they be one? The layer is the step after the entry; whether others read what the entry makes
 * is for the caller to know. */
bool gf_can_enter(const GfStep *entry, const GfStep *layer);

/* Makes the one of the two, of which gf_can_enter() said yes; the caller releases it. Besides what
 * is its own the step borrows what the layer does. Errors: GF_EMEMORY, after which there is nothing
 * to release. */
GfStatus gf_enter(const GfStep *entry, const GfStep *layer, GfEntered *entered);

/* What is all zeros is allowed. */
void gf_entered_release(GfEntered *entered);
