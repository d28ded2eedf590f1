/* Weights as integers for tensor cores: weight = unit * sum over p of 256^p * digit p
 * (gpu/tensor_shape.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

double gf_weights_largest(const double *weights, size_t count);

/* The unit of which all weights are small multiples, which takes one plane, or else one for
 * GF_TENSOR_PLANES digits. */
double gf_weights_unit(const double *weights, size_t count, size_t *planes);

/* Digit p of weight `units`, from -128 to 127. */
int gf_weights_digit(double units, size_t p);

/* Are all sums of bytes times digits of a plane less than `most` from zero? */
bool gf_weights_sums_fit(const double *weights, size_t count, double unit, size_t planes,
                         long most);

/* The sum of what the integers are off. */
double gf_weights_rounding(const double *weights, size_t count, double unit);
