#!/usr/bin/env python3
"""check_zoo.py ZOO TRAIN_MLP SMDEBUG FOLDER [PAGE] [--update]: trains the zoo into FOLDER and scans it: no rule may complain
about a healthy training, and each failing one must be found by the rule that it is made for.  PAGE has a table of both,
with what the service's parameters would say, which must be up to date; --update writes it."""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

SEEDS = [1, 2, 3, 5, 10, 42]
FAILURES = ["loss_spike", "gradient_spike", "nan_origin", "replica_mismatch", "precision_underflow", "weight_norm_drift"]
CHOICES = ["tensor_variance", "similar_across_runs", "stalled_training", "activation_outliers", "attention_collapse",
           "expert_imbalance", "learned"]  # rules that a scan cannot run without an answer
BEGIN, END = "<!-- zoo:begin -->\n", "<!-- zoo:end -->\n"
HARMLESS = {"NoIssuesFound", "NotApplicable"}


def train_all(zoo, train_mlp, folder):
    shutil.rmtree(folder, ignore_errors=True)
    commands = [[zoo, folder]]
    commands += [[train_mlp, folder / f"healthy/mlp.seed_{seed}", "--seed", str(seed)] for seed in SEEDS]
    commands += [[train_mlp, folder / "healthy/mlp.relu", "--relu"]]
    commands += [[train_mlp, folder / f"failing/{rule}", "--fail", rule] for rule in FAILURES]
    for command in commands:
        run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if run.stderr or run.returncode not in (0, 1, 3):  # 1, 3: it has not learned, or a rule has stopped it
            sys.exit(f"FAILED: {command}: {run.returncode} {run.stderr}")


def scan(smdebug, folder, *options):
    """{run: {rule: row}}"""
    runs = sorted(str(run.relative_to(folder)) for kind in ("healthy", "failing") for run in (folder / kind).iterdir())
    done = subprocess.run([smdebug, "scan", *runs, "--format", "csv", *options], cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"FAILED: scan: {done.returncode} {done.stderr}")
    found = {run: {} for run in runs}
    for row in csv.DictReader(done.stdout.splitlines()):
        found[row["run"]][row["rule"]] = row
    return found


def rule_of(run):
    return run.split("/")[1].split(".")[0]


def wrong(found):
    """What a scan says and should not, or should and does not."""
    for run, rows in found.items():
        if run.startswith("healthy/"):
            if not any(row["status"] == "NoIssuesFound" for row in rows.values()):
                yield f"{run}: no rule has looked at it"
            for rule, row in rows.items():
                if row["status"] not in HARMLESS:
                    yield f"{run}: {rule} {row['status']}: {row['details']}"
        elif rows[rule_of(run)]["status"] != "IssuesFound":
            yield f"{run}: not found"


def tables(ours, theirs):
    """A row a rule and a column a kind of healthy training; then a row a failing one."""
    met = lambda rows, rule: int(rows.get(rule, {}).get("steps_met") or 0)
    kinds = sorted({rule_of(run) for run in ours if run.startswith("healthy/")})
    runs_of = {kind: [run for run in ours if run.startswith("healthy/") and rule_of(run) == kind] for kind in kinds}
    lines = ["| rule | " + " | ".join(kind.replace("_", " ") for kind in kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    for rule in next(iter(theirs.values())):
        sums = [[sum(met(found[run], rule) for run in runs_of[kind]) for found in (theirs, ours)] for kind in kinds]
        if any(map(any, sums)):
            lines.append(f"| `{rule}` | " + " | ".join(f"{a} / {b}" if a or b else "" for a, b in sums) + " |")
    lines += ["", "| failing training | first step, by the service | by a scan | a scan also finds |", "|---|---|---|---|"]
    for run in (run for run in ours if run.startswith("failing/")):
        first = [found[run][rule_of(run)]["first_step"] or "not found" for found in (theirs, ours)]
        more = [rule for rule in ours[run] if met(ours[run], rule) and rule != rule_of(run)]
        more = ", ".join(more[:2]) + (f" and {len(more) - 2} more" if len(more) > 2 else "")
        lines.append(f"| `{run.split('/')[1]}` | {first[0]} | {first[1]} | {more} |")
    return "\n".join(lines) + "\n"


def main():
    update = "--update" in sys.argv
    zoo, train_mlp, smdebug, folder, *page = [pathlib.Path(os.path.abspath(each)) for each in sys.argv[1:] if each != "--update"]
    train_all(zoo, train_mlp, folder)
    ours = scan(smdebug, folder)
    names = [rule for rule in next(iter(ours.values())) if rule not in CHOICES]
    service = folder / "service.json"  # whose rules keep the service's parameters
    service.write_text(json.dumps([{"rule": rule} for rule in names]))
    theirs = scan(smdebug, folder, "--rules-json", service)
    failures = list(wrong(ours))
    if not list(wrong(theirs)):
        failures.append("the service's parameters are as good: this test proves nothing")
    for path in page:
        text = path.read_text()
        new = text[:text.index(BEGIN)] + BEGIN + "\n" + tables(ours, theirs) + "\n" + text[text.index(END):]
        if update:
            path.write_text(new)
        elif new != text:
            failures.append(f"{path}: its table is not up to date; --update writes it")
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{len(ours)} trainings")
    sys.exit(1 if failures else 0)


main()
