/* What lies outside a picture: the one function that says so, for the CPU and the GPU. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __CUDACC__
#define GF_HOST_DEVICE __host__ __device__
#else
#define GF_HOST_DEVICE
#endif

/* OpenCV's names; the picture is abcd. "zero" is CONSTANT with value 0. */
typedef enum GfBorder {
    GF_BORDER_REPLICATE,  /* aa|abcd|dd */
    GF_BORDER_REFLECT101, /* cb|abcd|cb */
    GF_BORDER_REFLECT,    /* ba|abcd|dc */
    GF_BORDER_WRAP,       /* cd|abcd|ab */
    GF_BORDER_CONSTANT,   /* vv|abcd|vv */
    GF_BORDER_VALID       /* nothing: the result is smaller than the picture */
} GfBorder;

/* The index in [0, n) that stands at position i of a row or column of n >= 1 pixels, or -1 where
 * the border's constant stands. Right for every i: a kernel may be wider than the picture. */
static inline GF_HOST_DEVICE long long gf_border_index(long long i, long long n, GfBorder border)
{
    if (i >= 0 && i < n)
        return i;
    long long period;
    switch (border) {
    case GF_BORDER_REPLICATE:
        return i < 0 ? 0 : n - 1;
    case GF_BORDER_WRAP:
        i %= n;
        return i < 0 ? i + n : i;
    case GF_BORDER_REFLECT:
        period = 2 * n;
        i %= period;
        if (i < 0)
            i += period;
        return i < n ? i : period - 1 - i;
    case GF_BORDER_REFLECT101:
        if (n == 1)
            return 0;
        period = 2 * n - 2;
        i %= period;
        if (i < 0)
            i += period;
        return i < n ? i : period - i;
    case GF_BORDER_CONSTANT:
    case GF_BORDER_VALID:
        break;
    }
    return -1;
}

/* Does what is read beside a line of n samples, from `first` to before `end` samples further on,
 * lie no further from it than it is long? */
static inline bool gf_reaches(size_t n, ptrdiff_t first, size_t end, GfBorder border)
{
    const ptrdiff_t length = (ptrdiff_t)n;
    return border == GF_BORDER_CONSTANT || border == GF_BORDER_VALID ||
           border == GF_BORDER_REPLICATE ||
           (-first < length && first + (ptrdiff_t)end < 2 * length);
}
