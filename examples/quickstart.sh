#!/usr/bin/env bash
# Builds the program smdebug and runs it on a recorded training run of PyTorch that lies in this repository.
# Works from any directory, as root or with sudo, on a bare Debian 12: installs what is missing.  What has been built is
# not built again.  SMDEBUG_JOBS=N: how many jobs at once (default: one a processor).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

build=build/quickstart
run=tests/data/golden/torch_mlp

configure() {
    cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DSMDEBUG_BUILD_TESTS=OFF \
        -DSMDEBUG_BUILD_BENCHMARKS=OFF
}
build() { cmake --build "$build" -j "$jobs" --target smdebug_program quickstart; }

# show COMMAND...: prints the command as a user would type it, then runs it.  Status 3 means that a rule's condition was
# met: a finding, not a failure.
show() {
    printf '\n$ %s\n' "$*"
    local status=0
    "$@" || status=$?
    ((status == 0 || status == 3)) || fail "status $status from: $*"
    echo
}

stage "packages" install_packages build
stage "configure ($build)" configure
stage "build the programs smdebug and quickstart" build

say "the main job on a recorded run: $run"
smdebug=$build/examples/smdebug
say "1. What is in the run?"
show "$smdebug" ls "$run"
say "2. How large are its gradients?  (--format csv or json is for programs)"
show "$smdebug" stats "$run" --collection gradients --steps 2:6 --reductions min,max,abs_mean,nan
say "3. Is anything wrong with it?"
show "$smdebug" check "$run" --rule vanishing_gradient --rule exploding_tensor
say "4. The same questions from C++: examples/quickstart.cpp"
show "$build/examples/quickstart" "$run"
say "done.  Next: $smdebug --help, README.md, and the other programs in examples/"
