/* How often two pictures differ by how much. Pure: no files, no messages. */
#pragma once

#include "images/image.h"

enum { GF_HISTOGRAM_HALF = 20, GF_HISTOGRAM_BARS = 2 * GF_HISTOGRAM_HALF + 1 };

typedef struct GfHistogram {
    size_t half;  /* bars on either side of the one in the middle, which is of no difference */
    double width; /* of a bar: the distance of neighbours' middles */
    double reach; /* from a bar's middle to the farthest difference that it counts */
    size_t counts[GF_HISTOGRAM_BARS]; /* the first 2 * half + 1: samples */
    size_t infinite;                  /* samples whose difference is no finite number */
} GfHistogram;

/* Counts a - b of all samples of two pictures of equal formats, in bars as wide as the largest
 * finite difference asks for. Of integers every bar stands for the same number of differences, an
 * odd one, so that the bar in the middle is even about zero. */
void gf_histogram_count(const GfImage *a, const GfImage *b, GfHistogram *histogram);

/* The difference in the middle of bar `bar`. */
double gf_histogram_middle(const GfHistogram *histogram, size_t bar);

/* The least absolute difference that the bar counts. */
double gf_histogram_least(const GfHistogram *histogram, size_t bar);
