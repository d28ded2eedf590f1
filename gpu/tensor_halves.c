/* The upper half of a weight is the number of f16 that is nearest to it, the lower half the one
 * that is nearest to what is left. */
#include "gpu/tensor_halves.h"

#include <math.h>

#include "gpu/tensor_weights.h"

/* The nearest number of f16; all are far below its largest. */
static double round_half(double number, uint16_t *half)
{
    int exponent;
    *half = 0;
    if (number == 0.0)
        return 0.0;
    (void)frexp(number, &exponent);
    const int last = exponent - 11 < -24 ? -24 : exponent - 11; /* place of the last digit */
    const double digits = nearbyint(ldexp(fabs(number), -last));
    *half = (uint16_t)((unsigned)digits + ((unsigned)(last + 24) << 10) + (number < 0.0) * 0x8000u);
    return copysign(ldexp(digits, last), number);
}

double gf_halves_unit(const double *weights, size_t count)
{
    int exponent;
    (void)frexp(gf_weights_largest(weights, count), &exponent);
    return ldexp(1.0, exponent - 15);
}

uint16_t gf_halves_part(double units, bool upper)
{
    uint16_t half;
    const double rounded = round_half(units, &half);
    if (!upper)
        (void)round_half(units - rounded, &half);
    return half;
}

double gf_halves_rounding(double weight, double unit)
{
    uint16_t half;
    const double units = weight / unit, rest = units - round_half(units, &half);
    return fabs(rest - round_half(rest, &half)) * unit;
}

double gf_halves_last_place(double most)
{
    return most > 0.0 ? ldexp(1.0, ilogb(most) - 23) : 0.0;
}
