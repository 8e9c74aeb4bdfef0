#!/usr/bin/env bash
# Builds the fuzz targets with clang, and runs each for so many seconds, one after the other, from what is kept and from seeds.
#   tests/fuzz/run.sh SECONDS [TARGET...]     as record, archive; none: all
# Ends with a table.  Inputs that fail are in build/fuzz/<target>/findings, and named; exit status 1 then.  New inputs of
# earlier runs are gone on with: remove build/fuzz to begin anew.  SMDEBUG_JOBS=N: how many jobs build at once.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh
if [[ ! ${1:-} =~ ^[0-9]+$ ]]; then
    sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
seconds=$1
shift

stage "packages" install_packages build test
choose_clang
stage "packages" install_packages clang
options=(-DCMAKE_CXX_COMPILER="$clang" -DSMDEBUG_OPTIMISE_FUZZ=ON)
linker=ld.lld-${clang##*-}
if command -v "$linker" >/dev/null; then options+=(-DCMAKE_EXE_LINKER_FLAGS="--ld-path=$linker"); fi
stage "configure (build/asan)" cmake --preset asan --log-level=WARNING "${options[@]}"
wanted=("${@/#/fuzz_}")
if (($# == 0)); then wanted=(fuzz); fi
stage "build" cmake --build --preset asan -j "$jobs" --target "${wanted[@]}"

targets=("$@")
if (($# == 0)); then
    for source in tests/fuzz/*_fuzz.cpp; do targets+=("$(basename "${source%_fuzz.cpp}")"); done
fi
mkdir -p build/fuzz
stage "seeds" python3 -B tests/fuzz/seeds.py build/fuzz/seeds
table=$(printf '%-12s %12s %10s %8s %8s %9s' target executions 'a second' edges inputs findings)
failed=()
for target in "${targets[@]}"; do
    program=build/asan/tests/fuzz/fuzz_$target folder=$root/build/fuzz/$target
    if [[ ! -x $program ]]; then
        say "there is no $program: its packages are missing"
        continue
    fi
    mkdir -p "$folder/findings"
    before=$(find "$folder/findings" -type f | wc -l)
    say "$target: $seconds s"
    tests/fuzz/run_target.sh "$root/$program" "$seconds" "$folder" "$root/build/fuzz/seeds/$target" >"$folder/log" 2>&1 || true
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log" | tail -1)
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$folder/log" | tail -1)
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$folder/log" | tail -1)
    inputs=$(sed -n 's/.* corp: \([0-9]*\).*/\1/p' "$folder/log" | tail -1)
    found=$(($(find "$folder/findings" -type f | wc -l) - before))
    table+=$'\n'$(printf '%-12s %12s %10s %8s %8s %9s' "$target" "${executions:-?}" "${rate:-?}" "${edges:-?}" "${inputs:-?}" "$found")
    if ((found > 0)) || ! grep -q '^Done ' "$folder/log"; then
        failed+=("$target")
        grep -E '^(does not hold|SUMMARY|==[0-9]*==ERROR)|runtime error|Test unit written' "$folder/log" || tail -5 "$folder/log"
    fi
done
printf '%s\n' "$table"
if ((${#failed[@]} > 0)); then
    fail "findings in ${failed[*]}: run a program with the input's path, build/asan/tests/fuzz/fuzz_<target> INPUT"
fi
