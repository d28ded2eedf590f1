#!/usr/bin/env python3
"""Holds filter files to PyTorch: random networks, and those that the program brings along, on random pictures.

    pip install torch numpy safetensors [jsonschema]
    tests/networks.py [-v] [-n COUNT] [--seed N] [--learned FOLDER] GPUFILTER [OPTION...]

Each network is made as a filter file. `evaluate` below understands such files by itself and computes them with
torch.nn.functional in double precision; the program must come to the same: floats to a relative error of 1e-6 (l2), samples
of 8 bits to half a step. The options go to every call, as --device cuda. Small networks run on --device reference too. Where the
package jsonschema is there, each file is also held to the schema in gpufilter-filters(7). Exit status: 0 all good, 1 some
network failed, 77 a package is not there.
"""
import argparse
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from safetensors.numpy import load_file, save_file
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
try:
    import jsonschema
except ImportError:
    jsonschema = None

MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "man", "gpufilter-filters.7")
RELATIVE = 1e-6
HALF_STEP = 0.5 + 1e-3
SMALL = 4000  # samples of a picture that the reference is asked for
LUMA = torch.tensor([0.299, 0.587, 0.114], dtype=torch.float64)

# ---- what a filter file means ----

NUMPY_BORDER = {"zeros": "constant", "replicate": "edge", "reflect101": "reflect", "reflect": "symmetric", "wrap": "wrap"}
TORCH_BORDER = {"zeros": "zeros", "replicate": "replicate", "reflect101": "reflect", "wrap": "circular"}


def pair(value):
    return list(value) if isinstance(value, list) else [value, value]


def four(value):
    """Top, left, bottom, right."""
    value = pair(value)
    return value if len(value) == 4 else value + value


def same(size, kernel, stride, dilation, lower):
    total = max((math.ceil(size / stride) - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return (total - total // 2, total // 2) if lower else (total // 2, total - total // 2)


def sampling(stage, size, kernel, stride=None):
    stride = pair(stage.get("stride", 1 if stride is None else stride))
    dilation = pair(stage.get("dilation", 1))
    padding = stage.get("padding", 0)
    if isinstance(padding, str):
        ends = [same(size[i], kernel[i], stride[i], dilation[i], padding == "same_lower") for i in range(2)]
        padding = [ends[0][0], ends[1][0], ends[0][1], ends[1][1]]
    return stride, dilation, four(padding)


def padded(x, padding, **options):
    top, left, bottom, right = padding
    return torch.from_numpy(np.pad(x.numpy(), ((0, 0), (top, bottom), (left, right)), **options))


def conv(stage, x, tensor):
    weight = tensor(stage["weight"])
    bias = tensor(stage["bias"]) if "bias" in stage else None
    kernel = weight.shape[2:]
    stride, dilation, padding = sampling(stage, x.shape[1:], kernel)
    groups, border = stage.get("groups", 1), stage.get("border", "zeros")
    fits = border in ("zeros", "replicate") or max(padding) < min(x.shape[1:])
    if padding[:2] == padding[2:] and border in TORCH_BORDER and fits:
        layer = torch.nn.Conv2d(weight.shape[1] * groups, weight.shape[0], tuple(kernel), tuple(stride), tuple(padding[:2]),
                                tuple(dilation), groups, bias is not None, TORCH_BORDER[border]).double()  # fmt: skip
        layer.load_state_dict({"weight": weight} if bias is None else {"weight": weight, "bias": bias})
        with torch.no_grad():
            return layer(x[None])[0]
    return F.conv2d(padded(x, padding, mode=NUMPY_BORDER[border])[None], weight, bias, stride, 0, dilation, groups)[0]


def windows(stage, x, outside):
    """Every window's samples, in one row each: channels x height x width x samples; beyond the picture: NaN, or a value."""
    size = pair(stage["size"])
    stride, dilation, padding = sampling(stage, x.shape[1:], size, stage["size"])
    counts, more = [], []
    for i in range(2):
        reach, full = (size[i] - 1) * dilation[i] + 1, x.shape[1 + i] + padding[i] + padding[i + 2]
        count = (full - reach) // stride[i] + 1
        if stage.get("ceil") and not isinstance(stage.get("padding"), str):
            count = -((reach - full) // stride[i]) + 1
            count -= (count - 1) * stride[i] >= x.shape[1 + i] + padding[i]
        counts.append(count)
        more.append(max((count - 1) * stride[i] + reach - full, 0))
    inner = padded(x, padding, constant_values=outside)
    outer = padded(inner, [0, 0] + more, constant_values=math.nan)
    rows = [torch.arange(counts[i])[:, None] * stride[i] + torch.arange(size[i])[None] * dilation[i] for i in range(2)]
    return outer[:, rows[0][:, None, :, None], rows[1][None, :, None, :]].flatten(3)


def maxpool(stage, x, tensor):
    w = windows(stage, x, math.nan)
    return torch.where(w.isnan().all(-1), 0.0, torch.where(w.isnan(), -math.inf, w).amax(-1))


def avgpool(stage, x, tensor):
    return windows(stage, x, 0.0 if stage.get("count_padding") else math.nan).nanmean(-1).nan_to_num(0.0)


def l2pool(stage, x, tensor):
    return windows(stage, x, math.nan).nan_to_num(0.0).square().sum(-1).sqrt()


def enlarged(function):
    def stage_of(stage, x, tensor, like=None):
        x = function(stage, x)
        return x if like is None else x[:, : like[0], : like[1]]

    return stage_of


STAGES = {
    "conv": conv,
    "maxpool": maxpool,
    "avgpool": avgpool,
    "l2pool": l2pool,
    "relu": lambda stage, x, tensor: F.relu(x),
    "leaky_relu": lambda stage, x, tensor: F.leaky_relu(x, stage.get("slope", 0.01)),
    "sigmoid": lambda stage, x, tensor: torch.sigmoid(x + stage.get("offset", 0)),
    "tanh": lambda stage, x, tensor: torch.tanh(x),
    "abs": lambda stage, x, tensor: x.abs(),
    "clamp": lambda stage, x, tensor: x.clamp(stage.get("low", -math.inf), stage.get("high", math.inf)),
    "scale": lambda stage, x, tensor: x * stage.get("gain", 1) + stage.get("offset", 0),
    "upsample": enlarged(lambda stage, x: x.repeat_interleave(pair(stage["factor"])[0], 1).repeat_interleave(
        pair(stage["factor"])[1], 2)),
    "shuffle": enlarged(lambda stage, x: F.pixel_shuffle(x[None], stage["factor"])[0]),
}  # fmt: skip
FUNCTIONS = "relu", "leaky_relu", "sigmoid", "tanh", "abs", "clamp", "scale"


def entry(given, picture, white, parameters):
    if given is None:
        return picture
    channels = given["channels"]
    low, high = given.get("range", [0, 1])
    if channels == 1 and len(picture) == 3:
        picture = (LUMA[:, None, None] * picture).sum(0, keepdim=True)
    if channels == 3 and len(picture) == 1:
        picture = picture.expand(3, -1, -1)
    x = picture / white * (high - low) + low
    column = lambda numbers: torch.tensor(numbers, dtype=torch.float64)[:, None, None]
    x = (x - column(given.get("mean", [0] * channels))) / column(given.get("std", [1] * channels))
    for plane in given.get("planes", []):
        value = plane.get("value")
        if value is None:
            value = parameters[plane["parameter"]] * plane.get("scale", 1) + plane.get("offset", 0)
        x = torch.cat([x, torch.full((1,) + x.shape[1:], value, dtype=torch.float64)])
    return x


def run_stages(stages, picture, x, tensor):
    """What the last stage makes; also what each of them makes, by its name."""
    made = {"picture": picture, "input": x}
    for stage in stages:
        if stage["stage"] == "add":
            x = x + made[stage["from"]]
        elif "like" in stage:
            x = STAGES[stage["stage"]](stage, x, tensor, made[stage["like"]].shape[1:])
        else:
            x = STAGES[stage["stage"]](stage, x, tensor)
        made[stage.get("name", "")] = x
    return x, made


def evaluate(file, tensor, picture, opacity, white, parameters):
    """Channels x height x width, the picture's opacity behind them where the network keeps it."""
    network = file
    if "networks" in file:
        wanted = 1 if len(picture) == 1 else 3
        network = next(n for n in file["networks"] if n["input"]["channels"] == wanted)
    given, output = network.get("input"), network.get("output", {})
    functions = all(stage["stage"] in FUNCTIONS for stage in network["stages"])
    if given is None and opacity is not None and not functions:
        picture, opacity = torch.cat([picture, opacity]), None
    x, _ = run_stages(network["stages"], picture, entry(given, picture, white, parameters), tensor)
    kind = output.get("as", "maps")
    if kind == "maps":
        return x if given or opacity is None else torch.cat([x, opacity])
    low, high = output.get("range", given.get("range", [0, 1]))
    x = picture + x / (high - low) * white if kind == "residual" else (x - low) / (high - low) * white
    return x if opacity is None else torch.cat([x, opacity])


# ---- random networks ----


class Maker:
    """Stages one after another, with the shape of what they make."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.stages, self.tensors, self.files = [], {}, {}
        self.shape = None  # channels, height, width
        self.shapes = {}  # of what has a name

    def tensor(self, shape, scale):
        name = f"t{len(self.tensors)}.weight" if self.random.random() < 0.9 else f"a{len(self.files)}.npy"
        array = self.numbers.normal(0, scale, shape).astype(np.float32)
        (self.files if name.endswith(".npy") else self.tensors)[name] = array
        return name

    def sides(self, low, high):
        values = [self.random.randint(low, high) for _ in range(2)]
        return values[0] if values[0] == values[1] else values

    def padding(self, most):
        kind = self.random.randrange(4)
        if kind == 0:
            return self.random.choice(["same", "same_lower"])
        if kind == 1:
            return [self.random.randint(0, most) for _ in range(4)]
        return self.sides(0, most)

    def append(self, stage, name=None):
        """Adds the stage where it makes anything."""
        if name:
            stage["name"] = name
        lookup = lambda key: torch.from_numpy((self.files | self.tensors)[key].astype(np.float64))
        zeros = {name: torch.zeros(shape) for name, shape in self.shapes.items()}
        try:
            x = torch.zeros(self.shape, dtype=torch.float64)
            if stage["stage"] == "add":
                assert zeros[stage["from"]].shape == x.shape
            else:
                like = (zeros[stage["like"]].shape[1:],) if "like" in stage else ()
                x = STAGES[stage["stage"]](stage, x, lookup, *like)
        except (RuntimeError, ValueError, IndexError):
            return False
        if min(x.shape) < 1 or x.numel() > 200000:
            return False
        self.shape = tuple(x.shape)
        self.shapes[stage.get("name", "")] = self.shape
        self.stages.append(stage)
        return True

    def conv(self, maps=None, plain=False):
        channels = self.shape[0]
        groups = self.random.choice([g for g in range(1, channels + 1) if channels % g == 0] if maps is None else [1])
        maps = maps or groups * self.random.randint(1, max(1, 8 // groups))
        kernel = [self.random.randint(1, 5) for _ in range(2)]
        depth = channels // groups
        stage = {"stage": "conv", "weight": self.tensor((maps, depth, *kernel), 1 / math.sqrt(depth * math.prod(kernel)))}
        if self.random.random() < 0.7:
            stage["bias"] = self.tensor((maps,), 0.3)
        if groups > 1:
            stage["groups"] = groups
        if self.random.random() < 0.5:
            stage["border"] = self.random.choice(list(NUMPY_BORDER))
        if plain:
            stage["padding"] = self.random.choice(["same", "same_lower"])
        else:
            stage["padding"] = self.padding(3)
            stage["stride"] = self.random.choice([1, 1, 1, self.sides(1, 3)])
        if self.random.random() < 0.3:
            stage["dilation"] = self.sides(1, 3)
        return self.append(stage)

    def pool(self):
        kind = self.random.choice(["maxpool", "avgpool", "l2pool"])
        stage = {"stage": kind, "size": self.sides(1, 4)}
        if self.random.random() < 0.5:
            stage["stride"] = self.sides(1, 3)
        if self.random.random() < 0.5:
            stage["padding"] = self.padding(2)
        if self.random.random() < 0.3:
            stage["dilation"] = self.sides(1, 2)
        if self.random.random() < 0.3:
            stage["ceil"] = True
        if kind == "avgpool" and self.random.random() < 0.5:
            stage["count_padding"] = True
        return self.append(stage)

    def function(self):
        r = self.random
        self.append(r.choice([
            {"stage": "relu"}, {"stage": "tanh"}, {"stage": "abs"}, {"stage": "sigmoid"},
            {"stage": "sigmoid", "offset": r.uniform(-1, 1)},
            {"stage": "leaky_relu"}, {"stage": "leaky_relu", "slope": r.uniform(0, 0.5)},
            {"stage": "clamp", "low": -r.random(), "high": r.random()}, {"stage": "clamp", "low": 0},
            {"stage": "scale", "gain": r.uniform(0.5, 2), "offset": r.uniform(-1, 1)},
        ]))  # fmt: skip

    def skip(self):
        fitting = [name for name, shape in self.shapes.items() if name and name != "picture" and shape == self.shape]
        if fitting:
            self.append({"stage": "add", "from": self.random.choice(fitting)})

    def mark(self):
        """A name for what the last stage makes."""
        if not self.stages:
            return "input"
        name = self.stages[-1].setdefault("name", self.random.choice(["n", "body.", "x-"]) + str(len(self.stages)))
        self.shapes[name] = self.shape
        return name

    def down_and_up(self, depth):
        """Smaller, something there, as large as before, and added to what was before."""
        name, channels = self.mark(), self.shape[0]
        factor = self.random.randint(2, 3)
        if not self.append({"stage": self.random.choice(["maxpool", "avgpool"]), "size": factor, "ceil": True}):
            return
        self.body(depth - 1)
        shuffle = self.random.random() < 0.5
        self.conv(channels * (factor * factor if shuffle else 1), plain=True)
        self.append({"stage": "shuffle" if shuffle else "upsample", "factor": factor, "like": name})
        self.append({"stage": "add", "from": name})

    def body(self, depth):
        for _ in range(self.random.randint(1, 3)):
            if depth and self.random.random() < 0.4:
                self.down_and_up(depth)
            else:
                self.conv(self.shape[0] if self.random.random() < 0.5 else None, plain=True)
            if self.random.random() < 0.6:
                self.function()
            if self.random.random() < 0.3:
                self.mark()
            if self.random.random() < 0.4:
                self.skip()

    def wild(self):
        """Whatever comes; sizes change."""
        makers = [self.conv, self.conv, self.pool, self.function, self.skip, lambda: self.mark() and None,
                  lambda: self.append({"stage": "upsample", "factor": self.sides(1, 3)}),
                  lambda: self.shape[0] % 4 == 0 and self.append({"stage": "shuffle", "factor": 2})]  # fmt: skip
        while len(self.stages) < 2 or self.random.random() < 0.8:
            self.random.choice(makers)()

    def input(self, channels):
        r = self.random
        given = {"channels": channels}
        if r.random() < 0.5:
            given["range"] = r.choice([[-1, 1], [-3, 3], [1, 0], [-0.5, 0.5]])
        if r.random() < 0.4:
            given["mean"] = [r.uniform(-0.5, 0.5) for _ in range(channels)]
        if r.random() < 0.4:
            given["std"] = [r.uniform(0.2, 2) for _ in range(channels)]
        planes = [r.choice([{"value": r.uniform(-1, 1)}, {"parameter": "sigma", "scale": 1 / 255},
                            {"parameter": "sigma", "scale": -0.01, "offset": 0.5}])
                  for _ in range(r.choice([0, 0, 1, 2]))]  # fmt: skip
        return given | ({"planes": planes} if planes else {})

    def network(self, channels, size, whole):
        """One network for pictures of that size: a plain chain of `channels`, or with an input of its own."""
        given = None if whole else self.input(channels)
        self.stages, self.shapes = [], {"picture": (channels, *size)}
        self.shape = (channels + len((given or {}).get("planes", [])), *size)
        self.shapes["input"] = self.shape
        kind = "maps" if whole else self.random.choice(["maps", "picture", "residual"])
        if kind != "maps" or self.random.random() < 0.4:
            self.body(2)
        else:
            self.wild()
        network = {"stages": self.stages}
        if given:
            network["input"] = given
        if kind != "maps":
            self.conv(self.random.choice([1, channels]), plain=True)
            network["output"] = {"as": kind}
            if self.random.random() < 0.4:
                network["output"]["range"] = [-2, 2]
        return network


def make_file(seed, colours, opacity, size):
    maker = Maker(seed)
    file = {"gpufilter": 1, "name": f"net{seed}"}
    shape = maker.random.randrange(4)
    if shape == 0:
        file |= maker.network(colours + opacity, size, True)
    elif shape == 1:
        pair_of = [maker.network(1, size, False), maker.network(3, size, False)]
        maker.random.shuffle(pair_of)
        file["networks"] = pair_of
    else:
        file |= maker.network(maker.random.choice([1, 3]), size, False)
    if maker.tensors:
        file["weights"] = f"net{seed}.safetensors"
    file["parameters"] = {"sigma": {"default": 25, "minimum": 0, "maximum": 75}}
    return file, maker


# ---- pictures and calls ----


def write_png(path, samples):
    """Samples: height x width x channels of 8 or 16 bits."""
    height, width, channels = samples.shape
    kinds = {1: 0, 2: 4, 3: 2, 4: 6}
    depth = samples.dtype.itemsize * 8
    rows = b"".join(b"\0" + row.astype(f">u{depth // 8}").tobytes() for row in samples)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kinds[channels], 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))  # fmt: skip


def make_picture(folder, rng, size, colours, opacity):
    """Path, samples as they are (channels x height x width), the value of white."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    kind = rng.choice(["u1", "u1", "u2", "f4"]) if not opacity else rng.choice(["u1", "u2"])
    shape = (*size, colours + opacity)
    if kind == "f4":
        samples = numbers.uniform(0, 255, shape).astype(np.float32)
        path = os.path.join(folder, "picture.npy")
        np.save(path, samples.transpose(2, 0, 1))
    else:
        samples = numbers.integers(0, 256 ** int(kind[1]), shape).astype(kind)
        path = os.path.join(folder, "picture.png")
        write_png(path, samples)
    white = 65535.0 if kind == "u2" else 255.0
    return path, torch.from_numpy(samples.transpose(2, 0, 1).astype(np.float64)), white


def run(program, picture, kernel, target, options):
    call = [program, picture, "--kernel", kernel, "-o", target, "--overwrite", *options]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()
    result = np.load(target).astype(np.float64)
    return (result[None] if result.ndim == 2 else result), None


def compare_floats(result, exact, tolerance):
    if result.shape != exact.shape:
        return f"shape {result.shape} instead of {exact.shape}"
    error = np.linalg.norm(result - exact) / max(np.linalg.norm(exact), 1e-30)
    return None if error <= tolerance else f"relative error {error:.3g}"


def compare_bytes(result, exact, white):
    exact = np.clip(exact * 255.0 / white, 0, 255)
    if result.shape != exact.shape:
        return f"shape {result.shape} instead of {exact.shape}"
    worst = np.abs(result - exact).max()
    return None if worst <= HALF_STEP else f"8 bits: off by {worst:g}"


def verdict(program, options, kernel, picture, exact, white, folder):
    """None, or what is wrong."""
    target = os.path.join(folder, "out.npy")
    devices = [[]] if options else [[], ["--device", "reference"]]
    for device in devices[: 1 if exact.size > SMALL else 2]:
        result, complaint = run(program, picture, kernel, target, [*options, *device, "--depth", "f32"])
        complaint = complaint or compare_floats(result, exact, RELATIVE)
        if complaint:
            return f"{' '.join(device)} {complaint}"
    result, complaint = run(program, picture, kernel, target, [*options, "--depth", "8"])
    return complaint or compare_bytes(result, exact, white)


def try_file(program, options, file, tensors, files, sigma, folder, case):
    """The file itself is written to the folder, and tried on the picture of the case."""
    picture, samples, white, colours = case
    opacity = samples[colours:] if len(samples) > colours else None
    numbers = {name: torch.from_numpy(array.astype(np.float64)) for name, array in (tensors | files).items()}
    exact = evaluate(file, numbers.__getitem__, samples[:colours], opacity, white, {"sigma": sigma}).numpy()
    path = os.path.join(folder, "net.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(file, stream)
    if tensors:
        save_file(tensors, os.path.join(folder, file["weights"]))
    for name, array in files.items():
        np.save(os.path.join(folder, name), array)
    kernel = f"@{path}:sigma={sigma}" if sigma != 25 else f"@{path}"
    return verdict(program, options, kernel, picture, exact, white, folder)


def report(what, complaint, arguments):
    """1 where there is something to complain of."""
    if complaint or arguments.verbose:
        print(f"{'failed' if complaint else 'passed'} {what}{': ' if complaint else ''}{complaint or ''}")
    return 1 if complaint else 0


def random_networks(arguments, schema):
    failures = 0
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        rng = random.Random(seed)
        colours, opacity = rng.choice([1, 3]), rng.choice([0, 0, 1])
        size = (rng.choice([rng.randint(5, 37), rng.randint(1, 9), rng.randint(60, 400)]), rng.randint(1, 37))
        file, maker = make_file(seed, colours, opacity, size)
        with tempfile.TemporaryDirectory() as folder:
            case = (*make_picture(folder, rng, size, colours, opacity), colours)
            sigma = rng.choice([25, 0, 7.5, 75])
            complaint = try_file(arguments.program, arguments.options, file, maker.tensors, maker.files, sigma, folder, case)
            complaint = complaint and complaint.replace(folder, "")
        if schema:
            jsonschema.validate(file, schema)
        failures += report(f"network {seed}", complaint, arguments)
        if complaint and arguments.verbose:
            print(json.dumps(file))
    return failures


def learned_networks(arguments, schema):
    """Those in the program come to what their files say."""
    failures = 0
    for name in sorted(f for f in os.listdir(arguments.learned) if f.endswith(".json")) if arguments.learned else []:
        with open(os.path.join(arguments.learned, name), encoding="utf-8") as stream:
            file = json.load(stream)
        tensors = load_file(os.path.join(arguments.learned, file["weights"]))
        numbers = {key: torch.from_numpy(array.astype(np.float64)) for key, array in tensors.items()}
        parameters = {key: value["default"] for key, value in file.get("parameters", {}).items()}
        if schema:
            jsonschema.validate(file, schema)
        for colours, opacity in (1, 0), (3, 0), (3, 1):
            with tempfile.TemporaryDirectory() as folder:
                picture, samples, white = make_picture(folder, random.Random(colours + opacity), (37, 50), colours, opacity)
                exact = evaluate(file, numbers.__getitem__, samples[:colours], samples[colours:] if opacity else None, white,
                                 parameters).numpy()  # fmt: skip
                complaint = verdict(arguments.program, arguments.options, name[:-5], picture, exact, white, folder)
            failures += report(f"{name}, {colours} + {opacity} channels", complaint, arguments)
    return failures


# ---- the manual ----


def literal(mark):
    """The first literal text of the manual page behind what is marked."""
    with open(MANUAL, encoding="utf-8") as page:
        return re.search(mark + r"[^\n]*\n.*?^\.Bd[^\n]*\n(.*?)^\.Ed", page.read(), re.S | re.M)[1].replace("\\e", "\\")


def read_schema():
    return json.loads(literal(r'^\.\\" schema')) if jsonschema else None


def compare_model(arguments, folder, model):
    """The file that was made of a model, on a picture of as many channels as it takes."""
    with open(os.path.join(folder, "net.json"), encoding="utf-8") as stream:
        file = json.load(stream)
    channels = file["input"]["channels"]
    picture, samples, white = make_picture(folder, random.Random(3), (19, 23), channels, 0)
    exact = model(samples / white).detach().numpy() * white
    return file, verdict(arguments.program, arguments.options, "@" + os.path.join(folder, "net.json"), picture, exact, white, folder)


def manual_examples(arguments, schema):
    """The example of a file, with weights of any value, and what the lines of Python make of a model."""
    torch.manual_seed(1)
    layer = lambda i, o, **options: torch.nn.Conv2d(i, o, 3, **options)
    first, middle, last = layer(2, 8, padding=1), layer(8, 8, padding=1), layer(8, 1, padding=1)
    chain = torch.nn.Sequential(layer(3, 6, padding="same", dilation=2), torch.nn.ReLU(), layer(6, 6, groups=3, bias=False),
                                torch.nn.Tanh(), layer(6, 3, stride=2, padding=2))  # fmt: skip
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "net.json"), "w", encoding="utf-8") as stream:
            stream.write(literal(r'^\.\\" example'))
        torch.nn.ModuleDict({"0": first, "2": middle, "4": last}).double()
        weights = torch.nn.ModuleDict({"0": first, "2": middle, "4": last}).state_dict()
        save_file({key: value.numpy() for key, value in weights.items()}, os.path.join(folder, "denoise3.safetensors"))

        def example(x):
            h = F.relu(first(torch.cat([x, torch.full_like(x, 25 / 255)])))
            return x + last(middle(h) + h)

        file, complaint = compare_model(arguments, folder, example)
        if schema:
            jsonschema.validate(file, schema)
        failures += report("the manual's example", complaint, arguments)
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        exec(compile(literal(r"^A torch.nn.Sequential"), MANUAL, "exec"), {"model": chain})
        os.chdir(before)
        _, complaint = compare_model(arguments, folder, chain.double())
        failures += report("the manual's export", complaint, arguments)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true", help="name what passes too")
    parser.add_argument("-n", "--count", type=int, default=60, help="how many random networks (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first of them (%(default)s)")
    parser.add_argument("--learned", help="the folder of the networks that the program brings along")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    schema = read_schema()
    failures = manual_examples(arguments, schema) + random_networks(arguments, schema) + learned_networks(arguments, schema)
    print(f"{failures} failed; {arguments.count} random networks from seed {arguments.seed}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
