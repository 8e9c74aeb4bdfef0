#!/usr/bin/env python3
"""What compare.py, which judges the golden replays, has to find: a judge that passes everything would be no judge."""
import json
import os
import subprocess
import sys
import tempfile

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "golden", "compare.py")


def status(expected, actual, waived=None):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, content in (("expected", expected), ("actual", actual), ("waived", waived)):
            paths.append(os.path.join(folder, name))
            with open(paths[-1], "w", encoding="utf-8") as out:
                json.dump(content, out)
        waive = ["--waive", paths[2]] if waived is not None else []
        done = subprocess.run([sys.executable, "-B", COMPARE, *waive, *paths[:2]], stdout=subprocess.PIPE, check=False)
        return done.returncode


def typed(value, dtype="float32"):
    return {"dt": dtype, "v": value}


waiver = [{"path": "b", "why": "known"}]
CASES = [
    ("equal", 0, status({"a": 1, "b": [2]}, {"a": 1, "b": [2]})),
    ("more keys in the answer", 0, status({"a": 1}, {"a": 1, "b": 2})),
    ("another number", 1, status({"a": 1}, {"a": 2})),
    ("a bool for a number", 1, status({"a": 1}, {"a": True})),
    ("a missing key", 1, status({"a": 1, "b": 2}, {"a": 1})),
    ("a shorter list", 1, status({"a": [1, 2]}, {"a": [1]})),
    ("a float32 within its tolerance", 0, status({"a": typed(1.0)}, {"a": typed(1.000001)})),
    ("a float32 beyond it", 1, status({"a": typed(1.0)}, {"a": typed(1.001)})),
    ("a float64 with a float32's error", 1, status({"a": typed(1.0, "float64")}, {"a": typed(1.000001, "float64")})),
    ("NaN is NaN", 0, status({"a": typed("NaN")}, {"a": typed("NaN")})),
    ("a number for NaN", 1, status({"a": typed("NaN")}, {"a": typed(0.0)})),
    ("another infinity", 1, status({"a": typed("Infinity")}, {"a": typed("-Infinity")})),
    ("a difference that is waived", 0, status({"a": 1, "b": 2}, {"a": 1, "b": 3}, waiver)),
    ("a difference beside a waived one", 1, status({"a": 1, "b": 2}, {"a": 2, "b": 3}, waiver)),
    ("a waiver of nothing", 1, status({"a": 1, "b": 2}, {"a": 1, "b": 2}, waiver)),
]
wrong = [name for name, wanted, got in CASES if wanted != got]
print(f"{len(CASES) - len(wrong)} of {len(CASES)} as wanted", *wrong, sep="\n  ")
sys.exit(1 if wrong else 0)
