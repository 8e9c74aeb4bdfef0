#!/usr/bin/env python3
"""The interface for C, as others use it: by its shared library alone.  ROOT: the repository; FOLDER: for what is made.

check_c.py symbols ROOT LIBRARY NM                   it exports what <smdebug/smdebug.h> declares and src/c/exports.map lists
check_c.py c|fortran|python ROOT LIBRARY FOLDER TOOL [FLAG...]   the program in that language is compiled by TOOL, and runs:
    examples/train_c.c, or the block of docs/how-to/c.md, which prints what stands below it"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from check_docs import page

OPTIONS = {"c": "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Werror",
           "fortran": "-std=f2008 -Wall -Wextra -Werror"}


def check_symbols(root, library, nm):
    listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in listed.splitlines() if " A " not in line}
    header = pathlib.Path(root, "include/smdebug/smdebug.h").read_text()
    declared = set(re.findall(r"\b(smd_\w+)\([^()]*\);", header))
    mapped = set(re.findall(r"\b(smd_\w+);", pathlib.Path(root, "src/c/exports.map").read_text()))
    if not exported == declared == mapped:
        sys.exit(f"not both exported and declared: {exported ^ declared}; not both exported and in exports.map: {exported ^ mapped}")
    abi = re.search(r"SMDEBUG_C_ABI (\d+)", header)[1]
    if f"smdebug_c_{abi}" not in listed or not os.path.exists(f"{os.path.dirname(library)}/libsmdebug_c.so.{abi}"):
        sys.exit(f"the symbols' version or the soname is not that of SMDEBUG_C_ABI {abi}")
    print(f"{len(exported)} symbols, all declared")


def check_program(kind, root, library, folder, tool, *flags):
    if tool.endswith("-NOTFOUND"):
        sys.exit(print("skipped: no compiler of", kind) or 77)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    blocks = page(root, "docs/how-to/c.md").blocks
    at = next((i for i, each in enumerate(blocks) if each.kind == kind and each.note("of:") is None), None)
    source = "train." + {"c": "c", "fortran": "f90", "python": "py"}[kind]
    lines = pathlib.Path(root, "examples/train_c.c").read_text().split("\n") if at is None else blocks[at].lines
    pathlib.Path(folder, source).write_text("\n".join(lines) + "\n")
    command = [tool, source] if kind == "python" else ["./program", "runs/c"]
    if kind != "python":
        subprocess.run([tool, f"-I{root}/include", *OPTIONS[kind].split(), source, "-o", "program", library, "-lm", *flags],
                       check=True, cwd=folder)
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)})
    print(done.stdout)
    if at is not None and done.stdout.splitlines() != blocks[at + 1].lines:
        sys.exit("this is not what stands below the block in docs/how-to/c.md:\n" + "\n".join(blocks[at + 1].lines))


if __name__ == "__main__":
    check_symbols(*sys.argv[2:]) if sys.argv[1] == "symbols" else check_program(*sys.argv[1:])
