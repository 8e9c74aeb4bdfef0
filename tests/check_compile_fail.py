#!/usr/bin/env python3
"""check_compile_fail.py CASES COMPILER FLAG...: what CASES, tests/compile_fail.txt, says does not compile, and the compiler
says so in the words expected; the same program without its mistake compiles, so that it fails for that reason alone.

All of them are compiled at once, each in a namespace of its own: twice, with the mistakes and without.  What the compiler
says is sorted by the programs that it names.  A program that is not named with its words is compiled alone, which decides."""
import os
import re
import subprocess
import sys


def read(path):
    """The includes, and of each case its name, the words expected and its lines as (sign, text)."""
    includes, cases, bases = [], [], {}
    with open(path, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            head, *lines = block.strip("\n").split("\n")
            if head.startswith("#include"):
                includes += [head, *lines]
            elif found := re.fullmatch(r"base (\w+)(?: of (\w+))?", head):
                bases[found[1]] = bases.get(found[2], []) + [(" ", line) for line in lines]
            elif found := re.fullmatch(r"case (\S+?)(?: of (\w+))?: .*", head):
                expect = lines.pop(0).removeprefix("expect ")
                cases.append((found[1], expect, patched(bases[found[2]] if found[2] else [], lines)))
            elif includes:
                sys.exit(f"{path}: neither a base nor a case: {head}")
    return includes, cases


def patched(base, lines):
    """A base's lines and a case's own; where the base has a line that the case takes away, it is changed there."""
    made, place = list(base), None
    for line in lines:
        sign, text = (line[0], line[1:]) if line[0] in "-+" else (" ", line)
        if sign == "-" and (" ", text) in base:
            place = made.index((" ", text))
            made[place] = ("-", text)
        elif sign == "+" and place is not None:
            place += 1
            made.insert(place, ("+", text))
        else:
            place = None
            made.append((sign, text))
    return made


def program(includes, cases, left_out):
    """A file with these cases, without the lines of one sign."""
    parts = ["\n".join(includes)]
    for name, _, lines in cases:
        kept = "\n".join(line for sign, line in lines if sign != left_out)
        parts.append(f'#line 1 "{name}"\nnamespace {re.sub(r"[^a-z0-9]", "_", name)} {{\n{kept}\n}}')
    return "\n".join(parts) + "\n"


def compiled(compiler, text):
    """Whether the compiler takes a program, and what it says."""
    version = subprocess.run([compiler[0], "--version"], text=True, capture_output=True, check=True).stdout
    # What a compiler quotes of the code beside a message does not count.
    flags = ["-ferror-limit=0", "-fno-caret-diagnostics"] if "clang" in version else ["-fno-diagnostics-show-caret"]
    ran = subprocess.run([*compiler, "-fsyntax-only", *flags, "-x", "c++", "-"], input=text, text=True, capture_output=True,
                         env={**os.environ, "LC_ALL": "C"})
    return ran.returncode == 0, ran.stderr


def groups(said):
    """Each error with its notes and with the lines that g++ prints before it: where it came from."""
    found, held = [[]], []
    for line in said.split("\n"):
        if re.search(r": (fatal )?error:", line):
            found.append([*held, line])
            held = []
        elif re.search(r"^In file included|: In |: At |: +(recursively )?required (for|from|by)|: +\[ skipping", line):
            held.append(line)
        else:
            found[-1] += [*held, line]
            held = []
    return ["\n".join(group) for group in found[1:]]


def named(said, name, expect):
    """Whether an error of one case has the words."""
    for group in groups(said):
        if re.search(rf"(^|[ ,(]){re.escape(name)}:\d", group, re.M):
            if any(expect in line for line in group.split("\n") if re.search(r": (error|note):|required (for|from)", line)):
                return True
    return False


def main():
    includes, cases = read(sys.argv[1])
    compiler = sys.argv[2:]
    fits, said = compiled(compiler, program(includes, cases, "+"))
    if not fits:
        sys.exit("without their mistakes all should compile:\n" + said)
    _, said = compiled(compiler, program(includes, cases, "-"))
    failed = []
    for case in cases:
        name, expect, _ = case
        if not named(said, name, expect):
            print(f"{name}: compiled alone")
            fits, alone = compiled(compiler, program(includes, [case], "-"))
            if fits:
                failed.append(f"{name}: compiles, and should not")
            elif not named(alone, name, expect):
                failed.append(f"{name}: fails without naming '{expect}':\n{alone}")
    if failed:
        sys.exit("\n".join(failed))
    print(f"{len(cases)} programs do not compile")


if __name__ == "__main__":
    main()
