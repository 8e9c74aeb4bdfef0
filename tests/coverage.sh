#!/usr/bin/env bash
# Which statements and branches of include/smdebug/ and src/ the tests reach: builds them with clang's counters, runs
# them, and prints a table by folder, and the unreached statements with the reasons.
#   tests/coverage.sh [--no-run]      --no-run: uses the counts of the last run
# Takes three quarters of an hour on two cores.  The counts go to build/coverage/counts.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

stage "packages" install_packages build test
choose_clang
version=${clang##*-}
packages_clang+=("llvm-$version")
stage "packages" install_packages clang
counts=$root/build/coverage/counts

# Failing tests are reported by tests/run.sh; here only what they reached counts.
run_tests() {
    local failed=0
    {
        ctest --preset coverage -j "$jobs" || failed=1
        # Of the tests that sanitized builds leave out, those that run the program.
        ctest --test-dir build/coverage -R '^(batch|exports)$' || failed=1
    } >"$counts/tests.log"
    ((failed == 0)) || tail -n 15 "$counts/tests.log"
}

if [[ ${1-} != --no-run ]]; then
    stage "configure (build/coverage)" cmake --preset coverage --log-level=WARNING -DCMAKE_CXX_COMPILER="$clang" \
        -DCMAKE_EXE_LINKER_FLAGS="--ld-path=ld.lld-$version"
    stage "build" cmake --build --preset coverage -j "$jobs"
    rm -rf "$counts"
    mkdir -p "$counts"
    # One file for each program, to which all its processes add.
    export LLVM_PROFILE_FILE=$counts/%m.profraw
    stage "test" run_tests
fi
stage "merge" "llvm-profdata-$version" merge --failure-mode=all -sparse -o "$counts/all.profdata" "$counts"/*.profraw
exports=()
while IFS= read -r program; do
    # One program after the other: functions of the same name may differ between programs.
    "llvm-cov-$version" export -skip-expansions -instr-profile "$counts/all.profdata" "$program" \
        >"$counts/${program##*/}.json" 2>"$counts/${program##*/}.log" || fail "$(tail -n 3 "$counts/${program##*/}.log")"
    python3 -B tests/coverage.py --reduce include/smdebug,src "$counts/${program##*/}.json"
    exports+=("$counts/${program##*/}.json")
done < <(find build/coverage build/coverage/tests build/coverage/examples -maxdepth 1 -type f -executable)
python3 -B tests/coverage.py include/smdebug,src "${exports[@]}"
