#!/usr/bin/env python3
"""Reads a folder of event files as TensorBoard does, and fails where TensorBoard would not show all of it.

    check_tensorboard.py FOLDER [--scalar RUN/TAG]... [--histogram RUN/TAG]...
    check_tensorboard.py --self-test

Shares nothing with the library and needs nothing but Python: it knows TFRecord framing, protobuf's wire format, the
fields of Event, Summary and HistogramProto, and what TensorBoard does with them: files of a folder in the order of
their names, histograms as 32-bit floats that begin at min and end at max.  Prints a line for each curve.
"""
import argparse
import math
import os
import re
import struct
import sys

CLEAN_TAG = re.compile(r"[-/\w.]*\Z")


class Problem(Exception):
    """What TensorBoard would stumble over."""


def require(condition, what):
    if not condition:
        raise Problem(what)


# --- TFRecord ---------------------------------------------------------------------------------------------------------


def crc_table():
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


CRC_TABLE = crc_table()


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        where = f"record at byte {at}"
        require(at + 12 <= len(data), f"{where}: cut within its header")
        length, length_crc = struct.unpack_from("<QI", data, at)
        require(length_crc == masked_crc32c(data[at : at + 8]), f"{where}: wrong checksum of its length")
        require(at + 16 + length <= len(data), f"{where}: cut, wants {length} bytes")
        payload = data[at + 12 : at + 12 + length]
        (crc,) = struct.unpack_from("<I", data, at + 12 + length)
        require(crc == masked_crc32c(payload), f"{where}: wrong checksum of its payload")
        yield where, payload
        at += 16 + length


# --- protobuf ---------------------------------------------------------------------------------------------------------


def varint(data, at):
    number = shift = 0
    while True:
        require(at < len(data) and shift < 70, "a varint that does not end")
        number |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return number, at
        shift += 7


def fields(data):
    """(number, wire type, content) of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            content, at = varint(data, at)
        else:
            require(kind in (1, 2, 5), f"wire type {kind}")
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            require(at + size <= len(data), "a field that is cut")
            content, at = data[at : at + size], at + size
        yield tag >> 3, kind, content


def message(data, known):
    """The fields by name, each at most once; `known`: (number, wire type) -> name."""
    found = {}
    for number, kind, content in fields(data):
        require((number, kind) in known, f"field {number} of wire type {kind}, which is not expected here")
        name = known[number, kind]
        require(name not in found, f"two fields {name}")
        found[name] = content
    return found


def double(content):
    return struct.unpack("<d", content)[0]


def doubles(content):
    require(len(content) % 8 == 0, "a packed list that is cut")
    return list(struct.unpack(f"<{len(content) // 8}d", content))


def text(content):
    try:
        return content.decode()
    except UnicodeDecodeError as damage:
        raise Problem(f"text that is no UTF-8: {damage}") from damage


# --- TensorBoard ------------------------------------------------------------------------------------------------------

EVENT = {(1, 1): "wall_time", (2, 0): "step", (3, 2): "file_version", (5, 2): "summary"}
VALUE = {(1, 2): "tag", (2, 5): "simple_value", (5, 2): "histo"}
HISTOGRAM_NUMBERS = ("min", "max", "num", "sum", "sum_squares")
HISTOGRAM = {(i + 1, 1): name for i, name in enumerate(HISTOGRAM_NUMBERS)}
HISTOGRAM |= {(6, 2): "bucket_limit", (7, 2): "bucket"}


def as_float(number):
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.inf


def check_histogram(data):
    found = message(data, HISTOGRAM)
    numbers = {name: double(found[name]) if name in found else 0.0 for name in HISTOGRAM_NUMBERS}
    limits = doubles(found.get("bucket_limit", b""))
    buckets = doubles(found.get("bucket", b""))
    for name, number in numbers.items():
        require(math.isfinite(number), f"{name} is {number}")
    require(limits and len(limits) == len(buckets), f"{len(limits)} limits for {len(buckets)} buckets")
    require(all(map(math.isfinite, limits)), "a limit that is not finite")
    require(all(a < b for a, b in zip(limits, limits[1:])), "limits do not increase")
    require(all(count >= 0 and count == int(count) for count in buckets), "a bucket that is no count")
    require(numbers["num"] > 0, "a histogram of nothing")
    require(sum(buckets) == numbers["num"], f"the buckets hold {sum(buckets)} of {numbers['num']}")
    require(numbers["min"] <= numbers["max"], "min above max")
    # What is drawn: from the first bucket that is not empty to the last, from min to max, in floats.
    full = [i for i, count in enumerate(buckets) if count > 0]
    inner = limits[full[0] : full[-1]]
    edges = [as_float(edge) for edge in [numbers["min"], *inner, numbers["max"]]]
    require(all(map(math.isfinite, edges)), "an edge that is infinite as a float")
    require(all(a <= b for a, b in zip(edges, edges[1:])), "a bucket that ends before it begins")
    require(full[0] == 0 or limits[full[0] - 1] <= numbers["min"], "min lies before its bucket")
    require(numbers["max"] <= limits[full[-1]], "max lies behind its bucket")


class Run:
    """A folder with event files: what TensorBoard calls a run."""

    def __init__(self, may_repeat=False):
        self.may_repeat = may_repeat
        self.points = {"scalar": {}, "histogram": {}}  # tag -> steps

    def read(self, data):
        is_first = True
        for where, payload in records(data):
            try:
                event = message(payload, EVENT)
                require(math.isfinite(double(event.get("wall_time", bytes(8)))), "no time")
                require(("file_version" in event) == is_first, "the version has to come first, and once")
                require("summary" not in event or not is_first, "a version and a summary in one event")
                if is_first:
                    require(text(event["file_version"]) == "brain.Event:2", "another version")
                elif "summary" in event:
                    self.add(event.get("step", 0), event["summary"])
            except Problem as problem:
                raise Problem(f"{where}: {problem}") from problem
            is_first = False
        require(not is_first, "an empty file")

    def add(self, step, summary):
        require(step < 1 << 63, "a negative step")
        for number, kind, content in fields(summary):
            require((number, kind) == (1, 2), "something else than a value in a summary")
            value = message(content, VALUE)
            tag = text(value.get("tag", b""))
            require(tag and CLEAN_TAG.match(tag) and not tag.startswith("/"), f"the tag {tag!r}")
            require(("histo" in value) != ("simple_value" in value), f"{tag}: neither scalar nor histogram, or both")
            shape = "histogram" if "histo" in value else "scalar"
            if shape == "histogram":
                try:
                    check_histogram(value["histo"])
                except Problem as problem:
                    raise Problem(f"{tag} at step {step}: {problem}") from problem
            steps = self.points[shape].setdefault(tag, [])
            require(not steps or steps[-1] < step or (self.may_repeat and steps[-1] == step), f"{tag}: step {step} comes after step {steps[-1:]}")
            steps.append(step)


def read_folder(folder, may_repeat=False):
    """may_repeat: of what a tag has twice at a step, TensorBoard shows both."""
    runs = {}
    for place, _, names in os.walk(folder):
        # TensorBoard takes every name that has "tfevents" in it: what is left of an unfinished write, too.
        names = sorted(name for name in names if "tfevents" in name)
        for name in names:
            run = runs.setdefault(os.path.relpath(place, folder), Run(may_repeat))
            try:
                require(name.endswith(".tfevents"), "a name that no writer gives a whole file")
                with open(os.path.join(place, name), "rb") as file:
                    run.read(file.read())
            except Problem as problem:
                raise Problem(f"{os.path.join(place, name)}: {problem}") from problem
    require(runs, f"no event files in {folder}")
    return runs


def check_folder(folder, wanted):
    runs = read_folder(folder)
    for shape, names in wanted.items():
        for name in names:
            run, _, tag = name.partition("/")
            require(run in runs and tag in runs[run].points[shape], f"no {shape} {name}")
    for name, run in sorted(runs.items()):
        for shape, tags in run.points.items():
            for tag, steps in sorted(tags.items()):
                print(f"{name}  {shape:9}  {tag}  {len(steps)} steps, {steps[0]} to {steps[-1]}")


# --- whether this finds anything --------------------------------------------------------------------------------------


def framed(payload):
    length = struct.pack("<Q", len(payload))
    sums = [struct.pack("<I", masked_crc32c(part)) for part in (length, payload)]
    return length + sums[0] + payload + sums[1]


def field(number, content):
    if isinstance(content, float):
        return bytes([number << 3 | 1]) + struct.pack("<d", content)
    if isinstance(content, list):
        content = struct.pack(f"<{len(content)}d", *content)
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def event(step, tag, value):
    return field(1, 1.5) + bytes([0x10, step]) + field(5, field(1, field(1, tag) + value))


def histogram(**changes):
    numbers = {"min": 1.0, "max": 2.0, "num": 3.0, "sum": 4.0, "sum_squares": 6.0, "limits": [0.5, 1.5, 3.0]}
    numbers |= {"buckets": [0.0, 2.0, 1.0]} | changes
    return field(5, b"".join(field(i + 1, content) for i, content in enumerate(numbers.values())))


def self_test():
    version = framed(field(1, 1.0) + field(3, b"brain.Event:2"))
    scalar = b"\x15" + struct.pack("<f", 0.5)
    good = version + framed(event(0, b"a/b", scalar)) + framed(event(1, b"a/b", scalar))
    good += framed(event(1, b"h", histogram()))
    Run().read(good)

    nan, infinity = math.nan, math.inf
    bad = {f"byte {i} changed": good[:i] + bytes([good[i] ^ 4]) + good[i + 1 :] for i in range(len(good))}
    bad |= {f"cut at {i}": good[:i] for i in (len(version) - 1, len(version) + 5, len(good) - 1)}
    bad |= {"no file": b"", "no version": framed(event(0, b"a", scalar)), "two versions": version + version}
    bad["version 1"] = framed(field(3, b"brain.Event:1"))
    bad["steps fall"] = good + framed(event(0, b"a/b", scalar))
    tags = (b"", b"/a", b"a b", b"a:0", b"\xff")
    bad |= {f"tag {tag}": version + framed(event(0, tag, scalar)) for tag in tags}
    bad["no value"] = version + framed(event(0, b"a", b""))
    bad["two values"] = version + framed(event(0, b"a", scalar + histogram()))
    changes = [{name: value} for name in HISTOGRAM_NUMBERS for value in (nan, infinity)]
    changes += [{"num": 4.0}, {"min": 3.0}, {"min": 0.25}, {"max": 3.5}, {"min": 1.75, "max": 1.8}]
    changes += [{"limits": limits} for limits in ([], [0.5, 3.0], [0.5, 0.5, 3.0], [0.5, 1.5, infinity])]
    changes += [{"limits": [0.5, 1.5, 1e39], "max": 1e39}, {"buckets": [0.0, 2.5, 0.5]}, {"buckets": [-1.0, 3.0, 1.0]}]
    bad |= {f"histogram {change}": version + framed(event(0, b"h", histogram(**change))) for change in changes}
    for what, data in bad.items():
        try:
            Run().read(data)
        except Problem:
            continue
        raise Problem(f"self-test: {what} was not found")
    print(f"self-test: all {len(bad)} kinds of damage were found")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--scalar", action="append", default=[], metavar="RUN/TAG", help="has to be there")
    parser.add_argument("--histogram", action="append", default=[], metavar="RUN/TAG", help="has to be there")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test == (arguments.folder is not None):
        parser.error("give either a folder or --self-test")
    try:
        if arguments.self_test:
            self_test()
        else:
            check_folder(arguments.folder, {"scalar": arguments.scalar, "histogram": arguments.histogram})
    except Problem as problem:
        sys.exit(f"FAILED: {problem}")


if __name__ == "__main__":
    main()
