/* What a method loads from global memory, to hold kernels to filters/model.h. */
#pragma once

/* Launches the method once on a step all of whose tiles are full and lie inside the picture, and
 * prints what the model counts for that launch:
 *
 *   METHOD tiling NAME: N samples of B bytes, N weights, N tiles, N operations
 *
 * Status 0, 1 when the launch failed, 77 without a device. */
int print_loads(const char *method);
