/* What a picture's numbers mean in light. */
#pragma once

#include "images/metadata.h"

/* Sets *gamma: stored numbers are light to the power of 1 / gamma, or follow sRGB's curve where it is
 * 0: as the profile says, else PNG's gAMA, else sRGB. GF_EINPUT when the profile is damaged, or says
 * neither of the two; GF_EUNSUPPORTED when there is a profile, and the program was built without lcms2. */
GfStatus gf_light_of(const GfMetadata *metadata, double *gamma);
