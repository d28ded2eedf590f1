/* Weights as numbers of f16 for tensor cores: weight = unit * (upper half + lower half), of 22 bits
 * together (gpu/tensor_shape.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A power of two by which the largest weight is less than 2^15. */
double gf_halves_unit(const double *weights, size_t count);

/* The bits of one half of a weight of so many units, less than 2^15. */
uint16_t gf_halves_part(double units, bool upper);

/* What the two halves of a weight are off. */
double gf_halves_rounding(double weight, double unit);

/* By how much a product that is added to a sum of at most `most` rounds it, in f32. */
double gf_halves_last_place(double most);
