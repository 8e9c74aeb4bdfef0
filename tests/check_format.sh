#!/usr/bin/env bash
# check_format.sh ROOT CLANG_FORMAT: all C++ files are formatted by .clang-format.  Other versions than 16 (Debian 12)
# format some constructs differently: then the test is skipped (77).
set -euo pipefail
cd "$1"
tool=$2
if [[ ! -x $tool ]]; then
    echo "skipped: clang-format is not installed (Debian package clang-format-16)"
    exit 77
fi
version=$("$tool" --version)
if [[ $version != *" version 16."* ]]; then
    echo "skipped: wants clang-format 16, this is $version"
    exit 77
fi
mapfile -t files < <(find include src tests benchmarks examples -path tests/data -prune -o \( -name '*.[hit]pp' -o -name '*.cpp' \) -print | sort)
"$tool" --dry-run -Werror "${files[@]}"
echo "${#files[@]} files are formatted"
