#!/usr/bin/env bash
# Builds and runs every test: with g++; with clang, under AddressSanitizer and UndefinedBehaviorSanitizer; and where threads
# meet, with clang under ThreadSanitizer, too.  (Sanitized, clang at -O0 compiles five times as fast as g++ at -O1.)
#   tests/run.sh [--quick]     --quick: only the first
# Works from any directory, as root or with sudo, on a bare Debian 12: installs what is missing.  What has been built is
# not built again.  SMDEBUG_JOBS=N: how many jobs at once (default: one a processor).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

quick=no
for argument in "$@"; do
    case $argument in
        --quick) quick=yes ;;
        *)
            sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
            exit 2
            ;;
    esac
done

build_and_test() {  # PRESET WHAT
    stage "$2: configure (build/$1)" cmake --preset "$1" --log-level=WARNING
    stage "$2: build" cmake --build --preset "$1" -j "$jobs"
    stage "$2: test" ctest --preset "$1" -j "$jobs"
}

if [[ $quick == yes ]]; then
    stage "packages" install_packages build test
    build_and_test dev "g++"
else
    stage "packages" install_packages build test clang
    build_and_test dev "g++"
    build_and_test asan "clang 16 with ASan and UBSan"
    # Where threads meet: trials, rules, storages, requests, runs that grow, the program that follows them.
    stage "ThreadSanitizer: configure (build/tsan)" cmake --preset tsan --log-level=WARNING
    threads=(trial storage http s3_servers live rules_threads cli_threads hook_threads s3_threads)
    stage "ThreadSanitizer: build" cmake --build --preset tsan -j "$jobs" --target "${threads[@]/#/test_}"
    stage "ThreadSanitizer: test" ctest --preset tsan -j "$jobs" -R "^($(IFS='|' && echo "${threads[*]}"))/"
fi
say "all tests passed in $SECONDS s"
