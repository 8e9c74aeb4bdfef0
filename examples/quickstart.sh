#!/usr/bin/env bash
# Trains a small network that saves its run with a hook, looks at that run with the program smdebug, and checks it; then
# once more, so that rules find something; and makes a page of both.
# Works from any directory, as root or with sudo, on a bare Debian 12 or 13: installs what is missing.  What has been built is
# not built again.  SMDEBUG_JOBS=N: how many jobs at once (default: one a processor).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

build=build/quickstart
run=$build/runs/mlp
bad_run=$build/runs/too_fast

configure() {
    cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DSMDEBUG_BUILD_EXAMPLES=ON \
        -DSMDEBUG_USE_COMPILED=ON
}
build() { cmake --build "$build" -j "$jobs" --target train_mlp smdebug_executable quickstart; }

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
stage "build the programs train_mlp, smdebug and quickstart" build

rm -rf "$run" "$bad_run"  # a hook does not write over a run
smdebug=$build/smdebug
say "1. Train, and save the run: examples/train_mlp.cpp"
show "$build/examples/train_mlp" "$run"
say "2. What is in the run?"
show "$smdebug" ls "$run"
say "3. How large were its gradients?  (--format csv or json is for programs)"
show "$smdebug" stats "$run" --collection gradients --steps 0:300 --reductions min,max,abs_mean,l2
say "4. The same questions from C++: examples/quickstart.cpp"
show "$build/examples/quickstart" "$run"
say "5. Is anything wrong with it?  All rules that have something to look at:"
show "$smdebug" scan "$run"
say "6. And where the learning rate is too high?  A rule stops the training; others say more of what is left"
show "$build/examples/train_mlp" "$bad_run" 10
show "$smdebug" scan "$bad_run"
say "7. And as a page to look at?  Both runs on the same axes, and since when they part"
show "$smdebug" report "$run" "$bad_run" -o "$build/report.html"
say "Open it in a browser: $root/$build/report.html  (xdg-open, or copy it to wherever you have one; it needs no network)"
say "done.  Next: $smdebug --help, docs/README.md, the other programs in examples/, and tensorboard --logdir $run/tensorboard"
