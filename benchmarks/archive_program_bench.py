#!/usr/bin/env python3
"""archive_program_bench.py PROGRAM RUN [rounds]: whole processes of the program over a run's folder and over archives of it, in turns
with their limits.
- `stats`: the folder for .tar, zlib alone (Python's, in one thread, 256 KiB at a time) for .tar.gz and .zip, `zstd -dc` for .tar.zst;
  on two threads the same on one.  Archives are made in a temporary folder: with their members in the order of their names, as
  `tar -c .` finds them, and by `smdebug pack`.
- `show` of one tensor at the last step, from a .tar.gz whose index was kept: what `tar -xO` and Python's tarfile take for the file.
- `ls` of 1,000 archives of a small run, 100 KB each: reading their bytes."""
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib

SMALL = 1000


def seconds(doing):
    start = time.perf_counter()
    doing()
    return time.perf_counter() - start


def inflate(path):
    with open(path, "rb") as packed:
        unpacking = zlib.decompressobj(31)
        while piece := packed.read(1 << 18):
            unpacking.decompress(piece)
            while unpacking.eof and unpacking.unused_data:
                rest, unpacking = unpacking.unused_data, zlib.decompressobj(31)
                unpacking.decompress(rest)


def quiet(*command, **environment):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment})


def race(cases, limits, rounds):
    """cases: name -> (call, the limit's name or None).  The least time of each."""
    best = {}
    for _ in range(rounds):
        for name, call in [(name, call) for name, (call, _) in cases.items()] + list(limits.items()):
            taken = seconds(call)
            best[name] = min(taken, best.get(name, taken))
    for name, (_, limit) in cases.items():
        ratio = f"   {best[limit] / best[name]:.2f} x {limit}'s {best[limit]:.3f} s" if limit else ""
        print(f"{name:34} {best[name]:8.3f} s{ratio}", flush=True)
    return best


def whole_runs(program, run, folder, rounds):
    def made(name, command):
        path = os.path.join(folder, name)
        subprocess.run(["bash", "-c", command, path], cwd=run, check=True)
        return path

    def packed(name):
        path = os.path.join(folder, name)
        quiet(program, "pack", run, "-o", path, "--threads", "2", *(["--level", "1"] if name.endswith("gz") else []))
        return path

    def stats(path, threads=1):
        return lambda: quiet(program, "stats", path, "--format", "csv", "--threads", str(threads))

    by_name = made("by_name.tar", "tar --sort=name -cf $0 .")
    found = made("found.tar", "tar -cf $0 .")
    gz = made("by_name.tar.gz", f"gzip -1c {by_name} > $0")
    zst = made("by_name.tar.zst", f"zstd -qc {by_name} > $0")
    bgz, pack_gz, pack_zst = made("bgzip.tar.gz", f"bgzip -c {by_name} > $0"), packed("pack.tar.gz"), packed("pack.tar.zst")
    cases = {
        "folder": (stats(run), None),
        "tar": (stats(by_name), "folder"),
        "tar, as found": (stats(found), "folder"),
        "tar.gz": (stats(gz), "zlib"),
        "tar.gz, as found": (stats(made("found.tar.gz", f"gzip -1c {found} > $0")), "zlib"),
        "tar.gz by bgzip": (stats(bgz), "zlib, bgzip's"),
        "tar.gz by bgzip, 2 threads": (stats(bgz, 2), "tar.gz by bgzip"),
        "tar.gz by pack": (stats(pack_gz), "zlib, pack's"),
        "tar.gz by pack, 2 threads": (stats(pack_gz, 2), "tar.gz by pack"),
        "zip": (stats(made("run.zip", "zip -q -1 -r - . | cat > $0")), "zlib"),
        "tar.zst": (stats(zst), "zstd"),
        "tar.zst, as found": (stats(made("found.tar.zst", f"zstd -qc {found} > $0")), "zstd"),
        "tar.zst by pack": (stats(pack_zst), "zstd"),
        "tar.zst by pack, 2 threads": (stats(pack_zst, 2), "tar.zst by pack"),
    }
    limits = {"zlib": lambda: inflate(gz), "zlib, bgzip's": lambda: inflate(bgz), "zlib, pack's": lambda: inflate(pack_gz),
              "zstd": lambda: quiet("zstd", "-dc", zst)}
    race(cases, limits, rounds)
    return gz


def last_step(program, gz, folder, rounds):
    cache = os.path.join(folder, "cache")
    with tarfile.open(gz) as members:
        events = max(name for name in members.getnames() if name.endswith(".tfevents"))
    listed = subprocess.run([program, "ls", gz, "--format", "json"], check=True, capture_output=True, text=True).stdout
    tensor = json.loads(listed.splitlines()[0])["tensors"][-1]["name"]
    quiet(program, "show", gz, tensor, SMDEBUG_CACHE_DIR=cache)

    def by_tarfile():
        with tarfile.open(gz) as members:
            members.extractfile(events).read()

    race({"one tensor of the last step": (lambda: quiet(program, "show", gz, tensor, SMDEBUG_CACHE_DIR=cache), None)},
         {"tar -xO": lambda: quiet("tar", "-xOf", gz, events), "tarfile": by_tarfile}, rounds)
    for name, call in (("its file by tar -xO", lambda: quiet("tar", "-xOf", gz, events)), ("its file by tarfile", by_tarfile)):
        print(f"{name:34} {seconds(call):8.3f} s")


def many_small(program, run, folder, rounds):
    small = os.path.join(folder, "small")
    os.mkdir(small)
    one = os.path.join(small, "0.tar.gz")
    files = sorted(os.path.relpath(os.path.join(where, name), run) for where, _, names in os.walk(run) for name in names)
    with tarfile.open(one, "w:gz", compresslevel=1) as to:  # what is no event file, up to 100 KB
        for name in files:
            if not name.endswith(".tfevents") and os.path.getsize(one) < 80_000:
                to.add(os.path.join(run, name), name)
        noise = os.path.join(small, "noise")
        with open(noise, "wb") as bytes_:
            bytes_.write(os.urandom(80_000))
        to.add(noise, "noise")
        os.remove(noise)
    paths = [one] + [shutil.copy(one, os.path.join(small, f"{i}.tar.gz")) for i in range(1, SMALL)]

    def read_all():
        for path in paths:
            with open(path, "rb") as file:
                file.read()

    name = f"ls of {SMALL} archives"
    best = race({name: (lambda: quiet(program, "ls", *paths), None)}, {"reading": read_all}, rounds)
    each = (best[name] - best["reading"]) / SMALL * 1000
    print(f"{'':34} {each:8.2f} ms each beyond reading {os.path.getsize(one) / 1000:.0f} KB")


def main():
    program, run = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as folder:
        gz = whole_runs(program, run, folder, rounds)
        last_step(program, gz, folder, rounds)
        many_small(program, run, folder, rounds)


if __name__ == "__main__":
    main()
