#!/usr/bin/env python3
"""archive_program_bench.py PROGRAM RUN [rounds]: whole processes of `smdebug stats` over a run's folder and over archives of it,
in turns with their limits: the folder for .tar, zlib alone (Python's, in one thread, 256 KiB at a time) for .tar.gz and .zip,
`zstd -dc` for .tar.zst.  The archives are made in a temporary folder, once with their members in the order of their names and
once as `tar -c .` finds them."""
import os
import subprocess
import sys
import tempfile
import time
import zlib


def seconds(doing):
    start = time.perf_counter()
    doing()
    return time.perf_counter() - start


def inflate(path):
    with open(path, "rb") as packed:
        unpacking = zlib.decompressobj(31)
        while piece := packed.read(1 << 18):
            unpacking.decompress(piece)


def quiet(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    program, run = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as folder:
        def made(name, command):
            path = os.path.join(folder, name)
            subprocess.run(["bash", "-c", command, path], cwd=run, check=True)
            return path

        by_name = made("by_name.tar", "tar --sort=name -cf $0 .")
        found = made("found.tar", "tar -cf $0 .")
        gz = made("by_name.tar.gz", f"gzip -1c {by_name} > $0")
        zst = made("by_name.tar.zst", f"zstd -qc {by_name} > $0")
        cases = [("folder", run, None), ("tar", by_name, "folder"), ("tar, as found", found, "folder"),
                 ("tar.gz", gz, "zlib"), ("tar.gz, as found", made("found.tar.gz", f"gzip -1c {found} > $0"), "zlib"),
                 ("tar.gz by bgzip", made("bgzip.tar.gz", f"bgzip -c {by_name} > $0"), "zlib"),
                 ("zip", made("run.zip", "zip -q -1 -r - . | cat > $0"), "zlib"),
                 ("tar.zst", zst, "zstd"), ("tar.zst, as found", made("found.tar.zst", f"zstd -qc {found} > $0"), "zstd")]
        limits = {"zlib": lambda: inflate(gz), "zstd": lambda: quiet("zstd", "-dc", zst)}
        best = {}
        for _ in range(rounds):
            for name, path, _ in cases:
                taken = seconds(lambda: quiet(program, "stats", path, "--format", "csv"))
                best[name] = min(taken, best.get(name, taken))
            for name, limit in limits.items():
                taken = seconds(limit)
                best[name] = min(taken, best.get(name, taken))
        for name, _, limit in cases:
            ratio = f"   {best[limit] / best[name]:.2f} x {limit}'s {best[limit]:.2f} s" if limit else ""
            print(f"{name:20} {best[name]:7.2f} s{ratio}")


main()
