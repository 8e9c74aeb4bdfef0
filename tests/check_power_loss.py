#!/usr/bin/env python3
"""check_power_loss.py PROGRAM SAVED_RUN READ_RUNS LIBRARY GOLDEN FOLDER [--all | --only NAME]: what is written lies whole, or not
at all, and as it was promised, when the power fails between any two calls by which files are changed.

Each case is run once, with its calls noted (tests/faults/logged_calls.cpp).  They are replayed up to every cut.  What was synced
by then is there.  Of the rest - bytes of files, and names in folders - a file system keeps what it likes: nothing, all, all but
one, one alone, the half or zeros in place of bytes, names without any bytes.  Each state that may be left is made, read, and gone
on with.  As in ALICE (OSDI 2014) and CrashMonkey (OSDI 2018); a sync of a folder brings its names, not what lies below.
Without --all (or SMDEBUG_TEST_ALL_FAULTS=1) some of the cuts of long cases are tried, evenly spread."""
import hashlib
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

SECONDS = 20
ALL = "--all" in sys.argv or os.environ.get("SMDEBUG_TEST_ALL_FAULTS") == "1"
MOST_CUTS = 10**9 if ALL else 24
MOST_ALONE = 24 if ALL else 4  # changes of one cut that are lost or kept alone
problems = []


def run(command, environment=None):
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS, env=environment)
    except subprocess.TimeoutExpired:
        return "hangs", "", ""
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


# --- what a file system keeps -------------------------------------------------------------------------------------------------


class Node:
    """A file or folder: what it was, and its changes as (number of the call, change)."""

    def __init__(self, base):
        self.base = base  # of a file its bytes, of a folder {name: Node}
        self.changes = []


class Journal:
    """The calls of a process below a folder, and the nodes that they change."""

    def __init__(self, root):
        self.root = root
        self.by_inode = {}
        self.top = self.node_of(root)
        self.now = {}  # path: Node, as the process sees it
        self.fill(root, self.top)
        self.calls = 0
        self.changes = []  # (number of the call, nodes that it changes, what it is)
        self.synced = {}  # number of a change: that of the call by which it is on the disk
        self.printed = []  # (number of the call, text)

    def node_of(self, path):
        if os.path.isdir(path):
            node = Node({})
        else:
            with open(path, "rb") as file:
                node = Node(file.read())
        self.by_inode[os.stat(path).st_ino] = node
        return node

    def fill(self, path, node):
        self.now[path] = node
        if isinstance(node.base, dict):
            for name in os.listdir(path):
                below = os.path.join(path, name)
                node.base[name] = self.node_of(below)
                self.fill(below, node.base[name])

    def change(self, what, *nodes_and_changes):
        for node, change in nodes_and_changes:
            node.changes.append((self.calls, change))
        self.changes.append((self.calls, [node for node, _ in nodes_and_changes], what))

    def put(self, path, node):
        folder, name = os.path.split(path)
        self.now[path] = node
        return self.now[folder], ("name", name, node)

    def take(self, path):
        folder, name = os.path.split(path)
        self.now.pop(path)
        return self.now[folder], ("name", name, None)

    def sync(self, node):
        for number, nodes, _ in self.changes:
            if number not in self.synced and (node is None or node in nodes):
                self.synced[number] = self.calls

    def read(self, path):
        with open(path, "rb") as file:
            text = file.read()
        at = 0
        while at < len(text):
            end = text.index(b"\n", at)
            call, inode, number, size = text[at:end].decode().split(" ")
            data = text[end + 1:end + 1 + int(size)]
            at = end + 2 + int(size)
            self.calls += 1
            self.replay(call, int(inode), int(number), data)

    def replay(self, call, inode, number, data):
        if call == "print":
            self.printed.append((self.calls, data.decode(errors="replace")))
        elif call == "sync_all":
            self.sync(None)
        elif call == "sync":
            self.sync(self.by_inode[inode])
        elif call in ("write", "truncate"):
            change = ("write", number, data) if call == "write" else ("truncate", number)
            self.change(call, (self.by_inode[inode], change))
        else:
            paths = [os.path.normpath(path) for path in data.decode().split("\0")]
            self.rename(call, inode, paths)

    def rename(self, call, inode, paths):
        if call in ("create", "mkdir"):
            self.by_inode[inode] = Node(b"" if call == "create" else {})
            self.change("name", self.put(paths[0], self.by_inode[inode]))
        elif call == "unlink":
            self.change("name", self.take(paths[0]))
        elif call == "link":
            self.change("name", self.put(paths[1], self.now[paths[0]]))
        elif call in ("rename", "exchange"):
            first, second = self.now[paths[0]], self.now.get(paths[1])
            below = {path: node for path, node in self.now.items() if path.startswith((paths[0] + "/", paths[1] + "/"))}
            for path in below:
                del self.now[path]
            done = [self.take(paths[0]), self.put(paths[1], first)]
            if call == "exchange":
                done[0] = self.put(paths[0], second)
            for path, node in below.items():
                older, newer = paths if path.startswith(paths[0] + "/") else reversed(paths)
                if older == paths[0] or call == "exchange":
                    self.now[newer + path[len(older):]] = node
            self.change("name", *done)
        else:
            raise RuntimeError(f"unknown call {call}")

    def unsynced(self, cut):
        """The changes up to a cut that are not on the disk for certain."""
        return [(number, what) for number, _, what in self.changes if number <= cut and self.synced.get(number, cut + 1) > cut]

    def state(self, cut, lost=(), zeroed=(), halved=()):
        """The files after a cut: {path below the folder: bytes, None for a folder}."""
        found = {}

        def bytes_of(node):
            content = bytearray(node.base)
            for number, change in node.changes:
                if number > cut or number in lost:
                    continue
                if change[0] == "truncate":
                    content[change[1]:] = bytes(max(0, change[1] - len(content)))
                    continue
                _, at, data = change
                if number in zeroed:
                    data = bytes(len(data))
                elif number in halved:
                    data = data[:len(data) // 2]
                content.extend(bytes(max(0, at - len(content))))
                content[at:at + len(data)] = data
            return bytes(content)

        def walk(node, path):
            if not isinstance(node.base, dict):
                found[path] = bytes_of(node)
                return
            if path:
                found[path] = None
            names = dict(node.base)
            for number, (_, name, what) in node.changes:
                if number <= cut and number not in lost:
                    names[name] = what
            for name, below in names.items():
                if below is not None:
                    walk(below, os.path.join(path, name))

        walk(self.top, "")
        return found

    def states(self, cut):
        """What may be left after a cut."""
        open_ones = self.unsynced(cut)
        numbers = [number for number, _ in open_ones]
        writes = [number for number, what in open_ones if what != "name"]
        names = [number for number, what in open_ones if what == "name"]
        yield self.state(cut)
        if not numbers:
            return
        yield self.state(cut, lost=set(numbers))
        if writes and names:
            yield self.state(cut, lost=set(writes))
            yield self.state(cut, lost=set(names))
        if writes:
            yield self.state(cut, zeroed=set(writes))
            yield self.state(cut, halved={writes[-1]})
        # The newest are of what is being done.
        for number in numbers[-MOST_ALONE:]:
            yield self.state(cut, lost={number})
            yield self.state(cut, lost=set(numbers) - {number})
        for number in writes[-MOST_ALONE:]:
            yield self.state(cut, zeroed={number})


def key_of(state):
    digest = hashlib.sha256()
    for path in sorted(state):
        digest.update(path.encode() + b"\0")
        digest.update(b"folder" if state[path] is None else hashlib.sha256(state[path]).digest())
    return digest.digest()


def make(state, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path in sorted(state):
        whole = os.path.join(folder, path)
        if state[path] is None:
            os.makedirs(whole, exist_ok=True)
            continue
        with open(whole, "wb") as file:
            file.write(state[path])


# --- cases ---------------------------------------------------------------------------------------------------------------------


class Case:
    """A command that writes below a folder, and what has to hold of the states that it may leave."""

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
            raise RuntimeError(f"{self.name}: what is told is not noted")
        self.begin(tools, root, out)
        cuts = range(journal.calls + 1)
        if len(cuts) > MOST_CUTS:
            step = len(cuts) / MOST_CUTS
            cuts = sorted({int(i * step) for i in range(MOST_CUTS)} | {journal.calls})
        seen = set()
        waiting = []
        for cut in cuts:
            self.cuts += 1
            told = "".join(text for number, text in journal.printed if number <= cut).splitlines()
            done = cut == journal.calls
            for number, state in enumerate(journal.states(cut)):
                key = key_of(state), tuple(told), done
                if key in seen:
                    continue
                seen.add(key)
                self.states += 1
                place = os.path.join(tools.states, str(len(waiting)))
                make(state, place)
                waiting.append((f"{self.name}: cut {cut} of {journal.calls}, state {number}", place, told, done))
                if len(waiting) == 24:
                    self.judge(tools, waiting)
                    waiting = []
        self.judge(tools, waiting)
        print(f"{self.name}: {journal.calls} calls; {self.cuts} cuts, {self.states} states", flush=True)

    def begin(self, tools, root, out):
        """Learns what is right from what was written."""

    def judge(self, tools, states):
        for name, place, told, done in states:
            try:
                self.look(tools, name, place, told, done)
            except Wrong as why:
                problems.append(f"{name}: {why}")
                keep = os.path.join(tools.folder, "failed", str(len(problems)))
                if len(problems) <= 20:
                    shutil.copytree(place, keep, dirs_exist_ok=True)


class Wrong(Exception):
    pass


def read_rows(tools, runs, extra=()):
    """What read_runs says of runs: {run: (rows, errors)}."""
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
    """A run of saved_run.  `durable`: what is told as kept must be there."""

    def __init__(self, name, options, durable=True, earlier=None):
        self.options, self.earlier, self.durable = options, earlier, durable
        self.right = {}  # (step, worker, version): rows
        super().__init__(name, None, None)

    def check(self, tools):
        # What each version of each step is: written alone, and read.
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
        """Damage of what was not promised costs itself alone.  Who goes back, or is told where to go on, counts otherwise in
        the modes."""
        found = read_rows(tools, runs, [] if self.durable else ["--skip-damaged"])
        if {"--back", "--workers", "--first"} & set(self.options):
            for run_path, (rows, errors) in found.items():
                found[run_path] = {" ".join(row.split(" ")[:4] + row.split(" ")[5:]) for row in rows}, errors
        return found

    def judge_rows(self, told, rows, errors, after=None):
        """Every row is one that somebody wrote; what is told is there."""
        lines = self.first_told + ([] if self.replaced_from is None else [f"again {self.replaced_from}"]) + told
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
            return  # it is read when each worker has written its collections file; whoever goes on does that
        by_step = {}
        for row in rows:
            by_step.setdefault(step_of(row), set()).add(row)
        for place, found in by_step.items():
            fitting = [version for version in self.versions if found <= self.right.get((*place, version), set())]
            if not fitting:
                raise Wrong(f"of step {place} something that nobody wrote: {sorted(found)[:3]}")
            expected = whole.get(place)
            if expected and not expected & set(fitting):
                raise Wrong(f"step {place} is not that of version {expected}: {sorted(found)[:2]}")
        for place, versions in whole.items():
            if versions and by_step.get(place, set()) not in [self.right[(*place, version)] for version in versions]:
                raise Wrong(f"step {place} was told as written, and is not there whole: "
                            f"{len(by_step.get(place, set()))} rows, {errors[:2]}")

    def judge(self, tools, states):
        if not states:
            return
        runs = {place: os.path.join(place, "a/b/run") for _, place, _, _ in states}
        before = self.read(tools, list(runs.values()))
        keep = {}
        for name, place, told, _ in states:
            try:
                rows, errors = before[runs[place]]
                if rows is None:
                    raise Wrong(errors[0])
                self.judge_rows(told, rows, errors)
            except Wrong as why:
                keep[place] = f"{name}: {why}"
        # Going on with it, behind all that is told.
        options = without(without(without([each for each in self.options if each not in ("--leave", "--back", "--background")],
                                          "--version"), "--first"), "--steps")
        if "--workers" in options:
            options += ["--first", "9"]  # of several workers each may have come to another step
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
        for name, place, told, _ in states:
            if place not in keep:
                try:
                    self.judge_resumed(told, said[runs[place]], after[runs[place]])
                except Wrong as why:
                    keep[place] = f"{name}: gone on with: {why}"
            if place in keep:
                problems.append(keep[place])

    def judge_resumed(self, told, said, after):
        if said[0].startswith("refused"):
            # Near the end the mark of the job's end may be there, without its having been told.
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
        self.judge_rows(told, rows, errors, written)
        # What was not whole is taken away, or written again.
        if any(error.startswith("refused") for error in errors):
            raise Wrong(errors[0])


def without(words, option):
    """Words without an option and its value."""
    if option not in words:
        return list(words)
    at = words.index(option)
    return list(words[:at]) + list(words[at + 2:])


class Output(Case):
    """A command that makes one file or folder: it is there whole, or not at all; and made again, whole."""

    def __init__(self, name, command, output, same, prepare=None, leaves=False, durable=True):
        super().__init__(name, command, prepare)
        self.output, self.same, self.leaves, self.durable = output, same, leaves, durable

    def begin(self, tools, root, out):
        self.whole = self.same(os.path.join(root, self.output))
        if not self.whole:
            raise RuntimeError(f"{self.name}: nothing is made")

    def look(self, tools, name, place, told, done):
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


class Database(Case):
    """Results of runs: the file is whole, each result is one that was found, and the rest is found again."""

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

    def look(self, tools, name, place, told, done):
        path = os.path.join(place, "out.db")
        # Looked at as it was left: SQLite mends what it opens.
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
    """Whatever became of a cache, what is read through it is right."""

    def begin(self, tools, root, out):
        self.rows = [line for line in out.splitlines() if line.startswith("row")]

    def look(self, tools, name, place, told, done):
        status, out, err = run(self.command(place))
        if status != 0 or [line for line in out.splitlines() if line.startswith("row")] != self.rows:
            raise Wrong(f"status {status}: {err[-300:]} {out[-300:]}")


class KeptIndex(Case):
    """Whatever became of an archive's index, the archive reads as without it."""

    def begin(self, tools, root, out):
        if not os.path.exists(os.path.join(root, "made.tar.gz.smdx")):
            raise RuntimeError(f"{self.name}: nothing is made: {out}")
        self.stats = tools.stats
        self.whole = self.stats(os.path.join(root, "made.tar.gz"))

    def look(self, tools, name, place, told, done):
        if self.stats(os.path.join(place, "made.tar.gz")) != self.whole:
            raise Wrong("the archive reads otherwise")
        if done and not os.path.exists(os.path.join(place, "made.tar.gz.smdx")):
            raise Wrong("it is not there, though the command had ended")
        status, _, err = run(self.command(place))
        if status != 0 or self.stats(os.path.join(place, "made.tar.gz")) != self.whole:
            raise Wrong(f"then, made again: status {status}: {err[-300:]}")


class Repair(Case):
    """A repair that is broken off is begun again, and what is read meanwhile is right."""

    def begin(self, tools, root, out):
        self.whole = read_rows(tools, [os.path.join(root, "run")])[os.path.join(root, "run")][0]

    def look(self, tools, name, place, told, done):
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


class Tools:
    pass


def main():
    tools = Tools()
    tools.program, tools.saved_run, tools.read_runs, tools.library, golden, tools.folder = (
        os.path.realpath(path) for path in sys.argv[1:7])
    more = sys.argv[7:]
    only = more[more.index("--only") + 1] if "--only" in more else None
    shutil.rmtree(tools.folder, ignore_errors=True)
    os.makedirs(tools.folder)
    source = os.path.join(tools.folder, "source")
    shutil.copytree(os.path.join(golden, "torch_mlp"), source)
    tools.archive = os.path.join(tools.folder, "source.tar.gz")
    status, _, err = run([tools.program, "pack", source, "-o", tools.archive])
    if status != 0:
        raise RuntimeError(err)

    # So large that an index spares something.
    large = os.path.join(tools.folder, "large.tar.gz")
    other = os.path.join(tools.folder, "other")
    with open(other, "wb") as file:
        file.write(random.Random(1).randbytes(4 << 20))
    with tarfile.open(large, "w:gz") as to:
        to.add(source, "source")
        to.add(other, "other")

    def stats(path):
        status, out, _ = run([tools.program, "stats", path, "--format", "csv"])
        return out.replace(path, "RUN") if status == 0 else None

    def tree(path):
        found = {}
        for place, _, names in os.walk(path):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    found[os.path.relpath(os.path.join(place, name), path)] = file.read()
        return found or None

    def bytes_of(path):
        if not os.path.exists(path):
            return None
        with open(path, "rb") as file:
            return file.read().replace(os.path.dirname(path).encode(), b"FOLDER")

    tools.stats = stats
    program = tools.program

    def bare(root):
        shutil.copytree(source, os.path.join(root, "run"), ignore=shutil.ignore_patterns("index"))

    def damaged(root):
        shutil.copytree(source, os.path.join(root, "run"))
        for place, _, names in os.walk(os.path.join(root, "run", "index")):
            for name in sorted(names)[::2]:
                with open(os.path.join(place, name), "r+b") as file:
                    file.truncate(40)

    def archived(root):
        shutil.copy(large, os.path.join(root, "made.tar.gz"))

    interrupted = ["--steps", "4", "--leave"]
    cases = [
        Training("a durable run", ["--durable", "--steps", "4"]),
        Training("with reductions and TensorBoard", ["--durable", "--reductions", "--tensorboard"]),
        Training("in the background", ["--durable", "--background", "--steps", "4"]),
        Training("of two workers", ["--durable", "--workers", "2"]),
        Training("that goes back", ["--durable", "--back", "--steps", "4"]),
        Training("resumed", ["--durable", "--resume", "--version", "2", "--steps", "3"], earlier=["--durable", *interrupted]),
        Training("resumed at an earlier step", ["--durable", "--resume", "--version", "2", "--steps", "3", "--first", "2"],
                 earlier=[*interrupted]),
        Training("not durable, with checksums", ["--checksums", "--steps", "3"], durable=False),
        Output("pack", lambda root: [program, "pack", source, "-o", os.path.join(root, "x/made.tar.gz")], "x/made.tar.gz", stats),
        Output("export as a run", lambda root: [program, "export", source, "--to", "smdebug", "-o", os.path.join(root, "x/made")],
               "x/made", stats),
        Output("export as npz", lambda root: [program, "export", source, "--to", "npz", "-o", os.path.join(root, "x/made")],
               "x/made", tree),
        Output("export as csv", lambda root: [program, "export", source, "--to", "csv", "-o", os.path.join(root, "x/made.csv")],
               "x/made.csv", bytes_of),
        Output("report", lambda root: [program, "report", source, "--no-rules", "-o", os.path.join(root, "x/made.html")],
               "x/made.html", bytes_of),
        Database("results in a database", lambda root: [program, "scan", source, tools.archive, "-o", os.path.join(root, "out.db")]),
        Cache("the disk cache", lambda root: [tools.read_runs, "--cache", os.path.join(root, "cache"), source]),
        KeptIndex("an archive's index", lambda root: [program, "index", os.path.join(root, "made.tar.gz")], archived),
        Repair("repair", lambda root: [program, "repair", os.path.join(root, "run")], bare),
        Repair("repair of damaged files", lambda root: [program, "repair", os.path.join(root, "run")], damaged),
    ]
    cuts = states = 0
    # In memory, where there is room for it: the programs sync what they write there, too.
    memory = "/dev/shm"
    has_room = os.path.isdir(memory) and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 200 << 20
    with tempfile.TemporaryDirectory(prefix="power_loss.", dir=memory if has_room else tools.folder) as tools.states:
        for case in cases:
            if only in (None, case.name):
                case.check(tools)
                cuts += case.cuts
                states += case.states
    print(f"{cuts} cuts, {states} states")
    kinds = {}
    for problem in problems:
        kinds.setdefault(re.sub(r"[0-9]+", "N", problem), []).append(problem)
    for alike in kinds.values():
        print("FAILED:", alike[0][:600], f"(and {len(alike) - 1} alike)" if len(alike) > 1 else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
