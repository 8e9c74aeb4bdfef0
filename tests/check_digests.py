#!/usr/bin/env python3
"""check_digests.py [--write] ROOT: recomputes, from the definition in docs/guarantees.md alone, the digests of
tests/data/digests/vectors.txt, which the C++ tests read, and those of the page's table.  --write: writes the file.

A line is: dtype shape content digest.  The shape is "2x3", or "-" without extents.  The content is in hexadecimal, "-" if
it is empty, or "pattern:N": N bytes, of which byte k is (k * k + 7 * k + 13) mod 251."""
import pathlib
import re
import struct
import sys

NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9, "bool": 10,
           "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23, "float8_e5m2": 24,
           "float8_e4m3fn": 25}
SIZES = {"float32": 4, "float64": 8, "int32": 4, "uint8": 1, "int16": 2, "int8": 1, "complex64": 8, "int64": 8, "bool": 1,
         "bfloat16": 2, "uint16": 2, "complex128": 16, "float16": 2, "uint32": 4, "uint64": 8, "float8_e5m2": 1,
         "float8_e4m3fn": 1}
ALL = (1 << 64) - 1
STRIDE = 0x9E3779B97F4A7C15


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & ALL
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & ALL
    return x ^ x >> 31


def digest(dtype, shape, content):
    padded = content + bytes(-len(content) % 8)
    words = struct.unpack(f"<{len(padded) // 8}Q", padded)
    h = sum(mix(word + (i + 1) * STRIDE & ALL) for i, word in enumerate(words)) & ALL
    for value in (NUMBERS[dtype], len(shape), *shape, len(content)):
        h = mix((h ^ value) + STRIDE & ALL)
    return h - (1 << 64) if h >> 63 else h


def parsed(shape, content):
    extents = [] if shape == "-" else [int(each) for each in shape.split("x")]
    if content.startswith("pattern:"):
        return extents, bytes((k * k + 7 * k + 13) % 251 for k in range(int(content.removeprefix("pattern:"))))
    return extents, b"" if content == "-" else bytes.fromhex(content)


def vectors():
    """Every dtype; 0-d, empty, and lengths around words, vectors and rows of them."""
    for dtype, size in SIZES.items():
        yield dtype, "-", f"pattern:{size}"
        yield dtype, "0", "-"
        yield dtype, "3x5", f"pattern:{15 * size}"
    yield "float32", "-", "0000803f"
    yield "float32", "2x3", struct.pack("<6f", *range(1, 7)).hex()
    yield "float32", "3x2", struct.pack("<6f", *range(1, 7)).hex()
    yield "float32", "0x4", "-"
    yield "float32", "4x0", "-"
    yield "int64", "-", "ff" * 8
    yield "bool", "3", "010001"
    yield "uint8", "8", "00" * 8
    yield "uint8", "9", "00" * 9
    yield "uint8", "16", "00" * 16
    for size in (1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 4095, 16384, 16385, 100003):
        yield "uint8", str(size), f"pattern:{size}"


def main():
    arguments = sys.argv[1:]
    write = "--write" in arguments
    root = pathlib.Path([each for each in arguments if each != "--write"][0])
    path = root / "tests/data/digests/vectors.txt"
    lines = [f"{dtype} {shape} {content} {digest(dtype, *parsed(shape, content))}\n" for dtype, shape, content in vectors()]
    if write:
        path.write_text("".join(lines))
        return 0
    failed = 0
    if path.read_text() != "".join(lines):
        print(f"{path}: not what the definition gives; see --write")
        failed = 1
    page = (root / "docs/guarantees.md").read_text()
    rows = re.findall(r"^\| `?(\w+)`? \| `?([-\dx]+)`? \| `([-\da-f]+)` \| `(-?\d+)` \|$", page, re.MULTILINE)
    if len(rows) < 4:
        print(f"docs/guarantees.md: its table of digests is not found, or has only {len(rows)} rows")
        failed = 1
    for dtype, shape, content, given in rows:
        if digest(dtype, *parsed(shape, content)) != int(given):
            print(f"docs/guarantees.md: {dtype} {shape} {content}: {given}, but the definition gives "
                  f"{digest(dtype, *parsed(shape, content))}")
            failed = 1
        if f"{dtype} {shape} {content} {given}\n" not in lines:
            print(f"docs/guarantees.md: {dtype} {shape} {content} is not in {path.name}, which the C++ tests read")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
