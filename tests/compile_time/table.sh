#!/usr/bin/env bash
# table.sh INCLUDE_FOLDER COMPILER FLAG...: prints what including headers costs, in CPU seconds, beside their budgets: of
# those that others are behind (umbrellas, each folder's concepts, trials, hooks) and those that bring in a third party.
# With SMDEBUG_ALL_HEADERS=1 of every header.  Fails only where a header does not compile: a time says as much about the machine as about the header.
set -euo pipefail
export LC_ALL=C
root=$1
shift
cd "$root"

TIMEFORMAT='%U %S'

seconds_to_compile() {  # HEADER COMPILER FLAG...
    local header=$1 times
    shift
    # The compiler's messages go to file 3, our stderr; the times, which bash writes to the group's stderr, are kept.
    times=$({ time "$@" -fsyntax-only -x c++ - <<<"#include <$header>" 2>&3; } 3>&2 2>&1) || return 1
    awk '{ printf "%.2f", $1 + $2 }' <<<"$times"
}

budget_of() {  # a third party's leaf has what the third party costs, too
    case $1 in
        smdebug/fwd.hpp) echo 0.15 ;;
        smdebug/smdebug.hpp) echo 4 ;;
        smdebug/tensor/as_xtensor.hpp) echo 2.1 ;;
        smdebug/reduce/simd_kernel.hpp) echo 1.6 ;;
        smdebug/core/json_document.hpp) echo 2.9 ;;
        smdebug/core/* | smdebug/record/* | smdebug/wire/*) echo 0.3 ;;
        *) echo 0.7 ;;
    esac
}

less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

headers() {
    if [[ -n ${SMDEBUG_ALL_HEADERS:-} ]]; then
        find smdebug -name '*.hpp' | sort
    else
        ls smdebug/*.hpp smdebug/*/concepts.hpp smdebug/trial/{basic,create}_trial.hpp smdebug/hook/{basic_,}hook.hpp
        grep -lE '^#include <(curl|openssl|pcre2|pugixml|simdjson|xsimd|xtensor|CLI)' -r smdebug | sort
    fi
}

failed=0
echo "seconds budget header"
while read -r header; do
    budget=$(budget_of "$header")
    if ! cost=$(seconds_to_compile "$header" "$@"); then
        echo "      -      - $header: does not compile"
        failed=1
        continue
    fi
    note=
    if less "$budget" "$cost"; then note='  over'; fi
    if less "$(awk -v b="$budget" 'BEGIN { print 2 * b }')" "$cost"; then note='  OVER TWICE THE BUDGET'; fi
    printf '%7s %6s %s%s\n' "$cost" "$budget" "$header" "$note"
done < <(headers)
exit $failed
