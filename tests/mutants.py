#!/usr/bin/env python3
"""mutants.py [--only GROUP] [--at-most N] [--list] [--jobs N] [--compiler C++]: puts one error at a time into the
library's most important functions, and checks that their tests fail.

A mutant has one operator changed (< for <=, + for -, && for ||, ...), one condition negated, one result changed, or one
statement left out.  It is caught if the tests of its group no longer compile, fail, or do not end; it survives if they
pass.  Mutants that are equivalent to the original are in EQUIVALENT, each with its reason.  Prints the survivors and a
line of counts for each group; fails if there are any.  Takes some ten seconds a mutant, two hours in all; --at-most N
takes N of each group, evenly spread."""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS = 60  # for the tests of a group; without a mutant they take a few

# A group: the function's file (under include/smdebug), the texts around its mutants (None: the whole file), its tests.
GROUPS = {
    "records": ("record/framing.hpp", ("class reader {", None), ["record/reader_test.cpp"]),
    "varints": ("wire/field.hpp", ("status take_long_varint", "tag_size(field_number"), ["wire/varint_test.cpp"]),
    "fields": ("wire/field.hpp", ("class field_reader {", None), ["wire/field_reader_test.cpp"]),
    "tensors of events": ("tensor/impl/event_decoder.tpp", None,
                          ["tensor/event_decoder_test.cpp", "tensor/event_decoder_damage_test.cpp", "tensor/event_decoder_plan_test.cpp"]),
    "index files": ("index/impl/index_file.ipp", ("split_canonical(byte_view", "SMDEBUG_INLINE std::optional<damage> read_meta"),
                    ["index/index_file_test.cpp"]),
    "fields of index files": ("index/impl/index_file.ipp", ("std::optional<damage> read_meta", None), ["index/index_file_test.cpp"]),
    "spreads": ("reduce/lanes.hpp", ("inline void merge", None), ["reduce/spread_test.cpp", "reduce/scalar_kernel_test.cpp"]),
    "finished reductions": ("reduce/accumulate.hpp", ("class finisher {", None), ["reduce/finish_test.cpp", "reduce/scalar_kernel_test.cpp"]),
    "what is due": ("hook/impl/hook_options.ipp", ("bool is_due", "SMDEBUG_INLINE void check"), ["hook/save_config_test.cpp"]),
    "written steps": ("hook/impl/written_steps.ipp", None, ["hook/written_steps_test.cpp"]),
    "complete steps": ("trial/catalog/impl/catalog.ipp", None,
                       ["trial/catalog/catalog_growth_test.cpp", "trial/catalog/catalog_builder_test.cpp"]),
    "waits": ("trial/load/impl/wait.ipp", None, ["trial/load/wait_test.cpp"]),
    "rules over steps": ("rules/drive/impl/rule_drive.tpp", None, ["rules/drive/rule_drive_test.cpp"]),
    "tar archives": ("archive/directory/tar.hpp", None, ["archive/directory/tar_test.cpp"]),
}

# (group, the trimmed line, the mutated line): why no test can detect it.
EQUIVALENT = {
    ("varints", "const std::size_t limit = rest.size() < max_varint_size ? rest.size() : max_varint_size;",
     "const std::size_t limit = rest.size() <= max_varint_size ? rest.size() : max_varint_size;"): "the lesser of two equal numbers",
    ("fields", "if (code_ != status::ok || rest_.size() < 2) {", "if (code_ != status::ok || rest_.size() <= 2) {"):
        "the way for short fields is only the quicker one",
    ("fields", "if (code < 8 || code >= 0x80 || (code & 7U) != delimited || length >= 0x80 || length > rest_.size() - 2) {",
     "if (code < 8 || code >= 0x80 || (code | 7U) != delimited || length >= 0x80 || length > rest_.size() - 2) {"):
        "the way for short fields is only the quicker one",
    ("fields", "if (code_ != status::ok || rest_.size() < 2) {", "if (code_ == status::ok || rest_.size() < 2) {"):
        "the way for short fields is only the quicker one",
    ("fields", "if (code < 8 || code >= 0x80 || (code & 7U) != delimited || length >= 0x80 || length > rest_.size() - 2) {",
     "if (code <= 8 || code >= 0x80 || (code & 7U) != delimited || length >= 0x80 || length > rest_.size() - 2) {"):
        "8 is of another kind anyway",
    ("index files", "for (; digits < text.size() && digits < 18 && text[digits] >= '0' && text[digits] <= '9'; ++digits) {",
     "for (; digits <= text.size() && digits < 18 && text[digits] >= '0' && text[digits] <= '9'; ++digits) {"):
        "reads a byte behind the text, which AddressSanitizer reports",
    ("index files", "const auto zeros_of = [](std::uint64_t eight) { return (eight - ones) & ~eight & tops; };",
     "const auto zeros_of = [](std::uint64_t eight) { return (eight - ones) & ~eight | tops; };"):
        "bytes are looked at one by one earlier than needed",
    ("index files", "const std::uint64_t controls = (eight - 0x20 * ones) & ~eight & tops;",
     "const std::uint64_t controls = (eight - 0x20 * ones) | ~eight & tops;"): "bytes are looked at one by one earlier than needed",
    ("index files", "while (next_ != end_ && *next_ >= ' ' && *next_ <= '~' && *next_ != '\"' && *next_ != '\\\\') {",
     "while (next_ != end_ && *next_ >= ' ' && *next_ < '~' && *next_ != '\"' && *next_ != '\\\\') {"):
        "a name is never within the last eight bytes of a whole file",
    ("tensors of events", "if (decoded == status::ok && !out.owns_elements() && out.bytes.size() >= many) {",
     "if (decoded == status::ok && !out.owns_elements() && out.bytes.size() > many) {"): "when a checksum is looked at, not whether",
    ("complete steps", "if (files.size() > 1) {", "if (files.size() >= 1) {"): "costs a step of one file an allocation",
    ("complete steps", "return next.workers[a.worker] < next.workers[b.worker];",
     "return next.workers[a.worker] <= next.workers[b.worker];"): "a worker has one file of a step",
    ("waits", "if (everything_ && clock::now() < next_look_) {", "if (everything_ || clock::now() < next_look_) {"):
        "how long it rests; no test asserts a time",
    ("waits", "rested_ = now + std::min<clock::duration>(rest_share * taken, interval);",
     "rested_ = now - std::min<clock::duration>(rest_share * taken, interval);"): "how long it rests; no test asserts a time",
    ("waits", "feed_->begin_look();", ";"): "from when a look's time is counted; no test asserts a time",
    ("tar archives", "const bool is_near = offset - piece_begin_ < near_bytes;",
     "const bool is_near = offset + piece_begin_ < near_bytes;"): "how much is read ahead",
    ("tar archives", "while (more && length < most_head_bytes) {", "while (more && length <= most_head_bytes) {"):
        "a limit of a megabyte, or of a block more",
}

TURNED = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" && ", " || "),
          (" || ", " && "), (" + ", " - "), (" - ", " + "), (" * ", " / "), (" / ", " * "), (" % ", " / "), (" += ", " -= "),
          ("return true;", "return false;"), ("return false;", "return true;"), ("if (!", "if ("), ("(!", "("), (" & ", " | "),
          (" | ", " & "), (" << ", " >> "), (" >> ", " << ")]
STATEMENT = re.compile(r"^\s+(\+\+[\w.\->]+|[\w.\->\[\]]+ [|+-]?= [^{]*|(?!return|const|auto)[\w.\->]+\(.*\));$")


def mutants_of(group):
    """(line number, line, mutated line) of each."""
    path, between, _ = GROUPS[group]
    with open(os.path.join(ROOT, "include/smdebug", path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    inside = between is None
    for number, line in enumerate(lines):
        if between and not inside and between[0] in line:
            inside = True
        elif between and inside and between[1] and between[1] in line:
            break
        code = line.split("//")[0].rstrip()
        text = code.strip()
        if not inside or not text or text.startswith(("#", "static_assert", "template", "namespace", "requires", "using")):
            continue
        made = []
        for old, new in TURNED:
            start = code.find(old)
            while start >= 0:
                # Not in texts, declarations of references or pointers, or type expressions.
                if code[:start].count('"') % 2 == 0 and not re.search(r"constexpr|\boperator\b", code[:start]):
                    made.append(code[:start] + new + code[start + len(old):])
                start = code.find(old, start + 1)
        if STATEMENT.match(code) and code.count("(") == code.count(")"):
            made.append(re.match(r"\s*", code)[0] + ";")
        for each in dict.fromkeys(made):
            yield number, text, each.strip()


def chosen(group, at_most):
    every = [one for one in mutants_of(group) if (group, one[1], one[2]) not in EQUIVALENT]
    return every if at_most is None or len(every) <= at_most else [every[i * len(every) // at_most] for i in range(at_most)]


class Trial:
    def __init__(self, group, folder, compiler):
        self.group, self.folder, self.compiler = group, folder, compiler
        self.path, _, self.tests = GROUPS[group]
        shutil.copytree(os.path.join(ROOT, "include"), os.path.join(folder, "include"))
        self.file = os.path.join(folder, "include/smdebug", self.path)
        with open(self.file, encoding="utf-8") as file:
            self.original = file.read().split("\n")
        self.program = os.path.join(folder, "test")

    def run(self):
        """'passes', or how the tests fail."""
        sources = [os.path.join(ROOT, "tests", name) for name in ["main.cpp", *self.tests]]
        command = [*self.compiler, "-std=c++20", "-O0", "-w", f"-I{self.folder}/include", f"-I{ROOT}/tests",
                   f'-DSMDEBUG_TEST_DATA="{ROOT}/tests/data"', *sources, "-o", self.program, "-lsimdjson", "-lpcre2-8", "-lcurl",
                   "-lssl", "-lcrypto", "-lpugixml", "-lz", "-lzstd", "-lsqlite3", "-pthread"]
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            self.output = built.stderr
            return "does not compile"
        try:
            done = subprocess.run([self.program, "--no-intro"], capture_output=True, check=False, timeout=SECONDS,
                                  preexec_fn=lambda: __import__("resource").setrlimit(__import__("resource").RLIMIT_AS, (8 << 30, 8 << 30)))
        except subprocess.TimeoutExpired:
            self.output = f"they did not end in {SECONDS} s"
            return "does not end"
        self.output = done.stdout.decode(errors="replace")
        return "passes" if done.returncode == 0 else "fails"

    def mutate(self, number, becomes):
        lines = list(self.original)
        lines[number] = becomes
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


def try_group(group, compiler, at_most):
    with tempfile.TemporaryDirectory(prefix="smdebug_mutants_") as folder:
        trial = Trial(group, folder, compiler)
        if trial.run() != "passes":
            return group, None, [trial.output[-2000:]]
        counts, survivors = {}, []
        for number, line, becomes in chosen(group, at_most):
            trial.mutate(number, becomes)
            how = trial.run()
            counts[how] = counts.get(how, 0) + 1
            if how == "passes":
                survivors.append(f"{trial.path}:{number + 1}: {line}\n    becomes {becomes}")
        return group, counts, survivors


def main():
    asked = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    asked.add_argument("--only", action="append", choices=list(GROUPS))
    asked.add_argument("--at-most", type=int)
    asked.add_argument("--list", action="store_true")
    asked.add_argument("--jobs", type=int, default=os.cpu_count())
    asked.add_argument("--compiler", default="clang++-16")
    how = asked.parse_args()
    groups = how.only or list(GROUPS)
    for group, line, becomes in EQUIVALENT:
        if (line, becomes) not in [(text, made) for _, text, made in mutants_of(group)]:
            sys.exit(f"EQUIVALENT has a mutant that there is not: {group}: {line}")
    if how.list:
        for group in groups:
            for number, line, becomes in chosen(group, how.at_most):
                print(f"{group}: {number + 1}: {line}\n    becomes {becomes}")
        return 0
    total, failed = {}, False
    with concurrent.futures.ThreadPoolExecutor(how.jobs) as pool:
        for group, counts, survivors in pool.map(lambda name: try_group(name, how.compiler.split(), how.at_most), groups):
            if counts is None:
                print(f"{group}: its tests do not pass without a mutant: {survivors[0]}", flush=True)
                failed = True
                continue
            for key, value in counts.items():
                total[key] = total.get(key, 0) + value
            print(f"{group}: {sum(counts.values())} mutants: " + ", ".join(f"{value} {key}" for key, value in sorted(counts.items())), flush=True)
            for survivor in survivors:
                print(f"  survives: {survivor}", flush=True)
                failed = True
    print(f"all: {sum(total.values())} mutants: " + ", ".join(f"{value} {key}" for key, value in sorted(total.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
