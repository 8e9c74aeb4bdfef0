#!/usr/bin/env python3
"""Batches as users have them: `smdebug scan --list ... -o results.db` over many runs, some damaged, one unreadable, one
that still grows; killed at random and resumed; held against single scans of each run.

check_batch.py PROGRAM GOLDEN FOLDER [--runs N] [--kills K] [--large PATH] [--mpirun PATH [--stop]]
  PROGRAM  the program smdebug
  GOLDEN   the recorded runs, tests/data/golden
  FOLDER   where the runs and databases are made; emptied first
  --large  one more run, far larger than the others
  --mpirun also over four processes: undisturbed, and with one that is killed; with --stop one that is stopped (half a minute)
Prints what was done; exit status 1 with a sentence for the first thing that is wrong."""
import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

RECORDED = ["torch_mlp", "torch_ddp", "mode_workers", "collections", "reductions_raw", "xgboost_like", "scalars",
            "sparse_steps", "tf_workers", "dtypes"]


def fail(text):
    sys.exit(f"check_batch.py: {text}")


def make_runs(golden, folder, count):
    """`count` runs and what is wrong with some of them; their paths, in the order of the list."""
    paths = []
    for number in range(count):
        path = os.path.join(folder, "runs", f"group{number % 7}", f"run{number:05}")
        shutil.copytree(os.path.join(golden, RECORDED[number % len(RECORDED)]), path)
        paths.append(path)

    def files(path, part):
        return sorted(os.path.join(at, name) for at, _, names in os.walk(os.path.join(path, part)) for name in names)

    with open(files(paths[3], "events")[0], "r+b") as event:  # a record that is cut
        event.truncate(os.path.getsize(event.name) - 20)
    with open(files(paths[11], "events")[-1], "r+b") as event:  # a record with other bytes
        event.seek(60)
        byte = event.read(1)
        event.seek(60)
        event.write(bytes([byte[0] ^ 0xFF]))
    with open(files(paths[17], "index")[0], "w", encoding="utf-8") as index:  # an index file that is none
        index.write('{"tensors": [')
    shutil.rmtree(paths[23])  # nothing can be read of it
    os.makedirs(os.path.join(paths[23], "index"))
    end = os.path.join(paths[29], "training_job_end.ts")  # it still grows
    if os.path.exists(end):
        os.remove(end)
    return paths


def scan(program, listed, database, *more):
    done = subprocess.run([program, "scan", "--list", listed, "-o", database, *more], capture_output=True, text=True, check=False,
                          timeout=1800)
    if done.returncode not in (0, 1, 3, 4):
        fail(f"scan ended with {done.returncode}: {done.stderr[-2000:]}")
    return done


def rows_of(database, tables=("results", "findings", "messages")):
    """All that a scan says, without what differs from one scan to the next: numbers of rows, and times."""
    base = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    if base.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        fail(f"{database} is damaged")

    def columns(table):
        return [row[1] for row in base.execute(f"PRAGMA table_info({table})") if row[1] not in ("id", "run", "run_id", "seconds", "scanned_at")]

    everything = {"runs": sorted(base.execute(f"SELECT {', '.join(columns('runs'))} FROM runs"), key=repr)}
    if len({row[columns("runs").index("path")] for row in everything["runs"]}) != len(everything["runs"]):
        fail(f"{database} has a run twice")
    for table in tables:
        key = [row[1] for row in base.execute(f"PRAGMA table_info({table})") if row[1] in ("run", "run_id")][0]
        names = ", ".join(f"t.{name}" for name in columns(table))
        everything[table] = sorted(base.execute(f"SELECT r.path, {names} FROM {table} t JOIN runs r ON r.id = t.{key}"), key=repr)
    base.close()
    return everything


def compare(one, other, what):
    for table, rows in one.items():
        if rows != other[table]:
            lost = [row for row in rows if row not in other[table]][:3]
            more = [row for row in other[table] if row not in rows][:3]
            fail(f"{what}: table {table} differs: {len(rows)} and {len(other[table])} rows; only first: {lost}; only second: {more}")


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("program")
    asked.add_argument("golden")
    asked.add_argument("folder")
    asked.add_argument("--runs", type=int, default=300)
    asked.add_argument("--kills", type=int, default=5)
    asked.add_argument("--large")
    asked.add_argument("--mpirun")
    asked.add_argument("--stop", action="store_true")
    args = asked.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    paths = make_runs(args.golden, args.folder, args.runs) + ([args.large] if args.large else [])
    listed = os.path.join(args.folder, "list.txt")
    with open(listed, "w", encoding="utf-8") as out:
        out.write("".join(path + "\n" for path in paths))
    whole = os.path.join(args.folder, "whole.db")
    time.sleep(0.1)  # what is newer than the file system's clock has no version to be known by

    begin = time.monotonic()
    first = scan(args.program, listed, whole)
    taken = time.monotonic() - begin
    truth = rows_of(whole)
    if len(truth["runs"]) != len(paths):
        fail(f"{len(paths)} runs were listed, {len(truth['runs'])} are in the database")
    if first.returncode != 4:
        fail(f"findings and failures end with status 4, not {first.returncode}: {first.stderr[-1000:]}")
    print(f"{len(paths)} runs in {taken:.2f} s, {len(truth['findings'])} findings")

    # As each run says alone: streamed in the order of the list, whatever the threads.
    rows = {}
    for threads in ("1", "3"):
        rows[threads] = subprocess.run([args.program, "scan", "--list", listed, "--format", "csv", "--threads", threads],
                                       capture_output=True, text=True, check=False, timeout=1800).stdout
    if rows["1"] != rows["3"]:
        fail("the rows depend on the threads")
    alone = ""
    for path in paths[:40]:
        single = subprocess.run([args.program, "scan", path, "--format", "csv"], capture_output=True, text=True, check=False,
                                timeout=600).stdout.splitlines(keepends=True)
        alone += "".join(single if not alone else single[1:])
    if not rows["1"].startswith(alone):
        fail("a batch says of a run what a scan of it alone does not")
    print(f"{min(40, len(paths))} runs say the same alone; all the same with 1 and 3 threads")

    # Again: nothing is done but what failed, and nothing changes.
    begin = time.monotonic()
    scan(args.program, listed, whole)
    compare(truth, rows_of(whole), "a second scan")
    print(f"again: {time.monotonic() - begin:.2f} s")

    # Killed at random moments, then to its end.
    killed = os.path.join(args.folder, "killed.db")
    stopped = 0
    for turn in range(args.kills):
        with subprocess.Popen([args.program, "scan", "--list", listed, "-o", killed], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            time.sleep(random.uniform(0, 1.5 * taken / args.kills))
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                stopped += 1
            child.wait()
        if os.path.exists(killed):
            so_far = rows_of(killed) if os.path.getsize(killed) else {"runs": []}
            print(f"  killed: {len(so_far['runs'])} of {len(paths)} runs are there")
    scan(args.program, listed, killed)
    compare(truth, rows_of(killed), f"killed {stopped} times and resumed")
    print(f"killed {stopped} times of {args.kills}, resumed: the database is that of an undisturbed scan, row for row")

    # What has changed is done again, and only that.
    with open(os.path.join(paths[0], "collections", "more.json"), "w", encoding="utf-8") as more:
        more.write("{}")
    time.sleep(0.1)
    again = scan(args.program, listed, whole, "--progress", "json")
    last = [line for line in again.stderr.splitlines() if line.startswith("{")][-1]  # notes may follow
    failures = sum(1 for row in truth["runs"] if "failed" in row)
    if f'"unchanged":{len(paths) - 1 - failures},' not in last:
        fail(f"one run has changed, {failures} had failed: {last}")
    print("a run that has changed is done again, and those that failed")

    # Shards, merged.
    shards = []
    for shard in ("1/3", "2/3", "3/3"):
        shards.append(os.path.join(args.folder, f"shard{shard[0]}.db"))
        scan(args.program, listed, shards[-1], "--shard", shard)
    merged = os.path.join(args.folder, "merged.db")
    subprocess.run([args.program, "merge", *shards, "-o", merged], check=True, capture_output=True, timeout=600)
    together = rows_of(merged)
    compare(rows_of(whole), together, "three shards, merged")
    print("three shards, merged: the same database")
    if args.mpirun:
        check_ranks(args, paths)
    shutil.rmtree(args.folder)


def ranks_of(mpirun):
    """The processes that it started, by their ids."""
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(mpirun)], capture_output=True, text=True, check=False).stdout
    return [int(line.split()[0]) for line in children.splitlines() if "smdebug" in line]


def lives(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as facts:
            return facts.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def runs_in(database):
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as base:
            return base.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.Error:
        return 0


def check_ranks(args, paths):
    """The same over four processes, of so many runs that there is time to disturb them: each by ten names."""
    links = os.path.join(args.folder, "links")
    os.makedirs(links)
    listed = os.path.join(args.folder, "links.txt")
    with open(listed, "w", encoding="utf-8") as out:
        for number in range(10 * len(paths)):
            link = os.path.join(links, f"{number:06}")
            os.symlink(paths[number % len(paths)], link)
            out.write(link + "\n")
    alone = os.path.join(args.folder, "alone.db")
    scan(args.program, listed, alone)
    truth = rows_of(alone)
    start = [args.mpirun, "--oversubscribe", "-n", "4", args.program, "scan", "--list", listed, "--threads", "1", "-o"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    whole = os.path.join(args.folder, "ranks.db")
    begin = time.monotonic()
    done = subprocess.run([*start, whole], capture_output=True, text=True, check=False, timeout=600, env=environment)
    if done.returncode not in (1, 4):
        fail(f"four ranks ended with {done.returncode}: {done.stderr[-2000:]}")
    compare(truth, rows_of(whole), "four ranks")
    print(f"four ranks, {len(truth['runs'])} runs: the same database, {time.monotonic() - begin:.1f} s")
    check_shared(args, paths, start, environment)
    for name, disturb in (("killed", signal.SIGKILL), *((("stopped", signal.SIGSTOP),) if args.stop else ())):
        database = os.path.join(args.folder, f"{name}.ranks.db")
        begin = time.monotonic()
        with subprocess.Popen([*start, database], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as job:
            while runs_in(database) == 0 and job.poll() is None and time.monotonic() < begin + 60:
                time.sleep(0.01)
            ranks = ranks_of(job.pid)
            if len(ranks) == 4:
                os.kill(ranks[-1], disturb)
            try:
                said = job.communicate(timeout=90)[1]
            except subprocess.TimeoutExpired:
                for rank in ranks:
                    os.kill(rank, signal.SIGKILL)
                job.kill()
                fail(f"a rank {name}: it does not end")
            if len(ranks) != 4:
                fail(f"a rank {name}: there are {len(ranks)}: {said[-1000:]}")
            end = time.monotonic() + 20
            while any(lives(rank) for rank in ranks) and time.monotonic() < end:
                time.sleep(0.05)
            if left := [rank for rank in ranks if lives(rank)]:
                fail(f"a rank {name}: processes are left: {left}")
        so_far, taken = runs_in(database), time.monotonic() - begin
        scan(args.program, listed, database)
        compare(truth, rows_of(database), f"a rank {name}, and resumed")
        print(f"a rank {name}: {so_far} runs are there, {taken:.1f} s; resumed: the same database")


def check_shared(args, paths, start, environment):
    """Large runs among small ones: several ranks read the steps of one, some of which are damaged."""
    listed = os.path.join(args.folder, "shared.txt")
    with open(listed, "w", encoding="utf-8") as out:
        out.write("".join(path + "\n" for path in paths))
    command = [listed if part.endswith("links.txt") else part for part in start]
    for what, asked, tables in (("numbers", ["--reductions", "all"], ("reductions", "messages")),
                                ("rules", [], ("results", "findings", "messages"))):
        alone, shared = (os.path.join(args.folder, f"{what}.{who}.db") for who in ("alone", "shared"))
        scan(args.program, listed, alone, *asked)
        for turn in ("", ", again"):
            done = subprocess.run([*command, shared, "--split-above", "5K", *asked], capture_output=True, text=True, check=False,
                                  timeout=600, env=environment)
            if done.returncode not in (0, 1, 3, 4):
                fail(f"{what} over four ranks{turn} ended with {done.returncode}: {done.stderr[-2000:]}")
            compare(rows_of(alone, tables), rows_of(shared, tables), f"{what} of runs that ranks share{turn}")
        print(f"{what} of runs that four ranks share: the same database, {len(rows_of(shared, tables)[tables[0]])} rows")


if __name__ == "__main__":
    main()
