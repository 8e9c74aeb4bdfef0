#!/usr/bin/env bash
# check_compile_fail.sh SOURCE PRECOMPILED COMPILER FLAG...: SOURCE must not compile, the compiler must print the text
# of its line "// expect: TEXT", and with -DCONTROL the same file must compile, so that it fails for that reason alone.
# TEXT must be in a message: the code that a compiler quotes beside it is ignored.
# check_compile_fail.sh --precompile FOLDER PRECOMPILED COMPILER FLAG...: before that, precompiles the includes of
# FOLDER's sources.
set -euo pipefail
export LC_ALL=C
if [[ $1 == --precompile ]]; then
    folder=$2 precompiled=$3
    shift 3
    mkdir -p "$(dirname "$precompiled")"
    grep -h '^#include <' "$folder"/*.cpp | sort -u >"$precompiled"
    exec "$@" -x c++-header "$precompiled" -o "$precompiled.gch"
fi
source=$1 precompiled=$2
shift 2
set -- "$@" -include "$precompiled"
expect=$(sed -n 's|^// expect: ||p' "$source")
if [[ -z $expect ]]; then
    echo "$source has no line '// expect: TEXT'"
    exit 1
fi
if ! "$@" -fsyntax-only -DCONTROL "$source"; then
    echo "$source: with -DCONTROL it should compile"
    exit 1
fi
if said=$("$@" -fsyntax-only "$source" 2>&1); then
    echo "$source: compiles, and should not"
    exit 1
fi
if ! grep -E ': (error|note):|required (for|from)' <<<"$said" | grep -F -- "$expect"; then
    echo "$source: fails without naming '$expect':"
    echo "$said"
    exit 1
fi
