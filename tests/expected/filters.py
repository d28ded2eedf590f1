#!/usr/bin/env python3
"""Writes filters.h: what each filter of the catalogue gives on a small picture, by SciPy and OpenCV.

    pip install numpy scipy opencv-python-headless
    python3 tests/expected/filters.py > tests/expected/filters.h

The picture is 9 x 7, sample (x, y) = (37 x + 91 y + 13 x y + 5 x x) mod 256; borders are replicated (SciPy:
nearest). Only the filter's text below is the project's; the values come from the named libraries, or from the
formula written out with ndimage.correlate where they have no such filter.
"""
import cv2
import numpy as np
import scipy
from scipy import ndimage as nd

y, x = np.mgrid[0:7, 0:9]
picture = ((37 * x + 91 * y + 13 * x * y + 5 * x * x) % 256).astype(np.float64)
mode = dict(mode="nearest")
border = dict(borderType=cv2.BORDER_REPLICATE)


def correlate(taps, scale=1.0):
    return nd.correlate(picture, np.array(taps, np.float64), **mode) * scale


def magnitude(gx, gy):
    return np.hypot(gx, gy)


def log_kernel(sigma, size):
    r = (size - 1) // 2
    v, u = np.mgrid[-r : r + 1, -r : r + 1]
    q = (u * u + v * v) / sigma**2
    taps = (2 - q) * np.exp(-q / 2) / 2
    return taps - taps.mean()


def unsharp(sigma, amount, threshold):
    difference = picture - nd.gaussian_filter(picture, sigma, **mode)
    return picture + np.where(abs(difference) >= threshold, amount * difference, 0)


def cv_sobel(dx, dy, size):
    return cv2.Sobel(picture, cv2.CV_64F, dx, dy, ksize=size, **border)


cases = {
    "identity": picture,
    "box": nd.uniform_filter(picture, 3, **mode),
    "box:width=5:height=2": correlate(np.ones((2, 5)), 1 / 10),
    "gaussian": nd.gaussian_filter(picture, 1.0, **mode),
    "gaussian:sigma=2.3": nd.gaussian_filter(picture, 2.3, **mode),
    "gaussian:sigma_x=0.6:sigma_y=1.7": nd.gaussian_filter(picture, (1.7, 0.6), **mode),
    "gaussian:sigma=1.1:size=5": cv2.sepFilter2D(
        picture, cv2.CV_64F, cv2.getGaussianKernel(5, 1.1), cv2.getGaussianKernel(5, 1.1), **border
    ),
    "binomial": correlate(np.outer([1, 2, 1], [1, 2, 1]), 1 / 16),
    "binomial:size=7": correlate(np.outer([1, 6, 15, 20, 15, 6, 1], [1, 6, 15, 20, 15, 6, 1]), 1 / 4096),
    "sharpen": correlate([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]),
    "sharpen:amount=0.25": picture - 0.25 * nd.laplace(picture, **mode),
    "unsharp": unsharp(1.0, 1.0, 0),
    "unsharp:sigma=1.5:amount=0.8:threshold=20": unsharp(1.5, 0.8, 20),
    "emboss": correlate([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]),
    "sobel": magnitude(nd.sobel(picture, 1, **mode), nd.sobel(picture, 0, **mode)),
    "sobel:l1": abs(nd.sobel(picture, 1, **mode)) + abs(nd.sobel(picture, 0, **mode)),
    "sobel:x": nd.sobel(picture, 1, **mode),
    "sobel:direction=y:scale=0.25": nd.sobel(picture, 0, **mode) / 4,
    "sobel:size=5": magnitude(cv_sobel(1, 0, 5), cv_sobel(0, 1, 5)),
    "sobel:x:size=7": cv_sobel(1, 0, 7),
    "prewitt": magnitude(nd.prewitt(picture, 1, **mode), nd.prewitt(picture, 0, **mode)),
    "prewitt:y": nd.prewitt(picture, 0, **mode),
    "scharr:x": cv2.Scharr(picture, cv2.CV_64F, 1, 0, **border),
    "scharr": magnitude(cv2.Scharr(picture, cv2.CV_64F, 1, 0, **border), cv2.Scharr(picture, cv2.CV_64F, 0, 1, **border)),
    "laplacian": nd.laplace(picture, **mode),
    "laplacian:8": correlate([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]),
    "laplacian:diagonal": cv2.Laplacian(picture, cv2.CV_64F, ksize=3, **border),
    "laplacian:cross": correlate([[-2, 1, -2], [1, 4, 1], [-2, 1, -2]]),
    "laplacian:check:scale=2": correlate([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], 2),
    "log": correlate(log_kernel(1.4, 13)),
    "log:sigma=0.7:size=5:scale=-1": correlate(log_kernel(0.7, 5), -1),
    "3x2/4+10: 1 2 3 -4 5 -6": correlate([[1, 2, 3], [-4, 5, -6]], 1 / 4) + 10,
    "gaussian:sigma=1,sobel": magnitude(
        nd.sobel(nd.gaussian_filter(picture, 1.0, **mode), 1, **mode),
        nd.sobel(nd.gaussian_filter(picture, 1.0, **mode), 0, **mode),
    ),
}

print(f"/* Made by filters.py with NumPy {np.__version__}, SciPy {scipy.__version__}, OpenCV {cv2.__version__}. */")
print("#pragma once\n\nenum { EXPECTED_WIDTH = 9, EXPECTED_HEIGHT = 7 };\n")
print("typedef struct Expected {\n    const char *text;\n    double values[EXPECTED_WIDTH * EXPECTED_HEIGHT];\n} Expected;\n")
print("/* clang-format off */\nstatic const Expected expected_filters[] = {")
for text, values in cases.items():
    print(f'    {{"{text}",\n     {{')
    for row in values:
        print("      " + " ".join(f"{v + 0.0:.10g}," for v in row))
    print("     }},")
print("};\n/* clang-format on */")
