#!/usr/bin/env bash
# Starts an S3 server on this machine (Ceph's gateway), fills a bucket, and has s3_read_bench read it, beside curl and boto3.
#   s3_read_bench.sh [BUILD FOLDER = build/dev] [ROUNDS = 5] [rgw|swift]
# Nothing is left when it ends; wants 4 GiB of memory and the packages of cmake/setup.sh.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$root/build/dev} rounds=${2:-5} server=${3:-rgw}
servers=$root/tests/s3_servers
folder=$(mktemp -d)
trap '"$servers/start_s3.sh" --stop "$folder/server"; rm -rf "$folder"' EXIT

"$servers/start_s3.sh" --lifetime 1800 "$server" 0 "$folder/server" >/dev/null
"$servers/with_server.sh" "$folder/server" "$servers/make_bucket.sh" bench-objects
"$servers/with_server.sh" "$folder/server" "$build/benchmarks/s3_read_bench" bench-objects "$rounds" \
    /usr/bin/python3 -B "$root/benchmarks/s3_peer.py"
