#!/usr/bin/env bash
# check_requirements.sh COMPILER FLAG...: where something is missing that the library needs, the compiler says what.
set -euo pipefail
export LC_ALL=C

# says TEXT CODE COMPILER FLAG...: the code does not compile with these flags, and TEXT stands in the messages.
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
