#!/usr/bin/env python3
"""Trains a learned filter and writes its filter file and weights.

    train.py color|gray|deblur|natural --photographs PLACE... --minutes M --seed S --out FOLDER

color and gray are the two networks of denoise.json; deblur and natural are files of their own. A run of
`--minutes` is planned by time: the learning rate falls along half a cosine to nothing at the end. Every
20th of the run the averaged weights are measured on the pictures given with --held-out, written to
FOLDER, and a line goes to FOLDER/train/logs/NETWORK.csv.

Needs: torch, safetensors, numpy, Pillow.
"""
import argparse
import copy
import csv
import math
import pathlib
import time

import numpy
import torch

import natural
import networks
import photographs

PATCH = 72
SETTINGS = {  # patches a batch, the highest learning rate, iterations up to it, share of random weights at first
    "color": (8, 5e-4, 500, 0.3),
    "gray": (16, 1.5e-3, 200, 0.1),
    "deblur": (8, 5e-4, 500, 0.3),
}


def spoil(prefix, patches, count, draw):
    """A batch: what the network is given, what it should give back, and the parameter."""
    if prefix == "deblur":
        sigma = torch.from_numpy(draw.uniform(0.5, 2, count)).float()
        clean = patches.batch(count, PATCH + 16)
        level = torch.from_numpy(draw.uniform(0, 2, count)).float()
        return photographs.noisy(photographs.blurred(clean, sigma), level), clean[..., 8:-8, 8:-8], sigma, sigma ** 2
    sigma = draw.uniform(0, 60, count)
    sigma[draw.uniform(size=count) < 0.02] = 0
    sigma = torch.from_numpy(sigma).float()
    clean = patches.batch(count, PATCH)
    return photographs.noisy(clean, sigma), clean, sigma, (sigma + 5) / 25


def held_out_psnr(net, prefix, places):
    """Mean over the held-out pictures and three levels, with fixed noise."""
    scores = []
    for path in photographs.files(places):
        clean = torch.from_numpy(photographs.read(path, net.channels).copy()).permute(2, 0, 1)[None] / 255
        for sigma in (0.8, 1.2, 1.6) if prefix == "deblur" else (15, 25, 50):
            generator = torch.Generator().manual_seed(1)
            level, target = torch.tensor([float(sigma)]), clean
            if prefix == "deblur":
                target = clean[..., 8:-8, 8:-8]
                given = photographs.noisy(photographs.blurred(clean, level), torch.tensor([1.0]), generator)
            else:
                given = photographs.noisy(clean, level, generator)
            with torch.no_grad():
                error = photographs.to_8_bits(net(given, level)) - target
            scores.append(-10 * math.log10(error.square().mean().item()))
    return sum(scores) / len(scores) if scores else math.nan


def train(options):
    torch.manual_seed(options.seed)
    draw = numpy.random.default_rng(options.seed)
    count, highest, warm_up, share = SETTINGS[options.network]
    net = networks.HalfNet(options.network).to(memory_format=torch.channels_last)
    net.begin(share)
    average = copy.deepcopy(net).eval()
    patches = photographs.Patches(options.photographs, net.channels, draw)
    print(f"{len(patches.names)} photographs, {len(patches.pictures)} pictures of {patches.megapixels():.1f} megapixels, "
          f"{sum(p.numel() for p in net.parameters())} weights, {net.operations():.0f} operations a pixel", flush=True)
    adam = torch.optim.Adam(net.parameters(), highest)
    log = pathlib.Path(options.out) / "train/logs" / f"{options.network}.csv"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["iteration", "minutes", "rate", "loss", "held_out_psnr"])
        start, away, iteration, losses, reported = time.monotonic(), 0.0, 0, [], 0
        done = 0.0
        while done < 1:
            done = min((time.monotonic() - start - away) / (60 * options.minutes), 1)
            rate = highest * min((iteration + 1) / warm_up, 0.5 + 0.5 * math.cos(math.pi * done))
            for group in adam.param_groups:
                group["lr"] = rate
            given, clean, sigma, weight = spoil(options.network, patches, count, draw)
            with torch.autocast("cpu", torch.bfloat16):
                made = net(given.contiguous(memory_format=torch.channels_last), sigma)
            error = (made.float() - clean).square()
            if done < 0.4:                       # Charbonnier's, then the square
                loss = (error + 1e-6).sqrt().mean()
            else:
                loss = 10 * (error.mean((1, 2, 3)) / weight).mean()
            adam.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            adam.step()
            iteration += 1
            keep = min(0.999, iteration / (iteration + 10))
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), net.parameters()):
                    slow.lerp_(fast, 1 - keep)
            losses.append(loss.item())
            if int(done * options.reports) > reported:
                reported = int(done * options.reports)
                pause = time.monotonic()
                name = "deblur" if options.network == "deblur" else "denoise"
                networks.export(options.out, name, average.tensors())
                psnr = held_out_psnr(networks.read(options.out, options.network), options.network, options.held_out)
                rows.writerow([iteration, f"{done * options.minutes:.1f}", f"{rate:.2e}",
                               f"{sum(losses) / len(losses):.6f}", f"{psnr:.3f}"])
                stream.flush()
                print(iteration, f"{done * options.minutes:.1f} min", f"{sum(losses) / len(losses):.6f}", f"{psnr:.3f} dB", flush=True)
                losses = []
                away += time.monotonic() - pause


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", choices=["color", "gray", "deblur", "natural"])
    parser.add_argument("--photographs", nargs="+", required=True, help="folders or files")
    parser.add_argument("--held-out", nargs="+", default=[], help="folders or files to measure on, never trained on")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--reports", type=int, default=20, help="how often to measure and to write")
    parser.add_argument("--out", default=".", help="the folder of the filter files")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.network == "natural":
        natural.train(options)
    else:
        train(options)


if __name__ == "__main__":
    main()
