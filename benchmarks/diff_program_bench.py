#!/usr/bin/env python3
"""Whole processes of `smdebug diff` over two runs on this machine's disk, in turns with `cmp` of their event files.

diff_program_bench.py PROGRAM RUN_A RUN_B [rounds]: the program's path, two runs with the same event files (a run and its
copy: `cp -r`), and how often (11).  Both are read once before, so that they lie in the page cache.  `cmp` is one process a
file, as no other compares two folders without reading them twice; `cmp, one pair` is one process over the files of each
run joined by `cat`, in /dev/shm, where there is room: no process but the first is begun.  Medians, and of the bytes of one
run what a second takes; the ratio is that of each round."""
import os
import shutil
import statistics
import subprocess
import sys
import time


def event_files(run):
    found = []
    for folder, _, names in os.walk(os.path.join(run, "events")):
        found += [os.path.join(folder, name) for name in names if name.endswith(".tfevents")]
    return sorted(os.path.relpath(path, run) for path in found)


def timed(commands):
    begin = time.perf_counter()
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode not in (0, 3):
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    return time.perf_counter() - begin


def joined(run, files, path):
    with open(path, "wb") as out:
        for name in files:
            with open(os.path.join(run, name), "rb") as one:
                shutil.copyfileobj(one, out, 1 << 20)


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    program, first, second = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) == 5 else 11
    files = event_files(first)
    if not files or files != event_files(second):
        sys.exit("the two runs do not have the same event files")
    size = sum(os.path.getsize(os.path.join(first, name)) for name in files)
    ways = {
        "smdebug diff": [[program, "diff", first, second]],
        "smdebug diff --rtol 1e-5": [[program, "diff", first, second, "--rtol", "1e-5"]],
        "cmp, a process a file": [["cmp", os.path.join(first, name), os.path.join(second, name)] for name in files],
    }
    pair = [f"/dev/shm/diff_program_bench_{os.getpid()}_{side}" for side in "ab"]
    try:
        if shutil.disk_usage("/dev/shm").free > 3 * size:
            for run, path in zip((first, second), pair):
                joined(run, files, path)
            ways["cmp, one pair"] = [["cmp", *pair]]
        for commands in ways.values():
            timed(commands)
        times = {name: [] for name in ways}
        for _ in range(rounds):
            for name, commands in ways.items():
                times[name].append(timed(commands))
    finally:
        for path in pair:
            if os.path.exists(path):
                os.remove(path)
    print(f"2 x {size / 1e9:.2f} GB in {len(files)} event files each, {rounds} rounds")
    for name, taken in times.items():
        ratios = [f"{statistics.median(b / a for a, b in zip(taken, times[other])):5.2f} x {other}"
                  for other in times if other.startswith("cmp") and other != name]
        print(f"{name:26} {statistics.median(taken):7.3f} s {size / statistics.median(taken) / 1e9:6.2f} GB/s  speed: {', '.join(ratios)}")


if __name__ == "__main__":
    main()
