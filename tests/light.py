#!/usr/bin/env python3
"""Holds --linear, and the profiles of outputs, to colour profiles and gamma chunks that are made here, byte by byte.

    pip install numpy
    tests/light.py GPUFILTER [OPTION...]

Profiles follow ICC.1:2010: the formulas of its table 65, and tables, which mean straight lines between their numbers.
What a filter should make of each picture is computed in double precision, the way back from light by searching a fine
table of the way there. Exit status: 0 all is as computed, 1 something is not, 77 NumPy is not there.
"""
import struct
import subprocess
import sys
import tempfile
import zlib

del sys.path[0]  # the folder of this file, which has a package's name
try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

FINE = np.linspace(0, 1, (1 << 22) + 1)
TAPS = [1 / 8, 1 / 2, 3 / 8]
KERNEL = ["--kernel", "3x1/8: 1 4 3"]

# ---- files ----


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(path, picture, *chunks):
    height, width, channels = picture.shape
    bits = 8 * picture.dtype.itemsize
    colour_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = picture.astype(picture.dtype.newbyteorder(">"))
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))
    header = struct.pack(">IIBBBBB", width, height, bits, colour_type, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        for name, content in chunks:
            file.write(chunk(name, content))
        file.write(chunk(b"IDAT", data) + chunk(b"IEND", b""))


def fixed(*numbers):
    return b"".join(struct.pack(">i", round(number * 65536)) for number in numbers)


def para(kind, *numbers):
    return b"para\0\0\0\0" + struct.pack(">HH", kind, 0) + fixed(*numbers)


def curv(*numbers):
    return b"curv\0\0\0\0" + struct.pack(f">I{len(numbers)}H", len(numbers), *numbers)


def lut():
    """The smallest lut16Type there is: a cube of 2 x 2 x 2 colours."""
    corners = [65535 * (i >> shift & 1) for i in range(8) for shift in (2, 1, 0)]
    return (b"mft2\0\0\0\0" + bytes([3, 3, 2, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(">HH", 2, 2)
            + struct.pack(">6H", *[0, 65535] * 3) + struct.pack(">24H", *corners)
            + struct.pack(">6H", *[0, 65535] * 3))  # fmt: skip


def profile(space, tags, kind=b"mntr", connection=b"XYZ "):
    text = "x".encode("utf-16-be")
    tags = [(b"desc", b"mluc\0\0\0\0" + struct.pack(">II4sII", 1, 12, b"enUS", len(text), 28) + text),
            (b"wtpt", b"XYZ \0\0\0\0" + fixed(0.9642, 1, 0.8249)), *tags]  # fmt: skip
    at, table, data = 132 + 12 * len(tags), b"", b""
    for name, content in tags:
        table += name + struct.pack(">II", at + len(data), len(content))
        data += content + b"\0" * (-len(content) % 4)
    header = struct.pack(">I4xI4s4s4s6H4s", at + len(data), 0x04200000, kind, space, connection, 2020, 1, 1, 0, 0, 0, b"acsp")
    header += b"\0" * 28 + fixed(0.9642, 1, 0.8249)
    return header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + data


def rgb(red, green=None, blue=None):
    primaries = (b"rXYZ", (0.4361, 0.2225, 0.0139)), (b"gXYZ", (0.3851, 0.7169, 0.0971)), (b"bXYZ", (0.1431, 0.0606, 0.7141))
    curves = zip((b"rTRC", b"gTRC", b"bTRC"), (red, green or red, blue or red))
    return profile(b"RGB ", [(name, b"XYZ \0\0\0\0" + fixed(*xyz)) for name, xyz in primaries] + list(curves))


def iccp(data):
    return b"iCCP", b"profile\0\0" + zlib.compress(data)


# ---- curves: what they say of x, numbers as a profile stores them ----


def stored(number):
    return round(number * 65536) / 65536


def formula(kind, *numbers):
    g, a, b, c, d, e, f = [*map(stored, numbers), *[0] * (7 - len(numbers))]

    def light(x):
        if kind == 0:
            return x**g
        power = np.maximum(a * x + b, 0) ** g
        return {1: lambda: np.where(x >= -b / a, power, 0), 2: lambda: np.where(x >= -b / a, power + c, c),
                3: lambda: np.where(x >= d, power, c * x), 4: lambda: np.where(x >= d, power + e, c * x + f)}[kind]()  # fmt: skip

    return light, para(kind, *numbers)


def table(numbers):
    return lambda x: np.interp(x, np.linspace(0, 1, len(numbers)), np.array(numbers) / 65535), curv(*numbers)


def srgb(x):
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


SRGB = formula(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
REC709 = formula(3, 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081)
X = np.linspace(0, 1, 256)
ODD = table([round(65535 * y) for y in 0.7 * X**1.5 + 0.3 * X**3])
CURVES = {
    "Display P3": [SRGB],
    "BT.709": [REC709],
    "ProPhoto RGB": [formula(3, 1.8, 1, 0, 1 / 16, 1 / 32)],
    "CIE L*": [formula(3, 3, 1 / 1.16, 0.16 / 1.16, 2700 / 24389, 0.08)],
    "type 0": [formula(0, 2.6)],
    "type 1": [formula(1, 2.2, 0.9, 0.1)],
    "type 2": [formula(2, 2.2, 0.9, 0.05, 0.02)],
    "type 4": [formula(4, 2, 7 / 8, 1 / 8, 1 / 4, 1 / 16, -68 / 65536, 1 / 64)],
    "Adobe RGB": [(lambda x: x ** (563 / 256), curv(563))],
    "no numbers": [(lambda x: x, curv())],
    "two numbers": [table([0, 65535])],
    "256 numbers": [ODD],
    "sRGB in 1024 numbers": [(srgb, curv(*(round(65535 * y) for y in srgb(np.linspace(0, 1, 1024)))))],
    "a curve for each colour": [REC709, ODD, formula(0, 2.2)],
}

# ---- what should come out ----


def decode(picture, curves, white):
    return np.dstack([curves[c % len(curves)](picture[:, :, c] / white) for c in range(picture.shape[2])])


def encode(light, curves, white):
    planes = []
    for c in range(light.shape[2]):
        there = curves[c % len(curves)](FINE)
        planes.append(white * np.interp(light[:, :, c], there, FINE))
    return np.dstack(planes)


def correlate(picture):
    padded = np.pad(picture, ((0, 0), (1, 1), (0, 0)), "edge")
    return sum(tap * padded[:, i : i + picture.shape[1]] for i, tap in enumerate(TAPS))


def wanted(picture, curves, opacity):
    white = float(np.iinfo(picture.dtype).max)
    if not opacity:
        return encode(correlate(decode(picture, curves, white)), curves, white)
    colours, alpha = picture[:, :, :-1], picture[:, :, -1:].astype(float)
    light, weight = decode(colours, curves, white), correlate(alpha)
    return np.dstack([encode(correlate(light * alpha) / weight, curves, white), weight])


failures = 0


def report(name, trouble):
    global failures
    if trouble:
        failures += 1
    print(f"{'not ok' if trouble else 'ok'} - {name}{': ' if trouble else ''}{trouble or ''}")


def run(call, *arguments):
    return subprocess.run([*call, "--linear", *KERNEL, *arguments], capture_output=True, text=True, check=False)


def check(call, folder, name, picture, curves, *chunks):
    source, target = f"{folder}/in.png", f"{folder}/out.npy"
    png(source, picture, *chunks)
    bits = 8 * picture.dtype.itemsize
    result = run(call, source, "-o", target, "--overwrite", "--depth", str(bits))
    if result.returncode:
        return report(name, result.stderr.strip())
    out = np.load(target)
    out = out[:, :, None] if out.ndim == 2 else out.transpose(1, 2, 0)
    error = np.abs(out - wanted(picture, curves, picture.shape[2] in (2, 4))).max()
    return report(name, "" if error <= {8: 0.501, 16: 0.55}[bits] else f"{error} steps from what it should be")


def check_run(call, folder, picture):
    """Pictures of one size in one run: each is filtered by the curves of its own profile."""
    names = list(CURVES)
    for i, name in enumerate(names):
        png(f"{folder}/{i}.png", picture, iccp(rgb(*(encoded for _, encoded in CURVES[name]))))
    sources = [f"{folder}/{i}.png" for i in range(len(names))]
    result = run(call, *sources, "-j", "1", "--depth", "8", "--format", "npy", "--name", "{stem}{ext}", "-o", f"{folder}/run/")
    worst = 0.0
    for i, name in enumerate(names):
        exact = wanted(picture, [light for light, _ in CURVES[name]], False).transpose(2, 0, 1)
        worst = max(worst, np.abs(np.load(f"{folder}/run/{i}.npy") - exact).max()) if result.returncode == 0 else np.inf
    report("all of them in one run", "" if worst <= 0.501 else f"{worst} steps from what it should be {result.stderr}")


def refused(call, folder, name, why, data, *arguments):
    source = f"{folder}/in.png"
    png(source, np.zeros((2, 2, 3), np.uint8), iccp(data))
    result = run(call, source, "-o", f"{folder}/refused.png", *arguments)
    said = result.stderr.strip()
    report(name, "" if result.returncode and f"{source}: its colour profile {why}" in said else f"said {said!r}")


# ---- profiles of outputs ----


def profile_in(path):
    """The profile of a JPEG (ICC.1:2010, annex B.4) or PNG, or nothing."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\xff\xd8":
        at = data.find(b"\xff\xe2")
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        return data[at + 18 : at + 2 + length] if data[at + 4 : at + 16] == b"ICC_PROFILE\0" else b""
    at = data.find(b"iCCP")
    length = int.from_bytes(data[at - 4 : at], "big")
    return zlib.decompress(data[at + 4 : at + 4 + length].split(b"\0\0", 1)[1]) if at > 0 else b""


def tag(data, name):
    for i in range(int.from_bytes(data[128:132], "big")):
        signature, at, size = struct.unpack(">4sII", data[132 + 12 * i : 144 + 12 * i])
        if signature == name:
            return data[at : at + size]
    return b""


def power_of(curve):
    """Of a curve that is one power."""
    if curve[:4] == b"curv":
        return int.from_bytes(curve[12:14], "big") / 256
    return int.from_bytes(curve[12:16], "big") / 65536 if curve[8:10] == b"\0\0" else None


def adapted(white, primaries):
    """X Y Z of red, green and blue under D50: their sum is white, which goes to D50 by Bradford's matrix."""
    bradford = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    to_xyz = lambda x, y: np.array([x / y, 1, (1 - x - y) / y])
    columns = np.array([to_xyz(*xy) for xy in primaries]).T
    columns = columns * np.linalg.solve(columns, to_xyz(*white))
    ratio = (bradford @ [0.9642, 1, 0.8249]) / (bradford @ to_xyz(*white))
    return np.linalg.inv(bradford) @ np.diag(ratio) @ bradford @ columns


def written(call, folder, chunks, name, *arguments):
    """The profile of an output called `name` of a picture with these chunks."""
    png(f"{folder}/in.png", np.zeros((2, 2, 3), np.uint8), *chunks)
    path = f"{folder}/{name}"
    subprocess.run([*call, f"{folder}/in.png", "--kernel", "box", "-o", path, "--overwrite", *arguments], check=True)
    return profile_in(path)


def check_written(call, folder):
    gamma, d65 = (b"gAMA", struct.pack(">I", 55556)), (0.3127, 0.329)
    srgb_primaries, wide = ((0.64, 0.33), (0.3, 0.6), (0.15, 0.06)), ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06))
    numbers = [round(100000 * n) for n in np.ravel((d65, *wide))]
    colours = b"cHRM", struct.pack(">8I", *numbers)
    for name, chunks, primaries in (("gAMA", [gamma], srgb_primaries), ("gAMA and cHRM", [gamma, colours], wide)):
        made = written(call, folder, chunks, "out.jpg")
        xyz = [struct.unpack(">3i", tag(made, t)[8:20] or bytes(12)) for t in (b"rXYZ", b"gXYZ", b"bXYZ")]
        far = np.abs(np.array(xyz).T / 65536 - adapted(d65, primaries)).max()
        powers = [power_of(tag(made, t)) for t in (b"rTRC", b"gTRC", b"bTRC")]
        good = made[16:20] == b"RGB " and far < 1e-3 and powers == [stored(1 / 0.55556)] * 3
        report(f"{name}, from PNG to JPEG", "" if good else f"primaries {far} off, powers {powers}")
        again = written(call, folder, [iccp(made)], "again.png")
        report(f"{name}, and back", "" if again == made else "another profile")
        gray = written(call, folder, chunks, "gray.jpg", "--gray")
        good = gray[16:20] == b"GRAY" and power_of(tag(gray, b"kTRC")) == stored(1 / 0.55556)
        report(f"{name}, gray, from PNG to JPEG", "" if good else "another curve")
    old = b"gAMA", struct.pack(">I", 45455)
    curve = tag(written(call, folder, [old, colours], "out.jpg"), b"rTRC")
    report("sRGB's gamma and cHRM, from PNG to JPEG", "" if curve == SRGB[1] else "another curve")
    own = b"cHRM", struct.pack(">8I", *(round(100000 * n) for n in np.ravel((d65, *srgb_primaries))))
    for chunks in [old], [old, own]:
        made = written(call, folder, chunks, "out.jpg")
        report(f"what is sRGB by {len(chunks)}, from PNG to JPEG", "a profile" if made else "")
    report("sRGB, from PNG to JPEG", "a profile" if written(call, folder, [(b"sRGB", b"\0"), gamma], "out.jpg") else "")
    for name in "gray.png", "gray.jpg":
        own = written(call, folder, [iccp(rgb(*(encoded for _, encoded in CURVES["a curve for each colour"])))], name, "--gray")
        good = own[16:20] == b"GRAY" and tag(own, b"kTRC")[:524] == ODD[1]
        report(f"a profile's green, {name}", "" if good else "another curve")


def main():
    call = sys.argv[1:]
    random = np.random.default_rng(8)
    with tempfile.TemporaryDirectory() as folder:
        for sample in np.uint8, np.uint16:
            bits, most = 8 * np.dtype(sample).itemsize, np.iinfo(sample).max + 1
            noise = random.integers(0, most, (23, 31, 4), sample)
            noise[:8] //= 16  # dark, where curves differ most
            noise[:, :, 3] |= 1  # nothing is divided by no opacity
            for name, curves in CURVES.items():
                data = iccp(rgb(*(encoded for _, encoded in curves)))
                lights = [light for light, _ in curves]
                check(call, folder, f"{name}, {bits} bits", noise[:, :, :3], lights, data)
                check(call, folder, f"{name}, {bits} bits, opacity", noise, lights, data)
            for name, (light, encoded) in {"gray 2.2": formula(0, 2.2), "gray table": ODD}.items():
                data = iccp(profile(b"GRAY", [(b"kTRC", encoded)]))
                check(call, folder, f"{name}, {bits} bits", noise[:, :, :1], [light], data)
                check(call, folder, f"{name}, {bits} bits, opacity", noise[:, :, [0, 3]], [light], data)
            gamma = b"gAMA", struct.pack(">I", 55556)
            colours = b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000)
            power = [lambda x: x ** (1 / 0.55556)]
            check(call, folder, f"gAMA, {bits} bits", noise[:, :, :3], power, gamma)
            check(call, folder, f"gAMA and cHRM, {bits} bits", noise[:, :, :3], power, gamma, colours)
            again, zeros = (b"gAMA", struct.pack(">I", 45455)), (b"cHRM", bytes(32))
            check(call, folder, f"gAMA twice, {bits} bits", noise[:, :, :3], power, gamma, again)
            check(call, folder, f"gAMA and cHRM of zeros, {bits} bits", noise[:, :, :3], power, zeros, gamma)
            light, encoded = formula(0, 1.8)
            data = iccp(rgb(encoded))
            for name, chunks in {"before": [(b"sRGB", b"\0"), data], "behind": [data, (b"sRGB", b"\0")]}.items():
                check(call, folder, f"sRGB {name} a profile, {bits} bits", noise[:, :, :3], [light], *chunks)
            check(call, folder, f"cHRM, {bits} bits", noise[:, :, :3], [srgb], colours)
            check(call, folder, f"sRGB and gAMA, {bits} bits", noise[:, :, :3], [srgb], (b"sRGB", b"\0"), gamma)
        check_run(call, folder, random.integers(0, 256, (9, 14, 3), np.uint8))
        printer = profile(b"RGB ", [(b"A2B0", lut()), (b"B2A0", lut())], b"prtr", b"Lab ")
        refused(call, folder, "tables of colours", "has no curves of light", printer)
        refused(call, folder, "a falling curve", "has a curve by which light does not grow", rgb(curv(65535, 0)))
        refused(call, folder, "a border for each colour", "has a curve of light for each colour",
                rgb(*(encoded for _, encoded in CURVES["a curve for each colour"])), "--border", "constant:7")  # fmt: skip
        check_written(call, folder)
    return 1 if failures else 0


sys.exit(main())
