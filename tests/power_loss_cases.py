"""The cases of check_power_loss.py: commands that write files, and what must be true of each state that a power loss leaves."""
import os
import shutil
import sqlite3
import subprocess

from power_loss_model import ALL, Journal, key_of, make

SECONDS = 20
MOST_CUTS = 10**9 if ALL else 24
problems = []


def run(command, environment=None):
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired:
        return "hangs", "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class Case:
    """A command that writes under a folder, and the conditions for the states that it may leave."""

    def __init__(self, name, command, prepare=None):
        self.name, self.command, self.prepare = name, command, prepare
        self.states = self.cuts = 0

    def check(self, tools):
        root = os.path.join(tools.folder, "work")
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        if self.prepare:
            self.prepare(root)
        journal = Journal(root)
        log = os.path.join(tools.folder, "calls.log")
        if os.path.exists(log):
            os.remove(log)
        environment = {**os.environ, "LD_PRELOAD": tools.library, "SMDEBUG_LOG_ROOT": root, "SMDEBUG_LOG_FILE": log, "TZ": "UTC"}
        status, out, err = run(self.command(root), environment)
        if status not in (0, 1):
            raise RuntimeError(f"{self.name}: status {status}: {err}")
        journal.read(log)
        final = {path: None if os.path.isdir(os.path.join(root, path)) else True for path in journal.state(journal.calls)}
        for path, node in journal.state(journal.calls).items():
            if node is not None and not path.endswith("-shm"):
                with open(os.path.join(root, path), "rb") as file:
                    if file.read() != node:
                        raise RuntimeError(f"{self.name}: the replay of {path} differs from what was written")
        there = {os.path.relpath(os.path.join(place, name), root) for place, folders, names in os.walk(root) for name in folders + names}
        if there != set(final):
            raise RuntimeError(f"{self.name}: the replay has other files: {sorted(there ^ set(final))[:5]}")
        if isinstance(self, Training) and "".join(text for _, text in journal.printed) != out:
            raise RuntimeError(f"{self.name}: the log lacks reported steps")
        self.begin(tools, root, out)
        cuts = range(journal.calls + 1)
        if len(cuts) > MOST_CUTS:
            step = len(cuts) / MOST_CUTS
            cuts = sorted({int(i * step) for i in range(MOST_CUTS)} | {journal.calls})
        seen = set()
        waiting = []
        for cut in cuts:
            self.cuts += 1
            reported = "".join(text for number, text in journal.printed if number <= cut).splitlines()
            done = cut == journal.calls
            for number, state in enumerate(journal.states(cut)):
                key = key_of(state), tuple(reported), done
                if key in seen:
                    continue
                seen.add(key)
                self.states += 1
                place = os.path.join(tools.states, str(len(waiting)))
                make(state, place)
                waiting.append((f"{self.name}: cut {cut} of {journal.calls}, state {number}", place, reported, done))
                if len(waiting) == 24:
                    self.judge(tools, waiting)
                    waiting = []
        self.judge(tools, waiting)
        print(f"{self.name}: {journal.calls} calls; {self.cuts} cuts, {self.states} states", flush=True)

    def begin(self, tools, root, out):
        """Learns the right results from the output."""

    def judge(self, tools, states):
        for name, place, reported, done in states:
            try:
                self.look(tools, name, place, reported, done)
            except Wrong as why:
                problems.append(f"{name}: {why}")
                keep = os.path.join(tools.folder, "failed", str(len(problems)))
                if len(problems) <= 20:
                    shutil.copytree(place, keep, dirs_exist_ok=True)


class Wrong(Exception):
    pass


def read_rows(tools, runs, extra=()):
    """The output of read_runs: {run: (rows, errors)}."""
    status, out, err = run([tools.read_runs, *extra, *runs])
    if status != 0:
        if len(runs) == 1:
            return {runs[0]: (None, [f"read_runs: status {status}: {err[-300:]}"])}
        return {key: value for each in runs for key, value in read_rows(tools, [each], extra).items()}
    found = {}
    for line in out.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "run":
            rows, errors = found.setdefault(rest, (set(), []))
        elif kind in ("row", "reduced"):
            rows.add(line)
        else:
            errors.append(line)
    return found


def step_of(row):
    return int(row.split(" ")[1]), row.split(" ")[2]


class Training(Case):
    """A run of saved_run.  `durable`: each step reported as kept must be there."""

    def __init__(self, name, options, durable=True, earlier=None):
        self.options, self.earlier, self.durable = options, earlier, durable
        self.right = {}  # (step, worker, version): rows
        super().__init__(name, None, None)

    def check(self, tools):
        # The rows of each version of each step: written alone, and read.
        plain = [option for option in self.options if option not in ("--durable", "--resume", "--background", "--back", "--leave")]
        self.versions = {1, 2, 3, 9}
        for version in self.versions:
            place = os.path.join(tools.folder, "right")
            shutil.rmtree(place, ignore_errors=True)
            words = without(without(without(plain, "--version"), "--first"), "--steps")
            status, _, err = run([tools.saved_run, *words, "--version", str(version), "--steps", "12", place])
            rows, errors = self.read(tools, [place])[place]
            if status != 0 or errors or not rows:
                raise RuntimeError(f"{self.name}: {err} {errors}")
            for row in rows:
                self.right.setdefault((*step_of(row), version), set()).add(row)
        self.first_told = []
        if self.earlier:
            def prepare(root):
                status, out, err = run([tools.saved_run, *self.earlier, os.path.join(root, "a/b/run")])
                if status != 0:
                    raise RuntimeError(err)
                self.first_told = out.splitlines()
            self.prepare = prepare
        self.replaced_from = int(self.options[self.options.index("--first") + 1]) if "--first" in self.options else None
        self.command = lambda root: [tools.saved_run, *self.options, os.path.join(root, "a/b/run")]
        super().check(tools)

    def read(self, tools, runs):
        """The rows of all runs; damage to data that was not promised loses only that data.  Runs that go back, or start
        at a given step, count differently in the modes."""
        found = read_rows(tools, runs, [] if self.durable else ["--skip-damaged"])
        if {"--back", "--workers", "--first"} & set(self.options):
            for run_path, (rows, errors) in found.items():
                found[run_path] = {" ".join(row.split(" ")[:4] + row.split(" ")[5:]) for row in rows}, errors
        return found

    def judge_rows(self, reported, rows, errors, after=None):
        """Every row was written by some writer; each reported step is there."""
        lines = self.first_told + ([] if self.replaced_from is None else [f"again {self.replaced_from}"]) + reported
        whole = {}  # (step, worker): versions that may be there; None in it: it may be missing
        for line in lines:
            words = line.split(" ")
            if words[0] == "kept" and self.durable:
                whole[int(words[1]), words[2]] = {int(words[3])}
            elif words[0] == "again":
                for place in whole:
                    if place[0] >= int(words[1]):
                        whole[place] = None
            elif words[0] == "lost":
                raise Wrong(f"{line}, without a fault")
        if after is not None:
            whole.update({place: {9} for place in after})
        if errors and errors[0].startswith("refused TimedOut") and "--workers" in self.options:
            return  # readable once each worker has written its collections file, which resuming does
        by_step = {}
        for row in rows:
            by_step.setdefault(step_of(row), set()).add(row)
        for place, found in by_step.items():
            fitting = [version for version in self.versions if found <= self.right.get((*place, version), set())]
            if not fitting:
                raise Wrong(f"step {place} has rows that were never written: {sorted(found)[:3]}")
            expected = whole.get(place)
            if expected and not expected & set(fitting):
                raise Wrong(f"step {place} is not that of version {expected}: {sorted(found)[:2]}")
        for place, versions in whole.items():
            if versions and by_step.get(place, set()) not in [self.right[(*place, version)] for version in versions]:
                raise Wrong(f"step {place} was reported as written, but is not there whole: "
                            f"{len(by_step.get(place, set()))} rows, {errors[:2]}")

    def judge(self, tools, states):
        if not states:
            return
        runs = {place: os.path.join(place, "a/b/run") for _, place, _, _ in states}
        before = self.read(tools, list(runs.values()))
        keep = {}
        for name, place, reported, _ in states:
            try:
                rows, errors = before[runs[place]]
                if rows is None:
                    raise Wrong(errors[0])
                self.judge_rows(reported, rows, errors)
            except Wrong as why:
                keep[place] = f"{name}: {why}"
        # Resumes it after the last reported step.
        options = without(without(without([each for each in self.options if each not in ("--leave", "--back", "--background")],
                                          "--version"), "--first"), "--steps")
        if "--workers" in options:
            options += ["--first", "9"]  # several workers may be at different steps
        status, out, err = run([tools.saved_run, *options, "--resume", "--version", "9", "--steps", "2", *runs.values()])
        said = {}
        for line in out.splitlines():
            if line.startswith("run "):
                lines = said.setdefault(line[4:], [])
            else:
                lines.append(line)
        if status != 0:
            problems.append(f"{states[0][0]} and those after it: going on ends with {status}: {err[-300:]}")
            return
        after = self.read(tools, list(runs.values()))
        for name, place, reported, _ in states:
            if place not in keep:
                try:
                    self.judge_resumed(reported, said[runs[place]], after[runs[place]])
                except Wrong as why:
                    keep[place] = f"{name}: gone on with: {why}"
            if place in keep:
                problems.append(keep[place])

    def judge_resumed(self, reported, said, after):
        if said[0].startswith("refused"):
            # Near the end the mark of the job's end may be there although it was not reported.
            is_understood = not self.durable and "claim.smd" in said[0] and "remove the file" in said[0]
            if "has ended" not in said[0] and not is_understood:
                raise Wrong(said[0])
            return
        if said[-1] != "end":
            raise Wrong(said[-1])
        written = {(int(line.split(" ")[1]), line.split(" ")[2]) for line in said if line.startswith("kept ")}
        rows, errors = after
        if len(written) < 2:
            raise Wrong(f"writes nothing: {said}")
        self.judge_rows(reported, rows, errors, written)
        # Incomplete steps are removed or rewritten.
        if any(error.startswith("refused") for error in errors):
            raise Wrong(errors[0])


def without(words, option):
    """The words without an option and its value."""
    if option not in words:
        return list(words)
    at = words.index(option)
    return list(words[:at]) + list(words[at + 2:])


class Output(Case):
    """A command that makes one file or folder, which is complete or absent; and complete when made again."""

    def __init__(self, name, command, output, same, prepare=None, leaves=False, durable=True):
        super().__init__(name, command, prepare)
        self.output, self.same, self.leaves, self.durable = output, same, leaves, durable

    def begin(self, tools, root, out):
        self.whole = self.same(os.path.join(root, self.output))
        if not self.whole:
            raise RuntimeError(f"{self.name}: nothing is made")

    def look(self, tools, name, place, reported, done):
        path = os.path.join(place, self.output)
        if os.path.lexists(path):
            if self.same(path) != self.whole:
                raise Wrong("it is there, and not whole")
            return
        if done and self.durable:
            raise Wrong("it is not there, though the command had ended")
        status, _, err = run(self.command(place))
        if status not in (0, 1) or self.same(path) != self.whole:
            raise Wrong(f"then, made again: status {status}: {err[-300:]}")


class Replaced(Output):
    """A command that replaces a file: there is the old one or the new one, whole, and the new one once the command has ended."""

    def begin(self, tools, root, out):
        before = os.path.join(tools.folder, "before")
        shutil.rmtree(before, ignore_errors=True)
        os.makedirs(before)
        self.prepare(before)
        self.old = self.same(os.path.join(before, self.output))
        super().begin(tools, root, out)
        if self.old == self.whole:
            raise RuntimeError(f"{self.name}: nothing is replaced")

    def look(self, tools, name, place, reported, done):
        found = self.same(os.path.join(place, self.output))
        if found not in (self.old, self.whole):
            raise Wrong("it is neither the old file nor the new one")
        if done and found != self.whole:
            raise Wrong("it is the old file, though the command had ended")
        status, _, err = run(self.command(place))
        if status != 0 or self.same(os.path.join(place, self.output)) != self.whole:
            raise Wrong(f"then, made again: status {status}: {err[-300:]}")


class Database(Case):
    """Results of runs: the file is intact, each result in it is right, and missing ones are found again."""

    def begin(self, tools, root, out):
        self.whole = self.rows(os.path.join(root, "out.db"))

    @staticmethod
    def rows(path):
        if not os.path.exists(path):
            return {}, {}
        with sqlite3.connect(path) as base:
            if base.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                raise Wrong("integrity_check fails")
            if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchall():
                return {}, {}
            runs = base.execute("SELECT id, path, state, steps, last_step, workers, tensors FROM runs").fetchall()
            results = base.execute("SELECT run, rule, status, steps_met, steps_evaluated FROM results").fetchall()
        by_id = {row[0]: row[1] for row in runs}
        of_run = {}
        for row in results:
            if row[0] not in by_id:
                raise Wrong(f"a result of no run: {row}")
            of_run.setdefault(by_id[row[0]], set()).add(row[1:])
        return {row[1]: row[2:] for row in runs}, of_run

    def look(self, tools, name, place, reported, done):
        path = os.path.join(place, "out.db")
        # Checked before SQLite opens and repairs it.
        before = {name: os.path.getsize(os.path.join(place, name)) for name in os.listdir(place)}
        copy = os.path.join(tools.folder, "copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(place, copy)
        try:
            runs, results = self.rows(os.path.join(copy, "out.db"))
        except sqlite3.DatabaseError as why:
            raise Wrong(f"SQLite: {why}") from why
        for run_path, row in runs.items():
            if row != self.whole[0].get(run_path) or results.get(run_path, set()) != self.whole[1].get(run_path, set()):
                raise Wrong(f"{run_path} is not whole: {row}")
        status, _, err = run(self.command(place))
        if status not in (0, 1, 3) or self.rows(path) != self.whole:
            sizes = {name: os.path.getsize(os.path.join(copy, name)) for name in os.listdir(copy)}
            raise Wrong(f"then, scanned again: status {status}: {err[-300:]}, of {before}, {sizes} after opening it")


class Cache(Case):
    """In any state of a cache, reads through it are right."""

    def begin(self, tools, root, out):
        self.rows = [line for line in out.splitlines() if line.startswith("row")]

    def look(self, tools, name, place, reported, done):
        status, out, err = run(self.command(place))
        if status != 0 or [line for line in out.splitlines() if line.startswith("row")] != self.rows:
            raise Wrong(f"status {status}: {err[-300:]} {out[-300:]}")


class KeptIndex(Case):
    """In any state of an archive's index, the archive reads the same as without it."""

    def begin(self, tools, root, out):
        if not os.path.exists(os.path.join(root, "made.tar.gz.smdx")):
            raise RuntimeError(f"{self.name}: nothing is made: {out}")
        self.stats = tools.stats
        self.whole = self.stats(os.path.join(root, "made.tar.gz"))

    def look(self, tools, name, place, reported, done):
        if self.stats(os.path.join(place, "made.tar.gz")) != self.whole:
            raise Wrong("the archive reads otherwise")
        if done and not os.path.exists(os.path.join(place, "made.tar.gz.smdx")):
            raise Wrong("it is not there, though the command had ended")
        status, _, err = run(self.command(place))
        if status != 0 or self.stats(os.path.join(place, "made.tar.gz")) != self.whole:
            raise Wrong(f"then, made again: status {status}: {err[-300:]}")


class Repair(Case):
    """An interrupted repair can be repeated, and reads in between are right."""

    def begin(self, tools, root, out):
        self.whole = read_rows(tools, [os.path.join(root, "run")])[os.path.join(root, "run")][0]

    def look(self, tools, name, place, reported, done):
        path = os.path.join(place, "run")
        rows, errors = read_rows(tools, [path])[path]
        if rows is None or not rows <= self.whole:
            raise Wrong(f"something else is read: {errors[:2]} {sorted((rows or set()) - self.whole)[:2]}")
        if done and rows != self.whole:
            raise Wrong(f"it is not mended, though the command had ended: {len(rows)} rows of {len(self.whole)}, {errors[:2]}")
        status, _, err = run(self.command(place))
        rows, errors = read_rows(tools, [path])[path]
        if status != 0 or rows != self.whole or errors:
            raise Wrong(f"then, repaired again: status {status}: {err[-300:]}, {len(rows or ())} rows, {errors[:2]}")
