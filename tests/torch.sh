#!/usr/bin/env bash
# The tests of <smdebug/torch.hpp> with the libtorch of Debian (53 MB to fetch with all it needs where little is installed: 148 MB),
# and the example; not in tests/run.sh, as the two take about a minute and a half to compile.  Usage: tests/torch.sh [BUILD_FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/torch}
dpkg -s libtorch-dev libdlpack-dev > /dev/null 2>&1 || apt-get install -y libtorch-dev libdlpack-dev
cd "$root"
cmake --preset check -B "$build" -DSMDEBUG_TEST_FOLDERS=torch "-DSMDEBUG_EXAMPLES=train_mlp;train_libtorch" --log-level=WARNING
cmake --build "$build" --target test_torch train_libtorch
"$build/tests/test_torch"
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
"$build/examples/train_libtorch" "$run/run"
