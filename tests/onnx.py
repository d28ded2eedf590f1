#!/usr/bin/env python3
"""Holds conv, the pools and the functions of one sample to the conformance cases that ONNX publishes.

    pip install onnx
    tests/onnx.py [-v] GPUFILTER [OPTION...]

The options go to every call, as --device cuda --algorithm direct. Each case of the package `onnx` whose graph is a
chain of the operators below becomes one call: its input as .npy, its weights as .npy, its attributes as parameters of
the filters, and the output is compared with the one that the case publishes. Cases that no filter can express are
skipped, those that a forced --algorithm cannot run are counted as refused; both with the reason. Exit status: 0 all
good, 1 some case failed, 77 the package is not there.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
import warnings

del sys.path[0]  # the folder of this file, which has the package's name
try:
    import numpy as np
    import onnx
    from onnx.backend.test import loader
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

warnings.filterwarnings("ignore", module="onnx")  # casts that its other cases are about

KINDS = "node", "pytorch-converted", "pytorch-operator", "simple"
RELATIVE_TO_LARGEST = 1e-6  # besides the case's own relative tolerance


class Skip(Exception):
    """No filter says what the case asks for."""


# ---- operators to filters ----


def sizes(values):
    return "x".join(str(v) for v in values)


def spatial(attributes, name, default):
    """An attribute with a number for each direction, as two of them."""
    values = list(attributes.get(name, []))
    return [default] * (2 - len(values)) + values


def padding(attributes):
    kind = attributes.get("auto_pad", b"NOTSET").decode()
    if kind in ("SAME_UPPER", "SAME_LOWER"):
        return {"SAME_UPPER": "same", "SAME_LOWER": "same_lower"}[kind]
    pads = list(attributes.get("pads", []))
    half = len(pads) // 2
    return sizes([0] * (2 - half) + pads[:half] + [0] * (2 - half) + pads[half:])


def sampling(attributes):
    stride = sizes(spatial(attributes, "strides", 1))
    dilation = sizes(spatial(attributes, "dilations", 1))
    return f"stride={stride}:padding={padding(attributes)}:dilation={dilation}"


def plane_rank(shape):
    """1 or 2: over how many directions the windows move."""
    if len(shape) not in (3, 4):
        raise Skip(f"{len(shape) - 2}-D windows")
    return len(shape) - 2


def conv(attributes, arrays, shape, folder):
    plane_rank(shape)
    weights = arrays[1].reshape(arrays[1].shape[:2] + (1,) * (4 - arrays[1].ndim) + arrays[1].shape[2:])
    text = f"conv:weights={save(folder, weights)}:{sampling(attributes)}:groups={attributes.get('group', 1)}"
    if len(arrays) > 2 and arrays[2] is not None:
        text += f":bias={save(folder, arrays[2])}"
    return text


def pool(name):
    def text(attributes, arrays, shape, folder):
        plane_rank(shape)
        size = sizes(spatial(attributes, "kernel_shape", 1))
        ceil = ":ceil=yes" if attributes.get("ceil_mode") else ""
        count = ":count=padding" if attributes.get("count_include_pad") else ""
        if name == "l2pool" and attributes.get("p", 2) != 2:
            raise Skip(f"norm p = {attributes['p']}")
        return f"{name}:size={size}:{sampling(attributes)}{ceil}{count}"

    return text


def whole(name):
    """The pool over all of a picture."""

    def text(attributes, arrays, shape, folder):
        plane_rank(shape)
        size = sizes(([1] + list(shape[2:]))[-2:])
        return f"{name}:size={size}"

    return text


OPERATORS = {
    "Conv": conv,
    "MaxPool": pool("maxpool"),
    "AveragePool": pool("avgpool"),
    "LpPool": pool("l2pool"),
    "GlobalMaxPool": whole("maxpool"),
    "GlobalAveragePool": whole("avgpool"),
    "Relu": lambda *_: "relu",
    "Sigmoid": lambda *_: "sigmoid",
    "Tanh": lambda *_: "tanh",
    "Abs": lambda *_: "abs",
}
WINDOWED = "Conv", "MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool"


# ---- cases ----

Case = collections.namedtuple("Case", "name model sets rtol")


def load_sets(folder):
    for entry in sorted(os.listdir(folder)):
        if entry.startswith("test_data_set_") and os.path.isdir(os.path.join(folder, entry)):
            yield [
                [load_tensor(os.path.join(folder, entry, f"{what}_{i}.pb")) for i in range(1000)
                 if os.path.exists(os.path.join(folder, entry, f"{what}_{i}.pb"))]
                for what in ("input", "output")
            ]  # fmt: skip


def load_tensor(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return onnx.numpy_helper.to_array(tensor)


def is_wanted(operators):
    return not operators.isdisjoint(WINDOWED) or operators <= set(OPERATORS)


def cases():
    """Every published case that has windows, or nothing but operators of the table."""
    for kind in KINDS:
        try:
            found = loader.load_model_tests(kind=kind)
        except ValueError:  # a version of the package without this folder
            continue
        for test in sorted(found, key=lambda test: test.name):
            model, sets = test.model, test.data_sets
            if model is None and test.model_dir:
                model = onnx.load(os.path.join(test.model_dir, "model.onnx"))
            if model is None or not is_wanted({node.op_type for node in model.graph.node}):
                continue
            sets = sets if sets is not None else list(load_sets(test.model_dir))
            yield Case(f"{kind}/{test.name}", model, sets, test.rtol)


def as_array(value):
    return value if isinstance(value, np.ndarray) else onnx.numpy_helper.to_array(value)


def attributes_of(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def chain(graph):
    """The axes of length 1 that are put in before the first node and taken out after the last, and the nodes, each of
    which takes what the node before it made and hands on one thing."""
    nodes, axes = list(graph.node), ()
    if len(nodes) > 2 and (nodes[0].op_type, nodes[-1].op_type) == ("Unsqueeze", "Squeeze"):
        axes = tuple(attributes_of(nodes[0])["axes"])
        nodes = nodes[1:-1]
    others = sorted({node.op_type for node in nodes} - set(OPERATORS))
    if others:
        raise Skip(f"operators besides: {', '.join(others)}")
    if any(len([output for output in node.output if output]) > 1 for node in nodes):
        raise Skip("Indices output")
    if any(node.input[0] != before.output[0] for before, node in zip(nodes, nodes[1:])):
        raise Skip("not a chain")
    return axes, nodes


# ---- running ----


def save(folder, array):
    path = os.path.join(folder, f"{len(os.listdir(folder))}.npy")
    np.save(path, array)
    return path


def as_picture(array, windowed):
    """N x C x H x W."""
    if array.dtype not in (np.uint8, np.uint16, np.float16, np.float32, np.float64):
        raise Skip(f"pictures of {array.dtype}")
    if windowed:
        plane_rank(array.shape)
        return array.reshape(array.shape[:2] + (1,) * (4 - array.ndim) + array.shape[2:])
    return array.reshape((1, 1, 1, -1) if array.ndim < 2 else (1, 1, -1, array.shape[-1]))


def kernel_text(nodes, values, shape, folder):
    filters = []
    for node in nodes:
        arrays = [values.get(name) for name in node.input]
        if node is not nodes[0] and node.op_type.startswith("Global"):
            raise Skip("a global pool behind another operator")
        filters.append(OPERATORS[node.op_type](attributes_of(node), arrays, shape, folder))
    return ",".join(filters)


def run_set(case, inputs, outputs, program, options):
    """None, or why it failed or was refused."""
    graph = case.model.graph
    constants = {tensor.name: as_array(tensor) for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in constants]
    if len(names) != len(inputs):  # old models list their weights as inputs too
        names = [value.name for value in graph.input]
    values = dict(constants, **{name: as_array(array) for name, array in zip(names, inputs)})
    expected = as_array(outputs[0])
    axes, nodes = chain(graph)
    first = np.expand_dims(values[graph.node[0].input[0]], axes)
    windowed = any(node.op_type in WINDOWED for node in nodes)
    with tempfile.TemporaryDirectory() as folder:
        picture = as_picture(first, windowed)
        text = kernel_text(nodes, values, first.shape, folder)
        target = os.path.join(folder, "out.npy")
        call = [program, save(folder, picture), "--kernel", text, "-o", target, *options]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr.strip().replace(folder + "/", "")
        result = np.load(target)
    if result.size != expected.size:
        return f"shape {result.shape} instead of {expected.shape} by {text}"
    difference = np.abs(result.reshape(expected.shape).astype(np.float64) - expected)
    largest = np.max(np.abs(expected), initial=0.0)
    if not np.all(difference <= case.rtol * np.abs(expected) + RELATIVE_TO_LARGEST * largest):
        return f"off by {np.max(difference):g} of {largest:g} by {text}"
    return None


def verdict(case, program, options):
    """(verdict, reason)"""
    try:
        for inputs, outputs in case.sets:
            reason = run_set(case, inputs, outputs, program, options)
            if reason is not None:
                forced = options[options.index("--algorithm") + 1] if "--algorithm" in options else None
                return "refused" if forced and f" {forced}: " in reason else "failed", reason
    except Skip as skip:
        return "skipped", str(skip)
    return "passed", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", "--verbose", action="store_true", help="name the cases that pass, too")
    parser.add_argument("program")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    counts = collections.Counter()
    for case in cases():
        result, reason = verdict(case, arguments.program, arguments.options)
        counts[result] += 1
        if arguments.verbose or result != "passed":
            print(f"{result:8} {case.name}{': ' if reason else ''}{reason}")
    print(", ".join(f"{counts[what]} {what}" for what in ("passed", "failed", "refused", "skipped")))
    sys.exit(1 if counts["failed"] or not counts["passed"] + counts["refused"] else 0)


if __name__ == "__main__":
    main()
