#!/usr/bin/env bash
# Compiles the C++ blocks of README.md, each as the body of a function: what it shows works.
#   check_readme.sh README.md BUILD_FOLDER COMPILER [FLAG...]
set -euo pipefail
readme=$1 folder=$2
shift 2
mkdir -p "$folder"
source=$folder/readme_blocks.cpp
awk '
    BEGIN { print "#include <smdebug/s3.hpp>\n#include <smdebug/smdebug.hpp>" }
    NR == FNR {  # first what the blocks include
        if (/^```cpp$/) { inside = 1 } else if (/^```$/) { inside = 0 }
        if (inside && /^#include /) { print }
        next
    }
    FNR == 1 { print "namespace smd = smdebug;" }
    /^```cpp$/ { inside = 1; ++blocks; print "[[maybe_unused]] static void block_" blocks "() {"; next }
    /^```$/ && inside { inside = 0; print "}"; next }
    inside && /^(#include|namespace )/ { next }
    inside { print }
    END { print "int main() {}"; if (blocks < 2) { print "#error README.md has lost its C++ blocks" } }
' "$readme" "$readme" >"$source"
"$@" -fsyntax-only "$source"
