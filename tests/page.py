#!/usr/bin/env python3
"""Reads a page of --report as a strict reader: page.py WHAT FILE [ARGUMENT...].

check          tags are balanced, nothing is fetched from elsewhere, images have texts, ids are unique,
               links lead somewhere; prints a line an image: what it shows, its size, its colour type
text           all text of the page, one element a line
pixel N X Y    the samples of image N, from 0 on, at a place
colours [RRGGBB]   of a PNG file: how many colours it has, or how many pixels have that one
Pictures are decoded here, with nothing but zlib.
"""
import base64
import html.parser
import re
import struct
import sys
import zlib

VOID = {"meta", "img", "br", "link", "input", "hr"}
FETCHING = {"src", "href", "srcset", "data", "poster", "action", "xlink:href", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.images, self.ids, self.links, self.texts = [], [], [], [], []
        self.elements = []
        assert text.startswith("<!DOCTYPE html>\n")
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.start(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert "svg" in self.open or tag in VOID, f"<{tag}/> outside of svg"
        self.start(tag, attributes)

    def start(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"twice the same attribute: {names}"
        self.elements.append(tag)
        values = dict(attributes)
        for name, value in attributes:
            assert not name.startswith("on"), f"{tag} {name}"
            if name == "id":
                self.ids.append(value)
            if name in FETCHING:
                assert value.startswith(("data:image/png;base64,", "#")), f"{tag} {name}={value[:60]}"
                if value.startswith("#"):
                    self.links.append(value[1:])
        if tag == "img":
            assert values["alt"].strip(), "an image without text"
            self.images.append((values["alt"], values["src"].split(",", 1)[1], values["width"], values["height"]))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> within {self.open}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script") and data.strip():
            self.texts.append(" ".join(data.split()))
        if self.open and self.open[-1] == "style":
            assert not re.search(r"url\(|@import|https?:", data), "style from elsewhere"


def chunks(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        crc, = struct.unpack(">I", png[at + 8 + size:at + 12 + size])
        assert crc == zlib.crc32(name + body)
        yield name, body
        at += 12 + size
    assert name == b"IEND"


def unfilter(kind, row, above, step):
    for i in range(len(row)):
        a = row[i - step] if i >= step else 0
        b, c = above[i], above[i - step] if i >= step else 0
        if kind == 4:
            p = a + b - c
            best = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        else:
            best = (0, a, b, (a + b) // 2)[kind]
        row[i] = (row[i] + best) & 255
    return row


def decode(png):
    """(width, height, channels, rows), 8 bits a sample."""
    parts = list(chunks(png))
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    assert depth == 8 and not interlaced
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    data = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    stride = width * channels + 1
    assert len(data) == stride * height
    rows, above = [], bytearray(stride - 1)
    for y in range(height):
        row = bytearray(data[y * stride + 1:(y + 1) * stride])
        above = unfilter(data[y * stride], row, above, channels)
        rows.append(above)
    return width, height, channels, rows


def check(page):
    assert len(page.ids) == len(set(page.ids)), "an id twice"
    assert set(page.links) <= set(page.ids), "a link to nowhere"
    for tag in ("title", "h1", "main", "style", "html", "head", "body"):
        assert page.elements.count(tag) >= 1, f"no <{tag}>"
    for alt, data, width, height in page.images:
        w, h, channels, _ = decode(base64.b64decode(data, validate=True))
        assert (str(w), str(h)) == (width, height)
        print(f"{alt} {w}x{h} {channels}")


def colours(path, wanted=None):
    with open(path, "rb") as file:
        width, _, channels, rows = decode(file.read())
    count = {}
    for row in rows:
        for x in range(width):
            pixel = row[x * channels:x * channels + 3].hex()
            count[pixel] = count.get(pixel, 0) + 1
    print(count.get(wanted, 0) if wanted else len(count))


def main(what, path, *rest):
    if what == "colours":
        colours(path, *rest)
        return
    with open(path, encoding="utf-8", newline="") as file:
        page = Page(file.read())
    if what == "check":
        check(page)
    elif what == "text":
        print("\n".join(page.texts))
    else:
        number, x, y = map(int, rest)
        _, _, channels, rows = decode(base64.b64decode(page.images[number][1]))
        print(*rows[y][x * channels:(x + 1) * channels])


main(*sys.argv[1:])
