#!/usr/bin/env python3
"""check_debian_files.py ROOT CMAKE BUILD STAGE: the content of the Debian packages, without building them: each file
that CMake installs is in a package (debian/*.install) or deliberately left out (debian/not-installed), as dh_missing
demands; and each line of those files matches a file."""
import fnmatch
import glob
import os
import shutil
import subprocess
import sys

root, cmake, build, stage = sys.argv[1:]
shutil.rmtree(stage, ignore_errors=True)
subprocess.run([cmake, "--install", build, "--prefix", stage], check=True, stdout=subprocess.DEVNULL)


def as_packaged(path):
    """The path under /usr, where libraries are in a folder for the architecture."""
    parts = path.split(os.sep)
    if parts[0] == "lib" and not parts[1].endswith("-linux-gnu"):
        parts.insert(1, "machine")
    return "/".join(["usr", *parts])


installed = {as_packaged(os.path.relpath(os.path.join(place, name), stage)) for place, _, names in os.walk(stage) for name in names}
lines = {}
for path in sorted(glob.glob(f"{root}/debian/*.install") + glob.glob(f"{root}/debian/not-installed")):
    for line in open(path, encoding="utf-8"):
        if line.strip() and line[0] != "#":
            lines[line.split()[0]] = os.path.basename(path)
wrong = []
taken = set()
for pattern, where in lines.items():
    found = {file for file in installed if fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(file, pattern + "/*")}
    taken |= found
    if not found:
        wrong.append(f"debian/{where}: nothing that is installed is {pattern}")
wrong += [f"{file} is installed, and neither in debian/*.install nor in debian/not-installed" for file in sorted(installed - taken)]
print("\n".join(wrong) or f"{len(installed)} installed files, all in Debian's packages or left out knowingly")
sys.exit(1 if wrong else 0)
