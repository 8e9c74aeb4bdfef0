#!/usr/bin/env bash
# check_golden.sh REPLAY PYTHON RUNS_FOLDER EXPECTED OUTPUT_FOLDER: answers the questions of RUNS_FOLDER/EXPECTED and
# compares.  The answers stay in OUTPUT_FOLDER, to be looked at when they differ.
set -euo pipefail
replay=$1 python=$2 runs=$3 expected=$4 output=$5
actual=$output/${expected%.expected.json}.actual.json
mkdir -p "$(dirname "$actual")"
"$replay" "$runs" "$runs/$expected" >"$actual"
exec "$python" "$runs/compare.py" "$runs/$expected" "$actual"
