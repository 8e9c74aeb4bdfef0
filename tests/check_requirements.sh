#!/usr/bin/env bash
# check_requirements.sh COMPILER FLAG...: if a requirement of the library is missing, the compiler names it.
set -euo pipefail
export LC_ALL=C

# says TEXT CODE COMPILER FLAG...: the code does not compile with these flags, and TEXT is in the messages.
says() {
    local text=$1 code=$2 said
    shift 2
    if said=$("$@" -fsyntax-only -x c++ - 2>&1 <<<"$code"); then
        printf 'with %s this compiles, and should not:\n%s\n' "${*: -1}" "$code"
        exit 1
    fi
    if ! grep -F "$text" <<<"$said"; then
        printf 'with %s this fails without saying "%s":\n%s\n%s\n' "${*: -1}" "$text" "$code" "$said"
        exit 1
    fi
}

says "needs C++20" "#include <smdebug/core/bytes.hpp>" "$@" -std=c++17
says "throws: compile it with exceptions" "#include <smdebug/core/error.hpp>" "$@" -fno-exceptions
says "compile it without -fno-rtti" "#include <smdebug/core/error.hpp>" "$@" -fno-rtti
says "needs <stop_token>" $'#include <version>\n#undef __cpp_lib_jthread\n#include <smdebug/core/stop_token.hpp>' "$@"
# Another target, simulated by its compiler's macros; bytes.hpp has the checks, and represents all headers, which include it
# first.
says "needs a 64-bit target" $'#undef __SIZEOF_POINTER__\n#define __SIZEOF_POINTER__ 4\n#include <smdebug/core/bytes.hpp>' "$@"
says "needs a little-endian target" \
    $'#undef __BYTE_ORDER__\n#define __BYTE_ORDER__ __ORDER_BIG_ENDIAN__\n#include <smdebug/core/bytes.hpp>' "$@"
# The compiler's own 32-bit target, if it has one: the message comes before any system header is included.
if "$@" -m32 -fsyntax-only -x c++ - <<<"" 2>/dev/null; then
    says "needs a 64-bit target" "#include <smdebug/core/bytes.hpp>" "$@" -m32
fi
