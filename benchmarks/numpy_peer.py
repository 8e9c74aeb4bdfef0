"""Reductions of float32 by numpy, as the Python package computes them: for the benchmarks that start it.

    numpy_peer.py COUNT ROUNDS          Prints a row for each set of reductions: its name, the median time of a call, "us".
    numpy_peer.py --scan BYTES FOLDER   Prints how long all reductions of the floats in the files below FOLDER take, read
                                        and reduced BYTES at a time: "scan", seconds.
Without numpy: a note.
"""

import os
import sys
import time

try:
    import numpy as np
except ImportError:
    print("numpy: skipped, it is not installed for " + sys.executable)
    sys.exit(0)


def mean(x):
    return np.mean(x)


def five(x):
    return np.min(x), np.max(x), np.mean(x), np.linalg.norm(x, ord=1), np.linalg.norm(x)


def variance(x):
    return np.var(x)


def nine(x):
    with np.errstate(all="ignore"):
        return (np.min(x), np.max(x), np.mean(x), np.std(x), np.var(x), np.sum(x), np.prod(x),
                np.linalg.norm(x, ord=1), np.linalg.norm(x))


def everything(x):
    counts = (np.count_nonzero(np.isnan(x)), np.count_nonzero(np.isposinf(x)), np.count_nonzero(np.isneginf(x)),
              x.size - np.count_nonzero(x))
    return nine(x), nine(np.abs(x)), counts


def median_us(call, x, rounds):
    calls = max(1, (2 << 20) // x.nbytes)
    times = []
    for _ in range(rounds + 1):  # the first warms up
        begin = time.perf_counter()
        for _ in range(calls):
            call(x)
        times.append((time.perf_counter() - begin) / calls)
    return sorted(times[1:])[rounds // 2] * 1e6


def scan(size, folder):
    begin = time.perf_counter()
    for path, _, names in os.walk(folder):
        for name in names:
            numbers = np.fromfile(os.path.join(path, name), dtype=np.float32)
            for at in range(0, numbers.size, size // 4):
                everything(numbers[at:at + size // 4])
    return time.perf_counter() - begin


def main():
    if sys.argv[1] == "--scan":
        print(f"scan {scan(int(sys.argv[2]), sys.argv[3]):.6f}")
        return
    count, rounds = int(sys.argv[1]), int(sys.argv[2])
    x = np.random.default_rng(42).uniform(-1, 1, count).astype(np.float32)
    for name, call in (("mean", mean), ("min_max_mean_l1_l2", five), ("variance", variance), ("all", everything)):
        print(f"reduce/{name}/f32/n={count}/numpy {median_us(call, x, rounds):.3f} us", flush=True)
    print(f"numpy: {np.__version__}, a call for each reduction")


main()
