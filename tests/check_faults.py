#!/usr/bin/env python3
"""check_faults.py PROGRAM SAVED_RUN READ_RUNS LIBRARY GOLDEN FOLDER [--all | --only NAME]: every call of the programs
that reads or writes files fails in turn, or does half of its work (tests/faults/failing_calls.cpp).  After that
  - a read returns the same as without a fault, or an error is reported; it never returns wrong data;
  - an output exists whole or not at all, and an error is reported; nothing else is left behind; and the same command
    succeeds without a fault;
  - training continues, each step that the hook reported as written is there and right, and the run can be read and
    resumed;
  - a cache on disk never returns wrong data, and its failures cost nothing but time;
  - no program crashes or hangs.
Without --all, or SMDEBUG_TEST_ALL_FAULTS=1 in the environment, some 50 faults of each case, and 20 of each hook's, are tried,
evenly spread; with it, all."""
import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys

READS = {"read", "pread", "preadv2"}
WRITES = {"write", "pwrite", "writev"}
OPENS = {"open", "openat"}
MAKES = WRITES | OPENS | {"mkdir", "ftruncate64", "fsync", "fdatasync", "rename", "renameat2", "link", "close"}
# What a call may say (fdatasync is SQLite's, which takes EINTR of it for an error; Linux has none on local disks): the error, and whether all calls that write fail from then on.
FAULTS = [
    ("EIO", errno.EIO, False, lambda name: True),
    ("ENOSPC", errno.ENOSPC, False, lambda name: name in MAKES - {"close"}),
    ("ENOSPC for good", errno.ENOSPC, True, lambda name: name in MAKES - {"close"}),
    ("EINTR", errno.EINTR, False, lambda name: name in READS | WRITES | OPENS | {"fsync", "flock"}),
    ("EMFILE", errno.EMFILE, False, lambda name: name in OPENS | {"fdopendir", "inotify_init1", "eventfd"}),
    ("ENOMEM", errno.ENOMEM, False, lambda name: name in {"mmap", "mmap64"}),
    ("half", 0, False, lambda name: name in READS | WRITES),
]
SECONDS = 20
problems = []


def contents(folder):
    """Every file under a folder."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


class Case:
    """A command, and the conditions that must hold after it."""
    spared = ()  # calls that do not fail
    some = 50  # approximate number of faults tried, unless all are

    def __init__(self, name, command, output=None, same=None, may_end_with=(0, 1), tells_in_rows=False):
        self.name, self.command, self.output = name, command, output
        self.same = same  # maps the output to a comparable value, or None if it is incomplete
        self.may_end_with = may_end_with
        self.tells_in_rows = tells_in_rows

    def clear(self):
        if self.output:
            above = os.path.dirname(self.output)
            shutil.rmtree(above, ignore_errors=True)
            os.makedirs(above)

    def run(self, library=None, **fault):
        environment = {**os.environ, "TZ": "UTC", "SMDEBUG_FAULT_AT": "0"}
        if library:
            environment["LD_PRELOAD"] = library
        environment.update({f"SMDEBUG_FAULT_{key}": str(value) for key, value in fault.items()})
        try:
            done = subprocess.run(self.command, capture_output=True, env=environment, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return "hangs", "", ""
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def check(self, library, log, all_calls):
        self.clear()
        if os.path.exists(log):
            os.remove(log)
        status, expected, reported = self.run(library, LOG=log)
        if status not in self.may_end_with:
            raise RuntimeError(f"{self.name}: status {status} without a fault: {reported}")
        whole = self.same(self.output) if self.same else None
        with open(log, encoding="ascii") as file:
            names = [name for name in file.read().split() if name not in self.spared]
        tried = [(what, number, name, error, sticky) for what, error, sticky, has in FAULTS for name in sorted(set(names)) if has(name)
                 for number in range(1, names.count(name) + 1)]
        if not all_calls:
            tried = tried[:: max(1, len(tried) // self.some)]
        counts = {"same": 0, "reported": 0}
        self.try_all(library, names, tried, counts, expected, whole)
        print(f"{self.name}: {len(names)} calls; {len(tried)} faults, {counts['same']} of them without any effect, {counts['reported']} reported", flush=True)
        return len(tried)

    def try_all(self, library, names, tried, counts, expected, whole):
        for what, number, name, error, sticky in tried:
            self.clear()
            fault = f"{self.name}: {what} of {name}, {number} of {names.count(name)}"
            status, out, err = self.run(library, CALL=name, AT=number, ERROR=error, STICKY=int(sticky))
            if status not in self.may_end_with and status != 1:
                problems.append(f"{fault}: status {status}: {err[-400:]}")
                continue
            is_same = status in self.may_end_with and out == expected and (not self.same or self.same(self.output) == whole)
            counts["same" if is_same else "reported"] += 1
            if is_same:
                continue
            if error in (errno.EINTR, 0):
                problems.append(f"{fault}: is no error, and changed something: status {status}: {err[-400:]}")
            if not err and not (self.tells_in_rows and status == 1):
                problems.append(f"{fault}: no error is reported: status {status}, {len(out)} bytes of {len(expected)}")
            if not self.same:
                wrong = set(out.splitlines()) - set(expected.splitlines())
                # The last line may be cut if writing failed.
                wrong = [line for line in wrong if name not in WRITES or not any(each.startswith(line) for each in expected.splitlines())]
                if wrong and status == 0:
                    problems.append(f"{fault}: says something else: {sorted(wrong)[:3]}")
                continue
            left = sorted(os.listdir(os.path.dirname(self.output)))
            if left not in ([], [os.path.basename(self.output)]) and not self.is_database_file(left):
                problems.append(f"{fault}: leaves {left}")
            # Exports leave out unreadable parts, and say so.
            if os.path.lexists(self.output) and not self.says_what_failed() and "cannot be read" not in err and self.same(self.output) != whole:
                problems.append(f"{fault}: is there, and is not whole: {err[-300:]}")
            if os.path.lexists(self.output) and not self.output.endswith(".db"):
                self.clear()  # without --replace it is not overwritten
            status, out, err = self.run()
            made = self.same(self.output)
            if status not in self.may_end_with or made != whole:
                problems.append(f"{fault}: then, without a fault: status {status}: {err[-400:]} {str(made)[:600] if self.output.endswith('.db') else ''}")

    def is_database_file(self, left):
        return self.output.endswith(".db") and all(name.startswith(os.path.basename(self.output)) for name in left)

    def says_what_failed(self):
        """A page or a database is complete, with a row for what could not be read."""
        return self.output.endswith((".db", ".html"))


class Telling(Case):
    """One of this test's programs: it succeeds, and prints the outcomes.  It prints by write(), unlike the library."""
    spared = ("write",)
    some = 20  # each of them is checked by three more programs

    def try_all(self, library, names, tried, counts, expected, whole):
        for what, number, name, error, sticky in tried:
            self.clear()
            fault = f"{self.name}: {what} of {name}, {number} of {names.count(name)}"
            status, out, err = self.run(library, CALL=name, AT=number, ERROR=error, STICKY=int(sticky), SPARED=self.spared[0])
            if status != 0:
                problems.append(f"{fault}: status {status}: {err[-400:]}")
                continue
            has_effect = out != expected
            counts["reported" if has_effect else "same"] += 1
            if has_effect and error in (errno.EINTR, 0):
                problems.append(f"{fault}: is no error, and changed something: {sorted(set(out.splitlines()) ^ set(expected.splitlines()))[:2]}")
            for wrong in self.wrong_in(out, expected):
                problems.append(f"{fault}: {wrong}")

    def wrong_in(self, out, expected):
        raise NotImplementedError


def rows_of(text):
    return {line for line in text.splitlines() if line.startswith(("row ", "reduced "))}


class Training(Telling):
    """A run by saved_run; `earlier`: the options of a run left before it."""

    def __init__(self, name, tools, options, earlier=None):
        self.tools, self.options, self.earlier = tools, options, earlier
        self.place = os.path.join(tools.folder, "out", "run")
        self.left = os.path.join(tools.folder, "left")
        super().__init__(name, [tools.saved_run, *options, self.place], self.place)

    def clear(self):
        super().clear()
        if self.earlier is not None:
            if not os.path.exists(self.left):
                subprocess.run([self.tools.saved_run, *self.earlier, "--leave", self.left], check=True, capture_output=True, timeout=SECONDS)
            shutil.copytree(self.left, self.place)

    def try_all(self, library, names, tried, counts, expected, whole):
        if not expected.endswith("\nend\n") or "lost" in expected:
            raise RuntimeError(f"{self.name}: without a fault: {expected}")
        self.right = self.rows()
        super().try_all(library, names, tried, counts, expected, whole)
        shutil.rmtree(self.left, ignore_errors=True)

    def rows(self):
        done = subprocess.run([self.tools.read_runs, self.place], capture_output=True, check=False, timeout=SECONDS)
        return rows_of(done.stdout.decode())

    def wrong_in(self, out, expected):
        lines = out.splitlines()
        rows = self.rows()
        if not rows <= self.right:
            yield f"reads something else: {sorted(rows - self.right)[:2]}"
        steps = {line.split(" ")[1] for line in expected.splitlines() if line.startswith("kept ")}
        kept = {line.split(" ")[1] for line in lines if line.startswith("kept ")}
        reported = {line.split(" ")[1] for line in lines if line.startswith(("kept ", "lost "))}
        if not lines[1].startswith("refused ") and (reported != steps or not lines[-1].startswith("end")):
            yield f"the training does not go on: {lines}"
        for step in kept:
            of_step = {row for row in self.right if row.split(" ")[1] == step}
            if not of_step <= rows:
                yield f"step {step} was reported as written, but is missing: {lines[-3:]}"
        stats = subprocess.run([self.tools.program, "stats", self.place, "--format", "csv"], capture_output=True, check=False, timeout=SECONDS)
        if stats.returncode not in (0, 1) or (kept and lines[-1] == "end" and stats.returncode != 0):
            yield f"stats: status {stats.returncode}: {stats.stderr.decode()[-300:]}"
        # The next writer finds no claim, or that of a dead writer.
        again = subprocess.run([self.tools.saved_run, *without(self.options, "--first"), "--resume", self.place], capture_output=True,
                               check=False, timeout=SECONDS)
        said = again.stdout.decode().splitlines()
        if said[-1] != "end" and "has ended" not in said[-1]:
            yield f"cannot be gone on with: {said[-1]} (it had said {lines[1:][-2:]})"


def without(words, option):
    """The words without an option and its value."""
    at = words.index(option) if option in words else len(words)
    return words[:at] + words[at + 2:]


class Cached(Telling):
    """Reads through a new or a full cache."""

    def __init__(self, name, tools, run, full):
        self.tools, self.full = tools, full
        self.place = os.path.join(tools.folder, "out", "cache")
        super().__init__(name, [tools.read_runs, "--cache", self.place, run], self.place)

    def clear(self):
        super().clear()
        if self.full:
            self.run()

    def wrong_in(self, out, expected):
        rows, right = rows_of(out), rows_of(expected)
        if not rows <= right:
            yield f"reads something else: {sorted(rows - right)[:2]}"
        if rows != right and "\nerror " not in out and "\nrefused " not in out:
            yield f"{len(right - rows)} rows are missing, and no error is reported"
        status, again, err = self.run()
        if status != 0 or again != expected:
            yield f"then, without a fault: status {status}: {err[-300:]} {sorted(set(again.splitlines()) ^ set(expected.splitlines()))[:2]}"


class Tools:
    pass


def database(path):
    """The content of results.db, except times."""
    if not os.path.exists(path):
        return None
    with sqlite3.connect(path) as base:
        runs = base.execute("SELECT path, state, steps, last_step, workers, tensors FROM runs ORDER BY path").fetchall()
        results = base.execute("SELECT path, rule, status, steps_met, steps_evaluated FROM results JOIN runs ON runs.id = run ORDER BY path, number").fetchall()
    return runs, results


def main():
    tools = Tools()
    tools.program, tools.saved_run, tools.read_runs, library, golden, folder = (os.path.abspath(path) for path in sys.argv[1:7])
    program, tools.folder = tools.program, folder
    more = sys.argv[7:]
    all_calls = "--all" in more or os.environ.get("SMDEBUG_TEST_ALL_FAULTS") == "1"
    only = more[more.index("--only") + 1] if "--only" in more else None
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)

    def make(*arguments):
        done = subprocess.run([program, *arguments], capture_output=True, check=False, timeout=SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: {done.stderr.decode()}")

    run = os.path.join(folder, "run")
    shutil.copytree(os.path.join(golden, "torch_mlp"), run)
    bare = os.path.join(folder, "bare")
    shutil.copytree(run, bare, ignore=shutil.ignore_patterns("index"))
    archive, logs, weights = (os.path.join(folder, name) for name in ("packed.tar.zst", "logs", "weights"))
    make("pack", run, "-o", archive)
    make("export", run, "--to", "tensorboard", "-o", logs)
    make("export", run, "--to", "npz", "-o", weights)

    def stats_of(path):
        return subprocess.run([program, "stats", path, "--format", "csv"], capture_output=True, check=False, timeout=SECONDS).stdout or None

    def tree(path):
        return contents(path) or None

    def bytes_of(path):
        if not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def index_of(path):
        return {key: text for key, text in contents(path).items() if key.startswith("index")} or None

    out = os.path.join(folder, "out", "made")
    csv = ["--format", "csv"]
    cases = [
        Case("stats", [program, "stats", run, *csv]),
        Case("ls --verify", [program, "ls", run, "--verify", *csv], tells_in_rows=True),
        Case("scan", [program, "scan", run, bare, *csv]),
        Case("stats of an archive", [program, "stats", archive, *csv]),
        Case("stats of logs", [program, "stats", logs, *csv]),
        Case("stats of checkpoints", [program, "stats", weights, *csv]),
        Case("diff", [program, "diff", run, bare]),
        Case("pack", [program, "pack", run, "-o", out + ".tar.zst"], out + ".tar.zst", stats_of),
        Case("export as a run", [program, "export", run, "--to", "smdebug", "-o", out], out, stats_of),
        Case("export as npz", [program, "export", run, "--to", "npz", "-o", out], out, tree),
        Case("export as csv", [program, "export", run, "--to", "csv", "-o", out + ".csv"], out + ".csv", bytes_of),
        Case("learn", [program, "learn", run, "-o", out + ".json"], out + ".json", bytes_of),
        Case("report", [program, "report", run, "--no-rules", "-o", out + ".html"], out + ".html", bytes_of),
        Case("results in a database", [program, "scan", run, bare, "-o", out + ".db"], out + ".db", database),
        Training("a hook", tools, ["--steps", "3"]),
        Training("a durable hook", tools, ["--durable", "--steps", "3", "--reductions"]),
        Training("a hook in the background", tools, ["--background", "--steps", "4", "--tensorboard"]),
        Training("a hook that resumes", tools, ["--resume", "--durable", "--steps", "2"], ["--steps", "3"]),
        Training("a hook that resumes at an earlier step", tools, ["--resume", "--first", "1", "--steps", "3"], ["--steps", "3"]),
        Cached("a cache on disk", tools, run, False),
        Cached("a full cache on disk", tools, run, True),
    ]
    tried = 0
    for case in cases:
        if only in (None, case.name):
            tried += case.check(library, os.path.join(folder, "calls.txt"), all_calls)
    print(f"{tried} faults")
    kinds = {}
    for problem in problems:
        kinds.setdefault(re.sub(r"[0-9]+", "N", problem), []).append(problem)
    for alike in kinds.values():
        print("FAILED:", alike[0], f"(and {len(alike) - 1} alike)" if len(alike) > 1 else "")
    return 1 if problems else 0


sys.exit(main())
