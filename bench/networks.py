#!/usr/bin/env python3
"""The denoiser of the program beside PyTorch running the same network with the same weights, in IEEE f32 (TF32
off), on the same picture and device: bench/networks.py GPUFILTER [--device cuda|cpu] [--size 6000x4000].

Of the program it takes the times of --json: kernels, and copies to and from the device. Of PyTorch the forward
pass, and the pass with copies of 8-bit pictures both ways. The results are compared: PyTorch's is rounded as the
program rounds. Needs: torch, numpy, safetensors.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "filters" / "learned"
sys.path.insert(0, str(FOLDER / "train"))
import networks  # noqa: E402


def picture(width, height):
    """Soft shapes and noise of sigma 25: what is in a picture does not change the time."""
    random = numpy.random.default_rng(0)
    coarse = random.uniform(0, 255, (3, height // 64 + 2, width // 64 + 2))
    soft = torch.nn.functional.interpolate(torch.tensor(coarse)[None], size=(height, width), mode="bilinear")[0]
    return numpy.clip(numpy.rint(soft.numpy() + random.normal(0, 25, soft.shape)), 0, 255).astype(numpy.uint8)


def run_program(arguments, noisy, folder, rounds):
    """Copies of one picture in one process: the session is used again. The first is left out."""
    paths = [folder / f"{i}.npy" for i in range(rounds + 1)]
    for path in paths:
        numpy.save(path, noisy)
    command = [arguments.gpufilter, *map(str, paths), "--kernel", f"@{FOLDER}/denoise.json:sigma=25",
               "--device", arguments.device, "--json", "--jobs", "1", "--depth", "8", "--overwrite", "-o", str(folder / "out") + "/"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    runs = [json.loads(line) for line in lines][1:]
    result = numpy.load(next((folder / "out").iterdir()))
    times = {key: statistics.median(run["seconds"][key] for run in runs) for key in ("compute", "copy")}
    return result, times, runs[0]["methods"][0]


def run_torch(arguments, noisy, rounds):
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    device = torch.device(arguments.device)
    net = networks.read(FOLDER, "color").to(device)
    sigma = torch.tensor([25.0], device=device)
    host = torch.from_numpy(noisy)
    host = host.pin_memory() if device.type == "cuda" else host

    def wait():
        if device.type == "cuda":
            torch.cuda.synchronize()

    times = {"forward": [], "with copies": []}
    with torch.inference_mode():
        for _ in range(rounds + 1):
            wait()
            start = time.perf_counter()
            samples = host.to(device, non_blocking=True)
            wait()
            before = time.perf_counter()
            out = (net(samples[None].float() / 255, sigma)[0] * 255).round().clamp(0, 255).byte()
            wait()
            after = time.perf_counter()
            result = out.cpu()
            wait()
            times["forward"].append(after - before)
            times["with copies"].append(time.perf_counter() - start)
    return result.numpy(), {key: statistics.median(values[1:]) for key, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("gpufilter")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--size", default="6000x4000")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    noisy = picture(width, height)
    with tempfile.TemporaryDirectory() as folder:
        ours, times, methods = run_program(arguments, noisy, pathlib.Path(folder), arguments.rounds)
    theirs, torch_times = run_torch(arguments, noisy, arguments.rounds)
    apart = numpy.abs(ours.astype(int) - theirs.astype(int))
    name = torch.cuda.get_device_name() if arguments.device == "cuda" else "CPU"
    print(f"denoise, {width} x {height} x 3, 8 bits, f32, {name}, PyTorch {torch.__version__}")
    print(f"  gpufilter  kernels {times['compute'] * 1e3:9.2f} ms   copies {times['copy'] * 1e3:8.2f} ms"
          f"   {', '.join(dict.fromkeys(methods))}")
    print(f"  PyTorch    forward {torch_times['forward'] * 1e3:9.2f} ms   with copies "
          f"{torch_times['with copies'] * 1e3:8.2f} ms")
    print(f"  PyTorch's forward pass takes {torch_times['forward'] / times['compute']:.2f} times as long")
    print(f"  samples that differ: {numpy.count_nonzero(apart)} of {apart.size}, by {apart.max()} at most")
    return int(apart.max() > 1)


if __name__ == "__main__":
    sys.exit(main())
