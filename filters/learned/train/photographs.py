"""Photographs: read, shrunk until they are clean, cut into patches; and what is done to spoil them.

Needs: torch, numpy, Pillow.
"""
import pathlib

import numpy
import torch
from PIL import Image
from torch.nn import functional

KINDS = {".jpg", ".jpeg", ".png", ".webp"}
LUMA = numpy.array([0.299, 0.587, 0.114], numpy.float32)


def files(places):
    for place in map(pathlib.Path, places):
        yield from sorted(p for p in ([place] if place.is_file() else place.rglob("*")) if p.suffix.lower() in KINDS)


def read(path, channels):
    """H x W x channels, 8 bits."""
    return numpy.atleast_3d(numpy.asarray(Image.open(path).convert("RGB" if channels == 3 else "L")))


def scales(path, channels, smallest=400):
    """A photograph averaged over 2x2, 3x3 and 4x4 pixels, which removes most of the camera's noise and of
    JPEG's traces; one that is too small for that as it is."""
    picture = Image.open(path).convert("RGB" if channels == 3 else "L")
    factors = [f for f in (2, 3, 4) if min(picture.size) // f >= smallest] or [1]
    return [numpy.atleast_3d(numpy.asarray(picture.reduce(f) if f > 1 else picture)) for f in factors]


class Patches:
    """Random patches: a photograph by the root of its area, a place in it (flat places are drawn again once),
    turned and mirrored."""

    def __init__(self, places, channels, generator):
        self.generator = generator
        self.names, self.pictures = [], []
        for path in files(places):
            self.names.append(path.name)
            self.pictures += scales(path, channels)
        if not self.pictures:
            raise SystemExit("no photographs found")
        weights = numpy.array([p.size for p in self.pictures]) ** 0.5
        self.chances = weights / weights.sum()

    def megapixels(self):
        return sum(p.shape[0] * p.shape[1] for p in self.pictures) / 1e6

    def one(self, size):
        draw = self.generator
        picture = self.pictures[draw.choice(len(self.pictures), p=self.chances)]
        for _ in range(2):
            y, x = (draw.integers(0, n - size + 1) for n in picture.shape[:2])
            patch = picture[y:y + size, x:x + size]
            if patch.std() > 12:
                break
        patch = numpy.rot90(patch, draw.integers(4))
        return patch[:, ::-1] if draw.integers(2) else patch

    def batch(self, count, size):
        """count x channels x size x size, black 0 and white 1."""
        stack = numpy.stack([self.one(size) for _ in range(count)])
        return torch.from_numpy(stack).permute(0, 3, 1, 2).float().div_(255)


def to_8_bits(x):
    return x.mul(255).round().clamp(0, 255).div(255)


def noisy(clean, sigma, generator=None):
    """Gaussian noise, then rounded and clipped as a file is. sigma: N numbers, in steps of 8 bits."""
    noise = torch.randn(clean.shape, generator=generator, dtype=clean.dtype)
    return to_8_bits(clean + noise * (sigma / 255).reshape(-1, 1, 1, 1))


def blurred(clean, sigma, radius=8):
    """Gaussian blur, its borders cut off. sigma: N numbers, in pixels."""
    offsets = torch.arange(-radius, radius + 1, dtype=clean.dtype)
    taps = torch.exp(-0.5 * (offsets / sigma.reshape(-1, 1)) ** 2)
    taps = (taps / taps.sum(1, keepdim=True)).repeat_interleave(clean.shape[1], 0)
    groups = len(taps)
    x = clean.reshape(1, groups, *clean.shape[-2:])
    x = functional.conv2d(x, taps[:, None, :, None], groups=groups)
    x = functional.conv2d(x, taps[:, None, None, :], groups=groups)
    return x.reshape(*clean.shape[:2], *x.shape[-2:])
