#!/usr/bin/env bash
# check_golden.sh REPLAY PYTHON RUNS_FOLDER EXPECTED OUTPUT_FOLDER [BUCKET]: runs the queries of RUNS_FOLDER/EXPECTED
# and compares.  The answers stay in OUTPUT_FOLDER for inspection.
# With a BUCKET, which is made if missing, the run is opened in S3 (on the server of s3_servers/with_server.sh), and
# errors must have the same messages as in the folder.  Permitted differences, with reasons: golden_replay/in_s3/.
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
replay=$1 python=$2 runs=$3 expected=$4 output=$5 bucket=${6:-}
run=${expected%.expected.json}
actual=$output/$run.actual.json
waived=$tests/golden_replay/in_s3/$run.waived.json
compare=("$python" "$runs/compare.py")
mkdir -p "$(dirname "$actual")"
if [[ -z $bucket ]]; then
    "$replay" "$runs" "$runs/$expected" >"$actual"
    exec "${compare[@]}" "$runs/$expected" "$actual"
fi

"$tests/s3_servers/make_bucket.sh" "$bucket"
# A place with characters that must be encoded in a URL.
"$replay" "$runs" "$runs/$expected" "s3://$bucket/a place + 100%/$$.$RANDOM" >"$actual"
if [[ -f $waived ]]; then
    compare+=(--waive "$waived")
fi
"${compare[@]}" "$runs/$expected" "$actual"
"$replay" "$runs" "$runs/$expected" >"$output/$run.folder.json"
exec "${compare[@]}" --messages "$output/$run.folder.json" "$actual"
