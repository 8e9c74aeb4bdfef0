#!/usr/bin/env bash
# check_nothing_emitted.sh COMPILER FLAG...: a file that includes smdebug.hpp, header-only, and uses nothing of it,
# compiles to an object without code: code emitted for unused functions would cost every file of a user.  That happens
# with a virtual function declared without SMDEBUG_INLINE (g++ takes it for the key function, and emits the vtable and
# everything it calls), and with a dynamically initialised variable.
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
