#!/usr/bin/env bash
# check_shared_cases.sh PROGRAM...: runs the test cases that are in no *_test.cpp, such as those that a header of
# tests/support/ defines: the ctest entries, one a test file, do not reach them.
set -euo pipefail
for program in "$@"; do
    echo "$program"
    "$program" --source-file-exclude='*_test.cpp'
done
