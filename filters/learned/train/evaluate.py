#!/usr/bin/env python3
"""Measures the learned filters on held-out photographs, beside classical methods: the tables of the README.

    evaluate.py denoise --color PLACE... --gray PLACE... [--methods ...]
    evaluate.py deblur --gray PLACE...
    evaluate.py natural --gray PLACE...

Figures are peak signal-to-noise ratios in dB, means over the pictures. What a method is given is rounded and
clipped to 8 bits as a file is, and so is what it makes. The parameters of the classical methods are searched
for the best mean at each level, on the held-out pictures themselves. With --gpufilter PATH the program
itself filters the same pictures; its figure, and the largest difference from PyTorch's result in steps of
8 bits, are added. --filter says how it is to name the filter (default: the file's name; or @denoise.json).

Needs: torch, safetensors, numpy, Pillow; for the classical methods OpenCV and scikit-image.
"""
import argparse
import functools
import itertools
import pathlib
import subprocess
import tempfile

import numpy
import torch
from PIL import Image
from safetensors.numpy import load_file

import natural as bank_training
import networks
import photographs


def psnr(clean, made):
    error = clean.astype(numpy.float64) - made
    return 10 * numpy.log10(255 ** 2 / numpy.square(error).mean())


def eight_bits(x):
    return numpy.rint(x).clip(0, 255).astype(numpy.uint8)


def mean_psnr(pairs, method):
    return numpy.mean([psnr(clean, method(given)) for clean, given in pairs])


def best(pairs, method, *grids):
    """The best mean over a grid of parameters, and where it is."""
    return max((mean_psnr(pairs, lambda given: method(given, *point)), point) for point in itertools.product(*grids))


def learned(net, sigma, given):
    x = torch.from_numpy(given.copy()).reshape(*given.shape[:2], -1).permute(2, 0, 1)[None].float() / 255
    with torch.no_grad():
        x = net(x, torch.tensor([float(sigma)]))
    return eight_bits(x[0].permute(1, 2, 0).numpy().reshape(given.shape) * 255)


def program(path, kernel, given):
    with tempfile.TemporaryDirectory() as folder:
        Image.fromarray(given).save(f"{folder}/in.png")
        subprocess.run([path, f"{folder}/in.png", "--kernel", kernel, "-o", f"{folder}/out.png"], check=True)
        return numpy.asarray(Image.open(f"{folder}/out.png"))


def row(*cells):
    print("| " + " | ".join(cell if isinstance(cell, str) else f"{cell:.2f}" for cell in cells) + " |", flush=True)


def measured(options, net, name, level, pairs):
    """The network's row, and the program's."""
    told = level if options.told is None else options.told
    with_ = "" if told == level else f"told {told:g}"
    if "learned" in options.methods:
        row(f"{level:g}", name, mean_psnr(pairs, functools.partial(learned, net, told)), with_)
    if options.gpufilter:
        made = [(clean, given, program(options.gpufilter, f"{options.filter or name}:sigma={told:g}", given))
                for clean, given in pairs]
        apart = max(int(numpy.abs(learned(net, told, given).astype(int) - out).max()) for _, given, out in made)
        row(f"{level:g}", f"{name}, by the program", numpy.mean([psnr(clean, out) for clean, _, out in made]),
            f"at most {apart} from PyTorch")


def denoise(options):
    import cv2
    cv2.setNumThreads(options.threads)

    def gaussian(given, sigma):
        return cv2.GaussianBlur(given, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)

    def non_local_means(given, strength, color=1.0):
        if given.ndim == 2:
            return cv2.fastNlMeansDenoising(given, None, strength, 7, 21)
        return cv2.fastNlMeansDenoisingColored(given[..., ::-1].copy(), None, strength, strength * color, 7, 21)[..., ::-1]

    for prefix, places in ("color", options.color), ("gray", options.gray):
        pictures = [photographs.read(path, 3 if prefix == "color" else 1).squeeze() for path in photographs.files(places)]
        if not pictures:
            continue
        net = networks.read(options.filters, prefix)
        print(f"\n{prefix}: {len(pictures)} pictures, {net.operations():.0f} operations a pixel\n\n"
              "| sigma | method | PSNR | with |\n|---|---|---|---|")
        for sigma in options.levels or (15, 25, 50):
            pairs = []
            for i, clean in enumerate(pictures):
                noise = numpy.random.default_rng([int(sigma), i]).normal(0, sigma, clean.shape)
                pairs.append((clean, eight_bits(clean + noise)))
            if "noisy" in options.methods:
                row(f"{sigma:g}", "as it is", mean_psnr(pairs, lambda given: given), "")
            if "gaussian" in options.methods:
                found, (width,) = best(pairs, gaussian, numpy.arange(0.4, 3.01, 0.1))
                row(f"{sigma:g}", "Gaussian blur", found, f"sigma {width:.1f}")
            if "median" in options.methods:
                found, (size,) = best(pairs, cv2.medianBlur, (3, 5))
                row(f"{sigma:g}", "median", found, f"{size}x{size}")
            if "nlm" in options.methods:
                strengths = [round(sigma * f, 2) for f in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95, 1.1)]
                found, (strength,) = best(pairs, non_local_means, strengths)
                with_ = f"h {strength:g}"
                if prefix == "color":
                    other, (_, color) = best(pairs, non_local_means, [strength], (0.5, 1.5, 2))
                    found, color = max((found, 1), (other, color))
                    with_ += f", hColor {strength * color:g}"
                row(f"{sigma:g}", "non-local means (OpenCV)", found, with_)
            measured(options, net, "denoise", sigma, pairs)


def deblur(options):
    import cv2
    from skimage import restoration
    cv2.setNumThreads(options.threads)
    net = networks.read(options.filters, "deblur")
    pictures = [photographs.read(path, 1).squeeze() for path in photographs.files(options.gray)]
    print(f"{len(pictures)} pictures, {net.operations():.0f} operations a pixel; noise {options.noise:g}\n\n"
          "| sigma | method | PSNR | with |\n|---|---|---|---|")

    def padded(method):
        """For methods that take the picture for a torus: mirrored at its borders, and cut again."""
        return lambda given, *point: eight_bits(255 * method(numpy.pad(given / 255.0, 32, "symmetric"), *point)[32:-32, 32:-32])

    def unsharp(given, sigma, amount):
        given = given.astype(numpy.float32)
        return eight_bits(given + amount * (given - cv2.GaussianBlur(given, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)))

    for sigma in options.levels or (0.8, 1.2, 1.6):
        pairs = []
        for i, clean in enumerate(pictures):
            soft = cv2.GaussianBlur(clean.astype(numpy.float64), (17, 17), sigma)[8:-8, 8:-8]
            noise = numpy.random.default_rng([round(10 * sigma), i]).normal(0, options.noise, soft.shape)
            pairs.append((clean[8:-8, 8:-8], eight_bits(soft + noise)))
        taps = cv2.getGaussianKernel(17, sigma)
        blur = taps @ taps.T
        wiener = padded(lambda x, balance: restoration.wiener(x, blur, balance, clip=False))
        lucy = padded(lambda x, count: restoration.richardson_lucy(x, blur, count, clip=False))
        if "noisy" in options.methods:
            row(f"{sigma:g}", "as it is", mean_psnr(pairs, lambda given: given), "")
        if "unsharp" in options.methods:
            found, (width, amount) = best(pairs, unsharp, numpy.arange(0.6, 3.01, 0.2), numpy.arange(0.2, 5.01, 0.2))
            row(f"{sigma:g}", "unsharp mask", found, f"sigma {width:.1f}, amount {amount:.1f}")
        if "wiener" in options.methods:
            found, (balance,) = best(pairs, wiener, numpy.geomspace(1e-4, 1, 17))
            row(f"{sigma:g}", "Wiener (scikit-image, knows the blur)", found, f"balance {balance:.2g}")
        if "lucy" in options.methods:
            found, (count,) = best(pairs, lucy, (5, 10, 20, 30, 45, 70, 100, 150))
            row(f"{sigma:g}", "Richardson-Lucy (scikit-image, knows the blur)", found, f"{count} iterations")
        measured(options, net, "deblur", sigma, pairs)


def natural(options):
    """How well a bank writes whitened pieces as sums of few copies of its shapes (what the learned one was trained
    for), and how sparse its plain responses are (kurtosis; normally distributed: 0)."""
    from scipy import fft
    bank = load_file(options.filters / "natural.safetensors")["bank.weight"]
    if options.picture:
        sheet = numpy.full((4 * 60 + 4, 8 * 60 + 4), 255, numpy.uint8)
        for i, taps in enumerate(bank[:, 0]):
            y, x = 4 + 60 * (i // 8), 4 + 60 * (i % 8)
            sheet[y:y + 56, x:x + 56] = numpy.asarray(
                Image.fromarray(eight_bits(127.5 + 127.5 * taps / numpy.abs(taps).max())).resize((56, 56), Image.NEAREST))
        Image.fromarray(sheet).save(options.picture)
    pictures = [photographs.read(path, 1) for path in photographs.files(options.gray)]
    draw = numpy.random.default_rng(0)
    white = [bank_training.whitened(picture) for picture in pictures]
    pieces = torch.from_numpy(numpy.stack([bank_training.piece(white, draw) for _ in range(200)]))[:, None]
    noise = draw.normal(size=bank.shape)
    order = sorted(range(81), key=lambda i: (i // 9) ** 2 + (i % 9) ** 2)[1:33]
    cosines = numpy.stack([fft.idctn(numpy.eye(81)[i].reshape(9, 9), norm="ortho") for i in order])[:, None]
    print("| bank of 32 | cost of the sparse code | copies a pixel | variance left | kurtosis: median | energy in the strongest 5 % |\n"
          "|---|---|---|---|---|---|")
    for name, taps in ("learned", bank), ("cosines (DCT), the 32 lowest", cosines), ("random", noise):
        taps = bank_training.shaped(torch.from_numpy(taps).float())
        with torch.no_grad():
            cost, used, left = bank_training.fit(pieces, taps)
        responses = []
        for picture in pictures:
            out = torch.nn.functional.conv2d(torch.from_numpy(picture[..., 0] / 255).float()[None, None], taps)[0].flatten(1)
            responses.append(out / out.std(1, keepdim=True))
        responses = torch.cat(responses, 1)
        kurtosis = (responses ** 4).mean(1) / (responses ** 2).mean(1) ** 2 - 3
        energy = (responses ** 2).sort(1, descending=True).values
        share = energy[:, :energy.shape[1] // 20].sum(1) / energy.sum(1)
        row(name, f"{cost:.3f}", f"{used:.2f}", f"{100 * left:.0f} %", f"{kurtosis.median():.1f}", f"{100 * share.mean():.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("filter_file", choices=["denoise", "deblur", "natural"])
    parser.add_argument("--color", nargs="+", default=[], help="held-out pictures: folders or files")
    parser.add_argument("--gray", nargs="+", default=[], help="held-out pictures, taken as luma")
    parser.add_argument("--filters", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent, help="where the files lie")
    parser.add_argument("--methods", nargs="*", default="noisy gaussian median nlm unsharp wiener lucy learned".split())
    parser.add_argument("--levels", nargs="+", type=float)
    parser.add_argument("--noise", type=float, default=1, help="noise of the blurred pictures, in steps of 8 bits")
    parser.add_argument("--told", type=float, help="the sigma that the learned filter is told, instead of the true one")
    parser.add_argument("--picture", help="where to draw the filters of natural, as PNG")
    parser.add_argument("--gpufilter", help="the program, to be measured too")
    parser.add_argument("--filter", help="what it is to call the filter")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    {"denoise": denoise, "deblur": deblur, "natural": natural}[options.filter_file](options)


if __name__ == "__main__":
    main()
