#!/usr/bin/env bash
# check_consumer.sh SOURCE_FOLDER BUILD_FOLDER CMAKE GENERATOR COMPILER OPTION...: configures the project in SOURCE_FOLDER with
# the OPTIONs, from nothing, and builds and runs its programs.
set -euo pipefail
source=$1 build=$2 cmake=$3 generator=$4 compiler=$5
shift 5
rm -rf "$build"
"$cmake" -S "$source" -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "$@"
"$cmake" --build "$build"
"$build/consumer"
"$build/kernels_consumer"
if [[ -x $build/compiled_consumer ]]; then "$build/compiled_consumer"; fi
