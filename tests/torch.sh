#!/usr/bin/env bash
# The tests of <smdebug/torch.hpp> with the libtorch of this Debian (12: 1.13; 13: 2.6), and the example; not in tests/run.sh, as
# libtorch is large and the two take minutes to compile.  Usage: tests/torch.sh [BUILD_FOLDER]
# Works from any directory, as root or with sudo, on a bare Debian: installs missing packages.  SMDEBUG_JOBS=N: number of
# parallel jobs (default: one a processor).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build/torch}
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

packages_test=(doctest-dev python3)
stage "packages" install_packages build test torch
version=$(dpkg-query -W -f='${Version}' libtorch-dev 2>/dev/null || echo "of your own")
say "libtorch $version"
stage "libtorch: configure ($build)" cmake --preset check -B "$build" -DSMDEBUG_TEST_FOLDERS=torch \
    "-DSMDEBUG_EXAMPLES=train_mlp;train_libtorch" --log-level=WARNING
stage "libtorch: build" cmake --build "$build" -j "$jobs" --target test_torch train_libtorch
stage "libtorch: test" "$build/tests/test_torch"
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
stage "libtorch: example" "$build/examples/train_libtorch" "$run/run"
