/* Filters of the catalogue that do what a camera can do to a picture: move it, while the shutter is
 * open or before, and see it out of focus. */
#pragma once

#include "filters/catalog.h"

/* x, y: by how many pixels everything goes right and down. A fraction is interpolated linearly. */
GfStatus gf_camera_shift(const GfValue *values, GfFilter *filter);

/* radius: a circle of light. Each tap is the part of its pixel inside the circle, computed, not
 * sampled. */
GfStatus gf_camera_disk(const GfValue *values, GfFilter *filter);

/* length, angle: a line of light from the middle of one pixel to that of another, length - 1
 * away. */
GfStatus gf_camera_motion(const GfValue *values, GfFilter *filter);
