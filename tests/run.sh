#!/usr/bin/env bash
# Builds and runs the tests: all of them with clang under AddressSanitizer and UndefinedBehaviorSanitizer; with
# g++ the program, golden runs, kernels, processes, the other S3 server, and infrastructure (layers, packaging,
# AArch64); concurrent code also with clang under ThreadSanitizer.  All in the compiled form; --few and --all are
# header-only.
#   tests/run.sh [--few | --quick | --all]
#   --few: with g++ golden runs, records and kernels    --quick: only with g++    --all: all of them with g++,
#   too, benchmarks, and slow tests
# Works from any directory, as root or with sudo, on a bare Debian 12 or 13: installs missing packages.  Builds are
# incremental.  SMDEBUG_JOBS=N: number of parallel jobs (default: one a processor).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

what=default
for argument in "$@"; do
    case $argument in
        --few | --quick | --all) what=${argument#--} ;;
        *)
            sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
            exit 2
            ;;
    esac
done

# The skipped tests, and parts skipped within tests (support/skipped.hpp), which with CI=true must have a good reason.
reports=$(mktemp -d)
export SMDEBUG_TEST_SKIPS=$reports/skips
: >"$SMDEBUG_TEST_SKIPS"

# The sum over all stages, also of a run that fails.
summary() {
    local status=$?
    sort "$SMDEBUG_TEST_SKIPS" | uniq -c | sed 's/^ *\([0-9]*\) /==> skipped within a test, \1 x: /'
    python3 - "$reports" tests/may_skip.txt <<'END' || status=$((status > 0 ? status : 1))
import glob, os, re, sys, xml.etree.ElementTree as xml
tests = failed = skipped = 0
may_skip = [line.split()[0] for line in open(sys.argv[2]) if line.strip() and line[0] != "#"]
unexplained = []
for report in glob.glob(sys.argv[1] + "/*.xml"):
    suite = xml.parse(report).getroot()
    tests += int(suite.get("tests"))
    failed += int(suite.get("failures"))
    for case in suite.iter("testcase"):
        if case.get("status") == "notrun" or case.find("skipped") is not None:
            skipped += 1
            print(f"==> skipped: {case.get('name')}")
            if not any(re.match(pattern, case.get("name")) for pattern in may_skip):
                unexplained.append(case.get("name"))
print(f"{tests - failed - skipped} passed, {failed} failed, {skipped} skipped")
if unexplained and os.environ.get("CI") == "true":
    sys.exit(f"==> FAILED: with CI=true only what tests/may_skip.txt names may be skipped, not {', '.join(unexplained)}")
END
    rm -rf "$reports"
    exit "$status"
}
trap summary EXIT

run_tests() {  # PRESET ARGUMENT...
    local preset=$1
    shift
    # One more than the number of processors: a third of the time is spent waiting for servers, disks and processes.
    ctest --preset "$preset" -j $((jobs + 1)) --output-junit "$reports/$preset.xml" "$@"
}

build_and_test() {  # PRESET WHAT CONFIGURE_ARGUMENT...
    stage "$2: configure (build/$1)" cmake --preset "$1" --log-level=WARNING "${@:3}"
    stage "$2: build" cmake --build --preset "$1" -j "$jobs"
    stage "$2: test" run_tests "$1"
}

# Without the options that take half of AddressSanitizer's time: a short history of freed memory and short stacks of
# allocations; detection of stack use after return only with --all.
if [[ $what != all ]]; then
    export ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=5:detect_stack_use_after_return=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
fi

gcc=check
if [[ $what == all ]]; then gcc=dev; fi
if [[ $what == few ]]; then
    packages_test=(doctest-dev python3)
    stage "packages" install_packages build test
    stage "g++: configure (build/check)" cmake --preset check --log-level=WARNING -DSMDEBUG_USE_COMPILED=OFF
    stage "g++: build" cmake --build --preset check -j "$jobs" --target golden_replay test_record test_reduce \
        test_reduce_avx2
    stage "g++: test" run_tests check -R '^(golden|record|reduce)/' -E _avx512
elif [[ $what == quick ]]; then
    stage "packages" install_packages build test
    # Runs here what the default leaves to the sanitized tests: the other examples, and radosgw.
    build_and_test check "g++" -DSMDEBUG_EXAMPLES= "-DSMDEBUG_TEST_SERVERS=rgw;swift"
else
    stage "packages" install_packages build test
    choose_clang
    stage "packages" install_packages clang
    with_clang=(-DCMAKE_CXX_COMPILER="$clang")
    linker=ld.lld-${clang##*-}  # of the same version; takes a quarter of the default linker's time
    if command -v "$linker" >/dev/null; then with_clang+=(-DCMAKE_EXE_LINKER_FLAGS="--ld-path=$linker"); fi
    build_and_test asan "$clang with ASan and UBSan" "${with_clang[@]}"
    if [[ $gcc == dev ]]; then stage "packages" install_packages bench; fi
    build_and_test "$gcc" "g++"
    if [[ $what == all ]]; then  # the check preset has them with g++, in the compiled form
        stage "fast arithmetic: configure (build/fast)" cmake --preset fast --log-level=WARNING "${with_clang[@]}"
        stage "fast arithmetic: build" cmake --build --preset fast -j "$jobs" --target test_reduce test_rules
        stage "fast arithmetic: test" run_tests fast -R '^(reduce|rules)/' -E _avx
    fi
    # Concurrent code: trials, rules, storages, requests, growing runs, and the program following them.
    stage "ThreadSanitizer: configure (build/tsan)" cmake --preset tsan --log-level=WARNING "${with_clang[@]}"
    threads=(archive_threads batch_threads core_threads trial_threads report_threads storage_threads http s3_servers live rules_threads learn_threads program_threads hook_threads s3_threads)
    stage "ThreadSanitizer: build" cmake --build --preset tsan -j "$jobs" --target "${threads[@]/#/test_}"
    # Server faults are covered under AddressSanitizer.
    stage "ThreadSanitizer: test" run_tests tsan -R "^($(IFS='|' && echo "${threads[*]}"))/" \
        -E '^s3_servers/fault'
fi
say "all tests passed in $SECONDS s"
