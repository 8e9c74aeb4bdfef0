#!/usr/bin/env bash
# check_cpu.sh FLAG... -- COMMAND...: runs COMMAND if the CPU has every FLAG (see /proc/cpuinfo), else exits 77
# (skipped).
set -euo pipefail
while [[ $1 != -- ]]; do
    if ! grep -qw -- "$1" /proc/cpuinfo; then
        echo "skipped: this CPU has no $1"
        exit 77
    fi
    shift
done
shift
exec "$@"
