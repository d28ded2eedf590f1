"""The bank `natural`: 32 filters of 9x9, learned from photographs without labels.

Convolutional sparse coding (after Olshausen and Field, Nature 381, 1996; the convolutional form: Zeiler,
Krishnan, Taylor, Fergus, CVPR 2010): whitened pieces of photographs are written as sums of few copies of
few shapes. In turn the copies are found for the shapes (FISTA: Beck and Teboulle, SIAM Journal on Imaging
Sciences 2, 2009), and the shapes are moved so that they fit the pieces better.

Needs: torch, numpy, Pillow.
"""
import csv
import pathlib
import time

import numpy
import torch
from torch.nn import functional

import networks
import photographs

FILTERS, SIZE, PIECE, BATCH = 32, 9, 36, 12
SPARSITY, STEPS, RATE = 4.0, 15, 0.02


def whitened(picture, cut=0.35):
    """All frequencies (cycles a pixel) up to `cut` brought to about the same strength."""
    picture = picture[..., 0].astype(numpy.float32)
    picture = picture - picture.mean()
    y, x = (numpy.fft.fftfreq(n) for n in picture.shape)
    frequency = numpy.hypot(y[:, None], x[None, :])
    flat = numpy.fft.ifft2(numpy.fft.fft2(picture) * frequency * numpy.exp(-(frequency / cut) ** 4)).real
    return (flat / flat.std()).astype(numpy.float32)[SIZE:-SIZE, SIZE:-SIZE]


def shaped(filters):
    """Zero mean and unit length."""
    filters = filters - filters.mean((2, 3), keepdim=True)
    return filters / filters.square().sum((2, 3), keepdim=True).sqrt()


def codes(pieces, filters):
    """Where copies of the filters are wanted, and how strong: FISTA."""
    steepest = torch.fft.rfft2(filters[:, 0], s=(64, 64)).abs().square().sum(0).max() * 1.05
    pad = SIZE // 2
    wanted = moved = torch.zeros(len(pieces), FILTERS, *pieces.shape[-2:])
    pace = 1.0
    for _ in range(STEPS):
        missing = pieces - functional.conv_transpose2d(moved, filters, padding=pad)
        before, step = wanted, moved + functional.conv2d(missing, filters, padding=pad) / steepest
        wanted = functional.softshrink(step, SPARSITY / steepest.item())
        faster = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        moved = wanted + (pace - 1) / faster * (wanted - before)
        pace = faster
    return wanted


def fit(pieces, filters):
    """The cost of the code, the copies in use a pixel, and the share of the variance that is left."""
    with torch.no_grad():
        wanted = codes(pieces, filters)
    left = (pieces - functional.conv_transpose2d(wanted, filters, padding=SIZE // 2)).square().mean()
    return left / 2 + SPARSITY * wanted.abs().sum(1).mean(), (wanted != 0).float().mean().item() * FILTERS, left


def piece(pictures, draw):
    """A piece that is not flat, of contrast 1."""
    while True:
        picture = pictures[draw.integers(len(pictures))]
        y, x = (draw.integers(0, n - PIECE + 1) for n in picture.shape)
        found = picture[y:y + PIECE, x:x + PIECE]
        if found.std() > 0.3:
            return found / found.std()


def peak(taps):
    """A filter's centre frequency in cycles a pixel, and its direction in degrees from 0 to 180."""
    spectrum = numpy.abs(numpy.fft.fftshift(numpy.fft.fft2(taps, (128, 128)))) ** 2
    spectrum *= spectrum > 0.5 * spectrum.max()
    y, x = (numpy.indices(spectrum.shape) - 64) / 128
    turned = (spectrum * numpy.exp(2j * numpy.arctan2(y, x))).sum()      # opposite directions are the same
    return (spectrum * numpy.hypot(x, y)).sum() / spectrum.sum(), numpy.degrees(numpy.angle(turned)) / 2 % 180


def in_order(filters):
    """From coarse to fine in half octaves, in each by direction; the largest tap positive."""
    bank = filters.detach().numpy()[:, 0]
    peaks = [peak(taps) for taps in bank]
    order = sorted(range(len(bank)), key=lambda i: (round(2 * numpy.log2(peaks[i][0])), peaks[i][1]))
    signs = [numpy.sign(taps.flat[numpy.abs(taps).argmax()]) for taps in bank]
    return torch.tensor(numpy.stack([bank[i] * signs[i] for i in order]))[:, None].contiguous()


def train(options):
    torch.manual_seed(options.seed)
    draw = numpy.random.default_rng(options.seed)
    pictures = [whitened(photographs.scales(path, 1)[0]) for path in photographs.files(options.photographs)]
    print(f"{len(pictures)} pictures of {sum(p.size for p in pictures) / 1e6:.1f} megapixels", flush=True)
    filters = torch.nn.Parameter(shaped(torch.randn(FILTERS, 1, SIZE, SIZE)))
    adam = torch.optim.Adam([filters], RATE)
    log = pathlib.Path(options.out) / "train/logs/natural.csv"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["iteration", "minutes", "rate", "loss", "codes_in_use", "error_left"])
        start, done, iteration, reported, sums = time.monotonic(), 0.0, 0, 0, []
        while done < 1:
            done = min((time.monotonic() - start) / (60 * options.minutes), 1)
            adam.param_groups[0]["lr"] = RATE * (1 - done) ** 0.5
            pieces = torch.from_numpy(numpy.stack([piece(pictures, draw) for _ in range(BATCH)]))[:, None]
            cost, used, left = fit(pieces, filters)
            adam.zero_grad()
            left.backward()
            adam.step()
            with torch.no_grad():
                filters.copy_(shaped(filters))
            iteration += 1
            sums.append((cost.item(), used, left.item()))
            if int(done * options.reports) > reported:
                reported = int(done * options.reports)
                loss, used, left = numpy.mean(sums, 0)
                rows.writerow([iteration, f"{done * options.minutes:.1f}", f"{adam.param_groups[0]['lr']:.2e}",
                               f"{loss:.5f}", f"{used:.4f}", f"{left:.4f}"])
                stream.flush()
                print(iteration, f"loss {loss:.5f}, {used:.4f} codes a pixel, {left:.4f} of the variance left", flush=True)
                sums = []
    networks.export(options.out, "natural", {"bank.weight": in_order(filters)})
