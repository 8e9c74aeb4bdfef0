"""Reductions of float32 by numpy, as the Python package computes them: for reduce_kernels_bench, which starts it.

    numpy_peer.py COUNT ROUNDS

Prints a row for each set of reductions: its name, the median time of a call, "us".  Without numpy: a note.
"""

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


def main():
    count, rounds = int(sys.argv[1]), int(sys.argv[2])
    x = np.random.default_rng(42).uniform(-1, 1, count).astype(np.float32)
    for name, call in (("mean", mean), ("min_max_mean_l1_l2", five), ("variance", variance), ("all", everything)):
        print(f"reduce/{name}/f32/n={count}/numpy {median_us(call, x, rounds):.3f} us", flush=True)
    print(f"numpy: {np.__version__}, a call for each reduction")


main()
