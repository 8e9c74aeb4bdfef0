#!/usr/bin/env python3
"""`smdebug learn` over the processes of mpirun: the same file, output and exit status as by one process; killed or stopped, the old file
stays.

check_learn_ranks.py PROGRAM GOLDEN FOLDER MPIRUN
  GOLDEN   the recorded runs, tests/data/golden
  FOLDER   where the runs and files are made; emptied first
Prints its steps; exit status 1 with a sentence for the first error."""
import os
import shutil
import signal
import subprocess
import sys

from check_batch import RECORDED, mpi_job

SECONDS = 300


def fail(text):
    sys.exit(f"check_learn_ranks.py: {text}")


def make_runs(golden, folder):
    """Runs, of which two are damaged, and one has not ended."""
    runs = os.path.join(folder, "runs")
    for number in range(20):
        shutil.copytree(os.path.join(golden, RECORDED[number % 3]), os.path.join(runs, f"run{number:02}"))
    for number in (4, 11):
        path = os.path.join(runs, f"run{number:02}", "events")
        first = sorted(os.path.join(at, name) for at, _, names in os.walk(path) for name in names)[0]
        os.truncate(first, os.path.getsize(first) - 20)
    end = os.path.join(runs, "run00", "training_job_end.ts")
    if os.path.exists(end):
        os.remove(end)
    return runs


def content_of(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def main():
    program, golden, folder, mpirun = sys.argv[1:5]
    if "\nmpi " not in subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout:
        print("the program is without MPI: nothing is tested")
        return
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    runs = make_runs(golden, folder)
    file = os.path.join(folder, "normal.json")
    two = os.path.join(folder, "two.json")
    subprocess.run([program, "learn", os.path.join(runs, "run1[23]"), "-o", two], check=True, capture_output=True, timeout=SECONDS)

    def said(text):
        return sorted(line for line in text.splitlines() if line.startswith("smdebug: "))

    for what, asked in (("runs", [os.path.join(runs, "run0[125-9]")]), ("runs, some damaged", [runs]),
                        ("as JSON", [runs, "--format", "json"]), ("added to a file", [os.path.join(runs, "run0?"), "--add", two]),
                        ("damaged runs alone", [os.path.join(runs, "run04")]), ("a run twice", [os.path.join(runs, "run12"), "--add", two])):
        alone = subprocess.run([program, "learn", *asked, "-o", file], capture_output=True, text=True, check=False, timeout=SECONDS)
        truth = content_of(file)
        for size in (1, 2, 3):
            if truth is not None:
                os.remove(file)
            status, out, err = mpi_job(mpirun, size, [program, "learn", *asked, "--threads", "1", "-o", file]).finish(what)
            if status != alone.returncode:
                fail(f"{what}, {size} ranks: status {status}, not {alone.returncode}: {err[-2000:]}")
            if out != alone.stdout:
                fail(f"{what}, {size} ranks: it prints {out[-1000:]}, not {alone.stdout[-1000:]}")
            if said(err) != said(alone.stderr):
                fail(f"{what}, {size} ranks: it says {err[-2000:]}, not {alone.stderr[-2000:]}")
            if content_of(file) != truth:
                fail(f"{what}, {size} ranks: another file")
        if truth is not None:
            os.remove(file)
        print(f"{what}: the same by 1, 2 and 3 ranks: {'no file' if truth is None else len(truth)}, status {alone.returncode}")

    listed = os.path.join(folder, "list")
    os.mkfifo(listed)  # without a writer: rank 0 waits for the list, the others for rank 0
    with open(file, "w", encoding="utf-8") as old:
        old.write("as it was")
    for name in ("a rank killed", "mpirun killed", "SIGTERM"):
        job = mpi_job(mpirun, 3, [program, "learn", "--list", listed, "-o", file])
        if not job.wait_for_ranks():
            fail(f"{name}: it has ended before: {job.finish(name)[2][-1000:]}")
        os.kill(job.ranks[-1] if name == "a rank killed" else job.job.pid, signal.SIGTERM if name == "SIGTERM" else signal.SIGKILL)
        status, _, err = job.finish(name)
        if status == 0 or content_of(file) != b"as it was":
            fail(f"{name}: status {status}, {content_of(file)!r}: {err[-1000:]}")
        print(f"{name}: status {status}, and the old file is there")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
