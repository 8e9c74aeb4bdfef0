# shellcheck shell=bash
# Sourced by check_aarch64*.sh: sets up a cross compiler for AArch64 on this machine.
#   aarch64_set_up ROOT FOLDER COMPILER FLAG...   fills `compile`, `cross` and `emulator`; exits with 77 if tools are missing
#   aarch64_headers ROOT                          prints a file that includes every header, but those of the user's own libraries
#   aarch64_unite ROOT NAME SOURCE...   joins test files into NAME.cpp here; those that cannot be joined become NAME_alone_*.cpp
# COMPILER is this machine's own, used to find the headers of other packages.  All output is in FOLDER.
cross=aarch64-linux-gnu-g++ emulator=qemu-aarch64

aarch64_set_up() {
    local root=$1 folder=$2 searched place name found tool
    shift 2
    for tool in "$cross" "$emulator"; do
        if ! command -v "$tool" >/dev/null; then
            echo "skipped: no $tool (Debian: g++-aarch64-linux-gnu, qemu-user)"
            exit 77
        fi
    done

    # Links to the other packages' headers alone: their folder also has those of this machine's C library.
    mkdir -p "$folder/include"
    searched=$("$@" -E -v -x c++ - </dev/null 2>&1 >/dev/null | sed -n '/search starts here:$/,/^End of search list/s/^ //p')
    missing() {  # NAME
        echo "no $1 in the folders where the compiler looks for headers:"
        echo "$searched"
        exit 1
    }
    for name in CLI curl doctest pcre2.h pugiconfig.hpp pugixml.hpp simdjson.h xsimd xtensor xtl; do
        found=
        while read -r place; do
            if [[ -e $place/$name ]]; then
                found=$place/$name
                break
            fi
        done <<<"$searched"
        if [[ -z $found ]]; then
            missing "$name"
        fi
        ln -sfn "$found" "$folder/include/$name"
    done
    # OpenSSL's lie in two folders, one of them specific to this machine: 64 bits and little endian, as AArch64.
    mkdir -p "$folder/include/openssl"
    while read -r place; do
        find "$place/openssl" -maxdepth 1 -name '*.h' -exec ln -sf -t "$folder/include/openssl" {} + 2>/dev/null || true
    done <<<"$searched"
    if [[ ! -e $folder/include/openssl/hmac.h ]]; then
        missing openssl/hmac.h
    fi

    compile=("$cross" -std=c++20 -I"$root/include" -I"$root/tests" -isystem "$folder/include"
        -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Werror)
}

# aarch64_headers ROOT: a file that includes every header but those that need libtorch or DLPack, which may be missing.
aarch64_headers() {
    (cd "$1/include" && find smdebug -name '*.hpp' ! -path 'smdebug/torch*' ! -path smdebug/dlpack.hpp | sort | sed 's/.*/#include <&>/')
}

aarch64_unite() {
    local root=$1 name=$2 source alone united=()
    shift 2
    IFS=';' read -r -a alone <<<"$(python3 -B "$root/tests/unite.py" --alone "$@")"
    for source in "$@"; do
        if [[ " ${alone[*]-} " == *" $source "* ]]; then
            printf '#include "%s"\n' "$source" >"${name}_alone_$(basename "$source")"
        else
            united+=("$source")
        fi
    done
    python3 -B "$root/tests/unite.py" "$PWD/$name.cpp" "${united[@]}"
}
