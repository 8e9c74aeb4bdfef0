#!/usr/bin/env bash
# check_no_exceptions.sh INCLUDE_FOLDER FOLDER COMPILER FLAG...: all headers of FOLDER compile with -fno-exceptions.
set -euo pipefail
root=$1 folder=$2
shift 2
cd "$root"
shopt -s nullglob globstar
headers=(smdebug/"$folder"/**/*.hpp)
if ((${#headers[@]} == 0)); then
    echo "no header in $root/smdebug/$folder"
    exit 1
fi
for header in "${headers[@]}"; do
    echo "#include <$header>"
done | "$@" -fno-exceptions -fsyntax-only -x c++ -
echo "${#headers[@]} headers of $folder compile without exceptions"
