#!/usr/bin/env python3
"""Writes banks.h: what the members of each bank, and their combinations, give on a small picture.

    pip install numpy scipy scikit-image
    python3 tests/expected/banks.py > tests/expected/banks.h

The picture is that of filters.py; borders are replicated (SciPy: nearest). Gabor's waves are scikit-image's, the
pyramid's gaussians SciPy's; the taps of derivatives are found as the gaussian times the polynomial that meets
their conditions on moments; masks are written out, or outer products of the vectors of the literature.
"""
from math import factorial

import numpy as np
import scipy
import skimage
from scipy import ndimage as nd
from skimage.filters import gabor_kernel

y, x = np.mgrid[0:7, 0:9]
picture = ((37 * x + 91 * y + 13 * x * y + 5 * x * x) % 256).astype(np.float64)


def correlate(taps, scale=1.0):
    return nd.correlate(picture, np.array(taps, np.float64), mode="nearest") * scale


def gabor(orientations=8, wavelengths=(4, 8), sigma=None, aspect=0.5, phase=0):
    members = {}
    for wavelength in wavelengths:
        for i in range(orientations):
            angle = 180 * i / orientations
            how = dict(frequency=1 / wavelength, theta=np.deg2rad(angle), bandwidth=1)
            s = sigma or wavelength / np.pi * np.sqrt(np.log(2) / 2) * 3
            how |= dict(sigma_x=s, sigma_y=s / aspect)
            wave = gabor_kernel(offset=np.deg2rad(phase), **how)
            envelope = abs(wave)
            taps = wave.real - envelope * wave.real.sum() / envelope.sum()
            members[f"gabor-{wavelength:g}-{angle:03.0f}"] = correlate(taps / taps[taps > 0].sum())
    return members


def derivative(sigma, order):
    r = max(int(4 * sigma + 0.5), 2 if order > 2 else 1)
    u = np.arange(-r, r + 1.0)
    weight = np.exp(-u * u / (2 * sigma * sigma))
    weight /= weight.sum()
    moments = np.array([[(weight * u ** (j + k)).sum() for j in range(order + 1)] for k in range(order + 1)])
    wanted = np.zeros(order + 1)
    wanted[order] = factorial(order)
    taps = weight * np.polyval(np.linalg.solve(moments, wanted)[::-1], u)
    if sigma >= 1:  # nearly the sampled derivative of the gaussian
        impulse = np.zeros(2 * r + 1)
        impulse[r] = 1
        sampled = nd.gaussian_filter1d(impulse, sigma, order=order, truncate=r / sigma)[::-1]
        assert np.abs(taps - sampled).max() < 0.08 * np.abs(taps).max(), (sigma, order)
    return taps * sigma**order


def derivatives(order=2, sigmas=(1, 2)):
    members = {}
    for sigma in sigmas:
        for total in range(1, order + 1):
            for dy in range(total + 1):
                dx = total - dy
                rows = nd.correlate1d(picture, derivative(sigma, dx), axis=1, mode="nearest")
                both = nd.correlate1d(rows, derivative(sigma, dy), axis=0, mode="nearest")
                members[f"derivatives-{sigma:g}-{'x' * dx}{'y' * dy}"] = both
    return members


def robinson():
    masks = {
        "n": [[1, 2, 1], [0, 0, 0], [-1, -2, -1]],
        "nw": [[2, 1, 0], [1, 0, -1], [0, -1, -2]],
        "w": [[1, 0, -1], [2, 0, -2], [1, 0, -1]],
        "sw": [[0, -1, -2], [1, 0, -1], [2, 1, 0]],
        "s": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
        "se": [[-2, -1, 0], [-1, 0, 1], [0, 1, 2]],
        "e": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
        "ne": [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]],
    }
    return {f"robinson-{name}": correlate(mask) for name, mask in masks.items()}


def kirsch(scale=1.0):
    masks = {
        "n": [[5, 5, 5], [-3, 0, -3], [-3, -3, -3]],
        "nw": [[5, 5, -3], [5, 0, -3], [-3, -3, -3]],
        "w": [[5, -3, -3], [5, 0, -3], [5, -3, -3]],
        "sw": [[-3, -3, -3], [5, 0, -3], [5, 5, -3]],
        "s": [[-3, -3, -3], [-3, 0, -3], [5, 5, 5]],
        "se": [[-3, -3, -3], [-3, 0, 5], [-3, 5, 5]],
        "e": [[-3, -3, 5], [-3, 0, 5], [-3, -3, 5]],
        "ne": [[-3, 5, 5], [-3, 0, 5], [-3, -3, -3]],
    }
    return {f"kirsch-{name}": correlate(mask, scale) for name, mask in masks.items()}


def laplacian(levels=4, sigma=1.0):
    blurred = [picture] + [nd.gaussian_filter(picture, sigma * 2**i, mode="nearest") for i in range(levels)]
    members = {f"laplacian-{i + 1}": blurred[i] - blurred[i + 1] for i in range(levels)}
    assert np.allclose(sum(members.values()) + blurred[-1], picture)
    return members | {"laplacian-low": blurred[-1]}


def laws(size=5, scale=1.0):
    vectors = {
        3: dict(l3=[1, 2, 1], e3=[-1, 0, 1], s3=[-1, 2, -1]),
        5: dict(l5=[1, 4, 6, 4, 1], e5=[-1, -2, 0, 2, 1], s5=[-1, 0, 2, 0, -1], w5=[-1, 2, 0, -2, 1], r5=[1, -4, 6, -4, 1]),
    }[size]
    return {f"laws-{a}{b}": correlate(np.outer(vectors[a], vectors[b]), scale) for a in vectors for b in vectors}


banks = {
    "gabor": gabor(),
    "gabor:orientations=3:wavelengths=4.5:sigma=1.2:aspect=1:phase=90": gabor(3, [4.5], 1.2, 1, 90),
    "derivatives": derivatives(),
    "derivatives:order=3:sigmas=0.4,1.5": derivatives(3, [0.4, 1.5]),
    "robinson": robinson(),
    "kirsch:scale=0.5": kirsch(0.5),
    "laplacian": laplacian(),
    "laplacian:levels=2:sigma=0.7": laplacian(2, 0.7),
    "laws": laws(),
    "laws:size=3:scale=-2": laws(3, -2),
}
combined = {
    ("gabor", "l1"): lambda r: abs(r).sum(0),
    ("derivatives:order=1:sigmas=2", "l2"): lambda r: np.sqrt((r * r).sum(0)),
    ("robinson", "max"): lambda r: r.max(0),
    ("kirsch:scale=0.5", "min"): lambda r: r.min(0),
    ("laplacian", "sum"): lambda r: r.sum(0),
    ("laws:size=3:scale=-2", "l2"): lambda r: np.sqrt((r * r).sum(0)),
}
banks["derivatives:order=1:sigmas=2"] = derivatives(1, [2])


def block(values):
    for row in values:
        print("      " + " ".join(f"{v + 0.0:.10g}," for v in row))
    print("     }},")


print(f"/* Made by banks.py with NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-image {skimage.__version__}. */")
print("#pragma once\n\nenum { EXPECTED_WIDTH = 9, EXPECTED_HEIGHT = 7, EXPECTED_SAMPLES = 63 };\n")
print("/* What one member gives, or (op not NULL) all of them combined; members of a bank follow one another. */")
print("typedef struct ExpectedMember {\n    const char *bank, *name, *op;\n    double values[EXPECTED_SAMPLES];\n} ExpectedMember;\n")
print("/* clang-format off */\nstatic const ExpectedMember expected_members[] = {")
for text, members in banks.items():
    for name, values in members.items():
        print(f'    {{"{text}", "{name}", NULL,\n     {{')
        block(values)
for (text, op), reduce in combined.items():
    print(f'    {{"{text}", "{text.split(":")[0]}", "{op}",\n     {{')
    block(reduce(np.array(list(banks[text].values()))))
print("};\n/* clang-format on */")
