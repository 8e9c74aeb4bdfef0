#!/usr/bin/env python3
"""Whole processes of `smdebug report` over a run on this machine's disk, with rules and without, in turns with `smdebug
stats` over the same run.

report_program_bench.py PROGRAM RUN [rounds]: the program's path, a run, and how often (11).  The run is read once before,
so that it lies in the page cache; pages go to a temporary folder.  Medians, and of the bytes of the run's event files what
a second takes; the ratio is that of each round: the speed of `stats` is 1."""
import os
import statistics
import subprocess
import sys
import tempfile
import time


def size_of_event_files(run):
    return sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(os.path.join(run, "events"))
               for name in names if name.endswith(".tfevents"))


def timed(command):
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    taken = time.perf_counter() - begin
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return taken


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    program, run = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) == 4 else 11
    size = size_of_event_files(run)
    if size == 0:
        sys.exit(f"{run} has no event files")
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        ways = {
            "smdebug stats": [program, "stats", run, "--format", "csv"],
            "smdebug report": [program, "report", run, "-o", page],
            "smdebug report --no-rules": [program, "report", run, "--no-rules", "-o", page],
        }
        for command in ways.values():
            timed(command)
        times = {name: [] for name in ways}
        for _ in range(rounds):
            for name, command in ways.items():
                times[name].append(timed(command))
    print(f"{size / 1e9:.2f} GB of event files, {rounds} rounds")
    for name, taken in times.items():
        ratio = statistics.median(b / a for a, b in zip(taken, times["smdebug stats"]))
        print(f"{name:26} {statistics.median(taken):7.3f} s {size / statistics.median(taken) / 1e9:6.2f} GB/s  "
              f"speed: {ratio:5.2f} x stats")


if __name__ == "__main__":
    main()
