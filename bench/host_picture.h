/* A picture file to measure with. */
#pragma once

#include "common/status.h"

/* Writes a picture of side x side pixels with gradients, edges and a little noise, as a camera's
 * have, by this project's own writer of the name's extension. Errors: those of writing. */
GfStatus host_picture(const char *path, size_t side, size_t channels);
