#!/usr/bin/env python3
"""Learns from trainings of examples/train_mlp.cpp by `smdebug learn`, and checks other seeds: those that did not stop must raise no alarm
of the rule learned, and trainings that fail must.

check_learned_mlp.py TRAIN_MLP SMDEBUG [--learn 1-20] [--leave-out 16] [--check 22-61] [--fail NAME...] [--keep FOLDER]"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def numbers_in(text):
    first, last = (text.split("-") + [text])[:2]
    return list(range(int(first), int(last) + 1))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("train_mlp")
    arguments.add_argument("program")
    arguments.add_argument("--learn", default="1-20")
    arguments.add_argument("--leave-out", default="16")
    arguments.add_argument("--check", default="22-61")
    arguments.add_argument("--fail", nargs="*", default=[])
    arguments.add_argument("--keep")
    given = arguments.parse_args()
    train, program = os.path.abspath(given.train_mlp), os.path.abspath(given.program)
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(given.keep or temporary)

        def trained(name, *options):
            done = subprocess.run([train, str(folder / name), *options], capture_output=True, text=True)
            return name, done.returncode or 9 * ("steep_gradient" in done.stdout + done.stderr)  # slowed down

        learned = [seed for seed in numbers_in(given.learn) if seed not in numbers_in(given.leave_out)]
        jobs = [(f"healthy/{seed}", "--seed", str(seed)) for seed in learned]
        jobs += [(f"other/{seed}", "--seed", str(seed)) for seed in numbers_in(given.check)]
        jobs += [(f"failing/{name}", "--fail", name) for name in given.fail]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            statuses = dict(pool.map(lambda job: trained(*job), jobs))
        file = folder / "normal.json"
        done = subprocess.run([program, "learn", str(folder / "healthy"), "-o", str(file)], capture_output=True, text=True)
        print(done.stdout + done.stderr, end="")
        failed += done.returncode != 0
        size = file.stat().st_size
        print(f"{size} bytes")
        failed += size >= 100_000
        alarms = 0
        for name, status in statuses.items():
            if name.startswith("healthy/"):
                continue
            checked = subprocess.run([program, "check", str(folder / name), "--rule", f"learned,file={file}", "--format", "json"],
                                     capture_output=True, text=True)
            findings = [json.loads(line) for line in checked.stdout.splitlines()]
            is_failing = name.startswith("failing/") or status != 0  # its own rules have slowed or stopped it
            alarms += bool(findings) and not is_failing
            if bool(findings) != is_failing and not (status != 0 and not name.startswith("failing/")):
                print(f"{name}, status {status}: {len(findings)} findings; {[one['tensor'] + ' ' + one['message'] for one in findings[:3]]}")
                failed += 1
            elif findings:
                print(f"{name}, status {status}: {len(findings)} findings, first {findings[0]['tensor']} {findings[0]['message']}")
        print(f"{alarms} alarms of {len(numbers_in(given.check))} other trainings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
