#!/usr/bin/env python3
"""Holds gpufilter to what other programs make of the same kernel, border and picture.

    pip install numpy scipy opencv-python-headless scikit-image; apt install libvips-tools imagemagick
    tests/interop.py [--write] [--docs docs/interop.md] GPUFILTER [OPTION...]

Every row of the table below is one call of a peer and one of gpufilter, made on gray and RGB pictures of 8 and 16 bits
of odd sizes, and a claim about the two results. The table goes to standard output; docs/interop.md has the same, which
--write brings up to date. Exit status: 0 all rows hold and the document has them, 1 some do not, 77 no peer is there.
Rows of peers that are not there are left out.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile

del sys.path[0]  # the folder of this file, which has a package's name
try:
    import numpy as np
    import cv2
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
try:
    import scipy
    import scipy.ndimage as ndimage
except ImportError:
    scipy = None
try:
    import skimage
    import skimage.filters
except ImportError:
    skimage = None
VIPS = shutil.which("vips")
IMAGEMAGICK = shutil.which("convert-im6.q16") or shutil.which("magick")

SIZES = (37, 53), (101, 67), (5, 7)  # height, width
KINDS = ("gray8", np.uint8, 1), ("rgb8", np.uint8, 3), ("gray16", np.uint16, 1), ("rgb16", np.uint16, 3)

# What a row claims of samples: the largest difference there may be; and of responses, floats: relative l2.
EQUAL, ONE_STEP, FLOAT = "equal", "one step", "1e-6"

# A row of the table. kinds: the beginning of the names of the pictures that it is about. A claim that is a number: they
# differ, for the reason that is given, by more than a step and by no more than this (of 255 or 65535).
Row = collections.namedtuple("Row", "peer call ours theirs claim reason kinds", defaults=("", ""))

MIXED = np.array([[0.02, -0.11, 0.07], [0.31, 0.42, -0.05], [-0.13, 0.27, 0.2]])
MIXED_TEXT = "3x3: 0.02 -0.11 0.07  0.31 0.42 -0.05  -0.13 0.27 0.2"
SHARP = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], float)
SHARP_TEXT = "3x3: 0 -1 0  -1 5 -1  0 -1 0"
EMBOSS = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], float)
EMBOSS_TEXT = "3x3: -2 -1 0  -1 1 1  0 1 2"
SOFT = np.array([[0.02, 0.11, 0.07], [0.11, 0.2, 0.05], [0.13, 0.11, 0.19]])  # its sum is below 1
SOFT_TEXT = "3x3: 0.02 0.11 0.07  0.11 0.2 0.05  0.13 0.11 0.19"
NUDGE = np.array([[0.3, -0.3, 0], [0, 0, 0], [-0.3, 0.3, 0]])  # adds nothing to the sum, to which libvips scales


def kernel(text, *options):
    return ["--kernel", text, *options]


# ---- peers: functions from a picture, H x W or H x W x 3, to samples or to a response of floats ----


def planes(function):
    """A function of one plane on every plane."""
    return lambda picture: (
        function(picture)
        if picture.ndim == 2
        else np.stack([function(picture[:, :, c]) for c in range(picture.shape[2])], axis=2)
    )


def filter2d(taps, border):
    return lambda picture: cv2.filter2D(picture, -1, taps, borderType=border)


def wrapped(taps):
    def run(picture):
        around = cv2.copyMakeBorder(picture, 1, 1, 1, 1, cv2.BORDER_WRAP)
        return cv2.filter2D(around, -1, taps)[1:-1, 1:-1]

    return run


def correlate(taps, mode, cval=0.0):
    return planes(lambda plane: ndimage.correlate(plane.astype(np.float64), taps, mode=mode, cval=cval))


def in_double(function):
    return planes(lambda plane: function(plane.astype(np.float64)))


def vips(*operation, matrix=None):
    """`vips OPERATION in out ...` with its response taken as raw floats."""

    def run(picture):
        with tempfile.TemporaryDirectory() as folder:
            place = lambda name: os.path.join(folder, name)
            cv2.imwrite(place("in.png"), picture)
            arguments = [place("kernel.mat") if word == "MATRIX" else word for word in operation[1:]]
            if matrix is not None:
                with open(place("kernel.mat"), "w", encoding="ascii") as file:
                    file.write(f"{matrix.shape[1]} {matrix.shape[0]} 1 0\n")
                    np.savetxt(file, matrix, fmt="%.17g")
            calls = ["vips", operation[0], place("in.png"), place("out.v"), *arguments], [
                "vips", "cast", place("out.v"), place("float.v"), "double"], [
                "vips", "rawsave", place("float.v"), place("out.raw")]  # fmt: skip
            for call in calls:
                subprocess.run(call, check=True, capture_output=True)
            response = np.fromfile(place("out.raw"), np.float64).reshape(picture.shape)
            return response if response.ndim == 2 else response[:, :, ::-1]  # OpenCV has blue first

    return run


def imagemagick(taps, around, method="Correlate"):
    rows = " ".join(",".join(f"{tap:.17g}" for tap in row) for row in taps)

    def run(picture):
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "in.png"), os.path.join(folder, "out.png")
            cv2.imwrite(source, picture)
            depth = str(picture.dtype.itemsize * 8)
            subprocess.run(
                [IMAGEMAGICK, source, "-virtual-pixel", around, "-background", "black", "-morphology", method,
                 f"{taps.shape[1]}x{taps.shape[0]}: {rows}", "-depth", depth, target],
                check=True, capture_output=True,
            )  # fmt: skip
            result = cv2.imread(target, cv2.IMREAD_UNCHANGED)
            return result if result.ndim == picture.ndim else result[:, :, 0]

    return run


# ---- the table ----


def opencv_rows():
    yield Row("OpenCV", "filter2D, integers, BORDER_REPLICATE", kernel(SHARP_TEXT),
              filter2d(SHARP, cv2.BORDER_REPLICATE), EQUAL)
    for border, code in (("reflect101", cv2.BORDER_REFLECT_101), ("reflect", cv2.BORDER_REFLECT),
                         ("zero", cv2.BORDER_CONSTANT)):  # fmt: skip
        yield Row("OpenCV", f"filter2D, integers, BORDER_{border.upper().replace('ZERO', 'CONSTANT')}",
                  kernel(SHARP_TEXT, "--border", border), filter2d(SHARP, code), EQUAL)
    yield Row("OpenCV", "filter2D of copyMakeBorder, BORDER_WRAP", kernel(SHARP_TEXT, "--border", "wrap"),
              wrapped(SHARP), EQUAL, "filter2D itself refuses BORDER_WRAP")
    yield Row("OpenCV", "filter2D, fractions", kernel(MIXED_TEXT), filter2d(MIXED, cv2.BORDER_REPLICATE), ONE_STEP,
              "it adds in single precision: values halfway between two samples may go the other way")
    for kinds, claim, reason in (("8", ONE_STEP, "at the end of rows it rounds half up, elsewhere half to even"),
                                 ("16", EQUAL, "")):  # fmt: skip
        yield Row("OpenCV", "sepFilter2D, 1 4 6 4 1 / 16", kernel("binomial:size=5"),
                  lambda p: cv2.sepFilter2D(p, -1, np.array([1, 4, 6, 4, 1]) / 16, np.array([1, 4, 6, 4, 1]) / 16,
                                            borderType=cv2.BORDER_REPLICATE), claim, reason, kinds)  # fmt: skip
    yield Row("OpenCV", "blur 3 x 3", kernel("box:size=3"),
              lambda p: cv2.blur(p, (3, 3), borderType=cv2.BORDER_REPLICATE), EQUAL)
    yield Row("OpenCV", "GaussianBlur, ksize 13, sigma 2", kernel("gaussian:sigma=2:size=13"),
              lambda p: cv2.GaussianBlur(p, (13, 13), 2, borderType=cv2.BORDER_REPLICATE), ONE_STEP,
              "its taps for 8 and 16 bits are fixed point")  # fmt: skip
    yield Row("OpenCV", "GaussianBlur, ksize 5, no sigma", kernel("binomial:size=5"),
              lambda p: cv2.GaussianBlur(p, (5, 5), 0, borderType=cv2.BORDER_REPLICATE), ONE_STEP,
              "its table for small kernels is the binomial one, not a gaussian; it rounds half up")  # fmt: skip
    for kinds, size, reason in (("8", ":size=13", "it ends at 3 sigma, gpufilter at 4 where size= says nothing"),
                                ("16", "", "it ends at 4 sigma, as gpufilter")):  # fmt: skip
        yield Row("OpenCV", "GaussianBlur, sigma 2, no ksize", kernel("gaussian:sigma=2" + size),
                  lambda p: cv2.GaussianBlur(p, (0, 0), 2, borderType=cv2.BORDER_REPLICATE), ONE_STEP, reason, kinds)
    for name, call in (("dx", (1, 0)), ("dy", (0, 1))):
        for size in (3, 5):
            yield Row("OpenCV", f"Sobel, {name}, ksize {size}, saturated",
                      kernel(f"sobel:{name[1]}:size={size}", "--range", "clamp"),
                      lambda p, call=call, size=size: cv2.Sobel(p, -1, *call, ksize=size,
                                                                borderType=cv2.BORDER_REPLICATE), EQUAL)  # fmt: skip
        yield Row("OpenCV", f"Scharr, {name}, saturated", kernel(f"scharr:{name[1]}", "--range", "clamp"),
                  lambda p, call=call: cv2.Scharr(p, -1, *call, borderType=cv2.BORDER_REPLICATE), EQUAL)
    yield Row("OpenCV", "convertScaleAbs of Sobel, dx", kernel("sobel:x"),
              lambda p: cv2.convertScaleAbs(cv2.Sobel(p, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)), EQUAL,
              "", "8")  # fmt: skip
    for size, kind in ((1, "4"), (3, "diagonal")):
        yield Row("OpenCV", f"Laplacian, ksize {size}, saturated", kernel(f"laplacian:{kind}", "--range", "clamp"),
                  lambda p, size=size: cv2.Laplacian(p, -1, ksize=size, borderType=cv2.BORDER_REPLICATE), EQUAL)


def scipy_rows():
    for border, mode in (("replicate", "nearest"), ("reflect101", "mirror"), ("reflect", "reflect"), ("wrap", "wrap"),
                         ("constant:7", "constant")):  # fmt: skip
        yield Row("SciPy", f"correlate, mode {mode}{', cval 7' if mode == 'constant' else ''}",
                  kernel(MIXED_TEXT, "--border", border, "--depth", "f32"), correlate(MIXED, mode, 7.0), FLOAT,
                  "SciPy's mirror is OpenCV's reflect101" if mode == "mirror" else "")  # fmt: skip
    yield Row("SciPy", "correlate, output of samples", kernel(SOFT_TEXT),
              planes(lambda p: ndimage.correlate(p, SOFT, mode="nearest")), ONE_STEP,
              "its casts truncate (and do not saturate); gpufilter rounds to nearest")  # fmt: skip
    yield Row("SciPy", "convolve", kernel(MIXED_TEXT, "--flip", "--depth", "f32"),
              in_double(lambda p: ndimage.convolve(p, MIXED, mode="nearest")), FLOAT, "true convolution: --flip")
    for sigma in 2, 500:
        yield Row("SciPy", f"gaussian_filter, sigma {sigma}", kernel(f"gaussian:sigma={sigma}", "--depth", "f32"),
                  in_double(lambda p, sigma=sigma: ndimage.gaussian_filter(p, sigma, mode="nearest")), FLOAT,
                  "both end at 4 sigma" if sigma == 2 else "4001 taps, more than the picture has pixels")  # fmt: skip
    yield Row("SciPy", "sobel, axis 1", kernel("sobel:x", "--depth", "f32"),
              in_double(lambda p: ndimage.sobel(p, axis=1, mode="nearest")), FLOAT)
    yield Row("SciPy", "prewitt, axis 0", kernel("prewitt:y", "--depth", "f32"),
              in_double(lambda p: ndimage.prewitt(p, axis=0, mode="nearest")), FLOAT)
    yield Row("SciPy", "laplace", kernel("laplacian", "--depth", "f32"),
              in_double(lambda p: ndimage.laplace(p, mode="nearest")), FLOAT)
    yield Row("SciPy", "uniform_filter, size 5", kernel("box:size=5", "--depth", "f32"),
              in_double(lambda p: ndimage.uniform_filter(p, 5, mode="nearest")), FLOAT)


def skimage_rows():
    filters = skimage.filters
    yield Row("scikit-image", "gaussian, sigma 2", kernel("gaussian:sigma=2", "--depth", "f32"),
              in_double(lambda p: filters.gaussian(p, 2, mode="nearest", preserve_range=True)), FLOAT)
    for name, scale in (("sobel", 1 / 4), ("prewitt", 1 / 3), ("scharr", 1 / 16)):
        yield Row("scikit-image", f"{name}_v",
                  kernel(f"{name}:x:scale={scale!r}", "--border", "reflect", "--depth", "f32"),
                  in_double(getattr(filters, name + "_v")), FLOAT, "it divides by the sum of the smoothing taps")  # fmt: skip
        yield Row("scikit-image", name,
                  kernel(f"{name}:scale={scale / 2 ** 0.5!r}", "--border", "reflect", "--depth", "f32"),
                  in_double(getattr(filters, name)), FLOAT, "and the magnitude by the root of 2")  # fmt: skip
    yield Row("scikit-image", "laplace", kernel("laplacian:scale=-1", "--border", "reflect", "--depth", "f32"),
              in_double(filters.laplace), FLOAT, "its sign is the other one")
    yield Row("scikit-image", "unsharp_mask, radius 2, amount 0.7",
              kernel("unsharp:sigma=2:amount=0.7", "--border", "reflect", "--depth", "f32"),
              in_double(lambda p: filters.unsharp_mask(p, 2, 0.7, preserve_range=True)), FLOAT)  # fmt: skip


def vips_rows():
    yield Row("libvips", "conv, float", kernel(MIXED_TEXT, "--depth", "f32"),
              vips("conv", "MATRIX", "--precision", "float", matrix=MIXED), FLOAT)
    yield Row("libvips", "conv, integer, integers", kernel(EMBOSS_TEXT),
              vips("conv", "MATRIX", "--precision", "integer", matrix=EMBOSS), EQUAL)
    yield Row("libvips", "conv, integer, 0.3 and -0.3 added to the taps", kernel(EMBOSS_TEXT),
              vips("conv", "MATRIX", "--precision", "integer", matrix=EMBOSS + NUDGE), EQUAL,
              "it rounds the taps to whole numbers", "16")  # fmt: skip
    yield Row("libvips", "conv, integer, fractions", kernel(MIXED_TEXT),
              vips("conv", "MATRIX", "--precision", "integer", matrix=MIXED), 8,
              "its vector code for 8 bits has taps of a few bits; --precision float has not", "8")  # fmt: skip
    yield Row("libvips", "sobel's kernel, float", kernel("sobel:x", "--depth", "f32"),
              vips("conv", "MATRIX", "--precision", "float",
                   matrix=np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], float)), FLOAT)  # fmt: skip
    yield Row("libvips", "gaussblur, sigma 2, float", kernel("gaussian:sigma=2:size=7", "--depth", "f32"),
              vips("gaussblur", "2", "--precision", "float"), FLOAT, "the taps that it keeps")
    yield Row("libvips", "gaussblur, sigma 2, float", kernel("gaussian:sigma=2"),
              vips("gaussblur", "2", "--precision", "float"), 14,
              "its gaussian ends where a tap falls below 0.2 of the middle one (--min-ampl)", "8")  # fmt: skip


def imagemagick_rows():
    for border, around in (("replicate", "edge"), ("reflect", "mirror"), ("wrap", "tile"), ("zero", "background")):
        yield Row("ImageMagick", f"-morphology Correlate, -virtual-pixel {around}",
                  kernel(SHARP_TEXT, "--border", border), imagemagick(SHARP, around), EQUAL)
    yield Row("ImageMagick", "-morphology Convolve", kernel(EMBOSS_TEXT, "--flip"),
              imagemagick(EMBOSS, "edge", "Convolve"), EQUAL, "true convolution: --flip")
    yield Row("ImageMagick", "-morphology Correlate, fractions", kernel(MIXED_TEXT),
              imagemagick(MIXED, "edge"), ONE_STEP, "it rounds to 16 bits first, then to 8")  # fmt: skip


def rows():
    yield from opencv_rows()
    if scipy:
        yield from scipy_rows()
    if skimage:
        yield from skimage_rows()
    if VIPS:
        yield from vips_rows()
    if IMAGEMAGICK:
        yield from imagemagick_rows()


# ---- what is compared ----


def pictures():
    """(name, picture): noise, which has every value and every difference."""
    random = np.random.default_rng(8)
    for name, dtype, channels in KINDS:
        for height, width in SIZES:
            shape = (height, width) if channels == 1 else (height, width, channels)
            picture = random.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
            yield f"{name} {width}x{height}", picture


def our_result(program, options, row, picture):
    with tempfile.TemporaryDirectory() as folder:
        floats = "f32" in row.ours
        source, target = os.path.join(folder, "in.png"), os.path.join(folder, "out.npy" if floats else "out.png")
        cv2.imwrite(source, picture)
        call = [program, source, *row.ours, "-o", target, *options]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{row.peer} {row.call}: {done.stderr.strip()}")
        if not floats:
            return cv2.imread(target, cv2.IMREAD_UNCHANGED)
        result = np.load(target)
        return result if result.ndim == 2 else result[::-1].transpose(1, 2, 0)  # OpenCV has blue first


def difference(row, ours, theirs):
    """Of responses relative l2, of samples the largest."""
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if row.claim == FLOAT:
        return np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
    return np.max(np.abs(ours - theirs))


def holds(row, largest):
    if row.claim == FLOAT:
        return largest <= 1e-6
    if row.claim in (EQUAL, ONE_STEP):
        return largest <= (row.claim == ONE_STEP)
    return 1 < largest <= row.claim


def about(row, name):
    return row.kinds in name.split()[0]


def check(program, options):
    """(rows of the document, whether all hold)"""
    lines, good = [], True
    shown = list(pictures())
    for row in rows():
        largest = 0.0
        for name, picture in shown:
            if about(row, name):
                theirs = row.theirs(picture)
                if theirs.dtype == np.float64 and row.claim != FLOAT:  # a response, made samples as gpufilter does
                    theirs = np.rint(theirs).clip(0, np.iinfo(picture.dtype).max)
                largest = max(largest, difference(row, our_result(program, options, row, picture), theirs))
        claim = row.claim if isinstance(row.claim, str) else f"differs by up to {row.claim}"
        wanted = [f"'{word}'" if " " in word else word for word in row.ours if word not in ("--depth", "f32")]
        only = f" ({row.kinds} bits)" if row.kinds else ""
        lines.append((row.peer, f"| {row.peer} | {row.call}{only} | `{' '.join(wanted)}` | {claim} | {row.reason} |"))
        if not holds(row, largest):
            good = False
            print(f"DOES NOT HOLD, difference {largest:g}:", end=" ")
        print(f"{row.peer}: {row.call}: {claim} (found {largest:.2g})", flush=True)
    return lines, good


# ---- the document ----

HEAD = """# Beside other programs

The same kernel on the same pictures: gray and RGB, 8 and 16 bits, odd sizes. `tests/interop.py` makes this table and fails where a
row does not hold.

- equal: to the bit. one step: no sample differs by more than 1.
- 1e-6: responses before they are rounded (gpufilter's `-o out.npy --depth f32`, the peer's in double precision), relative l2.
- differs: by more than a step, for the reason that is given.

| peer | its call | gpufilter's | relation | why |
|---|---|---|---|---|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the document")
    parser.add_argument("--docs", help="the document that has to have the rows")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    lines, good = check(arguments.program, arguments.options)
    print(f"{len(lines)} rows; OpenCV {cv2.__version__}, SciPy {scipy and scipy.__version__}, "
          f"scikit-image {skimage and skimage.__version__}, libvips {bool(VIPS)}, ImageMagick {bool(IMAGEMAGICK)}")  # fmt: skip
    if arguments.write:
        with open(arguments.docs, "w", encoding="utf-8") as file:
            file.write(HEAD + "".join(line + "\n" for _, line in lines))
    elif arguments.docs:
        with open(arguments.docs, encoding="utf-8") as file:
            there = [line for line in file.read().splitlines() if line.startswith("| ") and "| peer |" not in line]
        peers = {peer for peer, _ in lines}
        there = [line for line in there if line.split(" | ")[0][2:] in peers]
        if there != [line for _, line in lines]:
            print(f"{arguments.docs} has other rows; tests/interop.py --write brings it up to date")
            good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
