/* How far two pictures differ. Pure: no files, no messages. */
#pragma once

#include "images/image.h"

typedef struct GfFigures {
    size_t samples, beyond; /* all of them; those that differ by more than the tolerance */
    double tolerance;
    double largest, mean; /* absolute differences, in units of a sample */
    size_t x, y, channel; /* of the first sample with the largest */
    double psnr;          /* decibels; infinite for equal pictures */
    double ssim;          /* 1 for equal pictures; NaN where a sample or its square is not finite */
} GfFigures;

/* Whether two formats can be compared: same size, channels and sample type. GF_EUSAGE with what
 * differs. */
GfStatus gf_compare_formats(const GfFormat *a, const GfFormat *b);

/* Compares two pictures of equal formats. The peak of PSNR and SSIM is the sample type's largest
 * value; for floats the range that the two pictures span together.
 *
 * SSIM is the mean structural similarity of Wang, Bovik, Sheikh and Simoncelli, "Image quality
 * assessment", IEEE Trans. Image Processing 13(4), 2004: a gaussian window of 11 x 11 taps with
 * sigma 1.5 at every position inside the picture, K1 = 0.01, K2 = 0.03, the mean over channels.
 * Pictures with a side below 11 are one window of equal weights.
 *
 * Two NaN in one place are equal, one is an infinite difference. GF_EMEMORY. */
GfStatus gf_compare_images(const GfImage *a, const GfImage *b, double tolerance,
                           GfFigures *figures);

/* a - b; 0 for equal ones, two NaN among them; infinite, of either sign, for one NaN. */
double gf_sample_difference(double a, double b);

/* Largest finite absolute value of a picture. */
double gf_image_magnitude(const GfImage *image);

/* An 8-bit picture of |a - b| times 255 / largest: gray or RGB as a is; with opacity, whose
 * differences could not be seen, each sample is the larger of its own and opacity's difference; any
 * other number of channels gives gray, their largest. The caller frees *difference. */
GfStatus gf_compare_picture(const GfImage *a, const GfImage *b, double largest,
                            GfImage *difference);
