#!/usr/bin/env python3
"""coverage.py FOLDERS EXPORT...: what llvm-cov counted of the files of folders (with commas between them) in some programs, taken together: a statement or a
branch is reached where any program reaches it, in any instantiation.  A table by folder, then the statements that are not
reached, by why they are not, a line a file.
coverage.py --reduce FOLDERS EXPORT...: makes each export a short one, of the files of those folders alone, in its place.
coverage.py --self-test"""
import collections
import functools
import json
import os
import re
import sys

ONE_VALUE = "one of the values of an expression, in one line"
# Why no test reaches a statement, found by its text and the line before it; the first match counts.
REASONS = [
    ("evaluated at compile time, where nothing is counted",
     r"if constexpr|^\s*\}\) \{|\} -> std::|is_constant_evaluated|^\s*(\[\[nodiscard\]\] )?(static )?constexpr .*[({]$|constexpr .* noexcept \{"),
    ("no memory, or no thread", r"bad_alloc|not enough memory|OUT_OF_MEMORY|no_memory|system_error|no more threads|cannot be started"),
    ("a system call fails: tests/check_faults.py fails each, in programs without counters",
     r"errno|\bE[A-Z]{4,}\b|posix::fail|fail\(\"cannot|fail_writing|DT_UNKNOWN|a temporary file cannot|\bgot < 0|MAP_FAILED|posix_spawn|waitid"
     r"|reaped|pthread_|RENAME_|syncfs|::fstat|readable\("),
    ("a library refuses: libcurl, libcrypto, SQLite, zlib, libzstd, PCRE2, MPI",
     r"libcrypto|curl_|CURLE_|CURL_|SQLITE_|Z_OK|Z_STREAM|Z_MEM|ZSTD_|PCRE2_|pcre2_|ROLLBACK|journal_mode|MPI_"),
    ("ends the process, or runs in a child that writes no counts", r"_Exit|::abort|quit\(|make_in_place|fork"),
    ("rethrown, or left to a later call", r"\} catch \(|will report|reports? why|tries again|retr(y|ies)"),
    (ONE_VALUE, r" \? | : | \|\| | && "),
    ("defaults of a base class, or members that a type must have", r"= default|\bvirtual\b|\boverride\b|noexcept \{ return|const \{ return|\) \{\}$"),
]
NO_REASON = "missing tests"

CODE = 0  # the kind of region for a statement or a block of them


def reduced(export, folders):
    """For each file: [places, whether reached] of its statements, and of both directions of its branches."""
    marks = ["/" + folder.strip("/") + "/" for folder in folders.split(",")]
    statements, branches = {}, {}

    def inside(path):
        return next((path.split(mark, 1)[1] for mark in marks if mark in path), None)

    for function in export["data"][0]["functions"]:
        files = [inside(path) for path in function["filenames"]]
        for *place, count, file, _, kind in function["regions"]:
            if files[file] and kind == CODE:
                key = files[file], *place
                statements[key] = statements.get(key, False) or count > 0
        for *place, taken, passed, file, _, kind in function.get("branches", []):
            if files[file]:
                for way, count in (("taken", taken), ("passed", passed)):
                    key = files[file], *place, way
                    branches[key] = branches.get(key, False) or count > 0
    return {"statements": [[*key, value] for key, value in statements.items()],
            "branches": [[*key, value] for key, value in branches.items()]}


def together(all_counts):
    statements, branches = {}, {}
    for counts in all_counts:
        for into, rows in ((statements, counts["statements"]), (branches, counts["branches"])):
            for *key, value in rows:
                key = tuple(key)
                into[key] = into.get(key, False) or value
    return statements, branches


def shares(rows):
    """By folder: [reached, all]."""
    by_folder = collections.defaultdict(lambda: [0, 0])
    for (file, *_), value in rows.items():
        for folder in (file.split("/")[0] if "/" in file else "(doors)", ""):
            by_folder[folder][0] += value
            by_folder[folder][1] += 1
    return by_folder


def lines_of(places):
    """Lines as 3, 5-9."""
    lines = sorted({line for first, last in places for line in range(first, last + 1)})
    runs = []
    for line in lines:
        if runs and runs[-1][1] == line - 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def show(roots, statements, branches, out):
    of_statements, of_branches = shares(statements), shares(branches)
    print(f"{'folder':12} {'statements':>22} {'branches':>22}", file=out)
    for folder in sorted(of_statements, key=lambda name: (name == "", name)):
        cells = []
        for reached, count in (of_statements[folder], of_branches.get(folder, (0, 0))):
            cells.append(f"{reached:>7} of {count:>6} {100 * reached / count:5.1f}" if count else "-".rjust(22))
        print(f"{folder or 'all':12} {cells[0]:>22} {cells[1]:>22}", file=out)
    missing = collections.defaultdict(lambda: collections.defaultdict(list))
    for (file, first, _, last, _), value in statements.items():
        if not value:
            missing[reason_of(source_of(roots, file), first, last)][file].append((first, last))
    for reason in [*(name for name, _ in REASONS), NO_REASON]:
        files = missing.get(reason, {})
        print(f"\nno test reaches {sum(map(len, files.values()))} statements: {reason}", file=out)
        for file in sorted(files):
            print(f"  {file}: {lines_of(files[file])}", file=out)


@functools.cache
def source_of(roots, file):
    path = next(filter(os.path.exists, (os.path.join(root, file) for root in roots.split(","))))
    with open(path, encoding="utf-8") as source:
        return source.read().split("\n")


def reason_of(lines, first, last):
    text = "\n".join(lines[max(first - 2, 0):last])
    return next((reason for reason, pattern in REASONS
                 if (reason != ONE_VALUE or first == last) and re.search(pattern, text, re.MULTILINE)), NO_REASON)


def self_test():
    def export(count, taken):
        return {"data": [{"functions": [
            {"filenames": ["/x/include/smdebug/core/a.hpp", "/x/tests/t.cpp"],
             "regions": [[1, 1, 5, 2, 1, 0, 0, 0], [2, 3, 3, 4, count, 0, 0, 0], [1, 1, 9, 2, 0, 1, 0, 0], [2, 9, 2, 9, 0, 0, 0, 3]],
             "branches": [[2, 5, 2, 9, taken, 1, 0, 0, 4]]}]}]}

    never = reduced(export(0, 0), "include/smdebug")
    once = reduced(export(1, 1), "include/smdebug")
    assert len(never["statements"]) == 2 and len(never["branches"]) == 2, never
    statements, branches = together([never, never])
    assert shares(statements)[""] == [1, 2] and shares(branches)["core"] == [1, 2]
    statements, branches = together([never, once])
    assert shares(statements)[""] == [2, 2] and shares(branches)[""] == [2, 2]
    lines = ["int f() {", "    if constexpr (a) {", "        throw std::bad_alloc{};", "    }", "    x = y;"]
    assert reason_of(lines, 2, 2) == REASONS[0][0] and reason_of(lines, 4, 4) == REASONS[1][0] and reason_of(lines, 5, 5) == NO_REASON
    assert lines_of([(3, 4), (9, 9), (4, 6)]) == "3-6, 9"


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    arguments = sys.argv[1:]
    reduce = arguments[:1] == ["--reduce"]
    folders, *exports = arguments[reduce:]
    if reduce:
        for path in exports:
            with open(path, encoding="utf-8") as file:
                counts = reduced(json.load(file), folders)
            with open(path + ".part", "w", encoding="utf-8") as file:
                json.dump(counts, file)
            os.replace(path + ".part", path)
        return None
    counts = []
    for path in exports:
        with open(path, encoding="utf-8") as file:
            counts.append(json.load(file))
    show(folders, *together(counts), sys.stdout)
    return None


sys.exit(main())
