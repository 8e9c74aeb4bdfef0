#!/usr/bin/env python3
"""batch_program_bench.py PROGRAM RUN [runs] [rounds]: `smdebug scan` over many copies of a small run (2,000; 100 KB is what the
README's figure is of), whole processes, files in the cache, in turns with the limit: `cat` of all files, two at once as the scan's
threads.  The least time of each; what one run costs beyond its bytes; what a second thread, and a second process, bring; the most
memory.  Ranks only where there is mpirun, whose own time, to start and end processes, is measured with a run alone."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time


def measured(*command, **how):
    """Seconds, and the most memory in MB."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 3, 4):
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    return time.perf_counter() - begin, used.ru_maxrss / 1024


def main():
    program, run = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = tempfile.mkdtemp(prefix="smdebug_batch_")
    try:
        for number in range(count):
            shutil.copytree(run, os.path.join(folder, "runs", f"{number // 100:03}", f"run{number:06}"))
        paths = sorted(os.path.join(folder, "runs", group, name) for group in os.listdir(os.path.join(folder, "runs"))
                       for name in os.listdir(os.path.join(folder, "runs", group)))
        listed = os.path.join(folder, "list.txt")
        with open(listed, "w", encoding="utf-8") as out:
            out.write("\n".join(paths) + "\n")
        size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(paths[0]) for name in names)
        scan = [program, "scan", "--list", listed, "--progress", "none"]
        database = os.path.join(folder, "results.db")
        cat = [["bash", "-c", f"find {folder}/runs -type f -print0 | xargs -0 -n 2000 -P {at_once} cat"] for at_once in (1, 2)]
        ranks = shutil.which("mpirun")
        allowed = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        mpirun = [ranks, "--oversubscribe", "-n"]
        cases = {
            "cat of all files, one at a time": lambda: measured(*cat[0]),
            "cat of all files, two at once": lambda: measured(*cat[1]),
            "scan, 1 thread": lambda: measured(*scan, "--threads", "1", "--format", "csv"),
            "scan, 2 threads": lambda: measured(*scan, "--threads", "2", "--format", "csv"),
            "scan, 2 threads, a new database": lambda: measured(*scan, "--threads", "2", "-o", database),
            "the same again: nothing to do": lambda: measured(*scan, "--threads", "2", "-o", database),
        }
        if ranks:
            one = [program, "scan", paths[0], "--progress", "none", "--threads", "1", "--format", "csv"]
            cases["1 process of mpirun, one run"] = lambda: measured(*mpirun, "1", *one, env=allowed)
            cases["2 processes of mpirun, one run"] = lambda: measured(*mpirun, "2", *one, env=allowed)
            cases["scan, 1 process of mpirun"] = lambda: measured(*mpirun, "1", *scan, "--threads", "1", "--format", "csv", env=allowed)
            cases["scan, 2 processes of mpirun"] = lambda: measured(*mpirun, "2", *scan, "--threads", "1", "--format", "csv", env=allowed)
        best = {}
        for _ in range(rounds):
            for name, call in cases.items():
                if "new database" in name:
                    for end in ("", "-wal", "-shm"):
                        if os.path.exists(database + end):
                            os.remove(database + end)
                seconds, memory = call()
                known = best.get(name, (seconds, memory))
                best[name] = (min(seconds, known[0]), max(memory, known[1]))
        print(f"{count} runs of {size:,} bytes")
        for name, (seconds, memory) in best.items():
            print(f"{name:36} {seconds:8.3f} s  {1000 * seconds / count:7.3f} ms a run  {memory:6.0f} MB", flush=True)
        limit = best["cat of all files, two at once"][0]
        for name in ("scan, 2 threads", "scan, 2 threads, a new database"):
            print(f"{name}: {1000 * (best[name][0] - limit) / count:.3f} ms a run beyond its bytes")
        print(f"cat, two at once: {best['cat of all files, one at a time'][0] / limit:.2f} x one")
        print(f"2 threads: {best['scan, 1 thread'][0] / best['scan, 2 threads'][0]:.2f} x one")
        if ranks:
            whole = [best[f"scan, {count} of mpirun"][0] for count in ("1 process", "2 processes")]
            start = [best[f"{count} of mpirun, one run"][0] for count in ("1 process", "2 processes")]
            print(f"2 processes: {whole[0] / whole[1]:.2f} x one; "
                  f"without their start and end {(whole[0] - start[0]) / (whole[1] - start[1]):.2f} x")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
