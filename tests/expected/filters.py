#!/usr/bin/env python3
"""Writes filters.h: what each filter of the catalogue gives on a small picture, by SciPy and OpenCV.

    pip install numpy scipy opencv-python-headless scikit-image
    python3 tests/expected/filters.py > tests/expected/filters.h

The picture is 9 x 7, sample (x, y) = (37 x + 91 y + 13 x y + 5 x x) mod 256; borders are replicated (SciPy:
nearest). Only the filter's text below is the project's; the values come from the named libraries, or from the
formula written out with ndimage.correlate where they have no such filter. Layers and pools are written out over
NumPy's view of all windows. Arrays that texts name as files stand in the header too: the test writes them.
"""
import cv2
import numpy as np
import scipy
import skimage
from scipy import ndimage as nd
from scipy.special import expit
from skimage.filters import edges, gabor_kernel

y, x = np.mgrid[0:7, 0:9]
picture = ((37 * x + 91 * y + 13 * x * y + 5 * x * x) % 256).astype(np.float64)
mode = dict(mode="nearest")
first = dict(order=0, **mode)
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


def numbers(*shape):
    i = np.arange(np.prod(shape))
    return ((7 * i * i + 3 * i + 2) % 11 - 5.0).reshape(shape) / 4


files = {
    "kernel.npy": numbers(2, 3),
    "one.npy": numbers(1),
    "two.npy": numbers(2),
    "maps.npy": numbers(2, 3, 2),
    "layer.npy": numbers(2, 1, 3, 2),
    "depthwise.npy": numbers(4, 1, 2, 2),
    "mix.npy": numbers(3, 2, 2, 1),
}


def same(length, size, stride, lower):
    missing = max((-(-length // stride) - 1) * stride + size - length, 0)
    return ((missing + lower) // 2, missing - (missing + lower) // 2)


def windows(x, size, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), **mode):
    """channels x rows x columns x height x width"""
    padded = np.pad(x, ((0, 0), (pad[0], pad[2]), (pad[1], pad[3])), **mode)
    reach = [(n - 1) * d + 1 for n, d in zip(size, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(1, 2))
    return view[:, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def conv(x, name, groups=1, bias=None, **how):
    x = x if x.ndim == 3 else x[None]
    taps = files[name]
    if taps.ndim == 2:  # the same for every channel
        return np.einsum("cyxhw,hw->cyx", windows(x, taps.shape, **how), taps) + (0 if bias is None else bias)
    taps = taps if taps.ndim == 4 else taps[:, None]
    parts = zip(np.split(windows(x, taps.shape[2:], **how), groups), np.split(taps, groups))
    out = np.concatenate([np.einsum("cyxhw,fchw->fyx", part, kernels) for part, kernels in parts])
    return out if bias is None else out + bias[:, None, None]


def pool(reduce, x, size, **how):
    x = x if x.ndim == 3 else x[None]
    stride = how.pop("stride", size)
    return reduce(windows(x, size, stride=stride, constant_values=np.nan, **how), axis=(3, 4))


def l2(x, axis):
    return np.sqrt(np.nansum(x * x, axis=axis))


def count_padding(x, axis):
    return np.mean(np.nan_to_num(x), axis=axis)


def disk(radius):
    """Areas of pixels inside a circle, by very thin columns: exact along each, 1e-9 in all."""
    r, thin = int(np.ceil(radius - 0.5)), 1 << 16
    u = np.arange(-r, r + 1)[:, None] + (np.arange(thin) + 0.5) / thin - 0.5
    height = np.sqrt(np.maximum(radius**2 - u * u, 0))
    v = np.arange(-r, r + 1)[:, None, None] - 0.5
    taps = np.maximum(np.minimum(height, v + 1) - np.maximum(-height, v), 0).mean(axis=2)
    assert np.isclose(taps.sum(), np.pi * radius**2, rtol=1e-6), radius
    return taps / taps.sum()


def motion(length, angle):
    """The distance from a segment, by the nearest of many points on it."""
    c, s, half = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle)), (length - 1) / 2
    r = int(np.ceil(half)) + 1
    v, u = np.mgrid[-r : r + 1, -r : r + 1]
    nearest = np.clip(u * c + v * s, -half, half)
    taps = np.maximum(1 - np.hypot(u - nearest * c, v - nearest * s), 0)
    return taps / taps.sum()


def highboost(boost, size):
    return boost * picture - nd.uniform_filter(picture, size, **mode)


def farid(prefilter, derivative, axis):
    return nd.convolve1d(nd.convolve1d(picture, prefilter, 1 - axis, **mode), derivative, axis, **mode)


# http://www.cs.dartmouth.edu/~farid/research/derivative.html
farid3 = [0.229879, 0.540242, 0.229879], [0.425287, 0, -0.425287]
farid7 = (
    [0.004711, 0.069321, 0.245410, 0.361117, 0.245410, 0.069321, 0.004711],
    [0.018708, 0.125376, 0.193091, 0, -0.193091, -0.125376, -0.018708],
)


def skimage_edges(weights):
    return nd.convolve(picture, weights, **mode)


def strongest(*masks):
    """Of the masks and their quarter turns; the second mask of a pair is the first turned by 45 degrees."""
    return np.max([correlate(np.rot90(mask, k)) for mask in map(np.array, masks) for k in range(4)], axis=0)


def gabor(wavelength, angle, sigma=None, aspect=0.5, phase=0):
    s = sigma or wavelength / np.pi * np.sqrt(np.log(2) / 2) * 3
    wave = gabor_kernel(1 / wavelength, np.deg2rad(angle), 1, s, s / aspect, offset=np.deg2rad(phase))
    envelope = abs(wave)
    taps = wave.real - envelope * wave.real.sum() / envelope.sum()
    return correlate(taps / taps[taps > 0].sum())


def dog(sigma1, sigma2):
    return nd.gaussian_filter(picture, sigma1, **mode) - nd.gaussian_filter(picture, sigma2, **mode)


def surround(radius):
    return (2 * radius + 1) ** 2 * (picture - nd.uniform_filter(picture, 2 * radius + 1, **mode))


freichen = [[-1, 0, 1], [-(2**0.5), 0, 2**0.5], [-1, 0, 1]]
prewitt = [[1, 1, 1], [1, -2, 1], [-1, -1, -1]], [[1, 1, 1], [1, -2, -1], [1, -1, -1]]
kirsch = [[5, 5, 5], [-3, 0, -3], [-3, -3, -3]], [[5, 5, -3], [5, 0, -3], [-3, -3, -3]]
robinson = [[1, 2, 1], [0, 0, 0], [-1, -2, -1]], [[2, 1, 0], [1, 0, -1], [0, -1, -2]]

maps = conv(picture, "layer.npy", stride=(2, 1))

cases = {
    "identity": picture,
    "shift": picture,
    "shift:x=2:y=-1": nd.shift(picture, (-1, 2), **first),
    "shift:x=-1.3:y=0.6": nd.shift(picture, (0.6, -1.3), order=1, **mode),
    "shift:x=11.25:y=-20": nd.shift(picture, (-20, 11.25), order=1, **mode),
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
    "disk": correlate(disk(2)),
    "disk:radius=0.1": picture,
    "disk:radius=0.6": correlate(disk(0.6)),
    "disk:radius=3.7": correlate(disk(3.7)),
    "disk:radius=12.5": correlate(disk(12.5)),
    "motion": correlate(np.ones((1, 9)) / 9),
    "motion:length=5:angle=90": correlate(np.ones((5, 1)) / 5),
    "motion:length=2": correlate([[0.25, 0.5, 0.25]]),
    "motion:length=1:angle=33": picture,
    "motion:length=6.5:angle=30": correlate(motion(6.5, 30)),
    "motion:length=15:angle=-135": correlate(motion(15, 45)),
    "sharpen": correlate([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]),
    "sharpen:amount=0.25": picture - 0.25 * nd.laplace(picture, **mode),
    "unsharp": unsharp(1.0, 1.0, 0),
    "unsharp:sigma=1.5:amount=0.8:threshold=20": unsharp(1.5, 0.8, 20),
    "highboost": highboost(2, 3),
    "highboost:boost=1.2:size=7": highboost(1.2, 7),
    "highboost:boost=0": -nd.uniform_filter(picture, 3, **mode),
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
    "freichen": magnitude(correlate(freichen), correlate(np.transpose(freichen))),
    "freichen:x:scale=-0.5": correlate(freichen, -0.5),
    "farid": magnitude(skimage_edges(edges.HFARID_WEIGHTS), skimage_edges(edges.VFARID_WEIGHTS)),
    "farid:x": skimage_edges(edges.VFARID_WEIGHTS),
    "farid:y:size=3": farid(*farid3, 0),
    "farid:l1:size=7": abs(farid(*farid7, 0)) + abs(farid(*farid7, 1)),
    "roberts": magnitude(skimage_edges(edges.ROBERTS_PD_WEIGHTS), skimage_edges(edges.ROBERTS_ND_WEIGHTS)),
    "roberts:x": skimage_edges(edges.ROBERTS_PD_WEIGHTS),
    "roberts:y:scale=3": 3 * (nd.shift(picture, (-1, 0), **first) - nd.shift(picture, (0, -1), **first)),
    "kirsch": strongest(*kirsch),
    "robinson": strongest(*robinson),
    "robinson:scale=-0.25": strongest(*robinson) / 4,  # each mask's opposite is among the eight
    "compass": strongest(*prewitt),
    "compass:kirsch:scale=0.1": strongest(*kirsch) / 10,
    "compass:kind=robinson": strongest(*robinson),
    "compass:sobel": strongest(*robinson),
    "gabor": gabor(8, 0),
    "gabor:wavelength=5.5:angle=-37:sigma=2.2:aspect=0.8:phase=70": gabor(5.5, -37, 2.2, 0.8, 70),
    "gabor:wavelength=2:angle=90:sigma=0.3:phase=90": np.zeros_like(picture),
    "laplacian": nd.laplace(picture, **mode),
    "laplacian:8": correlate([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]),
    "laplacian:diagonal": cv2.Laplacian(picture, cv2.CV_64F, ksize=3, **border),
    "laplacian:cross": correlate([[-2, 1, -2], [1, 4, 1], [-2, 1, -2]]),
    "laplacian:check:scale=2": correlate([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], 2),
    "laplacian:diagonal5": cv2.Laplacian(picture, cv2.CV_64F, ksize=5, **border),
    "laplacian:diagonal7:scale=0.01": cv2.Laplacian(picture, cv2.CV_64F, ksize=7, **border) / 100,
    "laplacian:hat": correlate(
        [[0, 0, -1, 0, 0], [0, -1, -2, -1, 0], [-1, -2, 16, -2, -1], [0, -1, -2, -1, 0], [0, 0, -1, 0, 0]]
    ),
    "log": correlate(log_kernel(1.4, 13)),
    "log:sigma=0.7:size=5:scale=-1": correlate(log_kernel(0.7, 5), -1),
    "dog": dog(1, 1.6),
    "dog:sigma1=3.1:sigma2=0.4:scale=-2": -2 * dog(3.1, 0.4),
    "edge": surround(1),
    "edge:radius=4:scale=0.125": surround(4) / 8,
    "3x2/4+10: 1 2 3 -4 5 -6": correlate([[1, 2, 3], [-4, 5, -6]], 1 / 4) + 10,
    "gaussian:sigma=1,sobel": magnitude(
        nd.sobel(nd.gaussian_filter(picture, 1.0, **mode), 1, **mode),
        nd.sobel(nd.gaussian_filter(picture, 1.0, **mode), 0, **mode),
    ),
    "conv:weights=kernel.npy": conv(picture, "kernel.npy"),
    "conv:weights=kernel.npy:bias=one.npy:padding=same:border=reflect101": conv(
        picture, "kernel.npy", bias=files["one.npy"], pad=(0, 1, 1, 1), mode="reflect"
    ),
    "conv:weights=layer.npy:bias=two.npy:stride=2:padding=1:border=replicate": conv(
        picture, "layer.npy", bias=files["two.npy"], stride=(2, 2), pad=(1, 1, 1, 1), mode="edge"
    ),
    "conv:weights=layer.npy:padding=0x1x2x3:dilation=2x1:stride=3x2:border=wrap": conv(
        picture, "layer.npy", pad=(0, 1, 2, 3), dilation=(2, 1), stride=(3, 2), mode="wrap"
    ),
    "conv:weights=maps.npy:same_lower:stride=2:border=reflect": conv(
        picture,
        "maps.npy",
        pad=(*(p[0] for p in (same(7, 3, 2, 1), same(9, 2, 2, 1))), *(p[1] for p in (same(7, 3, 2, 1), same(9, 2, 2, 1)))),
        stride=(2, 2),
        mode="symmetric",
    ),
    "conv:weights=maps.npy:same:stride=2x3": conv(
        picture,
        "maps.npy",
        pad=(*(p[0] for p in (same(7, 3, 2, 0), same(9, 2, 3, 0))), *(p[1] for p in (same(7, 3, 2, 0), same(9, 2, 3, 0)))),
        stride=(2, 3),
    ),
    "conv:weights=layer.npy:stride=2x1,relu,conv:weights=depthwise.npy:groups=2:stride=1x2": conv(
        np.maximum(maps, 0), "depthwise.npy", groups=2, stride=(1, 2)
    ),
    "conv:weights=layer.npy:stride=2x1,conv:weights=mix.npy:stride=1x2,avgpool:size=1x2": pool(
        np.nanmean, conv(maps, "mix.npy", stride=(1, 2)), (1, 2)
    ),
    "maxpool": pool(np.nanmax, picture, (2, 2)),
    "maxpool:size=3x2:stride=2:padding=1x0": pool(np.nanmax, picture, (3, 2), stride=(2, 2), pad=(1, 0, 1, 0)),
    "maxpool:size=4:ceil=yes": pool(np.nanmax, picture, (4, 4), pad=(0, 0, 1, 3)),
    "maxpool:size=2:dilation=3:stride=1x2": pool(np.nanmax, picture, (2, 2), dilation=(3, 3), stride=(1, 2)),
    "avgpool:size=3:stride=2:padding=1:bias=one.npy": pool(
        np.nanmean, picture, (3, 3), stride=(2, 2), pad=(1, 1, 1, 1)
    )
    + files["one.npy"],
    "avgpool:size=3:stride=2:padding=1:count=padding": pool(
        count_padding, picture, (3, 3), stride=(2, 2), pad=(1, 1, 1, 1)
    ),
    "l2pool:size=2x3:dilation=2x1:stride=1x2": pool(l2, picture, (2, 3), dilation=(2, 1), stride=(1, 2)),
    "l2pool:padding=1:ceil=yes": pool(l2, picture, (2, 2), pad=(1, 1, 1, 1)),  # no window begins beyond the picture
    "wpool:weights=kernel.npy": conv(picture, "kernel.npy", stride=(2, 3)),
    "wpool:weights=kernel.npy:stride=2:padding=1:border=replicate": conv(
        picture, "kernel.npy", stride=(2, 2), pad=(1, 1, 1, 1), mode="edge"
    ),
    "relu,laplacian,relu": np.maximum(nd.laplace(picture, **mode), 0),
    "scale:factor=0.02:offset=-2,sigmoid": expit(0.02 * picture - 2),
    "scale:factor=0.02,sigmoid:bias=-1.5": expit(0.02 * picture - 1.5),
    "scale:factor=-0.01:offset=1,tanh": np.tanh(1 - 0.01 * picture),
    "laplacian,abs": abs(nd.laplace(picture, **mode)),
    "clamp:low=60.5:high=200": np.clip(picture, 60.5, 200),
    "laplacian,clamp:low=0:high=255": np.clip(nd.laplace(picture, **mode), 0, 255),
    "clamp:high=60": np.minimum(picture, 60),
    "clamp:low=60": np.maximum(picture, 60),
}



def planes(values):
    return values if values.ndim == 3 else values[None]


most = max(planes(values).size for values in cases.values())
print(f"/* Made by filters.py with NumPy {np.__version__}, SciPy {scipy.__version__}, OpenCV {cv2.__version__}, scikit-image {skimage.__version__}. */")
print("#pragma once\n\n#include <stddef.h>\n")
print(f"enum {{ EXPECTED_WIDTH = 9, EXPECTED_HEIGHT = 7, EXPECTED_MOST = {most} }};\n")
print("/* An array that texts name. */\ntypedef struct ExpectedFile {\n    const char *name, *shape;")
print("    size_t count;\n    double numbers[32];\n} ExpectedFile;\n")
print("/* Samples of a row side by side, channels of a pixel too. */\ntypedef struct Expected {\n    const char *text;")
print("    size_t width, height, channels;\n    double values[EXPECTED_MOST];\n} Expected;\n")
print("/* clang-format off */\nstatic const ExpectedFile expected_files[] = {")
for name, array in files.items():
    print(f'    {{"{name}", "{array.shape}", {array.size},')
    print("     {" + ", ".join(f"{v:.10g}" for v in array.ravel()) + "}},")
print("};\n\nstatic const Expected expected_filters[] = {")
for text, values in cases.items():
    channels, height, width = planes(values).shape
    print(f'    {{"{text}", {width}, {height}, {channels},\n     {{')
    for row in np.moveaxis(planes(values), 0, -1):
        print("      " + " ".join(f"{v + 0.0:.10g}," for v in row.ravel()))
    print("     }},")
print("};\n/* clang-format on */")
