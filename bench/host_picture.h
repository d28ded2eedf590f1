/* A picture file to measure with. */
#pragma once

#include "common/status.h"

/* Writes a picture of width x height pixels with gradients, edges and a little noise, as a camera's
 * have, by this project's own writer of the name's extension. Errors: those of writing. */
GfStatus host_picture(const char *path, size_t width, size_t height, size_t channels);
