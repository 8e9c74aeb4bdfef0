#!/usr/bin/env bash
# check_consumer.sh [--bare] SOURCE_FOLDER BUILD_FOLDER CMAKE GENERATOR COMPILER OPTION...: configures the project in
# SOURCE_FOLDER with the OPTIONs from scratch, and builds and runs its programs.
# Definitions in headers must be inline: otherwise a program of two files does not link ("multiple definition").
# --bare: as on a machine without libcurl, OpenSSL, pugixml, zlib, libzstd and SQLite: CMake does not find them, their
# headers are errors.
set -euo pipefail
bare=0
if [[ $1 == --bare ]]; then
    bare=1
    shift
fi
source=$1 build=$2 cmake=$3 generator=$4 compiler=$5
shift 5
rm -rf "$build"
hidden=()
if ((bare)); then
    for header in curl/curl.h openssl/evp.h openssl/hmac.h openssl/sha.h openssl/opensslv.h openssl/md5.h pugixml.hpp zlib.h zstd.h sqlite3.h; do
        mkdir -p "$(dirname "$build/hidden/$header")"
        echo '#error "this machine does not have it"' >"$build/hidden/$header"
    done
    hidden=(-DCMAKE_CXX_FLAGS="-I$build/hidden")
    for package in CURL OpenSSL pugixml ZLIB Zstd SQLite3; do hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
fi
"$cmake" -S "$source" -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
    -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "${hidden[@]}" "$@"
"$cmake" --build "$build"

checked=0
while read -r object; do
    inline=$(nm --defined-only --extern-only "$object" | awk '$2 ~ /^[uVW]$/ && $3 ~ /smdebug/' | wc -l)
    other=$(nm --defined-only --extern-only "$object" | awk '$2 !~ /^[uVW]$/ && $3 !~ /^(main|_Z6opened.*)$/')
    if ((inline == 0)) || [[ -n $other ]]; then
        printf '%s: %s inline functions of smdebug, and what is not inline:\n%s\n' "$object" "$inline" "$other"
        exit 1
    fi
    checked=$((checked + 1))
done < <(find "$build/CMakeFiles" -name '*.o' ! -name '*src.cpp.o' ! -name '*.c.o')
((checked >= 2)) || { echo "only $checked objects were looked at"; exit 1; }

programs=0
for program in "$build"/*consumer; do
    echo "$program"
    "$program"
    programs=$((programs + 1))
    if ((bare)) && readelf -d "$program" | grep -E 'NEEDED.*(curl|crypto|pugixml|libz|sqlite)'; then
        echo "$program needs what S3, archives or databases need"
        exit 1
    fi
done
((programs >= 2)) || { echo "only $programs programs were built"; exit 1; }
