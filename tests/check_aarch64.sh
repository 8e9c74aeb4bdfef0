#!/usr/bin/env bash
# check_aarch64.sh ROOT FOLDER COMPILER FLAG...: the library on AArch64, by a cross compiler and an emulator.  Every
# header compiles, and the tests of kernels and of crc32c pass, among them the one that pins every bit of the answers.
# It builds in FOLDER; COMPILER is this machine's own, used to find the headers of other packages.
set -euo pipefail
export LC_ALL=C
# shellcheck source=aarch64.sh
source "$(dirname "${BASH_SOURCE[0]}")/aarch64.sh"
aarch64_set_up "$@"
root=$1 folder=$2

# In parallel, as this file takes longer than each of the others; in the compiled form, which takes half the time:
# check_aarch64_runs.sh compiles the bodies as well.
aarch64_headers "$root" >"$folder/headers.cpp"
"${compile[@]}" -DSMDEBUG_COMPILED -fsyntax-only "$folder/headers.cpp" &
headers=$!
trap 'kill "$headers" 2>/dev/null || true' EXIT

# As the other tests, but with the option that lets g++ fuse a product and a sum into an FMA, as it does from -O2 on.
# Two joined files, so that common templates are instantiated once; they take longest to compile and come first.
shopt -s nullglob
sources=("$root"/tests/record/crc32c*_test.cpp
    "$root"/tests/reduce/{dispatched_*,neon_*,simd_*,same_bits,bins,quantiles}_test.cpp)
rm -rf "$folder/objects"
mkdir "$folder/objects"
cd "$folder/objects"
half=$((${#sources[@]} / 2))
aarch64_unite "$root" first "${sources[@]:0:half}"
aarch64_unite "$root" second "${sources[@]:half}"
printf '%s\0' ./*.cpp "$root"/src/kernels/{dispatch,neon}*.cpp "$root"/tests/main.cpp |
    xargs -0 -n 1 -P "${SMDEBUG_JOBS:-2}" "${compile[@]}" -O1 -fexpensive-optimizations -c
wait "$headers"
echo "all headers compile for AArch64"
"$cross" -static ./*.o -o "$folder/tests"

timeout 300 "$emulator" -cpu max "$folder/tests" | tee "$folder/output.txt"
if ! grep -q 'kernel: simd<arm64+neon>' "$folder/output.txt" || grep -q 'cannot run arm' "$folder/output.txt"; then
    echo "passed, but without NEON or without ARM's crc32c"
    exit 1
fi
