#!/usr/bin/env python3
"""pictures.py FOLDER SMDEBUG TRAIN_MLP: draws the pictures of these pages, NAME.svg, into FOLDER.
pictures.py --check FOLDER SMDEBUG TRAIN_MLP: the same, and fails where they are not those beside this script, up to a pixel.

Of each rule: `train_mlp RUN --fail NAME`, the number that the rule judges at each step of the training, its threshold, and the
step at which `smdebug check` reports it."""
import csv
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 260, 64, 16, 60, 40
INK, PALE, LINE, BAD, PAPER = "#24292f", "#6e7781", "#0969da", "#cf222e", "#ffffff"


def printed(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def judged(smdebug, run, rule):
    """Step and value of the findings of a rule at training steps."""
    rows = (json.loads(line) for line in printed(smdebug, "check", run, "--rule", rule, "--format", "json").splitlines())
    return [(row["step"], float(row["value"]), row["tensor"]) for row in rows if row["mode"] == "TRAIN"]


def reduced(smdebug, run, reduction, *which):
    """Step, tensor and reduction of the saves at training steps."""
    table = printed(smdebug, "stats", run, *which, "--mode", "TRAIN", "--reductions", reduction, "--format", "csv")
    return [(int(row["step"]), row["tensor"], float(row[reduction])) for row in csv.DictReader(io.StringIO(table))]


def lines_of(smdebug, run, rule):
    """What is drawn of a rule: its numbers by step, its threshold, a logarithmic axis, the title, and the parameters of a check."""
    def loosely(parameters, tensor=None):
        return [(step, value) for step, value, name in judged(smdebug, run, rule + "," + parameters) if tensor in (None, name)]

    def losses():
        return [(step, value) for step, _, value in reduced(smdebug, run, "mean", "--tensors", "^CrossEntropyLoss")]

    def norms():
        squares = {}
        for step, _, norm in reduced(smdebug, run, "l2", "--tensors", "^gradient/"):
            squares[step] = squares.get(step, 0) + norm * norm
        return [(step, math.sqrt(sum_)) for step, sum_ in sorted(squares.items())]

    def largest():
        return [(step, value) for step, _, value in reduced(smdebug, run, "abs_max", "--tensors", "^gradient/fc1.weight$")]

    def differing():
        one, other = ({step: digest for step, name, digest in reduced(smdebug, run, "sum", "--collection", "digests", "--worker", worker)
                       if name == "digest/fc1.weight"} for worker in ("worker_0", "worker_1"))
        return [(step, float(one[step] != other[step])) for step in sorted(one)]

    def drift():
        norm = [(step, value) for step, _, value in reduced(smdebug, run, "l2", "--tensors", "^fc1.weight$")]
        return [(step, value / min(other for _, other in norm[max(10, i - 10):i])) for i, (step, value) in enumerate(norm) if i > 10]

    return {
        "loss_spike": lambda: (losses(), None, False, "The loss", ""),
        "gradient_spike": lambda: (norms(), None, True, "The norm of all gradients", ""),
        "nan_origin": lambda: (largest(), None, True, "The largest magnitude in gradient/fc1.weight", ""),
        "replica_mismatch": lambda: (differing(), None, False, "Workers whose digest of fc1.weight is not the others'", ""),
        "activation_outliers": lambda: (loosely("collection_names=outputs,threshold=0.001,min_abs=0"), 100, True,
                                        "The largest activation, in root mean squares of the others", ",collection_names=outputs"),
        "attention_collapse": lambda: (loosely("collection_names=attention,min_entropy=1"), 0.05, False,
                                       "The mean entropy of the attention", ",collection_names=attention"),
        "expert_imbalance": lambda: (loosely("collection_names=experts,threshold=1"), 3, False,
                                     "The greatest load of an expert, in fair shares", ",collection_names=experts"),
        "precision_underflow": lambda: (loosely("threshold=0,subnormal_share=0,patience=1", "gradient/fc1.weight.half"), 0.5, False,
                                        "The share of zeros and subnormal numbers in gradient/fc1.weight.half", ""),
        "weight_norm_drift": lambda: (drift(), 4, True, "The norm of fc1.weight, by the least of its last ten from the eleventh save on", ",warm_up=10"),
    }[rule]()


def ticks(low, high, is_log):
    if is_log:
        every = max(1, math.ceil((math.log10(high) - math.log10(low)) / 5))
        return [10.0 ** power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1, every)]
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 5)
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def picture(rule, numbers, threshold, is_log, title, first_bad):
    finite = [value for _, value in numbers if math.isfinite(value) and (value > 0 or not is_log)]
    all_y = finite + ([threshold] if threshold else [])
    low, high = (min(all_y) / 2, max(all_y) * 2) if is_log else (min(0.0, min(all_y)), max(all_y) * 1.1)
    last = max(step for step, _ in numbers)
    height = (lambda v: math.log(v / low) / math.log(high / low)) if is_log else (lambda v: (v - low) / (high - low))

    def x(step):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * step / last, 1)

    def y(value):
        part = height(min(max(value, low), high)) if math.isfinite(value) else 1
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part, 1)

    def text(at, to, what, anchor="middle", color=PALE, size=12):
        return (f'<text x="{at}" y="{to}" text-anchor="{anchor}" fill="{color}" font-size="{size}" '
                f'stroke="{PAPER}" stroke-width="4" paint-order="stroke">{what}</text>')

    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>', text(LEFT, 22, title, "start", INK, 15)]
    for value in ticks(low, high, is_log):
        parts += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value)}" y2="{y(value)}" stroke="#d8dee4"/>',
                  text(LEFT - 8, y(value) + 4, f"{value:g}", "end")]
    parts += [text(x(step), HEIGHT - BOTTOM + 18, step) for step in range(0, last + 1, 200)]
    parts.append(text(WIDTH - RIGHT, HEIGHT - 6, "step", "end"))
    if threshold:
        parts += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(threshold)}" y2="{y(threshold)}" stroke="{BAD}" stroke-dasharray="6 4"/>',
                  text(WIDTH - RIGHT, y(threshold) - 6, f"threshold {threshold:g}", "end", BAD)]
    parts.append(f'<polyline points="{" ".join(f"{x(step)},{y(value)}" for step, value in numbers)}" fill="none" stroke="{LINE}"/>')
    parts += [f'<circle cx="{x(step)}" cy="{y(value)}" r="3" fill="{LINE}"/>' for step, value in numbers]
    at = dict(numbers)[first_bad]
    before = max((step, value) for step, value in numbers if step < first_bad)[1]
    side = "end" if before < at < max(finite) else "middle"  # left of a curve that rises
    parts += [f'<circle class="finding" cx="{x(first_bad)}" cy="{y(at)}" r="6" fill="none" stroke="{BAD}" stroke-width="2"/>',
              text(min(x(first_bad), WIDTH - RIGHT - 50), y(at) - 12, f"step {first_bad}: {at:.4g}", side, BAD, 13)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">\n<title>{rule}</title>\n'
            f"<desc>{title}, of train_mlp --fail {rule}: found at step {first_bad}</desc>\n" + "\n".join(parts) + "\n</svg>\n")


RULES = ("loss_spike", "gradient_spike", "nan_origin", "replica_mismatch", "activation_outliers", "attention_collapse",
         "expert_imbalance", "precision_underflow", "weight_norm_drift")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def is_like(text, other):
    """The same but for numbers that another CPU may round otherwise."""
    pairs = list(zip(NUMBER.findall(text), NUMBER.findall(other)))
    return NUMBER.sub("#", text) == NUMBER.sub("#", other) and all(
        math.isclose(float(a), float(b), rel_tol=0.01, abs_tol=1.5) for a, b in pairs)


def main(folder, smdebug, train_mlp, checks=False):
    os.makedirs(folder, exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    for rule in RULES:
        with tempfile.TemporaryDirectory() as runs:
            run = os.path.join(runs, rule)
            printed(train_mlp, run, "--fail", rule)
            *shown, parameters = lines_of(smdebug, run, rule)
            svg = picture(rule, *shown, min(step for step, _, _ in judged(smdebug, run, rule + parameters)))
        xml.dom.minidom.parseString(svg)
        with open(os.path.join(folder, rule + ".svg"), "w", encoding="utf-8") as file:
            file.write(svg)
        if checks:
            with open(os.path.join(here, rule + ".svg"), encoding="utf-8") as file:
                if not is_like(svg, file.read()):
                    sys.exit(f"{rule}.svg is not what this script draws: run it, and look at the picture")


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--check"]
    if len(arguments) != 3:
        sys.exit(__doc__)
    main(*arguments, checks="--check" in sys.argv)
