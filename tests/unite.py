#!/usr/bin/env python3
"""unite.py OUT SOURCE...: joins several test files into one translation unit, which compiles in a fraction of the time:
common templates are instantiated once.

Their includes come first; the rest of each is in its own namespace, with #line, so that doctest's
--source-file and messages of compilers speak of the file as it is.
unite.py --alone SOURCE...: prints those that cannot be united: with macros, conditions, or names in the namespaces of
others."""
import os
import re
import sys

ALONE = re.compile(r"^\s*#\s*(?!include\b)\w+|^\s*(inline )?namespace (?!\{|\w+ = )\w|^\s*extern\b|^template <>|\bint main\(", re.M)
STRICT = "#include <smdebug/core/strict_math/{}.ipp>"  # what tests expect is computed so with -ffast-math, too
INCLUDE = re.compile(r'^#include [<"].*$')


def placed(include, folder):
    """The include with its whole path, where it names a file that lies beside its source."""
    name = include.split('"')[1] if '"' in include else ""
    beside = os.path.join(folder, name)
    return f'#include "{beside}"' if name and os.path.exists(beside) else include


def united(sources):
    includes, bodies = [], []
    for number, source in enumerate(sources):
        lines = open(source, encoding="utf-8").read().splitlines()
        at = [i for i, line in enumerate(lines) if INCLUDE.match(line)]
        for i in at:
            include = placed(lines[i], os.path.dirname(source))
            if include not in includes:
                includes.append(include)
        first = at[-1] + 1 if at else 0
        if any(lines[i].strip() and i not in at and not lines[i].startswith("//") for i in range(first)):
            raise SystemExit(f"{source}: something stands before an #include")
        bodies.append(f'namespace united_{number} {{\n#line {first + 1} "{source}"\n' + "\n".join(lines[first:]) + "\n}\n")
    return "\n".join(includes + [STRICT.format("begin")] + bodies + [STRICT.format("end")]) + "\n"


def main():
    if sys.argv[1] == "--alone":
        print(";".join(s for s in sys.argv[2:] if ALONE.search(open(s, encoding="utf-8").read())), end="")
        return
    os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(united(sys.argv[2:]))


main()
