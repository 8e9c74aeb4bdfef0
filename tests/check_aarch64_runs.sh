#!/usr/bin/env bash
# check_aarch64_runs.sh ROOT FOLDER COMPILER FLAG...: runs on AArch64, by a cross compiler and an emulator: the tests of
# records, messages, tensors, trials, hooks and rules, and every golden run.
# The libraries are Debian's packages for arm64, unpacked under FOLDER: nothing is installed on this machine.
set -euo pipefail
export LC_ALL=C
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=aarch64.sh
source "$tests/aarch64.sh"
aarch64_set_up "$@"
root=$1 folder=$2
skip() {
    echo "skipped: $*"
    exit 77
}
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || skip "no apt-get and dpkg-deb, which bring the libraries for arm64"

# --- the libraries: apt with separate folders, so that this machine's own setup does not change -----------------------------
system=$folder/system
packages=(libsimdjson-dev libpcre2-dev libpugixml-dev libcurl4-openssl-dev libssl-dev zlib1g-dev libzstd-dev libstdc++6)
if [[ ! -e $system/complete || $(<"$system/complete") != "${packages[*]}" ]]; then
    rm -rf "$system" "$folder/apt"
    mkdir -p "$system" "$folder"/apt/{state/lists,cache/archives}/partial
    : >"$folder/apt/state/status"
    apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$folder/apt/state"
        -o Dir::State::status="$folder/apt/state/status" -o Dir::Cache="$folder/apt/cache" -o Debug::NoLocking=1
        -o APT::Install-Recommends=0 -o Acquire::Languages=none -o APT::Sandbox::User=)
    "${apt[@]}" update </dev/null >"$folder/apt/log" 2>&1 &&
        "${apt[@]}" -y --download-only install "${packages[@]}" </dev/null >>"$folder/apt/log" 2>&1 || {
        tail -n 5 "$folder/apt/log"
        skip "apt-get cannot bring the libraries for arm64"
    }
    for package in "$folder"/apt/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$system"
    done
    # The cross compiler includes the C library's headers.
    rm -rf "$folder/apt" "$system/usr/include"
    echo "${packages[*]}" >"$system/complete"
fi

# --- build: one translation unit a folder, not optimised: kernels are tested by check_aarch64.sh -------------------------
rm -rf "$folder/runs"
mkdir -p "$folder/runs"
cd "$folder/runs"
compile+=(-O0 -DSIMDJSON_THREADS_ENABLED=1 -DSMDEBUG_TEST_DATA="\"$root/tests/data\"")
for part in record wire tensor trial hook rules; do
    mapfile -t sources < <(find "$tests/$part" -name '*_test.cpp' | sort)  # also in subfolders
    aarch64_unite "$root" "$part" "${sources[@]}"
done
aarch64_headers "$root" | "${compile[@]}" -fsyntax-only -x c++ -
printf '#include "%s"\n' "$tests/main.cpp" >main.cpp
printf '#include "%s"\n' "$tests"/golden_replay/*.cpp >golden.cpp
printf '%s\0' ./*.cpp | xargs -0 -n 1 -P "${SMDEBUG_JOBS:-2}" "${compile[@]}" -c
# Only the needed libraries are taken from the unpacked packages: the C library there is a linker script with paths of
# an arm64 machine; the cross compiler has its own.
libraries=$system/usr/lib/aarch64-linux-gnu
mkdir needed
for library in simdjson pcre2-8 curl crypto pugixml z zstd; do  # the files: some names are links with paths of an arm64 machine
    ln -s "$(find "$system" -type f -name "lib$library.so*" -print -quit)" "needed/lib$library.so"
done
link=("$cross" -Lneeded -Wl,-rpath-link,"$libraries":"$system/lib/aarch64-linux-gnu" -Wl,--allow-shlib-undefined)
needed=(-lsimdjson -lpcre2-8 -lcurl -lcrypto -lpugixml -lz -lzstd -lpthread)
"${link[@]}" golden.o "${needed[@]}" -o golden_replay
rm golden.o
"${link[@]}" hook*.o rules*.o main.o "${needed[@]}" -o tests_of_hooks_and_rules
rm hook*.o rules*.o
"${link[@]}" ./*.o "${needed[@]}" -o tests_of_reading

# --- run ---------------------------------------------------------------------------------------------------------------------
emulate=("$emulator" -cpu max -L "$system")
timeout 1500 "${emulate[@]}" ./tests_of_reading
# Hooks and rules; tests of faults, processes and full conformance would take an hour in the emulator.
timeout 600 "${emulate[@]}" ./tests_of_hooks_and_rules --source-file='*/hook/basic_hook_test.cpp,*/hook/save_config_test.cpp,*/hook/run_writer_test.cpp,*/hook/file_sink_test.cpp,*/hook/tensor_record_test.cpp,*/hook/earlier_run_test.cpp,*/hook/hook_json_test.cpp,*/rules/built_in/*,*/rules/invoke*,*/rules/drive/*'
printf '#!/bin/sh\nexec %s "$@"\n' "${emulate[*]} $PWD/golden_replay" >replay
chmod +x replay
data=$root/tests/data/golden
count=0
while read -r expected; do
    timeout 300 bash "$tests/check_golden.sh" "$PWD/replay" python3 "$data" "$expected" "$PWD/answers"
    count=$((count + 1))
done < <(cd "$data" && find . -name '*.expected.json' | sed 's|^\./||' | sort)
echo "$count golden runs replayed"
((count >= 40))
