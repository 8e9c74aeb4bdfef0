#!/usr/bin/env python3
"""check_power_loss.py PROGRAM SAVED_RUN READ_RUNS LIBRARY GOLDEN FOLDER [--all | --only NAME]: outputs are complete or
absent, as promised, when the power fails between any two calls that change files.

Each case runs once, and its calls are logged (tests/faults/logged_calls.cpp).  They are replayed up to every cut.
Synced data is kept.  Of the rest - bytes of files, and names in folders - a file system may keep anything: nothing,
all, all but one, only one, half of the bytes or zeros instead, names without any bytes.  Each possible state is
created, read, and resumed.  As in ALICE (OSDI 2014) and CrashMonkey (OSDI 2018); a sync of a folder keeps its names,
not the content of its files.  Without --all (or SMDEBUG_TEST_ALL_FAULTS=1) some of the cuts of long cases are tried,
evenly spread."""
import os
import random
import re
import shutil
import sys
import tarfile
import tempfile

from power_loss_cases import Cache, Database, KeptIndex, Output, Repair, Replaced, Training, problems, run


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

    # Large enough for an index to save time.
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

    def learned(root):
        status, _, err = run([program, "learn", source, "-o", os.path.join(root, "normal.json")])
        if status != 0:
            raise RuntimeError(err)

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
        Output("learn", lambda root: [program, "learn", source, "-o", os.path.join(root, "x/normal.json")], "x/normal.json", bytes_of),
        Replaced("learn again", lambda root: [program, "learn", source, tools.archive, "-o", os.path.join(root, "normal.json")],
                 "normal.json", bytes_of, learned),
        Database("results in a database", lambda root: [program, "scan", source, tools.archive, "-o", os.path.join(root, "out.db")]),
        Cache("the disk cache", lambda root: [tools.read_runs, "--cache", os.path.join(root, "cache"), source]),
        KeptIndex("an archive's index", lambda root: [program, "index", os.path.join(root, "made.tar.gz")], archived),
        Repair("repair", lambda root: [program, "repair", os.path.join(root, "run")], bare),
        Repair("repair of damaged files", lambda root: [program, "repair", os.path.join(root, "run")], damaged),
    ]
    cuts = states = 0
    # In memory if there is room: the programs sync their files there as well.
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
