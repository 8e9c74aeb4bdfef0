#!/usr/bin/env bash
# Makes HTML of the public headers and of the pages, into build/docs/html: docs/build.sh
# Needs doxygen and python3.  A warning is an error: a broken reference, a parameter that does not exist.
# Works from any directory.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
for program in doxygen python3; do
    if ! command -v "$program" >/dev/null; then
        echo "docs/build.sh needs $program (Debian: apt-get install $program)" >&2
        exit 1
    fi
done
rm -rf build/docs
mkdir -p build/docs
if ! doxygen docs/Doxyfile 2>build/docs/warnings.txt; then
    cat build/docs/warnings.txt >&2
    echo "docs/build.sh: warnings, see above" >&2
    exit 1
fi
echo "build/docs/html/index.html"
