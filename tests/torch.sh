#!/usr/bin/env bash
# The tests of <smdebug/torch.hpp> with the libtorch of this Debian (12: 1.13; 13: 2.6), what it and its Python write, read back, and
# the example; not in tests/run.sh, as libtorch is large and the two take minutes to compile.
#   tests/torch.sh [--clang] [BUILD_FOLDER]    by default by g++, which alone compiles the headers of 1.13
# Works from any directory, as root or with sudo, on a bare Debian: installs missing packages.  SMDEBUG_JOBS=N: number of
# parallel jobs (default: one a processor).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
by=
if [[ ${1:-} == --clang ]]; then
    by=clang
    shift
fi
if (($# > 1)) || [[ ${1:-} == -* ]]; then
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
build=$(realpath -m "${1:-$root/build/torch${by:+_$by}}")
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh

packages_test=(doctest-dev python3)
stage "packages" install_packages build test torch
compiler=g++
if [[ -n $by ]]; then
    choose_clang
    packages_clang=("${packages_clang[0]}")  # neither its runtime nor its tools
    stage "packages" install_packages clang
    compiler=$clang
fi
version=$(dpkg-query -W -f='${Version}' libtorch-dev 2>/dev/null || echo "of your own")
say "libtorch $version"
stage "libtorch: configure ($build)" cmake --preset check -B "$build" -DCMAKE_CXX_COMPILER="$compiler" \
    -DSMDEBUG_TEST_FOLDERS=torch "-DSMDEBUG_EXAMPLES=train_mlp;train_libtorch" --log-level=WARNING
stage "libtorch: build" cmake --build "$build" -j "$jobs" --target test_torch train_libtorch smdebug_executable
stage "libtorch: test" "$build/tests/test_torch"
stage "packages" install_packages torch_files
stage "libtorch: files" python3 -B tests/check_torch_files.py "$build/smdebug"
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
stage "libtorch: example" "$build/examples/train_libtorch" "$run/run"
