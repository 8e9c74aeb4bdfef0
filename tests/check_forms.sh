#!/usr/bin/env bash
# check_forms.sh LIBRARY... -- COMPILER FLAG...: two files in the compiled form link with the library; files of both
# forms together do not, and the linker says why; everything in smdebug.hpp works in both.  LIBRARY: smdebug::compiled
# and its libraries.
set -euo pipefail
every_name=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/every_name/every_name.cpp
libraries=()
while [[ $1 != -- ]]; do
    libraries+=("$1")
    shift
done
shift
libraries+=("-Wl,-rpath,$(dirname "${libraries[0]}")")  # if it is a shared library
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for name in first second; do
    printf '#include <smdebug/core/error.hpp>\nstd::string %s() { return smdebug::value_error("x").what(); }\n' "$name" >"$name.cpp"
done
printf '#include <string>\nstd::string first();\nstd::string second();\nint main() { return first() == second() ? 0 : 1; }\n' >main.cpp
for name in first second main; do
    "$@" -DSMDEBUG_COMPILED -c -o "$name.compiled.o" "$name.cpp"
    "$@" -c -o "$name.header_only.o" "$name.cpp"
done
"$1" main.compiled.o first.compiled.o second.compiled.o "${libraries[@]}" -o both_compiled
./both_compiled
"$1" main.header_only.o first.header_only.o second.header_only.o "${libraries[@]:1}" -o both_header_only
./both_header_only
for objects in "first.compiled.o second.header_only.o" "second.header_only.o first.compiled.o"; do
    # shellcheck disable=SC2086
    if "$1" main.compiled.o $objects "${libraries[@]}" -o mixed >said 2>&1; then
        echo "a header-only file and one in the compiled form were linked into one program: $objects"
        exit 1
    fi
    if ! grep -q header_only_files_do_not_link_with_those_that_use_smdebug_compiled said; then
        echo "the linker does not say why:"
        cat said
        exit 1
    fi
done
echo "the linker refuses to mix the forms"
if "$@" -DSMDEBUG_COMPILED -D_GLIBCXX_DEBUG -o checked first.cpp second.cpp main.cpp "${libraries[@]}" >said 2>&1; then
    echo "files with -D_GLIBCXX_DEBUG were linked with a library without"
    exit 1
fi
if ! grep -q compiled_form_built_with_GLIBCXX_DEBUG said; then
    echo "the linker does not say that _GLIBCXX_DEBUG is why:"
    cat said
    exit 1
fi
echo "the linker refuses files with _GLIBCXX_DEBUG"
# A user's file: no header but the umbrella, and no own policies.
"$@" -O0 -DSMDEBUG_COMPILED -o every_name_compiled "$every_name" "${libraries[@]}"
./every_name_compiled
"$@" -O0 -o every_name_header_only "$every_name" "${libraries[@]:1}"
./every_name_header_only
echo "both forms have every name of smdebug.hpp"
