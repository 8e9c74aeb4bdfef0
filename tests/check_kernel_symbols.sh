#!/usr/bin/env bash
# check_kernel_symbols.sh NM OBJECT...: src/kernels/*.cpp are compiled for instruction sets that not every CPU has.
# Each of these OBJECTs offers the linker its table, smdebug::v1::reduce::<name>_kernel, and nothing else: the linker
# keeps any copy of an inline function that other files also have.  And nothing of them runs before the table is used:
# no dynamic initialisation.
# check_kernel_symbols.sh --self-test NM COMPILER: the check finds each of these faults, and is quiet where there is
# none.
set -euo pipefail
export LC_ALL=C

check() {  # NM OBJECT...
    local nm=$1 object symbols tables failed=0
    shift
    if (($# == 0)); then
        echo "no objects: nothing to check"
        return 1
    fi
    for object in "$@"; do
        symbols=$("$nm" -C --defined-only "$object")
        tables=$(awk '$2 ~ /^[A-Z]$/ && $3 ~ /^smdebug::v1::reduce::[a-z0-9]+_kernel$/' <<<"$symbols")
        if (($(grep -c . <<<"$tables") != 1)); then
            echo "${object##*/}: not one table, but: ${tables:-none}"
            failed=1
        fi
        # Upper case: global.  u, v, w: unique or weak.
        if awk '$2 ~ /^[A-Zuvw]$/ && $3 !~ /^smdebug::v1::reduce::[a-z0-9]+_kernel$/' <<<"$symbols" | grep .; then
            echo "${object##*/}: the linker may give these to code for any CPU"
            failed=1
        fi
        if grep -E '_GLOBAL__(sub_)?I_|__cxx_global_var_init|__static_initialization_and_destruction' <<<"$symbols"; then
            echo "${object##*/}: these run when the program starts, on any CPU"
            failed=1
        fi
    done
    if ((failed == 0)); then
        echo "$# objects: a table each and nothing else"
    fi
    return $failed
}

self_test() {  # NM COMPILER
    local nm=$1 compiler=$2 folder wrong=0
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$folder'" EXIT

    expect() {  # WHAT TEXT-OR-EMPTY SOURCE
        printf 'namespace smdebug { inline namespace v1 { namespace reduce { %s } } }\n' "$3" >"$folder/case.cpp"
        "$compiler" -std=c++20 -O2 -c "$folder/case.cpp" -o "$folder/case.o"
        local said status=0
        said=$(check "$nm" "$folder/case.o") || status=$?
        if [[ -z $2 && $status != 0 ]] || [[ -n $2 && ($status == 0 || $said != *"$2"*) ]]; then
            printf '%s: expected "%s", status %s, said: %s\n' "$1" "$2" "$status" "$said"
            wrong=1
        fi
    }
    local table='extern int const a_kernel; int const a_kernel = 1;'
    expect "a table" "" "$table"
    expect "a local function" "" "$table namespace { int f() { return 1; } }"
    expect "no table" "not one table" "static int x;"
    expect "two tables" "not one table" "$table extern int const b_kernel; int const b_kernel = 2;"
    expect "an inline function" "code for any CPU" \
        "inline int f() { return 1; } extern int (*const a_kernel)(); int (*const a_kernel)() = &f;"
    expect "a template, tagged or not" "code for any CPU" \
        "struct tag; template <class T> int f() { return 1; } extern int (*const a_kernel)(); int (*const a_kernel)() = &f<tag>;"
    expect "a template of a local tag" "" \
        "namespace { struct tag; } template <class T> int f() { return 1; }
         extern int (*const a_kernel)(); int (*const a_kernel)() = &f<tag>;"
    expect "a function for all" "code for any CPU" "$table int f() { return 1; }"
    expect "a variable template" "code for any CPU" \
        "template <class T> T v = 1; extern int* const a_kernel; int* const a_kernel = &v<int>;"
    expect "dynamic initialisation" "when the program starts" "$table int g(); static int x = g(); int* h = &x;"
    if check "$nm" >/dev/null; then
        echo "no objects: should fail"
        wrong=1
    fi
    return $wrong
}

if [[ $1 == --self-test ]]; then
    shift
    self_test "$@"
else
    check "$@"
fi
