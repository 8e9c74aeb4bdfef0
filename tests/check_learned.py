#!/usr/bin/env python3
"""Compares `smdebug learn` and the rule learned with a second implementation, written from the specification alone, over small random
runs: files as parsed JSON, findings by kind, place, numbers and text.

check_learned.py SMDEBUG [--cases N] [--seed S] [--keep FOLDER]"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

MODES = {"TRAIN": 1, "EVAL": 2, "PREDICT": 3, "GLOBAL": 4}
# dtype: TensorFlow's code, struct's letter
TYPES = {"float32": (1, "f"), "float64": (2, "d"), "int32": (3, "i"), "uint8": (4, "B"), "int64": (9, "q"), "bool": (10, "?"),
         "float16": (19, "e"), "complex64": (8, "ff"), "string": (7, None)}

# Writing runs -------------------------------------------------------------------------------------------------------


def crc_table():
    table = []
    for i in range(256):
        crc = i
        for _ in range(8):
            crc = (crc >> 1) ^ 0x82F63B78 if crc & 1 else crc >> 1
        table.append(crc)
    return table


CRC = crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


MAGIC = struct.pack("<I", masked_crc(b"0x12345678"))


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def whole(number, value):
    return varint(number << 3) + varint(value)


def content_of(save):
    letter = TYPES[save["dtype"]][1]
    return b"".join(struct.pack("<" + letter, *(value if isinstance(value, tuple) else (value,))) for value in save["values"])


def record(name, step, mode, mode_step, dtype, shape, content, strings=()):
    dims = b"".join(field(2, (whole(1, extent) if extent else b"")) for extent in shape)
    tensor = whole(1, TYPES[dtype][0]) + field(2, dims)
    tensor += b"".join(field(8, text) for text in strings) if strings else (field(4, content) if content else b"")
    meta = b"".join(field(1, field(1, key) + field(2, str(value).encode()))
                    for key, value in ((b"mode_step", mode_step), (b"mode", mode)))
    value = field(1, name.encode()) + field(8, tensor) + field(9, meta)
    payload = b"\x09" + struct.pack("<d", 1.6e9) + (whole(2, step) if step else b"") + field(5, field(1, value))
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", masked_crc(head)) + payload + MAGIC


def write_run(path, run):
    """A run: {"workers": [...], "steps": [{"step", "mode", "mode_step", "saves": {worker: [save, ...]}}]}; a save: name, dtype, shape,
    values or strings; or reductions {name: number}; or a shape alone."""
    folder = pathlib.Path(path, "collections", "000000000")
    folder.mkdir(parents=True)
    for worker in run["workers"]:
        (folder / f"{worker}_collections.json").write_text(
            json.dumps({"collections": {}, "_meta": {"num_workers": len(run["workers"])}}))
    for at in run["steps"]:
        for worker, saves in at["saves"].items():
            step = at["step"]
            name = f"events/{step:012d}/{step:012d}_{worker}.tfevents"
            file = pathlib.Path(path, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            events, payloads, shapes = b"", [], []

            def put(tensor, dtype, shape, content, strings=()):
                nonlocal events
                one = record(tensor, step, MODES[at["mode"]], at["mode_step"], dtype, shape, content, strings)
                payloads.append({"tensorname": tensor, "start_idx": len(events), "length": len(one)})
                events += one

            for save in saves:
                if "strings" in save:
                    put(save["name"], "string", save["shape"], b"", save["strings"])
                elif "values" in save:
                    put(save["name"], save["dtype"], save["shape"], content_of(save))
                elif "shape" in save:
                    shapes.append({"tensorname": save["name"], "originalname": save["name"], "shape": save["shape"]})
                for which, number in save.get("reductions", {}).items():
                    put(f"smdebug/reductions/{which}/{save['name']}", "float32", [], struct.pack("<f", number))
            file.write_bytes(events)
            index = pathlib.Path(path, "index", f"{step // 1000:09d}")
            index.mkdir(parents=True, exist_ok=True)
            (index / f"{step:012d}_{worker}.json").write_text(json.dumps(
                {"meta": {"mode": at["mode"], "mode_step": at["mode_step"], "event_file_name": name},
                 "tensor_payload": payloads, "shape_payload": shapes}))
    pathlib.Path(path, "training_job_end.ts").touch()


# One save -----------------------------------------------------------------------------------------------------------


def finite(number):
    return number is not None and math.isfinite(number)


def single(number):
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


class Look:
    """A save as section 2 sees it."""

    def __init__(self, save, kept):
        self.void = "strings" in save or save.get("dtype", "").startswith("complex")
        self.has_values = "values" in save and not self.void
        self.dtype = save["dtype"] if self.has_values else None
        self.shape = save.get("shape")
        self.n = math.prod(self.shape) if self.shape is not None else None
        reductions = {key: single(number) for key, number in save.get("reductions", {}).items()}
        values = [float(value) for value in save["values"]] if self.has_values else None
        self.content = None
        self.bad, self.share, self.least, self.greatest, self.numbers = None, math.nan, None, None, {}
        if self.void:
            return
        if self.has_values:
            self.bad = any(not math.isfinite(value) for value in values)
            self.share = sum(not math.isfinite(value) for value in values) / len(values) if values else math.nan
            self.content = ("values", self.dtype, tuple(self.shape), content_of(save))
        else:
            extremes = [reductions[key] for key in ("min", "max", "abs_min", "abs_max") if key in reductions]
            self.bad = any(not math.isfinite(one) for one in extremes) if extremes else None
            if reductions:
                self.content = ("reductions", tuple(sorted(reductions)), tuple(
                    struct.pack("<d", reductions[key]) for key in sorted(reductions)))
        if self.bad or self.n == 0 or save["name"].startswith("digest/"):
            return
        least = reductions.get("min", min(values) if values else None)
        greatest = reductions.get("max", max(values) if values else None)
        self.least = least if finite(least) else None
        self.greatest = greatest if finite(greatest) else None
        if self.n == 1:
            number = values[0] if values else next(
                (reductions[key] for key in ("mean", "sum", "max", "min") if key in reductions), None)
            if finite(number):
                self.numbers["value"] = number
            return
        for key in kept:
            number = self.number(key, reductions, values)
            if finite(number):
                self.numbers[key] = number

    @staticmethod
    def number(key, saved, values):
        if key == "zeros":
            return sum(value == 0 for value in values) / len(values) if values else None
        if key in saved:
            return saved[key]
        if key in ("l1", "l2") and "abs_" + key in saved:
            return saved["abs_" + key]
        if key == "abs_max" and "min" in saved and "max" in saved:
            return max(abs(saved["min"]), abs(saved["max"]))
        if not values:
            return None
        mean = math.fsum(values) / len(values)
        return {"abs_max": lambda: max(map(abs, values)),
                "abs_mean": lambda: math.fsum(map(abs, values)) / len(values),
                "l1": lambda: math.fsum(map(abs, values)),
                "l2": lambda: math.sqrt(math.fsum(value * value for value in values)),
                "max": lambda: max(values), "min": lambda: min(values), "mean": lambda: mean,
                "std": lambda: math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))}[key]()

    def pairs_with(self, before):
        return before[0] == self.content[0] and (before[0] == "values" or before[1] == self.content[1])


def window(s):
    if s < 4:
        return s
    e = s.bit_length() - 1
    return s - s % 2 ** (e - 2)


def window_end(begin):
    return begin if begin < 4 else begin + 2 ** (begin.bit_length() - 3) - 1


# One run ------------------------------------------------------------------------------------------------------------


def entries_of(run):
    """{(tensor, mode): [(i, s, global step, worker, save), ...]}, and {mode: [s, ...]}."""
    modes, entries = {}, {}
    for at in sorted(run["steps"], key=lambda one: one["step"]):
        steps = modes.setdefault(at["mode"], [])
        steps.append(at["mode_step"])
        for worker in sorted(at["saves"]):
            for save in at["saves"][worker]:
                entries.setdefault((save["name"], at["mode"]), []).append((len(steps), at["mode_step"], at["step"], worker, save))
    return entries, modes


def facts_of_entry(saves, steps, kept):
    """Facts as lists of what was seen: joined by join_entries."""
    looks = [(i, s, step, worker, Look(save, kept)) for i, s, step, worker, save in saves]
    saved_at = {i for i, *_ in looks}
    every = [0, 0]
    newest = (0, steps[0])
    for i, s in enumerate(steps, 1):
        every = [max(every[0], i - newest[0]), max(every[1], s - newest[1])]
        if i in saved_at:
            newest = (i, s)
    looks = [each for each in looks if not each[4].void]
    pairs, last = [], {}
    for _, _, _, worker, look in looks:
        if look.content is not None:
            if worker in last and look.pairs_with(last[worker]):
                pairs.append(last[worker] == look.content)
            last[worker] = look.content
    by_step = {}
    for _, _, step, _, look in looks:
        if look.has_values:
            by_step.setdefault(step, []).append(look.content)
    replicas = [len(set(contents)) == 1 for contents in by_step.values() if len(contents) >= 2]
    numbers = {}
    for _, s, _, _, look in looks:
        for key, number in look.numbers.items():
            numbers.setdefault(key, {}).setdefault(window(s), []).append(number)
    return {"every": every, "dtypes": {look.dtype for *_, look in looks if look.has_values},
            "shapes": [look.shape for *_, look in looks if look.shape is not None],
            "bad": [look.bad for *_, look in looks if look.bad is not None],
            "least": [look.least for *_, look in looks if look.least is not None],
            "greatest": [look.greatest for *_, look in looks if look.greatest is not None],
            "pairs": pairs, "scalar": any(look.n == 1 for *_, look in looks), "replicas": replicas, "numbers": numbers}


def tied_of_run(run, kept):
    tensors = {}
    for (tensor, _), saves in entries_of(run)[0].items():
        tensors.setdefault(tensor, []).extend(saves)
    alike = {}
    for tensor, saves in tensors.items():
        looks = [(step, worker, Look(save, kept)) for _, _, step, worker, save in sorted(saves, key=lambda one: (one[2], one[3]))]
        if any(look.void for *_, look in looks):
            continue
        with_values = [each for each in looks if each[2].has_values]
        facts = [facts_of_entry(of_mode, [s for _, s, *_ in of_mode], kept)
                 for (name, _), of_mode in entries_of(run)[0].items() if name == tensor]
        if not with_values or any(look.n < 2 for *_, look in with_values) or all(all(one["pairs"]) for one in facts):
            continue
        alike.setdefault(tuple((step, worker, look.content) for step, worker, look in with_values), []).append(tensor)
    return [(set(names), len(key)) for key, names in alike.items() if len(names) > 1]


# Many runs ----------------------------------------------------------------------------------------------------------

LADDER = [0.05 * 2 ** k for k in range(7)]


def bounds(key, a, b, m):
    if key in ("l1", "l2", "abs_max", "abs_mean", "std"):
        return a / (1 + m), b * (1 + m)
    if key == "zeros":
        return a - m, b + m
    width = m * max(abs(a), abs(b))
    return a - width, b + width


def margins(key, series, runs):
    """down, up of {window: {run: (least, greatest)}}."""
    found = {}
    for side in ("down", "up"):
        rungs = []
        for numbers in series.values():
            if len(numbers) < 2:
                continue
            if side == "down":
                one = min(numbers, key=lambda run: (numbers[run][0], run))
                others = [numbers[run] for run in numbers if run != one]
                a, b = min(low for low, _ in others), max(high for _, high in others)
                rungs.append(next((k for k in range(7) if not numbers[one][0] < bounds(key, a, b, LADDER[k])[0]), 7))
            else:
                one = min(numbers, key=lambda run: (-numbers[run][1], run))
                others = [numbers[run] for run in numbers if run != one]
                a, b = min(low for low, _ in others), max(high for _, high in others)
                rungs.append(next((k for k in range(7) if not numbers[one][1] > bounds(key, a, b, LADDER[k])[1]), 7))
        if rungs and runs >= 2:
            place = max(rungs) + (2 if runs >= 20 else 3)
            if place <= 6:
                found[side] = LADDER[place]
    return found


def suspects_of(key, series, runs):
    """The runs that alarm when left out: by all numbers of all runs, not by the three that a file keeps."""
    found = set()
    names = {run for numbers in series.values() for run in numbers}
    for one in names:
        others = {at: {run: numbers[run] for run in numbers if run != one} for at, numbers in series.items()}
        others = {at: numbers for at, numbers in others.items() if numbers}
        sides = margins(key, others, runs - 1)
        for at, numbers in others.items():
            count = len(numbers)
            if one not in series[at] or count < 2 or 2 * count < runs - 1:
                continue
            least, greatest = series[at][one]
            a, b = min(low for low, _ in numbers.values()), max(high for _, high in numbers.values())
            if "down" in sides and least < bounds(key, a, b, sides["down"])[0]:
                found.add(one)
            if "up" in sides and greatest > bounds(key, a, b, sides["up"])[1]:
                found.add(one)
    return found


def learn(runs, kept):
    """The file of {name: run}."""
    names = sorted(runs, key=lambda name: name.encode())
    place = {name: i for i, name in enumerate(names)}
    file = {"format": "smdebug learned", "version": 1, "reductions": sorted(kept), "runs": names, "suspects": [], "modes": {},
            "tensors": {}, "tied": []}
    entries, suspects, tied = {}, set(), None
    for name in names:
        of_run, modes = entries_of(runs[name])
        for mode, steps in modes.items():
            at = file["modes"].setdefault(mode, {"runs": 0, "last": 0})
            at["runs"] += 1
            at["last"] = max(at["last"], max(steps))
        for key, saves in of_run.items():
            entries.setdefault(key, {})[name] = facts_of_entry(saves, modes[key[1]], kept)
        classes = tied_of_run(runs[name], kept)
        if tied is None:
            tied = classes
        else:
            tied = [(one & other, saves + more) for one, saves in tied for other, more in classes if len(one & other) > 1]
    for (tensor, mode), by_run in entries.items():
        every = list(by_run.values())
        entry = {"runs": len(every), "every": {"saves": max(one["every"][0] for one in every),
                                               "steps": max(one["every"][1] for one in every)}, "numbers": {}}
        dtypes = set().union(*(one["dtypes"] for one in every))
        if len(dtypes) <= 8:
            entry["dtype"] = sorted(dtypes)
        shapes = [shape for one in every for shape in one["shapes"]]
        if not shapes:
            entry["shape"] = None
        elif len({len(shape) for shape in shapes}) == 1:
            entry["shape"] = [extents[0] if len(set(extents)) == 1 else None for extents in zip(*shapes)]
        bad = [one for of_run in every for one in of_run["bad"]]
        if not any(bad):
            entry["finite"] = len(bad)
        if all(least >= 0 for one in every for least in one["least"]):
            entry["nonnegative"] = sum(bool(one["least"]) for one in every)
        if all(greatest <= 0 for one in every for greatest in one["greatest"]):
            entry["nonpositive"] = sum(bool(one["greatest"]) for one in every)
        pairs = [pair for one in every for pair in one["pairs"]]
        if all(pairs):
            entry["constant"] = len(pairs)
        if not any(pairs) and (tensor.startswith("digest/") or not any(one["scalar"] for one in every)):
            entry["changing"] = len(pairs)
        replicas = [same for one in every for same in one["replicas"]]
        if all(replicas):
            entry["replicas"] = len(replicas)
        for key in sorted({key for one in every for key in one["numbers"]}):
            series = {}
            for name, one in by_run.items():
                for at, numbers in one["numbers"].get(key, {}).items():
                    series.setdefault(at, {})[name.encode()] = (min(numbers), max(numbers))
            count = sum(key in one["numbers"] for one in every)
            windows = []
            for at, numbers in sorted(series.items()):
                low = sorted(numbers, key=lambda run: (numbers[run][0], run))[:3]
                high = sorted(numbers, key=lambda run: (-numbers[run][1], run))[:3]
                windows.append({"from": at, "runs": len(numbers),
                                "low": [[numbers[run][0], place[run.decode()]] for run in low],
                                "high": [[numbers[run][1], place[run.decode()]] for run in high]})
            entry["numbers"][key] = {"runs": count, "windows": windows, **margins(key, series, count)}
            suspects |= {run.decode() for run in suspects_of(key, series, count)}
        file["tensors"].setdefault(tensor, {})[mode] = entry
    file["suspects"] = sorted(suspects, key=lambda name: name.encode())
    file["tied"] = sorted(({"tensors": sorted(one), "saves": saves} for one, saves in tied or []), key=lambda one: one["tensors"])
    return file


# The rule -----------------------------------------------------------------------------------------------------------

KINDS = ["missing", "dtype", "shape", "non_finite", "negative", "positive", "changed", "unchanged", "replicas", "tied", "low", "high"]


def healthy(series, s):
    counts = [one for one in series["windows"] if one["runs"] >= 2 and 2 * one["runs"] >= series["runs"]]
    before = [one for one in counts if one["from"] <= window(s)]
    after = [one for one in counts if one["from"] >= window(s)]
    if not before or not after:
        return None
    both = [before[-1], after[0]]
    return min(low for one in both for low, _ in one["low"]), max(high for one in both for high, _ in one["high"])


def check(run, file, kinds=None, regex=None, exclude=None, patience=1, unchanged_for=2, widen=1, min_support=8):
    """(step, kind, tensor, worker, value, threshold, number) of each finding, in order."""

    def chosen(name):
        return (not regex or any(re.search(one, name) for one in regex)) and not any(re.search(one, name) for one in exclude or ())

    entries = {(tensor, mode): entry for tensor, modes in file["tensors"].items() if chosen(tensor) for mode, entry in modes.items()}
    begun, found, steps, last, some = set(), [], {}, {}, set()
    pairs, contents, rows = {}, {}, {}
    for at in sorted(run["steps"], key=lambda one: one["step"]):
        mode, s = at["mode"], at["mode_step"]
        steps.setdefault(mode, []).append(s)
        here = []

        def add(kind, tensor, worker, value=math.nan, threshold=math.nan, number="", key=None):
            key = (kind, key if key is not None else (tensor, mode, worker, number))
            if (kinds is None or kind in kinds) and key not in begun:
                begun.add(key)
                here.append(((tensor, worker, KINDS.index(kind), number),
                             (at["step"], kind, tensor, worker, value, threshold, number)))

        saves = [(save["name"], worker, save) for worker in sorted(at["saves"]) for save in at["saves"][worker]
                 if (save["name"], mode) in entries]
        count = len(steps[mode])
        for name, _, _ in saves:
            some.add(mode)
            last[name, mode] = (count, s)
        for (tensor, of), entry in entries.items():
            i0, s0 = last.get((tensor, mode), (0, steps[mode][0]))
            if (of == mode and i0 != count and entry["runs"] == file["modes"][mode]["runs"] and s <= file["modes"][mode]["last"]
                    and mode in some and count - i0 > 2 * entry["every"]["saves"] and s - s0 > 2 * entry["every"]["steps"]):
                add("missing", tensor, "", count - i0, 2 * entry["every"]["saves"], key=(tensor, mode))
        values = {}
        for name, worker, save in saves:
            entry = entries[name, mode]
            look = Look(save, [key for key in entry["numbers"] if key != "value"])
            if look.void:
                continue
            if look.has_values:
                values.setdefault(name, {})[worker] = look.content
                if entry.get("dtype") and look.dtype not in entry["dtype"]:
                    add("dtype", name, worker)
            if look.shape is not None and entry.get("shape") is not None:
                wanted = entry["shape"]
                if len(wanted) != len(look.shape) or any(w is not None and w != e for w, e in zip(wanted, look.shape)):
                    add("shape", name, worker)
            if look.bad and entry.get("finite", 0) >= 1:
                add("non_finite", name, worker, look.share, 0)
            if look.least is not None and look.least < 0 and entry.get("nonnegative", 0) >= min_support:
                add("negative", name, worker, look.least, 0)
            if look.greatest is not None and look.greatest > 0 and entry.get("nonpositive", 0) >= min_support:
                add("positive", name, worker, look.greatest, 0)
            place = (name, mode, worker)
            if look.content is not None:
                if place in contents and look.pairs_with(contents[place]):
                    same = contents[place] == look.content
                    pairs[place] = pairs.get(place, 0) + 1 if same else 0
                    if not same and entry.get("constant", 0) >= min_support:
                        add("changed", name, worker)
                    if pairs[place] >= unchanged_for and entry.get("changing", 0) >= min_support:
                        add("unchanged", name, worker, pairs[place], unchanged_for)
                contents[place] = look.content
            for key, number in look.numbers.items():
                series = entry["numbers"].get(key)
                around = healthy(series, s) if series else None
                if around is None:
                    continue
                for side, margin in (("low", "down"), ("high", "up")):
                    if margin not in series:
                        continue
                    low, high = bounds(key, *around, series[margin] * series.get("widen", 1) * widen)
                    is_out = number < low if side == "low" else number > high
                    rows[side, place, key] = rows.get((side, place, key), 0) + 1 if is_out else 0
                    if rows[side, place, key] >= patience:
                        add(side, name, worker, number, low if side == "low" else high, key)
        for name, by_worker in values.items():
            if len(by_worker) >= 2 and entries[name, mode].get("replicas", 0) >= min_support:
                contents_here = list(by_worker.values())
                right = max(sorted(by_worker), key=lambda one: (contents_here.count(by_worker[one]), ))
                others = [worker for worker in sorted(by_worker) if by_worker[worker] != by_worker[right]]
                if others:
                    add("replicas", name, others[0], len(others), 0, key=(name, mode))
        for one in file["tied"]:
            if one["saves"] < min_support:
                continue
            for worker in at["saves"]:
                of = [name for name in one["tensors"] if worker in values.get(name, {})]
                for name in of[1:]:
                    if values[name][worker] != values[of[0]][worker]:
                        add("tied", name, worker, key=(name, worker))
        found += [what for _, what in sorted(here, key=lambda each: each[0])]
    return found


# Random runs --------------------------------------------------------------------------------------------------------


class Maker:
    """Runs of one kind of training."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        r = self.random
        self.workers = [f"worker_{i}" for i in range(r.choice([1, 1, 2, 3]))]
        self.modes = r.choice([["TRAIN"], ["TRAIN"], ["TRAIN", "EVAL"], ["GLOBAL"], ["TRAIN", "EVAL", "PREDICT"]])
        self.stride = r.choice([1, 3, 10])
        self.steps = r.choice([1, 3, 8, 15])
        self.tensors = []
        for i in range(r.randint(2, 7)):
            self.tensors.append({"name": r.choice(["w", "digest/w", "loss", "a/b", "ü"]) + str(i),
                                 "kind": r.choice(["values"] * 6 + ["reductions", "shape", "text", "complex", "both"]),
                                 "dtype": r.choice(["float32"] * 4 + ["float64", "int32", "bool", "float16", "uint8", "int64"]),
                                 "shape": r.choice([[], [1], [2, 3], [4], [0], [2, 2, 2]]),
                                 "every": r.choice([1, 1, 1, 2, 4]), "from": r.choice([0, 0, 0, 2]),
                                 "modes": r.sample(self.modes, r.randint(1, len(self.modes))),
                                 "sign": r.choice([-1, 1, 1, 0, 0]), "constant": r.random() < 0.2, "replicas": r.random() < 0.7,
                                 "reductions": r.sample(["min", "max", "mean", "sum", "l1", "l2", "std", "abs_l2", "abs_max",
                                                         "abs_min", "abs_l1", "abs_mean"], r.randint(1, 5)),
                                 "scale": 10 ** r.uniform(-3, 3)})
        if r.random() < 0.5:  # the first one twice
            self.tensors.append({**self.tensors[0], "name": "tied", "copies": self.tensors[0]["name"]})

    def value(self, tensor, trouble):
        r = self.random
        if tensor["dtype"] in ("int32", "int64"):
            value = r.randint(-50, 50)
        elif tensor["dtype"] == "uint8":
            value = r.randint(0, 5)
        elif tensor["dtype"] == "bool":
            value = r.random() < 0.5
        else:
            value = r.choice([0.0, 1, 1, 1, 1]) * r.gauss(1, 0.3) * min(tensor["scale"], 100)
            if r.random() < trouble:
                value = r.choice([math.nan, math.inf, -math.inf])
        if tensor["sign"] and tensor["dtype"] not in ("bool", "uint8") and not math.isnan(value):
            value = abs(value) * tensor["sign"]
        if tensor["dtype"] == "float32":
            value = single(value)
        if tensor["dtype"] == "float16" and math.isfinite(value):
            value = struct.unpack("<e", struct.pack("<e", value))[0]
        return value

    def save(self, tensor, trouble, odd):
        r = self.random
        shape = list(tensor["shape"])
        if r.random() < odd:
            shape = r.choice([shape + [2], [5] * len(shape)])
        if tensor["kind"] == "shape":
            return {"name": tensor["name"], "shape": shape}
        if tensor["kind"] == "text":
            return {"name": tensor["name"], "shape": [1], "strings": [b"some text"]}
        if tensor["kind"] == "complex":
            return {"name": tensor["name"], "shape": shape, "dtype": "complex64",
                    "values": [(r.random(), r.random()) for _ in range(math.prod(shape))]}
        numbers = {key: single(self.value({**tensor, "dtype": "float32"}, trouble)) for key in tensor["reductions"]}
        if tensor["kind"] == "reductions":
            save = {"name": tensor["name"], "reductions": numbers}
            return {**save, "shape": shape} if r.random() < 0.5 else save
        dtype = tensor["dtype"] if r.random() >= odd else r.choice(["float32", "int32"])
        save = {"name": tensor["name"], "shape": shape, "dtype": dtype,
                "values": [self.value({**tensor, "dtype": dtype}, trouble) for _ in range(math.prod(shape))]}
        if tensor["kind"] == "both":
            save["reductions"] = numbers
        return save

    def run(self, trouble=0.0, odd=0.0):
        r = self.random
        steps, step, kept = [], 0, {}
        strange = r.random() < 0.2
        for i in range(max(1, self.steps + r.choice([0, 0, -1, 1]))):
            for mode in self.modes:
                saves = {}
                for tensor in self.tensors:
                    if mode not in tensor["modes"] or i % tensor["every"] or i < tensor["from"] or r.random() < odd / 2:
                        continue
                    first = None
                    for worker in self.workers:
                        if first is not None and tensor["replicas"] and r.random() >= odd:
                            save = first
                        elif (tensor["constant"] or r.random() < odd) and (tensor["name"], worker) in kept:
                            save = kept[tensor["name"], worker]
                        else:
                            save = self.save(tensor, trouble, odd)
                        copied = saves.get(worker, {}).get(tensor.get("copies"))
                        if copied is not None and r.random() >= odd:
                            save = {**copied, "name": tensor["name"]}
                        first = first or save
                        kept[tensor["name"], worker] = save
                        saves.setdefault(worker, {})[tensor["name"]] = save
                if saves:
                    mode_step = i * self.stride + (r.randint(0, 1) if strange else 0)
                    steps.append({"step": step, "mode": mode, "mode_step": mode_step if mode != "GLOBAL" else step,
                                  "saves": {worker: list(of.values()) for worker, of in saves.items()}})
                step += r.choice([1, 1, 2])
        return {"workers": self.workers, "steps": steps} if steps else self.run(trouble, odd)


# Comparing ----------------------------------------------------------------------------------------------------------


def differences(mine, theirs, where=""):
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key in sorted(set(mine) | set(theirs)):
            if key not in mine or key not in theirs:
                yield f"{where}.{key}: only in {'smdebug' if key in theirs else 'the specification'}"
            else:
                yield from differences(mine[key], theirs[key], f"{where}.{key}")
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for i, (one, other) in enumerate(zip(mine, theirs)):
            yield from differences(one, other, f"{where}[{i}]")
    elif isinstance(mine, (int, float)) and isinstance(theirs, (int, float)) and not isinstance(mine, bool):
        if not (math.isnan(mine) and math.isnan(theirs)) and not math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-300):
            yield f"{where}: {mine} by the specification, {theirs} by smdebug"
    elif mine != theirs:
        yield f"{where}: {mine} by the specification, {theirs} by smdebug"


def number_in(value):
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, None: math.nan}.get(value, value) if not isinstance(
        value, float) else value


def findings_in(text):
    found = []
    for line in text.splitlines():
        one = json.loads(line)
        if "message" not in one:
            continue
        kind = one["message"].split(":")[0]
        number = one["message"].split()[1] if kind in ("low", "high") else ""
        found.append((one["step"], kind, one["tensor"], one["worker"], number_in(one["value"]), number_in(one["threshold"]), number))
    return found


class Comparison:
    def __init__(self, program, folder):
        self.program, self.folder, self.failed = program, folder, 0

    def call(self, *arguments, statuses=(0,)):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        if done.returncode not in statuses:
            self.fail(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def fail(self, text):
        self.failed += 1
        print(text)

    def compare(self, what, mine, theirs):
        for each in list(differences(mine, theirs))[:5]:
            self.fail(f"{what}{each}")

    def case(self, seed):
        folder = pathlib.Path(self.folder, f"case_{seed}")
        shutil.rmtree(folder, ignore_errors=True)
        maker = Maker(seed)
        r = maker.random
        trouble, odd = r.choice([(0, 0), (0, 0), (0.02, 0.02)])
        runs = {f"case_{seed}/run_{i}": maker.run(trouble, odd) for i in range(r.choice([1, 2, 3, 5, 9, 21]))}
        for name, run in runs.items():
            write_run(pathlib.Path(self.folder, name), run)
        kept = r.choice([["abs_max", "l2", "zeros"], ["l1", "mean"], ["min", "max", "abs_mean", "l2"], []])
        option = ["--reductions", ",".join(kept)] if kept else []
        kept = kept or ["abs_max", "l2", "zeros"]
        file = folder / "all.json"
        names = list(runs)
        r.shuffle(names)
        self.call("learn", *names, "-o", file, "--threads", r.choice([1, 2]), *option)
        mine = learn(runs, kept)
        theirs = json.loads(file.read_text())
        self.compare(f"seed {seed}, file", mine, theirs)
        half = len(names) // 2
        if half:  # the same bytes in parts
            self.call("learn", *names[:half], "-o", folder / "one.json", *option)
            self.call("learn", *names[half:], "-o", folder / "two.json", *option)
            self.call("learn", "--add", folder / "two.json", "--add", folder / "one.json", "-o", folder / "merged.json")
            self.call("learn", *names[half:], "--add", folder / "one.json", "-o", folder / "added.json")
            for other in ("merged.json", "added.json"):
                if (folder / other).read_bytes() != file.read_bytes():
                    self.fail(f"seed {seed}: {other} is another file than all.json")
        for i in range(3):
            odd_run = maker.run(*r.choice([(0, 0), (0.1, 0.05), (0.05, 0.3)]))
            write_run(folder / f"new_{i}", odd_run)
            how = {"min_support": r.choice([1, 3, 8]), "patience": r.choice([1, 1, 2]), "unchanged_for": r.choice([1, 2])}
            extra = {"widen": r.choice([1, 1, 0.25, 3])}
            if r.random() < 0.2:
                extra["kinds"] = r.sample(KINDS, 4)
            if r.random() < 0.2:
                extra["regex"] = ["w"]
            if r.random() < 0.2:
                extra["exclude"] = ["1$"]
            text = ",".join([f"learned,file={file}"] + [f"{key}={value}" for key, value in how.items()] + [f"widen={extra['widen']}"])
            text += ",kinds=" + ";".join(extra["kinds"]) if "kinds" in extra else ""
            text += ",tensor_regex=w" if "regex" in extra else ""
            text += ",exclude_regex=1$" if "exclude" in extra else ""
            done = self.call("check", folder / f"new_{i}", "--rule", text, "--format", "json", statuses=(0, 2, 3))
            wanted = [list(each) for each in check(odd_run, theirs, **how, **extra)]
            got = [list(each) for each in findings_in(done.stdout)]
            if len(wanted) != len(got):
                self.fail(f"seed {seed}, new_{i} {text}: {len(wanted)} findings by the specification, {len(got)} by smdebug: "
                          + str([one for one in wanted if one[:4] not in [each[:4] for each in got]][:3]) + " "
                          + str([one for one in got if one[:4] not in [each[:4] for each in wanted]][:3]))
            self.compare(f"seed {seed}, new_{i} {text}, findings", wanted, got)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("--cases", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--keep")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(os.path.abspath(given.program), given.keep or folder)
        for seed in range(given.seed, given.seed + given.cases):
            comparison.case(seed)
            if comparison.failed > 20:
                break
    print(f"{given.cases} cases, {comparison.failed} differences")
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
