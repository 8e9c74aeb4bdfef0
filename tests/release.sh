#!/usr/bin/env bash
# The full checks before a release, which take hours; tests/run.sh is their short form.
#   tests/release.sh [STAGE...]      runs these stages in order; by default all
# Stages: suite      tests/run.sh --all
#         threads    all tests under ThreadSanitizer, and ten minutes of readers, refreshers and writers in a folder that disappears
#         endurance  a million saves, 100,000 refreshes and failing steps: memory stays bounded
#         faults     each call that reads or writes files fails; power is lost at each
#         libtorch   the tests of torch.hpp with the system's libtorch (tests/torch.sh), and with that of a bare Debian 13 by g++ and clang
#         fuzz       each target for half an hour (SMDEBUG_FUZZ_SECONDS)
#         coverage   statements and branches that tests reach
#         mutants    functions with one error each
# Prints a line a stage at the end; the status is 0 if all passed.  The output of each is in build/release/STAGE.txt.
# shellcheck disable=SC2317  # stages are called by their names
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

all=(suite threads endurance faults libtorch fuzz coverage mutants)
for stage in "$@"; do
    if [[ " ${all[*]} " != *" $stage "* ]]; then
        sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
        exit 2
    fi
done
stages=("$@")
if ((${#stages[@]} == 0)); then stages=("${all[@]}"); fi

set_up() {
    install_packages build test
    choose_clang
    install_packages clang
}

# Builds some targets with g++.
build_checked() {  # TARGET...
    cmake --preset check --log-level=WARNING && cmake --build --preset check -j "$jobs" --target "$@"
}

run_suite() { tests/run.sh --all; }

run_threads() {
    cmake --preset tsan --log-level=WARNING -DCMAKE_CXX_COMPILER="$clang" &&
        cmake --build --preset tsan -j "$jobs" &&
        SMDEBUG_TEST_STRESS_SECONDS=540 ctest --preset tsan -j "$jobs"
}

run_endurance() {
    build_checked test_live && SMDEBUG_TEST_ENDURANCE=1 build/check/tests/test_live --source-file='*growth_test.cpp'
}

run_faults() {
    build_checked all && SMDEBUG_TEST_ALL_FAULTS=1 ctest --preset check -V -R '^(faults|power_loss)$' --timeout 14400
}

# Debian 12 has libtorch 1.13, Debian 13 has 2.6.
run_libtorch() {
    tests/torch.sh build/libtorch || return
    local compiler status
    for compiler in "" --clang; do
        status=0
        tests/on_debian.sh trixie ./tests/torch.sh ${compiler:+"$compiler"} || status=$?
        ((status == 0 || status == 77)) || return "$status"  # 77: no bare Debian is available here, which it says
    done
}

run_fuzz() { tests/fuzz/run.sh "${SMDEBUG_FUZZ_SECONDS:-1800}"; }

run_coverage() { tests/coverage.sh; }

run_mutants() { python3 -B tests/mutants.py --compiler "$clang" --jobs "$jobs"; }

set_up || exit 1
mkdir -p build/release
results=()
status=0
for stage in "${stages[@]}"; do
    start=$SECONDS
    say "$stage"
    if "run_$stage" >"build/release/$stage.txt" 2>&1; then
        results+=("$stage: passed in $((SECONDS - start)) s")
    else
        results+=("$stage: FAILED after $((SECONDS - start)) s; see build/release/$stage.txt")
        status=1
    fi
    tail -n 5 "build/release/$stage.txt"
done
printf '==> %s\n' "${results[@]}"
exit "$status"
