"""The learned filters' networks: what they compute, and how they become filter files.

A HalfNet works at half resolution: a 5x5 convolution of stride 2, then 3x3 convolutions, then a pixel
shuffle back to full size; what comes out is added to the picture. The same parameter that the user types
(the noise's or the blur's sigma) is a constant plane beside the picture. It follows FFDNet (Zhang, Zuo,
Zhang: FFDNet, IEEE Transactions on Image Processing, 2018). All borders repeat the nearest sample.

Needs: torch, safetensors, numpy.
"""
import json
import pathlib

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

SHAPES = {  # tensor prefix: channels, maps, 3x3 layers between the first and the last, scale of the parameter
    "color": (3, 48, 8, 1 / 255),
    "gray": (1, 32, 8, 1 / 255),
    "deblur": (1, 32, 8, 1 / 2),
}


class HalfNet(nn.Module):
    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix
        self.channels, maps, depth, self.scale = SHAPES[prefix]
        sizes = [self.channels + 1] + [maps] * (depth + 1) + [4 * self.channels]
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 5 if i == 0 else 3, stride=2 if i == 0 else 1, padding=2 if i == 0 else 1,
                      padding_mode="replicate")
            for i, (a, b) in enumerate(zip(sizes, sizes[1:])))

    @torch.no_grad()
    def begin(self, share):
        """The weights before training: layers that hand on what they get, plus a share of the usual random
        weights; a first layer that looks at differences. From there the network learns at once; from random
        weights alone it takes thousands of iterations."""
        first, *between, last = self.layers
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
        picture = first.weight[:, :-1]
        picture.sub_(picture.mean((1, 2, 3), keepdim=True)).mul_(3)
        for layer in between:
            layer.weight.mul_(share)
            layer.weight[:, :, 1, 1] += torch.eye(len(layer.weight))
        last.weight.mul_(0.1)

    def forward(self, picture, parameter):
        """picture: N x channels x H x W, 0 is black and 1 white; parameter: N numbers."""
        height, width = picture.shape[-2:]
        plane = (parameter * self.scale).reshape(-1, 1, 1, 1).expand(-1, 1, height, width)
        x = torch.cat([picture, plane.to(picture)], 1)
        for layer in self.layers[:-1]:
            x = functional.relu(layer(x))
        x = functional.pixel_shuffle(self.layers[-1](x), 2)      # of ceil(H/2) x ceil(W/2): cut to the picture
        return picture + x[..., :height, :width]

    def operations(self):
        """Multiplications and additions per sample of the picture's grid."""
        return sum(2 * layer.weight.numel() for layer in self.layers) / 4

    def tensors(self):
        return {f"{self.prefix}.{i}.{kind}": getattr(layer, kind).detach().half().contiguous()
                for i, layer in enumerate(self.layers) for kind in ("weight", "bias")}

    def load(self, tensors):
        with torch.no_grad():
            for i, layer in enumerate(self.layers):
                for kind in ("weight", "bias"):
                    getattr(layer, kind).copy_(tensors[f"{self.prefix}.{i}.{kind}"].to(layer.weight.dtype))
        return self

    def description(self):
        """The network as a filter file says it."""
        stages = []
        for i, layer in enumerate(self.layers):
            stages.append({"stage": "conv", "weight": f"{self.prefix}.{i}.weight", "bias": f"{self.prefix}.{i}.bias",
                           "stride": layer.stride[0], "padding": layer.padding[0], "border": "replicate"})
            if i + 1 < len(self.layers):
                stages.append({"stage": "relu"})
        stages.append({"stage": "shuffle", "factor": 2, "like": "picture"})
        return {"input": {"channels": self.channels, "range": [0, 1],
                          "planes": [{"parameter": "sigma", "scale": self.scale}]},
                "stages": stages, "output": {"as": "residual"}}


FILES = {
    "denoise": {
        "summary": "removes noise (a convolutional network at half resolution)",
        "parameters": {"sigma": {"default": 25, "minimum": 0, "maximum": 75,
                                 "summary": "standard deviation of the noise, in steps of 8 bits"}},
        "networks": ["gray", "color"],
    },
    "deblur": {
        "summary": "sharpens what a small blur has softened (a convolutional network at half resolution)",
        "parameters": {"sigma": {"default": 1, "minimum": 0.5, "maximum": 2,
                                 "summary": "standard deviation of the blur, in pixels"}},
        "networks": ["deblur"],
    },
    "natural": {
        "summary": "32 filters that natural pictures ask for, learned without labels (one map each)",
        "networks": [],
    },
}


def dumps(thing, indent=0):
    """JSON, one stage a line."""
    pad = "  " * indent
    if isinstance(thing, dict) and ("networks" in thing or "stages" in thing or "parameters" in thing):
        rows = [f'{pad}  {json.dumps(key)}: {dumps(value, indent + 1)}' for key, value in thing.items()]
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    if isinstance(thing, list) and thing and isinstance(thing[0], dict) and indent:
        return "[\n" + ",\n".join(f"{pad}  {dumps(one, indent + 1)}" for one in thing) + f"\n{pad}]"
    return json.dumps(thing)


def write_whole(path, write):
    """Writes beside the file and renames, so that a reader never sees half of it."""
    path = pathlib.Path(path)
    beside = path.with_name(f".{path.name}.new")
    write(beside)
    beside.chmod(0o644)
    beside.replace(path)


def export(folder, name, tensors):
    """Writes name.json and name.safetensors; tensors of other networks of the same file are kept."""
    folder = pathlib.Path(folder)
    weights = folder / f"{name}.safetensors"
    if weights.exists():
        tensors = load_file(weights) | tensors
    else:
        for prefix in FILES[name]["networks"]:
            tensors = HalfNet(prefix).tensors() | tensors
    write_whole(weights, lambda path: save_file(dict(sorted(tensors.items())), path))
    head = {"gpufilter": 1, "name": name, "weights": weights.name} | FILES[name]
    parts = [HalfNet(prefix).description() for prefix in head.pop("networks")]
    if name == "natural":
        parts = [{"input": {"channels": 1, "range": [0, 255]},
                  "stages": [{"stage": "conv", "weight": "bank.weight", "padding": 4, "border": "replicate"}],
                  "output": {"as": "maps"}}]
    head |= {"networks": parts} if len(parts) > 1 else parts[0]
    write_whole(folder / f"{name}.json", lambda path: path.write_text(dumps(head) + "\n"))


def read(folder, prefix, dtype=torch.float32):
    """The network as exported, its weights rounded to 16 bits."""
    name = "deblur" if prefix == "deblur" else "denoise"
    net = HalfNet(prefix).load(load_file(pathlib.Path(folder) / f"{name}.safetensors"))
    return net.to(dtype).eval()
