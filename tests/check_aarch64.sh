#!/usr/bin/env bash
# check_aarch64.sh ROOT FOLDER COMPILER FLAG...: the library on AArch64, by a cross compiler and an emulator.  Every
# header compiles, and the tests of kernels and of crc32c pass, among them the one that pins every bit of the answers.
# FOLDER is where it builds; COMPILER is that of this machine, asked where the headers of other packages lie.
set -euo pipefail
export LC_ALL=C
root=$1 folder=$2
shift 2
cross=aarch64-linux-gnu-g++ emulator=qemu-aarch64
for tool in "$cross" "$emulator"; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: no $tool (Debian: g++-aarch64-linux-gnu, qemu-user)"
        exit 77
    fi
done

# The other packages' headers by themselves: in the folder where they lie are those of this machine's C library, too.
mkdir -p "$folder/include"
searched=$("$@" -E -v -x c++ - </dev/null 2>&1 >/dev/null | sed -n '/search starts here:$/,/^End of search list/s/^ //p')
missing() {  # NAME COMPILER
    echo "no $1 in the folders where $2 looks for headers:"
    echo "$searched"
    exit 1
}
for name in CLI curl doctest pcre2.h pugiconfig.hpp pugixml.hpp simdjson.h xsimd xtensor xtl; do
    found=
    while read -r place; do
        if [[ -e $place/$name ]]; then
            found=$place/$name
            break
        fi
    done <<<"$searched"
    if [[ -z $found ]]; then
        missing "$name" "$1"
    fi
    ln -sfn "$found" "$folder/include/$name"
done
# OpenSSL's lie in two folders, one of them that of this machine's architecture: 64 bits, little endian, as the other.
mkdir -p "$folder/include/openssl"
while read -r place; do
    find "$place/openssl" -maxdepth 1 -name '*.h' -exec ln -sf -t "$folder/include/openssl" {} + 2>/dev/null || true
done <<<"$searched"
if [[ ! -e $folder/include/openssl/hmac.h ]]; then
    missing openssl/hmac.h "$1"
fi

compile=("$cross" -std=c++20 -I"$root/include" -I"$root/tests" -isystem "$folder/include"
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Werror)

cd "$root/include"
find smdebug -name '*.hpp' | sort | sed 's/.*/#include <&>/' | "${compile[@]}" -fsyntax-only -x c++ -
echo "all headers compile for AArch64"

# As the other tests, but with what makes g++ form an FMA of a product and a sum, as users have it from -O2 on.
shopt -s nullglob
sources=("$root"/kernels/{dispatch,neon}*.cpp "$root"/tests/main.cpp "$root"/tests/record/crc32c*_test.cpp
    "$root"/tests/reduce/{dispatched_*,neon_*,simd_*,same_bits,bins,quantiles}_test.cpp)
rm -rf "$folder/objects"
mkdir "$folder/objects"
cd "$folder/objects"
printf '%s\0' "${sources[@]}" |
    xargs -0 -n 1 -P "${SMDEBUG_JOBS:-2}" "${compile[@]}" -O1 -fexpensive-optimizations -c
"$cross" -static ./*.o -o "$folder/tests"

timeout 300 "$emulator" -cpu max "$folder/tests" | tee "$folder/output.txt"
if ! grep -q 'kernel: simd<arm64+neon>' "$folder/output.txt" || grep -q 'cannot run arm' "$folder/output.txt"; then
    echo "passed, but without NEON or without ARM's crc32c"
    exit 1
fi
