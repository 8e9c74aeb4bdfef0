#!/usr/bin/env python3
"""Batches as users run them: `smdebug scan --list ... -o results.db` over many runs, some damaged, one unreadable, one
still growing; killed at random and resumed; compared with single scans of each run.

check_batch.py PROGRAM GOLDEN FOLDER [--runs N] [--kills K] [--large PATH] [--mpirun PATH [--rank-runs N]]
  PROGRAM  the program smdebug
  GOLDEN   the recorded runs, tests/data/golden
  FOLDER   where the runs and databases are made; emptied first
  --large  one more run, far larger than the others
  --mpirun also over four processes, if the program has MPI: undisturbed, killed, stopped, on a full disk
  --rank-runs  of so many runs, which are names of the others
Prints its steps; exit status 1 with a sentence for the first error."""
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
    """Makes `count` runs, some damaged; returns their paths, in the order of the list."""
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
    with open(files(paths[17], "index")[0], "w", encoding="utf-8") as index:  # an invalid index file
        index.write('{"tensors": [')
    shutil.rmtree(paths[23])  # an empty run
    os.makedirs(os.path.join(paths[23], "index"))
    end = os.path.join(paths[29], "training_job_end.ts")  # a growing run
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
    """The output of a scan, without the parts that differ between scans: numbers of rows, and times."""
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
    asked.add_argument("--rank-runs", type=int, default=600)
    args = asked.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    paths = make_runs(args.golden, args.folder, args.runs) + ([args.large] if args.large else [])
    listed = os.path.join(args.folder, "list.txt")
    with open(listed, "w", encoding="utf-8") as out:
        out.write("".join(path + "\n" for path in paths))
    whole = os.path.join(args.folder, "whole.db")
    time.sleep(0.1)  # files newer than the file system's clock have no version yet

    begin = time.monotonic()
    first = scan(args.program, listed, whole)
    taken = time.monotonic() - begin
    truth = rows_of(whole)
    if len(truth["runs"]) != len(paths):
        fail(f"{len(paths)} runs were listed, {len(truth['runs'])} are in the database")
    if first.returncode != 4:
        fail(f"findings and failures end with status 4, not {first.returncode}: {first.stderr[-1000:]}")
    print(f"{len(paths)} runs in {taken:.2f} s, {len(truth['findings'])} findings")

    # The same as from single scans: streamed in the order of the list, whatever the number of threads.
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

    # Again: only failed runs are repeated, and nothing changes.
    begin = time.monotonic()
    scan(args.program, listed, whole)
    compare(truth, rows_of(whole), "a second scan")
    print(f"again: {time.monotonic() - begin:.2f} s")

    # Killed at random moments, then completed.
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

    # Only changed runs are repeated.
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
    if args.mpirun and "\nmpi " in subprocess.run([args.program, "--version"], capture_output=True, text=True, check=True).stdout:
        check_ranks(args, paths)
    shutil.rmtree(args.folder)


def ranks_of(mpirun):
    """The ids of its child processes."""
    children = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(mpirun)], capture_output=True, text=True, check=False).stdout
    return [int(line.split()[0]) for line in children.splitlines() if "smdebug" in line]


def lives(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as facts:
            return facts.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def left_by_ranks(database):
    folder, name = os.path.split(database)
    return sorted(each for each in os.listdir(folder) if each.startswith(name + ".rank-") and each[-1].isdigit())


class mpi_job:
    """A program over ranks, in its own process group, so that all of it can be ended."""

    def __init__(self, mpirun, size, program):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",  # avoids a warning in containers
                       # Open MPI does not free all that it has; the status of a rank would be that of the leak sanitizer.
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        for name in [name for name in environment if name.startswith("SLURM_")]:  # keeps Open MPI from using Slurm
            del environment[name]
        self.size = size
        self.job = subprocess.Popen([mpirun, "--oversubscribe", "-n", str(size), *program], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
        self.ranks = []

    def wait_for_ranks(self):
        """Waits until all have begun: True; False if the job has ended."""
        end = time.monotonic() + 60
        while self.job.poll() is None and time.monotonic() < end:
            self.ranks = ranks_of(self.job.pid)
            if len(self.ranks) == self.size:
                return True
            time.sleep(0.01)
        return False

    def finish(self, what):
        try:
            out, err = self.job.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(self.job.pid, signal.SIGKILL)
            fail(f"{what}: it does not end")
        end = time.monotonic() + 20
        while any(lives(rank) for rank in self.ranks) and time.monotonic() < end:
            time.sleep(0.05)
        if left := [rank for rank in self.ranks if lives(rank)]:
            fail(f"{what}: processes are left: {left}")
        return self.job.returncode, out, err


class ranks_job(mpi_job):
    """A scan over four ranks."""

    def __init__(self, args, listed, database, *more, limit=None):
        program = [args.program, "scan", "--list", listed, "--threads", "1", "-o", database, *more]
        if limit:  # of a file's size, in blocks of 1024 bytes: writing beyond fails as on a full disk
            program = ["bash", "-c", f'trap "" XFSZ; ulimit -f {limit}; exec "$@"', "limited", *program]
        super().__init__(args.mpirun, 4, program)

    def wait_for_results(self, database, count=20):
        """Waits until some are there: True; False if the job has ended."""
        end = time.monotonic() + 60
        while self.job.poll() is None and time.monotonic() < end:
            self.ranks = ranks_of(self.job.pid)
            if len(self.ranks) == 4 and sum(grown(os.path.join(os.path.dirname(database), each)) for each in left_by_ranks(database)) > count:
                return True
            time.sleep(0.01)
        return False


def grown(path):
    """About how many results a rank has: no other process may open its database."""
    try:
        return os.path.getsize(path + "-wal") // 8192
    except OSError:
        return 0


def check_ranks(args, paths):
    listed, links = os.path.join(args.folder, "links.txt"), os.path.join(args.folder, "links")
    os.makedirs(links)
    with open(listed, "w", encoding="utf-8") as out:
        for number in range(args.rank_runs):
            link = os.path.join(links, f"{number:06}")
            os.symlink(paths[number % len(paths)], link)
            out.write(link + "\n")

    def database(name):
        return os.path.join(args.folder, name + ".db")

    for what, asked, tables in (("numbers", ["--reductions", "all"], ("reductions", "messages")),
                                ("rules", [], ("results", "findings", "messages"))):
        alone = scan(args.program, listed, database(f"{what}.alone"), "--format", "csv", *asked)
        truth = rows_of(database(f"{what}.alone"), tables)
        for more in ([], ["--split-above", "5K"], ["--split-above", "0"]):
            over = database(f"{what}.over")
            for leftover in (over, over + "-wal"):
                if os.path.exists(leftover):
                    os.remove(leftover)
            begin = time.monotonic()
            status, out, err = ranks_job(args, listed, over, "--format", "csv", *asked, *more).finish("four ranks")
            if status != alone.returncode:
                fail(f"{what} over four ranks ended with {status}, not {alone.returncode}: {err[-2000:]}")
            if out != alone.stdout.replace("\t", "\\t"):  # rank 0 has a terminal, which escapes controls
                fail(f"{what} over four ranks: the rows are not those of one process")
            compare(truth, rows_of(over, tables), f"{what} over four ranks {more}")
            print(f"{what} over four ranks {more}: the same database and rows of {len(truth['runs'])} runs, {time.monotonic() - begin:.1f} s")
    shards = [database(f"rank-shard{number}") for number in range(1, 5)]
    for number, shard in enumerate(shards, 1):
        scan(args.program, listed, shard, "--shard", f"{number}/4")
    subprocess.run([args.program, "merge", *shards, "-o", database("shards")], check=True, capture_output=True, timeout=600)
    compare(truth, rows_of(database("shards")), "four shards, merged")
    print("four shards, merged: the same database")

    failed = sum(1 for row in truth["runs"] if "failed" in row)
    for name in ("a rank killed", "mpirun killed", "SIGTERM", "a full disk"):
        over = database(name.replace(" ", "-"))
        begin = time.monotonic()
        job = ranks_job(args, listed, over, limit=256 if name == "a full disk" else None)
        if name != "a full disk":
            if not job.wait_for_results(over):
                fail(f"{name}: it has ended before: {job.finish(name)[2][-1000:]}")
            if name == "mpirun killed":
                os.kill(job.job.pid, signal.SIGKILL)
            elif name == "a rank killed":
                os.kill(job.ranks[-1], signal.SIGKILL)
            else:
                os.kill(job.job.pid, signal.SIGTERM)
        status, _, err = job.finish(name)
        if status == 0:
            fail(f"{name}: it ended with 0: {err[-1000:]}")
        left = left_by_ranks(over)
        taken = time.monotonic() - begin
        # The same command completes the rest, over ranks after one disturbance and as a single process after another.
        if name in ("a rank killed", "a full disk"):
            status, _, err = ranks_job(args, listed, over, "--progress", "json").finish(f"{name}, again")
        else:
            again = scan(args.program, listed, over, "--progress", "json")
            status, err = again.returncode, again.stderr
        last = [line for line in err.splitlines() if line.startswith("{")][-1]
        passed = int(last.split('"unchanged":')[1].split(",")[0])
        compare(truth, rows_of(over), f"{name}, and the same command again")
        if left_by_ranks(over):
            fail(f"{name}: databases of ranks are left: {left_by_ranks(over)}")
        if not 0 < passed <= len(truth["runs"]) - failed:
            fail(f"{name}: {passed} runs were not done again, of {len(truth['runs'])}")
        print(f"{name}: {taken:.1f} s, {len(left)} databases of ranks are left; again: {passed} runs need not be done; the same database")


if __name__ == "__main__":
    main()
