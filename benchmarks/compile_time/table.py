#!/usr/bin/env python3
"""table.py INCLUDE_FOLDER COMPILER FLAG...: what the library costs a file that uses it, in both forms: CPU seconds, the ratio to
T, and memory.  T is what the third parties' headers cost alone, measured in the same run.  Fails where a ratio is above its
limit, a tenth more than what was measured, so that nothing grows unseen; what is aimed at stands in benchmarks/README.md.
  g++:  benchmarks/compile_time/table.py include g++ -std=c++20
--headers: also what each header costs alone, without a limit."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# What is compiled: the arguments, then the limits of the two forms.
ROWS = [
    ("include smdebug.hpp", ["-fsyntax-only", "umbrella.cpp"], 6.0, 1.3),
    ("include trial/basic_trial.hpp", ["-fsyntax-only", "door.cpp"], 3.2, 0.6),
    ("-O2, reads a run", ["-O2", "-c", "-o", "o.o", "-DDOOR=<smdebug/trial/basic_trial.hpp>", HERE + "/read_run.cpp"], 9.0, 0.7),
    ("-O2, the same by smdebug.hpp", ["-O2", "-c", "-o", "o.o", "-DDOOR=<smdebug/smdebug.hpp>", HERE + "/read_run.cpp"], 12, 1.4),
    ("-O2, a hook", ["-O2", "-c", "-o", "o.o", HERE + "/hook.cpp"], 9, 0.75),
    ("-O2, invoke_rules with three rules", ["-O2", "-c", "-o", "o.o", HERE + "/rules.cpp"], 13.5, 1.1),
]
# The parts of <smdebug/src.hpp> and of its components, of which smdebug::compiled is made: all together, and the largest in MB.
PARTS_LIMIT, PART_LIMIT_MB = 60, 1200


def cost(command, folder, times=3):
    """The least CPU seconds of some runs, as what a busy machine adds is no property of the library; and megabytes."""
    best, memory = None, 0
    for _ in range(times):
        child = subprocess.Popen(command, cwd=folder)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return None
        best = used.ru_utime if best is None else min(best, used.ru_utime)
        memory = max(memory, used.ru_maxrss / 1024)
    return best, memory


def write(folder, name, *headers):
    with open(os.path.join(folder, name), "w") as file:
        file.writelines(f"#include <{header}>\n" for header in headers)


def main():
    arguments = sys.argv[1:]
    all_headers = arguments[:1] == ["--headers"]
    if all_headers:
        del arguments[0]
    root = os.path.abspath(arguments[0])
    compiler = arguments[1:] + ["-I" + root]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "third.cpp", "xtensor/xarray.hpp", "xtensor/xadapt.hpp", "xsimd/xsimd.hpp", "simdjson.h", "curl/curl.h")
        write(folder, "umbrella.cpp", "smdebug/smdebug.hpp")
        write(folder, "door.cpp", "smdebug/trial/basic_trial.hpp")
        unit, memory = cost(compiler + ["-fsyntax-only", "third.cpp"], folder)
        version = subprocess.run([compiler[0], "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        print(f"{version[:50]:52} {'seconds':>8} {'x T':>6} {'limit':>6} {'MB':>6}")
        print(f"{'T: the third parties alone':52} {unit:8.2f} {1:6.2f} {'':6} {memory:6.0f}", flush=True)
        for form, flags in (("header-only", []), ("compiled", ["-DSMDEBUG_COMPILED"])):
            for what, how, *limits in ROWS:
                measured = cost(compiler + flags + how, folder)
                if measured is None:
                    print(f"{form}: {what}: does not compile")
                    good = False
                    continue
                limit = limits[1 if flags else 0]
                ratio = measured[0] / unit
                over = "  OVER" if ratio > limit else ""
                good = good and not over
                print(f"{form + ': ' + what:52} {measured[0]:8.2f} {ratio:6.2f} {limit:6} {measured[1]:6.0f}{over}", flush=True)
        seconds = largest = 0
        for part in sorted(os.listdir(os.path.join(root, "smdebug/src"))):
            if part != "kernel.ipp":  # the library has smdebug::kernels
                write(folder, "part.cpp", "smdebug/src/" + part)
                measured = cost(compiler + ["-O2", "-DSMDEBUG_COMPILED", "-c", "-o", "o.o", "part.cpp"], folder, 1)
                if measured is None:
                    print(f"src/{part}: does not compile")
                    good = False
                    continue
                print(f"{'-O2, src/' + part:52} {measured[0]:8.2f} {measured[0] / unit:6.2f} {'':6} {measured[1]:6.0f}", flush=True)
                seconds, largest = seconds + measured[0], max(largest, measured[1])
        over = "  OVER" if seconds / unit > PARTS_LIMIT or largest > PART_LIMIT_MB else ""
        good = good and not over
        print(f"{'all of them':52} {seconds:8.2f} {seconds / unit:6.2f} {PARTS_LIMIT:6} {largest:6.0f}{over}", flush=True)
        if all_headers:
            for path, _, names in sorted(os.walk(root)):
                for name in sorted(name for name in names if name.endswith(".hpp")):
                    header = os.path.relpath(os.path.join(path, name), root)
                    write(folder, "one.cpp", header)
                    measured = cost(compiler + ["-fsyntax-only", "one.cpp"], folder)
                    print(f"{header:52} {measured[0]:8.2f}" if measured else f"{header:52} does not compile", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
