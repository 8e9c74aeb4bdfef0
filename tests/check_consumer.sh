#!/usr/bin/env bash
# check_consumer.sh SOURCE_FOLDER STAGE BUILD_FOLDER CMAKE GENERATOR COMPILER: configures the project in SOURCE_FOLDER against
# the installation in STAGE, from nothing, and builds and runs it.
set -euo pipefail
source=$1 stage=$2 build=$3 cmake=$4 generator=$5 compiler=$6
rm -rf "$build"
"$cmake" -S "$source" -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$stage" -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON
grep -F "smdebug_DIR:PATH=$stage/" "$build/CMakeCache.txt"  # the staged one, not one that lies on the machine
"$cmake" --build "$build"
"$build/consumer"
