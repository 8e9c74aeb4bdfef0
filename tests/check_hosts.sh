#!/usr/bin/env bash
# check_hosts.sh COMPILER FLAG...: what programs around the library do to their files does not break its headers: options
# for fast arithmetic, macros of one letter, names of third parties, warnings, uses as the README shows them.
set -euo pipefail
export LC_ALL=C
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
compiled=-DSMDEBUG_COMPILED
is_gcc=$("$1" --version | grep -qi clang && echo 0 || echo 1)

must_compile() {  # WHAT COMPILER FLAG... FILE
    local what=$1
    shift
    "$@" || {
        echo "does not compile: $what"
        exit 1
    }
    echo "compiles: $what"
}

cat >hook_line.cpp <<'END'
#include <smdebug/hook.hpp>
int main() {
    smdebug::hook hook({.out_dir = "runs/mine", .save_config = {.save_interval = 100}, .include_collections = {"weights", "gradients"}});
}
END
for level in 0 1 2 3; do
    must_compile "the README's hook, -O$level" "$@" $compiled "-O$level" -Wall -Wextra -Werror -c -o hook.o hook_line.cpp
done
must_compile "the README's hook, -O2, header-only" "$@" -O2 -Wall -Wextra -Werror -c -o hook.o hook_line.cpp

# Hosts with names of their own: of xtensor, and macros of one letter.
{
    echo 'namespace xt { struct xarray; template <class T> struct xexpression; int adapt(); }'
    for letter in {A..Z}; do echo "#define $letter @"; done
    cat hook_line.cpp
} >letters.cpp
must_compile "beside a namespace xt and macros of one letter" "$@" $compiled -fsyntax-only letters.cpp
{
    echo '#include <smdebug/smdebug.hpp>' | "$@" $compiled -M -x c++ - 2>/dev/null | tr ' \\' '\n\n' |
        grep -E '/(xtensor/|xtl/|xsimd/xsimd\.hpp)' | sed -n 's|.*/\(xsimd/xsimd.hpp\)$|#include <\1>|p'
    if echo '#include <xtensor/containers/xarray.hpp>' | "$@" -fsyntax-only -x c++ - 2>/dev/null; then
        echo '#include <xtensor/containers/xarray.hpp>'
        echo '#include <xtensor/containers/xbuffer_adaptor.hpp>'
    else
        echo '#include <xtensor/xarray.hpp>'
        echo '#include <xtensor/xbuffer_adaptor.hpp>'
    fi
    echo '#include <bits/stdc++.h>'
    for letter in {A..Z}; do echo "#define $letter @"; done
    echo '#include <smdebug/smdebug.hpp>'
} >all_letters.cpp
must_compile "all of smdebug.hpp with macros of one letter" "$@" $compiled -fsyntax-only all_letters.cpp

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Wdouble-promotion -Werror)
if ((is_gcc)); then warnings+=(-Wuseless-cast); fi
printf '#include <smdebug/%s>\n' smdebug.hpp hook.hpp archive.hpp s3.hpp formats.hpp >umbrellas.cpp
must_compile "all umbrellas with more warnings" "$@" "${warnings[@]}" -fsyntax-only umbrellas.cpp

# Fast arithmetic: a hook in the compiled form; all else needs NaN, and says so.
must_compile "a hook with -Ofast" "$@" $compiled -Ofast -c -o hook.o hook_line.cpp
echo '#include <smdebug/smdebug.hpp>' >all.cpp
must_compile "all with -Ofast -fno-finite-math-only" "$@" $compiled -Ofast -fno-finite-math-only -fsyntax-only all.cpp
for form in "$compiled" -DHEADER_ONLY; do
    for fast in -Ofast -ffast-math -ffinite-math-only; do
        if "$@" -Wfatal-errors "$form" "$fast" -fsyntax-only all.cpp 2>said; then
            echo "compiles, and would not see NaN: $form $fast"
            exit 1
        fi
        grep -q 'error.*-fno-finite-math-only' said || {
            cat said
            exit 1
        }
    done
done
echo "refused, with what to do: NaN hidden from rules and reductions"
