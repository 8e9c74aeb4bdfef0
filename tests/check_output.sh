#!/usr/bin/env bash
# check_output.sh STATUS REGEX COMMAND...: the command ends with that status, and its output matches the extended
# regex ("": any output).  (CTest's PASS_REGULAR_EXPRESSION would accept any status.)
set -uo pipefail
wanted=$1 regex=$2
shift 2
printed=$("$@" 2>&1)
status=$?
printf '%s\n' "$printed"
if ((status != wanted)); then
    echo "check_output.sh: the status is $status, not $wanted"
    exit 1
fi
if [[ -n $regex ]] && ! tr '\n' ' ' <<<"$printed" | grep -Eq -- "$regex"; then
    echo "check_output.sh: nothing printed is like: $regex"
    exit 1
fi
