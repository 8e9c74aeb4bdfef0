#!/usr/bin/env bash
# check_archives.sh KIND REPLAY PYTHON RUNS_FOLDER OUTPUT_FOLDER [BUCKET [EVERY]]: packs every recorded run with a
# common archiver, replaces the run's folder by the archive, under the folder's name, and runs the queries of the golden
# run.  With a non-empty BUCKET, which is made if missing, the archive is opened in S3 (on the server of
# s3_servers/with_server.sh).  EVERY: only every so many-th run, different ones for each kind.
# Questions about growing runs are left out, as archives do not grow.  Exit status 77: the archiver is not installed.
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kind=$1 replay=$2 python=$3 runs=$4 output=$5/$1 bucket=${6:-} every=${7:-1}
rm -rf "$output"
mkdir -p "$output"

# pack ARCHIVE: packs the current folder.
case $kind in
    tar) needs=tar; pack() { tar -cf "$1" .; } ;;
    tar-pax) needs=tar; pack() { tar --format=pax -cf "$1" -- *; } ;;
    tar-v7) needs=tar; pack() { tar --format=v7 -cf "$1" -- *; } ;;
    bsdtar) needs=bsdtar; pack() { bsdtar -cf "$1" .; } ;;
    7z-tar) needs=7z; pack() { 7z a -ttar "$1.tar" . >/dev/null && mv "$1.tar" "$1"; } ;;
    gzip) needs=gzip; pack() { tar -c . | gzip -9 >"$1"; } ;;
    pigz) needs=pigz; pack() { tar -c . | pigz -p 2 -b 32 >"$1"; } ;;
    bgzip) needs=bgzip; pack() { tar -c . | bgzip >"$1"; } ;;
    zstd) needs=zstd; pack() { tar -c . | zstd -q >"$1"; } ;;
    zip) needs=zip; pack() { zip -q -r "$1.zip" . && mv "$1.zip" "$1"; } ;;
    zip-0) needs=zip; pack() { zip -q -0 -r "$1.zip" . && mv "$1.zip" "$1"; } ;;
    zip-stream) needs=zip; pack() { zip -q -r - . | cat >"$1"; } ;;  # with data descriptors
    7z-zip) needs=7z; pack() { 7z a -tzip "$1.zip" . >/dev/null && mv "$1.zip" "$1"; } ;;
    tarfile) needs=$python; pack() { "$python" -c 'import sys, tarfile
with tarfile.open(sys.argv[1], "w:gz") as to: to.add(".")' "$1"; } ;;
    pack-zst | pack-gz)
        needs=${SMDEBUG_PROGRAM:-}
        pack() { "$SMDEBUG_PROGRAM" pack . -o "$1.tar.${kind#pack-}" >/dev/null && mv "$1.tar.${kind#pack-}" "$1"; } ;;
    zipfile) needs=$python; pack() { "$python" -m zipfile -c "$1" ./*; } ;;
    *) echo "check_archives.sh: unknown kind $kind" >&2 && exit 2 ;;
esac
command -v "$needs" >/dev/null || { echo "check_archives.sh: there is no $needs"; exit 77; }

# without_sessions FROM TO: removes the queries or answers about a growing run.
without_sessions() {
    "$python" -c 'import json, sys
whole = json.load(open(sys.argv[1]))
whole.pop("sessions", None)
json.dump(whole, open(sys.argv[2], "w"))' "$1" "$2"
}

place=()
if [[ -n $bucket ]]; then
    "$tests/s3_servers/make_bucket.sh" "$bucket"
    place=("s3://$bucket/$kind.$$.$RANDOM")
fi
failed=0 asked=0 number=${#kind}
while read -r expected; do
    run=${expected#"$runs"/} run=${run%.expected.json}
    if [[ ! -d $runs/$run ]] || ! compgen -G "$runs/$run/*" >/dev/null; then continue; fi
    if ((number++ % every != 0)); then continue; fi
    mkdir -p "$(dirname "$output/$run")"
    (cd "$runs/$run" && pack "$output/$run")
    without_sessions "$expected" "$output/$run.expected.json"
    "$replay" "$output" "$output/$run.expected.json" "${place[@]}" >"$output/$run.actual.json"
    asked=$((asked + 1))
    if ! "$python" "$runs/compare.py" "$output/$run.expected.json" "$output/$run.actual.json"; then
        echo "FAILED: $run"
        failed=$((failed + 1))
    fi
done < <(find "$runs" -name '*.expected.json' | sort)
echo "$kind: $asked runs, $failed with differences"
((failed == 0 && asked * every >= 40))
