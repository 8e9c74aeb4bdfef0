#!/usr/bin/env bash
# check_report.sh ROOT PACKAGES SMDEBUG REPORT_RUNS GOLDEN FOLDER: runs tests/check_report.mjs with its packages.
# Skipped (77) if Chromium, node or its packages are missing.
set -euo pipefail
root=$1
packages=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
status=0
bash "$here/report_packages.sh" "$root" "$packages" || status=$?
((status == 0)) || exit "$status"
export SMDEBUG_REPORT_PACKAGES=$packages/node_modules
exec timeout -k 5 550 node "$here/check_report.mjs" "$@"
