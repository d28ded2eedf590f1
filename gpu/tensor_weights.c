#include "gpu/tensor_weights.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "gpu/launch.h"

enum { DIGIT = 127, BASE = 256 };

double gf_weights_largest(const double *weights, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(weights[i]));
    return most;
}

/* Is each weight a whole number of units? */
static bool all_whole(const double *weights, size_t count, double unit)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(weights[i] / unit - nearbyint(weights[i] / unit)) > 1e-11)
            return false;
    return true;
}

double gf_weights_unit(const double *weights, size_t count, size_t *planes)
{
    double most = gf_weights_largest(weights, count);
    *planes = 1;
    if (most == 0.0)
        return 1.0;
    for (int parts = 1; parts <= DIGIT; parts++)
        if (all_whole(weights, count, most / parts))
            return most / parts;
    *planes = GF_TENSOR_PLANES;
    return most / (((double)DIGIT * BASE + DIGIT) * BASE + DIGIT);
}

int gf_weights_digit(double units, size_t p)
{
    long rest = lrint(units);
    for (;; p--) {
        int low = (int)(((rest + BASE / 2) % BASE + BASE) % BASE) - BASE / 2;
        if (p == 0)
            return low;
        rest = (rest - low) / BASE;
    }
}

bool gf_weights_sums_fit(const double *weights, size_t count, double unit, size_t planes, long most)
{
    for (size_t p = 0; p < planes; p++) {
        long above = 0, below = 0;
        for (size_t i = 0; i < count; i++) {
            int d = gf_weights_digit(weights[i] / unit, p);
            *(d > 0 ? &above : &below) += labs(d);
        }
        if (above * UCHAR_MAX >= most || below * UCHAR_MAX >= most)
            return false;
    }
    return true;
}

double gf_weights_rounding(const double *weights, size_t count, double unit)
{
    double error = 0.0;
    for (size_t i = 0; i < count; i++)
        error += fabs(weights[i] - unit * nearbyint(weights[i] / unit));
    return error;
}
