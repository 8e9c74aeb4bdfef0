#!/usr/bin/env bash
# run_target.sh PROGRAM SECONDS FOLDER [SEEDS]: runs a fuzz target over what is kept for it, and for so many seconds more.
# New inputs go to FOLDER/new, those that fail to FOLDER/findings.  More options of libFuzzer by FUZZ_OPTIONS.
set -euo pipefail
program=$1 seconds=$2 folder=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$(basename "$program")
name=${name#fuzz_}
case $name in
    archive | tar) length=12288 ;;  # heads and members are padded to 512 bytes
    *) length=4096 ;;
esac
mkdir -p "$folder/new" "$folder/findings"
options=(-max_total_time="$seconds" -timeout=30 -rss_limit_mb=1024 -max_len="$length" -print_final_stats=1
    -artifact_prefix="$folder/findings/")
dictionary=$here/dictionaries/$name.dict
if [[ -e $dictionary ]]; then options+=(-dict="$dictionary"); fi
inputs=("$folder/new")
for inputs_folder in "$here/corpus/$name" "${@:4}"; do
    if [[ -d $inputs_folder ]]; then inputs+=("$inputs_folder"); fi
done
export ASAN_OPTIONS=quarantine_size_mb=64${ASAN_OPTIONS:+:$ASAN_OPTIONS}  # so that less memory is not the program's
cd "$folder"
# shellcheck disable=SC2086
exec "$program" "${options[@]}" ${FUZZ_OPTIONS:-} "${inputs[@]}"
