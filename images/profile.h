/* The colour profile that goes into an output. */
#pragma once

#include "images/metadata.h"

/* How a format says what colours its numbers mean. */
typedef enum GfColourRoom {
    GF_COLOUR_NOWHERE,
    GF_COLOUR_PROFILE, /* by a profile alone */
    GF_COLOUR_CHUNKS   /* also by PNG's gAMA and cHRM */
} GfColourRoom;

/* Sets *profile, which the caller owns, also on failure, to the profile for an output of 1 or 3
 * colours, opacity not counted, or to nothing. It is the picture's own, without padding, or, for
 * PNG, with the padding that libpng wants; where a picture in colour has become gray, one with the
 * curve of its green; and where the format has no room for gamma and chromaticities, one that says
 * the same. The last two need lcms2, and are left out without it. Errors: GF_EMEMORY. */
GfStatus gf_profile_for(const GfMetadata *metadata, size_t colours, GfColourRoom room,
                        GfBlob *profile);
