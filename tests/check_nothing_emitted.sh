#!/usr/bin/env bash
# check_nothing_emitted.sh COMPILER FLAG...: a file that includes smdebug.hpp, header-only, and uses nothing of it, compiles to an
# object without code: what is emitted, whether it is called or not, each file of a user pays for.  Virtual functions are: where a
# class declares one without SMDEBUG_INLINE (g++ takes it for the one by which the class's table, and all that it calls, is made),
# and a variable whose initial value is computed when the program starts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '#include <smdebug/smdebug.hpp>' >"$folder/user.cpp"
"$@" -O0 -c "$folder/user.cpp" -o "$folder/user.o"
read -r text _ < <(size "$folder/user.o" | tail -n 1)
echo "$text bytes of code"
if ((text > 20000)); then
    echo "more than 20,000, which third parties stay far below.  Among them:"
    nm -C "$folder/user.o" | grep 'vtable for smdebug' || nm -C --size-sort -r "$folder/user.o" | head -n 20
    exit 1
fi
